/* onnx_values.c: whole numbers that a file computes its shapes with: Shape, Gather, Concat, arithmetic, as far as they
 * are known before anything runs; and which tensors are constants: those that are made of constants alone.
 */
#include <string.h>

#include "models/onnx_nodes.h"

static bool is_whole(const masu__model_tensor *t) {
    return t && t->values &&
           (strcmp(t->type, "int64") == 0 || strcmp(t->type, "int32") == 0 || strcmp(t->type, "bool") == 0);
}

static void give(onnx_node *v, const int64_t *values, size_t count) {
    masu__model_tensor *out = onnx_out(v, 0);
    if (!out)
        return;
    onnx_set_values(v, out, values, count);
}

/* ---- single operators -------------------------------------------------------------------------- */

static void values_of_shape(onnx_node *v) {
    const masu__model_tensor *in = onnx_in(v, 0);
    int64_t dims[MASU__MODEL_MOST_RANK], count = 1;
    if (!in || !in->has_shape)
        return;
    for (size_t i = 0; i < in->rank; i++) {
        if (in->dims[i] < 0)
            return;
        dims[i] = in->dims[i];
        count = onnx_product(count, dims[i]);
    }
    if (onnx_is(v, "Size")) {
        if (count >= 0)
            give(v, &count, 1);
        return;
    }
    int64_t rank = (int64_t)in->rank, begin = onnx_int(v, "start", 0), end = onnx_int(v, "end", rank);
    begin = begin < 0 ? (begin < -rank ? 0 : begin + rank) : begin > rank ? rank : begin;
    end = end < 0 ? (end < -rank ? 0 : end + rank) : end > rank ? rank : end;
    give(v, dims + begin, end > begin ? (size_t)(end - begin) : 0);
}

static void values_of_constant(onnx_node *v) {
    const Masu__Onnx__Attribute *one = onnx_attribute(v, "value_int"), *many = onnx_attribute(v, "value_ints");
    if (one)
        give(v, &one->i, 1);
    else if (many)
        give(v, many->ints, many->n_ints);
}

static void values_of_filled(onnx_node *v) {
    masu__model_tensor *out = onnx_out(v, 0);
    const Masu__Onnx__Attribute *value = onnx_attribute(v, "value");
    const Masu__Onnx__Tensor *t = value ? value->t : NULL;
    int64_t number, all[ONNX_MOST_VALUES];
    if (!out || !out->has_shape || out->rank > 1 || !t || t->data_type != 7)
        return;
    int64_t count = out->rank == 1 ? out->dims[0] : 1;
    if (count < 0 || count > ONNX_MOST_VALUES || (t->n_int64_data != 1 && t->raw_data.len != 8))
        return;
    if (t->n_int64_data == 1)
        number = t->int64_data[0];
    else
        memcpy(&number, t->raw_data.data, 8);
    for (int64_t i = 0; i < count; i++)
        all[i] = number;
    give(v, all, (size_t)count);
}

static void values_of_gather(onnx_node *v) {
    const masu__model_tensor *in = onnx_in(v, 0), *indices = onnx_in(v, 1);
    int64_t out[ONNX_MOST_VALUES];
    size_t at;
    if (!is_whole(in) || !is_whole(indices) || in->rank > 1)
        return;
    for (size_t i = 0; i < indices->value_count; i++) {
        if (!onnx_axis(indices->values[i], in->value_count, &at))
            return;
        out[i] = in->values[at];
    }
    give(v, out, indices->value_count);
}

/* Numbers in a row, or rows of a matrix: one axis, the first. */
static bool slices_first_axis(const onnx_node *v) {
    const int64_t *starts, *axes, *steps;
    size_t count;
    if (!onnx_list(v, 1, "starts", &starts, &count) || count != 1 ||
        (onnx_in(v, 4) && (!onnx_list(v, 4, "", &steps, &count) || count != 1)))
        return false;
    return onnx_list(v, 3, "axes", &axes, &count) &&
           (count == 0 || (count == 1 && (axes[0] == 0 || onnx_in(v, 0)->rank == 1)));
}

