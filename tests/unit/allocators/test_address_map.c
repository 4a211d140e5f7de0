/* The address map against a plain array. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "allocators/bucket/address_map.h"
#include "base/meta.h"
#include "base/rng.h"

enum { KEYS = 512 };

static uintptr_t key_of(size_t i) {
    return (i + 1) * 4096; /* neighbours, as pages are */
}

static void follows_a_plain_array(void **state) {
    (void)state;
    masu__address_map map = {.shift = 12};
    void *model[KEYS] = {0};
    size_t count = 0;
    masu__rng rng;
    masu__rng_seed(&rng, 17);
    for (int step = 0; step < 20000; step++) {
        size_t i = masu__rng_below(&rng, KEYS);
        assert_ptr_equal(masu__address_map_get(&map, key_of(i)), model[i]);
        if (model[i]) {
            assert_ptr_equal(masu__address_map_take(&map, key_of(i)), model[i]);
            model[i] = NULL;
            count--;
        } else {
            assert_null(masu__address_map_take(&map, key_of(i)));
            assert_true(masu__address_map_reserve(&map, 1));
            model[i] = &model[i];
            masu__address_map_put(&map, key_of(i), model[i]);
            count++;
        }
        assert_int_equal(map.count, count);
        if (step % 500 == 0)
            assert_true(masu__address_map_valid(&map));
        if (step % 3000 == 0)
            masu__address_map_shrink(&map);
    }
    size_t cursor = 0, seen = 0;
    for (void **value; (value = masu__address_map_next(&map, &cursor)) != NULL; seen++)
        assert_ptr_equal(*value, value);
    assert_int_equal(seen, count);
    masu__address_map_destroy(&map);
    assert_int_equal(masu__meta_live_bytes(), 0);
}

static void without_memory_it_stays_as_it_was(void **state) {
    (void)state;
    masu__address_map map = {.shift = 12};
    int value;
    assert_true(masu__address_map_reserve(&map, 8));
    for (size_t i = 0; i < 8; i++)
        masu__address_map_put(&map, key_of(i), &value);
    masu__fault_arm_repeat(1, true);
    assert_false(masu__address_map_reserve(&map, 1));
    masu__fault_arm(0);
    assert_false(masu__address_map_reserve(&map, SIZE_MAX / 2));
    for (size_t i = 0; i < 8; i++)
        assert_ptr_equal(masu__address_map_get(&map, key_of(i)), &value);
    assert_null(masu__address_map_get(&map, 0));
    assert_true(masu__address_map_valid(&map));
    masu__address_map_destroy(&map);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follows_a_plain_array),
        cmocka_unit_test(without_memory_it_stays_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
