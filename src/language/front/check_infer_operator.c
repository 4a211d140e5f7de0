/* check_infer_operator.c: what operators, indices and casts say of brackets and rows (check_infer.c).
 *
 *     a * 2, -a, a as f32, a[i, j]     a bracket is a tensor there
 *     a == b                           both are of one type: one answer of lists, one for each element of tensors
 *     t[i] + u                         a row where u is a tensor
 */
#include <string.h>

#include "language/front/check_infer.h"
#include "language/front/check_iterator.h"
#include "language/types/check_scopes.h"
#include "language/types/check_variants.h"

/* ---- indices ----------------------------------------------------------------------------------- */

/* x or x.a.b, of a variable x. */
static binding *root_of(const inference *n, const expr *e) {
    while (e->kind == EXPR_FIELD || e->kind == EXPR_TUPLE_FIELD)
        e = e->field.base;
    const symbol *s = e->kind == EXPR_NAME && e->name.scope == NULL ? names_find(n->c->names, e->name.name) : NULL;
    return s == NULL || s->inferred == NULL ? NULL : s->walked;
}

static bool is_same_path(const expr *a, const expr *b) {
    for (; a->kind == b->kind && a->kind != EXPR_NAME; a = a->field.base, b = b->field.base)
        if (a->kind == EXPR_FIELD ? strcmp(a->field.name, b->field.name) != 0 : a->field.index != b->field.index)
            return false;
    return a->kind == b->kind;
}

static indexed_place *place_indexed(inference *n, const expr *base) {
    binding *root = root_of(n, base);
    for (uint32_t i = 0; root != NULL && i < n->place_count; i++)
        if (n->places[i].root == root && is_same_path(n->places[i].base, base))
            return &n->places[i];
    if (root == NULL)
        return NULL;
    const indexed_place made = {.base = base, .root = root};
    CHECK_PUSH(n->c, n->places, n->place_count, n->place_capacity, made);
    return &n->places[n->place_count - 1];
}

/* Whether t[i] is t[i, j] elsewhere, so that it is a row. */
static bool is_surely_row(inference *n, const expr *e) {
    uint32_t count = 0;
    for (; e->kind == EXPR_INDEX && (count == 0 || !e->in_parentheses); e = e->index.base)
        count += e->index.count;
    indexed_place *p = place_indexed(n, e);
    if (p == NULL)
        return false;
    n->deeper |= p->most > 0 && count > p->most;
    p->most = count > p->most ? count : p->most;
    if (e->kind == EXPR_NAME && p->most <= TL_MAX_RANK)
        p->root->first_rank = (uint8_t)p->most;
    return count < p->most;
}

/* For a tensor, with so many numbers between the brackets. */
static const type *type_of_element_at(inference *n, expr *e, const type *tensor, uint32_t count) {
    const type *held = tensor->tensor.element == NULL ? NULL : infer_value(n, tensor->tensor.element);
    const open_form *made = held == NULL ? NULL : infer_form_of(held); /* numbers that are put into it do not decide */
    const type *element = held != NULL && (made == NULL || made->kind != FORM_MADE)
                              ? held
                              : type_open_number(n->c->types, TYPE_F32, e->span);
    bool is_element = tensor->tensor.rank == (int32_t)count;
    if (n->comprehensions > 0 || (is_element && !type_is_float(element)))
        return element;
    open_form *f = infer_form(n, FORM_ROW, e);
    if (tensor->tensor.rank > (int32_t)count) { /* the check may not know the rank */
        type_decide(f->open, type_tensor(n->c->types, tensor->tensor.element, tensor->tensor.rank - (int32_t)count));
        return infer_value(n, f->open);
    }
    f->is_element = is_element;
    f->element = element;
    if (tensor->tensor.rank < 0 && is_surely_row(n, e))
        infer_tensor(n, f->open);
    return f->open;
}

const type *infer_index(inference *n, expr *e, const type *base, const type **at) {
    const expr *only = e->index.count == 1 ? e->index.indices[0] : NULL;
    bool part = only != NULL && (only->kind == EXPR_RANGE || check_is_form(n->c, at[0], SAID_RANGE));
    if (part && only->kind != EXPR_RANGE)
        check_part_by_range(n->c, e, at[0]);
    if (infer_is_bracket(base) && e->index.count > 1) {
        infer_tensor(n, base);
        base = infer_value(n, base);
    }
    if (infer_is_bracket(base))
        return part ? base : base->open.form->element;
    if (infer_form_of(base) != NULL && base->open.form->kind == FORM_ROW) {
        infer_tensor(n, base);
        base = infer_value(n, base);
    }
    if (base->kind == TYPE_TENSOR && only != NULL && at[0]->kind == TYPE_TENSOR && n->comprehensions == 0)
        return type_tensor(n->c->types, base->tensor.element, -1); /* t[mask], t[numbers] */
    switch (base->kind) {
    case TYPE_VEC:
        return part ? type_vec(n->c->types, base->vec.element) : base->vec.element;
    case TYPE_TENSOR:
        return part ? base : type_of_element_at(n, e, base, e->index.count);
    case TYPE_STRING:
        return part ? base : check_scalar(n->c, TYPE_CHAR);
    case TYPE_STRUCT: {
        const type *found = infer_yield(n, base, "index", at, e->index.count);
        const type *led = found == NULL ? infer_led(n, base) : NULL;
        if (led != NULL)
            infer_holds(n, e->index.base, led);
        return found != NULL ? found : led != NULL ? infer_index(n, e, led, at) : n->any;
    }
    default:
        return NULL;
    }
}

