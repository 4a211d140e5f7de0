/* check_create.c: tensors are made in the element type that is wanted.
 *
 *     let a: Tensor<f64> = Tensor::full([2], 0.1) * 3.0;      full_f64, times 3
 *     let k: Tensor<i64> = Tensor::arange(20000001, 20000004); arange_i64
 *
 * An operation that makes a tensor from numbers makes f32 unless its use says otherwise. It is exchanged for its
 * counterpart, so that nothing is rounded to f32 on the way; operations that keep the type of their operands pass on
 * what is wanted, those of the tables and those of the library (check_element.c).
 *
 * What must stay true (asserted: what was made is what was asked for): nothing is changed unless all of it can be made;
 * what draws real numbers makes no whole ones.
 */

#include "base/assert.h"
#include "language/front/check_call.h"
#include "language/types/check_context.h"
#include "language/types/check_fits.h"
#include "language/types/check_instances.h"
#include "language/types/check_operation.h"

enum { DEPTH_MAX = 32 };

typedef struct creator {
    tl_abi_index abi, f64, i64; /* TL_FN_COUNT: made, then converted, which loses nothing */
    bool draws;                 /* no whole numbers */
    int grad;                   /* parameter, from the end, that says whether it tracks; 0: none */
} creator;

static const creator *creator_of(tl_abi_index abi) {
    static const creator all[] = {
        {TL_FN_tl_tensor_zeros, TL_FN_COUNT, TL_FN_COUNT, false, 1},
        {TL_FN_tl_tensor_ones, TL_FN_COUNT, TL_FN_COUNT, false, 1},
        {TL_FN_tl_tensor_full, TL_FN_tl_tensor_full_f64, TL_FN_tl_tensor_full_i64, false, 1},
        {TL_FN_tl_tensor_scalar, TL_FN_tl_tensor_full_f64, TL_FN_tl_tensor_full_i64, false, 0},
        {TL_FN_tl_tensor_randn, TL_FN_tl_tensor_randn_f64, TL_FN_COUNT, true, 1},
        {TL_FN_tl_tensor_rand, TL_FN_tl_tensor_rand_f64, TL_FN_COUNT, true, 1},
        {TL_FN_tl_tensor_eye, TL_FN_COUNT, TL_FN_COUNT, false, 0},
        {TL_FN_tl_tensor_arange, TL_FN_tl_tensor_arange_f64, TL_FN_tl_tensor_arange_i64, false, 0},
        {TL_FN_tl_tensor_linspace, TL_FN_tl_tensor_linspace_f64, TL_FN_COUNT, false, 0},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i].abi == abi)
            return &all[i];
    return NULL;
}

bool check_creates(tl_abi_index abi) {
    return creator_of(abi) != NULL;
}

static bool is_tracking(const expr *e, const creator *made) {
    const expr *grad = made->grad == 0 ? NULL : e->call.operands[e->call.operand_count - (uint32_t)made->grad];
    return grad != NULL && (grad->kind != EXPR_BOOL || grad->boolean);
}

static bool can_be(checker *c, const expr *e, const type *element, int depth);

/* Whether f's parameter i is a tensor of any elements. */
static bool is_open_tensor(checker *c, const function_item *f, uint32_t i) {
    const type *t = i < f->parameter_count ? type_resolve(c->types, f->parameters[i]->type) : NULL;
    return t != NULL && t->kind == TYPE_TENSOR && t->tensor.element == NULL;
}

/* Whether the elements of operand i are those of what e yields. */
static bool passes_on(checker *c, const expr *e, uint32_t i) {
    const function_item *f = e->call.function;
    if (type_resolve(c->types, e->call.operands[i]->type)->kind != TYPE_TENSOR)
        return false;
    if (e->call.kind == CALL_ABI)
        return i > 0 || tl_abi_functions[e->call.abi].dtype != DTYPE_CHOICE;
    uint32_t first = 0;
    while (first < i && !is_open_tensor(c, f, first))
        first++;
    return is_open_tensor(c, f, i) && (first == i || f->elements != ELEMENT_SAME);
}

