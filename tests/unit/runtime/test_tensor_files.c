/* The readers of files of tensors: what a hostile file gets is words that say what is wrong with it, and nothing is
 * left. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/meta.h"
#include "runtime/files/stored.h"

static uint64_t live_blocks;

static void expect_words(const void *bytes, size_t length, const char *words) {
    live_blocks = masu__meta_live_blocks();
    tl__bytes file = {.data = bytes, .length = length, .descriptor = -1};
    tl__table table = {.count = 0};
    bool right = tl__table_read(&file, &table);
    if (right != (words == NULL) || (words && !strstr(table.words, words)))
        fail_msg("expected: %s\nactual: %s", words ? words : "it is read", right ? "it is read" : table.words);
    tl__table_destroy(&table);
    assert_int_equal(masu__meta_live_blocks(), live_blocks);
}

/* ---- safetensors ------------------------------------------------------------------------------------------------- */

static void header_says(const char *header, size_t data, const char *words) {
    static unsigned char file[70000];
    size_t length = strlen(header);
    memset(file, 0, sizeof file);
    for (int i = 0; i < 8; i++)
        file[i] = (unsigned char)((uint64_t)length >> (8 * i));
    memcpy(file + 8, header, length);
    expect_words(file, 8 + length + data, words);
}

#define TENSOR(type, shape, begin, end) \
    "{\"dtype\":\"" type "\",\"shape\":" shape ",\"data_offsets\":[" begin "," end "]}"

static void safetensors_right(void **state) {
    (void)state;
    header_says("{}", 0, NULL);
    header_says("{\"a\":" TENSOR("F32", "[2,3]", "0", "24") "}   ", 24, NULL);
    header_says("{\"b\":" TENSOR("I8", "[]", "4", "5") ",\"a\":" TENSOR("BF16", "[2]", "0", "4") "}", 5, NULL);
    header_says("{\"a\":" TENSOR("F32", "[0,9223372036854775807]", "0", "0") "}", 0,
                "too many elements"); /* strides wrap */
    header_says("{\"a\":" TENSOR("F32", "[0,3]", "0", "0") ",\"b\":" TENSOR("F32", "[0]", "0", "0") "}", 0, NULL);
    header_says(
        "{\"\":" TENSOR("I8", "[1,1,1,1,1,1,1,1]", "0", "1") ",\"1\":" TENSOR("I8", "[1,1,1,1,1,1,1,1]", "1", "2") "}",
        2, NULL);
    header_says("{\"__metadata__\":{\"k\":\"v\"},\"a\":" TENSOR("BOOL", "[1,1,1,1,1,1,1,1]", "0", "1") "}", 1, NULL);
}

/* The number of bytes of a header takes more than one byte of its own, with every bit in its place. */
static void safetensors_long_headers(void **state) {
    (void)state;
    static char header[66000];
    static const size_t lengths[] = {200, 256, 257, 511, 4096, 65279, 65536};
    const char *entry = "{\"a\":" TENSOR("F32", "[2,3]", "0", "24") "}";
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        memset(header, ' ', sizeof header);
        memcpy(header, entry, strlen(entry));
        header[lengths[i]] = '\0';
        header_says(header, 24, NULL);
    }
}

