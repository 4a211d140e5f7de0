/* operations.c: docs/operations.md: every operation on tensors, out of the table ops.def and the comments of the
 * library.
 */
#include <string.h>

#include "base/buffer.h"
#include "language/language.h"
#include "language/library/library.h"
#include <masu/abi.h>

/* ---- of the table ------------------------------------------------------------------------------ */

static const char *shape_text(tl_shape_rule rule) {
    static const char *const texts[] = {
#define SHAPE_RULE(rule, rank, text) [rule] = text,
#include <masu/ops.def>
    };
    return texts[rule];
}

static const char *dtype_text(tl_dtype_rule rule) {
    static const char *const texts[] = {
        [NO_DTYPE] = "",
        [DTYPE_UNKNOWN] = "the table's",
        [DTYPE_SAME] = "t's",
        [DTYPE_COUNT] = "the widest, i64 of bools",
        [DTYPE_PROMOTE] = "the widest",
        [DTYPE_CHOICE] = "the wider of a and b",
        [DTYPE_FLOAT] = "t's, f32 of whole",
        [DTYPE_REAL] = "the widest, f32 of whole",
        [DTYPE_F32] = "f32",
        [DTYPE_F64] = "f64",
        [DTYPE_I64] = "i64",
        [DTYPE_BOOL] = "bool",
    };
    return texts[rule];
}

static const char *gradient_text(tl_gradient gradient) {
    return gradient == TL_GRADIENT_NONE ? "no" : "yes";
}

static const char *result_text(tl_abi_kind kind) {
    switch (kind) {
    case ABI_tensor:
        return "Tensor";
    case ABI_object:
        return "String";
    case ABI_none:
        return "nothing";
    case ABI_bool:
        return "bool";
    case ABI_f64:
    case ABI_f32:
        return "the element";
    default:
        return "i64";
    }
}

static void put_parameters(const tl_abi_function *f, bool method, masu__buffer *out) {
    bool first = true;
    for (const tl_abi_parameter *p = f->parameters + method; p->name; p++) {
        masu__buffer_printf(out, "%s%s%s", first ? "" : ", ", p->name, p->mode == TL_LIST ? "…" : "");
        if (p->optional && p->kind == ABI_bool)
            masu__buffer_puts(out, " = false");
        else if (p->optional)
            masu__buffer_printf(out, " = %g", p->fallback);
        first = false;
    }
}

static void put_name(const tl_abi_name *n, masu__buffer *out) {
    const tl_abi_function *f = &tl_abi_functions[n->function];
    bool method = n->scope[0] == 0, tensor = f->result == ABI_tensor;
    masu__buffer_printf(out, "| `%s%s%s(", method ? "t" : n->scope, method ? "." : "::", n->name);
    put_parameters(f, method, out);
    masu__buffer_printf(out, ")` | %s | %s | %s | %s |\n", tensor ? shape_text(f->shape) : result_text(f->result),
                        dtype_text(f->dtype), gradient_text(f->gradient), f->text);
}

static bool is_tensor_name(const tl_abi_name *n) {
    return strncmp(n->name, "__", 2) != 0 && (n->scope[0] == 0 || strcmp(n->scope, "Tensor") == 0);
}

/* ---- of the library ------------------------------------------------------------------------------ */

/* "(self, dim: i64)" of a method reads "(dim: i64)" behind a dot. */
static void put_written(const library_function *o, masu__buffer *out) {
    bool method = strncmp(o->signature, "(self", 5) == 0;
    const char *rest = o->signature + (method ? 5 : 1);
    while (method && (*rest == ',' || *rest == ' '))
        rest++;
    masu__buffer_printf(out, "| `%s%s(%s` | %s | %s |\n", method ? "t." : "Tensor::", o->name, rest,
                        gradient_text(o->gradient), o->text);
}

/* Every form of a method of the owner. */
static void put_methods(const char *owner, masu__buffer *out) {
    size_t bare = strcspn(owner, "<");
    masu__buffer_puts(out, "| form |\n|---|\n");
    for (size_t i = 0; i < library_methods_count; i++) {
        const library_function *f = &library_methods[i];
        bool method = strncmp(f->signature, "(self", 5) == 0 || strncmp(f->signature, "(&mut self", 10) == 0;
        if (strcmp(f->owner, owner) == 0)
            masu__buffer_printf(out, "| `%.*s%s%s%s` |\n", method ? 0 : (int)bare, owner, method ? "" : "::", f->name,
                                f->signature);
    }
}

/* ---- the whole ---------------------------------------------------------------------------------- */

