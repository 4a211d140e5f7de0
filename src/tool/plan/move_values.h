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

typedef struct moves_work {
    const plan_arguments *args;
    plan_table *table;
    const size_t *tensor_of; /* per row: its number in the network; NULL: its place in the table; SIZE_MAX: scratch */
    uint64_t alignment;      /* for the header */
    size_t constants_begin;  /* rows from here on begin in the memory of --constants; SIZE_MAX: none does */
    int64_t first_operator;  /* its moment; the others come behind it, one a moment */
    /* from here on filled by the functions below */
    int64_t first_moment;
    masu_moves_use *uses;
    size_t use_count, use_room;
    size_t *row_of;      /* per row of the problem: in the table; SIZE_MAX: reserved bytes */
    size_t *problem_row; /* the other way round; SIZE_MAX: without a size */
    masu_moves_memory memories[PLAN_MOST_MEMORIES];
    masu_moves_problem problem;
    masu_moves_plan plan, life; /* life: one memory for life */
    bool is_judged;
    bool is_life; /* plan is life: their places are the same memory */
} moves_work;

/* Room for so many uses; the table's rows are as they will be. False: memory. */
bool moves_begin(moves_work *work, size_t uses);
void moves_use(moves_work *work, size_t row, int64_t moment, bool writes);
/* So many reads at once. */
void moves_use_often(moves_work *work, size_t row, int64_t moment, uint64_t reads);
/* Plans, judges, says, writes files. TOOL_OK or TOOL_FAILED. */
int moves_run(moves_work *work);

/* "x" of a place; reserved bytes have "". */
const char *moves_id(const moves_work *work, const masu_moves_place *place);
bool moves_is_reserved(const moves_work *work, const masu_moves_place *place);
uint64_t moves_bytes(const moves_work *work, const masu_moves_place *place);
/* The operator that runs at a moment of the problem; -1: before the first. */
int64_t moves_operator(const moves_work *work, size_t moment);

void moves_report_text(const moves_work *work, masu__buffer *out);
void moves_report_json(const moves_work *work, masu__buffer *out);
void moves_report_csv(const moves_work *work, masu__buffer *out);
void moves_write_header(const moves_work *work, masu__buffer *out);
/* A table of the places, one a row ("x", then "x:2" …), for the writers of plans. False: memory. */
bool moves_as_table(const moves_work *work, plan_table *table, uint64_t **offsets, plan_parts *in);

#endif
