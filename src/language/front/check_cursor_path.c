/* check_cursor_path.c: paths from a name to a part of its value, for check_cursor.c: what they are rooted at, and whether two
 * of them can meet.
 */
#include <string.h>

#include "language/front/check_cursor.h"

/* ---- what an expression is rooted at ------------------------------------------------------------------ */

/* Where the next shorter path stands in e; NULL: e is a name, or no path. */
static expr **shorter(expr *e) {
    switch (e->kind) {
    case EXPR_FIELD:
    case EXPR_TUPLE_FIELD:
        return &e->field.base;
    case EXPR_INDEX:
        return &e->index.base;
    case EXPR_UNARY:
        return e->unary.op == UNARY_REFERENCE ? &e->unary.operand : NULL;
    case EXPR_METHOD:
        if (cursor_is_entry(e)) {
            return &e->call.receiver->call.receiver;
        }
        return cursor_is_view(e) || cursor_is_unwrap(e) || cursor_is_method(e, "get_mut", 1)
                   ? &e->call.receiver
                   : NULL;
    default:
        return NULL;
    }
}

expr **cursor_first_name(expr **slot) {
    while (shorter(*slot) != NULL) {
        slot = shorter(*slot);
    }
    return (*slot)->kind == EXPR_NAME && (*slot)->name.scope == NULL ? slot : NULL;
}

bool cursor_binds(const pattern *p, const char *name) {
    bool found = p->binding != NULL && strcmp(p->binding->name, name) == 0;
    for (uint32_t i = 0; !found && i < p->part_count; i++) {
        found = cursor_binds(p->parts[i], name);
    }
    return found;
}

const cursor_link *cursor_link_of(const cursor_link *at, const char *name) {
    while (at != NULL && !cursor_binds(at->pattern, name)) {
        at = at->outer;
    }
    return at;
}

bool cursor_is(const cursor *k, const expr *e) {
    return e->kind == EXPR_NAME && e->name.scope == NULL && strcmp(e->name.name, k->name) == 0;
}

/* Whether e is the cursor's value or a part of it. */
bool cursor_is_inside(const cursor *k, const cursor_link *links, expr *e) {
    expr **name = cursor_first_name(&e);
    if (name == NULL) {
        return false;
    }
    const cursor_link *link = cursor_link_of(links, (*name)->name.name);
    return link != NULL ? link->value != NULL : cursor_is(k, *name);
}

/* ---- places that overlap with where the cursor started -------------------------------------------------- */

enum { PATH_MAX_PARTS = 16 };

/* The fields behind the first name, from it outwards; stops at what is no field. */
static uint32_t fields_of(expr *e, const char **name, const expr **fields) {
    uint32_t count = 0;
    *name = NULL;
    for (expr **next = shorter(e); next != NULL; e = *next, next = shorter(e)) {
        bool field = e->kind == EXPR_FIELD || e->kind == EXPR_TUPLE_FIELD;
        if (!field && e->kind != EXPR_UNARY) {
            count = 0; /* what stands outside of it counts no more */
        }
        if (field && count < PATH_MAX_PARTS) {
            fields[count++] = e;
        }
    }
    if (e->kind == EXPR_NAME && e->name.scope == NULL) {
        *name = e->name.name;
    }
    return count;
}

static bool same_field(const expr *a, const expr *b) {
    return a->kind == b->kind && (a->kind == EXPR_FIELD ? strcmp(a->field.name, b->field.name) == 0
                                                        : a->field.index == b->field.index);
}

static bool overlaps(expr *a, expr *b) {
    const char *one, *other;
    const expr *left[PATH_MAX_PARTS], *right[PATH_MAX_PARTS];
    uint32_t lefts = fields_of(a, &one, left), rights = fields_of(b, &other, right);
    bool same = one != NULL && other != NULL && strcmp(one, other) == 0;
    while (same && lefts > 0 && rights > 0) {
        same = same_field(left[--lefts], right[--rights]);
    }
    return same;
}

typedef struct mention {
    const cursor *k;
    bool found;
} mention;

static bool is_block_like(const expr *e) {
    return e->kind == EXPR_BLOCK || e->kind == EXPR_LOOP || e->kind == EXPR_WHILE ||
           e->kind == EXPR_FOR;
}

/* What puts another cursor back has nothing to put back where this one is used: it started here. */
static void find_mention(expr *e, void *context) {
    mention *m = context;
    if (e->is_put_back) {
        return;
    }
    expr **name = cursor_first_name(&e);
    if (name != NULL) {
        for (uint32_t i = 0; i < m->k->site_count; i++) {
            m->found |= m->k->sites[i].is_root && overlaps(e, m->k->sites[i].path);
        }
    }
    if (e->kind == EXPR_IF) { /* blocks have statements of their own */
        find_mention(e->branch.condition, m);
    } else if (e->kind == EXPR_MATCH) {
        find_mention(e->match.value, m);
    } else if (is_block_like(e)) {
        if (e->kind == EXPR_WHILE || e->kind == EXPR_FOR) {
            find_mention(e->kind == EXPR_WHILE ? e->loop->condition : e->loop->iterable, m);
        }
    } else if (name == NULL || e->kind != EXPR_NAME) {
        expr **base = name == NULL ? NULL : shorter(e);
        if (base == NULL) {
            expr_each_child(e, find_mention, m);
        } else if (e->kind == EXPR_INDEX || e->kind == EXPR_METHOD) {
            mention parts = {.k = m->k};
            expr nothing = {.kind = EXPR_BOOL}, *kept = *base;
            *base = &nothing;
            expr_each_child(e, find_mention, &parts);
            *base = kept;
            m->found |= parts.found;
        }
    }
}

bool cursor_mentions_root(const cursor *k, expr *e) {
    mention m = {.k = k};
    find_mention(e, &m);
    return m.found;
}
