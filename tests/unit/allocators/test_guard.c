/* Guarded mode (rows B3, B4), the out-of-memory callback, and leaks told by place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <masu/masu.h>

#include "base/annotate.h"
#include "base/meta.h"

enum { MIB = 1 << 20 };

static masu_heap *open_guarded(size_t quarantine_bytes) {
    masu_heap_config config = masu_heap_config_default();
    config.guarded = true;
    config.quarantine_bytes = quarantine_bytes;
    masu_heap *heap;
    assert_int_equal(masu_heap_create(&config, &heap), MASU_OK);
    return heap;
}

static unsigned char *take_at(masu_heap *heap, size_t bytes, const masu_place *place) {
    void *ptr;
    assert_int_equal(masu_heap_alloc_at(heap, bytes, 0, place, &ptr), MASU_OK);
    return ptr;
}

static masu_fault fault_of(masu_heap *heap) {
    masu_fault fault;
    masu_heap_get_fault(heap, &fault);
    return fault;
}

static void b03_b04_each_wrong_free_by_its_own_status(void **state) {
    (void)state;
    static const size_t sizes[] = {1, 64, 100, 16384, 20000, MIB};
    masu_heap *heap = open_guarded(4 * MIB);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t bytes = sizes[i];
        masu_place born = {"born.c", 10 + (int)i}, died = {"died.c", 20 + (int)i};
        unsigned char *ptr = take_at(heap, bytes, &born);
        unsigned char stack;
        assert_int_equal((uintptr_t)ptr % 64, 0);
        assert_int_equal(ptr[0], 0xcd);
        assert_int_equal(masu_heap_free(heap, ptr, bytes + 1), MASU_ERR_SIZE_MISMATCH);
        assert_int_equal(fault_of(heap).allocated.line, born.line);
        assert_int_equal(fault_of(heap).block_bytes, bytes);
        assert_int_equal(masu_heap_free(heap, &stack, bytes), MASU_ERR_FOREIGN_POINTER);
        if (bytes > 1)
            assert_int_equal(masu_heap_free(heap, ptr + bytes / 2, bytes), MASU_ERR_INTERIOR_POINTER);
        assert_int_equal(masu_heap_free_at(heap, ptr, bytes, &died), MASU_OK);
        assert_int_equal(masu_heap_free_at(heap, ptr, bytes, MASU_HERE), MASU_ERR_DOUBLE_FREE);
        masu_fault fault = fault_of(heap);
        assert_ptr_equal(fault.block, ptr);
        assert_string_equal(fault.allocated.file, "born.c");
        assert_string_equal(fault.freed.file, "died.c");
        assert_int_equal(fault.freed.line, died.line);
        assert_string_equal(fault.here.file, __FILE__);
        assert_true(masu_heap_valid(heap));
    }
    assert_int_equal(masu_heap_destroy(heap), MASU_OK);
    assert_int_equal(masu__meta_live_bytes(), 0);
}

/* Into a block that is freed and held, live, freed and gone: the first is freed twice, the second is interior, the
 * third is not known any more or another block's; never one block's name for another. */
static void a_pointer_into_a_block_names_its_state(void **state) {
    (void)state;
    static const size_t sizes[] = {16, 500, 5000, 40000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        masu_heap *heap = open_guarded(MIB);
        unsigned char *live = take_at(heap, sizes[i], &(masu_place){"live.c", 1});
        unsigned char *held = take_at(heap, sizes[i], &(masu_place){"held.c", 2});
        unsigned char *last = take_at(heap, sizes[i], &(masu_place){"last.c", 3});
        assert_int_equal(masu_heap_free_at(heap, held, sizes[i], &(masu_place){"free.c", 4}), MASU_OK);
        for (size_t at = 1; at < sizes[i]; at += sizes[i] / 3) {
            assert_int_equal(masu_heap_free(heap, held + at, sizes[i]), MASU_ERR_DOUBLE_FREE);
            assert_ptr_equal(fault_of(heap).block, held);
            assert_string_equal(fault_of(heap).allocated.file, "held.c");
            assert_string_equal(fault_of(heap).freed.file, "free.c");
            assert_int_equal(masu_heap_free(heap, live + at, sizes[i]), MASU_ERR_INTERIOR_POINTER);
            assert_ptr_equal(fault_of(heap).block, live);
            assert_int_equal(masu_heap_free(heap, last + at, sizes[i]), MASU_ERR_INTERIOR_POINTER);
            assert_ptr_equal(fault_of(heap).block, last);
            assert_null(fault_of(heap).freed.file);
        }
        assert_int_equal(masu_heap_free(heap, live, sizes[i]), MASU_OK);
        assert_int_equal(masu_heap_free(heap, last, sizes[i]), MASU_OK);
        assert_int_equal(masu_heap_destroy(heap), MASU_OK);
    }
}

