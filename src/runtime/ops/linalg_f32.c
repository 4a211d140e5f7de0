/* linalg_f32.c: matrices of f32 taken apart. */
#define NUMBER         float
#define LAPACK(name)   s##name##_
#define TAKE_ALL_APART tl__take_apart_f32
#include "runtime/ops/linalg_typed.h"
