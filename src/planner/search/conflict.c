/* conflict.c: the sets of items that failures are about. See conflict.h. */
#include "planner/search/conflict.h"

#include <string.h>

#include "base/meta.h"

/* A level for each placement on the way down, the first, and the one below the last. */
bool masu__conflicts_open(masu__conflicts *c, const masu__search_state *state) {
    *c = (masu__conflicts){.state = state, .levels = state->model_items + 3, .words = state->model_items / 64 + 1};
    c->bits = masu__meta_calloc((size_t)c->levels * c->words, sizeof *c->bits);
    return c->bits != NULL;
}

void masu__conflicts_close(masu__conflicts *c) {
    if (c->bits)
        masu__meta_free(c->bits, (size_t)c->levels * c->words * sizeof *c->bits);
    c->bits = NULL;
}

static uint64_t *set_at(const masu__conflicts *c, uint32_t level) {
    return c->bits + (size_t)level * c->words;
}

static void add(uint64_t *set, uint32_t item) {
    set[item / 64] |= UINT64_C(1) << (item % 64);
}

static bool has(const uint64_t *set, uint32_t item) {
    return set[item / 64] >> (item % 64) & 1;
}

void masu__conflict_clear(masu__conflicts *c, uint32_t level) {
    memset(set_at(c, level), 0, c->words * sizeof *c->bits);
}

void masu__conflict_of_section(masu__conflicts *c, uint32_t level, uint32_t section) {
    const masu__search_state *t = c->state;
    for (uint32_t k = t->member_start[section]; k < t->member_start[section + 1]; k++)
        add(set_at(c, level), t->members[k]);
}

void masu__conflict_of_culprit(masu__conflicts *c, uint32_t level) {
    const masu__search_state *t = c->state;
    masu__conflict_clear(c, level);
    if (t->culprit.section != MASU__PLAN_NONE) {
        masu__conflict_of_section(c, level, t->culprit.section);
        return;
    }
    uint32_t item = t->culprit.item;
    add(set_at(c, level), item);
    for (uint32_t k = t->meeting_start[item]; t->culprit.and_met && k < t->meeting_start[item + 1]; k++)
        add(set_at(c, level), t->meetings[k].item);
}

bool masu__conflict_step_up(masu__conflicts *c, uint32_t level, size_t mark, bool far) {
    const masu__search_state *t = c->state;
    uint64_t *own = set_at(c, level);
    uint64_t *below = set_at(c, level + 1);
    bool took_part = false;
    for (size_t i = mark; i < t->trail_count; i++) {
        uint32_t item = t->trail[i].index;
        if (t->trail[i].kind == MASU__CHANGE_WITNESS || !has(below, item))
            continue;
        took_part = true;
        if (far && t->trail[i].kind == MASU__CHANGE_SUPPORT)
            below[item / 64] &= ~(UINT64_C(1) << (item % 64));
    }
    if (!took_part) {
        memcpy(own, below, c->words * sizeof *own);
        return false;
    }
    for (uint32_t i = 0; i < c->words; i++)
        own[i] |= below[i];
    add(own, t->trail[mark].index); /* the placement comes first */
    return true;
}
