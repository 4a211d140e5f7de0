/* check_derive_state.c: the walk of a checkpoint, which hands over each value (library/checkpoint.tl).
 *
 *     t.__states(path, s)
 *
 *         { let __at = …;
 *           s.__tensor(__at + "w", &mut self.w);                                  w: Tensor
 *           s.__value(__at + "steps", &mut self.steps);                           steps: i64
 *           match s.__grows(__at + "m", self.m.len(), true) {                     m: Vec<i64>
 *               2 => { for i in 0..s.__length(__at + "m") { self.m.push(s.__said(__at + "m." + i.to_string())); } }
 *               1 => { for i in 0..s.__length(__at + "m") { s.__fits::<i64>(__at + "m." + i.to_string()); } }
 *               4 => {}
 *               _ => { for i in 0..self.m.len() { s.__value(__at + "m." + i.to_string(), &mut self.m[i]); } } }
 *           match s.__grows(__at + "v", self.v.len(), true) {                     v: Vec<(i64, String)>
 *               2 | 1 => { let mut made = __none_of(&self.v); s.__make(1);
 *                          for i in 0..s.__length(__at + "v") { made.push((0, "")); … the walk of made[i] … }
 *                          s.__make(-1); if s.mode == 2 { self.v = made; } }
 *               … as above … } }
 *
 * A list takes the length that it has in the file, wherever it lies. Its elements are scalars, or begin as a blank: a
 * value of the type that says nothing, of which the walk then makes what the file says, as it is compared and once more
 * as it is taken. A list that holds tensors is a model's: it grows where it is empty here, and differs otherwise.
 *
 * What must stay true (tests/golden/lang_checkpoint, lang_checkpoint_kinds, lang_checkpoint_growing): while it is
 * compared (mode 1), nothing of the value is written, only what was made.
 */
#include "language/front/check_derive_state.h"
#include "language/types/check_variants.h"

typedef struct walk_text {
    checker *c;
    masu__buffer *out;
    derive_reaches *reaches;
    uint32_t names; /* made so far */
} walk_text;

#define AT "let __at = if path.is_empty() { path } else { path + \".\" };\n"

static const char state_method[] = "__state";

static void put_state(walk_text *w, const type *t, const char *place, const char *path);

/* ---- blanks: values that say nothing, to make of the file what it says ------------------------------ */

/* The structs that are being looked at: one that holds itself has no blank. */
typedef struct looked_at {
    const struct_item *item;
    const struct looked_at *outer;
} looked_at;

static const char *blank_of(checker *c, const type *t, const looked_at *outer);

/* name(a, b) or name { x: a, y: b }; NULL: a field has no blank. */
static const char *blank_of_fields(checker *c, const char *name, const struct_field *fields, uint32_t count,
                                   bool positional, const looked_at *outer) {
    const char *text = check_printf(c, "%s%s", name, positional ? "(" : " { ");
    for (uint32_t i = 0; i < count && text != NULL; i++) {
        const char *one = fields[i].type == NULL ? NULL : blank_of(c, fields[i].type, outer);
        text = one == NULL
                   ? NULL
                   : check_printf(c, "%s%s%s%s, ", text, positional ? "" : fields[i].name, positional ? "" : ": ", one);
    }
    return text == NULL ? NULL : check_printf(c, "%s%s", text, positional ? ")" : "}");
}

static const char *blank_of_variant(checker *c, const struct_item *s, const variant_item *v, const char *owner,
                                    const looked_at *outer) {
    const char *name = check_printf(c, "%s::%s", owner, v->name);
    return v->count == 0 ? name : blank_of_fields(c, name, s->fields + v->first, v->count, v->positional, outer);
}

/* A type with a destructor has none: its values are compared, and made again. */
static const char *blank_of_struct(checker *c, const struct_item *s, const looked_at *outer) {
    const struct_item *declared = s->template != NULL ? s->template : s;
    bool none = s->dyn != NULL || s->closure != NULL || s->is_builtin || declared->drop != NULL;
    for (const looked_at *l = outer; l != NULL && !none; l = l->outer)
        none = l->item == s;
    if (none)
        return NULL;
    const looked_at inner = {s, outer};
    if (!s->is_enum)
        return blank_of_fields(c, declared->name, s->fields, s->field_count, s->positional, &inner);
    const char *text = NULL;
    for (uint32_t k = 0; k < s->variant_count && text == NULL; k++)
        text = blank_of_variant(c, s, &s->variants[k], declared->name, &inner);
    return text;
}

static const char *blank_of_scalar(const type *t) {
    return t->kind == TYPE_BOOL     ? "false"
           : t->kind == TYPE_CHAR   ? "' '"
           : t->kind == TYPE_STRING ? "\"\""
           : type_is_integer(t)     ? "0"
                                    : "0.0";
}

