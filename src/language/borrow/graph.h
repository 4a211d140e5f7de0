/* graph.h: a function as the check of borrows sees it: blocks of events on places.
 *
 *     let r = &mut v[i];       touch i: read          borrow v[_] exclusively into <1>      clear r      flow r <- <1>
 *     v.push(*r);              touch *r: read         touch v: change
 *
 * A variable is a number. A place is a variable and steps from it. A loan is a borrow event; what holds it are the
 * variables into which it flows. What must stay true (tests/cli/borrows.sh):
 *     every loan's variable is cleared or new where the loan is made
 *     a step whose type is not known for sure makes the place `unsure`: no loan is made of it
 *     in doubt there is no event: a program that Rust accepts is never refused
 */
#ifndef MASU_LANGUAGE_BORROW_GRAPH_H
#define MASU_LANGUAGE_BORROW_GRAPH_H

#include <setjmp.h>

#include "base/arena.h"
#include "language/borrow/borrow.h"

/* ---- what Rust would say of a type, as far as references go --------------------------------------------- */

typedef enum sort_kind {
    SORT_UNKNOWN,
    SORT_VALUE,     /* no reference is in it */
    SORT_REFERENCE, /* to an item */
    SORT_HOLDER,    /* Option, Vec, iterator …: of items */
    SORT_TUPLE,
    SORT_VIEW /* a struct, or a closure, with references somewhere in it */
} sort_kind;

typedef struct sort {
    sort_kind kind;
    bool is_mutable; /* of a reference */
    bool is_lazy;    /* of a holder: an iterator, which borrows what it runs over */
    bool is_once;    /* a function that its call takes */
    bool is_copied;  /* of a value: a reference that outlives all */
    const struct sort *item;
    const struct sort **parts; /* of a tuple */
    uint32_t count;
    const type *type; /* of a value or view, by the checker; NULL: not known */
} sort;

extern const sort sort_unknown, sort_value, sort_text; /* sort_text: &'static str */

bool sort_holds(const sort *s);

/* ---- places and events ---------------------------------------------------------------------------------- */

typedef enum step_kind { STEP_FIELD, STEP_NUMBER, STEP_ANY, STEP_FOLLOW } step_kind;

typedef struct step {
    step_kind kind;
    bool is_shared; /* of STEP_FOLLOW: behind it nothing is written */
    const char *name;
    uint64_t number;
} step;

enum { PLACE_STEPS = 8, NO_VARIABLE = UINT32_MAX };

typedef struct place {
    uint32_t root;
    uint32_t count;
    bool unsure;
    step steps[PLACE_STEPS];
} place;

typedef enum touch_mode {
    TOUCH_READ,
    TOUCH_WRITE,     /* the place gets a new value; what it referred to is not touched */
    TOUCH_CHANGE,    /* by a method */
    TOUCH_SHARE,     /* & */
    TOUCH_EXCLUSIVE, /* &mut */
    TOUCH_MOVE,
    TOUCH_END /* of the variable */
} touch_mode;

typedef enum event_kind {
    EVENT_TOUCH,
    EVENT_BORROW, /* a touch; `into` holds the new loan */
    EVENT_FLOW,   /* `into` also holds what `from` does */
    EVENT_CLEAR,  /* `into` holds nothing */
    EVENT_USE     /* of what `from` holds */
} event_kind;

typedef struct event {
    event_kind kind;
    touch_mode mode;
    uint32_t into, from;
    const place *place;
    source_span span;
    const char *by; /* the method that changes the place; NULL */
} event;

typedef struct graph_block {
    event *events;
    uint32_t count, capacity;
    uint32_t *next;
    uint32_t next_count, next_capacity;
} graph_block;

typedef struct variable {
    const char *name; /* NULL: a value on its way */
    source_span span;
    const sort *sort;
    bool is_borrowed; /* loans of it, or of its parts, are made */
    bool is_loop;     /* what a `for` runs over */
    bool is_result;   /* what the function returns */
    bool is_outside;  /* what a parameter refers to holds references: it lives on behind the function */
} variable;

typedef struct graph {
    masu__arena *arena;
    jmp_buf *memory_ended;
    graph_block *blocks;
    uint32_t block_count, block_capacity;
    variable *variables;
    uint32_t variable_count, variable_capacity;
    bool has_loans;
} graph;

void *graph_alloc(graph *g, size_t count, size_t bytes); /* zeroed; jumps out when memory ends */
#define GRAPH_ARRAY(g, type, count) ((type *)graph_alloc((g), (count), sizeof(type)))
#define GRAPH_PUSH(g, array, count, capacity, item) \
    MASU_ARENA_PUSH((g)->arena, array, count, capacity, item, longjmp(*(g)->memory_ended, 1))

uint32_t graph_new_block(graph *g);
void graph_edge(graph *g, uint32_t from, uint32_t to);
uint32_t graph_new_variable(graph *g, const char *name, source_span span, const sort *s);
void graph_event(graph *g, uint32_t block, event e);

/* loans.c: follows each loan to the last use of what holds it. */
void graph_judge(graph *g, diagnostics *found);

#endif
