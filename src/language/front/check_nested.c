/* check_nested.c: t.tolist(), the elements as lists in one another, one level for each dimension, as PyTorch has it.
 * The type of the list has as many levels as the tensor has dimensions. Where the rank is not known it is stated, as
 * many levels as are wanted, one where nothing is: the tensor is looked at when the program runs (check_stated.c).
 */
#include "language/front/check_chain.h"
#include "language/front/check_convert.h"
#include "language/front/check_tensor.h"
#include "language/front/check_walk.h"
#include "language/library/library.h"
#include "language/types/check_context.h"

static int32_t levels_of(checker *c, const type *expected) {
    int32_t levels = 0;
    for (const type *t = expected; t != NULL && (t = type_resolve(c->types, t))->kind == TYPE_VEC; t = t->vec.element)
        levels++;
    return levels > 0 ? levels : 1;
}

bool check_nested_list(checker *c, expr **slot, const type *t, const type *expected) {
    expr *e = *slot;
    const char *flat = e->call.arg_count == 0 ? library_word(LIBRARY_nests, e->call.name) : NULL;
    if (flat == NULL)
        return false;
    if (t->tensor.rank < 0) {
        const type *stated = type_tensor(c->types, t->tensor.element, levels_of(c, expected));
        const uint8_t holds = e->call.receiver->holds;
        if (!check_coerce(c, &e->call.receiver, stated, NULL)) {
            check_make_error(c, e);
            return true;
        }
        e->call.receiver->holds = holds;
        t = stated;
    }
    if (t->tensor.rank == 0) {
        *slot = e->call.receiver;
        check_read_item(c, slot);
        return true;
    }
    if (t->tensor.rank == 1) {
        e->call.name = flat;
        return false;
    }
    expr *none = BUILD_QUOTE(c, e->span, "Vec::new()", NULL);
    if (expected != NULL && type_is(type_resolve(c->types, expected), TYPE_VEC))
        check_expr(c, &none, expected); /* what is wanted of the elements of rows of which nothing is known */
    *slot = BUILD_QUOTE(
        c, e->span,
        "{ let $rows = $0; let mut $all = $2; for $i in 0..$rows.dim(0) { $all.push($rows[$i].$1()); } $all }",
        e->call.receiver, check_new_name(c, e->span, e->call.name), none);
    check_expr(c, slot, expected);
    return true;
}
