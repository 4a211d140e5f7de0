/* signatures.c: what a signature says of lives: which references may come to be where.
 *
 *     fn reg<'a>(bus: &mut Bus<'a>, v: &'a mut Vec<i64>)
 *
 *     'a     behind bus, exactly: `&mut` leads to it, so that reg may put something there
 *            in v
 *
 * Where it is called, each life is a variable: what the arguments hold at its places flows into it; where it is exact,
 * the argument holds what the life does from then on, too. In its body each life is a loan that the parameters hold; it
 * may come to nothing that lives longer by the signature. Both sides go by the same list of places, so that what a body
 * may do is what its callers expect. A type parameter is the life of all that is in it.
 */
#include "language/borrow/builder.h"

enum { LIVES_DEEP = 5, LIVES_MAX = 24 };

typedef struct life_use {
    const char *name; /* NULL: one of its own */
    uint32_t depth;   /* behind how many references */
    bool is_exact;    /* it may be written to */
    bool is_type;     /* a type parameter, with all that lies behind its references */
} life_use;

typedef struct life_uses {
    builder *b;
    const function_item *function; /* NULL: a field's type */
    life_use items[LIVES_MAX];
    uint32_t count;
} life_uses;

static const char forever[] = "'static";

static void add_use(life_uses *u, const char *name, uint32_t depth, bool is_exact, bool is_type) {
    if (name != NULL && strcmp(name, "'_") == 0)
        name = NULL;
    if (u->count < LIVES_MAX)
        u->items[u->count++] = (life_use){name, depth, is_exact, is_type};
}

static const type_parameter *parameter_in(const type_parameters *all, const char *name) {
    for (uint32_t i = 0; all != NULL && i < all->count; i++)
        if (strcmp(all->items[i].name, name) == 0)
            return &all->items[i];
    return NULL;
}

static const type_parameter *parameter_named(const function_item *f, const char *name) {
    const type_parameter *found = f == NULL || name == NULL ? NULL : parameter_in(&f->generics, name);
    return found != NULL || f == NULL || f->impl == NULL || name == NULL ? found
                                                                         : parameter_in(&f->impl->generics, name);
}

static void collect(life_uses *u, const type_expr *t, uint32_t depth, bool is_exact, int deep);

/* Where the fields of a struct have one of its parameters: the least deep place; exact if any is. */
static bool find_in_fields(life_uses *u, const struct_item *s, const char *name, life_use *out, int deep) {
    bool found = false;
    for (uint32_t i = 0; i < s->field_count; i++) {
        life_uses inner = {.b = u->b};
        const type_expr *t = s->fields[i].annotation;
        if (t == NULL || t == (const type_expr *)s)
            continue;
        collect(&inner, t, 0, false, deep + 1);
        for (uint32_t k = 0; k < inner.count; k++) {
            const life_use *use = &inner.items[k];
            if (use->name == NULL || strcmp(use->name, name) != 0)
                continue;
            out->depth = !found || use->depth < out->depth ? use->depth : out->depth;
            out->is_exact |= use->is_exact;
            found = true;
        }
    }
    return found;
}

/* S<'a, T>: of a struct of the program each argument lies where its fields say. */
static void collect_own(life_uses *u, const type_expr *t, const struct_item *s, uint32_t depth, bool is_exact,
                        int deep) {
    const lifetime_name *given = t->held;
    for (const lifetime_parameter *p = s->generics.lifetimes; p != NULL; p = p->next) {
        life_use at = {0};
        find_in_fields(u, s, p->name, &at, deep);
        add_use(u, given == NULL ? NULL : given->name, depth + at.depth, is_exact || at.is_exact, false);
        given = given == NULL ? NULL : given->next;
    }
    for (uint32_t i = 0; i < t->argument_count && i < s->generics.count; i++) {
        life_use at = {0};
        find_in_fields(u, s, s->generics.items[i].name, &at, deep);
        collect(u, t->arguments[i], depth + at.depth, is_exact || at.is_exact, deep + 1);
    }
}

