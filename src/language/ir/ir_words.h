/* ir_words.h: the lowest part of reading IR text: blanks, words, numbers. Private to ir_parse.c.
 *
 * The first error is described and sets `failed`; from then on every function does nothing and
 * returns something harmless, so that callers need not ask after each step.
 */
#ifndef MASU_LANGUAGE_IR_WORDS_H
#define MASU_LANGUAGE_IR_WORDS_H

#include "language/ir/ir.h"

typedef struct words {
    ir_module *m; /* whose arena takes copies of words */
    const char *text, *at;
    masu__buffer *error;
    bool failed;
} words;

void words_fail(words *w, const char *wanted);
void words_skip(words *w); /* blanks, and comments from ; to the line's end */
bool words_try(words *w, const char *text);
void words_need(words *w, const char *text);
/* The same for a whole word: no letter or digit may follow. */
bool words_try_word(words *w, const char *word);
/* A run of letters, digits, _ and the characters in `more`; "" at an error. */
const char *words_read(words *w, const char *more, const char *what);
/* A function's or kernel's name: everything up to a blank or an opening parenthesis. */
const char *words_name(words *w);
int64_t words_int(words *w);
double words_float(words *w);
/* Between quotation marks, with \xHH for a byte and \c for a character; of the module's arena. */
const char *words_bytes(words *w, size_t *length);

#endif
