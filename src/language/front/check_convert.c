/* check_convert.c: what fits where, and conversions as nodes.
 *
 *     i8 → i16 → i32 → i64          every integer → f32 → f64
 *     u8 → u16 → u32 → u64          unsigned → wider signed;  usize ↔ i64
 *     a rank-0 tensor → the scalar that it holds
 *
 * Everything else needs `as`.
 */
#include <string.h>

#include "language/front/check_build.h"
#include "language/front/check_call.h"
#include "language/front/check_context.h"
#include "language/front/check_convert.h"
#include "language/front/check_dyn.h"
#include "language/front/check_expr.h"
#include "language/front/check_iterator.h"
#include "language/front/check_place.h"
#include "language/front/check_types.h"
#include "language/front/check_variant.h"

/* ---- structure ------------------------------------------------------------------------------- */

bool check_occurs(const type *open, const type *in) {
    if (in == open) {
        return true;
    }
    if (in->kind == TYPE_OPEN) {
        return *in->open.resolved != NULL && check_occurs(open, *in->open.resolved);
    }
    if (in->kind == TYPE_VEC) {
        return check_occurs(open, in->vec.element);
    }
    for (uint32_t i = 0; in->kind == TYPE_STRUCT && in->may_have_open &&
                         i < in->structure->template->generics.count;
         i++) {
        if (check_occurs(open, in->structure->arguments[i])) {
            return true;
        }
    }
    for (uint32_t i = 0; in->kind == TYPE_TUPLE && in->may_have_open && i < in->tuple.count; i++) {
        if (check_occurs(open, in->tuple.items[i])) {
            return true;
        }
    }
    return false;
}

/* A vector that got a tensor of rank 2 may get one of rank 1 next. */
static bool decide(checker *c, const type *open, const type *t) {
    if (t->kind == TYPE_VOID || check_occurs(open, t)) {
        return false;
    }
    type_decide(c->types, open,
                t->kind == TYPE_TENSOR ? type_tensor(c->types, t->tensor.element, -1) : t);
    return true;
}

static bool tensors_fit(checker *c, const type *from, const type *to) {
    const type *a = from->tensor.element, *b = to->tensor.element;
    a = a == NULL ? NULL : type_resolve(c->types, a);
    b = b == NULL ? NULL : type_resolve(c->types, b);
    if (b != NULL && b->kind == TYPE_OPEN) { /* the T of a Tensor<T, 2> */
        type_decide(c->types, b, a != NULL ? a : check_scalar(c, TYPE_F32));
        b = type_resolve(c->types, b);
    }
    if (a != NULL && a->kind == TYPE_OPEN && b != NULL) {
        type_decide(c->types, a, b);
        a = b;
    }
    if (a != NULL && b != NULL && (type_is_open_number(a) || type_is_open_number(b))) {
        check_unify_numbers(c, a, b);
        a = type_resolve(c->types, a);
        b = type_resolve(c->types, b);
    }
    bool element = a == NULL || b == NULL || a == b || (type_is_integer(a) && type_is_integer(b));
    return element &&
           (from->tensor.rank < 0 || to->tensor.rank < 0 || from->tensor.rank == to->tensor.rank);
}

static bool are_lengths(const type *a, const type *b) {
    return !type_is_open_number(a) && !type_is_open_number(b) &&
           ((a->kind == TYPE_I64 && b->kind == TYPE_USIZE) ||
            (a->kind == TYPE_USIZE && b->kind == TYPE_I64));
}

/* Inside of lists, tuples and structs a length may stand for an i64 and the other way round: the same 64 bits. */
static bool part_fits(checker *c, const type *from, const type *to) {
    from = type_resolve(c->types, from);
    to = type_resolve(c->types, to);
    return are_lengths(from, to) || check_fits(c, from, to);
}

/* Which part_fits let pass in what lies open: not behind the pointer of a list. */
static bool has_other_lengths(checker *c, const type *from, const type *to) {
    from = type_resolve(c->types, from);
    to = type_resolve(c->types, to);
    if (from == to || from->kind == TYPE_VEC) {
        return false;
    }
    bool other = are_lengths(from, to);
    for (uint32_t i = 0;
         from->kind == TYPE_TUPLE && to->kind == TYPE_TUPLE && !other && i < from->tuple.count;
         i++) {
        other = has_other_lengths(c, from->tuple.items[i], to->tuple.items[i]);
    }
    bool instances =
        from->kind == TYPE_STRUCT && to->kind == TYPE_STRUCT && from->structure->template != NULL;
    for (uint32_t i = 0; instances && !other && i < from->structure->template->generics.count;
         i++) {
        other = has_other_lengths(c, from->structure->arguments[i], to->structure->arguments[i]);
    }
    return other;
}

