/* walls.c: what obstacles leave of each section. See walls.h. */
#include "planner/fixed/walls.h"

#include <stdlib.h>
#include <string.h>

#include "planner/fixed/obstacles.h"

#define MOST_WALLS              ((uint64_t)8 << 20)

#define NEW(arena, type, count) ((type *)masu__arena_calloc((arena), (size_t)(count) + 1, sizeof(type), _Alignof(type)))

/* ---- walls ----------------------------------------------------------------------------------- */

int64_t *masu__walls_least(masu__arena *arena, const masu__plan_model *m) {
    int64_t *least = NEW(arena, int64_t, m->section_count);
    for (uint32_t s = 0; least && s < m->section_count; s++)
        least[s] = MASU__PLAN_MOST;
    for (uint32_t k = 0; least && k < m->piece_start[m->item_count]; k++)
        for (uint32_t s = m->pieces[k].first; s < m->pieces[k].end; s++)
            if (m->pieces[k].height < least[s])
                least[s] = m->pieces[k].height;
    return least;
}

static bool count_walls(masu__walls *w, const masu__plan_model *m, uint64_t *total) {
    *total = 0;
    for (uint32_t o = 0; o < m->obstacle_count; o++) {
        *total += m->obstacles[o].end - m->obstacles[o].first;
        if (*total > MOST_WALLS)
            return false;
        for (uint32_t s = m->obstacles[o].first; s < m->obstacles[o].end; s++)
            w->start[s + 1]++;
    }
    for (uint32_t s = 0; s < m->section_count; s++)
        w->start[s + 1] += w->start[s];
    return true;
}

/* Joined to the one below when nothing fits between. */
static void add_wall(masu__walls *w, uint32_t section, int64_t from, int64_t to, int64_t least) {
    masu__wall *walls = w->walls + w->start[section];
    uint32_t count = w->count[section];
    int64_t below = count > 0 ? walls[count - 1].to : 0;
    if (count > 0 && from - below < least) {
        walls[count - 1].to = to > below ? to : below;
        return;
    }
    walls[count] = (masu__wall){from < least ? 0 : from, to, 0};
    w->count[section]++;
}

static void sum_above(masu__walls *w, uint32_t sections) {
    for (uint32_t s = 0; s < sections; s++) {
        masu__wall *walls = w->walls + w->start[s];
        int64_t above = 0;
        for (uint32_t k = w->count[s]; k-- > 0;)
            walls[k].above = above += walls[k].to - walls[k].from;
    }
}

bool masu__walls_open(masu__walls *w, const masu__plan_model *m, bool *too_large) {
    *w = (masu__walls){0};
    uint64_t total;
    w->start = NEW(&w->arena, uint32_t, m->section_count + 1);
    w->count = NEW(&w->arena, uint32_t, m->section_count);
    if (!w->start || !w->count)
        return false;
    *too_large = !count_walls(w, m, &total);
    if (*too_large)
        return false;
    uint32_t *order = NEW(&w->arena, uint32_t, m->obstacle_count);
    int64_t *least = masu__walls_least(&w->arena, m);
    w->walls = NEW(&w->arena, masu__wall, total);
    if (!order || !least || !w->walls)
        return false;
    for (uint32_t o = 0; o < m->obstacle_count; o++)
        order[o] = o;
    if (m->obstacle_count > 0)
        qsort_r(order, m->obstacle_count, sizeof *order, masu__obstacles_by_offset, (void *)m);
    for (uint32_t k = 0; k < m->obstacle_count; k++) {
        const masu__plan_obstacle *o = &m->obstacles[order[k]];
        for (uint32_t s = o->first; s < o->end; s++)
            add_wall(w, s, o->offset, o->offset + o->size, least[s]);
    }
    sum_above(w, m->section_count);
    return true;
}

void masu__walls_close(masu__walls *w) {
    masu__arena_destroy(&w->arena);
}

/* ---- the bound ------------------------------------------------------------------------------- */

static int descending(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x < y) - (x > y);
}

/* Items beside holes that are at least t tall, for each t: the sum of items grows one by one, and with it that of the
 * holes. holes has room for count + 1. */
