/* element_formulas.h: slopes by the kernel that an ordinary backward uses. Private to the operations. */
#ifndef MASU_RUNTIME_OPS_ELEMENT_FORMULAS_H
#define MASU_RUNTIME_OPS_ELEMENT_FORMULAS_H

#include "runtime/grad/formula.h"

/* back(f->g, x), x what the operation saved (NULL: nothing), p its numbers. */
tl_tensor *tl__unary_slope(tl_formula *f, tl_kernel_index back, tl_tensor *x, const double p[2]);
/* back(f->g, a, b) */
tl_tensor *tl__binary_slope(tl_formula *f, tl_kernel_index back, tl_tensor *a, tl_tensor *b);

#endif
