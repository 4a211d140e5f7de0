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

#include "language/front/check_private.h"

const type *check_wish_at(const checker *c, source_span span) {
    for (uint32_t i = 0; i < c->wish_count; i++) {
        if (c->wishes[i].span.file == span.file && c->wishes[i].span.offset == span.offset) {
            return c->wishes[i].type;
        }
    }
    return NULL;
}

const type *check_wish_of(const checker *c, const binding *b) {
    return check_wish_at(c, b->span);
}

void check_wish_number(checker *c, source_span literal, const type *to) {
    if (check_wish_at(c, literal) == NULL) {
        let_wish wish = {.span = literal, .type = to};
        CHECK_PUSH(c, c->wishes, c->wish_count, c->wish_capacity, wish);
    }
}

/* FLEXIBLE_LIST: lists and tuples with such numbers; a list of numbers is a tensor unless something else is
 * wanted. */
typedef enum flexible {
    FLEXIBLE_NOT,
    FLEXIBLE_WHOLE,
    FLEXIBLE_REAL,
    FLEXIBLE_LIST,
    FLEXIBLE_OPEN, /* Vec::new(), None: of parts that a first use decided, maybe too early */
    FLEXIBLE_RANK, /* `let mut t`: a tensor of the rank of its first value, until another one is assigned */
    FLEXIBLE_PAIR, /* t.topk(k): the values, until a use asks for .0 or .1 */
    FLEXIBLE_ROW /* t[i] of a tensor of unknown rank: a number, until a use shows that it is a row */
} flexible;

static flexible flexible_kind(const expr *e) {
    while (e->kind == EXPR_UNARY && e->unary.op == UNARY_NEG) {
        e = e->unary.operand;
    }
    switch (e->kind) {
    case EXPR_INT:
        return e->integer.suffix == TYPE_VOID ? FLEXIBLE_WHOLE : FLEXIBLE_NOT;
    case EXPR_FLOAT:
        return e->floating.suffix == TYPE_VOID ? FLEXIBLE_REAL : FLEXIBLE_NOT;
    case EXPR_ARRAY:
    case EXPR_TUPLE:
        if (e->kind == EXPR_ARRAY && e->list.count == 0) {
            return FLEXIBLE_LIST;
        }
        for (uint32_t i = 0; i < e->list.count; i++) {
            if (flexible_kind(e->list.items[i]) != FLEXIBLE_NOT) {
                return FLEXIBLE_LIST;
            }
        }
        return FLEXIBLE_NOT;
    case EXPR_REPEAT:
        return flexible_kind(e->repeat.value) != FLEXIBLE_NOT ? FLEXIBLE_LIST : FLEXIBLE_NOT;
    default:
        return FLEXIBLE_NOT;
    }
}

void check_note_flexible(binding *b, const expr *value) {
    b->flexible = (uint8_t)(check_has_places(value) ? FLEXIBLE_PAIR : flexible_kind(value));
}

void check_note_number(binding *b, const type *t) {
    b->flexible = (uint8_t)(t->kind == TYPE_I64   ? FLEXIBLE_WHOLE
                            : t->kind == TYPE_F32 ? FLEXIBLE_REAL
                                                  : FLEXIBLE_NOT);
}

/* Only numbers that are written out are what `for` counts with or runs over. part: of the tuples in the list; -1: there are none. */
static flexible counted_kind(const expr *iterable, int64_t part) {
    if (iterable->kind == EXPR_RANGE) {
        const expr *low = iterable->range.low, *high = iterable->range.high;
        return part < 0 && low != NULL && check_free_literal(low) &&
                       (high == NULL || check_free_literal(high))
                   ? FLEXIBLE_WHOLE
                   : FLEXIBLE_NOT;
    }
    flexible kind = FLEXIBLE_NOT;
    for (uint32_t i = 0; iterable->kind == EXPR_ARRAY && i < iterable->list.count; i++) {
        const expr *item = iterable->list.items[i];
        if (part >= 0 && (item->kind != EXPR_TUPLE || item->list.count <= part)) {
            return FLEXIBLE_NOT;
        }
        flexible one = flexible_kind(part < 0 ? item : item->list.items[part]);
        if (one != FLEXIBLE_WHOLE && one != FLEXIBLE_REAL) {
            return FLEXIBLE_NOT;
        }
        kind = kind == FLEXIBLE_REAL ? kind : one;
    }
    return kind;
}

static const type *wish_of_part(checker *c, const pattern *p, const expr *iterable, int64_t part) {
    if (p->kind != PATTERN_NAME || p->binding == NULL) {
        return NULL;
    }
    p->binding->flexible = (uint8_t)counted_kind(iterable, part);
    return check_wish_of(c, p->binding);
}

const type *check_wish_of_loop(checker *c, const pattern *p, const expr *iterable) {
    if (p->kind != PATTERN_TUPLE || p->rest || iterable->kind != EXPR_ARRAY) {
        return wish_of_part(c, p, iterable, -1);
    }
    const type **parts = CHECK_ARRAY(c, const type *, p->part_count + 1);
    bool any = false;
    for (uint32_t i = 0; i < p->part_count; i++) {
        parts[i] = wish_of_part(c, p->parts[i], iterable, i);
        any |= parts[i] != NULL;
    }
    for (uint32_t i = 0; any && i < p->part_count; i++) {
        c->has_open |= parts[i] == NULL;
        parts[i] = parts[i] == NULL ? type_open(c->types) : parts[i];
    }
    return any ? type_tuple(c->types, parts, p->part_count) : NULL;
}

