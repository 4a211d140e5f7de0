/* elaborate_capture.c: a closure with `move` that names parts of a variable only takes these parts, and the others stay
 * where they are. It matters where a part has a destructor: the borrow check marked the variable.
 *
 *     struct <closure> { x }, made of x          self.x.n
 *     ─►  struct <closure> { <part> }, made of x.n     self.<part>
 *
 * A value with a destructor of its own is taken whole, but for what is copied out of it.
 * What must stay true (tests/rust/programs/closures_take_parts.tl): all uses of
 * the field are paths that begin with one of the parts, or nothing is rewritten.
 */
#include "language/elaborate/elaboration.h"

enum { PARTS_MAX = 8, STEPS_MAX = 8 };

typedef struct part {
    const expr *of; /* the first use: x.a.b */
    uint32_t steps; /* from the variable */
} part;

typedef struct capture {
    elaboration *el;
    struct_item *s;
    uint32_t field; /* the variable */
    part parts[PARTS_MAX];
    uint32_t count;
    uint32_t index[PARTS_MAX]; /* of the fields that they become */
    bool whole;                /* a use is of all of it, or there are too many parts */
    bool rewrites;
} capture;

static bool is_step(const expr *e) {
    return e->kind == EXPR_FIELD || e->kind == EXPR_TUPLE_FIELD;
}

static bool is_variable(const capture *c, const expr *e) {
    return e->kind == EXPR_FIELD && e->field.base->kind == EXPR_NAME &&
           e->field.base->name.binding == c->s->closure->parameters[0] && e->field.index == c->field;
}

/* Steps from the variable to e; -1: e does not begin with it. */
static int steps_of(const capture *c, const expr *e) {
    int steps = 0;
    for (; !is_variable(c, e); e = e->field.base, steps++)
        if (!is_step(e) || steps == STEPS_MAX)
            return -1;
    return steps;
}

static const expr *prefix(const expr *e, uint32_t from, uint32_t to) {
    for (; from > to; from--)
        e = e->field.base;
    return e;
}

static bool is_copied_out(const expr *e) {
    const type *t = e->type, *base = e->field.base->type;
    if (t->kind == TYPE_STRUCT)
        return t->structure->is_copy || (t->structure->template != NULL && t->structure->template->is_copy);
    if (t->kind == TYPE_STRING && base->kind == TYPE_STRUCT) {
        const type_expr *written = base->structure->fields[e->field.index].annotation;
        return written && written->is_shared;
    }
    return t->kind < TYPE_SCALAR_END && t->kind != TYPE_STRING;
}

/* How much of the path is taken: up to what has a destructor of its own. */
static uint32_t taken_steps(const expr *e, uint32_t steps) {
    uint32_t taken = steps;
    for (uint32_t i = 0; i < steps && steps > 0 && !is_copied_out(e); i++) {
        const type *base = prefix(e, steps, i)->type;
        if (base->kind == TYPE_STRUCT && base->structure->cell)
            return i;
    }
    return taken;
}

static bool same_path(const expr *a, const expr *b, uint32_t steps) {
    for (; steps > 0; steps--, a = a->field.base, b = b->field.base)
        if (a->field.index != b->field.index)
            return false;
    return true;
}

static bool begins_with(const expr *e, uint32_t steps, const part *p) {
    return steps >= p->steps && same_path(prefix(e, steps, p->steps), prefix(p->of, p->steps, p->steps), p->steps);
}

static void add(capture *c, const expr *e, uint32_t steps) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < c->count; i++)
        if (begins_with(e, steps, &c->parts[i]))
            return;
    part made = {e, steps};
    for (uint32_t i = 0; i < c->count; i++)
        if (!begins_with(c->parts[i].of, c->parts[i].steps, &made))
            c->parts[kept++] = c->parts[i];
    c->count = kept;
    c->whole |= c->count == PARTS_MAX;
    if (!c->whole)
        c->parts[c->count++] = made;
}

/* e becomes self.<part>. */
static void become_field(capture *c, expr *e, uint32_t index) {
    const expr *variable = e;
    while (!is_variable(c, variable))
        variable = variable->field.base;
    expr *self = variable->field.base;
    e->kind = EXPR_FIELD;
    e->field.base = self;
    e->field.name = c->s->fields[index].name;
    e->field.index = index;
}

