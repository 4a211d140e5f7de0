/* check_seen.c: `Rc<RefCell<Circle>>` where `Rc<RefCell<dyn Shape>>` is wanted: who holds the one and who holds the
 * other have the same circle.
 *
 *     held as Rc<dyn Shape>   ─►   { let <seen> = held; <seen>.PLACE().OVER … }
 *
 * The library says which types hold one value so (`seen_as`): PLACE is a place of that value, which becomes a variant
 * of the dyn type; OVER holds it beside what counted the first. Nothing is copied but the holder: a write through one
 * of the two is seen through the other, and who counts them counts both.
 */
#include "language/front/check_seen.h"
#include "language/front/check_walk.h"
#include "language/library/library.h"
#include "language/types/check_context.h"
#include "language/types/check_dyn_types.h"
#include "language/types/check_tree_made.h"

/* NULL: the type holds nothing that could be seen as another. */
static const char *way_over(const type *t) {
    const struct_item *s = t->kind == TYPE_STRUCT ? t->structure->template : NULL;
    return s == NULL ? NULL : library_word(LIBRARY_seen_as, s->name);
}

static bool is_seen(checker *c, const type *from, const type *to) {
    from = type_resolve(c->types, from);
    to = type_resolve(c->types, to);
    if (from == to)
        return false;
    if (check_is_dyn(to))
        return !check_is_dyn(from) && check_may_be_dyn(c, to->structure->dyn, from);
    return way_over(to) != NULL && from->kind == TYPE_STRUCT && from->structure->template == to->structure->template &&
           is_seen(c, from->structure->arguments[0], to->structure->arguments[0]);
}

bool check_is_seen_as(checker *c, const type *from, const type *to) {
    from = type_resolve(c->types, from);
    to = type_resolve(c->types, to);
    if (type_is_shared(from) && type_is_shared(to))
        return check_is_seen_as(c, from->vec.element, to->vec.element);
    return !check_is_dyn(to) && is_seen(c, from, to);
}

bool check_see_as(checker *c, expr **slot, const type *to) {
    const type *inside = type_resolve(c->types, to->structure->arguments[0]);
    const char *over = way_over(to);
    const char *place = check_is_dyn(inside) ? library_word(LIBRARY_seen_place, to->structure->template->name)
                                             : library_word(LIBRARY_seen_value, to->structure->template->name);
    const source_span whole = (*slot)->span;
    const source_span span = {.file = whole.file, .offset = whole.offset}; /* only the value itself moves */
    block_builder b = build_block(c, whole);
    const char *name = build_named(&b, "seen", *slot);
    expr *seen = build_method(c, span, check_new_name(c, span, name), place, NULL, 0);
    *slot = build_finish(&b, build_method(c, span, check_new_name(c, span, name), over, &seen, 1));
    check_expr(c, slot, to);
    return true;
}
