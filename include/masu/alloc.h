/* alloc.h: the process-wide pool, as short to call as malloc and much shorter to run.
 *
 *     thread ─► magazines ─┬─batches─► buckets ─► best fit ─► host device        up to 16 KiB
 *               (inline)   └─ a few blocks of the sizes just freed ─► best fit   above
 *
 * Each thread has a magazine of free blocks for each size class. Allocating takes the block that
 * was put in last, freeing puts one in: a handful of instructions, compiled into the caller.
 * Empty and full magazines trade batches with the shared lists, which is how memory freed by
 * another thread comes home. A thread that ends hands everything back. After fork the child goes
 * on with what the parent had.
 *
 * The library knows at each address what lies there, without a lock: masu_free_unsized and
 * masu_usable_size are about as fast as the sized calls, and a block goes home to the class that it
 * came from, whatever size a sized call gives. A size that is in another class is looked at under the lock: one
 * larger than the block is an error and changes nothing. Which of several blocks is freed, and whether the size is
 * exact, is judged in checked mode (masu_set_checked, any time) and in guarded mode (masu_configure, before the first
 * call).
 *
 * What stays true:
 *     cached in all magazines + cached in the shared lists in slabs without a live block
 *         <= max_cached_bytes, or cached_bytes_a_thread for each thread where that is more,
 *         of which magazines get half at most; free blocks beside live ones of their slab stay in any case
 *     blocks count in the statistics with the size of their class
 *
 * Thread safety: every function, any thread, also in destructors of thread-local data. Not in signal handlers: as
 * with malloc, what a handler interrupts may be a call of this library in the same thread. A handler that calls all the
 * same neither waits nor aborts: while the thread is inside of this library, allocating gives NULL
 * (MASU_ERR_UNSUPPORTED), frees are done when it comes out, statistics are zero. What is compiled into the caller
 * cannot see that: a handler must not keep a block of up to 16 KiB that it allocated. The shared library stays loaded
 * after dlclose, for threads that end later still hand back what they have. Cost: alloc and free O(1) without a lock as
 * long as the magazine has a block, or room.
 */
#ifndef MASU_ALLOC_H
#define MASU_ALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <masu/bucket.h>
#include <masu/export.h>
#include <masu/heap.h>
#include <masu/status.h>

