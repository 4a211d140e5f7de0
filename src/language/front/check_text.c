/* check_text.c: a value as a text: what a hole shows, and what a struct, enum, tuple or Vec shows of its parts.
 *
 *     (1, P { x: 2.5 })  =>  "(" + text of 1 + ", " + "P { x: " + text of 2.5 + " }" + ")"
 *
 * A number, text or tensor becomes a call of tl_text_…, a struct with `fmt` what that writes.
 */
#include <string.h>

#include "language/front/check_call.h"
#include "language/front/check_convert.h"
#include "language/front/check_expr.h"
#include "language/front/check_place.h"
#include "language/front/check_text.h"
#include "language/library/library.h"
#include "language/types/check_context.h"
#include "language/types/check_fits.h"
#include "language/types/check_instances.h"
#include "language/types/check_scopes.h"
#include "language/types/check_written.h"

/* ---- values as text -------------------------------------------------------------------------- */

/* The number that says how, with what is known only when the program runs. */
static expr *how_number(checker *c, source_span span, int64_t how) {
    expr *number = check_new_int(c, span, how & ~HOW(HOW_MORE));
    if ((how & HOW(HOW_MORE)) == 0)
        return number;
    expr *more = c->around->how_more->type != NULL ? c->around->how_more : check_copy_tree(c, c->around->how_more);
    expr *all = check_new_binary(c, BINARY_BIT_OR, number, more, NULL);
    check_expr(c, &all, NULL);
    return all;
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
        if (how == 0)
            return value;
        abi = TL_FN_tl_text_string;
        break;
    case TYPE_TENSOR:
        abi = TL_FN_tl_text_tensor;
        break;
    default:
        abi = type_is_signed(t) ? TL_FN_tl_text_i64 : TL_FN_tl_text_u64;
        if ((how & (HOW(HOW_HEXADECIMAL) | HOW(HOW_BINARY))) != 0 && type_is_signed(t)) {
            type_kind same = t->kind == TYPE_I8    ? TYPE_U8 /* the bits that it has */
                             : t->kind == TYPE_I16 ? TYPE_U16
                             : t->kind == TYPE_I32 ? TYPE_U32
                                                   : t->kind;
            check_cast_to(c, &value, check_scalar(c, same));
        }
        check_cast_to(c, &value, check_scalar(c, TYPE_I64));
        break;
    }
    expr *operands[2] = {value, how_number(c, value->span, how)};
    return check_new_abi(c, abi, value->span, operands, 2);
}

static void add_literal(text_pieces *p, const char *text) {
    check_add_piece(p, check_text_node(p->c, p->span, text, strlen(text)));
}

static expr *literal(const text_pieces *p, const char *text) {
    return check_text_node(p->c, p->span, text, strlen(text));
}

/* A line for each part, as `{:#?}` has it: known here, or when the program runs. */
static bool may_be_lines(int64_t how) {
    return (how & (HOW(HOW_PREFIX) | HOW(HOW_MORE))) != 0;
}

static void add_made(text_pieces *p, const char *function, int64_t how, expr **texts, uint32_t count) {
    checker *c = p->c;
    expr **args = check_join_list(c, how_number(c, p->span, how), texts, count);
    expr *made = build_call(c, p->span, NULL, function, args, count + 1);
    check_expr(c, &made, NULL);
    check_add_piece(p, made);
}

/* `before` is what a line has in front of the part: its bracket or a comma; `label` is "" or "x: ". */
static void add_part(text_pieces *p, const char *before, const char *label, expr *part, int64_t how) {
    expr *text = check_text_of(p->c, part, how);
    if (!may_be_lines(how)) {
        add_literal(p, check_printf(p->c, "%s%s", before, label));
        check_add_piece(p, text);
        return;
    }
    expr *texts[3] = {literal(p, before), literal(p, label), text};
    add_made(p, "__part", how, texts, 3);
}

static void add_end(text_pieces *p, const char *end, int64_t how) {
    expr *text = literal(p, end);
    if (!may_be_lines(how)) {
        check_add_piece(p, text);
        return;
    }
    add_made(p, "__part_end", how, &text, 1);
}

static expr *checked_name(checker *c, source_span span, const char *name, const type *t) {
    expr *e = check_new_name(c, span, name);
    check_expr(c, &e, t);
    return e;
}

/* `<text>` is a variable of the block around. */
static expr *tuple_text(checker *c, source_span span, const char *name, const type *t, int64_t how) {
    text_pieces p = {.c = c, .span = span};
    for (uint32_t i = 0; i < t->tuple.count; i++) {
        expr *part = build_part(c, span, checked_name(c, span, name, NULL), i);
        part->type = type_resolve(c->types, t->tuple.items[i]);
        add_part(&p, i > 0 ? ", " : "(", "", part, how);
    }
    add_end(&p, t->tuple.count == 1 ? ",)" : ")", how);
    return p.all;
}

