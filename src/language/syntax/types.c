/* types.c: the table in which every type exists once. */
#include "language/syntax/types.h"

#include <string.h>

#include "language/syntax/tree.h"

enum { NAME_SHOWN = 160 };

static const char *const scalar_names[TYPE_SCALAR_END] = {
    [TYPE_ERROR] = "?",   [TYPE_NEVER] = "!",       [TYPE_VOID] = "void",   [TYPE_BOOL] = "bool", [TYPE_I8] = "i8",
    [TYPE_I16] = "i16",   [TYPE_I32] = "i32",       [TYPE_I64] = "i64",     [TYPE_U8] = "u8",     [TYPE_U16] = "u16",
    [TYPE_U32] = "u32",   [TYPE_U64] = "u64",       [TYPE_USIZE] = "usize", [TYPE_F32] = "f32",   [TYPE_F64] = "f64",
    [TYPE_CHAR] = "char", [TYPE_STRING] = "String",
};

bool type_table_init(type_table *table, masu__arena *arena) {
    *table = (type_table){.arena = arena, .bucket_count = 64};
    table->buckets = MASU_ARENA_ARRAY(arena, const type *, table->bucket_count);
    type *scalars = MASU_ARENA_ARRAY(arena, type, TYPE_SCALAR_END);
    if (table->buckets == NULL || scalars == NULL)
        return false;
    for (uint32_t kind = 0; kind < TYPE_SCALAR_END; kind++) {
        scalars[kind].kind = (type_kind)kind;
        scalars[kind].id = table->count++;
        scalars[kind].size = 1;
        table->scalars[kind] = &scalars[kind];
    }
    return true;
}

static uint32_t mix(uint32_t hash, uint64_t value) {
    uint64_t mixed = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    return (uint32_t)(mixed >> 32);
}

static uint32_t type_hash(const type *t) {
    uint32_t hash = mix((uint32_t)(uintptr_t)t->number, (uint64_t)t->kind);
    switch (t->kind) {
    case TYPE_TENSOR:
        hash = mix(hash, t->tensor.element == NULL ? UINT64_MAX : t->tensor.element->id);
        return mix(hash, (uint64_t)(int64_t)t->tensor.rank);
    case TYPE_STRUCT:
        return mix(hash, (uintptr_t)t->structure);
    case TYPE_TUPLE:
        for (uint32_t i = 0; i < t->tuple.count; i++)
            hash = mix(hash, t->tuple.items[i]->id);
        return hash;
    case TYPE_VEC:
    case TYPE_REFERENCE:
        return mix(mix(hash, t->vec.element->id), (uint64_t)t->vec.length);
    case TYPE_OPEN:
        return mix(hash, (uintptr_t)t->open.resolved);
    default:
        return hash;
    }
}

static bool alike(const type *a, const type *b) {
    if (a->kind != b->kind || a->number != b->number)
        return false;
    switch (a->kind) {
    case TYPE_TENSOR:
        return a->tensor.element == b->tensor.element && a->tensor.rank == b->tensor.rank;
    case TYPE_STRUCT:
        return a->structure == b->structure;
    case TYPE_TUPLE:
        return a->tuple.count == b->tuple.count &&
               memcmp(a->tuple.items, b->tuple.items, a->tuple.count * sizeof(*a->tuple.items)) == 0;
    case TYPE_VEC:
    case TYPE_REFERENCE:
        return a->vec.element == b->vec.element && a->vec.length == b->vec.length;
    case TYPE_OPEN:
        return a->open.resolved == b->open.resolved;
    default:
        return true;
    }
}

static void table_grow(type_table *table) {
    uint32_t larger = table->bucket_count * 2;
    const type **buckets = MASU_ARENA_ARRAY(table->arena, const type *, larger);
    if (buckets == NULL) {
        table->out_of_memory = true;
        return;
    }
    for (uint32_t i = 0; i < table->bucket_count; i++) {
        for (type *t = (type *)table->buckets[i], *next; t != NULL; t = next) {
            next = (type *)t->next_in_bucket;
            uint32_t at = type_hash(t) & (larger - 1);
            t->next_in_bucket = buckets[at];
            buckets[at] = t;
        }
    }
    table->buckets = buckets;
    table->bucket_count = larger;
}

