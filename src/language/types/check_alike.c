/* check_alike.c: two types that are written, one in an impl block and one in its trait, whose types are not known yet
 * because either is generic:
 *
 *     trait Put<T> { fn put(&mut self, x: T); }
 *     impl<X> Put<X> for Stack<X> { fn put(&mut self, x: Vec<X>) { … } }       X is not a list: another type
 *
 * T is what the impl block gives the trait, Self its owner, Self::Item the type of that name in the impl block, a
 * parameter of the method the one at the same place. `&`, lifetimes and boxes say nothing here. Where a name may mean
 * something else (an alias, a path, `impl Trait`), the answer is that they are not known to differ.
 */
#include "language/types/check_alike.h"

#include <string.h>

#include "language/library/library.h"
#include "language/syntax/lexer.h"
#include "language/types/check_scopes.h"

enum { DEEPEST = 6 };

typedef enum form_kind {
    FORM_UNKNOWN,
    FORM_OF_IMPL,   /* a parameter of the impl block; by name */
    FORM_OF_METHOD, /* a parameter of the method; by number */
    FORM_SCALAR,
    FORM_TEXT,
    FORM_LIST,
    FORM_TUPLE,
    FORM_STRUCT
} form_kind;

typedef struct form {
    form_kind kind;
    const type_expr *written;
    bool is_declared; /* written in the trait */
    const char *name;
    uint32_t number;
    type_kind scalar;
    const struct_item *structure;
} form;

static int64_t parameter_named(const type_parameters *all, const char *name) {
    for (uint32_t i = 0; i < all->count; i++)
        if (strcmp(all->items[i].name, name) == 0)
            return i;
    return -1;
}

static const type_expr *owner_of(const impl_item *impl) {
    const char *name = impl->owner->name;
    const bool nameless = name == NULL || strchr(name, ' ') != NULL; /* tuples, any type, dyn */
    return nameless ? NULL : impl->owner;
}

static const type_expr *associated(const alike_pair *p, const char *name) {
    const alias_item *a = p->c->tree->aliases;
    while (a != NULL && (a->impl != p->impl || strcmp(a->name, name) != 0))
        a = a->next;
    return a == NULL ? NULL : a->type;
}

/* One step of what a name means; t itself: none. NULL: it is not known. */
static const type_expr *step(const alike_pair *p, const type_expr *t, bool *is_declared) {
    if (t->kind != TYPE_EXPR_NAME || t->name == NULL)
        return t;
    const bool boxed = t->argument_count == 1 && t->scope == NULL && library_says(LIBRARY_pointer, t->name);
    if (boxed)
        return t->arguments[0];
    if (t->scope != NULL && strcmp(t->scope, "Self") == 0) {
        *is_declared = false;
        return associated(p, t->name);
    }
    if (t->scope != NULL)
        return NULL;
    const int64_t at = *is_declared ? parameter_named(&p->trait->generics, t->name) : -1;
    if (at < 0 && strcmp(t->name, "Self") != 0)
        return t;
    *is_declared = false;
    return at >= 0 && at < p->impl->trait_type->argument_count ? p->impl->trait_type->arguments[at] : owner_of(p->impl);
}

static form form_of_name(const alike_pair *p, form f) {
    const type_expr *t = f.written;
    const function_item *method = f.is_declared ? p->declared : p->own;
    const int64_t at = method == NULL ? -1 : parameter_named(&method->generics, t->name);
    f.name = t->name;
    if (at >= 0) {
        f.kind = FORM_OF_METHOD;
        f.number = (uint32_t)at;
        return f;
    }
    if (!f.is_declared && parameter_named(&p->impl->generics, t->name) >= 0) {
        f.kind = FORM_OF_IMPL;
        return f;
    }
    f.scalar = scalar_type_of_name(t->name, strlen(t->name));
    const bool text = f.scalar == TYPE_STRING || strcmp(t->name, "str") == 0;
    if (text || f.scalar != TYPE_ERROR) {
        f.kind = text ? FORM_TEXT : FORM_SCALAR;
        return f;
    }
    f.kind = strcmp(t->name, "Vec") == 0 ? FORM_LIST : FORM_UNKNOWN;
    f.structure = f.kind == FORM_LIST || names_imported_alias(p->c->names, t) != NULL
                      ? NULL
                      : check_struct_named(p->c, t->name);
    const alias_item *a = p->c->tree->aliases;
    while (a != NULL && (a->impl != NULL || strcmp(a->name, t->name) != 0))
        a = a->next;
    f.kind = f.structure != NULL && a == NULL ? FORM_STRUCT : f.kind;
    return f;
}

static form form_of(const alike_pair *p, const type_expr *t, bool is_declared) {
    const type_expr *before = NULL;
    for (int depth = 0; depth < DEEPEST && t != NULL && t != before; depth++) {
        before = t;
        t = step(p, t, &is_declared);
    }
    form f = {.kind = FORM_UNKNOWN, .written = t, .is_declared = is_declared};
    if (t == NULL || t != before)
        return f;
    if (t->kind == TYPE_EXPR_NAME && t->name != NULL && t->name[0] != '<' && !t->in_brackets)
        return form_of_name(p, f);
    f.kind = t->kind == TYPE_EXPR_TUPLE ? FORM_TUPLE : t->kind == TYPE_EXPR_ARRAY ? FORM_LIST : FORM_UNKNOWN;
    return f;
}

static bool differ(const alike_pair *p, const type_expr *a, bool a_declared, const type_expr *b, bool b_declared,
                   int depth) {
    const form x = form_of(p, a, a_declared), y = form_of(p, b, b_declared);
    if (x.kind == FORM_UNKNOWN || y.kind == FORM_UNKNOWN || depth > DEEPEST)
        return false;
    if (x.kind != y.kind)
        return true;
    switch (x.kind) {
    case FORM_OF_IMPL:
        return strcmp(x.name, y.name) != 0;
    case FORM_OF_METHOD:
        return x.number != y.number;
    case FORM_SCALAR:
        return x.scalar != y.scalar;
    case FORM_TEXT:
        return false;
    case FORM_STRUCT:
        if (x.structure != y.structure)
            return true;
        break;
    default:
        break;
    }
    const uint32_t count = x.written->argument_count;
    if (count != y.written->argument_count)
        return x.kind == FORM_TUPLE;
    for (uint32_t i = 0; i < count; i++)
        if (differ(p, x.written->arguments[i], x.is_declared, y.written->arguments[i], y.is_declared, depth + 1))
            return true;
    return false;
}

static bool is_nothing(const type_expr *t) {
    return t == NULL || (t->kind == TYPE_EXPR_TUPLE && t->argument_count == 0);
}

bool check_is_otherwise(const alike_pair *p, const type_expr *own, const type_expr *declared) {
    if (own == NULL || declared == NULL) {
        const type_expr *other = own == NULL ? declared : own;
        return !is_nothing(other) && form_of(p, other, other == declared).kind != FORM_UNKNOWN;
    }
    return differ(p, own, false, declared, true, 0);
}
