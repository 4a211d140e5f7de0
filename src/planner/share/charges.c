/* charges.c: see charges.h. */
#include "planner/share/charges.h"

bool masu__charges_open(masu__charges *c, masu__arena *arena, const masu_plan_problem *p,
                        const masu_plan_penalty *penalties, size_t count) {
    size_t n = p->count;
    *c = (masu__charges){p, MASU_ARENA_ARRAY(arena, bool, n *n + 1), MASU_ARENA_ARRAY(arena, uint64_t, n * n + 1)};
    if (!c->apart || !c->charge)
        return false;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            c->apart[i * n + j] = i != j && p->rows[i].lower < p->rows[j].upper && p->rows[j].lower < p->rows[i].upper;
    for (size_t i = 0; i < p->relation_count; i++) {
        const masu_plan_relation *r = &p->relations[i];
        if (r->kind == MASU_PLAN_MUST_NOT_SHARE)
            c->apart[r->a * n + r->b] = c->apart[r->b * n + r->a] = true;
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t *one = &c->charge[penalties[i].a * n + penalties[i].b];
        *one = c->charge[penalties[i].b * n + penalties[i].a] = masu__charges_add(*one, penalties[i].cost);
    }
    return true;
}
