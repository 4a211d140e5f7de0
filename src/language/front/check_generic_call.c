/* check_generic_call.c: what type parameters are in a call. */
#include <string.h>

#include "language/front/check_call.h"
#include "language/front/check_closure.h"
#include "language/front/check_convert.h"
#include "language/front/check_dyn.h"
#include "language/front/check_expr.h"
#include "language/front/check_generic.h"
#include "language/front/check_iterator.h"
#include "language/front/check_text.h"
#include "language/library/library.h"
#include "language/types/check_context.h"
#include "language/types/check_dyn_types.h"
#include "language/types/check_item.h"
#include "language/types/check_variants.h"
#include "language/types/check_view.h"
#include "language/types/check_writes.h"
#include "language/types/check_written.h"

/* ---- calls ----------------------------------------------------------------------------------- */

static bool is_open_length(checker *c, const type_expr *t) {
    const type *length = check_length_argument(c, t);
    return length != NULL && length->kind == TYPE_OPEN;
}

/* Whether a length in it, or in what it is an array of, is not known yet. */
static bool has_open_length(checker *c, const type_expr *t) {
    return t->kind == TYPE_EXPR_ARRAY && (is_open_length(c, t) || has_open_length(c, t->arguments[0]));
}

/* The lengths of what a row is an array of: found is the type of such a row. */
static void decide_inner_lengths(checker *c, const type_expr *t, const type *found) {
    found = type_resolve(c->types, found);
    if (t->kind != TYPE_EXPR_ARRAY || found->kind != TYPE_VEC)
        return;
    if (is_open_length(c, t) && found->vec.length >= 0)
        check_fits(c, check_length_argument(c, t), check_number_type(c, found->vec.length));
    decide_inner_lengths(c, t->arguments[0], found->vec.element);
}

/* a: [T; N] given [1, 2, 3] says what N is. The environment is that of the type. */
static void decide_length(checker *c, const type_expr *t, expr **slot, const type_environment *outer) {
    if (!has_open_length(c, t))
        return;
    const type_environment *own = c->environment;
    c->environment = outer;
    int64_t count = check_items_of(c, slot);
    c->environment = own;
    if (count >= 0 && is_open_length(c, t))
        check_fits(c, check_length_argument(c, t), check_number_type(c, count));
    slot = check_behind(slot);
    expr *e = *slot;
    if (e->type != NULL && type_is(type_resolve(c->types, e->type), TYPE_VEC))
        decide_inner_lengths(c, t->arguments[0], type_resolve(c->types, e->type)->vec.element);
    else if (e->kind == EXPR_ARRAY && e->list.count > 0)
        decide_length(c, t->arguments[0], &e->list.items[0], outer);
    else if (e->kind == EXPR_REPEAT)
        decide_length(c, t->arguments[0], &e->repeat.value, outer);
}

/* a.f() of an `impl<const N: usize> T for [i32; N]`: the receiver says what N is. The environment is that of f. */
static void decide_own_length(checker *c, const function_item *f, expr *e) {
    const type_expr *owner = f->impl == NULL || e->call.receiver == NULL ? NULL : f->impl->owner;
    if (owner == NULL || owner->length == NULL || !is_open_length(c, owner))
        return;
    const int64_t count = check_items_of(c, &e->call.receiver);
    if (count >= 0)
        check_fits(c, check_length_argument(c, owner), check_number_type(c, count));
}

/* P { a: [1, 2, 3] }, P([1, 2, 3]) of a struct P<const N: usize>. */
struct_item *check_decide_lengths(checker *c, expr *e, struct_item *s) {
    if (s->template == NULL || !s->type->may_have_open)
        return s;
    type_environment own = {.parameters = &s->template->generics, .arguments = s->arguments};
    const type_environment *outer = c->environment;
    c->environment = &own;
    for (uint32_t i = 0; e->kind == EXPR_STRUCT && i < e->structure.init_count; i++) {
        for (uint32_t k = 0; k < s->field_count; k++)
            if (s->fields[k].annotation != NULL && strcmp(s->fields[k].name, e->structure.inits[i].name) == 0)
                decide_length(c, s->fields[k].annotation, &e->structure.inits[i].value, outer);
    }
    for (uint32_t i = 0; e->kind == EXPR_CALL && i < e->call.arg_count && i < s->field_count; i++)
        if (s->fields[i].annotation != NULL)
            decide_length(c, s->fields[i].annotation, &e->call.args[i], outer);
    c->environment = outer;
    return type_resolve(c->types, s->type)->structure;
}

