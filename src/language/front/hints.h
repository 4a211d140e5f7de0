/* hints.h: what people who come from other languages write, and what it is here. Notes under errors. */
#ifndef MASU_LANGUAGE_HINTS_H
#define MASU_LANGUAGE_HINTS_H

#include "language/front/check_private.h"
#include "language/syntax/parser_private.h"

/* About a word that nothing declares; NULL: none. */
const char *hint_for_word(const char *word, size_t length);

/* About a method that there is not. */
const char *hint_for_method(const char *name);

/* "fn" where a misspelt one stands in front of a name, and likewise the others that begin an item; NULL: nothing like it. */
const char *hint_for_item_word(parser *p);
/* About the token at which the parser wanted something else, and those before it; NULL: none. */
const char *hint_for_token(const parser *p);

/* Notes about names that are known elsewhere: a field of self, a variant, a method. False: there are none. */
bool hint_for_variable(checker *c, diagnostic *d, const char *name);
bool hint_for_function(checker *c, diagnostic *d, const expr *call, const char *name);
/* x.name where only x.name() exists, or where the name is known from elsewhere. */
bool hint_for_field(checker *c, diagnostic *d, const type *base, const char *name);

void hint_for_operands(checker *c, diagnostic *d, binary_op op, const type *left,
                       const type *right);

#endif
