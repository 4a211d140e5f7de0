/* cache.h: what each thread keeps for itself of the process-wide heap.
 *
 *     thread-local pointer ─► this record (metadata)
 *     magazine of a class               its slots (metadata, as many as are granted)    
 *       top ───────────────┐            ┌──────┬────┬────┬────┬─ ─ ─┬────┐
 *       end ──┐            └─────────────────────────────►│    │     │    │
 *             │                         │ NULL │ a  │ b  │    │     │    │  a, b: free blocks
 *             └────────────────────────────────────────────────────────────► slots + 1 + capacity
 *                                       └──────┴────┴────┴────┴─ ─ ─┴────┘
 *
 *     slots + 1 <= top <= end = slots + 1 + capacity;  slots[0] = NULL
 *     granted_bytes = sum over caches and classes of capacity * block size <= max_cached_bytes / 2
 *     max_cached_bytes >= the configured cap, and so many a thread where that is more
 *     granted_bytes + transfer_bytes + the bucket pool's own cap = max_cached_bytes
 *     lent_out - lent_back of a class >= blocks in all its magazines        (the rest is live)
 *
 * A magazine's capacity is granted under the heap's lock, doubling while the thread keeps running
 * out of it, and what is granted is taken off the cap of the shared lists, as is what lies in the
 * transfers: so the cap holds for all together at every moment, without a lock where a block comes
 * and goes. With its capacity a magazine gets other slots: those of all classes lie closely together, so that a
 * thread of a few blocks touches a few pages.
 *
 * A caller that wants all caches empty (trim, memory running out, checks switched on) raises the epoch
 * and lets every thread's pointer show the empty set: its next call then comes here, under the
 * lock, where the thread hands back what it has and takes its magazines up again. A thread that is
 * just inside its inline path goes on with the old set, which is still its own.
 *
 * Above 16 KiB a thread keeps blocks that it freed, a list for each large class (large.h), in slots beside the
 * blocks. Before the lists lie places that count nothing, so that a pair does not wait for what the lists last stored:
 * one for each class up to 256 KiB, counted as if it were full from its first block on, and one for the block of any
 * class that was freed last. For
 * the best-fit pool they are live; their pages carry MASU__TAG_CACHED. Together they stay within MASU__LARGE_KEPT_BYTES
 * (less where idle memory is capped), or are one block. Before a block is cut that no list has, all of them go back and
 * merge with their neighbours: so blocks lie as if none had ever been kept, and what is kept never makes the process
 * larger. Only where more is kept than is in use (sizes that take turns in a small program) do they stay until a page
 * would be touched for the first time, and were of use until then; a block that finds no room goes home while they are
 * taken again. Free slabs go back then too, when enough is cached (masu__cache_sweep).
 *
 * checked: no magazines, no large blocks, no transfers; sizes are remembered by the bucket pool.
 */
#ifndef MASU_CACHE_H
#define MASU_CACHE_H

#include <stdatomic.h>
#include <sys/types.h>

#include <masu/alloc.h>

#include "allocators/heap/heap_pool.h"
#include "allocators/heap/large.h"

enum {
    MASU__MAGAZINE_SLOTS = 64, /* at most, with the one that holds NULL */
    MASU__MAGAZINE_SMALL_SLOTS =
        256, /* of blocks up to MASU__MAGAZINE_SMALL_BYTES: programs take many of them at once */
    MASU__MAGAZINE_SMALL_BYTES = 256,
    MASU__TRANSFER_FIRST_SLOTS = 64,
    MASU__TRANSFER_SLOTS = 8192,         /* at most, of blocks below MASU__TRANSFER_WIDE_BYTES */
    MASU__TRANSFER_WIDE_SLOTS = 1 << 19, /* of others, where they are an eighth of what the blocks have at most */
    MASU__TRANSFER_WIDE_BYTES = 64,
    MASU__LARGE_SLOTS = 256,
    MASU__LARGE_HITS = 16,       /* that kept blocks must be worth before they go back for the sake of pages */
    MASU__LARGE_TURNED_AWAY = 16 /* blocks without room before others go for them, but for half as many hits */
};
#define MASU__LARGE_KEPT_BYTES    ((size_t)5 << 20)
#define MASU__SWEEP_STEP_BYTES    ((size_t)256 << 10)
#define MASU__FINE_MAGAZINE_BYTES ((size_t)256 << 10)

