/* pools.c: the pools against the best general allocators, against their own device, and against
 * their own promises. Nothing is asserted here.
 *
 *     pools            tables: nanoseconds, medians, ratio to the best peer
 *     pools --json     the same numbers as one JSON object
 *     pools --quick    fewer rounds
 *
 * Peers are glibc and, where their libraries are installed, mimalloc, jemalloc and tcmalloc: the
 * program runs itself again with the peer preloaded, one process for each number, so that none
 * sees the other's heap. All contestants take turns, round by round, and a busy machine disturbs
 * them alike. The clock counts the processor time of the threads that work, not the time that
 * other programs took from them.
 */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <masu/masu.h>

#include "measure.h"

enum { KIB = 1 << 10, MIB = 1 << 20, LIVE = 4096, MOST_ROUNDS = 9 };

/* ---- contestants ----------------------------------------------------------------------------- */

/* masu three ways: inlined into the caller with the size at the free, called with it, and called without it as C
 * does. */
typedef enum contestant { MASU, CALLED, UNSIZED, GLIBC, MIMALLOC, JEMALLOC, TCMALLOC, CONTESTANTS } contestant;

static const char *const names[] = {"masu", "called", "unsized", "glibc", "mimalloc", "jemalloc", "tcmalloc"};
static const char *const libraries[][3] = {
    {""},
    {""},
    {""},
    {""},
    {"libmimalloc.so.2", "libmimalloc.so.2.0", "libmimalloc.so"},
    {"libjemalloc.so.2", "libjemalloc.so", "libjemalloc.so.1"},
    {"libtcmalloc_minimal.so.4", "libtcmalloc_minimal.so", "libtcmalloc.so.4"},
};

static contestant side_of_this;
static int rounds = 5;

static void must(masu_status status) {
    if (status == MASU_OK)
        return;
    fprintf(stderr, "pools: %s\n", masu_status_text(status));
    exit(1);
}

/* The compiler must believe that somebody looks, or it removes malloc with its free. */
static inline void *keep(void *ptr) {
    __asm__ volatile("" : "+r"(ptr) : : "memory");
    return ptr;
}

static inline size_t hide(size_t bytes) {
    __asm__ volatile("" : "+r"(bytes));
    return bytes;
}

/* ---- work: every kind is compiled once for each side of masu and once for malloc --------------------------------- */

typedef struct work {
    const char *name;
    size_t least, most; /* bytes */
    double target;      /* of the ratio to the best peer */
} work;

enum { REPEATS = 31, PAIRS = 20000, SWAPS = 100000, BATCH = 512, BATCHES = 300 };

static __attribute__((noinline)) void *called_alloc(size_t bytes) {
    return masu_alloc(bytes);
}

static __attribute__((noinline)) void called_free(void *ptr, size_t bytes) {
    (void)masu_free(ptr, bytes);
}

static __attribute__((noinline)) void unsized_free(void *ptr) {
    (void)masu_free_unsized(ptr);
}

static inline __attribute__((always_inline)) void *take(contestant side, size_t bytes) {
    return side == MASU ? masu_alloc(bytes) : side < GLIBC ? called_alloc(bytes) : malloc(bytes);
}

static inline __attribute__((always_inline)) void give(contestant side, void *ptr, size_t bytes) {
    side == MASU      ? (void)masu_free(ptr, bytes)
    : side == CALLED  ? called_free(ptr, bytes)
    : side == UNSIZED ? unsized_free(ptr)
                      : free(ptr);
}

/* work(side, …), compiled for each side. */
#define FOR_THIS_SIDE(work, ...)                            \
    (side_of_this == MASU      ? work(MASU, __VA_ARGS__)    \
     : side_of_this == CALLED  ? work(CALLED, __VA_ARGS__)  \
     : side_of_this == UNSIZED ? work(UNSIZED, __VA_ARGS__) \
                               : work(GLIBC, __VA_ARGS__))

static inline __attribute__((always_inline)) double pairs_of(contestant side, const work *w) {
    double times[REPEATS];
    int count = w->least > 512 * KIB ? PAIRS / 20 : PAIRS;
    for (int r = 0; r < REPEATS; r++) {
        double start = thread_ns();
        for (int i = 0; i < count; i++) {
            size_t bytes = hide(w->least);
            void *ptr = keep(take(side, bytes));
            give(side, ptr, bytes);
        }
        times[r] = (thread_ns() - start) / count;
    }
    return median(times, REPEATS);
}

static double run_pairs(const work *w) {
    return FOR_THIS_SIDE(pairs_of, w);
}

