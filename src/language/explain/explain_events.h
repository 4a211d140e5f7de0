/* explain_events.h: what the margin says, event by event, for the three forms in which it is printed.
 *
 *     explain.c         notes the events of every function
 *     explain_totals.c  what lines and the program cost, in numbers
 *     explain_text.c    for the terminal: totals and a number or two a line; verbose: the source with the margin
 *     explain_json.c    as data; docs/explain.md says what each member means
 *     explain_html.c    as a page that needs nothing but itself
 */
#ifndef MASU_LANGUAGE_EXPLAIN_EVENTS_H
#define MASU_LANGUAGE_EXPLAIN_EVENTS_H

#include "language/explain/explain_words.h"
#include "language/facts/tensor_facts.h"

typedef enum explain_place {
    EXPLAIN_NOWHERE, /* nothing is made, or it has no elements of its own */
    EXPLAIN_IN_FRAME,
    EXPLAIN_IN_SLOT, /* that grows */
    EXPLAIN_AT_CALLER,
    EXPLAIN_IN_POOL
} explain_place;

typedef struct explain_event {
    uint32_t line, order; /* line 0: of a function without a place in the source */
    const ir_function *version;
    const char *text;
    char kind; /* f what a function says of itself, n begins, i another name, b lent, m moves, d dies, a acquired */
    explain_place place; /* of elements that are made here */
    uint64_t bytes;      /* of these; 0: none, or their number is known only when the program runs */
} explain_event;

typedef struct explainer {
    const ir_module *m;
    const source_file *source;
    masu__arena scratch;
    bool failed;
    explain_event *events; /* by line, then in the order of the program */
    uint32_t count, capacity;
    uint32_t line;       /* of the event being noted */
    explain_place place; /* of the same one, as bytes; both are taken back when noted */
    uint64_t bytes;
    tensor_facts facts;
    const ir_function *f;
    const explain_sharing *sharing; /* of f's owner slots */
    uint32_t *versions;             /* by function id: how many of the same original there are */
} explainer;

uint32_t explain_line_of(const explainer *x, source_span span);

/* The event is what a function says of itself. */
bool explain_is_summary(const explain_event *e);
/* Whether an earlier version of the function has the same entry. */
bool explain_said_before(const explain_event *first, const explain_event *e);
/* "{ob,oo} " when only some versions say it. */
void explain_versions(const explainer *x, const explain_event *first, const explain_event *end, const explain_event *e,
                      masu__buffer *out);

void explain_text(const explainer *x, masu__buffer *out);
void explain_short(const explainer *x, masu__buffer *out);
void explain_json(const explainer *x, masu__buffer *out);
void explain_html(const explainer *x, masu__buffer *out);

#endif
