/* Large blocks that grow by their pages: the contents come along, memory is not doubled, what fails changes nothing,
 * and what is freed goes back to the device at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <masu/alloc.h>
#include <masu/bestfit.h>
#include <masu/bucket.h>
#include <masu/check.h>
#include <masu/heap.h>
#include <masu/trace.h>

#include "base/annotate.h"
#include "base/rng.h"

enum { MIB = 1 << 20, PAGE = 4096 };

typedef struct held {
    unsigned char *at;
    size_t bytes;
    uint64_t mark;
} held;

/* A word at the beginning of each page and the last byte. */
static void mark(const held *h, size_t from) {
    for (size_t i = (from + PAGE - 1) / PAGE * PAGE; i + 8 <= h->bytes; i += PAGE)
        memcpy(h->at + i, &(uint64_t){h->mark + i}, 8);
    h->at[h->bytes - 1] = (unsigned char)h->mark;
}

static void look(const held *h, size_t bytes) {
    for (size_t i = 0; i + 8 <= bytes; i += PAGE) {
        uint64_t there;
        memcpy(&there, h->at + i, 8);
        if (i + 8 <= bytes - 1)
            assert_int_equal(there, h->mark + i);
    }
    assert_int_equal(h->at[bytes - 1], (unsigned char)h->mark);
}

static masu_heap *heap_over(masu_device *device, masu_trace *trace, size_t limit) {
    masu_heap *heap;
    masu_heap_config config = masu_heap_config_default();
    config.device = device;
    config.trace = trace;
    config.limit_bytes = limit;
    config.pool_bytes = 16 * MIB;
    assert_int_equal(masu_heap_create(&config, &heap), MASU_OK);
    return heap;
}

static uint64_t reserved(masu_heap *heap) {
    masu_heap_stats s;
    masu_heap_get_stats(heap, &s);
    assert_int_equal(s.live_bytes + s.cached_bytes + s.free_bytes + s.slack_bytes, s.reserved_bytes);
    return s.reserved_bytes;
}

static masu_status grow(masu_heap *heap, held *h, size_t bytes) {
    size_t before = h->bytes;
    void *now;
    masu_status status = masu_heap_realloc(heap, h->at, before, bytes, 0, &now);
    if (status != MASU_OK) {
        assert_null(now);
        look(h, before);
        return status;
    }
    *h = (held){now, bytes, h->mark};
    if (bytes > before)
        look(h, before);
    mark(h, (before < bytes ? before : bytes) / PAGE * PAGE);
    return MASU_OK;
}

static held start(masu_heap *heap, size_t bytes, uint64_t number) {
    void *ptr;
    assert_int_equal(masu_heap_alloc(heap, bytes, 0, &ptr), MASU_OK);
    held h = {ptr, bytes, number};
    mark(&h, 0);
    return h;
}

/* Copying would need both sizes at once: at the end 2.1 times as much. */
static void memory_is_not_doubled(void **state) {
    (void)state;
    masu_device *device;
    masu_device_stats s;
    assert_int_equal(masu_device_create_host(&device), MASU_OK);
    masu_heap *heap = heap_over(device, NULL, 0);
    held a = start(heap, 3 * MIB, 7), in_the_way = start(heap, 3 * MIB, 9);
    for (size_t bytes = 4 * MIB; bytes <= 128 * MIB; bytes += 4 * MIB)
        assert_int_equal(grow(heap, &a, bytes), MASU_OK);
    masu_device_get_stats(device, &s);
    if (!masu__annotate_wanted())
        assert_in_range(s.peak_bytes, 128 * MIB, 128 * MIB * 5 / 4);
    look(&in_the_way, in_the_way.bytes);
    masu_heap_stats had, has;
    void *now; /* a page's alignment is had in the same way, and the device is asked */
    assert_int_equal(masu_heap_realloc(heap, in_the_way.at, in_the_way.bytes, 9 * MIB, PAGE, &now), MASU_OK);
    masu_heap_get_stats(heap, &had);
    assert_int_equal(masu_heap_realloc(heap, now, 9 * MIB, 20 * MIB, PAGE, &now), MASU_OK);
    masu_heap_get_stats(heap, &has);
    in_the_way.at = now;
    look(&in_the_way, in_the_way.bytes);
    in_the_way.bytes = 20 * MIB;
    if (!masu__annotate_wanted())
        assert_true(has.device_allocations > had.device_allocations);
    uint64_t before = reserved(heap);
    assert_int_equal(masu_heap_free(heap, a.at, a.bytes), MASU_OK);
    if (!masu__annotate_wanted())
        assert_in_range(reserved(heap), 0, before - 128 * MIB); /* it is given back, not kept */
    assert_int_equal(masu_heap_free(heap, in_the_way.at, in_the_way.bytes), MASU_OK);
    assert_true(masu_heap_valid(heap));
    assert_int_equal(masu_heap_destroy(heap), MASU_OK);
    assert_int_equal(masu_device_destroy(device), MASU_OK);
}

