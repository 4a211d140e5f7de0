/* check_print.c: print, println, format and their like: a text is split at its holes, once and for all.
 *
 *     "{} {:>8.2} {name} {0:?}"     hole = { what : how }
 *
 * A hole without `how` of a number, text or tensor is printed as it is. Any other becomes a call of tl_text_…
 * that yields a String. Structs, enums, tuples and Vecs are taken apart into the texts of their parts.
 */
#include <string.h>

#include "language/front/check_expr.h"
#include "language/front/check_text.h"
#include "language/types/check_context.h"
#include "language/types/check_fits.h"
#include "language/types/check_item.h"
#include "language/types/check_operation.h"
#include "language/types/check_tree_made.h"
#include "language/types/check_variants.h"
#include "language/types/check_written.h"

typedef struct format {
    checker *c;
    expr *call;
    expr **args; /* the values behind the text */
    uint32_t arg_count;
    expr **named; /* `name = value` behind them */
    uint32_t named_count;
    expr **again; /* of a value that `{0}` may show once more: a copy that is not checked */
    bool *is_used;
    expr *text; /* the format string */
    uint32_t capacity;
    uint32_t holes, unnamed;
    size_t literal_length; /* text between holes, `{{` already `{` */
    print_piece *pieces;
    uint32_t piece_count;
} format;

/* ---- pieces ---------------------------------------------------------------------------------- */

static void push_piece(format *f, print_piece piece) {
    checker *c = f->c;
    CHECK_PUSH(c, f->pieces, f->piece_count, f->capacity, piece);
}

static void flush_literal(format *f, const char *end) {
    if (f->literal_length > 0) {
        push_piece(f, (print_piece){.text = end - f->literal_length, .length = f->literal_length});
        f->literal_length = 0;
    }
}

/* `{:x}` and `{:b}` are for whole numbers, `{:e}` for all numbers, and for the types whose impl says how they look. */
static bool refuse_form(checker *c, const expr *e, const type *t, int64_t how) {
    const bool digits = (how & (HOW(HOW_HEXADECIMAL) | HOW(HOW_BINARY))) != 0,
               exponent = (how & HOW(HOW_EXPONENT)) != 0;
    const bool whole = type_is_integer(t) || t->kind == TYPE_OPEN,
               own = t->kind == TYPE_STRUCT && check_has_form(c, t, how);
    if ((how & HOW(HOW_DEBUG)) != 0 || (!digits && !exponent) || type_is_silent(t) || own || whole ||
        (exponent && type_is_float(t)))
        return false;
    diagnostic *d = diagnostics_say(
        c->diagnostics, e->span, SAY(hole_is_for_numbers),
        exponent ? "`{:e}` is for numbers" : "`{:x}`, `{:b}` and `{:o}` are for whole numbers", check_type_text(c, t));
    if (t->kind == TYPE_TENSOR)
        diagnostics_note(c->diagnostics, d, (source_span){0}, "`t.item()` is the number of a tensor that holds one");
    return true;
}

static void push_value(format *f, expr **slot, int64_t how) {
    checker *c = f->c;
    check_unit_value(c, slot);
    bool element = (*slot)->kind == EXPR_INDEX;              /* a number looks the same as a tensor of rank 0 */
    static const pattern option = {.kind = PATTERN_VARIANT}; /* {:?} of v.get(i) shows whether there is one */
    bool method = (*slot)->kind == EXPR_METHOD && (*slot)->type == NULL;
    c->around->wanted_variants = method && (how & HOW(HOW_DEBUG)) != 0 ? &option : NULL;
    check_expr(c, slot, element ? type_tensor(c->types, NULL, -1) : NULL);
    c->around->wanted_variants = NULL;
    const type *t = type_resolve(c->types, (*slot)->type);
    if ((*slot)->kind == EXPR_STRING && how == 0) {
        push_piece(f, (print_piece){.text = (*slot)->string.data, .length = (*slot)->string.length});
        return;
    }
    if (refuse_form(c, *slot, t, how)) {
        push_piece(f, (print_piece){.value = *slot});
        return;
    }
    if (!type_is_silent(t) && !check_printable(c, t)) {
        push_piece(f, (print_piece){.value = *slot});
        if (t->kind == TYPE_VOID) {
            diagnostics_say(c->diagnostics, (*slot)->span, SAY(this_has_no_value_to_print));
            return;
        }
        diagnostic *d = diagnostics_say(c->diagnostics, (*slot)->span, SAY(cannot_be_printed), check_type_text(c, t));
        if (check_is_iterator(c, t))
            diagnostics_note(c->diagnostics, d, (source_span){0},
                             "it is an iterator; `.collect::<Vec<_>>()` makes a list of what it yields");
        return;
    }
    if (!type_is_silent(t) && (how != 0 || !check_is_plain(t) || check_is_unstated(c, *slot))) {
        expr *text = check_text_of(c, *slot, how);
        push_piece(f, (print_piece){.value = text});
        return;
    }
    push_piece(f, (print_piece){.value = *slot});
}

