/* heuristics.c: plans at once: the valley heuristic with each key, and first fit for what it does
 * not know (obstacles, rows kept apart). */
#include <stdlib.h>
#include <string.h>

#include "allocators/plan/solver.h"
#include "base/meta.h"

/* ---- first fit ------------------------------------------------------------------------------- */

typedef struct taken {
    int64_t offset, end;
} taken;

static int by_offset(const void *a, const void *b) {
    const taken *x = a, *y = b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static int by_area(const void *a, const void *b, void *model) {
    const masu__plan_model *m = model;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    double area_x = (double)m->size[x] * (m->end[x] - m->first[x]);
    double area_y = (double)m->size[y] * (m->end[y] - m->first[y]);
    if (area_x != area_y)
        return area_x > area_y ? -1 : 1;
    return (x > y) - (x < y);
}

static bool are_apart(const masu__plan_model *m, uint32_t a, uint32_t b) {
    for (uint32_t i = 0; i < m->apart_count; i++)
        if ((m->apart[i].a == a && m->apart[i].b == b) ||
            (m->apart[i].a == b && m->apart[i].b == a))
            return true;
    return false;
}

/* Lives as hulls: right, not lowest. */
static uint32_t find_taken(const masu__plan_model *m, const uint32_t *placed, uint32_t count,
                           uint32_t item, const int64_t *offsets, taken *list) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t other = placed[i];
        if ((m->first[item] < m->end[other] && m->first[other] < m->end[item]) ||
            (m->apart_count > 0 && are_apart(m, item, other)))
            list[found++] = (taken){offsets[other], offsets[other] + m->size[other]};
    }
    for (uint32_t o = 0; o < m->obstacle_count; o++) {
        const masu__plan_obstacle *obstacle = &m->obstacles[o];
        /* one without sections was made for an item to keep away from: all do */
        if (obstacle->end == obstacle->first ||
            (m->first[item] < obstacle->end && obstacle->first < m->end[item]))
            list[found++] = (taken){obstacle->offset, obstacle->offset + obstacle->size};
    }
    qsort(list, found, sizeof *list, by_offset);
    return found;
}

static int64_t first_gap(const masu__plan_model *m, uint32_t item, const taken *list,
                         uint32_t count) {
    int64_t offset = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (offset + m->size[item] <= list[i].offset)
            break;
        if (list[i].end > offset)
            offset = masu__plan_align(list[i].end, m->alignment[item]);
    }
    return offset;
}

static void first_fit(masu__solver *s) {
    const masu__plan_model *m = &s->model;
    size_t n = m->item_count, most = n + m->obstacle_count + 1;
    uint32_t *order = masu__meta_calloc(n + 1, sizeof *order);
    taken *list = masu__meta_calloc(most, sizeof *list);
    s->out_of_memory |= !order || !list;
    if (order && list) {
        for (uint32_t i = 0; i < n; i++)
            order[i] = i;
        qsort_r(order, n, sizeof *order, by_area, (void *)m);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t count = find_taken(m, order, i, order[i], s->offsets, list);
            s->offsets[order[i]] = first_gap(m, order[i], list, count);
        }
        s->placements++;
        masu__solver_offer(s, s->offsets, masu__plan_model_height(m, s->offsets),
                           "first fit by area");
    }
    masu__meta_free(order, order ? (n + 1) * sizeof *order : 0);
    masu__meta_free(list, list ? most * sizeof *list : 0);
}

/* ---- valleys --------------------------------------------------------------------------------- */

static void try_valley(masu__solver *s, masu__valley_key key, double noise, uint64_t seed) {
    masu__plan_stop never = {masu__solver_stopped, s};
    int64_t height =
        masu__valley_place(s->valley, key, noise, seed, s->best_height, &never, s->offsets);
    s->placements++;
    s->steps_granted += s->model.item_count;
    if (height != INT64_MAX)
        masu__solver_offer(s, s->offsets, height, masu__valley_name(key));
}

void masu__solver_heuristics(masu__solver *s) {
    if (!s->valley) {
        first_fit(s);
        return;
    }
    for (int key = 0; key < MASU__VALLEY_KEY_COUNT; key++)
        if (key == 0 || !masu__solver_finished(s))
            try_valley(s, (masu__valley_key)key, 0, 0);
}

void masu__solver_noise(masu__solver *s, uint32_t rounds, uint64_t seed) {
    static const double noises[] = {0.02, 0.1, 0.4};
    for (uint32_t round = 0; s->valley && round < rounds && !masu__solver_finished(s); round++)
        try_valley(s, (masu__valley_key)(round % 4), noises[round / 4 % 3], seed + round);
}

/* ---- one method ------------------------------------------------------------------------------ */

enum { FIRST_FIT = MASU__VALLEY_KEY_COUNT + 1 };

const char *masu_plan_method_name(unsigned number) {
    if (number >= 1 && number <= MASU__VALLEY_KEY_COUNT)
        return masu__valley_name((masu__valley_key)(number - 1));
    return number == FIRST_FIT ? "first fit by area" : NULL;
}

bool masu__solver_only(masu__solver *s, unsigned number) {
    if (!masu_plan_method_name(number))
        return false;
    if (number == FIRST_FIT || !s->valley)
        first_fit(s);
    else
        try_valley(s, (masu__valley_key)(number - 1), 0, 0);
    return true;
}