/* Every tensor that goes in may be one of such elements, or is. */
static bool operands_can_be(checker *c, const expr *e, const type *element, int depth) {
    bool all = true, some = false;
    for (uint32_t i = 0; all && i < e->call.operand_count; i++) {
        const type *t = type_resolve(c->types, e->call.operands[i]->type);
        if (passes_on(c, e, i)) {
            bool is = t->tensor.element != NULL && type_resolve(c->types, t->tensor.element) == element;
            all = is || can_be(c, e->call.operands[i], element, depth + 1);
            some |= all && !is;
        }
    }
    return all && some;
}

static bool keeps_elements(tl_abi_index abi, const type *element) {
    const tl_abi_function *f = &tl_abi_functions[abi];
    bool real = f->dtype == DTYPE_FLOAT || f->dtype == DTYPE_REAL;
    return f->result == ABI_tensor && (f->effects & REPLACES) == 0 &&
           (f->dtype == DTYPE_SAME || f->dtype == DTYPE_PROMOTE || f->dtype == DTYPE_CHOICE ||
            (f->dtype == DTYPE_COUNT && element->kind != TYPE_BOOL) || (real && element->kind == TYPE_F64));
}

static bool function_keeps(const function_item *f, const type *element) {
    return f->elements == ELEMENT_SAME || f->elements == ELEMENT_WIDE ||
           (f->elements == ELEMENT_REAL && element->kind == TYPE_F64) ||
           (f->elements == ELEMENT_SUM && element->kind != TYPE_BOOL);
}

static bool list_can_be(const expr *e, const type *element, int depth) {
    bool all = depth < DEPTH_MAX && element->kind == TYPE_F64;
    for (uint32_t i = 0; all && i < e->list.count; i++) {
        const expr *item = e->list.items[i];
        all = item->kind == EXPR_ARRAY ? list_can_be(item, element, depth + 1) : check_is_real_literal(item);
    }
    return all;
}

/* fn arange<T>(to: f64) -> Tensor<T> of the library: only what is wanted says what it makes. */
static bool makes_any(const checker *c, const function_item *f) {
    const function_item *written = f->template;
    bool any = written != NULL && written->span.file == c->tree->prelude && written->generics.count == 1 &&
               !written->has_self && written->result_annotation != NULL &&
               written->result_annotation->argument_count > 0 &&
               check_mentions(written->result_annotation->arguments[0], written->generics.items[0].name);
    for (uint32_t i = 0; any && i < written->parameter_count; i++)
        any = !check_mentions(written->parameters[i]->annotation, written->generics.items[0].name);
    return any;
}

/* f makes whole numbers where the operation of its name in the table does; others may draw. */
static bool may_make(const function_item *f, const type *element) {
    bool may = element->kind == TYPE_F64;
    for (size_t i = 0; !may && i < tl_abi_name_count; i++) {
        const creator *made = check_abi_named(&tl_abi_names[i], "Tensor", f->template->name)
                                  ? creator_of(tl_abi_names[i].function)
                                  : NULL;
        may = made != NULL && !made->draws;
    }
    return may;
}

static bool can_be(checker *c, const expr *e, const type *element, int depth) {
    if (e->kind == EXPR_ARRAY)
        return list_can_be(e, element, depth);
    if (e->kind != EXPR_CALL || depth > DEPTH_MAX)
        return false;
    if (e->call.kind == CALL_FUNCTION && makes_any(c, e->call.function))
        return may_make(e->call.function, element);
    if (e->call.kind == CALL_FUNCTION)
        return function_keeps(e->call.function, element) && operands_can_be(c, e, element, depth);
    if (e->call.kind != CALL_ABI)
        return false;
    const creator *made = creator_of(e->call.abi);
    if (made != NULL)
        return element->kind == TYPE_F64 || (!made->draws && !is_tracking(e, made));
    return keeps_elements(e->call.abi, element) && operands_can_be(c, e, element, depth);
}

