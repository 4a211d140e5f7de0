/* live_table.h: the blocks that are live at one moment of a recording, by pool and address.
 *
 *     heads[hash] ─► node ─► node        and for each pool a ring of its nodes, so that a reset costs what it frees
 *
 * A recording may say anything: an address may be taken twice, and a block freed that is not there. Everything is O(1)
 * expected.
 */
#ifndef MASU_RECORDING_LIVE_TABLE_H
#define MASU_RECORDING_LIVE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct masu__live_block {
    uint64_t address;
    uint64_t bytes, given_bytes; /* now */
    uint32_t pool;
    uint32_t alloc;        /* number of the event that began it */
    uint32_t chain;        /* next of the same hash, or of the free nodes; 0: none */
    uint32_t next, before; /* of the same pool; 0: none */
} masu__live_block;

/* Zero-initialise. Node 0 is never used. */
typedef struct masu__live_table {
    masu__live_block *nodes;
    uint32_t *heads; /* head_count, a power of two */
    uint32_t *pools; /* first node of each pool */
    uint32_t node_count, node_capacity, head_count, pool_count, free;
    uint32_t live;
} masu__live_table;

/* NULL: there is none. Valid until the next put. */
masu__live_block *masu__live_find(const masu__live_table *table, uint32_t pool, uint64_t address);
/* NULL: memory ran out, nothing has changed. There must be none at that place. */
masu__live_block *masu__live_put(masu__live_table *table, masu__live_block block);
void masu__live_drop(masu__live_table *table, masu__live_block *block);
/* Any block of the pool; NULL: it has none. */
masu__live_block *masu__live_any(const masu__live_table *table, uint32_t pool);
void masu__live_destroy(masu__live_table *table);

#endif
