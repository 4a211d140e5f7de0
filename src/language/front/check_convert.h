/* check_convert.h: what fits where; conversions as nodes; what is decided by a later use.
 *
 *     check_fits.c      what fits as it is; check_convert.c: what has to be converted
 *     check_literal.c   literals as type variables
 *     check_infer*.c    brackets, rows and pairs that are what their uses make of them
 */
#ifndef MASU_LANGUAGE_CHECK_CONVERT_H
#define MASU_LANGUAGE_CHECK_CONVERT_H

#include "language/types/check_context.h"
#include "language/types/check_fits.h"

/* Writes expr.becomes into the body of f, which nothing has checked yet. */
void check_infer(checker *c, function_item *f);
/* The types that `to` states of the tensors in a value of type `from` (both fit) beyond what is known of them: nothing;
 * what is looked at when the program runs, where the value is cast to `to`; what cannot be looked at, and is
 * refused. */
typedef enum { STATED_KNOWN, STATED_LOOKED_AT, STATED_UNSEEN } stated_way;
stated_way check_stated_way(checker *c, const type *from, const type *to);
/* Converts the node or reports "expected X, found Y"; why (may be NULL) becomes a note. */
const type *check_as_unit(checker *c, expr **slot); /* what has no value is `()` where one is wanted; its type then */
bool check_coerce(checker *c, expr **slot, const type *to, const coerce_reason *why);
bool check_converts(checker *c, expr **slot, const type *to); /* the same, and says nothing */
/* For what is lent as `&mut`: it is of the very type, as what is written through it comes back, and it stays the place
 * that it is. What is stated of its tensors is looked at in the call, on both ways (lower_call.c). */
void check_coerce_lent(checker *c, expr **slot, const type *to, const coerce_reason *why);
/* The same through the results of blocks and branches: a block stays a block, an if an if. */
bool check_coerce_branch(checker *c, expr **slot, const type *to, const coerce_reason *why);
bool check_condition(checker *c, expr **slot);

#endif