/* Many live blocks of random size; a step frees one and allocates another. The sizes are drawn
 * beforehand, and a round without the clock writes to each block, so that no side pays for fresh
 * pages. */
static inline __attribute__((always_inline)) double swaps_of(contestant side, const work *w, uint64_t seed) {
    void **blocks = mmap(NULL, LIVE * sizeof *blocks, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint32_t *sizes = mmap(NULL, (LIVE + 2 * SWAPS) * sizeof *sizes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint32_t *drawn = sizes + LIVE;
    for (int i = 0; i < 2 * SWAPS; i++)
        drawn[i] = i % 2 ? next_random(&seed) % LIVE
                         : (uint32_t)(w->least + next_random(&seed) % (w->most - w->least + 1));
    for (int i = 0; i < LIVE; i++) {
        sizes[i] = (uint32_t)(w->least + next_random(&seed) % (w->most - w->least + 1));
        blocks[i] = keep(take(side, sizes[i]));
    }
    for (int i = 0; i < 2 * SWAPS; i += 2) {
        uint32_t k = drawn[i + 1];
        give(side, blocks[k], sizes[k]);
        sizes[k] = drawn[i];
        blocks[k] = keep(take(side, sizes[k]));
        *(volatile char *)blocks[k] = 1;
    }
    double times[5];
    for (int r = 0; r < 5; r++) {
        double start = thread_ns();
        for (int i = 0; i < 2 * SWAPS; i += 2) {
            uint32_t k = drawn[i + 1];
            give(side, blocks[k], sizes[k]);
            sizes[k] = drawn[i];
            blocks[k] = keep(take(side, sizes[k]));
        }
        times[r] = (thread_ns() - start) / SWAPS;
    }
    for (int i = 0; i < LIVE; i++)
        give(side, blocks[i], sizes[i]);
    return median(times, 5);
}

static double run_swaps(const work *w) {
    return FOR_THIS_SIDE(swaps_of, w, 1);
}

typedef struct two {
    const work *w;
    uint64_t seed;
    double ns;
    pthread_barrier_t *barrier;
    void *(*blocks)[BATCH];
    bool takes;
} two;

static void *swaps_thread(void *argument) {
    two *t = argument;
    pthread_barrier_wait(t->barrier);
    t->ns = FOR_THIS_SIDE(swaps_of, t->w, t->seed);
    return NULL;
}

static double run_two(const work *w, void *(*body)(void *)) {
    pthread_t threads[2];
    pthread_barrier_t barrier;
    static void *blocks[2][BATCH];
    two sides[2];
    pthread_barrier_init(&barrier, NULL, 2);
    for (int i = 0; i < 2; i++) {
        sides[i] = (two){w, (uint64_t)i + 1, 0, &barrier, blocks, i == 0};
        pthread_create(&threads[i], NULL, body, &sides[i]);
        settle_on_processor(threads[i], i);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return (sides[0].ns + sides[1].ns) / 2;
}

static double run_swaps_two(const work *w) {
    return run_two(w, swaps_thread);
}

/* One thread allocates a batch while the other frees the batch before it. The first third is not
 * on the clock and writes to the blocks, so that no side pays for fresh pages. */
static inline __attribute__((always_inline)) double pipe_of(contestant side, two *t) {
    double spent = 0, timed = 0;
    uint64_t seed = 3;
    for (int batch = 0; batch <= BATCHES; batch++) {
        void **blocks = t->blocks[t->takes ? batch % 2 : (batch + 1) % 2];
        uint64_t sizes = seed; /* both sides draw the same ones */
        bool warm = batch > BATCHES / 3;
        pthread_barrier_wait(t->barrier);
        if (t->takes ? batch == BATCHES : batch == 0)
            continue;
        double start = thread_ns();
        for (int i = 0; i < BATCH; i++) {
            size_t bytes = t->w->least + next_random(&sizes) % (t->w->most - t->w->least + 1);
            if (!t->takes)
                give(side, blocks[i], bytes);
            else
                blocks[i] = keep(take(side, bytes));
            if (t->takes && !warm)
                *(volatile char *)blocks[i] = 1;
        }
        spent += warm ? thread_ns() - start : 0;
        timed += warm ? BATCH : 0;
        seed = sizes;
    }
    return 2 * spent / timed; /* the mean of both sides is half a pair */
}

static void *pipe_thread(void *argument) {
    two *t = argument;
    t->ns = FOR_THIS_SIDE(pipe_of, t);
    return NULL;
}

static double run_pipe(const work *w) {
    return run_two(w, pipe_thread);
}

typedef struct row {
    work w;
    double (*run)(const work *);
    int threads;
} row;

#define PAIR(bytes, target) \
    { {"pair", bytes, bytes, target}, run_pairs, 1 }
static const row rows[] = {
    PAIR(64, 0.4),
    PAIR(128, 0.4),
    PAIR(256, 0.4),
    PAIR(512, 0.4),
    PAIR(1 * KIB, 0.4),
    PAIR(2 * KIB, 0.4),
    PAIR(4 * KIB, 0.4),
    PAIR(8 * KIB, 0.4),
    PAIR(16 * KIB, 0.4),
    {{"4096 live, swap one", 64, 16 * KIB, 0.6}, run_swaps, 1},
    {{"the same, two threads", 64, 16 * KIB, 0.7}, run_swaps_two, 2},
    {{"producer, consumer", 64, 16 * KIB, 0.7}, run_pipe, 2},
    {{"producer, consumer", 64, 1 * KIB, 0.7}, run_pipe, 2},
    PAIR(64 * KIB, 1),
    PAIR(128 * KIB, 1),
    PAIR(256 * KIB, 1),
    PAIR(512 * KIB, 1),
    PAIR(1 * MIB, 1),
    PAIR(2 * MIB, 1),
    PAIR(4 * MIB, 1),
    PAIR(8 * MIB, 1),
    PAIR(16 * MIB, 1),
};
enum { ROWS = sizeof rows / sizeof *rows };

/* ---- one number, in a process of its own ------------------------------------------------------ */

static double ask(const char *self, contestant who, int number, const char *library) {
    int ends[2];
    char index[16], text[64] = "";
    snprintf(index, sizeof index, "%d", number);
    if (pipe(ends) != 0)
        return 0;
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 1);
        if (library[0])
            setenv("LD_PRELOAD", library, 1);
        execl(self, self, "--one", names[who], index, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    size_t got = 0;
    ssize_t n;
    while (got < sizeof text - 1 && (n = read(ends[0], text + got, sizeof text - 1 - got)) > 0)
        got += (size_t)n;
    close(ends[0]);
    int status;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? strtod(text, NULL) : 0;
}

/* A library that cannot be preloaded is passed over by the loader in silence, so ask for its
 * file. */
static const char *find_library(contestant who) {
    static const char *const folders[] = {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64",
                                          "/usr/lib", "/usr/local/lib"};
    static char found[CONTESTANTS][256];
    if (who <= GLIBC)
        return "";
    for (size_t f = 0; f < sizeof folders / sizeof *folders; f++)
        for (int i = 0; i < 3; i++) {
            snprintf(found[who], sizeof found[who], "%s/%s", folders[f], libraries[who][i]);
            if (access(found[who], R_OK) == 0)
                return found[who];
        }
    return NULL;
}

/* ---- output ---------------------------------------------------------------------------------- */

static bool json;
static bool first_item = true;

static const char *text_of(size_t bytes) {
    static char texts[4][24];
    static int turn;
    char *text = texts[turn++ % 4];
    const char *unit = bytes >= MIB ? "MiB" : bytes >= KIB ? "KiB" : "B";
    snprintf(text, sizeof *texts, "%zu %s", bytes >= MIB ? bytes / MIB : bytes >= KIB ? bytes / KIB : bytes, unit);
    return text;
}

static void print_row(const work *w, const double ns[CONTESTANTS]) {
    double best = 0;
    for (int who = GLIBC; who < CONTESTANTS; who++)
        if (ns[who] > 0 && (best == 0 || ns[who] < best))
            best = ns[who];
    if (json) {
        printf(
            "%s\n"
            "  {\"work\": \"%s\", \"least_bytes\": %zu, \"most_bytes\": %zu, \"ratio\": %.3f, \"called_ratio\": %.3f, "
            "\"unsized_ratio\": %.3f, \"target\": %.2f",
            first_item ? "" : ",", w->name, w->least, w->most, ns[MASU] / best, ns[CALLED] / best, ns[UNSIZED] / best,
            w->target);
        for (int who = 0; who < CONTESTANTS; who++)
            if (ns[who] > 0)
                printf(", \"%s\": %.2f", names[who], ns[who]);
        printf("}");
        first_item = false;
        return;
    }
    char size[64];
    if (w->least == w->most)
        snprintf(size, sizeof size, "%s", text_of(w->least));
    else
        snprintf(size, sizeof size, "%s - %s", text_of(w->least), text_of(w->most));
    printf("%-22s %15s", w->name, size);
    for (int who = 0; who < CONTESTANTS; who++)
        ns[who] > 0 ? printf(" %9.2f", ns[who]) : printf(" %9s", "-");
    printf("   %5.2f (%.1f) %5.2f %5.2f\n", ns[MASU] / best, w->target, ns[CALLED] / best, ns[UNSIZED] / best);
    fflush(stdout);
}

static void against_peers(const char *self) {
    if (!json) {
        printf("%-38s", "ns of processor time a pair");
        for (int who = 0; who < CONTESTANTS; who++)
            printf(" %9s", names[who]);
        printf("   ratio to the best (target), called (0.5), without the size (0.8)\n");
    }
    for (int who = MIMALLOC; who < CONTESTANTS; who++)
        if (!find_library((contestant)who))
            fprintf(stderr, "pools: %s is not installed, its column stays empty\n", names[who]);
    for (int number = 0; number < ROWS; number++) {
        double times[CONTESTANTS][MOST_ROUNDS] = {{0}}, ns[CONTESTANTS] = {0};
        for (int round = 0; round < rounds; round++)
            for (int who = 0; who < CONTESTANTS; who++)
                if (find_library((contestant)who))
                    times[who][round] = ask(self, (contestant)who, number, find_library((contestant)who));
        for (int who = 0; who < CONTESTANTS; who++)
            ns[who] = median(times[who], rounds);
        print_row(&rows[number].w, ns);
    }
}

/* ---- the pool against its device, and what it gives back --------------------------------------- */

static double device_pair(size_t bytes) {
    double times[REPEATS];
    for (int r = 0; r < REPEATS; r++) {
        double start = thread_ns();
        for (int i = 0; i < 50; i++)
            munmap(keep(mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)),
                   bytes);
        times[r] = (thread_ns() - start) / 50;
    }
    return median(times, REPEATS);
}

static void against_device(void) {
    if (!json)
        printf("\n%-12s %12s %12s   pool against its device, warm (target 100)\n", "", "mmap ns", "masu ns");
    for (size_t bytes = 4 * KIB; bytes <= 64 * MIB; bytes *= 4) {
        work w = {"device", bytes, bytes, 0};
        double device = device_pair(bytes), pool = pairs_of(MASU, &w);
        if (json)
            printf(",\n  {\"work\": \"device\", \"bytes\": %zu, \"device\": %.1f, \"masu\": %.2f}", bytes, device,
                   pool);
        else
            printf("%-12s %12.1f %12.2f   %.0f x\n", text_of(bytes), device, pool, device / pool);
    }
}

static size_t resident_bytes(void) {
    unsigned long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%lu %lu", &pages, &resident) != 2)
        exit(1);
    fclose(file);
    return resident * (size_t)sysconf(_SC_PAGESIZE);
}

static void given_back(void) {
    static void *blocks[100000];
    memset(blocks, 1, sizeof blocks); /* pages of this program, not of the pool */
    masu_free(masu_alloc(1), 1);
    size_t before = resident_bytes(), most = 0;
    for (int i = 0; i < 100000; i++) {
        size_t bytes = (size_t)64 << (i % 11);
        blocks[i] = masu_alloc(bytes);
        memset(blocks[i], 1, bytes);
    }
    most = resident_bytes();
    for (int i = 0; i < 100000; i++)
        masu_free(blocks[i], (size_t)64 << (i % 11));
    must(masu_trim(0));
    size_t after = resident_bytes();
    if (json)
        printf(",\n  {\"work\": \"given back\", \"start\": %zu, \"most\": %zu, \"end\": %zu}", before, most, after);
    else
        printf("\nresident: %.2f MiB at the start, %.2f at most, %.2f after freeing all and trim (within 1)\n",
               (double)before / MIB, (double)most / MIB, (double)after / MIB);
}

int main(int argc, char **argv) {
    if (argc == 4 && strcmp(argv[1], "--one") == 0) {
        int number = atoi(argv[3]);
        for (int who = 0; who < CONTESTANTS; who++)
            if (strcmp(argv[2], names[who]) == 0)
                side_of_this = (contestant)who;
        if (number < 0 || number >= ROWS)
            return 2;
        if (rows[number].threads == 1)
            settle_on_processor(pthread_self(), 0);
        printf("%.4f\n", rows[number].run(&rows[number].w));
        return 0;
    }
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            json = true;
        } else if (strcmp(argv[i], "--quick") == 0) {
            rounds = 1;
        } else {
            fprintf(stderr, "usage: pools [--json] [--quick]\n");
            return 2;
        }
    }
    if (json)
        printf("{\"unit\": \"ns\", \"rounds\": %d, \"rows\": [", rounds);
    against_peers("/proc/self/exe");
    against_device();
    given_back();
    if (json)
        printf("\n]}\n");
    return 0;
}