static void values_of_slice(onnx_node *v) {
    const masu__model_tensor *in = onnx_in(v, 0), *out = onnx_out(v, 0);
    const int64_t *starts, *steps = NULL;
    int64_t values[ONNX_MOST_VALUES];
    size_t count;
    if (!is_whole(in) || in->rank < 1 || in->rank > 2 || in->dims[0] <= 0 || !out || !out->has_shape ||
        out->rank != in->rank || out->dims[0] < 0 || out->dims[0] > in->dims[0] || !slices_first_axis(v))
        return;
    onnx_list(v, 1, "starts", &starts, &count);
    if (onnx_in(v, 4))
        onnx_list(v, 4, "", &steps, &count);
    size_t width = in->value_count / (size_t)in->dims[0];
    int64_t size = in->dims[0], at = starts[0], step = steps ? steps[0] : 1;
    at = at < 0 ? (at < -size ? (step > 0 ? 0 : -1) : at + size) : at >= size && step < 0 ? size - 1 : at;
    for (int64_t i = 0; i < out->dims[0]; i++) {
        if (at < 0 || at >= size)
            return;
        memcpy(values + (size_t)i * width, in->values + (size_t)at * width, width * sizeof *values);
        if (__builtin_add_overflow(at, step, &at))
            at = -1;
    }
    give(v, values, (size_t)out->dims[0] * width);
}

/* The rows of a matrix become its columns. */
static void values_of_transpose(onnx_node *v) {
    const masu__model_tensor *in = onnx_in(v, 0);
    const Masu__Onnx__Attribute *perm = onnx_attribute(v, "perm");
    int64_t values[ONNX_MOST_VALUES];
    if (!is_whole(in) || in->rank != 2 || in->dims[0] <= 0 || (perm && (perm->n_ints != 2 || perm->ints[0] != 1)))
        return;
    size_t rows = (size_t)in->dims[0], columns = in->value_count / rows;
    for (size_t i = 0; i < in->value_count; i++)
        values[i % columns * rows + i / columns] = in->values[i];
    give(v, values, in->value_count);
}

static void values_of_concat(onnx_node *v) {
    int64_t out[ONNX_MOST_VALUES];
    size_t count = 0;
    for (size_t i = 0; i < v->op->input_count; i++) {
        const masu__model_tensor *t = onnx_in(v, i);
        if (!is_whole(t) || t->rank > 1 || t->value_count > ONNX_MOST_VALUES - count)
            return;
        memcpy(out + count, t->values, t->value_count * sizeof *out);
        count += t->value_count;
    }
    give(v, out, count);
}

static void values_of_range(onnx_node *v) {
    int64_t out[ONNX_MOST_VALUES], part[3];
    size_t count = 0;
    for (size_t i = 0; i < 3; i++) {
        const masu__model_tensor *t = onnx_in(v, i);
        if (!is_whole(t) || t->value_count != 1)
            return;
        part[i] = t->values[0];
    }
    for (int64_t at = part[0]; part[2] > 0 ? at < part[1] : at > part[1];) {
        if (count == ONNX_MOST_VALUES || part[2] == 0)
            return;
        out[count++] = at;
        if (__builtin_add_overflow(at, part[2], &at))
            break;
    }
    onnx_set_shape(v, onnx_out(v, 0), &(onnx_dims){1, {(int64_t)count}});
    give(v, out, count);
}

/* ---- arithmetic ------------------------------------------------------------------------------ */

static bool compute(const onnx_node *v, int64_t a, int64_t b, int64_t *out) {
    if (onnx_is(v, "Add"))
        return !__builtin_add_overflow(a, b, out);
    if (onnx_is(v, "Sub"))
        return !__builtin_sub_overflow(a, b, out);
    if (onnx_is(v, "Mul"))
        return !__builtin_mul_overflow(a, b, out);
    if (onnx_is(v, "Div"))
        return b != 0 && !(a == INT64_MIN && b == -1) && (*out = a / b, true);
    if (onnx_is(v, "Mod"))
        return b > 0 && (*out = (a % b + b) % b, true);
    if (onnx_is(v, "Max"))
        return *out = a > b ? a : b, true;
    if (onnx_is(v, "Min"))
        return *out = a < b ? a : b, true;
    if (onnx_is(v, "Equal"))
        return *out = a == b, true;
    if (onnx_is(v, "Less"))
        return *out = a < b, true;
    if (onnx_is(v, "Greater"))
        return *out = a > b, true;
    return false;
}

static void values_of_arithmetic(onnx_node *v) {
    const masu__model_tensor *a = onnx_in(v, 0), *b = onnx_in(v, 1);
    int64_t out[ONNX_MOST_VALUES];
    if (v->op->input_count != 2 || !is_whole(a) || !is_whole(b) || a->rank > 1 || b->rank > 1 ||
        (a->value_count != b->value_count && a->value_count != 1 && b->value_count != 1))
        return;
    size_t count = a->value_count == 1 ? b->value_count : a->value_count;
    for (size_t i = 0; i < count; i++)
        if (!compute(v, a->values[a->value_count == 1 ? 0 : i], b->values[b->value_count == 1 ? 0 : i], &out[i]))
            return;
    give(v, out, count);
}

