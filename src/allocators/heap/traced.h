/* told.h: what a trace is told of an allocator that keeps no record of its blocks (arenas, rings): here they are
 * remembered, so that a release can say which blocks it ends.
 *
 *     blocks   [ first … oldest ══════ newest ]      first + i wraps around; only what the trace was told of is here
 *
 * Untraced arenas have none of this and pay nothing. Thread safety: that of the arena.
 */
#ifndef MASU_ALLOCATORS_TOLD_H
#define MASU_ALLOCATORS_TOLD_H

#include "base/trace.h"

typedef struct masu__told_block {
    uintptr_t address;
    size_t bytes;
    uint64_t position; /* as the ring counts; an arena's are 0 */
} masu__told_block;

typedef struct masu__told {
    masu_trace *trace; /* borrowed */
    uint32_t number;
    masu__told_block *blocks;
    size_t first, count, capacity; /* capacity: 0 or a power of two */
} masu__told;

/* NULL: no memory. below: the pool that pieces come from, 0: none. */
masu__told *masu__told_open(masu_trace *trace, const char *layer, const char *name, uint32_t below);
void masu__told_close(masu__told *told); /* NULL is allowed; says nothing */

/* Before a block is cut off: false, and nothing has changed, when there is no memory to remember it in. */
bool masu__told_room(masu__told *told);
void masu__told_block_begins(masu__told *told, const void *address, size_t bytes, size_t alignment, uint64_t position);
/* From the newest on, as long as they lie in [from, to). */
void masu__told_newest_end(masu__told *told, uintptr_t from, uintptr_t to);
/* From the oldest on, as long as they lie before the position. */
void masu__told_oldest_end(masu__told *told, uint64_t position);
void masu__told_all_end(masu__told *told);
void masu__told_refused(const masu__told *told, size_t bytes, size_t alignment);
/* A piece comes, or goes. */
void masu__told_piece(const masu__told *told, bool comes, uintptr_t address, size_t bytes);

#endif
