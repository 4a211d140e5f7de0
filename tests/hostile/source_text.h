/* source_text.h: a file of the project as text, for tables that name tests and must not name what is not there. Each
 * test program includes it once, behind cmocka's own headers. */
#ifndef MASU_TESTS_SOURCE_TEXT_H
#define MASU_TESTS_SOURCE_TEXT_H

#include <stdio.h>

/* path: from the project's folder. Valid until the next call. */
static const char *text_of(const char *path) {
    static char text[1 << 20];
    char full[1024];
    snprintf(full, sizeof full, "%s/%s", MASU_SOURCE_DIR, path);
    FILE *file = fopen(full, "rb");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    return text;
}

#endif
