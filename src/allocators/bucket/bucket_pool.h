/* bucket_pool.h: the bucket pool from inside, with the paths that must cost next to nothing.
 *
 *     slab    up to 128 KiB of one class at a multiple of 128 KiB, sealed in the best-fit pool
 *
 *             ┌────┬────┬────┬────┬────┬─ ─ ─ ─ ─ ─┐
 *             │live│list│live│back│list│ fresh     │
 *             └────┴────┴────┴────┴────┴─ ─ ─ ─ ─ ─┘
 *
 *     list    free, linked through its own first word: class.list, last in first out
 *     fresh   never used nor touched: [class.fresh, class.fresh_end), or a slab in class.pending
 *     back    given back to the best-fit pool; its bit in slab.returned is set
 *
 *     class.blocks = live + in list + fresh             (all blocks of the class not given back)
 *     slab_bytes   = sum of class.blocks * block size = live_block_bytes + cached bytes
 *
 * Where the first blocks of a slab have been given back, a smaller slab may come to begin: then
 * two slabs have one base, and every block belongs to the one that has not given it back.
 *
 * The hot paths count with additions only. What must be compared (the cap, the peak of cached
 * bytes) is folded into one number: when live_block_bytes falls below low_mark,
 * masu__bucket_settle looks closer.
 *
 *     low_mark = max(slab_bytes - masu__bucket_cap, slab_bytes - peak_cached_bytes), at least 0
 *
 * careful is set when anything but the plain path is wanted: a check, a remembered size, a trace,
 * a memory checker that wants to know, or small blocks that lie in the best-fit pool (odd_blocks),
 * which a sized free could otherwise mistake for a bucket's own.
 *
 * Where sizes are remembered each slab has two bytes a block: 0 for a block that is not out, the
 * requested size, or MASU__SIZE_UNKNOWN for a block that was live before sizes were remembered.
 * There a listed block also carries a seal in its second word, made of its link and address: a write
 * after free is found before the link is followed, and the list is made again from the sizes.
 */
#ifndef MASU_BUCKET_POOL_H
#define MASU_BUCKET_POOL_H

#include <masu/bucket.h>

#include "allocators/bestfit/bestfit_pool.h"
#include "allocators/bucket/address_map.h"
#include "allocators/bucket/page_codes.h"
#include "base/assert.h"
#include "base/trace.h"

enum {
    MASU__SLAB_SHIFT = 17,
    MASU__SLAB_BYTES = 1 << MASU__SLAB_SHIFT,
    MASU__SIZE_UNKNOWN = UINT16_MAX,
    MASU__CLASS_STEPS = MASU_BUCKET_MAX_BYTES / MASU_BUCKET_MIN_BYTES
};

typedef struct masu__slab {
    uintptr_t base;
    struct masu__slab *next_here; /* another slab with this base */
    struct masu__slab *next_pending;
    uint32_t class_index;
    uint32_t block_count;
    uint32_t held;       /* block_count - bits set in returned; > 0 */
    uint32_t listed;     /* of its blocks in the list: counted while whole slabs are looked for, else 0 */
    uint16_t *requested; /* owned, NULL unless sizes are remembered */
    uint64_t returned[]; /* a bit for each block */
} masu__slab;

typedef struct masu__bucket_class {
    void *list;
    uint64_t allocations;
    uint64_t live, peak_live;
    uint32_t block_bytes;
    uint32_t align_bytes;       /* the largest power of two that divides block_bytes */
    uintptr_t fresh, fresh_end; /* equal: nothing fresh */
    masu__slab *pending;        /* wholly fresh slabs */
    uint64_t misses;
    uint64_t blocks;
    uint64_t lent_out, lent_back; /* of all that came and went, those lent (bucket_lend.c) */
} masu__bucket_class;

