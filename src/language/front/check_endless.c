/* check_endless.c: chains that start at a range without an end, or at what need not end by itself.
 *
 *     (1..).map(f).filter(g).take(n)   ─►   { let mut <all> = Vec::new(); let mut <i> = 1;
 *                                             loop { if <all>.len() >= n { break }
 *                                                    let <v> = f(<i>); <i> += 1; if g(<v>) { <all>.push(<v>); } }
 *                                             <all> }
 *
 * The same from a struct of the program that has `next`:     match <it>.next() { Some(<v>) => …, _ => break }
 *
 * Chains are Vecs here, one after another; only one that need not end is written as the loop that Rust would run. It
 * reaches up to the method that ends it: take, take_while, map_while, find, position, any.
 */
#include <string.h>

#include "language/front/check_private.h"

enum { STAGES_MAX = 16 };

static bool is(const expr *e, const char *name) {
    return strcmp(e->call.name, name) == 0 && e->call.arg_count == 1;
}

static bool counts(const expr *e) {
    return strcmp(e->call.name, "enumerate") == 0 && e->call.arg_count == 0;
}

static bool passes_on(const expr *e) {
    return counts(e) || is(e, "skip") || is(e, "map") || is(e, "filter") || is(e, "filter_map") ||
           is(e, "inspect");
}

static bool ends(const expr *e) {
    return is(e, "take") || is(e, "take_while") || is(e, "map_while") || is(e, "find") ||
           is(e, "position") || is(e, "any");
}

static expr *name(checker *c, const expr *e, const char *n) {
    return check_new_name(c, e->span, n);
}

/* f(args) */
static expr *call_of(checker *c, const expr *e, expr *f, expr **args, uint32_t count) {
    expr *call = check_new(c, EXPR_CALL, e->span, NULL);
    call->call.callee = f;
    call->call.name_span = e->kind == EXPR_METHOD ? e->call.name_span : e->span;
    call->call.args = CHECK_ARRAY(c, expr *, count + 1);
    call->call.arg_count = count;
    for (uint32_t i = 0; i < count; i++) {
        call->call.args[i] = args[i];
    }
    return call;
}

static expr *apply(checker *c, const expr *stage, const char *value) {
    expr *arg = name(c, stage, value);
    return call_of(c, stage, stage->call.args[0], &arg, 1);
}

static expr *leave(checker *c, const expr *e) {
    return check_new(c, EXPR_BREAK, e->span, NULL);
}

/* if condition { then } */
static expr *when(checker *c, expr *condition, expr *then) {
    expr *e = check_new(c, EXPR_IF, condition->span, NULL);
    block_builder b = build_block(c, condition->span);
    build_stmt(&b, then);
    e->branch.condition = condition;
    e->branch.then = b.block;
    return e;
}

static expr *negated(checker *c, expr *e) {
    expr *n = check_new(c, EXPR_UNARY, e->span, NULL);
    n->unary.op = UNARY_NOT;
    n->unary.operand = e;
    return n;
}

static expr *nothing(checker *c, const expr *e) {
    block_builder b = build_block(c, e->span);
    return build_finish(&b, NULL);
}

static expr *push(checker *c, const expr *e, const char *value) {
    expr *item = name(c, e, value);
    return build_method(c, e->span, name(c, e, "<all>"), "push", &item, 1);
}

static expr *one_more(checker *c, const expr *e, const char *counter) {
    expr *sum =
        check_new_binary(c, BINARY_ADD, name(c, e, counter), check_new_int(c, e->span, 1), NULL);
    return build_assign(c, e->span, name(c, e, counter), sum);
}

static expr *found(checker *c, const expr *e) {
    return build_assign(c, e->span, name(c, e, "<found>"), check_new_bool(c, e->span, true));
}

