/* block.h: the records of the best-fit pool, and where they come from.
 *
 * One record for each piece of a device block (a region), live or free. The pieces of a region
 * form a chain in order of address that covers it without gaps; the chain ends at the region's
 * border, which is why two regions never merge even when their addresses touch.
 *
 *     region ┌──────────┬───────┬──────────────┬─────┐
 *            │ live     │ free  │ live         │free │      before ◄─► after
 *            └──────────┴───────┴──────────────┴─────┘
 *
 *     no two neighbours are both free;  addresses and sizes are multiples of MASU__GRAIN
 *     address + bytes = after's address, or the region's end
 */
#ifndef MASU_BLOCK_H
#define MASU_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MASU__GRAIN = 64, MASU__GRAIN_SHIFT = 6 };

typedef struct masu__block masu__block;
typedef struct masu__block_chunk masu__block_chunk;

typedef struct masu__region {
    uintptr_t base;
    size_t bytes;       /* as the device gave them */
    masu__block *first; /* the block at base */
} masu__region;

typedef enum masu__block_state {
    MASU__BLOCK_SPARE, /* not in use: in the pool's list of spare records */
    MASU__BLOCK_FREE,  /* in the free index */
    MASU__BLOCK_LIVE,  /* in the address map, owned by a caller */
    MASU__BLOCK_SEALED /* likewise, by the bucket pool: no caller may free it */
} masu__block_state;

struct masu__block {
    uintptr_t address;
    size_t bytes;
    masu__block *before, *after; /* neighbours in the same region, NULL at its borders */
    masu__region *region;
    masu__block_chunk *chunk; /* where the record itself lies */
    union {
        struct {
            masu__block *left, *right; /* free index */
            uint64_t priority;
        } free;
        struct {
            size_t requested; /* <= bytes */
            uint64_t owner;
            uint64_t serial;
        } live;
        masu__block *next_spare;
    } as;
    masu__block_state state;
    uint32_t client; /* live: for whom, see masu__request */
};

/* Records come in chunks and are used again.
 *     records in all chunks = spare_count + records in use */
typedef struct masu__block_store {
    masu__block_chunk *chunks;
    masu__block *spare;
    size_t spare_count;
    size_t chunk_count;
} masu__block_store;

/* Makes sure that the next count takes succeed. False when there is no memory. */
bool masu__block_store_reserve(masu__block_store *store, size_t count);

/* A record with everything zero but its state, which the caller sets. Room must be reserved. */
masu__block *masu__block_take(masu__block_store *store);
void masu__block_put_back(masu__block_store *store, masu__block *block);

/* Frees chunks without a record in use, O(records). */
void masu__block_store_shrink(masu__block_store *store);
void masu__block_store_destroy(masu__block_store *store);
size_t masu__block_store_bytes(const masu__block_store *store);

/* Chain surgery. cut: block keeps its first bytes, the rest becomes a fresh record behind it
 * (state and sizes are the caller's to set). join: block swallows the one behind it, whose record
 * is put back. */
masu__block *masu__block_cut(masu__block_store *store, masu__block *block, size_t bytes);
void masu__block_join_after(masu__block_store *store, masu__block *block);

static inline bool masu__block_is_live(const masu__block *block) {
    return block->state == MASU__BLOCK_LIVE || block->state == MASU__BLOCK_SEALED;
}

#endif
