/* bucket_sizes.c: the size classes, and what is known of each single block: its size, and whether
 * anybody has it. A pool that remembers sizes keeps that in an array beside each slab; one that does
 * not can find out, for what is in no list and not fresh is live. */
#include "allocators/bucket/bucket_pool.h"

#include "base/meta.h"
#include "base/size.h"

/* ---- classes --------------------------------------------------------------------------------- */

#define TIMES_2(x)   x, x
#define TIMES_4(x)   TIMES_2(x), TIMES_2(x)
#define TIMES_8(x)   TIMES_4(x), TIMES_4(x)
#define TIMES_16(x)  TIMES_8(x), TIMES_8(x)
#define TIMES_32(x)  TIMES_16(x), TIMES_16(x)
#define TIMES_64(x)  TIMES_32(x), TIMES_32(x)
#define TIMES_128(x) TIMES_64(x), TIMES_64(x)

/* Entry k serves requests of 64 k + 1 … 64 k + 64 bytes. */
static const uint8_t plain_table[MASU__CLASS_STEPS] = {
    0, 1, TIMES_2(2), TIMES_4(3), TIMES_8(4), TIMES_16(5), TIMES_32(6), TIMES_64(7), TIMES_128(8),
};

#define FOUR(times, first) times(first), times((first) + 1), times((first) + 2), times((first) + 3)
#define TIMES_1(x)         x

static const uint8_t fine_table[MASU__CLASS_STEPS] = {
    FOUR(TIMES_1, 0),  FOUR(TIMES_1, 4),   FOUR(TIMES_2, 8),   FOUR(TIMES_4, 12),
    FOUR(TIMES_8, 16), FOUR(TIMES_16, 20), FOUR(TIMES_32, 24),
};

void masu__bucket_set_classes(masu_bucket *pool, bool fine) {
    pool->class_table = fine ? fine_table : plain_table;
    pool->class_count = fine ? MASU_BUCKET_FINE_CLASSES : MASU_BUCKET_CLASSES;
    for (unsigned step = 0; step < MASU__CLASS_STEPS; step++) { /* the last step of a class is it */
        masu__bucket_class *class = &pool->classes[pool->class_table[step]];
        class->block_bytes = (step + 1) * MASU_BUCKET_MIN_BYTES;
        class->align_bytes = class->block_bytes & (0u - class->block_bytes);
    }
}

/* Entry k serves requests of 16 k + 1 … 16 k + 16 bytes: four classes a doubling, where the others begin at 64 only. */
const uint8_t masu__packed_table[MASU_PACKED_BYTES / MASU_PACKED_GRAIN] = {
    28, 29, 30, 0, 31, 32, 33, 1, TIMES_2(34), TIMES_2(2), TIMES_2(35), TIMES_2(3),
};

void masu__bucket_add_packed(masu_bucket *pool) {
    if (pool->class_count != MASU_BUCKET_FINE_CLASSES)
        return;
    pool->class_count = MASU_BUCKET_MOST_CLASSES;
    for (unsigned step = 0; step < MASU_PACKED_BYTES / MASU_PACKED_GRAIN; step++) {
        masu__bucket_class *class = &pool->classes[masu__packed_table[step]];
        class->block_bytes = (step + 1) * MASU_PACKED_GRAIN;
        class->align_bytes = class->block_bytes & (0u - class->block_bytes);
    }
}

/* ---- sizes ----------------------------------------------------------------------------------- */

void masu__bucket_remember(masu_bucket *pool, const void *block, size_t bytes) {
    const masu__slab *slab = masu__bucket_slab_of(pool, (uintptr_t)block);
    uint16_t *known = &slab->requested[masu__slab_position(pool, slab, (uintptr_t)block)];
    MASU_ASSERT(*known == 0); /* a block in use came out of the list */
    *known = (uint16_t)bytes;
}

/* Whether a block of the class may have been asked for with so many bytes. In the process-wide pool it may have been
 * asked for with an alignment, or have shrunk in place. */
