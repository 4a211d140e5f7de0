/* The judge: each verdict is demanded once, by the smallest stream that deserves it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <masu/check.h>

#include "base/meta.h"

typedef struct court {
    masu_check *check;
    uint64_t sequence;
} court;

static court open_court(void) {
    court c = {0};
    assert_int_equal(masu_check_create(&c.check), MASU_OK);
    return c;
}

static masu_verdict tell(court *c, masu_event_kind kind, uint64_t address, uint64_t bytes, uint64_t block_bytes,
                         uint64_t alignment) {
    return masu_check_event(c->check, &(masu_event){
                                          .sequence = c->sequence++,
                                          .pool = 1,
                                          .kind = kind,
                                          .address = address,
                                          .bytes = bytes,
                                          .block_bytes = block_bytes,
                                          .alignment_bytes = alignment,
                                      });
}

static court open_with_extent(void) {
    court c = open_court();
    assert_int_equal(tell(&c, MASU_EVENT_EXTENT_ADD, 4096, 4096, 4096, 0), MASU_VERDICT_FINE);
    assert_int_equal(tell(&c, MASU_EVENT_ALLOC, 4096, 100, 128, 64), MASU_VERDICT_FINE);
    return c;
}

static void ends_with(court *c, masu_verdict expected) {
    assert_int_equal(masu_check_verdict(c->check), expected);
    assert_true(masu_check_culprit(c->check).sequence ==
                (expected == MASU_VERDICT_FINE ? UINT64_MAX : c->sequence - 1));
    /* it sticks */
    assert_int_equal(tell(c, MASU_EVENT_REFUSED, 0, 1, 0, 0), expected);
    masu_check_destroy(c->check);
    assert_int_equal(masu__meta_live_bytes(), 0);
}

#define CASE(name, expected, ...)     \
    static void name(void **state) {  \
        (void)state;                  \
        court c = open_with_extent(); \
        __VA_ARGS__;                  \
        ends_with(&c, expected);      \
    }

CASE(fine, MASU_VERDICT_FINE, tell(&c, MASU_EVENT_ALLOC, 4224, 64, 64, 64),
     tell(&c, MASU_EVENT_FREE, 4096, 100, 128, 0), tell(&c, MASU_EVENT_FREE, 4224, 64, 64, 0),
     tell(&c, MASU_EVENT_EXTENT_DROP, 4096, 4096, 4096, 0))
CASE(missing_event, MASU_VERDICT_SEQUENCE, c.sequence++, tell(&c, MASU_EVENT_FREE, 4096, 100, 128, 0))
CASE(unknown_kind, MASU_VERDICT_KIND, tell(&c, (masu_event_kind)77, 4096, 100, 128, 0))
CASE(empty_block, MASU_VERDICT_EMPTY, tell(&c, MASU_EVENT_ALLOC, 5000, 0, 0, 0))
CASE(wrapping_block, MASU_VERDICT_EMPTY, tell(&c, MASU_EVENT_ALLOC, UINT64_MAX - 10, 64, 64, 0))
CASE(extent_over_extent, MASU_VERDICT_EXTENT_OVERLAP, tell(&c, MASU_EVENT_EXTENT_ADD, 8191, 10, 10, 0))
CASE(drop_of_what_is_not_there, MASU_VERDICT_EXTENT_UNKNOWN, tell(&c, MASU_EVENT_EXTENT_DROP, 8000, 1000, 1000, 0))
CASE(drop_under_a_block, MASU_VERDICT_EXTENT_IN_USE, tell(&c, MASU_EVENT_EXTENT_DROP, 4200, 1000, 1000, 0))
CASE(drop_beside_a_block, MASU_VERDICT_FINE, tell(&c, MASU_EVENT_EXTENT_DROP, 4224, 1000, 1000, 0))
CASE(block_in_what_was_dropped, MASU_VERDICT_OUTSIDE, tell(&c, MASU_EVENT_EXTENT_DROP, 4224, 1000, 1000, 0),
     tell(&c, MASU_EVENT_ALLOC, 4224, 64, 64, 64))
