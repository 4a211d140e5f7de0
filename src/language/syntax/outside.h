/* outside.h: what programs of the language do elsewhere and masu does not compile, by the names that they do it with. A
 * subject is reported once a program, not at every use. */
#ifndef MASU_LANGUAGE_OUTSIDE_H
#define MASU_LANGUAGE_OUTSIDE_H

#include <stdbool.h>

typedef enum outside_kind {
    OUTSIDE_NOTHING,
    OUTSIDE_THREADS,
    OUTSIDE_ASYNC,
    OUTSIDE_NETWORK,
    OUTSIDE_MODELS,
    OUTSIDE_IMAGES,
    OUTSIDE_TOKENIZERS,
    OUTSIDE_CHATS,
    OUTSIDE_SURROUNDINGS,
    OUTSIDE_WIDE_INTEGERS,
    OUTSIDE_FORGETTING,
} outside_kind; /* fewer than 32 */

/* The subject of scope::name; a method x.name has the scope ".". */
outside_kind outside_find(const char *scope, const char *name);

/* A plural that a sentence can begin with. */
const char *outside_text(outside_kind kind);

/* A word that begins a fact, a rule or a query of a logic program. */
bool outside_is_logic_word(const char *word);

#endif
