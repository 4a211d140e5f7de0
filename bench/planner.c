/* The planner on recorded problems and on drawn ones: height over the bound, time, memory.
 *
 *     planner [--data FOLDER] [--time S] [--threads N] [--quick] [FILE…]
 *
 * FILE is CSV with the columns id,lower,upper,size in this order; a number between dots in its name
 * (A.1048576.csv) is a capacity. Without files: everything in FOLDER/{minimalloc,idealloc,models}
 * (default ../shared/data beside the project), then drawn problems of 10³ … 10⁶ buffers. Each
 * line comes from a process of its own, so that memory can be told apart. Times: wall clock and
 * processor time of all threads.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <masu/masu.h>

typedef struct settings {
    double time_s;
    unsigned threads;
    uint64_t seed;
} settings;

typedef struct problem {
    masu_plan_row *rows;
    size_t count, room;
    uint64_t capacity;
} problem;

static double clock_s(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void add(problem *p, int64_t lower, int64_t upper, uint64_t size) {
    if (p->count == p->room) {
        p->room = p->room ? 2 * p->room : 1024;
        p->rows = realloc(p->rows, p->room * sizeof *p->rows);
        if (!p->rows)
            exit(1);
    }
    p->rows[p->count++] = (masu_plan_row){.size_bytes = size, .lower = lower, .upper = upper};
}

static problem read_csv(const char *path) {
    problem p = {0};
    FILE *file = fopen(path, "r");
    char line[512];
    if (!file || !fgets(line, sizeof line, file)) {
        fprintf(stderr, "planner: cannot read %s\n", path);
        exit(1);
    }
    while (fgets(line, sizeof line, file)) {
        long long lower, upper;
        unsigned long long size;
        const char *comma = strchr(line, ',');
        if (comma && sscanf(comma + 1, "%lld,%lld,%llu", &lower, &upper, &size) == 3)
            add(&p, lower, upper, size);
    }
    fclose(file);
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    if (strchr(name, '.'))
        p.capacity = strtoull(strchr(name, '.') + 1, NULL, 10);
    return p;
}

/* ---- drawn problems -------------------------------------------------------------------------- */

static uint64_t draw_state = 1;

static uint64_t draw(uint64_t below) {
    draw_state ^= draw_state << 13;
    draw_state ^= draw_state >> 7;
    draw_state ^= draw_state << 17;
    return draw_state % below;
}

typedef enum shape { SHORT_LIVES, ANY_LIVES, MIXED_LIVES, SHAPE_COUNT } shape;

static const char *const shape_names[] = {"short lives", "any lives", "mixed lives"};

static problem draw_problem(shape kind, size_t count) {
    problem p = {0};
    draw_state = 88172645463325252u + (uint64_t)kind;
    for (size_t i = 0; i < count; i++) {
        int64_t at = (int64_t)draw(count), length = 1 + (int64_t)draw(100);
        if (kind == ANY_LIVES) {
            int64_t other = (int64_t)draw(count);
            length = (other > at ? other - at : at - other) + 1;
            at = other < at ? other : at;
        } else if (kind == MIXED_LIVES) {
            length = 1 + (int64_t)(draw(50) << draw(10)) % (int64_t)count;
        }
        add(&p, at, at + length, 1 + draw(kind == MIXED_LIVES ? 1 << draw(20) : 1000000));
    }
    return p;
}

/* ---- a line ---------------------------------------------------------------------------------- */

static const char *const outcomes[] = {"optimal", "feasible", "infeasible", "unknown"};

