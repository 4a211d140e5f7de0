/* The planner on recorded problems and on drawn ones: height over the bound, time, memory.
 *
 *     planner [--data FOLDER] [--time S | --cpu S] [--threads N] [--seed N] [--quick] [--fit]
 *             [--drawn [--buffers N] | --plot FILE.svg] [FILE…]
 *
 * FILE is CSV with the columns id,lower,upper,size in this order; a number between dots in its name
 * (A.1048576.csv) is a capacity. Without files: everything in FOLDER/{minimalloc,idealloc,models}
 * (default ../shared/data beside the project), then drawn problems of 10³ … 10⁶ buffers (--drawn:
 * only those; --plot: processor time of their first plans against size, as a picture). Each
 * line comes from a process of its own, so that memory can be told apart. Times: wall clock and
 * processor time of all threads.
 */
#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <masu/masu.h>

#include "planner_drawn.h"

typedef struct settings {
    double time_s;
    double cpu_s; /* > 0: instead, processor time of all threads */
    unsigned threads;
    uint64_t seed;
    size_t buffers; /* of drawn problems; 0: 10³, 10⁴ … */
    bool only_fit;  /* files: not once more to minimise */
} settings;

static double clock_s(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
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

/* ---- the judge ------------------------------------------------------------------------------- */

typedef struct event {
    int64_t moment;
    bool birth; /* deaths come first */
    uint32_t row;
} event;

static int by_moment(const void *a, const void *b) {
    const event *x = a, *y = b;
    if (x->moment != y->moment)
        return x->moment < y->moment ? -1 : 1;
    return (int)x->birth - (int)y->birth;
}

/* The live ones by offset, at each birth compared with their neighbours: masu_plan_check says the
 * same, quadratically. */
static bool plan_is_right(const problem *p, const uint64_t *offsets, uint64_t height) {
    event *events = malloc(2 * p->count * sizeof *events);
    uint32_t *live = malloc(p->count * sizeof *live);
    size_t count = 0;
    bool right = events && live;
    for (uint32_t i = 0; right && i < p->count; i++) {
        events[2 * i] = (event){p->rows[i].lower, true, i};
        events[2 * i + 1] = (event){p->rows[i].upper, false, i};
        right = offsets[i] + p->rows[i].size_bytes <= height &&
                (p->rows[i].alignment_bytes == 0 || offsets[i] % p->rows[i].alignment_bytes == 0);
    }
    if (right)
        qsort(events, 2 * p->count, sizeof *events, by_moment);
    for (size_t e = 0; right && e < 2 * p->count; e++) {
        uint32_t row = events[e].row;
        size_t low = 0, high = count;
        while (low < high) {
            size_t middle = (low + high) / 2;
            if (offsets[live[middle]] < offsets[row])
                low = middle + 1;
            else
                high = middle;
        }
        if (!events[e].birth) {
            memmove(live + low, live + low + 1, (--count - low) * sizeof *live);
            continue;
        }
        right = (low == count || offsets[row] + p->rows[row].size_bytes <= offsets[live[low]]) &&
                (low == 0 || offsets[live[low - 1]] + p->rows[live[low - 1]].size_bytes <= offsets[row]);
        memmove(live + low + 1, live + low, (count++ - low) * sizeof *live);
        live[low] = row;
    }
    free(events);
    free(live);
    return right;
}

/* ---- a line ---------------------------------------------------------------------------------- */

static const char *const outcomes[] = {"optimal", "feasible", "infeasible", "unknown"};

static masu_plan_cancel_flag out_of_time;

static void on_timer(int signal) {
    (void)signal;
    masu_plan_cancel(&out_of_time);
}

/* A machine that others use, too, gives a program less than the wall clock says. */
static void cancel_after(double cpu_s) {
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    struct itimerspec when = {.it_value = {(time_t)cpu_s, (long)(fmod(cpu_s, 1) * 1e9)}};
    if (cpu_s <= 0)
        return;
    signal(SIGALRM, on_timer);
    if (timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer) || timer_settime(timer, 0, &when, NULL))
        exit(1);
}

