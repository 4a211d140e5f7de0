/* heap_walk.c: every live block of a heap, each once.
 *
 *     guarded     its own records
 *     otherwise   buckets, by what is not free; then best fit without the slabs, which are the
 *                 buckets' */
#include "allocators/heap/guard.h"
#include "allocators/heap/heap_pool.h"

typedef struct walk {
    const masu_heap *heap;
    masu_heap_visitor visitor;
    void *context;
    bool stopped;
} walk;

static bool walk_tell(walk *w, void *address, size_t bytes) {
    masu_heap_block block = {.address = address, .bytes = bytes};
    w->stopped = !w->visitor(w->context, &block);
    return !w->stopped;
}

static bool visit_small(void *context, void *address, size_t bytes) {
    return walk_tell(context, address, bytes);
}

static bool visit_large(void *context, const masu_bestfit_block *block) {
    walk *w = context;
    bool slab =
        w->heap->bucket && masu__bucket_slab_of(w->heap->bucket, (uintptr_t)block->address) != NULL;
    return slab || walk_tell(w, block->address, block->bytes);
}

static masu_status walk_pools(masu_heap *heap, walk *w) {
    masu_status status =
        heap->bucket ? masu__bucket_visit_live(heap->bucket, visit_small, w) : MASU_OK;
    if (status == MASU_OK && !w->stopped)
        masu_bestfit_visit_live(heap->bestfit, visit_large, w);
    return status;
}

masu_status masu_heap_visit_live(masu_heap *heap, masu_heap_visitor visitor, void *context) {
    if (!heap || !visitor)
        return MASU_ERR_INVALID_ARGUMENT;
    if (heap->magic != MASU__POOL_LIVE)
        return MASU_ERR_STALE_POOL;
    walk w = {heap, visitor, context, false};
    masu_status status = MASU_OK;
    masu__heap_lock(heap);
    if (heap->guard)
        masu__guard_visit(heap->guard, visitor, context);
    else
        status = walk_pools(heap, &w);
    masu__heap_unlock(heap);
    return status;
}
