/* calls.c: functions: what they take and yield. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "language/borrow/builder.h"
#include "language/library/library.h"

/* ---- functions of the program ------------------------------------------------------------------------------- */

/* The functions with that name, one behind the other. */
static uint32_t functions_named(const builder *b, const char *name, function_item ***first) {
    function_item key = {.name = name}, *wanted = &key;
    function_item **all = b->world->functions, **end = all + b->world->function_count;
    *first = b->world->function_count == 0 || name == NULL
                 ? NULL
                 : bsearch(&wanted, all, b->world->function_count, sizeof *all, borrow_by_name);
    uint32_t count = 0;
    if (*first != NULL) {
        while (*first > all && strcmp((*first)[-1]->name, name) == 0)
            (*first)--;
        while (*first + count < end && strcmp((*first)[count]->name, name) == 0)
            count++;
    }
    return count;
}

static bool is_of(const function_item *f, const char *owner) {
    return owner == NULL ? f->owner_name == NULL : f->owner_name != NULL && strcmp(f->owner_name, owner) == 0;
}

static const binding *self_of(const function_item *f) {
    return (f->has_self || f->has_holder) && f->parameter_count > 0 ? f->parameters[0] : NULL;
}

touch_mode borrow_mode_of_self(const function_item *f) {
    const binding *self = self_of(f);
    return self->is_lent ? TOUCH_CHANGE : self->is_shared ? TOUCH_SHARE : TOUCH_MOVE;
}

bool borrow_may_be_own(const builder *b, const char *name) {
    function_item **first;
    const uint32_t count = functions_named(b, name, &first);
    for (uint32_t i = 0; i < count; i++)
        if (self_of(first[i]) != NULL && borrow_mode_of_self(first[i]) != TOUCH_MOVE)
            return true;
    return false;
}

const function_item *borrow_method_of(const builder *b, const sort *s, const char *name) {
    function_item **first;
    uint32_t count = functions_named(b, name, &first);
    const function_item *found = NULL;
    const char *owner = NULL, *held = NULL;
    if (s->type != NULL && s->type->kind == TYPE_STRUCT) {
        const struct_item *of = s->type->structure;
        owner = of->template != NULL ? of->template->name : of->name;
        const type *in = of->template != NULL && of->template->generics.count == 1 ? of->arguments[0] : NULL;
        held = in != NULL && in->kind == TYPE_STRUCT
                   ? in->structure->template != NULL ? in->structure->template->name : in->structure->name
                   : NULL;
    }
    for (uint32_t i = 0; i < count; i++) {
        const function_item *f = first[i];
        if (self_of(f) == NULL)
            continue;
        if (owner != NULL && (f->has_holder ? held != NULL && is_of(f, held) : is_of(f, owner)))
            return f;
        if (found != NULL && borrow_mode_of_self(found) != borrow_mode_of_self(f))
            return NULL;
        found = f;
    }
    return owner == NULL && s->kind == SORT_UNKNOWN ? found : NULL;
}

/* ---- what a call yields ------------------------------------------------------------------------------------------ */

value borrow_result_of(builder *b, const function_item *f, const value *given, source_span span) {
    const sort *s = borrow_sort_of_result(b, f, given);
    value made = borrow_plain_value(f->result_annotation == NULL ? &sort_value : s);
    const bool holds = sort_holds(made.sort);
    bool any = false;
    for (uint32_t i = 0; i < f->parameter_count; i++)
        any |= given[i].held != NO_VARIABLE;
    if (holds || (any && made.sort->kind == SORT_UNKNOWN))
        made.held = borrow_new_temporary(b, span, made.sort);
    if (any && borrow_has_lives(b, f))
        borrow_meet_lives(b, f, given, made.held, span);
    return made;
}

/* ---- arguments --------------------------------------------------------------------------------------------------- */

/* The names in the holes of a text. */
static void look_at_holes(builder *b, const expr *e) {
    const char *text = e->string.data, *end = text + e->string.length;
    for (; text < end; text++) {
        if (*text != '{')
            continue;
        if (text + 1 < end && text[1] == '{') {
            text++;
            continue;
        }
        size_t length = 0;
        while (text + 1 + length < end && (isalnum((unsigned char)text[1 + length]) || text[1 + length] == '_'))
            length++;
        char *name = masu__arena_strndup(b->g.arena, text + 1, length);
        if (name == NULL)
            longjmp(*b->g.memory_ended, 1);
        uint32_t v = borrow_find_name(b, name);
        if (v != NO_VARIABLE) {
            value named = {b->g.variables[v].sort, borrow_place_of_variable(b, v), NO_VARIABLE, NULL, 0};
            borrow_look_at_value(b, named, e->span);
        }
    }
}