static const type *table_find(const type_table *table, const type *wanted) {
    const type *t = table->buckets[type_hash(wanted) & (table->bucket_count - 1)];
    while (t != NULL && !alike(t, wanted))
        t = t->next_in_bucket;
    return t;
}

static void measure(type *t) {
    t->may_have_open = t->kind == TYPE_OPEN || t->number != NULL ||
                       ((t->kind == TYPE_VEC || t->kind == TYPE_REFERENCE) && t->vec.element->may_have_open) ||
                       (t->kind == TYPE_TENSOR && t->tensor.element != NULL && t->tensor.element->may_have_open);
    for (uint32_t i = 0;
         t->kind == TYPE_STRUCT && t->structure->template != NULL && i < t->structure->template->generics.count; i++)
        t->may_have_open |= t->structure->arguments[i]->may_have_open;
    t->size = t->kind == TYPE_REFERENCE ? 3 : t->kind != TYPE_STRUCT;
    for (uint32_t i = 0; t->kind == TYPE_TUPLE && i < t->tuple.count; i++) {
        t->may_have_open |= t->tuple.items[i]->may_have_open;
        if (__builtin_add_overflow(t->size, t->tuple.items[i]->size, &t->size))
            t->size = UINT32_MAX;
    }
}

static const type *table_add(type_table *table, const type *wanted) {
    if (table->count - TYPE_SCALAR_END >= table->bucket_count)
        table_grow(table);
    type *made = MASU_ARENA_NEW(table->arena, type);
    if (made == NULL) {
        table->out_of_memory = true;
        return table->scalars[TYPE_ERROR];
    }
    *made = *wanted;
    measure(made);
    made->id = table->count++;
    uint32_t at = type_hash(made) & (table->bucket_count - 1);
    made->next_in_bucket = table->buckets[at];
    table->buckets[at] = made;
    return made;
}

static const type *intern(type_table *table, const type *wanted) {
    const type *found = table_find(table, wanted);
    return found != NULL ? found : table_add(table, wanted);
}

const type *type_tensor(type_table *table, const type *element, int32_t rank) {
    return intern(table, &(type){.kind = TYPE_TENSOR, .tensor = {element, rank < 0 ? -1 : rank}});
}

const type *type_struct(type_table *table, struct_item *structure) {
    return intern(table, &(type){.kind = TYPE_STRUCT, .structure = structure});
}

void type_set_size(const type *t, uint32_t size) {
    ((type *)t)->size = size;
}

void type_set_open(const type *t) {
    ((type *)t)->may_have_open = true;
}

const type *type_tuple(type_table *table, const type *const *items, uint32_t count) {
    if (count == 0)
        return table->scalars[TYPE_VOID];
    type wanted = {.kind = TYPE_TUPLE, .tuple = {items, count}};
    const type *found = table_find(table, &wanted);
    if (found != NULL)
        return found;
    const type **copy = MASU_ARENA_ARRAY(table->arena, const type *, count);
    if (copy == NULL) {
        table->out_of_memory = true;
        return table->scalars[TYPE_ERROR];
    }
    memcpy(copy, items, count * sizeof *copy);
    wanted.tuple.items = copy;
    return table_add(table, &wanted);
}

const type *type_vec(type_table *table, const type *element) {
    return type_array(table, element, -1);
}

const type *type_array(type_table *table, const type *element, int64_t length) {
    return intern(table, &(type){.kind = TYPE_VEC, .vec = {element, length}});
}

const type *type_reference(type_table *table, const type *element, bool slice) {
    if (!slice && type_is_reference(type_resolve(table, element)))
        return type_resolve(table, element);
    return intern(table, &(type){.kind = TYPE_REFERENCE, .vec = {element, slice ? TYPE_SLICE : TYPE_PLACE}});
}

const type *type_target(type_table *table, const type *reference) {
    const type *element = type_resolve(table, reference->vec.element);
    return type_is_slice(reference) ? type_vec(table, element) : element;
}