static void a_byte_before_or_behind_is_seen(void **state) {
    (void)state;
    masu_heap *heap = open_guarded(MIB);
    for (int side = 0; side < 2; side++)
        for (size_t bytes = 1; bytes < 40000; bytes = bytes * 3 + 1) {
            unsigned char *ptr = take_at(heap, bytes, NULL);
            unsigned char *victim = side ? ptr + bytes : ptr - 1, before = *victim;
            *victim = (unsigned char)~before;
            assert_false(masu_heap_valid(heap));
            assert_int_equal(masu_heap_free(heap, ptr, bytes), MASU_ERR_CORRUPT);
            assert_ptr_equal(fault_of(heap).block, ptr);
            assert_int_equal(masu_heap_free(heap, ptr, bytes), MASU_OK);
            assert_true(masu_heap_valid(heap));
        }
    assert_int_equal(masu_heap_destroy(heap), MASU_OK);
}

static void a_write_after_free_is_seen_when_the_block_leaves(void **state) {
    (void)state;
    masu_heap *heap = open_guarded(64 * 1024);
    unsigned char *ptr = take_at(heap, 500, &(masu_place){"here.c", 5});
    assert_int_equal(masu_heap_free(heap, ptr, 500), MASU_OK);
    assert_int_equal(ptr[100], 0xdd);
    ptr[100] = 0;
    assert_false(masu_heap_valid(heap));
    for (int i = 0; i < 200; i++)
        assert_int_equal(masu_heap_free(heap, take_at(heap, 1000, NULL), 1000), MASU_OK);
    assert_int_equal(fault_of(heap).status, MASU_ERR_CORRUPT);
    assert_ptr_equal(fault_of(heap).block, ptr);
    assert_int_equal(fault_of(heap).allocated.line, 5);
    assert_true(masu_heap_valid(heap));
    assert_int_equal(masu_heap_destroy(heap), MASU_OK);
}

/* A heap for each request, the use that has no time for a trim. */
static void a_write_after_free_is_seen_at_destroy(void **state) {
    (void)state;
    static const size_t sizes[] = {1, 64, 1000, 16384, 20000, 3 * MIB};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int wrong = 0; wrong < 4; wrong++) {
            masu_heap *heap = open_guarded(16 * MIB);
            unsigned char *freed = take_at(heap, sizes[i], MASU_HERE);
            unsigned char *other = take_at(heap, sizes[i], MASU_HERE);
            assert_int_equal(masu_heap_free(heap, freed, sizes[i]), MASU_OK);
            if (wrong == 1)
                freed[sizes[i] - 1] ^= 1;
            if (wrong == 2)
                other[sizes[i]] ^= 1; /* live, and written behind its end */
            if (wrong < 2)
                assert_int_equal(masu_heap_free(heap, other, sizes[i]), MASU_OK);
            assert_int_equal(masu_heap_destroy(heap), wrong == 0   ? MASU_OK
                                                      : wrong == 3 ? MASU_ERR_LEAK
                                                                   : MASU_ERR_CORRUPT);
            assert_int_equal(masu__meta_live_bytes(), 0);
        }
}

/* Even when the block has left the quarantine. */
static void a_write_long_after_free_never_crashes(void **state) {
    (void)state;
    if (MASU__ASAN)
        skip(); /* the sanitizer is first to tell of the write */
    masu_heap *heap = open_guarded(1);
    unsigned char *freed = take_at(heap, 100, MASU_HERE), *next = take_at(heap, 100, MASU_HERE);
    assert_int_equal(masu_heap_free(heap, freed, 100), MASU_OK);
    assert_int_equal(masu_heap_free(heap, next, 100), MASU_OK); /* pushes the first one out */
    memset(freed - 64, 0x41, 200);
    masu_status seen = MASU_OK;
    for (int i = 0; i < 100; i++) {
        void *ptr;
        masu_status status = masu_heap_alloc_at(heap, 100, 0, MASU_HERE, &ptr);
        seen = status == MASU_OK ? seen : status;
    }
    assert_int_equal(seen, MASU_ERR_CORRUPT);
    assert_int_equal(fault_of(heap).status, MASU_ERR_CORRUPT);
    assert_true(masu_heap_valid(heap));
    assert_int_equal(masu_heap_destroy(heap), MASU_ERR_LEAK);
}

