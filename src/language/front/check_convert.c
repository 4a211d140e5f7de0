/* check_convert.c: what fits where, and conversions as nodes.
 *
 *     bool
 *     i8 → i16 → i32 → i64          every integer → f32 → f64
 *     u8 → u16 → u32 → u64          unsigned → wider signed;  usize ↔ i64
 *     a rank-0 tensor → the scalar that it holds
 *
 * Everything else needs `as`.
 */
#include <math.h>

#include "language/front/check_private.h"

/* ---- nodes ------------------------------------------------------------------------------------------------------ */

expr *check_new(checker *c, expr_kind kind, source_span span, const type *t) {
    static expr spare;
    expr *e = MASU_ARENA_NEW(c->arena, expr);
    if (e == NULL) {
        c->out_of_memory = true;
        return &spare;
    }
    e->kind = kind;
    e->span = span;
    e->type = t;
    e->height = 1;
    return e;
}
