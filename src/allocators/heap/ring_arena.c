/* ring_arena.c: the ring arena. Positions count bytes for ever, marks are positions.
 *
 *     head  window.at    tail  the oldest that lives        tail <= head <= tail + capacity
 *
 *     tail in this lap       ┌ free ─ tail ══ used ══► at ─ window ─ end ┐
 *     tail in the lap before ┌ ══ used ══► at ─ window ─ tail ══ used ══ ┐
 *
 * A lap begins at the first byte; lap and before_lap are the positions of that byte in this lap and in the one before.
 * What the lap before left unused at its end, from ended on, is free once the tail comes there. Once nothing lives, the
 * next lap begins at once, so that an empty ring serves its whole capacity.
 */
#include <masu/arena.h>

#include <masu/alloc.h>

#include "allocators/heap/heap_pool.h"
#include "allocators/heap/traced.h"
#include "base/meta.h"
#include "base/size.h"
#include "devices/devices.h"

typedef struct ring {
    masu_ring shown; /* first */
    masu_heap *heap;
    masu__traced *traced; /* owned; NULL: no trace */
    uintptr_t end;        /* of the window; shown.window.end is that, or with a trace shown.window.at, as in an arena */
    bool owns;            /* the memory came from the heap or the process-wide pool */
    uintptr_t base;
    size_t bytes;
    uint64_t lap, before_lap, ended, tail;
    uint64_t laps, refusals;
} ring;

static ring *of(const masu_ring *shown) {
    return (ring *)shown;
}

static uint64_t head_of(const ring *r) {
    return r->lap + (r->shown.window.at - r->base);
}

static void lap_begin(ring *r, uint64_t position) {
    r->ended = head_of(r);
    r->before_lap = r->lap;
    r->lap = position;
    r->shown.window.at = r->base;
    r->laps++;
}

static void window_end(ring *r) {
    if (r->tail < r->lap && r->tail >= r->ended)
        r->tail = r->lap;
    r->end = r->base + (r->tail < r->lap ? (size_t)(r->tail - r->before_lap) : r->bytes);
    r->shown.window.end = r->traced ? r->shown.window.at : r->end;
}

static void *window_cut(ring *r, size_t bytes, size_t alignment) {
    masu_window rest = {r->shown.window.at, r->end};
    void *block = masu_window_take(&rest, bytes, alignment);
    if (!block)
        return NULL;
    r->shown.window = (masu_window){rest.at, r->traced ? rest.at : rest.end};
    if (r->traced)
        masu__traced_block_begins(r->traced, block, bytes, alignment ? alignment : (size_t)MASU_ARENA_ALIGNMENT_BYTES,
                                  r->lap + ((uintptr_t)block - r->base));
    return block;
}

static bool config_valid(const masu_ring_config *c) {
    return c->bytes > 0 && !(c->memory && c->heap) && (c->alignment == 0 || masu__is_power_of_two(c->alignment)) &&
           c->bytes <= UINTPTR_MAX - (uintptr_t)c->memory &&
           (!c->memory || c->alignment == 0 || masu__is_aligned((uintptr_t)c->memory, c->alignment));
}

