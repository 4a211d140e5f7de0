/* heap_walk.c: every live block of a heap, each once.
 *
 *     guarded     its own records
 *     otherwise   the pools from the highest row down, each without what a row above keeps in it
 */
#include "allocators/heap/guard.h"
#include "allocators/heap/heap_pool.h"

typedef struct walk {
    const masu_heap *heap;
    unsigned row; /* that is visited */
    masu_heap_visitor visitor;
    void *context;
    bool stopped;
} walk;

static bool walk_tell(void *context, void *address, size_t bytes) {
    walk *w = context;
    for (unsigned i = w->row + 1; i < w->heap->pool_count; i++) {
        const masu__pool *above = &w->heap->pools[i];
        if (above->row->hides && above->row->hides(above->at, address))
            return true;
    }
    masu_heap_block block = {.address = address, .bytes = bytes};
    w->stopped = !w->visitor(w->context, &block);
    return !w->stopped;
}

static masu_status walk_pools(masu_heap *heap, walk *w) {
    masu_status status = MASU_OK;
    for (w->row = heap->pool_count; w->row-- > 0 && status == MASU_OK && !w->stopped;)
        status = heap->pools[w->row].row->visit_live(heap->pools[w->row].at, walk_tell, w);
    return status;
}

masu_status masu_heap_visit_live(masu_heap *heap, masu_heap_visitor visitor, void *context) {
    if (!heap || !visitor)
        return MASU_ERR_INVALID_ARGUMENT;
    if (heap->magic != MASU__POOL_LIVE)
        return MASU_ERR_STALE_POOL;
    walk w = {heap, 0, visitor, context, false};
    masu_status status = MASU_OK;
    masu__heap_lock(heap);
    if (heap->guard)
        masu__guard_visit(heap->guard, visitor, context);
    else
        status = walk_pools(heap, &w);
    masu__heap_unlock(heap);
    return status;
}
