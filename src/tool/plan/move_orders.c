/* move_orders.c: `masu plan --moves --reorder`: orders of the operators, each planned with moves, the cheapest kept.
 *
 * Where there are few orders all are tried: then what is cheapest is proven among all. Otherwise the one with a lower
 * peak, and from the best one operators one by one: as late as its first reader allows, or as early as its operands do.
 * / */
#include <string.h>

#include "tool/plan/move_values.h"

enum { MOST_ORDERS = 48, MOST_LISTED = 64, MOST_TRIES = 200, PASSES = 2 };

typedef struct orders {
    moves_work *work;
    const masu_plan_graph *graph;
    size_t *maker;   /* per row: the operator that makes it; SIZE_MAX: none */
    size_t *waits;   /* per operator: makers of its operands that have not run */
    size_t *all;     /* MOST_ORDERS of them */
    size_t *present; /* the one that is being made */
    size_t count;    /* MOST_ORDERS + 1: too many */
} orders;

static bool orders_open(orders *o, moves_work *w) {
    masu__arena *arena = &w->table->arena;
    *o = (orders){.work = w, .graph = &w->source.graph};
    size_t operators = o->graph->count;
    o->maker = MASU_ARENA_ARRAY(arena, size_t, w->table->count + 1);
    o->waits = MASU_ARENA_ARRAY(arena, size_t, operators + 1);
    o->all = MASU_ARENA_ARRAY(arena, size_t, MOST_ORDERS * operators + 1);
    o->present = MASU_ARENA_ARRAY(arena, size_t, operators + 1);
    if (!o->maker || !o->waits || !o->all || !o->present)
        return false;
    for (size_t row = 0; row < w->table->count; row++)
        o->maker[row] = SIZE_MAX;
    for (size_t k = 0; k < operators; k++)
        for (size_t i = 0; i < o->graph->operators[k].output_count; i++)
            o->maker[o->graph->operators[k].outputs[i]] = k;
    for (size_t k = 0; k < operators; k++)
        for (size_t i = 0; i < o->graph->operators[k].input_count; i++)
            o->waits[k] += o->maker[o->graph->operators[k].inputs[i]] != SIZE_MAX;
    return true;
}

/* Whether b reads what a makes. */
static bool reads(const orders *o, size_t b, size_t a) {
    const masu_plan_operator *op = &o->graph->operators[b];
    for (size_t i = 0; i < op->input_count; i++)
        if (o->maker[op->inputs[i]] == a)
            return true;
    return false;
}

static void wait_less(orders *o, size_t made, size_t *waits, bool less) {
    for (size_t k = 0; k < o->graph->count; k++)
        for (size_t i = 0; i < o->graph->operators[k].input_count; i++)
            if (o->maker[o->graph->operators[k].inputs[i]] == made)
                waits[k] += less ? (size_t)-1 : 1;
}

/* All orders that begin like this. They are few, or this ends. */
static void list_orders(orders *o, size_t length) {
    size_t operators = o->graph->count;
    if (length == operators) {
        if (o->count < MOST_ORDERS)
            memcpy(o->all + o->count * operators, o->present, operators * sizeof *o->all);
        o->count++;
        return;
    }
    for (size_t k = 0; k < operators && o->count <= MOST_ORDERS; k++) {
        if (o->waits[k] != 0)
            continue;
        o->present[length] = k;
        o->waits[k] = SIZE_MAX;
        wait_less(o, k, o->waits, true);
        list_orders(o, length + 1);
        wait_less(o, k, o->waits, false);
        o->waits[k] = 0;
    }
}

/* The operator at a place moved as far as it goes. False: it stays. */
static bool shift(const orders *o, const size_t *order, size_t at, bool late, size_t *out) {
    size_t to = at, count = o->graph->count;
    if (late)
        while (to + 1 < count && !reads(o, order[to + 1], order[at]))
            to++;
    else
        while (to > 0 && !reads(o, order[at], order[to - 1]))
            to--;
    if (to == at)
        return false;
    memcpy(out, order, count * sizeof *out);
    if (late)
        memmove(out + at, order + at + 1, (to - at) * sizeof *out);
    else
        memmove(out + to + 1, order + to, (at - to) * sizeof *out);
    out[to] = order[at];
    return true;
}

static size_t *copy_of(const orders *o, const size_t *order) {
    size_t *copy = MASU_ARENA_ARRAY(&o->work->table->arena, size_t, o->graph->count + 1);
    for (size_t k = 0; copy && k < o->graph->count; k++)
        copy[k] = order ? order[k] : k;
    return copy;
}

static bool is_late(const orders *o, double end_s) {
    return moves_now() > end_s || (moves_has_plan(&o->work->plan) && o->work->plan.cost == 0);
}

static int climb(orders *o, double end_s) {
    moves_work *w = o->work;
    size_t operators = o->graph->count, tries = 0, since = 0, each = 2 * operators;
    size_t *now = copy_of(o, w->order), *next = copy_of(o, NULL);
    if (!now || !next)
        return TOOL_FAILED;
    for (size_t i = 0; tries < MOST_TRIES && i < PASSES * each && since < each && !is_late(o, end_s); i++, since++) {
        if (!shift(o, now, i % operators, i / operators % 2 == 0, next))
            continue;
        uint64_t before = w->plan.cost;
        bool had = moves_has_plan(&w->plan);
        double left = end_s - moves_now();
        tries++;
        int result = moves_try_order(w, next, left > 0.1 ? left / 4 : 0.05);
        if (result != TOOL_OK)
            return result;
        if (!moves_has_plan(&w->plan) || (had && w->plan.cost >= before))
            continue;
        since = 0;
        now = next; /* the plan's order stays as it is */
        if (!(next = copy_of(o, NULL)))
            return TOOL_FAILED;
    }
    return TOOL_OK;
}

int moves_try_orders(moves_work *w, double end_s) {
    orders o;
    size_t operators = w->source.graph.count;
    if (operators < 2 || w->source.fixed_why) {
        w->all_orders = operators < 2;
        return TOOL_OK;
    }
    if (!orders_open(&o, w))
        return TOOL_FAILED;
    if (operators <= MOST_LISTED)
        list_orders(&o, 0);
    if (o.count > 0 && o.count <= MOST_ORDERS) {
        size_t done = 0;
        for (; done < o.count && (done == 0 || !is_late(&o, end_s)); done++) {
            double left = end_s - moves_now();
            int result = moves_try_order(w, o.all + done * operators, left > 0.1 ? left / 4 : 0.05);
            if (result != TOOL_OK)
                return result;
        }
        w->all_orders = done == o.count || w->plan.cost == 0;
        return TOOL_OK;
    }
    int result = TOOL_OK;
    if (w->source.lower_peak)
        result = moves_try_order(w, w->source.lower_peak, (end_s - moves_now()) / 2);
    return result == TOOL_OK ? climb(&o, end_s) : result;
}
