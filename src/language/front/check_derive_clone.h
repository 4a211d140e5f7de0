/* check_derive_clone.h: see check_derive_clone.c. */
#ifndef MASU_LANGUAGE_CHECK_DERIVE_CLONE_H
#define MASU_LANGUAGE_CHECK_DERIVE_CLONE_H

#include "base/buffer.h"
#include "language/types/check_context.h"

extern const char check_clone_method[];
/* Whether a clone of such a value is more than the value: a part of it has a `clone` of its own, or a destructor. */
bool check_clone_differs(checker *c, const type *t);
/* The body of the `clone` of a struct or enum of which that is so. */
void derive_put_clone(checker *c, masu__buffer *out, const struct_item *s);
/* A checked value as its clone, not checked yet; NULL: that is the value (check_std.c). */
expr *check_cloned(checker *c, expr *value);

#endif
