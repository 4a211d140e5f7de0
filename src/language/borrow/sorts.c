/* sorts.c: what Rust would say of a type, as far as references go. The checker's own types do not know `&T`: what is
 * written in declarations says it. */
#include <stdlib.h>
#include <string.h>

#include "language/borrow/builder.h"

static sort *new_sort(builder *b, sort_kind kind) {
    sort *s = GRAPH_ARRAY(&b->g, sort, 1);
    s->kind = kind;
    return s;
}

const sort *sort_reference(builder *b, const sort *item, bool is_mutable) {
    sort *s = new_sort(b, SORT_REFERENCE);
    s->item = item;
    s->is_mutable = is_mutable;
    return s;
}

const sort *sort_holder(builder *b, const sort *item, bool is_lazy) {
    sort *s = new_sort(b, SORT_HOLDER);
    s->item = item;
    s->is_lazy = is_lazy;
    return s;
}

/* A function: nothing says what its captures are. */
static const sort sort_function = {.kind = SORT_VIEW, .is_mutable = true};
static const sort sort_dyn = {.kind = SORT_VIEW, .is_mutable = true, .is_dyn = true};

/* Whether what its references lead to may be written to through a copy of it; whether that is so of itself, for a cell
 * is in it. */
static void look_at_fields(const builder *b, const struct_item *s, sort *out, int depth) {
    for (uint32_t i = 0; s != NULL && depth < 3 && i < s->field_count; i++) {
        bool behind = false;
        const type_expr *t = s->fields[i].annotation;
        for (; t != NULL; t = t->argument_count == 1 ? t->arguments[0] : NULL) {
            const struct_item *inner = t->kind == TYPE_EXPR_NAME ? borrow_struct_named(b, t->name) : NULL;
            behind |= t->is_place || t->is_shared;
            out->is_mutable |= t->is_place || t->kind == TYPE_EXPR_FUNCTION || t->kind == TYPE_EXPR_DYN;
            if (borrow_struct_is_cell(inner)) {
                out->is_mutable |= behind;
                out->is_cell |= !behind;
            } else if (inner != NULL && inner != s && !inner->is_builtin) {
                look_at_fields(b, inner, out, depth + 1);
            }
        }
    }
}

static const sort *value_of(builder *b, sort_kind kind, const type *t) {
    sort *s = new_sort(b, kind);
    s->type = t;
    if (t != NULL && t->kind == TYPE_STRUCT) {
        const struct_item *of = t->structure->template != NULL ? t->structure->template : t->structure;
        s->is_once = t->structure->is_once;
        s->is_cell = borrow_struct_is_cell(of);
        s->is_dyn = t->structure->dyn != NULL;
        if (kind == SORT_VIEW)
            look_at_fields(b, of, s, 0);
    } else {
        s->is_mutable = kind == SORT_VIEW;
    }
    return s;
}

/* A reference is in it, or a closure that may hold some. */
static bool type_holds(const builder *b, const type *t, int depth) {
    if (t == NULL || depth > 4)
        return false;
    bool holds = type_is_reference(t);
    if (t->kind == TYPE_VEC)
        return holds || type_holds(b, t->vec.element, depth + 1);
    for (uint32_t i = 0; t->kind == TYPE_TUPLE && i < t->tuple.count; i++)
        holds |= type_holds(b, t->tuple.items[i], depth + 1);
    if (t->kind != TYPE_STRUCT)
        return holds;
    const struct_item *s = t->structure;
    holds = s->dyn != NULL || borrow_struct_is_view(b, s->template != NULL ? s->template : s);
    for (uint32_t i = 0; s->template != NULL && i < s->template->generics.count && !holds; i++)
        holds = type_holds(b, s->arguments[i], depth + 1);
    for (uint32_t i = 0; s->closure != NULL && i < s->field_count && !holds; i++)
        holds = s->fields[i].by_reference || s->fields[i].is_lent;
    return holds;
}

const sort *sort_once(builder *b, const sort *s) {
    sort *made = new_sort(b, s->kind);
    *made = *s;
    made->is_once = true;
    return made;
}

