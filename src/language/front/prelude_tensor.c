/* prelude_tensor.c: the methods of Tensor that are written in the language itself, as one source text: ops_written.def. */
#include "language/front/prelude.h"

const char prelude_tensor_text[] = "impl Tensor {\n"
#define WRITTEN(name, signature, gradient, example, text, ...) \
    "    fn " #name #signature " { " #__VA_ARGS__ " }\n"
#define HELPER(name, signature, ...) "    fn " #name #signature " { " #__VA_ARGS__ " }\n"
#include "language/front/ops_written.def"
                                   "}\n";

const size_t prelude_tensor_length = sizeof prelude_tensor_text - 1;

#define FOLLOWS     TL_GRADIENT_FOLLOWS
#define NO_GRADIENT TL_GRADIENT_NONE

const written_operation written_operations[] = {
#define WRITTEN(name, signature, gradient, example, text, ...) \
    {#name, #signature, gradient, example, text},
#include "language/front/ops_written.def"
};

const size_t written_operation_count = sizeof written_operations / sizeof written_operations[0];
