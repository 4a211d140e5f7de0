/* first_fit.c: the plan at once for what valleys do not know (obstacles, rows kept apart): items by
 * area, each to the lowest gap between what it meets.
 *
 * Who is alive with an item: those that live at its birth (they hang in a tree over time, at the
 * nodes that tile their lives) and those born during its life (items are in order of birth).
 *
 *     sections      0   1   2   3   4   5   6   7
 *     nodes       [ . . . . . . . ][ . . . . . . ]      item 1..6 hangs at 1, 2..3, 4..5
 *                 [ . . ][2 . . 3][4 . . 5][ . . ]      alive at 4: on the way from leaf 4 to the root
 *
 * Looking at all of them is quadratic when most meet most: when that has cost enough, or the time is
 * over, the others go on top of all that they meet, in O(log sections) each.
 */
#include <stdlib.h>
#include <string.h>

#include "planner/search/solver.h"

enum { NOBODY = 0, FEWEST_VISITS = 20 * 1000 * 1000, VISITS_EACH = 200 };

typedef struct taken {
    int64_t offset, end;
} taken;

typedef struct hanger {
    uint32_t thing, next; /* items, then obstacles; next: NOBODY ends */
} hanger;

typedef struct first_fit {
    const masu__plan_model *m;
    int64_t *offsets; /* per item */
    bool *placed;     /* per thing: an item, or an obstacle in time */
    uint32_t leaves;  /* a power of two */
    uint32_t *head;   /* per node: of its hangers */
    hanger *hangers;
    uint32_t hanger_count, hanger_room;
    int64_t *top, *raised; /* per node: highest end below it; end of what covers all of it */
    uint32_t *births, *birth_start;
    uint32_t *apart_start, *apart; /* per item: relations it is in */
    taken *list;
    uint64_t visits, most_visits;
    masu__solver *solver; /* asked whether to go on looking */
    masu__arena arena;
} first_fit;

#define NEW(f, type, count) ((type *)masu__arena_calloc(&(f)->arena, (size_t)(count) + 1, sizeof(type), _Alignof(type)))

/* ---- set-up ---------------------------------------------------------------------------------- */

static uint32_t birth_of(const masu__plan_model *m, uint32_t thing) {
    return thing < m->item_count ? m->first[thing] : m->obstacles[thing - m->item_count].first;
}

static void sort_births(first_fit *f) {
    const masu__plan_model *m = f->m;
    uint32_t things = m->item_count + m->obstacle_count;
    for (uint32_t i = 0; i < things; i++)
        f->birth_start[birth_of(m, i) + 1]++;
    for (uint32_t s = 0; s < m->section_count; s++)
        f->birth_start[s + 1] += f->birth_start[s];
    for (uint32_t i = 0; i < things; i++)
        f->births[f->birth_start[birth_of(m, i)]++] = i;
    for (uint32_t s = m->section_count; s > 0; s--)
        f->birth_start[s] = f->birth_start[s - 1];
    f->birth_start[0] = 0;
}

static void sort_apart(first_fit *f) {
    const masu__plan_model *m = f->m;
    for (uint32_t r = 0; r < m->apart_count; r++) {
        f->apart_start[m->apart[r].a + 1]++;
        f->apart_start[m->apart[r].b + 1]++;
    }
    for (uint32_t i = 0; i < m->item_count; i++)
        f->apart_start[i + 1] += f->apart_start[i];
    for (uint32_t r = 0; r < m->apart_count; r++) {
        f->apart[f->apart_start[m->apart[r].a]++] = m->apart[r].b;
        f->apart[f->apart_start[m->apart[r].b]++] = m->apart[r].a;
    }
    for (uint32_t i = m->item_count; i > 0; i--)
        f->apart_start[i] = f->apart_start[i - 1];
    f->apart_start[0] = 0;
}

static bool first_fit_open(first_fit *f, const masu__plan_model *m, int64_t *offsets) {
    size_t things = (size_t)m->item_count + m->obstacle_count;
    *f = (first_fit){.m = m, .offsets = offsets, .leaves = 1, .hanger_count = 1};
    while (f->leaves < m->section_count)
        f->leaves *= 2;
    f->most_visits = FEWEST_VISITS + VISITS_EACH * (uint64_t)m->item_count;
    f->placed = NEW(f, bool, things);
    f->head = NEW(f, uint32_t, 2 * (size_t)f->leaves);
    f->top = NEW(f, int64_t, 2 * (size_t)f->leaves);
    f->raised = NEW(f, int64_t, 2 * (size_t)f->leaves);
    f->births = NEW(f, uint32_t, things);
    f->birth_start = NEW(f, uint32_t, m->section_count + 1);
    f->apart_start = NEW(f, uint32_t, m->item_count + 1);
    f->apart = NEW(f, uint32_t, 2 * (size_t)m->apart_count);
    f->list = NEW(f, taken, things + 2 * (size_t)m->apart_count);
    f->hanger_room = 64;
    f->hangers = NEW(f, hanger, f->hanger_room);
    if (!f->placed || !f->head || !f->top || !f->raised || !f->births || !f->birth_start || !f->apart_start ||
        !f->apart || !f->list || !f->hangers)
        return false;
    sort_births(f);
    sort_apart(f);
    return true;
}

/* ---- time ------------------------------------------------------------------------------------ */

