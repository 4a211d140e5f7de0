/* judge_sweep.c: many plain rows, judged as time passes. See judge_sweep.h. */
#include "planner/judge_sweep.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

typedef struct placed {
    uint64_t offset;
    size_t row;
} placed;

typedef struct event {
    int64_t moment;
    size_t rank; /* in by_offset */
    bool birth;
} event;

enum { BITS = 64, MOST_LEVELS = 11 };

typedef struct sweep {
    const masu_plan_row *rows;
    placed *by_offset; /* [count] */
    event *events;     /* [2 × count] by moment, deaths first */
    size_t count;
    uint64_t *live[MOST_LEVELS]; /* a bit a rank; above, a bit a word that is not 0 */
    size_t words[MOST_LEVELS], levels;
    masu__arena arena; /* owns the arrays */
} sweep;

#define NEW(s, type, count) ((type *)masu__arena_calloc(&(s)->arena, (size_t)(count) + 1, sizeof(type), _Alignof(type)))

/* ---- what lives, by offset ------------------------------------------------------------------- */

static void live_add(sweep *s, size_t rank) {
    for (size_t l = 0; l < s->levels; l++, rank /= BITS)
        s->live[l][rank / BITS] |= UINT64_C(1) << rank % BITS;
}

static void live_remove(sweep *s, size_t rank) {
    for (size_t l = 0; l < s->levels; l++, rank /= BITS) {
        s->live[l][rank / BITS] &= ~(UINT64_C(1) << rank % BITS);
        if (s->live[l][rank / BITS] != 0)
            return;
    }
}

/* SIZE_MAX: there is none. */
static size_t live_above(const sweep *s, size_t rank) {
    for (size_t l = 0; l < s->levels; l++, rank /= BITS) {
        uint64_t above = s->live[l][rank / BITS] & ~UINT64_C(1) << rank % BITS;
        if (above == 0)
            continue;
        for (rank = rank / BITS * BITS + (size_t)__builtin_ctzll(above); l > 0;)
            rank = rank * BITS + (size_t)__builtin_ctzll(s->live[--l][rank]);
        return rank;
    }
    return SIZE_MAX;
}

static size_t live_below(const sweep *s, size_t rank) {
    for (size_t l = 0; l < s->levels; l++, rank /= BITS) {
        uint64_t below = s->live[l][rank / BITS] & ((UINT64_C(1) << rank % BITS) - 1);
        if (below == 0)
            continue;
        for (rank = rank / BITS * BITS + BITS - 1 - (size_t)__builtin_clzll(below); l > 0;)
            rank = rank * BITS + BITS - 1 - (size_t)__builtin_clzll(s->live[--l][rank]);
        return rank;
    }
    return SIZE_MAX;
}

/* ---- set-up ---------------------------------------------------------------------------------- */

static int compare_offsets(const void *a, const void *b) {
    const placed *x = a, *y = b;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static int compare_moments(const void *a, const void *b) {
    const event *x = a, *y = b;
    if (x->moment != y->moment)
        return x->moment < y->moment ? -1 : 1;
    if (x->birth != y->birth)
        return x->birth ? 1 : -1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static bool keeps_bytes(const masu_plan_row *row) {
    return row->size_bytes > 0 && row->lower < row->upper;
}

/* Each level has a bit for each word of the one below it; the last is one word. */
static bool open_levels(sweep *s) {
    size_t bits = s->count;
    do {
        size_t words = bits / BITS + 1;
        s->live[s->levels] = NEW(s, uint64_t, words);
        s->words[s->levels] = bits = words;
        if (!s->live[s->levels++])
            return false;
    } while (bits > 1);
    return true;
}

static bool sweep_open(sweep *s, const uint64_t *offsets, const bool *odd, size_t count) {
    s->by_offset = NEW(s, placed, count);
    s->events = NEW(s, event, 2 * count);
    if (!s->by_offset || !s->events)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!odd[i] && keeps_bytes(&s->rows[i]))
            s->by_offset[s->count++] = (placed){offsets[i], i};
    qsort(s->by_offset, s->count, sizeof *s->by_offset, compare_offsets);
    for (size_t k = 0; k < s->count; k++) {
        const masu_plan_row *row = &s->rows[s->by_offset[k].row];
        s->events[2 * k] = (event){row->lower, k, true};
        s->events[2 * k + 1] = (event){row->upper, k, false};
    }
    qsort(s->events, 2 * s->count, sizeof *s->events, compare_moments);
    return open_levels(s);
}

/* ---- the sweep ------------------------------------------------------------------------------- */

static uint64_t end_of(const sweep *s, size_t rank) {
    return s->by_offset[rank].offset + s->rows[s->by_offset[rank].row].size_bytes;
}

static bool lies_on_a_neighbour(const sweep *s, size_t rank) {
    size_t above = live_above(s, rank), below = live_below(s, rank);
    return (above != SIZE_MAX && s->by_offset[above].offset < end_of(s, rank)) ||
           (below != SIZE_MAX && end_of(s, below) > s->by_offset[rank].offset);
}

/* Whether two of the first so many rows collide. */
static bool two_collide(sweep *s, size_t first_rows) {
    for (size_t l = 0; l < s->levels; l++)
        memset(s->live[l], 0, s->words[l] * sizeof *s->live[l]);
    for (size_t e = 0; e < 2 * s->count; e++) {
        size_t rank = s->events[e].rank;
        if (s->by_offset[rank].row >= first_rows)
            continue;
        if (!s->events[e].birth)
            live_remove(s, rank);
        else if (lies_on_a_neighbour(s, rank))
            return true;
        else
            live_add(s, rank);
    }
    return false;
}

bool masu__judge_first_on_another(const masu_plan_row *rows, const uint64_t *offsets, const bool *odd, size_t count,
                                  size_t *out_row) {
    sweep s = {.rows = rows};
    bool opened = sweep_open(&s, offsets, odd, count);
    size_t apart = 0,
           together = count + 1; /* of the first `apart` none collide; of `together` two do, or there are fewer */
    if (opened && !two_collide(&s, count))
        apart = count;
    while (opened && together - apart > 1) {
        size_t middle = apart + (together - apart) / 2;
        if (two_collide(&s, middle))
            together = middle;
        else
            apart = middle;
    }
    *out_row = apart;
    masu__arena_destroy(&s.arena);
    return opened;
}
