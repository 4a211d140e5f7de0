/* hints.h: names that people who come from other languages write, and what they are here. Notes under errors. */
#ifndef MASU_LANGUAGE_HINTS_H
#define MASU_LANGUAGE_HINTS_H

#include "language/syntax/elsewhere.h"
#include "language/types/check_context.h"

/* Notes about names that are known elsewhere: a field of self, a variant, a method. False: there are none. */
bool hint_for_variable(checker *c, diagnostic *d, const char *name);
bool hint_for_function(checker *c, diagnostic *d, const expr *call, const char *name);
/* x.name where only x.name() exists, or where the name is known from elsewhere. */
bool hint_for_field(checker *c, diagnostic *d, const type *base, const char *name);

void hint_for_operands(checker *c, diagnostic *d, binary_op op, const type *left, const type *right);

#endif
