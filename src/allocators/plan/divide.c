/* divide.c: several memories, the fastest first.
 *
 *     rows by uses / duration ─► into the memory while the load allows ─► plan ─► fits: next memory
 *                                        └── too full for a plan: the least used go ◄──┘
 */
#include <stdlib.h>
#include <string.h>

#include "allocators/plan/model.h"

typedef struct division {
    const masu_plan_problem *problem;
    const uint64_t *uses;
    const masu_plan_options *options;
    uint32_t *group; /* per row: the first row it is tied to, itself included */
    uint32_t *order; /* groups by worth */
    double *worth;   /* per group */
    size_t group_count;
    uint32_t *chosen; /* groups in the present memory, by worth */
    size_t chosen_count;
    bool *placed, *in;             /* per group: in a memory for good; in the present one */
    masu_plan_row *rows;           /* of the present memory */
    masu_plan_relation *relations; /* among them */
    uint32_t *number;              /* per row: its place in rows */
    uint64_t *offsets;
    masu__arena arena;
} division;

/* ---- set-up ---------------------------------------------------------------------------------- */

static uint32_t root_of(uint32_t *group, uint32_t row) {
    while (group[row] != row)
        row = group[row] = group[group[row]];
    return row;
}

static int by_worth(const void *a, const void *b, void *context) {
    const division *d = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (d->worth[x] != d->worth[y])
        return d->worth[x] > d->worth[y] ? -1 : 1;
    return (x > y) - (x < y);
}

static bool division_open(division *d) {
    const masu_plan_problem *p = d->problem;
    size_t n = p->count + 1;
    d->group = MASU_ARENA_ARRAY(&d->arena, uint32_t, n);
    d->order = MASU_ARENA_ARRAY(&d->arena, uint32_t, n);
    d->chosen = MASU_ARENA_ARRAY(&d->arena, uint32_t, n);
    d->number = MASU_ARENA_ARRAY(&d->arena, uint32_t, n);
    d->worth = MASU_ARENA_ARRAY(&d->arena, double, n);
    d->placed = MASU_ARENA_ARRAY(&d->arena, bool, n);
    d->in = MASU_ARENA_ARRAY(&d->arena, bool, n);
    d->rows = MASU_ARENA_ARRAY(&d->arena, masu_plan_row, n);
    d->offsets = MASU_ARENA_ARRAY(&d->arena, uint64_t, n);
    d->relations = MASU_ARENA_ARRAY(&d->arena, masu_plan_relation, p->relation_count + 1);
    return d->group && d->order && d->chosen && d->number && d->worth && d->placed && d->in &&
           d->rows && d->offsets && d->relations;
}

/* Traffic for the room taken: uses × size / (size × duration), sums over a group. */
static void rank_groups(division *d) {
    const masu_plan_problem *p = d->problem;
    for (size_t i = 0; i < p->count; i++)
        d->group[i] = (uint32_t)i;
    for (size_t i = 0; i < p->relation_count; i++)
        if (p->relations[i].kind == MASU_PLAN_MUST_SHARE)
            d->group[root_of(d->group, (uint32_t)p->relations[i].b)] =
                root_of(d->group, (uint32_t)p->relations[i].a);
    for (size_t i = 0; i < p->count; i++)
        d->worth[root_of(d->group, (uint32_t)i)] +=
            (double)(d->uses ? d->uses[i] : 1) /
            ((double)p->rows[i].upper - (double)p->rows[i].lower);
    for (uint32_t i = 0; i < p->count; i++)
        if (root_of(d->group, i) == i)
            d->order[d->group_count++] = i;
    qsort_r(d->order, d->group_count, sizeof *d->order, by_worth, d);
}

/* ---- one memory ------------------------------------------------------------------------------ */

/* The problem of the groups that are `in`. */
static masu_plan_problem problem_of(division *d, uint64_t capacity) {
    const masu_plan_problem *p = d->problem;
    masu_plan_problem part = {
        .rows = d->rows, .relations = d->relations, .capacity_bytes = capacity};
    memset(d->number, 0xff, p->count * sizeof *d->number);
    for (size_t i = 0; i < p->count; i++)
        if (d->in[root_of(d->group, (uint32_t)i)]) {
            d->number[i] = (uint32_t)part.count;
            d->rows[part.count++] = p->rows[i];
        }
    for (size_t i = 0; i < p->relation_count; i++) {
        masu_plan_relation r = p->relations[i];
        if (d->number[r.a] == MASU__PLAN_NONE || d->number[r.b] == MASU__PLAN_NONE)
            continue;
        d->relations[part.relation_count++] =
            (masu_plan_relation){r.kind, d->number[r.a], d->number[r.b]};
    }
    return part;
}

