/* check_derive.c: methods that a struct has because of what its fields are: the library's traits __Tensors and __Recorded.
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
 *     t.__state(path, s)    likewise; a checkpoint is told of each number, text and tensor (library/checkpoint.tl):
 *
 *         { s.__tensor(path + "w", &mut self.w);                                  w: Tensor
 *           s.__value(path + "steps", &mut self.steps);                           steps: i64
 *           match s.__grows(path + "m", self.m.len(), self.m.is_empty()) {        m: Vec<Tensor>
 *               2 => { for i1 in 0..s.__length(path + "m") { self.m.push(s.__next(path + "m." + i1.to_string())); } }
 *               1 => {}
 *               _ => { for i1 in 0..self.m.len() { s.__tensor(path + "m." + i1.to_string(), &mut self.m[i1]); } } } }
 *
 *     T::__of_record(r)     a record of text as a struct (library/csv.tl)
 *
 *         { Self { name: r.__text(0), age: if r.__is_missing(1) { None } else { Some(r.__whole(1)) } } }
 *
 * What must stay true: every tensor in the value (of a state: every value) is reached once, or the call is an error that names
 * the field.
 */
#include <string.h>

#include "language/front/check_context.h"
#include "language/front/check_generic.h"
#include "language/front/check_iterator.h"
#include "language/front/check_scopes.h"
#include "language/front/check_types.h"

/* The library's names that are known here. */
static const char *const traits[] = {"__Tensors", "__Recorded"};
static const char walk_of_fields[] = "__tensors", walk_of_state[] = "__state", fields_path[] = "<fields>";

/* What a method is made of: the text of its trait alone, or a walk over the fields. */
typedef enum walk { WALK_NONE, WALK_TENSORS, WALK_STATE, WALK_RECORD, WALK_NAMES } walk;

static walk walk_named(const char *name) {
    static const char *const names[] = {[WALK_TENSORS] = walk_of_fields, [WALK_STATE] = walk_of_state,
                                        [WALK_RECORD] = "__of_record", [WALK_NAMES] = "__record_names"};
    for (int i = WALK_TENSORS; i <= WALK_NAMES; i++) {
        if (strcmp(names[i], name) == 0) {
            return (walk)i;
        }
    }
    return WALK_NONE;
}

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

/* ---- the whole state ------------------------------------------------------------------------------- */

/* A scalar that a text can say and be read from. */
static bool is_said(const type *t) {
    return t->kind >= TYPE_BOOL && t->kind < TYPE_SCALAR_END;
}

static bool has_state(checker *c, const type *t, uint32_t depth) {
    t = type_resolve(c->types, t);
    if (depth == 0 || is_said(t) || t->kind == TYPE_TENSOR) {
        return depth > 0;
    }
    if (t->kind == TYPE_VEC) {
        return !type_is_box(t) && has_state(c, t->vec.element, depth - 1);
    }
    bool all = t->kind == TYPE_TUPLE || t->kind == TYPE_STRUCT;
    for (uint32_t i = 0; t->kind == TYPE_TUPLE && i < t->tuple.count; i++) {
        all = all && has_state(c, t->tuple.items[i], depth - 1);
    }
    if (!all || t->kind == TYPE_TUPLE) {
        return all;
    }
    if (is_option(t)) {
        return has_state(c, t->structure->arguments[0], depth - 1);
    }
    if (check_method_named(c, t->structure, walk_of_state) != NULL) {
        return true;
    }
    all = t->structure->dyn == NULL && t->structure->closure == NULL && !t->structure->is_enum &&
          t->structure->template == NULL;
    for (uint32_t i = 0; all && i < t->structure->field_count; i++) {
        const type *field = t->structure->fields[i].type;
        all = field == NULL || has_state(c, field, depth - 1);
    }
    return all;
}

static void put_state(walk_text *w, const type *t, const char *place, const char *path);

/* A list of scalars takes those of the file, and an empty list of tensors, too; others have the length that they have there. */
static void put_list(walk_text *w, const type *element, const char *place, const char *path, uint32_t number) {
    checker *c = w->c;
    element = type_resolve(c->types, element);
    const char *one = check_printf(c, "%s + \".\" + __%u.to_string()", path, number), *new = NULL, *can = "false";
    if (is_said(element)) {
        new = check_printf(c, "s.__said(%s)", one);
        can = "true";
    } else if (element->kind == TYPE_TENSOR && element->tensor.rank < 0) {
        new = check_printf(c, "s.__next(%s)", one);
        can = check_printf(c, "%s.is_empty()", place);
    }
    masu__buffer_printf(&w->out, "match s.__grows(%s, %s.len(), %s) {\n2 => {", path, place, can);
    if (new != NULL) {
        masu__buffer_printf(&w->out, "%s.clear(); for __%u in 0..s.__length(%s) { %s.push(%s); }\n", place, number, path,
                            place, new);
    }
    masu__buffer_printf(&w->out, "}\n1 => {}\n_ => { for __%u in 0..%s.len() {\n", number, place);
    put_state(w, element, check_printf(c, "%s[__%u]", place, number), one);
    masu__buffer_printf(&w->out, "} } }\n");
}

