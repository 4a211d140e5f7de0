/* Messages and margins that quote the source: shape errors with their notes, and the annotated
 * listing. */
#include <string.h>

#include "ir_support.h"

static const char source[] = "fn id(x: Tensor) -> Tensor { x }\n"
                             "fn main() {\n"
                             "    let a = T();\n"
                             "    let b = id(a);\n"
                             "    println(b + a);\n"
                             "    id(a);\n"
                             "}\n";
static const uint32_t line_starts[] = {0, 33, 45, 62, 81, 101, 112, 114};

static const source_file file = {.path = "t.tl",
                                 .text = source,
                                 .length = sizeof source - 1,
                                 .line_starts = line_starts,
                                 .line_count = 7};

/* The first place of `text` on the line. */
static source_span at(uint32_t line, const char *text) {
    const char *found = strstr(source + line_starts[line - 1], text);
    assert_non_null(found);
    return (source_span){
        .file = &file, .offset = (uint32_t)(found - source), .length = (uint32_t)strlen(text)};
}

static ir_instr *emit(ir_builder *b, ir_opcode op, const ir_value *args, uint32_t count,
                      ir_type result, source_span span) {
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

static void the_margin_says_what_happens(void **state) {
    (void)state;
    masu__arena arena = {0};
    masu__buffer text = {0};
    pass_options o = {0};
    ir_module *m = make(&arena, 0);
    assert_int_equal(pass_run_all(m, &o), MASU_OK);
    pass_explain(m, &file, &text);
    assert_string_equal(
        masu__buffer_text(&text),
        "    1 | fn id(x: Tensor) -> Tensor { x } | id{o}: 0 slots (needs 0), 0 acquires, 0 "
        "releases; `x` moves out; id{b}: 0 slots (needs 0), 1 acquire, 0 releases; {b} `x` "
        "acquired: it is only borrowed and must outlive the call\n"
        "    2 | fn main() {                      | main: 2 slots (needs 2), 0 acquires, 3 "
        "releases, tensors in 64 bytes (needs 64)\n"
        "    3 |     let a = T();                 | `a` made [4, 4] in a pool (it leaves the "
        "function or lives on in another value), slot 0\n"
        "    4 |     let b = id(a);               | `a` lent to id{b}; `id(a)` received [4, 4], "
        "slot 1\n"
        "    5 |     println(b + a);              | `b + a` made [4, 4] in the frame at 0, 64 "
        "bytes, slot 1; `id(a)` dies; `b + a` dies\n"
        "    6 |     id(a);                       | `a` moves into id{o}; `id(a)` received [4, 4]; "
        "`id(a)` dies\n"
        "    7 | }\n"
        "\n"
        "the frame of main: 64 bytes, and no plan needs less\n"
        "\n"
        "          64 ┬\n"
        "           0 │ aa\n"
        "        line   5.   (last digit)\n"
        "\n"
        "    a  at 0             64 bytes  line 5    b + a\n"
        "\n"
        "behind        acquires  releases  over an operand  in a frame  protected\n"
        "fold                 0         0                0           0          0\n"
        "shapes               0         0                0           0          0\n"
        "lastuse              0         0                0           0          0\n"
        "ownership            1         3                0           0          0\n"
        "reuse                1         3                1           0          0\n"
        "frames               1         3                0           1          0\n"
        "slots                1         3                0           1          3\n"
        "\n"
        "3 functions in the program, 1 acquire and 3 releases in the text\n");
    masu__buffer_destroy(&text);
    masu__arena_destroy(&arena);
}

/* Every release and acquire of the program is in the margin. */
static void nothing_is_left_out(void **state) {
    (void)state;
    masu__arena arena = {0};
    masu__buffer text = {0};
    pass_options o = {0};
    ir_module *m = make(&arena, 0);
    assert_int_equal(pass_run_all(m, &o), MASU_OK);
    pass_explain(m, NULL, &text); /* the file of main */
    uint32_t dies = 0, acquired = 0, real_releases = 0, real_acquires = 0;
    for (const char *c = masu__buffer_text(&text); (c = strstr(c, " dies")); c++)
        dies++;
    for (const char *c = masu__buffer_text(&text); (c = strstr(c, " acquired:")); c++)
        acquired++;
    for (uint32_t f = 0; f < m->function_count; f++) {
        real_releases += pass_count(m->functions[f]).releases;
        real_acquires += pass_count(m->functions[f]).acquires;
    }
    assert_int_equal(dies, real_releases);
    assert_int_equal(acquired, real_acquires);
    masu__buffer_destroy(&text);
    masu__arena_destroy(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_quote_the_source),
        cmocka_unit_test(the_margin_says_what_happens),
        cmocka_unit_test(nothing_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
