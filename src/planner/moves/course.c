/* course.c: the cheapest course of one row: a shortest path, from the end of its life to the beginning.
 *
 *     value[t][s] = holding s during t + uses of t
 *                 + the least of   value[t + 1][part of s]
 *                                  a move until e: holding both, uses by the source, + value[e][part of both]
 *
 * All is per byte: whether bytes fit only matters where other courses are there.
 */
#include <string.h>

#include "base/meta.h"
#include "planner/moves/courses.h"

/* ---- what a state costs ------------------------------------------------------------------------ */

bool masu__course_may(const masu__moves *m, size_t row, uint8_t state, bool first) {
    const masu_moves_row *r = &m->problem->rows[row];
    const masu__state *s = &m->states[state];
    if (s->memory[1] != MASU__MOVES_NONE && (r->only != MASU_MOVES_ANY || m->stays || first))
        return false;
    for (int k = 0; k < 2 && s->memory[k] != MASU__MOVES_NONE; k++)
        if ((r->only != MASU_MOVES_ANY && r->only != s->memory[k]) || (int64_t)r->size_bytes > m->limit[s->memory[k]])
            return false;
    return !first || r->home == MASU_MOVES_ANY || r->home == s->memory[0];
}

int64_t masu__course_use(const masu__moves *m, size_t row, uint32_t moment, uint8_t state) {
    size_t at = m->at[row] + moment - m->problem->rows[row].lower;
    const masu__state *s = &m->states[state];
    return m->reads[at] * m->cost[s->cheapest] + m->writes[at] * m->cost[s->memory[0]];
}

int64_t masu__course_move_cost(const masu__moves *m, uint8_t from, uint8_t to) {
    return m->problem->has_move_cost ? (int64_t)m->problem->move_cost * MASU__MOVES_PRICE_ONE
                                     : m->cost[from] + m->cost[to];
}

/* ---- the path ---------------------------------------------------------------------------------- */

/* The state of a sweep over falling moments. */
typedef struct sweep {
    masu__moves *m;
    const masu__ask *ask;
    uint32_t lower, upper, t;
    const uint32_t *reads; /* by moment - lower */
    const bool *single;
    int64_t size;
    uint32_t full[MASU_MOVES_MOST_MEMORIES]; /* the next moment in which the memory has no room for the row */
    uint32_t written;                        /* the next moment in which the row is written, or taken over */
    bool may_move;
} sweep;

static int64_t *value_at(const sweep *w, uint32_t t) {
    return w->m->value + (size_t)(t - w->lower) * w->m->state_count;
}

static int64_t price(const sweep *w, uint8_t memory, uint32_t from, uint32_t to) {
    const int64_t *before = w->m->before[memory];
    return w->ask->price_of == 0 ? 0 : (before[to] - before[from]) * w->ask->price_of / MASU__MOVES_PRICE_ONE;
}

static void look_for_room(sweep *w) {
    for (uint8_t k = 0; k < w->m->memory_count; k++)
        if (w->ask->with_loads && w->m->limit[k] != INT64_MAX && w->m->load[k][w->t] + w->size > w->m->limit[k])
            w->full[k] = w->t;
    if (w->single[w->t - w->lower])
        w->written = w->t;
}

/* The best part of a state at the next moment. */
static int64_t go_on(const sweep *w, uint32_t next, uint8_t state, uint8_t *best_state) {
    const masu__state *s = &w->m->states[state];
    const int64_t *value = value_at(w, next);
    int64_t best = value[state];
    *best_state = state;
    for (int k = 0; k < 2; k++)
        if (s->without[k] != MASU__MOVES_NONE && value[s->without[k]] <= best) {
            best = value[s->without[k]];
            *best_state = s->without[k];
        }
    return best;
}

static bool has_room(const sweep *w, uint8_t state) {
    const masu__state *s = &w->m->states[state];
    return w->full[s->memory[0]] != w->t && (s->memory[1] == MASU__MOVES_NONE || w->full[s->memory[1]] != w->t);
}

