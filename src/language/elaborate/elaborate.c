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

expr *elaborate_let(elaboration *el, stmt *s, const char *name, bool is_mutable, expr *value) {
    masu__arena *arena = el->tree->arena;
    function_item *f = el->function;
    binding *b = MASU_ARENA_NEW(arena, binding);
    pattern *p = MASU_ARENA_NEW(arena, pattern);
    el->out_of_memory |= !b || !p || !value;
    if (el->out_of_memory)
        return NULL;
    *b = (binding){.name = name,
                   .span = value->span,
                   .kind = BINDING_LET,
                   .type = value->type,
                   .id = f->binding_count,
                   .is_mutable = is_mutable,
                   .is_read = true,
                   .is_written = is_mutable};
    MASU_ARENA_PUSH(arena, f->bindings, f->binding_count, f->binding_capacity, b, el->out_of_memory = true);
    *p = (pattern){.span = value->span, .kind = PATTERN_NAME, .binding = b, .type = b->type};
    *s = (stmt){.kind = STMT_LET, .span = value->span, .pattern = p, .value = value, .is_made = true};
    return elaborate_name(el, value->span, s);
}

expr *elaborate_name(elaboration *el, source_span span, const stmt *let) {
    expr *e = el->out_of_memory ? NULL : elaborate_new(el, EXPR_NAME, span, let->pattern->type);
    if (e) {
        e->name.binding = let->pattern->binding;
        e->name.name = e->name.binding->name;
    }
    return e;
}

void elaborate_become_block(elaboration *el, expr *e, stmt *steps, uint32_t count, expr *result) {
    block *b = elaborate_block(el, e->span, steps, result, e->type);
    if (el->out_of_memory)
        return;
    for (uint32_t i = 0; i + 1 < count; i++)
        steps[i].next = &steps[i + 1];
    *e = (expr){.kind = EXPR_BLOCK, .span = e->span, .type = e->type, .height = e->height, .block = b};
}

expr *elaborate_binary(elaboration *el, binary_op op, expr *left, expr *right, const type *t) {
    expr *e = left && right ? elaborate_new(el, EXPR_BINARY, left->span, t) : NULL;
    if (e) {
        e->binary.op = op;
        e->binary.op_span = e->span;
        e->binary.left = left;
        e->binary.right = right;
    }
    return e;
}

expr *elaborate_not(elaboration *el, expr *e) {
    expr *negated = e ? elaborate_new(el, EXPR_UNARY, e->span, e->type) : NULL;
    if (negated) {
        negated->unary.op = UNARY_NOT;
        negated->unary.operand = e;
    }
    return negated;
}

block *elaborate_block(elaboration *el, source_span span, stmt *steps, expr *result, const type *t) {
    block *b = MASU_ARENA_NEW(el->tree->arena, block);
    el->out_of_memory |= !b;
    if (b)
        *b = (block){.span = span, .first = steps, .result = result, .type = t};
    return b;
}

expr *elaborate_if(elaboration *el, expr *condition, block *then, block *otherwise) {
    if (el->out_of_memory)
        return NULL;
    expr *e = elaborate_new(el, EXPR_IF, condition->span, then->type);
    if (e && otherwise) {
        e->branch.otherwise = elaborate_new(el, EXPR_BLOCK, otherwise->span, otherwise->type);
        if (e->branch.otherwise)
            e->branch.otherwise->block = otherwise;
    }
    if (e) {
        e->branch.condition = condition;
        e->branch.then = then;
    }
    return e;
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
        elaborate_choice(el, e);
        elaborate_capture(el, e);
    } else if (e->kind == EXPR_BINARY) {
        elaborate_text(el, e);
    } else if (e->kind == EXPR_LIST) {
        elaborate_list(el, e);
    } else if (e->kind == EXPR_REPEAT) {
        elaborate_repeat(el, e);
    } else if (e->kind == EXPR_BLOCK) {
        elaborate_total(el, e);
    } else if (e->kind == EXPR_STRUCT) {
        elaborate_base(el, e);
    }
    MASU_DEBUG_ASSERT(e->type == t);
    (void)t;
}

masu_status elaborate_tree(syntax_tree *tree, type_table *types) {
    elaboration el = {.tree = tree, .types = types};
    for (uint32_t i = 0; i < tree->function_count; i++) {
        function_item *f = el.function = tree->functions[i];
        if (f->body && f->is_checked && !f->is_left_out) {
            expr body = {.kind = EXPR_BLOCK, .block = f->body};
            rewrite(&body, &el);
        }
    }
    el.function = NULL; /* values of constants are operators of literals: nothing is bound in them */
    for (uint32_t i = 0; i < tree->constant_count; i++)
        if (!tree->constants[i]->is_composed && tree->constants[i]->value->type)
            rewrite(tree->constants[i]->value, &el);
    return el.out_of_memory || types->out_of_memory ? MASU_ERR_OUT_OF_MEMORY : MASU_OK;
}
