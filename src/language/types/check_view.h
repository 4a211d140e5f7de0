/* check_view.h: how many references are before a value, as Rust counts them (check_view.c). */
#ifndef MASU_LANGUAGE_TYPES_CHECK_VIEW_H
#define MASU_LANGUAGE_TYPES_CHECK_VIEW_H

#include "language/types/check_context.h"

typedef struct view {
    uint32_t references;
    bool is_mutable;             /* the outermost is `&mut` */
    const struct view *item;     /* of what gives elements, of an Option: each; NULL: not known */
    const struct view *parts[2]; /* of a pair; NULL: not known */
} view;

const view *check_view_kept(const checker *c, view v); /* a copy that stays */
/* e is not checked yet. */
view check_view(const checker *c, const expr *e);
view check_view_of_item(view of); /* of what `for` gives over it */
/* The names of a pattern are parts of such a value. */
void check_view_pattern(checker *c, pattern *p, view of);
/* x.map(|p| …), x.fold(0, |sum, p| …): p is what x gives. */
void check_view_closures(checker *c, const expr *call);
/* The name that the method goes by for such a receiver and such an operand, as far as several impls have it. NULL:
 * there is none. t: what the operand is; NULL: not known. */
const char *check_name_by_view(checker *c, struct_item *owner, const char *name, const view *receiver,
                               const view *operand, const type *t);

#endif
