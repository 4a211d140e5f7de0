/* check_stated.c: more is stated of a tensor than is known of it.
 *
 *     fn f(x: Tensor) -> Tensor<i64, 1> { x }     `Tensor` says neither element type nor rank; `Tensor<i64, 1>` does
 *
 * What is stated is believed from there on: how elements are read, how many indices they have. So the value is looked
 * at where it comes to be stated, when the program runs (lower_stated.c); what cannot be looked at is refused.
 *
 * Where all is known nothing is looked at.
 */
#include "language/front/check_convert.h"
#include "language/types/check_context.h"

enum { LISTS_DEEPEST = 8 };

static stated_way worse(stated_way a, stated_way b) {
    return a > b ? a : b;
}

/* A write through a reference is seen by all who hold one: none may state elements of which the others know
 * nothing. Of f32, which an element is that nothing says more of, own optimisers are lent lists. */
static bool is_stated_whole(checker *c, const type *t) {
    t = type_resolve(c->types, t);
    const type *element = t->kind == TYPE_TENSOR && t->tensor.element ? type_resolve(c->types, t->tensor.element)
                                                                      : NULL;
    return element != NULL && element->kind != TYPE_F32 && element->kind != TYPE_OPEN;
}

static stated_way way(checker *c, const type *from, const type *to, int lists) {
    from = type_resolve(c->types, from);
    to = type_resolve(c->types, to);
    if (from == to || from->kind != to->kind)
        return STATED_KNOWN;
    stated_way all = STATED_KNOWN;
    switch (from->kind) {
    case TYPE_TENSOR: {
        bool element = from->tensor.element == NULL && to->tensor.element != NULL;
        return element || (from->tensor.rank < 0 && to->tensor.rank >= 0) ? STATED_LOOKED_AT : STATED_KNOWN;
    }
    case TYPE_VEC:
        all = lists > 0 ? way(c, from->vec.element, to->vec.element, lists - 1) : STATED_UNSEEN;
        return type_is_shared(from) && all != STATED_KNOWN ? STATED_UNSEEN : all; /* another holder may exchange it */
    case TYPE_REFERENCE: /* `&mut [&mut Tensor]` is one of another */
        if (type_is_reference(from->vec.element) && type_is_reference(to->vec.element))
            return way(c, from->vec.element, to->vec.element, lists);
        return is_stated_whole(c, from->vec.element) != is_stated_whole(c, to->vec.element) ? STATED_UNSEEN
                                                                                            : STATED_KNOWN;
    case TYPE_TUPLE:
        for (uint32_t i = 0; i < from->tuple.count; i++)
            all = worse(all, way(c, from->tuple.items[i], to->tuple.items[i], lists));
        return all;
    case TYPE_STRUCT: {
        const struct_item *a = from->structure, *b = to->structure;
        bool alike = a->template != NULL && a->template == b->template && a->field_count == b->field_count;
        for (uint32_t i = 0; alike && i < a->field_count && all != STATED_UNSEEN; i++)
            all = worse(all, way(c, a->fields[i].type, b->fields[i].type, lists));
        bool is_cell = alike && a->template->drop != NULL; /* whose fields are reached through it alone */
        return is_cell && all != STATED_KNOWN ? STATED_UNSEEN : all;
    }
    default:
        return STATED_KNOWN;
    }
}

/* The library states its own results as Real and its like: of elements that are not known it may be more. */
stated_way check_stated_way(checker *c, const type *from, const type *to) {
    const bool own = c->function != NULL && c->function->span.file == c->tree->prelude;
    return own ? STATED_KNOWN : way(c, from, to, LISTS_DEEPEST);
}
