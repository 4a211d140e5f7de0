/* explain_totals.h: what a line of the source costs, in numbers, and what the whole program does. For the short text
 * and the head of the page. */
#ifndef MASU_LANGUAGE_EXPLAIN_TOTALS_H
#define MASU_LANGUAGE_EXPLAIN_TOTALS_H

#include "language/explain/explain_events.h"

typedef struct explain_costs {
    uint32_t line;                                  /* 0: the whole program */
    uint32_t in_frame, in_slot, at_caller, in_pool; /* tensors made here, by where their elements lie */
    uint32_t acquires, deaths;
    uint64_t bytes; /* of the tensors made here, as far as their sizes are known before the program runs */
    bool has_open;  /* some are not */
} explain_costs;

typedef struct explain_totals {
    explain_costs all, elsewhere; /* the latter: in functions of the library, which have no line here */
    uint32_t functions, slots, acquires, releases, growing;
    uint64_t frame_bytes, frame_bound;
    explain_costs most[5]; /* the lines that ask most of pools and counts, dearest first */
    uint32_t most_count;
} explain_totals;

/* Events of one line; what several versions of a function do alike counts once. */
explain_costs explain_costs_of(const explain_event *first, const explain_event *end);
explain_totals explain_totals_of(const explainer *x);
/* "2 from a pool, 1 in the frame, 1 count, 3 die"; nothing for a line without costs. */
void explain_put_costs(const explain_costs *costs, masu__buffer *out);
/* "; 288 bytes", "; 288 bytes and more"; nothing where none are known. */
void explain_put_bytes(const explain_costs *costs, masu__buffer *out);
/* Three lines: the program, what it makes, the lines that cost most. */
void explain_put_totals(const explain_totals *totals, masu__buffer *out);

#endif
