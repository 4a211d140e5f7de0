/* onnx_shapes_parts.c: shapes of what takes tensors apart and joins them: other shapes of the same elements, slices,
 * joins, gathers. */
#include <string.h>

#include "models/onnx_nodes.h"

static bool known(const masu__model_tensor *t) {
    return t && t->has_shape;
}

/* ---- the same elements ------------------------------------------------------------------------- */

static int64_t elements(const masu__model_tensor *t) {
    int64_t count = 1;
    for (size_t i = 0; i < t->rank; i++)
        count = onnx_product(count, t->dims[i]);
    return count;
}

/* 0 is the dimension that was there, one -1 is what is left. */
/* A shape that is computed when the network runs: how long it is says the rank. */
static void shape_by_list(onnx_node *v, const masu__model_tensor *list) {
    onnx_dims open = {.rank = list && list->has_shape && list->rank == 1 && list->dims[0] >= 0 ? (size_t)list->dims[0]
                                                                                               : SIZE_MAX};
    for (size_t i = 0; i < MASU__MODEL_MOST_RANK; i++)
        open.at[i] = MASU__MODEL_OPEN;
    onnx_set_shape(v, onnx_out(v, 0), &open);
}

static void reshape(onnx_node *v, const masu__model_tensor *in) {
    const int64_t *wanted;
    size_t count, rest = SIZE_MAX;
    int64_t product = 1;
    if (!onnx_list(v, 1, "shape", &wanted, &count)) {
        shape_by_list(v, onnx_in(v, 1));
        return;
    }
    if (count > MASU__MODEL_MOST_RANK)
        return;
    onnx_dims dims = {.rank = count};
    bool zero_is_zero = onnx_int(v, "allowzero", 0) != 0;
    for (size_t i = 0; i < count; i++) {
        dims.at[i] = wanted[i];
        if (wanted[i] == 0 && !zero_is_zero)
            dims.at[i] = known(in) && i < in->rank ? in->dims[i] : MASU__MODEL_OPEN;
        else if (wanted[i] == -1)
            rest = i;
        if (i != rest)
            product = onnx_product(product, dims.at[i]);
    }
    if (rest != SIZE_MAX) {
        int64_t all = known(in) ? elements(in) : MASU__MODEL_OPEN;
        dims.at[rest] = all >= 0 && product > 0 && all % product == 0 ? all / product : MASU__MODEL_OPEN;
    }
    onnx_set_shape(v, onnx_out(v, 0), &dims);
}

static void flatten(onnx_node *v, const masu__model_tensor *in) {
    int64_t axis = onnx_int(v, "axis", 1);
    onnx_dims dims = {2, {1, 1}};
    if (!known(in) || axis < -(int64_t)in->rank || axis > (int64_t)in->rank)
        return;
    axis += axis < 0 ? (int64_t)in->rank : 0;
    for (size_t i = 0; i < in->rank; i++)
        dims.at[(int64_t)i >= axis] = onnx_product(dims.at[(int64_t)i >= axis], in->dims[i]);
    onnx_set_shape(v, onnx_out(v, 0), &dims);
}

static void transpose(onnx_node *v, const masu__model_tensor *in) {
    size_t count, axis;
    const int64_t *order = onnx_ints(v, "perm", &count);
    if (!known(in) || (count > 0 && count != in->rank))
        return;
    onnx_dims dims = {.rank = in->rank};
    for (size_t i = 0; i < in->rank; i++) {
        if (!onnx_axis(count ? order[i] : (int64_t)(in->rank - 1 - i), in->rank, &axis))
            return;
        dims.at[i] = in->dims[axis];
    }
    onnx_set_shape(v, onnx_out(v, 0), &dims);
}

static bool mark_axes(const int64_t *axes, size_t count, size_t rank, bool *marked) {
    size_t axis;
    for (size_t i = 0; i < count; i++) {
        if (!onnx_axis(axes[i], rank, &axis) || marked[axis])
            return false;
        marked[axis] = true;
    }
    return true;
}

