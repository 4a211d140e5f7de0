/* The judge of moves: a plan that is right, and one change at a time that it must see; and problems that are
 * refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <masu/moves.h>

/* a: made at 0, read at 1 and 5; away from fast while b, as large as fast, is there. */
typedef struct scene {
    masu_moves_row rows[2];
    masu_moves_use uses[6];
    masu_moves_memory memories[2];
    uint64_t channel[6];
    masu_moves_place places[4];
    masu_moves_move moves[2];
    masu_moves_problem problem;
    masu_moves_plan plan;
} scene;

static void set(scene *s) {
    *s = (scene){
        .rows = {{.size_bytes = 8, .lower = 0, .upper = 6, .only = MASU_MOVES_ANY, .home = MASU_MOVES_ANY},
                 {.size_bytes = 16,
                  .alignment_bytes = 8,
                  .lower = 3,
                  .upper = 4,
                  .only = MASU_MOVES_ANY,
                  .home = MASU_MOVES_ANY}},
        .uses = {{0, 0, 0, 1}, {0, 1, 4, 0}, {1, 3, 0, 1}, {1, 3, 1, 0}, {0, 5, 9, 0}},
        .memories = {{16, 0}, {64, 1}},
        .channel = {0, 0, 8, 0, 8, 0},
        .places = {{0, 0, 0, 3, 8}, {0, 1, 2, 5, 0}, {0, 0, 4, 6, 0}, {1, 0, 3, 4, 0}},
        .moves = {{0, 1, 2, 3}, {1, 2, 4, 5}},
    };
    s->problem = (masu_moves_problem){.rows = s->rows,
                                      .count = 2,
                                      .uses = s->uses,
                                      .use_count = 5,
                                      .memories = s->memories,
                                      .memory_count = 2,
                                      .moment_count = 6,
                                      .channel_bytes = s->channel};
    s->plan = (masu_moves_plan){.places = s->places, .place_count = 4, .moves = s->moves, .move_count = 2, .cost = 16};
}

static void expect(const scene *s, masu_moves_verdict wanted) {
    masu_moves_verdict verdict;
    assert_int_equal(masu_moves_check(&s->problem, &s->plan, &verdict, NULL), MASU_OK);
    assert_string_equal(masu_moves_verdict_name(verdict), masu_moves_verdict_name(wanted));
}

static void sees_what_is_wrong(void **state) {
    (void)state;
    scene s;
    set(&s), expect(&s, MASU_MOVES_FINE);
    set(&s), s.plan.cost = 15, expect(&s, MASU_MOVES_WRONG_COST);
    set(&s), s.places[0].offset = 9, expect(&s, MASU_MOVES_OUTSIDE);
    set(&s), s.places[3].memory = 2, expect(&s, MASU_MOVES_OUTSIDE);
    set(&s), s.places[3].upper = 5, expect(&s, MASU_MOVES_OUTSIDE);
    set(&s), s.places[0].offset = UINT64_MAX, expect(&s, MASU_MOVES_OUTSIDE);
    set(&s), s.memories[0].capacity_bytes = 24, s.places[3].offset = 4, expect(&s, MASU_MOVES_MISALIGNED);
    set(&s), s.rows[0].home = 1, expect(&s, MASU_MOVES_ELSEWHERE);
    set(&s), s.rows[1].only = 1, expect(&s, MASU_MOVES_ELSEWHERE);
    set(&s), s.rows[1].only = 0, s.rows[1].is_fixed = true, s.rows[1].fixed_offset = 8,
             expect(&s, MASU_MOVES_ELSEWHERE);
    set(&s), s.channel[2] = 7, expect(&s, MASU_MOVES_LATE);
    set(&s), s.moves[0] = (masu_moves_move){1, 2, 4, 5}, s.moves[1] = (masu_moves_move){0, 1, 2, 3},
             expect(&s, MASU_MOVES_LATE); /* in this order */
    set(&s), s.moves[0].end = 2, expect(&s, MASU_MOVES_BAD_MOVE);
    set(&s), s.moves[1].begin = 3, expect(&s, MASU_MOVES_BAD_MOVE);
    set(&s), s.moves[0].from = 3, expect(&s, MASU_MOVES_BAD_MOVE);
    set(&s), s.moves[0].from = 9, expect(&s, MASU_MOVES_BAD_MOVE);
    set(&s), s.moves[1].from = 0, expect(&s, MASU_MOVES_BAD_MOVE);
    set(&s), s.problem.stays = true, expect(&s, MASU_MOVES_BAD_MOVE);
    set(&s), s.plan.move_count = 1, expect(&s, MASU_MOVES_NOWHERE); /* the last place is filled by nothing */
    set(&s), s.places[1].upper = 4, s.plan.move_count = 1, s.plan.place_count = 2, expect(&s, MASU_MOVES_NOWHERE);
    set(&s), s.places[0].upper = 4, expect(&s, MASU_MOVES_CLOBBERED); /* b on top of it */
    set(&s), s.places[2].lower = 3, s.moves[1].begin = 3, s.channel[3] = 8,
             expect(&s, MASU_MOVES_CLOBBERED); /* comes back too soon */
    set(&s), s.uses[5] = (masu_moves_use){0, 2, 0, 1}, s.problem.use_count = 6,
             expect(&s, MASU_MOVES_CROWDED); /* written while it moves */
}

