/* lower.h: from the checked tree to IR. */
#ifndef MASU_LANGUAGE_LOWER_H
#define MASU_LANGUAGE_LOWER_H

#include "language/front/diagnostics.h"
#include "language/front/tree.h"
#include "language/ir/ir.h"
#include <masu/status.h>

/* Every function of the tree as IR in IR_PHASE_BUILT, in a module that lives in `arena` and borrows names and spans
 * from the tree. The tree must have been checked without errors. MASU_OK, also when diagnostics gained an error
 * (then the module is not to be used), or MASU_ERR_OUT_OF_MEMORY. Linear in the tree, but for one pass over the body of
 * each loop. */
masu_status lower_tree(const syntax_tree *tree, const type_table *types, masu__arena *arena, diagnostics *diagnostics,
                       ir_module **out);

#endif
