/* signs.c: of a result that is 0 or its operand, backward need only know where it was 0: a bit an element in place of
 * the result itself, which may then be written over.
 *
 *     result    0.0  2.5  0.0  NaN  …         4 or 8 bytes each
 *     signs       0    1    0    1  …         bool tensor of ⌈elements / 8⌉ bytes, the first element in the lowest bit
 *     gradient    0   g1    0   g3  …
 *
 * Small results are saved as they are: a header more, for less than a line of the cache, would cost more than it saves.
 */
#include <string.h>

#include "runtime/ops/ops.h"
#include "runtime/ops/threads.h"
#include "runtime/state.h"

enum { BITS = 8, SMALLEST_BYTES = 512 };

bool tl__signs_pay(const tl_tensor *t) {
    return tl__is_float(t) && t->contiguous &&
           (size_t)t->elements * tl__dtype_size((tl_dtype)t->dtype) >= SMALLEST_BYTES;
}

typedef struct signs_loop {
    int64_t elements;
    bool wide; /* f64 */
    void *values;
    uint8_t *bits;
} signs_loop;

/* Elements as the integers that their bits are: no value here is negative, and 0 of either sign is no more than its
 * sign bit. Registers of 16 bytes, which every machine of ours has: compilers take wider ones apart, badly. */
#define BY_BYTES(word, lanes, collect, clear, ...)                                    \
    typedef word lanes __attribute__((vector_size(16)));                              \
    static const lanes lanes##_weights[BITS * sizeof(word) / 16] = {__VA_ARGS__};     \
    enum { lanes##_count = 16 / sizeof(word), lanes##_parts = BITS / lanes##_count }; \
                                                                                      \
    static void collect(const void *values, uint8_t *restrict bits, int64_t count) {  \
        const char *place = values;                                                   \
        for (int64_t b = 0; b < count; b++) {                                         \
            lanes sum = {0}, part;                                                    \
            word all = 0;                                                             \
            for (int p = 0; p < lanes##_parts; p++, place += sizeof part) {           \
                memcpy(&part, place, sizeof part);                                    \
                sum |= (lanes)((part << 1) != 0) & lanes##_weights[p];                \
            }                                                                         \
            for (int k = 0; k < lanes##_count; k++)                                   \
                all |= sum[k];                                                        \
            bits[b] = (uint8_t)all;                                                   \
        }                                                                             \
    }                                                                                 \
                                                                                      \
    static void clear(void *values, const uint8_t *restrict bits, int64_t count) {    \
        char *place = values;                                                         \
        for (int64_t b = 0; b < count; b++) {                                         \
            lanes all = (lanes){0} + (word)bits[b], part;                             \
            for (int p = 0; p < lanes##_parts; p++, place += sizeof part) {           \
                memcpy(&part, place, sizeof part);                                    \
                part &= (lanes)((all & lanes##_weights[p]) == lanes##_weights[p]);    \
                memcpy(place, &part, sizeof part);                                    \
            }                                                                         \
        }                                                                             \
    }
BY_BYTES(uint32_t, lanes32, collect32, clear32, {1, 2, 4, 8}, {16, 32, 64, 128})
BY_BYTES(uint64_t, lanes64, collect64, clear64, {1, 2}, {4, 8}, {16, 32}, {64, 128})

static char *at_byte(const signs_loop *loop, int64_t byte) {
    return (char *)loop->values + byte * BITS * (loop->wide ? 8 : 4);
}

static void collect_part(void *context, int64_t from, int64_t to) {
    const signs_loop *loop = context;
    (loop->wide ? collect64 : collect32)(at_byte(loop, from), loop->bits + from, to - from);
}

static void clear_part(void *context, int64_t from, int64_t to) {
    const signs_loop *loop = context;
    (loop->wide ? clear64 : clear32)(at_byte(loop, from), loop->bits + from, to - from);
}

/* The last, fewer than eight. */
static void by_way_of_eight(const signs_loop *loop, tl_part_function *part) {
    size_t bytes = (size_t)(loop->elements % BITS) * (loop->wide ? 8 : 4);
    int64_t byte = loop->elements / BITS;
    char *place = at_byte(loop, byte);
    uint64_t eight[BITS] = {0};
    signs_loop last = {BITS, loop->wide, eight, loop->bits + byte};
    if (bytes == 0)
        return;
    memcpy(eight, place, bytes);
    part(&last, 0, 1);
    memcpy(place, eight, bytes);
}

static void run(tl_tensor *values, tl_tensor *signs, tl_part_function *part) {
    signs_loop loop = {values->elements, values->dtype == TL_F64, values->data, signs->data};
    tl__in_parts(values->elements / BITS, TL_CACHE_LINE, values->elements, part, &loop);
    by_way_of_eight(&loop, part);
}

masu_status tl__signs_of(tl_tensor *t, tl_tensor **out) {
    const int64_t bytes = (t->elements + BITS - 1) / BITS;
    MASU_DEBUG_ASSERT(t->contiguous);
    masu_status status = tl__tensor_new(TL_BOOL, 1, &bytes, out);
    if (status == MASU_OK)
        run(t, *out, collect_part);
    return status;
}

masu_status tl__signs_mask(tl_pass *pass, tl_node *node, tl_tensor **out) {
    tl_tensor *own;
    masu_status status = tl__contiguous_gradient(pass);
    if (status != MASU_OK)
        return status;
    if (tl__is_private(pass->gradient)) {
        own = tl__take_gradient(pass);
    } else {
        status = tl__copy(pass->gradient, &own);
        if (status != MASU_OK)
            return status;
    }
    run(own, tl__node_saved(node)[0], clear_part);
    *out = own;
    return MASU_OK;
}
