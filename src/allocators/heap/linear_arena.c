/* linear_arena.c: the linear arena. Pieces in a stack, the newest on top; the window lies in the top one.
 *
 *     top ─► piece ─below─► piece ─below─► NULL        depth = how many
 *     used = sum of what lower pieces hold + (window.at - base of the top)
 *
 * spare is one more piece that holds nothing, the largest that a release or reset left; the next piece wanted is cut
 * from it where it fits. next_bytes, when not 0, is what the next piece shall hold at least: all that the last period
 * needed. While a trace records the blocks the window that callers see is empty, so that each request comes here;
 * end is where it would end.
 */
#include <masu/arena.h>

#include <masu/alloc.h>

#include "allocators/heap/heap_pool.h"
#include "allocators/heap/traced.h"
#include "base/meta.h"
#include "base/size.h"
#include "devices/devices.h"

#define PIECE_BYTES ((size_t)64 << 10)

typedef struct piece {
    struct piece *below;
    uintptr_t base;
    size_t bytes;
    uint64_t used; /* once another lies on top: how much of it */
} piece;

typedef struct arena {
    masu_arena shown;     /* first: a pointer to it is one to this */
    masu_heap *heap;      /* NULL: the process-wide pool */
    masu__traced *traced; /* owned; NULL: no trace */
    uintptr_t end;        /* of the window; shown.window.end is that, or with a trace shown.window.at */
    uintptr_t memory;     /* the caller's; 0: none */
    size_t memory_bytes;
    size_t block_bytes;
    size_t limit_bytes; /* SIZE_MAX: none */
    piece *top, *spare;
    size_t next_bytes;
    uint64_t depth;
    uint64_t used_below; /* in all pieces but the top */
    uint64_t reserved_bytes;
    uint64_t peak_used_bytes;
    uint64_t resets;
} arena;

static arena *of(const masu_arena *shown) {
    return (arena *)shown;
}

static uint64_t used_bytes(const arena *a) {
    if (a->memory)
        return a->shown.window.at - a->memory;
    return a->used_below + (a->top ? a->shown.window.at - a->top->base : 0);
}

static void window_set(arena *a, uintptr_t at, uintptr_t end) {
    a->end = end;
    a->shown.window = (masu_window){at, a->traced ? at : end};
}

/* alignment is not 0. NULL: it does not fit. */
static void *window_cut(arena *a, size_t bytes, size_t alignment) {
    masu_window rest = {a->shown.window.at, a->end};
    void *block = masu_window_take(&rest, bytes, alignment);
    if (block)
        window_set(a, rest.at, rest.end);
    if (block && a->traced)
        masu__traced_block_begins(a->traced, block, bytes, alignment, 0);
    return block;
}

static void note_peak(arena *a) {
    a->peak_used_bytes = masu__max(a->peak_used_bytes, used_bytes(a));
}

/* ---- pieces ---------------------------------------------------------------------------------------------- */

static masu_status heap_take(const arena *a, size_t bytes, size_t alignment, void **out) {
    return a->heap ? masu_heap_alloc(a->heap, bytes, alignment, out) : masu_alloc_aligned(bytes, alignment, out);
}

static masu_status piece_give(arena *a, piece *p) {
    void *ptr = (void *)p->base;
    if (a->traced)
        masu__traced_piece(a->traced, false, p->base, p->bytes);
    masu_status status = a->heap ? masu_heap_free(a->heap, ptr, p->bytes) : masu_free(ptr, p->bytes);
    a->reserved_bytes -= p->bytes;
    masu__meta_free(p, sizeof *p);
    return status;
}

static masu_status piece_take(arena *a, size_t bytes, size_t alignment, piece **out) {
    void *base;
    if (bytes > a->limit_bytes - a->reserved_bytes) {
        if (a->traced)
            masu__traced_refused(a->traced, bytes, alignment);
        return MASU_ERR_LIMIT_REACHED;
    }
    piece *p = masu__meta_calloc(1, sizeof *p);
    if (!p)
        return MASU_ERR_OUT_OF_MEMORY;
    masu_status status = heap_take(a, bytes, alignment, &base);
    if (status != MASU_OK) {
        masu__meta_free(p, sizeof *p);
        return status;
    }
    p->base = (uintptr_t)base;
    p->bytes = bytes;
    a->reserved_bytes += bytes;
    if (a->traced)
        masu__traced_piece(a->traced, true, p->base, bytes);
    *out = p;
    return MASU_OK;
}

