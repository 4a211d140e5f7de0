/* check_getter.c: functions that yield a place of the caller's: `-> &mut T`, `-> Option<&mut T>`.
 *
 * A value has no address here, so such a call is written out where it stands, with each place that the function may
 * yield as a site with a number. What a place needs to be found again (its indices) goes into variables in front:
 *
 *     fn get(&mut self, k: i64) -> Option<&mut Item> {
 *         for item in self.items.iter_mut() { if item.key == k { return Some(item); } }
 *         None
 *     }
 *     if let Some(x) = s.get(7) { x.n += 1; } else { … }
 *  ─►
 *     let <argument> = 7; let mut <site> = 0; let mut <way> = 0;
 *     '<call>: { for <at> in 0..s.items.len() { if s.items[<at>].key == <argument> {
 *                    { <way> = <at>; <site> = 1; } break '<call>; } } }
 *     if <site> == 1 { s.items[<way>].n += 1; } else { … }
 *
 * Places that differ in their indices only are one site. What must stay true: an index of a site's place is one of the
 * call's own variables, and the place itself belongs to the caller.
 */
#include <string.h>

#include "language/front/check_getter.h"

enum { GETTERS_DEEP = 12 };

typedef struct getter_call {
    checker *c;
    const char *label;
    const function_item *function;
    bool option, broken;
    uint32_t first_binding; /* what the function itself declares has this number or a higher one */
    expr *chosen;           /* the name of <site>, checked */
    block_builder lets;
    written_getter *out;
    struct getter_call *outer;
} getter_call;

/* ---- which functions ------------------------------------------------------------------------- */

static const type_expr *result_of(const function_item *f) {
    return f->result_annotation;
}

bool getter_is_option(const function_item *f) {
    const type_expr *t = result_of(f);
    return t != NULL && !t->is_place && t->kind == TYPE_EXPR_NAME && t->argument_count == 1 &&
           strcmp(t->name, "Option") == 0 && t->arguments[0]->is_place;
}

bool getter_is_plain(const function_item *f) {
    return result_of(f) != NULL && result_of(f)->is_place;
}

static const char *called_name(const expr *e) {
    if (e->kind == EXPR_METHOD) {
        return e->call.name;
    }
    return e->kind == EXPR_CALL && e->call.callee != NULL && e->call.callee->kind == EXPR_NAME
               ? e->call.callee->name.name
               : NULL;
}

bool getter_by_name(const checker *c, const expr *e, bool *option) {
    const char *name = e->type == NULL ? called_name(e) : NULL;
    for (uint32_t i = 0; name != NULL && i < c->tree->getter_count; i++) {
        const function_item *f = c->tree->getters[i];
        if (strcmp(f->name, name) == 0 && (f->owner_name == NULL) == (e->kind == EXPR_CALL)) {
            *option = getter_is_option(f);
            return true;
        }
    }
    return false;
}

/* ---- the function's body: its results become sites ------------------------------------------- */

static expr *new_block(getter_call *g, source_span span, stmt *first, expr *result) {
    expr *e = check_new(g->c, EXPR_BLOCK, span, NULL);
    e->block = CHECK_ARRAY(g->c, block, 1);
    *e->block = (block){.span = span, .first = first, .result = result};
    return e;
}

static expr *leave(getter_call *g, source_span span) {
    expr *jump = check_new(g->c, EXPR_BREAK, span, NULL);
    jump->jump.label = g->label;
    jump->jump.label_span = span;
    return jump;
}

static void make_site(getter_call *g, expr *e, const expr *place) {
    expr *operand = CHECK_ARRAY(g->c, expr, 1);
    *operand = *place;
    *e = (expr){.kind = EXPR_UNARY, .span = place->span, .is_site = true};
    e->unary.op = UNARY_REFERENCE;
    e->unary.is_mutable = true;
    e->unary.operand = operand;
}

static void tail(getter_call *g, expr *e, bool option);

static void tail_of_block(getter_call *g, block *b, bool option) {
    if (b->result != NULL) {
        tail(g, b->result, option);
    }
}

/* match value { Some(name) => body, _ => {} } in place of e */
static void unpack_into(getter_call *g, expr *e, expr *value, pattern *part, expr *body) {
    expr *match = build_unpack(g->c, value, "<found>", body, new_block(g, e->span, NULL, NULL));
    if (part != NULL) {
        match->match.arms[0].pattern->parts[0] = part;
    }
    match->match.is_let = true;
    *e = *match;
}

