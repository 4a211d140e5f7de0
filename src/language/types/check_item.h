/* check_item.h: which types give elements one by one. */
#ifndef MASU_LANGUAGE_TYPES_CHECK_ITEM_H
#define MASU_LANGUAGE_TYPES_CHECK_ITEM_H

#include "language/types/check_context.h"

bool check_may_be_iterators(checker *c);           /* whether there are any in the program */
bool check_is_iterator(checker *c, const type *t); /* it has `next`, or leads to what has it */
/* The item of an iterator of this type; NULL: it is not an iterator. */
const type *check_item_of(checker *c, const type *t);
/* The type that t leads to; `next` of it, NULL: it is not an iterator. */
const type *check_iterated(checker *c, const type *t);
function_item *check_next_of(checker *c, const type *t);
/* Whether a bound is of what gives elements one by one: Iterator, IntoIterator and their like. */
bool check_bounds_items(const type_expr *bound);
/* A parameter's type is a type parameter with such a bound. */
bool check_is_bound_by(const function_item *f, const binding *parameter, bool (*such)(const type_expr *));
bool check_is_map(const type *t); /* HashMap or BTreeMap */

#endif