bool check_fits(checker *c, const type *from, const type *to) {
    from = type_resolve(c->types, from);
    to = type_resolve(c->types, to);
    if (from == to || type_is_silent(from) || type_is_silent(to)) {
        return true;
    }
    if (to->kind == TYPE_OPEN) {
        return decide(c, to, from);
    }
    if (from->kind == TYPE_OPEN) {
        return decide(c, from, to);
    }
    if (type_is_open_number(from) || type_is_open_number(to)) {
        return check_unify_numbers(c, from, to);
    }
    if (from->kind != to->kind) {
        return false;
    }
    switch (from->kind) {
    case TYPE_TENSOR:
        return tensors_fit(c, from, to);
    case TYPE_REFERENCE: { /* written through: the same type, no conversion */
        const type *a = type_resolve(c->types, from->vec.element),
                   *b = type_resolve(c->types, to->vec.element);
        bool tensors = a->kind == TYPE_TENSOR && b->kind == TYPE_TENSOR && /* `Tensor` as it is written names no elements */
                       a->tensor.rank == b->tensor.rank && (a->tensor.element == NULL || b->tensor.element == NULL);
        return from->vec.length == to->vec.length &&
               (a == b || tensors || (a->may_have_open || b->may_have_open ? check_fits(c, a, b) : false) ||
                (a->kind == TYPE_VEC && b->kind == TYPE_VEC && check_fits(c, a, b)));
    }
    case TYPE_VEC: /* an array is a Vec of which the length is known */
        return (to->vec.length == -1 || from->vec.length == to->vec.length) &&
               type_is_box(from) == type_is_box(to) &&
               part_fits(c, from->vec.element, to->vec.element);
    case TYPE_STRUCT: {
        const struct_item *a = from->structure, *b = to->structure;
        bool fits = a->template != NULL && a->template == b->template;
        for (uint32_t i = 0; fits && i < a->template->generics.count; i++) {
            fits = part_fits(c, a->arguments[i], b->arguments[i]);
        }
        return fits;
    }
    case TYPE_TUPLE: {
        bool fits = from->tuple.count == to->tuple.count;
        for (uint32_t i = 0; fits && i < from->tuple.count; i++) {
            fits = part_fits(c, from->tuple.items[i], to->tuple.items[i]);
        }
        return fits;
    }
    default:
        return false;
    }
}

/* ---- numbers --------------------------------------------------------------------------------- */

bool check_widens(const type *from, const type *to) {
    if (from == to) {
        return true;
    }
    if (type_is_float(to)) {
        return type_is_integer(from) || (type_is_float(from) && type_bits(from) <= type_bits(to));
    }
    if (!type_is_integer(from) || !type_is_integer(to)) {
        return false;
    }
    if (type_is_signed(from) == type_is_signed(to)) {
        return type_bits(from) <= type_bits(to);
    }
    bool lengths = (from->kind == TYPE_USIZE && to->kind == TYPE_I64) ||
                   (from->kind == TYPE_I64 && to->kind == TYPE_USIZE);
    return lengths || (type_is_signed(to) && type_bits(from) < type_bits(to));
}

static const type *signed_of_bits(const checker *c, uint32_t bits) {
    return check_scalar(c, bits <= 8    ? TYPE_I8
                           : bits <= 16 ? TYPE_I16
                           : bits <= 32 ? TYPE_I32
                                        : TYPE_I64);
}

const type *check_common(checker *c, const type *a, const type *b) {
    a = type_resolve(c->types, a);
    b = type_resolve(c->types, b);
    if (a == b) {
        return a;
    }
    if (type_is_open_number(a) || type_is_open_number(b)) {
        if (type_is_float(a) != type_is_float(b)) { /* the whole one is converted */
            return type_is_float(a) ? a : b;
        }
        if (type_is_open_number(a) && type_is_open_number(b)) {
            check_unify_numbers(c, a, b);
        }
        return type_resolve(c->types, type_is_open_number(a) ? b : a);
    }
    if (type_is_float(a) || type_is_float(b)) {
        bool wide = a->kind == TYPE_F64 || b->kind == TYPE_F64;
        return check_scalar(c, wide ? TYPE_F64 : TYPE_F32);
    }
    if (type_is_signed(a) == type_is_signed(b)) {
        return type_bits(a) >= type_bits(b) ? a : b;
    }
    const type *with_sign = type_is_signed(a) ? a : b, *without = type_is_signed(a) ? b : a;
    uint32_t bits = type_bits(without) * 2 > 64 ? 64 : type_bits(without) * 2;
    return type_bits(with_sign) > bits ? with_sign : signed_of_bits(c, bits);
}

