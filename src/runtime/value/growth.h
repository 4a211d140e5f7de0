/* growth.h: tensors that grow without being copied. See growth.c. Private to the runtime. */
#ifndef MASU_RUNTIME_GROWTH_H
#define MASU_RUNTIME_GROWTH_H

#include "runtime/state.h"

/* The tensor of that shape that begins with a's elements: a result of joining a and something in dimension dim.
 * *continued: those elements are there; else all are undefined. No history. Describes its failure. */
masu_status tl__growth_join(tl_tensor *a, tl_dtype dtype, int dim, const int64_t *shape, tl_tensor **out,
                            bool *continued);

/* A storage with room behind it. Refuses without a word: the caller has another way. */
bool tl__growth_storage(size_t bytes, tl_storage **out);
void tl__growth_free(tl_storage *storage);

/* Whether the header that is about to die reaches further than some other may that shares its storage. */
bool tl__growth_is_longest(const tl_tensor *t);
/* After its death: what no header reaches any more counts as free again. Walks all headers. */
void tl__growth_settle(tl_storage *storage);

void tl__growth_report(const tl_runtime *rt, tl_report *report);
bool tl__growth_valid(const tl_runtime *rt);
void tl__growth_destroy(tl_runtime *rt);

#endif
