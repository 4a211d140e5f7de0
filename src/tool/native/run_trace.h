/* run_trace.h: a run that is recorded: `masu run --trace FILE`, and MASU_TRACE=FILE for both `masu run` and executables. */
#ifndef MASU_TOOL_RUN_TRACE_H
#define MASU_TOOL_RUN_TRACE_H

#include <masu/record.h>

#include "tool/native/run_end.h"

typedef struct tool_trace {
    masu_trace *trace; /* for the runtime's configuration; NULL: nothing is recorded */
    bool all;          /* and for its trace_all */
    const char *path;
    tool_place *place_of;
    const void *program;
    const char *program_path; /* of places that name no file */
} tool_trace;

/* path NULL: that of MASU_TRACE, if any; all: as MASU_TRACE_ALL=1. Says why it cannot: TOOL_FAILED. */
int tool_trace_begin(tool_trace *trace, const char *path, bool all, const char *program);
/* From now on places are known. All is borrowed until the runtime is gone. */
void tool_trace_places(tool_trace *trace, tl_runtime *rt, tool_place *place_of, const void *program,
                       const char *program_path);
/* Behind the runtime's end. status, or TOOL_FAILED when the file is not whole, which is said. */
int tool_trace_end(tool_trace *trace, int status);

#endif
