/* Statuses and the version: one name and one text each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <masu/status.h>
#include <masu/version.h>

static void every_status_has_its_own_name_and_text(void **state) {
    (void)state;
    for (int i = 0; i < MASU_STATUS_COUNT; i++) {
        assert_true(strncmp(masu_status_name((masu_status)i), "MASU_", 5) == 0);
        assert_true(strlen(masu_status_text((masu_status)i)) > 0);
        for (int j = 0; j < i; j++) {
            assert_string_not_equal(masu_status_name((masu_status)i), masu_status_name((masu_status)j));
            assert_string_not_equal(masu_status_text((masu_status)i), masu_status_text((masu_status)j));
        }
    }
    assert_int_equal(MASU_OK, 0);
    assert_string_equal(masu_status_name(MASU_ERR_DOUBLE_FREE), "MASU_ERR_DOUBLE_FREE");
}

static void numbers_without_status_are_told(void **state) {
    (void)state;
    assert_string_equal(masu_status_name(MASU_STATUS_COUNT), "MASU_STATUS_UNKNOWN");
    assert_string_equal(masu_status_name((masu_status)-1), "MASU_STATUS_UNKNOWN");
    assert_string_equal(masu_status_text((masu_status)12345), "unknown status");
}

static void library_has_the_version_of_its_headers(void **state) {
    (void)state;
    char expected[32];
    snprintf(expected, sizeof expected, "%d.%d.%d", MASU_VERSION_MAJOR, MASU_VERSION_MINOR, MASU_VERSION_PATCH);
    assert_string_equal(masu_version(), expected);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_its_own_name_and_text),
        cmocka_unit_test(numbers_without_status_are_told),
        cmocka_unit_test(library_has_the_version_of_its_headers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
