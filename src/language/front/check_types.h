/* check_types.h: constants: their values (check_constants.c), and F32::max_value() and its like (check_constant.c). */
#ifndef MASU_LANGUAGE_CHECK_TYPES_H
#define MASU_LANGUAGE_CHECK_TYPES_H

#include "language/types/check_context.h"
#include "language/types/check_written.h"

/* The type and value of a constant, wherever it is. */
void check_constant_now(checker *c, const_item *item, source_span from);
/* T::name or T::name(); node becomes a literal. False when there is no such constant. */
bool check_scalar_constant(checker *c, expr *e, const char *scope, const char *name, bool called);
bool check_scalar_scope(const char *scope);

#endif