static const type *join_tensors(checker *c, const type *a, const type *b) {
    bool elements_differ = a->tensor.element != b->tensor.element;
    if (elements_differ && a->tensor.element != NULL && b->tensor.element != NULL) {
        bool whole = type_is_integer(a->tensor.element) && type_is_integer(b->tensor.element);
        int32_t rank = a->tensor.rank == b->tensor.rank ? a->tensor.rank : -1;
        return whole ? type_tensor(c->types, check_scalar(c, TYPE_I64), rank) : NULL;
    }
    return type_tensor(c->types, elements_differ ? NULL : a->tensor.element,
                       a->tensor.rank == b->tensor.rank ? a->tensor.rank : -1);
}

const type *check_join(checker *c, const type *a, const type *b) {
    if (type_is_silent(a)) {
        return b->kind == TYPE_NEVER ? a : b;
    }
    if (type_is_silent(b) || a == b) {
        return a;
    }
    if (type_is_numeric(a) && type_is_numeric(b)) {
        return check_common(c, a, b);
    }
    if (a->kind == TYPE_TENSOR && b->kind == TYPE_TENSOR) {
        return join_tensors(c, a, b);
    }
    return check_fits(c, a, b) ? type_resolve(c->types, a) : NULL;
}

bool check_free_literal(const expr *e) {
    for (int depth = 0; depth < 8; depth++) {
        switch (e->kind) {
        case EXPR_INT:
            return e->integer.suffix == TYPE_VOID;
        case EXPR_FLOAT:
            return e->floating.suffix == TYPE_VOID;
        case EXPR_UNARY:
            if (e->unary.op != UNARY_NEG) {
                return false;
            }
            e = e->unary.operand;
            break;
        case EXPR_BINARY:
            if (e->binary.op < BINARY_ADD || e->binary.op > BINARY_REM ||
                !check_free_literal(e->binary.right)) {
                return false;
            }
            e = e->binary.left;
            break;
        default:
            return false;
        }
    }
    return false;
}

/* ---- conversions as nodes -------------------------------------------------------------------- */

void check_cast_to(checker *c, expr **slot, const type *to) {
    expr *e = *slot;
    const type *from = type_resolve(c->types, e->type);
    to = type_resolve(c->types, to);
    if (from == to || type_is_silent(from)) {
        return;
    }
    bool back = e->kind == EXPR_CAST && e->cast.implicit && from->kind == TYPE_USIZE &&
                to->kind == TYPE_I64 && e->cast.operand->type == to;
    if (back) { /* an i64 that became a length is the same i64 */
        *slot = e->cast.operand;
        return;
    }
    expr *cast = check_new(c, EXPR_CAST, e->span, to);
    cast->cast.operand = e;
    cast->cast.implicit = true;
    *slot = cast;
}

/* 0.1 behind the name is 0.1 of an f64, not an f32 made longer. */
void check_widen_to(checker *c, expr **slot, const type *to) {
    const type *from = type_resolve(c->types, (*slot)->type);
    to = type_resolve(c->types, to);
    if (check_convert_number(c, slot, from, to) == NUMBER_KNOWN) {
        check_cast_to(c, slot, to);
    }
}

void check_read_item(checker *c, expr **slot) {
    expr *e = *slot;
    const type *element = type_of_element(c->types, e->type);
    tl_abi_index abi = type_is_integer(element)     ? TL_FN_tl_tensor_item_i64
                       : element->kind == TYPE_BOOL ? TL_FN_tl_tensor_item_bool
                                                    : TL_FN_tl_tensor_item;
    *slot = check_new_abi(c, abi, e->span, &e, 1);
    check_cast_to(c, slot, element);
}

bool check_item(checker *c, expr **slot) {
    if ((*slot)->type->tensor.rank > 0) {
        return false;
    }
    check_read_item(c, slot);
    return true;
}

