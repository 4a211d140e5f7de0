/* page_codes.h: what lies at an address, found by any thread without a lock.
 *
 *     address  47 … 32 ─► part ─► 31 … 12 ─► code of the page of 4 KiB
 *
 *     code = kind                        of a page in a slab of the process-wide pool: the magazine, found by one load
 *            tag of a pool << 16 | kind << 8    of any other page
 *     kind   0                          nothing is known: ask the pools, under their lock
 *            1 … 36                     the whole page lies in a slab of that class, less one
 *            MASU__KIND_LARGE …         a block of a large class begins here (large.h)
 *            MASU__KIND_EXACT           a large block begins here whose size the best-fit pool knows
 *            MASU__KIND_JUDGED          the same, allocated while checks were on: it is the size that was asked for
 *     tag    MASU__TAG_PROCESS          a block of the process-wide pool that is out, or its slab
 *            MASU__TAG_CACHED           one that lies in the cache of a thread
 *            otherwise                  made of the number of a bucket pool
 *
 * A code is written by the pool that owns the page, under its lock, or by the owner of the block that begins there;
 * while a block is out, its code does not change. So a holder of a block reads what is true; of any other address the
 * code may be old. Codes are a shortcut: where there is no memory for a part they stay 0, and all works as well, under
 * the lock.
 *
 * Parts (4 MiB of addresses for 4 GiB, of which the touched pages cost memory: a thousandth of the blocks) stay for the
 * life of the process, so that a reader never meets one that has gone.
 */
#ifndef MASU_PAGE_CODES_H
#define MASU_PAGE_CODES_H

#include <masu/alloc.h>

enum {
    MASU__PAGE_SHIFT = MASU_PAGE_SHIFT,
    MASU__PAGE_BYTES = 1 << MASU__PAGE_SHIFT,
    MASU__KIND_LARGE = 40,
    MASU__KIND_JUDGED = 254,
    MASU__KIND_EXACT = 255,
    MASU__TAG_PROCESS = 0,
    MASU__TAG_CACHED = 1,
    MASU__KIND_SHIFT = 8,
    MASU__TAG_SHIFT = 16
};

static inline uint32_t masu__page_kind(uint32_t code) {
    uint32_t kind = code & 255;
    return kind ? kind : code >> MASU__KIND_SHIFT & 255;
}

static inline uint32_t masu__page_tag(uint32_t code) {
    return code >> MASU__TAG_SHIFT;
}

static inline uint32_t masu__page_code_of(uint32_t tag, uint32_t kind) {
    bool plain = tag == MASU__TAG_PROCESS && kind <= MASU_BUCKET_MOST_CLASSES;
    return plain ? kind : tag << MASU__TAG_SHIFT | kind << MASU__KIND_SHIFT;
}

/* The kind of a page of the process-wide pool that is in no slab; of any other page a number above all kinds. */
static inline uint32_t masu__page_block_kind(uint32_t code) {
    return code >> MASU__KIND_SHIFT | code << (32 - MASU__KIND_SHIFT);
}

/* Makes the part for that page where it is missing. */
void masu__page_code_set(const void *page, uint32_t code);
/* For a page that has a code: no call, no failure. */
static inline void masu__page_code_change(const void *page, uint32_t code) {
    uint32_t *part = __atomic_load_n(&masu_page_codes[(uintptr_t)page >> 32], __ATOMIC_RELAXED);
    __atomic_store_n(&part[(uintptr_t)page >> MASU_PAGE_SHIFT & MASU_PAGE_PART_MASK], code, __ATOMIC_RELAXED);
}
/* All pages that lie wholly within the range get the code. */
void masu__page_codes_set(uintptr_t address, size_t bytes, uint32_t code);
/* All pages that the range touches are unknown again. */
void masu__page_codes_clear(uintptr_t address, size_t bytes);

#endif
