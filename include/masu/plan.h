/* plan.h: the static planner. Buffers whose size and lifetime are known get an offset in one arena.
 *
 * A row lives in the half-open range [lower, upper): one that ends where another begins may share
 * its bytes. The planner looks for offsets that keep rows alive at the same time apart and the
 * arena low. No arena can be lower than the largest sum of sizes alive at once (rounded up to
 * each alignment where it must be): the lower bound. A plan that reaches the bound is optimal and
 * says so.
 *
 *     offset ▲            bound = 7
 *         6  │   bbbbb
 *         4  │ aaabbbbbcccc     rows alive together never share an offset
 *         0  │ aaa dddddddd
 *            └───────────────► time
 *
 * Deterministic: the same rows give the same plan on every machine. Thread safety: any thread, no
 * shared state.
 */
#ifndef MASU_PLAN_H
#define MASU_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <masu/export.h>
#include <masu/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct masu_plan_row {
    uint64_t size_bytes;      /* 0: takes no place, offset 0 */
    int64_t lower;            /* first moment of life */
    int64_t upper;            /* first moment after it, > lower */
    uint64_t alignment_bytes; /* of the offset, a power of two; 0 means 1 */
} masu_plan_row;

typedef struct masu_plan_result {
    uint64_t height_bytes;      /* of the arena */
    uint64_t lower_bound_bytes; /* no plan is lower */
    bool optimal;               /* height == lower bound */
    const char *order;          /* the order of placement that won, static text */
} masu_plan_result;

/* Fills offsets[count] (the caller's) and *result. rows are borrowed. MASU_ERR_INVALID_ARGUMENT
 * (upper <= lower, alignment not a power of two; *bad_row says which, bad_row may be NULL),
 * MASU_ERR_OVERFLOW (sizes add up beyond 2^63), MASU_ERR_OUT_OF_MEMORY. On failure offsets and
 * result are untouched. Cost: O(n²) steps of about a nanosecond for each of a dozen orders of
 * placement, ended early when the bound is reached and cut short by a limit on the steps in all;
 * O(n) memory. */
MASU_API masu_status masu_plan_solve(const masu_plan_row *rows, size_t count, uint64_t *offsets,
                                     masu_plan_result *result, size_t *bad_row);

/* The lower bound alone, O(n log n). */
MASU_API masu_status masu_plan_lower_bound(const masu_plan_row *rows, size_t count,
                                           uint64_t *out_bytes);

typedef enum masu_plan_verdict {
    MASU_PLAN_FINE,
    MASU_PLAN_OVERLAP,    /* two rows alive together share a byte */
    MASU_PLAN_MISALIGNED, /* an offset is not a multiple of its row's alignment */
    MASU_PLAN_OUTSIDE,    /* a row ends above the height, or wraps */
    MASU_PLAN_VERDICT_COUNT
} masu_plan_verdict;

/* The judge, quadratic and obvious. The first row that is wrong goes to *row_a, its partner to
 * *row_b (both may be NULL; row_b is only set for an overlap). */
MASU_API masu_plan_verdict masu_plan_check(const masu_plan_row *rows, size_t count,
                                           const uint64_t *offsets, uint64_t height_bytes,
                                           size_t *row_a, size_t *row_b);

#ifdef __cplusplus
}
#endif

#endif