static const char *blank_of_tensor(checker *c, const type *t) {
    const type *held = t->tensor.element == NULL ? NULL : type_resolve(c->types, t->tensor.element);
    return t->tensor.rank >= 0 ? NULL
           : held == NULL      ? "Tensor::zeros([0])"
                               : check_printf(c, "(Tensor::zeros([0]) as Tensor<%s>)", type_name(c->types, held));
}

/* NULL: there is none. */
static const char *blank_of(checker *c, const type *t, const looked_at *outer) {
    t = type_resolve(c->types, t);
    if (derive_is_said(t))
        return blank_of_scalar(t);
    if (t->kind == TYPE_TENSOR)
        return blank_of_tensor(c, t);
    if (t->kind == TYPE_VEC && t->vec.length == -1)
        return "Vec::new()";
    if (t->kind == TYPE_STRUCT)
        return check_is_form(c, t, SAID_OPTION) ? "None" : blank_of_struct(c, t->structure, outer);
    if (t->kind == TYPE_TUPLE) {
        const char *text = "(";
        for (uint32_t i = 0; i < t->tuple.count && text != NULL; i++) {
            const char *one = blank_of(c, t->tuple.items[i], outer);
            text = one == NULL ? NULL : check_printf(c, "%s%s, ", text, one);
        }
        return text == NULL ? NULL : check_printf(c, "%s)", text);
    }
    const char *inner = t->kind == TYPE_VEC ? blank_of(c, t->vec.element, outer) : NULL;
    return inner == NULL        ? NULL
           : type_is_box(t)     ? check_printf(c, "Box::new(%s)", inner)
           : t->vec.length >= 0 ? check_printf(c, "[%s; %lld]", inner, (long long)t->vec.length)
                                : NULL;
}

/* ---- lists and options ------------------------------------------------------------------------------ */

static type_verdict is_tensor(const type *t, void *context) {
    (void)context;
    return t->kind == TYPE_TENSOR ? TYPE_HAS : t->kind == TYPE_REFERENCE ? TYPE_LACKS : TYPE_LOOK_INSIDE;
}

/* Text that takes the length and the elements of the file, or compares them. */
static void put_growing(walk_text *w, const type *element, const char *place, const char *path, const char *one,
                        uint32_t number) {
    if (derive_is_said(element)) {
        masu__buffer_printf(w->out,
                            "2 => { %s.clear(); for __%u in 0..s.__length(%s) { %s.push(s.__said(%s)); } }\n"
                            "1 => { for __%u in 0..s.__length(%s) { s.__fits::<%s>(%s); } }\n",
                            place, number, path, place, one, number, path, type_name(w->c->types, element), one);
        return;
    }
    const char *made = check_printf(w->c, "__made%u", number);
    masu__buffer_printf(w->out,
                        "2 | 1 => { let mut %s = __none_of(&%s); s.__make(1);\n"
                        "for __%u in 0..s.__length(%s) { %s.push(%s);\n",
                        made, place, number, path, made, blank_of(w->c, element, NULL));
    put_state(w, element, check_printf(w->c, "%s[__%u]", made, number), one);
    masu__buffer_printf(w->out, "} s.__make(-1); if s.mode == 2 { %s = %s; } }\n", place, made);
}

static void put_list(walk_text *w, const type *list, const char *place, const char *path, uint32_t number) {
    checker *c = w->c;
    const type *element = type_resolve(c->types, list->vec.element);
    const char *one = check_printf(c, "%s + \".\" + __%u.to_string()", path, number);
    bool grows = list->vec.length == -1 && blank_of(c, element, NULL) != NULL;
    const char *can = !grows                                         ? "false"
                      : type_any(c->types, element, is_tensor, NULL) ? check_printf(c, "%s.is_empty()", place)
                                                                     : "true";
    masu__buffer_printf(w->out, "match s.__grows(%s, %s.len(), %s) {\n", path, place, can);
    if (grows)
        put_growing(w, element, place, path, one, number);
    masu__buffer_printf(w->out, "4 => {}\n_ => { for __%u in 0..%s.len() {\n", number, place);
    put_state(w, element, check_printf(c, "%s[__%u]", place, number), one);
    masu__buffer_printf(w->out, "} } }\n");
}

/* Text that looks at a value in the file that one of type t will be made of. */
static const char *expectation(checker *c, const type *t, const char *path) {
    t = type_resolve(c->types, t);
    return derive_is_said(t) ? check_printf(c, "s.__fits::<%s>(%s);", type_name(c->types, t), path)
                             : check_printf(c, "s.__expect(%s);", path);
}

