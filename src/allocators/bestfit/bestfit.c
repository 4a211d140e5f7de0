/* bestfit.c: taking and giving blocks.
 *
 *     alloc   reserve records ─► find the block ─► (grow) ─► cut padding off its front
 *             ─► cut the remainder off its back
 *     free    find the record ─► join with the neighbours that are free ─► into the index
 */
#include "allocators/bestfit/bestfit_pool.h"

#include "base/assert.h"
#include "base/meta.h"
#include "base/size.h"

enum { ALIGNED_TRIES = 32 };

/* Cold: the question before it costs the way without a trace nothing but a branch. */
__attribute__((cold, noinline)) void masu__bestfit_emit(masu_bestfit *pool, masu_event_kind kind, uintptr_t address,
                                                        size_t bytes, size_t block_bytes, size_t alignment,
                                                        uint64_t owner) {
    masu__trace_emit(pool->trace, (masu_event){
                                      .address = address,
                                      .bytes = bytes,
                                      .block_bytes = block_bytes,
                                      .alignment_bytes = alignment,
                                      .owner = owner,
                                      .pool = pool->number,
                                      .kind = kind,
                                  });
}

/* ---- allocation ------------------------------------------------------------------------------ */

static bool block_fits(const masu__block *block, size_t bytes, size_t alignment) {
    size_t padding = masu__align_up_small(block->address, alignment) - block->address;
    return padding <= block->bytes && block->bytes - padding >= bytes;
}

/* Some candidates in order, and then one so large that it fits wherever it lies. */
static masu__block_id pool_find_aligned(const masu_bestfit *pool, const masu__free_index *index, masu__block_id id,
                                        size_t bytes, size_t alignment) {
    size_t surely = bytes + alignment - MASU__GRAIN;
    for (int tries = 0; id && tries < ALIGNED_TRIES; tries++) {
        if (block_fits(&pool->blocks.at[id], bytes, alignment))
            return id;
        id = masu__free_index_after(index, &pool->blocks, id);
    }
    return id ? masu__free_index_at_least(index, &pool->blocks, surely) : 0;
}

/* Every block is aligned to MASU__GRAIN, so for that the first candidate fits. */
static inline masu__block_id pool_find(const masu_bestfit *pool, uint32_t ground, size_t bytes, size_t alignment) {
    const masu__free_index *index = pool->index[ground];
    masu__block_id id = masu__free_index_at_least(index, &pool->blocks, bytes);
    return MASU_LIKELY(alignment == MASU__GRAIN) ? id : pool_find_aligned(pool, index, id, bytes, alignment);
}

/* Whether a part cut out of that free block lies in pages that were used before. */
static bool block_was_used(const masu_bestfit *pool, masu__block_id id, size_t bytes, size_t alignment) {
    const masu__block *block = &pool->blocks.at[id];
    if (block->after != 0)
        return !block->clean;
    const masu__region *region = masu__bestfit_region_of(pool, block->address);
    return masu__align_up_small(block->address, alignment) + bytes <= region->used_end;
}

bool masu__bestfit_has_used(const masu_bestfit *pool, uint32_t ground, size_t bytes, size_t alignment) {
    size_t sum;
    alignment = masu__max(alignment, pool->min_alignment_bytes);
    if (!masu__add(bytes, alignment, &sum) || !masu__align_up(bytes, pool->min_alignment_bytes, &bytes))
        return false;
    masu__block_id id = pool_find(pool, ground, bytes, alignment);
    return id != 0 && block_was_used(pool, id, bytes, alignment);
}

/* The bytes before the first aligned address stay free. */
static masu__block_id pool_cut_padding(masu_bestfit *pool, masu__block_id id, size_t alignment) {
    uintptr_t address = pool->blocks.at[id].address;
    size_t padding = masu__align_up_small(address, alignment) - address;
    if (padding == 0)
        return id;
    masu__block_id rest = masu__blocks_cut(&pool->blocks, id, padding);
    masu__free_index_insert(masu__bestfit_index(pool, id), &pool->blocks, id);
    return rest;
}

