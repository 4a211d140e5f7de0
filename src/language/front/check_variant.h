/* check_variant.h: enums (check_variant.c; check_variants.c: which a name means), match, patterns, `?` (check_match.c),
 * which values a match forgets (check_exhaust.c).
 */
#ifndef MASU_LANGUAGE_CHECK_VARIANT_H
#define MASU_LANGUAGE_CHECK_VARIANT_H

#include "language/front/check_context.h"

bool check_unit_struct(checker *c, expr *e); /* the name of a struct without fields is its value */
int64_t check_find_variant(const struct_item *s, const char *name); /* -1: none */
void check_enum_tags(checker *c, struct_item *s);
void check_import_variants(checker *c, struct_item *s);
bool check_variant_call(checker *c, expr *e, const type *expected);
bool check_variant_name(checker *c, expr *e, const type *expected);
/* `()` where a value is needed, as in Result<(), E>: an empty struct. NULL: there is no prelude. */
const type *check_unit_type(const checker *c);
bool check_unit_value(checker *c, expr **slot); /* () as one */
bool check_variant_struct(checker *c, expr *e, const type *expected);
bool check_report_variant(checker *c, const expr *e);
void check_variant_pattern(checker *c, pattern *p, const type *t, void (*part)(checker *c, pattern *p, const type *t));
bool check_name_is_pattern(checker *c, pattern *p);
void check_pattern(checker *c, pattern *p, const type *t); /* of a match; declares its names */
/* Arms that nothing reaches, and values that none matches. */
void check_exhaustive(checker *c, const expr *match, const type *t);
void check_try(checker *c, expr **slot, const type *expected);
void check_match(checker *c, expr **slot, const type *expected);
/* return Err(error), of a Result of type `result` whose error may have to become another one; NULL: return None */
expr *check_failure(checker *c, source_span span, expr *error, const type *result);
void check_finish_failure(checker *c, expr *e);
/* There is no such variant: says so, with what is near. */
void check_unknown_variant(checker *c, source_span span, const struct_item *s, const char *name);

#endif
