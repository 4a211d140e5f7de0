/* page_codes.c: writing codes. */
#include "allocators/bucket/page_codes.h"

#include "base/assert.h"
#include "base/meta.h"
#include "base/size.h"

MASU_LARGE_TABLE uint32_t *masu_page_codes[MASU_PAGE_PARTS];

#define PART_BYTES ((size_t)(MASU_PAGE_PART_MASK + 1) * sizeof(uint32_t))

static bool in_reach(uintptr_t address) {
    return address >> 32 < MASU_PAGE_PARTS;
}

/* Two threads may both make one; the second gives its own back. */
static uint32_t *part_make(uintptr_t address) {
    uint32_t **place = &masu_page_codes[address >> 32], *there = NULL;
    uint32_t *made = masu__meta_pages(PART_BYTES);
    if (!made)
        return NULL;
    if (__atomic_compare_exchange_n(place, &there, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return made;
    masu__meta_pages_back(made, PART_BYTES);
    return there;
}

static uint32_t *part_of(uintptr_t address) {
    return in_reach(address) ? __atomic_load_n(&masu_page_codes[address >> 32], __ATOMIC_ACQUIRE) : NULL;
}

void masu__page_code_set(const void *page, uint32_t code) {
    uintptr_t address = (uintptr_t)page;
    uint32_t *part = part_of(address);
    if (!part && code != 0 && in_reach(address))
        part = part_make(address);
    if (part)
        __atomic_store_n(&part[address >> MASU_PAGE_SHIFT & MASU_PAGE_PART_MASK], code, __ATOMIC_RELAXED);
}

void masu__page_codes_set(uintptr_t address, size_t bytes, uint32_t code) {
    uintptr_t first = masu__align_up_small(address, MASU__PAGE_BYTES);
    uintptr_t end = masu__align_down(address + bytes, MASU__PAGE_BYTES);
    for (uintptr_t page = first; page < end; page += MASU__PAGE_BYTES)
        masu__page_code_set((const void *)page, code);
}

void masu__page_codes_clear(uintptr_t address, size_t bytes) {
    uintptr_t first = masu__align_down(address, MASU__PAGE_BYTES);
    for (uintptr_t page = first; page < address + bytes; page += MASU__PAGE_BYTES)
        masu__page_code_set((const void *)page, 0);
}
