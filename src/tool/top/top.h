/* top.h: `masu top`: a program that runs, seen through the page that it publishes (masu/publish.h).
 *
 *     file ─► page.c: one whole state, or what is wrong ─► look.c: numbers, rates, words ─┬─► top_text.c: lines
 *                                                                                         └─► screen.c: a terminal
 *
 * Nothing of a page is believed: it may be cut, damaged, of another version, made by somebody else, or left by a
 * program that is dead. It is read by calls into bounded memory; names are shown with their control characters
 * replaced.
 */
#ifndef MASU_TOOL_TOP_H
#define MASU_TOOL_TOP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/page_format.h"

/* ---- page.c ------------------------------------------------------------------------------------------------------ */

typedef struct top_page {
    masu__page_head head;
    masu__page_now now; /* source_count: of sources, at most their number */
    masu__page_source sources[MASU_PUBLISH_SOURCES];
} top_page;

typedef enum top_reading {
    TOP_READ,
    TOP_TORN,   /* somebody writes just now, or died while writing */
    TOP_ABSENT, /* there is no such file */
    TOP_BAD     /* *why */
} top_reading;

/* *out changes only when it is TOP_READ. */
top_reading top_page_read(const char *path, top_page *out, const char **why);

/* ---- look.c: what is seen of it ---------------------------------------------------------------------------------- */

enum { TOP_HISTORY = 600, TOP_PATH_BYTES = 4096 };

typedef enum top_life {
    TOP_RUNS,
    TOP_ENDED,  /* and said so, or its page is gone */
    TOP_DIED,   /* without a word */
    TOP_STOPPED /* it lives and does not write any more */
} top_life;

typedef struct top_rates {
    double allocations, frees; /* a second */
} top_rates;

typedef struct top_look {
    const char *path;
    top_page page, before; /* the last two that differ in time */
    bool has_before;
    top_rates rates[MASU_PUBLISH_SOURCES];
    top_life life;
    uint64_t resident_bytes, resident_peak_bytes;      /* 0: not known */
    unsigned torn;                                     /* looks in a row that found a state half written */
    uint64_t live[TOP_HISTORY], reserved[TOP_HISTORY]; /* of all sources, one a look, the newest last */
    unsigned history;
} top_look;

/* Looks once. False: there is nothing to see, *why; only the first look can say so. */
bool top_look_at(top_look *look, const char **why);

const char *top_life_text(top_life life);
enum { TOP_WORDS = 32 };
/* "12.5 MiB", "1,234": into out. */
const char *top_bytes_text(uint64_t bytes, char out[TOP_WORDS]);
const char *top_count_text(double count, char out[TOP_WORDS]);
const char *top_share_text(uint64_t part, uint64_t whole, char out[TOP_WORDS]);
const char *top_span_text(uint64_t ns, char out[TOP_WORDS]);

/* The rows of the table: a source, and below it its levels where it has some. */
typedef struct top_row {
    const char *name;
    const masu_stats_level *level;
    const top_rates *rates; /* NULL: of a level */
    bool is_level;
} top_row;
enum { TOP_MOST_ROWS = 3 * MASU_PUBLISH_SOURCES };
unsigned top_rows(const top_look *look, bool with_levels, top_row rows[TOP_MOST_ROWS]);

typedef struct top_options {
    const char *path;
    unsigned interval_ms;
    uint64_t looks; /* 0: until the program ends */
    bool as_text;
} top_options;

/* ---- top_text.c, screen.c ---------------------------------------------------------------------------------------- */

int top_text(top_look *look, const top_options *options);
int top_screen(top_look *look, const top_options *options);

#endif
