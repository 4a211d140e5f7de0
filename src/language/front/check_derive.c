/* check_derive.c: methods that a struct has because of what its fields are: the library's trait __Tensors.
 *
 *     net.parameters()      the trait's own text, made for Net where it is first asked for
 *     net.__tensors(p, e)   written here from Net's fields, and read as any text of the library:
 *
 *         { let mut <all> = Parameters::new();
 *           <all>.__add(path + "w", &mut self.w, every);                        w: Tensor
 *           for i1 in 0..self.layers.len() {                                    layers: Vec<Layer>
 *               <all>.__join(self.layers[i1].__tensors(path + "layers." + i1.to_string() + ".", every)); }
 *           if let Some(o1) = &mut self.bias { <all>.__add(path + "bias", o1, every); }
 *           <all> }
 *
 * What must stay true: every tensor in the value is reached once, or the call is an error that names the field.
 */
#include <string.h>

#include "language/front/check_context.h"
#include "language/front/check_generic.h"
#include "language/front/check_iterator.h"
#include "language/front/check_scopes.h"
#include "language/front/check_types.h"

/* The library's names that are known here. */
static const char tensors_trait[] = "__Tensors", walk_of_fields[] = "__tensors", fields_path[] = "<fields>";

enum { NESTED_MAX = 16 };

/* ---- which types hold tensors -------------------------------------------------------------------- */

typedef enum holding { HOLDS_NONE, HOLDS_SOME, HOLDS_UNSEEN } holding;

static holding holding_of(checker *c, const type *t, uint32_t depth);

static holding of_fields(checker *c, const struct_item *s, uint32_t depth) {
    holding all = HOLDS_NONE;
    for (uint32_t i = 0; i < s->field_count && all != HOLDS_UNSEEN; i++) {
        holding one = s->fields[i].type == NULL ? HOLDS_NONE : holding_of(c, s->fields[i].type, depth);
        all = one > all ? one : all;
    }
    return all;
}

static bool is_option(const type *t) {
    return t->kind == TYPE_STRUCT && t->structure->template != NULL &&
           strcmp(t->structure->template->name, "Option") == 0;
}

/* HOLDS_UNSEEN: tensors lie where no walk goes, in an enum or a generic struct without a walk of its own (maps have one). */
static holding holding_of(checker *c, const type *t, uint32_t depth) {
    t = type_resolve(c->types, t);
    holding some = HOLDS_NONE;
    if (depth == 0 || t->kind == TYPE_TENSOR) {
        return t->kind == TYPE_TENSOR ? HOLDS_SOME : HOLDS_NONE;
    }
    if (t->kind == TYPE_VEC) {
        some = holding_of(c, t->vec.element, depth - 1);
        return some != HOLDS_NONE && type_is_box(t) ? HOLDS_UNSEEN : some;
    }
    for (uint32_t i = 0; t->kind == TYPE_TUPLE && i < t->tuple.count; i++) {
        holding one = holding_of(c, t->tuple.items[i], depth - 1);
        some = one > some ? one : some;
    }
    if (t->kind != TYPE_STRUCT || t->structure->dyn != NULL || t->structure->closure != NULL) {
        return some;
    }
    if (is_option(t)) {
        return holding_of(c, t->structure->arguments[0], depth - 1);
    }
    some = of_fields(c, t->structure, depth - 1);
    bool walked = (!t->structure->is_enum && t->structure->template == NULL) ||
                  check_method_named(c, t->structure, walk_of_fields) != NULL;
    return some != HOLDS_NONE && !walked ? HOLDS_UNSEEN : some;
}

/* ---- the text -------------------------------------------------------------------------------------- */

typedef struct walk_text {
    checker *c;
    masu__buffer out;
    uint32_t names; /* made so far */
} walk_text;

/* Writes the walk over the tensors in `place`; `path` is the expression of their path. */
static void put_walk(walk_text *w, const type *t, const char *place, const char *path) {
    checker *c = w->c;
    t = type_resolve(c->types, t);
    if (holding_of(c, t, NESTED_MAX) != HOLDS_SOME) {
        return;
    }
    uint32_t number = ++w->names;
    if (t->kind == TYPE_TENSOR) {
        masu__buffer_printf(&w->out, "__all.__add(%s, &mut %s, every);\n", path, place);
    } else if (t->kind == TYPE_VEC) {
        masu__buffer_printf(&w->out, "for __%u in 0..%s.len() {\n", number, place);
        put_walk(w, t->vec.element, check_printf(c, "%s[__%u]", place, number),
                 check_printf(c, "%s + \".\" + __%u.to_string()", path, number));
        masu__buffer_printf(&w->out, "}\n");
    } else if (t->kind == TYPE_TUPLE) {
        for (uint32_t i = 0; i < t->tuple.count; i++) {
            put_walk(w, t->tuple.items[i], check_printf(c, "%s.%u", place, i),
                     check_printf(c, "%s + \".%u\"", path, i));
        }
    } else if (is_option(t)) {
        masu__buffer_printf(&w->out, "if let Some(__%u) = &mut %s {\n", number, place);
        put_walk(w, t->structure->arguments[0], check_printf(c, "__%u", number), path);
        masu__buffer_printf(&w->out, "}\n");
    } else {
        masu__buffer_printf(&w->out, "__all.__join(%s.%s(%s + \".\", every));\n", place,
                            walk_of_fields, path);
    }
}

