/* Arenas: a pointer that moves, and one common end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <masu/alloc.h>
#include <masu/arena.h>
#include <masu/check.h>

#include "base/meta.h"
#include "base/rng.h"

enum { KIB = 1 << 10 };

static masu_arena *arena_of(masu_arena_config config) {
    masu_arena *arena;
    config.struct_bytes = sizeof config;
    assert_int_equal(masu_arena_create(&config, &arena), MASU_OK);
    return arena;
}

static masu_arena_stats stats_of(masu_arena *arena) {
    masu_arena_stats s;
    masu_arena_get_stats(arena, &s);
    assert_true(s.used_bytes <= s.reserved_bytes && s.used_bytes <= s.peak_used_bytes);
    return s;
}

static void test_blocks_lie_apart_and_aligned(void **state) {
    (void)state;
    masu_arena *arena = arena_of((masu_arena_config){.block_bytes = 4 * KIB});
    masu__rng rng;
    masu__rng_seed(&rng, 7);
    unsigned char *blocks[300];
    size_t sizes[300];
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 300; i++) {
            size_t alignment = (size_t)1 << masu__rng_below(&rng, 13);
            sizes[i] = 1 + masu__rng_below(&rng, 900);
            blocks[i] = masu_arena_alloc(arena, sizes[i], alignment);
            assert_non_null(blocks[i]);
            assert_int_equal((uintptr_t)blocks[i] % alignment, 0);
            memset(blocks[i], i, sizes[i]);
        }
        for (int i = 0; i < 300; i++)
            for (size_t k = 0; k < sizes[i]; k++)
                assert_int_equal(blocks[i][k], (unsigned char)i);
        masu_arena_reset(arena);
        assert_int_equal(stats_of(arena).used_bytes, 0);
    }
    assert_true(stats_of(arena).pieces <= 2);
    assert_int_equal(masu_arena_destroy(arena), MASU_OK);
}

static void test_after_a_reset_one_piece_serves_all(void **state) {
    (void)state;
    masu_arena *arena = arena_of((masu_arena_config){.block_bytes = KIB});
    for (int i = 0; i < 1000; i++)
        assert_non_null(masu_arena_alloc(arena, 100, 4));
    assert_true(stats_of(arena).pieces > 3);
    masu_arena_reset(arena);
    for (int period = 0; period < 3; period++) {
        for (int i = 0; i < 1000; i++)
            assert_non_null(masu_arena_alloc(arena, 100, 4));
        assert_int_equal(stats_of(arena).pieces, 1);
        masu_arena_reset(arena);
    }
    assert_int_equal(masu_arena_trim(arena), MASU_OK);
    assert_int_equal(stats_of(arena).reserved_bytes, 0);
    assert_int_equal(masu_arena_destroy(arena), MASU_OK);
}

static void test_marks(void **state) {
    (void)state;
    masu_arena *arena = arena_of((masu_arena_config){.block_bytes = KIB});
    masu_arena_mark empty = masu_arena_here(arena);
    char *first = masu_arena_alloc(arena, 10, 1);
    masu_arena_mark mark = masu_arena_here(arena);
    char *second = masu_arena_alloc(arena, 10, 1);
    for (int i = 0; i < 100; i++)
        assert_non_null(masu_arena_alloc(arena, 500, 0));
    masu_arena_mark far = masu_arena_here(arena);
    assert_int_equal(masu_arena_release(arena, mark), MASU_OK);
    assert_ptr_equal(masu_arena_alloc(arena, 10, 1), second);
    assert_int_equal(masu_arena_release(arena, far), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(masu_arena_release(arena, mark), MASU_OK);
    assert_int_equal(masu_arena_release(arena, empty), MASU_OK);
    assert_int_equal(stats_of(arena).used_bytes, 0);
    assert_ptr_not_equal(masu_arena_alloc(arena, 10, 1), NULL);
    (void)first;
    masu_arena_reset(arena);
    assert_int_equal(masu_arena_release(arena, mark), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(masu_arena_destroy(arena), MASU_OK);
}

static void test_refusals_say_why(void **state) {
    (void)state;
    void *out = &out;
    masu_arena *arena = arena_of((masu_arena_config){.limit_bytes = 10 * KIB, .block_bytes = 4 * KIB});
    assert_int_equal(masu_arena_try(arena, 0, 0, &out), MASU_OK);
    assert_null(out);
    assert_null(masu_arena_alloc(arena, 0, 0));
    assert_int_equal(masu_arena_try(arena, 8, 3, &out), MASU_ERR_INVALID_ARGUMENT);
    assert_null(masu_arena_alloc(arena, 8, 48));
    assert_int_equal(masu_arena_try(arena, SIZE_MAX, 0, &out), MASU_ERR_OVERFLOW);
    assert_int_equal(masu_arena_try(arena, 11 * KIB, 0, &out), MASU_ERR_LIMIT_REACHED);
    assert_int_equal(masu_arena_try(arena, 10 * KIB, 0, &out), MASU_OK); /* reached exactly */
    assert_int_equal(masu_arena_try(arena, 1, 1, &out), MASU_ERR_LIMIT_REACHED);
    masu_arena_reset(arena);
    assert_non_null(masu_arena_alloc(arena, 10 * KIB, 0));
    assert_int_equal(masu_arena_destroy(arena), MASU_OK);

    masu_arena_config later[2] = {{.struct_bytes = sizeof later}};
    assert_int_equal(masu_arena_create(later, &arena), MASU_OK);
    assert_int_equal(masu_arena_destroy(arena), MASU_OK);
    later[1].block_bytes = 1;
    assert_int_equal(masu_arena_create(later, &arena), MASU_ERR_UNSUPPORTED);
    assert_null(arena);
    masu_arena_config wrong = {.struct_bytes = sizeof wrong, .memory_bytes = 5};
    assert_int_equal(masu_arena_create(&wrong, &arena), MASU_ERR_INVALID_ARGUMENT);
    wrong = (masu_arena_config){.struct_bytes = 3};
    assert_int_equal(masu_arena_create(&wrong, &arena), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(masu_arena_create(NULL, NULL), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(masu_arena_destroy(NULL), MASU_OK);
}

static void test_memory_of_the_caller_is_not_touched(void **state) {
    (void)state;
    masu_arena *arena = arena_of((masu_arena_config){.memory = (void *)0x100000, .memory_bytes = 1000});
    assert_ptr_equal(masu_arena_alloc(arena, 100, 1), (void *)0x100000);
    assert_ptr_equal(masu_arena_alloc(arena, 100, 256), (void *)0x100100);
    assert_null(masu_arena_alloc(arena, 700, 1));
    assert_non_null(masu_arena_alloc(arena, 644, 1));
    assert_null(masu_arena_alloc(arena, 1, 1));
    masu_arena_reset(arena);
    assert_ptr_equal(masu_arena_alloc(arena, 1000, 1), (void *)0x100000);
    assert_int_equal(masu_arena_destroy(arena), MASU_OK);
}

static void test_over_a_device_of_sizes(void **state) {
    (void)state;
    masu_device *device;
    masu_heap *heap;
    assert_int_equal(masu_device_create_null(1 << 20, &device), MASU_OK);
    masu_heap_config config = masu_heap_config_default();
    config.device = device;
    config.pool_bytes = 256 * KIB;
    assert_int_equal(masu_heap_create(&config, &heap), MASU_OK);
    masu_arena *arena = arena_of((masu_arena_config){.heap = heap});
    size_t taken = 0;
    while (masu_arena_alloc(arena, 4 * KIB, 256))
        taken += 4 * KIB;
    assert_true(taken >= 900 * KIB); /* what cannot be doubled is still had */
    void *out;
    assert_int_equal(masu_arena_try(arena, 4 * KIB, 256, &out), MASU_ERR_OUT_OF_MEMORY);
    masu_ring *ring;
    masu_ring_config ring_config = {.struct_bytes = sizeof ring_config, .bytes = 64 * KIB, .heap = heap};
    assert_int_equal(masu_ring_create(&ring_config, &ring), MASU_ERR_OUT_OF_MEMORY);
    masu_arena_reset(arena);
    assert_int_equal(masu_arena_trim(arena), MASU_OK);
    assert_int_equal(masu_ring_create(&ring_config, &ring), MASU_OK);
    assert_non_null(masu_ring_alloc(ring, 64 * KIB, 64));
    assert_int_equal(masu_ring_destroy(ring), MASU_OK);
    assert_int_equal(masu_arena_destroy(arena), MASU_OK);
    assert_int_equal(masu_heap_destroy(heap), MASU_OK);
    assert_int_equal(masu_device_destroy(device), MASU_OK);
}

/* The one piece for all that a reset asks for is wished for once: where it is refused, pieces double from what
 * there is. */
static void test_a_refused_wish_is_not_repeated(void **state) {
    (void)state;
    masu_device *device;
    masu_heap *heap;
    void *rest;
    assert_int_equal(masu_device_create_null(1 << 20, &device), MASU_OK);
    masu_heap_config config = masu_heap_config_default();
    config.device = device;
    assert_int_equal(masu_heap_create(&config, &heap), MASU_OK);
    masu_arena *arena = arena_of((masu_arena_config){.heap = heap, .block_bytes = 4 * KIB});
    for (int i = 0; i < 100; i++)
        assert_non_null(masu_arena_alloc(arena, 4 * KIB, 64));
    masu_arena_reset(arena);
    assert_int_equal(masu_heap_alloc(heap, 800 * KIB, 0, &rest), MASU_OK);
    assert_non_null(masu_arena_alloc(arena, KIB, 64));
    assert_int_equal(stats_of(arena).reserved_bytes, KIB);
    assert_non_null(masu_arena_alloc(arena, KIB, 64));
    assert_int_equal(stats_of(arena).reserved_bytes, KIB + 4 * KIB);
    assert_int_equal(masu_arena_destroy(arena), MASU_OK);
    assert_int_equal(masu_heap_free(heap, rest, 800 * KIB), MASU_OK);
    assert_int_equal(masu_heap_destroy(heap), MASU_OK);
    assert_int_equal(masu_device_destroy(device), MASU_OK);
}

static void test_failing_memory_changes_nothing(void **state) {
    (void)state;
    masu_trace *trace;
    assert_int_equal(masu_trace_create(&(masu_trace_config){.start_on = true}, &trace), MASU_OK);
    for (uint64_t nth = 1; nth < 80; nth++) {
        masu_arena *arena = NULL;
        masu_arena_config traced = {.struct_bytes = sizeof traced, .trace = trace};
        masu__fault_arm(nth / 2);
        if (masu_arena_create(nth % 2 ? &traced : NULL, &arena) == MASU_OK) {
            for (int i = 0; i < 20; i++) {
                void *out;
                masu_arena_stats before = stats_of(arena);
                if (masu_arena_try(arena, 200 * KIB, 0, &out) != MASU_OK)
                    assert_int_equal(stats_of(arena).used_bytes, before.used_bytes);
            }
        }
        masu__fault_arm(0);
        assert_int_equal(masu_arena_destroy(arena), MASU_OK);
    }
    masu_trace_destroy(trace);
    assert_int_equal(masu_trim(0), MASU_OK);
}

/* ---- what a trace is told ------------------------------------------------------------------------------------ */

typedef struct listener {
    masu_check *judge;
    uint64_t counts[MASU_EVENT_KIND_COUNT];
} listener;

static void listen(void *context, const masu_event *event) {
    listener *l = context;
    masu_check_sink(l->judge, event);
    l->counts[event->kind]++;
}

static masu_trace *trace_for(listener *l) {
    masu_trace *trace;
    *l = (listener){0};
    assert_int_equal(masu_check_create(&l->judge), MASU_OK);
    masu_trace_config config = {.sink = listen, .sink_context = l, .start_on = true};
    assert_int_equal(masu_trace_create(&config, &trace), MASU_OK);
    return trace;
}

static void judged(listener *l, masu_trace *trace) {
    assert_string_equal(masu_verdict_name(masu_check_verdict(l->judge)), masu_verdict_name(MASU_VERDICT_FINE));
    masu_check_destroy(l->judge);
    masu_trace_destroy(trace);
}

/* The judge sees the heap below and the arena: blocks lie in its pieces, apart from each other, and all end. */
static void test_a_trace_is_told_of_every_block(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 12; seed++) {
        listener l;
        masu_trace *trace = trace_for(&l);
        masu_heap *heap = NULL;
        static char memory[64 * KIB];
        masu_heap_config heap_config = masu_heap_config_default();
        heap_config.trace = trace;
        masu_arena_config config = {.block_bytes = 2 * KIB, .trace = trace, .name = "step"};
        if (seed % 3 == 0) {
            config.memory = memory;
            config.memory_bytes = sizeof memory;
        } else if (seed % 3 == 1) {
            assert_int_equal(masu_heap_create(&heap_config, &heap), MASU_OK);
            config.heap = heap;
            config.limit_bytes = 48 * KIB;
        }
        masu_arena *arena = arena_of(config);
        masu_arena_mark marks[8];
        unsigned depth = 0;
        uint64_t served = 0, refused = 0;
        masu__rng rng;
        masu__rng_seed(&rng, seed);
        for (int i = 0; i < 3000; i++) {
            unsigned what = (unsigned)masu__rng_below(&rng, 40);
            if (what == 0) {
                masu_arena_reset(arena);
                depth = 0;
            } else if (what == 1) {
                assert_int_equal(masu_arena_trim(arena), MASU_OK);
                depth = 0; /* marks may be of the piece that went */
            } else if (what < 5 && depth < 8) {
                marks[depth++] = masu_arena_here(arena);
            } else if (what < 9 && depth > 0) {
                assert_int_equal(masu_arena_release(arena, marks[--depth]), MASU_OK);
            } else {
                size_t bytes = 1 + masu__rng_below(&rng, 900);
                bool got = masu_arena_alloc(arena, bytes, (size_t)1 << masu__rng_below(&rng, 8)) != NULL;
                served += got;
                refused += !got;
            }
        }
        assert_int_equal(masu_check_verdict(l.judge), MASU_VERDICT_FINE);
        assert_int_equal(masu_arena_destroy(arena), MASU_OK);
        if (!heap) { /* else the heap's events are among them */
            assert_int_equal(l.counts[MASU_EVENT_ALLOC], served);
            assert_int_equal(l.counts[MASU_EVENT_REFUSED], refused);
            assert_int_equal(l.counts[MASU_EVENT_EXTENT_ADD], l.counts[MASU_EVENT_EXTENT_DROP]);
        }
        assert_true(l.counts[MASU_EVENT_FREE] > 100 && l.counts[MASU_EVENT_RESET] > 10);
        assert_int_equal(heap ? masu_heap_destroy(heap) : MASU_OK, MASU_OK);
        judged(&l, trace);
    }
}

