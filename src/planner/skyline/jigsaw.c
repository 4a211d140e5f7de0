/* jigsaw.c: jigsaws. See jigsaw.h. */
#include "planner/skyline/jigsaw.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/meta.h"
#include "base/rng.h"
#include "planner/skyline/headroom.h"

enum { MOST_ITEMS = 20000, MOST_OPTIONS = 16, NOWHERE = UINT32_MAX };
#define MOST_LIVES ((uint64_t)16 << 20)

/* A stretch of the skyline between higher neighbours. */
typedef struct valley {
    uint32_t first, end;
    uint32_t count;  /* of what may be done about its tighter corner */
    bool from_right; /* that is the one at its end */
    int64_t floor;
} valley;

typedef struct option {
    uint32_t item; /* NOWHERE: waste */
    double worth;
} option;

/* A node of the tree: a corner, what may still be done about it, and how to take back what was. */
typedef struct frame {
    valley at;
    uint32_t option_count, next; /* the last are done first */
    option options[MOST_OPTIONS + 1];
    uint32_t item, changed_first, changed_end; /* the move made; changed_end 0: none */
    size_t saved_count;                        /* before it */
} frame;

typedef struct saved {
    int64_t skyline, slack, rest;
    uint32_t wall;
} saved;

struct masu__corner {
    const masu__plan_model *model;
    uint32_t *birth_start, *births, *death_start, *deaths; /* items by section */
    double *worth;                                         /* per item */
    bool *placed;
    uint32_t placed_count;
    int64_t *offsets; /* the caller's */
    int64_t height;
    int64_t *skyline, *slack, *rest; /* per section; a skyline is the height where rest is 0 */
    int64_t *load;                   /* per section: items only */
    valley *valleys;
    uint32_t *valley_at; /* per section: place in valleys + 1 of the one that begins there; 0 */
    uint32_t valley_count;
    frame *frames;
    size_t frame_count, frame_room;
    saved *saved;
    size_t saved_count, saved_room;
    masu__headroom room;
    uint64_t steps;
    masu__arena arena; /* owns the arrays of fixed size */
};

#define NEW(c, type, count) ((type *)masu__arena_calloc(&(c)->arena, (size_t)(count) + 1, sizeof(type), _Alignof(type)))

/* ---- set-up ---------------------------------------------------------------------------------- */

static void sort_by_section(const uint32_t *section_of, uint32_t count, uint32_t sections, uint32_t *start,
                            uint32_t *items) {
    for (uint32_t i = 0; i < count; i++)
        start[section_of[i] + 1]++;
    for (uint32_t s = 0; s <= sections; s++)
        start[s + 1] += start[s];
    for (uint32_t i = 0; i < count; i++)
        items[start[section_of[i]]++] = i;
    for (uint32_t s = sections + 1; s > 0; s--)
        start[s] = start[s - 1];
    start[0] = 0;
}

static void find_load(masu__corner *c) {
    const masu__plan_model *m = c->model;
    memcpy(c->load, m->load, m->section_count * sizeof *c->load);
    for (uint32_t o = 0; o < m->obstacle_count; o++)
        for (uint32_t s = m->obstacles[o].first; s < m->obstacles[o].end; s++)
            c->load[s] -= m->obstacles[o].size;
}

static bool corner_arrays(masu__corner *c) {
    uint32_t n = c->model->item_count, sections = c->model->section_count;
    c->birth_start = NEW(c, uint32_t, sections + 2);
    c->births = NEW(c, uint32_t, n);
    c->death_start = NEW(c, uint32_t, sections + 2);
    c->deaths = NEW(c, uint32_t, n);
    c->worth = NEW(c, double, n);
    c->placed = NEW(c, bool, n);
    c->skyline = NEW(c, int64_t, sections);
    c->slack = NEW(c, int64_t, sections);
    c->rest = NEW(c, int64_t, sections);
    c->load = NEW(c, int64_t, sections);
    c->valleys = NEW(c, valley, sections);
    c->valley_at = NEW(c, uint32_t, sections);
    return c->birth_start && c->births && c->death_start && c->deaths && c->worth && c->placed && c->skyline &&
           c->slack && c->rest && c->load && c->valleys && c->valley_at;
}

