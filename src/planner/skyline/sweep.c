/* sweep.c: some plan at once, for when the time is over before the first good one is there.
 *
 *     ▲        ├──── c ────┤         Time passes once. What dies gives its bytes back, what is born takes the lowest
 *     │  ├─ b ─┤├─── e ─────┤        hole that is large enough: longer lives first, so that they lie together at the
 *     │  ├──── a ────┤├─ f ─┤        bottom, and the holes that short ones leave are near the top.
 *     └────────────────────► time
 *
 *     holes   a treap by address; most = the largest hole below a node, so that the lowest that fits is one way down
 *             the last hole has no end: there is always a place
 *     equation   live items and holes, in order of address, leave out no byte; no two holes touch
 *
 * O(n log holes). Gaps in an item's life are treated as filled. For models without obstacles.
 */
#include <stdlib.h>
#include <string.h>

#include "planner/search/solver.h"

enum { NONE = 0 };

typedef struct hole {
    int64_t from, size, most;
    uint32_t left, right, rank;
} hole;

/* A copy of an item, in the order in which time passes: the model's arrays are in the order of the rows, each
 * look at them a miss of the cache, and with millions of items that is most of the time. */
typedef struct life {
    int64_t size, alignment, offset;
    uint32_t item, end;
} life;

typedef struct sweep {
    const masu__plan_model *m;
    life *lives;                /* by first section */
    uint32_t *first_of;         /* per section, into lives */
    uint32_t *deaths, *dead_of; /* places in lives, by end */
    hole *holes;                /* [1 + …]; 0 is none */
    uint32_t root, spare, hole_count, ranks;
    int64_t *offsets;
    masu__arena arena;
} sweep;

#define NEW(s, type, count) ((type *)masu__arena_calloc(&(s)->arena, (size_t)(count) + 2, sizeof(type), _Alignof(type)))

/* ---- holes ----------------------------------------------------------------------------------- */

static void settle(sweep *s, uint32_t at) {
    hole *h = &s->holes[at];
    int64_t left = s->holes[h->left].most, right = s->holes[h->right].most;
    h->most = h->size;
    h->most = left > h->most ? left : h->most;
    h->most = right > h->most ? right : h->most;
}

/* *low: the holes that begin before `from`. */
static void split(sweep *s, uint32_t at, int64_t from, uint32_t *low, uint32_t *high) {
    if (at == NONE) {
        *low = *high = NONE;
        return;
    }
    hole *h = &s->holes[at];
    if (h->from < from) {
        split(s, h->right, from, &h->right, high);
        *low = at;
    } else {
        split(s, h->left, from, low, &h->left);
        *high = at;
    }
    settle(s, at);
}

static uint32_t join(sweep *s, uint32_t low, uint32_t high) {
    if (low == NONE || high == NONE)
        return low == NONE ? high : low;
    if (s->holes[low].rank > s->holes[high].rank) {
        s->holes[low].right = join(s, s->holes[low].right, high);
        settle(s, low);
        return low;
    }
    s->holes[high].left = join(s, low, s->holes[high].left);
    settle(s, high);
    return high;
}

static uint32_t make_hole(sweep *s, int64_t from, int64_t size) {
    if (size == 0)
        return NONE;
    uint32_t at = s->spare;
    if (at != NONE)
        s->spare = s->holes[at].left;
    else
        at = ++s->hole_count;
    s->ranks = s->ranks * 1664525u + 1013904223u;
    s->holes[at] = (hole){from, size, size, NONE, NONE, s->ranks ^ s->ranks >> 15};
    return at;
}

static void end_hole(sweep *s, uint32_t at) {
    s->holes[at].left = s->spare;
    s->spare = at;
}

/* Takes the outermost hole, on the right or the left, out of the tree. Returns it, without children. */
static uint32_t take_last(sweep *s, uint32_t *root, bool on_right) {
    uint32_t at = *root;
    uint32_t *beyond = on_right ? &s->holes[at].right : &s->holes[at].left;
    if (*beyond == NONE) {
        *root = on_right ? s->holes[at].left : s->holes[at].right;
        s->holes[at].left = s->holes[at].right = NONE;
        settle(s, at);
        return at;
    }
    uint32_t last = take_last(s, beyond, on_right);
    settle(s, at);
    return last;
}

/* The lowest hole of at least this size: the last has no end. */
static uint32_t lowest_of(const sweep *s, int64_t size) {
    uint32_t at = s->root;
    for (;;) {
        const hole *h = &s->holes[at];
        if (s->holes[h->left].most >= size)
            at = h->left;
        else if (h->size >= size)
            return at;
        else
            at = h->right;
    }
}

/* ---- births and deaths ----------------------------------------------------------------------- */

/* An aligned place may begin later than its hole, by less than the alignment; all addresses are multiples of the
 * unit. */
