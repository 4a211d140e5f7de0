/* mapping.c: pieces into addresses and out again, with the way back of each step. */
#include "allocators/vm/vm_pool.h"

#include "base/assert.h"
#include "base/meta.h"
#include "base/size.h"

/* Cold: the question before it costs the way without a trace nothing but a branch. */
__attribute__((cold, noinline)) void masu__vm_emit(masu_vm *vm, masu_event_kind kind, uintptr_t address, size_t bytes,
                                                   size_t block_bytes, size_t alignment, uint64_t owner) {
    masu__trace_emit(vm->trace, (masu_event){
                                    .address = address,
                                    .bytes = bytes,
                                    .block_bytes = block_bytes,
                                    .alignment_bytes = alignment,
                                    .owner = owner,
                                    .pool = vm->number,
                                    .kind = kind,
                                });
}

void masu__vm_emit_run(masu_vm *vm, masu_event_kind kind, uintptr_t address, const masu__vm_piece *first) {
    if (!masu__trace_wanted(vm->trace))
        return;
    for (const masu__vm_piece *piece = first; piece; piece = piece->next) {
        masu__vm_emit(vm, kind, address, piece->piece.bytes, 0, 0, piece->serial);
        address += piece->piece.bytes;
    }
}

bool masu__vm_reserve_run(masu_vm *vm, size_t pieces) {
    if (pieces <= vm->run_capacity)
        return true;
    size_t capacity = masu__max(pieces, 2 * vm->run_capacity);
    masu__piece *run = masu__meta_realloc(vm->run, vm->run_capacity * sizeof *run, capacity * sizeof *run);
    if (!run)
        return false;
    vm->run = run;
    vm->run_capacity = capacity;
    return true;
}

/* The scratch holds up to `most` pieces from first on; returns how many. */
static size_t fill_run(masu_vm *vm, const masu__vm_piece *first, size_t most) {
    size_t count = 0;
    for (const masu__vm_piece *piece = first; piece && count < most; piece = piece->next) {
        MASU_ASSERT(count < vm->run_capacity);
        vm->run[count++] = piece->piece;
    }
    return count;
}

/* ---- whole runs ------------------------------------------------------------------------------------- */

masu_status masu__vm_unmap_run(masu_vm *vm, uintptr_t address, const masu__vm_piece *first) {
    size_t count = fill_run(vm, first, SIZE_MAX);
    return count ? masu__device_unmap(vm->device, (void *)address, vm->run, count) : MASU_OK;
}

masu_status masu__vm_discard_run(masu_vm *vm, uintptr_t address, const masu__vm_piece *first) {
    size_t count = fill_run(vm, first, SIZE_MAX);
    return count ? masu__device_discard(vm->device, (void *)address, vm->run, count) : MASU_OK;
}

masu_status masu__vm_remap_run(masu_vm *vm, uintptr_t from, uintptr_t to, const masu__piece_list *list) {
    size_t count = fill_run(vm, list->first, SIZE_MAX);
    return count ? masu__device_remap(vm->device, (void *)from, (void *)to, vm->run, count) : MASU_OK;
}

/* ---- mapping, and what is stuck ---------------------------------------------------------------------- */

/* An empty block whose pieces can neither be used nor taken out keeps them: they count as its memory
 * and are given access again when it grows. */
static void adopt(masu__segment *segment, masu__piece_list *list, size_t stuck) {
    for (size_t i = 0; i < stuck; i++) {
        masu__vm_piece *piece = list->first;
        masu__list_remove(list, piece);
        masu__list_append(&segment->pieces, piece, MASU__PIECE_BLOCK);
    }
    segment->no_access = true;
}

