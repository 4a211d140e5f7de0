/* check_literal.c: literals are type variables.
 *
 *     let mut best = 0;                   best: an open whole number
 *     let v = vec![best];                 Vec of the same one
 *     best = count;                       a u32: so is best, and what v holds
 *
 * A bare literal makes an open number (types.h): a variable with a class, whole or real. Whatever demands equal types
 * unifies: elements of lists, arguments of generics, what a closure takes and yields, stores, `&mut`. It goes by
 * equality in all of these, so no order of uses decides. What converts as well as it unifies only says what it would
 * like:
 *
 *     where an i64 is wanted          any narrower whole number will do, and i64 is what it becomes anyway
 *     where an f64 is wanted          f64, unless something demands f32, which is made longer then
 *     n * 0.5 of a whole n            n stays whole: the product is real
 *
 * A whole number that a real one is stored in becomes real; never the other way round. At the end of the function what
 * is still open becomes what it would like to be, else i64 or f32 (type_default_numbers); then every node gets its type
 * (check.c), every literal is judged by its range, and conversions that were not needed go.
 *
 * A real number that f32 would make infinite or 0 likes to be f64; where f32 is demanded, it is refused as infinite.
 *
 * What must stay true (check.c asserts that no number is open behind it): a node of an open type is judged again when
 * it is closed, by check_close_number; what is written out by the kind of a number before it is known (a text, a
 * method) waits until then.
 */
#include <math.h>

#include "language/types/check_context.h"
#include "language/types/check_fits.h"
#include "language/types/check_operator_types.h"
#include "language/types/check_written.h"

/* ---- deciding ---------------------------------------------------------------------------------- */

static void decide(checker *c, const type *open, const type *t) {
    if (t->number != NULL) {
        t->number->prefers = t->number->prefers != NULL ? t->number->prefers : open->number->prefers;
        t->number->is_element |= open->number->is_element;
        t->number->is_real |= open->number->is_real;
        t->number->is_parsed |= open->number->is_parsed && type_is_float(t) == type_is_float(open);
    }
    open->number->because = c->open->deciding;
    type_decide(open, t);
}

static bool may_be_parsed(const type *t) {
    return t->kind == TYPE_BOOL || t->kind == TYPE_CHAR || t->kind == TYPE_STRING || t->kind == TYPE_STRUCT;
}

bool check_unify_numbers(checker *c, const type *a, const type *b) {
    const type *parsed = type_is_open_number(a) ? a : b, *other = parsed == a ? b : a;
    if (parsed->number != NULL && parsed->number->is_parsed && may_be_parsed(other)) {
        decide(c, parsed, other);
        return true;
    }
    if (a == b || !type_is_numeric(a) || !type_is_numeric(b))
        return a == b;
    bool whole = !type_is_float(a), other_whole = !type_is_float(b);
    if (type_is_open_number(a) && type_is_open_number(b) && whole == other_whole) {
        bool younger = a->id > b->id; /* points to the older one: paths stay short, however many meet in one list */
        decide(c, younger ? a : b, younger ? b : a);
        return true;
    }
    if (type_is_open_number(a) && (whole || !other_whole)) {
        decide(c, a, b);
        return true;
    }
    if (type_is_open_number(b) && (other_whole || !whole)) {
        decide(c, b, a);
        return true;
    }
    return false;
}

const type *check_settle_number(checker *c, const type *t) {
    t = type_resolve(c->types, t);
    if (type_is_open_number(t))
        decide(c, t, type_settle_number(c->types, t));
    return type_resolve(c->types, t);
}

/* A variable stays open where what it is wanted as takes narrower ones, too. */
static bool only_likes(const type *from, const type *to) {
    return to->kind == TYPE_I64 || to->kind == TYPE_F64 || type_is_float(from) != type_is_float(to);
}

