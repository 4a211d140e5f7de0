/* record_environment.c: the one place of the library that reads the environment, and only when it is called to. */
#include <masu/record.h>

#include <stdlib.h>

masu_status masu_trace_record_from_environment(masu_trace *trace, const masu_record_config *config) {
    const char *path = getenv("MASU_TRACE");
    if (!trace)
        return MASU_ERR_INVALID_ARGUMENT;
    return path && *path ? masu_trace_record_to(trace, path, config) : MASU_OK;
}
