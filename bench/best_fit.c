/* best_fit.c: the best-fit pool alone, over a device of sizes, so that no page is ever touched.
 * Nothing is asserted here.
 *
 *     best_fit            tables: nanoseconds, medians
 *     best_fit --json     the same numbers as one JSON object
 *     best_fit --quick    fewer rounds
 *
 * The rivals are two allocators of offsets written for this program after the two families that
 * such pools are usually made of (two_level.h): bins by size, 8 or 32 to a doubling, and whatever
 * was freed last into a bin is taken first. They do less than the pool: the caller holds a handle
 * instead of an address, nothing is checked or counted, and the fit is good but not the best.
 * All contestants take turns, round by round, on the first processor that is allowed: those of one
 * machine need not be equally fast. The clock counts processor time.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <masu/masu.h>

#include "measure.h"
#include "two_level.h"

enum { KIB = 1 << 10, MIB = 1 << 20, ROUNDS = 7, PARTS = 5 };

static int rounds = ROUNDS;
static bool json;
static const char *separator = "";

static void begin_item(void) {
    printf("%s\n  ", separator);
    separator = ",";
}

static void must(bool fine, const char *what) {
    if (fine)
        return;
    fprintf(stderr, "best_fit: %s failed\n", what);
    exit(1);
}

/* ---- contestants ----------------------------------------------------------------------------- */

typedef enum contestant { MASU, BINS_8, BINS_32, CONTESTANTS } contestant;

static const char *const names[] = {"masu", "8 bins a doubling", "32 bins a doubling"};

static masu_device *device;
static masu_bestfit *pool;
static two_level *rival;

static void open_masu(int live) {
    (void)live;
    must(masu_device_create_null(0, &device) == MASU_OK, "device");
    masu_bestfit_config config = masu_bestfit_config_default(device);
    config.pool_bytes = config.initial_bytes = (size_t)1 << 38;
    config.thread_safe = false;
    must(masu_bestfit_create(&config, &pool) == MASU_OK, "pool");
}

static void close_masu(void) {
    masu_bestfit_destroy(pool);
    masu_device_destroy(device);
}

/* ---- work ------------------------------------------------------------------------------------ */

/* Sizes are drawn uniformly, or so that each doubling is as likely as any other. */
typedef struct work {
    const char *name;
    int live;
    uint32_t least, most; /* bytes */
    bool by_doubling;
} work;

typedef struct outcome {
    double ns; /* of an allocation or a free */
    double high_water;
} outcome;

static inline uint32_t draw(const work *w, uint64_t *seed) {
    uint32_t least = w->least, most = w->most;
    if (w->by_doubling) {
        uint32_t doublings = (uint32_t)__builtin_ctz(most) - (uint32_t)__builtin_ctz(least);
        least <<= next_random(seed) % doublings;
        most = 2 * least - 1;
    }
    return least + next_random(seed) % (most - least + 1);
}

typedef struct block {
    union {
        void *address;
        uint32_t handle;
    };
    uint32_t bytes;
} block;

typedef struct state {
    block *blocks;
    uint64_t base, top;        /* of addresses, since the start */
    uint64_t live_bytes, peak; /* as requested */
} state;

static inline void take(contestant who, state *s, block *b, uint32_t bytes) {
    uint64_t address;
    if (who == MASU) {
        masu_status status = masu_bestfit_alloc(pool, bytes, 0, 0, &b->address);
        must(status == MASU_OK, "masu_bestfit_alloc");
        address = (uint64_t)(uintptr_t)b->address;
    } else {
        b->handle = two_level_take(rival, (bytes + 63) / 64);
        must(b->handle != 0, "two_level_take");
        address = (uint64_t)two_level_offset(rival, b->handle) * 64;
    }
    b->bytes = bytes;
    s->live_bytes += bytes;
    s->peak = s->live_bytes > s->peak ? s->live_bytes : s->peak;
    s->top = address + bytes > s->top ? address + bytes : s->top;
    s->base = address < s->base ? address : s->base;
}

static inline void give(contestant who, state *s, block *b) {
    s->live_bytes -= b->bytes;
    if (who == MASU)
        must(masu_bestfit_free(pool, b->address) == MASU_OK, "masu_bestfit_free");
    else
        two_level_give(rival, b->handle);
}

static inline outcome run(contestant who, const work *w, int steps) {
    uint64_t seed = 7;
    state s = {.base = UINT64_MAX};
    s.blocks = malloc((size_t)w->live * sizeof *s.blocks);
    must(s.blocks != NULL, "malloc");
    for (int i = 0; i < w->live; i++)
        take(who, &s, &s.blocks[i], draw(w, &seed));
    double times[PARTS];
    for (int part = 0; part < PARTS; part++) {
        double start = thread_ns();
        for (int i = 0; i < steps / PARTS; i++) {
            block *b = &s.blocks[next_random(&seed) % (uint32_t)w->live];
            uint32_t bytes = draw(w, &seed);
            give(who, &s, b);
            take(who, &s, b, bytes);
        }
        times[part] = (thread_ns() - start) / (2.0 * (steps / PARTS));
    }
    free(s.blocks);
    return (outcome){median(times, PARTS), (double)(s.top - s.base) / (double)s.peak};
}

