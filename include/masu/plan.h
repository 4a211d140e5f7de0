/* plan.h: the static planner. Buffers whose size and lifetime are known get an offset in one arena.
 *
 * A row lives in the half-open range [lower, upper), its gaps left out: one that ends where another
 * begins may share its bytes. The planner looks for offsets that keep rows alive at the same time
 * apart and the arena low. No arena can be lower than the largest sum of sizes alive at once: the
 * lower bound. A plan that reaches the bound is optimal and says so; so does one below which an
 * exhaustive search found nothing.
 *
 *     offset ▲            bound = 7
 *         6  │   bbbbb
 *         4  │ aaabbbbbcccc     rows alive together never share an offset
 *         0  │ aaa dddddddd
 *            └───────────────► time
 *
 * Deterministic: the same problem, seed and step limit give the same plan on every machine, with
 * any number of threads; a time limit may only cut the same work short. Thread safety: any thread,
 * no shared state; a problem is only read.
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

/* ---- the problem ----------------------------------------------------------------------------- */

/* A gap in a row's life: moments [lower, upper) in which its bytes are free for others, but for the
 * window [window_lower, window_upper), counted from the row's offset, which it keeps. 0, 0: it
 * keeps none. */
typedef struct masu_plan_gap {
    int64_t lower, upper; /* lower < upper */
    uint64_t window_lower, window_upper;
} masu_plan_gap;

typedef struct masu_plan_row {
    uint64_t size_bytes; /* 0: takes no place; offset 0, or where it is fixed or tied, in the arena or at its end */
    int64_t lower;       /* first moment of life */
    int64_t upper;       /* first moment after it, > lower */
    uint64_t alignment_bytes; /* of the offset, a power of two; 0 means 1 */
    bool is_fixed;            /* the offset is given: fixed_offset */
    bool has_hint;            /* an older plan had it at hint_offset: there, if no height is lost */
    uint64_t fixed_offset;
    uint64_t hint_offset;
    const masu_plan_gap *gaps; /* borrowed; inside [lower, upper), ascending, apart */
    size_t gap_count;
} masu_plan_row;

typedef enum masu_plan_relation_kind {
    MASU_PLAN_MUST_SHARE,     /* a and b have the same offset, whenever they live, and so has all
                                 that is tied to either: two views of one base */
    MASU_PLAN_MUST_NOT_SHARE, /* a and b share no byte, whenever they live */
    MASU_PLAN_MAY_SHARE,      /* b may take over a's offset in the moment in which a dies and b is
                                 born: a.upper - 1 == b.lower (in place), or both live on (view) */
} masu_plan_relation_kind;

typedef struct masu_plan_relation {
    masu_plan_relation_kind kind;
    size_t a, b; /* rows */
} masu_plan_relation;

/* Everything is borrowed and only read. Zero-initialise. */
typedef struct masu_plan_problem {
    const masu_plan_row *rows;
    size_t count;
    const masu_plan_relation *relations;
    size_t relation_count;
    uint64_t capacity_bytes; /* 0: none */
} masu_plan_problem;

/* ---- options and result ---------------------------------------------------------------------- */

typedef enum masu_plan_goal {
    MASU_PLAN_MINIMIZE, /* the lowest arena; not above capacity_bytes when there is one */
    MASU_PLAN_FIT,      /* any arena of at most capacity_bytes */
} masu_plan_goal;

typedef enum masu_plan_outcome {
    MASU_PLAN_OPTIMAL,    /* the plan is as low as any: bound reached, or nothing lower exists */
    MASU_PLAN_FEASIBLE,   /* a plan (below the capacity, if any); nothing lower is ruled out */
    MASU_PLAN_INFEASIBLE, /* proven: no plan fits into the capacity. No offsets. */
    MASU_PLAN_UNKNOWN,    /* limits ended the search: the best plan found is above the capacity */
} masu_plan_outcome;

/* A flag that one thread sets and the planner reads. Zero-initialise. */
typedef struct masu_plan_cancel_flag {
    int raised;
} masu_plan_cancel_flag;

typedef struct masu_plan_result {
    uint64_t height_bytes;      /* of the arena; 0 when INFEASIBLE */
    uint64_t lower_bound_bytes; /* proven: no plan is lower */
    bool optimal;               /* outcome == MASU_PLAN_OPTIMAL */
    masu_plan_outcome outcome;
    const char *order;   /* what found the plan, static text */
    uint64_t steps;      /* nodes of the search tree */
    uint32_t attempts;   /* searches begun */
    uint32_t placements; /* heuristic placements of all rows */
    double seconds;      /* wall clock */
} masu_plan_result;

