/* loose_extents.c: where a block with fixed rows may begin and end. See loose_blocks.h.
 *
 *     ▲ ┌───┐ to
 *     │ │ b │         Of the blocks of a pile those with fixed rows are held: each in one of its extents, in some
 *     │ ├───┤         order. The others are free: some fill the gaps below and between, the rest lies above.
 *     │ │ F │ held
 *     │ ├───┤
 *     │ │ a │
 *     └─┴───┴ from
 */
#include "planner/fixed/loose_blocks.h"

#include <string.h>

#include "base/assert.h"

/* All ways to arrange a pile; or one that lies within a goal. */
typedef struct arranging {
    masu__loose *l;
    uint32_t free[MOST_FREE], held[MOST_HELD], free_count, held_count;
    int64_t sums[1 << MOST_FREE]; /* of each set of free blocks */
    const extent *goal;           /* NULL: all ways */
    loose_side *side;             /* takes the extents of all ways */
    uint32_t tried;
    int64_t free_at[MOST_FREE]; /* of the way at work */
    extent held_at[MOST_HELD];
} arranging;

static int64_t length(extent e) {
    return e.to - e.from;
}

/* Keeps the list free of extents that contain others, and its shortest when there are too many. */
static void add_extent(loose_side *s, extent e) {
    uint32_t kept = 0, longest = 0;
    for (uint32_t k = 0; k < s->extent_count; k++) {
        if (e.from <= s->extents[k].from && s->extents[k].to <= e.to)
            return;
        if (!(s->extents[k].from <= e.from && e.to <= s->extents[k].to))
            s->extents[kept++] = s->extents[k];
    }
    s->extent_count = kept;
    if (kept < MOST_EXTENTS) {
        s->extents[s->extent_count++] = e;
        return;
    }
    for (uint32_t k = 1; k < kept; k++)
        if (length(s->extents[k]) > length(s->extents[longest]))
            longest = k;
    if (length(e) < length(s->extents[longest]))
        s->extents[longest] = e;
}

/* ---- a pile ---------------------------------------------------------------------------------- */

static bool open_arranging(arranging *a, masu__loose *l, const uint32_t *blocks, uint32_t count) {
    a->l = l;
    a->goal = NULL;
    a->side = NULL;
    a->free_count = a->held_count = a->tried = 0;
    for (uint32_t k = 0; k < count; k++) {
        bool held = l->blocks[blocks[k]].extent_count > 0;
        if (held ? a->held_count == MOST_HELD : a->free_count == MOST_FREE)
            return false;
        *(held ? &a->held[a->held_count++] : &a->free[a->free_count++]) = blocks[k];
    }
    a->sums[0] = 0;
    for (uint32_t set = 1; set < 1u << a->free_count; set++) {
        uint32_t lowest = (uint32_t)__builtin_ctz(set);
        a->sums[set] = a->sums[set & (set - 1)] + l->blocks[a->free[lowest]].height;
    }
    return true;
}

static void lay(arranging *a, uint32_t set, int64_t offset) {
    for (; set > 0; set &= set - 1) {
        uint32_t k = (uint32_t)__builtin_ctz(set);
        a->free_at[k] = offset;
        offset += a->l->blocks[a->free[k]].height;
    }
}

/* All that is held has its place: the rest lies above. */
static bool end_arranging(arranging *a, extent so_far, uint32_t rest) {
    extent e = {so_far.from, so_far.to + a->sums[rest]};
    if (e.to > (a->goal ? a->goal->to : a->l->height))
        return false;
    lay(a, rest, so_far.to);
    if (!a->goal)
        add_extent(a->side, e);
    return a->goal;
}

static bool arrange(arranging *a, extent so_far, uint32_t rest, uint32_t held);

