/* A tensor's life in the process-wide pool and in a heap of its own. Build against the installed
 * library:  cc pool.c $(pkg-config --cflags --libs masu) */
#include <masu/masu.h>
#include <stdio.h>
#include <string.h>

int main(void) {
    enum { BYTES = 1000 * sizeof(float) };
    for (int step = 0; step < 1000000; step++) {
        float *gradient = masu_alloc(BYTES);
        gradient[0] = (float)step;
        masu_free(gradient, BYTES);
    }
    masu_heap_stats stats;
    masu_get_stats(&stats);
    printf("%llu allocations, %llu from the device, %llu bytes live\n", (unsigned long long)stats.allocations,
           (unsigned long long)stats.device_allocations, (unsigned long long)stats.live_bytes);

    masu_heap *heap;
    masu_heap_config config = masu_heap_config_default();
    config.guarded = true; /* every wrong free is told */
    if (masu_heap_create(&config, &heap) != MASU_OK)
        return 1;
    void *block;
    if (masu_heap_alloc_at(heap, 1 << 20, 4096, MASU_HERE, &block) != MASU_OK)
        return 1;
    memset(block, 0, 1 << 20);
    printf("wrong size: %s\n", masu_status_text(masu_heap_free(heap, block, 1 << 19)));
    printf("right size: %s\n", masu_status_text(masu_heap_free(heap, block, 1 << 20)));
    printf("twice: %s\n", masu_status_text(masu_heap_free(heap, block, 1 << 20)));
    return masu_heap_destroy(heap) == MASU_OK ? 0 : 1;
}
