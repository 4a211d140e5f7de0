/* The pickle machine: what Python writes is read as it was meant, everything else is refused by name and place, and no
 * file asks for more memory than a constant times its size. The bytes were written by Python's pickle module. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/meta.h"
#include "recording/pickle.h"
#include "unit/recording/write_pickle.h"

/* The value as Python's repr would have it; depth bounds what contains itself. */
static void show(masu__buffer *out, const masu__pickle *p, masu__pickle_value v, int depth) {
    size_t count;
    const masu__pickle_value *items = masu__pickle_items(p, v, &count);
    switch ((masu__pickle_kind)v.kind) {
    case MASU__PICKLE_NONE:
        masu__buffer_puts(out, "None");
        return;
    case MASU__PICKLE_BOOL:
        masu__buffer_puts(out, v.is.integer ? "True" : "False");
        return;
    case MASU__PICKLE_INT:
        masu__buffer_printf(out, "%lld", (long long)v.is.integer);
        return;
    case MASU__PICKLE_UNSIGNED:
        masu__buffer_printf(out, "%llu", (unsigned long long)v.is.integer);
        return;
    case MASU__PICKLE_FLOAT:
        masu__buffer_printf(out, "%g", v.is.real);
        return;
    case MASU__PICKLE_TEXT:
        masu__buffer_printf(out, "'%.*s'", (int)v.length, v.is.text);
        return;
    case MASU__PICKLE_BYTES:
        masu__buffer_printf(out, "b'%.*s'", (int)v.length, v.is.text);
        return;
    default:
        break;
    }
    masu__buffer_putc(out, v.kind == MASU__PICKLE_LIST ? '[' : v.kind == MASU__PICKLE_TUPLE ? '(' : '{');
    for (size_t i = 0; i < count && depth > 0; i++) {
        masu__buffer_puts(out, i == 0 ? "" : v.kind == MASU__PICKLE_DICT && i % 2 ? ": " : ", ");
        show(out, p, items[i], depth - 1);
    }
    masu__buffer_putc(out, v.kind == MASU__PICKLE_LIST ? ']' : v.kind == MASU__PICKLE_TUPLE ? ')' : '}');
}

static void expect(const char *bytes, size_t length, const char *wanted) {
    masu__pickle p;
    masu__buffer why = {0}, text = {0};
    masu_status status = masu__pickle_read(bytes, length, &p, &why);
    if (status == MASU_OK)
        show(&text, &p, p.top, 6);
    else
        masu__buffer_puts(&text, masu__buffer_text(&why));
    if (strcmp(masu__buffer_text(&text), wanted) != 0)
        fail_msg("`%s`, not `%s`", masu__buffer_text(&text), wanted);
    masu__pickle_destroy(&p);
    masu__buffer_destroy(&text);
    masu__buffer_destroy(&why);
}
#define EXPECT(bytes, wanted) expect("" bytes, sizeof(bytes) - 1, wanted)

static void reads_what_python_writes(void **state) {
    (void)state;
    EXPECT("\x80\x02]q\x00.", "[]");
    EXPECT(
        "\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00]\x94(K\x01K\x02K\x03"
        "e.",
        "[1, 2, 3]");
    EXPECT(
        "\x80\x02}q\x00(X\x01\x00\x00\x00"
        "aq\x01M\x01\x01X\x01\x00\x00\x00"
        "bq\x02Nu.",
        "{'a': 257, 'b': None}");
    EXPECT("\x80\x02J\xff\xff\xff\xff.", "-1");
    EXPECT("\x80\x02\x8a\x06\x00\x00\x00\x00\x45\x7f.", "139934329470976");
    EXPECT("\x80\x02\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80.", "-9223372036854775808");
    EXPECT("\x80\x02\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x00.", "18446744073709551615");
    EXPECT("\x80\x02\x8a\x00.", "0");
    EXPECT("\x80\x02\x8a\x02\xff\xff.", "-1"); /* longer than it need be */
    EXPECT("\x80\x02\x8b\x0a\x00\x00\x00\xfe\xff\xff\xff\xff\xff\xff\xff\xff\xff.", "-2");
    EXPECT("\x80\x04G?\xb9\x99\x99\x99\x99\x99\x9a.", "0.1");
    EXPECT("\x80\x04\x88\x89\x86\x94.", "(True, False)");
    EXPECT("\x80\x04)\x85(K\x01K\x02K\x03K\x04t\x87K\x09\x86.", "byte 14: takes a value from an empty stack");
    EXPECT("\x80\x04K\x01\x85K\x02K\x03\x87.", "((1), 2, 3)");
    EXPECT(
        "\x80\x05"
        "C\x03"
        "a\nb.",
        "b'a\nb'");
    EXPECT(
        "\x80\x02K\x01K\x02"
        "0.",
        "1");
    EXPECT(
        "\x80\x02K\x01(K\x02K\x03"
        "1.",
        "1");
}

