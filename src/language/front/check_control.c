/* check_control.c: blocks, statements, if. Loops are in check_loop.c, match in check_match.c. */
#include <string.h>

#include "language/front/check_call.h"
#include "language/front/check_closure.h"
#include "language/front/check_convert.h"
#include "language/front/check_expr.h"
#include "language/front/check_part.h"
#include "language/front/check_place.h"
#include "language/front/check_tensor.h"
#include "language/front/check_variant.h"
#include "language/library/library.h"
#include "language/types/check_context.h"
#include "language/types/check_dyn_types.h"
#include "language/types/check_scopes.h"
#include "language/types/check_view.h"
#include "language/types/check_written.h"

/* ---- statements ------------------------------------------------------------------------------ */

static void add_assigned(checker *c, const expr *target) {
    if (target->kind == EXPR_NAME && target->name.scope == NULL)
        CHECK_PUSH(c, c->writes->assigned, c->writes->assigned_count, c->writes->assigned_capacity, target->name.name);
    for (uint32_t i = 0; target->kind == EXPR_TUPLE && i < target->list.count; i++)
        add_assigned(c, target->list.items[i]);
}

static void find_assigned(expr *e, void *context) {
    checker *c = context;
    if (e->kind == EXPR_ASSIGN)
        add_assigned(c, e->assign.target);
    else if (e->kind == EXPR_UNARY && e->unary.op == UNARY_REFERENCE)
        add_assigned(c, e->unary.operand);
    else if (e->kind == EXPR_METHOD && library_says(LIBRARY_changes_rank, e->call.name))
        add_assigned(c, e->call.receiver);
    expr_each_child(e, find_assigned, context);
}

/* By name: of two variables of one name either may be meant. */
static bool is_assigned(checker *c, const char *name) {
    function_item *f = c->function;
    while (f->is_closure)
        f = f->outer;
    if (c->writes->assigned_in != f) {
        c->writes->assigned_in = f;
        c->writes->assigned_count = 0;
        block_each_child(f->body, find_assigned, c);
    }
    for (uint32_t i = 0; i < c->writes->assigned_count; i++)
        if (strcmp(c->writes->assigned[i], name) == 0)
            return true;
    return false;
}

/* The rank of a variable that is assigned to is the one that its tensor has when the program runs. Its first value says
 * how `t[i]` is read where its uses leave that open. */
static const type *variable_type(checker *c, const pattern *p, const type *t) {
    bool changes = p->kind == PATTERN_NAME && p->binding != NULL && p->binding->is_mutable && t->kind == TYPE_TENSOR &&
                   t->tensor.rank >= 0 && is_assigned(c, p->binding->name);
    if (!changes)
        return t;
    p->binding->first_rank = (uint8_t)t->tensor.rank;
    return type_tensor(c->types, t->tensor.element, -1);
}

/* let P = v else { … }; */
static void check_otherwise(checker *c, stmt *s, const type *t) {
    check_block(c, s->otherwise, check_scalar(c, TYPE_VOID));
    c->places->checked_up_to = NULL;
    if (s->otherwise->type->kind != TYPE_NEVER) {
        diagnostic *d = diagnostics_say(c->diagnostics, s->otherwise->span, SAY(else_of_let_must_not_reach));
        diagnostics_note(c->diagnostics, d, (source_span){0}, "`return`, `break`, `continue` or `panic` leave it");
    }
    check_pattern(c, s->pattern, t);
}

/* let x = <s 0>[i], of a slice pattern against a place: x refers to the element. */
static void refer_to_element(checker *c, stmt *s) {
    const expr *e = s->value;
    if (e == NULL || e->type != NULL || e->kind != EXPR_INDEX || e->index.base->kind != EXPR_NAME ||
        strncmp(e->index.base->name.name, "<s ", 3) != 0 || !check_refers(c, e->index.base))
        return;
    s->value = build_reference(c, e->span, s->value);
}

/* let x; */
static void let_later(checker *c, stmt *s) {
    binding *b = s->pattern->binding;
    if (!s->is_late) { /* the parser has said that it needs a value */
        check_bind(c, s->pattern,
                   s->annotation != NULL ? check_part_type(c, s->annotation) : check_scalar(c, TYPE_ERROR));
        return;
    }
    const type *t = s->annotation == NULL ? type_open(c->types, NULL) : check_part_type(c, s->annotation);
    c->open->has_open |= s->annotation == NULL;
    s->value = check_new(c, EXPR_CALL, s->pattern->span, t);
    s->value->call = (call_expr){.kind = CALL_NOTHING, .name_span = s->pattern->span};
    b->is_late = true;
    b->is_once = !b->is_mutable;
    b->is_mutable = true;
    c->function->has_late = true;
    check_bind(c, s->pattern, t);
}