struct masu_bucket {
    uint64_t live_bytes;       /* as requested, bypasses included */
    uint64_t peak_live_bytes;  /* >= live_bytes */
    uint64_t live_block_bytes; /* as spent, without bypasses */
    uint64_t low_mark;
    bool careful;
    bool thread_safe;
    bool checked;
    bool remembers; /* checked or always_remembers */
    bool always_remembers;
    bool annotated;             /* see base/annotate.h */
    uint32_t magic;             /* MASU__POOL_LIVE, or MASU__POOL_DEAD after destroy */
    const uint8_t *class_table; /* class of (bytes - 1) / 64: MASU__CLASS_STEPS entries */
    unsigned class_count;
    masu__bucket_class classes[MASU_BUCKET_MOST_CLASSES];

    masu_bestfit *backing; /* borrowed */
    masu_trace *trace;     /* borrowed, NULL: none */
    bool traced;
    uint32_t number;
    uint32_t tag; /* of its pages, see page_codes.h */
    size_t max_cached_bytes;
    uint64_t pinned_cap; /* of the process-wide pool: what is cached beside live blocks of a slab may be more than the
                          * cap; looked at again above this. Else 0 */
    uint64_t slab_bytes;
    uint64_t peak_cached_bytes;
    masu__address_map slabs; /* base -> slabs, owned */
    uint64_t slab_count;
    uint64_t slab_meta_bytes;

    uint64_t bypasses;
    uint64_t bypass_frees;
    uint64_t bypass_misses;
    uint64_t bypass_live_bytes;
    uint64_t odd_blocks; /* live bypasses of at most MASU_BUCKET_MAX_BYTES */
    uint64_t failures;
    size_t audit_pause;
    masu__lock lock;
};

/* A load from a hot line is cheaper than a bit scan on many processors, and knows any classes. */
static inline unsigned masu__bucket_class_of(const masu_bucket *pool, size_t bytes) {
    return pool->class_table[(bytes - 1) / MASU_BUCKET_MIN_BYTES];
}

static inline size_t masu__bucket_block_bytes(const masu_bucket *pool, unsigned class_index) {
    return pool->classes[class_index].block_bytes;
}

extern const uint8_t masu__packed_table[MASU_PACKED_BYTES / MASU_PACKED_GRAIN];

/* bytes in 1 … MASU_BUCKET_MAX_BYTES: its class where blocks need only lie at a multiple of 16. */
static inline unsigned masu__bucket_packed_class_of(const masu_bucket *pool, size_t bytes) {
    bool packed = bytes <= MASU_PACKED_BYTES && pool->class_count == MASU_BUCKET_MOST_CLASSES;
    return packed ? masu__packed_table[(bytes - 1) / MASU_PACKED_GRAIN] : masu__bucket_class_of(pool, bytes);
}

/* The class serves requests of that alignment, a power of two or 0, as it is. */
static inline bool masu__bucket_class_fits(const masu_bucket *pool, size_t bytes, size_t alignment) {
    return alignment <= pool->classes[masu__bucket_class_of(pool, bytes)].align_bytes;
}

static inline bool masu__bucket_has_class(size_t bytes) {
    return bytes - 1 < MASU_BUCKET_MAX_BYTES; /* 0 wraps */
}

static inline uint64_t masu__bucket_cached(const masu_bucket *pool) {
    return pool->slab_bytes - pool->live_block_bytes;
}

static inline uint64_t masu__bucket_cap(const masu_bucket *pool) {
    return pool->max_cached_bytes > pool->pinned_cap ? pool->max_cached_bytes : pool->pinned_cap;
}

/* The pool of the process, as long as it need not be careful: single blocks stay with their slab, so that no list is
 * worn down to blocks that nothing else can use; slabs go back whole. */
static inline bool masu__bucket_is_loose(const masu_bucket *pool) {
    return pool->tag == MASU__TAG_PROCESS && !pool->remembers && !pool->annotated && !pool->traced;
}

static inline void masu__bucket_count_alloc(masu_bucket *pool, masu__bucket_class *class, size_t bytes) {
    class->allocations++;
    if (++class->live > class->peak_live)
        class->peak_live = class->live;
    pool->live_block_bytes += class->block_bytes;
    pool->live_bytes += bytes;
    if (pool->live_bytes > pool->peak_live_bytes)
        pool->peak_live_bytes = pool->live_bytes;
}