static bool suits(const masu__plan_model *m) {
    uint64_t lives = 0;
    for (uint32_t i = 0; i < m->item_count; i++) {
        lives += m->end[i] - m->first[i];
        if (!masu__plan_is_plain(m, i))
            return false;
    }
    return !m->holes && m->item_count <= MOST_ITEMS && m->apart_count == 0 && m->apart_fixed_count == 0 &&
           m->piece_start[m->item_count] == m->item_count && lives <= MOST_LIVES;
}

masu__corner *masu__corner_create(const masu__plan_model *m, bool *too_large) {
    *too_large = !suits(m);
    masu__corner *c = *too_large ? NULL : masu__meta_calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->model = m;
    if (!masu__headroom_open(&c->room, m, too_large) || !corner_arrays(c)) {
        masu__corner_destroy(c);
        return NULL;
    }
    sort_by_section(m->first, m->item_count, m->section_count, c->birth_start, c->births);
    sort_by_section(m->end, m->item_count, m->section_count, c->death_start, c->deaths);
    find_load(c);
    return c;
}

void masu__corner_destroy(masu__corner *c) {
    if (!c)
        return;
    masu__headroom_close(&c->room);
    masu__meta_free(c->frames, c->frame_room * sizeof *c->frames);
    masu__meta_free(c->saved, c->saved_room * sizeof *c->saved);
    masu__arena_destroy(&c->arena);
    masu__meta_free(c, sizeof *c);
}

/* ---- the skyline ----------------------------------------------------------------------------- */

/* A section rises to `to`, `wasted` bytes of it for nothing, or further over walls. False: too much
 * is wasted. */
static bool rise(masu__corner *c, uint32_t s, int64_t to, int64_t wasted) {
    int64_t leap = masu__headroom_rise(&c->room, s, to, &wasted);
    c->skyline[s] = c->rest[s] > 0 ? leap : c->height;
    c->slack[s] -= wasted;
    return c->slack[s] >= 0 || c->rest[s] == 0;
}

static bool save(masu__corner *c, uint32_t first, uint32_t end) {
    size_t needed = c->saved_count + (end - first);
    if (needed > c->saved_room) {
        saved *grown = masu__meta_realloc(c->saved, c->saved_room * sizeof *grown, 2 * needed * sizeof *grown);
        if (!grown)
            return false;
        c->saved = grown;
        c->saved_room = 2 * needed;
    }
    for (uint32_t s = first; s < end; s++)
        c->saved[c->saved_count++] = (saved){c->skyline[s], c->slack[s], c->rest[s], c->room.next[s]};
    return true;
}

/* ---- valleys and what may be done about them ------------------------------------------------- */

/* INT64_MAX: the edge of time. */
static int64_t height_before(const masu__corner *c, uint32_t section) {
    return section > 0 ? c->skyline[section - 1] : INT64_MAX;
}

static int64_t height_behind(const masu__corner *c, uint32_t end) {
    return end < c->model->section_count ? c->skyline[end] : INT64_MAX;
}

static bool fits(const masu__corner *c, const valley *v, uint32_t item) {
    const masu__plan_model *m = c->model;
    int64_t offset = masu__plan_align(v->floor, m->alignment[item]);
    if (c->placed[item] || m->first[item] < v->first || m->end[item] > v->end || offset + m->size[item] > c->height)
        return false;
    for (uint32_t s = m->first[item]; offset > v->floor && s < m->end[item]; s++)
        if (c->slack[s] < offset - v->floor)
            return false;
    return masu__headroom_fits(&c->room, m->first[item], m->end[item], offset + m->size[item]);
}

/* Items that touch one corner, from the list of that section. */
static const uint32_t *touching(const masu__corner *c, const valley *v, bool from_right, uint32_t *count) {
    const uint32_t *start = from_right ? c->death_start + v->end : c->birth_start + v->first;
    *count = start[1] - start[0];
    return (from_right ? c->deaths : c->births) + start[0];
}

static uint32_t count_fitting(const masu__corner *c, const valley *v, bool from_right) {
    uint32_t listed, count = 0;
    const uint32_t *items = touching(c, v, from_right, &listed);
    for (uint32_t i = 0; i < listed; i++)
        count += fits(c, v, items[i]);
    return count;
}

