/* check_infer_yields.c: functions that yield any iterator or any function of a type that the call decides.
 *
 *     fn count<T: …>(from: T) -> impl Iterator<Item = T>   let v: Vec<u8> = count(1).take(3).collect();   T: u8
 *     fn adder<T: …>(n: T) -> Box<dyn Fn(T) -> T>          apply(adder(2))        T: the number that apply asks for
 *
 * Which iterators and functions of a type there are is known by that type, so the check has to have it when it comes to
 * the call (check_generic_call.c), before it has seen what is done with the result. The walk has seen that: to it such
 * an iterator is a list of its elements, and such a function a closure. What it finds for the type parameters lies in
 * the call (call.pending_arguments) until the check reads it. What it cannot find is what the arguments say, else i64
 * or f32, as before.
 */
#include "language/front/check_infer.h"
#include "language/types/check_dyn_types.h"
#include "language/types/check_instances.h"

/* impl Fn(A) -> B, Box<dyn Fn(A) -> B>; NULL: of no function. */
static const type_expr *function_of(const type_expr *t) {
    if (t->kind == TYPE_EXPR_FUNCTION)
        return t;
    return check_yields_dyn(t) && t->arguments[0]->kind == TYPE_EXPR_FUNCTION ? t->arguments[0] : NULL;
}

const type_expr *infer_function_of(const binding *parameter) {
    return parameter->annotation == NULL ? NULL : function_of(parameter->annotation);
}

/* The environment is that of f. */
const type *infer_any_yielded(inference *n, const function_item *f) {
    const type_expr *t = f->result_annotation, *function = function_of(t);
    if (function == NULL) {
        const type_expr *bound = t->arguments[0];
        return bound->argument_count == 1 ? type_vec(n->c->types, infer_written(n, bound->arguments[0])) : n->any;
    }
    open_form *form = infer_form(n, FORM_FUNCTION, NULL);
    form->count = function->argument_count;
    form->parameters = CHECK_ARRAY(n->c, const type *, form->count + 1);
    for (uint32_t i = 0; i < form->count; i++)
        form->parameters[i] = infer_written(n, function->arguments[i]);
    form->result = function->result == NULL ? check_scalar(n->c, TYPE_VOID) : infer_written(n, function->result);
    return form->open;
}

void infer_meets_any(inference *n, const open_form *f, const type *t) {
    const closure_signature *signature = check_dyn_signature(t);
    if (f->kind != FORM_FUNCTION || signature == NULL)
        return;
    for (uint32_t i = 0; i < f->count && i < signature->count; i++)
        infer_same(n, f->parameters[i], signature->parameters[i]);
    infer_same(n, f->result, signature->result);
}

bool infer_leaves_numbers(const function_item *f) {
    const bool generic = f->generics.count > 0 || (f->impl != NULL && f->impl->generics.count > 0);
    return generic && f->result_annotation != NULL && check_yields_dyn(f->result_annotation);
}

/* ---- answers ------------------------------------------------------------------------------------------- */

void infer_remember_call(inference *n, const function_item *f, const type_environment *e) {
    expr *call = n->calling;
    n->calling = NULL;
    if (call == NULL || n->depth > 0)
        return;
    const inferred_call one = {call, e->arguments, e->more_arguments, f->generics.count, check_type_count(e->more)};
    CHECK_PUSH(n->c, n->calls, n->call_count, n->call_capacity, one);
}

/* The same with nothing open in it; NULL: something is. */
static const type *known(inference *n, const type *t) {
    t = infer_value(n, t);
    if (t->kind == TYPE_VEC) {
        const type *element = known(n, t->vec.element);
        return element == NULL ? NULL : type_array(n->c->types, element, t->vec.length);
    }
    if (t->kind == TYPE_TUPLE) {
        const type **items = CHECK_ARRAY(n->c, const type *, t->tuple.count + 1);
        for (uint32_t i = 0; i < t->tuple.count; i++)
            if ((items[i] = known(n, t->tuple.items[i])) == NULL)
                return NULL;
        return type_tuple(n->c->types, items, t->tuple.count);
    }
    const bool scalar = type_is_numeric(t) || t->kind == TYPE_BOOL || t->kind == TYPE_CHAR || t->kind == TYPE_STRING;
    return scalar && !type_is_open_number(t) ? t : NULL;
}

void infer_answer_calls(inference *n) {
    for (uint32_t i = 0; i < n->call_count; i++) {
        const inferred_call *one = &n->calls[i];
        const type **wanted = CHECK_ARRAY(n->c, const type *, one->count + one->more_count + 1);
        for (uint32_t k = 0; k < one->count + one->more_count; k++)
            wanted[k] = known(n, k < one->count ? one->arguments[k] : one->more[k - one->count]);
        one->e->call.pending_arguments = wanted;
    }
}
