/* Checks switched on and off while a heap lives; and the walk over all live blocks, which rests on
 * the same knowledge. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <masu/heap.h>

#include "base/annotate.h"
#include "base/meta.h"
#include "base/rng.h"

enum { MIB = 1 << 20 };

static masu_heap *open_heap(bool fine, bool guarded) {
    masu_heap *heap;
    masu_heap_config config = masu_heap_config_default();
    config.checked = false;
    config.fine_classes = fine;
    config.guarded = guarded;
    assert_int_equal(masu_heap_create(&config, &heap), MASU_OK);
    return heap;
}

static unsigned char *take(masu_heap *heap, size_t bytes) {
    void *ptr;
    assert_int_equal(masu_heap_alloc(heap, bytes, 0, &ptr), MASU_OK);
    return ptr;
}

static masu_heap_stats stats_of(const masu_heap *heap) {
    masu_heap_stats s;
    masu_heap_get_stats(heap, &s);
    return s;
}

static void blocks_of_before_are_known_as_to_their_class(void **state) {
    (void)state;
    for (int fine = 0; fine < 2; fine++) {
        masu_heap *heap = open_heap(fine, false);
        unsigned char *live = take(heap, 3000), *gone = take(heap, 3000), *last = take(heap, 3000);
        unsigned char *large = take(heap, 5 * MIB);
        assert_int_equal(masu_heap_free(heap, gone, 3000), MASU_OK);
        assert_int_equal(masu_heap_free(heap, last, 3000), MASU_OK);
        assert_int_equal(masu_heap_set_checked(heap, true), MASU_OK);
        masu_heap_stats before = stats_of(heap);
        assert_int_equal(masu_heap_free(heap, gone, 3000), MASU_ERR_DOUBLE_FREE);
        assert_int_equal(masu_heap_free(heap, last, 3000), MASU_ERR_DOUBLE_FREE);
        assert_int_equal(masu_heap_free(heap, live + 64, 3000), MASU_ERR_INTERIOR_POINTER);
        assert_int_equal(masu_heap_free(heap, live, 2000), MASU_ERR_SIZE_MISMATCH);
        assert_int_equal(masu_heap_free(heap, live, 65535), MASU_ERR_SIZE_MISMATCH);
        assert_int_equal(masu_heap_free(heap, live, 0), MASU_ERR_SIZE_MISMATCH);
        assert_int_equal(masu_heap_free_unsized(heap, live), MASU_ERR_UNSUPPORTED);
        assert_int_equal(masu_heap_free(heap, &heap, 3000), MASU_ERR_FOREIGN_POINTER);
        assert_int_equal(masu_heap_free(heap, large, 3000), MASU_ERR_SIZE_MISMATCH);
        size_t known;
        assert_int_equal(masu_heap_size_of(heap, live, &known), MASU_OK);
        assert_int_equal(known, fine ? 3072 : 4096);
        masu_heap_stats after = stats_of(heap);
        assert_memory_equal(&before, &after, sizeof before);
        assert_true(masu_heap_valid(heap));
        assert_int_equal(masu_heap_free(heap, live, 3000), MASU_OK);
        assert_int_equal(masu_heap_free(heap, live, 3000), MASU_ERR_DOUBLE_FREE);
        assert_int_equal(masu_heap_free(heap, large, 5 * MIB), MASU_OK);
        assert_int_equal(stats_of(heap).live_bytes, 0);
        assert_int_equal(masu_heap_destroy(heap), MASU_OK);
    }
}

static void blocks_of_after_are_known_exactly(void **state) {
    (void)state;
    masu_heap *heap = open_heap(false, false);
    assert_int_equal(masu_heap_set_checked(heap, true), MASU_OK);
    unsigned char *a = take(heap, 100), *b = take(heap, 100);
    assert_int_equal(masu_heap_free(heap, a, 101), MASU_ERR_SIZE_MISMATCH);
    assert_int_equal(masu_heap_free_unsized(heap, a), MASU_OK);
    assert_int_equal(masu_heap_free_unsized(heap, a), MASU_ERR_DOUBLE_FREE);
    assert_int_equal(masu_heap_set_checked(heap, true), MASU_OK); /* knows what it knew */
    assert_int_equal(masu_heap_free(heap, b, 101), MASU_ERR_SIZE_MISMATCH);
    assert_int_equal(masu_heap_set_checked(heap, false), MASU_OK);
    assert_int_equal(masu_heap_free_unsized(heap, b), MASU_ERR_UNSUPPORTED);
    uint64_t without = stats_of(heap).metadata_bytes;
    assert_int_equal(masu_heap_set_checked(heap, true), MASU_OK); /* and has forgotten now */
    assert_true(stats_of(heap).metadata_bytes > without);
    size_t known;
    assert_int_equal(masu_heap_size_of(heap, b, &known), MASU_OK);
    assert_int_equal(known, 128);
    assert_int_equal(masu_heap_free(heap, b, 100), MASU_OK);
    assert_int_equal(masu_heap_set_checked(heap, false), MASU_OK);
    assert_int_equal(stats_of(heap).metadata_bytes, without);
    assert_true(masu_heap_valid(heap));
    assert_int_equal(masu_heap_destroy(heap), MASU_OK);
    assert_int_equal(masu__meta_live_bytes(), 0);
}

