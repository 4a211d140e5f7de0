/* obstacles.c: which obstacles an item lives with. See obstacles.h. */
#include "planner/fixed/obstacles.h"

#include <stdlib.h>
#include <string.h>

#include "base/meta.h"

#define NEW(o, type, count) ((type *)masu__arena_calloc(&(o)->arena, (size_t)(count) + 1, sizeof(type), _Alignof(type)))

static int by_birth(const void *a, const void *b, void *model) {
    const masu__plan_model *m = model;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (m->obstacles[x].first != m->obstacles[y].first)
        return m->obstacles[x].first < m->obstacles[y].first ? -1 : 1;
    return (x > y) - (x < y);
}

int masu__obstacles_by_offset(const void *a, const void *b, void *model) {
    const masu__plan_model *m = model;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (m->obstacles[x].offset != m->obstacles[y].offset)
        return m->obstacles[x].offset < m->obstacles[y].offset ? -1 : 1;
    return (x > y) - (x < y);
}

bool masu__obstacles_open(masu__obstacles *o, const masu__plan_model *m) {
    *o = (masu__obstacles){.model = m, .leaves = 1};
    while (o->leaves < m->obstacle_count)
        o->leaves *= 2;
    o->order = NEW(o, uint32_t, m->obstacle_count);
    o->latest = NEW(o, uint32_t, 2 * (size_t)o->leaves);
    o->lowest = NEW(o, uint32_t, m->obstacle_count);
    if (!o->order || !o->latest || !o->lowest)
        return false;
    for (uint32_t i = 0; i < m->obstacle_count; i++)
        if (m->obstacles[i].first < m->obstacles[i].end)
            o->order[o->count++] = i;
    memcpy(o->lowest, o->order, o->count * sizeof *o->lowest);
    qsort_r(o->order, o->count, sizeof *o->order, by_birth, (void *)m);
    qsort_r(o->lowest, o->count, sizeof *o->lowest, masu__obstacles_by_offset, (void *)m);
    for (uint32_t k = 0; k < o->count; k++)
        o->latest[o->leaves + k] = m->obstacles[o->order[k]].end;
    for (uint32_t node = o->leaves - 1; node > 0; node--) {
        uint32_t a = o->latest[2 * node], b = o->latest[2 * node + 1];
        o->latest[node] = a > b ? a : b;
    }
    return true;
}

void masu__obstacles_close(masu__obstacles *o) {
    masu__meta_free(o->blocks, o->block_room * sizeof *o->blocks);
    masu__arena_destroy(&o->arena);
}

typedef struct walk {
    const masu__obstacles *obstacles;
    uint32_t first, end;
    masu__obstacle_visit visit;
    void *context;
} walk;

/* As deep as log2(obstacles). */
static void visit_below(const walk *w, uint32_t node, uint32_t from, uint32_t to) {
    const masu__obstacles *o = w->obstacles;
    if (from >= o->count || o->latest[node] <= w->first || o->model->obstacles[o->order[from]].first >= w->end)
        return;
    if (to - from == 1) {
        w->visit(w->context, o->order[from]);
        return;
    }
    uint32_t middle = from + (to - from) / 2;
    visit_below(w, 2 * node, from, middle);
    visit_below(w, 2 * node + 1, middle, to);
}

void masu__obstacles_each(const masu__obstacles *o, uint32_t first, uint32_t end, masu__obstacle_visit visit,
                          void *context) {
    walk w = {o, first, end, visit, context};
    if (o->count > 0)
        visit_below(&w, 1, 0, o->leaves);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

typedef struct gathering {
    masu__obstacles *obstacles;
    const masu__plan_piece *piece;
} gathering;

static void add_block(masu__obstacles *o, int64_t from, int64_t to) {
    if (o->block_count == o->block_room) {
        size_t room = 2 * o->block_room + 64;
        masu__block *grown = masu__meta_realloc(o->blocks, o->block_room * sizeof *grown, room * sizeof *grown);
        o->failed |= !grown;
        if (!grown)
            return;
        o->blocks = grown;
        o->block_room = room;
    }
    o->blocks[o->block_count++] = (masu__block){from, to};
}

static void gather(void *context, uint32_t obstacle) {
    const gathering *g = context;
    const masu__plan_obstacle *o = &g->obstacles->model->obstacles[obstacle];
    add_block(g->obstacles, o->offset - g->piece->base - g->piece->height, o->offset + o->size - g->piece->base);
}

static int by_from(const void *a, const void *b) {
    const masu__block *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

/* Blocks that touch leave the one offset between them. */
static size_t join(masu__block *blocks, size_t count) {
    size_t made = 0;
    for (size_t i = 0; i < count; i++) {
        if (made > 0 && blocks[i].from < blocks[made - 1].to) {
            if (blocks[i].to > blocks[made - 1].to)
                blocks[made - 1].to = blocks[i].to;
        } else {
            blocks[made++] = blocks[i];
        }
    }
    return made;
}

/* Those of an item of a single piece that lives with many: by offset, and nothing is left to sort. */
static void gather_sorted(masu__obstacles *o, uint32_t item) {
    const masu__plan_model *m = o->model;
    gathering g = {o, &m->pieces[m->piece_start[item]]};
    o->block_count = 0;
    for (uint32_t i = 0; i < o->count; i++)
        if (m->obstacles[o->lowest[i]].first < g.piece->end && g.piece->first < m->obstacles[o->lowest[i]].end)
            gather(&g, o->lowest[i]);
}

enum { FEW = 16 };

const masu__block *masu__obstacles_blocks(masu__obstacles *o, uint32_t item, size_t *count) {
    const masu__plan_model *m = o->model;
    o->block_count = 0;
    for (uint32_t k = m->piece_start[item]; k < m->piece_start[item + 1]; k++) {
        gathering g = {o, &m->pieces[k]};
        masu__obstacles_each(o, m->pieces[k].first, m->pieces[k].end, gather, &g);
    }
    for (uint32_t k = 0; k < m->apart_fixed_count; k++)
        if (m->apart_fixed[k].a == item) {
            const masu__plan_obstacle *fixed = &m->obstacles[m->apart_fixed[k].b];
            add_block(o, fixed->offset - m->apart_fixed[k].height_a, fixed->offset + fixed->size);
        }
    if (o->block_count > FEW && o->block_count > o->count / FEW && m->apart_fixed_count == 0 &&
        m->piece_start[item + 1] - m->piece_start[item] == 1)
        gather_sorted(o, item);
    else if (o->block_count > 0)
        qsort(o->blocks, o->block_count, sizeof *o->blocks, by_from);
    *count = o->failed ? SIZE_MAX : join(o->blocks, o->block_count);
    return o->blocks;
}