static void rewrite_use(capture *c, expr *e, uint32_t steps) {
    for (uint32_t i = 0; i < c->count; i++) {
        if (!begins_with(e, steps, &c->parts[i]))
            continue;
        for (; steps > c->parts[i].steps; steps--)
            e = e->field.base;
        become_field(c, e, c->index[i]);
        return;
    }
}

static void visit(expr *e, void *context) {
    capture *c = context;
    int steps = steps_of(c, e);
    if (steps < 0) {
        expr_each_child(e, visit, c);
        return;
    }
    if (c->rewrites) {
        rewrite_use(c, e, (uint32_t)steps);
        return;
    }
    uint32_t taken = taken_steps(e, (uint32_t)steps);
    c->whole |= taken == 0;
    if (!c->whole)
        add(c, prefix(e, (uint32_t)steps, taken), taken);
}

/* x.a.b in the function around, of the path in the closure's body. */
static expr *path_outside(capture *c, const expr *of, expr *variable) {
    if (is_variable(c, of))
        return variable;
    expr *e = elaborate_new(c->el, of->kind, variable->span, of->type);
    if (e) {
        e->field = of->field;
        e->field.base = path_outside(c, of->field.base, variable);
    }
    return c->el->out_of_memory ? NULL : e;
}

static void take_parts(capture *c, expr *e, block *body) {
    masu__arena *arena = c->el->tree->arena;
    struct_item *s = c->s;
    uint32_t count = s->field_count + c->count - 1;
    struct_field *fields = MASU_ARENA_ARRAY(arena, struct_field, count + 1);
    expr **operands = MASU_ARENA_ARRAY(arena, expr *, count + 1), *variable = e->call.operands[c->field];
    c->el->out_of_memory |= !fields || !operands;
    if (c->el->out_of_memory)
        return;
    for (uint32_t i = 0; i < s->field_count; i++) {
        fields[i] = s->fields[i];
        operands[i] = e->call.operands[i];
    }
    for (uint32_t i = 0; i < c->count; i++) {
        uint32_t at = c->index[i] = i == 0 ? c->field : s->field_count + i - 1;
        fields[at] = s->fields[c->field];
        fields[at].name = "<part>";
        fields[at].type = c->parts[i].of->type;
        operands[at] = path_outside(c, c->parts[i].of, variable);
        c->parts[i].of = expr_copy(arena, c->parts[i].of); /* the use itself is rewritten */
        c->el->out_of_memory |= !c->parts[i].of;
    }
    if (c->el->out_of_memory)
        return;
    s->fields = fields;
    s->field_count = e->call.operand_count = count;
    e->call.operands = operands;
    uint32_t size = 1;
    for (uint32_t i = 0; i < count; i++)
        size = fields[i].type->size > UINT32_MAX - size ? UINT32_MAX : size + fields[i].type->size;
    type_set_size(s->type, size);
    expr all = {.kind = EXPR_BLOCK, .block = body};
    c->rewrites = true;
    expr_each_child(&all, visit, c);
}

/* The variable is the program's own, and a part of it is all that the closure names. */
static bool takes_a_part(const elaboration *el, const struct_item *s, uint32_t field) {
    const binding *b = s->fields[field].captured;
    const unsigned marks = b ? owner_marks_at(el->tree->marks, b->span) : 0;
    return (marks & MARK_CAPTURED_PART) && !(marks & (MARK_CAPTURED | MARK_POINTER | MARK_LENT)) &&
           !s->fields[field].by_reference;
}

void elaborate_capture(elaboration *el, expr *e) {
    struct_item *s = e->call.kind == CALL_STRUCT && e->type->kind == TYPE_STRUCT ? e->type->structure : NULL;
    if (!el->tree->marks || !s || !s->closure || !s->closure->is_closure || !s->closure->is_move)
        return;
    for (uint32_t i = s->field_count; i-- > 0 && !el->out_of_memory;) {
        if (!takes_a_part(el, s, i))
            continue;
        capture c = {.el = el, .s = s, .field = i};
        expr all = {.kind = EXPR_BLOCK, .block = s->closure->body};
        expr_each_child(&all, visit, &c);
        if (!c.whole && c.count > 0)
            take_parts(&c, e, s->closure->body);
    }
}
