/* replay.c: runs a recorded list of requests through malloc and free, or through masu_alloc and masu_free.
 *
 *     replay FILE.csv ROUNDS          malloc, whichever is there
 *     replay --masu FILE.csv ROUNDS   masu, inlined, with the size at the free
 *
 * FILE.csv: event,id,bytes with events alloc, free and step; an id is used again after its free. What a list leaves
 * live is freed at its end. One byte of each page of a block is written, as its user would write them all. Prints the
 * nanoseconds of an event, and what they are without the writing, each the lowest of the rounds.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <masu/alloc.h>

typedef struct event {
    unsigned id;
    unsigned bytes; /* 0: free */
} event;

enum { MOST_EVENTS = 1 << 21, MOST_IDS = 1 << 16, PAGE = 4096 };
static event *events;
static size_t count;
static void **blocks;
static unsigned *sizes;

/* Not from any allocator that is measured. */
static void *pages(size_t bytes) {
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        exit(1);
    return p;
}

static void read_events(const char *name) {
    static char buffer[1 << 16];
    char line[128];
    FILE *file = fopen(name, "r");
    if (!file || setvbuf(file, buffer, _IOFBF, sizeof buffer) != 0) {
        fprintf(stderr, "replay: %s cannot be read\n", name);
        exit(2);
    }
    while (fgets(line, sizeof line, file)) {
        event e = {0, 0};
        if (sscanf(line, "alloc,%u,%u", &e.id, &e.bytes) != 2 && sscanf(line, "free,%u", &e.id) != 1)
            continue;
        if (count == MOST_EVENTS || e.id >= MOST_IDS)
            exit(2);
        events[count++] = e;
    }
    fclose(file);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static inline void write_to(char *block, size_t bytes) {
    for (size_t at = 0; at < bytes; at += PAGE)
        ((volatile char *)block)[at] = 1;
}

#define TAKE(masu, bytes)      ((masu) ? masu_alloc(bytes) : malloc(bytes))
#define GIVE(masu, ptr, bytes) ((masu) ? (void)masu_free(ptr, bytes) : free(ptr))

static inline double round_of(bool masu, bool writes) {
    double start = now();
    for (size_t i = 0; i < count; i++) {
        event e = events[i];
        if (e.bytes) {
            sizes[e.id] = e.bytes;
            blocks[e.id] = TAKE(masu, e.bytes);
            if (!blocks[e.id])
                exit(1);
            if (writes)
                write_to(blocks[e.id], e.bytes);
        } else {
            GIVE(masu, blocks[e.id], sizes[e.id]);
            blocks[e.id] = NULL;
        }
    }
    double spent = now() - start;
    for (size_t id = 0; id < MOST_IDS; id++)
        if (blocks[id]) {
            GIVE(masu, blocks[id], sizes[id]);
            blocks[id] = NULL;
        }
    return spent / (double)count;
}

int main(int argc, char **argv) {
    bool masu = argc == 4 && strcmp(argv[1], "--masu") == 0;
    double best[2] = {1e30, 1e30};
    if (argc != 3 + masu)
        return 2;
    events = pages(MOST_EVENTS * sizeof *events);
    blocks = pages(MOST_IDS * sizeof *blocks);
    sizes = pages(MOST_IDS * sizeof *sizes);
    read_events(argv[1 + masu]);
    int rounds = atoi(argv[2 + masu]);
    for (int i = 0; i < 2 * rounds; i++) {
        bool writes = i % 2 == 0;
        double ns = masu ? round_of(true, writes) : round_of(false, writes);
        if (ns < best[writes])
            best[writes] = ns;
    }
    printf("%.2f %.2f\n", best[1], best[0]);
    return 0;
}
