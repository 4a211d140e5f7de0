/* check_drop.h: types with a destructor. */
#ifndef MASU_LANGUAGE_CHECK_DROP_H
#define MASU_LANGUAGE_CHECK_DROP_H

#include "language/front/check_context.h"

bool check_is_destructor(const function_item *f);
/* For an impl of a trait that the program does not declare: its owner's destructor, where the trait is Drop. */
void check_declare_drop(checker *c, const impl_item *impl, struct_item *owner);
/* x.drop(): true where f is a destructor, with a message. */
bool check_refuse_drop_call(checker *c, const expr *e, const function_item *f);
/* Of every type that the program uses by now: it may make instances of destructors, whose bodies are still to be
 * checked. */
void check_finish_drops(checker *c);

#endif
