/* rules.c: which rule of differentiation each operation of ops.def names, as a table. */
#include "runtime/ops/ops.h"

const tl_rule *const tl__operation_rules[TL_FN_COUNT] = {
#define BY(rule)                                                                       &tl__rule_##rule
#define BY_KERNEL(back)                                                                NULL
#define FOLLOWS                                                                        NULL
#define NO_GRADIENT                                                                    NULL
#define OP(result, symbol, parameters, effects, shape, dtype, gradient, example, text) [TL_FN_##symbol] = gradient,
#include <masu/ops.def>
};
