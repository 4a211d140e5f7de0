/* check_types.c: types as they are written, and structs made of them. */
#include <string.h>

#include "language/library/library.h"
#include "language/syntax/elsewhere.h"
#include "language/syntax/lexer.h"
#include "language/types/check_context.h"
#include "language/types/check_dyn_types.h"
#include "language/types/check_fits.h"
#include "language/types/check_instances.h"
#include "language/types/check_item.h"
#include "language/types/check_operation.h"
#include "language/types/check_operator_types.h"
#include "language/types/check_scopes.h"
#include "language/types/check_variants.h"
#include "language/types/check_writes.h"
#include "language/types/check_written.h"

const type *check_bounded(checker *c, const type *t, source_span span) {
    if (t->size <= TYPE_SIZE_MAX)
        return t;
    diagnostics_say(c->diagnostics, span, SAY(type_of_more_than_parts), TYPE_SIZE_MAX);
    return check_scalar(c, TYPE_ERROR);
}

/* ---- names of types -------------------------------------------------------------------------- */

static const type *wrong(checker *c, type_expr *t, message_row row, const char *message, const char *note) {
    diagnostic *d = diagnostics_say(c->diagnostics, t->span, row, "%s", message);
    if (note != NULL)
        diagnostics_note(c->diagnostics, d, (source_span){0}, "%s", note);
    return check_scalar(c, TYPE_ERROR);
}

/* Half precision is kept as f32: as exact as the program asked for, and more. */
static bool is_half(const type_expr *t) {
    return t->kind == TYPE_EXPR_NAME && library_says(LIBRARY_half_type, t->name);
}

/* The element type of a tensor; NULL and a message where it cannot be one. */
static const type *element_type(checker *c, type_expr *t) {
    if (t->kind == TYPE_EXPR_NAME && strcmp(t->name, "_") == 0)
        return NULL;
    const type *element = is_half(t) ? check_scalar(c, TYPE_F32) : check_type(c, t);
    if (element->kind == TYPE_ERROR || element->kind == TYPE_BOOL || element->kind == TYPE_OPEN ||
        type_is_numeric(element))
        return element;
    diagnostics_note(c->diagnostics,
                     diagnostics_say(c->diagnostics, t->span, SAY(tensor_cannot_hold), check_type_text(c, element)),
                     (source_span){0}, "tensors hold numbers or bool");
    return check_scalar(c, TYPE_ERROR);
}

static const type *tensor_type(checker *c, type_expr *t) {
    const type *element = NULL;
    int32_t rank = -1;
    uint32_t next = 0;
    if (t->argument_count > 0 && t->arguments[0]->kind != TYPE_EXPR_NUMBER)
        element = element_type(c, t->arguments[next++]);
    if (next < t->argument_count) {
        type_expr *number = t->arguments[next++];
        if (number->kind != TYPE_EXPR_NUMBER)
            return wrong(c, number, SAY(rank_of_tensor_is_number), "`Tensor<f32, 2>` is a matrix of f32");
        if (number->number > TL_MAX_RANK) {
            diagnostics_say(c->diagnostics, number->span, SAY(tensor_has_at_most_dimensions), TL_MAX_RANK);
            return check_scalar(c, TYPE_ERROR);
        }
        rank = (int32_t)number->number;
    }
    if (next < t->argument_count)
        return wrong(c, t, SAY(tensor_has_element_type_and_rank), "`Tensor<f32, 2>` is a matrix of f32");
    if (element != NULL && element->kind == TYPE_ERROR)
        return element;
    return type_tensor(c->types, element, rank);
}

/* struct Env<'e> { around: Option<&'e Env<'e>> }: nothing may change what is looked at, so it is a value, and one that
 * lies elsewhere. Where there are destructors, a value has one owner. */
static bool leads_to_its_like(const checker *c, const type_expr *t, const type *whole) {
    return t->is_shared && !t->is_place && whole->kind == TYPE_STRUCT && c->instances->declares == whole->structure &&
           !c->tree->has_destructors;
}