static void line_of(const char *name, problem p, masu_plan_goal goal, const settings *s) {
    uint64_t *offsets = calloc(p.count + 1, sizeof *offsets);
    masu_plan_problem question = {
        .rows = p.rows, .count = p.count, .capacity_bytes = goal == MASU_PLAN_FIT ? p.capacity : 0};
    masu_plan_options options = {.goal = goal,
                                 .time_limit_s = s->cpu_s > 0 ? 0 : s->time_s,
                                 .threads = s->threads,
                                 .seed = s->seed,
                                 .cancel = &out_of_time};
    cancel_after(s->cpu_s);
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
    bool judged = r.height_bytes == 0 || plan_is_right(&p, offsets, r.height_bytes);
    printf("%-34s %8zu %-4s %16llu %8.4f%% %-10s %8.4f %8.4f %9llu %6.1f%s  %s\n", name, p.count,
           goal == MASU_PLAN_FIT ? "fit" : "min", (unsigned long long)r.height_bytes,
           100.0 * ((double)r.height_bytes - (double)r.lower_bound_bytes) / (double)r.lower_bound_bytes,
           outcomes[r.outcome], wall, cpu, (unsigned long long)r.steps,
           (double)(after.ru_maxrss - before.ru_maxrss) / 1024, judged ? "" : "  WRONG", r.order);
}

static void in_process(const char *name, const char *path, shape kind, size_t count, masu_plan_goal goal,
                       const settings *s) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        problem p = path ? read_csv(path) : draw_problem(kind, count, s->seed);
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
    if (!s->only_fit)
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
        for (size_t count = s->buffers ? s->buffers : 1000; count <= most; count *= 10) {
            snprintf(name, sizeof name, "drawn: %s", shape_names[kind]);
            in_process(name, NULL, (shape)kind, count, MASU_PLAN_MINIMIZE, s);
        }
}

/* ---- the plot -------------------------------------------------------------------------------- */

enum { PLOTTED = 3, SIZES = 7, WIDTH = 640, HEIGHT = 400, MARGIN = 60 };

/* The processor time until the first plan is there, and how far it is above the bound. */
typedef struct first_plan {
    double begin_s, seconds, over;
    masu_plan_cancel_flag stop; /* enough: the first plan is there */
} first_plan;

static void note_first(void *context, const masu_plan_result *so_far, const uint64_t *offsets) {
    first_plan *first = context;
    (void)offsets;
    if (first->seconds == 0) {
        first->seconds = clock_s(CLOCK_PROCESS_CPUTIME_ID) - first->begin_s;
        first->over = (double)so_far->height_bytes / (double)so_far->lower_bound_bytes - 1;
        masu_plan_cancel(&first->stop);
    }
}

static first_plan first_plan_of(shape kind, size_t count) {
    problem p = draw_problem(kind, count, 0);
    uint64_t *offsets = calloc(count + 1, sizeof *offsets);
    first_plan first = {.begin_s = clock_s(CLOCK_PROCESS_CPUTIME_ID)};
    masu_plan_problem question = {.rows = p.rows, .count = p.count};
    masu_plan_options options = {.threads = 1, .improved = note_first, .context = &first, .cancel = &first.stop};
    masu_plan_result r;
    if (!offsets || masu_plan_find(&question, &options, offsets, &r) != MASU_OK)
        exit(1);
    free(offsets);
    free(p.rows);
    return first;
}

/* Both axes in powers of ten: 10³ … 10⁶ buffers, 0.1 ms … 10 s. */
static double plot_x(double count) {
    return MARGIN + (log10(count) - 3) / 3 * WIDTH;
}

static double plot_y(double seconds) {
    return MARGIN + HEIGHT - (log10(seconds) + 4) / 5 * HEIGHT;
}

static void plot_axes(FILE *out) {
    static const char *const times[] = {"0.1 ms", "1 ms", "10 ms", "0.1 s", "1 s", "10 s"};
    static const char *const counts[] = {"10³", "10⁴", "10⁵", "10⁶"};
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "font-family=\"sans-serif\" font-size=\"13\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
            WIDTH + 3 * MARGIN, HEIGHT + 2 * MARGIN);
    for (int i = 0; i <= 5; i++)
        fprintf(out, "<path d=\"M%d %.1fh%d\" stroke=\"#ccc\"/><text x=\"8\" y=\"%.1f\">%s</text>\n", MARGIN,
                plot_y(pow(10, i - 4)), WIDTH, plot_y(pow(10, i - 4)) + 4, times[i]);
    for (int i = 0; i <= 3; i++)
        fprintf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", plot_x(pow(10, i + 3)),
                MARGIN + HEIGHT + 20, counts[i]);
    fprintf(out,
            "<text x=\"%d\" y=\"%d\">buffers</text>\n"
            "<text x=\"%d\" y=\"30\">processor time until the first plan, and how far it is above the bound</text>\n",
            MARGIN + WIDTH / 2 - 20, MARGIN + HEIGHT + 44, MARGIN);
}

