/* memories.c: several memories, the fastest first.
 *
 *     most traffic that the load allows (best_set.c) ─► plan ─► fits: what else fits? ─► next memory
 *                                                      │
 *                    a small set that cannot be placed: its least worthy goes ◄──┘
 *
 * Of few rows, all sets are asked, and the last memory must hold what the one before it leaves. Of more: when what is
 * left is too much for the last memory, once more; then each takes the most bytes × time that it can.
 */
#include <stdlib.h>
#include <string.h>

#include "planner/search/solver.h"
#include "planner/share/alias.h"
#include "planner/share/best_set.h"

enum { STEPS = 20000, CORE_ROWS = 64, MOST_ADDED = 32, MOST_DROPPED = 6, QUESTIONS = 10 };

typedef struct division {
    const masu_plan_problem *problem;
    const uint64_t *uses;
    masu_plan_options options;
    masu__plan_model model; /* without fixed rows: an item a group */
    masu__choice choice;
    masu_plan_row *free_rows;      /* all, none fixed */
    masu_plan_row *rows;           /* of the present memory */
    masu_plan_relation *relations; /* among them */
    uint32_t *number;              /* per row: its place in rows */
    size_t *core;
    bool *light;              /* per item: few groups, and it may share with another */
    uint64_t *offsets, *kept; /* per row of the present memory; per row, of the last plan */
    masu_plan_result kept_result;
    uint64_t capacity;      /* of the present memory */
    uint64_t rest_capacity; /* of the last memory when the present one is the last but one; 0: nothing to ask */
    masu_plan_result *result;
    size_t memory;      /* the present one */
    size_t *empty_home; /* per row that leads a group without a size: the first memory that its offset lies in */
    double end_s;       /* of the questions that only improve */
    masu_status status;
    masu__arena arena;
} division;

/* ---- set-up ---------------------------------------------------------------------------------- */

/* A group without a size takes no room, but where it is fixed its offset must lie in the memory, or at its end. */
static bool find_empty_homes(division *d, const masu_plan_memory *memories, size_t count) {
    const masu_plan_problem *p = d->problem;
    d->empty_home = MASU_ARENA_ARRAY(&d->arena, size_t, p->count + 1);
    if (!d->empty_home)
        return false;
    memset(d->empty_home, 0, p->count * sizeof *d->empty_home);
    for (size_t i = 0; i < p->count; i++) {
        size_t *home = &d->empty_home[d->model.row_root[i]];
        while (p->rows[i].is_fixed && *home + 1 < count && memories[*home].capacity_bytes > 0 &&
               memories[*home].capacity_bytes < p->rows[i].fixed_offset)
            ++*home;
    }
    return true;
}

/* The memory of the row's group: a row without a size goes where what it is tied to goes. */
static uint32_t item_of(const division *d, size_t row) {
    return d->model.row_item[d->model.row_root[row]];
}

/* Rows that may share can lie on others: their load says nothing. For few groups, plans decide. */
static bool find_light(division *d) {
    const masu_plan_problem *p = d->problem;
    d->light = MASU_ARENA_ARRAY(&d->arena, bool, d->model.item_count + 1);
    for (size_t i = 0; d->light && i < p->relation_count; i++)
        if (p->relations[i].kind == MASU_PLAN_MAY_SHARE && d->model.item_count <= MASU__CHOICE_FEW) {
            uint32_t a = item_of(d, p->relations[i].a), b = item_of(d, p->relations[i].b);
            if (a != MASU__PLAN_NONE && b != MASU__PLAN_NONE)
                d->light[a] = d->light[b] = true;
        }
    d->choice.light = d->light;
    return d->light != NULL;
}

