/* check_getter.h: calls that yield a place of the caller's, written out; see check_getter.c. */
#ifndef MASU_LANGUAGE_CHECK_GETTER_H
#define MASU_LANGUAGE_CHECK_GETTER_H

#include "language/front/check_private.h"

enum { GETTER_SITES_MAX = 6 };

/* <site> is n + 1 where the call yielded places[n], 0 where it yielded None. */
typedef struct written_getter {
    bool option;
    uint32_t count;
    expr *places[GETTER_SITES_MAX];
    expr *chosen;
    expr *node; /* of several places: the call */
} written_getter;

/* By its declaration: `-> Option<&mut T>`, `-> &mut T`. */
bool getter_is_option(const function_item *f);
bool getter_is_plain(const function_item *f);
/* Whether e calls something of the name of such a function. */
bool getter_by_name(const checker *c, const expr *e, bool *option);
/* Writes the call out into b. False: e calls no such function, or one that is being written out; its receiver and
 * arguments may be checked then. */
bool check_write_getter(block_builder *b, expr *e, written_getter *out);
/* <site> == n, unchecked. */
expr *getter_test(checker *c, const written_getter *w, uint32_t n);
/* What Self and the type parameters are in its body. */
type_environment getter_environment(checker *c, function_item *f, const expr *receiver);
/* The statement or value `whole`, in which w->node yields one of several places, once for each; b comes before. */
void getter_split(checker *c, expr **whole, block_builder *b, const written_getter *w,
                  const type *expected);
/* if <site> == 1 { &mut place } else { … }, unchecked. */
expr *getter_choice(checker *c, const written_getter *w);
/* match call { Some(p) => …, None => … }: what is to be checked in its place. */
bool check_getter_match(block_builder *b, expr *e, expr **out);

#endif
