/* plan.c: the static planner: many orders, the best kept.
 *
 *     check rows ─► load curve, lower bound ─► for each order: place ─► keep the lowest
 *                                              └─ stop at the bound, or when the steps are used up
 *     then: move the rows that stand highest to the front of the winning order, place again
 *
 * What must stay true: a plan that is returned has passed through masu__plan_place, which never
 * lets rows overlap, and its height is at least the bound. No randomness, no clock: the limit is
 * on counted steps.
 */
#include <masu/plan.h>

#include <string.h>

#include "allocators/plan_place.h"
#include "base/assert.h"
#include "base/meta.h"
#include "base/size.h"

/* About a nanosecond each. The first order is always finished, however many rows there are. */
#define STEPS_FOR_ORDERS    ((uint64_t)2000 * 1000 * 1000)
#define STEPS_FOR_PROMOTION ((uint64_t)10 * 1000 * 1000)

typedef struct planner {
    const masu_plan_row *rows;
    size_t count; /* rows with a size */
    size_t total; /* all rows */
    size_t *active, *order, *best_order, *scratch;
    unsigned __int128 *keys;
    uint64_t *contention; /* the largest load while the row lives */
    uint64_t *offsets, *best_offsets;
    masu__plan_placed *placed;
    void *memory; /* owned: all arrays above */
    size_t memory_bytes;
    uint64_t bound, best_height, steps;
    const char *best_name;
} planner;

/* ---- rows ------------------------------------------------------------------------------------ */

static masu_status rows_check(const masu_plan_row *rows, size_t count, size_t *bad_row) {
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        const masu_plan_row *row = &rows[i];
        *bad_row = i;
        if (row->upper <= row->lower)
            return MASU_ERR_INVALID_ARGUMENT;
        if (row->alignment_bytes != 0 && !masu__is_power_of_two(row->alignment_bytes))
            return MASU_ERR_INVALID_ARGUMENT;
        if (__builtin_add_overflow(sum, row->size_bytes, &sum) ||
            __builtin_add_overflow(sum, row->alignment_bytes, &sum) || sum > (uint64_t)1 << 63)
            return MASU_ERR_OVERFLOW;
    }
    return MASU_OK;
}

