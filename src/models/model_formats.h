/* model_formats.h: what the readers of the two formats share. */
#ifndef MASU_MODELS_MODEL_FORMATS_H
#define MASU_MODELS_MODEL_FORMATS_H

#include "models/models.h"

#ifdef __cplusplus
extern "C" {
#endif

bool masu__model_read_tflite(const void *bytes, size_t length, masu__model *out, masu__buffer *why);
bool masu__model_read_onnx(const void *bytes, size_t length, masu__model_dim *dims, size_t dim_count, masu__model *out,
                           masu__buffer *why);

/* Names of the operators of TensorFlow Lite by number; NULL: not known. */
const char *masu__model_tflite_operator(int64_t code);

/* Computes bytes where type and shape are known. False: dims multiply beyond 2^62. */
bool masu__model_measure(masu__model_tensor *tensor);

/* Says and returns false. */
bool masu__model_refuse(masu__buffer *why, const char *format, ...) __attribute__((format(printf, 2, 3)));

#ifdef __cplusplus
}
#endif

#endif