static bool any_fits(const masu__corner *c, const valley *v, const uint32_t *items, const uint32_t *start) {
    for (uint32_t i = start[0]; i < start[1]; i++)
        if (fits(c, v, items[i]))
            return true;
    return false;
}

/* The loss when nothing comes to the corner: up to where another item could begin (or end), and
 * up to the neighbour. False: it may not be. */
static bool find_waste(const masu__corner *c, const valley *v, bool from_right, uint32_t *first, uint32_t *end,
                       int64_t *to) {
    *first = v->first;
    *end = v->end;
    if (from_right)
        for (uint32_t s = v->end; --s > v->first;) {
            if (any_fits(c, v, c->deaths, c->death_start + s)) {
                *first = s;
                break;
            }
        }
    else
        for (uint32_t s = v->first; ++s < v->end;)
            if (any_fits(c, v, c->births, c->birth_start + s)) {
                *end = s;
                break;
            }
    int64_t before = height_before(c, *first), behind = height_behind(c, *end);
    before = before == v->floor ? INT64_MAX : before;
    behind = behind == v->floor ? INT64_MAX : behind;
    *to = before < behind ? before : behind;
    int64_t wall = masu__headroom_lowest(&c->room, *first, *end);
    *to = wall < *to ? wall : *to;
    if (*to > c->height)
        return false;
    for (uint32_t s = *first; s < *end; s++)
        if (c->slack[s] < *to - v->floor)
            return false;
    return true;
}

static void count_options(const masu__corner *c, valley *v) {
    uint32_t left = count_fitting(c, v, false), first, end;
    uint32_t right = left > 0 ? count_fitting(c, v, true) : UINT32_MAX;
    int64_t to;
    if (left == 0)
        right = count_fitting(c, v, true);
    v->from_right = right < left;
    v->count = v->from_right ? right : left;
    if (c->slack[v->from_right ? v->end - 1 : v->first] > 0)
        v->count += find_waste(c, v, v->from_right, &first, &end, &to);
}

static void forget_valley(masu__corner *c, uint32_t section) {
    uint32_t at = c->valley_at[section] - 1;
    c->valley_at[section] = 0;
    if (at != --c->valley_count) {
        c->valleys[at] = c->valleys[c->valley_count];
        c->valley_at[c->valleys[at].first] = at + 1;
    }
}

/* Finds again what lies between the neighbours of [first, end). */
static void find_valleys(masu__corner *c, uint32_t first, uint32_t end) {
    uint32_t sections = c->model->section_count;
    while (first > 0 && c->skyline[first - 1] == c->skyline[first])
        first--;
    for (int64_t h = height_before(c, first); first > 0 && c->skyline[first - 1] == h;)
        first--;
    while (end < sections && c->skyline[end] == c->skyline[end - 1])
        end++;
    for (int64_t h = height_behind(c, end); end < sections && c->skyline[end] == h;)
        end++;
    for (uint32_t s = first; s < end; s++)
        if (c->valley_at[s] > 0)
            forget_valley(c, s);
    for (uint32_t s = first, next; s < end; s = next) {
        for (next = s + 1; next < end && c->skyline[next] == c->skyline[s];)
            next++;
        if (c->skyline[s] == c->height || height_before(c, s) < c->skyline[s] || height_behind(c, next) < c->skyline[s])
            continue;
        valley v = {.first = s, .end = next, .floor = c->skyline[s]};
        count_options(c, &v);
        c->valleys[c->valley_count++] = v;
        c->valley_at[s] = c->valley_count;
    }
}

static const valley *tightest(const masu__corner *c) {
    const valley *best = NULL;
    for (uint32_t i = 0; i < c->valley_count; i++) {
        const valley *v = &c->valleys[i];
        if (!best || v->count < best->count ||
            (v->count == best->count &&
             (v->floor < best->floor || (v->floor == best->floor && v->first < best->first))))
            best = v;
    }
    return best;
}

/* ---- moves ----------------------------------------------------------------------------------- */

static bool place(masu__corner *c, frame *f, uint32_t item) {
    const masu__plan_model *m = c->model;
    bool right = true;
    f->item = item;
    f->changed_first = m->first[item];
    f->changed_end = m->end[item];
    int64_t offset = masu__plan_align(f->at.floor, m->alignment[item]);
    c->offsets[item] = offset;
    c->placed[item] = true;
    c->placed_count++;
    for (uint32_t s = m->first[item]; s < m->end[item]; s++) {
        c->rest[s] -= m->size[item];
        right &= rise(c, s, offset + m->size[item], offset - f->at.floor);
    }
    return right;
}

