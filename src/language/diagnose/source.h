/* source.h: a source text and places in it. Shared by every stage of the compiler. */
#ifndef MASU_LANGUAGE_SOURCE_H
#define MASU_LANGUAGE_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include <masu/status.h>

typedef struct source_file {
    const char *path; /* as the user wrote it */
    const char *text; /* length bytes and a terminating zero; owned by the program */
    size_t length;
    const uint32_t *line_starts; /* offset of the first byte of line i + 1 */
    uint32_t line_count;         /* at least 1 */
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

/* Copies path and text into the arena and finds the lines. Any bytes are a text. O(length).
 * MASU_ERR_OUT_OF_MEMORY; MASU_ERR_LIMIT_REACHED for 2 GiB and more: offsets have 32 bits. */
masu_status source_file_init(source_file *file, masu__arena *arena, const char *path, const char *text, size_t length);

/* Where the line of a byte begins. O(log lines). */
uint32_t source_line_start(const source_file *file, uint32_t offset);
/* O(log lines + length of the line). Line 0 for a span without a file. */
source_place source_place_of(source_span span);

/* Bytes [from, to) of the text in UTF-16 units, as editors count. */
uint32_t source_utf16_units(const source_file *file, uint32_t from, uint32_t to);
/* The column, from 1, in UTF-16 units. */
uint32_t source_utf16_column(source_span span);

/* The line's text (line from 1), without its end; *length in bytes. */
const char *source_line(const source_file *file, uint32_t line, uint32_t *length);

static inline source_span source_span_make(const source_file *file, uint32_t offset, uint32_t length) {
    return (source_span){file, offset, length};
}
/* From the start of a to the end of b; both in one file. */
source_span source_span_join(source_span a, source_span b);

#endif
