/* greedy.c: the baseline: what XLA's memory-space assignment does. Rows with the most traffic first; each goes from use
 * to use: where it is, if there is room until the next; otherwise away, and fetched just before the next use, if there
 * is room and the channel is free; otherwise the next use is served where the row lies then. What has a place keeps it:
 * no later row changes it. */
#include "base/meta.h"
#include "planner/moves/courses.h"

/* One row: the uses between two of its moments. */
typedef struct hand {
    masu__moves *m;
    size_t row;
    uint32_t lower, upper;
    masu__course course;
    uint8_t fast, slow;        /* where it wants to be, and where it can always be */
    uint32_t in_fast, in_slow; /* stays that are open; UINT32_MAX: it is not there */
} hand;

static bool has_room(const hand *h, uint8_t memory, uint32_t from, uint32_t to) {
    const masu__moves *m = h->m;
    int64_t size = masu__moves_size(m, h->row);
    if (size > m->limit[memory])
        return false;
    for (uint32_t t = from; t < to && m->limit[memory] != INT64_MAX; t++)
        if (m->load[memory][t] + size > m->limit[memory])
            return false;
    return true;
}

static bool is_used(const hand *h, uint32_t t) {
    size_t at = h->m->at[h->row] + t - h->lower;
    return h->m->reads[at] + h->m->writes[at] > 0 || h->m->single[at];
}

static bool is_written(const hand *h, uint32_t from, uint32_t to) {
    for (uint32_t t = from; t < to; t++)
        if (h->m->single[h->m->at[h->row] + t - h->lower])
            return true;
    return false;
}

static uint32_t next_use(const hand *h, uint32_t t) {
    while (t < h->upper && !is_used(h, t))
        t++;
    return t;
}

static bool open_stay(hand *h, uint8_t memory, uint32_t begin, uint32_t end, uint32_t from, uint32_t *out) {
    masu__stay stay = {begin, 0, begin, end, from, memory};
    *out = h->course.count;
    if (masu__course_push(&h->course, &stay))
        return true;
    h->m->out_of_memory = true;
    return false;
}

static void close_stay(hand *h, uint32_t *stay, uint32_t upper) {
    if (*stay != UINT32_MAX)
        h->course.stays[*stay].upper = upper;
    *stay = UINT32_MAX;
}

/* From fast after the use at t to slow: the first moments in which the channel can. False: it cannot, or there is no
 * room. */
static bool evict(hand *h, uint32_t t, uint32_t before) {
    int64_t end = t + 1 < before ? h->m->finish[t + 1] : INT64_MAX;
    if (h->fast == h->slow || end >= before || is_written(h, t + 1, (uint32_t)end) ||
        !has_room(h, h->fast, t + 1, (uint32_t)end))
        return false;
    if (!has_room(h, h->slow, t + 1, h->upper))
        return false;
    uint32_t from = h->in_fast;
    if (!open_stay(h, h->slow, t + 1, (uint32_t)end, from, &h->in_slow))
        return false;
    close_stay(h, &h->in_fast, (uint32_t)end);
    return true;
}

/* From slow, over just before the use at t, as late as that goes. */
static bool fetch(hand *h, uint32_t after, uint32_t t) {
    for (uint32_t begin = t; begin-- > after;) {
        if (h->m->finish[begin] > t || is_written(h, begin, t))
            continue;
        if (!has_room(h, h->fast, begin, t + 1))
            return false;
        return open_stay(h, h->fast, begin, (uint32_t)h->m->finish[begin], h->in_slow, &h->in_fast);
    }
    return false;
}

/* The use at `next` and how the row gets there from the one at t. False: with another plan for the row. */
static bool reach(hand *h, uint32_t t, uint32_t next) {
    if (h->in_fast != UINT32_MAX && has_room(h, h->fast, t + 1, next + 1))
        return true;
    if (h->in_fast != UINT32_MAX && h->in_slow != UINT32_MAX)
        close_stay(h, &h->in_fast, t + 1);
    if (h->in_fast != UINT32_MAX && !evict(h, t, next))
        return false;
    uint32_t ready = h->course.stays[h->in_slow].end > t + 1 ? h->course.stays[h->in_slow].end : t + 1;
    bool again = next + 1 < h->upper &&
                 next_use(h, next + 1) < h->upper; /* a fetch for the last use alone costs as much as the use */
    if (again)
        fetch(h, ready, next);
    return !h->m->out_of_memory;
}

