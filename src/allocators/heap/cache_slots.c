/* cache_slots.c: the slots of a thread's magazines, closely together on lines that no other thread writes.
 *
 *     chunk    ┌──────┬─────────┬───────────────┬─ ─ ─ ─ ─ ─┐
 *              │ next │ 2 lines │ 4 lines       │ not cut   │        a power of two of lines each
 *              └──────┴─────────┴───────────────┴─ ─ ─ ─ ─ ─┘
 *
 * Every line of a chunk is in the slots of a magazine, in the list of its size, or behind the mark; chunks go back when
 * the thread ends. A magazine that gets larger slots leaves its old ones to the next that grows.
 */
#include "allocators/heap/cache.h"
#include "base/meta.h"

enum { LINE = 64, CHUNK_BYTES = 4096 };

/* The logarithm of the lines that so many slots take. */
static unsigned lines_log(uint32_t count) {
    size_t lines = masu__align_up_small(count * sizeof(void *), LINE) / LINE;
    unsigned log = lines > 1 ? masu__log2_floor(lines - 1) + 1 : 0;
    MASU_ASSERT(log < MASU__SLOT_SIZES);
    return log;
}

/* The rest of the chunk before goes to the lists, the largest pieces first. */
static void list_rest(masu__slots *s) {
    for (unsigned log = MASU__SLOT_SIZES; log-- > 0;)
        while ((size_t)(s->end - s->mark) >= (size_t)LINE << log) {
            *(void **)s->mark = s->spare[log];
            s->spare[log] = (void **)s->mark;
            s->mark += (size_t)LINE << log;
        }
}

static bool begin_chunk(masu__slots *s) {
    char *chunk = masu__meta_alloc(CHUNK_BYTES);
    if (!chunk)
        return false;
    list_rest(s);
    *(void **)chunk = s->chunks;
    s->chunks = chunk;
    s->mark = (char *)masu__align_up_small((uintptr_t)chunk + sizeof(void *), LINE);
    s->end = (char *)((uintptr_t)(chunk + CHUNK_BYTES) / LINE * LINE);
    return true;
}

void **masu__slots_take(masu__slots *s, uint32_t count) {
    unsigned log = lines_log(count);
    void **slots = s->spare[log];
    if (slots) {
        s->spare[log] = *slots;
        return slots;
    }
    if ((size_t)(s->end - s->mark) < (size_t)LINE << log && !begin_chunk(s))
        return NULL;
    slots = (void **)s->mark;
    s->mark += (size_t)LINE << log;
    return slots;
}

void masu__slots_give(masu__slots *s, void **slots, uint32_t count) {
    if (!slots)
        return;
    unsigned log = lines_log(count);
    *slots = s->spare[log];
    s->spare[log] = slots;
}

size_t masu__slots_bytes(const masu__slots *s) {
    size_t bytes = 0;
    for (const void *chunk = s->chunks; chunk; chunk = *(void *const *)chunk)
        bytes += CHUNK_BYTES;
    return bytes;
}

void masu__slots_close(masu__slots *s) {
    for (void *chunk = s->chunks, *next; chunk; chunk = next) {
        next = *(void **)chunk;
        masu__meta_free(chunk, CHUNK_BYTES);
    }
    *s = (masu__slots){0};
}
