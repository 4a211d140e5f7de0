/* onnx_shapes_windows.c: shapes of what slides a window over an image: convolutions, pools; and of what changes an
 * image's size. */
#include <string.h>

#include "models/onnx_nodes.h"

typedef struct window {
    size_t space; /* dimensions behind batch and channels */
    int64_t kernel[MASU__MODEL_MOST_RANK], stride[MASU__MODEL_MOST_RANK], dilation[MASU__MODEL_MOST_RANK];
    int64_t before[MASU__MODEL_MOST_RANK], after[MASU__MODEL_MOST_RANK];
    bool same, valid, ceil;
} window;

static bool take(const onnx_node *v, const char *name, size_t space, int64_t otherwise, int64_t *out) {
    size_t count;
    const int64_t *given = onnx_ints(v, name, &count);
    for (size_t i = 0; i < space; i++) {
        out[i] = i < count ? given[i] : otherwise;
        if (out[i] < 0 || out[i] > ONNX_MOST_DIM)
            return false;
    }
    return count == 0 || count == space;
}

/* weights: the tensor whose shape has the kernel where no attribute has; NULL: none. */
static bool read_window(const onnx_node *v, size_t space, const masu__model_tensor *weights, window *w) {
    size_t count;
    int64_t pads[2 * MASU__MODEL_MOST_RANK];
    *w = (window){.space = space};
    const int64_t *kernel = onnx_ints(v, "kernel_shape", &count);
    for (size_t i = 0; i < space; i++) {
        bool in_weights = count != space && weights && weights->has_shape && weights->rank == space + 2;
        w->kernel[i] = count == space ? onnx_dim(kernel[i]) : in_weights ? weights->dims[i + 2] : MASU__MODEL_OPEN;
    }
    if (space > MASU__MODEL_MOST_RANK / 2 || !take(v, "strides", space, 1, w->stride) ||
        !take(v, "dilations", space, 1, w->dilation) || !take(v, "pads", 2 * space, 0, pads))
        return false;
    for (size_t i = 0; i < space; i++) {
        w->before[i] = pads[i];
        w->after[i] = pads[i + space];
    }
    w->same = onnx_text_is(v, "auto_pad", "SAME_UPPER") || onnx_text_is(v, "auto_pad", "SAME_LOWER");
    w->valid = onnx_text_is(v, "auto_pad", "VALID");
    w->ceil = onnx_int(v, "ceil_mode", 0) != 0;
    return true;
}

static int64_t slide(const window *w, size_t i, int64_t in) {
    if (in < 0 || w->stride[i] < 1 || w->kernel[i] < 1)
        return MASU__MODEL_OPEN;
    if (w->same)
        return (in + w->stride[i] - 1) / w->stride[i];
    int64_t pads = w->valid ? 0 : w->before[i] + w->after[i], reach = onnx_product(w->dilation[i], w->kernel[i] - 1);
    if (reach < 0 || in + pads < reach + 1)
        return MASU__MODEL_OPEN;
    int64_t room = in + pads - reach - 1, steps = (room + (w->ceil ? w->stride[i] - 1 : 0)) / w->stride[i] + 1;
    /* With ceil, a window that would begin in the padding behind is left out. */
    if (w->ceil && !w->valid && (steps - 1) * w->stride[i] >= in + w->before[i])
        steps--;
    return steps;
}

static void convolve(onnx_node *v, masu__model_tensor *x, masu__model_tensor *weights) {
    window w;
    if (!x || !weights || !x->has_shape || !weights->has_shape || x->rank < 3 || weights->rank != x->rank ||
        !read_window(v, x->rank - 2, weights, &w))
        return;
    onnx_dims dims = {x->rank, {x->dims[0], weights->dims[0]}};
    for (size_t i = 0; i < w.space; i++)
        dims.at[i + 2] = slide(&w, i, x->dims[i + 2]);
    onnx_set_shape(v, onnx_out(v, 0), &dims);
}

static void convolve_back(onnx_node *v, masu__model_tensor *x, masu__model_tensor *weights) {
    window w;
    size_t given;
    int64_t extra[MASU__MODEL_MOST_RANK];
    if (!x || !weights || !x->has_shape || !weights->has_shape || x->rank < 3 || weights->rank != x->rank ||
        !read_window(v, x->rank - 2, weights, &w) || !take(v, "output_padding", w.space, 0, extra))
        return;
    const int64_t *shape = onnx_ints(v, "output_shape", &given);
    onnx_dims dims = {x->rank, {x->dims[0], onnx_product(weights->dims[1], onnx_int(v, "group", 1))}};
    for (size_t i = 0; i < w.space; i++) {
        int64_t in = x->dims[i + 2], reach = onnx_product(w.dilation[i], w.kernel[i] - 1);
        int64_t base = in < 1 ? MASU__MODEL_OPEN : onnx_product(in - 1, w.stride[i]);
        dims.at[i + 2] = MASU__MODEL_OPEN;
        if (given == w.space || given == x->rank)
            dims.at[i + 2] = shape[given - w.space + i];
        else if (w.same)
            dims.at[i + 2] = onnx_product(in, w.stride[i]);
        else if (base >= 0 && reach >= 0 && w.kernel[i] > 0)
            dims.at[i + 2] = onnx_dim(base + reach + 1 + extra[i] - (w.valid ? 0 : w.before[i] + w.after[i]));
    }
    onnx_set_shape(v, onnx_out(v, 0), &dims);
}

