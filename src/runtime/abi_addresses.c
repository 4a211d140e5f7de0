/* abi_addresses.c: where the functions of abi.def and ops.def are. Who links this links the whole runtime. */
#include <masu/abi.h>

void *const tl_abi_addresses[TL_FN_COUNT] = {
#define ABI(result, symbol, parameters, effects, shape, dtype) (void *)symbol,
#define SYSTEM(scope, name, symbol)
#include <masu/abi.def>
#undef ABI
#undef SYSTEM
};
