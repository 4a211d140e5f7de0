/* windows.h: windows that slide over images, as windows.c and convolve.c see them.
 *
 * A window is eight numbers: kernel, stride, padding and dilation, height before width.
 */
#ifndef MASU_RUNTIME_OPS_WINDOWS_H
#define MASU_RUNTIME_OPS_WINDOWS_H

#include "runtime/value/tensor.h"

enum { KERNEL_H, KERNEL_W, STRIDE_H, STRIDE_W, PADDING_H, PADDING_W, DILATION_H, DILATION_W, WINDOW_WORDS };

typedef struct tl_sliding {
    int64_t images, height, width; /* images: n * c */
    int64_t kernel[2], stride[2], padding[2], dilation[2], places[2];
} tl_sliding;

/* The window of these WINDOW_WORDS numbers over t, [n, c, height, width]; false: it does not fit. */
bool tl__sliding_of(const tl_tensor *t, const int64_t *w, tl_sliding *out);

/* t: row-major, floating, with the elements of s. Outside of the images is `fill`. */
masu_status tl__unfold(const tl_tensor *t, const tl_sliding *s, double fill, tl_tensor **out);

#endif
