/* words.c: words of templates that follow from attributes, types and known numbers. */
#include <math.h>
#include <string.h>

#include "models/import/import.h"

bool import_gelu(import_node *n) {
    static const char *const names[] = {"none", "tanh", NULL};
    size_t which;
    return import_choice(n, "approximate", names, &which) && import_word(n, "how", "%s", which ? "\"tanh\"" : "");
}

bool import_beta(import_node *n) {
    double beta = import_float(n, "beta", 1);
    masu__buffer text = {0};
    if (beta != 1) {
        masu__buffer_puts(&text, " * ");
        import_put_number(&text, beta);
    }
    bool right = import_word(n, "times", "%s", masu__buffer_text(&text));
    masu__buffer_destroy(&text);
    return right;
}

/* The method that converts elements of one kind to another. NULL: none. */
static const char *conversion(char from, const masu__model_tensor *to, const char **before) {
    char kind = import_kind(to);
    bool is_unsigned = to->type[0] == 'u';
    *before = "";
    if (kind == from && kind != 'n')
        return "";
    switch (kind) {
    case 'f':
        return from == 'h' ? "" : IMPORT_TO_F32;
    case 'd':
        return IMPORT_TO_F64;
    case 'b':
        return IMPORT_TO_BOOL;
    case 'l':
        return from == 'n' ? "" : IMPORT_TO_I64;
    case 'n':
        *before = "onnx_wrap(";
        return to->bits == 32   ? (is_unsigned ? IMPORT_TO_I64 ", 32, false)" : IMPORT_TO_I64 ", 32, true)")
               : to->bits == 16 ? (is_unsigned ? IMPORT_TO_I64 ", 16, false)" : IMPORT_TO_I64 ", 16, true)")
                                : (is_unsigned ? IMPORT_TO_I64 ", 8, false)" : IMPORT_TO_I64 ", 8, true)");
    default:
        return NULL;
    }
}

/* Cast and CastLike; and Pow, whose result has the type of its base whatever the exponent is. */
bool import_cast(import_node *n) {
    const masu__model_tensor *in = onnx_in(&n->v, 0), *out = onnx_out(&n->v, 0), *other = onnx_in(&n->v, 1);
    const char *before;
    if (!in || !out)
        return import_refuse(n, "an input or the output is missing");
    if (onnx_is(&n->v, "Pow")) {
        char kind = import_kind(in), exponent = other ? import_kind(other) : 0;
        bool same = exponent == kind || exponent == 'l' || exponent == 'n' || (kind == 'd' && exponent == 'f');
        const char *after = same ? "" : kind == 'f' ? IMPORT_TO_F32 : IMPORT_TO_I64;
        return import_word(n, "before", same ? "" : "(") && import_word(n, "after", "%s%s", same ? "" : ")", after);
    }
    (void)import_attribute(n, "to");
    (void)import_attribute(n, "saturate"); /* of 8-bit floats only */
    if (onnx_is(&n->v, "CastLike") && other)
        n->inputs_read |= 2; /* its type alone */
    const char *after = conversion(import_kind(in), out, &before);
    if (!after)
        return import_refuse(n, "a conversion from %s to %s would be rounded in another way", in->type, out->type);
    if (import_kind(in) == 'n' && import_kind(out) == 'n' && strcmp(in->type, out->type) == 0)
        before = after = "";
    return import_word(n, "before", "%s", before) && import_word(n, "after", "%s", after);
}

/* As it is when a network answers: nothing is dropped. */
bool import_dropout(import_node *n) {
    const masu__model_tensor *training = onnx_in(&n->v, 2);
    const Masu__Onnx__Tensor *known = training ? training->constant : NULL;
    (void)import_attribute(n, "ratio");
    (void)import_attribute(n, "seed");
    n->inputs_read |= 2;
    if (training) {
        bool is_off = known && ((known->raw_data.len == 1 && known->raw_data.data[0] == 0) ||
                                (known->n_int32_data == 1 && known->int32_data[0] == 0));
        if (!is_off)
            return import_refuse(n, "training_mode is not known to be false");
        n->inputs_read |= 4;
    }
    return true;
}