#define MASU__ONE_EMPTY           ((void *)1)

/* Slots hold the blocks, so that the memory of one is never touched; each is in the list of its block's class or in the
 * list of spare ones, slot 0 in none. A slot without a block has NULL: that holds also where the thread is not there
 * any more and has left half of a change behind (fork). Other threads read held, blocks and hits for the statistics. */
typedef struct masu__large_cache {
    void *one[MASU__LARGE_ONES]; /* the class's block, MASU__ONE_EMPTY, or NULL: the class has no place here */
    uint64_t places;             /* a bit for each class that has one */
    size_t granted;              /* the bytes of those classes */
    void *last;                  /* freed last, in no slot: who takes it again waits for no list. NULL: none */
    size_t last_bytes;           /* of its class */
    uint16_t last_class;         /* plus one; 0: none */
    uint16_t taken_class;        /* of the block that was taken last */
    bool taken_twice;            /* and of the one before: that size comes and goes */
    uint64_t filled[(MASU__LARGE_CLASSES + 63) / 64]; /* a bit for each class that has a block */
    uint16_t first[MASU__LARGE_CLASSES];              /* slots, 0 at the end */
    uint16_t next[1 + MASU__LARGE_SLOTS];
    uint16_t spare;
    void *block[1 + MASU__LARGE_SLOTS];
    size_t held; /* in all lists; with what is granted and the last one at most `most`, or one block */
    size_t most; /* MASU__LARGE_KEPT_BYTES, or less where idle memory is capped */
    uint64_t blocks;
    uint64_t hits;        /* allocations served from here */
    uint64_t hits_then;   /* when all went back for the sake of new pages for the last time */
    uint64_t hits_full;   /* when it was last asked whether those that leave no room are worth it */
    uint16_t turned_away; /* blocks that found no room since then */
} masu__large_cache;

/* The part of a cache that calls read without a lock. */
typedef struct masu__cache_front {
    masu_magazines magazines; /* first, so that a pointer to it is one to this */
    masu__large_cache large;
} masu__cache_front;

/* The set of a thread without magazines: holds nothing and is never written. */
extern masu__cache_front masu__no_cache;

static inline masu__large_cache *masu__thread_large(void) {
    masu_magazines *shown = __atomic_load_n(&masu_thread_magazines, __ATOMIC_RELAXED);
    return &((masu__cache_front *)shown)->large;
}

enum { MASU__SLOT_SIZES = 6 }; /* 1, 2, 4 … 32 lines */

/* See cache_slots.c. */
typedef struct masu__slots {
    void *chunks; /* owned; each begins with the next one's address */
    char *mark, *end;
    void **spare[MASU__SLOT_SIZES]; /* a list for each size, linked through the first slot */
} masu__slots;

typedef struct masu__cache {
    masu__cache_front front; /* at a multiple of 64 */
    masu_heap *heap;
    masu_magazines **shown; /* the thread's masu_thread_magazines: front or masu__no_cache */
    struct masu__cache *next, *before;
    uint64_t epoch; /* of the heap's caches when this one was last emptied on demand */
    pid_t thread;   /* the kernel's number of it */
    void *memory;   /* what this lies in */
    uint32_t capacity[MASU_BUCKET_MOST_CLASSES];
    uint64_t allocations_then[MASU_BUCKET_MOST_CLASSES]; /* of each magazine when it last ran full */
    void **slots[MASU_BUCKET_MOST_CLASSES];              /* one that holds NULL, and the capacity; NULL without one */
    masu__slots room;                                    /* where they lie */
} masu__cache;

enum { MASU__CACHE_BYTES = sizeof(masu__cache) + 2 * 64 }; /* it lies at a multiple of 64, on lines of its own */

/* The first slot that may hold a block, in a magazine with slots. */
static inline void **masu__magazine_bottom(const masu__cache *cache, unsigned index) {
    return cache->slots[index] + 1;
}

