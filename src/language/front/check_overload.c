/* check_overload.c: traits with type parameters, and calls of what has several forms (check_choose.c judges them).
 *
 *     impl From<String> for Fault, impl From<i64> for Fault      two methods Fault::from
 *     Fault::from(3)                                             the one whose parameter takes an i64
 *     f()?  in a function that yields Result<_, Fault>           … Err(e) => return Err(Fault::from(e))
 *
 * Methods of one name come from different impls of a trait; which one is meant follows from the types of the
 * arguments alone, never from what is wanted. A parameter of the trait in a method that an impl takes over is
 * written out when the impl is declared.
 */

#include "language/front/check_call.h"
#include "language/front/check_choose.h"
#include "language/front/check_generic.h"
#include "language/front/check_iterator.h"
#include "language/front/check_place.h"
#include "language/front/check_tensor.h"
#include "language/front/check_walk.h"
#include "language/syntax/lexer.h"
#include "language/types/check_context.h"
#include "language/types/check_dyn_types.h"
#include "language/types/check_fits.h"
#include "language/types/check_scopes.h"
#include "language/types/check_view.h"
#include "language/types/check_written.h"

/* ---- which one is meant ------------------------------------------------------------------------ */

static bool names_closure(const checker *c, const expr *e) {
    const symbol *s = e->kind == EXPR_NAME && e->name.scope == NULL ? check_find(c, e->name.name) : NULL;
    const type *t = s == NULL || s->binding == NULL ? NULL : s->binding->type;
    return t != NULL && t->kind == TYPE_STRUCT && t->structure->closure != NULL;
}

/* |c| …, a variable that holds one, char::is_alphabetic. */
static bool is_function(const checker *c, const expr *e) {
    if (e->type == NULL &&
        (e->kind == EXPR_CLOSURE || (e->kind == EXPR_NAME && e->name.scope != NULL && e->name.name[0] >= 'a')))
        return true;
    while (e->kind == EXPR_UNARY && e->unary.op == UNARY_REFERENCE)
        e = e->unary.operand;
    return names_closure(c, e);
}

static bool has_own_type(const expr *e) {
    return (e->kind == EXPR_NAME && e->name.scope == NULL) || e->kind == EXPR_FIELD || e->kind == EXPR_METHOD ||
           e->kind == EXPR_INDEX || e->kind == EXPR_CALL || e->kind == EXPR_TRY;
}

/* [a.clone(), b]: what the first is says whether they are lists. */
static void check_first_named(checker *c, expr *list) {
    while (list->kind == EXPR_ARRAY && list->list.count > 0 && list->type == NULL &&
           list->list.items[0]->type == NULL) {
        expr **first = &list->list.items[0];
        if (has_own_type(*first)) {
            check_keep_reference(*first);
            check_expr(c, first, NULL);
            return;
        }
        list = *first;
    }
}

/* Checks what has a type of its own, whatever is wanted. */
static offer offer_of(checker *c, expr **slot) {
    const expr *e = *slot;
    if (is_function(c, e))
        return (offer){.kind = OFFER_FUNCTION};
    if (check_free_literal(e)) {
        const type *t = e->type == NULL ? NULL : type_resolve(c->types, e->type);
        return (offer){.kind = (t != NULL ? type_is_float(t) : offer_is_real(e)) ? OFFER_REAL : OFFER_WHOLE};
    }
    if (e->type == NULL && e->kind == EXPR_ARRAY)
        check_first_named(c, *slot);
    if (e->type == NULL && (e->kind == EXPR_ARRAY || e->kind == EXPR_TUPLE))
        return (offer){.kind = e->kind == EXPR_ARRAY ? OFFER_BRACKET : OFFER_TUPLE, .e = e};
    if (e->type == NULL && e->kind == EXPR_RANGE)
        return (offer){.kind = OFFER_UNKNOWN};
    if (e->type == NULL)
        check_expr(c, slot, NULL);
    return (offer){.kind = OFFER_TYPE, .type = (*slot)->type};
}

form check_choose(checker *c, const choice *of, expr *e) {
    const uint32_t count = e->call.arg_count;
    offer *offers = CHECK_ARRAY(c, offer, count + 1);
    const bool several = check_count_forms(c, of, count) > 1;
    const bool own = of->written != NULL && of->written->span.file != c->tree->prelude;
    for (uint32_t i = 0; i < count && several; i++) {
        expr **arg = &e->call.args[i];
        if (own && (*arg)->kind == EXPR_RANGE && (*arg)->type == NULL) /* Index<Range<usize>> beside Index<usize> */
            check_range_value(c, arg, NULL);
        offers[i] = offer_of(c, arg);
    }
    return check_choose_offered(c, of, offers, count);
}