bool import_inference(import_node *n) {
    (void)import_attribute(n, "momentum"); /* for training */
    if (import_int(n, "training_mode", 0) != 0)
        return import_refuse(n, "training_mode is not supported");
    if (import_int(n, "spatial", 1) != 1)
        return import_refuse(n, "spatial = 0 is not supported");
    return true;
}

bool import_unique(import_node *n) {
    const Masu__Onnx__Attribute *axis = import_attribute(n, "axis");
    return axis ? import_word(n, "axis", "Some(%lld)", (long long)axis->i) : import_word(n, "axis", "None");
}

bool import_stash(import_node *n) {
    return import_int(n, "stash_type", 1) == 1 || import_refuse(n, "stash_type is not float32");
}

/* A float16, or the upper half of a float32. */
static double half_as_number(uint16_t bits, bool is_brain) {
    if (is_brain) {
        uint32_t wide = (uint32_t)bits << 16;
        float value;
        memcpy(&value, &wide, sizeof value);
        return (double)value;
    }
    int exponent = bits >> 10 & 31, part = bits & 1023;
    double value = exponent == 31  ? (part ? (double)NAN : (double)INFINITY)
                   : exponent == 0 ? ldexp(part, -24)
                                   : ldexp(1024 + part, exponent - 25);
    return bits >> 15 ? -value : value;
}

bool import_filled(import_node *n) {
    const Masu__Onnx__Attribute *a = import_attribute(n, "value");
    const Masu__Onnx__Tensor *t = a ? a->t : NULL;
    const masu__model_tensor *out = onnx_out(&n->v, 0);
    masu__buffer text = {0};
    bool right = true, is_bool = out && import_kind(out) == 'b';
    if (a && !t)
        return import_refuse(n, "the value is not a tensor");
    const uint8_t *raw = t ? t->raw_data.data : NULL;
    size_t length = t ? t->raw_data.len : 0;
    if (!t) {
        masu__buffer_puts(&text, "0.0");
    } else if (t->data_type == 1 && (length == 4 || t->n_float_data == 1)) {
        float value = t->n_float_data == 1 ? t->float_data[0] : 0;
        if (length == 4)
            memcpy(&value, raw, 4);
        right = value - value == 0;
        import_put_number(&text, (double)value);
    } else if (t->data_type == 11 && (length == 8 || t->n_double_data == 1)) {
        double value = t->n_double_data == 1 ? t->double_data[0] : 0;
        if (length == 8)
            memcpy(&value, raw, 8);
        right = value - value == 0;
        import_put_number(&text, value);
    } else if (t->data_type == 7 && (length == 8 || t->n_int64_data == 1)) {
        int64_t value = t->n_int64_data == 1 ? t->int64_data[0] : 0;
        if (length == 8)
            memcpy(&value, raw, 8);
        right = value != INT64_MIN;
        masu__buffer_printf(&text, "%lld", (long long)value);
    } else if (t->data_type == 6 && (length == 4 || t->n_int32_data == 1)) {
        int32_t value = t->n_int32_data == 1 ? t->int32_data[0] : 0;
        if (length == 4)
            memcpy(&value, raw, 4);
        masu__buffer_printf(&text, "%d", value);
    } else if ((t->data_type == 10 || t->data_type == 16) && (length == 2 || t->n_int32_data == 1)) {
        uint16_t bits = length == 2 ? (uint16_t)(raw[0] | raw[1] << 8) : (uint16_t)t->int32_data[0];
        double value = half_as_number(bits, t->data_type == 16);
        right = value - value == 0;
        import_put_number(&text, value);
    } else if (is_bool && (length == 1 || t->n_int32_data == 1)) {
        masu__buffer_puts(&text, (length == 1 ? raw[0] : t->int32_data[0]) ? "1.0" : "0.0");
    } else {
        right = false;
    }
    right = right ? import_word(n, "value", "%s", masu__buffer_text(&text)) &&
                        import_word(n, "compared", is_bool ? " > 0.0" : "")
                  : import_refuse(n, "the value is of a type, or a number, that is not supported");
    masu__buffer_destroy(&text);
    return right;
}

