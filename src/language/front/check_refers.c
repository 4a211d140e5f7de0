/* check_refers.c: which expressions refer to a place, by their form. Nothing is checked for it. */
#include "language/front/check_place.h"
#include "language/library/library.h"
#include "language/types/check_context.h"
#include "language/types/check_operation.h"
#include "language/types/check_scopes.h"
#include "language/types/check_view.h"

/* fold(&mut root, |n, c| …): what it begins with goes from place to place. */
bool check_folds_places(const checker *c, const expr *e) {
    if (e->kind != EXPR_METHOD || e->call.arg_count != 2 || library_said_of(LIBRARY_stage, e->call.name) != SAID_FOLD)
        return false;
    const expr *start = e->call.args[0];
    const view lent = start->type == NULL ? check_view(c, start) : (view){0};
    return (lent.references > 0 && lent.is_mutable) || check_refers(c, start) || check_names_place(c, start);
}

expr *check_fold_start(checker *c, const expr *e) {
    expr *start = e->call.args[0];
    const bool named = start->kind == EXPR_NAME && check_folds_places(c, e);
    return named ? BUILD_QUOTE(c, e->span, "&mut $0", start) : start;
}

void check_keep_folded(const checker *c, const expr *e, expr *made) {
    if (check_folds_places(c, e))
        check_keep_reference(made);
}

/* By its form: `&mut place`, a method of the language that yields one, or one of the program. */
bool check_refers_by_method(const checker *c, const expr *e) {
    if (e->kind == EXPR_TRY && e->type == NULL)
        return check_refers_by_method(c, e->attempt.operand);
    if (e->kind != EXPR_METHOD || e->type != NULL)
        return false;
    if (library_says(LIBRARY_lends_place, e->call.name) || library_says(LIBRARY_makes_place, e->call.name) ||
        check_folds_places(c, e))
        return true;
    if (library_says(LIBRARY_opens, e->call.name))
        return check_refers_by_method(c, e->call.receiver);
    const expr *over = e->call.receiver;
    return library_says(LIBRARY_seeks_place, e->call.name) && over->kind == EXPR_METHOD &&
           library_said_of(LIBRARY_lends_each, over->call.name) == SAID_ELEMENTS;
}

static bool holds_reference(const checker *c, const binding *b) {
    return b->type != NULL && type_is_reference(type_resolve(c->types, b->type));
}

bool check_refers(const checker *c, const expr *e) {
    if (e->kind == EXPR_UNARY && e->unary.op == UNARY_REFERENCE && e->unary.is_mutable)
        return true;
    if (e->kind == EXPR_NAME && e->name.scope == NULL && !e->is_followed) {
        const symbol *s = check_find(c, e->name.name);
        const binding *b = s == NULL ? NULL : s->binding;
        return b != NULL && (b->alias != NULL || holds_reference(c, b) || check_comes_back(b) ||
                             (b->kind == BINDING_SELF && b->is_mutable));
    }
    return check_refers_by_method(c, e);
}
