/* check_cursor.h: a name that refers to one place after another; see check_cursor.c. */
#ifndef MASU_LANGUAGE_CHECK_CURSOR_H
#define MASU_LANGUAGE_CHECK_CURSOR_H

#include <string.h>

#include "language/front/check_private.h"

enum { CURSOR_SITES_MAX = 16, CURSOR_LOOPS_MAX = 16 };

#define CURSOR_VALUE \
    "<value" /* names of values that may be no values: a call of a function without result */

/* Names that stand for a part of the cursor's value, or hide others. */
typedef struct cursor_link {
    pattern *pattern;
    expr *value;     /* what it was held against; NULL: no part of the cursor */
    bool is_pattern; /* of a match, or a `let` of the whole of value */
    const struct cursor_link *outer;
} cursor_link;

typedef struct cursor_site {
    uint32_t number;
    bool is_root;    /* a place outside, not a part of where the cursor stands */
    bool is_content; /* path.as_mut().unwrap(): what stands there is Some(cursor) */
    enum { CURSOR_PLAIN, CURSOR_INDEX, CURSOR_ENTRY, CURSOR_FOUND } keyed;
    expr *value, *path, *key; /* path: without key and unwrap() */
    const char *keys;         /* the list of keys; NULL: none */
    const cursor_link *links; /* what the first name of path means */
} cursor_site;

typedef struct cursor {
    checker *c;
    source_span span;
    const char *name, *steps, *above, *next;
    cursor_site sites[CURSOR_SITES_MAX];
    uint32_t site_count;
    bool is_chosen; /* the first step is written where the place is chosen */
    bool has_steps, broken;
    const char *labels[CURSOR_LOOPS_MAX];
    uint32_t loop_depth;
    const cursor_link *links; /* while an expression's children are walked */
    expr **put_backs;         /* empty blocks that are filled when all sites are known */
    uint32_t put_back_count, put_back_capacity;
} cursor;

/* ---- check_cursor_path.c */

static inline bool cursor_is_method(const expr *e, const char *name, uint32_t count) {
    return e->kind == EXPR_METHOD && e->call.arg_count == count && strcmp(e->call.name, name) == 0;
}

static inline bool cursor_is_view(const expr *e) {
    return cursor_is_method(e, "as_mut", 0) || cursor_is_method(e, "as_deref_mut", 0);
}

static inline bool cursor_is_unwrap(const expr *e) {
    return cursor_is_method(e, "unwrap", 0) || cursor_is_method(e, "expect", 1);
}

static inline bool cursor_is_entry(const expr *e) {
    bool made = cursor_is_method(e, "or_insert", 1) || cursor_is_method(e, "or_insert_with", 1) ||
                cursor_is_method(e, "or_default", 0);
    return made && cursor_is_method(e->call.receiver, "entry", 1);
}

/* Where the first name of the path in *slot stands; NULL: that is no path. */
expr **cursor_first_name(expr **slot);
bool cursor_binds(const pattern *p, const char *name);
bool cursor_is(const cursor *k, const expr *e); /* its name */
/* Whether e is the cursor's value or a part of it. */
bool cursor_is_inside(const cursor *k, const cursor_link *links, expr *e);
/* Whether e, without the blocks in it, names a place that overlaps with one where the cursor started. */
bool cursor_mentions_root(const cursor *k, expr *e);
const cursor_link *cursor_link_of(const cursor_link *at, const char *name);
expr *cursor_name(cursor *k);

/* ---- check_cursor_back.c */

void cursor_begin(cursor *k);
/* A block that puts the cursor back; empty until cursor_fill. */
expr *cursor_put_back(cursor *k);
void cursor_fill(cursor *k);
/* The lets of the cursor's own variables in front of rest. */
stmt *cursor_lets(cursor *k, stmt *rest);

#endif
