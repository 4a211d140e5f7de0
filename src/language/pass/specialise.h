/* specialise.h: one version of a function for each way its arguments are passed.
 *
 *     step(w, g)      w dies at the call, g lives on      step{ob}     w is handed over, g is lent
 *                     both live on                        step{bb}
 *
 * Versions are made when a call first needs them, starting from main, and wait in a queue until
 * their bodies are done. Recursion ends because a version is made once. A function with many
 * parameters could be wanted in very many ways: from the MOST_VERSIONS-th on it gets the version
 * that takes everything, which every call can serve by acquiring what it keeps.
 */
#ifndef MASU_LANGUAGE_SPECIALISE_H
#define MASU_LANGUAGE_SPECIALISE_H

#include "language/ir/ir.h"

enum { SPECIALISE_MOST_VERSIONS = 32 };

typedef struct version { /* of an original function */
    ir_function *function;
    struct version *next;
} version;

typedef struct specialiser {
    ir_module *m;
    masu__arena *scratch;
    version **versions;  /* by the original's id */
    uint32_t *counts;    /* by the original's id: how many versions */
    ir_function **queue; /* every version in order of discovery; the first `done` have bodies */
    uint32_t queued, done;
} specialiser;

bool specialiser_init(specialiser *s, ir_module *m, masu__arena *scratch);

/* The version of `original` whose parameter k is owned when owned[k]; plain parameters are
 * ignored. When there are too many versions, owned[] is changed to what the result takes. NULL
 * when memory runs out (noted in the module). */
ir_function *specialise(specialiser *s, ir_function *original, bool *owned);

/* The next version whose body is still that of the original, NULL at the end. */
ir_function *specialiser_next(specialiser *s);

/* Puts the versions, and the kernels that they use, in place of the module's functions. */
void specialiser_finish(specialiser *s);

#endif
