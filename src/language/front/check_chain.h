/* check_chain.h: a chain of iterators that is being written as a loop. Private to check_chain.c, where it starts and
 * what the loop is, and check_stages.c, what its methods do with a value.
 */
#ifndef MASU_CHECK_CHAIN_H
#define MASU_CHECK_CHAIN_H

#include "language/front/check_build.h"
#include "language/library/library.h"
#include "language/types/check_context.h"

enum { STAGES_MAX = 16 };

typedef enum stage_kind {
    STAGE_MAP,
    STAGE_FILTER,
    STAGE_FILTER_MAP,
    STAGE_INSPECT,
    STAGE_FLAT_MAP,
    STAGE_TAKE_WHILE,
    STAGE_SKIP_WHILE,
    STAGE_MAP_WHILE,
    STAGE_SCAN,
    STAGE_ENUMERATE,
    STAGE_SKIP,
    STAGE_TAKE,
    STAGE_STEP_BY,
    STAGE_ZIP,
    /* these end a chain */
    STAGE_FIND,
    STAGE_FIND_MAP,
    STAGE_POSITION,
    STAGE_ANY,
    STAGE_ALL,
    STAGE_SUM,
    STAGE_PRODUCT,
    STAGE_COUNT,
    STAGE_MAX,
    STAGE_MIN,
    STAGE_LAST,
    STAGE_FOLD,
    STAGE_REDUCE,
    STAGE_COLLECT,
    STAGE_NONE
} stage_kind;

typedef struct chain_stage {
    library_said said; /* what the library says of such a method */
    uint32_t args;
    bool has_function, may_stop;
    const char *way; /* a quote (check_stages.c) */
} chain_stage;

extern const chain_stage chain_stages[]; /* by stage_kind */

typedef struct chain {
    checker *c;
    const expr *e; /* the chain; of a loop: what it runs over */
    expr *stages[STAGES_MAX];
    uint32_t count;
    expr **start;
    bool fails;        /* an Option or Result is made of all values: nothing is asked for behind the first failure */
    bool backwards;    /* the list or range that the chain starts from, from its end on */
    const expr *range; /* the range whose numbers are had by their place; NULL: another start */
    uint32_t placing;  /* stages at its beginning that only say which places of the list there are */
    bool pairs;        /* there may be a zip behind them whose pairs are counted before the loop */
    struct chain *sides[STAGES_MAX]; /* of each zip: the other side, which has only a start, places and maps of them */
    bool is_sized;                   /* Rust knows how many elements its start has */
    bool by_number;                  /* and has them by their number, too */
    bool counted;                    /* what it collects has as many elements as there are places */
    expr *behind;                    /* another list that follows it; NULL: none */
    expr *parts;         /* the method whose parts of a list the chain starts from; NULL: it starts from elements */
    const made_of *part; /* the part whose elements it starts from; NULL: another list */
    expr *last_body;     /* of `for`: what is done with each value; NULL: it goes to <all> */
    pattern *pattern;    /* of `for`: what the value is called in the body */
    const char *label;   /* of the loop over the source; NULL: none */
} chain;

stage_kind chain_stage_named(const char *name);
stage_kind chain_kind_of(const expr *e); /* STAGE_NONE: of no method of a chain */
bool chain_passes_on(const expr *e);     /* a stage that does not end the chain */

/* The way of the value from stage `at` on. */
expr *chain_body_of(const chain *h, uint32_t at, const char *value);
/* The counters of the stages: how many came through, how many may. */
void chain_counters(const chain *h, block_builder *before);
/* rev, skip, take and step_by of a list are arithmetic: where to begin, how many there are, how far apart. */
bool chain_is_placing(const expr *stage);
bool chain_is_by_place(const chain *h, uint32_t at); /* a zip whose pairs are counted before the loop */
void chain_places(const chain *h, block_builder *before);
/* At the head of the loop that stage `at` gets its values from: whether a `take` behind it has what it wants. */
void chain_limits(const chain *h, uint32_t at, block_builder *body);
expr *chain_leave(const chain *h, const expr *e); /* out of the loop over the source */

expr *chain_name(checker *c, const expr *e, const char *n);

#endif