/* A function that is part of the result outlives the call: it is not lent. */
static bool keeps(const function_item *f, const binding *parameter) {
    const type_expr *t = f->result_annotation;
    bool own = f->impl != NULL && !f->has_self && check_mentions(t, "Self");
    return own || check_mentions(t, parameter->annotation->name);
}

/* `&mut T` of a T that nothing bounds: what is passed is exchanged as a whole (std::mem::swap). */
static bool takes_any_place(const checker *c, const function_item *f, const binding *parameter) {
    const type_expr *t = parameter->annotation;
    for (uint32_t i = 0; t != NULL && t->is_place && t->argument_count == 0 && i < f->generics.count; i++)
        if (t->name != NULL && strcmp(t->name, f->generics.items[i].name) == 0)
            return f->generics.items[i].bound_count == 0 || f->span.file == c->tree->prelude;
    return false;
}

static bool holds_reference(checker *c, const expr *place) {
    if (place->type != NULL || place->is_followed)
        return false;
    if (place->kind == EXPR_NAME)
        return check_names_place(c, place);
    const bool element = place->kind == EXPR_INDEX && place->index.count == 1 &&
                         check_is_harmless(place->index.base, 0) && check_is_harmless(place->index.indices[0], 0);
    const bool field = place->kind == EXPR_FIELD || place->kind == EXPR_TUPLE_FIELD;
    if (!element && !(field && check_is_harmless(place, 0)))
        return false;
    expr *probe = check_copy_place(c, place);
    probe->is_kept = true;
    check_expr(c, &probe, NULL);
    return type_is_reference(probe->type) && !type_is_slice(probe->type);
}

/* swap(&mut r, &mut q) of references: what they refer to would be exchanged. */
static bool exchanges_references(checker *c, const expr *e, const function_item *f, const binding *parameter) {
    if (e->kind != EXPR_UNARY || e->unary.op != UNARY_REFERENCE || !e->unary.is_mutable ||
        e->span.file == c->tree->prelude || !takes_any_place(c, f, parameter) || !holds_reference(c, e->unary.operand))
        return false;
    source_span span = e->unary.operand->span;
    const char *text = check_printf(c, "%.*s", (int)span.length, span.file->text + span.offset);
    diagnostic *d = diagnostics_say(c->diagnostics, span, SAY(reference_to_reference_is_exchanged), text);
    diagnostics_note(c->diagnostics, d, (source_span){0},
                     "`&mut *%s` passes the place that it refers to; `%s = &mut …` makes it another reference", text,
                     text);
    return true;
}

/* An item of a tensor of whole numbers is divided as a number, by a generic function as where it is written. */
static void whole_element_as_number(checker *c, expr **slot) {
    const type *t = type_resolve(c->types, (*slot)->type);
    const type *element = t->kind == TYPE_TENSOR && t->tensor.rank == 0 ? t->tensor.element : NULL;
    if (element != NULL && (type_is_integer(element) || element->kind == TYPE_BOOL) && check_may_be_element(*slot))
        check_coerce(c, slot, element, NULL);
}