static inline masu_magazine *masu__cache_magazine(masu__cache *cache, unsigned index) {
    return &cache->front.magazines.by_kind[1 + index];
}

/* A magazine without slots shows the empty one that all share, so that the pages of its own are not touched. */
static inline size_t masu__magazine_fill(const masu__cache *cache, unsigned index) {
    if (cache->capacity[index] == 0)
        return 0;
    void **top = __atomic_load_n(&cache->front.magazines.by_kind[1 + index].top, __ATOMIC_RELAXED);
    return (size_t)(top - masu__magazine_bottom(cache, index));
}

/* Batches on their way from one thread to another: only their addresses move, no thread touches the
 * blocks. Last in, first out; what finds no room goes to the lists, whose links lie in the blocks: a thread that
 * follows them waits for each line that another processor holds. */
typedef struct masu__transfer {
    size_t count; /* <= room */
    size_t room;  /* 0, or a power of two <= masu__transfer_most: twice as many when they are full */
    void **slots; /* owned; NULL before the first use */
} masu__transfer;

/* Slots at most. */
size_t masu__transfer_most(size_t block_bytes);

/* When idle memory goes back by itself (idle.c). Two looks at it for each period: what was idle at both goes. */
typedef struct masu__idle {
    size_t most_bytes;    /* 0: no cap */
    uint64_t freed_then;  /* by the best-fit pool when the cap was enforced last */
    uint64_t period_ns;   /* 0: never */
    uint64_t look_ns;     /* the time of the next look */
    uint32_t calls;       /* until the clock is read again */
    uint64_t slabs_least; /* cached in slabs since the last look */
} masu__idle;

/* Guarded by the heap's lock. */
typedef struct masu__caches {
    masu_bucket *bucket;   /* the heap's: whose blocks lie in the magazines */
    masu_bestfit *bestfit; /* the heap's: where the large blocks come from */
    masu__cache *first;
    size_t count;
    size_t max_cached_bytes; /* now */
    size_t configured_max_bytes;
    size_t bucket_most_bytes; /* what was configured, before idle memory was capped */
    size_t bytes_a_thread;    /* 0 while idle memory is capped */
    size_t configured_a_thread;
    size_t granted_bytes;
    size_t transfer_bytes;
    uint64_t epoch;               /* raised: every thread empties its cache at its next call */
    _Atomic bool checked;         /* changes under the lock */
    uint64_t retired_allocations; /* of threads that have ended, and of those without a cache */
    uint64_t retired_large_hits;
    uint64_t refills, flushes; /* batches */
    masu__idle idle;
    size_t large_most; /* bytes of large blocks that a thread keeps */
    uint64_t sweep_at; /* cached in the lists and between the threads, from which slabs are looked through */
    masu__transfer transfer[MASU_BUCKET_MOST_CLASSES];
} masu__caches;

static inline size_t masu__cache_class_bytes(const masu_heap *heap, unsigned index) {
    return masu__bucket_block_bytes(heap->caches->bucket, index);
}

/* Slots of a thread's magazines, that many; NULL without memory. Under the lock, by the thread. */
void **masu__slots_take(masu__slots *s, uint32_t count);
/* slots NULL: nothing. */
void masu__slots_give(masu__slots *s, void **slots, uint32_t count);
size_t masu__slots_bytes(const masu__slots *s);
void masu__slots_close(masu__slots *s);

/* Sums the contents and counters of all caches. Under the lock. */
typedef struct masu__cache_totals {
    uint64_t slots_bytes;   /* what their slots lie in */
    uint64_t blocks, bytes; /* in magazines */
    uint64_t large_blocks, large_bytes;
    uint64_t allocations; /* by the threads, from magazines or for them */
    uint64_t large_hits;
} masu__cache_totals;

/* Turns the caches of a fresh heap on. False without memory. */
bool masu__caches_open(masu_heap *heap);
void masu__caches_close(masu_heap *heap);

/* More threads need more to keep the lock away; fewer give it up, as far as nothing is granted of it. Under the
 * lock. */
