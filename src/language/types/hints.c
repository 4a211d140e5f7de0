/* hints.c: see hints.h. */
#include <string.h>

#include "language/library/library.h"
#include "language/syntax/elsewhere.h"
#include "language/syntax/outside.h"
#include "language/types/check_context.h"
#include "language/types/check_instances.h"
#include "language/types/check_operation.h"
#include "language/types/check_scopes.h"
#include "language/types/check_variants.h"
#include "language/types/hints.h"

/* ---- names ----------------------------------------------------------------------------------- */

static bool note(checker *c, diagnostic *d, const char *format, const char *a, const char *b) {
    diagnostics_note(c->diagnostics, d, (source_span){0}, format, a, b);
    return true;
}

static bool has_field(const struct_item *s, const char *name) {
    for (uint32_t i = 0; s != NULL && !s->is_enum && i < s->field_count; i++)
        if (s->fields[i].name != NULL && strcmp(s->fields[i].name, name) == 0)
            return true;
    return false;
}

/* The one enum of the program with a variant of this name. */
static const struct_item *enum_with(const checker *c, const char *name) {
    const struct_item *found = NULL;
    for (uint32_t i = 0; i < c->tree->struct_count; i++) {
        const struct_item *s = c->tree->structs[i];
        if (s->is_enum && s->template == NULL && check_find_variant(s, name) >= 0) {
            if (found != NULL)
                return NULL;
            found = s;
        }
    }
    return found;
}

bool hint_for_variable(checker *c, diagnostic *d, const char *name) {
    const char *word = hint_for_word(name, strlen(name));
    const struct_item *e = enum_with(c, name);
    if (d == NULL)
        return false;
    if (c->function != NULL && c->function->has_self && has_field(c->function->owner, name))
        return note(c, d, "did you mean `self.%s`?%s", name, "");
    if (e != NULL)
        return note(c, d, "did you mean `%s::%s`?", e->name, name);
    return word != NULL && note(c, d, "%s%s", word, "");
}

/* The only type that has such a method. */
static const function_item *method_named(const checker *c, const char *name) {
    const function_item *found = NULL;
    for (uint32_t i = 0; i < c->tree->function_count; i++) {
        const function_item *f = c->tree->functions[i];
        if (f->owner_name != NULL && f->template == NULL && strcmp(f->name, name) == 0 &&
            f->span.file != c->tree->prelude)
            found = f;
    }
    return found;
}

static bool is_number_method(const char *name) {
    static const char names[] =
        " sqrt exp log sin cos tan tanh abs floor ceil pow min max round powi powf len shape sum "
        "mean relu sigmoid softmax matmul transpose reshape item backward grad ";
    char bordered[24];
    size_t length = strlen(name);
    if (length + 3 > sizeof bordered)
        return false;
    bordered[0] = ' ';
    memcpy(bordered + 1, name, length);
    memcpy(bordered + 1 + length, " ", 2);
    return strstr(names, bordered) != NULL;
}

bool hint_for_function(checker *c, diagnostic *d, const expr *call, const char *name) {
    const char *word = hint_for_word(name, strlen(name));
    const function_item *method = method_named(c, name);
    const struct_item *e = enum_with(c, name);
    if (d == NULL)
        return false;
    if (e != NULL)
        return note(c, d, "did you mean `%s::%s`?", e->name, name);
    if (method != NULL) {
        return note(c, d, method->has_self ? "it is a method of `%s`: `x.%s(…)`" : "did you mean `%s::%s`?",
                    method->owner_name, name);
    }
    if (call->call.arg_count > 0 && is_number_method(name))
        return note(c, d, "it is a method: `x.%s(…)`%s", name, "");
    static const char collections[] = " Vec String HashMap HashSet BTreeMap BTreeSet VecDeque ";
    char bordered[16];
    if (strlen(name) < sizeof bordered - 3) {
        bordered[0] = ' ';
        strcpy(bordered + 1, name);
        strcat(bordered, " ");
        if (strstr(collections, bordered) != NULL)
            return note(c, d, "an empty one is `%s::new()`%s", name, "");
    }
    return word != NULL && note(c, d, "%s%s", word, "");
}

