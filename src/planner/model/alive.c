/* alive.c: who lives at the same time. See alive.h. */
#include "planner/model/alive.h"

/* Counts in start[node + 1]; with hung, puts the item at start[node]++. */
static void hang(masu__alive *a, uint32_t item, bool count) {
    uint32_t low = a->model->first[item] + a->leaves, high = a->model->end[item] + a->leaves;
    for (uint32_t l = low, h = high; l < h; l /= 2, h /= 2) {
        uint32_t nodes[2] = {l & 1 ? l++ : 0, h & 1 ? --h : 0};
        for (int i = 0; i < 2; i++) {
            if (nodes[i] == 0)
                continue;
            if (count)
                a->start[nodes[i] + 1]++;
            else
                a->hung[a->start[nodes[i]]++] = item;
        }
    }
}

static bool hang_all(masu__alive *a, masu__arena *arena) {
    uint32_t nodes = 2 * a->leaves, items = a->model->item_count;
    for (uint32_t i = 0; i < items; i++)
        hang(a, i, true);
    for (uint32_t n = 0; n < nodes; n++)
        a->start[n + 1] += a->start[n];
    a->hung = MASU_ARENA_ARRAY(arena, uint32_t, (size_t)a->start[nodes] + 1);
    if (!a->hung)
        return false;
    for (uint32_t i = 0; i < items; i++)
        hang(a, i, false);
    for (uint32_t n = nodes; n > 0; n--) /* as it was */
        a->start[n] = a->start[n - 1];
    a->start[0] = 0;
    return true;
}

bool masu__alive_open(masu__alive *a, const masu__plan_model *m, masu__arena *arena) {
    *a = (masu__alive){.model = m, .leaves = 1};
    while (a->leaves < m->section_count)
        a->leaves *= 2;
    a->start = MASU_ARENA_ARRAY(arena, uint32_t, 2 * (size_t)a->leaves + 2);
    a->births = MASU_ARENA_ARRAY(arena, uint32_t, (size_t)m->item_count + 1);
    a->first_of = MASU_ARENA_ARRAY(arena, uint32_t, (size_t)m->section_count + 2);
    if (!a->start || !a->births || !a->first_of)
        return false;
    masu__plan_model_order_by_birth(m, a->births, a->first_of);
    return hang_all(a, arena);
}

uint64_t masu__alive_pairs(const masu__alive *a) {
    const masu__plan_model *m = a->model;
    uint64_t pairs = 0;
    for (uint32_t place = 0; place < m->item_count; place++)
        pairs += a->first_of[m->end[a->births[place]]] - place - 1;
    return pairs;
}

uint32_t masu__alive_with(const masu__alive *a, uint32_t item, uint32_t *out) {
    const masu__plan_model *m = a->model;
    uint32_t count = 0;
    for (uint32_t up = m->first[item] + a->leaves; up > 0; up /= 2)
        for (uint32_t k = a->start[up]; k < a->start[up + 1]; k++)
            if (a->hung[k] != item)
                out[count++] = a->hung[k];
    for (uint32_t k = a->first_of[m->first[item] + 1]; k < a->first_of[m->end[item]]; k++)
        out[count++] = a->births[k];
    return count;
}