static bool waste(masu__corner *c, frame *f) {
    int64_t to;
    bool right = true;
    f->item = NOWHERE;
    find_waste(c, &f->at, f->at.from_right, &f->changed_first, &f->changed_end, &to);
    if (!save(c, f->changed_first, f->changed_end))
        return false;
    for (uint32_t s = f->changed_first; s < f->changed_end; s++)
        right &= rise(c, s, to, to - f->at.floor);
    return right;
}

/* False: it leads nowhere; to be taken back all the same. */
static bool make_move(masu__corner *c, frame *f, option o, bool *failed_memory) {
    bool right;
    f->saved_count = c->saved_count;
    if (o.item == NOWHERE) {
        right = waste(c, f);
        *failed_memory = c->saved_count == f->saved_count;
    } else {
        *failed_memory = !save(c, c->model->first[o.item], c->model->end[o.item]);
        if (*failed_memory)
            return false;
        right = place(c, f, o.item);
    }
    if (*failed_memory) {
        f->changed_end = 0;
        return false;
    }
    find_valleys(c, f->changed_first, f->changed_end);
    return right;
}

static void take_back(masu__corner *c, frame *f) {
    if (f->changed_end == 0)
        return;
    const saved *from = c->saved + f->saved_count;
    for (uint32_t s = f->changed_first; s < f->changed_end; s++, from++) {
        c->skyline[s] = from->skyline;
        c->slack[s] = from->slack;
        c->rest[s] = from->rest;
        c->room.next[s] = from->wall;
    }
    c->saved_count = f->saved_count;
    if (f->item != NOWHERE) {
        c->placed[f->item] = false;
        c->placed_count--;
    }
    find_valleys(c, f->changed_first, f->changed_end);
    f->changed_end = 0;
}

/* ---- options --------------------------------------------------------------------------------- */

/* Ending level with a neighbour or a wall leaves no corner behind. */
static double worth_of(const masu__corner *c, const valley *v, uint32_t item) {
    const masu__plan_model *m = c->model;
    int64_t top = masu__plan_align(v->floor, m->alignment[item]) + m->size[item];
    double worth = c->worth[item];
    if (m->first[item] == v->first && top == height_before(c, v->first))
        worth *= 3;
    if (m->end[item] == v->end && top == height_behind(c, v->end))
        worth *= 3;
    if (m->first[item] == v->first && m->end[item] == v->end)
        worth *= 2;
    if (masu__headroom_lowest(&c->room, m->first[item], m->end[item]) == top)
        worth *= 3;
    return worth;
}

static bool is_twin(const masu__plan_model *m, uint32_t a, uint32_t b) {
    return m->first[a] == m->first[b] && m->end[a] == m->end[b] && m->size[a] == m->size[b] &&
           m->alignment[a] == m->alignment[b];
}

/* Ascending; the least worthy is left out when there are too many. */
static void add_option(const masu__corner *c, frame *f, option o) {
    for (uint32_t i = 0; o.item != NOWHERE && i < f->option_count; i++)
        if (f->options[i].item != NOWHERE && is_twin(c->model, f->options[i].item, o.item))
            return;
    uint32_t at = f->option_count;
    if (at > MOST_OPTIONS) {
        if (o.worth <= f->options[0].worth)
            return;
        memmove(f->options, f->options + 1, --at * sizeof *f->options);
        f->option_count--;
    }
    for (; at > 0 && f->options[at - 1].worth > o.worth; at--)
        f->options[at] = f->options[at - 1];
    f->options[at] = o;
    f->option_count++;
}

static void find_options(const masu__corner *c, frame *f) {
    uint32_t listed, first, end;
    int64_t to;
    const uint32_t *items = touching(c, &f->at, f->at.from_right, &listed);
    f->option_count = 0;
    if (c->slack[f->at.from_right ? f->at.end - 1 : f->at.first] > 0 &&
        find_waste(c, &f->at, f->at.from_right, &first, &end, &to))
        add_option(c, f, (option){NOWHERE, 0});
    for (uint32_t i = 0; i < listed; i++)
        if (fits(c, &f->at, items[i]))
            add_option(c, f, (option){items[i], worth_of(c, &f->at, items[i])});
}

