/* check_derive_record.c: what makes a struct of a record of text (library/csv.tl), written from the struct's fields.
 *
 *     T::__of_record(r)
 *
 *         { Self { name: r.__text(0), age: if r.__is_missing(1) { None } else { Some(r.__whole(1)) } } }
 */
#include "language/front/check_derive_record.h"
#include "language/types/check_variants.h"
#include "language/types/check_written.h"

bool derive_is_read(checker *c, const type *t) {
    t = type_resolve(c->types, t);
    t = check_is_form(c, t, SAID_OPTION) ? type_resolve(c->types, t->structure->arguments[0]) : t;
    return t->kind >= TYPE_BOOL && t->kind < TYPE_SCALAR_END;
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

void derive_put_record(checker *c, masu__buffer *out, const struct_item *s) {
    masu__buffer_printf(out, "{ Self %c\n", s->positional ? '(' : '{');
    for (uint32_t i = 0; i < s->field_count; i++) {
        const struct_field *field = &s->fields[i];
        if (!s->positional)
            masu__buffer_printf(out, "%s: ", field->name);
        masu__buffer_printf(out, "%s,\n", read_field(c, field->type, i));
    }
    masu__buffer_printf(out, "%c }", s->positional ? ')' : '}');
}

void derive_put_names(masu__buffer *out, const struct_item *s) {
    masu__buffer_puts(out, "{ let mut all: Vec<String> = Vec::new();\n");
    for (uint32_t i = 0; i < s->field_count; i++)
        masu__buffer_printf(out, "all.push(\"%s\");\n", s->fields[i].name);
    masu__buffer_puts(out, "all }");
}