static void squeeze(onnx_node *v, const masu__model_tensor *in) {
    bool gone[MASU__MODEL_MOST_RANK] = {false};
    const int64_t *axes;
    size_t count;
    if (!known(in) || !onnx_list(v, 1, "axes", &axes, &count) || !mark_axes(axes, count, in->rank, gone))
        return;
    onnx_dims dims = {.rank = 0};
    for (size_t i = 0; i < in->rank; i++) {
        if (count == 0 && in->dims[i] < 0)
            return;
        if (count > 0 ? !gone[i] : in->dims[i] != 1)
            dims.at[dims.rank++] = in->dims[i];
    }
    onnx_set_shape(v, onnx_out(v, 0), &dims);
}

static void unsqueeze(onnx_node *v, const masu__model_tensor *in) {
    bool added[MASU__MODEL_MOST_RANK] = {false};
    const int64_t *axes;
    size_t count;
    if (!known(in) || !onnx_list(v, 1, "axes", &axes, &count) || in->rank + count > MASU__MODEL_MOST_RANK ||
        !mark_axes(axes, count, in->rank + count, added))
        return;
    onnx_dims dims = {.rank = in->rank + count};
    for (size_t i = 0, from = 0; i < dims.rank; i++)
        dims.at[i] = added[i] ? 1 : in->dims[from++];
    onnx_set_shape(v, onnx_out(v, 0), &dims);
}

/* ---- slices ---------------------------------------------------------------------------------- */

static int64_t clamp(int64_t value, int64_t low, int64_t high) {
    return value < low ? low : value > high ? high : value;
}

static int64_t sliced(int64_t size, int64_t start, int64_t end, int64_t step) {
    if (size < 0 || step == 0)
        return MASU__MODEL_OPEN;
    start = start < 0 ? clamp(start, -size - 1, -1) + size : start;
    end = end < 0 ? clamp(end, -size - 1, -1) + size : end;
    if (step > 0) {
        start = clamp(start, 0, size), end = clamp(end, 0, size);
        return end > start ? (end - start - 1) / step + 1 : 0;
    }
    start = clamp(start, -1, size - 1), end = clamp(end, -1, size - 1);
    return start > end ? (start - end - 1) / -clamp(step, -ONNX_MOST_DIM, -1) + 1 : 0;
}

static void slice(onnx_node *v, const masu__model_tensor *in) {
    const int64_t *starts, *ends, *axes = NULL, *steps = NULL;
    size_t count, end_count, axis_count = 0, step_count = 0, axis;
    bool old = onnx_attribute(v, "starts") != NULL;
    if (!known(in))
        return;
    onnx_dims dims = onnx_dims_of(in);
    bool right = onnx_list(v, 1, "starts", &starts, &count) && onnx_list(v, 2, "ends", &ends, &end_count) &&
                 end_count == count && (onnx_in(v, 3) || old ? onnx_list(v, 3, "axes", &axes, &axis_count) : true) &&
                 (onnx_in(v, 4) ? onnx_list(v, 4, "steps", &steps, &step_count) : true);
    if (!right && onnx_in(v, 3) && onnx_in(v, 3)->values) { /* only these axes are open */
        axes = onnx_in(v, 3)->values;
        for (size_t i = 0; i < onnx_in(v, 3)->value_count; i++) {
            if (!onnx_axis(axes[i], in->rank, &axis))
                return;
            dims.at[axis] = MASU__MODEL_OPEN;
        }
        onnx_set_shape(v, onnx_out(v, 0), &dims);
        return;
    }
    if (!right || (axis_count && axis_count != count) || (step_count && step_count != count))
        return;
    for (size_t i = 0; i < count; i++) {
        if (!onnx_axis(axis_count ? axes[i] : (int64_t)i, in->rank, &axis))
            return;
        dims.at[axis] = sliced(in->dims[axis], starts[i], ends[i], step_count ? steps[i] : 1);
    }
    onnx_set_shape(v, onnx_out(v, 0), &dims);
}

static void split(onnx_node *v, const masu__model_tensor *in) {
    const int64_t *sizes;
    size_t count, axis, parts = v->op->output_count;
    bool is_known = onnx_list(v, 1, "split", &sizes, &count);
    for (size_t i = 0; i < parts; i++)
        onnx_set_type_of(onnx_out(v, i), in);
    if (!known(in) || parts == 0 || !onnx_axis(onnx_int(v, "axis", 0), in->rank, &axis))
        return;
    int64_t size = in->dims[axis], each = size < 0 ? size : (size + (int64_t)parts - 1) / (int64_t)parts;
    for (size_t i = 0; i < parts; i++) {
        onnx_dims dims = onnx_dims_of(in);
        int64_t left = each < 0 ? each : clamp(size - each * (int64_t)i, 0, each);
        dims.at[axis] = is_known && count == parts ? sizes[i] : is_known && count == 0 ? left : MASU__MODEL_OPEN;
        onnx_set_shape(v, onnx_out(v, i), &dims);
    }
}

