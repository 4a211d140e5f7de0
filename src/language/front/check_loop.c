/* check_loop.c: loops, what `for` runs over, and the jumps out of them. */
#include <string.h>

#include "language/front/check_call.h"
#include "language/front/check_convert.h"
#include "language/front/check_expr.h"
#include "language/front/check_iterator.h"
#include "language/front/check_part.h"
#include "language/front/check_place.h"
#include "language/library/library.h"
#include "language/types/check_context.h"
#include "language/types/check_scopes.h"
#include "language/types/check_view.h"
#include "language/types/check_written.h"

/* ---- loops ----------------------------------------------------------------------------------- */

/* for i in range(a, b) and range(b). */
static void range_call(checker *c, expr **slot) {
    expr *e = *slot;
    symbol *s = check_find(c, "range");
    bool call = e->kind == EXPR_CALL && e->type == NULL && e->call.callee->kind == EXPR_NAME &&
                e->call.callee->name.scope == NULL &&
                library_said_of(LIBRARY_function, e->call.callee->name.name) == SAID_RANGE;
    if (!call || (s != NULL && s->function != NULL) || e->call.arg_count < 1 || e->call.arg_count > 2)
        return;
    *slot = build_range(c, e->span, e->call.arg_count == 2 ? e->call.args[0] : check_new_int(c, e->span, 0),
                        e->call.args[e->call.arg_count - 1]);
}

/* The type of what a `for` yields; NULL: `next` says what, and when. */
static const type *check_iterable(checker *c, expr **slot) {
    range_call(c, slot);
    if ((*slot)->kind == EXPR_RANGE && (*slot)->range.low != NULL && (*slot)->range.low->kind == EXPR_CHAR)
        check_range_as_list(c, slot);
    if ((*slot)->kind == EXPR_RANGE)
        return check_range(c, *slot, NULL);
    const call_views written = {.receiver = c->tree->has_reference_impls ? check_view(c, *slot) : (view){0},
                                .has_receiver = c->tree->has_reference_impls};
    const bool is_reference = check_is_reference(c, *slot);
    check_expr(c, slot, NULL);
    if (check_found_iterator(c, slot, is_reference, &written))
        return NULL;
    check_as_list(c, slot);
    const type *t = type_resolve(c->types, (*slot)->type);
    switch (t->kind) {
    case TYPE_VEC:
        return t->vec.element;
    case TYPE_TENSOR:
        if (t->tensor.rank == 0) {
            diagnostics_say(c->diagnostics, (*slot)->span, SAY(tensor_of_rank_0_has_no));
            return check_scalar(c, TYPE_ERROR);
        }
        return type_tensor(c->types, t->tensor.element, t->tensor.rank < 0 ? -1 : t->tensor.rank - 1);
    case TYPE_ERROR:
        return t;
    case TYPE_NEVER:
        diagnostics_say(c->diagnostics, (*slot)->span, SAY(this_never_yields_value));
        return check_scalar(c, TYPE_ERROR);
    case TYPE_STRING: /* its characters */
        *slot = build_method(c, (*slot)->span, *slot, "chars", NULL, 0);
        check_expr(c, slot, NULL);
        return check_scalar(c, TYPE_CHAR);
    default: {
        diagnostic *d = diagnostics_say(c->diagnostics, (*slot)->span, SAY(for_cannot_run_over), check_type_text(c, t));
        diagnostics_note(c->diagnostics, d, (source_span){0}, "it runs over `a..b`, a tensor or a `Vec`");
        return check_scalar(c, TYPE_ERROR);
    }
    }
}

static void mark_loop_bindings(pattern *p) {
    if (p->binding != NULL)
        p->binding->kind = BINDING_LOOP;
    for (uint32_t i = 0; i < p->part_count; i++)
        mark_loop_bindings(p->parts[i]);
}

static bool is_true(const expr *e) {
    return e->kind == EXPR_BOOL && e->boolean;
}

static const type *loop_type(checker *c, const expr *e, const loop_context *context) {
    bool endless = e->kind == EXPR_LOOP || (e->kind == EXPR_WHILE && is_true(e->loop->condition));
    if (endless && !e->loop->has_break)
        return check_scalar(c, TYPE_NEVER);
    return e->kind == EXPR_LOOP && context->break_type != NULL ? context->break_type : check_scalar(c, TYPE_VOID);
}

