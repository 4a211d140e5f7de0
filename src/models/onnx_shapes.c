/* onnx_shapes.c: types and shapes of an operator's outputs: element by element, products, reductions; and what all
 * rules share. */
#include <string.h>

#include "models/onnx_nodes.h"

/* ---- operators ------------------------------------------------------------------------------- */

masu__model_tensor *onnx_in(const onnx_node *v, size_t i) {
    return i < v->op->input_count && v->op->inputs[i] >= 0 ? &v->model->tensors[v->op->inputs[i]] : NULL;
}

masu__model_tensor *onnx_out(const onnx_node *v, size_t i) {
    return i < v->op->output_count && v->op->outputs[i] >= 0 ? &v->model->tensors[v->op->outputs[i]] : NULL;
}

bool onnx_is(const onnx_node *v, const char *type) {
    return strcmp(v->node->op_type, type) == 0;
}

const Masu__Onnx__Attribute *onnx_attribute(const onnx_node *v, const char *name) {
    for (size_t i = 0; i < v->node->n_attribute; i++)
        if (strcmp(v->node->attribute[i]->name, name) == 0)
            return v->node->attribute[i];
    return NULL;
}

int64_t onnx_int(const onnx_node *v, const char *name, int64_t otherwise) {
    const Masu__Onnx__Attribute *a = onnx_attribute(v, name);
    return a ? a->i : otherwise;
}

const int64_t *onnx_ints(const onnx_node *v, const char *name, size_t *count) {
    const Masu__Onnx__Attribute *a = onnx_attribute(v, name);
    *count = a ? a->n_ints : 0;
    return a ? a->ints : NULL;
}

bool onnx_text_is(const onnx_node *v, const char *name, const char *text) {
    const Masu__Onnx__Attribute *a = onnx_attribute(v, name);
    return a && a->s.len == strlen(text) && memcmp(a->s.data, text, a->s.len) == 0;
}

bool onnx_list(const onnx_node *v, size_t i, const char *name, const int64_t **out, size_t *count) {
    const masu__model_tensor *t = onnx_in(v, i);
    if (!t) {
        *out = onnx_ints(v, name, count);
        return true;
    }
    *out = t->values;
    *count = t->value_count;
    return t->values != NULL;
}

bool onnx_axis(int64_t axis, size_t rank, size_t *out) {
    if (axis < -(int64_t)rank || axis >= (int64_t)rank)
        return false;
    *out = (size_t)(axis < 0 ? axis + (int64_t)rank : axis);
    return true;
}

/* ---- types ----------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    unsigned bits;
} types[] = {{"?", 0},
             {"float32", 32},
             {"uint8", 8},
             {"int8", 8},
             {"uint16", 16},
             {"int16", 16},
             {"int32", 32},
             {"int64", 64},
             {"string", 0},
             {"bool", 8},
             {"float16", 16},
             {"float64", 64},
             {"uint32", 32},
             {"uint64", 64},
             {"complex64", 64},
             {"complex128", 128},
             {"bfloat16", 16},
             {"float8e4m3fn", 8},
             {"float8e4m3fnuz", 8},
             {"float8e5m2", 8},
             {"float8e5m2fnuz", 8},
             {"uint4", 4},
             {"int4", 4},
             {"float4e2m1", 4}};

const char *onnx_type_name(int64_t number, unsigned *bits) {
    size_t i = number > 0 && number < (int64_t)(sizeof types / sizeof *types) ? (size_t)number : 0;
    *bits = types[i].bits;
    return types[i].name;
}

void onnx_set_type(masu__model_tensor *t, const char *type, unsigned bits) {
    if (t && t->type[0] == '?' && type[0] != '?') {
        t->type = type;
        t->bits = bits;
    }
}

void onnx_set_type_of(masu__model_tensor *t, const masu__model_tensor *like) {
    if (like)
        onnx_set_type(t, like->type, like->bits);
}

void onnx_set_type_number(masu__model_tensor *t, int64_t number) {
    unsigned bits;
    const char *name = onnx_type_name(number, &bits);
    onnx_set_type(t, name, bits);
}

/* ---- shapes ---------------------------------------------------------------------------------- */

int64_t onnx_dim(int64_t value) {
    return value >= 0 && value <= ONNX_MOST_DIM ? value : MASU__MODEL_OPEN;
}

int64_t onnx_product(int64_t a, int64_t b) {
    int64_t product;
    if (a == 0 || b == 0)
        return 0;
    return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &product) ? MASU__MODEL_OPEN : onnx_dim(product);
}

