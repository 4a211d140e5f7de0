/* loose.c: joins rows that nearly fit together. See loose.h. */
#include "planner/fixed/loose_blocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/meta.h"

#define NEW(l, type, count) ((type *)masu__arena_calloc(&(l)->arena, (size_t)(count) + 1, sizeof(type), _Alignof(type)))

/* Pairs of groups at one moment, or of parts of them, that are compared. */
enum { MOST_PAIRS = 64, MOST_PARTED = 14, MANY = 5, FEW = 3, WORK = 200000, WORK_A_ROW = 300 };

enum { TOLERANCES = 4 };
/* More waste than was wanted is better than many blocks. */
static const double tolerances[TOLERANCES] = {1, 1.25, 1.6, 2};

/* Where there is a choice, each waste counts as up to so many times what it is. */
static const double by_chance = 2, least_waste = 0.003, varied = 0.1, refused = 0.05;

/* ---- set-up ---------------------------------------------------------------------------------- */

masu__loose *masu__loose_create(const masu__plan_model *model) {
    masu__loose *l = masu__meta_calloc(1, sizeof *l);
    size_t rows = (size_t)model->item_count + model->obstacle_count;
    if (!l)
        return NULL;
    l->model = model;
    l->most_work = WORK + WORK_A_ROW * rows;
    l->blocks = NEW(l, loose_block, 3 * rows); /* a join makes a queue and up to two piles, and leaves two fewer */
    l->here = NEW(l, uint32_t, rows);
    l->there = NEW(l, uint32_t, rows);
    l->born = NEW(l, uint32_t, model->section_count);
    l->dead = NEW(l, uint32_t, model->section_count);
    for (int parts = 0; parts < 2; parts++) {
        l->doubt[parts] = NEW(l, double, model->section_count);
        l->is_known[parts] = NEW(l, bool, model->section_count);
    }
    if (l->blocks && l->here && l->there && l->born && l->dead && l->doubt[0] && l->doubt[1] && l->is_known[0] &&
        l->is_known[1])
        return l;
    masu__loose_destroy(l);
    return NULL;
}

void masu__loose_destroy(masu__loose *l) {
    if (!l)
        return;
    masu__arena_destroy(&l->extents);
    masu__arena_destroy(&l->arena);
    masu__meta_free(l, sizeof *l);
}

static uint32_t make(masu__loose *l, loose_block b) {
    b.child = b.next = b.parent = NONE;
    b.born_behind = l->born[b.first];
    b.dead_behind = l->dead[b.end];
    l->born[b.first] = l->dead[b.end] = l->count;
    l->blocks[l->count] = b;
    return l->count++;
}

static void keep_extents(masu__loose *l, loose_block *b, const extent *extents, uint32_t count) {
    if (count == 0)
        return;
    b->extents = masu__arena_alloc(&l->extents, count * sizeof *extents, _Alignof(extent));
    b->extent_count = b->extents ? count : 0;
    l->out_of_memory |= !b->extents;
    if (b->extents)
        memcpy(b->extents, extents, count * sizeof *extents);
}

/* Items first, then obstacles, by their numbers. */
static void begin(masu__loose *l) {
    const masu__plan_model *m = l->model;
    masu__arena_destroy(&l->extents);
    memset(l->born, 0xff, ((size_t)m->section_count + 1) * sizeof *l->born);
    memset(l->dead, 0xff, ((size_t)m->section_count + 1) * sizeof *l->dead);
    l->count = l->left = 0;
    l->out_of_memory = false;
    for (uint32_t i = 0; i < m->item_count + m->obstacle_count; i++) {
        const masu__plan_obstacle *o = &m->obstacles[i - m->item_count];
        bool is_item = i < m->item_count;
        loose_block b = {.first = is_item ? m->first[i] : o->first,
                         .end = is_item ? m->end[i] : o->end,
                         .height = is_item ? m->size[i] : o->size,
                         .kind = is_item ? LOOSE_ROW : LOOSE_FIXED,
                         .item = i,
                         .name = i};
        b.area = (double)b.height * (b.end - b.first);
        b.is_left = b.first < b.end;
        l->left += b.is_left;
        if (!is_item)
            keep_extents(l, &b, &(extent){o->offset, o->offset + o->size}, 1);
        make(l, b);
    }
}

/* ---- a moment --------------------------------------------------------------------------------- */

static int by_life(const void *x, const void *y, void *context) {
    const masu__loose *l = context;
    const loose_block *b = &l->blocks[*(const uint32_t *)x], *c = &l->blocks[*(const uint32_t *)y];
    if (b->first != c->first)
        return b->first < c->first ? -1 : 1;
    if (b->end != c->end)
        return b->end < c->end ? -1 : 1;
    return b < c ? -1 : b > c;
}

