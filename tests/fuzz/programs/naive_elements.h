/* naive_elements.h: what the files with the naive operations share: places of elements, and operations element by
 * element. */
#ifndef MASU_FUZZ_NAIVE_ELEMENTS_H
#define MASU_FUZZ_NAIVE_ELEMENTS_H

#include "naive.h"

enum { MOST_INDICES = TL_MAX_RANK };

void naive_place_of(const tensor *t, int64_t offset, int64_t *index);
cell *naive_at(const tensor *t, const int64_t *index);
cell *naive_broadcast_at(const tensor *t, int rank, const int64_t *index);
int naive_dimension(naive *n, const tensor *t, double dim, int extra);
void naive_join_shapes(naive *n, const tensor *t, int *rank, int64_t *shape);
tl_dtype naive_richer(tl_dtype a, tl_dtype b);
bool naive_is_real(tl_dtype dtype);
tensor *naive_one_by_one(naive *n, const naive_call *c); /* NULL, as of the others: it is not known here */
tensor *naive_two_by_two(naive *n, const naive_call *c);
tensor *naive_compare(naive *n, const naive_call *c);
tensor *naive_where(naive *n, const naive_call *c);

#endif
