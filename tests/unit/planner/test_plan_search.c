/* The planner's search: against exhaustive enumeration on tiny problems with everything a row and a
 * relation can say, against rectangles cut into pieces (the optimum is known), and its promises:
 * the same plan for any number of threads, cancellation, progress, monotony, explanations. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include <masu/plan.h>

#include "base/meta.h"
#include "base/rng.h"

enum { MOST = 600, TINY = 5 };

static masu_plan_result find(const masu_plan_problem *problem, masu_plan_goal goal, uint64_t steps, uint64_t *offsets) {
    masu_plan_options options = {.goal = goal, .step_limit = steps, .threads = 2};
    masu_plan_result result;
    assert_int_equal(masu_plan_find(problem, &options, offsets, &result), MASU_OK);
    assert_int_equal(masu__meta_live_bytes(), 0);
    if (result.outcome == MASU_PLAN_OPTIMAL || result.outcome == MASU_PLAN_FEASIBLE) {
        assert_int_equal(masu_plan_check_problem(problem, offsets, result.height_bytes, NULL, NULL), MASU_PLAN_FINE);
        assert_true(result.height_bytes >= result.lower_bound_bytes);
    }
    return result;
}

/* ---- exhaustive ------------------------------------------------------------------------------ */

typedef struct exhaustive {
    masu_plan_problem problem;
    masu_plan_relation relations[2];
    uint64_t offsets[TINY];
    uint64_t limit;
} exhaustive;

/* The rows so far, with the relations among them. */
static bool prefix_is_right(exhaustive *e, size_t count) {
    masu_plan_problem part = {.rows = e->problem.rows, .count = count, .relations = e->relations};
    for (size_t i = 0; i < e->problem.relation_count; i++)
        if (e->problem.relations[i].a < count && e->problem.relations[i].b < count)
            e->relations[part.relation_count++] = e->problem.relations[i];
    return masu_plan_check_problem(&part, e->offsets, e->limit, NULL, NULL) == MASU_PLAN_FINE;
}

static bool place_from(exhaustive *e, size_t row) {
    if (row == e->problem.count)
        return true;
    for (uint64_t offset = 0; offset + e->problem.rows[row].size_bytes <= e->limit; offset++) {
        e->offsets[row] = offset;
        if (prefix_is_right(e, row + 1) && place_from(e, row + 1))
            return true;
    }
    return false;
}

/* UINT64_MAX: no plan up to most. */
static uint64_t lowest_height(const masu_plan_problem *problem, uint64_t most) {
    exhaustive e = {.problem = *problem};
    for (e.limit = 0; e.limit <= most; e.limit++)
        if (place_from(&e, 0))
            return e.limit;
    return UINT64_MAX;
}

typedef struct drawn {
    masu_plan_row rows[MOST];
    masu_plan_gap gaps[MOST][2];
    masu_plan_relation relations[2];
    masu_plan_problem problem;
} drawn;

static void draw_row(masu__rng *rng, masu_plan_row *row, masu_plan_gap *gap, bool plain) {
    int64_t lower = (int64_t)masu__rng_below(rng, 6), length = 1 + (int64_t)masu__rng_below(rng, 5);
    *row = (masu_plan_row){.size_bytes = 1 + masu__rng_below(rng, 4), .lower = lower, .upper = lower + length};
    if (plain)
        return;
    row->alignment_bytes = (uint64_t)1 << masu__rng_below(rng, 3);
    if (length >= 3 && masu__rng_below(rng, 2)) {
        *gap = (masu_plan_gap){.lower = lower + 1, .upper = lower + 2};
        if (masu__rng_below(rng, 2))
            gap->window_upper = 1 + masu__rng_below(rng, row->size_bytes);
        row->gaps = gap;
        row->gap_count = 1;
    }
}

