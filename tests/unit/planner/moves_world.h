/* moves_world.h: all that can be done with values that move, in small problems: what test_moves and test_moves_share
 * compare with. */
#ifndef MASU_TESTS_MOVES_WORLD_H
#define MASU_TESTS_MOVES_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <masu/moves.h>

#include "base/meta.h"
#include "base/rng.h"

enum { ROWS = 4, MOMENTS = 7, MEMORIES = 2, USES = ROWS * MOMENTS };

typedef struct small {
    masu_moves_row rows[ROWS];
    masu_moves_use uses[USES];
    masu_moves_memory memories[MEMORIES];
    uint64_t channel[MOMENTS];
    bool alone[ROWS][MOMENTS]; /* one place then, though nothing writes it */
    masu_moves_problem problem;
} small;

/* ---- everything that can be done --------------------------------------------------------------------------
 * A state is where each row's bytes are, at which offset, and what the channel has in its queue. Moment after moment:
 * drop, be born, begin moves in any order, run the operator, let the channel carry. */

typedef struct world {
    int8_t at[ROWS][MEMORIES]; /* offset; -1: not there */
    int8_t flying[ROWS];       /* the memory that a move fills; -1: none */
    int8_t queue[ROWS], left[ROWS], queued;
    uint64_t cost;
} world;

typedef struct worlds {
    world *all;
    size_t count, room;
    uint32_t *slots;
    size_t slot_count;
} worlds;

static bool same(const world *a, const world *b) {
    return memcmp(a, b, offsetof(world, cost)) == 0;
}

static size_t hash(const world *w) {
    const unsigned char *bytes = (const unsigned char *)w;
    size_t x = 1469598103u;
    for (size_t i = 0; i < offsetof(world, cost); i++)
        x = (x ^ bytes[i]) * 1099511628211u;
    return x ^ x >> 31;
}

static void worlds_free(worlds *w) {
    free(w->all);
    free(w->slots);
    *w = (worlds){0};
}

static void worlds_add(worlds *to, const world *w) {
    if (2 * (to->count + 1) > to->slot_count) {
        to->slot_count = to->slot_count ? 2 * to->slot_count : 256;
        free(to->slots);
        to->slots = calloc(to->slot_count, sizeof *to->slots);
        assert_non_null(to->slots);
        for (size_t i = 0; i < to->count; i++) {
            size_t s = hash(&to->all[i]) % to->slot_count;
            while (to->slots[s])
                s = (s + 1) % to->slot_count;
            to->slots[s] = (uint32_t)i + 1;
        }
    }
    size_t s = hash(w) % to->slot_count;
    for (; to->slots[s]; s = (s + 1) % to->slot_count) {
        world *old = &to->all[to->slots[s] - 1];
        if (!same(old, w))
            continue;
        if (w->cost < old->cost)
            old->cost = w->cost;
        return;
    }
    if (to->count == to->room) {
        to->room = to->room ? 2 * to->room : 256;
        to->all = realloc(to->all, to->room * sizeof *to->all);
        assert_non_null(to->all);
    }
    to->all[to->count++] = *w;
    to->slots[s] = (uint32_t)to->count;
}

/* Whether the row's bytes fit at the offset beside all others. */
static bool free_at(const small *s, const world *w, size_t row, size_t memory, int8_t offset) {
    uint64_t capacity = s->memories[memory].capacity_bytes, size = s->rows[row].size_bytes;
    if (capacity == 0)
        return true;
    if ((uint64_t)offset + size > capacity ||
        (s->rows[row].alignment_bytes && (uint64_t)offset % s->rows[row].alignment_bytes))
        return false;
    for (size_t i = 0; i < s->problem.count; i++)
        if (w->at[i][memory] >= 0 && (uint64_t)w->at[i][memory] < (uint64_t)offset + size &&
            (uint64_t)offset < (uint64_t)w->at[i][memory] + s->rows[i].size_bytes)
            return false;
    return true;
}

static int8_t last_offset(const small *s, size_t row, size_t memory) {
    uint64_t capacity = s->memories[memory].capacity_bytes;
    return capacity == 0 ? 0 : capacity < s->rows[row].size_bytes ? -1 : (int8_t)(capacity - s->rows[row].size_bytes);
}

static void used(const small *s, size_t row, size_t t, uint64_t *reads, uint64_t *writes) {
    *reads = *writes = 0;
    for (size_t i = 0; i < s->problem.use_count; i++)
        if (s->uses[i].row == row && s->uses[i].moment == t) {
            *reads += s->uses[i].reads;
            *writes += s->uses[i].writes;
        }
}

static bool lives(const small *s, size_t row, size_t t) {
    return s->rows[row].lower <= t && t < s->rows[row].upper;
}

