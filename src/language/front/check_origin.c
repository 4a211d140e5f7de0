/* check_origin.c: numbers that were written out without a type, and parse() without one, found behind what they made.
 *
 *     let v = vec![3, 1, 2];
 *     let (a, b): (Vec<i32>, Vec<i32>) = v.iter().partition(|x| **x > 1);
 *
 * The call yields lists of i64 because nothing told the three literals otherwise. A value of which only such numbers
 * are wrong leaves a wish for each literal that stands in it, in the `let`, loop or `match` that its names come from,
 * or in a closure's result; the function is then checked anew with them (check_wish.c).
 *
 * A path says which part of tuples is meant, the outermost in the lowest four bits, each counted from 1: of `(_, (a, _))`
 * the path of `a` is 0x12. A tuple takes the lowest part off; 0 means all of it.
 *
 * What must stay true: only literals that no type reached follow; the walk is bounded.
 */
#include <string.h>

#include "language/front/check_private.h"

enum { STEPS_MAX = 4000, DEPTH_MAX = 200, PATH_BITS = 4, PART_MAX = 15 };

typedef struct origin_walk {
    checker *c;
    const type *from, *to; /* of the numbers */
    uint32_t steps, depth, path;
    bool only_parse;
} origin_walk;

/* The first pair of numbers in which the two types differ; false: there is none that literals can mend. */
static bool numbers_differ(checker *c, const type *from, const type *to, origin_walk *w) {
    from = type_resolve(c->types, from);
    to = type_resolve(c->types, to);
    if (from == to) {
        return false;
    }
    if (type_is_numeric(from) && to->kind != TYPE_OPEN && !type_is_silent(to)) {
        w->from = from;
        w->to = to;
        return from->kind == TYPE_I64 || (from->kind == TYPE_F32 && to->kind == TYPE_F64);
    }
    if (from->kind != to->kind) {
        return false;
    }
    bool found = false;
    if (from->kind == TYPE_VEC) {
        return numbers_differ(c, from->vec.element, to->vec.element, w);
    }
    if (from->kind == TYPE_TUPLE && from->tuple.count == to->tuple.count) {
        for (uint32_t i = 0; !found && i < from->tuple.count; i++) {
            found = numbers_differ(c, from->tuple.items[i], to->tuple.items[i], w);
        }
    }
    const struct_item *a = from->kind == TYPE_STRUCT ? from->structure : NULL;
    if (a != NULL && a->template != NULL && a->template == to->structure->template) {
        for (uint32_t i = 0; !found && i < a->template->generics.count; i++) {
            found = numbers_differ(c, a->arguments[i], to->structure->arguments[i], w);
        }
    }
    return found;
}

static void walk_origin(expr *e, void *context);

static uint32_t bits_of(uint32_t path) {
    uint32_t bits = 0;
    for (; path != 0; path >>= PATH_BITS) {
        bits += PATH_BITS;
    }
    return bits;
}

/* What a call gives to the parameter of a closure: whatever it was given itself. */
static void walk_received(origin_walk *w, expr *call) {
    if (call->kind != EXPR_CALL || call->call.operand_count == 0) {
        walk_origin(call, w);
        return;
    }
    for (uint32_t i = 0; i < call->call.operand_count; i++) {
        const expr *operand = call->call.operands[i];
        bool closure = operand->kind == EXPR_CALL && operand->call.kind == CALL_STRUCT &&
                       operand->call.structure->closure != NULL;
        if (!closure) {
            walk_origin(call->call.operands[i], w);
        }
    }
}

static bool is_one_of(const char *name, const char *const *names) {
    while (*names != NULL && strcmp(*names, name) != 0) {
        names++;
    }
    return *names != NULL;
}

/* What map() yields is made by its closure: its list comes into it by way of the closure's parameter. What filter()
 * yields comes from its list. */
static bool walk_made(origin_walk *w, expr *e) {
    static const char *const makers[] = {"map", "flat_map", "filter_map", NULL};
    static const char *const choosers[] = {"filter", "take_while", "skip_while", "inspect",
                                           "find",   "max_by_key", "min_by_key", "max_by",
                                           "min_by", "partition",  NULL};
    const char *name = e->call.function == NULL ? "" : e->call.function->name;
    if (is_one_of(name, choosers)) {
        walk_received(w, e);
        return true;
    }
    bool made = is_one_of(name, makers);
    for (uint32_t i = 1; made && i < e->call.operand_count; i++) {
        walk_origin(e->call.operands[i], w);
    }
    return made;
}

static void walk_binding(origin_walk *w, binding *b) {
    if (b->origin == NULL || b->origin_seen) {
        return;
    }
    uint32_t path = w->path;
    b->origin_seen = true;
    w->path = b->origin_path == 0 ? path : (path << bits_of(b->origin_path)) | b->origin_path;
    if (b->kind == BINDING_PARAMETER) {
        walk_received(w, b->origin);
    } else {
        walk_origin(b->origin, w);
    }
    b->origin_seen = false;
    w->path = path;
}

/* (a, b): the part that is meant, or all. */
static void walk_tuple(origin_walk *w, expr *e) {
    uint32_t path = w->path, part = path & PART_MAX;
    if (part == 0 || part > e->list.count) {
        expr_each_child(e, walk_origin, w);
        return;
    }
    w->path = path >> PATH_BITS;
    walk_origin(e->list.items[part - 1], w);
    w->path = path;
}

