/* convolve.c: images [n, c, h, w] convolved with kernels [o, c, kh, kw], without the columns that `unfold` would make.
 *
 *     out[o][q] = Σ over taps k    weight[o][k] · plane[offset[k] + q]        tap: a channel and a place of the kernel
 *
 * An image is copied once, with its margin, so that the window never leaves it. Where the window steps by more than
 * one, rows and columns are dealt to planes by their remainder, and each tap stays in one plane:
 *
 *     stride 2    a b c d e f      plane 0  a c e
 *                                  plane 1  b d f       tap 0, 1, 2 of the places 0, 1, …: a c, b d, c e
 *
 * So every tap is one offset into the copy, and places that lie in a row, and rows behind each other, are one run q of
 * numbers: those between the end of a row of places and the next one are computed and thrown away. A tile of some rows
 * of the result and some vectors of q stays in registers while the taps go by; what it reads again lies in the nearest
 * cache.
 *
 * Taps are added up in blocks, as BLAS does. Processors without such vectors unfold, and multiply by BLAS. Backward
 * unfolds and folds, too: nothing but the operands is saved.
 */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

#include <inttypes.h>
#include <string.h>

#include "runtime/grad/formula.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/threads.h"
#include "runtime/ops/windows.h"
#include "runtime/state.h"

/* ---- history ----------------------------------------------------------------------------------------------------- */

static tl_tensor *kernel_share(tl_formula *f, tl_tensor *g, const int64_t *window) {
    tl_tensor *x = tl__f_input(f, 0, 0);
    tl_tensor *columns = x && g ? tl__f_keep(f, tl_tensor_unfold(x, 0.0, WINDOW_WORDS, window)) : NULL;
    tl_tensor *each = columns ? d_matmul(f, g, d_turned(f, columns)) : NULL;
    tl_tensor *all = each ? d_sum_dim(f, each, 0) : NULL;
    return all ? d_reshape(f, all, 4, tl__node_shape(tl__node_inputs(f->node)[1])) : NULL;
}

static tl_tensor *image_share(tl_formula *f, tl_tensor *g, const int64_t *window) {
    const int64_t *images = tl__node_shape(tl__node_inputs(f->node)[0]);
    int64_t words[WINDOW_WORDS + 2];
    memcpy(words, window, WINDOW_WORDS * sizeof *words);
    words[WINDOW_WORDS] = images[2];
    words[WINDOW_WORDS + 1] = images[3];
    tl_tensor *w = tl__f_input(f, 1, 1);
    if (!w || !g)
        return NULL;
    const int64_t matrix[2] = {w->shape[0], w->shape[1] * w->shape[2] * w->shape[3]};
    tl_tensor *columns = d_matmul(f, d_turned(f, d_reshape(f, w, 2, matrix)), g);
    return columns ? tl__f_keep(f, tl_tensor_fold(columns, WINDOW_WORDS + 2, words)) : NULL;
}

static void convolve_formula(tl_formula *f) {
    const int64_t *window = (const int64_t *)(const void *)tl__node_extra(f->node);
    const int64_t rows[3] = {f->g->shape[0], f->g->shape[1], f->g->shape[2] * f->g->shape[3]};
    tl_tensor *g = d_reshape(f, f->g, 3, rows);
    if (tl__f_wants(f, 0))
        tl__f_deliver(f, 0, image_share(f, g, window));
    if (tl__f_wants(f, 1))
        tl__f_deliver(f, 1, kernel_share(f, g, window));
}

const tl_rule tl__rule_convolve = {"conv", NULL, convolve_formula};

/* ---- where everything lies --------------------------------------------------------------------------------------- */

enum { ROWS = 4, TAPS = 512, SLACK = 64, GROUP_BYTES = 1 << 19 };

typedef struct convolution {
    tl_sliding s;
    int64_t channels, outs, taps;
    int64_t pitch, plane; /* of a plane: numbers in a row, in all */
    int64_t image;        /* numbers of one image's copy */
    int64_t run;          /* the last place of an image, and one */
    int64_t row_blocks;   /* of ROWS rows of the result */
    size_t size;          /* bytes of a number */
    int64_t group;        /* images that are copied at once */
    int64_t *offset;      /* taps */
    char *weights;        /* [row_blocks][taps][ROWS] */
    char *copies;         /* [group][image], and SLACK numbers that tiles reach into */
    char *out;            /* of the group */
    void *all;
    size_t bytes;
} convolution;

