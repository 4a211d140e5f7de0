/* heuristics.c: plans at once: the valley heuristic in its ways, and first fit for what it does
 * not know (obstacles, rows kept apart: first_fit.c); then repair where a plan is highest. */
#include <string.h>

#include "base/assert.h"
#include "planner/search/solver.h"
#include "planner/skyline/coarse.h"

static const char *valley_name(masu__valley_key key) {
    static const char *const names[] = {
        "valleys by area", "valleys by size and sections", "valleys by size, sections²",
        "valleys by size", "valleys by duration",          "valleys by sections",
    };
    return key < MASU__VALLEY_KEY_COUNT ? names[key] : "valleys";
}

/* ---- valleys --------------------------------------------------------------------------------- */

/* Late by what so many items take is better than a plan half as high again. */
enum { MOST_LATE = 1 << 18 };
/* Placing an item quickly takes so many times what it took to open the problem. */
static const double QUICK_PLACING = 3;

/* For the first plan: it is to be there when time is over, so what is left of it is placed in a hurry when it must
 * be. How fast the machine is shows in how long opening took. */
static bool first_plan_hurries(void *context, uint32_t left, bool over) {
    const masu__solver *s = context;
    double limit = s->options->time_limit_s, now = masu__plan_now() - s->begin_s;
    double an_item = s->open_s / s->model.item_count * QUICK_PLACING;
    if (over)
        return left <= MOST_LATE || left <= s->model.item_count / 2;
    return limit > 0 && now + left * an_item > limit;
}

static void try_lives(masu__solver *s, masu__valley *valley, const masu__valley_way *way, uint64_t seed) {
    masu__plan_stop stop = {masu__solver_stopped, s};
    masu__valley_pace pace = {first_plan_hurries, s};
    masu__valley_set_pace(valley, s->best_height == INT64_MAX ? &pace : NULL);
    int64_t height = masu__valley_place(valley, way, seed, s->best_height, &stop, s->offsets);
    masu__valley_set_pace(valley, NULL);
    s->placements++;
    s->steps_granted += s->model.item_count;
    if (height != INT64_MAX)
        masu__solver_offer(s, s->offsets, height, valley_name(way->key));
    else if (s->best_height == INT64_MAX) /* the time was over before the first plan */
        masu__solver_sweep(s);
}

static void try_valley(masu__solver *s, const masu__valley_way *way, uint64_t seed) {
    try_lives(s, s->valley, way, seed);
}

enum { MOST_COARSER = 100 };

/* Where the grid alone raises the load, as of nested lives, the lives are planned as they are. */
static void try_coarse(masu__solver *s, const masu__valley_way *way) {
    masu__plan_model coarse;
    bool opened = masu__coarse_open(&coarse, &s->model);
    bool worth = opened && coarse.bound - s->model.bound <= s->model.bound / MOST_COARSER;
    masu__valley *valley = worth ? masu__valley_create(&coarse, NULL) : NULL;
    s->out_of_memory |= !opened || (worth && !valley);
    if (valley)
        try_lives(s, valley, way, s->options->seed);
    masu__valley_destroy(valley);
    masu__arena_destroy(&coarse.arena);
}

static const masu__valley_way first_ways[] = {
    {.key = MASU__VALLEY_DURATION, .coarse = 0.01},
    {.key = MASU__VALLEY_DURATION},
    {.key = MASU__VALLEY_AREA, .noise = 0.4},
    {.key = MASU__VALLEY_AREA},
    {.key = MASU__VALLEY_LONGEST},
    {.key = MASU__VALLEY_SECTIONS},
    {.key = MASU__VALLEY_SQUARE},
    {.key = MASU__VALLEY_SIZE},
};

/* With many items time is short: the first two are the fastest, the third the best, and then it
 * depends. */
