/* judge.c: the judge of plans, written to be believed: rows with gaps, and those that may share, against every other;
 * the others as time passes (judge_sweep.h), so that a million can be judged. It shares no code with the planner.
 *
 *     the verdict   that of the first row with a fault; an overlap is said of the first row that lies on one before it,
 *                   and of the first of those: as if every row were compared with each before it
 */
#include <masu/plan.h>

#include "base/meta.h"
#include "planner/judge_sweep.h"

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

/* ---- rows ------------------------------------------------------------------------------------ */

static masu_plan_verdict check_alone(const masu_plan_row *row, uint64_t offset, uint64_t height_bytes) {
    if (row->size_bytes > height_bytes || offset > height_bytes - row->size_bytes)
        return MASU_PLAN_OUTSIDE;
    if (row->alignment_bytes != 0 && offset % row->alignment_bytes != 0)
        return MASU_PLAN_MISALIGNED;
    if (row->is_fixed && row->size_bytes > 0 && offset != row->fixed_offset)
        return MASU_PLAN_MOVED;
    return MASU_PLAN_FINE;
}

/* A question about rows; each in its place of the problem. */
typedef struct judge {
    const masu_plan_problem *problem;
    const uint64_t *offsets;
    const size_t *first; /* as find_ties has it */
    const bool *odd;     /* NULL: all are */
} judge;

static bool may_not_meet(const judge *c, size_t a, size_t b) {
    const masu_plan_row *rows = c->problem->rows;
    return collide(&rows[a], c->offsets[a], &rows[b], c->offsets[b]) &&
           !(c->offsets[a] == c->offsets[b] && may_share(c->problem, c->first, a, b));
}

/* Rows with gaps, and those that may share bytes: each of them is compared with every other. */
static bool *find_odd(const masu_plan_problem *problem) {
    bool *odd = masu__meta_calloc(problem->count + 1, sizeof *odd);
    for (size_t i = 0; odd && i < problem->count; i++)
        odd[i] = problem->rows[i].gap_count > 0;
    for (size_t i = 0; odd && i < problem->relation_count; i++)
        if (problem->relations[i].kind != MASU_PLAN_MUST_NOT_SHARE)
            odd[problem->relations[i].a] = odd[problem->relations[i].b] = true;
    return odd;
}

static bool is_odd(const judge *c, size_t row) {
    return !c->odd || c->odd[row];
}

/* The first of the first `count` rows that lies on one before it, one of the two being odd; count: none. */
static size_t first_odd_on_another(const judge *c, size_t count) {
    size_t found = count;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; is_odd(c, i) && j < count; j++) {
            size_t later = i > j ? i : j;
            bool asked_before = j >= i && is_odd(c, j);
            if (later < found && !asked_before && may_not_meet(c, i, j))
                found = later;
        }
    return found;
}

/* The first of the first `count` rows that lies on one before it; count: none. Without memory every row is odd. */
static size_t first_on_another(judge *c, size_t count) {
    bool *odd = find_odd(c->problem);
    size_t plain = count;
    if (odd && !masu__judge_first_on_another(c->problem->rows, c->offsets, odd, count, &plain)) {
        masu__meta_free(odd, (c->problem->count + 1) * sizeof *odd);
        odd = NULL;
    }
    c->odd = odd;
    size_t found = first_odd_on_another(c, plain);
    if (odd)
        masu__meta_free(odd, (c->problem->count + 1) * sizeof *odd);
    return found;
}

/* The first row with a fault, of which those it has by itself come first. */
static masu_plan_verdict check_rows(const masu_plan_problem *problem, const size_t *first, const uint64_t *offsets,
                                    uint64_t height_bytes, size_t *row_a, size_t *row_b) {
    judge c = {.problem = problem, .offsets = offsets, .first = first};
    masu_plan_verdict alone = MASU_PLAN_FINE;
    size_t right = 0;
    while (right < problem->count && alone == MASU_PLAN_FINE) {
        alone = check_alone(&problem->rows[right], offsets[right], height_bytes);
        right += alone == MASU_PLAN_FINE;
    }
    size_t on_another = first_on_another(&c, right);
    if (on_another == right) {
        if (alone != MASU_PLAN_FINE)
            say(row_a, right);
        return alone;
    }
    size_t below = 0;
    while (!may_not_meet(&c, on_another, below))
        below++;
    return say_pair(MASU_PLAN_OVERLAP, row_a, row_b, below, on_another);
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
