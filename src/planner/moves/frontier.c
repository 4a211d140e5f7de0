/* frontier.c: all rows at once, moment after moment. What the past means for the future is only where the rows that
 * live now are: of two pasts with the same present the cheaper one stays. Networks have few tensors alive at a time, so
 * that this is exact where it is not cut short; where presents are too many, the most promising stay and the rest is
 * counted in the bound.
 *
 *     present: a code for each row that lives now = state | move under way and how long still
 *
 *     cost so far  +  value of each row's code (with prices)  +  best values of rows not yet born
 *                  −  price × capacity still to come
 *
 * is below the cost of every way to go on. Moves last as long as the channel needs for them alone: several at once may
 * be too many for it, so that what is found is a bound and, where the channel can, a plan.
 */
#include <stdlib.h>
#include <string.h>

#include "base/meta.h"
#include "planner/moves/courses.h"

typedef __int128 wide;

enum {
    MOST_ALIVE = 48,
    MOST_PRESENTS = 20000,
    MOST_KEPT = 400000,
    MOST_STEPS = 1 << 19,
    ALL_STEPS = 1 << 22,
    FEW_STEPS = 1 << 20
};

/* Settled in a state, or on the way from one memory to another for `left` more moments, this one included. */
typedef struct code {
    uint8_t state, from, to;
    uint8_t used; /* which copies served during this moment, by place in the state: these may go */
    uint16_t left;
} code;

typedef struct present {
    int64_t cost; /* so far, this moment not counted, in parts */
    uint32_t parent;
    uint32_t codes; /* where they are in the layer */
    wide total;     /* no way to go on costs less */
} present;

typedef struct layer {
    present *all;
    code *codes;
    uint32_t count, room, code_room, width; /* width: rows that live */
    uint32_t *rows;
} layer;

typedef struct front {
    masu__moves *m;
    uint32_t most;
    wide goal;        /* nothing above it is of use */
    wide dropped;     /* the least total that was left out */
    int64_t *least;   /* per moment: what the operators from it on cost at least, each for itself */
    wide *rest;       /* per moment: rows born later, less price × capacity from this moment on */
    int64_t **values; /* per row: value by moment and state */
    int64_t **finish; /* per row: the channel's, for its size */
    layer *layers;
    uint32_t *slots;
    uint32_t slot_count;
    uint64_t steps, most_steps; /* at this moment */
    /* of the present that is being followed */
    const layer *now;
    layer *next;
    const present *from;
    uint32_t parent;
    code chosen[MOST_ALIVE];
    int64_t spare[MASU_MOVES_MOST_MEMORIES];
    const uint32_t *before; /* per row of next: its place in now, or UINT32_MAX */
    uint32_t t;             /* of next */
} front;

/* ---- one row ---------------------------------------------------------------------------------------------- */

static int64_t held(const masu__moves *m, uint8_t memory, uint32_t from, uint32_t to) {
    return m->before[memory][to] - m->before[memory][from];
}

static int64_t settled(const front *f, uint32_t row, uint32_t t, uint8_t state) {
    const masu_moves_row *r = &f->m->problem->rows[row];
    return t == r->upper ? 0 : f->values[row][(size_t)(t - r->lower) * f->m->state_count + state];
}

/* The cost still to come for a code, this moment included, with prices; per byte. */
static int64_t value_of(const front *f, uint32_t row, uint32_t t, const code *c) {
    if (c->left == 0)
        return settled(f, row, t, c->state);
    masu__moves *m = f->m;
    uint32_t end = t + c->left;
    int64_t value = held(m, c->from, t, end) + held(m, c->to, t, end), best = MASU__MOVES_NEVER;
    for (uint32_t u = t; u < end; u++)
        value += masu__course_use(m, row, u, c->from); /* the state of one memory has its number */
    uint8_t parts[] = {c->state, c->from, c->to};
    for (int k = 0; k < 3; k++)
        if (settled(f, row, end, parts[k]) < best)
            best = settled(f, row, end, parts[k]);
    return best >= MASU__MOVES_NEVER ? MASU__MOVES_NEVER : value + best;
}

static uint8_t serves(const masu__moves *m, uint32_t row, uint32_t t, const code *c) {
    size_t at = m->at[row] + t - m->problem->rows[row].lower;
    if (c->left > 0)
        return 0;
    return m->reads[at] + m->writes[at] == 0                               ? 0
           : m->states[c->state].cheapest == m->states[c->state].memory[0] ? 1
                                                                           : 2;
}