/* Sizes up and down at random, of several blocks, beside small ones; a judge reads along. */
static void lives_at_random(void **state) {
    (void)state;
    enum { BLOCKS = 6, STEPS = 300 };
    masu_check *check;
    masu_trace *trace;
    masu_device *device;
    masu__rng rng;
    assert_int_equal(masu_check_create(&check), MASU_OK);
    masu_trace_config judged = {.sink = masu_check_sink, .sink_context = check, .start_on = true};
    assert_int_equal(masu_trace_create(&judged, &trace), MASU_OK);
    assert_int_equal(masu_device_create_host(&device), MASU_OK);
    masu_heap *heap = heap_over(device, trace, 0);
    held all[BLOCKS] = {{0}};
    masu__rng_seed(&rng, 23);
    for (int step = 0; step < STEPS; step++) {
        int i = (int)masu__rng_below(&rng, BLOCKS);
        size_t bytes = 1 + masu__rng_below(&rng, (uint32_t)MIB << masu__rng_below(&rng, 5));
        if (!all[i].at) {
            all[i] = start(heap, bytes, (uint64_t)step);
        } else if (masu__rng_below(&rng, 5) == 0) {
            assert_int_equal(masu_heap_free(heap, all[i].at, all[i].bytes), MASU_OK);
            all[i].at = NULL;
        } else {
            assert_int_equal(grow(heap, &all[i], bytes), MASU_OK);
        }
        (void)reserved(heap);
        if (step % 20 == 0)
            assert_true(masu_heap_valid(heap));
    }
    for (int i = 0; i < BLOCKS; i++)
        if (all[i].at)
            assert_int_equal(masu_heap_free(heap, all[i].at, all[i].bytes), MASU_OK);
    assert_true(masu_heap_valid(heap));
    assert_int_equal(masu_heap_destroy(heap), MASU_OK);
    assert_string_equal(masu_verdict_name(masu_check_verdict(check)), masu_verdict_name(0));
    masu_trace_destroy(trace);
    masu_check_destroy(check);
    assert_int_equal(masu_device_destroy(device), MASU_OK);
}

/* Every call of the device refused, once and from then on: a block is copied, or is what it was. */
static void a_refusal_loses_nothing(void **state) {
    (void)state;
    for (int repeat = 0; repeat < 2; repeat++)
        for (uint64_t nth = 1; nth < 9; nth++) {
            masu_device *device, *inner;
            assert_int_equal(masu_device_create_host(&inner), MASU_OK);
            assert_int_equal(masu_device_create_faulty(inner, &device), MASU_OK);
            masu_heap *heap = heap_over(device, NULL, 0);
            held a = start(heap, 2 * MIB, 5), b = start(heap, 5 * MIB, 6);
            assert_int_equal(masu_device_fail_as(device, MASU_ERR_OUT_OF_MEMORY), MASU_OK);
            assert_int_equal(masu_device_fail_at(device, nth, repeat), MASU_OK);
            for (size_t bytes = 4 * MIB; bytes <= 32 * MIB; bytes *= 2) {
                (void)grow(heap, &a, bytes);
                (void)grow(heap, &b, bytes + 3 * MIB + 77);
            }
            assert_true(masu_heap_valid(heap));
            assert_int_equal(masu_device_fail_at(device, 0, false), MASU_OK);
            look(&a, a.bytes);
            look(&b, b.bytes);
            assert_int_equal(masu_heap_free(heap, a.at, a.bytes), MASU_OK);
            assert_int_equal(masu_heap_free(heap, b.at, b.bytes), MASU_OK);
            assert_int_equal(masu_heap_destroy(heap), MASU_OK);
            assert_int_equal(masu_device_destroy(device), MASU_OK);
            assert_int_equal(masu_device_destroy(inner), MASU_OK);
        }
}