/* Cuts the request out of a free block that fits; the block comes out of the index, the rest goes
 * back into it. */
static inline masu__block_id pool_carve(masu_bestfit *pool, masu__block_id id, size_t bytes, size_t alignment) {
    masu__free_index *index = masu__bestfit_index(pool, id);
    masu__free_index_remove(index, &pool->blocks, id);
    if (MASU_UNLIKELY(alignment != MASU__GRAIN))
        id = pool_cut_padding(pool, id, alignment);
    if (pool->blocks.at[id].bytes - bytes >= pool->min_remainder_bytes) {
        masu__block_id rest = masu__blocks_cut(&pool->blocks, id, bytes);
        masu__free_index_insert(index, &pool->blocks, rest);
    }
    return id;
}

static inline void pool_make_live(masu_bestfit *pool, masu__block_id id, const masu__request *request) {
    masu__block *block = &pool->blocks.at[id];
    masu__bestfit_counts *counts = &pool->counts;
    masu__bestfit_note_used(pool, block);
    block->state = request->sealed ? MASU__BLOCK_SEALED : MASU__BLOCK_LIVE;
    block->client = request->client;
    block->clean = false;
    block->age = 0;
    block->as.live.requested = request->bytes;
    block->as.live.owner = request->owner;
    block->as.live.serial = ++pool->serial;
    masu__blocks_enter(&pool->blocks, id);
    counts->allocations++;
    counts->allocated_bytes += request->bytes;
    counts->slack_bytes += block->bytes - request->bytes;
    counts->peak_used_bytes = masu__max(counts->peak_used_bytes, masu__bestfit_used(pool));
}

/* Up to the next of so many steps between two powers of two. */
static bool round_to_step(size_t bytes, size_t steps, size_t *out) {
    size_t step = ((size_t)1 << masu__log2_floor(bytes)) / steps;
    return masu__align_up(bytes, masu__max(step, MASU__GRAIN), out);
}

/* Blocks that end where the next may begin leave no gap between them, each of which would be a record: so a
 * size is rounded up to its alignment where that costs no more than a small remainder does, or little of it. */
static size_t rounding_unit(const masu_bestfit *pool, size_t bytes, size_t alignment) {
    return alignment <= masu__max(pool->min_remainder_bytes, pool->min_alignment_bytes) || alignment <= bytes / 16
               ? alignment
               : pool->min_alignment_bytes;
}

/* The rounded size and alignment, when the two together can be expressed. */
static masu_status request_round(const masu_bestfit *pool, const masu__request *request, size_t *rounded,
                                 size_t *alignment) {
    size_t sum;
    if (request->alignment != 0 && !masu__is_power_of_two(request->alignment))
        return MASU_ERR_INVALID_ARGUMENT;
    *alignment = masu__max(request->alignment, pool->min_alignment_bytes);
    size_t unit = rounding_unit(pool, request->bytes, *alignment);
    bool fits = MASU_LIKELY(pool->size_steps == 0) ? masu__align_up(request->bytes, unit, rounded)
                                                   : round_to_step(request->bytes, pool->size_steps, rounded) &&
                                                         masu__align_up(*rounded, unit, rounded);
    return fits && masu__add(*rounded, *alignment, &sum) ? MASU_OK : MASU_ERR_OVERFLOW;
}

/* Whatever the device says to a block of its own, a piece of another one may still serve. */
static bool pool_take_whole(masu_bestfit *pool, size_t bytes, size_t alignment, masu__block_id *out, bool *grew) {
    return bytes > pool->whole_above_bytes && alignment <= pool->device->info.alignment_bytes &&
           masu__bestfit_take_whole(pool, bytes, out, grew) == MASU_OK;
}

