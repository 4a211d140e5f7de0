/* threads.h: one loop over many elements, done by several threads.
 *
 *     tl__in_parts(n, …)   n small                    the caller does it
 *                          n large   ─► chunks ─┬─►   the caller takes chunks, too
 *                                               └─►   workers that wait for the next loop, as many as there are other
 *                                                     processors, made at the first large loop
 *
 * A part writes only what is its own and holds nothing of the runtime: it neither allocates nor fails. Where numbers
 * are added up, chunks are cut by the number of elements alone, so results do not depend on how many threads there are.
 */
#ifndef MASU_RUNTIME_OPS_THREADS_H
#define MASU_RUNTIME_OPS_THREADS_H

#include <stdint.h>

/* From this many elements on several threads are worth their waking up (about 20 µs against 60 µs of adding f32). */
enum { TL_LARGE_LOOP = 1 << 18 };

/* Ranges of elements are multiples of this, so that no two threads write to one line of the cache. */
enum { TL_CACHE_LINE = 64 };

/* Does its range of what there is to do: [from, to), not empty. */
typedef void tl_part_function(void *context, int64_t from, int64_t to);

/* Calls part for ranges that cover [0, n) once, each but the last a multiple of `unit` long; returns when all is done.
 * elements: how much work that is. Any thread may call it; while one is being served, others do their loops alone. */
void tl__in_parts(int64_t n, int64_t unit, int64_t elements, tl_part_function *part, void *context);

#endif
