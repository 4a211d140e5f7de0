/* check_item.c: which types give elements one by one, and of which type these are. */
#include "language/types/check_item.h"
#include "language/library/library.h"
#include "language/types/check_context.h"
#include "language/types/check_instances.h"
#include "language/types/check_written.h"

const type *check_iterated(checker *c, const type *t) {
    t = type_resolve(c->types, t);
    return type_is_reference(t) ? type_resolve(c->types, type_target(c->types, t)) : t;
}

function_item *check_next_of(checker *c, const type *t) {
    t = check_iterated(c, t);
    function_item *f = t->kind == TYPE_STRUCT && t->structure->closure == NULL
                           ? check_method_named(c, t->structure, "next")
                           : NULL;
    const bool steps = f != NULL && f->has_self && f->parameter_count == 1;
    const type *result = steps && f->result != NULL ? type_resolve(c->types, f->result) : NULL;
    const bool other = steps && (result == NULL ? f->result_annotation == NULL : result->kind != TYPE_STRUCT);
    return steps && !other ? f : NULL; /* one that yields nothing, or a number, is a method like any other */
}

bool check_is_iterator(checker *c, const type *t) {
    return check_next_of(c, t) != NULL;
}

/* Functions are declared before bodies are checked: asked once. */
bool check_may_be_iterators(checker *c) {
    for (uint32_t i = 0; c->instances->iterators == ITERATORS_UNKNOWN && i < c->tree->function_count; i++) {
        const function_item *f = c->tree->functions[i];
        bool own = f->owner_name != NULL && library_said_of(LIBRARY_form, f->name) == SAID_NEXT && f->owner != NULL;
        c->instances->iterators = own && f->owner->is_builtin == 0 ? ITERATORS_SOME : c->instances->iterators;
    }
    c->instances->iterators = c->instances->iterators == ITERATORS_SOME ? ITERATORS_SOME : ITERATORS_NONE;
    return c->instances->iterators == ITERATORS_SOME;
}

const type *check_item_of(checker *c, const type *t) {
    t = check_iterated(c, t);
    if (t->kind == TYPE_VEC)
        return type_resolve(c->types, t->vec.element);
    const function_item *next = check_next_of(c, t);
    if (next == NULL)
        return NULL;
    type_environment e = {.self = t->structure};
    if (next->impl != NULL)
        e = check_impl_environment(c, next->impl, t);
    const type *option = next->result_annotation == NULL ? next->result : check_type_in(c, &e, next->result_annotation);
    option = option == NULL ? check_scalar(c, TYPE_ERROR) : type_resolve(c->types, option);
    return option->kind == TYPE_STRUCT && option->structure->template != NULL
               ? type_resolve(c->types, option->structure->arguments[0])
               : NULL;
}

/* IntoIterator, Iterator, DoubleEndedIterator, …: of what gives elements one by one. */
bool check_bounds_items(const type_expr *bound) {
    return bound->kind == TYPE_EXPR_NAME && library_said_of(LIBRARY_trait_form, bound->name) == SAID_ITERATE;
}

bool check_is_map(const type *t) {
    return t->kind == TYPE_STRUCT && t->structure->template != NULL &&
           library_says(LIBRARY_is_map, t->structure->template->name);
}

/* Whether a parameter's type is a type parameter with such a bound. */
bool check_is_bound_by(const function_item *f, const binding *parameter, bool (*such)(const type_expr *)) {
    const type_expr *t = parameter->annotation;
    for (uint32_t i = 0; t != NULL && t->name != NULL && i < f->generics.count; i++) {
        const type_parameter *p = &f->generics.items[i];
        for (uint32_t b = 0; strcmp(p->name, t->name) == 0 && b < p->bound_count; b++)
            if (such(p->bounds[b]))
                return true;
    }
    return false;
}
