/* space.c: cutting and merging of segments. */
#include "allocators/vm/space.h"

#include "base/assert.h"
#include "base/meta.h"
#include "base/size.h"

#define BY_SIZE(node) MASU__TREE_RECORD(node, masu__segment, by_size)

/* ---- records --------------------------------------------------------------------------------------- */

bool masu__space_reserve(masu__space *space, size_t count) {
    while (space->spare_count < count) {
        masu__segment *segment = masu__meta_alloc(sizeof *segment);
        if (!segment)
            return false;
        segment->after = space->spare;
        space->spare = segment;
        space->spare_count++;
    }
    return true;
}

static masu__segment *record_take(masu__space *space) {
    masu__segment *segment = space->spare;
    MASU_ASSERT(segment != NULL);
    space->spare = segment->after;
    space->spare_count--;
    *segment = (masu__segment){.state = MASU__SEGMENT_SPARE};
    return segment;
}

enum { MOST_SPARES = 64 };

static void record_put(masu__space *space, masu__segment *segment) {
    if (space->spare_count >= MOST_SPARES) {
        masu__meta_free(segment, sizeof *segment);
        return;
    }
    segment->state = MASU__SEGMENT_SPARE;
    segment->after = space->spare;
    space->spare = segment;
    space->spare_count++;
}

/* ---- states ---------------------------------------------------------------------------------------- */

static void enter(masu__space *space, masu__segment *segment, masu__segment_state state) {
    segment->state = state;
    if (state == MASU__SEGMENT_FREE) {
        masu__tree_insert(&space->by_size, &segment->by_size, segment->bytes, segment->address);
        space->free_bytes += segment->bytes;
    } else if (state == MASU__SEGMENT_LIVE) {
        space->live_bytes += segment->bytes;
        space->live_count++;
    } else {
        space->broken_bytes += segment->bytes;
        space->broken_count++;
    }
}

static void leave(masu__space *space, masu__segment *segment) {
    if (segment->state == MASU__SEGMENT_FREE) {
        masu__tree_remove(&space->by_size, &segment->by_size);
        space->free_bytes -= segment->bytes;
    } else if (segment->state == MASU__SEGMENT_LIVE) {
        space->live_bytes -= segment->bytes;
        space->live_count--;
    } else {
        space->broken_bytes -= segment->bytes;
        space->broken_count--;
    }
}

/* ---- the chain ------------------------------------------------------------------------------------- */

/* segment, which has left its state, keeps its first bytes; what follows is returned, stateless. */
static masu__segment *cut(masu__space *space, masu__segment *segment, size_t bytes) {
    masu__segment *rest = record_take(space);
    rest->address = segment->address + bytes;
    rest->bytes = segment->bytes - bytes;
    segment->bytes = bytes;
    rest->before = segment;
    rest->after = segment->after;
    if (rest->after)
        rest->after->before = rest;
    segment->after = rest;
    masu__tree_insert(&space->by_address, &rest->by_address, rest->address, 0);
    space->segment_count++;
    return rest;
}

/* segment swallows the one behind it; both have left their states. */
static void join_after(masu__space *space, masu__segment *segment) {
    masu__segment *gone = segment->after;
    segment->bytes += gone->bytes;
    segment->after = gone->after;
    if (gone->after)
        gone->after->before = segment;
    masu__tree_remove(&space->by_address, &gone->by_address);
    space->segment_count--;
    record_put(space, gone);
}

static bool is_free(const masu__segment *segment) {
    return segment && segment->state == MASU__SEGMENT_FREE;
}

/* A stateless segment becomes free, one with its free neighbours. */
static void make_free(masu__space *space, masu__segment *segment) {
    if (is_free(segment->after)) {
        leave(space, segment->after);
        join_after(space, segment);
    }
    if (is_free(segment->before)) {
        segment = segment->before;
        leave(space, segment);
        join_after(space, segment);
    }
    enter(space, segment, MASU__SEGMENT_FREE);
}

/* ---- placement ------------------------------------------------------------------------------------- */

static size_t padding_of(const masu__segment *hole, size_t alignment) {
    return masu__align_up_small(hole->address, alignment) - hole->address;
}

static bool fits(const masu__segment *hole, size_t bytes, size_t alignment) {
    size_t padding = padding_of(hole, alignment);
    return padding <= hole->bytes && hole->bytes - padding >= bytes;
}

/* The smallest hole that fits; with an alignment above the granule one that fits wherever it lies
 * is taken when the first is of no use. */
static masu__segment *find_hole(const masu__space *space, size_t bytes, size_t alignment) {
    size_t surely;
    masu__segment *hole = BY_SIZE(masu__tree_at_least(&space->by_size, bytes, 0));
    if (!hole || fits(hole, bytes, alignment))
        return hole;
    if (!masu__add(bytes, alignment - space->granule, &surely))
        return NULL;
    return BY_SIZE(masu__tree_at_least(&space->by_size, surely, 0));
}

static masu__segment *largest_hole(const masu__space *space) {
    return BY_SIZE(masu__tree_at_most(&space->by_size, UINT64_MAX, UINT64_MAX));
}

/* How far from the hole's beginning a growable block goes. */
static size_t growable_offset(const masu__segment *hole, size_t bytes, size_t alignment) {
    size_t padding = padding_of(hole, alignment);
    if (!hole->before || hole->before->state != MASU__SEGMENT_LIVE || !hole->before->growable)
        return padding;
    uintptr_t middle = hole->address + (hole->bytes - bytes) / 2;
    uintptr_t at = masu__align_down(middle, alignment);
    return at < hole->address + padding ? padding : at - hole->address;
}