static uint32_t gather(masu__loose *l, uint32_t moment, bool dying, uint32_t *out) {
    uint32_t count = 0;
    for (uint32_t i = dying ? l->dead[moment] : l->born[moment]; i != NONE;
         i = dying ? l->blocks[i].dead_behind : l->blocks[i].born_behind)
        if (l->blocks[i].is_left)
            out[count++] = i;
    qsort_r(out, count, sizeof *out, by_life, l);
    return count;
}

/* How many from `from` on have one life. */
static uint32_t group_from(const masu__loose *l, const uint32_t *blocks, uint32_t from, uint32_t count) {
    const loose_block *b = &l->blocks[blocks[from]];
    uint32_t end = from + 1;
    while (end < count && l->blocks[blocks[end]].first == b->first && l->blocks[blocks[end]].end == b->end)
        end++;
    return end - from;
}

static uint32_t count_groups(const masu__loose *l, const uint32_t *blocks, uint32_t count) {
    uint32_t groups = 0;
    for (uint32_t i = 0; i < count; i += group_from(l, blocks, i, count))
        groups++;
    return groups;
}

/* ---- joining ---------------------------------------------------------------------------------- */

static double area_of(const masu__loose *l, const uint32_t *blocks, uint32_t set) {
    double area = 0;
    for (; set > 0; set &= set - 1)
        area += l->blocks[blocks[__builtin_ctz(set)]].area;
    return area;
}

static void fill(loose_side *s, const uint32_t *blocks, uint32_t set) {
    s->count = 0;
    for (; set > 0; set &= set - 1)
        s->blocks[s->count++] = blocks[__builtin_ctz(set)];
}

static double mix(uint64_t seed, uint64_t key) {
    uint64_t mixed = key * UINT64_C(0x9e3779b97f4a7c15) + seed * UINT64_C(0xd1342543de82ef95);
    mixed = (mixed ^ mixed >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ mixed >> 32) * UINT64_C(0x94d049bb133111eb);
    return (double)(mixed >> 40) / (1 << 24);
}

/* The same for the same two in one run; and in the next ones for most pairs, where what was joined is kept. */
static double chance_of(const masu__loose *l, uint32_t x, uint32_t y) {
    uint64_t key = ((uint64_t)l->blocks[x].name << 32) + l->blocks[y].name + 1;
    for (uint32_t k = l->seed_count; k-- > 1;)
        if (mix(~l->seeds[k], key) < varied)
            return mix(l->seeds[k], key);
    return mix(l->seeds[0], key);
}

static void compare(masu__loose *l, loose_choice *best, const uint32_t *x, uint32_t x_set, const uint32_t *y,
                    uint32_t y_set) {
    const loose_block *b = &l->blocks[x[0]], *c = &l->blocks[y[0]];
    double high = area_of(l, x, x_set) / (b->end - b->first), low = area_of(l, y, y_set) / (c->end - c->first);
    loose_choice *this = &l->compared;
    this->is_any = false;
    l->work++;
    if ((high < low ? low - high : high - low) > l->tolerance * (high > low ? high : low) * 2)
        return;
    fill(&this->x, x, x_set);
    fill(&this->y, y, y_set);
    if (!masu__loose_open_side(l, &this->x) || !masu__loose_open_side(l, &this->y) ||
        !masu__loose_common(l, &this->x, &this->y, &this->both))
        return;
    if (chance_of(l, y[0], x[0]) < refused)
        return;
    double waste = masu__loose_waste(&this->x, &this->y, this->both.height);
    this->waste = (least_waste + waste) * (1 + by_chance * chance_of(l, x[0], y[0]));
    this->is_any = true;
    if (!best->is_any || this->waste < best->waste)
        *best = *this;
}

/* Of many blocks only sets of FEW are parts. */
static bool is_few(uint32_t set, uint32_t count) {
    return count <= MANY || __builtin_popcount(set) <= FEW;
}

/* Whole groups of one life with each other; or parts of both. */
static void compare_groups(masu__loose *l, loose_choice *best, const uint32_t *x, uint32_t x_count, const uint32_t *y,
                           uint32_t y_count, bool parts) {
    if (!parts) {
        if (x_count <= MOST_SIDE && y_count <= MOST_SIDE)
            compare(l, best, x, (1u << x_count) - 1, y, (1u << y_count) - 1);
        return;
    }
    if (x_count > MOST_PARTED || y_count > MOST_PARTED)
        return;
    for (uint32_t p = 1; p < 1u << x_count; p++)
        for (uint32_t q = 1; q < 1u << y_count && is_few(p, x_count) && l->work < l->most_work; q++)
            if (is_few(q, y_count))
                compare(l, best, x, p, y, q);
}

