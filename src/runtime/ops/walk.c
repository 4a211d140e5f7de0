/* walk.c: see walk.h. */
#include "runtime/ops/walk.h"

#include "runtime/ops/threads.h"

/* The stride of t in dimension d of a result of the given rank. */
static int64_t aligned_stride(const tl_tensor *t, int d, int rank) {
    int own = d - (rank - t->rank);
    return own < 0 || t->shape[own] == 1 ? 0 : t->stride[own];
}

/* Whether one row of 1-strides and 0-strides covers everything. */
static bool init_flat(tl_walk *walk, const tl_tensor *out, const tl_tensor *const *in) {
    if (!out->contiguous)
        return false;
    for (int k = 0; k < walk->operands; k++) {
        bool single = in[k]->elements == 1;
        if (!single && !(in[k]->contiguous && in[k]->elements == out->elements))
            return false;
        walk->stride[0][k] = single ? 0 : 1;
    }
    walk->rank = 1;
    walk->shape[0] = out->elements;
    walk->out_stride[0] = 1;
    return true;
}

/* Whether dimension i, kept last so far, and the dimension (n, out, strides) outside it are one. */
static bool merges(const tl_walk *walk, int i, int64_t out_stride, const int64_t *stride) {
    int64_t n = walk->shape[i];
    if (out_stride != walk->out_stride[i] * n)
        return false;
    for (int k = 0; k < walk->operands; k++)
        if (stride[k] != walk->stride[i][k] * n)
            return false;
    return true;
}

static void push_dimension(tl_walk *walk, int64_t n, int64_t out_stride, const int64_t *stride) {
    int i = walk->rank++;
    walk->shape[i] = n;
    walk->out_stride[i] = out_stride;
    for (int k = 0; k < walk->operands; k++)
        walk->stride[i][k] = stride[k];
}

static void swap_dimensions(tl_walk *walk, int i, int j) {
    int64_t n = walk->shape[i], out_stride = walk->out_stride[i];
    walk->shape[i] = walk->shape[j];
    walk->out_stride[i] = walk->out_stride[j];
    walk->shape[j] = n;
    walk->out_stride[j] = out_stride;
    for (int k = 0; k < walk->operands; k++) {
        int64_t stride = walk->stride[i][k];
        walk->stride[i][k] = walk->stride[j][k];
        walk->stride[j][k] = stride;
    }
}

/* From the innermost dimension outwards, merging; then turned round. */
static void init_strided(tl_walk *walk, const tl_tensor *out, const tl_tensor *const *in) {
    static const int64_t still[TL_WALK_OPERANDS] = {0};
    walk->rank = 0;
    for (int d = out->rank - 1; d >= 0; d--) {
        int64_t n = out->shape[d], stride[TL_WALK_OPERANDS];
        if (n == 1)
            continue;
        for (int k = 0; k < walk->operands; k++)
            stride[k] = aligned_stride(in[k], d, out->rank);
        int last = walk->rank - 1;
        if (walk->rank > 0 && merges(walk, last, out->stride[d], stride)) {
            walk->shape[last] *= n;
            continue;
        }
        if (walk->rank == 0 && out->stride[d] != 1)
            push_dimension(walk, 1, 1, still);
        push_dimension(walk, n, out->stride[d], stride);
    }
    if (walk->rank == 0)
        push_dimension(walk, 1, 1, still);
    for (int i = 0, j = walk->rank - 1; i < j; i++, j--)
        swap_dimensions(walk, i, j);
}

void tl__walk_init(tl_walk *walk, const tl_tensor *out, int operands, const tl_tensor *const *in) {
    walk->operands = operands;
    walk->out_size = tl__dtype_size(out->dtype);
    for (int k = 0; k < operands; k++)
        walk->size[k] = tl__dtype_size(in[k]->dtype);
    if (!init_flat(walk, out, in))
        init_strided(walk, out, in);
}

/* Advances the outer dimensions' counters and the places they mean; false at the end. */
static bool step(const tl_walk *walk, int64_t *index, char **out, const char **in) {
    for (int d = walk->rank - 2; d >= 0; d--) {
        bool wraps = ++index[d] == walk->shape[d];
        int64_t by = wraps ? 1 - walk->shape[d] : 1;
        *out += by * walk->out_stride[d] * (int64_t)walk->out_size;
        for (int k = 0; k < walk->operands; k++)
            in[k] += by * walk->stride[d][k] * (int64_t)walk->size[k];
        if (!wraps)
            return true;
        index[d] = 0;
    }
    return false;
}

