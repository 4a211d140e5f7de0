/* kernels.h: the element-wise kernels as a table. kernels.def says what each computes. */
#ifndef MASU_RUNTIME_OPS_KERNELS_H
#define MASU_RUNTIME_OPS_KERNELS_H

#include "runtime/ops/walk.h"

typedef uint8_t tl_byte; /* an element of a bool tensor: 0 or 1 */

typedef enum tl_kernel_index {
#define KERNEL(name) TL_K_##name,
#define FLOAT1(...)
#define FLOAT1_ROW(...)
#define FLOAT2(...)
#define FLOAT3(...)
#define INT1(...)
#define INT2(...)
#define INT3(...)
#define BOOL1(...)
#define BOOL2(...)
#define BOOL3(...)
#include "runtime/ops/kernels.def"
#undef KERNEL
#undef FLOAT1
#undef FLOAT1_ROW
#undef FLOAT2
#undef FLOAT3
#undef INT1
#undef INT2
#undef INT3
#undef BOOL1
#undef BOOL2
#undef BOOL3
    TL_K_COUNT
} tl_kernel_index;

/* NULL: not defined for this element type. The result may be the same memory as an operand of
 * the same strides. */
extern tl_kernel_function *const tl__kernels[TL_K_COUNT][TL_DTYPE_COUNT];

#endif