/* t[i][j] is t[i, j] of a tensor. */
const type *infer_indexed(inference *n, expr *e) {
    expr *inner = e->index.base;
    bool merges = inner->kind == EXPR_INDEX && !inner->in_parentheses;
    const type *base = infer_value(n, infer_expr(n, inner));
    const type **at = CHECK_ARRAY(n->c, const type *, e->index.count + 1);
    for (uint32_t i = 0; i < e->index.count; i++) {
        at[i] = infer_value(n, infer_expr(n, e->index.indices[i]));
        bool open = infer_is_bracket(at[i]) || (infer_is_truth(at[i]) && infer_is_row(at[i]->open.form->element));
        if (base->kind == TYPE_TENSOR && n->comprehensions == 0 && open)
            infer_tensor(n, at[i]);
    }
    const open_form *row = infer_form_of(base);
    if (merges && row != NULL && row->kind == FORM_ROW && row->e == inner)
        return infer_form(n, FORM_ROW, e)->open; /* the check sees one index of both */
    const type *t = infer_index(n, e, base, at);
    if (t == NULL) {
        t = infer_open(n);
        infer_wait(n, (waiting){.e = e, .operand = base, .arguments = at, .result = t});
    }
    return t;
}

/* ---- operators --------------------------------------------------------------------------------- */

/* The rank of a tensor and what is beside it. */
static int32_t rank_of_both(const type *tensor, const type *other) {
    if (other->kind != TYPE_TENSOR)
        return type_is_numeric(other) || tensor->tensor.rank == 0 ? tensor->tensor.rank : -1;
    const int32_t a = tensor->tensor.rank, b = other->tensor.rank;
    return a < 0 || b < 0 ? -1 : a > b ? a : b;
}

static const type *arithmetic_of_tensors(inference *n, binary_op op, const type *a, const type *b) {
    const type *tensor = a->kind == TYPE_TENSOR ? a : b, *other = tensor == a ? b : a;
    if (infer_is_row(other) && (tensor->tensor.rank == 0 || other->open.form->is_element)) {
        other->open.form->prefers_tensor = true;
    } else if (infer_is_row(other)) {
        infer_tensor(n, other);
        other = infer_value(n, other);
    }
    const type *held = tensor->tensor.element, *beside = other->kind == TYPE_TENSOR ? other->tensor.element : other;
    if (held != NULL && beside != NULL && type_is_open_number(infer_value(n, beside)) &&
        infer_value(n, held)->kind != TYPE_OPEN)
        infer_same(n, held, beside);
    return type_tensor(n->c->types, infer_element_of_both(n, op, tensor, other), rank_of_both(tensor, other));
}

/* NULL: one of them has to be known first. */
const type *infer_arithmetic(inference *n, binary_op op, const type *a, const type *b) {
    if (infer_is_bracket(a) || infer_is_bracket(b)) { /* there is no such thing of lists */
        infer_tensor(n, a);
        infer_tensor(n, b);
        a = infer_value(n, a);
        b = infer_value(n, b);
    }
    if (a->kind == TYPE_TENSOR || b->kind == TYPE_TENSOR)
        return arithmetic_of_tensors(n, op, a, b);
    if (infer_is_row(a) || infer_is_row(b)) {
        if (infer_is_row(a) && infer_is_row(b))
            infer_same(n, a, b);
        return infer_is_row(a) ? a : b;
    }
    if (type_is_numeric(a) && type_is_numeric(b)) {
        infer_same(n, a, b);
        return infer_value(n, type_is_float(b) ? b : a);
    }
    if (a->kind == TYPE_OPEN || b->kind == TYPE_OPEN)
        return NULL;
    return a->kind == TYPE_STRING ? a : n->any;
}

/* t[i] > 0.5 of a tensor of unknown rank: an answer where a bool is wanted, a mask where a tensor is. */
static const type *type_of_row_compared(inference *n, expr *e, const type *a, const type *b) {
    const type *row = infer_is_row(a) ? a : b, *other = row == a ? b : a;
    if (infer_is_row(other))
        infer_same(n, row, other);
    else if (type_is_numeric(other) && row->open.form->element != NULL)
        infer_same(n, row->open.form->element, other);
    open_form *f = infer_form(n, FORM_TRUTH, e);
    f->element = row;
    return f->open;
}

