/* malloc.c: masu behind the names of the C and C++ allocators, to be preloaded into programs that know nothing of it.
 *
 *     cc -O2 -fPIC -shared malloc.c -lmasu                      free and delete ask the library for the size
 *     cc -O2 -fPIC -shared -DSIZE_HEADER malloc.c -lmasu        sixteen bytes before each block hold the size
 *
 * For measurements (bench/programs.py). What holds: blocks at a multiple of 16 at least, size 0 gives a block,
 * errno says ENOMEM. Where the size is kept in front, each free passes it on.
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include <masu/alloc.h>

#define SHOWN __attribute__((visibility("default"), used))

#ifdef SIZE_HEADER

/* Behind whatever an alignment needs: the block, and its size in it. */
typedef struct header {
    void *block;
    size_t bytes;
} header;

static inline header *header_of(void *ptr) {
    return (header *)ptr - 1;
}

static inline void *take(size_t bytes) {
    header *block = bytes <= SIZE_MAX - sizeof *block ? masu_alloc(bytes + sizeof *block) : NULL;
    if (!block)
        return NULL;
    *block = (header){block, bytes + sizeof *block};
    return block + 1;
}

static inline void give(void *ptr) {
    if (ptr)
        (void)masu_free(header_of(ptr)->block, header_of(ptr)->bytes);
}

static inline void give_sized(void *ptr, size_t bytes) {
    (void)bytes;
    give(ptr);
}

static inline size_t size_at(void *ptr) {
    const header *h = header_of(ptr);
    return h->bytes - (size_t)((char *)ptr - (char *)h->block);
}

static inline void *take_aligned(size_t bytes, size_t alignment) {
    size_t front = alignment > sizeof(header) ? alignment : sizeof(header);
    void *block;
    if (bytes > SIZE_MAX - front || masu_alloc_aligned(bytes + front, alignment, &block) != MASU_OK)
        return NULL;
    char *ptr = (char *)block + front;
    *header_of(ptr) = (header){block, bytes + front};
    return ptr;
}

static inline void *take_zeroed(size_t bytes) {
    header *block = bytes <= SIZE_MAX - sizeof *block ? masu_alloc_zeroed(1, bytes + sizeof *block) : NULL;
    if (!block)
        return NULL;
    *block = (header){block, bytes + sizeof *block};
    return block + 1;
}

static void *change(void *ptr, size_t bytes) {
    header *h = header_of(ptr);
    if (bytes > SIZE_MAX - sizeof *h)
        return NULL;
    if ((void *)h == h->block) {
        header *block = masu_realloc(h, h->bytes, bytes + sizeof *h);
        if (!block)
            return NULL;
        *block = (header){block, bytes + sizeof *h};
        return block + 1;
    }
    size_t old = size_at(ptr);
    void *moved = take(bytes);
    if (!moved)
        return NULL;
    memcpy(moved, ptr, old < bytes ? old : bytes);
    give(ptr);
    return moved;
}

#else

static inline void *take(size_t bytes) {
    return masu_alloc_packed(bytes);
}

static inline void give(void *ptr) {
    (void)masu_free_unsized(ptr);
}

static inline void give_sized(void *ptr, size_t bytes) {
    (void)bytes;
    give(ptr);
}

static inline size_t size_at(void *ptr) {
    return masu_usable_size(ptr);
}

static inline void *take_aligned(size_t bytes, size_t alignment) {
    void *block;
    if (alignment <= MASU_PACKED_GRAIN)
        return take(bytes);
    return masu_alloc_aligned(bytes, alignment, &block) == MASU_OK ? block : NULL;
}

static inline void *take_zeroed(size_t bytes) {
    if (bytes > MASU_PACKED_BYTES)
        return masu_alloc_zeroed(1, bytes);
    void *block = take(bytes);
    return block ? memset(block, 0, bytes) : NULL;
}

static void *change(void *ptr, size_t bytes) {
    size_t old = size_at(ptr);
    if (bytes <= old && bytes > old / 2)
        return ptr;
    if (bytes > MASU_PACKED_BYTES)
        return masu_realloc_unsized(ptr, bytes);
    void *moved = take(bytes);
    if (!moved)
        return NULL;
    memcpy(moved, ptr, old < bytes ? old : bytes);
    give(ptr);
    return moved;
}

#endif

static inline void *said(void *ptr) {
    if (__builtin_expect(!ptr, 0))
        errno = ENOMEM;
    return ptr;
}

static inline size_t at_least_one(size_t bytes) {
    return bytes ? bytes : 1;
}

static int is_alignment(size_t alignment) {
    return alignment != 0 && (alignment & (alignment - 1)) == 0;
}

