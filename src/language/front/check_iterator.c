/* check_iterator.c: what an iterator is: a value whose type has `next`, and what it has by that.
 *
 *     fib.map(f)            the library's method of any iterator (trait __Iterator), made for Fib where it is first
 *                           asked for
 *     I::Item               what `next` of I yields, where no `type Item` says it
 *     for p in fib { … }    { let mut <it> = fib; loop { match <it>.next() { Some(p) => { … } _ => break } } }
 *     for p in &mut it      the same; a place that may be written gives its elements itself
 *     fib.zip(list)         what is asked for elements is an iterator: __items(list)
 *     fib.sorted()          a method of lists works on the list of all elements
 *
 * What must stay true (tests/golden/lang_iterators_lazy): `next` is called as often, and when, the program asks for an
 * element; never in advance.
 */
#include <string.h>

#include "language/front/check_call.h"
#include "language/front/check_convert.h"
#include "language/front/check_expr.h"
#include "language/front/check_iterator.h"
#include "language/front/check_place.h"
#include "language/library/library.h"
#include "language/types/check_context.h"
#include "language/types/check_dyn_types.h"
#include "language/types/check_instances.h"
#include "language/types/check_scopes.h"
#include "language/types/check_variants.h"
#include "language/types/check_view.h"
#include "language/types/check_written.h"

/* The library's names that are known here. */
static const char iterator_trait[] = "__Iterator", iterable_bound[] = "IntoIterator", made_of_list[] = "__items",
                  made_of_start[] = "__range_from", all_of_it[] = "__list";

/* ---- methods ----------------------------------------------------------------------------------- */

const function_item *check_iterators_method(const checker *c, const char *name) {
    return check_method_of_trait(c, iterator_trait, name);
}

/* Its elements can be asked for from its end: it has `next_back`, and so have the iterators that it is made of. */
static bool goes_back(checker *c, struct_item *owner) {
    if (check_method_named(c, owner, "next_back") == NULL)
        return false;
    const bool library = owner->template != NULL && owner->span.file == c->tree->prelude;
    for (uint32_t i = 0; library && i < owner->template->generics.count; i++) {
        const type *t = type_resolve(c->types, owner->arguments[i]);
        if (t->kind == TYPE_STRUCT && check_is_iterator(c, t) && !goes_back(c, t->structure))
            return false;
    }
    return true;
}

function_item *check_iterator_method(checker *c, struct_item *owner, const char *name) {
    const bool back = library_says(LIBRARY_goes_back, name) && goes_back(c, owner);
    function_item *f = check_method_of_trait(c, iterator_trait, back ? check_printf(c, "__%s", name) : name);
    function_item *next = f == NULL || owner->type == NULL ? NULL : check_next_of(c, owner->type);
    if (next == NULL || next->owner == NULL)
        return NULL;
    function_item *made = check_copy_function(c, f);
    made->name = name;
    made->owner_name = next->owner_name;
    made->owner_span = next->owner_span;
    made->qualified = check_printf(c, "%s::%s", names_plain(c->names, next->owner_name), name);
    made->impl = next->impl;
    made->owner = owner->template != NULL ? owner->template : owner;
    made->is_template = true;
    made->index = c->tree->function_count;
    CHECK_PUSH(c, c->tree->functions, c->tree->function_count, c->tree->function_capacity, made);
    check_add_method(c, made);
    return made;
}

bool check_has_steps(checker *c, const type *t, const char *name) {
    t = type_resolve(c->types, t);
    const function_item *f = name != NULL && t->kind == TYPE_STRUCT ? check_method_named(c, t->structure, name) : NULL;
    return check_is_iterator(c, t) && (f == NULL || f->span.file == c->tree->prelude);
}

bool check_refuse_beside_iterator(checker *c, expr *e, const type *t, const function_item *f) {
    const binding *self = f->has_self ? f->parameters[0] : NULL;
    if (e->call.views == NULL || e->call.views->receiver.references > 0 || self == NULL ||
        !(self->is_lent || self->is_shared) || f->impl == NULL || f->impl->trait_name != NULL ||
        f->span.file == c->tree->prelude || !library_says(LIBRARY_stage, f->name))
        return false;
    const function_item *other = check_iterators_method(c, f->name);
    if ((other != NULL && other->parameters[0]->is_lent) || !check_is_iterator(c, t))
        return false;
    diagnostic *d = diagnostics_say(c->diagnostics, e->call.name_span, SAY(is_method_of_both), f->name,
                                    check_type_text(c, t), "Iterator");
    diagnostics_note(c->diagnostics, d, f->span, "write `(&x).%s(…)` for this one, which takes a reference", f->name);
    check_lost_arguments(c, e);
    check_make_error(c, e);
    return true;
}