static int64_t rounded_up(int64_t n, int64_t by) {
    return (n + by - 1) / by;
}

static void plan(convolution *c, const tl_tensor *x, const tl_tensor *w) {
    const tl_sliding *s = &c->s;
    c->channels = x->shape[1];
    c->outs = w->shape[0];
    c->taps = c->channels * s->kernel[0] * s->kernel[1];
    c->pitch = rounded_up(s->width + 2 * s->padding[1], s->stride[1]);
    c->plane = c->pitch * rounded_up(s->height + 2 * s->padding[0], s->stride[0]);
    c->image = c->channels * s->stride[0] * s->stride[1] * c->plane;
    c->run = (s->places[0] - 1) * c->pitch + s->places[1];
    c->row_blocks = rounded_up(c->outs, ROWS);
    c->size = tl__dtype_size((tl_dtype)x->dtype);
    c->group = GROUP_BYTES / (c->image * (int64_t)c->size + 1);
    c->group = c->group < 1 ? 1 : c->group > x->shape[0] ? x->shape[0] : c->group;
}

static masu_status room_new(convolution *c) {
    const size_t offsets = (size_t)c->taps * sizeof(int64_t);
    const size_t weights = (size_t)(c->row_blocks * ROWS * c->taps) * c->size;
    const size_t copies = (size_t)(c->group * c->image + SLACK) * c->size;
    c->bytes = offsets + weights + copies;
    masu_status status = tl__alloc(c->bytes, &c->all);
    if (status != MASU_OK)
        return status;
    c->offset = c->all;
    c->weights = (char *)c->all + offsets;
    c->copies = c->weights + weights;
    memset(c->copies, 0, copies);
    return MASU_OK;
}

static void find_offsets(convolution *c) {
    const tl_sliding *s = &c->s;
    int64_t k = 0;
    for (int64_t channel = 0; channel < c->channels; channel++)
        for (int64_t i = 0; i < s->kernel[0]; i++)
            for (int64_t j = 0; j < s->kernel[1]; j++) {
                const int64_t y = i * s->dilation[0], x = j * s->dilation[1];
                const int64_t which = (channel * s->stride[0] + y % s->stride[0]) * s->stride[1] + x % s->stride[1];
                c->offset[k++] = which * c->plane + y / s->stride[0] * c->pitch + x / s->stride[1];
            }
}

/* ---- copies and tiles, for each type of numbers ------------------------------------------------------------------ */

/* One run of the tile's taps: added to `sums` where `adds`, else put there; its rows lie `apart` numbers apart. */
typedef void tile_function(const void *image, const int64_t *offset, int64_t taps, const void *weights, void *sums,
                           int64_t apart, bool adds);

#define COPIES(T, suffix)                                                                                \
    static void pack_weights_##suffix(const convolution *c, const T *from) {                             \
        T *to = (T *)(void *)c->weights;                                                                 \
        for (int64_t block = 0; block < c->row_blocks; block++, from += ROWS * c->taps) {                \
            const int64_t rest = c->outs - block * ROWS, rows = rest < ROWS ? rest : ROWS;               \
            for (int64_t k = 0; k < c->taps; k++, to += ROWS)                                            \
                for (int64_t r = 0; r < ROWS; r++)                                                       \
                    to[r] = r < rows ? from[r * c->taps + k] : 0;                                        \
        }                                                                                                \
    }                                                                                                    \
    /* Row y of the plane (a, b) of one channel. The margin is zero since the copies were made. */       \
    static void copy_row_##suffix(const tl_sliding *s, const T *from, int64_t b, int64_t pitch, T *to) { \
        const int64_t step = s->stride[1], left = s->padding[1] - b;                                     \
        int64_t low = left > 0 ? rounded_up(left, step) : 0, high = rounded_up(s->width + left, step);   \
        high = high > pitch ? pitch : high;                                                              \
        if (step == 1 && high > low)                                                                     \
            memcpy(to + low, from + low - left, (size_t)(high - low) * sizeof(T));                       \
        else                                                                                             \
            for (int64_t x = low; x < high; x++)                                                         \
                to[x] = from[x * step - left];                                                           \
    }                                                                                                    \
    static void copy_image_##suffix(const convolution *c, const T *from, T *to) {                        \
        const tl_sliding *s = &c->s;                                                                     \
        for (int64_t channel = 0; channel < c->channels; channel++, from += s->height * s->width)        \
            for (int64_t a = 0; a < s->stride[0]; a++)                                                   \
                for (int64_t b = 0; b < s->stride[1]; b++, to += c->plane)                               \
                    for (int64_t y = 0; y < c->plane / c->pitch; y++) {                                  \
                        const int64_t at = y * s->stride[0] + a - s->padding[0];                         \
                        if (at >= 0 && at < s->height)                                                   \
                            copy_row_##suffix(s, from + at * s->width, b, c->pitch, to + y * c->pitch);  \
                    }                                                                                    \
    }
