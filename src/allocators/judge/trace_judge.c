/* trace_judge.c: the judge. Lists and loops, nothing clever: what it says must be believable by reading
 * it.
 *
 *     pools[] ─► extents[]  of one pool, in no order
 *            ├─► blocks[]   live ones, in no order
 *            └─► pieces[]   of memory, each mapped at one address (`spent`) or nowhere (NOWHERE); a pool
 *                           that never named one is not asked what lies behind its blocks
 */
#include <masu/check.h>

#include <stdbool.h>

#include "base/meta.h"
#include "base/size.h"

typedef struct span {
    uint64_t address, bytes;
    uint64_t spent; /* blocks: what the pool took for it */
} span;

#define NOWHERE UINT64_MAX

typedef struct span_list {
    span *items; /* owned */
    size_t count, capacity;
} span_list;

typedef struct pool_record {
    uint32_t number;
    span_list extents, blocks;
    span_list pieces; /* address: the piece's number; spent: where it is mapped */
    bool has_pieces;
    masu_check_totals totals;
} pool_record;

struct masu_check {
    pool_record *pools; /* owned */
    size_t pool_count, pool_capacity;
    uint64_t next_sequence;
    masu_verdict verdict;
    masu_event culprit;
};

/* ---- lists ----------------------------------------------------------------------------------- */

static bool list_add(span_list *list, span item) {
    if (list->count == list->capacity) {
        size_t capacity = masu__max(16, 2 * list->capacity);
        span *items = masu__meta_realloc(list->items, list->capacity * sizeof *items, capacity * sizeof *items);
        if (!items)
            return false;
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count++] = item;
    return true;
}

static void list_remove(span_list *list, size_t position) {
    list->items[position] = list->items[--list->count];
}

static bool spans_touch(span a, span b) {
    return a.address < b.address + b.bytes && b.address < a.address + a.bytes;
}

static bool span_inside(span inner, span outer) {
    return inner.address >= outer.address && inner.address + inner.bytes <= outer.address + outer.bytes;
}

static bool list_touches(const span_list *list, span item) {
    for (size_t i = 0; i < list->count; i++)
        if (spans_touch(list->items[i], item))
            return true;
    return false;
}

/* Position of the span that holds item whole, or count. */
static size_t list_holder(const span_list *list, span item) {
    size_t i = 0;
    while (i < list->count && !span_inside(item, list->items[i]))
        i++;
    return i;
}

static size_t list_at(const span_list *list, uint64_t address) {
    size_t i = 0;
    while (i < list->count && list->items[i].address != address)
        i++;
    return i;
}

/* Cuts hole out of the span at position; up to two pieces stay. *pieces says how many. */
static bool list_cut(span_list *list, size_t position, span hole, unsigned *pieces) {
    span whole = list->items[position];
    uint64_t hole_end = hole.address + hole.bytes, whole_end = whole.address + whole.bytes;
    list_remove(list, position);
    *pieces = 0;
    if (hole.address > whole.address) {
        ++*pieces;
        if (!list_add(list, (span){whole.address, hole.address - whole.address, hole.address - whole.address}))
            return false;
    }
    if (hole_end < whole_end) {
        ++*pieces;
        return list_add(list, (span){hole_end, whole_end - hole_end, whole_end - hole_end});
    }
    return true;
}

/* ---- one event ------------------------------------------------------------------------------- */

static masu_verdict judge_extent_add(pool_record *pool, span item) {
    if (list_touches(&pool->extents, item))
        return MASU_VERDICT_EXTENT_OVERLAP;
    if (!list_add(&pool->extents, item))
        return MASU_VERDICT_NO_MEMORY;
    pool->totals.reserved_bytes += item.bytes;
    return MASU_VERDICT_FINE;
}

static masu_verdict judge_extent_drop(pool_record *pool, span item) {
    unsigned pieces;
    size_t holder = list_holder(&pool->extents, item);
    if (holder == pool->extents.count)
        return MASU_VERDICT_EXTENT_UNKNOWN;
    for (size_t i = 0; i < pool->blocks.count; i++) {
        span block = pool->blocks.items[i];
        if (spans_touch((span){block.address, block.spent, 0}, item))
            return MASU_VERDICT_EXTENT_IN_USE;
    }
    if (!list_cut(&pool->extents, holder, item, &pieces))
        return MASU_VERDICT_NO_MEMORY;
    pool->totals.reserved_bytes -= item.bytes;
    return MASU_VERDICT_FINE;
}

