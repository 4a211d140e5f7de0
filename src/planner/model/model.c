/* model.c: from rows to items and sections. */
#include "planner/model/model.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "planner/fixed/walls.h"
#include "planner/model/pieces.h"

#define NEW(model, type, count) \
    ((type *)masu__arena_calloc(&(model)->arena, (count) ? (count) : 1, sizeof(type), _Alignof(type)))

typedef struct builder {
    const masu_plan_problem *problem;
    const bool *merged;
    masu__plan_model *model;
    int64_t *moments; /* ascending, distinct */
    uint32_t moment_count;
    uint32_t *table;         /* section_of each moment from moments[0] on; NULL: they are far apart */
    uint32_t *parent;        /* per row: union-find of rows that share */
    uint32_t *obstacle_root; /* per obstacle: the root of its row */
} builder;

/* ---- validation ------------------------------------------------------------------------------ */

static masu_plan_mistake gaps_mistake(const masu_plan_row *row) {
    int64_t behind = row->lower;
    uint64_t free_moments = 0;
    if (row->gap_count > 0 && !row->gaps)
        return MASU_PLAN_BAD_GAP;
    for (size_t i = 0; i < row->gap_count; i++) {
        const masu_plan_gap *gap = &row->gaps[i];
        bool window = gap->window_lower != 0 || gap->window_upper != 0;
        if (gap->lower < behind || gap->upper <= gap->lower || gap->upper > row->upper)
            return MASU_PLAN_BAD_GAP;
        if (window && (gap->window_upper <= gap->window_lower || gap->window_upper > row->size_bytes))
            return MASU_PLAN_BAD_GAP;
        if (!window)
            free_moments += (uint64_t)gap->upper - (uint64_t)gap->lower;
        behind = gap->upper;
    }
    return free_moments == (uint64_t)row->upper - (uint64_t)row->lower ? MASU_PLAN_BAD_GAP : MASU_PLAN_RIGHT;
}

static masu_plan_mistake row_mistake(const masu_plan_row *row, uint64_t *sum) {
    if (row->upper <= row->lower)
        return MASU_PLAN_BAD_RANGE;
    uint64_t alignment = row->alignment_bytes ? row->alignment_bytes : 1;
    if (alignment & (alignment - 1))
        return MASU_PLAN_BAD_ALIGNMENT;
    if (__builtin_add_overflow(*sum, row->size_bytes, sum) || __builtin_add_overflow(*sum, alignment - 1, sum) ||
        *sum > (uint64_t)MASU__PLAN_MOST)
        return MASU_PLAN_TOO_LARGE;
    uint64_t end;
    if (row->is_fixed &&
        (row->fixed_offset % alignment != 0 || __builtin_add_overflow(row->fixed_offset, row->size_bytes, &end) ||
         end > (uint64_t)MASU__PLAN_MOST / 2))
        return MASU_PLAN_BAD_FIXED;
    return gaps_mistake(row);
}

masu_plan_mistake masu_plan_validate(const masu_plan_problem *problem, size_t *where) {
    uint64_t sum = 0;
    size_t ignored;
    where = where ? where : &ignored;
    for (*where = 0; *where < problem->count; ++*where) {
        masu_plan_mistake mistake = row_mistake(&problem->rows[*where], &sum);
        if (mistake != MASU_PLAN_RIGHT)
            return mistake;
    }
    for (*where = 0; *where < problem->relation_count; ++*where) {
        const masu_plan_relation *r = &problem->relations[*where];
        if (r->a >= problem->count || r->b >= problem->count || r->a == r->b)
            return MASU_PLAN_BAD_RELATION;
    }
    return MASU_PLAN_RIGHT;
}

/* ---- sections -------------------------------------------------------------------------------- */

