/* check_names.c: symbols, scopes, suggestions.
 *
 * A symbol is a name; what it means stands in the symbol itself, so that looking a name up costs
 * one hash whatever the number of names. A scope is a mark in the stack of what its declarations
 * hide.
 */
#include <string.h>

#include "language/front/check_private.h"
#include "language/library/library.h"

static uint32_t hash_text(uint32_t hash, const char *text) {
    for (; *text != 0; text++) {
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    }
    return hash;
}

static uint32_t hash_name(const char *name) {
    return hash_text(2166136261u, name);
}

/* ---- symbols --------------------------------------------------------------------------------- */

static symbol *find(const checker *c, const char *name, uint32_t hash) {
    if (c->bucket_count == 0) {
        return NULL;
    }
    symbol *s = c->buckets[hash & (c->bucket_count - 1)];
    while (s != NULL && (s->hash != hash || strcmp(s->name, name) != 0)) {
        s = s->next;
    }
    return s;
}

symbol *check_find(const checker *c, const char *name) {
    return find(c, name, hash_name(name));
}

static void grow(checker *c) {
    uint32_t larger = c->bucket_count == 0 ? 256 : c->bucket_count * 2;
    symbol **buckets = CHECK_ARRAY(c, symbol *, larger);
    for (uint32_t i = 0; i < c->bucket_count; i++) {
        for (symbol *s = c->buckets[i], *next; s != NULL; s = next) {
            next = s->next;
            s->next = buckets[s->hash & (larger - 1)];
            buckets[s->hash & (larger - 1)] = s;
        }
    }
    c->buckets = buckets;
    c->bucket_count = larger;
}

symbol *check_symbol(checker *c, const char *name) {
    uint32_t hash = hash_name(name);
    symbol *s = find(c, name, hash);
    if (s != NULL) {
        return s;
    }
    if (c->symbol_count >= c->bucket_count) {
        grow(c);
    }
    s = CHECK_ARRAY(c, symbol, 1);
    *s = (symbol){.name = name, .hash = hash, .next = c->buckets[hash & (c->bucket_count - 1)]};
    c->buckets[hash & (c->bucket_count - 1)] = s;
    c->symbol_count++;
    return s;
}

const char *check_plain_name(checker *c, const char *name) {
    size_t length = modules_plain_length(name);
    return name[length] == 0 ? name : check_printf(c, "%.*s", (int)length, name);
}

/* m::f, where f is a variable, too: the item goes by a name that no variable has. */
static const char *item_beside_variable(checker *c, const char *name) {
    const symbol *s = check_find(c, name);
    if (s == NULL || s->binding == NULL ||
        (s->function == NULL && s->constant == NULL && s->structure == NULL)) {
        return name;
    }
    name = check_printf(c, "%s%c", name, MODULES_MARK);
    symbol *item = check_symbol(c, name);
    item->function = s->function;
    item->constant = s->constant;
    item->structure = s->structure;
    return name;
}

void check_settle_name(checker *c, name_expr *e) {
    if (e->scope != NULL) {
        e->scope = check_without_modules(c, e->scope);
        e->name = e->scope == NULL ? item_beside_variable(c, e->name) : e->name;
        return;
    }
    const symbol *s = e->item == NULL ? NULL : check_find(c, e->name);
    if (e->item != NULL && (s == NULL || s->binding == NULL)) {
        e->name = e->item;
        e->item = NULL;
    }
}

/* ---- methods --------------------------------------------------------------------------------- */

static uint32_t method_bucket(const checker *c, const struct_item *owner, const char *name) {
    return hash_text(2166136261u + owner->index * 2654435761u, name) & (c->method_bucket_count - 1);
}

function_item *check_find_method(const checker *c, const struct_item *owner, const char *name) {
    function_item *f = c->methods[method_bucket(c, owner, name)];
    while (f != NULL && (f->owner != owner || strcmp(f->name, name) != 0)) {
        f = f->next_in_bucket;
    }
    return f;
}

