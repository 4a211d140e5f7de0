/* assembly_pile.c: where a block may lie whose fixed rows are where they must be: the order of a pile's children.
 *
 *     anchors of a pile = the offsets at which some order of its children puts each anchored one on one of its anchors
 *
 * Of up to MOST_PILED children all orders are looked at, by the sets that may be the lower part; of more, those that a
 * search finds in MOST_TRIED steps: a pile may be refused that could lie there, and none is accepted that cannot.
 */
#include "planner/fixed/assembly_blocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/meta.h"

uint32_t masu__block_children(const masu__assembly *a, const block *b, uint32_t *children) {
    uint32_t count = 0;
    for (uint32_t c = b->child; c != NOBODY; c = a->blocks[c].next)
        children[count++] = c;
    return count;
}

/* As deep as lazy blocks lie within each other. */
bool masu__block_may_lie(masu__assembly *a, const block *b, int64_t offset) {
    for (uint32_t i = 0; i < b->anchor_count; i++)
        if (b->anchors[i] == offset)
            return true;
    if (b->anchor_count > 0 || !b->lazy)
        return b->anchor_count == 0;
    if (b->kind == PILE) {
        uint32_t children[MOST_CHILDREN] = {0};
        int64_t places[MOST_CHILDREN];
        return masu__pile_may_lie(a, children, masu__block_children(a, b, children), offset, places);
    }
    for (uint32_t c = b->child; c != NOBODY; c = a->blocks[c].next)
        if (masu__block_is_anchored(&a->blocks[c]) && !masu__block_may_lie(a, &a->blocks[c], offset))
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
            if (!(set >> k & 1) && top[set | 1u << k] == 0 &&
                masu__block_may_lie(a, &a->blocks[children[k]], offset + sums[set]))
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
            if ((placed >> k & 1) || masu__block_is_anchored(b) != anchored ||
                (!anchored && offset + b->height > next) || !masu__block_may_lie(a, b, offset))
                continue;
            f->places[k] = offset;
            if (fill(a, f, placed | 1u << k, offset + b->height))
                return true;
        }
    return false;
}

/* Whether the pile may lie at `offset`, and where each child is then. Of many children not all orders are looked at. */
bool masu__pile_may_lie(masu__assembly *a, const uint32_t *children, uint32_t count, int64_t offset, int64_t *places) {
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
        *anchored += masu__block_is_anchored(b);
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

/* The offsets at which the pile may lie. False: nowhere, or memory ran out. */
static bool list_anchors(masu__assembly *a, side *s, uint32_t key, bool only_one) {
    size_t room = (size_t)a->blocks[s->blocks[key]].anchor_count << s->count;
    int64_t *found = masu__meta_alloc(room * sizeof *found), places[MOST_PILED];
    if (!found)
        return false;
    uint32_t made = find_places(a, s->blocks, s->count, key, s->height, found), kept = 0;
    a->work += room;
    for (uint32_t i = 0; i < made && kept <= MOST_ANCHORS; i++)
        if (only_one || masu__pile_may_lie(a, s->blocks, s->count, found[i], places))
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
bool masu__side_open(masu__assembly *a, side *s) {
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

bool masu__side_may_lie(masu__assembly *a, const side *s, int64_t offset) {
    int64_t places[MOST_CHILDREN];
    return s->count == 1 ? masu__block_may_lie(a, &a->blocks[s->blocks[0]], offset)
                         : masu__pile_may_lie(a, s->blocks, s->count, offset, places);
}
