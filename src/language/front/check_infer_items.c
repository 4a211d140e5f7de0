/* check_infer_items.c: what a `for` runs over, and what becomes of its items (check_infer.c).
 *
 *     let b = [7, 9];
 *     for x in b { half(x); }      fn half<T>(x: T) -> T { x / 2 }: x is a number there, so b is a list of numbers
 *
 * What must stay true (tests/golden/lang_items_to_generics.tl): this is only preferred; a use that demands a tensor, or
 * that of a tensor which is none of these brackets, is as before.
 */
#include "language/front/check_infer.h"

const type *infer_item_of(inference *n, const type *t) {
    checker *c = n->c;
    if (infer_is_row(t)) {
        infer_tensor(n, t);
        t = infer_value(n, t);
    }
    if (infer_is_bracket(t))
        return t->open.form->element;
    switch (t->kind) {
    case TYPE_VEC:
        return t->vec.element;
    case TYPE_TENSOR:
        return type_tensor(c->types, t->tensor.element, t->tensor.rank > 0 ? t->tensor.rank - 1 : -1);
    case TYPE_STRING:
        return check_scalar(c, TYPE_CHAR);
    case TYPE_STRUCT: {
        const type *yielded = infer_yield(n, t, "next", NULL, 0);
        yielded = yielded == NULL ? infer_yield(n, t, "iter", NULL, 0) : yielded;
        yielded = yielded == NULL ? n->any : infer_value(n, yielded);
        bool option = yielded->kind == TYPE_STRUCT && yielded->structure->template != NULL;
        return option ? yielded->structure->arguments[0] : yielded->kind == TYPE_VEC ? yielded->vec.element : n->any;
    }
    case TYPE_OPEN:
        return NULL;
    default:
        return n->any;
    }
}

void infer_for_head(inference *n, expr *e) {
    expr *list = e->loop->iterable;
    const type *over = infer_value(n, infer_numbers(n, list));
    while (list->kind == EXPR_UNARY && list->unary.op == UNARY_REFERENCE)
        list = list->unary.operand;
    if (list->kind == EXPR_ARRAY &&
        infer_is_bracket(over)) { /* written where it is used up: nothing else can be done */
        n->at = list->span;
        infer_same(n, over, type_vec(n->c->types, infer_open(n)));
        over = infer_value(n, over);
    }
    const type *item = infer_item_of(n, over);
    if (item == NULL) {
        item = infer_open(n);
        infer_wait(n, (waiting){.e = e, .operand = over, .result = item});
    }
    infer_pattern(n, e->loop->pattern, item);
    if (infer_is_bracket(over) && e->loop->pattern->kind == PATTERN_NAME) {
        const inferred_item one = {e->loop->pattern->binding, over};
        CHECK_PUSH(n->c, n->items, n->item_count, n->item_capacity, one);
    }
}

void infer_item_goes_anywhere(inference *n, const expr *written) {
    const symbol *s = written != NULL && written->kind == EXPR_NAME && written->name.scope == NULL
                          ? names_find(n->c->names, written->name.name)
                          : NULL;
    for (uint32_t i = 0; s != NULL && i < n->item_count; i++) {
        const type *bracket = infer_value(n, n->items[i].bracket);
        if (n->items[i].item == s->walked && infer_is_bracket(bracket))
            bracket->open.form->prefers_list = true;
    }
}