onnx_dims onnx_dims_of(const masu__model_tensor *t) {
    onnx_dims dims = {.rank = t->rank};
    for (size_t i = 0; i < t->rank; i++)
        dims.at[i] = t->dims[i];
    return dims;
}

void onnx_set_shape(onnx_node *v, masu__model_tensor *t, const onnx_dims *dims) {
    if (!t || dims->rank > MASU__MODEL_MOST_RANK || (t->has_shape && t->rank != dims->rank))
        return;
    if (!t->has_shape) {
        t->dims = masu__arena_calloc(&v->model->arena, dims->rank + 1, sizeof *t->dims, 16);
        if (!t->dims) {
            v->out_of_memory = true;
            return;
        }
        for (size_t i = 0; i < dims->rank; i++)
            t->dims[i] = MASU__MODEL_OPEN;
        t->rank = dims->rank;
        t->has_shape = true;
    }
    for (size_t i = 0; i < dims->rank; i++)
        if (t->dims[i] < 0)
            t->dims[i] = onnx_dim(dims->at[i]);
}

void onnx_set_shape_of(onnx_node *v, masu__model_tensor *t, const masu__model_tensor *like) {
    if (!like || !like->has_shape)
        return;
    onnx_dims dims = onnx_dims_of(like);
    onnx_set_shape(v, t, &dims);
}

void onnx_set_values(onnx_node *v, masu__model_tensor *t, const int64_t *values, size_t count) {
    if (!t || t->values || count > ONNX_MOST_VALUES)
        return;
    int64_t *copy = masu__arena_alloc(&v->model->arena, (count + 1) * sizeof *copy, 16);
    if (!copy) {
        v->out_of_memory = true;
        return;
    }
    memcpy(copy, values, count * sizeof *copy);
    t->values = copy;
    t->value_count = count;
}

/* ---- element by element ------------------------------------------------------------------------ */

static bool is_one_of(const onnx_node *v, const char *const *names) {
    for (; *names; names++)
        if (onnx_is(v, *names))
            return true;
    return false;
}

/* Open against a number other than 1 is that number: what else it is would be an error when it runs. */
static int64_t broadcast_dim(int64_t a, int64_t b) {
    if (a == 1 || (a < 0 && b > 1))
        return b;
    if (b == 1 || (b < 0 && a > 1))
        return a;
    return a == b ? a : MASU__MODEL_OPEN;
}

static bool broadcast_into(onnx_dims *to, const masu__model_tensor *t) {
    if (!t || !t->has_shape)
        return false;
    onnx_dims wide = {.rank = t->rank > to->rank ? t->rank : to->rank};
    for (size_t i = 0; i < wide.rank; i++) {
        size_t from_end = wide.rank - i;
        int64_t a = from_end <= to->rank ? to->at[to->rank - from_end] : 1;
        int64_t b = from_end <= t->rank ? t->dims[t->rank - from_end] : 1;
        wide.at[i] = broadcast_dim(a, b);
    }
    *to = wide;
    return true;
}

static bool broadcast_shapes(onnx_node *v) {
    static const char *const same_type[] = {"Add",      "Sub",        "Mul",       "Div",        "Pow", "Sum", "Mean",
                                            "Max",      "Min",        "Mod",       "And",        "Or",  "Xor", "PRelu",
                                            "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", NULL};
    static const char *const to_bool[] = {"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", NULL};
    bool compares = is_one_of(v, to_bool), is_where = onnx_is(v, "Where");
    onnx_dims dims = {.rank = 0};
    if (!compares && !is_where && !is_one_of(v, same_type))
        return false;
    if (compares)
        onnx_set_type(onnx_out(v, 0), "bool", 8);
    else
        onnx_set_type_of(onnx_out(v, 0), onnx_in(v, is_where ? 1 : 0));
    for (size_t i = 0; i < v->op->input_count; i++)
        if (!broadcast_into(&dims, onnx_in(v, i)))
            return true;
    onnx_set_shape(v, onnx_out(v, 0), &dims);
    return true;
}

