/* check_in_place.c: methods of tensors that change what they are called on and yield it, whose names end in `_`.
 *
 *     x.mul_(2.0).add_(1.0)     { x.mul_(2.0); x.add_(1.0) }
 *     w[i].mul_(2.0)            { let mut <row> = w[i]; <row>.mul_(2.0); w[i] = <row>; <row> }
 *
 * The place is found once, and its indices are computed once. What a mask or a list of places picks is a copy, as in
 * PyTorch: nothing is written back, and a warning says so where nothing else sees the result.
 */
#include <string.h>

#include "language/front/check_closure.h"
#include "language/front/check_expr.h"
#include "language/front/check_place.h"
#include "language/library/library.h"
#include "language/types/check_context.h"
#include "language/types/check_scopes.h"
#include "language/types/check_written.h"

bool check_yields_receiver(const checker *c, const expr *e) {
    if (e->kind != EXPR_METHOD || e->type != NULL || !library_says(LIBRARY_yields_receiver, e->call.name))
        return false;
    for (uint32_t i = 0; i < c->tree->function_count; i++) { /* the program's own may be of another type */
        const function_item *f = c->tree->functions[i];
        if (f->span.file != c->tree->prelude && f->has_self && strcmp(f->name, e->call.name) == 0)
            return false;
    }
    return true;
}

expr *check_freeze_changed(block_builder *b, expr *e) {
    checker *c = b->c;
    expr *place = check_freeze(b, &e->call.receiver);
    if (place == NULL || check_type_of(c, place)->kind != TYPE_TENSOR)
        return NULL;
    expr *call = build_method(c, e->span, check_alias_copy(c, place), e->call.name, e->call.args, e->call.arg_count);
    call->call.name_span = e->call.name_span;
    check_expr(c, &call, NULL);
    check_call_wrap(c, &call);
    build_stmt(b, call);
    return place;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* An index whose ranges may be written twice. */
static bool has_plain_ranges(const expr *part) {
    for (uint32_t i = 0; i < part->index.count; i++) {
        const expr *r = part->index.indices[i];
        if (r->kind == EXPR_RANGE && ((r->range.low != NULL && !check_is_harmless(r->range.low, 0)) ||
                                      (r->range.high != NULL && !check_is_harmless(r->range.high, 0))))
            return false;
    }
    return true;
}

/* Holds the indices that are not ranges. Whether they name one part, not several places. */
static bool hold_indices(block_builder *b, expr *part) {
    checker *c = b->c;
    bool one = true;
    for (uint32_t i = 0; i < part->index.count; i++) {
        expr **at = &part->index.indices[i];
        one &= (*at)->kind != EXPR_ARRAY;
        if ((*at)->kind == EXPR_RANGE || (*at)->kind == EXPR_ARRAY)
            continue;
        check_expr(c, at, NULL);
        if (type_is_integer(check_type_of(c, *at))) {
            const expr *held = check_hold(b, *at, "at");
            *at = check_new_name(c, held->span, held->name.name);
        } else {
            (*at)->is_unjudged = true;
            one = false;
        }
    }
    return one;
}

/* The same part once more, to be written; what is in its ranges is not checked yet. */
static expr *copy_part(checker *c, const expr *part) {
    expr *copy = check_new(c, EXPR_INDEX, part->span, NULL);
    *copy = *part;
    copy->index.base = check_alias_copy(c, part->index.base);
    copy->index.indices = CHECK_ARRAY(c, expr *, part->index.count);
    for (uint32_t i = 0; i < part->index.count; i++)
        copy->index.indices[i] = check_copy_tree(c, part->index.indices[i]);
    return copy;
}

/* The chain of methods in *slot works on the part that *row is. */
static void change_row(block_builder *b, expr **slot, expr **row) {
    checker *c = b->c;
    expr *part = *row, *target = copy_part(c, part);
    char *name = check_printf(c, "<row %u>", c->text_count++);
    block_builder alone = build_block(c, b->span);
    build_let(&alone, name, true, part);
    check_build_let(b, alone.last);
    *row = check_new_name(c, part->span, name);
    check_expr(c, slot, NULL);
    check_call_wrap(c, slot);
    build_stmt(b, *slot);
    expr *put = build_assign(c, part->span, target, check_new_name(c, part->span, name));
    check_expr(c, &put, check_scalar(c, TYPE_VOID));
    build_stmt(b, put);
    *slot = check_new_name(c, part->span, name);
    check_expr(c, slot, NULL);
}

static bool has_range(const expr *e) {
    bool any = false;
    for (uint32_t i = 0; i < e->index.count; i++)
        any |= e->index.indices[i]->kind == EXPR_RANGE;
    return any;
}

/* t[i][j] of a tensor t is t[i, j]. */
static void join_indices(checker *c, expr *part, const expr *inner) {
    const uint32_t n = inner->index.count;
    expr **all = CHECK_ARRAY(c, expr *, n + part->index.count);
    for (uint32_t i = 0; i < n + part->index.count; i++)
        all[i] = i < n ? inner->index.indices[i] : part->index.indices[i - n];
    part->index.base = inner->index.base;
    part->index.indices = all;
    part->index.count += n;
}

/* Freezes the place of which e is a part; whether that is a tensor, and e one index behind it. */
static bool freeze_whole(block_builder *b, expr *e) {
    checker *c = b->c;
    expr *base = e->index.base;
    if (base->kind == EXPR_INDEX && base->type == NULL && !has_range(base)) {
        if (freeze_whole(b, base)) {
            join_indices(c, e, base);
            return true;
        }
    }
    expr *place = check_freeze(b, &e->index.base);
    if (place != NULL)
        e->index.base = place;
    else
        check_expr(c, &e->index.base, NULL); /* a value, such as a number: it is not asked again */
    return place != NULL && check_type_of(c, place)->kind == TYPE_TENSOR;
}

/* The innermost thing that e is a part of. */
static const expr *root_of(const expr *e) {
    while (e->kind == EXPR_INDEX)
        e = e->index.base;
    return e;
}

bool check_changed_row(checker *c, expr **slot, const type *expected) {
    expr *e = *slot, **row = &e;
    while (check_yields_receiver(c, *row))
        row = &(*row)->call.receiver;
    expr *part = *row;
    if (part == e || part->kind != EXPR_INDEX || part->type != NULL || root_of(part)->type != NULL ||
        !has_plain_ranges(part))
        return false;
    block_builder b = build_block(c, e->span);
    const uint32_t mark = check_scope_open(c);
    if (freeze_whole(&b, part) && hold_indices(&b, part)) {
        change_row(&b, &e, row);
    } else {
        check_expr(c, &e, expected);
        check_call_wrap(c, &e);
    }
    check_scope_close(c, mark);
    *slot = b.last == NULL ? e : build_checked(&b, e);
    return true;
}
