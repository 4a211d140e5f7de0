/* check_list_forms.c: lists of what lies in a value, and functions of one parameter, as they would be written. Nothing
 * of it is checked yet. A closure's parameters have as many references as the values that they get
 * (tests/golden/lang_impls_by_reference_of_named).
 */
#include <string.h>

#include "language/front/check_build.h"
#include "language/front/check_call.h"
#include "language/library/library.h"
#include "language/types/check_context.h"
#include "language/types/check_scopes.h"
#include "language/types/check_view.h"

bool check_same_text(const char *a, const char *b) {
    return strcmp(a, b) == 0;
}

/* __std_NAME of the prelude; NULL: there is none. */
const char *check_std_name(checker *c, const char *name) {
    const char *full = check_printf(c, "__std_%s", name);
    const symbol *s = full == NULL ? NULL : check_find(c, full);
    return s != NULL && s->function != NULL ? full : NULL;
}

expr *check_cast_as_written(checker *c, expr *value, const char *name) {
    expr *e = check_new(c, EXPR_CAST, value->span, NULL);
    e->cast.operand = value;
    e->cast.target = CHECK_ARRAY(c, type_expr, 1);
    *e->cast.target = (type_expr){.span = value->span, .kind = TYPE_EXPR_NAME, .name = name};
    e->cast.implicit = true;
    return e;
}

expr *check_map_cast(checker *c, expr *list, const char *scalar) {
    expr *item = check_new_name(c, list->span, "<one>");
    return BUILD_QUOTE(c, list->span, "$0.map(|$$one| $1)", list, check_cast_as_written(c, item, scalar));
}

expr *check_tensor_as_list(checker *c, expr *t) {
    return BUILD_QUOTE(c, t->span, "{ let $all = $0; (0i64..$all.len()).map(|$i| $all[$i]) }", t);
}

expr *check_numbered_parts(checker *c, expr *value) {
    return BUILD_QUOTE(c, value->span, "{ let $all = $0; (0i64..$all.len()).map(|$i| $all.get($i)) }", value);
}

/* f64::sqrt, String::from, Some, Shape::Circle, Vec::new where a function is wanted: |…| name(…) */
void check_name_as_closure(checker *c, expr **slot, uint32_t count) {
    expr *e = *slot;
    if (e->kind != EXPR_NAME || e->type != NULL)
        return;
    names_settle(c->names, &e->name);
    const symbol *s = check_find(c, e->name.name);
    bool plain = e->name.scope == NULL;
    const bool known_here = s != NULL && (s->binding != NULL || s->function != NULL || s->variant_of != NULL ||
                                          s->structure != NULL);
    if (plain && (known_here ? s->binding != NULL || (s->function != NULL && !s->function->is_template)
                             : check_std_name(c, e->name.name) == NULL))
        return;
    struct_item *owner = plain ? NULL : check_struct_named(c, e->name.scope);
    const function_item *known = owner == NULL ? NULL : check_find_method(c, owner, e->name.name);
    bool method = known != NULL && known->has_self; /* Result::unwrap */
    if (known != NULL && !known->has_self && !known->is_template)
        return;
    const bool own = owner != NULL && owner->span.file != c->tree->prelude;
    method |= !plain && known == NULL && !own && check_is_list_method(e->name.name); /* Vec::len */
    const char first = e->name.name[0];
    method |= own && known == NULL && first >= 'a' &&
              first <= 'z'; /* Version::to_string: no variant, and not written */
    method |= !plain && library_says(LIBRARY_method_trait, e->name.scope);
    method |= !plain && names_trait(c->names, e->name.scope) != NULL;
    expr **args = CHECK_ARRAY(c, expr *, count + 1), *closure = build_closure(c, e->span, count, args);
    closure->closure.body = method && count > 0 ? build_method(c, e->span, args[0], e->name.name, args + 1, count - 1)
                                                : build_call(c, e->span, e->name.scope, e->name.name, args, count);
    *slot = closure;
}

static void view_parameter(checker *c, const expr *f, uint32_t i, view of) {
    if (f->kind == EXPR_CLOSURE && f->type == NULL && i < f->closure.parameter_count &&
        f->closure.parameters[i]->annotation == NULL && f->closure.parameters[i]->view == NULL)
        f->closure.parameters[i]->view = check_view_kept(c, of);
}

void check_view_closures(checker *c, const expr *call) {
    if (!c->tree->has_reference_impls)
        return;
    const library_said stage = library_said_of(LIBRARY_stage, call->call.name);
    const view item = check_view_of_item(check_view(c, call->call.receiver));
    view lent = item;
    lent.references++;
    const bool asks = stage == SAID_FILTER || stage == SAID_INSPECT || stage == SAID_TAKE_WHILE ||
                      stage == SAID_SKIP_WHILE || stage == SAID_FIND;
    for (uint32_t i = 0; i < call->call.arg_count; i++) {
        expr **arg = &call->call.args[i];
        const symbol *s = (*arg)->kind == EXPR_NAME ? check_find(c, (*arg)->name.name) : NULL;
        if (s != NULL && s->function != NULL) /* its T may be a reference, which the closure's parameter tells */
            check_name_as_closure(c, arg, s->function->parameter_count);
        else if (stage == SAID_MAP && (*arg)->kind == EXPR_NAME && (*arg)->name.scope != NULL)
            check_name_as_closure(c, arg, 1);
        view_parameter(c, *arg, stage == SAID_FOLD, asks ? lent : item);
        if (stage == SAID_REDUCE)
            view_parameter(c, *arg, 1, item);
    }
}

void check_view_bound(checker *c, expr **slot, const type_expr *bound, const type_environment *e) {
    if (!c->tree->has_reference_impls)
        return;
    check_name_as_closure(c, slot, bound->argument_count);
    const type_environment *outer = c->environment;
    c->environment = e;
    for (uint32_t i = 0; i < bound->argument_count; i++) {
        view of = check_view_of_written(c, bound->arguments[i]);
        of.is_parameter = false; /* it is known what the caller's is */
        view_parameter(c, *slot, i, of);
    }
    c->environment = outer;
}
