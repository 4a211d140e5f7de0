/* test_goldens.c: every golden program with the nth request for memory refused, for n = 1, 2, 3 … until a run gets
 * through (OWNERSHIP, shape 26).
 *
 *     file ─► compiled once ─► run with n = 1 ─► n = 2 ─► … ─► the run that no refusal met
 *
 * Each refused run must end in an out-of-memory error at a line of the program, with nothing alive, or in the error
 * that the program ends in anyway; the last must print what the first, undisturbed one printed. A program that asks for
 * memory very often is refused at its first POINTS requests and then ever more seldom: as far as MOST_SECONDS carry.
 *
 * Each program has a process of its own, so that a crash names it. Heavy builds take all programs, others every sixth,
 * chosen by its name: a new program changes nothing about the others.
 *
 *     test_goldens [TEXT]     all programs whose name contains TEXT
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/meta.h"

#ifdef MASU_TEST_LANGUAGE
#include "language/language.h"
#include "runtime/runtime.h"

#ifdef MASU_HEAVY
enum { POINTS = 60, STEP = 1 };
#else
enum { POINTS = 40, STEP = 6 }; /* all of them are the heavy build's */
#endif
static const double MOST_SECONDS = 0.1;
enum { MOST_WORDS = 8 };

typedef struct sweep {
    const char *name;
    masu_program *program;
    char *arguments[MOST_WORDS];
    int argument_count;
} sweep;

typedef struct ending {
    masu_status status;
    bool fired; /* the nth request came */
    bool placed;
    char text[160];
    char *output; /* to be freed */
    size_t length;
    uint64_t left;
} ending;

static uint64_t *at; /* where the child stands: seen by its parent */

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ---- one run ----------------------------------------------------------------------------------------- */

static uint64_t left_in(tl_runtime *rt) {
    tl_report r;
    tl_runtime_get_report(rt, &r);
    return r.live_tensors + r.live_bytes + r.live_nodes + r.live_grads + r.live_objects + r.frame_depth +
           r.scope_depth + r.registered + (r.allocations - r.frees) + !tl_runtime_valid(rt);
}

static bool is_placed(const masu_program *p, const tl_error *error) {
    masu_place_info place;
    for (uint32_t s = 0; s < error->site_count; s++)
        if (masu_program_site(p, error->sites[s], &place) && place.line > 0)
            return true;
    return false;
}

/* nth 0: nothing is refused. */
static void run(const sweep *s, uint64_t nth, ending *e) {
    *e = (ending){0};
    FILE *out = open_memstream(&e->output, &e->length);
    tl_runtime_config config = {.seed = 42,
                                .out = out,
                                .log = out,
                                .argument_count = s->argument_count,
                                .arguments = (const char *const *)s->arguments};
    tl_runtime *rt = NULL;
    tl_error error = {0};
    if (!out || tl_runtime_create(&config, &rt) != MASU_OK)
        exit(3);
    masu__fault_arm(nth);
    e->status = tl_runtime_run(rt, masu_program_entry(s->program), &error);
    e->fired = masu__fault_fired();
    masu__fault_arm(0);
    e->placed = is_placed(s->program, &error);
    snprintf(e->text, sizeof e->text, "%.*s", (int)sizeof e->text - 1, error.text);
    fclose(out);
    e->left = left_in(rt);
    tl_runtime_destroy(rt);
}

/* ---- one program ---------------------------------------------------------------------------------------- */

static bool wrong(const sweep *s, uint64_t nth, const char *what, const ending *e) {
    printf("%s, request %llu refused: %s (status %d: %s; %llu left)\n", s->name, (unsigned long long)nth, what,
           (int)e->status, e->text, (unsigned long long)e->left);
    return false;
}

static bool judge(const sweep *s, uint64_t nth, const ending *plain, const ending *e) {
    if (e->left != 0)
        return wrong(s, nth, "something is left", e);
    bool as_ever = e->status == plain->status && strcmp(e->text, plain->text) == 0;
    if (!e->fired && (!as_ever || e->length != plain->length || memcmp(e->output, plain->output, e->length) != 0))
        return wrong(s, nth, "got through, and ended otherwise", e);
    if (e->fired && !as_ever && e->status != MASU_ERR_OUT_OF_MEMORY)
        return wrong(s, nth, "another error", e);
    if (e->fired && e->status == MASU_ERR_OUT_OF_MEMORY && (!e->placed || !strstr(e->text, "out of memory")))
        return wrong(s, nth, "no line, or other words", e);
    return true;
}

/* Programs that print what they measured print something else each time. */
static bool repeats(const sweep *s, const ending *plain) {
    ending again;
    run(s, 0, &again);
    bool same = again.length == plain->length && memcmp(again.output, plain->output, plain->length) == 0;
    free(again.output);
    return same;
}

