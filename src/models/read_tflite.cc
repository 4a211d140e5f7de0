/* read_tflite.cc: a .tflite file as a model. The one reader in C++: FlatBuffers' verifier, which proves that every
 * offset of the file stays in it, exists for C++ only in Debian 12. Nothing is looked at before it has said yes.
 *
 * The verifier knows nothing of what numbers mean: buffers, operator codes, tensors and graphs that the file names are
 * compared with their counts here. Tables may be shared, so a short file can describe far more than it holds; counts
 * are limited.
 */
#include <string.h>

#include <tflite_generated.h>

#include "models/model_formats.h"

namespace {

using namespace masu::tflite;

enum {
    CODE_CUSTOM = 32,
    CODE_IF = 118,
    CODE_WHILE = 119,
    CODE_CALL_ONCE = 129,
    CODE_PLACEHOLDER = 127,
    OPTIONS_IF = 92,
    OPTIONS_WHILE = 93,
    OPTIONS_CALL_ONCE = 103,
    OPTIONS_FIELD = 4 + 2 * 4, /* of the table Operator, as FlatBuffers counts */
};

struct type_row {
    const char *name;
    unsigned bits;
};

/* As TensorFlow Lite Micro lays them out: int4 takes a byte. */
const type_row types[] = {
    {"float32", 32},   {"float16", 16}, {"int32", 32},     {"uint8", 8},    {"int64", 64},  {"string", 0},
    {"bool", 8},       {"int16", 16},   {"complex64", 64}, {"int8", 8},     {"float64", 64}, {"complex128", 128},
    {"uint64", 64},    {"resource", 32}, {"variant", 0},   {"uint32", 32},  {"uint16", 16}, {"int4", 8},
    {"bfloat16", 16},  {"int2", 8},     {"uint4", 8},      {"float8e4m3fn", 8}, {"float8e5m2", 8},
};

struct reader {
    const Model *file;
    const uint8_t *bytes;
    size_t length;
    flatbuffers::Verifier *verifier;
    masu__model *out;
    masu__buffer *why;
    size_t edges;
};

template <typename T> T *many(reader *r, size_t count) {
    return static_cast<T *>(masu__arena_calloc(&r->out->arena, count + 1, sizeof(T), 16));
}

bool no_memory(reader *r) { return masu__model_refuse(r->why, "out of memory"); }

masu__model_text text_of(const flatbuffers::String *text) {
    return text ? masu__model_text{text->c_str(), text->size()} : masu__model_text{"", 0};
}

template <typename V> size_t size_of(const V *vector) { return vector ? vector->size() : 0; }

/* ---- tensors --------------------------------------------------------------------------------- */

const Buffer *buffer_of(const reader *r, uint32_t number) {
    return number < size_of(r->file->buffers()) ? r->file->buffers()->Get(number) : nullptr;
}

bool read_shape(reader *r, const Tensor *from, masu__model_tensor *to, size_t number) {
    const auto *shape = from->shape();
    const auto *signature = from->shape_signature();
    to->rank = size_of(shape);
    to->has_shape = true;
    if (to->rank > MASU__MODEL_MOST_RANK)
        return masu__model_refuse(r->why, "tensor %zu has %zu dimensions; at most %d are read", number, to->rank, MASU__MODEL_MOST_RANK);
    to->dims = many<int64_t>(r, to->rank);
    if (!to->dims)
        return no_memory(r);
    for (size_t i = 0; i < to->rank; i++) {
        to->dims[i] = shape->Get(i);
        if (to->dims[i] < MASU__MODEL_OPEN)
            return masu__model_refuse(r->why, "tensor %zu has a dimension of %lld", number, (long long)to->dims[i]);
        to->is_open |= i < size_of(signature) && signature->Get(i) < 0;
    }
    return masu__model_measure(to) || masu__model_refuse(r->why, "tensor %zu is larger than 2^62 bytes", number);
}

bool read_tensor(reader *r, const Tensor *from, size_t graph, size_t number) {
    masu__model_tensor *to = &r->out->tensors[number];
    const size_t known = sizeof types / sizeof *types;
    to->name = text_of(from->name());
    to->graph = graph;
    to->type = from->type() < known ? types[from->type()].name : "?";
    to->bits = from->type() < known ? types[from->type()].bits : 0;
    to->is_variable = from->is_variable();
    const Buffer *buffer = buffer_of(r, from->buffer());
    if (!buffer && (from->buffer() != 0 || r->file->buffers()))
        return masu__model_refuse(r->why, "tensor %zu is in buffer %u; there are %zu", number, from->buffer(), size_of(r->file->buffers()));
    to->is_constant = (buffer && (size_of(buffer->data()) > 0 || buffer->offset() > 1)) || from->external_buffer() != 0;
    return read_shape(r, from, to, number);
}

/* ---- operators ------------------------------------------------------------------------------- */

bool read_numbers(reader *r, const flatbuffers::Vector<int32_t> *from, const masu__model_graph *g, bool may_miss, const char *what,
                  int32_t **out, size_t *count) {
    *count = size_of(from);
    r->edges += *count;
    if (r->edges > 4u * MASU__MODEL_MOST_THINGS)
        return masu__model_refuse(r->why, "more than %d places name a tensor", 4 * MASU__MODEL_MOST_THINGS);
    *out = many<int32_t>(r, *count);
    if (!*out)
        return no_memory(r);
    for (size_t i = 0; i < *count; i++) {
        int32_t tensor = from->Get(i);
        bool is_there = tensor >= 0 && (size_t)tensor < g->tensor_count;
        if (!is_there && !(may_miss && tensor == MASU__MODEL_NONE))
            return masu__model_refuse(r->why, "%s names tensor %d; its graph has %zu", what, tensor, g->tensor_count);
        (*out)[i] = is_there ? (int32_t)g->tensor_begin + tensor : MASU__MODEL_NONE;
    }
    return true;
}

const Bodies *bodies_of(reader *r, const Operator *op, uint8_t kind) {
    const auto *table = reinterpret_cast<const flatbuffers::Table *>(op);
    if (op->options_kind() != kind || !table->VerifyOffset(*r->verifier, OPTIONS_FIELD))
        return nullptr;
    const auto *bodies = table->GetPointer<const Bodies *>(OPTIONS_FIELD);
    return bodies && bodies->Verify(*r->verifier) ? bodies : nullptr;
}

bool read_bodies(reader *r, const Operator *from, int64_t code, masu__model_operator *to, const char *what) {
    if (code != CODE_IF && code != CODE_WHILE && code != CODE_CALL_ONCE)
        return true;
    const Bodies *bodies = bodies_of(r, from, code == CODE_IF ? OPTIONS_IF : code == CODE_WHILE ? OPTIONS_WHILE : OPTIONS_CALL_ONCE);
    if (!bodies)
        return masu__model_refuse(r->why, "%s does not say which graphs it runs", what);
    int32_t numbers[] = {bodies->first(), bodies->second()};
    to->body_count = code == CODE_CALL_ONCE ? 1 : 2;
    for (size_t i = 0; i < to->body_count; i++) {
        if (numbers[i] < 0 || (size_t)numbers[i] >= r->out->graph_count)
            return masu__model_refuse(r->why, "%s runs graph %d; there are %zu", what, numbers[i], r->out->graph_count);
        to->bodies[i] = (size_t)numbers[i];
    }
    return true;
}

bool read_operator(reader *r, const Operator *from, const masu__model_graph *g, masu__model_operator *to, const char *what) {
    if (from->opcode_index() >= size_of(r->file->operator_codes()))
        return masu__model_refuse(r->why, "%s has operator code %u; there are %zu", what, from->opcode_index(),
                                  size_of(r->file->operator_codes()));
    const OperatorCode *row = r->file->operator_codes()->Get(from->opcode_index());
    /* Old files have the small field, new ones both: the larger is meant. */
    int64_t code = row->deprecated_builtin_code() > row->builtin_code() ? row->deprecated_builtin_code() : row->builtin_code();
    const char *known = masu__model_tflite_operator(code);
    to->is_custom = code == CODE_CUSTOM || !known;
    to->name = masu__model_text{"", 0};
    to->domain = masu__model_text{"", 0};
    to->type = code == CODE_CUSTOM && row->custom_code() ? text_of(row->custom_code())
                                                         : masu__model_text{known ? known : "?", known ? strlen(known) : 1};
    return read_numbers(r, from->inputs(), g, true, what, &to->inputs, &to->input_count) &&
           read_numbers(r, from->outputs(), g, false, what, &to->outputs, &to->output_count) && read_bodies(r, from, code, to, what);
}

/* ---- graphs ---------------------------------------------------------------------------------- */

bool read_graph(reader *r, size_t number) {
    const SubGraph *from = r->file->subgraphs()->Get(number);
    masu__model_graph *to = &r->out->graphs[number];
    char what[64];
    to->operator_count = size_of(from->operators());
    to->operators = many<masu__model_operator>(r, to->operator_count);
    if (!to->operators)
        return no_memory(r);
    snprintf(what, sizeof what, "graph %zu", number);
    if (!read_numbers(r, from->inputs(), to, true, what, &to->inputs, &to->input_count) ||
        !read_numbers(r, from->outputs(), to, true, what, &to->outputs, &to->output_count))
        return false;
    for (size_t i = 0; i < to->operator_count; i++) {
        snprintf(what, sizeof what, "operator %zu of graph %zu", i, number);
        if (!read_operator(r, from->operators()->Get(i), to, &to->operators[i], what))
            return false;
    }
    return true;
}

/* Tensors of all graphs first: operators name those of their own graph by its first. */
bool count_all(reader *r) {
    masu__model *m = r->out;
    size_t operators = 0;
    m->graph_count = size_of(r->file->subgraphs());
    if (m->graph_count == 0)
        return masu__model_refuse(r->why, "the file has no graph");
    if (m->graph_count > MASU__MODEL_MOST_THINGS)
        return masu__model_refuse(r->why, "more than %d graphs", MASU__MODEL_MOST_THINGS);
    m->graphs = many<masu__model_graph>(r, m->graph_count);
    if (!m->graphs)
        return no_memory(r);
    for (size_t i = 0; i < m->graph_count; i++) {
        const SubGraph *graph = r->file->subgraphs()->Get(i);
        m->graphs[i].name = text_of(graph->name());
        m->graphs[i].tensor_begin = m->tensor_count;
        m->graphs[i].tensor_count = size_of(graph->tensors());
        m->tensor_count += size_of(graph->tensors());
        operators += size_of(graph->operators());
        if (m->tensor_count > MASU__MODEL_MOST_THINGS || operators > MASU__MODEL_MOST_THINGS)
            return masu__model_refuse(r->why, "more than %d tensors or operators", MASU__MODEL_MOST_THINGS);
    }
    m->tensors = many<masu__model_tensor>(r, m->tensor_count);
    return m->tensors || no_memory(r);
}

bool read_graphs(reader *r) {
    masu__model *m = r->out;
    for (size_t g = 0, number = 0; g < m->graph_count; g++)
        for (size_t i = 0; i < m->graphs[g].tensor_count; i++, number++)
            if (!read_tensor(r, r->file->subgraphs()->Get(g)->tensors()->Get(i), g, number))
                return false;
    for (size_t g = 0; g < m->graph_count; g++)
        if (!read_graph(r, g))
            return false;
    return true;
}

/* ---- the offline plan ------------------------------------------------------------------------ */

int32_t word_at(const uint8_t *at) {
    return (int32_t)(at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24);
}

/* The runtime looks for this name and takes the last that has it. */
bool read_offline(reader *r) {
    static const char name[] = "OfflineMemoryAllocation";
    const Metadata *found = nullptr;
    for (size_t i = 0; i < size_of(r->file->metadata()); i++) {
        const Metadata *row = r->file->metadata()->Get(i);
        masu__model_text text = text_of(row->name());
        if (text.length == sizeof name - 1 && memcmp(text.at, name, text.length) == 0)
            found = row;
    }
    if (!found)
        return true;
    masu__model_offline *o = &r->out->offline;
    const Buffer *buffer = buffer_of(r, found->buffer());
    if (!buffer)
        return masu__model_refuse(r->why, "the offline plan is in buffer %u; there are %zu", found->buffer(), size_of(r->file->buffers()));
    o->is_there = true;
    o->byte_count = size_of(buffer->data());
    const uint8_t *at = o->byte_count ? buffer->data()->data() : r->bytes;
    o->is_aligned = (size_t)(at - r->bytes) % 16 == 0;
    int32_t head[3] = {0, 0, 0};
    for (size_t i = 0; i < 3 && 4 * i + 4 <= o->byte_count; i++)
        head[i] = word_at(at + 4 * i);
    o->version = head[0], o->graph_count = head[1], o->count = head[2];
    o->offset_count = o->byte_count > 12 ? (o->byte_count - 12) / 4 : 0;
    int32_t *offsets = many<int32_t>(r, o->offset_count);
    if (!offsets)
        return no_memory(r);
    for (size_t i = 0; i < o->offset_count; i++)
        offsets[i] = word_at(at + 12 + 4 * i);
    o->offsets = offsets;
    return true;
}

} // namespace

bool masu__model_read_tflite(const void *bytes, size_t length, masu__model *out, masu__buffer *why) {
    const uint8_t *at = static_cast<const uint8_t *>(bytes);
    if (length < 8 || memcmp(at + 4, "TFL3", 4) != 0)
        return masu__model_refuse(why, "not a TensorFlow Lite file: there is no TFL3 at its fourth byte");
    flatbuffers::Verifier verifier(at, length, 32, MASU__MODEL_MOST_THINGS);
    if (!VerifyModelBuffer(verifier))
        return masu__model_refuse(why, "FlatBuffers' verifier refuses the file: it is cut short or damaged, or has more than %d tables",
                                  MASU__MODEL_MOST_THINGS);
    reader r = {GetModel(bytes), at, length, &verifier, out, why, 0};
    return count_all(&r) && read_graphs(&r) && read_offline(&r);
}
