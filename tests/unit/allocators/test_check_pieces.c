/* The judge on pieces of memory: each verdict is demanded once. */
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

static masu_verdict tell(court *c, masu_event_kind kind, uint64_t address, uint64_t bytes, uint64_t block_bytes,
                         uint64_t owner) {
    return masu_check_event(c->check, &(masu_event){
                                          .sequence = c->sequence++,
                                          .pool = 1,
                                          .kind = kind,
                                          .address = address,
                                          .bytes = bytes,
                                          .block_bytes = block_bytes,
                                          .owner = owner,
                                      });
}

/* Addresses 1000 … 2000; piece 1 of 100 bytes at 1000 with a block of 80 in it, piece 2 of 50 in the
 * stock. */
static court open_court(void) {
    court c = {0};
    assert_int_equal(masu_check_create(&c.check), MASU_OK);
    assert_int_equal(tell(&c, MASU_EVENT_EXTENT_ADD, 1000, 1000, 1000, 0), MASU_VERDICT_FINE);
    assert_int_equal(tell(&c, MASU_EVENT_PIECE_ADD, 0, 100, 0, 1), MASU_VERDICT_FINE);
    assert_int_equal(tell(&c, MASU_EVENT_PIECE_ADD, 0, 50, 0, 2), MASU_VERDICT_FINE);
    assert_int_equal(tell(&c, MASU_EVENT_MAP, 1000, 100, 0, 1), MASU_VERDICT_FINE);
    assert_int_equal(tell(&c, MASU_EVENT_ALLOC, 1000, 80, 200, 9), MASU_VERDICT_FINE);
    return c;
}

#define CASE(name, expected, ...)                                                   \
    static void name(void **state) {                                                \
        (void)state;                                                                \
        court c = open_court();                                                     \
        __VA_ARGS__;                                                                \
        assert_int_equal(masu_check_verdict(c.check), expected);                    \
        if (expected != MASU_VERDICT_FINE)                                          \
            assert_int_equal(masu_check_culprit(c.check).sequence + 1, c.sequence); \
        masu_check_destroy(c.check);                                                \
        assert_int_equal(masu__meta_live_bytes(), 0);                               \
    }

CASE(grows, MASU_VERDICT_FINE, tell(&c, MASU_EVENT_MAP, 1100, 50, 0, 2), tell(&c, MASU_EVENT_RESIZE, 1000, 150, 200, 9))
CASE(shrinks_then_unmaps, MASU_VERDICT_FINE, tell(&c, MASU_EVENT_RESIZE, 1000, 0, 200, 9),
     tell(&c, MASU_EVENT_UNMAP, 1000, 100, 0, 1), tell(&c, MASU_EVENT_PIECE_DROP, 0, 100, 0, 1))
CASE(cut_and_join, MASU_VERDICT_FINE, tell(&c, MASU_EVENT_PIECE_CUT, 3, 60, 40, 1),
     tell(&c, MASU_EVENT_PIECE_JOIN, 3, 100, 40, 1))
CASE(cut_end_leaves, MASU_VERDICT_FINE, tell(&c, MASU_EVENT_RESIZE, 1000, 60, 200, 9),
     tell(&c, MASU_EVENT_PIECE_CUT, 3, 60, 40, 1), tell(&c, MASU_EVENT_UNMAP, 1060, 40, 0, 3))