/* Everything but a hit on the list of a pool that need not be careful. Call under the lock. */
masu_status masu__bucket_alloc_slow(masu_bucket *pool, size_t bytes, size_t alignment, void **out);
/* bytes 0 with sized false: not known. */
masu_status masu__bucket_free_slow(masu_bucket *pool, void *ptr, bool sized, size_t bytes);
/* The same; a block that bypasses keeps so many bytes behind it for its growth, if that can be. */
masu_status masu__bucket_alloc_room(masu_bucket *pool, size_t bytes, size_t alignment, size_t room, void **out);
/* A block above the classes that lies in used memory; false, and nothing has changed: there is none. */
bool masu__bucket_bypass_used(masu_bucket *pool, uint32_t ground, size_t bytes, size_t alignment, void **out);
/* Gives back a block that is in no slab; bytes 0: of any size. */
masu_status masu__bucket_bypass_give(masu_bucket *pool, void *ptr, size_t bytes);
/* As masu_bucket_resize, under the lock. */
masu_status masu__bucket_resize(masu_bucket *pool, void *ptr, size_t old_bytes, size_t new_bytes);
/* A live block that bypassed, of old_bytes: holds new_bytes afterwards, where it lies. Statuses of
 * masu__bestfit_resize. */
masu_status masu__bucket_resize_bypass(masu_bucket *pool, void *ptr, size_t old_bytes, size_t new_bytes);
/* A live block that bypassed, as masu__bestfit_carry. */
masu_status masu__bucket_carry(masu_bucket *pool, void *ptr, size_t old_bytes, size_t new_bytes, size_t alignment,
                               void **out);
/* The requested size where it is remembered, else that of the class. Under the lock. */
masu_status masu__bucket_size_of(masu_bucket *pool, const void *ptr, size_t *out_bytes);
/* Updates the peak of cached bytes, enforces the cap, moves low_mark. Always MASU_OK: what asked
 * for it has been done. */
masu_status masu__bucket_settle(masu_bucket *pool);

/* Call under the lock. */
static inline masu_status masu__bucket_alloc(masu_bucket *pool, size_t bytes, size_t alignment, void **out) {
    bool plain = masu__bucket_has_class(bytes) && alignment <= MASU_BUCKET_MIN_BYTES &&
                 (alignment & (alignment - 1)) == 0 && !pool->careful;
    if (MASU_LIKELY(plain)) {
        masu__bucket_class *class = &pool->classes[masu__bucket_class_of(pool, bytes)];
        void *block = class->list;
        if (MASU_LIKELY(block != NULL)) {
            class->list = *(void **)block;
            masu__bucket_count_alloc(pool, class, bytes);
            *out = block;
            return MASU_OK;
        }
    }
    return masu__bucket_alloc_slow(pool, bytes, alignment, out);
}

/* The link in a free block. */
static inline void *masu__bucket_next(const masu_bucket *pool, void *block) {
    return MASU_UNLIKELY(pool->annotated) ? masu__annotate_peek(block) : *(void **)block;
}

static inline void masu__bucket_set_next(const masu_bucket *pool, void *block, void *next) {
    if (MASU_UNLIKELY(pool->annotated))
        masu__annotate_poke(block, next);
    else
        *(void **)block = next;
}

/* Any number that an accident will not write. */
static inline void *masu__bucket_seal(const void *block, const void *next) {
    return (void *)~((uintptr_t)block * 3 ^ (uintptr_t)next);
}

/* The block joins its list. */
static inline void masu__bucket_push(masu_bucket *pool, masu__bucket_class *class, void *block, size_t bytes) {
    *(void **)block = class->list;
    if (MASU_UNLIKELY(pool->remembers))
        ((void **)block)[1] = masu__bucket_seal(block, class->list);
    class->list = block;
    class->live--;
    pool->live_bytes -= bytes;
    pool->live_block_bytes -= class->block_bytes;
}

