/* Every passes/NAME.ir is a small program in IR with what the passes must make of it.
 *
 *     ; what it shows
 *     == ir                 the program
 *     == after PASS         the module after that pass, whole
 *     == reported           what `shapes` complains about
 *     == acquires           per function, how many acquires a way from entry to return can meet
 *
 * A file is taken through the passes that its sections name, in the table's order, then through
 * all of them in both ways of protecting owners, verified after each, and run along random paths.
 * `MASU_UPDATE=1 test_pass_programs` rewrites the expectations with what was got: read the
 * difference before keeping it.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir_support.h"

#define FOLDER MASU_SOURCE_DIR "/tests/unit/language/passes"

enum { MOST_FILES = 200, MOST_SECTIONS = 12, RUNS = 40, MOST_PATHS = 20000 };

typedef struct section {
    char title[64];
    char *text;
} section;

typedef struct program {
    char *head; /* what stands before the first section */
    section sections[MOST_SECTIONS];
    size_t count;
} program;

/* ---- files ----------------------------------------------------------------------------------- */

static char *read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("cannot open %s", path);
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    char *text = malloc(size + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, size, file), size);
    text[size] = 0;
    fclose(file);
    return text;
}

static void split(char *text, program *p) {
    *p = (program){.head = text};
    for (char *at = strncmp(text, "== ", 3) == 0 ? text : strstr(text, "\n== "); at;) {
        char *line = at + (*at == '\n');
        *at = 0;
        char *end = strchr(line + 3, '\n');
        assert_non_null(end);
        assert_true(p->count < MOST_SECTIONS);
        section *s = &p->sections[p->count++];
        snprintf(s->title, sizeof s->title, "%.*s", (int)(end - line - 3), line + 3);
        s->text = end + 1;
        at = strstr(end, "\n== ");
    }
}

static const char *section_text(const program *p, const char *title) {
    for (size_t s = 0; s < p->count; s++)
        if (strcmp(p->sections[s].title, title) == 0)
            return p->sections[s].text;
    return NULL;
}

/* ---- acquires on paths ----------------------------------------------------------------------- */

typedef struct walk {
    const ir_function *f;
    uint8_t *times; /* by block: how often it is on the path; loops are gone round once */
    bool seen[64];  /* totals met */
    uint32_t paths;
} walk;

static void walk_from(walk *w, const ir_block *b, uint32_t acquires) {
    if (w->times[b->id] == 2 || w->paths >= MOST_PATHS)
        return;
    w->times[b->id]++;
    for (const ir_instr *i = b->first; i; i = i->next)
        acquires += i->op == IR_ACQUIRE;
    if (ir_target_count(b->last) == 0) {
        assert_true(acquires < 64);
        w->seen[acquires] = true;
        w->paths++;
    }
    for (int t = 0; t < ir_target_count(b->last); t++)
        walk_from(w, b->last->target[t].block, acquires);
    w->times[b->id]--;
}

static void put_acquires(const ir_module *m, masu__buffer *out) {
    for (uint32_t f = 0; f < m->function_count; f++) {
        if (m->functions[f]->is_kernel)
            continue;
        walk w = {.f = m->functions[f]};
        w.times = calloc(w.f->block_count, 1);
        assert_non_null(w.times);
        walk_from(&w, w.f->blocks[0], 0);
        masu__buffer_printf(out, "%s:", w.f->name);
        for (int n = 0; n < 64; n++)
            if (w.seen[n])
                masu__buffer_printf(out, " %d", n);
        masu__buffer_putc(out, '\n');
        free(w.times);
    }
}

/* ---- passes ---------------------------------------------------------------------------------- */

typedef struct results {
    masu__buffer texts[MOST_SECTIONS]; /* by section of the program */
    masu__buffer reports;
} results;

static void put_section(const program *p, const char *title, const ir_module *m, results *r) {
    for (size_t s = 0; s < p->count; s++)
        if (strcmp(p->sections[s].title, title) == 0)
            ir_print_module(m, &r->texts[s]);
}

/* The named passes; ownership always, when no section asks for an earlier end. */
static void run_named(const program *p, masu__arena *arena, results *r) {
    ir_module *m = support_parse(arena, section_text(p, "ir"));
    pass_context context = {.report = support_collect, .user = &r->reports};
    size_t count;
    const pass *table = pass_table(&count);
    for (size_t n = 0; n < count; n++) {
        char title[64];
        snprintf(title, sizeof title, "after %s", table[n].info.name);
        bool needed = strcmp(table[n].info.name, "ownership") == 0 && section_text(p, "acquires");
        if (!section_text(p, title) && !needed &&
            !(strcmp(table[n].info.name, "shapes") == 0 && section_text(p, "reported")))
            continue;
        table[n].run(m, &context);
        support_verify(m, table[n].phase);
        put_section(p, title, m, r);
    }
    for (size_t s = 0; s < p->count; s++) {
        if (strcmp(p->sections[s].title, "acquires") == 0)
            put_acquires(m, &r->texts[s]);
        if (strcmp(p->sections[s].title, "reported") == 0)
            masu__buffer_puts(&r->texts[s], masu__buffer_text(&r->reports));
    }
    if (section_text(p, "after registry")) {
        ir_module *again = support_parse(arena, section_text(p, "ir"));
        pass_ownership(again, &context);
        pass_register_owners(again, &context);
        put_section(p, "after registry", again, r);
    }
    masu__arena_destroy(&context.scratch);
}