/* What happens with the value from stages[at] on. */
static expr *body_of(checker *c, expr *const *stages, uint32_t at, uint32_t count,
                     const char *value) {
    const expr *stage = stages[at];
    block_builder b = build_block(c, stage->span);
    char *next = check_printf(c, "<v %u>", at + 1);
    if (at + 1 == count) {
        if (is(stage, "take_while")) {
            build_stmt(&b, when(c, negated(c, apply(c, stage, value)), leave(c, stage)));
            build_stmt(&b, push(c, stage, value));
        } else if (is(stage, "map_while")) {
            build_stmt(&b, build_unpack(c, apply(c, stage, value), next, push(c, stage, next),
                                        leave(c, stage)));
        } else { /* take, and what looks for one: every value is kept until then */
            build_stmt(&b, push(c, stage, value));
            if (!is(stage, "take")) {
                block_builder ending = build_block(c, stage->span);
                build_stmt(&ending, found(c, stage));
                build_stmt(&ending, leave(c, stage));
                build_stmt(&b, when(c, apply(c, stage, value), build_finish(&ending, NULL)));
            }
        }
    } else if (counts(stage)) {
        char *counter = check_printf(c, "<n %u>", at);
        expr *pair = check_new(c, EXPR_TUPLE, stage->span, NULL);
        pair->list.count = 2;
        pair->list.items = CHECK_ARRAY(c, expr *, 2);
        pair->list.items[0] = name(c, stage, counter);
        pair->list.items[1] = name(c, stage, value);
        build_let(&b, next, false, pair);
        build_stmt(&b, one_more(c, stage, counter));
        build_stmt(&b, body_of(c, stages, at + 1, count, next));
    } else if (is(stage, "skip")) {
        char *counter = check_printf(c, "<n %u>", at);
        expr *past =
            check_new_binary(c, BINARY_GT, name(c, stage, counter), stage->call.args[0], NULL);
        build_stmt(&b, one_more(c, stage, counter));
        build_stmt(&b, when(c, past, body_of(c, stages, at + 1, count, value)));
    } else if (is(stage, "map")) {
        build_let(&b, next, false, apply(c, stage, value));
        build_stmt(&b, body_of(c, stages, at + 1, count, next));
    } else if (is(stage, "filter")) {
        build_stmt(&b, when(c, apply(c, stage, value), body_of(c, stages, at + 1, count, value)));
    } else if (is(stage, "filter_map")) {
        build_stmt(&b, build_unpack(c, apply(c, stage, value), next,
                                    body_of(c, stages, at + 1, count, next), nothing(c, stage)));
    } else {
        build_stmt(&b, apply(c, stage, value));
        build_stmt(&b, body_of(c, stages, at + 1, count, value));
    }
    return build_finish(&b, NULL);
}

/* Whether some struct of the program runs by itself. Functions are declared before bodies are checked: asked once. */
static bool has_iterators(checker *c) {
    for (uint32_t i = 0; c->iterators == ITERATORS_UNKNOWN && i < c->tree->function_count; i++) {
        const function_item *f = c->tree->functions[i];
        if (f->span.file != c->tree->prelude && f->owner_name != NULL &&
            strcmp(f->name, "next") == 0) {
            c->iterators = ITERATORS_SOME;
        }
    }
    c->iterators = c->iterators == ITERATORS_SOME ? ITERATORS_SOME : ITERATORS_NONE;
    return c->iterators == ITERATORS_SOME;
}

static bool runs_itself(checker *c, expr **start) {
    bool goes_on = (*start)->kind == EXPR_METHOD && strcmp((*start)->call.name, "by_ref") == 0;
    if (goes_on) { /* the variable itself moves on: see check_as_list */
        return false;
    }
    if ((*start)->kind != EXPR_NAME && (*start)->kind != EXPR_CALL &&
        (*start)->kind != EXPR_STRUCT && (*start)->kind != EXPR_METHOD) {
        return false;
    }
    check_expr(c, start, NULL);
    const type *t = type_resolve(c->types, (*start)->type);
    const function_item *f =
        t->kind == TYPE_STRUCT ? check_method_named(c, t->structure, "next") : NULL;
    return f != NULL && f->has_self && f->span.file != c->tree->prelude;
}

/* Where a chain starts that need not end by itself. */
typedef enum source {
    SOURCE_NONE,
    SOURCE_RANGE,      /* a.. */
    SOURCE_NEXT,       /* a struct of the program with next() */
    SOURCE_SUCCESSORS, /* successors(first, f) */
    SOURCE_FROM_FN,    /* from_fn(f) */
    SOURCE_REPEAT_WITH,
    SOURCE_REPEAT
} source;

static source source_by_form(const expr *e) {
    static const struct {
        const char *name;
        uint32_t args;
        source source;
    } functions[] = {{"successors", 2, SOURCE_SUCCESSORS},
                     {"from_fn", 1, SOURCE_FROM_FN},
                     {"repeat_with", 1, SOURCE_REPEAT_WITH},
                     {"repeat", 1, SOURCE_REPEAT}};
    if (e->kind == EXPR_RANGE) {
        return e->range.high == NULL && e->range.low != NULL ? SOURCE_RANGE : SOURCE_NONE;
    }
    if (e->kind != EXPR_CALL || e->type != NULL || e->call.callee == NULL ||
        e->call.callee->kind != EXPR_NAME) {
        return SOURCE_NONE;
    }
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        if (strcmp(e->call.callee->name.name, functions[i].name) == 0 &&
            e->call.arg_count == functions[i].args) {
            return functions[i].source;
        }
    }
    return SOURCE_NONE;
}

/* The stages in the order in which a value passes them; where the chain starts. NULL: it is no such chain. */
static expr **stages_of(checker *c, expr *e, expr **stages, uint32_t *count) {
    expr *s = e;
    while (s->kind == EXPR_METHOD && s->type == NULL && *count < STAGES_MAX &&
           (s == e || passes_on(s))) {
        stages[(*count)++] = s;
        s = s->call.receiver;
    }
    if (source_by_form(s) == SOURCE_NONE && !has_iterators(c)) {
        return NULL;
    }
    expr **start = &stages[*count - 1]->call.receiver;
    for (uint32_t i = 0; i < *count / 2; i++) {
        expr *held = stages[i];
        stages[i] = stages[*count - 1 - i];
        stages[*count - 1 - i] = held;
    }
    return start;
}