/* ---- the tree -------------------------------------------------------------------------------- */

static bool push_frame(masu__corner *c) {
    if (c->frame_count == c->frame_room) {
        size_t room = 2 * c->frame_room + 64;
        frame *grown = masu__meta_realloc(c->frames, c->frame_room * sizeof *grown, room * sizeof *grown);
        if (!grown)
            return false;
        c->frames = grown;
        c->frame_room = room;
    }
    frame *f = &c->frames[c->frame_count++];
    f->changed_end = 0;
    f->option_count = 0;
    const valley *tight = tightest(c);
    if (!tight) /* all of it is as high as may be, and something is left: back */
        return true;
    f->at = *tight;
    find_options(c, f);
    return true;
}

static bool begin(masu__corner *c, int64_t height, double noise, uint64_t seed) {
    const masu__plan_model *m = c->model;
    bool right = true;
    masu__rng rng;
    masu__rng_seed(&rng, seed);
    c->height = height;
    c->steps = 0;
    c->frame_count = c->saved_count = c->valley_count = c->placed_count = 0;
    masu__headroom_reset(&c->room, m->section_count);
    memset(c->placed, 0, m->item_count);
    memset(c->valley_at, 0, m->section_count * sizeof *c->valley_at);
    memcpy(c->rest, c->load, m->section_count * sizeof *c->rest);
    for (uint32_t i = 0; i < m->item_count; i++)
        c->worth[i] = (double)m->size[i] * (m->end[i] - m->first[i]) * (1 + noise * masu__rng_uniform(&rng));
    for (uint32_t s = 0; s < m->section_count; s++) {
        c->slack[s] = height - c->rest[s] - masu__walls_above(&c->room.walls, s, 0);
        right &= c->slack[s] >= 0 || c->rest[s] == 0;
        right &= rise(c, s, 0, 0);
    }
    if (right)
        find_valleys(c, 0, m->section_count);
    return right;
}

static masu__search_end search(masu__corner *c, uint64_t limit, const masu__plan_stop *stop) {
    bool failed_memory = false;
    while (c->frame_count > 0 && !failed_memory) {
        frame *f = &c->frames[c->frame_count - 1];
        take_back(c, f);
        if (f->option_count == 0) {
            c->frame_count--;
            continue;
        }
        if (c->steps++ >= limit)
            return MASU__SEARCH_LIMIT;
        if (c->steps % 256 == 0 && stop->asked(stop->context))
            return MASU__SEARCH_STOPPED;
        if (!make_move(c, f, f->options[--f->option_count], &failed_memory))
            continue;
        if (c->placed_count == c->model->item_count)
            return MASU__SEARCH_FOUND;
        failed_memory = !push_frame(c);
    }
    return failed_memory ? MASU__SEARCH_STOPPED : MASU__SEARCH_EXHAUSTED;
}

masu__search_end masu__corner_run(masu__corner *c, int64_t height, double noise, uint64_t seed, uint64_t steps,
                                  const masu__plan_stop *stop, int64_t *offsets) {
    c->offsets = offsets;
    if (!begin(c, height, noise, seed))
        return MASU__SEARCH_EXHAUSTED;
    if (!push_frame(c))
        return MASU__SEARCH_STOPPED;
    masu__search_end end = search(c, steps, stop);
    MASU_HEAVY_ASSERT(masu__corner_valid(c));
    return end;
}

uint64_t masu__corner_steps(const masu__corner *c) {
    return c->steps;
}

double masu__corner_waste(const masu__corner *c, int64_t height) {
    double waste = 0;
    for (uint32_t s = 0; s < c->model->section_count; s++)
        waste += (double)(height - c->load[s] - masu__walls_above(&c->room.walls, s, 0));
    return waste / ((double)height * c->model->section_count);
}

bool masu__corner_valid(const masu__corner *c) {
    for (uint32_t s = 0; s < c->model->section_count; s++) {
        int64_t left = c->height - c->skyline[s] - c->rest[s] - masu__walls_above(&c->room.walls, s, c->skyline[s]);
        if (c->rest[s] > 0 && left != c->slack[s])
            return false;
    }
    return true;
}
