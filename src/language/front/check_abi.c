/* check_abi.c: operations of the tables abi.def and ops.def.
 *
 * Names, numbers of arguments and their kinds all come from the table; so a new operation needs no
 * line here. Which of several lines of one name is meant, or that a function of the library is, says check_choose.c.
 *
 *     x.sum_something(a, [b, c], d)       receiver  VAL  LIST  VAL
 *
 * A LIST of integers is written [2, 3], (2, 3) or 2, 3; a LIST of tensors [a, b] or a, b.
 */
#include <string.h>

#include "language/front/check_call.h"
#include "language/front/check_choose.h"
#include "language/front/check_convert.h"
#include "language/front/check_dyn.h"
#include "language/front/check_expr.h"
#include "language/front/check_place.h"
#include "language/front/check_tensor.h"
#include "language/types/check_context.h"
#include "language/types/check_instances.h"
#include "language/types/check_scopes.h"
#include "language/types/check_written.h"

/* ---- choosing a line of the table ------------------------------------------------------------ */

typedef struct abi_call {
    checker *c;
    expr *call; /* the node */
    const char *name;
    bool method; /* parameter 0 is the receiver */
    bool grad;   /* default of the parameter `grad` */
    expr **operands;
    uint32_t count, capacity;
    expr *dynamic_shape; /* a shape that is a value: a tensor or a Vec */
    const type *element; /* that a tensor made from numbers is to have; NULL: not said */
    bool has_real;       /* an argument is a real number */
    bool broadcasts;     /* a number will do for a tensor */
    bool broken;
} abi_call;

/* No line takes so many arguments. */
static void report_count(checker *c, expr *call, const char *scope, const char *name, bool method) {
    abi_arity all = {UINT32_MAX, 0};
    tl_abi_index longest = TL_FN_COUNT;
    for (size_t i = 0; i < tl_abi_name_count; i++) {
        if (!check_abi_named(&tl_abi_names[i], scope, name))
            continue;
        abi_arity a = check_abi_arity(tl_abi_names[i].function, method);
        all.least = a.least < all.least ? a.least : all.least;
        longest = a.most > all.most ? tl_abi_names[i].function : longest;
        all.most = a.most > all.most ? a.most : all.most;
    }
    check_report_arity(c, call, name, all, longest, method);
    check_list(c, call->call.args, call->call.arg_count);
}

/* ---- arguments ------------------------------------------------------------------------------- */

static void push_operand(abi_call *a, expr *operand) {
    checker *c = a->c;
    CHECK_PUSH(c, a->operands, a->count, a->capacity, operand);
}

/* 2, -1: f64 where a parameter wants that, but a whole number as it is written. */
static bool is_whole_literal(const expr *e) {
    while (e->kind == EXPR_UNARY && e->unary.op == UNARY_NEG)
        e = e->unary.operand;
    return e->kind == EXPR_INT && e->integer.suffix == TYPE_VOID;
}

/* 2.7, -2.7: where an f64 is wanted it is one, also when it was looked at before that was known. */
static void make_literal_f64(expr *e, const type *wanted) {
    while (e->kind == EXPR_UNARY && e->unary.op == UNARY_NEG) {
        e->type = wanted;
        e = e->unary.operand;
    }
    e->type = wanted;
}

static bool holds_f64(checker *c, const expr *e) {
    const type *t = e->type ? type_resolve(c->types, e->type) : NULL;
    return t && t->kind == TYPE_TENSOR && t->tensor.element &&
           type_resolve(c->types, t->tensor.element)->kind == TYPE_F64;
}

/* Some operand of the call holds f64: a literal beside it is one, too. */
static bool beside_f64(const abi_call *a, const type *wanted) {
    expr *e = a->call;
    bool found = a->count > 0 && holds_f64(a->c, a->operands[0]);
    for (uint32_t i = 0; i < e->call.arg_count && !found; i++) {
        expr **x = &e->call.args[i];
        if ((*x)->type == NULL && (*x)->kind == EXPR_NAME)
            check_expr(a->c, x, wanted);
        found = holds_f64(a->c, *x);
    }
    return found;
}