static bool same_shapes(onnx_node *v) {
    /* clang-format off */
    static const char *const same[] = {
        "Relu", "Clip", "Sigmoid", "HardSigmoid", "HardSwish", "Tanh", "Elu", "Selu", "Celu", "LeakyRelu",
        "ThresholdedRelu", "Gelu", "Mish", "Softplus", "Softsign", "Softmax", "LogSoftmax", "Hardmax",
        "BatchNormalization", "InstanceNormalization", "GroupNormalization", "LRN", "LpNormalization",
        "MeanVarianceNormalization", "Identity", "Neg", "Abs", "Exp", "Log", "Sqrt", "Reciprocal", "Floor", "Ceil",
        "Round", "Sign", "Erf", "Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh", "Asinh", "Acosh",
        "Atanh", "Shrink", "Not", "BitwiseNot", "CumSum", "Trilu", "ReverseSequence", "Scatter", "ScatterND",
        "ScatterElements", "Dropout", "LayerNormalization", "RMSNormalization", "Swish", NULL,
    };
    /* clang-format on */
    static const char *const other_type[] = {"Cast",      "CastLike", "QuantizeLinear",        "DequantizeLinear",
                                             "IsNaN",     "IsInf",    "RandomNormalLike",      "RandomUniformLike",
                                             "Bernoulli", "EyeLike",  "DynamicQuantizeLinear", NULL};
    masu__model_tensor *out = onnx_out(v, 0), *in = onnx_in(v, 0);
    bool other = is_one_of(v, other_type);
    if (!other && !is_one_of(v, same))
        return false;
    onnx_set_shape_of(v, out, in);
    if (onnx_is(v, "Cast")) {
        onnx_set_type_number(out, onnx_int(v, "to", 0));
    } else if (onnx_is(v, "CastLike")) {
        onnx_set_type_of(out, onnx_in(v, 1));
    } else if (onnx_is(v, "QuantizeLinear") || onnx_is(v, "DynamicQuantizeLinear")) {
        if (onnx_is(v, "QuantizeLinear") && onnx_in(v, 2))
            onnx_set_type_of(out, onnx_in(v, 2));
        onnx_set_type_number(out, onnx_int(v, "output_dtype", 2));
        for (size_t i = 1; i < 3 && onnx_is(v, "DynamicQuantizeLinear"); i++) {
            onnx_set_type(onnx_out(v, i), i == 1 ? "float32" : "uint8", i == 1 ? 32 : 8);
            onnx_set_shape(v, onnx_out(v, i), &(onnx_dims){0});
        }
    } else if (onnx_is(v, "DequantizeLinear")) {
        onnx_set_type_of(out, onnx_in(v, 1));
    } else if (onnx_is(v, "IsNaN") || onnx_is(v, "IsInf")) {
        onnx_set_type(out, "bool", 8);
    } else if (other) {
        onnx_set_type_number(out, onnx_int(v, "dtype", 0));
    }
    if (!other || onnx_is(v, "RandomNormalLike") || onnx_is(v, "RandomUniformLike") || onnx_is(v, "Bernoulli") ||
        onnx_is(v, "EyeLike"))
        onnx_set_type_of(out, in);
    if (onnx_is(v, "Dropout")) {
        onnx_set_type(onnx_out(v, 1), "bool", 8);
        onnx_set_shape_of(v, onnx_out(v, 1), in);
    }
    return true;
}

/* ---- products -------------------------------------------------------------------------------- */

static bool matmul_shapes(onnx_node *v) {
    bool quantized = onnx_is(v, "QLinearMatMul");
    masu__model_tensor *a = onnx_in(v, 0), *b = onnx_in(v, quantized ? 3 : 1), *out = onnx_out(v, 0);
    if (!quantized && !onnx_is(v, "MatMul") && !onnx_is(v, "MatMulInteger"))
        return false;
    if (quantized)
        onnx_set_type_of(out, onnx_in(v, 7));
    else if (onnx_is(v, "MatMulInteger"))
        onnx_set_type(out, "int32", 32);
    else
        onnx_set_type_of(out, a);
    if (!a || !b || !a->has_shape || !b->has_shape || a->rank == 0 || b->rank == 0)
        return true;
    /* A vector gets a dimension of 1 for the product, which goes again. */
    masu__model_tensor left = *a, right = *b;
    int64_t outer = a->rank > 1 ? a->dims[a->rank - 2] : 1, inner = b->rank > 1 ? b->dims[b->rank - 1] : 1;
    left.rank = a->rank > 2 ? a->rank - 2 : 0;
    right.rank = b->rank > 2 ? b->rank - 2 : 0;
    onnx_dims dims = {.rank = 0};
    if (!broadcast_into(&dims, &left) || !broadcast_into(&dims, &right) || dims.rank + 2 > MASU__MODEL_MOST_RANK)
        return true;
    if (a->rank > 1)
        dims.at[dims.rank++] = outer;
    if (b->rank > 1)
        dims.at[dims.rank++] = inner;
    onnx_set_shape(v, out, &dims);
    return true;
}

