/* parser.h: text to tree. */
#ifndef MASU_LANGUAGE_PARSER_H
#define MASU_LANGUAGE_PARSER_H

#include "language/diagnose/messages.h"
#include "language/syntax/tree.h"
#include <masu/status.h>

/* Brackets, blocks, types, patterns inside one another; and levels of the tree in all, which counts
 * the operators in a row of a + b + … too. A walk over the tree may recurse. */
enum { PARSER_NESTING_MAX = 256, PARSER_HEIGHT_MAX = 4000 };

/* prelude (NULL: none) is read first, into the same tree; of its functions only the heads.
 *
 * names: what a first reading found, when one name means several items (modules_clash); else NULL.
 *
 * Any bytes are accepted; what is wrong is reported and skipped to the next statement or item.
 * Everything lives in the arena, *out too. MASU_OK also with errors in diagnostics;
 * MASU_ERR_OUT_OF_MEMORY otherwise, *out untouched. The file must outlive the tree. Linear in the
 * size of the text. */
masu_status parse_source(const source_file *file, const source_file *prelude, masu__arena *arena,
                         diagnostics *diagnostics, module_names *names, syntax_tree **out);

/* The items of another file of the program: a module. */
masu_status parse_module(syntax_tree *tree, const source_file *file, module_scope *module, diagnostics *diagnostics);

/* Reads the body of a function whose `unread` says where it is; `unread` is empty then. MASU_ERR_OUT_OF_MEMORY: nothing
 * is changed. Linear in the size of the body. */
masu_status parse_unread(syntax_tree *tree, function_item *f, diagnostics *diagnostics);

#endif