static bool division_open(division *d) {
    const masu_plan_problem *p = d->problem;
    size_t n = p->count + 1;
    d->free_rows = MASU_ARENA_ARRAY(&d->arena, masu_plan_row, n);
    d->rows = MASU_ARENA_ARRAY(&d->arena, masu_plan_row, n);
    d->number = MASU_ARENA_ARRAY(&d->arena, uint32_t, n);
    d->offsets = MASU_ARENA_ARRAY(&d->arena, uint64_t, n);
    d->kept = MASU_ARENA_ARRAY(&d->arena, uint64_t, n);
    d->core = MASU_ARENA_ARRAY(&d->arena, size_t, n);
    d->relations = MASU_ARENA_ARRAY(&d->arena, masu_plan_relation, p->relation_count + 1);
    if (!d->free_rows || !d->rows || !d->number || !d->offsets || !d->kept || !d->core || !d->relations)
        return false;
    for (size_t i = 0; i < p->count; i++) {
        d->free_rows[i] = p->rows[i];
        d->free_rows[i].is_fixed = false;
    }
    masu_plan_problem free_problem = *p;
    free_problem.rows = d->free_rows;
    return masu__plan_model_open(&free_problem, NULL, &d->model) == MASU_OK &&
           masu__choice_open(&d->choice, p, &d->model) && find_light(d);
}

static void division_close(division *d) {
    masu__choice_close(&d->choice);
    masu__plan_model_close(&d->model);
    masu__arena_destroy(&d->arena);
}

static void weigh(division *d, bool by_traffic) {
    const masu_plan_problem *p = d->problem;
    memset(d->choice.worth, 0, d->model.item_count * sizeof *d->choice.worth);
    memset(d->choice.allowed, true, d->model.item_count * sizeof *d->choice.allowed);
    for (size_t i = 0; i < p->count; i++) {
        uint32_t item = d->model.row_item[i];
        double uses = d->uses ? (double)d->uses[i] : 1;
        if (item != MASU__PLAN_NONE)
            d->choice.worth[item] += by_traffic ? uses * (double)p->rows[i].size_bytes : 0;
    }
    for (uint32_t i = 0; i < d->model.item_count && !by_traffic; i++)
        d->choice.worth[i] = d->choice.area[i];
}

/* ---- one memory ------------------------------------------------------------------------------ */

static bool is_in(const division *d, size_t row) {
    uint32_t item = item_of(d, row);
    return item == MASU__PLAN_NONE ? d->empty_home[d->model.row_root[row]] == d->memory : d->choice.in[item];
}

static masu_plan_problem problem_of(division *d) {
    const masu_plan_problem *p = d->problem;
    masu_plan_problem part = {.rows = d->rows, .relations = d->relations, .capacity_bytes = d->capacity};
    for (size_t i = 0; i < p->count; i++) {
        d->number[i] = is_in(d, i) ? (uint32_t)part.count : MASU__PLAN_NONE;
        if (is_in(d, i))
            d->rows[part.count++] = p->rows[i];
    }
    for (size_t i = 0; i < p->relation_count; i++) {
        masu_plan_relation r = p->relations[i];
        if (d->number[r.a] != MASU__PLAN_NONE && d->number[r.b] != MASU__PLAN_NONE)
            d->relations[part.relation_count++] = (masu_plan_relation){r.kind, d->number[r.a], d->number[r.b]};
    }
    return part;
}

static bool plans(const masu_plan_result *result) {
    return result->outcome == MASU_PLAN_OPTIMAL || result->outcome == MASU_PLAN_FEASIBLE;
}

/* Whether what is in has a plan; steps 0: as many as the caller's options allow. */
static bool has_plan(division *d, uint64_t steps) {
    masu_plan_problem part = problem_of(d);
    masu_plan_options options = d->options;
    options.goal = d->capacity > 0 ? MASU_PLAN_FIT : MASU_PLAN_MINIMIZE;
    options.step_limit = steps > 0 ? steps : options.step_limit;
    options.time_limit_s /= QUESTIONS;
    masu_status status = masu__plan_find_once(&part, &options, d->offsets, d->result);
    d->status = d->status == MASU_OK ? status : d->status;
    if (status != MASU_OK || !plans(d->result))
        return false;
    for (size_t i = 0; i < d->problem->count; i++)
        if (d->number[i] != MASU__PLAN_NONE)
            d->kept[i] = d->offsets[d->number[i]];
    d->kept_result = *d->result;
    return true;
}