static void test_a_trace_is_told_of_a_ring(void **state) {
    (void)state;
    listener l;
    masu_trace *trace = trace_for(&l);
    masu_ring *ring;
    masu_ring_config config = {.struct_bytes = sizeof config, .bytes = 4 * KIB, .trace = trace};
    assert_int_equal(masu_ring_create(&config, &ring), MASU_OK);
    masu__rng rng;
    masu__rng_seed(&rng, 5);
    uint64_t marks[64], served = 0;
    unsigned first = 0, count = 0;
    for (int i = 0; i < 5000; i++) {
        if (count < 64 &&
            masu_ring_alloc(ring, 1 + masu__rng_below(&rng, 500), (size_t)1 << masu__rng_below(&rng, 6))) {
            served++;
            marks[(first + count++) % 64] = masu_ring_here(ring);
        } else if (count > 0) {
            assert_int_equal(masu_ring_release(ring, marks[first]), MASU_OK);
            first = (first + 1) % 64;
            count--;
        }
    }
    assert_int_equal(l.counts[MASU_EVENT_ALLOC], served);
    assert_int_equal(l.counts[MASU_EVENT_FREE], served - count);
    assert_int_equal(masu_ring_destroy(ring), MASU_OK);
    judged(&l, trace);
}

/* Switched off it says nothing and serves the same addresses; what it said before still ends. */
static void test_a_trace_may_be_switched(void **state) {
    (void)state;
    listener l;
    masu_trace *trace = trace_for(&l);
    char *base = (char *)0x100000;
    masu_arena *arena = arena_of((masu_arena_config){.memory = base, .memory_bytes = 1000, .trace = trace});
    assert_ptr_equal(masu_arena_alloc(arena, 100, 1), base);
    masu_trace_set_on(trace, false);
    masu_arena_mark mark = masu_arena_here(arena);
    assert_ptr_equal(masu_arena_alloc(arena, 100, 1), base + 100);
    masu_trace_set_on(trace, true);
    assert_ptr_equal(masu_arena_alloc(arena, 100, 1), base + 200);
    assert_int_equal(masu_arena_release(arena, mark), MASU_OK);
    assert_int_equal(l.counts[MASU_EVENT_FREE], 1);
    assert_ptr_equal(masu_arena_alloc(arena, 300, 1), base + 100);
    assert_int_equal(masu_arena_destroy(arena), MASU_OK);
    assert_int_equal(l.counts[MASU_EVENT_ALLOC], 3);
    judged(&l, trace);
}

