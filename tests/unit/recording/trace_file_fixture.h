/* trace_file_fixture.h: a trace that is recorded to a file of the test's own, a heap that fills it, and the file
 * read. */
#ifndef MASU_TESTS_TRACE_FILE_FIXTURE_H
#define MASU_TESTS_TRACE_FILE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <masu/masu.h>

#include "base/meta.h"
#include "base/rng.h"
#include "recording/recording.h"

static char path[64];

static inline int begin(void **state) {
    (void)state;
    strcpy(path, "/tmp/masu-trace-XXXXXX");
    int file = mkstemp(path);
    return file < 0 || close(file);
}

static inline int end(void **state) {
    (void)state;
    unlink(path);
    return masu__meta_live_blocks() == 0 ? 0 : -1;
}

typedef struct bytes {
    unsigned char *data;
    size_t length;
} bytes;

static inline bytes load(void) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    bytes b = {malloc(1 << 22), 0};
    assert_non_null(b.data);
    b.length = fread(b.data, 1, 1 << 22, file);
    assert_true(b.length < 1 << 22);
    fclose(file);
    return b;
}

static inline void read_file(masu__recording *out) {
    bytes b = load();
    masu__recording_fault fault;
    assert_int_equal(masu__trace_read(b.data, b.length, out, &fault), MASU_OK);
    assert_true(masu__recording_valid(out));
    free(b.data);
}

/* Every block of the heap is asked for and given back in some order; `kept` stay. */
static inline void use_heap(masu_trace *trace, unsigned rounds, unsigned kept) {
    masu_heap_config config = masu_heap_config_default();
    config.trace = trace;
    config.name = "test heap";
    masu_heap *heap;
    assert_int_equal(masu_heap_create(&config, &heap), MASU_OK);
    masu__rng rng;
    masu__rng_seed(&rng, 3);
    void *blocks[64] = {NULL};
    size_t sizes[64];
    for (unsigned i = 0; i < rounds; i++) {
        unsigned k = (unsigned)masu__rng_below(&rng, 64);
        if (blocks[k])
            assert_int_equal(masu_heap_free(heap, blocks[k], sizes[k]), MASU_OK);
        sizes[k] = 1 + masu__rng_below(&rng, i % 8 ? 4000 : 200000);
        assert_int_equal(masu_heap_alloc_at(heap, sizes[k], 0, MASU_HERE, &blocks[k]), MASU_OK);
    }
    for (unsigned k = kept; k < 64; k++)
        if (blocks[k])
            assert_int_equal(masu_heap_free(heap, blocks[k], sizes[k]), MASU_OK);
    masu_heap_destroy(heap);
}

typedef struct seen {
    masu_event *events;
    size_t count;
} seen;

static inline void see(void *context, const masu_event *event) {
    seen *s = context;
    s->events[s->count++] = *event;
}

static inline masu_trace *new_trace(seen *s) {
    masu_trace *trace;
    masu_trace_config config = {.sink = s ? see : NULL, .sink_context = s};
    assert_int_equal(masu_trace_create(&config, &trace), MASU_OK);
    return trace;
}

#endif
