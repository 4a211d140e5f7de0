/* check_wish.c: a literal that was bound without a type follows a later use.
 *
 *     let mut count = 0;              count is i64, as long as nothing else is known
 *     …; return count                 a u32 is wanted: a wish for `count`, beside the error
 *
 * A function in which an error left a wish is checked anew, from a copy that no check has touched, with the
 * wishes in place of annotations; the messages of the attempt are forgotten. So a wish never makes a right
 * program wrong: without an error nothing is repeated.
 */
#include <string.h>

#include "language/front/check_call.h"
#include "language/front/check_context.h"
#include "language/front/check_convert.h"
#include "language/front/check_expr.h"
#include "language/front/check_tensor.h"

const type *check_wish_at(const checker *c, source_span span) {
    for (uint32_t i = 0; i < c->open->wish_count; i++) {
        if (c->open->wishes[i].span.file == span.file && c->open->wishes[i].span.offset == span.offset) {
            return c->open->wishes[i].type;
        }
    }
    return NULL;
}

const type *check_wish_of(const checker *c, const binding *b) {
    return check_wish_at(c, b->span);
}

/* FLEXIBLE_LIST: lists and tuples with such numbers; a list of numbers is a tensor unless something else is
 * wanted. */
typedef enum flexible {
    FLEXIBLE_NOT,
    FLEXIBLE_LIST,
    FLEXIBLE_PAIR, /* t.topk(k): the values, until a use asks for .0 or .1 */
    FLEXIBLE_ROW /* t[i] of a tensor of unknown rank: a number, until a use shows that it is a row */
} flexible;

static flexible flexible_kind(const expr *e) {
    while (e->kind == EXPR_UNARY && e->unary.op == UNARY_NEG) {
        e = e->unary.operand;
    }
    if (e->kind == EXPR_REPEAT || (e->kind == EXPR_ARRAY && e->list.count == 0)) {
        return e->kind == EXPR_ARRAY ? FLEXIBLE_LIST : FLEXIBLE_NOT;
    }
    for (uint32_t i = 0; e->kind == EXPR_ARRAY && i < e->list.count; i++) {
        if (check_free_literal(e->list.items[i]) ||
            flexible_kind(e->list.items[i]) != FLEXIBLE_NOT) {
            return FLEXIBLE_LIST;
        }
    }
    return FLEXIBLE_NOT;
}

void check_note_flexible(binding *b, const expr *value) {
    b->flexible = (uint8_t)(check_has_places(value) ? FLEXIBLE_PAIR : flexible_kind(value));
}

/* t[i], or arithmetic with it. checked: of a tensor whose rank is not known. */
static bool holds_element(const expr *e, int depth, bool checked) {
    if (depth > 20) {
        return false;
    }
    switch (e->kind) {
    case EXPR_INDEX:
        return !checked || (e->index.base->type != NULL && e->index.base->type->kind == TYPE_TENSOR &&
                            e->index.base->type->tensor.rank < 0);
    case EXPR_UNARY:
        return e->unary.op == UNARY_NEG && holds_element(e->unary.operand, depth + 1, checked);
    case EXPR_CAST:
        return e->cast.implicit && holds_element(e->cast.operand, depth + 1, checked);
    case EXPR_BINARY:
        return e->binary.op >= BINARY_ADD && e->binary.op <= BINARY_REM &&
               (holds_element(e->binary.left, depth + 1, checked) ||
                holds_element(e->binary.right, depth + 1, checked));
    default:
        return false;
    }
}

void check_note_row(binding *b, const expr *value) {
    if (type_is_numeric(value->type) && holds_element(value, 0, true)) {
        b->flexible = FLEXIBLE_ROW;
    }
}

static bool may_become(const binding *b, const type *to) {
    switch ((flexible)b->flexible) {
    case FLEXIBLE_LIST:
        return to->kind == TYPE_VEC || to->kind == TYPE_TENSOR;
    case FLEXIBLE_PAIR:
        return to->kind == TYPE_TUPLE && to->tuple.count == 2;
    case FLEXIBLE_ROW:
        return to->kind == TYPE_TENSOR;
    default:
        return false;
    }
}

/* Lists of lists like `to`, of numbers that are open. */
static const type *list_of_open(checker *c, const type *to) {
    return to->kind == TYPE_VEC
               ? type_array(c->types, list_of_open(c, type_resolve(c->types, to->vec.element)),
                            to->vec.length >= 0 ? to->vec.length : -1)
               : type_open(c->types);
}

const type *check_wish_again(checker *c, const type *wish) {
    c->open->has_open |= wish->may_have_open;
    return wish->may_have_open ? list_of_open(c, wish) : wish;
}

