/* random_state.c: the random numbers' state as whole numbers, so that a run that is resumed draws what it would have drawn.
 *
 *     [ four words of the generator | whether a normal deviate is left over | its bits ]
 */
#include <string.h>

#include "runtime/state.h"

enum { STATE = 4, WORDS = STATE + 2 };

tl_tensor *tl_random_state(void) {
    const masu__rng *rng = &tl__runtime()->rng;
    tl_tensor *out = NULL;
    masu_status status = tl__tensor_new(TL_I64, 1, &(int64_t){WORDS}, &out);
    if (status != MASU_OK)
        return tl__tensor_or_raise(status, NULL);
    int64_t *words = out->data;
    memcpy(words, rng->state, sizeof rng->state);
    words[STATE] = rng->has_spare;
    words[STATE + 1] = 0;
    if (rng->has_spare)
        memcpy(&words[STATE + 1], &rng->spare, sizeof rng->spare);
    return out;
}

/* False, and nothing is changed: these are not the words of a state. */
bool tl_random_resume(tl_tensor *state) {
    int64_t words[WORDS], any = 0;
    if (state->dtype != TL_I64 || state->rank != 1 || state->elements != WORDS)
        return false;
    for (int i = 0; i < WORDS; i++)
        words[i] = ((const int64_t *)state->data)[i * state->stride[0]];
    for (int i = 0; i < STATE; i++)
        any |= words[i];
    if (any == 0 || words[STATE] < 0 || words[STATE] > 1)
        return false;
    masu__rng *rng = &tl__runtime()->rng;
    memcpy(rng->state, words, sizeof rng->state);
    rng->has_spare = words[STATE] == 1;
    memcpy(&rng->spare, &words[STATE + 1], sizeof rng->spare);
    return true;
}
