/* messages.h: the rows of diagnostics.def, as calls name them.
 *
 *     diagnostics_say(c->diagnostics, span, SAY(is_declared_twice), name);
 *
 * The row decides whether it is an error or a warning, which code it has, and what `masu explain-error` says of it. The
 * compiler checks the arguments against the row's format.
 */
#ifndef MASU_LANGUAGE_MESSAGES_H
#define MASU_LANGUAGE_MESSAGES_H

#include "language/diagnose/diagnostics.h"
#include "language/language.h"

typedef enum message_row {
    MESSAGE_NONE,
#define KIND(code, title, explanation)
#define ERROR(row, code, format)            ROW_##row,
#define ERROR_HELP(row, code, format, help) ROW_##row,
#define WARNING(row, code, format)          ROW_##row,
#include "language/diagnose/diagnostics.def"
#undef KIND
#undef ERROR
#undef ERROR_HELP
#undef WARNING
    MESSAGE_COUNT
} message_row;

#define KIND(code, title, explanation)
#define ERROR(row, code, format)            static const char SAY_##row[] __attribute__((unused)) = format;
#define ERROR_HELP(row, code, format, help) static const char SAY_##row[] __attribute__((unused)) = format;
#define WARNING(row, code, format)          static const char SAY_##row[] __attribute__((unused)) = format;
#include "language/diagnose/diagnostics.def"
#undef KIND
#undef ERROR
#undef ERROR_HELP
#undef WARNING

/* A row and its format, two arguments of a call. SAY_IF: one of two rows with the same arguments. */
#define SAY(row)                      ROW_##row, SAY_##row
#define SAY_IF(condition, row, other) (condition) ? ROW_##row : ROW_##other, (condition) ? SAY_##row : SAY_##other

/* Returns the diagnostic for notes to be added, behind that of the row's help; NULL when it was dropped (said before at
 * this place, over the limit, out of memory): notes on NULL are ignored. O(limit). */
diagnostic *diagnostics_say(diagnostics *d, source_span span, message_row row, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

const masu_message_kind *message_kind_of(message_row row); /* NULL: MESSAGE_NONE */

#endif
