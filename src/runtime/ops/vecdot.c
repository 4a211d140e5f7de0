/* vecdot.c: sums of products along a dimension, without a tensor of the products.
 *
 *     a.vecdot(b, dim) is (a * b).sum(dim)       [1, 8, 8] and [32, 8, 8] along 2: [32, 8] from 8 products at a time
 *
 * The products of a line, or of a few elements of many lines side by side, are made in a tile on the stack by the
 * kernel of `mul` and added up in f64 as the fold of `sum` adds them. Lines along the last dimension that are longer
 * than the tile, and whatever is not two tensors of one real type, go through the two operations themselves, which also
 * say what is wrong.
 *
 * Backward is the same again: what an operand that was broadcast along a dimension gathers is a sum of products along
 * that one.
 */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3", "no-trapping-math")
#endif
#include <string.h>

#include "base/assert.h"
#include "runtime/grad/formula.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/row_fold.h"
#include "runtime/ops/threads.h"
#include "runtime/ops/vector_math.h"
#include "runtime/state.h"

enum { TILE_BYTES = 16384, LINES = 4 };

/* Both operands as they lie under the shape of their products. */
typedef struct products {
    const tl_tensor *side[2];
    int rank, dim; /* dim vanishes */
    int64_t shape[TL_MAX_RANK], stride[2][TL_MAX_RANK];
} products;

/* ---- shapes ---------------------------------------------------------------------------------- */

/* The shape of both broadcast, unless they cannot be. */
static bool join(int64_t *shape, int *rank, int other_rank, const int64_t *other) {
    const int whole = *rank > other_rank ? *rank : other_rank;
    int64_t out[TL_MAX_RANK];
    for (int back = 1; back <= whole; back++) {
        int64_t a = back <= *rank ? shape[*rank - back] : 1, b = back <= other_rank ? other[other_rank - back] : 1;
        if (a != b && a != 1 && b != 1)
            return false;
        out[whole - back] = a == 1 ? b : a;
    }
    memcpy(shape, out, sizeof shape[0] * (size_t)whole);
    *rank = whole;
    return true;
}

static void lay(products *p, int which, const tl_tensor *t) {
    p->side[which] = t;
    for (int i = 0; i < p->rank; i++) {
        int own = i - (p->rank - t->rank);
        p->stride[which][i] = own < 0 || t->shape[own] == 1 ? 0 : t->stride[own];
    }
}

/* Whether lines along dim lie side by side: then any number of them is summed at once. */
static bool has_columns(const products *p, int dim) {
    return dim != p->rank - 1 && p->shape[p->rank - 1] > 1;
}

static bool line_fits(const products *p, int dim, tl_dtype dtype) {
    return has_columns(p, dim) || p->shape[dim] <= (int64_t)(TILE_BYTES / tl__dtype_size(dtype));
}

/* ---- forward --------------------------------------------------------------------------------- */

typedef struct sums {
    const products *p;
    tl_tensor *out;
    int outer[TL_MAX_RANK]; /* the dimensions around the lines */
    int outer_count;
    int across; /* the dimension that lies side by side, when that is not dim; -1 */
    size_t size;
} sums;

static void multiply(const sums *s, const char *const *from, int dim, int64_t n, void *to) {
    const products *p = s->p;
    const void *const in[] = {from[0], from[1]};
    const int64_t stride[TL_WALK_OPERANDS] = {p->stride[0][dim], p->stride[1][dim]};
    static const double none[2];
    tl__kernels[TL_K_mul][s->out->dtype](n, to, in, stride, none);
}

/* Lines that lie one behind the other in both operands, from line `at` on. */
static int64_t adjacent(const sums *s, int64_t at, int64_t end) {
    const products *p = s->p;
    const int64_t n = p->shape[p->dim];
    const int d = s->outer_count > 0 ? s->outer[s->outer_count - 1] : -1;
    for (int i = 0; i < 2; i++)
        if (d < 0 || n == 0 || p->stride[i][d] != n * p->stride[i][p->dim])
            return 1;
    const int64_t left = p->shape[d] - at % p->shape[d], most = TILE_BYTES / (n * (int64_t)s->size);
    const int64_t lines = left < end - at ? left : end - at;
    return lines < most ? lines : most;
}

static void sum_lines(const sums *s, const char *const *from, int64_t lines, char *out) {
    _Alignas(64) char tile[TILE_BYTES];
    const tl_fold *fold = &tl__fold_sum[s->out->dtype];
    const int64_t n = s->p->shape[s->p->dim], size = (int64_t)s->size;
    multiply(s, from, s->p->dim, n * lines, tile);
    for (int64_t line = 0; line < lines; line++) {
        tl_total total = fold->start;
        fold->row(tile + line * n * size, n, 1, &total);
        fold->store(&total, out + line * size);
    }
}

