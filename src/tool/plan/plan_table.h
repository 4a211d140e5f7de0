/* plan_table.h: what the files of `masu plan` share.
 *
 *     plan_command.c ─► read_rows.c (CSV, TSV)    ┐
 *     plan_options.c    read_json.c (JSON)        ├─► plan_table ─► masu_plan_find ─► write_rows.c, write_svg.c
 *                       read_operators.c (graphs) ┘     check_offsets.c, judge_parts.c     compare_methods.c
 *
 * Networks (network.h) and problems of kernel compilers (kernel.h) have ways of their own.
 *
 * Every reader stops at the first mistake and says file, line, column and what was expected.
 */
#ifndef MASU_TOOL_PLAN_H
#define MASU_TOOL_PLAN_H

#include <stdio.h>

#include <masu/plan.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "tool/plan/plan_options.h"
#include "tool/tool.h"

/* The rows of one input file. */
typedef struct plan_table {
    masu_plan_row *rows;
    const char **ids;      /* per row */
    uint64_t *given;       /* per row: the offset column; UINT64_MAX where there is none */
    size_t *at;            /* per row: where in the text it, or its offset, is */
    uint64_t *uses;        /* per row: how often it is read or written; 1 without graph or column */
    bool has_uses;         /* the file has the column */
    const char **memories; /* per row: the memory column; NULL where there is none */
    bool has_memories;     /* a row has one */
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

/* The same with what is there instead: at most 24 bytes of it, control characters as ?. */
bool plan_complain_found(plan_reader *reader, plan_place place, const char *expected, const char *text, size_t length);
/* From the beginning: O(at), for complaints. */
plan_place plan_place_at(const plan_reader *reader, size_t at);
/* UTF-8 without zero bytes. */
bool plan_check_text(plan_reader *reader);
/* Moves behind a byte-order mark. */
void plan_skip_mark(const char **text, size_t *length);

/* Reads text as what it looks like: JSON when it begins with { or [, otherwise a table whose
 * fields are separated by tabs, if its first line has one, or commas. False: *message says why.
 * The caller frees the table in either case. */
bool plan_parse(const char *path, const char *text, size_t length, plan_table *out, masu__buffer *message);
/* A snapshot of PyTorch or a trace of masu: the blocks of one device. device NULL: the only one. As plan_parse. */
bool plan_is_recording(const char *text, size_t length);
bool plan_parse_recording(const char *path, const char *text, size_t length, const char *device, plan_table *out,
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

/* From the table's arena; false when memory runs out, or with *twice set to a row whose id is
 * before. */
bool plan_index_make(plan_table *table, plan_index *out, size_t *twice);
/* SIZE_MAX: there is none. */
size_t plan_index_find(const plan_table *table, const plan_index *index, const char *id, size_t length);

/* ---- relations as columns of CSV (csv_relations.c) -------------------------------------------------- */

enum { PLAN_RELATION_KINDS = 3 };

/* By masu_plan_relation_kind: names of columns, and of kinds in JSON. */
extern const char *const plan_relation_names[PLAN_RELATION_KINDS];

/* The relations of each row, where it is b. */
typedef struct plan_csv_links {
    const plan_table *table;
    size_t *first, *next; /* relation + 1, 0: none; NULL: there are no relations */
    bool has[PLAN_RELATION_KINDS];
} plan_csv_links;

/* False: memory ran out. */
bool plan_csv_links_open(plan_csv_links *links, const plan_table *table);
void plan_csv_links_close(plan_csv_links *links);
/* A comma and a field for each kind that there is. */
void plan_csv_put_links(const plan_csv_links *links, size_t row, masu__buffer *out);

/* A field of a row that names others: resolved when all rows are there. */
typedef struct plan_cell {
    size_t row;
    plan_place place;
    masu_plan_relation_kind kind;
    const char *text; /* borrowed */
    size_t length;
} plan_cell;

typedef struct plan_cells {
    plan_cell *list;
    size_t count, room;
} plan_cells;

bool plan_csv_note_cell(plan_reader *reader, plan_cells *cells, plan_cell cell);
bool plan_csv_relate(plan_reader *reader, const plan_index *index, const plan_cells *cells);

/* The fault of a single row, looked for as soon as it is read; NULL: none. */
const char *plan_row_mistake(const masu_plan_row *row);

/* ---- graphs (read_operators.c) --------------------------------------------------------------------- */

typedef struct plan_graph {
    masu_plan_graph graph;
    const char **types;
    const char **names; /* the first field */
    bool *kept;         /* per row: outlives its last operator, or is a result: nothing is written over it */
} plan_graph;

/* op,type,inputs,outputs: in order; ids separated by spaces. Adds uses to the table. */
bool plan_parse_ops(const char *path, const char *text, size_t length, plan_table *table, plan_graph *out,
                    masu__buffer *message);
/* An output that may take over the bytes of an input: both are rows. */
typedef struct plan_pair {
    size_t giver, taker;
    bool is_view; /* the same bytes under another shape */
} plan_pair;

/* Outputs of element-wise operators may take over an input of their size that dies there. False: memory. */
bool plan_list_in_place(plan_table *table, const plan_graph *graph, plan_pair **out, size_t *count);
bool plan_relate_in_place(plan_table *table, const plan_graph *graph);

/* Sum of uses × bytes of the rows in one memory, at most UINT64_MAX, and how many they are. */
uint64_t plan_traffic(const plan_table *table, const size_t *memory_of, size_t memory, size_t *count);

/* ---- results --------------------------------------------------------------------------------- */

/* One memory's share of the answer. */
typedef struct plan_part {
    const char *name;        /* NULL: the only one */
    uint64_t capacity_bytes; /* 0: without limit */
    uint64_t height_bytes, lower_bound_bytes;
} plan_part;

typedef struct plan_parts {
    plan_part parts[PLAN_MOST_MEMORIES];
    size_t count;
    size_t *memory_of; /* per row; NULL: all in the first */
} plan_parts;

typedef struct plan_answer {
    const plan_table *table;
    const uint64_t *offsets;
    const plan_parts *in;
} plan_answer;

/* An id as a field of CSV. */
void plan_put_id(masu__buffer *out, const char *id);
void plan_write_csv(const plan_answer *answer, masu__buffer *out);
void plan_write_json(const plan_answer *answer, masu__buffer *out);
void plan_write_svg(const plan_answer *answer, masu__buffer *out);

/* The table of methods. */
int plan_compare(const plan_table *table, const masu_plan_options *options);

/* "13,036 bytes (12.7 KiB)" */
void plan_say_bytes(FILE *to, uint64_t bytes);

/* ---- judging (check_offsets.c, judge_parts.c) ------------------------------------------------------------------ */

typedef struct plan_judgement {
    masu_plan_verdict verdict;
    size_t a, b; /* rows of the whole problem; SIZE_MAX: none */
} plan_judgement;

/* The judge on the chosen rows (ascending) and the relations among them, and the bound for them
 * where they are right. The statuses of masu_plan_find. */
masu_status plan_judge_some(const masu_plan_problem *problem, const uint64_t *offsets, uint64_t height_bytes,
                            const size_t *chosen, size_t count, plan_judgement *out, uint64_t *lower_bound_bytes);
/* The judge on one window of time after the other: each pair that is alive together is in
 * one. MASU_ERR_OUT_OF_MEMORY. O(n × alive together). */
masu_status plan_judge_windows(const masu_plan_problem *problem, const uint64_t *offsets, uint64_t height_bytes,
                               plan_judgement *out);
/* Judges the table's offsets memory by memory; out->memory_of has room for a number a row. Fills
 * *out. Says what is wrong on standard output (the plan) or standard error (the file).
 * TOOL_OK or TOOL_FAILED. */
int plan_check_memories(const masu_plan_problem *problem, const plan_table *table, const plan_arguments *args,
                        plan_parts *out);

#endif