static bool count_one(void *context, const masu_heap_block *block) {
    (void)block;
    ++*(size_t *)context;
    return true;
}

/* A slab that was made ready and not begun holds blocks that no caller has. */
static void prepared_slabs_hold_nothing(void **state) {
    (void)state;
    masu_heap *heap;
    size_t live = 0;
    masu_heap_config config = masu_heap_config_default();
    config.checked = false;
    config.small_blocks = 5000; /* of 64 bytes: three slabs */
    assert_int_equal(masu_heap_create(&config, &heap), MASU_OK);
    unsigned char *one = take(heap, 64);
    assert_int_equal(masu_heap_set_checked(heap, true), MASU_OK);
    assert_int_equal(masu_heap_visit_live(heap, count_one, &live), MASU_OK);
    assert_int_equal(live, 1);
    assert_int_equal(masu_heap_free(heap, one, 64), MASU_OK);
    assert_true(masu_heap_valid(heap));
    assert_int_equal(masu_heap_destroy(heap), MASU_OK);
    assert_int_equal(masu__meta_live_bytes(), 0);
}

#ifndef MASU_HEAVY /* whose audits stop the program at the wrong free itself */
/* A block freed twice while nobody looked lies in its list twice, or the list is a ring. */
static void a_wrong_free_of_before_is_found_by_the_switch(void **state) {
    (void)state;
    masu_heap *heap = open_heap(false, false);
    unsigned char *a = take(heap, 100), *b = take(heap, 100);
    assert_int_equal(masu_heap_free(heap, a, 100), MASU_OK);
    assert_int_equal(masu_heap_free(heap, b, 100), MASU_OK);
    assert_int_equal(masu_heap_free(heap, a, 100), MASU_OK); /* not seen: not the last one */
    uint64_t metadata = stats_of(heap).metadata_bytes;
    assert_int_equal(masu_heap_set_checked(heap, true), MASU_ERR_CORRUPT);
    assert_int_equal(stats_of(heap).metadata_bytes, metadata);
    masu_heap_destroy(heap);
    assert_int_equal(masu__meta_live_bytes(), 0);
}

#endif