static void wish_for(checker *c, const binding *b, const type *to) {
    bool made = b->name[0] == '<'; /* for a construct: several share its place */
    if (!made && may_become(b, to) && check_wish_of(c, b) == NULL && b->type != to) {
        bool list = b->flexible == FLEXIBLE_LIST && to->kind == TYPE_VEC;
        c->open->has_open |= list;
        let_wish wish = {.span = b->span,
                         .type = list ? list_of_open(c, to) : to};
        CHECK_PUSH(c, c->open->wishes, c->open->wish_count, c->open->wish_capacity, wish);
    }
}

void check_wish_binding(checker *c, const binding *b, const type *to) {
    wish_for(c, b, type_resolve(c->types, to));
}

static void wish_by_form(checker *c, const expr *e, const type *to) {
    switch (e->kind) {
    case EXPR_NAME:
        if (e->name.binding != NULL) {
            wish_for(c, e->name.binding, type_resolve(c->types, to));
        }
        return;
    case EXPR_UNARY:
        wish_by_form(c, e->unary.operand, to);
        return;
    case EXPR_CAST:
        if (e->cast.implicit) {
            wish_by_form(c, e->cast.operand, to);
        }
        return;
    case EXPR_BINARY:
        if (e->binary.op >= BINARY_ADD && e->binary.op <= BINARY_REM) {
            wish_by_form(c, e->binary.left, to);
            wish_by_form(c, e->binary.right, to);
        }
        return;
    default:
        return;
    }
}

void check_wish(checker *c, const expr *e, const type *to) {
    wish_by_form(c, e, to);
}

void check_wish_wide(checker *c, const expr *e) {
    const expr *base = e->kind == EXPR_INDEX ? e->index.base : e;
    const binding *b = base->kind == EXPR_NAME ? base->name.binding : NULL;
    const type *t = b == NULL ? NULL : type_resolve(c->types, b->type);
    if (c->open->may_repeat && t != NULL && b->flexible == FLEXIBLE_LIST && t->kind == TYPE_TENSOR) {
        wish_for(c, b, type_tensor(c->types, check_scalar(c, TYPE_F64), t->tensor.rank));
        c->open->repeat = true;
    }
}

void check_wish_vec(checker *c, const expr *e, const char *method) {
    const binding *b = e->kind == EXPR_NAME ? e->name.binding : NULL;
    bool asks = b != NULL && b->flexible == FLEXIBLE_LIST && check_only_lists_have(c, method);
    if (asks && check_wish_of(c, b) == NULL) {
        c->open->has_open = true;
        let_wish wish = {.span = b->span, .type = type_vec(c->types, type_open(c->types))};
        CHECK_PUSH(c, c->open->wishes, c->open->wish_count, c->open->wish_capacity, wish);
    }
}

bool check_wish_row(checker *c, const expr *e) {
    const binding *b = e->kind == EXPR_NAME ? e->name.binding : NULL;
    if (b == NULL || b->flexible != FLEXIBLE_ROW || c->nest->comprehension != NULL) {
        return false;
    }
    wish_for(c, b, type_tensor(c->types, type_resolve(c->types, b->type), -1));
    c->open->repeat = true;
    return true;
}

static bool binds_flexible(const block *b) {
    for (const stmt *s = b->first; s != NULL; s = s->next) {
        binding probe = {0};
        if (s->kind == STMT_LET && s->value != NULL && s->annotation == NULL) {
            check_note_flexible(&probe, s->value);
            probe.flexible |= holds_element(s->value, 0, false);
        }
        if (probe.flexible != 0) {
            return true;
        }
    }
    return false;
}

/* Only the block's own statements are looked at here: its parts are among e's children. */
static void find_flexible(expr *e, void *context) {
    bool *found = context;
    const block *b = e->kind == EXPR_BLOCK ? e->block
                     : e->kind == EXPR_WHILE || e->kind == EXPR_LOOP || e->kind == EXPR_FOR
                         ? e->loop->body
                     : e->kind == EXPR_IF ? e->branch.then
                                          : NULL;
    *found = *found || (b != NULL && binds_flexible(b));
    if (!*found) {
        expr_each_child(e, find_flexible, context);
    }
}

bool check_has_flexible(const block *b) {
    bool found = binds_flexible(b);
    for (const stmt *s = b->first; s != NULL && !found; s = s->next) {
        if (s->value != NULL) {
            find_flexible(s->value, &found);
        }
    }
    if (!found && b->result != NULL) {
        find_flexible(b->result, &found);
    }
    return found;
}