/* Moves that begin at t from the one memory of the state: better than *best? */
static void try_moves(const sweep *w, uint8_t state, int64_t *best, masu__step *step) {
    masu__moves *m = w->m;
    uint8_t from = m->states[state].memory[0];
    int64_t end = m->finish[w->t], reading = 0;
    if (end >= w->upper || w->written < end || w->full[from] < end)
        return;
    for (uint32_t u = w->t; u < end; u++)
        reading += w->reads[u - w->lower] * m->cost[from];
    reading += price(w, from, w->t, (uint32_t)end);
    for (uint8_t to = 0; to < m->memory_count; to++) {
        uint8_t both = to == from ? MASU__MOVES_NONE : m->state_of[from][to], then;
        if (both == MASU__MOVES_NONE || w->full[to] < end || w->size > m->limit[to])
            continue;
        int64_t cost = reading + price(w, to, w->t, (uint32_t)end) + masu__course_move_cost(m, from, to) +
                       go_on(w, (uint32_t)end, both, &then);
        if (cost < *best) {
            *best = cost;
            *step = (masu__step){(uint32_t)end, then, from, to};
        }
    }
}

static void fill_moment(sweep *w) {
    masu__moves *m = w->m;
    int64_t *value = value_at(w, w->t);
    bool writes = w->single[w->t - w->lower];
    for (uint8_t s = 0; s < m->state_count; s++) {
        const masu__state *state = &m->states[s];
        bool single = state->memory[1] == MASU__MOVES_NONE;
        masu__step *step = &m->steps[(size_t)(w->t - w->lower) * m->state_count + s];
        value[s] = MASU__MOVES_NEVER;
        if (!masu__course_may(m, w->ask->row, s, w->t == w->lower) || !has_room(w, s) || (writes && !single))
            continue;
        int64_t best = go_on(w, w->t + 1, s, &step->state);
        *step = (masu__step){w->t + 1, step->state, MASU__MOVES_NONE, MASU__MOVES_NONE};
        best += price(w, state->memory[0], w->t, w->t + 1) + masu__course_use(m, w->ask->row, w->t, s);
        if (!single)
            best += price(w, state->memory[1], w->t, w->t + 1);
        if (single && w->may_move)
            try_moves(w, s, &best, step);
        value[s] = best < MASU__MOVES_NEVER ? best : MASU__MOVES_NEVER;
    }
}

int64_t masu__course_value(masu__moves *m, const masu__ask *ask) {
    const masu_moves_row *row = &m->problem->rows[ask->row];
    sweep w = {.m = m, .ask = ask, .lower = (uint32_t)row->lower, .upper = (uint32_t)row->upper};
    w.reads = m->reads + m->at[ask->row];
    w.single = m->single + m->at[ask->row];
    w.size = (int64_t)row->size_bytes;
    w.written = UINT32_MAX;
    w.may_move = row->only == MASU_MOVES_ANY && !m->stays;
    memset(w.full, 0xff, sizeof w.full);
    masu__channel_finish(m, w.size, ask->with_loads, w.lower, w.upper);
    for (uint8_t s = 0; s < m->state_count; s++)
        value_at(&w, w.upper)[s] = 0;
    for (w.t = w.upper; w.t-- > w.lower;) {
        look_for_room(&w);
        fill_moment(&w);
    }
    int64_t best = MASU__MOVES_NEVER;
    for (uint8_t s = 0; s < m->state_count; s++)
        if (value_at(&w, w.lower)[s] < best)
            best = value_at(&w, w.lower)[s];
    return best;
}

/* ---- from paths to stays ----------------------------------------------------------------------- */

bool masu__course_push(masu__course *course, const masu__stay *stay) {
    if (course->count == course->room) {
        uint32_t room = course->room ? 2 * course->room : 4;
        masu__stay *stays = masu__meta_realloc(course->stays, course->room * sizeof *stays, room * sizeof *stays);
        if (!stays)
            return false;
        course->stays = stays;
        course->room = room;
    }
    course->stays[course->count++] = *stay;
    return true;
}

bool masu__course_copy(const masu__course *from, masu__course *to) {
    to->count = 0;
    to->cost = from->cost;
    for (uint32_t i = 0; i < from->count; i++)
        if (!masu__course_push(to, &from->stays[i]))
            return false;
    return true;
}