static uint64_t row_duration(const masu_plan_row *row) {
    return (uint64_t)row->upper - (uint64_t)row->lower;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static bool planner_open(planner *p, const masu_plan_row *rows, size_t total) {
    enum {
        PER_ROW = sizeof(unsigned __int128) + sizeof(masu__plan_placed) + 4 * sizeof(size_t) +
                  3 * sizeof(uint64_t)
    };
    *p = (planner){.rows = rows, .total = total, .best_height = UINT64_MAX, .best_name = "none"};
    if (!masu__mul(masu__max(total, 1), PER_ROW, &p->memory_bytes))
        return false;
    p->memory = masu__meta_alloc(p->memory_bytes);
    if (!p->memory)
        return false;
    p->keys = p->memory;
    p->placed = (masu__plan_placed *)(p->keys + total);
    p->active = (size_t *)(p->placed + total);
    p->order = p->active + total;
    p->best_order = p->order + total;
    p->scratch = p->best_order + total;
    p->contention = (uint64_t *)(p->scratch + total);
    p->offsets = p->contention + total;
    p->best_offsets = p->offsets + total;
    for (size_t i = 0; i < total; i++)
        if (rows[i].size_bytes > 0)
            p->active[p->count++] = i;
    return true;
}

static void planner_close(planner *p) {
    masu__meta_free(p->memory, p->memory_bytes);
}

/* ---- the load curve -------------------------------------------------------------------------- */

static void sort_active(planner *p, size_t *into) {
    memcpy(into, p->active, p->count * sizeof *into);
    masu__plan_sort(into, p->count, p->keys, p->scratch);
}

/* The bound, and in loads[k] the load just after the kth birth (in order of birth, which order
 * holds afterwards). */
static uint64_t load_curve(planner *p, uint64_t *loads) {
    size_t *births = p->order, *ends = p->best_order;
    for (size_t i = 0; i < p->total; i++)
        p->keys[i] = masu__plan_time_key(p->rows[i].lower);
    sort_active(p, births);
    for (size_t i = 0; i < p->total; i++)
        p->keys[i] = masu__plan_time_key(p->rows[i].upper);
    sort_active(p, ends);
    uint64_t load = 0, bound = 0;
    for (size_t k = 0, ended = 0; k < p->count; k++) {
        const masu_plan_row *row = &p->rows[births[k]];
        for (; p->rows[ends[ended]].upper <= row->lower; ended++)
            load -= p->rows[ends[ended]].size_bytes;
        load += row->size_bytes;
        loads[k] = load;
        if (load > bound)
            bound = load;
    }
    return bound;
}

/* Loads only rise at births, so a row's worst moment is a birth during its life, its own
 * included. */
static void find_contention(planner *p, const uint64_t *loads) {
    const size_t *births = p->order;
    for (size_t k = 0; k < p->count; k++) {
        uint64_t worst = 0;
        for (size_t j = k; j < p->count && p->rows[births[j]].lower < p->rows[births[k]].upper; j++)
            if (loads[j] > worst)
                worst = loads[j];
        p->contention[births[k]] = worst;
    }
}

masu_status masu_plan_lower_bound(const masu_plan_row *rows, size_t count, uint64_t *out_bytes) {
    planner p;
    size_t bad_row;
    if (!out_bytes || (!rows && count > 0))
        return MASU_ERR_INVALID_ARGUMENT;
    masu_status status = rows_check(rows, count, &bad_row);
    if (status != MASU_OK)
        return status;
    if (!planner_open(&p, rows, count))
        return MASU_ERR_OUT_OF_MEMORY;
    *out_bytes = load_curve(&p, p.offsets);
    planner_close(&p);
    return MASU_OK;
}

/* ---- orders ---------------------------------------------------------------------------------- */

typedef unsigned __int128 (*row_key)(const planner *p, size_t row);

static unsigned __int128 key_size(const planner *p, size_t row) {
    return (unsigned __int128)p->rows[row].size_bytes << 64 | row_duration(&p->rows[row]);
}

static unsigned __int128 key_area(const planner *p, size_t row) {
    return (unsigned __int128)p->rows[row].size_bytes * row_duration(&p->rows[row]);
}

static unsigned __int128 key_duration(const planner *p, size_t row) {
    return (unsigned __int128)row_duration(&p->rows[row]) << 64 | p->rows[row].size_bytes;
}

static unsigned __int128 key_birth(const planner *p, size_t row) {
    return masu__plan_time_key(p->rows[row].lower) << 64 | p->rows[row].size_bytes;
}

static unsigned __int128 key_death(const planner *p, size_t row) {
    return (~masu__plan_time_key(p->rows[row].upper) & UINT64_MAX) << 64 | p->rows[row].size_bytes;
}

static unsigned __int128 key_contention(const planner *p, size_t row) {
    return (unsigned __int128)p->contention[row] << 64 | p->rows[row].size_bytes;
}

static unsigned __int128 key_contended_duration(const planner *p, size_t row) {
    return (unsigned __int128)p->contention[row] << 64 | row_duration(&p->rows[row]);
}

static const struct {
    const char *name;
    row_key key;
    masu__plan_gap gap;
} attempts[] = {
    {"size, best gap", key_size, MASU__PLAN_BEST_GAP},
    {"area, first gap", key_area, MASU__PLAN_FIRST_GAP},
    {"birth, best gap", key_birth, MASU__PLAN_BEST_GAP},
    {"contention and size, best gap", key_contention, MASU__PLAN_BEST_GAP},
    {"contention and duration, best gap", key_contended_duration, MASU__PLAN_BEST_GAP},
    {"duration, best gap", key_duration, MASU__PLAN_BEST_GAP},
    {"area, best gap", key_area, MASU__PLAN_BEST_GAP},
    {"size, first gap", key_size, MASU__PLAN_FIRST_GAP},
    {"birth, first gap", key_birth, MASU__PLAN_FIRST_GAP},
    {"contention and size, first gap", key_contention, MASU__PLAN_FIRST_GAP},
    {"contention and duration, first gap", key_contended_duration, MASU__PLAN_FIRST_GAP},
    {"duration, first gap", key_duration, MASU__PLAN_FIRST_GAP},
    {"death, best gap", key_death, MASU__PLAN_BEST_GAP},
};

/* Places in p->order; keeps the plan when it is lower than the best. */
static bool planner_try(planner *p, masu__plan_gap gap, const char *name) {
    uint64_t height = masu__plan_place(p->rows, p->order, p->count, gap, p->best_height, p->placed,
                                       p->offsets, &p->steps);
    if (height >= p->best_height)
        return false;
    uint64_t *offsets = p->offsets;
    p->offsets = p->best_offsets;
    p->best_offsets = offsets;
    memcpy(p->best_order, p->order, p->count * sizeof *p->order);
    p->best_height = height;
    p->best_name = name;
    return true;
}

static masu__plan_gap planner_try_orders(planner *p) {
    masu__plan_gap best_gap = MASU__PLAN_BEST_GAP;
    for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++) {
        if (p->best_height == p->bound || (i > 0 && p->steps > STEPS_FOR_ORDERS))
            break;
        for (size_t k = 0; k < p->count; k++)
            p->keys[p->active[k]] = attempts[i].key(p, p->active[k]);
        sort_active(p, p->order);
        if (planner_try(p, attempts[i].gap, attempts[i].name))
            best_gap = attempts[i].gap;
    }
    return best_gap;
}