const type *type_open(type_table *table, struct open_form *form) {
    const type **cell = MASU_ARENA_NEW(table->arena, const type *);
    if (cell == NULL) {
        table->out_of_memory = true;
        return table->scalars[TYPE_ERROR];
    }
    return intern(table, &(type){.kind = TYPE_OPEN, .open = {cell, form}});
}

const type *type_open_number(type_table *table, type_kind kind, source_span literal) {
    open_number *cell = MASU_ARENA_NEW(table->arena, open_number);
    if (cell == NULL) {
        table->out_of_memory = true;
        return table->scalars[kind];
    }
    cell->literal = literal;
    const type *t = intern(table, &(type){.kind = kind, .number = cell});
    if (t->number != NULL)
        MASU_ARENA_PUSH(table->arena, table->numbers, table->number_count, table->number_capacity, t,
                        table->out_of_memory = true);
    return t;
}

void type_decide(const type *open, const type *t) {
    const type **cell = open->number != NULL ? &open->number->decided : open->open.resolved;
    *cell = t;
}

void type_may_be_whole(type_table *table, source_span element) {
    span_list *l = &table->may_be_whole;
    MASU_ARENA_PUSH(table->arena, l->spans, l->count, l->capacity, element, {
        table->out_of_memory = true;
        return;
    });
}

/* The elements among the numbers that are one with `open`; NULL: with any that is still open. */
static void note_elements(type_table *table, const type *open) {
    for (uint32_t i = 0; i < table->number_count; i++) {
        const open_number *number = table->numbers[i]->number;
        const type *t = number->is_element ? type_resolve(table, table->numbers[i]) : NULL;
        bool meant = t != NULL && t->number != NULL && (open == NULL || t == open);
        if (meant && !t->number->is_real && !t->number->is_parsed)
            type_may_be_whole(table, number->literal);
    }
}

static const type *default_number(type_table *table, const type *open) {
    if (open->number->prefers != NULL)
        return open->number->prefers;
    table->guessed += open->number->is_element;
    return table->scalars[open->number->is_element && table->elements_are_wide ? TYPE_F64 : open->kind];
}

const type *type_settle_number(type_table *table, const type *open) {
    if (open->number->is_element)
        note_elements(table, open);
    return default_number(table, open);
}

void type_default_numbers(type_table *table) {
    note_elements(table, NULL);
    for (uint32_t i = 0; i < table->number_count; i++) {
        const type *t = type_resolve(table, table->numbers[i]);
        if (t->number != NULL)
            t->number->decided = default_number(table, t);
    }
    table->number_count = 0;
}

static const type *resolve_tuple(type_table *table, const type *t) {
    const type **items = MASU_ARENA_ARRAY(table->arena, const type *, t->tuple.count);
    if (items == NULL) {
        table->out_of_memory = true;
        return table->scalars[TYPE_ERROR];
    }
    for (uint32_t i = 0; i < t->tuple.count; i++)
        items[i] = type_resolve(table, t->tuple.items[i]);
    return type_tuple(table, items, t->tuple.count);
}

static const type *resolve_struct(type_table *table, const type *t) {
    struct_item *s = t->structure;
    if (s->template == NULL) /* a dyn type */
        return table->instance(table->instance_context, s, NULL);
    uint32_t count = s->template->generics.count;
    const type **arguments = MASU_ARENA_ARRAY(table->arena, const type *, count);
    bool same = true;
    if (arguments == NULL) {
        table->out_of_memory = true;
        return table->scalars[TYPE_ERROR];
    }
    for (uint32_t i = 0; i < count; i++) {
        arguments[i] = type_resolve(table, s->arguments[i]);
        same &= arguments[i] == s->arguments[i];
    }
    return same ? t : table->instance(table->instance_context, s->template, arguments);
}