static void check_argument(checker *c, expr *call, expr **slot, const function_item *f, const binding *parameter,
                           const type_environment *e) {
    if (exchanges_references(c, *slot, f, parameter)) {
        check_make_error(c, *slot);
        return;
    }
    if (check_refuse_shared(c, *slot, parameter))
        return;
    const type_environment *outer = c->environment;
    const type_expr *bound = check_function_bound(f, parameter);
    if (bound != NULL && f->span.file != c->tree->prelude)
        check_items_decide(c, e);
    c->environment = e;
    if (parameter->annotation != NULL)
        decide_length(c, parameter->annotation, slot, outer);
    const type *wanted = parameter->annotation == NULL ? NULL
                         : parameter->by_reference     ? check_part_type(c, parameter->annotation)
                                                       : check_type(c, parameter->annotation);
    if (parameter->annotation != NULL && !parameter->annotation->is_place)
        check_keep_reference(*slot);
    bool self = f->has_self && parameter == f->parameters[0] && e->self != NULL;
    if (self && e->self->type != NULL && type_is_numeric(e->self->type))
        wanted = e->self->type; /* u64::pow(2, 63) */
    closure_signature signature = {0};
    if (bound != NULL)
        signature = check_closure_signature(c, bound);
    c->environment = outer;
    if (f->span.file == c->tree->prelude && check_takes_iterator(f, parameter))
        check_as_iterator(c, slot);
    check_items_as_argument(c, slot, f, parameter);
    if (bound != NULL && f->span.file != c->tree->prelude)
        check_view_bound(c, slot, bound, e);
    if (bound != NULL) {
        c->around->lends_to = keeps(f, parameter) ? NULL : call;
        check_function_value(c, slot, &signature);
        c->around->lends_to = NULL;
    } else {
        const type *wish = wanted == NULL ? NULL : type_resolve(c->types, wanted);
        if (check_comes_back(parameter)) /* f(&mut v[a..b]) */
            check_lend_place(c, call, slot, wish);
        const bool any = wish != NULL && wish->kind == TYPE_OPEN;
        if (any)
            check_unit_value(c, slot);
        const bool lent = wish != NULL && check_comes_back(parameter) && check_is_dyn(wish);
        check_expr(c, slot, any || lent ? NULL : wish);
        if (lent)
            check_dyn_lend(c, call, slot, wish);
        if (any)
            check_as_unit(c, slot);
        if (any && f->span.file != c->tree->prelude)
            whole_element_as_number(c, slot);
    }
    if (wanted != NULL && f->span.file == c->tree->prelude && type_is(type_resolve(c->types, wanted), TYPE_STRING) &&
        type_is(type_resolve(c->types, (*slot)->type), TYPE_CHAR)) /* s.find('c') */
        *slot = check_text_of(c, *slot, 0);
    const type *list = wanted != NULL && f->span.file == c->tree->prelude ? type_resolve(c->types, wanted) : NULL;
    if (list != NULL && list->kind == TYPE_VEC && !type_is_box(list)) /* v.chain(Some(3)): what can be gone over */
        check_as_list(c, slot);
    if (wanted != NULL && check_dyn_decides(c, e, parameter->annotation, (*slot)->type))
        wanted = check_type_in(c, e, parameter->annotation);
    const coerce_reason why = {parameter->span, "the parameter is declared here"};
    if (wanted != NULL && check_comes_back(parameter))
        check_coerce_lent(c, slot, wanted, &why);
    else if (wanted != NULL)
        check_coerce_branch(c, check_leads_on(c, slot, parameter, wanted), wanted, &why);
}

static bool is_closure(expr *e) {
    return (*check_behind(&e))->kind == EXPR_CLOSURE;
}

/* An expected struct of the same kind, or number, says what the result holds. */
static void use_expectation(checker *c, const type *result, const type *expected) {
    if (expected == NULL)
        return;
    result = type_resolve(c->types, result);
    expected = type_resolve(c->types, expected);
    bool same = result->kind == expected->kind &&
                (result->kind != TYPE_STRUCT || (result->structure->template == expected->structure->template));
    if (result->may_have_open && (same || (result->kind == TYPE_OPEN && type_is_numeric(expected))))
        check_fits(c, result, expected);
}

static bool has_wrong_argument(const expr *e) {
    for (uint32_t i = 0; i < e->call.arg_count; i++)
        if (e->call.args[i]->type->kind == TYPE_ERROR)
            return true;
    return false;
}

static bool holds_length(const type_expr *t) {
    bool holds = t->kind == TYPE_EXPR_ARRAY && t->length != NULL;
    for (uint32_t i = 0; !holds && i < t->argument_count; i++)
        holds = holds_length(t->arguments[i]);
    return holds;
}

/* Numbers that nothing has decided up to here. */
static void decide_numbers(checker *c, const type *t) {
    t = type_resolve(c->types, t);
    if (type_is_open_number(t))
        type_decide(t, type_settle_number(c->types, t));
    else if (t->kind == TYPE_VEC && t->may_have_open)
        decide_numbers(c, t->vec.element);
    for (uint32_t i = 0; t->kind == TYPE_TUPLE && i < t->tuple.count; i++)
        decide_numbers(c, t->tuple.items[i]);
}

