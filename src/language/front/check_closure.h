/* check_closure.h: closures: what they take (check_closure.c), are (check_closure_made.c), hold (check_capture.c), and
 * lend to a call (check_lend.c).
 */
#ifndef MASU_LANGUAGE_CHECK_CLOSURE_H
#define MASU_LANGUAGE_CHECK_CLOSURE_H

#include "language/types/check_capture.h"
#include "language/types/check_context.h"

/* let name = value, in front of the call; statements behind it. */
void check_call_before(checker *c, expr *call, const char *name, expr *value);
void check_call_wrap(checker *c, expr **slot);
/* An argument for a `&mut T` that a method yields as a place. */
void check_lend_place(checker *c, expr *call, expr **slot, const type *wanted);
/* False: it is none that can be lent. call NULL: it is not an argument. */
bool check_lend_closure(checker *c, expr *call, expr **slot, const struct_item *s);
/* A closure, or the name of one or of a function, where a function is wanted. */
void check_function_value(checker *c, expr **slot, const closure_signature *signature);
void check_closure(checker *c, expr *e, const closure_signature *signature);
/* f(…) where f is a variable that holds a closure. False when it is none. */
bool check_closure_call(checker *c, expr **slot);
bool check_function_name(checker *c, expr *e); /* a function as a value */
/* check_scope_close where a closure may leave the scope as its value; made: how many functions there were. */
void check_scope_end(checker *c, uint32_t mark, uint32_t made);
void check_close_closure(checker *c, expr *e);
/* Whether the method may write to self; before its body is checked, by what is written there. */
bool check_may_write_self(checker *c, function_item *f);
/* v[a..b].sort() and its like: the method of lists of this name. */
bool check_changes_receiver(const char *name); /* of a list or text */
bool check_may_write_lists(checker *c, const char *name);
bool check_only_reads(checker *c, const char *name); /* whichever type has a method of this name */
/* x.part.m(…): whichever type the part is of, some method of that name may write to it. */
bool check_some_method_writes(const checker *c, const char *name);
struct_item *check_new_closure_struct(checker *c, expr *e, function_item *f);

#endif