/* Whether every byte of [address, end) has a mapped piece behind it. */
static bool is_backed(const pool_record *pool, uint64_t address, uint64_t end) {
    if (!pool->has_pieces)
        return true;
    while (address < end) {
        uint64_t reached = address;
        for (size_t i = 0; i < pool->pieces.count; i++) {
            span piece = pool->pieces.items[i];
            if (piece.spent != NOWHERE && piece.spent <= address && piece.spent + piece.bytes > address)
                reached = piece.spent + piece.bytes;
        }
        if (reached == address)
            return false;
        address = reached;
    }
    return true;
}

static masu_verdict judge_alloc(pool_record *pool, const masu_event *event) {
    span item = {event->address, event->bytes, event->block_bytes};
    span spent = {event->address, event->block_bytes, 0};
    if (event->block_bytes < event->bytes)
        return MASU_VERDICT_SHORT;
    if (event->alignment_bytes != 0 && event->address % event->alignment_bytes != 0)
        return MASU_VERDICT_MISALIGNED;
    if (list_holder(&pool->extents, spent) == pool->extents.count)
        return MASU_VERDICT_OUTSIDE;
    for (size_t i = 0; i < pool->blocks.count; i++) {
        span other = pool->blocks.items[i];
        if (spans_touch(spent, (span){other.address, other.spent, 0}))
            return MASU_VERDICT_OVERLAP;
    }
    if (!is_backed(pool, event->address, event->address + event->bytes))
        return MASU_VERDICT_UNBACKED;
    if (!list_add(&pool->blocks, item))
        return MASU_VERDICT_NO_MEMORY;
    masu_check_totals *totals = &pool->totals;
    totals->allocations++;
    totals->live_blocks++;
    totals->live_bytes += item.bytes;
    if (totals->live_bytes > totals->peak_bytes)
        totals->peak_bytes = totals->live_bytes;
    return MASU_VERDICT_FINE;
}

static masu_verdict judge_free(pool_record *pool, const masu_event *event) {
    size_t at = list_at(&pool->blocks, event->address);
    if (at == pool->blocks.count)
        return MASU_VERDICT_FREE_UNKNOWN;
    if (pool->blocks.items[at].bytes != event->bytes)
        return MASU_VERDICT_FREE_SIZE;
    list_remove(&pool->blocks, at);
    pool->totals.frees++;
    pool->totals.live_blocks--;
    pool->totals.live_bytes -= event->bytes;
    return MASU_VERDICT_FINE;
}

/* The rest on either side counts as newly allocated, so that allocations - frees = live
 * blocks. */
static masu_verdict judge_free_part(pool_record *pool, span item) {
    unsigned pieces;
    size_t holder = list_holder(&pool->blocks, item);
    if (holder == pool->blocks.count)
        return MASU_VERDICT_FREE_UNKNOWN;
    if (!list_cut(&pool->blocks, holder, item, &pieces))
        return MASU_VERDICT_NO_MEMORY;
    pool->totals.allocations += pieces;
    pool->totals.frees++;
    pool->totals.live_blocks += pieces;
    pool->totals.live_blocks--;
    pool->totals.live_bytes -= item.bytes;
    return MASU_VERDICT_FINE;
}

static masu_verdict judge_reset(pool_record *pool) {
    pool->blocks.count = 0;
    pool->totals.frees = pool->totals.allocations;
    pool->totals.live_blocks = 0;
    pool->totals.live_bytes = 0;
    pool->totals.peak_bytes = 0;
    return MASU_VERDICT_FINE;
}

/* ---- pieces of memory ------------------------------------------------------------------------ */

static masu_verdict judge_piece_add(pool_record *pool, const masu_event *event) {
    pool->has_pieces = true;
    if (list_at(&pool->pieces, event->owner) < pool->pieces.count)
        return MASU_VERDICT_PIECE_TWICE;
    return list_add(&pool->pieces, (span){event->owner, event->bytes, NOWHERE}) ? MASU_VERDICT_FINE
                                                                                : MASU_VERDICT_NO_MEMORY;
}

