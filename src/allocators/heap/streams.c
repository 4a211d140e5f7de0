/* streams.c: freed blocks, by the stream on which they were freed.
 *
 *     queues ─► queue of a stream: waiting (by size) + the same in order of their events
 *     idle      blocks whose events have come, by size: free for any stream
 *     live      blocks in callers' hands, by address
 *
 *     every record is in exactly one of: live, idle, one queue
 *     in a queue events come in order: when one has not come, no later one has
 *
 * A stream is known by the device's number for it and not by its handle: a new stream may get the
 * handle of one that is gone, and then has no claim on its blocks.
 */
#include <masu/stream.h>

#include "allocators/vm/treap.h"
#include "base/assert.h"
#include "base/lock.h"
#include "base/meta.h"
#include "base/size.h"
#include "base/trace.h"
#include "devices/devices.h"

enum { ROUNDING = 512, MOST_EVENTS = 8 };

typedef struct queue queue;

typedef struct record {
    masu__tree_node node; /* live: (address, 0); cached: (bytes, serial) */
    uintptr_t address;
    size_t bytes; /* as taken from the pool */
    size_t asked; /* while it lives: as asked for */
    uint64_t serial;
    struct record *before, *next; /* in the order of its queue; next: also the list of spares */
    queue *queue;                 /* NULL: live or idle */
    void *events[MOST_EVENTS];    /* [0] of the stream it was freed on, then of the others */
    void *others[MOST_EVENTS];    /* live: streams that use it too, [1] … [event_count - 1] */
    size_t event_count;
} record;

struct queue {
    uint64_t id;
    masu__tree waiting;
    record *first, *last;
    queue *next;
};

struct masu_streams {
    masu_streams_config config;
    masu__lock lock;
    masu_trace *trace; /* borrowed, NULL: none */
    uint32_t number;
    queue *queues;
    masu__tree idle, live;
    uint64_t serial;
    void *spare_events[64]; /* owned */
    size_t spare_event_count;
    masu_streams_stats stats; /* of these all but the four below are kept; live and cached sums too */
};

#define RECORD(found) MASU__TREE_RECORD(found, record, node)

static const masu__device_stream_ops *ops_of(const masu_streams *s) {
    return s->config.device->streams;
}

static void take_lock(masu_streams *s) {
    if (s->config.thread_safe)
        masu__lock_take(&s->lock);
}

static void release_lock(masu_streams *s) {
    if (s->config.thread_safe)
        masu__lock_release(&s->lock);
}

static void say(const masu_streams *s, masu_event_kind kind, const record *r, size_t bytes, uint64_t stream) {
    if (masu__trace_wanted(s->trace))
        masu__trace_emit_more(s->trace,
                              (masu_event){.pool = s->number,
                                           .kind = kind,
                                           .address = r->address,
                                           .bytes = bytes,
                                           .block_bytes = r->bytes,
                                           .owner = stream},
                              (masu__event_more){.stream = stream});
}

/* ---- the pool behind -------------------------------------------------------------------------------------- */

static masu_status pool_take(masu_streams *s, size_t bytes, void **out) {
    return s->config.vm ? masu_vm_alloc(s->config.vm, bytes, 0, 0, out)
                        : masu_bestfit_alloc(s->config.bestfit, bytes, 0, 0, out);
}

static masu_status pool_give(masu_streams *s, uintptr_t address) {
    return s->config.vm ? masu_vm_free(s->config.vm, (void *)address)
                        : masu_bestfit_free(s->config.bestfit, (void *)address);
}

/* ---- events -------------------------------------------------------------------------------------------------- */

static masu_status mark(masu_streams *s, void *stream, void **out) {
    void *event = s->spare_event_count ? s->spare_events[--s->spare_event_count] : NULL;
    masu_status status = ops_of(s)->record(s->config.device, stream, &event);
    if (status != MASU_OK && event)
        ops_of(s)->drop(s->config.device, event);
    *out = event;
    return status;
}

static void forget_events(masu_streams *s, record *r) {
    for (size_t i = 0; i < r->event_count; i++)
        if (s->spare_event_count < sizeof s->spare_events / sizeof *s->spare_events)
            s->spare_events[s->spare_event_count++] = r->events[i];
        else
            ops_of(s)->drop(s->config.device, r->events[i]);
    r->event_count = 0;
}

static masu_status all_done(masu_streams *s, const record *r, bool *done) {
    *done = true;
    for (size_t i = 0; i < r->event_count && *done; i++) {
        masu_status status = ops_of(s)->is_done(s->config.device, r->events[i], done);
        if (status != MASU_OK)
            return status;
    }
    return MASU_OK;
}

