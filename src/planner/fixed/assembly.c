/* assembly.c: joins rows that fit together without waste. See assembly.h. */
#include "planner/fixed/assembly.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/meta.h"
#include "base/rng.h"

/* For a pile with a fixed row all orders are looked at up to MOST_PILED children, and more than MOST_CHILDREN are not
 * piled. More anchors than MOST_ANCHORS are not listed. Deeper blocks than MOST_DEEP, lazy ones than MOST_LAZY, would
 * use up the stack. */
enum {
    MOST_ANCHORS = 128,
    MOST_PILED = 9,
    MOST_CHILDREN = 32,
    MOST_DEEP = 1000,
    MOST_LAZY = 32,
    MOST_TRIED = 2000,
    WORK_A_ROW = 4000,
    NOBODY = UINT32_MAX
};

typedef enum block_kind { ROW, FIXED, PILE, QUEUE } block_kind;

typedef struct block {
    uint32_t first, end; /* sections */
    int64_t height;
    block_kind kind;
    uint32_t item;                    /* of a ROW */
    uint32_t child, last_child, next; /* children; next: of those of the same parent */
    uint32_t parent;                  /* NOBODY: none */
    uint32_t children, depth;
    int64_t *anchors; /* ascending */
    uint32_t anchor_count;
    bool lazy;       /* has fixed rows, and its anchors are not listed: they are found by asking its children */
    uint32_t lazily; /* so many lazy blocks lie within each other here */
    bool is_left;    /* has no parent */
    uint32_t born_before, born_behind, dead_before,
        dead_behind; /* among those left: of the same birth, of the same death */
} block;

struct masu__assembly {
    const masu__plan_model *model;
    block *blocks;
    uint32_t count, left;
    uint32_t *born, *dead; /* per section: the first of those left that are born, that die there */
    uint32_t *again;       /* moments to be looked at again; each once */
    bool *waits;
    uint32_t again_count;
    uint32_t *here, *there;       /* scratch: blocks of a moment */
    uint32_t *fixed, fixed_count; /* blocks of fixed rows, by birth */
    int64_t height;
    uint64_t work, most_work; /* sets of children looked at; beyond that no more piles with fixed rows */
    masu__arena anchors;      /* of the present run */
    masu__arena arena;        /* owns all arrays */
};

#define NEW(a, type, count) ((type *)masu__arena_calloc(&(a)->arena, (size_t)(count) + 1, sizeof(type), _Alignof(type)))

/* ---- set-up ---------------------------------------------------------------------------------- */

static bool is_fit(const masu__plan_model *m) {
    int64_t alignment = 1;
    if (m->apart_count > 0 || m->apart_fixed_count > 0 || m->raised || m->holes)
        return false;
    for (uint32_t i = 0; i < m->item_count; i++) {
        if (!masu__plan_is_plain(m, i))
            return false;
        alignment = m->alignment[i] > alignment ? m->alignment[i] : alignment;
    }
    for (uint32_t i = 0; i < m->item_count; i++)
        if (m->size[i] % alignment != 0)
            return false;
    for (uint32_t i = 0; i < m->obstacle_count; i++)
        if (m->obstacles[i].size % alignment != 0 || m->obstacles[i].offset % alignment != 0)
            return false;
    return true;
}

masu__assembly *masu__assembly_create(const masu__plan_model *model, bool *unfit) {
    *unfit = !is_fit(model);
    masu__assembly *a = *unfit ? NULL : masu__meta_calloc(1, sizeof *a);
    if (!a)
        return NULL;
    size_t rows = (size_t)model->item_count + model->obstacle_count;
    a->model = model;
    a->blocks = NEW(a, block, 3 * rows); /* a join makes a queue and up to two piles, and leaves two blocks fewer */
    a->born = NEW(a, uint32_t, model->section_count + 1);
    a->dead = NEW(a, uint32_t, model->section_count + 1);
    a->again = NEW(a, uint32_t, model->section_count + 1);
    a->waits = NEW(a, bool, model->section_count + 1);
    a->here = NEW(a, uint32_t, rows);
    a->there = NEW(a, uint32_t, rows);
    a->fixed = NEW(a, uint32_t, rows);
    a->most_work = WORK_A_ROW * rows;
    if (a->blocks && a->born && a->dead && a->again && a->waits && a->here && a->there && a->fixed)
        return a;
    masu__assembly_destroy(a);
    return NULL;
}