static void literal_becomes(expr *e, const type *to) {
    while (e->kind == EXPR_UNARY) {
        e->type = to;
        e = e->unary.operand;
    }
    e->type = to;
}

static void list_becomes(checker *c, expr *e, const type *element) {
    e->type = type_tensor(c->types, element, e->type->tensor.rank);
    for (uint32_t i = 0; i < e->list.count; i++) {
        expr *item = e->list.items[i];
        if (item->kind == EXPR_ARRAY)
            list_becomes(c, item, element);
        else
            literal_becomes(item, element);
    }
}

/* 3, -3 and what is an i64, which became f64 as the parameter is one. NULL: it is a real number. */
static expr *as_whole(checker *c, expr *e) {
    if (e->kind == EXPR_CAST && e->cast.implicit) {
        const type *t = type_resolve(c->types, e->cast.operand->type);
        return type_is_integer(t) ? e->cast.operand : NULL;
    }
    const expr *inner = e;
    bool is_negative = false;
    while (inner->kind == EXPR_UNARY && inner->unary.op == UNARY_NEG) {
        inner = inner->unary.operand;
        is_negative = !is_negative;
    }
    bool literal = inner->kind == EXPR_FLOAT && inner->floating.is_whole;
    if (literal && inner->floating.whole <= INT64_MAX) {
        int64_t value = (int64_t)inner->floating.whole;
        is_negative ^= inner->floating.value < 0; /* a sign that is part of the literal by now */
        return check_new_int(c, e->span, is_negative ? -value : value);
    }
    bool step = inner == e && e->kind == EXPR_FLOAT && e->floating.value == 1.0;
    return step ? check_new_int(c, e->span, 1) : NULL; /* what arange() goes by unless it is said */
}

/* The operation for whole numbers, when all that it is given are whole. */
static bool becomes_whole(checker *c, expr *e, const creator *made) {
    uint32_t first = made->i64 == TL_FN_tl_tensor_arange_i64 ? 0 : e->call.operand_count - 1 - (uint32_t)made->grad,
             end = e->call.operand_count - (uint32_t)made->grad;
    expr *whole[3] = {NULL};
    if (made->i64 == TL_FN_COUNT)
        return false;
    for (uint32_t i = first; i < end; i++) {
        whole[i - first] = as_whole(c, e->call.operands[i]);
        if (whole[i - first] == NULL)
            return false;
        check_cast_to(c, &whole[i - first], check_scalar(c, TYPE_I64));
    }
    for (uint32_t i = first; i < end; i++)
        e->call.operands[i] = whole[i - first];
    e->call.operand_count = end;
    e->call.abi = made->i64;
    e->type = type_tensor(c->types, check_scalar(c, TYPE_I64), e->type->tensor.rank);
    return true;
}

static void becomes_f64(checker *c, expr *e, const creator *made) {
    if (made->abi == TL_FN_tl_tensor_scalar) {
        expr *operands[2] = {e->call.operands[0], check_new_bool(c, e->span, false)};
        e->call.operands = check_join_list(c, NULL, operands, 2);
        e->call.operand_count = 2;
    }
    e->call.abi = made->f64;
    e->type = type_tensor(c->types, check_scalar(c, TYPE_F64), e->type->tensor.rank);
}