/* The room of an eighth is a wish: at the limit the block gets just what was asked for, and above it nothing. */
static void the_limit_holds(void **state) {
    (void)state;
    masu_device *device;
    masu_device_stats s;
    assert_int_equal(masu_device_create_host(&device), MASU_OK);
    masu_heap *heap = heap_over(device, NULL, 64 * MIB);
    held a = start(heap, 20 * MIB, 3); /* a device block of its own, that grows as one */
    assert_int_equal(grow(heap, &a, 40 * MIB), MASU_OK);
    assert_int_equal(grow(heap, &a, 62 * MIB), masu__annotate_wanted() ? MASU_ERR_LIMIT_REACHED : MASU_OK);
    assert_int_equal(grow(heap, &a, 64 * MIB), masu__annotate_wanted() ? MASU_ERR_LIMIT_REACHED : MASU_OK);
    assert_int_equal(grow(heap, &a, 65 * MIB), MASU_ERR_LIMIT_REACHED);
    masu_device_get_stats(device, &s);
    assert_in_range(s.peak_bytes, 0, 64 * MIB);
    assert_int_equal(masu_heap_free(heap, a.at, a.bytes), MASU_OK);
    assert_int_equal(masu_heap_destroy(heap), MASU_OK);
    assert_int_equal(masu_device_destroy(device), MASU_OK);
}

/* An alignment above the device's, a small step, and half of it back. */
static void other_ways(void **state) {
    (void)state;
    masu_heap *heap = heap_over(NULL, NULL, 0);
    held a = start(heap, 3 * MIB, 1), b = start(heap, 3 * MIB, 2);
    void *aligned;
    assert_int_equal(masu_heap_realloc(heap, a.at, a.bytes, 9 * MIB, MIB, &aligned), MASU_OK);
    assert_int_equal((uintptr_t)aligned % MIB, 0);
    a.at = aligned;
    look(&a, a.bytes);
    a.bytes = 9 * MIB;
    mark(&a, 0);
    for (int i = 1; i <= 2000; i++)
        assert_int_equal(grow(heap, &b, 3 * MIB + (size_t)i * 8), MASU_OK);
    assert_int_equal(grow(heap, &b, 40 * MIB), MASU_OK);
    assert_int_equal(grow(heap, &b, 5 * MIB), MASU_OK);
    assert_int_equal(grow(heap, &b, 50 * MIB), MASU_OK);
    look(&a, a.bytes);
    assert_int_equal(masu_heap_free(heap, a.at, a.bytes), MASU_OK);
    assert_int_equal(masu_heap_free(heap, b.at, b.bytes), MASU_OK);
    assert_true(masu_heap_valid(heap));
    assert_int_equal(masu_heap_destroy(heap), MASU_OK);
}