/* The pile of a side, or its only block; out of those left. */
static uint32_t take_side(masu__loose *l, const loose_side *s) {
    uint32_t depth = 0;
    for (uint32_t k = 0; k < s->count; k++) {
        loose_block *b = &l->blocks[s->blocks[k]];
        b->is_left = false;
        l->left--;
        depth = b->depth > depth ? b->depth : depth;
    }
    if (s->count == 1)
        return s->blocks[0];
    uint32_t pile = make(l, (loose_block){.first = s->first,
                                          .end = s->end,
                                          .height = s->height,
                                          .area = s->area,
                                          .kind = LOOSE_PILE,
                                          .name = NONE,
                                          .depth = depth + 1});
    keep_extents(l, &l->blocks[pile], s->extents, s->extent_count);
    for (uint32_t k = s->count; k-- > 0;) {
        l->blocks[s->blocks[k]].parent = pile;
        if (l->blocks[s->blocks[k]].name < l->blocks[pile].name)
            l->blocks[pile].name = l->blocks[s->blocks[k]].name;
        l->blocks[s->blocks[k]].next = l->blocks[pile].child;
        l->blocks[pile].child = s->blocks[k];
    }
    return pile;
}

static void join(masu__loose *l, const loose_choice *c) {
    uint32_t x = take_side(l, &c->x), y = take_side(l, &c->y);
    uint32_t deep = l->blocks[x].depth > l->blocks[y].depth ? l->blocks[x].depth : l->blocks[y].depth;
    uint32_t queue = make(
        l, (loose_block){.first = c->both.first,
                         .end = c->both.end,
                         .height = c->both.height,
                         .area = c->both.area,
                         .kind = LOOSE_QUEUE,
                         .name = l->blocks[x].name < l->blocks[y].name ? l->blocks[x].name : l->blocks[y].name,
                         .depth = deep + 1,
                         .is_left = true});
    keep_extents(l, &l->blocks[queue], c->both.extents, c->both.extent_count);
    l->blocks[x].parent = l->blocks[y].parent = queue;
    l->blocks[x].next = y;
    l->blocks[queue].child = x;
    l->left++;
}

/* ---- the least doubtful join -------------------------------------------------------------------- */

/* The pair of groups at this moment that wastes least; *pairs: of how many. */
static bool choose_at(masu__loose *l, uint32_t moment, bool parts, loose_choice *best, double *pairs) {
    uint32_t dying = gather(l, moment, true, l->here), born = gather(l, moment, false, l->there);
    best->is_any = false;
    *pairs = 0;
    if (dying == 0 || born == 0)
        return false;
    uint32_t groups = count_groups(l, l->here, dying) * count_groups(l, l->there, born);
    if (groups > MOST_PAIRS)
        return false;
    for (uint32_t i = 0, x; i < dying; i += x) {
        x = group_from(l, l->here, i, dying);
        for (uint32_t k = 0, y; k < born; k += y) {
            y = group_from(l, l->there, k, born);
            *pairs += parts ? pow(2, x + y) : 1;
            compare_groups(l, best, l->here + i, x, l->there + k, y, parts);
        }
    }
    for (uint32_t k = 0; best->is_any && k < best->x.count + best->y.count; k++)
        if (l->blocks[k < best->x.count ? best->x.blocks[k] : best->y.blocks[k - best->x.count]].depth >= MOST_DEEP)
            best->is_any = false;
    return best->is_any;
}

/* Two sides of one line waste little. Of many pairs one does so by chance. */
static void find_doubt(masu__loose *l, uint32_t moment, bool parts) {
    double pairs;
    bool any = choose_at(l, moment, parts, &l->choice, &pairs);
    l->doubt[parts][moment] = any ? pairs * l->choice.waste : INFINITY;
    l->is_known[parts][moment] = true;
}

static void forget(masu__loose *l, uint32_t moment) {
    l->is_known[0][moment] = l->is_known[1][moment] = false;
}

static bool join_least_doubtful(masu__loose *l) {
    for (int parts = 0; parts < 2; parts++) {
        uint32_t least = 0;
        double pairs;
        for (uint32_t moment = 1; moment < l->model->section_count; moment++) {
            if (!l->is_known[parts][moment])
                find_doubt(l, moment, parts);
            if (least == 0 || l->doubt[parts][moment] < l->doubt[parts][least])
                least = moment;
        }
        if (least == 0 || l->doubt[parts][least] == INFINITY || !choose_at(l, least, parts, &l->choice, &pairs))
            continue;
        join(l, &l->choice);
        forget(l, l->choice.both.first);
        forget(l, l->choice.both.end);
        forget(l, least);
        return true;
    }
    return false;
}

/* ---- what is left ------------------------------------------------------------------------------ */

static void fall_apart(masu__loose *l, uint32_t at) {
    l->blocks[at].is_left = false;
    l->left--;
    for (uint32_t c = l->blocks[at].child; c != NONE; c = l->blocks[c].next) {
        l->blocks[c].parent = NONE;
        l->blocks[c].is_left = true;
        l->left++;
    }
}

