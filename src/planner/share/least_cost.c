/* least_cost.c: see least_cost.h. */
#include "planner/share/least_cost.h"

#include <stdlib.h>
#include <string.h>

#include "planner/search/solver.h"

enum { MOST_ROWS = 64, MOST_PLACES = 256, ASK_CLOCK = 1024 };
#define NEVER UINT64_MAX

typedef struct least_cost {
    const masu__charges *charges;
    const masu_plan_problem *problem;
    uint64_t capacity;
    uint64_t places[MOST_PLACES]; /* ascending */
    uint32_t place_count;
    size_t rows[MOST_ROWS]; /* that are to be placed */
    uint32_t row_count;
    /* the first row that is the same in everything: itself, where there is none before it */
    uint32_t twin_of[MOST_ROWS];
    uint32_t set_of[MOST_ROWS], set_count;
    uint64_t set_charge[MOST_ROWS]; /* the least of a pair of the set */
    uint32_t set_apart[MOST_ROWS];  /* how many of it lie apart at most */
    uint64_t *price;                /* [levels][row_count][place_count] */
    uint64_t at[MOST_ROWS];
    bool is_placed[MOST_ROWS];
    uint64_t *offsets, *best;
    uint64_t steps, limit;
    double end_s;
    bool over;
    masu__arena arena;
} least_cost;

static uint64_t alignment_of(const masu_plan_row *row) {
    return row->alignment_bytes ? row->alignment_bytes : 1;
}

static uint64_t align(uint64_t offset, uint64_t alignment) {
    return (offset + alignment - 1) & ~(alignment - 1);
}

/* ---- rows and places ---------------------------------------------------------------------------- */

static bool is_fit(const masu_plan_problem *p) {
    size_t movable = 0;
    for (size_t i = 0; i < p->count; i++) {
        movable += !p->rows[i].is_fixed && p->rows[i].size_bytes > 0;
        if (p->rows[i].gap_count > 0)
            return false;
    }
    for (size_t i = 0; i < p->relation_count; i++)
        if (p->relations[i].kind != MASU_PLAN_MUST_NOT_SHARE)
            return false;
    return movable <= MOST_ROWS && p->capacity_bytes > 0 && p->count <= 4 * MOST_ROWS;
}

/* False: there are too many. */
static bool add_place(least_cost *c, uint64_t offset) {
    uint32_t at = 0;
    while (at < c->place_count && c->places[at] < offset)
        at++;
    if (offset >= c->capacity || (at < c->place_count && c->places[at] == offset))
        return true;
    if (c->place_count == MOST_PLACES)
        return false;
    memmove(&c->places[at + 1], &c->places[at], (c->place_count - at) * sizeof *c->places);
    c->places[at] = offset;
    c->place_count++;
    return true;
}

/* Upon an end, rounded up as each row asks for. */
static bool add_places_at(least_cost *c, uint64_t end) {
    bool right = true;
    for (uint32_t k = 0; k < c->row_count && right; k++)
        right = add_place(c, align(end, alignment_of(&c->problem->rows[c->rows[k]])));
    return right;
}

/* Places only rise from those before them: one pass in ascending order sees each. */
static bool find_places(least_cost *c) {
    const masu_plan_problem *p = c->problem;
    bool right = add_place(c, 0);
    for (size_t i = 0; i < p->count && right; i++)
        if (p->rows[i].is_fixed && p->rows[i].size_bytes > 0)
            right = add_places_at(c, p->rows[i].fixed_offset + p->rows[i].size_bytes);
    for (uint32_t at = 0; at < c->place_count && right; at++)
        for (uint32_t k = 0; k < c->row_count && right; k++)
            right = add_places_at(c, c->places[at] + p->rows[c->rows[k]].size_bytes);
    return right;
}

/* ---- what rows must pay among themselves -------------------------------------------------------- */

static bool minds(const least_cost *c, uint32_t a, uint32_t b) {
    return masu__charges_apart(c->charges, c->rows[a], c->rows[b]) ||
           masu__charges_of(c->charges, c->rows[a], c->rows[b]) > 0;
}

