/* planner_drawn.h: drawn problems for the planner's bench, one kind for each way in which lives and
 * sizes may be spread. The same kind, count and seed give the same rows everywhere.
 *
 *     time steps   as many as buffers, but for "1000 moments" and "10^6 moments"
 *     at once      from some ten (short lives) to a third of all (any lives)
 */
#ifndef MASU_BENCH_PLANNER_DRAWN_H
#define MASU_BENCH_PLANNER_DRAWN_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <masu/masu.h>

typedef struct problem {
    masu_plan_row *rows;
    size_t count, room;
    uint64_t capacity;
} problem;

static void add(problem *p, int64_t lower, int64_t upper, uint64_t size) {
    if (p->count == p->room) {
        p->room = p->room ? 2 * p->room : 1024;
        p->rows = realloc(p->rows, p->room * sizeof *p->rows);
        if (!p->rows)
            exit(1);
    }
    p->rows[p->count++] = (masu_plan_row){.size_bytes = size, .lower = lower, .upper = upper};
}

static uint64_t draw_state = 1;

static uint64_t draw(uint64_t below) {
    draw_state ^= draw_state << 13;
    draw_state ^= draw_state >> 7;
    draw_state ^= draw_state << 17;
    return draw_state % below;
}

static double draw_real(void) {
    return ((double)draw(UINT64_C(1) << 53) + 0.5) * 0x1p-53;
}

static uint64_t draw_geometric(double mean) {
    return 1 + (uint64_t)(-log(draw_real()) * mean);
}

/* Pareto with exponent 1.2, cut at most. */
static uint64_t draw_power(double least, double most) {
    double x = least * pow(draw_real(), -1 / 1.2);
    return (uint64_t)(x < most ? x : most);
}

static uint64_t draw_between_logs(double least, double most) {
    return (uint64_t)(least * exp(draw_real() * log(most / least)));
}

/* ---- the kinds ------------------------------------------------------------------------------- */

typedef enum shape {
    SHORT_LIVES,
    ANY_LIVES,
    MIXED_LIVES,
    UNIFORM_LIVES,
    GEOMETRIC_LIVES,
    POWER_SIZES,
    POWER_BOTH,
    EQUAL_SIZES,
    FEW_SIZES,
    ALIGNED_64,
    ALIGNED_256,
    FEW_HUGE,
    NESTED,
    TRAINING,
    THOUSAND_MOMENTS,
    MILLION_MOMENTS,
    VERY_SHORT,
    LOG_LIVES,
    TENTH_LIVES,
    LONG_GEOMETRIC,
    POWERS_OF_TWO,
    LOG_SHORT,
    SHAPE_COUNT
} shape;

static const char *const shape_names[] = {
    "short lives",     "any lives",         "mixed lives",         "lives up to 1000",
    "geometric lives", "power-law sizes",   "power-law all",       "equal sizes",
    "eight sizes",     "aligned to 64",     "aligned to 256",      "few huge",
    "nested",          "training steps",    "1000 moments",        "10^6 moments",
    "very short",      "log-uniform lives", "lives up to a tenth", "long geometric",
    "powers of two",   "log-uniform short"};

/* The life of buffer i of count, not yet cut to the moments there are. */
static void draw_life(shape kind, size_t i, size_t count, int64_t *at, int64_t *length) {
    int64_t moments = (int64_t)count;
    *at = (int64_t)draw(count);
    *length = 1 + (int64_t)draw(100);
    switch (kind) {
    case ANY_LIVES: {
        int64_t other = (int64_t)draw(count);
        *length = (other > *at ? other - *at : *at - other) + 1;
        *at = other < *at ? other : *at;
        break;
    }
    case MIXED_LIVES:
        *length = 1 + (int64_t)(draw(50) << draw(10)) % moments;
        break;
    case UNIFORM_LIVES:
    case FEW_SIZES:
    case POWERS_OF_TWO:
        *length = 1 + (int64_t)draw(1000);
        break;
    case GEOMETRIC_LIVES:
    case POWER_SIZES:
    case ALIGNED_64:
        *length = (int64_t)draw_geometric(50);
        break;
    case POWER_BOTH:
        *length = (int64_t)draw_power(5, (double)count / 4);
        break;
    case NESTED: { /* depth first through a random binary tree: a call and what it calls */
        int64_t width = moments;
        for (*at = 0; width > 4 && draw(12) > 0; width = (width - 1) / 2)
            *at += draw(2) ? 1 + (width - 1) / 2 : 1;
        *length = width;
        break;
    }
    case TRAINING: { /* steps of 200 forwards and 200 backwards */
        int64_t step = (int64_t)(i / 400) * 400, place = (int64_t)(i % 400);
        bool kept = place < 200 && draw(3) > 0;
        *at = step + place;
        *length = kept ? 400 - 2 * place : 1 + (int64_t)draw(6);
        break;
    }
    case THOUSAND_MOMENTS:
        *at = (int64_t)draw(1000);
        *length = 1 + (int64_t)draw(60);
        break;
    case MILLION_MOMENTS:
        *at = (int64_t)draw(1000000);
        *length = 1 + (int64_t)draw(2000);
        break;
    case VERY_SHORT:
        *length = 1 + (int64_t)draw(20);
        break;
    case LOG_LIVES:
        *length = (int64_t)draw_between_logs(1, (double)count / 2);
        break;
    case TENTH_LIVES:
        *length = 1 + (int64_t)draw(count / 10 + 1);
        break;
    case LONG_GEOMETRIC:
        *length = (int64_t)draw_geometric((double)count / 50);
        break;
    case LOG_SHORT:
        *length = (int64_t)draw_between_logs(1, 1000);
        break;
    default:
        break;
    }
}

static uint64_t draw_size(shape kind) {
    static const uint64_t few[] = {256, 1024, 1536, 4096, 10240, 16384, 65536, 98304};
    switch (kind) {
    case MIXED_LIVES:
        return 1 + draw(1 << draw(20));
    case POWER_SIZES:
    case POWER_BOTH:
        return draw_power(64, 1 << 24);
    case EQUAL_SIZES:
        return 4096;
    case FEW_SIZES:
        return few[draw(8)];
    case ALIGNED_64:
        return 64 * (1 + draw(1000));
    case ALIGNED_256:
        return 1 + draw(20000);
    case POWERS_OF_TWO:
    case LOG_SHORT:
        return UINT64_C(64) << draw(12);
    case FEW_HUGE:
        return draw(100) == 0 ? 1000000 + draw(9000000) : 1 + draw(10000);
    case NESTED:
    case TRAINING:
    case LOG_LIVES:
    case LONG_GEOMETRIC:
        return 64 * draw_between_logs(1, 16384);
    default:
        return 1 + draw(1000000);
    }
}

static problem draw_problem(shape kind, size_t count, uint64_t seed) {
    problem p = {0};
    draw_state = 88172645463325252u + (uint64_t)kind + seed * UINT64_C(0x9E3779B97F4A7C15);
    for (size_t i = 0; i < count; i++) {
        int64_t at, length;
        draw_life(kind, i, count, &at, &length);
        add(&p, at, at + length, draw_size(kind));
        if (kind == ALIGNED_256)
            p.rows[i].alignment_bytes = 256;
    }
    return p;
}

#endif
