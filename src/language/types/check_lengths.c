/* check_lengths.c: lengths as types: what `N` is where `const N: usize`. */
#include "language/types/check_context.h"
#include "language/types/check_instances.h"
#include "language/types/check_written.h"

/* The value of `const N: usize` is written as a type of its own: an array of that many nothings. */
const type *check_number_type(checker *c, int64_t number) {
    return type_array(c->types, check_scalar(c, TYPE_VOID), number);
}

bool check_is_number_type(const type *t) {
    return t->kind == TYPE_VEC && t->vec.element->kind == TYPE_VOID;
}

/* The parameter that the length of the array is; NULL: it is none. */
const type *check_length_argument(checker *c, const type_expr *t) {
    bool named = t->length != NULL && t->length->kind == EXPR_NAME && t->length->name.scope == NULL;
    const type *found = named ? check_type_argument(c, t->length->name.name) : NULL;
    return found == NULL ? NULL : type_resolve(c->types, found);
}
