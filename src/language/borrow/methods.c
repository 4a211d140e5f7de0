/* methods.c: methods: what they take, change and yield; of those of the library it is said there (//! says lends). */
#include <stdlib.h>

#include "language/borrow/builder.h"
#include "language/library/library.h"

/* A method of the library that lends something, or changes its receiver. */
typedef struct lent_method {
    const char *name;
    touch_mode access; /* how self is taken where it is a place */
    library_said yields;
} lent_method;

/* Whether it says that. */
static bool find_lent(const char *name, lent_method *out) {
    const touch_mode access = library_says(LIBRARY_takes, name)       ? TOUCH_MOVE
                              : library_says(LIBRARY_exclusive, name) ? TOUCH_CHANGE
                                                                      : TOUCH_SHARE;
    *out = (lent_method){name, access, library_said_of(LIBRARY_lends, name)};
    return out->yields != SAID_NOTHING;
}

typedef struct method_call {
    builder *b;
    expr *e;
    value receiver, target; /* as it is; behind references */
    value argument, yields; /* the last one; what a closure yields */
    bool changes;
} method_call;

static value lend_from(method_call *m, const sort *s) {
    builder *b = m->b;
    value made = borrow_plain_value(s);
    if (m->target.sort->kind == SORT_UNKNOWN && m->target.place != NULL) { /* it may be a reference */
        place *p = GRAPH_ARRAY(&b->g, place, 1);
        *p = *m->target.place;
        p->unsure = true;
        m->target.place = p;
    }
    if (m->target.place == NULL) {
        made.held = m->target.held;
        return made;
    }
    made.held = borrow_new_temporary(b, m->e->span, s);
    borrow_make_borrow(b, m->target.place, m->changes ? TOUCH_EXCLUSIVE : TOUCH_SHARE, made.held, m->e->span,
                       m->e->call.name);
    return made;
}

/* The result with the loans of the receiver. */
static value pass_on(method_call *m, const sort *s) {
    value made = borrow_plain_value(s);
    if (sort_holds(s)) {
        value from = borrow_take_value(m->b, m->receiver, m->e->span);
        made.held = from.held;
    }
    return made;
}

/* The variable that holds the loans of its items. */
static uint32_t held_by_items(builder *b, const sort *s, uint32_t held) {
    return held != NO_VARIABLE && s->is_behind ? graph_behind(&b->g, held, 1) : held;
}

/* An iterator whose items hold other things than it borrows itself. */
static const sort *sort_of_run(builder *b, const sort *item) {
    sort *s = GRAPH_ARRAY(&b->g, sort, 1);
    *s = *sort_holder(b, item, true);
    s->is_behind = true;
    return s;
}

/* copied(): what was behind the items is in them. */
static value come_forward(method_call *m, const sort *item, bool lazy) {
    builder *b = m->b;
    const sort *s = m->receiver.sort;
    value v = pass_on(m, lazy ? sort_of_run(b, item) : sort_holder(b, item, false));
    if (v.held == NO_VARIABLE || s->item->kind != SORT_REFERENCE)
        return v;
    const uint32_t from = held_by_items(b, s, v.held), made = borrow_new_temporary(b, m->e->span, v.sort);
    if (lazy)
        borrow_flow_flat(b, made, v.held, m->e->span);
    borrow_flow(b, lazy ? graph_behind(&b->g, made, 1) : made, graph_behind(&b->g, from, 1), m->e->span);
    v.held = made;
    return v;
}

static value join_two(method_call *m, const sort *s, uint32_t one, uint32_t two) {
    value made = borrow_plain_value(s);
    if (sort_holds(s)) {
        made.held = borrow_new_temporary(m->b, m->e->span, s);
        borrow_flow(m->b, made.held, one, m->e->span);
        borrow_flow(m->b, made.held, two, m->e->span);
    }
    return made;
}

/* map(|x| …): the run that borrows what the one before it did, of such items. */
static value run_of(method_call *m, uint32_t from, const sort *item, uint32_t held) {
    builder *b = m->b;
    value made = borrow_plain_value(sort_of_run(b, item));
    made.held = borrow_new_temporary(b, m->e->span, made.sort);
    borrow_flow_flat(b, made.held, from, m->e->span);
    if (sort_holds(item))
        borrow_flow(b, graph_behind(&b->g, made.held, 1), held, m->e->span);
    return made;
}

static const sort *pair_of(builder *b, const sort *one, const sort *two) {
    sort *s = GRAPH_ARRAY(&b->g, sort, 1);
    *s = (sort){.kind = SORT_TUPLE, .count = 2};
    s->parts = GRAPH_ARRAY(&b->g, const sort *, 2);
    s->parts[0] = one;
    s->parts[1] = two;
    return s;
}

