/* reserve.c: what a signal handler gets that interrupts the library in its own thread. The pool cannot serve it then,
 * and glibc might never come back; here it is cut off a piece of memory that is never used again, by one atomic
 * addition.
 *
 *     │ size │ block … │ size │ block … │     at most RESERVE_BYTES in all
 */
#include "adapter.h"

#include <stdatomic.h>
#include <sys/mman.h>

#define RESERVE_BYTES ((size_t)16 << 20)
enum { GRAIN = 16 };

static _Atomic(char *) base;
static _Atomic size_t cut;

/* Two may map it; the second gives its own back. */
static char *reserve_base(void) {
    char *there = atomic_load(&base);
    if (there)
        return there;
    char *mapped = mmap(NULL, RESERVE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                        0);
    if (mapped == MAP_FAILED)
        return NULL;
    if (atomic_compare_exchange_strong(&base, &there, mapped))
        return mapped;
    munmap(mapped, RESERVE_BYTES);
    return there;
}

void *masu_malloc_reserve(size_t bytes, size_t alignment) {
    char *start = reserve_base();
    if (!start || bytes > RESERVE_BYTES || alignment > RESERVE_BYTES)
        return NULL;
    size_t whole = (bytes + GRAIN - 1) / GRAIN * GRAIN + alignment;
    size_t at = atomic_load(&cut);
    do
        if (whole > RESERVE_BYTES - at)
            return NULL;
    while (!atomic_compare_exchange_weak(&cut, &at, at + whole));
    uintptr_t block = ((uintptr_t)start + at + GRAIN + alignment - 1) & ~(uintptr_t)(alignment - 1);
    ((size_t *)block)[-1] = bytes;
    return (void *)block;
}

size_t masu_malloc_reserve_bytes(const void *ptr) {
    const char *start = atomic_load(&base);
    return start && (uintptr_t)ptr - (uintptr_t)start < RESERVE_BYTES ? ((const size_t *)ptr)[-1] : 0;
}