static void line_of(const char *name, problem p, masu_plan_goal goal, const settings *s) {
    uint64_t *offsets = calloc(p.count + 1, sizeof *offsets);
    masu_plan_problem question = {
        .rows = p.rows, .count = p.count, .capacity_bytes = goal == MASU_PLAN_FIT ? p.capacity : 0};
    masu_plan_options options = {
        .goal = goal, .time_limit_s = s->time_s, .threads = s->threads, .seed = s->seed};
    masu_plan_result r;
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    double wall = clock_s(CLOCK_MONOTONIC), cpu = clock_s(CLOCK_PROCESS_CPUTIME_ID);
    masu_status status = masu_plan_find(&question, &options, offsets, &r);
    wall = clock_s(CLOCK_MONOTONIC) - wall;
    cpu = clock_s(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    getrusage(RUSAGE_SELF, &after);
    if (status != MASU_OK) {
        printf("%-34s %s\n", name, masu_status_text(status));
        return;
    }
    bool judged =
        p.count > 70000 || r.height_bytes == 0 ||
        masu_plan_check(p.rows, p.count, offsets, r.height_bytes, NULL, NULL) == MASU_PLAN_FINE;
    printf("%-34s %8zu %-4s %16llu %8.4f%% %-10s %8.4f %8.4f %9llu %6.1f%s  %s\n", name, p.count,
           goal == MASU_PLAN_FIT ? "fit" : "min", (unsigned long long)r.height_bytes,
           100.0 * ((double)r.height_bytes - (double)r.lower_bound_bytes) /
               (double)r.lower_bound_bytes,
           outcomes[r.outcome], wall, cpu, (unsigned long long)r.steps,
           (double)(after.ru_maxrss - before.ru_maxrss) / 1024, judged ? "" : "  WRONG", r.order);
}

static void in_process(const char *name, const char *path, shape kind, size_t count,
                       masu_plan_goal goal, const settings *s) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        problem p = path ? read_csv(path) : draw_problem(kind, count);
        if (goal == MASU_PLAN_FIT && p.capacity == 0)
            exit(0);
        line_of(name, p, goal, s);
        fflush(stdout);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

static void bench_file(const char *path, const settings *s) {
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    in_process(name, path, SHORT_LIVES, 0, MASU_PLAN_FIT, s);
    in_process(name, path, SHORT_LIVES, 0, MASU_PLAN_MINIMIZE, s);
}

static int is_problem(const struct dirent *entry) {
    const char *name = entry->d_name;
    size_t length = strlen(name);
    return length > 4 && strcmp(name + length - 4, ".csv") == 0 && !strstr(name, ".ops.csv");
}

static void bench_folder(const char *data, const char *folder, const settings *s) {
    char path[1024];
    struct dirent **entries;
    snprintf(path, sizeof path, "%s/%s", data, folder);
    int count = scandir(path, &entries, is_problem, alphasort);
    if (count < 0)
        printf("%s is not there: left out\n", path);
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s/%s", data, folder, entries[i]->d_name);
        bench_file(path, s);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

static void bench_drawn(const settings *s, size_t most) {
    char name[64];
    for (int kind = 0; kind < SHAPE_COUNT; kind++)
        for (size_t count = 1000; count <= most; count *= 10) {
            snprintf(name, sizeof name, "drawn: %s", shape_names[kind]);
            in_process(name, NULL, (shape)kind, count, MASU_PLAN_MINIMIZE, s);
        }
}

int main(int argc, char **argv) {
    settings s = {.time_s = 10, .threads = 2};
    const char *data = MASU_SOURCE_DIR "/../shared/data";
    bool quick = false;
    int files = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--data") == 0 && i + 1 < argc)
            data = argv[++i];
        else if (strcmp(argv[i], "--time") == 0 && i + 1 < argc)
            s.time_s = atof(argv[++i]);
        else if (strcmp(argv[i], "--threads") == 0 && i + 1 < argc)
            s.threads = (unsigned)atoi(argv[++i]);
        else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
            s.seed = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--quick") == 0)
            quick = true;
        else if (strcmp(argv[i], "--json") != 0)
            argv[1 + files++] = argv[i];
    }
    if (quick)
        s.time_s = 1;
    printf("%-34s %8s %-4s %16s %9s %-10s %8s %8s %9s %6s\n", "problem", "buffers", "goal",
           "height", "over", "outcome", "wall s", "cpu s", "steps", "MiB");
    for (int i = 0; i < files; i++)
        bench_file(argv[1 + i], &s);
    if (files > 0)
        return 0;
    bench_folder(data, "minimalloc", &s);
    bench_folder(data, "idealloc", &s);
    bench_folder(data, "models", &s);
    bench_drawn(&s, quick ? 100000 : 1000000);
    return 0;
}
