/* run_trace.c: see run_trace.h. */
#include "tool/native/run_trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/native/run_publish.h"
#include "tool/tool.h"

static int record(tool_trace *trace, const char *program) {
    if (!trace->path || !*trace->path)
        return TOOL_OK;
    masu_record_config config = {.program = program, .here = tl_runtime_here};
    masu_status status = masu_trace_create(&(masu_trace_config){.start_on = true}, &trace->trace);
    errno = 0;
    if (status == MASU_OK)
        status = masu_trace_record_to(trace->trace, trace->path, &config);
    if (status == MASU_OK)
        return TOOL_OK;
    fprintf(stderr, "masu: cannot record into %s: %s\n", trace->path,
            errno ? strerror(errno) : masu_status_text(status));
    masu_trace_destroy(trace->trace);
    trace->trace = NULL;
    return TOOL_FAILED;
}

int tool_trace_begin(tool_trace *trace, const tool_trace_wanted *wanted, tl_runtime_config *config) {
    const char *wants_all = getenv("MASU_TRACE_ALL");
    *trace = (tool_trace){.path = wanted->path ? wanted->path : getenv("MASU_TRACE"),
                          .all = wanted->all || (wants_all && *wants_all && strcmp(wants_all, "0") != 0)};
    int status = tool_publish_begin(wanted->publish, config->program, &trace->publisher);
    if (status == TOOL_OK)
        status = record(trace, config->program);
    if (status != TOOL_OK)
        tool_trace_unpublish(trace);
    config->is_published = trace->publisher != NULL;
    config->trace = trace->trace;
    config->trace_all = trace->all;
    return status;
}

void tool_trace_unpublish(tool_trace *trace) {
    masu_publish_end(trace->publisher);
    trace->publisher = NULL;
}

static bool place_of(const void *context, uint32_t site, tl_source_place *out) {
    const tool_trace *trace = context;
    masu_place_info place;
    if (!trace->place_of(trace->program, site, &place))
        return false;
    *out = (tl_source_place){place.path ? place.path : trace->program_path, place.text, place.line};
    return true;
}

void tool_trace_places(tool_trace *trace, tl_runtime *rt, tool_place *program_place_of, const void *program,
                       const char *program_path) {
    trace->place_of = program_place_of;
    trace->program = program;
    trace->program_path = program_path;
    (void)tl_runtime_publish(rt, trace->publisher); /* three sources always fit */
    if (trace->trace && tl_runtime_set_places(rt, place_of, trace) != MASU_OK)
        fprintf(stderr, "masu: no memory for the places in %s: it will have none\n", trace->path);
}

int tool_trace_end(tool_trace *trace, int status) {
    tool_trace_unpublish(trace);
    if (!trace->trace)
        return status;
    masu_record_stats stats;
    masu_status ended = masu_trace_record_end(trace->trace, &stats);
    masu_trace_destroy(trace->trace);
    if (ended == MASU_OK)
        return status;
    fprintf(stderr, "masu: %s is not whole: %s\n", trace->path, masu_status_text(ended));
    return status == TOOL_OK ? TOOL_FAILED : status;
}
