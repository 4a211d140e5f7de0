/* check_maybe.c: `let x = v.get(i);` is an Option where x is used as one.
 *
 *     match x { Some(y) => … }, x?, x.unwrap_or(0), x == None, {:?} of x, x as the result of a function -> Option<T>
 *
 * Of `v.get(i)` itself the method says it (choose_element_or_option): what is around it is known there. Behind a name
 * the uses of the variable say it; they are looked at before they are checked: what is behind the `let` in its block,
 * but for where another variable has the name.
 */
#include <string.h>

#include "language/front/check_call.h"
#include "language/front/check_place.h"
#include "language/library/library.h"
#include "language/types/check_context.h"
#include "language/types/check_instances.h"
#include "language/types/check_scopes.h"
#include "language/types/check_variants.h"

typedef struct use_of_name {
    checker *c;
    const stmt *let;
    const block *block; /* that it is in; NULL: not found yet */
    const char *name;
    const struct_item *option;
    bool found;
} use_of_name;

static bool is_name(const use_of_name *u, const expr *e) {
    while (e != NULL && e->kind == EXPR_UNARY && e->type == NULL && e->unary.op == UNARY_REFERENCE)
        e = e->unary.operand;
    return e != NULL && e->kind == EXPR_NAME && e->name.scope == NULL && strcmp(e->name.name, u->name) == 0;
}

static bool is_variant(const use_of_name *u, const char *name) {
    for (uint32_t i = 0; name != NULL && i < u->option->variant_count; i++)
        if (strcmp(u->option->variants[i].name, name) == 0)
            return true;
    return false;
}

static bool is_pattern_of_option(const use_of_name *u, const pattern *p) {
    return (p->kind == PATTERN_VARIANT && is_variant(u, p->name)) ||
           (p->kind == PATTERN_NAME && is_variant(u, p->name != NULL ? p->name : p->binding->name));
}

static bool is_value_of_option(const use_of_name *u, const expr *e) {
    const expr *named = e->kind == EXPR_CALL && e->type == NULL ? e->call.callee : e;
    return named != NULL && named->kind == EXPR_NAME && is_variant(u, named->name.name);
}

/* Lists, texts and tensors may be what is in it. */
static bool only_options_have(const use_of_name *u, const char *method) {
    static const type_kind held[] = {TYPE_VEC, TYPE_STRING, TYPE_TENSOR};
    bool others = false;
    for (size_t i = 0; i < sizeof held / sizeof held[0]; i++) {
        const struct_item *owner = u->c->instances->builtin_owners[held[i]];
        others |= owner != NULL && names_find_method(u->c->names, owner, method) != NULL;
    }
    return !others && names_find_method(u->c->names, u->option, method) != NULL;
}

/* `{:?}` of it. */
static bool is_shown_whole(const use_of_name *u, const expr *e) {
    const expr *text = e->call.arg_count > 0 ? e->call.args[0] : NULL;
    if (text == NULL || text->kind != EXPR_STRING || e->call.callee == NULL || e->call.callee->kind != EXPR_NAME)
        return false;
    uint32_t next = 1;
    const char *at = text->string.data, *end = at + text->string.length;
    for (; at < end; at++) {
        const char *close = *at == '{' ? memchr(at, '}', (size_t)(end - at)) : NULL;
        if (close == NULL)
            continue;
        const bool whole = close[-1] == '?', unnamed = at[1] == '}' || at[1] == ':';
        const size_t length = strlen(u->name);
        const bool named = (size_t)(close - at) > length && strncmp(at + 1, u->name, length) == 0 &&
                           at[1 + length] == ':';
        if (whole && (named || (unnamed && next < e->call.arg_count && is_name(u, e->call.args[next]))))
            return true;
        next += unnamed;
        at = close;
    }
    return false;
}

static bool uses_as_option(const use_of_name *u, const expr *e) {
    switch (e->kind) {
    case EXPR_METHOD:
        return is_name(u, e->call.receiver) && only_options_have(u, e->call.name);
    case EXPR_MATCH:
        for (uint32_t i = 0; is_name(u, e->match.value) && i < e->match.count; i++)
            if (is_pattern_of_option(u, e->match.arms[i].pattern))
                return true;
        return false;
    case EXPR_TRY:
        return is_name(u, e->attempt.operand);
    case EXPR_BINARY:
        return (is_name(u, e->binary.left) && is_value_of_option(u, e->binary.right)) ||
               (is_name(u, e->binary.right) && is_value_of_option(u, e->binary.left));
    case EXPR_CALL:
        return e->type == NULL && is_shown_whole(u, e);
    default:
        return false;
    }
}

