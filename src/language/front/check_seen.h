/* check_seen.h: holders of a value, where holders of the same value as a dyn type are wanted (check_seen.c). */
#ifndef MASU_LANGUAGE_CHECK_SEEN_H
#define MASU_LANGUAGE_CHECK_SEEN_H

#include "language/types/check_context.h"

bool check_is_seen_as(checker *c, const type *from, const type *to);
/* *slot is a struct, and check_is_seen_as says yes of it and `to`. */
bool check_see_as(checker *c, expr **slot, const type *to);

#endif
