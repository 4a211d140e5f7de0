/* turn.c: the elements of a view laid down row by row, in an order that memory likes.
 *
 *     rows that lie in one piece     ─►  are copied whole
 *     rows across the source's       ─►  tiles: some lines of the source, some of the result, each line of the cache
 *                                        fetched once and used up
 *     anything else                  ─►  one element after the other
 *
 * Dimensions of length 1 vanish and neighbours merge where the source allows it, so a matrix turned round is one plane
 * of tiles however many dimensions it is written with. Elements are moved as words of their size: no bit of a NaN
 * changes.
 */
#include <stdint.h>
#include <string.h>

#include "runtime/value/turn.h"

/* In elements. to_step is that of the result, dense and row-major; `last` is its innermost dimension. */
typedef struct plan {
    int rank;
    int64_t length[TL_MAX_RANK], step[TL_MAX_RANK], to_step[TL_MAX_RANK];
} plan;

static plan plan_of(const tl_tensor *t) {
    plan p = {.rank = 0};
    for (int d = 0; d < t->rank; d++) {
        if (t->shape[d] == 1)
            continue;
        int before = p.rank - 1;
        if (before >= 0 && p.step[before] == t->stride[d] * t->shape[d]) {
            p.length[before] *= t->shape[d];
            p.step[before] = t->stride[d];
            continue;
        }
        p.length[p.rank] = t->shape[d];
        p.step[p.rank++] = t->stride[d];
    }
    if (p.rank == 0) {
        p.length[0] = p.step[0] = 1;
        p.rank = 1;
    }
    p.to_step[p.rank - 1] = 1;
    for (int d = p.rank - 2; d >= 0; d--)
        p.to_step[d] = p.to_step[d + 1] * p.length[d + 1];
    return p;
}

/* ---- planes: result [down][across] from a source whose steps are 1 and `step` ------------------------------------ */

/* Lines of matrices of 2ⁿ columns lie in one set of the nearest cache, which has eight: no more lines of the result are
 * written at a time, and each corner's lines of the source are used at once. */
enum { TILE_DOWN = 16, TILE_ACROSS = 64, CORNER = 4, CORNERS_DOWN = 8 };

static int64_t at_most(int64_t n, int64_t most) {
    return n < most ? n : most;
}

#define TILE(T)                                                                                               \
    static void tile_##T(T *to, int64_t to_step, const T *from, int64_t step, int64_t down, int64_t across) { \
        for (int64_t i = 0; i < down; i++)                                                                    \
            for (int64_t j = 0; j < across; j++)                                                              \
                to[i * to_step + j] = from[i + j * step];                                                     \
    }
TILE(uint8_t)
TILE(uint32_t)
TILE(uint64_t)

typedef uint32_t four __attribute__((vector_size(16)));

/* Sixteen elements turned in registers. */
static void turn_corner(uint32_t *to, int64_t to_step, const uint32_t *from, int64_t step) {
    four a, b, c, d;
    memcpy(&a, from, sizeof a);
    memcpy(&b, from + step, sizeof b);
    memcpy(&c, from + 2 * step, sizeof c);
    memcpy(&d, from + 3 * step, sizeof d);
    const four ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5), ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    const four cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5), cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    a = __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5);
    b = __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7);
    c = __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5);
    d = __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7);
    memcpy(to, &a, sizeof a);
    memcpy(to + to_step, &b, sizeof b);
    memcpy(to + 2 * to_step, &c, sizeof c);
    memcpy(to + 3 * to_step, &d, sizeof d);
}

static void tile_of_corners(uint32_t *to, int64_t to_step, const uint32_t *from, int64_t step, int64_t down,
                            int64_t across) {
    const int64_t whole_down = down / CORNER * CORNER, whole_across = across / CORNER * CORNER;
    for (int64_t j = 0; j < whole_across; j += CORNER)
        for (int64_t i = 0; i < whole_down; i += CORNER)
            turn_corner(to + i * to_step + j, to_step, from + i + j * step, step);
    tile_uint32_t(to + whole_across, to_step, from + whole_across * step, step, whole_down, across - whole_across);
    tile_uint32_t(to + whole_down * to_step, to_step, from + whole_down, step, down - whole_down, across);
}

static void turn_tile(size_t size, char *to, int64_t to_step, const char *from, int64_t step, int64_t down,
                      int64_t across) {
    if (size == sizeof(uint32_t))
        tile_of_corners((uint32_t *)(void *)to, to_step, (const uint32_t *)(const void *)from, step, down, across);
    else if (size == sizeof(uint64_t))
        tile_uint64_t((uint64_t *)(void *)to, to_step, (const uint64_t *)(const void *)from, step, down, across);
    else
        tile_uint8_t((uint8_t *)to, to_step, (const uint8_t *)from, step, down, across);
}

static void turn_plane(size_t size, char *to, int64_t to_step, const char *from, int64_t step, int64_t down,
                       int64_t across) {
    const int64_t bytes = (int64_t)size, high = size == sizeof(uint32_t) ? CORNERS_DOWN : TILE_DOWN;
    for (int64_t j = 0; j < across; j += TILE_ACROSS)
        for (int64_t i = 0; i < down; i += high)
            turn_tile(size, to + (i * to_step + j) * bytes, to_step, from + (i + j * step) * bytes, step,
                      at_most(down - i, high), at_most(across - j, TILE_ACROSS));
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

#define ROW(T)                                                           \
    static void row_##T(T *to, const T *from, int64_t n, int64_t step) { \
        for (int64_t i = 0; i < n; i++)                                  \
            to[i] = from[i * step];                                      \
    }
ROW(uint8_t)
ROW(uint32_t)
ROW(uint64_t)

static void copy_row(size_t size, char *to, const char *from, int64_t n, int64_t step) {
    if (step == 1)
        memcpy(to, from, (size_t)n * size);
    else if (size == sizeof(uint32_t))
        row_uint32_t((uint32_t *)(void *)to, (const uint32_t *)(const void *)from, n, step);
    else if (size == sizeof(uint64_t))
        row_uint64_t((uint64_t *)(void *)to, (const uint64_t *)(const void *)from, n, step);
    else
        row_uint8_t((uint8_t *)to, (const uint8_t *)from, n, step);
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

/* The dimension along which the source lies in one piece, if it is not the last one; -1: none. */
static int across_source(const plan *p) {
    int last = p->rank - 1;
    for (int d = 0; d < last && p->step[last] != 1; d++)
        if (p->step[d] == 1)
            return d;
    return -1;
}

void tl__turn(void *to, const tl_tensor *t) {
    const plan p = plan_of(t);
    const size_t size = tl__dtype_size((tl_dtype)t->dtype);
    const int last = p.rank - 1, down = across_source(&p);
    int64_t index[TL_MAX_RANK] = {0}, at = 0, to_at = 0;
    const char *from = t->data;
    int d;
    do {
        char *place = (char *)to + to_at * (int64_t)size;
        const char *source = from + at * (int64_t)size;
        if (down < 0)
            copy_row(size, place, source, p.length[last], p.step[last]);
        else
            turn_plane(size, place, p.to_step[down], source, p.step[last], p.length[down], p.length[last]);
        for (d = last - 1; d >= 0; d--) {
            if (d == down)
                continue;
            at += p.step[d];
            to_at += p.to_step[d];
            if (++index[d] < p.length[d])
                break;
            at -= p.step[d] * p.length[d];
            to_at -= p.to_step[d] * p.length[d];
            index[d] = 0;
        }
    } while (d >= 0);
}
