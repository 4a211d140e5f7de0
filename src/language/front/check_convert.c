/* check_convert.c: what fits where, and conversions as nodes.
 *
 *     i8 → i16 → i32 → i64          every integer → f32 → f64
 *     u8 → u16 → u32 → u64          unsigned → wider signed;  usize ↔ i64
 *     a rank-0 tensor → the scalar that it holds
 *
 * Everything else needs `as`.
 */
#include "language/front/check_convert.h"
#include "language/front/check_call.h"
#include "language/front/check_derive.h"
#include "language/front/check_place.h"
#include "language/front/check_seen.h"
#include "language/front/check_walk.h"
#include "language/types/check_context.h"
#include "language/types/check_dyn_types.h"
#include "language/types/check_variants.h"
#include "language/types/check_written.h"

/* ---- structure ------------------------------------------------------------------------------- */

/* Which part_fits let pass in what lies open: not behind the pointer of a list. */
static bool has_other_lengths(checker *c, const type *from, const type *to) {
    from = type_resolve(c->types, from);
    to = type_resolve(c->types, to);
    if (from == to || from->kind == TYPE_VEC)
        return false;
    bool other = check_are_lengths(from, to);
    for (uint32_t i = 0; from->kind == TYPE_TUPLE && to->kind == TYPE_TUPLE && !other && i < from->tuple.count; i++)
        other = has_other_lengths(c, from->tuple.items[i], to->tuple.items[i]);
    bool instances = from->kind == TYPE_STRUCT && to->kind == TYPE_STRUCT && from->structure->template != NULL;
    for (uint32_t i = 0; instances && !other && i < from->structure->template->generics.count; i++)
        other = has_other_lengths(c, from->structure->arguments[i], to->structure->arguments[i]);
    return other;
}

/* ---- conversions as nodes -------------------------------------------------------------------- */

/* A Box with the value in it. */
static bool put_in_box(checker *c, expr **slot, const type *box) {
    if (!check_coerce_branch(c, slot, box->vec.element, NULL))
        return false;
    *slot = build_list(c, EXPR_ARRAY, (*slot)->span, slot, 1);
    (*slot)->is_vec = true;
    check_expr(c, slot, type_vec(c->types, box->vec.element));
    (*slot)->type = box;
    return true;
}

/* An expression for its effect alone, where `()` is wanted: { e; () } */
static bool become_unit(checker *c, expr **slot) {
    block_builder b = build_block(c, (*slot)->span);
    expr *unit = check_new(c, EXPR_TUPLE, (*slot)->span, NULL);
    check_unit_value(c, &unit);
    build_stmt(&b, *slot);
    *slot = build_checked(&b, unit);
    return true;
}

/* An `if` without `else` that ends in a value has forgotten the other one. */
static bool forgets_else(const expr *e) {
    const stmt *last = e->kind == EXPR_IF && e->branch.otherwise == NULL ? e->branch.then->first : NULL;
    while (last != NULL && last->next != NULL)
        last = last->next;
    const type *t = last != NULL && last->kind == STMT_EXPR ? last->value->type : NULL;
    return t != NULL && t->kind != TYPE_VOID && t->kind != TYPE_NEVER;
}

const type *check_as_unit(checker *c, expr **slot) {
    const type *t = type_resolve(c->types, (*slot)->type), *unit = check_unit_type(c);
    if (t->kind != TYPE_VOID)
        return t;
    if (unit != NULL && !forgets_else(*slot)) {
        become_unit(c, slot);
        return unit;
    }
    diagnostic *d = diagnostics_say(c->diagnostics, (*slot)->span, SAY(this_has_no_value));
    if (forgets_else(*slot))
        diagnostics_note(c->diagnostics, d, (source_span){0}, "an `if` has one when it ends in `else { … }`");
    return check_scalar(c, TYPE_ERROR);
}

static bool convert(checker *c, expr **slot, const type *to) {
    to = type_resolve(c->types, to);
    if (to->kind == TYPE_STRUCT && to == check_unit_type(c) && type_is((*slot)->type, TYPE_VOID))
        return become_unit(c, slot);
    const type *boxed = type_resolve(c->types, (*slot)->type);
    if (type_is_box(boxed) && to->kind == TYPE_VEC && to->vec.length == -1 && to->vec.element == boxed->vec.element)
        return true; /* the prelude compares Boxes, empty ones of other variants too */
    if (check_is_seen_as(c, boxed, to)) {
        check_unbox(c, slot);
        return type_is_box(to) ? put_in_box(c, slot, to) : check_see_as(c, slot, to);
    }
    if (to->kind != TYPE_OPEN && !type_is_box(to))
        check_unbox(c, slot);
    if (check_to_slice(c, slot, to))
        return true;
    if (to->kind != TYPE_OPEN && !type_is_reference(to))
        check_follow(c, slot);
    const type *from = type_resolve(c->types, (*slot)->type);
    if (check_hands_out_tensor(c, *slot, from, to))
        return true;
    if (check_is_dyn(to) && check_dyn_convert(c, slot, to))
        return true;
    if (type_is_box(to) && !type_is_box(from) && from->kind != TYPE_OPEN && !type_is_silent(from))
        return put_in_box(c, slot, to);
    if (check_unstated_as(c, slot, to)) {
        check_cast_to(c, slot, to);
        return true;
    }
    c->open->deciding = (*slot)->span;
    const number_conversion number = check_convert_number(c, slot, from, to);
    if (number != NUMBER_KNOWN)
        return number == NUMBER_CONVERTED;
    if (check_fits(c, from, to)) {
        const stated_way way = check_stated_way(c, from, to);
        if (way == STATED_LOOKED_AT || has_other_lengths(c, from, to)) /* better made so than converted */
            check_cast_to(c, slot, to);
        return way != STATED_UNSEEN;
    }
    if (from->kind == TYPE_TENSOR && to->kind == TYPE_TENSOR)
        return check_create_as(c, slot, to);
    bool scalar = type_is_numeric(to) || to->kind == TYPE_BOOL;
    if (from->kind == TYPE_TENSOR && scalar) {
        const type *element = from->tensor.element;
        bool fits = element == NULL || element == to || (type_is_numeric(element) && type_is_float(to)) ||
                    check_widens(element, to);
        if (!fits || !check_item(c, slot))
            return false;
        if (element == NULL)
            return convert(c, slot, to);
        check_cast_to(c, slot, to);
        return true;
    }
    if (!type_is_numeric(from) || !check_widens(from, to))
        return false;
    check_widen_to(c, slot, to);
    return true;
}

