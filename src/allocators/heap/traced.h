/* traced.h: the blocks that a trace has seen of an allocator without a record of its own (arenas, rings): they are
 * remembered, so that a release can say which blocks it ends.
 *
 *     blocks   [ first … oldest ══════ newest ]      first + i wraps around; only blocks that the trace has seen
 *
 * Untraced arenas have none of this and pay nothing. Thread safety: that of the arena.
 */
#ifndef MASU_ALLOCATORS_TRACED_H
#define MASU_ALLOCATORS_TRACED_H

#include "base/trace.h"

typedef struct masu__traced_block {
    uintptr_t address;
    size_t bytes;
    uint64_t position; /* as the ring counts; an arena's are 0 */
} masu__traced_block;

typedef struct masu__traced {
    masu_trace *trace; /* borrowed */
    uint32_t number;
    masu__traced_block *blocks;
    size_t first, count, capacity; /* capacity: 0 or a power of two */
} masu__traced;

/* NULL: no memory. below: the pool that pieces come from, 0: none. */
masu__traced *masu__traced_open(masu_trace *trace, const char *layer, const char *name, uint32_t below);
void masu__traced_close(masu__traced *traced); /* NULL is allowed; says nothing */

/* Before a block is cut off: false, and nothing has changed, when there is no memory to remember it in. */
bool masu__traced_room(masu__traced *traced);
void masu__traced_block_begins(masu__traced *traced, const void *address, size_t bytes, size_t alignment,
                               uint64_t position);
/* From the newest on, as long as they lie in [from, to). */
void masu__traced_newest_end(masu__traced *traced, uintptr_t from, uintptr_t to);
/* From the oldest on, as long as they lie before the position. */
void masu__traced_oldest_end(masu__traced *traced, uint64_t position);
void masu__traced_all_end(masu__traced *traced);
void masu__traced_refused(const masu__traced *traced, size_t bytes, size_t alignment);
/* A piece comes, or goes. */
void masu__traced_piece(const masu__traced *traced, bool comes, uintptr_t address, size_t bytes);

#endif
