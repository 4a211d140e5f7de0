/* allocator.c: what PyTorch calls. Each call takes its device's lock once, finds the pool and lane, and keeps the table
 * of blocks. */
#include "torch.h"

/* ---- which pool -------------------------------------------------------------------------------------------------- */

/* An opened pool whose filter is to be asked, newer ones first. */
static pool *opened_before(device_state *d, uint64_t before) {
    pool *best = NULL;
    for (pool *p = d->pools; p; p = p->next)
        if (p->opened && p->opened < before && (!best || p->opened > best->opened))
            best = p;
    return best;
}

/* Filters are called without the lock, so the pools may be others afterwards: the next is found by its number. */
static pool *pool_for(device_state *d, void *stream) {
    for (uint64_t before = UINT64_MAX;;) {
        pool *p = opened_before(d, before);
        if (!p || !p->filter)
            break;
        masu_torch_filter filter = p->filter;
        void *context = p->context;
        uint64_t opened = before = p->opened;
        masu_torch_leave(d);
        bool is_meant = filter(context, stream);
        masu_torch_enter((int)d->ordinal);
        p = is_meant ? opened_before(d, opened + 1) : NULL;
        if (p && p->opened == opened)
            return p;
    }
    pool *p = NULL;
    for (uint64_t before = UINT64_MAX; (p = opened_before(d, before)) && p->filter; before = p->opened)
        ;
    if (p)
        return p;
    for (p = d->pools; p && (p->first || p->second);)
        p = p->next;
    return p;
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

static size_t rounded(size_t bytes) {
    return (bytes + BLOCK_ALIGNMENT - 1) / BLOCK_ALIGNMENT * BLOCK_ALIGNMENT;
}

static void count_alloc(device_state *d, lane *l, size_t bytes) {
    d->stats.allocations++;
    d->stats.live_blocks++;
    d->stats.allocated_bytes += bytes;
    if (d->stats.allocated_bytes > d->stats.peak_allocated_bytes)
        d->stats.peak_allocated_bytes = d->stats.allocated_bytes;
    l->pool->blocks++;
}

/* A request that the device refuses to the small lane may fit into a hole of the large one. */
static masu_status alloc_in(device_state *d, lane *l, size_t bytes, void *stream, void **out) {
    lane *large = &l->pool->lanes[1];
    if (!masu_torch_blocks_room(&d->blocks))
        return MASU_ERR_OUT_OF_MEMORY;
    masu_status status = masu_torch_lane_alloc(l, bytes, stream, out);
    if (status != MASU_OK && l != large && large->bestfit) {
        l = large;
        status = masu_torch_lane_alloc(l, bytes, stream, out);
    }
    if (status != MASU_OK)
        return status;
    block *before = masu_torch_blocks_find(&d->blocks, *out);
    if (before)
        masu_torch_complete(d, before);
    masu_torch_blocks_put(&d->blocks, (block){.address = (uintptr_t)*out, .bytes = bytes, .stream = stream, .lane = l});
    count_alloc(d, l, bytes);
    masu_torch_note(l, ENTRY_ALLOC, (uintptr_t)*out, bytes, stream);
    return MASU_OK;
}

void *masu_torch_malloc(ssize_t size, int device, masu_torch_stream stream) {
    refusal r = {.bytes = (size_t)size, .device = device, .stream = stream, .status = MASU_ERR_INVALID_ARGUMENT};
    void *out = NULL;
    if (size == 0)
        return NULL;
    if (size < 0) {
        masu_torch_set_error("device %d: %zd bytes refused: less than none", device, size);
        return NULL;
    }
    device_state *d = masu_torch_enter_ready(device, &r.status);
    if (!d) {
        masu_torch_refuse(NULL, NULL, r);
        return NULL;
    }
    if (d->owed)
        masu_torch_free_owed(d);
    pool *p = pool_for(d, stream);
    lane *l = p ? &p->lanes[rounded(r.bytes) > SMALL_MOST] : NULL;
    r.status = l ? alloc_in(d, l, r.bytes, stream, &out) : MASU_ERR_STALE_POOL;
    if (r.status != MASU_OK) {
        d->stats.refusals++;
        if (l)
            masu_torch_note(l, ENTRY_OOM, d->memory_bytes - d->stats.reserved_bytes, r.bytes, stream);
        masu_torch_refuse(d, l, r);
    }
    masu_torch_leave(d);
    return r.status == MASU_OK ? out : NULL;
}

static void free_on(device_state *d, block *b, ssize_t size, void *stream) {
    d->stats.wrong_sizes += size < 0 || (size_t)size != b->bytes;
    d->stats.frees++;
    d->stats.live_blocks--;
    d->stats.allocated_bytes -= b->bytes;
    masu_torch_note(b->lane, ENTRY_FREE_REQUESTED, b->address, b->bytes, b->stream);
    masu_torch_lane_free(d, b, stream); /* refused: it is owed, and tried again */
}

void masu_torch_free(void *ptr, ssize_t size, int device, masu_torch_stream stream) {
    if (!ptr || masu_torch_is_forked())
        return;
    device_state *d = masu_torch_enter(device);
    if (!d)
        return;
    block *b = masu_torch_blocks_find(&d->blocks, ptr);
    if (b && b->state == BLOCK_LIVE) {
        free_on(d, b, size, stream);
    } else {
        d->stats.refused_frees++;
        masu_torch_set_error("device %d: free of %p refused: not a live block of it", device, ptr);
    }
    masu_torch_leave(d);
}

void masu_torch_record_stream(void *ptr, masu_torch_stream stream) {
    for (int i = 0; i < MOST_DEVICES && ptr && !masu_torch_is_forked(); i++) {
        device_state *d = masu_torch_enter(i);
        block *b = masu_torch_blocks_find(&d->blocks, ptr);
        bool found = b && b->state == BLOCK_LIVE;
        if (found && stream != b->stream)
            masu_torch_lane_share(d, b, stream);
        masu_torch_leave(d);
        if (found)
            return;
    }
}

/* ---- the whole device -------------------------------------------------------------------------------------------- */

void masu_torch_init(int device_count) {
    masu_torch_settings();
    if (device_count > MOST_DEVICES)
        masu_torch_set_error("%d devices: the first %d can be used", device_count, MOST_DEVICES);
}

void masu_torch_empty_cache(void) {
    for (int i = 0; i < MOST_DEVICES && !masu_torch_is_forked(); i++) {
        device_state *d = masu_torch_enter(i);
        masu_torch_reclaim(d);
        masu_torch_leave(d);
    }
}

void masu_torch_reset(void) {
    masu_torch_empty_cache();
}

void masu_torch_memory_fraction(double fraction, int device) {
    device_state *d = fraction > 0 && fraction <= 1 ? masu_torch_enter(device) : NULL;
    if (!d) {
        masu_torch_set_error("device %d: a memory fraction of %g: more than 0 and at most 1 was expected", device,
                             fraction);
        return;
    }
    d->fraction = fraction;
    d->limit_bytes = fraction < 1 ? (uint64_t)((double)d->memory_bytes * fraction) : 0;
    masu_torch_leave(d);
}

/* ---- private pools ----------------------------------------------------------------------------------------------- */

void masu_torch_begin_allocate_to_pool(int device, uint64_t first, uint64_t second, masu_torch_filter filter,
                                       void *context) {
    masu_status status;
    device_state *d = first || second ? masu_torch_enter_ready(device, &status) : NULL;
    pool *p = d ? masu_torch_pool(d, first, second, true, &status) : NULL;
    if (p) {
        p->opened = ++d->opened;
        p->filter = filter;
        p->context = context;
    } else {
        masu_torch_set_error("device %d: pool (%llu, %llu) cannot be made", device, (unsigned long long)first,
                             (unsigned long long)second);
    }
    if (d)
        masu_torch_leave(d);
}

static pool *pool_named(device_state *d, uint64_t first, uint64_t second) {
    masu_status status;
    return d && (first || second) ? masu_torch_pool(d, first, second, false, &status) : NULL;
}

void masu_torch_end_allocate_to_pool(int device, uint64_t first, uint64_t second) {
    device_state *d = masu_torch_enter(device);
    pool *p = pool_named(d, first, second);
    if (p)
        p->opened = 0;
    if (d)
        masu_torch_leave(d);
}

void masu_torch_release_pool(int device, uint64_t first, uint64_t second) {
    device_state *d = masu_torch_is_forked() ? NULL : masu_torch_enter(device);
    pool *p = pool_named(d, first, second);
    if (p)
        masu_torch_pool_end(d, p);
    if (d)
        masu_torch_leave(d);
}