static void pad(onnx_node *v, const masu__model_tensor *in) {
    const int64_t *pads, *axes = NULL;
    size_t count, axis_count = 0, axis;
    if (!known(in) || !onnx_list(v, 1, onnx_attribute(v, "paddings") ? "paddings" : "pads", &pads, &count) ||
        (onnx_in(v, 3) && !onnx_list(v, 3, "axes", &axes, &axis_count)))
        return;
    size_t padded = onnx_in(v, 3) ? axis_count : in->rank;
    onnx_dims dims = onnx_dims_of(in);
    if (count != 2 * padded)
        return;
    for (size_t i = 0; i < padded; i++) {
        if (!onnx_axis(axes ? axes[i] : (int64_t)i, in->rank, &axis))
            return;
        int64_t before = clamp(pads[i], -ONNX_MOST_DIM, ONNX_MOST_DIM),
                after = clamp(pads[i + padded], -ONNX_MOST_DIM, ONNX_MOST_DIM);
        dims.at[axis] = dims.at[axis] < 0 ? dims.at[axis] : onnx_dim(dims.at[axis] + before + after);
    }
    onnx_set_shape(v, onnx_out(v, 0), &dims);
}

/* ---- joins and gathers ------------------------------------------------------------------------- */

static void concat(onnx_node *v, const masu__model_tensor *in) {
    size_t axis;
    if (!known(in) || !onnx_axis(onnx_int(v, "axis", 1), in->rank, &axis))
        return;
    onnx_dims dims = onnx_dims_of(in);
    for (size_t i = 1; i < v->op->input_count; i++) {
        const masu__model_tensor *t = onnx_in(v, i);
        if (!known(t) || t->rank != in->rank) {
            dims.at[axis] = MASU__MODEL_OPEN;
            break;
        }
        dims.at[axis] = dims.at[axis] < 0 || t->dims[axis] < 0 ? MASU__MODEL_OPEN
                                                               : onnx_dim(dims.at[axis] + t->dims[axis]);
        for (size_t k = 0; k < in->rank; k++)
            if (k != axis && dims.at[k] < 0)
                dims.at[k] = t->dims[k];
    }
    onnx_set_shape(v, onnx_out(v, 0), &dims);
}

static void gather(onnx_node *v, const masu__model_tensor *in) {
    const masu__model_tensor *indices = onnx_in(v, 1);
    size_t axis;
    if (!known(in) || !known(indices) || !onnx_axis(onnx_int(v, "axis", 0), in->rank, &axis) ||
        in->rank + indices->rank - 1 > MASU__MODEL_MOST_RANK)
        return;
    onnx_dims dims = {.rank = 0};
    for (size_t i = 0; i < axis; i++)
        dims.at[dims.rank++] = in->dims[i];
    for (size_t i = 0; i < indices->rank; i++)
        dims.at[dims.rank++] = indices->dims[i];
    for (size_t i = axis + 1; i < in->rank; i++)
        dims.at[dims.rank++] = in->dims[i];
    onnx_set_shape(v, onnx_out(v, 0), &dims);
}

static void gather_places(onnx_node *v, const masu__model_tensor *in) {
    const masu__model_tensor *indices = onnx_in(v, 1);
    int64_t batch = onnx_int(v, "batch_dims", 0);
    if (!known(in) || !known(indices) || indices->rank == 0 || batch < 0 || batch >= (int64_t)indices->rank)
        return;
    int64_t depth = indices->dims[indices->rank - 1], first = batch + depth;
    if (depth < 0 || first > (int64_t)in->rank || indices->rank - 1 + in->rank - (size_t)first > MASU__MODEL_MOST_RANK)
        return;
    onnx_dims dims = {.rank = 0};
    for (size_t i = 0; i + 1 < indices->rank; i++)
        dims.at[dims.rank++] = indices->dims[i];
    for (size_t i = (size_t)first; i < in->rank; i++)
        dims.at[dims.rank++] = in->dims[i];
    onnx_set_shape(v, onnx_out(v, 0), &dims);
}

