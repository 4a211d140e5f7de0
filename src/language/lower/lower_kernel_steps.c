/* lower_kernel_steps.c: clauses in the order written become steps in the order run.
 *
 * Conditions joined by && are taken apart. A safe one moves up to the step that binds the last of its indices; an
 * equation there may solve that index, an inequality may cut its range. One that could fault stays behind everything
 * written before it, so that it is asked about no more elements than the program says.
 */
#include <string.h>

#include "language/lower/lower_kernel.h"

uint32_t kernel_step_of(const lower_kernel *lk, const binding *index) {
    uint32_t k = 0;
    while (lk->steps[k].kind == STEP_TEST || lk->steps[k].clause->index != index)
        k++;
    return k;
}

/* ---- equations --------------------------------------------------------------------------------------------------- */

/* The last step that binds an index of the form; -1: it has none. */
static int64_t last_step(const lower_kernel *lk, const linear *form) {
    int64_t last = -1;
    for (uint32_t i = 0; i < form->count; i++) {
        if (!form->terms[i].index || form->terms[i].factor == 0)
            continue;
        int64_t step = kernel_step_of(lk, form->terms[i].index);
        last = step > last ? step : last;
    }
    return last;
}

static bool may_fault_between(const lower_kernel *lk, uint32_t from, uint32_t to) {
    for (uint32_t k = from + 1; k < to; k++)
        if (lk->steps[k].kind == STEP_TEST && !lk->steps[k].is_safe)
            return true;
    return false;
}

/* The loop whose range can replace what a step at `place` asks of the form: the last one that binds an index of it. */
static uint32_t loop_to_cut(const lower_kernel *lk, const linear *form, uint32_t place) {
    int64_t at = last_step(lk, form);
    if (at < 0 || lk->steps[at].kind != STEP_LOOP || may_fault_between(lk, (uint32_t)at, place))
        return 0;
    int64_t factor = linear_find(form, lk->steps[at].clause->index)->factor;
    return factor == 1 || factor == -1 ? (uint32_t)at + 1 : 0;
}

/* left == right, where the last index bound so far occurs with factor 1 or -1: index = the rest. */
static bool solve(lower_kernel *lk, const expr *e) {
    if (e->kind != EXPR_BINARY || e->binary.op != BINARY_EQ)
        return false;
    linear form = {0};
    if (!linear_of(lk, e->binary.left, 1, &form) || !linear_of(lk, e->binary.right, -1, &form))
        return false;
    int64_t at = last_step(lk, &form);
    if (at < 0 || lk->steps[at].kind != STEP_LOOP)
        return false;
    kernel_step *s = &lk->steps[at];
    int64_t factor = linear_find(&form, s->clause->index)->factor;
    if (factor != 1 && factor != -1)
        return false;
    for (uint32_t k = (uint32_t)at + 1; k < lk->step_count; k++) /* there is no loop to cut any more */
        if (lk->steps[k].cuts == (uint32_t)at + 1)
            lk->steps[k].cuts = 0;
    s->form = linear_without(&form, s->clause->index, -factor);
    s->kind = STEP_SOLVE;
    s->cuts = loop_to_cut(lk, &s->form, (uint32_t)at);
    return true;
}

/* left < right and its kin as form >= 0. */
static bool inequality(const lower_kernel *lk, const expr *e, linear *form) {
    if (e->kind != EXPR_BINARY || e->binary.op < BINARY_LT || e->binary.op > BINARY_GE)
        return false;
    bool less = e->binary.op == BINARY_LT || e->binary.op == BINARY_LE;
    bool strict = e->binary.op == BINARY_LT || e->binary.op == BINARY_GT;
    *form = (linear){.constant = strict ? -1 : 0};
    return linear_of(lk, e->binary.left, less ? -1 : 1, form) && linear_of(lk, e->binary.right, less ? 1 : -1, form);
}

/* ---- conditions -------------------------------------------------------------------------------------------------- */

typedef struct depth_search {
    const lower_kernel *lk;
    uint32_t place;
} depth_search;

static void find_depth(expr *e, void *context) {
    depth_search *s = context;
    if (e->kind == EXPR_NAME && e->name.binding && s->lk->inside[e->name.binding->id] &&
        e->name.binding->kind == BINDING_INDEX) {
        uint32_t behind = kernel_step_of(s->lk, e->name.binding) + 1;
        s->place = behind > s->place ? behind : s->place;
    }
    expr_each_child(e, find_depth, s);
}

/* Behind the step that binds its last index and the conditions that are already there. */
static uint32_t place_of_test(const lower_kernel *lk, const expr *e) {
    depth_search s = {.lk = lk};
    find_depth((expr *)e, &s);
    while (s.place < lk->step_count && lk->steps[s.place].kind == STEP_TEST)
        s.place++;
    return s.place;
}

static void insert_step(lower_kernel *lk, uint32_t place, kernel_step step) {
    memmove(lk->steps + place + 1, lk->steps + place, (lk->step_count - place) * sizeof *lk->steps);
    lk->steps[place] = step;
    lk->step_count++;
    for (uint32_t k = 0; k < lk->step_count; k++)
        if (lk->steps[k].cuts > place)
            lk->steps[k].cuts++;
}

static void add_condition(lower_kernel *lk, const expr *e) {
    if (e->kind == EXPR_BINARY && e->binary.op == BINARY_AND) {
        add_condition(lk, e->binary.left);
        add_condition(lk, e->binary.right);
        return;
    }
    bool safe = kernel_is_safe(lk, e);
    if (safe && solve(lk, e))
        return;
    uint32_t place = safe ? place_of_test(lk, e) : lk->step_count;
    kernel_step test = {.kind = STEP_TEST, .condition = e, .is_safe = safe};
    if (safe && inequality(lk, e, &test.form))
        test.cuts = loop_to_cut(lk, &test.form, place);
    insert_step(lk, place, test);
}

static uint32_t count_conditions(const expr *e) {
    if (e->kind == EXPR_BINARY && e->binary.op == BINARY_AND)
        return count_conditions(e->binary.left) + count_conditions(e->binary.right);
    return 1;
}

static bool is_output(const comprehension_expr *c, const binding *index) {
    for (uint32_t i = 0; i < c->output_count; i++)
        if (c->outputs[i] == index)
            return true;
    return false;
}

bool kernel_plan_steps(lower_kernel *lk) {
    const comprehension_expr *c = lk->c;
    uint32_t capacity = 0;
    for (uint32_t i = 0; i < c->clause_count; i++)
        capacity += c->clauses[i].index ? 1 : count_conditions(c->clauses[i].condition);
    lk->steps = MASU_ARENA_ARRAY(lk->outer->l->scratch, kernel_step, capacity);
    if (!lk->steps)
        return false;
    for (uint32_t i = 0; i < c->clause_count; i++) {
        const comprehension_clause *clause = &c->clauses[i];
        if (!clause->index) {
            add_condition(lk, clause->condition);
            continue;
        }
        lk->steps[lk->step_count++] = (kernel_step){
            .kind = STEP_LOOP, .clause = clause, .is_output = is_output(c, clause->index)};
    }
    return true;
}