/* One more block is held here: with each set of free ones that the gap below it has room for. */
static bool hold(arranging *a, extent so_far, uint32_t rest, uint32_t held, uint32_t k, extent e) {
    bool is_first = held == (1u << a->held_count) - 1;
    int64_t floor = is_first ? (a->goal ? a->goal->from : 0) : so_far.to;
    for (uint32_t set = rest;; set = (set - 1) & rest) {
        if (a->tried++ >= MOST_TRIED)
            return false;
        if (a->sums[set] <= e.from - floor) {
            int64_t from = is_first && !a->goal ? e.from - a->sums[set] : floor;
            lay(a, set, is_first ? e.from - a->sums[set] : from);
            a->held_at[k] = e;
            if (arrange(a, (extent){is_first ? from : so_far.from, e.to}, rest & ~set, held & ~(1u << k)))
                return true;
        }
        if (set == 0)
            return false;
    }
}

/* As deep as there are held blocks. Whether a goal is reached. */
static bool arrange(arranging *a, extent so_far, uint32_t rest, uint32_t held) {
    if (held == 0)
        return end_arranging(a, so_far, rest);
    for (uint32_t left = held; left > 0; left &= left - 1) {
        uint32_t k = (uint32_t)__builtin_ctz(left);
        const loose_block *b = &a->l->blocks[a->held[k]];
        for (uint32_t i = 0; i < b->extent_count; i++)
            if (b->extents[i].from >= so_far.to && hold(a, so_far, rest, held, k, b->extents[i]))
                return true;
    }
    return false;
}

static bool is_held(const masu__loose *l, const uint32_t *blocks, uint32_t count) {
    bool held = false;
    for (uint32_t k = 0; k < count; k++)
        held |= l->blocks[blocks[k]].extent_count > 0;
    return held;
}

bool masu__loose_open_side(masu__loose *l, loose_side *s) {
    arranging a;
    s->height = 0;
    s->area = 0;
    s->extent_count = 0;
    s->first = l->blocks[s->blocks[0]].first;
    s->end = l->blocks[s->blocks[0]].end;
    for (uint32_t k = 0; k < s->count; k++) {
        s->height += l->blocks[s->blocks[k]].height;
        s->area += l->blocks[s->blocks[k]].area;
    }
    if (s->count == 1) {
        const loose_block *b = &l->blocks[s->blocks[0]];
        s->extent_count = b->extent_count;
        if (b->extent_count > 0)
            memcpy(s->extents, b->extents, b->extent_count * sizeof *b->extents);
        return true;
    }
    if (!is_held(l, s->blocks, s->count))
        return s->height <= l->height;
    if (!open_arranging(&a, l, s->blocks, s->count))
        return false;
    a.side = s;
    arrange(&a, (extent){0, 0}, (1u << a.free_count) - 1, (1u << a.held_count) - 1);
    return s->extent_count > 0;
}

/* ---- two sides ------------------------------------------------------------------------------- */

static bool is_of(const loose_side *s, uint32_t block) {
    for (uint32_t k = 0; k < s->count; k++)
        if (s->blocks[k] == block)
            return true;
    return false;
}

/* Whether another block has no extent but what lies there. */
static bool meets_another(const masu__loose *l, const loose_side *x, const loose_side *y, extent e) {
    for (uint32_t i = l->model->item_count; i < l->count; i++) {
        const loose_block *b = &l->blocks[i];
        uint32_t k = 0;
        if (!b->is_left || b->extent_count == 0 || b->end <= x->first || b->first >= y->end || is_of(x, i) ||
            is_of(y, i))
            continue;
        while (k < b->extent_count && b->extents[k].from < e.to && e.from < b->extents[k].to)
            k++;
        if (k == b->extent_count)
            return true;
    }
    return false;
}

static bool wastes_little(const masu__loose *l, const loose_side *x, const loose_side *y, double area, int64_t height) {
    double whole = (double)height * (y->end - x->first);
    return whole - area <= l->tolerance * whole;
}

static void offer_extent(masu__loose *l, const loose_side *x, const loose_side *y, loose_side *both, extent e) {
    l->work += 4;
    if (e.from >= 0 && e.to <= l->height && wastes_little(l, x, y, both->area, length(e)) && !meets_another(l, x, y, e))
        add_extent(both, e);
}

