/* tree_copy.c: deep copies of unchecked trees: instances of generic functions.
 *
 * The checker writes into the tree that it checks, so each instance needs nodes of its own. Names, texts and
 * places are shared: nobody writes to those.
 */
#include <setjmp.h>
#include <string.h>

#include "language/syntax/tree.h"

typedef struct copier {
    masu__arena *arena;
    jmp_buf memory_ended;
} copier;

static void *copy_bytes(copier *c, const void *from, size_t count, size_t size) {
    if (count == 0 || from == NULL) {
        return NULL;
    }
    void *made = masu__arena_calloc(c->arena, count, size, _Alignof(max_align_t));
    if (made == NULL) {
        longjmp(c->memory_ended, 1);
    }
    memcpy(made, from, count * size);
    return made;
}

static expr *copy_expr(copier *c, const expr *e);
static type_expr *copy_type(copier *c, const type_expr *t);
static block *copy_block(copier *c, const block *b);

static expr **copy_list(copier *c, expr *const *items, uint32_t count) {
    expr **copy = copy_bytes(c, items, count, sizeof *items);
    for (uint32_t i = 0; i < count; i++) {
        copy[i] = copy_expr(c, items[i]);
    }
    return copy;
}

static type_expr **copy_types(copier *c, type_expr *const *items, uint32_t count) {
    type_expr **copy = copy_bytes(c, items, count, sizeof *items);
    for (uint32_t i = 0; i < count; i++) {
        copy[i] = copy_type(c, items[i]);
    }
    return copy;
}

static type_expr *copy_type(copier *c, const type_expr *t) {
    type_expr *copy = copy_bytes(c, t, t != NULL, sizeof *t);
    if (copy != NULL) {
        copy->arguments = copy_types(c, t->arguments, t->argument_count);
        copy->result = copy_type(c, t->result);
        copy->length = copy_expr(c, t->length);
    }
    return copy;
}

static binding *copy_binding(copier *c, const binding *b) {
    binding *copy = copy_bytes(c, b, b != NULL, sizeof *b);
    if (copy != NULL) {
        copy->annotation = copy_type(c, b->annotation);
    }
    return copy;
}

static binding **copy_bindings(copier *c, binding *const *items, uint32_t count) {
    binding **copy = copy_bytes(c, items, count, sizeof *items);
    for (uint32_t i = 0; i < count; i++) {
        copy[i] = copy_binding(c, items[i]);
    }
    return copy;
}

static pattern *copy_pattern(copier *c, const pattern *p) {
    pattern *copy = copy_bytes(c, p, p != NULL, sizeof *p);
    if (copy == NULL) {
        return NULL;
    }
    copy->binding = copy_binding(c, p->binding);
    copy->parts = copy_bytes(c, p->parts, p->part_count, sizeof *p->parts);
    for (uint32_t i = 0; i < p->part_count; i++) {
        copy->parts[i] = copy_pattern(c, p->parts[i]);
    }
    copy->low = copy_expr(c, p->low);
    copy->high = copy_expr(c, p->high);
    return copy;
}

static void copy_call(copier *c, expr *copy, const call_expr *call) {
    copy->call.callee = copy_expr(c, call->callee);
    copy->call.receiver = copy_expr(c, call->receiver);
    copy->call.args = copy_list(c, call->args, call->arg_count);
    copy->call.type_arguments = copy_types(c, call->type_arguments, call->type_argument_count);
}

static void copy_struct(copier *c, expr *copy, const struct_expr *s) {
    copy->structure.inits = copy_bytes(c, s->inits, s->init_count, sizeof *s->inits);
    for (uint32_t i = 0; i < s->init_count; i++) {
        copy->structure.inits[i].value = copy_expr(c, s->inits[i].value);
    }
    copy->structure.base = copy_expr(c, s->base);
}

static void copy_comprehension(copier *c, expr *copy, const comprehension_expr *from) {
    comprehension_expr *to = copy_bytes(c, from, 1, sizeof *from);
    to->clauses = copy_bytes(c, from->clauses, from->clause_count, sizeof *from->clauses);
    for (uint32_t i = 0; i < from->clause_count; i++) {
        to->clauses[i].index = copy_binding(c, from->clauses[i].index);
        to->clauses[i].low = copy_expr(c, from->clauses[i].low);
        to->clauses[i].high = copy_expr(c, from->clauses[i].high);
        to->clauses[i].condition = copy_expr(c, from->clauses[i].condition);
    }
    to->body = copy_expr(c, from->body);
    copy->comprehension = to;
}

static void copy_match(copier *c, expr *copy, const expr *e) {
    copy->match.value = copy_expr(c, e->match.value);
    copy->match.arms = copy_bytes(c, e->match.arms, e->match.count, sizeof *e->match.arms);
    for (uint32_t i = 0; i < e->match.count; i++) {
        copy->match.arms[i].pattern = copy_pattern(c, e->match.arms[i].pattern);
        copy->match.arms[i].guard = copy_expr(c, e->match.arms[i].guard);
        copy->match.arms[i].body = copy_expr(c, e->match.arms[i].body);
    }
}