/* Size 0, or no memory: apart, so that the other way saves no register. */
static __attribute__((noinline, cold)) void *take_rarely(size_t bytes) {
    return said(bytes ? NULL : take(1));
}

SHOWN void *malloc(size_t bytes) {
    void *block = take(bytes);
    return __builtin_expect(block != NULL, 1) ? block : take_rarely(bytes);
}

SHOWN void free(void *ptr) {
    give(ptr);
}

SHOWN void cfree(void *ptr) {
    give(ptr);
}

SHOWN void *calloc(size_t count, size_t bytes) {
    size_t total;
    if (__builtin_mul_overflow(count, bytes, &total))
        return said(NULL);
    return said(take_zeroed(at_least_one(total)));
}

SHOWN void *realloc(void *ptr, size_t bytes) {
    if (!ptr)
        return said(take(at_least_one(bytes)));
    if (bytes == 0) {
        give(ptr);
        return NULL;
    }
    return said(change(ptr, bytes));
}

SHOWN void *reallocarray(void *ptr, size_t count, size_t bytes) {
    size_t total;
    if (__builtin_mul_overflow(count, bytes, &total))
        return said(NULL);
    return realloc(ptr, total);
}

SHOWN int posix_memalign(void **out, size_t alignment, size_t bytes) {
    if (!is_alignment(alignment) || alignment % sizeof(void *) != 0)
        return EINVAL;
    void *block = take_aligned(at_least_one(bytes), alignment);
    if (!block)
        return ENOMEM;
    *out = block;
    return 0;
}

SHOWN void *memalign(size_t alignment, size_t bytes) {
    return said(is_alignment(alignment) ? take_aligned(at_least_one(bytes), alignment) : NULL);
}

SHOWN void *aligned_alloc(size_t alignment, size_t bytes) {
    return memalign(alignment, bytes);
}

SHOWN void *valloc(size_t bytes) {
    return memalign(4096, bytes);
}

SHOWN void *pvalloc(size_t bytes) {
    return memalign(4096, (bytes + 4095) & ~(size_t)4095);
}

SHOWN size_t malloc_usable_size(void *ptr) {
    return ptr ? size_at(ptr) : 0;
}

/* ---- new and delete: names as the Itanium ABI spells them (size_t is unsigned long: m) --------------------- */

/* Without memory a program that measures ends, for std::bad_alloc cannot be thrown from C. */
static inline void *must(void *ptr) {
    if (__builtin_expect(!ptr, 0))
        __builtin_trap();
    return ptr;
}

static __attribute__((noinline, cold)) void *new_rarely(size_t bytes) {
    return must(take_rarely(bytes));
}

static inline void *new_of(size_t bytes) {
    void *block = take(bytes);
    return __builtin_expect(block != NULL, 1) ? block : new_rarely(bytes);
}

#define NEW(name, ...) SHOWN void *name(size_t bytes, ##__VA_ARGS__)
NEW(_Znwm) { return new_of(bytes); }
NEW(_Znam) { return new_of(bytes); }
NEW(_ZnwmRKSt9nothrow_t, const void *tag) { (void)tag; return take(at_least_one(bytes)); }
NEW(_ZnamRKSt9nothrow_t, const void *tag) { (void)tag; return take(at_least_one(bytes)); }
NEW(_ZnwmSt11align_val_t, size_t alignment) { return must(take_aligned(at_least_one(bytes), alignment)); }
NEW(_ZnamSt11align_val_t, size_t alignment) { return must(take_aligned(at_least_one(bytes), alignment)); }

SHOWN void _ZdlPv(void *ptr) { give(ptr); }
SHOWN void _ZdaPv(void *ptr) { give(ptr); }
SHOWN void _ZdlPvm(void *ptr, size_t bytes) { give_sized(ptr, bytes); }
SHOWN void _ZdaPvm(void *ptr, size_t bytes) { give_sized(ptr, bytes); }
SHOWN void _ZdlPvRKSt9nothrow_t(void *ptr, const void *tag) { (void)tag; give(ptr); }
SHOWN void _ZdaPvRKSt9nothrow_t(void *ptr, const void *tag) { (void)tag; give(ptr); }
SHOWN void _ZdlPvSt11align_val_t(void *ptr, size_t alignment) { (void)alignment; give(ptr); }
SHOWN void _ZdaPvSt11align_val_t(void *ptr, size_t alignment) { (void)alignment; give(ptr); }
SHOWN void _ZdlPvmSt11align_val_t(void *ptr, size_t bytes, size_t alignment) { (void)bytes; (void)alignment; give(ptr); }
SHOWN void _ZdaPvmSt11align_val_t(void *ptr, size_t bytes, size_t alignment) { (void)bytes; (void)alignment; give(ptr); }
