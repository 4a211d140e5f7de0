/* check_unstated.c: numbers read from a tensor of which the compiler does not know what it holds.
 *
 *     fn f(x: &Tensor) -> f64 { x[0] }       nothing here says f32 or f64: the result does
 *
 * Such an element is an open number (check_literal.c): a use says what it is, else it is f32. It is read exactly as
 * the tensor has it when the program runs, or the program ends with an error (tl_tensor_exact_f32 and its like), so
 * that no digit is lost without a word:
 *
 *     wanted as f64, beside an f64      f64: every f32, and whole numbers up to 2^53
 *     an i64, a bool is wanted          the tensor has to hold those
 *     t[i] as f32, t[i].to_i64()        a conversion takes any element, from what the tensor holds
 *     t[i] = x, t[i] += x               computed in f64; what is stored is rounded to what the tensor holds
 *
 * What nothing decides is f64, i64 or bool where the way of the tensor says that it holds those: from where it was made
 * through functions of the program, records and lists (check_infer_result.c, check_infer_record.c). Where that is not
 * known either, it is f32 where the tensor holds f32, f64 where it holds f64 and i64 where it holds those: a function
 * with such elements and tensors among its parameters, or in them, is compiled for each, and the tensors passed say
 * which runs (lower_wide.c). `t[i] / 2` is what it is of a `Tensor<i64>`, also where the compiler does not know t.
 *
 * What must stay true (tests/golden/lang_unstated_*.tl): an element of a type that is known is never one of these.
 */
#include <stdlib.h>

#include "language/types/check_context.h"
#include "language/types/check_fits.h"

static int by_place(const void *a, const void *b) {
    const source_span *x = a, *y = b;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return (x->length > y->length) - (x->length < y->length);
}

static bool is_among(const span_list *l, source_span span) {
    return bsearch(&span, l->spans, l->count, sizeof span, by_place) != NULL;
}

const type *check_unstated_element(checker *c, source_span span, const expr *tensor, const type *expected) {
    expected = expected == NULL ? NULL : type_resolve(c->types, expected);
    if (c->types->whole != NULL && is_among(c->types->whole, span))
        return check_scalar(c, TYPE_I64);
    if (expected != NULL && expected->kind == TYPE_F64) {
        type_may_be_whole(c->types, span);
        return expected;
    }
    const bool real = expected != NULL && type_is_float(expected);
    if ((tensor->holds == TYPE_I64 && !real) ||
        (tensor->holds == TYPE_BOOL && (expected == NULL || !type_is_numeric(expected))))
        return check_scalar(c, tensor->holds);
    if (c->function == NULL || c->open->is_closing)
        return check_scalar(c, TYPE_F32);
    const type *t = type_open_number(c->types, TYPE_F32, span);
    if (t->number != NULL) {
        t->number->is_element = true;
        t->number->is_real = tensor->holds == TYPE_F64;
        t->number->prefers = t->number->is_real ? check_scalar(c, TYPE_F64) : NULL;
    }
    c->open->has_open = true;
    return t;
}

static bool is_item(const expr *e) {
    return e->kind == EXPR_CALL && e->call.kind == CALL_ABI && e->call.abi == TL_FN_tl_tensor_exact_f32;
}

bool check_is_unstated(checker *c, const expr *e) {
    if (e->type == NULL || !type_is_numeric(e->type))
        return false;
    if (is_item(e))
        return true;
    const type *base = e->kind == EXPR_INDEX && e->index.base->type != NULL
                           ? type_resolve(c->types, e->index.base->type)
                           : NULL;
    return base != NULL && base->kind == TYPE_TENSOR && base->tensor.element == NULL;
}

/* let k = y[i]; t[k]: what is nothing but elements of such tensors is whole where an index is wanted. */
static bool becomes_whole(checker *c, const expr *e) {
    const type *t = e->kind == EXPR_NAME && e->type != NULL ? type_resolve(c->types, e->type) : NULL;
    const open_number *number = t != NULL && type_is_open_number(t) && type_is_float(t) ? t->number : NULL;
    if (number == NULL || !number->is_element || number->is_real || number->is_parsed || number->prefers != NULL)
        return false;
    type_decide(t, check_scalar(c, TYPE_I64));
    return true;
}

bool check_unstated_as(checker *c, expr *const *slot, const type *to) {
    const bool whole = to->kind == TYPE_I64 || to->kind == TYPE_USIZE;
    if (whole && !type_is_open_number(to) && becomes_whole(c, *slot))
        return true;
    if ((!whole && to->kind != TYPE_BOOL) || type_is_open_number(to) || !check_is_unstated(c, *slot) ||
        !type_is_open_number(type_resolve(c->types, (*slot)->type)) || (to->kind == TYPE_BOOL && is_item(*slot)))
        return false;
    (*slot)->type = check_scalar(c, whole ? TYPE_I64 : TYPE_BOOL);
    return true;
}

