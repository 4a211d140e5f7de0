/* shelves.c: some plan at once, for when the time is over before the first good one is there.
 *
 *     ▲ ├─ b ─┤├── d ──┤  ├ g ┤      Items of one class (largest size: less than twice the smallest)
 *     │ ├── a ───┤├ e ┤├─ f ──┤      share shelves of one height. In order of birth each goes to the
 *     │ ══════════════════════       shelf that is free first, or opens another: as few shelves as
 *     │ ├───── c ─────┤              items of the class live at once.
 *     └────────────────────► time
 *
 *     a shelf's height = the largest size in its class, rounded up to the largest alignment there
 *
 * O(n log n), some ten times as fast as valleys, and up to three times as high. Where heights would
 * not fit into 2^62, everything lies on everything: that always fits (masu_plan_validate).
 */
#include <string.h>

#include "planner/search/solver.h"

enum { CLASSES = 64 };

typedef struct shelf {
    uint32_t free_from; /* a section */
    uint32_t number;    /* in its class */
} shelf;

/* The shelves of a class as a heap: the one that is free first on top. */
typedef struct shelf_class {
    shelf *heap; /* [items of the class] */
    uint32_t count, items;
    int64_t size, alignment, ground;
} shelf_class;

typedef struct shelves {
    const masu__plan_model *m;
    uint32_t *order; /* items by birth */
    uint32_t *number;
    shelf_class classes[CLASSES];
    masu__arena arena;
} shelves;

#define NEW(s, type, count) \
    ((type *)masu__arena_calloc(&(s)->arena, (size_t)(count) + 1, sizeof(type), _Alignof(type)))

static unsigned class_of(const masu__plan_model *m, uint32_t item) {
    return (unsigned)(63 - __builtin_clzll((unsigned long long)m->size[item]));
}

static bool order_by_birth(shelves *s) {
    uint32_t *first_of = NEW(s, uint32_t, s->m->section_count + 1);
    if (!first_of || !s->order)
        return false;
    masu__plan_model_order_by_birth(s->m, s->order, first_of);
    return true;
}

static bool find_classes(shelves *s) {
    const masu__plan_model *m = s->m;
    for (uint32_t i = 0; i < m->item_count; i++) {
        shelf_class *c = &s->classes[class_of(m, i)];
        c->items++;
        c->size = m->size[i] > c->size ? m->size[i] : c->size;
        c->alignment = m->alignment[i] > c->alignment ? m->alignment[i] : c->alignment;
    }
    for (unsigned k = 0; k < CLASSES; k++) {
        shelf_class *c = &s->classes[k];
        if (c->items == 0)
            continue;
        c->size = masu__plan_align(c->size, c->alignment);
        c->heap = NEW(s, shelf, c->items);
        if (!c->heap)
            return false;
    }
    return true;
}

/* The first of the heap is now in use until `end`. */
static void sink_first(shelf_class *c, uint32_t end) {
    shelf here = {end, c->heap[0].number};
    uint32_t at = 0;
    for (uint32_t child = 1; child < c->count; child = 2 * at + 1) {
        if (child + 1 < c->count && c->heap[child + 1].free_from < c->heap[child].free_from)
            child++;
        if (c->heap[child].free_from >= end)
            break;
        c->heap[at] = c->heap[child];
        at = child;
    }
    c->heap[at] = here;
}

/* None is free: each of them until `birth` or later. */
static uint32_t open_shelf(shelf_class *c, uint32_t end) {
    uint32_t at = c->count++;
    for (; at > 0 && c->heap[(at - 1) / 2].free_from > end; at = (at - 1) / 2)
        c->heap[at] = c->heap[(at - 1) / 2];
    c->heap[at] = (shelf){end, c->count - 1};
    return c->count - 1;
}

static void fill_shelves(shelves *s) {
    const masu__plan_model *m = s->m;
    for (uint32_t k = 0; k < m->item_count; k++) {
        uint32_t item = s->order[k];
        shelf_class *c = &s->classes[class_of(m, item)];
        if (c->count > 0 && c->heap[0].free_from <= m->first[item]) {
            s->number[item] = c->heap[0].number;
            sink_first(c, m->end[item]);
        } else {
            s->number[item] = open_shelf(c, m->end[item]);
        }
    }
}

/* Classes one above the other. False: too high. */
static bool stack_classes(shelves *s) {
    int64_t height = 0, all;
    for (unsigned k = CLASSES; k-- > 0;) {
        shelf_class *c = &s->classes[k];
        if (c->count == 0)
            continue;
        c->ground = masu__plan_align(height, c->alignment);
        if (__builtin_mul_overflow(c->size, (int64_t)c->count, &all) ||
            __builtin_add_overflow(c->ground, all, &height) || height > MASU__PLAN_MOST)
            return false;
    }
    return true;
}

static void pile_up(const masu__plan_model *m, int64_t *offsets) {
    int64_t height = 0;
    for (uint32_t i = 0; i < m->item_count; i++) {
        offsets[i] = masu__plan_align(height, m->alignment[i]);
        height = offsets[i] + m->size[i];
    }
}

void masu__solver_shelves(masu__solver *solver) {
    const masu__plan_model *m = &solver->model;
    shelves s = {.m = m};
    s.order = NEW(&s, uint32_t, m->item_count);
    s.number = NEW(&s, uint32_t, m->item_count);
    bool right = s.number && order_by_birth(&s) && find_classes(&s);
    if (right)
        fill_shelves(&s);
    if (right && stack_classes(&s)) {
        for (uint32_t i = 0; i < m->item_count; i++) {
            const shelf_class *c = &s.classes[class_of(m, i)];
            solver->offsets[i] = c->ground + c->size * s.number[i];
        }
    } else {
        pile_up(m, solver->offsets);
    }
    masu__arena_destroy(&s.arena);
    masu__solver_offer(solver, solver->offsets, masu__plan_model_height(m, solver->offsets),
                       "shelves");
}