bool sort_is_once_parameter(const type_parameters *all, const char *name) {
    bool once = false;
    for (uint32_t i = 0; i < all->count; i++)
        for (uint32_t k = 0; strcmp(all->items[i].name, name) == 0 && k < all->items[i].bound_count; k++)
            once |= all->items[i].bounds[k]->is_once;
    return once;
}

const struct_item *borrow_struct_named(const builder *b, const char *name) {
    uint32_t low = 0, high = name == NULL ? 0 : b->world->struct_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        bool before = strcmp(b->world->structs[middle]->name, name) < 0;
        low = before ? middle + 1 : low;
        high = before ? high : middle;
    }
    bool found = name != NULL && low < b->world->struct_count && strcmp(b->world->structs[low]->name, name) == 0;
    return found ? b->world->structs[low] : NULL;
}

bool borrow_struct_is_own(const builder *b, const struct_item *s) {
    return s != NULL && !s->is_builtin && s->span.file != b->world->tree->prelude;
}

/* A reference to it outlives all. */
static bool is_forever(const type_expr *t) {
    return t->lifetime != NULL && strcmp(t->lifetime, "'static") == 0;
}

static bool holds_written(const builder *b, const type_expr *t, int depth) {
    if (t == NULL || depth > 4)
        return false;
    if (t->kind == TYPE_EXPR_FUNCTION)
        return t->held != NULL && strcmp(t->held->name, "'static") != 0;
    if (!is_forever(t) && (t->is_place || t->is_shared || t->lifetime != NULL))
        return true;
    for (uint32_t i = 0; i < t->argument_count; i++)
        if (holds_written(b, t->arguments[i], depth + 1))
            return true;
    return false;
}

bool borrow_struct_is_cell(const struct_item *s) {
    for (uint32_t i = 0; s != NULL && !s->is_builtin && i < s->field_count; i++)
        if (s->fields[i].annotation != NULL && s->fields[i].annotation->is_place && is_forever(s->fields[i].annotation))
            return true;
    return false;
}

bool borrow_struct_is_view(const builder *b, const struct_item *s) {
    for (uint32_t i = 0; s != NULL && !s->is_builtin && i < s->field_count; i++)
        if (holds_written(b, s->fields[i].annotation, 0))
            return true;
    return false;
}

static bool holds_function(const type_expr *t, int depth) {
    bool found = t == NULL || depth > 4 || t->kind == TYPE_EXPR_FUNCTION || t->kind == TYPE_EXPR_DYN;
    for (uint32_t i = 0; !found && i < t->argument_count; i++)
        found = holds_function(t->arguments[i], depth + 1);
    return found;
}

/* A type of the program without parameters, whose fields are neither references nor functions, refers to nothing,
 * whatever it is made of. */
bool borrow_refers_to_nothing(const builder *b, const struct_item *s) {
    bool plain = s != NULL && !s->is_builtin && s->generics.count == 0 && !borrow_struct_is_view(b, s);
    for (uint32_t i = 0; plain && i < s->field_count; i++) {
        const type_expr *written = s->fields[i].annotation; /* NULL: which variant it is */
        plain = written == NULL || !holds_function(written, 0);
    }
    return plain;
}

static bool type_is_copied(const builder *b, const type *t, int depth);

/* Chars<'a>, Peekable<Chars<'a>>: an iterator that looks at a text and yields letters, which look at nothing. */
static bool yields_plain(const builder *b, const type_expr *t, const type *known) {
    while (t->argument_count == 1 && t->arguments[0]->kind == TYPE_EXPR_NAME)
        t = t->arguments[0];
    return t->argument_count == 0 && t->lifetime != NULL && known != NULL && known->kind == TYPE_VEC &&
           !type_is_reference(known) && !type_is_box(known) && type_is_copied(b, known->vec.element, 0);
}

/* Peekable<Lexer<'t>>: the library's struct has what it yields behind the Lexer. NULL: it is another type. */
static const sort *yielded_by(builder *b, const type_expr *t, const type *known) {
    const bool holds_both = known != NULL && known->kind == TYPE_STRUCT && known->structure->template != NULL &&
                            known->structure->template->generics.count == 2 && t->argument_count == 1;
    return holds_both ? sort_of_type(b, known->structure->arguments[1]) : NULL;
}

