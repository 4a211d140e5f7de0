/* random.c: the numbers that a program draws by itself, and the state that they come from.
 *
 * A generator of the language (library/random.tl) is its state as a value. Before it draws, the runtime takes its state
 * over, and hands back afterwards what has become of it: so tensors of any generator are filled by the one loop of
 * creation.c.
 */
#include <math.h>
#include <string.h>

#include "runtime/state.h"

int64_t tl_random_word(int64_t which) {
    const masu__rng *rng = &tl__runtime()->rng;
    return (int64_t)rng->state[which & 3];
}

/* The second normal deviate of a pair; NaN: none waits. */
double tl_random_spare(void) {
    const masu__rng *rng = &tl__runtime()->rng;
    return rng->has_spare ? rng->spare : (double)NAN;
}

void tl_random_set(int64_t a, int64_t b, int64_t c, int64_t d, double spare) {
    masu__rng *rng = &tl__runtime()->rng;
    const int64_t words[4] = {a, b, c, d};
    memcpy(rng->state, words, sizeof words);
    rng->state[0] |= (a | b | c | d) == 0; /* all zero would stay so */
    rng->has_spare = !isnan(spare);
    rng->spare = rng->has_spare ? spare : 0;
}

void tl_random_seed(int64_t seed) {
    masu__rng_seed(&tl__runtime()->rng, (uint64_t)seed);
}

double tl_random_uniform(void) {
    return masu__rng_uniform(&tl__runtime()->rng);
}

double tl_random_normal(void) {
    return masu__rng_normal(&tl__runtime()->rng);
}

/* Below `bound`, which is at least 1. */
int64_t tl_random_below(int64_t bound) {
    return (int64_t)masu__rng_below(&tl__runtime()->rng, bound > 0 ? (uint64_t)bound : 1);
}

/* ---- many at once ------------------------------------------------------------------------------------------------ */

/* [n] numbers to be filled; NULL, and raised. */
static tl_tensor *new_numbers(int64_t n) {
    tl_tensor *out = NULL;
    masu_status status = tl__tensor_new(TL_I64, 1, &n, &out);
    return tl__tensor_or_raise(status, out);
}

/* By exchanges from the end on (Fisher and Yates). */
tl_tensor *tl_random_permutation(int64_t n) {
    tl_tensor *out = new_numbers(n);
    if (!out)
        return NULL;
    masu__rng *rng = &tl__runtime()->rng;
    int64_t *to = out->data;
    for (int64_t i = 0; i < n; i++)
        to[i] = i;
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t j = (int64_t)masu__rng_below(rng, (uint64_t)i + 1), last = to[i];
        to[i] = to[j];
        to[j] = last;
    }
    return out;
}

/* low < high. */
tl_tensor *tl_random_whole(int64_t n, int64_t low, int64_t high) {
    tl_tensor *out = new_numbers(n);
    if (!out)
        return NULL;
    masu__rng *rng = &tl__runtime()->rng;
    int64_t *to = out->data;
    for (int64_t i = 0; i < n; i++)
        to[i] = (int64_t)((uint64_t)low + masu__rng_below(rng, (uint64_t)high - (uint64_t)low));
    return out;
}

/* t, a vector, as row-major f64. The caller owns *out. */
static masu_status dense_numbers(tl_tensor *t, tl_tensor **out) {
    tl_tensor *x;
    masu_status status = tl__tensor_cast(t, TL_F64, &x);
    if (status != MASU_OK)
        return status;
    status = tl__tensor_contiguous(x, out);
    tl__tensor_drop(x);
    return status;
}

enum { TOGETHER = 16 };

/* places[k]: the first sum above u[k], the last one where none is. By bisection, several at a time: no step is a branch
 * that depends on a number, and none waits for another's.
 *
 *     low[k] ≤ places[k] ≤ low[k] + left
 */
static void places_in(const double *sums, int64_t count, const double u[TOGETHER], int64_t low[TOGETHER]) {
    for (int k = 0; k < TOGETHER; k++)
        low[k] = 0;
    for (int64_t left = count - 1; left > 0;) {
        int64_t half = (left + 1) / 2;
        for (int k = 0; k < TOGETHER; k++)
            low[k] += sums[low[k] + half - 1] <= u[k] ? half : 0;
        left -= half;
    }
}

static void draw_places(const double *sums, int64_t count, int64_t *out, int64_t n) {
    masu__rng *rng = &tl__runtime()->rng;
    double u[TOGETHER] = {0};
    int64_t places[TOGETHER];
    for (int64_t i = 0; i < n; i += TOGETHER) {
        int64_t some = n - i < TOGETHER ? n - i : TOGETHER;
        for (int64_t k = 0; k < some; k++)
            u[k] = masu__rng_uniform(rng) * sums[count - 1];
        places_in(sums, count, u, places);
        memcpy(out + i, places, (size_t)some * sizeof *out);
    }
}

tl_tensor *tl_random_places(tl_tensor *sums, int64_t n) {
    tl_tensor *dense, *out = NULL;
    masu_status status = dense_numbers(sums, &dense);
    if (status != MASU_OK)
        return tl__tensor_or_raise(status, NULL);
    status = tl__tensor_new(TL_I64, 1, &n, &out);
    if (status == MASU_OK && dense->elements > 0)
        draw_places(dense->data, dense->elements, out->data, n);
    tl__tensor_drop(dense);
    return tl__tensor_or_raise(status, out);
}

/* Infinity for a weight of 0, which draws nothing. */
tl_tensor *tl_random_times(tl_tensor *weights) {
    tl_tensor *dense, *out = NULL;
    masu_status status = dense_numbers(weights, &dense);
    if (status != MASU_OK)
        return tl__tensor_or_raise(status, NULL);
    status = tl__tensor_new(TL_F64, 1, &dense->elements, &out);
    const double *w = dense->data;
    for (int64_t i = 0; i < dense->elements && status == MASU_OK; i++)
        ((double *)out->data)[i] = w[i] > 0 ? -log(1 - masu__rng_uniform(&tl__runtime()->rng)) / w[i]
                                            : (double)INFINITY;
    tl__tensor_drop(dense);
    return tl__tensor_or_raise(status, out);
}

/* ---- the state as a tensor: a run that is resumed draws what it would have drawn --------------------------------- */

/* [ four words of the generator | whether a normal deviate is left over | its bits ] */
enum { STATE = 4, WORDS = STATE + 2 };

tl_tensor *tl_random_state(void) {
    const masu__rng *rng = &tl__runtime()->rng;
    tl_tensor *out = new_numbers(WORDS);
    if (!out)
        return NULL;
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