COPIES(float, f32)
COPIES(double, f64)

#if defined(__x86_64__)
#define TILE(T, name, bytes, vectors, arch)                                                                       \
    typedef T name##_vector __attribute__((vector_size(bytes), aligned(sizeof(T))));                              \
    __attribute__((target(arch))) static void name(const void *image_, const int64_t *offset, int64_t taps,       \
                                                   const void *weights_, void *sums_, int64_t apart, bool adds) { \
        enum { WIDTH = bytes / sizeof(T) };                                                                       \
        const T *image = image_, *weights = weights_;                                                             \
        T *sums = sums_;                                                                                          \
        name##_vector sum[ROWS][vectors];                                                                         \
        for (int r = 0; r < ROWS; r++)                                                                            \
            for (int v = 0; v < vectors; v++)                                                                     \
                sum[r][v] = (name##_vector){0};                                                                   \
        for (int64_t k = 0; k < taps; k++, weights += ROWS) {                                                     \
            const T *from = image + offset[k];                                                                    \
            name##_vector in[vectors];                                                                            \
            for (int v = 0; v < vectors; v++)                                                                     \
                in[v] = *(const name##_vector *)(const void *)(from + v * WIDTH);                                 \
            for (int r = 0; r < ROWS; r++)                                                                        \
                for (int v = 0; v < vectors; v++)                                                                 \
                    sum[r][v] += in[v] * weights[r];                                                              \
        }                                                                                                         \
        for (int r = 0; r < ROWS; r++)                                                                            \
            for (int v = 0; v < vectors; v++) {                                                                   \
                name##_vector *to = (name##_vector *)(void *)(sums + r * apart + v * WIDTH);                      \
                *to = adds ? *to + sum[r][v] : sum[r][v];                                                         \
            }                                                                                                     \
    }
TILE(float, tile_512_f32, 64, 4, "avx512f,avx2,fma")
TILE(double, tile_512_f64, 64, 4, "avx512f,avx2,fma")
TILE(float, tile_256_f32, 32, 2, "avx2,fma")
TILE(double, tile_256_f64, 32, 2, "avx2,fma")
#endif

/* NULL: this processor has no vectors worth it. bytes: of a row of the tile. */
static tile_function *tile_for(tl_dtype dtype, int64_t *bytes) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) {
        *bytes = 4 * 64;
        return dtype == TL_F32 ? tile_512_f32 : tile_512_f64;
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        *bytes = 2 * 32;
        return dtype == TL_F32 ? tile_256_f32 : tile_256_f64;
    }
#endif
    (void)dtype;
    *bytes = 0;
    return NULL;
}

/* ---- the result -------------------------------------------------------------------------------------------------- */

/* Tiles go along the run of an image, or, where a row of places is some whole tiles, along each row: then nothing
 * between rows is computed, and sums are put where they belong. */
typedef struct work {
    const convolution *c;
    tile_function *tile;
    int64_t width, tiles; /* of a tile, of an image */
    bool by_rows;
} work;

enum { TILE_WIDTH = 64, SUMS_BYTES = ROWS * TILE_WIDTH * sizeof(float) };

/* Numbers of a tile that are places, in one piece: where in the tile, where in a row of the result, how many bytes. */
typedef struct piece {
    int64_t from, to;
    size_t bytes;
} piece;

static int find_pieces(const work *w, int64_t q, piece *pieces) {
    const convolution *c = w->c;
    const int64_t size = (int64_t)c->size, wide = c->s.places[1];
    const int64_t end = q + w->width < c->run ? q + w->width : c->run;
    int64_t y = q / c->pitch, x = q % c->pitch;
    int count = 0;
    for (int64_t at = q, taken; at < end; at += taken, y++, x = 0) {
        taken = c->pitch - x < end - at ? c->pitch - x : end - at;
        const int64_t kept = taken < wide - x ? taken : wide - x;
        if (kept > 0)
            pieces[count++] = (piece){(at - q) * size, (y * wide + x) * size, (size_t)(kept * size)};
    }
    return count;
}

