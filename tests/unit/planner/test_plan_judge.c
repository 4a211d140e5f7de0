/* The judge against a grid of bytes and moments: the same verdict about the same rows, whatever is wrong. And many
 * rows: nested lives are judged, and planned at their bound, in the time of a few sorts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <masu/plan.h>

#include "base/meta.h"
#include "base/rng.h"

/* ---- against a grid ---------------------------------------------------------------------------- */

enum { FEW = 9, MOMENTS = 9, BYTES = 32, MOST_GAPS = 2, RELATIONS = 3, ROUNDS = 60000 };

typedef struct drawn {
    masu_plan_row rows[FEW];
    masu_plan_gap gaps[FEW][MOST_GAPS];
    masu_plan_relation relations[RELATIONS];
    uint64_t offsets[FEW], height;
    masu_plan_problem problem;
} drawn;

/* One gap or two, one behind the other, each with a window or without. */
static void draw_gaps(masu__rng *rng, drawn *d, size_t i) {
    masu_plan_row *row = &d->rows[i];
    int64_t at = row->lower + 1;
    for (size_t k = 0; k < MOST_GAPS && at < row->upper - 1; k++) {
        masu_plan_gap *gap = &d->gaps[i][row->gap_count++];
        *gap = (masu_plan_gap){.lower = at, .upper = at + 1};
        if (row->size_bytes > 1 && masu__rng_below(rng, 2)) {
            gap->window_lower = masu__rng_below(rng, 2);
            gap->window_upper = gap->window_lower + 1;
        }
        at += 2;
    }
    row->gaps = d->gaps[i];
}

/* Rows go where they fit in most rounds, so that faults are few; then anything may be moved. */
static void draw(masu__rng *rng, drawn *d) {
    *d = (drawn){0};
    size_t count = 2 + masu__rng_below(rng, FEW - 1), spread = 1 + masu__rng_below(rng, 24);
    bool many_gaps = masu__rng_below(rng, 3) == 0;
    for (size_t i = 0; i < count; i++) {
        int64_t lower = (int64_t)masu__rng_below(rng, MOMENTS - 1);
        d->rows[i] = (masu_plan_row){.size_bytes = masu__rng_below(rng, 5),
                                     .lower = lower,
                                     .upper = lower + 1 + (int64_t)masu__rng_below(rng, (uint64_t)(MOMENTS - lower)),
                                     .alignment_bytes = masu__rng_below(rng, 12) == 0 ? 2 : 0};
        d->offsets[i] = masu__rng_below(rng, spread);
        if (masu__rng_below(rng, 6) == 0) {
            d->rows[i].is_fixed = true;
            d->rows[i].fixed_offset = d->offsets[i] + (masu__rng_below(rng, 10) == 0);
        }
        if (many_gaps || masu__rng_below(rng, 8) == 0)
            draw_gaps(rng, d, i);
    }
    size_t relations = masu__rng_below(rng, 2) ? 0 : masu__rng_below(rng, RELATIONS + 1);
    for (size_t r = 0; r < relations; r++) {
        size_t a = masu__rng_below(rng, count), b = (a + 1 + masu__rng_below(rng, count - 1)) % count;
        d->relations[r] = (masu_plan_relation){(masu_plan_relation_kind)masu__rng_below(rng, 3), a, b};
        if (masu__rng_below(rng, 4) > 0)
            d->offsets[b] = d->offsets[a];
    }
    d->height = masu__rng_below(rng, 10) == 0 ? spread : BYTES;
    d->problem = (masu_plan_problem){d->rows, count, d->relations, relations, 0};
}

static bool keeps(const masu_plan_row *row, uint64_t offset, int64_t moment, uint64_t byte) {
    uint64_t from = 0, to = row->size_bytes;
    if (moment < row->lower || moment >= row->upper)
        return false;
    for (size_t g = 0; g < row->gap_count; g++)
        if (row->gaps[g].lower <= moment && moment < row->gaps[g].upper) {
            from = row->gaps[g].window_lower;
            to = row->gaps[g].window_upper;
        }
    return byte >= offset + from && byte < offset + to;
}

/* Over ties of ties, too. */
static bool are_tied(const drawn *d, size_t a, size_t b) {
    bool reached[FEW] = {false};
    reached[a] = true;
    for (size_t round = 0; round < RELATIONS; round++)
        for (size_t r = 0; r < d->problem.relation_count; r++) {
            const masu_plan_relation *t = &d->relations[r];
            if (t->kind == MASU_PLAN_MUST_SHARE && (reached[t->a] || reached[t->b]))
                reached[t->a] = reached[t->b] = true;
        }
    return reached[b];
}

static bool may_share(const drawn *d, size_t a, size_t b) {
    for (size_t r = 0; r < d->problem.relation_count; r++) {
        const masu_plan_relation *t = &d->relations[r];
        if (t->kind == MASU_PLAN_MAY_SHARE && ((t->a == a && t->b == b) || (t->a == b && t->b == a)))
            return true;
    }
    return are_tied(d, a, b);
}

static bool meet(const drawn *d, size_t a, size_t b) {
    if (d->offsets[a] == d->offsets[b] && may_share(d, a, b))
        return false;
    for (int64_t moment = 0; moment <= MOMENTS; moment++)
        for (uint64_t byte = 0; byte < BYTES; byte++)
            if (keeps(&d->rows[a], d->offsets[a], moment, byte) && keeps(&d->rows[b], d->offsets[b], moment, byte))
                return true;
    return false;
}

