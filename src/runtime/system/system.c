/* system.c: what a program may ask about its process, its runtime and its arguments. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "runtime/state.h"
#include "runtime/value/objects.h"

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

int64_t tl_system_moment(bool calendar) {
    struct timespec now;
    clock_gettime(calendar ? CLOCK_REALTIME : CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Nothing for what is not positive; at most some thirty years. What was printed so far is shown first. */
void tl_system_sleep(double seconds) {
    if (!(seconds > 0))
        return;
    tl_flush();
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
        return tl__error(TL_SAY(argument_was_asked_for_program), index, rt->argument_count);
    const char *text = rt->arguments[index];
    return tl__string_new(text, (int64_t)strlen(text), out);
}

tl_object *tl_args_get(int64_t index) {
    tl_object *out = NULL;
    masu_status status = get_argument(index, &out);
    return tl__object_or_raise(status, out);
}

/* As it was started; empty where that is not known. */
tl_object *tl_program_name(void) {
    const char *name = tl__runtime()->program;
    tl_object *out = NULL;
    masu_status status = tl__string_new(name, name ? (int64_t)strlen(name) : 0, &out);
    return tl__object_or_raise(status, out);
}

/* A line of standard input without its end; empty when there is none. What was printed so far is shown first. */
tl_object *tl_read_line(void) {
    masu__buffer line = {0};
    tl_flush();
    for (int c; (c = getc(stdin)) != EOF && c != '\n';) {
        char byte = (char)c;
        masu__buffer_append(&line, &byte, 1);
    }
    if (line.length > 0 && masu__buffer_text(&line)[line.length - 1] == '\r')
        line.length--;
    tl_object *out = NULL;
    masu_status status = line.failed ? tl__error(TL_SAY(line_input_over_bytes), line.length)
                                     : tl__string_new(masu__buffer_text(&line), (int64_t)line.length, &out);
    masu__buffer_destroy(&line);
    return tl__object_or_raise(status, out);
}

/* ---- Arena::… ------------------------------------------------------------------------------------ */

/* The seeds' arena of the program's own: a number of bytes, given out from the front; where a block ends, what it asked
 * for goes back (lower/lower_arena.c). A second init begins again. Addresses are offsets: programs have no pointers. */
void tl_arena_init(int64_t bytes) {
    tl_runtime *rt = tl__runtime();
    void *memory = NULL;
    masu_status status = bytes < 0 || bytes > INT64_C(1) << 40 ? tl__error(TL_SAY(arena_init_bytes), bytes)
                                                               : tl__alloc((size_t)bytes, &memory);
    if (status != MASU_OK) {
        tl__raise();
        return;
    }
    tl__arena_end(rt);
    rt->own_arena = memory;
    rt->own_arena_bytes = (size_t)bytes;
}

void tl__arena_end(tl_runtime *rt) {
    tl__free(rt->own_arena, rt->own_arena_bytes);
    rt->own_arena = NULL;
    rt->own_arena_bytes = rt->own_arena_used = 0;
}

bool tl_arena_is_active(void) {
    return tl__runtime()->own_arena != NULL;
}

/* Rounded up to 16 bytes, so that whatever is kept there lies well. */
int64_t tl_arena_alloc(int64_t bytes) {
    tl_runtime *rt = tl__runtime();
    size_t from = rt->own_arena_used, left = rt->own_arena_bytes - from;
    if (bytes < 0 || (uint64_t)bytes > left) {
        (void)tl__error(TL_SAY(arena_alloc_bytes_arena_with_left), bytes, left);
        tl__raise();
        return 0;
    }
    size_t rounded = ((size_t)bytes + 15) & ~(size_t)15;
    rt->own_arena_used += rounded < left ? rounded : left;
    return (int64_t)from;
}

int64_t tl_arena_get_offset(void) {
    return (int64_t)tl__runtime()->own_arena_used;
}

void tl_arena_return(int64_t offset) {
    tl_runtime *rt = tl__runtime();
    if ((uint64_t)offset < rt->own_arena_used)
        rt->own_arena_used = (size_t)offset;
}