static const masu__valley_way many_ways[] = {
    {.key = MASU__VALLEY_AREA},
    {.key = MASU__VALLEY_LONGEST, .coarse = 0.01, .crowded = 1, .demand = true},
    {.key = MASU__VALLEY_LONGEST,
     .coarse = 0.01,
     .crowded = 1,
     .among = 64,
     .within = 1,
     .calm = 0.9,
     .touch = 0.3,
     .level = 2,
     .demand = true},
    {.key = MASU__VALLEY_DURATION,
     .coarse = 0.01,
     .crowded = 8,
     .among = 16,
     .within = 1,
     .calm = 0.9,
     .touch = 0.6,
     .level = 0.6,
     .demand = true},
    {.key = MASU__VALLEY_LONGEST,
     .coarse = 0.01,
     .noise = 0.02,
     .crowded = 1,
     .among = 64,
     .within = 0.7,
     .calm = 0.9,
     .touch = 0.3,
     .level = 4,
     .demand = true},
    {.key = MASU__VALLEY_AREA, .noise = 0.4},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { MANY = 8192, VERY_MANY = 1 << 15, MOST_FOR_CHOICE = 1 << 18, QUICKEST = 1, LITTLE = 4, TRIES = 12 };

enum { FEW_SIZES = 64 };

/* Few sizes, as powers of two, lie best on layers of each: by size first. */
static bool has_few_sizes(const masu__plan_model *m) {
    int64_t seen[FEW_SIZES];
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->item_count; i++) {
        uint32_t at = 0;
        while (at < count && seen[at] != m->size[i])
            at++;
        if (at == FEW_SIZES)
            return false;
        if (at == count)
            seen[count++] = m->size[i];
    }
    return true;
}

/* Where only a little need be placed again, that is worth more than the next way. */
static void many_heuristics(masu__solver *s) {
    static const masu__valley_way by_size = {.key = MASU__VALLEY_SIZE};
    static const masu__valley_way for_coarse = {
        .key = MASU__VALLEY_LONGEST, .coarse = 0.01, .demand = true, .thorough = true};
    uint32_t items = s->model.item_count;
    bool few_sizes = has_few_sizes(&s->model);
    if (few_sizes)
        try_valley(s, &by_size, s->options->seed);
    unsigned first = items <= VERY_MANY ? 0 : items <= MOST_FOR_CHOICE ? 2 : QUICKEST;
    if (first == QUICKEST) {
        try_coarse(s, few_sizes ? &many_ways[QUICKEST] : &for_coarse);
        masu__solver_repair(s, items / LITTLE, s->bound);
    }
    for (unsigned i = first; i < COUNT(many_ways); i++) {
        if (s->best_height < INT64_MAX && masu__solver_finished(s))
            return;
        try_valley(s, &many_ways[i], s->options->seed);
        masu__solver_repair(s, s->model.item_count / LITTLE, s->bound);
    }
}

/* ---- slots ----------------------------------------------------------------------------------- */

static const masu__slots_way ways[] = {
    {"slots, least choice first", false, false, false, 0},
    {"slots, least choice for the size", true, false, false, 0},
    {"slots, least choice for the area", true, true, false, 0},
    {"slots, least choice, lowest", false, false, true, 0},
    {"slots, least choice for the size, lowest", true, false, true, 0},
    {"slots, least choice for the area, lowest", true, true, true, 0},
};

enum { WAYS = sizeof ways / sizeof *ways, LONG_FOR_SLOTS = 2000 };

static void try_slots(masu__solver *s, unsigned way, double noise, uint64_t seed, int64_t height) {
    masu__plan_stop stop = {masu__solver_stopped, s};
    masu__slots_way mine = ways[way];
    mine.noise = noise;
    s->placements++;
    s->steps_granted += s->model.item_count;
    if (masu__slots_place(s->slots, &mine, seed, height, s->best_height, &stop, s->offsets) != INT64_MAX)
        masu__solver_offer(s, s->offsets, masu__plan_model_height(&s->model, s->offsets), mine.name);
}

void masu__solver_heuristics(masu__solver *s) {
    bool first = !s->valley && s->model.item_count > LONG_FOR_SLOTS; /* a plan before time is over */
    if (first)
        masu__solver_first_fit(s);
    for (unsigned way = 0; s->slots && way < WAYS; way++)
        if (way == 0 || !masu__solver_finished(s))
            try_slots(s, way, 0, s->options->seed, s->bound);
    if (first)
        return;
    if (!s->valley)
        masu__solver_first_fit(s);
    else if (s->model.item_count > MANY)
        many_heuristics(s);
    else
        for (unsigned i = 0; i < COUNT(first_ways); i++)
            if (i == 0 || !masu__solver_finished(s))
                try_valley(s, &first_ways[i], s->options->seed);
}

