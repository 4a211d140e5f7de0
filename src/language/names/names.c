/* names.c: symbols, scopes, methods.
 *
 * A symbol is a name; what it means lies in the symbol itself, so that looking a name up costs
 * one hash whatever the number of names. A scope is a mark in the stack of what its declarations
 * hide.
 */
#include "language/names/names.h"

#include <stdarg.h>
#include <string.h>

#include "base/assert.h"

_Noreturn void names_out_of_memory(const name_table *n) {
    longjmp(*n->memory_ended, 1);
}

static void *allocate(name_table *n, size_t count, size_t bytes) {
    void *made = masu__arena_calloc(n->arena, count, bytes, _Alignof(max_align_t));
    if (made == NULL)
        names_out_of_memory(n);
    return made;
}

char *names_printf(name_table *n, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *made = masu__arena_vprintf(n->arena, format, arguments);
    va_end(arguments);
    if (made == NULL)
        names_out_of_memory(n);
    return made;
}

static uint32_t hash_text(uint32_t hash, const char *text) {
    for (; *text != 0; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return hash;
}

static uint32_t hash_name(const char *name) {
    return hash_text(2166136261u, name);
}

/* ---- symbols --------------------------------------------------------------------------------- */

static symbol *find(const name_table *n, const char *name, uint32_t hash) {
    if (n->bucket_count == 0)
        return NULL;
    symbol *s = n->buckets[hash & (n->bucket_count - 1)];
    while (s != NULL && (s->hash != hash || strcmp(s->name, name) != 0))
        s = s->next;
    return s;
}

symbol *names_find(const name_table *n, const char *name) {
    return find(n, name, hash_name(name));
}

static void grow(name_table *n) {
    uint32_t larger = n->bucket_count == 0 ? 256 : n->bucket_count * 2;
    symbol **buckets = allocate(n, larger, sizeof *buckets);
    for (uint32_t i = 0; i < n->bucket_count; i++) {
        for (symbol *s = n->buckets[i], *next; s != NULL; s = next) {
            next = s->next;
            s->next = buckets[s->hash & (larger - 1)];
            buckets[s->hash & (larger - 1)] = s;
        }
    }
    n->buckets = buckets;
    n->bucket_count = larger;
}

symbol *names_symbol(name_table *n, const char *name) {
    uint32_t hash = hash_name(name);
    symbol *s = find(n, name, hash);
    if (s != NULL)
        return s;
    if (n->symbol_count >= n->bucket_count)
        grow(n);
    s = allocate(n, 1, sizeof *s);
    *s = (symbol){.name = name, .hash = hash, .next = n->buckets[hash & (n->bucket_count - 1)]};
    n->buckets[hash & (n->bucket_count - 1)] = s;
    n->symbol_count++;
    MASU_DEBUG_ASSERT(n->symbol_count <= n->bucket_count && (n->bucket_count & (n->bucket_count - 1)) == 0);
    return s;
}

/* ---- methods --------------------------------------------------------------------------------- */

static uint32_t method_bucket(const name_table *n, const struct_item *owner, const char *name) {
    return hash_text(2166136261u + owner->index * 2654435761u, name) & (n->method_bucket_count - 1);
}

void names_reserve_methods(name_table *n, uint32_t count) {
    n->method_bucket_count = 16;
    while (n->method_bucket_count < count)
        n->method_bucket_count *= 2;
    n->methods = allocate(n, n->method_bucket_count, sizeof *n->methods);
}

function_item *names_find_method(const name_table *n, const struct_item *owner, const char *name) {
    function_item *f = n->methods[method_bucket(n, owner, name)];
    while (f != NULL && (f->owner != owner || strcmp(f->name, name) != 0))
        f = f->next_in_bucket;
    return f;
}

/* A type's own, in the program: where a call does not say otherwise, it comes before those of traits. Those for the
 * type come before those for references to it. */
static bool comes_first(const name_table *n, const function_item *f, const function_item *than) {
    return f->impl != NULL && f->span.file != n->tree->prelude && (f->impl->trait_name == NULL || f->far < than->far);
}

void names_add_method(name_table *n, function_item *f) {
    function_item **at = &n->methods[method_bucket(n, f->owner, f->name)];
    for (function_item **o = at; f->impl != NULL && f->impl->trait_name != NULL && *o != NULL;
         o = &(*o)->next_in_bucket)
        if ((*o)->owner == f->owner && strcmp((*o)->name, f->name) == 0 && comes_first(n, *o, f))
            at = &(*o)->next_in_bucket;
    f->next_in_bucket = *at;
    *at = f;
}

/* ---- scopes ---------------------------------------------------------------------------------- */

static void push(name_table *n, scope_entry entry, binding *shown) {
    MASU_ARENA_PUSH(n->arena, n->entries, n->entry_count, n->entry_capacity, entry, names_out_of_memory(n));
    entry.symbol->binding = shown;
}

void names_declare(name_table *n, function_item *f, binding *b) {
    symbol *s = names_symbol(n, b->name);
    b->id = f->binding_count;
    MASU_ARENA_PUSH(n->arena, f->bindings, f->binding_count, f->binding_capacity, b, names_out_of_memory(n));
    push(n, (scope_entry){s, s->binding}, b);
}

void names_show(name_table *n, binding *b) {
    symbol *s = names_symbol(n, b->name);
    push(n, (scope_entry){s, s->binding}, b);
}

void names_close(name_table *n, uint32_t mark) {
    MASU_DEBUG_ASSERT(mark <= n->entry_count);
    while (n->entry_count > mark) {
        scope_entry *entry = &n->entries[--n->entry_count];
        entry->symbol->binding = entry->hidden;
    }
}

names_away names_leave(name_table *n, uint32_t mark) {
    MASU_DEBUG_ASSERT(mark <= n->entry_count);
    names_away away = {.count = n->entry_count - mark};
    away.later = allocate(n, away.count + 1, sizeof *away.later);
    away.shown = allocate(n, away.count + 1, sizeof *away.shown);
    for (uint32_t i = 0; i < away.count; i++) {
        away.later[i] = n->entries[n->entry_count - 1 - i];
        away.shown[i] = away.later[i].symbol->binding;
        away.later[i].symbol->binding = away.later[i].hidden;
    }
    n->entry_count = mark;
    return away;
}

void names_return(name_table *n, const names_away *away) {
    for (uint32_t i = away->count; i-- > 0;)
        push(n, away->later[i], away->shown[i]);
}
