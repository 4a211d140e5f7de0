/* guard.c: red zones, fill, quarantine, and who did it. */
#include "allocators/heap/guard.h"

#include <string.h>

#include "base/assert.h"
#include "base/meta.h"
#include "base/size.h"

enum { FILL_NEW = 0xcd, FILL_FREED = 0xdd, FILL_ZONE = 0xfb, ZONE_BYTES = 64, DEAD_KEPT = 4096 };

typedef enum record_state { RECORD_LIVE, RECORD_HELD, RECORD_DEAD } record_state;

typedef struct record {
    uintptr_t address; /* the caller's */
    size_t bytes;      /* the caller's */
    uintptr_t base;    /* the pools' */
    size_t taken;      /* from the pools: front + bytes + back */
    uint64_t serial;
    masu_place allocated, freed;
    record_state state;
    struct record *older, *newer; /* in the queue of its state, or among the live */
} record;

typedef struct queue {
    record *oldest, *newest;
    size_t count, bytes; /* bytes taken from the pools */
} queue;

struct masu__guard {
    bool writable;
    size_t zone_bytes;
    size_t quarantine_bytes;
    masu__address_map known; /* address -> record, of any state */
    queue of_state[3];
    uint64_t serial;
    uint64_t allocations, frees, failures;
    uint64_t live_bytes, peak_bytes;
    masu_fault fault; /* the latest */
};

/* ---- queues ---------------------------------------------------------------------------------- */

static void queue_add(masu__guard *guard, record *r, record_state state) {
    queue *q = &guard->of_state[state];
    r->state = state;
    r->newer = NULL;
    r->older = q->newest;
    *(q->newest ? &q->newest->newer : &q->oldest) = r;
    q->newest = r;
    q->count++;
    q->bytes += r->taken;
}

static void queue_remove(masu__guard *guard, record *r) {
    queue *q = &guard->of_state[r->state];
    *(r->older ? &r->older->newer : &q->oldest) = r->newer;
    *(r->newer ? &r->newer->older : &q->newest) = r->older;
    q->count--;
    q->bytes -= r->taken;
}