/* Inside of another type `&mut T` is a reference; elsewhere it says that the place itself is meant. */
const type *check_part_type(checker *c, type_expr *t) {
    const type *whole = check_type(c, t);
    if (leads_to_its_like(c, t, whole))
        return type_array(c->types, whole, TYPE_SHARED);
    if (!t->is_place || type_is_silent(whole) || whole->kind == TYPE_VOID)
        return whole;
    bool slice = t->kind == TYPE_EXPR_ARRAY && t->length == NULL && whole->kind == TYPE_VEC;
    return type_reference(c->types, slice ? whole->vec.element : whole, slice);
}

const type *check_held_type(checker *c, type_expr *t) {
    const type *held = check_part_type(c, t);
    bool unit = held->kind == TYPE_VOID && t->kind == TYPE_EXPR_TUPLE && check_unit_type(c) != NULL;
    return unit ? check_unit_type(c) : held;
}

static const type *vec_type(checker *c, type_expr *t) {
    if (t->argument_count == 0) {
        c->open->has_open = true;
        return c->function != NULL ? type_vec(c->types, type_open(c->types, NULL))
                                   : wrong(c, t, SAY(vec_needs_element_type), NULL);
    }
    if (t->argument_count > 1)
        return wrong(c, t, SAY(vec_has_one_element_type), NULL);
    const type *element = check_held_type(c, t->arguments[0]);
    if (element->kind == TYPE_VOID)
        return wrong(c, t->arguments[0], SAY(vec_cannot_hold_void), NULL);
    return element->kind == TYPE_ERROR ? element : type_vec(c->types, element);
}

static const type *unknown_type(checker *c, type_expr *t) {
    symbol *s = check_find(c, t->name);
    if (s != NULL && s->refused)
        return check_scalar(c, TYPE_ERROR);
    if (check_report_outside(c, t->span, t->name, ""))
        return check_scalar(c, TYPE_ERROR);
    diagnostic *d = diagnostics_say(c->diagnostics, t->span, SAY(there_is_no_type), t->name);
    if (t->name[0] >= 'A' && t->name[0] <= 'Z' && t->name[1] == 0) { /* said once */
        diagnostics_note(c->diagnostics, d, (source_span){0},
                         "a type parameter is declared where it is used: `impl<%s> …`, `fn f<%s>(…)`", t->name,
                         t->name);
        said_type *said = CHECK_ARRAY(c, said_type, 1);
        *said = (said_type){.symbol = check_symbol(c, t->name), .before = c->said->types};
        said->symbol->refused = true;
        c->said->types = said;
        return check_scalar(c, TYPE_ERROR);
    }
    suggestion near = check_suggest(d, t->name);
    static const char *const scalars[] = {"i8",    "i16", "i32", "i64",  "u8",   "u16",    "u32", "u64",
                                          "usize", "f32", "f64", "bool", "char", "String", "void"};
    for (size_t i = 0; i < sizeof scalars / sizeof scalars[0]; i++)
        suggest_add(&near, scalars[i]);
    names_suggest_types(c->names, &near);
    const char *hint = hint_for_type(t->name);
    if (near.best == NULL && hint != NULL)
        diagnostics_note(c->diagnostics, d, (source_span){0}, "%s", hint);
    check_suggest_note(c, d, &near);
    return check_scalar(c, TYPE_ERROR);
}

/* P<A, B> of a generic struct or enum. */
static const type *generic_type(checker *c, type_expr *t, struct_item *s) {
    const type **arguments = check_written_arguments(c, &s->generics, t);
    if (arguments == NULL && t->argument_count == 0 && c->function != NULL)
        return check_struct_open(c, s, NULL, 0)->type;
    if (arguments == NULL) {
        diagnostic *d = diagnostics_say(c->diagnostics, t->span, SAY(takes_other_number_of_arguments), s->name,
                                        s->generics.count, s->generics.count == 1 ? "type" : "types",
                                        t->argument_count);
        diagnostics_note(c->diagnostics, d, s->span, "it is declared here");
        return check_scalar(c, TYPE_ERROR);
    }
    for (uint32_t i = 0; i < s->generics.count; i++)
        if (arguments[i]->kind == TYPE_ERROR)
            return arguments[i];
    return check_struct_instance(c, s, arguments)->type;
}

