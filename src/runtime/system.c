/* system.c: what a program may ask about its process, its runtime and its arguments. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "runtime/objects.h"
#include "runtime/state.h"

int64_t tl_system_memory_bytes(void) {
    return (int64_t)tl__process_memory().rss_bytes;
}

int64_t tl_system_memory_mb(void) {
    return tl_system_memory_bytes() >> 20;
}

/* Tensor headers that wait in the pool to be used again. */
int64_t tl_system_pool_count(void) {
    const tl_cells *tensors = &tl__runtime()->tensors;
    return (int64_t)(tensors->total - tensors->live);
}

/* Things that have a count: live tensors, strings and vectors. */
int64_t tl_system_refcount_count(void) {
    const tl_runtime *rt = tl__runtime();
    return (int64_t)(rt->tensors.live + rt->live_objects);
}

int64_t tl_system_scope_depth(void) {
    return (int64_t)tl__runtime()->scope_depth;
}

int64_t tl_system_live_tensors(void) {
    return (int64_t)tl__runtime()->tensors.live;
}

int64_t tl_system_live_bytes(void) {
    return (int64_t)tl__runtime()->live_bytes;
}

/* Seconds since 1970, from the clock at the runtime's start plus what has passed since: it never runs backwards. */
double tl_system_time(void) {
    const tl_runtime *rt = tl__runtime();
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return rt->start_epoch_seconds + (double)(now.tv_sec - rt->start.tv_sec) +
           (double)(now.tv_nsec - rt->start.tv_nsec) * 1e-9;
}

/* Nothing for what is not positive; at most some thirty years. What was printed so far is shown first. */
void tl_system_sleep(double seconds) {
    if (!(seconds > 0))
        return;
    fflush(tl__runtime()->out);
    double held = seconds < 1e9 ? seconds : 1e9;
    struct timespec left = {.tv_sec = (time_t)held};
    left.tv_nsec = (long)((held - (double)left.tv_sec) * 1e9);
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        continue;
}

int64_t tl_args_count(void) {
    return tl__runtime()->argument_count;
}

static masu_status get_argument(int64_t index, tl_object **out) {
    const tl_runtime *rt = tl__runtime();
    if (index < 0 || index >= rt->argument_count)
        return tl__error(MASU_ERR_INDEX_OUT_OF_RANGE,
                         "argument %" PRId64 " was asked for, the program has %d", index,
                         rt->argument_count);
    const char *text = rt->arguments[index];
    return tl__string_new(text, (int64_t)strlen(text), out);
}

tl_object *tl_args_get(int64_t index) {
    tl_object *out = NULL;
    masu_status status = get_argument(index, &out);
    return tl__object_or_raise(status, out);
}
