/* shape_faults.c: operations that fail whenever they are reached, as far as shapes are known. Those that are written in
 * the language itself are tried for each call with what is known there (shape_trial.c).
 */
#include <inttypes.h>
#include <string.h>

#include "language/pass/shape_flow.h"

enum { LONGEST_QUOTE = 60 };

/* The source text of the span when it is short and on one line; else the fallback. */
static void quote(source_span span, const char *fallback, masu__buffer *out) {
    const char *text = span.file ? span.file->text + span.offset : NULL;
    bool fits = text && span.length > 0 && span.length <= LONGEST_QUOTE && !memchr(text, '\n', span.length);
    masu__buffer_putc(out, '`');
    if (fits)
        masu__buffer_append(out, text, span.length);
    else
        masu__buffer_puts(out, fallback);
    masu__buffer_putc(out, '`');
}

static void describe_value(shaper *s, const ir_function *f, ir_value v, const shape_fact *fact, masu__buffer *out) {
    const char *name = f->values[v].name, *inner = name ? strchr(name, '.') : NULL;
    if (name && (name[0] != '<' || inner)) /* `<closure>.w` is the w of outside */
        masu__buffer_printf(out, "`%s`", name[0] == '<' && inner ? inner + 1 : name);
    else
        quote(f->values[v].span, "this tensor", out);
    masu__buffer_puts(out, " has shape ");
    shape_put(&s->symbols, &fact->shape, out);
}

static void report(shaper *s, const ir_function *f, const ir_instr *i, shape_fault *fault) {
    const function_facts *ff = shape_facts_of(s, f);
    masu__buffer texts[3] = {0};
    pass_note notes[3];
    bool said = true;
    masu__buffer_puts(&fault->text, " in ");
    quote(i->span, i->op == IR_ABI ? tl_abi_functions[i->abi].symbol : i->callee->name, &fault->text);
    for (uint32_t n = 0; n < fault->about_count; n++) {
        describe_value(s, f, fault->about[n], &ff->facts[fault->about[n]], &texts[n]);
        notes[n] = (pass_note){.span = f->values[fault->about[n]].span, .text = masu__buffer_text(&texts[n])};
    }
    if (s->context->report)
        said = s->context->report(s->context->user, i->span, fault->row, masu__buffer_text(&fault->text), notes,
                                  fault->about_count);
    s->context->error_count += said;
    for (uint32_t n = 0; n < fault->about_count; n++)
        masu__buffer_destroy(&texts[n]);
}

/* ---- all ------------------------------------------------------------------------------------- */

void shape_find_faults(shaper *s, const ir_function *f) {
    const function_facts *ff = shape_facts_of(s, f);
    for (uint32_t k = 0; k < ff->order.count && !shape_is_library(f); k++) {
        if (!ff->taken[ff->order.blocks[k]->id])
            continue;
        for (const ir_instr *i = ff->order.blocks[k]->first; i; i = i->next) {
            shape_query q = shape_query_of(s, f, i);
            shape_fault fault = {.symbols = &s->symbols};
            if (i->op == IR_ABI)
                shape_rule_apply(&q, &fault);
            else if (i->op == IR_CALL)
                shape_try_call(s, f, i, &fault);
            if (fault.text.length > 0)
                report(s, f, i, &fault);
            masu__buffer_destroy(&fault.text);
        }
    }
}