/* As the uses of the result want it (check_infer_yields.c). */
static void use_wanted(checker *c, const expr *e, const function_item *f, const type_environment *environment) {
    const uint32_t count = f->generics.count, more = check_type_count(environment->more);
    const type **wanted = e->call.pending_arguments;
    for (uint32_t i = 0; wanted != NULL && i < count + more; i++)
        if (wanted[i] != NULL)
            check_fits(c, i < count ? environment->arguments[i] : environment->more_arguments[i - count], wanted[i]);
}

/* Before f yields any iterator or function of such types: which ones there are is known by these. */
static void decide_all_numbers(checker *c, const function_item *f, const type_environment *e) {
    for (uint32_t i = 0; i < f->generics.count; i++)
        decide_numbers(c, e->arguments[i]);
    for (uint32_t i = 0; i < check_type_count(e->more); i++)
        decide_numbers(c, e->more_arguments[i]);
}

/* show(&d) of `fn show<T: Tr>(x: T)`: T is a reference. NULL: no T is one. */
static const bool *by_reference(checker *c, const expr *e, const function_item *f, type_expr *const *types,
                                uint32_t written, uint32_t first) {
    bool *all = NULL;
    for (uint32_t k = 0; c->tree->has_reference_impls && f->span.file != c->tree->prelude && k < f->generics.count;
         k++) {
        bool is = k < written && (types[k]->is_shared || types[k]->is_place);
        for (uint32_t i = 0; i < e->call.arg_count && first + i < f->parameter_count; i++) {
            const type_expr *t = f->parameters[first + i]->annotation;
            is |= t != NULL && t->kind == TYPE_EXPR_NAME && strcmp(t->name, f->generics.items[k].name) == 0 &&
                  check_view(c, e->call.args[i]).references > (uint32_t)(t->is_shared || t->is_place);
        }
        all = is && all == NULL ? CHECK_ARRAY(c, bool, f->generics.count) : all;
        if (is)
            all[k] = true;
    }
    return all;
}

void check_template_call(checker *c, expr *e, function_item *f, struct_item *owner, const type *expected) {
    type_environment environment = check_environment_new(c, f);
    const type_environment *outer = c->environment;
    environment.self = owner;
    uint32_t first = e->call.receiver != NULL && f->has_self, written = 0;
    type_expr **types = e->call.type_arguments;
    if (e->call.callee != NULL && e->call.callee->kind == EXPR_NAME && f->owner_name == NULL) {
        types = e->call.callee->name.arguments;
        written = e->call.callee->name.argument_count;
    } else {
        written = e->call.type_argument_count;
    }
    for (uint32_t i = 0; i < written && i < f->generics.count; i++) {
        if (f->generics.items[i].name[0] == '<')
            break; /* partition::<Vec<_>, _>(f): what Rust calls them is nothing here */
        environment.arguments[i] = check_held_type(c, types[i]);
    }
    environment.by_reference = by_reference(c, e, f, types, written, first);
    if (owner != NULL)
        check_impl_fits(c, f, owner, &environment);
    check_lends_references(c, f);
    c->environment = &environment;
    decide_own_length(c, f, e);
    const bool is_dyn = f->result_annotation != NULL && f->span.file != c->tree->prelude &&
                        check_yields_dyn(f->result_annotation);
    const type *result = f->result_annotation == NULL ? check_scalar(c, TYPE_VOID)
                                                      : check_part_type(c, f->result_annotation);
    const bool lengths = f->result_annotation != NULL && holds_length(f->result_annotation);
    if (lengths && expected != NULL) { /* let a: [i32; 2] = f(); */
        decide_inner_lengths(c, f->result_annotation, expected);
        result = check_part_type(c, f->result_annotation);
    }
    c->environment = outer;
    if (is_dyn)
        use_wanted(c, e, f, &environment);
    use_expectation(c, result, expected);
    for (uint32_t i = 0; i < 2 * e->call.arg_count; i++) { /* closures behind what says their parameters' types */
        const uint32_t at = i % e->call.arg_count;
        if (is_closure(e->call.args[at]) != (i >= e->call.arg_count))
            continue;
        if (first + at < f->parameter_count)
            check_argument(c, e, &e->call.args[at], f, f->parameters[first + at], &environment);
        else
            check_expr(c, &e->call.args[at], NULL);
    }
    if (is_dyn)
        decide_all_numbers(c, f, &environment);
    if (is_dyn && owner != NULL && owner->type != NULL)
        owner = environment.self = check_owner_of(c, type_resolve(c->types, owner->type));
    if (lengths || (f->result_annotation != NULL && type_resolve(c->types, result)->may_have_open)) {
        c->environment = &environment; /* T::Item and [T; N], now that T and N are known */
        const type *known = check_part_type(c, f->result_annotation);
        check_fits(c, result, known);
        result = lengths || (is_dyn && check_is_dyn(known)) ? known : result;
        c->environment = outer;
    }
    result = type_resolve(c->types, result);
    if (result->kind == TYPE_TENSOR && result->may_have_open) { /* nothing says what it holds */
        const type *held = type_resolve(c->types, result->tensor.element);
        bool whole = type_is_open_number(held) && type_is_integer(held);
        check_fits(c, type_tensor(c->types, check_scalar(c, whole ? TYPE_I64 : TYPE_F32), -1), result);
    }
    e->type = type_resolve(c->types, result);
    bool whole = first == (uint32_t)f->has_self;
    if (whole ? !check_count_of(c, e, f) : !check_count(c, e, f->qualified, f->parameter_count - first, f->span))
        return;
    if (has_wrong_argument(e)) { /* said; an instance would only say it again inside */
        check_make_error(c, e);
        return;
    }
    c->instances->refused = false;
    function_item *made = check_instance_of(c, f, owner, &environment, e->span);
    if (c->instances->refused) {
        check_make_error(c, e);
        return;
    }
    e->call.pending = made == NULL ? f : NULL;
    if (made != NULL) {
        check_finish_call(c, e, made);
        return;
    }
    uint32_t count = f->generics.count, more = check_type_count(environment.more);
    e->call.pending_arguments = CHECK_ARRAY(c, const type *, count + more + 1);
    memcpy(e->call.pending_arguments, environment.arguments, count * sizeof(const type *));
    if (more > 0)
        memcpy(e->call.pending_arguments + count, environment.more_arguments, more * sizeof(const type *));
    e->call.pending_owner = owner;
    e->call.by_reference = environment.by_reference;
    check_finish_call(c, e, f);
}

