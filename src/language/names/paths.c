/* paths.c: names with modules in front of them, names of the library, other names of structs; and what is near to a
 * name that is not found.
 */
#include <stdio.h>
#include <string.h>

#include "language/library/library.h"
#include "language/names/names.h"
#include "language/syntax/modules.h"

/* ---- structs --------------------------------------------------------------------------------- */

struct_item *names_struct(const name_table *n, const char *name) {
    symbol *s = names_find(n, name);
    if (s != NULL && s->structure != NULL)
        return s->structure;
    for (const alias_item *a = n->tree->aliases; a != NULL; a = a->next) { /* Name::new() */
        bool plain = a->impl == NULL && a->type->kind == TYPE_EXPR_NAME && a->type->argument_count == 0 &&
                     strcmp(a->type->name, name) != 0;
        s = plain && strcmp(a->name, name) == 0 ? names_find(n, a->type->name) : NULL;
        if (s != NULL && s->structure != NULL)
            return s->structure;
    }
    return NULL;
}

/* ---- modules --------------------------------------------------------------------------------- */

static bool is_module(const name_table *n, const char *name, size_t length) {
    static const char *const always[] = {"crate", "self", "super"};
    for (size_t i = 0; i < sizeof always / sizeof always[0]; i++)
        if (strlen(always[i]) == length && memcmp(always[i], name, length) == 0)
            return true;
    for (const module_name *m = n->tree->modules; m != NULL; m = m->next)
        if (strlen(m->name) == length && memcmp(m->name, name, length) == 0)
            return true;
    return false;
}

bool names_is_module(const name_table *n, const char *scope) {
    const char *last = strrchr(scope, ':');
    last = last == NULL ? scope : last + 1;
    return is_module(n, last, strlen(last));
}

static bool is_library_module(const char *name) {
    const char *const *at = library_modules;
    while (*at != NULL && strcmp(*at, name) != 0)
        at++;
    return *at != NULL;
}

static bool is_alias(const name_table *n, const char *name) {
    const alias_item *a = n->tree->aliases;
    while (a != NULL && (a->impl != NULL || strcmp(a->name, name) != 0))
        a = a->next;
    return a != NULL;
}

const char *names_of_library(name_table *n, const char *scope, const char *name) {
    static const char std[] = "std::";
    if (scope == NULL)
        return NULL;
    if (strncmp(scope, std, sizeof std - 1) == 0) /* std::collections::hash_map::Entry */
        scope = strrchr(scope, ':') + 1;
    if (strstr(scope, "::") != NULL || is_module(n, scope, strlen(scope)))
        return NULL;
    const char *full = names_printf(n, "__%s_%s", scope, name);
    const symbol *s = names_find(n, full);
    bool has = s != NULL && (s->function != NULL || s->structure != NULL || s->constant != NULL);
    return has || is_alias(n, full) ? full : NULL;
}

const char *names_beside_own(name_table *n, const char *name) {
    const struct_item *s = names_struct(n, name);
    if (s == NULL || s->span.file == n->tree->prelude)
        return s == NULL ? NULL : name;
    name = names_printf(n, "__%s", name);
    s = names_struct(n, name);
    return s != NULL && s->span.file == n->tree->prelude ? name : NULL;
}

trait_item *names_trait(const name_table *n, const char *name) {
    const symbol *s = names_find(n, name);
    char full[80] = "__";
    const size_t size = strlen(name) + 1;
    for (const rename_item *r = n->tree->renames; r != NULL && (s == NULL || s->trait == NULL); r = r->next)
        if (r->name[0] == '*' && strlen(r->of) + 1 + size <= sizeof full) { /* use std::io::prelude::* */
            snprintf(full, sizeof full, "%s_%s", r->of, name);
            s = names_find(n, full);
        }
    full[0] = full[1] = '_';
    for (const char *const *at = library_modules; *at != NULL && (s == NULL || s->trait == NULL); at++) {
        const size_t before = strlen(*at); /* __MODULE_NAME; every bound asks: without snprintf */
        if (2 + before + 1 + size > sizeof full)
            continue;
        memcpy(full + 2, *at, before);
        full[2 + before] = '_';
        memcpy(full + 3 + before, name, size);
        s = names_find(n, full);
    }
    return s == NULL ? NULL : s->trait;
}

/* io::Write, fmt::Write: the module says which. */
trait_item *names_trait_written(name_table *n, const type_expr *t) {
    const symbol *s = t->scope == NULL || !is_library_module(t->scope)
                          ? NULL
                          : names_find(n, names_printf(n, "__%s_%s", t->scope, t->name));
    return s != NULL && s->trait != NULL ? s->trait : names_trait(n, t->name);
}

