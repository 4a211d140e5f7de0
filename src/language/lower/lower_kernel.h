/* lower_kernel.h: comprehensions as kernels; what the files of that part tell each other.
 *
 *     [k | k <- 0..2*n-1, r <- 0..n, c <- 0..n, r + c == k { probs[r, c] }]
 *
 *     steps      loop k    loop r    solve c = k - r     body         a step for each index and each condition
 *     cells      shape[0], 2n-1, n                                    scalars from outside, known before the loops
 *     captures   probs                                                tensors from outside
 *
 * A condition moves up to where the last of its indices is bound. One that is an equation, linear in that index with
 * factor 1 or -1, *solves* it: the loop becomes an assignment and a test of the range.
 *
 * The nest of loops is written twice when that pays, the second time as the careful twin. The fast one runs when a test
 * in front proves that the affine reads are in range and that no bound is near the end of the integers: it reads
 * without checks, and where a solved index or a linear inequality depends on the loop around it, that loop's range is
 * cut instead of testing each turn:
 *
 *     c = k - r in [0, n)   ⇔   r in [k - n + 1, k + 1)          i > 0   ⇔   i in [1, …)
 */
#ifndef MASU_LANGUAGE_LOWER_KERNEL_H
#define MASU_LANGUAGE_LOWER_KERNEL_H

#include "language/lower/lowering.h"

enum { LINEAR_TERMS_MAX = 8 };

/* constant + sum of factor * (index or invariant expression), of i64; invariant expressions neither read nor divide. */
typedef struct linear_term {
    const binding *index;
    const expr *invariant; /* when index is NULL */
    int64_t factor;
} linear_term;

typedef struct linear {
    linear_term terms[LINEAR_TERMS_MAX];
    uint32_t count;
    int64_t constant;
} linear;

typedef struct kernel_capture {
    bool is_leaf;
    ir_variable variable; /* of a leaf in the outer function */
    const expr *e;        /* otherwise: a tensor evaluated once, before */
    ir_value outer;
    uint32_t rank;
    tl_dtype dtype;
} kernel_capture;

typedef struct kernel_cell {
    bool is_leaf;
    ir_variable variable; /* of a leaf */
    const expr *e;        /* otherwise: evaluated once, before */
    ir_value outer;
    ir_type type;
} kernel_cell;

typedef enum kernel_step_kind { STEP_LOOP, STEP_SOLVE, STEP_TEST } kernel_step_kind;

typedef struct kernel_step {
    kernel_step_kind kind;
    const comprehension_clause *clause; /* of the index */
    bool is_output;                     /* of the index */
    bool is_safe;                       /* STEP_TEST: can neither fault nor depend on elements */
    const expr *condition;              /* STEP_TEST */
    linear form;                        /* STEP_SOLVE: the index = form; STEP_TEST that cuts: form >= 0 */
    uint32_t cuts;                      /* 1 + the loop whose range the fast nest cuts instead of testing; 0: none */
} kernel_step;

typedef struct lower_kernel {
    lower_fn *outer;
    const expr *e;
    const comprehension_expr *c;
    ir_kernel *k;
    bool *inside; /* by binding id: an index or a `let` of the body */
    kernel_step *steps;
    uint32_t step_count;
    kernel_capture *captures;
    uint32_t capture_count, capture_capacity;
    kernel_cell *cells; /* behind the shape's */
    uint32_t cell_count, cell_capacity;
} lower_kernel;

/* One of the two functions being written. */
typedef struct kernel_fn {
    lower_kernel *lk;
    lower_fn fn;
    bool backward;
    bool fast;
    uint32_t sum_at;       /* the step from which on only summed indices follow; step_count: none do */
    ir_variable sum;       /* forward */
    ir_value seed;         /* backward: the gradient of the element */
    ir_variable *adjoints; /* backward: by binding id, of `let`s */
} kernel_fn;

/* ---- what a kernel can hold (lower_kernel_accept.c) -------------------------------------------------------------- */

/* Marks the bindings that are made inside; false: the body needs the general loops. */
bool kernel_accepts(lower_kernel *lk);
/* The leaf of the outer function that e names, when it names one: a binding from outside, or fields of it. */
bool kernel_outer_leaf(const lower_kernel *lk, const expr *e, ir_variable *leaf);
/* An element of a captured tensor: indices (none for a rank-0 tensor that is used as a number). The tensor has a
 * name outside, or is a call without effects of what comes from outside: `p.softmax(0)[i]`, `x.sum()`. */
