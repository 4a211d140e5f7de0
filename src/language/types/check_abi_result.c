/* check_abi_result.c: the type of what an operation of the tables yields: element type and rank by the rules that its
 * entry names (tl_dtype_rule, tl_shape_rule).
 */
#include "language/types/check_context.h"
#include "language/types/check_written.h"

static int place_in_order(const type *t) {
    return t->kind == TYPE_BOOL ? 0 : type_is_integer(t) ? 1 : t->kind == TYPE_F32 ? 2 : 3;
}

const type *check_wider_element(checker *c, const type *a, const type *b) {
    int one = place_in_order(a), other = place_in_order(b);
    if (a != b && one == 1 && other == 1)
        return check_scalar(c, TYPE_I64);
    return one >= other ? a : b;
}

/* The one of the tensors from operand `first` on; NULL when one is not known. */
static const type *promoted_element(checker *c, const expr *call, uint32_t first) {
    const type *element = NULL;
    for (uint32_t i = first; i < call->call.operand_count; i++) {
        const type *t = call->call.operands[i]->type;
        if (t->kind != TYPE_TENSOR)
            continue;
        if (t->tensor.element == NULL)
            return NULL;
        element = element == NULL ? t->tensor.element : check_wider_element(c, element, t->tensor.element);
    }
    return element;
}

static const type *first_tensor(const expr *call) {
    for (uint32_t i = 0; i < call->call.operand_count; i++)
        if (call->call.operands[i]->type->kind == TYPE_TENSOR)
            return call->call.operands[i]->type;
    return NULL;
}

/* A real number also of whole ones. */
static const type *real_element(checker *c, const type *element) {
    return element == NULL || type_is_float(element) ? element : check_scalar(c, TYPE_F32);
}

static const type *result_element(checker *c, const expr *call) {
    const type *first = first_tensor(call), *element = first == NULL ? NULL : first->tensor.element;
    switch (tl_abi_functions[call->call.abi].dtype) {
    case DTYPE_SAME:
        return element;
    case DTYPE_COUNT:
        element = promoted_element(c, call, 0);
        return element != NULL && element->kind == TYPE_BOOL ? check_scalar(c, TYPE_I64) : element;
    case DTYPE_PROMOTE:
        return promoted_element(c, call, 0);
    case DTYPE_CHOICE:
        return promoted_element(c, call, 1);
    case DTYPE_FLOAT:
        return real_element(c, element);
    case DTYPE_REAL:
        return real_element(c, promoted_element(c, call, 0));
    case DTYPE_F32:
        return check_scalar(c, TYPE_F32);
    case DTYPE_F64:
        return check_scalar(c, TYPE_F64);
    case DTYPE_I64:
        return check_scalar(c, TYPE_I64);
    case DTYPE_BOOL:
        return check_scalar(c, TYPE_BOOL);
    default:
        return NULL;
    }
}

static int32_t broadcast_rank(const expr *call) {
    int32_t rank = 0;
    for (uint32_t i = 0; i < call->call.operand_count; i++) {
        const type *t = call->call.operands[i]->type;
        if (t->kind == TYPE_TENSOR) {
            if (t->tensor.rank < 0)
                return -1;
            rank = t->tensor.rank > rank ? t->tensor.rank : rank;
        }
    }
    return rank;
}

static int32_t matmul_rank(const expr *call) {
    int32_t left = call->call.operands[0]->type->tensor.rank, right = call->call.operands[1]->type->tensor.rank;
    return left < 2 || right < 2 ? -1 : left > right ? left : right;
}

/* Operands that are elements of the list. */
static uint32_t list_length(const expr *call) {
    const tl_abi_function *f = &tl_abi_functions[call->call.abi];
    uint32_t others = 0;
    bool has_list = false;
    for (const tl_abi_parameter *p = f->parameters; p->name != NULL; p++) {
        has_list |= p->mode == TL_LIST;
        others += p->mode != TL_LIST;
    }
    return has_list ? call->call.operand_count - others : 0;
}

/* The rank of the second tensor operand. */
static int32_t second_rank(const expr *call) {
    bool passed = false;
    for (uint32_t i = 0; i < call->call.operand_count; i++) {
        const type *t = call->call.operands[i]->type;
        if (t->kind == TYPE_TENSOR && passed)
            return t->tensor.rank;
        passed |= t->kind == TYPE_TENSOR;
    }
    return -1;
}

int32_t check_abi_rank(const expr *call) {
    const type *first = first_tensor(call);
    int32_t rank = first == NULL ? -1 : first->tensor.rank;
    static const tl_rank_rule ranks[] = {
#define SHAPE_RULE(rule, rank, text) [rule] = rank,
#include <masu/ops.def>
    };
    switch (ranks[tl_abi_functions[call->call.abi].shape]) {
    case RANK_0:
    case RANK_1:
    case RANK_2:
        return (int32_t)(ranks[tl_abi_functions[call->call.abi].shape] - RANK_0);
    case RANK_FIRST:
        return rank;
    case RANK_LESS:
        return rank > 0 ? rank - 1 : -1;
    case RANK_MORE:
        return rank < 0 ? -1 : rank + 1;
    case RANK_SECOND:
        return second_rank(call);
    case RANK_BROADCAST:
        return broadcast_rank(call);
    case RANK_BROADCAST_LESS:
        return broadcast_rank(call) > 0 ? broadcast_rank(call) - 1 : -1;
    case RANK_LIST:
        return (int32_t)list_length(call);
    case RANK_MATMUL:
        return matmul_rank(call);
    default:
        return -1;
    }
}

const type *check_abi_result(checker *c, const expr *call) {
    switch (tl_abi_functions[call->call.abi].result) {
    case ABI_tensor: {
        int32_t rank = check_abi_rank(call);
        return type_tensor(c->types, result_element(c, call), rank > TL_MAX_RANK ? -1 : rank);
    }
    case ABI_bool:
        return check_scalar(c, TYPE_BOOL);
    case ABI_i32:
        return check_scalar(c, TYPE_I32);
    case ABI_i64:
        return check_scalar(c, TYPE_I64);
    case ABI_f32:
        return check_scalar(c, TYPE_F32);
    case ABI_f64:
        return check_scalar(c, TYPE_F64);
    case ABI_object:
        return check_scalar(c, TYPE_STRING);
    default:
        return check_scalar(c, TYPE_VOID);
    }
}