/* None differs from Some, but in what is made: that becomes what the file says. */
static void put_option(walk_text *w, const type *inner, const char *place, const char *path, uint32_t number) {
    const char *blank = blank_of(w->c, inner, NULL);
    if (blank != NULL)
        masu__buffer_printf(w->out, "if s.__made_some(%s) { %s = Some(%s); }\n", path, place, blank);
    masu__buffer_printf(w->out, "s.__is(%s, %s.is_some());\nif let Some(__%u) = &mut %s {\n", path, place, number,
                        place);
    put_state(w, inner, check_printf(w->c, "__%u", number), path);
    masu__buffer_printf(w->out, "}\n");
}

/* None becomes the scalar that the file has, and the other way round. */
static void put_said_option(walk_text *w, const type *inner, const char *place, const char *path, uint32_t number) {
    masu__buffer_printf(w->out,
                        "match s.__holds(%s, %s.is_some()) {\n3 => { %s = None; }\n2 => { %s = Some(s.__said(%s)); }\n",
                        path, place, place, place, path);
    masu__buffer_printf(w->out, "1 => { %s }\n4 => {}\n_ => { if let Some(__%u) = &mut %s {\n",
                        expectation(w->c, inner, path), number, place);
    put_state(w, inner, check_printf(w->c, "__%u", number), path);
    masu__buffer_printf(w->out, "} } }\n");
}

/* A name that a pattern bound is a reference already. */
static const char *lends(const char *place) {
    return place[0] == '_' && strpbrk(place, ".[") == NULL ? "" : "&mut ";
}

/* As put_walk, of everything. */
static void put_state(walk_text *w, const type *t, const char *place, const char *path) {
    checker *c = w->c;
    t = type_resolve(c->types, t);
    uint32_t number = ++w->names;
    if (!w->reaches(c, t)) /* the call is an error */
        return;
    if (derive_is_said(t)) {
        masu__buffer_printf(w->out, "s.__value(%s, %s%s);\n", path, lends(place), place);
    } else if (t->kind == TYPE_TENSOR) {
        masu__buffer_printf(w->out, "s.__tensor(%s, %s%s);\n", path, lends(place), place);
    } else if (type_is_box(t)) {
        put_state(w, t->vec.element, check_printf(c, "(*%s)", place), path);
    } else if (t->kind == TYPE_VEC) {
        put_list(w, t, place, path, number);
    } else if (t->kind == TYPE_TUPLE) {
        for (uint32_t i = 0; i < t->tuple.count; i++) {
            put_state(w, t->tuple.items[i], check_printf(c, "%s.%u", place, i),
                      check_printf(c, "%s + \".%u\"", path, i));
        }
    } else if (check_is_form(c, t, SAID_OPTION) && derive_is_said(type_resolve(c->types, t->structure->arguments[0]))) {
        put_said_option(w, t->structure->arguments[0], place, path, number);
    } else if (check_is_form(c, t, SAID_OPTION)) {
        put_option(w, t->structure->arguments[0], place, path, number);
    } else {
        masu__buffer_printf(w->out, "%s.%s(%s, s);\n", place, state_method, path);
    }
}

/* ---- the state of an enum: its variant, by name, and what that holds --------------------------------
 *
 *     let __here = match self { Self::A => "A", Self::B(__1) => "B" };
 *     if s.__same_variant(path, __here) {
 *         match self { Self::A => {} Self::B(__1) => { … what put_state writes of __1, at "B.0" … } }
 *     } else { match s.__variant(path).as_str() {
 *         "A" => { if s.mode == 2 { *self = Self::A; } }
 *         "B" => { if s.mode == 1 { s.__fits::<i64>(__at + "B.0"); }
 *                  else { *self = Self::B(s.__said(__at + "B.0")); } }
 *         _ => { s.__differing(path, __here); } } }
 *
 * Another variant than the present one is made again where it holds nothing but scalars and tensors of any shape; where
 * it holds more, it differs.
 */

/* Self::B, Self::B(a, b), Self::B { x: a, y: b }, with the text of each field. */
static void put_variant(walk_text *w, const struct_item *s, const variant_item *v, const char *const *texts) {
    masu__buffer_printf(w->out, "Self::%s%s", v->name, v->count == 0 ? "" : v->positional ? "(" : " { ");
    for (uint32_t i = 0; i < v->count; i++) {
        const char *name = s->fields[v->first + i].name;
        masu__buffer_printf(w->out, "%s%s%s%s", i > 0 ? ", " : "", v->positional ? "" : name, v->positional ? "" : ": ",
                            texts[i]);
    }
    masu__buffer_printf(w->out, "%s", v->count == 0 ? "" : v->positional ? ")" : " }");
}