static bool is_over_tensor(const expr *iterable) {
    return iterable->type != NULL && type_is(iterable->type, TYPE_TENSOR);
}

/* False: what the loop runs over is an iterator. */
static bool check_head(checker *c, expr *e, uint32_t mark, const for_alias *alias) {
    if (e->kind == EXPR_WHILE) {
        check_condition(c, &e->loop->condition);
    } else if (e->kind == EXPR_FOR) {
        const type *t = check_iterable(c, &e->loop->iterable);
        if (t == NULL)
            return false;
        mark_loop_bindings(e->loop->pattern);
        check_bind(c, e->loop->pattern, t);
        if (e->loop->pattern->kind == PATTERN_NAME && e->loop->pattern->binding != NULL)
            e->loop->pattern->binding->is_element = is_over_tensor(e->loop->iterable);
        check_for_element(c, alias);
        check_twice(c, mark);
    }
    return true;
}

/* for x in &mut bag, where `impl IntoIterator for &mut Bag` says how: bag.into_iter() of that impl */
static void ask_by_reference(checker *c, expr **slot) {
    expr *e = *slot, *named = e;
    while (named->kind == EXPR_FIELD || named->kind == EXPR_UNARY)
        named = named->kind == EXPR_FIELD ? named->field.base : named->unary.operand;
    if (e->kind != EXPR_UNARY || e->unary.op != UNARY_REFERENCE || !e->unary.is_mutable || named->kind != EXPR_NAME ||
        check_find(c, named->name.name) == NULL || check_find(c, named->name.name)->binding == NULL)
        return;
    expr *read = check_copy_tree(c, e->unary.operand);
    check_expr(c, &read, NULL);
    const type *t = type_resolve(c->types, read->type);
    const function_item *f = t->kind == TYPE_STRUCT ? check_iterator_of_places(c, t) : NULL;
    if (f == NULL)
        return;
    *slot = build_method(c, e->span, e->unary.operand, f->name, NULL, 0);
    (*slot)->call.views = check_views_kept(c, (call_views){.receiver = check_view(c, e), .has_receiver = true});
}

void check_loop(checker *c, expr **slot, const type *expected) {
    expr *e = *slot;
    const bool by_name = e->kind == EXPR_FOR && e->loop->iterable->kind == EXPR_NAME;
    if (e->kind == EXPR_FOR && c->tree->has_reference_impls)
        check_view_pattern(c, e->loop->pattern, check_view_of_item(check_view(c, e->loop->iterable)));
    if (e->kind == EXPR_FOR)
        ask_by_reference(c, &e->loop->iterable);
    if (e->kind == EXPR_FOR)
        (void)check_loop_over_part(c, e);
    if (e->kind == EXPR_FOR && !check_runs_over_places(c, e) && check_loop_over_chain(c, slot))
        return;
    uint32_t outer = check_scope_open(c);
    block_builder b = build_block(c, e->span);
    for_alias alias = {0};
    if (e->kind == EXPR_FOR)
        check_for_alias(c, e, &b, &alias);
    if (check_refer_inside(c, e, &alias) && check_loop_over_chain(c, slot)) {
        check_scope_close(c, outer);
        *slot = build_checked(&b, *slot);
        return;
    }
    uint32_t mark = check_scope_open(c);
    if (!check_head(c, e, mark, &alias)) {
        check_scope_close(c, outer);
        check_loop_by_next(c, slot, by_name);
        return;
    }
    bool wanted = e->kind == EXPR_LOOP && expected != NULL && expected->kind != TYPE_VOID;
    loop_context context = {.loop = e, .break_type = wanted ? expected : NULL, .outer = c->nest->loop};
    c->nest->loop = &context;
    check_block(c, e->loop->body, check_scalar(c, TYPE_VOID));
    c->nest->loop = context.outer;
    check_scope_close(c, outer);
    e->type = loop_type(c, e, &context);
    *slot = build_checked(&b, e); /* what the place needs is evaluated before */
}

/* ---- jumps ----------------------------------------------------------------------------------- */

