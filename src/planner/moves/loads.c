/* loads.c: what the present courses hold, and when the channel is busy. */
#include <string.h>

#include "base/meta.h"
#include "planner/moves/courses.h"

void masu__loads_hold(masu__moves *m, const masu__course *course, int64_t bytes) {
    for (uint32_t i = 0; i < course->count; i++)
        for (uint32_t t = course->stays[i].lower; t < course->stays[i].upper; t++)
            m->load[course->stays[i].memory][t] += bytes;
}

static void forget(masu__moves *m, size_t row) {
    size_t kept = 0;
    for (size_t i = 0; i < m->busy_count; i++)
        if (m->busy[i].row != row)
            m->busy[kept++] = m->busy[i];
    m->busy_count = kept;
}

/* The first stretch of so many bytes that begins at `from` or later. */
static int64_t find_stretch(const masu__moves *m, int64_t from, int64_t bytes, size_t *at) {
    size_t i = 0;
    for (; i < m->busy_count; i++) {
        if (m->busy[i].to <= from)
            continue;
        if (from + bytes <= m->busy[i].from)
            break;
        from = m->busy[i].to;
    }
    *at = i;
    return from;
}

bool masu__busy_insert(masu__moves *m, size_t at, masu__busy stretch) {
    if (m->busy_count == m->busy_room) {
        size_t room = m->busy_room ? 2 * m->busy_room : 64;
        masu__busy *busy = masu__meta_realloc(m->busy, m->busy_room * sizeof *busy, room * sizeof *busy);
        if (!busy) {
            m->out_of_memory = true;
            return false;
        }
        m->busy = busy;
        m->busy_room = room;
    }
    memmove(m->busy + at + 1, m->busy + at, (m->busy_count - at) * sizeof *m->busy);
    m->busy[at] = stretch;
    m->busy_count++;
    return true;
}

static bool carry(masu__moves *m, size_t row, uint32_t number, const masu__stay *stay) {
    int64_t bytes = masu__moves_size(m, row);
    size_t at;
    int64_t from = find_stretch(m, m->carried[stay->begin], bytes, &at);
    if (from + bytes > m->carried[stay->end])
        return false;
    return masu__busy_insert(m, at, (masu__busy){from, from + bytes, (uint32_t)row, number});
}

bool masu__loads_add(masu__moves *m, size_t row) {
    const masu__course *course = &m->courses[row];
    for (uint32_t i = 0; m->carried && i < course->count; i++)
        if (course->stays[i].begin < course->stays[i].end && !carry(m, row, i, &course->stays[i])) {
            forget(m, row);
            return false;
        }
    masu__loads_hold(m, course, masu__moves_size(m, row));
    m->total += course->cost * masu__moves_size(m, row);
    return true;
}

void masu__loads_remove(masu__moves *m, size_t row) {
    masu__loads_hold(m, &m->courses[row], -masu__moves_size(m, row));
    m->total -= m->courses[row].cost * masu__moves_size(m, row);
    forget(m, row);
}

/* The first of a rising table that is at least `wanted`, between low and high; high where none is. */
static uint32_t find_carried(const masu__moves *m, int64_t wanted, uint32_t low, uint32_t high) {
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (m->carried[middle] >= wanted)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* How many stretches begin before this one. */
static size_t count_before(const masu__moves *m, int64_t at) {
    size_t low = 0, high = m->busy_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (m->busy[middle].from < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void masu__channel_finish(masu__moves *m, int64_t bytes, bool with_busy, uint32_t lower, uint32_t upper) {
    size_t last = m->carried && with_busy ? count_before(m, m->carried[upper]) : 0, busy = last;
    int64_t stretch = INT64_MAX; /* where the earliest one behind busy[busy - 1] begins */
    for (uint32_t t = upper; t-- > lower;) {
        if (!m->carried) {
            m->finish[t] = t + 1;
            continue;
        }
        int64_t from = m->carried[t];
        for (; busy > 0 && m->busy[busy - 1].to > from; busy--)
            if (m->busy[busy - 1].to + bytes <= (busy < last ? m->busy[busy].from : INT64_MAX))
                stretch = m->busy[busy - 1].to;
        int64_t begins = from + bytes <= (busy < last ? m->busy[busy].from : INT64_MAX) ? from : stretch;
        bool fits = begins != INT64_MAX && begins + bytes <= m->carried[upper];
        m->finish[t] = fits ? find_carried(m, begins + bytes, t + 1, upper) : m->moments + 1;
    }
}