static masu_verdict judge_piece_drop(pool_record *pool, const masu_event *event) {
    size_t at = list_at(&pool->pieces, event->owner);
    if (at == pool->pieces.count || pool->pieces.items[at].bytes != event->bytes)
        return MASU_VERDICT_PIECE_UNKNOWN;
    if (pool->pieces.items[at].spent != NOWHERE)
        return MASU_VERDICT_PIECE_IN_USE;
    list_remove(&pool->pieces, at);
    return MASU_VERDICT_FINE;
}

static masu_verdict judge_piece_cut(pool_record *pool, const masu_event *event) {
    size_t at = list_at(&pool->pieces, event->owner);
    if (at == pool->pieces.count || pool->pieces.items[at].bytes != event->bytes + event->block_bytes)
        return MASU_VERDICT_PIECE_UNKNOWN;
    if (list_at(&pool->pieces, event->address) < pool->pieces.count)
        return MASU_VERDICT_PIECE_TWICE;
    span *first = &pool->pieces.items[at];
    span rest = {event->address, event->block_bytes, NOWHERE};
    if (first->spent != NOWHERE)
        rest.spent = first->spent + event->bytes;
    first->bytes = event->bytes;
    return list_add(&pool->pieces, rest) ? MASU_VERDICT_FINE : MASU_VERDICT_NO_MEMORY;
}

static masu_verdict judge_piece_join(pool_record *pool, const masu_event *event) {
    size_t at = list_at(&pool->pieces, event->owner), gone = list_at(&pool->pieces, event->address);
    if (at == pool->pieces.count || gone == pool->pieces.count || at == gone)
        return MASU_VERDICT_PIECE_UNKNOWN;
    span *first = &pool->pieces.items[at];
    span rest = pool->pieces.items[gone];
    bool follows = first->spent == NOWHERE ? rest.spent == NOWHERE : rest.spent == first->spent + first->bytes;
    if (!follows || first->bytes + rest.bytes != event->bytes || rest.bytes != event->block_bytes)
        return MASU_VERDICT_PIECE_UNKNOWN;
    first->bytes = event->bytes;
    list_remove(&pool->pieces, gone);
    return MASU_VERDICT_FINE;
}

static masu_verdict judge_map(pool_record *pool, const masu_event *event) {
    span place = {event->address, event->bytes, 0};
    size_t at = list_at(&pool->pieces, event->owner);
    if (at == pool->pieces.count || pool->pieces.items[at].bytes != event->bytes)
        return MASU_VERDICT_PIECE_UNKNOWN;
    if (pool->pieces.items[at].spent != NOWHERE)
        return MASU_VERDICT_PIECE_TWICE;
    if (list_holder(&pool->extents, place) == pool->extents.count)
        return MASU_VERDICT_OUTSIDE;
    for (size_t i = 0; i < pool->pieces.count; i++) {
        span other = pool->pieces.items[i];
        if (other.spent != NOWHERE && spans_touch(place, (span){other.spent, other.bytes, 0}))
            return MASU_VERDICT_MAP_OVERLAP;
    }
    pool->pieces.items[at].spent = event->address;
    return MASU_VERDICT_FINE;
}

static masu_verdict judge_unmap(pool_record *pool, const masu_event *event) {
    span place = {event->address, event->bytes, 0};
    size_t at = list_at(&pool->pieces, event->owner);
    if (at == pool->pieces.count || pool->pieces.items[at].spent != event->address ||
        pool->pieces.items[at].bytes != event->bytes)
        return MASU_VERDICT_PIECE_UNKNOWN;
    for (size_t i = 0; i < pool->blocks.count; i++) {
        span block = pool->blocks.items[i];
        if (block.bytes > 0 && spans_touch(place, block))
            return MASU_VERDICT_UNBACKED;
    }
    pool->pieces.items[at].spent = NOWHERE;
    return MASU_VERDICT_FINE;
}

/* As if the block had been freed and allocated again at its address. */
static masu_verdict judge_resize(pool_record *pool, const masu_event *event) {
    size_t at = list_at(&pool->blocks, event->address);
    if (at == pool->blocks.count)
        return MASU_VERDICT_FREE_UNKNOWN;
    span old = pool->blocks.items[at];
    masu_check_totals totals = pool->totals;
    list_remove(&pool->blocks, at);
    pool->totals.live_bytes -= old.bytes;
    masu_verdict verdict = judge_alloc(pool, event);
    pool->totals.allocations = totals.allocations;
    pool->totals.live_blocks = totals.live_blocks;
    return verdict;
}