/* a.. as a value of its own. */
static bool range_without_end(const expr *e) {
    return e->kind == EXPR_RANGE && e->range.low != NULL && e->range.high == NULL && e->type == NULL;
}

void check_range_as_iterator(checker *c, expr **slot) {
    if (range_without_end(*slot))
        *slot = build_call(c, (*slot)->span, NULL, made_of_start, &(*slot)->range.low, 1);
}

/* A list, a range or what `into_iter` or `iter` makes an iterator of. */
void check_as_iterator(checker *c, expr **slot) {
    while ((*slot)->kind == EXPR_UNARY && (*slot)->unary.op == UNARY_REFERENCE && (*slot)->type == NULL &&
           (*slot)->unary.operand->kind == EXPR_ARRAY)
        *slot = (*slot)->unary.operand;
    (*slot)->is_vec |= (*slot)->kind == EXPR_ARRAY;
    check_range_as_iterator(c, slot);
    check_range_as_list(c, slot);
    check_expr(c, slot, NULL);
    if (!check_is_iterator(c, (*slot)->type))
        check_as_list(c, slot);
    if (type_is(type_resolve(c->types, (*slot)->type), TYPE_VEC)) {
        *slot = build_call(c, (*slot)->span, NULL, made_of_list, slot, 1);
        check_expr(c, slot, NULL);
    }
}

/* a..b where an iterator is wanted: of numbers of the type that is wanted. */
bool check_range_for(checker *c, expr **slot, const type *expected) {
    expr *e = *slot;
    const type *wish = expected == NULL ? NULL : type_resolve(c->types, expected);
    const type *item = wish != NULL && check_is_dyn(wish) && e->range.low != NULL ? check_item_of(c, wish) : NULL;
    if (item == NULL)
        return false;
    for (int i = 0; i < 2; i++) {
        expr **end = i == 0 ? &e->range.low : &e->range.high;
        if (*end != NULL)
            check_expr(c, end, item);
    }
    check_as_iterator(c, slot);
    return true;
}

/* The library's function that makes a value of a..b. */
const char *check_range_maker(const expr *e) {
    enum { BOTH, ALL, BELOW, TO, UNTIL, FROM }; /* in the order of letters */
    static const uint32_t makers[2][4] = {{ALL, FROM, BELOW, BOTH}, {ALL, FROM, UNTIL, TO}};
    const uint32_t maker = makers[e->range.inclusive][(e->range.high != NULL) * 2 + (e->range.low != NULL)];
    return maker == FROM ? made_of_start : library_nth(LIBRARY_makes_range, maker);
}

/* a..b where it is not used up. */
void check_range_value(checker *c, expr **slot, const type *expected) {
    expr *e = *slot, *ends[2] = {e->range.low != NULL ? e->range.low : e->range.high, e->range.high};
    const uint32_t count = (e->range.low != NULL) + (e->range.high != NULL);
    *slot = build_call(c, e->span, NULL, check_range_maker(e), ends, count);
    check_expr(c, slot, expected);
}

/* Names and fields, and clones of them: to be read twice. */
static bool is_named(const expr *e) {
    while (e->kind == EXPR_FIELD || (e->kind == EXPR_METHOD && e->call.arg_count == 0 &&
                                     library_said_of(LIBRARY_hands_on, e->call.name) == SAID_CLONE))
        e = e->kind == EXPR_FIELD ? e->field.base : e->call.receiver;
    return e->kind == EXPR_NAME;
}

/* r.__low()..r.__high() */
static expr *range_of_named(checker *c, expr *r, const type *t) {
    expr *range = check_new(c, EXPR_RANGE, r->span, NULL);
    const bool low = check_method_named(c, t->structure, "__low") != NULL,
               high = check_method_named(c, t->structure, "__high") != NULL;
    expr *again = r->type == NULL ? check_copy_tree(c, r) : check_copy_place(c, r);
    range->range.low = low ? build_method(c, r->span, r, "__low", NULL, 0) : NULL;
    range->range.high = high ? build_method(c, r->span, low ? again : r, "__high", NULL, 0) : NULL;
    return range;
}

bool check_part_by_range(checker *c, expr *e, const type *t) {
    if (e->index.count != 1 || !check_is_form(c, t, SAID_RANGE) || !is_named(e->index.indices[0]))
        return false;
    e->index.indices[0] = range_of_named(c, e->index.indices[0], t);
    return true;
}