/* Each row joins the first set whose rows all mind it. */
static void divide_into_sets(least_cost *c) {
    for (uint32_t k = 0; k < c->row_count; k++) {
        uint32_t set = 0;
        for (bool fits = false; set < c->set_count && !fits; set += !fits) {
            fits = true;
            for (uint32_t other = 0; other < k && fits; other++)
                fits = c->set_of[other] != set || minds(c, k, other);
        }
        c->set_of[k] = set;
        c->set_count += set == c->set_count;
    }
}

static void measure_sets(least_cost *c) {
    uint64_t least_size[MOST_ROWS];
    for (uint32_t set = 0; set < c->set_count; set++)
        c->set_charge[set] = least_size[set] = NEVER;
    for (uint32_t k = 0; k < c->row_count; k++) {
        uint32_t set = c->set_of[k];
        uint64_t size = c->problem->rows[c->rows[k]].size_bytes;
        least_size[set] = size < least_size[set] ? size : least_size[set];
        for (uint32_t other = 0; other < k; other++) {
            uint64_t charge = masu__charges_of(c->charges, c->rows[k], c->rows[other]);
            bool pays = c->set_of[other] == set && !masu__charges_apart(c->charges, c->rows[k], c->rows[other]);
            c->set_charge[set] = pays && charge < c->set_charge[set] ? charge : c->set_charge[set];
        }
    }
    for (uint32_t set = 0; set < c->set_count; set++) {
        uint64_t most = c->capacity / least_size[set];
        c->set_apart[set] = most < MOST_ROWS ? (uint32_t)most : MOST_ROWS;
    }
}

/* Pairs within m heaps among which count things are dealt out evenly. */
static uint64_t fewest_pairs(uint32_t count, uint32_t m) {
    uint64_t each = count / m, more = count % m;
    return more * (each + 1) * each / 2 + (m - more) * each * (each - 1) / 2;
}

static uint64_t paid_among_themselves(const least_cost *c) {
    uint32_t left[MOST_ROWS] = {0};
    uint64_t sum = 0;
    for (uint32_t k = 0; k < c->row_count; k++)
        left[c->set_of[k]] += !c->is_placed[k];
    for (uint32_t set = 0; set < c->set_count; set++) {
        if (left[set] <= c->set_apart[set])
            continue;
        if (c->set_apart[set] == 0 || c->set_charge[set] == NEVER)
            return NEVER;
        sum = masu__charges_add(sum, fewest_pairs(left[set], c->set_apart[set]) * c->set_charge[set]);
    }
    return sum;
}

/* ---- twins --------------------------------------------------------------------------------------- */

/* Whether two rows can change places in every plan, at no cost. */
static bool are_twins(const least_cost *c, size_t a, size_t b) {
    const masu_plan_row *x = &c->problem->rows[a], *y = &c->problem->rows[b];
    bool same = x->size_bytes == y->size_bytes && alignment_of(x) == alignment_of(y);
    for (size_t i = 0; i < c->problem->count && same; i++)
        same = i == a || i == b ||
               (masu__charges_apart(c->charges, a, i) == masu__charges_apart(c->charges, b, i) &&
                masu__charges_of(c->charges, a, i) == masu__charges_of(c->charges, b, i));
    return same;
}

static void find_twins(least_cost *c) {
    for (uint32_t k = 0; k < c->row_count; k++) {
        uint32_t first = 0;
        while (first < k && (c->twin_of[first] != first || !are_twins(c, c->rows[first], c->rows[k])))
            first++;
        c->twin_of[k] = first;
    }
}

/* ---- the search --------------------------------------------------------------------------------- */

static uint64_t *prices(least_cost *c, uint32_t level, uint32_t k) {
    return c->price + ((size_t)level * c->row_count + k) * c->place_count;
}

