/* quote.h: a tree written as the text that it means.
 *
 *     "{ let $x = $0; $1 <= $x && $x < $2 }"
 *
 *     $0 … $9     the parts: a tree that is put where it is named, and a copy of it wherever it is named again; for a
 *                 name of a method or a type that is a hole, the name that the part is
 *     $name       a variable of the quote's own, another one each time the quote is used
 *     $$name      <name>, which several quotes share
 *
 * A text is read once for a program; each use is a copy that lies at one place of the program.
 *
 * What must stay true (asserted): a quote is read without a message, and names no part that it is not given.
 */
#ifndef MASU_LANGUAGE_QUOTE_H
#define MASU_LANGUAGE_QUOTE_H

#include "language/syntax/tree.h"

/* text: a constant, by whose address it is known again. number: of this use. NULL: out of memory. The first use is
 * linear in the text, each in the tree. */
expr *quote_write(syntax_tree *tree, const char *text, source_span span, uint32_t number, expr *const *parts,
                  uint32_t count);

/* `trait N { … }` as a tree of its own, which nothing finds by its name; read once for a program. NULL: out of
 * memory. */
const trait_item *quote_trait(syntax_tree *tree, const char *text);

/* tree_copy.c */
typedef struct quote_use {
    source_span span;
    uint32_t number;
    expr *const *parts;
    uint32_t count;
    uint32_t used; /* bits of the parts that were put somewhere */
} quote_use;
expr *expr_fill(masu__arena *arena, const expr *quote, quote_use *use);

#endif
