/* test_operations.c: every operation of ops.def and of the library by its example, without a line for any of them.
 *
 * The examples become one program: a function for each, called with operands of several shapes (rank 0 to 6, lengths 0
 * to 3, of other lengths where the example says so). Each call compares
 *
 *     the operation on operands that are views     with the one on rows          bit by bit
 *     Tensor::name(x, …)                           with x.name(…)                bit by bit
 *     the operation in f32                         with the one in f64           to f32's precision
 *     the gradient of each floating operand        with finite differences, also through a view
 *
 * so an operation whose entry says that it has a gradient has one, and another cannot be given an example in vain.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "language/facts/tensor_facts.h"
#include "language/language.h"
#include "language/library/library.h"
#include "runtime/runtime.h"

enum { OPERANDS = 8, MOST_ELEMENTS = 24, RANKS = 6, SHAPES = 5 };

typedef struct dims {
    int rank;
    int64_t length[TL_MAX_RANK];
} dims;

/* One operand of an example: "a[..,3]+". */
typedef struct sample {
    char name;
    char pattern[64]; /* between the brackets */
    char kind[8];     /* behind them */
} sample;

typedef struct example {
    const char *operation; /* for messages */
    const char *expression;
    tl_gradient gradient;
    sample operands[OPERANDS];
    int count;
    bool any_shape;
} example;

static masu__rng rng;

/* ---- reading examples ------------------------------------------------------------------------ */

static void read_example(const char *text, const char *operation, tl_gradient gradient, example *e) {
    *e = (example){.operation = operation, .gradient = gradient};
    const char *at = text;
    while (*at != ':') {
        sample *s = &e->operands[e->count++];
        int used = 0;
        if (e->count == OPERANDS || sscanf(at, " %c[%n", &s->name, &used) != 1 || used == 0)
            fail_msg("%s: what is the example `%s`?", operation, text);
        at += used;
        size_t length = strcspn(at, "]"), kind = strcspn(at + length + 1, " :");
        assert_true(length < sizeof s->pattern && kind < sizeof s->kind);
        memcpy(s->pattern, at, length);
        memcpy(s->kind, at + length + 1, kind);
        at += length + 1 + kind;
        e->any_shape |= strstr(s->pattern, "..") || strchr(s->pattern, '*');
    }
    e->expression = at + 2;
}

static const char *type_of(const sample *s, bool half) {
    return s->kind[0] == '#' ? "i64" : s->kind[0] == '?' ? "bool" : half ? "f32" : "f64";
}

static bool is_smooth(const sample *s) {
    return s->kind[0] != '#' && s->kind[0] != '?';
}

/* ---- shapes ---------------------------------------------------------------------------------- */

static int64_t elements(const dims *d) {
    int64_t n = 1;
    for (int i = 0; i < d->rank; i++)
        n *= d->length[i];
    return n;
}

/* Ranks 0, 1 and 6 for certain, one without elements, one by chance. */
static dims any_dims(int number) {
    dims d;
    do {
        d.rank = number == 0 ? 0 : number == 1 ? 1 : number == 2 ? RANKS : 2 + (int)masu__rng_below(&rng, RANKS - 2);
        for (int i = 0; i < d.rank; i++)
            d.length[i] = 1 + (int64_t)masu__rng_below(&rng, 3);
        if (number == 3)
            d.length[masu__rng_below(&rng, (uint64_t)d.rank)] = 0;
    } while (elements(&d) > MOST_ELEMENTS);
    return d;
}

/* A shape that broadcasts to d. */
static dims narrower_dims(const dims *d) {
    dims n = {0};
    int drop = (int)masu__rng_below(&rng, (uint64_t)d->rank + 1);
    for (int i = drop; i < d->rank; i++)
        n.length[n.rank++] = masu__rng_below(&rng, 2) ? d->length[i] : 1;
    return n;
}

static dims fill_in(const sample *s, const dims *any) {
    dims d = {0}, narrow = narrower_dims(any);
    int fixed = 0;
    for (const char *at = s->pattern; *at; at++)
        fixed += *at >= '0' && *at <= '9';
    int most = RANKS - fixed; /* of dimensions before the fixed ones */
    for (const char *at = s->pattern; *at;) {
        const dims *part = at[0] == '*' ? &narrow : any;
        if (at[0] == '.' || at[0] == '*') {
            int first = part->rank > most ? part->rank - most : 0;
            for (int i = first; i < part->rank; i++)
                d.length[d.rank++] = part->length[i];
            at += at[0] == '*' ? 1 : 2;
        } else {
            d.length[d.rank++] = strtoll(at, (char **)(uintptr_t)&at, 10);
        }
        at += *at == ',';
    }
    return d;
}

