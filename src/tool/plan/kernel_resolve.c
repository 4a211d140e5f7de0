/* kernel_resolve.c: numbers of buffers and pools to rows: see kernel_read.c. */
#include <inttypes.h>
#include <stdio.h>

#include "tool/plan/kernel_parts.h"

static bool find_row(json *j, const plan_index *index, uint64_t id, size_t at, size_t *row) {
    char text[24];
    int length = snprintf(text, sizeof text, "%" PRIu64, id);
    *row = plan_index_find(j->reader->table, index, text, (size_t)length);
    return *row != SIZE_MAX || plan_json_expected(j, at, "ids of buffers");
}

static size_t find_pool(const kernel *k, uint64_t id) {
    size_t i = 0;
    while (i < k->pool_count && k->pools[i].id != id)
        i++;
    return i;
}

static bool resolve_pools(json *j, reading *r) {
    kernel *k = r->k;
    const uint64_t *wanted = r->pool_ids.items;
    k->pools = r->pools.items;
    k->pool_count = r->pools.count;
    k->ids = r->ids.items;
    k->pool_of = MASU_ARENA_ARRAY(&k->table.arena, size_t, k->table.count + 1);
    k->keeps_all_time = MASU_ARENA_ARRAY(&k->table.arena, bool, k->table.count + 1);
    if (!k->pool_of || !k->keeps_all_time)
        return plan_json_no_memory(j);
    for (size_t i = 0; i < k->table.count; i++) {
        k->pool_of[i] = find_pool(k, wanted[i]);
        if (k->pool_of[i] == k->pool_count)
            return plan_json_expected(j, k->table.at[i], "a buffer in one of the pools");
    }
    return true;
}

static bool lives_meet(const masu_plan_row *a, const masu_plan_row *b) {
    return a->lower < b->upper && b->lower < a->upper;
}

/* Across pools a pair shares nothing: that is what a separation asks for, and costs nothing. */
static bool resolve_pair(json *j, kernel *k, const pair *p, size_t a, size_t b) {
    bool one_pool = k->pool_of[a] == k->pool_of[b];
    if (a == b)
        return plan_json_expected(j, p->at, "two different buffers");
    switch (p->kind) {
    case COLOCATION:
        if (!one_pool)
            return plan_json_expected(j, p->at, "buffers of one pool, if they are to have one offset");
        return plan_table_relate(&k->table, MASU_PLAN_MUST_SHARE, a, b) || plan_json_no_memory(j);
    case SEPARATION:
        return !one_pool || plan_table_relate(&k->table, MASU_PLAN_MUST_NOT_SHARE, a, b) || plan_json_no_memory(j);
    case EXCLUSION:
        return !one_pool || !lives_meet(&k->table.rows[a], &k->table.rows[b]) ||
               plan_json_expected(j, p->at,
                                  "buffers whose lives are apart: two that live together share no bytes; leave the "
                                  "pair out (the plan may then be higher) or shorten their lives");
    default:
        if (one_pool)
            k->penalties[k->penalty_count++] = (masu_plan_penalty){a, b, p->cost};
        return true;
    }
}

static bool resolve_pairs(json *j, reading *r, const plan_index *index) {
    const pair *pairs = r->pairs.items;
    r->k->penalties = MASU_ARENA_ARRAY(&r->k->table.arena, masu_plan_penalty, r->pairs.count + 1);
    if (!r->k->penalties)
        return plan_json_no_memory(j);
    uint64_t sum = 0;
    for (size_t i = 0; i < r->pairs.count; i++) {
        size_t a, b;
        if (!find_row(j, index, pairs[i].first, pairs[i].at, &a) ||
            !find_row(j, index, pairs[i].second, pairs[i].at, &b) || !resolve_pair(j, r->k, &pairs[i], a, b))
            return false;
        if (__builtin_add_overflow(sum, pairs[i].cost, &sum) || sum >> 62)
            return plan_json_expected(j, pairs[i].at, "costs that add up to less than 2^62");
    }
    return true;
}

static bool resolve_pins(json *j, reading *r, const plan_index *index) {
    kernel *k = r->k;
    const pin *pins = r->pins.items;
    for (size_t i = 0; i < r->pins.count; i++) {
        size_t row;
        if (!find_row(j, index, pins[i].buffer, pins[i].at, &row))
            return false;
        masu_plan_row *r = &k->table.rows[row];
        if (find_pool(k, pins[i].pool) != k->pool_of[row])
            return plan_json_expected(j, pins[i].at, "the pool of the buffer");
        if (r->is_fixed)
            return plan_json_expected(j, pins[i].at, "one place for each buffer");
        r->is_fixed = true;
        r->fixed_offset = pins[i].offset;
        k->keeps_all_time[row] = pins[i].all_time;
        masu_plan_problem alone = {.rows = r, .count = 1};
        if (masu_plan_validate(&alone, NULL) != MASU_PLAN_RIGHT)
            return plan_json_expected(j, pins[i].at,
                                      "an offset that is a multiple of the buffer's alignment, below 2^61");
    }
    return true;
}

/* Names where each buffer has another; otherwise the numbers that they had until now. */
static void use_names(reading *r) {
    plan_table *t = &r->k->table;
    const char **numbers = t->ids;
    plan_index index;
    size_t twice;
    t->ids = r->names.items;
    bool right = t->count > 0 && plan_index_make(t, &index, &twice);
    for (size_t i = 0; i < t->count && right; i++)
        right = t->ids[i][0] != 0;
    t->ids = right ? t->ids : numbers;
}

bool kernel_resolve(json *j, reading *r) {
    plan_table *t = &r->k->table;
    plan_index index;
    size_t twice;
    if (!plan_index_make(t, &index, &twice))
        return twice == SIZE_MAX ? plan_json_no_memory(j)
                                 : plan_json_expected(j, t->at[twice], "an id that has not been used");
    masu_plan_problem all = {.rows = t->rows, .count = t->count};
    if (masu_plan_validate(&all, &twice) == MASU_PLAN_TOO_LARGE)
        return plan_json_expected(j, t->at[twice], "sizes that add up to less than 2^62");
    if (!resolve_pools(j, r) || !resolve_pairs(j, r, &index) || !resolve_pins(j, r, &index))
        return false;
    use_names(r);
    return true;
}