/* fmt::Result: Result<(), fmt::Error>. */
static const type *check_bare_result(checker *c) {
    struct_item *s = check_form(c, SAID_RESULT);
    const type **arguments = CHECK_ARRAY(c, const type *, 2);
    const struct_item *error = check_struct_named(c, "__fmt_Error");
    arguments[0] = check_unit_type(c);
    arguments[1] = error == NULL ? arguments[0] : error->type;
    return check_struct_instance(c, s, arguments)->type;
}

static const type *struct_named_type(checker *c, type_expr *t, struct_item *s) {
    if (t->argument_count == 0 && s->template == NULL && s->generics.count == 2 &&
        library_said_of(LIBRARY_type_form, s->name) == SAID_RESULT && check_unit_type(c) != NULL)
        return check_bare_result(c);
    if (s->generics.count > 0 && s->template == NULL && !s->is_builtin)
        return generic_type(c, t, s);
    if (t->argument_count > 0 && s->template == NULL)
        return wrong(c, t, SAY(this_type_takes_no_types), NULL);
    return s->type;
}

static const type *array_type(checker *c, type_expr *t) {
    const type *element = check_held_type(c, t->arguments[0]);
    int64_t length = -1; /* a slice &[T] is what a Vec is */
    const type *argument = check_length_argument(c, t);
    if (argument != NULL && element->kind != TYPE_VOID) {
        return check_is_number_type(argument) ? type_array(c->types, element, argument->vec.length)
                                              : type_array(c->types, element, -1);
    }
    if (t->length != NULL && !c->instances->constant_integer(c, &t->length, &length, "the length of an array"))
        return check_scalar(c, TYPE_ERROR);
    if (t->length != NULL && length < 0)
        return wrong(c, t, SAY(array_has_no_negative_length), NULL);
    if (element->kind == TYPE_VOID)
        return wrong(c, t->arguments[0], SAY(array_cannot_hold_void), NULL);
    return element->kind == TYPE_ERROR ? element : type_array(c->types, element, length);
}

/* Take<Fib>: the library's struct of that name, with its underscores. */
static const type *adapter_type(checker *c, const char *name, const type *of) {
    struct_item *s = check_struct_named(c, check_printf(c, "__%s", name));
    const type **arguments = CHECK_ARRAY(c, const type *, 2);
    arguments[0] = of;
    arguments[1] = check_item_of(c, of);
    return s == NULL || s->generics.count > 2 ? NULL : check_struct_instance(c, s, arguments)->type;
}

static const type *pairs(checker *c, const type_expr *t) {
    const type *pair[2] = {check_held_type(c, t->arguments[0]), check_held_type(c, t->arguments[1])};
    return type_vec(c->types, type_tuple(c->types, pair, 2));
}

static const type *place_of(checker *c, type_expr *t) {
    const type *held = check_held_type(c, t);
    return type_is_silent(held) ? held : type_reference(c->types, held, false);
}

/* Iterators are lists: Peekable<Chars<'a>> is what chars() yields. */
static const type *iterator_type(checker *c, const type_expr *t) {
    const type *text = check_scalar(c, TYPE_STRING), *letter = check_scalar(c, TYPE_CHAR);
    const type *pair[2] = {check_scalar(c, TYPE_USIZE), letter}, *of;
    const bool one = t->argument_count == 1;
    switch (library_said_of(LIBRARY_type_form, t->name)) {
    case SAID_ADAPTER:
        of = one ? check_type(c, t->arguments[0]) : NULL;
        return of != NULL && check_is_iterator(c, of) ? adapter_type(c, t->name, of) : of;
    case SAID_ENUMERATE:
        of = one ? check_type(c, t->arguments[0]) : NULL;
        pair[1] = of == NULL || of->kind != TYPE_VEC ? NULL : of->vec.element;
        return pair[1] != NULL ? type_vec(c->types, type_tuple(c->types, pair, 2)) : NULL;
    case SAID_ELEMENTS: /* of a map: btree_map::Iter<K, V> */
        return one                      ? type_vec(c->types, check_held_type(c, t->arguments[0]))
               : t->argument_count == 2 ? pairs(c, t)
                                        : NULL;
    case SAID_PLACES:
        return one ? type_vec(c->types, place_of(c, t->arguments[0])) : NULL;
    case SAID_PIECES:
        return one ? type_vec(c->types, type_vec(c->types, check_held_type(c, t->arguments[0]))) : NULL;
    case SAID_SLICES: /* chunks_mut */
        return one ? type_vec(c->types, type_reference(c->types, check_held_type(c, t->arguments[0]), true)) : NULL;
    case SAID_KEYS:
        return t->argument_count == 2 ? type_vec(c->types, check_held_type(c, t->arguments[0])) : NULL;
    case SAID_VALUES:
        return t->argument_count == 2 ? type_vec(c->types, check_held_type(c, t->arguments[1])) : NULL;
    case SAID_TEXTS:
        return t->argument_count == 0 ? type_vec(c->types, text) : NULL;
    case SAID_LETTERS:
        return type_vec(c->types, letter);
    case SAID_BYTES:
        return type_vec(c->types, check_scalar(c, TYPE_U8));
    case SAID_NUMBERED:
        return type_vec(c->types, type_tuple(c->types, pair, 2));
    default:
        return NULL;
    }
}