static bool gemm_shapes(onnx_node *v) {
    const masu__model_tensor *a = onnx_in(v, 0), *b = onnx_in(v, 1);
    if (!onnx_is(v, "Gemm"))
        return false;
    onnx_set_type_of(onnx_out(v, 0), a);
    if (a && b && a->has_shape && b->has_shape && a->rank == 2 && b->rank == 2) {
        onnx_dims dims = {2, {a->dims[onnx_int(v, "transA", 0) != 0], b->dims[onnx_int(v, "transB", 0) == 0]}};
        onnx_set_shape(v, onnx_out(v, 0), &dims);
    }
    return true;
}

/* ---- reductions ------------------------------------------------------------------------------ */

static void reduce(onnx_node *v, const masu__model_tensor *in, const bool *gone, bool keep) {
    onnx_dims dims = {.rank = 0};
    for (size_t i = 0; i < in->rank; i++)
        if (!gone[i])
            dims.at[dims.rank++] = in->dims[i];
        else if (keep)
            dims.at[dims.rank++] = 1;
    onnx_set_shape(v, onnx_out(v, 0), &dims);
}

static bool reduce_shapes(onnx_node *v) {
    masu__model_tensor *in = onnx_in(v, 0);
    bool arg = onnx_is(v, "ArgMax") || onnx_is(v, "ArgMin");
    const int64_t *axes;
    size_t count, axis;
    if (!arg && strncmp(v->node->op_type, "Reduce", 6) != 0)
        return false;
    if (arg)
        onnx_set_type(onnx_out(v, 0), "int64", 64);
    else
        onnx_set_type_of(onnx_out(v, 0), in);
    if (!in || !in->has_shape)
        return true;
    bool gone[MASU__MODEL_MOST_RANK] = {false}, keep = onnx_int(v, "keepdims", 1) != 0;
    int64_t only = onnx_int(v, "axis", 0);
    if (arg)
        axes = &only, count = 1;
    else if (!onnx_list(v, 1, "axes", &axes, &count))
        return true;
    if (count == 0 && onnx_int(v, "noop_with_empty_axes", 0)) {
        onnx_set_shape_of(v, onnx_out(v, 0), in);
        return true;
    }
    for (size_t i = 0; i < count; i++) {
        if (!onnx_axis(axes[i], in->rank, &axis))
            return true;
        gone[axis] = true;
    }
    for (size_t i = 0; count == 0 && i < in->rank; i++)
        gone[i] = true;
    reduce(v, in, gone, keep);
    return true;
}

/* ---- recurrent ------------------------------------------------------------------------------- */

static bool recurrent_shapes(onnx_node *v) {
    const masu__model_tensor *x = onnx_in(v, 0), *r = onnx_in(v, 2);
    if (!onnx_is(v, "LSTM") && !onnx_is(v, "GRU") && !onnx_is(v, "RNN"))
        return false;
    for (size_t i = 0; i < 3; i++)
        onnx_set_type_of(onnx_out(v, i), x);
    int64_t hidden = onnx_int(v, "hidden_size", r && r->has_shape && r->rank == 3 ? r->dims[2] : MASU__MODEL_OPEN);
    int64_t directions = onnx_text_is(v, "direction", "bidirectional") ? 2 : 1;
    if (!x || !x->has_shape || x->rank != 3)
        return true;
    bool batch_first = onnx_int(v, "layout", 0) == 1;
    int64_t length = x->dims[batch_first], batch = x->dims[!batch_first];
    onnx_dims all = batch_first ? (onnx_dims){4, {batch, length, directions, hidden}}
                                : (onnx_dims){4, {length, directions, batch, hidden}};
    onnx_dims last = batch_first ? (onnx_dims){3, {batch, directions, hidden}}
                                 : (onnx_dims){3, {directions, batch, hidden}};
    onnx_set_shape(v, onnx_out(v, 0), &all);
    onnx_set_shape(v, onnx_out(v, 1), &last);
    onnx_set_shape(v, onnx_out(v, 2), &last);
    return true;
}

/* ---- all ------------------------------------------------------------------------------------- */

void onnx_infer(onnx_node *v) {
    if (v->op->is_custom)
        return;
    if (!same_shapes(v) && !broadcast_shapes(v) && !matmul_shapes(v) && !gemm_shapes(v) && !reduce_shapes(v) &&
        !recurrent_shapes(v) && !onnx_window_shapes(v))
        onnx_part_shapes(v);
    onnx_find_values(v);
}
