/* check_tensor_operators.c: operators of which one side is a tensor at least, as operations of the table. */
#include "language/front/check_expr.h"
#include "language/front/check_tensor.h"
#include "language/types/check_context.h"
#include "language/types/check_fits.h"
#include "language/types/check_operation.h"
#include "language/types/check_tree_made.h"

typedef struct tensor_operator {
    tl_abi_index both, right_scalar, left_scalar;
    bool has_left_scalar;
} tensor_operator;

static const tensor_operator *tensor_operator_of(binary_op op) {
    static const tensor_operator operators[BINARY_OP_COUNT] = {
        [BINARY_ADD] = {TL_FN_tl_tensor_add, TL_FN_tl_tensor_add_scalar, TL_FN_tl_tensor_add_scalar, true},
        [BINARY_SUB] = {TL_FN_tl_tensor_sub, TL_FN_tl_tensor_sub_scalar, TL_FN_tl_tensor_rsub_scalar, true},
        [BINARY_MUL] = {TL_FN_tl_tensor_mul, TL_FN_tl_tensor_mul_scalar, TL_FN_tl_tensor_mul_scalar, true},
        [BINARY_DIV] = {TL_FN_tl_tensor_div, TL_FN_tl_tensor_div_scalar, TL_FN_tl_tensor_rdiv_scalar, true},
        [BINARY_REM] = {TL_FN_tl_tensor_rem, TL_FN_tl_tensor_rem_scalar, TL_FN_tl_tensor_rem_scalar, false},
    };
    return op >= BINARY_ADD && op <= BINARY_REM ? &operators[op] : NULL;
}

/* 0 == 1 != 2 < 3 <= 4 > 5 >=, as tl_tensor_compare counts them; mirrored: seen from the other
 * operand. */
static int64_t relation(binary_op op, bool mirrored) {
    static const int8_t as_is[] = {0, 1, 2, 3, 4, 5}, exchanged[] = {0, 1, 4, 5, 2, 3};
    return (mirrored ? exchanged : as_is)[op - BINARY_EQ];
}

/* Beside a real number a tensor of whole ones is one of real ones. */
expr *check_real_tensor(checker *c, expr *tensor) {
    const type *t = tensor->type;
    if (t->tensor.element == NULL || type_is_float(t->tensor.element))
        return tensor;
    expr *operands[2] = {tensor, check_new_int(c, tensor->span, TL_F32)};
    expr *cast = check_new_abi(c, TL_FN_tl_tensor_to_dtype, tensor->span, operands, 2);
    cast->type = type_tensor(c->types, check_scalar(c, TYPE_F32), t->tensor.rank);
    return cast;
}

/* A real number that has no type yet is an f64 beside a tensor of f64, and beside one of unknown elements, which may
 * hold them: unless another use wants f32. */
static void scalar_beside(checker *c, expr **scalar, const type *tensor) {
    const type *t = type_resolve(c->types, (*scalar)->type), *held = tensor->tensor.element;
    bool follows = held != NULL ? held->kind == TYPE_F64 : type_is_open_number(t) && !t->number->is_element;
    if (follows && type_is_open_number(t) && type_is_float(t))
        check_widen_to(c, scalar, check_scalar(c, TYPE_F64));
    else
        check_cast_to(c, scalar, check_scalar(c, TYPE_F64));
}

/* t op s and s op t: operands (tensor, scalar as f64[, relation]). */
static bool with_scalar(checker *c, expr **slot, bool scalar_left) {
    expr *e = *slot, *tensor = scalar_left ? e->binary.right : e->binary.left;
    expr **scalar = scalar_left ? &e->binary.left : &e->binary.right;
    const tensor_operator *info = tensor_operator_of(e->binary.op);
    bool comparison = check_is_comparison(e->binary.op);
    if (!type_is_numeric((*scalar)->type) || (!comparison && (info == NULL || (scalar_left && !info->has_left_scalar))))
        return false;
    if (!comparison && type_is_float((*scalar)->type))
        tensor = check_real_tensor(c, tensor);
    if ((*scalar)->kind == EXPR_FLOAT && (*scalar)->floating.suffix == TYPE_VOID)
        (*scalar)->type = check_scalar(c, TYPE_F64); /* 0.1 beside a tensor is not an f32 made longer */
    scalar_beside(c, scalar, tensor->type);
    expr *operands[3] = {tensor, *scalar, NULL};
    tl_abi_index abi = TL_FN_tl_tensor_compare_scalar;
    if (comparison)
        operands[2] = check_new_int(c, e->binary.op_span, relation(e->binary.op, scalar_left));
    else
        abi = scalar_left ? info->left_scalar : info->right_scalar;
    *slot = check_new_abi(c, abi, e->span, operands, comparison ? 3 : 2);
    (*slot)->call.swapped = scalar_left;
    return true;
}

