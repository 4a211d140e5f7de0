/* improve.c: rows out, rows in again: each with the cheapest course beside the others, at first with prices, so that it
 * leaves room to those that need it more. What comes out no dearer stays. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/meta.h"
#include "planner/moves/courses.h"

enum { MOST_OUT = 8 };

static bool lay_row(masu__moves *m, size_t row, int64_t price_of) {
    masu__ask ask = {row, true, price_of};
    m->attempts++;
    if (masu__course_value(m, &ask) >= MASU__MOVES_NEVER)
        return false;
    if (!masu__course_take(m, row, &m->courses[row])) {
        m->out_of_memory = true;
        return false;
    }
    return masu__loads_add(m, row);
}

bool masu__moves_lay_row(masu__moves *m, size_t row) {
    return lay_row(m, row, 0);
}

/* ---- all rows ------------------------------------------------------------------------------------ */

typedef struct ranked {
    double worth;
    uint32_t row;
} ranked;

static int by_worth(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    return x->worth != y->worth ? (x->worth < y->worth ? 1 : -1) : (x->row > y->row) - (x->row < y->row);
}

/* Those that must be somewhere first, then those with the most bytes × moments: they are the hardest to find room
 * for. */
static double area_of(const masu_moves_row *row) {
    return row->only != MASU_MOVES_ANY ? INFINITY : (double)row->size_bytes * (double)(row->upper - row->lower);
}

static double traffic_of(const masu__moves *m, size_t row) {
    const masu_moves_row *r = &m->problem->rows[row];
    double uses = 0;
    for (size_t t = 0; t < r->upper - r->lower; t++)
        uses += (double)m->reads[m->at[row] + t] + m->writes[m->at[row] + t];
    return r->only != MASU_MOVES_ANY ? INFINITY : uses * (double)r->size_bytes;
}