#define ADD_LINES(T, suffix)                                                                    \
    TL_WIDE static void add_##suffix(double *sum, const void *tile, int64_t lines, int64_t m) { \
        const T *x = tile, *y = x + m, *z = y + m, *w = z + m;                                  \
        if (lines == LINES)                                                                     \
            for (int64_t j = 0; j < m; j++)                                                     \
                sum[j] = sum[j] + (double)x[j] + (double)y[j] + (double)z[j] + (double)w[j];    \
        else                                                                                    \
            for (int64_t k = 0; k < lines; k++)                                                 \
                for (int64_t j = 0; j < m; j++)                                                 \
                    sum[j] += (double)x[k * m + j];                                             \
    }                                                                                           \
    TL_WIDE static void settle_##suffix(const double *sum, int64_t m, void *out) {              \
        for (int64_t j = 0; j < m; j++)                                                         \
            ((T *)out)[j] = (T)sum[j];                                                          \
    }
ADD_LINES(float, f32)
ADD_LINES(double, f64)

static void sum_columns(const sums *s, const char *const *from, char *out) {
    _Alignas(64) char tile[TILE_BYTES];
    double sum[TILE_BYTES / LINES / sizeof(float)];
    const products *p = s->p;
    const int64_t n = p->shape[p->dim], all = p->shape[s->across], size = (int64_t)s->size;
    const int64_t most = TILE_BYTES / LINES / size;
    const bool narrow = s->out->dtype == TL_F32;
    for (int64_t column = 0, m; column < all; column += m) {
        m = all - column < most ? all - column : most;
        memset(sum, 0, sizeof sum[0] * (size_t)m);
        for (int64_t k = 0; k < n; k += LINES) {
            const int64_t lines = n - k < LINES ? n - k : LINES;
            for (int64_t line = 0; line < lines; line++) {
                const char *at[2];
                for (int i = 0; i < 2; i++)
                    at[i] = from[i] + ((k + line) * p->stride[i][p->dim] + column * p->stride[i][s->across]) * size;
                multiply(s, at, s->across, m, tile + line * m * size);
            }
            (narrow ? add_f32 : add_f64)(sum, tile, lines, m);
        }
        (narrow ? settle_f32 : settle_f64)(sum, m, out + column * size);
    }
}

static void sum_some(void *context, int64_t first, int64_t end) {
    const sums *s = context;
    const products *p = s->p;
    const int64_t each = s->across < 0 ? 1 : p->shape[s->across], size = (int64_t)s->size;
    for (int64_t at = first, lines = 1; at < end; at += lines) {
        const char *from[2] = {p->side[0]->data, p->side[1]->data};
        int64_t left = at;
        for (int d = s->outer_count; d-- > 0; left /= p->shape[s->outer[d]])
            for (int i = 0; i < 2; i++)
                from[i] += left % p->shape[s->outer[d]] * p->stride[i][s->outer[d]] * size;
        char *out = (char *)s->out->data + at * each * size;
        lines = s->across < 0 ? adjacent(s, at, end) : 1;
        if (s->across < 0)
            sum_lines(s, from, lines, out);
        else
            sum_columns(s, from, out);
    }
}

/* The operands of one real type; a line of them fits the tile. */
static masu_status sum_products(const products *p, tl_tensor **out) {
    sums s = {.p = p, .across = -1, .size = tl__dtype_size((tl_dtype)p->side[0]->dtype)};
    int64_t rest[TL_MAX_RANK] = {0}, lines = 1;
    int rank = 0;
    if (has_columns(p, p->dim))
        s.across = p->rank - 1;
    for (int i = 0; i < p->rank; i++) {
        if (i == p->dim)
            continue;
        rest[rank++] = p->shape[i];
        if (i == s.across)
            continue;
        s.outer[s.outer_count++] = i;
        lines *= p->shape[i];
    }
    masu_status status = tl__tensor_new((tl_dtype)p->side[0]->dtype, rank, rest, out);
    s.out = status == MASU_OK ? *out : NULL;
    if (status == MASU_OK && lines > 0)
        tl__in_parts(lines, 1, s.out->elements * p->shape[p->dim], sum_some, &s);
    return status;
}

/* ---- backward -------------------------------------------------------------------------------- */

/* The dimension that `shape` was broadcast along with the most products to a line; -1: none that fits the tile. */
static int widened(const products *p, int rank, const int64_t *shape, tl_dtype dtype) {
    int best = -1;
    for (int i = 0; i < p->rank; i++) {
        int own = i - (p->rank - rank);
        bool wide = (own < 0 || shape[own] == 1) && p->shape[i] > 1;
        if (wide && line_fits(p, i, dtype) && (best < 0 || p->shape[i] > p->shape[best]))
            best = i;
    }
    return best;
}

