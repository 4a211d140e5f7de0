/* patterns.c: what the names of a pattern are: references into the place that it takes apart, or parts of a value. */
#include <ctype.h>

#include "language/borrow/builder.h"

typedef enum binding_mode { BY_VALUE, BY_SHARED, BY_MUTABLE } binding_mode;

static void bind(builder *b, const pattern *p, value v, binding_mode mode);

static void bind_name(builder *b, const binding *n, value v, binding_mode mode) {
    bool alias = n->is_alias && mode == BY_VALUE;
    mode = alias ? BY_MUTABLE : n->is_shared && mode == BY_VALUE ? BY_SHARED : mode;
    if (v.place != NULL && mode == BY_VALUE) {
        borrow_mark_taken(b, v, n->span);
        v = borrow_take_value(b, v, n->span);
    }
    const sort *s = mode == BY_VALUE ? v.sort : sort_reference(b, v.sort, mode == BY_MUTABLE);
    const bool open = s->kind == SORT_UNKNOWN && mode == BY_VALUE && v.held != NO_VARIABLE;
    if (s->kind == SORT_HOLDER && !s->is_lazy && s->item->kind == SORT_VALUE && mode == BY_VALUE) /* Some(text) */
        s = &sort_value;
    if ((s->kind == SORT_VALUE && s->type == NULL && !s->is_once) || open) {
        const type *t = borrow_known_type_at(b, n->span);
        s = t == NULL || (type_is_reference(t) && !open) ? s : sort_of_type(b, t);
    } else if (s->kind == SORT_VIEW && s->type == NULL && !s->is_once && mode == BY_VALUE) {
        s = borrow_view_of(b, s, borrow_known_type_at(b, n->span));
    }
    uint32_t made = borrow_declare_name(b, n->name, n->span, s);
    if (mode != BY_VALUE && v.place != NULL) {
        borrow_make_borrow(b, v.place, mode == BY_MUTABLE ? TOUCH_EXCLUSIVE : TOUCH_SHARE, made, n->span, NULL);
        return;
    }
    graph_event(&b->g, b->at, (event){.kind = EVENT_CLEAR, .into = made, .span = n->span});
    if (sort_holds(s))
        borrow_flow(b, made, v.held, n->span);
}

/* Behind a reference the names are references, too. */
static value open_reference(builder *b, value v, binding_mode *mode, source_span span) {
    for (int depth = 0; v.sort->kind == SORT_REFERENCE && depth < 4; depth++) {
        *mode = v.sort->is_mutable && *mode != BY_SHARED ? BY_MUTABLE : BY_SHARED;
        if (v.place == NULL && v.held == NO_VARIABLE) {
            v.sort = v.sort->item;
            continue;
        }
        const value outer = v;
        v = borrow_follow(b, v, span);
        if (outer.place == NULL) /* what it is made from is what its parts are made from */
            v.held = outer.held;
    }
    return v;
}

static value part_of(builder *b, value v, const char *name, const sort *s, source_span span) {
    if (v.place != NULL)
        return borrow_step_to(b, v, (step){.kind = STEP_FIELD, .name = name}, s, span);
    return (value){.sort = s, .held = v.held};
}

static const char *part_name(builder *b, const pattern *p, uint32_t i, bool dotted) {
    const char *name = p->part_names != NULL
                           ? p->part_names[i]
                           : masu__arena_printf(b->g.arena, "%u", p->rest && i >= p->rest_at ? 1000 + i : i);
    return dotted ? masu__arena_printf(b->g.arena, "%s.%s", p->name, name) : name;
}

static void bind_tuple(builder *b, const pattern *p, value v, binding_mode mode) {
    for (uint32_t i = 0; i < p->part_count; i++) {
        if (v.parts != NULL && !p->rest && i < v.part_count) {
            bind(b, p->parts[i], v.parts[i], mode);
            continue;
        }
        char *name = masu__arena_printf(b->g.arena, "%u", i);
        const sort *s = p->rest                                           ? &sort_unknown
                        : v.sort->kind == SORT_TUPLE && i < v.sort->count ? v.sort->parts[i]
                                                                          : sort_field(b, v.sort, name);
        bind(b, p->parts[i], part_of(b, v, part_name(b, p, i, false), s, p->span), mode);
    }
}

static bool is_struct_of(const builder *b, const pattern *p) {
    const struct_item *s = borrow_struct_named(b, p->name);
    return s != NULL && !s->is_enum;
}

/* &p takes what the reference leads to. */
static value behind(builder *b, const pattern *p, value v) {
    if (v.sort->kind == SORT_REFERENCE && v.place != NULL)
        return borrow_follow(b, v, p->span);
    while (v.sort->kind == SORT_REFERENCE)
        v.sort = v.sort->item;
    v.held = sort_holds(v.sort) ? v.held : NO_VARIABLE;
    return v;
}

/* A(x) | B(x): x is what the first one binds, and refers to what any of them does. */
static void bind_alternatives(builder *b, const pattern *p, value v, binding_mode mode) {
    bind(b, p->parts[0], v, mode);
    for (uint32_t i = 1; i < p->part_count; i++) {
        const uint32_t kept = b->name_count;
        bind(b, p->parts[i], v, mode);
        const uint32_t bound = b->name_count;
        borrow_forget_names(b, kept);
        for (uint32_t k = kept; k < bound; k++) {
            const uint32_t first = borrow_find_name(b, b->names[k].name), other = b->names[k].variable;
            if (first != NO_VARIABLE && sort_holds(b->g.variables[other].sort))
                borrow_flow(b, first, other, p->span);
        }
    }
}

static void bind(builder *b, const pattern *p, value v, binding_mode mode) {
    if (p->is_behind) {
        v = behind(b, p, v);
        mode = BY_VALUE;
    }
    switch (p->kind) {
    case PATTERN_NAME:
        if (p->binding != NULL && !isupper((unsigned char)p->binding->name[0]))
            bind_name(b, p->binding, v, mode);
        break;
    case PATTERN_BOUND:
        if (p->binding != NULL)
            bind_name(b, p->binding, v, mode);
        bind(b, p->parts[0], borrow_plain_value(&sort_unknown), mode);
        break;
    case PATTERN_OR:
        bind_alternatives(b, p, v, mode);
        break;
    case PATTERN_TUPLE:
        v = open_reference(b, v, &mode, p->span);
        bind_tuple(b, p, v, mode);
        break;
    case PATTERN_VARIANT: {
        v = open_reference(b, v, &mode, p->span);
        bool dotted = !is_struct_of(b, p);
        for (uint32_t i = 0; i < p->part_count; i++) {
            const sort *s = p->rest && p->part_names == NULL ? &sort_unknown : sort_variant_part(b, v.sort, p, i);
            bind(b, p->parts[i], part_of(b, v, part_name(b, p, i, dotted), s, p->span), mode);
        }
        break;
    }
    default:
        break;
    }
}

void borrow_bind_pattern(builder *b, const pattern *p, value v) {
    bind(b, p, v, BY_VALUE);
}