static void draw_tiny(masu__rng *rng, drawn *d, bool plain) {
    *d = (drawn){0};
    d->problem = (masu_plan_problem){.rows = d->rows, .relations = d->relations};
    d->problem.count = 1 + masu__rng_below(rng, TINY);
    for (size_t i = 0; i < d->problem.count; i++)
        draw_row(rng, &d->rows[i], d->gaps[i], plain);
    if (plain || d->problem.count < 3)
        return;
    if (masu__rng_below(rng, 3) == 0) {
        d->rows[0].is_fixed = true;
        d->rows[0].fixed_offset = d->rows[0].alignment_bytes * masu__rng_below(rng, 3);
    }
    if (masu__rng_below(rng, 2))
        d->relations[d->problem.relation_count++] = (masu_plan_relation){
            masu__rng_below(rng, 2) ? MASU_PLAN_MUST_NOT_SHARE : MASU_PLAN_MUST_SHARE, 1, 2};
    if (masu__rng_below(rng, 4) == 0)
        d->relations[d->problem.relation_count++] = (masu_plan_relation){MASU_PLAN_MUST_NOT_SHARE, 0, 2};
}

static void tiny_problems_get_the_optimum(void **state) {
    (void)state;
    masu__rng rng;
    masu__rng_seed(&rng, 5);
    uint64_t offsets[MOST];
    for (int round = 0; round < 700; round++) {
        static drawn d;
        draw_tiny(&rng, &d, round % 3 == 0);
        uint64_t lowest = lowest_height(&d.problem, 24);
        masu_plan_result r = find(&d.problem, MASU_PLAN_MINIMIZE, 0, offsets);
        if (lowest == UINT64_MAX) {
            assert_int_equal(r.outcome, MASU_PLAN_INFEASIBLE);
            continue;
        }
        assert_int_equal(r.outcome, MASU_PLAN_OPTIMAL);
        assert_true(r.height_bytes == lowest);
        d.problem.capacity_bytes = lowest;
        r = find(&d.problem, MASU_PLAN_FIT, 0, offsets);
        assert_true(r.outcome == MASU_PLAN_OPTIMAL || r.outcome == MASU_PLAN_FEASIBLE);
        assert_true(r.height_bytes == lowest);
        d.problem.capacity_bytes = lowest - 1;
        if (lowest > 1)
            assert_int_equal(find(&d.problem, MASU_PLAN_FIT, 0, offsets).outcome, MASU_PLAN_INFEASIBLE);
    }
}

/* Windows that do not begin at the row's offset: items can pass below what starts below them, which
 * the search does not see. Its plans are right, its bounds hold, and most are optimal. */
static void raised_windows_get_right_plans(void **state) {
    (void)state;
    masu__rng rng;
    masu__rng_seed(&rng, 8);
    uint64_t offsets[MOST];
    int optimal = 0, rounds = 200;
    for (int round = 0; round < rounds; round++) {
        static drawn d;
        draw_tiny(&rng, &d, true);
        for (size_t i = 0; i < d.problem.count; i++) {
            masu_plan_row *row = &d.rows[i];
            masu_plan_gap *gap = d.gaps[i];
            if (row->upper - row->lower < 2 || row->size_bytes < 2)
                continue;
            *gap = (masu_plan_gap){.lower = row->lower + 1, .upper = row->upper};
            gap->window_lower = 1 + masu__rng_below(&rng, row->size_bytes - 1);
            gap->window_upper = row->size_bytes;
            row->gaps = gap;
            row->gap_count = 1;
        }
        uint64_t lowest = lowest_height(&d.problem, 24);
        masu_plan_result r = find(&d.problem, MASU_PLAN_MINIMIZE, 20000, offsets);
        assert_true(r.lower_bound_bytes <= lowest && lowest <= r.height_bytes);
        optimal += r.height_bytes == lowest;
        d.problem.capacity_bytes = lowest;
        r = find(&d.problem, MASU_PLAN_FIT, 20000, offsets);
        assert_int_not_equal(r.outcome, MASU_PLAN_INFEASIBLE);
    }
    assert_true(optimal >= rounds * 8 / 10);
}

/* ---- cut rectangles -------------------------------------------------------------------------- */

/* Cuts [time] × [memory] into pieces; every moment is full, so the height is the optimum. */
static void cut(masu__rng *rng, drawn *d, size_t wanted, int64_t time, uint64_t height) {
    typedef struct piece {
        int64_t t0, t1;
        uint64_t y0, y1;
    } piece;
    static piece pieces[MOST];
    size_t count = 1;
    pieces[0] = (piece){0, time, 0, height};
    for (int tries = 0; count < wanted && tries < 100000; tries++) {
        piece *p = &pieces[masu__rng_below(rng, count)];
        piece other = *p;
        if (masu__rng_below(rng, 2) && p->t1 - p->t0 > 1)
            p->t1 = other.t0 = p->t0 + 1 + (int64_t)masu__rng_below(rng, (uint64_t)(p->t1 - p->t0 - 1));
        else if (p->y1 - p->y0 > 1)
            p->y1 = other.y0 = p->y0 + 1 + masu__rng_below(rng, p->y1 - p->y0 - 1);
        else
            continue;
        pieces[count++] = other;
    }
    *d = (drawn){.problem = {.rows = d->rows, .count = count}};
    for (size_t i = 0; i < count; i++)
        d->rows[i] = (masu_plan_row){
            .size_bytes = pieces[i].y1 - pieces[i].y0, .lower = pieces[i].t0, .upper = pieces[i].t1};
}

