/* check_named.c: arguments with names, which no function has: the error writes the call as it has to be. */
#include <string.h>

#include "language/front/check_call.h"
#include "language/front/check_place.h"
#include "language/library/library.h"
#include "language/types/check_context.h"
#include "language/types/check_scopes.h"

static bool is_named(const expr *arg) {
    return arg->kind == EXPR_ASSIGN && arg->type == NULL && arg->assign.target->kind == EXPR_NAME &&
           arg->assign.op == BINARY_NONE;
}

static uint32_t parameter_named(const function_item *f, const char *name) {
    uint32_t i = 0;
    while (i < f->parameter_count && strcmp(f->parameters[i]->name, name) != 0)
        i++;
    return i;
}

static void put_text(masu__buffer *out, source_span span) {
    masu__buffer_printf(out, "%.*s", (int)span.length, span.file->text + span.offset);
}

/* The call by places, the arguments between as f has them when they are left out; NULL: f has none of that name. */
static const char *by_places(checker *c, const expr *call, const function_item *f) {
    const uint32_t first = f->has_self && call->kind == EXPR_METHOD;
    const expr **given = CHECK_ARRAY(c, const expr *, f->parameter_count + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < call->call.arg_count; i++) {
        const expr *arg = call->call.args[i];
        const uint32_t at = is_named(arg) ? parameter_named(f, arg->assign.target->name.name) : first + i;
        if (at >= f->parameter_count || given[at] != NULL)
            return NULL;
        given[at] = is_named(arg) ? arg->assign.value : arg;
        count = at + 1 > count ? at + 1 : count;
    }
    masu__buffer out = {0};
    masu__buffer_printf(&out, "%s(", f->name);
    for (uint32_t i = first; i < count; i++) {
        const expr *value = given[i] != NULL ? given[i] : f->parameters[i]->otherwise;
        masu__buffer_puts(&out, i > first ? ", " : "");
        if (value != NULL)
            put_text(&out, value->span);
        else
            masu__buffer_puts(&out, f->parameters[i]->name);
    }
    const char *text = check_printf(c, "%s)", masu__buffer_text(&out));
    masu__buffer_destroy(&out);
    return text;
}

/* The first that the call may mean, from functions[*next] on; NULL: no more. */
static const function_item *next_meant(const checker *c, const expr *call, const struct_item *owner, uint32_t *next) {
    const bool method = call->kind == EXPR_METHOD;
    const char *name = method ? call->call.name : call->call.callee->name.name;
    while (*next < c->tree->function_count) {
        const function_item *f = c->tree->functions[(*next)++];
        if (strcmp(f->name, name) == 0 && f->refusal == NULL && (!method || f->has_self) &&
            (owner == NULL || f->owner == owner))
            return f;
    }
    return NULL;
}

/* Conv2d::new(1, 8, 3, padding = 1): the call as it has to be written. */
static void note_places(checker *c, diagnostic *d, const expr *call, const char *name) {
    const expr *callee = call->call.callee;
    if (call->kind != EXPR_METHOD && (callee == NULL || callee->kind != EXPR_NAME))
        return;
    const bool scoped = call->kind != EXPR_METHOD && callee->name.scope != NULL;
    const struct_item *owner = scoped ? check_struct_named(c, callee->name.scope) : NULL;
    const char *written = NULL;
    const function_item *f, *last = NULL;
    for (uint32_t next = 0; written == NULL && (f = next_meant(c, call, owner, &next)) != NULL; last = f)
        written = by_places(c, call, f);
    if (written != NULL)
        diagnostics_note(c->diagnostics, d, (source_span){0}, "write `%s`", written);
    else if (last != NULL)
        diagnostics_note(c->diagnostics, d, (source_span){0}, "none is called `%s`: they are `%s(%s)`", name,
                         last->name, check_parameters_text(c, last));
    else
        diagnostics_note(c->diagnostics, d, (source_span){0}, "write the value alone, without `%s =`", name);
}

/* f(dim = 1): Rust has no such arguments; `println` and its like have. */
void check_refuse_names(checker *c, expr *e) {
    const expr *callee = e->call.callee;
    bool plain = callee != NULL && callee->kind == EXPR_NAME && callee->name.scope == NULL, some = false;
    if (plain)
        names_settle(c->names, &e->call.callee->name);
    const symbol *s = plain ? check_find(c, callee->name.name) : NULL;
    for (uint32_t i = 0; i < e->call.arg_count; i++) {
        const expr *arg = e->call.args[i];
        if (!is_named(arg) || (plain && (s == NULL || s->function == NULL)))
            continue;
        diagnostic *d = diagnostics_say(c->diagnostics, arg->assign.target->span,
                                        SAY(expected_value_arguments_go_by_their));
        if (!some)
            note_places(c, d, e, arg->assign.target->name.name);
        some = true;
    }
    for (uint32_t i = 0; some && i < e->call.arg_count; i++)
        if (is_named(e->call.args[i]))
            check_make_error(c, e->call.args[i]);
}