static void collect_named(life_uses *u, const type_expr *t, uint32_t depth, bool is_exact, int deep) {
    const char *name = t->name;
    const function_item *f = u->function;
    if (f != NULL && name != NULL && strcmp(name, "Self") == 0 && f->impl != NULL && f->impl->owner != NULL) {
        collect(u, f->impl->owner, depth, is_exact, deep + 1);
        return;
    }
    const struct_item *s = borrow_struct_named(u->b, name);
    if (parameter_named(f, name) != NULL || (f == NULL && s == NULL && t->argument_count == 0 && t->held == NULL)) {
        add_use(u, name, depth, is_exact, true);
        return;
    }
    if (parameter_named(f, t->scope) != NULL) /* T::Item */
        add_use(u, t->scope, depth, is_exact, true);
    if (borrow_struct_is_own(u->b, s)) {
        collect_own(u, t, s, depth, is_exact, deep);
        return;
    }
    for (const lifetime_name *n = t->held; n != NULL; n = n->next)
        add_use(u, n->name, depth, is_exact, false);
    is_exact |= borrow_struct_is_cell(s);
    for (uint32_t i = 0; i < t->argument_count; i++)
        collect(u, t->arguments[i], depth, is_exact, deep + 1);
}

static void collect_bare(life_uses *u, const type_expr *t, uint32_t depth, bool is_exact, int deep) {
    switch (t->kind) {
    case TYPE_EXPR_NAME:
        collect_named(u, t, depth, is_exact, deep);
        break;
    case TYPE_EXPR_TUPLE:
    case TYPE_EXPR_ARRAY:
        for (uint32_t i = 0; i < t->argument_count; i++)
            collect(u, t->arguments[i], depth, is_exact, deep + 1);
        break;
    case TYPE_EXPR_FUNCTION:
    case TYPE_EXPR_DYN:
        if (t->held == NULL)
            add_use(u, forever, depth, is_exact, true);
        for (const lifetime_name *n = t->held; n != NULL; n = n->next)
            add_use(u, n->name, depth, is_exact, true);
        for (uint32_t i = 0; t->kind == TYPE_EXPR_DYN && i < t->argument_count; i++) /* impl Iterator<Item = &'a T> */
            if (t->arguments[i]->kind == TYPE_EXPR_NAME)
                for (uint32_t k = 0; k < t->arguments[i]->argument_count; k++)
                    collect(u, t->arguments[i]->arguments[k], depth, is_exact, deep + 1);
        break;
    default:
        break;
    }
}

static void collect(life_uses *u, const type_expr *t, uint32_t depth, bool is_exact, int deep) {
    if (t == NULL || deep > LIVES_DEEP)
        return;
    if (t->is_place || t->is_shared) {
        add_use(u, t->refers, depth, is_exact, false);
        depth++;
        is_exact |= t->is_place;
    }
    collect_bare(u, t, depth, is_exact, deep);
}

/* Those of parameter i; of a method's self, too. */
static void collect_parameter(life_uses *u, builder *b, const function_item *f, uint32_t i) {
    const binding *p = f->parameters[i];
    *u = (life_uses){.b = b, .function = f};
    if (p->kind != BINDING_SELF || p->annotation != NULL) {
        collect(u, p->annotation, 0, false, 0);
        return;
    }
    bool lent = p->is_lent || p->is_shared;
    if (lent)
        add_use(u, p->lifetime, 0, false, false);
    if (f->impl != NULL)
        collect(u, f->impl->owner, lent, p->is_lent, 0);
    const trait_item *trait = f->impl == NULL ? borrow_trait_of(b, f) : NULL;
    for (const lifetime_parameter *n = trait == NULL ? NULL : trait->generics.lifetimes; n != NULL; n = n->next)
        add_use(u, n->name, lent, p->is_lent, false);
    for (uint32_t i = 0; trait != NULL && i < trait->generics.count; i++)
        add_use(u, trait->generics.items[i].name, lent, p->is_lent, true);
}

