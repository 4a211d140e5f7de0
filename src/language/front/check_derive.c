/* check_derive.c: methods that a struct has because of what its fields are.
 *
 * A walk reaches everything of one sort that lies in a value: the tensors, or what has a training mode. The library has
 * a trait for each (library/parameters.tl); the compiler writes the one method that differs from struct to struct:
 *
 *     net.parameters()      the trait's own text, made for Net where it is first asked for
 *     net.__tensors(p, e)   the trait's own text too, unless a type has its own: an LSTM, a HashMap, what implements a
 *                           trait with that method
 *     net.__fields(p, e)    written here from Net's fields, and read as any text of the library:
 *
 *         { let mut __all = Parameters::new(); let __at = if path.is_empty() { path } else { path + "." };
 *           __all.__add(__at + "w", &mut self.w, every);                        w: Tensor
 *           for __1 in 0..self.layers.len() {                                   layers: Vec<Layer>
 *               __all.__join(self.layers[__1].__tensors(__at + "layers" + "." + __1.to_string(), every)); }
 *           if let Some(__2) = &mut self.bias { __all.__add(__at + "bias", __2, every); }
 *           __all }
 *
 * A checkpoint's walk is written from the fields, too (check_derive_state.c), and so are a record of text as a struct
 * (check_derive_record.c) and a clone (check_derive_clone.c).
 *
 * What must stay true (tests/golden/lang_parameters, err_parameters): all of the sort that is in the value is reached
 * once, or the call is an error that names the field.
 */
#include <string.h>

#include "language/front/check_derive.h"
#include "language/front/check_derive_clone.h"
#include "language/front/check_derive_record.h"
#include "language/front/check_derive_state.h"
#include "language/library/library.h"
#include "language/types/check_context.h"
#include "language/types/check_instances.h"
#include "language/types/check_scopes.h"
#include "language/types/check_variants.h"
#include "language/types/check_written.h"

typedef enum walk_sort { WALK_TENSORS, WALK_MODES, WALK_STATE, WALK_RECORD, WALK_NAMES, WALK_CLONE } walk_sort;

/* A walk, in the library's names. */
typedef struct derived_walk {
    walk_sort sort;
    library_said trait, method; /* as the library says: walk_trait; walks, derives */
    const char *before, *after; /* the text around the fields */
} derived_walk;

/* The method that others call; NULL: there is only the one that is written. */
static const char *method_of(const derived_walk *w) {
    return library_named(LIBRARY_walks, w->method);
}

/* The method that is written from the fields. */
static const char *written_of(const derived_walk *w) {
    return library_named(LIBRARY_derives, w->method);
}

typedef struct seeker {
    checker *c;
    const derived_walk *walk;
} seeker;

typedef struct walk_text {
    seeker k;
    masu__buffer out;
    uint32_t names; /* made so far */
} walk_text;

#define AT "let __at = if path.is_empty() { path } else { path + \".\" };\n"

static const derived_walk walks[] = {
    {WALK_TENSORS, SAID_TENSORS, SAID_TENSORS, "let mut __all = Parameters::new();\n" AT, "__all "},
    {WALK_MODES, SAID_MODES, SAID_MODES, "", ""},
    {WALK_STATE, SAID_STATE, SAID_STATE, "", ""},
    {WALK_RECORD, SAID_RECORD, SAID_RECORD, "", ""},
    {WALK_NAMES, SAID_RECORD, SAID_NAMES, "", ""},
    {WALK_CLONE, SAID_CLONE, SAID_CLONE, "", ""},
};
enum { WALKS = sizeof walks / sizeof walks[0], NESTED_MAX = 16 };

static const char fields_path[] = "<fields>";

/* ---- which types hold what a walk is for ---------------------------------------------------------- */

typedef enum holding { HOLDS_NONE, HOLDS_SOME, HOLDS_UNSEEN } holding;

static holding holding_of(const seeker *s, const type *t, uint32_t depth);

static holding larger(holding a, holding b) {
    return a > b ? a : b;
}

static holding of_fields(const seeker *k, const struct_item *s, uint32_t depth) {
    holding all = HOLDS_NONE;
    for (uint32_t i = 0; i < s->field_count && all != HOLDS_UNSEEN; i++)
        all = larger(all, s->fields[i].type == NULL ? HOLDS_NONE : holding_of(k, s->fields[i].type, depth));
    return all;
}

static bool is_of_library(const checker *c, const struct_item *s) {
    return s->span.file == c->tree->prelude;
}

