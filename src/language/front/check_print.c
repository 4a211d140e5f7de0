/* check_print.c: print, println, format and their like: a text is split at its holes, once and for all.
 *
 *     "{} {:>8.2} {name} {0:?}"     hole = { what : how }
 *
 * A hole without `how` of a number, text or tensor is printed as it is. Any other becomes a call of tl_text_…
 * that yields a String. Structs, enums, tuples and Vecs are taken apart into the texts of their parts.
 */
#include <string.h>

#include "language/front/check_private.h"

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

/* How a value is shown: see runtime/text.c. */
enum {
    HOW_PRECISION = 16,
    HOW_FILL = 32,
    HOW_ALIGN = 53,
    HOW_PLUS = 55,
    HOW_ZEROS,
    HOW_DEBUG,
    HOW_HEXADECIMAL,
    HOW_BINARY,
    HOW_EXPONENT,
    HOW_CAPITALS,
    HOW_PREFIX
};

#define HOW(bit) (INT64_C(1) << (bit))

/* ---- values as text -------------------------------------------------------------------------- */

static bool is_plain(const type *t) {
    return type_is_numeric(t) || t->kind == TYPE_BOOL || t->kind == TYPE_CHAR ||
           t->kind == TYPE_STRING || t->kind == TYPE_TENSOR;
}

/* budget: a type may hold Vecs of itself, several times over. */
static bool printable(const type *t, int *budget) {
    if (is_plain(t) || type_is_silent(t) || --*budget < 0) {
        return true;
    }
    if (t->kind == TYPE_STRUCT && t->structure->closure != NULL) {
        return false;
    }
    switch (t->kind) {
    case TYPE_VEC:
        return printable(t->vec.element, budget);
    case TYPE_TUPLE:
        for (uint32_t i = 0; i < t->tuple.count; i++) {
            if (!printable(t->tuple.items[i], budget)) {
                return false;
            }
        }
        return true;
    case TYPE_STRUCT:
        for (uint32_t i = 0; i < t->structure->field_count; i++) {
            if (!printable(t->structure->fields[i].type, budget)) {
                return false;
            }
        }
        return true;
    default:
        return t->kind == TYPE_OPEN;
    }
}

static expr *text_node(checker *c, source_span span, const char *text, size_t length) {
    expr *e = check_new(c, EXPR_STRING, span, check_scalar(c, TYPE_STRING));
    e->string.data = text;
    e->string.length = length;
    return e;
}

static expr *plain_text(checker *c, expr *value, const type *t, int64_t how) {
    tl_abi_index abi = TL_FN_tl_text_i64;
    switch (t->kind) {
    case TYPE_F32:
        abi = TL_FN_tl_text_f32;
        break;
    case TYPE_F64:
        abi = TL_FN_tl_text_f64;
        break;
    case TYPE_BOOL:
        abi = TL_FN_tl_text_bool;
        break;
    case TYPE_CHAR:
        abi = TL_FN_tl_text_char;
        break;
    case TYPE_STRING:
        if (how == 0) {
            return value;
        }
        abi = TL_FN_tl_text_string;
        break;
    case TYPE_TENSOR:
        abi = TL_FN_tl_text_tensor;
        break;
    default:
        abi = type_is_signed(t) ? TL_FN_tl_text_i64 : TL_FN_tl_text_u64;
        check_cast_to(c, &value, check_scalar(c, TYPE_I64));
        break;
    }
    expr *operands[2] = {value, check_new_int(c, value->span, how)};
    return check_new_abi(c, abi, value->span, operands, 2);
}

typedef struct pieces { /* texts that are put together */
    checker *c;
    source_span span;
    expr *all;
} pieces;

static void add_piece(pieces *p, expr *e) {
    expr *both[2] = {p->all, e};
    p->all = p->all == NULL ? e : check_new_abi(p->c, TL_FN_tl_string_concat, p->span, both, 2);
}

static void add_literal(pieces *p, const char *text) {
    add_piece(p, text_node(p->c, p->span, text, strlen(text)));
}

static expr *checked_name(checker *c, source_span span, const char *name, const type *t) {
    expr *e = check_new_name(c, span, name);
    check_expr(c, &e, t);
    return e;
}