const type *check_unstated_converted(checker *c, expr *e, const type *to) {
    const type *from = type_resolve(c->types, e->type);
    if (!type_is_open_number(from) || !from->number->is_element || !type_is_numeric(to))
        return from;
    if (to->kind == TYPE_I64 && check_is_unstated(c, e)) {
        if (is_item(e))
            e->call.abi = TL_FN_tl_tensor_item_i64;
        e->is_converted = true;
        e->type = to;
        return to;
    }
    if (from->number->prefers == NULL)
        from->number->prefers = check_scalar(c, TYPE_F64);
    return from;
}

bool check_stores_unstated(checker *c, expr *target, const expr *value) {
    const type *given = value->type == NULL ? NULL : type_resolve(c->types, value->type);
    bool whole = given != NULL && (given->kind == TYPE_I64 || given->kind == TYPE_USIZE || given->kind == TYPE_BOOL);
    if (!whole || !check_is_unstated(c, target))
        return false;
    target->type = check_scalar(c, given->kind == TYPE_BOOL ? TYPE_BOOL : TYPE_I64);
    return true;
}

void check_unstated_stored(checker *c, const expr *target, const expr *value) {
    const type *given = type_resolve(c->types, value->type);
    if (type_is_open_number(given) && given->number->prefers == NULL && check_is_unstated(c, target))
        given->number->prefers = check_scalar(c, TYPE_F64);
}

void check_close_unstated(expr *e) {
    if (is_item(e) && e->type->kind == TYPE_F64)
        e->call.abi = TL_FN_tl_tensor_exact_f64;
    else if (is_item(e) && e->type->kind == TYPE_I64)
        e->call.abi = TL_FN_tl_tensor_exact_i64;
}

/* ---- once more for f64, and for i64 ------------------------------------------------------------ */

enum { PARTS_MAX = 64 };

static bool holds_unstated(const type *t, uint32_t *parts) {
    if (++*parts > PARTS_MAX)
        return false;
    bool holds = t->kind == TYPE_TENSOR && t->tensor.element == NULL;
    if (t->kind == TYPE_VEC)
        return holds_unstated(t->vec.element, parts);
    for (uint32_t i = 0; t->kind == TYPE_TUPLE && !holds && i < t->tuple.count; i++)
        holds = holds_unstated(t->tuple.items[i], parts);
    for (uint32_t i = 0; t->kind == TYPE_STRUCT && !holds && i < t->structure->field_count; i++)
        holds = t->structure->fields[i].type != NULL && holds_unstated(t->structure->fields[i].type, parts);
    return holds;
}

/* Whether a tensor of unknown elements lies in a value of that type, where lower_wide.c finds it. */
static bool may_hold_unstated(const type *t) {
    uint32_t parts = 0;
    return holds_unstated(t, &parts);
}

function_item *check_wide_copy(checker *c, const function_item *f) {
    bool takes = false;
    for (uint32_t i = 0; !takes && i < f->parameter_count; i++)
        takes = f->parameters[i]->type != NULL && may_hold_unstated(f->parameters[i]->type);
    if (!takes || f->is_closure || f->is_wide || f->body == NULL)
        return NULL;
    return check_copy_function(c, f);
}

static function_item *add(checker *c, function_item *copy) {
    copy->is_wide = true;
    copy->exported = (source_span){0};
    copy->next_in_bucket = copy->instances = copy->next_instance = NULL;
    copy->index = c->tree->function_count;
    CHECK_PUSH(c, c->tree->functions, c->tree->function_count, c->tree->function_capacity, copy);
    return copy;
}

function_item *check_add_wide(checker *c, function_item *f, function_item *copy) {
    return f->wide = add(c, copy);
}

static void find_quotient(expr *e, void *context) {
    bool *found = context;
    *found |= (e->kind == EXPR_BINARY && e->binary.op == BINARY_DIV) ||
              (e->kind == EXPR_ASSIGN && e->assign.op == BINARY_DIV);
    if (!*found)
        expr_each_child(e, find_quotient, context);
}

bool check_is_whole_otherwise(const checker *c, const function_item *f, const function_item *unchecked) {
    expr body = {.kind = EXPR_BLOCK, .block = unchecked->body};
    bool quotient = false;
    if (c->types->may_be_whole.count == 0 || f->span.file == c->tree->prelude)
        return false;
    find_quotient(&body, &quotient);
    return quotient || c->types->guessed > 0;
}

function_item *check_add_whole(checker *c, function_item *f, function_item *copy) {
    span_list *all = CHECK_ARRAY(c, span_list, 1);
    *all = c->types->may_be_whole;
    all->capacity = all->count;
    c->types->may_be_whole = (span_list){0};
    qsort(all->spans, all->count, sizeof *all->spans, by_place);
    f->whole = add(c, copy);
    copy->is_whole = true;
    copy->whole_elements = all;
    return copy;
}
