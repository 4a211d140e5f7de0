/* check_closure_made.c: the struct that a closure, or the name of a function as a value, is; and its end. */
#include "language/front/check_closure.h"
#include "language/types/check_context.h"
#include "language/types/check_fits.h"
#include "language/types/check_scopes.h"

struct_item *check_new_closure_struct(checker *c, expr *e, function_item *f) {
    struct_item *s = CHECK_ARRAY(c, struct_item, 1);
    *s = (struct_item){
        .name = "<closure>", .span = e->span, .closure = f, .made_by = e, .index = c->tree->struct_count, .visit = 2};
    CHECK_PUSH(c, c->tree->structs, c->tree->struct_count, c->tree->struct_capacity, s);
    s->type = type_struct(c->types, s);
    type_set_size(s->type, 1);
    return s;
}

void check_close_closure(checker *c, expr *e) {
    bool lost = c->open->lost_calls > 0 || (e->type != NULL && e->type->kind == TYPE_ERROR);
    if (e->kind == EXPR_CLOSURE && !lost) { /* never called: nothing ever said what its parameters are */
        diagnostic *d = diagnostics_say(c->diagnostics, e->span, SAY(nothing_says_what_parameters_of_this));
        diagnostics_note(c->diagnostics, d, (source_span){0}, "write it out: `|x: f32| …`");
    }
}

bool check_function_name(checker *c, expr *e) {
    names_settle(c->names, &e->name);
    symbol *s = e->name.scope == NULL ? check_find(c, e->name.name) : NULL;
    function_item *f = s == NULL ? NULL : s->function;
    if (e->name.scope != NULL) {
        struct_item *owner = check_struct_named(c, e->name.scope);
        f = owner == NULL ? NULL : check_find_method(c, owner, e->name.name);
    }
    if (f == NULL || f->has_self || f->is_template)
        return false;
    struct_item *made = f->as_value;
    if (made == NULL) {
        made = check_new_closure_struct(c, e, f);
        f->as_value = made;
    }
    e->kind = EXPR_CALL;
    e->call = (call_expr){.kind = CALL_STRUCT, .name_span = e->span, .structure = made};
    e->type = made->type;
    return true;
}