static bool yields_option(const use_of_name *u) {
    const type *t = u->c->function->result == NULL ? NULL : type_resolve(u->c->types, u->c->function->result);
    return t != NULL && t->kind == TYPE_STRUCT && t->structure->template == u->option;
}

static bool is_named(const pattern *p, void *name) {
    return p->binding != NULL && strcmp(p->binding->name, name) == 0;
}

static bool binds(const use_of_name *u, const pattern *p) {
    return p != NULL && pattern_any(p, is_named, (void *)u->name);
}

static void look_at(expr *e, void *context);

static void look_at_one(use_of_name *u, expr *e) {
    if (e != NULL)
        look_at(e, u);
}

/* Up to where another variable has the name. */
static void look_from(use_of_name *u, const stmt *s, expr *result) {
    for (; s != NULL; s = s->next) {
        look_at_one(u, s->value);
        if (s->otherwise != NULL)
            look_from(u, s->otherwise->first, s->otherwise->result);
        if (s->kind == STMT_LET && binds(u, s->pattern))
            return;
    }
    look_at_one(u, result);
}

static void look_into(use_of_name *u, expr *e) {
    bool hidden = false;
    switch (e->kind) {
    case EXPR_BLOCK:
        look_from(u, e->block->first, e->block->result);
        return;
    case EXPR_IF:
        look_at(e->branch.condition, u);
        look_from(u, e->branch.then->first, e->branch.then->result);
        look_at_one(u, e->branch.otherwise);
        return;
    case EXPR_MATCH:
        look_at(e->match.value, u);
        for (uint32_t i = 0; i < e->match.count; i++)
            if (!binds(u, e->match.arms[i].pattern)) {
                look_at_one(u, e->match.arms[i].guard);
                look_at_one(u, e->match.arms[i].body);
            }
        return;
    case EXPR_WHILE:
    case EXPR_LOOP:
    case EXPR_FOR:
        look_at_one(u, e->loop->condition);
        look_at_one(u, e->loop->iterable);
        if (!binds(u, e->loop->pattern))
            look_from(u, e->loop->body->first, e->loop->body->result);
        return;
    case EXPR_CLOSURE:
        for (uint32_t i = 0; i < e->closure.parameter_count; i++)
            hidden |= strcmp(e->closure.parameters[i]->name, u->name) == 0;
        break;
    default:
        break;
    }
    if (!hidden)
        expr_each_child(e, look_at, u);
}

static void look_at(expr *e, void *context) {
    use_of_name *u = context;
    const bool returned = e->kind == EXPR_RETURN && is_name(u, e->jump.value) && yields_option(u);
    u->found = u->found || returned || uses_as_option(u, e);
    if (!u->found)
        look_into(u, e);
}

static void find_let(expr *e, void *context) {
    use_of_name *u = context;
    const block *b = e->kind == EXPR_BLOCK                                                  ? e->block
                     : e->kind == EXPR_IF                                                   ? e->branch.then
                     : e->kind == EXPR_WHILE || e->kind == EXPR_LOOP || e->kind == EXPR_FOR ? e->loop->body
                                                                                            : NULL;
    for (const stmt *s = b == NULL ? NULL : b->first; s != NULL; s = s->next)
        u->block = s == u->let ? b : u->block;
    if (u->block == NULL)
        expr_each_child(e, find_let, u);
}

bool check_is_used_as_option(checker *c, const stmt *let) {
    use_of_name u = {c, let, NULL, let->pattern->binding->name, check_form(c, SAID_OPTION), false};
    if (u.option == NULL || c->function->body == NULL)
        return false;
    expr body = {.kind = EXPR_BLOCK, .block = c->function->body};
    find_let(&body, &u);
    look_from(&u, let->next, u.block == NULL ? NULL : u.block->result);
    return u.found || (u.block == body.block && is_name(&u, u.block->result) && yields_option(&u));
}

bool check_views_place(const expr *e) {
    const library_said view = e->kind == EXPR_METHOD ? library_said_of(LIBRARY_option_view, e->call.name)
                                                     : SAID_NOTHING;
    return view == SAID_MUT || view == SAID_DEREF_MUT;
}
