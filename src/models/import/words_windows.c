/* words_windows.c: kernels, strides, dilations and paddings of convolutions and pools, one number for each dimension
 * behind the channels. What SAME and ceil_mode mean follows from the lengths, which must then be known.
 *
 *     before | input | after | more        more: what the last window of ceil_mode looks at behind the padding
 */
#include <string.h>

#include "models/import/import.h"

typedef struct windows {
    size_t count;
    int64_t kernel[MASU__MODEL_MOST_RANK], strides[MASU__MODEL_MOST_RANK], dilations[MASU__MODEL_MOST_RANK];
    int64_t before[MASU__MODEL_MOST_RANK], after[MASU__MODEL_MOST_RANK], more[MASU__MODEL_MOST_RANK];
} windows;

enum { MOST_NUMBER = 1 << 24 };

static bool read_list(import_node *n, const char *name, int64_t least, int64_t otherwise, size_t count, int64_t *out) {
    size_t given;
    const int64_t *values = import_ints(n, name, &given);
    if (values && given != count)
        return import_refuse(n, "`%s` has %zu numbers for %zu dimensions", name, given, count);
    for (size_t i = 0; i < count; i++) {
        out[i] = values ? values[i] : otherwise;
        if (out[i] < least || out[i] > MOST_NUMBER)
            return import_refuse(n, "`%s` has the number %lld", name, (long long)out[i]);
    }
    return true;
}

/* From the attribute, or of a convolution from its weights. */
static bool read_kernel(import_node *n, windows *w, size_t weights) {
    const masu__model_tensor *t = weights ? onnx_in(&n->v, weights) : NULL;
    size_t rank, given;
    const int64_t *values = import_ints(n, "kernel_shape", &given);
    if (!import_rank(n, 0, &rank))
        return false;
    if (rank < 3)
        return import_refuse(n, "the input has %zu dimensions; at least 3 are needed", rank);
    w->count = rank - 2;
    if (!values && t && t->has_shape && t->rank == rank)
        values = t->dims + 2, given = w->count;
    if (!values || given != w->count)
        return import_refuse(n, "`kernel_shape` is missing, or not of the input's rank");
    for (size_t i = 0; i < w->count; i++) {
        w->kernel[i] = values[i];
        if (values[i] < 1 || values[i] > MOST_NUMBER)
            return import_refuse(n, "a kernel of %lld", (long long)values[i]);
    }
    return true;
}

static const char *const paddings[] = {"NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER", NULL};

static bool read_pads(import_node *n, windows *w, size_t *automatic) {
    int64_t pads[2 * MASU__MODEL_MOST_RANK];
    if (!import_choice(n, "auto_pad", paddings, automatic) || !read_list(n, "pads", 0, 0, 2 * w->count, pads))
        return false;
    for (size_t i = 0; i < w->count && *automatic == 0; i++) {
        w->before[i] = pads[i];
        w->after[i] = pads[w->count + i];
    }
    return true;
}

static void split_pads(windows *w, size_t i, int64_t all, bool is_upper) {
    all = all > 0 ? all : 0;
    w->before[i] = is_upper ? all / 2 : all - all / 2;
    w->after[i] = all - w->before[i];
}

static int64_t reach(const windows *w, size_t i) {
    return w->dilations[i] * (w->kernel[i] - 1) + 1;
}

static bool read_windows(import_node *n, windows *w, size_t weights) {
    const masu__model_tensor *in;
    size_t automatic;
    *w = (windows){0};
    if (!read_kernel(n, w, weights) || !read_list(n, "strides", 1, 1, w->count, w->strides) ||
        !read_list(n, "dilations", 1, 1, w->count, w->dilations) || !read_pads(n, w, &automatic))
        return false;
    if (automatic < 2)
        return true;
    if (!import_lengths(n, 0, 2, &in))
        return false;
    for (size_t i = 0; i < w->count; i++) {
        int64_t length = in->dims[i + 2], out = (length + w->strides[i] - 1) / w->strides[i];
        split_pads(w, i, (out - 1) * w->strides[i] + reach(w, i) - length, automatic == 2);
    }
    return true;
}

static bool put_windows(import_node *n, const windows *w) {
    return import_word_ints(n, "kernel", w->kernel, w->count) && import_word_ints(n, "strides", w->strides, w->count) &&
           import_word_ints(n, "dilations", w->dilations, w->count) &&
           import_word_ints(n, "before", w->before, w->count) && import_word_ints(n, "after", w->after, w->count) &&
           import_word_ints(n, "more", w->more, w->count);
}