static void run_operator(const small *s, world w, size_t t, worlds *out) {
    for (size_t row = 0; row < s->problem.count; row++) {
        uint64_t reads, writes, least = UINT64_MAX;
        size_t held = 0;
        used(s, row, t, &reads, &writes);
        for (size_t m = 0; m < s->problem.memory_count && lives(s, row, t); m++) {
            held += w.at[row][m] >= 0;
            if (w.at[row][m] >= 0 && w.flying[row] != (int8_t)m && s->memories[m].cost < least)
                least = s->memories[m].cost;
        }
        if ((writes > 0 || s->alone[row][t]) && held != 1)
            return;
        w.cost += (reads + writes) * (reads + writes ? least : 0) * s->rows[row].size_bytes;
    }
    uint64_t bytes = s->problem.channel_bytes ? s->channel[t] : UINT64_MAX;
    while (w.queued > 0 && bytes > 0) {
        uint64_t some = bytes < (uint64_t)w.left[0] ? bytes : (uint64_t)w.left[0];
        bytes -= some;
        w.left[0] = (int8_t)(w.left[0] - (int8_t)some);
        if (w.left[0] > 0)
            break;
        w.flying[w.queue[0]] = -1;
        w.queued--;
        memmove(w.queue, w.queue + 1, (size_t)w.queued);
        memmove(w.left, w.left + 1, (size_t)w.queued);
        w.queue[w.queued] = w.left[w.queued] = 0;
    }
    worlds_add(out, &w);
}

static void begin_moves(const small *s, world w, size_t t, worlds *out) {
    run_operator(s, w, t, out);
    for (size_t row = 0; row < s->problem.count && !s->problem.stays; row++) {
        size_t held = 0, from = 0;
        for (size_t m = 0; m < s->problem.memory_count; m++)
            if (w.at[row][m] >= 0) {
                held++;
                from = m;
            }
        if (!lives(s, row, t) || held != 1 || s->rows[row].only != MASU_MOVES_ANY)
            continue;
        for (size_t to = 0; to < s->problem.memory_count; to++)
            for (int8_t offset = 0; to != from && offset <= last_offset(s, row, to); offset++) {
                if (!free_at(s, &w, row, to, offset))
                    continue;
                world next = w;
                next.at[row][to] = offset;
                next.flying[row] = (int8_t)to;
                next.queue[next.queued] = (int8_t)row;
                next.left[next.queued++] = (int8_t)s->rows[row].size_bytes;
                next.cost += s->rows[row].size_bytes * (s->problem.has_move_cost
                                                            ? s->problem.move_cost
                                                            : s->memories[from].cost + s->memories[to].cost);
                begin_moves(s, next, t, out);
            }
    }
}

static void be_born(const small *s, world w, size_t t, size_t row, worlds *out) {
    while (row < s->problem.count && s->rows[row].lower != t)
        row++;
    if (row == s->problem.count) {
        begin_moves(s, w, t, out);
        return;
    }
    const masu_moves_row *r = &s->rows[row];
    for (size_t m = 0; m < s->problem.memory_count; m++) {
        if ((r->only != MASU_MOVES_ANY && r->only != m) || (r->home != MASU_MOVES_ANY && r->home != m))
            continue;
        for (int8_t offset = 0; offset <= last_offset(s, row, m); offset++)
            if ((!r->is_fixed || (uint64_t)offset == r->fixed_offset) && free_at(s, &w, row, m, offset)) {
                world next = w;
                next.at[row][m] = offset;
                be_born(s, next, t, row + 1, out);
            }
    }
}

/* The dead leave; of two valid copies either may go. */
static void drop(const small *s, world w, size_t t, size_t row, worlds *out) {
    if (row == s->problem.count) {
        be_born(s, w, t, 0, out);
        return;
    }
    if (s->rows[row].upper == t) {
        if (w.flying[row] >= 0)
            return; /* for nothing */
        w.at[row][0] = w.at[row][1] = -1;
    }
    drop(s, w, t, row + 1, out);
    if (!lives(s, row, t) || w.at[row][0] < 0 || w.at[row][1] < 0 || w.flying[row] >= 0)
        return;
    for (size_t m = 0; m < 2; m++) {
        world next = w;
        next.at[row][m] = -1;
        drop(s, next, t, row + 1, out);
    }
}

/* UINT64_MAX: there is no plan. */
static uint64_t all_that_can_be_done(const small *s) {
    worlds now = {0}, next = {0};
    world first;
    memset(&first, 0, sizeof first);
    memset(first.at, -1, sizeof first.at);
    memset(first.flying, -1, sizeof first.flying);
    worlds_add(&now, &first);
    for (size_t t = 0; t < s->problem.moment_count; t++) {
        for (size_t i = 0; i < now.count; i++)
            drop(s, now.all[i], t, 0, &next);
        worlds_free(&now);
        now = next;
        next = (worlds){0};
    }
    uint64_t best = UINT64_MAX;
    for (size_t i = 0; i < now.count; i++)
        best = now.all[i].cost < best ? now.all[i].cost : best;
    worlds_free(&now);
    return best;
}

/* ---- drawn problems ------------------------------------------------------------------------------------------ */

