/* hooks.c: the calls that the program makes, under the runtime's names. Each counts itself, does what is ours, and
 * hands everything else on as it came.
 */
#include "interpose.h"
#include "masu_cuda.h"

#include <stdatomic.h>

bool masu_cuda_takes_over(void) {
    return masu_cuda_settings()->mode == MODE_VMM;
}

/* Events of pool 0 + device; sequence numbers of our own. */
void masu_cuda_note(masu_event_kind kind, const void *ptr, size_t bytes) {
    static _Atomic uint64_t sequence;
    if (masu_cuda_takes_over() || (!masu_cuda_wants_events() && !masu_cuda_records()))
        return;
    masu_event event = {.sequence = atomic_fetch_add(&sequence, 1),
                        .kind = kind,
                        .pool = 1,
                        .address = (uintptr_t)ptr,
                        .bytes = bytes,
                        .block_bytes = bytes};
    masu_cuda_write_event(NULL, &event);
    masu_cuda_record(event);
}

cuda_error masu_cuda_refuse_sharing(const char *name) {
    static _Atomic bool said;
    if (!atomic_exchange(&said, true))
        masu_cuda_say(LOG_WARNINGS,
                      "%s: mapped memory cannot be shared this way; run the program with VMM_MODE=MONITOR", name);
    return CUDA_NOT_SUPPORTED;
}

/* -1: the runtime cannot say. */
static int device_of(const void *caller) {
    int ordinal;
    return PASS_FROM(caller, cudaGetDevice, &ordinal) == CUDA_OK ? ordinal : -1;
}

/* ---- the calls that are taken over -------------------------------------------------------------------------- */

HOOK cuda_error cudaMalloc(void **out, size_t bytes) {
    masu_cuda_count(CALL_cudaMalloc);
    /* Nothing to place, or nothing that may be done now: the runtime answers as it always does. */
    if (out && bytes > 0 && masu_cuda_takes_over() && !masu_cuda_capturing()) {
        cuda_error error = masu_cuda_alloc(device_of(CALLER), out, bytes);
        if (error != CUDA_NOT_SUPPORTED)
            return error;
    }
    cuda_error error = PASS(cudaMalloc, out, bytes);
    if (error == CUDA_OK && bytes > 0)
        masu_cuda_note(MASU_EVENT_ALLOC, *out, bytes);
    return error;
}

HOOK cuda_error cudaFree(void *ptr) {
    masu_cuda_count(CALL_cudaFree);
    if (ptr && masu_cuda_is_ours(ptr))
        return masu_cuda_free(ptr);
    cuda_error error = PASS(cudaFree, ptr);
    if (error == CUDA_OK && ptr)
        masu_cuda_note(MASU_EVENT_FREE, ptr, 0);
    return error;
}

/* A copy is a copy: both pointers stay what they are. */
HOOK cuda_error cudaMemcpy(void *to, const void *from, size_t bytes, int kind) {
    masu_cuda_count(CALL_cudaMemcpy);
    return PASS(cudaMemcpy, to, from, bytes, kind);
}

HOOK cuda_error cudaMemcpy_ptds(void *to, const void *from, size_t bytes, int kind) {
    masu_cuda_count(CALL_cudaMemcpy_ptds);
    return PASS(cudaMemcpy_ptds, to, from, bytes, kind);
}

/* The pools' idle memory counts as free; never more than there is. */
HOOK cuda_error cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes) {
    size_t free_now, total;
    masu_cuda_count(CALL_cudaMemGetInfo);
    cuda_error error = PASS(cudaMemGetInfo, &free_now, &total);
    if (error != CUDA_OK)
        return error;
    size_t cached = masu_cuda_takes_over() ? masu_cuda_cached(device_of(CALLER)) : 0;
    free_now = total - free_now < cached ? total : free_now + cached;
    if (free_bytes)
        *free_bytes = free_now;
    if (total_bytes)
        *total_bytes = total;
    return CUDA_OK;
}

/* Ours cannot be shared that way; the runtime must not be asked about an address it does not know. */
HOOK cuda_error cudaIpcGetMemHandle(void *handle, void *ptr) {
    masu_cuda_count(CALL_cudaIpcGetMemHandle);
    return masu_cuda_is_ours(ptr) ? masu_cuda_refuse_sharing("cudaIpcGetMemHandle")
                                  : PASS(cudaIpcGetMemHandle, handle, ptr);
}

int __attribute__((visibility("default"))) masu_cuda_resize(void **ptr, size_t bytes) {
    return masu_cuda_capturing() ? CUDA_NOT_SUPPORTED : masu_cuda_grow(ptr, bytes);
}

/* ---- freeing in stream order: of ours, once the stream has come there -------------------------------------------- */

#define FREE_ASYNC(name)                            \
    HOOK cuda_error name(void *ptr, void *stream) { \
        masu_cuda_count(CALL_##name);               \
        if (ptr && masu_cuda_is_ours(ptr))          \
            return masu_cuda_free(ptr);             \
        return PASS(name, ptr, stream);             \
    }

FREE_ASYNC(cudaFreeAsync)
FREE_ASYNC(cudaFreeAsync_ptsz)

/* ---- captures ---------------------------------------------------------------------------------------------------- */

BEGIN_CAPTURE(cudaStreamBeginCapture, (void *stream, int how), stream, how)
BEGIN_CAPTURE(cudaStreamBeginCapture_ptsz, (void *stream, int how), stream, how)
BEGIN_CAPTURE(cudaStreamBeginCaptureToGraph,
              (void *stream, void *graph, const void *needs, const void *edges, size_t count, int how), stream, graph,
              needs, edges, count, how)
BEGIN_CAPTURE(cudaStreamBeginCaptureToGraph_ptsz,
              (void *stream, void *graph, const void *needs, const void *edges, size_t count, int how), stream, graph,
              needs, edges, count, how)
END_CAPTURE(cudaStreamEndCapture)
END_CAPTURE(cudaStreamEndCapture_ptsz)

/* ---- the calls that are only seen -------------------------------------------------------------------------------- */

SEEN(cudaMallocAsync, (void **out, size_t bytes, void *stream), out, bytes, stream)
SEEN(cudaMallocAsync_ptsz, (void **out, size_t bytes, void *stream), out, bytes, stream)
SEEN(cudaMallocFromPoolAsync, (void **out, size_t bytes, void *pool, void *stream), out, bytes, pool, stream)
SEEN(cudaMallocFromPoolAsync_ptsz, (void **out, size_t bytes, void *pool, void *stream), out, bytes, pool, stream)
SEEN(cudaMallocManaged, (void **out, size_t bytes, unsigned flags), out, bytes, flags)
SEEN(cudaMallocPitch, (void **out, size_t *pitch, size_t width, size_t height), out, pitch, width, height)
SEEN(cudaMalloc3D, (void *out, cuda_extent extent), out, extent)
SEEN(cudaMallocArray, (void **out, const void *format, size_t width, size_t height, unsigned flags), out, format, width,
     height, flags)
SEEN(cudaMalloc3DArray, (void **out, const void *format, cuda_extent extent, unsigned flags), out, format, extent,
     flags)
SEEN(cudaFreeArray, (void *array), array)
SEEN(cudaMallocHost, (void **out, size_t bytes), out, bytes)
SEEN(cudaHostAlloc, (void **out, size_t bytes, unsigned flags), out, bytes, flags)
SEEN(cudaFreeHost, (void *ptr), ptr)