/* The gradient of input `side`: gradient * other, summed along a dimension that vanishes again in tl__deliver. */
static masu_status share_of(tl_tensor *gradient, int dim, const tl_node *input, const tl_tensor *other,
                            tl_tensor **out) {
    products p = {.rank = other->rank};
    memcpy(p.shape, other->shape, sizeof p.shape[0] * (size_t)other->rank);
    bool fits = join(p.shape, &p.rank, input->rank, tl__node_shape((tl_node *)input));
    MASU_DEBUG_ASSERT(fits);
    (void)fits;
    tl_tensor *wide, *sum;
    masu_status status = tl__insert_dim(gradient, dim, p.shape[dim], &wide);
    if (status != MASU_OK)
        return status;
    const tl_dtype dtype = (tl_dtype)gradient->dtype;
    p.dim = widened(&p, input->rank, tl__node_shape((tl_node *)input), dtype);
    if (p.dim < 0) {
        status = tl__map(TL_K_mul, dtype, p.rank, p.shape, 2, (const tl_tensor *[]){wide, other}, NULL, out);
        tl__tensor_drop(wide);
        return status;
    }
    lay(&p, 0, wide);
    lay(&p, 1, other);
    status = sum_products(&p, &sum);
    tl__tensor_drop(wide);
    if (status != MASU_OK)
        return status;
    status = tl__insert_dim(sum, p.dim, 1, out);
    tl__tensor_drop(sum);
    return status;
}

/* Extra words: the dimension. */
static masu_status vecdot_backward(tl_pass *pass, tl_node *node) {
    const int dim = (int)tl__node_extra(node)[0];
    masu_status status = MASU_OK;
    for (int side = 0; side < 2 && status == MASU_OK; side++) {
        tl_node *input = tl__node_inputs(node)[side];
        tl_tensor *gradient;
        if (!input)
            continue;
        status = share_of(pass->gradient, dim, input, tl__node_value(node, 1 - side), &gradient);
        if (status == MASU_OK)
            status = tl__deliver(input, gradient);
    }
    return status;
}

static void vecdot_formula(tl_formula *f) {
    const int dim = (int)tl__node_extra(f->node)[0];
    for (int side = 0; side < 2; side++)
        if (tl__f_wants(f, side))
            tl__f_deliver(f, side, d_mul(f, d_insert(f, f->g, dim), tl__f_input(f, 1 - side, 1 - side)));
}

const tl_rule tl__rule_vecdot = {"vecdot", vecdot_backward, vecdot_formula};

/* ---- entry point ----------------------------------------------------------------------------- */

static bool is_ready(products *p, const tl_tensor *a, const tl_tensor *b, int64_t dim) {
    if (a->dtype != b->dtype || !tl__is_float(a) || (a == b && a->node))
        return false;
    *p = (products){.rank = a->rank};
    memcpy(p->shape, a->shape, sizeof p->shape[0] * (size_t)a->rank);
    if (!join(p->shape, &p->rank, b->rank, b->shape) || dim < -p->rank || dim >= p->rank)
        return false;
    p->dim = (int)(dim < 0 ? dim + p->rank : dim);
    lay(p, 0, a);
    lay(p, 1, b);
    return line_fits(p, p->dim, (tl_dtype)a->dtype);
}

static masu_status vecdot(const products *p, tl_tensor *a, tl_tensor *b, tl_tensor **out) {
    if (a->node || b->node)
        tl__keep_spent();
    tl_tensor *result;
    masu_status status = sum_products(p, &result);
    if (status != MASU_OK || !(a->node || b->node)) {
        *out = result;
        return status;
    }
    const uint64_t word = (uint64_t)p->dim;
    return tl__record_or_drop(result,
                              &(tl_origin){.rule = &tl__rule_vecdot,
                                           .input_count = 2,
                                           .inputs = (tl_tensor *[]){a, b},
                                           .saved_count = 2,
                                           .saved = (tl_tensor *[]){b->node ? a : NULL, a->node ? b : NULL},
                                           .extra_count = 1,
                                           .extra = &word},
                              out);
}

tl_tensor *tl_tensor_vecdot(tl_tensor *a, tl_tensor *b, int64_t dim) {
    products p;
    if (is_ready(&p, a, b, dim))
        TL_RETURN_TENSOR(vecdot(&p, a, b, &out));
    tl_tensor *each = tl_tensor_mul(a, b);
    tl_tensor *sum = each ? tl_tensor_sum_dim(each, dim) : NULL;
    tl__tensor_drop(each);
    return sum;
}
