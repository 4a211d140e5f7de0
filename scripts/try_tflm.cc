// try_tflm.cc: runs a network with TensorFlow Lite Micro's own interpreter, and says what its planner is asked and where buffers come to lie.
//
//     try_tflm MODEL            buffer SIZE FIRST LAST OFFSET … head BYTES, output NUMBER HASH …
//
// With -DPLAN_HEADER="net_plan.h" -DPLAN=net it is the program of one network whose plan masu wrote as a header: the
// shim gives out offsets in two memories. scripts/try_tflm.sh builds and compares.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tensorflow/lite/micro/memory_planner/greedy_memory_planner.h"
#include "tensorflow/lite/micro/memory_planner/non_persistent_buffer_planner_shim.h"
#include "tensorflow/lite/micro/micro_allocator.h"
#include "tensorflow/lite/micro/micro_interpreter.h"
#include "tensorflow/lite/micro/micro_mutable_op_resolver.h"
#include "tensorflow/lite/micro/micro_resource_variable.h"
#include "tensorflow/lite/schema/schema_generated.h"

#ifdef PLAN_HEADER
#include PLAN_HEADER
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#endif

namespace {

// Lets the runtime's planner do its work and writes down what it is asked.
class Watched : public tflite::MicroMemoryPlanner {
public:
    explicit Watched(tflite::MicroMemoryPlanner *inner) : inner_(inner) {}
    TfLiteStatus AddBuffer(int size, int first, int last) override {
        rows.push_back({size, first, last, -1});
        return inner_->AddBuffer(size, first, last);
    }
    TfLiteStatus AddBuffer(int size, int first, int last, int offset) override {
        rows.push_back({size, first, last, -1});
        return inner_->AddBuffer(size, first, last, offset);
    }
    size_t GetMaximumMemorySize() override { return head = inner_->GetMaximumMemorySize(); }
    int GetBufferCount() override { return inner_->GetBufferCount(); }
    TfLiteStatus GetOffsetForBuffer(int index, int *offset) override {
        TfLiteStatus status = inner_->GetOffsetForBuffer(index, offset);
        rows[(size_t)index].offset = *offset;
        return status;
    }
    TfLiteStatus Init(unsigned char *scratch, int size) override {
        rows.clear();
        return inner_->Init(scratch, size);
    }
    bool preserves_all_tensors() const override { return inner_->preserves_all_tensors(); }

    struct row {
        int size, first, last, offset;
    };
    std::vector<row> rows;
    size_t head = 0;

private:
    tflite::MicroMemoryPlanner *inner_;
};

std::vector<char> read_file(const char *path) {
    std::vector<char> bytes;
    FILE *file = fopen(path, "rb");
    if (!file)
        return bytes;
    fseek(file, 0, SEEK_END);
    bytes.resize((size_t)ftell(file));
    rewind(file);
    if (fread(bytes.data(), 1, bytes.size(), file) != bytes.size())
        bytes.clear();
    fclose(file);
    return bytes;
}

uint64_t drawn = 88172645463325252u;

uint64_t draw() {
    drawn ^= drawn << 13;
    drawn ^= drawn >> 7;
    drawn ^= drawn << 17;
    return drawn;
}

void fill(TfLiteTensor *t) {
    if (t->type == kTfLiteFloat32)
        for (size_t i = 0; i < t->bytes / 4; i++)
            t->data.f[i] = (float)(int64_t)(draw() % 2001 - 1000) / 1000;
    else
        for (size_t i = 0; i < t->bytes; i++)
            t->data.uint8[i] = (uint8_t)draw();
}

uint64_t hash(const TfLiteTensor *t) {
    uint64_t value = 14695981039346656037u;
    for (size_t i = 0; i < t->bytes; i++)
        value = (value ^ t->data.uint8[i]) * 1099511628211u;
    return value;
}

using Resolver = tflite::MicroMutableOpResolver<64>;

void add_operators(Resolver &r) {
    r.AddAdd(), r.AddAveragePool2D(), r.AddCallOnce(), r.AddConcatenation(), r.AddConv2D(), r.AddDepthwiseConv2D(), r.AddDequantize();
    r.AddExpandDims(), r.AddFullyConnected(), r.AddHardSwish(), r.AddIf(), r.AddLogistic(), r.AddMaxPool2D(), r.AddMaximum(), r.AddMean();
    r.AddMinimum(), r.AddMul(), r.AddPad(), r.AddPrelu(), r.AddQuantize(), r.AddRelu(), r.AddRelu6(), r.AddReshape(), r.AddResizeBilinear();
    r.AddSoftmax(), r.AddSqueeze(), r.AddStridedSlice(), r.AddSub(), r.AddSvdf(), r.AddTanh(), r.AddTranspose(), r.AddWhile();
    r.AddVarHandle(), r.AddReadVariable(), r.AddAssignVariable(), r.AddUnidirectionalSequenceLSTM(), r.AddDiv(), r.AddCast(), r.AddAbs();
    r.AddWindow(), r.AddFftAutoScale(), r.AddRfft(), r.AddEnergy(), r.AddFilterBank(), r.AddFilterBankSquareRoot(), r.AddFilterBankLog();
    r.AddFilterBankSpectralSubtraction(), r.AddPCAN(), r.AddFramer(), r.AddStacker(), r.AddOverlapAdd(), r.AddDelay(), r.AddIrfft();
}

int run(tflite::MicroInterpreter &interpreter) {
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < interpreter.inputs_size(); i++)
            fill(interpreter.input(i));
        if (interpreter.Invoke() != kTfLiteOk)
            return 4;
        for (size_t i = 0; i < interpreter.outputs_size(); i++)
            printf("output %d.%zu %016llx\n", round, i, (unsigned long long)hash(interpreter.output(i)));
    }
    return 0;
}

alignas(16) uint8_t arena[64 << 20];
#ifdef PLAN_HEADER
alignas(16) uint8_t slow[64 << 20];
#endif

} // namespace

int main(int argc, char **argv) {
    std::vector<char> bytes = read_file(argc > 1 ? argv[1] : "");
    if (bytes.empty())
        return 1;
    Resolver resolver;
    add_operators(resolver);
#ifdef PLAN_HEADER
    static JOIN(PLAN, _buffer_plan) plan;
    const void *const memories[] = {arena, slow};
    if (!JOIN(PLAN, _fill)(&plan, memories))
        return 2;
    tflite::NonPersistentMemoryPlannerShim planner(reinterpret_cast<const tflite::BufferPlan *>(&plan));
#else
    tflite::GreedyMemoryPlanner planner;
#endif
    Watched watched(&planner);
    tflite::MicroAllocator *allocator = tflite::MicroAllocator::Create(arena, sizeof arena, &watched);
    tflite::MicroResourceVariables *variables = tflite::MicroResourceVariables::Create(allocator, 16);
    tflite::MicroInterpreter interpreter(tflite::GetModel(bytes.data()), resolver, allocator, variables);
    if (interpreter.AllocateTensors() != kTfLiteOk)
        return 3;
    for (const Watched::row &row : watched.rows)
        printf("buffer %d %d %d %d\n", row.size, row.first, row.last, row.offset);
    printf("head %zu\n", watched.head);
    return run(interpreter);
}
