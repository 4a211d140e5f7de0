/* meta.c: the only caller of malloc and free, and the counter that makes the nth request fail.
 *
 * A build that is the process's malloc takes its metadata from pages (MASU_META_PAGES, meta_pages.h). Elsewhere, where
 * the C library is glibc, its own functions are called by their own names: a program may put this library behind the
 * name malloc, and metadata must not come back here then. Under a sanitizer malloc is called, which it watches. */
#include "base/meta.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/assert.h"
#include "base/meta_pages.h"
#include "base/size.h"

static _Atomic uint64_t live_bytes;
static _Atomic uint64_t live_blocks;

static _Atomic bool fault_armed;
static _Atomic bool fault_repeats;
static _Atomic bool fault_has_fired;
static _Atomic uint64_t fault_nth;
static _Atomic uint64_t fault_asked;

#ifdef MASU_META_PAGES
#define raw_alloc   masu__meta_pages_alloc
#define raw_calloc  masu__meta_pages_calloc
#define raw_realloc masu__meta_pages_realloc
#define raw_free    masu__meta_pages_free
#else
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(MASU_HEAVY)
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *ptr, size_t bytes);
void __libc_free(void *ptr);
#define malloc  __libc_malloc
#define calloc  __libc_calloc
#define realloc __libc_realloc
#define free    __libc_free
#endif

static inline void *raw_alloc(size_t bytes) {
    return malloc(bytes);
}

static inline void *raw_calloc(size_t bytes) {
    return calloc(1, bytes);
}

static inline void *raw_realloc(void *ptr, size_t old_bytes, size_t new_bytes) {
    (void)old_bytes;
    return realloc(ptr, new_bytes);
}

static inline void raw_free(void *ptr, size_t bytes) {
    (void)bytes;
    free(ptr);
}
#endif

static void count_alloc(size_t bytes) {
    atomic_fetch_add_explicit(&live_bytes, bytes, memory_order_relaxed);
    atomic_fetch_add_explicit(&live_blocks, 1, memory_order_relaxed);
}

static void count_free(size_t bytes) {
    uint64_t before = atomic_fetch_sub_explicit(&live_bytes, bytes, memory_order_relaxed);
    MASU_ASSERT(before >= bytes); /* a size given back differs from the size taken */
    atomic_fetch_sub_explicit(&live_blocks, 1, memory_order_relaxed);
}

void *masu__meta_alloc(size_t bytes) {
    MASU_DEBUG_ASSERT(bytes > 0);
    if (masu__fault_hit())
        return NULL;
    void *ptr = raw_alloc(bytes);
    if (ptr)
        count_alloc(bytes);
    return ptr;
}

void *masu__meta_calloc(size_t count, size_t bytes) {
    size_t total;
    if (!masu__mul(count, bytes, &total) || masu__fault_hit())
        return NULL;
    MASU_DEBUG_ASSERT(total > 0);
    void *ptr = raw_calloc(total);
    if (ptr)
        count_alloc(total);
    return ptr;
}

void *masu__meta_realloc(void *ptr, size_t old_bytes, size_t new_bytes) {
    MASU_DEBUG_ASSERT(new_bytes > 0 && (ptr != NULL) == (old_bytes > 0));
    if (masu__fault_hit())
        return NULL;
    void *moved = raw_realloc(ptr, old_bytes, new_bytes);
    if (!moved)
        return NULL;
    if (ptr)
        count_free(old_bytes);
    count_alloc(new_bytes);
    return moved;
}

void masu__meta_free(void *ptr, size_t bytes) {
    if (!ptr)
        return;
    count_free(bytes);
    raw_free(ptr, bytes);
}

/* One page too many, so that an aligned part is among them; what is left over goes back at once. */
void *masu__meta_map(size_t bytes) {
    size_t asked;
    if (!masu__add(bytes, MASU__HUGE_PAGE_BYTES, &asked) || masu__fault_hit())
        return NULL;
    unsigned char *all = mmap(NULL, asked, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED)
        return NULL;
    uintptr_t start = masu__align_up_small((uintptr_t)all, MASU__HUGE_PAGE_BYTES);
    size_t before = start - (uintptr_t)all, behind = asked - before - bytes;
    if (before > 0)
        munmap(all, before);
    if (behind > 0)
        munmap(all + before + bytes, behind);
    int error = errno;
    madvise(all + before, bytes, MADV_HUGEPAGE);
    errno = error; /* a system without huge pages */
    count_alloc(bytes);
    return all + before;
}

void masu__meta_unmap(void *ptr, size_t bytes) {
    count_free(bytes);
    munmap(ptr, bytes);
}

void *masu__meta_pages(size_t bytes) {
    void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED)
        return NULL;
    int error = errno;
    madvise(pages, bytes, MADV_NOHUGEPAGE); /* a few entries would cost 2 MiB */
    errno = error;
    return pages;
}

void masu__meta_pages_back(void *ptr, size_t bytes) {
    munmap(ptr, bytes);
}

#if defined(MASU_HEAVY) && !defined(MASU_META_PAGES)
enum { RETIRED_KEPT = 64 };
static _Atomic(void *) retired[RETIRED_KEPT];
static _Atomic size_t retired_next;

void masu__meta_retire(void *ptr, size_t bytes) {
    count_free(bytes);
    size_t place = atomic_fetch_add(&retired_next, 1) % RETIRED_KEPT;
    free(atomic_exchange(&retired[place], ptr));
}
#else
void masu__meta_retire(void *ptr, size_t bytes) {
    masu__meta_free(ptr, bytes);
}
#endif

uint64_t masu__meta_live_bytes(void) {
    return atomic_load_explicit(&live_bytes, memory_order_relaxed);
}

uint64_t masu__meta_live_blocks(void) {
    return atomic_load_explicit(&live_blocks, memory_order_relaxed);
}

void masu__fault_arm(uint64_t nth) {
    masu__fault_arm_repeat(nth, false);
}

void masu__fault_arm_repeat(uint64_t nth, bool repeat) {
    atomic_store(&fault_armed, false);
    atomic_store(&fault_repeats, repeat);
    atomic_store(&fault_has_fired, false);
    atomic_store(&fault_nth, nth);
    atomic_store(&fault_asked, 0);
    atomic_store(&fault_armed, nth != 0);
}

uint64_t masu__fault_count(void) {
    return atomic_load(&fault_asked);
}

bool masu__fault_fired(void) {
    return atomic_load(&fault_has_fired);
}

static bool fault_count_one(void) {
    uint64_t asked = atomic_fetch_add(&fault_asked, 1) + 1;
    uint64_t nth = atomic_load(&fault_nth);
    if (asked < nth || (asked > nth && !atomic_load(&fault_repeats)))
        return false;
    atomic_store(&fault_has_fired, true);
    return true;
}

bool masu__fault_hit(void) {
    return MASU_UNLIKELY(atomic_load_explicit(&fault_armed, memory_order_relaxed)) && fault_count_one();
}
