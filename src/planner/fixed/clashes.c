/* clashes.c: what is in an item's way. See clashes.h. */
#include "planner/fixed/clashes.h"

#include <string.h>

#include "planner/model/alive.h"

enum { MOST_ITEMS = 1 << 15, MOST_PAIRS = 2 << 20 };

#define NEW(c, type, count) ((type *)masu__arena_calloc((c)->arena, (size_t)(count) + 1, sizeof(type), _Alignof(type)))

/* Adds, or only counts while pairs is NULL. */
static void add_pair(masu__clashes *c, uint32_t item, masu__clash p) {
    if (c->pairs)
        c->pairs[c->pair_start[item]] = p;
    c->pair_start[item + (c->pairs ? 0 : 1)]++;
}

static void add_pieces(masu__clashes *c, uint32_t item, uint32_t other) {
    const masu__plan_model *m = c->model;
    for (uint32_t i = m->kept_start[item]; i < m->kept_start[item + 1]; i++)
        for (uint32_t j = m->kept_start[other]; j < m->kept_start[other + 1]; j++) {
            const masu__plan_piece *a = &m->kept[i], *b = &m->kept[j];
            if (a->first < b->end && b->first < a->end)
                add_pair(c, item, (masu__clash){other, b->base - a->base - a->height, b->base + b->height - a->base});
        }
}

static void each_pair(masu__clashes *c, const masu__alive *alive, uint32_t *with) {
    const masu__plan_model *m = c->model;
    for (uint32_t i = 0; i < m->item_count; i++) {
        uint32_t count = masu__alive_with(alive, i, with);
        for (uint32_t k = 0; k < count; k++)
            add_pieces(c, i, with[k]);
    }
    for (uint32_t r = 0; r < m->apart_count; r++) {
        const masu__plan_apart *apart = &m->apart[r];
        add_pair(c, apart->a, (masu__clash){apart->b, -apart->height_a, apart->height_b});
        add_pair(c, apart->b, (masu__clash){apart->a, -apart->height_b, apart->height_a});
    }
}

static void sum_up(uint32_t *start, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        start[i + 1] += start[i];
}

static void step_back(uint32_t *start, uint32_t count) {
    memmove(start + 1, start, count * sizeof *start);
    start[0] = 0;
}

static bool find_pairs(masu__clashes *c, const masu__alive *alive) {
    uint32_t n = c->model->item_count;
    uint32_t *with = NEW(c, uint32_t, n);
    c->pair_start = NEW(c, uint32_t, n + 1);
    if (!with || !c->pair_start)
        return false;
    each_pair(c, alive, with);
    sum_up(c->pair_start, n);
    c->pairs = NEW(c, masu__clash, c->pair_start[n]);
    if (!c->pairs)
        return false;
    each_pair(c, alive, with);
    step_back(c->pair_start, n);
    return true;
}

static bool find_hard(masu__clashes *c) {
    const masu__plan_model *m = c->model;
    masu__obstacles obstacles;
    size_t count = 0;
    bool right = masu__obstacles_open(&obstacles, m);
    c->hard_start = NEW(c, uint32_t, m->item_count + 1);
    right = right && c->hard_start;
    for (int pass = 0; pass < 2 && right; pass++) {
        for (uint32_t i = 0; i < m->item_count && right; i++) {
            const masu__block *blocks = masu__obstacles_blocks(&obstacles, i, &count);
            right = count != SIZE_MAX;
            if (right && pass == 0)
                c->hard_start[i + 1] = c->hard_start[i] + (uint32_t)count;
            else if (right && count > 0)
                memcpy(c->hard + c->hard_start[i], blocks, count * sizeof *blocks);
        }
        if (pass == 0 && right)
            c->hard = NEW(c, masu__block, c->hard_start[m->item_count]);
        right = right && c->hard;
    }
    masu__obstacles_close(&obstacles);
    return right;
}

bool masu__clashes_open(masu__clashes *c, const masu__plan_model *model, masu__arena *arena, bool *too_large) {
    masu__alive alive;
    *c = (masu__clashes){.model = model, .arena = arena};
    bool right = masu__alive_open(&alive, model, arena);
    *too_large = right && (model->item_count > MOST_ITEMS || masu__alive_pairs(&alive) > MOST_PAIRS);
    return right && !*too_large && find_pairs(c, &alive) && find_hard(c);
}
