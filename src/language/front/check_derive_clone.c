/* check_derive_clone.c: clones of values of which a part says itself what its clone is, or has a destructor.
 *
 *     #[derive(Clone)] struct S { a: A, n: i32 }     where A has its own `clone`:
 *
 *         fn clone(&self) -> Self { Self { a: self.a.clone(), n: self.n } }
 *
 * A list is cloned element by element (library/clone.tl), a tuple part by part, a Box by what is in it. Where no part
 * says anything, a clone is the value itself, and costs nothing.
 */
#include <string.h>

#include "language/front/check_derive_clone.h"
#include "language/types/check_instances.h"
#include "language/types/check_scopes.h"

const char check_clone_method[] = "clone";

/* Written in the program or the library; what was derived says nothing new. */
static bool says_itself(const checker *c, const struct_item *declared) {
    const function_item *f = check_find_method(c, declared, check_clone_method);
    return f != NULL && f->has_self;
}

static type_verdict differs_itself(const type *t, void *c) {
    const struct_item *s = t->kind == TYPE_STRUCT ? t->structure : NULL;
    if (s == NULL)
        return t->kind == TYPE_TUPLE || (t->kind == TYPE_VEC && !type_is_shared(t)) ? TYPE_LOOK_INSIDE : TYPE_LACKS;
    const struct_item *declared = s->template != NULL ? s->template : s;
    return s->dyn != NULL || s->closure != NULL                                         ? TYPE_LACKS
           : says_itself(c, declared) || (declared->drop != NULL && declared->is_clone) ? TYPE_HAS
                                                                                        : TYPE_LOOK_INSIDE;
}

static bool differs(checker *c, const type *t) {
    return type_any(c->types, t, differs_itself, c);
}

/* Whether the program or what it loads of the library has any such method. */
static bool some_say(checker *c) {
    chain_sums *known = &c->instances->sums;
    for (; known->cloners_looked_at < c->tree->function_count; known->cloners_looked_at++) {
        const function_item *f = c->tree->functions[known->cloners_looked_at];
        known->has_clone |= f->has_self && f->owner_name != NULL && strcmp(f->name, check_clone_method) == 0;
    }
    return known->has_clone || c->tree->has_destructors;
}

bool check_clone_differs(checker *c, const type *t) {
    return some_say(c) && differs(c, t);
}

/* ---- the text ------------------------------------------------------------------------------------- */

static void put_part(checker *c, masu__buffer *out, const type *t, const char *place) {
    masu__buffer_printf(out, differs(c, t) ? "%s.clone()" : "%s", place);
}

static void put_struct(checker *c, masu__buffer *out, const struct_item *s) {
    masu__buffer_printf(out, "{ Self %c\n", s->positional ? '(' : '{');
    for (uint32_t i = 0; i < s->field_count; i++) {
        if (!s->positional)
            masu__buffer_printf(out, "%s: ", s->fields[i].name);
        put_part(c, out, s->fields[i].type, check_printf(c, "self.%s", s->fields[i].name));
        masu__buffer_puts(out, ",\n");
    }
    masu__buffer_printf(out, "%c }", s->positional ? ')' : '}');
}

/* Self::V(__0, __1), with or without what becomes of the parts. */
static void put_variant(checker *c, masu__buffer *out, const struct_item *s, const variant_item *v, bool cloned) {
    masu__buffer_printf(out, "Self::%s%s", v->name, v->count == 0 ? "" : v->positional ? "(" : " { ");
    for (uint32_t i = 0; i < v->count; i++) {
        const struct_field *field = &s->fields[v->first + i];
        const char *name = check_printf(c, "__%u", i);
        masu__buffer_printf(out, "%s%s%s", i > 0 ? ", " : "", v->positional ? "" : field->name,
                            v->positional ? "" : ": ");
        if (cloned)
            put_part(c, out, field->type, name);
        else
            masu__buffer_puts(out, name);
    }
    masu__buffer_puts(out, v->count == 0 ? "" : v->positional ? ")" : " }");
}

void derive_put_clone(checker *c, masu__buffer *out, const struct_item *s) {
    if (!s->is_enum) {
        put_struct(c, out, s);
        return;
    }
    masu__buffer_puts(out, "{ match self {\n");
    for (uint32_t k = 0; k < s->variant_count; k++) {
        put_variant(c, out, s, &s->variants[k], false);
        masu__buffer_puts(out, " => ");
        put_variant(c, out, s, &s->variants[k], true);
        masu__buffer_puts(out, ",\n");
    }
    masu__buffer_puts(out, "} }");
}