#ifdef __cplusplus
extern "C" {
#define MASU_THREAD_LOCAL __thread
#else
#define MASU_THREAD_LOCAL _Thread_local
#endif

MASU_HEADER_BEGIN

enum { MASU_PACKED_GRAIN = 16, MASU_PACKED_BYTES = 256, MASU_PACKED_SIZES = 1024 };

/* ---- the paths that are not inline ----------------------------------------------------------- */

/* Every block of this pool lies so. */
#define MASU_ALLOCATES(...) MASU_ALLOCATED(__VA_ARGS__) __attribute__((assume_aligned(64)))

/* As masu_alloc and masu_free, whatever the state of the magazines. */
MASU_API void *masu_alloc_slow(size_t bytes) MASU_ALLOCATES(1);
MASU_API void *masu_alloc_packed_slow(size_t bytes) MASU_ALLOCATED(1) __attribute__((assume_aligned(16)));
MASU_API masu_status masu_free_slow(void *ptr, size_t bytes);
MASU_API masu_status masu_free_unsized_slow(void *ptr);

/* ---- the calling thread's magazines ---------------------------------------------------------- */

/* top[-1] is the block to hand out next, NULL in an empty magazine; top == end in a full one.
 * Written by its own thread only; other threads read top and allocations for the statistics. */
typedef struct masu_magazine {
    void **top;
    void **end;
    uint64_t allocations; /* served from here since the thread began */
    uint64_t frees_only;  /* 1: it ran full, and full again without an allocation in between: others use its blocks */
} masu_magazine;

/* by_kind[0] is never used: always empty and always full. */
typedef struct masu_magazines {
    masu_magazine by_kind[1 + MASU_BUCKET_MOST_CLASSES];
} masu_magazines;

/* The thread's own, or a set that is always empty and always full: before its first call, after its
 * end, and whenever the library wants to see the thread's next call, for which it changes this
 * pointer, from any thread. */
extern MASU_API MASU_THREAD_LOCAL masu_magazines *masu_thread_magazines __attribute__((tls_model("initial-exec")));

/* Where in the set the magazine for (bytes - 1) / 64 lies, in bytes; changes before the first block
 * is handed out only. */
extern MASU_API uint16_t masu_magazine_at[MASU_BUCKET_MAX_BYTES / MASU_BUCKET_MIN_BYTES];
/* The same for packed blocks and (bytes - 1) / MASU_PACKED_GRAIN: of all sizes, so that a call has one branch. */
extern MASU_API uint16_t masu_packed_at[MASU_PACKED_SIZES];

/* For each page of 4 KiB what lies there: 1 … MASU_BUCKET_MOST_CLASSES for a page of small blocks of this pool,
 * the magazine they belong to; the lowest eight bits of other numbers are 0, the rest is the library's. A part covers
 * 4 GiB; NULL: nothing there. */
enum { MASU_PAGE_SHIFT = 12, MASU_PAGE_PARTS = 1 << 16, MASU_PAGE_PART_MASK = (1 << 20) - 1 };
extern MASU_API uint32_t *masu_page_codes[MASU_PAGE_PARTS];

/* ptr: any number. */
static inline uint32_t masu_page_code(const void *ptr) {
    uintptr_t address = (uintptr_t)ptr;
    if (__builtin_expect(address >> 32 >= MASU_PAGE_PARTS, 0))
        return 0;
    const uint32_t *part = __atomic_load_n(&masu_page_codes[address >> 32], __ATOMIC_RELAXED);
    return __builtin_expect(part != NULL, 1)
               ? __atomic_load_n(&part[address >> MASU_PAGE_SHIFT & MASU_PAGE_PART_MASK], __ATOMIC_RELAXED)
               : 0;
}

/* 1 … MASU_BUCKET_MOST_CLASSES, or 0: not a page of small blocks of this pool. ptr: any number. */
static inline size_t masu_page_kind(const void *ptr) {
    uintptr_t address = (uintptr_t)ptr;
    if (__builtin_expect(address >> 32 >= MASU_PAGE_PARTS, 0))
        return 0;
    const uint32_t *part = __atomic_load_n(&masu_page_codes[address >> 32], __ATOMIC_RELAXED);
    if (__builtin_expect(part == NULL, 0))
        return 0;
    const uint32_t *code = &part[address >> MASU_PAGE_SHIFT & MASU_PAGE_PART_MASK];
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return __atomic_load_n((const uint8_t *)code, __ATOMIC_RELAXED);
#else
    return __atomic_load_n(code, __ATOMIC_RELAXED) & 255;
#endif
}

/* One instruction where there is one, so that a reader in another thread never sees half. */
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#define MASU_COUNT_ONE(counter) __asm__("incq %0" : "+m"(counter))
#else
#define MASU_COUNT_ONE(counter) __atomic_store_n(&(counter), (counter) + 1, __ATOMIC_RELAXED)
#endif

/* bytes in 1 … MASU_BUCKET_MAX_BYTES */
static inline masu_magazine *masu_magazine_of(size_t bytes) {
    masu_magazines *mine = __atomic_load_n(&masu_thread_magazines, __ATOMIC_RELAXED);
    size_t at = __atomic_load_n(&masu_magazine_at[(bytes - 1) / MASU_BUCKET_MIN_BYTES], __ATOMIC_RELAXED);
    return (masu_magazine *)((char *)mine + at);
}

static inline masu_magazine *masu_packed_magazine_of(size_t bytes) {
    masu_magazines *mine = __atomic_load_n(&masu_thread_magazines, __ATOMIC_RELAXED);
    size_t at = __atomic_load_n(&masu_packed_at[(bytes - 1) / MASU_PACKED_GRAIN], __ATOMIC_RELAXED);
    return (masu_magazine *)((char *)mine + at);
}

/* ---- the inline paths alone, for callers with a slow path of their own ------------------------ */

/* The block on top of the magazine; NULL when there is none. */
static inline void *masu_magazine_take(masu_magazine *magazine) {
    void **top = magazine->top;
    void *block = top[-1];
    if (__builtin_expect(block != NULL, 1)) {
        __atomic_store_n(&magazine->top, top - 1, __ATOMIC_RELAXED);
        MASU_COUNT_ONE(magazine->allocations);
    }
    return block;
}

/* False: there is no room, or it is the block freed last; nothing has changed. */
static inline bool masu_magazine_give(masu_magazine *magazine, void *ptr) {
    void **top = magazine->top;
    if (__builtin_expect(top == magazine->end, 0) || __builtin_expect(top[-1] == ptr, 0))
        return false;
    *top = ptr;
    __atomic_store_n(&magazine->top, top + 1, __ATOMIC_RELAXED);
    return true;
}

/* NULL: call masu_alloc_packed, any size. */
static inline void *masu_try_alloc_packed(size_t bytes) {
    return __builtin_expect(bytes - 1 < MASU_BUCKET_MAX_BYTES, 1) ? masu_magazine_take(masu_packed_magazine_of(bytes))
                                                                  : NULL;
}

/* The thread's magazine for the block, any pointer; one that is always full where there is none. */
static inline masu_magazine *masu_magazine_of_block(const void *ptr) {
    size_t at = masu_page_kind(ptr) * sizeof(masu_magazine);
    masu_magazines *mine = __atomic_load_n(&masu_thread_magazines, __ATOMIC_RELAXED);
    return (masu_magazine *)((char *)mine + at);
}

/* False: call masu_free_unsized, any pointer. */
static inline bool masu_try_free_unsized(void *ptr) {
    return masu_magazine_give(masu_magazine_of_block(ptr), ptr);
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* A block of at least bytes at a multiple of 64, which the caller owns. NULL for bytes 0 and when
 * there is no memory (masu_alloc_aligned says why). */
MASU_ALLOCATES(1) static inline void *masu_alloc(size_t bytes) {
    if (__builtin_expect(bytes - 1 < MASU_BUCKET_MAX_BYTES, 1)) {
        void *block = masu_magazine_take(masu_magazine_of(bytes));
        if (__builtin_expect(block != NULL, 1))
            return block;
    }
    return masu_alloc_slow(bytes);
}

/* As masu_alloc, but at a multiple of 16 only, for the many small objects of a program: up to MASU_PACKED_BYTES the
 * blocks have 16, 32, 48, 64, 80, 96, 112, 128, 160, 192, 224 or 256 bytes where masu_alloc rounds up to 64, so that
 * more of them share a line. In a pool that masu_configure made without fine_classes it is masu_alloc. Any function
 * here takes the block back; masu_free_unsized is the fastest for it. */
MASU_ALLOCATED(1) __attribute__((assume_aligned(16))) static inline void *masu_alloc_packed(size_t bytes) {
    void *block = masu_try_alloc_packed(bytes);
    return __builtin_expect(block != NULL, 1) ? block : masu_alloc_packed_slow(bytes);
}

/* Takes a block back that any function here gave; bytes as asked for. ptr NULL: MASU_OK. errno stays. Nothing changes
 * unless MASU_OK: MASU_ERR_DOUBLE_FREE for the block of its size that was freed last, and for a large one
 * that is free; MASU_ERR_SIZE_MISMATCH for a size that the block cannot have held; for more see
 * masu_configure. */
static inline masu_status masu_free(void *ptr, size_t bytes) {
    if (__builtin_expect(bytes - 1 < MASU_BUCKET_MAX_BYTES, 1)) {
        size_t at = __atomic_load_n(&masu_magazine_at[(bytes - 1) / MASU_BUCKET_MIN_BYTES], __ATOMIC_RELAXED);
        if (__builtin_expect(masu_page_code(ptr) * sizeof(masu_magazine) == at, 1) &&
            masu_magazine_give(masu_magazine_of(bytes), ptr))
            return MASU_OK;
    }
    return masu_free_slow(ptr, bytes);
}

/* The same without the size. */
static inline masu_status masu_free_unsized(void *ptr) {
    return masu_try_free_unsized(ptr) ? MASU_OK : masu_free_unsized_slow(ptr);
}

/* *out at a multiple of alignment (0: 64; any power of two). bytes 0: NULL, MASU_OK. On failure
 * *out is NULL and no block has changed (idle memory may have gone back): MASU_ERR_INVALID_ARGUMENT, MASU_ERR_OVERFLOW,
 * MASU_ERR_OUT_OF_MEMORY, MASU_ERR_LIMIT_REACHED, MASU_ERR_DEVICE_FAILURE. */
MASU_API masu_status masu_alloc_aligned(size_t bytes, size_t alignment, void **out);
/* As masu_free, and looks at the alignment too: MASU_ERR_INVALID_ARGUMENT when ptr cannot have it. */
MASU_API masu_status masu_free_aligned(void *ptr, size_t bytes, size_t alignment);

/* count * bytes bytes of zero; NULL also when the product overflows. Free with the product. Pages that were never used
 * are not touched. */
MASU_API void *masu_alloc_zeroed(size_t count, size_t bytes) MASU_ALLOCATES(1, 2);
/* The same at a multiple of alignment, with the statuses of masu_alloc_aligned. */
MASU_API masu_status masu_alloc_zeroed_aligned(size_t count, size_t bytes, size_t alignment, void **out);

/* A block of new_bytes with the contents of the old one, which is gone; NULL: there is no memory, or
 * old_bytes is more than the block held, and the old block is untouched. Stays in place as long as the
 * block is large enough and no more than twice what is wanted, where a large block can grow into what is
 * free behind it, and where it shrinks and stays above 16 KiB; so that growing step by step costs amortised constant
 * time a byte. From 2 MiB on pages are brought to another place rather than copied, where the device can do that (the
 * host can). old_bytes as asked for; ptr NULL with old_bytes 0: as masu_alloc; one without the other gives NULL.
 * new_bytes 0 frees and gives NULL. The new block lies at a multiple of 64, whatever the old one did. */
MASU_API void *masu_realloc(void *ptr, size_t old_bytes, size_t new_bytes) MASU_REALLOCATED(3);
/* The same without the old size; ptr NULL: as masu_alloc. NULL also for what is not a block of this pool. */
MASU_API void *masu_realloc_unsized(void *ptr, size_t new_bytes) MASU_REALLOCATED(2);
/* The same at a multiple of alignment. *out is the new block, or on failure NULL, and the old one is
 * untouched: statuses of masu_alloc_aligned, and MASU_ERR_SIZE_MISMATCH, MASU_ERR_FOREIGN_POINTER,
 * MASU_ERR_INTERIOR_POINTER, MASU_ERR_DOUBLE_FREE about ptr as far as they are seen. */
MASU_API masu_status masu_realloc_aligned(void *ptr, size_t old_bytes, size_t new_bytes, size_t alignment, void **out);
/* Makes the block hold new_bytes where it lies: true when it does. Whether true or false, ptr stays what
 * it was, with its contents. O(1), or O(log n) under the lock when a large block grows. */
MASU_API bool masu_resize_in_place(void *ptr, size_t old_bytes, size_t new_bytes);

/* How many bytes may be used at ptr, a block of this pool; 0 for anything else as far as that is seen.
 * Without a lock but for blocks above 64 MiB and those beside memory that was given back. */
MASU_API size_t masu_usable_size(const void *ptr);

/* ---- the pool as a whole --------------------------------------------------------------------- */

/* The configuration of the pool unless masu_configure says otherwise: that of masu_heap_config_default with fine
 * classes and device blocks of 128 MiB, each as large as all before it together. */
MASU_API masu_heap_config masu_configure_default(void);
/* A program may define this function: it is called when a first call makes the pool without masu_configure, and must
 * call nothing that allocates. What it returns is borrowed during the call; NULL: masu_configure_default. */
MASU_API const masu_heap_config *masu_wanted_config(void) __attribute__((weak));
/* How the pool shall be made, before the first call that allocates. MASU_ERR_UNSUPPORTED when it
 * exists already. A guarded, checked or traced pool has no magazines: every call is looked at. */
MASU_API masu_status masu_configure(const masu_heap_config *config);

/* Switches checks of every free on or off at any time, from any thread; makes the pool when there
 * is none. On: every thread's next call empties its cache, and from there on takes the lock and is
 * verified. A block up to 16 KiB is checked for: address, border, liveness, and the size, exactly if it was
 * allocated checked, as to its class if before; of a larger one: address, liveness, and the size to
 * a multiple of 64. MASU_ERR_DOUBLE_FREE, MASU_ERR_FOREIGN_POINTER, MASU_ERR_INTERIOR_POINTER,
 * MASU_ERR_SIZE_MISMATCH; masu_realloc with a wrong old size gives NULL. A second free of a block
 * that lay in another thread's magazine at the switch is passed over, at that thread's next call.
 * MASU_ERR_OUT_OF_MEMORY, MASU_ERR_CORRUPT as of masu_bucket_set_checked, nothing has changed then;
 * MASU_ERR_UNSUPPORTED for off, when the pool was configured guarded. O(blocks). */
MASU_API masu_status masu_set_checked(bool on);

/* Whether the caller is a signal handler that interrupted a call of this library in its thread, so that nothing can be
 * allocated now. Any thread, any handler. */
MASU_API bool masu_inside(void);

/* Hands the calling thread's blocks back to the shared lists. A thread that ends does so by
 * itself. */
MASU_API void masu_thread_flush(void);

/* As masu_heap_trim, after masu_thread_flush. Other threads hand theirs back at their next call,
 * whichever it is. */
MASU_API masu_status masu_trim(size_t keep_bytes);

/* How memory that lies idle goes back to the system by itself; both may be changed at any time, from any thread, and
 * start as 0. max_idle_bytes: no more than so much of it is kept, in pages that were used, in the lists and in the
 * caches of threads together; a thread beyond the first may keep an eighth of it in large blocks more. Free blocks
 * beside live ones of their slab do not count. 0: no cap. decay_ms: what lay idle for so long goes back, after one to
 * one and a half times that; looked for by calls that come to the lock, so that it costs no thread: a program that
 * makes no call calls masu_decay, or keeps what it has. What a thread has cached is idle from its own next call on that
 * comes to the lock. 0: never. MASU_ERR_UNSUPPORTED for a pool without caches or with MASU_POOL_PERSISTENT. Each time
 * it is due: O(blocks), and O(free blocks up to 16 KiB). */
MASU_API masu_status masu_set_idle(size_t max_idle_bytes, uint64_t decay_ms);
/* Looks for what is due now. */
MASU_API void masu_decay(void);

/* A snapshot that adds up. While other threads are inside, blocks on their way from one thread to
 * another may be counted as cached for a moment; nothing is ever negative or above reserved. */
MASU_API void masu_get_stats(masu_heap_stats *out);
/* The peaks start again from now. */
MASU_API void masu_reset_peaks(void);

/* Checks every equation, O(n), while no other thread allocates. */
MASU_API bool masu_valid(void);

MASU_HEADER_END

#ifdef __cplusplus
}
#endif

#endif