static const char heading[] =
    "# Operations\n"
    "\n"
    "Written by `masu help --operations` from the tables that the checker, the runtime and the tests are made of\n"
    "(`src/runtime/ops.def`, `src/language/library/tensor`); a test compares them. Lists such as `shape…` are\n"
    "written `[2, 3]` or `2, 3`; a shape may also be a tensor or a `Vec` that the running program "
    "computes. Every method\n"
    "can also be called as `Tensor::name(t, …)`. `GradTensor::` makes the same tensors as "
    "`Tensor::`, tracking. Negative\n"
    "dimensions count from the end. What has a default may be left out.\n"
    "\n"
    "Operators: `+ - * / %` element by element with broadcasting, a number on either side. A "
    "quotient of whole tensors is\n"
    "real, as in PyTorch: `[7, 2] / 2` is `[3.5, 1.0]`. `== != < <= > >=` yield bool tensors, `& "
    "|` join them, `!` turns\n"
    "them round. A tensor of rank 0 counts as a number where one is wanted.\n"
    "\n"
    "The gradient column says what `backward` passes through: `no` means results that are not a smooth function of a\n"
    "tensor (counts, orders, comparisons, new tensors) and for what works in place on leaves.\n"
    "\n"
    "Older names mean the same: `sum_dim`, `mean_dim`, `max_dim`, `min_dim`, `get_shape`, "
    "`transpose_2d`, `matmul_4d`,\n"
    "`add_4d`, `cat_4d`, `mod`; `cpu`, `cuda` and `to(device)` yield the tensor. A function "
    "`f(t, …)` that the program lacks\n"
    "is `t.f(…)`. `let (values, places) = t.topk(k)` takes both; so do `sort`, `max(dim)` and `min(dim)`.\n"
    "\n"
    "Products go through BLAS, decompositions through LAPACK. Element-wise operations, sums, "
    "running sums, softmax, the\n"
    "largest and smallest and `gather` of 262144 elements and more share the processors; "
    "`MASU_THREADS=n` allows n threads. Results do not depend on how many there are.\n"
    "\n"
    "## Made of kernels\n"
    "\n"
    "| form | shape of the result | element type | gradient | what it does |\n"
    "|---|---|---|---|---|\n";

static void put_other_names(masu__buffer *text) {
    static const char *const names[][2] = {
#define NAME(name, meant, ...) {#name, #meant},
#include "language/front/other_names.def"
#undef NAME
    };
    masu__buffer_puts(text, "\n## Other names\n\nThe same, as other libraries call it:\n\n");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        masu__buffer_printf(text, "%s`%s` = `%s`", i == 0 ? "" : i % 5 == 0 ? ",\n" : ", ", names[i][0], names[i][1]);
    masu__buffer_puts(text, ".\n");
}

masu_status masu_operations(masu_text *out) {
    masu__buffer text = {0};
    masu__buffer_puts(&text, heading);
    for (size_t i = 0; i < tl_abi_name_count; i++)
        if (is_tensor_name(&tl_abi_names[i]))
            put_name(&tl_abi_names[i], &text);
    masu__buffer_puts(
        &text,
        "\n## Written in the language itself\n\n"
        "What a result holds: `Tensor` what the first tensor holds, `Tensor<Wide>` the widest of all (bool < i64 < "
        "f32 < f64),\n"
        "`Tensor<Sum>` the widest, too, bools counted in i64, `Tensor<Real>` real numbers, f32 of whole ones.\n\n"
        "| form | gradient | what it does |\n"
        "|---|---|---|\n");
    for (size_t i = 0; i < library_operations_count; i++)
        put_written(&library_operations[i], &text);
    put_other_names(&text);
    masu__buffer_puts(&text,
                      "\n## Vec\n\n"
                      "Beside `new`, `with_capacity`, `push`, `get`, `set`, `len`, `is_empty`, indexing and "
                      "`for`.\n\n");
    put_methods("Vec<T>", &text);
    masu__buffer_puts(&text,
                      "\n## Iterator\n\n"
                      "Whatever has `next`, beside `collect` and the methods of Vec, which then work on the list of "
                      "its elements.\n\n");
    put_methods("Iterator", &text);
    masu__buffer_puts(&text, "\n## Option\n\n");
    put_methods("Option<T>", &text);
    masu__buffer_puts(&text, "\n## Result\n\n");
    put_methods("Result<T, E>", &text);
    masu_status status = text.failed ? MASU_ERR_OUT_OF_MEMORY : MASU_OK;
    *out = (masu_text){.length = text.length};
    out->data = masu__buffer_take(&text, &out->capacity);
    masu__buffer_destroy(&text);
    return status;
}