static const sort *item_of(builder *b, const sort *s) {
    return s->kind == SORT_HOLDER      ? s->item
           : s->kind == SORT_REFERENCE ? sort_reference(b, sort_element(b, s->item), s->is_mutable)
                                       : sort_element(b, s);
}

/* collect(), next() */
static value items_out(method_call *m, const sort *item) {
    value made = pass_on(m, sort_holder(m->b, item, false));
    made.held = held_by_items(m->b, m->receiver.sort, made.held);
    return made;
}

static value zip_of(method_call *m, const sort *pair, uint32_t from) {
    builder *b = m->b;
    const uint32_t other = m->argument.held;
    value made = borrow_plain_value(sort_of_run(b, pair));
    made.held = borrow_new_temporary(b, m->e->span, made.sort);
    borrow_flow_flat(b, made.held, from, m->e->span);
    borrow_flow_flat(b, made.held, other, m->e->span);
    const uint32_t items = graph_behind(&b->g, made.held, 1);
    borrow_flow(b, items, held_by_items(b, m->receiver.sort, from), m->e->span);
    borrow_flow(b, items, held_by_items(b, m->argument.sort, other), m->e->span);
    return made;
}

/* As for an iterator, Option or the like that is at hand. */
static value lend_onward(method_call *m, library_said kind) {
    builder *b = m->b;
    const sort *s = m->receiver.sort, *item = item_of(b, s);
    bool lazy = s->kind == SORT_HOLDER && s->is_lazy;
    switch (kind) {
    case SAID_INTO:
        if (s->kind == SORT_REFERENCE)
            return pass_on(m, sort_holder(b, item, true));
        return pass_on(m, s->kind == SORT_HOLDER ? s : sort_holder(b, item, false));
    case SAID_SAME:
        return s->kind == SORT_HOLDER ? pass_on(m, s) : borrow_plain_value(&sort_value);
    case SAID_COUNTED:
        return pass_on(m, s->is_behind ? sort_of_run(b, pair_of(b, &sort_value, item))
                                       : sort_holder(b, pair_of(b, &sort_value, item), lazy));
    case SAID_PAIRS: {
        const sort *other = item_of(b, m->argument.sort);
        bool holds = lazy || m->argument.sort->kind == SORT_REFERENCE ||
                     (m->argument.sort->kind == SORT_HOLDER && m->argument.sort->is_lazy);
        value from = borrow_take_value(b, m->receiver, m->e->span);
        if (s->is_behind || m->argument.sort->is_behind)
            return zip_of(m, pair_of(b, item, other), from.held);
        return join_two(m, sort_holder(b, pair_of(b, item, other), holds), from.held, m->argument.held);
    }
    case SAID_MAPPED:
        if (lazy) {
            value from = borrow_take_value(b, m->receiver, m->e->span);
            return run_of(m, from.held, m->yields.sort, m->yields.held);
        }
        return join_two(m, sort_holder(b, m->yields.sort, false), NO_VARIABLE, m->yields.held);
    case SAID_OPENED: {
        value from = borrow_take_value(b, m->receiver, m->e->span);
        return run_of(m, from.held, item_of(b, m->yields.sort), held_by_items(b, m->yields.sort, m->yields.held));
    }
    case SAID_FLATTENED:
        if (item->kind == SORT_HOLDER && item->is_behind)
            return borrow_plain_value(&sort_unknown);
        return lazy ? pass_on(m,
                              s->is_behind ? sort_of_run(b, item_of(b, item)) : sort_holder(b, item_of(b, item), true))
                    : pass_on(m, item);
    case SAID_GIVEN:
        return join_two(m, m->yields.sort, NO_VARIABLE, m->yields.held);
    case SAID_PARTED: {
        value made = items_out(m, item);
        made.sort = pair_of(b, made.sort, made.sort);
        return made;
    }
    case SAID_OWNED:
        if (s->kind != SORT_HOLDER)
            return pass_on(m, sort_holder(b, item->kind == SORT_REFERENCE ? item->item : item, lazy));
        return come_forward(m, item->kind == SORT_REFERENCE ? item->item : item, lazy);
    case SAID_EVERY:
        if (m->e->call.type_argument_count == 1) { /* collect::<String>() */
            const type_expr *written = m->e->call.type_arguments[0];
            const sort *wanted = sort_of_written(b, written, written->type);
            if (wanted->kind == SORT_VALUE) {
                borrow_use(b, m->receiver.held, m->e->span);
                return borrow_plain_value(wanted);
            }
        }
        return items_out(m, item);
    case SAID_ONE:
        return items_out(m, item);
    case SAID_INNER:
        return s->kind == SORT_HOLDER ? pass_on(m, item) : borrow_plain_value(item);
    default:
        return borrow_plain_value(&sort_unknown);
    }
}

