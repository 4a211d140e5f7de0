/* clique.c: the bound that rows kept apart ask for. Whatever must not share bytes pair by pair lies one above the
 * other, alive together or not: of a set of items in which each pair lives together or is kept apart,
 *
 *     height >= sum of their sizes                                          (a clique; of lives alone it is the load)
 *     height >= sum of sizes rounded up to g - the largest such rounding    (all aligned to g or more, as in bound.c)
 *
 * Fixed rows belong to it with the bytes that they take. The heaviest clique is looked for by branch and bound:
 * vertices are coloured, of each colour at most one counts. Where the work is over the heaviest found is a bound as
 * well, a lower one.
 */
#include "planner/model/model.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_VERTICES = 2048, MOST_WORK = 1 << 25 };

typedef struct cliques {
    const masu__plan_model *model;
    masu__arena *arena;
    uint32_t count, words; /* vertices: items, then obstacles */
    uint64_t *adjacent;    /* [count][words] */
    int64_t *weight, *rounding;
    uint32_t *by_weight; /* the lightest first */
    int64_t best;
    uint64_t work;
    bool failed_memory;
} cliques;

/* ---- who is next to whom ------------------------------------------------------------------------ */

static void join(cliques *c, uint32_t a, uint32_t b) {
    c->adjacent[(size_t)a * c->words + b / 64] |= UINT64_C(1) << (b % 64);
    c->adjacent[(size_t)b * c->words + a / 64] |= UINT64_C(1) << (a % 64);
}

/* Sections in which an item takes all its bytes: other pieces say less than the sizes do. */
static bool is_whole(const masu__plan_model *m, uint32_t item, uint32_t piece) {
    const masu__plan_piece *p = &m->pieces[piece];
    return p->base == 0 && p->hole == 0 && p->height == m->size[item];
}

static bool live_together(const masu__plan_model *m, uint32_t a, uint32_t first, uint32_t end) {
    for (uint32_t k = m->piece_start[a]; k < m->piece_start[a + 1]; k++)
        if (is_whole(m, a, k) && m->pieces[k].first < end && first < m->pieces[k].end)
            return true;
    return false;
}

static void join_living(cliques *c) {
    const masu__plan_model *m = c->model;
    for (uint32_t a = 0; a < m->item_count; a++) {
        for (uint32_t b = 0; b < a; b++)
            for (uint32_t k = m->piece_start[b]; k < m->piece_start[b + 1]; k++)
                if (is_whole(m, b, k) && live_together(m, a, m->pieces[k].first, m->pieces[k].end))
                    join(c, a, b);
        for (uint32_t o = 0; o < m->obstacle_count && !m->holes; o++) /* one with a hole takes more than it keeps */
            if (live_together(m, a, m->obstacles[o].first, m->obstacles[o].end))
                join(c, a, m->item_count + o);
    }
}

/* Obstacles lie where they are: what takes other bytes is apart. */
static void join_obstacles(cliques *c) {
    const masu__plan_model *m = c->model;
    for (uint32_t a = 0; a < m->obstacle_count; a++)
        for (uint32_t b = 0; b < a; b++) {
            const masu__plan_obstacle *x = &m->obstacles[a], *y = &m->obstacles[b];
            if (x->offset + x->size <= y->offset || y->offset + y->size <= x->offset)
                join(c, m->item_count + a, m->item_count + b);
        }
}

/* Relations name rows: where a group is larger than its row, they say less than the group's size. */
static void join_apart(cliques *c) {
    const masu__plan_model *m = c->model;
    for (uint32_t i = 0; i < m->apart_count; i++) {
        const masu__plan_apart *p = &m->apart[i];
        if (p->a != p->b && p->height_a == m->size[p->a] && p->height_b == m->size[p->b])
            join(c, p->a, p->b);
    }
    for (uint32_t i = 0; i < m->apart_fixed_count; i++) {
        const masu__plan_apart *p = &m->apart_fixed[i];
        if (p->height_a == m->size[p->a] && p->height_b == m->obstacles[p->b].size)
            join(c, p->a, m->item_count + p->b);
    }
}

/* ---- the heaviest ------------------------------------------------------------------------------- */

static bool has(const uint64_t *set, uint32_t v) {
    return set[v / 64] >> (v % 64) & 1;
}

static void drop(uint64_t *set, uint32_t v) {
    set[v / 64] &= ~(UINT64_C(1) << (v % 64));
}

/* Candidates by colour, in each colour the lightest first; most[i]: what candidates 0 … i can weigh together. */
static uint32_t colour(cliques *c, const uint64_t *candidates, uint32_t *order, int64_t *most) {
    uint64_t *left = MASU_ARENA_ARRAY(c->arena, uint64_t, 2 * c->words);
    uint64_t *free_ones = left ? left + c->words : NULL;
    uint32_t count = 0;
    int64_t before = 0;
    c->failed_memory |= !left;
    if (!left)
        return 0;
    memcpy(left, candidates, c->words * sizeof *left);
    for (bool any = true; any;) {
        uint32_t from = count;
        any = false;
        memcpy(free_ones, left, c->words * sizeof *left);
        for (uint32_t i = c->count; i-- > 0;) { /* the heaviest gives the colour its weight */
            uint32_t v = c->by_weight[i];
            if (!has(free_ones, v))
                continue;
            any = true;
            drop(left, v);
            order[count++] = v;
            for (uint32_t w = 0; w < c->words; w++)
                free_ones[w] &= ~c->adjacent[(size_t)v * c->words + w];
        }
        for (uint32_t i = from, k = count; i + 1 < k; i++, k--) {
            uint32_t v = order[i];
            order[i] = order[k - 1];
            order[k - 1] = v;
        }
        for (uint32_t i = from; i < count; i++)
            most[i] = before + c->weight[order[i]];
        before = count > from ? most[count - 1] : before;
    }
    return count;
}