void check_unbox(checker *c, expr **slot) {
    const type *t = type_resolve(c->types, (*slot)->type);
    if (!type_is_box(t)) {
        return;
    }
    expr *content = check_new(c, EXPR_INDEX, (*slot)->span, type_resolve(c->types, t->vec.element));
    content->index.base = *slot;
    content->index.indices = CHECK_ARRAY(c, expr *, 1);
    content->index.indices[0] = check_new_int(c, (*slot)->span, 0);
    content->index.count = 1;
    *slot = content;
}

/* A Box with the value in it. */
static bool put_in_box(checker *c, expr **slot, const type *box) {
    if (!check_coerce_branch(c, slot, box->vec.element, NULL)) {
        return false;
    }
    expr *list = check_new(c, EXPR_ARRAY, (*slot)->span, NULL);
    list->is_vec = true;
    list->list.items = CHECK_ARRAY(c, expr *, 1);
    list->list.items[0] = *slot;
    list->list.count = 1;
    *slot = list;
    check_expr(c, slot, type_vec(c->types, box->vec.element));
    (*slot)->type = box;
    (*slot)->block->type = (*slot)->block->result->type = box;
    return true;
}

/* What is done for its effect alone, where `()` is wanted: { e; () } */
static bool become_unit(checker *c, expr **slot) {
    block_builder b = build_block(c, (*slot)->span);
    expr *unit = check_new(c, EXPR_TUPLE, (*slot)->span, NULL);
    check_unit_value(c, &unit);
    build_stmt(&b, *slot);
    *slot = build_finish(&b, unit);
    (*slot)->type = (*slot)->block->type = unit->type;
    return true;
}

static bool convert(checker *c, expr **slot, const type *to) {
    to = type_resolve(c->types, to);
    if (to->kind == TYPE_STRUCT && to == check_unit_type(c) && type_is((*slot)->type, TYPE_VOID)) {
        return become_unit(c, slot);
    }
    const type *boxed = type_resolve(c->types, (*slot)->type);
    if (type_is_box(boxed) && to->kind == TYPE_VEC && to->vec.length == -1 &&
        to->vec.element == boxed->vec.element) {
        return true; /* the prelude compares Boxes, empty ones of other variants too */
    }
    if (to->kind != TYPE_OPEN && !type_is_box(to)) {
        check_unbox(c, slot);
    }
    if (check_to_slice(c, slot, to)) {
        return true;
    }
    if (to->kind != TYPE_OPEN && !type_is_reference(to)) {
        check_follow(c, slot);
    }
    const type *from = type_resolve(c->types, (*slot)->type);
    if (check_hands_out_tensor(c, *slot, from, to)) {
        return true;
    }
    if (check_is_dyn(to) && check_dyn_convert(c, slot, to)) {
        return true;
    }
    if (type_is_box(to) && !type_is_box(from) && from->kind != TYPE_OPEN && !type_is_silent(from)) {
        return put_in_box(c, slot, to);
    }
    c->open->deciding = (*slot)->span;
    const number_conversion number = check_convert_number(c, slot, from, to);
    if (number != NUMBER_KNOWN) {
        return number == NUMBER_CONVERTED;
    }
    if (check_fits(c, from, to)) {
        if (has_other_lengths(c, from, to)) { /* better made so than converted */
            check_cast_to(c, slot, to);
        }
        return true;
    }
    if ((*slot)->kind == EXPR_TUPLE && to->kind == TYPE_TUPLE && from->kind == TYPE_TUPLE &&
        from->tuple.count == to->tuple.count) {
        bool all = true;
        for (uint32_t i = 0; all && i < to->tuple.count; i++) {
            all = convert(c, &(*slot)->list.items[i], to->tuple.items[i]);
        }
        (*slot)->type = all ? to : from;
        return all;
    }
    if (from->kind == TYPE_TENSOR && to->kind == TYPE_TENSOR) {
        return check_create_as(c, slot, to);
    }
    bool scalar = type_is_numeric(to) || to->kind == TYPE_BOOL;
    if (from->kind == TYPE_TENSOR && scalar) {
        const type *element = type_of_element(c->types, from);
        bool fits = element == to || (type_is_numeric(element) && type_is_float(to)) ||
                    check_widens(element, to);
        if (!fits || !check_item(c, slot)) {
            return false;
        }
        check_cast_to(c, slot, to);
        return true;
    }
    if (!type_is_numeric(from) || !check_widens(from, to)) {
        return false;
    }
    check_widen_to(c, slot, to);
    return true;
}

