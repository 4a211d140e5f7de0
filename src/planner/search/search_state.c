/* search_state.c: the state of the exact search. */
#include "planner/search/search_state.h"

#include <stdlib.h>
#include <string.h>

#include "base/meta.h"

/* Beyond this the lists alone would take gigabytes, and the search would get nowhere. */
#define MOST_ITEMS    8192
#define MOST_LIVES    ((uint64_t)8 << 20)
#define MOST_MEETINGS ((uint64_t)8 << 20)

#define NEW(state, type, count) \
    ((type *)masu__arena_calloc(&(state)->arena, (size_t)(count) + 1, sizeof(type), _Alignof(type)))

/* ---- set-up: who lives where, who meets whom ------------------------------------------------- */

static bool small_enough(const masu__plan_model *m) {
    uint64_t lives = 0;
    for (uint32_t k = 0; k < m->piece_start[m->item_count]; k++)
        lives += m->pieces[k].end - m->pieces[k].first;
    return m->item_count <= MOST_ITEMS && lives <= MOST_LIVES;
}

static bool fill_members(masu__search_state *t) {
    const masu__plan_model *m = t->model;
    t->member_start = NEW(t, uint32_t, m->section_count + 1);
    if (!t->member_start)
        return false;
    for (uint32_t k = 0; k < m->piece_start[m->item_count]; k++)
        for (uint32_t s = m->pieces[k].first; s < m->pieces[k].end; s++)
            t->member_start[s + 1]++;
    for (uint32_t s = 0; s < m->section_count; s++)
        t->member_start[s + 1] += t->member_start[s];
    t->members = NEW(t, uint32_t, t->member_start[m->section_count]);
    if (!t->members)
        return false;
    for (uint32_t i = 0; i < m->item_count; i++)
        for (uint32_t k = m->piece_start[i]; k < m->piece_start[i + 1]; k++)
            for (uint32_t s = m->pieces[k].first; s < m->pieces[k].end; s++)
                t->members[t->member_start[s]++] = i;
    for (uint32_t s = m->section_count; s > 0; s--)
        t->member_start[s] = t->member_start[s - 1];
    t->member_start[0] = 0;
    return true;
}

/* How far above a's offset that of b must be when a lies below; LEAST: they never meet. */
#define LEAST INT64_MIN
static int64_t height_where_met(const masu__plan_model *m, uint32_t a, uint32_t b) {
    int64_t height = LEAST;
    for (uint32_t i = m->piece_start[a]; i < m->piece_start[a + 1]; i++)
        for (uint32_t j = m->piece_start[b]; j < m->piece_start[b + 1]; j++)
            if (m->pieces[i].first < m->pieces[j].end && m->pieces[j].first < m->pieces[i].end &&
                m->pieces[i].base + m->pieces[i].height - m->pieces[j].base > height)
                height = m->pieces[i].base + m->pieces[i].height - m->pieces[j].base;
    return height;
}

static int by_birth(const void *a, const void *b, void *model) {
    const masu__plan_model *m = model;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (m->first[x] != m->first[y])
        return m->first[x] < m->first[y] ? -1 : 1;
    return (x > y) - (x < y);
}

typedef void (*pair_function)(masu__search_state *t, uint32_t a, uint32_t b, int64_t height_a, int64_t height_b);

static void count_pair(masu__search_state *t, uint32_t a, uint32_t b, int64_t ha, int64_t hb) {
    (void)ha;
    (void)hb;
    t->meeting_start[a + 1]++;
    t->meeting_start[b + 1]++;
}

static void note_pair(masu__search_state *t, uint32_t a, uint32_t b, int64_t ha, int64_t hb) {
    t->meetings[t->meeting_start[a]++] = (masu__meeting){b, ha, hb};
    t->meetings[t->meeting_start[b]++] = (masu__meeting){a, hb, ha};
}

