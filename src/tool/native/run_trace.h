/* run_trace.h: a run that is recorded or looked at: `masu run --trace FILE` and `--publish`, and MASU_TRACE and
 * MASU_PUBLISH for both `masu run` and executables. */
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
    const char *program_path;  /* of places that name no file */
    masu_publisher *publisher; /* NULL: it is not looked at */
} tool_trace;

typedef struct tool_trace_wanted {
    const char *path;    /* NULL: that of MASU_TRACE, if any */
    bool all;            /* as MASU_TRACE_ALL=1 */
    const char *publish; /* NULL: as MASU_PUBLISH says; "": the usual place, else a path */
} tool_trace_wanted;

/* Begins, and says to config what the runtime has to do for it. Says why it cannot: TOOL_FAILED. config->program is its
 * name. */
int tool_trace_begin(tool_trace *trace, const tool_trace_wanted *wanted, tl_runtime_config *config);
/* The runtime's last numbers are shown; it ends next. */
void tool_trace_unpublish(tool_trace *trace);
/* The runtime is there: it is shown, and from now on places are known. All is borrowed until the runtime is gone. */
void tool_trace_places(tool_trace *trace, tl_runtime *rt, tool_place *place_of, const void *program,
                       const char *program_path);
/* Behind the runtime's end. status, or TOOL_FAILED when the file is not whole, which is said. */
int tool_trace_end(tool_trace *trace, int status);

#endif
