/* kernels.c: kernels.def turned into loops.
 *
 * A kernel of two operands has four loops, by their strides (1 1, 1 0, 0 1, any), so that the
 * usual ones vectorise. The result may lie exactly on an operand: element i is read before it is
 * written, and no other element is touched, which is what TL_INDEPENDENT tells gcc. clang finds
 * out at run time, or takes one by one. Floating-point exceptions are not looked at, so that choices need no branches.
 */
#if defined(__OPTIMIZE__) && !defined(__clang__)
#pragma GCC optimize("O3", "no-trapping-math", "no-math-errno")
#define TL_INDEPENDENT _Pragma("GCC ivdep")
#else
#define TL_INDEPENDENT
#endif

#include "runtime/ops/kernels.h"
#include "runtime/ops/rows_f32.h"
#include "runtime/ops/special.h"
#include "runtime/ops/vector_math.h"

#include <tgmath.h>

/* ---- what the table's expressions call ------------------------------------------------------- */

#define WHOLE_FUNCTION(name, parameters, ...) static inline int64_t name parameters __VA_ARGS__
#define FLOAT_FUNCTION(name, parameters, ...)
#include "runtime/ops/element_functions.def"
#undef WHOLE_FUNCTION
#undef FLOAT_FUNCTION

/* f64 goes to the C library. */
#define EITHER(function, x) _Generic((x), float : tl__##function##_f32((float)(x)), default : function(x))
#define exp_of(x)           EITHER(exp, x)
#define log_of(x)           EITHER(log, x)
#define erf_of(x)           EITHER(erf, x)
#define tanh_of(x)          EITHER(tanh, x)

#define WHOLE_FUNCTION(name, parameters, ...)
#define T                                     float
#define FLOAT_FUNCTION(name, parameters, ...) static inline float name##_f32 parameters __VA_ARGS__
#include "runtime/ops/element_functions.def"
#undef FLOAT_FUNCTION
#undef T
#define T                                     double
#define FLOAT_FUNCTION(name, parameters, ...) static inline double name##_f64 parameters __VA_ARGS__
#include "runtime/ops/element_functions.def"
#undef FLOAT_FUNCTION
#undef T
#undef WHOLE_FUNCTION

#define BY_TYPE(function, x)     _Generic((x), float : function##_f32, default : function##_f64)
#define float_rem(x, y)          BY_TYPE(float_rem, x)(x, y)
#define float_floor_divide(x, y) BY_TYPE(float_floor_divide, x)(x, y)
#define sigmoid(x)               BY_TYPE(sigmoid, x)(x)
#define normal_of(x)             _Generic((x), float : tl__normal_f32((float)(x)), default : normal_f64(x))
#define normal_density(x)        BY_TYPE(normal_density, x)(x)
#define silu_slope(x)            BY_TYPE(silu_slope, x)(x)
#define softplus(x)              BY_TYPE(softplus, x)(x)
#define mish_slope(x)            BY_TYPE(mish_slope, x)(x)
#define pow_slope(g, x, y)       BY_TYPE(pow_slope, g)(g, x, y)

/* ---- loops ----------------------------------------------------------------------------------- */

#define EACH(statement)               \
    TL_INDEPENDENT                    \
    for (int64_t i = 0; i < n; i++) { \
        statement;                    \
    }

/* Opens a kernel: the types of its row in the table and its numbers. */
#define OPEN(name, suffix, type, R)                                                                                   \
    TL_WIDE static void kernel_##name##_##suffix(int64_t n, void *out_, const void *const *in, const int64_t *stride, \
                                                 const double *p) {                                                   \
        typedef type T;                                                                                               \
        const T P0 = (T)p[0], P1 = (T)p[1];                                                                           \
        (void)P0;                                                                                                     \
        (void)P1;                                                                                                     \
        R *out = out_;

#define MAP1(name, suffix, type, R, A, value)            \
    OPEN(name, suffix, type, R)                          \
    const A *a = in[0];                                  \
    const int64_t sa = stride[0];                        \
    if (sa == 1)                                         \
        EACH(const A x = a[i]; out[i] = (R)(value))      \
    else                                                 \
        EACH(const A x = a[i * sa]; out[i] = (R)(value)) \
    }

#define MAP1_ROW(name, suffix, type, R, A, value, row)   \
    OPEN(name, suffix, type, R)                          \
    const A *a = in[0];                                  \
    const int64_t sa = stride[0];                        \
    if (sa == 1)                                         \
        row(n, a, out);                                  \
    else                                                 \
        EACH(const A x = a[i * sa]; out[i] = (R)(value)) \
    }