typedef struct kernel_read {
    const expr *tensor;
    expr *const *indices;
    uint32_t count;
    tl_dtype dtype;
    bool is_looked_at; /* nothing says what the tensor holds: found before the kernel runs */
} kernel_read;
bool kernel_is_read(const lower_kernel *lk, const expr *e, kernel_read *out);
/* Where a number is wanted and a tensor of rank 0 is given: the checker's call of tl_tensor_item. */
bool kernel_is_item(const expr *e);
/* a op b on numbers, or on tensors that are numbers; a is NULL for negation. */
typedef struct kernel_operation {
    ir_opcode op;
    const expr *a, *b;
} kernel_operation;
bool kernel_is_operation(const expr *e, kernel_operation *out);
/* The type in which values of type t are calculated: of a tensor, its elements'. */
ir_type kernel_type(const type *t);
/* A call without effects whose operands all come from outside: becomes a cell. */
bool kernel_is_hoisted(const lower_kernel *lk, const expr *e);
bool kernel_mentions_inside(const lower_kernel *lk, const expr *e);
/* Neither reads elements nor divides integers: cannot fault. */
bool kernel_is_safe(const lower_kernel *lk, const expr *e);

/* ---- steps and linear forms (lower_kernel_steps.c, lower_linear.c) ----------------------------------------------- */

bool kernel_plan_steps(lower_kernel *lk);
bool linear_of(const lower_kernel *lk, const expr *e, int64_t factor, linear *form);
const linear_term *linear_find(const linear *form, const binding *index);
/* The form without its term of that index, times factor. */
linear linear_without(const linear *form, const binding *index, int64_t factor);
ir_value linear_value(kernel_fn *kf, const linear *form, source_span span);
/* The step that binds the index. */
uint32_t kernel_step_of(const lower_kernel *lk, const binding *index);
/* Whether all indices of the read are affine; then forms[] are they. */
bool kernel_read_is_affine(const lower_kernel *lk, const kernel_read *r, linear forms[TL_MAX_RANK]);

/* ---- ranges and the proof (lower_kernel_range.c) ------------------------------------------- */

typedef struct kernel_bounds {
    ir_value low, high; /* high is exclusive */
} kernel_bounds;

ir_value kernel_low(kernel_fn *kf, const kernel_step *s);
ir_value kernel_high(kernel_fn *kf, const kernel_step *s);
/* The range of step k's index, cut by what later steps demand: of it alone, or (inside the nest) of it and indices
 * around it. */
kernel_bounds kernel_range(kernel_fn *kf, uint32_t k, bool inside);
/* The condition for the fast nest, as one bool; 0 when it would be no faster. */
ir_value kernel_prove(kernel_fn *kf);

/* ---- values (lower_kernel_value.c) ------------------------------------------------------------------------------- */

ir_value kernel_value(kernel_fn *kf, const expr *e); /* of kernel_type(e->type) */
ir_value kernel_value_as(kernel_fn *kf, const expr *e, ir_type wanted);
uint32_t kernel_capture_of(lower_kernel *lk, const kernel_read *r, source_span span);
/* The indices of a read, as i64. */
ir_value *kernel_indices(kernel_fn *kf, const kernel_read *r);
/* A site when the read must be checked, else 0. */
uint32_t kernel_read_site(kernel_fn *kf, const kernel_read *r, source_span span);
ir_value kernel_cell_of_expr(kernel_fn *kf, const expr *e);
/* The value of a bound in the outer function; the kernel finds it as a cell. */
ir_value kernel_outer_bound(lower_kernel *lk, const expr *bound);
ir_value kernel_float(kernel_fn *kf, ir_type type, double v, source_span span);
ir_value kernel_math(kernel_fn *kf, scalar_math math, ir_value a, ir_value b, source_span span);

/* ---- derivatives (lower_adjoint.c), loops (lower_kernel.c) ------------------------------------------------------- */

/* Whether e depends on floating-point elements of captured tensors. */
bool kernel_is_active(const kernel_fn *kf, const expr *e);
/* Adds the derivative of e times seed into the gradients of the captured elements that e reads. */
void kernel_adjoint(kernel_fn *kf, const expr *e, ir_value seed);
/* The extents of the outputs: max(0, high - low); lows and highs by clause. In the outer function. */
ir_value *kernel_shape(lower_fn *fn, const comprehension_expr *c, const ir_value *lows, const ir_value *highs);
/* The comprehension as a kernel; false when it cannot be one, and then nothing was written. */
bool lower_as_kernel(lower_fn *fn, const expr *e, ir_value *out);

#endif