const type_expr *borrow_function_bound(const function_item *f, uint32_t i) {
    const type_expr *t = f->parameters[i]->annotation;
    if (t == NULL || t->kind == TYPE_EXPR_FUNCTION)
        return t;
    const type_parameter *p = parameter_named(f, t->name);
    for (uint32_t k = 0; p != NULL && k < p->bound_count; k++)
        if (p->bounds[k]->kind == TYPE_EXPR_FUNCTION)
            return p->bounds[k];
    return NULL;
}

const trait_item *borrow_trait_of(const builder *b, const function_item *f) {
    for (uint32_t i = 0; i < b->world->tree->trait_count; i++)
        for (uint32_t k = 0; k < b->world->tree->traits[i]->method_count; k++)
            if (b->world->tree->traits[i]->methods[k] == f)
                return b->world->tree->traits[i];
    return NULL;
}

const function_item *borrow_dyn_method(const builder *b, const char *name) {
    const function_item *found = NULL;
    for (uint32_t i = 0; i < b->world->tree->trait_count; i++) {
        const trait_item *trait = b->world->tree->traits[i];
        for (uint32_t k = 0; trait->span.file != b->world->tree->prelude && k < trait->method_count; k++)
            if (strcmp(trait->methods[k]->name, name) == 0)
                found = trait->methods[k];
    }
    return found;
}

/* A result has them all, or a parameter may come to hold another's. */
bool borrow_has_lives(builder *b, const function_item *f) {
    function_item *of = (function_item *)f; /* a copy of this check's own */
    if (of->has_lives == LIVES_UNKNOWN) {
        life_uses u = {.b = b, .function = f};
        collect(&u, f->result_annotation, 0, false, 0);
        bool has = u.count > 0;
        for (uint32_t i = 0; i < f->parameter_count && !has; i++) {
            collect_parameter(&u, b, f, i);
            for (uint32_t k = 0; k < u.count; k++)
                has |= u.items[k].is_exact;
        }
        of->has_lives = has ? LIVES_SOME : LIVES_NONE;
    }
    return of->has_lives == LIVES_SOME;
}

/* ---- lives of one function, where it is called or in its body ----------------------------------------------- */

typedef struct life {
    const char *name; /* NULL: it has none */
    uint32_t variable;
} life;

typedef struct lives {
    builder *b;
    const function_item *function;
    source_span span;
    life items[GRAPH_LIVES];
    uint32_t count;
    uint32_t of_self; /* NO_VARIABLE: self does not lend */
    bool in_body;
} lives;

/* The variable of a life; NO_VARIABLE: there is none of that name. */
static uint32_t find_life(const lives *l, const char *name) {
    for (uint32_t i = 0; name != NULL && i < l->count; i++)
        if (l->items[i].name != NULL && strcmp(l->items[i].name, name) == 0)
            return l->items[i].variable;
    return NO_VARIABLE;
}

static uint32_t new_life(lives *l, const char *name, const char *shown, source_span span) {
    graph *g = &l->b->g;
    if (l->count == GRAPH_LIVES)
        return NO_VARIABLE;
    const uint32_t v = l->in_body ? graph_new_variable(g, shown, span, &sort_unknown)
                                  : borrow_new_temporary(l->b, l->span, &sort_unknown);
    l->items[l->count++] = (life){name, v};
    if (l->in_body) {
        g->outlives[g->life_count] = UINT32_C(1) << g->life_count;
        g->lives[g->life_count++] = v;
        g->variables[v].lives = g->life_count;
    }
    return v;
}

