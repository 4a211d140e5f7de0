/* follow_hints.c: rows to where an older plan had them. See follow_hints.h.
 *
 *     hinted rows, the largest first, each unless it collides with one before
 *        └─► all of them fixed: is there still a plan of this height? ─► if not: the first half,
 *            the second half, quarters …; what has a plan stays fixed for the next question
 *     then each row that is not at its hint, if there is room for it as things lie now
 *
 * The height was found without hints, so they cannot cost any.
 */
#include "planner/search/follow_hints.h"

#include <stdlib.h>
#include <string.h>

#include "planner/search/solver.h"

enum { MOST_HINTS = 8192, STEPS = 2000, PARTS = 64 };

typedef struct hints {
    const masu_plan_problem *problem;
    const masu_plan_options *options;
    uint64_t height;
    masu_plan_row *rows; /* without hints, some fixed */
    uint32_t *wanted;    /* rows that could lie at their hints, all of them together */
    size_t wanted_count;
    bool *kept;     /* per wanted: it does */
    uint32_t *tied; /* per row: the first of those that it is tied to, over any number of ties */
    double end_s;
    uint64_t *offsets; /* of the last question */
    masu__arena arena;
} hints;

typedef struct bytes {
    uint64_t from, to;
} bytes;

/* The bytes that a row at offset keeps at a moment. */
static bytes kept_at(const masu_plan_row *row, uint64_t offset, int64_t moment) {
    if (moment < row->lower || moment >= row->upper)
        return (bytes){0, 0};
    for (size_t i = 0; i < row->gap_count; i++)
        if (row->gaps[i].lower <= moment && moment < row->gaps[i].upper)
            return (bytes){offset + row->gaps[i].window_lower, offset + row->gaps[i].window_upper};
    return (bytes){offset, offset + row->size_bytes};
}

static bool collide_at(const masu_plan_row *a, uint64_t offset_a, const masu_plan_row *b, uint64_t offset_b,
                       int64_t moment) {
    bytes x = kept_at(a, offset_a, moment), y = kept_at(b, offset_b, moment);
    return x.from < x.to && y.from < y.to && x.from < y.to && y.from < x.to;
}

/* Asked wherever what one of the two keeps may grow: at its birth and where a gap begins or ends. */
static bool collide(const masu_plan_row *a, uint64_t offset_a, const masu_plan_row *b, uint64_t offset_b) {
    if (a->lower >= b->upper || b->lower >= a->upper || offset_a >= offset_b + b->size_bytes ||
        offset_b >= offset_a + a->size_bytes)
        return false;
    const masu_plan_row *both[] = {a, b};
    for (int k = 0; k < 2; k++) {
        if (collide_at(a, offset_a, b, offset_b, both[k]->lower))
            return true;
        for (size_t i = 0; i < both[k]->gap_count; i++)
            if (collide_at(a, offset_a, b, offset_b, both[k]->gaps[i].lower) ||
                collide_at(a, offset_a, b, offset_b, both[k]->gaps[i].upper))
                return true;
    }
    return false;
}

static uint32_t first_tied(const hints *h, size_t row) {
    uint32_t at = (uint32_t)row;
    while (h->tied[at] != at)
        at = h->tied[at] = h->tied[h->tied[at]];
    return at;
}

static void find_ties(hints *h) {
    const masu_plan_problem *p = h->problem;
    for (size_t i = 0; i < p->count; i++)
        h->tied[i] = (uint32_t)i;
    for (size_t i = 0; i < p->relation_count; i++) {
        const masu_plan_relation *r = &p->relations[i];
        if (r->kind == MASU_PLAN_MUST_SHARE)
            h->tied[first_tied(h, r->a)] = first_tied(h, r->b);
    }
}