/* ---- queues ---------------------------------------------------------------------------------------------------- */

static queue *queue_find(masu_streams *s, uint64_t id) {
    queue *q = s->queues;
    while (q && q->id != id)
        q = q->next;
    return q;
}

static queue *queue_make(masu_streams *s, uint64_t id) {
    queue *q = queue_find(s, id);
    if (q)
        return q;
    q = masu__meta_calloc(1, sizeof *q);
    if (!q)
        return NULL;
    q->id = id;
    q->next = s->queues;
    s->queues = q;
    return q;
}

static void queue_put(masu_streams *s, queue *q, record *r) {
    r->queue = q;
    r->before = q->last;
    r->next = NULL;
    *(q->last ? &q->last->next : &q->first) = r;
    q->last = r;
    masu__tree_insert(&q->waiting, &r->node, r->bytes, r->serial);
    s->stats.cached_blocks++;
    s->stats.cached_bytes += r->bytes;
}

static void queue_take(masu_streams *s, record *r) {
    queue *q = r->queue;
    masu__tree_remove(&q->waiting, &r->node);
    *(r->before ? &r->before->next : &q->first) = r->next;
    *(r->next ? &r->next->before : &q->last) = r->before;
    r->queue = NULL;
    s->stats.cached_blocks--;
    s->stats.cached_bytes -= r->bytes;
}

static void idle_put(masu_streams *s, record *r) {
    masu__tree_insert(&s->idle, &r->node, r->bytes, r->serial);
    s->stats.cached_blocks++;
    s->stats.cached_bytes += r->bytes;
}

static void idle_take(masu_streams *s, record *r) {
    masu__tree_remove(&s->idle, &r->node);
    s->stats.cached_blocks--;
    s->stats.cached_bytes -= r->bytes;
}

/* From each queue's front, blocks whose events have come become idle. With wait, all do. */
static masu_status settle(masu_streams *s, bool wait) {
    for (queue *q = s->queues; q; q = q->next)
        while (q->first) {
            record *r = q->first;
            bool done = false;
            masu_status status = MASU_OK;
            if (wait) {
                s->stats.waits++;
                for (size_t i = 0; i < r->event_count && status == MASU_OK; i++)
                    status = ops_of(s)->wait(s->config.device, r->events[i]);
                done = status == MASU_OK;
            } else {
                status = all_done(s, r, &done);
            }
            if (status != MASU_OK)
                return status;
            if (!done)
                break;
            queue_take(s, r);
            forget_events(s, r);
            idle_put(s, r);
        }
    return MASU_OK;
}

static masu_status return_idle(masu_streams *s) {
    for (record *r; (r = RECORD(masu__tree_at_least(&s->idle, 0, 0)));) {
        say(s, MASU_EVENT_EXTENT_DROP, r, r->bytes, 0);
        masu_status status = pool_give(s, r->address);
        if (status != MASU_OK) {
            say(s, MASU_EVENT_EXTENT_ADD, r, r->bytes, 0); /* it is still here */
            return status;
        }
        idle_take(s, r);
        s->stats.returned++;
        masu__meta_free(r, sizeof *r);
    }
    return MASU_OK;
}

/* ---- alloc and free -------------------------------------------------------------------------------------------- */

/* The smallest block that is large enough and wastes at most an eighth. */
static record *fitting(const masu__tree *tree, size_t bytes) {
    record *r = RECORD(masu__tree_at_least(tree, bytes, 0));
    return r && r->bytes - bytes <= bytes / 8 ? r : NULL;
}

/* A block of the same stream, at once: the stream's order keeps it right. One that other streams used as well
 * waits for their events like any other. */
static record *from_own(masu_streams *s, uint64_t id, size_t bytes) {
    queue *q = queue_find(s, id);
    record *r = q ? fitting(&q->waiting, bytes) : NULL;
    while (r && r->event_count > 1) {
        r = RECORD(masu__tree_at_least(&q->waiting, r->bytes, r->serial + 1));
        if (r && r->bytes - bytes > bytes / 8)
            r = NULL;
    }
    if (r) {
        queue_take(s, r);
        forget_events(s, r);
    }
    return r;
}

static record *from_idle(masu_streams *s, size_t bytes) {
    record *r = fitting(&s->idle, bytes);
    if (r)
        idle_take(s, r);
    return r;
}

