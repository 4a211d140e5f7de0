/* bestfit_pool.h: the best-fit pool from inside. What masu/bestfit.h promises is kept by these
 * records:
 *
 *     regions[]  sorted by base        index  every free block of one ground, ordered by (size, address)
 *     blocks     all records, and every live block by its address
 *
 *     reserved = sum of the regions' bytes = used + slack + free
 *     used     = allocated - freed = sum of requested, of live blocks
 *     slack    = sum of (bytes - requested), of live blocks
 *     allocations - frees = live blocks;  records in use = live blocks + free ones
 *     every block of a region's chain is in the index (free) or found by address (live); no other
 *     is; only the one block of a region that is never split, when free, is in neither
 *
 * Each operation first makes sure of all records it may need and asks the device, and only then
 * changes anything: so every failure leaves the pool as it was.
 */
#ifndef MASU_BESTFIT_POOL_H
#define MASU_BESTFIT_POOL_H

#include <masu/bestfit.h>

#include "allocators/bestfit/block.h"
#include "allocators/bestfit/free_index.h"
#include "base/annotate.h"
#include "base/trace.h"
#include "devices/devices.h"

/* The index of every pool that has no region yet: a pool without memory weighs next to nothing. Read
 * only. */
extern masu__free_index masu__no_index;

/* The counters behind masu_bestfit_stats. */
typedef struct masu__bestfit_counts {
    uint64_t allocations, frees, failures, misses;
    uint64_t device_allocations, device_frees;
    uint64_t allocated_bytes, freed_bytes, slack_bytes, reserved_bytes;
    uint64_t peak_used_bytes, peak_reserved_bytes;
} masu__bestfit_counts;

enum { MASU__POOL_LIVE = 0x6d617375, MASU__POOL_DEAD = 0x64656164 };

/* The purpose of a block. client: the number of the pool on top for which the block is taken,
 * 0 for a caller of the public functions; only the same client can free it. sealed: it is the
 * ground of that pool, taken back by masu__bestfit_free_part alone. */
typedef struct masu__request {
    size_t bytes;     /* > 0 */
    size_t alignment; /* 0: MASU__GRAIN */
    size_t room;      /* so much more is kept behind the block, if it can be had */
    uint64_t owner;
    uint32_t client;
    bool sealed;
    uint32_t ground; /* where it shall lie, in a pool that keeps slabs apart */
} masu__request;

struct masu_bestfit {
    uint32_t magic; /* MASU__POOL_LIVE, or MASU__POOL_DEAD after destroy */
    bool thread_safe;
    bool annotated; /* see base/annotate.h */
    masu_pool_policy policy;
    masu_device *device; /* borrowed */
    masu_trace *trace;   /* borrowed, NULL: none */
    size_t pool_bytes;
    size_t min_remainder_bytes;
    size_t min_alignment_bytes; /* of every block; a power of two, MASU__GRAIN at least */
    size_t limit_bytes;         /* whole granules; SIZE_MAX: none */
    size_t size_steps;          /* 0: none */
    size_t whole_above_bytes;   /* SIZE_MAX: none */
    size_t whole_slack_bytes;
    uint64_t idle_allocations; /* 0: none */
    uint64_t idle_look;        /* the serial at which what lies idle is looked for next */
    size_t max_idle_bytes;     /* SIZE_MAX: none */
    masu_bestfit_visitor leaked;
    void *leaked_context; /* borrowed */
    uint32_t number;
    masu__lock lock;

    masu__region **regions; /* owned, sorted by base */
    size_t region_count;
    size_t region_capacity;
    masu__block_table blocks;
    masu__free_index *index[MASU__GROUNDS]; /* owned; masu__no_index before the first region of that ground */
    uint64_t grown_bytes;                   /* new pages since it was looked at what lies idle on the other ground */
    uint64_t swap_step;                     /* how many they must be; doubles each time, for phases that come back */
    bool carried;                           /* there are regions that came about by it */
    bool doubles;                           /* grows by as much as it has, where that is more than pool_bytes */
    bool apart; /* slabs have regions of their own, so that they never lie in the way of large blocks */

    uint64_t serial;      /* of the latest allocation */
    uintptr_t fresh_from; /* of the block handed out last: from here on no byte of it was ever used */
    size_t audit_pause;
    masu__bestfit_counts counts;
};

