/* guard.h: guarded mode. Nothing a caller does to a block goes unseen.
 *
 *     from the pools   ┌───────────┬──────────────────────┬───────────┐
 *                      │ red zone  │ the caller's bytes   │ red zone  │
 *                      └───────────┴──────────────────────┴───────────┘
 *                       0xfb …       0xcd … at allocation,  0xfb …
 *                                    0xdd … once freed
 *
 *     live ─free─► quarantine ─(oldest first, over quarantine_bytes)─► back to the pools, and the
 *     record stays among the dead until the address is handed out again or the dead grow too many
 *
 * Freed memory stays in quarantine, filled, and is looked at when it leaves: a byte that changed
 * was written after its free. Red zones are looked at when the block is freed, and by valid.
 * Memory that the processor cannot write has no zones and no fill, everything else as well.
 *
 *     live_bytes = sum of bytes of live records;  every address in one record of `known` at most
 *     held_bytes = sum of what quarantined records took from the pools <= quarantine_bytes,
 *                  or one block that alone is larger
 *
 * Thread safety: the heap's lock around every call.
 */
#ifndef MASU_GUARD_H
#define MASU_GUARD_H

#include <masu/heap.h>

#include "allocators/heap/heap_pool.h"

typedef struct masu__guard masu__guard;

masu_status masu__guard_create(const masu_heap_config *config, bool writable, masu__guard **out);
/* Tells the visitor of each live block; gives nothing back to the pools, which go next. */
void masu__guard_destroy(masu__guard *guard);

masu_status masu__guard_alloc(masu_heap *heap, size_t bytes, size_t alignment, const masu_place *place, void **out);
/* sized false: bytes is not looked at */
masu_status masu__guard_free(masu_heap *heap, void *ptr, bool sized, size_t bytes, const masu_place *place);
masu_status masu__guard_size_of(const masu_heap *heap, const void *ptr, size_t *out_bytes);

/* Gives the quarantine back to the pools. MASU_ERR_CORRUPT: a byte of it was written after its free. */
masu_status masu__guard_flush(masu_heap *heap);
/* The same at the end of the heap, when the zones of what is still live are looked at too. */
masu_status masu__guard_finish(masu_heap *heap);
void masu__guard_adjust(const masu__guard *guard, masu_heap_stats *stats);
void masu__guard_reset_stats(masu__guard *guard);
void masu__guard_reset_peak(masu__guard *guard);
void masu__guard_visit(const masu__guard *guard, masu_heap_visitor visitor, void *context);
void masu__guard_get_fault(const masu__guard *guard, masu_fault *out);
/* How many requests were refused, to be changed. */
uint64_t *masu__guard_failures(masu__guard *guard);
/* Every zone and every quarantined byte is as it was written. */
bool masu__guard_valid(const masu__guard *guard);

#endif