static void report_format(format *f, message_row row, const char *message, const char *note) {
    diagnostic *d = diagnostics_say(f->c->diagnostics, f->text->span, row, "%s", message);
    diagnostics_note(f->c->diagnostics, d, (source_span){0}, "%s", note);
}

/* ---- how ------------------------------------------------------------------------------------- */

static const char *read_number(const char *at, const char *end, int64_t *out) {
    *out = 0;
    while (at < end && *at >= '0' && *at <= '9') {
        *out = *out > 60000 ? *out : *out * 10 + (*at - '0');
        at++;
    }
    *out = *out > 60000 ? 60000 : *out;
    return at;
}

static int align_of(char c) {
    return c == '<' ? 1 : c == '^' ? 2 : c == '>' ? 3 : 0;
}

static const char *read_align(const char *at, const char *end, int64_t *how) {
    size_t first = at < end ? 1 : 0;
    while (at + first < end && ((unsigned char)at[first] & 0xC0) == 0x80)
        first++;
    if (first > 0 && at + first < end && align_of(at[first]) != 0) {
        unsigned char lead = (unsigned char)*at;
        uint32_t fill = first == 1 ? lead : lead & (0x7Fu >> first);
        for (size_t i = 1; i < first; i++)
            fill = (fill << 6) | ((unsigned char)at[i] & 0x3F);
        *how |= ((int64_t)(fill & 0x1FFFFF) << HOW_FILL) | ((int64_t)align_of(at[first]) << HOW_ALIGN);
        return at + first + 1;
    }
    if (at < end && align_of(*at) != 0) {
        *how |= (int64_t)align_of(*at) << HOW_ALIGN;
        return at + 1;
    }
    return at;
}

static bool name_character(char c, bool first) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (!first && c >= '0' && c <= '9');
}

/* `name = value` behind the text. NULL: there is none of that name. */
static expr *named_argument(format *f, const char *name) {
    for (uint32_t i = 0; i < f->named_count; i++)
        if (strcmp(f->named[i]->assign.target->name.name, name) == 0)
            return check_copy_tree(f->c, f->named[i]->assign.value);
    return NULL;
}

/* {NAME}: a variable, or a constant as the module knows it */
static expr *name_in_text(const format *f, const char *name) {
    checker *c = f->c;
    expr *e = check_new_name(c, f->text->span, name);
    const module_scope *module = c->function == NULL ? NULL : c->function->module;
    const char *goes_on;
    if (module != NULL && modules_are_settled(c->tree->names))
        e->name.item = modules_find(c->tree->names, module, name, f->text->span, &goes_on);
    return e;
}

