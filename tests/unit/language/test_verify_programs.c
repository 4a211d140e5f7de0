/* Every verify/NAME.ir holds programs that the verifier must accept or refuse:
 *
 *     == accept PHASE
 *     == refuse PHASE: words that the fault must contain
 *
 * Beside each that is refused stands its near miss that is not.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir_support.h"

#define FOLDER MASU_SOURCE_DIR "/tests/unit/language/verify"

enum { MOST_FILES = 50 };

static char *read_file(const char *name) {
    char path[512];
    snprintf(path, sizeof path, FOLDER "/%s", name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
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

static ir_phase phase_named(const char *title) {
    return strstr(title, "rooted") ? IR_PHASE_ROOTED : IR_PHASE_OWNED;
}

/* title: the line behind "== ", ended. */
static void judge(const char *title, const char *program) {
    masu__arena arena = {0};
    ir_module *m = support_parse(&arena, program);
    const char *words = strstr(title, ": ");
    if (strncmp(title, "accept", 6) == 0) {
        support_verify(m, phase_named(title));
    } else {
        assert_non_null(words);
        support_refuse(m, phase_named(title), words + 2);
    }
    masu__arena_destroy(&arena);
}

static void file_is_judged(void **state) {
    char *text = read_file(*state);
    int accepted = 0, refused = 0;
    for (char *at = strstr(text, "\n== "), *next; at; at = next) {
        next = strstr(at + 1, "\n== ");
        if (next)
            *next = 0;
        char *title = at + 4, *program = strchr(title, '\n');
        assert_non_null(program);
        *program++ = 0;
        judge(title, program);
        *(strncmp(title, "accept", 6) == 0 ? &accepted : &refused) += 1;
        if (next)
            *next = '\n';
    }
    assert_true(accepted > 0 && refused > 0);
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
        tests[f] = (struct CMUnitTest){files[f]->d_name, file_is_judged, NULL, NULL, files[f]->d_name};
    int failed = _cmocka_run_group_tests("verifier", tests, (size_t)count, NULL, NULL);
    for (int f = 0; f < count; f++)
        free(files[f]);
    free(files);
    return failed;
}
