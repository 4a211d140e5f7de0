/* turn.h: the elements of any view, row by row in one piece. See turn.c. */
#ifndef MASU_RUNTIME_VALUE_TURN_H
#define MASU_RUNTIME_VALUE_TURN_H

#include "runtime/value/tensor.h"

/* Fills `to`, which does not overlap t, with t's elements in row-major order. t has elements. */
void tl__turn(void *to, const tl_tensor *t);

#endif