void masu__caches_fit_threads(masu_heap *heap);

/* A cache for the thread whose pointer is shown. NULL without memory. Takes the lock. */
masu__cache *masu__cache_open(masu_heap *heap, masu_magazines **shown);
/* Hands everything back and forgets the cache. thread_lives: its pointer may be written. Under the
 * lock. */
void masu__cache_close(masu__cache *cache, bool thread_lives);
/* In the child of a fork: the calling thread has another number now. */
void masu__cache_renew(masu__cache *cache);
/* Hands everything back. Under the lock. */
void masu__cache_flush(masu__cache *cache);
/* The same for the calling thread's cache; takes the lock. */
void masu__cache_flush_own(masu_heap *heap, masu__cache *cache);
/* Slabs that hold nothing go back, when so much more is cached than the last time that a look is worth it: with it the
 * blocks of more than a page that lie in the thread's magazines and between the threads. Under the lock. */
void masu__cache_sweep(masu__cache *cache);
/* Empties what lies between the threads, and makes every thread empty its own at its next call.
 * Under the lock. */
void masu__caches_recall(masu_heap *heap);
/* At the end of each call under the lock, which it holds: gives back what is due. */
void masu__idle_look(masu_heap *heap);
static inline void masu__idle_note(masu_heap *heap) {
    masu__idle *idle = &heap->caches->idle;
    if (MASU_UNLIKELY(idle->most_bytes != 0 || idle->period_ns != 0))
        masu__idle_look(heap);
}
/* Under the lock; the clock is read in any case. */
void masu__idle_look_now(masu_heap *heap);
/* 0: no cap; never. Under the lock. */
void masu__idle_set(masu_heap *heap, size_t most_bytes, uint64_t period_ns);

/* As masu_set_checked. Takes the lock. own: the caller's cache or NULL. */
masu_status masu__caches_set_checked(masu_heap *heap, masu__cache *own, bool on);

/* The paths that need the lock; they take it. cache NULL: without one, straight from the lists.
 * bytes as asked for; index: of the class that serves it. */
masu_status masu__cache_refill(masu_heap *heap, masu__cache *cache, size_t bytes, unsigned index, void **out);
/* Requests that no small class serves: by their size, or by its alignment. *used, where not NULL: so many bytes of it
 * at its beginning may have been used before; the rest is as the device gave it. */
masu_status masu__cache_take_large(masu_heap *heap, masu__cache *cache, size_t bytes, size_t alignment, size_t *used,
                                   void **out);
/* A block of any size, judged as far as the mode can. sized false: bytes is not looked at. */
masu_status masu__cache_give(masu_heap *heap, masu__cache *cache, void *ptr, bool sized, size_t bytes);

/* ---- large blocks (cache_large.c); under the lock ---- */

/* A block that is live for the best-fit pool, of known bytes there. It goes to the cache if one is given and has
 * room. */
masu_status masu__large_give(masu_heap *heap, masu__cache *cache, void *ptr, size_t known);
void masu__large_open(masu__large_cache *large, size_t most);
void masu__large_return_all(masu__cache *cache);
/* The same for a thread that is gone. */
void masu__large_return_dead(masu__cache *cache);
/* Cuts a block out of memory that was used before, after what is kept has gone back: at once where it is less than what
 * is in use, else only when there is no such memory. False: there is none. */
bool masu__large_cut(masu__cache *cache, size_t bytes, size_t alignment, void **out);
/* Before a block of that kind is cut on that ground, perhaps out of pages that were never used. */
void masu__large_before_new_pages(masu__cache *cache, uint32_t ground, size_t bytes, size_t alignment);
bool masu__large_valid(masu__cache *cache);
/* The size that a live large block of the heap was allocated with, or what is wrong with ptr. */
masu_status masu__large_known(masu_heap *heap, const void *ptr, size_t *out);
/* The block holds new_bytes afterwards, where it lies. Takes the lock. */
bool masu__large_resize(masu_heap *heap, void *ptr, size_t new_bytes);
/* The same at another place, as masu__bestfit_carry. NULL: copy it. Takes the lock. */
void *masu__large_carry(masu_heap *heap, void *ptr, size_t new_bytes, size_t alignment);