const type *type_resolve(type_table *table, const type *t) {
    for (const type *next = t; next != NULL;) {
        t = next;
        next = t->number != NULL ? t->number->decided : t->kind == TYPE_OPEN ? *t->open.resolved : NULL;
    }
    if (!t->may_have_open)
        return t;
    if (t->kind == TYPE_VEC) {
        const type *element = type_resolve(table, t->vec.element);
        return element == t->vec.element ? t : type_array(table, element, t->vec.length);
    }
    if (t->kind == TYPE_REFERENCE)
        return type_reference(table, type_resolve(table, t->vec.element), type_is_slice(t));
    if (t->kind == TYPE_TENSOR && t->may_have_open)
        return type_tensor(table, type_resolve(table, t->tensor.element), t->tensor.rank);
    if (t->kind == TYPE_STRUCT && t->may_have_open)
        return resolve_struct(table, t);
    return t->kind == TYPE_TUPLE && t->may_have_open ? resolve_tuple(table, t) : t;
}

uint32_t type_bits(const type *t) {
    switch (t->kind) {
    case TYPE_BOOL:
        return 1;
    case TYPE_I8:
    case TYPE_U8:
        return 8;
    case TYPE_I16:
    case TYPE_U16:
        return 16;
    case TYPE_I32:
    case TYPE_U32:
    case TYPE_F32:
    case TYPE_CHAR:
        return 32;
    case TYPE_I64:
    case TYPE_U64:
    case TYPE_USIZE:
    case TYPE_F64:
        return 64;
    default:
        return 0;
    }
}

static void print_tensor(const type *t, masu__buffer *out) {
    masu__buffer_puts(out, "Tensor");
    if (t->tensor.element == NULL && t->tensor.rank < 0)
        return;
    const type *element = t->tensor.element;
    bool known = element != NULL && element->kind < TYPE_SCALAR_END;
    masu__buffer_printf(out, "<%s", known ? scalar_names[element->kind] : "_");
    if (t->tensor.rank >= 0)
        masu__buffer_printf(out, ", %d", (int)t->tensor.rank);
    masu__buffer_putc(out, '>');
}

const char *type_shown_name(const struct_item *s) {
    bool hidden = s->name[0] == '_' && s->name[1] == '_';
    return strcmp(s->name, "__Unit") == 0 ? "()" : s->name + (hidden ? 2 : 0);
}

static void print_struct(const struct_item *s, masu__buffer *out) {
    if (s->closure != NULL) {
        masu__buffer_puts(out, "a closure");
        return;
    }
    masu__buffer_puts(out, type_shown_name(s));
    for (uint32_t i = 0; s->template != NULL && i < s->template->generics.count; i++) {
        masu__buffer_puts(out, i == 0 ? "<" : ", ");
        type_print(s->arguments[i], out);
        if (i + 1 == s->template->generics.count)
            masu__buffer_putc(out, '>');
    }
}

void type_print(const type *t, masu__buffer *out) {
    switch (t->kind) {
    case TYPE_TENSOR:
        print_tensor(t, out);
        return;
    case TYPE_STRUCT:
        print_struct(t->structure, out);
        return;
    case TYPE_TUPLE:
        for (uint32_t i = 0; i < t->tuple.count; i++) {
            masu__buffer_puts(out, i == 0 ? "(" : ", ");
            type_print(t->tuple.items[i], out);
        }
        masu__buffer_puts(out, t->tuple.count == 1 ? ",)" : ")");
        return;
    case TYPE_VEC:
        if (t->vec.element->kind == TYPE_VOID) { /* what a `const N` means */
            masu__buffer_printf(out, "%lld", (long long)t->vec.length);
            break;
        }
        masu__buffer_puts(out, type_is_shared(t) ? "Rc<" : type_is_box(t) ? "Box<" : t->vec.length < 0 ? "Vec<" : "[");
        type_print(t->vec.element, out);
        if (t->vec.length < 0)
            masu__buffer_putc(out, '>');
        else
            masu__buffer_printf(out, "; %lld]", (long long)t->vec.length);
        return;
    case TYPE_REFERENCE:
        masu__buffer_puts(out, type_is_slice(t) ? "&mut [" : "&mut ");
        type_print(t->vec.element, out);
        masu__buffer_puts(out, type_is_slice(t) ? "]" : "");
        return;
    case TYPE_OPEN:
        if (*t->open.resolved != NULL)
            type_print(*t->open.resolved, out);
        else
            masu__buffer_putc(out, '_');
        return;
    default:
        masu__buffer_puts(out, scalar_names[t->kind]);
        return;
    }
}