/* Adds the charges of a row at an offset to every place of the others that it overlaps. */
static void charge_others(least_cost *c, uint32_t level, size_t row, uint64_t offset) {
    const masu_plan_row *rows = c->problem->rows;
    for (uint32_t k = 0; k < c->row_count; k++) {
        size_t other = c->rows[k];
        bool apart = masu__charges_apart(c->charges, row, other);
        uint64_t charge = masu__charges_of(c->charges, row, other), *price = prices(c, level, k);
        if (c->is_placed[k] || (!apart && charge == 0))
            continue;
        for (uint32_t i = 0; i < c->place_count && c->places[i] < offset + rows[row].size_bytes; i++)
            if (offset < c->places[i] + rows[other].size_bytes)
                price[i] = apart ? NEVER : masu__charges_add(price[i], charge);
    }
}

/* Twins lie in the order of their numbers. */
static void order_twins(least_cost *c, uint32_t level, uint32_t placed) {
    for (uint32_t k = 0; k < c->row_count; k++)
        for (uint32_t i = 0; i < c->place_count && !c->is_placed[k] && c->twin_of[k] == c->twin_of[placed]; i++)
            if (k < placed ? c->places[i] > c->at[placed] : c->places[i] < c->at[placed])
                prices(c, level, k)[i] = NEVER;
}

static uint64_t least(const uint64_t *price, uint32_t count) {
    uint64_t least = NEVER;
    for (uint32_t i = 0; i < count; i++)
        least = price[i] < least ? price[i] : least;
    return least;
}

/* The difference between a row's two best places: what it costs not to get the best. */
static uint64_t regret(const uint64_t *price, uint32_t count) {
    uint64_t best = NEVER, second = NEVER;
    for (uint32_t i = 0; i < count; i++) {
        if (price[i] < best) {
            second = best;
            best = price[i];
        } else if (price[i] < second) {
            second = price[i];
        }
    }
    return second - best;
}

/* The next row, and what all are to pay at least. */
static uint32_t choose(least_cost *c, uint32_t level, uint64_t *sum) {
    uint32_t chosen = c->row_count;
    uint64_t most = 0, bytes = 0;
    for (uint32_t k = 0; k < c->row_count; k++) {
        if (c->is_placed[k])
            continue;
        const uint64_t *price = prices(c, level, k);
        *sum = masu__charges_add(*sum, least(price, c->place_count));
        if (*sum == NEVER)
            return k;
        uint64_t mine = regret(price, c->place_count), size = c->problem->rows[c->rows[k]].size_bytes;
        if (chosen == c->row_count || mine > most || (mine == most && size > bytes)) {
            chosen = k;
            most = mine;
            bytes = size;
        }
    }
    return chosen;
}

static bool is_over(least_cost *c) {
    c->over |= c->limit > 0 && c->steps >= c->limit;
    c->over |= c->steps % ASK_CLOCK == 0 && c->end_s > 0 && masu__plan_now() > c->end_s;
    return c->over;
}

static void keep(least_cost *c, uint64_t paid, uint64_t *cost) {
    *cost = paid;
    for (size_t i = 0; i < c->problem->count; i++)
        c->best[i] = c->problem->rows[i].is_fixed ? c->problem->rows[i].fixed_offset : 0;
    for (uint32_t k = 0; k < c->row_count; k++)
        c->best[c->rows[k]] = c->at[k];
}

static void place_rest(least_cost *c, uint32_t level, uint64_t paid, uint64_t *cost);

static void try_places(least_cost *c, uint32_t level, uint32_t k, uint64_t paid, uint64_t *cost) {
    uint64_t *price = prices(c, level, k);
    c->is_placed[k] = true;
    for (;;) {
        uint64_t cheapest = least(price, c->place_count);
        if (cheapest == NEVER || masu__charges_add(paid, cheapest) >= *cost || is_over(c))
            break;
        uint32_t i = 0;
        while (price[i] != cheapest)
            i++;
        price[i] = NEVER;
        c->at[k] = c->places[i];
        c->steps++;
        memcpy(prices(c, level + 1, 0), prices(c, level, 0), (size_t)c->row_count * c->place_count * sizeof *c->price);
        charge_others(c, level + 1, c->rows[k], c->at[k]);
        order_twins(c, level + 1, k);
        place_rest(c, level + 1, paid + cheapest, cost);
    }
    c->is_placed[k] = false;
}