static int64_t bound_of_section(const masu__wall *walls, uint32_t count, int64_t *items, uint32_t item_count,
                                int64_t *holes) {
    int64_t last = count > 0 ? walls[count - 1].to : 0, most = 0, sum = 0, room = 0;
    uint32_t hole = 0;
    for (uint32_t k = 0; k < count; k++)
        holes[k] = walls[k].from - (k > 0 ? walls[k - 1].to : 0);
    qsort(items, item_count, sizeof *items, descending);
    qsort(holes, count, sizeof *holes, descending);
    for (uint32_t i = 0; i < item_count; i++) {
        sum += items[i];
        for (; hole < count && holes[hole] >= items[i]; hole++)
            room += holes[hole];
        if ((i + 1 == item_count || items[i + 1] < items[i]) && sum > room && last + sum - room > most)
            most = last + sum - room;
    }
    return most;
}

typedef struct members {
    uint32_t *start;
    int64_t *height;
} members;

static bool find_members(members *e, masu__arena *arena, const masu__plan_model *m) {
    e->start = NEW(arena, uint32_t, m->section_count + 1);
    uint32_t pieces = m->piece_start[m->item_count];
    if (!e->start)
        return false;
    for (uint32_t k = 0; k < pieces; k++)
        for (uint32_t s = m->pieces[k].first; s < m->pieces[k].end; s++)
            e->start[s + 1]++;
    for (uint32_t s = 0; s < m->section_count; s++)
        e->start[s + 1] += e->start[s];
    e->height = NEW(arena, int64_t, e->start[m->section_count]);
    if (!e->height)
        return false;
    for (uint32_t k = 0; k < pieces; k++)
        for (uint32_t s = m->pieces[k].first; s < m->pieces[k].end; s++)
            e->height[e->start[s]++] = m->pieces[k].height;
    for (uint32_t s = m->section_count; s > 0; s--)
        e->start[s] = e->start[s - 1];
    e->start[0] = 0;
    return true;
}

static bool raise_by_sections(masu__plan_model *m, masu__walls *w) {
    members e;
    uint32_t most = 0;
    for (uint32_t s = 0; s < m->section_count; s++)
        most = w->count[s] > most ? w->count[s] : most;
    int64_t *holes = NEW(&w->arena, int64_t, most);
    if (!holes || !find_members(&e, &w->arena, m))
        return false;
    for (uint32_t s = 0; s < m->section_count; s++) {
        int64_t bound = bound_of_section(w->walls + w->start[s], w->count[s], e.height + e.start[s],
                                         e.start[s + 1] - e.start[s], holes);
        m->bound = bound > m->bound ? bound : m->bound;
    }
    return true;
}

/* Each item by itself: where it fits, over its whole life. */
static bool raise_by_items(masu__plan_model *m) {
    masu__obstacles obstacles;
    bool right = masu__obstacles_open(&obstacles, m);
    for (uint32_t i = 0; right && i < m->item_count; i++) {
        size_t count;
        const masu__block *blocks = masu__obstacles_blocks(&obstacles, i, &count);
        int64_t offset = 0;
        right = count != SIZE_MAX;
        for (size_t k = 0; right && k < count && blocks[k].from < offset; k++)
            offset = masu__plan_align(blocks[k].to, m->alignment[i]) > offset
                         ? masu__plan_align(blocks[k].to, m->alignment[i])
                         : offset;
        if (right && offset + m->size[i] > m->bound)
            m->bound = offset + m->size[i];
    }
    masu__obstacles_close(&obstacles);
    return right;
}

bool masu__walls_raise_bound(masu__plan_model *m) {
    masu__walls walls;
    bool too_large = false;
    uint64_t lives = 0;
    if (m->obstacle_count == 0 || m->holes)
        return true;
    for (uint32_t k = 0; k < m->piece_start[m->item_count]; k++)
        lives += m->pieces[k].end - m->pieces[k].first;
    bool right = raise_by_items(m);
    if (right && lives <= MOST_WALLS) {
        right = masu__walls_open(&walls, m, &too_large);
        right = right ? raise_by_sections(m, &walls) : too_large;
        masu__walls_close(&walls);
    }
    return right;
}
