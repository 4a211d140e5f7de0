/* front_testing.h: what the tests of the front share: a program from text to checked tree, all in one arena. */
#ifndef MASU_TESTS_FRONT_TESTING_H
#define MASU_TESTS_FRONT_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/meta.h"
#include "language/elaborate/elaborate.h"
#include "language/front/check.h"
#include "language/syntax/lexer.h"
#include "language/syntax/parser.h"

typedef struct front {
    masu__arena arena;
    source_file file;
    diagnostics diagnostics;
    type_table types;
    syntax_tree *tree;
    masu__buffer text; /* rendered diagnostics */
    masu_status status;
} front;

static inline void front_begin(front *f, const char *text, size_t length) {
    memset(f, 0, sizeof *f);
    diagnostics_init(&f->diagnostics, &f->arena);
    f->status = source_file_init(&f->file, &f->arena, "t.tl", text, length);
}

static inline void front_end(front *f) {
    masu__buffer_destroy(&f->text);
    masu__arena_destroy(&f->arena);
}

static inline void front_parse(front *f, const char *text, size_t length) {
    front_begin(f, text, length);
    if (f->status == MASU_OK)
        f->status = parse_source(&f->file, NULL, &f->arena, &f->diagnostics, NULL, &f->tree);
}

static inline void front_check(front *f, const char *text, size_t length) {
    front_parse(f, text, length);
    if (f->status == MASU_OK && !type_table_init(&f->types, &f->arena))
        f->status = MASU_ERR_OUT_OF_MEMORY;
    if (f->status == MASU_OK)
        f->status = check_tree(f->tree, &f->types, &f->diagnostics);
    if (f->status == MASU_OK)
        f->status = elaborate_tree(f->tree, &f->types);
}

static inline const char *front_rendered(front *f) {
    masu__buffer_truncate(&f->text, 0);
    diagnostics_render(&f->diagnostics, &f->text);
    return masu__buffer_text(&f->text);
}

/* The whole text of all diagnostics of a program, after parsing and checking. */
static inline void front_expect(const char *program, const char *expected) {
    front f;
    front_check(&f, program, strlen(program));
    assert_int_equal(f.status, MASU_OK);
    assert_string_equal(front_rendered(&f), expected);
    front_end(&f);
}

/* A program without a mistake, whose tree holds what tree.h promises. The caller ends f. */
static inline void front_good(front *f, const char *program) {
    front_check(f, program, strlen(program));
    assert_int_equal(f->status, MASU_OK);
    if (f->diagnostics.error_count > 0) /* warnings are no mistakes */
        assert_string_equal(front_rendered(f), "");
    masu__buffer faults = {0};
    bool valid = check_tree_valid(f->tree, &faults);
    assert_string_equal(masu__buffer_text(&faults), "");
    assert_true(valid);
    assert_true(type_table_valid(&f->types));
    masu__buffer_destroy(&faults);
}

/* A file of the project, for the caller to free. */
static inline char *front_read(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = malloc(1 << 20);
    assert_non_null(text);
    *length = fread(text, 1, (1 << 20) - 1, file);
    text[*length] = 0;
    fclose(file);
    return text;
}

static const char *const front_programs[] = {
    MASU_SOURCE_DIR "/tests/unit/language/front_features.tl",
    MASU_SOURCE_DIR "/examples/n_queens.tl",
    MASU_SOURCE_DIR "/examples/mlp.tl",
    MASU_SOURCE_DIR "/examples/structs.tl",
    MASU_SOURCE_DIR "/examples/linear_regression.tl",
};
enum { FRONT_PROGRAMS = sizeof front_programs / sizeof front_programs[0] };

/* Small deterministic random numbers; tests print their seed. */
static inline uint64_t front_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

#endif
