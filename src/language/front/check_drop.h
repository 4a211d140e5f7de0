/* check_drop.h: types with a destructor. */
#ifndef MASU_LANGUAGE_CHECK_DROP_H
#define MASU_LANGUAGE_CHECK_DROP_H

#include "language/types/check_context.h"
#include "language/types/check_destructor.h"

/* Of every type that the program uses by now: it may make instances of destructors, whose bodies are still to be
 * checked. */
void check_finish_drops(checker *c);

#endif