static void each_pair(masu__search_state *t, const uint32_t *order, pair_function function) {
    const masu__plan_model *m = t->model;
    for (uint32_t i = 0; i < m->item_count; i++)
        for (uint32_t j = i + 1; j < m->item_count && m->first[order[j]] < m->end[order[i]]; j++) {
            int64_t height = height_where_met(m, order[i], order[j]);
            if (height != LEAST)
                function(t, order[i], order[j], height, height_where_met(m, order[j], order[i]));
        }
    for (uint32_t i = 0; i < m->apart_count; i++)
        function(t, m->apart[i].a, m->apart[i].b, m->apart[i].height_a, m->apart[i].height_b);
}

static int by_opposite(const void *a, const void *b) {
    const masu__meeting *x = a, *y = b;
    if (x->opposite != y->opposite)
        return x->opposite < y->opposite ? -1 : 1;
    return (x->item > y->item) - (x->item < y->item);
}

static bool fill_meetings(masu__search_state *t, bool *too_large) {
    const masu__plan_model *m = t->model;
    uint32_t *order = NEW(t, uint32_t, m->item_count);
    t->meeting_start = NEW(t, uint32_t, m->item_count + 1);
    if (!order || !t->meeting_start)
        return false;
    for (uint32_t i = 0; i < m->item_count; i++)
        order[i] = i;
    qsort_r(order, m->item_count, sizeof *order, by_birth, (void *)m);
    each_pair(t, order, count_pair);
    uint64_t total = 0;
    for (uint32_t i = 1; i <= m->item_count; i++)
        total += t->meeting_start[i];
    if (total > MOST_MEETINGS) {
        *too_large = true;
        return false;
    }
    for (uint32_t i = 0; i < m->item_count; i++)
        t->meeting_start[i + 1] += t->meeting_start[i];
    t->meetings = NEW(t, masu__meeting, total);
    if (!t->meetings)
        return false;
    each_pair(t, order, note_pair);
    for (uint32_t i = m->item_count; i > 0; i--)
        t->meeting_start[i] = t->meeting_start[i - 1];
    t->meeting_start[0] = 0;
    for (uint32_t i = 0; i < m->item_count; i++)
        qsort(t->meetings + t->meeting_start[i], t->meeting_start[i + 1] - t->meeting_start[i], sizeof *t->meetings,
              by_opposite);
    return true;
}

/* ---- obstacles ------------------------------------------------------------------------------- */

/* Room for one item's more. */
static bool grow_blocks(masu__search_state *t, size_t *room, size_t needed) {
    if (needed <= *room)
        return true;
    size_t more = 2 * needed + 64;
    t->blocks = masu__arena_grow(&t->arena, t->blocks, *room, more, sizeof *t->blocks, sizeof(int64_t));
    *room = more;
    return t->blocks != NULL;
}

static bool fill_blocks(masu__search_state *t) {
    const masu__plan_model *m = t->model;
    masu__obstacles obstacles;
    size_t count, room = 0, total = 0;
    t->block_start = NEW(t, uint32_t, m->item_count + 1);
    if (!t->block_start || m->obstacle_count == 0)
        return t->block_start != NULL;
    bool right = masu__obstacles_open(&obstacles, m);
    for (uint32_t i = 0; right && i < m->item_count; i++) {
        const masu__block *blocks = masu__obstacles_blocks(&obstacles, i, &count);
        right = count != SIZE_MAX && total + count < UINT32_MAX / 2 && grow_blocks(t, &room, total + count + 1);
        if (right && count > 0)
            memcpy(t->blocks + total, blocks, count * sizeof *blocks);
        total += right ? count : 0;
        t->block_start[i + 1] = (uint32_t)total;
    }
    masu__obstacles_close(&obstacles);
    return right;
}

