/* n_queens: what one epoch of examples/n_queens.tl costs, beside the same loss in PyTorch eager.
 *
 * Why: time to a solved board is luck of the seed, so the epoch is measured. `masu run` compiles first; its
 * start-up cancels out in the difference of two runs of different length:
 *
 *     us an epoch = (time of a run of `long` epochs - time of a run of `short` epochs) / (long - short)
 *
 * PyTorch (bench/n_queens_torch.py, Debian's python3-torch, one thread) times its own loop, start-up outside.
 * Both sides take turns, round by round, with one thread each; the table shows medians and the spread. The same is
 * shown of processor time, which does not grow when other programs use the machine.
 *
 *     n_queens [--json] [--rounds N] [--epochs N] [--masu FILE] [--source FOLDER] [--python FILE]
 *
 * Without PyTorch its row says so and everything else stands. Nothing is asserted.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_ROUNDS = 101, MAX_PATH_BYTES = 4096, MAX_LINE = 256 };

typedef struct options {
    bool json;
    int rounds;
    long epochs;
    char masu[MAX_PATH_BYTES];
    char source[MAX_PATH_BYTES];
    const char *python;
} options;

typedef struct samples {
    double us[MAX_ROUNDS]; /* microseconds an epoch, one a round; sorted by samples_finish */
    double median, low, high;
} samples;

typedef struct series {
    const char *name;
    const char *missing; /* why there is nothing, NULL when there is */
    int count;           /* of samples in both */
    samples wall, cpu;
} series;

static double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

typedef struct duration {
    double wall, cpu; /* seconds; cpu: user and system */
} duration;