void masu__assembly_destroy(masu__assembly *a) {
    if (!a)
        return;
    masu__arena_destroy(&a->anchors);
    masu__arena_destroy(&a->arena);
    masu__meta_free(a, sizeof *a);
}

static void look_again(masu__assembly *a, uint32_t moment) {
    if (a->waits[moment] || moment == 0 || moment >= a->model->section_count)
        return;
    a->waits[moment] = true;
    a->again[a->again_count++] = moment;
}

/* Among those left. */
static void enter(masu__assembly *a, uint32_t at) {
    block *b = &a->blocks[at];
    b->is_left = true;
    b->born_before = b->dead_before = NOBODY;
    b->born_behind = a->born[b->first];
    b->dead_behind = a->dead[b->end];
    if (b->born_behind != NOBODY)
        a->blocks[b->born_behind].born_before = at;
    if (b->dead_behind != NOBODY)
        a->blocks[b->dead_behind].dead_before = at;
    a->born[b->first] = a->dead[b->end] = at;
    a->left++;
    look_again(a, b->first);
    look_again(a, b->end);
}

static void leave(masu__assembly *a, uint32_t at) {
    block *b = &a->blocks[at];
    b->is_left = false;
    *(b->born_before == NOBODY ? &a->born[b->first] : &a->blocks[b->born_before].born_behind) = b->born_behind;
    *(b->dead_before == NOBODY ? &a->dead[b->end] : &a->blocks[b->dead_before].dead_behind) = b->dead_behind;
    if (b->born_behind != NOBODY)
        a->blocks[b->born_behind].born_before = b->born_before;
    if (b->dead_behind != NOBODY)
        a->blocks[b->dead_behind].dead_before = b->dead_before;
    a->left--;
    look_again(a, b->first);
    look_again(a, b->end);
}

static uint32_t make(masu__assembly *a, block b) {
    b.child = b.last_child = b.next = b.parent = NOBODY;
    a->blocks[a->count] = b;
    return a->count++;
}

static int by_life(const void *x, const void *y, void *context) {
    const masu__assembly *a = context;
    const block *b = &a->blocks[*(const uint32_t *)x], *c = &a->blocks[*(const uint32_t *)y];
    if (b->first != c->first)
        return b->first < c->first ? -1 : 1;
    if (b->end != c->end)
        return b->end < c->end ? -1 : 1;
    if (b->height != c->height)
        return b->height < c->height ? -1 : 1;
    return b < c ? -1 : b > c;
}

static bool begin(masu__assembly *a, int64_t height) {
    const masu__plan_model *m = a->model;
    masu__arena_destroy(&a->anchors);
    a->anchors = (masu__arena){0};
    a->count = a->left = a->again_count = 0;
    a->work = a->fixed_count = 0;
    a->height = height;
    memset(a->born, 0xff, ((size_t)m->section_count + 1) * sizeof *a->born);
    memset(a->dead, 0xff, ((size_t)m->section_count + 1) * sizeof *a->dead);
    memset(a->waits, 0, (size_t)m->section_count + 1);
    for (uint32_t i = 0; i < m->item_count; i++)
        enter(a,
              make(a, (block){.first = m->first[i], .end = m->end[i], .height = m->size[i], .kind = ROW, .item = i}));
    for (uint32_t i = 0; i < m->obstacle_count; i++) {
        const masu__plan_obstacle *o = &m->obstacles[i];
        if (o->first == o->end)
            continue;
        int64_t *anchor = masu__arena_alloc(&a->anchors, sizeof *anchor, _Alignof(int64_t));
        if (!anchor)
            return false;
        *anchor = o->offset;
        a->fixed[a->fixed_count] = make(a, (block){.first = o->first,
                                                   .end = o->end,
                                                   .height = o->size,
                                                   .kind = FIXED,
                                                   .anchors = anchor,
                                                   .anchor_count = 1});
        enter(a, a->fixed[a->fixed_count++]);
    }
    qsort_r(a->fixed, a->fixed_count, sizeof *a->fixed, by_life, a);
    return true;
}

/* ---- the order of a pile ---------------------------------------------------------------------- */

static bool is_anchored(const block *b) {
    return b->anchor_count > 0 || b->lazy;
}

static bool pile_may_lie(masu__assembly *a, const uint32_t *children, uint32_t count, int64_t offset, int64_t *places);