CASE(added_twice, MASU_VERDICT_PIECE_TWICE, tell(&c, MASU_EVENT_PIECE_ADD, 0, 10, 0, 2))
CASE(mapped_twice, MASU_VERDICT_PIECE_TWICE, tell(&c, MASU_EVENT_MAP, 1500, 100, 0, 1))
CASE(mapped_unknown, MASU_VERDICT_PIECE_UNKNOWN, tell(&c, MASU_EVENT_MAP, 1500, 100, 0, 7))
CASE(mapped_in_another_size, MASU_VERDICT_PIECE_UNKNOWN, tell(&c, MASU_EVENT_MAP, 1500, 49, 0, 2))
CASE(unmapped_elsewhere, MASU_VERDICT_PIECE_UNKNOWN, tell(&c, MASU_EVENT_UNMAP, 1100, 50, 0, 2))
CASE(dropped_while_mapped, MASU_VERDICT_PIECE_IN_USE, tell(&c, MASU_EVENT_PIECE_DROP, 0, 100, 0, 1))
CASE(dropped_unknown, MASU_VERDICT_PIECE_UNKNOWN, tell(&c, MASU_EVENT_PIECE_DROP, 0, 100, 0, 7))
CASE(two_at_one_address, MASU_VERDICT_MAP_OVERLAP, tell(&c, MASU_EVENT_MAP, 1099, 50, 0, 2))
CASE(mapped_outside, MASU_VERDICT_OUTSIDE, tell(&c, MASU_EVENT_MAP, 1960, 50, 0, 2))
CASE(grown_without_memory, MASU_VERDICT_UNBACKED, tell(&c, MASU_EVENT_RESIZE, 1000, 101, 200, 9))
CASE(unmapped_under_a_block, MASU_VERDICT_UNBACKED, tell(&c, MASU_EVENT_UNMAP, 1000, 100, 0, 1))
CASE(block_in_no_memory, MASU_VERDICT_UNBACKED, tell(&c, MASU_EVENT_ALLOC, 1300, 10, 10, 0))
CASE(resize_of_nothing, MASU_VERDICT_FREE_UNKNOWN, tell(&c, MASU_EVENT_RESIZE, 1300, 10, 10, 0))
CASE(grown_over_another, MASU_VERDICT_OVERLAP, tell(&c, MASU_EVENT_MAP, 1300, 50, 0, 2),
     tell(&c, MASU_EVENT_ALLOC, 1300, 10, 50, 0), tell(&c, MASU_EVENT_RESIZE, 1000, 80, 301, 9))
CASE(cut_to_another_size, MASU_VERDICT_PIECE_UNKNOWN, tell(&c, MASU_EVENT_PIECE_CUT, 3, 60, 41, 1))
CASE(joined_to_a_stranger, MASU_VERDICT_PIECE_UNKNOWN, tell(&c, MASU_EVENT_PIECE_JOIN, 2, 150, 50, 1))
CASE(unmapped_under_a_blocks_end, MASU_VERDICT_UNBACKED, tell(&c, MASU_EVENT_MAP, 1100, 50, 0, 2),
     tell(&c, MASU_EVENT_RESIZE, 1000, 101, 200, 9), tell(&c, MASU_EVENT_UNMAP, 1100, 50, 0, 2))
CASE(unmapped_behind_a_block, MASU_VERDICT_FINE, tell(&c, MASU_EVENT_MAP, 1100, 50, 0, 2),
     tell(&c, MASU_EVENT_RESIZE, 1000, 100, 200, 9), tell(&c, MASU_EVENT_UNMAP, 1100, 50, 0, 2))
CASE(unmapped_under_a_later_block, MASU_VERDICT_UNBACKED, tell(&c, MASU_EVENT_MAP, 1300, 50, 0, 2),
     tell(&c, MASU_EVENT_ALLOC, 1340, 10, 10, 0), tell(&c, MASU_EVENT_UNMAP, 1300, 50, 0, 2))
CASE(unmapped_under_an_earlier_block, MASU_VERDICT_UNBACKED, tell(&c, MASU_EVENT_MAP, 1300, 50, 0, 2),
     tell(&c, MASU_EVENT_ALLOC, 1300, 10, 10, 0), tell(&c, MASU_EVENT_UNMAP, 1000, 100, 0, 1))
CASE(unmapped_in_another_size, MASU_VERDICT_PIECE_UNKNOWN, tell(&c, MASU_EVENT_RESIZE, 1000, 0, 200, 9),
     tell(&c, MASU_EVENT_UNMAP, 1000, 99, 0, 1))
CASE(unmapped_twice, MASU_VERDICT_PIECE_UNKNOWN, tell(&c, MASU_EVENT_RESIZE, 1000, 0, 200, 9),
     tell(&c, MASU_EVENT_UNMAP, 1000, 100, 0, 1), tell(&c, MASU_EVENT_UNMAP, 1000, 100, 0, 1))