static void extend(cliques *c, uint64_t *candidates, int64_t sum, int64_t rounding) {
    masu__arena_mark mark = masu__arena_get_mark(c->arena);
    uint32_t *order = MASU_ARENA_ARRAY(c->arena, uint32_t, c->count + 1);
    int64_t *most = MASU_ARENA_ARRAY(c->arena, int64_t, c->count + 1);
    uint64_t *next = MASU_ARENA_ARRAY(c->arena, uint64_t, c->words);
    c->failed_memory |= !order || !most || !next;
    uint32_t count = c->failed_memory ? 0 : colour(c, candidates, order, most);
    c->best = sum - rounding > c->best ? sum - rounding : c->best;
    c->work += (uint64_t)(count + 4) * (c->words + c->count / 16);
    for (uint32_t i = count; i-- > 0 && c->work < MOST_WORK && !c->failed_memory;) {
        uint32_t v = order[i];
        if (sum + most[i] - rounding <= c->best)
            break;
        for (uint32_t w = 0; w < c->words; w++)
            next[w] = candidates[w] & c->adjacent[(size_t)v * c->words + w];
        extend(c, next, sum + c->weight[v], c->rounding[v] > rounding ? c->rounding[v] : rounding);
        drop(candidates, v);
    }
    masu__arena_release(c->arena, mark);
}

static int lightest_first(const void *a, const void *b, void *weights) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const int64_t *weight = weights;
    if (weight[x] != weight[y])
        return weight[x] < weight[y] ? -1 : 1;
    return (x > y) - (x < y);
}

/* Among those whose offsets are multiples of g. */
static void look_for(cliques *c, int64_t g, uint64_t *candidates) {
    const masu__plan_model *m = c->model;
    memset(candidates, 0, c->words * sizeof *candidates);
    for (uint32_t v = 0; v < c->count; v++) {
        bool is_item = v < m->item_count;
        const masu__plan_obstacle *o = is_item ? NULL : &m->obstacles[v - m->item_count];
        int64_t size = is_item ? m->size[v] : o->size;
        c->weight[v] = masu__plan_align(size, g);
        c->rounding[v] = c->weight[v] - size;
        c->by_weight[v] = v;
        if (is_item ? m->alignment[v] >= g : o->offset % g == 0)
            candidates[v / 64] |= UINT64_C(1) << (v % 64);
    }
    qsort_r(c->by_weight, c->count, sizeof *c->by_weight, lightest_first, c->weight);
    c->work = 0;
    extend(c, candidates, 0, 0);
}

static uint64_t *make_graph(cliques *c) {
    c->adjacent = MASU_ARENA_ARRAY(c->arena, uint64_t, (size_t)c->count * c->words);
    c->weight = MASU_ARENA_ARRAY(c->arena, int64_t, c->count);
    c->rounding = MASU_ARENA_ARRAY(c->arena, int64_t, c->count);
    c->by_weight = MASU_ARENA_ARRAY(c->arena, uint32_t, c->count);
    uint64_t *candidates = MASU_ARENA_ARRAY(c->arena, uint64_t, c->words);
    if (!c->adjacent || !c->weight || !c->rounding || !c->by_weight || !candidates)
        return NULL;
    memset(c->adjacent, 0, (size_t)c->count * c->words * sizeof *c->adjacent);
    join_living(c);
    join_obstacles(c);
    join_apart(c);
    return candidates;
}

bool masu__plan_model_clique_bound(masu__plan_model *m) {
    uint64_t alignments = 1, vertices = (uint64_t)m->item_count + m->obstacle_count;
    if (m->apart_count + m->apart_fixed_count == 0 || vertices > MOST_VERTICES)
        return true;
    masu__arena_mark mark = masu__arena_get_mark(&m->arena);
    cliques c = {.model = m,
                 .arena = &m->arena,
                 .count = (uint32_t)vertices,
                 .words = (uint32_t)vertices / 64 + 1,
                 .best = m->bound};
    uint64_t *candidates = make_graph(&c);
    c.failed_memory = !candidates;
    for (uint32_t i = 0; i < m->item_count; i++)
        alignments |= (uint64_t)m->alignment[i];
    for (; alignments != 0 && !c.failed_memory; alignments &= alignments - 1)
        look_for(&c, (int64_t)(alignments & -alignments), candidates);
    masu__arena_release(&m->arena, mark);
    m->bound = c.best;
    return !c.failed_memory;
}