static masu_status fetch(masu_streams *s, size_t bytes, record **out) {
    record *r = masu__meta_calloc(1, sizeof *r);
    void *ptr = NULL;
    if (!r)
        return MASU_ERR_OUT_OF_MEMORY;
    masu_status status = return_idle(s);
    if (status == MASU_OK)
        status = pool_take(s, bytes, &ptr);
    bool short_of = status == MASU_ERR_OUT_OF_MEMORY || status == MASU_ERR_LIMIT_REACHED ||
                    status == MASU_ERR_ADDRESS_SPACE;
    if (short_of && s->stats.cached_blocks > 0) {
        masu_status settled = settle(s, true);
        if (settled == MASU_OK)
            settled = return_idle(s);
        status = settled == MASU_OK ? pool_take(s, bytes, &ptr) : settled;
    }
    if (status != MASU_OK) {
        masu__meta_free(r, sizeof *r);
        return status;
    }
    r->address = (uintptr_t)ptr;
    r->bytes = bytes;
    say(s, MASU_EVENT_EXTENT_ADD, r, bytes, 0);
    *out = r;
    return MASU_OK;
}

static masu_status alloc_locked(masu_streams *s, size_t bytes, void *stream, void **out) {
    uint64_t id = ops_of(s)->id(s->config.device, stream);
    size_t rounded;
    if (!masu__align_up(bytes, ROUNDING, &rounded))
        return MASU_ERR_OVERFLOW;
    uint64_t *source = &s->stats.same_stream;
    record *r = from_own(s, id, rounded);
    if (!r) {
        masu_status status = settle(s, false);
        if (status != MASU_OK)
            return status;
        source = &s->stats.other_stream;
        r = from_idle(s, rounded);
    }
    if (!r) {
        source = &s->stats.fetched;
        masu_status status = fetch(s, rounded, &r);
        if (status != MASU_OK)
            return status;
    }
    ++*source;
    s->stats.allocations++;
    s->stats.live_blocks++;
    s->stats.live_bytes += r->bytes;
    r->event_count = 1; /* the place of the stream it will be freed on */
    r->asked = bytes;
    masu__tree_insert(&s->live, &r->node, r->address, 0);
    say(s, MASU_EVENT_ALLOC, r, bytes, id);
    *out = (void *)r->address;
    return MASU_OK;
}

masu_status masu_streams_alloc(masu_streams *streams, size_t bytes, void *stream, void **out) {
    if (!out)
        return MASU_ERR_INVALID_ARGUMENT;
    *out = NULL;
    if (!streams)
        return MASU_ERR_INVALID_ARGUMENT;
    if (bytes == 0)
        return MASU_OK;
    take_lock(streams);
    masu_status status = alloc_locked(streams, bytes, stream, out);
    streams->stats.failures += status != MASU_OK;
    release_lock(streams);
    return status;
}

static record *find_live(masu_streams *s, const void *ptr) {
    record *r = RECORD(masu__tree_at_least(&s->live, (uintptr_t)ptr, 0));
    return r && r->address == (uintptr_t)ptr ? r : NULL;
}

masu_status masu_streams_use(masu_streams *streams, void *ptr, void *stream) {
    if (!streams || !ptr)
        return MASU_ERR_INVALID_ARGUMENT;
    masu_status status = MASU_OK;
    take_lock(streams);
    record *r = find_live(streams, ptr);
    bool known = false;
    for (size_t i = 1; r && i < r->event_count; i++)
        known |= r->others[i] == stream;
    if (!r)
        status = MASU_ERR_FOREIGN_POINTER;
    else if (!known && r->event_count == MOST_EVENTS)
        status = MASU_ERR_LIMIT_REACHED;
    else if (!known)
        r->others[r->event_count++] = stream;
    release_lock(streams);
    return status;
}

static masu_status free_locked(masu_streams *s, void *ptr, void *stream) {
    record *r = find_live(s, ptr);
    if (!r)
        return MASU_ERR_FOREIGN_POINTER;
    queue *q = queue_make(s, ops_of(s)->id(s->config.device, stream));
    if (!q)
        return MASU_ERR_OUT_OF_MEMORY;
    size_t wanted = r->event_count;
    r->others[0] = stream;
    for (size_t i = 0; i < wanted; i++) {
        masu_status status = mark(s, r->others[i], &r->events[i]);
        if (status != MASU_OK) {
            r->event_count = i;
            forget_events(s, r);
            r->event_count = wanted;
            return status;
        }
    }
    masu__tree_remove(&s->live, &r->node);
    r->serial = ++s->serial;
    s->stats.frees++;
    s->stats.live_blocks--;
    s->stats.live_bytes -= r->bytes;
    say(s, MASU_EVENT_FREE, r, r->asked, q->id);
    queue_put(s, q, r);
    return MASU_OK;
}

masu_status masu_streams_free(masu_streams *streams, void *ptr, void *stream) {
    if (!streams)
        return MASU_ERR_INVALID_ARGUMENT;
    if (!ptr)
        return MASU_OK;
    take_lock(streams);
    masu_status status = free_locked(streams, ptr, stream);
    release_lock(streams);
    return status;
}

