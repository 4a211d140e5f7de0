/* check_scopes.c: what a declaration, a use and a method add to what names/names.h knows, and `Self`. */
#include <string.h>

#include "language/types/check_context.h"
#include "language/types/check_declare.h"
#include "language/types/check_fits.h"
#include "language/types/check_operator_types.h"
#include "language/types/check_scopes.h"
#include "language/types/check_written.h"
#include "language/types/open_form.h"

void check_add_method(checker *c, function_item *f) {
    check_element_rule(c, f);
    names_add_method(c->names, f);
}

void check_declare(checker *c, binding *b, const type *t) {
    b->type = t;
    names_declare(c->names, c->function, b);
}

/* A comprehension captures what its body reads from outside, each binding once. Numbers grow as
 * comprehensions open, and what is captured by one is captured by those around it: so a mark as
 * large as a comprehension's number says that it has the binding. */
void check_use_binding(checker *c, binding *b) {
    b->is_read = true;
    uint32_t mark = b->capture_mark;
    for (comprehension_context *context = c->nest->comprehension; context != NULL; context = context->outer) {
        if (b->id >= context->first_binding)
            continue;
        b->capture_mark = b->capture_mark > context->number ? b->capture_mark : context->number;
        if (mark < context->number) {
            comprehension_expr *e = context->comprehension;
            CHECK_PUSH(c, e->captures, e->capture_count, context->capture_capacity, b);
        }
    }
}

struct_item *check_struct_named(const checker *c, const char *name) {
    if (strcmp(name, "Self") == 0) {
        if (c->environment != NULL && c->environment->self != NULL)
            return c->environment->self;
        const function_item *f = c->function;
        while (f != NULL && f->is_closure)
            f = f->outer;
        return f != NULL ? f->owner : NULL;
    }
    return names_struct(c->names, name);
}

suggestion check_suggest(const diagnostic *d, const char *wanted) {
    return d == NULL ? (suggestion){.wanted = wanted} : suggest_for(wanted);
}

void check_suggest_note(checker *c, diagnostic *d, const suggestion *s) {
    if (s->best != NULL)
        diagnostics_note(c->diagnostics, d, (source_span){0}, "did you mean `%s`?", s->best);
}

void check_report_twice(checker *c, source_span span, const char *name, source_span first) {
    diagnostic *d = diagnostics_say(c->diagnostics, span, SAY(is_declared_twice), name);
    diagnostics_note(c->diagnostics, d, first, "the first one is here");
}

const open_form *check_form_of(const expr *e) {
    return e->kind == EXPR_ARRAY && !e->is_vec ? e->list.form : NULL;
}