static void place_rest(least_cost *c, uint32_t level, uint64_t paid, uint64_t *cost) {
    uint64_t sum = paid;
    uint32_t k = choose(c, level, &sum);
    if (sum >= *cost || masu__charges_add(sum, paid_among_themselves(c)) >= *cost)
        return;
    if (k == c->row_count)
        keep(c, paid, cost);
    else
        try_places(c, level, k, paid, cost);
}

/* Fixed rows charge each other whatever happens; the others from the beginning. */
static uint64_t begin(least_cost *c) {
    const masu_plan_problem *p = c->problem;
    uint64_t paid = 0;
    for (uint32_t k = 0; k < c->row_count; k++) {
        const masu_plan_row *row = &p->rows[c->rows[k]];
        for (uint32_t i = 0; i < c->place_count; i++)
            prices(c, 0, k)[i] = c->places[i] % alignment_of(row) == 0 && row->size_bytes <= c->capacity &&
                                         c->places[i] <= c->capacity - row->size_bytes
                                     ? 0
                                     : NEVER;
    }
    for (size_t i = 0; i < p->count; i++) {
        const masu_plan_row *x = &p->rows[i];
        if (!x->is_fixed || x->size_bytes == 0)
            continue;
        if (x->fixed_offset > c->capacity || x->size_bytes > c->capacity - x->fixed_offset)
            return NEVER;
        charge_others(c, 0, i, x->fixed_offset);
        for (size_t j = 0; j < i; j++) {
            const masu_plan_row *y = &p->rows[j];
            if (y->is_fixed && masu__charges_overlap(x, x->fixed_offset, y, y->fixed_offset))
                paid = masu__charges_apart(c->charges, i, j)
                           ? NEVER
                           : masu__charges_add(paid, masu__charges_of(c->charges, i, j));
        }
    }
    return paid;
}

static masu__least_cost_end run(least_cost *c, uint64_t *cost) {
    size_t numbers = ((size_t)c->row_count + 1) * c->row_count * c->place_count;
    c->price = MASU_ARENA_ARRAY(&c->arena, uint64_t, numbers + 1);
    if (!c->price)
        return MASU__LEAST_COST_NO_MEMORY;
    find_twins(c);
    divide_into_sets(c);
    measure_sets(c);
    uint64_t paid = begin(c);
    if (paid != NEVER)
        place_rest(c, 0, paid, cost);
    return c->over ? MASU__LEAST_COST_LIMIT : MASU__LEAST_COST_PROVEN;
}

masu__least_cost_end masu__plan_least_cost(const masu__charges *charges, uint64_t steps, double end_s,
                                           uint64_t *offsets, uint64_t *cost) {
    const masu_plan_problem *p = charges->problem;
    if (!is_fit(p))
        return MASU__LEAST_COST_UNFIT;
    masu__arena arena = {0};
    least_cost *c = MASU_ARENA_NEW(&arena, least_cost);
    if (!c)
        return MASU__LEAST_COST_NO_MEMORY;
    *c = (least_cost){.charges = charges,
                      .problem = p,
                      .capacity = p->capacity_bytes,
                      .best = offsets,
                      .limit = steps,
                      .end_s = end_s};
    for (size_t i = 0; i < p->count; i++)
        if (!p->rows[i].is_fixed && p->rows[i].size_bytes > 0)
            c->rows[c->row_count++] = i;
    masu__least_cost_end end = find_places(c) ? run(c, cost) : MASU__LEAST_COST_UNFIT;
    masu__arena_destroy(&c->arena);
    masu__arena_destroy(&arena);
    return end;
}
