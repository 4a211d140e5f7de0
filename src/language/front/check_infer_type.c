/* check_infer_type.c: the variables of check_infer.c, and what makes two types the same.
 *
 * Types are those of the checker (types.h); a variable is a TYPE_OPEN, which may have a form: what it can become. Two
 * variables that meet are one from then on. What contradicts is passed over: the check says so, where the use is.
 */
#include "language/front/check_infer.h"
#include "language/types/check_dyn_types.h"
#include "language/types/check_written.h"

const type *infer_open(inference *n) {
    return type_open(n->c->types, NULL);
}

open_form *infer_form(inference *n, form_kind kind, expr *e) {
    checker *c = n->c;
    open_form *f = CHECK_ARRAY(c, open_form, 1);
    *f = (open_form){.kind = kind, .e = e};
    f->open = type_open(c->types, f);
    CHECK_PUSH(c, n->forms, n->form_count, n->form_capacity, f);
    return f;
}

bool infer_is_bracket(const type *t) {
    return infer_form_of(t) != NULL && t->open.form->kind == FORM_BRACKET;
}

const type *infer_value(inference *n, const type *t) {
    t = type_resolve(n->c->types, t);
    while (type_is_box(t) || (type_is_reference(t) && !type_is_slice(t)))
        t = type_resolve(n->c->types, t->vec.element);
    return type_is_slice(t) ? type_vec(n->c->types, t->vec.element) : t;
}

const type *infer_any_tensor(inference *n) {
    return type_tensor(n->c->types, NULL, -1);
}

/* ---- deciding ---------------------------------------------------------------------------------- */

static void decide(const type *open, const type *t) {
    if (!check_occurs(open, t))
        type_decide(open, t);
}

static void bracket_becomes(inference *n, open_form *f, const type *t) {
    if (t->kind != TYPE_VEC && t->kind != TYPE_TENSOR)
        return;
    f->because = n->at;
    if (t->kind == TYPE_VEC) {
        decide(f->open, t);
        infer_same(n, f->element, t->vec.element);
        return;
    }
    infer_tensor(n, f->element);
    const type *element = infer_value(n, f->element);
    const int32_t inner = element->kind == TYPE_TENSOR                             ? element->tensor.rank
                          : type_is_numeric(element) || element->kind == TYPE_BOOL ? 0
                                                                                   : -1;
    const int32_t rank = inner >= 0 && inner < TL_MAX_RANK ? inner + 1 : -1;
    element = element->kind == TYPE_TENSOR ? element->tensor.element : element;
    bool number = element != NULL && (element->kind == TYPE_OPEN || element->kind == TYPE_BOOL ||
                                      type_is_numeric(element)); /* of what is in it */
    decide(f->open, number ? type_tensor(n->c->types, element, rank) : t);
    if (number && t->tensor.element != NULL && type_is_float(element))
        infer_same(n, element, t->tensor.element);
}

static void functions_meet(inference *n, const open_form *a, const open_form *b) {
    for (uint32_t i = 0; i < a->count && i < b->count; i++)
        infer_same(n, a->parameters[i], b->parameters[i]);
    infer_same(n, a->result, b->result);
}

/* Both are open and have a form. */
static void forms_meet(inference *n, open_form *a, open_form *b) {
    if (a->kind != b->kind)
        return;
    if (check_occurs(a->open, b->open) ||
        (a->kind == FORM_BRACKET && (check_occurs(a->open, b->element) || check_occurs(b->open, a->element))))
        return;
    type_decide(a->open, b->open);
    b->prefers_list |= a->prefers_list;
    b->grows |= a->grows;
    b->prefers_tensor |= a->prefers_tensor;
    b->is_element &= a->is_element;
    b->is_literal &= a->is_literal;
    b->has_literal |= a->has_literal;
    b->is_shown |= a->is_shown;
    bool rows = a->kind == FORM_ROW || a->kind == FORM_TRUTH;
    if (a->kind == FORM_BRACKET || (rows && a->element != NULL && b->element != NULL))
        infer_same(n, a->element, b->element);
    else if (a->kind == FORM_FUNCTION)
        functions_meet(n, a, b);
}