/* width$ and .precision$: a name or the number of a value. .* takes the next value. NULL: none of these. */
static const char *read_given(format *f, const char *at, const char *end, int shift) {
    checker *c = f->c;
    const char *start = at;
    expr *value = NULL;
    if (shift != 0 && at < end && *at == '*' && f->unnamed < f->arg_count) {
        value = f->args[f->unnamed];
        f->again[f->unnamed] = check_copy_tree(c, value);
        f->is_used[f->unnamed++] = true;
        f->holes = f->unnamed > f->holes ? f->unnamed : f->holes;
        at++;
    } else {
        while (at < end && name_character(*at, false))
            at++;
        if (at == start || at == end || *at != '$')
            return NULL;
        char *name = check_text_between(c, start, at);
        int64_t index;
        at++;
        if (*name >= '0' && *name <= '9') {
            (void)read_number(name, name + strlen(name), &index);
            if (index >= (int64_t)f->arg_count)
                return NULL;
            f->holes = index + 1 > (int64_t)f->holes ? (uint32_t)(index + 1) : f->holes;
            value = check_copy_tree(c, f->args[index]->type == NULL ? f->args[index] : f->again[index]);
        } else {
            value = named_argument(f, name);
            value = value != NULL ? value : name_in_text(f, name);
        }
    }
    expr *bits = build_call(c, f->text->span, NULL, shift == 0 ? "__width" : "__precision", &value, 1);
    c->around->how_more = c->around->how_more == NULL
                              ? bits
                              : check_new_binary(c, BINARY_BIT_OR, c->around->how_more, bits, NULL);
    return at;
}

/* Behind the colon: [fill]align + # 0 width .precision ? x X b e. NULL: something else is there. */
static const char *read_how(format *f, const char *at, const char *end, int64_t *how) {
    int64_t number;
    f->c->around->how_more = NULL;
    at = read_align(at, end, how);
    if (at < end && *at == '+') {
        *how |= HOW(HOW_PLUS);
        at++;
    }
    if (at < end && *at == '#') {
        *how |= HOW(HOW_PREFIX);
        at++;
    }
    if (at < end && *at == '0') {
        *how |= HOW(HOW_ZEROS);
        at++;
    }
    const char *given = read_given(f, at, end, 0);
    if (given != NULL) {
        at = given;
    } else {
        at = read_number(at, end, &number);
        *how |= number;
    }
    if (at < end && *at == '.') {
        const char *digits = at + 1;
        at = read_given(f, digits, end, HOW_PRECISION);
        if (at == NULL) {
            at = read_number(digits, end, &number);
            if (at == digits)
                return NULL;
            *how |= (number + 1) << HOW_PRECISION;
        }
    }
    if (at + 1 < end && (*at == 'x' || *at == 'X') && at[1] == '?') { /* numbers in `{:?}` of the whole */
        *how |= HOW(HOW_HEXADECIMAL) | (*at == 'X' ? HOW(HOW_CAPITALS) : 0);
        at++;
    }
    if (at < end && *at != '}') {
        *how |= *at == '?'   ? HOW(HOW_DEBUG)
                : *at == 'x' ? HOW(HOW_HEXADECIMAL)
                : *at == 'X' ? HOW(HOW_HEXADECIMAL) | HOW(HOW_CAPITALS)
                : *at == 'b' ? HOW(HOW_BINARY)
                : *at == 'o' ? HOW(HOW_HEXADECIMAL) | HOW(HOW_BINARY)
                : *at == 'e' ? HOW(HOW_EXPONENT)
                : *at == 'E' ? HOW(HOW_EXPONENT) | HOW(HOW_CAPITALS)
                             : 0;
        if (strchr("?xXbeEo", *at) == NULL)
            return NULL;
        at++;
    }
    return at;
}

/* ---- holes ----------------------------------------------------------------------------------- */

static void push_argument(format *f, uint64_t index, int64_t how) {
    if (index < f->arg_count) {
        if (f->is_used[index] && f->again[index] != NULL) {
            expr *copy = check_copy_tree(f->c, f->again[index]);
            push_value(f, &copy, how);
            return;
        }
        if (f->is_used[index] && f->args[index]->type != NULL && !type_is_silent(f->args[index]->type)) {
            diagnostics_say(f->c->diagnostics, f->args[index]->span, SAY(this_value_is_printed_twice_bind));
            return;
        }
        if (f->args[index]->type == NULL)
            f->again[index] = check_copy_tree(f->c, f->args[index]);
        f->is_used[index] = true;
        push_value(f, &f->args[index], how);
    }
}

