/* vm.c: taking, giving and resizing blocks. Each operation is the list of steps of vm_pool.h. */
#include "allocators/vm/vm_pool.h"

#include "base/assert.h"
#include "base/meta.h"
#include "base/size.h"

/* ---- shared ------------------------------------------------------------------------------------------ */

bool masu__vm_round(const masu_vm *vm, size_t bytes, size_t *out) {
    return masu__align_up(bytes, vm->granule, out);
}

masu_status masu__vm_find(masu_vm *vm, const void *ptr, masu__segment **out) {
    masu__segment *segment = masu__space_find(&vm->space, (uintptr_t)ptr);
    if (!segment)
        return MASU_ERR_FOREIGN_POINTER;
    if (segment->state != MASU__SEGMENT_LIVE)
        return MASU_ERR_DOUBLE_FREE;
    if (segment->address != (uintptr_t)ptr)
        return MASU_ERR_INTERIOR_POINTER;
    *out = segment;
    return MASU_OK;
}

void masu__vm_uncount(masu_vm *vm, const masu__segment *segment) {
    vm->stats.user_bytes -= segment->user_bytes;
    vm->stats.mapped_bytes -= segment->pieces.bytes;
    vm->mapped_pieces -= segment->pieces.count;
}

void masu__vm_count(masu_vm *vm, const masu__segment *segment) {
    masu_vm_stats *stats = &vm->stats;
    stats->user_bytes += segment->user_bytes;
    stats->mapped_bytes += segment->pieces.bytes;
    vm->mapped_pieces += segment->pieces.count;
    if (stats->user_bytes > stats->peak_user_bytes)
        stats->peak_user_bytes = stats->user_bytes;
    if (stats->mapped_bytes > stats->peak_mapped_bytes)
        stats->peak_mapped_bytes = stats->mapped_bytes;
    if (segment->pieces.count > stats->most_pieces)
        stats->most_pieces = segment->pieces.count;
}

void masu__vm_note_held(masu_vm *vm) {
    if (vm->stats.held_bytes > vm->stats.peak_held_bytes)
        vm->stats.peak_held_bytes = vm->stats.held_bytes;
}

masu_status masu__vm_refuse(masu_vm *vm, const masu_vm_stats *before, size_t bytes, masu_status status) {
    vm->stats.stock_exact = before->stock_exact;
    vm->stats.stock_fragments = before->stock_fragments;
    vm->stats.stock_cut = before->stock_cut;
    vm->stats.fragments_rejected = before->fragments_rejected;
    vm->stats.failures++;
    if (masu__trace_wanted(vm->trace))
        masu__vm_emit(vm, MASU_EVENT_REFUSED, 0, bytes, 0, 0, 0);
    return status;
}

static size_t wish_of(const masu_vm *vm, size_t bytes) {
    return bytes >= vm->large ? vm->large : 0;
}

/* Addresses; when there are none, what is stuck is cleared and they are asked for again. */
static masu_status take_space(masu_vm *vm, size_t bytes, size_t alignment, bool growable, masu__segment **out) {
    if (!masu__space_reserve(&vm->space, 4))
        return MASU_ERR_OUT_OF_MEMORY;
    *out = masu__space_take(&vm->space, bytes, alignment, growable, wish_of(vm, bytes));
    if (!*out && vm->stuck_pieces > 0) {
        masu__vm_mend(vm);
        *out = masu__space_take(&vm->space, bytes, alignment, growable, wish_of(vm, bytes));
    }
    return *out ? MASU_OK : MASU_ERR_ADDRESS_SPACE;
}

/* Gathers bytes and maps them from address on, where existing pieces of the block end. On failure
 * everything is back; *broken says that the segment from address on is lost. */
