/* closures.c: what a closure captures is lent to it: for as long as it is kept, or while a call runs it. */
#include <string.h>

#include "language/borrow/builder.h"

enum { CAPTURES_MAX = 64 };

typedef struct capture {
    place place;
    touch_mode mode;
    source_span span;
} capture;

/* How much of the place a closure takes: up to the first index, also behind references; of one that is only read, the
 * reference. */
static place captured_part(const place *p, bool is_written) {
    place part = *p;
    part.count = 0;
    while (part.count < p->count &&
           (p->steps[part.count].kind == STEP_FIELD || p->steps[part.count].kind == STEP_FOLLOW))
        part.count++;
    while (!is_written && part.count > 0 && p->steps[part.count - 1].kind == STEP_FOLLOW)
        part.count--;
    return part;
}

static bool same_start(const place *a, const place *b) {
    uint32_t both = a->count < b->count ? a->count : b->count;
    for (uint32_t i = 0; i < both; i++)
        if (a->steps[i].kind != b->steps[i].kind ||
            (a->steps[i].kind == STEP_FIELD && strcmp(a->steps[i].name, b->steps[i].name) != 0))
            return false;
    return a->root == b->root;
}

static void merge_capture(capture *into, const capture *c) {
    into->place.count = into->place.count < c->place.count ? into->place.count : c->place.count;
    if (into->mode < c->mode) {
        into->mode = c->mode;
        into->span = c->span;
    }
}

/* A place and a part of it are one capture: the place, by the stronger of both uses. */
static void add_capture(capture *all, uint32_t *count, const event *e) {
    bool writes = e->mode == TOUCH_WRITE || e->mode == TOUCH_CHANGE || e->mode == TOUCH_EXCLUSIVE;
    capture c = {captured_part(e->place, writes), TOUCH_SHARE, e->span};
    c.mode = writes ? TOUCH_EXCLUSIVE : e->mode == TOUCH_MOVE ? TOUCH_MOVE : TOUCH_SHARE;
    for (uint32_t i = 0; i < *count; i++) {
        if (same_start(&all[i].place, &c.place)) {
            merge_capture(&all[i], &c);
            uint32_t kept = i + 1;
            for (uint32_t k = i + 1; k < *count; k++) /* other parts of what is now the whole */
                if (same_start(&all[i].place, &all[k].place))
                    merge_capture(&all[i], &all[k]);
                else
                    all[kept++] = all[k];
            *count = kept;
            return;
        }
    }
    if (*count < CAPTURES_MAX)
        all[(*count)++] = c;
}

/* Which variables below `outer` the blocks from `first` on touch, and how. */
static uint32_t collect_captures(builder *b, uint32_t first, uint32_t outer, capture *all) {
    uint32_t count = 0;
    for (uint32_t i = first; i < b->g.block_count; i++) {
        for (uint32_t k = 0; k < b->g.blocks[i].count; k++) {
            const event *e = &b->g.blocks[i].events[k];
            bool touches = e->kind == EVENT_TOUCH || e->kind == EVENT_BORROW;
            if (touches && e->mode != TOUCH_END && !e->place->unsure && e->place->root < outer &&
                b->g.variables[e->place->root].name != NULL)
                add_capture(all, &count, e);
        }
    }
    return count;
}

static const sort *sort_of_part(builder *b, const sort *s, const place *p) {
    for (uint32_t i = 0; i < p->count; i++)
        s = sort_field(b, s, p->steps[i].name);
    return s;
}

