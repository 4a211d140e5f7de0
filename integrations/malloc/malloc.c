/* malloc.c: the names of C, of POSIX, and of glibc.
 *
 * As glibc, where the standards leave a choice: size 0 gives a block of its own; realloc to 0 frees and gives NULL;
 * what fails sets errno to ENOMEM; free keeps errno; no size above PTRDIFF_MAX is served; memalign rounds its alignment
 * up.
 */
#include "adapter.h"

#include <stdatomic.h>
#include <unistd.h>

#include "names.h"

static _Atomic uint64_t refusals;

uint64_t masu_malloc_refusals(void) {
    return atomic_load(&refusals);
}

static inline void *out_of_memory(void) {
    errno = ENOMEM;
    return NULL;
}

static inline size_t at_least_one(size_t bytes) {
    return bytes ? bytes : 1;
}

static inline bool is_power_of_two(size_t x) {
    return x != 0 && (x & (x - 1)) == 0;
}

RARELY void *masu_malloc_rarely(size_t bytes) {
    if (bytes == 0)
        return take(1);
    void *block = masu_inside() ? masu_malloc_reserve(bytes, MASU_PACKED_GRAIN) : NULL;
    return block ? block : out_of_memory();
}

RARELY void masu_malloc_refused(void *ptr, masu_status status) {
    if (masu_malloc_reserve_bytes(ptr) > 0)
        return;
    atomic_fetch_add(&refusals, 1);
    if (!masu_malloc_settings()->checked)
        return;
    masu_malloc_say("free of %p: %s", ptr, masu_status_text(status));
    __builtin_trap();
}

__attribute__((noinline)) void *masu_malloc_slowly(size_t bytes, const void *caller) {
    ask_for(caller);
    void *block = masu_alloc_packed(bytes);
    return LIKELY(block) ? block : masu_malloc_rarely(bytes);
}

/* NULL comes often: the C library frees twenty of them for each thread that ends. */
__attribute__((noinline)) void masu_malloc_free_slowly(void *ptr) {
    if (!ptr)
        return;
    masu_status status = masu_free_unsized_slow(ptr);
    if (!LIKELY(status == MASU_OK))
        masu_malloc_refused(ptr, status);
}

void *masu_malloc_aligned_for(size_t bytes, size_t alignment, const void *caller) {
    void *block;
    if (alignment <= MASU_PACKED_GRAIN) {
        block = masu_try_alloc_packed(bytes);
        return LIKELY(block) ? block : masu_malloc_slowly(bytes, caller);
    }
    ask_for(caller);
    if (bytes > PTRDIFF_MAX - alignment)
        return out_of_memory();
    if (masu_alloc_aligned(bytes, alignment, &block) != MASU_OK)
        block = masu_inside() ? masu_malloc_reserve(bytes, alignment) : NULL;
    return block ? block : out_of_memory();
}

/* How many bytes may be used at ptr. */
static size_t size_at(void *ptr) {
    size_t bytes = masu_usable_size(ptr);
    return LIKELY(bytes) ? bytes : masu_malloc_reserve_bytes(ptr);
}

static inline __attribute__((always_inline)) void *take_zeroed(size_t bytes) {
    if (bytes > MASU_PACKED_BYTES) {
        ask_for(CALLER);
        void *block = masu_alloc_zeroed(1, bytes);
        return LIKELY(block) ? block : masu_malloc_rarely(bytes);
    }
    void *block = take(bytes);
    return LIKELY(block) ? memset(block, 0, bytes) : NULL;
}

static void *move(void *ptr, size_t held, size_t bytes, const void *caller) {
    void *moved = masu_malloc_aligned_for(bytes, MASU_PACKED_GRAIN, caller);
    if (!moved)
        return NULL;
    memcpy(moved, ptr, held < bytes ? held : bytes);
    give(ptr);
    return moved;
}

/* bytes > 0. What stays where it lies is no more than twice too large. */
static void *change(void *ptr, size_t bytes, const void *caller) {
    size_t held = size_at(ptr);
    if (!LIKELY(held)) {
        masu_malloc_refused(ptr, MASU_ERR_FOREIGN_POINTER);
        return out_of_memory();
    }
    if (bytes <= held && bytes > held / 2)
        return ptr;
    if (bytes <= MASU_PACKED_BYTES || masu_malloc_reserve_bytes(ptr) > 0)
        return move(ptr, held, bytes, caller);
    ask_for(caller);
    void *changed = masu_realloc_unsized(ptr, bytes);
    if (LIKELY(changed))
        return changed;
    return masu_inside() ? move(ptr, held, bytes, caller) : out_of_memory();
}

/* ---- C --------------------------------------------------------------------------------------- */

SHOWN void *malloc(size_t bytes) {
    return take(bytes);
}

SHOWN void free(void *ptr) {
    give(ptr);
}

SHOWN void *calloc(size_t count, size_t bytes) {
    size_t total;
    if (__builtin_mul_overflow(count, bytes, &total))
        return out_of_memory();
    return take_zeroed(at_least_one(total));
}