bool hint_for_field(checker *c, diagnostic *d, const type *base, const char *name) {
    if (d == NULL || name == NULL)
        return false;
    if (base->kind == TYPE_TENSOR && strcmp(name, "T") == 0)
        return note(c, d, "write `x.t()`, or `x.transpose(a, b)`%s%s", "", "");
    suggestion near = check_suggest(d, name);
    check_suggest_methods(c, base, &near);
    if (near.exact)
        return note(c, d, "it is a method: `x.%s()`%s", name, "");
    check_suggest_note(c, d, &near);
    return near.best != NULL;
}

void hint_for_operands(checker *c, diagnostic *d, binary_op op, const type *left, const type *right) {
    const type *both[2] = {left, right};
    if (op == BINARY_ADD && (left->kind == TYPE_STRING || right->kind == TYPE_STRING))
        note(c, d, "`format(\"{}{:?}\", a, b)` puts texts and values together%s%s", "", "");
    for (int i = 0; i < 2; i++) {
        const struct_item *s = both[i]->kind == TYPE_STRUCT ? both[i]->structure->template : NULL;
        if (s != NULL && s->span.file == c->tree->prelude && s->is_enum) {
            note(c, d, "`?`, `unwrap_or(…)` or a `match` takes the value out of the `%s`%s", s->name, "");
            return;
        }
    }
}

bool check_report_outside(checker *c, source_span span, const char *scope, const char *name) {
    outside_kind kind = outside_find(scope, name);
    if (kind == OUTSIDE_NOTHING)
        return false;
    bool method = strcmp(scope, ".") == 0, all = outside_find(scope, "") != OUTSIDE_NOTHING,
         whole = all && span.length == strlen(scope);
    if ((c->said->outside >> kind & 1) == 0) {
        diagnostic *d = diagnostics_say(c->diagnostics, span, SAY(masu_does_not_accept_name),
                                        method || whole ? "" : scope,
                                        method || whole ? "" : "::", whole ? scope : name);
        diagnostics_note(c->diagnostics, d, (source_span){0}, "%s are outside of what it compiles", outside_text(kind));
    }
    c->said->outside |= 1u << kind;
    return true;
}

void check_suggest_methods(const checker *c, const type *t, suggestion *near) {
    if (t->kind == TYPE_TENSOR)
        check_suggest_abi("", near);
    const struct_item *builtin = t->kind == TYPE_STRUCT ? NULL : c->instances->builtin_owners[t->kind];
    for (uint32_t i = 0; builtin != NULL && i < c->tree->function_count && near->distance > 0; i++) {
        const function_item *f = c->tree->functions[i];
        if (f->owner == builtin)
            suggest_add(near, f->name);
    }
    for (uint32_t i = 0; t->kind == TYPE_STRUCT && i < c->tree->function_count && near->distance > 0; i++) {
        const struct_item *owner = c->tree->functions[i]->owner;
        bool its_own = owner != NULL && (owner == t->structure || owner == t->structure->template);
        if (its_own && c->tree->functions[i]->has_self)
            suggest_add(near, c->tree->functions[i]->name);
    }
}

/* Tensor::concat(…) is not a method, and leaves `concat` to lists. */
static bool check_has_written_method(checker *c, const struct_item *owner, const char *name) {
    for (const function_item *f = check_find_method(c, owner, name); f != NULL; f = f->next_in_bucket)
        if (f->owner == owner && f->has_self && strcmp(f->name, name) == 0)
            return true;
    return false;
}

bool check_only_lists_have(checker *c, const char *name) {
    const struct_item *vec = c->instances->builtin_owners[TYPE_VEC],
                      *tensor = c->instances->builtin_owners[TYPE_TENSOR];
    return library_says(LIBRARY_lists_have, name) ||
           (vec != NULL && check_find_method(c, vec, name) != NULL &&
            (tensor == NULL || !check_has_written_method(c, tensor, name)) && !check_is_abi_method(name));
}

bool check_is_parse(const expr *e) {
    return e->kind == EXPR_METHOD && e->type == NULL &&
           (library_said_of(LIBRARY_form, e->call.name) == SAID_PARSE ||
            library_said_of(LIBRARY_form, e->call.name) == SAID_TRY_INTO) &&
           e->call.arg_count == 0 && e->call.type_argument_count == 0;
}
