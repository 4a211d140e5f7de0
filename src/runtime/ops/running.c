/* running.c: where the largest or smallest so far is: cummax and cummin are the elements there; so goes their gradient.
 *
 *     3 1 4 4 2  ─►  0 0 2 3 3      the latest of equals; from the first NaN on, the latest NaN
 */
#include "runtime/ops/ops.h"
#include "runtime/state.h"

/* Compares x with `best`, the one so far: a NaN wins always, then a number that is at least as large. */
#define TAKES(x, best, largest) ((x) != (x) || ((best) == (best) && ((largest) ? (x) >= (best) : (x) <= (best))))

/* [n, inner] from `from` on, which lie `inner` apart along each line. */
#define PLACES(T, suffix)                                                                             \
    static void places_##suffix(const T *from, int64_t *to, int64_t n, int64_t inner, bool largest) { \
        for (int64_t k = 0; k < inner; k++)                                                           \
            to[k] = 0;                                                                                \
        for (int64_t i = 1; i < n; i++)                                                               \
            for (int64_t k = 0; k < inner; k++) {                                                     \
                const int64_t before = to[(i - 1) * inner + k];                                       \
                const T x = from[i * inner + k], best = from[before * inner + k];                     \
                to[i * inner + k] = TAKES(x, best, largest) ? i : before;                             \
            }                                                                                         \
    }

PLACES(float, f32)
PLACES(double, f64)
PLACES(int64_t, i64)
PLACES(uint8_t, bool)

static void places(const tl_tensor *t, int dim, bool largest, int64_t *out) {
    const tl_lines l = tl__lines_of(t, dim);
    for (int64_t i = 0; i < l.outer && t->elements > 0; i++) {
        const int64_t at = i * l.n * l.inner;
        switch ((tl_dtype)t->dtype) {
        case TL_F32:
            places_f32((const float *)t->data + at, out + at, l.n, l.inner, largest);
            break;
        case TL_F64:
            places_f64((const double *)t->data + at, out + at, l.n, l.inner, largest);
            break;
        case TL_I64:
            places_i64((const int64_t *)t->data + at, out + at, l.n, l.inner, largest);
            break;
        case TL_BOOL:
        case TL_DTYPE_COUNT:
            places_bool((const uint8_t *)t->data + at, out + at, l.n, l.inner, largest);
            break;
        }
    }
}

static masu_status running_place(tl_tensor *t, int64_t dim, bool largest, tl_tensor **out) {
    int at;
    tl_tensor *dense;
    masu_status status = tl__dimension("cummax", t, dim, &at);
    if (status == MASU_OK)
        status = tl__tensor_contiguous(t, &dense);
    if (status != MASU_OK)
        return status;
    status = tl__tensor_new(TL_I64, t->rank, t->shape, out);
    if (status == MASU_OK)
        places(dense, at, largest, (*out)->data);
    tl__tensor_drop(dense);
    return status;
}

tl_tensor *tl_tensor_running_place(tl_tensor *t, int64_t dim, bool largest) {
    TL_RETURN_TENSOR(running_place(t, dim, largest, &out));
}
