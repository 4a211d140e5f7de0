/* row_fold.h: loops that make one number of many. Kernels of reduce.c.
 *
 * Sums and products of floats are carried in f64 whatever the type, in sixteen lanes that are
 * added in a fixed order: vectorisable, deterministic, and the error does not grow with the
 * length of an f32 tensor. Of sixteen elements of f32 and more, four are added in f32 before
 * they are carried. Whole numbers wrap.
 */
#ifndef MASU_RUNTIME_OPS_FOLD_H
#define MASU_RUNTIME_OPS_FOLD_H

#include "runtime/value/tensor.h"

/* A running total: of floats in f64, of whole numbers in i64. */
typedef struct tl_total {
    double real;
    int64_t whole;
} tl_total;

typedef struct tl_fold {
    tl_total start;
    /* Takes n elements that lie stride apart into *total. */
    void (*row)(const void *from, int64_t n, int64_t stride, tl_total *total);
    /* to[j] = fold over k < n of from[k * stride + j], for j < columns: reads along memory. */
    void (*columns)(const void *from, int64_t n, int64_t stride, int64_t columns, void *to);
    /* *to = total, in the element type */
    void (*store)(const tl_total *total, void *to);
} tl_fold;

/* By element type; none for bool. */
extern const tl_fold tl__fold_sum[TL_DTYPE_COUNT];
extern const tl_fold tl__fold_product[TL_DTYPE_COUNT];

/* The place of the largest or smallest of n > 0 elements; the first among equals, NaN before all
 * else. */
typedef int64_t tl_search_function(const void *from, int64_t n, int64_t stride);
extern tl_search_function *const tl__search_largest[TL_DTYPE_COUNT];
extern tl_search_function *const tl__search_smallest[TL_DTYPE_COUNT];

/* *to = the largest or smallest of n elements in a row, where it does not matter which of several it is. False, and
 * nothing written: it does (zeros have a sign, NaN has bits), or the row is short; then the place says it. */
typedef bool tl_value_function(const void *from, int64_t n, void *to);
extern tl_value_function *const tl__value_largest[TL_DTYPE_COUNT];
extern tl_value_function *const tl__value_smallest[TL_DTYPE_COUNT];

/* The search of columns 0 to columns - 1 of n rows that lie stride apart: reads along memory. values and places: one of
 * each for a column; either may be NULL. */
typedef void tl_search_columns_function(const void *from, int64_t n, int64_t stride, int64_t columns, void *values,
                                        int64_t *places);
extern tl_search_columns_function *const tl__columns_largest[TL_DTYPE_COUNT];
extern tl_search_columns_function *const tl__columns_smallest[TL_DTYPE_COUNT];

/* Whether the element at a beats the one at b by the same order. */
typedef bool tl_beats_function(const void *a, const void *b);
extern tl_beats_function *const tl__beats_largest[TL_DTYPE_COUNT];
extern tl_beats_function *const tl__beats_smallest[TL_DTYPE_COUNT];

#endif