static void cut_rectangles_are_put_together(void **state) {
    (void)state;
    static drawn d;
    static uint64_t offsets[MOST];
    masu__rng rng;
    masu__rng_seed(&rng, 11);
    for (size_t wanted = 4; wanted <= 24; wanted += 4)
        for (int round = 0; round < 8; round++) {
            cut(&rng, &d, wanted, 40, 1000);
            masu_plan_result r = find(&d.problem, MASU_PLAN_MINIMIZE, 2000000, offsets);
            assert_int_equal(r.outcome, MASU_PLAN_OPTIMAL);
            assert_int_equal(r.height_bytes, 1000);
        }
    /* larger ones: near, and never below */
    for (size_t wanted = 100; wanted <= 500; wanted += 200) {
        cut(&rng, &d, wanted, 400, 100000);
        masu_plan_result r = find(&d.problem, MASU_PLAN_MINIMIZE, 100000, offsets);
        assert_true(r.lower_bound_bytes == 100000 && r.height_bytes <= 125000);
    }
}

/* ---- promises -------------------------------------------------------------------------------- */

static void draw_crowd(masu__rng *rng, drawn *d, size_t count) {
    *d = (drawn){.problem = {.rows = d->rows, .count = count}};
    for (size_t i = 0; i < count; i++) {
        int64_t lower = (int64_t)masu__rng_below(rng, 100);
        d->rows[i] = (masu_plan_row){.size_bytes = 1 + masu__rng_below(rng, 1000),
                                     .lower = lower,
                                     .upper = lower + 1 + (int64_t)masu__rng_below(rng, 30)};
    }
}

static void threads_do_not_show(void **state) {
    (void)state;
    static drawn d;
    static uint64_t one[MOST], many[MOST];
    masu__rng rng;
    masu__rng_seed(&rng, 21);
    for (int round = 0; round < 12; round++) {
        if (round % 2)
            draw_crowd(&rng, &d, 70);
        else
            cut(&rng, &d, 80, 60, 997);
        masu_plan_options options = {.step_limit = 30000, .threads = 1, .seed = (uint64_t)round};
        masu_plan_result a, b;
        assert_int_equal(masu_plan_find(&d.problem, &options, one, &a), MASU_OK);
        options.threads = 4;
        assert_int_equal(masu_plan_find(&d.problem, &options, many, &b), MASU_OK);
        assert_true(a.height_bytes == b.height_bytes && a.outcome == b.outcome &&
                    a.lower_bound_bytes == b.lower_bound_bytes);
        assert_string_equal(a.order, b.order);
        assert_memory_equal(one, many, d.problem.count * sizeof *one);
    }
}

static void a_larger_capacity_loses_nothing(void **state) {
    (void)state;
    static drawn d;
    static uint64_t offsets[MOST];
    masu__rng rng;
    masu__rng_seed(&rng, 31);
    for (int round = 0; round < 6; round++) {
        cut(&rng, &d, 30, 50, 640);
        bool solved = false;
        for (uint64_t capacity = 640; capacity <= 800; capacity += 16) {
            d.problem.capacity_bytes = capacity;
            masu_plan_result r = find(&d.problem, MASU_PLAN_FIT, 200000, offsets);
            bool fits = r.outcome == MASU_PLAN_OPTIMAL || r.outcome == MASU_PLAN_FEASIBLE;
            assert_true(fits || !solved);
            assert_true(!fits || r.height_bytes <= capacity);
            solved |= fits;
        }
        assert_true(solved);
        d.problem.capacity_bytes = 639;
        assert_int_equal(find(&d.problem, MASU_PLAN_FIT, 1000, offsets).outcome, MASU_PLAN_INFEASIBLE);
    }
}

