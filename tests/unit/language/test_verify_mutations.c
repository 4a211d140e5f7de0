/* Sound IR with one instruction of the ownership passes changed must be refused, or still be sound.
 *
 *     dropped, said twice      a release, an acquire, a root, an unroot: refused, but where no way leads out any more:
 *                              what is not released before a loop without end lives as long as the loop does
 *     one earlier, one later   refused, or right on every path that chance takes (support_run)
 *     lent                     an argument of a call that was handed over: refused, always
 *
 * The programs are those of passes/NAME.ir and random ones, after `ownership` and after all passes. Where a block ends
 * in `unreachable`, behind what always raises, nothing runs: what stands there does not count.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir_support.h"

#define FOLDER MASU_SOURCE_DIR "/tests/unit/language/passes"

enum { MOST_FILES = 200, RANDOM_MODULES = 8, RUNS = 12 };

typedef enum mutation { DROPPED, TWICE, EARLIER, LATER, LENT, MUTATIONS } mutation;

typedef struct tally {
    int refused[MUTATIONS], sound[MUTATIONS];
} tally;

static tally total;

/* ---- lines --------------------------------------------------------------------------------------------- */

static const char *line_end(const char *line) {
    const char *end = strchr(line, '\n');
    return end ? end + 1 : line + strlen(line);
}

static bool is_ownership(const char *line) {
    static const char *const words[] = {"    release ", "    acquire ", "    root ", "    unroot "};
    for (size_t w = 0; w < sizeof words / sizeof words[0]; w++)
        if (strncmp(line, words[w], strlen(words[w])) == 0)
            return true;
    return false;
}

static bool is_instruction(const char *line) {
    static const char *const words[] = {"    jump ", "    branch ", "    ret", "    unreachable"};
    for (size_t w = 0; w < sizeof words / sizeof words[0]; w++)
        if (strncmp(line, words[w], strlen(words[w])) == 0)
            return false;
    return strncmp(line, "    ", 4) == 0;
}

/* The block that the line stands in ends in `unreachable`. */
static bool leads_nowhere(const char *line) {
    while (is_instruction(line))
        line = line_end(line);
    return strncmp(line, "    unreachable", 15) == 0;
}

static void put_lines(masu__buffer *out, const char *from, const char *to) {
    masu__buffer_append(out, from, (size_t)(to - from));
}

/* ---- ways out ------------------------------------------------------------------------------------------ */

static bool returns(const ir_function *f, uint32_t block, bool *seen) {
    const ir_instr *last = f->blocks[block]->last;
    if (seen[block])
        return false;
    seen[block] = true;
    for (int t = 0; t < ir_target_count(last); t++)
        if (returns(f, last->target[t].block->id, seen))
            return true;
    return last->op == IR_RET;
}

/* Whether a way leads from the line's block to a return. */
static bool leads_out(const char *text, const char *line) {
    char name[128] = "";
    unsigned block = 0;
    for (const char *at = text; at < line; at = line_end(at)) {
        if (strncmp(at, "fn ", 3) == 0)
            snprintf(name, sizeof name, "%.*s", (int)strcspn(at + 3, "("), at + 3);
        if (at[0] == 'b')
            block = (unsigned)strtoul(at + 1, NULL, 10);
    }
    masu__arena arena = {0};
    const ir_function *f = support_function(support_parse(&arena, text), name);
    bool *seen = calloc(f->block_count, sizeof *seen);
    assert_non_null(seen);
    bool found = returns(f, block, seen);
    free(seen);
    masu__arena_destroy(&arena);
    return found;
}

/* ---- one changed module --------------------------------------------------------------------------------- */

static void run_all(const ir_module *m) {
    masu__rng rng;
    masu__rng_seed(&rng, 4);
    for (uint32_t f = 0; f < m->function_count; f++)
        for (int r = 0; r < RUNS && !m->functions[f]->is_kernel; r++)
            (void)support_run(m->functions[f], &rng, 0);
}

static void judge(const char *original, const masu__buffer *text, ir_phase phase, mutation how, const char *line) {
    masu__arena arena = {0};
    masu__buffer error = {0}, faults = {0};
    ir_module *m = ir_parse_module(&arena, masu__buffer_text(text), &error);
    bool accepted = m && ir_verify(m, phase, &faults);
    *(accepted ? &total.sound[how] : &total.refused[how]) += 1;
    if (accepted && how != EARLIER && how != LATER && leads_out(original, line))
        fail_msg("accepted, changed in `%.*s` of\n%s", (int)(line_end(line) - line - 1), line, masu__buffer_text(text));
    if (accepted)
        run_all(m);
    masu__buffer_destroy(&error);
    masu__buffer_destroy(&faults);
    masu__arena_destroy(&arena);
}