/* As put_walk, of everything. */
static void put_state(walk_text *w, const type *t, const char *place, const char *path) {
    checker *c = w->c;
    t = type_resolve(c->types, t);
    uint32_t number = ++w->names;
    if (!has_state(c, t, NESTED_MAX)) { /* the call is an error */
        return;
    }
    if (is_said(t)) {
        masu__buffer_printf(&w->out, "s.__value(%s, &mut %s);\n", path, place);
    } else if (t->kind == TYPE_TENSOR) {
        masu__buffer_printf(&w->out, "s.__tensor(%s, &mut %s);\n", path, place);
    } else if (t->kind == TYPE_VEC) {
        put_list(w, t->vec.element, place, path, number);
    } else if (t->kind == TYPE_TUPLE) {
        for (uint32_t i = 0; i < t->tuple.count; i++) {
            put_state(w, t->tuple.items[i], check_printf(c, "%s.%u", place, i), check_printf(c, "%s + \".%u\"", path, i));
        }
    } else if (is_option(t)) {
        masu__buffer_printf(&w->out, "s.__is(%s, %s.is_some());\nif let Some(__%u) = &mut %s {\n", path, place, number,
                            place);
        put_state(w, t->structure->arguments[0], check_printf(c, "__%u", number), path);
        masu__buffer_printf(&w->out, "}\n");
    } else {
        masu__buffer_printf(&w->out, "%s.%s(%s + \".\", s);\n", place, walk_of_state, path);
    }
}

/* ---- records of text --------------------------------------------------------------------------------- */

static bool is_read(checker *c, const type *t) {
    t = type_resolve(c->types, t);
    bool optional = t->kind == TYPE_STRUCT && is_option(t);
    return is_said(optional ? type_resolve(c->types, t->structure->arguments[0]) : t);
}

/* The expression that reads the field of this number. */
static const char *read_field(checker *c, const type *t, uint32_t i) {
    t = type_resolve(c->types, t);
    if (t->kind == TYPE_STRUCT) {
        return check_printf(c, "if r.__is_missing(%u) { None } else { Some(%s) }", i,
                            read_field(c, t->structure->arguments[0], i));
    }
    const char *name = check_type_text(c, t);
    switch (t->kind) {
    case TYPE_F32:
    case TYPE_F64:
        return check_printf(c, "r.__real(%u) as %s", i, name);
    case TYPE_BOOL:
        return check_printf(c, "r.__truth(%u)", i);
    case TYPE_CHAR:
        return check_printf(c, "r.__letter(%u)", i);
    case TYPE_STRING:
        return check_printf(c, "r.__text(%u)", i);
    case TYPE_I64:
        return check_printf(c, "r.__whole(%u)", i);
    case TYPE_U64:
    case TYPE_USIZE:
        return check_printf(c, "r.__whole_in(%u, 0, i64::MAX, \"a %s\") as %s", i, name, name);
    default:
        return check_printf(c, "r.__whole_in(%u, %s::MIN as i64, %s::MAX as i64, \"%s %s\") as %s", i, name, name,
                            name[0] == 'i' ? "an" : "a", name, name);
    }
}

static void put_record(walk_text *w, const struct_item *s) {
    masu__buffer_printf(&w->out, "{ Self %c\n", s->positional ? '(' : '{');
    for (uint32_t i = 0; i < s->field_count; i++) {
        const struct_field *field = &s->fields[i];
        masu__buffer_printf(&w->out, s->positional ? "" : "%s: ", field->name);
        masu__buffer_printf(&w->out, "%s,\n", read_field(w->c, field->type, i));
    }
    masu__buffer_printf(&w->out, "%c }", s->positional ? ')' : '}');
}

static void put_names(walk_text *w, const struct_item *s) {
    masu__buffer_puts(&w->out, "{ let mut all: Vec<String> = Vec::new();\n");
    for (uint32_t i = 0; i < s->field_count; i++) {
        masu__buffer_printf(&w->out, "all.push(\"%s\");\n", s->fields[i].name);
    }
    masu__buffer_puts(&w->out, "all }");
}

