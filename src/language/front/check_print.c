/* check_print.c: print and println: a text is split at its holes `{}`, once and for all. */
#include <string.h>

#include "language/front/check_private.h"

typedef struct format {
    checker *c;
    expr *call;
    expr *text; /* the format string */
    uint32_t capacity;
    uint32_t holes;
    char *literal; /* text between holes, `{{` already `{` */
    size_t literal_length;
} format;

static bool printable(const type *t) {
    return type_is_numeric(t) || t->kind == TYPE_BOOL || t->kind == TYPE_CHAR ||
           t->kind == TYPE_STRING || t->kind == TYPE_TENSOR;
}

static void push_piece(format *f, print_piece piece) {
    checker *c = f->c;
    call_expr *call = &f->call->call;
    CHECK_PUSH(c, call->pieces, call->piece_count, f->capacity, piece);
}

static void flush_literal(format *f, const char *end) {
    if (f->literal_length > 0) {
        push_piece(f, (print_piece){.text = end - f->literal_length, .length = f->literal_length});
        f->literal_length = 0;
    }
}

static void push_value(format *f, expr **slot) {
    checker *c = f->c;
    check_expr(c, slot, NULL);
    const type *t = type_resolve(c->types, (*slot)->type);
    if ((*slot)->kind == EXPR_STRING) {
        push_piece(f,
                   (print_piece){.text = (*slot)->string.data, .length = (*slot)->string.length});
        return;
    }
    push_piece(f, (print_piece){.value = *slot});
    if (!type_is_silent(t) && !printable(t)) {
        if (t->kind == TYPE_VOID) {
            diagnostics_error(c->diagnostics, (*slot)->span, "this has no value to print");
            return;
        }
        diagnostic *d = diagnostics_error(c->diagnostics, (*slot)->span, "`%s` cannot be printed",
                                          check_type_text(c, t));
        diagnostics_note(c->diagnostics, d, (source_span){0},
                         "numbers, bools, characters, strings and tensors can");
    }
}

static void report_format(format *f, const char *message, const char *note) {
    diagnostic *d = diagnostics_error(f->c->diagnostics, f->text->span, "%s", message);
    diagnostics_note(f->c->diagnostics, d, (source_span){0}, "%s", note);
}

/* Behind `{`. Returns where to go on; NULL after a message. */
static const char *hole(format *f, const char *at, const char *end) {
    if (at == end || *at != '}') {
        bool named = at < end && memchr(at, '}', (size_t)(end - at)) != NULL;
        report_format(f, named ? "nothing can stand inside of `{}`" : "a `{` without its `}`",
                      "`{{` prints a `{`");
        return NULL;
    }
    if (++f->holes < f->call->call.arg_count) {
        push_value(f, &f->call->call.args[f->holes]);
    }
    return at + 1;
}

/* The text is split in place: `{{` becomes `{`, so pieces move to the front. */
static bool split_format(format *f) {
    const char *at = f->text->string.data, *end = at + f->text->string.length;
    char *out = check_alloc(f->c, f->text->string.length + 1, 1);
    while (at < end) {
        bool doubled = at + 1 < end && (*at == '{' || *at == '}') && at[1] == *at;
        if (*at == '{' && !doubled) {
            flush_literal(f, out);
            at = hole(f, at + 1, end);
            if (at == NULL) {
                return false;
            }
            continue;
        }
        if (*at == '}' && !doubled) {
            report_format(f, "a `}` without its `{`", "`}}` prints a `}`");
            return false;
        }
        *out++ = *at;
        f->literal_length++;
        at += 1 + doubled;
    }
    flush_literal(f, out);
    return true;
}

static void print_formatted(format *f) {
    expr *e = f->call;
    f->text = e->call.args[0];
    f->text->type = check_scalar(f->c, TYPE_STRING);
    bool good = split_format(f);
    uint32_t values = e->call.arg_count - 1;
    if (good && f->holes != values) {
        diagnostics_error(f->c->diagnostics, f->text->span, "the text has %u `{}`, %u %s given",
                          f->holes, values, values == 1 ? "value is" : "values are");
    }
    check_list(f->c, e->call.args + 1, values);
}

void check_print(checker *c, expr *e, bool newline) {
    format f = {.c = c, .call = e};
    e->type = check_scalar(c, TYPE_VOID);
    e->call.newline = newline;
    if (e->call.arg_count > 0 && e->call.args[0]->kind == EXPR_STRING) {
        print_formatted(&f);
    } else if (e->call.arg_count == 1) {
        push_value(&f, &e->call.args[0]);
    } else if (e->call.arg_count > 1) {
        check_list(c, e->call.args, e->call.arg_count);
        diagnostic *d = diagnostics_error(c->diagnostics, e->call.args[0]->span,
                                          "several values need a text to stand in");
        diagnostics_note(c->diagnostics, d, (source_span){0},
                         "for instance `println(\"{} {}\", a, b)`");
    }
    e->call.kind = CALL_PRINT;
}
