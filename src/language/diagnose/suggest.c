/* suggest.c: see suggest.h. */
#include "language/diagnose/suggest.h"

#include <string.h>

enum { SUGGESTION_LENGTH = 31 };

suggestion suggest_for(const char *wanted) {
    uint32_t length = (uint32_t)strnlen(wanted, SUGGESTION_LENGTH + 1);
    uint32_t allowed = length < 5 ? 1 : length < 8 ? 2 : 3; /* most letters stay */
    return (suggestion){.wanted = wanted, .distance = length > SUGGESTION_LENGTH ? 0 : allowed + 1};
}

/* Insertions, deletions, substitutions and exchanges of neighbours that make b of a; cells beyond
 * limit do not matter. */
static uint32_t edit_distance(const char *a, uint32_t a_length, const char *b, uint32_t b_length) {
    uint32_t rows[3][SUGGESTION_LENGTH + 1];
    uint32_t *before = rows[0], *last = rows[1], *row = rows[2];
    for (uint32_t j = 0; j <= b_length; j++) {
        last[j] = j;
        before[j] = j;
    }
    for (uint32_t i = 1; i <= a_length; i++) {
        row[0] = i;
        for (uint32_t j = 1; j <= b_length; j++) {
            uint32_t best = last[j - 1] + (a[i - 1] != b[j - 1]);
            best = last[j] + 1 < best ? last[j] + 1 : best;
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            row[j] = best;
        }
        uint32_t *spare = before;
        before = last;
        last = row;
        row = spare;
    }
    return last[b_length];
}

void suggest_add(suggestion *s, const char *candidate) {
    if (candidate[0] == '_' && candidate[1] == '_') /* the prelude's own */
        return;
    size_t wanted = strlen(s->wanted), length = strnlen(candidate, SUGGESTION_LENGTH + 1);
    if (length > SUGGESTION_LENGTH || wanted > SUGGESTION_LENGTH || candidate[0] == '<')
        return;
    uint32_t apart = (uint32_t)(length > wanted ? length - wanted : wanted - length);
    s->exact |= strcmp(candidate, s->wanted) == 0;
    if (apart >= s->distance || strcmp(candidate, s->wanted) == 0)
        return;
    uint32_t distance = edit_distance(s->wanted, (uint32_t)wanted, candidate, (uint32_t)length);
    if (distance < s->distance && distance < wanted) {
        s->best = candidate;
        s->distance = distance;
    }
}
