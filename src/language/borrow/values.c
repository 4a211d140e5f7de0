/* values.c: places and values: what reading, referring and writing do. */
#include "language/borrow/builder.h"

void borrow_mark(builder *b, source_span span, owner_mark_kind kind) {
    owner_marks *m = b->world->marks;
    if (m != NULL && span.file != NULL) {
        const owner_mark made = {span, kind};
        MASU_ARENA_PUSH(b->world->tree->arena, m->items, m->count, m->capacity, made, /* they outlive the graph */
                        longjmp(*b->g.memory_ended, 1));
    }
}

uint32_t borrow_new_temporary(builder *b, source_span span, const sort *s) {
    uint32_t made = graph_new_variable(&b->g, NULL, span, s);
    graph_event(&b->g, b->at, (event){.kind = EVENT_CLEAR, .into = made, .span = span});
    return made;
}

value borrow_plain_value(const sort *s) {
    return (value){.sort = s, .held = NO_VARIABLE};
}

void borrow_touch(builder *b, const place *p, touch_mode mode, source_span span, const char *by) {
    event e = {.kind = EVENT_TOUCH, .mode = mode, .place = p, .span = span, .by = by};
    graph_event(&b->g, b->at, e);
}

void borrow_flow(builder *b, uint32_t into, uint32_t from, source_span span) {
    if (from != NO_VARIABLE && into != NO_VARIABLE && from != into) {
        event e = {.kind = EVENT_FLOW, .into = into, .from = from, .span = span};
        graph_event(&b->g, b->at, e);
    }
}

/* The loans in `from`, without those behind it, into any depth. */
void borrow_flow_flat(builder *b, uint32_t into, uint32_t from, source_span span) {
    if (from != NO_VARIABLE && into != NO_VARIABLE && from != into) {
        event e = {.kind = EVENT_FLOW, .into = into, .from = from, .is_flat = true, .span = span};
        graph_event(&b->g, b->at, e);
    }
}

/* The variable that holds the loans in a place: of a reference's target it is behind the reference's own. */
uint32_t borrow_held_by(builder *b, const place *p) {
    uint32_t depth = 0;
    for (uint32_t i = 0; i < p->count; i++)
        depth += p->steps[i].kind == STEP_FOLLOW;
    return graph_behind(&b->g, p->root, depth);
}

void borrow_use(builder *b, uint32_t from, source_span span) {
    if (from != NO_VARIABLE) {
        event e = {.kind = EVENT_USE, .from = from, .span = span};
        graph_event(&b->g, b->at, e);
    }
}

place *borrow_place_of_variable(builder *b, uint32_t variable) {
    place *p = GRAPH_ARRAY(&b->g, place, 1);
    p->root = variable;
    return p;
}

bool borrow_place_is_free(const place *p) {
    for (uint32_t i = 0; i < p->count; i++)
        if (p->steps[i].kind == STEP_FOLLOW && p->steps[i].is_shared)
            return true;
    return false;
}

/* Whether a place takes loans over from the variable that it begins with. */
static bool may_hold(const builder *b, uint32_t variable) {
    return variable != NO_VARIABLE && sort_holds(b->g.variables[variable].sort);
}

/* A list of which it is not known yet what is put into it. */
static bool has_open(const sort *s) {
    while (s->kind == SORT_HOLDER)
        s = s->item;
    return s->kind == SORT_UNKNOWN;
}

/* Whether loans may lie behind a reference of it. */
static bool has_behind(const sort *s) {
    switch (s->kind) {
    case SORT_REFERENCE:
        return sort_holds(s->item) || has_open(s->item);
    case SORT_HOLDER:
        return has_behind(s->item);
    case SORT_TUPLE:
        for (uint32_t i = 0; i < s->count; i++)
            if (has_behind(s->parts[i]))
                return true;
        return false;
    default:
        return s->kind == SORT_VIEW || s->kind == SORT_UNKNOWN;
    }
}

