/* check_items.h: `main`, and what is declared at the top and computed before it (check_main.c). */
#ifndef MASU_LANGUAGE_CHECK_ITEMS_H
#define MASU_LANGUAGE_CHECK_ITEMS_H

#include "language/types/check_context.h"
#include "language/types/check_declare.h"

/* check_main.c: before the declarations; at the end, with messages where there is no main. */
void check_main_result(checker *c);
void check_find_main(checker *c);
void check_made_lets(checker *c); /* those that are computed: `let` of main, before its own body */

#endif
