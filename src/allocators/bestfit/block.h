/* block.h: the records of the best-fit pool, in one table.
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
 *
 * A record is one cache line and is named by its place in the table, four bytes instead of eight:
 * a call touches few lines, and reading them is most of what it costs. Record 0 belongs to no
 * block. It takes the place of the neighbour that a block at a border lacks and of the child that a
 * tree lacks, so that links can be written without asking whether they exist.
 *
 * Live blocks are found by address: each hangs in the chain of its home.
 *
 *     homes  ┌───┬───┬───┬───┐          home = hash of the address
 *            │ 7 │ 0 │ 3 │ 0 │          7 ─next─► 12 ─next─► 0
 *            └───┴───┴───┴───┘
 *
 *     used = records ever used; ids 1 … used are free, live or in the list of spare ones
 *     room = capacity - 1 - used + spare ones;   number of homes >= capacity, a power of two
 */
#ifndef MASU_BLOCK_H
#define MASU_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/assert.h"

enum { MASU__GRAIN = 64, MASU__GRAIN_SHIFT = 6 };

/* The purpose of a region, in a pool that keeps slabs apart; in any other all regions are for blocks. */
enum { MASU__GROUND_BLOCKS, MASU__GROUND_SLABS, MASU__GROUNDS };

typedef uint32_t masu__block_id; /* 0: none */

typedef struct masu__region {
    uintptr_t base;
    size_t bytes;         /* as the device gave them */
    masu__block_id first; /* the block at base */
    bool whole;           /* never split: one block, live or MASU__BLOCK_WHOLE */
    bool carried;         /* whole, and goes back to the device when its block is freed */
    uint64_t free_since;  /* wholly free: the pool's serial when it became so */
    uint32_t ground;      /* MASU__GROUND_BLOCKS or MASU__GROUND_SLABS */
    uintptr_t used_end;   /* no byte from here on was in a block since the device gave the region, or it was emptied */
} masu__region;

typedef enum masu__block_state {
    MASU__BLOCK_SPARE, /* not in use; record 0 too */
    MASU__BLOCK_FREE,  /* in the free index */
    MASU__BLOCK_WHOLE, /* free, a region that is never split: not in the index */
    MASU__BLOCK_LIVE,  /* in the chain of its home, owned by a caller */
    MASU__BLOCK_SEALED /* in that chain, owned by the bucket pool: no caller may free it */
} masu__block_state;

typedef struct masu__block {
    uintptr_t address;
    size_t bytes;
    masu__block_id before, after; /* neighbours in the same region, 0 at its borders */
    masu__block_id next;          /* live: in the chain of its home; spare: in the list */
    uint32_t client;              /* live: for whom, see masu__request */
    union {
        struct {
            masu__block_id child[2], parent; /* see free_index.h */
            uint32_t bin;
            uint64_t key;
        } free;
        struct {
            size_t requested; /* <= bytes */
            uint64_t owner;
            uint64_t serial;
        } live;
    } as;
    masu__block_state state;
    uint16_t ground; /* its region's */
    bool clean;      /* free: its pages went back, and nothing was in them since */
    uint8_t age;     /* free: how often masu__bestfit_age met it, or its larger part; live: 0 */
} masu__block;

_Static_assert(sizeof(masu__block) == 64, "a record is one cache line");

typedef struct masu__block_table {
    masu__block *at;   /* aligned to 64; NULL before the first reserve */
    uint32_t capacity; /* records in at, the one of id 0 included */
    uint32_t used;
    uint32_t room; /* takes that will succeed */
    masu__block_id spare;
    masu__block_id *homes; /* heads of chains; capacity rounded up to a power of two of them */
    unsigned down;         /* 64 - log2(number of homes): what a hash is shifted by */
    void *memory;          /* at lies in it */
} masu__block_table;

/* Makes sure that the next count takes succeed. Records may move: pointers to them are void. False
 * when there is no memory. */
bool masu__blocks_grow(masu__block_table *table, uint32_t count);

static inline bool masu__blocks_reserve(masu__block_table *table, uint32_t count) {
    return MASU_LIKELY(table->room >= count) || masu__blocks_grow(table, count);
}