static void draw_row(small *s, size_t i, masu__rng *rng) {
    size_t moments = s->problem.moment_count;
    size_t lower = masu__rng_below(rng, moments - 1), length = moments - lower;
    if (masu__rng_below(rng, 2))
        length = 1 + masu__rng_below(rng, length);
    masu_moves_row *r = &s->rows[i];
    *r = (masu_moves_row){.size_bytes = 1 + masu__rng_below(rng, 2),
                          .lower = lower,
                          .upper = lower + length,
                          .only = MASU_MOVES_ANY,
                          .home = MASU_MOVES_ANY};
    if (r->size_bytes == 2 && masu__rng_below(rng, 4) == 0)
        r->alignment_bytes = 2;
    if (masu__rng_below(rng, 10) == 0)
        r->only = masu__rng_below(rng, 2);
    else if (masu__rng_below(rng, 6) == 0)
        r->home = masu__rng_below(rng, 2);
    bool is_input = masu__rng_below(rng, 4) == 0;
    for (size_t t = lower; t < lower + length; t++) {
        uint32_t reads = masu__rng_below(rng, 3) == 0 ? 1 + (uint32_t)masu__rng_below(rng, 8) : 0,
                 writes = masu__rng_below(rng, 16) == 0;
        if (t == lower)
            reads = 0, writes = !is_input;
        if (reads + writes > 0)
            s->uses[s->problem.use_count++] = (masu_moves_use){i, t, reads, writes};
    }
}

static void draw(small *s, masu__rng *rng) {
    memset(s, 0, sizeof *s);
    s->problem = (masu_moves_problem){
        .rows = s->rows, .uses = s->uses, .memories = s->memories, .memory_count = MEMORIES};
    s->problem.count = masu__rng_below(rng, 3) ? ROWS : 2 + masu__rng_below(rng, ROWS - 1);
    s->problem.moment_count = 5 + masu__rng_below(rng, MOMENTS - 4);
    s->memories[0] = (masu_moves_memory){1 + masu__rng_below(rng, 3), masu__rng_below(rng, 4) == 0};
    s->memories[1] = (masu_moves_memory){masu__rng_below(rng, 4) ? 0 : 3 + masu__rng_below(rng, 4),
                                         1 + masu__rng_below(rng, 3)};
    s->problem.has_move_cost = masu__rng_below(rng, 4) == 0;
    s->problem.move_cost = masu__rng_below(rng, 3);
    s->problem.stays = masu__rng_below(rng, 12) == 0;
    if (masu__rng_below(rng, 3)) {
        s->problem.channel_bytes = s->channel;
        for (size_t t = 0; t < s->problem.moment_count; t++)
            s->channel[t] = masu__rng_below(rng, 5);
    }
    for (size_t i = 0; i < s->problem.count; i++)
        draw_row(s, i, rng);
}

static void show(const small *s) {
    for (size_t m = 0; m < MEMORIES; m++)
        fprintf(stderr, "memory %zu: capacity %llu cost %llu\n", m, (unsigned long long)s->memories[m].capacity_bytes,
                (unsigned long long)s->memories[m].cost);
    fprintf(stderr, "stays %d move cost %d %llu, carries", s->problem.stays, s->problem.has_move_cost,
            (unsigned long long)s->problem.move_cost);
    for (size_t t = 0; s->problem.channel_bytes && t < s->problem.moment_count; t++)
        fprintf(stderr, " %llu", (unsigned long long)s->channel[t]);
    for (size_t i = 0; i < s->problem.count; i++) {
        fprintf(stderr, "\nrow %zu: size %llu align %llu [%zu, %zu) only %zd home %zd:", i,
                (unsigned long long)s->rows[i].size_bytes, (unsigned long long)s->rows[i].alignment_bytes,
                s->rows[i].lower, s->rows[i].upper, (ptrdiff_t)s->rows[i].only, (ptrdiff_t)s->rows[i].home);
        for (size_t u = 0; u < s->problem.use_count; u++)
            if (s->uses[u].row == i)
                fprintf(stderr, " %zu(r%u w%u)", s->uses[u].moment, s->uses[u].reads, s->uses[u].writes);
    }
    fprintf(stderr, "\n");
}

static void show_plan(const masu_moves_plan *plan) {
    for (size_t i = 0; i < plan->place_count; i++)
        fprintf(stderr, "place %zu: row %zu memory %zu [%zu, %zu) at %llu\n", i, plan->places[i].row,
                plan->places[i].memory, plan->places[i].lower, plan->places[i].upper,
                (unsigned long long)plan->places[i].offset);
    for (size_t i = 0; i < plan->move_count; i++)
        fprintf(stderr, "move %zu → %zu [%zu, %zu)\n", plan->moves[i].from, plan->moves[i].to, plan->moves[i].begin,
                plan->moves[i].end);
    fprintf(stderr, "cost %llu bound %llu outcome %d\n", (unsigned long long)plan->cost,
            (unsigned long long)plan->lower_bound, plan->outcome);
}

static void assert_judged(const masu_moves_problem *problem, const masu_moves_plan *plan) {
    masu_moves_verdict verdict;
    size_t row;
    assert_int_equal(masu_moves_check(problem, plan, &verdict, &row), MASU_OK);
    if (verdict != MASU_MOVES_FINE) {
        show_plan(plan);
        fprintf(stderr, "%s row %zu\n", masu_moves_verdict_name(verdict), row);
    }
    assert_int_equal(verdict, MASU_MOVES_FINE);
}

#endif