static void safetensors_hostile(void **state) {
    (void)state;
    header_says("{\"a\":" TENSOR("F32", "[2,3]", "0", "24") "}", 23, "lie outside");
    header_says("{\"a\":" TENSOR("F32", "[2,3]", "0", "24") "}", 25, "1 bytes behind the last tensor");
    header_says("{\"a\":" TENSOR("F32", "[2,2]", "0", "24") "}", 24, "need other bytes");
    header_says("{\"a\":" TENSOR("F32", "[2]", "0", "8") ",\"b\":" TENSOR("F32", "[2]", "4", "12") "}", 12,
                "another's");
    header_says("{\"a\":" TENSOR("F32", "[2]", "0", "8") ",\"b\":" TENSOR("F32", "[2]", "0", "8") "}", 8, "another's");
    header_says("{\"a\":" TENSOR("F32", "[1]", "0", "4") ",\"b\":" TENSOR("F32", "[1]", "8", "12") "}", 12, "a hole");
    header_says("{\"a\":" TENSOR("F32", "[1]", "0", "4") ",\"a\":" TENSOR("F32", "[1]", "4", "8") "}", 8, "not JSON");
    header_says("{\"a\":" TENSOR("F32", "[4611686018427387904,4]", "0", "0") "}", 0, "too many elements");
    header_says("{\"a\":" TENSOR("F32", "[-1]", "0", "0") "}", 0, "whole number from 0");
    header_says("{\"a\":" TENSOR("F32", "[1.5]", "0", "4") "}", 4, "whole number from 0");
    header_says("{\"a\":" TENSOR("F32", "[1,1,1,1,1,1,1,1,1]", "0", "4") "}", 4, "more than 8 dimensions");
    header_says("{\"a\":" TENSOR("F32", "{}", "0", "4") "}", 4, "not a list");
    header_says("{\"a\":" TENSOR("C64", "[1]", "0", "8") "}", 8, "C64, which masu does not have");
    header_says("{\"a\":" TENSOR("F32", "[1]", "-4", "0") "}", 4, "lie outside");
    header_says("{\"a\":" TENSOR("F32", "[1]", "8", "4") "}", 8, "lie outside");
    header_says("{\"a\":" TENSOR("F32", "[1]", "0", "18446744073709551620") "}", 4, "not JSON");
    header_says("{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", 4, "a tensor has dtype");
    header_says("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0]      }}", 4, "two whole numbers");
    header_says("{\"a\":7}", 0, "a tensor has dtype");
    header_says("{\"__metadata__\":{\"a\":1}}", 0, "not a map of texts");
    header_says("{\"\\u0000\":" TENSOR("F32", "[1]", "0", "4") "}", 4, "not JSON");
    header_says("{\"\xff\":" TENSOR("F32", "[1]", "0", "4") "}", 4, "not JSON");
    header_says("{\"a\":{\"b\":{\"c\":{}}}}", 0, "nests deeper");
    header_says("{\"a\":[[[[1]]]]}", 0, "nests deeper");
    header_says("{,,,,,,,,,,,,,,,,,,,,}", 0, "too many parts");
    header_says("{\"a\":", 0, "not JSON");
    header_says("{} x", 0, "not JSON");
}

static void safetensors_lengths(void **state) {
    (void)state;
    expect_words("\xff\xff\xff\xff\xff\xff\xff\x7f{}", 10, "where 2 are left");
    expect_words("\3\0\0\0\0\0\0\0{}", 10, "where 2 are left");
    expect_words("", 0, "not a .npy");
    expect_words("\2\0\0", 3, "not a .npy");
}

/* ---- npy --------------------------------------------------------------------------------------------------------- */

static void npy_says(const char *header, size_t data, const char *words) {
    static char file[70000];
    size_t length = strlen(header);
    memset(file, 0, sizeof file);
    memcpy(file, "\x93NUMPY\1\0", 8);
    file[8] = (char)(length & 255);
    file[9] = (char)(length >> 8);
    memcpy(file + 10, header, length);
    expect_words(file, 10 + length + data, words);
}

static void npy(void **state) {
    (void)state;
    npy_says("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", 24, NULL);
    npy_says("{\"shape\":(),\"descr\":\"|u1\",\"fortran_order\":True}", 1, NULL);
    npy_says("{'descr': '<i8', 'fortran_order': False, 'shape': (2L,)}", 16, NULL);
    npy_says("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", 23, "its header says");
    npy_says("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", 25, "its header says");
    npy_says("{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }", 8, "of the type '<c8'");
    npy_says("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", 8, "of the type '|O'");
    npy_says("{'descr': '<f3', 'fortran_order': False, 'shape': (1,), }", 8, "of the type '<f3'");
    npy_says("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", 4, "records");
    npy_says("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", 4, "not NumPy's");
    npy_says("{'descr': '<f4', 'fortran_order': False, 'shape': (1 2), }", 8, "not NumPy's");
    npy_says("{'descr': '<f4', 'fortran_order': False}", 4, "not NumPy's");
    npy_says("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}", 4, "not NumPy's");
    npy_says("{'descr': '<f4', 'fortran_order': Falsch, 'shape': ()}", 4, "not NumPy's");
    npy_says("{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)}", 4, "more than 8 dimensions");
    npy_says("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4)}", 0, "too many elements");
    npy_says("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", 0, "not NumPy's");
    npy_says("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x", 4, "not NumPy's");
    expect_words("\x93NUMPY\4\0\0\0\0\0\0\0", 14, "version 4");
    expect_words("\x93NUMPY\1\0\xff\xff{}", 12, "bytes, where");
    expect_words("\x93NUMPY\1\0", 8, "does not begin");
}

/* ---- IDX --------------------------------------------------------------------------------------------------------- */