static void without_memory_nothing_changes(void **state) {
    (void)state;
    for (uint64_t nth = 1; nth < 200; nth++) {
        masu_heap *heap = open_heap(true, false);
        static unsigned char *ptr[200];
        for (size_t i = 0; i < 200; i++)
            ptr[i] = take(heap, 1 + i * 80);
        masu_heap_stats before = stats_of(heap);
        masu__fault_arm(nth);
        masu_status status = masu_heap_set_checked(heap, true);
        masu__fault_arm(0);
        masu_heap_stats after = stats_of(heap);
        if (status != MASU_OK) {
            assert_int_equal(status, MASU_ERR_OUT_OF_MEMORY);
            assert_memory_equal(&before, &after, sizeof before);
            assert_true(masu_heap_valid(heap));
            assert_int_equal(masu_heap_set_checked(heap, true), MASU_OK);
        }
        for (size_t i = 0; i < 200; i++)
            assert_int_equal(masu_heap_free(heap, ptr[i], 1 + i * 80), MASU_OK);
        assert_int_equal(masu_heap_destroy(heap), MASU_OK);
        assert_int_equal(masu__meta_live_bytes(), 0);
        if (status == MASU_OK) {
            assert_true(nth > 20); /* an array for each slab */
            return;
        }
    }
    fail_msg("the sweep did not come to its end");
}

static void guarded_heaps_and_bare_devices_are_checked_always(void **state) {
    (void)state;
    masu_heap *heap = open_heap(false, true);
    assert_int_equal(masu_heap_set_checked(heap, true), MASU_OK);
    assert_int_equal(masu_heap_set_checked(heap, false), MASU_ERR_UNSUPPORTED);
    assert_int_equal(masu_heap_destroy(heap), MASU_OK);
    masu_device *device;
    assert_int_equal(masu_device_create_null(0, &device), MASU_OK);
    masu_heap_config config = masu_heap_config_default();
    config.device = device;
    assert_int_equal(masu_heap_create(&config, &heap), MASU_OK);
    assert_int_equal(masu_heap_set_checked(heap, false), MASU_OK);
    void *ptr = take(heap, 100);
    assert_int_equal(masu_heap_free(heap, ptr, 101), MASU_ERR_SIZE_MISMATCH);
    assert_int_equal(masu_heap_free(heap, ptr, 100), MASU_OK);
    assert_int_equal(masu_heap_destroy(heap), MASU_OK);
    assert_int_equal(masu_device_destroy(device), MASU_OK);
    assert_int_equal(masu_heap_set_checked(NULL, true), MASU_ERR_INVALID_ARGUMENT);
}

/* ---- the walk, and random switching ---------------------------------------------------------- */

enum { SLOTS = 400 };

typedef struct seen {
    unsigned char *const *ptr;
    const size_t *bytes;
    bool exact[SLOTS]; /* allocated while sizes were known */
    bool met[SLOTS];
    size_t count, most;
    bool wrong;
} seen;

static bool meet(void *context, const masu_heap_block *block) {
    seen *s = context;
    size_t k = 0;
    while (k < SLOTS && s->ptr[k] != block->address)
        k++;
    s->count++;
    if (k == SLOTS || s->met[k])
        s->wrong = true;
    else
        s->met[k] = true;
    if (k < SLOTS && (s->exact[k] || s->bytes[k] > MASU_BUCKET_MAX_BYTES) ? block->bytes != s->bytes[k]
                                                                          : k < SLOTS && block->bytes < s->bytes[k])
        s->wrong = true;
    return s->count < s->most;
}

static void walk(masu_heap *heap, seen *s, size_t live) {
    memset(s->met, 0, sizeof s->met);
    s->count = 0;
    s->most = SIZE_MAX;
    assert_int_equal(masu_heap_visit_live(heap, meet, s), MASU_OK);
    assert_false(s->wrong);
    assert_int_equal(s->count, live);
    if (live < 3)
        return;
    memset(s->met, 0, sizeof s->met);
    s->count = 0;
    s->most = 2; /* then the visitor has had enough */
    assert_int_equal(masu_heap_visit_live(heap, meet, s), MASU_OK);
    assert_int_equal(s->count, 2);
}

