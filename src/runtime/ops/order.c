/* order.c: orders: which elements along a dimension are the smallest, the largest, or the k-th.
 *
 * Every element becomes a whole number that is ordered as the element is, so that one sort serves all types and both
 * directions:
 *
 *     f32, f64   -∞ … -0 = +0 … +∞ NaN        bits, the negative ones turned round
 *     i64        the sign bit turned
 *     largest    all bits turned: NaN comes first then
 *
 *     all      by their bytes, from the lowest on (stable: equal ones keep their order), insertion for a few
 *     k of n   few: kept in order while the line is passed once; else the k-th key, then those below it are sorted
 *     k-th     by the highest byte, then among those that share it by the next one
 *
 * What is yielded is numbers along the dimension (i64), which have no gradient; values are then gathered by them.
 */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3", "no-trapping-math")
#endif

#include <string.h>

#include "runtime/ops/ops.h"
#include "runtime/ops/threads.h"
#include "runtime/ops/vector_math.h"
#include "runtime/state.h"

static int64_t start_of(const tl_lines *l, int64_t line, int64_t length) {
    return line / l->inner * length * l->inner + line % l->inner;
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* Where a line's elements lie, and how they are to be ordered. */
typedef struct keyed {
    const void *data;
    tl_dtype dtype;
    int64_t step;
    bool largest;
} keyed;

static int key_bytes(tl_dtype dtype) {
    return dtype == TL_BOOL ? 1 : dtype == TL_F32 ? 4 : 8;
}

/* That of NaN; no other element has it, but for i64 and bool. */
static uint64_t nan_key(tl_dtype dtype, bool largest) {
    return largest ? 0 : dtype == TL_F32 ? UINT32_MAX : UINT64_MAX;
}

/* + 0 makes -0 the same as 0. */
#define EACH_KEY(T, statement)                               \
    for (int64_t i = 0; i < n; i++) {                        \
        const T x = ((const T *)k->data)[(from + i) * step]; \
        statement                                            \
    }

#define REAL_KEY(T, BITS, WIDTH)                                                \
    BITS bits;                                                                  \
    const T y = x + 0;                                                          \
    memcpy(&bits, &y, sizeof bits);                                             \
    bits ^= (BITS)(0 - (bits >> (WIDTH - 1))) | (BITS)((BITS)1 << (WIDTH - 1)); \
    bits = x != x ? (BITS)-1 : bits;                                            \
    keys[i] = (BITS)(bits ^ (BITS)turn);

#define ALL_KEYS                                                                 \
    const uint64_t turn = k->largest ? UINT64_MAX : 0;                           \
    if (k->dtype == TL_F32)                                                      \
        EACH_KEY(float, REAL_KEY(float, uint32_t, 32))                           \
    else if (k->dtype == TL_F64)                                                 \
        EACH_KEY(double, REAL_KEY(double, uint64_t, 64))                         \
    else if (k->dtype == TL_I64)                                                 \
        EACH_KEY(int64_t, keys[i] = ((uint64_t)x ^ (UINT64_C(1) << 63)) ^ turn;) \
    else                                                                         \
        EACH_KEY(tl_byte, keys[i] = (uint64_t)((x != 0) ^ (turn != 0));)

TL_WIDE static void dense_keys(const keyed *k, int64_t from, int64_t n, uint64_t *keys) {
    const int64_t step = 1;
    ALL_KEYS
}

static void spread_keys(const keyed *k, int64_t from, int64_t n, uint64_t *keys) {
    const int64_t step = k->step;
    ALL_KEYS
}

/* The keys of the elements [from, from + n) of a line. */
static void keys_of(const keyed *k, int64_t from, int64_t n, uint64_t *keys) {
    (k->step == 1 ? dense_keys : spread_keys)(k, from, n, keys);
}

/* ---- sorting --------------------------------------------------------------------------------- */

typedef struct ranked {
    uint64_t key;
    int64_t index;
} ranked;

enum { INSERTED = 48, DIGITS = 256 };

static void sort_few(ranked *r, int64_t n) {
    for (int64_t i = 1; i < n; i++) {
        const ranked x = r[i];
        int64_t at = i;
        for (; at > 0 && r[at - 1].key > x.key; at--)
            r[at] = r[at - 1];
        r[at] = x;
    }
}

/* Where each digit's elements begin; false: all have the same digit. */
static bool begin_digits(const int64_t *count, int64_t n, int64_t *begin) {
    int64_t sum = 0;
    for (int d = 0; d < DIGITS; d++) {
        if (count[d] == n)
            return false;
        begin[d] = sum;
        sum += count[d];
    }
    return true;
}

/* The one of the two rooms, of n each, that holds the sorted elements; they begin in r. */
static ranked *sort_ranked(ranked *r, ranked *other, int64_t n, int bytes) {
    int64_t count[8][DIGITS], begin[DIGITS];
    if (n <= INSERTED) {
        sort_few(r, n);
        return r;
    }
    memset(count, 0, (size_t)bytes * sizeof count[0]);
    for (int64_t i = 0; i < n; i++)
        for (int b = 0; b < bytes; b++)
            count[b][r[i].key >> (8 * b) & 255]++;
    for (int b = 0; b < bytes; b++) {
        if (!begin_digits(count[b], n, begin))
            continue;
        for (int64_t i = 0; i < n; i++)
            other[begin[r[i].key >> (8 * b) & 255]++] = r[i];
        ranked *sorted = other;
        other = r;
        r = sorted;
    }
    return r;
}

/* ---- the k-th -------------------------------------------------------------------------------- */

/* The key that is at `rank`, from 0 on, among n in order; *rank becomes its number among equal ones. keys are
 * exchanged. */
static uint64_t select_key(uint64_t *keys, int64_t n, int bytes, int64_t *rank) {
    for (int b = bytes - 1; b >= 0 && n > 1; b--) {
        int64_t count[DIGITS] = {0}, kept = 0;
        uint64_t digit = 0;
        for (int64_t i = 0; i < n; i++)
            count[keys[i] >> (8 * b) & 255]++;
        while (*rank >= count[digit])
            *rank -= count[digit++];
        if (count[digit] == n)
            continue;
        for (int64_t i = 0; i < n; i++) {
            const uint64_t key = keys[i];
            keys[kept] = key; /* kept <= i */
            kept += (key >> (8 * b) & 255) == digit;
        }
        n = kept;
    }
    return keys[0];
}

/* ---- a line ---------------------------------------------------------------------------------- */

enum { FEW = 128, BLOCK = 256, STRIDE = 16 };

/* Rooms of n each; spare is keys before they are ranked. */
typedef struct rooms {
    ranked *first, *second;
} rooms;

static void write_indices(const ranked *r, int64_t k, int64_t step, int64_t *out) {
    for (int64_t i = 0; i < k; i++)
        out[i * step] = r[i].index;
}

static void rank_all(const keyed *line, int64_t n, const rooms *room, int64_t step, int64_t *out) {
    uint64_t keys[BLOCK];
    for (int64_t from = 0; from < n; from += BLOCK) {
        const int64_t length = n - from < BLOCK ? n - from : BLOCK;
        keys_of(line, from, length, keys);
        for (int64_t i = 0; i < length; i++)
            room->first[from + i] = (ranked){keys[i], from + i};
    }
    write_indices(sort_ranked(room->first, room->second, n, key_bytes(line->dtype)), n, step, out);
}

/* Those below the k-th, and as many of its equals as are wanted, sorted. */
static void rank_part(const keyed *line, int64_t n, int64_t k, const rooms *room, int64_t step, int64_t *out) {
    uint64_t keys[BLOCK], *all = (uint64_t *)(void *)room->first;
    int64_t rank = k - 1, found = 0;
    keys_of(line, 0, n, all);
    const uint64_t last = select_key(all, n, key_bytes(line->dtype), &rank);
    int64_t equals = rank + 1;
    for (int64_t from = 0; from < n; from += BLOCK) {
        const int64_t length = n - from < BLOCK ? n - from : BLOCK;
        keys_of(line, from, length, keys);
        for (int64_t i = 0; i < length && found < k; i++) {
            const bool equal = keys[i] == last && equals > 0;
            if (keys[i] < last || equal)
                room->first[found++] = (ranked){keys[i], from + i};
            equals -= equal;
        }
    }
    write_indices(sort_ranked(room->first, room->second, k, key_bytes(line->dtype)), k, step, out);
}

static int64_t insert_best(ranked *best, int64_t count, int64_t k, ranked x) {
    int64_t at = count < k ? count : k - 1;
    for (; at > 0 && best[at - 1].key > x.key; at--)
        best[at] = best[at - 1];
    best[at] = x;
    return count < k ? count + 1 : k;
}

TL_WIDE static bool any_below(const uint64_t *keys, uint64_t limit) {
    int below = 0;
    for (int i = 0; i < STRIDE; i++)
        below |= keys[i] < limit;
    return below != 0;
}

static void rank_few(const keyed *line, int64_t n, int64_t k, int64_t step, int64_t *out) {
    ranked best[FEW];
    uint64_t keys[BLOCK];
    int64_t count = 0;
    for (int64_t from = 0; from < n; from += BLOCK) {
        const int64_t length = n - from < BLOCK ? n - from : BLOCK;
        keys_of(line, from, length, keys);
        for (int64_t i = 0; i < length; i++)
            if (count == k && i % STRIDE == 0 && i + STRIDE <= length && !any_below(keys + i, best[k - 1].key))
                i += STRIDE - 1;
            else if (count < k || keys[i] < best[k - 1].key)
                count = insert_best(best, count, k, (ranked){keys[i], from + i});
    }
    write_indices(best, k, step, out);
}

/* The number of the element that is the k-th from 0 on; with nan_wins that of a NaN if there is one. */
static int64_t place_of(const keyed *line, int64_t n, int64_t k, bool nan_wins, uint64_t *keys) {
    const bool real = line->dtype == TL_F32 || line->dtype == TL_F64;
    uint64_t block[BLOCK], wanted = nan_key(line->dtype, line->largest);
    int64_t rank = k, nans = 0;
    keys_of(line, 0, n, keys);
    for (int64_t i = 0; nan_wins && real && i < n; i++)
        nans += keys[i] == wanted;
    if (nans > 0)
        rank = 0;
    else
        wanted = select_key(keys, n, key_bytes(line->dtype), &rank);
    for (int64_t from = 0; from < n; from += BLOCK) {
        const int64_t length = n - from < BLOCK ? n - from : BLOCK;
        keys_of(line, from, length, block);
        for (int64_t i = 0; i < length; i++)
            if (block[i] == wanted && rank-- == 0)
                return from + i;
    }
    return 0;
}

/* ---- the operations -------------------------------------------------------------------------- */

typedef struct work {
    const tl_tensor *t;
    tl_lines l;
    int64_t k;
    bool largest;
    int64_t *out;
} work;

static keyed line_of(const work *w, int64_t line) {
    const int64_t size = (int64_t)tl__dtype_size((tl_dtype)w->t->dtype);
    return (keyed){(const char *)w->t->data + start_of(&w->l, line, w->l.n) * size, (tl_dtype)w->t->dtype, w->l.inner,
                   w->largest};
}

static void few_lines(void *context, int64_t from, int64_t to) {
    const work *w = context;
    for (int64_t i = from; i < to; i++) {
        const keyed line = line_of(w, i);
        rank_few(&line, w->l.n, w->k, w->l.inner, w->out + start_of(&w->l, i, w->k));
    }
}

static void whole_lines(const work *w, const rooms *room) {
    for (int64_t i = 0; i < w->l.outer * w->l.inner; i++) {
        const keyed line = line_of(w, i);
        int64_t *out = w->out + start_of(&w->l, i, w->k);
        if (w->k < w->l.n)
            rank_part(&line, w->l.n, w->k, room, w->l.inner, out);
        else
            rank_all(&line, w->l.n, room, w->l.inner, out);
    }
}

static masu_status rank(work *w) {
    if (w->t->elements == 0 || w->k == 0)
        return MASU_OK;
    if (w->k <= FEW && w->k < w->l.n) {
        tl__in_parts(w->l.outer * w->l.inner, 1, w->t->elements, few_lines, w);
        return MASU_OK;
    }
    void *room;
    const size_t bytes = (size_t)w->l.n * 2 * sizeof(ranked);
    masu_status status = tl__alloc(bytes, &room);
    if (status != MASU_OK)
        return status;
    whole_lines(w, &(rooms){room, (ranked *)room + w->l.n});
    tl__free(room, bytes);
    return MASU_OK;
}

/* A row-major view or copy of t, and a result of t's shape but for dim. */
static masu_status prepare(tl_tensor *t, int dim, int64_t length, tl_tensor **dense, tl_tensor **out) {
    int64_t shape[TL_MAX_RANK];
    memcpy(shape, t->shape, sizeof shape);
    shape[dim] = length;
    masu_status status = tl__tensor_contiguous(t, dense);
    if (status != MASU_OK)
        return status;
    status = tl__tensor_new(TL_I64, t->rank, shape, out);
    if (status != MASU_OK)
        tl__tensor_drop(*dense);
    return status;
}

static masu_status order(tl_tensor *t, int64_t k, int64_t dim, bool largest, tl_tensor **out) {
    int at;
    tl_tensor *dense;
    masu_status status = tl__dimension("topk", t, dim, &at);
    if (status == MASU_OK && k < 0)
        k = t->shape[at];
    if (status == MASU_OK && k > t->shape[at])
        status = tl__error(TL_SAY(topk_elements_dimension_length), k, t->shape[at]);
    if (status == MASU_OK)
        status = prepare(t, at, k, &dense, out);
    if (status != MASU_OK)
        return status;
    status = rank(&(work){dense, tl__lines_of(dense, at), k, largest, (*out)->data});
    if (status != MASU_OK)
        tl__tensor_drop(*out);
    tl__tensor_drop(dense);
    return status;
}

tl_tensor *tl_tensor_order(tl_tensor *t, int64_t k, int64_t dim, bool largest) {
    TL_RETURN_TENSOR(order(t, k, dim, largest, &out));
}

static masu_status places(const tl_tensor *t, int dim, int64_t k, bool nan_wins, tl_tensor *out) {
    const work w = {t, tl__lines_of(t, dim), 1, false, out->data};
    void *keys;
    const size_t bytes = (size_t)w.l.n * sizeof(uint64_t);
    masu_status status = t->elements == 0 ? MASU_OK : tl__alloc(bytes, &keys);
    if (status != MASU_OK || t->elements == 0)
        return status;
    for (int64_t i = 0; i < w.l.outer * w.l.inner; i++) {
        const keyed line = line_of(&w, i);
        w.out[start_of(&w.l, i, 1)] = place_of(&line, w.l.n, k, nan_wins, keys);
    }
    tl__free(keys, bytes);
    return MASU_OK;
}

static masu_status order_at(tl_tensor *t, int64_t k, int64_t dim, bool nan_wins, tl_tensor **out) {
    int at;
    tl_tensor *dense;
    masu_status status = tl__dimension("kthvalue", t, dim, &at);
    if (status == MASU_OK && (k < 0 || k >= t->shape[at]))
        status = tl__error(TL_SAY(topk_elements_dimension_length), k + 1, t->shape[at]);
    if (status == MASU_OK)
        status = prepare(t, at, 1, &dense, out);
    if (status != MASU_OK)
        return status;
    status = places(dense, at, k, nan_wins, *out);
    if (status != MASU_OK)
        tl__tensor_drop(*out);
    tl__tensor_drop(dense);
    return status;
}

tl_tensor *tl_tensor_order_at(tl_tensor *t, int64_t k, int64_t dim, bool nan_wins) {
    TL_RETURN_TENSOR(order_at(t, k, dim, nan_wins, &out));
}
