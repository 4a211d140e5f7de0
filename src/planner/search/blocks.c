/* blocks.c: a problem that wastes next to nothing at the bound, made smaller by joining what fits together
 * (assembly.h): the blocks are planned as rows are, by everything there is, and each row goes where its block went.
 *
 * What is certain alone leaves many blocks; guesses leave few, and a wrong one costs height. So there are turns, each
 * with another limit to what is guessed and another seed.
 */
#include "planner/search/solver.h"

#include "base/meta.h"
#include "planner/fixed/assembly.h"

enum { STEPS_A_TURN = 20000, SHARE_OF_STEPS = 16, LESS = 2, MOST_ROWS = 1 << 17, FEWEST_ROWS = 8, GUESSES = 6 };
static const uint32_t guesses[GUESSES] = {0, 4096, 16, 4, 256, 8};
static const double MOST_WASTE = 0.1, PART_OF_TIME = 0.25;

static bool wastes_little(const masu__plan_model *m) {
    double waste = 0;
    for (uint32_t s = 0; s < m->section_count; s++)
        waste += (double)(m->bound - m->load[s]);
    return m->section_count > 0 && waste <= MOST_WASTE * (double)m->bound * m->section_count;
}

/* A part of what is left of the limits, so that the methods for rows have their turn. */
static masu_plan_options options_of_turn(const masu__solver *s) {
    masu_plan_options options = *s->options;
    uint64_t share = options.step_limit / SHARE_OF_STEPS;
    double left = options.time_limit_s - (masu__plan_now() - s->begin_s);
    options.goal = MASU_PLAN_MINIMIZE;
    options.improved = NULL;
    options.only = 0;
    options.step_limit = share > 0 && share < STEPS_A_TURN ? share : STEPS_A_TURN;
    options.time_limit_s = options.time_limit_s > 0 ? left * PART_OF_TIME + 1e-3 : 0;
    return options;
}

static void plan_blocks(masu__solver *s, masu__assembly *a, const masu_plan_problem *blocks) {
    masu_plan_options options = options_of_turn(s);
    size_t bytes = (blocks->count + 1) * sizeof(uint64_t);
    uint64_t *offsets = masu__meta_calloc(1, bytes);
    masu_plan_result result;
    masu_status status = offsets ? masu__plan_find_once(blocks, &options, offsets, &result) : MASU_ERR_OUT_OF_MEMORY;
    s->out_of_memory |= status == MASU_ERR_OUT_OF_MEMORY;
    s->attempts++;
    s->steps_granted += options.step_limit;
    if (status == MASU_OK && result.outcome != MASU_PLAN_INFEASIBLE && result.height_bytes > 0 &&
        masu__assembly_offsets(a, offsets, s->offsets))
        masu__solver_offer(s, s->offsets, masu__plan_model_height(&s->model, s->offsets), "blocks that fit together");
    masu__meta_free(offsets, bytes);
}

static void take_turn(masu__solver *s, masu__assembly *a, unsigned turn) {
    uint32_t all = s->model.item_count + s->model.obstacle_count;
    uint32_t left = masu__assembly_join(a, s->bound, guesses[turn % GUESSES], s->options->seed + turn);
    s->steps_granted += all;
    s->out_of_memory |= left == 0;
    if (left == 0 || left > all / LESS)
        return;
    masu_plan_row *rows = masu__meta_calloc(left, sizeof *rows);
    s->out_of_memory |= !rows;
    if (!rows)
        return;
    masu__assembly_rows(a, rows);
    plan_blocks(s, a, &(masu_plan_problem){.rows = rows, .count = left});
    masu__meta_free(rows, left * sizeof *rows);
}

void masu__solver_blocks(masu__solver *s, int64_t enough, unsigned from, unsigned to) {
    bool unfit;
    uint32_t all = s->model.item_count + s->model.obstacle_count;
    if (all < FEWEST_ROWS || all > MOST_ROWS || !wastes_little(&s->model) || masu__solver_finished(s))
        return;
    masu__assembly *a = masu__assembly_create(&s->model, &unfit);
    s->out_of_memory |= !a && !unfit;
    for (unsigned turn = from; a && turn < to && s->best_height > enough && !masu__solver_finished(s); turn++)
        take_turn(s, a, turn);
    masu__assembly_destroy(a);
}
