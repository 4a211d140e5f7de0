/* check_conform.h: what an impl block owes its trait. */
#ifndef MASU_LANGUAGE_TYPES_CHECK_CONFORM_H
#define MASU_LANGUAGE_TYPES_CHECK_CONFORM_H

#include "language/types/check_context.h"

/* Compares each impl block of the program with its trait and reports what is missing or other than declared. The
 * signatures are known by then. */
void check_conform(checker *c);

#endif