/* At one offset because ties or a relation let them. */
static bool share(const hints *h, size_t a, uint64_t offset_a, size_t b, uint64_t offset_b) {
    const masu_plan_problem *p = h->problem;
    if (offset_a == offset_b && first_tied(h, a) == first_tied(h, b))
        return true;
    for (size_t i = 0; i < p->relation_count && offset_a == offset_b; i++) {
        const masu_plan_relation *r = &p->relations[i];
        if (r->kind != MASU_PLAN_MUST_NOT_SHARE && ((r->a == a && r->b == b) || (r->a == b && r->b == a)))
            return true;
    }
    return false;
}

static bool could_follow(const hints *h, const masu_plan_row *row) {
    return row->has_hint && !row->is_fixed && row->size_bytes > 0 &&
           (row->alignment_bytes == 0 || row->hint_offset % row->alignment_bytes == 0) &&
           row->size_bytes <= h->height && row->hint_offset <= h->height - row->size_bytes;
}

static int by_size(const void *a, const void *b, void *rows) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    uint64_t size_x = ((masu_plan_row *)rows)[x].size_bytes;
    uint64_t size_y = ((masu_plan_row *)rows)[y].size_bytes;
    if (size_x != size_y)
        return size_x > size_y ? -1 : 1;
    return (x > y) - (x < y);
}

static bool stands_in_the_way(const hints *h, uint32_t row) {
    const masu_plan_problem *p = h->problem;
    const masu_plan_row *rows = p->rows;
    uint64_t hint = rows[row].hint_offset;
    for (size_t k = 0; k < h->wanted_count; k++) {
        uint32_t other = h->wanted[k];
        if (collide(&rows[row], hint, &rows[other], rows[other].hint_offset) &&
            !share(h, row, hint, other, rows[other].hint_offset))
            return true;
    }
    for (size_t i = 0; i < p->count; i++)
        if (rows[i].is_fixed && collide(&rows[row], hint, &rows[i], rows[i].fixed_offset) &&
            !share(h, row, hint, i, rows[i].fixed_offset))
            return true;
    return false;
}

static void choose(hints *h) {
    const masu_plan_problem *p = h->problem;
    size_t count = 0;
    for (size_t i = 0; i < p->count; i++)
        if (could_follow(h, &p->rows[i]))
            h->wanted[count++] = (uint32_t)i;
    qsort_r(h->wanted, count, sizeof *h->wanted, by_size, (void *)p->rows);
    count = count < MOST_HINTS ? count : MOST_HINTS;
    for (size_t k = 0; k < count; k++) /* what stays moves to the front */
        if (!stands_in_the_way(h, h->wanted[k]))
            h->wanted[h->wanted_count++] = h->wanted[k];
}

static void fix(hints *h, size_t k) {
    masu_plan_row *row = &h->rows[h->wanted[k]];
    row->is_fixed = true;
    row->fixed_offset = h->problem->rows[h->wanted[k]].hint_offset;
}

/* Is there a plan with what is kept and wanted[from, to) at their hints? */
static masu_status ask(hints *h, size_t from, size_t to, bool *found) {
    masu_plan_result result;
    const masu_plan_problem *p = h->problem;
    masu_plan_problem question = *p;
    masu_plan_options options = {.goal = MASU_PLAN_FIT,
                                 .step_limit = STEPS,
                                 .seed = h->options->seed,
                                 .threads = h->options->threads,
                                 .cancel = h->options->cancel};
    memcpy(h->rows, p->rows, p->count * sizeof *h->rows);
    for (size_t i = 0; i < p->count; i++)
        h->rows[i].has_hint = false;
    for (size_t k = 0; k < h->wanted_count; k++)
        if (h->kept[k] || (k >= from && k < to))
            fix(h, k);
    question.rows = h->rows;
    question.capacity_bytes = h->height;
    masu_status status = masu__plan_find_once(&question, &options, h->offsets, &result);
    *found = status == MASU_OK && (result.outcome == MASU_PLAN_OPTIMAL || result.outcome == MASU_PLAN_FEASIBLE);
    return status;
}

static bool out_of_time(const hints *h) {
    return h->options->time_limit_s > 0 && masu__plan_now() > h->end_s;
}