static void report_brackets(checker *c, const type_expr *t) {
    const char *text = t->span.file->text + t->span.offset;
    uint32_t name = (uint32_t)strlen(t->name), length = t->span.length;
    diagnostic *d = diagnostics_say(c->diagnostics, t->span, SAY(types_stand_between_angles), t->name);
    if (length > name + 2 && length < 80 && text[name] == '[') {
        diagnostics_note(c->diagnostics, d, (source_span){0}, "write `%s<%.*s>`", t->name, (int)(length - name - 2),
                         text + name + 1);
    }
}

static const type *named_type(checker *c, type_expr *t) {
    if (t->in_brackets)
        report_brackets(c, t);
    const type *argument = check_type_argument(c, t->name);
    if (argument != NULL)
        return type_resolve(c->types, argument);
    const char *full = t->scope == NULL ? names_imported_alias(c->names, t)
                                        : names_of_library(c->names, t->scope, t->name);
    const bool module = t->scope != NULL && t->scope[0] >= 'a' && t->scope[0] <= 'z';
    const char *beside = full == NULL && module && !names_is_module(c->names, t->scope)
                             ? names_beside_own(c->names, t->name) /* std::cell::Cell */
                             : NULL;
    if (beside != NULL && strcmp(beside, t->name) != 0)
        full = beside;
    if (full != NULL) {
        t->name = full;
        t->scope = NULL;
    }
    if (strcmp(t->name, "Tensor") == 0 || strcmp(t->name, "GradTensor") == 0)
        return tensor_type(c, t);
    if (strcmp(t->name, "Vec") == 0)
        return vec_type(c, t);
    if (strcmp(t->name, "<impl>") == 0)
        return check_dyn_type(c, t);
    bool box = library_says(LIBRARY_pointer, t->name) && check_struct_named(c, t->name) == NULL &&
               check_struct_named(c, check_printf(c, "__%s", t->name)) == NULL;
    if (box && t->argument_count == 1) {
        const type *inner = check_part_type(c, t->arguments[0]);
        return inner->kind == TYPE_STRUCT && inner->structure->dyn == NULL
                   ? type_array(c->types, inner,
                                library_said_of(LIBRARY_pointer, t->name) == SAID_OWN ? TYPE_BOX : TYPE_SHARED)
                   : inner;
    }
    if (strcmp(t->name, "_") == 0) {
        c->open->has_open = true;
        return c->function != NULL ? type_open(c->types, NULL) : wrong(c, t, SAY(type_is_written_out_here), NULL);
    }
    if (strcmp(t->name, "str") == 0) /* &str: references are values */
        return check_scalar(c, TYPE_STRING);
    type_kind scalar = scalar_type_of_name(t->name, strlen(t->name));
    if (scalar != TYPE_ERROR)
        return check_scalar(c, scalar);
    struct_item *structure = check_struct_named(c, t->name);
    const type *iterates = structure == NULL ? iterator_type(c, t) : NULL;
    if (structure == NULL && iterates == NULL) /* ParseIntError, unless the program has its own */
        structure = check_struct_named(c, check_printf(c, "__%s", t->name));
    const bool own = (t->scope == NULL || names_is_module(c->names, t->scope)) && t->span.file != c->tree->prelude;
    const bool hides = own && structure != NULL && structure->span.file == c->tree->prelude;
    const bool associated = t->of != NULL ||
                            check_scope_type(c, t->scope) != NULL; /* Self::Item, beside a struct Item */
    const type *alias = structure == NULL || hides || associated ? check_alias_type(c, t)
                                                                 : NULL; /* type Result<T> = … */
    if (structure != NULL && alias == NULL)
        return struct_named_type(c, t, structure);
    alias = alias != NULL ? alias : iterates;
    return alias != NULL ? alias : unknown_type(c, t);
}

