/* check_items.h: what a program declares; signatures (check_items.c), main (check_main.c). */
#ifndef MASU_LANGUAGE_CHECK_ITEMS_H
#define MASU_LANGUAGE_CHECK_ITEMS_H

#include "language/front/check_context.h"

void check_declare_items(checker *c);
void check_signature(checker *c, function_item *f);
void check_report_twice(checker *c, source_span span, const char *name, source_span first);
/* check_main.c: before the declarations; at the end, with messages where there is no main. */
void check_main_result(checker *c);
void check_find_main(checker *c);
void check_made_lets(checker *c); /* those that are computed: `let` of main, before its own body */

#endif
