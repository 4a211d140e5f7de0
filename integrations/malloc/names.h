/* names.h: what this library is called by, where no header of the system says so. */
#ifndef MASU_MALLOC_NAMES_H
#define MASU_MALLOC_NAMES_H

#include <malloc.h>
#include <stdlib.h>

void cfree(void *ptr);
void free_sized(void *ptr, size_t bytes);
void free_aligned_sized(void *ptr, size_t alignment, size_t bytes);
void *reallocf(void *ptr, size_t bytes);
int reallocarr(void *place, size_t count, size_t bytes);
void vfree(void *ptr);
size_t malloc_size(const void *ptr);
size_t malloc_good_size(size_t bytes);
void *_aligned_malloc(size_t alignment, size_t bytes);

#endif