void check_add_method(checker *c, function_item *f) {
    check_element_rule(c, f);
    uint32_t at = method_bucket(c, f->owner, f->name);
    f->next_in_bucket = c->methods[at];
    c->methods[at] = f;
}

/* ---- scopes ---------------------------------------------------------------------------------- */

void check_scope_close(checker *c, uint32_t mark) {
    while (c->scope_count > mark) {
        scope_entry *entry = &c->scopes[--c->scope_count];
        entry->symbol->binding = entry->hidden;
    }
}

void check_declare(checker *c, binding *b, const type *t) {
    b->type = t;
    symbol *s = check_symbol(c, b->name);
    function_item *f = c->function;
    b->id = f->binding_count;
    CHECK_PUSH(c, f->bindings, f->binding_count, f->binding_capacity, b);
    scope_entry entry = {s, s->binding};
    CHECK_PUSH(c, c->scopes, c->scope_count, c->scope_capacity, entry);
    s->binding = b;
}

/* A comprehension captures what its body reads from outside, each binding once. Numbers grow as
 * comprehensions open, and whoever is captured by one is captured by those around it: so a mark as
 * large as a comprehension's number says that it has the binding. */
void check_use_binding(checker *c, binding *b) {
    b->is_read = true;
    uint32_t mark = b->capture_mark;
    for (comprehension_context *context = c->comprehension; context != NULL;
         context = context->outer) {
        if (b->id >= context->first_binding) {
            continue;
        }
        b->capture_mark = b->capture_mark > context->number ? b->capture_mark : context->number;
        if (mark < context->number) {
            comprehension_expr *e = context->comprehension;
            CHECK_PUSH(c, e->captures, e->capture_count, context->capture_capacity, b);
        }
    }
}

/* ---- suggestions ----------------------------------------------------------------------------- */

suggestion check_suggest(const diagnostic *d, const char *wanted) {
    return d == NULL ? (suggestion){.wanted = wanted} : suggest_for(wanted);
}

void check_suggest_note(checker *c, diagnostic *d, const suggestion *s) {
    if (s->best != NULL) {
        diagnostics_note(c->diagnostics, d, (source_span){0}, "did you mean `%s`?", s->best);
    }
}

void check_suggest_visible(const checker *c, suggestion *s) {
    for (uint32_t i = c->scope_count; i > 0 && s->distance > 0; i--) {
        suggest_add(s, c->scopes[i - 1].symbol->name);
    }
    for (uint32_t i = 0; i < c->tree->constant_count && s->distance > 0; i++) {
        suggest_add(s, c->tree->constants[i]->name);
    }
}

void check_suggest_types(const checker *c, suggestion *s) {
    static const char *const known[] = {"Tensor", "GradTensor", "Vec", "String", "System", "Self"};
    for (uint32_t i = 0; i < c->tree->struct_count && s->distance > 0; i++) {
        if (c->tree->structs[i]->template == NULL && !c->tree->structs[i]->is_builtin) {
            suggest_add(s, c->tree->structs[i]->name);
        }
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        suggest_add(s, known[i]);
    }
}

/* ---- types -------------------------------------------------------------------------------- */

struct_item *check_struct_named(const checker *c, const char *name) {
    if (strcmp(name, "Self") == 0) {
        if (c->environment != NULL && c->environment->self != NULL) {
            return c->environment->self;
        }
        const function_item *f = c->function;
        while (f != NULL && f->is_closure) {
            f = f->outer;
        }
        return f != NULL ? f->owner : NULL;
    }
    symbol *s = check_find(c, name);
    if (s != NULL && s->structure != NULL) {
        return s->structure;
    }
    for (const alias_item *a = c->tree->aliases; a != NULL; a = a->next) { /* Name::new() */
        bool plain = a->impl == NULL && a->type->kind == TYPE_EXPR_NAME &&
                     a->type->argument_count == 0 && strcmp(a->type->name, name) != 0;
        s = plain && strcmp(a->name, name) == 0 ? check_find(c, a->type->name) : NULL;
        if (s != NULL && s->structure != NULL) {
            return s->structure;
        }
    }
    return NULL;
}