/* Behind `{`. Returns where to go on; NULL after a message. */
static const char *hole(format *f, const char *at, const char *end) {
    checker *c = f->c;
    const char *start = at;
    int64_t how = 0, index = -1;
    expr *named = NULL;
    c->around->how_more = NULL;
    if (at < end && *at >= '0' && *at <= '9') {
        at = read_number(at, end, &index);
    } else if (at < end && name_character(*at, true)) {
        while (at < end && name_character(*at, false))
            at++;
        char *name = check_text_between(c, start, at);
        named = named_argument(f, name);
        named = named != NULL ? named : name_in_text(f, name);
    }
    if (at < end && *at == ':')
        at = read_how(f, at + 1, end, &how);
    if (at == NULL || at == end || *at != '}') {
        bool closed = start < end && memchr(start, '}', (size_t)(end - start)) != NULL;
        c->around->how_more = NULL;
        report_format(f, SAY_IF(closed, this_hole_is_not_understood, hole_without_end),
                      closed ? "`{}`, `{name}`, `{:>8.2}`, `{:?}`; `{{` prints a `{`" : "`{{` prints a `{`");
        return NULL;
    }
    if (c->around->how_more != NULL)
        how |= HOW(HOW_MORE);
    if (named != NULL) {
        push_value(f, &named, how);
    } else {
        index = index >= 0 ? index : (int64_t)f->unnamed++;
        push_argument(f, (uint64_t)index, how);
        f->holes = index + 1 > (int64_t)f->holes ? (uint32_t)(index + 1) : f->holes;
    }
    c->around->how_more = NULL;
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
            if (at == NULL)
                return false;
            continue;
        }
        if (*at == '}' && !doubled) {
            report_format(f, SAY(hole_without_begin), "`}}` prints a `}`");
            return false;
        }
        *out++ = *at;
        f->literal_length++;
        at += 1 + doubled;
    }
    flush_literal(f, out);
    return true;
}

static bool has_no_holes(const expr *text) {
    return memchr(text->string.data, '{', text->string.length) == NULL &&
           memchr(text->string.data, '}', text->string.length) == NULL;
}

/* Several values without a text that says where they go: a space between them. */
static void split_list(format *f) {
    expr *e = f->call;
    for (uint32_t i = 0; i < e->call.arg_count; i++) {
        if (i > 0)
            push_piece(f, (print_piece){.text = " ", .length = 1});
        push_value(f, &e->call.args[i], 0);
    }
}

static void split_call(format *f) {
    expr *e = f->call;
    f->text = e->call.args[0];
    f->text->type = check_scalar(f->c, TYPE_STRING);
    f->args = e->call.args + 1;
    f->arg_count = e->call.arg_count - 1;
    while (f->arg_count > 0) {
        const expr *last = f->args[f->arg_count - 1];
        if (last->kind != EXPR_ASSIGN || last->assign.op != BINARY_NONE || last->assign.target->kind != EXPR_NAME)
            break;
        f->arg_count--;
        f->named_count++;
    }
    f->named = f->args + f->arg_count;
    f->is_used = CHECK_ARRAY(f->c, bool, f->arg_count + 1);
    f->again = CHECK_ARRAY(f->c, expr *, f->arg_count + 1);
    if (f->arg_count > 0 && f->named_count == 0 && has_no_holes(f->text)) { /* println("x:", x) */
        split_list(f);
        return;
    }
    bool good = split_format(f);
    if (good && f->holes != f->arg_count) {
        diagnostics_say(f->c->diagnostics, f->text->span, SAY(text_has_other_number_of_holes), f->holes, f->arg_count,
                        f->arg_count == 1 ? "value is" : "values are");
    }
    check_list(f->c, f->args, f->arg_count);
}

/* ---- print, println, format ------------------------------------------------------------------ */

static void split(format *f) {
    expr *e = f->call;
    if (e->call.arg_count > 0 && e->call.args[0]->kind == EXPR_STRING)
        split_call(f);
    else if (e->call.arg_count == 1)
        push_value(f, &e->call.args[0], 0);
    else if (e->call.arg_count > 1)
        split_list(f);
}