/* The copy that a write leaves behind is not the row's any more. */
static void drop_stale(hand *h, uint32_t t) {
    if (h->in_fast == UINT32_MAX || h->in_slow == UINT32_MAX || !is_written(h, t, t + 1))
        return;
    close_stay(h, &h->in_slow, t);
}

static bool go_through(hand *h, bool from_fast) {
    uint8_t first = from_fast ? h->fast : h->slow;
    h->course.count = 0;
    h->in_fast = h->in_slow = UINT32_MAX;
    if (!open_stay(h, first, h->lower, h->lower, 0, from_fast ? &h->in_fast : &h->in_slow))
        return false;
    if (!has_room(h, first, h->lower, h->lower + 1))
        return false;
    uint32_t t = h->lower;
    for (uint32_t next = next_use(h, t + 1); next < h->upper; next = next_use(h, t + 1)) {
        if (!reach(h, t, next) || h->m->out_of_memory)
            return false;
        t = next;
        drop_stale(h, t);
    }
    if (h->in_fast != UINT32_MAX && h->in_slow == UINT32_MAX && t + 1 < h->upper &&
        !has_room(h, h->fast, t + 1, h->upper) && !evict(h, t, h->upper))
        return false;
    close_stay(h, &h->in_fast, h->in_slow == UINT32_MAX ? h->upper : t + 1);
    close_stay(h, &h->in_slow, h->upper);
    return true;
}

/* Whether the course holds no more than there is room for: slow may be full, too. */
static bool fits(const hand *h) {
    for (uint32_t i = 0; i < h->course.count; i++)
        if (h->course.stays[i].lower < h->course.stays[i].upper &&
            !has_room(h, h->course.stays[i].memory, h->course.stays[i].lower, h->course.stays[i].upper))
            return false;
    return true;
}

/* The row in this pair of memories; false: there is no way. */
static bool try_pair(hand *h, bool from_fast) {
    if (!masu__course_may(h->m, h->row, from_fast ? h->fast : h->slow, true) || !go_through(h, from_fast) || !fits(h))
        return false;
    masu__course *kept = &h->m->courses[h->row];
    h->course.cost = masu__course_cost(h->m, h->row, &h->course);
    if (kept->count > 0 && kept->cost <= h->course.cost)
        return false;
    if (!masu__course_copy(&h->course, kept))
        h->m->out_of_memory = true;
    return !h->m->out_of_memory;
}

/* Rows that stay: the cheapest memory with room. The others: fast with the last memory behind it, or there for life. */
static bool place_row(hand *h) {
    masu__moves *m = h->m;
    const masu_moves_row *row = &m->problem->rows[h->row];
    m->courses[h->row].count = 0;
    h->lower = (uint32_t)row->lower;
    h->upper = (uint32_t)row->upper;
    if (row->only != MASU_MOVES_ANY || m->stays) {
        masu__ask ask = {h->row, true, 0};
        return masu__course_value(m, &ask) < MASU__MOVES_NEVER && masu__course_take(m, h->row, &m->courses[h->row]);
    }
    masu__channel_finish(m, masu__moves_size(m, h->row), true, h->lower, h->upper);
    h->slow = (uint8_t)(m->memory_count - 1);
    for (uint8_t k = 0; k < m->memory_count && !m->out_of_memory; k++) {
        h->fast = k;
        try_pair(h, true);
        if (k != h->slow)
            try_pair(h, false);
    }
    return m->courses[h->row].count > 0;
}

bool masu__moves_greedy(masu__moves *m) {
    masu__arena_mark mark = masu__arena_get_mark(&m->arena);
    uint32_t *order = masu__moves_rank(m, false);
    hand h = {.m = m};
    bool right = order != NULL;
    for (size_t i = 0; right && i < m->problem->count; i++) {
        h.row = order[i];
        right = place_row(&h) && masu__loads_add(m, h.row);
    }
    masu__meta_free(h.course.stays, h.course.room * sizeof *h.course.stays);
    masu__arena_release(&m->arena, mark);
    return right;
}
