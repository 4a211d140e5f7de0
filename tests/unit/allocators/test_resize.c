/* Blocks of heaps, buckets and best fit that change their size: random lives against a model, what is refused, what
 * growing costs, and blocks of zero. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <masu/bucket.h>
#include <masu/check.h>
#include <masu/heap.h>
#include <masu/trace.h>

#include "base/annotate.h"
#include "base/rng.h"

enum { KIB = 1 << 10, MIB = 1 << 20, HELD = 60, STEPS = 6000 };

static const struct arrangement {
    bool fine, checked, guarded;
    size_t size_steps;
} arrangements[] = {{false, false, false, 0},
                    {true, false, false, 0},
                    {true, true, false, 0},
                    {false, false, true, 0},
                    {true, true, false, 8}};
enum { ARRANGEMENTS = sizeof arrangements / sizeof *arrangements };

static masu_heap *open_traced(const struct arrangement *a, masu_trace *trace) {
    masu_heap *heap;
    masu_heap_config config = masu_heap_config_default();
    config.trace = trace;
    config.fine_classes = a->fine;
    config.checked |= a->checked;
    config.guarded = a->guarded;
    config.size_steps = a->size_steps;
    config.pool_bytes = 4 * MIB;
    assert_int_equal(masu_heap_create(&config, &heap), MASU_OK);
    return heap;
}

static masu_heap *open_heap(const struct arrangement *a) {
    return open_traced(a, NULL);
}

static masu_heap_stats stats_of(const masu_heap *heap) {
    masu_heap_stats s;
    masu_heap_get_stats(heap, &s);
    assert_int_equal(s.live_bytes + s.cached_bytes + s.free_bytes + s.slack_bytes, s.reserved_bytes);
    assert_int_equal(s.allocations - s.frees, s.live_blocks);
    return s;
}

typedef struct held {
    unsigned char *at;
    size_t bytes;
    unsigned char mark;
} held;

static void look(const held *h) {
    for (size_t i = 0; i < h->bytes; i += i < 128 ? 1 : 61)
        assert_int_equal(h->at[i], h->mark);
    assert_int_equal(h->at[h->bytes - 1], h->mark);
}

static size_t draw_bytes(masu__rng *rng) {
    uint32_t most = masu__rng_below(rng, 6) == 0 ? 300000 : 200u << masu__rng_below(rng, 8);
    return 1 + masu__rng_below(rng, most);
}

static void change(masu_heap *heap, held *h, masu__rng *rng) {
    size_t bytes = draw_bytes(rng), alignment = masu__rng_below(rng, 4) ? 0 : (size_t)1 << masu__rng_below(rng, 15);
    void *now = h->at;
    look(h);
    if (masu__rng_below(rng, 3) == 0) {
        masu_status status = masu_heap_resize(heap, h->at, h->bytes, bytes);
        assert_true(status == MASU_OK || status == MASU_ERR_OUT_OF_MEMORY);
        bytes = status == MASU_OK ? bytes : h->bytes;
    } else {
        assert_int_equal(masu_heap_realloc(heap, h->at, h->bytes, bytes, alignment, &now), MASU_OK);
        assert_int_equal((uintptr_t)now % (alignment ? alignment : 64), 0);
    }
    *h = (held){now, bytes, h->mark};
}

static void random_lives(void **state) {
    (void)state;
    for (int a = 0; a < ARRANGEMENTS; a++) {
        masu_check *check;
        masu_trace *trace;
        assert_int_equal(masu_check_create(&check), MASU_OK);
        masu_trace_config judged = {.sink = masu_check_sink, .sink_context = check, .start_on = true};
        assert_int_equal(masu_trace_create(&judged, &trace), MASU_OK);
        masu_heap *heap = open_traced(&arrangements[a], trace);
        held all[HELD] = {{0}};
        uint64_t live = 0, blocks = 0;
        masu__rng rng;
        masu__rng_seed(&rng, 11 + (uint64_t)a);
        for (int step = 0; step < STEPS; step++) {
            held *h = &all[masu__rng_below(&rng, HELD)];
            size_t before = h->bytes;
            if (!h->at) {
                void *ptr;
                h->bytes = draw_bytes(&rng);
                assert_int_equal(masu_heap_alloc(heap, h->bytes, 0, &ptr), MASU_OK);
                h->at = ptr;
                blocks++;
            } else if (masu__rng_below(&rng, 4) == 0) {
                look(h);
                assert_int_equal(masu_heap_free(heap, h->at, h->bytes), MASU_OK);
                live -= h->bytes;
                blocks--;
                *h = (held){0};
                continue;
            } else {
                change(heap, h, &rng);
                held common = *h;
                common.bytes = before < h->bytes ? before : h->bytes;
                look(&common);
                live -= before;
            }
            live += h->bytes;
            h->mark = (unsigned char)(1 + masu__rng_below(&rng, 255));
            memset(h->at, h->mark, h->bytes);
            masu_heap_stats s = stats_of(heap);
            assert_int_equal(s.live_bytes, live);
            assert_int_equal(s.live_blocks, blocks);
            if (step % 500 == 0)
                assert_true(masu_heap_valid(heap));
        }
        for (int i = 0; i < HELD; i++)
            if (all[i].at)
                assert_int_equal(masu_heap_free(heap, all[i].at, all[i].bytes), MASU_OK);
        assert_true(masu_heap_valid(heap));
        assert_int_equal(masu_heap_destroy(heap), MASU_OK);
        assert_string_equal(masu_verdict_name(masu_check_verdict(check)), masu_verdict_name(0));
        masu_trace_destroy(trace);
        masu_check_destroy(check);
    }
}

static void what_is_wrong_changes_nothing(void **state) {
    (void)state;
    for (int a = 0; a < ARRANGEMENTS; a++)
        for (size_t bytes = 70; bytes < 400000; bytes *= 9) {
            masu_heap *heap = open_heap(&arrangements[a]);
            void *ptr, *out = heap, *other;
            volatile size_t end = SIZE_MAX;
            assert_int_equal(masu_heap_alloc(heap, bytes, 0, &ptr), MASU_OK);
            assert_int_equal(masu_heap_alloc(heap, bytes, 0, &other), MASU_OK);
            memset(ptr, 7, bytes);
            masu_heap_stats before = stats_of(heap);
            assert_int_equal(masu_heap_realloc(heap, ptr, bytes * 3, 10, 0, &out), MASU_ERR_SIZE_MISMATCH);
            assert_null(out);
            assert_int_equal(masu_heap_realloc(heap, ptr, 0, 10, 0, &out), MASU_ERR_SIZE_MISMATCH);
            assert_int_equal(masu_heap_realloc(heap, ptr, bytes, 10, 24, &out), MASU_ERR_INVALID_ARGUMENT);
            assert_int_equal(masu_heap_realloc(heap, ptr, bytes, end, 0, &out), MASU_ERR_OVERFLOW);
            assert_int_equal(masu_heap_realloc(heap, NULL, 10, 10, 0, &out), MASU_ERR_SIZE_MISMATCH);
            assert_int_equal(masu_heap_realloc(heap, ptr, bytes, 10, 0, NULL), MASU_ERR_INVALID_ARGUMENT);
            assert_int_equal(masu_heap_realloc(NULL, ptr, bytes, 10, 0, &out), MASU_ERR_INVALID_ARGUMENT);
            assert_int_equal(masu_heap_resize(heap, ptr, bytes, 0), MASU_ERR_INVALID_ARGUMENT);
            assert_int_equal(masu_heap_resize(heap, NULL, bytes, 1), MASU_ERR_INVALID_ARGUMENT);
            assert_int_equal(masu_heap_resize(heap, ptr, bytes * 3, 1), MASU_ERR_SIZE_MISMATCH);
            assert_int_not_equal(masu_heap_resize(heap, &out, bytes, bytes), MASU_OK);
            assert_int_not_equal(masu_heap_realloc(heap, (char *)ptr + 16, bytes, 10, 0, &out), MASU_OK);
            assert_int_not_equal(masu_heap_realloc(heap, &out, bytes, 2 * bytes, 0, &out), MASU_OK);
            assert_int_equal(masu_heap_alloc_zeroed(heap, end / 2, 3, 0, &out), MASU_ERR_OVERFLOW);
            assert_null(out);
            masu_heap_stats after = stats_of(heap);
            assert_int_equal(after.live_bytes, before.live_bytes);
            assert_int_equal(after.live_blocks, before.live_blocks);
            for (size_t i = 0; i < bytes; i++)
                assert_int_equal(((unsigned char *)ptr)[i], 7);
            assert_int_equal(masu_heap_realloc(heap, ptr, bytes, 0, 0, &out), MASU_OK);
            assert_null(out);
            assert_int_not_equal(masu_heap_realloc(heap, ptr, bytes, 3 * bytes, 0, &out), MASU_OK);
            assert_int_equal(masu_heap_free(heap, other, bytes), MASU_OK);
            assert_true(masu_heap_valid(heap));
            assert_int_equal(masu_heap_destroy(heap), MASU_OK);
        }
}

/* With another block that is taken anew behind it whenever it moves. */
static void growing_costs_a_constant_a_byte(void **state) {
    (void)state;
    if (MASU__ASAN)
        return; /* there each change is a new block */
    for (int a = 0; a < 3; a++) {
        masu_heap *heap = open_heap(&arrangements[a]);
        void *ptr = NULL, *wall = NULL, *now;
        size_t moved = 0, bytes = 0;
        for (int step = 0; step < 100000; step++, bytes += 8) {
            assert_int_equal(masu_heap_realloc(heap, ptr, bytes, bytes + 8, 0, &now), MASU_OK);
            if (now != ptr) {
                moved += bytes;
                if (wall)
                    assert_int_equal(masu_heap_free(heap, wall, 64), MASU_OK);
                assert_int_equal(masu_heap_alloc(heap, 64, 0, &wall), MASU_OK);
            }
            ptr = now;
            *(uint64_t *)((char *)ptr + bytes) = bytes;
        }
        for (size_t i = 0; i < bytes; i += 8)
            assert_int_equal(*(uint64_t *)((char *)ptr + i), i);
        assert_true(moved < 12 * bytes);
        assert_int_equal(masu_heap_free(heap, ptr, bytes), MASU_OK);
        assert_int_equal(masu_heap_free(heap, wall, 64), MASU_OK);
        assert_int_equal(masu_heap_destroy(heap), MASU_OK);
    }
}