static void pool(onnx_node *v, const masu__model_tensor *x) {
    window w;
    if (!x || !x->has_shape || x->rank < 3 || !read_window(v, x->rank - 2, NULL, &w))
        return;
    onnx_dims dims = {x->rank, {x->dims[0], x->dims[1]}};
    for (size_t i = 0; i < w.space; i++)
        dims.at[i + 2] = slide(&w, i, x->dims[i + 2]);
    onnx_set_shape(v, onnx_out(v, 0), &dims);
    onnx_set_shape(v, onnx_out(v, 1), &dims);
}

static void pool_all(onnx_node *v, const masu__model_tensor *x) {
    if (!x || !x->has_shape || x->rank < 2)
        return;
    onnx_dims dims = onnx_dims_of(x);
    for (size_t i = 2; i < dims.rank; i++)
        dims.at[i] = 1;
    onnx_set_shape(v, onnx_out(v, 0), &dims);
}

/* ---- resizing -------------------------------------------------------------------------------- */

static float float_at(const masu__model_tensor *t, size_t i) {
    float value;
    uint32_t bits = (uint32_t)t->values[i];
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Scales are numbers with a fraction: values has their bits where the type is float32. */
static void resize(onnx_node *v, const masu__model_tensor *x) {
    bool is_upsample = onnx_is(v, "Upsample"), is_old = v->op->input_count == 2;
    const masu__model_tensor *scales = onnx_in(v, is_upsample || is_old ? 1 : 2),
                             *sizes = is_upsample ? NULL : onnx_in(v, 3);
    const Masu__Onnx__Attribute *attribute = onnx_attribute(v, "scales");
    size_t axis_count;
    const int64_t *axes = onnx_ints(v, "axes", &axis_count);
    if (!x || !x->has_shape)
        return;
    onnx_dims dims = onnx_dims_of(x);
    const Masu__Onnx__Attribute *policy = onnx_attribute(v, "keep_aspect_ratio_policy");
    bool is_fitted = policy && !onnx_text_is(v, "keep_aspect_ratio_policy", "stretch");
    size_t count = axis_count ? axis_count : dims.rank;
    for (size_t k = 0; k < count; k++) {
        size_t axis;
        if (!onnx_axis(axis_count ? axes[k] : (int64_t)k, dims.rank, &axis))
            return;
        double scale = -1;
        if (sizes && sizes->values && sizes->value_count == count) {
            dims.at[axis] = is_fitted ? MASU__MODEL_OPEN : onnx_dim(sizes->values[k]);
            continue;
        }
        if (scales && scales->values && scales->value_count == count && strcmp(scales->type, "float32") == 0)
            scale = float_at(scales, k);
        else if (attribute && attribute->n_floats == count)
            scale = attribute->floats[k];
        double size = (double)((float)scale * (float)dims.at[axis]); /* as the standard computes it */
        dims.at[axis] = dims.at[axis] >= 0 && scale >= 0 && size < (double)ONNX_MOST_DIM ? (int64_t)size
                                                                                         : MASU__MODEL_OPEN;
    }
    onnx_set_shape(v, onnx_out(v, 0), &dims);
}

static void blocks(onnx_node *v, const masu__model_tensor *x, bool to_space) {
    int64_t size = onnx_int(v, "blocksize", 0);
    if (!x || !x->has_shape || x->rank != 4 || size < 1 || size > 1 << 20)
        return;
    onnx_dims dims = onnx_dims_of(x);
    dims.at[1] = to_space ? (dims.at[1] < 0 ? dims.at[1] : dims.at[1] / (size * size))
                          : onnx_product(dims.at[1], size * size);
    for (size_t i = 2; i < 4; i++)
        dims.at[i] = to_space ? onnx_product(dims.at[i], size) : dims.at[i] < 0 ? dims.at[i] : dims.at[i] / size;
    onnx_set_shape(v, onnx_out(v, 0), &dims);
}

bool onnx_window_shapes(onnx_node *v) {
    masu__model_tensor *x = onnx_in(v, 0), *out = onnx_out(v, 0);
    if (onnx_is(v, "QLinearConv")) {
        onnx_set_type_of(out, onnx_in(v, 7));
        convolve(v, x, onnx_in(v, 3));
        return true;
    }
    if (onnx_is(v, "ConvInteger")) {
        onnx_set_type(out, "int32", 32);
        convolve(v, x, onnx_in(v, 1));
        return true;
    }
    if (onnx_is(v, "Conv") || onnx_is(v, "DeformConv"))
        convolve(v, x, onnx_in(v, 1));
    else if (onnx_is(v, "ConvTranspose"))
        convolve_back(v, x, onnx_in(v, 1));
    else if (onnx_is(v, "MaxPool") || onnx_is(v, "AveragePool") || onnx_is(v, "LpPool"))
        pool(v, x);
    else if (strncmp(v->node->op_type, "Global", 6) == 0)
        pool_all(v, x);
    else if (onnx_is(v, "Resize") || onnx_is(v, "Upsample"))
        resize(v, x);
    else if (onnx_is(v, "DepthToSpace") || onnx_is(v, "SpaceToDepth"))
        blocks(v, x, onnx_is(v, "DepthToSpace"));
    else
        return false;
    onnx_set_type_of(out, x);
    if (onnx_is(v, "MaxPool"))
        onnx_set_type(onnx_out(v, 1), "int64", 64);
    return true;
}