static void put_dims(FILE *out, const dims *d) {
    fputc('[', out);
    for (int i = 0; i < d->rank; i++)
        fprintf(out, i ? ", %lld" : "%lld", (long long)d->length[i]);
    fputc(']', out);
}

/* ---- the program ----------------------------------------------------------------------------- */

static const char helpers[] =
    "fn apart(n: i64, low: f64, high: f64) -> Tensor<f64> {\n"
    "    let order = Tensor::rand([n]).argsort() as Tensor<f64>;\n"
    "    let jitter = Tensor::rand([n]) as Tensor<f64>;\n"
    "    (order + jitter * 0.6 + 0.2) * ((high - low) / (n as f64 + 0.0001)) + low\n"
    "}\n"
    "fn square(t: Tensor<f64>, far: f64) -> Tensor<f64> {\n"
    "    t + (Tensor::eye(t.dim(-1)) as Tensor<f64>) * far\n"
    "}\n"
    "fn strided(t: Tensor) -> Tensor {\n" /* the same elements, every second of its storage */
    "    let u = t.unsqueeze(-1);\n"
    "    u.cat(u, -1).narrow(-1, 0, 1).squeeze(-1)\n"
    "}\n"
    "fn fits(got: Tensor, want: Tensor) -> bool {\n"
    "    if got.ndim() != want.ndim() { return false }\n"
    "    for d in 0..got.ndim() { if got.dim(d) != want.dim(d) { return false } }\n"
    "    true\n"
    "}\n"
    "fn compare(what: String, how: String, got: Tensor, want: Tensor, close: f64) -> i64 {\n"
    "    if !fits(got, want) {\n"
    "        println(\"{}: {}: shape {}, not {}\", what, how, got.shape(), want.shape());\n"
    "        return 1\n"
    "    }\n"
    "    let g = got.flatten() as Tensor<f64>;\n"
    "    let w = want.flatten() as Tensor<f64>;\n"
    "    for i in 0..g.len() {\n"
    "        let x = g[i];\n"
    "        let y = w[i];\n"
    "        if x != y && !(x != x && y != y) && !((x - y).abs() <= close * (1.0 + y.abs())) {\n"
    "            println(\"{}: {}: element {} is {}, not {}\", what, how, i, x, y);\n"
    "            return 1\n"
    "        }\n"
    "    }\n"
    "    0\n"
    "}\n"
    "fn loss(y: Tensor) -> Tensor<f64> {\n"
    "    let flat = y.flatten();\n"
    "    (flat * (((Tensor::arange(0, flat.len()) as Tensor<f64>) * 7.0) % 5.0 * 0.25 - 0.4)).sum()\n"
    "}\n"
    "fn moved(t: Tensor<f64>, i: i64, by: f64) -> Tensor<f64> {\n"
    "    let mut flat = t.flatten().clone();\n"
    "    flat[i] = flat[i] + by;\n"
    "    flat.reshape(t.shape())\n"
    "}\n";

static void put_parameters(FILE *out, const example *e, bool half) {
    for (int i = 0; i < e->count; i++) {
        const sample *s = &e->operands[i];
        fprintf(out, "%s%c: Tensor<%s", i ? ", " : "", s->name, type_of(s, half));
        if (!strpbrk(s->pattern, ".*")) {
            int rank = s->pattern[0] != 0;
            for (const char *at = s->pattern; *at; at++)
                rank += *at == ',';
            fprintf(out, ", %d", rank);
        }
        fputc('>', out);
    }
}

/* The operands as arguments; the one called `instead` (0: none) as `text`. */
static void put_arguments(FILE *out, const example *e, const char *format, char instead, const char *text) {
    for (int i = 0; i < e->count; i++) {
        if (i)
            fputs(", ", out);
        if (e->operands[i].name == instead)
            fputs(text, out);
        else
            fprintf(out, format, e->operands[i].name);
    }
}

/* "x.name(rest" as Tensor::name(x, rest; false when the expression is not of that form. */
static bool put_as_function(FILE *out, const example *e) {
    const char *x = e->expression, *name = x + 2, *open = strchr(x, '(');
    if (strlen(x) < 4 || x[1] != '.' || !open ||
        strspn(name, "abcdefghijklmnopqrstuvwxyz_0123456789") != (size_t)(open - name))
        return false;
    fprintf(out, "Tensor::%.*s(%c%s%s", (int)(open - name), name, x[0], open[1] == ')' ? "" : ", ", open + 1);
    return true;
}