static void zero_is_zero(void **state) {
    (void)state;
    for (int a = 0; a < ARRANGEMENTS; a++) {
        masu_heap *heap = open_heap(&arrangements[a]);
        void *ptr;
        for (size_t bytes = 1; bytes < 200000; bytes = bytes * 3 + 1) {
            assert_int_equal(masu_heap_alloc(heap, bytes * 2, 0, &ptr), MASU_OK);
            memset(ptr, 0xee, bytes * 2);
            assert_int_equal(masu_heap_free(heap, ptr, bytes * 2), MASU_OK);
            assert_int_equal(masu_heap_alloc_zeroed(heap, bytes, 2, 128, &ptr), MASU_OK);
            assert_int_equal((uintptr_t)ptr % 128, 0);
            for (size_t i = 0; i < bytes * 2; i++)
                assert_int_equal(((unsigned char *)ptr)[i], 0);
            assert_int_equal(masu_heap_free(heap, ptr, bytes * 2), MASU_OK);
        }
        assert_int_equal(masu_heap_alloc_zeroed(heap, 0, 5, 0, &ptr), MASU_OK);
        assert_null(ptr);
        assert_int_equal(masu_heap_destroy(heap), MASU_OK);
    }
}

/* ---- the pools below --------------------------------------------------------------------------- */

