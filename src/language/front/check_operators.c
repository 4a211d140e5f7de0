/* check_operators.c: unary and binary operators, casts.
 *
 * Operators on tensors become calls of the table; what stays an operator has two texts (until elaborate_text.c writes
 * it out) or scalar operands of one type.
 */
#include <string.h>

#include "language/front/check_build.h"
#include "language/front/check_call.h"
#include "language/front/check_convert.h"
#include "language/front/check_expr.h"
#include "language/front/check_part.h"
#include "language/front/check_place.h"
#include "language/front/check_tensor.h"
#include "language/front/check_text.h"
#include "language/library/library.h"
#include "language/types/check_context.h"
#include "language/types/check_dyn_types.h"
#include "language/types/check_instances.h"
#include "language/types/check_scopes.h"
#include "language/types/check_variants.h"
#include "language/types/check_view.h"
#include "language/types/check_written.h"
#include "language/types/hints.h"

/* How the operands of an operator, not checked yet, are written; right may be NULL. */
static const call_views *views_of(const checker *c, const expr *left, const expr *right) {
    if (!c->tree->has_reference_impls)
        return NULL;
    const view none = {0};
    return check_views_kept(c, (call_views){.receiver = check_view(c, left),
                                            .operand = right == NULL ? none : check_view(c, right),
                                            .has_receiver = true});
}

/* ---- unary ----------------------------------------------------------------------------------- */

void check_unary(checker *c, expr **slot, const type *expected) {
    expr *e = *slot;
    if (e->unary.op == UNARY_REFERENCE && e->unary.is_mutable && check_wants_reference(c, e, expected)) {
        check_make_reference(c, slot, expected);
        return;
    }
    if (e->unary.op == UNARY_REFERENCE) { /* the value itself */
        (void)(e->unary.is_mutable && check_part_is_written(c, e->unary.operand));
        check_expr(c, &e->unary.operand, expected);
        if (check_lead_to(c, &e->unary.operand, expected) && e->unary.is_mutable)
            diagnostics_say(c->diagnostics, e->span, SAY(value_is_not_a_reference),
                            check_printf(c, "%.*s", (int)e->span.length, e->span.file->text + e->span.offset));
        *slot = e->unary.operand;
        return;
    }
    const call_views *written = views_of(c, e->unary.operand, NULL);
    check_expr(c, &e->unary.operand, expected);
    const type *t = type_resolve(c->types, e->unary.operand->type);
    bool negative = e->unary.op == UNARY_NEG;
    e->type = t;
    if (type_is_silent(t)) {
        check_make_error(c, e);
    } else if (t->kind == TYPE_TENSOR) {
        expr *operand = e->unary.operand;
        *slot = check_new_abi(c, negative ? TL_FN_tl_tensor_neg : TL_FN_tl_tensor_logical_not, e->span, &operand, 1);
    } else if (t->kind == TYPE_STRUCT && check_method_named(c, t->structure, negative ? "neg" : "not") != NULL) {
        *slot = build_method(c, e->span, e->unary.operand, negative ? "neg" : "not", NULL, 0);
        (*slot)->call.views = written;
        check_expr(c, slot, expected);
    } else if (negative ? !(type_is_float(t) || type_is_signed(t)) : !(type_is_integer(t) || t->kind == TYPE_BOOL)) {
        check_wrong_operand(c, e, negative ? "-" : "!", t);
    }
}

/* ---- binary on tensors ----------------------------------------------------------------------- */

static expr *negate(checker *c, expr *e) {
    return build_unary(c, e->span, UNARY_NOT, e, check_scalar(c, TYPE_BOOL));
}

/* a.shape() == b.shape(), == vec![2, 3], == [2, 3]: a.shape().equal(…). */
static bool compare_lengths(checker *c, expr **slot) {
    expr *e = *slot, *left = e->binary.left, *right = e->binary.right;
    bool equality = e->binary.op == BINARY_EQ || e->binary.op == BINARY_NE;
    if (!equality || (!check_yields_lengths(left) && !check_yields_lengths(right)))
        return false;
    for (int i = 0; i < 2; i++) {
        expr **side = i == 0 ? &left : &right;
        const type *t = type_resolve(c->types, (*side)->type);
        if (t->kind == TYPE_VEC)
            *side = build_call(c, (*side)->span, "Tensor", "from_vec", side, 1);
        else if (t->kind != TYPE_TENSOR)
            return false;
    }
    *slot = build_method(c, e->span, left, "equal", &right, 1);
    check_expr(c, slot, NULL);
    *slot = e->binary.op == BINARY_NE ? negate(c, *slot) : *slot;
    return true;
}