/* v[f()], where f yields a range */
bool check_index_by_range(checker *c, expr **slot, const type *expected) {
    expr *e = *slot, *index = e->index.count == 1 ? e->index.indices[0] : NULL;
    if (index == NULL || index->type != NULL || check_find(c, "__ranged") == NULL ||
        (index->kind != EXPR_METHOD && index->kind != EXPR_CALL && index->kind != EXPR_INDEX))
        return false;
    check_expr(c, &index, check_scalar(c, TYPE_I64));
    e->index.indices[0] = index;
    index->is_unjudged = !check_is_form(c, type_resolve(c->types, index->type), SAID_RANGE);
    if (index->is_unjudged)
        return false;
    e->index.indices[0] = check_new_name(c, index->span, "<range>");
    check_part_by_range(c, e, type_resolve(c->types, index->type));
    e->type = NULL;
    *slot = BUILD_QUOTE(c, e->span, "{ let $$range = $0; $1 }", index, e);
    check_expr(c, slot, expected);
    return true;
}

/* Where any iterator of T is wanted, a list of T does. */
const type *check_wish_as_list(checker *c, const type *expected) {
    const type *wish = expected == NULL ? NULL : type_resolve(c->types, expected);
    const type *item = wish != NULL && check_is_dyn(wish) ? check_item_of(c, wish) : NULL;
    return item == NULL ? expected : type_vec(c->types, item);
}

static bool is_iterable(const type_expr *bound) {
    return bound->kind == TYPE_EXPR_NAME && strcmp(bound->name, iterable_bound) == 0;
}

bool check_takes_iterator(const function_item *f, const binding *parameter) {
    return check_is_bound_by(f, parameter, is_iterable);
}

void check_items_as_argument(checker *c, expr **slot, const function_item *f, const binding *parameter) {
    expr *e = *check_behind(slot);
    if (e->type != NULL || (e->kind != EXPR_RANGE && e->kind != EXPR_ARRAY) ||
        !check_is_bound_by(f, parameter, check_bounds_items))
        return;
    e->is_vec |= e->kind == EXPR_ARRAY;
    check_range_as_iterator(c, slot);
    check_range_as_list(c, slot);
}

/* list.zip(fib), list.chain(fib): what the list gives one by one, where an iterator is among the arguments. */
bool check_list_beside_iterator(checker *c, expr **slot, const type *expected) {
    expr *e = *slot;
    const function_item *f = check_method_of_trait(c, iterator_trait, e->call.name);
    for (uint32_t i = 0; f != NULL && i < e->call.arg_count && i + 1 < f->parameter_count; i++) {
        if (!check_takes_iterator(f, f->parameters[i + 1]))
            continue;
        expr **arg = &e->call.args[i];
        check_range_as_iterator(c, arg);
        if ((*arg)->kind == EXPR_RANGE || (*arg)->kind == EXPR_ARRAY)
            continue;
        check_expr(c, arg, NULL);
        if (check_is_iterator(c, (*arg)->type)) {
            check_as_iterator(c, &e->call.receiver);
            check_again(c, slot, expected);
            return true;
        }
    }
    return false;
}

/* ---- lists of all elements ----------------------------------------------------------------------- */

/* A struct with len() and get(i) (Iterable): (0..s.len()).map(|i| s.get(i)). */
static bool list_of_parts(checker *c, expr **slot, const type *t) {
    const function_item *len = check_method_named(c, t->structure, "len"),
                        *get = check_method_named(c, t->structure, "get");
    if (len == NULL || get == NULL || !len->has_self || !get->has_self || len->parameter_count != 1 ||
        get->parameter_count != 2)
        return false;
    *slot = check_numbered_parts(c, *slot);
    const char *outer = c->around->receiver_of;
    c->around->receiver_of = all_of_it; /* all are asked for at once */
    check_expr(c, slot, NULL);
    c->around->receiver_of = outer;
    return true;
}

bool check_as_list(checker *c, expr **slot) {
    const type *t = check_iterated(c, (*slot)->type);
    source_span span = (*slot)->span;
    if (t->kind != TYPE_STRUCT || t->structure->closure != NULL)
        return false;
    if (check_is_iterator(c, t)) {
        *slot = build_method(c, span, *slot, all_of_it, NULL, 0);
        check_expr(c, slot, NULL);
        return true;
    }
    for (uint32_t i = 0; i < 2; i++) {
        const function_item *f = check_method_named(c, t->structure, library_nth(LIBRARY_makes_iterator, i));
        if (f != NULL && f->has_self && f->parameter_count == 1) {
            *slot = build_method(c, span, *slot, library_nth(LIBRARY_makes_iterator, i), NULL, 0);
            check_expr(c, slot, NULL);
            const type *made = type_resolve(c->types, (*slot)->type);
            return made->kind == TYPE_VEC || check_as_list(c, slot);
        }
    }
    return list_of_parts(c, slot, t);
}

