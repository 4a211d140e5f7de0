/* check_control.c: blocks, statements, if, loops, jumps. match is in check_match.c. */
#include <string.h>

#include "language/front/check_private.h"

/* ---- patterns of let ------------------------------------------------------------------------- */

static void bind_fields(checker *c, pattern *p, const type *t) {
    check_variant_pattern(c, p, t, check_bind);
    if (p->kind == PATTERN_VARIANT && !type_is_silent(t) && p->structure->is_enum &&
        p->structure->variant_count > 1) {
        diagnostics_error(c->diagnostics, p->span,
                          "this pattern does not match every value: `match` is for that");
    }
}

/* (a, .., z): a `_` for each part that `..` leaves out. */
static void write_rest(checker *c, pattern *p, const type *t) {
    if (!p->rest || t->kind != TYPE_TUPLE || t->tuple.count < p->part_count) {
        return;
    }
    uint32_t left_out = t->tuple.count - p->part_count;
    pattern **parts = CHECK_ARRAY(c, pattern *, t->tuple.count);
    for (uint32_t i = 0; i < t->tuple.count; i++) {
        if (i >= p->rest_at && i < p->rest_at + left_out) {
            parts[i] = CHECK_ARRAY(c, pattern, 1);
            *parts[i] = (pattern){.span = p->span, .kind = PATTERN_WILDCARD};
        } else {
            parts[i] = p->parts[i < p->rest_at ? i : i - left_out];
        }
    }
    p->parts = parts;
    p->part_count = t->tuple.count;
    p->rest = false;
}

bool check_tuple_parts(checker *c, pattern *p, const type *t,
                       void (*check_part)(checker *, pattern *, const type *)) {
    write_rest(c, p, t);
    bool fits = t->kind == TYPE_TUPLE && t->tuple.count == p->part_count;
    if (!fits && !type_is_silent(t)) {
        diagnostics_error(c->diagnostics, p->span, "this pattern has %u %s, the value is `%s`",
                          p->part_count, p->part_count == 1 ? "part" : "parts",
                          check_type_text(c, t));
    }
    const type *otherwise = type_is_silent(t) ? t : check_scalar(c, TYPE_ERROR);
    const expr *place = c->alias_place;
    for (uint32_t i = 0; i < p->part_count; i++) {
        const type *part = fits ? type_resolve(c->types, t->tuple.items[i]) : otherwise;
        c->alias_place = fits ? check_alias_part(c, place, p, i, part) : NULL;
        check_part(c, p->parts[i], part);
    }
    c->alias_place = place;
    return fits;
}

void check_bind(checker *c, pattern *p, const type *t) {
    p->type = t;
    switch (p->kind) {
    case PATTERN_NAME:
        if (p->binding != NULL && !check_alias_name(c, p, c->alias_place, t)) {
            check_declare(c, p->binding, t);
        }
        break;
    case PATTERN_TUPLE:
        check_tuple_parts(c, p, t, check_bind);
        break;
    case PATTERN_VARIANT:
        bind_fields(c, p, t);
        break;
    case PATTERN_BOUND:
        check_declare(c, p->binding, t);
        check_bind(c, p->parts[0], t);
        break;
    case PATTERN_WILDCARD:
        break;
    default:
        diagnostics_error(c->diagnostics, p->span,
                          "this pattern does not match every value: `match` is for that");
        break;
    }
}

/* let (a, a) = …: the entries since `mark` are those of one pattern. */
void check_twice(checker *c, uint32_t mark) {
    for (uint32_t i = mark; i < c->scope_count; i++) {
        binding *hidden = c->scopes[i].hidden;
        if (hidden != NULL && c->function != NULL &&
            hidden->id >= c->function->binding_count - (c->scope_count - mark) &&
            hidden->id < c->function->binding_count &&
            c->function->bindings[hidden->id] == hidden) {
            diagnostics_error(c->diagnostics, c->scopes[i].symbol->binding->span,
                              "`%s` is bound twice in one pattern", hidden->name);
        }
    }
}

/* ---- statements ------------------------------------------------------------------------------ */

