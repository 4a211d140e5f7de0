/* Messages and margins that quote the source: shape errors with their notes, and the annotated
 * listing. */
#include <stdio.h>
#include <string.h>

#include "ir_support.h"

static const char source[] =
    "fn id(x: Tensor) -> Tensor { x }\n"
    "fn main() {\n"
    "    let a = T();\n"
    "    let b = id(a);\n"
    "    println(b + a);\n"
    "    id(a);\n"
    "}\n";
static const uint32_t line_starts[] = {0, 33, 45, 62, 81, 101, 112, 114};

static const source_file file = {
    .path = "t.tl", .text = source, .length = sizeof source - 1, .line_starts = line_starts, .line_count = 7};

/* The first place of `text` on the line. */
static source_span at(uint32_t line, const char *text) {
    const char *found = strstr(source + line_starts[line - 1], text);
    assert_non_null(found);
    return (source_span){.file = &file, .offset = (uint32_t)(found - source), .length = (uint32_t)strlen(text)};
}

static ir_instr *emit(ir_builder *b, ir_opcode op, const ir_value *args, uint32_t count, ir_type result,
                      source_span span) {
    return ir_emit(b, op, args, count, &result, result != IR_NONE, span);
}

static ir_value eye(ir_builder *b, int64_t n, source_span span, const char *name) {
    ir_value arg = ir_emit_const_int(b, IR_I64, n, span);
    ir_instr *i = emit(b, IR_ABI, &arg, 1, IR_TENSOR, span);
    i->abi = TL_FN_tl_tensor_eye;
    ir_builder_block(b)->function->values[i->result].name = name;
    return i->result;
}

static ir_function *make_id(ir_module *m) {
    static const ir_type tensor = IR_TENSOR;
    ir_function *id = ir_function_new(m, "id", at(1, "id"));
    ir_value x = ir_function_add_param(id, IR_TENSOR, "x", at(1, "x"));
    ir_function_set_results(id, &tensor, 1);
    ir_builder *b = ir_builder_new(id);
    ir_emit_ret(b, &x, 1, at(1, "x }"));
    ir_builder_finish(b);
    return id;
}

static ir_module *make(masu__arena *arena, int64_t size_of_b) {
    ir_module *m = ir_module_new(arena);
    ir_function *id = make_id(m);
    m->main = ir_function_new(m, "main", at(2, "main"));
    ir_builder *b = ir_builder_new(m->main);
    ir_value a = eye(b, 4, at(3, "T()"), "a");
    ir_instr *call = emit(b, IR_CALL, &a, 1, IR_TENSOR, at(4, "id(a)"));
    call->callee = id;
    ir_value other = size_of_b ? eye(b, size_of_b, at(4, "id(a)"), NULL) : call->result;
    ir_value sum[] = {other, a};
    ir_instr *add = emit(b, IR_ABI, sum, 2, IR_TENSOR, at(5, "b + a"));
    add->abi = TL_FN_tl_tensor_add;
    emit(b, IR_ABI, &add->result, 1, IR_NONE, at(5, "println(b + a)"))->abi = TL_FN_tl_print_tensor;
    emit(b, IR_CALL, &a, 1, IR_TENSOR, at(6, "id(a)"))->callee = id;
    ir_emit_ret(b, NULL, 0, at(7, "}"));
    ir_builder_finish(b);
    return m;
}

static void errors_quote_the_source(void **state) {
    (void)state;
    masu__arena arena = {0};
    masu__buffer said = {0};
    pass_options o = {.report = support_collect, .user = &said};
    assert_int_equal(pass_run_all(make(&arena, 3), &o), MASU_ERR_SHAPE_MISMATCH);
    assert_string_equal(masu__buffer_text(&said),
                        "shapes [3, 3] and [4, 4] cannot be broadcast in `b + a` "
                        "[`id(a)` has shape [3, 3]] [`a` has shape [4, 4]]\n");
    masu__buffer_destroy(&said);
    masu__arena_destroy(&arena);
}