static void expand(onnx_node *v, const masu__model_tensor *in) {
    const masu__model_tensor *wanted = onnx_in(v, 1);
    if (!known(in) || !wanted || !wanted->values || wanted->value_count > MASU__MODEL_MOST_RANK)
        return;
    onnx_dims dims = {.rank = in->rank > wanted->value_count ? in->rank : wanted->value_count};
    for (size_t i = 0; i < dims.rank; i++) {
        size_t from_end = dims.rank - i;
        int64_t a = from_end <= in->rank ? in->dims[in->rank - from_end] : 1;
        int64_t b = from_end <= wanted->value_count ? wanted->values[wanted->value_count - from_end] : 1;
        dims.at[i] = a == 1 ? b : b == 1 ? a : a < 0 ? b : a;
    }
    onnx_set_shape(v, onnx_out(v, 0), &dims);
}

static void tile(onnx_node *v, const masu__model_tensor *in) {
    const masu__model_tensor *repeats = onnx_in(v, 1);
    if (!known(in))
        return;
    onnx_dims dims = onnx_dims_of(in);
    for (size_t i = 0; i < dims.rank; i++)
        dims.at[i] = repeats && repeats->values && repeats->value_count == dims.rank
                         ? onnx_product(dims.at[i], onnx_dim(repeats->values[i]))
                         : MASU__MODEL_OPEN;
    onnx_set_shape(v, onnx_out(v, 0), &dims);
}

static void top(onnx_node *v, const masu__model_tensor *in) {
    const int64_t *k;
    size_t count, axis;
    int64_t old = onnx_int(v, "k", MASU__MODEL_OPEN);
    onnx_set_type(onnx_out(v, 1), "int64", 64);
    if (!known(in) || !onnx_axis(onnx_int(v, "axis", -1), in->rank, &axis))
        return;
    onnx_dims dims = onnx_dims_of(in);
    bool is_known = onnx_in(v, 1) ? onnx_list(v, 1, "", &k, &count) && count == 1 : (k = &old, true);
    dims.at[axis] = is_known ? onnx_dim(k[0]) : MASU__MODEL_OPEN;
    onnx_set_shape(v, onnx_out(v, 0), &dims);
    onnx_set_shape(v, onnx_out(v, 1), &dims);
}

static void one_hot(onnx_node *v, const masu__model_tensor *in) {
    const masu__model_tensor *depth = onnx_in(v, 1);
    size_t axis;
    onnx_set_type_of(onnx_out(v, 0), onnx_in(v, 2));
    if (!known(in) || in->rank == MASU__MODEL_MOST_RANK || !onnx_axis(onnx_int(v, "axis", -1), in->rank + 1, &axis))
        return;
    onnx_dims dims = {.rank = in->rank + 1};
    for (size_t i = 0, from = 0; i < dims.rank; i++)
        dims.at[i] = i != axis                                           ? in->dims[from++]
                     : depth && depth->values && depth->value_count == 1 ? depth->values[0]
                                                                         : MASU__MODEL_OPEN;
    onnx_set_shape(v, onnx_out(v, 0), &dims);
}

/* ---- what is made of nothing ------------------------------------------------------------------- */

static void made_of_shape(onnx_node *v, const masu__model_tensor *shape) {
    const Masu__Onnx__Attribute *value = onnx_attribute(v, "value");
    onnx_set_type_number(onnx_out(v, 0), value && value->t ? value->t->data_type : 1);
    if (!shape || !shape->values || shape->value_count > MASU__MODEL_MOST_RANK) {
        shape_by_list(v, shape);
        return;
    }
    onnx_dims dims = {.rank = shape->value_count};
    memcpy(dims.at, shape->values, shape->value_count * sizeof *dims.at);
    onnx_set_shape(v, onnx_out(v, 0), &dims);
}

static void random_shape(onnx_node *v) {
    size_t count;
    const int64_t *shape = onnx_ints(v, "shape", &count);
    onnx_set_type_number(onnx_out(v, 0), onnx_int(v, "dtype", 1));
    if (count > MASU__MODEL_MOST_RANK)
        return;
    onnx_dims dims = {.rank = count};
    for (size_t i = 0; i < count; i++)
        dims.at[i] = shape[i];
    onnx_set_shape(v, onnx_out(v, 0), &dims);
}