/* ---- for ------------------------------------------------------------------------------------------ */

/* The iterator that the program's own `into_iter` or `iter` of a struct makes, if it is one. */
static void ask_for_iterator(checker *c, expr **source, const call_views *written) {
    const type *t = check_iterated(c, (*source)->type);
    for (uint32_t i = 0; i < 2 && t->kind == TYPE_STRUCT && t->structure->closure == NULL; i++) {
        const char *name = library_nth(LIBRARY_makes_iterator, i);
        const function_item *f = check_method_named(c, t->structure, name);
        if (f != NULL && f->has_self && f->parameter_count == 1 && f->span.file != c->tree->prelude) {
            *source = build_method(c, (*source)->span, *source, name, NULL, 0);
            (*source)->call.views = written->has_receiver ? check_views_kept(c, *written) : NULL;
            check_expr(c, source, NULL);
            return;
        }
    }
}

const function_item *check_iterator_of_places(checker *c, const type *t) {
    const char *name = library_nth(LIBRARY_makes_iterator, 0);
    if (name != NULL)
        for (const function_item *f = check_method_named(c, t->structure, name); f != NULL;
             f = check_next_overload(c, f, f))
            if (f->impl != NULL && f->impl->owner->is_place)
                return f;
    return NULL;
}

bool check_found_iterator(checker *c, expr **source, bool is_reference, const call_views *written) {
    if (!check_may_be_iterators(c) && !is_reference)
        return false;
    if (!check_is_iterator(c, (*source)->type))
        ask_for_iterator(c, source, written);
    return check_is_iterator(c, (*source)->type);
}

void check_loop_by_next(checker *c, expr **slot, bool by_name) {
    expr *e = *slot, **source = &e->loop->iterable;
    source_span span = (*source)->span;
    char *it = check_printf(c, "<it %u>", c->text_count), *one = check_printf(c, "<one %u>", c->text_count++);
    block_builder b = build_block(c, e->span), body = build_block(c, e->span);
    const binding *root = check_is_place(*source) ? check_root(*source) : NULL;
    /* A variable's iterator moves into the loop, which can be seen where it ends with it. */
    bool moves = by_name && c->tree->has_destructors && root != NULL && root->kind == BINDING_LET &&
                 !type_is_reference(type_resolve(c->types, (*source)->type));
    bool in_place = root != NULL && !moves && (root->is_mutable || root->kind == BINDING_SELF);
    if (!in_place)
        build_let(&b, it, true, *source);
    expr *loop = check_new(c, EXPR_LOOP, e->span, NULL);
    expr *from = in_place ? check_alias_copy(c, *source) : check_new_name(c, span, it);
    expr *inner = check_new(c, EXPR_BLOCK, e->loop->body->span, NULL);
    inner->block = e->loop->body;
    inner = build_bound(c, e->loop->pattern, check_new_name(c, e->loop->pattern->span, one), inner);
    build_stmt(&body, BUILD_QUOTE(c, span, "match $0.next() { Some($1) => $2, _ => break }", from,
                                  check_new_name(c, span, one), inner));
    loop->loop = CHECK_ARRAY(c, loop_expr, 1);
    loop->loop->label = e->loop->label;
    loop->loop->body = body.block;
    build_stmt(&b, loop);
    *slot = build_finish(&b, NULL);
    check_expr(c, slot, check_scalar(c, TYPE_VOID));
}

/* (a..b).rev(): the numbers as a Vec, of the type of its ends. */
void check_range_as_list(checker *c, expr **slot) {
    expr *range = *slot;
    if (range->kind != EXPR_RANGE || range->range.low == NULL || range->range.high == NULL)
        return;
    bool letters = range->range.low->kind == EXPR_CHAR;
    if (letters) {
        check_expr(c, &range->range.low, NULL);
        check_cast_to(c, &range->range.low, check_scalar(c, TYPE_U32));
        check_expr(c, &range->range.high, check_scalar(c, TYPE_CHAR));
        check_coerce(c, &range->range.high, check_scalar(c, TYPE_CHAR), NULL);
        check_cast_to(c, &range->range.high, check_scalar(c, TYPE_U32));
    }
    check_range(c, range, NULL);
    expr *ends[2] = {range->range.low, range->range.high};
    *slot = build_call(c, range->span, NULL, range->range.inclusive ? "__range_to" : "__range", ends, 2);
    if (letters)
        *slot = check_map_cast(c, *slot, "char");
}