/* ---- binary on scalars and strings ----------------------------------------------------------- */

static bool text_binary(checker *c, expr *e) {
    const bool sum = e->binary.op == BINARY_ADD;
    if (!sum && !check_is_comparison(e->binary.op))
        return false;
    e->type = check_scalar(c, sum ? TYPE_STRING : TYPE_BOOL);
    return true;
}

/* A character beside a text is a text; so is what + puts behind or before one. */
static void widen_to_text(checker *c, binary_op op, expr **slot, const type *other) {
    const type *own = type_resolve(c->types, (*slot)->type);
    bool shown = own->kind == TYPE_CHAR ||
                 (op == BINARY_ADD && (type_is_numeric(own) || own->kind == TYPE_BOOL || own->kind == TYPE_TENSOR));
    if (other->kind == TYPE_STRING && shown)
        *slot = check_text_of(c, *slot, 0);
}

/* ---- binary on structs ------------------------------------------------------------------------ */

static type_verdict lacks_equality(const type *t, void *c) {
    if (t->kind == TYPE_VEC || t->kind == TYPE_TUPLE)
        return TYPE_LOOK_INSIDE;
    if (t->kind != TYPE_STRUCT)
        return type_is_numeric(t) || t->kind == TYPE_BOOL || t->kind == TYPE_CHAR || t->kind == TYPE_STRING ? TYPE_LACKS
                                                                                                            : TYPE_HAS;
    if (check_find_method(c, t->structure->template != NULL ? t->structure->template : t->structure,
                          check_operator_method(BINARY_EQ)) != NULL)
        return TYPE_LACKS; /* it says itself what is equal */
    return t->structure->closure != NULL ? TYPE_HAS : TYPE_LOOK_INSIDE;
}

/* In an enum left is another variant, or the parts are equal. */
static expr *in_its_variant(checker *c, expr *equal, const char *left, const type *t, uint32_t part) {
    const variant_item *v = check_variant_of_part(t, part);
    const char *const names[] = {check_operator_method(BINARY_EQ), NULL};
    if (v == NULL || !check_asks_itself(c, t->structure->fields[part].type, names, &(int){100}))
        return equal;
    expr *tag = check_part_of(c, equal->span, left, t, 0), *number = check_new_int(c, equal->span, v->tag);
    expr *other = check_new_binary(c, BINARY_NE, tag, number, check_scalar(c, TYPE_BOOL));
    return check_new_binary(c, BINARY_OR, other, equal, check_scalar(c, TYPE_BOOL));
}

/* All parts are equal. The parts of other variants are nothing on both sides, and nothing equals nothing; what says
 * itself what is equal is not asked about nothing. */
static void compare_parts(checker *c, expr **slot, const type *t) {
    expr *e = *slot;
    source_span span = e->span;
    block_builder b = build_block(c, span);
    char *left = check_printf(c, "<left %u>", c->text_count), *right = check_printf(c, "<right %u>", c->text_count++);
    uint32_t mark = check_scope_open(c);
    build_let(&b, left, false, e->binary.left);
    b.last->pattern->type = t;
    check_declare(c, b.last->pattern->binding, t);
    build_let(&b, right, false, e->binary.right);
    b.last->pattern->type = t;
    check_declare(c, b.last->pattern->binding, t);
    uint32_t count = t->kind == TYPE_TUPLE ? t->tuple.count : t->structure->field_count;
    expr *all = NULL;
    for (uint32_t i = 0; i < count; i++) {
        expr *equal = check_new(c, EXPR_BINARY, span, NULL);
        equal->binary.op = BINARY_EQ;
        equal->binary.op_span = span;
        equal->binary.left = check_part_of(c, span, left, t, i);
        equal->binary.right = check_part_of(c, span, right, t, i);
        check_expr(c, &equal, NULL);
        equal = in_its_variant(c, equal, left, t, i);
        all = all == NULL ? equal : check_new_binary(c, BINARY_AND, all, equal, check_scalar(c, TYPE_BOOL));
    }
    check_scope_close(c, mark);
    all = all == NULL ? check_new_bool(c, span, true) : all;
    *slot = build_checked(&b, e->binary.op == BINARY_NE ? negate(c, all) : all);
}

static bool is_plain_enum(const type *t) {
    return t->kind == TYPE_STRUCT && t->structure->is_enum && t->structure->field_count == 1;
}

