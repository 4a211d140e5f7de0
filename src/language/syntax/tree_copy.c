/* tree_copy.c: deep copies of unchecked trees: instances of generic functions, uses of quotes.
 *
 * The checker writes into the tree that it checks, so each instance needs nodes of its own. Names, texts and
 * places are shared: they are not written to. A use of a quote has its own names and one place, and parts in its holes.
 */
#include <setjmp.h>
#include <string.h>

#include "base/assert.h"
#include "language/syntax/quote.h"

typedef struct copier {
    masu__arena *arena;
    quote_use *use; /* NULL: nothing is filled in */
    jmp_buf memory_ended;
} copier;

static void *copy_bytes(copier *c, const void *from, size_t count, size_t size) {
    if (count == 0 || from == NULL)
        return NULL;
    void *made = masu__arena_calloc(c->arena, count, size, _Alignof(max_align_t));
    if (made == NULL)
        longjmp(c->memory_ended, 1);
    memcpy(made, from, count * size);
    return made;
}

static expr *copy_expr(copier *c, const expr *e);
static type_expr *copy_type(copier *c, const type_expr *t);
static block *copy_block(copier *c, const block *b);

/* ---- what a use of a quote makes of its text ------------------------------------------------------ */

/* The number of the part that a name is the hole for; -1: it is a name. */
static int hole_of(const char *name) {
    return name != NULL && name[0] == '$' && name[1] >= '0' && name[1] <= '9' ? name[1] - '0' : -1;
}

static void fill_name(copier *c, const char **name) {
    if (c->use == NULL || *name == NULL || (*name)[0] != '$')
        return;
    const int hole = hole_of(*name);
    MASU_DEBUG_ASSERT(hole < (int)c->use->count);
    *name = hole >= 0           ? c->use->parts[hole]->name.name
            : (*name)[1] == '$' ? masu__arena_printf(c->arena, "<%s>", *name + 2)
                                : masu__arena_printf(c->arena, "<%s %u>", *name + 1, c->use->number);
    if (*name == NULL)
        longjmp(c->memory_ended, 1);
}

static void fill_span(const copier *c, source_span *span) {
    if (c->use != NULL)
        *span = c->use->span;
}

/* The first time the part itself, which may be checked; then copies of it. */
static expr *fill_hole(copier *c, int hole) {
    quote_use *use = c->use;
    MASU_DEBUG_ASSERT(hole < (int)use->count);
    if ((use->used & 1u << hole) == 0) {
        use->used |= 1u << hole;
        return use->parts[hole];
    }
    c->use = NULL;
    expr *copy = copy_expr(c, use->parts[hole]);
    c->use = use;
    return copy;
}

static void fill_node(copier *c, expr *e) {
    fill_span(c, &e->span);
    switch (e->kind) {
    case EXPR_NAME:
        fill_name(c, &e->name.name);
        fill_name(c, &e->name.scope);
        fill_span(c, &e->name.scope_span);
        break;
    case EXPR_CALL:
    case EXPR_METHOD:
        fill_name(c, &e->call.name);
        fill_span(c, &e->call.name_span);
        break;
    case EXPR_FIELD:
    case EXPR_TUPLE_FIELD:
        fill_name(c, &e->field.name);
        fill_span(c, &e->field.name_span);
        break;
    case EXPR_BINARY:
        fill_span(c, &e->binary.op_span);
        break;
    case EXPR_ASSIGN:
        fill_span(c, &e->assign.op_span);
        break;
    default:
        break;
    }
}

/* ---- copies ---------------------------------------------------------------------------------------- */

static expr **copy_list(copier *c, expr *const *items, uint32_t count) {
    expr **copy = copy_bytes(c, items, count, sizeof *items);
    for (uint32_t i = 0; i < count; i++)
        copy[i] = copy_expr(c, items[i]);
    return copy;
}

static type_expr **copy_types(copier *c, type_expr *const *items, uint32_t count) {
    type_expr **copy = copy_bytes(c, items, count, sizeof *items);
    for (uint32_t i = 0; i < count; i++)
        copy[i] = copy_type(c, items[i]);
    return copy;
}

static type_expr *copy_type(copier *c, const type_expr *t) {
    type_expr *copy = copy_bytes(c, t, t != NULL, sizeof *t);
    if (copy != NULL) {
        fill_name(c, &copy->name);
        fill_span(c, &copy->span);
        copy->arguments = copy_types(c, t->arguments, t->argument_count);
        copy->result = copy_type(c, t->result);
        copy->of = copy_type(c, t->of);
        copy->trait = copy_type(c, t->trait);
        copy->length = copy_expr(c, t->length);
    }
    return copy;
}

static binding *copy_binding(copier *c, const binding *b) {
    binding *copy = copy_bytes(c, b, b != NULL, sizeof *b);
    if (copy != NULL) {
        fill_name(c, &copy->name);
        fill_span(c, &copy->span);
        copy->annotation = copy_type(c, b->annotation);
    }
    return copy;
}