/* (a..b).contains(x) */
void check_range_contains(checker *c, expr **slot) {
    const expr *e = *slot, *ends = e->call.receiver;
    const source_span span = e->span;
    expr *low = ends->range.low == NULL ? check_new_bool(c, span, true)
                                        : BUILD_QUOTE(c, span, "$$x >= $0", ends->range.low);
    expr *high = ends->range.high == NULL
                     ? check_new_bool(c, span, true)
                     : BUILD_QUOTE(c, span, ends->range.inclusive ? "$$x <= $0" : "$$x < $0", ends->range.high);
    *slot = BUILD_QUOTE(c, span, "{ let $$x = $0; $1 && $2 }", e->call.args[0], low, high);
    check_expr(c, slot, NULL);
}

/* v.chain(a..b), v.zip(1..): the numbers as a Vec. */
void check_ranges_as_lists(checker *c, expr *e, const type *t) {
    const bool put = library_said_of(LIBRARY_lends, e->call.name) == SAID_PUT; /* it is an element */
    for (uint32_t i = 0; t->kind == TYPE_VEC && !put && i < e->call.arg_count; i++) {
        expr *range = e->call.args[i];
        if (range->kind != EXPR_RANGE || range->range.low == NULL)
            continue;
        if (range->range.high == NULL && library_said_of(LIBRARY_stage, e->call.name) == SAID_ZIP) {
            e->call.name = "__zip_from";
            e->call.args[i] = range->range.low;
        } else {
            check_range_as_list(c, &e->call.args[i]);
        }
    }
}

/* range, range_mut of what has an order. */
static void name_part(checker *c, expr *e, const char *part) {
    e->call.name = library_says(LIBRARY_exclusive, e->call.name) ? check_printf(c, "%s_mut", part) : part;
}

/* drain(a..b), get(a..b): two numbers. */
void check_split_range(checker *c, expr *e, const type *t) {
    expr *range = e->call.arg_count > 0 ? e->call.args[0] : NULL;
    const bool splits = library_says(LIBRARY_takes_range, e->call.name);
    bool gets = library_said_of(LIBRARY_of_lists, e->call.name) == SAID_GET && e->call.arg_count == 1 &&
                (t->kind == TYPE_VEC || t->kind == TYPE_STRING);
    function_item *own = t->kind == TYPE_STRUCT ? check_method_named(c, t->structure, e->call.name) : NULL;
    if ((!splits && !gets) || range == NULL || (own != NULL && own->span.file != c->tree->prelude))
        return;
    if (range->kind == EXPR_NAME && range->type == NULL && check_find(c, "__ranged") != NULL) {
        check_expr(c, &range, NULL);
        const type *of = type_resolve(c->types, range->type);
        e->call.args[0] = check_is_form(c, of, SAID_RANGE) ? range_of_named(c, range, of) : range;
        range = e->call.args[0];
    }
    if (range->kind != EXPR_RANGE)
        return;
    bool all = range->range.low == NULL && range->range.high == NULL && t->kind == TYPE_STRUCT;
    bool ordered = t->kind == TYPE_STRUCT && check_method_named(c, t->structure, "__from") != NULL;
    bool half = !all && ordered && (range->range.low == NULL || range->range.high == NULL);
    if (half) {
        e->call.args[0] = range->range.low != NULL ? range->range.low : range->range.high;
        name_part(c, e, range->range.low != NULL ? "__from" : range->range.inclusive ? "__until_with" : "__until");
        return;
    }
    const bool last = ordered && !all && range->range.inclusive; /* keys need not have a next one */
    const uint32_t rest = e->call.arg_count - 1;                 /* splice(a..b, items) */
    expr **args = CHECK_ARRAY(c, expr *, 2 + rest);
    memcpy(args + 2, e->call.args + 1, rest * sizeof *args);
    args[0] = range->range.low != NULL ? range->range.low : check_new_int(c, range->span, 0);
    args[1] = range->range.high != NULL
                  ? range->range.high
                  : build_method(c, range->span, check_alias_copy(c, e->call.receiver), "len", NULL, 0);
    if (range->range.inclusive && !last)
        args[1] = check_new_binary(c, BINARY_ADD, args[1], check_new_int(c, range->span, 1), NULL);
    e->call.args = args;
    e->call.arg_count = all ? 0 : 2 + rest;
    if (ordered && !all)
        name_part(c, e, last ? "__between_with" : "__between");
    else if (gets || library_said_of(LIBRARY_function, e->call.name) == SAID_RANGE)
        e->call.name = all ? "iter" : "__between";
}
