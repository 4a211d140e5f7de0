/* check_iterator.h: what is an iterator (check_iterator.c), and what a struct has by its fields (check_derive.c). */
#ifndef MASU_LANGUAGE_CHECK_ITERATOR_H
#define MASU_LANGUAGE_CHECK_ITERATOR_H

#include "language/types/check_context.h"
#include "language/types/check_item.h"

/* The method of all iterators, made for this struct; NULL: there is none, or the struct is not an iterator. */
function_item *check_iterator_method(checker *c, struct_item *owner, const char *name);
/* An iterator, of which the program does not say itself what this method does. */
bool check_has_steps(checker *c, const type *t, const char *name);
/* it.count() of a value where its type has a `fn count(&self)`: Rust means `Iterator::count(self)` by it. */
bool check_refuse_beside_iterator(checker *c, expr *e, const type *t, const function_item *f);
const function_item *check_iterators_method(const checker *c, const char *name); /* one of all iterators; NULL */
/* Afterwards the value, not checked before or checked, is an iterator where it can be one. */
void check_as_iterator(checker *c, expr **slot);
void check_range_as_iterator(checker *c, expr **slot);               /* a..; anything else stays */
bool check_range_for(checker *c, expr **slot, const type *expected); /* false: no iterator is wanted */
const type *check_wish_as_list(checker *c, const type *expected);
bool check_takes_iterator(const function_item *f, const binding *parameter);
/* sum(1..4), sum([1, 2]) where the parameter is an `impl Iterator`: a list, an iterator where the numbers have no
 * end. */
void check_items_as_argument(checker *c, expr **slot, const function_item *f, const binding *parameter);
bool check_list_beside_iterator(checker *c, expr **slot, const type *expected);
/* The list that methods of lists work on: the Vec of what next() yields, or of what iter() says. The value is
 * checked. */
bool check_as_list(checker *c, expr **slot);
/* Whether *source, checked, is an iterator; a call of into_iter is added where the program has one. */
/* That of `impl IntoIterator for &mut T`; NULL: there is none. */
const function_item *check_iterator_of_places(checker *c, const type *t);
bool check_found_iterator(checker *c, expr **source, bool is_reference, const struct call_views *written);
/* by_name: what it runs over is written as a variable, not as `&mut it` or `it.by_ref()`, which look alike by now. */
void check_loop_by_next(checker *c, expr **slot, bool by_name);
void check_range_value(checker *c, expr **slot, const type *expected);
const char *check_range_maker(const expr *e);
/* v[r] becomes v[r.__low()..r.__high()], where r, of type t, is a range that has a name. */
bool check_part_by_range(checker *c, expr *e, const type *t);
bool check_index_by_range(checker *c, expr **slot, const type *expected);
void check_range_contains(checker *c, expr **slot);
void check_ranges_as_lists(checker *c, expr *e, const type *t);
void check_split_range(checker *c, expr *e, const type *t);

#endif
