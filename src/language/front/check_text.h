/* check_text.h: print and println, a text is split at its holes (check_print.c); a value as a text (check_text.c,
 * check_pieces.c). */
#ifndef MASU_LANGUAGE_CHECK_TEXT_H
#define MASU_LANGUAGE_CHECK_TEXT_H

#include "language/library/library.h"
#include "language/types/check_context.h"
#include "language/types/check_pieces.h"

void check_print(checker *c, expr **slot, bool newline);
void check_print_error(checker *c, expr **slot, bool newline); /* eprint, eprintln */
void check_format(checker *c, expr **slot);
void check_write_text(checker *c, expr **slot, bool newline);
/* A checked value as a checked expression of type String; how: bits of HOW_…. */
expr *check_text_of(checker *c, expr *value, int64_t how);
/* An impl of LowerHex, Binary, LowerExp, … says how values of type t look in this hole. */
bool check_has_form(checker *c, const type *t, int64_t how);
/* x.fmt(f) of what has no `fmt` itself; false: it is another method. */
bool check_delegated_text(checker *c, expr **slot);
void check_finish_text(checker *c, expr *e); /* of a call.late */
/* x.to_string() of numbers and characters, and x.into() where a text is wanted or something else; x is of type t. */
bool check_to_string(checker *c, expr **slot, const type *t, const type *expected);

#endif
