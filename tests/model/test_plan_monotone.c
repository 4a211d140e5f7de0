/* What is solved at one capacity is not lost at a larger one: the capacities of a problem from its lowest known height
 * upwards, each with the steps that do for the smallest and few more. Recorded problems from $MASU_DATA (default
 * ../shared/data beside the project; without them that is said), and cut rectangles with a tenth of the pieces
 * missing or with sizes changed a little, and rows with everything that rows can have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <masu/plan.h>

#include "base/rng.h"

enum { MOST = 1100 };

static masu_plan_row rows[MOST];
static size_t count;
static uint64_t offsets[MOST];
static masu_plan_gap gaps[MOST];
static masu_plan_relation relations[MOST];
static size_t relation_count;

/* id,lower,upper,size. False: there is no such file. */
static bool read_rows(char name) {
    char path[1024], line[256];
    const char *folder = getenv("MASU_DATA");
    snprintf(path, sizeof path, "%s/minimalloc/%c.1048576.csv", folder ? folder : MASU_SOURCE_DIR "/../shared/data",
             name);
    FILE *file = fopen(path, "r");
    count = 0;
    if (!file)
        printf("%s is not there: left out\n", path);
    while (file && fgets(line, sizeof line, file)) {
        long long lower, upper;
        unsigned long long size;
        const char *comma = strchr(line, ',');
        if (!comma || sscanf(comma + 1, "%lld,%lld,%llu", &lower, &upper, &size) != 3)
            continue;
        assert_true(count < MOST);
        rows[count++] = (masu_plan_row){.size_bytes = size, .lower = lower, .upper = upper};
    }
    if (file)
        fclose(file);
    return file != NULL;
}

/* 0: nothing was found. */
static uint64_t solve(masu_plan_goal goal, uint64_t capacity, uint64_t step_limit, uint64_t *steps) {
    masu_plan_problem problem = {.rows = rows,
                                 .count = count,
                                 .relations = relations,
                                 .relation_count = relation_count,
                                 .capacity_bytes = capacity};
    masu_plan_options options = {.goal = goal, .step_limit = step_limit, .threads = 1};
    masu_plan_result r;
    assert_int_equal(masu_plan_find(&problem, &options, offsets, &r), MASU_OK);
    bool found = r.outcome == MASU_PLAN_OPTIMAL || r.outcome == MASU_PLAN_FEASIBLE;
    assert_true(!found || capacity == 0 || r.height_bytes <= capacity);
    if (found)
        assert_int_equal(masu_plan_check_problem(&problem, offsets, r.height_bytes, NULL, NULL), MASU_PLAN_FINE);
    *steps = r.steps;
    return found ? r.height_bytes : 0;
}

/* From a height that has a plan to twice as much. */
static void climb(const char *name, uint64_t height, uint64_t most) {
    static const unsigned thousandths[] = {1000, 1002, 1010, 1020, 1050, 1100, 1500, 2000};
    uint64_t steps;
    for (size_t i = 0; i < sizeof thousandths / sizeof *thousandths; i++) {
        uint64_t capacity = height * thousandths[i] / 1000;
        if (solve(MASU_PLAN_FIT, capacity, most, &steps) == 0) {
            printf("%s: %llu steps did not do for %llu\n", name, (unsigned long long)most,
                   (unsigned long long)capacity);
            fail();
        }
    }
}

enum { A_FEW_STEPS = 20000, MANY_STEPS = 150000 };

static void recorded_ones_from_their_capacity(void **state) {
    (void)state;
    for (const char *name = "ACDFGIK"; *name; name++)
        if (read_rows(*name))
            climb((char[]){*name, 0}, *name == 'C' ? 1039360 : 1048576, A_FEW_STEPS);
}

/* Below 1048576, where no plan may exist, the lowest capacity that is solved is where the others begin. */
static void recorded_ones_from_below(void **state) {
    (void)state;
    uint64_t steps;
    for (uint64_t capacity = 1001 * 1024; read_rows('D') && capacity <= 1024 * 1024; capacity += 5 * 1024)
        if (solve(MASU_PLAN_FIT, capacity, MANY_STEPS, &steps) > 0) {
            assert_true(capacity <= 1016 * 1024);
            climb("D", capacity, MANY_STEPS);
            return;
        }
}

/* The height that was found without a capacity is found with it as well. */
static void recorded_ones_minimized(void **state) {
    (void)state;
    uint64_t steps;
    for (const char *name = "ACDFGIK"; *name; name++)
        if (read_rows(*name)) {
            uint64_t height = solve(MASU_PLAN_MINIMIZE, 0, MANY_STEPS, &steps);
            assert_true(height > 0 && height <= (*name == 'D' ? 1064960 : 1048576));
            climb((char[]){*name, 0}, height, MANY_STEPS);
        }
}

/* [0, time) × [0, height) in pieces. */
static void cut(masu__rng *rng, size_t pieces, int64_t time, uint64_t height) {
    rows[0] = (masu_plan_row){.size_bytes = height, .upper = time};
    relation_count = 0;
    for (count = 1; count < pieces;) {
        masu_plan_row *row = &rows[masu__rng_below(rng, count)], other = *row;
        if (masu__rng_below(rng, 2) && row->upper - row->lower > 1) {
            row->upper = other.lower = row->lower + 1 +
                                       (int64_t)masu__rng_below(rng, (uint64_t)(row->upper - row->lower - 1));
        } else if (row->size_bytes > 1) {
            row->size_bytes = 1 + masu__rng_below(rng, row->size_bytes - 1);
            other.size_bytes -= row->size_bytes;
        } else {
            continue;
        }
        rows[count++] = other;
    }
}

