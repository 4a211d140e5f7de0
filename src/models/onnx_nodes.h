/* onnx_nodes.h: an operator of an ONNX file while its outputs' types, shapes and values are found.
 *
 *     read_onnx.c ─► onnx_infer (onnx_shapes.c) ─┬─ onnx_shapes_windows.c   convolutions, pools, resizing
 *                                                ├─ onnx_shapes_parts.c     parts of tensors: slices, joins, gathers
 *                                                └─ onnx_values.c           whole numbers that shapes are computed from
 *
 * What the file says of a shape is kept; what it leaves open is computed. What cannot be computed stays open.
 */
#ifndef MASU_MODELS_ONNX_NODES_H
#define MASU_MODELS_ONNX_NODES_H

#include <onnx.pb-c.h>

#include "models/model_formats.h"

enum { ONNX_MOST_VALUES = 4096 };
static const int64_t ONNX_MOST_DIM = (int64_t)1 << 40;

typedef struct onnx_node {
    masu__model *model;
    const Masu__Onnx__Node *node;
    masu__model_operator *op;
    bool out_of_memory;
} onnx_node;

typedef struct onnx_dims {
    size_t rank;
    int64_t at[MASU__MODEL_MOST_RANK];
} onnx_dims;

/* NULL: left out, or not there. */
masu__model_tensor *onnx_in(const onnx_node *v, size_t i);
masu__model_tensor *onnx_out(const onnx_node *v, size_t i);
bool onnx_is(const onnx_node *v, const char *type);

/* An attribute; NULL: not there. */
const Masu__Onnx__Attribute *onnx_attribute(const onnx_node *v, const char *name);
int64_t onnx_int(const onnx_node *v, const char *name, int64_t otherwise);
/* NULL and 0: not there. */
const int64_t *onnx_ints(const onnx_node *v, const char *name, size_t *count);
bool onnx_text_is(const onnx_node *v, const char *name, const char *text);
/* Whole numbers from input i where it is there, from the attribute otherwise. False: there, but not known. */
bool onnx_list(const onnx_node *v, size_t i, const char *name, const int64_t **out, size_t *count);
/* -1 is the last of rank. False: outside. */
bool onnx_axis(int64_t axis, size_t rank, size_t *out);

/* Fills what is open. Nothing is written over. */
void onnx_set_type(masu__model_tensor *t, const char *type, unsigned bits);
void onnx_set_type_of(masu__model_tensor *t, const masu__model_tensor *like);
void onnx_set_type_number(masu__model_tensor *t, int64_t number);
void onnx_set_shape(onnx_node *v, masu__model_tensor *t, const onnx_dims *dims);
void onnx_set_shape_of(onnx_node *v, masu__model_tensor *t, const masu__model_tensor *like);
void onnx_set_values(onnx_node *v, masu__model_tensor *t, const int64_t *values, size_t count);
/* Out of range: open. */
int64_t onnx_dim(int64_t value);
int64_t onnx_product(int64_t a, int64_t b);
onnx_dims onnx_dims_of(const masu__model_tensor *t);

/* Each: true when the operator is one of its own, whether something was found or not. */
bool onnx_window_shapes(onnx_node *v);
bool onnx_part_shapes(onnx_node *v);
void onnx_find_values(onnx_node *v);

/* All of it for one operator, whose inputs are known as far as they will be. */
void onnx_infer(onnx_node *v);

/* Types by their public number. */
const char *onnx_type_name(int64_t number, unsigned *bits);

#endif