bool masu__walk_begin(const masu__moves *m, masu__course *course, uint32_t moment, uint8_t state, masu__walk *walk) {
    *walk = (masu__walk){course, {0, 0}, state};
    course->count = 0;
    masu__stay first = {.lower = moment, .begin = moment, .end = moment, .memory = m->states[state].memory[0]};
    return masu__course_push(course, &first);
}

/* The stays whose memories the next state lacks end. */
static void keep_open(const masu__moves *m, masu__walk *walk, uint32_t moment, uint8_t state) {
    const masu__state *was = &m->states[walk->state], *now = &m->states[state];
    uint32_t open[2] = {0, 0};
    for (int k = 0; k < 2 && was->memory[k] != MASU__MOVES_NONE; k++) {
        int at = was->memory[k] == now->memory[0] ? 0 : was->memory[k] == now->memory[1] ? 1 : -1;
        if (at < 0)
            walk->course->stays[walk->open[k]].upper = moment;
        else
            open[at] = walk->open[k];
    }
    memcpy(walk->open, open, sizeof open);
    walk->state = state;
}

bool masu__walk_step(const masu__moves *m, masu__walk *walk, uint32_t moment, const masu__step *step) {
    if (step->to != MASU__MOVES_NONE) {
        uint32_t source = walk->open[0], number = walk->course->count;
        masu__stay stay = {.lower = moment, .begin = moment, .end = step->next, .from = source, .memory = step->to};
        if (!masu__course_push(walk->course, &stay))
            return false;
        walk->state = m->state_of[step->from][step->to];
        bool first = step->from < step->to;
        walk->open[first ? 0 : 1] = source;
        walk->open[first ? 1 : 0] = number;
    }
    keep_open(m, walk, step->next, step->state);
    return true;
}

void masu__walk_end(const masu__walk *walk, const masu__moves *m, uint32_t moment) {
    for (int k = 0; k < 2 && m->states[walk->state].memory[k] != MASU__MOVES_NONE; k++)
        walk->course->stays[walk->open[k]].upper = moment;
}

/* Reads go to the cheapest stay that is there, writes to the only one. */
int64_t masu__course_cost(const masu__moves *m, size_t row, const masu__course *course) {
    const masu_moves_row *r = &m->problem->rows[row];
    int64_t cost = 0;
    for (uint32_t t = (uint32_t)r->lower; t < r->upper; t++) {
        size_t at = m->at[row] + t - r->lower;
        if (m->reads[at] == 0 && m->writes[at] == 0)
            continue;
        int64_t least = MASU__MOVES_NEVER;
        for (uint32_t i = 0; i < course->count; i++)
            if (course->stays[i].end <= t && t < course->stays[i].upper && m->cost[course->stays[i].memory] < least)
                least = m->cost[course->stays[i].memory];
        cost += ((int64_t)m->reads[at] + m->writes[at]) * least;
    }
    for (uint32_t i = 0; i < course->count; i++)
        if (course->stays[i].begin < course->stays[i].end)
            cost += masu__course_move_cost(m, course->stays[course->stays[i].from].memory, course->stays[i].memory);
    return cost;
}

bool masu__course_take(masu__moves *m, size_t row, masu__course *out) {
    uint32_t lower = (uint32_t)m->problem->rows[row].lower, upper = (uint32_t)m->problem->rows[row].upper;
    uint8_t state = 0;
    for (uint8_t s = 1; s < m->state_count; s++)
        if (m->value[s] < m->value[state])
            state = s;
    masu__walk walk;
    if (!masu__walk_begin(m, out, lower, state, &walk))
        return false;
    for (uint32_t t = lower; t < upper;) {
        const masu__step *step = &m->steps[(size_t)(t - lower) * m->state_count + walk.state];
        if (step->next >= upper)
            break;
        if (!masu__walk_step(m, &walk, t, step))
            return false;
        t = step->next;
    }
    masu__walk_end(&walk, m, upper);
    out->cost = masu__course_cost(m, row, out);
    return true;
}