static bool of_class(const masu_bucket *pool, size_t bytes, unsigned index) {
    if (!masu__bucket_has_class(bytes))
        return false;
    return pool->tag == MASU__TAG_PROCESS ? bytes <= masu__bucket_block_bytes(pool, index)
                                          : masu__bucket_class_of(pool, bytes) == index;
}

masu_status masu__bucket_judge(const masu_bucket *pool, const masu__slab *slab, uintptr_t address, bool sized,
                               size_t *bytes) {
    size_t block_bytes = masu__slab_block_bytes(pool, slab);
    size_t position = (address - slab->base) / block_bytes;
    if (address != slab->base + position * block_bytes)
        return MASU_ERR_INTERIOR_POINTER;
    if ((void *)address == pool->classes[slab->class_index].list)
        return MASU_ERR_DOUBLE_FREE;
    if (!pool->remembers) {
        if (!sized)
            return MASU_ERR_UNSUPPORTED;
        return of_class(pool, *bytes, slab->class_index) ? MASU_OK : MASU_ERR_SIZE_MISMATCH;
    }
    size_t known = slab->requested[position];
    if (known == 0)
        return MASU_ERR_DOUBLE_FREE;
    bool exact = known != MASU__SIZE_UNKNOWN;
    if (sized)
        return (exact ? *bytes == known : of_class(pool, *bytes, slab->class_index)) ? MASU_OK : MASU_ERR_SIZE_MISMATCH;
    *bytes = exact ? known : block_bytes;
    return MASU_OK;
}

/* ---- lists that are looked at ------------------------------------------------------------------ */

static void *listed_seal(const masu_bucket *pool, void *block) {
    return masu__bucket_next(pool, (void **)block + 1);
}

static void listed_link(masu_bucket *pool, void *block, void *next) {
    masu__bucket_set_next(pool, block, next);
    masu__bucket_set_next(pool, (void **)block + 1, masu__bucket_seal(block, next));
}

static bool is_fresh(const masu_bucket *pool, const masu__slab *slab, uintptr_t address) {
    const masu__bucket_class *class = &pool->classes[slab->class_index];
    if (address - class->fresh < class->fresh_end - class->fresh)
        return true;
    const masu__slab *pending = class->pending;
    while (pending && pending != slab)
        pending = pending->next_pending;
    return pending != NULL;
}

/* Every block that is not out and has been used: what the list held before it was written to. */
void masu__bucket_list_again(masu_bucket *pool, unsigned index) {
    masu__bucket_class *class = &pool->classes[index];
    size_t cursor;
    const masu__slab *slab = NULL;
    class->list = NULL;
    while ((slab = masu__bucket_next_slab(pool, &cursor, slab)) != NULL) {
        if (slab->class_index != index)
            continue;
        for (size_t i = slab->block_count; i-- > 0;) {
            uintptr_t address = slab->base + i * class->block_bytes;
            if (slab->requested[i] || masu__slab_returned(slab, i) || is_fresh(pool, slab, address))
                continue;
            listed_link(pool, (void *)address, class->list);
            class->list = (void *)address;
        }
    }
}

masu_status masu__bucket_pop_listed(masu_bucket *pool, unsigned index, void **out) {
    masu__bucket_class *class = &pool->classes[index];
    void *block = class->list, *next = masu__bucket_next(pool, block);
    if (MASU_UNLIKELY(pool->remembers) && listed_seal(pool, block) != masu__bucket_seal(block, next)) {
        masu__bucket_list_again(pool, index);
        return MASU_ERR_CORRUPT;
    }
    class->list = next;
    *out = block;
    return MASU_OK;
}

/* ---- learning and forgetting them ------------------------------------------------------------ */

static void sizes_drop(masu_bucket *pool) {
    size_t cursor;
    masu__slab *slab = NULL;
    while ((slab = masu__bucket_next_slab(pool, &cursor, slab)) != NULL)
        masu__slab_drop_sizes(pool, slab);
}

static void slab_forget(masu_bucket *pool, masu__slab *slab, uintptr_t from, uintptr_t to) {
    size_t first = masu__slab_position(pool, slab, from);
    size_t count = (to - from) / masu__slab_block_bytes(pool, slab);
    for (size_t i = first; i < first + count; i++)
        slab->requested[i] = 0;
}