/* ---- modules --------------------------------------------------------------------------------- */

static bool is_module(const checker *c, const char *name, size_t length) {
    static const char *const always[] = {"crate", "self", "super"};
    for (size_t i = 0; i < sizeof always / sizeof always[0]; i++) {
        if (strlen(always[i]) == length && memcmp(always[i], name, length) == 0) {
            return true;
        }
    }
    for (const module_name *m = c->tree->modules; m != NULL; m = m->next) {
        if (strlen(m->name) == length && memcmp(m->name, name, length) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_library_module(const char *name) {
    const char *const *at = library_modules;
    while (*at != NULL && strcmp(*at, name) != 0) {
        at++;
    }
    return *at != NULL;
}

static bool is_alias(const checker *c, const char *name) {
    const alias_item *a = c->tree->aliases;
    while (a != NULL && (a->impl != NULL || strcmp(a->name, name) != 0)) {
        a = a->next;
    }
    return a != NULL;
}

/* std::M::N and M::N is __M_N of the library, where it has that. NULL: it has not, or M is the program's own. */
const char *check_library_name(checker *c, const char *scope, const char *name) {
    static const char std[] = "std::";
    if (scope == NULL) {
        return NULL;
    }
    scope += strncmp(scope, std, sizeof std - 1) == 0 ? sizeof std - 1 : 0;
    if (strstr(scope, "::") != NULL || is_module(c, scope, strlen(scope))) {
        return NULL;
    }
    const char *full = check_printf(c, "__%s_%s", scope, name);
    const symbol *s = check_find(c, full);
    bool has = s != NULL && (s->function != NULL || s->structure != NULL);
    return has || is_alias(c, full) ? full : NULL;
}

/* `use std::io::Result;`: Result is __io_Result where the program says it. NULL: it has no such `use`. */
const char *check_imported_alias(checker *c, const type_expr *t) {
    const rename_item *r = t->span.file == c->tree->prelude ? NULL : c->tree->renames;
    while (r != NULL && (strcmp(r->name, t->name) != 0 || !is_alias(c, r->of))) {
        r = r->next;
    }
    return r == NULL ? NULL : r->of;
}

/* a::b::T: the library's name of it, or T where only the library's modules are before it. */
static const char *library_scope(checker *c, const char *scope) {
    const char *last = scope;
    for (const char *at = scope; (at = strstr(at, "::")) != NULL; at += 2) {
        last = at + 2;
    }
    if (last == scope) {
        return NULL;
    }
    const char *before = check_printf(c, "%.*s", (int)(last - scope - 2), scope);
    const char *full = check_library_name(c, before, last);
    bool std = strncmp(scope, "std::", 5) == 0 || (is_library_module(before) && !is_module(c, before, strlen(before)));
    const struct_item *s = full == NULL && std ? check_struct_named(c, last) : NULL;
    return full != NULL ? full : s != NULL && s->span.file == c->tree->prelude ? last : NULL;
}

const char *check_without_modules(checker *c, const char *scope) {
    const char *of_library = scope == NULL ? NULL : library_scope(c, scope);
    if (of_library != NULL) {
        return of_library;
    }
    static const char *const library[] = {"std::collections", "std::rc",     "std::sync",
                                          "std::boxed",       "std::string", "std::vec"};
    for (size_t i = 0; scope != NULL && i < sizeof library / sizeof library[0]; i++) {
        size_t length = strlen(library[i]);
        if (strncmp(scope, library[i], length) == 0 && strncmp(scope + length, "::", 2) == 0) {
            return scope + length + 2;
        }
    }
    while (scope != NULL) {
        const char *end = strstr(scope, "::");
        if (!is_module(c, scope, end == NULL ? strlen(scope) : (size_t)(end - scope))) {
            return scope;
        }
        scope = end == NULL ? NULL : end + 2;
    }
    return NULL;
}