static void note_dyn(checker *c, diagnostic *d, const type *to, const type *from) {
    const trait_item *trait = check_dyn_trait(to);
    if (trait != NULL && check_dyn_from(c, to, from)) {
        diagnostics_note(c->diagnostics, d, (source_span){0}, "`.into()` makes a `%s` of it", check_type_text(c, to));
    } else if (trait != NULL && from->kind == TYPE_STRUCT) {
        diagnostics_note(c->diagnostics, d, (source_span){0}, "`impl %s for %s { … }` makes it one",
                         names_trait_text(trait), check_type_text(c, from));
    }
}

bool check_coerce(checker *c, expr **slot, const type *to, const coerce_reason *why) {
    if (convert(c, slot, to)) {
        return true;
    }
    note_dyn(c, check_mismatch(c, *slot, to, why), to, type_resolve(c->types, (*slot)->type));
    return false;
}

bool check_same_number(checker *c, const expr *e, const type *to, const coerce_reason *why) {
    const type *from = type_resolve(c->types, e->type);
    to = type_resolve(c->types, to);
    c->open->deciding = e->span;
    if (from == to || !type_is_numeric(from) || !type_is_numeric(to) ||
        check_unify_numbers(c, from, to)) {
        return true;
    }
    diagnostic *d = diagnostics_say(c->diagnostics, e->span, SAY(is_wanted_here_this_is),
                                    check_type_text(c, to), check_type_text(c, from));
    diagnostics_note(c->diagnostics, d, (source_span){0},
                     "what is written through a `&mut` comes back, so nothing is converted");
    diagnostics_note(c->diagnostics, d, why->span, "%s", why->text);
    return false;
}

bool check_coerce_branch(checker *c, expr **slot, const type *to, const coerce_reason *why) {
    expr *e = *slot;
    if (type_is_silent(e->type)) {
        return true;
    }
    bool good = true;
    to = type_resolve(c->types, to);
    if (e->kind == EXPR_MATCH && e->type->kind != TYPE_VOID) {
        for (uint32_t i = 0; i < e->match.count; i++) {
            good &= check_coerce_branch(c, &e->match.arms[i].body, to, why);
        }
    } else if (e->kind == EXPR_BLOCK && e->block->result != NULL) {
        good = check_coerce_branch(c, &e->block->result, to, why);
        e->block->type = to;
    } else if (e->kind == EXPR_IF && e->branch.otherwise != NULL &&
               e->branch.then->result != NULL) {
        good = check_coerce_branch(c, &e->branch.then->result, to, why);
        good &= check_coerce_branch(c, &e->branch.otherwise, to, why);
        e->branch.then->type = to;
    } else {
        return check_coerce(c, slot, to, why);
    }
    e->type = to;
    return good;
}

bool check_condition(checker *c, expr **slot) {
    const type *boolean = check_scalar(c, TYPE_BOOL);
    if ((*slot)->kind == EXPR_ASSIGN && (*slot)->assign.op == BINARY_NONE) { /* one mistake */
        diagnostic *d =
            diagnostics_say(c->diagnostics, (*slot)->span, SAY(expected_bool_but_this_has_no));
        diagnostics_note(c->diagnostics, d, (source_span){0}, "`==` compares, `=` assigns");
        check_make_error(c, *slot);
        return false;
    }
    check_expr(c, slot, boolean);
    (*slot)->type = type_resolve(c->types, (*slot)->type);
    expr *e = *slot;
    if (e->type->kind == TYPE_TENSOR && e->type->tensor.element == NULL &&
        e->type->tensor.rank <= 0) {
        *slot = check_new_abi(c, TL_FN_tl_tensor_item_bool, e->span, &e, 1);
        return true;
    }
    if (e->type->kind == TYPE_TENSOR && e->type->tensor.element != NULL &&
        type_resolve(c->types, e->type->tensor.element)->kind == TYPE_BOOL) {
        check_read_item(c, slot); /* of shape [1] or [1, 1], too: else item() says so */
        return true;
    }
    if (e->type->kind == TYPE_NEVER) {
        diagnostics_say(c->diagnostics, e->span, SAY(this_never_yields_value));
    }
    return check_coerce(c, slot, boolean, NULL);
}