static const char **names_of(walk_text *w, const variant_item *v) {
    const char **names = CHECK_ARRAY(w->c, const char *, v->count + 1);
    for (uint32_t i = 0; i < v->count; i++)
        names[i] = check_printf(w->c, "__%u", ++w->names);
    return names;
}

/* The path of a field: after its own name, or its number. */
static const char *field_path(checker *c, const struct_item *s, const variant_item *v, uint32_t i) {
    return v->positional ? check_printf(c, "__at + \"%s.%u\"", v->name, i)
                         : check_printf(c, "__at + \"%s.%s\"", v->name, s->fields[v->first + i].name);
}

static bool is_made_again(checker *c, const type *t) {
    t = type_resolve(c->types, t);
    return derive_is_said(t) || (t->kind == TYPE_TENSOR && t->tensor.rank < 0 && t->tensor.element == NULL);
}

static void put_present(walk_text *w, const struct_item *s) {
    masu__buffer_printf(w->out, "match self {\n");
    for (uint32_t k = 0; k < s->variant_count; k++) {
        const variant_item *v = &s->variants[k];
        const char **names = names_of(w, v);
        put_variant(w, s, v, names);
        masu__buffer_printf(w->out, " => {\n");
        for (uint32_t i = 0; i < v->count; i++)
            put_state(w, s->fields[v->first + i].type, names[i], field_path(w->c, s, v, i));
        masu__buffer_printf(w->out, "}\n");
    }
    masu__buffer_printf(w->out, "}\n");
}

static void put_other(walk_text *w, const struct_item *s, const variant_item *v) {
    checker *c = w->c;
    const char **texts = CHECK_ARRAY(c, const char *, v->count + 1);
    for (uint32_t i = 0; i < v->count; i++) {
        const type *t = s->fields[v->first + i].type;
        if (!is_made_again(c, t))
            return;
        texts[i] = check_printf(c, "s.%s(%s)", derive_is_said(type_resolve(c->types, t)) ? "__said" : "__next",
                                field_path(c, s, v, i));
    }
    masu__buffer_printf(w->out, "\"%s\" => { if s.mode == 1 { ", v->name);
    for (uint32_t i = 0; i < v->count; i++)
        masu__buffer_printf(w->out, "%s ", expectation(c, s->fields[v->first + i].type, field_path(c, s, v, i)));
    masu__buffer_printf(w->out, "} else { *self = ");
    put_variant(w, s, v, texts);
    masu__buffer_printf(w->out, "; } }\n");
}

/* The value begins as the variant that the file says. */
static void put_made_variant(walk_text *w, const struct_item *s) {
    masu__buffer_printf(w->out, "{ " AT "match s.__made_variant(path).as_str() {\n");
    for (uint32_t k = 0; k < s->variant_count; k++) {
        const char *blank = blank_of_variant(w->c, s, &s->variants[k], "Self", NULL);
        if (blank != NULL)
            masu__buffer_printf(w->out, "\"%s\" => { *self = %s; }\n", s->variants[k].name, blank);
    }
    masu__buffer_printf(w->out, "_ => {} }\n");
}

static void put_variants(walk_text *w, const struct_item *s) {
    put_made_variant(w, s);
    masu__buffer_printf(w->out, "let __here = match self {\n");
    for (uint32_t k = 0; k < s->variant_count; k++) {
        put_variant(w, s, &s->variants[k], names_of(w, &s->variants[k]));
        masu__buffer_printf(w->out, " => \"%s\",\n", s->variants[k].name);
    }
    masu__buffer_printf(w->out, "};\nif s.__same_variant(path, __here) {\n");
    put_present(w, s);
    masu__buffer_printf(w->out, "} else { match s.__variant(path).as_str() {\n");
    for (uint32_t k = 0; k < s->variant_count; k++)
        put_other(w, s, &s->variants[k]);
    masu__buffer_printf(w->out, "_ => { s.__differing(path, __here); } } } }");
}

static void put_fields(walk_text *w, const struct_item *s) {
    masu__buffer_printf(w->out, "{ " AT);
    for (uint32_t i = 0; i < s->field_count; i++) {
        const char *name = s->fields[i].name;
        put_state(w, s->fields[i].type, check_printf(w->c, "self.%s", name), check_printf(w->c, "__at + \"%s\"", name));
    }
    masu__buffer_printf(w->out, "}");
}

void derive_put_state(checker *c, masu__buffer *out, const struct_item *s, derive_reaches *reaches) {
    walk_text w = {.c = c, .out = out, .reaches = reaches};
    (s->is_enum ? put_variants : put_fields)(&w, s);
}