static void create(checker *c, expr **slot, const creator *made, const type *element) {
    expr *e = *slot;
    const int32_t rank = e->type->tensor.rank;
    if (type_is_integer(element) && becomes_whole(c, e, made)) {
        e->type = type_tensor(c->types, element, rank);
        return;
    }
    bool tracks = is_tracking(e, made);
    if (made->f64 != TL_FN_COUNT) {
        becomes_f64(c, e, made);
        if (element->kind == TYPE_F64)
            return;
    }
    expr *grad = tracks ? e->call.operands[e->call.operand_count - (uint32_t)made->grad] : NULL;
    if (tracks)
        e->call.operands[e->call.operand_count - (uint32_t)made->grad] = check_new_bool(c, e->span, false);
    expr *operands[2] = {e, check_new_int(c, e->span,
                                          element->kind == TYPE_F64  ? TL_F64
                                          : type_is_integer(element) ? TL_I64
                                                                     : TL_BOOL)};
    *slot = check_new_abi(c, TL_FN_tl_tensor_to_dtype, e->span, operands, 2);
    (*slot)->type = type_tensor(c->types, element, rank);
    if (tracks) {
        expr *leaf[2] = {*slot, grad};
        bool said = grad->kind == EXPR_BOOL;
        *slot = check_new_abi(c, said ? TL_FN_tl_tensor_enable_grad : TL_FN_tl_tensor_detach, e->span, leaf,
                              said ? 1 : 2);
        (*slot)->type = type_tensor(c->types, element, rank);
    }
}

/* The same function of the library for such elements. */
static function_item *instance_for(checker *c, const expr *e, const type *element) {
    function_item *written = e->call.function->template;
    type_environment environment = check_environment_new(c, written);
    environment.arguments[0] = element;
    return check_instance_of(c, written, c->instances->builtin_owners[TYPE_TENSOR], &environment, e->span);
}

static void become(checker *c, expr **slot, const type *element) {
    expr *e = *slot;
    if (e->kind == EXPR_ARRAY) {
        list_becomes(c, e, element);
        return;
    }
    const creator *made = e->call.kind == CALL_ABI ? creator_of(e->call.abi) : NULL;
    if (made != NULL) {
        create(c, slot, made, element);
        return;
    }
    if (e->call.kind == CALL_FUNCTION && makes_any(c, e->call.function)) {
        e->call.function = instance_for(c, e, element);
        e->type = type_tensor(c->types, element, e->type->tensor.rank);
        return;
    }
    for (uint32_t i = 0; i < e->call.operand_count; i++) {
        const type *t = type_resolve(c->types, e->call.operands[i]->type);
        if (passes_on(c, e, i) && (t->tensor.element == NULL || type_resolve(c->types, t->tensor.element) != element))
            become(c, &e->call.operands[i], element);
    }
    e->type = type_tensor(c->types, element, e->type->tensor.rank);
}

bool check_create_as(checker *c, expr **slot, const type *to) {
    const type *from = type_resolve(c->types, (*slot)->type);
    const type *element = to->tensor.element == NULL ? NULL : type_resolve(c->types, to->tensor.element);
    int32_t rank = from->tensor.rank;
    bool ranks = rank < 0 || to->tensor.rank < 0 || rank == to->tensor.rank;
    if (element == NULL || !ranks || !can_be(c, *slot, element, 0))
        return false;
    become(c, slot, element);
    MASU_DEBUG_ASSERT((*slot)->type->tensor.rank == rank && (*slot)->type->tensor.element == element);
    return true;
}

static bool make_branch(checker *c, expr **slot, const type *to) {
    expr *e = *slot;
    bool made;
    if (type_resolve(c->types, e->type)->kind != TYPE_TENSOR)
        return false;
    if (e->kind == EXPR_BLOCK && e->block->result != NULL) {
        made = make_branch(c, &e->block->result, to);
        e->block->type = made ? e->block->result->type : e->block->type;
    } else if (e->kind == EXPR_IF && e->branch.otherwise != NULL && e->branch.then->result != NULL) {
        made = make_branch(c, &e->branch.then->result, to);
        made |= make_branch(c, &e->branch.otherwise, to);
        e->branch.then->type = made ? e->branch.then->result->type : e->branch.then->type;
    } else {
        return check_create_as(c, slot, to);
    }
    if (made)
        e->type = type_tensor(c->types, to->tensor.element, e->type->tensor.rank);
    return made;
}

bool check_create_alike(checker *c, expr **slot, const type *to) {
    to = type_resolve(c->types, to);
    return to->kind == TYPE_TENSOR && to->tensor.element != NULL && make_branch(c, slot, to);
}
