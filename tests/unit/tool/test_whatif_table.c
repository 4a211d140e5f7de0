/* The table of `masu whatif`: each row's cells end where the head's do, and figures above them run into none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tool/whatif/whatif.h"

static whatif_row row_of(double seconds, uint64_t reserved, uint64_t calls) {
    return (whatif_row){.name = "a heap",
                        .ran = true,
                        .seconds = seconds,
                        .peak_reserved_bytes = reserved,
                        .device_calls = calls,
                        .judged = WHATIF_FINE};
}

static void check_row(const whatif_row *row, uint64_t live, const char *expected) {
    masu__buffer text = {0};
    whatif_put_row(&text, row, live, 0);
    assert_string_equal(masu__buffer_text(&text), expected);
    masu__buffer_destroy(&text);
}

static void cells_end_where_the_head_does(void **state) {
    (void)state;
    masu__buffer head = {0};
    whatif_put_head(&head);
    assert_string_equal(masu__buffer_text(&head),
                        "allocator                                  time   peak reserved      waste  device calls  "
                        "judge\n");
    masu__buffer_destroy(&head);
    whatif_row row = row_of(0.00015, 7548ull << 20, 42);
    check_row(&row, 5184ull << 20,
              "a heap                                  0.15 ms     7,548.0 MiB     45.6 %            42  fine \n");
    row.is_model = true;
    row.device_calls = UINT64_MAX;
    check_row(&row, 0,
              "a heap                                        -     7,548.0 MiB      0.0 %             -  fine \n");
}

static void long_times_are_in_seconds(void **state) {
    (void)state;
    whatif_row row = row_of(9.99999, 1 << 20, 1);
    check_row(&row, 1 << 20,
              "a heap                               9999.99 ms         1.0 MiB      0.0 %             1  fine \n");
    row.seconds = 9.999996;
    check_row(&row, 1 << 20,
              "a heap                                  10.00 s         1.0 MiB      0.0 %             1  fine \n");
    row.seconds = 86400;
    check_row(&row, 1 << 20,
              "a heap                               86400.00 s         1.0 MiB      0.0 %             1  fine \n");
}

static void no_figure_runs_into_the_next(void **state) {
    (void)state;
    whatif_row row = row_of(1e12, UINT64_MAX, UINT64_MAX - 1);
    row.refused = 3;
    check_row(&row, 1,
              "a heap                               1000000000000.00 s 17,592,186,044,415.9 MiB "
              "1844674407370955161600.0 % 18,446,744,073,709,551,614  fine   refuses 3\n");
}

static void a_row_that_did_not_run_says_why(void **state) {
    (void)state;
    whatif_row row = {.name = "a malloc", .note = "is not installed"};
    check_row(&row, 1, "a malloc                             is not installed\n");
    row = row_of(0, 8, 0);
    masu__buffer text = {0};
    whatif_put_row(&text, &row, 8, 7);
    assert_non_null(strstr(masu__buffer_text(&text), "fine   above the limit\n"));
    masu__buffer_destroy(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_end_where_the_head_does),
        cmocka_unit_test(long_times_are_in_seconds),
        cmocka_unit_test(no_figure_runs_into_the_next),
        cmocka_unit_test(a_row_that_did_not_run_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
