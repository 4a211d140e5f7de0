/* pools.c: what a heap costs against the system's malloc, and against its own device.
 *
 *     pools            a table: nanoseconds an operation, median of the rounds, ratio to malloc
 *     pools --json     the same numbers as one JSON object
 *
 * Both sides do the same work in turns, round by round, so that a busy machine disturbs them
 * alike. Nothing is asserted here.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <masu/masu.h>

enum { ROUNDS = 5, LIVE = 4096, MIB = 1 << 20 };

static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static uint32_t random_state = 1;

static uint32_t next_random(void) {
    random_state = random_state * 1664525u + 1013904223u;
    return random_state >> 8;
}

/* The compiler must believe that somebody looks at the pointer, or it removes malloc with its
 * free. */
static void keep(void *ptr) {
    __asm__ volatile("" : : "r"(ptr) : "memory");
}

static void must(masu_status status) {
    if (status == MASU_OK)
        return;
    fprintf(stderr, "pools: %s\n", masu_status_text(status));
    exit(1);
}

/* ---- the contestants ------------------------------------------------------------------------- */

typedef enum contestant { SYSTEM, HEAP, LOCKED_HEAP, DEVICE, CONTESTANTS } contestant;

static const char *const contestant_names[] = {"malloc", "heap", "heap with lock", "mmap"};

static masu_heap *heaps[CONTESTANTS];

static inline void *take(contestant who, size_t bytes) {
    void *ptr;
    if (who == SYSTEM) {
        ptr = malloc(bytes);
    } else if (who == DEVICE) {
        ptr = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    } else {
        must(masu_heap_alloc(heaps[who], bytes, 0, &ptr));
    }
    keep(ptr);
    return ptr;
}

static inline void give(contestant who, void *ptr, size_t bytes) {
    if (who == SYSTEM)
        free(ptr);
    else if (who == DEVICE)
        munmap(ptr, bytes);
    else
        must(masu_heap_free(heaps[who], ptr, bytes));
}

/* ---- the work -------------------------------------------------------------------------------- */

typedef struct work {
    const char *name;
    size_t least, most; /* bytes; equal: one size */
    int count;          /* operations a round */
} work;

static const work pairs[] = {
    {"pair", 64, 64, 1000000},       {"pair", 256, 256, 1000000},
    {"pair", 1024, 1024, 1000000},   {"pair", 4096, 4096, 1000000},
    {"pair", 16384, 16384, 1000000}, {"pair", 65536, 65536, 100000},
    {"pair", MIB, MIB, 100000},      {"pair", 16 * MIB, 16 * MIB, 30000},
};

static const work swaps[] = {
    {"4096 live, swap one", 64, 16384, 200000},
    {"4096 live, swap one", 16385, MIB, 10000},
};

/* Allocate and free at once. */
static double run_pairs(contestant who, const work *w) {
    int count = who == DEVICE ? w->count / 100 : w->count;
    double start = now_ns();
    for (int i = 0; i < count; i++)
        give(who, take(who, w->least), w->least);
    return (now_ns() - start) / count;
}

/* Many live blocks of random size; one operation frees one and allocates another. */
static double run_swaps(contestant who, const work *w) {
    static void *blocks[LIVE];
    static size_t sizes[LIVE];
    random_state = 1;
    for (int i = 0; i < LIVE; i++) {
        sizes[i] = w->least + next_random() % (w->most - w->least);
        blocks[i] = take(who, sizes[i]);
    }
    double start = now_ns();
    for (int i = 0; i < w->count; i++) {
        uint32_t k = next_random() % LIVE;
        give(who, blocks[k], sizes[k]);
        sizes[k] = w->least + next_random() % (w->most - w->least);
        blocks[k] = take(who, sizes[k]);
    }
    double spent = (now_ns() - start) / w->count;
    for (int i = 0; i < LIVE; i++)
        give(who, blocks[i], sizes[i]);
    return spent;
}

/* ---- medians and output ---------------------------------------------------------------------- */

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef double (*runner)(contestant who, const work *w);

static void measure(runner run, const work *w, double medians[CONTESTANTS]) {
    double times[CONTESTANTS][ROUNDS];
    bool with_device = w->least == w->most && w->least >= 4096;
    for (int round = 0; round < ROUNDS; round++)
        for (int who = 0; who < CONTESTANTS; who++)
            times[who][round] = who != DEVICE || with_device ? run((contestant)who, w) : 0;
    for (int who = 0; who < CONTESTANTS; who++) {
        qsort(times[who], ROUNDS, sizeof **times, compare);
        medians[who] = times[who][ROUNDS / 2];
    }
}

static void print_bytes(char *text, size_t room, size_t bytes) {
    if (bytes >= MIB)
        snprintf(text, room, "%zu MiB", bytes / MIB);
    else if (bytes >= 1024)
        snprintf(text, room, "%zu KiB", bytes / 1024);
    else
        snprintf(text, room, "%zu B", bytes);
}

static void print_row(const work *w, const double medians[CONTESTANTS], bool json, bool first) {
    if (json) {
        printf("%s\n    {\"work\": \"%s\", \"least_bytes\": %zu, \"most_bytes\": %zu",
               first ? "" : ",", w->name, w->least, w->most);
        for (int who = 0; who < CONTESTANTS; who++)
            if (medians[who] > 0)
                printf(", \"%s\": %.2f", contestant_names[who], medians[who]);
        printf("}");
        return;
    }
    char least[24], most[24] = "";
    print_bytes(least, sizeof least, w->least);
    if (w->most != w->least)
        print_bytes(most, sizeof most, w->most);
    printf("%-20s %8s %-9s", w->name, least, most);
    for (int who = 0; who < CONTESTANTS; who++)
        medians[who] > 0 ? printf(" %10.1f", medians[who]) : printf(" %10s", "");
    printf(" %9.2f\n", medians[HEAP] / medians[SYSTEM]);
}

static void run_all(runner run, const work *works, size_t count, bool json, bool *first) {
    for (size_t i = 0; i < count; i++) {
        double medians[CONTESTANTS];
        measure(run, &works[i], medians);
        print_row(&works[i], medians, json, *first);
        *first = false;
    }
}

static void open_heaps(void) {
    masu_heap_config config = masu_heap_config_default();
    config.checked = false;
    must(masu_heap_create(&config, &heaps[LOCKED_HEAP]));
    config.thread_safe = false;
    must(masu_heap_create(&config, &heaps[HEAP]));
}

int main(int argc, char **argv) {
    bool json = argc > 1 && strcmp(argv[1], "--json") == 0;
    if (argc > 2 || (argc == 2 && !json)) {
        fprintf(stderr, "usage: pools [--json]\n");
        return 2;
    }
    open_heaps();
    if (json)
        printf("{\"unit\": \"ns\", \"rounds\": %d, \"rows\": [", ROUNDS);
    else
        printf("%-39s %10s %10s %10s %10s %9s\n", "ns an operation", "malloc", "heap", "locked",
               "mmap", "ratio");
    bool first = true;
    run_all(run_pairs, pairs, sizeof pairs / sizeof *pairs, json, &first);
    run_all(run_swaps, swaps, sizeof swaps / sizeof *swaps, json, &first);
    if (json)
        printf("\n]}\n");
    must(masu_heap_destroy(heaps[HEAP]));
    must(masu_heap_destroy(heaps[LOCKED_HEAP]));
    return 0;
}
