/* goals.c: which heights to ask for, and for how long.
 *
 * To fit: the capacity; the first orders of each round ask, in turns with it, for a height below: the
 * bound in even rounds, half way to it in odd ones. A lower plan answers the question as well, and a
 * tighter one is often found sooner: so what is solved at one capacity is not lost at a larger one.
 * After each round the ladder below, so that the best plan is no higher than without a capacity.
 * Where a plan at the bound wastes next to nothing, jigsaws are laid before the first round and behind each; where it
 * wastes a little, behind the later ones: they take steps that the orders need.
 *
 * Two programs at once are divided and stacked (stack.c): behind each round; where a round is long, before it.
 *
 * Where a plan at the bound wastes little, but something, rows that nearly fit together are joined (blocks.c): around
 * fixed rows nothing else comes as near, so that this has its turn before all that searches; so has it among many
 * rows. Where nothing is fixed, a few hundred rows are searched first.
 *
 * Rows beside fixed ones, with gaps or apart: each round begins with ejections, at the height that is wanted and below
 * the best plan; and then overlaps are untangled, from the best plan down.
 *
 * To minimise: down a ladder. Each few orders ask for the bound and, in turns with it, for a height
 * below the best plan: half way to the bound, or less far when that was not found. What is found gives
 * the next two; then all orders once more, with twice the steps. So plans are soon near the bound, whichever heights
 * are easy, and the bound is never asked last.
 */
#include "planner/search/solver.h"

enum {
    MOST_ROUNDS = 40,
    NOISE_AT_ONCE = 12,
    JIGSAWS = 6,
    AT_ONCE = 2,
    LOWER_ORDERS = 3,
    LATER = 4,
    EJECTIONS = 8,
    BLOCKS = 6,
    MORE_BLOCKS = 3,
    LOOSE = 64,
    MORE_LOOSE = 256,
    DOWN_BY = 12,
    HALVES = 16
};

/* Heights are multiples of unit: nothing lies between. */
static int64_t round_down(const masu__solver *s, int64_t height) {
    return height - height % s->model.unit;
}

static int64_t round_up(const masu__solver *s, int64_t height) {
    return round_down(s, height + s->model.unit - 1);
}

static int64_t lowest_height(const masu__solver *s) {
    return round_up(s, s->bound > s->given_up ? s->bound : s->given_up);
}

static bool reached(const masu__solver *s, int64_t capacity) {
    return s->best_height <= capacity || s->bound > capacity || masu__solver_finished(s);
}

/* Many items leave time for little more than a placement or two. */
static bool is_small(const masu__solver *s) {
    return s->model.item_count <= 8192;
}

/* Too large for the search: what is highest is placed again, until time is over. */
static void keep_placing(masu__solver *s, int64_t capacity) {
    for (uint64_t round = 0; s->valley && !reached(s, capacity); round++) {
        masu__solver_repair(s, UINT32_MAX, capacity);
        masu__solver_noise(s, 1, s->options->seed + round * 1000);
    }
}

/* The next height to ask for: this part of the way from the best plan to the lowest height. */
static int64_t below_best(const masu__solver *s, int64_t lowest, unsigned part) {
    int64_t below = round_up(s, s->best_height - 1) - s->model.unit; /* the next one */
    int64_t target = round_down(s, s->best_height - (s->best_height - lowest) / part);
    target = target < below ? target : below;
    return target > lowest ? target : lowest;
}

/* Orders [from, to), until a plan is low enough (0: none is). A failure says little: a tight target is not always
 * harder than a loose one. */
static void descend(masu__solver *s, unsigned from, unsigned to, int64_t enough) {
    static const unsigned parts[] = {2, 4, 2, 8, 2, 4, 2, 64};
    unsigned failures = 0;
    for (unsigned i = from; i < to && s->searchable && !(enough > 0 ? reached(s, enough) : masu__solver_finished(s));) {
        int64_t lowest = lowest_height(s);
        int64_t targets[] = {below_best(s, lowest, parts[failures % 8]), lowest};
        unsigned end = i + AT_ONCE < to ? i + AT_ONCE : to;
        switch (masu__solver_portfolio(s, targets, targets[1] < targets[0] ? 2 : 1, i, end)) {
        case MASU__SEARCH_FOUND: /* with the same order once more */
            i = s->found_by;
            failures = 0;
            break;
        case MASU__SEARCH_EXHAUSTED: /* the lowest height has risen */
            break;
        default:
            i = end;
            failures++;
        }
    }
}

/* For rows among others that are fixed, with gaps or apart: the height that is wanted (0: the lowest), and in turns
 * with it one below the best plan; what is found is asked for less at once. */
static void eject(masu__solver *s, unsigned from, unsigned to, int64_t enough) {
    static const unsigned parts[] = {2, 4, 16, 64};
    for (unsigned round = from; round < to && !s->model.simple;) {
        int64_t lowest = lowest_height(s), wanted = enough > lowest ? round_down(s, enough) : lowest;
        if (enough > 0 ? reached(s, enough) : masu__solver_finished(s))
            return;
        if (!masu__solver_eject(s, wanted, round)) {
            int64_t below = below_best(s, wanted, parts[round % 4]);
            while (below > wanted && below < s->best_height && masu__solver_eject(s, below, round))
                below = below_best(s, wanted, parts[round % 4]);
        }
        round++;
    }
}

