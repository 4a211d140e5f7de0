/* exhaust.c: all courses that may still make a plan cheaper, in all combinations.
 *
 * With the prices of the bound, a course costs its row some excess over the row's cheapest. A plan costs at least the
 * bound and the sum of its courses' excesses: so only those within the gap are listed, and sets of them are left as
 * soon as they leave it. A copy is dropped at once after its last use: holding it longer saves nothing. Where lists or
 * sets are too many, nothing is proven.
 */
#include <stdlib.h>
#include <string.h>

#include "base/meta.h"
#include "planner/moves/courses.h"

typedef __int128 wide;

enum {
    MOST_LISTED = 4000,
    MOST_LOOKED_AT = 200000,
    MOST_ALL = 40000,
    MOST_NODES = 1000000,
    MOST_ORDERED = 4096,
    MOST_LEAVES = 20000
};

typedef struct listed {
    masu__course course;
    wide excess; /* of all its bytes, in parts */
} listed;

typedef struct choices {
    listed *of;
    uint32_t count, room;
} choices;

typedef struct hunt {
    masu__moves *m;
    choices *rows;
    uint32_t *order; /* rows, in the order in which they choose */
    wide floor;      /* of every plan, in parts */
    wide goal;       /* a plan must not be above it, in parts */
    uint64_t nodes, leaves;
    bool whole; /* nothing was left out */
    bool (*settles)(void *context, bool *unsure);
    void *context;
} hunt;

/* ---- the courses of one row -------------------------------------------------------------------------- */

typedef struct lister {
    hunt *h;
    size_t row;
    uint32_t lower, upper;
    int64_t best; /* per byte, with prices */
    int64_t size;
    uint64_t looked_at;
    masu__course course; /* the path so far */
} lister;

static int64_t held(const masu__moves *m, uint8_t memory, uint32_t from, uint32_t to) {
    return m->before[memory][to] - m->before[memory][from];
}

static bool within(const lister *l, int64_t cost) {
    return cost < MASU__MOVES_NEVER && l->h->floor + (wide)(cost - l->best) * l->size <= l->h->goal;
}

static void list(lister *l, const masu__walk *walk, int64_t cost) {
    choices *c = &l->h->rows[l->row];
    masu__walk_end(walk, l->h->m, l->upper);
    if (c->count == c->room) {
        uint32_t room = c->room ? 2 * c->room : 16;
        listed *of = c->room >= MOST_LISTED ? NULL : masu__meta_realloc(c->of, c->room * sizeof *of, room * sizeof *of);
        if (!of) {
            l->h->whole = false;
            return;
        }
        memset(of + c->room, 0, (room - c->room) * sizeof *of);
        c->of = of;
        c->room = room;
    }
    listed *to = &c->of[c->count];
    if (!masu__course_copy(&l->course, &to->course)) {
        l->h->m->out_of_memory = true;
        return;
    }
    to->course.cost = masu__course_cost(l->h->m, l->row, &to->course);
    to->excess = (wide)(cost - l->best) * l->size;
    c->count++;
}

static void go(lister *l, const masu__walk *walk, uint32_t t, int64_t cost);

/* One step of the path, and back. */
static void take(lister *l, const masu__walk *walk, uint32_t t, masu__step step, int64_t cost) {
    masu__walk next = *walk;
    uint32_t count = l->course.count;
    if (step.next < l->upper &&
        !within(l, cost + l->h->m->value[(size_t)(step.next - l->lower) * l->h->m->state_count + step.state]))
        return;
    if (!masu__walk_step(l->h->m, &next, t, &step)) {
        l->h->m->out_of_memory = true;
        return;
    }
    go(l, &next, step.next, cost);
    l->course.count = count;
    masu__walk_end(&(masu__walk){&l->course, {walk->open[0], walk->open[1]}, walk->state}, l->h->m, 0);
}

static uint8_t server(const masu__moves *m, size_t row, uint32_t t, uint8_t state) {
    size_t at = m->at[row] + t - m->problem->rows[row].lower;
    return m->reads[at] + m->writes[at] > 0 ? m->states[state].cheapest : MASU__MOVES_NONE;
}

static bool written(const lister *l, uint32_t from, uint32_t to) {
    for (uint32_t u = from; u < to; u++)
        if (l->h->m->single[l->h->m->at[l->row] + u - l->lower])
            return true;
    return false;
}