CASE(unmapped_unknown, MASU_VERDICT_PIECE_UNKNOWN, tell(&c, MASU_EVENT_UNMAP, 1000, 100, 0, 7))
CASE(dropped_in_another_size, MASU_VERDICT_PIECE_UNKNOWN, tell(&c, MASU_EVENT_PIECE_DROP, 0, 49, 0, 2))
CASE(mapped_side_by_side, MASU_VERDICT_FINE, tell(&c, MASU_EVENT_MAP, 1100, 50, 0, 2))
CASE(mapped_up_to_the_end, MASU_VERDICT_FINE, tell(&c, MASU_EVENT_MAP, 1950, 50, 0, 2))
CASE(cut_into_one_that_is_there, MASU_VERDICT_PIECE_TWICE, tell(&c, MASU_EVENT_PIECE_CUT, 2, 60, 40, 1))
CASE(cut_in_the_stock, MASU_VERDICT_FINE, tell(&c, MASU_EVENT_PIECE_CUT, 3, 20, 30, 2),
     tell(&c, MASU_EVENT_MAP, 1100, 30, 0, 3), tell(&c, MASU_EVENT_MAP, 1130, 20, 0, 2))
CASE(joined_while_one_is_mapped, MASU_VERDICT_PIECE_UNKNOWN, tell(&c, MASU_EVENT_PIECE_CUT, 3, 20, 30, 2),
     tell(&c, MASU_EVENT_MAP, 1100, 30, 0, 3), tell(&c, MASU_EVENT_PIECE_JOIN, 3, 50, 30, 2))
CASE(joined_out_of_order, MASU_VERDICT_PIECE_UNKNOWN, tell(&c, MASU_EVENT_PIECE_CUT, 3, 20, 30, 2),
     tell(&c, MASU_EVENT_MAP, 1100, 30, 0, 3), tell(&c, MASU_EVENT_MAP, 1130, 20, 0, 2),
     tell(&c, MASU_EVENT_PIECE_JOIN, 3, 50, 30, 2))
CASE(joined_to_another_size, MASU_VERDICT_PIECE_UNKNOWN, tell(&c, MASU_EVENT_PIECE_CUT, 3, 60, 40, 1),
     tell(&c, MASU_EVENT_PIECE_JOIN, 3, 101, 40, 1))
CASE(joined_to_itself, MASU_VERDICT_PIECE_UNKNOWN, tell(&c, MASU_EVENT_PIECE_JOIN, 2, 100, 50, 2))

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows),
        cmocka_unit_test(shrinks_then_unmaps),
        cmocka_unit_test(cut_and_join),
        cmocka_unit_test(cut_end_leaves),
        cmocka_unit_test(added_twice),
        cmocka_unit_test(mapped_twice),
        cmocka_unit_test(mapped_unknown),
        cmocka_unit_test(mapped_in_another_size),
        cmocka_unit_test(unmapped_elsewhere),
        cmocka_unit_test(dropped_while_mapped),
        cmocka_unit_test(dropped_unknown),
        cmocka_unit_test(two_at_one_address),
        cmocka_unit_test(mapped_outside),
        cmocka_unit_test(grown_without_memory),
        cmocka_unit_test(unmapped_under_a_block),
        cmocka_unit_test(block_in_no_memory),
        cmocka_unit_test(resize_of_nothing),
        cmocka_unit_test(grown_over_another),
        cmocka_unit_test(cut_to_another_size),
        cmocka_unit_test(joined_to_a_stranger),
        cmocka_unit_test(unmapped_under_a_blocks_end),
        cmocka_unit_test(unmapped_behind_a_block),
        cmocka_unit_test(unmapped_under_a_later_block),
        cmocka_unit_test(unmapped_under_an_earlier_block),
        cmocka_unit_test(unmapped_in_another_size),
        cmocka_unit_test(unmapped_twice),
        cmocka_unit_test(unmapped_unknown),
        cmocka_unit_test(dropped_in_another_size),
        cmocka_unit_test(mapped_side_by_side),
        cmocka_unit_test(mapped_up_to_the_end),
        cmocka_unit_test(cut_into_one_that_is_there),
        cmocka_unit_test(cut_in_the_stock),
        cmocka_unit_test(joined_while_one_is_mapped),
        cmocka_unit_test(joined_out_of_order),
        cmocka_unit_test(joined_to_another_size),
        cmocka_unit_test(joined_to_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
