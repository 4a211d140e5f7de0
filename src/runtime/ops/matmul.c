/* matmul.c: products of matrices, through BLAS.
 *
 *     [.., n, k] x [.., k, m] ─► [.., n, m]     leading dimensions broadcast
 *     [k] x ..  counts as [1, k], .. x [k] as [k, 1]; the 1 vanishes from the result
 *
 * A matrix goes to BLAS as it lies when its rows or its columns are dense, so a transposed view
 * costs no copy; any other view is copied first. A stack of matrices times one matrix is one
 * tall product.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <cblas.h>

#include "runtime/grad/formula.h"
#include "runtime/ops/ops.h"
#include "runtime/state.h"

/* ---- one product ----------------------------------------------------------------------------- */

/* How the last two dimensions of a tensor lie. */
typedef struct layout {
    enum CBLAS_TRANSPOSE transposed;
    int64_t leading; /* elements from one row (column) to the next */
} layout;

static int64_t at_least_one(int64_t n) {
    return n > 1 ? n : 1;
}

static bool find_layout(const tl_tensor *t, layout *out) {
    int64_t rows = t->shape[t->rank - 2], columns = t->shape[t->rank - 1];
    int64_t down = t->stride[t->rank - 2], across = t->stride[t->rank - 1];
    if ((across == 1 || columns == 1) && (rows == 1 || down >= at_least_one(columns))) {
        *out = (layout){CblasNoTrans, rows == 1 ? at_least_one(columns) : down};
        return true;
    }
    if ((down == 1 || rows == 1) && (columns == 1 || across >= at_least_one(rows))) {
        *out = (layout){CblasTrans, columns == 1 ? at_least_one(rows) : across};
        return true;
    }
    return false;
}

typedef struct product {
    int64_t n, k, m;
    layout a, b;
    int64_t stride_a[2], stride_b[2]; /* of rows and columns, for whole numbers */
    tl_dtype dtype;
} product;

static void multiply_i64(const product *p, const int64_t *a, const int64_t *b, int64_t *c) {
    for (int64_t i = 0; i < p->n; i++) {
        for (int64_t j = 0; j < p->m; j++) {
            uint64_t sum = 0;
            for (int64_t l = 0; l < p->k; l++)
                sum += (uint64_t)a[i * p->stride_a[0] + l * p->stride_a[1]] *
                       (uint64_t)b[l * p->stride_b[0] + j * p->stride_b[1]];
            c[i * p->m + j] = (int64_t)sum;
        }
    }
}

static void multiply(const product *p, const void *a, const void *b, void *c) {
    if (p->dtype == TL_F32)
        cblas_sgemm(CblasRowMajor, p->a.transposed, p->b.transposed, (blasint)p->n, (blasint)p->m, (blasint)p->k, 1.0f,
                    a, (blasint)p->a.leading, b, (blasint)p->b.leading, 0.0f, c, (blasint)p->m);
    else if (p->dtype == TL_F64)
        cblas_dgemm(CblasRowMajor, p->a.transposed, p->b.transposed, (blasint)p->n, (blasint)p->m, (blasint)p->k, 1.0,
                    a, (blasint)p->a.leading, b, (blasint)p->b.leading, 0.0, c, (blasint)p->m);
    else
        multiply_i64(p, a, b, c);
}

/* ---- many products --------------------------------------------------------------------------- */

/* One product for each place in the leading dimensions of out. */
static void multiply_stack(const product *p, const tl_tensor *a, const tl_tensor *b, tl_tensor *out) {
    int lead = out->rank - 2;
    int64_t index[TL_MAX_RANK] = {0}, size = (int64_t)tl__dtype_size(p->dtype);
    int64_t step_a[TL_MAX_RANK] = {0}, step_b[TL_MAX_RANK] = {0};
    for (int d = 0; d < lead; d++) {
        int own_a = d - (out->rank - a->rank), own_b = d - (out->rank - b->rank);
        step_a[d] = own_a < 0 || a->shape[own_a] == 1 ? 0 : a->stride[own_a] * size;
        step_b[d] = own_b < 0 || b->shape[own_b] == 1 ? 0 : b->stride[own_b] * size;
    }
    const char *from_a = a->data, *from_b = b->data;
    char *to = out->data;
    int d;
    do {
        multiply(p, from_a, from_b, to);
        to += p->n * p->m * size;
        for (d = lead - 1; d >= 0; d--) {
            from_a += step_a[d];
            from_b += step_b[d];
            if (++index[d] < out->shape[d])
                break;
            from_a -= step_a[d] * out->shape[d];
            from_b -= step_b[d] * out->shape[d];
            index[d] = 0;
        }
    } while (d >= 0);
}

