/* models.h: networks in the files of other tools, read into one form: tensors, operators, graphs.
 *
 *     bytes ─┬─ read_tflite.cc (FlatBuffers) ──────────────────────────┐
 *            └─ read_onnx.c (protobuf) ─► onnx_shapes*.c, onnx_values.c ─┴─► masu__model ─► model_lives.c,
 *                                                                                          operator_rules.c
 *
 *     bytes + offsets ─► write_tflite.cc ─► bytes
 *
 * Nothing in a file is believed: numbers of tensors, graphs and buffers are below their counts, shapes do not overflow,
 * graphs do not call themselves, names are only looked at through their length. What cannot be is refused with words.
 *
 * Tensors of all graphs have one numbering: those of graph 0 first, as in the offline plans of TensorFlow Lite Micro.
 * Thread safety: any thread, no shared state.
 */
#ifndef MASU_MODELS_MODELS_H
#define MASU_MODELS_MODELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "base/arena.h"
#include "base/buffer.h"

enum {
    MASU__MODEL_MOST_RANK = 32,
    MASU__MODEL_MOST_BODIES = 2,
    MASU__MODEL_MOST_NESTED = 32,     /* graphs inside graphs */
    MASU__MODEL_MOST_THINGS = 1 << 20 /* tensors, operators, and places where one names the other × 4 */
};

typedef enum masu__model_format { MASU__MODEL_TFLITE, MASU__MODEL_ONNX } masu__model_format;

typedef struct masu__model_text {
    const char *at; /* borrowed from the file's bytes or the arena; may hold any byte */
    size_t length;
} masu__model_text;

/* For printf's %.*s */
#define MASU__MODEL_TEXT(text) (int)(text).length, (text).at

enum { MASU__MODEL_OPEN = -1 }; /* a dimension that is not known */

typedef struct masu__model_tensor {
    masu__model_text name;
    const char *type; /* "float32"; static text; "?" when it is not known */
    unsigned bits;    /* an element takes; 0: not known, or without a fixed size */
    bool has_shape;   /* rank and dims are known; a dim may still be MASU__MODEL_OPEN */
    bool has_bytes;   /* everything is known: bytes */
    bool is_constant; /* in the file, or made of what is: not in the arena */
    bool is_variable; /* keeps its value from run to run */
    bool is_widened;  /* import: halves of floats that are computed with as f32 */
    bool is_open;     /* TFLite: the signature leaves a dimension open for which shape has a number */
    size_t graph;     /* that it belongs to */
    size_t rank;
    int64_t *dims;
    const masu__model_text *dim_names; /* ONNX: what open dimensions are called; NULL: none has a name */
    uint64_t bytes;
    const int64_t *values; /* of a small whole-number constant, for shapes: value_count of them; NULL: not known */
    size_t value_count;
    /* ONNX: the message that its elements are in; NULL: it is computed, or in no form that is read */
    const void *constant;
} masu__model_tensor;

enum { MASU__MODEL_NONE = -1 }; /* an input or output that is left out */

typedef struct masu__model_operator {
    masu__model_text name; /* "" in TFLite */
    masu__model_text type; /* "CONV_2D", "Conv"; the name of a custom one */
    masu__model_text domain;
    bool is_custom;
    int32_t *inputs; /* numbers of tensors or MASU__MODEL_NONE */
    size_t input_count;
    int32_t *outputs;
    size_t output_count;
    size_t bodies[MASU__MODEL_MOST_BODIES]; /* graphs that it runs, in order */
    size_t body_count;
    const void *node; /* ONNX: its message */
} masu__model_operator;

typedef struct masu__model_graph {
    masu__model_text name;
    int32_t *inputs;
    size_t input_count;
    int32_t *outputs;
    size_t output_count;
    masu__model_operator *operators; /* in order of execution */
    size_t operator_count;
    size_t tensor_begin, tensor_count; /* TFLite: its tensors are these */
} masu__model_graph;

/* The offline plan of a .tflite file, as its metadata has it. */
typedef struct masu__model_offline {
    bool is_there;
    bool is_aligned;                     /* its bytes lie at a multiple of 16 */
    size_t byte_count;                   /* of the buffer */
    int32_t version, graph_count, count; /* the first three words; 0 when there are fewer bytes */
    const int32_t *offsets;              /* (byte_count - 12) / 4 of them, at least 0 */
    size_t offset_count;
} masu__model_offline;

