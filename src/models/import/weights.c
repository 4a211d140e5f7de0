/* weights.c: the constants that the program reads, as a .safetensors file: a length of 8 bytes, a table as JSON, the
 * elements. Wide elements come first, so that each tensor is aligned to its own.
 */
#include <string.h>

#include "models/import/import.h"

static const char *dtype_of(const masu__model_tensor *t) {
    static const char *const names[][2] = {{"float32", "F32"},   {"float64", "F64"}, {"float16", "F16"},
                                           {"bfloat16", "BF16"}, {"int64", "I64"},   {"int32", "I32"},
                                           {"int16", "I16"},     {"int8", "I8"},     {"uint8", "U8"},
                                           {"uint16", "U16"},    {"uint32", "U32"},  {"bool", "BOOL"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(t->type, names[i][0]) == 0)
            return names[i][1];
    return NULL;
}

/* ---- constants that are attributes --------------------------------------------------------------- */

static Masu__Onnx__Tensor *made_of(onnx_node *v, masu__model_tensor *out) {
    const Masu__Onnx__Attribute *one = onnx_attribute(v, "value_int"), *many = onnx_attribute(v, "value_ints");
    const Masu__Onnx__Attribute *real = onnx_attribute(v, "value_float"), *reals = onnx_attribute(v, "value_floats");
    Masu__Onnx__Tensor *t = masu__arena_calloc(&v->model->arena, 1, sizeof *t, 16);
    if (!t || v->node->n_attribute != 1 || (!one && !many && !real && !reals))
        return NULL;
    masu__onnx__tensor__init(t);
    t->data_type = one || many ? 7 : 1;
    t->raw_data.data = one    ? (uint8_t *)&one->i
                       : many ? (uint8_t *)many->ints
                       : real ? (uint8_t *)&real->f
                              : (uint8_t *)reals->floats;
    t->raw_data.len = (size_t)out->bytes;
    return t;
}

bool import_constant_nodes(importer *im) {
    for (size_t k = 0; k < im->model->graph_count; k++) {
        masu__model_graph *g = &im->model->graphs[k];
        for (size_t i = 0; i < g->operator_count; i++) {
            onnx_node v = {im->model, g->operators[i].node, &g->operators[i], false};
            masu__model_tensor *out = onnx_out(&v, 0);
            if (onnx_is(&v, "Constant") && out && !out->constant && out->has_bytes)
                out->constant = made_of(&v, out);
        }
    }
    return true;
}

/* ---- elements ------------------------------------------------------------------------------------ */

/* Elements that are not in raw_data are numbers of another width: copied into *to. */
static bool gather(const masu__model_tensor *t, const Masu__Onnx__Tensor *from, masu__buffer *to) {
    size_t width = t->bits / 8, count = width ? (size_t)t->bytes / width : 0;
    if (strcmp(t->type, "float32") == 0 && from->n_float_data == count)
        masu__buffer_append(to, (const char *)from->float_data, count * 4);
    else if (strcmp(t->type, "float64") == 0 && from->n_double_data == count)
        masu__buffer_append(to, (const char *)from->double_data, count * 8);
    else if (strcmp(t->type, "int64") == 0 && from->n_int64_data == count)
        masu__buffer_append(to, (const char *)from->int64_data, count * 8);
    else if (strcmp(t->type, "uint32") == 0 && from->n_uint64_data == count)
        for (size_t i = 0; i < count; i++)
            masu__buffer_append(to, (const char *)&from->uint64_data[i], 4);
    else if (t->bits <= 32 && from->n_int32_data == count)
        for (size_t i = 0; i < count; i++)
            masu__buffer_append(to, (const char *)&from->int32_data[i], width);
    else
        return false;
    return true;
}

static bool put_elements(importer *im, const masu__model_tensor *t, masu__model_write *write, void *context) {
    const Masu__Onnx__Tensor *from = t->constant;
    if (from->data_location == 1)
        return masu__model_refuse(im->why, "the elements of `%.80s` are in another file; save the network as one file",
                                  t->name.at);
    if (t->bytes == 0)
        return true;
    if (from->raw_data.len == t->bytes)
        return write(context, from->raw_data.data, from->raw_data.len) ||
               masu__model_refuse(im->why, "the weights cannot be written");
    masu__buffer made = {0};
    if (from->raw_data.len > 0 || !gather(t, from, &made))
        return masu__model_refuse(im->why, "`%.80s` does not have the %llu bytes that its shape says", t->name.at,
                                  (unsigned long long)t->bytes);
    bool right = !made.failed ? write(context, made.data, made.length) ||
                                    masu__model_refuse(im->why, "the weights cannot be written")
                              : masu__model_refuse(im->why, "out of memory");
    masu__buffer_destroy(&made);
    return right;
}

static bool is_written(const importer *im, size_t i, unsigned bits) {
    const masu__model_tensor *t = &im->model->tensors[i];
    return im->is_needed[i] && t->constant && t->bits == bits;
}

bool import_write_weights(importer *im, masu__model_write *write, void *context) {
    static const unsigned widths[] = {64, 32, 16, 8};
    masu__buffer table = {0};
    uint64_t at = 0;
    masu__buffer_putc(&table, '{');
    for (size_t w = 0; w < 4; w++)
        for (size_t i = 0; i < im->model->tensor_count; i++) {
            const masu__model_tensor *t = &im->model->tensors[i];
            if (!is_written(im, i, widths[w]))
                continue;
            masu__buffer_printf(&table, "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[", at || table.length > 1 ? "," : "",
                                im->names[i], dtype_of(t));
            for (size_t k = 0; k < t->rank; k++)
                masu__buffer_printf(&table, "%s%lld", k ? "," : "", (long long)t->dims[k]);
            masu__buffer_printf(&table, "],\"data_offsets\":[%llu,%llu]}", (unsigned long long)at,
                                (unsigned long long)(at + t->bytes));
            at += t->bytes;
        }
    bool is_empty = table.length == 1;
    masu__buffer_putc(&table, '}');
    masu__buffer_fill(&table, ' ', (8 - table.length % 8) % 8);
    uint64_t length = table.length;
    bool right = !table.failed || masu__model_refuse(im->why, "out of memory");
    if (right && !is_empty)
        right = (write(context, &length, 8) && write(context, table.data, table.length)) ||
                masu__model_refuse(im->why, "the weights cannot be written");
    masu__buffer_destroy(&table);
    for (size_t w = 0; right && w < 4; w++)
        for (size_t i = 0; right && i < im->model->tensor_count; i++)
            right = !is_written(im, i, widths[w]) || put_elements(im, &im->model->tensors[i], write, context);
    return right;
}
