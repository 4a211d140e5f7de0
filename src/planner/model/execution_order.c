/* execution_order.c: lives from an order of execution, and an order with a low peak.
 *
 * Beam search: a state is the set of operators that have run; only its sum of live bytes and the
 * largest sum so far matter, so of two ways into the same set the one with the lower peak stays.
 * Each step runs one more operator in every state and keeps the `width` best: by peak, then by live
 * bytes. With a width above the number of sets it is exact.
 */
#include <masu/plan.h>

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/size.h"

/* ---- lives ----------------------------------------------------------------------------------- */

static bool graph_fits(const masu_plan_graph *graph, size_t count) {
    for (size_t k = 0; k < graph->count; k++) {
        const masu_plan_operator *op = &graph->operators[k];
        for (size_t i = 0; i < op->input_count; i++)
            if (op->inputs[i] >= count)
                return false;
        for (size_t i = 0; i < op->output_count; i++)
            if (op->outputs[i] >= count)
                return false;
    }
    return true;
}

/* Positions in the order as it is: where a row is made (0: nowhere) and last read. */
static void find_uses(const masu_plan_graph *graph, const size_t *order, size_t count, int64_t *made, int64_t *read) {
    for (size_t i = 0; i < count; i++)
        made[i] = read[i] = -1;
    for (size_t k = 0; k < graph->count; k++) {
        const masu_plan_operator *op = &graph->operators[order ? order[k] : k];
        for (size_t i = 0; i < op->output_count; i++)
            if (made[op->outputs[i]] < 0)
                made[op->outputs[i]] = (int64_t)k;
        for (size_t i = 0; i < op->input_count; i++)
            read[op->inputs[i]] = (int64_t)k;
        for (size_t i = 0; i < op->output_count; i++)
            if (read[op->outputs[i]] < (int64_t)k)
                read[op->outputs[i]] = (int64_t)k;
    }
}

typedef struct keeping {
    bool from_begin, to_end;
} keeping;

/* Lives beyond the operators, as the file says. A row that nothing reads, or that lives when the last operator
 * has run is a result: whatever runs last, it is there then. */
static keeping keeping_of(const masu_plan_row *row, int64_t made, int64_t read, bool is_read, size_t operators) {
    bool result = !is_read && row->upper >= (int64_t)operators;
    return (keeping){made < 0 || row->lower < made, read < 0 || result || row->upper > read + 1};
}

static void find_read(const masu_plan_graph *graph, bool *is_read) {
    for (size_t k = 0; k < graph->count; k++)
        for (size_t i = 0; i < graph->operators[k].input_count; i++)
            is_read[graph->operators[k].inputs[i]] = true;
}

masu_status masu_plan_graph_lives(const masu_plan_graph *graph, const size_t *order, const masu_plan_row *rows,
                                  size_t count, masu_plan_row *out) {
    masu__arena arena = {0};
    int64_t *uses = MASU_ARENA_ARRAY(&arena, int64_t, 4 * count + 1);
    if (!graph_fits(graph, count)) {
        masu__arena_destroy(&arena);
        return MASU_ERR_INVALID_ARGUMENT;
    }
    bool *is_read = MASU_ARENA_ARRAY(&arena, bool, count + 1);
    if (!uses || !is_read) {
        masu__arena_destroy(&arena);
        return MASU_ERR_OUT_OF_MEMORY;
    }
    find_read(graph, is_read);
    find_uses(graph, NULL, count, uses, uses + count);
    find_uses(graph, order, count, uses + 2 * count, uses + 3 * count);
    for (size_t i = 0; i < count; i++) {
        keeping keep = keeping_of(&rows[i], uses[i], uses[count + i], is_read[i], graph->count);
        int64_t made = uses[2 * count + i], read = uses[3 * count + i];
        bool unused = uses[i] < 0 && uses[count + i] < 0;
        out[i] = rows[i];
        if (unused)
            continue; /* no operator knows it: it lives as it did */
        out[i].lower = keep.from_begin ? 0 : made;
        out[i].upper = keep.to_end ? (int64_t)graph->count : read + 1;
        out[i].gaps = NULL; /* gaps belong to the old order */
        out[i].gap_count = 0;
    }
    masu__arena_destroy(&arena);
    return MASU_OK;
}