static void memory_that_cannot_be_read(void **state) {
    (void)state;
    masu_device *device;
    masu_bestfit *pool;
    void *first, *second, *out;
    size_t bytes;
    assert_int_equal(masu_device_create_null(0, &device), MASU_OK);
    masu_bestfit_config config = masu_bestfit_config_default(device);
    assert_int_equal(masu_bestfit_create(&config, &pool), MASU_OK);
    assert_int_equal(masu_bestfit_alloc(pool, 1000, 0, 5, &first), MASU_OK);
    assert_int_equal(masu_bestfit_realloc(pool, first, 100000, 0, &out), MASU_OK); /* in place */
    assert_ptr_equal(out, first);
    assert_int_equal(masu_bestfit_alloc(pool, 1000, 0, 0, &second), MASU_OK);
    assert_int_equal(masu_bestfit_realloc(pool, first, 200000, 0, &out), MASU_ERR_UNSUPPORTED);
    assert_null(out);
    assert_int_equal(masu_bestfit_resize(pool, first, 200000), MASU_ERR_OUT_OF_MEMORY);
    assert_int_equal(masu_bestfit_size_of(pool, first, &bytes), MASU_OK);
    assert_int_equal(bytes, 100000);
    assert_int_equal(masu_bestfit_alloc_zeroed(pool, 10, 10, 0, 0, &out), MASU_ERR_UNSUPPORTED);
    assert_null(out);
    assert_int_equal(masu_bestfit_realloc(pool, first, 500, 0, &out), MASU_OK);
    assert_int_equal(masu_bestfit_resize(pool, first, 90000), MASU_OK); /* what was given up serves again */
    assert_int_equal(masu_bestfit_realloc(pool, (char *)first + 64, 500, 0, &out), MASU_ERR_INTERIOR_POINTER);
    assert_int_equal(masu_bestfit_realloc(pool, first, 0, 0, &out), MASU_OK);
    assert_int_equal(masu_bestfit_realloc(pool, first, 100, 0, &out), MASU_ERR_DOUBLE_FREE);
    assert_int_equal(masu_bestfit_free(pool, second), MASU_OK);
    assert_true(masu_bestfit_valid(pool));
    assert_int_equal(masu_bestfit_destroy(pool), MASU_OK);
    masu_heap *heap;
    masu_heap_config of_heap = masu_heap_config_default();
    of_heap.device = device;
    assert_int_equal(masu_heap_create(&of_heap, &heap), MASU_OK);
    assert_int_equal(masu_heap_alloc(heap, 1000, 0, &first), MASU_OK);
    assert_int_equal(masu_heap_realloc(heap, first, 1000, 2000, 0, &out), MASU_OK);
    assert_int_equal(masu_heap_realloc(heap, first, 1000, 3000, 0, &out), MASU_ERR_SIZE_MISMATCH);
    assert_int_equal(masu_heap_alloc_zeroed(heap, 10, 10, 0, &out), MASU_ERR_UNSUPPORTED);
    assert_int_equal(masu_heap_free(heap, first, 2000), MASU_OK);
    assert_int_equal(masu_heap_destroy(heap), MASU_OK);
    assert_int_equal(masu_device_destroy(device), MASU_OK);
}

