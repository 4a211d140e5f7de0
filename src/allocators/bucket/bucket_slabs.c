/* bucket_slabs.c: where the blocks of the bucket pool come from, and how they go back.
 *
 * A slab is one sealed block of the best-fit pool. Giving back is done block by block: any free
 * block can leave, also from between live ones, and the best-fit pool joins what leaves with its
 * neighbours. So the cap on cached bytes is a number that holds, not a hope that some slab is
 * empty.
 */
#include "allocators/bucket/bucket_pool.h"

#include "base/meta.h"
#include "base/size.h"

static size_t slab_meta_bytes(size_t blocks) {
    return sizeof(masu__slab) + (blocks + 63) / 64 * sizeof(uint64_t);
}

bool masu__slab_add_sizes(masu_bucket *pool, masu__slab *slab) {
    size_t bytes = slab->block_count * sizeof *slab->requested;
    slab->requested = masu__meta_calloc(1, bytes);
    pool->slab_meta_bytes += slab->requested ? bytes : 0;
    return slab->requested != NULL;
}

void masu__slab_drop_sizes(masu_bucket *pool, masu__slab *slab) {
    size_t bytes = slab->block_count * sizeof *slab->requested;
    pool->slab_meta_bytes -= slab->requested ? bytes : 0;
    masu__meta_free(slab->requested, bytes);
    slab->requested = NULL;
}

static void slab_free_meta(masu_bucket *pool, masu__slab *slab) {
    size_t bytes = slab_meta_bytes(slab->block_count);
    masu__slab_drop_sizes(pool, slab);
    pool->slab_meta_bytes -= bytes;
    masu__meta_free(slab, bytes);
}

static masu__slab *slab_new_meta(masu_bucket *pool, unsigned class_index, size_t blocks) {
    masu__slab *slab = masu__meta_calloc(1, slab_meta_bytes(blocks));
    if (!slab)
        return NULL;
    pool->slab_meta_bytes += slab_meta_bytes(blocks);
    slab->class_index = class_index;
    slab->block_count = (uint32_t)blocks;
    slab->held = (uint32_t)blocks;
    if (pool->remembers && !masu__slab_add_sizes(pool, slab)) {
        slab_free_meta(pool, slab);
        return NULL;
    }
    return slab;
}

static bool slab_holds(const masu_bucket *pool, const masu__slab *slab, uintptr_t address) {
    size_t block = masu__slab_position(pool, slab, address);
    return block < slab->block_count && !masu__slab_returned(slab, block);
}

masu__slab *masu__bucket_slab_of(const masu_bucket *pool, uintptr_t address) {
    masu__slab *slab = masu__address_map_get(&pool->slabs, masu__align_down(address, MASU__SLAB_BYTES));
    while (slab && !slab_holds(pool, slab, address))
        slab = slab->next_here;
    return slab;
}

masu__slab *masu__bucket_next_slab(const masu_bucket *pool, size_t *cursor, const masu__slab *previous) {
    if (!previous)
        *cursor = 0;
    else if (previous->next_here)
        return previous->next_here;
    return masu__address_map_next(&pool->slabs, cursor);
}

/* Room in the map has been reserved. */
static void slab_enter(masu_bucket *pool, masu__slab *slab) {
    slab->next_here = masu__address_map_take(&pool->slabs, slab->base);
    masu__address_map_put(&pool->slabs, slab->base, slab);
    pool->slab_count++;
}

static void slab_leave(masu_bucket *pool, masu__slab *slab) {
    masu__slab *first = masu__address_map_take(&pool->slabs, slab->base);
    masu__slab **link = &first;
    while (*link != slab)
        link = &(*link)->next_here;
    *link = slab->next_here;
    if (first)
        masu__address_map_put(&pool->slabs, slab->base, first);
    pool->slab_count--;
}

/* In the process-wide pool no block but one of this slab begins in the page that it ends in, so that one is shown
 * too. */
static void slab_show(const masu_bucket *pool, const masu__slab *slab) {
    size_t bytes = slab->block_count * masu__slab_block_bytes(pool, slab);
    masu__page_codes_set(slab->base,
                         pool->tag == MASU__TAG_PROCESS ? masu__align_up_small(bytes, MASU__PAGE_BYTES) : bytes,
                         masu__bucket_code(pool, slab->class_index));
}

