/* check_build.h: nodes for constructs that are written out (check_build.c). They are not checked yet. */
#ifndef MASU_LANGUAGE_CHECK_BUILD_H
#define MASU_LANGUAGE_CHECK_BUILD_H

#include "language/types/check_context.h"
#include "language/types/check_tree_made.h"

expr *check_cast_as_written(checker *c, expr *value, const char *name); /* value as NAME */
const char *check_std_name(checker *c, const char *name);

#endif