masu_status masu_streams_trim(masu_streams *streams, bool wait) {
    if (!streams)
        return MASU_ERR_INVALID_ARGUMENT;
    take_lock(streams);
    masu_status status = settle(streams, wait);
    if (status == MASU_OK)
        status = return_idle(streams);
    release_lock(streams);
    return status;
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

masu_status masu_streams_create(const masu_streams_config *config, masu_streams **out) {
    if (!out)
        return MASU_ERR_INVALID_ARGUMENT;
    *out = NULL;
    if (!config || !config->device || !config->vm == !config->bestfit)
        return MASU_ERR_INVALID_ARGUMENT;
    if (!config->device->streams)
        return MASU_ERR_UNSUPPORTED;
    masu_streams *s = masu__meta_calloc(1, sizeof *s);
    if (!s)
        return MASU_ERR_OUT_OF_MEMORY;
    s->config = *config;
    s->trace = config->trace;
    s->number = masu__trace_new_pool();
    masu__trace_know_pool(s->trace, s->number, "streams", config->name,
                          config->vm ? masu_vm_number(config->vm) : masu_bestfit_number(config->bestfit));
    masu__lock_init(&s->lock, MASU__RANK_STREAMS);
    *out = s;
    return MASU_OK;
}

/* Blocks that the device or the pool refuses at the end stay theirs; only the records go. */
static void forget_tree(masu_streams *s, masu__tree *tree, bool live) {
    for (record *r; (r = RECORD(masu__tree_at_least(tree, 0, 0)));) {
        masu__tree_remove(tree, &r->node);
        if (!live)
            forget_events(s, r);
        masu__meta_free(r, sizeof *r);
    }
}

masu_status masu_streams_destroy(masu_streams *streams) {
    if (!streams)
        return MASU_OK;
    masu_status status = streams->stats.live_blocks == 0 ? MASU_OK : MASU_ERR_LEAK;
    masu_status settled = settle(streams, true);
    if (settled == MASU_OK)
        settled = return_idle(streams);
    forget_tree(streams, &streams->live, true);
    forget_tree(streams, &streams->idle, false);
    for (queue *q = streams->queues, *next; q; q = next) {
        next = q->next;
        forget_tree(streams, &q->waiting, false);
        masu__meta_free(q, sizeof *q);
    }
    for (size_t i = 0; i < streams->spare_event_count; i++)
        ops_of(streams)->drop(streams->config.device, streams->spare_events[i]);
    masu__lock_destroy(&streams->lock);
    masu__meta_free(streams, sizeof *streams);
    return status == MASU_OK ? settled : status;
}

void masu_streams_get_stats(masu_streams *streams, masu_streams_stats *out) {
    *out = (masu_streams_stats){0};
    if (!streams)
        return;
    take_lock(streams);
    *out = streams->stats;
    for (const queue *q = streams->queues; q; q = q->next)
        out->streams += q->waiting.count > 0;
    release_lock(streams);
}

static bool queue_valid(const queue *q, size_t *blocks, size_t *bytes) {
    size_t count = 0;
    const record *before = NULL;
    for (const record *r = q->first; r; before = r, r = r->next) {
        if (r->before != before || r->queue != q || r->event_count == 0 || (before && before->serial >= r->serial) ||
            count++ >= q->waiting.count)
            return false;
        *bytes += r->bytes;
    }
    *blocks += count;
    return before == q->last && count == q->waiting.count && masu__tree_valid(&q->waiting);
}

bool masu_streams_valid(masu_streams *streams) {
    size_t blocks = 0, bytes = 0;
    take_lock(streams);
    bool valid = masu__tree_valid(&streams->idle) && masu__tree_valid(&streams->live);
    for (const queue *q = streams->queues; q && valid; q = q->next)
        valid = queue_valid(q, &blocks, &bytes);
    const masu_streams_stats *stats = &streams->stats;
    for (const masu__tree_node *n = masu__tree_at_least(&streams->idle, 0, 0); n && valid;
         n = masu__tree_at_least(&streams->idle, n->major, n->minor + 1)) {
        blocks++;
        bytes += n->major;
    }
    valid = valid && blocks == stats->cached_blocks && bytes == stats->cached_bytes &&
            streams->live.count == stats->live_blocks && stats->allocations - stats->frees == stats->live_blocks &&
            stats->same_stream + stats->other_stream + stats->fetched == stats->allocations &&
            stats->fetched - stats->returned == stats->live_blocks + stats->cached_blocks;
    release_lock(streams);
    return valid;
}
