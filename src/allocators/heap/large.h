/* large.h: the size classes above 16 KiB that the process-wide pool keeps blocks of.
 *
 *     20 24 … 64 KiB    by the page         then sixteen for each doubling up to 64 MiB
 *
 * A request is rounded up to its class: by less than a page up to 128 KiB, by less than a sixteenth above. What is
 * rounded up lies behind the caller's bytes and is not touched, so it costs addresses and hardly memory.
 */
#ifndef MASU_LARGE_H
#define MASU_LARGE_H

#include <masu/bucket.h>

#include "allocators/bucket/page_codes.h"
#include "base/size.h"

enum {
    MASU__LARGE_FIRST_PAGES = MASU_BUCKET_MAX_BYTES / MASU__PAGE_BYTES + 1,
    MASU__LARGE_EVEN_PAGES = 16, /* up to here by the page */
    MASU__LARGE_EVEN = MASU__LARGE_EVEN_PAGES - MASU__LARGE_FIRST_PAGES + 1,
    MASU__LARGE_EVEN_LOG = 16,
    MASU__LARGE_MOST_LOG = 26,
    MASU__LARGE_CLASSES = MASU__LARGE_EVEN + 16 * (MASU__LARGE_MOST_LOG - MASU__LARGE_EVEN_LOG),
    MASU__LARGE_ONES = MASU__LARGE_EVEN + 16 * 2 /* the classes up to 256 KiB */
};
#define MASU__LARGE_MOST_BYTES ((size_t)1 << MASU__LARGE_MOST_LOG)
#define MASU__LARGE_ONE_BYTES  ((size_t)256 << 10)

_Static_assert(MASU__LARGE_ONES <= 64, "a bit for each in a word");
_Static_assert(MASU__KIND_LARGE + MASU__LARGE_CLASSES <= MASU__KIND_JUDGED, "a kind is a byte");

static inline bool masu__large_has_class(size_t bytes) {
    return bytes - (MASU_BUCKET_MAX_BYTES + 1) < MASU__LARGE_MOST_BYTES - MASU_BUCKET_MAX_BYTES;
}

/* Whether its class is below MASU__LARGE_ONES. */
static inline bool masu__large_has_one(size_t bytes) {
    return bytes - (MASU_BUCKET_MAX_BYTES + 1) < MASU__LARGE_ONE_BYTES - MASU_BUCKET_MAX_BYTES;
}

/* masu__large_has_class(bytes) */
static inline unsigned masu__large_class_of(size_t bytes) {
    if (bytes <= MASU__LARGE_EVEN_PAGES * (size_t)MASU__PAGE_BYTES)
        return (unsigned)((bytes - 1) >> MASU__PAGE_SHIFT) + 1 - MASU__LARGE_FIRST_PAGES;
    unsigned log = masu__log2_floor(bytes - 1);
    return MASU__LARGE_EVEN + 16 * (log - MASU__LARGE_EVEN_LOG) + (unsigned)((bytes - 1) >> (log - 4)) - 16;
}

static inline size_t masu__large_class_bytes(unsigned index) {
    if (index < MASU__LARGE_EVEN)
        return (size_t)(index + MASU__LARGE_FIRST_PAGES) << MASU__PAGE_SHIFT;
    unsigned above = index - MASU__LARGE_EVEN;
    return (size_t)(17 + above % 16) << (MASU__LARGE_EVEN_LOG - 4 + above / 16);
}

#endif
