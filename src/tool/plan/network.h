/* network.h: a network's file as a problem of `masu plan`.
 *
 *     masu__model ─► network.c (rows, relations, order) ─► network_plans.c (every way to plan) ─► network_report.c
 *                          └─ runtime_plans.c (what runtimes do today)           ├─ network_header.c
 *                                                                                └─ network_offline.c
 *                                                                                   (plans inside .tflite files)
 */
#ifndef MASU_TOOL_PLAN_NETWORK_H
#define MASU_TOOL_PLAN_NETWORK_H

#include "models/models.h"
#include "tool/plan/plan_table.h"

typedef struct network {
    const plan_arguments *args;
    masu__model model;
    masu__model_lives lives;
    plan_table
        table; /* rows: tensors in their order, scratch in the order of operators, constants where they are planned */
    size_t *row_of;     /* per tensor; SIZE_MAX: not in the arena */
    size_t *tensor_of;  /* per row; SIZE_MAX: scratch */
    size_t *scratch_at; /* per row: the place of its operator in lives.moments */
    bool *kept;         /* per row: a graph's output: nothing is written over it */
    size_t constant_count, variable_count, open_count, scratch_count;
    size_t scratch_begin, constants_begin; /* rows; SIZE_MAX: constants have none */
    uint64_t constant_bytes, variable_bytes;
    uint64_t alignment;
    size_t bound_count;    /* relations that hold in every way: tensors that a custom operator has in each other */
    const char *fixed_why; /* why operators keep their order; NULL: they may move */
} network;

/* One way to plan: what height, and the plan. */
typedef struct network_plan {
    const char *name;
    bool is_there;
    bool is_runtime; /* what a runtime does: no outcome of masu's */
    bool in_place, reordered;
    masu_plan_result result;
    uint64_t *offsets; /* per row */
    size_t *order;     /* of graph 0; NULL: as it is */
    masu_plan_row *rows;
} network_plan;

enum { NETWORK_RUNTIME, NETWORK_PLANNED, NETWORK_IN_PLACE, NETWORK_REORDERED, NETWORK_BOTH, NETWORK_WAYS };

typedef struct network_plans {
    network_plan ways[NETWORK_WAYS];
} network_plans;

/* Rows for the model, which the network owns from here on. TOOL_OK, or TOOL_FAILED with words on standard error. */
int network_make(network *n, const plan_arguments *args);
void network_free(network *n);

/* Behind all rows one for each constant that an operator reads: it is there all the time. False: memory. */
bool network_add_constants(network *n);

/* Lives in this order of graph 0's operators (NULL: as they are), into table.rows. False: memory. */
bool network_set_order(network *n, const size_t *order);
/* Finds the in-place choices for the present lives. False: memory. */
bool network_list_in_place(network *n, plan_pair **out, size_t *count);
/* The same as relations, beside the relations that hold in every way. False: memory. */
bool network_relate(network *n);
void network_unrelate(network *n);

/* "operator 3 CONV_2D", for people. */
void network_say_operator(const network *n, const masu__model_moment *moment, masu__buffer *out);

/* "batch, x:2": what --dim may name, each once, at most 16; open_only: those without a value yet. Returns how many. */
size_t network_say_dims(const network *n, bool open_only, masu__buffer *out);

/* A custom operator that names both rows; NULL: there is none. */
const masu__model_moment *network_custom_of(const network *n, size_t a, size_t b);
/* The plan inside the file is for its tensors. */
bool network_has_offline(const network *n);

/* Operators of the main graph with the rows they name; from the table's arena; NULL: memory. */
masu_plan_operator *network_operators(network *n);

/* An order with a lower peak, or NULL: there is none, or none may be looked for. Before constants are added. */
masu_status network_find_order(network *n, size_t **out);
/* Plans in every way. MASU_ERR_OUT_OF_MEMORY and what the planner says. */
masu_status network_plan_all(network *n, network_plans *out);
/* The one that the command line asks for. */
const network_plan *network_chosen(const network *n, const network_plans *plans);

void network_report_text(const network *n, const network_plans *plans, masu__buffer *out);
void network_report_json(const network *n, const network_plans *plans, masu__buffer *out);
void network_report_csv(const network *n, const network_plans *plans, masu__buffer *out);

/* Offsets of the chosen plan as C. memory_of: per row, NULL: one memory. */
void network_write_header(const network *n, const uint64_t *offsets, const plan_parts *in, masu__buffer *out);

/* The first lines of a header, and one that defines PREFIX[_MEMORY]_WHAT. prefix: the file's name as a name of C. */
enum { NETWORK_MOST_PREFIX = 48 };
void network_begin_header(const char *path, char prefix[NETWORK_MOST_PREFIX], masu__buffer *out);
void network_put_define(masu__buffer *out, const char *prefix, const char *memory, const char *what, uint64_t value);

/* ---- offline plans (network_offline.c) --------------------------------------------------------------- */

/* Judges the plan in the file's metadata, and says so. TOOL_OK or TOOL_FAILED. */
int network_verify(network *n);
/* The file with the plan. False: *why says why. */
bool network_write_model(network *n, const network_plan *plan, const void *bytes, size_t length, masu__buffer *out,
                         masu__buffer *why);

/* ---- what runtimes do (runtime_plans.c) --------------------------------------------------------------- */

/* TensorFlow Lite Micro's greedy planner: largest first (of equals the later), into the first gap. Rows that are fixed
 * come first and are not looked at. Fills offsets; the height. O(n²). */
uint64_t runtime_greedy(const masu_plan_row *rows, size_t count, uint64_t *offsets, masu__arena *arena, bool *enough);
/* onnxruntime's way: in order of execution, in place where its kernels may, else a buffer of the same size that is
 * free, else the gap in the pattern that fits best. */
uint64_t runtime_best_fit(const network *n, uint64_t *offsets, masu__arena *arena, bool *enough);

/* Each --dim names a dimension that is there. TOOL_OK or TOOL_FAILED with words. */
int network_check_dims(const network *n, const masu__model_dim *dims);
/* A dimension with a range of values, or the largest that fits (network_range.c). */
int network_run_range(const plan_arguments *args, const tool_text *text);

/* A network or not? Runs the command for it. */
bool network_is_file(const char *path, const void *bytes, size_t length, masu__model_format *out);
int network_run(const plan_arguments *args, masu__model_format format, const tool_text *text);

#endif