static uint32_t children_of(const masu__assembly *a, const block *b, uint32_t *children) {
    uint32_t count = 0;
    for (uint32_t c = b->child; c != NOBODY; c = a->blocks[c].next)
        children[count++] = c;
    return count;
}

/* As deep as lazy blocks lie within each other. */
static bool may_lie(masu__assembly *a, const block *b, int64_t offset) {
    for (uint32_t i = 0; i < b->anchor_count; i++)
        if (b->anchors[i] == offset)
            return true;
    if (b->anchor_count > 0 || !b->lazy)
        return b->anchor_count == 0;
    if (b->kind == PILE) {
        uint32_t children[MOST_CHILDREN] = {0};
        int64_t places[MOST_CHILDREN];
        return pile_may_lie(a, children, children_of(a, b, children), offset, places);
    }
    for (uint32_t c = b->child; c != NOBODY; c = a->blocks[c].next)
        if (is_anchored(&a->blocks[c]) && !may_lie(a, &a->blocks[c], offset))
            return false;
    return true;
}

/* sums[set] = heights of the children in the set, a bit a child. */
static void sum_sets(const masu__assembly *a, const uint32_t *children, uint32_t count, int64_t *sums) {
    sums[0] = 0;
    for (uint32_t set = 1; set < 1u << count; set++)
        sums[set] = sums[set & (set - 1)] + a->blocks[children[__builtin_ctz(set)]].height;
}

/* A set of children can be the lower part of the pile when one of them can be on top of what a smaller set leaves. */
static bool small_pile_may_lie(masu__assembly *a, const uint32_t *children, uint32_t count, int64_t offset,
                               int64_t *places) {
    uint32_t all = (1u << count) - 1;
    uint8_t top[1 << MOST_PILED]; /* the topmost child of a set that can be the lower part, + 1 */
    int64_t sums[1 << MOST_PILED];
    sum_sets(a, children, count, sums);
    memset(top, 0, (size_t)all + 1);
    a->work += all;
    for (uint32_t set = 0; set < all; set++)
        for (uint32_t k = 0; (set == 0 || top[set] > 0) && k < count; k++)
            if (!(set >> k & 1) && top[set | 1u << k] == 0 && may_lie(a, &a->blocks[children[k]], offset + sums[set]))
                top[set | 1u << k] = (uint8_t)(k + 1);
    for (uint32_t set = all; set > 0 && top[all] > 0;) {
        uint32_t k = top[set] - 1u;
        set &= ~(1u << k);
        places[k] = offset + sums[set];
    }
    return top[all] > 0;
}

typedef struct filling {
    const uint32_t *children;
    uint32_t count, tries;
    int64_t *places;
} filling;

/* The first offset at which a child not yet placed must lie, from what is listed; -1: one had to lie lower. */
static int64_t next_anchor(const masu__assembly *a, const filling *f, uint32_t placed, int64_t offset) {
    int64_t next = INT64_MAX;
    for (uint32_t k = 0; k < f->count; k++) {
        const block *b = &a->blocks[f->children[k]];
        if ((placed >> k & 1) || b->anchor_count == 0)
            continue;
        if (b->anchors[b->anchor_count - 1] < offset)
            return -1;
        next = b->anchors[b->anchor_count - 1] < next ? b->anchors[b->anchor_count - 1] : next;
    }
    return next;
}

/* From `offset` on, what is anchored here first, then the highest that ends before the next that must lie somewhere. */
static bool fill(masu__assembly *a, filling *f, uint32_t placed, int64_t offset) {
    if (placed == (uint32_t)((UINT64_C(1) << f->count) - 1))
        return true;
    int64_t next = next_anchor(a, f, placed, offset);
    if (next < 0 || f->tries++ > MOST_TRIED)
        return false;
    for (int anchored = 1; anchored >= 0; anchored--)
        for (uint32_t k = f->count; k-- > 0;) {
            const block *b = &a->blocks[f->children[k]];
            if ((placed >> k & 1) || is_anchored(b) != anchored || (!anchored && offset + b->height > next) ||
                !may_lie(a, b, offset))
                continue;
            f->places[k] = offset;
            if (fill(a, f, placed | 1u << k, offset + b->height))
                return true;
        }
    return false;
}