/* One kernel over one walk, for parts of it. */
typedef struct run {
    const tl_walk *walk;
    tl_kernel_function *kernel;
    char *out;
    const void *const *in;
    const double *p;
} run;

/* Elements [from, to) of the only row. */
static void run_elements(void *context, int64_t from, int64_t to) {
    const run *r = context;
    const void *in[TL_WALK_OPERANDS];
    for (int k = 0; k < r->walk->operands; k++)
        in[k] = (const char *)r->in[k] + from * r->walk->stride[0][k] * (int64_t)r->walk->size[k];
    r->kernel(to - from, r->out + from * r->walk->out_stride[0] * (int64_t)r->walk->out_size, in, r->walk->stride[0],
              r->p);
}

/* Row `from` of those that the outer dimensions number. */
static void go_to_row(const run *r, int64_t from, int64_t *index, char **out, const char **in) {
    const tl_walk *walk = r->walk;
    *out = r->out;
    for (int k = 0; k < walk->operands; k++)
        in[k] = r->in[k];
    for (int d = walk->rank - 2; d >= 0; d--) {
        index[d] = from % walk->shape[d];
        from /= walk->shape[d];
        *out += index[d] * walk->out_stride[d] * (int64_t)walk->out_size;
        for (int k = 0; k < walk->operands; k++)
            in[k] += index[d] * walk->stride[d][k] * (int64_t)walk->size[k];
    }
}

static void run_rows(void *context, int64_t from, int64_t to) {
    const run *r = context;
    const tl_walk *walk = r->walk;
    int last = walk->rank - 1;
    int64_t index[TL_MAX_RANK + 1] = {0};
    char *out;
    const char *in[TL_WALK_OPERANDS];
    go_to_row(r, from, index, &out, in);
    do {
        const void *row[TL_WALK_OPERANDS];
        for (int k = 0; k < walk->operands; k++)
            row[k] = in[k];
        r->kernel(walk->shape[last], out, row, walk->stride[last], r->p);
    } while (++from < to && step(walk, index, &out, in));
}

void tl__walk_run(const tl_walk *walk, tl_kernel_function *kernel, void *out, const void *const *in, const double *p) {
    static const double none[4] = {0};
    int last = walk->rank - 1;
    run r = {walk, kernel, out, in, p ? p : none};
    int64_t n = walk->shape[last], rows = 1;
    for (int d = 0; d < last; d++)
        rows *= walk->shape[d];
    if (n == 0 || rows == 0)
        return;
    if (last == 0 && n < TL_LARGE_LOOP)
        kernel(n, out, in, walk->stride[0], r.p);
    else if (last == 0)
        tl__in_parts(n, TL_CACHE_LINE, n, run_elements, &r);
    else
        tl__in_parts(rows, 1, n * rows, run_rows, &r);
}

/* ---- rows of one tensor ---------------------------------------------------------------------- */

/* The dimensions of t without those of length 1, neighbours merged; at least one. */
static int merge_dimensions(const tl_tensor *t, int64_t *shape, int64_t *stride) {
    int rank = 0;
    for (int d = 0; d < t->rank; d++) {
        if (t->shape[d] == 1)
            continue;
        if (rank > 0 && stride[rank - 1] == t->stride[d] * t->shape[d]) {
            shape[rank - 1] *= t->shape[d];
            stride[rank - 1] = t->stride[d];
            continue;
        }
        shape[rank] = t->shape[d];
        stride[rank++] = t->stride[d];
    }
    if (rank == 0) {
        shape[0] = 1;
        stride[0] = 1;
        rank = 1;
    }
    return rank;
}

void tl__rows(const tl_tensor *t, tl_row_function *row, void *context) {
    if (t->elements == 0)
        return;
    if (t->contiguous) {
        row(context, t->data, t->elements, 1);
        return;
    }
    int64_t shape[TL_MAX_RANK], stride[TL_MAX_RANK], index[TL_MAX_RANK] = {0};
    int rank = merge_dimensions(t, shape, stride);
    int64_t size = (int64_t)tl__dtype_size((tl_dtype)t->dtype);
    const char *at = t->data;
    int d;
    do {
        row(context, at, shape[rank - 1], stride[rank - 1]);
        for (d = rank - 2; d >= 0; d--) {
            at += stride[d] * size;
            if (++index[d] < shape[d])
                break;
            at -= stride[d] * shape[d] * size;
            index[d] = 0;
        }
    } while (d >= 0);
}