/* a, b in layouts that BLAS takes; out has elements. */
static masu_status multiply_all(const tl_tensor *a, const tl_tensor *b, tl_tensor *out) {
    product p = {.n = a->shape[a->rank - 2],
                 .k = a->shape[a->rank - 1],
                 .m = b->shape[b->rank - 1],
                 .stride_a = {a->stride[a->rank - 2], a->stride[a->rank - 1]},
                 .stride_b = {b->stride[b->rank - 2], b->stride[b->rank - 1]},
                 .dtype = (tl_dtype)out->dtype};
    if (p.k == 0) {
        tl__fill(out, 0.0);
        return MASU_OK;
    }
    bool tall = b->rank == 2 && a->contiguous;
    if (tall)
        p.n = a->elements / p.k;
    bool fits = find_layout(a, &p.a) && find_layout(b, &p.b);
    MASU_DEBUG_ASSERT(fits);
    if (tall) {
        p.a = (layout){CblasNoTrans, p.k};
        p.stride_a[0] = p.k;
        p.stride_a[1] = 1;
    }
    if (!fits || p.n > INT_MAX || p.k > INT_MAX || p.m > INT_MAX || p.a.leading > INT_MAX || p.b.leading > INT_MAX)
        return tl__error(TL_SAY(matmul_dimension_is_too_large_for_blas));
    if (tall)
        multiply(&p, a->data, b->data, out->data);
    else
        multiply_stack(&p, a, b, out);
    return MASU_OK;
}

static masu_status as_blas_takes_it(tl_tensor *t, tl_tensor **out) {
    layout ignored;
    if (!find_layout(t, &ignored))
        return tl__copy(t, out);
    tl__tensor_retain(t);
    *out = t;
    return MASU_OK;
}

static masu_status error_shapes(const tl_tensor *a, const tl_tensor *b) {
    char shape_a[TL_SHAPE_TEXT], shape_b[TL_SHAPE_TEXT], why[80] = "";
    int64_t k = a->rank > 0 ? a->shape[a->rank - 1] : 0, n = b->rank > 0 ? b->shape[b->rank > 1 ? b->rank - 2 : 0] : 0;
    if (a->rank > 0 && b->rank > 0 && k != n)
        snprintf(why, sizeof why, ": inner dimensions %" PRId64 " and %" PRId64 " differ", k, n);
    return tl__error(TL_SAY(matmul_shapes_cannot_be_multiplied), tl__shape_text(a->rank, a->shape, shape_a),
                     tl__shape_text(b->rank, b->shape, shape_b), why);
}

static bool broadcast_leading(const tl_tensor *a, const tl_tensor *b, int *rank, int64_t *shape) {
    *rank = a->rank > b->rank ? a->rank : b->rank;
    for (int d = 0; d < *rank - 2; d++) {
        int own_a = d - (*rank - a->rank), own_b = d - (*rank - b->rank);
        int64_t na = own_a < 0 ? 1 : a->shape[own_a], nb = own_b < 0 ? 1 : b->shape[own_b];
        if (na != nb && na != 1 && nb != 1)
            return false;
        shape[d] = na == 1 ? nb : na;
    }
    return true;
}

masu_status tl__matmul(tl_tensor *a, tl_tensor *b, tl_tensor **out) {
    int rank;
    int64_t shape[TL_MAX_RANK];
    if (a->shape[a->rank - 1] != b->shape[b->rank - 2] || !broadcast_leading(a, b, &rank, shape))
        return error_shapes(a, b);
    shape[rank - 2] = a->shape[a->rank - 2];
    shape[rank - 1] = b->shape[b->rank - 1];
    tl_tensor *x, *y = NULL, *result = NULL;
    masu_status status = a->dtype == TL_I64 ? MASU_OK : tl__blas_room();
    if (status == MASU_OK)
        status = as_blas_takes_it(a, &x);
    if (status != MASU_OK)
        return status;
    status = as_blas_takes_it(b, &y);
    if (status == MASU_OK) {
        status = tl__tensor_new((tl_dtype)a->dtype, rank, shape, &result);
        if (status == MASU_OK && result->elements > 0)
            status = multiply_all(x, y, result);
        if (status != MASU_OK)
            tl__tensor_drop(result);
        tl__tensor_drop(y);
    }
    tl__tensor_drop(x);
    *out = result;
    return status;
}

/* ---- history --------------------------------------------------------------------------------- */

enum { A_IS_VECTOR = 1, B_IS_VECTOR = 2 };