/* The code of a page that lies in a slab of the class. */
static inline uint32_t masu__bucket_code(const masu_bucket *pool, unsigned index) {
    return masu__page_code_of(pool->tag, index + 1);
}

static inline bool masu__bucket_must_settle(const masu_bucket *pool) {
    return MASU_UNLIKELY(pool->live_block_bytes < pool->low_mark);
}

/* Call under the lock. */
static inline masu_status masu__bucket_free(masu_bucket *pool, void *ptr, size_t bytes) {
    bool plain = ptr != NULL && masu__bucket_has_class(bytes) && !pool->careful;
    if (MASU_LIKELY(plain)) {
        unsigned index = masu__bucket_class_of(pool, bytes);
        masu__bucket_class *class = &pool->classes[index];
        bool right = masu_page_code(ptr) == masu__bucket_code(pool, index) &&
                     ((uintptr_t)ptr & (class->align_bytes - 1)) == 0 && ptr != class->list;
        if (MASU_LIKELY(right)) {
            masu__bucket_push(pool, class, ptr, bytes);
            return masu__bucket_must_settle(pool) ? masu__bucket_settle(pool) : MASU_OK;
        }
    }
    return masu__bucket_free_slow(pool, ptr, true, bytes);
}

static inline void masu__bucket_lock(masu_bucket *pool) {
    if (pool->thread_safe)
        masu__lock_take(&pool->lock);
}

static inline void masu__bucket_unlock(masu_bucket *pool) {
    if (pool->thread_safe)
        masu__lock_release(&pool->lock);
}

/* Fills in class_table, class_count and the sizes of the classes. */
void masu__bucket_set_classes(masu_bucket *pool, bool fine);
/* The classes of packed blocks too, beside the fine ones. */
void masu__bucket_add_packed(masu_bucket *pool);

void masu__bucket_emit(masu_bucket *pool, masu_event_kind kind, uintptr_t address, size_t bytes, size_t block_bytes,
                       size_t alignment);

/* Takes a block of the class out of the list, or a fresh one, or brings a slab in. MASU_ERR_CORRUPT where
 * sizes are remembered: a listed block was written to; the list is whole again afterwards. */
masu_status masu__bucket_pop(masu_bucket *pool, unsigned index, void **out);

/* Without a slab more. */
static inline bool masu__bucket_class_has_one(const masu__bucket_class *class) {
    return class->list || class->fresh != class->fresh_end || class->pending;
}

/* ---- batches (bucket_lend.c) ---- */

/* Up to count blocks into blocks[], the warmest last: at least one unless *status says why not.
 * Brings in a slab for the first of them only. Call under the lock; no trace, no annotations. */
size_t masu__bucket_lend(masu_bucket *pool, unsigned index, size_t count, void **blocks, masu_status *status);
/* The way back, blocks of that class, the warmest last. Where sizes are remembered, a block that is
 * at home already is passed over: somebody freed it twice. */
void masu__bucket_take_home(masu_bucket *pool, unsigned index, void *const *blocks, size_t count);
/* The same for one block of a pool that remembers sizes, judged as any free of checked mode is.
 * Blocks lent in batches before have a size that is known as to the class. */
masu_status masu__bucket_lend_known(masu_bucket *pool, unsigned index, size_t bytes, void **out);
masu_status masu__bucket_take_home_known(masu_bucket *pool, void *ptr, bool sized, size_t bytes);
/* The status of giving that block back so; nothing changes. */
masu_status masu__bucket_judge_lent(const masu_bucket *pool, const void *ptr, size_t bytes);
/* As masu_bucket_set_max_cached, under the lock. */
void masu__bucket_set_cap(masu_bucket *pool, size_t max_cached_bytes);

/* ---- what is known of each block (bucket_sizes.c) ---- */

/* The remembered size of a block that was just taken. */
void masu__bucket_remember(masu_bucket *pool, const void *block, size_t bytes);
/* Judges a block that a caller gives back by the slab it lies in. *bytes becomes the requested size where
 * it was not given; of a block of unknown size, that of its class. */