static void add_taps(const work *w, const char *from, int64_t block, char *sums, int64_t apart) {
    const convolution *c = w->c;
    const int64_t size = (int64_t)c->size;
    const char *weights = c->weights + block * c->taps * ROWS * size;
    for (int64_t k = 0; k < c->taps; k += TAPS) {
        const int64_t taps = c->taps - k < TAPS ? c->taps - k : TAPS;
        w->tile(from, c->offset + k, taps, weights + k * ROWS * size, sums, apart, k > 0);
    }
}

/* Tile number i of one image, for all rows of the result. */
static void convolve_tile(const work *w, int64_t image, int64_t i) {
    const convolution *c = w->c;
    const int64_t size = (int64_t)c->size, places = c->s.places[0] * c->s.places[1], row = places * size;
    const int64_t first = i * w->width, wide = c->s.places[1];
    const int64_t q = w->by_rows ? first / wide * c->pitch + first % wide : first;
    const char *from = c->copies + (image * c->image + q) * size;
    char *out = c->out + image * c->outs * row;
    piece pieces[TILE_WIDTH];
    const int count = w->by_rows ? 1 : find_pieces(w, q, pieces);
    if (w->by_rows)
        pieces[0] = (piece){0, first * size, (size_t)(w->width * size)};
    _Alignas(64) char sums[SUMS_BYTES];
    for (int64_t block = 0; block < c->row_blocks; block++) {
        const int64_t rest = c->outs - block * ROWS, rows = rest < ROWS ? rest : ROWS;
        if (w->by_rows && rows == ROWS) {
            add_taps(w, from, block, out + first * size, places);
            out += ROWS * row;
            continue;
        }
        add_taps(w, from, block, sums, w->width);
        for (int64_t r = 0; r < rows; r++, out += row)
            for (int k = 0; k < count; k++)
                memcpy(out + pieces[k].to, sums + r * w->width * size + pieces[k].from, pieces[k].bytes);
    }
}

static void convolve_tiles(void *context, int64_t from, int64_t to) {
    const work *w = context;
    for (int64_t i = from; i < to; i++)
        convolve_tile(w, i / w->tiles, i % w->tiles);
}

static void copy_images(const convolution *c, const void *from, int64_t images) {
    const int64_t own = c->channels * c->s.height * c->s.width;
    for (int64_t i = 0; i < images; i++)
        if (c->size == sizeof(float))
            copy_image_f32(c, (const float *)from + i * own, (float *)(void *)c->copies + i * c->image);
        else
            copy_image_f64(c, (const double *)from + i * own, (double *)(void *)c->copies + i * c->image);
}

static void convolve_all(convolution *c, tile_function *tile, int64_t tile_bytes, const tl_tensor *x, tl_tensor *out) {
    work w = {.c = c, .tile = tile, .width = tile_bytes / (int64_t)c->size};
    w.by_rows = c->s.places[1] % w.width == 0;
    w.tiles = w.by_rows ? c->s.places[0] * c->s.places[1] / w.width : rounded_up(c->run, w.width);
    const int64_t from_bytes = x->elements / x->shape[0] * (int64_t)c->size;
    const int64_t out_bytes = out->elements / out->shape[0] * (int64_t)c->size;
    for (int64_t i = 0; i < x->shape[0]; i += c->group) {
        const int64_t images = x->shape[0] - i < c->group ? x->shape[0] - i : c->group;
        copy_images(c, (const char *)x->data + i * from_bytes, images);
        c->out = (char *)out->data + i * out_bytes;
        tl__in_parts(images * w.tiles, 1, images * w.tiles * w.width * c->outs * c->taps / 8, convolve_tiles, &w);
    }
}

/* x, w: row-major, of one floating type; out has elements. */
static masu_status by_tiles(const tl_sliding *s, const tl_tensor *x, const tl_tensor *w, tile_function *tile,
                            int64_t tile_bytes, tl_tensor *out) {
    convolution c = {.s = *s};
    plan(&c, x, w);
    masu_status status = room_new(&c);
    if (status != MASU_OK)
        return status;
    find_offsets(&c);
    if (x->dtype == TL_F32)
        pack_weights_f32(&c, w->data);
    else
        pack_weights_f64(&c, w->data);
    convolve_all(&c, tile, tile_bytes, x, out);
    tl__free(c.all, c.bytes);
    return MASU_OK;
}