/* The `?` that the chain of receivers of e starts with: its place in the tree. */
static expr *try_below(expr *e) {
    for (;;) {
        if (e->kind == EXPR_TRY) {
            return e;
        } else if (e->kind == EXPR_METHOD) {
            e = e->call.receiver;
        } else if (e->kind == EXPR_FIELD || e->kind == EXPR_TUPLE_FIELD) {
            e = e->field.base;
        } else if (e->kind == EXPR_INDEX) {
            e = e->index.base;
        } else if (e->kind == EXPR_UNARY && e->unary.op == UNARY_REFERENCE) {
            e = e->unary.operand;
        } else {
            return NULL;
        }
    }
}

static expr *copied(getter_call *g, const expr *e) {
    expr *copy = CHECK_ARRAY(g->c, expr, 1);
    *copy = *e;
    return copy;
}

/* x.map(|p| place), x.and_then(|p| maybe) */
static bool tail_of_map(getter_call *g, expr *e) {
    bool map = e->kind == EXPR_METHOD && strcmp(e->call.name, "map") == 0,
         then = e->kind == EXPR_METHOD && strcmp(e->call.name, "and_then") == 0;
    expr *f = (map || then) && e->call.arg_count == 1 ? e->call.args[0] : NULL;
    if (f == NULL || f->kind != EXPR_CLOSURE || f->closure.parameter_count != 1) {
        return false;
    }
    pattern *part = CHECK_ARRAY(g->c, pattern, 1);
    *part = (pattern){.span = f->span, .kind = PATTERN_NAME, .binding = f->closure.parameters[0]};
    part->binding->kind = BINDING_LET;
    tail(g, f->closure.body, then);
    unpack_into(g, e, e->call.receiver, part, f->closure.body);
    return true;
}

static void tail_of_value(getter_call *g, expr *e, bool option) {
    expr *attempt = try_below(e);
    if (attempt != NULL) {
        expr *operand = attempt->attempt.operand;
        char *name = check_printf(g->c, "<some %u>", g->c->text_count++);
        *attempt = *check_new_name(g->c, attempt->span, name);
        expr *rest = copied(g, e);
        tail(g, rest, option);
        unpack_into(g, e, operand, NULL, rest);
        e->match.arms[0].pattern->parts[0]->binding->name = name;
    } else if (!option) {
        make_site(g, e, e);
    } else if (!tail_of_map(g, e)) {
        char *name = check_printf(g->c, "<some %u>", g->c->text_count++);
        expr *found = check_new_name(g->c, e->span, name);
        make_site(g, found, found);
        unpack_into(g, e, copied(g, e), NULL, found);
        e->match.arms[0].pattern->parts[0]->binding->name = name;
    }
}

/* Turns the value of e, which the function yields, into what notes the place. */
static void tail(getter_call *g, expr *e, bool option) {
    const char *name = called_name(e);
    switch (e->kind) {
    case EXPR_BLOCK:
        tail_of_block(g, e->block, option);
        return;
    case EXPR_IF:
        tail_of_block(g, e->branch.then, option);
        if (e->branch.otherwise != NULL) {
            tail(g, e->branch.otherwise, option);
        }
        return;
    case EXPR_MATCH:
        for (uint32_t i = 0; i < e->match.count; i++) {
            tail(g, e->match.arms[i].body, option);
        }
        return;
    case EXPR_BREAK:
    case EXPR_CONTINUE:
    case EXPR_RETURN:
    case EXPR_LOOP:
        return;
    case EXPR_NAME:
        if (option && strcmp(e->name.name, "None") == 0) {
            *e = *new_block(g, e->span, NULL, NULL);
            return;
        }
        break;
    case EXPR_CALL:
        if (option && name != NULL && strcmp(name, "Some") == 0 && e->call.arg_count == 1) {
            expr *place = e->call.args[0];
            tail(g, place, false);
            *e = *place;
            return;
        }
        if (name != NULL && check_is_panic(e)) {
            return;
        }
        break;
    default:
        break;
    }
    tail_of_value(g, e, option);
}

/* let p = e?; is let Some(p) = e else { break }: p stays a place. */
static void try_in_lets(getter_call *g, block *b) {
    for (stmt *s = b == NULL ? NULL : b->first; s != NULL; s = s->next) {
        if (s->kind != STMT_LET || s->value == NULL || s->value->kind != EXPR_TRY ||
            s->otherwise != NULL) {
            continue;
        }
        expr shape = {.span = s->span};
        unpack_into(g, &shape, s->value->attempt.operand, s->pattern, NULL);
        s->pattern = shape.match.arms[0].pattern;
        s->value = s->value->attempt.operand;
        s->annotation = NULL;
        s->otherwise = new_block(g, s->span, NULL, leave(g, s->span))->block;
    }
}

