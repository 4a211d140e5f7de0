/* plan.h: what the files of `masu plan` share.
 *
 *     plan.c ─► plan_read.c (CSV, TSV) ┐
 *               plan_json.c (JSON)     ├─► plan_table ─► masu_plan_find ─► plan_write.c, plan_svg.c
 *               plan_ops.c  (graphs)   ┘                                   plan_compare.c
 *
 * Every reader stops at the first mistake and says file, line, column and what was expected.
 */
#ifndef MASU_TOOL_PLAN_H
#define MASU_TOOL_PLAN_H

#include <masu/plan.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "tool/tool.h"

/* What one input file says. */
typedef struct plan_table {
    masu_plan_row *rows;
    const char **ids; /* per row */
    uint64_t *given;  /* per row: the offset column; UINT64_MAX where there is none */
    uint64_t *uses;   /* per row: how often it is read or written; 1 without graph or column */
    bool has_uses;    /* the file has the column */
    size_t count, room;
    masu_plan_relation *relations;
    size_t relation_count, relation_room;
    uint64_t capacity_bytes; /* JSON may carry one; 0: none */
    masu__arena arena;       /* owns everything above */
} plan_table;

typedef struct plan_place {
    size_t line, column; /* from 1 */
} plan_place;

/* A reader's state that all readers share. */
typedef struct plan_reader {
    const char *path; /* for messages */
    const char *text;
    size_t length;
    plan_table *table;
    masu__buffer *message; /* the complaint */
    bool out_of_memory;
} plan_reader;

/* "PATH:LINE:COLUMN: error: …"; returns false. */
bool plan_complain(plan_reader *reader, plan_place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Reads text as what it looks like: JSON when it begins with { or [, otherwise a table whose
 * fields are separated by tabs, if its first line has one, or commas. False: *message says why.
 * The caller frees the table in either case. */
bool plan_parse(const char *path, const char *text, size_t length, plan_table *out,
                masu__buffer *message);
bool plan_parse_json(plan_reader *reader);
void plan_table_free(plan_table *table);

/* Room for one more row; NULL when memory runs out. It is zeroed, its id "". */
masu_plan_row *plan_table_add(plan_table *table);
bool plan_table_relate(plan_table *table, masu_plan_relation_kind kind, size_t a, size_t b);

/* Ids to rows. */
typedef struct plan_index {
    uint32_t *slots; /* row + 1 */
    size_t slot_count;
} plan_index;

/* From the table's arena; false when memory runs out, or with *twice set to a row whose id stands
 * before. */
bool plan_index_make(plan_table *table, plan_index *out, size_t *twice);
/* SIZE_MAX: there is none. */
size_t plan_index_find(const plan_table *table, const plan_index *index, const char *id,
                       size_t length);

/* What is wrong with a row by itself, checked as soon as it is read: NULL when nothing is. */
const char *plan_row_mistake(const masu_plan_row *row);

/* ---- graphs (plan_ops.c) --------------------------------------------------------------------- */

typedef struct plan_graph {
    masu_plan_graph graph;
    const char **types;
} plan_graph;

/* op,type,inputs,outputs: in order; ids separated by spaces. Adds uses to the table. */
bool plan_parse_ops(const char *path, const char *text, size_t length, plan_table *table,
                    plan_graph *out, masu__buffer *message);
/* Outputs of element-wise operators may take over an input of their size that dies there. */
bool plan_relate_in_place(plan_table *table, const plan_graph *graph);

/* Sum of uses × bytes of the rows in one memory, at most UINT64_MAX, and how many they are. */
uint64_t plan_traffic(const plan_table *table, const size_t *memory_of, size_t memory,
                      size_t *count);

/* ---- results --------------------------------------------------------------------------------- */

typedef struct plan_answer {
    const plan_table *table;
    const uint64_t *offsets;
    const char *const *memories; /* per row the memory's name; NULL: one memory */
    const masu_plan_result *result;
} plan_answer;

void plan_write_csv(const plan_answer *answer, masu__buffer *out);
void plan_write_json(const plan_answer *answer, masu__buffer *out);
void plan_write_svg(const plan_answer *answer, masu__buffer *out);

/* The table of methods. */
int plan_compare(const plan_table *table, const masu_plan_options *options);

#endif