static void add_operand(abi_call *a, expr **slot, const tl_abi_parameter *p) {
    checker *c = a->c;
    const type *wanted = check_kind_type(c, p->kind);
    bool whole = is_whole_literal(*slot);
    if ((*slot)->type == NULL)
        check_expr(c, slot, wanted);
    else if (wanted->kind == TYPE_F64 && check_is_real_literal(*slot))
        make_literal_f64(*slot, wanted);
    const type *found = type_resolve(c->types, (*slot)->type);
    if (wanted->kind == TYPE_TENSOR && type_is_numeric(found) && a->broadcasts) {
        if (check_is_real_literal(*slot) && beside_f64(a, wanted))
            make_literal_f64(*slot, check_scalar(c, TYPE_F64));
        check_number_as_tensor(c, slot);
        found = (*slot)->type;
    }
    bool fits = (found->kind == TYPE_TENSOR && wanted->kind == TYPE_TENSOR) || found == wanted ||
                (type_is_numeric(found) && type_is_numeric(wanted) && check_widens(found, wanted));
    a->has_real |= !whole && type_is_float(found);
    const coerce_reason why = {(source_span){0},
                               fits ? NULL : check_printf(c, "parameter `%s` of `%s`", p->name, a->name)};
    if (!check_coerce(c, slot, wanted, fits ? NULL : &why) || type_is_silent((*slot)->type))
        a->broken = true;
    push_operand(a, *slot);
}

/* A tuple or tensor that a variable holds, where a shape is wanted. True when it was dealt with. */
static bool add_shape_value(abi_call *a, expr *argument, const tl_abi_parameter *p) {
    checker *c = a->c;
    const type *t = type_resolve(c->types, argument->type);
    if (t->kind == TYPE_TUPLE && argument->kind == EXPR_NAME) {
        for (uint32_t i = 0; i < t->tuple.count; i++) {
            expr *part = build_part(c, argument->span, check_copy_place(c, argument), i);
            part->field.base->type = argument->type;
            part->type = t->tuple.items[i];
            add_operand(a, &part, p);
        }
        return true;
    }
    if (check_takes_shape(p) && (t->kind == TYPE_TENSOR ? t->tensor.rank != 0 : t->kind == TYPE_VEC)) {
        a->dynamic_shape = argument;
        return true;
    }
    if (p->kind == ABI_i64 && (t->kind == TYPE_TENSOR ? t->tensor.rank != 0 : t->kind == TYPE_VEC)) {
        diagnostic *d = diagnostics_say(c->diagnostics, argument->span, SAY(expected_integers_found),
                                        check_type_text(c, t));
        diagnostics_note(c->diagnostics, d, (source_span){0}, "a shape is written out: `[t.dim(0), t.dim(1)]`");
        a->broken = true;
        return true;
    }
    return false;
}

static void add_list_items(abi_call *a, expr *list, const tl_abi_parameter *p) {
    list->type = check_scalar(a->c, TYPE_VOID); /* it is gone: its items are operands */
    for (uint32_t i = 0; i < list->list.count; i++)
        add_operand(a, &list->list.items[i], p);
}

/* Consumes the arguments that make up the list; `behind` must be left for other parameters. */
static uint32_t add_list(abi_call *a, uint32_t next, uint32_t behind, const tl_abi_parameter *p) {
    checker *c = a->c;
    uint32_t end = a->call->call.arg_count - behind;
    for (bool first = true; next < end; first = false, next++) {
        expr **slot = &a->call->call.args[next];
        if (first && ((*slot)->kind == EXPR_ARRAY || (*slot)->kind == EXPR_TUPLE) && (*slot)->type == NULL) {
            add_list_items(a, *slot, p);
            return next + 1;
        }
        if ((*slot)->type == NULL)
            check_expr(c, slot, check_kind_type(c, p->kind));
        if (!first && (*slot)->type->kind == TYPE_BOOL)
            return next;
        if (first && add_shape_value(a, *slot, p))
            return next + 1;
        add_operand(a, slot, p);
    }
    return next;
}

static bool says_grad(const tl_abi_parameter *p) {
    return p->kind == ABI_bool && strcmp(p->name, "grad") == 0;
}

static void add_default(abi_call *a, const tl_abi_parameter *p) {
    checker *c = a->c;
    source_span span = a->call->call.name_span;
    if (p->kind == ABI_bool)
        push_operand(a, check_new_bool(c, span, says_grad(p) ? a->grad : p->fallback != 0));
    else if (p->kind == ABI_f64)
        push_operand(a, check_new_float(c, span, p->fallback, check_scalar(c, TYPE_F64)));
    else
        push_operand(a, check_new_int(c, span, (int64_t)p->fallback));
}