static double timeval_seconds(struct timeval t) {
    return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

/* Runs argv with one thread for BLAS and OpenMP, standard output into `line` (its first MAX_LINE - 1 bytes; the
 * rest is read and dropped), standard error dropped when quiet, how long it took into *took. Returns the exit status,
 * -1 when it did not start or ended by a signal. */
static int run(char *const argv[], char line[MAX_LINE], bool quiet, duration *took) {
    double start = seconds_now();
    int out[2];
    if (pipe(out) != 0)
        return -1;
    pid_t child = fork();
    if (child == 0) {
        setenv("OPENBLAS_NUM_THREADS", "1", 1);
        setenv("OMP_NUM_THREADS", "1", 1);
        dup2(out[1], STDOUT_FILENO);
        if (quiet) {
            int nowhere = open("/dev/null", O_WRONLY);
            dup2(nowhere, STDERR_FILENO);
        }
        close(out[0]);
        close(out[1]);
        execv(argv[0], argv);
        _exit(127);
    }
    close(out[1]);
    size_t filled = 0;
    char buffer[4096];
    for (;;) {
        ssize_t got = read(out[0], buffer, sizeof buffer);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        for (ssize_t i = 0; i < got && filled < MAX_LINE - 1; i++)
            line[filled++] = buffer[i];
    }
    line[filled] = '\0';
    close(out[0]);
    int status = 0;
    struct rusage usage;
    if (child < 0 || wait4(child, &status, 0, &usage) != child || !WIFEXITED(status))
        return -1;
    *took = (duration){seconds_now() - start, timeval_seconds(usage.ru_utime) + timeval_seconds(usage.ru_stime)};
    return WEXITSTATUS(status);
}

static void series_add(series *s, duration took, long epochs) {
    s->wall.us[s->count] = took.wall / (double)epochs * 1e6;
    s->cpu.us[s->count] = took.cpu / (double)epochs * 1e6;
    s->count++;
}

/* One attempt of `epochs` epochs. */
static bool masu_run(const options *o, long epochs, duration *took) {
    char program[MAX_PATH_BYTES + 32], count[32], line[MAX_LINE];
    snprintf(program, sizeof program, "%s/examples/n_queens.tl", o->source);
    snprintf(count, sizeof count, "%ld", epochs);
    char *argv[] = {(char *)o->masu, "run", program, count, "1", NULL};
    return run(argv, line, false, took) == 0;
}

static bool measure_masu(const options *o, series *s) {
    long shorter = o->epochs / 10;
    duration brief, whole;
    if (!masu_run(o, shorter, &brief) || !masu_run(o, o->epochs, &whole)) {
        s->missing = "masu run examples/n_queens.tl failed";
        return false;
    }
    series_add(s, (duration){whole.wall - brief.wall, whole.cpu - brief.cpu}, o->epochs - shorter);
    return true;
}

static bool measure_torch(const options *o, series *s, const char *form) {
    char script[MAX_PATH_BYTES + 32], count[32], line[MAX_LINE];
    long epochs = o->epochs / 10;
    snprintf(script, sizeof script, "%s/bench/n_queens_torch.py", o->source);
    snprintf(count, sizeof count, "%ld", epochs);
    char *argv[] = {(char *)o->python, script, count, (char *)form, NULL};
    duration loop, process;
    if (run(argv, line, true, &process) != 0 || sscanf(line, "%lf %lf", &loop.wall, &loop.cpu) != 2) {
        s->missing = "bench/n_queens_torch.py failed";
        return false;
    }
    series_add(s, loop, epochs);
    return true;
}

static bool torch_is_there(const options *o) {
    char line[MAX_LINE];
    char *argv[] = {(char *)o->python, "-c", "import torch; print(torch.__version__)", NULL};
    duration took;
    return run(argv, line, true, &took) == 0;
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void samples_finish(samples *s, int count) {
    if (count == 0)
        return;
    qsort(s->us, (size_t)count, sizeof s->us[0], compare_doubles);
    s->median = count % 2 == 1 ? s->us[count / 2] : (s->us[count / 2 - 1] + s->us[count / 2]) / 2.0;
    s->low = s->us[0];
    s->high = s->us[count - 1];
}

static bool is_skipped(const series *s) {
    return s->missing != NULL || s->count == 0;
}

static void print_table(const options *o, const series *all, int count) {
    printf("N-Queens, 8 x 8: microseconds an epoch, one thread, medians of %d rounds in turn\n\n", o->rounds);
    printf("  %-22s %27s   %27s\n", "", "wall clock", "processor time");
    printf("  %-22s %9s %17s   %9s %17s %11s\n", "", "median", "lowest..highest", "median", "lowest..highest",
           "times masu");
    for (int i = 0; i < count; i++) {
        const series *s = &all[i];
        if (is_skipped(s)) {
            printf("  %-22s skipped: %s\n", s->name, s->missing);
            continue;
        }
        printf("  %-22s %9.2f %8.2f %8.2f   %9.2f %8.2f %8.2f", s->name, s->wall.median, s->wall.low, s->wall.high,
               s->cpu.median, s->cpu.low, s->cpu.high);
        if (i > 0 && !is_skipped(&all[0]))
            printf(" %5.1f (cpu %.1f)", s->wall.median / all[0].wall.median, s->cpu.median / all[0].cpu.median);
        printf("\n");
    }
}

static void print_samples_json(const char *name, const samples *s) {
    printf("\"%s\": {\"median\": %.4f, \"lowest\": %.4f, \"highest\": %.4f}", name, s->median, s->low, s->high);
}

static void print_json(const options *o, const series *all, int count) {
    printf(
        "{\"bench\": \"n_queens\", \"unit\": \"us_per_epoch\", \"threads\": 1, \"rounds\": %d, "
        "\"epochs\": %ld, \"rows\": [",
        o->rounds, o->epochs);
    for (int i = 0; i < count; i++) {
        const series *s = &all[i];
        printf("%s{\"name\": \"%s\", ", i == 0 ? "" : ", ", s->name);
        if (is_skipped(s)) {
            printf("\"skipped\": \"%s\"}", s->missing);
            continue;
        }
        print_samples_json("wall", &s->wall);
        printf(", ");
        print_samples_json("cpu", &s->cpu);
        printf("}");
    }
    printf("]}\n");
}

static void usage(FILE *to) {
    fputs(
        "usage: n_queens [--json] [--rounds N] [--epochs N] [--masu FILE] [--source FOLDER] [--python FILE]\n"
        "  --json           one JSON object in place of the table\n"
        "  --rounds N       rounds, each side once a round (7, at least 1)\n"
        "  --epochs N       epochs of masu's longer run (200000, at least 1000); PyTorch does a tenth\n"
        "  --masu FILE      the command; default: masu in the folder above this program's\n"
        "  --source FOLDER  where examples/ and bench/ stand; default: three folders above this program, or here\n"
        "  --python FILE    the Python that has torch (/usr/bin/python3)\n",
        to);
}

/* Cuts the last `count` components off. */
static void path_up(char *path, int count) {
    while (count-- > 0) {
        char *slash = strrchr(path, '/');
        if (slash == NULL || slash == path)
            return;
        *slash = '\0';
    }
}

/* build/<preset>/bench/n_queens: masu is in build/<preset>, the sources are three folders up. */
static void find_defaults(options *o) {
    char self[MAX_PATH_BYTES] = "";
    ssize_t got = readlink("/proc/self/exe", self, sizeof self - 1);
    self[got < 0 ? 0 : got] = '\0';
    path_up(self, 2);
    snprintf(o->masu, sizeof o->masu, "%.*s/masu", MAX_PATH_BYTES - 8, self);
    path_up(self, 2);
    char probe[MAX_PATH_BYTES + 32];
    snprintf(probe, sizeof probe, "%s/examples/n_queens.tl", self);
    snprintf(o->source, sizeof o->source, "%s", access(probe, R_OK) == 0 ? self : ".");
}

static bool read_options(int argc, char **argv, options *o) {
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--json") == 0) {
            o->json = true;
            continue;
        }
        if (value == NULL)
            return false;
        if (strcmp(argv[i], "--rounds") == 0)
            o->rounds = atoi(value);
        else if (strcmp(argv[i], "--epochs") == 0)
            o->epochs = atol(value);
        else if (strcmp(argv[i], "--masu") == 0)
            snprintf(o->masu, sizeof o->masu, "%s", value);
        else if (strcmp(argv[i], "--source") == 0)
            snprintf(o->source, sizeof o->source, "%s", value);
        else if (strcmp(argv[i], "--python") == 0)
            o->python = value;
        else
            return false;
        i++;
    }
    return o->rounds >= 1 && o->rounds <= MAX_ROUNDS && o->epochs >= 1000;
}