static void put_gradients(FILE *out, int k, const example *e) {
    const char *leaves[] = {"let %c1 = %c.detach(true);\n    ", "let %c2 = %c.detach(true);\n    "};
    for (int form = 0; form < 2; form++) {
        for (int i = 0; i < e->count; i++)
            if (is_smooth(&e->operands[i]))
                fprintf(out, leaves[form], e->operands[i].name, e->operands[i].name);
        fprintf(out, "loss(op_%d(", k);
        for (int i = 0; i < e->count; i++) {
            const sample *s = &e->operands[i];
            fprintf(out, !is_smooth(s) ? "%s%c" : form == 0 ? "%s%c1" : "%sstrided(%c2)", i ? ", " : "", s->name);
        }
        fputs(")).backward();\n    ", out);
    }
    for (int i = 0; i < e->count; i++) {
        char x = e->operands[i].name;
        if (!is_smooth(&e->operands[i]))
            continue;
        fprintf(out,
                "let mut d%c = %c.flatten().clone();\n"
                "    for at in 0..%c.numel() {\n"
                "        let up = moved(%c, at, 0.000001);\n"
                "        let down = moved(%c, at, -0.000001);\n"
                "        d%c[at] = (loss(op_%d(",
                x, x, x, x, x, x, k);
        put_arguments(out, e, "%c", x, "up");
        fprintf(out, ")).item() - loss(op_%d(", k);
        put_arguments(out, e, "%c", x, "down");
        fprintf(out,
                ")).item()) / 0.000002;\n    }\n"
                "    bad += compare(what, \"gradient of %c\", %c1.grad(), d%c.reshape(%c.shape()), 0.00001);\n"
                "    bad += compare(what, \"gradient of %c through a view\", %c2.grad(), "
                "%c1.grad(), 0.000000001);\n    ",
                x, x, x, x, x, x, x);
    }
}

static void put_checks(FILE *out, int k, const example *e) {
    static const char *const scalars[] = {"op", "half"};
    for (int half = 0; half < 2; half++) {
        fprintf(out, "fn %s_%d(", scalars[half], k);
        put_parameters(out, e, half);
        fprintf(out, ") -> Tensor { %s }\n", e->expression);
    }
    fprintf(out, "fn check_%d(what: String, ", k);
    put_parameters(out, e, false);
    fprintf(out, ") -> i64 {\n    let y = op_%d(", k);
    put_arguments(out, e, "%c", 0, "");
    fprintf(out, ");\n    let mut bad = compare(what, \"on views\", op_%d(", k);
    put_arguments(out, e, "strided(%c)", 0, "");
    fputs("), y, 0.0000000001);\n    ", out);
    fprintf(out, "bad += compare(what, \"in f32\", half_%d(", k);
    for (int i = 0; i < e->count; i++)
        fprintf(out, "%s%c%s", i ? ", " : "", e->operands[i].name, is_smooth(&e->operands[i]) ? " as Tensor<f32>" : "");
    fputs("), y, 0.0005);\n    ", out);
    fputs("bad += compare(what, \"as a function\", ", out);
    if (!put_as_function(out, e))
        fputs("y", out);
    fputs(", y, 0.0);\n    ", out);
    bool any_smooth = false; /* an example of whole numbers alone has no gradient to ask for */
    for (int i = 0; i < e->count; i++)
        any_smooth |= is_smooth(&e->operands[i]);
    if (e->gradient != TL_GRADIENT_NONE && any_smooth)
        put_gradients(out, k, e);
    fputs("bad\n}\n", out);
}

/* One operand's value. */
static void put_value(FILE *out, const sample *s, const dims *d) {
    long long n = elements(d);
    switch (s->kind[0]) {
    case '#':
        fprintf(out, "((Tensor::rand([%lld]) * %s.0).floor() as Tensor<i64>)", n, s->kind + 1);
        break;
    case '?':
        fprintf(out, "(Tensor::rand([%lld]) > 0.5)", n);
        break;
    case '+':
        fprintf(out, "apart(%lld, 0.5, 2.5)", n);
        break;
    case '%':
        fprintf(out, "apart(%lld, 0.1, 0.9)", n);
        break;
    default:
        fprintf(out, "apart(%lld, -2.0, 2.0)", n);
        break;
    }
    fputs(".reshape(", out);
    put_dims(out, d);
    fputc(')', out);
}