/* `<text>` is a variable of the block around. */
static expr *tuple_text(checker *c, source_span span, const char *name, const type *t,
                        int64_t how) {
    pieces p = {.c = c, .span = span};
    add_literal(&p, "(");
    for (uint32_t i = 0; i < t->tuple.count; i++) {
        expr *part =
            check_new(c, EXPR_TUPLE_FIELD, span, type_resolve(c->types, t->tuple.items[i]));
        part->field.base = checked_name(c, span, name, NULL);
        part->field.index = i;
        if (i > 0) {
            add_literal(&p, ", ");
        }
        add_piece(&p, check_text_of(c, part, how));
    }
    add_literal(&p, t->tuple.count == 1 ? ",)" : ")");
    return p.all;
}

static expr *fields_text(checker *c, source_span span, const char *name, const struct_item *s,
                         int64_t how) {
    pieces p = {.c = c, .span = span};
    add_literal(&p, s->type == check_unit_type(c) ? "()" : s->name);
    if (s->field_count > 0) {
        add_literal(&p, s->positional ? "(" : " { ");
    }
    for (uint32_t i = 0; i < s->field_count; i++) {
        expr *part = build_field(c, span, checked_name(c, span, name, NULL), s->fields[i].name);
        part->field.index = i;
        part->type = type_resolve(c->types, s->fields[i].type);
        if (i > 0) {
            add_literal(&p, ", ");
        }
        if (!s->positional) {
            add_literal(&p, s->fields[i].name);
            add_literal(&p, ": ");
        }
        add_piece(&p, check_text_of(c, part, how));
    }
    if (s->field_count > 0) {
        add_literal(&p, s->positional ? ")" : " }");
    }
    return p.all;
}

/* E::V(<0>, <1>) => "V(" + … */
static match_arm variant_arm(checker *c, source_span span, const struct_item *s, uint32_t variant,
                             int64_t how) {
    const variant_item *v = &s->variants[variant];
    pattern *arm = CHECK_ARRAY(c, pattern, 1);
    *arm = (pattern){.span = span, .kind = PATTERN_VARIANT, .type = s->type, .variant = variant};
    arm->structure = (struct_item *)s;
    arm->parts = CHECK_ARRAY(c, pattern *, v->count + 1);
    arm->part_fields = CHECK_ARRAY(c, uint32_t, v->count + 1);
    arm->part_count = v->count;
    pieces p = {.c = c, .span = span};
    add_literal(&p, v->name);
    if (v->count > 0) {
        add_literal(&p, v->positional ? "(" : " { ");
    }
    uint32_t mark = check_scope_open(c);
    for (uint32_t i = 0; i < v->count; i++) {
        const struct_field *field = &s->fields[v->first + i];
        char *name = check_printf(c, "<%u>", i);
        pattern *part = CHECK_ARRAY(c, pattern, 1);
        binding *b = CHECK_ARRAY(c, binding, 1);
        *b = (binding){.name = name, .span = span, .kind = BINDING_LOOP};
        *part = (pattern){.span = span, .kind = PATTERN_NAME, .binding = b};
        part->type = type_resolve(c->types, field->type);
        check_declare(c, b, part->type);
        arm->parts[i] = part;
        arm->part_fields[i] = v->first + i;
        if (i > 0) {
            add_literal(&p, ", ");
        }
        if (!v->positional) {
            add_literal(&p, field->name);
            add_literal(&p, ": ");
        }
        add_piece(&p, check_text_of(c, checked_name(c, span, name, part->type), how));
    }
    if (v->count > 0) {
        add_literal(&p, v->positional ? ")" : " }");
    }
    check_scope_close(c, mark);
    return (match_arm){.pattern = arm, .body = p.all};
}

static expr *enum_text(checker *c, expr *value, const struct_item *s, int64_t how) {
    expr *e = check_new(c, EXPR_MATCH, value->span, check_scalar(c, TYPE_STRING));
    e->match.value = value;
    e->match.count = s->variant_count;
    e->match.arms = CHECK_ARRAY(c, match_arm, s->variant_count + 1);
    for (uint32_t i = 0; i < s->variant_count; i++) {
        e->match.arms[i] = variant_arm(c, value->span, s, i, how);
    }
    return e;
}