typedef struct masu_plan_options {
    masu_plan_goal goal;
    double time_limit_s; /* wall clock; 0: none */
    uint64_t step_limit; /* nodes of the search, 0: none. With neither limit the search ends only
                            with a proof. MASU_PLAN_FIT: so many, and where they find no plan, as many again without
                            the capacity, so that no plan is missed that MASU_PLAN_MINIMIZE finds */
    uint64_t seed;
    unsigned threads;                    /* 0: two */
    unsigned only;                       /* 0: everything; otherwise just the method of this number */
    const masu_plan_cancel_flag *cancel; /* borrowed, may be NULL */
    /* Called in the calling thread whenever a lower plan is found; offsets are borrowed for the
     * call. May be NULL. */
    void (*improved)(void *context, const masu_plan_result *so_far, const uint64_t *offsets);
    void *context;
} masu_plan_options;

/* Ten seconds, two threads, seed 0, MASU_PLAN_MINIMIZE. */
MASU_API masu_plan_options masu_plan_options_default(void);

/* "valleys by area" and so on for 1, 2, …; NULL behind the last. Static text. */
MASU_API const char *masu_plan_method_name(unsigned number);

/* ---- calls ----------------------------------------------------------------------------------- */

/* Fills offsets[count] (the caller's) and *result. options may be NULL: the defaults. offsets are
 * filled with the best plan found unless the outcome is INFEASIBLE.
 * MASU_ERR_INVALID_ARGUMENT (see masu_plan_validate), MASU_ERR_OVERFLOW (sizes add up beyond
 * 2^62), MASU_ERR_OUT_OF_MEMORY: offsets and result are untouched then.
 * Cost: heuristics O(n log n) each; the search until a limit or a proof. */
MASU_API masu_status masu_plan_find(const masu_plan_problem *problem, const masu_plan_options *options,
                                    uint64_t *offsets, masu_plan_result *result);

/* The short form, for compilers: rows only, smallest height, no clock, a bounded number of steps:
 * the same plan everywhere, within about a second. *bad_row (may be NULL) says which row is wrong.
 * The statuses of masu_plan_find. */
MASU_API masu_status masu_plan_solve(const masu_plan_row *rows, size_t count, uint64_t *offsets,
                                     masu_plan_result *result, size_t *bad_row);

/* Ends every masu_plan_find that was given the flag, soon; their best plan is returned. Any
 * thread, also while they run. */
MASU_API void masu_plan_cancel(masu_plan_cancel_flag *flag);

/* The lower bound alone, O(n log n). Statuses as masu_plan_find. */
MASU_API masu_status masu_plan_lower_bound(const masu_plan_row *rows, size_t count, uint64_t *out_bytes);

typedef enum masu_plan_mistake {
    MASU_PLAN_RIGHT,
    MASU_PLAN_BAD_RANGE,     /* upper <= lower */
    MASU_PLAN_BAD_ALIGNMENT, /* not a power of two */
    MASU_PLAN_BAD_GAP,       /* empty, outside the life, not ascending, or the whole life without a
                                window; a window that is empty or outside the row */
    MASU_PLAN_BAD_FIXED,     /* not a multiple of the alignment, or ends beyond 2^62 */
    MASU_PLAN_BAD_RELATION,  /* a row that is not there, or a row with itself */
    MASU_PLAN_TOO_LARGE,     /* sizes and alignments add up beyond 2^62 */
} masu_plan_mistake;

/* The first fault, and its place: a row, or for MASU_PLAN_BAD_RELATION a relation. where may be
 * NULL. O(n). */
MASU_API masu_plan_mistake masu_plan_validate(const masu_plan_problem *problem, size_t *where);

/* A small set of rows that alone cannot be placed into capacity_bytes: the reason why the problem
 * is infeasible. Fills rows[] (room for problem->count, the caller's) with indices in
 * ascending order and *count. Dropping any one row makes the set feasible, unless limits cut the
 * work short (*minimal, may be NULL, says). *count 0: no such set was found within the limits.
 * Statuses as masu_plan_find. */
MASU_API masu_status masu_plan_core(const masu_plan_problem *problem, const masu_plan_options *options, size_t *rows,
                                    size_t *count, bool *minimal);

/* ---- order of execution ---------------------------------------------------------------------- */

typedef struct masu_plan_operator {
    const size_t *inputs; /* rows; borrowed */
    size_t input_count;
    const size_t *outputs;
    size_t output_count;
} masu_plan_operator;

/* Operators in an order in which each output is made before it is read. */
typedef struct masu_plan_graph {
    const masu_plan_operator *operators;
    size_t count;
} masu_plan_graph;

/* The lives that rows have when operators run in order[] (NULL: as given): from the operator
 * that makes a row (the first, if none does) until after the last that reads it. rows[i] that
 * outlive their last reader, or live before they are made, as the rows are now, do so in every
 * order: to the end, or from the beginning; what no operator reads and what lives when the last one has run is a
 * result, and there at the end of every order. A row that no operator names lives as it did. Writes lower and upper of
 * out[count] (the caller's, may be rows). MASU_ERR_INVALID_ARGUMENT when the graph names a row that is not there.
 * O(n). */
MASU_API masu_status masu_plan_graph_lives(const masu_plan_graph *graph, const size_t *order, const masu_plan_row *rows,
                                           size_t count, masu_plan_row *out);