static void shape_of(onnx_node *v, const masu__model_tensor *in) {
    bool is_size = onnx_is(v, "Size");
    onnx_set_type(onnx_out(v, 0), "int64", 64);
    if (!known(in) && !is_size)
        return;
    int64_t rank = is_size ? 0 : (int64_t)in->rank, begin = onnx_int(v, "start", 0), end = onnx_int(v, "end", rank);
    onnx_dims dims = {is_size ? 0 : 1, {sliced(rank, begin, end, 1)}};
    onnx_set_shape(v, onnx_out(v, 0), &dims);
}

/* How many there are is known when it runs. */
static void counted(onnx_node *v, const masu__model_tensor *in) {
    bool is_boxes = onnx_is(v, "NonMaxSuppression");
    onnx_dims dims = {2,
                      {is_boxes    ? MASU__MODEL_OPEN
                       : known(in) ? (int64_t)in->rank
                                   : MASU__MODEL_OPEN,
                       is_boxes ? 3 : MASU__MODEL_OPEN}};
    onnx_set_type(onnx_out(v, 0), "int64", 64);
    onnx_set_shape(v, onnx_out(v, 0), &dims);
}

/* [regions, channels, height, width] */
static void regions(onnx_node *v, const masu__model_tensor *in) {
    const masu__model_tensor *all = onnx_in(v, 1);
    size_t count = 0;
    const int64_t *size = onnx_ints(v, "pooled_shape", &count);
    bool is_pool = onnx_is(v, "MaxRoiPool");
    if (!known(in) || !known(all) || in->rank != 4 || all->rank != 2 || (is_pool && count != 2))
        return;
    onnx_dims dims = {4,
                      {all->dims[0], in->dims[1], onnx_dim(is_pool ? size[0] : onnx_int(v, "output_height", 1)),
                       onnx_dim(is_pool ? size[1] : onnx_int(v, "output_width", 1))}};
    onnx_set_shape(v, onnx_out(v, 0), &dims);
}

/* How many are left is known when it runs. */
static void distinct(onnx_node *v, const masu__model_tensor *in) {
    const Masu__Onnx__Attribute *axis = onnx_attribute(v, "axis");
    onnx_dims one = {1, {MASU__MODEL_OPEN}}, dims = one;
    for (size_t i = 1; i < 4; i++) {
        onnx_set_type(onnx_out(v, i), "int64", 64);
        onnx_set_shape(v, onnx_out(v, i), &one);
    }
    for (size_t i = 0; axis && known(in) && i < in->rank; i++)
        dims.at[i] = axis->i == (int64_t)i || axis->i + (int64_t)in->rank == (int64_t)i ? MASU__MODEL_OPEN
                                                                                        : in->dims[i];
    dims.rank = axis && known(in) ? in->rank : 1;
    if (!axis || known(in))
        onnx_set_shape(v, onnx_out(v, 0), &dims);
}

typedef struct part_rule {
    const char *type;
    void (*shape)(onnx_node *, const masu__model_tensor *);
    bool other_type; /* the rule says the type; otherwise it is that of input 0 */
} part_rule;

static void indices_shape(onnx_node *v, const masu__model_tensor *in) {
    (void)in;
    onnx_set_shape_of(v, onnx_out(v, 0), onnx_in(v, 1));
}

/* The places that a grid has, of each channel. */
static void sampled(onnx_node *v, const masu__model_tensor *in) {
    const masu__model_tensor *grid = onnx_in(v, 1);
    if (!known(in) || !known(grid) || in->rank < 3 || grid->rank != in->rank)
        return;
    onnx_dims dims = {in->rank, {in->dims[0], in->dims[1]}};
    for (size_t i = 2; i < in->rank; i++)
        dims.at[i] = grid->dims[i - 1];
    onnx_set_shape(v, onnx_out(v, 0), &dims);
}

