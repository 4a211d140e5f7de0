/* check_getter_body.c: the body of a function that yields a place, rewritten to say which place it is (check_getter.c).
 *
 *     Some(&mut place)  ─►  site(place)                  return e  ─►  { e as a site; break '<call>; }
 *     None, Err(e)      ─►  {}, { <error> = Some(e); }   let p = e?; …  ─►  match e { Some(p) => { … } _ => break '<call> }
 *     x.map(|p| place)  ─►  match x { Some(p) => site(place), _ => {} }
 *
 * What must stay true: nothing of it is checked yet, and a name stays a place wherever it was one.
 */
#include <string.h>

#include "language/front/check_build.h"
#include "language/front/check_context.h"
#include "language/front/check_getter.h"
#include "language/front/check_place.h"

expr *getter_block(getter_call *g, source_span span, stmt *first, expr *result) {
    expr *e = check_new(g->c, EXPR_BLOCK, span, NULL);
    e->block = CHECK_ARRAY(g->c, block, 1);
    *e->block = (block){.span = span, .first = first, .result = result};
    return e;
}

expr *getter_break(getter_call *g, source_span span) {
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

static void tail(getter_call *g, expr *e, getter_kind kind);

static void tail_of_block(getter_call *g, block *b, getter_kind kind) {
    if (b->result != NULL) {
        tail(g, b->result, kind);
    }
}

/* { <error> = Some(value); } */
static expr *note_error(getter_call *g, source_span span, expr *value) {
    block_builder b = build_block(g->c, span);
    expr *some = build_call(g->c, span, NULL, "Some", &value, 1);
    build_stmt(&b, build_assign(g->c, span, check_new_name(g->c, span, g->error), some));
    return build_finish(&b, NULL);
}

/* The error of x.ok_or(e), x.ok_or_else(|| e); NULL: it is neither. */
static expr *error_of(const expr *e) {
    bool value = e->kind == EXPR_METHOD && strcmp(e->call.name, "ok_or") == 0,
         made = e->kind == EXPR_METHOD && strcmp(e->call.name, "ok_or_else") == 0;
    if ((!value && !made) || e->call.arg_count != 1) {
        return NULL;
    }
    expr *error = e->call.args[0];
    if (value) {
        return error;
    }
    return error->kind == EXPR_CLOSURE && error->closure.parameter_count == 0 ? error->closure.body
                                                                              : NULL;
}

/* match value { Some(name) => body, _ => {} } in place of e; of a Result Ok(name), and Err(w) is noted. */
static void unpack_into(getter_call *g, expr *e, getter_kind kind, expr *value, pattern *part,
                        expr *body) {
    expr *match = build_unpack(g->c, value, "<found>", body, getter_block(g, e->span, NULL, NULL));
    pattern *some = match->match.arms[0].pattern;
    if (part != NULL) {
        some->parts[0] = part;
    }
    expr *error = kind == GETTER_RESULT ? error_of(value) : NULL;
    if (error != NULL) {
        match->match.value = value->call.receiver;
        match->match.arms[1].body = note_error(g, e->span, error);
    } else if (kind == GETTER_RESULT) {
        pattern *failed = expr_copy(g->c->arena, match)->match.arms[0].pattern;
        some->name = "Ok";
        failed->name = "Err";
        failed->parts[0] = CHECK_ARRAY(g->c, pattern, 1);
        *failed->parts[0] = (pattern){
            .span = e->span, .kind = PATTERN_NAME, .binding = CHECK_ARRAY(g->c, binding, 1)};
        *failed->parts[0]->binding =
            (binding){.name = "<failure>", .span = e->span, .kind = BINDING_LET};
        match->match.arms[1].pattern = failed;
        match->match.arms[1].body =
            note_error(g, e->span, check_new_name(g->c, e->span, "<failure>"));
    }
    match->match.is_let = kind != GETTER_RESULT || error != NULL;
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

/* |p| …, and |(a, b)| …, which the parser writes as |<p>| { let (a, b) = <p>; … } */
static pattern *parameter_of(getter_call *g, expr *f) {
    binding *b = f->closure.parameters[0];
    expr *body = f->closure.body;
    stmt *first = body->kind == EXPR_BLOCK ? body->block->first : NULL;
    bool taken = b->name[0] == '<' && first != NULL && first->kind == STMT_LET &&
                 first->value != NULL && first->value->kind == EXPR_NAME &&
                 strcmp(first->value->name.name, b->name) == 0;
    if (taken) {
        body->block->first = first->next;
        return first->pattern;
    }
    pattern *part = CHECK_ARRAY(g->c, pattern, 1);
    *part = (pattern){.span = f->span, .kind = PATTERN_NAME, .binding = b};
    b->kind = BINDING_LET;
    return part;
}

/* x.map(|p| place), x.and_then(|p| maybe) */
static void tail_of_value(getter_call *g, expr *e, getter_kind kind);

static bool tail_of_map(getter_call *g, expr *e, getter_kind kind) {
    bool map = e->kind == EXPR_METHOD && strcmp(e->call.name, "map") == 0,
         then = e->kind == EXPR_METHOD && strcmp(e->call.name, "and_then") == 0;
    expr *f = (map || then) && e->call.arg_count == 1 ? e->call.args[0] : NULL;
    if (f == NULL || f->kind != EXPR_CLOSURE || f->closure.parameter_count != 1) {
        return false;
    }
    pattern *part = parameter_of(g, f);
    tail(g, f->closure.body, then ? kind : GETTER_PLAIN);
    unpack_into(g, e, kind, e->call.receiver, part, f->closure.body);
    return true;
}

static void tail_of_value(getter_call *g, expr *e, getter_kind kind) {
    expr *attempt = try_below(e);
    if (attempt != NULL) {
        expr *operand = attempt->attempt.operand;
        char *name = check_printf(g->c, "<some %u>", g->c->text_count++);
        *attempt = *check_new_name(g->c, attempt->span, name);
        expr *rest = copied(g, e);
        tail(g, rest, kind);
        unpack_into(g, e, g->kind, operand, NULL, rest);
        e->match.arms[0].pattern->parts[0]->binding->name = name;
    } else if (kind == GETTER_PLAIN) {
        make_site(g, e, e);
    } else if (!tail_of_map(g, e, kind)) {
        char *name = check_printf(g->c, "<some %u>", g->c->text_count++);
        expr *found = check_new_name(g->c, e->span, name);
        make_site(g, found, found);
        unpack_into(g, e, kind, copied(g, e), NULL, found);
        e->match.arms[0].pattern->parts[0]->binding->name = name;
    }
}

/* Turns the value of e, which the function yields, into what notes the place. */
static void tail(getter_call *g, expr *e, getter_kind kind) {
    const char *name = getter_called(e);
    switch (e->kind) {
    case EXPR_BLOCK:
        tail_of_block(g, e->block, kind);
        return;
    case EXPR_IF:
        tail_of_block(g, e->branch.then, kind);
        if (e->branch.otherwise != NULL) {
            tail(g, e->branch.otherwise, kind);
        }
        return;
    case EXPR_MATCH:
        for (uint32_t i = 0; i < e->match.count; i++) {
            tail(g, e->match.arms[i].body, kind);
        }
        return;
    case EXPR_BREAK:
    case EXPR_CONTINUE:
    case EXPR_RETURN:
    case EXPR_LOOP:
        return;
    case EXPR_NAME:
        if (kind == GETTER_OPTION && strcmp(e->name.name, "None") == 0) {
            *e = *getter_block(g, e->span, NULL, NULL);
            return;
        }
        break;
    case EXPR_CALL:
        if (name != NULL && e->call.arg_count == 1 && kind != GETTER_PLAIN &&
            strcmp(name, kind == GETTER_OPTION ? "Some" : "Ok") == 0) {
            expr *place = e->call.args[0];
            tail(g, place, GETTER_PLAIN);
            *e = *place;
            return;
        }
        if (name != NULL && e->call.arg_count == 1 && kind == GETTER_RESULT &&
            strcmp(name, "Err") == 0) {
            *e = *note_error(g, e->span, e->call.args[0]);
            return;
        }
        if (name != NULL && check_is_panic(e)) {
            return;
        }
        break;
    default:
        break;
    }
    tail_of_value(g, e, kind);
}

/* let p = e?; rest     is     match e { Some(p) => { rest } _ => break }: p stays a place. */
static void try_in_lets(getter_call *g, block *b) {
    stmt **at = b == NULL ? NULL : &b->first;
    while (at != NULL && *at != NULL) {
        stmt *s = *at;
        if (s->kind != STMT_LET || s->value == NULL || s->value->kind != EXPR_TRY ||
            s->otherwise != NULL) {
            at = &s->next;
            continue;
        }
        expr *rest = getter_block(g, s->span, s->next, b->result);
        expr *match = getter_block(g, s->span, NULL, NULL);
        unpack_into(g, match, g->kind, s->value->attempt.operand, s->pattern, rest);
        expr *otherwise = match->match.arms[1].body;
        otherwise->block->result = getter_break(g, s->span);
        *at = NULL;
        b->result = match;
        return;
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
    if (e->kind == EXPR_RETURN && e->jump.value != NULL) {
        tail(g, e->jump.value, g->kind);
    }
    expr_each_child(e, leave_early, g);
    if (e->kind == EXPR_RETURN) {
        stmt *first = NULL;
        if (e->jump.value != NULL) {
            first = CHECK_ARRAY(g->c, stmt, 1);
            *first = (stmt){.kind = STMT_EXPR, .span = e->span, .value = e->jump.value};
        }
        *e = *getter_block(g, e->span, first, getter_break(g, e->span));
    } else if (e->kind == EXPR_TRY && g->kind != GETTER_PLAIN) {
        char *name = check_printf(g->c, "<some %u>", g->c->text_count++);
        expr *operand = e->attempt.operand, *found = check_new_name(g->c, e->span, name);
        unpack_into(g, e, g->kind, operand, NULL, found);
        e->match.arms[0].pattern->parts[0]->binding->name = name;
        e->match.arms[1].body->block->result = getter_break(g, e->span);
    }
}

void getter_rewrite(getter_call *g, expr *body) {
    tail(g, body, g->kind); /* before each `?` in it becomes a value */
    leave_early(body, g);
}