/* The lowest offset >= from that is aligned and clear of obstacles. */
static int64_t clear_offset(const masu__search_state *t, uint32_t item, int64_t from) {
    int64_t alignment = t->model->alignment[item];
    int64_t offset = masu__plan_align(from, alignment);
    uint32_t low = t->block_start[item], end = t->block_start[item + 1], high = end;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (t->blocks[middle].to <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < end && t->blocks[low].from < offset; low++)
        if (t->blocks[low].to > offset)
            offset = masu__plan_align(t->blocks[low].to, alignment);
    return offset;
}

/* ---- twins ----------------------------------------------------------------------------------- */

static int twin_order(const masu__plan_model *m, uint32_t x, uint32_t y) {
    if (m->first[x] != m->first[y])
        return m->first[x] < m->first[y] ? -1 : 1;
    if (m->end[x] != m->end[y])
        return m->end[x] < m->end[y] ? -1 : 1;
    if (m->size[x] != m->size[y])
        return m->size[x] < m->size[y] ? -1 : 1;
    return (m->alignment[x] > m->alignment[y]) - (m->alignment[x] < m->alignment[y]);
}

static int by_shape(const void *a, const void *b, void *model) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int order = twin_order(model, x, y);
    return order != 0 ? order : (x > y) - (x < y);
}

/* Twins could change places in any plan: it is enough to look at those in which they lie in the
 * order of their numbers. */
static bool find_twins(masu__search_state *t) {
    const masu__plan_model *m = t->model;
    uint32_t *order = NEW(t, uint32_t, m->item_count);
    if (!order)
        return false;
    for (uint32_t i = 0; i < m->item_count; i++) {
        order[i] = i;
        t->twin[i] = MASU__PLAN_NONE;
    }
    if (m->apart_count > 0 || m->apart_fixed_count > 0)
        return true;
    qsort_r(order, m->item_count, sizeof *order, by_shape, (void *)m);
    for (uint32_t i = 1; i < m->item_count; i++)
        if (twin_order(m, order[i - 1], order[i]) == 0 && masu__plan_is_plain(m, order[i]) &&
            masu__plan_is_plain(m, order[i - 1]))
            t->twin[order[i]] = order[i - 1];
    return true;
}

/* ---- opening --------------------------------------------------------------------------------- */

bool masu__state_open(masu__search_state *t, const masu__plan_model *m, bool *too_large) {
    *t = (masu__search_state){.model = m, .model_items = m->item_count};
    if (!small_enough(m)) {
        *too_large = true;
        return false;
    }
    t->offsets = NEW(t, int64_t, m->item_count);
    t->lowest = NEW(t, int64_t, m->item_count);
    t->support = NEW(t, int64_t, m->item_count);
    t->start = NEW(t, int64_t, m->item_count);
    t->twin = NEW(t, uint32_t, m->item_count);
    t->witnessed = NEW(t, uint32_t, m->item_count);
    t->rest = NEW(t, int64_t, m->section_count);
    t->failures = NEW(t, uint32_t, m->section_count);
    t->witness = NEW(t, uint32_t, m->section_count);
    t->crossing = NEW(t, uint32_t, m->section_count);
    t->queue = NEW(t, uint32_t, m->section_count);
    t->queued = NEW(t, bool, m->section_count);
    t->trail_room = 4096;
    t->trail = masu__meta_alloc(t->trail_room * sizeof *t->trail);
    if (!t->trail)
        t->trail_room = 0;
    if (!t->trail || !t->offsets || !t->lowest || !t->support || !t->start || !t->twin || !t->witnessed ||
        !t->failures || !t->rest || !t->witness || !t->crossing || !t->queue || !t->queued || !fill_members(t) ||
        !fill_meetings(t, too_large) || !fill_blocks(t) || !find_twins(t))
        return false; /* the caller closes */
    if (t->blocks && !masu__walls_open(&t->walls, m, too_large))
        return false;
    for (uint32_t i = 0; i < m->item_count; i++)
        t->start[i] = clear_offset(t, i, 0);
    return true;
}