static void plot_shape(FILE *out, shape kind) {
    static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73"};
    first_plan firsts[SIZES];
    fprintf(out, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"2\" d=\"", colours[kind]);
    for (int i = 0; i < SIZES; i++) {
        firsts[i] = first_plan_of(kind, (size_t)(pow(10, 3 + i / 2.0) + 0.5));
        fprintf(out, "%c%.1f %.1f", i ? 'L' : 'M', plot_x(pow(10, 3 + i / 2.0)), plot_y(firsts[i].seconds));
        printf("%s %.0f: %.4f s, %.2f %% above the bound\n", shape_names[kind], pow(10, 3 + i / 2.0), firsts[i].seconds,
               100 * firsts[i].over);
    }
    fprintf(out, "\"/>\n<text fill=\"%s\" x=\"%d\" y=\"%d\">%s</text>\n", colours[kind], MARGIN + 20,
            MARGIN + 20 + 18 * (int)kind, shape_names[kind]);
    for (int i = 0; i < SIZES; i += 2)
        fprintf(out, "<text fill=\"%s\" x=\"%.1f\" y=\"%.1f\" font-size=\"11\">%.1f %%</text>\n", colours[kind],
                plot_x(pow(10, 3 + i / 2.0)) + 6, plot_y(firsts[i].seconds) + 14 * ((int)kind - 1),
                100 * firsts[i].over);
}

static int plot(const char *path) {
    FILE *out = fopen(path, "w");
    if (!out) {
        fprintf(stderr, "planner: cannot write %s\n", path);
        return 1;
    }
    plot_axes(out);
    for (int kind = 0; kind < PLOTTED; kind++)
        plot_shape(out, (shape)kind);
    fprintf(out, "</svg>\n");
    return fclose(out) != 0;
}

int main(int argc, char **argv) {
    settings s = {.time_s = 10, .threads = 2};
    const char *data = MASU_SOURCE_DIR "/../shared/data";
    bool quick = false, drawn = false;
    int files = 0;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--data") == 0 && i + 1 < argc)
            data = argv[++i];
        else if (strcmp(argv[i], "--time") == 0 && i + 1 < argc)
            s.time_s = atof(argv[++i]);
        else if (strcmp(argv[i], "--cpu") == 0 && i + 1 < argc)
            s.cpu_s = atof(argv[++i]);
        else if (strcmp(argv[i], "--threads") == 0 && i + 1 < argc)
            s.threads = (unsigned)atoi(argv[++i]);
        else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
            s.seed = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--buffers") == 0 && i + 1 < argc)
            s.buffers = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--quick") == 0)
            quick = true;
        else if (strcmp(argv[i], "--fit") == 0)
            s.only_fit = true;
        else if (strcmp(argv[i], "--drawn") == 0)
            drawn = true;
        else if (strcmp(argv[i], "--plot") == 0 && i + 1 < argc)
            return plot(argv[i + 1]);
        else if (strcmp(argv[i], "--json") != 0)
            argv[1 + files++] = argv[i];
    if (quick)
        s.time_s = 1;
    printf("%-34s %8s %-4s %16s %9s %-10s %8s %8s %9s %6s\n", "problem", "buffers", "goal", "height", "over", "outcome",
           "wall s", "cpu s", "steps", "MiB");
    for (int i = 0; i < files; i++)
        bench_file(argv[1 + i], &s);
    if (files > 0)
        return 0;
    if (!drawn) {
        bench_folder(data, "minimalloc", &s);
        bench_folder(data, "idealloc", &s);
        bench_folder(data, "models", &s);
    }
    bench_drawn(&s, s.buffers ? s.buffers : quick ? 100000 : 1000000);
    return 0;
}