/* A block of that size at least, in no list. */
static masu_status pool_obtain(masu_bestfit *pool, uint32_t ground, size_t bytes, size_t alignment, masu__block_id *out,
                               bool *grew) {
    if (!masu__blocks_reserve(&pool->blocks, 2))
        return MASU_ERR_OUT_OF_MEMORY;
    if (MASU_UNLIKELY(pool->idle_allocations > 0 && pool->serial >= pool->idle_look))
        masu__bestfit_drop_idle(pool);
    if (MASU_UNLIKELY(pool_take_whole(pool, bytes, alignment, out, grew)))
        return MASU_OK;
    masu__block_id id = pool_find(pool, ground, bytes, alignment);
    if (MASU_UNLIKELY(id == 0)) {
        *grew = true;
        masu_status status = masu__bestfit_grow(pool, ground, bytes, alignment);
        if (status != MASU_OK)
            return status;
        id = pool_find(pool, ground, bytes, alignment);
        MASU_ASSERT(id != 0);
    }
    *out = pool_carve(pool, id, bytes, alignment);
    return MASU_OK;
}

static masu_status pool_obtain_roomy(masu_bestfit *pool, size_t bytes, size_t alignment, size_t room,
                                     masu__block_id *out, bool *grew) {
    size_t wanted;
    bool fits = masu__add(bytes, room, &wanted) && masu__align_up(wanted, pool->min_alignment_bytes, &wanted);
    if (fits && pool_obtain(pool, MASU__GROUND_BLOCKS, wanted, alignment, out, grew) == MASU_OK)
        return MASU_OK;
    return pool_obtain(pool, MASU__GROUND_BLOCKS, bytes, alignment, out, grew);
}

/* A block that was found becomes the caller's. */
static inline void *pool_hand_out(masu_bestfit *pool, masu__block_id id, const masu__request *request,
                                  size_t alignment) {
    pool_make_live(pool, id, request);
    const masu__block *block = &pool->blocks.at[id];
    if (masu__trace_wanted(pool->trace))
        masu__bestfit_emit(pool, MASU_EVENT_ALLOC, block->address, request->bytes, block->bytes, alignment,
                           request->owner);
    void *out = (void *)block->address;
    if (MASU_UNLIKELY(pool->annotated) && !request->sealed)
        masu__annotate_alloc(out, request->bytes, block->bytes);
    return out;
}

bool masu__bestfit_take_used(masu_bestfit *pool, const masu__request *request, void **out) {
    size_t bytes, alignment;
    MASU_HEAVY_ASSERT(masu__bestfit_audit(pool));
    if (pool->whole_above_bytes != SIZE_MAX || pool->idle_allocations > 0 ||
        request_round(pool, request, &bytes, &alignment) != MASU_OK || !masu__blocks_reserve(&pool->blocks, 2))
        return false;
    masu__block_id id = pool_find(pool, pool->apart ? request->ground : MASU__GROUND_BLOCKS, bytes, alignment);
    if (id == 0 || !block_was_used(pool, id, bytes, alignment))
        return false;
    *out = pool_hand_out(pool, pool_carve(pool, id, bytes, alignment), request, alignment);
    MASU_HEAVY_ASSERT(masu__bestfit_audit(pool));
    return true;
}

static masu_status pool_take(masu_bestfit *pool, const masu__request *request, void **out, bool *grew) {
    size_t rounded, alignment;
    masu__block_id id;
    masu_status status = request_round(pool, request, &rounded, &alignment);
    if (status == MASU_OK)
        status = MASU_LIKELY(request->room == 0)
                     ? pool_obtain(pool, pool->apart ? request->ground : MASU__GROUND_BLOCKS, rounded, alignment, &id,
                                   grew)
                     : pool_obtain_roomy(pool, rounded, alignment, request->room, &id, grew);
    if (MASU_UNLIKELY(status != MASU_OK))
        return status;
    pool->counts.misses += *grew;
    *out = pool_hand_out(pool, id, request, alignment);
    return MASU_OK;
}

