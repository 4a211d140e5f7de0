/* elsewhere.h: words and marks that people bring from other languages, and what is written here instead. What a name
 * means is not asked: these notes follow from the text alone. */
#ifndef MASU_LANGUAGE_ELSEWHERE_H
#define MASU_LANGUAGE_ELSEWHERE_H

#include "language/syntax/parser_private.h"

/* About a word that nothing declares; NULL: none. */
const char *hint_for_type(const char *name); /* zero-terminated */
const char *hint_for_word(const char *word, size_t length);

/* About one of the parts of a path, the last first; NULL: none. */
const char *hint_for_path(const char *path);

/* About a method that does not exist; NULL: none. */
const char *hint_for_method(const char *name);

/* "fn" where a misspelt one is in front of a name, and the same for the others that begin an item; NULL: nothing like
 * it. */
const char *hint_for_item_word(parser *p);
/* About the token at which the parser wanted something else, and those before it; NULL: none. */
const char *hint_for_token(const parser *p);

#endif