/* `return e` and `e?` leave the written-out call instead. */
static void leave_early(expr *e, void *context) {
    getter_call *g = context;
    if (e->kind == EXPR_CLOSURE) {
        return;
    }
    try_in_lets(g, e->kind == EXPR_BLOCK ? e->block
                   : e->kind == EXPR_IF  ? e->branch.then
                   : e->kind == EXPR_LOOP || e->kind == EXPR_WHILE || e->kind == EXPR_FOR
                       ? e->loop->body
                       : NULL);
    expr_each_child(e, leave_early, g);
    if (e->kind == EXPR_RETURN) {
        stmt *first = NULL;
        if (e->jump.value != NULL) {
            tail(g, e->jump.value, g->option);
            first = CHECK_ARRAY(g->c, stmt, 1);
            *first = (stmt){.kind = STMT_EXPR, .span = e->span, .value = e->jump.value};
        }
        *e = *new_block(g, e->span, first, leave(g, e->span));
    } else if (e->kind == EXPR_TRY && g->option) {
        char *name = check_printf(g->c, "<some %u>", g->c->text_count++);
        expr *match = build_unpack(g->c, e->attempt.operand, name,
                                   check_new_name(g->c, e->span, name), leave(g, e->span));
        *e = *match;
    }
}

/* ---- sites ----------------------------------------------------------------------------------- */

static bool same_place(const expr *a, const expr *b) {
    if (a->kind != b->kind) {
        return false;
    }
    switch (a->kind) {
    case EXPR_NAME:
        return a->name.binding == b->name.binding;
    case EXPR_FIELD:
    case EXPR_TUPLE_FIELD:
        return a->field.index == b->field.index && same_place(a->field.base, b->field.base);
    case EXPR_INDEX:
        return a->index.count == b->index.count && same_place(a->index.base, b->index.base);
    default:
        return false;
    }
}

static expr *name_of(checker *c, source_span span, binding *b) {
    expr *e = check_new(c, EXPR_NAME, span, b->type);
    e->name.name = b->name;
    e->name.binding = b;
    check_use_binding(c, b);
    return e;
}

/* let mut <what n> = 0; in front of the call */
static binding *new_variable(getter_call *g, const char *what) {
    checker *c = g->c;
    char *name = check_printf(c, "<%s %u>", what, c->text_count++);
    build_let(&g->lets, name, true, check_new_int(c, g->lets.span, 0));
    binding *b = g->lets.last->pattern->binding;
    check_let(c, g->lets.last);
    b->is_read = true;
    return b;
}

/* The indices of the place get variables of their own. */
static void own_indices(getter_call *g, expr *place) {
    if (place->kind == EXPR_FIELD || place->kind == EXPR_TUPLE_FIELD) {
        own_indices(g, place->field.base);
    } else if (place->kind == EXPR_INDEX) {
        own_indices(g, place->index.base);
        for (uint32_t i = 0; i < place->index.count; i++) {
            place->index.indices[i] = name_of(g->c, place->span, new_variable(g, "way"));
        }
    }
}

static void note_indices(getter_call *g, block_builder *b, const expr *site, const expr *place) {
    if (place->kind == EXPR_FIELD || place->kind == EXPR_TUPLE_FIELD) {
        note_indices(g, b, site->field.base, place->field.base);
    } else if (place->kind == EXPR_INDEX) {
        note_indices(g, b, site->index.base, place->index.base);
        for (uint32_t i = 0; i < place->index.count; i++) {
            binding *way = site->index.indices[i]->name.binding;
            build_stmt(b, build_assign(g->c, place->span, name_of(g->c, place->span, way),
                                       place->index.indices[i]));
            check_expr(g->c, &b->last->value, check_scalar(g->c, TYPE_VOID));
        }
    }
}

static bool is_callers(const getter_call *g, const expr *place) {
    const binding *root = check_root(place);
    return root != NULL && root->id < g->first_binding;
}

