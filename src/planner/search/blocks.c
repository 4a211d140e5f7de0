/* blocks.c: a problem that wastes next to nothing at the bound, made smaller by joining what fits together
 * (assembly.h): the blocks are planned as rows are, by everything there is, and each row goes where its block went.
 *
 * What is certain alone leaves many blocks; guesses leave few, and a wrong one costs height. So there are turns, each
 * with another limit to what is guessed and another seed.
 */
#include "planner/search/solver.h"

#include "base/meta.h"
#include "planner/fixed/assembly.h"
#include "planner/fixed/loose.h"

enum { STEPS_A_TURN = 20000, SHARE_OF_STEPS = 16, LESS = 2, MOST_ROWS = 1 << 17, FEWEST_ROWS = 8, GUESSES = 6 };
static const uint32_t guesses[GUESSES] = {0, 4096, 16, 4, 256, 8};
static const double MOST_WASTE = 0.1, PART_OF_TIME = 0.25;

/* The share that a plan of the height of the bound wastes. */
static double waste_of(const masu__plan_model *m) {
    double waste = 0;
    for (uint32_t s = 0; s < m->section_count; s++)
        waste += (double)(m->bound - m->load[s]);
    return m->section_count > 0 ? waste / ((double)m->bound * m->section_count) : 1;
}

/* A part of what is left of the limits, so that the methods for rows have their turn. */
static masu_plan_options options_of_turn(const masu__solver *s, uint64_t steps) {
    masu_plan_options options = *s->options;
    uint64_t share = options.step_limit / SHARE_OF_STEPS;
    double left = options.time_limit_s - (masu__plan_now() - s->begin_s);
    options.goal = MASU_PLAN_MINIMIZE;
    options.improved = NULL;
    options.only = 0;
    options.step_limit = share > 0 && share < steps ? share : steps;
    options.time_limit_s = options.time_limit_s > 0 ? left * PART_OF_TIME + 1e-3 : 0;
    return options;
}

/* One of the two that made the blocks. */
typedef struct made_by {
    masu__assembly *assembly;
    masu__loose *loose;
    uint64_t steps; /* for a plan of the blocks */
} made_by;

static bool put_items(const masu__solver *s, const made_by *by, const uint64_t *offsets) {
    return by->loose ? masu__loose_offsets(by->loose, offsets, s->offsets)
                     : masu__assembly_offsets(by->assembly, offsets, s->offsets);
}

/* Returns the height; INT64_MAX: there is no plan. */
static int64_t plan_blocks(masu__solver *s, const made_by *by, const masu_plan_problem *blocks) {
    masu_plan_options options = options_of_turn(s, by->steps);
    size_t bytes = (blocks->count + 1) * sizeof(uint64_t);
    uint64_t *offsets = masu__meta_calloc(1, bytes);
    int64_t height = INT64_MAX;
    masu_plan_result result;
    masu_status status = offsets ? masu__plan_find_once(blocks, &options, offsets, &result) : MASU_ERR_OUT_OF_MEMORY;
    s->out_of_memory |= status == MASU_ERR_OUT_OF_MEMORY;
    s->attempts++;
    s->steps_granted += options.step_limit;
    if (status == MASU_OK && result.outcome != MASU_PLAN_INFEASIBLE && result.height_bytes > 0 &&
        put_items(s, by, offsets)) {
        height = masu__plan_model_height(&s->model, s->offsets);
        masu__solver_offer(s, s->offsets, height, "blocks that fit together");
    }
    masu__meta_free(offsets, bytes);
    return height;
}