/* impl Display: fn fmt(&self, f) */
static bool shows_itself(checker *c, const type *t) {
    const function_item *f = check_method_named(c, t->structure, "fmt");
    return f != NULL && f->has_self && f->parameter_count == 2;
}

/* { let mut <text> = ""; value.fmt(<text>); <text> } */
static expr *own_text(checker *c, expr *value, int64_t how) {
    source_span span = value->span;
    block_builder b = build_block(c, span);
    char *name = check_printf(c, "<text %u>", c->text_count++);
    build_let(&b, name, true, text_node(c, span, "", 0));
    expr *target = check_new_name(c, span, name);
    build_stmt(&b, build_method(c, span, value, "fmt", &target, 1));
    expr *e = build_finish(&b, check_new_name(c, span, name));
    check_expr(c, &e, NULL);
    return how == 0 ? e : plain_text(c, e, check_scalar(c, TYPE_STRING), how);
}

/* write!(f, …): { f = f + format(…); Ok(()) } */
void check_write_text(checker *c, expr **slot, bool newline) {
    expr *e = *slot, *target = e->call.args[0];
    source_span span = e->span;
    while (target->kind == EXPR_UNARY && target->unary.op == UNARY_REFERENCE) {
        target = target->unary.operand;
    }
    block_builder b = build_block(c, span);
    expr *text = build_call(c, span, NULL, "format", e->call.args + 1, e->call.arg_count - 1);
    if (newline) {
        text = check_new_binary(c, BINARY_ADD, text, text_node(c, span, "\n", 1), NULL);
    }
    expr *sum = check_new_binary(c, BINARY_ADD, check_copy_place(c, target), text, NULL);
    build_stmt(&b, build_assign(c, span, target, sum));
    expr *nothing = check_new(c, EXPR_TUPLE, span, NULL);
    *slot = build_finish(&b, build_call(c, span, NULL, "Ok", &nothing, 1));
    check_expr(c, slot, NULL);
}

/* Rust shows what is inside of another value as the source would write it. */
expr *check_text_of(checker *c, expr *value, int64_t how) {
    const type *t = type_resolve(c->types, value->type);
    source_span span = value->span;
    if (is_plain(t)) {
        return plain_text(c, value, t, how);
    }
    if (type_is_silent(t)) {
        return text_node(c, span, "", 0);
    }
    if ((how & HOW(HOW_DEBUG)) == 0 && t->kind == TYPE_STRUCT && shows_itself(c, t)) {
        return own_text(c, value, how);
    }
    bool parts = t->kind == TYPE_STRUCT || t->kind == TYPE_TUPLE || t->kind == TYPE_VEC;
    if (!parts) { /* the unknown part of a None, a block without a value */
        if (c->diagnostics->error_count == 0) {
            diagnostics_error(c->diagnostics, span,
                              t->kind == TYPE_VOID
                                  ? "this has no value to print"
                                  : "nothing says what type this is, printed here");
        }
        return text_node(c, span, "", 0);
    }
    how |= HOW(HOW_DEBUG);
    if (t->kind == TYPE_STRUCT && t->structure->is_enum) {
        return enum_text(c, value, t->structure, how);
    }
    if (t->kind == TYPE_VEC) {
        expr *number = check_new_int(c, span, how);
        expr *call =
            build_method(c, span, value, type_is_box(t) ? "__boxed" : "__text", &number, 1);
        check_expr(c, &call, NULL);
        return call;
    }
    block_builder b = build_block(c, span);
    char *name = check_printf(c, "<text %u>", c->text_count++);
    uint32_t mark = check_scope_open(c);
    build_let(&b, name, false, value);
    b.last->pattern->type = t;
    check_declare(c, b.last->pattern->binding, t);
    expr *all = t->kind == TYPE_TUPLE ? tuple_text(c, span, name, t, how)
                                      : fields_text(c, span, name, t->structure, how);
    check_scope_close(c, mark);
    expr *e = build_finish(&b, all);
    e->type = e->block->type = check_scalar(c, TYPE_STRING);
    return e;
}

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

