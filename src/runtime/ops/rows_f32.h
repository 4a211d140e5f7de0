/* rows_f32.h: loops of kernels.def for elements of f32 that lie side by side, where one of its own pays.
 *
 * Each yields the bits of its row of kernels.def. The result may lie on the operand.
 */
#ifndef MASU_RUNTIME_OPS_ROWS_F32_H
#define MASU_RUNTIME_OPS_ROWS_F32_H

#include <stdint.h>

void tl__exp_row(int64_t n, const float *x, float *out);
void tl__sigmoid_row(int64_t n, const float *x, float *out);
void tl__silu_row(int64_t n, const float *x, float *out);
void tl__gelu_row(int64_t n, const float *x, float *out);

#endif