static masu_status supply(masu_vm *vm, masu__segment *segment, uintptr_t address, size_t bytes, masu__piece_list *list,
                          bool *broken) {
    *broken = false;
    masu_status status = masu__vm_gather(vm, bytes, list);
    if (status != MASU_OK)
        return status;
    if (!masu__vm_reserve_run(vm, segment->pieces.count + list->count))
        status = MASU_ERR_OUT_OF_MEMORY;
    else
        status = masu__vm_map_run(vm, segment, address, list, broken);
    if (status != MASU_OK)
        masu__vm_ungather(vm, list);
    return status;
}

/* ---- alloc ------------------------------------------------------------------------------------------- */

typedef struct request {
    size_t bytes, reserve_bytes, alignment; /* bytes may be 0, the other two are rounded */
    bool growable;
    uint64_t owner;
} request;

static masu_status take_block(masu_vm *vm, const request *wanted, masu__segment **out) {
    size_t mapped;
    bool broken = false;
    masu__segment *segment;
    masu__piece_list list = {0};
    if (!masu__vm_round(vm, wanted->bytes, &mapped))
        return MASU_ERR_OVERFLOW;
    masu_status status = take_space(vm, wanted->reserve_bytes, wanted->alignment, wanted->growable, &segment);
    if (status != MASU_OK)
        return status;
    uint64_t created = vm->stats.pieces_created;
    status = supply(vm, segment, segment->address, mapped, &list, &broken);
    if (status != MASU_OK) {
        if (!broken)
            masu__space_give(&vm->space, segment);
        return status;
    }
    masu__list_move(&segment->pieces, &list, MASU__PIECE_BLOCK);
    *(vm->stats.pieces_created == created ? &vm->stats.hot_allocs : &vm->stats.cold_allocs) += 1;
    *out = segment;
    return MASU_OK;
}

static masu_status alloc_locked(masu_vm *vm, const request *wanted, void **out) {
    masu_vm_stats before = vm->stats;
    masu__segment *segment;
    masu_status status = take_block(vm, wanted, &segment);
    if (status != MASU_OK)
        return masu__vm_refuse(vm, &before, wanted->bytes, status);
    segment->user_bytes = wanted->bytes;
    segment->kept_bytes = wanted->growable ? wanted->reserve_bytes : 0;
    segment->owner = wanted->owner;
    segment->serial = ++vm->serial;
    masu__vm_count(vm, segment);
    vm->stats.allocations++;
    if (masu__trace_wanted(vm->trace))
        masu__vm_emit(vm, MASU_EVENT_ALLOC, segment->address, wanted->bytes, segment->bytes, wanted->alignment,
                      wanted->owner);
    *out = (void *)segment->address;
    return MASU_OK;
}

static masu_status alloc(masu_vm *vm, request *wanted, size_t alignment, void **out) {
    if (vm->magic != MASU__VM_LIVE)
        return MASU_ERR_STALE_POOL;
    if (alignment != 0 && !masu__is_power_of_two(alignment))
        return MASU_ERR_INVALID_ARGUMENT;
    wanted->alignment = masu__max(alignment, vm->granule);
    size_t reserve, sum;
    bool fits = masu__vm_round(vm, masu__max(wanted->bytes, wanted->reserve_bytes), &reserve) &&
                masu__add(reserve, wanted->alignment, &sum);
    masu__vm_lock(vm);
    MASU_HEAVY_ASSERT(masu__vm_audit(vm));
    wanted->reserve_bytes = fits ? reserve : 0;
    masu_vm_stats before = vm->stats;
    masu_status status = fits ? alloc_locked(vm, wanted, out)
                              : masu__vm_refuse(vm, &before, wanted->bytes, MASU_ERR_OVERFLOW);
    MASU_HEAVY_ASSERT(masu__vm_audit(vm));
    masu__vm_unlock(vm);
    return status;
}

masu_status masu_vm_alloc(masu_vm *vm, size_t bytes, size_t alignment, uint64_t owner, void **out) {
    if (!out)
        return MASU_ERR_INVALID_ARGUMENT;
    *out = NULL;
    if (!vm || (alignment != 0 && !masu__is_power_of_two(alignment)))
        return MASU_ERR_INVALID_ARGUMENT;
    if (bytes == 0)
        return MASU_OK;
    request wanted = {.bytes = bytes, .owner = owner};
    return alloc(vm, &wanted, alignment, out);
}