static bool sweep_program(const sweep *s, uint64_t *points) {
    ending plain, e;
    run(s, 0, &plain);
    if (plain.left != 0)
        return wrong(s, 0, "something is left", &plain);
    bool good = true, through = !repeats(s, &plain);
    double until = seconds() + MOST_SECONDS;
    for (uint64_t nth = 1; good && !through; nth += nth < POINTS ? 1 : nth / 4) {
        *at = nth;
        run(s, nth, &e);
        good = judge(s, nth, &plain, &e);
        through = !e.fired || (seconds() > until && nth >= POINTS / 4);
        free(e.output);
        ++*points;
    }
    free(plain.output);
    return good;
}

/* ---- a file ----------------------------------------------------------------------------------------------- */

static bool read_file(const char *path, masu__buffer *text) {
    char part[4096];
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    for (size_t got; (got = fread(part, 1, sizeof part, file)) > 0;)
        masu__buffer_append(text, part, got);
    fclose(file);
    return !text->failed;
}

static bool is_runnable(const char *text) {
    return !strstr(text, "//! mode: check");
}

/* What stands behind `key`, in words. */
static int read_words(char *text, const char *key, char *words[], int most) {
    char *line = strstr(text, key), *end = line ? strchr(line, '\n') : NULL;
    int count = 0;
    if (!end)
        return 0;
    line += strlen(key);
    char *copy = strndup(line, (size_t)(end - line)), *rest = copy;
    for (char *word; count < most && (word = strtok_r(rest, " ", &rest)) != NULL;)
        words[count++] = word;
    return count;
}

/* Passes that the program is compiled without; its other flags do not change what is refused. */
static void read_passes(char *text, masu_compile_options *options, const char *passes[MOST_WORDS]) {
    char *words[MOST_WORDS];
    int count = read_words(text, "//! flags:", words, MOST_WORDS);
    options->disabled = passes;
    for (int w = 0; w < count; w++)
        if (strncmp(words[w], "--no-", 5) == 0)
            passes[options->disabled_count++] = words[w] + 5;
}

/* Status of the child: 0 good, 1 wrong, 2 nothing to run. */
static int one_file(const char *path, const char *name, uint64_t *points) {
    masu__buffer text = {0};
    sweep s = {.name = name};
    masu_compile_options options = {.until = MASU_STAGE_CODE, .generator = &masu_llvm};
    const char *passes[MOST_WORDS];
    if (!read_file(path, &text) || !is_runnable(masu__buffer_text(&text)))
        return 2;
    read_passes(text.data, &options, passes);
    masu_status status = masu_program_compile(path, text.data, text.length, &options, &s.program);
    if (status == MASU_ERR_OUT_OF_MEMORY || masu_program_error_count(s.program) > 0)
        return 2;
    s.argument_count = read_words(text.data, "//! args:", s.arguments, MOST_WORDS);
    return sweep_program(&s, points) ? 0 : 1;
}

/* ---- all of them --------------------------------------------------------------------------------------------- */

static int is_program(const struct dirent *entry) {
    size_t length = strlen(entry->d_name);
    return length > 3 && strcmp(entry->d_name + length - 3, ".tl") == 0;
}

static bool is_chosen(const char *name) {
    uint32_t sum = 2166136261u;
    for (; *name; name++)
        sum = (sum ^ (unsigned char)*name) * 16777619u;
    return sum / 7 % STEP == 0;
}

static int apart(const char *name, uint64_t *points) {
    char path[512];
    snprintf(path, sizeof path, "%s/tests/golden/%s", MASU_SOURCE_DIR, name);
    at[0] = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        exit(one_file(path, name, points));
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0)
        return 3;
    if (WIFEXITED(status) && WEXITSTATUS(status) <= 2)
        return WEXITSTATUS(status);
    printf("%s, request %llu refused: died of %s %d\n", name, (unsigned long long)at[0],
           WIFSIGNALED(status) ? "signal" : "status", WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    return 1;
}

/* What the compiler does once in a process is done before children are made of it. */
static void warm_up(void) {
    static const char text[] = "fn main() {\n}\n";
    masu_program *program = NULL;
    masu_compile_options options = {.until = MASU_STAGE_CODE, .generator = &masu_llvm};
    if (masu_program_compile("empty.tl", text, sizeof text - 1, &options, &program) == MASU_OK)
        masu_program_destroy(program);
}

int main(int argc, char **argv) {
    struct dirent **entries;
    int count = scandir(MASU_SOURCE_DIR "/tests/golden", &entries, is_program, alphasort);
    int swept = 0, failed = 0;
    at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (count <= 0 || at == MAP_FAILED)
        return 1;
    warm_up();
    for (int i = 0; i < count; i++) {
        if (argc < 2 ? is_chosen(entries[i]->d_name) : strstr(entries[i]->d_name, argv[1]) != NULL) {
            int status = apart(entries[i]->d_name, &at[1]);
            swept += status == 0;
            failed += status == 1 || status == 3;
        }
        free(entries[i]);
    }
    free(entries);
    printf("%d programs refused at %llu requests, %d wrong\n", swept, (unsigned long long)at[1], failed);
    return failed == 0 && swept > 0 && at[1] > (uint64_t)swept ? 0 : 1;
}

#else

int main(void) {
    printf("built without the language: there are no programs to run\n");
    return 0;
}

#endif
