/* abi.c: abi.def and ops.def as a table that the compiler reads (see masu/abi.h). */
#include <masu/abi.h>

#define RET(kind)        ABI_##kind, TL_VALUE
#define RET_OWN(kind)    ABI_##kind, TL_OWNED
#define RET_BORROW(kind) ABI_##kind, TL_BORROWED
#define VAL(kind, name) \
    { ABI_##kind, TL_VALUE, #name, ABI_##kind == ABI_bool, 0 }
#define VAL_OR(kind, name, value) \
    { ABI_##kind, TL_VALUE, #name, true, value }
#define BORROW(kind, name) \
    { ABI_##kind, TL_BORROWED, #name, false, 0 }
#define OWN(kind, name) \
    { ABI_##kind, TL_OWNED, #name, false, 0 }
#define LIST(kind, name) \
    { ABI_##kind, TL_LIST, #name, false, 0 }
#define NO_PARAMETERS \
    { ABI_none, TL_VALUE, NULL, false, 0 }
#define BY(rule)                 TL_GRADIENT_RULE
#define BY_KERNEL(back)          TL_GRADIENT_RULE
#define FOLLOWS                  TL_GRADIENT_FOLLOWS
#define NO_GRADIENT              TL_GRADIENT_NONE
#define WITHOUT_PARENTHESES(...) __VA_ARGS__

const tl_abi_function tl_abi_functions[TL_FN_COUNT] = {
#define OP(result, symbol, parameters, effects, shape, dtype, gradient, example, text) \
    {#symbol, result, {WITHOUT_PARENTHESES parameters}, (effects), shape, dtype, gradient, example, text},
#define ABI(result, symbol, parameters, effects, shape, dtype) \
    {#symbol, result, {WITHOUT_PARENTHESES parameters}, (effects), shape, dtype, NO_GRADIENT, "", ""},
#define SYSTEM(scope, name, symbol)
#include <masu/abi.def>
#undef ABI
#undef SYSTEM
};

const tl_abi_name tl_abi_names[] = {
#define OP(...)
#define ABI(...)
#define METHOD(name, symbol)        {"", #name, TL_FN_##symbol},
#define STATIC(name, symbol)        {"Tensor", #name, TL_FN_##symbol},
#define SYSTEM(scope, name, symbol) {#scope, #name, TL_FN_##symbol},
#include <masu/abi.def>
};

const size_t tl_abi_name_count = sizeof tl_abi_names / sizeof tl_abi_names[0];
