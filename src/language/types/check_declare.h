/* check_declare.h: what a program declares. */
#ifndef MASU_LANGUAGE_TYPES_CHECK_DECLARE_H
#define MASU_LANGUAGE_TYPES_CHECK_DECLARE_H

#include "language/types/check_context.h"

void check_declare_items(checker *c);
void check_signature(checker *c, function_item *f);
void check_report_twice(checker *c, source_span span, const char *name, source_span first);

#endif
