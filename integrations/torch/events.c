/* events.c: what the library's pools tell while a lane works: memory that is taken and given back, blocks that are at
 * last free; and the ring of events that snapshots show. The judge reads along when it is asked for.
 *
 * The sink runs in the thread that called the pool, so the lane at work is that thread's; the device's lock is held. */
#include "torch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <masu/check.h>
#include <masu/record.h>

static masu_trace *trace;
static masu_check *judge;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static pthread_mutex_t ring_lock = PTHREAD_MUTEX_INITIALIZER;
static entry *ring;
static _Atomic size_t ring_capacity;
static size_t ring_next, ring_count;

/* ---- history ----------------------------------------------------------------------------------------------------- */

bool masu_torch_record_history(size_t events) {
    entry *fresh = events && events < SIZE_MAX / sizeof *fresh ? calloc(events, sizeof *fresh) : NULL;
    if (events && !fresh)
        return false;
    pthread_mutex_lock(&ring_lock);
    free(ring);
    ring = fresh;
    ring_capacity = events;
    ring_next = ring_count = 0;
    pthread_mutex_unlock(&ring_lock);
    return true;
}

void masu_torch_history_hold(void) {
    pthread_mutex_lock(&ring_lock);
}

void masu_torch_history_release(void) {
    pthread_mutex_unlock(&ring_lock);
}

const entry *masu_torch_history(size_t index, size_t *count) {
    *count = ring_count;
    return index < ring_count ? &ring[(ring_next + ring_capacity - ring_count + index) % ring_capacity] : NULL;
}

void masu_torch_note(const lane *l, entry_kind kind, uint64_t address, uint64_t bytes, const void *stream) {
    struct timespec now;
    if (ring_capacity == 0)
        return;
    clock_gettime(CLOCK_REALTIME, &now);
    pthread_mutex_lock(&ring_lock);
    if (ring_capacity > 0) {
        ring[ring_next] = (entry){.address = address,
                                  .bytes = bytes,
                                  .stream = (uintptr_t)stream,
                                  .time_us = (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000,
                                  .first = l->pool->first,
                                  .second = l->pool->second,
                                  .device = (uint16_t)l->device->ordinal,
                                  .kind = (uint8_t)kind};
        ring_next = (ring_next + 1) % ring_capacity;
        ring_count += ring_count < ring_capacity;
    }
    pthread_mutex_unlock(&ring_lock);
}

/* ---- what pools tell --------------------------------------------------------------------------------------------- */

static void hold(device_state *d, uint64_t bytes) {
    d->stats.reserved_bytes += bytes;
    if (d->stats.reserved_bytes > d->stats.peak_reserved_bytes)
        d->stats.peak_reserved_bytes = d->stats.reserved_bytes;
}

bool masu_torch_extent_room(lane *l) {
    if (!l->bestfit || l->extent_count < l->extent_capacity)
        return true;
    size_t capacity = l->extent_capacity ? 2 * l->extent_capacity : 16;
    extent *extents = realloc(l->extents, capacity * sizeof *extents);
    if (!extents)
        return false;
    l->extents = extents;
    l->extent_capacity = capacity;
    return true;
}

static size_t extents_before(const lane *l, uintptr_t address) {
    size_t low = 0, high = l->extent_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (l->extents[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void extent_add(lane *l, const masu_event *e) {
    size_t at = extents_before(l, e->address);
    memmove(&l->extents[at + 1], &l->extents[at], (l->extent_count - at) * sizeof *l->extents);
    l->extents[at] = (extent){e->address, e->bytes};
    l->extent_count++;
    l->extent_bytes += e->bytes;
    if (!l->device->vm)
        hold(l->device, e->bytes);
    masu_torch_note(l, ENTRY_SEGMENT_ALLOC, e->address, e->bytes, NULL);
}

static void extent_drop(lane *l, const masu_event *e) {
    size_t at = extents_before(l, e->address);
    l->extent_count--;
    memmove(&l->extents[at], &l->extents[at + 1], (l->extent_count - at) * sizeof *l->extents);
    l->extent_bytes -= e->bytes;
    if (!l->device->vm)
        l->device->stats.reserved_bytes -= e->bytes;
    masu_torch_note(l, ENTRY_SEGMENT_FREE, e->address, e->bytes, NULL);
}

void masu_torch_complete(device_state *d, block *b) {
    if (b->state != BLOCK_WAITING)
        return;
    masu_torch_note(b->lane, ENTRY_FREE_COMPLETED, b->address, b->bytes, b->stream);
    d->stats.waiting_bytes -= b->bytes;
    masu_torch_blocks_drop(&d->blocks, b);
}

static void complete_at(device_state *d, uint64_t address) {
    block *b = masu_torch_blocks_find(&d->blocks, (void *)(uintptr_t)address);
    if (b)
        masu_torch_complete(d, b);
}

static void on_bestfit(lane *l, const masu_event *e) {
    if (e->kind == MASU_EVENT_EXTENT_ADD)
        extent_add(l, e);
    else if (e->kind == MASU_EVENT_EXTENT_DROP)
        extent_drop(l, e);
    else if (e->kind == MASU_EVENT_FREE)
        complete_at(l->device, e->address);
}

/* Blocks of the vm are segments of their own, but for those that a small lane lies in. */
static void on_vm(lane *l, const masu_event *e) {
    if (e->kind == MASU_EVENT_PIECE_ADD)
        hold(l->device, e->bytes);
    else if (e->kind == MASU_EVENT_PIECE_DROP)
        l->device->stats.reserved_bytes -= e->bytes;
    else if (!l->bestfit && e->kind == MASU_EVENT_ALLOC)
        masu_torch_note(l, ENTRY_SEGMENT_ALLOC, e->address, e->block_bytes, NULL);
    else if (!l->bestfit && e->kind == MASU_EVENT_FREE) {
        complete_at(l->device, e->address);
        masu_torch_note(l, ENTRY_SEGMENT_FREE, e->address, e->block_bytes, NULL);
    }
}

static void on_event(void *context, const masu_event *e) {
    (void)context;
    if (judge)
        masu_check_sink(judge, e);
    lane *l = masu_torch_work_on(NULL);
    masu_torch_work_on(l);
    if (!l)
        return;
    if (l->bestfit && e->pool == masu_bestfit_number(l->bestfit))
        on_bestfit(l, e);
    else if (l->device->vm && e->pool == masu_vm_number(l->device->vm))
        on_vm(l, e);
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

static void make(void) {
    masu_trace_config config = {.sink = on_event, .start_on = true};
    const settings *s = masu_torch_settings();
    if (s->checks && masu_check_create(&judge) != MASU_OK)
        return;
    if (masu_trace_create(&config, &trace) != MASU_OK)
        return;
    if (masu_trace_record_from_environment(trace, &(masu_record_config){.program = program_invocation_name}) != MASU_OK)
        fprintf(stderr, "masu: MASU_TRACE=%s cannot be written; nothing is recorded\n", getenv("MASU_TRACE"));
    if (s->history && !masu_torch_record_history(s->history))
        fprintf(stderr, "masu: MASU_TORCH_HISTORY=%zu: no memory for so many events; none are kept\n", s->history);
}

masu_trace *masu_torch_trace(void) {
    pthread_once(&once, make);
    return trace;
}

const char *masu_torch_verdict(void) {
    return judge ? masu_verdict_name(masu_check_verdict(judge)) : "not judged";
}

static __attribute__((destructor)) void at_end(void) {
    if (trace && masu_trace_record_end(trace, NULL) != MASU_OK)
        fprintf(stderr, "masu: MASU_TRACE is not whole: writing failed\n");
}
