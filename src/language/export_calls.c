/* export_calls.c: the text of the functions that take a call from C apart and put its results together. See exports.c.
 *
 * Each is an ordinary function of the library: it asks the runtime for its arguments (runtime/calls/arguments.c), calls
 * the program's function and gives what it yields (runtime/calls/results.c).
 */
#include "language/export_calls.h"

#include <string.h>

typedef struct writer {
    masu__buffer *out;
    const masu_handle_type *types;
    const function_item *f;
} writer;

const char *const export_element_names[MASU_ELEMENT_COUNT] = {"f32", "f64", "i64", "bool"};

static void put_argument_in(const writer *x, const masu_parameter *p, uint32_t i) {
    static const char *const names[] = {
        [MASU_KIND_F32] = "f64", [MASU_KIND_F64] = "f64", [MASU_KIND_I64] = "i64", [MASU_KIND_BOOL] = "bool"};
    masu__buffer *out = x->out;
    masu__buffer_printf(out, "    let mut __a%u", i);
    if (p->kind == MASU_KIND_TENSOR && p->rank >= 0)
        masu__buffer_printf(out, ": Tensor<%s, %d> = __runtime::tl_call_tensor(%u);\n",
                            export_element_names[p->element], p->rank, i);
    else if (p->kind == MASU_KIND_TENSOR)
        masu__buffer_printf(out, ": Tensor<%s> = __runtime::tl_call_tensor(%u);\n", export_element_names[p->element],
                            i);
    else if (p->kind == MASU_KIND_HANDLE)
        masu__buffer_printf(out, ": Vec<%s> = __runtime::tl_call_object(%u);\n", x->types[p->handle_type].name, i);
    else if (p->kind == MASU_KIND_TEXT)
        masu__buffer_printf(out, ": String = __runtime::tl_call_object(%u);\n", i);
    else
        masu__buffer_printf(out, " = __runtime::tl_call_%s(%u);\n", names[p->kind], i);
}

static void put_argument(const writer *x, const masu_parameter *p, uint32_t i) {
    masu__buffer *out = x->out;
    const char *type = p->type;
    const char *lent = p->is_written && p->kind != MASU_KIND_NONE ? "&mut " : type[0] == '&' ? "&" : "";
    masu__buffer_printf(out, "%s__a%u", lent, i);
    if (p->kind == MASU_KIND_HANDLE)
        masu__buffer_puts(out, "[0]");
    else if (p->kind == MASU_KIND_F32)
        masu__buffer_puts(out, " as f32");
    else if (p->kind == MASU_KIND_I64)
        masu__buffer_printf(out, " as %s", type[0] == '&' ? "i64" : strcmp(type, "isize") == 0 ? "i64" : type);
}

static void put_call(const writer *x, const masu_function *m) {
    masu__buffer *out = x->out;
    uint32_t first = x->f->has_self;
    if (first)
        masu__buffer_printf(out, "__a0[0].%s(", x->f->name);
    else if (x->f->owner_name)
        masu__buffer_printf(out, "%s::%s(", x->f->owner_name, x->f->name);
    else
        masu__buffer_printf(out, "%s(", x->f->name);
    for (uint32_t i = first; i < m->parameter_count; i++) {
        masu__buffer_puts(out, i > first ? ", " : "");
        put_argument(x, &m->parameters[i], i);
    }
    masu__buffer_putc(out, ')');
}

/* The pattern of the results: `__r0`, `(__r0, __r1)`, `_`. */
static void put_pattern(const writer *x, const masu_function *m) {
    if (m->result_count == 0)
        masu__buffer_putc(x->out, '_');
    masu__buffer_puts(x->out, m->is_tuple ? "(" : "");
    for (uint32_t i = 0; i < m->result_count; i++)
        masu__buffer_printf(x->out, "%s__r%u", i > 0 ? ", " : "", i);
    masu__buffer_puts(x->out, m->is_tuple && m->result_count == 1 ? ",)" : m->is_tuple ? ")" : "");
}

static void put_given(const writer *x, const masu_parameter *p, uint32_t number, const char *name, uint32_t i) {
    masu__buffer *out = x->out;
    switch (p->kind) {
    case MASU_KIND_TENSOR:
        masu__buffer_printf(out, "    __runtime::tl_give_tensor(%u, %s%u);\n", number, name, i);
        break;
    case MASU_KIND_F32:
    case MASU_KIND_F64:
        masu__buffer_printf(out, "    __runtime::tl_give_f64(%u, %s%u as f64);\n", number, name, i);
        break;
    case MASU_KIND_I64:
        masu__buffer_printf(out, "    __runtime::tl_give_i64(%u, %s%u as i64);\n", number, name, i);
        break;
    case MASU_KIND_BOOL:
        masu__buffer_printf(out, "    __runtime::tl_give_i64(%u, if %s%u { 1 } else { 0 });\n", number, name, i);
        break;
    default:
        masu__buffer_printf(out, "    __runtime::tl_give_object(%u, %s%u);\n", number, name, i);
        break;
    }
}

static void put_results(const writer *x, const masu_function *m) {
    for (uint32_t i = 0; i < m->result_count; i++) {
        const masu_parameter *p = &m->results[i];
        if (p->kind == MASU_KIND_HANDLE)
            masu__buffer_printf(x->out, "    let __h%u: Vec<%s> = vec![__r%u];\n", i, x->types[p->handle_type].name, i);
        else if (p->kind == MASU_KIND_TEXT)
            masu__buffer_printf(x->out, "    let __h%u: String = __r%u.to_string();\n", i, i);
        put_given(x, p, i, p->kind == MASU_KIND_HANDLE || p->kind == MASU_KIND_TEXT ? "__h" : "__r", i);
    }
    for (uint32_t i = 0; i < m->parameter_count; i++)
        if (m->parameters[i].is_written)
            put_given(x, &m->parameters[i], m->result_count + i, "__a", i);
}

void export_put_function(masu__buffer *out, const masu_handle_type *types, const function_item *f,
                         const masu_function *m, uint32_t number, const export_outcome *how) {
    const writer here = {out, types, f}, *x = &here;
    masu__buffer_printf(out, "fn __export_%u() {\n", number);
    for (uint32_t i = 0; i < m->parameter_count; i++)
        put_argument_in(x, &m->parameters[i], i);
    masu__buffer_puts(out, how->is_result ? "    match " : m->result_count > 0 ? "    let " : "    ");
    if (!how->is_result && m->result_count > 0) {
        put_pattern(x, m);
        masu__buffer_puts(out, " = ");
    }
    put_call(x, m);
    if (how->is_result) {
        masu__buffer_puts(out, " {\n    Ok(");
        put_pattern(x, m);
        masu__buffer_puts(out, ") => {\n");
    } else {
        masu__buffer_puts(out, ";\n");
    }
    put_results(x, m);
    if (how->is_result)
        masu__buffer_printf(out, "    }\n    Err(__e) => { panic!(\"%s\", __e) }\n    }\n", how->shows);
    masu__buffer_puts(out, "}\n");
}

void export_put_choice(masu__buffer *out, uint32_t count) {
    masu__buffer_puts(out, "fn __exports() {\n    let __n = __runtime::tl_call_function();\n");
    for (uint32_t i = 0; i < count; i++)
        masu__buffer_printf(out, "    if __n == %u { __export_%u(); return; }\n", i, i);
    masu__buffer_puts(out, "}\n");
}
