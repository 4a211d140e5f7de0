/* recording.c: the trace of the pools: into VMM_LOG_FILE as text, and into MASU_TRACE for `masu report`. With
 * VMM_MODE=MONITOR there are no pools: the program's own calls are recorded. */
#include "interpose.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include <masu/record.h>

static masu_trace *trace;
static bool records;
static uint32_t monitored; /* the number under which the runtime's own memory is recorded */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make(void) {
    const char *path = getenv("MASU_TRACE");
    bool wants_recording = path && *path, wants_events = masu_cuda_wants_events();
    if (!wants_recording && !wants_events)
        return;
    masu_trace_config config = {.start_on = true,
                                .sink = wants_events && masu_cuda_takes_over() ? masu_cuda_write_event : NULL};
    masu_status status = masu_trace_create(&config, &trace);
    if (status == MASU_OK && wants_recording)
        status = masu_trace_record_from_environment(trace, &(masu_record_config){.program = program_invocation_name});
    records = status == MASU_OK && wants_recording;
    if (status != MASU_OK)
        masu_cuda_say(LOG_WARNINGS, "MASU_TRACE=%s cannot be written (%s); nothing is recorded", path ? path : "",
                      masu_status_text(status));
    if (records && !masu_cuda_takes_over())
        monitored = masu_trace_add_pool(trace, "CUDA runtime", "device memory", 0);
}

masu_trace *masu_cuda_trace(void) {
    pthread_once(&once, make);
    return trace;
}

bool masu_cuda_records(void) {
    return masu_cuda_trace() && records;
}

void masu_cuda_record(masu_event event) {
    event.pool = monitored;
    if (masu_cuda_records() && monitored)
        masu_trace_put(trace, &event);
}

void masu_cuda_end_recording(void) {
    if (masu_cuda_records() && masu_trace_record_end(trace, NULL) != MASU_OK)
        masu_cuda_say(LOG_WARNINGS, "MASU_TRACE is not whole: writing failed");
}