static void every_live_block_is_met_once_whatever_is_switched(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        static unsigned char *ptr[SLOTS];
        static size_t bytes[SLOTS];
        static seen s;
        memset(ptr, 0, sizeof ptr);
        s = (seen){.ptr = ptr, .bytes = bytes};
        bool checked = false;
        size_t live = 0;
        masu__rng rng;
        masu__rng_seed(&rng, seed);
        masu_heap *heap = open_heap(seed % 2, false);
        for (int step = 0; step < 6000; step++) {
            size_t k = masu__rng_below(&rng, SLOTS);
            if (ptr[k]) {
                if (checked)
                    assert_int_equal(masu_heap_free(heap, ptr[k] + 64, bytes[k]),
                                     MASU_ERR_INTERIOR_POINTER); /* every size is above 64 */
                assert_int_equal(masu_heap_free(heap, ptr[k], bytes[k]), MASU_OK);
                if (checked)
                    assert_int_equal(masu_heap_free(heap, ptr[k], bytes[k]), MASU_ERR_DOUBLE_FREE);
                ptr[k] = NULL;
                live--;
            } else {
                bytes[k] = 65 + masu__rng_below(&rng, step % 10 ? 3000 : 60000);
                ptr[k] = take(heap, bytes[k]);
                s.exact[k] = checked;
                live++;
            }
            if (step % 300 == 0) {
                walk(heap, &s, live);
                checked = masu__rng_below(&rng, 2);
                assert_int_equal(masu_heap_set_checked(heap, checked), MASU_OK);
                if (!checked)
                    memset(s.exact, 0, sizeof s.exact);
                assert_true(masu_heap_valid(heap));
            }
            if (step % 1000 == 999)
                assert_int_equal(masu_heap_trim(heap, MIB), MASU_OK);
        }
        for (size_t k = 0; k < SLOTS; k++)
            if (ptr[k])
                assert_int_equal(masu_heap_free(heap, ptr[k], bytes[k]), MASU_OK);
        assert_int_equal(stats_of(heap).live_bytes, 0);
        assert_int_equal(masu_heap_destroy(heap), MASU_OK);
    }
}

static void both_levels_tell_their_statistics(void **state) {
    (void)state;
    masu_heap *heap = open_heap(true, false);
    masu_bucket_stats buckets;
    masu_bestfit_stats bestfit;
    void *small = take(heap, 700), *large = take(heap, MIB);
    masu_heap_get_pool_stats(heap, &buckets, &bestfit);
    assert_int_equal(buckets.live_blocks, 1);
    assert_int_equal(buckets.bypasses, 1);
    assert_int_equal(buckets.class_count, MASU_BUCKET_FINE_CLASSES);
    assert_int_equal(bestfit.reserved_bytes, stats_of(heap).reserved_bytes);
    masu_heap_get_pool_stats(heap, NULL, NULL);
    assert_int_equal(masu_heap_free(heap, large, MIB), MASU_OK);
    assert_true(stats_of(heap).peak_bytes > MIB);
    masu_heap_reset_peaks(heap);
    assert_int_equal(stats_of(heap).peak_bytes, 700);
    assert_int_equal(stats_of(heap).allocations, 2);
    assert_int_equal(stats_of(heap).peak_reserved_bytes, stats_of(heap).reserved_bytes);
    assert_int_equal(masu_heap_free(heap, small, 700), MASU_OK);
    masu_heap_get_pool_stats(NULL, &buckets, &bestfit);
    assert_int_equal(buckets.class_count, 0);
    assert_int_equal(masu_heap_destroy(heap), MASU_OK);
}

/* The pattern of heap.h: a period that needed less lets go of the rest, one that needs it again
 * keeps it. */
static void memory_idle_for_a_period_goes_back(void **state) {
    (void)state;
    masu_heap_config config = masu_heap_config_default();
    config.pool_bytes = MIB;
    config.initial_bytes = 0;
    masu_heap *heap;
    assert_int_equal(masu_heap_create(&config, &heap), MASU_OK);
    for (int period = 0; period < 8; period++) {
        static unsigned char *ptr[64];
        int count = period < 4 ? 64 : 4;
        for (int i = 0; i < count; i++)
            ptr[i] = take(heap, MIB);
        uint64_t calls = stats_of(heap).device_allocations;
        for (int i = 0; i < count; i++)
            assert_int_equal(masu_heap_free(heap, ptr[i], MIB), MASU_OK);
        masu_heap_stats s = stats_of(heap);
        assert_int_equal(masu_heap_trim(heap, (size_t)(s.peak_bytes - s.live_bytes)), MASU_OK);
        masu_heap_reset_peaks(heap);
        if (period > 0 && period < 4)
            assert_int_equal(calls, stats_of(heap).device_allocations);
        assert_true(stats_of(heap).reserved_bytes <= (size_t)(count + 3) * MIB);
        assert_true(stats_of(heap).reserved_bytes >= (size_t)count * MIB);
    }
    assert_int_equal(masu_heap_destroy(heap), MASU_OK);
}