/* A record whose state is SPARE and whose other contents are unknown. Room must be reserved. */
static inline masu__block_id masu__blocks_take(masu__block_table *table) {
    MASU_DEBUG_ASSERT(table->room > 0);
    table->room--;
    masu__block_id id = table->spare;
    if (MASU_UNLIKELY(id == 0)) {
        table->at[++table->used].state = MASU__BLOCK_SPARE;
        return table->used;
    }
    table->spare = table->at[id].next;
    return id;
}

static inline void masu__blocks_put_back(masu__block_table *table, masu__block_id id) {
    table->at[id].state = MASU__BLOCK_SPARE;
    table->at[id].next = table->spare;
    table->spare = id;
    table->room++;
}

/* Free and live ones. */
static inline uint32_t masu__blocks_in_use(const masu__block_table *table) {
    return table->capacity ? table->capacity - 1 - table->room : 0;
}

/* ---- live blocks by address ------------------------------------------------------------------ */

static inline masu__block_id *masu__blocks_home(const masu__block_table *table, uintptr_t address) {
    uint64_t hash = (uint64_t)(address >> MASU__GRAIN_SHIFT) * 0x9e3779b97f4a7c15u;
    return &table->homes[hash >> table->down];
}

static inline void masu__blocks_enter(masu__block_table *table, masu__block_id id) {
    masu__block_id *home = masu__blocks_home(table, table->at[id].address);
    table->at[id].next = *home;
    *home = id;
}

/* The link that holds the id of the live block at address; it holds 0 when there is none. The
 * table must have homes. */
static inline masu__block_id *masu__blocks_link(const masu__block_table *table, uintptr_t address) {
    masu__block_id *link = masu__blocks_home(table, address);
    while (*link && table->at[*link].address != address)
        link = &table->at[*link].next;
    return link;
}

static inline void masu__blocks_leave(masu__block_table *table, masu__block_id *link) {
    *link = table->at[*link].next;
}

/* 0 when no live block begins there. */
static inline masu__block_id masu__blocks_find(const masu__block_table *table, uintptr_t address) {
    return table->homes ? *masu__blocks_link(table, address) : 0;
}

/* No block is live any more. The records are the caller's to change. */
void masu__blocks_forget_live(masu__block_table *table);

/* ---- chains ---------------------------------------------------------------------------------- */

/* The block keeps its first bytes, the rest becomes a block of its own behind it, whose state the
 * caller sets. Room must be reserved. */
static inline masu__block_id masu__blocks_cut(masu__block_table *table, masu__block_id id, size_t bytes) {
    masu__block_id rest_id = masu__blocks_take(table);
    masu__block *block = &table->at[id], *rest = &table->at[rest_id];
    MASU_DEBUG_ASSERT(bytes > 0 && bytes < block->bytes);
    rest->address = block->address + bytes;
    rest->bytes = block->bytes - bytes;
    rest->ground = block->ground;
    rest->clean = block->clean;
    rest->age = block->age;
    rest->before = id;
    rest->after = block->after;
    table->at[rest->after].before = rest_id;
    block->after = rest_id;
    block->bytes = bytes;
    return rest_id;
}

/* The block swallows the one behind it. */
static inline void masu__blocks_join_after(masu__block_table *table, masu__block_id id) {
    masu__block *block = &table->at[id];
    masu__block_id swallowed = block->after;
    if (table->at[swallowed].bytes > block->bytes)
        block->age = table->at[swallowed].age;
    block->bytes += table->at[swallowed].bytes;
    block->clean &= table->at[swallowed].clean;
    block->after = table->at[swallowed].after;
    table->at[block->after].before = id;
    masu__blocks_put_back(table, swallowed);
}

static inline bool masu__block_is_live(const masu__block *block) {
    return block->state >= MASU__BLOCK_LIVE;
}

/* ---- the table as a whole -------------------------------------------------------------------- */

/* moved(context, block, id): the block, first in its region, is now called id. */
typedef void (*masu__block_moved)(void *context, const masu__block *block, masu__block_id id);

/* Gives memory back that the records in use do not need. When true, ids have changed: the caller
 * builds again whatever holds others than the table and moved() know of. O(records). */
bool masu__blocks_shrink(masu__block_table *table, masu__block_moved moved, void *context);
void masu__blocks_destroy(masu__block_table *table);
size_t masu__blocks_bytes(const masu__block_table *table);
/* Spare records and homes, against the equations above. O(records). */
bool masu__blocks_valid(const masu__block_table *table);

#endif
