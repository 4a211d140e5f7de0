/* unicode.h: what Unicode says of a character: which kind it is, what its capital and small letters are. Private to the
 * runtime. Any number may be asked; one that is not a character is of no kind and its own letter. No state, no locale.
 */
#ifndef MASU_RUNTIME_UNICODE_H
#define MASU_RUNTIME_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The questions that compiled code asks by number (char.tl). */
typedef enum unicode_kind {
    UNICODE_ALPHABETIC,
    UNICODE_NUMERIC,
    UNICODE_LOWERCASE,
    UNICODE_UPPERCASE,
    UNICODE_WHITE,
    UNICODE_ESCAPED,
    UNICODE_KINDS
} unicode_kind;

bool tl__char_is(uint32_t c, unicode_kind kind);

/* The character that the bytes begin with, of which there is one, and how many are its own; U+FFFD for what is not
 * UTF-8. */
int32_t tl__decode_utf8(const char *at, size_t left, size_t *length);

enum { UNICODE_CASE_MAX = 3 };

/* The capital or small letters of c, at least one. Returns how many. */
size_t tl__char_case(uint32_t c, bool upper, uint32_t out[UNICODE_CASE_MAX]);

/* Whether a word goes on behind c as if it were not there; whether c is a letter that has a case. A capital sigma is
 * another small letter where a letter with a case is before it and none behind it. */
bool tl__char_is_ignored(uint32_t c);
bool tl__char_is_cased(uint32_t c);

#endif