/* Two that are born at once in both memories; bytes that no later read would miss. */
static void sees_what_no_read_shows(void **state) {
    (void)state;
    scene s;
    set(&s);
    s.uses[0] = (masu_moves_use){0, 1, 1, 0};
    s.places[1].lower = 0;
    s.plan.move_count = 0;
    s.plan.place_count = 2;
    s.rows[0].upper = 5;
    s.problem.use_count = 2;
    s.problem.count = 1;
    expect(&s, MASU_MOVES_CROWDED);
    set(&s);
    s.problem.use_count = 2; /* b and the end of a are not read */
    s.places[0].upper = 4;
    expect(&s, MASU_MOVES_CLOBBERED);
}

static void refuse(const scene *s, masu_moves_mistake wanted, size_t place) {
    size_t where = SIZE_MAX;
    masu_moves_plan plan;
    masu_moves_verdict verdict;
    assert_int_equal(masu_moves_validate(&s->problem, &where), wanted);
    assert_int_equal(where, place);
    assert_int_equal(masu_moves_find(&s->problem, NULL, &plan), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(masu_moves_check(&s->problem, &s->plan, &verdict, NULL), MASU_ERR_INVALID_ARGUMENT);
}

static void problems_that_are_wrong(void **state) {
    (void)state;
    scene s;
    set(&s), s.problem.memory_count = 0, refuse(&s, MASU_MOVES_BAD_MEMORY, 0);
    set(&s), s.memories[1].cost = MASU_MOVES_MOST_COST + 1, refuse(&s, MASU_MOVES_BAD_MEMORY, 1);
    set(&s), s.problem.move_cost = MASU_MOVES_MOST_COST + 1, refuse(&s, MASU_MOVES_BAD_MEMORY, 0);
    set(&s), s.rows[1].size_bytes = 0, refuse(&s, MASU_MOVES_BAD_ROW, 1);
    set(&s), s.rows[1].upper = 3, refuse(&s, MASU_MOVES_BAD_ROW, 1);
    set(&s), s.rows[0].upper = 7, refuse(&s, MASU_MOVES_BAD_ROW, 0);
    set(&s), s.rows[0].alignment_bytes = 3, refuse(&s, MASU_MOVES_BAD_ROW, 0);
    set(&s), s.rows[0].only = 2, refuse(&s, MASU_MOVES_BAD_ROW, 0);
    set(&s), s.rows[0].only = 0, s.rows[0].home = 1, refuse(&s, MASU_MOVES_BAD_ROW, 0);
    set(&s), s.rows[0].is_fixed = true, refuse(&s, MASU_MOVES_BAD_ROW, 0);
    set(&s), s.uses[2].row = 2, refuse(&s, MASU_MOVES_BAD_USE, 2);
    set(&s), s.uses[2].moment = 4, refuse(&s, MASU_MOVES_BAD_USE, 2);
    set(&s), s.uses[2].writes = 0, refuse(&s, MASU_MOVES_BAD_USE, 2);
    set(&s), s.rows[0].size_bytes = UINT64_MAX, refuse(&s, MASU_MOVES_TOO_LARGE, 0);
    set(&s), s.rows[0].size_bytes = (uint64_t)1 << 48, refuse(&s, MASU_MOVES_TOO_LARGE, 0);
    set(&s), s.uses[1].reads = UINT32_MAX, s.memories[1].cost = MASU_MOVES_MOST_COST,
             refuse(&s, MASU_MOVES_TOO_LARGE, 0);
    set(&s), s.channel[3] = UINT64_MAX, refuse(&s, MASU_MOVES_TOO_LARGE, 0);
}

/* The scene itself: what is found costs what is known to be best. Reserved bytes: a row that is fixed for all
 * moments. */
static void the_known_best(void **state) {
    (void)state;
    scene s;
    masu_moves_plan plan;
    uint64_t operators[2], moved[2];
    set(&s);
    assert_int_equal(masu_moves_find(&s.problem, NULL, &plan), MASU_OK);
    assert_true(plan.outcome == MASU_MOVES_OPTIMAL && plan.cost == 16 && plan.move_count == 2);
    masu_moves_traffic(&s.problem, &plan, operators, moved);
    assert_true(operators[0] == (1 + 4 + 9) * 8 + 2 * 16 && operators[1] == 0 && moved[0] == 16 && moved[1] == 16);
    masu_moves_free(&plan);
    masu_moves_row rows[3] = {
        s.rows[0],
        s.rows[1],
        {.size_bytes = 4, .lower = 0, .upper = 6, .only = 0, .home = MASU_MOVES_ANY, .is_fixed = true}};
    s.problem.rows = rows;
    s.problem.count = 3;
    assert_int_equal(masu_moves_find(&s.problem, NULL, &plan), MASU_OK);
    assert_true(plan.outcome == MASU_MOVES_OPTIMAL && plan.cost == 2 * 16 &&
                plan.move_count == 0); /* b has no room in fast any more */
    masu_moves_free(&plan);
    s.problem.count = 0;
    s.problem.use_count = 0;
    assert_int_equal(masu_moves_find(&s.problem, NULL, &plan), MASU_OK);
    assert_true(plan.outcome == MASU_MOVES_OPTIMAL && plan.cost == 0 && plan.place_count == 0);
    masu_moves_free(&plan);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sees_what_is_wrong),
        cmocka_unit_test(sees_what_no_read_shows),
        cmocka_unit_test(problems_that_are_wrong),
        cmocka_unit_test(the_known_best),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