static void the_quarantine_is_bounded_and_delays_reuse(void **state) {
    (void)state;
    masu_heap *heap = open_guarded(64 * 1024);
    unsigned char *first = take_at(heap, 1000, NULL);
    assert_int_equal(masu_heap_free(heap, first, 1000), MASU_OK);
    for (int i = 0; i < 10; i++) {
        unsigned char *next = take_at(heap, 1000, NULL);
        assert_ptr_not_equal(next, first);
        assert_int_equal(masu_heap_free(heap, next, 1000), MASU_OK);
    }
    masu_heap_stats s;
    masu_heap_get_stats(heap, &s);
    assert_int_equal(s.live_bytes, 0);
    assert_int_equal(s.allocations, 11);
    assert_int_equal(s.live_bytes + s.cached_bytes + s.free_bytes + s.slack_bytes, s.reserved_bytes);
    assert_int_equal(masu_heap_trim(heap, 0), MASU_OK);
    masu_heap_get_stats(heap, &s);
    assert_int_equal(s.reserved_bytes, 0);
    assert_int_equal(masu_heap_free(heap, first, 1000), MASU_ERR_DOUBLE_FREE);
    assert_int_equal(masu_heap_destroy(heap), MASU_OK);
}

static void guarded_blocks_keep_every_alignment(void **state) {
    (void)state;
    masu_heap *heap = open_guarded(MIB);
    for (size_t alignment = 1; alignment <= 2 * MIB; alignment *= 2) {
        void *ptr;
        assert_int_equal(masu_heap_alloc(heap, 1000, alignment, &ptr), MASU_OK);
        assert_int_equal((uintptr_t)ptr % alignment, 0);
        size_t bytes;
        assert_int_equal(masu_heap_size_of(heap, ptr, &bytes), MASU_OK);
        assert_int_equal(bytes, 1000);
        assert_int_equal(masu_heap_free_unsized(heap, ptr), MASU_OK);
    }
    void *ptr;
    assert_int_equal(masu_heap_alloc(heap, 1000, 3, &ptr), MASU_ERR_INVALID_ARGUMENT);
    for (size_t k = 0; k <= 4096; k++)
        assert_int_not_equal(masu_heap_alloc(heap, SIZE_MAX - k, 64, &ptr), MASU_OK);
    assert_true(masu_heap_valid(heap));
    assert_int_equal(masu_heap_destroy(heap), MASU_OK);
}

static void memory_without_access_is_guarded_by_records(void **state) {
    (void)state;
    masu_device *device;
    masu_heap *heap;
    assert_int_equal(masu_device_create_null(0, &device), MASU_OK);
    masu_heap_config config = masu_heap_config_default();
    config.device = device;
    config.guarded = true;
    assert_int_equal(masu_heap_create(&config, &heap), MASU_OK);
    unsigned char *ptr = take_at(heap, 1000, MASU_HERE);
    assert_int_equal(masu_heap_free(heap, ptr + 64, 1000), MASU_ERR_INTERIOR_POINTER);
    assert_int_equal(masu_heap_free(heap, ptr, 999), MASU_ERR_SIZE_MISMATCH);
    assert_int_equal(masu_heap_free(heap, ptr, 1000), MASU_OK);
    assert_int_equal(masu_heap_free(heap, ptr, 1000), MASU_ERR_DOUBLE_FREE);
    assert_int_equal(masu_heap_destroy(heap), MASU_OK);
    assert_int_equal(masu_device_destroy(device), MASU_OK);
}

typedef struct leaks {
    size_t count, bytes;
    int line;
} leaks;

static bool count_leak(void *context, const masu_heap_block *block) {
    leaks *l = context;
    l->count++;
    l->bytes += block->bytes;
    l->line = block->allocated.line;
    return true;
}

static void leaks_are_told_with_their_place(void **state) {
    (void)state;
    leaks l = {0};
    masu_heap_config config = masu_heap_config_default();
    config.guarded = true;
    config.leaked = count_leak;
    config.leaked_context = &l;
    masu_heap *heap;
    assert_int_equal(masu_heap_create(&config, &heap), MASU_OK);
    take_at(heap, 100, &(masu_place){"a.c", 1});
    take_at(heap, 50000, &(masu_place){"b.c", 2});
    assert_int_equal(masu_heap_destroy(heap), MASU_ERR_LEAK);
    assert_int_equal(l.count, 2);
    assert_int_equal(l.bytes, 50100);
    assert_int_equal(l.line, 2);
    assert_int_equal(masu__meta_live_bytes(), 0);
}