static value hold_captures(builder *b, const expr *e, const capture *all, uint32_t count, bool may_be_once) {
    value made = borrow_plain_value(&sort_value);
    bool once = false, writes = false;
    for (uint32_t i = 0; i < count; i++) {
        const capture *c = &all[i];
        once |= may_be_once && c->mode == TOUCH_MOVE;
        writes |= c->mode == TOUCH_EXCLUSIVE;
        variable *v = &b->g.variables[c->place.root];
        bool copies = e->closure.is_move && c->place.count == 0;
        bool holds = sort_holds(v->sort);
        if (made.held == NO_VARIABLE && (!copies || holds)) {
            made.sort = GRAPH_ARRAY(&b->g, sort, 1);
            *(sort *)made.sort = (sort){.kind = SORT_VIEW, .is_mutable = true};
            made.held = borrow_new_temporary(b, e->span, made.sort);
        }
        place *p = GRAPH_ARRAY(&b->g, place, 1);
        *p = c->place;
        if (e->closure.is_move && sort_ends(b, v->sort)) /* nothing moves out of what has a destructor */
            p->count = 0;
        if (e->closure.is_move && (p->count == 0 || !holds)) {
            const sort *s = sort_of_part(b, v->sort, p);
            bool moved = s->kind == SORT_VALUE && !sort_is_copied(b, s);
            if (!borrow_is_lent(v->sort))
                borrow_mark(b, v->span, p->count == 0 ? MARK_CAPTURED : MARK_CAPTURED_PART);
            borrow_touch(b, p, moved ? TOUCH_MOVE : TOUCH_READ, c->span, NULL);
        } else if (c->mode == TOUCH_MOVE) {
            borrow_mark(b, v->span, MARK_CAPTURED);
            borrow_touch(b, p, TOUCH_MOVE, c->span, NULL);
        } else {
            uint32_t part = borrow_new_temporary(b, e->span, made.sort);
            borrow_make_borrow(b, p, c->mode, part, c->span, NULL);
            borrow_flow(b, made.held, part, e->span);
            continue;
        }
        if (holds)
            borrow_flow(b, made.held, borrow_held_by(b, p), e->span);
        borrow_leave_empty(b, p, c->span);
    }
    if (writes && made.held != NO_VARIABLE)
        ((sort *)made.sort)->writes = true;
    if (once) {
        borrow_mark(b, e->span, MARK_ONCE);
        made.sort = sort_once(b, made.sort);
    }
    return made;
}

/* joined: what all calls of it yield. */
static value build_closure_body(builder *b, expr *e, const sort *item, uint32_t held, value joined) {
    uint32_t names = b->name_count, end = graph_new_block(&b->g);
    jump_frame frame = {
        .is_closure = true, .end = end, .again = end, .result = joined.held, .names = names, .outer = b->jumps};
    const type_expr *wanted = b->wanted;
    const uint32_t lent = b->lent;
    b->jumps = &frame;
    b->wanted = NULL;
    for (uint32_t i = 0; i < e->closure.parameter_count; i++) {
        const binding *p = e->closure.parameters[i];
        bool last = i + 1 == e->closure.parameter_count && item != NULL;
        const type_expr *said = wanted != NULL && i < wanted->argument_count ? wanted->arguments[i] : NULL;
        const sort *s = p->annotation != NULL ? sort_of_written(b, p->annotation, p->annotation->type)
                        : last                ? item
                        : said != NULL        ? sort_of_written(b, said, NULL)
                                              : &sort_unknown;
        uint32_t v = borrow_declare_name(b, p->name, p->span, s);
        graph_event(&b->g, b->at, (event){.kind = EVENT_CLEAR, .into = v, .span = p->span});
        if (last && sort_holds(s))
            borrow_flow(b, v, held, p->span);
        else if (said != NULL && sort_holds(s))
            borrow_flow(b, v, lent, p->span);
    }
    value v = build_taken(b, e->closure.body);
    if (sort_holds(v.sort)) {
        b->g.variables[joined.held].sort = v.sort;
        borrow_flow(b, joined.held, v.held, e->span);
    }
    joined.sort = sort_holds(b->g.variables[joined.held].sort) ? b->g.variables[joined.held].sort : v.sort;
    borrow_leave_names(b, names, e->span, true);
    borrow_go_to(b, end);
    b->jumps = frame.outer;
    borrow_start_block(b, end);
    return joined;
}

enum { FROM_CALL = 1, FROM_OUTSIDE = 2 }; /* an argument of the closure; what it captured */