static void a_list_may_hold_itself(void **state) {
    (void)state;
    masu__pickle p;
    masu__buffer why = {0};
    size_t count;
    assert_int_equal(masu__pickle_read("\x80\x04]\x94(h\x00K\x07"
                                       "e.",
                                       11, &p, &why),
                     MASU_OK);
    const masu__pickle_value *items = masu__pickle_items(&p, p.top, &count);
    assert_int_equal(count, 2);
    assert_true(items[0].is.box == p.top.is.box && items[1].is.integer == 7);
    masu__pickle_destroy(&p);
}

static void refuses(void **state) {
    (void)state;
    const char *plain =
        ": masu reads plain data only (dict, list, tuple, str, int, float, bool, None, bytes) and runs nothing that "
        "a file asks for";
    static const struct {
        char code;
        const char *name;
    } builders[] = {{'c', "GLOBAL"},        {'R', "REDUCE"},    {'b', "BUILD"},        {'i', "INST"},
                    {'o', "OBJ"},           {'\x81', "NEWOBJ"}, {'\x92', "NEWOBJ_EX"}, {'\x93', "STACK_GLOBAL"},
                    {'P', "PERSID"},        {'Q', "BINPERSID"}, {'\x82', "EXT1"},      {'\x8f', "EMPTY_SET"},
                    {'\x96', "BYTEARRAY8"}, {'I', "INT"},       {'2', "DUP"}};
    for (size_t i = 0; i < sizeof builders / sizeof *builders; i++) {
        char bytes[] = {'\x80', 4, 'K', 1, builders[i].code, '.'}, wanted[200] = "byte 4: ";
        strcat(strcat(wanted, builders[i].name), plain);
        expect(bytes, sizeof bytes, wanted);
    }
    EXPECT("\x80\x02\xff.", "byte 2: 0xff is not an instruction of a pickle");
    EXPECT("\x80\x06N.", "byte 0: not a pickle of protocol 2 to 5");
    EXPECT("", "byte 0: not a pickle of protocol 2 to 5");
    EXPECT("(dp0\n.", "byte 0: not a pickle of protocol 2 to 5");
    EXPECT("\x80\x04N\x80\x01.", "byte 3: pickle protocol 1: protocols 2 to 5 are read here");
    EXPECT("\x80\x04N", "byte 3: the file ends before the pickle does");
    EXPECT("\x80\x04.", "byte 2: takes a value from an empty stack");
    EXPECT("\x80\x04N..", "byte 4: 1 bytes behind the end of the pickle");
    EXPECT("\x80\x04M\x01", "byte 2: the file ends inside BININT2");
    EXPECT(
        "\x80\x04X\xff\xff\xff\x7f"
        "a.",
        "byte 2: BINUNICODE of 2147483647 bytes, and the file has only 2 more");
    EXPECT("\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\xff.",
           "byte 2: BINUNICODE8 of 18446744073709551615 bytes, and the file has only 1 more");
    EXPECT("\x80\x04h\x00.", "byte 2: asks for value number 0 of 0 that were remembered");
    EXPECT("\x80\x04Nr\x00\x00\x00\x7f.", "byte 3: remembers a value as number 2130706432, where 0 is next");
    EXPECT("\x80\x04}(Nu.", "byte 5: a key without a value");
    EXPECT("\x80\x04](NNu.", "byte 6: fills a list as if it were a dict");
    EXPECT("\x80\x04(NNu.", "byte 5: fills a dict that is not there");
    EXPECT("\x80\x04]e.", "byte 3: looks for a mark, and there is none");
    EXPECT("\x80\x04N(a.", "byte 4: takes a value from an empty stack"); /* what lies under a mark is not to be had */
    EXPECT("\x80\x04\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\x01.",
           "byte 2: an integer that does not fit into 64 bits");
    EXPECT("\x80\x04\x8a\x09\xff\xff\xff\xff\xff\xff\xff\x7f\xff.",
           "byte 2: an integer that does not fit into 64 bits");
}

