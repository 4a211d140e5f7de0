/* process_heap.h: what the files of the process-wide heap share: the heap, and what a page says of a block.
 *
 *     process_heap.c      makes the heap, takes and frees blocks, and controls the whole
 *     process_resize.c    how large a block is, and blocks that change their size
 *     idle.c              what lies idle goes back
 */
#ifndef MASU_PROCESS_HEAP_H
#define MASU_PROCESS_HEAP_H

#include "allocators/heap/cache.h"
#include "base/assert.h"
#include "base/size.h"

extern masu_heap *_Atomic masu__process_heap; /* NULL before the first call */

/* Makes it where there is none yet; MASU_ERR_UNSUPPORTED inside of a call. */
masu_status masu__process_heap_make(masu_heap **out);

static inline masu_status masu__process_heap_get(masu_heap **out) {
    *out = atomic_load_explicit(&masu__process_heap, memory_order_acquire);
    return MASU_LIKELY(*out != NULL) ? MASU_OK : masu__process_heap_make(out);
}

/* MASU__LARGE_CLASSES or more: no block of the pool that is out begins in that page. */
static inline uint32_t masu__large_index(uint32_t code) {
    return masu__page_block_kind(code) - MASU__KIND_LARGE;
}

/* A block of a large class begins here, and is out. */
static inline bool masu__large_begins(const void *ptr, uint32_t code) {
    return masu__large_index(code) < MASU__LARGE_CLASSES && masu__is_aligned((uintptr_t)ptr, MASU__PAGE_BYTES);
}

#endif
