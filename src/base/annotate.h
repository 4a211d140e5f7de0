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
#include <stdint.h>

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

/* Valgrind's client requests, spoken directly: the library needs none of its headers to be built,
 * and behaves alike wherever it was built. A request is a sequence of instructions that does nothing
 * on a processor and that Valgrind recognises; numbers and registers are those of its documented
 * interface. */
enum masu__valgrind_request {
    MASU__VALGRIND_RUNNING = 0x1001,
    MASU__VALGRIND_MALLOCLIKE = 0x1301,   /* address, bytes, red zone, is zeroed */
    MASU__VALGRIND_FREELIKE = 0x1302,     /* address, red zone */
    MASU__VALGRIND_NOACCESS = 0x4d430000, /* address, bytes */
    MASU__VALGRIND_DEFINED = 0x4d430002   /* address, bytes */
};

/* 0 outside of Valgrind. */
static inline uintptr_t masu__valgrind(enum masu__valgrind_request request, const void *ptr, uintptr_t a, uintptr_t b) {
    uintptr_t answer = 0;
#if defined(__x86_64__) && defined(__LP64__)
    volatile uintptr_t words[6] = {request, (uintptr_t)ptr, a, b, 0, 0};
    __asm__ volatile("rolq $3, %%rdi\n\trolq $13, %%rdi\n\trolq $61, %%rdi\n\trolq $51, %%rdi\n\txchgq %%rbx, %%rbx"
                     : "+d"(answer)
                     : "a"(&words[0])
                     : "cc", "memory");
#elif defined(__aarch64__)
    volatile uintptr_t words[6] = {request, (uintptr_t)ptr, a, b, 0, 0};
    register uintptr_t result __asm__("x3") = 0;
    register volatile uintptr_t *list __asm__("x4") = words;
    __asm__ volatile(
        "ror x12, x12, #3\n\tror x12, x12, #13\n\tror x12, x12, #51\n\tror x12, x12, #61\n\torr x10, x10, x10"
        : "+r"(result)
        : "r"(list)
        : "cc", "memory", "x12");
    answer = result;
#else
    (void)request, (void)ptr, (void)a, (void)b;
#endif
    return answer;
}

static inline bool masu__annotate_wanted(void) {
    return MASU__ASAN || masu__valgrind(MASU__VALGRIND_RUNNING, NULL, 0, 0) != 0;
}

/* Memory fresh from a device, not handed out yet. Shadow memory for whole device blocks would be
 * an eighth of them, touched or not, so AddressSanitizer hears of it piece by piece. */
static inline void masu__annotate_fresh(void *ptr, size_t bytes) {
    masu__valgrind(MASU__VALGRIND_NOACCESS, ptr, bytes, 0);
}

static inline void masu__annotate_close(void *ptr, size_t bytes) {
    ASAN_POISON_MEMORY_REGION(ptr, bytes);
    masu__valgrind(MASU__VALGRIND_NOACCESS, ptr, bytes, 0);
}

/* Memory that leaves the pool for good. */
static inline void masu__annotate_open(void *ptr, size_t bytes) {
    ASAN_UNPOISON_MEMORY_REGION(ptr, bytes);
    masu__valgrind(MASU__VALGRIND_DEFINED, ptr, bytes, 0);
}

/* Nothing behind bytes may be touched, up to block_bytes. */
static inline void masu__annotate_alloc(void *ptr, size_t bytes, size_t block_bytes) {
    ASAN_POISON_MEMORY_REGION(ptr, block_bytes);
    ASAN_UNPOISON_MEMORY_REGION(ptr, bytes);
    masu__valgrind(MASU__VALGRIND_MALLOCLIKE, ptr, bytes, 0);
}

static inline void masu__annotate_free(void *ptr, size_t block_bytes) {
    ASAN_POISON_MEMORY_REGION(ptr, block_bytes);
    masu__valgrind(MASU__VALGRIND_FREELIKE, ptr, 0, 0);
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