masu__segment *masu__space_take(masu__space *space, size_t bytes, size_t alignment, bool growable, size_t wish_bytes) {
    size_t strict = masu__max(alignment, wish_bytes);
    masu__segment *hole = growable ? largest_hole(space) : find_hole(space, bytes, strict);
    if (!hole || !fits(hole, bytes, strict)) {
        strict = alignment;
        hole = find_hole(space, bytes, strict);
    }
    if (!hole || !fits(hole, bytes, strict))
        return NULL;
    size_t offset = growable ? growable_offset(hole, bytes, strict) : padding_of(hole, strict);
    leave(space, hole);
    masu__segment *segment = hole;
    if (offset > 0) {
        segment = cut(space, hole, offset);
        enter(space, hole, MASU__SEGMENT_FREE);
    }
    if (segment->bytes > bytes)
        enter(space, cut(space, segment, bytes), MASU__SEGMENT_FREE);
    segment->growable = growable;
    segment->no_access = false;
    segment->pieces = (masu__piece_list){0};
    segment->user_bytes = segment->kept_bytes = 0;
    segment->owner = segment->serial = 0;
    enter(space, segment, MASU__SEGMENT_LIVE);
    return segment;
}

void masu__space_give(masu__space *space, masu__segment *segment) {
    MASU_ASSERT(segment->pieces.count == 0);
    leave(space, segment);
    make_free(space, segment);
}

bool masu__space_resize(masu__space *space, masu__segment *segment, size_t bytes) {
    masu__segment *after = segment->after;
    if (bytes == segment->bytes)
        return true;
    if (bytes > segment->bytes && (!is_free(after) || after->bytes < bytes - segment->bytes))
        return false;
    leave(space, segment);
    if (bytes > segment->bytes) {
        leave(space, after);
        join_after(space, segment);
    }
    if (segment->bytes > bytes)
        make_free(space, cut(space, segment, bytes));
    enter(space, segment, MASU__SEGMENT_LIVE);
    return true;
}

void masu__space_break(masu__space *space, masu__segment *segment) {
    leave(space, segment);
    enter(space, segment, MASU__SEGMENT_BROKEN);
}

masu__segment *masu__space_break_tail(masu__space *space, masu__segment *segment, uintptr_t at) {
    leave(space, segment);
    masu__segment *tail = cut(space, segment, at - segment->address);
    enter(space, segment, MASU__SEGMENT_LIVE);
    enter(space, tail, MASU__SEGMENT_BROKEN);
    return tail;
}

/* ---- questions ------------------------------------------------------------------------------------- */

masu__segment *masu__space_find(const masu__space *space, uintptr_t address) {
    if (address < space->address || address - space->address >= space->bytes)
        return NULL;
    return MASU__TREE_RECORD(masu__tree_at_most(&space->by_address, address, 0), masu__segment, by_address);
}

size_t masu__space_largest_free(const masu__space *space) {
    const masu__segment *hole = largest_hole(space);
    return hole ? hole->bytes : 0;
}

size_t masu__space_metadata_bytes(const masu__space *space) {
    return (space->segment_count + space->spare_count) * sizeof(masu__segment);
}

bool masu__space_init(masu__space *space, uintptr_t address, size_t bytes, size_t granule) {
    *space = (masu__space){.address = address, .bytes = bytes, .granule = granule};
    if (!masu__space_reserve(space, 1))
        return false;
    masu__segment *whole = record_take(space);
    whole->address = address;
    whole->bytes = bytes;
    masu__tree_insert(&space->by_address, &whole->by_address, address, 0);
    space->segment_count = 1;
    space->first = whole;
    enter(space, whole, MASU__SEGMENT_FREE);
    return true;
}

void masu__space_destroy(masu__space *space) {
    for (masu__segment *segment = space->first, *next; segment; segment = next) {
        next = segment->after;
        masu__meta_free(segment, sizeof *segment);
    }
    for (masu__segment *segment = space->spare, *next; segment; segment = next) {
        next = segment->after;
        masu__meta_free(segment, sizeof *segment);
    }
    *space = (masu__space){0};
}

static bool segment_valid(const masu__space *space, const masu__segment *segment, uintptr_t expected) {
    const masu__segment *before = segment->before;
    bool linked = before ? before->after == segment : space->first == segment;
    return linked && segment->address == expected && segment->bytes > 0 &&
           masu__is_aligned(segment->bytes, space->granule) && segment->pieces.bytes <= segment->bytes &&
           masu__space_find(space, expected) == segment &&
           !(is_free(segment) && (is_free(before) || segment->pieces.count > 0));
}

bool masu__space_valid(const masu__space *space) {
    uintptr_t expected = space->address;
    size_t sums[4] = {0}, counts[4] = {0};
    for (const masu__segment *segment = space->first; segment; segment = segment->after) {
        if (segment->state == MASU__SEGMENT_SPARE || !segment_valid(space, segment, expected))
            return false;
        expected += segment->bytes;
        sums[segment->state] += segment->bytes;
        counts[segment->state]++;
    }
    return expected == space->address + space->bytes && masu__tree_valid(&space->by_address) &&
           masu__tree_valid(&space->by_size) && counts[MASU__SEGMENT_FREE] == space->by_size.count &&
           counts[MASU__SEGMENT_LIVE] == space->live_count && counts[MASU__SEGMENT_BROKEN] == space->broken_count &&
           space->live_count + space->broken_count + space->by_size.count == space->segment_count &&
           space->by_address.count == space->segment_count && sums[MASU__SEGMENT_FREE] == space->free_bytes &&
           sums[MASU__SEGMENT_LIVE] == space->live_bytes && sums[MASU__SEGMENT_BROKEN] == space->broken_bytes;
}