static inline void masu__bestfit_lock(masu_bestfit *pool) {
    if (pool->thread_safe)
        masu__lock_take(&pool->lock);
}

static inline void masu__bestfit_unlock(masu_bestfit *pool) {
    if (pool->thread_safe)
        masu__lock_release(&pool->lock);
}

/* Whether a request is served by memory that was in a block before, so that no page is touched for the first time.
 * Call under the lock. */
bool masu__bestfit_has_used(const masu_bestfit *pool, uint32_t ground, size_t bytes, size_t alignment);

/* A block on that ground will take so many bytes of pages that were never used: what lies idle at the end of the other
 * ground goes back but for so many bytes. Phases of small and of large blocks share their pages so. O(blocks), once for
 * each MiB that is new. */
void masu__bestfit_swap_pages(masu_bestfit *pool, uint32_t ground, size_t bytes, size_t keep_bytes);

/* Of pages that were used and lie idle no more than so many bytes stay, those that lay idle for longest go first.
 * O(blocks). */
void masu__bestfit_cap_pages(masu_bestfit *pool, uint64_t keep_bytes);
/* Idle regions grow older by one; one that was idle for so many calls goes back, if it is 64 KiB or more.
 * O(blocks). */
void masu__bestfit_age(masu_bestfit *pool, unsigned most);

/* A block that lies in used memory, if a request without room can be served so: false, and nothing has changed, if not.
 * The pool has no lock of its own. */
bool masu__bestfit_take_used(masu_bestfit *pool, const masu__request *request, void **out);

/* As masu_bestfit_alloc. *grew, where not NULL, says whether the device was asked. */
masu_status masu__bestfit_take(masu_bestfit *pool, const masu__request *request, void **out, bool *grew);

/* As masu_bestfit_free, for blocks of that client. *bytes: when not 0 on entry, the requested
 * size it must have; on success the requested size it had. */
masu_status masu__bestfit_give(masu_bestfit *pool, void *ptr, uint32_t client, size_t *bytes);

/* The block of old_bytes (0: any) holds new_bytes > 0 afterwards, where it lies; contents stay as far as both reach.
 * MASU_ERR_OUT_OF_MEMORY: what lies behind it is not free, or there is no record; statuses of free. Nothing has
 * changed then. */
masu_status masu__bestfit_resize(masu_bestfit *pool, void *ptr, uint32_t client, size_t old_bytes, size_t new_bytes);

/* The block of old_bytes (0: any) becomes one of new_bytes > old_bytes at another place, without a copy where its pages
 * can go there, in a device block of its own that is never split. For large blocks that cannot grow where they lie.
 * MASU_ERR_OUT_OF_MEMORY: not so, copy it; statuses of free. Nothing has changed then. */
masu_status masu__bestfit_carry(masu_bestfit *pool, void *ptr, uint32_t client, size_t old_bytes, size_t new_bytes,
                                size_t alignment, void **out);

/* The alignment with which a block of so many bytes can be carried; 0: it cannot. */
size_t masu__bestfit_carry_unit(const masu_bestfit *pool, size_t bytes);

/* Frees a part of a sealed block; base is the address of the sealed block the part lies in; ptr
 * and bytes are multiples of 64, or bytes reaches its requested end. What is left on either side
 * stays sealed and becomes blocks of their own. MASU_ERR_OUT_OF_MEMORY when there are no records
 * for them. Freeing a whole sealed block always succeeds. */
masu_status masu__bestfit_free_part(masu_bestfit *pool, void *base, void *ptr, size_t bytes);

/* The requested size of a live block of that client, or what is wrong with ptr. Call under the
 * lock. */
masu_status masu__bestfit_known(masu_bestfit *pool, const void *ptr, uint32_t client, size_t *out_bytes);

static inline uint64_t masu__bestfit_used(const masu_bestfit *pool) {
    return pool->counts.allocated_bytes - pool->counts.freed_bytes;
}

static inline uint64_t masu__bestfit_live(const masu_bestfit *pool) {
    return pool->counts.allocations - pool->counts.frees;
}

static inline uint64_t masu__bestfit_free_bytes(const masu_bestfit *pool) {
    return pool->counts.reserved_bytes - masu__bestfit_used(pool) - pool->counts.slack_bytes;
}

/* The region that holds address, or NULL. O(log regions). */
masu__region *masu__bestfit_region_of(const masu_bestfit *pool, uintptr_t address);