/* Rows whose end is the height come first next time, the others keep their order. */
static void order_promote_top(planner *p, const uint64_t *offsets, uint64_t height) {
    size_t front = 0, rest = 0;
    for (size_t k = 0; k < p->count; k++) {
        size_t row = p->order[k];
        if (offsets[row] + p->rows[row].size_bytes == height)
            p->order[front++] = row;
        else
            p->scratch[rest++] = row;
    }
    /* scratch held the rest, so front never overtook what was still to be read */
    memcpy(p->order + front, p->scratch, rest * sizeof *p->order);
}

static void planner_promote(planner *p, masu__plan_gap gap) {
    uint64_t limit = p->steps + STEPS_FOR_PROMOTION;
    memcpy(p->order, p->best_order, p->count * sizeof *p->order);
    const uint64_t *offsets = p->best_offsets;
    uint64_t height = p->best_height;
    for (size_t round = 0; round < 4 * p->count && p->best_height > p->bound && p->steps < limit;
         round++) {
        order_promote_top(p, offsets, height);
        height = masu__plan_place(p->rows, p->order, p->count, gap, UINT64_MAX, p->placed,
                                  p->offsets, &p->steps);
        offsets = p->offsets;
        if (height >= p->best_height)
            continue;
        memcpy(p->best_offsets, p->offsets, p->total * sizeof *p->offsets);
        p->best_height = height;
        p->best_name = "promotion of the highest";
    }
}

masu_status masu_plan_solve(const masu_plan_row *rows, size_t count, uint64_t *offsets,
                            masu_plan_result *result, size_t *bad_row) {
    planner p;
    size_t ignored;
    if (!result || (count > 0 && (!rows || !offsets)))
        return MASU_ERR_INVALID_ARGUMENT;
    masu_status status = rows_check(rows, count, bad_row ? bad_row : &ignored);
    if (status != MASU_OK)
        return status;
    if (!planner_open(&p, rows, count))
        return MASU_ERR_OUT_OF_MEMORY;
    p.bound = load_curve(&p, p.offsets);
    find_contention(&p, p.offsets);
    memset(p.offsets, 0, count * sizeof *p.offsets);
    memset(p.best_offsets, 0, count * sizeof *p.best_offsets);
    planner_promote(&p, planner_try_orders(&p));
    MASU_ASSERT(p.best_height >= p.bound);
    if (count > 0)
        memcpy(offsets, p.best_offsets, count * sizeof *offsets);
    *result = (masu_plan_result){p.best_height, p.bound, p.best_height == p.bound, p.best_name};
    planner_close(&p);
    return MASU_OK;
}
