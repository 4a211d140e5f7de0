/* publish.c: a page for `masu top`, when MASU_PUBLISH asks for it. */
#include "adapter.h"

#include <errno.h>

#include <masu/publish.h>

static masu_publisher *publisher;

static __attribute__((constructor)) void publish_begin(void) {
    const char *where = masu_malloc_settings()->publish;
    masu_publish_config config = {.struct_bytes = sizeof config, .program = program_invocation_name};
    if (!where)
        return;
    errno = 0;
    if (masu_publish_from_environment(&config, &publisher) == MASU_OK)
        (void)masu_publish_heap(publisher, NULL, "malloc"); /* one always fits */
    else
        masu_malloc_say("MASU_PUBLISH=%s: the page cannot be written%s%s", where, errno ? ": " : "",
                        errno ? strerror(errno) : "");
}

static __attribute__((destructor)) void publish_end(void) {
    masu_publish_end(publisher);
    publisher = NULL;
}