static inline void *reallocate(void *ptr, size_t bytes, const void *caller) {
    if (!ptr)
        return masu_malloc_aligned_for(bytes, MASU_PACKED_GRAIN, caller);
    if (bytes > 0)
        return change(ptr, bytes, caller);
    give(ptr);
    return NULL;
}

SHOWN void *realloc(void *ptr, size_t bytes) {
    return reallocate(ptr, bytes, CALLER);
}

SHOWN void *aligned_alloc(size_t alignment, size_t bytes) {
    if (is_power_of_two(alignment))
        return masu_malloc_aligned(at_least_one(bytes), alignment);
    errno = EINVAL;
    return NULL;
}

SHOWN void free_sized(void *ptr, size_t bytes) {
    (void)bytes; /* the library knows it, at the same cost */
    give(ptr);
}

SHOWN void free_aligned_sized(void *ptr, size_t alignment, size_t bytes) {
    (void)alignment, (void)bytes;
    give(ptr);
}

/* ---- POSIX and BSD --------------------------------------------------------------------------- */

SHOWN int posix_memalign(void **out, size_t alignment, size_t bytes) {
    int error = errno;
    if (!is_power_of_two(alignment) || alignment % sizeof(void *) != 0)
        return EINVAL;
    void *block = masu_malloc_aligned(at_least_one(bytes), alignment);
    errno = error;
    if (!block)
        return ENOMEM;
    *out = block;
    return 0;
}

SHOWN void *reallocarray(void *ptr, size_t count, size_t bytes) {
    size_t total;
    return __builtin_mul_overflow(count, bytes, &total) ? out_of_memory() : reallocate(ptr, total, CALLER);
}

/* As realloc, but what cannot be changed is freed. */
SHOWN void *reallocf(void *ptr, size_t bytes) {
    void *changed = reallocate(ptr, bytes, CALLER);
    if (!changed && ptr && bytes > 0)
        give(ptr);
    return changed;
}

/* NetBSD's: place holds the address of the block. 0, or an error, of which errno knows nothing. */
SHOWN int reallocarr(void *place, size_t count, size_t bytes) {
    int error = errno;
    size_t total;
    void *block, *changed = NULL;
    memcpy(&block, place, sizeof block);
    if (__builtin_mul_overflow(count, bytes, &total))
        return EOVERFLOW;
    changed = reallocate(block, total, CALLER);
    errno = error;
    if (!changed && total > 0)
        return ENOMEM;
    memcpy(place, &changed, sizeof changed);
    return 0;
}

SHOWN void *valloc(size_t bytes) {
    return masu_malloc_aligned(at_least_one(bytes), (size_t)sysconf(_SC_PAGESIZE));
}

SHOWN void vfree(void *ptr) {
    give(ptr);
}

/* ---- glibc ----------------------------------------------------------------------------------- */

SHOWN void *memalign(size_t alignment, size_t bytes) {
    if (alignment > SIZE_MAX / 2 + 1) {
        errno = EINVAL;
        return NULL;
    }
    size_t rounded = MASU_PACKED_GRAIN;
    while (rounded < alignment)
        rounded *= 2;
    return masu_malloc_aligned(at_least_one(bytes), rounded);
}

SHOWN void *pvalloc(size_t bytes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (bytes > PTRDIFF_MAX - page)
        return out_of_memory();
    return masu_malloc_aligned((at_least_one(bytes) + page - 1) / page * page, page);
}

SHOWN void cfree(void *ptr) {
    give(ptr);
}

SHOWN size_t malloc_usable_size(void *ptr) {
    return ptr ? size_at(ptr) : 0;
}

SHOWN size_t malloc_size(const void *ptr) {
    return malloc_usable_size((void *)ptr);
}

/* How much would be usable: asked of the pool. */
SHOWN size_t malloc_good_size(size_t bytes) {
    void *block = take(bytes);
    size_t usable = block ? size_at(block) : bytes;
    give(block);
    return usable;
}

/* mimalloc exports it with this order of arguments. */
SHOWN void *_aligned_malloc(size_t alignment, size_t bytes) {
    return aligned_alloc(alignment, bytes);
}

/* Names that libraries call to reach glibc's own. */
#if __has_attribute(copy)
#define SAME_AS(of) __attribute__((alias(#of), copy(of)))
#else
#define SAME_AS(of) __attribute__((alias(#of)))
#endif
#define ALSO(name, of) SHOWN __typeof__(of) name SAME_AS(of)
ALSO(__libc_malloc, malloc);
ALSO(__libc_calloc, calloc);
ALSO(__libc_realloc, realloc);
ALSO(__libc_free, free);
ALSO(__libc_cfree, cfree);
ALSO(__libc_memalign, memalign);
ALSO(__libc_valloc, valloc);
ALSO(__libc_pvalloc, pvalloc);
ALSO(__posix_memalign, posix_memalign);
