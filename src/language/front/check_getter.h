/* check_getter.h: calls that yield a place of the caller's, written out; see check_getter.c. */
#ifndef MASU_LANGUAGE_CHECK_GETTER_H
#define MASU_LANGUAGE_CHECK_GETTER_H

#include "language/front/check_build.h"
#include "language/front/check_context.h"

enum { GETTER_SITES_MAX = 6 };

typedef enum getter_kind {
    GETTER_NONE,
    GETTER_PLAIN, /* -> &mut T */
    GETTER_OPTION,
    GETTER_RESULT
} getter_kind;

/* <site> is n + 1 where the call yielded places[n], 0 where it yielded None or an error. */
typedef struct written_getter {
    getter_kind kind;
    uint32_t count;
    expr *places[GETTER_SITES_MAX];
    expr *chosen;
    expr *error;        /* of a Result: the name of an Option with the error */
    const type *result; /* likewise: what the function yields */
    expr *node;         /* of several places: the call */
} written_getter;

/* By its declaration. */
getter_kind getter_kind_of(const checker *c, const function_item *f);
/* Whether e is a call that may be one of such a function, by the names: maybe: of an Option or Result. */
bool getter_may_yield(const checker *c, const expr *e, bool maybe);
/* Writes the call out into b. False: e calls no such function, or one that is being written out; its receiver and
 * arguments may be checked then. */
bool check_write_getter(block_builder *b, expr *e, bool maybe, written_getter *out);
/* <site> == n, unchecked. */
expr *getter_test(checker *c, const written_getter *w, uint32_t n);
/* call?: leaves the function that is being checked where nothing was found. */
void getter_leave(block_builder *b, const written_getter *w);
/* What Self and the type parameters are in its body. */
type_environment getter_environment(checker *c, function_item *f, const expr *receiver);
/* The statement or value `whole`, in which w->node yields one of several places, once for each; b comes before. */
void getter_split(checker *c, expr **whole, block_builder *b, const written_getter *w,
                  const type *expected);
/* if <site> == 1 { &mut place } else { … }, unchecked. */
expr *getter_choice(checker *c, const written_getter *w);
/* match call { Some(p) => …, None => … }: what is to be checked in its place. */
bool check_getter_match(block_builder *b, expr *e, expr **out);

/* v[a..b] of a list, as the place behind a reference that is held (check_refer.c). NULL: of something else. */
expr *check_freeze_part(block_builder *b, expr *e);

/* ---- for check_getter_body.c ---------------------------------------------------------------------- */

typedef struct getter_call {
    checker *c;
    const char *label;
    const function_item *function;
    getter_kind kind;
    bool broken;
    const char *error;      /* of a Result: the name of <error> */
    uint32_t first_binding; /* what the function itself declares has this number or a higher one */
    expr *chosen;           /* the name of <site>, checked */
    block_builder lets;
    written_getter *out;
    struct getter_call *outer;
} getter_call;

/* The name of what e calls; NULL: e does not call a name. */
const char *getter_called(const expr *e);
/* A copy of the function's body, unchecked: its results become sites, `return` and `?` leave the labelled block. */
void getter_rewrite(getter_call *g, expr *body);
expr *getter_block(getter_call *g, source_span span, stmt *first, expr *result);
/* break '<call> */
expr *getter_break(getter_call *g, source_span span);

#endif
