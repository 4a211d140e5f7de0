/* runtime_plans.c: the arenas that runtimes make of a network today, to compare with. Written from descriptions of what
 * they do. */
#include <stdlib.h>
#include <string.h>

#include "tool/plan/network.h"

typedef struct placed {
    uint64_t begin, end;
    size_t row;
} placed;

static bool meet(const masu_plan_row *a, const masu_plan_row *b) {
    return a->lower < b->upper && b->lower < a->upper;
}

/* Kept in order of offsets; of equals the later behind. */
static void insert(placed *list, size_t *count, placed item) {
    size_t at = *count;
    for (; at > 0 && list[at - 1].begin > item.begin; at--)
        list[at] = list[at - 1];
    list[at] = item;
    ++*count;
}

/* ---- TensorFlow Lite Micro --------------------------------------------------------------------- */

typedef struct sized {
    uint64_t size;
    size_t row;
    bool fixed;
} sized;

/* Fixed ones as they come, then the largest, of equals the later. */
static int by_size(const void *x, const void *y) {
    const sized *a = x, *b = y;
    if (a->fixed != b->fixed)
        return a->fixed ? -1 : 1;
    if (a->fixed)
        return a->row < b->row ? -1 : 1;
    if (a->size != b->size)
        return a->size > b->size ? -1 : 1;
    return a->row > b->row ? -1 : 1;
}

uint64_t runtime_greedy(const masu_plan_row *rows, size_t count, uint64_t *offsets, masu__arena *arena, bool *enough) {
    sized *order = masu__arena_calloc(arena, count + 1, sizeof *order, 16);
    placed *list = masu__arena_calloc(arena, count + 1, sizeof *list, 16);
    size_t listed = 0;
    uint64_t height = 0;
    *enough = order && list;
    if (!*enough)
        return 0;
    for (size_t i = 0; i < count; i++)
        order[i] = (sized){rows[i].size_bytes, i, rows[i].is_fixed};
    qsort(order, count, sizeof *order, by_size);
    for (size_t k = 0; k < count; k++) {
        const masu_plan_row *row = &rows[order[k].row];
        uint64_t at = 0;
        for (size_t i = 0; i < listed && !row->is_fixed; i++) {
            if (!meet(&rows[list[i].row], row))
                continue;
            if (list[i].begin >= at && list[i].begin - at >= row->size_bytes)
                break;
            at = list[i].end > at ? list[i].end : at;
        }
        at = row->is_fixed ? row->fixed_offset : at;
        offsets[order[k].row] = at;
        insert(list, &listed, (placed){at, at + row->size_bytes, order[k].row});
        height = at + row->size_bytes > height ? at + row->size_bytes : height;
    }
    return height;
}

/* ---- onnxruntime ------------------------------------------------------------------------------- */

/* Buffers that are reused whole: rows in one chain are one block. */
typedef struct pattern {
    const network *n;
    size_t *block_of;    /* per row: the row that its block began with */
    int64_t *block_last; /* per first row: until when some row uses it */
    placed *alive;
    size_t alive_count;
    uint64_t height;
} pattern;

static void best_gap(pattern *p, uint64_t size, uint64_t *out) {
    uint64_t at = 0, waste = UINT64_MAX, found = UINT64_MAX;
    for (size_t i = 0; i < p->alive_count; i++) {
        if (p->alive[i].begin >= at && p->alive[i].begin - at >= size && p->alive[i].begin - at - size < waste) {
            waste = p->alive[i].begin - at - size;
            found = at;
        }
        at = p->alive[i].end > at ? p->alive[i].end : at;
    }
    if (at < p->height && p->height - at >= size && p->height - at - size < waste)
        found = at;
    *out = found == UINT64_MAX ? at : found;
}

static void leave(pattern *p, int64_t now) {
    size_t kept = 0;
    for (size_t i = 0; i < p->alive_count; i++)
        if (p->block_last[p->alive[i].row] >= now)
            p->alive[kept++] = p->alive[i];
    p->alive_count = kept;
}

/* Where each row goes: in place of an input, into a free block of its size, or into one of its own. */
static size_t choose_block(pattern *p, size_t row, const bool *in_place_of, const size_t *born, size_t born_count) {
    const masu_plan_row *rows = p->n->table.rows;
    const plan_table *t = &p->n->table;
    for (size_t i = 0; in_place_of[row] && i < t->relation_count; i++)
        if (t->relations[i].b == row && p->block_last[p->block_of[t->relations[i].a]] <= rows[row].lower)
            return p->block_of[t->relations[i].a];
    for (size_t i = born_count; i-- > 0;) {
        size_t block = born[i];
        if (p->block_of[block] == block && rows[block].size_bytes == rows[row].size_bytes &&
            p->block_last[block] < rows[row].lower)
            return block;
    }
    return row;
}

static int by_birth(const void *x, const void *y) {
    const sized *a = x, *b = y;
    if (a->size != b->size)
        return a->size < b->size ? -1 : 1;
    return a->row < b->row ? -1 : 1;
}

uint64_t runtime_best_fit(const network *n, uint64_t *offsets, masu__arena *arena, bool *enough) {
    size_t count = n->table.count, born_count = 0;
    const masu_plan_row *rows = n->table.rows;
    sized *order = masu__arena_calloc(arena, count + 1, sizeof *order, 16);
    size_t *born = masu__arena_calloc(arena, count + 1, sizeof *born, 16);
    bool *related = masu__arena_calloc(arena, count + 1, sizeof *related, 16);
    pattern p = {n,
                 masu__arena_calloc(arena, count + 1, sizeof *p.block_of, 16),
                 masu__arena_calloc(arena, count + 1, sizeof *p.block_last, 16),
                 masu__arena_calloc(arena, count + 1, sizeof *p.alive, 16),
                 0,
                 0};
    *enough = order && born && related && p.block_of && p.block_last && p.alive;
    if (!*enough)
        return 0;
    for (size_t i = 0; i < count; i++)
        order[i] = (sized){(uint64_t)(rows[i].lower + 1), i, false};
    for (size_t i = 0; i < n->table.relation_count; i++)
        related[n->table.relations[i].b] = true;
    qsort(order, count, sizeof *order, by_birth);
    for (size_t k = 0; k < count; k++) { /* who reuses whom is decided before the run */
        size_t row = order[k].row, block = choose_block(&p, row, related, born, born_count);
        p.block_of[row] = block;
        born[born_count++] = row;
        if (p.block_last[block] < rows[row].upper - 1 || block == row)
            p.block_last[block] = rows[row].upper - 1;
    }
    for (size_t k = 0; k < count; k++) {
        size_t row = order[k].row, block = p.block_of[row];
        leave(&p, rows[row].lower);
        if (block == row) {
            best_gap(&p, rows[row].size_bytes, &offsets[row]);
            insert(p.alive, &p.alive_count, (placed){offsets[row], offsets[row] + rows[row].size_bytes, row});
            if (offsets[row] + rows[row].size_bytes > p.height)
                p.height = offsets[row] + rows[row].size_bytes;
        }
        offsets[row] = offsets[block];
    }
    return p.height;
}