/* ---- ring ------------------------------------------------------------------------------------------------ */

static masu_ring *ring_in(void *memory, size_t bytes) {
    masu_ring *ring;
    masu_ring_config config = {.struct_bytes = sizeof config, .bytes = bytes, .memory = memory};
    assert_int_equal(masu_ring_create(&config, &ring), MASU_OK);
    return ring;
}

static void test_ring_goes_around(void **state) {
    (void)state;
    char *base = (char *)0x10000;
    masu_ring *ring = ring_in(base, 100);
    assert_ptr_equal(masu_ring_alloc(ring, 40, 1), base);
    uint64_t first = masu_ring_here(ring);
    assert_ptr_equal(masu_ring_alloc(ring, 40, 1), base + 40);
    uint64_t second = masu_ring_here(ring);
    assert_null(masu_ring_alloc(ring, 40, 1));
    assert_int_equal(masu_ring_release(ring, first), MASU_OK);
    assert_ptr_equal(masu_ring_alloc(ring, 40, 1), base); /* what is left at the end is skipped */
    assert_null(masu_ring_alloc(ring, 1, 1));
    assert_int_equal(masu_ring_release(ring, second), MASU_OK);
    assert_ptr_equal(masu_ring_alloc(ring, 60, 1), base + 40); /* to the end, over what was skipped */
    assert_null(masu_ring_alloc(ring, 1, 1));
    masu_ring_stats s;
    masu_ring_get_stats(ring, &s);
    assert_int_equal(s.used_bytes, 100);
    assert_int_equal(s.laps, 1);
    assert_int_equal(s.refusals, 3);
    assert_int_equal(masu_ring_release(ring, masu_ring_here(ring) + 1), MASU_ERR_INVALID_ARGUMENT);
    assert_int_equal(masu_ring_release(ring, first), MASU_OK); /* long gone */
    masu_ring_reset(ring);
    assert_ptr_equal(masu_ring_alloc(ring, 100, 1), base); /* empty: all of it */
    assert_null(masu_ring_alloc(ring, 101, 1));
    assert_null(masu_ring_alloc(ring, 0, 1));
    assert_null(masu_ring_alloc(ring, 8, 24));
    assert_int_equal(masu_ring_destroy(ring), MASU_OK);
}