masu_status masu__bucket_add_slab(masu_bucket *pool, unsigned class_index, size_t blocks) {
    if (!masu__address_map_reserve(&pool->slabs, 1))
        return MASU_ERR_OUT_OF_MEMORY;
    masu__slab *slab = slab_new_meta(pool, class_index, blocks);
    if (!slab)
        return MASU_ERR_OUT_OF_MEMORY;
    void *base;
    size_t bytes = blocks * masu__bucket_block_bytes(pool, class_index);
    masu__request request = {
        .bytes = bytes,
        .alignment = MASU__SLAB_BYTES,
        .client = pool->number,
        .sealed = true,
        .ground = MASU__GROUND_SLABS,
    };
    masu_status status = masu__bestfit_take(pool->backing, &request, &base, NULL);
    if (status != MASU_OK) {
        slab_free_meta(pool, slab);
        return status;
    }
    slab->base = (uintptr_t)base;
    slab_enter(pool, slab);
    slab_show(pool, slab);
    masu__bucket_class *class = &pool->classes[class_index];
    slab->next_pending = class->pending;
    class->pending = slab;
    class->blocks += blocks;
    pool->slab_bytes += bytes;
    if (masu__trace_wanted(pool->trace))
        masu__bucket_emit(pool, MASU_EVENT_EXTENT_ADD, slab->base, bytes, bytes, 0);
    return MASU_OK;
}

void masu__bucket_open_pending(masu__bucket_class *class) {
    masu__slab *slab = class->pending;
    if (!slab || class->fresh != class->fresh_end)
        return;
    class->pending = slab->next_pending;
    slab->next_pending = NULL;
    class->fresh = slab->base;
    class->fresh_end = slab->base + slab->block_count * class->block_bytes;
}

/* First block of the unbroken run of blocks not returned that the given one belongs to. */
static size_t slab_run_start(const masu__slab *slab, size_t block) {
    size_t word = block / 64;
    uint64_t before = slab->returned[word] & (((uint64_t)1 << (block % 64)) - 1);
    while (before == 0) {
        if (word == 0)
            return 0;
        before = slab->returned[--word];
    }
    return word * 64 + masu__log2_floor(before) + 1;
}

static void slab_mark_returned(masu__slab *slab, size_t first, size_t count) {
    for (size_t block = first; block < first + count; block++)
        slab->returned[block / 64] |= (uint64_t)1 << (block % 64);
    slab->held -= (uint32_t)count;
}

/* The blocks are in no list any more. */
static masu_status slab_give_back(masu_bucket *pool, masu__slab *slab, size_t first, size_t count) {
    size_t block_bytes = masu__slab_block_bytes(pool, slab);
    uintptr_t address = slab->base + first * block_bytes;
    uintptr_t run = slab->base + slab_run_start(slab, first) * block_bytes;
    size_t bytes = count * block_bytes;
    masu_status status = masu__bestfit_free_part(pool->backing, (void *)run, (void *)address, bytes);
    if (status != MASU_OK)
        return status;
    slab_mark_returned(slab, first, count);
    masu__page_codes_clear(address, bytes);
    pool->classes[slab->class_index].blocks -= count;
    pool->slab_bytes -= bytes;
    if (masu__trace_wanted(pool->trace))
        masu__bucket_emit(pool, MASU_EVENT_EXTENT_DROP, address, bytes, bytes, 0);
    if (slab->held == 0) {
        slab_leave(pool, slab);
        slab_free_meta(pool, slab);
    }
    return MASU_OK;
}

/* Its blocks lie between two grains of the best-fit pool: they can only go back with their slab. */
static bool is_packed(const masu_bucket *pool, unsigned index) {
    return pool->classes[index].block_bytes % MASU_BUCKET_MIN_BYTES != 0;
}

static size_t blocks_over(const masu_bucket *pool, uint64_t keep_bytes, size_t block_bytes) {
    uint64_t cached = masu__bucket_cached(pool);
    return cached <= keep_bytes ? 0 : (size_t)((cached - keep_bytes + block_bytes - 1) / block_bytes);
}

/* From the end of the fresh range, so that what stays is still one range. */
static masu_status class_give_back_fresh(masu_bucket *pool, masu__bucket_class *class, size_t block_bytes,
                                         size_t wanted) {
    size_t count = masu__min(wanted, (class->fresh_end - class->fresh) / block_bytes);
    uintptr_t address = class->fresh_end - count * block_bytes;
    masu__slab *slab = masu__bucket_slab_of(pool, address);
    masu_status status = slab_give_back(pool, slab, (address - slab->base) / block_bytes, count);
    if (status == MASU_OK)
        class->fresh_end = address;
    return status;
}

