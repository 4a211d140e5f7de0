/* check_closure.h: closures: what they take (check_closure.c), are (check_closure_made.c), hold (check_capture.c), and
 * lend to a call (check_lend.c).
 */
#ifndef MASU_LANGUAGE_CHECK_CLOSURE_H
#define MASU_LANGUAGE_CHECK_CLOSURE_H

#include "language/front/check_context.h"

typedef struct closure_signature { /* what a call will give and wants back; NULL: nothing is said */
    const type **parameters;
    bool *places; /* which are `&mut`; NULL: none */
    uint32_t count;
    const type *result;
    bool is_known;
} closure_signature;

/* let name = value, in front of the call; statements behind it. */
void check_call_before(checker *c, expr *call, const char *name, expr *value);
void check_call_after(checker *c, expr *call, expr *statement);
void check_call_wrap(checker *c, expr **slot);
/* An argument for a `&mut T` that a method yields as a place. */
void check_lend_place(checker *c, expr *call, expr **slot, const type *wanted);
/* False: it is none that can be lent. call NULL: it is not an argument. */
bool check_lend_closure(checker *c, expr *call, expr **slot, const struct_item *s);
closure_signature check_closure_signature(checker *c, const type_expr *function);
/* A closure, or the name of one or of a function, where a function is wanted. */
void check_function_value(checker *c, expr **slot, const closure_signature *signature);
/* The function type that a value of the field has to have, by the bounds of the struct; NULL: none. */
type_expr *check_field_function(const struct_item *s, const struct_field *field);
/* The closure writes to variables of the function in which it is made. */
bool check_is_lent(const type *t);
void check_closure(checker *c, expr *e, const closure_signature *signature);
/* f(…) where f is a variable that holds a closure. False when it is none. */
bool check_closure_call(checker *c, expr **slot);
/* The name of a variable of another function: a part of what this closure captured. */
bool check_captured_name(checker *c, expr **slot);
bool check_is_own(const function_item *f, const binding *b);
bool check_function_name(checker *c, expr *e); /* a function as a value */
void check_close_closure(checker *c, expr *e);
/* Whether the method may write to self; before its body is checked, by what is written there. */
bool check_may_write_self(checker *c, function_item *f);
/* v[a..b].sort() and its like: the method of lists of this name. */
bool check_changes_receiver(const char *name); /* of a list or text */
bool check_may_write_lists(checker *c, const char *name);
bool check_refer_captures(checker *c, const struct_item *s);
void check_refer_field(checker *c, function_item *closure, struct_field *field);
bool check_called_inside(const checker *c, const struct_item *s);
void check_call_through(checker *c, expr **slot, const closure_signature *signature);
struct_item *check_new_closure_struct(checker *c, expr *e, function_item *f);

#endif