static void pool_refused(masu_bestfit *pool, const masu__request *request) {
    pool->counts.failures++;
    if (masu__trace_wanted(pool->trace))
        masu__bestfit_emit(pool, MASU_EVENT_REFUSED, 0, request->bytes, 0, request->alignment, request->owner);
}

masu_status masu__bestfit_take(masu_bestfit *pool, const masu__request *request, void **out, bool *grew) {
    bool grew_here = false;
    masu__bestfit_lock(pool);
    MASU_HEAVY_ASSERT(masu__bestfit_audit(pool));
    masu_status status = pool_take(pool, request, out, &grew_here);
    if (MASU_UNLIKELY(status != MASU_OK))
        pool_refused(pool, request);
    MASU_HEAVY_ASSERT(masu__bestfit_audit(pool));
    masu__bestfit_unlock(pool);
    if (grew)
        *grew = grew_here;
    return status;
}

masu_status masu_bestfit_alloc(masu_bestfit *pool, size_t bytes, size_t alignment, uint64_t owner, void **out) {
    if (!out)
        return MASU_ERR_INVALID_ARGUMENT;
    *out = NULL;
    if (!pool)
        return MASU_ERR_INVALID_ARGUMENT;
    if (pool->magic != MASU__POOL_LIVE)
        return MASU_ERR_STALE_POOL;
    if (bytes == 0)
        return alignment == 0 || masu__is_power_of_two(alignment) ? MASU_OK : MASU_ERR_INVALID_ARGUMENT;
    return masu__bestfit_take(pool, &(masu__request){.bytes = bytes, .alignment = alignment, .owner = owner}, out,
                              NULL);
}

/* ---- freeing --------------------------------------------------------------------------------- */

/* Slow on purpose: only a wrong pointer comes here. */
static masu_status pointer_diagnose(const masu_bestfit *pool, uintptr_t address) {
    const masu__region *region = masu__bestfit_region_of(pool, address);
    if (!region)
        return MASU_ERR_FOREIGN_POINTER;
    const masu__block *at = pool->blocks.at, *block = &at[region->first];
    while (block->after && at[block->after].address <= address)
        block = &at[block->after];
    return masu__block_is_live(block) ? MASU_ERR_INTERIOR_POINTER : MASU_ERR_DOUBLE_FREE;
}

/* The block leaves the live ones and joins its free neighbours. */
static inline void pool_give(masu_bestfit *pool, masu__block_id id) {
    masu__block_table *blocks = &pool->blocks;
    masu__free_index *index = masu__bestfit_index(pool, id);
    masu__block_id before = blocks->at[id].before, after = blocks->at[id].after;
    if (blocks->at[after].state == MASU__BLOCK_FREE) {
        masu__free_index_remove(index, blocks, after);
        masu__blocks_join_after(blocks, id);
    }
    if (blocks->at[before].state == MASU__BLOCK_FREE) {
        masu__free_index_remove(index, blocks, before);
        masu__blocks_join_after(blocks, before);
        id = before;
    }
    bool spans_region = (blocks->at[id].before | blocks->at[id].after) == 0;
    if (!MASU_UNLIKELY(spans_region) || !masu__bestfit_region_freed(pool, id))
        masu__free_index_insert(index, blocks, id);
    if (MASU_UNLIKELY(spans_region))
        masu__bestfit_cap_idle(pool);
    if (MASU_UNLIKELY(pool->carried && spans_region))
        masu__bestfit_drop_carried(pool);
}

static inline void count_free(masu_bestfit *pool, const masu__block *block) {
    pool->counts.frees++;
    pool->counts.freed_bytes += block->as.live.requested;
    pool->counts.slack_bytes -= block->bytes - block->as.live.requested;
}