static void place(sweep *s, life *born) {
    int64_t size = born->size, alignment = born->alignment;
    int64_t slack = alignment > s->m->unit ? alignment - s->m->unit : 0;
    uint32_t at = lowest_of(s, size + slack), low, high;
    int64_t from = s->holes[at].from, room = s->holes[at].size;
    int64_t offset = masu__plan_align(from, alignment);
    split(s, s->root, from, &low, &high);
    end_hole(s, take_last(s, &high, false));
    low = join(s, low, make_hole(s, from, offset - from));
    low = join(s, low, make_hole(s, offset + size, room - size - (offset - from)));
    s->root = join(s, low, high);
    born->offset = offset;
}

static void give_back(sweep *s, const life *dead) {
    int64_t from = dead->offset, end = from + dead->size;
    uint32_t low, high, last = NONE;
    split(s, s->root, from, &low, &high);
    if (low != NONE)
        last = take_last(s, &low, true);
    if (last != NONE && s->holes[last].from + s->holes[last].size == from) {
        from = s->holes[last].from;
        end_hole(s, last);
    } else if (last != NONE) {
        low = join(s, low, last);
    }
    uint32_t next = take_last(s, &high, false); /* the last hole is above everything */
    if (s->holes[next].from == end) {
        end += s->holes[next].size;
        end_hole(s, next);
    } else {
        high = join(s, next, high);
    }
    s->root = join(s, join(s, low, make_hole(s, from, end - from)), high);
}

/* ---- the sweep ------------------------------------------------------------------------------- */

static int by_life(const void *a, const void *b) {
    const life *x = a, *y = b;
    if (x->end != y->end)
        return x->end > y->end ? -1 : 1;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    return (x->item > y->item) - (x->item < y->item);
}

/* deaths lends the room for the order of births. */
static void order_by_birth(sweep *s) {
    const masu__plan_model *m = s->m;
    masu__plan_model_order_by_birth(m, s->deaths, s->first_of);
    for (uint32_t k = 0; k < m->item_count; k++) {
        uint32_t i = s->deaths[k];
        s->lives[k] = (life){m->size[i], m->alignment[i], 0, i, m->end[i]};
    }
    for (uint32_t section = 0; section < m->section_count; section++) {
        uint32_t born = s->first_of[section], count = s->first_of[section + 1] - born;
        if (count > 1)
            qsort(s->lives + born, count, sizeof *s->lives, by_life);
    }
}

static void order_by_death(sweep *s) {
    const masu__plan_model *m = s->m;
    for (uint32_t k = 0; k < m->item_count; k++)
        s->dead_of[s->lives[k].end + 1]++;
    for (uint32_t k = 0; k <= m->section_count; k++)
        s->dead_of[k + 1] += s->dead_of[k];
    for (uint32_t k = 0; k < m->item_count; k++)
        s->deaths[s->dead_of[s->lives[k].end]++] = k;
    memmove(s->dead_of + 1, s->dead_of, (m->section_count + 1) * sizeof *s->dead_of);
    s->dead_of[0] = 0;
}

static void pass_time(sweep *s) {
    const masu__plan_model *m = s->m;
    s->root = make_hole(s, 0, INT64_MAX / 2);
    for (uint32_t section = 0; section < m->section_count; section++) {
        for (uint32_t k = s->dead_of[section]; k < s->dead_of[section + 1]; k++)
            give_back(s, &s->lives[s->deaths[k]]);
        for (uint32_t k = s->first_of[section]; k < s->first_of[section + 1]; k++)
            place(s, &s->lives[k]);
    }
    for (uint32_t k = 0; k < m->item_count; k++)
        s->offsets[s->lives[k].item] = s->lives[k].offset;
}

static bool sweep_open(sweep *s) {
    const masu__plan_model *m = s->m;
    s->lives = NEW(s, life, m->item_count);
    s->first_of = NEW(s, uint32_t, m->section_count);
    s->deaths = NEW(s, uint32_t, m->item_count);
    s->dead_of = NEW(s, uint32_t, m->section_count + 1);
    s->holes = NEW(s, hole, 2 * (size_t)m->item_count + 2);
    return s->lives && s->first_of && s->deaths && s->dead_of && s->holes;
}

/* Without memory for more: each above the one before. It always fits (masu_plan_validate). */
static void pile_up(const masu__plan_model *m, int64_t *offsets) {
    int64_t height = 0;
    for (uint32_t i = 0; i < m->item_count; i++) {
        offsets[i] = masu__plan_align(height, m->alignment[i]);
        height = offsets[i] + m->size[i];
    }
}

void masu__solver_sweep(masu__solver *solver) {
    const masu__plan_model *m = &solver->model;
    sweep s = {.m = m, .offsets = solver->offsets};
    if (sweep_open(&s)) {
        order_by_birth(&s);
        order_by_death(&s);
        pass_time(&s);
    } else {
        pile_up(m, solver->offsets);
    }
    masu__arena_destroy(&s.arena);
    masu__solver_offer(solver, solver->offsets, masu__plan_model_height(m, solver->offsets), "a sweep through time");
}
