/* moves_judge.c: the judge of plans with moves. It has the bytes of each memory before it and runs the plan: operators
 * write a row's own pattern and look whether they read it, moves copy. It shares no code with the planner.
 *
 * A move may copy each byte at any time from its begin to its end. So its target holds nonsense from the beginning
 * until the end, and its source must be right at both.
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
        if (c->ready[i] != SIZE_MAX && place->lower != row->lower)
            return blame(c, MASU_MOVES_NOWHERE, place->row);
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
                a->offset < b->offset + c->problem->rows[b->row].size_bytes &&
                b->offset < a->offset + c->problem->rows[a->row].size_bytes)
                return blame(c, MASU_MOVES_CLOBBERED, a->row);
        }
    }
    return true;
}

/* ---- one moment after the other -------------------------------------------------------------------------- */

/* Rows that are born: what makes them has written them before anything reads them. */
static void begin_rows(court *c, size_t t) {
    for (size_t i = 0; i < c->plan->place_count; i++)
        if (c->plan->places[i].lower == t && c->ready[i] == t && c->problem->rows[c->plan->places[i].row].lower == t)
            write_row(c, i);
}

/* What the places say of each row now: how many are held, and the cheapest valid one. */
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
        if (!is_there(c, i))
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

static bool write_rows(court *c, size_t t) {
    for (size_t i = 0; i < c->plan->place_count; i++) {
        size_t row = c->plan->places[i].row;
        if (c->writes[row] == 0 || !is_valid(c, i, t))
            continue;
        c->version[row]++;
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
    begin_rows(c, t);
    if (!begin_moves(c, t) || !look_around(c, t))
        return false;
    for (size_t row = 0; row < p->count; row++)
        if (!use_row(c, row, t))
            return false;
    return write_rows(c, t);
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
    masu__meta_free(c->stale, (c->plan->place_count + 1) * sizeof *c->stale);
}

static masu_status run(court *c) {
    uint64_t all = 0;
    if (!places_are_right(c) || !begins_are_right(c) || !moves_are_right(c))
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
    masu_status status = c.version && c.reads && c.writes && c.held && c.valid && c.ready && c.stale
                             ? run(&c)
                             : MASU_ERR_OUT_OF_MEMORY;
    court_close(&c);
    *verdict = c.verdict;
    if (row)
        *row = c.row;
    return status;
}

const char *masu_moves_verdict_name(masu_moves_verdict verdict) {
    static const char *const names[] = {"FINE",     "NOWHERE", "OUTSIDE", "MISALIGNED", "ELSEWHERE",
                                        "BAD_MOVE", "LATE",    "CROWDED", "CLOBBERED",  "WRONG_COST"};
    return (size_t)verdict < sizeof names / sizeof *names ? names[verdict] : "?";
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
        size_t best = SIZE_MAX;
        for (size_t i = 0; i < plan->place_count; i++) {
            const masu_moves_place *p = &plan->places[i];
            size_t ready = p->lower;
            if (p->row != use->row || use->moment < p->lower || use->moment >= p->upper)
                continue;
            for (size_t k = 0; k < plan->move_count; k++)
                ready = plan->moves[k].to == i ? plan->moves[k].end : ready;
            if (ready <= use->moment && (best == SIZE_MAX || problem->memories[p->memory].cost <
                                                                 problem->memories[plan->places[best].memory].cost))
                best = i;
        }
        if (best != SIZE_MAX)
            from_operators[plan->places[best].memory] += problem->rows[use->row].size_bytes *
                                                         ((uint64_t)use->reads + use->writes);
    }
}
