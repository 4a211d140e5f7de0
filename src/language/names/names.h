/* names.h: what a name means: symbols, scopes, methods by their owner, paths through modules. No types are needed for
 * it.
 *
 *     symbol "v" ─► binding      the innermost variable of that name that is visible
 *                   function, structure, constant, trait, variant_of …     the item of that name
 *     entries    [ v: hidden | w: hidden | … ]     what each declaration hides; a scope is a mark in it
 *
 * What must stay true (names.c asserts the counts, and that each scope restores what it hid):
 *     looking a name up costs one hash, whatever the number of names: what it means lies in the symbol itself
 *     symbol->binding is the innermost visible binding of that name: names_close restores it
 *     symbol_count <= bucket_count, both counts of buckets are powers of two
 *     an array of entries holds each open declaration once, the inner ones behind the outer ones
 */
#ifndef MASU_LANGUAGE_NAMES_H
#define MASU_LANGUAGE_NAMES_H

#include <setjmp.h>

#include "base/arena.h"
#include "language/diagnose/suggest.h"
#include "language/syntax/tree.h"

typedef struct symbol {
    const char *name;
    uint32_t hash;
    binding *binding;
    function_item *function;
    struct_item *structure;
    const_item *constant;
    trait_item *trait;
    struct_item *variant_of;  /* NULL: no variant goes by this name alone */
    struct_item *variant_too; /* another enum that was imported with a variant of this name */
    uint32_t variant;
    bool refused;
    const struct type *inferred; /* the type of a variable, while check_infer.c walks its function; NULL: it is none */
    binding *walked;             /* and where it is declared */
    struct symbol *next;
} symbol;

typedef struct scope_entry {
    symbol *symbol;
    binding *hidden; /* what the name meant outside */
} scope_entry;

typedef struct name_table {
    const syntax_tree *tree; /* borrowed; its items, modules, aliases and renames are read */
    masu__arena *arena;
    jmp_buf *memory_ended; /* jumped to when memory runs out: everything made so far is the arena's */
    symbol **buckets;
    uint32_t bucket_count, symbol_count;
    function_item **methods; /* by owner and name */
    uint32_t method_bucket_count;
    scope_entry *entries;
    uint32_t entry_count, entry_capacity;
} name_table;

/* Declarations that are out of sight, the innermost first, and what their names meant there. */
typedef struct names_away {
    scope_entry *later;
    binding **shown;
    uint32_t count;
} names_away;

symbol *names_find(const name_table *n, const char *name); /* NULL: never declared */
symbol *names_symbol(name_table *n, const char *name);     /* made when new */

/* The variable hides what its name meant, until names_close with a mark from before; f lists it. */
void names_declare(name_table *n, function_item *f, binding *b);
void names_close(name_table *n, uint32_t mark);
/* Hides the names declared since the mark until names_return, which takes the result of names_leave. */
names_away names_leave(name_table *n, uint32_t mark);
void names_return(name_table *n, const names_away *away);
/* The variable is in sight again, until names_close with a mark from before. */
void names_show(name_table *n, binding *b);

/* Room for that many methods; before the first is added. */
void names_reserve_methods(name_table *n, uint32_t count);
void names_add_method(name_table *n, function_item *f);
function_item *names_find_method(const name_table *n, const struct_item *owner, const char *name); /* NULL: none */

/* ---- paths (paths.c) ----------------------------------------------------------------------------- */

/* A struct, also by another name that is nothing but a name; NULL: none. `Self` is not asked here. */
struct_item *names_struct(const name_table *n, const char *name);
/* The program's declaration; else the library's of that name, of whatever module. NULL: there is none. */
trait_item *names_trait(const name_table *n, const char *name);
trait_item *names_trait_written(name_table *n, const type_expr *t);
const char *names_trait_text(const trait_item *trait); /* what people call it */
/* The name that people use. */
const char *names_plain(name_table *n, const char *name);
/* Takes modules off the name; an item of a module, where no variable is meant, gets the name that the item goes by. */
void names_settle(name_table *n, name_expr *e);
/* Whether the last part of a scope is a module of the program (or crate, self, super). */
bool names_is_module(const name_table *n, const char *scope);
/* The scope without modules in front; NULL when nothing is left. */
const char *names_without_modules(name_table *n, const char *scope);
/* `use std::io::Result;`: Result is __io_Result where the program says it. NULL: it has no such `use`. */
const char *names_imported_alias(const name_table *n, const type_expr *t);
/* std::M::N and M::N is __M_N of the library, where it has that. NULL: it has not, or M is the program's own. */
const char *names_of_library(name_table *n, const char *scope, const char *name);
/* The library's type of that name, which goes by another one where the program has its own; NULL: there is none. */
const char *names_beside_own(name_table *n, const char *name);

void names_suggest_visible(const name_table *n, suggestion *s); /* variables and constants */
void names_suggest_types(const name_table *n, suggestion *s);

/* ---- memory -------------------------------------------------------------------------------------- */

_Noreturn void names_out_of_memory(const name_table *n);
char *names_printf(name_table *n, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A name that only the library itself writes. */
static inline bool names_is_hidden(const char *name) {
    return name[0] == '_' && name[1] == '_';
}

#endif