/* One side may lie anywhere: within an extent of the other, or that widens at one of its ends. */
static void widen_all(masu__loose *l, const loose_side *x, const loose_side *y, loose_side *both) {
    const loose_side *held = x->extent_count > 0 ? x : y, *other = held == x ? y : x;
    for (uint32_t k = 0; k < held->extent_count; k++) {
        extent e = held->extents[k];
        int64_t more = other->height > length(e) ? other->height - length(e) : 0;
        offer_extent(l, x, y, both, (extent){e.from - more, e.to});
        if (more > 0)
            offer_extent(l, x, y, both, (extent){e.from, e.to + more});
    }
}

bool masu__loose_common(masu__loose *l, const loose_side *x, const loose_side *y, loose_side *both) {
    both->first = x->first;
    both->end = y->end;
    both->area = x->area + y->area;
    both->extent_count = 0;
    both->height = x->height > y->height ? x->height : y->height;
    if (x->extent_count == 0 && y->extent_count == 0)
        return both->height <= l->height && wastes_little(l, x, y, both->area, both->height);
    if (x->extent_count == 0 || y->extent_count == 0)
        widen_all(l, x, y, both);
    for (uint32_t i = 0; i < x->extent_count; i++)
        for (uint32_t k = 0; k < y->extent_count; k++) {
            extent e = x->extents[i], f = y->extents[k];
            offer_extent(l, x, y, both, (extent){e.from < f.from ? e.from : f.from, e.to > f.to ? e.to : f.to});
        }
    for (uint32_t k = 0; k < both->extent_count; k++)
        both->height = k == 0 || length(both->extents[k]) < both->height ? length(both->extents[k]) : both->height;
    return both->extent_count > 0;
}

/* ---- places ---------------------------------------------------------------------------------- */

static bool put_stack(masu__loose *l, const uint32_t *blocks, uint32_t count, int64_t at, int64_t *offsets) {
    bool right = true;
    for (uint32_t k = 0; right && k < count; k++) {
        int64_t top = at + l->blocks[blocks[k]].height;
        right = masu__loose_put(l, blocks[k], (extent){at, top}, offsets);
        at = top;
    }
    return right;
}

static bool put_pile(masu__loose *l, const loose_block *pile, extent in, int64_t *offsets) {
    uint32_t blocks[MOST_SIDE], count = 0;
    arranging a;
    for (uint32_t c = pile->child; c != NONE; c = l->blocks[c].next)
        blocks[count++] = c;
    if (!is_held(l, blocks, count))
        return put_stack(l, blocks, count, in.from, offsets);
    bool right = open_arranging(&a, l, blocks, count);
    MASU_ASSERT(right);
    a.goal = &in;
    right = arrange(&a, (extent){0, 0}, (1u << a.free_count) - 1, (1u << a.held_count) - 1);
    for (uint32_t k = 0; right && k < a.free_count; k++)
        right = put_stack(l, &a.free[k], 1, a.free_at[k], offsets);
    for (uint32_t k = 0; right && k < a.held_count; k++)
        right = masu__loose_put(l, a.held[k], a.held_at[k], offsets);
    return right;
}

/* A child with extents lies in one of them, another at the bottom. */
static bool put_queue(masu__loose *l, const loose_block *queue, extent in, int64_t *offsets) {
    for (uint32_t c = queue->child; c != NONE; c = l->blocks[c].next) {
        const loose_block *b = &l->blocks[c];
        extent e = {in.from, in.from + b->height};
        uint32_t k = 0;
        while (k < b->extent_count && (b->extents[k].from < in.from || b->extents[k].to > in.to))
            k++;
        if (b->extent_count > 0 && k == b->extent_count)
            return false;
        if (!masu__loose_put(l, c, b->extent_count > 0 ? b->extents[k] : e, offsets))
            return false;
    }
    return true;
}

/* As deep as blocks are. */
bool masu__loose_put(masu__loose *l, uint32_t at, extent in, int64_t *offsets) {
    const loose_block *b = &l->blocks[at];
    if (b->kind == LOOSE_ROW)
        offsets[b->item] = in.from;
    return b->kind == LOOSE_PILE ? put_pile(l, b, in, offsets) : b->kind != LOOSE_QUEUE || put_queue(l, b, in, offsets);
}