static void go_moving(lister *l, const masu__walk *walk, uint32_t t, int64_t cost) {
    masu__moves *m = l->h->m;
    uint8_t from = m->states[walk->state].memory[0];
    int64_t first = m->finish[t];
    for (int64_t end = first; end < l->upper; end++) {
        if (written(l, t, (uint32_t)end))
            break;
        for (uint8_t to = 0; to < m->memory_count; to++) {
            uint8_t both = to == from ? MASU__MOVES_NONE : m->state_of[from][to];
            if (both == MASU__MOVES_NONE || !masu__course_may(m, l->row, both, false))
                continue;
            int64_t next = cost + masu__course_move_cost(m, from, to) + held(m, from, t, (uint32_t)end) +
                           held(m, to, t, (uint32_t)end);
            for (uint32_t u = t; u < end; u++)
                next += masu__course_use(m, l->row, u, walk->state);
            take(l, walk, t, (masu__step){(uint32_t)end, both, from, to}, next);
            take(l, walk, t, (masu__step){(uint32_t)end, to, from, to}, next);
        }
        if (!m->carried || m->carried[end] - m->carried[t + 1] >= l->size)
            break;
    }
}

static void go(lister *l, const masu__walk *walk, uint32_t t, int64_t cost) {
    masu__moves *m = l->h->m;
    const masu__state *s = &m->states[walk->state];
    bool single = s->memory[1] == MASU__MOVES_NONE;
    if (t == l->upper) {
        if (single)
            list(l, walk, cost);
        return;
    }
    if (!l->h->whole || m->out_of_memory)
        return;
    if (++l->looked_at > MOST_LOOKED_AT) {
        l->h->whole = false;
        return;
    }
    if (!masu__course_may(m, l->row, walk->state, t == l->lower) || (!single && written(l, t, t + 1)))
        return;
    int64_t next = cost + masu__course_use(m, l->row, t, walk->state) + held(m, s->memory[0], t, t + 1) +
                   (single ? 0 : held(m, s->memory[1], t, t + 1));
    take(l, walk, t, (masu__step){t + 1, walk->state, MASU__MOVES_NONE, MASU__MOVES_NONE}, next);
    uint8_t serves = server(m, l->row, t, walk->state);
    for (int k = 0; k < 2 && !single; k++)
        if (s->memory[k] == serves)
            take(l, walk, t, (masu__step){t + 1, s->without[k], MASU__MOVES_NONE, MASU__MOVES_NONE}, next);
    if (single && !m->stays && m->problem->rows[l->row].only == MASU_MOVES_ANY)
        go_moving(l, walk, t, cost);
}

static int by_excess(const void *a, const void *b) {
    const listed *x = a, *y = b;
    return (x->excess > y->excess) - (x->excess < y->excess);
}

static void list_row(hunt *h, size_t row) {
    masu__moves *m = h->m;
    masu__ask ask = {row, false, MASU__MOVES_PRICE_ONE};
    lister l = {.h = h,
                .row = row,
                .size = masu__moves_size(m, row),
                .lower = (uint32_t)m->problem->rows[row].lower,
                .upper = (uint32_t)m->problem->rows[row].upper};
    l.best = masu__course_value(m, &ask);
    for (uint8_t s = 0; s < m->memory_count && h->whole && !m->out_of_memory; s++) {
        masu__walk walk;
        if (!masu__course_may(m, row, s, true) || !within(&l, m->value[s]))
            continue;
        if (masu__walk_begin(m, &l.course, l.lower, s, &walk))
            go(&l, &walk, l.lower, 0);
        else
            m->out_of_memory = true;
    }
    masu__meta_free(l.course.stays, l.course.room * sizeof *l.course.stays);
    if (h->rows[row].count > 0)
        qsort(h->rows[row].of, h->rows[row].count, sizeof *h->rows[row].of, by_excess);
}

/* ---- the channel, exactly --------------------------------------------------------------------------- */

typedef struct ordering {
    const masu__moves *m;
    masu__busy *moves; /* from, to: not yet; in the order found so far */
    size_t count;
    uint64_t steps;
} ordering;

static bool order_from(ordering *o, size_t at, int64_t cursor) {
    if (at == o->count)
        return true;
    for (size_t k = at; k < o->count && ++o->steps < MOST_ORDERED; k++) {
        masu__busy move = o->moves[k];
        const masu__stay *stay = &o->m->courses[move.row].stays[move.stay];
        int64_t from = o->m->carried[stay->begin] > cursor ? o->m->carried[stay->begin] : cursor;
        int64_t to = from + masu__moves_size(o->m, move.row);
        if (to > o->m->carried[stay->end])
            continue;
        o->moves[k] = o->moves[at];
        o->moves[at] = (masu__busy){from, to, move.row, move.stay};
        if (order_from(o, at + 1, to))
            return true;
        o->moves[at] = o->moves[k];
        o->moves[k] = move;
    }
    return false;
}

