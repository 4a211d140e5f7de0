/* moves_judge.c: the judge of plans with moves. It has the bytes of each memory before it and runs the plan: operators
 * write a row's own pattern and look whether they read it, moves copy. It shares no code with the planner.
 *
 * A move may copy each byte at any time from its begin to its end. So its target holds nonsense from the beginning
 * until the end, and its source must be right at both.
 *
 * What is made in place is read first and written then, over the giver. A view shows the bytes of its giver: they have
 * one pattern.
 *
 * Sizes and offsets are multiples of one unit: each unit is one word.
 */
#include <string.h>

#include <masu/moves.h>

#include "base/meta.h"

typedef struct court {
    const masu_moves_problem *problem;
    const masu_moves_plan *plan;
    uint64_t unit;
    uint64_t *memory[MASU_MOVES_MOST_MEMORIES]; /* a word a unit: what lies there */
    uint64_t units[MASU_MOVES_MOST_MEMORIES];
    uint64_t *version;        /* per row: how often it was written */
    size_t *ready;            /* per place: from when on its bytes are the row's; SIZE_MAX: not known yet */
    size_t *stale;            /* per place: from when on they are not any more */
    uint32_t *reads, *writes; /* per row: at the present moment */
    size_t *held, *valid;     /* per row: how many places now, and the cheapest valid one; SIZE_MAX: none */
    size_t *taking;           /* per row: the share by which it takes over; SIZE_MAX: none */
    size_t *shown;            /* per row: whose pattern its bytes have */
    bool *has_mate;           /* per row: another row shows the same */
    uint64_t cost;
    masu_moves_verdict verdict;
    size_t row;
} court;

static bool blame(court *c, masu_moves_verdict verdict, size_t row) {
    c->verdict = verdict;
    c->row = row;
    return false;
}