uint32_t *masu__moves_rank(masu__moves *m, bool by_area) {
    size_t count = m->problem->count;
    ranked *ranks = MASU_ARENA_ARRAY(&m->arena, ranked, count + 1);
    uint32_t *order = MASU_ARENA_ARRAY(&m->arena, uint32_t, count + 1);
    if (!ranks || !order) {
        m->out_of_memory = true;
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        ranks[i] = (ranked){by_area ? area_of(&m->problem->rows[i]) : traffic_of(m, i), (uint32_t)i};
    qsort(ranks, count, sizeof *ranks, by_worth);
    for (size_t i = 0; i < count; i++)
        order[i] = ranks[i].row;
    return order;
}

static bool lay_in_order(masu__moves *m, const uint32_t *order) {
    size_t laid = 0;
    while (laid < m->problem->count && lay_row(m, order[laid], MASU__MOVES_PRICE_ONE))
        laid++;
    if (laid == m->problem->count)
        return true;
    while (laid-- > 0)
        masu__loads_remove(m, order[laid]);
    return false;
}

bool masu__moves_lay(masu__moves *m) {
    bool right = false;
    for (int way = 0; way < 2 && !right && !m->out_of_memory; way++) {
        masu__arena_mark mark = masu__arena_get_mark(&m->arena);
        const uint32_t *order = masu__moves_rank(m, way == 1);
        right = order && lay_in_order(m, order);
        masu__arena_release(&m->arena, mark);
    }
    return right;
}

/* ---- some rows again ------------------------------------------------------------------------------- */

typedef struct round_state {
    masu__moves *m;
    masu__rng *rng;
    size_t out[MOST_OUT];
    unsigned count;
    masu__course before[MOST_OUT];
} round_state;

static bool is_out(const round_state *r, size_t row) {
    for (unsigned i = 0; i < r->count; i++)
        if (r->out[i] == row)
            return true;
    return false;
}

/* Rows that live at one moment, by chance: those that pay for something more often. */
static void choose(round_state *r) {
    const masu_moves_problem *p = r->m->problem;
    unsigned wanted = 1 + (unsigned)masu__rng_below(r->rng, MOST_OUT < p->count ? MOST_OUT : p->count);
    size_t first = masu__rng_below(r->rng, p->count);
    for (int tries = 0; tries < 4 && r->m->courses[first].cost == 0; tries++)
        first = masu__rng_below(r->rng, p->count);
    const masu_moves_row *middle = &p->rows[first];
    r->count = 0;
    r->out[r->count++] = first;
    for (int tries = 0; tries < 64 && r->count < wanted; tries++) {
        size_t reach = 1 + masu__rng_below(r->rng, 4 * MOST_OUT),
               other = masu__rng_below(r->rng, 2) ? first + reach : first - reach;
        if (masu__rng_below(r->rng, 4) == 0)
            other = masu__rng_below(r->rng, p->count);
        if (other < p->count && !is_out(r, other) && p->rows[other].lower < middle->upper &&
            middle->lower < p->rows[other].upper)
            r->out[r->count++] = other;
    }
}

static bool take_out(round_state *r) {
    for (unsigned i = 0; i < r->count; i++)
        if (!masu__course_copy(&r->m->courses[r->out[i]], &r->before[i]))
            return false;
    for (unsigned i = 0; i < r->count; i++)
        masu__loads_remove(r->m, r->out[i]);
    return true;
}

static bool put_in(round_state *r) {
    static const int64_t parts[] = {0, MASU__MOVES_PRICE_ONE / 4, MASU__MOVES_PRICE_ONE / 2, MASU__MOVES_PRICE_ONE};
    int64_t price_of = parts[masu__rng_below(r->rng, 4)];
    unsigned laid = 0;
    while (laid < r->count && lay_row(r->m, r->out[laid], price_of))
        laid++;
    for (unsigned i = 0; laid == r->count && price_of > 0 && i < r->count; i++) { /* now without prices */
        masu__loads_remove(r->m, r->out[i]);
        if (!lay_row(r->m, r->out[i], 0)) { /* its own course was there: only memory can be lacking */
            for (unsigned k = 0; k < r->count; k++)
                if (k != i)
                    masu__loads_remove(r->m, r->out[k]);
            return false;
        }
    }
    if (laid == r->count)
        return true;
    while (laid-- > 0)
        masu__loads_remove(r->m, r->out[laid]);
    return false;
}

/* As it was; the channel may have put the moves elsewhere meanwhile, but not other rows' moves. */
static void put_back(round_state *r) {
    for (unsigned i = 0; i < r->count; i++)
        if (!masu__course_copy(&r->before[i], &r->m->courses[r->out[i]]))
            r->m->out_of_memory = true;
}

static void shuffle(round_state *r) {
    for (unsigned i = r->count; i > 1; i--) {
        unsigned k = (unsigned)masu__rng_below(r->rng, i);
        size_t row = r->out[i - 1];
        r->out[i - 1] = r->out[k];
        r->out[k] = row;
    }
}

/* Stretches of the channel as they were, so that what is put back fits where it was. */
typedef struct channel {
    masu__busy *busy;
    size_t count, room;
} channel;

static bool channel_keep(const masu__moves *m, channel *c) {
    if (c->room < m->busy_count) {
        size_t room = m->busy_room;
        masu__busy *busy = masu__meta_realloc(c->busy, c->room * sizeof *busy, room * sizeof *busy);
        if (!busy)
            return false;
        c->busy = busy;
        c->room = room;
    }
    if (m->busy_count > 0)
        memcpy(c->busy, m->busy, m->busy_count * sizeof *c->busy);
    c->count = m->busy_count;
    return true;
}

static void hold_again(masu__moves *m, const round_state *r, const channel *c) {
    for (unsigned i = 0; i < r->count; i++) {
        const masu__course *course = &m->courses[r->out[i]];
        masu__loads_hold(m, course, masu__moves_size(m, r->out[i]));
        m->total += course->cost * masu__moves_size(m, r->out[i]);
    }
    if (c->count > 0)
        memcpy(m->busy, c->busy, c->count * sizeof *c->busy);
    m->busy_count = c->count;
}

void masu__moves_improve(masu__moves *m, masu__rng *rng, uint64_t rounds, int64_t enough) {
    round_state r = {.m = m, .rng = rng};
    channel kept = {0};
    for (uint64_t round = 0; round < rounds && m->problem->count > 0 && !m->out_of_memory; round++) {
        int64_t before = m->total;
        if (before <= enough * MASU__MOVES_PRICE_ONE || (round % 16 == 0 && masu__moves_late(m)))
            break;
        choose(&r);
        if (!channel_keep(m, &kept) || !take_out(&r)) {
            m->out_of_memory = true;
            break;
        }
        size_t out[MOST_OUT];
        memcpy(out, r.out, sizeof out);
        shuffle(&r);
        bool laid = put_in(&r);
        if (laid && m->total <= before)
            continue;
        for (unsigned i = 0; laid && i < r.count; i++)
            masu__loads_remove(m, r.out[i]);
        memcpy(r.out, out, sizeof out);
        put_back(&r);
        hold_again(m, &r, &kept);
    }
    for (unsigned i = 0; i < MOST_OUT; i++)
        masu__meta_free(r.before[i].stays, r.before[i].room * sizeof *r.before[i].stays);
    masu__meta_free(kept.busy, kept.room * sizeof *kept.busy);
}