#define MAP2(name, suffix, type, R, A, B, value)                                \
    OPEN(name, suffix, type, R)                                                 \
    const A *a = in[0];                                                         \
    const B *b = in[1];                                                         \
    const int64_t sa = stride[0], sb = stride[1];                               \
    if (sa == 1 && sb == 1) {                                                   \
        EACH(const A x = a[i]; const B y = b[i]; out[i] = (R)(value))           \
    } else if (sa == 1 && sb == 0) {                                            \
        const B y = *b;                                                         \
        EACH(const A x = a[i]; out[i] = (R)(value))                             \
    } else if (sa == 0 && sb == 1) {                                            \
        const A x = *a;                                                         \
        EACH(const B y = b[i]; out[i] = (R)(value))                             \
    } else {                                                                    \
        EACH(const A x = a[i * sa]; const B y = b[i * sb]; out[i] = (R)(value)) \
    }                                                                           \
    }

#define MAP3(name, suffix, type, R, A, B, C, value)                                                    \
    OPEN(name, suffix, type, R)                                                                        \
    const A *a = in[0];                                                                                \
    const B *b = in[1];                                                                                \
    const C *c = in[2];                                                                                \
    const int64_t sa = stride[0], sb = stride[1], sc = stride[2];                                      \
    if (sa == 1 && sb == 1 && sc == 1)                                                                 \
        EACH(const A x = a[i]; const B y = b[i]; const C z = c[i]; out[i] = (R)(value))                \
    else                                                                                               \
        EACH(const A x = a[i * sa]; const B y = b[i * sb]; const C z = c[i * sc]; out[i] = (R)(value)) \
    }

#define KERNEL(name)
#define FLOAT1(name, R, A, value)       \
    MAP1(name, f32, float, R, A, value) \
    MAP1(name, f64, double, R, A, value)
#define FLOAT1_ROW(name, R, A, value, row)       \
    MAP1_ROW(name, f32, float, R, A, value, row) \
    MAP1(name, f64, double, R, A, value)
#define FLOAT2(name, R, A, B, value)       \
    MAP2(name, f32, float, R, A, B, value) \
    MAP2(name, f64, double, R, A, B, value)
#define FLOAT3(name, R, A, B, C, value)       \
    MAP3(name, f32, float, R, A, B, C, value) \
    MAP3(name, f64, double, R, A, B, C, value)
#define INT1(name, R, A, value)        MAP1(name, i64, int64_t, R, A, value)
#define INT2(name, R, A, B, value)     MAP2(name, i64, int64_t, R, A, B, value)
#define INT3(name, R, A, B, C, value)  MAP3(name, i64, int64_t, R, A, B, C, value)
#define BOOL1(name, R, A, value)       MAP1(name, b8, tl_byte, R, A, value)
#define BOOL2(name, R, A, B, value)    MAP2(name, b8, tl_byte, R, A, B, value)
#define BOOL3(name, R, A, B, C, value) MAP3(name, b8, tl_byte, R, A, B, C, value)
#include "runtime/ops/kernels.def"
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

/* ---- the table ------------------------------------------------------------------------------- */

#define FLOAT_ROW(name) [TL_K_##name][TL_F32] = kernel_##name##_f32, [TL_K_##name][TL_F64] = kernel_##name##_f64,
#define INT_ROW(name)   [TL_K_##name][TL_I64] = kernel_##name##_i64,
#define BOOL_ROW(name)  [TL_K_##name][TL_BOOL] = kernel_##name##_b8,

tl_kernel_function *const tl__kernels[TL_K_COUNT][TL_DTYPE_COUNT] = {
#define FLOAT1(name, R, A, value)          FLOAT_ROW(name)
#define FLOAT1_ROW(name, R, A, value, row) FLOAT_ROW(name)
#define FLOAT2(name, R, A, B, value)       FLOAT_ROW(name)
#define FLOAT3(name, R, A, B, C, value)    FLOAT_ROW(name)
#define INT1(name, R, A, value)            INT_ROW(name)
#define INT2(name, R, A, B, value)         INT_ROW(name)
#define INT3(name, R, A, B, C, value)      INT_ROW(name)
#define BOOL1(name, R, A, value)           BOOL_ROW(name)
#define BOOL2(name, R, A, B, value)        BOOL_ROW(name)
#define BOOL3(name, R, A, B, C, value)     BOOL_ROW(name)
#include "runtime/ops/kernels.def"
};