static bool is_written(const masu__moves *m, uint32_t row, uint32_t from, uint32_t to) {
    for (uint32_t u = from; u < to; u++)
        if (m->single[m->at[row] + u - m->problem->rows[row].lower])
            return true;
    return false;
}

/* ---- layers ------------------------------------------------------------------------------------------------- */

static bool layer_open(front *f, uint32_t t) {
    const masu_moves_problem *p = f->m->problem;
    layer *l = &f->layers[t];
    for (size_t i = 0; i < p->count; i++)
        l->width += p->rows[i].lower <= t && t < p->rows[i].upper;
    l->rows = MASU_ARENA_ARRAY(&f->m->arena, uint32_t, l->width + 1);
    for (size_t i = 0, at = 0; l->rows && i < p->count; i++)
        if (p->rows[i].lower <= t && t < p->rows[i].upper)
            l->rows[at++] = (uint32_t)i;
    return l->rows != NULL;
}

static void layer_close(layer *l) {
    masu__meta_free(l->all, l->room * sizeof *l->all);
    masu__meta_free(l->codes, l->code_room * (l->width + 1) * sizeof *l->codes);
}

static bool layer_grow(layer *l) {
    uint32_t room = l->room ? 2 * l->room : 64;
    size_t one = (l->width + 1) * sizeof *l->codes;
    present *all = masu__meta_realloc(l->all, l->room * sizeof *all, room * sizeof *all);
    if (!all)
        return false;
    l->all = all;
    l->room = room;
    code *codes = masu__meta_realloc(l->codes, l->code_room * one, room * one);
    if (!codes)
        return false;
    l->codes = codes;
    l->code_room = room;
    return true;
}

static size_t hash(const code *codes, uint32_t width) {
    const unsigned char *bytes = (const unsigned char *)codes;
    uint64_t x = 1469598103934665603u;
    for (size_t i = 0; i < width * sizeof *codes; i++)
        x = (x ^ bytes[i]) * 1099511628211u;
    return (size_t)(x ^ x >> 32);
}

static bool slots_grow(front *f, const layer *l) {
    uint32_t count = f->slot_count ? 2 * f->slot_count : 1024;
    uint32_t *slots = masu__meta_calloc(count, sizeof *slots);
    if (!slots)
        return false;
    masu__meta_free(f->slots, f->slot_count * sizeof *slots);
    f->slots = slots;
    f->slot_count = count;
    for (uint32_t i = 0; i < l->count; i++) {
        size_t s = hash(l->codes + (size_t)i * l->width, l->width) & (count - 1);
        while (slots[s])
            s = (s + 1) & (count - 1);
        slots[s] = i + 1;
    }
    return true;
}

/* The cost of a moment with these codes, without prices. */
static int64_t uses_of(const masu__moves *m, const layer *l, const code *codes, uint32_t t) {
    int64_t cost = 0;
    for (uint32_t i = 0; i < l->width; i++)
        cost += masu__course_use(m, l->rows[i], t, codes[i].left ? codes[i].from : codes[i].state) *
                masu__moves_size(m, l->rows[i]);
    return cost;
}

static const code *codes_of(const layer *l, const present *p) {
    return l->codes + (size_t)p->codes * l->width;
}

/* The cheaper of two pasts stays. */
static void offer(front *f, int64_t cost, wide total) {
    layer *l = f->next;
    wide other = (wide)cost + uses_of(f->m, l, f->chosen, f->t) + f->least[f->t + 1];
    total = other > total ? other : total;
    if (total > f->goal)
        return;
    if (2 * (l->count + 1) > f->slot_count && !slots_grow(f, l)) {
        f->m->out_of_memory = true;
        return;
    }
    size_t bytes = l->width * sizeof(code), s = hash(f->chosen, l->width) & (f->slot_count - 1);
    for (; f->slots[s]; s = (s + 1) & (f->slot_count - 1)) {
        present *old = &l->all[f->slots[s] - 1];
        if (memcmp(l->codes + (size_t)(f->slots[s] - 1) * l->width, f->chosen, bytes) != 0)
            continue;
        if (cost < old->cost)
            *old = (present){cost, f->parent, old->codes, total};
        return;
    }
    if (l->count == l->code_room && !layer_grow(l)) {
        f->m->out_of_memory = true;
        return;
    }
    if (bytes > 0)
        memcpy(l->codes + (size_t)l->count * l->width, f->chosen, bytes);
    l->all[l->count] = (present){cost, f->parent, l->count, total};
    f->slots[s] = ++l->count;
}

