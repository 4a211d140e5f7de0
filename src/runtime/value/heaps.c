/* heaps.c: every byte that the runtime asks a heap for, counted.
 *
 *     payload    elements of tensors, over the configured device
 *     metadata   strings, vectors, nodes, slot buffers, chunks of headers, over the host
 *
 * Every request also asks the fault counter, though the pools would mostly serve it from what they have: so a
 * test that fails the nth request reaches every tensor of a program, not only those that made a pool grow.
 *
 * Anonymous resident memory is sampled when the heaps have taken memory from their device since the last look.
 * A look costs two snapshots of statistics, so it is made only when live bytes have grown by another step.
 */
#include "base/meta.h"
#include "runtime/state.h"

enum { GROWTH_STEP_BYTES = 64 * 1024 };

static uint64_t live_total(const tl_runtime *rt) {
    return rt->live_bytes + rt->slot_bytes + rt->metadata_live_bytes;
}

static __attribute__((noinline, cold)) void look_for_growth(tl_runtime *rt) {
    masu_heap_stats payload, metadata;
    masu_heap_get_stats(rt->payload, &payload);
    masu_heap_get_stats(rt->metadata, &metadata);
    uint64_t taken = payload.device_allocations + metadata.device_allocations;
    if (taken != rt->device_allocations_seen) {
        rt->device_allocations_seen = taken;
        tl_runtime_sample_memory(rt);
    }
    rt->growth_watch = live_total(rt) + GROWTH_STEP_BYTES;
}

void tl__payload_taken(size_t bytes) {
    tl_runtime *rt = tl__runtime();
    rt->live_bytes += bytes;
    rt->allocated_bytes += bytes;
    if (rt->live_bytes > rt->peak_bytes)
        rt->peak_bytes = rt->live_bytes;
    if (MASU_UNLIKELY(live_total(rt) > rt->growth_watch))
        look_for_growth(rt);
}

void tl__payload_given(size_t bytes) {
    tl_runtime *rt = tl__runtime();
    rt->live_bytes -= bytes;
    rt->freed_bytes += bytes;
}

masu_status tl__payload_request(tl_runtime *rt, size_t bytes, void **out) {
    *out = NULL;
    if (bytes == 0)
        return MASU_OK;
    if (masu__fault_hit())
        return MASU_ERR_OUT_OF_MEMORY;
    masu_status status = masu_heap_alloc(rt->payload, bytes, 0, out);
    if (MASU_UNLIKELY(status != MASU_OK) && tl__slots_trim(rt))
        status = masu_heap_alloc(rt->payload, bytes, 0, out);
    return status;
}

masu_status tl__payload_alloc(size_t bytes, void **out) {
    tl_runtime *rt = tl__runtime();
    masu_status status = tl__payload_request(rt, bytes, out);
    if (MASU_UNLIKELY(status != MASU_OK))
        return tl__error_memory(status, bytes, "tensor data");
    tl__payload_taken(bytes);
    return MASU_OK;
}

void tl__payload_free(void *data, size_t bytes) {
    if (bytes == 0)
        return;
    tl_runtime *rt = tl__runtime();
    masu_status status = masu_heap_free(rt->payload, data, bytes);
    MASU_ASSERT(status == MASU_OK);
    tl__payload_given(bytes);
}

masu_status tl__alloc(size_t bytes, void **out) {
    tl_runtime *rt = tl__runtime();
    masu_status status = MASU_OK;
    *out = NULL;
    if (bytes > 0)
        status = masu__fault_hit() ? MASU_ERR_OUT_OF_MEMORY : masu_heap_alloc(rt->metadata, bytes, 0, out);
    if (MASU_UNLIKELY(status != MASU_OK))
        return tl__error_memory(status, bytes, "the program's own bookkeeping");
    rt->metadata_live_bytes += bytes;
    if (MASU_UNLIKELY(live_total(rt) > rt->growth_watch))
        look_for_growth(rt);
    return MASU_OK;
}

void tl__free(void *p, size_t bytes) {
    if (bytes == 0)
        return;
    tl_runtime *rt = tl__runtime();
    masu_status status = masu_heap_free(rt->metadata, p, bytes);
    MASU_ASSERT(status == MASU_OK);
    rt->metadata_live_bytes -= bytes;
}