static void note_put(method_call *m, bool several) {
    const place *p = m->target.place;
    builder *b = m->b;
    if (!several)
        m->argument = borrow_coerce(b, m->argument, sort_element(b, m->target.sort));
    const sort *item = m->argument.sort;
    item = several ? item_of(b, item) : item;
    const bool keeps = p != NULL && sort_holds(b->g.variables[p->root].sort); /* a list of references */
    item = several && !keeps && item->kind == SORT_REFERENCE && !sort_holds(item->item)
               ? item->item
               : item; /* extend(&v), extend(v.iter()) copy */
    if (p == NULL || m->argument.held == NO_VARIABLE || !sort_holds(item))
        return;
    variable *v = &b->g.variables[p->root];
    if (!sort_holds(v->sort) && p->count == 0)
        v->sort = sort_holder(b, item, false);
    borrow_learn_sort(b, p->root, item); /* of a list in a struct */
    uint32_t from = several ? held_by_items(b, m->argument.sort, m->argument.held) : m->argument.held;
    if (several && m->argument.sort->kind == SORT_REFERENCE)
        from = graph_behind(&b->g, from, 1);
    borrow_flow(b, borrow_held_by(b, p), from, m->e->span);
}

static value lend_of(method_call *m, library_said kind) {
    builder *b = m->b;
    const sort *element = sort_element(b, m->target.sort), *rest = &sort_value;
    const sort *reference = sort_reference(b, element, m->changes);
    const sort *part = sort_reference(b, rest, m->changes);
    switch (kind) {
    case SAID_ELEMENTS:
        return lend_from(m, sort_holder(b, reference, true));
    case SAID_PIECES:
        return lend_from(m, sort_holder(b, part, true));
    case SAID_LETTERS:
        return lend_from(m, sort_holder(b, &sort_value, true));
    case SAID_MAYBE:
        return lend_from(m, sort_holder(b, reference, false));
    case SAID_HELD:
        if (m->e->call.arg_count == 1 && m->e->call.args[0]->kind == EXPR_CLOSURE)
            m->argument = m->yields;
        note_put(m, false);
        return lend_from(m, reference);
    case SAID_PART:
        if (m->target.sort->is_lazy) { /* letters.as_str(): of what they are letters of */
            value made = borrow_plain_value(sort_reference(b, rest, false));
            made.held = m->target.place == NULL ? m->target.held : borrow_held_by(b, m->target.place);
            return made;
        }
        return lend_from(m, part);
    case SAID_TWO:
        return lend_from(m, pair_of(b, part, part));
    case SAID_MAYBE_TWO:
        return lend_from(m, sort_holder(b, pair_of(b, reference, part), false));
    case SAID_MAYBE_PART:
        return lend_from(m, sort_holder(b, part, false));
    case SAID_MAYBE_PAIR:
        return lend_from(m, sort_holder(b, pair_of(b, part, part), false));
    case SAID_ENTRY:
        note_put(m, false);
        return lend_from(m, sort_holder(b, reference, false));
    default:
        return borrow_plain_value(&sort_unknown);
    }
}

/* An Option, a Result. */
static bool sort_is_choice(const sort *s) {
    const type *t = s->type;
    const struct_item *of = t == NULL || t->kind != TYPE_STRUCT ? NULL : t->structure;
    return s->kind == SORT_VALUE && of != NULL && (of->template != NULL ? of->template : of)->is_enum;
}

/* `take` of an iterator is another one than that of an Option, `last` of a list another one than that of an
 * iterator. */
static library_said kind_of_call(const method_call *m, library_said kind) {
    const sort *s = m->receiver.sort;
    if (kind == SAID_MAYBE && m->target.sort->is_cell && m->changes) /* cell.get_mut() */
        return SAID_HELD;
    bool lazy = s->kind == SORT_HOLDER && s->is_lazy;
    if (kind == SAID_TAKEN && m->e->call.arg_count == 1)
        return SAID_SAME;
    if (kind == SAID_PUT && sort_is_choice(m->target.sort)) /* option.insert(v) leads to what it put in */
        return SAID_HELD;
    if (lazy && kind == SAID_MAYBE && library_said_of(LIBRARY_stage, m->e->call.name) == SAID_LAST)
        return SAID_ONE;
    bool of_value = m->target.place == NULL && s->kind == SORT_HOLDER && kind == SAID_MAYBE;
    return of_value ? SAID_SAME : kind; /* v.get(i).as_ref() */
}