/* After the body: whatever is open now is never decided. */
void check_pending_call(checker *c, expr *e) {
    function_item *f = e->call.pending;
    struct_item *owner = e->call.pending_owner;
    type_environment environment = {.parameters = &f->generics,
                                    .more = f->impl == NULL ? NULL : &f->impl->generics,
                                    .arguments = e->call.pending_arguments,
                                    .by_reference = e->call.by_reference,
                                    .more_arguments = e->call.pending_arguments + f->generics.count};
    environment.self = owner;
    e->call.pending = NULL;
    if (type_resolve(c->types, e->type)->kind == TYPE_ERROR) /* what was to decide is refused already */
        return;
    if (owner != NULL && owner->type != NULL) {
        owner = check_owner_of(c, type_resolve(c->types, owner->type));
        environment.self = owner;
    }
    c->instances->refused = false;
    function_item *made = check_instance_of(c, f, owner, &environment, e->span);
    if (c->instances->refused) {
        check_make_error(c, e);
        return;
    }
    if (made == NULL) {
        const char *name = f->generics.count > 0                            ? f->generics.items[0].name
                           : f->impl != NULL && f->impl->generics.count > 0 ? f->impl->generics.items[0].name
                                                                            : "T";
        diagnostic *d = diagnostics_say(c->diagnostics, e->call.name_span, SAY(nothing_says_what_of_is), name,
                                        f->qualified);
        diagnostics_note(c->diagnostics, d, f->span, "it is declared here");
        check_make_error(c, e);
        return;
    }
    if (check_is_dyn(made->result) && !check_is_dyn(type_resolve(c->types, e->type))) {
        diagnostics_say(c->diagnostics, e->call.name_span, SAY(nothing_says_what_of_is),
                        f->generics.count > 0 ? f->generics.items[0].name : "T", f->qualified);
        check_make_error(c, e);
        return;
    }
    check_finish_pending(c, e, made);
}

void check_receiver_is(checker *c, expr **arg, const type *owner) {
    if ((*arg)->type == NULL)
        check_expr(c, arg, NULL);
    const type *t = type_resolve(c->types, (*arg)->type);
    while (type_is_box(t) || (type_is_reference(t) && !type_is_slice(t)))
        t = type_resolve(c->types, t->vec.element);
    if (t->kind == TYPE_STRUCT && !check_fits(c, t, owner))
        check_coerce(c, arg, owner, NULL);
}
