/* elaborate.c: the walk: parts first, so that what a rule meets is core below the node that it rewrites.
 *
 * What must stay true (judged by tree_valid.c): the type of a node is what it was, as what is around it was checked
 * against that.
 */
#include "base/assert.h"
#include "language/elaborate/elaboration.h"

expr *elaborate_new(elaboration *el, expr_kind kind, source_span span, const type *t) {
    expr *e = MASU_ARENA_NEW(el->tree->arena, expr);
    if (!e) {
        el->out_of_memory = true;
        return NULL;
    }
    e->kind = kind;
    e->span = span;
    e->type = t;
    return e;
}

expr *elaborate_abi(elaboration *el, tl_abi_index abi, source_span span, expr *const *operands, uint32_t count,
                    const type *t) {
    expr *e = elaborate_new(el, EXPR_CALL, span, t), **copy = MASU_ARENA_ARRAY(el->tree->arena, expr *, count + 1);
    if (!e || !copy) {
        el->out_of_memory = true;
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!operands[i])
            return NULL;
        copy[i] = operands[i];
    }
    e->call = (call_expr){.name_span = span, .kind = CALL_ABI, .abi = abi, .operands = copy, .operand_count = count};
    return e;
}

expr *elaborate_cast(elaboration *el, expr *e, const type *t) {
    if (!e || e->type == t)
        return e;
    expr *cast = elaborate_new(el, EXPR_CAST, e->span, t);
    if (cast) {
        cast->cast.operand = e;
        cast->cast.implicit = true;
    }
    return cast;
}

static void rewrite(expr *e, void *context) {
    elaboration *el = context;
    expr_each_child(e, rewrite, el);
    if (el->out_of_memory || !e->type)
        return;
    const type *t = e->type;
    if (e->kind == EXPR_ASSIGN) {
        elaborate_update(el, e);
        elaborate_append(el, e);
    } else if (e->kind == EXPR_CALL) {
        elaborate_never(el, e);
    } else if (e->kind == EXPR_LIST) {
        elaborate_list(el, e);
    }
    MASU_DEBUG_ASSERT(e->type == t);
    (void)t;
}

masu_status elaborate_tree(syntax_tree *tree, type_table *types) {
    elaboration el = {.tree = tree, .types = types};
    for (uint32_t i = 0; i < tree->function_count; i++) {
        function_item *f = el.function = tree->functions[i];
        if (f->body && f->is_checked) {
            expr body = {.kind = EXPR_BLOCK, .block = f->body};
            rewrite(&body, &el);
        }
    }
    return el.out_of_memory || types->out_of_memory ? MASU_ERR_OUT_OF_MEMORY : MASU_OK;
}
