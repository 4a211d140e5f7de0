/* bonds.c: see bonds.h. */
#include "planner/search/bonds.h"

enum { MOST_AT_ONCE = 14 };

/* How much the load grows at the moment. */
static int64_t change_of(const masu__plan_model *m, uint32_t item, uint32_t moment) {
    return m->first[item] == moment ? m->size[item] : -m->size[item];
}

/* together[count]: for each item those that are in the same parts without a net, as bits. The load stays the same, so
 * that what such a part leaves is one, too: those without the last item are looked at, each one item from the one
 * before. */
static void find_together(const masu__plan_model *m, const uint32_t *items, uint32_t count, uint32_t moment,
                          uint32_t *together) {
    uint32_t all = (UINT32_C(1) << count) - 1, part = 0;
    int64_t sum = 0;
    for (uint32_t i = 0; i < count; i++)
        together[i] = all;
    for (uint32_t k = 1; k < UINT32_C(1) << (count - 1); k++) {
        uint32_t item = (uint32_t)__builtin_ctz(k);
        part ^= UINT32_C(1) << item;
        sum += (part >> item & 1) ? change_of(m, items[item], moment) : -change_of(m, items[item], moment);
        for (uint32_t i = 0; sum == 0 && i < count; i++)
            together[i] &= (part >> i & 1) ? part : ~part;
    }
}

static bool is_level(const masu__plan_model *m, const uint32_t *items, uint32_t count, uint32_t moment) {
    int64_t sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += change_of(m, items[i], moment);
    return sum == 0;
}

static uint32_t root_of(uint32_t *parent, uint32_t item) {
    while (parent[item] != item)
        item = parent[item] = parent[parent[item]];
    return item;
}

/* The lower number leads. */
static void bind(uint32_t *parent, uint32_t a, uint32_t b) {
    a = root_of(parent, a);
    b = root_of(parent, b);
    if (a < b)
        parent[b] = a;
    else
        parent[a] = b;
}

uint32_t masu__bonds_find(const masu__plan_model *m, const uint32_t *at_start, const uint32_t *at, uint32_t *group_of) {
    uint32_t groups = 0;
    for (uint32_t i = 0; i < m->item_count; i++)
        group_of[i] = i;
    for (uint32_t moment = 1; moment < m->section_count; moment++) {
        const uint32_t *items = at + at_start[moment];
        uint32_t count = at_start[moment + 1] - at_start[moment];
        uint32_t together[MOST_AT_ONCE];
        if (count < 2 || count > MOST_AT_ONCE || !is_level(m, items, count, moment))
            continue;
        find_together(m, items, count, moment, together);
        for (uint32_t k = 0; k < count; k++)
            bind(group_of, items[k], items[__builtin_ctz(together[k])]);
    }
    for (uint32_t i = 0; i < m->item_count; i++)
        group_of[i] = root_of(group_of, i);
    for (uint32_t i = 0; i < m->item_count; i++) /* leaders come first: theirs are numbers by then */
        group_of[i] = group_of[i] == i ? groups++ : group_of[group_of[i]];
    return groups;
}