/* enumerate() and zip() put tuples around what they are given. */
static bool walk_pairs(origin_walk *w, expr *e) {
    const char *name = e->call.function == NULL ? "" : e->call.function->name;
    bool numbers = strcmp(name, "enumerate") == 0, pairs = strcmp(name, "zip") == 0;
    uint32_t path = w->path, part = path & PART_MAX;
    if ((!numbers && !pairs) || part == 0 || e->call.operand_count == 0) {
        return false;
    }
    w->path = path >> PATH_BITS;
    if (numbers && part == 2) {
        walk_origin(e->call.operands[0], w);
    } else if (pairs && part <= e->call.operand_count) {
        walk_origin(e->call.operands[part - 1], w);
    }
    w->path = path;
    return true;
}

static bool is_free(const expr *e, const type *from) {
    type_kind suffix = e->kind == EXPR_INT     ? e->integer.suffix
                       : e->kind == EXPR_FLOAT ? e->floating.suffix
                                               : TYPE_ERROR;
    return suffix == TYPE_VOID && e->is_default && e->type == from;
}

/* "12".parse(), of which nothing said what it is to yield */
static bool is_free_parse(const expr *e, const type *from) {
    return e->kind == EXPR_CALL && e->is_default && from->kind == TYPE_I64;
}

static void walk_origin(expr *e, void *context) {
    origin_walk *w = context;
    if (w->depth >= DEPTH_MAX || ++w->steps > STEPS_MAX) {
        return;
    }
    w->depth++;
    if (is_free_parse(e, w->from)) {
        check_wish_number(w->c, e->call.name_span, w->to);
    } else if (w->only_parse && (e->kind == EXPR_INT || e->kind == EXPR_NAME)) {
        if (e->kind == EXPR_NAME && e->name.binding != NULL) {
            walk_binding(w, e->name.binding);
        }
    } else if (is_free(e, w->from)) {
        check_wish_number(w->c, e->span, w->to);
    } else if (e->kind == EXPR_NAME && e->name.binding != NULL) {
        check_wish_binding(w->c, e->name.binding, w->to);
        walk_binding(w, e->name.binding);
    } else if (e->kind == EXPR_FIELD && e->field.base->kind == EXPR_NAME && e->type != NULL &&
               e->field.base->name.binding != NULL &&
               e->field.base->name.binding->kind == BINDING_SELF) {
        const type *t = e->field.base->type; /* what a closure captured */
        const struct_item *s = t != NULL && t->kind == TYPE_STRUCT ? t->structure : NULL;
        if (s != NULL && s->closure != NULL && e->field.index < s->field_count) {
            binding *b = s->fields[e->field.index].captured;
            check_wish_binding(w->c, b, w->to);
            walk_binding(w, b);
        }
    } else if (e->kind == EXPR_CALL && e->call.kind == CALL_STRUCT && e->call.structure != NULL &&
               e->call.structure->closure != NULL) {
        const function_item *f = e->call.structure->closure;
        if (f->is_closure && f->body_is_checked && f->body->result != NULL) {
            walk_origin(f->body->result, w);
        }
    } else if (e->kind == EXPR_TUPLE) {
        walk_tuple(w, e);
    } else if (e->kind == EXPR_TUPLE_FIELD) {
        uint32_t path = w->path;
        w->path = (path << PATH_BITS) | (e->field.index + 1 < PART_MAX ? e->field.index + 1 : 0);
        walk_origin(e->field.base, w);
        w->path = path;
    } else if (e->kind != EXPR_CALL || (!walk_pairs(w, e) && !walk_made(w, e))) {
        expr_each_child(e, walk_origin, w);
    }
    w->depth--;
}

void check_wish_origin(checker *c, const expr *e, const type *to) {
    origin_walk w = {.c = c};
    if (c->may_repeat && e->type != NULL && numbers_differ(c, e->type, to, &w)) {
        walk_origin((expr *)e, &w);
    }
}

/* What e was made from holds numbers of type `from`, and others are wanted. */
void check_wish_behind(checker *c, const expr *e, const type *from, const type *to) {
    origin_walk w = {.c = c};
    if (c->may_repeat && e != NULL && numbers_differ(c, from, to, &w)) {
        walk_origin((expr *)e, &w);
    }
}

/* A whole number becomes one with a fraction: a parse() behind it was to read that one. */
void check_wish_parse(checker *c, const expr *e, const type *to) {
    uint32_t before = c->wish_count;
    origin_walk w = {.c = c, .from = e->type, .to = to, .only_parse = true};
    if (c->may_repeat && e->type->kind == TYPE_I64 && type_is_float(to)) {
        walk_origin((expr *)e, &w);
    }
    c->repeat |= c->wish_count != before;
}

static void note_origin(pattern *p, expr *value, uint32_t path, uint32_t bits) {
    if (p->binding != NULL) {
        p->binding->origin = value;
        p->binding->origin_path = path;
    }
    bool tuple = p->kind == PATTERN_TUPLE && !p->rest && bits + PATH_BITS <= 28;
    for (uint32_t i = 0; i < p->part_count; i++) {
        bool counted = tuple && i + 1 < PART_MAX;
        if (p->parts[i] != NULL) {
            note_origin(p->parts[i], value, counted ? path | ((i + 1) << bits) : path,
                        counted ? bits + PATH_BITS : bits);
        }
    }
}

void check_note_origin(pattern *p, expr *value) {
    note_origin(p, value, 0, 0);
}