/* Where what each variable holds inside of the body comes from. */
static uint8_t *find_origins(builder *b, const expr *e, uint32_t first, uint32_t outer) {
    const graph *g = &b->g;
    uint8_t *from = GRAPH_ARRAY(&b->g, uint8_t, g->variable_count);
    for (uint32_t v = 0; v < g->variable_count; v++)
        from[v] = g->variables[v].owner < outer ? FROM_OUTSIDE : 0;
    for (uint32_t i = 0; i < e->closure.parameter_count && outer + 1 + i < g->variable_count; i++)
        from[outer + 1 + i] |= FROM_CALL; /* behind what all calls yield */
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = first; i < g->block_count; i++) {
            for (uint32_t k = 0; k < g->blocks[i].count; k++) {
                const event *at = &g->blocks[i].events[k];
                const bool lends = at->kind == EVENT_BORROW && g->variables[at->place->root].owner < outer;
                const uint8_t more = at->kind == EVENT_FLOW ? from[at->from] : lends ? FROM_OUTSIDE : 0;
                if (more & ~(at->kind == EVENT_FLOW || lends ? from[at->into] : more)) {
                    from[at->into] |= more;
                    changed = true;
                }
            }
        }
    }
    return from;
}

/* The body puts captures into variables around it: the closure holds them from here on; and arguments of its calls. */
static void keep_captures(builder *b, const expr *e, uint32_t first, uint32_t outer, value *made) {
    const uint32_t blocks = b->g.block_count;
    uint8_t *from = NULL;
    for (uint32_t i = first; i < blocks; i++) {
        for (uint32_t k = 0; k < b->g.blocks[i].count; k++) {
            const event at = b->g.blocks[i].events[k];
            if (at.kind != EVENT_FLOW || b->g.variables[at.into].owner >= outer)
                continue;
            from = from == NULL ? find_origins(b, e, first, outer) : from;
            if (from[at.from] & FROM_CALL && made->held != NO_VARIABLE) {
                sort *s = GRAPH_ARRAY(&b->g, sort, 1);
                *s = *made->sort;
                s->keeps = true;
                made->sort = s;
                b->g.variables[made->held].sort = s;
                borrow_flow(b, at.into, graph_behind(&b->g, made->held, 1), at.span);
            }
            if (from[at.from] & FROM_OUTSIDE)
                borrow_flow(b, at.into, made->held, at.span);
        }
    }
}

/* A closure that is kept: its body runs whenever it is called, what it captured is lent from here on. */
value build_closure_value(builder *b, expr *e) {
    uint32_t at = b->at, outer = b->g.variable_count, first = graph_new_block(&b->g);
    capture *all = GRAPH_ARRAY(&b->g, capture, CAPTURES_MAX);
    borrow_start_block(b, first);
    build_closure_body(b, e, NULL, NO_VARIABLE, borrow_new_join(b, e->span));
    uint32_t count = collect_captures(b, first, outer, all);
    borrow_start_block(b, at);
    value made = hold_captures(b, e, all, count, true);
    keep_captures(b, e, first, outer, &made);
    return made;
}

value build_lent_closure(builder *b, expr *e, const sort *item, uint32_t held, bool is_once, value *yields) {
    uint32_t outer = b->g.variable_count, again = graph_new_block(&b->g), first = graph_new_block(&b->g);
    capture *all = GRAPH_ARRAY(&b->g, capture, CAPTURES_MAX);
    const value joined = borrow_new_join(b, e->span);
    borrow_go_to(b, again);
    graph_edge(&b->g, again, first);
    borrow_start_block(b, first);
    *yields = build_closure_body(b, e, item, held, joined);
    borrow_go_to(b, again);
    uint32_t count = collect_captures(b, first, outer, all), behind = graph_new_block(&b->g);
    graph_edge(&b->g, again, behind);
    borrow_start_block(b, behind);
    return hold_captures(b, e, all, count, is_once);
}