static const sort *sort_of_name(builder *b, const type_expr *t, const type *known) {
    const char *name = t->name;
    if (name != NULL && strcmp(name, "_") == 0)
        return &sort_unknown;
    if (name != NULL && strcmp(name, "Self") == 0)
        name = b->function->owner_name;
    const impl_item *impl = b->function->impl;
    if (name != NULL && (sort_is_once_parameter(&b->function->generics, name) ||
                         (impl != NULL && sort_is_once_parameter(&impl->generics, name))))
        return sort_once(b, &sort_function);
    const struct_item *s = borrow_struct_named(b, name);
    if (s != NULL && !s->is_builtin && borrow_struct_is_view(b, s))
        return value_of(b, SORT_VIEW, known != NULL ? known : s->type);
    if (yields_plain(b, t, known))
        return sort_holder(b, sort_of_type(b, known->vec.element), true);
    const sort *yields = yielded_by(b, t, known);
    const bool first = s != NULL && s->is_enum; /* of a map: its values */
    for (uint32_t k = 0; k < t->argument_count; k++) {
        const type_expr *a = t->arguments[first ? k : t->argument_count - 1 - k];
        const sort *item = a->kind == TYPE_EXPR_NUMBER ? &sort_value : sort_of_written(b, a, a->type);
        bool bound = t->kind == TYPE_EXPR_DYN || (name != NULL && name[0] == '<');
        if (bound && a->argument_count > 0) /* impl Iterator<Item = T> */
            return sort_holder(b, sort_of_written(b, a->arguments[0], a->arguments[0]->type), t->lifetime != NULL);
        if (sort_holds(item) && borrow_struct_is_own(b, s))
            return value_of(b, SORT_VIEW, known);
        if (sort_holds(item) || item->kind == SORT_UNKNOWN) {
            sort *made = new_sort(b, SORT_HOLDER);
            made->item = yields != NULL ? yields : item;
            made->is_cell = borrow_struct_is_cell(s);
            return made;
        }
    }
    if (t->kind == TYPE_EXPR_DYN)
        return &sort_dyn;
    return t->lifetime != NULL ? value_of(b, SORT_VIEW, known)
           : known != NULL     ? value_of(b, SORT_VALUE, known)
           : s != NULL         ? value_of(b, SORT_VALUE, s->type)
                               : &sort_value;
}

static const sort *sort_of_tuple(builder *b, const type_expr *t) {
    sort *s = new_sort(b, SORT_TUPLE);
    s->count = t->argument_count;
    s->parts = GRAPH_ARRAY(&b->g, const sort *, s->count + 1);
    for (uint32_t i = 0; i < s->count; i++)
        s->parts[i] = sort_of_written(b, t->arguments[i], t->arguments[i]->type);
    return s;
}

const sort *sort_of_written(builder *b, const type_expr *t, const type *known) {
    if (t == NULL)
        return &sort_unknown;
    if (known != NULL && t->is_shared && !t->is_place && is_forever(t)) { /* NULL: what a body yields has to be one */
        sort *s = new_sort(b, SORT_VALUE);
        s->type = known;
        s->is_copied = true;
        return s;
    }
    if (t->is_place || t->is_shared) {
        type_expr bare = *t;
        bare.is_place = bare.is_shared = false;
        bare.lifetime = NULL;
        if (known != NULL && type_is_reference(known))
            known = type_is_slice(known) ? NULL : known->vec.element;
        return sort_reference(b, sort_of_written(b, &bare, known), t->is_place);
    }
    switch (t->kind) {
    case TYPE_EXPR_NAME:
    case TYPE_EXPR_DYN:
        return sort_of_name(b, t, known);
    case TYPE_EXPR_TUPLE:
        return t->argument_count == 0 ? &sort_value : sort_of_tuple(b, t);
    case TYPE_EXPR_ARRAY: {
        const sort *item = sort_of_written(b, t->arguments[0], t->arguments[0]->type);
        return sort_holds(item) ? sort_holder(b, item, false)
               : known != NULL  ? value_of(b, SORT_VALUE, known)
                                : sort_holder(b, item, false);
    }
    case TYPE_EXPR_FUNCTION:
        return t->is_once ? sort_once(b, &sort_function) : &sort_function;
    default:
        return &sort_value;
    }
}

