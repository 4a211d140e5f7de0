/* gradients_kept.h: private to the pass `gradients`. */
#ifndef MASU_LANGUAGE_PASS_GRADIENTS_KEPT_H
#define MASU_LANGUAGE_PASS_GRADIENTS_KEPT_H

#include "language/ir/ir.h"

/* Has the gradients of results kept that the program may read. Built IR; before values are counted. */
void gradients_keep(ir_module *m, masu__arena *scratch);

#endif