/* An enum without fields as the number that it is. */
static void check_tag(checker *c, expr **slot) {
    *slot = check_cast_as_written(c, *slot, "i64");
    check_expr(c, slot, NULL);
}

static bool struct_binary(checker *c, expr **slot, const call_views *written, const type *t, const type *other) {
    expr *e = *slot;
    const char *name = check_operator_method(e->binary.op);
    struct_item *owner = t->kind == TYPE_STRUCT ? check_owner_of(c, t) : NULL;
    if (name != NULL && owner != NULL && check_method_named(c, owner, name) != NULL) {
        bool negated = e->binary.op == BINARY_NE;
        *slot = build_method(c, e->span, e->binary.left, name, &e->binary.right, 1);
        (*slot)->call.views = written;
        check_expr(c, slot, NULL);
        if (negated && (*slot)->type->kind == TYPE_BOOL)
            *slot = negate(c, *slot);
        return true;
    }
    bool equality = e->binary.op == BINARY_EQ || e->binary.op == BINARY_NE;
    if (!equality && check_is_comparison(e->binary.op) && is_plain_enum(t) && t == other) {
        check_tag(c, &e->binary.left);
        check_tag(c, &e->binary.right);
        e->type = check_scalar(c, TYPE_BOOL);
        return true;
    }
    if (check_order_operator(c, slot, t, other))
        return true;
    bool lists = t->kind == TYPE_VEC && other->kind == TYPE_VEC; /* a Vec equals an array */
    bool fits = check_fits(c, t, other) || (lists && check_fits(c, other, t));
    if (!equality || !fits || type_any(c->types, t, lacks_equality, c))
        return false;
    if (t->kind == TYPE_VEC) {
        bool negated = e->binary.op == BINARY_NE;
        *slot = build_method(c, e->span, e->binary.left, "__equal", &e->binary.right, 1);
        check_expr(c, slot, NULL);
        *slot = negated ? negate(c, *slot) : *slot;
    } else {
        compare_parts(c, slot, type_resolve(c->types, t));
    }
    return true;
}

/* 2.0 * v of `impl Mul<V> for f64`: the number's type is one that has it. */
static bool scalar_times_struct(checker *c, expr **slot, const call_views *written, const type *left,
                                const type *right) {
    expr *e = *slot;
    const number_use use = {.name = check_operator_method(e->binary.op), .operand = right};
    if (use.name == NULL || !type_is_numeric(left))
        return false;
    const type *t = check_number_fits(c, left, &use) ? left : NULL;
    if (type_is_open_number(left)) {
        t = check_number_among(c, left, type_is_float(left), &use, false);
        t = t == NULL && !type_is_float(left) ? check_number_among(c, left, true, &use, false) : t;
    }
    if (t == NULL)
        return false;
    check_cast_to(c, &e->binary.left, t);
    *slot = build_method(c, e->span, e->binary.left, use.name, &e->binary.right, 1);
    (*slot)->call.views = written;
    check_expr(c, slot, NULL);
    return true;
}

static bool scalar_binary(checker *c, expr *e, const type *expected) {
    const type *left = type_resolve(c->types, e->binary.left->type),
               *right = type_resolve(c->types, e->binary.right->type), *common = left;
    bool shift = e->binary.op == BINARY_SHL || e->binary.op == BINARY_SHR;
    if (type_is_numeric(left) && type_is_numeric(right)) {
        common = shift ? left : check_common(c, left, right);
        bool signed_wanted = expected != NULL && expected->kind == TYPE_I64;
        if (common->kind == TYPE_USIZE && signed_wanted && !check_is_comparison(e->binary.op))
            common = expected; /* where an i64 is wanted, lengths are i64: a value below 0 is for its user to see */
    } else if (left != right) {
        return false;
    }
    if (!check_operator_accepts(e->binary.op, common) || (shift && !type_is_integer(right)))
        return false;
    check_widen_to(c, &e->binary.left, common);
    if (shift) /* by how much need not be of the same type */
        check_cast_to(c, &e->binary.right, common);
    else
        check_widen_to(c, &e->binary.right, common);
    bool yields_bool = check_is_comparison(e->binary.op) || e->binary.op == BINARY_AND || e->binary.op == BINARY_OR;
    e->type = yields_bool ? check_scalar(c, TYPE_BOOL) : common;
    return true;
}

/* Points at the operand that the operator does not take, when the other one is fine; else at the
 * operator. */