static void put_call(FILE *out, int k, const example *e, int number) {
    dims any = any_dims(number);
    fputs("    bad += check_", out);
    fprintf(out, "%d(\"%s on", k, e->operation);
    dims shapes[OPERANDS];
    for (int i = 0; i < e->count; i++) {
        shapes[i] = fill_in(&e->operands[i], &any);
        fputc(' ', out);
        put_dims(out, &shapes[i]);
    }
    fputs("\"", out);
    for (int i = 0; i < e->count; i++) {
        const sample *s = &e->operands[i];
        fputs(s->kind[0] == '!' || s->kind[0] == '~' ? ", square(" : ", ", out);
        put_value(out, s, &shapes[i]);
        if (s->kind[0] == '!')
            fputs(", 4.0)", out);
        if (s->kind[0] == '~') {
            fputs(" * 0.1 + ", out);
            put_value(out, s, &shapes[i]);
            fputs(".transpose(-2, -1) * 0.1, 4.0)", out);
        }
    }
    fputs(");\n", out);
}

/* ---- running --------------------------------------------------------------------------------- */

static int read_table(example *all, int most) {
    int count = 0;
    for (size_t i = 0; i < TL_FN_COUNT; i++)
        if (tl_abi_functions[i].example[0] && count < most)
            read_example(tl_abi_functions[i].example, tl_abi_functions[i].symbol, tl_abi_functions[i].gradient,
                         &all[count++]);
    for (size_t i = 0; i < library_operations_count; i++)
        if (library_operations[i].example[0] && count < most)
            read_example(library_operations[i].example, library_operations[i].name, library_operations[i].gradient,
                         &all[count++]);
    return count;
}

static void run_program(const char *text, size_t length, char **output) {
    masu_compile_options compile = {.until = MASU_STAGE_CODE, .generator = &masu_llvm};
    masu_program *program;
    masu_status status = masu_program_compile("operations.tl", text, length, &compile, &program);
    if (status != MASU_OK || masu_program_error_count(program) != 0)
        fail_msg("%s", program ? masu_program_diagnostics(program) : masu_status_text(status));
    size_t written;
    FILE *out = open_memstream(output, &written);
    tl_runtime_config config = {.out = out, .seed = 7};
    tl_runtime *rt;
    tl_error error = {0};
    tl_report report;
    assert_int_equal(tl_runtime_create(&config, &rt), MASU_OK);
    status = tl_runtime_run(rt, masu_program_entry(program), &error);
    tl_runtime_get_report(rt, &report);
    tl_runtime_destroy(rt);
    fclose(out);
    masu_run_error shown = {.message = error.text, .sites = error.sites, .site_count = error.site_count};
    if (status != MASU_OK)
        fail_msg("%s%s", *output, masu_program_format_error(program, &shown));
    assert_int_equal(report.live_tensors, 0);
    masu_program_destroy(program);
}

static void test_examples(void **state) {
    (void)state;
    static example all[600];
    int count = read_table(all, 600);
    assert_true(count > 100 && count < 600);
    char *text, *output = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    fputs(helpers, out);
    for (int k = 0; k < count; k++)
        put_checks(out, k, &all[k]);
    fputs("fn main() {\n    let mut bad = 0;\n", out);
    for (int k = 0; k < count; k++)
        for (int number = 0; number < (all[k].any_shape ? SHAPES : 1); number++)
            put_call(out, k, &all[k], number);
    fputs("    println(\"{}\", bad);\n}\n", out);
    fclose(out);
    run_program(text, length, &output);
    if (strcmp(output, "0\n") != 0)
        fail_msg("%s", output);
    free(output);
    free(text);
}

/* What has a gradient has an example, so that the test above asks for it. */
static void test_gradients_have_examples(void **state) {
    (void)state;
    for (size_t i = 0; i < tl_abi_name_count; i++) {
        const tl_abi_function *f = &tl_abi_functions[tl_abi_names[i].function];
        bool internal = strncmp(tl_abi_names[i].name, "__", 2) == 0;
        if (!internal && f->gradient != TL_GRADIENT_NONE && f->example[0] == 0)
            fail_msg("%s has no example", f->symbol);
    }
    for (size_t i = 0; i < library_operations_count; i++)
        if (library_operations[i].gradient != TL_GRADIENT_NONE && library_operations[i].example[0] == 0)
            fail_msg("%s%s has no example", library_operations[i].name, library_operations[i].signature);
}

