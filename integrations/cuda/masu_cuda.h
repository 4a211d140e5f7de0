/* masu_cuda.h: what a program can ask of libmasu_cuda.so beyond being left alone. Look it up, for the library is not
 * always there:
 *
 *     int (*resize)(void **, size_t) = dlsym(RTLD_DEFAULT, "masu_cuda_resize");
 */
#ifndef MASU_CUDA_H
#define MASU_CUDA_H

#include <stddef.h>

/* Gives memory of cudaMalloc another size; contents stay and nothing is copied on the device, except for
 * blocks under 1 MiB. *ptr may change. Waits for the device's work. A CUDA error number: 0, 1 (not
 * memory of this library), 2 (out of memory; nothing has changed). */
int masu_cuda_resize(void **ptr, size_t bytes);

#endif
