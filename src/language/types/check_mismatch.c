/* check_mismatch.c: what is said where a value of one type is and another is wanted: both types, and what to write
 * instead. */
#include <string.h>

#include "language/types/check_context.h"
#include "language/types/check_fits.h"
#include "language/types/check_variants.h"
#include "language/types/check_written.h"
#include "language/types/open_form.h"

static const char *advice(const checker *c, const type *from, const type *to) {
    const bool option = check_is_form(c, from, SAID_OPTION), result = check_is_form(c, from, SAID_RESULT);
    if (from->kind == TYPE_TENSOR && (type_is_numeric(to) || to->kind == TYPE_BOOL)) {
        if (from->tensor.rank > 0)
            return "only a tensor of rank 0 is a scalar; an element is read with `t[i]`";
        return "`.item_i64()` reads the integer that a tensor of rank 0 holds";
    }
    if (type_is_numeric(from) && type_is_numeric(to))
        return NULL; /* the note on `as` says it */
    if (type_is_integer(from) && to->kind == TYPE_BOOL)
        return "compare with 0: `x != 0`";
    if (to->kind == TYPE_TENSOR && type_is_numeric(from))
        return "`Tensor::full([], x)` makes a tensor of a number";
    if (from->kind == TYPE_STRING && to->kind == TYPE_CHAR)
        return "a character is written between single quotes: `'c'`";
    if (from->kind == TYPE_STRING && type_is_numeric(to))
        return "`s.to_f32()` and `s.to_i64()` read the number in a text";
    if (to->kind == TYPE_STRING && type_is_numeric(from))
        return "`format(\"{}\", x)` makes a text of a value";
    if (check_is_form(c, to, SAID_OPTION) && !option)
        return "`Some(x)` is an `Option` with a value";
    if (check_is_form(c, to, SAID_RESULT) && !result)
        return "`Ok(x)` is a `Result` with a value, `Err(e)` one with an error";
    if (result && !check_is_form(c, to, SAID_RESULT))
        return "`?`, `unwrap()` or a `match` takes the value out";
    if (option)
        return "`?`, `unwrap_or(…)` or a `match` takes the value out";
    return NULL;
}

/* Two types of one name, of two modules: where each comes from. */
static void note_namesakes(checker *c, diagnostic *d, const type *to, const type *from) {
    if (to->kind != TYPE_STRUCT || from->kind != TYPE_STRUCT || to->structure == from->structure)
        return;
    const struct_item *a = to->structure, *b = from->structure;
    size_t length = modules_plain_length(a->name);
    bool alike = length == modules_plain_length(b->name) && strncmp(a->name, b->name, length) == 0;
    if (alike && a->template == NULL && b->template == NULL) {
        diagnostics_note(c->diagnostics, d, a->span, "this `%s` is expected", a->name);
        diagnostics_note(c->diagnostics, d, b->span, "this one is found");
    }
}

void check_note_literal(checker *c, diagnostic *d, const type *t) {
    const source_span literal = t->number == NULL ? (source_span){0} : t->number->literal;
    source_span because = {0};
    for (; t->number != NULL && t->number->decided != NULL; t = t->number->decided)
        because = t->number->because;
    if (because.file == NULL || literal.file == NULL || t->number != NULL)
        return;
    diagnostics_note(c->diagnostics, d, literal, "this number has no type of its own: it is `%s` …",
                     check_type_text(c, t));
    diagnostics_note(c->diagnostics, d, because, "… because of this use");
}

diagnostic *check_mismatch(checker *c, const expr *found, const type *to, const coerce_reason *why) {
    const type *from = type_resolve(c->types, found->type);
    diagnostic *d;
    if (from->kind == TYPE_VOID) {
        d = diagnostics_say(c->diagnostics, found->span, SAY(expected_but_this_has_no_value), check_type_text(c, to));
        if (found->kind == EXPR_IF && found->branch.otherwise == NULL)
            diagnostics_note(c->diagnostics, d, (source_span){0}, "an `if` without `else` has no value");
        else if (found->kind == EXPR_ASSIGN && to->kind == TYPE_BOOL)
            diagnostics_note(c->diagnostics, d, (source_span){0}, "`==` compares, `=` assigns");
    } else {
        d = diagnostics_say(c->diagnostics, found->span, SAY(expected_found), check_type_text(c, to),
                            check_type_text(c, from));
    }
    note_namesakes(c, d, to, from);
    check_note_literal(c, d, found->type);
    if ((from->kind == TYPE_TENSOR && to->kind == TYPE_VEC) || (from->kind == TYPE_VEC && to->kind == TYPE_TENSOR))
        check_note_bracket(c, d, found);
    if (type_is_numeric(from) && type_is_numeric(to))
        diagnostics_note(c->diagnostics, d, (source_span){0}, "`as %s` converts it", check_type_text(c, to));
    else if (advice(c, from, to) != NULL)
        diagnostics_note(c->diagnostics, d, (source_span){0}, "%s", advice(c, from, to));
    if (why != NULL)
        diagnostics_note(c->diagnostics, d, why->span, "%s", why->text);
    return d;
}

void check_note_bracket(checker *c, diagnostic *d, const expr *e) {
    while (e->kind == EXPR_INDEX || e->kind == EXPR_UNARY)
        e = e->kind == EXPR_INDEX ? e->index.base : e->unary.operand;
    const open_form *f = e->kind == EXPR_NAME && e->name.binding != NULL ? e->name.binding->form : NULL;
    if (f == NULL)
        return;
    bool list = f->e->becomes != NULL && f->e->becomes->kind == TYPE_VEC;
    diagnostics_note(c->diagnostics, d, f->e->span, list ? "this is a list …" : "this is a tensor …");
    if (f->because.file != NULL && f->because.offset != f->e->span.offset) {
        diagnostics_note(c->diagnostics, d, f->because, "… because of this use");
    } else {
        diagnostics_note(c->diagnostics, d, (source_span){0},
                         list ? "… as what is done with it is done with lists; `let x: Tensor = …` makes it a tensor"
                              : "… as no use of it asks for a list; `vec![…]` is one, and `let x: [i64; 3] = …`");
    }
}
