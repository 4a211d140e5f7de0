/* check_part.h: variables that are parts of a list without a copy, and pairs of such (check_part.c). */
#ifndef MASU_LANGUAGE_CHECK_PART_H
#define MASU_LANGUAGE_CHECK_PART_H

#include "language/front/check_build.h"
#include "language/types/check_context.h"

/* The definition of the named variable; NULL: e is something else, or checked. */
const made_of *check_made_of(const checker *c, const expr *e);

bool check_let_made(checker *c, stmt *s); /* build_let_made, or another name for such a variable */

/* Says that the part that e names, or an element of it, is written to: a copy would be. */
bool check_part_is_written(checker *c, const expr *e);

/* True: *slot is something else now, which is not checked. */
bool check_made_name(checker *c, expr **slot);   /* the value */
bool check_made_method(checker *c, expr **slot); /* __part_M of the library */
bool check_loop_over_part(checker *c, expr *e);  /* for p in part { … }: a loop over its places */

/* part[i]: the name of its length; NULL: e is another index. With both checked, the element, not checked. */
expr *check_made_length(checker *c, const expr *e);
expr *check_made_element(checker *c, const expr *e, expr *index, expr *length);

/* x, x.iter(), &x of such a part: what it is made of; NULL: something else. */
const made_of *check_elements_of_part(const checker *c, const expr *e);
/* x.M(n), where the library says with __M_count, __M_low and __M_length where the parts of a list x lie. */
bool check_gives_parts(checker *c, const expr *e);
void check_become_nothing(checker *c, stmt *s); /* a let of a name that means something else */

#endif
