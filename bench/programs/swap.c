/* swap.c: 5000 blocks of LEAST to MOST bytes, of which one at random is freed and another of a random size taken and
 * written: the inner loop of larson without its threads and pauses, so that a run is short and has one figure.
 *
 *     cc -O2 -fno-builtin bench/programs/swap.c -o swap
 *     LD_PRELOAD=LIBRARY ./swap [LEAST MOST]       8 1000; prints the ns of a pair, the least of 30 runs
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BLOCKS = 5000, PAIRS = 500000, RUNS = 30 };

static char *blocks[BLOCKS];
static uint64_t state = 88172645463325252u;

static uint32_t any(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 16);
}

static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void swap_one(uint32_t least, uint32_t range) {
    uint32_t at = any() % BLOCKS;
    free(blocks[at]);
    volatile char *block = malloc(least + any() % range);
    blocks[at] = (char *)block;
    block[0] = 'a';
    block[1] = block[0];
}

int main(int count, char **words) {
    uint32_t least = count > 2 ? (uint32_t)atoi(words[1]) : 8, most = count > 2 ? (uint32_t)atoi(words[2]) : 1000;
    double best = 1e9;
    for (int i = 0; i < BLOCKS; i++)
        blocks[i] = malloc(least);
    for (int run = 0; run < RUNS; run++) {
        double start = now_ns();
        for (int i = 0; i < PAIRS; i++)
            swap_one(least, most - least + 1);
        double ns = (now_ns() - start) / PAIRS;
        best = ns < best ? ns : best;
    }
    printf("%.2f\n", best);
    return 0;
}
