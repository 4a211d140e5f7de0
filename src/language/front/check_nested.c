/* check_nested.c: t.tolist(), the elements as lists in one another, one level for each dimension, as PyTorch has it.
 *
 *     m.tolist()      { let <t> = m; let <all> = Vec::new();
 *                       for <i> in 0..<t>.dim(0) { <all>.push(<t>[<i>].tolist()) } <all> }
 *
 * The type of the list has as many levels as the tensor has dimensions. Where the rank is not known it is stated, as
 * many levels as are wanted, one where nothing is: the tensor is looked at when the program runs (check_stated.c).
 */
#include "language/front/check_build.h"
#include "language/front/check_call.h"
#include "language/front/check_chain.h"
#include "language/front/check_convert.h"
#include "language/front/check_expr.h"
#include "language/front/check_tensor.h"
#include "language/library/library.h"
#include "language/types/check_context.h"

/* for <i> in 0..<t>.dim(0) { <all>.push(<t>[<i>].tolist()) } */
static expr *over_rows(checker *c, const expr *e, const char *t, const char *all, const char *at) {
    const source_span span = e->span;
    expr *zero = check_new_int(c, span, 0);
    expr *row = chain_element(c, e, check_new_name(c, span, t), check_new_name(c, span, at));
    expr *list = build_method(c, span, row, e->call.name, NULL, 0);
    block_builder body = build_block(c, span);
    build_stmt(&body, build_method(c, span, check_new_name(c, span, all), "push", &list, 1));
    expr *first = check_new_int(c, span, 0);
    expr *rows = build_method(c, span, check_new_name(c, span, t), "dim", &first, 1);
    return build_for(c, span, build_name(c, span, at, BINDING_LOOP), build_range(c, span, zero, rows), body.block);
}

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
    const uint32_t number = c->text_count++;
    const char *whole = check_printf(c, "<rows of %u>", number), *all = check_printf(c, "<lists %u>", number),
               *at = check_printf(c, "<row %u>", number);
    block_builder b = build_block(c, e->span);
    build_let(&b, whole, false, e->call.receiver);
    build_let(&b, all, true, build_call(c, e->span, "Vec", "new", NULL, 0));
    build_stmt(&b, over_rows(c, e, whole, all, at));
    *slot = build_finish(&b, check_new_name(c, e->span, all));
    check_expr(c, slot, expected);
    return true;
}
