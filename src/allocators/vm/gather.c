/* gather.c: where the pieces of a request come from, and where they go.
 *
 *     remaining = request
 *     while remaining > 0:
 *         of exactly `remaining` in the stock?                       take it
 *         largest up to `remaining`, >= ratio * request?             take it
 *         a larger one, and the device can cut?                      cut `remaining` off it
 *         otherwise                                                  create `remaining`
 *                    └─ refused: give the stock back once, create again
 *
 * The ratio is taken of the request and not of what remains: a request is never stitched together
 * from more than 1 / ratio fragments. A piece as large as one that would be created in its place is no
 * fragment: else a limit on the size of pieces would make the stock useless for large requests.
 */
#include "allocators/vm/vm_pool.h"

#include "base/assert.h"
#include "base/meta.h"
#include "base/size.h"

static void emit_piece(masu_vm *vm, masu_event_kind kind, const masu__vm_piece *piece) {
    if (masu__trace_wanted(vm->trace))
        masu__vm_emit(vm, kind, 0, piece->piece.bytes, 0, 0, piece->serial);
}

/* ---- giving back ----------------------------------------------------------------------------------- */

/* piece is in no list. False: the device refused, and the piece is in the stock. */
static masu_status piece_release(masu_vm *vm, masu__vm_piece *piece) {
    masu_status status = masu__device_release(vm->device, piece->piece);
    if (status != MASU_OK) {
        masu__stock_put(&vm->stock, piece);
        return status;
    }
    emit_piece(vm, MASU_EVENT_PIECE_DROP, piece);
    vm->stats.held_bytes -= piece->piece.bytes;
    vm->stats.pieces_released++;
    masu__meta_free(piece, sizeof *piece);
    return MASU_OK;
}

masu_status masu__vm_drain(masu_vm *vm, size_t keep_bytes) {
    while (vm->stock.aged.bytes > keep_bytes) {
        masu__vm_piece *oldest = vm->stock.aged.first;
        masu__stock_take(&vm->stock, oldest);
        masu_status status = piece_release(vm, oldest);
        if (status != MASU_OK)
            return status;
    }
    return MASU_OK;
}

void masu__vm_store(masu_vm *vm, masu__piece_list *list) {
    while (list->first) {
        masu__vm_piece *piece = list->first;
        masu__list_remove(list, piece);
        masu__stock_put(&vm->stock, piece);
    }
    /* A refusal leaves the stock above its cap until the next time. */
    masu__vm_drain(vm, vm->max_cached_bytes);
}

/* rest, in no list, becomes a part of piece again, behind which it lies. False: it cannot, and both
 * stay what they are. */
static bool piece_join(masu_vm *vm, masu__vm_piece *piece, masu__vm_piece *rest) {
    size_t rest_bytes = rest->piece.bytes;
    if (!masu__device_join(vm->device, &piece->piece, rest->piece))
        return false;
    vm->pieces_cut--;
    if (masu__trace_wanted(vm->trace))
        masu__vm_emit(vm, MASU_EVENT_PIECE_JOIN, rest->serial, piece->piece.bytes, rest_bytes, 0, piece->serial);
    masu__meta_free(rest, sizeof *rest);
    return true;
}

static void join_again(masu_vm *vm, masu__vm_piece *piece) {
    masu__vm_piece *origin = piece->cut_from;
    masu__stock_take(&vm->stock, origin);
    if (!piece_join(vm, origin, piece))
        masu__stock_put(&vm->stock, piece);
    masu__stock_put(&vm->stock, origin);
}

void masu__vm_ungather(masu_vm *vm, masu__piece_list *list) {
    while (list->last) {
        masu__vm_piece *piece = list->last;
        masu__list_remove(list, piece);
        if (piece->cut_from)
            join_again(vm, piece);
        else if (piece->created)
            piece_release(vm, piece);
        else
            masu__stock_put(&vm->stock, piece);
    }
}

/* ---- cutting --------------------------------------------------------------------------------------- */

/* Cuts the piece: the bytes behind first_bytes become a piece of its own, in no list. */
static masu_status piece_cut(masu_vm *vm, masu__vm_piece *piece, size_t first_bytes, masu__vm_piece **out) {
    masu__vm_piece *rest = masu__meta_calloc(1, sizeof *rest);
    if (!rest)
        return MASU_ERR_OUT_OF_MEMORY;
    masu_status status = masu__device_split(vm->device, &piece->piece, first_bytes, &rest->piece);
    if (status != MASU_OK) {
        masu__meta_free(rest, sizeof *rest);
        return status;
    }
    rest->serial = ++vm->piece_serial;
    rest->place = MASU__PIECE_TRANSIT;
    vm->pieces_cut++;
    if (masu__trace_wanted(vm->trace))
        masu__vm_emit(vm, MASU_EVENT_PIECE_CUT, rest->serial, first_bytes, rest->piece.bytes, 0, piece->serial);
    *out = rest;
    return MASU_OK;
}

masu_status masu__vm_cut_mapped(masu_vm *vm, masu__segment *segment, masu__vm_piece *piece, size_t first_bytes) {
    masu__vm_piece *rest;
    masu_status status = piece_cut(vm, piece, first_bytes, &rest);
    if (status != MASU_OK)
        return status;
    segment->pieces.bytes -= rest->piece.bytes;
    masu__list_insert_after(&segment->pieces, piece, rest, MASU__PIECE_BLOCK);
    return MASU_OK;
}