/* g @ bᵀ for a. */
static masu_status deliver_a(tl_node *node, tl_tensor *g, uint64_t vectors) {
    tl_tensor *b = tl__node_saved(node)[1], *turned, *gradient, *flat;
    masu_status status = tl__transpose_last(b, &turned);
    if (status != MASU_OK)
        return status;
    status = tl__matmul(g, turned, &gradient);
    tl__tensor_drop(turned);
    if (status != MASU_OK)
        return status;
    if (vectors & A_IS_VECTOR) {
        status = tl__remove_dim(gradient, gradient->rank - 2, &flat);
        tl__tensor_drop(gradient);
        gradient = flat;
    }
    return status == MASU_OK ? tl__deliver(tl__node_inputs(node)[0], gradient) : status;
}

/* All rows of a stack of matrices below each other. */
static masu_status as_tall(tl_tensor *t, tl_tensor **out) {
    int64_t columns = t->shape[t->rank - 1];
    return tl__reshape(t, 2, (int64_t[]){columns ? t->elements / columns : 0, columns}, out);
}

static masu_status turned_product(tl_tensor *a, tl_tensor *g, tl_tensor **out) {
    tl_tensor *turned;
    masu_status status = tl__transpose_last(a, &turned);
    if (status != MASU_OK)
        return status;
    status = tl__matmul(turned, g, out);
    tl__tensor_drop(turned);
    return status;
}

/* aᵀ @ g for b. When one b met a whole stack, the sum over the stack is one product of the tall
 * matrices. */
static masu_status product_for_b(tl_tensor *a, tl_tensor *g, int b_rank, tl_tensor **out) {
    if (b_rank > 2 || a->rank == 2 || a->elements == 0 || g->elements == 0)
        return turned_product(a, g, out);
    tl_tensor *tall_a, *tall_g;
    masu_status status = as_tall(a, &tall_a);
    if (status != MASU_OK)
        return status;
    status = as_tall(g, &tall_g);
    if (status == MASU_OK) {
        status = turned_product(tall_a, tall_g, out);
        tl__tensor_drop(tall_g);
    }
    tl__tensor_drop(tall_a);
    return status;
}

/* Extra words: which operands were vectors, rank of b as a matrix. */
static masu_status deliver_b(tl_node *node, tl_tensor *g, uint64_t vectors) {
    tl_tensor *gradient, *flat;
    int b_rank = (int)tl__node_extra(node)[1];
    masu_status status = product_for_b(tl__node_saved(node)[0], g, b_rank, &gradient);
    if (status != MASU_OK)
        return status;
    if (vectors & B_IS_VECTOR) {
        status = tl__remove_dim(gradient, gradient->rank - 1, &flat);
        tl__tensor_drop(gradient);
        gradient = flat;
    }
    return status == MASU_OK ? tl__deliver(tl__node_inputs(node)[1], gradient) : status;
}

/* The result's gradient with the dimensions of length 1 that stood for vectors. */
static masu_status matrix_gradient(const tl_tensor *gradient, uint64_t vectors, tl_tensor **out) {
    masu_status status = tl__tensor_view(gradient, out);
    tl_tensor *wide;
    for (uint64_t which = B_IS_VECTOR; which > 0 && status == MASU_OK; which >>= 1) {
        if (!(vectors & which))
            continue;
        int dim = which == B_IS_VECTOR ? (*out)->rank : (*out)->rank - 1;
        status = tl__insert_dim(*out, dim, 1, &wide);
        tl__tensor_drop(*out);
        *out = wide;
    }
    return status;
}

static masu_status matmul_backward(tl_pass *pass, tl_node *node) {
    uint64_t vectors = tl__node_extra(node)[0];
    tl_node **inputs = tl__node_inputs(node);
    tl_tensor *g;
    masu_status status = matrix_gradient(pass->gradient, vectors, &g);
    if (status != MASU_OK)
        return status;
    if (inputs[0])
        status = deliver_a(node, g, vectors);
    if (inputs[1] && status == MASU_OK)
        status = deliver_b(node, g, vectors);
    tl__tensor_drop(g);
    return status;
}

/* Saved value `side` as a matrix: a view of the input's shape with the 1 of a vector. */
static tl_tensor *matrix_of(tl_formula *f, int side, uint64_t vectors) {
    tl_tensor *saved = tl__node_value(f->node, side);
    if (!saved || !(vectors & (side == 0 ? A_IS_VECTOR : B_IS_VECTOR)) || !tl__node_inputs(f->node)[side])
        return tl__f_input(f, side, side);
    /* The saved value has another shape than its node: the vector comes first. */
    tl_tensor *matrix = tl__f_constant(f, side);
    if (!matrix || !f->tracks)
        return matrix;
    int64_t n = matrix->elements;
    tl_tensor *vector = d_reshape(f, matrix, 1, &n);
    if (!vector)
        return NULL;
    tl_node *input = tl__node_inputs(f->node)[side];
    input->count++;
    vector->node = input;
    return d_reshape(f, vector, 2, matrix->shape);
}