static void add_assigned(checker *c, const expr *target) {
    if (target->kind == EXPR_NAME && target->name.scope == NULL) {
        CHECK_PUSH(c, c->assigned, c->assigned_count, c->assigned_capacity, target->name.name);
    }
    for (uint32_t i = 0; target->kind == EXPR_TUPLE && i < target->list.count; i++) {
        add_assigned(c, target->list.items[i]);
    }
}

static void find_assigned(expr *e, void *context) {
    checker *c = context;
    if (e->kind == EXPR_ASSIGN) {
        add_assigned(c, e->assign.target);
    } else if (e->kind == EXPR_UNARY && e->unary.op == UNARY_REFERENCE) {
        add_assigned(c, e->unary.operand);
        c->assigned_unseen = true;
    }
    c->assigned_unseen |= e->kind == EXPR_CLOSURE;
    expr_each_child(e, find_assigned, context);
}

/* By name: of two variables of one name either may be meant. */
static bool is_assigned(checker *c, const char *name) {
    function_item *f = c->function;
    while (f->is_closure) {
        f = f->outer;
    }
    if (c->assigned_in != f) {
        expr body = {.kind = EXPR_BLOCK, .block = f->body};
        c->assigned_in = f;
        c->assigned_count = 0;
        c->assigned_unseen = false;
        find_assigned(&body, c);
    }
    for (uint32_t i = 0; i < c->assigned_count; i++) {
        if (strcmp(c->assigned[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* What a variable that is assigned to starts as need not be what it stays: its rank may change. It counts as known until
 * an assignment of another rank is met (check_wish_rank), where all assignments can be seen. */
static const type *variable_type(checker *c, const pattern *p, const type *t) {
    bool changes = p->kind == PATTERN_NAME && p->binding != NULL && p->binding->is_mutable &&
                   t->kind == TYPE_TENSOR && t->tensor.rank >= 0 &&
                   is_assigned(c, p->binding->name);
    if (changes && !c->assigned_unseen && c->may_repeat) {
        check_note_rank(p->binding);
        return t;
    }
    return changes ? type_tensor(c->types, t->tensor.element, -1) : t;
}

/* let P = v else { … }; */
static void check_otherwise(checker *c, stmt *s, const type *t) {
    check_block(c, s->otherwise, check_scalar(c, TYPE_VOID));
    c->checked_up_to = NULL;
    if (s->otherwise->type->kind != TYPE_NEVER) {
        diagnostic *d = diagnostics_error(c->diagnostics, s->otherwise->span,
                                          "the `else` of a `let` must not reach its end");
        diagnostics_note(c->diagnostics, d, (source_span){0},
                         "`return`, `break`, `continue` or `panic` leave it");
    }
    check_pattern(c, s->pattern, t);
}

void check_let(checker *c, stmt *s) {
    if (check_let_alias(c, s)) {
        return;
    }
    const type *t = s->annotation == NULL ? NULL : check_type(c, s->annotation);
    if (s->value == NULL) {
        check_bind(c, s->pattern, t != NULL ? t : check_scalar(c, TYPE_ERROR));
        return;
    }
    bool named = s->pattern->kind == PATTERN_NAME && s->pattern->binding != NULL;
    if (named && s->annotation == NULL) {
        t = check_wish_of(c, s->pattern->binding);
        check_note_flexible(s->pattern->binding, s->value);
        if (t != NULL && t->may_have_open) { /* a Vec, of what it will turn out to hold */
            c->has_open = true;
            t = type_vec(c->types, type_open(c->types));
        }
    }
    check_value_pair(c, s->pattern, &s->value);
    check_expr(c, &s->value, t);
    if (named && t == NULL) {
        check_note_row(s->pattern->binding, s->value);
    }
    if (t != NULL && t->kind == TYPE_ERROR && s->value->type->may_have_open) {
        check_make_error(c, s->value); /* what it holds was to follow from the type */
    }
    if (t != NULL) {
        check_coerce_branch(c, &s->value, t,
                            s->annotation == NULL
                                ? NULL
                                : &(coerce_reason){s->annotation->span, "the type is given here"});
    } else {
        t = variable_type(c, s->pattern, type_resolve(c->types, s->value->type));
        if (t->kind == TYPE_VOID) {
            diagnostic *d = diagnostics_error(c->diagnostics, s->value->span, "this has no value");
            if (s->value->kind == EXPR_IF && s->value->branch.otherwise == NULL) {
                diagnostics_note(c->diagnostics, d, (source_span){0},
                                 "an `if` has one when it ends in `else { … }`");
            }
            t = check_scalar(c, TYPE_ERROR);
        }
    }
    uint32_t mark = c->scope_count;
    if (s->otherwise != NULL) {
        check_otherwise(c, s, t);
    } else {
        check_bind(c, s->pattern, t);
    }
    if (s->pattern->kind == PATTERN_TUPLE) {
        check_twice(c, mark);
    }
}

static bool check_statement(checker *c, stmt *s) {
    if (s->kind == STMT_LET) {
        check_let(c, s);
    } else {
        check_expr(c, &s->value, check_scalar(c, TYPE_VOID));
    }
    return s->value != NULL && s->value->type->kind == TYPE_NEVER;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static void result_to_statement(checker *c, block *b, stmt *last) {
    stmt *s = CHECK_ARRAY(c, stmt, 1);
    *s = (stmt){.kind = STMT_EXPR, .span = b->result->span, .value = b->result};
    if (last == NULL) {
        b->first = s;
    } else {
        last->next = s;
    }
    b->result = NULL;
}

void check_block(checker *c, block *b, const type *expected) {
    uint32_t mark = check_scope_open(c);
    bool wanted = expected == NULL || expected->kind != TYPE_VOID, ends = false;
    stmt *last = NULL;
    uint32_t choices = c->choice_depth;
    for (stmt *s = b->first; s != NULL; s = s->next) {
        c->checked_up_to = NULL;
        expr *choice = check_choice(c, b, s);
        if (choice != NULL) {
            *(last == NULL ? &b->first : &last->next) = NULL;
            b->result = choice;
            c->choice_depth++;
            break;
        }
        ends |= check_statement(c, s);
        if (c->checked_up_to != NULL) {
            s = c->checked_up_to;
            c->checked_up_to = NULL;
        }
        last = s;
    }
    b->type = check_scalar(c, ends ? TYPE_NEVER : TYPE_VOID);
    if (b->result != NULL) {
        check_expr(c, &b->result, expected);
        const type *t = type_resolve(c->types, b->result->type);
        if (t->kind == TYPE_NEVER) {
            b->type = t;
        }
        if (t->kind == TYPE_NEVER || t->kind == TYPE_VOID || !wanted) {
            result_to_statement(c, b, last);
        } else {
            b->type = t;
        }
    }
    c->choice_depth = choices;
    check_scope_close(c, mark);
}

/* ---- if -------------------------------------------------------------------------------------- */

/* A block whose type is never counts as nothing: the other one decides. */
static void join_branches(checker *c, expr *e) {
    block *then = e->branch.then;
    const type *left = then->type, *right = e->branch.otherwise->type;
    const type *joined = check_join(c, left, right);
    if (joined == NULL) {
        const expr *value = then->result != NULL ? then->result : e;
        diagnostic *d = diagnostics_error(c->diagnostics, e->branch.otherwise->span,
                                          "the branches differ: `%s` here, `%s` before",
                                          check_type_text(c, right), check_type_text(c, left));
        diagnostics_note(c->diagnostics, d, value->span, "this is `%s`", check_type_text(c, left));
        check_make_error(c, e);
        return;
    }
    e->type = joined;
    if (type_is_silent(joined) || joined->kind == TYPE_VOID) {
        return;
    }
    if (then->result != NULL) {
        check_coerce_branch(c, &then->result, joined, NULL);
        then->type = joined;
    }
    check_coerce_branch(c, &e->branch.otherwise, joined, NULL);
}

static const type *wish_of(const type *expected, const type *first) {
    return expected != NULL                                       ? expected
           : type_is_numeric(first) || first->kind == TYPE_TENSOR ? first
                                                                  : NULL;
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
        join_branches(c, e);
    } else {
        bool never = e->branch.then->type->kind == TYPE_NEVER &&
                     e->branch.otherwise->type->kind == TYPE_NEVER;
        e->type = never ? check_scalar(c, TYPE_NEVER) : none;
    }
}

/* ---- loops ----------------------------------------------------------------------------------- */

/* for i in range(a, b) and range(b). */
static void range_call(checker *c, expr **slot) {
    expr *e = *slot;
    symbol *s = check_find(c, "range");
    bool call = e->kind == EXPR_CALL && e->call.callee->kind == EXPR_NAME &&
                e->call.callee->name.scope == NULL &&
                strcmp(e->call.callee->name.name, "range") == 0;
    if (!call || (s != NULL && s->function != NULL) || e->call.arg_count < 1 ||
        e->call.arg_count > 2) {
        return;
    }
    expr *range = check_new(c, EXPR_RANGE, e->span, NULL);
    range->range.low = e->call.arg_count == 2 ? e->call.args[0] : check_new_int(c, e->span, 0);
    range->range.high = e->call.args[e->call.arg_count - 1];
    *slot = range;
}

/* a.. in a loop: up to the largest number of its type, which nobody reaches. */
static void range_to_the_end(checker *c, expr *e, const type *wish) {
    check_expr(c, &e->range.low, wish);
    const type *t = type_resolve(c->types, e->range.low->type);
    bool narrow = type_is_integer(t) && type_bits(t) < 64;
    uint32_t bits = narrow ? type_bits(t) - (type_is_signed(t) ? 1 : 0) : 63;
    e->range.high = check_new(c, EXPR_INT, e->span, NULL);
    e->range.high->integer.value = (UINT64_C(1) << bits) - 1;
    e->range.high->integer.suffix = TYPE_VOID;
}

const type *check_range(checker *c, expr *e, const type *wish) {
    if (e->range.low != NULL && e->range.high == NULL) {
        range_to_the_end(c, e, wish);
    }
    if (e->range.low == NULL) {
        diagnostics_error(c->diagnostics, e->span, "a loop needs the start of its range");
    }
    e->type = check_scalar(c, TYPE_VOID);
    const type *t = wish;
    bool swap = e->range.low != NULL && e->range.high != NULL && check_free_literal(e->range.low);
    expr **order[2] = {swap ? &e->range.high : &e->range.low,
                       swap ? &e->range.low : &e->range.high};
    for (int i = 0; i < 2; i++) {
        if (*order[i] == NULL) {
            return check_scalar(c, TYPE_ERROR);
        }
        check_expr(c, order[i], t);
        const type *end = type_resolve(c->types, (*order[i])->type);
        if (end->kind == TYPE_NEVER) {
            diagnostics_error(c->diagnostics, (*order[i])->span, "this never yields a value");
        }
        if (!type_is_silent(end) && !type_is_integer(end)) {
            check_coerce(c, order[i], check_scalar(c, TYPE_I64), NULL);
            end = check_scalar(c, TYPE_I64);
        }
        t = t == NULL || type_is_silent(t)               ? end
            : type_is_integer(end) && type_is_integer(t) ? check_common(c, t, end)
                                                         : t;
    }
    if (!type_is_integer(t)) {
        return check_scalar(c, TYPE_ERROR);
    }
    check_cast_to(c, &e->range.low, t);
    check_cast_to(c, &e->range.high, t);
    return t;
}

/* Numbers that are written out are numbers, not tensors without dimensions. */
static bool is_list_of_literals(const expr *e) {
    bool plain = e->kind == EXPR_ARRAY && e->list.count > 0;
    for (uint32_t i = 0; plain && i < e->list.count; i++) {
        plain = check_free_literal(e->list.items[i]);
    }
    return plain;
}

/* The type of what a `for` yields. wish: what the number that it binds is to be, or NULL. */
static const type *check_iterable(checker *c, expr **slot, const type *wish) {
    (*slot)->is_vec |= is_list_of_literals(*slot);
    range_call(c, slot);
    if ((*slot)->kind == EXPR_RANGE && (*slot)->range.low != NULL &&
        (*slot)->range.low->kind == EXPR_CHAR) {
        check_range_as_list(c, slot);
        wish = NULL;
    }
    if ((*slot)->kind == EXPR_RANGE) {
        return check_range(c, *slot, wish != NULL && type_is_integer(wish) ? wish : NULL);
    }
    check_expr(c, slot, wish == NULL ? NULL : type_vec(c->types, wish));
    check_as_list(c, slot, NULL);
    const type *t = type_resolve(c->types, (*slot)->type);
    switch (t->kind) {
    case TYPE_VEC:
        return t->vec.element;
    case TYPE_TENSOR:
        if (t->tensor.rank == 0) {
            diagnostics_error(c->diagnostics, (*slot)->span, "a tensor of rank 0 has no rows");
            return check_scalar(c, TYPE_ERROR);
        }
        return type_tensor(c->types, t->tensor.element,
                           t->tensor.rank < 0 ? -1 : t->tensor.rank - 1);
    case TYPE_ERROR:
        return t;
    case TYPE_NEVER:
        diagnostics_error(c->diagnostics, (*slot)->span, "this never yields a value");
        return check_scalar(c, TYPE_ERROR);
    case TYPE_STRING: /* its characters */
        *slot = build_method(c, (*slot)->span, *slot, "chars", NULL, 0);
        check_expr(c, slot, NULL);
        return check_scalar(c, TYPE_CHAR);
    default: {
        diagnostic *d = diagnostics_error(c->diagnostics, (*slot)->span,
                                          "`for` cannot run over `%s`", check_type_text(c, t));
        diagnostics_note(c->diagnostics, d, (source_span){0},
                         "it runs over `a..b`, a tensor or a `Vec`");
        return check_scalar(c, TYPE_ERROR);
    }
    }
}

static void mark_loop_bindings(pattern *p) {
    if (p->binding != NULL) {
        p->binding->kind = BINDING_LOOP;
    }
    for (uint32_t i = 0; i < p->part_count; i++) {
        mark_loop_bindings(p->parts[i]);
    }
}

static bool is_true(const expr *e) {
    return e->kind == EXPR_BOOL && e->boolean;
}

static const type *loop_type(checker *c, const expr *e, const loop_context *context) {
    bool endless = e->kind == EXPR_LOOP || (e->kind == EXPR_WHILE && is_true(e->loop->condition));
    if (endless && !e->loop->has_break) {
        return check_scalar(c, TYPE_NEVER);
    }
    return e->kind == EXPR_LOOP && context->break_type != NULL ? context->break_type
                                                               : check_scalar(c, TYPE_VOID);
}

static void check_head(checker *c, expr *e, uint32_t mark, const for_alias *alias) {
    if (e->kind == EXPR_WHILE) {
        check_condition(c, &e->loop->condition);
    } else if (e->kind == EXPR_FOR) {
        binding *b = e->loop->pattern->kind == PATTERN_NAME ? e->loop->pattern->binding : NULL;
        if (b != NULL) {
            check_note_counted(b, e->loop->iterable);
        }
        const type *t =
            check_iterable(c, &e->loop->iterable, b == NULL ? NULL : check_wish_of(c, b));
        mark_loop_bindings(e->loop->pattern);
        check_bind(c, e->loop->pattern, t);
        check_for_element(c, alias);
        check_twice(c, mark);
    }
}

void check_loop(checker *c, expr **slot, const type *expected) {
    expr *e = *slot;
    uint32_t outer = check_scope_open(c);
    block_builder b = build_block(c, e->span);
    for_alias alias = {0};
    if (e->kind == EXPR_FOR) {
        check_for_alias(c, e, &b, &alias);
    }
    uint32_t mark = check_scope_open(c);
    check_head(c, e, mark, &alias);
    bool wanted = e->kind == EXPR_LOOP && expected != NULL && expected->kind != TYPE_VOID;
    loop_context context = {.loop = e, .break_type = wanted ? expected : NULL, .outer = c->loop};
    c->loop = &context;
    check_block(c, e->loop->body, check_scalar(c, TYPE_VOID));
    c->loop = context.outer;
    check_scope_close(c, outer);
    e->type = loop_type(c, e, &context);
    if (b.block->first != NULL) { /* what the place needs is evaluated before */
        build_stmt(&b, e);
        *slot = build_finish(&b, NULL);
        b.block->type = (*slot)->type = e->type;
    }
}

/* ---- jumps ----------------------------------------------------------------------------------- */

static loop_context *find_loop(checker *c, expr *e) {
    const char *word = e->kind == EXPR_BREAK ? "break" : "continue";
    loop_context *context = c->loop;
    while (context != NULL &&
           (e->jump.label == NULL ? context->loop->loop->is_block
                                  : context->loop->loop->label == NULL ||
                                        strcmp(context->loop->loop->label, e->jump.label) != 0)) {
        context = context->outer;
    }
    if (context == NULL && e->jump.label != NULL) {
        diagnostics_error(c->diagnostics, e->jump.label_span, "there is no loop `%s` here",
                          e->jump.label);
    } else if (context == NULL) {
        diagnostics_error(c->diagnostics, e->span,
                          c->comprehension != NULL ? "`%s` cannot leave the body of a comprehension"
                                                   : "`%s` outside of a loop",
                          word);
    }
    return context;
}

static void check_break_value(checker *c, expr *e, loop_context *context) {
    if (e->jump.value == NULL) {
        if (context != NULL && context->break_type != NULL &&
            context->break_type->kind != TYPE_ERROR) {
            diagnostics_error(c->diagnostics, e->span,
                              "this loop yields `%s`: `break` needs a value",
                              check_type_text(c, context->break_type));
        }
        return;
    }
    const type *wish = context == NULL ? NULL : context->break_type;
    check_expr(c, &e->jump.value, wish);
    if (context == NULL) {
        return;
    }
    wish = context->break_type; /* the value may hold breaks of its own */
    bool falls_through = context->loop->loop->is_block && e->jump.value->kind == EXPR_BLOCK;
    if (falls_through && (e->jump.value->type->kind == TYPE_NEVER ||
                          (e->jump.value->type->kind == TYPE_VOID && wish == NULL))) {
        return; /* the end of a labelled block without a value */
    }
    if (context->loop->kind != EXPR_LOOP) {
        diagnostics_error(c->diagnostics, e->jump.value->span, "only `loop` yields a value");
    } else if (wish != NULL) {
        check_coerce_branch(c, &e->jump.value, wish, NULL);
    } else if (context->loop->loop->has_break) {
        diagnostics_error(c->diagnostics, e->jump.value->span,
                          "another `break` of this loop has no value");
    } else {
        context->break_type = type_resolve(c->types, e->jump.value->type);
    }
}

static void check_return(checker *c, expr *e) {
    const type *result = c->function->result;
    if (result == NULL) { /* of a closure: its first `return` says what it is */
        if (e->jump.value != NULL) {
            check_expr(c, &e->jump.value, NULL);
        }
        c->function->result = e->jump.value == NULL ? check_scalar(c, TYPE_VOID)
                                                    : type_resolve(c->types, e->jump.value->type);
        return;
    }
    if (c->comprehension != NULL) {
        diagnostics_error(c->diagnostics, e->span,
                          "`return` cannot leave the body of a comprehension");
    }
    if (e->jump.value == NULL) {
        if (result->kind != TYPE_VOID && result->kind != TYPE_ERROR) {
            diagnostic *d =
                diagnostics_error(c->diagnostics, e->span, "`return` needs a value of type `%s`",
                                  check_type_text(c, result));
            diagnostics_note(c->diagnostics, d, c->function->span, "`%s` is declared here",
                             c->function->qualified);
        }
        return;
    }
    bool nothing = result->kind == TYPE_VOID;
    check_expr(c, &e->jump.value, nothing ? NULL : result);
    if (nothing && e->jump.value->type->kind != TYPE_VOID && !type_is_silent(e->jump.value->type)) {
        diagnostic *d = diagnostics_error(c->diagnostics, e->jump.value->span,
                                          "`%s` returns nothing", c->function->qualified);
        diagnostics_note(c->diagnostics, d, c->function->span,
                         "write `-> %s` behind its parameters",
                         check_type_text(c, e->jump.value->type));
    } else if (!nothing) {
        check_coerce_branch(c, &e->jump.value, result,
                            c->function->result_annotation == NULL
                                ? NULL
                                : &(coerce_reason){c->function->result_annotation->span,
                                                   "the result's type is given here"});
    }
}

void check_jump(checker *c, expr *e) {
    e->type = check_scalar(c, TYPE_NEVER);
    if (e->kind == EXPR_RETURN) {
        check_return(c, e);
        return;
    }
    loop_context *context = find_loop(c, e);
    if (context != NULL) {
        e->jump.target = context->loop;
    }
    if (e->kind == EXPR_BREAK) {
        check_break_value(c, e, context);
        if (context != NULL) {
            context->loop->loop->has_break = true;
        }
    }
}
