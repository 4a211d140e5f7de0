/* groups.c: which shares go together, the problem of their groups, and a plan of that as one of the rows. */
#include <stdlib.h>
#include <string.h>

#include "base/meta.h"
#include "planner/moves/groups.h"

enum { NONE = UINT32_MAX };

static const masu_moves_share *share_of(const masu__groups *g, uint32_t share) {
    return &g->problem->shares[share];
}

static size_t moment_of(const masu__groups *g, uint32_t share) {
    return g->problem->rows[share_of(g, share)->taker].lower;
}

/* ---- what the problem says ----------------------------------------------------------------------- */

static bool list_uses(masu__groups *g) {
    const masu_moves_problem *p = g->problem;
    g->first_use = MASU_ARENA_ARRAY(&g->arena, uint32_t, p->count + 2);
    g->use_list = MASU_ARENA_ARRAY(&g->arena, uint32_t, p->use_count + 1);
    if (!g->first_use || !g->use_list)
        return false;
    for (size_t i = 0; i < p->use_count; i++)
        g->first_use[p->uses[i].row + 2]++;
    for (size_t row = 0; row < p->count; row++)
        g->first_use[row + 2] += g->first_use[row + 1];
    for (size_t i = 0; i < p->use_count; i++)
        g->use_list[g->first_use[p->uses[i].row + 1]++] = (uint32_t)i;
    return true;
}

/* Reads and writes of a row from one moment to before another. */
static void count_uses(const masu__groups *g, size_t row, size_t from, size_t to, uint64_t *reads, uint64_t *writes) {
    *reads = *writes = 0;
    for (uint32_t i = g->first_use[row]; i < g->first_use[row + 1]; i++) {
        const masu_moves_use *use = &g->problem->uses[g->use_list[i]];
        if (from <= use->moment && use->moment < to) {
            *reads += use->reads;
            *writes += use->writes;
        }
    }
}

/* A view's rows keep what was written. */
static bool is_usable(const masu__groups *g, const masu_moves_share *share) {
    const masu_moves_row *giver = &g->problem->rows[share->giver], *taker = &g->problem->rows[share->taker];
    uint64_t reads, writes;
    if (!share->is_view)
        return true;
    count_uses(g, share->giver, giver->lower + 1, giver->upper, &reads, &writes);
    if (writes > 0)
        return false;
    count_uses(g, share->taker, taker->lower + 1, taker->upper, &reads, &writes);
    if (writes > 0)
        return false;
    count_uses(g, share->taker, taker->lower, taker->lower + 1, &reads, &writes);
    return writes <= 1;
}

typedef struct turn {
    size_t moment;
    bool is_late;
    uint32_t share;
} turn;

static int by_turn(const void *a, const void *b) {
    const turn *x = a, *y = b;
    if (x->moment != y->moment)
        return x->moment < y->moment ? -1 : 1;
    if (x->is_late != y->is_late)
        return x->is_late ? 1 : -1;
    return (x->share > y->share) - (x->share < y->share);
}

static bool sort_shares(masu__groups *g) {
    size_t count = g->problem->share_count;
    turn *turns = MASU_ARENA_ARRAY(&g->arena, turn, count + 1);
    g->order = MASU_ARENA_ARRAY(&g->arena, uint32_t, count + 1);
    if (!turns || !g->order)
        return false;
    for (uint32_t i = 0; i < count; i++)
        turns[i] = (turn){moment_of(g, i), !share_of(g, i)->is_view, i};
    qsort(turns, count, sizeof *turns, by_turn);
    for (size_t i = 0; i < count; i++)
        g->order[i] = turns[i].share;
    return true;
}