static ir_module *explained(masu__arena *arena, const source_file *of, masu_explain_form form, masu__buffer *text) {
    static const char *const disabled[] = {"identity"};
    pass_options o = {.disabled = disabled, .disabled_count = 1};
    ir_module *m = make(arena, 0);
    assert_int_equal(pass_run_all(m, &o), MASU_OK);
    pass_explain_as(m, of, form, text);
    assert_false(text->failed);
    return m;
}

/* A row of the table of passes; no growing slots, and nothing built for a caller. */
#define COUNTS(name, acquires, releases, over, framed, rooted)                                  \
    "  " name "         " #acquires "         " #releases "     " #over "             " #framed \
    "        0               0          " #rooted "\n"

static void the_margin_says_what_happens(void **state) {
    (void)state;
    masu__arena arena = {0};
    masu__buffer text = {0};
    explained(&arena, &file, MASU_EXPLAIN_TEXT, &text);
    const char *margin = strstr(masu__buffer_text(&text), "    1 | ");
    assert_non_null(margin);
    assert_string_equal(
        margin, "    1 | fn id(x: Tensor) -> Tensor { x } | id{o}: 0 slots (needs 0), 0 acquires, 0 "
                "releases; `x` moves out; id{b}: 0 slots (needs 0), 1 acquire, 0 releases; {b} `x` "
                "acquired: it is only borrowed and must outlive the call\n"
                "    2 | fn main() {                      | main: 2 slots (needs 2), 0 acquires, 3 "
                "releases, tensors in 128 bytes (needs 128)\n"
                "    3 |     let a = T();                 | `a` made [4, 4] in the frame at 0, 64 bytes, slot 0\n"
                "    4 |     let b = id(a);               | `a` lent to id{b}; `id(a)` received [4, 4], slot 1\n"
                "    5 |     println(b + a);              | `b + a` made [4, 4] in the frame at 64, 64 "
                "bytes, slot 1; `id(a)` dies; `b + a` dies\n"
                "    6 |     id(a);                       | `a` moves into id{o}; `id(a)` received [4, 4]; "
                "`id(a)` dies\n"
                "    7 | }\n"
                "\n"
                "the frame of main: 128 bytes, and no plan needs less\n"
                "\n"
                "         128 ┬\n"
                "          64 │  bb \n"
                "           0 │ aaaa\n"
                "        line   35..   (last digit)\n"
                "\n"
                "    a  at 0             64 bytes  line 3    a\n"
                "    b  at 64            64 bytes  line 5    b + a\n"
                "\n"
                "values of main\n"
                "    `a`, line 3: made [4, 4] in the frame at 0, 64 bytes, slot 0; lent to id{b}; last used "
                "in line 6; moves into id{o} in line 6\n"
                "    `id(a)`, line 4: received from id{b} [4, 4], slot 1; last used in line 5; dies in line 5\n"
                "    `b + a`, line 5: made [4, 4] in the frame at 64, 64 bytes, slot 1; last used in line 5; "
                "dies in line 5\n"
                "    `id(a)`, line 6: received from id{o} [4, 4]; dies in line 6\n"
                "\n"
                "values of id{o}\n"
                "    `x`, line 1: parameter, owned [4, 4]; last used in line 1; moves out in line 1\n"
                "\n"
                "values of id{b}\n"
                "    `x`, line 1: parameter, borrowed [4, 4]; counted 1 time: it is only borrowed and must "
                "outlive the call; last used in line 1; moves out in line 1\n"
                "\n"
                "What each pass left behind in the text of the program: counts taken and given back, results\n"
                "written over an operand, tensors in the frame, in growing slots, where the caller has room, and\n"
                "entries into owner slots. It is empty before `ownership`.\n"
                "\n"
                "behind            acquires  releases  over  in the frame  growing  for the caller  protected\n"
                "main\n" COUNTS("ownership     ", 0, 3, 0, 0, 0) COUNTS("reuse         ", 0, 3, 1, 0, 0)
                    COUNTS("frames        ", 0, 3, 0, 2, 0) COUNTS("slots         ", 0, 3, 0, 2, 3) "id{b}\n" COUNTS(
                        "ownership     ", 1, 0, 0, 0, 0) "the whole program\n" COUNTS("fold          ", 0, 0, 0, 0, 0)
                        COUNTS("shapes        ", 0, 0, 0, 0, 0) COUNTS("identity      ", 0, 0, 0, 0, 0)
                            COUNTS("lastuse       ", 0, 0, 0, 0, 0) COUNTS("gradients     ", 0, 0, 0, 0, 0)
                                COUNTS("ownership     ", 1, 3, 0, 0, 0) COUNTS("cancel        ", 1, 3, 0, 0, 0)
 COUNTS("products      ", 1, 3, 0, 0, 0)
                                    COUNTS("reuse         ", 1, 3, 1, 0, 0) COUNTS("destinations  ", 1, 3, 1, 0, 0)
                                        COUNTS("frames        ", 1, 3, 0, 2, 0) COUNTS("growing       ", 1, 3, 0, 2, 0)
                                            COUNTS("slots         ", 1, 3, 0, 2,
                                                   3) "\n"
                                                      "3 functions in the program, 1 acquire and 3 "
                                                      "releases in the text\n");
    masu__buffer_destroy(&text);
    masu__arena_destroy(&arena);
}