/* A row has the elements of its tensor. */
static const type *row_like(inference *n, const open_form *f, const type *t) {
    const type *element = f->element == NULL ? NULL : infer_value(n, f->element);
    bool wide = element != NULL && element->kind == TYPE_F64 && !type_is_open_number(element);
    return wide && t->tensor.element == NULL ? type_tensor(n->c->types, element, t->tensor.rank) : t;
}

/* Brackets are compared as lists, rows as the numbers that they are then. */
static void one_is_compared(inference *n, const type *compared) {
    compared = infer_value(n, compared);
    if (infer_is_row(compared) && compared->open.form->element != NULL)
        infer_same(n, compared, compared->open.form->element);
    else
        infer_prefer_list(n, compared);
}

/* open has a form, t is decided. */
static void form_becomes(inference *n, open_form *f, const type *t) {
    switch (f->kind) {
    case FORM_BRACKET:
        bracket_becomes(n, f, t);
        return;
    case FORM_ROW:
        if (t->kind == TYPE_TENSOR)
            decide(f->open, row_like(n, f, t));
        else if (t->kind == TYPE_BOOL || type_is_numeric(t))
            decide(f->open, t);
        if (f->element != NULL && type_is_numeric(t))
            infer_same(n, f->element, t);
        return;
    case FORM_PAIR:
        if (t->kind == TYPE_TENSOR || t->kind == TYPE_TUPLE)
            decide(f->open, t);
        return;
    case FORM_TRUTH:
        if (t->kind == TYPE_BOOL) {
            decide(f->open, t);
            one_is_compared(n, f->element);
        } else if (t->kind == TYPE_TENSOR) {
            decide(f->open, t);
            infer_tensor(n, f->element);
        }
        return;
    case FORM_MADE:
        if (t->kind == TYPE_F64 && !type_is_open_number(t))
            decide(f->open, t);
        return;
    case FORM_FUNCTION:
        infer_meets_any(n, f, t);
        return;
    }
}

static void open_meets(inference *n, const type *a, const type *b) {
    open_form *f = infer_form_of(a), *g = infer_form_of(b);
    if (f != NULL && g != NULL)
        forms_meet(n, f, g);
    else if (f != NULL && b->kind == TYPE_OPEN)
        decide(b, a);
    else if (f != NULL)
        form_becomes(n, f, b);
    else if (a->kind != TYPE_OPEN && g != NULL)
        form_becomes(n, g, a);
    else if (a->kind == TYPE_OPEN)
        decide(a, b);
    else
        decide(b, a);
}

static void parts_meet(inference *n, const type *const *a, const type *const *b, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        infer_same(n, a[i], b[i]);
}

/* A list and what is collected from it: HashMap<K, V> of pairs, HashSet<T>. */
static void collection_meets(inference *n, const type *collection, const type *element) {
    const struct_item *s = collection->structure;
    element = infer_value(n, element);
    if (s->dyn != NULL && s->dyn->item != NULL)
        infer_same(n, s->dyn->item, element);
    uint32_t count = s->template == NULL ? 0 : s->template->generics.count;
    if (count == 1)
        infer_same(n, s->arguments[0], element);
    else if (count > 1 && element->kind == TYPE_TUPLE && element->tuple.count == count)
        parts_meet(n, s->arguments, element->tuple.items, count);
}

/* The numbers of a tensor that is written out are what its uses want. */
static void elements_meet(inference *n, const type *a, const type *b) {
    if (a == NULL || b == NULL) {
        if ((n->states & MIXED_ELEMENTS) == 0 && a != b && infer_is_whole(n, a == NULL ? b : a))
            n->mixes |= MIXED_ELEMENTS;
        return;
    }
    a = infer_value(n, a);
    b = infer_value(n, b);
    bool open = a->kind == TYPE_OPEN || b->kind == TYPE_OPEN;
    if (open || (type_is_float(a) && type_is_float(b)))
        infer_same(n, a, b);
    else if (a != b && (!type_is_integer(a) || !type_is_integer(b)))
        n->mixes |= MIXED_ELEMENTS;
}

static void tensors_meet(inference *n, const type *a, const type *b) {
    const bool known = a->tensor.rank >= 0 && b->tensor.rank >= 0;
    if (a->tensor.rank != b->tensor.rank && (known || (n->states & MIXED_RANKS) == 0))
        n->mixes |= MIXED_RANKS;
    elements_meet(n, a->tensor.element, b->tensor.element);
}

