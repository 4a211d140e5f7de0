/* judge_parts.c: the judge on parts of a plan: it is asked about the rows of one memory, or of one window of time after
 * the other.
 *
 *     rows in the order of their births:   0 … 511 │ 512 … 1023 │ 1024 …
 *     window 1 judges:                     those alive at the birth of 512, and 512 … 1023
 *
 * Two rows that meet do so at the later birth: they are together in that birth's window.
 */
#include <stdlib.h>
#include <string.h>

#include "base/meta.h"
#include "tool/plan/plan_table.h"

enum { BIRTHS = 512 };

typedef struct room {
    masu_plan_row *rows;
    uint64_t *offsets;
    size_t *place; /* per row of the problem: where it is in rows, or SIZE_MAX */
    size_t *chosen;
    size_t *tied;  /* per row: a row of its ties, the same for all of them */
    size_t *heads; /* per row that tied names: the first of its ties in rows, or SIZE_MAX */
    masu_plan_relation *relations;
    size_t count, relation_count; /* of the problem */
} room;

static void leave(room *r) {
    size_t n = r->count + 1;
    masu__meta_free(r->rows, n * sizeof *r->rows);
    masu__meta_free(r->offsets, n * sizeof *r->offsets);
    masu__meta_free(r->place, n * sizeof *r->place);
    masu__meta_free(r->chosen, n * sizeof *r->chosen);
    masu__meta_free(r->tied, n * sizeof *r->tied);
    masu__meta_free(r->heads, n * sizeof *r->heads);
    masu__meta_free(r->relations, (r->relation_count + n) * sizeof *r->relations);
}

static size_t tie_of(const room *r, size_t row) {
    while (r->tied[row] != row)
        row = r->tied[row] = r->tied[r->tied[row]];
    return row;
}

static void find_ties(room *r, const masu_plan_problem *problem) {
    for (size_t i = 0; i < problem->count; i++)
        r->tied[i] = i;
    for (size_t i = 0; i < problem->relation_count; i++)
        if (problem->relations[i].kind == MASU_PLAN_MUST_SHARE)
            r->tied[tie_of(r, problem->relations[i].b)] = tie_of(r, problem->relations[i].a);
}

/* The relations between the chosen rows, those by ties with others included. */
static size_t relate(room *r, const masu_plan_problem *problem, const size_t *chosen, size_t count) {
    size_t relations = 0;
    for (size_t i = 0; i < problem->relation_count; i++) {
        masu_plan_relation mine = problem->relations[i];
        mine.a = r->place[mine.a];
        mine.b = r->place[mine.b];
        if (mine.a != SIZE_MAX && mine.b != SIZE_MAX)
            r->relations[relations++] = mine;
    }
    for (size_t i = 0; i < count && problem->relation_count > 0; i++) {
        size_t *head = &r->heads[tie_of(r, chosen[i])];
        if (*head == SIZE_MAX)
            *head = i;
        else
            r->relations[relations++] = (masu_plan_relation){MASU_PLAN_MUST_SHARE, *head, i};
    }
    for (size_t i = 0; i < count && problem->relation_count > 0; i++)
        r->heads[tie_of(r, chosen[i])] = SIZE_MAX;
    return relations;
}

static bool enter(room *r, const masu_plan_problem *problem) {
    size_t n = problem->count + 1;
    *r = (room){.count = problem->count, .relation_count = problem->relation_count};
    r->rows = masu__meta_alloc(n * sizeof *r->rows);
    r->offsets = masu__meta_alloc(n * sizeof *r->offsets);
    r->place = masu__meta_alloc(n * sizeof *r->place);
    r->chosen = masu__meta_alloc(n * sizeof *r->chosen);
    r->tied = masu__meta_alloc(n * sizeof *r->tied);
    r->heads = masu__meta_alloc(n * sizeof *r->heads);
    r->relations = masu__meta_alloc((r->relation_count + n) * sizeof *r->relations);
    if (!r->rows || !r->offsets || !r->place || !r->chosen || !r->tied || !r->heads || !r->relations) {
        leave(r);
        return false;
    }
    memset(r->place, 0xFF, n * sizeof *r->place);
    memset(r->heads, 0xFF, n * sizeof *r->heads);
    find_ties(r, problem);
    return true;
}

