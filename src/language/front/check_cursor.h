/* check_cursor.h: a name that refers to one place after another; see check_cursor.c. */
#ifndef MASU_LANGUAGE_CHECK_CURSOR_H
#define MASU_LANGUAGE_CHECK_CURSOR_H

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
    bool has_steps, broken;
    const char *labels[CURSOR_LOOPS_MAX];
    uint32_t loop_depth;
    const cursor_link *links; /* while an expression's children are walked */
    expr **put_backs;         /* empty blocks that are filled when all sites are known */
    uint32_t put_back_count, put_back_capacity;
} cursor;

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
