/* words_numbers.c: words of what changes numbers or their count: quantized, drawn, resized. */
#include <string.h>

#include "models/import/import.h"

/* The real numbers of input i are those of input k. */
static bool same_reals(import_node *n, size_t i, size_t k) {
    const masu__model_tensor *a = onnx_in(&n->v, i), *b = onnx_in(&n->v, k);
    if (!a || !b)
        return import_refuse(n, "input %zu is missing", a ? k : i);
    return strcmp(a->type, b->type) == 0 ||
           import_refuse(n, "elements of type %s with a scale of type %s are not supported", a->type, b->type);
}

/* Whole numbers of few bits: from low to high. */
bool import_limits(import_node *n) {
    const masu__model_tensor *out = onnx_out(&n->v, 0), *in = onnx_in(&n->v, 0), *zero = onnx_in(&n->v, 2);
    bool is_linear = onnx_is(&n->v, "QuantizeLinear"), is_unsigned = out && out->type[0] == 'u';
    (void)import_attribute(n, "saturate"); /* of 8-bit floats only */
    (void)import_attribute(n, "output_dtype");
    if (!out || import_kind(out) != 'n' || out->bits > 16)
        return import_refuse(n, "a result of type %s is not supported", out ? out->type : "nothing");
    if (is_linear && import_kind(in) != 'n' && !same_reals(n, 0, 1))
        return false;
    if (is_linear && zero && strcmp(zero->type, out->type) != 0)
        return import_refuse(n, "a zero of type %s for a result of type %s", zero->type, out->type);
    for (size_t i = 1; !is_linear && i < 7; i += i == 1 ? 3 : 2)
        if (!onnx_in(&n->v, i) || import_kind(onnx_in(&n->v, i)) != 'f')
            return import_refuse(n, "a scale that is not float32 is not supported");
    if (onnx_is(&n->v, "QLinearConv") && !import_convolution(n))
        return false;
    return import_word(n, "low", "%d", is_unsigned ? 0 : -(1 << (out->bits - 1))) &&
           import_word(n, "high", "%d", is_unsigned ? (1 << out->bits) - 1 : (1 << (out->bits - 1)) - 1);
}

bool import_quantized(import_node *n) {
    const masu__model_tensor *out = onnx_out(&n->v, 0), *scale = onnx_in(&n->v, 1);
    (void)import_attribute(n, "output_dtype");
    if (!out || !scale || (import_kind(scale) != 'f' && import_kind(scale) != 'd') ||
        strcmp(out->type, scale->type) != 0)
        return import_refuse(n, "a scale of type %s and a result of type %s are not supported",
                             scale ? scale->type : "nothing", out ? out->type : "nothing");
    return true;
}

bool import_drawn(import_node *n) {
    const masu__model_tensor *out = onnx_out(&n->v, 0);
    bool is_bool = onnx_is(&n->v, "Bernoulli");
    (void)import_attribute(n, "dtype");
    switch (out ? import_kind(out) : 0) {
    case 'f':
        return import_word(n, "after", "%s", is_bool ? IMPORT_TO_F32 : "");
    case 'd':
        return import_word(n, "after", "%s", IMPORT_TO_F64);
    case 'l':
    case 'n':
        return is_bool ? import_word(n, "after", "%s", IMPORT_TO_I64)
                       : import_refuse(n, "whole random numbers are not supported");
    case 'b':
        return is_bool ? import_word(n, "after", "%s", "") : import_refuse(n, "random truth is not supported");
    default:
        return import_refuse(n, "a result of type %s is not supported", out ? out->type : "nothing");
    }
}

bool import_training(import_node *n) {
    return import_int(n, "training_mode", 0) == 1 || import_refuse(n, "training_mode is not 1");
}

/* ---- sizes --------------------------------------------------------------------------------------- */

static const char *const transformations[] = {
    "half_pixel",         "asymmetric", "align_corners", "pytorch_half_pixel", "half_pixel_symmetric",
    "tf_crop_and_resize", NULL};

static bool is_empty(const masu__model_tensor *t) {
    return !t || (t->has_shape && t->rank == 1 && t->dims[0] == 0);
}

bool import_resize(import_node *n) {
    static const char *const near[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil", NULL};
    static const char *const policies[] = {"stretch", "not_larger", "not_smaller", NULL};
    static const char *const modes[] = {"nearest", "linear", "cubic", NULL};
    const masu__model_tensor *roi = onnx_in(&n->v, 1);
    size_t how, at, policy, mode;
    char kind = import_kind(onnx_in(&n->v, 0));
    bool is_real = kind == 'f' || kind == 'd';
    if (!import_choice(n, "coordinate_transformation_mode", transformations, &how) ||
        !import_choice(n, "nearest_mode", near, &at) || !import_choice(n, "mode", modes, &mode) ||
        !import_choice(n, "keep_aspect_ratio_policy", policies, &policy))
        return false;
    bool crops = how == 5;
    if (!is_real && (mode != 0 || crops))
        return import_refuse(n, "elements of type %s are only taken as they are: mode nearest, and no part of them",
                             onnx_in(&n->v, 0)->type);
    if (mode == 0 && import_int(n, "antialias", 0) != 0)
        return import_refuse(n, "antialias with mode nearest is not known");
    if (is_empty(onnx_in(&n->v, 2)) == is_empty(onnx_in(&n->v, 3)))
        return import_refuse(n, "either scales or sizes are wanted");
    if (crops && (is_empty(onnx_in(&n->v, 3)) || is_empty(roi)))
        return import_refuse(n, "a part is resized by sizes and by its roi; by scales runtimes do not agree");
    static const char *const idle[] = {"cubic_coeff_a", "exclude_outside", "extrapolation_value"};
    for (size_t i = 0; i < sizeof idle / sizeof *idle; i++)
        (void)import_attribute(n, idle[i]);
    if (roi)
        n->inputs_read |= 2;
    if (crops)
        n->uses |= 2;
    for (size_t i = 2; i < 4; i++)
        if (onnx_in(&n->v, i) && is_empty(onnx_in(&n->v, i)))
            n->inputs_read |= UINT64_C(1) << i;
    return import_word(n, "how", "\"%s\"", transformations[how]) && import_word(n, "near", "\"%s\"", near[at]) &&
           import_word(n, "policy", "\"%s\"", policies[policy]) &&
           (crops ? import_word(n, "roi", "%s%s" IMPORT_TO_REALS, roi->constant ? "self." : "",
                                n->im->names[n->v.op->inputs[1]])
                  : import_word(n, "roi", "[]"));
}