static uint32_t life_of(lives *l, const char *name, const binding *p, uint32_t depth) {
    const uint32_t known = find_life(l, name);
    if (known != NO_VARIABLE)
        return known;
    const char *shown = name;
    if (l->in_body && name == NULL) {
        shown = masu__arena_printf(l->b->g.arena, depth == 0 ? "what `%s` refers to" : "what `%s` holds", p->name);
        if (shown == NULL)
            longjmp(*l->b->g.memory_ended, 1);
    } else if (l->in_body) {
        shown = masu__arena_printf(l->b->g.arena, "`%s`", name);
        if (shown == NULL)
            longjmp(*l->b->g.memory_ended, 1);
    }
    return new_life(l, name, shown, p->span);
}

/* The life holds the loans that v has at that place, or those among others. */
static void meet(lives *l, const life_use *use, uint32_t v, uint32_t life) {
    builder *b = l->b;
    const uint32_t at = graph_behind(&b->g, v, use->depth);
    if (use->is_exact)
        graph_link_variables(&b->g, at, life, !use->is_type, l->span);
    else if (l->in_body && use->is_type)
        borrow_flow(b, at, life, l->span);
    else if (l->in_body)
        borrow_flow_flat(b, at, life, l->span);
    else if (use->is_type)
        borrow_flow(b, life, at, l->span);
    else
        borrow_flow_flat(b, life, at, l->span);
}

/* F: FnMut(T) -> U, S: Sink<T>, I: Iterator<Item = T>: what the one has the other may come to hold. */
static void meet_bound(lives *l, const type_expr *bound, uint32_t one) {
    const bool calls = bound->kind == TYPE_EXPR_FUNCTION;
    uint32_t yields = NO_VARIABLE;
    if (calls && bound->result != NULL) {
        yields = find_life(l, bound->result->name);
        if (yields == NO_VARIABLE && parameter_named(l->function, bound->result->name) != NULL)
            yields = new_life(l, bound->result->name, NULL, l->span);
        borrow_flow(l->b, yields, one, l->span);
    }
    for (uint32_t i = 0; i < bound->argument_count; i++) {
        const uint32_t other = find_life(l, bound->arguments[i]->name);
        borrow_flow(l->b, one, other, l->span);
        borrow_flow(l->b, calls ? yields : other, calls ? other : one, l->span);
    }
}

/* 'b: 'a, T: 'a: what has the one may come to where the other is. */
static void meet_bounds_of(lives *l, const type_parameters *all) {
    for (const lifetime_parameter *p = all->lifetimes; p != NULL; p = p->next)
        for (const lifetime_name *n = p->outlives; n != NULL; n = n->next)
            borrow_flow_flat(l->b, find_life(l, n->name), find_life(l, p->name), l->span);
    for (uint32_t i = 0; i < all->count; i++) {
        const type_parameter *t = &all->items[i];
        const uint32_t from = find_life(l, t->name);
        for (const lifetime_name *n = t->lives; n != NULL; n = n->next)
            borrow_flow(l->b, find_life(l, n->name), from, l->span);
        for (uint32_t k = 0; k < t->bound_count; k++) {
            if (t->bounds[k]->kind == TYPE_EXPR_FUNCTION && t->lives == NULL) /* nothing is said of what it captured */
                borrow_flow(l->b, find_life(l, forever), from, l->span);
            meet_bound(l, t->bounds[k], from);
        }
    }
}

static void meet_bounds(lives *l) {
    meet_bounds_of(l, &l->function->generics);
    if (l->function->impl != NULL)
        meet_bounds_of(l, &l->function->impl->generics);
}