/* The process-wide pool: with the size and without, several in turns; a stale address is refused. */
static void the_process_too(void **state) {
    (void)state;
    enum { BLOCKS = 3 };
    held all[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
        all[i] = (held){masu_alloc(2 * MIB + 100), 2 * MIB + 100, 100 + (uint64_t)i};
        mark(&all[i], 0);
    }
    for (size_t bytes = 3 * MIB; bytes < 90 * MIB; bytes += bytes / 3)
        for (int i = 0; i < BLOCKS; i++) {
            size_t before = all[i].bytes;
            void *old = all[i].at, *now = i == 1 ? masu_realloc(old, before, bytes) : masu_realloc_unsized(old, bytes);
            assert_non_null(now);
            all[i] = (held){now, bytes, all[i].mark};
            look(&all[i], before);
            mark(&all[i], before);
            assert_true(masu_usable_size(now) >= bytes);
            if (now != old)
                assert_int_equal(masu_usable_size(old), 0);
        }
    assert_true(masu_valid());
    masu_heap_stats s;
    masu_get_stats(&s);
    uint64_t before = s.reserved_bytes;
    for (int i = 0; i < BLOCKS; i++)
        assert_int_equal(i == 1 ? masu_free(all[i].at, all[i].bytes) : masu_free_unsized(all[i].at), MASU_OK);
    masu_get_stats(&s);
    if (!masu__annotate_wanted())
        assert_true(s.reserved_bytes < before - 150 * (uint64_t)MIB);
    assert_true(masu_valid());
}

/* Two in turns: what has a device block of its own stays there, also where its size fits and its class would not. */
static void no_copy_is_ever_live(void **state) {
    (void)state;
    masu_heap_stats s;
    held a = {masu_alloc(2 * MIB), 2 * MIB, 1}, b = {masu_alloc(2 * MIB), 2 * MIB, 2};
    masu_trim(0);
    masu_reset_peaks();
    masu_get_stats(&s);
    uint64_t before = s.live_bytes;
    for (size_t bytes = 3 * MIB; bytes <= 64 * MIB; bytes += MIB) {
        a.at = masu_realloc_unsized(a.at, bytes);
        b.at = masu_realloc(b.at, b.bytes, bytes);
        assert_true(a.at && b.at);
        a.bytes = b.bytes = bytes;
    }
    masu_get_stats(&s);
    if (!masu__annotate_wanted())
        assert_in_range(s.peak_bytes, 0, before + 2 * 64 * (uint64_t)MIB * 11 / 10);
    assert_int_equal(masu_free_unsized(a.at), MASU_OK);
    assert_int_equal(masu_free(b.at, b.bytes), MASU_OK);
    assert_true(masu_valid());
}

/* A pool that keeps all it has, and a device without the means, copy. */
static void who_cannot_copies(void **state) {
    (void)state;
    masu_device *device;
    masu_device_stats s;
    masu_bestfit *pool;
    assert_int_equal(masu_device_create_host(&device), MASU_OK);
    masu_bestfit_config config = masu_bestfit_config_default(device);
    config.pool_bytes = config.initial_bytes = 4 * MIB;
    config.policy = MASU_POOL_PERSISTENT;
    assert_int_equal(masu_bestfit_create(&config, &pool), MASU_OK);
    void *ptr, *now;
    assert_int_equal(masu_bestfit_alloc(pool, 4 * MIB, 0, 0, &ptr), MASU_OK);
    memset(ptr, 42, 4 * MIB);
    assert_int_equal(masu_bestfit_realloc(pool, ptr, 16 * MIB, 0, &now), MASU_OK);
    assert_int_equal(((unsigned char *)now)[4 * MIB - 1], 42);
    assert_int_equal(masu_bestfit_free(pool, now), MASU_OK);
    masu_device_get_stats(device, &s);
    assert_in_range(s.live_bytes, 20 * MIB, 64 * MIB);
    assert_int_equal(masu_bestfit_destroy(pool), MASU_OK);
    assert_int_equal(masu_device_destroy(device), MASU_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_not_doubled),
        cmocka_unit_test(lives_at_random),
        cmocka_unit_test(a_refusal_loses_nothing),
        cmocka_unit_test(the_limit_holds),
        cmocka_unit_test(other_ways),
        cmocka_unit_test(the_process_too),
        cmocka_unit_test(no_copy_is_ever_live),
        cmocka_unit_test(who_cannot_copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