static const type *tuple_type(checker *c, type_expr *t) {
    const type **items = CHECK_ARRAY(c, const type *, t->argument_count);
    bool broken = false;
    for (uint32_t i = 0; i < t->argument_count; i++) {
        items[i] = check_held_type(c, t->arguments[i]);
        broken |= items[i]->kind == TYPE_ERROR;
    }
    return broken ? check_scalar(c, TYPE_ERROR)
                  : check_bounded(c, type_tuple(c->types, items, t->argument_count), t->span);
}

const type *check_type_in(checker *c, const type_environment *e, type_expr *t) {
    const type_environment *outer = c->environment;
    c->environment = e;
    const type *found = t == NULL ? NULL : check_type(c, t);
    c->environment = outer;
    return found;
}

const type *check_type(checker *c, type_expr *t) {
    switch (t->kind) {
    case TYPE_EXPR_NAME:
        t->type = named_type(c, t);
        break;
    case TYPE_EXPR_TUPLE:
        t->type = tuple_type(c, t);
        break;
    case TYPE_EXPR_ARRAY:
        t->type = array_type(c, t);
        break;
    case TYPE_EXPR_FUNCTION:
    case TYPE_EXPR_DYN:
        t->type = check_dyn_type(c, t);
        break;
    case TYPE_EXPR_ERROR:
        t->type = check_scalar(c, TYPE_ERROR);
        break;
    case TYPE_EXPR_NUMBER:
        t->type = check_number_type(c, (int64_t)t->number);
        break;
    default:
        t->type = wrong(c, t, SAY(expected_type_found_number), NULL);
        break;
    }
    return t->type;
}

/* ---- structs --------------------------------------------------------------------------------- */

static void check_fields(checker *c, struct_item *s) {
    c->instances->declares = s;
    for (uint32_t i = 0; i < s->field_count; i++) {
        struct_field *field = &s->fields[i];
        if (field->annotation == NULL) { /* the tag of an enum */
            field->type = check_scalar(c, TYPE_I64);
            continue;
        }
        field->type = check_held_type(c, field->annotation);
        if (field->type->kind == TYPE_VOID) {
            diagnostics_say(c->diagnostics, field->annotation->span, SAY(field_cannot_be_void));
            field->type = check_scalar(c, TYPE_ERROR);
        }
    }
    c->instances->declares = NULL;
}

/* Fields of one struct by name: quadratic only in the fields of one struct that has few. */
static void check_duplicate_fields(checker *c, struct_item *s) {
    if (s->field_count == 0)
        return;
    uint32_t mask = 1;
    while (mask < s->field_count * 2)
        mask *= 2;
    uint32_t *table = CHECK_ARRAY(c, uint32_t, mask);
    for (uint32_t i = 0; i < s->field_count; i++) {
        uint32_t at = 0;
        for (const char *n = s->fields[i].name; *n != 0; n++)
            at = (at ^ (unsigned char)*n) * 16777619u;
        for (at &= mask - 1; table[at] != 0 && strcmp(s->fields[table[at] - 1].name, s->fields[i].name) != 0;)
            at = (at + 1) & (mask - 1);
        if (table[at] == 0) {
            table[at] = i + 1;
            continue;
        }
        diagnostic *d = diagnostics_say(c->diagnostics, s->fields[i].span, SAY(field_is_declared_twice),
                                        s->fields[i].name);
        diagnostics_note(c->diagnostics, d, s->fields[table[at] - 1].span, "the first one is here");
    }
}

