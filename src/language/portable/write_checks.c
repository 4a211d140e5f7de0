/* write_checks.c: what an export refuses before its first step. */
#include "language/portable/writer.h"

static void write_refusal(writer *w, const char *status, const char *message) {
    w->depth++;
    write_indent(w);
    masu__buffer_puts(w->out, "return fail(context, ");
    write_upper(w->out, w->p->shown->name);
    masu__buffer_printf(w->out, "_ERR_%s, %u, 1, ", status, w->l->flat->shown->line);
    write_string(w->out, message);
    masu__buffer_puts(w->out, ");\n");
    w->depth--;
}

static void check_tensor(writer *w, const char *name, const fact *t) {
    write_line(w, "if (!%s || (!%s->data && %lld > 0))", name, name, (long long)fact_elements(t));
    write_refusal(w, "INVALID_ARGUMENT", writer_printf(w, "`%s` is missing", name));
    write_indent(w);
    masu__buffer_printf(w->out, "if (%s->rank != %u", name, t->rank);
    for (uint32_t d = 0; d < t->rank; d++)
        masu__buffer_printf(w->out, " || %s->shape[%u] != %lld", name, d, (long long)t->dim[d]);
    masu__buffer_puts(w->out, ")\n");
    masu__buffer shape = {0};
    write_shape(&shape, t);
    write_refusal(w, "SHAPE_MISMATCH", writer_printf(w, "`%s` has not the shape %s", name, masu__buffer_text(&shape)));
    write_drop(w, &shape);
}

static void check_handle(writer *w, const char *name, const fact_list *list) {
    write_indent(w);
    masu__buffer_printf(w->out, "if (!%s", name);
    for (uint32_t k = 0; k < list->width; k++)
        if (list->leaves[k].type == IR_TENSOR && fact_elements(&list->words[k]) > 0)
            masu__buffer_printf(w->out, " || !%s->%s", name, write_field_name(w->p, &list->leaves[k], k));
    masu__buffer_puts(w->out, ")\n");
    write_refusal(w, "INVALID_ARGUMENT", writer_printf(w, "`%s`, or an array of it, is missing", name));
}

static void check_number(writer *w, const char *name, const masu_parameter *p, const fact *given) {
    if (given->kind == FACT_NUMBER) {
        masu__buffer text = {0};
        write_number(&text,
                     p->kind == MASU_KIND_I64    ? IR_I64
                     : p->kind == MASU_KIND_BOOL ? IR_BOOL
                     : p->kind == MASU_KIND_F32  ? IR_F32
                                                 : IR_F64,
                     given->i, given->f);
        write_line(w, p->kind == MASU_KIND_BOOL ? "if (!!%s != %s)" : "if (%s != %s)", name, masu__buffer_text(&text));
        write_refusal(w, "INVALID_ARGUMENT",
                      writer_printf(w, "`%s` is %s in this file", name, masu__buffer_text(&text)));
        write_drop(w, &text);
    } else if (p->kind == MASU_KIND_I64 && (p->least != INT64_MIN || p->most != INT64_MAX)) {
        masu__buffer low = {0}, high = {0};
        write_number(&low, IR_I64, p->least, 0);
        write_number(&high, IR_I64, p->most, 0);
        write_line(w, p->most == INT64_MAX ? "if (%s < %s)" : "if (%s < %s || %s > %s)", name, masu__buffer_text(&low),
                   name, masu__buffer_text(&high));
        write_refusal(w, "INVALID_ARGUMENT", writer_printf(w, "`%s` is not a number of its type", name));
        write_drop(w, &low);
        write_drop(w, &high);
    }
}

void write_checks(writer *w) {
    const flat *f = w->l->flat;
    if (f->arena_bytes > 0) {
        write_line(w, "if (!context->arena || (uintptr_t)context->arena %% 8 != 0)");
        write_refusal(w, "INVALID_ARGUMENT", "the arena is missing, or not at a multiple of 8");
        write_line(w, "if (context->arena_bytes < %llu)", (unsigned long long)f->arena_bytes);
        write_refusal(w, "OUT_OF_MEMORY",
                      writer_printf(w, "the arena has less than %llu bytes", (unsigned long long)f->arena_bytes));
    }
    for (uint32_t k = 0; k < f->shown->parameter_count; k++) {
        const masu_parameter *p = &f->shown->parameters[k];
        const fact *given = &f->call->arguments[k];
        const char *name = write_parameter_name(w->p, p->name);
        if (p->kind == MASU_KIND_TENSOR)
            check_tensor(w, name, given);
        else if (p->kind == MASU_KIND_HANDLE)
            check_handle(w, name, given->list);
        else
            check_number(w, name, p, given);
    }
    for (uint32_t r = 0; r < f->shown->result_count; r++) {
        const char *name = write_result_name(w, f->shown, r);
        if (f->given[r].kind == FACT_TENSOR)
            check_tensor(w, name, &f->given[r]);
        else if (f->given[r].kind == FACT_LIST)
            check_handle(w, name, w->p->handles[f->shown->results[r].handle_type].list);
        else {
            write_line(w, "if (!%s)", name);
            write_refusal(w, "INVALID_ARGUMENT", "there is no place for the result");
        }
    }
}
