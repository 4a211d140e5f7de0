/* check_tensor.h: tensors: literals, indices, comprehensions, and forms of calls that are written out.
 *
 *     check_tensor.c       literals and indexing; check_parts.c: t[a..b, i]
 *     check_comprehend.c   comprehensions and Einstein sums
 *     check_equation.c     equations over free indices
 *     check_forms.c        other forms of calls, and by other names
 */
#ifndef MASU_LANGUAGE_CHECK_TENSOR_H
#define MASU_LANGUAGE_CHECK_TENSOR_H

#include "language/types/check_context.h"

void check_equation(checker *c, expr **slot); /* let C = A[i, j] * B[j, k]; */
void check_array(checker *c, expr **slot, const type *expected);
void check_index(checker *c, expr **slot, const type *expected);
void check_comprehension(checker *c, expr **slot, const type *expected);
/* check_forms.c: other forms of calls, written out; false: it is none. t is the receiver's type. */
/* The meaning of a tensor's method by this name; NULL: it is not another name, or not with so many arguments. */
const char *check_other_name(const char *name, uint32_t argument_count);
/* A number as a tensor of rank 0, of the elements of `beside` (NULL: whatever it is) if those are real. False: it is
 * none. */
bool check_number_beside(checker *c, expr **slot, const type *beside);
/* Tensor::from(…) and its like, Tensor::bmm(a, b). False: nothing of that kind, *slot as it was. */
bool check_tensor_static(checker *c, expr **slot, bool grad, const type *expected);
bool check_tensor_form(checker *c, expr **slot, const type *t, const type *expected);
/* check_hoist.c: calls in the body of a comprehension that do not depend on it; true when *slot was checked. */
bool check_hoist(checker *c, expr **slot, const type *expected);
/* check_ragged.c: ranges that depend on an index bound before; true when *slot was checked. */
bool check_ragged(checker *c, expr **slot, const type *expected);
/* check_parts.c: t[a..b, i], t[i] = row; indices of e from the end, from number `first` on, as written out. */
bool check_part(checker *c, expr **slot, const type *base);
bool check_assign_part(checker *c, expr **slot);
bool check_put_element(checker *c, expr *e);
bool check_assign_with_history(checker *c, expr **slot); /* check_history.c */
bool check_asks_for_gradients(const checker *c);
void check_count_from_end(checker *c, expr *e, uint32_t first);
/* Where the base is not a place. */
bool check_count_from_end_of_value(checker *c, expr **slot, const type *expected);
/* t[i][j] becomes t[i, j] where t is a tensor; the base is checked. */
void check_merge_indices(checker *c, expr *e);
/* The indices of e, checked; true: one of them is a tensor of places or a mask, and then all are tensors. */
bool check_place_tensors(checker *c, expr *e);
expr *check_list_of_places(checker *c, const expr *e);
void check_number_as_tensor(checker *c, expr **slot);
/* Whether values of type t have a method of that name. */
bool check_has_method(checker *c, const type *t, const char *name);
bool check_value_part(checker *c, expr **slot);
void check_value_pair(checker *c, const pattern *p, expr **slot, const type *wish);
void check_written_value(checker *c, expr **slot); /* t.set(0, 1.0) where a value is wanted */
bool check_has_places(const expr *e);              /* t.topk(k) and its like, by their form */
/* Tensor::name(…) takes so many arguments without a receiver. */
bool check_is_tensor_function(checker *c, const char *name, uint32_t count);
/* name(x) is Tensor::from(x). */
static inline bool check_is_tensor_maker(const char *name) {
    return strcmp(name, "Tensor") == 0 || strcmp(name, "tensor") == 0 || strcmp(name, "GradTensor") == 0;
}
/* Tensor::name(x) makes a tensor of a list, a bracket or a number. */
/* The target of t.to_f64() and its like; NULL: no such name. */
const type *check_converted_to(const checker *c, const char *name);
/* In t.to_i64().sum(): what t is converted to, as only a tensor has the method; NULL: it is another call. */
const type *check_converts_for(checker *c, const expr *e);
bool check_makes_of_values(const char *name);
bool check_function_form(checker *c, expr **slot, const char *name, const type *expected);
/* The operation that says where the values of t.topk(k) and its like lie; NULL: e is not of that form. */
const char *check_name_of_places(const expr *e);
bool check_rows_in_a_row(checker *c, expr **slot, const type *t, const type *expected);

/* t.tolist(): true when it was dealt with (check_nested.c). */
bool check_nested_list(checker *c, expr **slot, const type *t, const type *expected);

#endif