/* The result has lives by name; else that of self, else those without a name. */
static void meet_result(lives *l, uint32_t result) {
    builder *b = l->b;
    life_uses u = {.b = b, .function = l->function};
    collect(&u, l->function->result_annotation, 0, false, 0);
    for (uint32_t i = 0; i < u.count; i++) {
        const life_use *use = &u.items[i];
        const uint32_t at = graph_behind(&b->g, result, use->depth);
        uint32_t named = find_life(l, use->name);
        named = named == NO_VARIABLE && use->name == NULL ? l->of_self : named;
        for (uint32_t k = 0; k < l->count; k++) {
            bool meant = named != NO_VARIABLE ? l->items[k].variable == named
                                              : use->name == NULL && l->items[k].name == NULL;
            if (meant && use->is_exact)
                graph_link_variables(&b->g, at, l->items[k].variable, !use->is_type, l->span);
            else if (meant && use->is_type)
                borrow_flow(b, at, l->items[k].variable, l->span);
            else if (meant)
                borrow_flow_flat(b, at, l->items[k].variable, l->span);
        }
    }
}

void borrow_meet_lives(builder *b, const function_item *f, const value *given, uint32_t result, source_span span) {
    lives l = {.b = b, .function = f, .span = span, .of_self = NO_VARIABLE};
    for (uint32_t i = 0; i < f->parameter_count; i++) {
        life_uses u;
        if (given[i].held == NO_VARIABLE || given[i].sort->kind == SORT_UNKNOWN)
            continue;
        collect_parameter(&u, b, f, i);
        const type_expr *t = f->parameters[i]->annotation;
        const sort *s = given[i].sort;
        const bool twice = t != NULL && (t->is_shared || t->is_place) && s->kind == SORT_REFERENCE &&
                           s->item->kind == SORT_REFERENCE;
        const uint32_t held = twice ? borrow_coerce(b, given[i], sort_of_written(b, t, NULL)).held : given[i].held;
        for (uint32_t k = 0; k < u.count; k++) {
            const uint32_t life = life_of(&l, u.items[k].name, f->parameters[i], u.items[k].depth);
            if (life == NO_VARIABLE)
                continue;
            meet(&l, &u.items[k], held, life);
            if (i == 0 && k == 0 && f->has_self && (f->parameters[0]->is_lent || f->parameters[0]->is_shared))
                l.of_self = life;
        }
    }
    meet_bounds(&l);
    if (result != NO_VARIABLE)
        meet_result(&l, result);
}

/* ---- in its body ---------------------------------------------------------------------------------------------- */

typedef struct met {
    uint32_t parameter, life;
    life_use use;
} met;

static uint32_t number_of(const builder *b, uint32_t life) {
    return life == NO_VARIABLE ? 0 : b->g.variables[life].lives;
}

static void note_outlives_one(lives *l, uint32_t one, uint32_t other) {
    const uint32_t longer = number_of(l->b, one), shorter = number_of(l->b, other);
    if (longer != 0 && shorter != 0)
        l->b->g.outlives[longer - 1] |= UINT32_C(1) << (shorter - 1);
}

/* 'a: 'b; and what outlives 'a outlives 'b. */
static void note_outlives(lives *l, const type_parameters *all) {
    graph *g = &l->b->g;
    for (const lifetime_parameter *p = all->lifetimes; p != NULL; p = p->next)
        for (const lifetime_name *n = p->outlives; n != NULL; n = n->next)
            note_outlives_one(l, find_life(l, p->name), find_life(l, n->name));
    for (uint32_t k = 0; k < g->life_count; k++)
        for (uint32_t i = 0; i < g->life_count; i++)
            if (g->outlives[i] >> k & 1)
                g->outlives[i] |= g->outlives[k];
}

/* Lives in one place count as one; in &'b X<'a> what lies behind the reference outlives it: 'a: 'b. */
static void note_together(lives *l, const met *all, uint32_t count) {
    graph *g = &l->b->g;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = i + 1; k < count && all[k].parameter == all[i].parameter; k++) {
            const uint32_t one = number_of(l->b, all[i].life) - 1, other = number_of(l->b, all[k].life) - 1;
            if (all[i].use.depth >= all[k].use.depth)
                g->outlives[one] |= UINT32_C(1) << other;
            if (all[k].use.depth >= all[i].use.depth)
                g->outlives[other] |= UINT32_C(1) << one;
        }
    }
}