number_conversion check_convert_number(checker *c, expr **slot, const type *from, const type *to) {
    bool open = type_is_open_number(from), wanted_open = type_is_open_number(to);
    if (from == to)
        return NUMBER_CONVERTED;
    if ((!open && !wanted_open) || !type_is_numeric(from) || !type_is_numeric(to))
        return NUMBER_KNOWN;
    if (type_is_float(from) && !type_is_float(to) && !wanted_open)
        return NUMBER_MISFITS;
    bool follows = open && (from->number->is_parsed || check_free_literal(*slot));
    bool widens = !type_is_float(from) && type_is_float(to) && !follows;
    if (open && !wanted_open && only_likes(from, to) && !follows) {
        const type *prefers = from->number->prefers;
        if (!widens && to->kind == TYPE_F64 && prefers == NULL)
            from->number->prefers = to;
        widens = true;
    }
    if (widens) {
        check_cast_to(c, slot, to);
        (*slot)->is_judged = open;
        return NUMBER_CONVERTED;
    }
    return check_unify_numbers(c, from, to) ? NUMBER_CONVERTED : NUMBER_MISFITS;
}

bool check_is_vague(checker *c, const type *t) {
    t = type_resolve(c->types, t);
    bool vague = t->kind == TYPE_OPEN;
    if (!t->may_have_open || vague)
        return vague;
    if (t->kind == TYPE_VEC || t->kind == TYPE_REFERENCE)
        return check_is_vague(c, t->vec.element);
    for (uint32_t i = 0; t->kind == TYPE_TUPLE && !vague && i < t->tuple.count; i++)
        vague = check_is_vague(c, t->tuple.items[i]);
    const struct_item *template = t->kind == TYPE_STRUCT ? t->structure->template : NULL;
    for (uint32_t i = 0; template != NULL && !vague && i < template->generics.count; i++)
        vague = check_is_vague(c, t->structure->arguments[i]);
    return vague || t->kind == TYPE_TENSOR;
}

/* ---- literals ---------------------------------------------------------------------------------- */

