/* vm.c: what growing and moving without copying costs, against copying and against realloc. Nothing is
 * asserted on time; contents are looked at, and wrong ones end the program.
 *
 *     vm                 all tables
 *     vm --quick         sizes divided by eight
 *     vm --resize        only the two tables of blocks that grow
 *     vm --svg FILE      also draws the cost of a move against size
 *     vm --log FILE      writes the events of the fragmentation test, one a line
 *
 * The clock counts processor time of the one thread. Every side gets huge pages where it can. What is timed
 * is the resize alone; the new memory is touched outside of the clock, by every side alike.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <masu/masu.h>

#include "measure.h"

#define MIB       ((size_t)1 << 20)
#define GIB       ((size_t)1 << 30)
#define GRANULE   (2 * MIB)

#define SIMULATED MASU_BUILD_DIR "/tests/fake_cuda/libcuda.so.1"

static size_t divisor = 1;

static void must(masu_status status) {
    if (status == MASU_OK)
        return;
    fprintf(stderr, "vm: %s\n", masu_status_text(status));
    exit(1);
}

static void hold(bool fine, const char *what) {
    if (fine)
        return;
    fprintf(stderr, "vm: wrong contents: %s\n", what);
    exit(1);
}

static double now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* What a side needs at once must be there, or its row says that it is not. */
static bool memory_for(size_t bytes) {
    size_t free_bytes = (size_t)sysconf(_SC_AVPHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    return free_bytes >= bytes + GIB;
}

/* One word in each page. */
static void fill(void *ptr, size_t from, size_t to, unsigned mark) {
    for (size_t at = from; at + 4096 <= to; at += 4096)
        *(size_t *)((char *)ptr + at) = at * 2654435761u + mark;
}

static bool filled(const void *ptr, size_t bytes, unsigned mark) {
    for (size_t at = 0; at + 4096 <= bytes; at += 4096)
        if (*(const size_t *)((const char *)ptr + at) != at * 2654435761u + mark)
            return false;
    return true;
}

/* ---- the ways to grow ---------------------------------------------------------------------------- */

typedef enum way { REMAP, SEED, ALIGNED, REALLOC, COPY, WAYS } way;

static const char *const way_names[] = {"masu_vm_resize", "alloc + masu_vm_move + free", "mremap of an aligned range",
                                        "realloc of glibc", "mmap + memcpy + munmap"};

static masu_device *device;
static masu_vm *vm;

static void *plain_map(size_t bytes) {
    void *ptr = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (ptr == MAP_FAILED) {
        perror("vm: mmap");
        exit(1);
    }
    madvise(ptr, bytes, MADV_HUGEPAGE);
    return ptr;
}

static void wish_huge(void *ptr, size_t bytes) {
    uintptr_t start = ((uintptr_t)ptr + 4095) & ~(uintptr_t)4095;
    madvise((void *)start, ((uintptr_t)ptr + bytes - start) & ~(size_t)4095, MADV_HUGEPAGE);
}

/* Addresses that the kernel moves in the largest steps it has: whole tables of 2 MiB or of 1 GiB. */
static void *aligned_place(size_t bytes, int access) {
    size_t step = bytes >= GIB ? GIB : GRANULE;
    char *wide = mmap(NULL, bytes + step, access, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (wide == MAP_FAILED) {
        perror("vm: mmap");
        exit(1);
    }
    size_t before = -(uintptr_t)wide & (step - 1);
    if (before > 0)
        munmap(wide, before);
    if (before < step)
        munmap(wide + before + bytes, step - before);
    madvise(wide + before, bytes, MADV_HUGEPAGE);
    return wide + before;
}

/* What a program does that uses mremap well: in place where there is room, else to a place that suits. */
static void *grow_aligned(void *ptr, size_t old, size_t bytes) {
    void *out = mremap(ptr, old, bytes, 0);
    if (out == MAP_FAILED)
        out = mremap(ptr, old, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, aligned_place(bytes, PROT_NONE));
    if (out == MAP_FAILED) {
        perror("vm: mremap");
        exit(1);
    }
    madvise(out, bytes, MADV_HUGEPAGE);
    return out;
}

static void *take(way w, size_t bytes) {
    void *ptr = NULL;
    if (w == REMAP || w == SEED)
        must(masu_vm_alloc(vm, bytes, 0, 0, &ptr));
    else if (w == ALIGNED)
        ptr = aligned_place(bytes, PROT_READ | PROT_WRITE);
    else if (w == COPY)
        ptr = plain_map(bytes);
    else if ((ptr = malloc(bytes)))
        wish_huge(ptr, bytes);
    if (!ptr)
        exit(1);
    return ptr;
}

static void give(way w, void *ptr, size_t bytes) {
    if (w == REMAP || w == SEED)
        must(masu_vm_free(vm, ptr));
    else if (w == COPY || w == ALIGNED)
        munmap(ptr, bytes);
    else
        free(ptr);
}

/* A block that stands in the way of growing in place; NULL: there is one already. */
static void *wall_behind(way w, void *ptr, size_t bytes) {
    if (w != ALIGNED)
        return take(w, GRANULE);
    void *wall = mmap((char *)ptr + bytes, GRANULE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
                      0);
    return wall == MAP_FAILED ? NULL : wall;
}

static void *grow(way w, void *ptr, size_t old, size_t bytes) {
    void *out = NULL;
    if (w == REMAP)
        must(masu_vm_resize(vm, ptr, bytes, &out));
    else if (w == ALIGNED)
        out = grow_aligned(ptr, old, bytes);
    else if (w == REALLOC)
        out = realloc(ptr, bytes);
    else if (w == SEED) {
        must(masu_vm_alloc(vm, bytes, 0, 0, &out));
        must(masu_vm_move(vm, out, ptr));
        must(masu_vm_free(vm, ptr));
    } else {
        out = plain_map(bytes);
        memcpy(out, ptr, old);
        munmap(ptr, old);
    }
    if (!out)
        exit(1);
    return out;
}

/* ---- the resize test of seed 003 ------------------------------------------------------------------------- */

typedef struct loops {
    double first, later; /* us: the first loop, the median of the others */
} loops;

static loops resize_loops(way w, int count) {
    size_t old = GIB / 2 * 3 / divisor, bytes = 3 * GIB / divisor;
    double times[10];
    for (int loop = 0; loop < count; loop++) {
        void *ptr = take(w, old), *wall = wall_behind(w, ptr, old); /* nobody grows in place here */
        fill(ptr, 0, old, (unsigned)loop);
        double start = now_us();
        ptr = grow(w, ptr, old, bytes);
        times[loop] = now_us() - start;
        hold(filled(ptr, old, (unsigned)loop), "resize test");
        give(w, ptr, bytes);
        if (wall)
            give(w, wall, GRANULE);
    }
    if (w == REMAP || w == SEED)
        must(masu_vm_trim(vm, 0));
    return (loops){times[0], median(times + 1, count - 1)};
}

static void resize_test(void) {
    double base = 0;
    printf(
        "\nThe seed's resize test: %.2f GiB to %.2f GiB with a neighbour behind, contents verified\n"
        "in every loop; the first loop, and the median of nine later ones (copying: of three)\n\n"
        "| way | first, ms | later, ms | first / later | times masu_vm_resize, later |\n"
        "|---|---|---|---|---|\n",
        1.5 / (double)divisor, 3.0 / (double)divisor);
    for (way w = 0; w < WAYS; w++) {
        loops us = resize_loops(w, w == COPY ? 4 : 10);
        base = w == REMAP ? us.later : base;
        printf("| %s | %.3f | %.3f | %.2f | %.1f |\n", way_names[w], us.first / 1e3, us.later / 1e3,
               us.first / us.later, us.later / base);
    }
}

/* ---- growth by 1.5 beside twenty neighbours ------------------------------------------------------------------ */

enum { NEIGHBOURS = 20 };

static double growth(way w, size_t most, int *steps) {
    void *ptr = take(w, MIB), *walls[NEIGHBOURS];
    double spent = 0;
    for (int i = 0; i < NEIGHBOURS; i++)
        walls[i] = take(w, 4 * MIB);
    fill(ptr, 0, MIB, 5);
    *steps = 0;
    for (size_t bytes = MIB, next; bytes < most; bytes = next, ++*steps) {
        next = bytes / 2 * 3 / 4096 * 4096;
        next = next > most ? most : next;
        double start = now_us();
        ptr = grow(w, ptr, bytes, next);
        spent += now_us() - start;
        fill(ptr, bytes, next, 5);
    }
    hold(filled(ptr, most, 5), "growth");
    give(w, ptr, most);
    for (int i = 0; i < NEIGHBOURS; i++)
        give(w, walls[i], 4 * MIB);
    if (w == REMAP || w == SEED)
        must(masu_vm_trim(vm, 0));
    return spent;
}

static void growth_test(void) {
    static const double most_of[] = {2, 4};
    for (int k = 0; k < 2; k++) {
        size_t most = (size_t)(most_of[k] * (double)GIB) / divisor;
        double base = 0;
        int steps;
        printf(
            "\nGrowth by 1.5 from 1 MiB to %.2f GiB beside %d neighbours: all resizes together\n\n"
            "| way | resizes | ms | times masu_vm_resize |\n|---|---|---|---|\n",
            (double)most / (double)GIB, NEIGHBOURS);
        for (way w = 0; w < WAYS; w++) {
            if (w == SEED)
                continue;
            if (w == COPY && !memory_for(most / 3 * 5)) { /* old and new at once */
                printf("| %s | | not enough memory free | |\n", way_names[w]);
                continue;
            }
            double us = growth(w, most, &steps);
            base = w == REMAP ? us : base;
            printf("| %s | %d | %.3f | %.1f |\n", way_names[w], steps, us / 1e3, us / base);
        }
    }
}

/* ---- the cost of a move ----------------------------------------------------------------------------------------- */

enum { MOVES = 15, SIZES = 12 };

typedef struct cost {
    size_t bytes;
    double whole_us, pieces_us, copy_us;
} cost;

static double move_us(masu_vm *pool, size_t bytes) {
    void *a, *b;
    double times[MOVES];
    must(masu_vm_reserve_growable(pool, bytes, bytes, 0, &a));
    must(masu_vm_reserve_growable(pool, 0, bytes, 0, &b));
    fill(a, 0, bytes, 7);
    for (int i = 0; i < MOVES; i++) {
        double start = now_us();
        must(masu_vm_move(pool, b, a));
        times[i] = now_us() - start;
        void *swap = a;
        a = b;
        b = swap;
    }
    hold(filled(a, bytes, 7), "move");
    must(masu_vm_free(pool, a));
    must(masu_vm_free(pool, b));
    must(masu_vm_trim(pool, 0));
    return median(times, MOVES);
}

static double copy_us(size_t bytes) {
    double times[3];
    char *from = plain_map(bytes), *to = plain_map(bytes);
    memset(from, 1, bytes);
    memset(to, 2, bytes);
    for (int i = 0; i < 3; i++) {
        double start = now_us();
        memcpy(to, from, bytes);
        times[i] = now_us() - start;
    }
    munmap(from, bytes);
    munmap(to, bytes);
    return median(times, 3);
}

static void draw(const char *path, const cost *costs, int count) {
    FILE *out = fopen(path, "w");
    static const char *const colours[] = {"#0b6e4f", "#d17b0f", "#8a1c1c"};
    static const char *const names[] = {"move, one piece", "move, pieces of 2 MiB", "copy"};
    if (!out) {
        perror(path);
        exit(1);
    }
    /* x: doublings above 2 MiB, 50 a step; y: decades above 1 us, 60 a step */
    fprintf(out,
            "<svg xmlns='http://www.w3.org/2000/svg' width='800' height='460' "
            "font-family='sans-serif' font-size='12'>\n"
            "<rect width='800' height='460' fill='white'/>\n");
    for (int decade = 0; decade <= 6; decade++)
        fprintf(out, "<path d='M70 %dH640' stroke='#ddd'/><text x='62' y='%d' text-anchor='end'>10^%d us</text>\n",
                400 - 60 * decade, 404 - 60 * decade, decade);
    for (int series = 0; series < 3; series++) {
        fprintf(out, "<polyline fill='none' stroke-width='2' stroke='%s' points='", colours[series]);
        double last = 0;
        for (int i = 0; i < count; i++) {
            double us = series == 0 ? costs[i].whole_us : series == 1 ? costs[i].pieces_us : costs[i].copy_us;
            double log = 0;
            if (us <= 0)
                continue;
            for (double x = us; x >= 1.0001; x /= 1.0471285480508996) /* 10^0.02 */
                log += 0.02;
            last = 400 - 60 * log;
            fprintf(out, "%d,%.1f ", 70 + 50 * i, last);
        }
        fprintf(out, "'/><text x='645' y='%.1f' fill='%s'>%s</text>\n", last, colours[series], names[series]);
    }
    for (int i = 0; i < count; i++)
        fprintf(out, "<text x='%d' y='425' text-anchor='middle'>%zu%s</text>\n", 70 + 50 * i,
                costs[i].bytes >= GIB ? costs[i].bytes / GIB : costs[i].bytes / MIB, costs[i].bytes >= GIB ? "G" : "M");
    fprintf(out, "</svg>\n");
    fclose(out);
}

static void move_costs(const char *svg) {
    cost costs[SIZES];
    int count = 0;
    masu_vm *small;
    masu_vm_config config = masu_vm_config_default(device);
    config.max_piece_bytes = GRANULE;
    must(masu_vm_create(&config, &small));
    printf(
        "\nCost of a move of touched memory against size, median of %d (copy: warm, of 3)\n\n"
        "| size | one piece, us | ns a 4 KiB page | pieces of 2 MiB, us | ns a page | copy, us | copy / move |\n"
        "|---|---|---|---|---|---|---|\n",
        MOVES);
    for (size_t bytes = GRANULE; bytes <= 4 * GIB / divisor; bytes *= 2) {
        cost *c = &costs[count++];
        *c = (cost){.bytes = bytes};
        c->whole_us = move_us(vm, bytes);
        c->pieces_us = move_us(small, bytes);
        c->copy_us = memory_for(2 * bytes) ? copy_us(bytes) : 0;
        printf("| %zu MiB | %.1f | %.2f | %.1f | %.2f | ", bytes / MIB, c->whole_us,
               c->whole_us * 1e3 / ((double)bytes / 4096), c->pieces_us, c->pieces_us * 1e3 / ((double)bytes / 4096));
        if (c->copy_us > 0)
            printf("%.0f | %.0f |\n", c->copy_us, c->copy_us / c->whole_us);
        else
            printf("not enough memory free | |\n");
    }
    if (svg)
        draw(svg, costs, count);
    must(masu_vm_destroy(small));
}

/* ---- fragmentation ----------------------------------------------------------------------------------------------- */

enum { PARTS = 81 };

static void write_event(void *file, const masu_event *event) {
    char line[MASU_EVENT_TEXT_BYTES];
    masu_event_format(event, line, sizeof line);
    fprintf(file, "%s\n", line);
}

/* One word in each granule: the device's page, and more pages of the simulated one would only cost time. */
static void mark(void *ptr, size_t bytes, size_t number) {
    for (size_t at = 0; at < bytes; at += GRANULE)
        *(size_t *)((char *)ptr + at) = number << 32 | at / GRANULE;
}

static bool marked(const void *ptr, size_t bytes, size_t number) {
    for (size_t at = 0; at < bytes; at += GRANULE)
        if (*(const size_t *)((const char *)ptr + at) != (number << 32 | at / GRANULE))
            return false;
    return true;
}

static const size_t part_bytes = 64 * MIB, large_bytes = (size_t)2354 * MIB;

static void fragment_pool(masu_vm *pool, const char *where, double ratio) {
    void *parts[PARTS], *large;
    for (size_t i = 0; i < PARTS; i++) {
        must(masu_vm_alloc(pool, part_bytes, 0, 0, &parts[i]));
        mark(parts[i], part_bytes, i);
    }
    for (int i = 0; i < PARTS; i += 2)
        must(masu_vm_free(pool, parts[i]));
    masu_vm_stats before, after;
    masu_vm_get_stats(pool, &before);
    must(masu_vm_alloc(pool, large_bytes, 0, 0, &large));
    mark(large, large_bytes, PARTS);
    hold(marked(large, large_bytes, PARTS), "fragments");
    for (size_t i = 1; i < PARTS; i += 2)
        hold(marked(parts[i], part_bytes, i), "blocks beside the fragments");
    masu_vm_get_stats(pool, &after);
    masu_vm_block block;
    must(masu_vm_query(pool, large, &block));
    printf("| %s | %.2f | %llu | %zu | %.0f | %.3f | %llu |\n", where, ratio,
           (unsigned long long)(after.stock_fragments - before.stock_fragments), block.pieces,
           (double)(after.held_bytes - before.held_bytes) / (double)MIB,
           (double)after.held_bytes / (double)after.user_bytes, (unsigned long long)(after.space_bytes / GIB));
    must(masu_vm_free(pool, large));
    for (int i = 1; i < PARTS; i += 2)
        must(masu_vm_free(pool, parts[i]));
}

static void fragment(masu_device *on, const char *where, double ratio, FILE *log) {
    masu_vm *pool;
    masu_trace *trace = NULL;
    masu_vm_config config = masu_vm_config_default(on);
    masu_trace_config traced = {.sink = write_event, .sink_context = log, .start_on = true};
    if (log) {
        must(masu_trace_create(&traced, &trace));
        config.trace = trace;
    }
    config.fragment_ratio = ratio;
    must(masu_vm_create(&config, &pool));
    fragment_pool(pool, where, ratio);
    must(masu_vm_destroy(pool));
    masu_trace_destroy(trace);
}

/* The same requests on a pool that cuts blocks out of device blocks: as it comes, growing by twice what
 * is asked for; and growing by exactly that for what is larger than its device blocks. */
static void fragment_bestfit(const char *name, size_t pool_bytes, size_t whole_above_bytes) {
    masu_device *null;
    masu_bestfit *pool;
    void *parts[PARTS], *large;
    must(masu_device_create_null(0, &null));
    masu_bestfit_config config = masu_bestfit_config_default(null);
    config.pool_bytes = pool_bytes;
    config.whole_above_bytes = whole_above_bytes;
    must(masu_bestfit_create(&config, &pool));
    for (int i = 0; i < PARTS; i++)
        must(masu_bestfit_alloc(pool, part_bytes, 0, 0, &parts[i]));
    for (int i = 0; i < PARTS; i += 2)
        must(masu_bestfit_free(pool, parts[i]));
    must(masu_bestfit_alloc(pool, large_bytes, 0, 0, &large));
    masu_bestfit_stats stats;
    masu_bestfit_get_stats(pool, &stats);
    printf("| %s | | | 1 | | %.3f | |\n", name, (double)stats.reserved_bytes / (double)stats.used_bytes);
    masu_bestfit_destroy(pool);
    masu_device_destroy(null);
}

static void fragmentation(FILE *log) {
    static const double ratios[] = {0.25, 0.10, 0.02, 0.0};
    masu_device *cuda;
    printf(
        "\n81 blocks of 64 MiB, every second freed, then 2354 MiB (0.02: the reverse, the filter\n"
        "accepts); contents verified\n\n"
        "| pool | ratio | fragments used | pieces | MiB created | held / live | reservation, GiB |\n"
        "|---|---|---|---|---|---|---|\n");
    for (int i = 0; i < 4; i++)
        fragment(device, "masu_vm, host", ratios[i], i == 2 ? log : NULL);
    masu_cuda_config config = {.library = SIMULATED};
    bool simulated = masu_device_create_cuda(&config, &cuda) == MASU_OK;
    for (int i = 0; simulated && i < 4; i++)
        fragment(cuda, "masu_vm, simulated CUDA", ratios[i], NULL);
    if (simulated)
        must(masu_device_destroy(cuda));
    fragment_bestfit("best fit, as it comes", MASU_BESTFIT_POOL_BYTES, 0);
    fragment_bestfit("best fit, grows exactly", 2 * part_bytes, 2 * part_bytes);
    if (!simulated)
        printf("\n(No rows of the simulated CUDA driver: %s is not there; the tests build it.)\n", SIMULATED);
}

/* ---- hot and cold ------------------------------------------------------------------------------------------------ */

static void hot_and_cold(void) {
    void *ptr[32];
    double us[8];
    size_t bytes = 16 * MIB;
    for (int loop = 0; loop < 8; loop++) {
        double start = now_us();
        for (int i = 0; i < 32; i++) {
            must(masu_vm_alloc(vm, bytes, 0, 0, &ptr[i]));
            fill(ptr[i], 0, bytes, 1);
        }
        for (int i = 0; i < 32; i++)
            must(masu_vm_free(vm, ptr[i]));
        us[loop] = now_us() - start;
    }
    double first = us[0], later = median(us + 1, 7);
    printf("\n32 blocks of 16 MiB taken, written and freed: first loop %.1f ms, later loops %.1f ms, ratio %.1f\n",
           first / 1e3, later / 1e3, first / later);
    must(masu_vm_trim(vm, 0));
}

static void small_blocks(void) {
    enum { SMALL = 100000 };
    static void *ptr[SMALL];
    masu_device *over;
    masu_heap *heap;
    masu_device_stats stats;
    must(masu_device_create_over_vm(vm, &over));
    masu_heap_config config = masu_heap_config_default();
    config.device = over;
    must(masu_heap_create(&config, &heap));
    for (int i = 0; i < SMALL; i++)
        must(masu_heap_alloc(heap, 1000, 0, &ptr[i]));
    masu_device_get_stats(device, &stats);
    masu_vm_stats now;
    masu_vm_get_stats(vm, &now);
    printf("\n100,000 blocks of 1000 bytes: %llu reservations so far in this process, %.0f MiB mapped\n",
           (unsigned long long)stats.reserve_calls, (double)now.mapped_bytes / (double)MIB);
    for (int i = 0; i < SMALL; i++)
        must(masu_heap_free(heap, ptr[i], 1000));
    must(masu_heap_destroy(heap));
    must(masu_device_destroy(over));
}

int main(int argc, char **argv) {
    const char *svg = NULL;
    FILE *log = NULL;
    bool all = true;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0)
            divisor = 8;
        else if (strcmp(argv[i], "--resize") == 0)
            all = false;
        else if (strcmp(argv[i], "--svg") == 0 && i + 1 < argc)
            svg = argv[++i];
        else if (strcmp(argv[i], "--log") == 0 && i + 1 < argc)
            log = fopen(argv[++i], "w");
        else {
            fprintf(stderr, "usage: vm [--quick] [--resize] [--svg FILE] [--log FILE]\n");
            return 2;
        }
    }
    must(masu_device_create_host(&device));
    masu_vm_config config = masu_vm_config_default(device);
    must(masu_vm_create(&config, &vm));
    if (all) {
        small_blocks();
        hot_and_cold();
        fragmentation(log);
    }
    resize_test();
    growth_test();
    if (all)
        move_costs(svg);
    size_t below;
    must(masu_vm_measure(vm, &below));
    printf("\nmasu_vm_measure on this machine: moving is cheaper than copying from %zu bytes on\n", below);
    must(masu_vm_destroy(vm));
    must(masu_device_destroy(device));
    if (log)
        fclose(log);
    return 0;
}