/* let x: Tensor<f64> = tensor([[1.0], [2.0]]): the rank that is left out is that of the value. */
static const type *with_rank_of(checker *c, const stmt *s, const type *t) {
    const type *value = type_resolve(c->types, s->value->type);
    bool says = t->kind == TYPE_TENSOR && t->tensor.rank < 0 && value->kind == TYPE_TENSOR && value->tensor.rank >= 0;
    return says ? variable_type(c, s->pattern, type_tensor(c->types, t->tensor.element, value->tensor.rank)) : t;
}

void check_let_statement(checker *c, stmt *s) {
    if (c->tree->has_reference_impls && (s->value == NULL || s->value->type == NULL))
        check_view_pattern(c, s->pattern, check_view_of_let(c, s));
    if (check_let_made(c, s))
        return;
    if (s->value == NULL) {
        let_later(c, s);
        return;
    }
    if (check_let_temporaries(c, s))
        return; /* its values come first, then this one again */
    refer_to_element(c, s);
    if (check_let_alias(c, s))
        return;
    const type *t = s->annotation == NULL ? NULL : check_held_type(c, s->annotation);
    if (s->pattern->kind != PATTERN_TUPLE)
        check_unit_value(c, &s->value);
    bool named = s->pattern->kind == PATTERN_NAME && s->pattern->binding != NULL;
    if (named && s->annotation == NULL)
        s->pattern->binding->form = check_form_of(s->value);
    if (named && s->annotation == NULL)
        s->pattern->binding->is_to_value = check_is_reference(c, s->value);
    if (named && t == NULL && s->value->kind == EXPR_METHOD &&
        library_word(LIBRARY_of_option, s->value->call.name) != NULL)
        s->value->call.is_option = check_is_used_as_option(c, s);
    if (s->pattern->kind == PATTERN_VARIANT && s->value->kind == EXPR_METHOD &&
        library_word(LIBRARY_of_option, s->value->call.name) != NULL)
        s->value->call.is_option = true; /* let Some(x) = v.get(i) else { … } */
    bool own = s->pattern->kind == PATTERN_NAME && s->pattern->binding != NULL && s->pattern->binding->name[0] == '<' &&
               s->value->kind == EXPR_NAME;
    const expr *outer = c->places->alias_place;
    c->places->alias_place = check_let_by_name(c, &s);
    if (!own && (s->annotation == NULL || s->annotation->is_place))
        check_keep_reference(s->value);
    check_equation(c, &s->value);
    check_value_pair(c, s->pattern, &s->value, t != NULL ? t : s->value->becomes);
    check_written_value(c, &s->value);
    check_expr(c, &s->value, t);
    if (named && t == NULL)
        s->pattern->binding->is_lengths = !s->pattern->binding->is_mutable && check_yields_lengths(s->value);
    if (named)
        s->pattern->binding->is_element = check_may_be_element(s->value);
    if (t != NULL && t->kind == TYPE_ERROR && s->value->type->may_have_open)
        check_make_error(c, s->value); /* what it holds was to follow from the type */
    if (t != NULL) {
        check_coerce_branch(c, &s->value, t,
                            s->annotation == NULL ? NULL
                                                  : &(coerce_reason){s->annotation->span, "the type is given here"});
        t = with_rank_of(c, s, type_resolve(c->types, t));
    } else {
        t = variable_type(c, s->pattern, type_resolve(c->types, s->value->type));
        bool written = named && s->pattern->binding->name[0] == '<';
        if (t->kind == TYPE_VOID && s->pattern->kind == PATTERN_WILDCARD) { /* let _ = f(); */
            s->kind = STMT_EXPR;
            return;
        }
        if (t->kind == TYPE_VOID && !written) /* let u = { f(); }; */
            t = check_as_unit(c, &s->value);
    }
    uint32_t mark = c->names->entry_count;
    if (s->otherwise != NULL)
        check_otherwise(c, s, t);
    else
        check_bind(c, s->pattern, t);
    if (s->pattern->kind == PATTERN_TUPLE)
        check_twice(c, mark);
    c->places->alias_place = outer;
}

