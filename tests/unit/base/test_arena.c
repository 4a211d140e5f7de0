/* The bump arena: alignment, marks, growth in place, failure without a trace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/meta.h"
#include "base/rng.h"

static void blocks_are_aligned_and_apart(void **state) {
    (void)state;
    masu__arena arena = {0};
    masu__rng rng;
    masu__rng_seed(&rng, 1);
    unsigned char *blocks[500];
    size_t sizes[500];
    for (size_t i = 0; i < 500; i++) {
        size_t alignment = (size_t)1 << masu__rng_below(&rng, 13);
        sizes[i] = masu__rng_below(&rng, 3000);
        blocks[i] = masu__arena_alloc(&arena, sizes[i], alignment);
        assert_non_null(blocks[i]);
        assert_int_equal((uintptr_t)blocks[i] % alignment, 0);
        memset(blocks[i], (int)(i & 255), sizes[i]);
    }
    for (size_t i = 0; i < 500; i++)
        for (size_t k = 0; k < sizes[i]; k++)
            assert_int_equal(blocks[i][k], i & 255);
    assert_true(masu__arena_valid(&arena));
    masu__arena_destroy(&arena);
    assert_int_equal(arena.reserved_bytes, 0);
}

static void release_returns_to_the_mark(void **state) {
    (void)state;
    masu__arena arena = {.first_block_bytes = 64};
    char *kept = masu__arena_strdup(&arena, "kept");
    masu__arena_mark mark = masu__arena_get_mark(&arena);
    size_t used = arena.used_bytes, reserved = arena.reserved_bytes;
    void *first = masu__arena_alloc(&arena, 10, 1);
    for (int i = 0; i < 100; i++)
        masu__arena_alloc(&arena, 100, 8);
    masu__arena_release(&arena, mark);
    assert_int_equal(arena.used_bytes, used);
    assert_int_equal(arena.reserved_bytes, reserved);
    assert_string_equal(kept, "kept");
    assert_ptr_equal(masu__arena_alloc(&arena, 10, 1), first);
    masu__arena_destroy(&arena);
}

static void the_last_array_grows_in_place(void **state) {
    (void)state;
    masu__arena arena = {0};
    int *a = masu__arena_grow(&arena, NULL, 0, 4, sizeof *a, _Alignof(int));
    for (int i = 0; i < 4; i++)
        a[i] = i;
    int *b = masu__arena_grow(&arena, a, 4, 100, sizeof *a, _Alignof(int));
    assert_ptr_equal(a, b);
    masu__arena_alloc(&arena, 1, 1);
    int *c = masu__arena_grow(&arena, b, 100, 200, sizeof *a, _Alignof(int));
    assert_ptr_not_equal(b, c);
    for (int i = 0; i < 4; i++)
        assert_int_equal(c[i], i);
    assert_null(masu__arena_grow(&arena, c, 200, SIZE_MAX / 2, sizeof *a, _Alignof(int)));
    masu__arena_destroy(&arena);
}

static void texts(void **state) {
    (void)state;
    masu__arena arena = {0};
    assert_string_equal(masu__arena_strndup(&arena, "abcdef", 3), "abc");
    assert_string_equal(masu__arena_strndup(&arena, NULL, 0), "");
    assert_string_equal(masu__arena_printf(&arena, "%s=%d", "x", 42), "x=42");
    int *zeros = MASU_ARENA_ARRAY(&arena, int, 50);
    for (int i = 0; i < 50; i++)
        assert_int_equal(zeros[i], 0);
    masu__arena_destroy(&arena);
}

/* Whatever stood in its place before: cleared memory is clear. */
static void clear_in(masu__arena arena, size_t most) {
    masu__rng rng;
    masu__rng_seed(&rng, 5);
    for (int round = 0; round < 300; round++) {
        masu__arena_mark mark = masu__arena_get_mark(&arena);
        for (int k = 0; k < 12; k++) {
            size_t bytes = masu__rng_below(&rng, k == 11 ? most : 90);
            unsigned char *clear = masu__arena_calloc(&arena, 1, bytes, (size_t)1 << (k % 6));
            for (size_t i = 0; i < bytes; i++)
                assert_int_equal(clear[i], 0);
            memset(clear, 0xA5, bytes);
            memset(masu__arena_alloc(&arena, k, 1), 0x5A, (size_t)k);
            unsigned char *longer = masu__arena_grow(&arena, clear, bytes, bytes + 40, 1, 1);
            memset(longer, 0xC3, bytes + 40);
        }
        assert_true(masu__arena_valid(&arena));
        if (round % 3 != 0)
            masu__arena_release(&arena, mark);
    }
    masu__arena_destroy(&arena);
}

static void cleared_is_clear(void **state) {
    (void)state;
    clear_in((masu__arena){.first_block_bytes = 256}, 5000);
    clear_in((masu__arena){.first_block_bytes = 256, .in_huge_pages = true}, 20000);
}

static void huge_pages_are_given_back(void **state) {
    (void)state;
    masu__arena arena = {.in_huge_pages = true};
    for (size_t bytes = 8; bytes < (size_t)9 << 20; bytes *= 2) {
        masu__arena_mark mark = masu__arena_get_mark(&arena);
        unsigned char *block = masu__arena_calloc(&arena, 1, bytes, 8);
        assert_non_null(block);
        assert_int_equal(block[0] | block[bytes - 1], 0);
        memset(block, 1, bytes);
        assert_true(masu__arena_valid(&arena));
        masu__arena_release(&arena, mark);
        assert_true(masu__arena_valid(&arena));
        assert_non_null(masu__arena_alloc(&arena, bytes / 8, 8));
    }
    assert_null(masu__arena_alloc(&arena, SIZE_MAX - 64, 8));
    masu__fault_arm(1);
    assert_null(masu__arena_alloc(&arena, (size_t)5 << 20, 8));
    masu__fault_arm(0);
    masu__arena_destroy(&arena);
    assert_int_equal(masu__meta_live_bytes(), 0);
}

static void failure_changes_nothing(void **state) {
    (void)state;
    masu__arena arena = {0};
    assert_non_null(masu__arena_alloc(&arena, 100, 8));
    masu__arena before = arena;
    masu__fault_arm_repeat(1, true);
    assert_null(masu__arena_alloc(&arena, 1 << 20, 8));
    masu__fault_arm(0);
    assert_memory_equal(&before, &arena, sizeof arena);
    assert_null(masu__arena_alloc(&arena, SIZE_MAX - 8, 8));
    assert_null(masu__arena_alloc(&arena, SIZE_MAX - 64, 64));
    assert_null(masu__arena_calloc(&arena, SIZE_MAX / 2, 4, 8));
    assert_memory_equal(&before, &arena, sizeof arena);
    assert_non_null(masu__arena_alloc(&arena, 1 << 20, 8));
    assert_true(masu__arena_valid(&arena));
    masu__arena_destroy(&arena);
}

static void nothing_stays_behind(void **state) {
    (void)state;
    assert_int_equal(masu__meta_live_bytes(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_aligned_and_apart),
        cmocka_unit_test(release_returns_to_the_mark),
        cmocka_unit_test(the_last_array_grows_in_place),
        cmocka_unit_test(texts),
        cmocka_unit_test(cleared_is_clear),
        cmocka_unit_test(huge_pages_are_given_back),
        cmocka_unit_test(failure_changes_nothing),
        cmocka_unit_test(nothing_stays_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