/* False: out of memory. */
static bool fix_most(hints *h, uint64_t *offsets) {
    size_t least = h->wanted_count / PARTS;
    for (size_t length = h->wanted_count; length > least; length /= 2)
        for (size_t from = 0; from < h->wanted_count && !out_of_time(h); from += length) {
            size_t to = from + length < h->wanted_count ? from + length : h->wanted_count;
            bool found;
            if (h->kept[from]) /* with its whole part */
                continue;
            if (ask(h, from, to, &found) != MASU_OK)
                return false;
            if (!found)
                continue;
            memset(h->kept + from, true, to - from);
            memcpy(offsets, h->offsets, h->problem->count * sizeof *offsets);
        }
    return true;
}

/* Where nothing ties rows together, each may move on its own. */
static void move_single_rows(const hints *h, uint64_t *offsets) {
    const masu_plan_problem *p = h->problem;
    if (p->relation_count > 0 || p->count > MOST_HINTS)
        return;
    for (size_t i = 0; i < p->count; i++) {
        const masu_plan_row *row = &p->rows[i];
        bool free = could_follow(h, row) && offsets[i] != row->hint_offset;
        for (size_t j = 0; free && j < p->count; j++)
            free = j == i || p->rows[j].size_bytes == 0 || !collide(row, row->hint_offset, &p->rows[j], offsets[j]);
        if (free)
            offsets[i] = row->hint_offset;
    }
}

static bool has_hints(const masu_plan_problem *problem) {
    for (size_t i = 0; i < problem->count; i++)
        if (problem->rows[i].has_hint)
            return true;
    return false;
}

static uint64_t height_of(const masu_plan_problem *problem, const uint64_t *offsets) {
    uint64_t height = 0;
    for (size_t i = 0; i < problem->count; i++)
        if (offsets[i] + problem->rows[i].size_bytes > height)
            height = offsets[i] + problem->rows[i].size_bytes;
    return height;
}

static void keep(hints *h, const uint64_t *mine, uint64_t *offsets, masu_plan_result *result) {
    memcpy(offsets, mine, h->problem->count * sizeof *offsets);
    result->height_bytes = height_of(h->problem, offsets);
    uint64_t capacity = h->problem->capacity_bytes;
    if (result->height_bytes <= result->lower_bound_bytes)
        result->outcome = MASU_PLAN_OPTIMAL;
    else if (result->outcome == MASU_PLAN_UNKNOWN && result->height_bytes <= capacity)
        result->outcome = MASU_PLAN_FEASIBLE;
    result->optimal = result->outcome == MASU_PLAN_OPTIMAL;
}

void masu__plan_follow_hints(const masu_plan_problem *problem, const masu_plan_options *options, uint64_t *offsets,
                             masu_plan_result *result) {
    bool has_plan = result->outcome != MASU_PLAN_INFEASIBLE && result->height_bytes > 0; /* above the capacity, too */
    if (!has_hints(problem) || !has_plan)
        return;
    hints h = {.problem = problem, .options = options, .height = result->height_bytes};
    h.rows = MASU_ARENA_ARRAY(&h.arena, masu_plan_row, problem->count + 1);
    h.wanted = MASU_ARENA_ARRAY(&h.arena, uint32_t, problem->count + 1);
    h.kept = MASU_ARENA_ARRAY(&h.arena, bool, problem->count + 1);
    h.tied = MASU_ARENA_ARRAY(&h.arena, uint32_t, problem->count + 1);
    h.end_s = masu__plan_now() + options->time_limit_s / 10;
    h.offsets = MASU_ARENA_ARRAY(&h.arena, uint64_t, problem->count + 1);
    uint64_t *mine = MASU_ARENA_ARRAY(&h.arena, uint64_t, problem->count + 1);
    if (h.rows && h.wanted && h.kept && h.tied && h.offsets && mine) {
        memcpy(mine, offsets, problem->count * sizeof *mine);
        find_ties(&h);
        choose(&h);
        if (fix_most(&h, mine)) {
            move_single_rows(&h, mine);
            keep(&h, mine, offsets, result);
        }
    }
    masu__arena_destroy(&h.arena);
}