/* A reference into what others lead to lives no longer than they do; behind it is what its place holds. */
static void refer_behind(builder *b, const place *p, touch_mode mode, uint32_t into, source_span span) {
    uint32_t at = p->root, last = 0; /* what leads to a shared reference is not needed behind it */
    const sort *s = b->g.variables[p->root].sort;
    for (uint32_t i = 0; i < p->count; i++)
        last = p->steps[i].kind == STEP_FOLLOW && p->steps[i].is_shared ? i : last;
    for (uint32_t i = 0; i < p->count; i++) {
        if (p->steps[i].kind != STEP_FOLLOW)
            continue;
        if (i >= last)
            borrow_flow_flat(b, into, at, span);
        if (!has_behind(s) && b->g.variables[at].behind == 0)
            return;
        at = graph_behind(&b->g, at, 1);
    }
    uint32_t depth = b->g.variables[at].depth;
    if (mode == TOUCH_EXCLUSIVE || sort_is_shared_with(s, depth))
        b->g.variables[into].refers = at + 1;
    else if (sort_holds(s) || b->g.variables[at].behind != 0)
        borrow_flow(b, graph_behind(&b->g, into, 1), at, span);
}

void borrow_make_borrow(builder *b, const place *p, touch_mode mode, uint32_t into, source_span span, const char *by) {
    event clear = {.kind = EVENT_CLEAR, .into = into, .span = span};
    graph_event(&b->g, b->at, clear);
    event e = {.kind = EVENT_BORROW, .mode = mode, .into = into, .place = p, .span = span, .by = by};
    if (p->unsure || borrow_place_is_free(p))
        e.kind = EVENT_TOUCH;
    graph_event(&b->g, b->at, e);
    refer_behind(b, p, mode, into, span);
}

/* A value on its way becomes a variable of its own, so that it has a place. */
static value as_place(builder *b, value v, source_span span) {
    if (v.place == NULL) {
        uint32_t t = v.held;
        if (t == NO_VARIABLE)
            t = borrow_new_temporary(b, span, v.sort);
        v.place = borrow_place_of_variable(b, t);
        v.held = NO_VARIABLE;
    }
    return v;
}

static value one_step(builder *b, value base, step s, const sort *item, source_span span) {
    base = as_place(b, base, span);
    place *p = GRAPH_ARRAY(&b->g, place, 1);
    *p = *base.place;
    p->unsure |= p->count == PLACE_STEPS || base.sort->kind == SORT_UNKNOWN;
    if (!p->unsure)
        p->steps[p->count++] = s;
    return (value){.sort = item, .place = p, .held = NO_VARIABLE};
}

value borrow_follow(builder *b, value v, source_span span) {
    for (int depth = 0; v.sort->kind == SORT_REFERENCE && depth < 4; depth++) {
        step s = {.kind = STEP_FOLLOW, .is_shared = !v.sort->is_mutable};
        v = one_step(b, v, s, v.sort->item, span);
    }
    return v;
}

value borrow_step_to(builder *b, value base, step s, const sort *item, source_span span) {
    return one_step(b, borrow_follow(b, base, span), s, item, span);
}

static bool is_behind(const place *p) { /* from there nothing is moved out: it is copied */
    for (uint32_t i = 0; i < p->count; i++)
        if (p->steps[i].kind != STEP_FIELD)
            return true;
    return false;
}

bool borrow_is_lent(const sort *s) {
    bool lent = (s->kind == SORT_REFERENCE && !s->is_guard) || (s->kind == SORT_HOLDER && borrow_is_lent(s->item));
    for (uint32_t i = 0; s->kind == SORT_TUPLE && i < s->count; i++)
        lent |= borrow_is_lent(s->parts[i]);
    return lent;
}

void borrow_mark_taken(builder *b, value v, source_span span) {
    if (v.place != NULL && !borrow_is_lent(v.sort))
        borrow_mark(b, span, is_behind(v.place) ? MARK_BEHIND : MARK_TAKEN);
}

void borrow_leave_empty(builder *b, const place *p, source_span span) {
    if (p->count == 0 && sort_ends(b, b->g.variables[p->root].sort))
        graph_event(&b->g, b->at, (event){.kind = EVENT_CLEAR, .into = p->root, .span = span});
}