const sort *sort_of_type(builder *b, const type *t) {
    if (t == NULL)
        return &sort_value;
    if (type_is_reference(t))
        return sort_reference(b, type_is_slice(t) ? &sort_value : sort_of_type(b, t->vec.element), true);
    if (t->kind == TYPE_VEC && type_is_box(t))
        return sort_of_type(b, t->vec.element);
    if (t->kind == TYPE_STRUCT && !t->structure->is_builtin) {
        const struct_item *s = t->structure->template != NULL ? t->structure->template : t->structure;
        if (s->span.file == b->world->tree->prelude && s->dyn == NULL && s->generics.count > 0 && type_holds(b, t, 0)) {
            sort *made = new_sort(b, SORT_HOLDER);
            made->item = sort_of_type(b, t->structure->arguments[s->generics.count - 1]);
            made->is_by_type = true;
            made->is_cell = borrow_struct_is_cell(s);
            return made;
        }
        return value_of(b, borrow_struct_is_view(b, s) || type_holds(b, t, 0) ? SORT_VIEW : SORT_VALUE, t);
    }
    if (t->kind == TYPE_VEC && type_holds(b, t->vec.element, 0)) {
        sort *made = new_sort(b, SORT_HOLDER);
        made->item = sort_of_type(b, t->vec.element);
        made->is_by_type = true;
        return made;
    }
    return value_of(b, SORT_VALUE, t);
}

const sort *borrow_view_of(builder *b, const sort *s, const type *t) {
    if (t == NULL || s->is_dyn || t->kind != TYPE_STRUCT || t->structure->is_builtin || t->structure->closure != NULL)
        return s;
    sort *made = new_sort(b, SORT_VIEW);
    *made = *value_of(b, SORT_VIEW, t);
    made->is_mutable |= s->is_mutable;
    return made;
}

const sort *sort_element(builder *b, const sort *s) {
    if (s->kind == SORT_HOLDER)
        return s->item;
    const type *t = s->type;
    if (s->kind != SORT_VALUE || t == NULL)
        return s->kind == SORT_VALUE ? &sort_value : &sort_unknown;
    if (t->kind == TYPE_VEC)
        return sort_of_type(b, t->vec.element);
    if (t->kind == TYPE_STRUCT && t->structure->template != NULL && t->structure->template->generics.count > 0)
        return sort_of_type(b, t->structure->arguments[t->structure->template->generics.count - 1]);
    return &sort_value;
}

static const sort *sort_of_field(builder *b, const struct_item *s, uint32_t i) {
    const struct_field *field = &s->fields[i];
    const sort *written = sort_of_written(b, field->annotation, field->type);
    return sort_holds(written) || written->is_copied || field->type == NULL ? written : sort_of_type(b, field->type);
}

const sort *sort_field(builder *b, const sort *s, const char *name) {
    const type *t = s->type;
    if ((s->kind != SORT_VALUE && s->kind != SORT_VIEW) || t == NULL)
        return &sort_unknown;
    if (t->kind == TYPE_STRUCT) {
        for (uint32_t i = 0; i < t->structure->field_count; i++)
            if (t->structure->fields[i].name != NULL && strcmp(t->structure->fields[i].name, name) == 0)
                return sort_of_field(b, t->structure, i);
    }
    unsigned long at = strtoul(name, NULL, 10);
    return t->kind == TYPE_TUPLE && at < t->tuple.count ? sort_of_type(b, t->tuple.items[at]) : &sort_unknown;
}

