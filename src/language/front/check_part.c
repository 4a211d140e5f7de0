/* check_part.c: parts of a list that are looked at without being copied.
 *
 *     for w in v.windows(2) { … w[1] … }   ─►   for <at> in 0..<list>.__windows_count(<size>) {
 *                                                   w is 2 elements of <list> from <at> on
 *                                                   … <list>[<low> + 1], 1 < <length> … }
 *
 * A variable may be made of others: of a list, a place and a length, or of a pair of variables. What is asked of it is
 * asked of them: an element, what the library has a method __part_M for, a loop over it. Anything else makes the value:
 * a list of its own, as all lists are.
 *
 * What must stay true (asserted: they are names in sight): nothing assigns to what a variable is made of while the
 * variable is in sight, so the part has the elements that it had when it was made.
 */
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "language/front/check_part.h"
#include "language/types/check_fits.h"
#include "language/types/check_instances.h"
#include "language/types/check_operation.h"
#include "language/types/check_scopes.h"

static binding *named_by(const checker *c, const expr *e) {
    const symbol *s = e->kind == EXPR_NAME && e->type == NULL && e->name.scope == NULL ? check_find(c, e->name.name)
                                                                                       : NULL;
    return s == NULL ? NULL : s->binding;
}

const made_of *check_made_of(const checker *c, const expr *e) {
    const binding *b = named_by(c, e);
    return b == NULL ? NULL : b->made_of;
}

static const made_of *part_of(const checker *c, const expr *e) {
    binding *b = named_by(c, e);
    if (b == NULL || b->made_of == NULL || b->made_of->is_pair)
        return NULL;
    b->is_read = true;
    return b->made_of;
}

/* ---- let ------------------------------------------------------------------------------------------ */

static const type *type_named(const checker *c, const char *name) {
    const symbol *s = check_find(c, name);
    return s == NULL || s->binding == NULL ? check_scalar(c, TYPE_ERROR) : s->binding->type;
}

static const type *type_of(const checker *c, const made_of *of) {
    const type *pair[2] = {type_named(c, of->names[0]), of->is_pair ? type_named(c, of->names[1]) : NULL};
    return of->is_pair ? type_tuple(c->types, pair, 2) : pair[0];
}

void check_become_nothing(checker *c, stmt *s) {
    block_builder nothing = build_block(c, s->span);
    s->kind = STMT_EXPR;
    s->pattern = NULL;
    s->annotation = NULL;
    s->value = build_finish(&nothing, NULL);
    s->value->type = s->value->block->type = check_scalar(c, TYPE_VOID);
}

static void name_it(checker *c, pattern *p, const made_of *of) {
    MASU_DEBUG_ASSERT(check_find(c, of->names[0]) != NULL);
    p->binding->made_of = of;
    check_declare(c, p->binding, type_of(c, of));
}

/* let (a, b) = pair: two lets */
static bool take_apart(checker *c, stmt *s, const made_of *of) {
    if (!of->is_pair || s->pattern->part_count != 2)
        return false;
    for (uint32_t i = 0; i < 2; i++) {
        stmt let = {.kind = STMT_LET, .span = s->span, .pattern = s->pattern->parts[i]};
        let.value = check_new_name(c, s->span, of->names[i]);
        stmt *made = CHECK_ARRAY(c, stmt, 1);
        *made = let;
        if (i == 0) {
            made->next = s->next;
            s->next = made;
        } else {
            made->next = s->next->next;
            s->next->next = made;
        }
    }
    check_become_nothing(c, s);
    return true;
}

bool check_let_made(checker *c, stmt *s) {
    const pattern *p = s->pattern;
    bool named = p->kind == PATTERN_NAME && p->binding != NULL;
    if (s->value == NULL || s->otherwise != NULL)
        return false;
    const made_of *of = named && p->binding->made_of != NULL ? p->binding->made_of : check_made_of(c, s->value);
    if (of == NULL || s->annotation != NULL)
        return false;
    if (p->kind == PATTERN_TUPLE)
        return take_apart(c, s, of);
    if (!named || p->binding->is_mutable || p->binding->is_alias)
        return false;
    binding *before = named_by(c, s->value);
    if (before != NULL)
        before->is_read = true;
    name_it(c, s->pattern, of);
    check_become_nothing(c, s);
    return true;
}

bool check_part_is_written(checker *c, const expr *e) {
    while (e->type == NULL && (e->kind == EXPR_INDEX || e->kind == EXPR_FIELD || e->kind == EXPR_TUPLE_FIELD))
        e = e->kind == EXPR_INDEX ? e->index.base : e->field.base;
    const binding *b = part_of(c, e) == NULL ? NULL : named_by(c, e);
    if (b == NULL)
        return false;
    diagnostic *d = diagnostics_say(c->diagnostics, e->span, SAY(immutable_is_written), b->name);
    diagnostics_note(c->diagnostics, d, b->span,
                     "it is a part of a list that is looked at; `chunks_mut` yields parts that can be written to");
    return true;
}