static int by_total(const void *a, const void *b) {
    const present *x = a, *y = b;
    if (x->total != y->total)
        return x->total < y->total ? -1 : 1;
    return (x->codes > y->codes) - (x->codes < y->codes);
}

/* The most promising stay. */
static void thin_out(front *f, layer *l) {
    if (l->count > 0)
        qsort(l->all, l->count, sizeof *l->all, by_total);
    if (l->count <= f->most)
        return;
    if (l->all[f->most].total < f->dropped)
        f->dropped = l->all[f->most].total;
    l->count = f->most;
}

/* ---- from one present to the next ------------------------------------------------------------------------------ */

static void choose(front *f, uint32_t at, int64_t cost, wide total);

/* One row has this code at the moment of next: does it fit, and is there hope? cost: what it pays on the way. */
static void with_code(front *f, uint32_t at, code c, int64_t paid, int64_t cost, wide total) {
    masu__moves *m = f->m;
    uint32_t row = f->next->rows[at];
    int64_t size = masu__moves_size(m, row), value = value_of(f, row, f->t, &c);
    uint8_t a = c.left ? c.from : m->states[c.state].memory[0], b = c.left ? c.to : m->states[c.state].memory[1];
    if (value >= MASU__MOVES_NEVER || (f->spare[a] < size) || (b != MASU__MOVES_NONE && f->spare[b] < size))
        return;
    total += (wide)(value + paid) * size;
    if (total > f->goal)
        return;
    c.used = serves(m, row, f->t, &c);
    f->chosen[at] = c;
    f->spare[a] -= m->limit[a] == INT64_MAX ? 0 : size;
    if (b != MASU__MOVES_NONE)
        f->spare[b] -= m->limit[b] == INT64_MAX ? 0 : size;
    choose(f, at + 1, cost + paid * size, total);
    f->spare[a] += m->limit[a] == INT64_MAX ? 0 : size;
    if (b != MASU__MOVES_NONE)
        f->spare[b] += m->limit[b] == INT64_MAX ? 0 : size;
}

/* Moves that begin now from the one memory of the state. */
static void with_moves(front *f, uint32_t at, uint8_t state, int64_t cost, wide total) {
    masu__moves *m = f->m;
    uint32_t row = f->next->rows[at];
    const masu_moves_row *r = &m->problem->rows[row];
    int64_t end = f->finish[row][f->t - r->lower];
    if (r->only != MASU_MOVES_ANY || m->stays || end >= (int64_t)r->upper || end - f->t > UINT16_MAX ||
        is_written(m, row, f->t, (uint32_t)end))
        return;
    for (uint8_t to = 0; to < m->memory_count; to++)
        if (to != state && masu__course_may(m, row, m->state_of[state][to], false))
            with_code(f, at,
                      (code){.state = m->state_of[state][to], .from = state, .to = to, .left = (uint16_t)(end - f->t)},
                      masu__course_move_cost(m, state, to), cost, total);
}

static void with_state(front *f, uint32_t at, uint8_t state, int64_t cost, wide total) {
    const masu__state *s = &f->m->states[state];
    with_code(f, at, (code){.state = state, .from = MASU__MOVES_NONE, .to = MASU__MOVES_NONE}, 0, cost, total);
    if (s->memory[1] == MASU__MOVES_NONE)
        with_moves(f, at, state, cost, total);
}

static void choose(front *f, uint32_t at, int64_t cost, wide total) {
    masu__moves *m = f->m;
    if (m->out_of_memory || ++f->steps > f->most_steps)
        return;
    if (at == f->next->width) {
        offer(f, cost, total);
        return;
    }
    uint32_t row = f->next->rows[at];
    if (f->before[at] == UINT32_MAX) {
        for (uint8_t s = 0; s < m->memory_count; s++)
            if (masu__course_may(m, row, s, true))
                with_state(f, at, s, cost, total);
        return;
    }
    code was = f->now->codes[(size_t)f->from->codes * f->now->width + f->before[at]];
    if (was.left > 1) {
        was.left--;
        with_code(f, at, was, 0, cost, total);
        return;
    }
    const masu__state *s = &m->states[was.state];
    bool arrived = was.left == 1;
    with_state(f, at, was.state, cost, total);
    if (arrived)
        with_state(f, at, was.to, cost, total);
    for (int k = 0; k < 2 && !arrived && s->without[k] != MASU__MOVES_NONE; k++)
        if (was.used & (1 << k)) /* memory[k] goes after it has served */
            with_state(f, at, s->without[k], cost, total);
}