int main(int argc, char **argv) {
    options o = {.rounds = 7, .epochs = 200000, .python = "/usr/bin/python3"};
    find_defaults(&o);
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        usage(stdout);
        return 0;
    }
    if (!read_options(argc, argv, &o)) {
        usage(stderr);
        return 2;
    }

    static series all[] = {{.name = "masu run"}, {.name = "torch eager, matmul"}, {.name = "torch eager, masks"}};
    static const char *const forms[] = {NULL, "matmul", "mask"};
    bool torch = torch_is_there(&o);
    for (int i = 1; i < 3 && !torch; i++)
        all[i].missing = "PyTorch is not installed (apt-get install python3-torch)";
    for (int round = 0; round < o.rounds; round++) {
        if (!measure_masu(&o, &all[0])) {
            fprintf(stderr, "n_queens: %s (%s)\n", all[0].missing, o.masu);
            return 1;
        }
        for (int i = 1; i < 3; i++)
            if (all[i].missing == NULL)
                measure_torch(&o, &all[i], forms[i]);
    }
    for (int i = 0; i < 3; i++) {
        samples_finish(&all[i].wall, all[i].count);
        samples_finish(&all[i].cpu, all[i].count);
    }
    (o.json ? print_json : print_table)(&o, all, 3);
    return 0;
}
