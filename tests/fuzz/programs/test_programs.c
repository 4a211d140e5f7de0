/* test_programs.c: random programs, run in every way, compared, and made small where they fail.
 *
 *     test_programs                          a fixed few of them: the test
 *     test_programs COUNT [SEED] [FOLDER]    more; each finding is made small and written into FOLDER
 *     test_programs FILE.tl                  compares one program
 *     test_programs --show SEED              prints one
 *
 * Each program is run in a child process, so that a crash is a finding like any other.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compare.h"
#include "generate.h"
#include "minimise.h"

enum { PROGRAMS = 40, FIRST_SEED = 1, SMALL = 12, LARGE = 60, SECONDS_A_PROGRAM = 60 };
enum { MOST_ATTEMPTS = 1500 };

static const char *folder = ".";

/* ---- one program ------------------------------------------------------------------------------------- */

static void generate_one(uint64_t seed, bool thorough, masu__buffer *text) {
    generate_options options = {.seed = seed, .size = SMALL};
    if (thorough)
        options.size = SMALL + (uint32_t)(seed % (LARGE - SMALL));
    generate(&options, text);
}

/* What compare says, of a child; the reasons through a pipe. A child that dies is a difference. */
static comparison compare_apart(const char *text, size_t length, compare_depth depth, masu__buffer *why) {
    int ends[2];
    if (pipe(ends) != 0)
        return COMPARED_NOTHING;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        struct itimerval limit = {.it_value.tv_sec = SECONDS_A_PROGRAM};
        setitimer(ITIMER_PROF, &limit, NULL); /* of the processor: other work on the machine is no finding */
        close(ends[0]);
        comparison result = compare(text, length, depth, why);
        size_t wanted = why->length < 32768 ? why->length : 32768;
        if (write(ends[1], masu__buffer_text(why), wanted) < 0)
            _exit(99);
        _exit((int)result);
    }
    close(ends[1]);
    char part[4096];
    for (ssize_t got; (got = read(ends[0], part, sizeof part)) > 0;)
        masu__buffer_append(why, part, (size_t)got);
    close(ends[0]);
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0)
        return COMPARED_NOTHING;
    if (WIFEXITED(status) && WEXITSTATUS(status) <= COMPARED_NOTHING)
        return (comparison)WEXITSTATUS(status);
    masu__buffer_printf(why, "died of %s %d\n", WIFSIGNALED(status) ? "signal" : "status",
                        WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    return COMPARED_DIFFERENT;
}

/* ---- a finding ----------------------------------------------------------------------------------------- */

typedef struct goal {
    compare_depth depth;
    char kind[48]; /* how the first reason begins, without numbers */
} goal;

static void kind_of(const masu__buffer *why, char *kind, size_t room) {
    size_t k = 0;
    for (const char *c = masu__buffer_text(why); *c && *c != '\n' && k + 1 < room; c++)
        if (*c < '0' || *c > '9')
            kind[k++] = *c;
    kind[k] = 0;
}

static bool still_fails(const char *text, size_t length, void *context) {
    const goal *g = context;
    masu__buffer why = {0};
    char kind[sizeof g->kind];
    comparison result = compare_apart(text, length, g->depth, &why);
    kind_of(&why, kind, sizeof kind);
    masu__buffer_destroy(&why);
    return result == COMPARED_DIFFERENT && strcmp(kind, g->kind) == 0;
}

static void keep(uint64_t seed, const char *suffix, const masu__buffer *text) {
    char path[512];
    snprintf(path, sizeof path, "%s/finding-%llu%s", folder, (unsigned long long)seed, suffix);
    FILE *file = fopen(path, "w");
    if (!file)
        return;
    fwrite(masu__buffer_text(text), 1, text->length, file);
    fclose(file);
}

static void report(uint64_t seed, masu__buffer *text, const masu__buffer *why, compare_depth depth) {
    goal g = {.depth = depth};
    kind_of(why, g.kind, sizeof g.kind);
    printf("seed %llu: %s\n", (unsigned long long)seed, masu__buffer_text(why));
    minimise(text, still_fails, &g, MOST_ATTEMPTS);
    printf("---- smallest program\n%s----\n", masu__buffer_text(text));
    keep(seed, ".tl", text);
    keep(seed, ".txt", why);
}

/* ---- many ------------------------------------------------------------------------------------------------ */

typedef struct tally {
    int same, different, refused, nothing;
} tally;

static void one_seed(uint64_t seed, bool thorough, compare_depth depth, tally *t) {
    masu__buffer text = {0}, why = {0};
    generate_one(seed, thorough, &text);
    comparison result = compare_apart(masu__buffer_text(&text), text.length, depth, &why);
    t->same += result == COMPARED_SAME;
    t->different += result == COMPARED_DIFFERENT;
    t->refused += result == COMPARED_REFUSED;
    t->nothing += result == COMPARED_NOTHING;
    if (result == COMPARED_DIFFERENT)
        report(seed, &text, &why, depth);
    if (result == COMPARED_NOTHING)
        printf("seed %llu says nothing: %s\n", (unsigned long long)seed, masu__buffer_text(&why));
    masu__buffer_destroy(&text);
    masu__buffer_destroy(&why);
}

/* What the compiler does once in a process is done before children are made of it. */
static void warm_up(void) {
    static const char text[] = "fn main() {\n}\n";
    masu__buffer why = {0};
    (void)compare(text, sizeof text - 1, COMPARE_AUDITED, &why);
    masu__buffer_destroy(&why);
}

/* Programs that say nothing, or that are refused, are the generator's fault. */
static int many(uint64_t first, int count, bool thorough) {
    tally t = {0};
    warm_up();
    for (int i = 0; i < count; i++) {
        compare_depth depth = thorough ? (compare_depth)(COMPARE_TURN + i) : i % 4 ? COMPARE_AUDITED : COMPARE_PLAIN;
        one_seed(first + (uint64_t)i, thorough, depth, &t);
    }
    printf("%d programs agree, %d differ, %d are refused for references, %d say nothing\n", t.same, t.different,
           t.refused, t.nothing);
    return t.different > 0 || (t.nothing + t.refused) * 50 > count;
}

static int one_file(const char *path) {
    masu__buffer text = {0}, why = {0};
    FILE *file = fopen(path, "r");
    char part[4096];
    if (!file) {
        fprintf(stderr, "cannot read %s\n", path);
        return 2;
    }
    for (size_t got; (got = fread(part, 1, sizeof part, file)) > 0;)
        masu__buffer_append(&text, part, got);
    fclose(file);
    comparison result = compare(masu__buffer_text(&text), text.length, COMPARE_ALL, &why);
    printf("%s%s\n", masu__buffer_text(&why), result == COMPARED_SAME ? "same" : "");
    masu__buffer_destroy(&text);
    masu__buffer_destroy(&why);
    return result != COMPARED_SAME;
}

static int show(uint64_t seed, bool thorough) {
    masu__buffer text = {0};
    generate_one(seed, thorough, &text);
    fputs(masu__buffer_text(&text), stdout);
    masu__buffer_destroy(&text);
    return 0;
}

int main(int argc, char **argv) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc > 2 && strcmp(argv[1], "--show") == 0)
        return show(strtoull(argv[2], NULL, 10), argc > 3);
    if (argc > 1 && strchr(argv[1], '.'))
        return one_file(argv[1]);
    if (argc <= 1)
        return many(FIRST_SEED, PROGRAMS, false);
    if (argc > 3)
        folder = argv[3];
    return many(argc > 2 ? strtoull(argv[2], NULL, 10) : FIRST_SEED, atoi(argv[1]), true);
}
