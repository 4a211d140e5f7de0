/* record_environment.c: the one place of the library that reads the environment, and only when it is called to. */
#include <masu/record.h>

#include <stdlib.h>
#include <string.h>

#include "base/publish.h"

masu_status masu_trace_record_from_environment(masu_trace *trace, const masu_record_config *config) {
    const char *path = getenv("MASU_TRACE");
    if (!trace)
        return MASU_ERR_INVALID_ARGUMENT;
    return path && *path ? masu_trace_record_to(trace, path, config) : MASU_OK;
}

masu_status masu_publish_from_environment(const masu_publish_config *given, masu_publisher **out) {
    const char *wanted = getenv("MASU_PUBLISH"), *folder = getenv("XDG_RUNTIME_DIR");
    masu_publish_config config = {.struct_bytes = sizeof config};
    if (!out || (given && given->struct_bytes == 0))
        return MASU_ERR_INVALID_ARGUMENT;
    *out = NULL;
    if (!wanted || !*wanted || strcmp(wanted, "0") == 0)
        return MASU_OK;
    if (given)
        memcpy(&config, given, given->struct_bytes < sizeof config ? given->struct_bytes : sizeof config);
    config.path = strcmp(wanted, "1") == 0 ? NULL : wanted;
    return masu__publish_in(folder && *folder ? folder : MASU__PAGE_FOLDER, &config, out);
}
