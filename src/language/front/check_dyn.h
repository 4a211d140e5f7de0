/* check_dyn.h: `dyn Trait`, functions in fields and results (check_dyn.c). */
#ifndef MASU_LANGUAGE_CHECK_DYN_H
#define MASU_LANGUAGE_CHECK_DYN_H

#include "language/front/check_closure.h"
#include "language/types/check_context.h"
#include "language/types/check_dyn_types.h"

bool check_convert_to_dyn(checker *c, expr **slot, const type *to); /* check_walk.h */
void check_dyn_lend(checker *c, expr *call, expr **slot, const type *to);
/* held::<T>(x) of a dyn x as a call of its method; false: it is another call. */
bool check_dyn_held(checker *c, expr *call);
/* One whose body was just written again; NULL: all are. */
function_item *check_dyn_unwritten(checker *c);

#endif