static void drawn_ones(void **state) {
    (void)state;
    masu__rng rng;
    masu__rng_seed(&rng, 12);
    for (int round = 0; round < 8; round++) {
        char name[32];
        uint64_t steps, height;
        cut(&rng, 60 + (size_t)round * 8, 60, 100000);
        if (round % 2)
            for (size_t i = 0; i < count; i++) /* up to 3 % less or more */
                rows[i].size_bytes = rows[i].size_bytes * (970 + masu__rng_below(&rng, 61)) / 1000 + 1;
        else
            for (size_t i = 0; i < count; i += 10)
                rows[i] = rows[--count];
        snprintf(name, sizeof name, "drawn, %d", round);
        height = solve(MASU_PLAN_MINIMIZE, 0, MANY_STEPS, &steps);
        assert_true(height > 0);
        climb(name, height, MANY_STEPS);
    }
}

enum { EVERYTHING = 60, LATE = 40 };

/* A row of everything there is: alignments, gaps with windows, and some are fixed above each other, out of the others'
 * reach or among them. */
static void draw_row(masu__rng *rng, size_t i, uint64_t *fixed) {
    masu_plan_row *row = &rows[i];
    *row = (masu_plan_row){.size_bytes = 64 + masu__rng_below(rng, 4000), .lower = (int64_t)masu__rng_below(rng, LATE)};
    row->upper = row->lower + 1 + (int64_t)masu__rng_below(rng, masu__rng_below(rng, 4) ? 8 : LATE);
    row->alignment_bytes = UINT64_C(1) << masu__rng_below(rng, 8);
    if (masu__rng_below(rng, 8) == 0) {
        row->is_fixed = true;
        row->fixed_offset = *fixed & ~(row->alignment_bytes - 1);
        *fixed = row->fixed_offset + row->size_bytes + 128 + masu__rng_below(rng, 3000);
    } else if (row->upper - row->lower > 3 && masu__rng_below(rng, 4) == 0) {
        gaps[i] = (masu_plan_gap){.lower = row->lower + 1, .upper = row->upper - 1};
        gaps[i].window_upper = masu__rng_below(rng, 2) ? 0 : row->size_bytes / 2;
        row->gaps = &gaps[i];
        row->gap_count = 1;
    }
}

/* Both of the same kind, so that no fixed row is in two places. */
static void draw_relation(masu__rng *rng) {
    static const masu_plan_relation_kind kinds[] = {MASU_PLAN_MUST_NOT_SHARE, MASU_PLAN_MUST_SHARE,
                                                    MASU_PLAN_MAY_SHARE};
    size_t a = masu__rng_below(rng, count), b = masu__rng_below(rng, count);
    if (a != b && !rows[a].is_fixed && !rows[b].is_fixed)
        relations[relation_count++] = (masu_plan_relation){kinds[masu__rng_below(rng, 3)], a, b};
}

/* A capacity does no worse than none at equal steps, whatever the rows have. */
static void drawn_ones_with_everything(void **state) {
    (void)state;
    masu__rng rng;
    unsigned planned = 0;
    masu__rng_seed(&rng, 44);
    for (int round = 0; round < 60; round++) {
        uint64_t steps, height, fixed = 0;
        char name[40];
        count = 10 + masu__rng_below(&rng, EVERYTHING);
        for (size_t i = 0; i < count; i++)
            draw_row(&rng, i, &fixed);
        relation_count = 0;
        for (uint64_t k = masu__rng_below(&rng, 8); k > 0; k--)
            draw_relation(&rng);
        snprintf(name, sizeof name, "with everything, %d", round);
        height = solve(MASU_PLAN_MINIMIZE, 0, A_FEW_STEPS, &steps);
        if (height > 0) /* ties may contradict each other */
            climb(name, height, A_FEW_STEPS);
        planned += height > 0;
    }
    relation_count = 0;
    assert_true(planned > 30);
}

/* What is laid without a capacity is laid with it: cut rectangles without a byte to waste. */
static void perfect_ones_fit(void **state) {
    (void)state;
    masu__rng rng;
    masu__rng_seed(&rng, 31);
    int at_the_bound = 0;
    for (int round = 0; round < 3; round++) {
        uint64_t steps, height = UINT64_C(1) << 20;
        cut(&rng, 1000, 4000, height);
        uint64_t found = solve(MASU_PLAN_MINIMIZE, 0, 10 * MANY_STEPS, &steps);
        uint64_t fitted = solve(MASU_PLAN_FIT, found, 10 * MANY_STEPS, &steps);
        assert_true(fitted > 0 && fitted <= found);
        at_the_bound += found == height && fitted == height;
    }
    assert_true(at_the_bound > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded_ones_from_their_capacity), cmocka_unit_test(recorded_ones_from_below),
        cmocka_unit_test(recorded_ones_minimized),           cmocka_unit_test(drawn_ones),
        cmocka_unit_test(drawn_ones_with_everything),        cmocka_unit_test(perfect_ones_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