/* axes: an attribute, later an input; none: all of them, or nothing at all where the operator says so. */
bool import_reduce(import_node *n) {
    size_t count = 0, rank;
    const int64_t *values;
    int64_t all[MASU__MODEL_MOST_RANK], noop = import_int(n, "noop_with_empty_axes", 0);
    const masu__model_tensor *in = onnx_in(&n->v, 1);
    if (in) {
        values = import_values(n, 1, &count);
        if (!values) {
            if (noop || !in->has_shape || in->rank != 1)
                return import_refuse(n, "the axes are computed by the running network");
            n->inputs_read |= 2, n->uses |= 2;
            if (in->dims[0] != 0)
                return import_word(n, "axes", "%s" IMPORT_TO_LIST, n->im->names[n->v.op->inputs[1]]);
        }
    } else {
        values = import_ints(n, "axes", &count);
    }
    if (count > 0)
        return import_word_ints(n, "axes", values, count);
    if (noop)
        return onnx_is(&n->v, "ReduceSum") || onnx_is(&n->v, "ReduceMean") || onnx_is(&n->v, "ReduceMax") ||
                       onnx_is(&n->v, "ReduceMin") || onnx_is(&n->v, "ReduceProd")
                   ? import_word(n, "axes", "[]")
                   : import_refuse(n, "noop_with_empty_axes is not supported");
    if (!import_rank(n, 0, &rank))
        return false;
    for (size_t i = 0; i < rank; i++)
        all[i] = (int64_t)i;
    return import_word_ints(n, "axes", all, rank);
}

bool import_split(import_node *n) {
    size_t count, outputs = n->v.op->output_count, axis;
    const int64_t *values = onnx_in(&n->v, 1) ? import_values(n, 1, &count) : import_ints(n, "split", &count);
    const masu__model_tensor *in = onnx_in(&n->v, 0);
    int64_t sizes[256], parts = import_int(n, "num_outputs", (int64_t)outputs), length;
    if (values)
        return count == outputs ? import_word_ints(n, "sizes", values, count)
                                : import_refuse(n, "%zu outputs, but %zu lengths", outputs, count);
    if (onnx_in(&n->v, 1))
        return import_refuse(n, "the lengths of the parts are computed by the running network");
    if (!in || !in->has_shape || !onnx_axis(onnx_int(&n->v, "axis", 0), in->rank, &axis) || in->dims[axis] < 0)
        return import_refuse(n, "the length along the axis is not known");
    length = in->dims[axis];
    if (parts < 1 || parts > 256 || (size_t)parts != outputs)
        return import_refuse(n, "num_outputs is not the number of outputs, or larger than 256");
    int64_t each = (length + parts - 1) / parts;
    for (int64_t i = 0; i < parts; i++)
        sizes[i] = i + 1 < parts ? each : length - each * (parts - 1);
    if (sizes[parts - 1] < 0)
        return import_refuse(n, "%lld elements do not make %lld parts", (long long)length, (long long)parts);
    return import_word_ints(n, "sizes", sizes, (size_t)parts);
}

/* A list of input i where it is there, as numbers or as what the running network computes; otherwise the attribute, or
 * else. */
static bool list_word(import_node *n, const char *word, size_t i, const char *attribute, const char *otherwise) {
    size_t count;
    const int64_t *values = onnx_in(&n->v, i) ? import_values(n, i, &count) : import_ints(n, attribute, &count);
    if (values || (!onnx_in(&n->v, i) && onnx_attribute(&n->v, attribute)))
        return import_word_ints(n, word, values, count);
    const masu__model_tensor *t = onnx_in(&n->v, i);
    if (!t)
        return otherwise ? import_word(n, word, "%s", otherwise) : import_refuse(n, "`%s` is missing", attribute);
    if (import_kind(t) != 'l' && import_kind(t) != 'n')
        return import_refuse(n, "`%s` does not hold whole numbers", attribute);
    n->inputs_read |= UINT64_C(1) << i;
    n->uses |= UINT64_C(1) << i;
    return import_word(n, word, "%s%s" IMPORT_TO_LIST, t->constant ? "self." : "", n->im->names[n->v.op->inputs[i]]);
}

