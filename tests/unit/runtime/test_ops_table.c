/* test_ops_table.c: what ops.def says of an operation is what the operation does: element type, shape, and the rule of
 * differentiation in the result's history. Every function of the table that takes one or two tensors, perhaps with
 * numbers, is called on square matrices of each element type; none has a line here.
 */
#include "ops_called.h"
#include "runtime/ops/ops.h"

enum { N = 2 };

typedef struct shape_wanted {
    bool known;
    int rank;
    int64_t shape[TL_MAX_RANK];
} shape_wanted;

/* TL_DTYPE_COUNT: the table does not say. A number beside whole ones makes them f32. */
static tl_dtype dtype_wanted(const tl_abi_function *f, tl_dtype dtype, const char *signature) {
    bool whole = dtype == TL_I64 || dtype == TL_BOOL;
    switch (f->dtype) {
    case DTYPE_SAME:
        return whole && strchr(signature, 'f') ? TL_DTYPE_COUNT : dtype;
    case DTYPE_COUNT:
        return dtype == TL_BOOL ? TL_I64 : dtype;
    case DTYPE_PROMOTE:
        return dtype;
    case DTYPE_FLOAT:
    case DTYPE_REAL:
        return whole ? TL_F32 : dtype;
    case DTYPE_I64:
        return TL_I64;
    case DTYPE_BOOL:
        return TL_BOOL;
    default:
        return TL_DTYPE_COUNT;
    }
}

/* Of operands [N, N] and the numbers above. */
static shape_wanted shape_by_rule(tl_shape_rule rule) {
    switch (rule) {
    case SHAPE_SAME:
    case SHAPE_KEPT:
    case SHAPE_BROADCAST:
    case SHAPE_TRANSPOSE:
    case SHAPE_MATMUL:
    case SHAPE_SQUEEZE:
        return (shape_wanted){true, 2, {N, N}};
    case SHAPE_RANK0:
        return (shape_wanted){true, 0, {0}};
    case SHAPE_REDUCE:
    case SHAPE_ROW:
    case SHAPE_VECTOR:
        return (shape_wanted){true, 1, {N}};
    case SHAPE_FLATTEN:
        return (shape_wanted){true, 1, {N * N}};
    case SHAPE_UNSQUEEZE:
        return (shape_wanted){true, 3, {1, N, N}};
    case SHAPE_SLICE:
    case SHAPE_NARROW:
        return (shape_wanted){true, 2, {1, N}};
    case SHAPE_CAT:
        return (shape_wanted){true, 2, {2 * N, N}};
    default:
        return (shape_wanted){0};
    }
}

static tl_tensor *operand(tl_dtype dtype, bool tracked) {
    array numbers;
    array_random(&numbers, 2, (const int64_t[]){N, N}, 1, 3);
    tl_tensor *t = tensor_of(&numbers, dtype);
    return tracked ? leaf_of(t) : t;
}

static void check_result(tl_abi_index index, tl_dtype dtype, const char *signature, const tl_tensor *result) {
    const tl_abi_function *f = &tl_abi_functions[index];
    tl_dtype wanted = dtype_wanted(f, dtype, signature);
    shape_wanted shape = shape_by_rule(f->shape);
    if (wanted != TL_DTYPE_COUNT && result->dtype != wanted)
        fail_msg("%s of %d: element type %d, not %d", f->symbol, dtype, result->dtype, wanted);
    bool fits = !shape.known || result->rank == shape.rank;
    for (int d = 0; fits && d < shape.rank; d++)
        fits = result->shape[d] == shape.shape[d];
    if (!fits)
        fail_msg("%s: not the shape of its rule", f->symbol);
    const tl_rule *rule = tl__operation_rules[index];
    bool leaf = result->node && (result->node->flags & TL_NODE_LEAF); /* shallow_clone */
    if (rule && result->node && !leaf && result->node->rule != rule)
        fail_msg("%s: its history follows %s, not %s", f->symbol, result->node->rule->name, rule->name);
    bool marks = index == TL_FN_tl_tensor_marked; /* whose result tracks in any case: that is what it is for */
    bool smooth = dtype == TL_F32 || dtype == TL_F64;
    if (smooth && !marks && (f->gradient != TL_GRADIENT_NONE) != (result->node != NULL))
        fail_msg("%s: the table says otherwise of its gradient", f->symbol);
}

/* False when the operation does not take operands of this type. */
static bool try_function(tl_runtime *rt, tl_abi_index index, tl_dtype dtype) {
    const tl_abi_function *f = &tl_abi_functions[index];
    char signature[TL_ABI_MAX_PARAMETERS + 1];
    if (!signature_of(f, signature) || strstr(f->symbol, "_like") || f->gradient == TL_GRADIENT_FOLLOWS)
        return false;
    bool tracked = dtype == TL_F32 || dtype == TL_F64;
    tl_tensor *a = operand(dtype, tracked), *b = operand(dtype, tracked), *result = NULL;
    bool taken = call_by_signature(f, signature, a, b, 0, &result);
    if (taken && result)
        check_result(index, dtype, signature, result);
    tl_runtime_clear_error(rt);
    taken &= result != NULL;
    release(result);
    release(a);
    release(b);
    return taken;
}

static void operations_are_as_the_table_says(void **state) {
    (void)state;
    tl_runtime *rt = open_runtime(NULL);
    masu__rng_seed(&test_rng, 5);
    int tried[TL_DTYPE_COUNT] = {0};
    for (int dtype = 0; dtype < TL_DTYPE_COUNT; dtype++)
        for (int index = 0; index < TL_FN_COUNT; index++)
            tried[dtype] += try_function(rt, (tl_abi_index)index, (tl_dtype)dtype);
    assert_true(tried[TL_F32] > 75 && tried[TL_F64] == tried[TL_F32]);
    assert_true(tried[TL_I64] > 60 && tried[TL_BOOL] > 30);
    close_ops(rt);
}

/* Every rule that an entry names has a function or a formula behind it. */
static void rules_are_there(void **state) {
    (void)state;
    int count = 0;
    for (int index = 0; index < TL_FN_COUNT; index++) {
        const tl_rule *rule = tl__operation_rules[index];
        count += rule != NULL;
        assert_true(!rule ||
                    ((rule->backward || rule->formula) && tl_abi_functions[index].gradient == TL_GRADIENT_RULE));
    }
    assert_true(count > 25);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_are_as_the_table_says),
        cmocka_unit_test(rules_are_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
