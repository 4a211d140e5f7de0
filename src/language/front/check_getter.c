/* check_getter.c: functions that yield a place of the caller's: `-> &mut T`, `-> Option<&mut T>`, `-> Result<&mut T, E>`.
 *
 * A value has no address here, so such a call is written out where it is, with each place that the function may
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

#include "language/front/check_build.h"
#include "language/front/check_chain.h"
#include "language/front/check_context.h"
#include "language/front/check_convert.h"
#include "language/front/check_expr.h"
#include "language/front/check_generic.h"
#include "language/front/check_getter.h"
#include "language/front/check_place.h"
#include "language/front/check_scopes.h"
#include "language/front/check_types.h"
#include "language/front/check_variant.h"

enum { GETTERS_DEEP = 12 };

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
    getter_call *g = c->places->getter;
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
    bool getter = f != NULL && getter_kind_of(c, f) != GETTER_NONE && f->body != NULL &&
                  f->has_self == (*receiver != NULL) &&
                  f->parameter_count == e->call.arg_count + f->has_self;
    return getter ? f : NULL;
}

/* A parameter of type `&mut T` is the caller's place, any other a value of its own. */
static void bind_arguments(block_builder *b, expr *e, const function_item *f, function_item *copy,
                           expr **held) {
    checker *c = b->c;
    for (uint32_t i = 0; i < e->call.arg_count; i++) {
        binding *p = copy->parameters[i + copy->has_self];
        bool lent = p->annotation != NULL && p->annotation->is_place;
        expr *place = lent ? check_freeze(b, &e->call.args[i]) : NULL;
        held[i] = place != NULL ? place
                                : check_hold_argument(b, e->call.args[i],
                                                      f->parameters[i + f->has_self]->type);
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
    expr *jump = getter_break(g, body->span), *e = check_new(g->c, EXPR_LOOP, body->span, NULL);
    jump->jump.value = body;
    stmt *s = CHECK_ARRAY(g->c, stmt, 1);
    *s = (stmt){.kind = STMT_EXPR, .span = body->span, .value = jump};
    e->loop = CHECK_ARRAY(g->c, loop_expr, 1);
    *e->loop = (loop_expr){.label = g->label, .is_block = true};
    e->loop->body = getter_block(g, body->span, s, NULL)->block;
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
    const getter_call *g = c->places->getter;
    while (g != NULL && g->function != f) {
        g = g->outer;
        depth++;
    }
    return g != NULL || depth >= GETTERS_DEEP;
}

/* let mut <error> = None; of the type that the function says. */
static void new_error(getter_call *g, function_item *copy, const type_environment *own) {
    checker *c = g->c;
    const type_environment *outer = c->environment;
    c->environment = own;
    const type *t = type_resolve(c->types, check_type(c, copy->result_annotation));
    c->environment = outer;
    if (t->kind != TYPE_STRUCT || t->structure->template == NULL) {
        g->broken = true;
        return;
    }
    const type *error = t->structure->arguments[1];
    struct_item *option = check_struct_open(c, check_struct_named(c, "Option"), NULL, 0);
    check_fits(c, option->arguments[0], error);
    expr *none = check_new_name(c, g->lets.span, "None");
    check_expr(c, &none, option->type);
    build_let(&g->lets, g->error, true, none);
    check_let(c, g->lets.last);
    g->lets.last->pattern->binding->is_read = true;
    g->out->error = name_of(c, g->lets.span, g->lets.last->pattern->binding);
    g->out->result = t;
}

static void write_out(getter_call *g, block_builder *b, function_item *copy, expr *receiver,
                      expr **held) {
    checker *c = g->c;
    type_environment own = getter_environment(c, copy, receiver);
    const type_environment *outer = c->environment;
    expr *body = getter_block(g, copy->body->span, copy->body->first, copy->body->result);
    getter_rewrite(g, body);
    uint32_t mark = check_scope_open(c);
    g->chosen = name_of(c, b->span, new_variable(g, "site"));
    g->first_binding = c->function->binding_count;
    if (g->kind == GETTER_RESULT) {
        new_error(g, copy, &own);
    }
    declare_parameters(c, copy, receiver, held);
    expr *written = labelled(g, body);
    g->outer = c->places->getter;
    c->places->getter = g;
    c->environment = &own;
    check_expr(c, &written, check_scalar(c, TYPE_VOID));
    c->environment = outer;
    c->places->getter = g->outer;
    check_scope_close(c, mark);
    append_all(b, &g->lets);
    build_stmt(b, written);
    g->out->chosen = g->chosen;
}

bool check_write_getter(block_builder *b, expr *e, bool maybe, written_getter *out) {
    checker *c = b->c;
    *out = (written_getter){0};
    if ((e->kind != EXPR_METHOD && e->kind != EXPR_CALL) || e->type != NULL ||
        !getter_may_yield(c, e, maybe)) {
        return false;
    }
    expr *receiver;
    const function_item *f = find_function(b, e, &receiver);
    const function_item *written = f == NULL ? NULL : f->template != NULL ? f->template : f;
    bool fits = written != NULL && (getter_kind_of(c, written) >= GETTER_OPTION) == maybe;
    if (!fits || written->unchecked == NULL || is_open(c, written)) {
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
    bind_arguments(b, e, written, copy, held);
    getter_call g = {.c = c,
                     .label = check_printf(c, "<call %u>", c->text_count++),
                     .function = written,
                     .kind = getter_kind_of(c, written),
                     .error = check_printf(c, "<error %u>", c->text_count++),
                     .lets = build_block(c, e->span),
                     .out = out};
    out->kind = g.kind;
    write_out(&g, b, copy, receiver, held);
    if (g.broken || out->count == 0) {
        diagnostic *d = diagnostics_say(c->diagnostics, e->span,
                                        SAY(what_place_yields_cannot_be_told), written->name);
        diagnostics_note(c->diagnostics, d, written->span,
                         "it has to yield places of what it is given, at most %d different ones",
                         GETTER_SITES_MAX);
    }
    return !g.broken && out->count > 0;
}

/* if <site> == 0 { return None; }, or the error; checked */
void getter_leave(block_builder *b, const written_getter *w) {
    checker *c = b->c;
    expr *leave = check_new(c, EXPR_IF, b->span, NULL);
    block_builder then = build_block(c, b->span);
    expr *error = w->kind == GETTER_RESULT
                      ? build_method(c, b->span, check_alias_copy(c, w->error), "unwrap", NULL, 0)
                      : NULL;
    build_stmt(&then, check_failure(c, b->span, error, w->result));
    leave->branch.condition = getter_test(c, w, 0);
    leave->branch.then = then.block;
    build_stmt(b, leave);
    check_expr(c, &b->last->value, check_scalar(c, TYPE_VOID));
}

/* ---- uses ------------------------------------------------------------------------------------ */

/* Where the call w->node stood: { …; { let <it> = choice; whole } } */
void getter_split(checker *c, expr **whole, block_builder *b, const written_getter *w,
                  const type *expected) {
    char *name = check_printf(c, "<it %u>", c->text_count++);
    block_builder inner = build_block(c, (*whole)->span);
    const bool followed = w->node->is_followed;
    *w->node = *check_new_name(c, w->node->span, name);
    w->node->is_followed = followed;
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
        bool some = p->kind == PATTERN_VARIANT && p->part_count == 1 &&
                    (is_named(p, "Some") || is_named(p, "Ok") || is_named(p, "Err"));
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
        if (is_named(arm.pattern, "None") || is_named(arm.pattern, "Err")) {
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

static expr *arms_of_none(checker *c, const expr *e, const written_getter *w) {
    expr *match = check_new(c, EXPR_MATCH, e->span, NULL);
    match->match.arms = CHECK_ARRAY(c, match_arm, e->match.count + 1);
    match->match.value = check_new_bool(c, e->span, true);
    if (w->kind == GETTER_RESULT) {
        match->match.value =
            build_method(c, e->span, check_alias_copy(c, w->error), "unwrap", NULL, 0);
    }
    for (uint32_t i = 0; i < e->match.count; i++) {
        match_arm arm = e->match.arms[i];
        bool error = is_named(arm.pattern, "Err");
        if (arm.pattern->kind == PATTERN_VARIANT && !is_named(arm.pattern, "None") && !error) {
            continue;
        }
        if (error) {
            arm.pattern = arm.pattern->parts[0];
        } else {
            arm.pattern = CHECK_ARRAY(c, pattern, 1);
            *arm.pattern = (pattern){.span = e->span, .kind = PATTERN_WILDCARD};
        }
        match->match.arms[match->match.count++] = arm;
        bool all = arm.pattern->kind == PATTERN_WILDCARD ||
                   (arm.pattern->kind == PATTERN_NAME && arm.pattern->binding != NULL);
        if (arm.guard == NULL && all) {
            break;
        }
    }
    return match;
}

bool check_getter_match(block_builder *b, expr *e, expr **out) {
    checker *c = b->c;
    written_getter w;
    if (!getter_may_yield(c, e->match.value, true) || !arms_fit(e) ||
        !check_write_getter(b, e->match.value, true, &w)) {
        return false;
    }
    expr *chain = arms_of_none(c, e, &w);
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
