/* n_queens: what one epoch of examples/n_queens.tl costs, beside the same loss in PyTorch eager.
 *
 * Why: time to a solved board is luck of the seed, so the epoch is measured. `masu run` compiles first; its
 * start-up cancels out in the difference of two runs of different length:
 *
 *     us an epoch = (time of a run of `long` epochs - time of a run of `short` epochs) / (long - short)
 *
 * PyTorch (bench/n_queens_torch.py, Debian's python3-torch, one thread) times its own loop, start-up outside.
 * Both sides take turns, round by round, with one thread each; the table shows medians and the spread.
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

typedef struct series {
    const char *name;
    const char *missing;   /* why there is nothing, NULL when there is */
    double us[MAX_ROUNDS]; /* microseconds an epoch, one a round; sorted by series_finish */
    int count;
    double median, low, high;
} series;

static double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Runs argv with one thread for BLAS and OpenMP, standard output into `line` (its first MAX_LINE - 1 bytes; the
 * rest is read and dropped), standard error dropped when quiet. Returns the exit status, -1 when it did not start
 * or ended by a signal. */
static int run(char *const argv[], char line[MAX_LINE], bool quiet) {
    int out[2];
    if (pipe(out) != 0) {
        return -1;
    }
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
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            break;
        }
        for (ssize_t i = 0; i < got && filled < MAX_LINE - 1; i++) {
            line[filled++] = buffer[i];
        }
    }
    line[filled] = '\0';
    close(out[0]);
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) {
        return -1;
    }
    return WEXITSTATUS(status);
}

/* Wall seconds of one attempt of `epochs` epochs, negative on failure. */
static double masu_run_seconds(const options *o, long epochs) {
    char program[MAX_PATH_BYTES + 32], count[32], line[MAX_LINE];
    snprintf(program, sizeof program, "%s/examples/n_queens.tl", o->source);
    snprintf(count, sizeof count, "%ld", epochs);
    char *argv[] = {(char *)o->masu, "run", program, count, "1", NULL};
    double start = seconds_now();
    int status = run(argv, line, false);
    return status == 0 ? seconds_now() - start : -1.0;
}

static bool measure_masu(const options *o, series *s) {
    long shorter = o->epochs / 10;
    double brief = masu_run_seconds(o, shorter);
    double whole = masu_run_seconds(o, o->epochs);
    if (brief < 0.0 || whole < 0.0) {
        s->missing = "masu run examples/n_queens.tl failed";
        return false;
    }
    s->us[s->count++] = (whole - brief) / (double)(o->epochs - shorter) * 1e6;
    return true;
}

static bool measure_torch(const options *o, series *s, const char *form) {
    char script[MAX_PATH_BYTES + 32], count[32], line[MAX_LINE];
    long epochs = o->epochs / 10;
    snprintf(script, sizeof script, "%s/bench/n_queens_torch.py", o->source);
    snprintf(count, sizeof count, "%ld", epochs);
    char *argv[] = {(char *)o->python, script, count, (char *)form, NULL};
    double seconds = 0.0;
    if (run(argv, line, true) != 0 || sscanf(line, "%lf", &seconds) != 1) {
        s->missing = "bench/n_queens_torch.py failed";
        return false;
    }
    s->us[s->count++] = seconds / (double)epochs * 1e6;
    return true;
}

