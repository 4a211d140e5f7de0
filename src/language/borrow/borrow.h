/* borrow.h: who may use a place while references into it live. See borrow.c.
 */
#ifndef MASU_LANGUAGE_BORROW_H
#define MASU_LANGUAGE_BORROW_H

#include "language/diagnose/messages.h"
#include "language/syntax/tree.h"
#include <masu/status.h>

/* The program's functions as they were written: the checker rewrites them. */
typedef struct borrow_source {
    function_item **functions;
    uint32_t count;
} borrow_source;

/* Before check_tree. The copies live in the tree's arena. MASU_ERR_OUT_OF_MEMORY. Linear. */
masu_status borrow_begin(const syntax_tree *tree, borrow_source *out);

/* After a check without errors: adds the errors that Rust would report for references, and no others. Nothing of the
 * tree changes but its marks, where a type has a destructor. MASU_ERR_OUT_OF_MEMORY: some functions were not looked at.
 * A loan costs as much as the blocks in which it lives. */
masu_status borrow_check(syntax_tree *tree, const borrow_source *source, diagnostics *found);

#endif