static void turn_round(division *d) {
    for (uint32_t i = 0; i < d->model.item_count; i++)
        d->choice.in[i] = d->choice.allowed[i] && !d->choice.in[i];
}

/* Whether what is not in has a plan in the last memory; without a limit too: fixed rows may contradict each other. */
static bool rest_has_plan(division *d) {
    uint64_t capacity = d->capacity;
    if (d->rest_capacity == 0)
        return true;
    turn_round(d);
    d->capacity = d->rest_capacity;
    d->memory++;
    bool exists = has_plan(d, STEPS);
    d->memory--;
    d->capacity = capacity;
    turn_round(d);
    return exists;
}

static bool small_plan_exists(void *context) {
    division *d = context;
    return (rest_has_plan(d) && has_plan(d, STEPS)) || d->status != MASU_OK;
}

/* One row's group goes: the least worthy of a set that cannot be placed, or of all. */
static void drop_one(division *d) {
    const masu__plan_model *m = &d->model;
    masu_plan_problem part = problem_of(d);
    masu_plan_options options = d->options;
    size_t count = 0;
    options.step_limit = STEPS;
    if (part.count <= CORE_ROWS && d->result->outcome == MASU_PLAN_INFEASIBLE)
        masu_plan_core(&part, &options, d->core, &count, NULL);
    uint32_t least = MASU__PLAN_NONE;
    for (size_t i = 0, k = 0; i < d->problem->count; i++) {
        uint32_t item = m->row_item[i];
        if (d->number[i] == MASU__PLAN_NONE)
            continue;
        while (k < count && d->core[k] < d->number[i])
            k++;
        bool suspect = count == 0 || (k < count && d->core[k] == d->number[i]);
        if (suspect && item != MASU__PLAN_NONE &&
            (least == MASU__PLAN_NONE || d->choice.worth[item] < d->choice.worth[least]))
            least = item;
    }
    if (least != MASU__PLAN_NONE)
        masu__choice_remove(&d->choice, least);
}

/* The best plan is too high: what ends above the capacity in it goes, and the rest has a plan. */
static void drop_above(division *d) {
    for (size_t i = 0; i < d->problem->count; i++) {
        uint32_t item = d->model.row_item[i];
        if (d->number[i] != MASU__PLAN_NONE && item != MASU__PLAN_NONE && d->choice.in[item] &&
            d->offsets[d->number[i]] + d->problem->rows[i].size_bytes > d->capacity)
            masu__choice_remove(&d->choice, item);
    }
}

static bool out_of_time(const division *d) {
    return d->options.time_limit_s > 0 && masu__plan_now() > d->end_s;
}

/* Rows kept out by the load stay out; the others are tried. */
static void add_more(division *d) {
    uint32_t tried = 0;
    for (uint32_t i = 0; i < d->model.item_count && tried < MOST_ADDED && !out_of_time(d); i++) {
        if (!d->choice.allowed[i] || d->choice.in[i] || !masu__choice_fits(&d->choice, i))
            continue;
        tried++;
        masu__choice_add(&d->choice, i);
        if (!has_plan(d, STEPS))
            masu__choice_remove(&d->choice, i);
    }
    *d->result = d->kept_result;
}

static bool anything_in(const division *d) {
    for (uint32_t i = 0; i < d->model.item_count; i++)
        if (d->choice.in[i])
            return true;
    return false;
}

