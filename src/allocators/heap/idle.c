/* idle.c: memory of the process-wide heap that goes back by itself: what is more than a cap, and what has lain idle for
 * a time.
 *
 * No thread of its own: the thread that has the lock looks, at the end of the call that it came for. The clock is read
 * once in some calls. A program that does not call leaves everything as it is, until somebody calls masu_decay.
 *
 *     caches of threads ─1─► slabs ─2─► best-fit pool ─3─► system
 *
 *     1  each thread hands its blocks back at its next call under the lock
 *     2  slabs without a live block, as many bytes as lay cached at every moment since the last look
 *     3  pages that lay idle at the last look and lie idle now
 */
#include "allocators/heap/process_heap.h"

#include <errno.h>
#include <time.h>

enum { CALLS = 32, LOOKS = 2 }; /* a period has so many looks */

static uint64_t clock_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void masu__idle_set(masu_heap *heap, size_t most_bytes, uint64_t period_ns) {
    masu__caches *caches = heap->caches;
    caches->idle = (masu__idle){
        .most_bytes = most_bytes,
        .period_ns = period_ns,
        .look_ns = period_ns ? clock_ns() + period_ns / LOOKS : 0,
        .calls = CALLS,
        .slabs_least = masu__bucket_cached(caches->bucket),
    };
    caches->large_most = most_bytes ? masu__min(MASU__LARGE_KEPT_BYTES, most_bytes / 8) : MASU__LARGE_KEPT_BYTES;
    caches->configured_max_bytes = most_bytes ? masu__min(caches->bucket_most_bytes, most_bytes / 4)
                                              : caches->bucket_most_bytes;
    caches->bytes_a_thread = most_bytes ? 0 : caches->configured_a_thread;
    masu__caches_recall(heap); /* what threads keep obeys it from now on */
    masu__caches_fit_threads(heap);
}

/* Idle pages are counted only when enough was freed for the cap to be in danger. */
static void obey_cap(masu_heap *heap) {
    masu__caches *caches = heap->caches;
    size_t step = caches->idle.most_bytes / 8;
    uint64_t freed = caches->bestfit->counts.freed_bytes;
    if (freed - caches->idle.freed_then < step)
        return;
    caches->idle.freed_then = freed;
    masu__bestfit_cap_pages(caches->bestfit, caches->idle.most_bytes / 2 - step);
}

static void give_back_old(masu_heap *heap) {
    masu__caches *caches = heap->caches;
    uint64_t cached = masu__bucket_cached(caches->bucket);
    masu__caches_recall(heap);
    if (masu__bucket_is_loose(caches->bucket) && caches->idle.slabs_least > 0)
        masu__bucket_give_back_slabs(caches->bucket, cached - masu__min(cached, caches->idle.slabs_least));
    caches->idle.slabs_least = masu__bucket_cached(caches->bucket);
    masu__bestfit_age(caches->bestfit, LOOKS);
}

void masu__idle_look_now(masu_heap *heap) {
    masu__idle *idle = &heap->caches->idle;
    uint64_t now = idle->period_ns ? clock_ns() : 0;
    idle->calls = CALLS;
    if (idle->period_ns == 0 || now < idle->look_ns)
        return;
    idle->look_ns = now + idle->period_ns / LOOKS;
    give_back_old(heap);
}

void masu__idle_look(masu_heap *heap) {
    masu__idle *idle = &heap->caches->idle;
    idle->slabs_least = masu__min(idle->slabs_least, masu__bucket_cached(heap->caches->bucket));
    if (idle->most_bytes)
        obey_cap(heap);
    if (--idle->calls == 0)
        masu__idle_look_now(heap);
}

/* ---- of the process-wide pool ---------------------------------------------------------------- */

masu_status masu_set_idle(size_t max_idle_bytes, uint64_t decay_ms) {
    masu_heap *heap;
    if (masu__inside)
        return MASU_ERR_UNSUPPORTED;
    masu_status status = masu__process_heap_get(&heap);
    if (status != MASU_OK)
        return status;
    if (!heap->caches || heap->persistent)
        return MASU_ERR_UNSUPPORTED;
    masu__heap_lock(heap);
    masu__idle_set(heap, max_idle_bytes, masu__min(decay_ms, UINT64_MAX / 2000000) * 1000000);
    masu__heap_unlock(heap);
    return MASU_OK;
}

void masu_decay(void) {
    masu_heap *heap = atomic_load(&masu__process_heap);
    if (!heap || !heap->caches || masu__inside)
        return;
    int error = errno;
    masu__heap_lock(heap);
    masu__idle_look_now(heap);
    masu__heap_unlock(heap);
    errno = error;
}