/* Bytes that a freed block carries its link in are written: told once, never followed, nothing is lost. */
static void a_write_after_free_is_told_and_survived(void **state) {
    (void)state;
    if (MASU__ASAN)
        skip(); /* the sanitizer is first to tell of the write */
    enum { COUNT = 50 };
    for (int way = 0; way < 16; way++) {
        masu_heap *heap = open_heap(way & 1, false);
        size_t bytes = way & 2 ? 64 : 3000;
        unsigned char *ptr[COUNT];
        if (way & 4)
            assert_int_equal(masu_heap_set_checked(heap, true), MASU_OK);
        for (int i = 0; i < COUNT; i++)
            ptr[i] = take(heap, bytes);
        for (int i = 0; i < COUNT; i += 2)
            assert_int_equal(masu_heap_free(heap, ptr[i], bytes), MASU_OK);
        if (!(way & 4))
            assert_int_equal(masu_heap_set_checked(heap, true), MASU_OK);
        uint64_t cached = stats_of(heap).cached_bytes;
        if (way & 8)
            memcpy(ptr[20], &ptr[4], sizeof ptr[4]); /* looks like a link to another free block */
        else
            memset(ptr[20], 0x41, 16);
        int told = 0, served = 0;
        void *got[COUNT];
        for (int i = 0; i <= COUNT / 2; i++) { /* one is refused, the others take every block that was freed */
            masu_status status = masu_heap_alloc(heap, bytes, 0, &got[served]);
            assert_true(status == MASU_OK || status == MASU_ERR_CORRUPT);
            told += status == MASU_ERR_CORRUPT;
            served += status == MASU_OK;
            assert_int_equal(masu_heap_valid(heap), told); /* which looks as well */
        }
        assert_int_equal(told, 1);
        for (int i = 0; i < served; i++)
            for (int k = 1; k < COUNT; k += 2)
                assert_ptr_not_equal(got[i], ptr[k]);
        for (int i = 0; i < served; i++)
            assert_int_equal(masu_heap_free(heap, got[i], bytes), MASU_OK);
        assert_int_equal(stats_of(heap).cached_bytes, cached);
        for (int i = 1; i < COUNT; i += 2)
            assert_int_equal(masu_heap_free(heap, ptr[i], bytes), MASU_OK);
        memset(ptr[0], 0, 16);
        assert_int_equal(masu_heap_trim(heap, 0), MASU_ERR_CORRUPT);
        assert_int_equal(masu_heap_trim(heap, 0), MASU_OK);
        assert_int_equal(stats_of(heap).reserved_bytes, 0);
        assert_int_equal(masu_heap_destroy(heap), MASU_OK);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_write_after_free_is_told_and_survived),
        cmocka_unit_test(blocks_of_before_are_known_as_to_their_class),
        cmocka_unit_test(blocks_of_after_are_known_exactly),
        cmocka_unit_test(prepared_slabs_hold_nothing),
#ifndef MASU_HEAVY
        cmocka_unit_test(a_wrong_free_of_before_is_found_by_the_switch),
#endif
        cmocka_unit_test(without_memory_nothing_changes),
        cmocka_unit_test(guarded_heaps_and_bare_devices_are_checked_always),
        cmocka_unit_test(every_live_block_is_met_once_whatever_is_switched),
        cmocka_unit_test(both_levels_tell_their_statistics),
        cmocka_unit_test(memory_idle_for_a_period_goes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