/* All passes, in the given way, and some runs. */
static void run_all(const program *p, bool lastuse, bool slots) {
    masu__arena arena = {0};
    masu__rng rng;
    ir_module *m = support_parse(&arena, section_text(p, "ir"));
    pass_context context = {0};
    masu__rng_seed(&rng, 7);
    support_verify(m, IR_PHASE_BUILT);
    pass_shapes(m, &context);
    if (lastuse)
        pass_lastuse(m, &context);
    pass_ownership(m, &context);
    support_verify(m, IR_PHASE_OWNED);
    for (uint32_t f = 0; f < m->function_count; f++)
        for (int run = 0; run < RUNS && !m->functions[f]->is_kernel; run++)
            support_run(m->functions[f], &rng, 0);
    if (lastuse == slots) { /* half of the ways: the others do without */
        pass_cancel(m, &context);
        support_verify(m, IR_PHASE_OWNED);
        pass_reuse(m, &context);
        support_verify(m, IR_PHASE_OWNED);
        pass_destinations(m, &context);
        support_verify(m, IR_PHASE_OWNED);
        pass_frames(m, &context);
        support_verify(m, IR_PHASE_OWNED);
        pass_growing(m, &context);
        support_verify(m, IR_PHASE_OWNED);
        masu__arena_destroy(&context.scratch);
    }
    if (slots)
        pass_slots(m, &context);
    else
        pass_register_owners(m, &context);
    support_verify(m, IR_PHASE_ROOTED);
    for (uint32_t f = 0; f < m->function_count; f++)
        for (int run = 0; run < RUNS && !m->functions[f]->is_kernel; run++)
            support_run(m->functions[f], &rng, 8);
    masu__arena_destroy(&arena);
}

/* ---- comparing ------------------------------------------------------------------------------- */

static void rewrite(const char *path, const program *p, results *r) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(p->head, file);
    for (size_t s = 0; s < p->count; s++) {
        bool input = strcmp(p->sections[s].title, "ir") == 0;
        fprintf(file, "\n== %s\n%s", p->sections[s].title,
                input ? p->sections[s].text : masu__buffer_text(&r->texts[s]));
    }
    fclose(file);
}

static void compare(const char *name, const program *p, results *r) {
    for (size_t s = 0; s < p->count; s++) {
        const char *got = masu__buffer_text(&r->texts[s]);
        if (strcmp(p->sections[s].title, "ir") == 0 || support_same_text(got, p->sections[s].text))
            continue;
        fail_msg("%s: %s: got\n%s\nexpected\n%s", name, p->sections[s].title, got, p->sections[s].text);
    }
}

static void program_is_as_expected(void **state) {
    const char *name = *state;
    char path[512];
    snprintf(path, sizeof path, FOLDER "/%s", name);
    char *text = read_file(path);
    program p;
    results r = {0};
    masu__arena arena = {0};
    split(text, &p);
    assert_non_null(section_text(&p, "ir"));
    run_named(&p, &arena, &r);
    if (getenv("MASU_UPDATE"))
        rewrite(path, &p, &r);
    else
        compare(name, &p, &r);
    for (int way = 0; way < 4; way++)
        run_all(&p, way & 1, way & 2);
    for (size_t s = 0; s < p.count; s++)
        masu__buffer_destroy(&r.texts[s]);
    masu__buffer_destroy(&r.reports);
    masu__arena_destroy(&arena);
    free(text);
}

static int is_program(const struct dirent *e) {
    size_t length = strlen(e->d_name);
    return length > 3 && strcmp(e->d_name + length - 3, ".ir") == 0;
}

int main(void) {
    struct dirent **files;
    int count = scandir(FOLDER, &files, is_program, alphasort);
    struct CMUnitTest tests[MOST_FILES];
    if (count <= 0 || count > MOST_FILES)
        return 1;
    for (int f = 0; f < count; f++)
        tests[f] = (struct CMUnitTest){files[f]->d_name, program_is_as_expected, NULL, NULL, files[f]->d_name};
    int failed = _cmocka_run_group_tests("programs", tests, (size_t)count, NULL, NULL);
    for (int f = 0; f < count; f++)
        free(files[f]);
    free(files);
    return failed;
}