typedef struct masu__model {
    masu__model_format format;
    masu__model_tensor *tensors;
    size_t tensor_count;
    masu__model_graph *graphs; /* 0 is the main one */
    size_t graph_count;
    masu__model_offline offline;
    bool has_opset;
    int64_t opset;     /* ONNX: of the default domain */
    bool keeps_all;    /* ONNX, set before reading: operators that make constants of constants are kept, too */
    masu__arena arena; /* owns everything above, but for texts that lie in the file */
} masu__model;

/* A value for an open dimension: of each dimension with this name, or of dimension `axis` of the input of this name. */
typedef struct masu__model_dim {
    masu__model_text name;
    int64_t size;  /* >= 0 */
    bool was_used; /* set by the reader */
} masu__model_dim;

/* The kind of a file by its bytes: a .tflite says so at its fourth byte; ONNX by its first fields. False: neither.
 * O(1). */
bool masu__model_recognise(const void *bytes, size_t length, masu__model_format *out);

/* Reads. The bytes are borrowed as long as the model is used. False: *why says why in one line without a path, and *out
 * holds nothing. Memory: up to some hundred times the bytes of a file that is made to be large, some few times of
 * others. */
bool masu__model_read(masu__model_format format, const void *bytes, size_t length, masu__model_dim *dims,
                      size_t dim_count, masu__model *out, masu__buffer *why);
void masu__model_free(masu__model *model);

/* ---- lives (model_lives.c) --------------------------------------------------------------------------- */

/* When a tensor is there, as TensorFlow Lite Micro counts: moment 0 has the inputs, operator i of the main graph comes
 * at one moment more than what came before; graphs that an operator runs count on inside it. first <= last; -1, -1:
 * never used. */
typedef struct masu__model_life {
    int64_t first, last; /* inclusive */
} masu__model_life;

/* Where an operator lies in time: its own moment and, behind the graphs it runs, the last one. */
typedef struct masu__model_moment {
    size_t graph, index; /* which operator */
    int64_t begin, end;
} masu__model_moment;

typedef struct masu__model_lives {
    masu__model_life *tensors; /* tensor_count */
    /* one for each operator that runs, in order; of a graph that two operators run, twice */
    masu__model_moment *moments;
    size_t moment_count;
    int64_t end; /* the last moment */
} masu__model_lives;

/* order: of the operators of graph 0, NULL as they are. From the arena of the model. False: *why says why (a graph that
 * runs itself, or memory). O(everything that runs). */
bool masu__model_lives_find(masu__model *model, const size_t *order, masu__model_lives *out, masu__buffer *why);

/* ---- rules (operator_rules.c) -------------------------------------------------------------------- */

typedef enum masu__model_sharing {
    MASU__MODEL_APART,    /* the output needs bytes of its own */
    MASU__MODEL_IN_PLACE, /* each byte of an input is read before the same byte of the output is written */
    MASU__MODEL_VIEW,     /* the output's bytes are those of input 0 */
} masu__model_sharing;

/* How this operator's output may use the bytes of input `input`. Sizes are the caller's to compare. */
masu__model_sharing masu__model_sharing_of(const masu__model *model, const masu__model_operator *op, size_t input);

/* Whether an operator may run at another place than its own: false for what has effects beside its outputs or is not
 * known. */
bool masu__model_may_move(const masu__model *model, const masu__model_operator *op);

/* ---- writing (write_tflite.cc) --------------------------------------------------------------------- */

/* The file with this offline plan: offsets[tensor_count], -1 where the runtime shall decide; an older plan is replaced.
 * order: of graph 0's operators, NULL as they are. *out is owned by the caller: masu__meta_free(*out, *out_capacity).
 * False: *why says why. */
bool masu__model_write_tflite(const masu__model *model, const void *bytes, size_t length, const int32_t *offsets,
                              const size_t *order, void **out, size_t *out_length, size_t *out_capacity,
                              masu__buffer *why);

/* ---- programs (import/) ------------------------------------------------------------------------------- */

/* False: the bytes could not be kept. */
typedef bool masu__model_write(void *context, const void *bytes, size_t length);

/* An .onnx file as a program of the language, appended to *program; what write is given, in order, is the .safetensors
 * file of its weights: nothing where it has none. title: what the program says that it was made of. widen: float16
 * and bfloat16 are computed with as f32, which rounds less than the network says; otherwise they are only moved.
 * False: *why says why, in one line; what program and write were given is then to be thrown away. Cost: the
 * reader's, and one look at each operator. */
bool masu__model_import(const void *bytes, size_t length, masu__model_dim *dims, size_t dim_count, const char *title,
                        bool widen, masu__buffer *program, masu__model_write *write, void *context, masu__buffer *why);

#ifdef __cplusplus
}
#endif

#endif