/* ---- what a call leaves out --------------------------------------------------------------------- */

static void fill_in_defaults(checker *c, expr *e, const function_item *f) {
    uint32_t first = e->call.receiver != NULL && f->has_self, count = e->call.arg_count;
    expr **args = CHECK_ARRAY(c, expr *, f->parameter_count + count + 1);
    for (uint32_t i = 0; i < count; i++) {
        args[i] = e->call.args[i];
        if (args[i]->kind == EXPR_TUPLE && args[i]->type == NULL) /* a kernel of (3, 3) */
            args[i]->kind = EXPR_ARRAY;
    }
    while (first + count < f->parameter_count && f->parameters[first + count]->otherwise != NULL) {
        args[count] = check_new(c, EXPR_INT, e->span, NULL);
        *args[count] = *f->parameters[first + count]->otherwise;
        args[count]->span = e->call.name_span;
        count++;
    }
    e->call.args = args;
    e->call.arg_count = count;
}

/* x.fmod(2.0): numbers where the operation takes tensors are tensors of rank 0. */
static void numbers_to_tensors(checker *c, expr *e, const function_item *f) {
    uint32_t first = e->call.receiver != NULL && f->has_self;
    for (uint32_t i = 0; i < e->call.arg_count && first + i < f->parameter_count; i++)
        if (check_wants_tensor(c, f, first + i))
            check_number_beside(c, &e->call.args[i], first == 1 ? e->call.receiver->type : NULL);
}

/* step([&mut w, &mut b]) */
static void mark_lists(expr *e) {
    for (uint32_t i = 0; i < e->call.arg_count; i++)
        if (e->call.args[i]->kind == EXPR_ARRAY)
            e->call.args[i]->list.to_library = true;
}

function_item *check_choose_overload(checker *c, expr *e, struct_item *owner, function_item *f) {
    bool ours = f->span.file == c->tree->prelude, member = f->owner != NULL && f->owner->type != NULL;
    bool of_tensor = ours && member && f->owner->type->kind == TYPE_TENSOR;
    if (of_tensor)
        check_lent_lists(e);
    if (ours)
        mark_lists(e);
    choice of = {.method = e->call.receiver != NULL, .owner = owner, .written = f, .views = e->call.views};
    if (c->tree->has_reference_impls && f->impl != NULL && check_any_owner(c) != NULL && f->owner != check_any_owner(c))
        of.of_any = check_find_method(c, check_any_owner(c), f->name);
    if (ours ? member : check_has_overloads(c, f) || of.of_any != NULL)
        f = check_choose(c, &of, e).written;
    if (of_tensor)
        numbers_to_tensors(c, e, f);
    if (of_tensor || (ours && e->call.arg_count + f->has_self < f->parameter_count))
        fill_in_defaults(c, e, f);
    return f;
}

/* ---- From -------------------------------------------------------------------------------------- */

/* impl From<T> for String, of the program */
static bool makes_text(checker *c, const type *t) {
    struct_item *owner = c->instances->builtin_owners[TYPE_STRING];
    const function_item *first = owner == NULL ? NULL : check_find_method(c, owner, "from");
    for (const function_item *f = first; f != NULL; f = check_next_overload(c, f, first))
        if (f->span.file != c->tree->prelude && !f->is_template && f->parameter_count == 1 &&
            f->parameters[0]->annotation != NULL && check_type(c, f->parameters[0]->annotation) == t)
            return true;
    return false;
}

const char *check_maker(checker *c, const type *t, const type *to) {
    if (to->kind == TYPE_TENSOR && ((t->kind == TYPE_VEC && !type_is_box(t)) || type_is_numeric(t)))
        return "Tensor"; /* Tensor::from(list) */
    if (to->kind == TYPE_STRING && t->kind == TYPE_STRUCT && makes_text(c, t))
        return "String";
    bool makes = to->kind == TYPE_STRUCT && to != t && (!check_is_dyn(to) || check_dyn_from(c, to, t)) &&
                 to->structure->closure == NULL && check_method_named(c, to->structure, "from") != NULL;
    return makes ? to->structure->name : NULL;
}

expr *check_from(checker *c, expr *e, const call_views *written, const type *to) {
    const char *maker = check_maker(c, type_resolve(c->types, e->type), type_resolve(c->types, to));
    expr *made = maker == NULL ? NULL : build_call(c, e->span, maker, "from", &e, 1);
    if (made != NULL)
        made->call.views = check_as_operand(c, written);
    return made;
}