/* The sort of a cell's inside. */
static const sort *sort_inside(builder *b, const sort *s) {
    const sort *inside = s->kind == SORT_HOLDER ? s->item : sort_element(b, s);
    return inside->kind == SORT_VALUE && inside->type == NULL ? &sort_unknown : inside;
}

static const sort *sort_guard(builder *b, const sort *inside) {
    sort *s = GRAPH_ARRAY(&b->g, sort, 1);
    *s = *sort_reference(b, inside, true);
    s->is_guard = true;
    return s;
}

/* The value that was in the place, which is changed. */
static value take_held(method_call *m, const sort *s) {
    builder *b = m->b;
    value made = borrow_plain_value(s);
    if (m->target.place == NULL)
        return made;
    borrow_touch(b, m->target.place, m->changes ? TOUCH_CHANGE : TOUCH_SHARE, m->e->span, m->e->call.name);
    if (sort_holds(s)) {
        made.held = borrow_new_temporary(b, m->e->span, s);
        borrow_flow(b, made.held, borrow_held_by(b, m->target.place), m->e->span);
    }
    return made;
}

/* One part comes out of a place, or goes in; a cell is the same one before and after. */
static value call_held(method_call *m, library_said kind) {
    builder *b = m->b;
    const sort *s = m->target.sort, *inside = s->is_cell ? sort_inside(b, s) : s;
    value made;
    m->changes &= !s->is_cell;
    switch (kind) {
    case SAID_GUARD: /* it leads to what the cell holds */
        return lend_from(m, sort_guard(b, sort_inside(b, s)));
    case SAID_EXCHANGED:
        made = take_held(m, inside);
        note_put(m, false);
        return made;
    case SAID_STORED:
        if (s->is_cell)
            note_put(m, false);
        borrow_look_at_value(b, m->target, m->e->span);
        return borrow_plain_value(&sort_value);
    case SAID_TAKEN:
        return take_held(m, inside);
    default: /* SAID_POPPED */
        return take_held(m, sort_holder(b, sort_element(b, s), false));
    }
}

static value call_library(method_call *m, const lent_method *known) {
    builder *b = m->b;
    m->changes = known->access == TOUCH_CHANGE;
    library_said kind = kind_of_call(m, known->yields);
    switch (kind) {
    case SAID_CHANGED:
    case SAID_PUT:
    case SAID_PUT_ALL:
        if (m->target.place != NULL)
            borrow_touch(b, m->target.place, TOUCH_CHANGE, m->e->span, known->name);
        if (kind != SAID_CHANGED)
            note_put(m, kind == SAID_PUT_ALL);
        return borrow_plain_value(&sort_value);
    case SAID_GUARD:
    case SAID_EXCHANGED:
    case SAID_STORED:
    case SAID_TAKEN:
    case SAID_POPPED:
        return call_held(m, kind);
    case SAID_CLONED: {
        value made = borrow_plain_value(m->target.sort);
        if (m->target.place != NULL)
            borrow_touch(b, m->target.place, TOUCH_SHARE, m->e->span, NULL);
        if (sort_holds(made.sort) && m->target.place != NULL) {
            made.held = borrow_new_temporary(b, m->e->span, made.sort);
            borrow_flow(b, made.held, borrow_held_by(b, m->target.place), m->e->span);
        }
        return made;
    }
    case SAID_ONE:
        if (known->access == TOUCH_CHANGE && m->target.place != NULL) {
            borrow_touch(b, m->target.place, TOUCH_CHANGE, m->e->span, known->name);
            value made = borrow_plain_value(sort_holder(b, item_of(b, m->target.sort), false));
            if (sort_holds(made.sort)) {
                const uint32_t from = borrow_held_by(b, m->target.place);
                made.held = borrow_new_temporary(b, m->e->span, made.sort);
                borrow_flow(b, made.held, held_by_items(b, m->target.sort, from), m->e->span);
            }
            return made;
        }
        return lend_onward(m, kind);
    case SAID_ELEMENTS:
    case SAID_PIECES:
    case SAID_LETTERS:
    case SAID_MAYBE:
    case SAID_PART:
    case SAID_TWO:
    case SAID_MAYBE_TWO:
    case SAID_MAYBE_PART:
    case SAID_MAYBE_PAIR:
    case SAID_ENTRY:
    case SAID_HELD:
        return lend_of(m, kind);
    default:
        if (m->receiver.place != NULL && m->receiver.sort->kind == SORT_VALUE) {
            if (known->access == TOUCH_MOVE && sort_is_choice(m->receiver.sort)) /* unwrap() */
                borrow_take_value(b, m->receiver, m->e->span);
            else
                borrow_look_at_value(b, m->receiver, m->e->span);
            m->receiver = borrow_plain_value(m->receiver.sort);
        }
        return lend_onward(m, kind);
    }
}