static binding **copy_bindings(copier *c, binding *const *items, uint32_t count) {
    binding **copy = copy_bytes(c, items, count, sizeof *items);
    for (uint32_t i = 0; i < count; i++)
        copy[i] = copy_binding(c, items[i]);
    return copy;
}

static pattern *copy_pattern(copier *c, const pattern *p) {
    pattern *copy = copy_bytes(c, p, p != NULL, sizeof *p);
    if (copy == NULL)
        return NULL;
    fill_name(c, &copy->name);
    fill_span(c, &copy->span);
    copy->binding = copy_binding(c, p->binding);
    copy->parts = copy_bytes(c, p->parts, p->part_count, sizeof *p->parts);
    for (uint32_t i = 0; i < p->part_count; i++)
        copy->parts[i] = copy_pattern(c, p->parts[i]);
    copy->low = copy_expr(c, p->low);
    copy->high = copy_expr(c, p->high);
    return copy;
}

static void copy_call(copier *c, expr *copy, const expr *e) {
    const call_expr *call = &e->call;
    copy->call.callee = copy_expr(c, call->callee);
    copy->call.receiver = copy_expr(c, call->receiver);
    copy->call.args = copy_list(c, call->args, call->arg_count);
    copy->call.type_arguments = copy_types(c, call->type_arguments, call->type_argument_count);
}

static void copy_struct(copier *c, expr *copy, const expr *e) {
    const struct_expr *s = &e->structure;
    copy->structure.inits = copy_bytes(c, s->inits, s->init_count, sizeof *s->inits);
    for (uint32_t i = 0; i < s->init_count; i++)
        copy->structure.inits[i].value = copy_expr(c, s->inits[i].value);
    copy->structure.base = copy_expr(c, s->base);
}

static void copy_comprehension(copier *c, expr *copy, const expr *e) {
    const comprehension_expr *from = e->comprehension;
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

static void copy_loop(copier *c, expr *copy, const expr *e) {
    const loop_expr *from = e->loop;
    loop_expr *to = copy_bytes(c, from, 1, sizeof *from);
    to->condition = copy_expr(c, from->condition);
    to->pattern = copy_pattern(c, from->pattern);
    to->iterable = copy_expr(c, from->iterable);
    to->body = copy_block(c, from->body);
    copy->loop = to;
}

static void copy_closure(copier *c, expr *copy, const expr *e) {
    copy->closure.parameters = copy_bindings(c, e->closure.parameters, e->closure.parameter_count);
    copy->closure.result = copy_type(c, e->closure.result);
    copy->closure.body = copy_expr(c, e->closure.body);
}

static void copy_parts(copier *c, expr *copy, const expr *e) {
    switch (e->kind) {
#define NOTHING
#define ONE(field)          copy->field = copy_expr(c, e->field);
#define LIST(items, count)  copy->items = copy_list(c, e->items, e->count);
#define BLOCK(field)        copy->field = copy_block(c, e->field);
#define TYPE(field)         copy->field = copy_type(c, e->field);
#define TYPES(items, count) copy->items = copy_types(c, e->items, e->count);
#define OWN(name)           copy_##name(c, copy, e);
#define NODE(kind, parts) \
    case EXPR_##kind:     \
        parts break;
#include "language/syntax/tree.def"
#undef NODE
    case EXPR_KIND_COUNT:
        break;
    }
}

static expr *copy_expr(copier *c, const expr *e) {
    if (c->use != NULL && e != NULL && e->kind == EXPR_NAME && hole_of(e->name.name) >= 0 && e->name.scope == NULL)
        return fill_hole(c, hole_of(e->name.name));
    expr *copy = copy_bytes(c, e, e != NULL, sizeof *e);
    if (copy != NULL) {
        copy_parts(c, copy, e);
        if (c->use != NULL)
            fill_node(c, copy);
    }
    return copy;
}

static block *copy_block(copier *c, const block *b) {
    block *copy = copy_bytes(c, b, b != NULL, sizeof *b);
    if (copy == NULL)
        return NULL;
    fill_span(c, &copy->span);
    stmt **next = &copy->first;
    for (const stmt *s = b->first; s != NULL; s = s->next) {
        stmt *made = copy_bytes(c, s, 1, sizeof *s);
        fill_span(c, &made->span);
        made->is_made |= c->use != NULL;
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

expr *expr_fill(masu__arena *arena, const expr *quote, quote_use *use) {
    copier c = {.arena = arena, .use = use};
    return setjmp(c.memory_ended) != 0 ? NULL : copy_expr(&c, quote);
}

function_item *function_copy(masu__arena *arena, const function_item *f) {
    copier c = {.arena = arena};
    if (setjmp(c.memory_ended) != 0)
        return NULL;
    function_item *copy = copy_bytes(&c, f, 1, sizeof *f);
    copy->parameters = copy_bindings(&c, f->parameters, f->parameter_count);
    copy->result_annotation = copy_type(&c, f->result_annotation);
    copy->body = copy_block(&c, f->body);
    return copy;
}
