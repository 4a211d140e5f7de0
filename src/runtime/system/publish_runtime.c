/* publish_runtime.c: what a run shows on its page for `masu top` (masu/publish.h): both heaps, and the frames' planned
 * rooms. */
#include "runtime/state.h"

/* In the publisher's thread; the frame arena stores these two whole. */
static masu_status fill_frames(void *runtime, masu_stats *out) {
    const tl_runtime *rt = runtime;
    out->heap.live_bytes = out->heap.reserved_bytes = __atomic_load_n(&rt->room_bytes, __ATOMIC_RELAXED);
    out->heap.peak_live_bytes = out->heap.peak_reserved_bytes = __atomic_load_n(&rt->room_bytes_peak, __ATOMIC_RELAXED);
    return MASU_OK;
}

masu_status tl_runtime_publish(tl_runtime *rt, masu_publisher *publisher) {
    masu_status status = masu_publish_heap(publisher, rt->payload, "tensors");
    if (status == MASU_OK)
        status = masu_publish_source(publisher, "frames", fill_frames, rt);
    if (status == MASU_OK)
        status = masu_publish_heap(publisher, rt->metadata, "lists, strings, nodes");
    return status;
}