static value build_print(builder *b, expr *e) {
    uint32_t *held = GRAPH_ARRAY(&b->g, uint32_t, e->call.arg_count + 1);
    for (uint32_t i = 0; i < e->call.arg_count; i++) {
        expr *at = e->call.args[i];
        if (at->kind == EXPR_STRING)
            look_at_holes(b, at);
        borrow_mark(b, at->span, MARK_LOOKED);
        const value v = build_expr(b, at);
        borrow_look_at_value(b, v, at->span);
        held[i] = v.held;
    }
    for (uint32_t i = 0; i < e->call.arg_count; i++) /* all are there until the text is */
        borrow_use(b, held[i], e->span);
    return borrow_plain_value(&sort_value);
}

void borrow_use_all(builder *b, const value *given, uint32_t count, source_span span) {
    for (uint32_t i = 0; i < count; i++)
        borrow_use(b, given[i].held, span);
}

/* ---- calls of a name --------------------------------------------------------------------------------------------- */

static const char *last_part(const char *scope) {
    const char *found = scope;
    for (const char *at = scope; at != NULL && *at != '\0'; at++)
        if (at[0] == ':' && at[1] == ':')
            found = at + 2;
    return found;
}

static const function_item *function_called(const builder *b, const expr *callee) {
    const char *name = callee->name.item != NULL ? callee->name.item : callee->name.name;
    const char *owner = last_part(callee->name.scope);
    if (owner != NULL && strcmp(owner, "Self") == 0)
        owner = b->function->owner_name;
    function_item **first;
    uint32_t count = functions_named(b, name, &first);
    for (uint32_t i = 0; i < count; i++) {
        bool module = owner != NULL && islower((unsigned char)owner[0]) && first[i]->owner_name == NULL;
        if (is_of(first[i], owner) || module)
            return first[i];
    }
    return NULL;
}

/* map(cut), map(P::name), map(str::trim): what the function of that name yields of an item. */
static value yielded_by_path(builder *b, const expr *path, value item) {
    const function_item *f = function_called(b, path);
    if (f != NULL && f->parameter_count == 1)
        return borrow_result_of(b, f, &item, path->span);
    const bool lends = path->name.scope != NULL && library_said_of(LIBRARY_lends, path->name.name) != SAID_NOTHING;
    return lends ? item : borrow_plain_value(&sort_value);
}

value build_argument(builder *b, expr *e, const sort *item, uint32_t held, bool is_once, value *yields) {
    if (e->kind == EXPR_CLOSURE)
        return build_lent_closure(b, e, item, held, is_once, yields);
    const value v = build_taken(b, e);
    const bool path = e->kind == EXPR_NAME && item != NULL && v.place == NULL;
    *yields = path ? yielded_by_path(b, e, (value){.sort = item, .held = held}) : v;
    return v;
}

/* Some(x), Shape::Circle(p, r), P(a, b), Box::new(x) */
static value build_constructor(builder *b, expr *e, const value *given, bool wraps) {
    uint32_t count = e->call.arg_count;
    value made = borrow_plain_value(&sort_value);
    const char *owner = last_part(e->call.callee->name.scope);
    owner = owner == NULL ? e->call.callee->name.name : owner;
    owner = strcmp(owner, "Self") == 0 ? b->function->owner_name : owner;
    const struct_item *of = borrow_struct_named(b, owner);
    bool own = of != NULL && !of->is_builtin;
    if (borrow_refers_to_nothing(b, of)) {
        made.sort = of->type != NULL ? sort_of_type(b, of->type) : &sort_value;
        return made;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!sort_holds(given[i].sort))
            continue;
        if (made.held == NO_VARIABLE) {
            sort *view = GRAPH_ARRAY(&b->g, sort, 1);
            *view = (sort){
                .kind = SORT_VIEW, .is_mutable = true, .type = own && of->generics.count == 0 ? of->type : NULL};
            made.sort = wraps && !own && count == 1 ? sort_holder(b, given[i].sort, false) : view;
            made.held = borrow_new_temporary(b, e->span, made.sort);
        }
        borrow_flow(b, made.held, given[i].held, e->span);
    }
    if (made.held == NO_VARIABLE && wraps && !own && count == 1)
        made.sort = sort_holder(b, given[0].sort, false);
    return made;
}