void check_getter_site(checker *c, expr **slot) {
    expr *e = *slot;
    getter_call *g = c->getter;
    written_getter *w = g->out;
    block_builder b = build_block(c, e->span);
    expr *place = check_freeze(&b, &e->unary.operand);
    if (place != NULL) {
        check_unbox(c, &place);
    }
    uint32_t n = 0;
    while (place != NULL && n < w->count && !same_place(w->places[n], place)) {
        n++;
    }
    if (place == NULL || !is_callers(g, place) || n == GETTER_SITES_MAX) {
        g->broken = true;
    } else {
        if (n == w->count) {
            w->places[w->count++] = check_alias_copy(c, place);
            own_indices(g, w->places[n]);
        }
        note_indices(g, &b, w->places[n], place);
        build_stmt(&b, build_assign(c, e->span, name_of(c, e->span, g->chosen->name.binding),
                                    check_new_int(c, e->span, n + 1)));
        check_expr(c, &b.last->value, check_scalar(c, TYPE_VOID));
    }
    *slot = build_finish(&b, NULL);
    b.block->type = (*slot)->type = check_scalar(c, TYPE_VOID);
}

/* ---- the call -------------------------------------------------------------------------------- */

/* What is called, and where its receiver lies. NULL: nothing that yields a place; parts of e may be checked. */
static function_item *find_function(block_builder *b, expr *e, expr **receiver) {
    checker *c = b->c;
    function_item *f = NULL;
    *receiver = NULL;
    if (e->kind == EXPR_CALL) {
        const symbol *s =
            e->call.callee->name.scope != NULL ? NULL : check_find(c, e->call.callee->name.name);
        f = s == NULL ? NULL : s->function;
    } else {
        expr *place = check_freeze(b, &e->call.receiver);
        const type *t = place == NULL ? NULL : type_resolve(c->types, place->type);
        f = t == NULL || t->kind != TYPE_STRUCT ? NULL
                                                : check_method_named(c, t->structure, e->call.name);
        if (f == NULL && t != NULL && type_is_box(t) && t->vec.element->kind == TYPE_STRUCT) {
            check_unbox(c, &place);
            f = check_method_named(c, t->vec.element->structure, e->call.name);
        }
        *receiver = place;
    }
    bool getter = f != NULL && (getter_is_option(f) || getter_is_plain(f)) && f->body != NULL &&
                  f->has_self == (*receiver != NULL) &&
                  f->parameter_count == e->call.arg_count + f->has_self;
    return getter ? f : NULL;
}

/* A parameter of type `&mut T` is the caller's place, any other a value of its own. */
static void bind_arguments(block_builder *b, expr *e, function_item *copy, expr **held) {
    checker *c = b->c;
    for (uint32_t i = 0; i < e->call.arg_count; i++) {
        binding *p = copy->parameters[i + copy->has_self];
        bool lent = p->annotation != NULL && p->annotation->is_place;
        expr *place = lent ? check_freeze(b, &e->call.args[i]) : NULL;
        held[i] = place != NULL ? place : check_hold(b, e->call.args[i], "argument");
        e->call.args[i] = check_alias_copy(c, held[i]);
    }
}

static void declare_parameters(checker *c, function_item *copy, expr *receiver, expr **held) {
    for (uint32_t i = 0; i < copy->parameter_count; i++) {
        expr *place = copy->has_self && i == 0 ? receiver : held[i - copy->has_self];
        copy->parameters[i]->alias = place;
        copy->parameters[i]->is_mutable = true;
        check_declare(c, copy->parameters[i], type_resolve(c->types, place->type));
        copy->parameters[i]->is_read = true;
    }
}

type_environment getter_environment(checker *c, function_item *f, const expr *receiver) {
    type_environment own = check_environment_new(c, f);
    const type *t = receiver == NULL ? NULL : type_resolve(c->types, receiver->type);
    if (t != NULL && t->kind == TYPE_STRUCT) {
        check_impl_fits(c, f, t->structure, &own);
        own.self = t->structure;
    }
    return own;
}

/* '<call>: { body } */
static expr *labelled(getter_call *g, expr *body) {
    expr *jump = leave(g, body->span), *e = check_new(g->c, EXPR_LOOP, body->span, NULL);
    jump->jump.value = body;
    stmt *s = CHECK_ARRAY(g->c, stmt, 1);
    *s = (stmt){.kind = STMT_EXPR, .span = body->span, .value = jump};
    e->loop = CHECK_ARRAY(g->c, loop_expr, 1);
    *e->loop = (loop_expr){.label = g->label, .is_block = true};
    e->loop->body = new_block(g, body->span, s, NULL)->block;
    return e;
}

static void append_all(block_builder *b, const block_builder *from) {
    if (from->block->first != NULL) {
        *(b->last == NULL ? &b->block->first : &b->last->next) = from->block->first;
        b->last = from->last;
    }
}