bool masu__groups_open(masu__groups *g, const masu_moves_problem *problem) {
    size_t count = problem->count, shares = problem->share_count;
    *g = (masu__groups){.problem = problem};
    masu__arena *arena = &g->arena;
    g->usable = MASU_ARENA_ARRAY(arena, bool, shares + 1);
    g->done = MASU_ARENA_ARRAY(arena, bool, shares + 1);
    g->group = MASU_ARENA_ARRAY(arena, uint32_t, count + 1);
    g->next = MASU_ARENA_ARRAY(arena, uint32_t, count + 1);
    g->last = MASU_ARENA_ARRAY(arena, uint32_t, count + 1);
    g->shown = MASU_ARENA_ARRAY(arena, uint32_t, count + 1);
    g->only = MASU_ARENA_ARRAY(arena, size_t, count + 1);
    g->merged_of = MASU_ARENA_ARRAY(arena, uint32_t, count + 1);
    g->row_of = MASU_ARENA_ARRAY(arena, uint32_t, count + 1);
    g->alone = MASU_ARENA_ARRAY(arena, masu__moves_alone, shares + 1);
    g->merged.rows = MASU_ARENA_ARRAY(arena, masu_moves_row, count + 1);
    g->merged.uses = MASU_ARENA_ARRAY(arena, masu_moves_use, problem->use_count + 1);
    if (!g->usable || !g->done || !g->group || !g->next || !g->last || !g->shown || !g->only || !g->merged_of ||
        !g->row_of || !g->alone || !g->merged.rows || !g->merged.uses || !list_uses(g) || !sort_shares(g))
        return false;
    for (size_t i = 0; i < shares; i++)
        g->usable[i] = is_usable(g, &problem->shares[i]);
    return true;
}

void masu__groups_close(masu__groups *g) {
    masu__arena_destroy(&g->arena);
}

/* ---- what goes together --------------------------------------------------------------------------- */

static bool is_listed(const masu__groups *g, size_t giver, size_t taker) {
    for (size_t i = 0; i < g->problem->share_count; i++)
        if (g->problem->shares[i].giver == giver && g->problem->shares[i].taker == taker)
            return true;
    return false;
}

/* Whether each row on the giver's bytes is dead, or dies here and is not read out of step. */
static bool may_write_over(const masu__groups *g, const masu_moves_share *share) {
    size_t t = g->problem->rows[share->taker].lower;
    for (uint32_t row = g->group[share->giver]; row != NONE; row = g->next[row]) {
        uint64_t reads, writes;
        if (g->shown[row] != g->shown[share->giver] || row == share->giver || g->problem->rows[row].upper <= t)
            continue;
        if (g->problem->rows[row].upper > t + 1)
            return false;
        count_uses(g, row, t, t + 1, &reads, &writes);
        if (reads + writes > 0 && !is_listed(g, row, share->taker))
            return false;
    }
    return true;
}

static bool memories_agree(const masu__groups *g, uint32_t first, size_t taker, size_t *only) {
    size_t home = g->problem->rows[first].home, other = g->problem->rows[taker].only;
    *only = g->only[first] == MASU_MOVES_ANY ? other : g->only[first];
    return (other == MASU_MOVES_ANY || other == *only) &&
           (home == MASU_MOVES_ANY || *only == MASU_MOVES_ANY || home == *only);
}

/* The giver's bytes are the group's last ones: what was written over is dead. */
static bool try_share(masu__groups *g, const masu_moves_share *share) {
    uint32_t first = g->group[share->giver], taker = (uint32_t)share->taker;
    size_t only;
    if (g->group[taker] != taker || g->next[taker] != NONE || first == taker ||
        g->shown[g->last[first]] != g->shown[share->giver] || !memories_agree(g, first, taker, &only) ||
        (!share->is_view && !may_write_over(g, share)))
        return false;
    g->group[taker] = first;
    g->next[g->last[first]] = taker;
    g->last[first] = taker;
    g->only[first] = only;
    if (share->is_view)
        g->shown[taker] = g->shown[share->giver];
    return true;
}

/* ---- the groups' problem ---------------------------------------------------------------------------- */

static void merge_rows(masu__groups *g) {
    const masu_moves_problem *p = g->problem;
    masu_moves_row *rows = (masu_moves_row *)g->merged.rows;
    size_t count = 0;
    for (uint32_t first = 0; first < p->count; first++) {
        if (g->group[first] != first)
            continue;
        masu_moves_row all = p->rows[first];
        for (uint32_t row = first; row != NONE; row = g->next[row]) {
            const masu_moves_row *r = &p->rows[row];
            g->merged_of[row] = (uint32_t)count;
            all.upper = r->upper > all.upper ? r->upper : all.upper;
            all.alignment_bytes = r->alignment_bytes > all.alignment_bytes ? r->alignment_bytes : all.alignment_bytes;
        }
        all.only = g->only[first];
        g->row_of[count] = first;
        rows[count++] = all;
    }
    g->merged.count = count;
}

