/* stock.c: lists of pieces, and the ordered stock. */
#include "allocators/vm/stock.h"

#include "base/assert.h"

#define PIECE(node) MASU__TREE_RECORD(node, masu__vm_piece, by_size)

/* ---- lists ----------------------------------------------------------------------------------------- */

void masu__list_insert_after(masu__piece_list *list, masu__vm_piece *before, masu__vm_piece *piece,
                             masu__piece_place place) {
    piece->before = before;
    piece->next = before ? before->next : list->first;
    *(before ? &before->next : &list->first) = piece;
    *(piece->next ? &piece->next->before : &list->last) = piece;
    piece->place = place;
    list->count++;
    list->bytes += piece->piece.bytes;
}

void masu__list_append(masu__piece_list *list, masu__vm_piece *piece, masu__piece_place place) {
    masu__list_insert_after(list, list->last, piece, place);
}

void masu__list_remove(masu__piece_list *list, masu__vm_piece *piece) {
    MASU_DEBUG_ASSERT(list->count > 0);
    *(piece->before ? &piece->before->next : &list->first) = piece->next;
    *(piece->next ? &piece->next->before : &list->last) = piece->before;
    piece->before = piece->next = NULL;
    list->count--;
    list->bytes -= piece->piece.bytes;
}

void masu__list_move_tail(masu__piece_list *to, masu__piece_list *from, masu__vm_piece *first,
                          masu__piece_place place) {
    for (masu__vm_piece *piece = first, *next; piece; piece = next) {
        next = piece->next;
        masu__list_remove(from, piece);
        masu__list_append(to, piece, place);
    }
}

void masu__list_move(masu__piece_list *to, masu__piece_list *from, masu__piece_place place) {
    masu__list_move_tail(to, from, from->first, place);
}

bool masu__list_valid(const masu__piece_list *list, masu__piece_place place) {
    size_t count = 0, bytes = 0;
    const masu__vm_piece *before = NULL;
    for (const masu__vm_piece *piece = list->first; piece; before = piece, piece = piece->next) {
        if (piece->before != before || piece->place != place || count++ >= list->count)
            return false;
        bytes += piece->piece.bytes;
    }
    return before == list->last && count == list->count && bytes == list->bytes;
}

/* ---- the stock ------------------------------------------------------------------------------------- */

void masu__stock_put(masu__stock *stock, masu__vm_piece *piece) {
    piece->created = false;
    piece->cut_from = NULL;
    masu__list_append(&stock->aged, piece, MASU__PIECE_STOCK);
    masu__tree_insert(&stock->by_size, &piece->by_size, piece->piece.bytes, piece->serial);
}

void masu__stock_take(masu__stock *stock, masu__vm_piece *piece) {
    MASU_ASSERT(piece->place == MASU__PIECE_STOCK);
    masu__tree_remove(&stock->by_size, &piece->by_size);
    masu__list_remove(&stock->aged, piece);
    piece->place = MASU__PIECE_TRANSIT;
}

masu__vm_piece *masu__stock_exact(const masu__stock *stock, size_t bytes) {
    masu__vm_piece *piece = PIECE(masu__tree_at_least(&stock->by_size, bytes, 0));
    return piece && piece->piece.bytes == bytes ? piece : NULL;
}

masu__vm_piece *masu__stock_at_most(const masu__stock *stock, size_t bytes) {
    return PIECE(masu__tree_at_most(&stock->by_size, bytes, UINT64_MAX));
}

masu__vm_piece *masu__stock_above(const masu__stock *stock, size_t bytes) {
    return PIECE(masu__tree_at_least(&stock->by_size, (uint64_t)bytes + 1, 0));
}

bool masu__stock_valid(const masu__stock *stock) {
    if (!masu__list_valid(&stock->aged, MASU__PIECE_STOCK) || !masu__tree_valid(&stock->by_size))
        return false;
    for (const masu__vm_piece *piece = stock->aged.first; piece; piece = piece->next)
        if (piece->by_size.major != piece->piece.bytes || piece->by_size.minor != piece->serial)
            return false;
    return stock->aged.count == stock->by_size.count;
}