void masu__vm_join_mapped(masu_vm *vm, masu__segment *segment, masu__vm_piece *piece) {
    masu__vm_piece *rest = piece->next;
    size_t rest_bytes = rest->piece.bytes;
    masu__list_remove(&segment->pieces, rest);
    if (piece_join(vm, piece, rest))
        segment->pieces.bytes += rest_bytes;
    else
        masu__list_insert_after(&segment->pieces, piece, rest, MASU__PIECE_BLOCK);
}

/* ---- taking ---------------------------------------------------------------------------------------- */

/* Makes room under limit_bytes, if need be out of the stock. */
static masu_status respect_limit(masu_vm *vm, size_t bytes) {
    size_t held = (size_t)vm->stats.held_bytes, room = vm->limit_bytes - masu__min(held, vm->limit_bytes);
    if (bytes <= room)
        return MASU_OK;
    size_t short_of = bytes - room;
    if (short_of > vm->stock.aged.bytes)
        return MASU_ERR_LIMIT_REACHED;
    return masu__vm_drain(vm, vm->stock.aged.bytes - short_of);
}

static masu_status create_or_drain(masu_vm *vm, size_t bytes, masu__piece *out, bool *drained) {
    masu_status status = masu__device_create(vm->device, bytes, out);
    if (status != MASU_ERR_OUT_OF_MEMORY || *drained || vm->stock.aged.count == 0)
        return status;
    *drained = true;
    vm->stats.drains++;
    masu_status drain = masu__vm_drain(vm, 0);
    return drain == MASU_OK ? masu__device_create(vm->device, bytes, out) : drain;
}

static masu_status create_piece(masu_vm *vm, size_t bytes, bool *drained, masu__vm_piece **out) {
    masu_status status = respect_limit(vm, bytes);
    if (status != MASU_OK)
        return status;
    masu__vm_piece *piece = masu__meta_calloc(1, sizeof *piece);
    if (!piece)
        return MASU_ERR_OUT_OF_MEMORY;
    status = create_or_drain(vm, bytes, &piece->piece, drained);
    if (status != MASU_OK) {
        masu__meta_free(piece, sizeof *piece);
        return status;
    }
    piece->serial = ++vm->piece_serial;
    piece->created = true;
    vm->stats.pieces_created++;
    vm->stats.held_bytes += bytes;
    masu__vm_note_held(vm);
    emit_piece(vm, MASU_EVENT_PIECE_ADD, piece);
    *out = piece;
    return MASU_OK;
}

/* The end of a larger piece; NULL when the device cannot, or has no record for it. */
static masu__vm_piece *cut_from_stock(masu_vm *vm, size_t bytes) {
    masu__vm_piece *larger = masu__stock_above(&vm->stock, bytes), *rest = NULL;
    if (!larger || !(vm->device->info.flags & MASU_DEVICE_DIVISIBLE))
        return NULL;
    masu__stock_take(&vm->stock, larger);
    size_t whole = larger->piece.bytes;
    if (piece_cut(vm, larger, whole - bytes, &rest) == MASU_OK) {
        rest->cut_from = larger;
        vm->stats.stock_cut++;
    }
    masu__stock_put(&vm->stock, larger);
    return rest;
}

/* NULL: nothing in the stock is of use. */
static masu__vm_piece *take_from_stock(masu_vm *vm, size_t request, size_t remaining, bool *rejected) {
    masu__vm_piece *piece = masu__stock_exact(&vm->stock, remaining);
    if (piece) {
        masu__stock_take(&vm->stock, piece);
        *(remaining == request ? &vm->stats.stock_exact : &vm->stats.stock_fragments) += 1;
        return piece;
    }
    piece = masu__stock_at_most(&vm->stock, remaining);
    size_t created = masu__min(remaining, vm->max_piece_bytes);
    if (piece &&
        (piece->piece.bytes >= created || (double)piece->piece.bytes >= vm->fragment_ratio * (double)request)) {
        masu__stock_take(&vm->stock, piece);
        vm->stats.stock_fragments++;
        return piece;
    }
    *rejected |= piece != NULL;
    return cut_from_stock(vm, remaining);
}

masu_status masu__vm_gather(masu_vm *vm, size_t bytes, masu__piece_list *list) {
    masu__piece_list taken = {0};
    masu_status status = MASU_OK;
    bool drained = false, rejected = false;
    for (size_t remaining = bytes; remaining > 0 && status == MASU_OK;) {
        masu__vm_piece *piece = take_from_stock(vm, bytes, remaining, &rejected);
        if (!piece)
            status = create_piece(vm, masu__min(remaining, vm->max_piece_bytes), &drained, &piece);
        if (status != MASU_OK)
            break;
        masu__list_append(&taken, piece, MASU__PIECE_TRANSIT);
        remaining -= piece->piece.bytes;
    }
    vm->stats.fragments_rejected += rejected;
    if (status != MASU_OK) {
        masu__vm_ungather(vm, &taken);
        return status;
    }
    masu__list_move(list, &taken, MASU__PIECE_TRANSIT);
    return MASU_OK;
}
