/* test_plain_c.c: `masu build --c` with the nth request for memory refused, for n = 1, 2, 3 … until a run gets through.
 *
 *     program ─► compiled as far as its passes, once a list of calls ─► plain C with n = 1 ─► n = 2 ─► … ─► all of it
 *
 * A refused run must say that memory is out, and nothing else, leave nothing alive, and write no half of a file; where
 * it gets through in spite of a refusal, what it writes is what it writes undisturbed. Memory is asked for in blocks,
 * so each list of calls is refused at other lines: each call alone at every request, and the first two, three, … of
 * them together at every seventh. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/meta.h"

#ifdef MASU_TEST_LANGUAGE
#include "language/codegen/codegen.h"
#include "language/language.h"

static const char *const calls[] = {
    "m = Mlp::new(6, 8, 5); Mlp::forward(m, [4, 6]); Mlp::nudge(m, [5], _)",
    "Mlp::new(6, 8, 5)",
    "conv([2, 3, 8, 8], [4, 3, 3, 3], [4])",
    "attend([2, 5, 8], [8, 8], [8, 8], [8, 8])",
    "elements([7, 5], [5])",
    "sums([6, 37])",
    "parts([4, 3], [2], _)",
    "recur([3, 4], [4, 4], 40)", /* turn by turn: many blocks of memory */
    "blur([6, 7], _)",
    "counts([9], [9])",
    "collatz(_); mixed(_, _, _)",
    "swap([4], [4]); literal([3])",
    "dots([3, 4], [2, 4])",
    "power([5, 5], _)",
    "fibs(_)",
    "grid([3, 2])",
    "latest(_); either(_, [4])",
    /* refused: with its words, or for want of memory */
    "conv([2, 3, 8, 8], [4, 2, 3, 3], [4])",
    "elements([7, 5], [6])",
    "nothing([1])",
    "sums([6, 37]); sums([6, 37])",
    "parts([4, ",
};
enum { CALLS = sizeof calls / sizeof calls[0], FINE = 15, MOST_POINTS = 2000 };

static const char *running;
static uint64_t points, wrong, step = 1;

static void say(uint64_t nth, const char *what) {
    wrong++;
    printf("%.60s, request %llu refused: %s\n", running, (unsigned long long)nth, what);
}

/* ---- one run ------------------------------------------------------------------------------------------------ */

typedef struct outcome_of_run {
    masu_status status;
    bool fired;
    uint32_t said;     /* refusals of the program */
    masu__buffer text; /* the C and its header */
} outcome_of_run;

static void count_refusals(void *user, source_span span, const char *why) {
    (void)span;
    (void)why;
    ++*(uint32_t *)user;
}

static void keep_text(const codegen_code *code, masu__buffer *text) {
    for (unsigned number = 0; number < 2; number++) {
        size_t length = 0;
        const char *data = masu_portable.object(code, number, &length);
        masu__buffer_append(text, data, length);
    }
}

/* nth 0: nothing is refused. */
static outcome_of_run run(const ir_module *module, const codegen_options *options, uint64_t nth) {
    outcome_of_run o = {0};
    codegen_options own = *options;
    masu__buffer error = {0};
    codegen_code *code = NULL;
    own.refuse = count_refusals;
    own.user = &o.said;
    uint64_t before = masu__meta_live_blocks();
    masu__fault_arm(nth);
    o.status = masu_portable.compile(module, &own, &error, &code);
    o.fired = masu__fault_fired();
    masu__fault_arm(0);
    if (o.status == MASU_OK)
        keep_text(code, &o.text);
    else if (code)
        say(nth, "code of a run that did not end well");
    masu_portable.destroy(code);
    masu__buffer_destroy(&error);
    if (masu__meta_live_blocks() != before + (o.text.data != NULL))
        say(nth, "something is left");
    return o;
}

static bool same_text(const masu__buffer *a, const masu__buffer *b) {
    return a->length == b->length && (a->length == 0 || memcmp(a->data, b->data, a->length) == 0);
}

static void judge(uint64_t nth, const outcome_of_run *plain, const outcome_of_run *o) {
    bool as_ever = o->status == plain->status && o->said == plain->said && same_text(&o->text, &plain->text);
    if (!as_ever && !o->fired)
        say(nth, "got through, and ended otherwise");
    else if (!as_ever && o->status != MASU_ERR_OUT_OF_MEMORY)
        say(nth, o->status != plain->status ? "blames the program" : "writes another file");
}

/* ---- all refusals of one list of calls ------------------------------------------------------------------------ */

/* Stands between the compiler and plain C's generator. */
static masu_status sweep(const ir_module *module, const codegen_options *options, masu__buffer *error,
                         codegen_code **out) {
    (void)error;
    (void)out;
    outcome_of_run plain = run(module, options, 0);
    bool through = false;
    for (uint64_t nth = 1; !through && nth < MOST_POINTS; nth += step, points++) {
        outcome_of_run o = run(module, options, nth);
        judge(nth, &plain, &o);
        through = !o.fired;
        masu__buffer_destroy(&o.text);
    }
    if (!through)
        say(MOST_POINTS, "never gets through");
    masu_status status = plain.status;
    masu__buffer_destroy(&plain.text);
    return status == MASU_OK ? MASU_ERR_SHAPE_MISMATCH : status; /* there is no code to keep */
}

static void sweep_calls(const masu__buffer *text, const char *list) {
    static const masu_generator between = {.compile = sweep};
    masu_compile_options options = {
        .until = MASU_STAGE_CODE, .generator = &between, .objects = true, .module = "net", .calls = list};
    masu_program *program = NULL;
    uint64_t before = points;
    running = list;
    if (masu_program_compile("plain_c.tl", text->data, text->length, &options, &program) == MASU_ERR_OUT_OF_MEMORY ||
        points == before)
        say(0, "the program does not come so far");
    masu_program_destroy(program);
}

static bool read_text(masu__buffer *text) {
    char part[4096];
    FILE *file = fopen(MASU_SOURCE_DIR "/tests/cli/plain_c.tl", "r");
    if (!file)
        return false;
    for (size_t got; (got = fread(part, 1, sizeof part, file)) > 0;)
        masu__buffer_append(text, part, got);
    fclose(file);
    return !text->failed;
}

int main(void) {
    masu__buffer text = {0}, together = {0};
    if (!read_text(&text))
        return 1;
    for (int k = 0; k < CALLS; k++)
        sweep_calls(&text, calls[k]);
    step = 7;
    masu__buffer_puts(&together, calls[0]);
    for (int k = 2; k < FINE; k++) { /* 1 is what 0 has */
        masu__buffer_printf(&together, "; %s", calls[k]);
        sweep_calls(&text, masu__buffer_text(&together));
    }
    masu__buffer_destroy(&together);
    masu__buffer_destroy(&text);
    printf("%d lists of calls refused at %llu requests, %llu wrong\n", CALLS + FINE - 2, (unsigned long long)points,
           (unsigned long long)wrong);
    return wrong == 0 && points > 200 ? 0 : 1;
}

#else

int main(void) {
    printf("built without the language: there are no programs to write\n");
    return 0;
}

#endif