bool import_slice(import_node *n) {
    return list_word(n, "starts", 1, "starts", NULL) && list_word(n, "ends", 2, "ends", NULL) &&
           list_word(n, "axes", 3, "axes", "[]") && list_word(n, "steps", 4, "steps", "[]");
}

/* pads: those in front of all dimensions, then those behind; with axes, of these alone. */
bool import_pads(import_node *n) {
    static const char *const modes[] = {"constant", "reflect", "edge", "wrap", NULL};
    static const char *const words[] = {NULL, "\"reflect\"", "\"replicate\"", "\"circular\""};
    size_t count, axis_count, rank, which, axis;
    const int64_t *pads = onnx_in(&n->v, 1) ? import_values(n, 1, &count) : import_ints(n, "pads", &count);
    int64_t before[MASU__MODEL_MOST_RANK] = {0}, after[MASU__MODEL_MOST_RANK] = {0};
    if (!import_rank(n, 0, &rank) || !import_choice(n, "mode", modes, &which))
        return false;
    if (!pads)
        return import_refuse(n, "how much is put around is computed by the running network");
    const int64_t *axes = onnx_in(&n->v, 3) ? import_values(n, 3, &axis_count) : NULL;
    if (onnx_in(&n->v, 3) && !axes)
        return import_refuse(n, "the axes are computed by the running network");
    if (count != 2 * (axes ? axis_count : rank))
        return import_refuse(n, "%zu lengths for %zu dimensions", count, axes ? axis_count : rank);
    for (size_t i = 0; i < count / 2; i++) {
        if (!onnx_axis(axes ? axes[i] : (int64_t)i, rank, &axis))
            return import_refuse(n, "an axis is out of range");
        before[axis] = pads[i];
        after[axis] = pads[i + count / 2];
    }
    const masu__model_tensor *value = onnx_in(&n->v, 2);
    if (which == 0 && value) {
        n->inputs_read |= 4, n->uses |= 4;
        if (!import_word(n, "value", "%s%s", value->constant ? "self." : "", n->im->names[n->v.op->inputs[2]]))
            return false;
    } else if (which == 0) {
        masu__buffer text = {0};
        import_put_number(&text, import_float(n, "value", 0));
        bool right = import_word(n, "value", IMPORT_ONE, masu__buffer_text(&text));
        masu__buffer_destroy(&text);
        if (!right)
            return false;
    } else {
        (void)import_attribute(n, "value");
        n->inputs_read |= 4; /* it says nothing in the other modes */
        if (!import_word(n, "mode", "%s", words[which]))
            return false;
    }
    return import_word_ints(n, "before", before, rank) && import_word_ints(n, "after", after, rank);
}

bool import_mode(import_node *n) {
    static const char *const modes[] = {"DCR", "CRD", NULL};
    size_t which;
    if (!onnx_is(&n->v, "Mod"))
        return import_choice(n, "mode", modes, &which) && import_word(n, "columns", which ? "true" : "false");
    bool is_c = import_int(n, "fmod", 0) != 0;
    const masu__model_tensor *in = onnx_in(&n->v, 0);
    if (!is_c && (import_kind(in) == 'f' || import_kind(in) == 'd'))
        return import_refuse(n, "a remainder of real numbers needs fmod = 1");
    if (n->v.op->input_count != 2 || n->v.op->inputs[0] < 0 || n->v.op->inputs[1] < 0)
        return import_refuse(n, "an input is missing");
    n->inputs_read |= 3, n->uses |= 3;
    const char *a = n->im->names[n->v.op->inputs[0]], *b = n->im->names[n->v.op->inputs[1]];
    const char *own = onnx_in(&n->v, 0)->constant ? "self." : "", *other = onnx_in(&n->v, 1)->constant ? "self." : "";
    return is_c ? import_word(n, "remainder", IMPORT_FMOD, own, a, other, b)
                : import_word(n, "remainder", "%s%s %% %s%s", own, a, other, b);
}

