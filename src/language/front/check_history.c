/* check_history.c: an element that is computed of elements keeps their history.
 *
 *     h[i] = h[i] * 3.0     ─►   if h.__is_tracked() { t.put(row h[i] * 3.0, …) } else { h[i] = h[i] * 3.0 }
 *
 * A number has no history, and an element is read as a number where nothing wants a tensor. What is stored into an
 * element is asked for when the program runs: where one of the tensors that it reads tracks gradients, its elements are
 * tensors of rank 0, with their history. Plain tensors are computed as ever.
 *
 * What must stay true: nothing is evaluated twice (of the two assignments one runs; the condition reads places only),
 * and a program that asks for no gradients is written as before (tests/golden/lang_element_update_history.tl).
 */
#include "language/front/check_convert.h"
#include "language/front/check_expr.h"
#include "language/front/check_place.h"
#include "language/front/check_tensor.h"
#include "language/types/check_context.h"
#include "language/types/check_instances.h"
#include "language/types/check_operation.h"
#include "language/types/check_scopes.h"
#include "language/types/check_written.h"

typedef struct history_search {
    checker *c;
    expr *condition;   /* that one of the tensors tracks gradients; NULL: none is read */
    const type *wants; /* what an element becomes; NULL: the condition is gathered */
} history_search;

bool check_asks_for_gradients(const checker *c) {
    const struct_item *tensor = c->instances->builtin_owners[TYPE_TENSOR];
    return tensor != NULL && names_find_method(c->names, tensor, "__differentiates") != NULL;
}

/* A name, its parts, and elements at places that can be looked at twice. */
static bool is_looked_at(const expr *e) {
    if (e->type != NULL)
        return false;
    if (e->kind == EXPR_INDEX) {
        for (uint32_t i = 0; i < e->index.count; i++)
            if (e->index.indices[i]->kind == EXPR_RANGE || !check_is_harmless(e->index.indices[i], 0))
                return false;
        return is_looked_at(e->index.base);
    }
    if (e->kind == EXPR_FIELD || e->kind == EXPR_TUPLE_FIELD)
        return is_looked_at(e->field.base);
    return e->kind == EXPR_NAME;
}

/* The tensor of real numbers that e is an element of, as another expression; NULL: of none. */
static expr *tensor_of(checker *c, const expr *e) {
    const expr *base = e->index.base;
    if (base->kind == EXPR_INDEX) {
        expr *outer = tensor_of(c, base);
        if (outer != NULL)
            return outer;
    }
    if (!is_looked_at(base))
        return NULL;
    expr *probe = expr_copy(c->tree->arena, base);
    check_expr(c, &probe, NULL);
    const type *t = type_resolve(c->types, probe->type);
    const type *held = t->kind != TYPE_TENSOR || t->tensor.element == NULL ? NULL
                                                                           : type_resolve(c->types, t->tensor.element);
    const bool real = t->kind == TYPE_TENSOR && (held == NULL || (held->kind != TYPE_BOOL && !type_is_integer(held)));
    return real ? expr_copy(c->tree->arena, base) : NULL;
}

static bool has_range(const expr *e) {
    for (uint32_t i = 0; i < e->index.count; i++)
        if (e->index.indices[i]->kind == EXPR_RANGE)
            return true;
    return false;
}

static void ask(history_search *s, source_span span, expr *tensor) {
    expr *one = build_method(s->c, span, tensor, "__is_tracked", NULL, 0);
    if (s->condition == NULL) {
        s->condition = one;
        return;
    }
    expr *both = check_new(s->c, EXPR_BINARY, span, NULL);
    both->binary.op = BINARY_OR;
    both->binary.op_span = span;
    both->binary.left = s->condition;
    both->binary.right = one;
    s->condition = both;
}

/* Each element that e computes with; what is given to a call, or cast, stays a number. */
static void each_element(history_search *s, expr *e) {
    checker *c = s->c;
    if (e->type != NULL)
        return;
    if (e->kind == EXPR_BINARY && e->binary.op <= BINARY_REM) {
        each_element(s, e->binary.left);
        each_element(s, e->binary.right);
    } else if (e->kind == EXPR_UNARY && e->unary.op == UNARY_NEG) {
        each_element(s, e->unary.operand);
    } else if (e->kind == EXPR_METHOD && e->call.arg_count == 0 && check_is_abi_method(e->call.name)) {
        each_element(s, e->call.receiver);
    } else if (e->kind == EXPR_INDEX && !has_range(e)) {
        expr *tensor = tensor_of(c, e);
        if (tensor != NULL && s->wants != NULL) {
            e->becomes = s->wants;
            e->is_shown = e->is_updated = false;
        } else if (tensor != NULL) {
            ask(s, e->span, tensor);
        }
    }
}

bool check_assign_with_history(checker *c, expr **slot) {
    expr *e = *slot, *target = e->assign.target;
    if (e->assign.history != HISTORY_UNKNOWN || target->kind != EXPR_INDEX || target->type != NULL ||
        e->assign.value->type != NULL || !is_looked_at(target) || !check_asks_for_gradients(c))
        return false;
    history_search s = {.c = c};
    each_element(&s, e->assign.value);
    expr *written = s.condition == NULL ? NULL : tensor_of(c, target);
    if (written == NULL)
        return false;
    expr *kept = expr_copy(c->tree->arena, e);
    s.wants = type_tensor(c->types, NULL, 0);
    each_element(&s, kept->assign.value);
    kept->assign.history = HISTORY_KEPT;
    e->assign.history = HISTORY_NONE;
    expr *again = expr_copy(c->tree->arena, written); /* a leaf stays one: it is written as the numbers that it holds */
    *slot = BUILD_QUOTE(c, e->span, "{ if ($0) && !($3.is_leaf() && $4.__is_tracked()) { $1; } else { $2; } }",
                        s.condition, kept, e, written, again);
    check_expr(c, slot, check_scalar(c, TYPE_VOID));
    return true;
}
