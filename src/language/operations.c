/* operations.c: docs/operations.md: every operation on tensors, out of the tables that the checker uses: abi.def, and
 * the signatures of the prelude. */
#include <string.h>

#include "base/buffer.h"
#include "language/front/prelude.h"
#include "language/language.h"
#include <masu/abi.h>

/* ---- of the table ------------------------------------------------------------------------------ */

static const char *shape_text(tl_shape_rule rule) {
    static const char *const texts[] = {
        [NO_SHAPE] = "no tensor",
        [SHAPE_UNKNOWN] = "follows from the operands' lengths",
        [SHAPE_SAME] = "the operand's",
        [SHAPE_BROADCAST] = "the operands' broadcast together",
        [SHAPE_RANK0] = "rank 0",
        [SHAPE_REDUCE] = "without `dim`",
        [SHAPE_LIST] = "`shape`",
        [SHAPE_SQUARE] = "[n, n]",
        [SHAPE_VECTOR] = "rank 1",
        [SHAPE_MATMUL] = "[.., n, k] x [.., k, m] to [.., n, m]",
        [SHAPE_TRANSPOSE] = "two lengths exchanged",
    };
    return texts[rule];
}

static const char *dtype_text(tl_dtype_rule rule) {
    static const char *const texts[] = {
        [NO_DTYPE] = "",
        [DTYPE_UNKNOWN] = "the operands'",
        [DTYPE_SAME] = "the operand's",
        [DTYPE_PROMOTE] = "the widest of the operands'",
        [DTYPE_FLOAT] = "the operand's, f32 of whole ones",
        [DTYPE_F32] = "f32",
        [DTYPE_F64] = "f64",
        [DTYPE_I64] = "i64",
        [DTYPE_BOOL] = "bool",
    };
    return texts[rule];
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
        masu__buffer_printf(out, "%s%s%s", first ? "" : ", ", p->name,
                            p->mode == TL_LIST ? "…" : "");
        first = false;
    }
}

static void put_name(const tl_abi_name *n, masu__buffer *out) {
    const tl_abi_function *f = &tl_abi_functions[n->function];
    bool method = n->scope[0] == 0;
    masu__buffer_printf(out, "| `%s%s%s(", method ? "t" : n->scope, method ? "." : "::", n->name);
    put_parameters(f, method, out);
    masu__buffer_printf(out, ")` | %s | %s | %s |\n", result_text(f->result),
                        f->result == ABI_tensor ? shape_text(f->shape) : "", dtype_text(f->dtype));
}

/* ---- of the prelude ---------------------------------------------------------------------------- */

/* "    fn name(self, a: T) -> R {": the part from the name to the brace. */
static void put_signature(const char *line, size_t length, const char *owner, masu__buffer *out) {
    const char *brace = memchr(line, '{', length);
    size_t end = brace ? (size_t)(brace - line) : length;
    while (end > 0 && line[end - 1] == ' ')
        end--;
    bool method = memmem(line, end, "(self", 5) != NULL;
    masu__buffer_printf(out, "| `%s%s", method ? "" : owner, method ? "" : "::");
    masu__buffer_append(out, line, end);
    masu__buffer_puts(out, "` |\n");
}

static void put_prelude(const char *text, size_t length, const char *impl, const char *owner,
                        masu__buffer *out) {
    const char *at = memmem(text, length, impl, strlen(impl));
    const char *end = text + length;
    masu__buffer_puts(out, "| form |\n|---|\n");
    for (at = at ? memchr(at, '\n', (size_t)(end - at)) : NULL; at && at + 1 < end && at[1] != '}';
         at = memchr(at + 1, '\n', (size_t)(end - at - 1))) {
        const char *line = at + 1, *stop = memchr(line, '\n', (size_t)(end - line));
        static const char start[] = "    fn ";
        size_t skip = sizeof start - 1;
        bool function = stop && (size_t)(stop - line) > skip && memcmp(line, start, skip) == 0;
        if (function && memcmp(line + skip, "__", 2) != 0)
            put_signature(line + skip, (size_t)(stop - line) - skip, owner, out);
    }
}

/* ---- the whole ---------------------------------------------------------------------------------- */

static const char heading[] = "# Operations\n"
                              "\n"
                              "Written by `masu help --operations` from the tables that the "
                              "checker and the runtime are made of\n"
                              "(`src/runtime/abi.def`, `src/language/front/prelude*.c`); a test "
                              "compares them. `shape…` and its like are lists,\n"
                              "written `[2, 3]` or `2, 3`; a shape may also be a tensor or a `Vec` "
                              "that the running program computes. Every\n"
                              "method can also be called as `Tensor::name(t, …)`. `GradTensor::` "
                              "makes the same tensors as `Tensor::`, tracking.\n"
                              "\n"
                              "Operators: `+ - * / %` element by element with broadcasting, a "
                              "number on either side; a quotient of whole tensors is\n"
                              "real, as in PyTorch. `== != < <= > >=` yield bool tensors, `& |` "
                              "join them, `!` turns them round.\n"
                              "Gradients: every operation on real numbers has one, but "
                              "comparisons, argmax and argmin, order, and the\n"
                              "decompositions other than inverse, det and solve.\n"
                              "\n"
                              "## From the table\n"
                              "\n"
                              "| form | yields | shape | element type |\n"
                              "|---|---|---|---|\n";

masu_status masu_operations(masu_text *out) {
    masu__buffer text = {0};
    masu__buffer_puts(&text, heading);
    for (size_t i = 0; i < tl_abi_name_count; i++)
        if (strncmp(tl_abi_names[i].name, "__", 2) != 0 &&
            strcmp(tl_abi_names[i].scope, "System") != 0)
            put_name(&tl_abi_names[i], &text);
    masu__buffer_puts(&text, "\n## Tensors: written in the language itself\n\n"
                             "Parameters with `=` may be left out.\n\n");
    put_prelude(prelude_tensor_text, prelude_tensor_length, "impl Tensor {", "Tensor", &text);
    masu__buffer_puts(&text,
                      "\n## Vec\n\nBeside `new`, `with_capacity`, `push`, `get`, `set`, `len`, "
                      "`is_empty`, indexing and `for`.\n\n");
    put_prelude(prelude_text, prelude_length, "impl<T> Vec<T> {", "Vec", &text);
    masu__buffer_puts(&text, "\n## Option\n\n");
    put_prelude(prelude_text, prelude_length, "impl<T> Option<T> {", "Option", &text);
    masu__buffer_puts(&text, "\n## Result\n\n");
    put_prelude(prelude_text, prelude_length, "impl<T, E> Result<T, E> {", "Result", &text);
    masu_status status = text.failed ? MASU_ERR_OUT_OF_MEMORY : MASU_OK;
    *out = (masu_text){.length = text.length};
    out->data = masu__buffer_take(&text, &out->capacity);
    masu__buffer_destroy(&text);
    return status;
}
