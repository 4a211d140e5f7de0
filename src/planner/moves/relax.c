/* relax.c: a bound for all choices of what is done in place: a problem without shares that each of them fits.
 *
 *     operators    …  t         t + 1 …      t is two moments where a row may be taken over: operands are read, then
 *                     ├─┬─┤                  results are written. The giver is held in the first, the taker in the
 *     giver   ────────┤                      second, all others in both. What a view saves is saved.
 *     taker             ├─────────
 *     others  ──────────────────
 *
 * A view is nowhere, unless it is the only one and its giver ends where it begins: what reads and writes it costs at
 * least the cheapest memory.
 */
#include <string.h>

#include "planner/moves/groups.h"

typedef struct halves {
    masu__groups *g;
    size_t *at;   /* per moment: its first half among the new ones */
    bool *is_two; /* per moment */
    bool *is_giver, *is_taker, *is_nowhere;
} halves;

static bool halves_open(halves *h) {
    masu__arena *arena = &h->g->arena;
    const masu_moves_problem *p = h->g->problem;
    h->at = MASU_ARENA_ARRAY(arena, size_t, p->moment_count + 1);
    h->is_two = MASU_ARENA_ARRAY(arena, bool, p->moment_count + 1);
    h->is_giver = MASU_ARENA_ARRAY(arena, bool, p->count + 1);
    h->is_taker = MASU_ARENA_ARRAY(arena, bool, p->count + 1);
    h->is_nowhere = MASU_ARENA_ARRAY(arena, bool, p->count + 1);
    uint32_t *views = MASU_ARENA_ARRAY(arena, uint32_t, p->count + 1);
    if (!h->at || !h->is_two || !h->is_giver || !h->is_taker || !h->is_nowhere || !views)
        return false;
    for (size_t i = 0; i < p->share_count; i++)
        views[p->shares[i].giver] += h->g->usable[i] && p->shares[i].is_view;
    for (size_t i = 0; i < p->share_count; i++) { /* givers before what they give to */
        const masu_moves_share *s = &p->shares[h->g->order[i]];
        const masu_moves_row *giver = &p->rows[s->giver], *taker = &p->rows[s->taker];
        bool follows = giver->upper == taker->lower + 1 && taker->upper > giver->upper && views[s->giver] == 1;
        if (!h->g->usable[h->g->order[i]])
            continue;
        h->is_giver[s->giver] = true;
        h->is_giver[s->taker] |= s->is_view; /* the bytes may be taken over where both end */
        if (s->is_view && (!follows || h->is_nowhere[s->giver]))
            h->is_nowhere[s->taker] = true;
        else
            h->is_taker[s->taker] = h->is_two[taker->lower] = true;
    }
    for (size_t t = 0; t < p->moment_count; t++)
        h->at[t + 1] = h->at[t] + 1 + h->is_two[t];
    return true;
}

static masu_moves_row row_of(const halves *h, size_t row) {
    masu_moves_row r = h->g->problem->rows[row];
    size_t last = r.upper - 1;
    r.lower = h->at[r.lower] + h->is_taker[row];
    r.upper = h->at[last] + 1 + (h->is_two[last] && !h->is_giver[row]);
    return r;
}

static uint64_t cheapest(const masu_moves_problem *p, size_t only) {
    uint64_t cost = p->memories[only == MASU_MOVES_ANY ? 0 : only].cost;
    for (size_t m = 0; only == MASU_MOVES_ANY && m < p->memory_count; m++)
        cost = p->memories[m].cost < cost ? p->memories[m].cost : cost;
    return cost;
}

bool masu__groups_relax(masu__groups *g, masu_moves_problem *out, uint64_t *constant) {
    const masu_moves_problem *p = g->problem;
    halves h = {.g = g};
    if (!halves_open(&h))
        return false;
    size_t moments = h.at[p->moment_count], kept = 0;
    masu_moves_row *rows = MASU_ARENA_ARRAY(&g->arena, masu_moves_row, p->count + 1);
    masu_moves_use *uses = MASU_ARENA_ARRAY(&g->arena, masu_moves_use, p->use_count + 1);
    uint64_t *channel = MASU_ARENA_ARRAY(&g->arena, uint64_t, moments + 1);
    size_t *number = MASU_ARENA_ARRAY(&g->arena, size_t, p->count + 1);
    if (!rows || !uses || !channel || !number)
        return false;
    *out = *p;
    *constant = out->count = 0;
    for (size_t row = 0; row < p->count; row++) {
        number[row] = out->count;
        if (!h.is_nowhere[row])
            rows[out->count++] = row_of(&h, row);
    }
    if (p->use_count > 0)
        memcpy(uses, p->uses, p->use_count * sizeof *uses);
    for (size_t i = 0; i < p->share_count; i++)
        if (g->usable[i])
            masu__groups_save(g, i, uses);
    for (size_t i = 0; i < p->use_count; i++) {
        masu_moves_use use = uses[i];
        const masu_moves_row *r = &p->rows[use.row];
        uint64_t often = (uint64_t)use.reads + use.writes;
        if (h.is_nowhere[use.row])
            *constant += often * r->size_bytes * cheapest(p, r->only);
        if (h.is_nowhere[use.row] || often == 0)
            continue;
        use.moment = h.at[use.moment] + (h.is_taker[use.row] && use.moment == r->lower);
        use.row = number[use.row];
        uses[kept++] = use;
    }
    for (size_t t = 0; p->channel_bytes && t < p->moment_count; t++)
        channel[h.at[t]] = p->channel_bytes[t];
    out->rows = rows;
    out->uses = uses;
    out->use_count = kept;
    out->moment_count = moments;
    out->channel_bytes = p->channel_bytes ? channel : NULL;
    out->shares = NULL;
    out->share_count = 0;
    return true;
}