/* ---- the beam -------------------------------------------------------------------------------- */

typedef struct state {
    uint64_t hash, peak, live;
    uint32_t parent, op; /* in the layer before */
    uint64_t *done;      /* a bit for each operator */
    uint32_t *pending;   /* per row: readers that have not run */
} state;

typedef struct step {
    uint32_t parent, op;
} step;

typedef struct beam {
    const masu_plan_graph *graph;
    const masu_plan_row *rows;
    size_t count, words, width;
    bool *kept;         /* rows that never die */
    bool *early;        /* rows that live from the beginning */
    uint64_t *others;   /* per place in the order: bytes of rows that no operator knows */
    uint64_t *needs;    /* per operator: bits of the operators it waits for */
    uint64_t *keys;     /* per operator: a random number; a set's hash is their exclusive or */
    state *now, *other; /* [width]: the present layer, and room for the coming one */
    state *next;        /* [next_room]: everything that could come */
    size_t now_count, next_count, next_room;
    step *steps; /* [operators][width] */
    masu__arena arena;
} beam;

static uint64_t mix(uint64_t x) {
    x += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

static bool bit(const uint64_t *set, size_t i) {
    return set[i / 64] >> (i % 64) & 1;
}

/* The operators that make what each reads. False: made later, or made twice: which of the two a reader means, an
 * order alone cannot say. */
static bool find_needs(beam *b) {
    uint32_t *maker = MASU_ARENA_ARRAY(&b->arena, uint32_t, b->count + 1);
    if (!maker)
        return false;
    for (size_t k = 0; k < b->graph->count; k++)
        for (size_t i = 0; i < b->graph->operators[k].output_count; i++) {
            uint32_t *made_by = &maker[b->graph->operators[k].outputs[i]];
            if (*made_by != 0 && *made_by != k + 1)
                return false;
            *made_by = (uint32_t)k + 1;
        }
    for (size_t k = 0; k < b->graph->count; k++) {
        const masu_plan_operator *op = &b->graph->operators[k];
        for (size_t i = 0; i < op->input_count; i++) {
            uint32_t made = maker[op->inputs[i]];
            if (made > k + 1)
                return false;
            if (made > 0 && made != k + 1)
                b->needs[k * b->words + (made - 1) / 64] |= UINT64_C(1) << ((made - 1) % 64);
        }
    }
    return true;
}

static bool state_sets(beam *b, state *states) {
    for (size_t i = 0; i < b->width; i++) {
        states[i].done = MASU_ARENA_ARRAY(&b->arena, uint64_t, b->words);
        states[i].pending = MASU_ARENA_ARRAY(&b->arena, uint32_t, b->count + 1);
        if (!states[i].done || !states[i].pending)
            return false;
    }
    return true;
}

/* No operator knows the row: it lives as it did, whatever runs then. */
static void add_other(beam *b, const masu_plan_row *row) {
    for (size_t k = 0; k < b->graph->count; k++)
        if (row->lower <= (int64_t)k && (int64_t)k < row->upper)
            b->others[k] += row->size_bytes;
}

static bool beam_open(beam *b, unsigned width) {
    size_t n = b->graph->count;
    b->words = n / 64 + 1;
    b->width = width ? width : 256;
    b->next_room = 8 * b->width;
    b->kept = MASU_ARENA_ARRAY(&b->arena, bool, b->count + 1);
    b->early = MASU_ARENA_ARRAY(&b->arena, bool, b->count + 1);
    b->needs = MASU_ARENA_ARRAY(&b->arena, uint64_t, n * b->words + 1);
    b->keys = MASU_ARENA_ARRAY(&b->arena, uint64_t, n + 1);
    b->now = MASU_ARENA_ARRAY(&b->arena, state, b->width);
    b->other = MASU_ARENA_ARRAY(&b->arena, state, b->width);
    b->next = MASU_ARENA_ARRAY(&b->arena, state, b->next_room);
    b->steps = MASU_ARENA_ARRAY(&b->arena, step, (n + 1) * b->width);
    int64_t *uses = MASU_ARENA_ARRAY(&b->arena, int64_t, 2 * b->count + 1);
    bool *is_read = MASU_ARENA_ARRAY(&b->arena, bool, b->count + 1);
    b->others = MASU_ARENA_ARRAY(&b->arena, uint64_t, n + 2);
    if (!is_read || !b->others || !b->kept || !b->early || !b->needs || !b->keys || !b->now || !b->other || !b->next ||
        !b->steps || !uses)
        return false;
    find_uses(b->graph, NULL, b->count, uses, uses + b->count);
    find_read(b->graph, is_read);
    for (size_t i = 0; i < b->count; i++) {
        keeping keep = keeping_of(&b->rows[i], uses[i], uses[b->count + i], is_read[i], n);
        if (uses[i] < 0 && uses[b->count + i] < 0) {
            add_other(b, &b->rows[i]);
            continue;
        }
        b->early[i] = keep.from_begin;
        b->kept[i] = keep.to_end;
    }
    for (size_t k = 0; k < n; k++)
        b->keys[k] = mix(k + 1);
    return state_sets(b, b->now) && state_sets(b, b->other);
}

static void beam_begin(beam *b) {
    state *s = &b->now[0];
    for (size_t k = 0; k < b->graph->count; k++)
        for (size_t i = 0; i < b->graph->operators[k].input_count; i++)
            s->pending[b->graph->operators[k].inputs[i]]++;
    for (size_t i = 0; i < b->count; i++)
        s->live += b->early[i] ? b->rows[i].size_bytes : 0;
    s->peak = s->live;
    b->now_count = 1;
}

/* Bytes live while the operator runs, and after it. */
static void run_operator(const beam *b, const state *s, size_t k, uint64_t *during, uint64_t *after) {
    const masu_plan_operator *op = &b->graph->operators[k];
    *during = s->live;
    for (size_t i = 0; i < op->output_count; i++)
        *during += b->early[op->outputs[i]] ? 0 : b->rows[op->outputs[i]].size_bytes;
    *after = *during;
    for (size_t i = 0; i < op->input_count; i++) {
        size_t row = op->inputs[i];
        uint32_t mine = 0;
        bool first = true;
        for (size_t j = 0; j < op->input_count; j++) {
            mine += op->inputs[j] == row;
            first &= j >= i || op->inputs[j] != row;
        }
        if (first && s->pending[row] == mine && !b->kept[row])
            *after -= b->rows[row].size_bytes;
    }
    for (size_t i = 0; i < op->output_count; i++)
        if (s->pending[op->outputs[i]] == 0 && !b->kept[op->outputs[i]])
            *after -= b->rows[op->outputs[i]].size_bytes; /* it is never read */
}

static int by_worth(const void *a, const void *b) {
    const state *x = a, *y = b;
    if (x->peak != y->peak)
        return x->peak < y->peak ? -1 : 1;
    if (x->live != y->live)
        return x->live < y->live ? -1 : 1;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->op > y->op) - (x->op < y->op);
}