/* An order of execution with a low peak of live bytes: a beam search over the sets of operators
 * already run, never worse than the given order. Fills order[graph->count] (the caller's)
 * and the peaks before and after (may be NULL). MASU_ERR_INVALID_ARGUMENT also when an operator
 * reads what is made later, or two make the same row. O(operators × width × ready operators); width 0: 256. */
MASU_API masu_status masu_plan_reorder(const masu_plan_graph *graph, const masu_plan_row *rows, size_t count,
                                       unsigned width, size_t *order, uint64_t *peak_before, uint64_t *peak_after);

/* ---- several memories ------------------------------------------------------------------------ */

typedef struct masu_plan_memory {
    uint64_t capacity_bytes; /* 0: without limit */
} masu_plan_memory;

/* Divides the rows among memories, the fastest first: each takes the rows with the most traffic
 * that a plan can hold (of up to 14 groups: proven, unless limits cut it short; of more: by rankings
 * and swaps); the last takes what is left. When that does not fit, once more by bytes × time.
 * uses[i] times the size is the traffic of row i; uses may be NULL: 1 each. Relations are honoured within a
 * memory, and tied rows stay together, those without a size too. Fills every entry of memory_of[] and offsets[]
 * (problem->count, the caller's) and results[memory_count]. A result whose outcome is INFEASIBLE or UNKNOWN: the last
 * memory is too small. problem->capacity_bytes is not looked at. Statuses as masu_plan_find. */
MASU_API masu_status masu_plan_divide(const masu_plan_problem *problem, const uint64_t *uses,
                                      const masu_plan_memory *memories, size_t memory_count,
                                      const masu_plan_options *options, size_t *memory_of, uint64_t *offsets,
                                      masu_plan_result *results);

/* ---- rows that had better not share ------------------------------------------------------------ */

/* Two rows that may share bytes, for a price: a plan in which they have a byte in common, at whatever moments, costs
 * that. */
typedef struct masu_plan_penalty {
    size_t a, b; /* rows, two different ones */
    uint64_t cost;
} masu_plan_penalty;

typedef struct masu_plan_price {
    uint64_t cost;        /* of the plan: the penalties of all pairs that share bytes */
    uint64_t lower_bound; /* proven: no plan that fits costs less */
    bool optimal;         /* cost == lower_bound */
} masu_plan_price;

/* A plan of at most problem->capacity_bytes (0: any height) that costs as little as can be found. *result is that of
 * masu_plan_find with MASU_PLAN_FIT; *price is only meaningful where there is a plan. Proven: a cost of 0, and any cost
 * for up to 64 rows without gaps and without relations that share, where sizes add up to at most 256 different offsets,
 * unless limits cut it short. Statuses as masu_plan_find; MASU_ERR_INVALID_ARGUMENT also for a penalty of a row that is
 * not there or of a row with itself, MASU_ERR_OVERFLOW also when costs add up beyond 2^62; offsets and *result are then
 * as they were or hold what was found until memory ran out. Cost: two or three masu_plan_find; then O(n²) a row that is
 * moved. */
MASU_API masu_status masu_plan_find_cheapest(const masu_plan_problem *problem, const masu_plan_penalty *penalties,
                                             size_t count, const masu_plan_options *options, uint64_t *offsets,
                                             masu_plan_result *result, masu_plan_price *price);

/* The cost of a plan. O(count). */
MASU_API uint64_t masu_plan_cost(const masu_plan_problem *problem, const masu_plan_penalty *penalties, size_t count,
                                 const uint64_t *offsets);

/* ---- the judge ------------------------------------------------------------------------------- */

typedef enum masu_plan_verdict {
    MASU_PLAN_FINE,
    MASU_PLAN_OVERLAP,    /* two rows alive together share a byte */
    MASU_PLAN_MISALIGNED, /* an offset is not a multiple of its row's alignment */
    MASU_PLAN_OUTSIDE,    /* a row ends above the height, or wraps */
    MASU_PLAN_MOVED,      /* a fixed row is elsewhere */
    MASU_PLAN_APART,      /* rows that must share an offset do not */
    MASU_PLAN_TOGETHER,   /* rows that must not share a byte do */
    MASU_PLAN_VERDICT_COUNT
} masu_plan_verdict;

/* The judge. The first row that is wrong goes to *row_a, its partner to *row_b (both may be NULL; row_b is only set
 * where two rows are at fault). O(n log n); rows with gaps, and those that may or must share, O(n) each. Allocates
 * about 90 bytes a row; where there is no memory for that, O(n²). */
MASU_API masu_plan_verdict masu_plan_check(const masu_plan_row *rows, size_t count, const uint64_t *offsets,
                                           uint64_t height_bytes, size_t *row_a, size_t *row_b);

/* The same with relations. */
MASU_API masu_plan_verdict masu_plan_check_problem(const masu_plan_problem *problem, const uint64_t *offsets,
                                                   uint64_t height_bytes, size_t *row_a, size_t *row_b);

/* "OVERLAP" and so on; static text. */
MASU_API const char *masu_plan_verdict_name(masu_plan_verdict verdict);

#ifdef __cplusplus
}
#endif

#endif