static void record_forget(masu__guard *guard, record *r) {
    queue_remove(guard, r);
    masu__address_map_take(&guard->known, r->address);
    masu__meta_free(r, sizeof *r);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static bool all_are(uintptr_t from, uintptr_t to, unsigned char value) {
    for (const unsigned char *p = (const unsigned char *)from; p < (const unsigned char *)to; p++)
        if (*p != value)
            return false;
    return true;
}

static void fill(uintptr_t from, uintptr_t to, unsigned char value) {
    memset((void *)from, value, to - from);
}

static bool zones_whole(const masu__guard *guard, const record *r) {
    return !guard->writable ||
           (all_are(r->base, r->address, FILL_ZONE) && all_are(r->address + r->bytes, r->base + r->taken, FILL_ZONE));
}

static bool freed_whole(const masu__guard *guard, const record *r) {
    return !guard->writable || (zones_whole(guard, r) && all_are(r->address, r->address + r->bytes, FILL_FREED));
}

/* ---- faults ---------------------------------------------------------------------------------- */

static masu_status fault_set(masu__guard *guard, masu_status status, const void *ptr, const record *r,
                             const masu_place *place) {
    guard->fault = (masu_fault){.status = status, .address = ptr};
    if (place)
        guard->fault.here = *place;
    if (r) {
        guard->fault.block = (const void *)r->address;
        guard->fault.block_bytes = r->bytes;
        guard->fault.serial = r->serial;
        guard->fault.allocated = r->allocated;
        guard->fault.freed = r->freed;
    }
    return status;
}

/* Slow on purpose: only a wrong pointer comes here. */
static const record *record_around(const masu__guard *guard, uintptr_t address) {
    for (int state = RECORD_LIVE; state <= RECORD_HELD; state++)
        for (const record *r = guard->of_state[state].oldest; r; r = r->newer)
            if (address - r->base < r->taken)
                return r;
    return NULL;
}

static masu_status diagnose(masu__guard *guard, const void *ptr, const masu_place *place) {
    const record *r = record_around(guard, (uintptr_t)ptr);
    if (!r)
        return fault_set(guard, MASU_ERR_FOREIGN_POINTER, ptr, NULL, place);
    return fault_set(guard, r->state == RECORD_LIVE ? MASU_ERR_INTERIOR_POINTER : MASU_ERR_DOUBLE_FREE, ptr, r, place);
}

/* ---- birth and death ------------------------------------------------------------------------- */

masu_status masu__guard_create(const masu_heap_config *config, bool writable, masu__guard **out) {
    masu__guard *guard = masu__meta_calloc(1, sizeof *guard);
    if (!guard)
        return MASU_ERR_OUT_OF_MEMORY;
    guard->writable = writable;
    guard->known.shift = 6;
    guard->zone_bytes = 0;
    if (writable && !masu__align_up(masu__max(config->red_zone_bytes, 1), ZONE_BYTES, &guard->zone_bytes)) {
        masu__meta_free(guard, sizeof *guard);
        return MASU_ERR_OVERFLOW;
    }
    guard->quarantine_bytes = config->quarantine_bytes ? config->quarantine_bytes : (size_t)1 << 20;
    *out = guard;
    return MASU_OK;
}

void masu__guard_destroy(masu__guard *guard) {
    if (!guard)
        return;
    for (int state = RECORD_LIVE; state <= RECORD_DEAD; state++)
        while (guard->of_state[state].oldest)
            record_forget(guard, guard->of_state[state].oldest);
    masu__address_map_destroy(&guard->known);
    masu__meta_free(guard, sizeof *guard);
}

/* ---- the pools behind ------------------------------------------------------------------------ */

static masu_status pools_take(masu_heap *heap, size_t bytes, size_t alignment, void **out) {
    const masu__pool *pool = masu__heap_pool_for(heap, bytes);
    return pool->row->take(pool->at, bytes, alignment, 0, out);
}

static masu_status pools_give(masu_heap *heap, const record *r) {
    const masu__pool *pool = masu__heap_pool_for(heap, r->taken);
    return pool->row->give(pool->at, (void *)r->base, true, r->taken);
}

/* The oldest held block leaves. A byte that was written meanwhile is the next fault to report. */
static masu_status held_release(masu_heap *heap) {
    masu__guard *guard = heap->guard;
    record *r = guard->of_state[RECORD_HELD].oldest;
    masu_status status = MASU_OK;
    if (!freed_whole(guard, r))
        status = fault_set(guard, MASU_ERR_CORRUPT, (const void *)r->address, r, NULL);
    masu_status given = pools_give(heap, r);
    MASU_ASSERT(given == MASU_OK);
    queue_remove(guard, r);
    queue_add(guard, r, RECORD_DEAD);
    if (guard->of_state[RECORD_DEAD].count > DEAD_KEPT)
        record_forget(guard, guard->of_state[RECORD_DEAD].oldest);
    return status;
}

masu_status masu__guard_flush(masu_heap *heap) {
    masu_status status = MASU_OK;
    while (heap->guard->of_state[RECORD_HELD].oldest) {
        masu_status one = held_release(heap);
        status = status == MASU_OK ? one : status;
    }
    return status;
}

masu_status masu__guard_finish(masu_heap *heap) {
    masu_status status = masu__guard_flush(heap);
    for (const record *r = heap->guard->of_state[RECORD_LIVE].oldest; r; r = r->newer)
        if (!zones_whole(heap->guard, r))
            status = MASU_ERR_CORRUPT;
    return status;
}

/* ---- calls ----------------------------------------------------------------------------------- */

typedef struct request {
    size_t front, taken, alignment;
} request;

static masu_status request_make(const masu__guard *guard, size_t bytes, size_t alignment, request *out) {
    if (alignment != 0 && !masu__is_power_of_two(alignment))
        return MASU_ERR_INVALID_ARGUMENT;
    out->alignment = masu__max(alignment, MASU_BUCKET_MIN_BYTES);
    out->front = guard->zone_bytes ? masu__max(guard->zone_bytes, out->alignment) : 0;
    if (guard->zone_bytes && !masu__align_up(guard->zone_bytes, out->alignment, &out->front))
        return MASU_ERR_OVERFLOW;
    return masu__add(bytes, out->front, &out->taken) && masu__add(out->taken, guard->zone_bytes, &out->taken)
               ? MASU_OK
               : MASU_ERR_OVERFLOW;
}

static masu_status guard_take(masu_heap *heap, size_t bytes, const request *q, const masu_place *place, void **out) {
    masu__guard *guard = heap->guard;
    void *base;
    if (!masu__address_map_reserve(&guard->known, 1))
        return MASU_ERR_OUT_OF_MEMORY;
    record *r = masu__meta_calloc(1, sizeof *r);
    if (!r)
        return MASU_ERR_OUT_OF_MEMORY;
    masu_status status = pools_take(heap, q->taken, q->alignment, &base);
    if (status == MASU_ERR_CORRUPT) /* whose block it was is forgotten */
        (void)fault_set(guard, status, NULL, NULL, place);
    if (status != MASU_OK) {
        masu__meta_free(r, sizeof *r);
        return status;
    }
    *r = (record){.address = (uintptr_t)base + q->front,
                  .bytes = bytes,
                  .base = (uintptr_t)base,
                  .taken = q->taken,
                  .serial = ++guard->serial};
    if (place)
        r->allocated = *place;
    if (guard->writable) {
        fill(r->base, r->address, FILL_ZONE);
        fill(r->address, r->address + bytes, FILL_NEW);
        fill(r->address + bytes, r->base + r->taken, FILL_ZONE);
    }
    record *dead = masu__address_map_get(&guard->known, r->address);
    if (dead)
        record_forget(guard, dead);
    masu__address_map_put(&guard->known, r->address, r);
    queue_add(guard, r, RECORD_LIVE);
    *out = (void *)r->address;
    return MASU_OK;
}

masu_status masu__guard_alloc(masu_heap *heap, size_t bytes, size_t alignment, const masu_place *place, void **out) {
    masu__guard *guard = heap->guard;
    request q;
    *out = NULL;
    masu_status status = request_make(guard, bytes, alignment, &q);
    if (status == MASU_OK && bytes == 0)
        return MASU_OK;
    if (status == MASU_OK)
        status = guard_take(heap, bytes, &q, place, out);
    if (status != MASU_OK) {
        guard->failures++;
        return status;
    }
    guard->allocations++;
    guard->live_bytes += bytes;
    if (guard->live_bytes > guard->peak_bytes)
        guard->peak_bytes = guard->live_bytes;
    return MASU_OK;
}

/* The live block that may be freed so, or what is wrong. */
static masu_status guard_find(masu__guard *guard, void *ptr, bool sized, size_t bytes, const masu_place *place,
                              record **out) {
    record *r = (uintptr_t)ptr % MASU_BUCKET_MIN_BYTES == 0 ? masu__address_map_get(&guard->known, (uintptr_t)ptr)
                                                            : NULL;
    if (!r)
        return diagnose(guard, ptr, place);
    if (r->state != RECORD_LIVE)
        return fault_set(guard, MASU_ERR_DOUBLE_FREE, ptr, r, place);
    if (sized && bytes != r->bytes)
        return fault_set(guard, MASU_ERR_SIZE_MISMATCH, ptr, r, place);
    *out = r;
    return MASU_OK;
}

masu_status masu__guard_free(masu_heap *heap, void *ptr, bool sized, size_t bytes, const masu_place *place) {
    masu__guard *guard = heap->guard;
    record *r;
    masu_status status = guard_find(guard, ptr, sized, bytes, place, &r);
    if (status != MASU_OK)
        return status;
    if (!zones_whole(guard, r)) { /* reported once; the block is taken back all the same next time */
        status = fault_set(guard, MASU_ERR_CORRUPT, ptr, r, place);
        fill(r->base, r->address, FILL_ZONE);
        fill(r->address + r->bytes, r->base + r->taken, FILL_ZONE);
        return status;
    }
    if (place)
        r->freed = *place;
    if (guard->writable)
        fill(r->address, r->address + r->bytes, FILL_FREED);
    guard->frees++;
    guard->live_bytes -= r->bytes;
    queue_remove(guard, r);
    queue_add(guard, r, RECORD_HELD);
    queue *held = &guard->of_state[RECORD_HELD];
    while (held->bytes > guard->quarantine_bytes && held->count > 1)
        (void)held_release(heap); /* the fault stays to be asked for */
    return MASU_OK;
}

masu_status masu__guard_size_of(const masu_heap *heap, const void *ptr, size_t *out_bytes) {
    record *r;
    masu_status status = guard_find(heap->guard, (void *)(uintptr_t)ptr, false, 0, NULL, &r);
    if (status == MASU_OK)
        *out_bytes = r->bytes;
    return status;
}

/* ---- what it knows --------------------------------------------------------------------------- */

void masu__guard_adjust(const masu__guard *guard, masu_heap_stats *s) {
    uint64_t held = guard->of_state[RECORD_HELD].bytes;
    uint64_t zones = s->live_bytes - held - guard->live_bytes;
    s->allocations = guard->allocations;
    s->frees = guard->frees;
    s->failures = guard->failures;
    s->hits = s->allocations - (s->misses < s->allocations ? s->misses : s->allocations);
    s->misses = s->allocations - s->hits;
    s->live_blocks = guard->of_state[RECORD_LIVE].count;
    s->live_bytes = guard->live_bytes;
    s->peak_bytes = guard->peak_bytes;
    s->cached_bytes += held;
    s->slack_bytes += zones;
    s->metadata_bytes += sizeof *guard + masu__address_map_bytes(&guard->known) + guard->known.count * sizeof(record);
}

void masu__guard_reset_peak(masu__guard *guard) {
    guard->peak_bytes = guard->live_bytes;
}

void masu__guard_reset_stats(masu__guard *guard) {
    guard->allocations = guard->of_state[RECORD_LIVE].count;
    guard->frees = 0;
    guard->failures = 0;
    masu__guard_reset_peak(guard);
}

void masu__guard_visit(const masu__guard *guard, masu_heap_visitor visitor, void *context) {
    for (const record *r = guard->of_state[RECORD_LIVE].oldest; r; r = r->newer) {
        masu_heap_block block = {
            .address = (void *)r->address,
            .bytes = r->bytes,
            .serial = r->serial,
            .allocated = r->allocated,
        };
        if (!visitor(context, &block))
            return;
    }
}

void masu__guard_get_fault(const masu__guard *guard, masu_fault *out) {
    *out = guard->fault;
}

uint64_t *masu__guard_failures(masu__guard *guard) {
    return &guard->failures;
}

bool masu__guard_valid(const masu__guard *guard) {
    size_t count = 0, live = 0;
    for (int state = RECORD_LIVE; state <= RECORD_DEAD; state++)
        for (const record *r = guard->of_state[state].oldest; r; r = r->newer, count++) {
            live += state == RECORD_LIVE ? r->bytes : 0;
            if ((int)r->state != state || masu__address_map_get(&guard->known, r->address) != r ||
                (state == RECORD_LIVE && !zones_whole(guard, r)) || (state == RECORD_HELD && !freed_whole(guard, r)))
                return false;
        }
    const queue *held = &guard->of_state[RECORD_HELD];
    return count == guard->known.count && live == guard->live_bytes &&
           (held->bytes <= guard->quarantine_bytes || held->count == 1);
}
