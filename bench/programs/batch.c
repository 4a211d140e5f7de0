/* batch.c: so many blocks of one size are taken and written, then all go back, half of them in the order in which they
 * came and half in the other: the inner loop of glibc's benchmark of malloc, one figure for each size and count.
 *
 *     cc -O2 -fno-builtin bench/programs/batch.c -o batch
 *     LD_PRELOAD=LIBRARY ./batch        prints size/count and the ns of a pair with its writing, the least of 30 runs
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST = 1600, PAIRS = 100000, RUNS = 30 };

static char *blocks[MOST];

static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static __attribute__((noinline)) void turn(size_t bytes, int count) {
    for (int i = 0; i < count; i++) {
        blocks[i] = malloc(bytes);
        if (!blocks[i])
            exit(1);
        for (size_t at = 0; at < bytes; at++)
            ((volatile char *)blocks[i])[at] = (char)at;
    }
    for (int i = 0; i < count / 2; i++)
        free(blocks[i]);
    for (int i = count; i-- > count / 2;)
        free(blocks[i]);
}

static double least_ns(size_t bytes, int count) {
    double least = 1e30;
    for (int run = 0; run < RUNS; run++) {
        double begin = now_ns();
        for (int i = 0; i < PAIRS / count; i++)
            turn(bytes, count);
        double ns = (now_ns() - begin) / (PAIRS / count * count);
        least = ns < least ? ns : least;
    }
    return least;
}

int main(void) {
    static const int counts[] = {25, 100, 400, MOST};
    for (size_t bytes = 16; bytes <= 64; bytes *= 2)
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
            printf("%zu/%d %.1f  ", bytes, counts[i], least_ns(bytes, counts[i]));
    puts("");
    return 0;
}
