/* populate.h: pages brought in by one system call or in large ones, and not by one fault after the other, each of which
 * costs more than what is done with the page. Kernels that do not know the calls fault as ever.
 */
#ifndef MASU_BASE_POPULATE_H
#define MASU_BASE_POPULATE_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include "base/size.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

/* The whole pages within [from, from + bytes), which may be written. */
static inline void masu__populate(const void *from, size_t bytes) {
    enum { PAGE = 4096 };
    uintptr_t first = masu__align_up_small((uintptr_t)from, PAGE);
    uintptr_t last = ((uintptr_t)from + bytes) & ~(uintptr_t)(PAGE - 1);
    int before = errno;
    if (last > first)
        madvise((void *)first, last - first, MADV_POPULATE_WRITE);
    errno = before;
}

/* [from, from + bytes) is about to be written whole, so that large pages cost no memory. Contents stay; of less than
 * 4 MiB nothing happens. */
static inline void masu__in_large_pages(const void *from, size_t bytes) {
    enum { LARGE_PAGE = 2 << 20 };
    uintptr_t first = masu__align_up_small((uintptr_t)from, LARGE_PAGE);
    uintptr_t last = masu__align_down((uintptr_t)from + bytes, LARGE_PAGE);
    int before = errno;
    if (bytes >= 2 * LARGE_PAGE && last > first)
        madvise((void *)first, last - first, MADV_HUGEPAGE);
    errno = before;
}

#endif
