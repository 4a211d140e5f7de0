/* operator_rules.c: what an operator's output may do with the bytes of an input, and what may run at another place.
 *
 * In place: element i of the output depends on element i of the input (and on inputs that are smaller, or of other
 * buffers), and is written after it was read. So it is with the kernels of TensorFlow Lite Micro and of onnxruntime for
 * the operators below; a sum over a row (Softmax) is over before the row is written. A view is the same bytes under
 * another shape.
 */
#include <string.h>

#include "models/models.h"

typedef struct rule {
    const char *type;
    masu__model_sharing sharing;
    bool first_only; /* the other inputs are parameters, or are read out of step */
} rule;

#define ANY   MASU__MODEL_IN_PLACE, false
#define FIRST MASU__MODEL_IN_PLACE, true
#define VIEW  MASU__MODEL_VIEW, true

/* clang-format off */
static const rule tflite_rules[] = {
    {"RESHAPE", VIEW}, {"SQUEEZE", VIEW}, {"EXPAND_DIMS", VIEW}, {"ADD", ANY}, {"SUB", ANY}, {"MUL", ANY},
    {"DIV", ANY}, {"MAXIMUM", ANY}, {"MINIMUM", ANY}, {"SQUARED_DIFFERENCE", ANY}, {"FLOOR_DIV", ANY},
    {"FLOOR_MOD", ANY}, {"ADD_N", ANY}, {"EQUAL", ANY}, {"NOT_EQUAL", ANY}, {"LESS", ANY}, {"LESS_EQUAL", ANY},
    {"GREATER", ANY}, {"GREATER_EQUAL", ANY}, {"LOGICAL_AND", ANY}, {"LOGICAL_OR", ANY}, {"LOGICAL_NOT", FIRST},
    {"RELU", FIRST}, {"RELU6", FIRST}, {"RELU_N1_TO_1", FIRST}, {"RELU_0_TO_1", FIRST}, {"LEAKY_RELU", FIRST},
    {"PRELU", FIRST}, {"ELU", FIRST}, {"LOGISTIC", FIRST}, {"TANH", FIRST}, {"HARD_SWISH", FIRST}, {"SOFTMAX", FIRST},
    {"ABS", FIRST}, {"NEG", FIRST}, {"SIN", FIRST}, {"COS", FIRST}, {"LOG", FIRST}, {"EXP", FIRST}, {"SQRT", FIRST},
    {"RSQRT", FIRST}, {"SQUARE", FIRST}, {"FLOOR", FIRST}, {"CEIL", FIRST}, {"ROUND", FIRST}, {"QUANTIZE", FIRST},
    {"DEQUANTIZE", FIRST}, {"CAST", FIRST}, {"ZEROS_LIKE", FIRST},
};
/* clang-format on */

/* clang-format off */
static const rule onnx_rules[] = {
    {"Reshape", VIEW}, {"Flatten", VIEW}, {"Squeeze", VIEW}, {"Unsqueeze", VIEW}, {"Identity", VIEW},
    {"Dropout", VIEW}, {"Add", ANY}, {"Sub", ANY}, {"Mul", ANY}, {"Div", ANY}, {"Pow", ANY}, {"Sum", ANY},
    {"Mean", ANY}, {"Max", ANY}, {"Min", ANY}, {"Mod", ANY}, {"And", ANY}, {"Or", ANY}, {"Xor", ANY}, {"Not", FIRST},
    {"Equal", ANY}, {"Less", ANY}, {"LessOrEqual", ANY}, {"Greater", ANY}, {"GreaterOrEqual", ANY}, {"Where", ANY},
    {"Relu", FIRST}, {"Clip", FIRST}, {"Sigmoid", FIRST}, {"HardSigmoid", FIRST}, {"HardSwish", FIRST},
    {"Tanh", FIRST}, {"Elu", FIRST}, {"Selu", FIRST}, {"Celu", FIRST}, {"LeakyRelu", FIRST},
    {"ThresholdedRelu", FIRST}, {"PRelu", FIRST}, {"Gelu", FIRST}, {"Mish", FIRST}, {"Softplus", FIRST},
    {"Softsign", FIRST}, {"Softmax", FIRST}, {"LogSoftmax", FIRST}, {"BatchNormalization", FIRST}, {"Cast", FIRST},
    {"Neg", FIRST}, {"Abs", FIRST}, {"Exp", FIRST}, {"Log", FIRST}, {"Sqrt", FIRST}, {"Reciprocal", FIRST},
    {"Floor", FIRST}, {"Ceil", FIRST}, {"Round", FIRST}, {"Sign", FIRST}, {"Erf", FIRST}, {"Sin", FIRST},
    {"Cos", FIRST}, {"Tan", FIRST}, {"Asin", FIRST}, {"Acos", FIRST}, {"Atan", FIRST}, {"Sinh", FIRST},
    {"Cosh", FIRST}, {"Asinh", FIRST}, {"Acosh", FIRST}, {"Atanh", FIRST}, {"Shrink", FIRST}, {"BitShift", FIRST},
    {"BitwiseNot", FIRST},
};
/* clang-format on */

/* Effects beside the outputs, or results that depend on when they run. */
/* clang-format off */
static const char *const tflite_fixed[] = {
    "IF", "WHILE", "CALL", "CALL_ONCE", "DELEGATE", "VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE", "HASHTABLE",
    "HASHTABLE_FIND", "HASHTABLE_IMPORT", "HASHTABLE_SIZE", "RANDOM_UNIFORM", "RANDOM_STANDARD_NORMAL", "MULTINOMIAL",
    "STABLEHLO_RNG_BIT_GENERATOR",
};
/* clang-format on */
/* clang-format off */
static const char *const onnx_fixed[] = {
    "If", "Loop", "Scan", "SequenceMap", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike",
    "Multinomial", "Bernoulli",
};
/* clang-format on */

#define COUNT(table) (sizeof(table) / sizeof *(table))

static bool is_text(masu__model_text text, const char *word) {
    return text.length == strlen(word) && memcmp(text.at, word, text.length) == 0;
}

masu__model_sharing masu__model_sharing_of(const masu__model *model, const masu__model_operator *op, size_t input) {
    bool is_tflite = model->format == MASU__MODEL_TFLITE;
    const rule *rules = is_tflite ? tflite_rules : onnx_rules;
    size_t count = is_tflite ? COUNT(tflite_rules) : COUNT(onnx_rules);
    if (op->is_custom)
        return MASU__MODEL_APART;
    for (size_t i = 0; i < count; i++)
        if (is_text(op->type, rules[i].type))
            return rules[i].first_only && input > 0 ? MASU__MODEL_APART : rules[i].sharing;
    return MASU__MODEL_APART;
}

bool masu__model_may_move(const masu__model *model, const masu__model_operator *op) {
    bool is_tflite = model->format == MASU__MODEL_TFLITE;
    const char *const *fixed = is_tflite ? tflite_fixed : onnx_fixed;
    size_t count = is_tflite ? COUNT(tflite_fixed) : COUNT(onnx_fixed);
    if (op->is_custom || op->body_count > 0)
        return false;
    for (size_t i = 0; i < count; i++)
        if (is_text(op->type, fixed[i]))
            return false;
    for (size_t i = 0; i < op->input_count; i++)
        if (op->inputs[i] >= 0 && model->tensors[op->inputs[i]].is_variable)
            return false;
    return true;
}
