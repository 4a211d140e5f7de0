/* A store of pictures with 64 MiB. More than half of it is free, and yet a picture of 6 MiB does not fit. Who is in the
 * way?
 *
 *     cc fragments.c $(pkg-config --cflags --libs masu) -o fragments
 *     MASU_TRACE=f.trace ./fragments && masu report f.trace
 */
#include <masu/masu.h>
#include <stdio.h>

enum { PICTURES = 22, MIB = 1 << 20, PICTURE = 3 * MIB - 200 * 1024, LABEL = 40 * 1024 };

static masu_heap *heap;

static void *load_picture(void) {
    void *block = NULL;
    return masu_heap_alloc_at(heap, PICTURE, 0, MASU_HERE, &block) == MASU_OK ? block : NULL;
}

static void *make_label(void) {
    void *block = NULL;
    return masu_heap_alloc_at(heap, LABEL, 0, MASU_HERE, &block) == MASU_OK ? block : NULL;
}

static void *load_poster(void) {
    void *block = NULL;
    return masu_heap_alloc_at(heap, 6 * MIB, 0, MASU_HERE, &block) == MASU_OK ? block : NULL;
}

int main(void) {
    masu_trace *trace;
    masu_heap_config config = masu_heap_config_default();
    if (masu_trace_create(&(masu_trace_config){.ring_events = 0}, &trace) != MASU_OK ||
        masu_trace_record_from_environment(trace, &(masu_record_config){.program = "fragments"}) != MASU_OK)
        return 1;
    config.trace = trace;
    config.name = "pictures";
    config.pool_bytes = config.limit_bytes = 64 * MIB;
    if (masu_heap_create(&config, &heap) != MASU_OK)
        return 1;
    void *pictures[PICTURES], *labels[PICTURES];
    for (int i = 0; i < PICTURES; i++) {
        pictures[i] = load_picture();
        labels[i] = make_label();
        if (!pictures[i] || !labels[i])
            return 1;
    }
    for (int i = 0; i < PICTURES; i++) /* the pictures go, their labels stay in the index */
        masu_heap_free(heap, pictures[i], PICTURE);
    void *poster = load_poster();
    printf("the poster %s\n", poster ? "fits" : "does not fit");
    for (int i = 0; i < PICTURES; i++)
        masu_heap_free(heap, labels[i], LABEL);
    if (masu_heap_destroy(heap) != MASU_OK)
        return 1;
    masu_trace_destroy(trace);
    return 0;
}