/* Whether the pile may lie at `offset`, and where each child is then. Of many children not all orders are looked at. */
static bool pile_may_lie(masu__assembly *a, const uint32_t *children, uint32_t count, int64_t offset, int64_t *places) {
    if (count <= MOST_PILED)
        return small_pile_may_lie(a, children, count, offset, places);
    filling f = {children, count, 0, places};
    bool right = fill(a, &f, 0, offset);
    a->work += f.tries;
    return right;
}

static int by_value(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The child with the fewest anchors, and how many have some; NOBODY: of none they are listed. */
static uint32_t key_of(const masu__assembly *a, const uint32_t *children, uint32_t count, uint32_t *anchored) {
    uint32_t key = NOBODY;
    *anchored = 0;
    for (uint32_t k = 0; k < count; k++) {
        const block *b = &a->blocks[children[k]];
        *anchored += is_anchored(b);
        if (b->anchor_count > 0 && (key == NOBODY || b->anchor_count < a->blocks[children[key]].anchor_count))
            key = k;
    }
    return key;
}

/* Ascending, without repetition: where the pile lies when some of its children are below the key. */
static uint32_t find_places(const masu__assembly *a, const uint32_t *children, uint32_t count, uint32_t key,
                            int64_t height, int64_t *found) {
    const block *b = &a->blocks[children[key]];
    int64_t sums[1 << MOST_PILED];
    uint32_t made = 0, kept = 0;
    sum_sets(a, children, count, sums);
    for (uint32_t set = 0; set < 1u << count; set++)
        for (uint32_t i = 0; !(set >> key & 1) && i < b->anchor_count; i++)
            if (b->anchors[i] >= sums[set] && b->anchors[i] - sums[set] + height <= a->height)
                found[made++] = b->anchors[i] - sums[set];
    qsort(found, made, sizeof *found, by_value);
    for (uint32_t i = 0; i < made; i++)
        if (kept == 0 || found[kept - 1] != found[i])
            found[kept++] = found[i];
    return kept;
}

/* One side of a line: blocks of one life. */
typedef struct side {
    const uint32_t *blocks;
    uint32_t count;
    int64_t height;
    int64_t *anchors;
    uint32_t anchor_count;
    bool lazy;
} side;

/* The offsets at which the pile may lie. False: nowhere, or memory ran out. */
static bool list_anchors(masu__assembly *a, side *s, uint32_t key, bool only_one) {
    size_t room = (size_t)a->blocks[s->blocks[key]].anchor_count << s->count;
    int64_t *found = masu__meta_alloc(room * sizeof *found), places[MOST_PILED];
    if (!found)
        return false;
    uint32_t made = find_places(a, s->blocks, s->count, key, s->height, found), kept = 0;
    a->work += room;
    for (uint32_t i = 0; i < made && kept <= MOST_ANCHORS; i++)
        if (only_one || pile_may_lie(a, s->blocks, s->count, found[i], places))
            found[kept++] = found[i];
    s->lazy = kept > MOST_ANCHORS;
    s->anchors = kept > 0 ? masu__arena_alloc(&a->anchors, kept * sizeof *found, _Alignof(int64_t)) : NULL;
    if (s->anchors && !s->lazy) {
        memcpy(s->anchors, found, kept * sizeof *found);
        s->anchor_count = kept;
    }
    masu__meta_free(found, room * sizeof *found);
    return s->anchors != NULL;
}

/* False: it may lie nowhere, or has too many children beside a fixed row. */
static bool open_side(masu__assembly *a, side *s) {
    const block *b = &a->blocks[s->blocks[0]];
    s->anchors = s->count == 1 ? b->anchors : NULL;
    s->anchor_count = s->count == 1 ? b->anchor_count : 0;
    s->lazy = s->count == 1 && b->lazy;
    if (s->count == 1)
        return true;
    uint32_t anchored, key = key_of(a, s->blocks, s->count, &anchored);
    if (anchored == 0)
        return true;
    s->lazy = key == NOBODY || s->count > MOST_PILED || a->work > a->most_work;
    return s->lazy ? s->count <= MOST_CHILDREN : list_anchors(a, s, key, anchored == 1);
}

static bool side_may_lie(masu__assembly *a, const side *s, int64_t offset) {
    int64_t places[MOST_CHILDREN];
    return s->count == 1 ? may_lie(a, &a->blocks[s->blocks[0]], offset)
                         : pile_may_lie(a, s->blocks, s->count, offset, places);
}

/* ---- joining ---------------------------------------------------------------------------------- */

static void add_child(masu__assembly *a, uint32_t parent, uint32_t child) {
    block *p = &a->blocks[parent];
    a->blocks[child].next = NOBODY;
    a->blocks[child].parent = parent;
    *(p->child == NOBODY ? &p->child : &a->blocks[p->last_child].next) = child;
    p->last_child = child;
    p->children++;
    uint32_t depth = a->blocks[child].depth + 1;
    p->depth = p->depth > depth ? p->depth : depth;
}

/* A queue's own children are put in its place: queues do not nest. */
static void add_to_queue(masu__assembly *a, uint32_t queue, uint32_t at) {
    block *q = &a->blocks[queue], *b = &a->blocks[at];
    if (b->kind != QUEUE) {
        add_child(a, queue, at);
        return;
    }
    *(q->child == NOBODY ? &q->child : &a->blocks[q->last_child].next) = b->child;
    q->last_child = b->last_child;
    b->parent = queue;
    q->children += b->children;
    q->depth = q->depth > b->depth ? q->depth : b->depth;
}

/* Where both may lie. False: nowhere, or memory ran out, or both would have to be asked and the join is only a
 * guess. */
static bool common_anchors(masu__assembly *a, const side *x, const side *y, bool certain, side *out) {
    const side *listed = x->anchor_count > 0 ? x : y, *other = listed == x ? y : x;
    out->lazy = listed->anchor_count == 0 && (x->lazy || y->lazy);
    out->anchors = listed->anchors;
    out->anchor_count = listed->anchor_count;
    if (out->lazy)
        return certain || !(x->lazy && y->lazy);
    if (listed->anchor_count == 0 || (other->anchor_count == 0 && !other->lazy))
        return true;
    out->anchors = masu__arena_alloc(&a->anchors, listed->anchor_count * sizeof *out->anchors, _Alignof(int64_t));
    out->anchor_count = 0;
    for (uint32_t i = 0, k = 0; out->anchors && i < listed->anchor_count; i++) {
        while (k < other->anchor_count && other->anchors[k] < listed->anchors[i])
            k++;
        if (other->lazy ? side_may_lie(a, other, listed->anchors[i])
                        : k < other->anchor_count && other->anchors[k] == listed->anchors[i])
            out->anchors[out->anchor_count++] = listed->anchors[i];
    }
    return out->anchors && out->anchor_count > 0;
}

/* What it has become a part of. */
static uint32_t whole_of(masu__assembly *a, uint32_t at) {
    while (a->blocks[at].parent != NOBODY) {
        uint32_t parent = a->blocks[at].parent, above = a->blocks[parent].parent;
        if (above == NOBODY)
            return parent;
        at = a->blocks[at].parent = above;
    }
    return at;
}

static bool is_of(const side *s, uint32_t at) {
    for (uint32_t k = 0; k < s->count; k++)
        if (s->blocks[k] == at)
            return true;
    return false;
}

/* Whether a fixed row that is not of either side lies where their block would. */
static bool meets_another(masu__assembly *a, const side *dying, const side *born, int64_t offset) {
    uint32_t first = a->blocks[dying->blocks[0]].first, end = a->blocks[born->blocks[0]].end, k = 0;
    bool meets = false;
    for (; k < a->fixed_count && a->blocks[a->fixed[k]].first < end && !meets; k++) {
        const block *f = &a->blocks[a->fixed[k]];
        if (f->end <= first || f->anchors[0] >= offset + dying->height || offset >= f->anchors[0] + f->height)
            continue;
        uint32_t whole = whole_of(a, a->fixed[k]);
        meets = !is_of(dying, whole) && !is_of(born, whole);
    }
    a->work += k / 16;
    return meets;
}

/* False: wherever the block may lie, there is a fixed row of another. */
static bool keep_free_anchors(masu__assembly *a, const side *dying, const side *born, side *both) {
    int64_t *kept = masu__arena_alloc(&a->anchors, (both->anchor_count + 1) * sizeof *kept, _Alignof(int64_t));
    uint32_t count = 0;
    for (uint32_t i = 0; kept && i < both->anchor_count; i++)
        if (!meets_another(a, dying, born, both->anchors[i]))
            kept[count++] = both->anchors[i];
    bool right = kept && (count > 0 || both->anchor_count == 0);
    both->anchors = kept;
    both->anchor_count = count;
    return right;
}

static void deepest(const masu__assembly *a, const side *s, uint32_t *depth, uint32_t *lazily) {
    for (uint32_t k = 0; k < s->count; k++) {
        const block *b = &a->blocks[s->blocks[k]];
        *depth = b->depth > *depth ? b->depth : *depth;
        *lazily = b->lazily > *lazily ? b->lazily : *lazily;
    }
}

/* The pile of a side, or its only block; out of those left. */
static uint32_t take_side(masu__assembly *a, const side *s, uint32_t lazily) {
    const block b = a->blocks[s->blocks[0]];
    for (uint32_t k = 0; k < s->count; k++)
        leave(a, s->blocks[k]);
    if (s->count == 1)
        return s->blocks[0];
    uint32_t pile = make(a, (block){.first = b.first,
                                    .end = b.end,
                                    .height = s->height,
                                    .kind = PILE,
                                    .anchors = s->anchors,
                                    .anchor_count = s->anchor_count,
                                    .lazy = s->lazy,
                                    .lazily = lazily});
    for (uint32_t k = 0; k < s->count; k++)
        add_child(a, pile, s->blocks[k]);
    return pile;
}

/* What dies and what is born at a moment, of one height, becomes one block. False: their fixed rows contradict that. */
static bool join(masu__assembly *a, side *dying, side *born, bool certain) {
    side both = {0};
    uint32_t depth = 0, lazily = 0;
    deepest(a, dying, &depth, &lazily);
    deepest(a, born, &depth, &lazily);
    if (depth >= MOST_DEEP || !open_side(a, dying) || !open_side(a, born) ||
        !common_anchors(a, dying, born, certain, &both) || !keep_free_anchors(a, dying, born, &both))
        return false;
    lazily += both.lazy || dying->lazy || born->lazy ? 2 : 0;
    if (lazily > MOST_LAZY)
        return false;
    uint32_t x = take_side(a, dying, lazily), y = take_side(a, born, lazily);
    uint32_t queue = make(a, (block){.first = a->blocks[x].first,
                                     .end = a->blocks[y].end,
                                     .height = dying->height,
                                     .kind = QUEUE,
                                     .anchors = both.anchors,
                                     .anchor_count = both.anchor_count,
                                     .lazy = both.lazy,
                                     .lazily = both.lazy ? lazily : 0});
    add_to_queue(a, queue, x);
    add_to_queue(a, queue, y);
    enter(a, queue);
    return true;
}

/* ---- a moment --------------------------------------------------------------------------------- */

static uint32_t gather(masu__assembly *a, uint32_t moment, bool dying, uint32_t *out) {
    uint32_t count = 0;
    for (uint32_t at = dying ? a->dead[moment] : a->born[moment]; at != NOBODY;
         at = dying ? a->blocks[at].dead_behind : a->blocks[at].born_behind)
        out[count++] = at;
    qsort_r(out, count, sizeof *out, by_life, a);
    return count;
}

/* The blocks from `from` on that have the same life. */
static side side_from(const masu__assembly *a, const uint32_t *blocks, uint32_t from, uint32_t count) {
    const block *b = &a->blocks[blocks[from]];
    side s = {.blocks = blocks + from};
    while (from + s.count < count) {
        const block *c = &a->blocks[blocks[from + s.count]];
        if (c->first != b->first || c->end != b->end)
            break;
        s.height += c->height;
        s.count++;
    }
    return s;
}

/* All that dies has one life, and all that is born. */
static bool join_whole(masu__assembly *a, uint32_t moment) {
    uint32_t dying = gather(a, moment, true, a->here), born = gather(a, moment, false, a->there);
    if (dying == 0 || born == 0)
        return false;
    side x = side_from(a, a->here, 0, dying), y = side_from(a, a->there, 0, born);
    return x.count == dying && y.count == born && x.height == y.height && join(a, &x, &y, true);
}

static void join_what_is_certain(masu__assembly *a) {
    while (a->again_count > 0) {
        uint32_t moment = a->again[--a->again_count];
        a->waits[moment] = false;
        while (join_whole(a, moment))
            continue;
    }
}

/* Several lines at this moment: two groups of one height are taken for the two sides of one. `most`: so many pairs of
 * groups there may be, or chance has made two equal. */
static bool join_by_guess(masu__assembly *a, uint32_t moment, uint32_t most, masu__rng *rng) {
    uint32_t dying = gather(a, moment, true, a->here), born = gather(a, moment, false, a->there), groups[2] = {0, 0};
    for (uint32_t i = 0; i < dying; i += side_from(a, a->here, i, dying).count)
        groups[0]++;
    for (uint32_t i = 0; i < born; i += side_from(a, a->there, i, born).count)
        groups[1]++;
    if (groups[0] == 0 || groups[1] == 0 || (uint64_t)groups[0] * groups[1] > most)
        return false;
    uint32_t skip = (uint32_t)masu__rng_below(rng, groups[0]), number = 0;
    for (uint32_t turn = 0; turn < 2; turn++) { /* from a group drawn on, then those before it */
        number = 0;
        for (uint32_t i = 0; i < dying; number++) {
            side x = side_from(a, a->here, i, dying);
            i += x.count;
            if ((number < skip) != turn)
                continue;
            for (uint32_t k = 0; k < born;) {
                side y = side_from(a, a->there, k, born);
                k += y.count;
                if (x.height == y.height && join(a, &x, &y, false))
                    return true;
            }
        }
    }
    return false;
}

/* Parts of the groups of one life: the fewest blocks that make two equal heights. */
static bool join_parts(masu__assembly *a, uint32_t moment, uint32_t most) {
    uint32_t dying = gather(a, moment, true, a->here), born = gather(a, moment, false, a->there);
    uint32_t part_x[MOST_PILED], part_y[MOST_PILED];
    if ((uint64_t)dying * born > most)
        return false;
    for (uint32_t i = 0; i < dying;) {
        side x = side_from(a, a->here, i, dying);
        i += x.count;
        for (uint32_t k = 0; k < born;) {
            side y = side_from(a, a->there, k, born);
            k += y.count;
            if (x.count > 6 || y.count > 6 || x.count + y.count < 3)
                continue;
            for (uint32_t size = 2; size <= x.count + y.count; size++)
                for (uint32_t p = 1; p < 1u << x.count; p++)
                    for (uint32_t q = 1; q < 1u << y.count; q++) {
                        side u = {.blocks = part_x}, v = {.blocks = part_y};
                        if ((uint32_t)__builtin_popcount(p) + (uint32_t)__builtin_popcount(q) != size)
                            continue;
                        for (uint32_t n = 0; n < x.count; n++)
                            if (p >> n & 1) {
                                u.height += a->blocks[x.blocks[n]].height;
                                part_x[u.count++] = x.blocks[n];
                            }
                        for (uint32_t n = 0; n < y.count; n++)
                            if (q >> n & 1) {
                                v.height += a->blocks[y.blocks[n]].height;
                                part_y[v.count++] = y.blocks[n];
                            }
                        if (u.height == v.height && join(a, &u, &v, false))
                            return true;
                    }
        }
    }
    return false;
}

/* One guess of those with the fewest possibilities; what is certain then comes first again. */
static bool guess(masu__assembly *a, uint32_t most_guessed, masu__rng *rng) {
    uint32_t sections = a->model->section_count, from = 1 + (uint32_t)masu__rng_below(rng, sections);
    for (uint32_t most = 2; most <= most_guessed; most *= 2)
        for (int parts = 0; parts < 2; parts++) {
            bool any = false;
            for (uint32_t k = 0; k < sections; k++) {
                uint32_t moment = (from + k) % sections;
                if (moment > 0 && a->dead[moment] != NOBODY && a->born[moment] != NOBODY &&
                    (parts ? join_parts(a, moment, most) : join_by_guess(a, moment, most, rng))) {
                    any = true;
                    join_what_is_certain(a);
                }
            }
            if (any)
                return true;
        }
    return false;
}

static void fall_apart(masu__assembly *a, uint32_t at) {
    leave(a, at);
    for (uint32_t c = a->blocks[at].child, next; c != NOBODY; c = next) {
        next = a->blocks[c].next;
        enter(a, c);
    }
}

/* Blocks whose place is known to be one of several fall apart, until each is anywhere or at one offset. */
static void break_up(masu__assembly *a) {
    for (uint32_t i = a->count; i-- > 0;) {
        block *b = &a->blocks[i];
        if (!b->is_left || !(b->lazy || b->anchor_count > 1))
            continue;
        fall_apart(a, i);
    }
}

/* Two blocks whose fixed rows put them in each other's way: one of the guesses in them was wrong. */
static bool break_colliding(masu__assembly *a) {
    uint32_t count = 0, broken = 0;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->blocks[i].is_left && a->blocks[i].anchor_count == 1)
            a->here[count++] = i;
    qsort_r(a->here, count, sizeof *a->here, by_life, a);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = i + 1; k < count && a->blocks[a->here[i]].is_left; k++) {
            const block *b = &a->blocks[a->here[i]], *c = &a->blocks[a->here[k]];
            if (c->first >= b->end)
                break;
            if (!c->is_left || b->anchors[0] >= c->anchors[0] + c->height || c->anchors[0] >= b->anchors[0] + b->height)
                continue;
            for (int both = 0; both < 2; both++)
                if (a->blocks[a->here[both ? i : k]].child != NOBODY) {
                    fall_apart(a, a->here[both ? i : k]);
                    broken++;
                }
        }
    return broken > 0;
}