static void wrong_operands(checker *c, expr *e) {
    const type *left = e->binary.left->type, *right = e->binary.right->type;
    bool left_fits = left->kind == TYPE_TENSOR || check_operator_accepts(e->binary.op, left);
    bool right_fits = right->kind == TYPE_TENSOR || check_operator_accepts(e->binary.op, right);
    const expr *culprit = left_fits == right_fits ? NULL : left_fits ? e->binary.right : e->binary.left;
    source_span span = culprit == NULL ? e->binary.op_span : culprit->span;
    const char *op = binary_op_text(e->binary.op);
    if (left == right) {
        diagnostics_say(c->diagnostics, e->binary.op_span, SAY(cannot_be_applied_to), op, check_type_text(c, left));
    } else {
        diagnostic *d = diagnostics_say(c->diagnostics, span, SAY(cannot_be_applied_to_and), op,
                                        check_type_text(c, left), check_type_text(c, right));
        hint_for_operands(c, d, e->binary.op, left, right);
        if (culprit == NULL) {
            diagnostics_note(c->diagnostics, d, e->binary.left->span, "this is `%s`", check_type_text(c, left));
            diagnostics_note(c->diagnostics, d, e->binary.right->span, "this is `%s`", check_type_text(c, right));
        }
    }
    check_make_error(c, e);
}

/* ---- binary ---------------------------------------------------------------------------------- */

static const type *number_or_null(const type *t) {
    return t != NULL && type_is_numeric(t) ? t : NULL;
}

/* The parameter of the operator's method beside a value of type t, where there is one of that name; NULL: not known. */
static const type *operand_wanted(checker *c, binary_op op, const type *t) {
    const char *name = check_operator_method(op);
    struct_item *owner = check_owner_of(c, t);
    function_item *f = name == NULL || owner == NULL ? NULL : check_method_named(c, owner, name);
    if (f == NULL)
        return check_is_comparison(op) ? t : NULL;
    if (f->parameter_count != 2 || f->span.file == c->tree->prelude || check_has_overloads(c, f))
        return NULL;
    if (!f->is_template)
        return f->parameters[1]->type;
    type_environment environment = check_environment_new(c, f);
    environment.self = owner;
    check_impl_fits(c, f, owner, &environment);
    const type *wanted = type_resolve(c->types, check_type_in(c, &environment, f->parameters[1]->annotation));
    return wanted->may_have_open ? NULL : wanted;
}

/* A literal takes the type of what is on the other side; so that side goes first. */
static void check_operands(checker *c, expr *e, const type *expected) {
    bool left_literal = check_free_literal(e->binary.left), right_literal = check_free_literal(e->binary.right);
    const type *wish = check_is_comparison(e->binary.op) ? NULL : number_or_null(expected);
    const bool shift = e->binary.op == BINARY_SHL ||
                       e->binary.op == BINARY_SHR; /* by how much says nothing of what is shifted */
    expr **first = left_literal && !right_literal && !shift ? &e->binary.right : &e->binary.left;
    expr **second = first == &e->binary.left ? &e->binary.right : &e->binary.left;
    if (left_literal && right_literal && wish == NULL &&
        (e->binary.left->kind == EXPR_FLOAT) != (e->binary.right->kind == EXPR_FLOAT))
        wish = check_scalar(c, TYPE_F32); /* 1 + 0.5 */
    check_unit_value(c, first);
    check_unit_value(c, second);
    check_expr(c, first, wish);
    const type *other = type_resolve(c->types, (*first)->type);
    if (first == &e->binary.left && other->kind == TYPE_STRUCT) {
        check_expr(c, second, operand_wanted(c, e->binary.op, other));
        return;
    }
    if (other->kind == TYPE_TENSOR && !check_free_literal(*second)) {
        other = check_scalar(c, TYPE_VOID);  /* a tensor is as likely as a scalar: no wish */
    } else if (other->kind == TYPE_TENSOR) { /* the table takes scalars as f64 */
        bool whole = other->tensor.element != NULL && !type_is_float(other->tensor.element);
        other = check_is_comparison(e->binary.op) && other->tensor.element != NULL ? other->tensor.element
                : whole                                                            ? check_scalar(c, TYPE_VOID)
                                                                                   : check_scalar(c, TYPE_F64);
    }
    check_expr(c, second, shift ? NULL : number_or_null(other));
}

static void check_logical(checker *c, expr *e) {
    check_condition(c, &e->binary.left);
    check_condition(c, &e->binary.right);
    e->type = check_scalar(c, TYPE_BOOL);
}

