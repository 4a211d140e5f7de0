/* check_capture.h: functions as types, and what a closure captures. */
#ifndef MASU_LANGUAGE_TYPES_CHECK_CAPTURE_H
#define MASU_LANGUAGE_TYPES_CHECK_CAPTURE_H

#include "language/types/check_context.h"

typedef struct closure_signature { /* what a call will give and wants back; NULL: nothing is said */
    const type **parameters;
    bool *places; /* which are `&mut`; NULL: none */
    uint32_t count;
    const type *result;
    bool is_known;
    bool is_once; /* its call takes the function */
} closure_signature;

/* place, which a name of a reference means, was written out in a closure: the closure captured the reference. */
void check_captured_by_alias(checker *c, const expr *place);
/* A call of the closure writes to the variable that it captured. */
bool check_writes_through(const struct_item *s, const struct_field *field);
void check_call_after(checker *c, expr *call, expr *statement);
closure_signature check_closure_signature(checker *c, const type_expr *function);
/* The function type that a value of the field has to have, by the bounds of the struct; NULL: none. */
type_expr *check_field_function(const struct_item *s, const struct_field *field);
/* The closure writes to variables of the function in which it is made. */
bool check_is_lent(const type *t);
/* The name of a variable of another function: a part of what this closure captured. */
bool check_captured_name(checker *c, expr **slot);
bool check_is_own(const function_item *f, const binding *b);
bool check_refer_captures(checker *c, const struct_item *s);
void check_refer_field(checker *c, function_item *closure, struct_field *field);
bool check_called_inside(const checker *c, const struct_item *s);
void check_call_through(checker *c, expr **slot, const closure_signature *signature);

#endif