/* Hangs a thing that ends at `end` over sections [first, last). */
static bool hang(first_fit *f, uint32_t thing, uint32_t first, uint32_t last, int64_t end) {
    if (f->hanger_count + 64 > f->hanger_room) {
        f->hangers = masu__arena_grow(&f->arena, f->hangers, f->hanger_room, 2 * (size_t)f->hanger_room,
                                      sizeof *f->hangers, 8);
        if (!f->hangers)
            return false;
        f->hanger_room *= 2;
    }
    uint32_t low = first + f->leaves, high = last + f->leaves;
    for (uint32_t l = low, h = high; l < h; l /= 2, h /= 2) {
        uint32_t nodes[2] = {l & 1 ? l++ : 0, h & 1 ? --h : 0};
        for (int i = 0; i < 2; i++) {
            uint32_t node = nodes[i];
            if (node == 0)
                continue;
            f->hangers[f->hanger_count] = (hanger){thing, f->head[node]};
            f->head[node] = f->hanger_count++;
            f->raised[node] = f->raised[node] > end ? f->raised[node] : end;
            for (uint32_t up = node; up > 0 && f->top[up] < end; up /= 2)
                f->top[up] = end;
        }
    }
    return true;
}

/* The highest end over [first, last). */
static int64_t highest_end(const first_fit *f, uint32_t first, uint32_t last) {
    int64_t most = 0;
    uint32_t low = first + f->leaves, high = last + f->leaves;
    for (uint32_t l = low, h = high; l < h; l /= 2, h /= 2) {
        if (l & 1) {
            most = f->top[l] > most ? f->top[l] : most;
            l++;
        }
        if (h & 1) {
            --h;
            most = f->top[h] > most ? f->top[h] : most;
        }
    }
    for (uint32_t section = first; section < last; section += last - 1 - first ? last - 1 - first : 1)
        for (uint32_t up = section + f->leaves; up > 0; up /= 2)
            most = f->raised[up] > most ? f->raised[up] : most;
    return most;
}

/* ---- placing --------------------------------------------------------------------------------- */

static taken taken_by(const first_fit *f, uint32_t thing) {
    const masu__plan_model *m = f->m;
    if (thing < m->item_count)
        return (taken){f->offsets[thing], f->offsets[thing] + m->size[thing]};
    const masu__plan_obstacle *o = &m->obstacles[thing - m->item_count];
    return (taken){o->offset, o->offset + o->size};
}

static uint32_t list_apart(const first_fit *f, uint32_t item, uint32_t count) {
    const masu__plan_model *m = f->m;
    for (uint32_t k = f->apart_start[item]; k < f->apart_start[item + 1]; k++)
        if (f->placed[f->apart[k]])
            f->list[count++] = taken_by(f, f->apart[k]);
    for (uint32_t k = 0; k < m->apart_fixed_count; k++)
        if (m->apart_fixed[k].a == item)
            f->list[count++] = taken_by(f, m->item_count + m->apart_fixed[k].b);
    return count;
}

static uint32_t list_alive(first_fit *f, uint32_t item) {
    const masu__plan_model *m = f->m;
    uint32_t count = 0;
    for (uint32_t up = m->first[item] + f->leaves; up > 0; up /= 2)
        for (uint32_t k = f->head[up]; k != NOBODY; k = f->hangers[k].next)
            f->list[count++] = taken_by(f, f->hangers[k].thing);
    uint32_t from = f->birth_start[m->first[item] + 1], to = f->birth_start[m->end[item]];
    for (uint32_t k = from; k < to; k++)
        if (f->placed[f->births[k]])
            f->list[count++] = taken_by(f, f->births[k]);
    f->visits += count + (to - from);
    return count;
}

static int by_offset(const void *a, const void *b) {
    const taken *x = a, *y = b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Lives as hulls: right, not lowest. */
static int64_t lowest_gap(first_fit *f, uint32_t item, int64_t offset, uint32_t count) {
    qsort(f->list, count, sizeof *f->list, by_offset);
    for (uint32_t i = 0; i < count; i++) {
        if (offset + f->m->size[item] <= f->list[i].offset)
            break;
        if (f->list[i].end > offset)
            offset = masu__plan_align(f->list[i].end, f->m->alignment[item]);
    }
    return offset;
}

static bool place(first_fit *f, uint32_t item) {
    const masu__plan_model *m = f->m;
    bool exact = f->visits < f->most_visits && !masu__solver_stopped(f->solver);
    int64_t from = exact ? 0 : masu__plan_align(highest_end(f, m->first[item], m->end[item]), m->alignment[item]);
    uint32_t count = list_apart(f, item, exact ? list_alive(f, item) : 0);
    f->offsets[item] = lowest_gap(f, item, from, count);
    f->placed[item] = true;
    return hang(f, item, m->first[item], m->end[item], f->offsets[item] + m->size[item]);
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

static bool place_all(first_fit *f) {
    const masu__plan_model *m = f->m;
    uint32_t *order = NEW(f, uint32_t, m->item_count);
    bool right = order != NULL;
    for (uint32_t o = 0; o < m->obstacle_count && right; o++) {
        bool timeless = m->obstacles[o].first == m->obstacles[o].end; /* only apart from some */
        f->placed[m->item_count + o] = !timeless;
        right = timeless || hang(f, m->item_count + o, m->obstacles[o].first, m->obstacles[o].end,
                                 m->obstacles[o].offset + m->obstacles[o].size);
    }
    for (uint32_t i = 0; right && i < m->item_count; i++)
        order[i] = i;
    if (right)
        qsort_r(order, m->item_count, sizeof *order, by_area, (void *)m);
    for (uint32_t i = 0; right && i < m->item_count; i++)
        right = place(f, order[i]);
    return right;
}

void masu__solver_first_fit(masu__solver *s) {
    first_fit f;
    bool right = first_fit_open(&f, &s->model, s->offsets);
    f.solver = s;
    if (right && place_all(&f)) {
        s->placements++;
        masu__solver_offer(s, s->offsets, masu__plan_model_height(&s->model, s->offsets), "first fit by area");
    } else {
        s->out_of_memory = true;
    }
    masu__arena_destroy(&f.arena);
}
