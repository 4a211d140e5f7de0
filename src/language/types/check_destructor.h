/* check_destructor.h: which function is a destructor. */
#ifndef MASU_LANGUAGE_TYPES_CHECK_DESTRUCTOR_H
#define MASU_LANGUAGE_TYPES_CHECK_DESTRUCTOR_H

#include "language/types/check_context.h"

/* For an impl of a trait that the program does not declare: its owner's destructor, where the trait is Drop. */
void check_declare_drop(checker *c, const impl_item *impl, struct_item *owner);
/* x.drop(): true where f is a destructor, with a message. */
bool check_refuse_drop_call(checker *c, const expr *e, const function_item *f);

#endif