static bool has_method(const seeker *k, struct_item *s) {
    const char *method = method_of(k->walk);
    return method != NULL && check_method_named(k->c, s, method) != NULL;
}

/* A generic type of the library, as a map, holds what its type arguments hold. */
static holding of_struct(const seeker *k, struct_item *s, uint32_t depth) {
    bool has_walk = has_method(k, s), is_generic = s->template != NULL;
    if (is_generic && is_of_library(k->c, s)) {
        holding all = HOLDS_NONE;
        for (uint32_t i = 0; i < s->template->generics.count; i++)
            all = larger(all, holding_of(k, s->arguments[i], depth));
        return all == HOLDS_SOME && !has_walk ? HOLDS_UNSEEN : all;
    }
    if (has_walk || s->dyn != NULL || s->closure != NULL)
        return has_walk ? HOLDS_SOME : HOLDS_NONE;
    holding some = of_fields(k, s, depth);
    return some != HOLDS_NONE && s->is_enum ? HOLDS_UNSEEN : some;
}

/* HOLDS_UNSEEN: it lies where no walk goes, as in an enum. */
static holding holding_of(const seeker *k, const type *t, uint32_t depth) {
    t = type_resolve(k->c->types, t);
    if (depth == 0 || t->kind == TYPE_TENSOR)
        return t->kind == TYPE_TENSOR && k->walk->sort == WALK_TENSORS ? HOLDS_SOME : HOLDS_NONE;
    if (t->kind == TYPE_VEC)
        return holding_of(k, t->vec.element, depth - 1);
    holding some = HOLDS_NONE;
    for (uint32_t i = 0; t->kind == TYPE_TUPLE && i < t->tuple.count; i++)
        some = larger(some, holding_of(k, t->tuple.items[i], depth - 1));
    if (t->kind != TYPE_STRUCT)
        return some;
    return check_is_form(k->c, t, SAID_OPTION) ? holding_of(k, t->structure->arguments[0], depth - 1)
                                               : of_struct(k, t->structure, depth - 1);
}

/* ---- the text -------------------------------------------------------------------------------------- */

static void put_walk(walk_text *w, const type *t, const char *place, const char *path);

static void put_tensor(walk_text *w, const char *place, const char *path) {
    masu__buffer_printf(&w->out, "__all.__add(%s, &mut %s, every);\n", path, place);
}

static void put_elements(walk_text *w, const type *t, const char *place, const char *path) {
    uint32_t number = ++w->names;
    masu__buffer_printf(&w->out, "for __%u in 0..%s.len() {\n", number, place);
    put_walk(w, t->vec.element, check_printf(w->k.c, "%s[__%u]", place, number),
             check_printf(w->k.c, "%s + \".\" + __%u.to_string()", path, number));
    masu__buffer_printf(&w->out, "}\n");
}

static void put_option(walk_text *w, const type *t, const char *place, const char *path) {
    uint32_t number = ++w->names;
    masu__buffer_printf(&w->out, "if let Some(__%u) = &mut %s {\n", number, place);
    put_walk(w, t->structure->arguments[0], check_printf(w->k.c, "__%u", number), path);
    masu__buffer_printf(&w->out, "}\n");
}

static void put_call(walk_text *w, const char *place, const char *path) {
    const derived_walk *walk = w->k.walk;
    if (walk->sort == WALK_TENSORS)
        masu__buffer_printf(&w->out, "__all.__join(%s.%s(%s, every));\n", place, method_of(walk), path);
    else
        masu__buffer_printf(&w->out, "%s.%s(on);\n", place, method_of(walk));
}

/* Writes the walk over what lies in `place`; `path` is the expression of its path. */
static void put_walk(walk_text *w, const type *t, const char *place, const char *path) {
    checker *c = w->k.c;
    t = type_resolve(c->types, t);
    if (holding_of(&w->k, t, NESTED_MAX) != HOLDS_SOME)
        return;
    if (t->kind == TYPE_TENSOR) {
        put_tensor(w, place, path);
    } else if (type_is_box(t)) {
        put_walk(w, t->vec.element, check_printf(c, "(*%s)", place), path);
    } else if (t->kind == TYPE_VEC) {
        put_elements(w, t, place, path);
    } else if (t->kind == TYPE_TUPLE) {
        for (uint32_t i = 0; i < t->tuple.count; i++) {
            put_walk(w, t->tuple.items[i], check_printf(c, "%s.%u", place, i),
                     check_printf(c, "%s + \".%u\"", path, i));
        }
    } else if (check_is_form(c, t, SAID_OPTION)) {
        put_option(w, t, place, path);
    } else {
        put_call(w, place, path);
    }
}