static char *body_of(checker *c, const struct_item *s) {
    walk_text w = {.c = c};
    masu__buffer_printf(&w.out, "{ let mut __all = Parameters::new();\n");
    for (uint32_t i = 0; i < s->field_count; i++) {
        const char *name = s->fields[i].name;
        put_walk(&w, s->fields[i].type, check_printf(c, "self.%s", name),
                 check_printf(c, "path + \"%s\"", name));
    }
    masu__buffer_printf(&w.out, "__all }");
    char *text = check_printf(c, "%s", masu__buffer_text(&w.out));
    bool failed = w.out.failed;
    masu__buffer_destroy(&w.out);
    if (failed) {
        check_out_of_memory(c);
    }
    return text;
}

static source_span text_as_source(checker *c, char *text) {
    source_file *file = CHECK_ARRAY(c, source_file, 1);
    if (source_file_init(file, c->arena, fields_path, text, strlen(text)) != MASU_OK) {
        check_out_of_memory(c);
    }
    return source_span_make(file, 0, (uint32_t)file->length);
}

/* A reference to a tensor of some type as one to a tensor of any: Parameters writes only what has that shape and element. */
bool check_hands_out_tensor(checker *c, expr *e, const type *from, const type *to) {
    if (e->span.file == NULL || strcmp(e->span.file->path, fields_path) != 0 || !type_is_reference(from) ||
        !type_is_reference(to)) {
        return false;
    }
    const type *place = type_resolve(c->types, type_target(c->types, from)),
               *any = type_resolve(c->types, type_target(c->types, to));
    bool opens = place->kind == TYPE_TENSOR && any->kind == TYPE_TENSOR && any->tensor.element == NULL &&
                 any->tensor.rank < 0;
    e->type = opens ? to : e->type;
    return opens;
}

/* ---- methods ----------------------------------------------------------------------------------------- */

static function_item *method_of_trait(const checker *c, const char *name) {
    const symbol *s = check_find(c, tensors_trait);
    for (uint32_t i = 0; s != NULL && s->trait != NULL && i < s->trait->method_count; i++) {
        if (strcmp(s->trait->methods[i]->name, name) == 0) {
            return s->trait->methods[i];
        }
    }
    return NULL;
}

static const struct_field *unseen_field(checker *c, const struct_item *s) {
    for (uint32_t i = 0; i < s->field_count; i++) {
        if (holding_of(c, s->fields[i].type, NESTED_MAX) == HOLDS_UNSEEN) {
            return &s->fields[i];
        }
    }
    return NULL;
}

function_item *check_tensors_method(checker *c, struct_item *owner, const char *name, source_span span) {
    function_item *f = method_of_trait(c, name);
    if (f == NULL || owner->is_enum || owner->template != NULL || owner->generics.count > 0 ||
        owner->dyn != NULL || owner->type == NULL || of_fields(c, owner, NESTED_MAX) == HOLDS_NONE) {
        return NULL;
    }
    const struct_field *unseen = unseen_field(c, owner);
    if (unseen != NULL) {
        diagnostic *d = diagnostics_say(c->diagnostics, span, SAY(tensors_are_not_reached), name,
                                        unseen->name, check_type_text(c, unseen->type));
        diagnostics_note(c->diagnostics, d, (source_span){0},
                         "tensors in structs, tuples, lists, `Option`s and maps with texts as keys are reached");
    }
    function_item *made = function_copy(c->arena, f);
    if (made == NULL) {
        check_out_of_memory(c);
    }
    if (strcmp(name, walk_of_fields) == 0) {
        made->body = NULL;
        made->unread = text_as_source(c, body_of(c, owner));
    }
    made->owner_name = owner->name;
    made->owner_span = owner->span;
    made->qualified = check_printf(c, "%s::%s", names_plain(c->names, owner->name), name);
    made->owner = owner;
    made->is_template = true;
    made->index = c->tree->function_count;
    CHECK_PUSH(c, c->tree->functions, c->tree->function_count, c->tree->function_capacity, made);
    check_add_method(c, made);
    return made;
}