uint32_t masu__assembly_join(masu__assembly *a, int64_t height, uint32_t most_guessed, uint64_t seed) {
    masu__rng rng;
    masu__rng_seed(&rng, seed);
    if (!begin(a, height))
        return 0;
    join_what_is_certain(a);
    while (guess(a, most_guessed, &rng))
        continue;
    do
        break_up(a);
    while (break_colliding(a));
    MASU_HEAVY_ASSERT(masu__assembly_valid(a));
    return a->left;
}

/* ---- rows and offsets -------------------------------------------------------------------------- */

void masu__assembly_rows(const masu__assembly *a, masu_plan_row *rows) {
    uint32_t made = 0;
    for (uint32_t i = 0; i < a->count; i++) {
        const block *b = &a->blocks[i];
        if (!b->is_left)
            continue;
        rows[made] = (masu_plan_row){.size_bytes = (uint64_t)b->height, .lower = b->first, .upper = b->end};
        rows[made].is_fixed = b->anchor_count > 0;
        rows[made].fixed_offset = b->anchor_count > 0 ? (uint64_t)b->anchors[0] : 0;
        made++;
    }
}

static bool put(masu__assembly *a, uint32_t at, int64_t offset, int64_t *offsets);

/* A pile without fixed rows lies as it is; otherwise in an order in which they are where they must be. */
static bool put_pile(masu__assembly *a, const block *pile, int64_t offset, int64_t *offsets) {
    uint32_t children[MOST_CHILDREN] = {0}, count = 0;
    int64_t places[MOST_CHILDREN] = {0};
    bool right = true;
    if (is_anchored(pile)) {
        count = children_of(a, pile, children);
        right = pile_may_lie(a, children, count, offset, places);
    }
    for (uint32_t k = 0; right && k < count; k++)
        right = put(a, children[k], places[k], offsets);
    for (uint32_t c = pile->child; right && count == 0 && c != NOBODY; c = a->blocks[c].next) {
        right = put(a, c, offset, offsets);
        offset += a->blocks[c].height;
    }
    return right;
}