/* Turns the pools' numbers into those of the callers. Under the lock. */
void masu__caches_adjust(const masu_heap *heap, masu_heap_stats *stats);
bool masu__caches_valid(const masu_heap *heap);

/* NULL when the list has none. */
static inline void *masu__large_pop(masu__large_cache *large, unsigned index) {
    uint16_t slot = large->first[index];
    if (slot == 0)
        return NULL;
    void *block = large->block[slot];
    __atomic_store_n(&large->block[slot], NULL, __ATOMIC_RELAXED);
    large->first[index] = large->next[slot];
    if (large->first[index] == 0)
        large->filled[index / 64] &= ~((uint64_t)1 << (index % 64));
    large->next[slot] = large->spare;
    large->spare = slot;
    masu__page_code_change(block, masu__page_code_of(MASU__TAG_PROCESS, MASU__KIND_LARGE + index));
    __atomic_store_n(&large->held, large->held - masu__large_class_bytes(index), __ATOMIC_RELAXED);
    __atomic_store_n(&large->blocks, large->blocks - 1, __ATOMIC_RELAXED);
    return block;
}

/* False: there is no room; so many bytes are kept beside the lists. */
static inline bool masu__large_push(masu__large_cache *large, unsigned index, void *block, size_t beside) {
    size_t bytes = masu__large_class_bytes(index);
    uint16_t slot = large->spare;
    size_t others = large->held + large->granted + beside;
    if (MASU_UNLIKELY(slot == 0 || (others + bytes > large->most && others > 0)))
        return false;
    large->spare = large->next[slot];
    large->next[slot] = large->first[index];
    large->first[index] = slot;
    large->filled[index / 64] |= (uint64_t)1 << (index % 64);
    masu__page_code_change(block, masu__page_code_of(MASU__TAG_CACHED, MASU__KIND_LARGE + index));
    __atomic_store_n(&large->block[slot], block, __ATOMIC_RELAXED);
    __atomic_store_n(&large->held, large->held + bytes, __ATOMIC_RELAXED);
    __atomic_store_n(&large->blocks, large->blocks + 1, __ATOMIC_RELAXED);
    return true;
}

/* The block in the place of the class; NULL: there is none. */
static inline void *masu__large_one(const masu__large_cache *large, unsigned index) {
    void *block = __atomic_load_n(&large->one[index], __ATOMIC_RELAXED);
    return block == MASU__ONE_EMPTY ? NULL : block;
}

static inline void *masu__large_take_one(masu__large_cache *large, unsigned index) {
    void *block = masu__large_one(large, index);
    if (MASU_UNLIKELY(block == NULL))
        return NULL;
    __atomic_store_n(&large->one[index], MASU__ONE_EMPTY, __ATOMIC_RELAXED);
    masu__page_code_change(block, masu__page_code_of(MASU__TAG_PROCESS, MASU__KIND_LARGE + index));
    return block;
}

/* False: the class has no place, or it is taken. */
static inline bool masu__large_keep_one(masu__large_cache *large, unsigned index, void *block) {
    if (MASU_UNLIKELY(large->one[index] != MASU__ONE_EMPTY))
        return false;
    masu__page_code_change(block, masu__page_code_of(MASU__TAG_CACHED, MASU__KIND_LARGE + index));
    __atomic_store_n(&large->one[index], block, __ATOMIC_RELAXED);
    return true;
}

/* Gives the class a place, as long as half of what may be kept stays for the lists. */
static inline void masu__large_grant_one(masu__large_cache *large, unsigned index) {
    size_t granted = large->granted + masu__large_class_bytes(index);
    size_t others = large->held + (large->last_class != 0 ? large->last_bytes : 0);
    if (large->one[index] || large->spare == 0 || granted > large->most / 2 || granted + others > large->most)
        return;
    large->granted = granted;
    __atomic_store_n(&large->places, large->places | (uint64_t)1 << index, __ATOMIC_RELAXED);
    __atomic_store_n(&large->one[index], MASU__ONE_EMPTY, __ATOMIC_RELAXED);
}