/* link: in the chain of the block's home */
static inline void pool_end_block(masu_bestfit *pool, masu__block_id *link) {
    masu__block_id id = *link;
    const masu__block *block = &pool->blocks.at[id];
    if (masu__trace_wanted(pool->trace))
        masu__bestfit_emit(pool, MASU_EVENT_FREE, block->address, block->as.live.requested, block->bytes, 0,
                           block->as.live.owner);
    if (MASU_UNLIKELY(pool->annotated) && block->state != MASU__BLOCK_SEALED)
        masu__annotate_free((void *)block->address, block->bytes);
    masu__blocks_leave(&pool->blocks, link);
    count_free(pool, block);
}

static inline void pool_release(masu_bestfit *pool, masu__block_id *link) {
    masu__block_id id = *link;
    pool_end_block(pool, link);
    pool_give(pool, id);
}

void masu__bestfit_end_block(masu_bestfit *pool, masu__block_id id) {
    pool_end_block(pool, masu__blocks_link(&pool->blocks, pool->blocks.at[id].address));
}

void masu__bestfit_release(masu_bestfit *pool, masu__block_id id) {
    pool_release(pool, masu__blocks_link(&pool->blocks, pool->blocks.at[id].address));
}

void *masu__bestfit_hand_out(masu_bestfit *pool, masu__block_id id, const masu__request *request, size_t alignment) {
    return pool_hand_out(pool, id, request, alignment);
}

/* The live block at ptr, if that client may free it. */
static inline masu_status pool_find_own(masu_bestfit *pool, const void *ptr, uint32_t client, masu__block_id **link) {
    uintptr_t address = (uintptr_t)ptr;
    *link = pool->blocks.homes ? masu__blocks_link(&pool->blocks, address) : NULL;
    if (MASU_UNLIKELY(!*link || **link == 0))
        return pointer_diagnose(pool, address);
    const masu__block *block = &pool->blocks.at[**link];
    if (MASU_UNLIKELY(block->state == MASU__BLOCK_SEALED))
        return MASU_ERR_INTERIOR_POINTER; /* to a caller it is the inside of another pool */
    return block->client == client ? MASU_OK : MASU_ERR_FOREIGN_POINTER;
}

masu_status masu__bestfit_known(masu_bestfit *pool, const void *ptr, uint32_t client, size_t *out_bytes) {
    masu__block_id *link;
    masu_status status = pool_find_own(pool, ptr, client, &link);
    if (status == MASU_OK)
        *out_bytes = pool->blocks.at[*link].as.live.requested;
    return status;
}

static masu_status pool_free(masu_bestfit *pool, void *ptr, uint32_t client, size_t *bytes) {
    masu__block_id *link;
    masu_status status = pool_find_own(pool, ptr, client, &link);
    if (MASU_UNLIKELY(status != MASU_OK))
        return status;
    size_t requested = pool->blocks.at[*link].as.live.requested;
    if (*bytes != 0 && *bytes != requested)
        return MASU_ERR_SIZE_MISMATCH;
    *bytes = requested;
    pool_release(pool, link);
    return MASU_OK;
}

masu_status masu__bestfit_give(masu_bestfit *pool, void *ptr, uint32_t client, size_t *bytes) {
    masu__bestfit_lock(pool);
    MASU_HEAVY_ASSERT(masu__bestfit_audit(pool));
    masu_status status = pool_free(pool, ptr, client, bytes);
    MASU_HEAVY_ASSERT(masu__bestfit_audit(pool));
    masu__bestfit_unlock(pool);
    return status;
}

static masu_status usable(const masu_bestfit *pool) {
    if (!pool)
        return MASU_ERR_INVALID_ARGUMENT;
    return pool->magic == MASU__POOL_LIVE ? MASU_OK : MASU_ERR_STALE_POOL;
}

masu_status masu_bestfit_free(masu_bestfit *pool, void *ptr) {
    size_t any = 0;
    masu_status status = usable(pool);
    if (status != MASU_OK || !ptr)
        return status;
    return masu__bestfit_give(pool, ptr, 0, &any);
}