/* The record of that pool, made when it is new; NULL without memory. */
static pool_record *check_pool(masu_check *check, uint32_t number) {
    for (size_t i = 0; i < check->pool_count; i++)
        if (check->pools[i].number == number)
            return &check->pools[i];
    if (check->pool_count == check->pool_capacity) {
        size_t capacity = masu__max(4, 2 * check->pool_capacity);
        pool_record *pools = masu__meta_realloc(check->pools, check->pool_capacity * sizeof *pools,
                                                capacity * sizeof *pools);
        if (!pools)
            return NULL;
        check->pools = pools;
        check->pool_capacity = capacity;
    }
    pool_record *pool = &check->pools[check->pool_count++];
    *pool = (pool_record){.number = number};
    return pool;
}

static bool needs_bytes(uint32_t kind) {
    return kind != MASU_EVENT_RESET && kind < MASU_EVENT_BEGIN && kind != MASU_EVENT_REFUSED;
}

/* A block may be empty while it has addresses of its own. */
static bool is_empty(const masu_event *event) {
    bool is_block = event->kind == MASU_EVENT_ALLOC || event->kind == MASU_EVENT_RESIZE ||
                    event->kind == MASU_EVENT_FREE;
    return event->bytes == 0 && !(is_block && event->block_bytes > 0);
}

static masu_verdict judge(masu_check *check, const masu_event *event) {
    if (event->sequence != check->next_sequence)
        return MASU_VERDICT_SEQUENCE;
    check->next_sequence++;
    if (event->kind >= MASU_EVENT_KIND_COUNT)
        return MASU_VERDICT_KIND;
    span item = {event->address, event->bytes, event->block_bytes};
    uint64_t end;
    if (needs_bytes(event->kind) && (is_empty(event) || __builtin_add_overflow(event->address, event->bytes, &end) ||
                                     __builtin_add_overflow(event->address, event->block_bytes, &end)))
        return MASU_VERDICT_EMPTY;
    pool_record *pool = check_pool(check, event->pool);
    if (!pool)
        return MASU_VERDICT_NO_MEMORY;
    switch ((masu_event_kind)event->kind) {
    case MASU_EVENT_EXTENT_ADD:
        return judge_extent_add(pool, item);
    case MASU_EVENT_EXTENT_DROP:
        return judge_extent_drop(pool, item);
    case MASU_EVENT_ALLOC:
        return judge_alloc(pool, event);
    case MASU_EVENT_FREE:
        return judge_free(pool, event);
    case MASU_EVENT_FREE_PART:
        return judge_free_part(pool, item);
    case MASU_EVENT_RESET:
        return judge_reset(pool);
    case MASU_EVENT_PIECE_ADD:
        return judge_piece_add(pool, event);
    case MASU_EVENT_PIECE_DROP:
        return judge_piece_drop(pool, event);
    case MASU_EVENT_PIECE_CUT:
        return judge_piece_cut(pool, event);
    case MASU_EVENT_PIECE_JOIN:
        return judge_piece_join(pool, event);
    case MASU_EVENT_MAP:
        return judge_map(pool, event);
    case MASU_EVENT_UNMAP:
        return judge_unmap(pool, event);
    case MASU_EVENT_RESIZE:
        return judge_resize(pool, event);
    case MASU_EVENT_REFUSED:
    case MASU_EVENT_BEGIN:
    case MASU_EVENT_END:
    case MASU_EVENT_MARK:
    case MASU_EVENT_KIND_COUNT:
        break;
    }
    return MASU_VERDICT_FINE;
}

/* ---- public calls ---------------------------------------------------------------------------- */

masu_status masu_check_create(masu_check **out) {
    if (!out)
        return MASU_ERR_INVALID_ARGUMENT;
    *out = masu__meta_calloc(1, sizeof **out);
    if (!*out)
        return MASU_ERR_OUT_OF_MEMORY;
    (*out)->culprit.sequence = UINT64_MAX;
    return MASU_OK;
}

