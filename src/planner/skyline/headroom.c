/* headroom.c: the walls above a skyline that rises. See headroom.h. */
#include "planner/skyline/headroom.h"

#include <string.h>

#define NEW(room, type, count) \
    ((type *)masu__arena_calloc(&(room)->walls.arena, (size_t)(count) + 1, sizeof(type), _Alignof(type)))

bool masu__headroom_open(masu__headroom *room, const masu__plan_model *m, bool *too_large) {
    if (!masu__walls_open(&room->walls, m, too_large))
        return false;
    room->next = NEW(room, uint32_t, m->section_count);
    room->least = masu__walls_least(&room->walls.arena, m);
    return room->next && room->least;
}

void masu__headroom_close(masu__headroom *room) {
    masu__walls_close(&room->walls);
}

void masu__headroom_reset(masu__headroom *room, uint32_t sections) {
    memset(room->next, 0, sections * sizeof *room->next);
}

static int64_t next_wall(const masu__headroom *room, uint32_t section) {
    const masu__walls *w = &room->walls;
    return room->next[section] < w->count[section] ? w->walls[w->start[section] + room->next[section]].from : INT64_MAX;
}

int64_t masu__headroom_rise(masu__headroom *room, uint32_t section, int64_t height, int64_t *wasted) {
    const masu__walls *w = &room->walls;
    const masu__wall *walls = w->walls + w->start[section];
    uint32_t *next = &room->next[section];
    for (; *next < w->count[section] && walls[*next].from - height < room->least[section]; ++*next) {
        if (wasted && walls[*next].from > height)
            *wasted += walls[*next].from - height;
        if (walls[*next].to > height)
            height = walls[*next].to;
    }
    return height;
}

bool masu__headroom_fits(const masu__headroom *room, uint32_t first, uint32_t end, int64_t top) {
    for (uint32_t s = first; s < end; s++)
        if (next_wall(room, s) < top)
            return false;
    return true;
}

int64_t masu__headroom_lowest(const masu__headroom *room, uint32_t first, uint32_t end) {
    int64_t lowest = INT64_MAX;
    for (uint32_t s = first; s < end; s++)
        if (next_wall(room, s) < lowest)
            lowest = next_wall(room, s);
    return lowest;
}
