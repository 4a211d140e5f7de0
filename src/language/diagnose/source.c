/* source.c: lines and columns of a text. */
#include "language/diagnose/source.h"

#include <string.h>

static uint32_t count_lines(const char *text, size_t length) {
    uint32_t lines = 1;
    for (const char *at = text, *end = text + length; (at = memchr(at, '\n', (size_t)(end - at))) != NULL; at++)
        lines++;
    return lines;
}

masu_status source_file_init(source_file *file, masu__arena *arena, const char *path, const char *text, size_t length) {
    if (length >= INT32_MAX)
        return MASU_ERR_LIMIT_REACHED;
    uint32_t lines = length == 0 ? 1 : count_lines(text, length);
    const char *own_path = masu__arena_strdup(arena, path);
    char *own_text = masu__arena_alloc(arena, length + 1, 1);
    uint32_t *starts = MASU_ARENA_ARRAY(arena, uint32_t, lines);
    if (own_path == NULL || own_text == NULL || starts == NULL)
        return MASU_ERR_OUT_OF_MEMORY;
    if (length > 0)
        memcpy(own_text, text, length);
    own_text[length] = 0;
    const char *at = own_text, *end = own_text + length;
    for (uint32_t line = 1; line < lines; line++) {
        at = (const char *)memchr(at, '\n', (size_t)(end - at)) + 1;
        starts[line] = (uint32_t)(at - own_text);
    }
    *file = (source_file){own_path, own_text, length, starts, lines};
    return MASU_OK;
}

static uint32_t line_index(const source_file *file, uint32_t offset) {
    uint32_t low = 0, high = file->line_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (file->line_starts[middle] <= offset)
            low = middle;
        else
            high = middle;
    }
    return low;
}

uint32_t source_line_start(const source_file *file, uint32_t offset) {
    return file->line_starts[line_index(file, offset)];
}

source_place source_place_of(source_span span) {
    if (span.file == NULL)
        return (source_place){0, 0};
    uint32_t line = line_index(span.file, span.offset);
    uint32_t column = 1;
    for (uint32_t at = span.file->line_starts[line]; at < span.offset; at++)
        column += ((unsigned char)span.file->text[at] & 0xC0) != 0x80;
    return (source_place){line + 1, column};
}

uint32_t source_utf16_units(const source_file *file, uint32_t from, uint32_t to) {
    uint32_t units = 0;
    for (uint32_t at = from; at < to && at < file->length; at++) {
        unsigned char c = (unsigned char)file->text[at];
        units += (c & 0xC0) == 0x80 ? 0 : c >= 0xF0 ? 2 : 1;
    }
    return units;
}

uint32_t source_utf16_column(source_span span) {
    if (span.file == NULL)
        return 0;
    uint32_t start = span.file->line_starts[line_index(span.file, span.offset)];
    return 1 + source_utf16_units(span.file, start, span.offset);
}

const char *source_line(const source_file *file, uint32_t line, uint32_t *length) {
    uint32_t start = file->line_starts[line - 1];
    uint32_t end = line < file->line_count ? file->line_starts[line] - 1 : (uint32_t)file->length;
    if (end > start && file->text[end - 1] == '\r')
        end--;
    *length = end - start;
    return file->text + start;
}

source_span source_span_join(source_span a, source_span b) {
    if (a.file == NULL)
        return b;
    if (b.file != a.file || b.offset + b.length < a.offset + a.length)
        return a;
    return (source_span){a.file, a.offset, b.offset + b.length - a.offset};
}