/* Returns the chosen rows as a problem of their own, in r. Leaves place[] as it was. */
static masu_plan_problem judge(room *r, const masu_plan_problem *problem, const uint64_t *offsets,
                               uint64_t height_bytes, const size_t *chosen, size_t count, plan_judgement *out) {
    size_t a = SIZE_MAX, b = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        r->rows[i] = problem->rows[chosen[i]];
        r->offsets[i] = offsets[chosen[i]];
        r->place[chosen[i]] = i;
    }
    masu_plan_problem part = {r->rows, count, r->relations, relate(r, problem, chosen, count), 0};
    out->verdict = masu_plan_check_problem(&part, r->offsets, height_bytes, &a, &b);
    bool wrong = out->verdict != MASU_PLAN_FINE;
    out->a = wrong && a < count ? chosen[a] : SIZE_MAX;
    out->b = wrong && b < count ? chosen[b] : SIZE_MAX;
    for (size_t i = 0; i < count; i++)
        r->place[chosen[i]] = SIZE_MAX;
    return part;
}

masu_status plan_judge_some(const masu_plan_problem *problem, const uint64_t *offsets, uint64_t height_bytes,
                            const size_t *chosen, size_t count, plan_judgement *out, uint64_t *lower_bound_bytes) {
    room r;
    if (!enter(&r, problem))
        return MASU_ERR_OUT_OF_MEMORY;
    masu_plan_problem part = judge(&r, problem, offsets, height_bytes, chosen, count, out);
    masu_status status = MASU_OK;
    *lower_bound_bytes = 0;
    if (out->verdict == MASU_PLAN_FINE) {
        masu_plan_options quick = {.only = 1, .threads = 1};
        masu_plan_result result;
        status = masu_plan_find(&part, &quick, r.offsets, &result);
        *lower_bound_bytes = status == MASU_OK ? result.lower_bound_bytes : 0;
    }
    leave(&r);
    return status;
}

typedef struct birth {
    int64_t lower;
    size_t row;
} birth;

static int by_birth(const void *a, const void *b) {
    const birth *x = a, *y = b;
    if (x->lower != y->lower)
        return x->lower < y->lower ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static void judge_windows(room *r, const birth *births, const masu_plan_problem *problem, const uint64_t *offsets,
                          uint64_t height_bytes, plan_judgement *out) {
    size_t alive = 0;
    for (size_t k = 0; k < problem->count && out->verdict == MASU_PLAN_FINE;) {
        size_t kept = 0;
        for (size_t i = 0; i < alive; i++)
            if (problem->rows[r->chosen[i]].upper > births[k].lower)
                r->chosen[kept++] = r->chosen[i];
        alive = kept;
        for (size_t end = k + BIRTHS; k < problem->count && k < end; k++)
            r->chosen[alive++] = births[k].row;
        judge(r, problem, offsets, height_bytes, r->chosen, alive, out);
    }
    /* relations hold between rows that never meet, too */
    for (size_t i = 0; i < problem->relation_count && out->verdict == MASU_PLAN_FINE; i++) {
        size_t two[] = {problem->relations[i].a, problem->relations[i].b};
        masu_plan_problem alone = *problem;
        alone.relations = &problem->relations[i];
        alone.relation_count = problem->relations[i].kind != MASU_PLAN_MAY_SHARE;
        if (alone.relation_count > 0)
            judge(r, &alone, offsets, height_bytes, two, 2, out);
    }
}

masu_status plan_judge_windows(const masu_plan_problem *problem, const uint64_t *offsets, uint64_t height_bytes,
                               plan_judgement *out) {
    room r;
    size_t bytes = (problem->count + 1) * sizeof(birth);
    birth *births = masu__meta_alloc(bytes);
    if (!births)
        return MASU_ERR_OUT_OF_MEMORY;
    *out = (plan_judgement){MASU_PLAN_FINE, SIZE_MAX, SIZE_MAX};
    bool entered = enter(&r, problem);
    if (entered) {
        for (size_t i = 0; i < problem->count; i++)
            births[i] = (birth){problem->rows[i].lower, i};
        qsort(births, problem->count, sizeof *births, by_birth);
        judge_windows(&r, births, problem, offsets, height_bytes, out);
        leave(&r);
    }
    masu__meta_free(births, bytes);
    return entered ? MASU_OK : MASU_ERR_OUT_OF_MEMORY;
}
