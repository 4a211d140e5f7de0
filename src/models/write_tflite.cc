/* write_tflite.cc: a .tflite file with an offline plan for TensorFlow Lite Micro.
 *
 *     new file   [ root | Model | buffers, metadata | plan ] [ the old file, shifted ]
 *                            └──────────── offsets only point forward ────────►
 *
 * Nothing of the old file is taken apart: it keeps its bytes (but for the order of operators, which is an order of
 * offsets), and a new Model in front of it points to its tables. So what masu does not know is carried over. The old
 * Model remains, unused.
 */
#include <string.h>

#include <tflite_generated.h>

#include "models/model_formats.h"

extern "C" {
#include "base/meta.h"
}

namespace {

using namespace masu::tflite;

enum { ALIGNMENT = 16, MODEL_FIELDS = 10, HEAD_WORDS = 3 };

const char plan_name[] = "OfflineMemoryAllocation";

/* Hands out one block that is large enough; the builder never asks for another. */
class one_block : public flatbuffers::Allocator {
public:
    one_block(uint8_t *block, size_t bytes) : block_(block), bytes_(bytes) {}
    uint8_t *allocate(size_t size) override {
        return size <= bytes_ ? block_ : nullptr;
    }
    void deallocate(uint8_t *, size_t) override {}

private:
    uint8_t *block_;
    size_t bytes_;
};

struct writer {
    const Model *old;
    const uint8_t *bytes; /* of the old file, without what is behind its last whole word */
    size_t length;        /* a multiple of ALIGNMENT */
    flatbuffers::FlatBufferBuilder *builder;
};

/* The builder counts from the end. */
template <typename T> flatbuffers::Offset<T> carried(const writer *w, const T *table) {
    return table ? flatbuffers::Offset<T>((flatbuffers::uoffset_t)(w->length - (size_t)((const uint8_t *)table - w->bytes))) : 0;
}

template <typename T> size_t size_of(const T *vector) { return vector ? vector->size() : 0; }

bool is_plan(const Metadata *row) {
    return row->name() && row->name()->size() == sizeof plan_name - 1 && memcmp(row->name()->c_str(), plan_name, sizeof plan_name - 1) == 0;
}

/* Data outside of the tables is found by its place in the file, which moves. */
bool is_movable(const Model *m, masu__buffer *why) {
    const auto *table = reinterpret_cast<const flatbuffers::Table *>(m);
    const uint8_t *vtable = table->GetVTable();
    if (flatbuffers::ReadScalar<flatbuffers::voffset_t>(vtable) > 4 + 2 * MODEL_FIELDS)
        return masu__model_refuse(why, "the file's Model has fields that are not known here: they would be lost");
    for (size_t i = 0; i < size_of(m->buffers()); i++)
        if (m->buffers()->Get((uint32_t)i)->offset() > 1)
            return masu__model_refuse(why, "buffer %zu is outside of the tables, at a place in the file that would move", i);
    for (size_t g = 0; g < size_of(m->subgraphs()); g++)
        for (size_t k = 0; k < size_of(m->subgraphs()->Get((uint32_t)g)->operators()); k++)
            if (m->subgraphs()->Get((uint32_t)g)->operators()->Get((uint32_t)k)->large_custom_options_offset() > 1)
                return masu__model_refuse(why, "operator %zu has options outside of the tables, at a place in the file that would move", k);
    return true;
}

flatbuffers::Offset<Buffer> add_plan(writer *w, const masu__model *model, const int32_t *offsets) {
    uint8_t *at;
    size_t bytes = 4 * (HEAD_WORDS + model->tensor_count);
    w->builder->ForceVectorAlignment(bytes, 1, ALIGNMENT);
    auto data = w->builder->CreateUninitializedVector(bytes, 1, &at);
    const int32_t head[HEAD_WORDS] = {0, (int32_t)model->graph_count, (int32_t)model->tensor_count};
    for (size_t i = 0; i < HEAD_WORDS + model->tensor_count; i++)
        flatbuffers::WriteScalar<int32_t>(at + 4 * i, i < HEAD_WORDS ? head[i] : offsets[i - HEAD_WORDS]);
    return CreateBuffer(*w->builder, data);
}

template <typename T, typename K>
flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<T>>> list(writer *w, const flatbuffers::Vector<flatbuffers::Offset<T>> *old,
                                                                      K keep, flatbuffers::Offset<T> last) {
    size_t kept = 0;
    for (size_t i = 0; i < size_of(old); i++)
        kept += keep(old->Get((uint32_t)i));
    w->builder->StartVector(kept + 1, sizeof(flatbuffers::uoffset_t));
    w->builder->PushElement(last); /* from the end */
    for (size_t i = size_of(old); i-- > 0;)
        if (keep(old->Get((uint32_t)i)))
            w->builder->PushElement(carried(w, old->Get((uint32_t)i)));
    return flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<T>>>(w->builder->EndVector(kept + 1));
}

void build(writer *w, const masu__model *model, const int32_t *offsets) {
    auto *b = w->builder;
    const Model *m = w->old;
    b->PushBytes(w->bytes, w->length);
    auto plan = add_plan(w, model, offsets);
    auto name = b->CreateString(plan_name, sizeof plan_name - 1);
    auto row = CreateMetadata(*b, name, (uint32_t)size_of(m->buffers()));
    auto buffers = list(w, m->buffers(), [](const Buffer *) { return true; }, plan);
    auto metadata = list(w, m->metadata(), [](const Metadata *old) { return !is_plan(old); }, row);
    ModelBuilder made(*b);
    made.add_version(m->version());
    made.add_operator_codes(carried(w, m->operator_codes()));
    made.add_subgraphs(carried(w, m->subgraphs()));
    made.add_description(carried(w, m->description()));
    made.add_buffers(buffers);
    made.add_metadata_buffer(carried(w, m->metadata_buffer()));
    made.add_metadata(metadata);
    made.add_signature_defs(carried(w, m->signature_defs()));
    made.add_external_buffer_groups(carried(w, m->external_buffer_groups()));
    made.add_external_buffers(carried(w, m->external_buffers()));
    FinishModelBuffer(*b, made.Finish());
}

/* Operators in another order: their offsets change places, each counted from its own. */
void permute(uint8_t *copy, const uint8_t *bytes, const Model *m, const size_t *order) {
    const auto *old = m->subgraphs()->Get(0)->operators();
    for (size_t k = 0; order && k < size_of(old); k++) {
        size_t element = (size_t)(old->Data() - bytes) + 4 * k;
        size_t target = (size_t)((const uint8_t *)old->Get((uint32_t)order[k]) - bytes);
        flatbuffers::WriteScalar<uint32_t>(copy + element, (uint32_t)(target - element));
    }
}

/* An offset cannot point backwards: an operator inside or before the list of operators stays out of it. */
bool may_permute(const uint8_t *bytes, const Model *m, masu__buffer *why) {
    const auto *old = m->subgraphs()->Get(0)->operators();
    if (!old)
        return true;
    size_t end = (size_t)(old->Data() - bytes) + 4 * size_of(old);
    for (size_t k = 0; k < size_of(old); k++)
        if ((size_t)((const uint8_t *)old->Get((uint32_t)k) - bytes) < end)
            return masu__model_refuse(why, "the file's operators lie inside their own list");
    return true;
}

bool same_numbers(const int32_t *a, size_t count, const int32_t *b, size_t b_count) {
    return count == b_count && (count == 0 || memcmp(a, b, count * sizeof *a) == 0);
}

/* Lists of a file may share bytes: an order written into one of them must not have changed another. */
bool says_the_same(const masu__model *model, const size_t *order, const uint8_t *made, size_t length) {
    masu__model again;
    masu__buffer ignored = {};
    bool same = masu__model_read(MASU__MODEL_TFLITE, made, length, NULL, 0, &again, &ignored);
    masu__buffer_destroy(&ignored);
    if (!same)
        return false;
    same = again.tensor_count == model->tensor_count && again.graph_count == model->graph_count;
    for (size_t i = 0; same && i < model->tensor_count; i++)
        same = again.tensors[i].bytes == model->tensors[i].bytes && again.tensors[i].is_constant == model->tensors[i].is_constant;
    for (size_t g = 0; same && g < model->graph_count; g++) {
        same = again.graphs[g].operator_count == model->graphs[g].operator_count;
        for (size_t k = 0; same && k < model->graphs[g].operator_count; k++) {
            const masu__model_operator *now = &again.graphs[g].operators[k];
            const masu__model_operator *then = &model->graphs[g].operators[g == 0 && order ? order[k] : k];
            same = now->type.length == then->type.length && memcmp(now->type.at, then->type.at, now->type.length) == 0 &&
                   same_numbers(now->inputs, now->input_count, then->inputs, then->input_count) &&
                   same_numbers(now->outputs, now->output_count, then->outputs, then->output_count);
        }
    }
    masu__model_free(&again);
    return same;
}

} // namespace