static bool step(front *f, uint32_t t) {
    masu__moves *m = f->m;
    static const layer nothing = {0};
    f->now = t > 0 ? &f->layers[t - 1] : &nothing;
    f->next = &f->layers[t];
    f->t = t;
    if (f->next->width > MOST_ALIVE) {
        f->dropped = -1;
        return true;
    }
    uint32_t before[MOST_ALIVE];
    for (uint32_t i = 0, k = 0; i < f->next->width; i++) {
        while (k < f->now->width && f->now->rows[k] < f->next->rows[i])
            k++;
        before[i] = k < f->now->width && f->now->rows[k] == f->next->rows[i] ? k : UINT32_MAX;
    }
    f->before = before;
    if (f->slots)
        memset(f->slots, 0, f->slot_count * sizeof *f->slots);
    memset(f->chosen, 0, sizeof f->chosen);
    memcpy(f->spare, m->limit, sizeof f->spare);
    present first = {.parent = UINT32_MAX};
    for (uint32_t i = 0; i < (t > 0 ? f->now->count : 1); i++) {
        f->from = t > 0 ? &f->now->all[i] : &first;
        f->parent = i;
        int64_t cost = f->from->cost + (t > 0 ? uses_of(m, f->now, codes_of(f->now, f->from), t - 1) : 0);
        choose(f, 0, cost, cost + f->rest[t]);
        if (f->steps <= f->most_steps && (i % 256 != 255 || !masu__moves_late(m)))
            continue;
        wide left_out = t > 0 ? f->from->total : -1; /* what follows from it and the later ones costs no less */
        f->dropped = left_out < f->dropped ? left_out : f->dropped;
        break;
    }
    thin_out(f, f->next);
    return !m->out_of_memory;
}

/* ---- all moments ------------------------------------------------------------------------------------------------- */

static bool values_open(front *f) {
    masu__moves *m = f->m;
    size_t count = m->problem->count;
    f->values = MASU_ARENA_ARRAY(&m->arena, int64_t *, count + 1);
    f->finish = MASU_ARENA_ARRAY(&m->arena, int64_t *, count + 1);
    f->rest = MASU_ARENA_ARRAY(&m->arena, wide, m->moments + 2);
    f->least = MASU_ARENA_ARRAY(&m->arena, int64_t, m->moments + 2);
    f->layers = MASU_ARENA_ARRAY(&m->arena, layer, m->moments + 1);
    if (!f->values || !f->finish || !f->rest || !f->layers || !f->least)
        return false;
    for (uint32_t t = m->moments; t-- > 0;) {
        if (!layer_open(f, t))
            return false;
        f->least[t] = f->least[t + 1] + masu__moment_least(m, t, f->layers[t].rows, f->layers[t].width);
    }
    for (size_t i = 0; i < count; i++) {
        const masu_moves_row *r = &m->problem->rows[i];
        masu__ask ask = {i, false, MASU__MOVES_PRICE_ONE};
        size_t length = r->upper - r->lower;
        int64_t best = masu__course_value(m, &ask);
        f->values[i] = masu__arena_alloc(&m->arena, length * m->state_count * sizeof **f->values, 16);
        f->finish[i] = masu__arena_alloc(&m->arena, length * sizeof **f->finish, 16);
        if (!f->values[i] || !f->finish[i])
            return false;
        memcpy(f->values[i], m->value, length * m->state_count * sizeof **f->values);
        memcpy(f->finish[i], m->finish + r->lower, length * sizeof **f->finish);
        for (uint32_t t = 0; t < r->lower; t++)
            f->rest[t] += best >= MASU__MOVES_NEVER ? 0 : (wide)best * (int64_t)r->size_bytes;
    }
    for (uint8_t k = 0; k < m->memory_count; k++)
        for (uint32_t t = 0; m->limit[k] != INT64_MAX && t <= m->moments; t++)
            f->rest[t] -= (wide)held(m, k, t, m->moments) * m->limit[k];
    return true;
}