void masu__groups_save(const masu__groups *g, size_t share, masu_moves_use *uses) {
    const masu_moves_share *s = &g->problem->shares[share];
    size_t rows[] = {s->giver, s->taker};
    for (int k = 0; s->is_view && k < 2; k++)
        for (uint32_t u = g->first_use[rows[k]]; u < g->first_use[rows[k] + 1]; u++) {
            masu_moves_use *use = &uses[g->use_list[u]];
            uint32_t *number = k == 0 ? &use->reads : &use->writes;
            if (use->moment != g->problem->rows[s->taker].lower || *number == 0)
                continue;
            --*number;
            break;
        }
}

static void merge_uses(masu__groups *g) {
    masu_moves_use *uses = (masu_moves_use *)g->merged.uses;
    size_t kept = 0;
    if (g->problem->use_count > 0)
        memcpy(uses, g->problem->uses, g->problem->use_count * sizeof *uses);
    for (size_t i = 0; i < g->problem->share_count; i++)
        if (g->done[i])
            masu__groups_save(g, i, uses);
    for (size_t i = 0; i < g->problem->use_count; i++) {
        masu_moves_use use = uses[i];
        use.row = g->merged_of[use.row];
        if (use.reads + use.writes > 0)
            uses[kept++] = use;
    }
    g->merged.use_count = kept;
}

void masu__groups_make(masu__groups *g, const bool *wanted) {
    const masu_moves_problem *p = g->problem;
    const masu_moves_row *rows = g->merged.rows;
    const masu_moves_use *uses = g->merged.uses;
    for (uint32_t row = 0; row < p->count; row++) {
        g->group[row] = g->last[row] = g->shown[row] = row;
        g->next[row] = NONE;
        g->only[row] = p->rows[row].only;
    }
    for (size_t i = 0; i < p->share_count; i++) {
        uint32_t share = g->order[i];
        g->done[share] = g->usable[share] && (!wanted || wanted[share]) && try_share(g, share_of(g, share));
    }
    g->merged = *p;
    g->merged.rows = rows;
    g->merged.uses = uses;
    g->merged.shares = NULL;
    g->merged.share_count = 0;
    merge_rows(g);
    merge_uses(g);
    g->alone_count = 0;
    for (uint32_t i = 0; i < p->share_count; i++)
        if (g->done[i])
            g->alone[g->alone_count++] = (masu__moves_alone){g->merged_of[share_of(g, i)->taker], moment_of(g, i)};
}

/* ---- a plan of the rows ------------------------------------------------------------------------------- */

/* The row of a group whose bytes a move carries: alive from its begin to the moment in which it is over. */
static uint32_t carried(const masu__groups *g, uint32_t first, const masu_moves_move *move) {
    for (uint32_t row = first; row != NONE; row = g->next[row])
        if (g->problem->rows[row].lower <= move->begin && g->problem->rows[row].upper > move->end)
            return row;
    return NONE;
}

typedef struct spreading {
    const masu__groups *g;
    const masu_moves_plan *from;
    size_t *arrival;         /* per place of from: the move that leads there; SIZE_MAX: none */
    masu_moves_place *parts; /* places of rows, not sorted */
    size_t *part_of;         /* per part: the place of from */
    size_t count, room;
} spreading;

/* The part of a place that one row has. Rows beside the one that is carried have it when the bytes are there. */
static bool part(const spreading *s, size_t place, uint32_t row, masu_moves_place *out) {
    const masu_moves_place *p = &s->from->places[place];
    const masu_moves_row *r = &s->g->problem->rows[row];
    size_t lower = p->lower > r->lower ? p->lower : r->lower, upper = p->upper < r->upper ? p->upper : r->upper;
    if (s->arrival[place] != SIZE_MAX) {
        const masu_moves_move *move = &s->from->moves[s->arrival[place]];
        if (carried(s->g, s->g->row_of[p->row], move) != row && lower < move->end)
            lower = move->end;
    }
    *out = (masu_moves_place){row, p->memory, lower, upper, p->offset};
    return lower < upper;
}

