/* rng_normals.c: many normal deviates at once: those that masu__rng_normal gives one after the other, to the last bit.
 *
 * xoshiro256++ is a chain of steps, and so nothing for vectors. But 256 steps are a linear map of the state's bits, and
 * so are 512, 768, …: eight places of the chain that lie 256 steps apart are found at once, and from there eight lanes
 * run side by side. Lane 0 has the words 0 to 255 of the chain, lane 1 those from 256 on:
 *
 *     state ─┬─► lane 0   w0    w1    w2   …  w255
 *            ├─► lane 1   w256  w257  …
 *            └─► lane 7   w1792 …          w2047 ─► the state behind the stretch
 *
 * Two words of a lane are one try: a point in the square, kept where it lies in the unit circle. What is kept is put in
 * the order of the chain; then come logarithms and roots, again as vectors. The chain is left right behind the last
 * word that was used, wherever in a stretch that is.
 *
 * What must stay true: as rng.c says, no product is fused with a sum.
 */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3", "fp-contract=off", "no-trapping-math")
#elif defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif

#include <math.h>
#include <string.h>

#include "base/rng.h"

/* As TL_WIDE of runtime/ops/vector_math.h: loops for wider vectors where the processor has them. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define VECTORS __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#define WIDEST  __attribute__((target("arch=x86-64-v4")))
static bool has_wide_vectors(void) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd");
}
#else
#define VECTORS
#define WIDEST
static bool has_wide_vectors(void) {
    return false;
}
#endif

enum { LANES = 8, STEPS = 256, TRIES = STEPS / 2 * LANES, WORD_BITS = 64, PARTS = STEPS / 2 / WORD_BITS };

typedef uint64_t word_lanes __attribute__((vector_size(8 * LANES)));
typedef double real_lanes __attribute__((vector_size(8 * LANES)));
/* Half of the lanes: where a vector has 256 bits or fewer, compilers keep halves of larger ones in memory. */
typedef uint64_t word_half __attribute__((vector_size(8 * LANES / 2), aligned(8)));
typedef double real_half __attribute__((vector_size(8 * LANES / 2), aligned(8)));

/* x^(256 lane) modulo the characteristic polynomial of a step, lowest coefficients first: which of the states 0 to 255
 * steps on have to be added for the one 256 lane steps on. */
static const word_lanes ahead[4] = {
    {UINT64_C(0x0000000000000001), UINT64_C(0x9d116f2bb0f0f001), UINT64_C(0xc7327d130e34b489),
     UINT64_C(0x1546163553a8bf4e), UINT64_C(0x060106bbbe4ff028), UINT64_C(0x9d5a8918f488052a),
     UINT64_C(0x2f121b2b79c58914), UINT64_C(0xd1d35253d56559ff)},
    {UINT64_C(0x0000000000000000), UINT64_C(0x0280002bcefd1a5e), UINT64_C(0x81f675e7a4ef7d84),
     UINT64_C(0xdf8408bef0866758), UINT64_C(0x1be1d76854ddda93), UINT64_C(0xbf212ebaceea061a),
     UINT64_C(0xdca1a0f9e89ab189), UINT64_C(0x9e6507a719b531eb)},
    {UINT64_C(0x0000000000000000), UINT64_C(0x04b4edcf26259f85), UINT64_C(0x6dd49b656055c9da),
     UINT64_C(0x7eca03f4f6b1e60b), UINT64_C(0x8456faeb6230d984), UINT64_C(0xde401c7651ed7ea9),
     UINT64_C(0x0dd3ee7079a6dd3f), UINT64_C(0x3abacfbce94448fe)},
    {UINT64_C(0x0000000000000000), UINT64_C(0x0003c03c3f3ecb19), UINT64_C(0xbe7976372e930435),
     UINT64_C(0x8cff57fe55c5f06d), UINT64_C(0x65507439cf43f0e2), UINT64_C(0x705bd66c3b2b58de),
     UINT64_C(0xbaaf47861466c19f), UINT64_C(0xdc997ccb62e3d354)},
};

/* The tries of one stretch, [step][lane]; and what is kept of them, in the order of the chain. */
typedef struct stretch {
    word_lanes state[4]; /* where each lane begins */
    uint64_t end[4];     /* behind the last one */
    real_lanes u[STEPS / 2], v[STEPS / 2];
    word_lanes within[PARTS]; /* a bit for each try of a lane: it lies in the circle */
} stretch;

typedef struct points {
    double u[TRIES], v[TRIES];
    int64_t count;
} points;

/* ---- the chain --------------------------------------------------------------------------------------------------- */