/* ---- the order of values --------------------------------------------------------------------- */

/* Some hole has a name, a number or a `$` in it. */
static bool shows_by_name(const expr *text) {
    const char *at = text->string.data, *end = at + text->string.length;
    for (; at + 1 < end; at++)
        if (*at == '{' && at[1] == '{')
            at++;
        else if (*at == '$' || (*at == '{' && (name_character(at[1], false))))
            return true;
    return false;
}

/* Whenever it is read, and however often, it is the same, unless something else changes it. */
static bool is_only_read(const expr *e) {
    switch (e->kind) {
    case EXPR_INT:
    case EXPR_FLOAT:
    case EXPR_BOOL:
    case EXPR_CHAR:
    case EXPR_STRING:
    case EXPR_NAME:
        return true;
    case EXPR_FIELD:
    case EXPR_TUPLE_FIELD:
        return is_only_read(e->field.base);
    case EXPR_UNARY:
        return is_only_read(e->unary.operand);
    default:
        return false;
    }
}

/* println!("{name} {0} {0}", f(&mut x)): f is called once, before `name` is read.
 * ─►  { let <shown> = f(&mut x); println!("{name} {0} {0}", <shown>); } */
static bool values_first(checker *c, expr **slot, bool is_value) {
    expr *e = *slot;
    bool any = false;
    if (e->call.arg_count < 2 || e->call.args[0]->kind != EXPR_STRING || !shows_by_name(e->call.args[0]))
        return false;
    block_builder b = build_block(c, e->span);
    for (uint32_t i = 1; i < e->call.arg_count; i++) {
        expr **value = &e->call.args[i];
        value = (*value)->kind == EXPR_ASSIGN && (*value)->assign.op == BINARY_NONE ? &(*value)->assign.value : value;
        if (is_only_read(*value))
            continue;
        const char *name = check_printf(c, "<shown %u>", c->text_count++);
        source_span span = (*value)->span;
        build_let(&b, name, false, *value);
        *value = check_new_name(c, span, name);
        any = true;
    }
    if (!any)
        return false;
    if (!is_value)
        build_stmt(&b, e);
    *slot = build_finish(&b, is_value ? e : NULL);
    check_expr(c, slot, NULL);
    return true;
}

void check_print(checker *c, expr **slot, bool newline) {
    expr *e = *slot;
    if (values_first(c, slot, false))
        return;
    format f = {.c = c, .call = e};
    e->type = check_scalar(c, TYPE_VOID);
    split(&f);
    e->call.kind = CALL_PRINT;
    e->call.newline = newline;
    e->call.pieces = f.pieces;
    e->call.piece_count = f.piece_count;
}

/* The text as one String, with the end of a line behind it. */
static void format_text(checker *c, expr **slot, bool newline) {
    format f = {.c = c, .call = *slot};
    split(&f);
    if (newline)
        push_piece(&f, (print_piece){.text = "\n", .length = 1});
    text_pieces p = {.c = c, .span = (*slot)->span};
    for (uint32_t i = 0; i < f.piece_count; i++) {
        const print_piece *piece = &f.pieces[i];
        if (piece->value == NULL)
            check_add_piece(&p, check_text_node(c, p.span, piece->text, piece->length));
        else if (!type_is_silent(piece->value->type))
            check_add_piece(&p, check_text_of(c, piece->value, 0));
    }
    *slot = p.all == NULL ? check_text_node(c, p.span, "", 0) : p.all;
}

/* format("…", …), the message of panic and assert. */
void check_format(checker *c, expr **slot) {
    if ((*slot)->kind == EXPR_CALL && values_first(c, slot, true))
        return;
    format_text(c, slot, false);
}

void check_print_error(checker *c, expr **slot, bool newline) {
    expr *call = *slot, *text = call;
    if (values_first(c, slot, false))
        return;
    format_text(c, &text, newline);
    *slot = check_new_abi(c, TL_FN_tl_print_error, call->span, &text, 1);
}
