/* lanes.c: a lane is one kind of request in one pool: streams in front of best fit, or of the vm. Limits and what is
 * reclaimed belong to the whole device, and are asked here. */
#include "torch.h"

#include <stdlib.h>

static _Thread_local lane *working;

lane *masu_torch_work_on(lane *l) {
    lane *before = working;
    working = l;
    return before;
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

masu_status masu_torch_lane_open(lane *l, device_state *d, pool *p, bool is_small) {
    *l = (lane){.device = d, .pool = p, .is_small = is_small};
    masu_status status = MASU_OK;
    masu_torch_work_on(l);
    if (is_small || !d->vm) {
        masu_bestfit_config config = masu_bestfit_config_default(d->over ? d->over : d->cuda);
        config.pool_bytes = is_small ? SMALL_POOL : LARGE_POOL;
        config.initial_bytes = 0;
        config.min_alignment_bytes = BLOCK_ALIGNMENT;
        config.min_remainder_bytes = BLOCK_ALIGNMENT;
        config.trace = masu_torch_trace();
        config.name = is_small ? "small" : "large";
        status = masu_bestfit_create(&config, &l->bestfit);
    }
    masu_streams_config streams = {.device = d->cuda,
                                   .bestfit = l->bestfit,
                                   .vm = l->bestfit ? NULL : d->vm,
                                   .thread_safe = true,
                                   .trace = masu_torch_trace(),
                                   .name = is_small ? "small" : "large"};
    return status == MASU_OK ? masu_streams_create(&streams, &l->streams) : status;
}

void masu_torch_lane_close(lane *l) {
    masu_torch_work_on(l);
    if (l->streams)
        masu_streams_destroy(l->streams);
    if (l->bestfit)
        masu_bestfit_destroy(l->bestfit);
    free(l->extents);
    masu_torch_work_on(NULL);
    *l = (lane){0};
}

/* ---- limits and reclaiming --------------------------------------------------------------------------------------- */

/* Memory of the other lanes is not this lane's to take. */
static masu_status apply_limit(lane *l) {
    device_state *d = l->device;
    if (d->vm) {
        masu_vm_set_limit(d->vm, (size_t)d->limit_bytes);
        return MASU_OK;
    }
    if (d->limit_bytes == 0) {
        masu_bestfit_set_limit(l->bestfit, 0);
        return MASU_OK;
    }
    uint64_t others = d->stats.reserved_bytes - l->extent_bytes;
    uint64_t room = (d->limit_bytes > others ? d->limit_bytes - others : 0) / BLOCK_ALIGNMENT * BLOCK_ALIGNMENT;
    if (room == 0)
        return MASU_ERR_LIMIT_REACHED;
    masu_bestfit_set_limit(l->bestfit, (size_t)room);
    return MASU_OK;
}

bool masu_torch_lane_empty(lane *l) {
    masu_streams_stats s;
    masu_torch_work_on(l);
    masu_streams_trim(l->streams, true);
    if (l->bestfit)
        masu_bestfit_trim(l->bestfit, 0);
    masu_streams_get_stats(l->streams, &s);
    return l->extent_count == 0 && s.cached_blocks + s.live_blocks == 0;
}

void masu_torch_reclaim(device_state *d) {
    masu_torch_free_owed(d);
    for (pool *p = d->pools, *next; p; p = next) {
        next = p->next;
        masu_torch_lane_empty(&p->lanes[0]);
        masu_torch_lane_empty(&p->lanes[1]);
        if (p->is_released)
            masu_torch_pool_end(d, p);
    }
    if (d->vm)
        masu_vm_trim(d->vm, 0);
}

/* ---- taking ------------------------------------------------------------------------------------------------------ */

static masu_status take(lane *l, size_t bytes, void *stream, void **out) {
    masu_torch_work_on(l);
    if (!masu_torch_extent_room(l))
        return MASU_ERR_OUT_OF_MEMORY;
    masu_status status = apply_limit(l);
    return status == MASU_OK ? masu_streams_alloc(l->streams, bytes, stream, out) : status;
}

static bool is_shortage(masu_status status) {
    return status == MASU_ERR_OUT_OF_MEMORY || status == MASU_ERR_LIMIT_REACHED || status == MASU_ERR_ADDRESS_SPACE;
}

masu_status masu_torch_lane_alloc(lane *l, size_t bytes, void *stream, void **out) {
    masu_status status = take(l, bytes, stream, out);
    if (!is_shortage(status))
        return status;
    masu_torch_reclaim(l->device);
    return take(l, bytes, stream, out);
}

/* ---- giving ------------------------------------------------------------------------------------------------------ */

/* A block of more streams than the library keeps apart: a mark at the end of each, and they are waited for. The marks
 * are small blocks of the same lane, freed at once. */
static masu_status wait_for_crowd(device_state *d, lane *l) {
    masu_status status = MASU_OK;
    for (size_t i = 0; i < d->crowd_count && status == MASU_OK; i++) {
        void *mark;
        status = take(l, BLOCK_ALIGNMENT, d->crowd[i], &mark);
        if (status != MASU_OK)
            break;
        block *before = masu_torch_blocks_find(&d->blocks, mark);
        if (before)
            masu_torch_complete(d, before);
        status = masu_streams_free(l->streams, mark, d->crowd[i]);
    }
    return status == MASU_OK ? masu_streams_trim(l->streams, true) : status;
}

static bool crowd_add(device_state *d, void *stream) {
    for (size_t i = 0; i < d->crowd_count; i++)
        if (d->crowd[i] == stream)
            return true;
    if (d->crowd_count == d->crowd_capacity) {
        size_t capacity = d->crowd_capacity ? 2 * d->crowd_capacity : 16;
        void **crowd = realloc(d->crowd, capacity * sizeof *crowd);
        if (!crowd)
            return false;
        d->crowd = crowd;
        d->crowd_capacity = capacity;
    }
    d->crowd[d->crowd_count++] = stream;
    return true;
}

void masu_torch_lane_share(device_state *d, block *b, void *stream) {
    masu_status status = masu_streams_use(b->lane->streams, (void *)b->address, stream);
    b->is_shared = true;
    if (status == MASU_OK)
        return;
    d->crowded += !b->is_crowded;
    b->is_crowded = true;
    if (!crowd_add(d, stream))
        b->is_kept = true;
}

static masu_status give(device_state *d, const block *b, void *stream) {
    lane *l = b->lane;
    void *ptr = (void *)b->address; /* events move the table */
    if (b->is_kept)
        return MASU_ERR_OUT_OF_MEMORY;
    masu_status status = b->is_crowded ? wait_for_crowd(d, l) : MASU_OK;
    masu_torch_work_on(l);
    return status == MASU_OK ? masu_streams_free(l->streams, ptr, stream) : status;
}

masu_status masu_torch_lane_free(device_state *d, block *b, void *stream) {
    bool was_owed = b->state == BLOCK_OWED;
    uintptr_t address = b->address;
    pool *p = b->lane->pool;
    if (stream != b->stream) /* who frees on another stream than the block's own has both use it */
        masu_torch_lane_share(d, b, b->stream);
    masu_status status = give(d, b, stream);
    b = masu_torch_blocks_find(&d->blocks, (void *)address);
    if (status != MASU_OK) {
        b->state = BLOCK_OWED;
        b->stream = stream;
        d->owed += !was_owed;
        return status;
    }
    d->owed -= was_owed;
    d->crowded -= b->is_crowded;
    d->crowd_count = d->crowded ? d->crowd_count : 0;
    b->state = BLOCK_WAITING;
    d->stats.waiting_bytes += b->bytes;
    if (!b->is_shared)
        masu_torch_complete(d, b);
    if (--p->blocks == 0 && p->is_released)
        masu_torch_pool_end(d, p);
    return MASU_OK;
}

void masu_torch_free_owed(device_state *d) {
    for (size_t i = 0; i < d->blocks.capacity && d->owed > 0; i++)
        if (d->blocks.items[i].address && d->blocks.items[i].state == BLOCK_OWED &&
            masu_torch_lane_free(d, &d->blocks.items[i], d->blocks.items[i].stream) != MASU_OK)
            return;
}