const sort *sort_variant_part(builder *b, const sort *s, const pattern *p, uint32_t i) {
    if (s->kind == SORT_HOLDER)
        return s->item;
    const type *t = s->type;
    if ((s->kind != SORT_VALUE && s->kind != SORT_VIEW) || t == NULL || t->kind != TYPE_STRUCT)
        return s->kind == SORT_VALUE ? &sort_value : &sort_unknown;
    const struct_item *owner = t->structure;
    uint32_t first = 0, count = owner->field_count;
    for (uint32_t v = 0; owner->is_enum && v < owner->variant_count; v++) {
        if (strcmp(owner->variants[v].name, p->name) == 0) {
            first = owner->variants[v].first;
            count = owner->variants[v].count;
        }
    }
    for (uint32_t k = 0; k < count; k++) {
        const char *name = owner->fields[first + k].name;
        bool found = p->part_names != NULL ? name != NULL && strcmp(name, p->part_names[i]) == 0 : k == i;
        if (found)
            return sort_of_field(b, owner, first + k);
    }
    return &sort_unknown;
}

const type *borrow_known_type_at(const builder *b, source_span span) {
    known_type wanted = {.span = span};
    const known_type *found = b->world->type_count == 0 ? NULL
                                                        : bsearch(&wanted, b->world->types, b->world->type_count,
                                                                  sizeof wanted, borrow_by_place);
    return found == NULL ? NULL : found->type;
}

static bool type_is_copied(const builder *b, const type *t, int depth) {
    if (t == NULL || depth > 6)
        return true;
    switch (t->kind) {
    case TYPE_STRING:
        return false;
    case TYPE_VEC:
        return t->vec.length >= 0 && type_is_copied(b, t->vec.element, depth + 1);
    case TYPE_TUPLE:
        for (uint32_t i = 0; i < t->tuple.count; i++)
            if (!type_is_copied(b, t->tuple.items[i], depth + 1))
                return false;
        return true;
    case TYPE_STRUCT: {
        const struct_item *s = t->structure->template != NULL ? t->structure->template : t->structure;
        const bool of_library = s->span.file == b->world->tree->prelude;
        for (uint32_t i = 0; of_library && i < t->structure->field_count; i++) /* Option<i64>, Duration */
            if (!type_is_copied(b, t->structure->fields[i].type, depth + 1))
                return false;
        return s->is_copy || s->is_builtin || s->closure != NULL || s->name == NULL || s->span.file == NULL ||
               of_library;
    }
    default:
        return true;
    }
}

bool sort_is_copied(const builder *b, const sort *s) {
    return s->kind != SORT_VALUE || s->is_copied || type_is_copied(b, s->type, 0);
}

/* ---- destructors ------------------------------------------------------------------------------------------ */

static bool type_ends(const builder *b, const type *t, int depth) {
    if (t == NULL || depth > 4)
        return false;
    if (t->kind == TYPE_VEC)
        return !type_is_reference(t) && type_ends(b, t->vec.element, depth + 1);
    bool ends = false;
    for (uint32_t i = 0; t->kind == TYPE_TUPLE && i < t->tuple.count; i++)
        ends |= type_ends(b, t->tuple.items[i], depth + 1);
    if (t->kind != TYPE_STRUCT || t->structure->is_builtin || t->structure->closure != NULL)
        return ends;
    const struct_item *s = t->structure, *of = s->template != NULL ? s->template : s;
    ends = of->drop != NULL && borrow_struct_is_own(b, of);
    for (uint32_t i = 0; i < s->field_count && !ends; i++)
        ends = type_ends(b, s->fields[i].type, depth + 1);
    return ends;
}

bool sort_ends(const builder *b, const sort *s) {
    bool ends = s->is_guard;
    for (uint32_t i = 0; s->kind == SORT_TUPLE && i < s->count; i++)
        ends |= sort_ends(b, s->parts[i]);
    if (s->kind == SORT_HOLDER)
        return !s->is_lazy && !s->is_by_type && sort_ends(b, s->item);
    return ends || (s->kind == SORT_VIEW && type_ends(b, s->type, 0));
}

/* ---- results of calls ------------------------------------------------------------------------------------------- */