/* Every beginning of a pickle is refused, and no memory is left. */
static void refuses_every_beginning(void **state) {
    (void)state;
    static const char whole[] =
        "\x80\x04\x95\x20\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x01"
        "a\x94]\x94(K\x01G?\xb9\x99\x99\x99\x99\x99"
        "\x9ah\x01"
        "e\x8c\x01"
        "bh\x02u.";
    EXPECT(
        "\x80\x04\x95\x20\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x01"
        "a\x94]\x94(K\x01G?\xb9\x99\x99\x99\x99\x99"
        "\x9ah\x01"
        "e\x8c\x01"
        "bh\x02u.",
        "{'a': [1, 0.1, 'a'], 'b': [1, 0.1, 'a']}");
    uint64_t before = masu__meta_live_blocks();
    for (size_t length = 0; length < sizeof whole - 1; length++) {
        masu__pickle p;
        masu__buffer why = {0};
        assert_int_equal(masu__pickle_read(whole, length, &p, &why), MASU_ERR_INVALID_ARGUMENT);
        masu__buffer_destroy(&why);
        assert_int_equal(masu__meta_live_blocks(), before);
    }
}

static void needs_bounded_memory(void **state) {
    (void)state;
    enum { MANY = 200000 };
    masu__pickle p;
    masu__buffer why = {0}, lists = {0}, deep = {0}, marks = {0}, shared = {0};
    put_begin(&lists), put_begin(&deep), put_begin(&marks), put_begin(&shared);
    for (int i = 0; i < MANY; i++)
        put_code(&lists, i % 2 ? ']' : '}');
    for (int i = 0; i < MANY; i++)
        masu__buffer_puts(&deep, "](");
    masu__buffer_fill(&deep, 'e', MANY);
    put_end(&deep);
    masu__buffer_fill(&marks, '(', MANY);
    masu__buffer_puts(&shared, "]\x94(");
    for (int i = 0; i < MANY; i++)
        masu__buffer_append(&shared, "h\0", 2);
    masu__buffer_puts(&shared, "e.");
    masu__buffer *all[] = {&lists, &deep, &marks, &shared};
    for (size_t i = 0; i < 4; i++) {
        uint64_t before = masu__meta_live_bytes();
        masu_status status = masu__pickle_read(all[i]->data, all[i]->length, &p, &why);
        assert_int_equal(status, i == 1 || i == 3 ? MASU_OK : MASU_ERR_INVALID_ARGUMENT);
        assert_true(masu__meta_live_bytes() - before <= (uint64_t)MASU__PICKLE_BYTES_A_BYTE * all[i]->length);
        masu__pickle_destroy(&p);
        masu__buffer_destroy(all[i]);
    }
    masu__buffer_destroy(&why);
}

static void survives_without_memory(void **state) {
    (void)state;
    masu__buffer bytes = {0};
    put_begin(&bytes);
    open_list(&bytes);
    for (int i = 0; i < 40; i++) {
        open_dict(&bytes);
        put_number(&bytes, "number", i);
        close_dict(&bytes);
        put_code(&bytes, '\x94');
    }
    close_list(&bytes);
    put_end(&bytes);
    uint64_t before = masu__meta_live_blocks();
    for (uint64_t nth = 1;; nth++) {
        masu__pickle p;
        masu__buffer why = {0};
        masu__fault_arm(nth);
        masu_status status = masu__pickle_read(bytes.data, bytes.length, &p, &why);
        bool fired = masu__fault_fired();
        masu__fault_arm(0);
        assert_int_equal(status, fired ? MASU_ERR_OUT_OF_MEMORY : MASU_OK);
        masu__pickle_destroy(&p);
        masu__buffer_destroy(&why);
        assert_int_equal(masu__meta_live_blocks(), before);
        if (!fired)
            break;
    }
    masu__buffer_destroy(&bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_python_writes),
        cmocka_unit_test(a_list_may_hold_itself),
        cmocka_unit_test(refuses),
        cmocka_unit_test(refuses_every_beginning),
        cmocka_unit_test(needs_bounded_memory),
        cmocka_unit_test(survives_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