static void values_of_where(onnx_node *v) {
    const masu__model_tensor *c = onnx_in(v, 0), *a = onnx_in(v, 1), *b = onnx_in(v, 2);
    int64_t out[ONNX_MOST_VALUES];
    if (!is_whole(c) || !is_whole(a) || !is_whole(b) || c->rank > 1 || a->rank > 1 || b->rank > 1)
        return;
    size_t count = c->value_count > a->value_count ? c->value_count : a->value_count;
    count = b->value_count > count ? b->value_count : count;
    const masu__model_tensor *all[] = {c, a, b};
    for (size_t i = 0; i < 3; i++)
        if (all[i]->value_count != count && all[i]->value_count != 1)
            return;
    for (size_t i = 0; i < count; i++) {
        const masu__model_tensor *from = c->values[c->value_count == 1 ? 0 : i] ? a : b;
        out[i] = from->values[from->value_count == 1 ? 0 : i];
    }
    give(v, out, count);
}

static void values_of_product(onnx_node *v) {
    const masu__model_tensor *in = onnx_in(v, 0);
    int64_t product = 1;
    if (!is_whole(in) || in->rank > 1)
        return;
    for (size_t i = 0; i < in->value_count; i++)
        if (__builtin_mul_overflow(product, in->values[i], &product))
            return;
    give(v, &product, 1);
}

/* The same numbers: under another shape, or as another whole type. */
static void values_of_same(onnx_node *v) {
    const masu__model_tensor *in = onnx_in(v, 0);
    if (is_whole(in))
        give(v, in->values, in->value_count);
}

static void values_of_cast(onnx_node *v) {
    int64_t to = onnx_int(v, "to", 0);
    if (to == 7)
        values_of_same(v);
    else if (to == 6 && is_whole(onnx_in(v, 0))) { /* as far as they fit */
        for (size_t i = 0; i < onnx_in(v, 0)->value_count; i++)
            if (onnx_in(v, 0)->values[i] != (int32_t)onnx_in(v, 0)->values[i])
                return;
        values_of_same(v);
    }
}

/* ---- constants ------------------------------------------------------------------------------- */

/* An operator with a body may name other tensors; one that draws numbers draws others each time. */
static bool is_constant(const onnx_node *v) {
    static const char *const never[] = {"RandomNormal",      "RandomUniform", "RandomNormalLike",
                                        "RandomUniformLike", "Multinomial",   "Bernoulli"};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        if (onnx_is(v, never[i]))
            return false;
    if (v->op->body_count > 0 || v->op->is_custom)
        return false;
    const masu__model_tensor *first = onnx_in(v, 0), *out = onnx_out(v, 0);
    if ((onnx_is(v, "Shape") || onnx_is(v, "Size")) && first && out && out->values)
        return true;
    for (size_t i = 0; i < v->op->input_count; i++)
        if (onnx_in(v, i) && !onnx_in(v, i)->is_constant)
            return false;
    return true;
}

typedef struct value_rule {
    const char *type;
    void (*find)(onnx_node *);
} value_rule;

static const value_rule rules[] = {
    {"Shape", values_of_shape},         {"Size", values_of_shape},
    {"Constant", values_of_constant},   {"ConstantOfShape", values_of_filled},
    {"Gather", values_of_gather},       {"Slice", values_of_slice},
    {"Concat", values_of_concat},       {"Range", values_of_range},
    {"Add", values_of_arithmetic},      {"Sub", values_of_arithmetic},
    {"Mul", values_of_arithmetic},      {"Div", values_of_arithmetic},
    {"Mod", values_of_arithmetic},      {"Max", values_of_arithmetic},
    {"Min", values_of_arithmetic},      {"Equal", values_of_arithmetic},
    {"Less", values_of_arithmetic},     {"Greater", values_of_arithmetic},
    {"Where", values_of_where},         {"ReduceProd", values_of_product},
    {"Cast", values_of_cast},           {"Identity", values_of_same},
    {"Reshape", values_of_same},        {"Squeeze", values_of_same},
    {"Unsqueeze", values_of_same},      {"Flatten", values_of_same},
    {"Transpose", values_of_transpose},
};

void onnx_find_values(onnx_node *v) {
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (onnx_is(v, rules[i].type))
            rules[i].find(v);
    if (!is_constant(v))
        return;
    for (size_t i = 0; i < v->op->output_count; i++)
        if (onnx_out(v, i))
            onnx_out(v, i)->is_constant = true;
}