CASE(block_outside, MASU_VERDICT_OUTSIDE, tell(&c, MASU_EVENT_ALLOC, 8128, 65, 128, 64))
CASE(block_across_two_extents, MASU_VERDICT_OUTSIDE, tell(&c, MASU_EVENT_EXTENT_ADD, 8192, 4096, 4096, 0),
     tell(&c, MASU_EVENT_ALLOC, 8128, 128, 128, 64))
CASE(block_over_block, MASU_VERDICT_OVERLAP, tell(&c, MASU_EVENT_ALLOC, 4223, 10, 10, 1)) /* the last spent byte */
CASE(block_beside_block, MASU_VERDICT_FINE, tell(&c, MASU_EVENT_ALLOC, 4224, 10, 10, 1))
CASE(misaligned, MASU_VERDICT_MISALIGNED, tell(&c, MASU_EVENT_ALLOC, 4224 + 32, 10, 64, 64))
CASE(too_short, MASU_VERDICT_SHORT, tell(&c, MASU_EVENT_ALLOC, 4224, 100, 99, 64))
CASE(free_of_nothing, MASU_VERDICT_FREE_UNKNOWN, tell(&c, MASU_EVENT_FREE, 4160, 36, 64, 0))
CASE(free_twice, MASU_VERDICT_FREE_UNKNOWN, tell(&c, MASU_EVENT_FREE, 4096, 100, 128, 0),
     tell(&c, MASU_EVENT_FREE, 4096, 100, 128, 0))
CASE(free_after_reset, MASU_VERDICT_FREE_UNKNOWN, tell(&c, MASU_EVENT_RESET, 0, 0, 0, 0),
     tell(&c, MASU_EVENT_FREE, 4096, 100, 128, 0))
CASE(free_of_another_size, MASU_VERDICT_FREE_SIZE, tell(&c, MASU_EVENT_FREE, 4096, 101, 128, 0))
CASE(free_part_of_nothing, MASU_VERDICT_FREE_UNKNOWN, tell(&c, MASU_EVENT_FREE_PART, 4300, 64, 64, 0))
CASE(free_part_leaves_the_rest, MASU_VERDICT_FINE, tell(&c, MASU_EVENT_FREE_PART, 4116, 20, 20, 0),
     tell(&c, MASU_EVENT_ALLOC, 4116, 20, 20, 1), tell(&c, MASU_EVENT_FREE, 4096, 20, 20, 0),
     tell(&c, MASU_EVENT_FREE, 4136, 60, 60, 0))
CASE(free_part_keeps_the_rest_taken, MASU_VERDICT_OVERLAP, tell(&c, MASU_EVENT_FREE_PART, 4116, 20, 20, 0),
     tell(&c, MASU_EVENT_ALLOC, 4116, 21, 21, 1))

static void pools_are_judged_apart(void **state) {
    (void)state;
    court c = open_with_extent();
    /* the same bytes, as another pool's extent and block: a bucket pool's slab inside a best-fit
     * block */
    masu_event event = {.sequence = c.sequence++,
                        .pool = 2,
                        .kind = MASU_EVENT_EXTENT_ADD,
                        .address = 4096,
                        .bytes = 100,
                        .block_bytes = 100};
    assert_int_equal(masu_check_event(c.check, &event), MASU_VERDICT_FINE);
    event.kind = MASU_EVENT_ALLOC;
    event.sequence = c.sequence++;
    assert_int_equal(masu_check_event(c.check, &event), MASU_VERDICT_FINE);
    ends_with(&c, MASU_VERDICT_FINE);
}