static void put_fields(walk_text *w, const struct_item *s, walk kind) {
    checker *c = w->c;
    masu__buffer_puts(&w->out, kind == WALK_STATE ? "{\n" : "{ let mut __all = Parameters::new();\n");
    for (uint32_t i = 0; i < s->field_count; i++) {
        const char *name = s->fields[i].name;
        (kind == WALK_STATE ? put_state : put_walk)(w, s->fields[i].type, check_printf(c, "self.%s", name),
                                                    check_printf(c, "path + \"%s\"", name));
    }
    masu__buffer_puts(&w->out, kind == WALK_STATE ? "}" : "__all }");
}

static char *body_of(checker *c, const struct_item *s, walk kind) {
    walk_text w = {.c = c};
    if (kind == WALK_RECORD) {
        put_record(&w, s);
    } else if (kind == WALK_NAMES) {
        put_names(&w, s);
    } else {
        put_fields(&w, s, kind);
    }
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
    for (size_t k = 0; k < sizeof traits / sizeof *traits; k++) {
        const symbol *s = check_find(c, traits[k]);
        for (uint32_t i = 0; s != NULL && s->trait != NULL && i < s->trait->method_count; i++) {
            if (strcmp(s->trait->methods[i]->name, name) == 0) {
                return s->trait->methods[i];
            }
        }
    }
    return NULL;
}

static bool is_seen(checker *c, const type *t, walk kind) {
    switch (kind) {
    case WALK_STATE:
        return has_state(c, t, NESTED_MAX);
    case WALK_RECORD:
        return is_read(c, t);
    case WALK_NAMES:
        return true;
    case WALK_NONE:
    case WALK_TENSORS:
        break;
    }
    return holding_of(c, t, NESTED_MAX) != HOLDS_UNSEEN;
}

static const struct_field *unseen_field(checker *c, const struct_item *s, walk kind) {
    for (uint32_t i = 0; i < s->field_count; i++) {
        if (!is_seen(c, s->fields[i].type, kind)) {
            return &s->fields[i];
        }
    }
    return NULL;
}

/* Names the innermost field: "inside.seen". */
static void say_unseen(checker *c, const struct_field *unseen, const char *name, walk kind, source_span span) {
    const char *path = unseen->name;
    for (uint32_t depth = kind == WALK_RECORD ? 0 : NESTED_MAX;
         depth > 0 && unseen->type->kind == TYPE_STRUCT && !unseen->type->structure->is_enum &&
         unseen->type->structure->template == NULL;
         depth--) {
        const struct_field *inner = unseen_field(c, unseen->type->structure, kind);
        if (inner == NULL) {
            break;
        }
        unseen = inner;
        path = check_printf(c, "%s.%s", path, unseen->name);
    }
    const char *text = check_type_text(c, unseen->type);
    diagnostic *d = kind == WALK_STATE    ? diagnostics_say(c->diagnostics, span, SAY(state_is_not_reached), path, text)
                    : kind == WALK_RECORD ? diagnostics_say(c->diagnostics, span, SAY(field_is_not_text), path, text)
                                          : diagnostics_say(c->diagnostics, span, SAY(tensors_are_not_reached), name, path, text);
    diagnostics_note(c->diagnostics, d, (source_span){0},
                     kind == WALK_STATE    ? "numbers, texts and tensors in structs, tuples, lists and `Option`s are reached"
                     : kind == WALK_RECORD ? "a field is a number, bool, char or String, or an `Option` of one"
                                           : "tensors in structs, tuples, lists, `Option`s and maps with texts as keys are reached");
}

function_item *check_derived_method(checker *c, struct_item *owner, const char *name, source_span span) {
    function_item *f = method_of_trait(c, name);
    walk kind = walk_named(name);
    if (f == NULL || owner->is_enum || owner->template != NULL || owner->generics.count > 0 ||
        owner->dyn != NULL || owner->closure != NULL || owner->type == NULL ||
        (kind <= WALK_TENSORS && of_fields(c, owner, NESTED_MAX) == HOLDS_NONE)) {
        return NULL;
    }
    const struct_field *unseen = unseen_field(c, owner, kind);
    if (unseen != NULL) {
        say_unseen(c, unseen, name, kind, span);
    }
    function_item *made = function_copy(c->arena, f);
    if (made == NULL) {
        check_out_of_memory(c);
    }
    if (kind != WALK_NONE && !(kind == WALK_RECORD && unseen != NULL)) {
        made->body = NULL;
        made->unread = text_as_source(c, body_of(c, owner, kind));
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
