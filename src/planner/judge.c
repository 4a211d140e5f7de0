/* judge.c: the judge of plans. Every row against every other, written to be believed. It shares no
 * code with the planner. */
#include <masu/plan.h>

#include "base/meta.h"

static void say(size_t *where, size_t row) {
    if (where)
        *where = row;
}

static masu_plan_verdict say_pair(masu_plan_verdict verdict, size_t *row_a, size_t *row_b, size_t a, size_t b) {
    say(row_a, a);
    say(row_b, b);
    return verdict;
}

typedef struct bytes {
    uint64_t from, to; /* from the row's offset; to == from: none */
} bytes;

/* The bytes that the row keeps at a moment. */
static bytes bytes_at(const masu_plan_row *row, int64_t moment) {
    if (moment < row->lower || moment >= row->upper)
        return (bytes){0, 0};
    for (size_t i = 0; i < row->gap_count; i++)
        if (row->gaps[i].lower <= moment && moment < row->gaps[i].upper)
            return (bytes){row->gaps[i].window_lower, row->gaps[i].window_upper};
    return (bytes){0, row->size_bytes};
}

static bool share_a_byte_at(const masu_plan_row *a, uint64_t offset_a, const masu_plan_row *b, uint64_t offset_b,
                            int64_t moment) {
    bytes x = bytes_at(a, moment), y = bytes_at(b, moment);
    return x.from < x.to && y.from < y.to && offset_a + x.from < offset_b + y.to && offset_b + y.from < offset_a + x.to;
}

static bool share_a_byte_when_changes(const masu_plan_row *a, uint64_t offset_a, const masu_plan_row *b,
                                      uint64_t offset_b, const masu_plan_row *changing) {
    for (size_t i = 0; i < changing->gap_count; i++)
        if (share_a_byte_at(a, offset_a, b, offset_b, changing->gaps[i].lower) ||
            share_a_byte_at(a, offset_a, b, offset_b, changing->gaps[i].upper))
            return true;
    return share_a_byte_at(a, offset_a, b, offset_b, changing->lower);
}

static bool share_a_byte(const masu_plan_row *a, uint64_t offset_a, const masu_plan_row *b, uint64_t offset_b) {
    return offset_a < offset_b + b->size_bytes && offset_b < offset_a + a->size_bytes;
}

/* The bytes that two rows keep change only where one is born or a gap begins or ends: asking there is
 * enough. Nothing needs to be asked of rows with no byte or no moment in common, the common case. */
static bool collide(const masu_plan_row *a, uint64_t offset_a, const masu_plan_row *b, uint64_t offset_b) {
    if (!share_a_byte(a, offset_a, b, offset_b) || a->lower >= b->upper || b->lower >= a->upper)
        return false;
    return share_a_byte_when_changes(a, offset_a, b, offset_b, a) ||
           share_a_byte_when_changes(a, offset_a, b, offset_b, b);
}

/* The first row of those that each is tied to, over any number of ties: two views of one base share
 * its bytes. NULL when no rows are tied, or memory runs out: then only what a relation says of the two
 * themselves counts, which is stricter. */
static size_t *find_ties(const masu_plan_problem *problem) {
    bool tied = false;
    for (size_t i = 0; i < problem->relation_count; i++)
        tied |= problem->relations[i].kind == MASU_PLAN_MUST_SHARE;
    size_t *first = tied ? masu__meta_alloc(problem->count * sizeof *first) : NULL;
    if (!first)
        return NULL;
    for (size_t i = 0; i < problem->count; i++)
        first[i] = i;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < problem->relation_count; i++) {
            size_t *a = &first[problem->relations[i].a], *b = &first[problem->relations[i].b];
            if (problem->relations[i].kind != MASU_PLAN_MUST_SHARE || *a == *b)
                continue;
            *a = *b = *a < *b ? *a : *b;
            changed = true;
        }
    }
    return first;
}