static const char *label_of(checker *c, bool positional, const struct_field *field) {
    return positional ? "" : check_printf(c, "%s: ", field->name);
}

static expr *fields_text(checker *c, source_span span, const char *name, const struct_item *s, int64_t how) {
    text_pieces p = {.c = c, .span = span};
    add_literal(&p, names_plain(c->names, type_shown_name(s)));
    for (uint32_t i = 0; i < s->field_count && !s->holds_itself; i++) {
        expr *part = build_field(c, span, checked_name(c, span, name, NULL), s->fields[i].name);
        part->field.index = i;
        part->type = type_resolve(c->types, s->fields[i].type);
        add_part(&p, i > 0 ? ", " : s->positional ? "(" : " { ", label_of(c, s->positional, &s->fields[i]), part, how);
    }
    if (s->field_count > 0)
        add_end(&p, s->positional ? ")" : " }", how);
    return p.all;
}

/* E::V(<0>, <1>) => "V(" + … */
static match_arm variant_arm(checker *c, source_span span, const struct_item *s, uint32_t variant, int64_t how) {
    const variant_item *v = &s->variants[variant];
    pattern *arm = CHECK_ARRAY(c, pattern, 1);
    *arm = (pattern){.span = span, .kind = PATTERN_VARIANT, .type = s->type, .variant = variant};
    arm->structure = (struct_item *)s;
    arm->parts = CHECK_ARRAY(c, pattern *, v->count + 1);
    arm->part_fields = CHECK_ARRAY(c, uint32_t, v->count + 1);
    arm->part_count = v->count;
    text_pieces p = {.c = c, .span = span};
    add_literal(&p, v->name);
    uint32_t mark = check_scope_open(c);
    for (uint32_t i = 0; i < v->count; i++) {
        const struct_field *field = &s->fields[v->first + i];
        char *name = check_printf(c, "<%u>", i);
        pattern *part = build_name(c, span, name, BINDING_LOOP);
        part->type = type_resolve(c->types, field->type);
        check_declare(c, part->binding, part->type);
        arm->parts[i] = part;
        arm->part_fields[i] = v->first + i;
        add_part(&p,
                 i > 0           ? ", "
                 : v->positional ? "("
                                 : " { ",
                 label_of(c, v->positional, field), checked_name(c, span, name, part->type), how);
    }
    if (v->count > 0)
        add_end(&p, v->positional ? ")" : " }", how);
    check_scope_close(c, mark);
    return (match_arm){.pattern = arm, .body = p.all};
}

static expr *enum_text(checker *c, expr *value, const struct_item *s, int64_t how) {
    expr *e = check_new(c, EXPR_MATCH, value->span, check_scalar(c, TYPE_STRING));
    e->match.value = value;
    e->match.count = s->variant_count;
    e->match.arms = CHECK_ARRAY(c, match_arm, s->variant_count + 1);
    for (uint32_t i = 0; i < s->variant_count; i++)
        e->match.arms[i] = variant_arm(c, value->span, s, i, how);
    return e;
}

/* impl Display, impl Debug: fn fmt(&self, f), by the name of the one that is asked; NULL: the type has none. */
static const char *shows_itself(checker *c, const type *t, int64_t how) {
    const int64_t all = HOW(HOW_DEBUG) | HOW(HOW_HEXADECIMAL) | HOW(HOW_BINARY) | HOW(HOW_EXPONENT) | HOW(HOW_CAPITALS);
    how &= (how & HOW(HOW_DEBUG)) != 0 ? HOW(HOW_DEBUG) : all;
    size_t i = 0;
    while (check_shown[i].how != how && check_shown[i].how != 0)
        i++;
    const function_item *f = check_method_named(c, t->structure, check_shown[i].method);
    if (f == NULL && check_shown[i].how == 0) { /* what can only be shown so is */
        i = 0;
        f = check_method_named(c, t->structure, check_shown[i].method);
    }
    return f != NULL && f->has_self && f->parameter_count == 2 ? check_shown[i].method : NULL;
}

bool check_has_form(checker *c, const type *t, int64_t how) {
    const char *method = shows_itself(c, t, how);
    return method != NULL && strcmp(method, check_shown[CHECK_SHOWN_COUNT - 1].method) != 0 &&
           strcmp(method, check_shown[0].method) != 0;
}