/* A block that is in no slab of the class, or in the list twice, was freed wrongly before. */
static bool class_forget_listed(masu_bucket *pool, unsigned index) {
    for (void *block = pool->classes[index].list; block; block = masu__bucket_next(pool, block)) {
        masu__slab *slab = masu__bucket_slab_of(pool, (uintptr_t)block);
        if (!slab || slab->class_index != index ||
            ((uintptr_t)block - slab->base) % masu__slab_block_bytes(pool, slab) != 0)
            return false;
        size_t position = masu__slab_position(pool, slab, (uintptr_t)block);
        if (slab->requested[position] == 0)
            return false;
        slab->requested[position] = 0;
        listed_link(pool, block, masu__bucket_next(pool, block));
    }
    return true;
}

/* Leaves out blocks that callers do not have: fresh ones, those of a slab not yet begun, those in the list. */
static bool class_forget_free(masu_bucket *pool, unsigned index) {
    const masu__bucket_class *class = &pool->classes[index];
    bool whole = class_forget_listed(pool, index);
    if (class->fresh != class->fresh_end)
        slab_forget(pool, masu__bucket_slab_of(pool, class->fresh), class->fresh, class->fresh_end);
    for (masu__slab *slab = class->pending; slab; slab = slab->next_pending)
        slab_forget(pool, slab, slab->base, slab->base + slab->block_count * class->block_bytes);
    return whole;
}

/* All or nothing. */
static masu_status sizes_learn(masu_bucket *pool) {
    size_t cursor;
    masu__slab *slab = NULL;
    masu_status status = MASU_OK;
    while (status == MASU_OK && (slab = masu__bucket_next_slab(pool, &cursor, slab)) != NULL) {
        if (!masu__slab_add_sizes(pool, slab))
            status = MASU_ERR_OUT_OF_MEMORY;
        for (size_t i = 0; status == MASU_OK && i < slab->block_count; i++)
            slab->requested[i] = masu__slab_returned(slab, i) ? 0 : MASU__SIZE_UNKNOWN;
    }
    for (unsigned i = 0; status == MASU_OK && i < pool->class_count; i++)
        if (!class_forget_free(pool, i))
            status = MASU_ERR_CORRUPT;
    if (status != MASU_OK)
        sizes_drop(pool);
    return status;
}

masu_status masu__bucket_set_checked(masu_bucket *pool, bool on) {
    bool remembers = on || pool->always_remembers;
    if (remembers && !pool->remembers) {
        masu_status status = sizes_learn(pool);
        if (status != MASU_OK)
            return status;
    }
    if (!remembers && pool->remembers)
        sizes_drop(pool);
    pool->checked = on;
    pool->remembers = remembers;
    masu__bucket_move_care(pool);
    return MASU_OK;
}

masu_status masu__bucket_always_remember(masu_bucket *pool) {
    pool->always_remembers = true;
    return masu__bucket_set_checked(pool, pool->checked);
}

/* ---- all live blocks ------------------------------------------------------------------------- */

static bool slab_visit(const masu_bucket *pool, const masu__slab *slab, masu__bucket_visit visit, void *context) {
    size_t block_bytes = masu__slab_block_bytes(pool, slab);
    for (size_t i = 0; i < slab->block_count; i++) {
        size_t bytes = slab->requested[i];
        if (bytes == 0)
            continue;
        if (!visit(context, (void *)(slab->base + i * block_bytes), bytes == MASU__SIZE_UNKNOWN ? block_bytes : bytes))
            return false;
    }
    return true;
}

masu_status masu__bucket_visit_live(masu_bucket *pool, masu__bucket_visit visit, void *context) {
    if (!pool->remembers) {
        masu_status status = sizes_learn(pool);
        if (status != MASU_OK)
            return status;
    }
    size_t cursor;
    const masu__slab *slab = NULL;
    while ((slab = masu__bucket_next_slab(pool, &cursor, slab)) != NULL && slab_visit(pool, slab, visit, context))
        ;
    if (!pool->remembers)
        sizes_drop(pool);
    return MASU_OK;
}
