/* move_values.h: `masu plan --moves`: a table or a network as a problem of masu/moves.h, and what comes of it.
 *
 *     plan_command.c, network_command.c ─► moves_begin, moves_use ─► moves_run ─► masu_moves_find, masu_moves_check
 *                                                            └─► moves_report.c, moves_header.c,
 *                                                                write_rows.c, write_svg.c
 */
#ifndef MASU_TOOL_PLAN_MOVE_VALUES_H
#define MASU_TOOL_PLAN_MOVE_VALUES_H

#include <masu/moves.h>

#include "tool/plan/plan_table.h"

typedef struct moves_work moves_work;

/* Where rows, uses and what may be done in place come from. */
typedef struct moves_source {
    void *context;
    /* The table's rows for this order of the operators (NULL: as they are), moves_use for each use, moves_share for
     * each pair that may be done in place. False: memory. */
    bool (*settle)(void *context, moves_work *work, const size_t *order);
    masu_plan_graph graph;    /* the operators; none: they keep their order */
    const size_t *lower_peak; /* an order that needs fewer bytes at once; NULL: none is known */
    const char *fixed_why;    /* why there is only one order; NULL: there are others, or none is asked for */
    const char *const *names; /* of the operators; NULL: their numbers */
} moves_source;

/* One memory for life, in the order in which that is cheapest. */
typedef struct moves_life {
    bool is_there, is_proven;
    uint64_t cost, lower_bound;
    uint64_t slowest; /* bytes of the last memory that operators read and write */
} moves_life;

struct moves_work {
    const plan_arguments *args;
    plan_table *table;
    moves_source source;
    const size_t *tensor_of; /* per row: its number in the network; NULL: its place in the table; SIZE_MAX: scratch */
    uint64_t alignment;      /* for the header */
    size_t constants_begin;  /* rows from here on begin in the memory of --constants; SIZE_MAX: none does */
    int64_t first_operator;  /* its moment; the others come behind it, one a moment */
    /* from here on filled by the functions below */
    int64_t first_moment;
    masu_moves_use *uses;
    size_t use_count, use_room;
    masu_moves_share *shares;
    size_t share_count, share_room;
    size_t *row_of;      /* per row of the problem: in the table; SIZE_MAX: reserved bytes */
    size_t *problem_row; /* the other way round; SIZE_MAX: without a size */
    masu_moves_memory memories[PLAN_MOST_MEMORIES];
    masu_moves_problem problem;
    masu_moves_plan plan;
    moves_life life;
    const size_t *order; /* in which the operators run; NULL: as they are */
    size_t orders_tried;
    bool all_orders; /* each order that there is was tried: what all of them prove is proven */
    uint64_t all_bound;
    bool is_judged;
};

/* Room for so many uses and pairs. False: memory. */
bool moves_begin(moves_work *work, size_t uses, size_t shares);
void moves_use(moves_work *work, size_t row, int64_t moment, bool writes);
/* So many reads at once. */
void moves_use_often(moves_work *work, size_t row, int64_t moment, uint64_t reads);
void moves_share(moves_work *work, const plan_pair *pair);
/* Plans, judges, says, writes files. TOOL_OK or TOOL_FAILED. */
int moves_run(moves_work *work);

/* Plans in one order, and keeps the plan where it is cheaper. TOOL_OK, or TOOL_FAILED with words. */
int moves_try_order(moves_work *work, const size_t *order, double seconds);
/* Other orders (move_orders.c): all, where they are few; else the one with a lower peak, and operators moved one by
 * one. */
int moves_try_orders(moves_work *work, double end_s);
double moves_now(void);

/* "x" of a place; reserved bytes have "". */
const char *moves_id(const moves_work *work, const masu_moves_place *place);
bool moves_is_reserved(const moves_work *work, const masu_moves_place *place);
uint64_t moves_bytes(const moves_work *work, const masu_moves_place *place);
/* The operator that runs at a moment of the problem; -1: before the first. */
int64_t moves_operator(const moves_work *work, size_t moment);

/* The number in the file of the operator that runs at a place of the plan's order. */
size_t moves_operator_number(const moves_work *work, size_t place);
bool moves_has_plan(const masu_moves_plan *plan);
void moves_report_text(const moves_work *work, masu__buffer *out);
void moves_report_json(const moves_work *work, masu__buffer *out);
void moves_report_csv(const moves_work *work, masu__buffer *out);
void moves_write_header(const moves_work *work, masu__buffer *out);
/* A table of the places, one a row ("x", then "x:2" …), for the writers of plans. False: memory. */
bool moves_as_table(const moves_work *work, plan_table *table, uint64_t **offsets, plan_parts *in);

#endif