static uint32_t times(const char *text, const char *word) {
    uint32_t count = 0;
    for (const char *c = text; (c = strstr(c, word)); c++)
        count++;
    return count;
}

/* Every release and acquire of the program is in the margin. */
static void nothing_is_left_out(void **state) {
    (void)state;
    masu__arena arena = {0};
    masu__buffer text = {0};
    ir_module *m = explained(&arena, NULL, MASU_EXPLAIN_TEXT, &text); /* the file of main */
    const char *whole = masu__buffer_text(&text), *margin = strstr(whole, "    1 | ");
    assert_non_null(margin);
    const char *end = strstr(margin, "\n\n");
    assert_non_null(end);
    masu__buffer_truncate(&text, (size_t)(end - whole));
    uint32_t real_releases = 0, real_acquires = 0;
    for (uint32_t f = 0; f < m->function_count; f++) {
        real_releases += pass_count(m->functions[f]).releases;
        real_acquires += pass_count(m->functions[f]).acquires;
    }
    assert_int_equal(times(margin, " dies"), real_releases);
    assert_int_equal(times(margin, " acquired:"), real_acquires);
    masu__buffer_destroy(&text);
    masu__arena_destroy(&arena);
}

/* ---- as data ----------------------------------------------------------------------------------- */

static const char *json_value(const char *c);

static const char *json_blank(const char *c) {
    return c + strspn(c, " \n");
}

static const char *json_string(const char *c) {
    assert_int_equal(*c++, '"');
    for (; *c != '"'; c++) {
        assert_true((unsigned char)*c >= 0x20);
        c += *c == '\\';
    }
    return c + 1;
}

/* Objects and lists: members between the given ends. */
static const char *json_members(const char *c, char end, bool named) {
    c = json_blank(c + 1);
    while (*c != end) {
        if (named) {
            c = json_blank(json_string(c));
            assert_int_equal(*c, ':');
            c = json_blank(c + 1);
        }
        c = json_blank(json_value(c));
        if (*c == ',')
            assert_int_not_equal(*(c = json_blank(c + 1)), end);
        else
            assert_int_equal(*c, end);
    }
    return c + 1;
}

static const char *json_value(const char *c) {
    if (*c == '{')
        return json_members(c, '}', true);
    if (*c == '[')
        return json_members(c, ']', false);
    if (*c == '"')
        return json_string(c);
    static const char *const words[] = {"null", "true", "false"};
    for (size_t k = 0; k < sizeof words / sizeof words[0]; k++)
        if (strncmp(c, words[k], strlen(words[k])) == 0)
            return c + strlen(words[k]);
    size_t digits = strspn(c, "-0123456789");
    assert_true(digits > 0);
    return c + digits;
}