static bool ready(const beam *b, const state *s, size_t k) {
    for (size_t w = 0; w < b->words; w++)
        if (b->needs[k * b->words + w] & ~s->done[w])
            return false;
    return !bit(s->done, k);
}

static bool add_next(beam *b, state made) {
    if (b->next_count == b->next_room) {
        b->next = masu__arena_grow(&b->arena, b->next, b->next_count, 2 * b->next_room, sizeof *b->next,
                                   _Alignof(state));
        if (!b->next)
            return false;
        b->next_room *= 2;
    }
    b->next[b->next_count++] = made;
    return true;
}

static bool expand(beam *b, size_t layer) {
    b->next_count = 0;
    for (size_t i = 0; i < b->now_count; i++)
        for (size_t k = 0; k < b->graph->count; k++) {
            if (!ready(b, &b->now[i], k))
                continue;
            uint64_t during, after;
            run_operator(b, &b->now[i], k, &during, &after);
            during += b->others[layer];
            state made = {.hash = b->now[i].hash ^ b->keys[k],
                          .peak = during > b->now[i].peak ? during : b->now[i].peak,
                          .live = after,
                          .parent = (uint32_t)i,
                          .op = (uint32_t)k};
            if (!add_next(b, made))
                return false;
        }
    qsort(b->next, b->next_count, sizeof *b->next, by_worth);
    return true;
}

