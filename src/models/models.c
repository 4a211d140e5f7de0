/* models.c: which format, and what both readers end with. */
#include <stdarg.h>
#include <string.h>

#include "models/model_formats.h"

/* One line, whatever bytes a name in the file has. */
bool masu__model_refuse(masu__buffer *why, const char *format, ...) {
    va_list arguments;
    size_t begin = why->length;
    va_start(arguments, format);
    masu__buffer_vprintf(why, format, arguments);
    va_end(arguments);
    for (size_t i = begin; i < why->length; i++)
        if ((unsigned char)why->data[i] < ' ' || why->data[i] == 0x7f)
            why->data[i] = ' ';
    return false;
}

/* ONNX has no mark. Every writer begins with ir_version: field 1, a small number. */
bool masu__model_recognise(const void *bytes, size_t length, masu__model_format *out) {
    const unsigned char *at = bytes;
    if (length >= 8 && memcmp(at + 4, "TFL3", 4) == 0) {
        *out = MASU__MODEL_TFLITE;
        return true;
    }
    *out = MASU__MODEL_ONNX;
    return length >= 4 && at[0] == 0x08 && at[1] >= 1 && at[1] < 0x40 && at[2] < 0x80 && at[2] >= 0x10;
}

bool masu__model_measure(masu__model_tensor *t) {
    uint64_t elements = 1, bits;
    t->has_bytes = false;
    if (!t->has_shape)
        return true;
    bool is_empty = false, is_open = false, fits = true;
    for (size_t i = 0; i < t->rank; i++) {
        is_empty |= t->dims[i] == 0;
        is_open |= t->dims[i] < 0;
        if (t->dims[i] > 0)
            fits = fits && !__builtin_mul_overflow(elements, (uint64_t)t->dims[i], &elements);
    }
    if (is_open || t->bits == 0)
        return true;
    if (!is_empty && (!fits || __builtin_mul_overflow(elements, t->bits, &bits) || bits > (uint64_t)1 << 62))
        return false;
    t->has_bytes = true;
    t->bytes = is_empty ? 0 : (elements * t->bits + 7) / 8;
    return true;
}

bool masu__model_read(masu__model_format format, const void *bytes, size_t length, masu__model_dim *dims,
                      size_t dim_count, masu__model *out, masu__buffer *why) {
    *out = (masu__model){.format = format};
    bool right = format == MASU__MODEL_TFLITE ? masu__model_read_tflite(bytes, length, out, why)
                                              : masu__model_read_onnx(bytes, length, dims, dim_count, out, why);
    if (right)
        return true;
    masu__model_format other;
    if (masu__model_recognise(bytes, length, &other) && other != format)
        masu__model_refuse(why, other == MASU__MODEL_TFLITE
                                    ? "; these are the bytes of a TensorFlow Lite file: give it a name in .tflite"
                                    : "; these may be the bytes of an ONNX file: give it a name in .onnx");
    masu__model_free(out);
    return false;
}

void masu__model_free(masu__model *model) {
    masu__arena_destroy(&model->arena);
    *model = (masu__model){.format = model->format};
}