static bool write_mutation(const char *text, const char *before, const char *line, mutation how, masu__buffer *out) {
    const char *next = line_end(line), *end = text + strlen(text);
    if ((how == EARLIER && !is_instruction(before)) || (how == LATER && !is_instruction(next)))
        return false;
    put_lines(out, text, how == EARLIER ? before : line);
    if (how == TWICE || how == EARLIER)
        put_lines(out, line, next);
    if (how == TWICE)
        put_lines(out, line, next);
    if (how == EARLIER)
        put_lines(out, before, line);
    if (how == LATER) {
        put_lines(out, next, line_end(next));
        put_lines(out, line, next);
        next = line_end(next);
    }
    put_lines(out, next, end);
    return true;
}

static void mutate_line(const char *text, const char *before, const char *line, ir_phase phase) {
    for (int how = DROPPED; how <= LATER; how++) {
        masu__buffer changed = {0};
        if (write_mutation(text, before, line, (mutation)how, &changed))
            judge(text, &changed, phase, (mutation)how, line);
        masu__buffer_destroy(&changed);
    }
}

/* Each `own %n` in turn is only lent. */
static void mutate_call(const char *text, const char *line, ir_phase phase) {
    const char *end = line_end(line);
    for (const char *at = line; (at = strstr(at, "own %")) && at < end; at++) {
        masu__buffer changed = {0};
        put_lines(&changed, text, at);
        put_lines(&changed, at + strlen("own "), text + strlen(text));
        judge(text, &changed, phase, LENT, line);
        masu__buffer_destroy(&changed);
    }
}

static void mutate(const char *text, ir_phase phase) {
    const char *before = text;
    for (const char *line = text; *line; before = line, line = line_end(line)) {
        if (leads_nowhere(line))
            continue;
        if (is_ownership(line))
            mutate_line(text, before, line, phase);
        else if (strstr(line, "call ") && strstr(line, "call ") < line_end(line))
            mutate_call(text, line, phase);
    }
}

/* ---- the programs ----------------------------------------------------------------------------------------- */

static void mutate_text_of(const ir_module *m, ir_phase phase) {
    masu__buffer text = {0};
    masu__arena arena = {0};
    ir_print_module(m, &text);
    support_verify(support_parse(&arena, masu__buffer_text(&text)), phase);
    mutate(masu__buffer_text(&text), phase);
    masu__arena_destroy(&arena);
    masu__buffer_destroy(&text);
}

/* The column of passes by hand: random programs may have shapes that do not fit, and nobody minds. */
static void mutate_module(ir_module *m) {
    pass_context context = {0};
    pass_shapes(m, &context);
    pass_identity(m, &context);
    pass_lastuse(m, &context);
    pass_ownership(m, &context);
    mutate_text_of(m, IR_PHASE_OWNED);
    pass_slots(m, &context);
    mutate_text_of(m, IR_PHASE_ROOTED);
    masu__arena_destroy(&context.scratch);
}

static void random_programs(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= RANDOM_MODULES; seed++) {
        masu__arena arena = {0};
        masu__rng rng;
        masu__rng_seed(&rng, seed);
        mutate_module(support_random(&arena, &rng, seed % 2));
        masu__arena_destroy(&arena);
    }
}

static void one_file(const char *path) {
    static char text[1 << 16];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    char *from = strstr(text, "== ir\n"), *to = from ? strstr(from + 6, "\n== ") : NULL;
    if (!from)
        return;
    if (to)
        to[1] = 0;
    masu__arena arena = {0};
    mutate_module(support_parse(&arena, from + 6));
    masu__arena_destroy(&arena);
}

static int is_program(const struct dirent *e) {
    size_t length = strlen(e->d_name);
    return length > 3 && strcmp(e->d_name + length - 3, ".ir") == 0;
}

static void written_programs(void **state) {
    (void)state;
    struct dirent **files;
    int count = scandir(FOLDER, &files, is_program, alphasort);
    assert_true(count > 0);
    for (int f = 0; f < count; f++) {
        char path[512];
        snprintf(path, sizeof path, FOLDER "/%s", files[f]->d_name);
        one_file(path);
        free(files[f]);
    }
    free(files);
}

/* A test that changes nothing would pass. */
static void enough_was_changed(void **state) {
    (void)state;
    static const char *const names[MUTATIONS] = {"dropped", "twice", "earlier", "later", "lent"};
    for (int how = 0; how < MUTATIONS; how++) {
        printf("%-8s %5d refused, %5d still sound\n", names[how], total.refused[how], total.sound[how]);
        assert_true(total.refused[how] > 50);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(written_programs), cmocka_unit_test(random_programs),
                                       cmocka_unit_test(enough_was_changed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
