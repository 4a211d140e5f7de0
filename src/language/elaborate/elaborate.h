/* elaborate.h: the last phase before the lowering: typed nodes become core. The check says what type each node has, and
 * marks what only types decide; here the marked nodes are written out.
 *
 *     check ─► elaborate ─► the judge of trees ─► lower
 *
 * Nothing is asked here of names, and nothing is reported: the room sees the tree and its types, and neither the
 * check's nor the messages' files.
 *
 *     elaborate.c          the walk
 *     elaborate_update.c   t -= b as the step of an optimiser; s += text
 *     elaborate_never.c    calls that never come back
 *     elaborate_text.c     operators of texts
 *     elaborate_list.c     [a, b] and [v; n], with vec! too
 *     elaborate_base.c     P { x: a, ..base }
 *     elaborate_choice.c   min, max and abs of whole numbers
 *     tree_valid.c         the judge
 */
#ifndef MASU_LANGUAGE_ELABORATE_H
#define MASU_LANGUAGE_ELABORATE_H

#include "base/buffer.h"
#include "language/syntax/tree.h"
#include <masu/status.h>

/* The bodies of all functions that are checked, in place: also in a program with errors, whose other functions are
 * looked at further. What is made lives in the tree's arena. MASU_ERR_OUT_OF_MEMORY: the tree is half done. Once for a
 * tree; linear in its size; recursion is as deep as the tree is high. */
masu_status elaborate_tree(syntax_tree *tree, type_table *types);

/* Whether a tree that was checked without errors, and elaborated, is as tree.h promises. Writes one line a fault to
 * out. Linear. */
bool check_tree_valid(const syntax_tree *tree, masu__buffer *out);
/* The same of one function: holds for a function without an error of its own when all errors of the program are inside
 * of functions' bodies. */
bool check_function_valid(const syntax_tree *tree, const function_item *f, masu__buffer *out);

#endif
