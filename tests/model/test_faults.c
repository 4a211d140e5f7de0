/* The sweep: the nth request for memory fails, for every n, during a whole life of a heap.
 *
 * Whatever fails, the call says so, nothing observable has changed, every equation holds, the
 * same call then succeeds, and the life ends as it would have ended undisturbed. Once through
 * metadata and device allocations alike, once through every call of the device, frees included.
 */
#include "model/model.h"

#include <string.h>

#include <masu/masu.h>

#include "base/meta.h"

enum { MIB = 1 << 20, BLOCKS = 120 };

typedef struct life {
    masu_device *device;
    masu_heap *heap;
    void *blocks[BLOCKS];
    unsigned refusals;
} life;

static size_t bytes_of(int i) {
    return (size_t)(i % 7 == 6 ? MIB + 4096 * i : 1 << (i % 17));
}

static size_t alignment_of(int i) {
    return i % 11 == 10 ? 32768 : 0;
}

/* After a refusal: nothing has changed but the count of refusals. */
static void assert_untouched(const life *l, const masu_heap_stats *before) {
    masu_heap_stats after;
    masu_heap_get_stats(l->heap, &after);
    after.failures = before->failures;
    after.metadata_bytes = before->metadata_bytes;
    assert_memory_equal(before, &after, sizeof after);
    assert_true(masu_heap_valid(l->heap));
}

static void alloc_one(life *l, int i) {
    masu_heap_stats before;
    for (;;) {
        masu_heap_get_stats(l->heap, &before);
        masu_status status = masu_heap_alloc(l->heap, bytes_of(i), alignment_of(i), &l->blocks[i]);
        if (status == MASU_OK)
            return;
        assert_true(status == MASU_ERR_OUT_OF_MEMORY || status == MASU_ERR_DEVICE_FAILURE);
        assert_null(l->blocks[i]);
        assert_untouched(l, &before);
        assert_true(++l->refusals < 3);
    }
}

static void trim(life *l) {
    while (masu_heap_trim(l->heap, 0) != MASU_OK) {
        assert_true(masu_heap_valid(l->heap));
        assert_true(++l->refusals < 3);
    }
}

/* Returns how the heap ended; *final is what it said last. */
static masu_status live(life *l, masu_heap_stats *final) {
    masu_heap_config config = masu_heap_config_default();
    config.device = l->device;
    config.checked = true;
    config.pool_bytes = 2 * MIB;
    config.initial_bytes = MIB;
    while (masu_heap_create(&config, &l->heap) != MASU_OK) {
        assert_null(l->heap);
        assert_true(++l->refusals < 3);
    }
    for (int i = 0; i < BLOCKS; i++)
        alloc_one(l, i);
    for (int i = 0; i < BLOCKS; i += 2)
        assert_int_equal(masu_heap_free(l->heap, l->blocks[i], bytes_of(i)), MASU_OK);
    trim(l);
    for (int i = 0; i < BLOCKS; i += 2)
        alloc_one(l, i);
    for (int i = 0; i < BLOCKS; i++)
        assert_int_equal(masu_heap_free(l->heap, l->blocks[i], bytes_of(i)), MASU_OK);
    trim(l);
    masu_heap_get_stats(l->heap, final);
    return masu_heap_destroy(l->heap);
}

static void assert_same_end(const masu_heap_stats *a, const masu_heap_stats *b) {
    assert_int_equal(a->allocations, b->allocations);
    assert_int_equal(a->frees, b->frees);
    assert_int_equal(a->live_bytes, b->live_bytes);
    assert_int_equal(a->peak_bytes, b->peak_bytes);
    assert_int_equal(a->reserved_bytes, b->reserved_bytes);
    assert_int_equal(a->cached_bytes, b->cached_bytes);
}

static masu_heap_stats undisturbed(void) {
    life l = {0};
    masu_heap_stats final;
    assert_int_equal(masu_device_create_host(&l.device), MASU_OK);
    assert_int_equal(live(&l, &final), MASU_OK);
    assert_int_equal(l.refusals, 0);
    assert_int_equal(final.reserved_bytes, 0);
    assert_int_equal(masu_device_destroy(l.device), MASU_OK);
    return final;
}

static void every_request_for_memory(void **state) {
    (void)state;
    masu_heap_stats expected = undisturbed(), final;
    unsigned refused = 0;
    for (uint64_t nth = 1; nth < 5000; nth++) {
        life l = {0};
        assert_int_equal(masu_device_create_host(&l.device), MASU_OK);
        masu__fault_arm(nth);
        masu_status status = live(&l, &final);
        bool fired = masu__fault_fired();
        masu__fault_arm(0);
        assert_int_equal(status, MASU_OK);
        assert_same_end(&final, &expected);
        assert_int_equal(masu_device_destroy(l.device), MASU_OK);
        assert_int_equal(masu__meta_live_bytes(), 0);
        refused += l.refusals;
        if (!fired) {
            assert_true(nth > 50 && refused > 5); /* most are served at the second try */
            return;
        }
    }
    fail_msg("the sweep did not come to its end");
}

static void every_call_of_the_device(void **state) {
    (void)state;
    masu_heap_stats expected = undisturbed(), final;
    for (uint64_t nth = 1;; nth++) {
        life l = {0};
        masu_device *inner;
        masu_device_stats stats;
        assert_int_equal(masu_device_create_host(&inner), MASU_OK);
        assert_int_equal(masu_device_create_faulty(inner, &l.device), MASU_OK);
        assert_int_equal(masu_device_fail_at(l.device, nth, false), MASU_OK);
        assert_int_equal(live(&l, &final), MASU_OK);
        assert_same_end(&final, &expected);
        masu_device_get_stats(l.device, &stats);
        assert_int_equal(masu_device_destroy(l.device), MASU_OK);
        assert_int_equal(masu_device_destroy(inner), MASU_OK);
        if (stats.failed_calls == 0) {
            assert_true(nth > 10);
            return;
        }
    }
}

static void a_device_that_fails_for_ever(void **state) {
    (void)state;
    for (uint64_t nth = 1; nth < 12; nth++) {
        masu_device *inner, *device;
        masu_heap *heap;
        void *ptr;
        assert_int_equal(masu_device_create_host(&inner), MASU_OK);
        assert_int_equal(masu_device_create_faulty(inner, &device), MASU_OK);
        assert_int_equal(masu_device_fail_at(device, nth, true), MASU_OK);
        masu_heap_config config = masu_heap_config_default();
        config.device = device;
        masu_status status = masu_heap_create(&config, &heap);
        assert_int_equal(status, MASU_OK); /* takes nothing before the first request */
        for (size_t i = 0; status == MASU_OK && i < 20; i++) {
            masu_status got = masu_heap_alloc(heap, i * 100 * MIB, 0, &ptr);
            assert_true(got == MASU_OK || (got == MASU_ERR_DEVICE_FAILURE && ptr == NULL));
            assert_true(masu_heap_valid(heap));
        }
        assert_int_equal(masu_device_fail_at(device, 0, false), MASU_OK);
        if (status == MASU_OK)
            assert_int_equal(masu_heap_destroy(heap), nth == 1 ? MASU_OK : MASU_ERR_LEAK);
        assert_int_equal(masu_device_destroy(device), MASU_OK);
        assert_int_equal(masu_device_destroy(inner), MASU_OK);
        assert_int_equal(masu__meta_live_bytes(), 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_request_for_memory),
        cmocka_unit_test(every_call_of_the_device),
        cmocka_unit_test(a_device_that_fails_for_ever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