void masu__state_close(masu__search_state *t) {
    masu__meta_free(t->trail, t->trail_room * sizeof *t->trail);
    masu__walls_close(&t->walls);
    masu__arena_destroy(&t->arena);
}

/* ---- steps ----------------------------------------------------------------------------------- */

static void note(masu__search_state *t, masu__change change) {
    t->trail[t->trail_count++] = change;
}

static bool trail_room(masu__search_state *t, size_t more) {
    size_t needed = t->trail_count + more;
    if (needed <= t->trail_room)
        return true;
    masu__change *grown = masu__meta_realloc(t->trail, t->trail_room * sizeof *grown, 2 * needed * sizeof *grown);
    t->failed_memory = !grown;
    if (!grown)
        return false;
    t->trail = grown;
    t->trail_room = 2 * needed;
    return true;
}

/* A placement changes at most every item it meets (twice) and every section. */
static bool trail_ready(masu__search_state *t, uint32_t item) {
    return trail_room(t, 1 + t->model->section_count + 2 * (t->meeting_start[item + 1] - t->meeting_start[item]));
}

/* sign 1: the item is to be placed again; -1: it has been placed. */
static void change_rest(masu__search_state *t, uint32_t item, int sign) {
    const masu__plan_model *m = t->model;
    for (uint32_t k = m->piece_start[item]; k < m->piece_start[item + 1]; k++)
        for (uint32_t s = m->pieces[k].first; s < m->pieces[k].end; s++)
            t->rest[s] += sign * m->pieces[k].height;
    for (uint32_t s = m->first[item]; s + 1 < m->end[item]; s++)
        t->crossing[s] += (uint32_t)sign;
}

static void queue_section(masu__search_state *t, uint32_t section) {
    if (t->queued[section])
        return;
    t->queued[section] = true;
    t->queue[t->queue_count++] = section;
}

static void queue_clear(masu__search_state *t) {
    for (uint32_t i = 0; i < t->queue_count; i++)
        t->queued[t->queue[i]] = false;
    t->queue_count = 0;
}

/* Whether the rest of the section has room above floor. */
static inline bool has_room(const masu__search_state *t, uint32_t section, int64_t floor) {
    int64_t needed = floor + t->rest[section];
    if (t->blocks && needed <= t->capacity) /* obstacles above take their share */
        needed += masu__walls_above(&t->walls, section, floor);
    return needed <= t->capacity;
}

/* Where the item has become too high to be the witness (or is placed). */
static void queue_witnessed(masu__search_state *t, uint32_t item) {
    const masu__plan_model *m = t->model;
    if (t->witnessed[item] == 0)
        return;
    bool placed = t->lowest[item] == MASU__PLACED;
    uint32_t left = t->witnessed[item];
    for (uint32_t k = m->piece_start[item]; left > 0 && k < m->piece_start[item + 1]; k++)
        for (uint32_t s = m->pieces[k].first; left > 0 && s < m->pieces[k].end; s++) {
            if (t->witness[s] != item)
                continue;
            left--;
            if (placed || !has_room(t, s, t->lowest[item]))
                queue_section(t, s);
        }
}

/* False: every unplaced member is too high. */
static bool find_witness(masu__search_state *t, uint32_t section) {
    t->witness[section] = MASU__PLAN_NONE;
    if (t->rest[section] == 0)
        return true;
    int64_t highest = t->capacity - t->rest[section];
    for (uint32_t k = t->member_start[section]; k < t->member_start[section + 1]; k++) {
        int64_t lowest = t->lowest[t->members[k]]; /* of a placed one: above everything */
        if (lowest > highest || !has_room(t, section, lowest))
            continue;
        t->witness[section] = t->members[k];
        t->witnessed[t->members[k]]++;
        return true;
    }
    return false;
}

static void blame_section(masu__search_state *t, uint32_t section) {
    t->culprit = (masu__culprit){.section = section, .item = MASU__PLAN_NONE};
    t->failures[section]++;
}