/* Takes groups while the load of those taken stays within the capacity. */
static masu_status choose(division *d, uint64_t capacity) {
    d->chosen_count = 0;
    memset(d->in, 0, d->problem->count * sizeof *d->in);
    for (size_t i = 0; i < d->group_count; i++) {
        uint32_t group = d->order[i];
        masu__plan_model model;
        if (d->placed[group])
            continue;
        d->in[group] = true;
        if (capacity > 0) {
            masu_plan_problem part = problem_of(d, capacity);
            masu_status status = masu__plan_model_open(&part, NULL, &model);
            if (status != MASU_OK)
                return status;
            bool fits = (uint64_t)model.bound <= capacity;
            masu__plan_model_close(&model);
            if (!fits) {
                d->in[group] = false;
                continue;
            }
        }
        d->chosen[d->chosen_count++] = group;
    }
    return MASU_OK;
}

static masu_status plan_chosen(division *d, uint64_t capacity, masu_plan_result *result) {
    masu_plan_problem part = problem_of(d, capacity);
    masu_plan_options options = *d->options;
    options.goal = capacity > 0 ? MASU_PLAN_FIT : MASU_PLAN_MINIMIZE;
    options.improved = NULL;
    return masu_plan_find(&part, &options, d->offsets, result);
}

static bool fits(const masu_plan_result *result) {
    return result->outcome == MASU_PLAN_OPTIMAL || result->outcome == MASU_PLAN_FEASIBLE;
}

/* The least worthy go, one first, then twice as many each time. */
static masu_status fill_memory(division *d, uint64_t capacity, masu_plan_result *result) {
    masu_status status = choose(d, capacity);
    for (size_t drop = 1; status == MASU_OK; drop *= 2) {
        status = plan_chosen(d, capacity, result);
        if (status != MASU_OK || fits(result))
            break;
        for (size_t i = 0; i < drop && d->chosen_count > 0; i++)
            d->in[d->chosen[--d->chosen_count]] = false;
    }
    return status;
}

static void keep(division *d, size_t memory, size_t *memory_of, uint64_t *offsets) {
    for (size_t i = 0; i < d->problem->count; i++) {
        uint32_t group = root_of(d->group, (uint32_t)i);
        if (!d->in[group] || d->number[i] == MASU__PLAN_NONE)
            continue;
        memory_of[i] = memory;
        offsets[i] = d->offsets[d->number[i]];
        d->placed[group] = true;
    }
}

static masu_status fill_last(division *d, uint64_t capacity, masu_plan_result *result) {
    memset(d->in, 0, d->problem->count * sizeof *d->in);
    for (size_t i = 0; i < d->group_count; i++)
        d->in[d->order[i]] = !d->placed[d->order[i]];
    return plan_chosen(d, capacity, result);
}

masu_status masu_plan_divide(const masu_plan_problem *problem, const uint64_t *uses,
                             const masu_plan_memory *memories, size_t memory_count,
                             const masu_plan_options *options, size_t *memory_of, uint64_t *offsets,
                             masu_plan_result *results) {
    masu_plan_options defaults = masu_plan_options_default();
    division d = {.problem = problem, .uses = uses, .options = options ? options : &defaults};
    if (memory_count == 0 || masu_plan_validate(problem, NULL) != MASU_PLAN_RIGHT)
        return MASU_ERR_INVALID_ARGUMENT;
    masu_status status = division_open(&d) ? MASU_OK : MASU_ERR_OUT_OF_MEMORY;
    if (status == MASU_OK)
        rank_groups(&d);
    for (size_t m = 0; m < memory_count && status == MASU_OK; m++) {
        uint64_t capacity = memories[m].capacity_bytes;
        status = m + 1 < memory_count ? fill_memory(&d, capacity, &results[m])
                                      : fill_last(&d, capacity, &results[m]);
        if (status == MASU_OK)
            keep(&d, m, memory_of, offsets);
    }
    masu__arena_destroy(&d.arena);
    return status;
}