static void matmul_formula(tl_formula *f) {
    uint64_t vectors = tl__node_extra(f->node)[0];
    tl_tensor *g = f->g;
    if (vectors & B_IS_VECTOR)
        g = d_insert(f, g, -1);
    if (vectors & A_IS_VECTOR)
        g = d_insert(f, g, -2);
    if (tl__f_wants(f, 0)) {
        tl_tensor *share = d_matmul(f, g, d_turned(f, matrix_of(f, 1, vectors)));
        tl__f_deliver(f, 0, vectors & A_IS_VECTOR ? d_drop(f, share, -2) : share);
    }
    if (tl__f_wants(f, 1)) {
        tl_tensor *share = d_matmul(f, d_turned(f, matrix_of(f, 0, vectors)), g);
        tl__f_deliver(f, 1, vectors & B_IS_VECTOR ? d_drop(f, share, -1) : share);
    }
}

const tl_rule tl__rule_matmul = {"matmul", matmul_backward, matmul_formula};

/* ---- the operation --------------------------------------------------------------------------- */

/* t in the given type as a matrix: without history, the 1 of a vector at `dim`. */
static masu_status as_matrix(tl_tensor *t, tl_dtype dtype, int dim, tl_tensor **out) {
    tl_tensor *x;
    masu_status status = tl__as_dtype(t, dtype, &x);
    if (status == MASU_OK)
        status = t->rank == 1 ? tl__insert_dim(x, dim, 1, out) : tl__tensor_view(x, out);
    tl__tensor_drop(x);
    return status;
}

/* The product of the matrices without the 1s of vectors. */
static masu_status product_of(tl_tensor *x, tl_tensor *y, uint64_t vectors, tl_tensor **out) {
    tl_tensor *flat;
    masu_status status = tl__matmul(x, y, out);
    if (status == MASU_OK && vectors & A_IS_VECTOR) {
        status = tl__remove_dim(*out, (*out)->rank - 2, &flat);
        tl__tensor_drop(*out);
        *out = flat;
    }
    if (status == MASU_OK && vectors & B_IS_VECTOR) {
        status = tl__remove_dim(*out, (*out)->rank - 1, &flat);
        tl__tensor_drop(*out);
        *out = flat;
    }
    return status;
}

static masu_status matmul_matrices(tl_tensor *a, tl_tensor *b, tl_tensor *x, tl_tensor *y, tl_tensor **out) {
    uint64_t vectors = (a->rank == 1 ? A_IS_VECTOR : 0) | (b->rank == 1 ? B_IS_VECTOR : 0);
    tl_tensor *result;
    masu_status status = product_of(x, y, vectors, &result);
    if (status != MASU_OK)
        return status;
    *out = result;
    if (!a->node && !b->node)
        return MASU_OK;
    const uint64_t words[] = {vectors, y->rank};
    return tl__record_or_drop(result,
                              &(tl_origin){.rule = &tl__rule_matmul,
                                           .input_count = 2,
                                           .inputs = (tl_tensor *[]){a, b},
                                           .saved_count = 2,
                                           .saved = (tl_tensor *[]){b->node ? x : NULL, a->node ? y : NULL},
                                           .extra_count = 2,
                                           .extra = words},
                              out);
}

static masu_status matmul(tl_tensor *a, tl_tensor *b, tl_tensor **out) {
    if (a->rank == 0 || b->rank == 0)
        return error_shapes(a, b);
    tl_dtype dtype = tl__promote((tl_dtype)a->dtype, (tl_dtype)b->dtype);
    if (dtype == TL_BOOL)
        dtype = TL_I64;
    tl_tensor *x, *y;
    masu_status status = as_matrix(a, dtype, 0, &x);
    if (status != MASU_OK)
        return status;
    status = as_matrix(b, dtype, 1, &y);
    if (status == MASU_OK) {
        status = matmul_matrices(a, b, x, y, out);
        tl__tensor_drop(y);
    }
    tl__tensor_drop(x);
    return status;
}

tl_tensor *tl_tensor_matmul(tl_tensor *a, tl_tensor *b) {
    TL_RETURN_TENSOR(matmul(a, b, &out));
}