static outcome run_one(contestant who, const work *w, int steps) {
    outcome o;
    if (who == MASU) {
        open_masu(w->live);
        o = run(MASU, w, steps);
        close_masu();
        return o;
    }
    rival = two_level_open(who == BINS_8 ? 3 : 5, 3 * (uint32_t)w->live + 16);
    must(rival != NULL, "two_level_open");
    o = run(who, w, steps);
    two_level_close(rival);
    return o;
}

/* ---- output ---------------------------------------------------------------------------------- */

static void print_work(const work *w, const outcome *o) {
    for (int who = 0; json && who < CONTESTANTS; who++) {
        begin_item();
        printf("{\"work\": \"%s\", \"live\": %d, \"who\": \"%s\", \"ns\": %.2f, \"high_water\": %.4f}", w->name,
               w->live, names[who], o[who].ns, o[who].high_water);
    }
    if (json)
        return;
    printf("%-46s", w->name);
    for (int who = 0; who < CONTESTANTS; who++)
        printf("  %8.1f  %6.3f", o[who].ns, o[who].high_water);
    printf("\n");
}

static void contest(void) {
    static const work works[] = {
        {"4096 live, 256 B - 1 MiB, each size as likely", 4096, 256, MIB, false},
        {"4096 live, 256 B - 1 MiB, each doubling as likely", 4096, 256, MIB, true},
    };
    if (!json) {
        printf("%-46s", "ns a call; high water over live peak");
        for (int who = 0; who < CONTESTANTS; who++)
            printf("  %16s", names[who]);
        printf("\n");
    }
    for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
        double times[CONTESTANTS][ROUNDS];
        outcome o[CONTESTANTS];
        for (int round = 0; round < rounds; round++)
            for (int who = 0; who < CONTESTANTS; who++) {
                o[who] = run_one((contestant)who, &works[i], 200000);
                times[who][round] = o[who].ns;
            }
        for (int who = 0; who < CONTESTANTS; who++)
            o[who].ns = median(times[who], rounds);
        print_work(&works[i], o);
    }
}

/* ---- growth ---------------------------------------------------------------------------------- */

/* What this machine takes for one dependent read, at random among so many cache lines. */
static double read_ns(int lines) {
    struct line {
        uint32_t next;
        char rest[60];
    } *table = malloc((size_t)lines * sizeof *table);
    must(table != NULL, "malloc");
    uint64_t seed = 11;
    for (int i = 0; i < lines; i++)
        table[i].next = (uint32_t)i;
    for (int i = lines - 1; i > 0; i--) { /* one cycle through all of them */
        uint32_t k = next_random(&seed) % (uint32_t)i, swapped = table[i].next;
        table[i].next = table[k].next;
        table[k].next = swapped;
    }
    uint32_t at = 0;
    double start = 0;
    enum { READS = 400000 };
    for (int i = 0; i < 2 * READS; i++) {
        if (i == READS)
            start = thread_ns();
        at = table[at].next;
    }
    double ns = (thread_ns() - start) / READS;
    __asm__ volatile("" : : "r"(at));
    free(table);
    return ns;
}

static void print_growth(int live, double first, const double *ns, double read) {
    if (json) {
        begin_item();
        printf("{\"work\": \"growth\", \"live\": %d, \"masu\": %.1f, \"bins_8\": %.1f, \"read\": %.2f}", live, ns[MASU],
               ns[BINS_8], read);
        return;
    }
    printf("%9d  %8.1f  %18.1f  %13.1f  %9.2f  %.*s\n", live, ns[MASU], ns[BINS_8], read, ns[MASU] / first,
           (int)(ns[MASU] / 10 > 60 ? 60 : ns[MASU] / 10),
           "############################################################");
}

static void growth(void) {
    double first = 0;
    if (!json)
        printf("\nas live blocks grow, 256 B - 64 KiB, ns a call\n%9s  %8s  %18s  %13s  %9s\n", "live", "masu",
               names[BINS_8], "a random read", "to first");
    for (int live = 1000; live <= 1000000; live *= 10) {
        work w = {"growth", live, 256, 64 * KIB, false};
        double times[CONTESTANTS][ROUNDS], reads[ROUNDS], ns[CONTESTANTS];
        int turns = rounds < 3 ? rounds : 3;
        for (int turn = 0; turn < turns; turn++) {
            for (int who = MASU; who <= BINS_8; who++)
                times[who][turn] = run_one((contestant)who, &w, 300000).ns;
            reads[turn] = read_ns(2 * live);
        }
        for (int who = MASU; who <= BINS_8; who++)
            ns[who] = median(times[who], turns);
        first = live == 1000 ? ns[MASU] : first;
        print_growth(live, first, ns, median(reads, turns));
    }
}

int main(int argc, char **argv) {
    settle_on_processor(pthread_self(), 0);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            json = true;
        } else if (strcmp(argv[i], "--quick") == 0) {
            rounds = 1;
        } else {
            fprintf(stderr, "usage: best_fit [--json] [--quick]\n");
            return 2;
        }
    }
    if (json)
        printf("{\"unit\": \"ns\", \"rounds\": %d, \"rows\": [", rounds);
    contest();
    growth();
    if (json)
        printf("\n]}\n");
    return 0;
}
