/* coarse.c: lives on a coarse grid. See coarse.h. */
#include "planner/skyline/coarse.h"

enum { CELLS_A_LIFE = 128 };

#define NEW(model, type, count) MASU_ARENA_ARRAY(&(model)->arena, type, (size_t)(count) + 1)

/* A power of two, at most 1/128 of the life, or 1. */
static uint32_t cell_of(const masu__plan_model *m, uint32_t item) {
    uint32_t cells = (m->end[item] - m->first[item]) / CELLS_A_LIFE;
    return cells > 1 ? UINT32_C(1) << (31 - __builtin_clz(cells)) : 1;
}

/* The last cell may end behind the last section. */
static void widen_lives(masu__plan_model *coarse, const masu__plan_model *m) {
    for (uint32_t i = 0; i < m->item_count; i++) {
        uint32_t cell = cell_of(m, i), behind = m->end[i] + (cell - 1);
        behind -= behind % cell;
        coarse->first[i] = m->first[i] - m->first[i] % cell;
        coarse->end[i] = behind < m->section_count ? behind : m->section_count;
    }
}

/* Sections in which none begins or ends are one with those before them. number: [section_count + 1], 0. */
static void number_sections(masu__plan_model *coarse, const masu__plan_model *m, uint32_t *number) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->item_count; i++)
        number[coarse->first[i]] = number[coarse->end[i]] = 1;
    number[0] = number[m->section_count] = 1;
    for (uint32_t s = 0; s <= m->section_count; s++) {
        count += number[s];
        number[s] = count - 1;
    }
    for (uint32_t i = 0; i < m->item_count; i++) {
        coarse->first[i] = number[coarse->first[i]];
        coarse->end[i] = number[coarse->end[i]];
    }
    coarse->section_count = count - 1;
}

static void find_load(masu__plan_model *coarse) {
    int64_t load = 0;
    for (uint32_t i = 0; i < coarse->item_count; i++) {
        coarse->load[coarse->first[i]] += coarse->size[i];
        coarse->load[coarse->end[i]] -= coarse->size[i];
    }
    for (uint32_t s = 0; s < coarse->section_count; s++) {
        load += coarse->load[s];
        coarse->load[s] = load;
        coarse->bound = load > coarse->bound ? load : coarse->bound;
    }
}

bool masu__coarse_open(masu__plan_model *coarse, const masu__plan_model *m) {
    *coarse = (masu__plan_model){.item_count = m->item_count,
                                 .size = m->size,
                                 .alignment = m->alignment,
                                 .lower = m->lower,
                                 .upper = m->upper,
                                 .unit = m->unit};
    uint32_t *number = NEW(coarse, uint32_t, m->section_count);
    coarse->first = NEW(coarse, uint32_t, m->item_count);
    coarse->end = NEW(coarse, uint32_t, m->item_count);
    if (!number || !coarse->first || !coarse->end)
        return false;
    widen_lives(coarse, m);
    number_sections(coarse, m, number);
    coarse->load = NEW(coarse, int64_t, coarse->section_count);
    if (!coarse->load)
        return false;
    find_load(coarse);
    return true;
}