static void claims_are_compared_one_by_one(void **state) {
    (void)state;
    court c = open_with_extent();
    tell(&c, MASU_EVENT_ALLOC, 5120, 1000, 1024, 64);
    tell(&c, MASU_EVENT_FREE, 5120, 1000, 1024, 0);
    masu_check_totals truth = {
        .allocations = 2, .frees = 1, .live_blocks = 1, .live_bytes = 100, .peak_bytes = 1100, .reserved_bytes = 4096};
    assert_int_equal(masu_check_claim(c.check, 1, &truth), MASU_VERDICT_FINE);
    masu_check_totals lie = truth;
    lie.live_bytes++;
    assert_int_equal(masu_check_claim(c.check, 1, &lie), MASU_VERDICT_CLAIM_LIVE_BYTES);
    lie = truth;
    lie.live_blocks--;
    assert_int_equal(masu_check_claim(c.check, 1, &lie), MASU_VERDICT_CLAIM_LIVE_BLOCKS);
    lie = truth;
    lie.peak_bytes--;
    assert_int_equal(masu_check_claim(c.check, 1, &lie), MASU_VERDICT_CLAIM_PEAK);
    lie = truth;
    lie.reserved_bytes = 0;
    assert_int_equal(masu_check_claim(c.check, 1, &lie), MASU_VERDICT_CLAIM_RESERVED);
    lie = truth;
    lie.allocations++;
    assert_int_equal(masu_check_claim(c.check, 1, &lie), MASU_VERDICT_CLAIM_ALLOCATIONS);
    lie = truth;
    lie.frees++;
    assert_int_equal(masu_check_claim(c.check, 1, &lie), MASU_VERDICT_CLAIM_FREES);
    masu_check_totals nothing = {0};
    assert_int_equal(masu_check_claim(c.check, 99, &nothing), MASU_VERDICT_FINE);
    ends_with(&c, MASU_VERDICT_FINE);
}

static void without_memory_it_says_so(void **state) {
    (void)state;
    court c = open_with_extent();
    masu__fault_arm_repeat(1, true);
    masu_check *none;
    assert_int_equal(masu_check_create(&none), MASU_ERR_OUT_OF_MEMORY);
    assert_null(none);
    for (uint64_t i = 0; i < 20; i++)
        tell(&c, MASU_EVENT_ALLOC, 4224 + 64 * i, 64, 64, 64);
    masu__fault_arm(0);
    assert_int_equal(masu_check_verdict(c.check), MASU_VERDICT_NO_MEMORY);
    masu_check_destroy(c.check);
    masu_check_destroy(NULL);
}

static void every_verdict_has_a_name(void **state) {
    (void)state;
    for (int i = 0; i < MASU_VERDICT_COUNT; i++)
        assert_string_not_equal(masu_verdict_name((masu_verdict)i), "unknown");
    assert_string_equal(masu_verdict_name(MASU_VERDICT_COUNT), "unknown");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fine),
        cmocka_unit_test(missing_event),
        cmocka_unit_test(unknown_kind),
        cmocka_unit_test(empty_block),
        cmocka_unit_test(wrapping_block),
        cmocka_unit_test(extent_over_extent),
        cmocka_unit_test(drop_of_what_is_not_there),
        cmocka_unit_test(drop_under_a_block),
        cmocka_unit_test(drop_beside_a_block),
        cmocka_unit_test(block_in_what_was_dropped),
        cmocka_unit_test(block_outside),
        cmocka_unit_test(block_across_two_extents),
        cmocka_unit_test(block_over_block),
        cmocka_unit_test(block_beside_block),
        cmocka_unit_test(misaligned),
        cmocka_unit_test(too_short),
        cmocka_unit_test(free_of_nothing),
        cmocka_unit_test(free_twice),
        cmocka_unit_test(free_after_reset),
        cmocka_unit_test(free_of_another_size),
        cmocka_unit_test(free_part_of_nothing),
        cmocka_unit_test(free_part_leaves_the_rest),
        cmocka_unit_test(free_part_keeps_the_rest_taken),
        cmocka_unit_test(pools_are_judged_apart),
        cmocka_unit_test(claims_are_compared_one_by_one),
        cmocka_unit_test(without_memory_it_says_so),
        cmocka_unit_test(every_verdict_has_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