bool check_converts(checker *c, expr **slot, const type *to) {
    return convert(c, slot, to);
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
    if (convert(c, slot, to))
        return true;
    note_dyn(c, check_mismatch(c, *slot, to, why), to, type_resolve(c->types, (*slot)->type));
    return false;
}

bool check_coerce_branch(checker *c, expr **slot, const type *to, const coerce_reason *why) {
    expr *e = *slot;
    if (type_is_silent(e->type))
        return true;
    bool good = true;
    to = type_resolve(c->types, to);
    if (e->kind == EXPR_MATCH && e->type->kind != TYPE_VOID) {
        for (uint32_t i = 0; i < e->match.count; i++)
            good &= check_coerce_branch(c, &e->match.arms[i].body, to, why);
    } else if (e->kind == EXPR_BLOCK && e->block->result != NULL) {
        good = check_coerce_branch(c, &e->block->result, to, why);
        e->block->type = to;
    } else if (e->kind == EXPR_IF && e->branch.otherwise != NULL && e->branch.then->result != NULL) {
        good = check_coerce_branch(c, &e->branch.then->result, to, why);
        good &= check_coerce_branch(c, &e->branch.otherwise, to, why);
        e->branch.then->type = to;
    } else {
        return check_coerce(c, slot, to, why);
    }
    e->type = to;
    return good;
}

static bool same_number(checker *c, const expr *e, const type *to, const coerce_reason *why) {
    const type *from = type_resolve(c->types, e->type);
    to = type_resolve(c->types, to);
    c->open->deciding = e->span;
    if (from == to || !type_is_numeric(from) || !type_is_numeric(to) || check_unify_numbers(c, from, to))
        return true;
    diagnostic *d = diagnostics_say(c->diagnostics, e->span, SAY(is_wanted_here_this_is), check_type_text(c, to),
                                    check_type_text(c, from));
    diagnostics_note(c->diagnostics, d, (source_span){0},
                     "what is written through a `&mut` comes back, so nothing is converted");
    diagnostics_note(c->diagnostics, d, why->span, "%s", why->text);
    return false;
}

void check_coerce_lent(checker *c, expr **slot, const type *to, const coerce_reason *why) {
    if (!same_number(c, *slot, to, why) || !check_coerce_branch(c, slot, to, why))
        return;
    expr *e = *slot;
    if (e->kind == EXPR_CAST && e->cast.implicit &&
        type_resolve(c->types, e->cast.operand->type)->kind == e->type->kind)
        *slot = e->cast.operand;
}

bool check_condition(checker *c, expr **slot) {
    const type *boolean = check_scalar(c, TYPE_BOOL);
    if ((*slot)->kind == EXPR_ASSIGN && (*slot)->assign.op == BINARY_NONE) { /* one mistake */
        diagnostic *d = diagnostics_say(c->diagnostics, (*slot)->span, SAY(expected_bool_but_this_has_no));
        diagnostics_note(c->diagnostics, d, (source_span){0}, "`==` compares, `=` assigns");
        check_make_error(c, *slot);
        return false;
    }
    check_expr(c, slot, boolean);
    (*slot)->type = type_resolve(c->types, (*slot)->type);
    expr *e = *slot;
    if (e->type->kind == TYPE_TENSOR && e->type->tensor.element == NULL && e->type->tensor.rank <= 0) {
        *slot = check_new_abi(c, TL_FN_tl_tensor_item_bool, e->span, &e, 1);
        return true;
    }
    if (e->type->kind == TYPE_TENSOR && e->type->tensor.element != NULL &&
        type_resolve(c->types, e->type->tensor.element)->kind == TYPE_BOOL) {
        check_read_item(c, slot); /* of shape [1] or [1, 1], too: else item() says so */
        return true;
    }
    if (e->type->kind == TYPE_NEVER)
        diagnostics_say(c->diagnostics, e->span, SAY(this_never_yields_value));
    return check_coerce(c, slot, boolean, NULL);
}
