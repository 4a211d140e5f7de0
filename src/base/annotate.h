/* annotate.h: telling AddressSanitizer and Valgrind what a pool does with its memory, so that both
 * see the blocks of a pool as they see those of malloc.
 *
 * A pool asks masu__annotate_wanted once, when it is made, and calls the rest only if it is: what
 * is not in a caller's hands is closed, and touching it is reported at once.
 *
 *     closed ─alloc─► open ─free─► closed            list links in closed blocks: peek and poke
 *
 * Memory of devices without host access must not be named here.
 */
#ifndef MASU_BASE_ANNOTATE_H
#define MASU_BASE_ANNOTATE_H

#include <stdbool.h>
#include <stddef.h>

#if defined(__SANITIZE_ADDRESS__)
#define MASU__ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MASU__ASAN 1
#endif
#endif
#ifdef MASU__ASAN
#include <sanitizer/asan_interface.h>
#else
#define MASU__ASAN                        0
#define ASAN_POISON_MEMORY_REGION(p, n)   ((void)(p), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#endif

#if defined(__has_include)
#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#endif
#endif
#ifndef RUNNING_ON_VALGRIND
#define RUNNING_ON_VALGRIND                   0
#define VALGRIND_MALLOCLIKE_BLOCK(p, n, r, z) ((void)(p))
#define VALGRIND_FREELIKE_BLOCK(p, r)         ((void)(p))
#define VALGRIND_MAKE_MEM_NOACCESS(p, n)      ((void)(p))
#define VALGRIND_MAKE_MEM_DEFINED(p, n)       ((void)(p))
#endif

static inline bool masu__annotate_wanted(void) {
    return MASU__ASAN || RUNNING_ON_VALGRIND != 0;
}

/* Memory fresh from a device, in nobody's hands yet. Shadow memory for whole device blocks would be
 * an eighth of them, touched or not, so AddressSanitizer hears of it piece by piece. */
static inline void masu__annotate_fresh(void *ptr, size_t bytes) {
    VALGRIND_MAKE_MEM_NOACCESS(ptr, bytes);
}

static inline void masu__annotate_close(void *ptr, size_t bytes) {
    ASAN_POISON_MEMORY_REGION(ptr, bytes);
    VALGRIND_MAKE_MEM_NOACCESS(ptr, bytes);
}

/* Memory that leaves the pool for good. */
static inline void masu__annotate_open(void *ptr, size_t bytes) {
    ASAN_UNPOISON_MEMORY_REGION(ptr, bytes);
    VALGRIND_MAKE_MEM_DEFINED(ptr, bytes);
}

/* Nothing behind bytes may be touched, up to block_bytes. */
static inline void masu__annotate_alloc(void *ptr, size_t bytes, size_t block_bytes) {
    ASAN_POISON_MEMORY_REGION(ptr, block_bytes);
    ASAN_UNPOISON_MEMORY_REGION(ptr, bytes);
    VALGRIND_MALLOCLIKE_BLOCK(ptr, bytes, 0, 0);
}

static inline void masu__annotate_free(void *ptr, size_t block_bytes) {
    ASAN_POISON_MEMORY_REGION(ptr, block_bytes);
    VALGRIND_FREELIKE_BLOCK(ptr, 0);
}

static inline void *masu__annotate_peek(void *block) {
    masu__annotate_open(block, sizeof(void *));
    void *link = *(void **)block;
    masu__annotate_close(block, sizeof(void *));
    return link;
}

static inline void masu__annotate_poke(void *block, void *link) {
    masu__annotate_open(block, sizeof(void *));
    *(void **)block = link;
    masu__annotate_close(block, sizeof(void *));
}

#endif