const char *type_name(type_table *table, const type *t) {
    if (t->kind < TYPE_SCALAR_END)
        return scalar_names[t->kind];
    masu__buffer text = {0};
    type_print(t, &text);
    if (text.length > NAME_SHOWN) {
        masu__buffer_truncate(&text, NAME_SHOWN);
        masu__buffer_puts(&text, "...");
    }
    const char *name = text.failed ? NULL : masu__arena_strdup(table->arena, masu__buffer_text(&text));
    masu__buffer_destroy(&text);
    table->out_of_memory |= name == NULL; /* also of a message that an attempt takes back */
    return name == NULL ? "?" : name;
}

/* ---- validity -------------------------------------------------------------------------------- */

static bool element_valid(const type *e) {
    return e == NULL || type_is_numeric(e) || e->kind == TYPE_BOOL || e->kind == TYPE_OPEN;
}

static bool type_valid(const type_table *table, const type *t) {
    if (table_find(table, t) != t) /* the first one alike is the type itself: there is no second */
        return false;
    switch (t->kind) {
    case TYPE_TENSOR:
        return element_valid(t->tensor.element) && t->tensor.rank >= -1 && t->tensor.rank <= TL_MAX_RANK;
    case TYPE_STRUCT:
        return t->structure != NULL;
    case TYPE_TUPLE:
        return t->tuple.count > 0 && t->tuple.items != NULL;
    case TYPE_VEC:
        return t->vec.element != NULL &&
               (t->vec.length >= TYPE_BOX || t->vec.length == TYPE_SHARED || t->vec.length <= TYPE_COLLECTED);
    case TYPE_REFERENCE:
        return t->vec.element != NULL && (t->vec.length == TYPE_PLACE || t->vec.length == TYPE_SLICE);
    case TYPE_OPEN:
        return t->open.resolved != NULL;
    case TYPE_I64:
    case TYPE_F32:
        return t->number != NULL;
    default:
        return false;
    }
}

bool type_table_valid(const type_table *table) {
    uint32_t found = TYPE_SCALAR_END;
    for (uint32_t kind = 0; kind < TYPE_SCALAR_END; kind++)
        if (table->scalars[kind]->kind != (type_kind)kind)
            return false;
    for (uint32_t i = 0; i < table->bucket_count; i++) {
        for (const type *t = table->buckets[i]; t != NULL; t = t->next_in_bucket) {
            found++;
            if (!type_valid(table, t))
                return false;
        }
    }
    return found == table->count && (table->bucket_count & (table->bucket_count - 1)) == 0;
}

/* ---- looking into types ---------------------------------------------------------------------------- */

enum { PARTS_MAX = 4096 };

typedef struct looked_into {
    const struct_item *item;
    const struct looked_into *outer;
} looked_into;

typedef struct type_search {
    type_table *table;
    type_test *test;
    void *context;
    uint32_t parts;
} type_search;

static bool any_in(type_search *s, const type *t, const looked_into *outer) {
    t = type_resolve(s->table, t);
    const type_verdict verdict = ++s->parts > PARTS_MAX ? TYPE_LACKS : s->test(t, s->context);
    if (verdict != TYPE_LOOK_INSIDE)
        return verdict == TYPE_HAS;
    if (t->kind == TYPE_VEC || t->kind == TYPE_REFERENCE)
        return any_in(s, t->vec.element, outer);
    bool some = false;
    for (uint32_t i = 0; t->kind == TYPE_TUPLE && !some && i < t->tuple.count; i++)
        some = any_in(s, t->tuple.items[i], outer);
    if (t->kind != TYPE_STRUCT)
        return some;
    const looked_into here = {t->structure, outer};
    for (const looked_into *l = outer; l != NULL; l = l->outer)
        if (l->item == t->structure)
            return false;
    for (uint32_t i = 0; !some && i < t->structure->field_count; i++)
        some = t->structure->fields[i].type != NULL && any_in(s, t->structure->fields[i].type, &here);
    return some;
}

bool type_any(type_table *table, const type *t, type_test *test, void *context) {
    type_search s = {.table = table, .test = test, .context = context};
    return any_in(&s, t, NULL);
}