static void idx(void **state) {
    (void)state;
    expect_words("\0\0\x8\2\0\0\0\1\0\0\0\3abc", 15, NULL);
    expect_words("\0\0\x8\2\0\0\0\1\0\0\0\3ab", 14, "its header says");
    expect_words("\0\0\x8\2\0\0\0\1\0\0\0\3abcd", 16, "its header says");
    expect_words("\0\0\x0a\1\0\0\0\1a", 9, "0x0a");
    expect_words("\0\0\x8\x9\0\0\0\1a", 9, "9 dimensions");
    expect_words("\0\0\x8\3\0\0\0\1\0\0", 10, "ends within");
    expect_words("\0\0\x0e\3\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 16, "too many elements");
    expect_words("\x1f\x8b\x8\0", 4, "does not begin as an IDX");
}

/* ---- zip --------------------------------------------------------------------------------------------------------- */

static void zip(void **state) {
    (void)state;
    static const char none[] = "PK\5\6\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    expect_words(none, 22, NULL);
    expect_words(none, 21, "directory is damaged");
    char many[22];
    memcpy(many, none, sizeof many);
    many[10] = 5; /* five entries in no bytes */
    expect_words(many, 22, "directory is damaged");
    many[10] = 0;
    many[16] = 100; /* begins behind the file */
    expect_words(many, 22, "directory is damaged");
    expect_words("PK\3\4 and nothing else", 21, "directory is damaged");
}

/* Four bytes that a file begins with, the larger end, its locator, the end that says to look there: no entries. The
 * locator may lie. */
static void zip64(void **state) {
    (void)state;
    enum { LARGER = 4, LOCATOR = LARGER + 56, END = LOCATOR + 20, ALL = END + 22 };
    char file[ALL] = "PK\3\4PK\6\6";
    memcpy(file + LOCATOR, "PK\6\7", 4);
    file[LOCATOR + 8] = LARGER;
    memcpy(file + END, "PK\5\6", 4);
    memset(file + END + 10, 255, 2); /* more entries than two bytes say */
    expect_words(file, ALL, NULL);
    static const unsigned char places[] = {5, LOCATOR, END + 1, 255}; /* not its beginning, no room, behind the end */
    for (unsigned i = 0; i < sizeof places; i++) {
        file[LOCATOR + 8] = (char)places[i];
        expect_words(file, ALL, "directory is damaged");
    }
    file[LOCATOR + 8] = LARGER;
    file[LOCATOR + 15] = 1; /* 2^56: far from the file */
    expect_words(file, ALL, "directory is damaged");
    file[LOCATOR + 15] = 0;
    file[LARGER + 32] = 1; /* an entry in no bytes */
    expect_words(file, ALL, "directory is damaged");
}

/* One entry, its own header in front and its record behind. Deflated, its bytes are one block that is stored. */
static void packed_by(unsigned method, const char *words) {
    static const char npy[] = "\x93NUMPY\1\0\x38\0{'descr': '|i1', 'fortran_order': False, 'shape': (1,)}\na";
    enum { NAME = 5, BODY = sizeof npy - 1, BLOCK = 5, FRONT = 30 + NAME, RECORD = 46 + NAME, END = 22 };
    unsigned char file[FRONT + BLOCK + BODY + RECORD + END] = "PK\3\4", *at = file + FRONT;
    file[26] = NAME;
    memcpy(file + 30, "a.npy", NAME);
    if (method == 8) {
        memcpy(at, (unsigned char[BLOCK]){1, BODY, 0, 255 - BODY, 255}, BLOCK);
        at += BLOCK;
    }
    memcpy(at, npy, BODY);
    unsigned char *record = at + BODY, *end = record + RECORD;
    memcpy(record, "PK\1\2", 4);
    record[10] = (unsigned char)method;
    record[20] = (unsigned char)(record - file - FRONT);
    record[24] = BODY;
    record[28] = NAME;
    memcpy(record + 46, "a.npy", NAME);
    memcpy(end, "PK\5\6", 4);
    end[8] = end[10] = 1;
    end[12] = RECORD;
    end[16] = (unsigned char)(record - file);
    expect_words(file, (size_t)(end + END - file), words);
}

static void zip_methods(void **state) {
    (void)state;
    packed_by(0, NULL);
    packed_by(8, NULL);
    packed_by(1, "`a` in it is packed by method 1; stored and deflated ones are read");
    packed_by(7, "packed by method 7");
    packed_by(9, "packed by method 9");
    packed_by(12, "packed by method 12");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(safetensors_right),
                                       cmocka_unit_test(safetensors_long_headers),
                                       cmocka_unit_test(safetensors_hostile),
                                       cmocka_unit_test(safetensors_lengths),
                                       cmocka_unit_test(npy),
                                       cmocka_unit_test(idx),
                                       cmocka_unit_test(zip),
                                       cmocka_unit_test(zip64),
                                       cmocka_unit_test(zip_methods)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
