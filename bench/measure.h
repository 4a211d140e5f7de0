/* measure.h: what every measurement needs: a clock that other programs do not move, cheap random
 * numbers, medians, and a processor to stay on. */
#ifndef MASU_BENCH_MEASURE_H
#define MASU_BENCH_MEASURE_H

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

/* Processor time of the calling thread. */
static inline double thread_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* 31 bits. */
static inline uint32_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static inline int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts the values; count > 0. */
static inline double median(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, compare_doubles);
    return values[count / 2];
}

/* Each thread on a processor of its own, the first allowed one for 0: processors of one machine need
 * not be equally fast, and two threads that happen to share one never wait for each other's cache
 * lines. */
static inline void settle_on_processor(pthread_t thread, int which) {
    cpu_set_t allowed, one;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) <= which)
        return;
    int cpu = -1;
    for (int seen = -1; seen < which;)
        seen += CPU_ISSET(++cpu, &allowed) != 0;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    (void)pthread_setaffinity_np(thread, sizeof one, &one);
}

#endif