bool borrow_calls_once(const function_item *f, uint32_t i) {
    const type_expr *t = i < f->parameter_count ? f->parameters[i]->annotation : NULL;
    bool once = t != NULL && t->is_once;
    const type_parameters *all[] = {&f->generics, f->impl == NULL ? NULL : &f->impl->generics};
    for (int k = 0; t != NULL && t->kind == TYPE_EXPR_NAME && k < 2; k++)
        once |= all[k] != NULL && sort_is_once_parameter(all[k], t->name);
    for (uint32_t k = 0; t != NULL && k < t->argument_count; k++) /* Box<dyn FnOnce()> */
        once |= t->arguments[k]->is_once;
    return once;
}

value borrow_build_given(builder *b, expr *e, const function_item *f, uint32_t i, const value *given, value *yields) {
    if (e->kind == EXPR_CLOSURE && i < f->parameter_count) {
        b->wanted = borrow_function_bound(f, i);
        b->lent = borrow_new_temporary(b, e->span, &sort_unknown);
        for (uint32_t k = 0; k < i; k++) /* what it is called with may be of what is behind it */
            borrow_flow(b, b->lent, given[k].held, e->span);
    }
    value made = build_argument(b, e, NULL, NO_VARIABLE, borrow_calls_once(f, i), yields);
    b->wanted = NULL;
    return made;
}

static value build_function(builder *b, expr *e, const function_item *f) {
    value *given = GRAPH_ARRAY(&b->g, value, f->parameter_count + e->call.arg_count + 1), yields;
    for (uint32_t i = 0; i < f->parameter_count + e->call.arg_count; i++)
        given[i] = borrow_plain_value(&sort_value);
    for (uint32_t i = 0; i < e->call.arg_count; i++)
        given[i] = borrow_build_given(b, e->call.args[i], f, i, given, &yields);
    borrow_use_all(b, given, e->call.arg_count, e->span);
    return borrow_result_of(b, f, given, e->span);
}

static value named(builder *b, uint32_t variable) {
    value v = borrow_plain_value(b->g.variables[variable].sort);
    v.place = borrow_place_of_variable(b, variable);
    return v;
}

static void take_function(builder *b, value v, source_span span) {
    if (!v.sort->is_once || v.place == NULL)
        return;
    borrow_mark_taken(b, v, span);
    if (v.place->count == 0)
        borrow_touch(b, v.place, TOUCH_MOVE, span, NULL);
}

static void build_callee(builder *b, expr *e) {
    value v = build_expr(b, e);
    if (!v.sort->is_once)
        borrow_mark(b, e->span, MARK_LOOKED);
    borrow_look_at_value(b, v, e->span);
    take_function(b, v, e->span);
}

/* A closure yields something of its arguments, or of its captures. */
static value call_closure(builder *b, const expr *e, uint32_t local, const value *given) {
    value made = borrow_plain_value(&sort_unknown);
    const sort *s = b->g.variables[local].sort;
    if (!s->is_once)
        borrow_touch(b, borrow_place_of_variable(b, local), s->writes ? TOUCH_CHANGE : TOUCH_READ, e->span, NULL);
    borrow_use(b, local, e->span);
    take_function(b, named(b, local), e->call.callee->span);
    made.held = borrow_new_temporary(b, e->span, made.sort);
    for (uint32_t i = 0; i < e->call.arg_count; i++) {
        borrow_flow(b, made.held, given[i].held, e->span);
        if (s->keeps)
            borrow_flow(b, graph_behind(&b->g, local, 1), given[i].held, e->span);
    }
    if (s->kind == SORT_VIEW)
        borrow_flow(b, made.held, local, e->span);
    return made;
}

/* Rc::new(x), RefCell::new(x): it holds what x does. */
static value build_library_holder(builder *b, const expr *e, const value *given) {
    value made = borrow_plain_value(&sort_value);
    const struct_item *s = borrow_struct_named(b, last_part(e->call.callee->name.scope));
    if (e->call.arg_count != 1 || given[0].held == NO_VARIABLE || !sort_holds(given[0].sort) || s == NULL)
        return made;
    sort *holder = GRAPH_ARRAY(&b->g, sort, 1);
    *holder = (sort){.kind = SORT_HOLDER, .item = given[0].sort, .is_cell = borrow_struct_is_cell(s)};
    made.sort = holder;
    made.held = borrow_new_temporary(b, e->span, made.sort);
    borrow_flow(b, made.held, given[0].held, e->span);
    return made;
}

