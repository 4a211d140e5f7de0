/* bucket_lend.c: blocks in batches, to and from the caches of threads.
 *
 * For the pool a lent block is a live one, of the size of its class. A caller that asks the pool about
 * live blocks and has lent some must take off what the caches hold. */
#include "allocators/bucket/bucket_pool.h"

/* A block of a page and more that was never used is lent alone: taking it costs a page fault in any case, and what lies
 * untouched in a cache would be touched when it comes home. */
static bool may_lend_more(const masu__bucket_class *class) {
    return class->list || (class->block_bytes < MASU__PAGE_BYTES && masu__bucket_class_has_one(class));
}

size_t masu__bucket_lend(masu_bucket *pool, unsigned index, size_t count, void **blocks, masu_status *status) {
    masu__bucket_class *class = &pool->classes[index];
    size_t block_bytes = class->block_bytes;
    size_t taken = 0;
    *status = MASU_OK;
    while (taken < count && (taken == 0 || may_lend_more(class))) {
        /* what comes out first is warmest and must go out first again */
        *status = masu__bucket_pop(pool, index, &blocks[count - 1 - taken]);
        if (*status != MASU_OK)
            break;
        masu__bucket_count_alloc(pool, class, block_bytes);
        taken++;
    }
    for (size_t i = 0; i < taken && taken < count; i++)
        blocks[i] = blocks[count - taken + i];
    class->lent_out += taken;
    pool->failures += taken == 0;
    masu__bucket_move_mark(pool);
    return taken;
}

/* False: no caller has that block. */
static bool forget(masu_bucket *pool, const void *block) {
    masu__slab *slab = masu__bucket_slab_of(pool, (uintptr_t)block);
    uint16_t *known = slab ? &slab->requested[masu__slab_position(pool, slab, (uintptr_t)block)] : NULL;
    if (!known || *known == 0)
        return false;
    *known = 0;
    return true;
}

void masu__bucket_take_home(masu_bucket *pool, unsigned index, void *const *blocks, size_t count) {
    masu__bucket_class *class = &pool->classes[index];
    size_t block_bytes = class->block_bytes;
    for (size_t i = 0; i < count; i++) {
        if (pool->remembers && !forget(pool, blocks[i]))
            continue;
        masu__bucket_push(pool, class, blocks[i], block_bytes);
        class->lent_back++;
    }
    if (masu__bucket_must_settle(pool))
        (void)masu__bucket_settle(pool);
}

void masu__bucket_set_cap(masu_bucket *pool, size_t max_cached_bytes) {
    pool->max_cached_bytes = max_cached_bytes;
    if (masu__bucket_cached(pool) > masu__bucket_cap(pool))
        masu__bucket_obey_cap(pool, max_cached_bytes);
    else
        masu__bucket_move_mark(pool);
}

masu_status masu__bucket_lend_known(masu_bucket *pool, unsigned index, size_t bytes, void **out) {
    masu_status status;
    if (masu__bucket_lend(pool, index, 1, out, &status) == 1)
        masu__bucket_remember(pool, *out, bytes);
    return status;
}

static masu_status judge(const masu_bucket *pool, const void *ptr, bool sized, size_t bytes, masu__slab **out) {
    masu__slab *slab = *out = masu__bucket_slab_of(pool, (uintptr_t)ptr);
    size_t known;
    if (slab)
        return masu__bucket_judge(pool, slab, (uintptr_t)ptr, sized, &bytes);
    masu_status status = masu__bestfit_known(pool->backing, ptr, pool->number, &known);
    return status == MASU_OK ? MASU_ERR_SIZE_MISMATCH : status; /* a large block as a small one */
}

masu_status masu__bucket_take_home_known(masu_bucket *pool, void *ptr, bool sized, size_t bytes) {
    masu__slab *slab;
    masu_status status = judge(pool, ptr, sized, bytes, &slab);
    if (status == MASU_OK)
        masu__bucket_take_home(pool, slab->class_index, &ptr, 1);
    return status;
}

masu_status masu__bucket_judge_lent(const masu_bucket *pool, const void *ptr, size_t bytes) {
    masu__slab *slab;
    return judge(pool, ptr, true, bytes, &slab);
}
