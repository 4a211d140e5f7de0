/* check_variants.h: variants of enums. */
#ifndef MASU_LANGUAGE_TYPES_CHECK_VARIANTS_H
#define MASU_LANGUAGE_TYPES_CHECK_VARIANTS_H

#include "language/library/library.h"
#include "language/types/check_context.h"

/* Whether t is the type of which the library says that form (`says type_form`), or an instance of it. */
bool check_is_form(const checker *c, const type *t, library_said form);
struct_item *check_form(const checker *c, library_said form);       /* that type */
int64_t check_find_variant(const struct_item *s, const char *name); /* -1: none */
void check_enum_tags(checker *c, struct_item *s);
void check_import_variants(checker *c, struct_item *s);
/* `()` where a value is needed, as in Result<(), E>: an empty struct. NULL: there is no prelude. */
const type *check_unit_type(const checker *c);
bool check_unit_value(checker *c, expr **slot); /* () as one */
bool check_report_variant(checker *c, const expr *e);
bool check_name_is_pattern(checker *c, pattern *p);
/* There is no such variant: says so, with what is near. */
void check_unknown_variant(checker *c, source_span span, const struct_item *s, const char *name);

int64_t check_find_field(const struct_item *s, const char *name); /* -1: it has none */

#endif