static loop_context *find_loop(checker *c, expr *e) {
    const char *word = e->kind == EXPR_BREAK ? "break" : "continue";
    loop_context *context = c->nest->loop;
    while (context != NULL && (e->jump.label == NULL ? context->loop->loop->is_block
                                                     : context->loop->loop->label == NULL ||
                                                           strcmp(context->loop->loop->label, e->jump.label) != 0))
        context = context->outer;
    if (context == NULL && e->jump.label != NULL) {
        diagnostics_say(c->diagnostics, e->jump.label_span, SAY(there_is_no_loop_here), e->jump.label);
    } else if (context == NULL) {
        diagnostics_say(c->diagnostics, e->span,
                        SAY_IF(c->nest->comprehension != NULL, cannot_leave_body_of_comprehension, outside_of_loop),
                        word);
    }
    return context;
}

static void check_break_value(checker *c, expr *e, loop_context *context) {
    if (e->jump.value == NULL) {
        if (context != NULL && context->break_type != NULL && context->break_type->kind != TYPE_ERROR) {
            diagnostics_say(c->diagnostics, e->span, SAY(this_loop_yields_break_needs_value),
                            check_type_text(c, context->break_type));
        }
        return;
    }
    const type *wish = context == NULL ? NULL : context->break_type;
    if (context != NULL && context->loop->is_kept)
        check_keep_reference(e->jump.value);
    check_expr(c, &e->jump.value, wish);
    if (context == NULL)
        return;
    wish = context->break_type; /* the value may hold breaks of its own */
    bool falls_through = context->loop->loop->is_block && e->jump.value->kind == EXPR_BLOCK;
    if (falls_through &&
        (e->jump.value->type->kind == TYPE_NEVER || (e->jump.value->type->kind == TYPE_VOID && wish == NULL)))
        return; /* the end of a labelled block without a value */
    if (context->loop->kind != EXPR_LOOP)
        diagnostics_say(c->diagnostics, e->jump.value->span, SAY(only_loop_yields_value));
    else if (wish != NULL)
        check_coerce_branch(c, &e->jump.value, wish, NULL);
    else if (context->loop->loop->has_break)
        diagnostics_say(c->diagnostics, e->jump.value->span, SAY(another_break_of_this_loop_has));
    else
        context->break_type = type_resolve(c->types, e->jump.value->type);
}

static void check_return(checker *c, expr *e) {
    const type *result = c->function->result;
    if (result == NULL) { /* of a closure: its first `return` says what it is */
        if (e->jump.value != NULL)
            check_expr(c, &e->jump.value, NULL);
        c->function->result = e->jump.value == NULL ? check_scalar(c, TYPE_VOID)
                                                    : type_resolve(c->types, e->jump.value->type);
        return;
    }
    if (c->nest->comprehension != NULL)
        diagnostics_say(c->diagnostics, e->span, SAY(return_cannot_leave_body_of_comprehension));
    if (e->jump.value == NULL) {
        if (result->kind != TYPE_VOID && result->kind != TYPE_ERROR) {
            diagnostic *d = diagnostics_say(c->diagnostics, e->span, SAY(return_needs_value_of_type),
                                            check_type_text(c, result));
            diagnostics_note(c->diagnostics, d, c->function->span, "`%s` is declared here", c->function->qualified);
        }
        return;
    }
    bool nothing = result->kind == TYPE_VOID;
    check_expr(c, &e->jump.value, nothing ? NULL : result);
    if (nothing && e->jump.value->type->kind != TYPE_VOID && !type_is_silent(e->jump.value->type)) {
        diagnostic *d = diagnostics_say(c->diagnostics, e->jump.value->span, SAY(returns_nothing),
                                        c->function->qualified);
        diagnostics_note(c->diagnostics, d, c->function->span, "write `-> %s` behind its parameters",
                         check_type_text(c, e->jump.value->type));
    } else if (!nothing) {
        check_coerce_branch(
            c, &e->jump.value, result,
            c->function->result_annotation == NULL
                ? NULL
                : &(coerce_reason){c->function->result_annotation->span, "the result's type is given here"});
    }
}

void check_jump(checker *c, expr *e) {
    e->type = check_scalar(c, TYPE_NEVER);
    if (e->kind == EXPR_RETURN) {
        check_return(c, e);
        return;
    }
    loop_context *context = find_loop(c, e);
    if (context != NULL)
        e->jump.target = context->loop;
    if (e->kind == EXPR_BREAK) {
        check_break_value(c, e, context);
        if (context != NULL)
            context->loop->loop->has_break = true;
    }
}
