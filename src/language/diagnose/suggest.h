/* suggest.h: the name that was meant where a name is misspelt.
 *
 *     suggestion near = suggest_for("lenght");   suggest_add(&near, "len"), …   near.best is the nearest, NULL: none
 *
 * A candidate is near when one to three letters differ, fewer in short names, so that most letters stay.
 */
#ifndef MASU_LANGUAGE_SUGGEST_H
#define MASU_LANGUAGE_SUGGEST_H

#include <stdbool.h>
#include <stdint.h>

typedef struct suggestion {
    const char *wanted;
    const char *best;  /* the caller's candidate, not a copy */
    uint32_t distance; /* only candidates nearer than this count; 0: none does */
    bool exact;        /* the name itself is a candidate: it is where its kind does not belong */
} suggestion;

suggestion suggest_for(const char *wanted);
/* O(length of one by length of the other); names over 31 letters are left out. */
void suggest_add(suggestion *s, const char *candidate);

#endif
