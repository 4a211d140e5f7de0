/* The free index against a linear search. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "allocators/free_index.h"
#include "base/rng.h"

enum { BLOCKS = 400 };

static masu__free_index index_under_test;
static masu__block blocks[BLOCKS];

static const masu__block *search(size_t bytes, uintptr_t address) {
    const masu__block *best = NULL;
    for (size_t i = 0; i < BLOCKS; i++) {
        const masu__block *b = &blocks[i];
        if (b->state != MASU__BLOCK_FREE || b->bytes < bytes ||
            (b->bytes == bytes && b->address < address))
            continue;
        if (!best || b->bytes < best->bytes ||
            (b->bytes == best->bytes && b->address < best->address))
            best = b;
    }
    return best;
}

static size_t largest(void) {
    size_t bytes = 0;
    for (size_t i = 0; i < BLOCKS; i++)
        if (blocks[i].state == MASU__BLOCK_FREE && blocks[i].bytes > bytes)
            bytes = blocks[i].bytes;
    return bytes;
}

/* Sizes over the whole range, with many equal ones. */
static size_t random_bytes(masu__rng *rng) {
    unsigned bits = (unsigned)masu__rng_below(rng, 56);
    size_t units = ((size_t)1 << bits) + masu__rng_below(rng, 3) * (((size_t)1 << bits) / 3);
    return units * MASU__GRAIN;
}

static void finds_what_a_linear_search_finds(void **state) {
    (void)state;
    masu__rng rng;
    masu__rng_seed(&rng, 23);
    for (int step = 0; step < 30000; step++) {
        masu__block *b = &blocks[masu__rng_below(&rng, BLOCKS)];
        if (b->state == MASU__BLOCK_FREE) {
            masu__free_index_remove(&index_under_test, b);
            b->state = MASU__BLOCK_LIVE;
        } else {
            b->address = (uintptr_t)(b - blocks + 1) << 20;
            b->bytes = random_bytes(&rng);
            masu__free_index_insert(&index_under_test, b);
        }
        size_t bytes = random_bytes(&rng);
        uintptr_t address = (uintptr_t)masu__rng_below(&rng, BLOCKS) << 20;
        assert_ptr_equal(masu__free_index_at_least(&index_under_test, bytes, address),
                         search(bytes, address));
        assert_int_equal(masu__free_index_largest(&index_under_test), largest());
        if (step % 1000 == 0)
            assert_true(masu__free_index_valid(&index_under_test));
    }
}

static void every_size_has_a_bin(void **state) {
    (void)state;
    static masu__free_index index;
    for (unsigned bits = MASU__GRAIN_SHIFT; bits < 64; bits++) {
        masu__block low = {.address = 64, .bytes = (size_t)1 << bits};
        masu__block high = {.address = 128, .bytes = low.bytes - 1 + low.bytes - MASU__GRAIN + 1};
        masu__free_index_insert(&index, &low);
        if (high.bytes >= MASU__GRAIN)
            masu__free_index_insert(&index, &high);
        assert_true(masu__free_index_valid(&index));
        assert_ptr_equal(masu__free_index_at_least(&index, low.bytes, 0), &low);
        masu__free_index_clear(&index);
        assert_null(masu__free_index_at_least(&index, MASU__GRAIN, 0));
    }
}

static void the_check_sees_what_is_wrong(void **state) {
    (void)state;
    static masu__free_index index;
    masu__block a = {.address = 64, .bytes = 640}, b = {.address = 6400, .bytes = 640};
    masu__free_index_insert(&index, &a);
    masu__free_index_insert(&index, &b);
    assert_true(masu__free_index_valid(&index));
    a.bytes += MASU__GRAIN * 1000; /* lies in the wrong bin */
    assert_false(masu__free_index_valid(&index));
    a.bytes -= MASU__GRAIN * 1000;
    index.count++;
    assert_false(masu__free_index_valid(&index));
    index.count--;
    index.summary = 0;
    assert_false(masu__free_index_valid(&index));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_a_linear_search_finds),
        cmocka_unit_test(every_size_has_a_bin),
        cmocka_unit_test(the_check_sees_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