typedef struct watch {
    const masu_plan_problem *problem;
    uint64_t last;
    int calls;
} watch;

static void watched(void *context, const masu_plan_result *so_far, const uint64_t *offsets) {
    watch *w = context;
    assert_true(so_far->height_bytes < w->last);
    assert_int_equal(masu_plan_check_problem(w->problem, offsets, so_far->height_bytes, NULL, NULL), MASU_PLAN_FINE);
    w->last = so_far->height_bytes;
    w->calls++;
}

static void progress_only_falls(void **state) {
    (void)state;
    static drawn d;
    static uint64_t offsets[MOST];
    masu__rng rng;
    masu__rng_seed(&rng, 41);
    cut(&rng, &d, 60, 60, 5000);
    watch w = {&d.problem, UINT64_MAX, 0};
    masu_plan_options options = {.step_limit = 50000, .improved = watched, .context = &w};
    masu_plan_result r;
    assert_int_equal(masu_plan_find(&d.problem, &options, offsets, &r), MASU_OK);
    assert_true(w.calls > 0 && w.last == r.height_bytes);
}

static void *cancel_later(void *flag) {
    struct timespec nap = {0, 30000000};
    nanosleep(&nap, NULL);
    masu_plan_cancel(flag);
    return NULL;
}

/* Without limits; only the other thread ends it, unless a proof does. */
static void another_thread_cancels(void **state) {
    (void)state;
    static drawn d;
    static uint64_t offsets[MOST];
    masu__rng rng;
    masu__rng_seed(&rng, 51);
    cut(&rng, &d, 400, 300, 99991);
    masu_plan_cancel_flag flag = {0};
    masu_plan_options options = {.cancel = &flag};
    masu_plan_result r;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, cancel_later, &flag), 0);
    assert_int_equal(masu_plan_find(&d.problem, &options, offsets, &r), MASU_OK);
    pthread_join(thread, NULL);
    assert_int_equal(masu_plan_check_problem(&d.problem, offsets, r.height_bytes, NULL, NULL), MASU_PLAN_FINE);
    /* raised before the beginning: the first plan is there all the same */
    assert_int_equal(masu_plan_find(&d.problem, &options, offsets, &r), MASU_OK);
    assert_int_equal(masu_plan_check_problem(&d.problem, offsets, r.height_bytes, NULL, NULL), MASU_PLAN_FINE);
}

static void cores_are_infeasible_and_small(void **state) {
    (void)state;
    static drawn d;
    static masu_plan_row kept[MOST];
    static uint64_t offsets[MOST];
    static size_t core[MOST];
    masu__rng rng;
    masu__rng_seed(&rng, 61);
    for (int round = 0; round < 40; round++) {
        size_t count;
        bool minimal;
        draw_tiny(&rng, &d, true);
        uint64_t lowest = lowest_height(&d.problem, 24);
        d.problem.capacity_bytes = lowest > 1 ? lowest - 1 : 1;
        masu_plan_options options = {.step_limit = 10000};
        assert_int_equal(masu_plan_core(&d.problem, &options, core, &count, &minimal), MASU_OK);
        if (lowest <= 1) {
            assert_int_equal(count, 0);
            continue;
        }
        assert_true(count > 0 && minimal);
        for (size_t without = 0; without <= count; without++) {
            masu_plan_problem part = {.rows = kept, .capacity_bytes = d.problem.capacity_bytes};
            for (size_t i = 0; i < count; i++)
                if (i != without)
                    kept[part.count++] = d.rows[core[i]];
            masu_plan_outcome outcome = find(&part, MASU_PLAN_FIT, 0, offsets).outcome;
            if (without == count)
                assert_int_equal(outcome, MASU_PLAN_INFEASIBLE);
            else
                assert_int_not_equal(outcome, MASU_PLAN_INFEASIBLE);
        }
    }
}