static bool both_tensors(checker *c, expr **slot) {
    expr *e = *slot, *operands[3] = {e->binary.left, e->binary.right, NULL};
    const tensor_operator *info = tensor_operator_of(e->binary.op);
    tl_abi_index abi;
    uint32_t count = 2;
    if (info != NULL) {
        abi = info->both;
    } else if (check_is_comparison(e->binary.op)) {
        abi = TL_FN_tl_tensor_compare;
        operands[count++] = check_new_int(c, e->binary.op_span, relation(e->binary.op, false));
    } else if (e->binary.op == BINARY_BIT_AND || e->binary.op == BINARY_BIT_OR) {
        abi = e->binary.op == BINARY_BIT_AND ? TL_FN_tl_tensor_logical_and : TL_FN_tl_tensor_logical_or;
    } else {
        return false;
    }
    *slot = check_new_abi(c, abi, e->span, operands, count);
    return true;
}

/* A comparison with a number: a tensor of rank 0 is the number that it holds. One whose rank only the running program
 * knows is compared element by element; where a bool is wanted, the one element of that is read. */
static bool compare_as_scalar(checker *c, expr *e) {
    expr **tensor = e->binary.left->type->kind == TYPE_TENSOR ? &e->binary.left : &e->binary.right;
    expr *other = tensor == &e->binary.left ? e->binary.right : e->binary.left;
    bool number = type_is_numeric(other->type) || other->type->kind == TYPE_BOOL;
    return check_is_comparison(e->binary.op) && number && (*tensor)->type->tensor.rank == 0 && check_item(c, tensor);
}

bool check_tensor_binary(checker *c, expr **slot, bool *as_scalars, const type *expected);

static bool is_element_or_number(const expr *e) {
    return type_is_numeric(e->type) || check_may_be_element(e);
}

/* An operation element by element, or one of the library that takes tensors only: a.max(b) */
static bool is_of_elements(const call_expr *call) {
    const bool abi = call->kind == CALL_ABI;
    uint32_t tensors = 0;
    if (abi && tl_abi_functions[call->abi].shape != tl_abi_functions[TL_FN_tl_tensor_add].shape &&
        tl_abi_functions[call->abi].shape != tl_abi_functions[TL_FN_tl_tensor_abs].shape)
        return false;
    for (uint32_t i = 0; i < call->operand_count; i++) {
        tensors += call->operands[i]->type->kind == TYPE_TENSOR;
        if (!is_element_or_number(call->operands[i]))
            return false;
    }
    return abi ? tensors > 0 : tensors > 1 && tensors == call->operand_count;
}

/* t[i], v of `for v in t`, and what is computed of these: an element where the rank of t is 1. */
bool check_may_be_element(const expr *e) {
    if (e->type == NULL || e->type->kind != TYPE_TENSOR || e->type->tensor.rank > 0)
        return false;
    switch (e->kind) {
    case EXPR_NAME:
        return e->name.binding != NULL && e->name.binding->is_element;
    case EXPR_CALL:
        return e->is_element ||
               ((e->call.kind == CALL_ABI || e->call.kind == CALL_FUNCTION) && is_of_elements(&e->call));
    case EXPR_BLOCK:
        return e->block->result != NULL && check_may_be_element(e->block->result);
    case EXPR_IF:
        return e->branch.then->result != NULL && e->branch.otherwise != NULL &&
               check_may_be_element(e->branch.then->result) && check_may_be_element(e->branch.otherwise);
    case EXPR_MATCH:
        for (uint32_t i = 0; i < e->match.count; i++)
            if (!check_may_be_element(e->match.arms[i].body))
                return false;
        return true;
    default:
        return e->is_element;
    }
}

/* An element of whole numbers for certain. */
static bool is_whole_element(const expr *e) {
    const type *t = e->type;
    return t->kind == TYPE_TENSOR && t->tensor.rank == 0 && t->tensor.element != NULL &&
           type_is_integer(t->tensor.element);
}

/* A number that is whole as it is written, whatever is beside it. */
static bool is_whole_number(checker *c, expr **slot) {
    expr *e = *slot;
    if (e->kind == EXPR_CAST && e->cast.implicit && type_is_integer(e->cast.operand->type))
        *slot = e->cast.operand;
    else if (e->kind == EXPR_INT && e->integer.suffix == TYPE_VOID && type_is_float(type_resolve(c->types, e->type)))
        e->type = check_scalar(c, TYPE_I64);
    else if (e->kind == EXPR_FLOAT && e->floating.is_whole && e->floating.suffix == TYPE_VOID)
        *slot = check_new_int(c, e->span, e->is_negative ? 0 - (int64_t)e->floating.whole : (int64_t)e->floating.whole);
    return type_is_integer(type_resolve(c->types, (*slot)->type));
}

/* t[i] / 2, of elements and numbers: of whole ones whole, as it is where t[i] is known to be a number. The running
 * program knows whether t[i] is an element or a row, which is divided as a tensor is. */
