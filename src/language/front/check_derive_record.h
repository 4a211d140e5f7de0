/* check_derive_record.h: see check_derive_record.c. */
#ifndef MASU_LANGUAGE_CHECK_DERIVE_RECORD_H
#define MASU_LANGUAGE_CHECK_DERIVE_RECORD_H

#include "base/buffer.h"
#include "language/types/check_context.h"

/* Whether a field of this type is read from a text. */
bool derive_is_read(checker *c, const type *t);
/* The bodies of __of_record and __record_names. */
void derive_put_record(checker *c, masu__buffer *out, const struct_item *s);
void derive_put_names(masu__buffer *out, const struct_item *s);

#endif
