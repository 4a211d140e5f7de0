/* vm_pool.h: the virtual-memory pool from inside. What masu/vm.h promises is kept by these records:
 *
 *     space   who owns which addresses: segments         stock   pieces that no block uses
 *     a live segment carries the list of its pieces, by address from its beginning without gaps
 *
 *     pieces held = stock + those of live segments + those of broken ones
 *                 = created + cut - released;    in transit: none, outside of an operation
 *
 * An operation goes in five steps, and each has its inverse, so that it can stop anywhere:
 *
 *     1. records      whatever may be needed is asked for          (no inverse: spare records)
 *     2. addresses    space_take, space_resize                     space_give, space_resize
 *     3. pieces       vm_gather: from the stock, created           vm_ungather
 *     4. mapping      vm_map_run: map each, then access            vm_unmap_run
 *     5. the one step that touches what was there before: unmap or remap of a whole run, which
 *        the device does wholly or not at all
 *
 * Behind step 5 nothing can fail. Where an inverse is refused by the device, the segment is broken
 * (space.h) and keeps the pieces that could not be taken out of it.
 */
#ifndef MASU_VM_POOL_H
#define MASU_VM_POOL_H

#include <masu/vm.h>

#include "allocators/vm/space.h"
#include "allocators/vm/stock.h"
#include "base/trace.h"

enum { MASU__VM_LIVE = 0x766d6c76, MASU__VM_DEAD = 0x766d6464 };

struct masu_vm {
    uint32_t magic; /* MASU__VM_LIVE, or MASU__VM_DEAD after destroy */
    bool thread_safe;
    bool by_default;     /* its reservation counts among those that share the process's addresses */
    masu_device *device; /* borrowed */
    masu_trace *trace;   /* borrowed, NULL: none */
    uint32_t number;
    masu__lock lock;
    size_t granule;
    size_t large; /* alignment that makes moves of large blocks cheap; 0: none */
    double fragment_ratio;
    size_t max_cached_bytes, limit_bytes, max_piece_bytes; /* SIZE_MAX: none */
    size_t copy_below_bytes;

    masu__space space;
    masu__stock stock;
    masu__piece *run; /* scratch for calls of the device; capacity >= pieces of any block */
    size_t run_capacity;
    uint64_t serial, piece_serial;
    size_t stuck_pieces, stuck_bytes; /* in broken segments */
    size_t mapped_pieces;             /* in live segments */
    uint64_t pieces_cut;
    size_t audit_pause;
    /* Counters, peaks, user_bytes and mapped_bytes; get_stats derives the rest. */
    masu_vm_stats stats;
};

static inline void masu__vm_lock(masu_vm *vm) {
    if (vm->thread_safe)
        masu__lock_take(&vm->lock);
}

static inline void masu__vm_unlock(masu_vm *vm) {
    if (vm->thread_safe)
        masu__lock_release(&vm->lock);
}

/* All calls below: under the lock. */

/* ---- pieces (gather.c) ---------------------------------------------------------------------------- */

/* Pieces of exactly bytes in all, in transit, behind what list has; on failure list is as before
 * and the pieces are back where they came from. */
masu_status masu__vm_gather(masu_vm *vm, size_t bytes, masu__piece_list *list);
/* The way back of the same operation: what was created is released, what was cut is joined unless a
 * half has moved meanwhile: then the stock has it in two pieces. */
void masu__vm_ungather(masu_vm *vm, masu__piece_list *list);
/* Into the stock for good; then the cap is looked at. */
void masu__vm_store(masu_vm *vm, masu__piece_list *list);
/* Gives pieces back to the device, oldest first, until at most keep_bytes are in the stock. */
masu_status masu__vm_drain(masu_vm *vm, size_t keep_bytes);
/* Cuts a mapped piece of a live segment, so that it ends after first_bytes; *rest follows it in the
 * list. join is the inverse, where the device can. */
masu_status masu__vm_cut_mapped(masu_vm *vm, masu__segment *segment, masu__vm_piece *piece, size_t first_bytes);
void masu__vm_join_mapped(masu_vm *vm, masu__segment *segment, masu__vm_piece *piece);

/* ---- mapping (mapping.c) -------------------------------------------------------------------------- */

/* Room in the scratch for so many pieces. */
bool masu__vm_reserve_run(masu_vm *vm, size_t pieces);
/* Maps the whole list from address on and gives access. On failure nothing is mapped, except that
 * the segment's part may be broken: then *broken is true, and the list is shorter by what is stuck. */
masu_status masu__vm_map_run(masu_vm *vm, masu__segment *segment, uintptr_t address, masu__piece_list *list,
                             bool *broken);
/* Unmaps the pieces from `first` on (which lies at address) to the list's end. */
masu_status masu__vm_unmap_run(masu_vm *vm, uintptr_t address, const masu__vm_piece *first);
/* The same, for pieces whose contents are not wanted: what free, shrinking, trim and destroy do. */
masu_status masu__vm_discard_run(masu_vm *vm, uintptr_t address, const masu__vm_piece *first);
/* Pieces from `from` to `to`, all of the list. */
masu_status masu__vm_remap_run(masu_vm *vm, uintptr_t from, uintptr_t to, const masu__piece_list *list);
/* Undoes map_run of the same operation; false: the segment's part is broken. */
bool masu__vm_undo_map(masu_vm *vm, masu__segment *segment, uintptr_t address, masu__piece_list *list);
/* Tries again to clear broken segments that hold pieces. */
void masu__vm_mend(masu_vm *vm);

void masu__vm_emit(masu_vm *vm, masu_event_kind kind, uintptr_t address, size_t bytes, size_t block_bytes,
                   size_t alignment, uint64_t owner);
/* MAP or UNMAP for each piece from first on. */
void masu__vm_emit_run(masu_vm *vm, masu_event_kind kind, uintptr_t address, const masu__vm_piece *first);

/* ---- blocks (vm.c) ---------------------------------------------------------------------------------- */

/* The live segment that begins at ptr, or what is wrong with ptr. */
masu_status masu__vm_find(masu_vm *vm, const void *ptr, masu__segment **out);
bool masu__vm_round(const masu_vm *vm, size_t bytes, size_t *out);
/* The block's share in the statistics, taken out and put in again around every change. */
void masu__vm_uncount(masu_vm *vm, const masu__segment *segment);
void masu__vm_count(masu_vm *vm, const masu__segment *segment);
/* After an operation that failed: its counters are as before it, but for what the device really did.
 * Counts the refusal and says it in the trace; returns status. */
masu_status masu__vm_refuse(masu_vm *vm, const masu_vm_stats *before, size_t bytes, masu_status status);
void masu__vm_note_held(masu_vm *vm);

bool masu__vm_valid_unlocked(const masu_vm *vm);
/* The same for every call of a heavy build, for large pools every so many calls. */
bool masu__vm_audit(masu_vm *vm);

#endif