static bool divide_elements(checker *c, expr **slot, bool *as_scalars, const type *expected) {
    expr *e = *slot, **sides[2] = {&e->binary.left, &e->binary.right};
    const bool divides = e->binary.op == BINARY_DIV;
    bool known = expected == NULL || expected->kind != TYPE_TENSOR;
    if (!divides && e->binary.op != BINARY_REM)
        return false;
    for (int i = 0; i < 2; i++) {
        const bool number = type_is_numeric((*sides[i])->type);
        if (number && !is_whole_number(c, sides[i]))
            return false;
        known &= number || is_whole_element(*sides[i]);
    }
    int32_t rank = 0;
    for (int i = 0; i < 2; i++) {
        const bool number = type_is_numeric((*sides[i])->type);
        rank = !number && (*sides[i])->type->tensor.rank < 0 ? -1 : rank;
        if (known && !number)
            check_read_item(c, sides[i]);
        else if (!known && number)
            check_number_as_tensor(c, sides[i]);
    }
    *as_scalars = known;
    if (known)
        return true;
    *slot = BUILD_QUOTE(c, e->span, divides ? "$0.__quotient($1)" : "$0.__remainder($1)", e->binary.left,
                        e->binary.right);
    check_expr(c, slot, NULL);
    (*slot)->type = type_tensor(c->types, NULL, rank);
    (*slot)->is_element = true;
    return true;
}

static const type *tensor_of(const expr *e, bool left) {
    return left ? e->binary.left->type : e->binary.right->type;
}

static bool operate(checker *c, expr **slot, bool *as_scalars, const type *expected) {
    expr *e = *slot;
    bool left = e->binary.left->type->kind == TYPE_TENSOR, right = e->binary.right->type->kind == TYPE_TENSOR;
    if (left && right)
        return both_tensors(c, slot);
    /* of a tensor of unknown rank: elements, unless one answer is wanted */
    const type *tensor = tensor_of(e, left);
    bool one = tensor->tensor.rank == 0 || (expected != NULL && expected->kind == TYPE_BOOL);
    bool tensor_wanted = expected != NULL && expected->kind == TYPE_TENSOR;
    if (!tensor_wanted && one && compare_as_scalar(c, e)) {
        *as_scalars = true;
        return true;
    }
    return with_scalar(c, slot, right);
}

bool check_tensor_binary(checker *c, expr **slot, bool *as_scalars, const type *expected) {
    const expr *e = *slot;
    const bool elements = is_element_or_number(e->binary.left) && is_element_or_number(e->binary.right),
               arithmetic = tensor_operator_of(e->binary.op) != NULL;
    if (elements && divide_elements(c, slot, as_scalars, expected))
        return true;
    if (!operate(c, slot, as_scalars, expected))
        return false;
    (*slot)->is_element = elements && arithmetic && !*as_scalars;
    return true;
}

static int64_t dtype_of(const type *element) {
    switch (element->kind) {
    case TYPE_F64:
        return TL_F64;
    case TYPE_F32:
        return TL_F32;
    case TYPE_BOOL:
        return TL_BOOL;
    default:
        return TL_I64;
    }
}

bool check_cast_tensor(checker *c, expr **slot, expr *operand, const type *to) {
    if (to->kind != TYPE_TENSOR)
        return false;
    int32_t from_rank = operand->type->tensor.rank;
    if (from_rank >= 0 && to->tensor.rank >= 0 && from_rank != to->tensor.rank)
        return false;
    if (to->tensor.element == NULL || to->tensor.element == operand->type->tensor.element) {
        *slot = operand;
        return true;
    }
    source_span span = (*slot)->span;
    expr *operands[2] = {operand, check_new_int(c, span, dtype_of(to->tensor.element))};
    *slot = check_new_abi(c, TL_FN_tl_tensor_to_dtype, span, operands, 2);
    (*slot)->type = type_tensor(c->types, to->tensor.element, from_rank >= 0 ? from_rank : to->tensor.rank);
    return true;
}

/* A number where a tensor is wanted that broadcasts: a tensor of rank 0. A literal of rank 0, so that no bit is lost on
 * the way. */
void check_number_as_tensor(checker *c, expr **slot) {
    const type *t = type_resolve(c->types, (*slot)->type);
    const bool whole = type_is_integer(t), wide = t->kind == TYPE_F64;
    const type_kind element = whole ? TYPE_I64 : wide ? TYPE_F64 : TYPE_F32;
    source_span span = (*slot)->span;
    check_cast_to(c, slot, check_scalar(c, whole ? TYPE_I64 : TYPE_F64));
    expr *operands[2] = {check_new_int(c, span, 0), *slot};
    *slot = check_new_abi(c,
                          whole  ? TL_FN_tl_tensor_literal_i64
                          : wide ? TL_FN_tl_tensor_literal_f64
                                 : TL_FN_tl_tensor_literal_f32,
                          span, operands, 2);
    (*slot)->type = type_tensor(c->types, check_scalar(c, element), 0);
}