static void grid_of_size(onnx_node *v, const masu__model_tensor *in) {
    const masu__model_tensor *size = onnx_in(v, 1);
    bool is_list = size && size->has_shape && size->rank == 1 && size->dims[0] > 2 && size->dims[0] < 6;
    if (!is_list)
        return;
    onnx_dims dims = {(size_t)size->dims[0], {known(in) && in->rank > 0 ? in->dims[0] : MASU__MODEL_OPEN}};
    for (size_t i = 1; i + 1 < dims.rank; i++)
        dims.at[i] = size->values && size->value_count == dims.rank ? onnx_dim(size->values[i + 1]) : MASU__MODEL_OPEN;
    dims.at[dims.rank - 1] = (int64_t)dims.rank - 2;
    onnx_set_shape(v, onnx_out(v, 0), &dims);
}

/* As many dimensions as before, but how long the lines are follows when it runs. */
static void transformed(onnx_node *v, const masu__model_tensor *in) {
    bool is_short = onnx_is(v, "STFT");
    if (!known(in) || in->rank < 2)
        return;
    onnx_dims dims = {.rank = is_short ? 4 : in->rank};
    for (size_t i = 0; i < dims.rank; i++)
        dims.at[i] = MASU__MODEL_OPEN;
    dims.at[0] = is_short ? in->dims[0] : MASU__MODEL_OPEN;
    dims.at[dims.rank - 1] = 2;
    onnx_set_shape(v, onnx_out(v, 0), &dims);
}

static void mel_shape(onnx_node *v, const masu__model_tensor *in) {
    const masu__model_tensor *length = onnx_in(v, 1);
    onnx_dims dims = {2, {MASU__MODEL_OPEN, MASU__MODEL_OPEN}};
    onnx_set_type_number(onnx_out(v, 0), onnx_int(v, "output_datatype", 1));
    if (length && length->values && length->value_count == 1 && length->values[0] >= 0)
        dims.at[0] = onnx_dim(length->values[0] / 2 + 1);
    if (in && in->values && in->value_count == 1)
        dims.at[1] = onnx_dim(in->values[0]);
    onnx_set_shape(v, onnx_out(v, 0), &dims);
}

/* MaxUnpool: values go back to where they were pooled from. */
static void unpooled(onnx_node *v, const masu__model_tensor *in) {
    onnx_dims dims = {.rank = known(in) ? in->rank : SIZE_MAX};
    for (size_t i = 0; i < MASU__MODEL_MOST_RANK; i++)
        dims.at[i] = MASU__MODEL_OPEN;
    onnx_set_shape(v, onnx_out(v, 0), &dims);
}

/* Range: how many there are is known where its three numbers are (onnx_values.c). */
static void counted_up(onnx_node *v, const masu__model_tensor *in) {
    (void)in;
    onnx_set_shape(v, onnx_out(v, 0), &(onnx_dims){1, {MASU__MODEL_OPEN}});
}

static const part_rule rules[] = {
    {"Reshape", reshape, false},
    {"Flatten", flatten, false},
    {"Transpose", transpose, false},
    {"Squeeze", squeeze, false},
    {"Unsqueeze", unsqueeze, false},
    {"Slice", slice, false},
    {"Split", split, false},
    {"Pad", pad, false},
    {"Concat", concat, false},
    {"Gather", gather, false},
    {"GatherND", gather_places, false},
    {"GatherElements", indices_shape, false},
    {"Expand", expand, false},
    {"Tile", tile, false},
    {"TopK", top, false},
    {"OneHot", one_hot, true},
    {"ConstantOfShape", made_of_shape, true},
    {"Shape", shape_of, true},
    {"Size", shape_of, true},
    {"Range", counted_up, false},
    {"NonZero", counted, true},
    {"NonMaxSuppression", counted, true},
    {"RoiAlign", regions, false},
    {"MaxRoiPool", regions, false},
    {"Unique", distinct, false},
    {"GridSample", sampled, false},
    {"AffineGrid", grid_of_size, false},
    {"DFT", transformed, false},
    {"STFT", transformed, false},
    {"MelWeightMatrix", mel_shape, true},
    {"MaxUnpool", unpooled, false},
};

bool onnx_part_shapes(onnx_node *v) {
    if (onnx_is(v, "RandomNormal") || onnx_is(v, "RandomUniform")) {
        random_shape(v);
        return true;
    }
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (onnx_is(v, rules[i].type)) {
            if (!rules[i].other_type)
                onnx_set_type_of(onnx_out(v, 0), onnx_in(v, 0));
            rules[i].shape(v, onnx_in(v, 0));
            return true;
        }
    return false;
}
