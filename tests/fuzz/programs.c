/* programs.c: mutated programs through everything that happens before a program runs.
 *
 *     parent ─fork─► child: for each seed   mutant ─► compile until the passes, verified ─► explain, look up, format
 *        └── the child died: the mutant of the seed that it was at is a finding; another child goes on behind it
 *
 * A program may be right or wrong. A crash, a sanitizer's report, more than LIMIT_S seconds of the processor, an
 * internal error, an error without a word, or a layout that changes the program or changes again is a finding.
 *
 *     fuzz_programs [--seconds=60] [--seed=1] [--keep=FOLDER] FILE…    mutate these
 *     fuzz_programs --try FILE…                                        these as they are
 *     fuzz_programs --reduce FILE                                      what is left of a finding, on standard output
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "language/language.h"
#include "mutate.h"

enum { LIMIT_S = 20, MUTANTS_A_CHILD = 400, MOST_FINDINGS = 40 };

typedef struct shared { /* of parent and child */
    uint64_t seed;      /* of the mutant that is being tried */
    uint64_t tried, right;
} shared;

typedef struct fuzz {
    mutate_program *programs;
    char **paths;
    size_t count;
    shared *shared;
    const char *keep;
    uint64_t seed;
    time_t finish;
} fuzz;

static void demand(bool holds, const char *what) {
    if (holds)
        return;
    fprintf(stderr, "fuzz: %s\n", what);
    abort();
}

/* ---- one program -------------------------------------------------------------------------------------------- */

/* Blanks and comments apart, and commas before closing brackets: what the two texts must have in common. */
static uint64_t tokens_hash(const char *text, size_t length) {
    mutate_program p = mutate_program_of(text, length);
    uint64_t hash = 1469598103934665603u;
    for (size_t i = 0; i < p.count; i++)
        for (uint32_t k = 0; k < p.pieces[i].length && p.pieces[i].kind != ' '; k++)
            hash = (hash ^ (unsigned char)p.pieces[i].at[k]) * 1099511628211u;
    mutate_program_destroy(&p);
    return hash;
}

static void try_format(const char *text, size_t length) {
    masu_text once = {0}, twice = {0}, said = {0}, said_again = {0};
    masu_status status = masu_format("mutant.tl", text, length, &once, &said);
    if (status == MASU_OK) {
        demand(tokens_hash(text, length) == tokens_hash(once.data ? once.data : "", once.length),
               "masu fmt changes the program");
        status = masu_format("mutant.tl", once.data ? once.data : "", once.length, &twice, &said_again);
        demand(status == MASU_OK, "masu fmt makes a program that it cannot read");
        demand(once.length == twice.length && (once.length == 0 || memcmp(once.data, twice.data, once.length) == 0),
               "masu fmt changes its own layout");
    } else {
        demand(status != MASU_ERR_INTERNAL && said.length > 0, "masu fmt fails without a word");
    }
    masu_text_free(&once);
    masu_text_free(&twice);
    masu_text_free(&said);
    masu_text_free(&said_again);
}

static const char *no_module(void *user, const char *path, size_t *length) {
    (void)user, (void)path;
    *length = 0;
    return NULL;
}

static bool try_program(const char *text, size_t length) {
    masu_compile_options options = {.until = MASU_STAGE_PASSES, .verify = true, .read = no_module};
    masu_program *p = NULL;
    masu_status status = masu_program_compile("mutant.tl", text, length, &options, &p);
    bool right = status == MASU_OK;
    demand(p != NULL, "memory ended");
    if (status == MASU_ERR_INTERNAL)
        fputs(masu_program_diagnostics(p), stderr);
    demand(status != MASU_ERR_INTERNAL, "internal error");
    demand(right == (masu_program_error_count(p) == 0), "status and messages disagree");
    demand(right || strstr(masu_program_diagnostics(p), "error: "), "an error without a word");
    if (right)
        for (int form = MASU_EXPLAIN_SHORT; form <= MASU_EXPLAIN_HTML; form++)
            demand(*masu_program_explain(p, (masu_explain_form)form) != 0, "nothing is explained");
    masu_place_info place;
    for (uint32_t line = 1, column = 1; line < 40; line++, column = (column * 7 + line) % 60 + 1)
        masu_program_look_up(p, NULL, line, column, line % 2, &place);
    masu_program_destroy(p);
    try_format(text, length);
    return right;
}

/* Of the processor, so that a busy machine finds nothing; its signal ends the process. 0: no limit. */
static void limit_time(int seconds) {
    struct itimerval limit = {.it_value.tv_sec = seconds};
    setitimer(ITIMER_PROF, &limit, NULL);
}

/* ---- children ------------------------------------------------------------------------------------------------- */

