/* error_kinds.h: every kind of message the compiler has, with its code and its explanation.
 *
 * A kind is told by what its messages have in common, so that messages stay as short as they are. Names and source text
 * in a message stand between backquotes and are left out of the comparison.
 */
#ifndef MASU_TOOL_ERROR_KINDS_H
#define MASU_TOOL_ERROR_KINDS_H

#include <stddef.h>

typedef struct error_kind {
    const char *code;  /* E0101; warnings W0101 */
    const char *marks; /* what one of its messages contains, one a line; names as `` */
    const char *title, *text;
} error_kind;

extern const error_kind error_kinds[];
extern const size_t error_kind_count;

/* NULL: a message without a kind, which the tests do not let pass. O(kinds × length). Any thread. */
const error_kind *error_kind_of(const char *message);
const error_kind *error_kind_by_code(const char *code);

#endif