static bool piece_fits(const piece *p, size_t bytes, size_t alignment) {
    size_t padding = masu__align_up_small(p->base, alignment) - p->base;
    return padding <= p->bytes && p->bytes - padding >= bytes;
}

/* Twice as much as there is, as far as the limit allows; or just what is needed. */
static masu_status piece_obtain(arena *a, size_t bytes, size_t alignment, piece **out) {
    piece *spare = a->spare;
    if (spare && piece_fits(spare, bytes, alignment)) {
        a->spare = NULL;
        *out = spare;
        return MASU_OK;
    }
    if (spare) {
        a->spare = NULL;
        (void)piece_give(a, spare);
    }
    size_t wanted = masu__max(masu__max(a->block_bytes, a->next_bytes), (size_t)a->reserved_bytes);
    wanted = masu__min(wanted, a->limit_bytes - (size_t)a->reserved_bytes);
    if (wanted > bytes && piece_take(a, wanted, alignment, out) == MASU_OK)
        return MASU_OK;
    return piece_take(a, bytes, alignment, out);
}

static void piece_push(arena *a, piece *p) {
    if (a->top) {
        a->top->used = a->shown.window.at - a->top->base;
        a->used_below += a->top->used;
    }
    p->below = a->top;
    a->top = p;
    a->depth++;
    a->next_bytes = 0;
    window_set(a, p->base, p->base + p->bytes);
}

/* The top piece holds nothing any more. The larger of it and the spare one is kept. */
static void piece_pop(arena *a) {
    piece *p = a->top, *spare = a->spare;
    a->top = p->below;
    a->depth--;
    if (a->traced)
        masu__traced_newest_end(a->traced, p->base, p->base + p->bytes);
    window_set(a, 0, 0);
    if (a->top) {
        a->used_below -= a->top->used;
        window_set(a, a->top->base + a->top->used, a->top->base + a->top->bytes);
    }
    bool keep = !spare || p->bytes > spare->bytes;
    a->spare = keep ? p : spare;
    if (keep ? spare : p)
        (void)piece_give(a, keep ? spare : p);
}

/* ---- life ------------------------------------------------------------------------------------------------ */

masu_status masu_arena_create(const masu_arena_config *config, masu_arena **out) {
    masu_arena_config c = {.struct_bytes = sizeof c};
    if (!out)
        return MASU_ERR_INVALID_ARGUMENT;
    *out = NULL;
    masu_status status = config ? masu__struct_read(&c, sizeof c, offsetof(masu_arena_config, memory), config)
                                : MASU_OK;
    if (status != MASU_OK)
        return status;
    if ((c.memory != NULL) != (c.memory_bytes > 0) || (c.memory && c.heap) ||
        c.memory_bytes > UINTPTR_MAX - (uintptr_t)c.memory)
        return MASU_ERR_INVALID_ARGUMENT;
    arena *a = masu__meta_calloc(1, sizeof *a);
    if (!a)
        return MASU_ERR_OUT_OF_MEMORY;
    a->heap = c.heap;
    a->block_bytes = c.block_bytes ? c.block_bytes : PIECE_BYTES;
    a->limit_bytes = c.limit_bytes ? c.limit_bytes : SIZE_MAX;
    a->memory = (uintptr_t)c.memory;
    a->memory_bytes = masu__min(c.memory_bytes, a->limit_bytes);
    if (c.trace) {
        a->traced = masu__traced_open(c.trace, "arena", c.name, a->heap ? masu__heap_number(a->heap) : 0);
        if (!a->traced) {
            masu__meta_free(a, sizeof *a);
            return MASU_ERR_OUT_OF_MEMORY;
        }
        if (a->memory)
            masu__traced_piece(a->traced, true, a->memory, a->memory_bytes);
    }
    window_set(a, a->memory, a->memory + a->memory_bytes);
    *out = &a->shown;
    return MASU_OK;
}

masu_status masu_arena_destroy(masu_arena *shown) {
    if (!shown)
        return MASU_OK;
    arena *a = of(shown);
    masu_status status = MASU_OK;
    if (a->traced)
        masu__traced_all_end(a->traced);
    while (a->top)
        piece_pop(a);
    if (a->spare)
        status = piece_give(a, a->spare);
    if (a->traced && a->memory)
        masu__traced_piece(a->traced, false, a->memory, a->memory_bytes);
    masu__traced_close(a->traced);
    masu__meta_free(a, sizeof *a);
    return status;
}