/* ---- out of memory --------------------------------------------------------------------------- */

typedef struct reserve {
    masu_heap *heap;
    void *block;
    size_t bytes;
    unsigned calls;
    size_t shortfall;
} reserve;

static bool free_the_reserve(void *context, size_t shortfall_bytes) {
    reserve *r = context;
    r->calls++;
    r->shortfall = shortfall_bytes;
    if (!r->block)
        return false;
    assert_int_equal(masu_heap_free(r->heap, r->block, r->bytes), MASU_OK);
    r->block = NULL;
    return true;
}

static void the_callback_is_asked_once_and_then_one_try_follows(void **state) {
    (void)state;
    for (int safe = 0; safe < 2; safe++) {
        reserve r = {.bytes = 6 * MIB};
        masu_heap_config config = masu_heap_config_default();
        config.thread_safe = safe;
        config.pool_bytes = config.initial_bytes = MIB;
        config.limit_bytes = 10 * MIB;
        config.oom = free_the_reserve;
        config.oom_context = &r;
        assert_int_equal(masu_heap_create(&config, &r.heap), MASU_OK);
        assert_int_equal(masu_heap_alloc(r.heap, r.bytes, 0, &r.block), MASU_OK);
        void *more;
        masu_heap_stats before, after;
        masu_heap_get_stats(r.heap, &before);
        assert_int_equal(masu_heap_alloc(r.heap, 8 * MIB, 0, &more), MASU_OK);
        assert_int_equal(r.calls, 1);
        assert_int_equal(r.shortfall, 8 * MIB);
        void *refused = &r;
        assert_int_equal(masu_heap_alloc(r.heap, 8 * MIB, 0, &refused), MASU_ERR_LIMIT_REACHED);
        assert_null(refused);
        assert_int_equal(r.calls, 2);
        masu_heap_get_stats(r.heap, &after);
        assert_int_equal(after.failures, before.failures + 1);
        assert_true(masu_heap_valid(r.heap));
        assert_int_equal(masu_heap_free(r.heap, more, 8 * MIB), MASU_OK);
        assert_int_equal(masu_heap_destroy(r.heap), MASU_OK);
    }
}

static void own_caches_go_before_anybody_is_asked(void **state) {
    (void)state;
    reserve r = {0};
    masu_heap_config config = masu_heap_config_default();
    config.pool_bytes = config.initial_bytes = MIB;
    config.limit_bytes = 8 * MIB;
    config.oom = free_the_reserve;
    config.oom_context = &r;
    assert_int_equal(masu_heap_create(&config, &r.heap), MASU_OK);
    enum { COUNT = 300 };
    static void *small[COUNT];
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(masu_heap_alloc(r.heap, 16384, 0, &small[i]), MASU_OK);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(masu_heap_free(r.heap, small[i], 16384), MASU_OK);
    void *large;
    assert_int_equal(masu_heap_alloc(r.heap, 7 * MIB, 0, &large), MASU_OK);
    assert_int_equal(r.calls, 0);
    masu_heap_stats s;
    masu_heap_get_stats(r.heap, &s);
    assert_int_equal(s.failures, 0);
    assert_int_equal(masu_heap_free(r.heap, large, 7 * MIB), MASU_OK);
    assert_int_equal(masu_heap_destroy(r.heap), MASU_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(b03_b04_each_wrong_free_by_its_own_status),
        cmocka_unit_test(a_pointer_into_a_block_names_its_state),
        cmocka_unit_test(a_byte_before_or_behind_is_seen),
        cmocka_unit_test(a_write_after_free_is_seen_when_the_block_leaves),
        cmocka_unit_test(a_write_after_free_is_seen_at_destroy),
        cmocka_unit_test(a_write_long_after_free_never_crashes),
        cmocka_unit_test(the_quarantine_is_bounded_and_delays_reuse),
        cmocka_unit_test(guarded_blocks_keep_every_alignment),
        cmocka_unit_test(memory_without_access_is_guarded_by_records),
        cmocka_unit_test(leaks_are_told_with_their_place),
        cmocka_unit_test(the_callback_is_asked_once_and_then_one_try_follows),
        cmocka_unit_test(own_caches_go_before_anybody_is_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
