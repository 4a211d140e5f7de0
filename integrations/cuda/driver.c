/* driver.c: the driver's calls, for programs that have no runtime beside them: those of the driver's interface alone,
 * and those that carry the runtime inside. A runtime that is beside the program gets the driver's own (resolve.c).
 *
 * The pools' memory belongs to a device and its primary context; in a context that the program made itself the driver
 * serves.
 */
#include "interpose.h"

/* The device whose primary context is current; -1: none is. */
static int device_of(const void *caller) {
    void *current = NULL, *primary = NULL;
    int ordinal;
    if (PASS_FROM(caller, cuCtxGetCurrent, &current) != CUDA_OK || !current ||
        PASS_FROM(caller, cuCtxGetDevice, &ordinal) != CUDA_OK ||
        PASS_FROM(caller, cuDevicePrimaryCtxRetain, &primary, ordinal) != CUDA_OK)
        return -1;
    PASS_FROM(caller, cuDevicePrimaryCtxRelease_v2, ordinal);
    return current == primary ? ordinal : -1;
}

HOOK cuda_error cuMemAlloc_v2(uintptr_t *out, size_t bytes) {
    masu_cuda_count(CALL_cuMemAlloc_v2);
    if (out && bytes > 0 && masu_cuda_takes_over() && !masu_cuda_capturing()) {
        void *ptr;
        cuda_error error = masu_cuda_alloc(device_of(CALLER), &ptr, bytes);
        if (error == CUDA_OK)
            *out = (uintptr_t)ptr;
        if (error != CUDA_NOT_SUPPORTED)
            return error;
    }
    cuda_error error = PASS(cuMemAlloc_v2, out, bytes);
    if (error == CUDA_OK)
        masu_cuda_note(MASU_EVENT_ALLOC, (void *)*out, bytes);
    return error;
}

/* Memory of one interface may be freed by the other. */
HOOK cuda_error cuMemFree_v2(uintptr_t address) {
    masu_cuda_count(CALL_cuMemFree_v2);
    if (masu_cuda_is_ours((void *)address))
        return masu_cuda_free((void *)address);
    cuda_error error = PASS(cuMemFree_v2, address);
    if (error == CUDA_OK && address)
        masu_cuda_note(MASU_EVENT_FREE, (void *)address, 0);
    return error;
}

HOOK cuda_error cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes) {
    masu_cuda_count(CALL_cuMemGetInfo_v2);
    cuda_error error = PASS(cuMemGetInfo_v2, free_bytes, total_bytes);
    if (error != CUDA_OK || !masu_cuda_takes_over() || !free_bytes || !total_bytes)
        return error;
    size_t cached = masu_cuda_cached(device_of(CALLER));
    *free_bytes = *total_bytes - *free_bytes < cached ? *total_bytes : *free_bytes + cached;
    return CUDA_OK;
}

HOOK cuda_error cuMemGetAddressRange_v2(uintptr_t *base, size_t *bytes, uintptr_t address) {
    masu_cuda_count(CALL_cuMemGetAddressRange_v2);
    return masu_cuda_is_ours((void *)address) ? masu_cuda_range((void *)address, base, bytes)
                                              : PASS(cuMemGetAddressRange_v2, base, bytes, address);
}

HOOK cuda_error cuIpcGetMemHandle(void *handle, uintptr_t address) {
    masu_cuda_count(CALL_cuIpcGetMemHandle);
    return masu_cuda_is_ours((void *)address) ? masu_cuda_refuse_sharing("cuIpcGetMemHandle")
                                              : PASS(cuIpcGetMemHandle, handle, address);
}

#define FREE_ASYNC(name)                                                                                           \
    HOOK cuda_error name(uintptr_t address, void *stream) {                                                        \
        masu_cuda_count(CALL_##name);                                                                              \
        return masu_cuda_is_ours((void *)address) ? masu_cuda_free((void *)address) : PASS(name, address, stream); \
    }

FREE_ASYNC(cuMemFreeAsync)
FREE_ASYNC(cuMemFreeAsync_ptsz)

/* ---- captures ---------------------------------------------------------------------------------------------------- */

BEGIN_CAPTURE(cuStreamBeginCapture_v2, (void *stream, int how), stream, how)
BEGIN_CAPTURE(cuStreamBeginCapture_v2_ptsz, (void *stream, int how), stream, how)
BEGIN_CAPTURE(cuStreamBeginCaptureToGraph,
              (void *stream, void *graph, const void *needs, const void *edges, size_t count, int how), stream, graph,
              needs, edges, count, how)
BEGIN_CAPTURE(cuStreamBeginCaptureToGraph_ptsz,
              (void *stream, void *graph, const void *needs, const void *edges, size_t count, int how), stream, graph,
              needs, edges, count, how)
END_CAPTURE(cuStreamEndCapture)
END_CAPTURE(cuStreamEndCapture_ptsz)

/* ---- the calls that are only seen -------------------------------------------------------------------------------- */

SEEN(cuMemAllocPitch_v2, (uintptr_t * out, size_t *pitch, size_t width, size_t height, unsigned element), out, pitch,
     width, height, element)
SEEN(cuMemAllocManaged, (uintptr_t * out, size_t bytes, unsigned flags), out, bytes, flags)
SEEN(cuMemAllocAsync, (uintptr_t * out, size_t bytes, void *stream), out, bytes, stream)
SEEN(cuMemAllocAsync_ptsz, (uintptr_t * out, size_t bytes, void *stream), out, bytes, stream)
SEEN(cuMemAllocFromPoolAsync, (uintptr_t * out, size_t bytes, void *pool, void *stream), out, bytes, pool, stream)
SEEN(cuMemAllocFromPoolAsync_ptsz, (uintptr_t * out, size_t bytes, void *pool, void *stream), out, bytes, pool, stream)
