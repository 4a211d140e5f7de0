/* check.h: names and types of a whole program. See tree.h for what the tree looks like afterwards.
 */
#ifndef MASU_LANGUAGE_CHECK_H
#define MASU_LANGUAGE_CHECK_H

#include "language/diagnose/messages.h"
#include "language/syntax/tree.h"
#include <masu/status.h>

/* Resolves, types and simplifies the tree in place; what is left is for elaborate.h. Everything made lives in the
 * tree's arena.
 *
 * MASU_OK also when the program is wrong: then diagnostics has errors. In such a tree only those
 * functions may be used that have no error of their own, and only when every error of the program lies
 * inside of some function's body (none outside, none dropped over the limit).
 *
 * MASU_ERR_OUT_OF_MEMORY: the tree is half done.
 *
 * Linear in the size of the source; recursion is bounded by the parser's limits. */
masu_status check_tree(syntax_tree *tree, type_table *types, diagnostics *diagnostics);

#endif