masu_status masu__bucket_judge(const masu_bucket *pool, const masu__slab *slab, uintptr_t address, bool sized,
                               size_t *bytes);
/* The first listed block leaves its list, which is not empty. MASU_ERR_CORRUPT as of masu__bucket_pop. */
masu_status masu__bucket_pop_listed(masu_bucket *pool, unsigned index, void **out);
/* Where sizes are remembered: the list of the class is made from them, whatever it held. */
void masu__bucket_list_again(masu_bucket *pool, unsigned index);
/* As masu_bucket_set_checked, under the lock. */
masu_status masu__bucket_set_checked(masu_bucket *pool, bool on);
/* Sizes are remembered from now on, whether checks are on or off. */
masu_status masu__bucket_always_remember(masu_bucket *pool);
/* Calls visit for each live block of a class, in no order; false from it ends the walk.
 * MASU_ERR_OUT_OF_MEMORY without memory to tell live from free, MASU_ERR_CORRUPT when a list shows
 * a wrong free of before; then nothing was visited. */
typedef bool (*masu__bucket_visit)(void *context, void *block, size_t bytes);
masu_status masu__bucket_visit_live(masu_bucket *pool, masu__bucket_visit visit, void *context);

/* ---- slabs (bucket_slabs.c) ---- */

/* The slab that holds address and has not given that block back, or NULL. O(1). */
masu__slab *masu__bucket_slab_of(const masu_bucket *pool, uintptr_t address);

static inline size_t masu__slab_block_bytes(const masu_bucket *pool, const masu__slab *slab) {
    return masu__bucket_block_bytes(pool, slab->class_index);
}

static inline size_t masu__slab_position(const masu_bucket *pool, const masu__slab *slab, uintptr_t address) {
    return (address - slab->base) / masu__slab_block_bytes(pool, slab);
}

static inline bool masu__slab_returned(const masu__slab *slab, size_t block) {
    return (slab->returned[block / 64] >> (block % 64)) & 1;
}

/* Slabs whose blocks are all listed or fresh go back until no more than keep_bytes are cached. O(listed blocks +
 * slabs). Only where no sizes are remembered. */
void masu__bucket_give_back_slabs(masu_bucket *pool, uint64_t keep_bytes);
/* The same for a loose pool above its cap; what cannot go may stay. */
void masu__bucket_obey_cap(masu_bucket *pool, uint64_t keep_bytes);

/* For loops over all slabs: previous is NULL at first, which sets *cursor; NULL at the end. */
masu__slab *masu__bucket_next_slab(const masu_bucket *pool, size_t *cursor, const masu__slab *previous);

/* The array of remembered sizes, all 0. False without memory. */
bool masu__slab_add_sizes(masu_bucket *pool, masu__slab *slab);
void masu__slab_drop_sizes(masu_bucket *pool, masu__slab *slab);

/* A new slab of so many blocks, in class.pending. The caller moves the mark once it has taken
 * what it needs. */
masu_status masu__bucket_add_slab(masu_bucket *pool, unsigned class_index, size_t blocks);

/* Makes the first pending slab the fresh range, if there is one and nothing is fresh. */
void masu__bucket_open_pending(masu__bucket_class *class);

/* Gives free memory back until at most keep_bytes are cached, but what lies packed beside live blocks; moves
 * low_mark. */
masu_status masu__bucket_give_back(masu_bucket *pool, uint64_t keep_bytes);

/* The pages of the process-wide pool's buckets say so. Before any block is out. */
void masu__bucket_be_of_process(masu_bucket *pool);

/* Gives every slab back, live blocks or not. */
void masu__bucket_drop_slabs(masu_bucket *pool);

/* low_mark from the numbers it is made of. */
void masu__bucket_move_mark(masu_bucket *pool);

/* careful from the facts it is made of. */
void masu__bucket_move_care(masu_bucket *pool);

bool masu__bucket_valid_unlocked(const masu_bucket *pool);

/* For every call of a heavy build, see masu__bestfit_audit. */
bool masu__bucket_audit(masu_bucket *pool);

#endif