/* Behind ejections, which are the first to see whether there is room: from the best plan down by small parts, of which
 * each begins with the plan before. */
static void untangle(masu__solver *s, unsigned round, int64_t enough) {
    while (!s->model.simple && !(enough > 0 ? reached(s, enough) : masu__solver_finished(s))) {
        int64_t lowest = lowest_height(s), wanted = enough > lowest ? round_down(s, enough) : lowest;
        if (s->best_height == INT64_MAX || !masu__solver_untangle(s, below_best(s, wanted, DOWN_BY), round))
            return;
    }
}

static bool joins_first(const masu__solver *s) {
    enum { MANY = 600 };
    return s->model.obstacle_count > 0 || s->model.item_count >= MANY;
}

/* Where the bound wastes little the blocks are more than all the heuristics find, so these only see to a first plan. */
static void begin(masu__solver *s, int64_t enough) {
    if (!s->valley)
        masu__solver_first_fit(s);
    masu__solver_blocks(s, enough, 0, BLOCKS);
    if (s->best_height == INT64_MAX || (s->best_height > enough && !masu__solver_finished(s)))
        masu__solver_heuristics(s);
    if (s->best_height > enough && joins_first(s))
        masu__solver_loose(s, enough, 0, LOOSE);
}

static void join_loosely(masu__solver *s, int64_t enough, unsigned round) {
    if (round > 0 || joins_first(s))
        masu__solver_loose(s, enough, LOOSE + MORE_LOOSE * round, LOOSE + MORE_LOOSE * (round + 1));
}

void masu__solver_fit(masu__solver *s, int64_t capacity) {
    begin(s, capacity);
    if (is_small(s))
        masu__solver_noise(s, s->best_height > capacity ? NOISE_AT_ONCE : 0, s->options->seed);
    if (!reached(s, capacity) && masu__solver_is_jigsaw(s))
        masu__solver_jigsaw(s, 0, JIGSAWS);
    for (unsigned round = 0; round < MOST_ROUNDS && !reached(s, capacity); round++) {
        masu__solver_blocks(s, capacity, BLOCKS + MORE_BLOCKS * round, BLOCKS + MORE_BLOCKS * (round + 1));
        join_loosely(s, capacity, round);
        eject(s, EJECTIONS * round, EJECTIONS * (round + 1), capacity);
        untangle(s, round, capacity);
        if (reached(s, capacity))
            break;
        if (s->given_up > capacity) /* what the search does not see, ejections may still find */
            continue;
        int64_t lowest = lowest_height(s);
        int64_t between = round_down(s, lowest + (capacity - lowest) / 2);
        int64_t targets[] = {round_down(s, capacity), round % 2 == 0 ? lowest : between};
        unsigned first = round * MASU__PLAN_ORDERS, both = first;
        masu__solver_halves(s, capacity, HALVES * round, HALVES * (round + 1), true);
        if (targets[1] < targets[0] && !reached(s, capacity)) {
            both += LOWER_ORDERS;
            masu__solver_portfolio(s, targets, 2, first, both);
        }
        if (!reached(s, capacity))
            masu__solver_portfolio(s, targets, 1, both, first + MASU__PLAN_ORDERS);
        if (!s->searchable)
            break;
        masu__solver_halves(s, capacity, HALVES * round, HALVES * (round + 1), false);
        if (!reached(s, capacity))
            descend(s, 2 * round * MASU__PLAN_ORDERS, (2 * round + 2) * MASU__PLAN_ORDERS, capacity);
        if (!reached(s, capacity) && (round >= LATER || masu__solver_is_jigsaw(s)))
            masu__solver_jigsaw(s, JIGSAWS * (round + 1), JIGSAWS * (round + 2));
    }
    keep_placing(s, capacity);
}

void masu__solver_minimize(masu__solver *s) {
    begin(s, s->bound);
    if (is_small(s))
        masu__solver_noise(s, NOISE_AT_ONCE, s->options->seed);
    masu__solver_jigsaw(s, 0, JIGSAWS);
    for (unsigned level = 0; level < MOST_ROUNDS && !masu__solver_finished(s); level++) {
        masu__solver_blocks(s, s->bound, BLOCKS + MORE_BLOCKS * level, BLOCKS + MORE_BLOCKS * (level + 1));
        join_loosely(s, s->bound, level);
        eject(s, EJECTIONS * level, EJECTIONS * (level + 1), 0);
        untangle(s, level, 0);
        descend(s, 2 * level * MASU__PLAN_ORDERS, (2 * level + 2) * MASU__PLAN_ORDERS, 0);
        if (!s->searchable)
            break;
        masu__solver_halves(s, s->bound, HALVES * level, HALVES * (level + 1), true);
        masu__solver_halves(s, s->bound, HALVES * level, HALVES * (level + 1), false);
        masu__solver_jigsaw(s, JIGSAWS * (level + 1), JIGSAWS * (level + 2));
    }
    if (!s->searchable)
        keep_placing(s, s->bound);
}
