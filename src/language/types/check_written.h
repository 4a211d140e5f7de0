/* check_written.h: types as they are written, and what belongs to them by name.
 *
 *     check_types.c        types as written; structs that contain themselves
 *     check_associated.c   T::Item, T::NAME, `type N = T;`
 *     check_lengths.c      lengths as types
 *     check_element.c      elements of what a written operation yields; check_abi_result.c: of an operation of abi.def
 */
#ifndef MASU_LANGUAGE_TYPES_CHECK_WRITTEN_H
#define MASU_LANGUAGE_TYPES_CHECK_WRITTEN_H

#include "language/types/check_context.h"

const type *check_type(checker *c, type_expr *t);
/* The type parameters of e are in sight; NULL: no type is written. */
const type *check_type_in(checker *c, const type_environment *e, type_expr *t);
/* The types of T's parameters in T<A, B>, by their defaults where nothing is written; NULL: one has none, or there are
 * too many. */
const type **check_written_arguments(checker *c, const type_parameters *generics, const type_expr *t);
/* The same inside of another type, where `&mut T` is a TYPE_REFERENCE. */
const type *check_part_type(checker *c, type_expr *t);
/* The type of an element, a field or a type parameter: `()` is a value there. */
const type *check_held_type(checker *c, type_expr *t);
void check_struct_types(checker *c);
/* check_associated.c: `type N = T;` by the name t; NULL: there is none. */
const type *check_alias_type(checker *c, type_expr *t);
/* Graph::new() where `type Graph = HashMap<u32, u32>;`: the scope is what the name means. */
/* Self::Item::f, T::Item::f: <T::Item>::f */
void check_part_scope(checker *c, name_expr *e);
void check_alias_scope(checker *c, name_expr *callee);
/* The type that `Self` or a type parameter means; NULL: the scope is neither. */
const type *check_scope_type(checker *c, const char *scope);
/* The constant T::NAME of what T is; NULL: there is none. */
/* The one of that name that belongs to t. */
const_item *check_constant_for(checker *c, const_item *item, const type *t);
/* The type that `Self` is in its value. */
struct_item *check_constant_self(checker *c, const const_item *item);
const_item *check_associated_constant(checker *c, const type *t, const char *name);
const char *check_type_text(checker *c, const type *t);
/* The same, or the error type after a message when it is too large. */
const type *check_bounded(checker *c, const type *t, source_span span);
void check_struct_size(checker *c, struct_item *s);
/* The arguments of an impl's parameters where its owner is t: impl<A> … for P<A>. */
type_environment check_impl_environment(checker *c, const impl_item *impl, const type *t);
/* `const N: usize`: what it is, as a type. */
const type *check_number_type(checker *c, int64_t number);
bool check_is_number_type(const type *t);
const type *check_length_argument(checker *c, const type_expr *t);
/* The type of a call whose operands are known (check_abi_result.c). The rank may be more than a tensor can have; -1:
 * not known. */
const type *check_abi_result(checker *c, const expr *call);
int32_t check_abi_rank(const expr *call);
/* check_element.c: takes the word that says it out of the result's type; the type of a call whose operands are
 * checked. */
void check_element_rule(checker *c, function_item *f);
const type *check_result_of(checker *c, const function_item *f, const expr *call);
/* bool < integers < f32 < f64; of two integers i64. */
const type *check_wider_element(checker *c, const type *a, const type *b);

/* Behind each `&` and `&mut` that is written before it. */
static inline expr **check_behind(expr **slot) {
    while ((*slot)->kind == EXPR_UNARY && (*slot)->unary.op == UNARY_REFERENCE)
        slot = &(*slot)->unary.operand;
    return slot;
}

#endif