static void blame_item(masu__search_state *t, uint32_t item, bool and_met) {
    t->culprit = (masu__culprit){MASU__PLAN_NONE, item, and_met};
}

/* Each queued section gets another witness. False: one has no room left. */
static bool settle_witnesses(masu__search_state *t) {
    bool fits = true;
    for (uint32_t i = 0; i < t->queue_count && fits; i++) {
        uint32_t section = t->queue[i];
        note(t, (masu__change){MASU__CHANGE_WITNESS, section, t->witness[section], 0});
        t->witnessed[t->witness[section]]--;
        fits = find_witness(t, section);
        if (!fits)
            blame_section(t, section);
    }
    queue_clear(t);
    return fits;
}

static bool raise_lowest(masu__search_state *t, uint32_t item, int64_t to) {
    note(t, (masu__change){MASU__CHANGE_LOWEST, item, 0, t->lowest[item]});
    t->lowest[item] = to;
    if (to + t->model->size[item] > t->capacity) {
        blame_item(t, item, false);
        return false;
    }
    queue_witnessed(t, item);
    return true;
}

/* Everything that meets the item moves above it. */
static bool raise_others(masu__search_state *t, uint32_t item) {
    for (uint32_t k = t->meeting_start[item]; k < t->meeting_start[item + 1]; k++) {
        uint32_t other = t->meetings[k].item;
        int64_t from = t->offsets[item] + t->meetings[k].height;
        if (t->support[other] >= from || t->lowest[other] == MASU__PLACED)
            continue;
        from = clear_offset(t, other, from);
        note(t, (masu__change){MASU__CHANGE_SUPPORT, other, 0, t->support[other]});
        t->support[other] = from;
        if (from > t->lowest[other] && !raise_lowest(t, other, from))
            return false;
    }
    return true;
}

bool masu__state_place(masu__search_state *t, uint32_t item) {
    const masu__plan_model *m = t->model;
    blame_item(t, item, false);
    if (!trail_ready(t, item))
        return false;
    int64_t offset = t->lowest[item];
    note(t, (masu__change){MASU__CHANGE_PLACED, item, 0, offset});
    t->offsets[item] = offset;
    t->lowest[item] = MASU__PLACED;
    change_rest(t, item, -1);
    queue_witnessed(t, item);
    if (offset + m->size[item] <= t->capacity && raise_others(t, item))
        return settle_witnesses(t);
    queue_clear(t);
    return false;
}

/* The lowest end that an item in the way of `item` can have; INT64_MAX: none can be in its way.
 * Nothing is placed below offset any more. */
static int64_t lowest_hindrance(const masu__search_state *t, uint32_t item, int64_t offset) {
    int64_t end = INT64_MAX, support = t->support[item];
    for (uint32_t k = t->meeting_start[item]; k < t->meeting_start[item + 1]; k++) {
        const masu__meeting *meeting = &t->meetings[k];
        int64_t lowest = t->lowest[meeting->item];
        if (offset + meeting->opposite >= end)
            break; /* flatter ones come first */
        lowest = lowest < offset ? offset : lowest;
        if (lowest < support + meeting->height && lowest + meeting->opposite < end)
            end = lowest + meeting->opposite;
    }
    return end;
}

bool masu__state_infer(masu__search_state *t, const uint32_t *items, uint32_t count, int64_t offset, uint32_t place) {
    if (!trail_room(t, count + t->model->section_count))
        return false;
    bool fits = true;
    for (uint32_t i = 0; i < count && fits; i++) {
        int64_t lowest = t->lowest[items[i]];
        if (lowest > offset || (lowest == offset && i >= place && t->support[items[i]] == offset))
            continue;
        int64_t to = lowest_hindrance(t, items[i], offset);
        fits = to < INT64_MAX;
        if (!fits)
            blame_item(t, items[i], true);
        if (fits && to > lowest)
            fits = raise_lowest(t, items[i], clear_offset(t, items[i], to));
    }
    if (fits)
        return settle_witnesses(t);
    queue_clear(t);
    return false;
}

