/* kernel.h: planning problems of kernel compilers, as dsa-solver writes them: schema version 1, one JSON document a
 * kernel.
 *
 *     pools        memories with a capacity and ranges that are taken; each buffer says which it lies in
 *     buffers      size, alignment, stretches of time in which it lives
 *     constraints  equal offsets, bytes apart at all times, fixed offsets
 *     cost_model   pairs that pay when they share bytes
 *     objective    the lowest plan, or the one that pays least within the capacity; or the lowest, and of these the one
 *                  that pays least
 *
 *     kernel_read.c ─► kernel ─► kernel_command.c: a problem for each pool
 *                      ─► masu_plan_find or masu_plan_find_cheapest ─► the judge
 *
 * The format is dsa-solver's (Apache-2.0); no code of it is used.
 */
#ifndef MASU_TOOL_PLAN_KERNEL_H
#define MASU_TOOL_PLAN_KERNEL_H

#include "tool/plan/plan_table.h"

typedef struct kernel_range {
    uint64_t begin, end;
} kernel_range;

typedef struct kernel_pool {
    uint64_t id;
    const char *name;
    uint64_t capacity_bytes; /* 0: without limit */
    kernel_range *reserved;  /* ascending, apart, none empty */
    size_t reserved_count;
} kernel_pool;

typedef struct kernel {
    const char *instance, *profile;
    plan_table table;     /* the buffers, their relations within a pool, the arena that owns everything here */
    uint64_t *ids;        /* per buffer */
    size_t *pool_of;      /* per buffer */
    bool *keeps_all_time; /* per buffer: fixed, and nothing else may ever lie there */
    kernel_pool *pools;
    size_t pool_count;
    masu_plan_penalty *penalties; /* rows of the table, of one pool each */
    size_t penalty_count;
    bool lowest, cheapest; /* the objective: at least one; both: of the lowest the cheapest */
} kernel;

/* Whether text looks like such a document: an object with schema_version and problem. */
bool kernel_is_problem(const char *text, size_t length);

/* False: *message says why. The caller frees the kernel in either case. */
bool kernel_read(const char *path, const char *text, size_t length, kernel *out, masu__buffer *message);
void kernel_free(kernel *k);

/* `masu plan` of one: plans, judges, says and writes. A status of the tool. */
int kernel_run(const plan_arguments *args, const tool_text *text);

#endif