static void push_value(format *f, expr **slot, int64_t how) {
    checker *c = f->c;
    check_expr(c, slot, NULL);
    const type *t = type_resolve(c->types, (*slot)->type);
    if ((*slot)->kind == EXPR_STRING && how == 0) {
        push_piece(f,
                   (print_piece){.text = (*slot)->string.data, .length = (*slot)->string.length});
        return;
    }
    if (!type_is_silent(t) && !printable(t, &(int){1000})) {
        push_piece(f, (print_piece){.value = *slot});
        if (t->kind == TYPE_VOID) {
            diagnostics_error(c->diagnostics, (*slot)->span, "this has no value to print");
            return;
        }
        diagnostics_error(c->diagnostics, (*slot)->span, "`%s` cannot be printed",
                          check_type_text(c, t));
        return;
    }
    if (!type_is_silent(t) && (how != 0 || !is_plain(t))) {
        expr *text = check_text_of(c, *slot, how);
        push_piece(f, (print_piece){.value = text});
        return;
    }
    push_piece(f, (print_piece){.value = *slot});
}

static void report_format(format *f, const char *message, const char *note) {
    diagnostic *d = diagnostics_error(f->c->diagnostics, f->text->span, "%s", message);
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
    while (at + first < end && ((unsigned char)at[first] & 0xC0) == 0x80) {
        first++;
    }
    if (first > 0 && at + first < end && align_of(at[first]) != 0) {
        unsigned char lead = (unsigned char)*at;
        uint32_t fill = first == 1 ? lead : lead & (0x7Fu >> first);
        for (size_t i = 1; i < first; i++) {
            fill = (fill << 6) | ((unsigned char)at[i] & 0x3F);
        }
        *how |=
            ((int64_t)(fill & 0x1FFFFF) << HOW_FILL) | ((int64_t)align_of(at[first]) << HOW_ALIGN);
        return at + first + 1;
    }
    if (at < end && align_of(*at) != 0) {
        *how |= (int64_t)align_of(*at) << HOW_ALIGN;
        return at + 1;
    }
    return at;
}

/* Behind the colon: [fill]align + # 0 width .precision ? x X b e. NULL: something else stands there. */
static const char *read_how(const char *at, const char *end, int64_t *how) {
    int64_t number;
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
    at = read_number(at, end, &number);
    *how |= number;
    if (at < end && *at == '.') {
        const char *digits = at + 1;
        at = read_number(digits, end, &number);
        if (at == digits) {
            return NULL;
        }
        *how |= (number + 1) << HOW_PRECISION;
    }
    if (at < end && *at != '}') {
        *how |= *at == '?'   ? HOW(HOW_DEBUG)
                : *at == 'x' ? HOW(HOW_HEXADECIMAL)
                : *at == 'X' ? HOW(HOW_HEXADECIMAL) | HOW(HOW_CAPITALS)
                : *at == 'b' ? HOW(HOW_BINARY)
                : *at == 'e' ? HOW(HOW_EXPONENT)
                             : 0;
        if (strchr("?xXbe", *at) == NULL) {
            return NULL;
        }
        at++;
    }
    return at;
}

/* ---- holes ----------------------------------------------------------------------------------- */

static bool name_character(char c, bool first) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (!first && c >= '0' && c <= '9');
}

/* `name = value` behind the text. NULL: there is none of that name. */
static expr *named_argument(format *f, const char *name) {
    for (uint32_t i = 0; i < f->named_count; i++) {
        if (strcmp(f->named[i]->assign.target->name.name, name) == 0) {
            expr *copy = expr_copy(f->c->arena, f->named[i]->assign.value);
            if (copy == NULL) {
                check_out_of_memory(f->c);
            }
            return copy;
        }
    }
    return NULL;
}