/* ---- what a checkpoint reaches ---------------------------------------------------------------------- */

static type_verdict lacks_state(const type *t, void *c) {
    const struct_item *s = t->kind == TYPE_STRUCT ? t->structure : NULL;
    if (derive_is_said(t) || t->kind == TYPE_TENSOR)
        return TYPE_LACKS;
    if (s == NULL)
        return t->kind == TYPE_VEC || t->kind == TYPE_TUPLE ? TYPE_LOOK_INSIDE : TYPE_HAS;
    if (check_method_named(c, (struct_item *)s, library_named(LIBRARY_walks, SAID_STATE)) != NULL)
        return TYPE_LACKS;
    return s->dyn != NULL || s->closure != NULL || s->is_builtin ? TYPE_HAS : TYPE_LOOK_INSIDE;
}

static bool is_in_checkpoint(checker *c, const type *t) {
    return !type_any(c->types, t, lacks_state, c);
}

static void put_fields(walk_text *w, const struct_item *s) {
    checker *c = w->k.c;
    masu__buffer_printf(&w->out, "{ %s", w->k.walk->before);
    for (uint32_t i = 0; i < s->field_count; i++) {
        const char *name = s->fields[i].name;
        put_walk(w, s->fields[i].type, check_printf(c, "self.%s", name), check_printf(c, "__at + \"%s\"", name));
    }
    masu__buffer_printf(&w->out, "%s}", w->k.walk->after);
}

static char *body_of(const seeker *k, const struct_item *s) {
    walk_text w = {.k = *k};
    if (k->walk->sort == WALK_RECORD)
        derive_put_record(k->c, &w.out, s);
    else if (k->walk->sort == WALK_NAMES)
        derive_put_names(&w.out, s);
    else if (k->walk->sort == WALK_CLONE)
        derive_put_clone(k->c, &w.out, s);
    else if (k->walk->sort == WALK_STATE)
        derive_put_state(k->c, &w.out, s, is_in_checkpoint);
    else
        put_fields(&w, s);
    char *text = check_printf(k->c, "%s", masu__buffer_text(&w.out));
    bool failed = w.out.failed;
    masu__buffer_destroy(&w.out);
    if (failed)
        check_out_of_memory(k->c);
    return text;
}

static source_span text_as_source(checker *c, char *text) {
    source_file *file = CHECK_ARRAY(c, source_file, 1);
    if (source_file_init(file, c->arena, fields_path, text, strlen(text)) != MASU_OK)
        check_out_of_memory(c);
    return source_span_make(file, 0, (uint32_t)file->length);
}

/* A reference to a tensor of some type as one to a tensor of any: Parameters writes only what has that shape and
 * element. */
bool check_hands_out_tensor(checker *c, expr *e, const type *from, const type *to) {
    if (e->span.file == NULL || strcmp(e->span.file->path, fields_path) != 0 || !type_is_reference(from) ||
        !type_is_reference(to))
        return false;
    const type *place = type_resolve(c->types, type_target(c->types, from)),
               *any = type_resolve(c->types, type_target(c->types, to));
    bool opens = place->kind == TYPE_TENSOR && any->kind == TYPE_TENSOR && any->tensor.element == NULL &&
                 any->tensor.rank < 0;
    e->type = opens ? to : e->type;
    return opens;
}

/* ---- methods ----------------------------------------------------------------------------------------- */

static bool is_seen(const seeker *k, const type *t) {
    switch (k->walk->sort) {
    case WALK_STATE:
        return is_in_checkpoint(k->c, t);
    case WALK_RECORD:
        return derive_is_read(k->c, t);
    case WALK_NAMES:
    case WALK_CLONE:
        return true;
    case WALK_TENSORS:
    case WALK_MODES:
        break;
    }
    return holding_of(k, t, NESTED_MAX) != HOLDS_UNSEEN;
}

static const struct_field *unseen_field(const seeker *k, const struct_item *s) {
    for (uint32_t i = 0; i < s->field_count; i++)
        if (!is_seen(k, s->fields[i].type))
            return &s->fields[i];
    return NULL;
}