/* A child: its parent's sets and one operator more. The arrays stay the slot's. */
static void fill_state(const beam *b, state *slot, const state *made) {
    const state *parent = &b->now[made->parent];
    const masu_plan_operator *op = &b->graph->operators[made->op];
    uint64_t *done = slot->done;
    uint32_t *pending = slot->pending;
    *slot = *made;
    slot->done = done;
    slot->pending = pending;
    memcpy(done, parent->done, b->words * sizeof *done);
    memcpy(pending, parent->pending, b->count * sizeof *pending);
    done[made->op / 64] |= UINT64_C(1) << (made->op % 64);
    for (size_t j = 0; j < op->input_count; j++)
        pending[op->inputs[j]]--;
}

/* The best `width` different sets become the present. */
static void keep_best(beam *b, size_t layer) {
    size_t count = 0;
    for (size_t i = 0; i < b->next_count && count < b->width; i++) {
        /* of equal sets only the first, with the lowest peak, is wanted */
        bool seen = false;
        for (size_t j = 0; j < count && !seen; j++)
            seen = b->other[j].hash == b->next[i].hash;
        if (seen)
            continue;
        fill_state(b, &b->other[count], &b->next[i]);
        b->steps[layer * b->width + count++] = (step){b->next[i].parent, b->next[i].op};
    }
    state *now = b->now;
    b->now = b->other;
    b->other = now;
    b->now_count = count;
}

static uint64_t peak_of(const beam *b) {
    state *s = &b->now[0];
    uint64_t peak = s->live, live = s->live;
    state walk = *s;
    for (size_t k = 0; k < b->graph->count; k++) {
        uint64_t during, after;
        walk.live = live;
        run_operator(b, &walk, k, &during, &after);
        during += b->others[k];
        peak = during > peak ? during : peak;
        live = after;
        for (size_t i = 0; i < b->graph->operators[k].input_count; i++)
            walk.pending[b->graph->operators[k].inputs[i]]--;
    }
    for (size_t k = 0; k < b->graph->count; k++) /* as it was */
        for (size_t i = 0; i < b->graph->operators[k].input_count; i++)
            walk.pending[b->graph->operators[k].inputs[i]]++;
    return peak;
}

static void write_order(const beam *b, size_t *order) {
    uint32_t at = 0;
    for (size_t layer = b->graph->count; layer > 0; layer--) {
        step taken = b->steps[(layer - 1) * b->width + at];
        order[layer - 1] = taken.op;
        at = taken.parent;
    }
}

static masu_status search(beam *b, size_t *order, uint64_t *before, uint64_t *after) {
    beam_begin(b);
    *before = *after = peak_of(b);
    for (size_t layer = 0; layer < b->graph->count; layer++)
        if (expand(b, layer))
            keep_best(b, layer);
        else
            return MASU_ERR_OUT_OF_MEMORY;
    for (size_t k = 0; k < b->graph->count; k++)
        order[k] = k;
    if (b->now[0].peak < *before) {
        *after = b->now[0].peak;
        write_order(b, order);
    }
    return MASU_OK;
}

masu_status masu_plan_reorder(const masu_plan_graph *graph, const masu_plan_row *rows, size_t count, unsigned width,
                              size_t *order, uint64_t *peak_before, uint64_t *peak_after) {
    if (!graph_fits(graph, count))
        return MASU_ERR_INVALID_ARGUMENT;
    beam b = {.graph = graph, .rows = rows, .count = count};
    uint64_t before = 0, after = 0;
    masu_status status = MASU_ERR_OUT_OF_MEMORY;
    if (beam_open(&b, width))
        status = find_needs(&b) ? search(&b, order, &before, &after) : MASU_ERR_INVALID_ARGUMENT;
    masu__arena_destroy(&b.arena);
    if (status != MASU_OK)
        return status;
    if (peak_before)
        *peak_before = before;
    if (peak_after)
        *peak_after = after;
    return MASU_OK;
}