/* What the chain yields, behind its loop. */
static expr *outcome(checker *c, const expr *e) {
    expr *all = name(c, e, "<all>");
    if (is(e, "any")) {
        return name(c, e, "<found>");
    }
    if (!is(e, "find") && !is(e, "position")) {
        return all;
    }
    expr *branch = check_new(c, EXPR_IF, e->span, NULL);
    block_builder yes = build_block(c, e->span), no = build_block(c, e->span);
    if (is(e, "find")) {
        yes.block->result = build_method(c, e->span, all, "last", NULL, 0);
    } else {
        expr *length = build_method(c, e->span, all, "len", NULL, 0);
        expr *at = check_new_binary(c, BINARY_SUB, length, check_new_int(c, e->span, 1), NULL);
        yes.block->result = build_call(c, e->span, NULL, "Some", &at, 1);
    }
    branch->branch.condition = name(c, e, "<found>");
    branch->branch.then = yes.block;
    branch->branch.otherwise = build_finish(&no, name(c, e, "None"));
    return branch;
}

/* What <i> starts as; NULL: the source needs none. */
static expr *state_of(const expr *start, source from) {
    switch (from) {
    case SOURCE_RANGE:
        return start->range.low;
    case SOURCE_SUCCESSORS:
    case SOURCE_REPEAT:
        return start->call.args[0];
    default:
        return NULL;
    }
}

/* One value, and what becomes of it. */
static void take_next(checker *c, const expr *e, block_builder *body, expr *start, source from,
                      expr *then) {
    expr *value = name(c, e, "<v 0>");
    block_builder more = build_block(c, e->span);
    switch (from) {
    case SOURCE_NEXT:
        build_stmt(body,
                   build_unpack(c, build_method(c, e->span, name(c, e, "<i>"), "next", NULL, 0),
                                "<v 0>", then, leave(c, e)));
        return;
    case SOURCE_SUCCESSORS:
        build_stmt(&more, build_assign(c, e->span, name(c, e, "<i>"),
                                       call_of(c, e, start->call.args[1], &value, 1)));
        build_stmt(&more, then);
        build_stmt(body, build_unpack(c, name(c, e, "<i>"), "<v 0>", build_finish(&more, NULL),
                                      leave(c, e)));
        return;
    case SOURCE_FROM_FN:
        build_stmt(body, build_unpack(c, call_of(c, e, start->call.args[0], NULL, 0), "<v 0>", then,
                                      leave(c, e)));
        return;
    case SOURCE_REPEAT_WITH:
        build_let(body, "<v 0>", false, call_of(c, e, start->call.args[0], NULL, 0));
        break;
    default:
        build_let(body, "<v 0>", false, name(c, e, "<i>"));
    }
    if (from == SOURCE_RANGE) {
        build_stmt(body, one_more(c, e, "<i>"));
    }
    build_stmt(body, then);
}

/* *slot is the method that ends the chain. */
bool check_endless(checker *c, expr **slot) {
    expr *stages[STAGES_MAX], *e = *slot;
    uint32_t count = 0;
    expr **start = ends(e) ? stages_of(c, e, stages, &count) : NULL;
    source from = start == NULL ? SOURCE_NONE : source_by_form(*start);
    if (start != NULL && from == SOURCE_NONE && runs_itself(c, start)) {
        from = SOURCE_NEXT;
    }
    if (from == SOURCE_NONE) {
        return false;
    }
    block_builder b = build_block(c, e->span), body = build_block(c, e->span);
    build_let(&b, "<all>", true, build_call(c, e->span, "Vec", "new", NULL, 0));
    expr *state = from == SOURCE_NEXT ? *start : state_of(*start, from);
    if (state != NULL) {
        build_let(&b, "<i>", true, state);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (counts(stages[i]) || is(stages[i], "skip")) {
            build_let(&b, check_printf(c, "<n %u>", i), true, check_new_int(c, e->span, 0));
        }
    }
    if (is(e, "find") || is(e, "any") || is(e, "position")) {
        build_let(&b, "<found>", true, check_new_bool(c, e->span, false));
    } else if (is(e, "take")) {
        build_let(&b, "<most>", false, e->call.args[0]);
        expr *length = build_method(c, e->span, name(c, e, "<all>"), "len", NULL, 0);
        build_stmt(&body,
                   when(c, check_new_binary(c, BINARY_GE, length, name(c, e, "<most>"), NULL),
                        leave(c, e)));
    }
    take_next(c, e, &body, *start, from, body_of(c, stages, 0, count, "<v 0>"));
    expr *loop = check_new(c, EXPR_LOOP, e->span, NULL);
    loop->loop = CHECK_ARRAY(c, loop_expr, 1);
    loop->loop->body = body.block;
    build_stmt(&b, loop);
    *slot = build_finish(&b, outcome(c, e));
    check_expr(c, slot, NULL);
    return true;
}