void masu__state_undo(masu__search_state *t, size_t mark) {
    while (t->trail_count > mark) {
        masu__change c = t->trail[--t->trail_count];
        switch (c.kind) {
        case MASU__CHANGE_SUPPORT:
            t->support[c.index] = c.value;
            break;
        case MASU__CHANGE_LOWEST:
            t->lowest[c.index] = c.value;
            break;
        case MASU__CHANGE_WITNESS:
            if (t->witness[c.index] != MASU__PLAN_NONE)
                t->witnessed[t->witness[c.index]]--;
            t->witness[c.index] = c.witness;
            t->witnessed[c.witness]++;
            break;
        case MASU__CHANGE_PLACED:
            t->lowest[c.index] = c.value;
            change_rest(t, c.index, 1);
            break;
        }
    }
}

/* ---- begin and check ------------------------------------------------------------------------- */

static void count_crossings(masu__search_state *t) {
    const masu__plan_model *m = t->model;
    memset(t->crossing, 0, m->section_count * sizeof *t->crossing);
    for (uint32_t i = 0; i < m->item_count; i++)
        for (uint32_t s = m->first[i]; s + 1 < m->end[i]; s++)
            t->crossing[s]++;
    /* what must be kept apart stays in one part */
    for (uint32_t i = 0; i < m->apart_count; i++) {
        uint32_t a = m->apart[i].a, b = m->apart[i].b;
        uint32_t first = m->first[a] < m->first[b] ? m->first[a] : m->first[b];
        uint32_t end = m->end[a] > m->end[b] ? m->end[a] : m->end[b];
        for (uint32_t s = first; s + 1 < end; s++)
            t->crossing[s]++;
    }
}

bool masu__state_reset(masu__search_state *t, int64_t capacity) {
    const masu__plan_model *m = t->model;
    t->capacity = capacity;
    t->trail_count = 0;
    t->failed_memory = false;
    memset(t->rest, 0, m->section_count * sizeof *t->rest);
    memcpy(t->lowest, t->start, m->item_count * sizeof *t->lowest);
    memcpy(t->support, t->start, m->item_count * sizeof *t->support);
    for (uint32_t k = 0; k < m->piece_start[m->item_count]; k++)
        for (uint32_t s = m->pieces[k].first; s < m->pieces[k].end; s++)
            t->rest[s] += m->pieces[k].height;
    count_crossings(t);
    for (uint32_t i = 0; i < m->item_count; i++)
        if (t->lowest[i] + m->size[i] > capacity)
            return false;
    memset(t->witnessed, 0, m->item_count * sizeof *t->witnessed);
    for (uint32_t s = 0; s < m->section_count; s++)
        if (!find_witness(t, s))
            return false;
    return true;
}

bool masu__state_valid(const masu__search_state *t) {
    const masu__plan_model *m = t->model;
    uint32_t stride = m->section_count / 8 + 1; /* a sample: this is asked after every search */
    for (uint32_t s = 0; s < m->section_count; s += stride) {
        int64_t rest = 0;
        for (uint32_t i = 0; i < m->item_count; i++)
            for (uint32_t k = m->piece_start[i]; k < m->piece_start[i + 1]; k++)
                if (m->pieces[k].first <= s && s < m->pieces[k].end && t->lowest[i] != MASU__PLACED)
                    rest += m->pieces[k].height;
        uint32_t witness = t->witness[s];
        if (rest != t->rest[s] || (rest == 0) != (witness == MASU__PLAN_NONE) ||
            (rest > 0 && (t->lowest[witness] == MASU__PLACED || !has_room(t, s, t->lowest[witness]))))
            return false;
    }
    for (uint32_t i = 0; i < m->item_count; i++)
        if (t->lowest[i] < t->support[i])
            return false;
    return t->queue_count == 0;
}
