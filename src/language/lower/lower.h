/* lower.h: from the checked tree to IR. */
#ifndef MASU_LANGUAGE_LOWER_H
#define MASU_LANGUAGE_LOWER_H

#include "language/diagnose/diagnostics.h"
#include "language/ir/ir.h"
#include "language/syntax/tree.h"
#include <masu/status.h>

/* Whether every error found so far lies inside the body of some function, so that the other functions can be
 * lowered and examined all the same. */
bool lower_errors_confined(const syntax_tree *tree, const diagnostics *diagnostics);

/* Every function of the tree as IR in IR_PHASE_BUILT, in a module that lives in `arena` and borrows names and spans
 * from the tree. The tree must have been checked, with confined errors at most: a function that has one gets a body
 * that says nothing (IR_UNREACHABLE), and the module is good for diagnosis only. MASU_OK or MASU_ERR_OUT_OF_MEMORY.
 * Linear in the tree, but for one pass over the body of each loop. */
masu_status lower_tree(const syntax_tree *tree, const type_table *types, masu__arena *arena,
                       const diagnostics *diagnostics, ir_module **out);

#endif