static const type *type_of_comparison(inference *n, expr *e, const type *a, const type *b) {
    const type *left = infer_is_element(a) ? infer_value(n, a->open.form->element) : a,
               *right = infer_is_element(b) ? infer_value(n, b->open.form->element) : b;
    if (left != a || right != b) { /* a number is compared */
        if (left->kind == TYPE_TENSOR || right->kind == TYPE_TENSOR)
            return type_tensor(n->c->types, check_scalar(n->c, TYPE_BOOL), -1);
        a = left;
        b = right;
    }
    const type *beside = infer_is_row(a) ? b : a;
    if ((infer_is_row(a) || infer_is_row(b)) && (infer_is_row(beside) || type_is_numeric(beside)))
        return type_of_row_compared(n, e, a, b);
    bool equal = e->binary.op == BINARY_EQ || e->binary.op == BINARY_NE;
    bool brackets = infer_is_bracket(a) || infer_is_bracket(b);
    const type *other = infer_is_bracket(a) ? b : a;
    if (brackets && (type_is_numeric(other) || (!equal && other->kind == TYPE_TENSOR)))
        infer_tensor(n, infer_is_bracket(a) ? a : b); /* each element is compared */
    else if (a->kind != TYPE_TENSOR || b->kind == TYPE_OPEN)
        infer_same(n, a, b);
    else if (infer_is_bracket(b))
        infer_tensor(n, b);
    a = infer_value(n, a);
    b = infer_value(n, b);
    if (a->kind == TYPE_TENSOR || b->kind == TYPE_TENSOR)
        return type_tensor(n->c->types, check_scalar(n->c, TYPE_BOOL),
                           a->kind == TYPE_TENSOR ? rank_of_both(a, b) : rank_of_both(b, a));
    if (!brackets)
        return check_scalar(n->c, TYPE_BOOL);
    open_form *f = infer_form(n, FORM_TRUTH, e);
    f->element = a;
    return f->open;
}

/* One answer is wanted. */
void infer_condition(inference *n, expr *e) {
    infer_same(n, infer_expr(n, e), check_scalar(n->c, TYPE_BOOL));
}

/* a & b, a << b */
static const type *type_of_bits(inference *n, const type *a, const type *b) {
    const bool alike = a->kind == TYPE_TENSOR && b->kind == TYPE_TENSOR && infer_element(n, a) == infer_element(n, b);
    return a->kind != TYPE_TENSOR && b->kind != TYPE_TENSOR ? a
           : alike ? type_tensor(n->c->types, a->tensor.element, rank_of_both(a, b))
                   : infer_any_tensor(n);
}

const type *infer_binary(inference *n, expr *e) {
    if (e->binary.op == BINARY_AND || e->binary.op == BINARY_OR) {
        infer_condition(n, e->binary.left);
        infer_condition(n, e->binary.right);
        return check_scalar(n->c, TYPE_BOOL);
    }
    const type *a = infer_value(n, infer_expr(n, e->binary.left)), *b = infer_value(n, infer_expr(n, e->binary.right));
    n->at = e->span;
    if (e->binary.op >= BINARY_EQ && e->binary.op <= BINARY_GE)
        return type_of_comparison(n, e, a, b);
    if (infer_is_truth(a) || infer_is_truth(b)) /* both are answers, or both masks */
        infer_same(n, a, b);
    if (!infer_is_arithmetic(e->binary.op))
        return type_of_bits(n, infer_value(n, a), infer_value(n, b));
    const type *t = infer_arithmetic(n, e->binary.op, a, b);
    if (t == NULL) {
        t = infer_open(n);
        infer_wait(n, (waiting){.e = e, .operand = a, .other = b, .result = t});
    }
    return t;
}

const type *infer_unary(inference *n, expr *e) {
    const type *t = infer_value(n, infer_expr(n, e->unary.operand));
    if (e->unary.op == UNARY_NEG && infer_is_bracket(t)) {
        n->at = e->span;
        infer_tensor(n, t);
    }
    t = infer_value(n, t);
    if (e->unary.op == UNARY_REFERENCE && e->unary.is_mutable)
        infer_lent(n, t);
    return t;
}

const type *infer_cast(inference *n, expr *e) {
    const type *from = infer_value(n, infer_expr(n, e->cast.operand));
    const type *to = infer_written(n, e->cast.target);
    n->at = e->span;
    if (infer_is_bracket(from)) {
        infer_tensor(n, from);
        from = infer_value(n, from);
    }
    if (infer_is_row(from))
        return from;
    return from->kind == TYPE_TENSOR && to->kind != TYPE_TENSOR ? type_tensor(n->c->types, to, from->tensor.rank) : to;
}

/* a..b as a value of its own. */
const type *infer_range(inference *n, expr *e) {
    const symbol *s = check_find(n->c, check_range_maker(e));
    const type *ends[2] = {infer_open(n), NULL};
    uint32_t count = 0;
    if (e->range.low != NULL)
        ends[count++] = infer_expr(n, e->range.low);
    if (e->range.high != NULL)
        ends[count++] = infer_expr(n, e->range.high);
    return s == NULL || s->function == NULL ? n->any : infer_call_of(n, s->function, NULL, NULL, ends, count);
}
