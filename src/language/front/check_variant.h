/* check_variant.h: enums (check_variant.c; check_variants.c: which a name means), match, patterns, `?` (check_match.c),
 * which values a match forgets (check_exhaust.c).
 */
#ifndef MASU_LANGUAGE_CHECK_VARIANT_H
#define MASU_LANGUAGE_CHECK_VARIANT_H

#include "language/types/check_context.h"
#include "language/types/check_variants.h"

bool check_unit_struct(checker *c, expr *e); /* the name of a struct without fields is its value */
bool check_variant_call(checker *c, expr *e, const type *expected);
bool check_variant_name(checker *c, expr *e, const type *expected);
bool check_variant_struct(checker *c, expr *e, const type *expected);
void check_variant_pattern(checker *c, pattern *p, const type *t, void (*part)(checker *c, pattern *p, const type *t));
void check_pattern(checker *c, pattern *p, const type *t); /* of a match; declares its names */
/* Arms that nothing reaches, and values that none matches. */
void check_exhaustive(checker *c, const expr *match, const type *t);
void check_try(checker *c, expr **slot, const type *expected);
void check_match(checker *c, expr **slot, const type *expected);
void check_finish_failure(checker *c, expr *e);

#endif