/* The segment from address on is no longer usable; the first `stuck` pieces of the list stay there. */
static void set_aside(masu_vm *vm, masu__segment *segment, uintptr_t address, masu__piece_list *list, size_t stuck) {
    masu__segment *broken = segment;
    if (address == segment->address && segment->serial != 0) {
        adopt(segment, list, stuck);
        return;
    }
    if (address > segment->address)
        broken = masu__space_break_tail(&vm->space, segment, address);
    else
        masu__space_break(&vm->space, segment);
    segment->kept_bytes = masu__min(segment->kept_bytes, segment->bytes);
    for (size_t i = 0; i < stuck; i++) {
        masu__vm_piece *piece = list->first;
        masu__list_remove(list, piece);
        masu__list_append(&broken->pieces, piece, MASU__PIECE_STUCK);
        vm->stuck_pieces++;
        vm->stuck_bytes += piece->piece.bytes;
        piece->created = false;
        piece->cut_from = NULL;
    }
}

/* Takes the first `mapped` pieces out again. */
static bool undo_part(masu_vm *vm, masu__segment *segment, uintptr_t address, masu__piece_list *list, size_t mapped) {
    size_t count = fill_run(vm, list->first, mapped);
    if (count == 0)
        return true;
    if (masu__device_unmap(vm->device, (void *)address, vm->run, count) != MASU_OK) {
        set_aside(vm, segment, address, list, count);
        return false;
    }
    uintptr_t at = address;
    const masu__vm_piece *piece = list->first;
    for (size_t i = 0; i < count; i++, piece = piece->next) {
        if (masu__trace_wanted(vm->trace))
            masu__vm_emit(vm, MASU_EVENT_UNMAP, at, piece->piece.bytes, 0, 0, piece->serial);
        at += piece->piece.bytes;
    }
    return true;
}

bool masu__vm_undo_map(masu_vm *vm, masu__segment *segment, uintptr_t address, masu__piece_list *list) {
    return undo_part(vm, segment, address, list, list->count);
}

masu_status masu__vm_map_run(masu_vm *vm, masu__segment *segment, uintptr_t address, masu__piece_list *list,
                             bool *broken) {
    masu_status status = MASU_OK;
    uintptr_t at = address;
    size_t mapped = 0;
    *broken = false;
    for (masu__vm_piece *piece = list->first; piece; piece = piece->next) {
        status = masu__device_map(vm->device, (void *)at, piece->piece);
        if (status != MASU_OK)
            break;
        if (masu__trace_wanted(vm->trace))
            masu__vm_emit(vm, MASU_EVENT_MAP, at, piece->piece.bytes, 0, 0, piece->serial);
        at += piece->piece.bytes;
        mapped++;
    }
    uintptr_t from = segment->no_access ? segment->address : address;
    if (status == MASU_OK && mapped > 0)
        status = masu__device_access(vm->device, (void *)from, (size_t)(at - from));
    if (status == MASU_OK) {
        segment->no_access = false;
        return MASU_OK;
    }
    *broken = !undo_part(vm, segment, address, list, mapped);
    if (status == MASU_ERR_CORRUPT && !*broken) {
        set_aside(vm, segment, address, list, 0);
        *broken = true;
    }
    return status == MASU_ERR_CORRUPT ? MASU_ERR_DEVICE_FAILURE : status;
}

static void mend_one(masu_vm *vm, masu__segment *segment) {
    if (masu__vm_discard_run(vm, segment->address, segment->pieces.first) != MASU_OK)
        return;
    masu__vm_emit_run(vm, MASU_EVENT_UNMAP, segment->address, segment->pieces.first);
    vm->stuck_pieces -= segment->pieces.count;
    vm->stuck_bytes -= segment->pieces.bytes;
    masu__piece_list freed = {0};
    masu__list_move(&freed, &segment->pieces, MASU__PIECE_TRANSIT);
    masu__space_give(&vm->space, segment);
    masu__vm_store(vm, &freed);
}

void masu__vm_mend(masu_vm *vm) {
    if (vm->stuck_pieces == 0)
        return;
    for (masu__segment *segment = vm->space.first, *next; segment; segment = next) {
        /* The one behind may be swallowed when it is free; what follows that cannot be. */
        next = segment->after;
        if (next && next->state == MASU__SEGMENT_FREE)
            next = next->after;
        if (segment->state == MASU__SEGMENT_BROKEN && segment->pieces.count > 0)
            mend_one(vm, segment);
    }
}
