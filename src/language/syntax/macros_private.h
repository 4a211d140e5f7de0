/* macros_private.h: what the files of macros.h share.
 *
 *     macros.c         definitions, calls, rounds
 *     macros_match.c   whether the tokens of a call fit a rule, and which of them each `$name` is
 *     macros_write.c   what a rule makes of them
 */
#ifndef MASU_LANGUAGE_MACROS_PRIVATE_H
#define MASU_LANGUAGE_MACROS_PRIVATE_H

#include "base/buffer.h"
#include "language/syntax/macros.h"

enum { MACRO_DEEP = 6 };

/* Tokens [from, to) of a text. */
typedef struct macro_part {
    const char *text;
    const token *tokens;
    uint32_t from, to;
} macro_part;

typedef struct macro_rule {
    macro_part matcher, body;
    struct macro_rule *next;
} macro_rule;

typedef struct macro_item {
    const char *name;
    uint32_t length;
    macro_rule *rules;
    source_span first_call;
    struct macro_item *next;
} macro_item;

/* `$name` in round path[0] of the outermost repetition that it is in, path[1] of the next one. Without a name: that a
 * repetition (matcher) has the round. */
typedef struct macro_bound {
    const char *name;
    uint32_t length, depth;
    uint32_t path[MACRO_DEEP];
    macro_part is;
    bool is_expression;
    macro_part matcher;
} macro_bound;

typedef struct macro_match {
    masu__arena *arena;
    macro_bound *bound;
    uint32_t count, capacity, depth;
    uint32_t path[MACRO_DEEP];
    bool out_of_memory;
} macro_match;

bool macro_is(const macro_part *p, uint32_t at, const char *text);
bool macro_same(const macro_part *a, uint32_t i, const macro_part *b, uint32_t k);
/* Behind the bracket that closes the one at `at`; behind `at` where it opens none. */
uint32_t macro_behind(const macro_part *p, uint32_t at);
/* Of `$( … ) , *` at `at`: the part inside, the separator (0: none) and the sign. The place behind it. */
uint32_t macro_repetition(const macro_part *p, uint32_t at, macro_part *inside, uint32_t *separator, uint32_t *sign);
/* masu knows all kinds of parts that the matcher has. */
bool macro_knows(const macro_part *matcher);
bool macro_fits(macro_match *m, const macro_part *matcher, const macro_part *input);

/* alone: the call is a statement or items, so that what its body binds is seen behind it. */
void macro_write(const macro_match *m, const macro_part *body, uint32_t call, bool alone, const char *whole,
                 masu__buffer *out);
bool macro_is_one(const macro_part *p); /* no operator splits it */

#endif