/* As deep as blocks are. */
static bool put(masu__assembly *a, uint32_t at, int64_t offset, int64_t *offsets) {
    const block *b = &a->blocks[at];
    bool right = b->lazy || may_lie(a, b, offset); /* a lazy one's children will say */
    if (b->kind == ROW)
        offsets[b->item] = offset;
    if (b->kind == PILE)
        return right && put_pile(a, b, offset, offsets);
    for (uint32_t c = b->child; right && c != NOBODY; c = a->blocks[c].next)
        right = put(a, c, offset, offsets);
    return right;
}

bool masu__assembly_offsets(masu__assembly *a, const uint64_t *rows, int64_t *offsets) {
    uint32_t made = 0;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->blocks[i].is_left && !put(a, i, (int64_t)rows[made++], offsets))
            return false;
    return true;
}

bool masu__assembly_valid(const masu__assembly *a) {
    double area = 0, all = 0;
    uint32_t left = 0;
    for (uint32_t i = 0; i < a->count; i++) {
        const block *b = &a->blocks[i];
        double mine = (double)b->height * (b->end - b->first);
        area += b->is_left ? mine : 0;
        all += b->kind == ROW || b->kind == FIXED ? mine : 0;
        left += b->is_left;
    }
    return left == a->left && area <= all * (1 + 1e-9) && area >= all * (1 - 1e-9);
}