/* Returns the height; INT64_MAX: there is no plan; 0: too many blocks are left for one. */
static int64_t plan_what_is_left(masu__solver *s, const made_by *by, uint32_t left) {
    uint32_t all = s->model.item_count + s->model.obstacle_count;
    s->steps_granted += all;
    s->out_of_memory |= left == 0;
    if (left == 0 || left > all / LESS)
        return 0;
    masu_plan_row *rows = masu__meta_calloc(left, sizeof *rows);
    s->out_of_memory |= !rows;
    if (!rows)
        return 0;
    if (by->loose)
        masu__loose_rows(by->loose, rows);
    else
        masu__assembly_rows(by->assembly, rows);
    int64_t height = plan_blocks(s, by, &(masu_plan_problem){.rows = rows, .count = left});
    masu__meta_free(rows, left * sizeof *rows);
    return height;
}

void masu__solver_blocks(masu__solver *s, int64_t enough, unsigned from, unsigned to) {
    bool unfit;
    uint32_t all = s->model.item_count + s->model.obstacle_count;
    if (all < FEWEST_ROWS || all > MOST_ROWS || waste_of(&s->model) > MOST_WASTE || masu__solver_finished(s))
        return;
    masu__assembly *a = masu__assembly_create(&s->model, &unfit);
    s->out_of_memory |= !a && !unfit;
    for (unsigned turn = from; a && turn < to && s->best_height > enough && !masu__solver_finished(s); turn++)
        plan_what_is_left(s, &(made_by){.assembly = a, .steps = STEPS_A_TURN},
                          masu__assembly_join(a, s->bound, guesses[turn % GUESSES], s->options->seed + turn));
    masu__assembly_destroy(a);
}

/* ---- with room ------------------------------------------------------------------------------- */

/* Small problems have better methods. */
enum { LOOSE_STEPS = 500, FEWEST_LOOSE = 100, MOST_LOOSE = 4096, ROOM_ABOVE = 32, BEFORE_NEW = 64 };
static const double MOST_ROOM = 0.15, LEAST_TOLERANCE = 0.01, MORE_THAN_WASTE = 1.1;

static bool suits_loose(masu__solver *s) {
    uint32_t all = s->model.item_count + s->model.obstacle_count;
    if (all < FEWEST_LOOSE || all > MOST_LOOSE || s->no_loose || masu__solver_finished(s))
        return false;
    if (!s->loose)
        s->no_loose = waste_of(&s->model) > MOST_ROOM || !masu__assembly_suits(&s->model);
    if (!s->loose && !s->no_loose) {
        s->loose = masu__loose_create(&s->model);
        s->out_of_memory |= !s->loose;
    }
    return s->loose;
}

/* A plan that is no higher than the last one kept is kept; after many that are, a new one begins. Where the first turn
 * leaves many blocks the others would, too: rows do not fit together there. */
void masu__solver_loose(masu__solver *s, int64_t enough, unsigned from, unsigned to) {
    uint32_t all = s->model.item_count + s->model.obstacle_count;
    uint64_t most = s->options->step_limit > 0 ? s->options->step_limit / SHARE_OF_STEPS / (all + 1) : to;
    double tolerance = waste_of(&s->model) * MORE_THAN_WASTE;
    tolerance = tolerance > LEAST_TOLERANCE ? tolerance : LEAST_TOLERANCE;
    if (most <= from || !suits_loose(s))
        return;
    for (unsigned turn = from; turn < to && turn < most && s->best_height > enough && !masu__solver_finished(s);
         turn++) {
        if (s->loose_failures >= BEFORE_NEW) {
            masu__loose_forget(s->loose);
            s->loose_height = INT64_MAX;
            s->loose_failures = 0;
        }
        uint32_t left = masu__loose_join(s->loose, s->bound + s->bound / ROOM_ABOVE, tolerance,
                                         s->options->seed + turn);
        int64_t height = plan_what_is_left(s, &(made_by){.loose = s->loose, .steps = LOOSE_STEPS}, left);
        s->no_loose |= turn == from && s->loose_height == INT64_MAX && height == 0;
        if (s->no_loose)
            return;
        s->loose_failures = height < s->loose_height ? 0 : s->loose_failures + 1;
        if (height == 0 || height > s->loose_height)
            continue;
        masu__loose_keep(s->loose);
        s->loose_height = height;
    }
}