/* Whether two rows that have the same offset may share bytes. */
static bool may_share(const masu_plan_problem *problem, const size_t *first, size_t a, size_t b) {
    if (first && first[a] == first[b])
        return true;
    for (size_t i = 0; i < problem->relation_count; i++) {
        const masu_plan_relation *r = &problem->relations[i];
        if (r->kind != MASU_PLAN_MUST_NOT_SHARE && ((r->a == a && r->b == b) || (r->a == b && r->b == a)))
            return true;
    }
    return false;
}

static masu_plan_verdict check_relations(const masu_plan_problem *problem, const uint64_t *offsets, size_t *row_a,
                                         size_t *row_b) {
    for (size_t i = 0; i < problem->relation_count; i++) {
        const masu_plan_relation *r = &problem->relations[i];
        if (r->kind == MASU_PLAN_MUST_SHARE && offsets[r->a] != offsets[r->b])
            return say_pair(MASU_PLAN_APART, row_a, row_b, r->a, r->b);
        if (r->kind == MASU_PLAN_MUST_NOT_SHARE && problem->rows[r->a].size_bytes > 0 &&
            problem->rows[r->b].size_bytes > 0 &&
            share_a_byte(&problem->rows[r->a], offsets[r->a], &problem->rows[r->b], offsets[r->b]))
            return say_pair(MASU_PLAN_TOGETHER, row_a, row_b, r->a, r->b);
    }
    return MASU_PLAN_FINE;
}

static masu_plan_verdict check_rows(const masu_plan_problem *problem, const size_t *first, const uint64_t *offsets,
                                    uint64_t height_bytes, size_t *row_a, size_t *row_b) {
    const masu_plan_row *rows = problem->rows;
    for (size_t i = 0; i < problem->count; i++) {
        say(row_a, i);
        if (rows[i].size_bytes > height_bytes || offsets[i] > height_bytes - rows[i].size_bytes)
            return MASU_PLAN_OUTSIDE;
        if (rows[i].alignment_bytes != 0 && offsets[i] % rows[i].alignment_bytes != 0)
            return MASU_PLAN_MISALIGNED;
        if (rows[i].is_fixed && rows[i].size_bytes > 0 && offsets[i] != rows[i].fixed_offset)
            return MASU_PLAN_MOVED;
        for (size_t j = 0; j < i; j++)
            if (collide(&rows[i], offsets[i], &rows[j], offsets[j]) &&
                !(offsets[i] == offsets[j] && may_share(problem, first, i, j)))
                return say_pair(MASU_PLAN_OVERLAP, row_a, row_b, j, i);
    }
    return MASU_PLAN_FINE;
}

masu_plan_verdict masu_plan_check_problem(const masu_plan_problem *problem, const uint64_t *offsets,
                                          uint64_t height_bytes, size_t *row_a, size_t *row_b) {
    size_t *first = find_ties(problem);
    masu_plan_verdict verdict = check_rows(problem, first, offsets, height_bytes, row_a, row_b);
    if (first)
        masu__meta_free(first, problem->count * sizeof *first);
    return verdict != MASU_PLAN_FINE ? verdict : check_relations(problem, offsets, row_a, row_b);
}

masu_plan_verdict masu_plan_check(const masu_plan_row *rows, size_t count, const uint64_t *offsets,
                                  uint64_t height_bytes, size_t *row_a, size_t *row_b) {
    masu_plan_problem problem = {.rows = rows, .count = count};
    return masu_plan_check_problem(&problem, offsets, height_bytes, row_a, row_b);
}

const char *masu_plan_verdict_name(masu_plan_verdict verdict) {
    static const char *const names[] = {"FINE", "OVERLAP", "MISALIGNED", "OUTSIDE", "MOVED", "APART", "TOGETHER"};
    return verdict < MASU_PLAN_VERDICT_COUNT ? names[verdict] : "UNKNOWN";
}