void masu_check_destroy(masu_check *check) {
    if (!check)
        return;
    for (size_t i = 0; i < check->pool_count; i++) {
        pool_record *pool = &check->pools[i];
        masu__meta_free(pool->extents.items, pool->extents.capacity * sizeof(span));
        masu__meta_free(pool->blocks.items, pool->blocks.capacity * sizeof(span));
        masu__meta_free(pool->pieces.items, pool->pieces.capacity * sizeof(span));
    }
    masu__meta_free(check->pools, check->pool_capacity * sizeof *check->pools);
    masu__meta_free(check, sizeof *check);
}

masu_verdict masu_check_event(masu_check *check, const masu_event *event) {
    if (check->verdict != MASU_VERDICT_FINE)
        return check->verdict;
    check->verdict = judge(check, event);
    if (check->verdict != MASU_VERDICT_FINE)
        check->culprit = *event;
    return check->verdict;
}

void masu_check_sink(void *check, const masu_event *event) {
    masu_check_event(check, event);
}

masu_verdict masu_check_verdict(const masu_check *check) {
    return check->verdict;
}

masu_event masu_check_culprit(const masu_check *check) {
    return check->culprit;
}

void masu_check_get_totals(const masu_check *check, uint32_t pool, masu_check_totals *out) {
    *out = (masu_check_totals){0};
    for (size_t i = 0; i < check->pool_count; i++)
        if (check->pools[i].number == pool)
            *out = check->pools[i].totals;
}

masu_verdict masu_check_claim(const masu_check *check, uint32_t pool, const masu_check_totals *claimed) {
    masu_check_totals seen;
    masu_check_get_totals(check, pool, &seen);
    if (claimed->live_bytes != seen.live_bytes)
        return MASU_VERDICT_CLAIM_LIVE_BYTES;
    if (claimed->live_blocks != seen.live_blocks)
        return MASU_VERDICT_CLAIM_LIVE_BLOCKS;
    if (claimed->peak_bytes != seen.peak_bytes)
        return MASU_VERDICT_CLAIM_PEAK;
    if (claimed->reserved_bytes != seen.reserved_bytes)
        return MASU_VERDICT_CLAIM_RESERVED;
    if (claimed->allocations != seen.allocations)
        return MASU_VERDICT_CLAIM_ALLOCATIONS;
    if (claimed->frees != seen.frees)
        return MASU_VERDICT_CLAIM_FREES;
    return MASU_VERDICT_FINE;
}

const char *masu_verdict_name(masu_verdict verdict) {
    static const char *const names[] = {
        [MASU_VERDICT_FINE] = "fine",
        [MASU_VERDICT_SEQUENCE] = "sequence",
        [MASU_VERDICT_KIND] = "kind",
        [MASU_VERDICT_EMPTY] = "empty",
        [MASU_VERDICT_EXTENT_OVERLAP] = "extent overlap",
        [MASU_VERDICT_EXTENT_UNKNOWN] = "extent unknown",
        [MASU_VERDICT_EXTENT_IN_USE] = "extent in use",
        [MASU_VERDICT_OUTSIDE] = "outside",
        [MASU_VERDICT_OVERLAP] = "overlap",
        [MASU_VERDICT_MISALIGNED] = "misaligned",
        [MASU_VERDICT_SHORT] = "short",
        [MASU_VERDICT_FREE_UNKNOWN] = "free of unknown",
        [MASU_VERDICT_FREE_SIZE] = "free of another size",
        [MASU_VERDICT_PIECE_TWICE] = "piece in two places",
        [MASU_VERDICT_PIECE_UNKNOWN] = "piece unknown or elsewhere",
        [MASU_VERDICT_PIECE_IN_USE] = "piece dropped while mapped",
        [MASU_VERDICT_MAP_OVERLAP] = "two pieces at one address",
        [MASU_VERDICT_UNBACKED] = "block without memory",
        [MASU_VERDICT_CLAIM_LIVE_BYTES] = "claimed live bytes",
        [MASU_VERDICT_CLAIM_LIVE_BLOCKS] = "claimed live blocks",
        [MASU_VERDICT_CLAIM_PEAK] = "claimed peak",
        [MASU_VERDICT_CLAIM_RESERVED] = "claimed reserved bytes",
        [MASU_VERDICT_CLAIM_ALLOCATIONS] = "claimed allocations",
        [MASU_VERDICT_CLAIM_FREES] = "claimed frees",
        [MASU_VERDICT_NO_MEMORY] = "no memory for the judge",
    };
    return (size_t)verdict < MASU_VERDICT_COUNT ? names[verdict] : "unknown";
}