bool masu__model_write_tflite(const masu__model *model, const void *bytes, size_t length, const int32_t *offsets, const size_t *order,
                              void **out, size_t *out_length, size_t *out_capacity, masu__buffer *why) {
    const Model *old = GetModel(bytes);
    if (!is_movable(old, why) || (order && !may_permute(static_cast<const uint8_t *>(bytes), old, why)))
        return false;
    size_t padded = (length + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    size_t added = 4096 + 8 * (model->tensor_count + size_of(old->buffers()) + size_of(old->metadata()));
    size_t room = (padded + added + 63) / 64 * 64;
    if (room > (size_t)INT32_MAX)
        return masu__model_refuse(why, "the file would be larger than FlatBuffers allow: 2^31 bytes");
    uint8_t *copy = static_cast<uint8_t *>(masu__meta_calloc(1, padded));
    uint8_t *block = static_cast<uint8_t *>(masu__meta_calloc(1, room));
    uint8_t *made = NULL;
    if (copy && block) {
        memcpy(copy, bytes, length);
        permute(copy, static_cast<const uint8_t *>(bytes), old, order);
        one_block allocator(block, room);
        flatbuffers::FlatBufferBuilder builder(room, &allocator, false);
        writer w = {GetModel(copy), copy, padded, &builder};
        build(&w, model, offsets);
        *out_length = builder.GetSize();
        made = static_cast<uint8_t *>(masu__meta_alloc(*out_length));
        if (made)
            memcpy(made, builder.GetBufferPointer(), *out_length);
    }
    masu__meta_free(copy, copy ? padded : 0);
    masu__meta_free(block, block ? room : 0);
    if (made && order && !says_the_same(model, order, made, *out_length)) {
        masu__meta_free(made, *out_length);
        return masu__model_refuse(why, "the file's lists share bytes: its operators cannot change their order");
    }
    *out = made;
    *out_capacity = made ? *out_length : 0;
    return made || masu__model_refuse(why, "out of memory");
}