static bool torch_is_there(const options *o) {
    char line[MAX_LINE];
    char *argv[] = {(char *)o->python, "-c", "import torch; print(torch.__version__)", NULL};
    return run(argv, line, true) == 0;
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void series_finish(series *s) {
    if (s->count == 0) {
        return;
    }
    qsort(s->us, (size_t)s->count, sizeof s->us[0], compare_doubles);
    s->median = s->count % 2 == 1 ? s->us[s->count / 2]
                                  : (s->us[s->count / 2 - 1] + s->us[s->count / 2]) / 2.0;
    s->low = s->us[0];
    s->high = s->us[s->count - 1];
}

static void print_table(const options *o, const series *all, int count) {
    printf("N-Queens, 8 x 8: microseconds an epoch, one thread, median of %d rounds in turn\n\n",
           o->rounds);
    printf("  %-24s %10s %10s %10s %14s\n", "", "median", "lowest", "highest", "times masu");
    for (int i = 0; i < count; i++) {
        const series *s = &all[i];
        if (s->missing != NULL || s->count == 0) {
            printf("  %-24s skipped: %s\n", s->name, s->missing);
        } else {
            printf("  %-24s %10.2f %10.2f %10.2f", s->name, s->median, s->low, s->high);
            if (i > 0 && all[0].count > 0) {
                printf(" %13.1fx", s->median / all[0].median);
            }
            printf("\n");
        }
    }
}

static void print_json(const options *o, const series *all, int count) {
    printf("{\"bench\": \"n_queens\", \"unit\": \"us_per_epoch\", \"threads\": 1, \"rounds\": %d, "
           "\"epochs\": %ld, "
           "\"rows\": [",
           o->rounds, o->epochs);
    for (int i = 0; i < count; i++) {
        const series *s = &all[i];
        printf("%s{\"name\": \"%s\", ", i == 0 ? "" : ", ", s->name);
        if (s->missing != NULL || s->count == 0) {
            printf("\"skipped\": \"%s\"}", s->missing);
        } else {
            printf("\"median\": %.4f, \"lowest\": %.4f, \"highest\": %.4f}", s->median, s->low,
                   s->high);
        }
    }
    printf("]}\n");
}

static void usage(FILE *to) {
    fputs("usage: n_queens [--json] [--rounds N] [--epochs N] [--masu FILE] [--source FOLDER] "
          "[--python FILE]\n"
          "  --json           one JSON object in place of the table\n"
          "  --rounds N       rounds, each side once a round (7, at least 1)\n"
          "  --epochs N       epochs of masu's longer run (100000, at least 1000); PyTorch does a "
          "tenth\n"
          "  --masu FILE      the command; default: masu in the folder above this program's\n"
          "  --source FOLDER  where examples/ and bench/ stand; default: three folders above this "
          "program, or here\n"
          "  --python FILE    the Python that has torch (/usr/bin/python3)\n",
          to);
}

/* Cuts the last `count` components off. */
static void path_up(char *path, int count) {
    while (count-- > 0) {
        char *slash = strrchr(path, '/');
        if (slash == NULL || slash == path) {
            return;
        }
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
        if (value == NULL) {
            return false;
        }
        if (strcmp(argv[i], "--rounds") == 0) {
            o->rounds = atoi(value);
        } else if (strcmp(argv[i], "--epochs") == 0) {
            o->epochs = atol(value);
        } else if (strcmp(argv[i], "--masu") == 0) {
            snprintf(o->masu, sizeof o->masu, "%s", value);
        } else if (strcmp(argv[i], "--source") == 0) {
            snprintf(o->source, sizeof o->source, "%s", value);
        } else if (strcmp(argv[i], "--python") == 0) {
            o->python = value;
        } else {
            return false;
        }
        i++;
    }
    return o->rounds >= 1 && o->rounds <= MAX_ROUNDS && o->epochs >= 1000;
}

int main(int argc, char **argv) {
    options o = {.rounds = 7, .epochs = 100000, .python = "/usr/bin/python3"};
    find_defaults(&o);
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        usage(stdout);
        return 0;
    }
    if (!read_options(argc, argv, &o)) {
        usage(stderr);
        return 2;
    }

    static series all[] = {
        {.name = "masu run"}, {.name = "torch eager, matmul"}, {.name = "torch eager, masks"}};
    static const char *const forms[] = {NULL, "matmul", "mask"};
    bool torch = torch_is_there(&o);
    for (int i = 1; i < 3 && !torch; i++) {
        all[i].missing = "PyTorch is not installed (apt-get install python3-torch)";
    }
    for (int round = 0; round < o.rounds; round++) {
        if (!measure_masu(&o, &all[0])) {
            fprintf(stderr, "n_queens: %s (%s)\n", all[0].missing, o.masu);
            return 1;
        }
        for (int i = 1; i < 3; i++) {
            if (all[i].missing == NULL) {
                measure_torch(&o, &all[i], forms[i]);
            }
        }
    }
    for (int i = 0; i < 3; i++) {
        series_finish(&all[i]);
    }
    (o.json ? print_json : print_table)(&o, all, 3);
    return 0;
}
