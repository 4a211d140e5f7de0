/* model.h: a planning problem as the planner's methods see it.
 *
 *     rows ─► items (rows that must share an offset are one) over sections (time cut at every
 *             birth, death and gap)
 *
 *             section   0   1   2   3   4
 *             item 0  [ 8 | 8 | 8 ]            pieces: (0..3, height 8)
 *             item 1      [ 4 | 4 ]   [ 4 ]    pieces: (1..3, 4) (4..5, 4): a gap in section 3
 *
 * In a gap with a window an item keeps the bytes [base, base + height) above its offset: a piece of
 * its own. Inside, offsets and heights are signed and far from the border: everything adds up to at most
 * 2^62. Fixed rows are obstacles, not items.
 *
 *     load[s] = sum of heights of all items and obstacles alive in section s
 *     bound   = the largest load, the highest end of an obstacle, what each item and each section
 *               needs around obstacles (walls.h), and what alignments ask for (bound.c), and
 *               what rows kept apart do (clique.c)
 */
#ifndef MASU_PLANNER_MODEL_H
#define MASU_PLANNER_MODEL_H

#include <masu/plan.h>

#include "base/arena.h"

#define MASU__PLAN_NONE UINT32_MAX
#define MASU__PLAN_MOST ((int64_t)1 << 62)

typedef struct masu__plan_piece {
    uint32_t first, end; /* sections [first, end) */
    int64_t base, height;
    int64_t hole; /* bytes of height that are not kept: between rows of one group */
} masu__plan_piece;

typedef struct masu__plan_obstacle {
    uint32_t first, end; /* sections */
    int64_t offset, size;
} masu__plan_obstacle;

/* A pair that must not share bytes at any time: two items, or an item and an obstacle (b). */
typedef struct masu__plan_apart {
    uint32_t a, b;
    int64_t height_a, height_b; /* of the rows that the relation names */
} masu__plan_apart;

typedef struct masu__plan_model {
    uint32_t item_count, section_count, obstacle_count;
    uint32_t *row_item; /* per row; MASU__PLAN_NONE: no size, or fixed */
    uint32_t *row_root; /* per row: the row that leads its group, a fixed one where there is one */
    /* per item */
    int64_t *size, *alignment, *hint; /* hint -1: none */
    int64_t *lower, *upper;           /* moments: first and after the last */
    uint32_t *first, *end;            /* sections: the hull of the pieces */
    uint32_t *piece_start;            /* [item_count + 1] into pieces */
    masu__plan_piece *pieces;
    /* [item_count + 1] into kept: what the item's rows keep, each row for itself, so that holes between rows of a group
     * are left out; the pieces where there is no hole */
    uint32_t *kept_start;
    const masu__plan_piece *kept;
    masu__plan_obstacle *obstacles; /* in no order */
    int64_t *load;                  /* per section */
    masu__plan_apart *apart, *apart_fixed;
    uint32_t apart_count, apart_fixed_count;
    int64_t fixed_end;   /* the highest end of a row that is where a fixed one is */
    int64_t bound, unit; /* every height of interest is a multiple of unit */
    bool raised;         /* pieces with a base could let an item pass below another that starts below it: the
                    search, which builds from the bottom up, does not see all plans */
    bool holes;          /* a piece has one: it takes more than it keeps, and no search sees all plans */
    bool contradiction;  /* fixed rows break a relation */
    bool simple;         /* each item one piece of its full size, no obstacles, nothing apart */
    masu__arena arena;   /* owns all of the above */
} masu__plan_model;

/* problem must be valid. MASU_OK or MASU_ERR_OUT_OF_MEMORY; MAY_SHARE relations are ignored;
 * merged[] (may be NULL; [relation_count]) says which of them count as MUST_SHARE. */
masu_status masu__plan_model_open(const masu_plan_problem *problem, const bool *merged, masu__plan_model *out);
void masu__plan_model_close(masu__plan_model *model);
/* order [item_count]: the items by their first section, by number where that is the same; first_of [section_count + 1]:
 * where in it those born in a section or later begin. O(items + sections): births are counted. */
void masu__plan_model_order_by_birth(const masu__plan_model *model, uint32_t *order, uint32_t *first_of);

/* bound.c: the load of each section, the bound that it is, and the unit of which all sizes and offsets are
 * multiples. */
void masu__plan_model_load_bound(masu__plan_model *model);
/* bound.c: raises the bound to what alignments ask for. O(items) for each alignment there is. False:
 * memory ran out. */
bool masu__plan_model_aligned_bound(masu__plan_model *model);
/* clique.c: raises the bound to what must not share bytes pair by pair; only where rows are kept apart. Bounded work.
 * False: memory ran out. */
bool masu__plan_model_clique_bound(masu__plan_model *model);

bool masu__plan_model_valid(const masu__plan_model *model);

/* Offsets of items to offsets of rows. */
void masu__plan_model_rows(const masu__plan_model *model, const masu_plan_problem *problem, const int64_t *items,
                           uint64_t *offsets);

/* The end of the highest item or obstacle. */
int64_t masu__plan_model_height(const masu__plan_model *model, const int64_t *offsets);

/* One piece of its full size. */
static inline bool masu__plan_is_plain(const masu__plan_model *m, uint32_t item) {
    return m->piece_start[item + 1] - m->piece_start[item] == 1 &&
           m->pieces[m->piece_start[item]].height == m->size[item];
}

static inline int64_t masu__plan_align(int64_t offset, int64_t alignment) {
    return (offset + alignment - 1) & ~(alignment - 1);
}

/* Room for an array at *at, which moves behind it: arrays in one piece of memory, each aligned to 16 bytes. */
static inline void *masu__plan_take(char **at, size_t count, size_t bytes) {
    void *here = *at;
    *at += (count * bytes + 15) / 16 * 16;
    return here;
}

#endif