bool import_direction(import_node *n) {
    static const char *const names[] = {"", "LEFT", "RIGHT", NULL};
    size_t which;
    if (!import_choice(n, "direction", names, &which))
        return false;
    return which ? import_word(n, "shift", which == 1 ? "onnx_shift_left" : "onnx_shift_right")
                 : import_refuse(n, "a direction is missing");
}

bool import_equation(import_node *n) {
    const Masu__Onnx__Attribute *a = import_attribute(n, "equation");
    if (!a || a->s.len > 200)
        return import_refuse(n, "an equation is missing, or longer than 200 letters");
    for (size_t i = 0; i < a->s.len; i++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ,.-> ", a->s.data[i]) || !a->s.data[i])
            return import_refuse(n, "the equation has a character that means nothing");
    return import_word(n, "equation", "\"%.*s\"", (int)a->s.len, (const char *)a->s.data);
}

bool import_eye(import_node *n) {
    const masu__model_tensor *out = onnx_out(&n->v, 0);
    (void)import_attribute(n, "dtype");
    const char *elements = out ? import_elements(out) : NULL;
    if (!elements)
        return import_refuse(n, "the type of the result is not supported");
    return import_word(n, "after",
                       strcmp(elements, "f32") == 0   ? ""
                       : strcmp(elements, "f64") == 0 ? IMPORT_TO_F64
                       : strcmp(elements, "i64") == 0 ? IMPORT_TO_I64
                                                      : IMPORT_TO_BOOL);
}

bool import_concat(import_node *n) {
    const Masu__Onnx__Attribute *axis = import_attribute(n, "axis");
    if (!axis && n->im->model->opset >= 4)
        return import_refuse(n, "attribute `axis` is missing");
    return import_word(n, "axis", "%lld", (long long)(axis ? axis->i : 1));
}

bool import_top(import_node *n) {
    (void)import_attribute(n, "sorted"); /* they are always */
    return list_word(n, "k", 1, "k", NULL) || import_word(n, "k", "[%lld]", (long long)import_int(n, "k", 0));
}

/* A shape without zeros is what the language's own reshape takes. */
bool import_reshape(import_node *n) {
    size_t count;
    const int64_t *shape = n->im->model->opset >= 5 ? import_values(n, 1, &count) : import_ints(n, "shape", &count);
    (void)import_attribute(n, "allowzero");
    if (!shape)
        return import_refuse(n, "the shape is computed");
    for (size_t i = 0; i < count; i++)
        if (shape[i] == 0)
            return import_refuse(n, "the shape has a zero");
    return import_word_ints(n, "shape", shape, count);
}

bool import_window_type(import_node *n) {
    const masu__model_tensor *out = onnx_out(&n->v, 0);
    return import_int(n, "output_datatype", 1) == 1 && out && import_kind(out) == 'f'
               ? true
               : import_refuse(n, "elements other than float32 are not supported");
}

bool import_permuted(import_node *n) {
    return list_word(n, "k", 1, "k", "[0]");
}

bool import_reduction(import_node *n) {
    static const char *const names[] = {"none", "add", "mul", "max", "min", NULL};
    size_t which;
    return import_choice(n, "reduction", names, &which) && import_word(n, "how", "\"%s\"", names[which]);
}

bool import_clip(import_node *n) {
    masu__buffer low = {0}, high = {0};
    import_put_number(&low, import_float(n, "min", -3.4028234663852886e38));
    import_put_number(&high, import_float(n, "max", 3.4028234663852886e38));
    bool right = import_word(n, "min", "%s", masu__buffer_text(&low)) &&
                 import_word(n, "max", "%s", masu__buffer_text(&high));
    masu__buffer_destroy(&low);
    masu__buffer_destroy(&high);
    return right;
}
