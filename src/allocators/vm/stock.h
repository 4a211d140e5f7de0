/* stock.h: the pieces of physical memory that no block uses.
 *
 *     by_size   every piece, by (bytes, serial)         aged   the same pieces, oldest first
 *     by_size.count = aged.count
 *
 * A piece is at all times in exactly one place, and says in which:
 *
 *     stock ◄─► in transit (an operation has it) ◄─► a block's list
 *                         └─► a broken segment's list
 */
#ifndef MASU_VM_STOCK_H
#define MASU_VM_STOCK_H

#include "allocators/vm/space.h"

typedef enum masu__piece_place {
    MASU__PIECE_STOCK,
    MASU__PIECE_TRANSIT,
    MASU__PIECE_BLOCK,
    MASU__PIECE_STUCK
} masu__piece_place;

struct masu__vm_piece {
    masu__piece piece;
    uint64_t serial; /* 1 for the first of the pool */
    masu__vm_piece *before, *next;
    masu__tree_node by_size; /* in the stock */
    masu__piece_place place;
    bool created;             /* in transit: by the operation in progress */
    masu__vm_piece *cut_from; /* in transit: of this one in the stock; NULL: not cut */
};

typedef struct masu__stock {
    masu__tree by_size;
    masu__piece_list aged;
} masu__stock;

/* None of these fails. The place of a piece is that of the list it enters. */
void masu__list_append(masu__piece_list *list, masu__vm_piece *piece, masu__piece_place place);
void masu__list_insert_after(masu__piece_list *list, masu__vm_piece *before, masu__vm_piece *piece,
                             masu__piece_place place);
void masu__list_remove(masu__piece_list *list, masu__vm_piece *piece);
/* All of `from`, in order, behind what `to` has. */
void masu__list_move(masu__piece_list *to, masu__piece_list *from, masu__piece_place place);
/* The pieces of `from` from `first` on. */
void masu__list_move_tail(masu__piece_list *to, masu__piece_list *from, masu__vm_piece *first, masu__piece_place place);

void masu__stock_put(masu__stock *stock, masu__vm_piece *piece);
void masu__stock_take(masu__stock *stock, masu__vm_piece *piece);

/* NULL when there is none: of exactly that size; the largest up to it; the smallest above it. */
masu__vm_piece *masu__stock_exact(const masu__stock *stock, size_t bytes);
masu__vm_piece *masu__stock_at_most(const masu__stock *stock, size_t bytes);
masu__vm_piece *masu__stock_above(const masu__stock *stock, size_t bytes);

bool masu__list_valid(const masu__piece_list *list, masu__piece_place place);
bool masu__stock_valid(const masu__stock *stock);

#endif