/* The last window begins inside of the input or of the padding before it. */
static bool round_up(import_node *n, windows *w) {
    const masu__model_tensor *in;
    if (!import_lengths(n, 0, 2, &in))
        return false;
    for (size_t i = 0; i < w->count; i++) {
        int64_t padded = in->dims[i + 2] + w->before[i] + w->after[i];
        int64_t out = (padded - reach(w, i) + w->strides[i] - 1) / w->strides[i] + 1;
        if ((out - 1) * w->strides[i] >= in->dims[i + 2] + w->before[i])
            out--;
        int64_t more = (out - 1) * w->strides[i] + reach(w, i) - padded;
        w->more[i] = more > 0 ? more : 0;
    }
    return true;
}

bool import_pool(import_node *n) {
    windows w;
    if (!read_windows(n, &w, 0) || (import_int(n, "ceil_mode", 0) != 0 && !round_up(n, &w)))
        return false;
    for (size_t i = 0; i < w.count && onnx_is(&n->v, "AveragePool"); i++)
        if (w.more[i] > 0 && import_int(n, "count_include_pad", 0) != 0)
            return import_refuse(
                n,
                "count_include_pad with ceil_mode: runtimes do not agree whether what lies behind the padding counts");
    return put_windows(n, &w);
}

/* The lowest value of the element type: padding is never the maximum. */
bool import_lowest(import_node *n) {
    char kind = import_kind(onnx_in(&n->v, 0));
    if (!onnx_out(&n->v, 1))
        (void)import_attribute(n, "storage_order"); /* of the places alone */
    return import_pool(n) &&
           import_word(n, "lowest", IMPORT_ONE, kind == 'f' || kind == 'd' ? IMPORT_LOWEST : "-4294967296");
}

bool import_convolution(import_node *n) {
    windows w;
    return read_windows(n, &w, onnx_is(&n->v, "QLinearConv") ? 3 : 1) && put_windows(n, &w);
}

/* The transposed convolution is one over the input with strides - 1 zeros between its elements: before and after are
 * the paddings of that, which may be less than nothing.
 */
bool import_transposed(import_node *n) {
    const masu__model_tensor *in;
    windows w = {0};
    size_t automatic, given;
    int64_t extra[MASU__MODEL_MOST_RANK];
    if (!read_kernel(n, &w, 1) || !read_list(n, "strides", 1, 1, w.count, w.strides) ||
        !read_list(n, "dilations", 1, 1, w.count, w.dilations) || !read_pads(n, &w, &automatic) ||
        !read_list(n, "output_padding", 0, 0, w.count, extra))
        return false;
    const int64_t *wanted = import_ints(n, "output_shape", &given);
    if (wanted && given != w.count)
        return import_refuse(n, "`output_shape` has %zu numbers for %zu dimensions", given, w.count);
    if ((wanted || automatic >= 2) && !import_lengths(n, 0, 2, &in))
        return false;
    for (size_t i = 0; i < w.count; i++) {
        if (wanted || automatic >= 2) {
            int64_t length = wanted ? wanted[i] : in->dims[i + 2] * w.strides[i];
            int64_t all = w.strides[i] * (in->dims[i + 2] - 1) + extra[i] + reach(&w, i) - length;
            if (all < 0)
                return import_refuse(n, "the output is longer than what the kernel reaches");
            split_pads(&w, i, all, automatic == 2);
        }
        w.before[i] = reach(&w, i) - 1 - w.before[i];
        w.after[i] = reach(&w, i) - 1 - w.after[i] + extra[i];
    }
    return put_windows(n, &w);
}

bool import_columns(import_node *n) {
    windows w = {0};
    size_t automatic;
    const masu__model_tensor *image = onnx_in(&n->v, 1);
    if (!image || !image->has_shape || image->rank != 1 || image->dims[0] < 1 || image->dims[0] > 8)
        return import_refuse(n, "how many dimensions an image has is not known");
    w.count = (size_t)image->dims[0];
    return read_list(n, "strides", 1, 1, w.count, w.strides) && read_list(n, "dilations", 1, 1, w.count, w.dilations) &&
           read_pads(n, &w, &automatic) && put_windows(n, &w);
}