masu_status masu_ring_create(const masu_ring_config *config, masu_ring **out) {
    masu_ring_config c;
    void *base;
    if (!out)
        return MASU_ERR_INVALID_ARGUMENT;
    *out = NULL;
    if (!config)
        return MASU_ERR_INVALID_ARGUMENT;
    masu_status status = masu__struct_read(&c, sizeof c, offsetof(masu_ring_config, heap), config);
    if (status != MASU_OK)
        return status;
    if (!config_valid(&c))
        return MASU_ERR_INVALID_ARGUMENT;
    ring *r = masu__meta_calloc(1, sizeof *r);
    if (!r)
        return MASU_ERR_OUT_OF_MEMORY;
    base = c.memory;
    if (!base)
        status = c.heap ? masu_heap_alloc(c.heap, c.bytes, c.alignment, &base)
                        : masu_alloc_aligned(c.bytes, c.alignment, &base);
    if (status != MASU_OK) {
        masu__meta_free(r, sizeof *r);
        return status;
    }
    if (c.trace) {
        r->traced = masu__traced_open(c.trace, "ring", c.name, c.heap ? masu__heap_number(c.heap) : 0);
        if (!r->traced) {
            if (!c.memory)
                (void)(c.heap ? masu_heap_free(c.heap, base, c.bytes) : masu_free(base, c.bytes));
            masu__meta_free(r, sizeof *r);
            return MASU_ERR_OUT_OF_MEMORY;
        }
        masu__traced_piece(r->traced, true, (uintptr_t)base, c.bytes);
    }
    r->heap = c.heap;
    r->owns = c.memory == NULL;
    r->base = (uintptr_t)base;
    r->bytes = c.bytes;
    r->end = r->base + r->bytes;
    r->shown.window = (masu_window){r->base, r->traced ? r->base : r->end};
    *out = &r->shown;
    return MASU_OK;
}

masu_status masu_ring_destroy(masu_ring *shown) {
    if (!shown)
        return MASU_OK;
    ring *r = of(shown);
    masu_status status = MASU_OK;
    if (r->traced) {
        masu__traced_all_end(r->traced);
        masu__traced_piece(r->traced, false, r->base, r->bytes);
    }
    masu__traced_close(r->traced);
    if (r->owns)
        status = r->heap ? masu_heap_free(r->heap, (void *)r->base, r->bytes) : masu_free((void *)r->base, r->bytes);
    masu__meta_free(r, sizeof *r);
    return status;
}

static bool fits_at_front(const ring *r, size_t bytes, size_t alignment) {
    uintptr_t mask = (alignment ? alignment : (size_t)MASU_ARENA_ALIGNMENT_BYTES) - 1;
    size_t front = r->tail < r->lap ? 0 : (size_t)(r->tail - r->lap); /* before the oldest, once a lap begins */
    size_t padding = (size_t)(((r->base + mask) & ~mask) - r->base);
    return padding <= front && bytes <= front - padding;
}

void *masu_ring_alloc_slow(masu_ring *shown, size_t bytes, size_t alignment) {
    if (!shown || bytes == 0 || (alignment != 0 && !masu__is_power_of_two(alignment)))
        return NULL;
    ring *r = of(shown);
    if (r->traced && !masu__traced_room(r->traced))
        return NULL;
    void *block = r->traced ? window_cut(r, bytes, alignment) : NULL; /* without a trace the caller has tried */
    if (block)
        return block;
    if (head_of(r) == r->tail && r->shown.window.at != r->base) {
        lap_begin(r, r->tail);
        window_end(r);
    } else if (fits_at_front(r, bytes, alignment)) {
        lap_begin(r, r->lap + r->bytes);
        window_end(r);
    }
    block = window_cut(r, bytes, alignment);
    r->refusals += block == NULL;
    return block;
}

uint64_t masu_ring_here(const masu_ring *shown) {
    return head_of(of(shown));
}

masu_status masu_ring_release(masu_ring *shown, uint64_t mark) {
    if (!shown)
        return MASU_ERR_INVALID_ARGUMENT;
    ring *r = of(shown);
    if (mark > head_of(r))
        return MASU_ERR_INVALID_ARGUMENT;
    if (r->traced)
        masu__traced_oldest_end(r->traced, mark);
    if (mark > r->tail)
        r->tail = mark;
    window_end(r);
    return MASU_OK;
}

void masu_ring_reset(masu_ring *shown) {
    if (shown)
        (void)masu_ring_release(shown, masu_ring_here(shown));
}

void masu_ring_get_stats(const masu_ring *shown, masu_ring_stats *out) {
    const ring *r = of(shown);
    *out = (masu_ring_stats){
        .capacity_bytes = r->bytes,
        .used_bytes = head_of(r) - r->tail,
        .laps = r->laps,
        .refusals = r->refusals,
    };
}