static void spread_places(spreading *s, bool is_counting) {
    s->count = 0;
    for (size_t i = 0; i < s->from->place_count; i++)
        for (uint32_t row = s->g->row_of[s->from->places[i].row]; row != NONE; row = s->g->next[row]) {
            masu_moves_place one;
            if (!part(s, i, row, &one))
                continue;
            if (!is_counting) {
                s->parts[s->count] = one;
                s->part_of[s->count] = i;
            }
            s->count++;
        }
}

typedef struct numbered {
    masu_moves_place place;
    size_t part;
} numbered;

static int by_row(const void *a, const void *b) {
    const numbered *x = a, *y = b;
    if (x->place.row != y->place.row)
        return x->place.row < y->place.row ? -1 : 1;
    if (x->place.lower != y->place.lower)
        return x->place.lower < y->place.lower ? -1 : 1;
    return (x->part > y->part) - (x->part < y->part);
}

/* Where the row's part of the place is among the sorted ones. */
static size_t place_number(const spreading *s, const numbered *sorted, size_t place, uint32_t row) {
    for (size_t i = 0; i < s->count; i++)
        if (sorted[i].place.row == row && s->part_of[sorted[i].part] == place)
            return i;
    return SIZE_MAX;
}

static masu_status fill(spreading *s, masu__arena *arena, masu_moves_plan *to) {
    const masu_moves_plan *from = s->from;
    s->arrival = MASU_ARENA_ARRAY(arena, size_t, from->place_count + 1);
    if (!s->arrival)
        return MASU_ERR_OUT_OF_MEMORY;
    memset(s->arrival, 0xff, from->place_count * sizeof *s->arrival);
    for (size_t i = 0; i < from->move_count; i++)
        s->arrival[from->moves[i].to] = i;
    spread_places(s, true);
    s->parts = MASU_ARENA_ARRAY(arena, masu_moves_place, s->count + 1);
    s->part_of = MASU_ARENA_ARRAY(arena, size_t, s->count + 1);
    numbered *sorted = MASU_ARENA_ARRAY(arena, numbered, s->count + 1);
    to->places = s->count > 0 ? masu__meta_calloc(s->count, sizeof *to->places) : NULL;
    to->moves = from->move_count > 0 ? masu__meta_calloc(from->move_count, sizeof *to->moves) : NULL;
    to->place_count = to->places ? s->count : 0;
    to->move_count = to->moves ? from->move_count : 0;
    if (!s->parts || !s->part_of || !sorted || (s->count > 0 && !to->places) || (from->move_count > 0 && !to->moves))
        return MASU_ERR_OUT_OF_MEMORY;
    spread_places(s, false);
    for (size_t i = 0; i < s->count; i++)
        sorted[i] = (numbered){s->parts[i], i};
    qsort(sorted, s->count, sizeof *sorted, by_row);
    for (size_t i = 0; i < s->count; i++)
        to->places[i] = sorted[i].place;
    for (size_t i = 0; i < from->move_count; i++) {
        const masu_moves_move *move = &from->moves[i];
        uint32_t row = carried(s->g, s->g->row_of[from->places[move->to].row], move);
        to->moves[i] = (masu_moves_move){place_number(s, sorted, move->from, row),
                                         place_number(s, sorted, move->to, row), move->begin, move->end};
    }
    return MASU_OK;
}

masu_status masu__groups_spread(const masu__groups *g, masu_moves_plan *from, masu_moves_plan *to) {
    masu__arena arena = {0};
    spreading s = {.g = g, .from = from};
    *to = *from;
    to->places = NULL;
    to->moves = NULL;
    to->place_count = to->move_count = 0;
    to->shared = masu__meta_calloc(g->problem->share_count, sizeof *to->shared);
    to->share_count = to->shared ? g->problem->share_count : 0;
    masu_status status = to->shared ? fill(&s, &arena, to) : MASU_ERR_OUT_OF_MEMORY;
    if (status == MASU_OK)
        memcpy(to->shared, g->done, g->problem->share_count * sizeof *to->shared);
    masu__arena_destroy(&arena);
    masu_moves_free(from);
    if (status != MASU_OK)
        masu_moves_free(to);
    return status;
}