static bool collides(const masu__loose *l, uint32_t at, uint32_t with) {
    const loose_block *b = &l->blocks[at], *c = &l->blocks[with];
    const extent *e = &b->extents[b->chosen], *f = &c->extents[c->chosen];
    return b->first < c->end && c->first < b->end && e->from < f->to && f->from < e->to;
}

/* Whether a fixed row of another block, or a block that has chosen before, lies there. */
static bool is_taken(const masu__loose *l, uint32_t at) {
    uint32_t fixed = l->model->item_count, made = fixed + l->model->obstacle_count;
    for (uint32_t i = fixed; i < made; i++)
        if (l->blocks[i].extent_count > 0 && collides(l, at, i) && masu__loose_whole(l, i) != at)
            return true;
    for (uint32_t i = at + 1; i < l->count; i++)
        if (l->blocks[i].is_left && l->blocks[i].extent_count > 0 && collides(l, at, i))
            return true;
    return false;
}

/* The first of its extents that is free. False: none is. */
static bool choose_extent(masu__loose *l, uint32_t at) {
    loose_block *b = &l->blocks[at];
    for (b->chosen = 0; b->chosen < b->extent_count; b->chosen++)
        if (!is_taken(l, at))
            return true;
    b->chosen = 0;
    return false;
}

/* Those made last, which are the largest, choose first; one that finds no extent falls apart, a row alone stays. */
static void choose_extents(masu__loose *l) {
    for (uint32_t i = l->count; i-- > 0;)
        if (l->blocks[i].is_left && l->blocks[i].extent_count > 0 && l->blocks[i].child != NONE && !choose_extent(l, i))
            fall_apart(l, i);
}

uint32_t masu__loose_join(masu__loose *l, int64_t height, double tolerance, uint64_t seed) {
    l->height = height;
    l->seeds[l->kept] = seed;
    l->seed_count = l->kept + 1;
    tolerance *= 0.8 + 0.1 * (double)(l->seeds[0] % 8);
    begin(l);
    l->work = 0;
    for (uint32_t k = 0; k < TOLERANCES; k++) {
        l->tolerance = tolerance * tolerances[k];
        memset(l->is_known[0], 0, l->model->section_count);
        memset(l->is_known[1], 0, l->model->section_count);
        while (!l->out_of_memory && l->work < l->most_work && join_least_doubtful(l))
            continue;
    }
    choose_extents(l);
    MASU_HEAVY_ASSERT(masu__loose_valid(l));
    return l->out_of_memory ? 0 : l->left;
}

void masu__loose_keep(masu__loose *l) {
    if (l->seed_count < MOST_KEPT)
        l->kept = l->seed_count;
}

void masu__loose_forget(masu__loose *l) {
    l->kept = 0;
}

/* ---- rows and offsets -------------------------------------------------------------------------- */

void masu__loose_rows(const masu__loose *l, masu_plan_row *rows) {
    uint32_t made = 0;
    for (uint32_t i = 0; i < l->count; i++) {
        const loose_block *b = &l->blocks[i];
        if (!b->is_left)
            continue;
        extent e = b->extent_count > 0 ? b->extents[b->chosen] : (extent){0, b->height};
        rows[made] = (masu_plan_row){.size_bytes = (uint64_t)(e.to - e.from), .lower = b->first, .upper = b->end};
        rows[made].is_fixed = b->extent_count > 0;
        rows[made].fixed_offset = (uint64_t)e.from;
        made++;
    }
}

bool masu__loose_offsets(masu__loose *l, const uint64_t *rows, int64_t *offsets) {
    uint32_t made = 0;
    for (uint32_t i = 0; i < l->count; i++) {
        const loose_block *b = &l->blocks[i];
        if (!b->is_left)
            continue;
        int64_t from = (int64_t)rows[made++];
        extent e = {from, from + b->height};
        if (!masu__loose_put(l, i, b->extent_count > 0 ? b->extents[b->chosen] : e, offsets))
            return false;
    }
    return true;
}

bool masu__loose_valid(const masu__loose *l) {
    double area = 0, all = 0;
    uint32_t left = 0;
    for (uint32_t i = 0; i < l->count; i++) {
        const loose_block *b = &l->blocks[i];
        bool made = b->kind == LOOSE_PILE || b->kind == LOOSE_QUEUE;
        area += b->is_left ? b->area : 0;
        all += made || b->first >= b->end ? 0 : b->area;
        left += b->is_left;
        if (made && b->area > (double)b->height * (b->end - b->first) * (1 + 1e-9))
            return false;
    }
    return left == l->left && area <= all * (1 + 1e-9) && area >= all * (1 - 1e-9);
}