static uint32_t required_from(const tl_abi_parameter *p) {
    uint32_t count = 0;
    for (; p->name != NULL; p++)
        count += !p->optional;
    return count;
}

static void add_arguments(abi_call *a, tl_abi_index function) {
    const tl_abi_parameter *p = tl_abi_functions[function].parameters;
    uint32_t next = 0;
    if (a->method)
        add_operand(a, &a->call->call.receiver, p++);
    a->broadcasts = tl_abi_functions[function].shape == SHAPE_BROADCAST;
    for (; p->name != NULL; p++)
        if (p->mode == TL_LIST)
            next = add_list(a, next, required_from(p + 1), p);
        else if (next < a->call->call.arg_count)
            add_operand(a, &a->call->call.args[next++], p);
        else
            add_default(a, p);
    if (next < a->call->call.arg_count) {
        expr *extra = a->call->call.args[next];
        diagnostics_say(a->c->diagnostics, extra->span, SAY(takes_no_argument_here), a->name);
        a->broken = true;
    }
}

/* ---- the call -------------------------------------------------------------------------------- */

/* A program's item() yields the tensor's own element. */
static void finish_item(checker *c, expr **slot, const char *name) {
    expr *e = *slot;
    if (e->call.abi != TL_FN_tl_tensor_item)
        return;
    if (library_says(LIBRARY_reads_number, name) && library_word(LIBRARY_reads_number, name) == NULL) {
        *slot = e->call.operands[0];
        check_read_item(c, slot);
    } else {
        check_cast_to(c, slot, check_scalar(c, TYPE_F32));
    }
}

/* GradTensor::eye(n): made, then made to track. */
static void finish_grad(checker *c, expr **slot) {
    expr *e = *slot;
    const tl_abi_parameter *p = tl_abi_functions[e->call.abi].parameters;
    for (; p->name != NULL; p++)
        if (says_grad(p))
            return;
    if (e->type->kind == TYPE_TENSOR)
        *slot = check_new_abi(c, TL_FN_tl_tensor_enable_grad, e->span, &e, 1);
}

/* Whole numbers and a real one make real ones: a.pow(0.5) of i64. */
static bool works_in_reals(const abi_call *a, tl_abi_index function) {
    const tl_abi_function *f = &tl_abi_functions[function];
    return a->has_real && a->count > 0 && a->operands[0]->type->kind == TYPE_TENSOR && f->shape == SHAPE_SAME &&
           f->dtype == DTYPE_SAME && (f->effects & REPLACES) == 0;
}

static void finish(abi_call *a, expr **slot, tl_abi_index function) {
    checker *c = a->c;
    expr *e = *slot;
    if (works_in_reals(a, function))
        a->operands[0] = check_real_tensor(c, a->operands[0]);
    check_become_abi(c, e, function, a->operands, a->count);
    if (a->method && (tl_abi_functions[function].effects & REPLACES) != 0 && check_is_place(e->call.operands[0]))
        e->call.writes_receiver = check_write(c, e->call.operands[0], e->span, WRITE_TENSOR);
    if (check_abi_rank(e) > TL_MAX_RANK)
        diagnostics_say(c->diagnostics, e->span, SAY(tensor_has_at_most_dimensions), TL_MAX_RANK);
    finish_item(c, slot, a->name);
    if (a->grad)
        finish_grad(c, slot);
}

static const type *wanted_element(const checker *c, const type *expected) {
    const type *t = expected == NULL ? NULL : type_resolve(c->types, expected);
    const type *element = t == NULL || t->kind != TYPE_TENSOR || t->tensor.element == NULL
                              ? NULL
                              : type_resolve(c->types, t->tensor.element);
    return element == NULL || element->kind == TYPE_OPEN ? NULL : element;
}