typedef struct judgement {
    masu_plan_verdict verdict;
    size_t a, b;
} judgement;

static judgement judge_rows(const drawn *d) {
    for (size_t i = 0; i < d->problem.count; i++) {
        const masu_plan_row *row = &d->rows[i];
        if (d->offsets[i] + row->size_bytes > d->height)
            return (judgement){MASU_PLAN_OUTSIDE, i, SIZE_MAX};
        if (row->alignment_bytes > 0 && d->offsets[i] % row->alignment_bytes > 0)
            return (judgement){MASU_PLAN_MISALIGNED, i, SIZE_MAX};
        if (row->is_fixed && row->size_bytes > 0 && d->offsets[i] != row->fixed_offset)
            return (judgement){MASU_PLAN_MOVED, i, SIZE_MAX};
        for (size_t j = 0; j < i; j++)
            if (meet(d, i, j))
                return (judgement){MASU_PLAN_OVERLAP, j, i};
    }
    return (judgement){MASU_PLAN_FINE, SIZE_MAX, SIZE_MAX};
}

static void the_same_as_on_a_grid(void **state) {
    (void)state;
    size_t seen[MASU_PLAN_VERDICT_COUNT] = {0};
    masu__rng rng;
    masu__rng_seed(&rng, 23);
    for (size_t round = 0; round < ROUNDS; round++) {
        drawn d;
        draw(&rng, &d);
        size_t a = SIZE_MAX, b = SIZE_MAX;
        judgement expected = judge_rows(&d);
        masu_plan_verdict verdict = masu_plan_check_problem(&d.problem, d.offsets, d.height, &a, &b);
        seen[verdict]++;
        if (expected.verdict == MASU_PLAN_FINE) { /* relations are looked at when rows are right */
            assert_true(verdict == MASU_PLAN_FINE || verdict == MASU_PLAN_APART || verdict == MASU_PLAN_TOGETHER);
            continue;
        }
        assert_int_equal(verdict, expected.verdict);
        assert_int_equal(a, expected.a);
        assert_int_equal(b, expected.b);
    }
    for (int k = 0; k < MASU_PLAN_VERDICT_COUNT; k++)
        assert_true(seen[k] > ROUNDS / 1000);
    assert_int_equal(masu__meta_live_bytes(), 0);
}

/* ---- many rows ----------------------------------------------------------------------------------- */

enum { MANY = 300 * 1000, FLOORS = 100 };

static masu_plan_row rows[MANY];
static uint64_t offsets[MANY];

/* A house of full floors: of two rows that are moved onto others the first is named, with what it lies on. */
static void the_first_of_many(void **state) {
    (void)state;
    size_t a = 0, b = 0;
    for (size_t i = 0; i < MANY; i++) {
        rows[i] = (masu_plan_row){.size_bytes = 16, .lower = (int64_t)(i / FLOORS), .upper = (int64_t)(i / FLOORS) + 1};
        offsets[i] = i % FLOORS * 16;
    }
    assert_int_equal(masu_plan_check(rows, MANY, offsets, FLOORS * 16, &a, &b), MASU_PLAN_FINE);
    offsets[200000] = 77 * 16 + 15;
    offsets[123456] = 5 * 16 + 1;
    assert_int_equal(masu_plan_check(rows, MANY, offsets, FLOORS * 16, &a, &b), MASU_PLAN_OVERLAP);
    assert_int_equal(a, 123405); /* 123456 is row 56 of its floors; 123405 the first of the two below it */
    assert_int_equal(b, 123456);
    offsets[123405] += 16 * FLOORS; /* a fault of its own comes before later overlaps */
    assert_int_equal(masu_plan_check(rows, MANY, offsets, FLOORS * 16, &a, NULL), MASU_PLAN_OUTSIDE);
    assert_int_equal(a, 123405);
    assert_int_equal(masu__meta_live_bytes(), 0);
}

/* Depth first through a random binary tree: a call and what it calls. Coarse lives would raise the load of these by a
 * fourth, and the first plan, for which alone there are steps, with it. */
static void nested_lives_are_at_their_bound(void **state) {
    (void)state;
    masu__rng rng;
    masu__rng_seed(&rng, 11);
    for (size_t i = 0; i < MANY; i++) {
        int64_t at = 0, width = MANY;
        for (; width > 4 && masu__rng_below(&rng, 12) > 0; width = (width - 1) / 2)
            at += masu__rng_below(&rng, 2) ? 1 + (width - 1) / 2 : 1;
        rows[i] = (masu_plan_row){.size_bytes = 1 + masu__rng_below(&rng, UINT64_C(64) << masu__rng_below(&rng, 14)),
                                  .lower = at,
                                  .upper = at + width};
    }
    masu_plan_problem problem = {.rows = rows, .count = MANY};
    masu_plan_options options = {.step_limit = MANY, .threads = 1};
    masu_plan_result r;
    assert_int_equal(masu_plan_find(&problem, &options, offsets, &r), MASU_OK);
    assert_int_equal(r.outcome, MASU_PLAN_OPTIMAL);
    assert_int_equal(masu_plan_check(rows, MANY, offsets, r.height_bytes, NULL, NULL), MASU_PLAN_FINE);
    assert_int_equal(masu__meta_live_bytes(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_as_on_a_grid),
        cmocka_unit_test(the_first_of_many),
        cmocka_unit_test(nested_lives_are_at_their_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
