/* check_walk.h: the one place where a file of this room calls what lies above it. A body is a tree: an expression is
 * made of expressions, and of blocks, whose statements are made of them again. So what checks a call checks its
 * arguments, and each of them may be a call.
 *
 *     check_expr ─► the form of the node: check_all_forms, in check_expr.c, which sees every form
 *          ▲                 │
 *          └─────────────────┘ its parts
 *
 * No other call goes up: a file of a form includes what it is made of, never what may be made of it. A form that is
 * written out as another is put into its slot, unchecked, and goes through check_expr as well.
 */
#ifndef MASU_LANGUAGE_CHECK_WALK_H
#define MASU_LANGUAGE_CHECK_WALK_H

#include "language/types/check_context.h"

typedef struct check_walk {
    void (*expression)(checker *c, expr **slot, const type *expected); /* not checked yet */
    void (*let)(checker *c, stmt *s);
    /* A function, an iterator or a value with the trait becomes one of the dyn type. False when its type cannot. */
    bool (*to_dyn)(checker *c, expr **slot, const type *to);
} check_walk;

extern const check_walk check_all_forms; /* for check.c, which begins the walk */

void check_expr(checker *c, expr **slot, const type *expected);
/* The method or call in *slot once more, after its receiver or its name has become another. */
void check_again(checker *c, expr **slot, const type *expected);
void check_list(checker *c, expr **items, uint32_t count); /* each without an expectation, for their own mistakes */
/* The arguments of a call that takes what is not known: for their own mistakes. */
void check_lost_arguments(checker *c, expr *call);
void check_let(checker *c, stmt *s);
bool check_dyn_convert(checker *c, expr **slot, const type *to);

#endif