/* Some(x), None */
static bool names_variant(const checker *c, const expr *e) {
    e = e->kind == EXPR_CALL ? e->call.callee : e;
    const symbol *s = e->kind == EXPR_NAME && e->name.scope == NULL ? check_find(c, e->name.name) : NULL;
    return s != NULL && s->binding == NULL && s->variant_of != NULL;
}

/* v.get(i) == Some(&x): what is compared with an Option is one. */
static void ask_for_variants(checker *c, expr *e) {
    static const pattern option = {.kind = PATTERN_VARIANT};
    expr **sides[2] = {&e->binary.left, &e->binary.right};
    for (int i = 0; i < 2 && (e->binary.op == BINARY_EQ || e->binary.op == BINARY_NE); i++) {
        if ((*sides[i])->kind == EXPR_METHOD && (*sides[i])->type == NULL && names_variant(c, *sides[1 - i])) {
            c->around->wanted_variants = &option;
            check_expr(c, sides[i], NULL);
            c->around->wanted_variants = NULL;
        }
    }
}

/* An element or result of which nothing said so far what it is: the number beside it. */
static void decide_beside(checker *c, const expr *e, const type *left, const type *right) {
    const expr *a = e->binary.left, *b = e->binary.right;
    if (e->binary.op == BINARY_SHL || e->binary.op == BINARY_SHR)
        return;
    if (left->kind == TYPE_OPEN && type_is_numeric(right) && a->kind != EXPR_NAME)
        check_fits(c, left, right);
    else if (right->kind == TYPE_OPEN && type_is_numeric(left) && b->kind != EXPR_NAME)
        check_fits(c, right, left);
}

void check_binary(checker *c, expr **slot, const type *expected) {
    expr *e = *slot;
    if (e->binary.op == BINARY_AND || e->binary.op == BINARY_OR) {
        check_logical(c, e);
        return;
    }
    ask_for_variants(c, e);
    const call_views *written = views_of(c, e->binary.left, e->binary.right);
    check_operands(c, e, expected);
    const type *left = type_resolve(c->types, e->binary.left->type),
               *right = type_resolve(c->types, e->binary.right->type);
    if (type_is_silent(left) || type_is_silent(right)) {
        check_make_error(c, e);
        return;
    }
    bool done = false, as_scalars = false;
    decide_beside(c, e, left, right);
    widen_to_text(c, e->binary.op, &e->binary.left, right);
    widen_to_text(c, e->binary.op, &e->binary.right, left);
    left = type_resolve(c->types, e->binary.left->type);
    right = type_resolve(c->types, e->binary.right->type);
    if (e->is_undecided && left->kind == TYPE_TENSOR && right->kind == TYPE_TENSOR) {
        diagnostics_say(c->diagnostics, e->span, SAY(comparison_of_lists_or_of_tensors));
        check_make_error(c, e);
        done = true;
    } else if (compare_lengths(c, slot)) {
        done = true;
    } else if (left->kind == TYPE_TENSOR || right->kind == TYPE_TENSOR) {
        done = check_tensor_binary(c, slot, &as_scalars, expected);
    } else if (left->kind == TYPE_STRING && right->kind == TYPE_STRING) {
        done = text_binary(c, e);
    } else if (left->kind == TYPE_STRUCT || left->kind == TYPE_TUPLE || left->kind == TYPE_VEC) {
        done = struct_binary(c, slot, written, left, right);
    } else if (right->kind == TYPE_STRUCT && scalar_times_struct(c, slot, written, left, right)) {
        done = true;
    } else {
        as_scalars = true;
    }
    if (as_scalars)
        done = scalar_binary(c, e, expected == NULL ? NULL : type_resolve(c->types, expected));
    if (!done)
        wrong_operands(c, e);
}

/* ---- casts ----------------------------------------------------------------------------------- */

static bool castable(const type *from, const type *to) {
    if (type_is_numeric(from) && type_is_numeric(to))
        return true;
    if (from->kind == TYPE_BOOL || from->kind == TYPE_CHAR)
        return type_is_integer(to) || (from->kind == TYPE_BOOL && type_is_float(to));
    return from->kind == TYPE_U8 && to->kind == TYPE_CHAR;
}

/* t as f64: every element; the number in it where its rank is 0. Of unknown rank: where one number is wanted, it. */
static const type *cast_elements(checker *c, const type *from, const type *to, const type *expected) {
    const type *wish = expected == NULL ? NULL : type_resolve(c->types, expected);
    bool one = (wish != NULL && type_is_numeric(wish)) || c->nest->comprehension != NULL;
    bool many = from->tensor.rank > 0 || (from->tensor.rank < 0 && !one);
    return many && type_is_numeric(to) ? type_tensor(c->types, to, from->tensor.rank) : to;
}