/* Runs body(context) in a process of its own; true when it ended well. said: where its messages go, NULL: nowhere. */
static bool apart(void (*body)(void *), void *context, const char *said) {
    fflush(stdout);
    pid_t child = fork();
    demand(child >= 0, "no process");
    if (child == 0) {
        int out = open(said ? said : "/dev/null", O_WRONLY | O_CREAT | O_TRUNC, 0600);
        dup2(out, STDERR_FILENO);
        body(context);
        exit(0);
    }
    int status;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void try_mutants(void *context) {
    fuzz *f = context;
    masu__buffer mutant = {0};
    size_t origin;
    for (int i = 0; i < MUTANTS_A_CHILD && time(NULL) < f->finish; i++) {
        f->shared->seed = ++f->seed;
        masu__buffer_truncate(&mutant, 0);
        mutate(f->programs, f->count, f->seed, &mutant, &origin);
        limit_time(LIMIT_S);
        f->shared->right += try_program(masu__buffer_text(&mutant), mutant.length);
        f->shared->tried++;
    }
    limit_time(0);
    masu__buffer_destroy(&mutant);
}

static void keep_finding(const fuzz *f, uint64_t seed) {
    char path[512];
    size_t origin;
    masu__buffer mutant = {0};
    mutate(f->programs, f->count, seed, &mutant, &origin);
    snprintf(path, sizeof path, "%s/finding-%llu.tl", f->keep, (unsigned long long)seed);
    FILE *file = fopen(path, "w");
    if (file) {
        fwrite(masu__buffer_text(&mutant), 1, mutant.length, file);
        fclose(file);
    }
    printf("fuzz: %s, made of %s, seed %llu\n", path, f->paths[origin], (unsigned long long)seed);
    snprintf(path, sizeof path, "%s/finding-%llu.txt", f->keep, (unsigned long long)seed);
    char said[512];
    snprintf(said, sizeof said, "%s/said", f->keep);
    rename(said, path);
    masu__buffer_destroy(&mutant);
}

static int mutants(fuzz *f) {
    char said[512];
    int findings = 0;
    snprintf(said, sizeof said, "%s/said", f->keep);
    while (time(NULL) < f->finish && findings < MOST_FINDINGS) {
        bool fine = apart(try_mutants, f, said);
        f->seed = f->shared->seed;
        if (!fine) {
            findings++;
            keep_finding(f, f->seed);
        }
    }
    printf("fuzz: %llu programs, %llu of them right, %d findings\n", (unsigned long long)f->shared->tried,
           (unsigned long long)f->shared->right, findings);
    return findings > 0;
}

/* ---- programs as they are, and what is left of them ------------------------------------------------------------- */

static void try_one(void *context) {
    const masu__buffer *text = context;
    limit_time(LIMIT_S);
    try_program(masu__buffer_text(text), text->length);
    limit_time(0);
}

/* From the f->seed-th on, in one process. */
static void try_rest(void *context) {
    fuzz *f = context;
    for (; f->seed < f->count; f->seed++) {
        masu__buffer text = {0};
        f->shared->seed = f->seed;
        mutate_without(&f->programs[f->seed], 0, 0, &text);
        try_one(&text);
        masu__buffer_destroy(&text);
    }
    f->shared->seed = f->count;
}

static int try_files(fuzz *f) {
    int findings = 0;
    for (f->seed = f->shared->seed = 0; f->seed < f->count; f->seed = f->shared->seed) {
        bool fine = apart(try_rest, f, "/dev/stderr");
        if (!fine && f->shared->seed == f->count)
            f->shared->seed--; /* what it left behind was found at its end: nobody knows whose it is */
        if (!fine)
            printf("fuzz: %s\n", f->paths[f->shared->seed++]);
        findings += !fine;
    }
    printf("fuzz: %zu programs, %d findings\n", f->count, findings);
    return findings > 0;
}

/* Leaves out halves, quarters, … single pieces as long as it still fails. */
static int reduce(mutate_program p) {
    for (size_t size = p.count / 2; size > 0; size = size > 1 ? (size + 1) / 2 : 0) {
        for (size_t from = 0; from < p.count;) {
            masu__buffer less = {0};
            mutate_without(&p, from, size, &less);
            if (!apart(try_one, &less, NULL)) {
                mutate_program_destroy(&p);
                p = mutate_program_of(masu__buffer_text(&less), less.length);
            } else {
                from += size;
            }
            masu__buffer_destroy(&less);
        }
    }
    masu__buffer left = {0};
    mutate_without(&p, 0, 0, &left);
    puts(masu__buffer_text(&left));
    masu__buffer_destroy(&left);
    mutate_program_destroy(&p);
    return 0;
}

/* ---- the command line ------------------------------------------------------------------------------------------- */

static mutate_program read_program(const char *path) {
    char chunk[4096];
    masu__buffer text = {0};
    FILE *file = fopen(path, "r");
    demand(file != NULL, path);
    for (size_t got; (got = fread(chunk, 1, sizeof chunk, file)) > 0;)
        masu__buffer_append(&text, chunk, got);
    fclose(file);
    mutate_program p = mutate_program_of(masu__buffer_text(&text), text.length);
    masu__buffer_destroy(&text);
    return p;
}

int main(int argc, char **argv) {
    static fuzz f = {.keep = ".", .seed = 1}; /* reachable until the end, for the leak checker */
    long seconds = 60;
    bool as_they_are = false, reduces = false;
    f.programs = calloc((size_t)argc, sizeof *f.programs);
    f.paths = calloc((size_t)argc, sizeof *f.paths);
    f.shared = mmap(NULL, sizeof *f.shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    demand(f.programs && f.paths && f.shared != MAP_FAILED, "no memory");
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--seconds=", 10) == 0) {
            seconds = strtol(argv[i] + 10, NULL, 10);
        } else if (strncmp(argv[i], "--seed=", 7) == 0) {
            f.seed = strtoull(argv[i] + 7, NULL, 10);
        } else if (strncmp(argv[i], "--keep=", 7) == 0) {
            f.keep = argv[i] + 7;
        } else if (strcmp(argv[i], "--try") == 0) {
            as_they_are = true;
        } else if (strcmp(argv[i], "--reduce") == 0) {
            reduces = true;
        } else {
            f.paths[f.count] = argv[i];
            f.programs[f.count++] = read_program(argv[i]);
        }
    }
    demand(f.count > 0, "which programs?");
    f.finish = time(NULL) + seconds;
    f.shared->seed = f.seed;
    return reduces ? reduce(f.programs[0]) : as_they_are ? try_files(&f) : mutants(&f);
}