static int by_moment(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* By marking them, where that is quicker than sorting. False: it is not. */
static bool sort_close_moments(builder *b, size_t count) {
    int64_t least = count > 0 ? b->moments[0] : 0, most = least;
    for (size_t i = 1; i < count; i++) {
        least = b->moments[i] < least ? b->moments[i] : least;
        most = b->moments[i] > most ? b->moments[i] : most;
    }
    uint64_t range = (uint64_t)most - (uint64_t)least;
    b->table = range < 4 * (uint64_t)count ? NEW(b->model, uint32_t, range + 1) : NULL;
    if (!b->table)
        return false;
    for (size_t i = 0; i < count; i++)
        b->table[b->moments[i] - least] = 1;
    for (uint64_t k = 0; k <= range; k++)
        if (b->table[k]) {
            b->table[k] = b->moment_count;
            b->moments[b->moment_count++] = least + (int64_t)k;
        }
    return true;
}

static bool find_moments(builder *b) {
    const masu_plan_problem *p = b->problem;
    size_t most = 0, count = 0;
    for (size_t i = 0; i < p->count; i++)
        most += 2 + 2 * p->rows[i].gap_count;
    b->moments = NEW(b->model, int64_t, most);
    if (!b->moments)
        return false;
    for (size_t i = 0; i < p->count; i++) {
        const masu_plan_row *row = &p->rows[i];
        if (row->size_bytes == 0)
            continue;
        b->moments[count++] = row->lower;
        b->moments[count++] = row->upper;
        for (size_t g = 0; g < row->gap_count; g++) {
            b->moments[count++] = row->gaps[g].lower;
            b->moments[count++] = row->gaps[g].upper;
        }
    }
    if (!sort_close_moments(b, count)) {
        qsort(b->moments, count, sizeof *b->moments, by_moment);
        for (size_t i = 0; i < count; i++)
            if (b->moment_count == 0 || b->moments[b->moment_count - 1] != b->moments[i])
                b->moments[b->moment_count++] = b->moments[i];
    }
    b->model->section_count = b->moment_count > 0 ? b->moment_count - 1 : 0;
    return true;
}

static uint32_t section_of(const builder *b, int64_t moment) {
    if (b->table)
        return b->table[moment - b->moments[0]];
    uint32_t low = 0, high = b->moment_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (b->moments[middle] < moment)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- items ----------------------------------------------------------------------------------- */

static uint32_t root_of(uint32_t *parent, uint32_t row) {
    while (parent[row] != row)
        row = parent[row] = parent[parent[row]];
    return row;
}

static bool relation_ties(const builder *b, size_t i) {
    return b->problem->relations[i].kind == MASU_PLAN_MUST_SHARE ||
           (b->merged && b->merged[i] && b->problem->relations[i].kind == MASU_PLAN_MAY_SHARE);
}

static bool tie_rows(builder *b) {
    const masu_plan_problem *p = b->problem;
    b->parent = NEW(b->model, uint32_t, p->count);
    if (!b->parent)
        return false;
    for (size_t i = 0; i < p->count; i++)
        b->parent[i] = (uint32_t)i;
    for (size_t i = 0; i < p->relation_count; i++) {
        if (!relation_ties(b, i))
            continue;
        uint32_t x = root_of(b->parent, (uint32_t)p->relations[i].a);
        uint32_t y = root_of(b->parent, (uint32_t)p->relations[i].b);
        if (p->rows[x].is_fixed && p->rows[y].is_fixed && p->rows[x].fixed_offset != p->rows[y].fixed_offset)
            b->model->contradiction = true;
        /* a fixed row leads its group: the others are where it is */
        if (p->rows[y].is_fixed)
            b->parent[x] = y;
        else
            b->parent[y] = x;
    }
    return true;
}

static bool count_items(builder *b) {
    const masu_plan_problem *p = b->problem;
    masu__plan_model *m = b->model;
    m->row_item = NEW(m, uint32_t, p->count);
    m->row_root = NEW(m, uint32_t, p->count);
    if (!m->row_item || !m->row_root)
        return false;
    memset(m->row_item, 0xff, p->count * sizeof *m->row_item);
    for (size_t i = 0; i < p->count; i++) {
        uint32_t root = root_of(b->parent, (uint32_t)i);
        if (p->rows[i].size_bytes == 0)
            continue;
        if (p->rows[root].is_fixed)
            m->obstacle_count += (uint32_t)(1 + 2 * p->rows[i].gap_count);
        else if (m->row_item[root] == MASU__PLAN_NONE)
            m->row_item[root] = m->item_count++;
    }
    for (size_t i = 0; i < p->count; i++) {
        uint32_t root = root_of(b->parent, (uint32_t)i);
        if (p->rows[i].size_bytes > 0 && !p->rows[root].is_fixed)
            m->row_item[i] = m->row_item[root];
        m->row_root[i] = root;
        if (p->rows[root].is_fixed) { /* an empty row too lies in the arena, or at its end */
            int64_t end = (int64_t)(p->rows[root].fixed_offset + p->rows[i].size_bytes);
            m->fixed_end = end > m->fixed_end ? end : m->fixed_end;
        }
        uint64_t alignment = p->rows[i].alignment_bytes ? p->rows[i].alignment_bytes : 1;
        m->contradiction |= p->rows[root].is_fixed && p->rows[root].fixed_offset % alignment != 0;
    }
    return true;
}

static bool make_item_arrays(masu__plan_model *m) {
    uint32_t n = m->item_count;
    m->size = NEW(m, int64_t, n);
    m->alignment = NEW(m, int64_t, n);
    m->hint = NEW(m, int64_t, n);
    m->lower = NEW(m, int64_t, n);
    m->upper = NEW(m, int64_t, n);
    m->first = NEW(m, uint32_t, n);
    m->end = NEW(m, uint32_t, n);
    m->piece_start = NEW(m, uint32_t, n + 1);
    uint32_t obstacles = 2 * m->obstacle_count; /* cut, they may become twice as many */
    m->obstacles = NEW(m, masu__plan_obstacle, obstacles);
    m->load = NEW(m, int64_t, m->section_count + 1);
    return m->size && m->alignment && m->hint && m->lower && m->upper && m->first && m->end && m->piece_start &&
           m->obstacles && m->load;
}

static void widen_item(masu__plan_model *m, uint32_t item, const masu_plan_row *row) {
    int64_t alignment = row->alignment_bytes ? (int64_t)row->alignment_bytes : 1;
    if (m->size[item] == 0) {
        m->lower[item] = row->lower;
        m->upper[item] = row->upper;
        m->alignment[item] = 1;
        m->hint[item] = -1;
    }
    if ((int64_t)row->size_bytes > m->size[item])
        m->size[item] = (int64_t)row->size_bytes;
    if (alignment > m->alignment[item])
        m->alignment[item] = alignment;
    if (row->lower < m->lower[item])
        m->lower[item] = row->lower;
    if (row->upper > m->upper[item])
        m->upper[item] = row->upper;
    if (row->has_hint && row->hint_offset < (uint64_t)MASU__PLAN_MOST / 2)
        m->hint[item] = (int64_t)row->hint_offset;
}

/* Calls for each stretch of the row's life, between gaps and in gaps with a window; the piece has
 * no number yet. */
typedef void (*stretch_function)(builder *b, size_t row, masu__plan_piece piece);

static void each_stretch(builder *b, size_t index, stretch_function function) {
    const masu_plan_row *row = &b->problem->rows[index];
    int64_t from = row->lower;
    for (size_t g = 0; g <= row->gap_count; g++) {
        int64_t to = g < row->gap_count ? row->gaps[g].lower : row->upper;
        if (to > from)
            function(b, index,
                     (masu__plan_piece){section_of(b, from), section_of(b, to), 0, (int64_t)row->size_bytes, 0});
        if (g == row->gap_count)
            break;
        const masu_plan_gap *gap = &row->gaps[g];
        from = gap->upper;
        if (gap->window_upper > 0)
            function(b, index,
                     (masu__plan_piece){section_of(b, gap->lower), section_of(b, gap->upper),
                                        (int64_t)gap->window_lower, (int64_t)(gap->window_upper - gap->window_lower),
                                        0});
    }
}

static void count_piece(builder *b, size_t row, masu__plan_piece piece) {
    (void)piece;
    b->model->piece_start[b->model->row_item[row] + 1]++;
}

static void add_piece(builder *b, size_t row, masu__plan_piece piece) {
    masu__plan_model *m = b->model;
    uint32_t item = m->row_item[row];
    m->raised |= piece.base > 0;
    m->pieces[m->piece_start[item]++] = piece;
}

static void add_obstacle(builder *b, size_t row, masu__plan_piece piece) {
    masu__plan_model *m = b->model;
    uint32_t root = root_of(b->parent, (uint32_t)row);
    b->obstacle_root[m->obstacle_count] = root;
    m->obstacles[m->obstacle_count++] = (masu__plan_obstacle){
        piece.first, piece.end, (int64_t)b->problem->rows[root].fixed_offset + piece.base, piece.height};
}

/* The pieces of one root's rows, gathered; 0 when there are fewer than two. They leave the obstacles. */
static uint32_t take_obstacles(builder *b, uint32_t root, masu__plan_piece *out) {
    masu__plan_model *m = b->model;
    uint32_t count = 0, kept = 0;
    for (uint32_t i = 0; i < m->obstacle_count; i++)
        if (b->obstacle_root[i] == root)
            out[count++] = (masu__plan_piece){m->obstacles[i].first, m->obstacles[i].end, m->obstacles[i].offset,
                                              m->obstacles[i].size, 0};
    if (count < 2)
        return 0;
    for (uint32_t i = 0; i < m->obstacle_count; i++)
        if (b->obstacle_root[i] != root) {
            b->obstacle_root[kept] = b->obstacle_root[i];
            m->obstacles[kept++] = m->obstacles[i];
        }
    m->obstacle_count = kept;
    return count;
}

/* Rows tied to a fixed one lie upon each other; as obstacles they are one. */
static bool settle_obstacles(builder *b) {
    masu__plan_model *m = b->model;
    uint32_t room = 2 * m->obstacle_count;
    masu__plan_piece *mine = NEW(m, masu__plan_piece, room);
    masu__plan_piece *settled = NEW(m, masu__plan_piece, room);
    if (!mine || !settled)
        return false;
    for (size_t i = 0; i < b->problem->relation_count; i++) {
        uint32_t root = root_of(b->parent, (uint32_t)b->problem->relations[i].a);
        bool joined = root == root_of(b->parent, (uint32_t)b->problem->relations[i].b);
        uint32_t count = joined ? take_obstacles(b, root, mine) : 0;
        masu__plan_pieces_sort(mine, count);
        bool meet = masu__plan_pieces_meet(mine, count);
        uint32_t made = meet ? masu__plan_pieces_flatten(mine, count, settled) : count;
        for (uint32_t k = 0; k < made; k++) {
            const masu__plan_piece *piece = meet ? &settled[k] : &mine[k];
            m->holes |= piece->hole > 0;
            b->obstacle_root[m->obstacle_count] = root;
            m->obstacles[m->obstacle_count++] = (masu__plan_obstacle){piece->first, piece->end, piece->base,
                                                                      piece->height};
        }
    }
    return true;
}

static bool settle_pieces(masu__plan_model *m, uint32_t total) {
    size_t room = total;
    for (uint32_t i = 0; i < m->item_count; i++)
        if (m->piece_start[i + 1] - m->piece_start[i] > 1)
            room += 2 * (m->piece_start[i + 1] - m->piece_start[i]);
    masu__plan_piece *settled = NEW(m, masu__plan_piece, room);
    uint32_t *start = NEW(m, uint32_t, m->item_count + 1);
    if (!settled || !start)
        return false;
    m->kept = m->pieces;
    m->kept_start = memcpy(start, m->piece_start, ((size_t)m->item_count + 1) * sizeof *start);
    uint32_t made = 0;
    for (uint32_t i = 0; i < m->item_count; i++) {
        masu__plan_piece *mine = m->pieces + m->piece_start[i];
        uint32_t count = m->piece_start[i + 1] - m->piece_start[i];
        masu__plan_pieces_sort(mine, count);
        m->piece_start[i] = made;
        if (masu__plan_pieces_meet(mine, count)) {
            uint32_t more = masu__plan_pieces_flatten(mine, count, settled + made);
            for (uint32_t k = 0; k < more; k++)
                m->holes |= settled[made + k].hole > 0;
            made += more;
        } else {
            memcpy(settled + made, mine, count * sizeof *mine);
            made += count;
        }
        m->first[i] = settled[m->piece_start[i]].first;
        m->end[i] = settled[made - 1].end;
    }
    m->piece_start[m->item_count] = made;
    m->pieces = settled;
    if (!m->holes) {
        m->kept = m->pieces;
        m->kept_start = m->piece_start;
    }
    return true;
}

/* A row without a size takes no place, but its offset is its group's. */
static void align_empty_rows(builder *b) {
    masu__plan_model *m = b->model;
    for (size_t i = 0; i < b->problem->count; i++) {
        const masu_plan_row *row = &b->problem->rows[i];
        uint32_t item = m->row_item[m->row_root[i]];
        if (row->size_bytes == 0 && item != MASU__PLAN_NONE && row->alignment_bytes > (uint64_t)m->alignment[item])
            m->alignment[item] = (int64_t)row->alignment_bytes;
    }
}

static bool find_pieces(builder *b) {
    masu__plan_model *m = b->model;
    const masu_plan_problem *p = b->problem;
    for (size_t i = 0; i < p->count; i++)
        if (p->rows[i].size_bytes > 0 && m->row_item[i] != MASU__PLAN_NONE) {
            widen_item(m, m->row_item[i], &p->rows[i]);
            each_stretch(b, i, count_piece);
        }
    align_empty_rows(b);
    for (uint32_t i = 0; i < m->item_count; i++)
        m->piece_start[i + 1] += m->piece_start[i];
    uint32_t total = m->piece_start[m->item_count];
    m->pieces = NEW(m, masu__plan_piece, total);
    if (!m->pieces)
        return false;
    uint32_t room = 2 * m->obstacle_count;
    b->obstacle_root = NEW(m, uint32_t, room);
    if (!b->obstacle_root)
        return false;
    m->obstacle_count = 0; /* from the upper limit to what is there */
    for (size_t i = 0; i < p->count; i++) {
        if (p->rows[i].size_bytes == 0)
            continue;
        bool movable = m->row_item[i] != MASU__PLAN_NONE;
        each_stretch(b, i, movable ? add_piece : add_obstacle);
    }
    for (uint32_t i = m->item_count; i > 0; i--) /* adding moved each start to the next */
        m->piece_start[i] = m->piece_start[i - 1];
    m->piece_start[0] = 0;
    return settle_pieces(m, total) && (b->problem->relation_count == 0 || settle_obstacles(b));
}

/* ---- relations that keep apart --------------------------------------------------------------- */

/* A fixed row that an item must keep away from becomes an obstacle of no section: only the pair says
 * whom it concerns. There is room for one a relation. */
static uint32_t fixed_neighbour(builder *b, size_t row, int64_t height) {
    masu__plan_model *m = b->model;
    const masu_plan_row *root = &b->problem->rows[root_of(b->parent, (uint32_t)row)];
    m->obstacles[m->obstacle_count] = (masu__plan_obstacle){0, 0, (int64_t)root->fixed_offset, height};
    return m->obstacle_count++;
}

static bool apart_reserve(builder *b) {
    masu__plan_model *m = b->model;
    size_t relations = b->problem->relation_count;
    masu__plan_obstacle *obstacles = NEW(m, masu__plan_obstacle, m->obstacle_count + relations);
    m->apart = NEW(m, masu__plan_apart, relations);
    m->apart_fixed = NEW(m, masu__plan_apart, relations);
    if (!obstacles || !m->apart || !m->apart_fixed)
        return false;
    if (m->obstacle_count > 0)
        memcpy(obstacles, m->obstacles, m->obstacle_count * sizeof *obstacles);
    m->obstacles = obstacles;
    return true;
}

static bool fixed_together(builder *b, size_t row, size_t other) {
    const masu_plan_row *rows = b->problem->rows;
    uint64_t x = rows[root_of(b->parent, (uint32_t)row)].fixed_offset;
    uint64_t y = rows[root_of(b->parent, (uint32_t)other)].fixed_offset;
    return x < y + rows[other].size_bytes && y < x + rows[row].size_bytes;
}

/* Takes an item before a fixed row; both fixed: nothing to decide. */
static void keep_rows_apart(builder *b, size_t row, size_t other) {
    masu__plan_model *m = b->model;
    const masu_plan_row *rows = b->problem->rows;
    if (m->row_item[row] == MASU__PLAN_NONE) {
        size_t swapped = row;
        row = other;
        other = swapped;
    }
    masu__plan_apart pair = {m->row_item[row], m->row_item[other], (int64_t)rows[row].size_bytes,
                             (int64_t)rows[other].size_bytes};
    if (pair.a == MASU__PLAN_NONE) {
        m->contradiction |= fixed_together(b, row, other);
        return;
    }
    if (pair.b != MASU__PLAN_NONE) {
        m->apart[m->apart_count++] = pair;
        return;
    }
    pair.b = fixed_neighbour(b, other, pair.height_b);
    m->apart_fixed[m->apart_fixed_count++] = pair;
}

static bool keep_apart(builder *b) {
    const masu_plan_problem *p = b->problem;
    if (p->relation_count == 0)
        return true;
    if (!apart_reserve(b))
        return false;
    for (size_t i = 0; i < p->relation_count; i++) {
        const masu_plan_relation *r = &p->relations[i];
        if (r->kind == MASU_PLAN_MUST_NOT_SHARE && p->rows[r->a].size_bytes > 0 && p->rows[r->b].size_bytes > 0)
            keep_rows_apart(b, r->a, r->b);
    }
    return true;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void find_simple(masu__plan_model *m) {
    m->simple = m->obstacle_count == 0 && m->apart_count == 0;
    for (uint32_t i = 0; m->simple && i < m->item_count; i++)
        m->simple = masu__plan_is_plain(m, i);
}

masu_status masu__plan_model_open(const masu_plan_problem *problem, const bool *merged, masu__plan_model *out) {
    *out = (masu__plan_model){0};
    builder b = {.problem = problem, .merged = merged, .model = out};
    if (!find_moments(&b) || !tie_rows(&b) || !count_items(&b) || !make_item_arrays(out) || !find_pieces(&b) ||
        !keep_apart(&b)) {
        masu__plan_model_close(out);
        return MASU_ERR_OUT_OF_MEMORY;
    }
    masu__plan_model_load_bound(out);
    find_simple(out);
    if (!masu__walls_raise_bound(out) || !masu__plan_model_aligned_bound(out) || !masu__plan_model_clique_bound(out)) {
        masu__plan_model_close(out);
        return MASU_ERR_OUT_OF_MEMORY;
    }
    MASU_HEAVY_ASSERT(masu__plan_model_valid(out));
    return MASU_OK;
}

void masu__plan_model_close(masu__plan_model *model) {
    masu__arena_destroy(&model->arena);
    *model = (masu__plan_model){0};
}

void masu__plan_model_order_by_birth(const masu__plan_model *m, uint32_t *order, uint32_t *first_of) {
    memset(first_of, 0, ((size_t)m->section_count + 1) * sizeof *first_of);
    for (uint32_t i = 0; i < m->item_count; i++)
        first_of[m->first[i] + 1]++;
    for (uint32_t s = 1; s <= m->section_count; s++)
        first_of[s] += first_of[s - 1];
    for (uint32_t i = 0; i < m->item_count; i++)
        order[first_of[m->first[i]]++] = i;
    for (uint32_t s = m->section_count; s > 0; s--)
        first_of[s] = first_of[s - 1];
    first_of[0] = 0;
}