masu_status masu_vm_reserve_growable(masu_vm *vm, size_t bytes, size_t reserve_bytes, uint64_t owner, void **out) {
    if (!out)
        return MASU_ERR_INVALID_ARGUMENT;
    *out = NULL;
    if (!vm || (bytes == 0 && reserve_bytes == 0))
        return MASU_ERR_INVALID_ARGUMENT;
    request wanted = {.bytes = bytes, .reserve_bytes = reserve_bytes, .growable = true, .owner = owner};
    return alloc(vm, &wanted, 0, out);
}

/* ---- free -------------------------------------------------------------------------------------------- */

static masu_status free_locked(masu_vm *vm, void *ptr) {
    masu__segment *segment;
    masu_status status = masu__vm_find(vm, ptr, &segment);
    if (status != MASU_OK)
        return status;
    if (segment->pieces.count > 0)
        status = masu__device_wait(vm->device);
    if (status == MASU_OK)
        status = masu__vm_discard_run(vm, segment->address, segment->pieces.first);
    if (status != MASU_OK)
        return status;
    masu__vm_uncount(vm, segment);
    if (masu__trace_wanted(vm->trace))
        masu__vm_emit(vm, MASU_EVENT_FREE, segment->address, segment->user_bytes, segment->bytes, 0, segment->owner);
    masu__vm_emit_run(vm, MASU_EVENT_UNMAP, segment->address, segment->pieces.first);
    masu__piece_list freed = {0};
    masu__list_move(&freed, &segment->pieces, MASU__PIECE_TRANSIT);
    masu__space_give(&vm->space, segment);
    vm->stats.frees++;
    masu__vm_store(vm, &freed);
    return MASU_OK;
}

masu_status masu_vm_free(masu_vm *vm, void *ptr) {
    if (!vm)
        return MASU_ERR_INVALID_ARGUMENT;
    if (vm->magic != MASU__VM_LIVE)
        return MASU_ERR_STALE_POOL;
    if (!ptr)
        return MASU_OK;
    masu__vm_lock(vm);
    MASU_HEAVY_ASSERT(masu__vm_audit(vm));
    masu_status status = free_locked(vm, ptr);
    MASU_HEAVY_ASSERT(masu__vm_audit(vm));
    masu__vm_unlock(vm);
    return status;
}

/* ---- resize ------------------------------------------------------------------------------------------ */

static void emit_resize(masu_vm *vm, const masu__segment *segment) {
    if (masu__trace_wanted(vm->trace))
        masu__vm_emit(vm, MASU_EVENT_RESIZE, segment->address, segment->user_bytes, segment->bytes, 0, segment->owner);
}

/* The first piece that lies at or behind `keep`, and *at where; NULL when there is none. The piece
 * across that border is cut where the device can: then *cut is its first half. */
static masu_status find_tail(masu_vm *vm, masu__segment *segment, size_t keep, masu__vm_piece **tail, size_t *at,
                             masu__vm_piece **cut) {
    size_t start = segment->pieces.bytes;
    masu__vm_piece *piece = segment->pieces.last;
    *cut = NULL;
    while (piece && start - piece->piece.bytes >= keep) {
        start -= piece->piece.bytes;
        piece = piece->before;
    }
    if (start > keep && (vm->device->info.flags & MASU_DEVICE_DIVISIBLE)) {
        if (!masu__vm_reserve_run(vm, segment->pieces.count + 1))
            return MASU_ERR_OUT_OF_MEMORY;
        size_t first_bytes = keep - (start - piece->piece.bytes);
        masu_status status = masu__vm_cut_mapped(vm, segment, piece, first_bytes);
        if (status != MASU_OK)
            return status;
        vm->mapped_pieces++;
        *cut = piece;
        start = keep;
    }
    *tail = piece ? piece->next : segment->pieces.first;
    *at = start;
    return MASU_OK;
}