static void data_can_be_read(void **state) {
    (void)state;
    masu__arena arena = {0};
    masu__buffer text = {0};
    explained(&arena, &file, MASU_EXPLAIN_JSON, &text);
    const char *json = masu__buffer_text(&text);
    assert_int_equal(*json_blank(json_value(json)), 0);
    static const char *const parts[] = {
        "{\"name\": \"main\", \"line\": 2, \"slots\": 2, \"lower_bound\": 2, \"acquires\": 0, "
        "\"releases\": 3, \"growing_slots\": 0, \"frame_bytes\": 128, \"frame_lower_bound\": 128, ",
        "{\"pass\": \"frames\", \"acquires\": 0, \"releases\": 3, \"over\": 0, \"framed\": 2, "
        "\"growing\": 0, \"built\": 0, \"rooted\": 0}",
        "{\"value\": \"b + a\", \"line\": 5, \"kind\": \"made\", \"origin\": \"made [4, 4] in the frame at "
        "64, 64 bytes\", \"where\": \"frame\", \"why_pool\": null, \"offset\": 64, \"bytes\": 64, "
        "\"shares_bytes_with\": [], \"slot\": 1, \"shares_slot_with\": [\"id(a)\"], \"moved\": false, "
        "\"borrowed\": false, \"lent\": 0, \"lent_to\": [], \"counted\": 0, \"why\": null, \"last_use\": 5, "
        "\"ends\": \"dies in line 5\"}",
        "\"lent\": 1, \"lent_to\": [\"id{b}\"], ",
        "\"counted\": 1, \"why\": \"it is only borrowed and must outlive the call\"",
        "{\"line\": 6, \"function\": \"main\", \"what\": \"`a` moves into id{o}\"}",
    };
    for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++)
        if (!strstr(json, parts[k]))
            fail_msg("not in the data: %s\n%s", parts[k], json);
    masu__buffer_destroy(&text);
    masu__arena_destroy(&arena);
}

/* The page has the picture of the frame, the values and the numbers behind each pass; nothing of the source is taken
 * for a mark of the page. */
static void the_page_shows_frames_and_passes(void **state) {
    (void)state;
    masu__arena arena = {0};
    masu__buffer text = {0};
    explained(&arena, &file, MASU_EXPLAIN_HTML, &text);
    const char *page = masu__buffer_text(&text);
    static const char shared[] =
        "<tr><td>`b + a`<td class=n>5<td>made [4, 4] in the frame at 64, 64 bytes<td>1, shared "
        "with `id(a)`<td><td><td class=n>5<td>dies in line 5\n";
    static const char counts[] =
        "main\n  ownership              0         3     0             0        0               0          0\n";
    const char *const parts[] = {
        "<code>fn id(x: Tensor) -&#62; Tensor { x }</code>",
        "<span class=a>",
        "<pre>",
        "<text x=\"202.0\" y=\"11.0\">b</text><title>b + a, line 5: bytes 64 to 128</title>",
        shared,
        counts,
    };
    for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++)
        if (!strstr(page, parts[k]))
            fail_msg("not on the page: %s\n%s", parts[k], page);
    static const char *const marks[] = {"html", "style", "h1", "svg"};
    for (size_t k = 0; k < sizeof marks / sizeof marks[0]; k++) {
        char closing[16];
        snprintf(closing, sizeof closing, "</%s>", marks[k]);
        assert_int_equal(times(page, closing), 1);
    }
    masu__buffer_destroy(&text);
    masu__arena_destroy(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_quote_the_source),
        cmocka_unit_test(the_margin_says_what_happens),
        cmocka_unit_test(nothing_is_left_out),
        cmocka_unit_test(data_can_be_read),
        cmocka_unit_test(the_page_shows_frames_and_passes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
