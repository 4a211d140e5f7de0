/* check_alike.h: whether what an impl block writes is what its trait declares, as far as it is known without types. */
#ifndef MASU_LANGUAGE_TYPES_CHECK_ALIKE_H
#define MASU_LANGUAGE_TYPES_CHECK_ALIKE_H

#include "language/types/check_context.h"

/* Two signatures of one method: the impl block's own and its trait's. */
typedef struct alike_pair {
    checker *c;
    const impl_item *impl;
    const trait_item *trait;
    const function_item *own, *declared; /* NULL: of a constant */
} alike_pair;

/* own is certainly another type than declared: true. Where the text does not say so: false. NULL: nothing is
 * written. */
bool check_is_otherwise(const alike_pair *p, const type_expr *own, const type_expr *declared);

#endif