/* std::mem::take(&mut a), swap(&mut a, &mut b), replace(&mut a, b): what one of them leads to, the others may hold. */
static value call_library_function(builder *b, const expr *e, const value *given) {
    value made = borrow_plain_value(&sort_value);
    uint32_t first = NO_VARIABLE;
    if (e->call.arg_count == 1 && given[0].held != NO_VARIABLE && given[0].sort->kind == SORT_REFERENCE &&
        library_said_of(LIBRARY_lends, e->call.callee->name.name) == SAID_CLONED) { /* Rc::clone(&x) */
        made.sort = given[0].sort->item;
        made.held = borrow_new_temporary(b, e->span, made.sort);
        borrow_flow(b, made.held, graph_behind(&b->g, given[0].held, 1), e->span);
        return made;
    }
    for (uint32_t i = 0; i < e->call.arg_count; i++) {
        const sort *s = given[i].sort;
        if (given[i].held == NO_VARIABLE || s->kind != SORT_REFERENCE || !s->is_mutable || !sort_holds(s->item))
            continue;
        const uint32_t behind = graph_behind(&b->g, given[i].held, 1);
        if (first == NO_VARIABLE) {
            first = behind;
            made.sort = s->item;
            made.held = borrow_new_temporary(b, e->span, made.sort);
            borrow_flow(b, made.held, first, e->span);
        } else {
            graph_link_variables(&b->g, first, behind, false, e->span);
        }
    }
    if (first == NO_VARIABLE && e->call.callee->name.scope != NULL && e->call.arg_count == 1 &&
        given[0].held != NO_VARIABLE) { /* Rc::make_mut(&mut x) may lend */
        made = given[0];
        made.sort = &sort_unknown;
        return made;
    }
    for (uint32_t i = 0; i < e->call.arg_count && first != NO_VARIABLE; i++)
        if (given[i].held != NO_VARIABLE && !(given[i].sort->kind == SORT_REFERENCE && sort_holds(given[i].sort->item)))
            borrow_flow(b, first, given[i].held, e->span);
    return made;
}

/* Box::new(x) */
static bool makes_pointer(const expr *e) {
    const name_expr *callee = &e->call.callee->name;
    const char *owner = last_part(callee->scope);
    return owner != NULL && library_said_of(LIBRARY_form, callee->name) == SAID_NEW && e->call.arg_count == 1 &&
           library_says(LIBRARY_pointer, owner);
}

value build_call_value(builder *b, expr *e) {
    const expr *callee = e->call.callee;
    if (callee == NULL || callee->kind != EXPR_NAME) {
        if (callee != NULL)
            build_callee(b, e->call.callee);
        for (uint32_t i = 0; i < e->call.arg_count; i++)
            borrow_use(b, build_taken(b, e->call.args[i]).held, e->span);
        return borrow_plain_value(&sort_unknown);
    }
    uint32_t local = callee->name.scope == NULL ? borrow_find_name(b, callee->name.name) : NO_VARIABLE;
    const function_item *f = local == NO_VARIABLE ? function_called(b, callee) : NULL;
    if (f != NULL)
        return build_function(b, e, f);
    if (local == NO_VARIABLE && callee->name.scope == NULL && library_says(LIBRARY_looks_at, callee->name.name))
        return build_print(b, e);
    value *given = GRAPH_ARRAY(&b->g, value, e->call.arg_count + 1), yields;
    const bool boxed = makes_pointer(e);
    for (uint32_t i = 0; i < e->call.arg_count; i++)
        given[i] = build_argument(b, e->call.args[i], NULL, NO_VARIABLE, boxed, &yields);
    borrow_use_all(b, given, e->call.arg_count, e->span);
    if (local != NO_VARIABLE)
        return call_closure(b, e, local, given);
    if (boxed)
        return given[0];
    const char *owner = last_part(callee->name.scope);
    bool wraps = owner == NULL;
    if (isupper((unsigned char)callee->name.name[0]))
        return build_constructor(b, e, given, wraps);
    if (library_said_of(LIBRARY_form, callee->name.name) == SAID_NEW)
        return build_library_holder(b, e, given);
    return call_library_function(b, e, given);
}