static masu_status shrink(masu_vm *vm, masu__segment *segment, size_t bytes, size_t mapped) {
    masu__vm_piece *tail, *cut;
    size_t at;
    if (!masu__space_reserve(&vm->space, 2))
        return MASU_ERR_OUT_OF_MEMORY;
    masu_status status = find_tail(vm, segment, mapped, &tail, &at, &cut);
    if (status == MASU_OK && tail) {
        status = masu__device_wait(vm->device);
        if (status == MASU_OK)
            status = masu__vm_discard_run(vm, segment->address + at, tail);
        if (status != MASU_OK && cut) {
            size_t count = segment->pieces.count;
            masu__vm_join_mapped(vm, segment, cut);
            vm->mapped_pieces -= count - segment->pieces.count;
        }
    }
    if (status != MASU_OK)
        return status;
    masu__vm_uncount(vm, segment);
    segment->user_bytes = bytes;
    emit_resize(vm, segment);
    masu__vm_emit_run(vm, MASU_EVENT_UNMAP, segment->address + at, tail);
    masu__piece_list freed = {0};
    masu__list_move_tail(&freed, &segment->pieces, tail, MASU__PIECE_TRANSIT);
    size_t reserved = masu__max(masu__max(segment->kept_bytes, segment->pieces.bytes), vm->granule);
    /* A block without memory keeps its addresses: it was put aside, and comes back at the same place. */
    if (bytes > 0 && reserved < segment->bytes)
        masu__space_resize(&vm->space, segment, reserved);
    emit_resize(vm, segment);
    masu__vm_count(vm, segment);
    vm->stats.shrunk++;
    masu__vm_store(vm, &freed);
    return MASU_OK;
}

static masu_status grow_in_place(masu_vm *vm, masu__segment *segment, size_t bytes, size_t mapped,
                                 size_t old_reserved) {
    masu__piece_list list = {0};
    bool broken = false;
    masu__vm_uncount(vm, segment);
    masu_status status = supply(vm, segment, segment->address + segment->pieces.bytes, mapped - segment->pieces.bytes,
                                &list, &broken);
    if (status == MASU_OK) {
        masu__list_move(&segment->pieces, &list, MASU__PIECE_BLOCK);
        segment->user_bytes = bytes;
        vm->stats.grown_in_place++;
        emit_resize(vm, segment);
    } else if (!broken) {
        masu__space_resize(&vm->space, segment, old_reserved);
    }
    masu__vm_count(vm, segment);
    return status;
}

/* Step 5 of growing elsewhere, and what follows when it succeeds. */
static void settle(masu_vm *vm, masu__segment *old, masu__segment *fresh, masu__piece_list *added, size_t bytes) {
    masu__vm_uncount(vm, old);
    if (masu__trace_wanted(vm->trace))
        masu__vm_emit(vm, MASU_EVENT_FREE, old->address, old->user_bytes, old->bytes, 0, old->owner);
    masu__vm_emit_run(vm, MASU_EVENT_UNMAP, old->address, old->pieces.first);
    masu__vm_emit_run(vm, MASU_EVENT_MAP, fresh->address, old->pieces.first);
    masu__list_move(&fresh->pieces, &old->pieces, MASU__PIECE_BLOCK);
    masu__list_move(&fresh->pieces, added, MASU__PIECE_BLOCK);
    fresh->user_bytes = bytes;
    fresh->kept_bytes = old->kept_bytes;
    fresh->owner = old->owner;
    fresh->serial = old->serial;
    if (masu__trace_wanted(vm->trace))
        masu__vm_emit(vm, MASU_EVENT_ALLOC, fresh->address, bytes, fresh->bytes, vm->granule, fresh->owner);
    masu__vm_count(vm, fresh);
    masu__space_give(&vm->space, old);
    vm->stats.grown_elsewhere++;
}