static void choose_and_plan(division *d) {
    uint32_t few = 0;
    for (uint32_t i = 0; i < d->model.item_count; i++)
        few += d->choice.allowed[i];
    masu__choice_clear(&d->choice, d->capacity > 0 && d->capacity < (uint64_t)MASU__PLAN_MOST ? (int64_t)d->capacity
                                                                                              : MASU__PLAN_MOST);
    if (few <= MASU__CHOICE_FEW && d->capacity > 0) {
        if (!masu__choice_all(&d->choice, small_plan_exists, d))
            has_plan(d, STEPS); /* of nothing: what is left will be too much */
        return;
    }
    masu__choice_greedy(&d->choice);
    bool dropped = false;
    for (int drop = 0; !has_plan(d, 0) && d->status == MASU_OK && anything_in(d); drop++) {
        dropped = true;
        if (d->result->outcome == MASU_PLAN_UNKNOWN && (drop >= MOST_DROPPED || out_of_time(d)))
            drop_above(d);
        else
            drop_one(d);
    }
    if (dropped && d->status == MASU_OK && plans(d->result))
        add_more(d);
}

static void take_the_rest(division *d) {
    masu__choice_clear(&d->choice, MASU__PLAN_MOST);
    for (uint32_t i = 0; i < d->model.item_count; i++)
        if (d->choice.allowed[i])
            masu__choice_add(&d->choice, i);
    has_plan(d, 0);
}

static void keep(division *d, size_t memory, size_t *memory_of, uint64_t *offsets) {
    for (size_t i = 0; i < d->problem->count; i++) {
        uint32_t item = item_of(d, i);
        if (!is_in(d, i) || (item != MASU__PLAN_NONE && !d->choice.allowed[item]))
            continue;
        memory_of[i] = memory;
        offsets[i] = d->kept[i];
    }
    for (uint32_t i = 0; i < d->model.item_count; i++) /* behind all rows of each group */
        d->choice.allowed[i] &= !d->choice.in[i];
}

/* Whether everything has found its memory. */
static bool divide_by(division *d, bool by_traffic, const masu_plan_memory *memories, size_t count, size_t *memory_of,
                      uint64_t *offsets, masu_plan_result *results) {
    weigh(d, by_traffic);
    for (size_t m = 0; m < count && d->status == MASU_OK; m++) {
        d->capacity = memories[m].capacity_bytes;
        d->result = &results[m];
        uint64_t next = m + 1 < count ? memories[m + 1].capacity_bytes : 0;
        d->rest_capacity = m + 2 != count ? 0 : next > 0 ? next : (uint64_t)MASU__PLAN_MOST;
        d->memory = m;
        if (m + 1 < count)
            choose_and_plan(d);
        else
            take_the_rest(d);
        if (d->status == MASU_OK)
            keep(d, m, memory_of, offsets);
    }
    for (size_t m = 0; m + 1 < count && d->status == MASU_OK; m++)
        if (!plans(&results[m])) /* rows without a size contradict each other: no memory holds them */
            results[count - 1] = results[m];
    return d->status != MASU_OK || plans(&results[count - 1]);
}

masu_status masu_plan_divide(const masu_plan_problem *problem, const uint64_t *uses, const masu_plan_memory *memories,
                             size_t memory_count, const masu_plan_options *options, size_t *memory_of,
                             uint64_t *offsets, masu_plan_result *results) {
    division d = {.problem = problem, .uses = uses};
    d.options = options ? *options : masu_plan_options_default();
    d.options.improved = NULL;
    d.end_s = masu__plan_now() + d.options.time_limit_s / 2;
    if (memory_count == 0 || masu_plan_validate(problem, NULL) != MASU_PLAN_RIGHT)
        return MASU_ERR_INVALID_ARGUMENT;
    bool room = division_open(&d) && find_empty_homes(&d, memories, memory_count);
    d.status = room ? MASU_OK : MASU_ERR_OUT_OF_MEMORY;
    if (d.status == MASU_OK && !divide_by(&d, true, memories, memory_count, memory_of, offsets, results))
        divide_by(&d, false, memories, memory_count, memory_of, offsets, results);
    division_close(&d);
    return d.status;
}