/* Into busy. False: no order of the moves was found. */
static bool order_channel(hunt *h) {
    masu__moves *m = h->m;
    m->busy_count = 0;
    for (size_t i = 0; m->carried && i < m->problem->count; i++)
        for (uint32_t s = 0; s < m->courses[i].count; s++) {
            if (m->courses[i].stays[s].begin == m->courses[i].stays[s].end)
                continue;
            if (!masu__busy_insert(m, m->busy_count, (masu__busy){0, 0, (uint32_t)i, s}))
                return false;
        }
    ordering o = {m, m->busy, m->busy_count, 0};
    bool found = order_from(&o, 0, 0);
    if (!found && o.steps >= MOST_ORDERED)
        h->whole = false;
    return found;
}

/* ---- sets of courses ---------------------------------------------------------------------------------- */

static bool fits(const masu__moves *m, const masu__course *course) {
    for (uint32_t i = 0; i < course->count; i++) {
        const masu__stay *s = &course->stays[i];
        for (uint32_t t = s->lower; t < s->upper && m->limit[s->memory] != INT64_MAX; t++)
            if (m->load[s->memory][t] > m->limit[s->memory])
                return false;
    }
    return true;
}

static void leaf(hunt *h) {
    masu__moves *m = h->m;
    bool unsure = false;
    if (++h->leaves > MOST_LEAVES) {
        h->whole = false;
        return;
    }
    m->total = 0;
    for (size_t i = 0; i < m->problem->count; i++)
        m->total += m->courses[i].cost * masu__moves_size(m, i);
    if (m->total > h->goal || !order_channel(h))
        return;
    if (h->settles(h->context, &unsure))
        h->goal = m->total - MASU__MOVES_PRICE_ONE;
    else if (unsure)
        h->whole = false;
}

static void combine(hunt *h, size_t depth, wide floor) {
    masu__moves *m = h->m;
    if (depth == m->problem->count) {
        leaf(h);
        return;
    }
    size_t row = h->order[depth];
    masu__course own = m->courses[row];
    for (uint32_t k = 0; k < h->rows[row].count && !m->out_of_memory; k++) {
        const listed *next = &h->rows[row].of[k];
        if (floor + next->excess > h->goal)
            break;
        if (++h->nodes > MOST_NODES || h->leaves > MOST_LEAVES || (h->nodes % 1024 == 0 && masu__moves_late(m))) {
            h->whole = false;
            break;
        }
        m->courses[row] = next->course;
        masu__loads_hold(m, &next->course, masu__moves_size(m, row));
        if (fits(m, &next->course))
            combine(h, depth + 1, floor + next->excess);
        masu__loads_hold(m, &next->course, -masu__moves_size(m, row));
    }
    m->courses[row] = own;
}

static void find_floor(hunt *h) {
    masu__moves *m = h->m;
    for (size_t i = 0; i < m->problem->count; i++) {
        masu__ask ask = {i, false, MASU__MOVES_PRICE_ONE};
        h->floor += (wide)masu__course_value(m, &ask) * masu__moves_size(m, i);
    }
    for (uint8_t k = 0; k < m->memory_count; k++)
        if (m->limit[k] != INT64_MAX)
            h->floor -= (wide)m->before[k][m->moments] * m->limit[k];
}

bool masu__moves_exhaust(masu__moves *m, int64_t cost, bool (*settles)(void *context, bool *unsure), void *context) {
    hunt h = {.m = m, .whole = true, .settles = settles, .context = context};
    size_t count = m->problem->count, all = 0;
    h.goal = cost == INT64_MAX ? (wide)MASU__MOVES_NEVER : (wide)(cost - 1) * MASU__MOVES_PRICE_ONE;
    h.rows = masu__meta_calloc(count + 1, sizeof *h.rows);
    h.order = masu__moves_rank(m, true);
    m->out_of_memory |= !h.rows;
    if (h.rows && h.order) {
        find_floor(&h);
        for (size_t i = 0; i < count && h.whole && !m->out_of_memory; i++) {
            list_row(&h, i);
            all += h.rows[i].count;
            h.whole = h.whole && all <= MOST_ALL && !masu__moves_late(m);
        }
        if (h.whole && !m->out_of_memory)
            combine(&h, 0, h.floor);
    }
    for (size_t i = 0; h.rows && i < count; i++) {
        for (uint32_t k = 0; k < h.rows[i].count; k++)
            masu__meta_free(h.rows[i].of[k].course.stays, h.rows[i].of[k].course.room * sizeof(masu__stay));
        masu__meta_free(h.rows[i].of, h.rows[i].room * sizeof *h.rows[i].of);
    }
    masu__meta_free(h.rows, (count + 1) * sizeof *h.rows);
    return h.whole && !m->out_of_memory;
}