/* ---- uses ----------------------------------------------------------------------------------------- */

static expr *name_of(checker *c, const expr *e, const made_of *of, uint32_t i) {
    return check_new_name(c, e->span, of->names[i]);
}

bool check_made_name(checker *c, expr **slot) {
    binding *b = named_by(c, *slot);
    const made_of *of = b == NULL ? NULL : b->made_of;
    if (of == NULL)
        return false;
    b->is_read = true;
    const expr *e = *slot;
    expr *all[3] = {name_of(c, e, of, 0), name_of(c, e, of, 1), of->is_pair ? NULL : name_of(c, e, of, 2)};
    *slot = of->is_pair ? build_list(c, EXPR_TUPLE, e->span, all, 2)
                        : build_method(c, e->span, all[0], "__part_whole", all + 1, 2);
    return true;
}

expr *check_made_length(checker *c, const expr *e) {
    const made_of *of = e->index.count == 1 && e->index.indices[0]->kind != EXPR_RANGE ? part_of(c, e->index.base)
                                                                                       : NULL;
    return of == NULL ? NULL : name_of(c, e, of, 2);
}

/* list[low + index] */
expr *check_made_element(checker *c, const expr *e, expr *index, expr *length) {
    const made_of *of = part_of(c, e->index.base);
    check_cast_to(c, &index, check_scalar(c, TYPE_I64));
    expr *args[3] = {index, length, check_new_int(c, e->span, 1)};
    expr *inside = check_new_abi(c, TL_FN_tl_ref_index, e->span, args, 3);
    return build_inside(c, e->span, name_of(c, e, of, 0),
                        check_new_binary(c, BINARY_ADD, name_of(c, e, of, 1), inside, NULL));
}

bool check_made_method(checker *c, expr **slot) {
    expr *e = *slot;
    const made_of *of = part_of(c, e->call.receiver);
    const char *name = of == NULL ? NULL : check_printf(c, "__part_%s", e->call.name);
    if (of == NULL || check_find_method(c, check_builtin_owner(c, "Vec"), name) == NULL)
        return false;
    expr *place[2] = {name_of(c, e, of, 1), name_of(c, e, of, 2)};
    expr **args = CHECK_ARRAY(c, expr *, e->call.arg_count + 2);
    memcpy(args, place, sizeof place);
    for (uint32_t i = 0; i < e->call.arg_count; i++)
        args[2 + i] = e->call.args[i];
    *slot = build_method(c, e->span, name_of(c, e, of, 0), name, args, e->call.arg_count + 2);
    return true;
}

/* ---- loops ---------------------------------------------------------------------------------------- */

/* The library says of such a method M, with __same_M, that it yields what it is called on. */
static bool is_same(const checker *c, const char *name) {
    char same[60];
    int length = snprintf(same, sizeof same, "__same_%s", name);
    return length < (int)sizeof same && c->instances->builtin_owners[TYPE_VEC] != NULL &&
           check_find_method(c, c->instances->builtin_owners[TYPE_VEC], same) != NULL;
}

const made_of *check_elements_of_part(const checker *c, const expr *e) {
    while (e->type == NULL && ((e->kind == EXPR_UNARY && e->unary.op == UNARY_REFERENCE && !e->unary.is_mutable) ||
                               (e->kind == EXPR_METHOD && e->call.arg_count == 0 && is_same(c, e->call.name))))
        e = e->kind == EXPR_UNARY ? e->unary.operand : e->call.receiver;
    return part_of(c, e);
}

bool check_loop_over_part(checker *c, expr *e) {
    const made_of *of = check_elements_of_part(c, e->loop->iterable);
    if (of == NULL)
        return false;
    source_span span = e->loop->iterable->span;
    expr *low = check_new_name(c, span, of->names[1]);
    expr *high = check_new_binary(c, BINARY_ADD, check_new_name(c, span, of->names[1]),
                                  check_new_name(c, span, of->names[2]), NULL);
    const char *at = check_printf(c, "<at %u>", c->text_count++);
    expr *item = build_inside(c, span, check_new_name(c, span, of->names[0]), check_new_name(c, span, at));
    stmt *let = CHECK_ARRAY(c, stmt, 1);
    *let = (stmt){.kind = STMT_LET, .span = e->loop->pattern->span, .pattern = e->loop->pattern, .value = item};
    let->next = e->loop->body->first;
    e->loop->body->first = let;
    e->loop->iterable = build_range(c, span, low, high);
    e->loop->pattern = build_name(c, span, at, BINDING_LOOP);
    return true;
}

bool check_gives_parts(checker *c, const expr *e) {
    return e->kind == EXPR_METHOD && e->type == NULL && e->call.arg_count == 1 &&
           check_find_method(c, check_builtin_owner(c, "Vec"), check_printf(c, "__%s_count", e->call.name)) != NULL;
}