static masu_status grow_elsewhere(masu_vm *vm, masu__segment *old, size_t bytes, size_t mapped, masu__segment **out) {
    masu__segment *fresh;
    masu__piece_list added = {0};
    bool broken = false;
    masu_status status = take_space(vm, mapped, vm->granule, true, &fresh);
    if (status != MASU_OK)
        return status;
    uintptr_t end = fresh->address + old->pieces.bytes;
    if (!masu__vm_reserve_run(vm, old->pieces.count))
        status = MASU_ERR_OUT_OF_MEMORY;
    else
        status = supply(vm, fresh, end, mapped - old->pieces.bytes, &added, &broken);
    if (status == MASU_OK && !masu__vm_reserve_run(vm, old->pieces.count + added.count))
        status = MASU_ERR_OUT_OF_MEMORY;
    if (status == MASU_OK && old->pieces.count > 0)
        status = masu__device_wait(vm->device);
    if (status == MASU_OK)
        status = masu__vm_remap_run(vm, old->address, fresh->address, &old->pieces);
    if (status == MASU_OK) {
        settle(vm, old, fresh, &added, bytes);
        *out = fresh;
        return MASU_OK;
    }
    if (added.count > 0) {
        masu__vm_undo_map(vm, fresh, end, &added);
        masu__vm_ungather(vm, &added);
    }
    /* After a broken tail the segment's beginning is whole, if there is one. */
    if (status == MASU_ERR_CORRUPT)
        masu__space_break(&vm->space, fresh);
    else if (fresh->state == MASU__SEGMENT_LIVE)
        masu__space_give(&vm->space, fresh);
    return status == MASU_ERR_CORRUPT ? MASU_ERR_DEVICE_FAILURE : status;
}

static masu_status grow(masu_vm *vm, masu__segment *segment, size_t bytes, size_t mapped, masu__segment **out) {
    size_t reserved = segment->bytes;
    if (!masu__space_reserve(&vm->space, 4))
        return MASU_ERR_OUT_OF_MEMORY;
    if (reserved >= mapped || masu__space_resize(&vm->space, segment, mapped))
        return grow_in_place(vm, segment, bytes, mapped, reserved);
    return grow_elsewhere(vm, segment, bytes, mapped, out);
}

static masu_status resize_locked(masu_vm *vm, void *ptr, size_t bytes, void **out) {
    masu__segment *segment;
    size_t mapped;
    masu_status status = masu__vm_find(vm, ptr, &segment);
    if (status != MASU_OK)
        return status;
    masu_vm_stats before = vm->stats;
    if (!masu__vm_round(vm, bytes, &mapped))
        return masu__vm_refuse(vm, &before, bytes, MASU_ERR_OVERFLOW);
    if (mapped > segment->pieces.bytes)
        status = grow(vm, segment, bytes, mapped, &segment);
    else if (bytes < segment->user_bytes)
        status = shrink(vm, segment, bytes, mapped);
    else if (bytes > segment->user_bytes) {
        masu__vm_uncount(vm, segment);
        segment->user_bytes = bytes;
        masu__vm_count(vm, segment);
        vm->stats.grown_in_place++;
        emit_resize(vm, segment);
    }
    if (status != MASU_OK)
        return masu__vm_refuse(vm, &before, bytes, status);
    *out = (void *)segment->address;
    return MASU_OK;
}

masu_status masu_vm_resize(masu_vm *vm, void *ptr, size_t bytes, void **out) {
    if (!out)
        return MASU_ERR_INVALID_ARGUMENT;
    *out = ptr;
    if (!vm || !ptr)
        return MASU_ERR_INVALID_ARGUMENT;
    if (vm->magic != MASU__VM_LIVE)
        return MASU_ERR_STALE_POOL;
    masu__vm_lock(vm);
    MASU_HEAVY_ASSERT(masu__vm_audit(vm));
    masu_status status = resize_locked(vm, ptr, bytes, out);
    MASU_HEAVY_ASSERT(masu__vm_audit(vm));
    masu__vm_unlock(vm);
    return status;
}