/* Whether one of the parameters, or the result, may come to hold what it should not. */
static uint32_t collect_lives(lives *l, met *all, uint32_t room, bool *takes) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < l->function->parameter_count; i++) {
        life_uses u;
        const binding *p = l->function->parameters[i];
        collect_parameter(&u, l->b, l->function, i);
        for (uint32_t k = 0; k < u.count && count < room; k++) {
            if (parameter_named(l->function, u.items[k].name) != NULL)
                continue;
            const uint32_t life = life_of(l, u.items[k].name, p, u.items[k].depth);
            if (life == NO_VARIABLE)
                continue;
            all[count++] = (met){i, life, u.items[k]};
            *takes |= u.items[k].is_exact;
            if (i == 0 && k == 0 && l->function->has_self && (p->is_lent || p->is_shared))
                l->of_self = life;
        }
    }
    return count;
}

static void link_result(lives *l) {
    builder *b = l->b;
    life_uses u = {.b = b, .function = l->function};
    collect(&u, l->function->result_annotation, 0, false, 0);
    uint32_t unnamed = 0, only = NO_VARIABLE;
    for (uint32_t i = 0; i < l->count; i++) {
        unnamed += l->items[i].name == NULL;
        only = l->items[i].name == NULL ? l->items[i].variable : only;
    }
    for (uint32_t i = 0; i < u.count; i++) /* what the result holds in one place counts as one life */
        for (uint32_t k = 0; k < u.count; k++)
            if (u.items[i].depth >= u.items[k].depth)
                note_outlives_one(l, find_life(l, u.items[i].name), find_life(l, u.items[k].name));
    for (uint32_t i = 0; i < u.count; i++) {
        const life_use *use = &u.items[i];
        uint32_t named = find_life(l, use->name);
        named = use->name != NULL ? named : l->of_self != NO_VARIABLE ? l->of_self : unnamed == 1 ? only : NO_VARIABLE;
        if (named != NO_VARIABLE)
            graph_link_variables(&b->g, graph_behind(&b->g, b->result, use->depth), named, true, (source_span){0});
    }
}

void borrow_begin_lives(builder *b) {
    enum { ROOM = 64 };
    lives l = {.b = b, .function = b->function, .span = b->function->span, .of_self = NO_VARIABLE, .in_body = true};
    if (!borrow_has_lives(b, b->function))
        return;
    met *all = GRAPH_ARRAY(&b->g, met, ROOM);
    bool takes = b->result != NO_VARIABLE;
    const uint32_t count = collect_lives(&l, all, ROOM, &takes);
    note_together(&l, all, count);
    note_outlives(&l, &b->function->generics);
    if (b->function->impl != NULL)
        note_outlives(&l, &b->function->impl->generics);
    const uint32_t forever_at = number_of(b, find_life(&l, forever));
    if (forever_at != 0)
        b->g.outlives[forever_at - 1] = UINT32_MAX;
    b->g.function = b->function->name;
    for (uint32_t i = 0; i < b->g.life_count && takes && b->g.life_count > 1; i++) {
        event e = {.kind = EVENT_BORROW, .mode = TOUCH_SHARE, .into = b->g.lives[i], .span = b->function->span};
        e.place = borrow_place_of_variable(b, b->g.lives[i]);
        graph_event(&b->g, b->at, e);
    }
    l.span = (source_span){0};
    for (uint32_t i = 0; i < count; i++)
        meet(&l, &all[i].use, all[i].parameter, all[i].life);
    if (b->result != NO_VARIABLE)
        link_result(&l);
}

void borrow_end_lives(builder *b) {
    for (uint32_t i = 0; i < b->g.life_count; i++)
        borrow_use(b, b->g.lives[i], b->function->span);
}