enum { VISIT_NEW, VISIT_OPEN, VISIT_DONE };

static uint32_t measure(checker *c, struct_item *s, source_span from, uint32_t depth);

/* Parts that lie inside a value of the type; a Vec's elements lie elsewhere. */
static uint32_t measure_type(checker *c, const type *t, source_span from, uint32_t depth) {
    if (t->kind == TYPE_STRUCT && t->structure->closure != NULL)
        return t->size;
    if (t->kind == TYPE_STRUCT)
        return measure(c, t->structure, from, depth);
    uint32_t size = 1;
    for (uint32_t i = 0; t->kind == TYPE_TUPLE && i < t->tuple.count; i++) {
        uint32_t part = measure_type(c, t->tuple.items[i], from, depth);
        size = part > UINT32_MAX - size ? UINT32_MAX : size + part;
    }
    if (t->kind == TYPE_TUPLE)
        type_set_size(t, size);
    return size;
}

static uint32_t measure(checker *c, struct_item *s, source_span from, uint32_t depth) {
    if (s->visit == VISIT_DONE)
        return s->type->size;
    if (s->visit == VISIT_OPEN || depth > 200) {
        diagnostic *d = diagnostics_say(c->diagnostics, from.file == c->tree->prelude ? s->span : from,
                                        SAY_IF(depth > 200, structs_are_nested_too_deep, contains_itself), s->name);
        diagnostics_note(c->diagnostics, d, (source_span){0}, "a `Vec` of it can be a field");
        s->holds_itself = true;
        return 1;
    }
    s->visit = VISIT_OPEN;
    uint32_t size = 1;
    for (uint32_t i = 0; i < s->field_count; i++) {
        uint32_t errors = c->diagnostics->error_count;
        uint32_t part = measure_type(c, s->fields[i].type, s->fields[i].span, depth + 1);
        if (c->diagnostics->error_count > errors) /* no value of it could ever be written out */
            s->fields[i].type = check_scalar(c, TYPE_ERROR);
        size = part > UINT32_MAX - size ? UINT32_MAX : size + part;
    }
    s->visit = VISIT_DONE;
    if (size > TYPE_SIZE_MAX) {
        diagnostics_say(c->diagnostics, s->span, SAY(struct_has_more_than_parts), s->name, TYPE_SIZE_MAX);
        size = TYPE_SIZE_MAX; /* said once; types made of it are bounded again */
        s->field_count = s->field_count > TYPE_SIZE_MAX ? TYPE_SIZE_MAX : s->field_count;
    }
    type_set_size(s->type, size);
    return size;
}

void check_struct_size(checker *c, struct_item *s) {
    if (!s->is_builtin)
        measure(c, s, s->span, 0);
}

static bool is_plain(const struct_item *s) {
    return s->generics.count == 0 && !s->is_builtin;
}

void check_struct_types(checker *c) {
    for (uint32_t i = 0; i < c->tree->struct_count; i++) {
        struct_item *s = c->tree->structs[i];
        if (s->is_enum)
            check_enum_tags(c, s);
        else if (s->template == NULL)
            check_duplicate_fields(c, s);
        if (is_plain(s))
            check_fields(c, s);
    }
    for (uint32_t i = 0; i < c->tree->struct_count; i++)
        if (is_plain(c->tree->structs[i]) || c->tree->structs[i]->template != NULL)
            check_struct_size(c, c->tree->structs[i]);
    c->instances->structs_are_measured = true;
}

const type *check_parameter_type(checker *c, const function_item *f, binding *parameter) {
    if (parameter->kind != BINDING_SELF) {
        return parameter->by_reference ? check_part_type(c, parameter->annotation)
                                       : check_type(c, parameter->annotation);
    }
    const type *self = f->owner != NULL ? f->owner->type : check_scalar(c, TYPE_ERROR);
    if (!parameter->by_reference || type_is_silent(self))
        return self;
    bool list = self->kind == TYPE_VEC && parameter->annotation == NULL; /* else `self: &mut Vec<T>` */
    return type_reference(c->types, list ? self->vec.element : self, list);
}