/* states: 0 to 255 steps on. The lanes from `from` on, as many as a W has. */
#define ADD_STATES(W, from)                                                       \
    do {                                                                          \
        W at_[4] = {{0}, {0}, {0}, {0}};                                          \
        for (int word = 0; word < 4; word++) {                                    \
            W coefficients = *(const W *)((const uint64_t *)&ahead[word] + from); \
            for (int bit = 0; bit < WORD_BITS; bit++) {                           \
                const uint64_t *chain = states[word * WORD_BITS + bit];           \
                const W wanted = -(coefficients & 1);                             \
                for (int i = 0; i < 4; i++)                                       \
                    at_[i] ^= wanted & chain[i];                                  \
                coefficients >>= 1;                                               \
            }                                                                     \
        }                                                                         \
        for (int i = 0; i < 4; i++)                                               \
            *(W *)((uint64_t *)&s->state[i] + from) = at_[i];                     \
    } while (0)

WIDEST static void add_states_wide(const uint64_t states[STEPS][4], stretch *s) {
    ADD_STATES(word_lanes, 0);
}

VECTORS static void add_states(const uint64_t states[STEPS][4], stretch *s) {
    for (int from = 0; from < LANES; from += LANES / 2)
        ADD_STATES(word_half, from);
}

#define ROTATED(x, k) (((x) << (k)) | ((x) >> (WORD_BITS - (k))))

/* rng.c's step of the state a, b, c, d, of one lane or all; the word before it is WORD. */
#define STEP()                              \
    do {                                    \
        const __typeof__(b) far_ = b << 17; \
        c ^= a;                             \
        d ^= b;                             \
        b ^= c;                             \
        a ^= d;                             \
        c ^= far_;                          \
        d = ROTATED(d, 45);                 \
    } while (0)

static void find_lanes(const masu__rng *rng, stretch *s) {
    uint64_t states[STEPS][4], a = rng->state[0], b = rng->state[1], c = rng->state[2], d = rng->state[3];
    for (int i = 0; i < STEPS; i++) {
        uint64_t *to = states[i];
        to[0] = a;
        to[1] = b;
        to[2] = c;
        to[3] = d;
        STEP();
    }
    if (has_wide_vectors())
        add_states_wide(states, s);
    else
        add_states(states, s);
}

/* From 53 bits to a number between -1 and 1. Each half of the bits is put below an exponent: that is the number without
 * a conversion, which processors without 512 bits have for one lane at a time; neither sum rounds. */
#define HIGH(R, word)   ((R)((word) >> 43 | UINT64_C(0x4530000000000000)) - (0x1p84 + 0x1p52))
#define LOW(R, word)    ((R)(((word) >> 11 & UINT64_C(0xffffffff)) | UINT64_C(0x4330000000000000)))
#define PLACED(R, word) (2.0 * ((HIGH(R, word) + LOW(R, word)) * 0x1p-53) - 1.0)

#define WORD            (ROTATED(a + d, 23) + a)

/* The 64 tries of part `part`. Below 1 and not 0 is a matter of sign bits: compilers take comparisons of such vectors
 * apart. */
#define RUN_PART(W, R, part, from)                                                       \
    do {                                                                                 \
        W bits_ = {0};                                                                   \
        for (int k = 0; k < WORD_BITS; k++) {                                            \
            const W first = WORD;                                                        \
            STEP();                                                                      \
            const W second = WORD;                                                       \
            STEP();                                                                      \
            const R u = PLACED(R, first), v = PLACED(R, second), square = u * u + v * v; \
            *(R *)((double *)&s->u[(part)*WORD_BITS + k] + from) = u;                    \
            *(R *)((double *)&s->v[(part)*WORD_BITS + k] + from) = v;                    \
            bits_ |= ((W)(square - 1.0) & -(W)square) >> (WORD_BITS - 1) << k;           \
        }                                                                                \
        *(W *)((uint64_t *)&s->within[part] + from) = bits_;                             \
    } while (0)

#define RUN_LANES(W, R, from)                                      \
    do {                                                           \
        W a = *(const W *)((const uint64_t *)&s->state[0] + from); \
        W b = *(const W *)((const uint64_t *)&s->state[1] + from); \
        W c = *(const W *)((const uint64_t *)&s->state[2] + from); \
        W d = *(const W *)((const uint64_t *)&s->state[3] + from); \
        for (int part = 0; part < PARTS; part++)                   \
            RUN_PART(W, R, part, from);                            \
        const W end[4] = {a, b, c, d};                             \
        for (int i = 0; i < 4; i++)                                \
            s->end[i] = end[i][sizeof(W) / sizeof(uint64_t) - 1];  \
    } while (0)

WIDEST static void run_lanes_wide(stretch *s) {
    RUN_LANES(word_lanes, real_lanes, 0);
}

VECTORS static void run_lanes(stretch *s) {
    for (int from = 0; from < LANES; from += LANES / 2)
        RUN_LANES(word_half, real_half, from);
}

/* Right behind try number `used` - 1 of the stretch. */
static void go_behind(const stretch *s, int64_t used, masu__rng *rng) {
    if (used == TRIES) {
        memcpy(rng->state, s->end, sizeof s->end);
        return;
    }
    const int64_t lane = used / (STEPS / 2), tries = used % (STEPS / 2);
    for (int i = 0; i < 4; i++)
        rng->state[i] = s->state[i][lane];
    for (int64_t k = 0; k < 2 * tries; k++)
        masu__rng_next(rng);
}