/* Largest magnitude that fits; negative numbers reach one further. */
static uint64_t integer_limit(const type *t) {
    uint32_t bits = type_bits(t);
    return type_is_signed(t) ? (UINT64_C(1) << (bits - 1)) - 1 : bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

/* before: what the type was while it was open. */
static void check_limit(checker *c, expr *e, uint64_t magnitude, const type *before) {
    const type *t = e->type;
    uint64_t limit = integer_limit(t);
    if (magnitude > limit + (e->is_negative && type_is_signed(t))) {
        diagnostic *d = diagnostics_say(c->diagnostics, e->span, SAY(number_does_not_fit), e->is_negative ? "-" : "",
                                        (unsigned long long)magnitude, check_type_text(c, t));
        diagnostics_note(c->diagnostics, d, (source_span){0}, "the largest `%s` is %llu", check_type_text(c, t),
                         (unsigned long long)limit);
        check_note_literal(c, d, before);
        e->integer.value = 0;
    } else if (e->is_negative && !type_is_signed(t) && magnitude != 0) {
        check_note_literal(
            c, diagnostics_say(c->diagnostics, e->span, SAY(has_no_negative_numbers), check_type_text(c, t)), before);
    }
}

static const type *literal_type(checker *c, const expr *e, type_kind suffix, type_kind kind, const type *expected) {
    if (suffix != TYPE_VOID)
        return check_scalar(c, suffix);
    bool follows = expected != NULL && (kind == TYPE_I64 ? type_is_integer(expected) : type_is_float(expected));
    if (follows || c->function == NULL || c->open->is_closing)
        return follows ? expected : check_scalar(c, kind);
    c->open->has_open = true;
    return type_open_number(c->types, kind, e->span);
}

static void become_float(expr *e, const type *t) {
    uint64_t whole = e->is_negative ? 0 - e->integer.value : e->integer.value;
    e->kind = EXPR_FLOAT;
    e->floating.value = e->is_negative ? -(double)whole : (double)whole;
    e->floating.is_whole = true;
    e->floating.whole = whole;
    e->floating.suffix = TYPE_VOID;
    e->type = t;
}

void check_int(checker *c, expr *e, const type *expected, bool negative) {
    expected = expected == NULL ? NULL : type_resolve(c->types, expected);
    if (e->integer.suffix == TYPE_VOID && expected != NULL && type_is_float(expected)) {
        become_float(e, expected);
        return;
    }
    e->is_negative = negative;
    e->type = literal_type(c, e, e->integer.suffix, TYPE_I64, expected);
    if (!type_is_open_number(e->type))
        check_limit(c, e, e->integer.value, e->type);
}

/* Looks at a number as it is written. */
static void check_float_limit(checker *c, expr *e, const type *before) {
    const double v = e->floating.value;
    const bool beyond_f64 = isinf(v), beyond_f32 = isinf((float)v);
    if (!beyond_f64 && !(beyond_f32 && type_resolve(c->types, e->type)->kind == TYPE_F32))
        return;
    diagnostic *d = diagnostics_say(c->diagnostics, e->span, SAY(float_does_not_fit), beyond_f64 ? "f64" : "f32");
    diagnostics_note(c->diagnostics, d, (source_span){0}, "the largest `%s` is about %s", beyond_f64 ? "f64" : "f32",
                     beyond_f64 ? "1.8e308" : "3.4e38");
    check_note_literal(c, d, before);
}

void check_float(checker *c, expr *e, const type *expected) {
    expected = expected == NULL ? NULL : type_resolve(c->types, expected);
    e->type = literal_type(c, e, e->floating.suffix, TYPE_F32, expected);
    const float single = (float)e->floating.value;
    if (type_is_open_number(e->type))
        e->type->number->is_real = true;
    if (type_is_open_number(e->type) && (isinf(single) || (single == 0 && e->floating.value != 0)))
        e->type->number->prefers = check_scalar(c, TYPE_F64);
    else if (!type_is_open_number(e->type))
        check_float_limit(c, e, e->type);
}

bool check_negative_literal(checker *c, expr *e, const type *expected) {
    expr *operand = e->unary.operand;
    if (e->unary.op != UNARY_NEG || (operand->kind != EXPR_INT && operand->kind != EXPR_FLOAT))
        return false;
    source_span span = e->span;
    if (operand->kind == EXPR_INT) {
        operand->span = span;
        check_int(c, operand, expected, true);
    } else {
        check_float(c, operand, expected);
    }
    bool parentheses = e->in_parentheses; /* and whether it is negative is the operand's */
    *e = *operand;
    e->span = span;
    e->in_parentheses = parentheses;
    if (e->kind == EXPR_INT)
        e->integer.value = 0 - e->integer.value;
    else
        e->floating.value = -e->floating.value;
    return true;
}

/* ---- the end of the function -------------------------------------------------------------------- */

static void close_int(checker *c, expr *e, const type *before) {
    if (e->is_largest) /* of a range without an end */
        e->integer.value = integer_limit(e->type) & INT64_MAX;
    else if (type_is_float(e->type))
        become_float(e, e->type);
    else if (type_is_integer(e->type))
        check_limit(c, e, e->is_negative ? 0 - e->integer.value : e->integer.value, before);
}

bool check_is_no_conversion(checker *c, const expr *e) {
    return e->kind == EXPR_CAST && e->type != NULL && e->cast.operand->type != NULL &&
           type_resolve(c->types, e->type) == type_resolve(c->types, e->cast.operand->type);
}

void check_close_number(checker *c, expr *e, const type *before) {
    const bool was_open = before->may_have_open;
    if (e->kind == EXPR_CAST && e->is_judged) {
        const type *from = type_resolve(c->types, e->cast.operand->type);
        if (!type_is_silent(e->type) && !check_widens(from, e->type))
            check_mismatch(c, e->cast.operand, e->type, NULL);
    } else if (e->kind == EXPR_INT && was_open && e->integer.suffix == TYPE_VOID) {
        close_int(c, e, before);
    } else if (e->kind == EXPR_FLOAT && was_open && e->floating.suffix == TYPE_VOID) {
        check_float_limit(c, e, before);
    } else if (was_open && (e->kind == EXPR_UNARY || e->kind == EXPR_BINARY)) {
        check_close_operator(c, e);
    }
}

bool check_is_real_literal(const expr *e) {
    while (e->kind == EXPR_UNARY && e->unary.op == UNARY_NEG)
        e = e->unary.operand;
    return e->kind == EXPR_FLOAT && e->floating.suffix == TYPE_VOID;
}
