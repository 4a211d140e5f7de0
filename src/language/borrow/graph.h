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
    bool is_mutable; /* of a reference; of a view: of one in it */
    bool is_lazy;    /* of a holder: an iterator, which borrows what it runs over */
    bool is_behind;  /* of an iterator: what its items hold lies behind what it borrows itself */
    bool is_by_type; /* of a holder: the checker's type says it, which knows no `&T`: the items may be references */
    bool is_once;    /* a function that its call takes */
    bool is_copied;  /* of a value: a reference that outlives all */
    bool is_cell;    /* all who have it change the same */
    bool is_dyn;     /* `dyn Trait` */
    bool is_guard;   /* a reference that is a value with a destructor */
    bool writes;     /* of a closure: a call of it changes what it captured */
    bool keeps;      /* of a closure: it keeps what it is called with */
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
    EVENT_USE     /* of what `from` holds; with TOUCH_END: by its destructor */
} event_kind;

typedef struct event {
    event_kind kind;
    touch_mode mode;
    bool is_flat; /* of a flow: what lies behind stays where it is */
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
    uint32_t behind;  /* 1 + the variable with the loans that lie behind its references; 0: it has none */
    uint32_t owner;   /* of such a one: whose it is; else itself */
    uint32_t depth;   /* of such a one: behind how many references */
    uint32_t refers;  /* 1 + what lies behind it is this one, whose place it refers to; 0 */
    uint32_t alike;   /* the variable that its loans are kept with: see graph_join */
    uint32_t next;    /* 1 + another one of the same */
    uint32_t lives;   /* 1 + the number of the life that it is, which the signature of the function names; 0: of none */
} variable;

/* Two variables that hold the same loans: the list and what a reference to it leads to. */
typedef struct graph_link {
    uint32_t a, b;
    bool is_flat;
    source_span span;
} graph_link;

enum { GRAPH_DEPTH = 3, GRAPH_LIVES = 32 }; /* behind so many references all is one; of so many lives each is its own */

typedef struct graph {
    masu__arena *arena;
    jmp_buf *memory_ended;
    graph_block *blocks;
    uint32_t block_count, block_capacity;
    variable *variables;
    uint32_t variable_count, variable_capacity;
    graph_link *links;
    uint32_t link_count, link_capacity;
    uint32_t life_count;
    uint32_t lives[GRAPH_LIVES];    /* their variables */
    uint32_t outlives[GRAPH_LIVES]; /* of each: a bit for those that it is at least as long as */
    const char *function;           /* its name */
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

/* The variable that holds what lies behind `depth` references of v. */
uint32_t graph_behind(graph *g, uint32_t v, uint32_t depth);
/* a and b hold the same from here on; what lies behind them, too, unless that is flat. */
void graph_link_variables(graph *g, uint32_t a, uint32_t b, bool is_flat, source_span span);
/* Finds out which variables are one, when all events are there. */
void graph_join(graph *g);
static inline uint32_t graph_alike(const graph *g, uint32_t v) {
    while (g->variables[v].alike != v)
        v = g->variables[v].alike;
    return v;
}
/* Whether what is held behind `depth` references of that sort may be changed through a copy of it. */
bool sort_is_shared_with(const sort *s, uint32_t depth);

/* loans.c: follows each loan to the last use of what holds it. */
void graph_judge(graph *g, diagnostics *found);

#endif