static masu_status class_give_back_listed(masu_bucket *pool, unsigned index) {
    masu__bucket_class *class = &pool->classes[index];
    void *block;
    masu_status status = masu__bucket_pop_listed(pool, index, &block);
    if (status != MASU_OK)
        return status;
    masu__slab *slab = masu__bucket_slab_of(pool, (uintptr_t)block);
    status = slab_give_back(pool, slab, ((uintptr_t)block - slab->base) / class->block_bytes, 1);
    if (status != MASU_OK)
        class->list = block; /* its link is still there */
    return status;
}

static masu_status class_give_back(masu_bucket *pool, unsigned index, uint64_t keep_bytes) {
    masu__bucket_class *class = &pool->classes[index];
    size_t block_bytes = masu__bucket_block_bytes(pool, index);
    masu_status status = MASU_OK;
    size_t wanted;
    while (status == MASU_OK && (wanted = blocks_over(pool, keep_bytes, block_bytes)) > 0) {
        masu__bucket_open_pending(class);
        if (class->fresh != class->fresh_end)
            status = class_give_back_fresh(pool, class, block_bytes, wanted);
        else if (class->list)
            status = class_give_back_listed(pool, index);
        else
            break;
    }
    return status;
}

/* ---- whole slabs ------------------------------------------------------------------------------- */

enum { GOING = UINT32_MAX };

static void count_listed(const masu_bucket *pool) {
    for (unsigned i = 0; i < pool->class_count; i++) {
        const masu__bucket_class *class = &pool->classes[i];
        for (void *block = class->list; block; block = *(void **)block)
            masu__bucket_slab_of(pool, (uintptr_t)block)->listed++;
        if (class->fresh != class->fresh_end)
            masu__bucket_slab_of(pool, class->fresh)->listed += (class->fresh_end - class->fresh) / class->block_bytes;
    }
}

static bool is_pending(const masu_bucket *pool, const masu__slab *slab) {
    const masu__slab *pending = pool->classes[slab->class_index].pending;
    while (pending && pending != slab)
        pending = pending->next_pending;
    return pending != NULL;
}

/* Where sizes are remembered no list is followed: a caller may have written to it. */
static void count_known(const masu_bucket *pool) {
    size_t cursor;
    masu__slab *slab = NULL;
    while ((slab = masu__bucket_next_slab(pool, &cursor, slab)) != NULL) {
        if (!is_packed(pool, slab->class_index) || is_pending(pool, slab))
            continue;
        slab->listed = slab->held;
        for (size_t i = 0; i < slab->block_count; i++)
            slab->listed -= slab->requested[i] != 0;
    }
}

/* Those that shall go, chained by next_pending. */
static masu__slab *choose_going(masu_bucket *pool, uint64_t keep_bytes, bool packed_only) {
    uint64_t cached = masu__bucket_cached(pool);
    size_t cursor;
    masu__slab *slab = NULL, *going = NULL;
    while ((slab = masu__bucket_next_slab(pool, &cursor, slab)) != NULL) {
        bool goes = slab->listed == slab->held && cached > keep_bytes &&
                    (!packed_only || is_packed(pool, slab->class_index));
        slab->listed = goes ? GOING : 0;
        if (!goes)
            continue;
        cached -= slab->held * masu__slab_block_bytes(pool, slab);
        slab->next_pending = going;
        going = slab;
    }
    return going;
}

static void unlist_going(masu_bucket *pool, masu__bucket_class *class) {
    void **link = &class->list;
    if (class->fresh != class->fresh_end && masu__bucket_slab_of(pool, class->fresh)->listed == GOING)
        class->fresh = class->fresh_end;
    while (*link && !pool->remembers)
        if (masu__bucket_slab_of(pool, (uintptr_t)*link)->listed == GOING)
            *link = *(void **)*link;
        else
            link = (void **)*link;
}

