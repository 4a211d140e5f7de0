/* check_derive.h: methods that a struct has because of what its fields are. See check_derive.c. */
#ifndef MASU_LANGUAGE_CHECK_DERIVE_H
#define MASU_LANGUAGE_CHECK_DERIVE_H

#include "language/types/check_context.h"

/* The method of this name, made for the struct where it is first asked for; NULL: it has none. What a walk does not
 * reach is an error at `span`. */
function_item *check_derived_method(checker *c, struct_item *owner, const char *name, source_span span);
/* A reference to a tensor of some type as one to a tensor of any, in text that was written for a walk. */
bool check_hands_out_tensor(checker *c, expr *e, const type *from, const type *to);

#endif