/* Made of numbers with a point: (1.0 / 3.0) as f64 has f64's digits, (7 / 2) as f64 is 3. */
static bool is_real(const expr *e) {
    while (e->kind == EXPR_UNARY || e->kind == EXPR_BINARY)
        e = e->kind == EXPR_UNARY ? e->unary.operand : e->binary.left;
    return e->kind == EXPR_FLOAT;
}

/* The type of a literal that is converted: exact where the target is a float, a byte where it is a character. */
static const type *literal_type(checker *c, expr *literal, const type *to) {
    if (!check_free_literal(literal) || (literal->kind != EXPR_INT && !is_real(literal)))
        return NULL;
    if (to->kind == TYPE_CHAR && literal->kind == EXPR_INT)
        return check_scalar(c, TYPE_U8);
    return type_is_float(to) ? to : type_is_integer(to) && is_real(literal) ? check_scalar(c, TYPE_F64) : NULL;
}

static void refuse_cast(checker *c, expr *e, const type *from, const type *to) {
    diagnostic *d = diagnostics_say(c->diagnostics, e->span, SAY(cannot_be_converted_to), check_type_text(c, from),
                                    check_type_text(c, to));
    if (to->kind == TYPE_CHAR && type_is_integer(from))
        diagnostics_note(c->diagnostics, d, (source_span){0},
                         "`n as u8 as char` is a byte's character, `char::from_u32(n)` any, as an `Option`");
    check_make_error(c, e);
}

/* Of lists, structs and references `as` says a type that the value could be converted to without it. */
static void cast_as_coercion(checker *c, expr **slot, const type *to) {
    expr *e = *slot;
    check_expr(c, &e->cast.operand, to);
    const type *from = type_resolve(c->types, e->cast.operand->type);
    if (check_is_dyn(to))
        check_coerce(c, &e->cast.operand, to, NULL);
    else if (!type_is_silent(from) && !check_converts(c, &e->cast.operand, to))
        refuse_cast(c, e, from, to);
    if (e->kind == EXPR_CAST)
        *slot = e->cast.operand;
}

void check_cast(checker *c, expr **slot, const type *expected) {
    expr *e = *slot;
    const type *to = check_type(c, e->cast.target);
    if (to->kind == TYPE_OPEN && expected != NULL) /* x as _ */
        to = type_resolve(c->types, expected);
    if (to->kind == TYPE_STRUCT || to->kind == TYPE_VEC || type_is_reference(to)) {
        cast_as_coercion(c, slot, to);
        return;
    }
    check_expr(c, &e->cast.operand, literal_type(c, e->cast.operand, to));
    e->type = to;
    const type *from = type_resolve(c->types, e->cast.operand->type);
    if (type_is_silent(from) || type_is_silent(to)) {
        check_make_error(c, e);
        return;
    }
    if (to->kind == TYPE_TENSOR && to->tensor.rank <= 0 && type_is_numeric(from)) { /* a tensor of rank 0 */
        const type *held = to->tensor.element == NULL ? check_scalar(c, TYPE_F32)
                                                      : type_resolve(c->types, to->tensor.element);
        if (castable(from, held)) {
            check_cast_to(c, &e->cast.operand, held);
            *slot = e->cast.operand;
            check_number_as_tensor(c, slot);
            return;
        }
    }
    if (from->kind == TYPE_TENSOR) {
        e->cast.operand->type = from;
        to = cast_elements(c, from, to, expected);
        if (check_cast_tensor(c, slot, e->cast.operand, to))
            return;
        if (type_is_numeric(to) && check_item(c, &e->cast.operand))
            from = e->cast.operand->type;
    }
    if (from->kind == TYPE_STRUCT && from->structure->is_enum && type_is_integer(to) &&
        from->structure->field_count == 1) { /* the tag */
        expr *tag = build_field(c, e->span, e->cast.operand, "<tag>");
        tag->type = check_scalar(c, TYPE_I64);
        e->cast.operand = tag;
        from = tag->type;
    }
    from = check_unstated_converted(c, e->cast.operand, to);
    if (from == to) /* nothing to do */
        *slot = e->cast.operand;
    else if (!castable(from, to) && !(e->cast.implicit && from->kind == TYPE_U32 && to->kind == TYPE_CHAR))
        refuse_cast(c, e, from, to);
}