/* A slab ends with its last run. What the best-fit pool has no record for is listed again. */
static void slab_give_back_runs(masu_bucket *pool, masu__slab *slab) {
    masu__bucket_class *class = &pool->classes[slab->class_index];
    size_t block_bytes = class->block_bytes, count = slab->block_count, end;
    slab->listed = 0;
    slab->next_pending = NULL;
    uint32_t left = slab->held;
    for (size_t first = 0; left > 0; first = end) {
        while (masu__slab_returned(slab, first))
            first++;
        for (end = first; end < count && !masu__slab_returned(slab, end);)
            end++;
        left -= (uint32_t)(end - first);
        if (slab_give_back(pool, slab, first, end - first) == MASU_OK)
            continue;
        for (size_t k = first; k < end && !pool->remembers; k++) {
            void *block = (void *)(slab->base + k * block_bytes);
            *(void **)block = class->list;
            class->list = block;
        }
    }
}

static void give_back_whole(masu_bucket *pool, uint64_t keep_bytes, bool packed_only) {
    uint64_t changed = 0; /* a bit for each class */
    pool->remembers ? count_known(pool) : count_listed(pool);
    masu__slab *going = choose_going(pool, keep_bytes, packed_only);
    for (unsigned i = 0; going && i < pool->class_count; i++)
        unlist_going(pool, &pool->classes[i]);
    while (going) {
        masu__slab *next = going->next_pending;
        changed |= (uint64_t)1 << going->class_index;
        slab_give_back_runs(pool, going);
        going = next;
    }
    for (unsigned i = 0; pool->remembers && i < pool->class_count; i++)
        if (changed >> i & 1)
            masu__bucket_list_again(pool, i);
    masu__bucket_move_mark(pool);
}

void masu__bucket_give_back_slabs(masu_bucket *pool, uint64_t keep_bytes) {
    give_back_whole(pool, keep_bytes, false);
}

masu_status masu__bucket_give_back(masu_bucket *pool, uint64_t keep_bytes) {
    masu_status status = MASU_OK;
    if (pool->class_count == MASU_BUCKET_MOST_CLASSES)
        give_back_whole(pool, keep_bytes, true);
    for (unsigned i = pool->class_count; i-- > 0 && status == MASU_OK;)
        if (!is_packed(pool, i))
            status = class_give_back(pool, i, keep_bytes);
    masu__address_map_shrink(&pool->slabs);
    masu__bucket_move_mark(pool);
    return status;
}

void masu__bucket_obey_cap(masu_bucket *pool, uint64_t keep_bytes) {
    if (masu__bucket_is_loose(pool))
        masu__bucket_give_back_slabs(pool, keep_bytes / 2); /* so that the lists are not walked for each batch */
    else
        (void)masu__bucket_give_back(pool, keep_bytes);
    uint64_t cached = masu__bucket_cached(pool);
    bool pinned = pool->tag == MASU__TAG_PROCESS && cached > keep_bytes;
    pool->pinned_cap = pinned ? 2 * cached : 0; /* each free block is walked over twice at most */
    masu__bucket_move_mark(pool);
}

static void slab_drop(masu_bucket *pool, masu__slab *slab) {
    size_t block_bytes = masu__slab_block_bytes(pool, slab);
    for (size_t first = 0; first < slab->block_count;) {
        if (masu__slab_returned(slab, first)) {
            first++;
            continue;
        }
        size_t end = first;
        while (end < slab->block_count && !masu__slab_returned(slab, end))
            end++;
        void *run = (void *)(slab->base + first * block_bytes);
        size_t bytes = (end - first) * block_bytes;
        masu_status status = masu__bestfit_free_part(pool->backing, run, run, bytes);
        MASU_ASSERT(status == MASU_OK); /* a whole block needs no new record */
        masu__page_codes_clear((uintptr_t)run, bytes);
        if (masu__trace_wanted(pool->trace))
            masu__bucket_emit(pool, MASU_EVENT_EXTENT_DROP, (uintptr_t)run, bytes, bytes, 0);
        first = end;
    }
    slab_free_meta(pool, slab);
}

void masu__bucket_be_of_process(masu_bucket *pool) {
    size_t cursor;
    const masu__slab *slab = NULL;
    pool->tag = MASU__TAG_PROCESS;
    masu__bucket_add_packed(pool);
    while ((slab = masu__bucket_next_slab(pool, &cursor, slab)) != NULL)
        slab_show(pool, slab);
}

void masu__bucket_drop_slabs(masu_bucket *pool) {
    size_t cursor;
    masu__slab *slab = masu__bucket_next_slab(pool, &cursor, NULL);
    while (slab) {
        masu__slab *next = masu__bucket_next_slab(pool, &cursor, slab);
        slab_drop(pool, slab);
        slab = next;
    }
    masu__address_map_destroy(&pool->slabs);
}
