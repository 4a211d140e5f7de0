/* check_generic.h: instances of generic declarations, methods of types, traits.
 *
 *     check_generic.c        which instance; check_generic_call.c: what a call says of it
 *     check_overload.c       several methods of one name
 *     check_environment.c    what type parameters are; check_owners.c: what methods belong to, which traits a type has
 */
#ifndef MASU_LANGUAGE_CHECK_GENERIC_H
#define MASU_LANGUAGE_CHECK_GENERIC_H

#include "language/types/check_context.h"
#include "language/types/check_instances.h"

/* Stack::<i32>::size(&s): s is a Stack<i32>, and its numbers are i32 where nothing else decides them. */
void check_receiver_is(checker *c, expr **arg, const type *owner);

void check_template_call(checker *c, expr *e, function_item *f, struct_item *owner, const type *expected);
void check_pending_call(checker *c, expr *e);
struct_item *check_decide_lengths(checker *c, expr *e, struct_item *s);
/* E::from(e) where E has it for values of that type; e is checked. NULL: no. */
expr *check_from(checker *c, expr *e, const struct call_views *written, const type *to);
/* The name of `to` where it has a `from` that a t may be given to; NULL: it has none. */
const char *check_maker(checker *c, const type *t, const type *to);

#endif