static expr *own_text(checker *c, expr *value, const char *method, int64_t how) {
    const source_span span = value->span;
    expr *e = BUILD_QUOTE(c, span,
                          "{ let mut $text = __formatter($0); let $done = $1.$2(&mut $text); $text.__text($done) }",
                          how_number(c, span, how), value, check_new_name(c, span, method));
    check_expr(c, &e, NULL);
    return e;
}

/* value.__debug_text(how): the hole's number is known when the program runs. */
static bool shown_as(checker *c, expr **slot, const char *method) {
    expr *e = *slot;
    size_t i = 0;
    const library_said said = library_said_of(LIBRARY_shown_text, method);
    while (i < CHECK_SHOWN_COUNT && check_shown[i].trait != said)
        i++;
    if (i == CHECK_SHOWN_COUNT || e->call.arg_count != 1)
        return false;
    expr *outer = c->around->how_more;
    c->around->how_more = e->call.args[0];
    check_expr(c, &c->around->how_more, NULL);
    *slot = check_text_of(c, e->call.receiver, check_shown[i].how | HOW(HOW_MORE));
    c->around->how_more = outer;
    return true;
}

/* fmt::Display::fmt(&value, f) of what has no such method itself. */
bool check_delegated_text(checker *c, expr **slot) {
    expr *e = *slot;
    size_t i = 0;
    while (i < CHECK_SHOWN_COUNT && strcmp(check_shown[i].method, e->call.name) != 0)
        i++;
    if (i == CHECK_SHOWN_COUNT || e->call.arg_count != 1)
        return shown_as(c, slot, e->call.name);
    expr *f = *check_behind(&e->call.args[0]);
    *slot = BUILD_QUOTE(c, e->span, "{ let $how = $0.__how(); $1.write_str($2.$3($how)) }", check_copy_place(c, f), f,
                        e->call.receiver,
                        check_new_name(c, e->span, library_named(LIBRARY_shown_text, check_shown[i].trait)));
    check_expr(c, slot, NULL);
    return true;
}

/* write!(f, …) is f.write_str(format(…)) */
void check_write_text(checker *c, expr **slot, bool newline) {
    expr *e = *slot, *target = *check_behind(&e->call.args[0]);
    const source_span span = e->span;
    expr *text = build_call(c, span, NULL, "format", e->call.args + 1, e->call.arg_count - 1);
    if (newline)
        text = check_new_binary(c, BINARY_ADD, text, check_text_node(c, span, "\n", 1), NULL);
    *slot = build_method(c, span, target, "write_str", &text, 1);
    check_expr(c, slot, NULL);
}

/* How a number is shown follows from its type, which is not known yet. */
static expr *late_text_of(checker *c, expr *value, int64_t how) {
    expr *more = check_copy_tree(c, c->around->how_more);
    if (more != NULL) /* its names are in sight here */
        check_expr(c, &more, NULL);
    return check_new_late(c, value->span, value, check_scalar(c, TYPE_STRING),
                          (late_call){.how = how, .how_more = more});
}

void check_finish_text(checker *c, expr *e) {
    const late_call late = *e->call.late;
    expr *outer = c->around->how_more;
    c->around->how_more = late.how_more;
    check_become(e, check_text_of(c, e->call.operands[0], late.how));
    c->around->how_more = outer;
}

/* `let <name> = value;` */
static const binding *bound(checker *c, block_builder *b, expr *value) {
    const type *t = type_resolve(c->types, value->type);
    build_named(b, "text", value);
    b->last->pattern->type = t;
    check_declare(c, b->last->pattern->binding, t);
    return b->last->pattern->binding;
}

/* An element of which nothing says the type: with the digits of f32 where the tensor holds f32, else with those of
 * f64. */
static expr *text_by_tensor(checker *c, expr *value, int64_t how) {
    const source_span span = value->span;
    const bool index = value->kind == EXPR_INDEX;
    const uint32_t count = index ? value->index.count + 1 : 1;
    const binding **names = CHECK_ARRAY(c, const binding *, count);
    expr **operands = CHECK_ARRAY(c, expr *, count), *texts[2];
    block_builder b = build_block(c, span);
    uint32_t mark = check_scope_open(c);
    names[0] = bound(c, &b, index ? value->index.base : value->call.operands[0]);
    for (uint32_t i = 1; i < count; i++)
        names[i] = bound(c, &b, value->index.indices[i - 1]);
    for (int wide = 0; wide < 2; wide++) {
        const tl_abi_index abi = wide ? TL_FN_tl_tensor_exact_f64 : TL_FN_tl_tensor_exact_f32;
        for (uint32_t i = 0; i < count; i++) {
            operands[i] = checked_name(c, span, names[i]->name, NULL);
            if (i > 0)
                check_cast_to(c, &operands[i], check_scalar(c, TYPE_I64));
        }
        expr *element = check_new_abi(c, abi, span, operands, count);
        texts[wide] = plain_text(c, element, element->type, how);
    }
    operands[0] = checked_name(c, span, names[0]->name, NULL);
    check_scope_close(c, mark);
    expr *kind = check_new_abi(c, TL_FN_tl_tensor_kind, span, operands, 1);
    expr *narrow = check_new_binary(c, BINARY_EQ, kind, check_new_int(c, span, TL_F32), check_scalar(c, TYPE_BOOL));
    expr *choice = build_if(c, narrow, texts[0], texts[1], check_scalar(c, TYPE_STRING));
    return build_checked(&b, choice);
}

