/* assembly.c: joins rows that fit together without waste. See assembly.h. */
#include "planner/fixed/assembly_blocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/meta.h"
#include "base/rng.h"

/* ---- set-up ---------------------------------------------------------------------------------- */

bool masu__assembly_suits(const masu__plan_model *m) {
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
    *unfit = !masu__assembly_suits(model);
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
        if (other->lazy ? masu__side_may_lie(a, other, listed->anchors[i])
                        : k < other->anchor_count && other->anchors[k] == listed->anchors[i])
            out->anchors[out->anchor_count++] = listed->anchors[i];
    }
    return out->anchors && out->anchor_count > 0;
}

/* The assembly that the block is part of. */
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

/* Rows that die and rows that are born at a moment, of one height, become one block. False: their fixed rows contradict
 * that. */
static bool join(masu__assembly *a, side *dying, side *born, bool certain) {
    side both = {0};
    uint32_t depth = 0, lazily = 0;
    deepest(a, dying, &depth, &lazily);
    deepest(a, born, &depth, &lazily);
    if (depth >= MOST_DEEP || !masu__side_open(a, dying) || !masu__side_open(a, born) ||
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
    if (masu__block_is_anchored(pile)) {
        count = masu__block_children(a, pile, children);
        right = masu__pile_may_lie(a, children, count, offset, places);
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
    bool right = b->lazy || masu__block_may_lie(a, b, offset); /* a lazy one's children will say */
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