void infer_same(inference *n, const type *a, const type *b) {
    a = infer_value(n, a);
    b = infer_value(n, b);
    if (a == b || type_is_silent(a) || type_is_silent(b) || a->kind == TYPE_VOID || b->kind == TYPE_VOID)
        return;
    infer_collected_meets(n, a, b);
    infer_collected_meets(n, b, a);
    if (a->kind == TYPE_OPEN || b->kind == TYPE_OPEN)
        open_meets(n, a, b);
    else if (type_is_numeric(a) && type_is_numeric(b))
        check_unify_numbers(n->c, a, b);
    else if (a->kind == TYPE_VEC && b->kind == TYPE_VEC)
        infer_same(n, a->vec.element, b->vec.element);
    else if (a->kind == TYPE_TENSOR && b->kind == TYPE_TENSOR)
        tensors_meet(n, a, b);
    else if (a->kind == TYPE_STRUCT && b->kind == TYPE_VEC)
        collection_meets(n, a, b->vec.element);
    else if (a->kind == TYPE_VEC && b->kind == TYPE_STRUCT)
        collection_meets(n, b, a->vec.element);
    else if (a->kind == TYPE_TUPLE && b->kind == TYPE_TUPLE && a->tuple.count == b->tuple.count)
        parts_meet(n, a->tuple.items, b->tuple.items, a->tuple.count);
    else if (a->kind == TYPE_STRUCT && b->kind == TYPE_STRUCT && a->structure->template != NULL &&
             a->structure->template == b->structure->template)
        parts_meet(n, a->structure->arguments, b->structure->arguments, a->structure->template->generics.count);
}

void infer_into(inference *n, const type *value, const type *place, unsigned open) {
    const unsigned states = n->states;
    n->states = open;
    infer_same(n, value, place);
    n->states = states;
}

void infer_tensor(inference *n, const type *t) {
    t = infer_value(n, t);
    open_form *f = infer_form_of(t);
    if (f != NULL)
        form_becomes(n, f, infer_any_tensor(n));
}

/* And every bracket in it. */
void infer_prefer_list(inference *n, const type *t) {
    t = infer_value(n, t);
    if (infer_is_bracket(t)) {
        t->open.form->prefers_list = true;
        infer_prefer_list(n, t->open.form->element);
    } else if (t->kind == TYPE_VEC) {
        infer_prefer_list(n, t->vec.element);
    }
    for (uint32_t i = 0; t->kind == TYPE_TUPLE && i < t->tuple.count; i++)
        infer_prefer_list(n, t->tuple.items[i]);
}

void infer_wait(inference *n, waiting w) {
    CHECK_PUSH(n->c, n->queue, n->queue_count, n->queue_capacity, w);
}

const type *infer_written(inference *n, type_expr *t) {
    if (t == NULL || t->kind == TYPE_EXPR_FUNCTION || t->kind == TYPE_EXPR_DYN)
        return n->any;
    const type *found = check_held_type(n->c, t);
    return found == NULL ? n->any : found;
}

/* Whether only a list, and never a tensor, can have such elements. */
bool infer_only_lists_hold(const type *t) {
    return t->kind == TYPE_STRING || t->kind == TYPE_STRUCT || t->kind == TYPE_VEC || t->kind == TYPE_TUPLE ||
           t->kind == TYPE_CHAR || (infer_form_of(t) != NULL && t->open.form->kind == FORM_FUNCTION);
}

const type *infer_number(inference *n, const expr *e) {
    bool whole = e->kind == EXPR_INT;
    type_kind suffix = whole ? e->integer.suffix : e->floating.suffix;
    return suffix != TYPE_VOID ? check_scalar(n->c, suffix)
                               : type_open_number(n->c->types, whole ? TYPE_I64 : TYPE_F32, e->span);
}

bool infer_is_bare(const expr *e) {
    return e != NULL && e->kind == EXPR_FLOAT && e->floating.suffix == TYPE_VOID;
}

const type *infer_sum(inference *n, expr *e) {
    open_form *f = infer_form(n, FORM_ROW, e);
    f->is_element = f->is_literal = f->has_literal = true;
    f->element = infer_expr(n, e);
    return f->open;
}
