/* bucket_lend.c: blocks in batches, to and from the caches of threads.
 *
 * For the pool a lent block is a live one, of the size of its class. Whoever asks the pool about
 * live blocks and has lent some must take off what the caches hold. */
#include "allocators/bucket_pool.h"

static bool class_has_one(const masu__bucket_class *class) {
    return class->list || class->fresh != class->fresh_end || class->pending;
}

size_t masu__bucket_lend(masu_bucket *pool, unsigned index, size_t count, void **blocks,
                         masu_status *status) {
    masu__bucket_class *class = &pool->classes[index];
    size_t block_bytes = masu__bucket_block_bytes(index);
    size_t taken = 0;
    *status = MASU_OK;
    while (taken < count && (taken == 0 || class_has_one(class))) {
        /* what comes out first is warmest and must go out first again */
        *status = masu__bucket_pop(pool, index, &blocks[count - 1 - taken]);
        if (*status != MASU_OK)
            break;
        masu__bucket_count_alloc(pool, class, block_bytes, block_bytes);
        taken++;
    }
    for (size_t i = 0; i < taken && taken < count; i++)
        blocks[i] = blocks[count - taken + i];
    class->lent_out += taken;
    pool->failures += taken == 0;
    masu__bucket_move_mark(pool);
    return taken;
}

void masu__bucket_take_home(masu_bucket *pool, unsigned index, void *const *blocks, size_t count) {
    masu__bucket_class *class = &pool->classes[index];
    size_t block_bytes = masu__bucket_block_bytes(index);
    for (size_t i = 0; i < count; i++)
        masu__bucket_push(pool, class, blocks[i], block_bytes, block_bytes);
    class->lent_back += count;
    if (masu__bucket_must_settle(pool))
        (void)masu__bucket_settle(pool);
}

void masu__bucket_set_cap(masu_bucket *pool, size_t max_cached_bytes) {
    pool->max_cached_bytes = max_cached_bytes;
    if (masu__bucket_cached(pool) > max_cached_bytes)
        (void)masu__bucket_give_back(pool, max_cached_bytes);
    else
        masu__bucket_move_mark(pool);
}