/* reshape(s) and zeros(s) where s is a tensor or a Vec: made flat, then given the shape when the program runs. */
static void finish_dynamic(abi_call *a, expr **slot, tl_abi_index function) {
    checker *c = a->c;
    expr *e = *slot, *shape = a->dynamic_shape;
    source_span span = e->span;
    const bool typed = a->element != NULL && check_creates(function), expands = function == TL_FN_tl_tensor_expand;
    expr *flat = e->call.receiver, *element = NULL;
    if (shape->type->kind == TYPE_VEC)
        shape = build_call(c, span, "Tensor", "__shape", &shape, 1);
    if (!expands && function != TL_FN_tl_tensor_reshape) {
        expr *list = build_quote(c, span, "[$$shape.prod().item_i64()]", NULL, 0);
        expr **args = check_join_list(c, list, e->call.args + 1, e->call.arg_count - 1);
        flat = build_call(c, span, a->grad ? "GradTensor" : "Tensor", a->name, args, e->call.arg_count);
        element = typed ? check_new_name(c, span, check_type_text(c, a->element)) : NULL;
    }
    *slot = BUILD_QUOTE(c, span,
                        element != NULL
                            ? "{ let $$shape = $0; let $flat: Tensor<$2> = $1; $flat.__reshape_to($$shape) }"
                        : expands ? "{ let $$shape = $0; $1.__expand_to($$shape) }"
                                  : "{ let $$shape = $0; $1.__reshape_to($$shape) }",
                        shape, flat, element);
    check_expr(c, slot, NULL);
    if (typed && (*slot)->kind == EXPR_BLOCK && (*slot)->type->kind == TYPE_TENSOR) {
        const type *t = type_tensor(c->types, a->element, (*slot)->type->tensor.rank);
        (*slot)->type = (*slot)->block->type = (*slot)->block->result->type = t;
    }
}

/* Tensor::relu(x): a method that is called as a function. */
static bool call_of_method(checker *c, expr **slot, const char *scope, const char *name) {
    expr *e = *slot;
    if (strcmp(scope, "Tensor") != 0 || e->call.arg_count == 0 || !check_abi_known("", name))
        return false;
    *slot = build_method(c, e->span, e->call.args[0], name, e->call.args + 1, e->call.arg_count - 1);
    (*slot)->call.name_span = e->call.name_span;
    check_expr(c, slot, NULL);
    return true;
}

bool check_abi_call(checker *c, expr **slot, const char *scope, const char *name, bool grad, const type *expected) {
    expr *e = *slot;
    bool known = check_abi_known(scope, name), method = scope[0] == 0;
    if (known)
        check_lent_lists(e);
    if (!known && call_of_method(c, slot, scope, name))
        return true;
    if (!known)
        return false;
    struct_item *owner = check_builtin_owner(c, method ? "Tensor" : scope);
    const choice of = {.scope = scope,
                       .name = name,
                       .method = method,
                       .written = owner == NULL ? NULL : check_find_method(c, owner, name)};
    const form meant = check_choose(c, &of, e);
    if (meant.written != NULL)
        return false;
    tl_abi_index function = meant.row;
    if (function == TL_FN_COUNT)
        report_count(c, e, scope, name, method);
    abi_call a = {
        .c = c, .call = e, .name = name, .method = method, .grad = grad, .element = wanted_element(c, expected)};
    if (function != TL_FN_COUNT)
        add_arguments(&a, function);
    if (function == TL_FN_COUNT || a.broken)
        check_make_error(c, e);
    else if (a.dynamic_shape != NULL)
        finish_dynamic(&a, slot, function);
    else
        finish(&a, slot, function);
    return true;
}

/* An object of the table has the type that is wanted, String where none is. */
bool check_runtime_call(checker *c, expr *e, const type *expected) {
    const char *scope = e->call.callee->name.scope;
    if (strcmp(scope, "__runtime") != 0 || e->span.file != c->tree->prelude)
        return false;
    if (strcmp(e->call.callee->name.name, "held") == 0 && check_dyn_held(c, e))
        return true;
    tl_abi_index function = check_function_of_symbol(e->call.callee->name.name);
    const tl_abi_parameter *p = function == TL_FN_COUNT ? NULL : tl_abi_functions[function].parameters;
    uint32_t count = 0;
    while (p != NULL && count < TL_ABI_MAX_PARAMETERS && p[count].name != NULL)
        count++;
    if (p == NULL || count != e->call.arg_count) {
        check_list(c, e->call.args, e->call.arg_count);
        check_make_error(c, e);
        diagnostics_say(c->diagnostics, e->span, SAY(there_is_no_function), e->call.callee->name.name);
        return true;
    }
    for (uint32_t i = 0; i < count; i++) {
        const type *wanted = p[i].kind == ABI_object ? NULL : check_kind_type(c, p[i].kind);
        check_expr(c, &e->call.args[i], wanted);
        if (wanted != NULL)
            check_coerce(c, &e->call.args[i], wanted, NULL);
    }
    check_become_abi(c, e, function, e->call.args, count);
    if (tl_abi_functions[function].result == ABI_object && expected != NULL)
        e->type = type_resolve(c->types, expected);
    return true;
}