static bool is_open(const checker *c, const function_item *f) {
    uint32_t depth = 0;
    const getter_call *g = c->getter;
    while (g != NULL && g->function != f) {
        g = g->outer;
        depth++;
    }
    return g != NULL || depth >= GETTERS_DEEP;
}

static void write_out(getter_call *g, block_builder *b, function_item *copy, expr *receiver,
                      expr **held) {
    checker *c = g->c;
    type_environment own = getter_environment(c, copy, receiver);
    const type_environment *outer = c->environment;
    expr *body = new_block(g, copy->body->span, copy->body->first, copy->body->result);
    leave_early(body, g);
    tail(g, body, g->option);
    uint32_t mark = check_scope_open(c);
    g->chosen = name_of(c, b->span, new_variable(g, "site"));
    g->first_binding = c->function->binding_count;
    declare_parameters(c, copy, receiver, held);
    expr *written = labelled(g, body);
    g->outer = c->getter;
    c->getter = g;
    c->environment = &own;
    check_expr(c, &written, check_scalar(c, TYPE_VOID));
    c->environment = outer;
    c->getter = g->outer;
    check_scope_close(c, mark);
    append_all(b, &g->lets);
    build_stmt(b, written);
    g->out->chosen = g->chosen;
}

bool check_write_getter(block_builder *b, expr *e, written_getter *out) {
    checker *c = b->c;
    bool option;
    *out = (written_getter){0};
    if ((e->kind != EXPR_METHOD && e->kind != EXPR_CALL) || e->type != NULL ||
        !getter_by_name(c, e, &option)) {
        return false;
    }
    expr *receiver;
    const function_item *f = find_function(b, e, &receiver);
    const function_item *written = f == NULL ? NULL : f->template != NULL ? f->template : f;
    if (written == NULL || written->unchecked == NULL || is_open(c, written)) {
        if (e->kind == EXPR_METHOD && e->call.receiver->type != NULL) {
            check_unbox(c, &e->call.receiver);
        }
        return false;
    }
    function_item whole = *written;
    whole.body = written->unchecked;
    function_item *copy = function_copy(c->arena, &whole);
    if (copy == NULL) {
        check_out_of_memory(c);
    }
    expr **held = CHECK_ARRAY(c, expr *, e->call.arg_count + 1);
    bind_arguments(b, e, copy, held);
    getter_call g = {.c = c,
                     .label = check_printf(c, "<call %u>", c->text_count++),
                     .function = written,
                     .option = getter_is_option(written),
                     .lets = build_block(c, e->span),
                     .out = out};
    out->option = g.option;
    write_out(&g, b, copy, receiver, held);
    if (g.broken || out->count == 0) {
        diagnostic *d = diagnostics_error(
            c->diagnostics, e->span, "what place `%s` yields cannot be told here", written->name);
        diagnostics_note(c->diagnostics, d, written->span,
                         "it has to yield places of what it is given, at most %d different ones",
                         GETTER_SITES_MAX);
    }
    return !g.broken && out->count > 0;
}

/* ---- uses ------------------------------------------------------------------------------------ */

/* <site> == n */
expr *getter_test(checker *c, const written_getter *w, uint32_t n) {
    expr *site = check_alias_copy(c, w->chosen);
    return check_new_binary(c, BINARY_EQ, site, check_new_int(c, w->chosen->span, n), NULL);
}

/* Where the call w->node stood: { …; { let <it> = choice; whole } } */
void getter_split(checker *c, expr **whole, block_builder *b, const written_getter *w,
                  const type *expected) {
    char *name = check_printf(c, "<it %u>", c->text_count++);
    block_builder inner = build_block(c, (*whole)->span);
    *w->node = *check_new_name(c, w->node->span, name);
    build_let(&inner, name, true, getter_choice(c, w));
    expr *e = build_finish(&inner, *whole);
    check_expr(c, &e, expected);
    bool value = e->type->kind != TYPE_VOID && e->type->kind != TYPE_NEVER;
    const type *t = e->type;
    if (!value) {
        build_stmt(b, e);
    }
    *whole = build_finish(b, value ? e : NULL);
    b->block->type = (*whole)->type = t;
}

