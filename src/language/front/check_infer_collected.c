/* check_infer_collected.c: into what `let m = it.collect();` collects, where only a later use says so.
 *
 *     let m = pairs.collect();      a list, of a type of its own
 *     Table { m }                   the field is a HashMap: so m is one, and the body is walked again
 *
 * The type of each such list has a length that no other has (TYPE_COLLECTED and below): where it meets a text or a
 * struct, the call that made it gets the answer (expr.becomes). Such types are the walk's alone.
 */
#include "language/front/check_infer.h"

const type *infer_collected(inference *n, expr *e, const type *element) {
    if (e->becomes != NULL)
        return e->becomes;
    CHECK_PUSH(n->c, n->collected, n->collected_count, n->collected_capacity, e);
    return type_array(n->c->types, element, TYPE_COLLECTED - (int64_t)(n->collected_count - 1));
}

void infer_collected_meets(inference *n, const type *list, const type *wanted) {
    bool other = wanted->kind == TYPE_STRING || wanted->kind == TYPE_STRUCT;
    if (list->kind != TYPE_VEC || list->vec.length > TYPE_COLLECTED || !other || wanted->may_have_open)
        return;
    expr *call = n->collected[TYPE_COLLECTED - list->vec.length];
    n->collects |= call->becomes == NULL;
    call->becomes = call->becomes == NULL ? wanted : call->becomes;
}