/* Rust shows what is inside of another value as the source would write it. */
expr *check_text_of(checker *c, expr *value, int64_t how) {
    const type *t = type_resolve(c->types, value->type);
    source_span span = value->span;
    if (type_is_reference(t) && !type_is_slice(t)) { /* in an Option, a tuple: the value there */
        check_follow(c, &value);
        t = type_resolve(c->types, value->type);
    }
    if (type_is_open_number(t) && check_is_unstated(c, value) && (how & HOW(HOW_MORE)) == 0)
        return text_by_tensor(c, value, how);
    if (t->may_have_open && !c->open->is_closing && c->function != NULL)
        return late_text_of(c, value, how);
    if (check_is_plain(t))
        return plain_text(c, value, t, how);
    const char *own = t->kind == TYPE_STRUCT ? shows_itself(c, t, how) : NULL;
    if (own != NULL)
        return own_text(c, value, own, how);
    if (type_is_silent(t))
        return check_text_node(c, span, "", 0);
    if (t->kind == TYPE_STRUCT && check_method_named(c, t->structure, "__shown") != NULL) {
        expr *number = how_number(c, span, how | HOW(HOW_DEBUG));
        expr *shown = build_method(c, span, value, "__shown", &number, 1);
        check_expr(c, &shown, NULL);
        return shown;
    }
    bool parts = t->kind == TYPE_STRUCT || t->kind == TYPE_TUPLE || t->kind == TYPE_VEC;
    if (!parts) { /* the unknown part of a None, a block without a value */
        if (c->diagnostics->error_count == 0) {
            diagnostics_say(c->diagnostics, span,
                            SAY_IF(t->kind == TYPE_VOID, this_has_no_value_to_print, nothing_says_what_type_this_is));
        }
        return check_text_node(c, span, "", 0);
    }
    how |= HOW(HOW_DEBUG);
    if (t->kind == TYPE_STRUCT && t->structure->is_enum)
        return enum_text(c, value, t->structure, how);
    if (t->kind == TYPE_VEC) {
        expr *number = how_number(c, span, how);
        expr *call = build_method(c, span, value, type_is_box(t) ? "__boxed" : "__text", &number, 1);
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
    return build_checked(&b, all);
}

bool check_to_string(checker *c, expr **slot, const type *t, const type *expected) {
    expr *e = *slot;
    bool shown = type_is_numeric(t) || t->kind == TYPE_BOOL || t->kind == TYPE_CHAR || t->kind == TYPE_TENSOR;
    bool text = expected != NULL && type_resolve(c->types, expected)->kind == TYPE_STRING;
    if (library_said_of(LIBRARY_form, e->call.name) == SAID_INTO && e->call.arg_count == 0 && text &&
        t->kind == TYPE_CHAR) {
        *slot = check_text_of(c, e->call.receiver, 0);
        return true;
    }
    if (library_said_of(LIBRARY_form, e->call.name) == SAID_INTO && e->call.arg_count == 0) {
        const type *bound = check_bound_of_into(c, t);
        const type *wish = bound != NULL || expected == NULL ? bound : type_resolve(c->types, expected);
        if ((wish == NULL || wish->kind == TYPE_OPEN) && c->function != NULL && !c->open->is_closing) {
            check_into_later(c, slot);
            return true;
        }
        check_become_from(c, slot, t, wish);
        if (bound != NULL)
            check_coerce(c, slot, bound, NULL);
        else if (wish != NULL && wish != t && check_widens(t, wish)) /* before anything is computed with it */
            check_cast_to(c, slot, wish);
        return true;
    }
    shown |= t->kind == TYPE_STRUCT && check_method_named(c, t->structure, "fmt") != NULL;
    bool letters = t->kind == TYPE_CHAR && library_said_of(LIBRARY_stage, e->call.name) == SAID_COLLECT;
    if ((library_said_of(LIBRARY_form, e->call.name) != SAID_SHOW && !letters) || e->call.arg_count != 0 || !shown)
        return false;
    *slot = check_text_of(c, e->call.receiver, 0);
    return true;
}
