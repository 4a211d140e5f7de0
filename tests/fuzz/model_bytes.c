/* Bytes as a network's file: the reader refuses it with words, or what it gives holds: every number names something
 * that is there, sizes follow from shapes, lives have an order, and a .tflite file with a plan written into it is one
 * that the reader takes, with that plan. An .onnx file becomes a program, or is refused with words.
 *
 *     scripts/fuzz_models.sh BUILD SECONDS      builds this with libFuzzer, once a format (FUZZ_FORMAT), and runs each
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/meta.h"
#include "models/models.h"

#ifndef FUZZ_FORMAT
#define FUZZ_FORMAT MASU__MODEL_TFLITE
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool holds) {
    if (!holds)
        abort();
}

static void demand_tensors(const masu__model *m) {
    for (size_t i = 0; i < m->tensor_count; i++) {
        const masu__model_tensor *t = &m->tensors[i];
        uint64_t elements = 1;
        demand(t->graph < m->graph_count && t->rank <= MASU__MODEL_MOST_RANK && t->type);
        for (size_t k = 0; k < t->rank; k++) {
            demand(t->dims[k] >= MASU__MODEL_OPEN);
            demand(!t->has_bytes || t->dims[k] >= 0);
            elements *= t->has_bytes ? (uint64_t)t->dims[k] : 1;
        }
        demand(!t->has_bytes ||
               (t->bits > 0 && t->bytes == (elements * t->bits + 7) / 8 && t->bytes <= (uint64_t)1 << 59));
        demand(!t->values || t->value_count <= 4096);
        demand(memchr(t->name.at, 0, t->name.length + 1) != NULL);
    }
}

static void demand_numbers(const masu__model *m, const int32_t *numbers, size_t count) {
    for (size_t i = 0; i < count; i++)
        demand(numbers[i] == MASU__MODEL_NONE || (numbers[i] >= 0 && (size_t)numbers[i] < m->tensor_count));
}

static void demand_graphs(const masu__model *m) {
    for (size_t g = 0; g < m->graph_count; g++) {
        demand_numbers(m, m->graphs[g].inputs, m->graphs[g].input_count);
        demand_numbers(m, m->graphs[g].outputs, m->graphs[g].output_count);
        for (size_t k = 0; k < m->graphs[g].operator_count; k++) {
            const masu__model_operator *op = &m->graphs[g].operators[k];
            demand_numbers(m, op->inputs, op->input_count);
            demand_numbers(m, op->outputs, op->output_count);
            demand(op->body_count <= MASU__MODEL_MOST_BODIES && op->type.length < ((size_t)1 << 31));
            for (size_t i = 0; i < op->body_count; i++)
                demand(op->bodies[i] < m->graph_count);
            for (size_t i = 0; i < op->input_count; i++)
                (void)masu__model_sharing_of(m, op, i);
            (void)masu__model_may_move(m, op);
        }
    }
}

static void demand_lives(masu__model *m) {
    masu__buffer why = {0};
    masu__model_lives lives;
    if (!masu__model_lives_find(m, NULL, &lives, &why)) {
        demand(why.length > 0);
        masu__buffer_destroy(&why);
        return;
    }
    for (size_t i = 0; i < m->tensor_count; i++)
        demand(lives.tensors[i].first <= lives.tensors[i].last || lives.tensors[i].last < 0);
    for (size_t k = 0; k < lives.moment_count; k++)
        demand(lives.moments[k].begin <= lives.moments[k].end && lives.moments[k].end <= lives.end &&
               (k == 0 || lives.moments[k - 1].begin < lives.moments[k].begin));
}

static void rewrite(masu__model *m, const uint8_t *data, size_t size) {
    masu__buffer why = {0};
    size_t operators = m->graphs[0].operator_count, length, capacity;
    size_t *order = masu__arena_calloc(&m->arena, operators + 1, sizeof *order, 16);
    int32_t *offsets = masu__arena_calloc(&m->arena, m->tensor_count + 1, sizeof *offsets, 16);
    void *bytes;
    demand(order && offsets);
    for (size_t k = 0; k < operators; k++)
        order[k] = operators - 1 - k;
    for (size_t i = 0; i < m->tensor_count; i++)
        offsets[i] = (int32_t)i * 16 - 16;
    if (!masu__model_write_tflite(m, data, size, offsets, order, &bytes, &length, &capacity, &why)) {
        demand(why.length > 0);
        masu__buffer_destroy(&why);
        return;
    }
    masu__model again;
    demand(masu__model_read(MASU__MODEL_TFLITE, bytes, length, NULL, 0, &again, &why));
    demand(again.tensor_count == m->tensor_count && again.graph_count == m->graph_count && again.offline.is_there &&
           again.offline.is_aligned);
    demand((size_t)again.offline.count == m->tensor_count && again.offline.offset_count == m->tensor_count);
    demand(memcmp(again.offline.offsets, offsets, m->tensor_count * sizeof *offsets) == 0);
    for (size_t k = 0; k < operators; k++)
        demand(again.graphs[0].operators[k].type.length == m->graphs[0].operators[order[k]].type.length);
    masu__model_free(&again);
    masu__meta_free(bytes, capacity);
}

static bool count_bytes(void *context, const void *bytes, size_t length) {
    demand(bytes || length == 0);
    *(size_t *)context += length;
    return true;
}

static void import(const uint8_t *data, size_t size, masu__model_dim *dims) {
    masu__buffer program = {0}, why = {0};
    size_t written = 0;
    bool right = masu__model_import(data, size, dims, 2, "fuzz.onnx", size % 2 == 1, &program, count_bytes, &written,
                                    &why);
    demand(right ? why.length == 0 && program.length > 0 : why.length > 0 && !strchr(masu__buffer_text(&why), '\n'));
    masu__buffer_destroy(&program);
    masu__buffer_destroy(&why);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint64_t live = masu__meta_live_blocks();
    masu__model_dim dims[] = {{{"batch", 5}, 2, false}, {{"x:0", 3}, 3, false}};
    masu__model model;
    masu__buffer why = {0};
    if (masu__model_read(FUZZ_FORMAT, data, size, dims, 2, &model, &why)) {
        demand(why.length == 0);
        demand_tensors(&model);
        demand_graphs(&model);
        demand_lives(&model);
        if (FUZZ_FORMAT == MASU__MODEL_TFLITE)
            rewrite(&model, data, size);
        masu__model_free(&model);
    } else {
        demand(why.length > 0);
    }
    masu__buffer_destroy(&why);
    if (FUZZ_FORMAT == MASU__MODEL_ONNX)
        import(data, size, dims);
    demand(masu__meta_live_blocks() == live);
    return 0;
}