const char *names_trait_text(const trait_item *trait) {
    bool hidden = names_is_hidden(trait->name);
    return hidden ? strrchr(trait->name, '_') + 1 : trait->name;
}

const char *names_imported_alias(const name_table *n, const type_expr *t) {
    const rename_item *r = t->span.file == n->tree->prelude ? NULL : n->tree->renames;
    while (r != NULL && (strcmp(r->name, t->name) != 0 || !is_alias(n, r->of)))
        r = r->next;
    return r == NULL ? NULL : r->of;
}

/* a::b::T: the library's name of it, or T where only the library's modules are before it. */
static const char *library_scope(name_table *n, const char *scope) {
    const char *last = scope;
    for (const char *at = scope; (at = strstr(at, "::")) != NULL; at += 2)
        last = at + 2;
    if (last == scope)
        return NULL;
    const char *before = names_printf(n, "%.*s", (int)(last - scope - 2), scope);
    const char *full = names_of_library(n, before, last);
    bool std = strncmp(scope, "std::", 5) == 0 || (is_library_module(before) && !is_module(n, before, strlen(before)));
    return full != NULL ? full : std ? names_beside_own(n, last) : NULL;
}

const char *names_without_modules(name_table *n, const char *scope) {
    const char *of_library = scope == NULL ? NULL : library_scope(n, scope);
    if (of_library != NULL)
        return of_library;
    static const char *const library[] = {"std::collections", "std::rc",     "std::sync",
                                          "std::boxed",       "std::string", "std::vec"};
    for (size_t i = 0; scope != NULL && i < sizeof library / sizeof library[0]; i++) {
        size_t length = strlen(library[i]);
        if (strncmp(scope, library[i], length) == 0 && strncmp(scope + length, "::", 2) == 0)
            return scope + length + 2;
    }
    while (scope != NULL) {
        const char *end = strstr(scope, "::");
        if (!is_module(n, scope, end == NULL ? strlen(scope) : (size_t)(end - scope)))
            return scope;
        scope = end == NULL ? NULL : end + 2;
    }
    return NULL;
}

const char *names_plain(name_table *n, const char *name) {
    size_t length = modules_plain_length(name);
    return name[length] == 0 ? name : names_printf(n, "%.*s", (int)length, name);
}

/* m::f, where f is a variable, too: the item goes by a name that no variable has. */
static const char *item_beside_variable(name_table *n, const char *name) {
    const symbol *s = names_find(n, name);
    if (s == NULL || s->binding == NULL || (s->function == NULL && s->constant == NULL && s->structure == NULL))
        return name;
    name = names_printf(n, "%s%c", name, MODULES_MARK);
    symbol *item = names_symbol(n, name);
    item->function = s->function;
    item->constant = s->constant;
    item->structure = s->structure;
    return name;
}

void names_settle(name_table *n, name_expr *e) {
    const char *full = names_of_library(n, e->scope, e->name);
    const symbol *of_library = full == NULL ? NULL : names_find(n, full);
    if (of_library != NULL && (of_library->constant != NULL || of_library->structure != NULL)) {
        e->scope = NULL;
        e->name = full;
        return;
    }
    if (e->scope != NULL) {
        e->scope = names_without_modules(n, e->scope);
        e->name = e->scope == NULL ? item_beside_variable(n, e->name) : e->name;
        return;
    }
    const symbol *s = e->item == NULL ? NULL : names_find(n, e->name);
    if (e->item != NULL && (s == NULL || s->binding == NULL)) {
        e->name = e->item;
        e->item = NULL;
    }
}

/* ---- suggestions ----------------------------------------------------------------------------- */

void names_suggest_visible(const name_table *n, suggestion *s) {
    for (uint32_t i = n->entry_count; i > 0 && s->distance > 0; i--)
        suggest_add(s, n->entries[i - 1].symbol->name);
    for (uint32_t i = 0; i < n->tree->constant_count && s->distance > 0; i++)
        suggest_add(s, n->tree->constants[i]->name);
}

void names_suggest_types(const name_table *n, suggestion *s) {
    static const char *const known[] = {"Tensor", "GradTensor", "Vec", "String", "Self"};
    for (uint32_t i = 0; i < n->tree->struct_count && s->distance > 0; i++)
        if (n->tree->structs[i]->template == NULL && !n->tree->structs[i]->is_builtin)
            suggest_add(s, n->tree->structs[i]->name);
    suggest_add(s, library_named(LIBRARY_type_form, SAID_SYSTEM));
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        suggest_add(s, known[i]);
}
