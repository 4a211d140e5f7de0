/* check_may_write.c: whether a method may write to self, before its body is checked: by what is written there. */
#include <string.h>

#include "language/front/check_closure.h"
#include "language/front/check_place.h"
#include "language/library/library.h"
#include "language/types/check_context.h"
#include "language/types/check_instances.h"
#include "language/types/check_scopes.h"

enum { SEARCH_DEPTH = 6 };

typedef struct write_search {
    checker *c;
    const function_item *f;
    const struct write_search *outer; /* of the method that calls it on self; NULL: none does */
    int depth;
} write_search;

static bool starts_at_self(const expr *e) {
    while (e->kind == EXPR_FIELD || e->kind == EXPR_TUPLE_FIELD || e->kind == EXPR_INDEX)
        e = e->kind == EXPR_INDEX ? e->index.base : e->field.base;
    return e->kind == EXPR_NAME && e->name.scope == NULL && strcmp(e->name.name, "self") == 0;
}

bool check_changes_receiver(const char *name) {
    return library_says(LIBRARY_writes, name);
}

static bool search_writes(checker *c, function_item *f, const write_search *outer);

bool check_some_method_writes(const checker *c, const char *name) {
    const syntax_tree *tree = c->tree;
    for (uint32_t i = 0; i < tree->function_count; i++) {
        const function_item *f = tree->functions[i];
        if (f->span.file != tree->prelude && f->has_self && strcmp(f->name, name) == 0 && !f->parameters[0]->is_shared)
            return true;
    }
    return check_changes_receiver(name);
}

static bool writes(const expr *e, void *context) {
    const write_search *s = context;
    if (e->kind != EXPR_METHOD || !starts_at_self(e->call.receiver))
        return e->kind == EXPR_ASSIGN && starts_at_self(e->assign.target);
    const struct_item *owner = e->call.receiver->kind == EXPR_NAME ? s->f->owner : NULL;
    function_item *called = owner == NULL ? NULL
                                          : check_find_method(s->c, owner->template != NULL ? owner->template : owner,
                                                              e->call.name);
    if (called != NULL)
        return search_writes(s->c, called, s);
    const bool builtin = owner != NULL && owner->is_builtin != 0; /* the program adds no method that is not found */
    return builtin ? check_changes_receiver(e->call.name) : check_some_method_writes(s->c, e->call.name);
}

/* A method that calls itself, or another one of its name, on self: that is being looked at. */
static bool is_searched(const write_search *s, const function_item *f) {
    while (s != NULL && s->f != f)
        s = s->outer;
    return s != NULL;
}

static bool search_writes(checker *c, function_item *f, const write_search *outer) {
    if (f->has_self && f->parameters[0]->is_shared) /* `&self`: at most what lies behind a reference in it */
        return false;
    write_search s = {.c = c, .f = f, .outer = outer, .depth = outer == NULL ? 0 : outer->depth + 1};
    if (f->writes_self || s.depth > SEARCH_DEPTH)
        return true;
    if (is_searched(outer, f))
        return false;
    if (f->is_checked) { /* what it calls itself is not spread yet */
        for (uint32_t i = 0; i < c->writes->use_count; i++) {
            const method_use *use = &c->writes->uses[i];
            function_item *called = check_call_of_use(use)->call.function;
            if (use->caller == f && called != f && use->root != NULL && use->root->kind == BINDING_SELF &&
                search_writes(c, called, &s))
                return true;
        }
        return false;
    }
    check_read_body(c, f);
    return block_any(f->body, writes, &s);
}

bool check_may_write_self(checker *c, function_item *f) {
    return search_writes(c, f->is_checked || f->template == NULL ? f : f->template, NULL);
}

bool check_may_write_lists(checker *c, const char *name) {
    struct_item *list = c->instances->builtin_owners[TYPE_VEC];
    function_item *f = list == NULL ? NULL : check_find_method(c, list, name);
    return f != NULL && (check_lends_references(c, f) || check_may_write_self(c, f));
}

/* A method that lists have is that of a list where the library has it several times: a heap's `iter` may order it. */
bool check_only_reads(checker *c, const char *name) {
    const syntax_tree *tree = c->tree;
    const struct_item *list = c->instances->builtin_owners[TYPE_VEC];
    bool reads = !check_some_method_writes(c, name);
    if (library_says(LIBRARY_goes_over, name) || (list != NULL && check_find_method(c, list, name) != NULL))
        return reads && !check_may_write_lists(c, name);
    for (uint32_t i = 0; reads && i < tree->function_count; i++) {
        function_item *f = tree->functions[i];
        if (f->span.file == tree->prelude && f->has_self && f->template == NULL && strcmp(f->name, name) == 0)
            reads = !check_lends_references(c, f) && !check_may_write_self(c, f);
    }
    return reads;
}