/* ---- requests -------------------------------------------------------------------------------------------- */

masu_status masu_arena_try(masu_arena *shown, size_t bytes, size_t alignment, void **out) {
    size_t sum;
    piece *p;
    if (!out)
        return MASU_ERR_INVALID_ARGUMENT;
    *out = NULL;
    if (!shown || (alignment != 0 && !masu__is_power_of_two(alignment)))
        return MASU_ERR_INVALID_ARGUMENT;
    arena *a = of(shown);
    if (bytes == 0)
        return MASU_OK;
    alignment = alignment ? alignment : MASU_ARENA_ALIGNMENT_BYTES;
    if (a->traced && !masu__traced_room(a->traced))
        return MASU_ERR_OUT_OF_MEMORY;
    *out = window_cut(a, bytes, alignment);
    if (*out)
        return MASU_OK;
    if (!masu__add(bytes, alignment, &sum))
        return MASU_ERR_OVERFLOW;
    if (a->memory) {
        if (a->traced)
            masu__traced_refused(a->traced, bytes, alignment);
        return MASU_ERR_LIMIT_REACHED;
    }
    masu_status status = piece_obtain(a, bytes, alignment, &p);
    if (status != MASU_OK)
        return status;
    piece_push(a, p);
    *out = window_cut(a, bytes, alignment);
    return MASU_OK;
}

void *masu_arena_alloc_slow(masu_arena *arena, size_t bytes, size_t alignment) {
    void *block;
    return masu_arena_try(arena, bytes, alignment, &block) == MASU_OK ? block : NULL;
}

masu_arena_mark masu_arena_here(const masu_arena *arena) {
    return (masu_arena_mark){of(arena)->depth, arena->window.at};
}

static bool mark_is_there(const arena *a, const piece *p, masu_arena_mark mark) {
    if (a->memory)
        return mark.piece == 0 && mark.at >= a->memory && mark.at <= a->shown.window.at;
    if (!p)
        return mark.at == 0;
    uintptr_t used = p == a->top ? a->shown.window.at : p->base + p->used;
    return mark.at >= p->base && mark.at <= used;
}

masu_status masu_arena_release(masu_arena *shown, masu_arena_mark mark) {
    if (!shown)
        return MASU_ERR_INVALID_ARGUMENT;
    arena *a = of(shown);
    const piece *p = a->top;
    for (uint64_t depth = a->depth; p && depth > mark.piece; depth--)
        p = p->below;
    if (mark.piece > a->depth || !mark_is_there(a, p, mark))
        return MASU_ERR_INVALID_ARGUMENT;
    note_peak(a);
    while (a->depth > mark.piece)
        piece_pop(a);
    if (a->traced)
        masu__traced_newest_end(a->traced, mark.at, a->end);
    if (a->memory || a->top)
        window_set(a, mark.at, a->end);
    return MASU_OK;
}

void masu_arena_reset(masu_arena *shown) {
    if (!shown)
        return;
    arena *a = of(shown);
    note_peak(a);
    a->resets++;
    if (a->traced)
        masu__traced_all_end(a->traced);
    if (a->memory) {
        window_set(a, a->memory, a->end);
        return;
    }
    if (a->depth <= 1) {
        if (a->top)
            window_set(a, a->top->base, a->end);
        return;
    }
    size_t all = (size_t)a->reserved_bytes;
    while (a->top)
        piece_pop(a);
    (void)piece_give(a, a->spare); /* the next request gets one piece for all */
    a->spare = NULL;
    a->next_bytes = all;
}

masu_status masu_arena_trim(masu_arena *shown) {
    if (!shown)
        return MASU_ERR_INVALID_ARGUMENT;
    arena *a = of(shown);
    a->next_bytes = 0;
    if (a->top && a->depth == 1 && a->shown.window.at == a->top->base)
        piece_pop(a);
    piece *spare = a->spare;
    a->spare = NULL;
    return spare ? piece_give(a, spare) : MASU_OK;
}

void masu_arena_get_stats(masu_arena *shown, masu_arena_stats *out) {
    arena *a = of(shown);
    note_peak(a);
    *out = (masu_arena_stats){
        .used_bytes = used_bytes(a),
        .peak_used_bytes = a->peak_used_bytes,
        .reserved_bytes = a->memory ? a->memory_bytes : a->reserved_bytes,
        .pieces = a->memory ? 1 : a->depth + (a->spare != NULL),
        .resets = a->resets,
    };
}