static bool check_statement(checker *c, stmt *s) {
    if (s->kind == STMT_LET)
        check_let_statement(c, s);
    else
        check_expr(c, &s->value, check_scalar(c, TYPE_VOID));
    return s->value != NULL && s->value->type->kind == TYPE_NEVER;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static void result_to_statement(checker *c, block *b, stmt *last) {
    stmt *s = CHECK_ARRAY(c, stmt, 1);
    *s = (stmt){.kind = STMT_EXPR, .span = b->result->span, .value = b->result};
    if (last == NULL)
        b->first = s;
    else
        last->next = s;
    b->result = NULL;
}

void check_block(checker *c, block *b, const type *expected) {
    uint32_t mark = check_scope_open(c), made = c->tree->function_count;
    bool wanted = expected == NULL || expected->kind != TYPE_VOID, ends = false;
    stmt *last = NULL;
    for (stmt *s = b->first; s != NULL; s = s->next) {
        c->places->checked_up_to = NULL;
        check_brief_statement(c, s);
        ends |= check_statement(c, s);
        if (c->places->checked_up_to != NULL) {
            s = c->places->checked_up_to;
            c->places->checked_up_to = NULL;
        }
        last = s;
    }
    b->type = check_scalar(c, ends ? TYPE_NEVER : TYPE_VOID);
    if (b->result != NULL) {
        check_brief_guards(c, b->result);
        check_expr(c, &b->result, expected);
        const type *t = type_resolve(c->types, b->result->type);
        if (t->kind == TYPE_NEVER)
            b->type = t;
        if (t->kind == TYPE_NEVER || t->kind == TYPE_VOID || !wanted)
            result_to_statement(c, b, last);
        else
            b->type = t;
    }
    check_scope_end(c, mark, made);
}

/* ---- if -------------------------------------------------------------------------------------- */

/* else { Box::new(B) } behind a branch of type `dyn` */
static bool follows_dyn(checker *c, expr *other, const type *to) {
    if (other->kind != EXPR_BLOCK || other->block->result == NULL || !check_converts(c, &other->block->result, to))
        return false;
    other->type = other->block->type = to;
    return true;
}

/* A block whose type is never counts as nothing: the other one decides. */
static void join_branches(checker *c, expr *e, const type *expected) {
    block *then = e->branch.then;
    const type *left = then->type, *right = e->branch.otherwise->type;
    const type *joined = check_join(c, left, right);
    if (joined == NULL && then->result != NULL &&
        (check_create_alike(c, &e->branch.otherwise, left) || check_create_alike(c, &then->result, right))) {
        then->type = left = type_resolve(c->types, then->result->type);
        right = type_resolve(c->types, e->branch.otherwise->type);
        joined = check_join(c, left, right);
    }
    if (joined == NULL && check_is_dyn(left) && follows_dyn(c, e->branch.otherwise, left))
        joined = left;
    if (joined == NULL && expected != NULL && then->result != NULL) { /* each by itself is judged */
        bool good = check_coerce_branch(c, &then->result, expected, NULL);
        good &= check_coerce_branch(c, &e->branch.otherwise, expected, NULL);
        then->type = e->type = good ? expected : check_scalar(c, TYPE_ERROR);
        return;
    }
    if (joined == NULL) {
        const expr *value = then->result != NULL ? then->result : e;
        diagnostic *d = diagnostics_say(c->diagnostics, e->branch.otherwise->span, SAY(branches_differ_here_before),
                                        check_type_text(c, right), check_type_text(c, left));
        diagnostics_note(c->diagnostics, d, value->span, "this is `%s`", check_type_text(c, left));
        check_make_error(c, e);
        return;
    }
    e->type = joined;
    if (type_is_silent(joined) || joined->kind == TYPE_VOID)
        return;
    if (then->result != NULL) {
        check_coerce_branch(c, &then->result, joined, NULL);
        then->type = joined;
    }
    check_coerce_branch(c, &e->branch.otherwise, joined, NULL);
}

static const type *wish_of(const type *expected, const type *first) {
    return expected != NULL ? expected : type_is_numeric(first) || first->kind == TYPE_TENSOR ? first : NULL;
}

void check_if(checker *c, expr *e, const type *expected) {
    const type *none = check_scalar(c, TYPE_VOID);
    bool wanted = expected == NULL || expected->kind != TYPE_VOID;
    check_condition(c, &e->branch.condition);
    if (e->branch.otherwise == NULL) {
        check_block(c, e->branch.then, none);
        e->type = none;
        return;
    }
    check_block(c, e->branch.then, expected);
    check_expr(c, &e->branch.otherwise, wanted ? wish_of(expected, e->branch.then->type) : none);
    if (wanted) {
        join_branches(c, e, expected);
    } else {
        bool never = e->branch.then->type->kind == TYPE_NEVER && e->branch.otherwise->type->kind == TYPE_NEVER;
        e->type = never ? check_scalar(c, TYPE_NEVER) : none;
    }
}