/* ---- by columns -------------------------------------------------------------------------------------------------- */

static masu_status by_columns(const tl_sliding *s, const tl_tensor *x, tl_tensor *w, const int64_t *shape,
                              tl_tensor **out) {
    tl_tensor *columns, *matrix, *product;
    const int64_t flat[2] = {w->shape[0], w->shape[1] * w->shape[2] * w->shape[3]};
    masu_status status = tl__unfold(x, s, 0.0, &columns);
    if (status != MASU_OK)
        return status;
    status = tl__reshape(w, 2, flat, &matrix);
    if (status == MASU_OK) {
        status = tl__matmul(matrix, columns, &product);
        tl__tensor_drop(matrix);
    }
    tl__tensor_drop(columns);
    if (status != MASU_OK)
        return status;
    status = tl__reshape(product, 4, shape, out);
    tl__tensor_drop(product);
    return status;
}

static masu_status convolve_dense(const tl_sliding *s, const tl_tensor *x, tl_tensor *w, tl_tensor **out) {
    const int64_t shape[4] = {x->shape[0], w->shape[0], s->places[0], s->places[1]};
    int64_t tile_bytes;
    tile_function *tile = tile_for((tl_dtype)x->dtype, &tile_bytes);
    if (x->elements == 0 || w->elements == 0)
        return tl__full((tl_dtype)x->dtype, 4, shape, 0.0, out);
    if (!tile)
        return by_columns(s, x, w, shape, out);
    masu_status status = tl__tensor_new((tl_dtype)x->dtype, 4, shape, out);
    if (status != MASU_OK)
        return status;
    status = by_tiles(s, x, w, tile, tile_bytes, *out);
    if (status != MASU_OK)
        tl__tensor_drop(*out);
    return status;
}

/* ---- the operation ----------------------------------------------------------------------------------------------- */

static bool fits(const tl_tensor *t, const tl_tensor *kernel, int64_t count, const int64_t *window, tl_sliding *s) {
    return t->rank == 4 && kernel->rank == 4 && count == WINDOW_WORDS && t->shape[1] == kernel->shape[1] &&
           kernel->shape[2] == window[KERNEL_H] && kernel->shape[3] == window[KERNEL_W] && tl__sliding_of(t, window, s);
}

static masu_status recorded(tl_tensor *t, tl_tensor *kernel, tl_tensor *x, tl_tensor *w, const int64_t *window,
                            tl_tensor **out) {
    if (!t->node && !kernel->node)
        return MASU_OK;
    return tl__record_or_drop(*out,
                              &(tl_origin){.rule = &tl__rule_convolve,
                                           .input_count = 2,
                                           .inputs = (tl_tensor *[]){t, kernel},
                                           .saved_count = 2,
                                           .saved = (tl_tensor *[]){kernel->node ? x : NULL, t->node ? w : NULL},
                                           .extra_count = WINDOW_WORDS,
                                           .extra = (const uint64_t *)(const void *)window},
                              out);
}

static masu_status convolve(tl_tensor *t, tl_tensor *kernel, int64_t count, const int64_t *window, tl_tensor **out) {
    tl_sliding s;
    char shape[TL_SHAPE_TEXT];
    tl_tensor *x, *w;
    if (!fits(t, kernel, count, window, &s))
        return tl__error(TL_SAY(window_x_does_not_fit_images_shape), count == WINDOW_WORDS ? window[KERNEL_H] : 0,
                         count == WINDOW_WORDS ? window[KERNEL_W] : 0, tl__shape_text(t->rank, t->shape, shape));
    tl_dtype dtype = tl__promote((tl_dtype)t->dtype, (tl_dtype)kernel->dtype);
    dtype = dtype == TL_F64 ? TL_F64 : TL_F32;
    masu_status status = tl__dense_as(t, dtype, &x);
    if (status != MASU_OK)
        return status;
    status = tl__dense_as(kernel, dtype, &w);
    if (status == MASU_OK) {
        status = convolve_dense(&s, x, w, out);
        if (status == MASU_OK)
            status = recorded(t, kernel, x, w, window, out);
        tl__tensor_drop(w);
    }
    tl__tensor_drop(x);
    return status;
}

tl_tensor *tl_tensor_convolve(tl_tensor *t, tl_tensor *kernel, int64_t window_count, int64_t const *window) {
    TL_RETURN_TENSOR(convolve(t, kernel, window_count, window, &out));
}
