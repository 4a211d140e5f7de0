/* mutate.h: wrong programs made from right ones.
 *
 * A program is a row of pieces (tokens, blanks, comments). A mutation edits the row: tokens are dropped, doubled,
 * exchanged; whole brackets and statements move within a program or in from another one, so that most mutants pass the
 * parser and go wrong behind it. The same seed makes the same mutant.
 */
#ifndef MASU_FUZZ_MUTATE_H
#define MASU_FUZZ_MUTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

typedef struct mutate_piece {
    const char *at;
    uint32_t length;
    char kind; /* 'a' word, '0' number, '"' text, ' ' blanks and comments; else the character itself */
} mutate_piece;

typedef struct mutate_program {
    char *text; /* owned */
    mutate_piece *pieces;
    size_t count, capacity;
} mutate_program;

/* text is copied. A row of pieces, together as long as the text. */
mutate_program mutate_program_of(const char *text, size_t length);
void mutate_program_destroy(mutate_program *p);

/* One mutant of one of the programs; *origin: of which. */
void mutate(const mutate_program *programs, size_t count, uint64_t seed, masu__buffer *out, size_t *origin);

/* The text without pieces [from, from + count). */
void mutate_without(const mutate_program *p, size_t from, size_t count, masu__buffer *out);

#endif