static void failures_leave_everything_alone(void **state) {
    (void)state;
    static drawn d;
    static uint64_t offsets[MOST];
    masu__rng rng;
    masu__rng_seed(&rng, 71);
    cut(&rng, &d, 70, 40, 1009);
    masu_plan_options options = {.step_limit = 5000, .threads = 1};
    for (uint64_t nth = 1;; nth++) {
        masu_plan_result r = {.height_bytes = 77};
        memset(offsets, 0xaa, sizeof offsets);
        masu__fault_arm(nth);
        masu_status status = masu_plan_find(&d.problem, &options, offsets, &r);
        bool fired = masu__fault_fired();
        masu__fault_arm(0);
        assert_int_equal(masu__meta_live_bytes(), 0);
        if (!fired) {
            assert_int_equal(status, MASU_OK);
            assert_true(nth > 10);
            break;
        }
        if (status == MASU_OK)
            continue; /* a thread less, or a search left out, is no failure */
        assert_int_equal(status, MASU_ERR_OUT_OF_MEMORY);
        assert_int_equal(r.height_bytes, 77);
        assert_true(offsets[0] == UINT64_C(0xaaaaaaaaaaaaaaaa));
    }
}

/* ---- row B23 --------------------------------------------------------------------------------- */

static void gaps_are_used(void **state) {
    (void)state;
    uint64_t offsets[2];
    const masu_plan_gap gap = {.lower = 2, .upper = 6};
    const masu_plan_row rows[] = {{.size_bytes = 10, .lower = 0, .upper = 8, .gaps = &gap, .gap_count = 1},
                                  {.size_bytes = 10, .lower = 2, .upper = 6}};
    masu_plan_problem problem = {.rows = rows, .count = 2};
    masu_plan_result r = find(&problem, MASU_PLAN_MINIMIZE, 0, offsets);
    assert_int_equal(r.height_bytes, 10);
    assert_int_equal(r.outcome, MASU_PLAN_OPTIMAL);
}

static void fixed_offsets_are_kept(void **state) {
    (void)state;
    uint64_t offsets[3];
    const masu_plan_row rows[] = {{.size_bytes = 4, .lower = 0, .upper = 9, .is_fixed = true, .fixed_offset = 6},
                                  {.size_bytes = 6, .lower = 0, .upper = 9},
                                  {.size_bytes = 2, .lower = 3, .upper = 9}};
    masu_plan_problem problem = {.rows = rows, .count = 3};
    masu_plan_result r = find(&problem, MASU_PLAN_MINIMIZE, 0, offsets);
    assert_int_equal(r.height_bytes, 12);
    assert_int_equal(r.outcome, MASU_PLAN_OPTIMAL);
    assert_int_equal(offsets[0], 6);
}

/* What fits into a capacity fits into every larger one, with the same steps. */
static void more_room_never_hurts(void **state) {
    (void)state;
    masu__rng rng;
    masu__rng_seed(&rng, 10);
    static drawn d;
    uint64_t offsets[MOST];
    for (int round = 0; round < 6; round++) {
        cut(&rng, &d, 40, 40, 400);
        bool fitted = false;
        for (uint64_t capacity = 396; capacity < 480; capacity += 4) {
            d.problem.capacity_bytes = capacity;
            masu_plan_outcome outcome = find(&d.problem, MASU_PLAN_FIT, 40000, offsets).outcome;
            bool fits = outcome == MASU_PLAN_OPTIMAL || outcome == MASU_PLAN_FEASIBLE;
            assert_true(fits || !fitted);
            assert_true(capacity >= 400 || outcome == MASU_PLAN_INFEASIBLE);
            fitted |= fits;
        }
        assert_true(fitted);
    }
}

static void one_below_the_bound(void **state) {
    (void)state;
    uint64_t offsets[2] = {7, 7};
    const masu_plan_row rows[] = {{.size_bytes = (uint64_t)1 << 41, .lower = 0, .upper = 2},
                                  {.size_bytes = (uint64_t)1 << 41, .lower = 1, .upper = 3}};
    masu_plan_problem problem = {.rows = rows, .count = 2, .capacity_bytes = ((uint64_t)1 << 42) - 1};
    masu_plan_result r = find(&problem, MASU_PLAN_FIT, 0, offsets);
    assert_int_equal(r.outcome, MASU_PLAN_INFEASIBLE);
    assert_true(r.lower_bound_bytes == (uint64_t)1 << 42 && offsets[0] == 7);
    problem.capacity_bytes++;
    assert_int_equal(find(&problem, MASU_PLAN_FIT, 0, offsets).outcome, MASU_PLAN_OPTIMAL);
}