static uint64_t divisor(uint64_t a, uint64_t b) {
    while (b > 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* ---- what is done in place ------------------------------------------------------------------------------ */

static bool is_done(const masu_moves_problem *p, const masu_moves_plan *plan, size_t share) {
    return plan->shared && share < plan->share_count && share < p->share_count && plan->shared[share];
}

static bool shares_are_right(court *c) {
    const masu_moves_problem *p = c->problem;
    for (size_t row = 0; row < p->count; row++) {
        c->taking[row] = SIZE_MAX;
        c->shown[row] = row;
    }
    for (size_t i = 0; i < p->share_count; i++) {
        if (!is_done(p, c->plan, i))
            continue;
        if (c->taking[p->shares[i].taker] != SIZE_MAX)
            return blame(c, MASU_MOVES_BAD_TAKING, p->shares[i].taker);
        c->taking[p->shares[i].taker] = i;
    }
    for (size_t row = 0; row < p->count; row++) {
        size_t steps = 0, at = row;
        for (; c->taking[at] != SIZE_MAX && p->shares[c->taking[at]].is_view; at = p->shares[c->taking[at]].giver)
            if (++steps > p->count)
                return blame(c, MASU_MOVES_BAD_TAKING, row);
        c->shown[row] = at;
        c->has_mate[row] |= at != row;
        c->has_mate[at] |= at != row;
    }
    return true;
}

static bool takes_over(const court *c, size_t row, size_t t) {
    return c->taking[row] != SIZE_MAX && c->problem->rows[row].lower == t;
}

static bool is_written_over(const court *c, size_t row, size_t t) {
    return takes_over(c, row, t) && !c->problem->shares[c->taking[row]].is_view;
}

static bool is_listed(const court *c, size_t giver, size_t taker) {
    for (size_t i = 0; i < c->problem->share_count; i++)
        if (c->problem->shares[i].giver == giver && c->problem->shares[i].taker == taker)
            return true;
    return false;
}

/* May a lie where b does? As views of one pattern, or because a ends here and b is written over it. */
static bool may_be_one(const court *c, const masu_moves_place *a, const masu_moves_place *b, size_t t) {
    if (a->offset != b->offset || a->memory != b->memory)
        return false;
    if (c->shown[a->row] == c->shown[b->row])
        return a->row != b->row;
    return is_written_over(c, b->row, t) && c->problem->rows[a->row].upper == t + 1 &&
           c->shown[a->row] == c->shown[c->problem->shares[c->taking[b->row]].giver] &&
           (c->reads[a->row] + c->writes[a->row] == 0 || is_listed(c, a->row, b->row));
}

/* A view is not read and written by the operator that makes it. */
static void take_saved(court *c, size_t t) {
    const masu_moves_problem *p = c->problem;
    for (size_t row = 0; row < p->count; row++) {
        if (!takes_over(c, row, t) || is_written_over(c, row, t))
            continue;
        size_t giver = p->shares[c->taking[row]].giver;
        c->reads[giver] -= c->reads[giver] > 0;
        c->writes[row] -= c->writes[row] > 0;
    }
}

/* Who takes over is where the giver is, and both are in one place. */
static bool takers_are_right(court *c, size_t t) {
    for (size_t row = 0; row < c->problem->count; row++) {
        if (!takes_over(c, row, t))
            continue;
        size_t giver = c->problem->shares[c->taking[row]].giver;
        if (c->held[giver] != 1 || c->held[row] != 1 || c->valid[giver] == SIZE_MAX || c->valid[row] == SIZE_MAX)
            return blame(c, MASU_MOVES_BAD_TAKING, row);
        const masu_moves_place *a = &c->plan->places[c->valid[giver]], *b = &c->plan->places[c->valid[row]];
        if (a->memory != b->memory || a->offset != b->offset)
            return blame(c, MASU_MOVES_BAD_TAKING, row);
    }
    return true;
}

/* ---- one place after the other ------------------------------------------------------------------------ */

static bool place_is_right(court *c, const masu_moves_place *place) {
    const masu_moves_problem *p = c->problem;
    if (place->row >= p->count || place->memory >= p->memory_count)
        return blame(c, MASU_MOVES_OUTSIDE, 0);
    const masu_moves_row *row = &p->rows[place->row];
    uint64_t capacity = p->memories[place->memory].capacity_bytes, end;
    if (place->lower < row->lower || place->upper > row->upper || place->lower >= place->upper ||
        __builtin_add_overflow(place->offset, row->size_bytes, &end) || (capacity > 0 && end > capacity))
        return blame(c, MASU_MOVES_OUTSIDE, place->row);
    if (place->offset % (row->alignment_bytes ? row->alignment_bytes : 1) != 0)
        return blame(c, MASU_MOVES_MISALIGNED, place->row);
    if ((row->only != MASU_MOVES_ANY && row->only != place->memory) ||
        (row->is_fixed && row->fixed_offset != place->offset))
        return blame(c, MASU_MOVES_ELSEWHERE, place->row);
    c->unit = divisor(divisor(c->unit, place->offset), row->size_bytes);
    return true;
}

static bool places_are_right(court *c) {
    for (size_t i = 0; i < c->plan->place_count; i++)
        if (!place_is_right(c, &c->plan->places[i]))
            return false;
    return true;
}

/* Where no move leads a row is from its first moment on, in its home. */
static bool begins_are_right(court *c) {
    for (size_t i = 0; i < c->plan->place_count; i++) {
        const masu_moves_place *place = &c->plan->places[i];
        c->ready[i] = place->lower;
        c->stale[i] = place->upper;
    }
    for (size_t i = 0; i < c->plan->move_count; i++)
        if (c->plan->moves[i].to < c->plan->place_count)
            c->ready[c->plan->moves[i].to] = SIZE_MAX;
    for (size_t i = 0; i < c->plan->place_count; i++) {
        const masu_moves_place *place = &c->plan->places[i];
        const masu_moves_row *row = &c->problem->rows[place->row];
        if (c->ready[i] != SIZE_MAX && place->lower != row->lower) {
            if (!c->has_mate[place->row])
                return blame(c, MASU_MOVES_NOWHERE, place->row);
            continue; /* came with another view; whether the bytes are there is looked at, moment after moment */
        }
        c->held[place->row] += c->ready[i] != SIZE_MAX;
        if (c->held[place->row] > 1)
            return blame(c, MASU_MOVES_CROWDED, place->row); /* born in two places */
        if (c->ready[i] != SIZE_MAX && row->home != MASU_MOVES_ANY && row->home != place->memory)
            return blame(c, MASU_MOVES_ELSEWHERE, place->row);
    }
    return true;
}

static bool moves_are_right(court *c) {
    uint64_t carried_until = 0;
    for (size_t i = 0; i < c->plan->move_count; i++) {
        const masu_moves_move *m = &c->plan->moves[i];
        if (m->from >= c->plan->place_count || m->to >= c->plan->place_count || m->from == m->to)
            return blame(c, MASU_MOVES_BAD_MOVE, 0);
        const masu_moves_place *from = &c->plan->places[m->from], *to = &c->plan->places[m->to];
        if (from->row != to->row || from->memory == to->memory || m->begin >= m->end || m->begin < from->lower ||
            m->end > from->upper || m->begin != to->lower || m->end >= to->upper || c->ready[m->to] != SIZE_MAX ||
            c->problem->stays)
            return blame(c, MASU_MOVES_BAD_MOVE, to->row);
        c->ready[m->to] = m->end;
        uint64_t bytes = c->problem->rows[to->row].size_bytes, begins = 0, ends = 0;
        c->cost += bytes * (c->problem->has_move_cost
                                ? c->problem->move_cost
                                : c->problem->memories[from->memory].cost + c->problem->memories[to->memory].cost);
        for (size_t t = 0; c->problem->channel_bytes && t < m->end; t++) {
            begins += t < m->begin ? c->problem->channel_bytes[t] : 0;
            ends += c->problem->channel_bytes[t];
        }
        carried_until = (carried_until > begins ? carried_until : begins) + bytes;
        if (c->problem->channel_bytes && carried_until > ends)
            return blame(c, MASU_MOVES_LATE, to->row);
    }
    for (size_t i = 0; i < c->plan->move_count; i++) /* what is copied must be there */
        if (c->ready[c->plan->moves[i].from] > c->plan->moves[i].begin)
            return blame(c, MASU_MOVES_BAD_MOVE, c->plan->places[c->plan->moves[i].from].row);
    return true;
}

/* ---- bytes --------------------------------------------------------------------------------------------- */

static uint64_t pattern(const court *c, size_t row, uint64_t unit) {
    row = c->shown[row];
    uint64_t x = (row + 1) * 0x9e3779b97f4a7c15u + c->version[row] * 0xbf58476d1ce4e5b9u + unit;
    return (x ^ x >> 29) * 0x94d049bb133111ebu;
}

static uint64_t *bytes_of(const court *c, const masu_moves_place *place) {
    return c->memory[place->memory] + place->offset / c->unit;
}

static void write_row(court *c, size_t place) {
    const masu_moves_place *p = &c->plan->places[place];
    for (uint64_t u = 0; u < c->problem->rows[p->row].size_bytes / c->unit; u++)
        bytes_of(c, p)[u] = pattern(c, p->row, u);
}

static bool is_there(const court *c, size_t place) {
    const masu_moves_place *p = &c->plan->places[place];
    for (uint64_t u = 0; u < c->problem->rows[p->row].size_bytes / c->unit; u++)
        if (bytes_of(c, p)[u] != pattern(c, p->row, u))
            return false;
    return true;
}

static void spoil(court *c, size_t place) {
    const masu_moves_place *p = &c->plan->places[place];
    for (uint64_t u = 0; u < c->problem->rows[p->row].size_bytes / c->unit; u++)
        bytes_of(c, p)[u] = ~(place + u);
}

/* Valid at this moment: its bytes are the row's. */
static bool is_valid(const court *c, size_t place, size_t t) {
    return c->ready[place] <= t && t < c->plan->places[place].upper && t < c->stale[place];
}

static bool end_moves(court *c, size_t t) {
    for (size_t i = 0; i < c->plan->move_count; i++) {
        const masu_moves_move *m = &c->plan->moves[i];
        if (m->end != t)
            continue;
        if (!is_there(c, m->from) || c->stale[m->from] < t)
            return blame(c, MASU_MOVES_CLOBBERED, c->plan->places[m->from].row);
        uint64_t units = c->problem->rows[c->plan->places[m->to].row].size_bytes / c->unit;
        memcpy(bytes_of(c, &c->plan->places[m->to]), bytes_of(c, &c->plan->places[m->from]), units * sizeof(uint64_t));
    }
    return true;
}

static bool begin_moves(court *c, size_t t) {
    for (size_t i = 0; i < c->plan->move_count; i++) {
        const masu_moves_move *m = &c->plan->moves[i];
        if (m->begin != t)
            continue;
        if (!is_valid(c, m->from, t) || !is_there(c, m->from))
            return blame(c, MASU_MOVES_CLOBBERED, c->plan->places[m->from].row);
        spoil(c, m->to);
    }
    return true;
}

/* Two that are held at once share no byte: what is read later would show it, but what is never read again would not. */
static bool are_apart(court *c, size_t t) {
    for (size_t i = 0; i < c->plan->place_count; i++) {
        const masu_moves_place *a = &c->plan->places[i];
        for (size_t k = i + 1; k < c->plan->place_count && a->lower <= t && t < a->upper; k++) {
            const masu_moves_place *b = &c->plan->places[k];
            if (a->memory == b->memory && b->lower <= t && t < b->upper && (a->lower == t || b->lower == t) &&
                !may_be_one(c, a, b, t) && !may_be_one(c, b, a, t) &&
                a->offset < b->offset + c->problem->rows[b->row].size_bytes &&
                b->offset < a->offset + c->problem->rows[a->row].size_bytes)
                return blame(c, MASU_MOVES_CLOBBERED, a->row);
        }
    }
    return true;
}

/* ---- one moment after the other -------------------------------------------------------------------------- */

/* Rows that are born: what makes them has written them before anything reads them. Who takes over comes later. */
static void begin_rows(court *c, size_t t, bool over) {
    for (size_t i = 0; i < c->plan->place_count; i++) {
        size_t row = c->plan->places[i].row;
        if (c->plan->places[i].lower == t && c->ready[i] == t && c->problem->rows[row].lower == t &&
            (over ? is_written_over(c, row, t) : !takes_over(c, row, t)))
            write_row(c, i);
    }
}

/* The places of each row now: how many are held, and the cheapest valid one. */
static bool look_around(court *c, size_t t) {
    for (size_t row = 0; row < c->problem->count; row++) {
        c->held[row] = 0;
        c->valid[row] = SIZE_MAX;
    }
    for (size_t i = 0; i < c->plan->place_count; i++) {
        const masu_moves_place *p = &c->plan->places[i];
        if (t < p->lower || t >= p->upper)
            continue;
        c->held[p->row]++;
        if (!is_valid(c, i, t))
            continue;
        size_t other = c->valid[p->row];
        if (other == SIZE_MAX ||
            c->problem->memories[p->memory].cost < c->problem->memories[c->plan->places[other].memory].cost)
            c->valid[p->row] = i;
        if (!is_written_over(c, p->row, t) && !is_there(c, i))
            return blame(c, MASU_MOVES_CLOBBERED, p->row);
    }
    return true;
}

/* At least a valid place, at most two; the operator reads the cheapest and writes the only one. */
static bool use_row(court *c, size_t row, size_t t) {
    const masu_moves_row *r = &c->problem->rows[row];
    if (t < r->lower || t >= r->upper)
        return true;
    if (c->valid[row] == SIZE_MAX)
        return blame(c, MASU_MOVES_NOWHERE, row);
    if (c->held[row] > 2 || (c->held[row] > 1 && c->writes[row] > 0))
        return blame(c, MASU_MOVES_CROWDED, row);
    c->cost += ((uint64_t)c->reads[row] + c->writes[row]) * r->size_bytes *
               c->problem->memories[c->plan->places[c->valid[row]].memory].cost;
    return true;
}

static bool write_rows(court *c, size_t t, bool over) {
    for (size_t i = 0; i < c->plan->place_count; i++) {
        size_t row = c->plan->places[i].row;
        if (c->writes[row] == 0 || !is_valid(c, i, t) || is_written_over(c, row, t) != over)
            continue;
        if (c->has_mate[row] && c->problem->rows[row].lower < t)
            return blame(c, MASU_MOVES_BAD_TAKING, row);
        c->version[c->shown[row]]++;
        write_row(c, i);
        for (size_t k = 0; k < c->plan->place_count;
             k++) /* none is there now; later ones are copies of what was written */
            if (k != i && c->plan->places[k].row == row && c->plan->places[k].lower < t && c->stale[k] > t)
                c->stale[k] = t;
    }
    return true;
}

static bool run_moment(court *c, size_t t) {
    const masu_moves_problem *p = c->problem;
    memset(c->reads, 0, (p->count + 1) * sizeof *c->reads);
    memset(c->writes, 0, (p->count + 1) * sizeof *c->writes);
    for (size_t i = 0; i < p->use_count; i++)
        if (p->uses[i].moment == t) {
            c->reads[p->uses[i].row] += p->uses[i].reads;
            c->writes[p->uses[i].row] += p->uses[i].writes;
        }
    if (!end_moves(c, t) || !are_apart(c, t))
        return false;
    take_saved(c, t);
    begin_rows(c, t, false);
    if (!begin_moves(c, t) || !look_around(c, t) || !takers_are_right(c, t))
        return false;
    for (size_t row = 0; row < p->count; row++)
        if (!use_row(c, row, t))
            return false;
    if (!write_rows(c, t, false))
        return false;
    begin_rows(c, t, true);
    return write_rows(c, t, true);
}

static bool make_memories(court *c) {
    uint64_t all = 0;
    for (size_t i = 0; i < c->plan->place_count; i++) {
        const masu_moves_place *p = &c->plan->places[i];
        uint64_t end = (p->offset + c->problem->rows[p->row].size_bytes) / c->unit;
        if (c->units[p->memory] < end)
            c->units[p->memory] = end;
    }
    for (size_t m = 0; m < c->problem->memory_count; m++)
        all += c->units[m] < (uint64_t)1 << 30 ? c->units[m] : (uint64_t)1 << 30;
    for (size_t m = 0; m < c->problem->memory_count && all <= (uint64_t)1 << 28; m++)
        if (c->units[m] > 0 && !(c->memory[m] = masu__meta_calloc(c->units[m], sizeof(uint64_t))))
            return false;
    return true;
}

static void court_close(court *c) {
    for (size_t m = 0; m < MASU_MOVES_MOST_MEMORIES; m++)
        masu__meta_free(c->memory[m], c->memory[m] ? c->units[m] * sizeof(uint64_t) : 0);
    masu__meta_free(c->version, (c->problem->count + 1) * sizeof *c->version);
    masu__meta_free(c->reads, (c->problem->count + 1) * sizeof *c->reads);
    masu__meta_free(c->writes, (c->problem->count + 1) * sizeof *c->writes);
    masu__meta_free(c->held, (c->problem->count + 1) * sizeof *c->held);
    masu__meta_free(c->valid, (c->problem->count + 1) * sizeof *c->valid);
    masu__meta_free(c->ready, (c->plan->place_count + 1) * sizeof *c->ready);
    masu__meta_free(c->taking, (c->problem->count + 1) * sizeof *c->taking);
    masu__meta_free(c->shown, (c->problem->count + 1) * sizeof *c->shown);
    masu__meta_free(c->has_mate, (c->problem->count + 1) * sizeof *c->has_mate);
    masu__meta_free(c->stale, (c->plan->place_count + 1) * sizeof *c->stale);
}

static masu_status run(court *c) {
    uint64_t all = 0;
    if (!shares_are_right(c) || !places_are_right(c) || !begins_are_right(c) || !moves_are_right(c))
        return MASU_OK;
    c->unit = c->unit ? c->unit : 1;
    if (!make_memories(c))
        return MASU_ERR_OUT_OF_MEMORY;
    for (size_t m = 0; m < c->problem->memory_count; m++)
        all += c->units[m] < (uint64_t)1 << 30 ? c->units[m] : (uint64_t)1 << 30;
    if (all > (uint64_t)1 << 28)
        return MASU_ERR_OVERFLOW;
    for (size_t t = 0; t < c->problem->moment_count; t++)
        if (!run_moment(c, t))
            return MASU_OK;
    if (c->cost != c->plan->cost)
        blame(c, MASU_MOVES_WRONG_COST, 0);
    return MASU_OK;
}

masu_status masu_moves_check(const masu_moves_problem *problem, const masu_moves_plan *plan,
                             masu_moves_verdict *verdict, size_t *row) {
    court c = {.problem = problem, .plan = plan};
    if (masu_moves_validate(problem, NULL) != MASU_MOVES_RIGHT)
        return MASU_ERR_INVALID_ARGUMENT;
    c.version = masu__meta_calloc(problem->count + 1, sizeof *c.version);
    c.reads = masu__meta_calloc(problem->count + 1, sizeof *c.reads);
    c.writes = masu__meta_calloc(problem->count + 1, sizeof *c.writes);
    c.held = masu__meta_calloc(problem->count + 1, sizeof *c.held);
    c.valid = masu__meta_calloc(problem->count + 1, sizeof *c.valid);
    c.ready = masu__meta_calloc(plan->place_count + 1, sizeof *c.ready);
    c.stale = masu__meta_calloc(plan->place_count + 1, sizeof *c.stale);
    c.taking = masu__meta_calloc(problem->count + 1, sizeof *c.taking);
    c.shown = masu__meta_calloc(problem->count + 1, sizeof *c.shown);
    c.has_mate = masu__meta_calloc(problem->count + 1, sizeof *c.has_mate);
    bool enough = c.version && c.reads && c.writes && c.held && c.valid && c.ready && c.stale && c.taking && c.shown &&
                  c.has_mate;
    masu_status status = enough ? run(&c) : MASU_ERR_OUT_OF_MEMORY;
    court_close(&c);
    *verdict = c.verdict;
    if (row)
        *row = c.row;
    return status;
}

const char *masu_moves_verdict_name(masu_moves_verdict verdict) {
    static const char *const names[] = {"FINE", "NOWHERE", "OUTSIDE",   "MISALIGNED", "ELSEWHERE", "BAD_MOVE",
                                        "LATE", "CROWDED", "CLOBBERED", "WRONG_COST", "BAD_TAKING"};
    return (size_t)verdict < sizeof names / sizeof *names ? names[verdict] : "?";
}

/* The cheapest place in which a row's bytes are at a moment; SIZE_MAX: none. */
static size_t memory_at(const masu_moves_problem *problem, const masu_moves_plan *plan, size_t row, size_t t) {
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < plan->place_count; i++) {
        const masu_moves_place *p = &plan->places[i];
        size_t ready = p->lower;
        if (p->row != row || t < p->lower || t >= p->upper)
            continue;
        for (size_t k = 0; k < plan->move_count; k++)
            ready = plan->moves[k].to == i ? plan->moves[k].end : ready;
        if (ready <= t && (best == SIZE_MAX || problem->memories[p->memory].cost < problem->memories[best].cost))
            best = p->memory;
    }
    return best;
}

static bool is_used(const masu_moves_problem *problem, size_t row, size_t t, bool writes) {
    for (size_t u = 0; u < problem->use_count; u++)
        if (problem->uses[u].row == row && problem->uses[u].moment == t &&
            (writes ? problem->uses[u].writes : problem->uses[u].reads) > 0)
            return true;
    return false;
}

/* Beside the judge, for the same reason: a count of its own. */
void masu_moves_traffic(const masu_moves_problem *problem, const masu_moves_plan *plan, uint64_t *from_operators,
                        uint64_t *from_moves) {
    memset(from_operators, 0, problem->memory_count * sizeof *from_operators);
    memset(from_moves, 0, problem->memory_count * sizeof *from_moves);
    for (size_t i = 0; i < plan->move_count; i++) {
        const masu_moves_place *from = &plan->places[plan->moves[i].from], *to = &plan->places[plan->moves[i].to];
        from_moves[from->memory] += problem->rows[from->row].size_bytes;
        from_moves[to->memory] += problem->rows[from->row].size_bytes;
    }
    for (size_t u = 0; u < problem->use_count; u++) {
        const masu_moves_use *use = &problem->uses[u];
        size_t memory = memory_at(problem, plan, use->row, use->moment);
        if (memory != SIZE_MAX)
            from_operators[memory] += problem->rows[use->row].size_bytes * ((uint64_t)use->reads + use->writes);
    }
    for (size_t i = 0; i < problem->share_count; i++) { /* for a view nothing is read and written */
        const masu_moves_share *s = &problem->shares[i];
        size_t t = problem->rows[s->taker].lower, memory = memory_at(problem, plan, s->taker, t);
        if (!is_done(problem, plan, i) || !s->is_view || memory == SIZE_MAX)
            continue;
        from_operators[memory] -= problem->rows[s->giver].size_bytes * ((uint64_t)is_used(problem, s->giver, t, false) +
                                                                        is_used(problem, s->taker, t, true));
    }
}