static void mark_receiver(method_call *m, const function_item *f) {
    bool own = f != NULL && borrow_mode_of_self(f) == TOUCH_MOVE;
    bool library = f == NULL && !borrow_may_be_own(m->b, m->e->call.name) &&
                   library_says(LIBRARY_takes, m->e->call.name);
    if (own || library)
        borrow_mark_taken(m->b, m->receiver, m->e->call.receiver->span);
    else
        borrow_mark(m->b, m->e->call.receiver->span, MARK_LOOKED);
}

/* A reference to a value on its way: what it holds is behind it, and lives as long. */
static value refer_to_value(method_call *m) {
    builder *b = m->b;
    value made = borrow_plain_value(sort_reference(b, m->target.sort, m->changes));
    made.held = borrow_new_temporary(b, m->e->span, made.sort);
    borrow_flow_flat(b, made.held, m->target.held, m->e->span);
    b->g.variables[made.held].refers = m->target.held + 1;
    return made;
}

static value call_own(method_call *m, const function_item *f, value *given) {
    builder *b = m->b;
    touch_mode mode = borrow_mode_of_self(f);
    const source_span span = m->e->span;
    const bool lives = borrow_has_lives(b, f);
    given[0] = borrow_plain_value(&sort_unknown);
    m->changes = mode == TOUCH_CHANGE;
    if (mode == TOUCH_MOVE)
        given[0] = borrow_take_value(b, m->receiver, span);
    else if (m->target.place != NULL && lives)
        given[0] = lend_from(m, sort_reference(b, m->target.sort, m->changes));
    else if (m->target.place != NULL)
        borrow_touch(b, m->target.place, mode, span, f->name);
    else if (m->target.held != NO_VARIABLE)
        given[0] = refer_to_value(m);
    return borrow_result_of(b, f, given, span);
}

value build_method_value(builder *b, expr *e) {
    method_call m = {.b = b, .e = e, .receiver = build_expr(b, e->call.receiver)};
    m.argument = m.yields = borrow_plain_value(&sort_unknown);
    m.target = m.receiver.sort->kind == SORT_REFERENCE ? borrow_follow(b, m.receiver, e->span) : m.receiver;
    const function_item *f = borrow_method_of(b, m.target.sort, e->call.name);
    if (f == NULL && m.target.sort->is_dyn)
        f = borrow_dyn_method(b, e->call.name);
    /* a tensor's methods yield values, and so do those of numbers */
    const type *t = m.target.sort->type;
    bool plain = t != NULL && (t->kind == TYPE_TENSOR || (t->kind < TYPE_SCALAR_END && t->kind != TYPE_STRING));
    lent_method lent;
    const lent_method *known = !plain && find_lent(e->call.name, &lent) ? &lent : NULL;
    uint32_t count = e->call.arg_count;
    uint32_t room = count + 2 + (f == NULL ? 0 : f->parameter_count);
    value *given = GRAPH_ARRAY(&b->g, value, room);
    for (uint32_t i = 0; i < room; i++)
        given[i] = borrow_plain_value(&sort_unknown);
    uint32_t held = m.receiver.place != NULL ? borrow_held_by(b, m.receiver.place) : m.receiver.held;
    held = held_by_items(b, m.receiver.sort, held);
    for (uint32_t i = 0; i < count; i++) {
        const bool once = library_says(LIBRARY_calls_once, e->call.name);
        given[i + 1] = f != NULL && i + 1 < f->parameter_count
                           ? borrow_build_given(b, e->call.args[i], f, i + 1, given, &m.yields)
                           : build_argument(b, e->call.args[i], item_of(b, m.receiver.sort), held, once, &m.yields);
        m.argument = given[i + 1];
    }
    mark_receiver(&m, f);
    value made;
    if (f != NULL) {
        made = call_own(&m, f, given);
    } else if (known != NULL) {
        made = call_library(&m, known);
    } else {
        borrow_look_at_value(b, m.receiver, e->span);
        made = borrow_plain_value(&sort_unknown);
    }
    borrow_use_all(b, given + 1, count, e->span);
    borrow_use(b, m.receiver.held, e->span);
    return made;
}