/* ---- the language's own list of operations ----------------------------------------------------- */

static bool is_named(const char *scope, const char *name) {
    for (size_t i = 0; i < tl_abi_name_count; i++)
        if (strcmp(tl_abi_names[i].scope, scope) == 0 && strcmp(tl_abi_names[i].name, name) == 0)
            return true;
    for (size_t i = 0; i < library_operations_count; i++) {
        bool method = strncmp(library_operations[i].signature, "(self", 5) == 0;
        if (method == (scope[0] == 0) && strncmp(library_operations[i].name, name, strlen(name)) == 0 &&
            strcspn(library_operations[i].name, "<") == strlen(name))
            return true;
    }
    return false;
}

static void expect_names(const char *scope, const char *list) {
    char words[2048];
    snprintf(words, sizeof words, "%s", list);
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
        if (!is_named(scope, word))
            fail_msg("%s%s is in the language's list and in no table", scope, word);
}

static void test_names_of_the_language(void **state) {
    (void)state;
    expect_names("Tensor",
                 "zeros ones randn rand full eye arange linspace from_vec zeros_like "
                 "ones_like randn_like rand_like stack where_cond mse_loss");
    expect_names("",
                 "reshape view transpose permute flatten squeeze unsqueeze expand broadcast_to "
                 "slice narrow cat chunk split gather index_select contiguous len dim ndim "
                 "shape tril masked_fill pad repeat_interleave");
    expect_names("", "sum sumall mean max min argmax argmin prod var std norm cumsum topk");
    expect_names("",
                 "relu gelu silu sigmoid tanh leaky_relu elu mish hardswish hardsigmoid exp "
                 "log sqrt abs neg sin cos tan pow clamp scale logical_not logical_and "
                 "logical_or add_assign sub_assign mul_assign div_assign fill_");
    expect_names("",
                 "matmul linear embedding conv1d conv2d max_pool2d avg_pool2d layer_norm "
                 "batch_norm group_norm instance_norm rms_norm dropout softmax log_softmax "
                 "cross_entropy sdpa l1_loss bce_loss nll_loss kl_div_loss inverse det solve cholesky eigh svd qr");
    expect_names("",
                 "backward grad detach enable_grad freeze unfreeze clip_grad_norm "
                 "clip_grad_value clone shallow_clone item item_i64 to_f32 to_i64 print display");
    static const char set[] =
        "fn main() { let mut t = Tensor::zeros([2, 2]); t.set(0, 1, 2.5); println(\"{}\", t.sum().item()); }\n";
    char *output = NULL;
    run_program(set, sizeof set - 1, &output);
    assert_string_equal(output, "2.5\n");
    free(output);
}

/* What each operation does with tensors is said: one that is not would get neither frame nor reuse, and nobody would
 * notice. */
static bool has_tensor(const tl_abi_function *f) {
    bool has = f->result == ABI_tensor;
    for (int p = 0; f->parameters[p].name; p++)
        has |= f->parameters[p].kind == ABI_tensor;
    return has;
}

static void every_operation_says_what_it_does_with_tensors(void **state) {
    (void)state;
    for (int k = 0; k < TL_FN_COUNT; k++) {
        unsigned kind = tensor_kind_of((tl_abi_index)k);
        const tl_abi_function *f = &tl_abi_functions[k];
        if (has_tensor(f) != (kind != 0))
            fail_msg("%s: %s", f->symbol, kind ? "has no tensor" : "stands in no list of tensor_kinds.c");
        bool makes = kind & (TENSOR_FRESH | TENSOR_SHARES);
        if (makes && (f->result != ABI_tensor || !(kind & TENSOR_READS)))
            fail_msg("%s makes no tensor", f->symbol);
        if (kind & TENSOR_SHARES && f->parameters[0].kind != ABI_tensor)
            fail_msg("%s shares what it does not read", f->symbol);
        if (kind & TENSOR_ELEMENTWISE && !(kind & TENSOR_FRESH))
            fail_msg("%s writes over an operand, but makes nothing", f->symbol);
    }
}

int main(void) {
    masu__rng_seed(&rng, 20240229);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operation_says_what_it_does_with_tensors),
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_gradients_have_examples),
        cmocka_unit_test(test_names_of_the_language),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