static bool note_owner(void *context, const masu_bestfit_block *block) {
    *(uint64_t *)context = block->owner;
    return true;
}

static void a_block_that_moves_keeps_its_owner(void **state) {
    (void)state;
    masu_device *device;
    masu_bestfit *pool;
    masu_bucket *buckets;
    void *first, *wall, *out;
    uint64_t owner = 0;
    assert_int_equal(masu_device_create_host(&device), MASU_OK);
    masu_bestfit_config config = masu_bestfit_config_default(device);
    assert_int_equal(masu_bestfit_create(&config, &pool), MASU_OK);
    assert_int_equal(masu_bestfit_alloc(pool, 1000, 0, 77, &first), MASU_OK);
    assert_int_equal(masu_bestfit_alloc(pool, 1000, 0, 3, &wall), MASU_OK);
    memset(first, 9, 1000);
    assert_int_equal(masu_bestfit_realloc(pool, first, 5000, 4096, &out), MASU_OK);
    assert_true(out != first && (uintptr_t)out % 4096 == 0);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(((unsigned char *)out)[i], 9);
    assert_int_equal(masu_bestfit_free(pool, wall), MASU_OK);
    masu_bestfit_visit_live(pool, note_owner, &owner);
    assert_int_equal(owner, 77);
    assert_int_equal(masu_bestfit_free_sized(pool, out, 5000), MASU_OK);
    assert_int_equal(masu_bestfit_alloc_zeroed(pool, 300, 3, 256, 1, &out), MASU_OK);
    assert_int_equal(((unsigned char *)out)[899], 0);
    assert_int_equal(masu_bestfit_free_sized(pool, out, 900), MASU_OK);

    masu_bucket_config of_buckets = masu_bucket_config_default(pool);
    assert_int_equal(masu_bucket_create(&of_buckets, &buckets), MASU_OK);
    assert_int_equal(masu_bucket_alloc_zeroed(buckets, 100, 1, 0, &first), MASU_OK);
    assert_int_equal(masu_bucket_resize(buckets, first, 100, 128), MASU__ASAN ? MASU_ERR_OUT_OF_MEMORY : MASU_OK);
    size_t now = MASU__ASAN ? 100 : 128;
    assert_int_equal(masu_bucket_resize(buckets, first, now, 129), MASU_ERR_OUT_OF_MEMORY);
    assert_int_equal(masu_bucket_realloc(buckets, first, now, 40000, 4096, &out), MASU_OK);
    assert_int_equal((uintptr_t)out % 4096, 0);
    assert_int_equal(masu_bucket_realloc(buckets, out, 40000, 30, 0, &out), MASU_OK);
    assert_int_equal(((unsigned char *)out)[29], 0);
    assert_int_equal(masu_bucket_free(buckets, out, 30), MASU_OK);
    assert_true(masu_bucket_valid(buckets));
    assert_int_equal(masu_bucket_destroy(buckets), MASU_OK);
    assert_int_equal(masu_bestfit_destroy(pool), MASU_OK);
    assert_int_equal(masu_device_destroy(device), MASU_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_lives),
        cmocka_unit_test(what_is_wrong_changes_nothing),
        cmocka_unit_test(growing_costs_a_constant_a_byte),
        cmocka_unit_test(zero_is_zero),
        cmocka_unit_test(memory_that_cannot_be_read),
        cmocka_unit_test(a_block_that_moves_keeps_its_owner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