masu_status masu_bestfit_free_sized(masu_bestfit *pool, void *ptr, size_t bytes) {
    masu_status status = usable(pool);
    if (status != MASU_OK || !ptr)
        return status;
    if (bytes == 0)
        return MASU_ERR_SIZE_MISMATCH; /* no block was ever allocated with it */
    return masu__bestfit_give(pool, ptr, 0, &bytes);
}

masu_status masu_bestfit_size_of(masu_bestfit *pool, const void *ptr, size_t *out_bytes) {
    if (!pool || !ptr || !out_bytes)
        return MASU_ERR_INVALID_ARGUMENT;
    if (pool->magic != MASU__POOL_LIVE)
        return MASU_ERR_STALE_POOL;
    masu__bestfit_lock(pool);
    masu__block_id id = masu__blocks_find(&pool->blocks, (uintptr_t)ptr);
    masu_status status = id ? MASU_OK : pointer_diagnose(pool, (uintptr_t)ptr);
    if (status == MASU_OK && pool->blocks.at[id].state == MASU__BLOCK_SEALED)
        status = MASU_ERR_INTERIOR_POINTER;
    if (status == MASU_OK)
        *out_bytes = pool->blocks.at[id].as.live.requested;
    masu__bestfit_unlock(pool);
    return status;
}

/* ---- parts of sealed blocks ------------------------------------------------------------------ */

/* Cuts a live block in two at offset; the second part is a live block of its own. */
static masu__block_id pool_cut_live(masu_bestfit *pool, masu__block_id id, size_t offset) {
    masu__block_id rest_id = masu__blocks_cut(&pool->blocks, id, offset);
    masu__block *block = &pool->blocks.at[id], *rest = &pool->blocks.at[rest_id];
    rest->state = block->state;
    rest->client = block->client;
    rest->as.live = block->as.live;
    rest->as.live.requested -= offset;
    block->as.live.requested = offset;
    masu__blocks_enter(&pool->blocks, rest_id);
    pool->counts.allocations++; /* allocations - frees stays the number of live blocks */
    return rest_id;
}

static masu_status pool_free_part(masu_bestfit *pool, masu__block_id id, uintptr_t address, size_t bytes) {
    if (!masu__blocks_reserve(&pool->blocks, 2))
        return MASU_ERR_OUT_OF_MEMORY;
    const masu__block *block = &pool->blocks.at[id];
    size_t offset = address - block->address;
    MASU_ASSERT(offset < block->as.live.requested && bytes <= block->as.live.requested - offset);
    if (masu__trace_wanted(pool->trace))
        masu__bestfit_emit(pool, MASU_EVENT_FREE_PART, address, bytes, bytes, 0, block->address);
    if (offset > 0)
        id = pool_cut_live(pool, id, offset);
    if (bytes < pool->blocks.at[id].as.live.requested)
        pool_cut_live(pool, id, bytes);
    masu__blocks_leave(&pool->blocks, masu__blocks_link(&pool->blocks, address));
    count_free(pool, &pool->blocks.at[id]);
    pool_give(pool, id);
    return MASU_OK;
}

masu_status masu__bestfit_free_part(masu_bestfit *pool, void *base, void *ptr, size_t bytes) {
    masu_status status = MASU_OK;
    masu__bestfit_lock(pool);
    MASU_HEAVY_ASSERT(masu__bestfit_audit(pool));
    MASU_ASSERT(pool->blocks.homes != NULL);
    masu__block_id *link = masu__blocks_link(&pool->blocks, (uintptr_t)base);
    const masu__block *block = &pool->blocks.at[*link];
    MASU_ASSERT(*link != 0 && block->state == MASU__BLOCK_SEALED);
    if (base == ptr && bytes == block->as.live.requested)
        pool_release(pool, link);
    else
        status = pool_free_part(pool, *link, (uintptr_t)ptr, bytes);
    MASU_HEAVY_ASSERT(masu__bestfit_audit(pool));
    masu__bestfit_unlock(pool);
    return status;
}