/* Slabs get regions of their own from now on. Before the first region. doubles: no one chose how it shall grow. */
void masu__bestfit_keep_apart(masu_bestfit *pool, bool doubles);

static inline masu__free_index *masu__bestfit_index(const masu_bestfit *pool, masu__block_id id) {
    return pool->index[pool->blocks.at[id].ground];
}

/* The block begins to be used: its region knows how far it ever was. */
static inline void masu__bestfit_note_used(masu_bestfit *pool, const masu__block *block) {
    const masu__block *after = &pool->blocks.at[block->after];
    pool->fresh_from = UINTPTR_MAX;
    if (block->after != 0 && after->after != 0)
        return; /* something lies behind it and was used */
    masu__region *region = masu__bestfit_region_of(pool, block->address);
    pool->fresh_from = region->used_end;
    region->used_end = masu__max(region->used_end, block->address + block->bytes);
}

/* The size of a new region: wanted_bytes, or of least_bytes when the device refuses. */
typedef struct masu__growth {
    size_t wanted_bytes, least_bytes;
    bool whole;
    uint32_t ground;
} masu__growth;

/* *out, where not NULL: the region. Call under the lock. */
masu_status masu__bestfit_add_region(masu_bestfit *pool, const masu__growth *growth, masu__region **out);
/* Room for one more, and the region there; its memory and its ground's index are. Cannot fail then. */
bool masu__bestfit_regions_reserve(masu_bestfit *pool);
void masu__bestfit_install(masu_bestfit *pool, masu__region *region);
/* The region that holds address goes, without its device block and its record, which is the caller's; its one block is
 * in no list. */
masu__region *masu__bestfit_detach(masu_bestfit *pool, uintptr_t address);
/* How much the device may still be asked for, in whole granules. */
size_t masu__bestfit_room(const masu_bestfit *pool);
/* Grows by a region that can hold bytes at alignment; call under the lock. */
masu_status masu__bestfit_grow(masu_bestfit *pool, uint32_t ground, size_t bytes, size_t alignment);
/* Takes a wholly free region from the pool and gives it to the device. */
masu_status masu__bestfit_drop_region(masu_bestfit *pool, size_t position);

/* For bytes above whole_above_bytes: a free region that is never split and fits, or a new one. *out
 * is its block, in no list. MASU_ERR_OUT_OF_MEMORY and what the device said: there is none. */
masu_status masu__bestfit_take_whole(masu_bestfit *pool, size_t bytes, masu__block_id *out, bool *grew);
/* A block that was found, in no list, becomes the caller's. */
void *masu__bestfit_hand_out(masu_bestfit *pool, masu__block_id id, const masu__request *request, size_t alignment);
/* The live block is one no more, and joins its free neighbours. */
void masu__bestfit_release(masu_bestfit *pool, masu__block_id id);
/* The live block is one no more, and in no list yet. */
void masu__bestfit_end_block(masu_bestfit *pool, masu__block_id id);
/* A block that has become free spans its region: notes it, and says whether the block is done with
 * because the region is never split. */
bool masu__bestfit_region_freed(masu_bestfit *pool, masu__block_id id);
/* Gives back what has been free for too long. */
void masu__bestfit_drop_idle(masu_bestfit *pool);
/* Gives back what has been free for longest, until no more than max_idle_bytes are wholly free. */
void masu__bestfit_cap_idle(masu_bestfit *pool);
/* Carried blocks that are free go back. */
void masu__bestfit_drop_carried(masu_bestfit *pool);
size_t masu__bestfit_largest_free(const masu_bestfit *pool);

static inline bool masu__region_wholly_free(const masu_bestfit *pool, const masu__region *region) {
    const masu__block *block = &pool->blocks.at[region->first];
    return block->bytes == region->bytes && !masu__block_is_live(block);
}

void masu__bestfit_emit(masu_bestfit *pool, masu_event_kind kind, uintptr_t address, size_t bytes, size_t block_bytes,
                        size_t alignment, uint64_t owner);

/* Without the lock; public calls take it. */
bool masu__bestfit_valid_unlocked(const masu_bestfit *pool);

/* The same for every call of a heavy build: a pool of many blocks is looked at every so many
 * calls only, so that a call costs some hundred visits on average, not n. */
bool masu__bestfit_audit(masu_bestfit *pool);

#endif