void masu__solver_noise(masu__solver *s, uint32_t rounds, uint64_t seed) {
    static const double noises[] = {0.02, 0.1, 0.4};
    for (uint32_t round = 0; s->valley && round < rounds && !masu__solver_finished(s); round++) {
        masu__valley_way way = {.key = (masu__valley_key)(round % 4), .noise = noises[round / 4 % 3]};
        try_valley(s, &way, seed + round);
    }
}

/* ---- repair ---------------------------------------------------------------------------------- */

void masu__solver_repair(masu__solver *s, uint32_t most, int64_t enough) {
    masu__plan_stop stop = {masu__solver_stopped, s};
    if (!s->valley || s->best_height <= enough || masu__solver_finished(s))
        return;
    if (!s->repair)
        s->repair = masu__repair_create(&s->model);
    s->out_of_memory |= !s->repair;
    if (!s->repair)
        return;
    masu__repair_begin(s->repair, s->best_offsets, s->best_height);
    while (s->best_height > enough && masu__repair_failures(s->repair) < TRIES && !masu__solver_finished(s)) {
        int64_t height;
        if (masu__repair_step(s->repair, s->options->seed + s->repairs++, most, &stop, &height))
            masu__solver_offer(s, masu__repair_offsets(s->repair), height, "valleys, repaired");
        s->steps_granted += masu__repair_items(s->repair);
        MASU_HEAVY_ASSERT(masu__repair_valid(s->repair));
    }
}

/* ---- jigsaws --------------------------------------------------------------------------------- */

/* A wrong first decision is seldom taken back in time: many short attempts. */
enum { CORNERS_A_ROUND = 4, JIGSAW_PACE = 32, MORE_JIGSAWS = 6 };
static const double most_waste = 0.1, least_waste = 0.01;

static void try_corner(masu__solver *s, double noise, uint64_t seed, uint64_t steps) {
    masu__plan_stop stop = {masu__solver_stopped, s};
    masu__search_end end = masu__corner_run(s->corner, s->bound, noise, seed, steps, &stop, s->offsets);
    s->attempts++;
    s->steps += masu__corner_steps(s->corner);
    s->steps_granted += masu__corner_steps(s->corner);
    if (end == MASU__SEARCH_FOUND)
        masu__solver_offer(s, s->offsets, masu__plan_model_height(&s->model, s->offsets), "the tightest corner first");
}

/* The share that a plan at the bound would waste; 1: not known. */
static double waste_at_bound(masu__solver *s) {
    bool too_large = false;
    if (!s->corner)
        s->corner = masu__corner_create(&s->model, &too_large);
    s->out_of_memory |= !s->corner && !too_large;
    return s->corner ? masu__corner_waste(s->corner, s->bound) : 1;
}

bool masu__solver_is_jigsaw(masu__solver *s) {
    return waste_at_bound(s) < least_waste;
}

void masu__solver_jigsaw(masu__solver *s, unsigned from, unsigned to) {
    static const double noises[CORNERS_A_ROUND] = {0, 0.5, 2, 8};
    if (masu__solver_finished(s))
        return;
    double waste = waste_at_bound(s);
    if (waste > most_waste)
        return;
    if (waste < least_waste) { /* no other method finds these */
        from *= MORE_JIGSAWS;
        to *= MORE_JIGSAWS;
    }
    uint64_t steps = 2 * (uint64_t)s->model.item_count + 200;
    for (unsigned round = from; round < to; round++)
        for (unsigned i = 0; i < CORNERS_A_ROUND && !masu__solver_finished(s); i++)
            try_corner(s, round > 0 && i == 0 ? 1 : noises[i], s->options->seed + round * CORNERS_A_ROUND + i,
                       steps << (round / JIGSAW_PACE));
}

/* ---- ejections ------------------------------------------------------------------------------- */

/* So much of a limited number of steps; the rest is for proofs. Where there is room short runs are enough; where there
 * is little, a long one every few rounds finds what no number of short ones does. */
enum { EJECTIONS_AN_ITEM = 8, LONG_ONE_IN = 4, TIMES_AS_LONG = 16, EJECTION_PACE = 8, EJECTION_SHARE = 6 };