/* Names the innermost field: "inside.seen". */
static void say_unseen(const seeker *k, const struct_field *unseen, const char *name, source_span span) {
    checker *c = k->c;
    walk_sort sort = k->walk->sort;
    const char *path = unseen->name;
    for (uint32_t depth = sort == WALK_RECORD ? 0 : NESTED_MAX;
         depth > 0 && unseen->type->kind == TYPE_STRUCT && !unseen->type->structure->is_enum &&
         unseen->type->structure->template == NULL;
         depth--) {
        const struct_field *inner = unseen_field(k, unseen->type->structure);
        if (inner == NULL)
            break;
        unseen = inner;
        path = check_printf(c, "%s.%s", path, unseen->name);
    }
    const char *text = check_type_text(c, unseen->type);
    diagnostic *d = sort == WALK_STATE ? diagnostics_say(c->diagnostics, span, SAY(state_is_not_reached), path, text)
                    : sort == WALK_RECORD
                        ? diagnostics_say(c->diagnostics, span, SAY(field_is_not_text), path, text)
                        : diagnostics_say(c->diagnostics, span, SAY(tensors_are_not_reached), name, path, text);
    diagnostics_note(
        c->diagnostics, d, (source_span){0},
        sort == WALK_STATE
            ? "numbers, texts and tensors in structs, enums, tuples, lists, maps, boxes and `Option`s are reached"
        : sort == WALK_RECORD ? "a field is a number, bool, char or String, or an `Option` of one"
                              : "tensors in structs, tuples, lists, boxes, maps and `Option`s are reached");
}

/* Every struct has an answer to the library's question: nothing is reached in it. */
static bool is_there(const seeker *k, struct_item *owner, source_span span) {
    const seeker tensors = {k->c, &walks[0]};
    bool is_mode = k->walk->sort == WALK_MODES;
    if (k->walk->sort == WALK_CLONE)
        return type_is(owner->type, TYPE_STRUCT) && check_clone_differs(k->c, owner->type);
    return k->walk->sort >= WALK_STATE || span.file == NULL || span.file != k->c->tree->file ||
           of_fields(k, owner, NESTED_MAX) != HOLDS_NONE ||
           (is_mode && of_fields(&tensors, owner, NESTED_MAX) != HOLDS_NONE);
}

static function_item *make_method(const seeker *k, struct_item *owner, const function_item *f, bool is_written) {
    checker *c = k->c;
    function_item *made = check_copy_function(c, f);
    if (is_written) {
        made->body = NULL;
        made->unread = text_as_source(c, body_of(k, owner));
    }
    made->owner_name = owner->name;
    made->owner_span = owner->span;
    made->qualified = check_printf(c, "%s::%s", names_plain(c->names, owner->name), f->name);
    made->owner = owner;
    made->is_template = true;
    made->index = c->tree->function_count;
    CHECK_PUSH(c, c->tree->functions, c->tree->function_count, c->tree->function_capacity, made);
    check_add_method(c, made);
    return made;
}

/* The walk that the method belongs to; NULL: none. */
static const derived_walk *walk_of(const checker *c, const char *name, function_item **method) {
    const derived_walk *walk = NULL;
    for (uint32_t i = 0; i < WALKS; i++) {
        function_item *f = check_method_of_trait(c, library_named(LIBRARY_walk_trait, walks[i].trait), name);
        if (f != NULL && (walk == NULL || strcmp(name, written_of(&walks[i])) == 0)) {
            walk = &walks[i];
            *method = f;
        }
    }
    return walk;
}

function_item *check_derived_method(checker *c, struct_item *owner, const char *name, source_span span) {
    function_item *f = NULL;
    seeker k = {c, walk_of(c, name, &f)};
    bool is_state = k.walk != NULL && (k.walk->sort == WALK_STATE || k.walk->sort == WALK_CLONE);
    bool is_plain = (is_state || !owner->is_enum) && owner->dyn == NULL && owner->closure == NULL &&
                    owner->type != NULL &&
                    (owner->template == NULL ? owner->generics.count == 0 : is_state || !is_of_library(c, owner));
    if (k.walk == NULL || !is_plain || !is_there(&k, owner, span))
        return NULL;
    const struct_field *unseen = unseen_field(&k, owner);
    if (unseen != NULL)
        say_unseen(&k, unseen, name, span);
    bool is_written = strcmp(name, written_of(k.walk)) == 0 && !(k.walk->sort == WALK_RECORD && unseen != NULL);
    return make_method(&k, owner, f, is_written);
}
