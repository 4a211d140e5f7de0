/* A small server of requests. After an hour it has eaten the machine. Where does its memory go?
 *
 *     cc leak.c $(pkg-config --cflags --libs masu) -o leak && MASU_TRACE=leak.trace ./leak && masu report leak.trace */
#include <masu/masu.h>
#include <stdio.h>
#include <string.h>

typedef struct request {
    char *line;
    void *body, *answer;
    size_t body_bytes;
} request;

static masu_heap *heap;

static void *take(size_t bytes, const masu_place *place) {
    void *block = NULL;
    return masu_heap_alloc_at(heap, bytes, 0, place, &block) == MASU_OK ? block : NULL;
}

static int read_request(request *r, unsigned number) {
    r->line = take(120, MASU_HERE);
    r->body_bytes = 500 + number * 7919u % 3000;
    r->body = take(r->body_bytes, MASU_HERE);
    if (!r->line || !r->body)
        return 0;
    snprintf(r->line, 120, "%s /item/%u", number % 10 == 3 ? "HEAD" : "GET", number);
    memset(r->body, 0, r->body_bytes);
    return 1;
}

static int answer(request *r) {
    r->answer = take(2048, MASU_HERE);
    if (!r->answer)
        return 0;
    if (strncmp(r->line, "HEAD", 4) == 0)
        return 1; /* nothing to send */
    memcpy(r->answer, r->body, r->body_bytes < 2048 ? r->body_bytes : 2048);
    masu_heap_free(heap, r->answer, 2048);
    return 1;
}

static void forget(request *r) {
    masu_heap_free(heap, r->body, r->body_bytes);
    masu_heap_free(heap, r->line, 120);
}

int main(void) {
    masu_trace *trace;
    masu_heap_config config = masu_heap_config_default();
    if (masu_trace_create(&(masu_trace_config){.ring_events = 0}, &trace) != MASU_OK ||
        masu_trace_record_from_environment(trace, &(masu_record_config){.program = "leak"}) != MASU_OK)
        return 1;
    config.trace = trace;
    config.name = "server";
    if (masu_heap_create(&config, &heap) != MASU_OK)
        return 1;
    for (unsigned number = 0; number < 5000; number++) {
        request r;
        if (!read_request(&r, number) || !answer(&r))
            return 1;
        forget(&r);
    }
    masu_heap_stats stats;
    masu_heap_get_stats(heap, &stats);
    printf("5000 requests, %llu bytes alive\n", (unsigned long long)stats.live_bytes);
    return masu_trace_record_end(trace, NULL) != MASU_OK;
}