bool masu__solver_eject(masu__solver *s, int64_t height, unsigned round) {
    masu__plan_stop stop = {masu__solver_stopped, s};
    if (!s->ejection && !s->no_ejection) {
        s->ejection = masu__ejection_create(&s->model, &s->no_ejection);
        s->out_of_memory |= !s->ejection && !s->no_ejection;
    }
    if (!s->ejection || masu__solver_finished(s))
        return false;
    uint64_t steps = (uint64_t)EJECTIONS_AN_ITEM * s->model.item_count << (round / EJECTION_PACE);
    steps *= round % LONG_ONE_IN == LONG_ONE_IN - 1 ? TIMES_AS_LONG : 1;
    uint64_t most = s->options->step_limit / EJECTION_SHARE;
    if (most > 0 && s->ejected >= most)
        return false;
    steps = most > 0 && steps > most - s->ejected ? most - s->ejected : steps;
    masu__search_end end = masu__ejection_run(s->ejection, height, s->options->seed + round, steps, &stop, s->offsets);
    s->attempts++;
    s->steps += masu__ejection_steps(s->ejection);
    s->steps_granted += masu__ejection_steps(s->ejection);
    s->ejected += masu__ejection_steps(s->ejection);
    if (end == MASU__SEARCH_FOUND)
        masu__solver_offer(s, s->offsets, masu__plan_model_height(&s->model, s->offsets), "ejections");
    return end == MASU__SEARCH_FOUND;
}

/* ---- untangling ------------------------------------------------------------------------------ */

/* Moves an item in the first round; twice as many in each later one. */
enum { MOVES_AN_ITEM = 500, UNTANGLE_SHARE = 6, MOST_PACES = 20 };

bool masu__solver_untangle(masu__solver *s, int64_t height, unsigned round) {
    masu__plan_stop stop = {masu__solver_stopped, s};
    if (!s->ejection || s->best_height == INT64_MAX || masu__solver_finished(s))
        return false;
    if (!s->untangle)
        s->untangle = masu__untangle_create(masu__ejection_clashes(s->ejection));
    s->out_of_memory |= !s->untangle;
    unsigned paces = round < MOST_PACES ? round : MOST_PACES;
    uint64_t steps = (uint64_t)MOVES_AN_ITEM * s->model.item_count << paces;
    uint64_t most = s->options->step_limit / UNTANGLE_SHARE;
    if (!s->untangle || (most > 0 && s->untangled >= most))
        return false;
    steps = most > 0 && steps > most - s->untangled ? most - s->untangled : steps;
    memcpy(s->offsets, s->best_offsets, s->model.item_count * sizeof *s->offsets);
    masu__search_end end = masu__untangle_run(s->untangle, height, s->options->seed + round, steps, &stop, s->offsets);
    s->attempts++;
    s->steps += masu__untangle_steps(s->untangle);
    s->steps_granted += masu__untangle_steps(s->untangle);
    s->untangled += masu__untangle_steps(s->untangle);
    if (end == MASU__SEARCH_FOUND)
        masu__solver_offer(s, s->offsets, masu__plan_model_height(&s->model, s->offsets), "overlaps untangled");
    return end == MASU__SEARCH_FOUND;
}

/* ---- one method ------------------------------------------------------------------------------ */

enum { FIRST_FIT = MASU__VALLEY_KEY_COUNT + 1 };

const char *masu_plan_method_name(unsigned number) {
    if (number >= 1 && number <= MASU__VALLEY_KEY_COUNT)
        return valley_name((masu__valley_key)(number - 1));
    if (number > FIRST_FIT && number <= FIRST_FIT + WAYS)
        return ways[number - FIRST_FIT - 1].name;
    return number == FIRST_FIT ? "first fit by area" : NULL;
}

bool masu__solver_only(masu__solver *s, unsigned number) {
    if (!masu_plan_method_name(number))
        return false;
    if (number > FIRST_FIT && s->slots)
        try_slots(s, number - FIRST_FIT - 1, 0, 0, s->bound);
    else if (number >= FIRST_FIT || !s->valley)
        masu__solver_first_fit(s);
    else
        try_valley(s, &(masu__valley_way){.key = (masu__valley_key)(number - 1)}, 0);
    return true;
}
