/* source.h: a source text and places in it. Shared by every stage of the compiler. */
#ifndef MASU_LANGUAGE_SOURCE_H
#define MASU_LANGUAGE_SOURCE_H

#include <stddef.h>
#include <stdint.h>

typedef struct source_file {
    const char *path; /* as the user wrote it */
    const char *text; /* length bytes and a terminating zero; owned by the program */
    size_t length;
    const uint32_t *line_starts; /* offset of the first byte of line i + 1 */
    uint32_t line_count;
} source_file;

typedef struct source_span {
    const source_file *file; /* NULL: no place */
    uint32_t offset;
    uint32_t length;
} source_span;

typedef struct source_place {
    uint32_t line;   /* from 1 */
    uint32_t column; /* from 1, in characters (UTF-8 sequences), tabs count one */
} source_place;

source_place source_place_of(source_span span);

#endif
