/* check_array.c: how long an array is: by its form, by its type, by what it was made of.
 *
 *     [1, 2, 3].map(f)        [U; 3], where f yields a U; of a list, or of its iterator, it is a Vec<U>
 *
 * What must stay true (tests/golden/lang_arrays_mapped): what `map` makes of an array is an array as long.
 */
#include "language/front/check_call.h"
#include "language/front/check_convert.h"
#include "language/front/check_expr.h"
#include "language/library/library.h"
#include "language/types/check_context.h"
#include "language/types/check_written.h"

/* -1: it is not written as an array, or not with a known length. */
static int64_t written_count(checker *c, expr *e) {
    int64_t count = -1;
    if (e->kind == EXPR_REPEAT)
        return check_constant_integer(c, &e->repeat.count, &count, "a count") ? count : -1;
    return e->kind == EXPR_ARRAY ? (int64_t)e->list.count : -1;
}

int64_t check_items_of(checker *c, expr **slot) {
    slot = check_behind(slot);
    expr *e = *slot;
    if (e->kind == EXPR_ARRAY || (e->type == NULL && e->kind == EXPR_REPEAT))
        return written_count(c, e);
    check_expr(c, slot, NULL);
    const type *t = type_resolve(c->types, (*slot)->type);
    return t->kind == TYPE_VEC ? t->vec.length : -1;
}

/* An iterator that is written out: what it is called on is a list to the checker, too. */
static bool is_asked_one_by_one(const expr *e) {
    while (e->kind == EXPR_METHOD && library_said_of(LIBRARY_hands_on, e->call.name) != SAID_ITERATE &&
           library_said_of(LIBRARY_hands_on, e->call.name) != SAID_NOTHING)
        e = e->call.receiver;
    return e->kind == EXPR_METHOD && library_said_of(LIBRARY_hands_on, e->call.name) == SAID_ITERATE;
}

array_map check_array_map(checker *c, const expr *e) {
    const bool maps = e->call.arg_count == 1 && library_said_of(LIBRARY_stage, e->call.name) == SAID_MAP;
    if (!maps || is_asked_one_by_one(e->call.receiver))
        return (array_map){NULL, -1};
    expr *receiver = e->call.receiver;
    return (array_map){receiver, receiver->type == NULL ? written_count(c, receiver) : -1};
}

void check_become_array(checker *c, expr *e, const array_map *m) {
    if (m->receiver == NULL || m->receiver->type == NULL || e->type == NULL)
        return;
    const type *from = type_resolve(c->types, m->receiver->type), *made = type_resolve(c->types, e->type);
    if (from->kind != TYPE_VEC || made->kind != TYPE_VEC || made->vec.length != -1)
        return;
    const int64_t length = m->length >= 0 ? m->length : from->vec.length;
    if (length >= 0)
        e->type = type_array(c->types, made->vec.element, length);
}