/* Each row's path, from the codes of its moments. */
static bool take_row(front *f, const uint32_t *chain, size_t row) {
    masu__moves *m = f->m;
    const masu_moves_row *r = &m->problem->rows[row];
    masu__walk walk;
    unsigned was_left = 0;
    for (uint32_t t = (uint32_t)r->lower; t < r->upper; t++) {
        const layer *l = &f->layers[t];
        uint32_t at = 0;
        while (l->rows[at] != row)
            at++;
        const code *c = &l->codes[(size_t)l->all[chain[t]].codes * l->width + at];
        uint8_t settles = c->left ? c->from : c->state;
        if (t == r->lower && !masu__walk_begin(m, &m->courses[row], t, settles, &walk))
            return false;
        bool begins = c->left > 0 && (t == r->lower || was_left != c->left + 1u);
        was_left = c->left;
        masu__step drop = {t, c->left ? (begins ? c->from : walk.state) : c->state, MASU__MOVES_NONE, MASU__MOVES_NONE};
        if (t > r->lower && !masu__walk_step(m, &walk, t, &drop))
            return false;
        if (begins) {
            masu__step move = {t + c->left, c->state, c->from, c->to};
            if (!masu__walk_step(m, &walk, t, &move))
                return false;
        }
    }
    masu__walk_end(&walk, m, (uint32_t)r->upper);
    m->courses[row].cost = masu__course_cost(m, row, &m->courses[row]);
    return true;
}

static bool take_courses(front *f, uint32_t last) {
    masu__moves *m = f->m;
    uint32_t *chain = MASU_ARENA_ARRAY(&m->arena, uint32_t, m->moments + 1);
    if (!chain)
        return false;
    for (uint32_t t = m->moments; t-- > 0;) {
        chain[t] = last;
        last = f->layers[t].all[last].parent;
    }
    for (size_t row = 0; row < m->problem->count; row++)
        if (!take_row(f, chain, row))
            return false;
    return true;
}

bool masu__moves_frontier(masu__moves *m, uint32_t most, uint32_t effort, int64_t cost, int64_t *bound, bool *found) {
    masu__arena_mark mark = masu__arena_get_mark(&m->arena);
    front f = {.m = m, .goal = cost == INT64_MAX ? (wide)MASU__MOVES_NEVER : (wide)(cost - 1) * MASU__MOVES_PRICE_ONE};
    f.dropped = f.goal + MASU__MOVES_PRICE_ONE;
    uint64_t share = (uint64_t)effort * MOST_KEPT / (m->moments ? m->moments : 1);
    f.most = most && most < share             ? most
             : share < effort * MOST_PRESENTS ? (uint32_t)share + 1
                                              : effort * MOST_PRESENTS;
    uint64_t steps = effort * (most > 0 ? FEW_STEPS : ALL_STEPS), each = steps / (m->moments ? m->moments : 1) + 1;
    f.most_steps = each < effort * MOST_STEPS ? each : effort * MOST_STEPS;
    bool right = values_open(&f);
    *found = false;
    uint32_t t = 0;
    for (; right && t < m->moments; t++) {
        f.steps = 0;
        right = step(&f, t);
        if (f.layers[t].count == 0 || f.dropped < 0)
            break;
    }
    wide least = f.dropped;
    if (right && f.least[0] > least)
        least = f.least[0];
    if (right && t == m->moments && t > 0) {
        uint32_t best = 0;
        int64_t best_cost = INT64_MAX;
        for (uint32_t i = 0; i < f.layers[t - 1].count; i++) {
            int64_t whole = f.layers[t - 1].all[i].cost +
                            uses_of(m, &f.layers[t - 1], codes_of(&f.layers[t - 1], &f.layers[t - 1].all[i]), t - 1);
            best = whole < best_cost ? i : best;
            best_cost = whole < best_cost ? whole : best_cost;
        }
        least = best_cost < least ? best_cost : least;
        right = take_courses(&f, best);
        *found = right;
    }
    if (right && least > 0 && least < (wide)MASU__MOVES_NEVER) {
        int64_t proven = (int64_t)((least + MASU__MOVES_PRICE_ONE - 1) / MASU__MOVES_PRICE_ONE);
        *bound = proven > *bound ? proven : *bound;
    }
    for (uint32_t i = 0; f.layers && i < m->moments; i++)
        layer_close(&f.layers[i]);
    masu__meta_free(f.slots, f.slot_count * sizeof *f.slots);
    masu__arena_release(&m->arena, mark);
    m->out_of_memory |= !right;
    return right;
}
