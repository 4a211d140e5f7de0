/* check_nested.c: t.tolist(), the elements as lists in one another, one level for each dimension, as PyTorch has it.
 *
 *     m.tolist()      { let <t> = m; let <all> = Vec::new();
 *                       for <i> in 0..<t>.dim(0) { <all>.push(<t>[<i>].tolist()) } <all> }
 *
 * The type of the list has as many levels as the tensor has dimensions: they are known when the program is compiled, or
 * it is refused.
 */
#include "language/front/check_build.h"
#include "language/front/check_call.h"
#include "language/front/check_chain.h"
#include "language/front/check_context.h"
#include "language/front/check_convert.h"
#include "language/front/check_expr.h"
#include "language/front/check_tensor.h"
#include "language/library/library.h"

/* for <i> in 0..<t>.dim(0) { <all>.push(<t>[<i>].tolist()) } */
static expr *over_rows(checker *c, const expr *e, const char *t, const char *all, const char *at) {
    const source_span span = e->span;
    expr *zero = check_new_int(c, span, 0);
    expr *row = chain_element(c, e, check_new_name(c, span, t), check_new_name(c, span, at));
    expr *list = build_method(c, span, row, e->call.name, NULL, 0);
    block_builder body = build_block(c, span);
    build_stmt(&body, build_method(c, span, check_new_name(c, span, all), "push", &list, 1));
    expr *range = check_new(c, EXPR_RANGE, span, NULL), *loop = check_new(c, EXPR_FOR, span, NULL);
    range->range.low = zero;
    zero = check_new_int(c, span, 0);
    range->range.high = build_method(c, span, check_new_name(c, span, t), "dim", &zero, 1);
    loop->loop = CHECK_ARRAY(c, loop_expr, 1);
    loop->loop->iterable = range;
    loop->loop->pattern = CHECK_ARRAY(c, pattern, 1);
    *loop->loop->pattern = (pattern){.span = span, .kind = PATTERN_NAME, .binding = CHECK_ARRAY(c, binding, 1)};
    *loop->loop->pattern->binding = (binding){.name = at, .span = span, .kind = BINDING_LOOP};
    loop->loop->body = body.block;
    return loop;
}

bool check_nested_list(checker *c, expr **slot, const type *t, const type *expected) {
    expr *e = *slot;
    const char *flat = e->call.arg_count == 0 ? library_word(LIBRARY_nests, e->call.name) : NULL;
    if (flat == NULL)
        return false;
    if (t->tensor.rank < 0) {
        diagnostic *d = diagnostics_say(c->diagnostics, e->span, SAY(rank_of_nested_list_is_not_known), e->call.name);
        diagnostics_note(c->diagnostics, d, (source_span){0},
                         "`let m: Tensor<f32, 2> = …` says it; `%s()` is one list of all elements", flat);
        check_make_error(c, e);
        return true;
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