/* Counts all that is kept; other threads may read it. */
static inline uint64_t masu__large_blocks(const masu__large_cache *large) {
    uint64_t blocks = __atomic_load_n(&large->blocks, __ATOMIC_RELAXED) +
                      (__atomic_load_n(&large->last_class, __ATOMIC_RELAXED) != 0);
    for (uint64_t left = __atomic_load_n(&large->places, __ATOMIC_RELAXED); left; left &= left - 1)
        blocks += masu__large_one(large, (unsigned)__builtin_ctzll(left)) != NULL;
    return blocks;
}

static inline uint64_t masu__large_bytes(const masu__large_cache *large) {
    unsigned last = __atomic_load_n(&large->last_class, __ATOMIC_RELAXED);
    uint64_t bytes = __atomic_load_n(&large->held, __ATOMIC_RELAXED) + (last ? masu__large_class_bytes(last - 1) : 0);
    for (uint64_t left = __atomic_load_n(&large->places, __ATOMIC_RELAXED); left; left &= left - 1) {
        unsigned index = (unsigned)__builtin_ctzll(left);
        bytes += masu__large_one(large, index) ? masu__large_class_bytes(index) : 0;
    }
    return bytes;
}

/* As masu__large_pop, from the place before all lists. */
static inline void *masu__large_take_last(masu__large_cache *large, unsigned index) {
    void *block = large->last;
    if (MASU_UNLIKELY(large->last_class != index + 1)) {
        block = masu__large_pop(large, index);
        if (block) { /* not the set of a thread without a cache */
            large->taken_twice = large->taken_class == index;
            large->taken_class = (uint16_t)index;
        }
        return block;
    }
    large->taken_twice = large->taken_class == index;
    large->taken_class = (uint16_t)index;
    __atomic_store_n(&large->last_class, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&large->last, NULL, __ATOMIC_RELAXED);
    masu__page_code_change(block, masu__page_code_of(MASU__TAG_PROCESS, MASU__KIND_LARGE + index));
    return block;
}

static inline void *masu__large_take(masu__large_cache *large, unsigned index) {
    void *block = index < MASU__LARGE_ONES ? masu__large_take_one(large, index) : NULL;
    return MASU_LIKELY(block != NULL) ? block : masu__large_take_last(large, index);
}

/* As masu__large_push; the block becomes the last one, unless that place is another's while sizes take turns. */
static inline bool masu__large_keep_last(masu__large_cache *large, unsigned index, void *block) {
    if (MASU_UNLIKELY(large->spare == 0))
        return false; /* all slots are taken, or it is the set of a thread without a cache */
    if (large->last_class != 0) {
        if (!large->taken_twice)
            return masu__large_push(large, index, block, large->last_bytes);
        if (!masu__large_push(large, large->last_class - 1u, large->last, 0))
            return false;
        __atomic_store_n(&large->last_class, 0, __ATOMIC_RELAXED);
    }
    size_t others = large->held + large->granted;
    if (MASU_UNLIKELY(others > 0 && others + masu__large_class_bytes(index) > large->most)) {
        __atomic_store_n(&large->last, NULL, __ATOMIC_RELAXED);
        return false;
    }
    masu__page_code_change(block, masu__page_code_of(MASU__TAG_CACHED, MASU__KIND_LARGE + index));
    __atomic_store_n(&large->last, block, __ATOMIC_RELAXED);
    large->last_bytes = masu__large_class_bytes(index);
    __atomic_store_n(&large->last_class, (uint16_t)(index + 1), __ATOMIC_RELAXED);
    return true;
}

/* False: there is no room. */
static inline bool masu__large_keep(masu__large_cache *large, unsigned index, void *block) {
    if (index < MASU__LARGE_ONES) {
        if (MASU_LIKELY(masu__large_keep_one(large, index, block)))
            return true;
        masu__large_grant_one(large, index);
        if (masu__large_keep_one(large, index, block))
            return true;
    }
    return masu__large_keep_last(large, index, block);
}

#endif
