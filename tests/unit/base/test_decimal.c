/* Short decimal numbers have strtod's bits; what is not one is left to it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/decimal.h"
#include "base/rng.h"

static void same_bits(const char *text) {
    double read, wanted = strtod(text, NULL);
    if (!masu__decimal_read(text, strlen(text), &read))
        return;
    if (memcmp(&read, &wanted, sizeof read) != 0)
        fail_msg("%s: %a is not %a", text, read, wanted);
}

static void reads(void **state) {
    (void)state;
    static const char *const texts[] = {"0",
                                        "-0",
                                        "1",
                                        "+7",
                                        "1.",
                                        ".5",
                                        "-.5e-3",
                                        "9007199254740992",
                                        "9007199254740993",
                                        "0.1",
                                        "1e22",
                                        "1e-22",
                                        "4.35",
                                        "123456.789e3",
                                        "0.000001",
                                        "00012",
                                        "1E5"};
    double out;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        same_bits(texts[i]);
    assert_true(masu__decimal_read("4.35", 4, &out) && out == 4.35);
    assert_true(masu__decimal_read("-.5e-3", 6, &out) && out == -.5e-3);
    assert_true(masu__decimal_read("12,5", 2, &out) && out == 12.0); /* no further than its length */
}

static void leaves_alone(void **state) {
    (void)state;
    static const char *const texts[] = {"",
                                        "-",
                                        ".",
                                        "e5",
                                        "1e",
                                        "1e+",
                                        "1 ",
                                        " 1",
                                        "0x10",
                                        "inf",
                                        "nan",
                                        "1.5.5",
                                        "1_000",
                                        "9007199254740993",
                                        "1e23",
                                        "1e-23",
                                        "12345678901234567890",
                                        "1e99999999999999999999"};
    double out = 42.0;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (masu__decimal_read(texts[i], strlen(texts[i]), &out))
            fail_msg("`%s` was read as %a", texts[i], out);
    assert_true(out == 42.0);
}

static void drawn(void **state) {
    (void)state;
    masu__rng rng;
    masu__rng_seed(&rng, 7);
    for (int i = 0; i < 300000; i++) {
        char text[80];
        uint64_t digits = masu__rng_next(&rng) >> masu__rng_below(&rng, 64);
        int point = (int)masu__rng_below(&rng, 20), exponent = (int)masu__rng_below(&rng, 50) - 25;
        int length = snprintf(text, sizeof text, "%llu", (unsigned long long)digits);
        if (point < length) {
            memmove(text + point + 1, text + point, (size_t)(length - point + 1));
            text[point] = '.';
        }
        if (exponent & 1)
            snprintf(text + strlen(text), 16, "e%d", exponent);
        same_bits(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(reads), cmocka_unit_test(leaves_alone),
                                       cmocka_unit_test(drawn)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
