/* prelude_tensor.c: the methods of Tensor that are written in the language itself, as one source text: ops_written.def. */
#include "language/front/prelude.h"

const char prelude_tensor_text[] = "impl Tensor {\n"
#define WRITTEN(name, signature, gradient, example, text, ...) \
    "    fn " #name #signature " { " #__VA_ARGS__ " }\n"
#define HELPER(name, signature, ...) "    fn " #name #signature " { " #__VA_ARGS__ " }\n"
#define WRITTEN_COMMON_ONLY
#include "language/front/ops_written.def"
                                   "}\n";
#undef WRITTEN_COMMON_ONLY

const size_t prelude_tensor_length = sizeof prelude_tensor_text - 1;

const char prelude_tensor_more_text[] = "impl Tensor {\n"
#define WRITTEN(name, signature, gradient, example, text, ...) \
    "    fn " #name #signature " { " #__VA_ARGS__ " }\n"
#define HELPER(name, signature, ...) "    fn " #name #signature " { " #__VA_ARGS__ " }\n"
#include "language/front/ops_more.def"
                                        "}\n";
#undef WRITTEN
#undef HELPER

const size_t prelude_tensor_more_length = sizeof prelude_tensor_more_text - 1;

const char *const prelude_tensor_more_names[] = {
#define WRITTEN(name, ...) #name,
#define HELPER(name, ...)
#define NAME(name, ...) #name,
#include "language/front/ops_more.def"
#include "language/front/other_names.def"
#undef NAME
#undef WRITTEN
#undef HELPER
    NULL};

#define FOLLOWS     TL_GRADIENT_FOLLOWS
#define NO_GRADIENT TL_GRADIENT_NONE

const written_operation written_operations[] = {
#define WRITTEN(name, signature, gradient, example, text, ...) \
    {#name, #signature, gradient, example, text},
#include "language/front/ops_written.def"
};

const size_t written_operation_count = sizeof written_operations / sizeof written_operations[0];