static void push_argument(format *f, uint64_t index, int64_t how) {
    if (index < f->arg_count) {
        if (f->is_used[index] && f->again[index] != NULL) {
            expr *copy = expr_copy(f->c->arena, f->again[index]);
            if (copy == NULL) {
                check_out_of_memory(f->c);
            }
            push_value(f, &copy, how);
            return;
        }
        if (f->is_used[index] && f->args[index]->type != NULL &&
            !type_is_silent(f->args[index]->type)) {
            diagnostics_error(f->c->diagnostics, f->args[index]->span,
                              "this value is printed twice: bind it to a name first");
            return;
        }
        if (f->args[index]->type == NULL) {
            f->again[index] = expr_copy(f->c->arena, f->args[index]);
        }
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
    if (at < end && *at >= '0' && *at <= '9') {
        at = read_number(at, end, &index);
    } else if (at < end && name_character(*at, true)) {
        while (at < end && name_character(*at, false)) {
            at++;
        }
        char *name = masu__arena_strndup(c->arena, start, (size_t)(at - start));
        if (name == NULL) {
            check_out_of_memory(c);
        }
        named = named_argument(f, name);
        named = named != NULL ? named : check_new_name(c, f->text->span, name);
    }
    if (at < end && *at == ':') {
        at = read_how(at + 1, end, &how);
    }
    if (at == NULL || at == end || *at != '}') {
        bool closed = start < end && memchr(start, '}', (size_t)(end - start)) != NULL;
        report_format(f, closed ? "this hole is not understood" : "a `{` without its `}`",
                      closed ? "`{}`, `{name}`, `{:>8.2}`, `{:?}`; `{{` prints a `{`"
                             : "`{{` prints a `{`");
        return NULL;
    }
    if (named != NULL) {
        push_value(f, &named, how);
    } else {
        f->holes += index < 0;
        push_argument(f, index >= 0 ? (uint64_t)index : f->unnamed++, how);
        f->holes = index + 1 > (int64_t)f->holes ? (uint32_t)(index + 1) : f->holes;
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

static void split_call(format *f) {
    expr *e = f->call;
    f->text = e->call.args[0];
    f->text->type = check_scalar(f->c, TYPE_STRING);
    f->args = e->call.args + 1;
    f->arg_count = e->call.arg_count - 1;
    while (f->arg_count > 0) {
        const expr *last = f->args[f->arg_count - 1];
        if (last->kind != EXPR_ASSIGN || last->assign.op != BINARY_NONE ||
            last->assign.target->kind != EXPR_NAME) {
            break;
        }
        f->arg_count--;
        f->named_count++;
    }
    f->named = f->args + f->arg_count;
    f->is_used = CHECK_ARRAY(f->c, bool, f->arg_count + 1);
    f->again = CHECK_ARRAY(f->c, expr *, f->arg_count + 1);
    bool good = split_format(f);
    if (good && f->holes != f->arg_count) {
        diagnostics_error(f->c->diagnostics, f->text->span, "the text has %u `{}`, %u %s given",
                          f->holes, f->arg_count, f->arg_count == 1 ? "value is" : "values are");
    }
    check_list(f->c, f->args, f->arg_count);
}

/* ---- print, println, format ------------------------------------------------------------------ */

static void split(format *f) {
    expr *e = f->call;
    if (e->call.arg_count > 0 && e->call.args[0]->kind == EXPR_STRING) {
        split_call(f);
    } else if (e->call.arg_count == 1) {
        push_value(f, &e->call.args[0], 0);
    } else if (e->call.arg_count > 1) {
        check_list(f->c, e->call.args, e->call.arg_count);
        diagnostic *d = diagnostics_error(f->c->diagnostics, e->call.args[0]->span,
                                          "several values need a text to stand in");
        diagnostics_note(f->c->diagnostics, d, (source_span){0},
                         "for instance `println(\"{} {}\", a, b)`");
    }
}

void check_print(checker *c, expr *e, bool newline) {
    format f = {.c = c, .call = e};
    e->type = check_scalar(c, TYPE_VOID);
    split(&f);
    e->call.kind = CALL_PRINT;
    e->call.newline = newline;
    e->call.pieces = f.pieces;
    e->call.piece_count = f.piece_count;
}

/* The text as one String: format("…", …), the message of panic and assert. */
void check_format(checker *c, expr **slot) {
    format f = {.c = c, .call = *slot};
    split(&f);
    pieces p = {.c = c, .span = (*slot)->span};
    for (uint32_t i = 0; i < f.piece_count; i++) {
        const print_piece *piece = &f.pieces[i];
        if (piece->value == NULL) {
            add_piece(&p, text_node(c, p.span, piece->text, piece->length));
        } else if (!type_is_silent(piece->value->type)) {
            add_piece(&p, check_text_of(c, piece->value, 0));
        }
    }
    *slot = p.all == NULL ? text_node(c, p.span, "", 0) : p.all;
}