typedef struct one {
    uintptr_t at;
    size_t bytes;
    uint64_t mark; /* behind it */
} one;

static bool overlaps(const one *a, const one *b) {
    return a->at < b->at + b->bytes && b->at < a->at + a->bytes;
}

/* Against a list of what lives. */
static void test_ring_against_a_list(void **state) {
    (void)state;
    static one live[4096];
    masu__rng rng;
    masu__rng_seed(&rng, 11);
    for (int which = 0; which < 20; which++) {
        size_t bytes = 64 + masu__rng_below(&rng, 5000);
        uintptr_t base = 0x100000 + 64 * masu__rng_below(&rng, 100);
        masu_ring *ring = ring_in((void *)base, bytes);
        size_t first = 0, count = 0;
        for (int step = 0; step < 4000; step++) {
            if (masu__rng_below(&rng, 3) == 0 && count > 0) {
                size_t gone = 1 + masu__rng_below(&rng, (uint32_t)count);
                first += gone;
                count -= gone;
                assert_int_equal(masu_ring_release(ring, live[(first - 1) % 4096].mark), MASU_OK);
                continue;
            }
            one o = {0, 1 + masu__rng_below(&rng, (uint32_t)bytes / 4), 0};
            size_t alignment = (size_t)1 << masu__rng_below(&rng, 7);
            o.at = (uintptr_t)masu_ring_alloc(ring, o.bytes, alignment);
            if (o.at == 0) {
                assert_true(count > 0);
                continue;
            }
            o.mark = masu_ring_here(ring);
            assert_int_equal(o.at % alignment, 0);
            assert_true(o.at >= base && o.at + o.bytes <= base + bytes && count < 4096);
            for (size_t i = 0; i < count; i++)
                assert_false(overlaps(&live[(first + i) % 4096], &o));
            live[(first + count++) % 4096] = o;
            masu_ring_stats s;
            masu_ring_get_stats(ring, &s);
            assert_true(s.used_bytes <= s.capacity_bytes);
        }
        assert_int_equal(masu_ring_destroy(ring), MASU_OK);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_lie_apart_and_aligned),
        cmocka_unit_test(test_after_a_reset_one_piece_serves_all),
        cmocka_unit_test(test_marks),
        cmocka_unit_test(test_refusals_say_why),
        cmocka_unit_test(test_memory_of_the_caller_is_not_touched),
        cmocka_unit_test(test_over_a_device_of_sizes),
        cmocka_unit_test(test_a_trace_is_told_of_every_block),
        cmocka_unit_test(test_a_trace_is_told_of_a_ring),
        cmocka_unit_test(test_a_trace_may_be_switched),
        cmocka_unit_test(test_a_refused_wish_is_not_repeated),
        cmocka_unit_test(test_failing_memory_changes_nothing),
        cmocka_unit_test(test_ring_goes_around),
        cmocka_unit_test(test_ring_against_a_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