/* let x = call; where the call yields one of several places: a choice between them. */
expr *getter_choice(checker *c, const written_getter *w) {
    expr *e = NULL;
    for (uint32_t n = w->count; n-- > 0;) {
        expr *place = check_new(c, EXPR_UNARY, w->chosen->span, NULL);
        place->unary.op = UNARY_REFERENCE;
        place->unary.is_mutable = true;
        place->unary.operand = w->places[n];
        block_builder b = build_block(c, w->chosen->span);
        expr *then = build_finish(&b, place);
        if (e == NULL) {
            e = then;
            continue;
        }
        expr *branch = check_new(c, EXPR_IF, w->chosen->span, NULL);
        branch->branch.condition = getter_test(c, w, n + 1);
        branch->branch.then = then->block;
        branch->branch.otherwise = e;
        e = branch;
    }
    return e;
}

static bool is_named(const pattern *p, const char *name) {
    const char *said = p->kind == PATTERN_VARIANT                      ? p->name
                       : p->kind == PATTERN_NAME && p->binding != NULL ? p->binding->name
                                                                       : NULL;
    return said != NULL && strcmp(said, name) == 0;
}

/* Whether the arms tell Some(…), None and _ apart, and nothing else. */
static bool arms_fit(const expr *e) {
    for (uint32_t i = 0; i < e->match.count; i++) {
        const pattern *p = e->match.arms[i].pattern;
        bool some = p->kind == PATTERN_VARIANT && is_named(p, "Some") && p->part_count == 1;
        if (!some && !is_named(p, "None") && p->kind != PATTERN_WILDCARD) {
            return false;
        }
    }
    return true;
}

/* match &mut place { the parts of Some(…) } */
static expr *arms_of_some(checker *c, const expr *e, expr *place) {
    expr *match = check_new(c, EXPR_MATCH, e->span, NULL);
    match->match.arms = CHECK_ARRAY(c, match_arm, e->match.count + 1);
    match->match.is_let = true;
    match->match.value = check_new(c, EXPR_UNARY, e->match.value->span, NULL);
    match->match.value->unary.op = UNARY_REFERENCE;
    match->match.value->unary.is_mutable = true;
    match->match.value->unary.operand = place;
    bool all = false;
    for (uint32_t i = 0; !all && i < e->match.count; i++) {
        match_arm arm = e->match.arms[i];
        if (is_named(arm.pattern, "None")) {
            continue;
        }
        if (arm.pattern->kind == PATTERN_VARIANT) {
            arm.pattern = arm.pattern->parts[0];
        }
        all = arm.guard == NULL &&
              (arm.pattern->kind == PATTERN_WILDCARD ||
               (arm.pattern->kind == PATTERN_NAME && arm.pattern->binding != NULL));
        match->match.arms[match->match.count++] = arm;
    }
    expr *copy = expr_copy(c->arena, match);
    if (copy == NULL) {
        check_out_of_memory(c);
    }
    copy->match.value = match->match.value;
    return copy;
}

static expr *arms_of_none(checker *c, const expr *e) {
    expr *match = check_new(c, EXPR_MATCH, e->span, NULL);
    match->match.arms = CHECK_ARRAY(c, match_arm, e->match.count + 1);
    match->match.value = check_new_bool(c, e->span, true);
    for (uint32_t i = 0; i < e->match.count; i++) {
        match_arm arm = e->match.arms[i];
        if (arm.pattern->kind == PATTERN_VARIANT && !is_named(arm.pattern, "None")) {
            continue;
        }
        arm.pattern = CHECK_ARRAY(c, pattern, 1);
        *arm.pattern = (pattern){.span = e->span, .kind = PATTERN_WILDCARD};
        match->match.arms[match->match.count++] = arm;
        if (arm.guard == NULL) {
            break;
        }
    }
    return match;
}

bool check_getter_match(block_builder *b, expr *e, expr **out) {
    checker *c = b->c;
    written_getter w;
    bool option = false;
    if (!getter_by_name(c, e->match.value, &option) || !option || !arms_fit(e) ||
        !check_write_getter(b, e->match.value, &w)) {
        return false;
    }
    expr *chain = arms_of_none(c, e);
    for (uint32_t n = w.count; n-- > 0;) {
        expr *branch = check_new(c, EXPR_IF, e->span, NULL);
        block_builder then = build_block(c, e->span), otherwise = build_block(c, e->span);
        branch->branch.condition = getter_test(c, &w, n + 1);
        branch->branch.then = build_finish(&then, arms_of_some(c, e, w.places[n]))->block;
        branch->branch.otherwise = chain->kind == EXPR_IF ? chain : build_finish(&otherwise, chain);
        chain = branch;
    }
    *out = chain;
    return true;
}
