/* file_text.c: what the readers of `masu plan` demand of a file's bytes, and how they show them again. */
#include <stdarg.h>
#include <string.h>

#include "tool/plan/plan_table.h"

enum { MOST_SHOWN = 24 };

plan_place plan_place_at(const plan_reader *reader, size_t at) {
    plan_place place = {1, 1};
    for (size_t i = 0; i < at && i < reader->length; i++) {
        place.column++;
        if (reader->text[i] == '\n')
            place = (plan_place){place.line + 1, 1};
    }
    return place;
}

bool plan_complain(plan_reader *reader, plan_place place, const char *format, ...) {
    va_list arguments;
    masu__buffer_printf(reader->message, "%s:%zu:%zu: error: ", reader->path, place.line, place.column);
    va_start(arguments, format);
    masu__buffer_vprintf(reader->message, format, arguments);
    va_end(arguments);
    masu__buffer_putc(reader->message, '\n');
    return false;
}

bool plan_complain_found(plan_reader *reader, plan_place place, const char *expected, const char *text, size_t length) {
    char shown[MOST_SHOWN + 1];
    size_t count = length < MOST_SHOWN ? length : MOST_SHOWN;
    while (count < length && count > 0 && ((unsigned char)text[count] & 0xC0) == 0x80)
        count--;
    for (size_t i = 0; i < count; i++)
        shown[i] = text[i];
    for (size_t i = 0; i < count; i++)
        if ((unsigned char)shown[i] < 32 || shown[i] == 127)
            shown[i] = '?';
    shown[count] = 0;
    return plan_complain(reader, place, "expected %s, found \"%s%s\"", expected, shown, count < length ? "…" : "");
}

/* Bytes of the character at text: 0 when it is none. */
static size_t character(const unsigned char *text, size_t length) {
    unsigned char first = text[0];
    size_t count = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (count == 0 || first > 0xF4 || count > length || first == 0)
        return 0;
    for (size_t i = 1; i < count; i++)
        if ((text[i] & 0xC0) != 0x80)
            return 0;
    bool too_long = (first == 0xE0 && text[1] < 0xA0) || (first == 0xF0 && text[1] < 0x90);
    bool none = (first == 0xED && text[1] >= 0xA0) || (first == 0xF4 && text[1] >= 0x90);
    return too_long || none ? 0 : count;
}

bool plan_check_text(plan_reader *reader) {
    const unsigned char *text = (const unsigned char *)reader->text;
    for (size_t at = 0; at < reader->length;) {
        size_t count = character(text + at, reader->length - at);
        if (count == 0)
            return plan_complain(reader, plan_place_at(reader, at), "expected text in UTF-8, found the byte 0x%02X",
                                 text[at]);
        at += count;
    }
    return true;
}

void plan_skip_mark(const char **text, size_t *length) {
    if (*length < 3 || memcmp(*text, "\xEF\xBB\xBF", 3) != 0)
        return;
    *text += 3;
    *length -= 3;
}
