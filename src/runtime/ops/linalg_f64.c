/* linalg_f64.c: matrices of f64 taken apart. */
#define NUMBER         double
#define LAPACK(name)   d##name##_
#define TAKE_ALL_APART tl__take_apart_f64
#include "runtime/ops/linalg_typed.h"