/* The sort that an argument has where the type parameter is; NULL: the parameter is not in there. */
static const sort *sort_of_parameter(const type_expr *t, const sort *given, const char *name, int depth) {
    if (t == NULL || given == NULL || depth > 4)
        return NULL;
    if (t->is_place || t->is_shared) {
        type_expr bare = *t;
        bare.is_place = bare.is_shared = false;
        return sort_of_parameter(&bare, given->kind == SORT_REFERENCE ? given->item : given, name, depth + 1);
    }
    if (t->kind == TYPE_EXPR_NAME && t->name != NULL && strcmp(t->name, name) == 0)
        return given;
    const sort *found = NULL;
    for (uint32_t i = 0; i < t->argument_count && found == NULL; i++) {
        const sort *part = given->kind == SORT_TUPLE && i < given->count ? given->parts[i]
                           : given->kind == SORT_HOLDER                  ? given->item
                                                                         : NULL;
        found = sort_of_parameter(t->arguments[i], part, name, depth + 1);
    }
    return found;
}

static bool names_parameter(const type_expr *t, const type_parameters *all, int depth) {
    bool found = false;
    for (uint32_t i = 0; t != NULL && t->kind == TYPE_EXPR_NAME && t->name != NULL && i < all->count && !found; i++)
        found = strcmp(t->name, all->items[i].name) == 0;
    for (uint32_t i = 0; t != NULL && depth < 4 && i < t->argument_count && !found; i++)
        found = names_parameter(t->arguments[i], all, depth + 1);
    return found;
}

static const sort *substituted(builder *b, const function_item *f, const type_expr *t, const value *given, int depth) {
    if (t->is_place || t->is_shared || depth > 4)
        return sort_of_written(b, t, NULL);
    if (t->kind == TYPE_EXPR_TUPLE && t->argument_count > 0) {
        sort *s = new_sort(b, SORT_TUPLE);
        s->count = t->argument_count;
        s->parts = GRAPH_ARRAY(&b->g, const sort *, s->count);
        for (uint32_t i = 0; i < s->count; i++)
            s->parts[i] = substituted(b, f, t->arguments[i], given, depth + 1);
        return s;
    }
    for (uint32_t i = 0; t->kind == TYPE_EXPR_NAME && t->name != NULL && i < f->parameter_count; i++) {
        const sort *found = sort_of_parameter(f->parameters[i]->annotation, given[i].sort, t->name, 0);
        if (found != NULL &&
            (names_parameter(t, &f->generics, 4) || (f->impl != NULL && names_parameter(t, &f->impl->generics, 4))))
            return found;
    }
    if (names_parameter(t, &f->generics, 4)) /* what a closure yields, say */
        return &sort_unknown;
    for (uint32_t i = 0; i < t->argument_count; i++) {
        const sort *item = substituted(b, f, t->arguments[i], given, depth + 1);
        if (item->kind == SORT_UNKNOWN)
            return item;
        if (sort_holds(item))
            return borrow_struct_is_own(b, borrow_struct_named(b, t->name)) ? value_of(b, SORT_VIEW, NULL)
                                                                            : sort_holder(b, item, false);
    }
    return sort_of_written(b, t, NULL);
}

/* fn new(item: T) -> Self: it holds what its arguments do. */
static bool gets_held(const function_item *f, const value *given) {
    for (uint32_t i = 0; i < f->parameter_count; i++)
        if (given[i].held != NO_VARIABLE && sort_holds(given[i].sort) && f->parameters[i]->kind != BINDING_SELF &&
            names_parameter(f->parameters[i]->annotation, &f->impl->generics, 0))
            return true;
    return false;
}

const sort *borrow_sort_of_result(builder *b, const function_item *f, const value *given) {
    const type_expr *t = f->result_annotation;
    const function_item *around = b->function;
    b->function = f; /* whose `Self` is meant */
    const sort *s = sort_of_written(b, t, f->result);
    b->function = around;
    if (t == NULL || sort_holds(s))
        return s;
    const bool of_impl = f->impl != NULL && f->impl->generics.count > 0;
    const bool owner = of_impl && t->kind == TYPE_EXPR_NAME && t->name != NULL &&
                       (strcmp(t->name, "Self") == 0 || (f->owner_name != NULL && strcmp(t->name, f->owner_name) == 0));
    if (owner && gets_held(f, given))
        return value_of(b, SORT_VIEW, NULL);
    if (names_parameter(t, &f->generics, 0) || (of_impl && names_parameter(t, &f->impl->generics, 0)))
        return substituted(b, f, t, given, 0);
    return s;
}