static void mistakes_are_named(void **state) {
    (void)state;
    const masu_plan_gap whole = {.lower = 0, .upper = 4}, outside = {.lower = 3, .upper = 5};
    const masu_plan_row good = {.size_bytes = 1, .lower = 0, .upper = 4};
    masu_plan_row rows[2] = {good, good};
    masu_plan_relation relation = {MASU_PLAN_MUST_SHARE, 0, 1};
    masu_plan_problem problem = {rows, 2, &relation, 1, 0};
    size_t where;
    assert_int_equal(masu_plan_validate(&problem, &where), MASU_PLAN_RIGHT);
    rows[1].upper = 0;
    assert_int_equal(masu_plan_validate(&problem, &where), MASU_PLAN_BAD_RANGE);
    assert_int_equal(where, 1);
    rows[1] = good;
    rows[1].alignment_bytes = 6;
    assert_int_equal(masu_plan_validate(&problem, &where), MASU_PLAN_BAD_ALIGNMENT);
    rows[1] = good;
    rows[1].gap_count = 1;
    rows[1].gaps = &whole;
    assert_int_equal(masu_plan_validate(&problem, &where), MASU_PLAN_BAD_GAP);
    rows[1].gaps = &outside;
    assert_int_equal(masu_plan_validate(&problem, &where), MASU_PLAN_BAD_GAP);
    rows[1] = good;
    rows[1].is_fixed = true;
    rows[1].alignment_bytes = 4;
    rows[1].fixed_offset = 2;
    assert_int_equal(masu_plan_validate(&problem, &where), MASU_PLAN_BAD_FIXED);
    rows[1] = good;
    relation.b = 2;
    assert_int_equal(masu_plan_validate(&problem, &where), MASU_PLAN_BAD_RELATION);
    relation.b = 1;
    rows[0].size_bytes = (uint64_t)1 << 62;
    assert_int_equal(masu_plan_validate(&problem, &where), MASU_PLAN_TOO_LARGE);
}

static void every_verdict_can_be_had(void **state) {
    (void)state;
    masu_plan_row rows[2] = {{.size_bytes = 4, .lower = 0, .upper = 4, .alignment_bytes = 4},
                             {.size_bytes = 4, .lower = 4, .upper = 8}};
    masu_plan_relation relation = {MASU_PLAN_MUST_SHARE, 0, 1};
    masu_plan_problem problem = {rows, 2, &relation, 0, 0};
    uint64_t offsets[2] = {0, 0};
    size_t a, b;
#define VERDICT(height) masu_plan_check_problem(&problem, offsets, height, &a, &b)
    assert_int_equal(VERDICT(4), MASU_PLAN_FINE);
    assert_int_equal(VERDICT(3), MASU_PLAN_OUTSIDE);
    rows[1].lower = 3;
    assert_int_equal(VERDICT(4), MASU_PLAN_OVERLAP);
    assert_true(a == 0 && b == 1);
    rows[1].lower = 4;
    offsets[0] = 2;
    assert_int_equal(VERDICT(8), MASU_PLAN_MISALIGNED);
    offsets[0] = 0;
    rows[1].is_fixed = true;
    rows[1].fixed_offset = 1;
    assert_int_equal(VERDICT(8), MASU_PLAN_MOVED);
    rows[1].is_fixed = false;
    problem.relation_count = 1;
    offsets[1] = 1;
    assert_int_equal(VERDICT(8), MASU_PLAN_APART);
    relation.kind = MASU_PLAN_MUST_NOT_SHARE;
    assert_int_equal(VERDICT(8), MASU_PLAN_TOGETHER);
    for (int v = 0; v < MASU_PLAN_VERDICT_COUNT; v++)
        assert_string_not_equal(masu_plan_verdict_name((masu_plan_verdict)v), "UNKNOWN");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiny_problems_get_the_optimum),
        cmocka_unit_test(raised_windows_get_right_plans),
        cmocka_unit_test(cut_rectangles_are_put_together),
        cmocka_unit_test(threads_do_not_show),
        cmocka_unit_test(a_larger_capacity_loses_nothing),
        cmocka_unit_test(progress_only_falls),
        cmocka_unit_test(another_thread_cancels),
        cmocka_unit_test(cores_are_infeasible_and_small),
        cmocka_unit_test(failures_leave_everything_alone),
        cmocka_unit_test(gaps_are_used),
        cmocka_unit_test(fixed_offsets_are_kept),
        cmocka_unit_test(more_room_never_hurts),
        cmocka_unit_test(one_below_the_bound),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(every_verdict_can_be_had),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