/* The tries of one lane and part that are kept, at most `wanted`: up to which one they were used. */
static int keep_part(const stretch *s, int lane, int part, int64_t wanted, points *p) {
    const int64_t end = p->count + wanted;
    const real_lanes *u = s->u + part * WORD_BITS, *v = s->v + part * WORD_BITS;
    int64_t at = p->count;
    int last = -1;
    for (uint64_t bits = s->within[part][lane]; bits && at < end; bits &= bits - 1, at++) {
        last = __builtin_ctzll(bits);
        p->u[at] = u[last][lane];
        p->v[at] = v[last][lane];
    }
    p->count = at;
    return at == end ? last + 1 : WORD_BITS;
}

/* At most `wanted` points, as many as one stretch has. */
static void draw_points(masu__rng *rng, int64_t wanted, stretch *s, points *p) {
    int64_t used = 0;
    find_lanes(rng, s);
    if (has_wide_vectors())
        run_lanes_wide(s);
    else
        run_lanes(s);
    p->count = 0;
    for (int i = 0; i < LANES * PARTS && p->count < wanted; i++)
        used += keep_part(s, i / PARTS, i % PARTS, wanted - p->count, p);
    go_behind(s, used, rng);
}

/* ---- from points to deviates ------------------------------------------------------------------------------------- */

/* rng.c's log_portable without branches: the same operations, none of them fused. */
static inline double log_lane(double x) {
    uint64_t bits, exponent_bits;
    memcpy(&bits, &x, sizeof bits);
    exponent_bits = bits >> 52 | UINT64_C(0x4330000000000000); /* 2^52 + the exponent */
    bits = (bits & UINT64_C(0x000fffffffffffff)) | UINT64_C(0x3ff0000000000000);
    double m, exponent;
    memcpy(&m, &bits, sizeof m);
    memcpy(&exponent, &exponent_bits, sizeof exponent);
    const double above = m > 1.4142135623730951 ? 1.0 : 0.0;
    m = m > 1.4142135623730951 ? m * 0.5 : m;
    exponent = exponent - (0x1p52 + 1023) + above;
    const double s = (m - 1.0) / (m + 1.0), s2 = s * s;
    double sum = 1.0 / 23;
    sum = sum * s2 + 1.0 / 21;
    sum = sum * s2 + 1.0 / 19;
    sum = sum * s2 + 1.0 / 17;
    sum = sum * s2 + 1.0 / 15;
    sum = sum * s2 + 1.0 / 13;
    sum = sum * s2 + 1.0 / 11;
    sum = sum * s2 + 1.0 / 9;
    sum = sum * s2 + 1.0 / 7;
    sum = sum * s2 + 1.0 / 5;
    sum = sum * s2 + 1.0 / 3;
    sum = sum * s2 + 1.0 / 1;
    return 2.0 * s * sum + exponent * 0.69314718055994531;
}

VECTORS static void scale_points(points *p) {
    const int64_t whole = (p->count + LANES - 1) / LANES * LANES;
    for (int64_t i = p->count; i < whole; i++)
        p->u[i] = p->v[i] = 0.5;
    for (int64_t i = 0; i < whole; i++) {
        const double square = p->u[i] * p->u[i] + p->v[i] * p->v[i];
        const double scale = sqrt(-2.0 * log_lane(square) / square);
        p->u[i] *= scale;
        p->v[i] *= scale;
    }
}

/* In pairs, as they are drawn. */
#define STORE(T, suffix)                                                   \
    VECTORS static void store_##suffix(const points *p, T *restrict out) { \
        for (int64_t i = 0; i < p->count; i++) {                           \
            out[2 * i] = (T)p->u[i];                                       \
            out[2 * i + 1] = (T)p->v[i];                                   \
        }                                                                  \
    }
STORE(float, f32)
STORE(double, f64)

/* A stretch costs as much as some 700 steps of the chain: it pays from about that many words on. */
enum { PAYS = 512 };

#define FILL_NORMAL(T, suffix)                                \
    uint64_t i = 0;                                           \
    if (count > 0 && rng->has_spare)                          \
        out[i++] = (T)masu__rng_normal(rng);                  \
    while (count - i >= PAYS) {                               \
        stretch s;                                            \
        points p;                                             \
        draw_points(rng, (int64_t)((count - i) / 2), &s, &p); \
        scale_points(&p);                                     \
        store_##suffix(&p, out + i);                          \
        i += 2 * (uint64_t)p.count;                           \
    }                                                         \
    while (i < count)                                         \
        out[i++] = (T)masu__rng_normal(rng);

void masu__rng_fill_normal_f32(masu__rng *rng, float *out, uint64_t count) {
    FILL_NORMAL(float, f32)
}

void masu__rng_fill_normal_f64(masu__rng *rng, double *out, uint64_t count) {
    FILL_NORMAL(double, f64)
}