static void copy_loop(copier *c, expr *copy, const loop_expr *from) {
    loop_expr *to = copy_bytes(c, from, 1, sizeof *from);
    to->condition = copy_expr(c, from->condition);
    to->pattern = copy_pattern(c, from->pattern);
    to->iterable = copy_expr(c, from->iterable);
    to->body = copy_block(c, from->body);
    copy->loop = to;
}

/* Operators, places and whatever else has few parts. */
static void copy_small(copier *c, expr *copy, const expr *e) {
    switch (e->kind) {
    case EXPR_UNARY:
        copy->unary.operand = copy_expr(c, e->unary.operand);
        break;
    case EXPR_BINARY:
        copy->binary.left = copy_expr(c, e->binary.left);
        copy->binary.right = copy_expr(c, e->binary.right);
        break;
    case EXPR_CAST:
        copy->cast.operand = copy_expr(c, e->cast.operand);
        copy->cast.target = copy_type(c, e->cast.target);
        break;
    case EXPR_FIELD:
    case EXPR_TUPLE_FIELD:
        copy->field.base = copy_expr(c, e->field.base);
        break;
    case EXPR_INDEX:
        copy->index.base = copy_expr(c, e->index.base);
        copy->index.indices = copy_list(c, e->index.indices, e->index.count);
        break;
    case EXPR_RANGE:
        copy->range.low = copy_expr(c, e->range.low);
        copy->range.high = copy_expr(c, e->range.high);
        break;
    case EXPR_ASSIGN:
        copy->assign.target = copy_expr(c, e->assign.target);
        copy->assign.value = copy_expr(c, e->assign.value);
        break;
    case EXPR_TRY:
        copy->attempt.operand = copy_expr(c, e->attempt.operand);
        break;
    case EXPR_REPEAT:
        copy->repeat.value = copy_expr(c, e->repeat.value);
        copy->repeat.count = copy_expr(c, e->repeat.count);
        break;
    default:
        break;
    }
}

static void copy_parts(copier *c, expr *copy, const expr *e) {
    switch (e->kind) {
    case EXPR_NAME:
        copy->name.arguments = copy_types(c, e->name.arguments, e->name.argument_count);
        copy->name.of = copy_type(c, e->name.of);
        break;
    case EXPR_CALL:
    case EXPR_METHOD:
        copy_call(c, copy, &e->call);
        break;
    case EXPR_STRUCT:
        copy_struct(c, copy, &e->structure);
        break;
    case EXPR_TUPLE:
    case EXPR_ARRAY:
        copy->list.items = copy_list(c, e->list.items, e->list.count);
        break;
    case EXPR_COMPREHENSION:
        copy_comprehension(c, copy, e->comprehension);
        break;
    case EXPR_BLOCK:
        copy->block = copy_block(c, e->block);
        break;
    case EXPR_IF:
        copy->branch.condition = copy_expr(c, e->branch.condition);
        copy->branch.then = copy_block(c, e->branch.then);
        copy->branch.otherwise = copy_expr(c, e->branch.otherwise);
        break;
    case EXPR_MATCH:
        copy_match(c, copy, e);
        break;
    case EXPR_WHILE:
    case EXPR_LOOP:
    case EXPR_FOR:
        copy_loop(c, copy, e->loop);
        break;
    case EXPR_BREAK:
    case EXPR_CONTINUE:
    case EXPR_RETURN:
        copy->jump.value = copy_expr(c, e->jump.value);
        break;
    case EXPR_CLOSURE:
        copy->closure.parameters =
            copy_bindings(c, e->closure.parameters, e->closure.parameter_count);
        copy->closure.result = copy_type(c, e->closure.result);
        copy->closure.body = copy_expr(c, e->closure.body);
        break;
    default:
        copy_small(c, copy, e);
        break;
    }
}

static expr *copy_expr(copier *c, const expr *e) {
    expr *copy = copy_bytes(c, e, e != NULL, sizeof *e);
    if (copy != NULL) {
        copy_parts(c, copy, e);
    }
    return copy;
}

static block *copy_block(copier *c, const block *b) {
    block *copy = copy_bytes(c, b, b != NULL, sizeof *b);
    if (copy == NULL) {
        return NULL;
    }
    stmt **next = &copy->first;
    for (const stmt *s = b->first; s != NULL; s = s->next) {
        stmt *made = copy_bytes(c, s, 1, sizeof *s);
        made->pattern = copy_pattern(c, s->pattern);
        made->annotation = copy_type(c, s->annotation);
        made->value = copy_expr(c, s->value);
        made->otherwise = copy_block(c, s->otherwise);
        *next = made;
        next = &made->next;
    }
    copy->result = copy_expr(c, b->result);
    return copy;
}

expr *expr_copy(masu__arena *arena, const expr *e) {
    copier c = {.arena = arena};
    return setjmp(c.memory_ended) != 0 ? NULL : copy_expr(&c, e);
}

function_item *function_copy(masu__arena *arena, const function_item *f) {
    copier c = {.arena = arena};
    if (setjmp(c.memory_ended) != 0) {
        return NULL;
    }
    function_item *copy = copy_bytes(&c, f, 1, sizeof *f);
    copy->parameters = copy_bindings(&c, f->parameters, f->parameter_count);
    copy->result_annotation = copy_type(&c, f->result_annotation);
    copy->body = copy_block(&c, f->body);
    return copy;
}
