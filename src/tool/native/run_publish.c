/* run_publish.c: see run_publish.h. */
#include "tool/native/run_publish.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/tool.h"

int tool_publish_begin(const char *where, const char *program, masu_publisher **out) {
    if (where && setenv("MASU_PUBLISH", *where ? where : "1", true) != 0)
        where = NULL;
    masu_publish_config config = {.struct_bytes = sizeof config, .program = program};
    errno = 0;
    masu_status status = masu_publish_from_environment(&config, out);
    if (status == MASU_OK)
        return TOOL_OK;
    where = getenv("MASU_PUBLISH");
    if (status == MASU_ERR_INVALID_ARGUMENT)
        fprintf(stderr,
                "masu: MASU_PUBLISH=%s: there is something else there, which is left alone: write 1, or a path for a "
                "new page\n",
                where);
    else
        fprintf(stderr, "masu: MASU_PUBLISH=%s: the page cannot be written: %s\n", where,
                errno ? strerror(errno) : masu_status_text(status));
    return TOOL_FAILED;
}
