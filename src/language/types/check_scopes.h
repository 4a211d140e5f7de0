/* check_scopes.h: names as the checker asks for them, and what it suggests for those that it does not find. Where they
 * lie is names/names.h.
 */
#ifndef MASU_LANGUAGE_CHECK_SCOPES_H
#define MASU_LANGUAGE_CHECK_SCOPES_H

#include "language/types/check_context.h"

typedef struct said_type {
    symbol *symbol;
    struct said_type *before;
} said_type;

/* Said once of a program, and not again. */
typedef struct check_said {
    uint32_t outside;        /* subjects, by bit: see outside.h */
    struct said_type *types; /* the last of the unknown types */
} check_said;

static inline symbol *check_find(const checker *c, const char *name) { /* NULL: never declared */
    return names_find(c->names, name);
}

static inline symbol *check_symbol(checker *c, const char *name) { /* made when new */
    return names_symbol(c->names, name);
}

static inline uint32_t check_scope_open(const checker *c) {
    return c->names->entry_count;
}

static inline void check_scope_close(checker *c, uint32_t mark) {
    names_close(c->names, mark);
}

static inline function_item *check_find_method(const checker *c, const struct_item *owner, const char *name) {
    return names_find_method(c->names, owner, name);
}

void check_declare(checker *c, binding *b, const type *t);
void check_add_method(checker *c, function_item *f);
/* The candidate nearest to a misspelt name; offer with suggest_add, take with check_suggest_note. */
suggestion check_suggest(const diagnostic *d, const char *wanted); /* d NULL: it will not be read */
void check_suggest_note(checker *c, diagnostic *d, const suggestion *s);
/* Marks it read; captures it for the comprehensions around. */
void check_use_binding(checker *c, binding *b);
/* `Self` or a struct's name; NULL when it is none. */
struct_item *check_struct_named(const checker *c, const char *name);

#endif
