/* check_derive_state.h: see check_derive_state.c. */
#ifndef MASU_LANGUAGE_CHECK_DERIVE_STATE_H
#define MASU_LANGUAGE_CHECK_DERIVE_STATE_H

#include "base/buffer.h"
#include "language/types/check_context.h"

/* A scalar that a text can say and be read from. */
static inline bool derive_is_said(const type *t) {
    return t->kind >= TYPE_BOOL && t->kind < TYPE_SCALAR_END;
}

/* Whether a checkpoint reaches all of a value of this type. */
typedef bool derive_reaches(checker *c, const type *t);
/* The body of __states. */
void derive_put_state(checker *c, masu__buffer *out, const struct_item *s, derive_reaches *reaches);

#endif
