/* Buffers that grow by realloc, as readers of files and builders of lists make them: processor seconds of what is asked
 * for by name.
 *
 *     grow doubling | steps | turns | once | half | bytes
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MIB ((size_t)1 << 20)

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static char *grow(char *at, size_t from, size_t to) {
    at = realloc(at, to);
    if (!at)
        exit(1);
    memset(at + from, 1, to - from);
    return at;
}

/* One buffer, 1 MiB … most, each time by a factor of two or by a MiB. */
static void alone(size_t most, int doubling) {
    char *at = grow(NULL, 0, MIB);
    for (size_t bytes = MIB, next; bytes < most; bytes = next) {
        next = doubling ? 2 * bytes : bytes + MIB;
        at = grow(at, bytes, next);
    }
    free(at);
}

static void in_turns(size_t most) {
    char *a = grow(NULL, 0, MIB), *b = grow(NULL, 0, MIB);
    for (size_t bytes = MIB; bytes < most; bytes += MIB) {
        a = grow(a, bytes, bytes + MIB);
        b = grow(b, bytes, bytes + MIB);
    }
    free(a);
    free(b);
}

static void by_bytes(void) {
    char *a = malloc(5 * MIB), *b = malloc(5 * MIB);
    for (size_t i = 0; a && b && i < 100000; i++) {
        a = realloc(a, 5 * MIB + 8 * i);
        b = realloc(b, 5 * MIB + 8 * i);
    }
    free(a);
    free(b);
}

/* The change alone is timed, beside another live block. */
static double once(size_t from, size_t to) {
    char *at = grow(NULL, 0, from), *other = malloc(MIB);
    double start = now();
    at = realloc(at, to);
    double taken = now() - start;
    free(at);
    free(other);
    return taken;
}

int main(int count, char **words) {
    const char *what = count == 2 ? words[1] : "";
    double start = now(), taken = 0;
    if (!strcmp(what, "doubling"))
        alone(512 * MIB, 1);
    else if (!strcmp(what, "steps"))
        alone(512 * MIB, 0);
    else if (!strcmp(what, "turns"))
        in_turns(256 * MIB);
    else if (!strcmp(what, "bytes"))
        by_bytes();
    else if (!strcmp(what, "once"))
        taken = once(200 * MIB, 400 * MIB);
    else if (!strcmp(what, "half"))
        taken = once(200 * MIB, 50 * MIB);
    else
        return 2;
    printf("%.6f\n", taken > 0 ? taken : now() - start);
    return 0;
}