/* Whether a number that the loop binds could follow a use. */
static bool counts_flexibly(const expr *loop) {
    const pattern *p = loop->loop->pattern;
    bool found = counted_kind(loop->loop->iterable, -1) != FLEXIBLE_NOT;
    for (uint32_t i = 0; p->kind == PATTERN_TUPLE && i < p->part_count; i++) {
        found |= counted_kind(loop->loop->iterable, i) != FLEXIBLE_NOT;
    }
    return found;
}

/* By its form; once it is checked the open parts decide. */
static bool starts_empty(const expr *e) {
    const expr *callee = e->kind == EXPR_CALL ? e->call.callee : e;
    bool named = callee != NULL && callee->kind == EXPR_NAME;
    return named &&
           (e->kind == EXPR_NAME ? strcmp(callee->name.name, "None") == 0
                                 : callee->name.scope != NULL && callee->name.argument_count == 0 &&
                                       (strcmp(callee->name.name, "new") == 0 ||
                                        strcmp(callee->name.name, "with_capacity") == 0));
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
    bool holds = value->type->kind == TYPE_STRUCT || value->type->kind == TYPE_VEC;
    if (holds && value->type->may_have_open && b->flexible == FLEXIBLE_NOT) {
        b->flexible = FLEXIBLE_OPEN;
        return;
    }
    const binding *other = value->kind == EXPR_NAME ? value->name.binding : NULL;
    if (other != NULL && b->flexible == FLEXIBLE_NOT &&
        (other->flexible == FLEXIBLE_WHOLE || other->flexible == FLEXIBLE_REAL)) {
        b->flexible = other->flexible;
        b->follows = other;
    }
    if (type_is_numeric(value->type) && holds_element(value, 0, true)) {
        b->flexible = FLEXIBLE_ROW;
    }
}

static bool may_become(const binding *b, const type *to) {
    switch ((flexible)b->flexible) {
    case FLEXIBLE_WHOLE:
        return type_is_numeric(to);
    case FLEXIBLE_REAL:
        return type_is_float(to);
    case FLEXIBLE_LIST:
        return (to->kind == TYPE_VEC || to->kind == TYPE_TUPLE) && !to->may_have_open;
    case FLEXIBLE_OPEN: {
        bool structs = to->kind == TYPE_STRUCT && b->type->kind == TYPE_STRUCT;
        return to->kind == b->type->kind && !to->may_have_open &&
               (!structs || to->structure->template == b->type->structure->template);
    }
    case FLEXIBLE_PAIR:
        return to->kind == TYPE_TUPLE && to->tuple.count == 2;
    case FLEXIBLE_RANK:
    case FLEXIBLE_ROW:
        return to->kind == TYPE_TENSOR;
    default:
        return false;
    }
}

static void wish_for(checker *c, const binding *b, const type *to) {
    if (b->follows != NULL && may_become(b, to)) {
        wish_for(c, b->follows, to);
    }
    bool made = b->name[0] == '<'; /* for a construct: several share its place */
    if (!made && may_become(b, to) && check_wish_of(c, b) == NULL && b->type != to) {
        let_wish wish = {.span = b->span, .type = to};
        CHECK_PUSH(c, c->wishes, c->wish_count, c->wish_capacity, wish);
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
    uint32_t before = c->wish_count;
    wish_by_form(c, e, to);
    if (c->wish_count == before) {
        check_wish_origin(c, e, to);
    }
}

void check_wish_vec(checker *c, const expr *e, const char *method) {
    const binding *b = e->kind == EXPR_NAME ? e->name.binding : NULL;
    bool asks = b != NULL && b->flexible == FLEXIBLE_LIST && check_only_lists_have(c, method);
    if (asks && check_wish_of(c, b) == NULL) {
        c->has_open = true;
        let_wish wish = {.span = b->span, .type = type_vec(c->types, type_open(c->types))};
        CHECK_PUSH(c, c->wishes, c->wish_count, c->wish_capacity, wish);
    }
}

void check_note_rank(binding *b) {
    b->flexible = FLEXIBLE_RANK;
}

void check_wish_rank(checker *c, const binding *b, const type *given) {
    const type *t = type_resolve(c->types, b->type);
    if (b->flexible == FLEXIBLE_RANK && given->kind == TYPE_TENSOR && t->kind == TYPE_TENSOR &&
        given->tensor.rank != t->tensor.rank) {
        wish_for(c, b, type_tensor(c->types, t->tensor.element, -1));
        c->repeat = true;
    }
}

bool check_wish_row(checker *c, const expr *e) {
    const binding *b = e->kind == EXPR_NAME ? e->name.binding : NULL;
    if (b == NULL || b->flexible != FLEXIBLE_ROW || c->comprehension != NULL) {
        return false;
    }
    wish_for(c, b, type_tensor(c->types, type_resolve(c->types, b->type), -1));
    c->repeat = true;
    return true;
}

static bool binds_flexible(const block *b) {
    for (const stmt *s = b->first; s != NULL; s = s->next) {
        binding probe = {0};
        if (s->kind == STMT_LET && s->value != NULL && s->annotation == NULL) {
            check_note_flexible(&probe, s->value);
            bool variable = s->pattern->kind == PATTERN_NAME && s->pattern->binding != NULL &&
                            s->pattern->binding->is_mutable;
            probe.flexible |= holds_element(s->value, 0, false) || variable || starts_empty(s->value);
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
    *found = *found || flexible_kind(e) != FLEXIBLE_NOT ||
             (e->kind == EXPR_METHOD && strcmp(e->call.name, "parse") == 0);
    const block *b = e->kind == EXPR_BLOCK ? e->block
                     : e->kind == EXPR_WHILE || e->kind == EXPR_LOOP || e->kind == EXPR_FOR
                         ? e->loop->body
                     : e->kind == EXPR_IF ? e->branch.then
                                          : NULL;
    *found =
        *found || (b != NULL && binds_flexible(b)) || (e->kind == EXPR_FOR && counts_flexibly(e));
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