value borrow_take_value(builder *b, value v, source_span span) {
    if (v.place == NULL)
        return v;
    const place *p = v.place;
    value taken = borrow_plain_value(v.sort);
    if (v.sort->kind == SORT_REFERENCE && v.sort->is_mutable && !p->unsure) {
        taken.held = borrow_new_temporary(b, span, v.sort);
        step s = {.kind = STEP_FOLLOW};
        borrow_make_borrow(b, one_step(b, v, s, v.sort->item, span).place, TOUCH_EXCLUSIVE, taken.held, span, NULL);
        return taken;
    }
    bool moved = v.sort->kind == SORT_VALUE && !sort_is_copied(b, v.sort) && !is_behind(p);
    borrow_touch(b, p, moved ? TOUCH_MOVE : TOUCH_READ, span, NULL);
    if (sort_holds(v.sort) && may_hold(b, p->root)) {
        taken.held = borrow_new_temporary(b, span, v.sort);
        borrow_flow(b, taken.held, borrow_held_by(b, p), span);
    }
    borrow_leave_empty(b, p, span);
    return taken;
}

void borrow_look_at_value(builder *b, value v, source_span span) {
    if (v.place != NULL) {
        v = borrow_follow(b, v, span);
        borrow_touch(b, v.place, TOUCH_READ, span, NULL);
    } else {
        borrow_use(b, v.held, span);
    }
}

value borrow_refer_to(builder *b, value v, bool is_mutable, source_span span) {
    value made = borrow_plain_value(sort_reference(b, v.sort, is_mutable));
    if (v.place == NULL) { /* of a value: it lives as long as it is needed */
        made.held = v.held;
        return made;
    }
    made.held = borrow_new_temporary(b, span, made.sort);
    borrow_make_borrow(b, v.place, is_mutable ? TOUCH_EXCLUSIVE : TOUCH_SHARE, made.held, span, NULL);
    return made;
}

value borrow_coerce(builder *b, value v, const sort *wanted) {
    if (wanted->kind == SORT_HOLDER && v.sort->kind == SORT_HOLDER && v.place == NULL && !v.sort->is_lazy) {
        value item = v; /* Some(r), where an Option of `&T` is wanted */
        item.sort = v.sort->item;
        item = borrow_coerce(b, item, wanted->item);
        v.held = item.held;
        v.sort = item.sort == v.sort->item ? v.sort : wanted;
        return v;
    }
    while (wanted->kind == SORT_REFERENCE && wanted->item->kind == SORT_VALUE && v.place == NULL &&
           v.sort->kind == SORT_REFERENCE && v.sort->item->kind == SORT_REFERENCE) {
        v.sort = v.sort->item;
        v.held = v.held == NO_VARIABLE ? NO_VARIABLE : graph_behind(&b->g, v.held, 1);
    }
    return v;
}

void borrow_learn_sort(builder *b, uint32_t variable, const sort *item) {
    struct variable *v = &b->g.variables[variable];
    bool open = v->sort->kind == SORT_UNKNOWN || v->sort->kind == SORT_VALUE ||
                (v->sort->kind == SORT_HOLDER && !sort_holds(v->sort));
    if (open && sort_holds(item))
        v->sort = sort_holder(b, item, false);
}

void borrow_write_to(builder *b, value target, value from, source_span span) {
    if (target.place == NULL) {
        borrow_use(b, from.held, span);
        return;
    }
    const place *p = target.place;
    from = borrow_coerce(b, from, target.sort);
    if (p->count == 0 && sort_ends(b, b->g.variables[p->root].sort)) /* the old value ends */
        borrow_use(b, p->root, span);
    borrow_touch(b, p, TOUCH_WRITE, span, NULL);
    if (p->count == 0 && !p->unsure)
        graph_event(&b->g, b->at, (event){.kind = EVENT_CLEAR, .into = p->root, .span = span});
    else if (from.held != NO_VARIABLE && sort_holds(from.sort))
        borrow_learn_sort(b, p->root, from.sort);
    if (from.held != NO_VARIABLE && sort_holds(from.sort)) {
        borrow_flow(b, borrow_held_by(b, p), from.held, span);
        if (p->count == 0) {
            struct variable *v = &b->g.variables[p->root];
            v->sort = sort_holds(v->sort) ? v->sort : from.sort;
        }
    }
}
