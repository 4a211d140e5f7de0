/* messages.c: see messages.h. */
#include "language/diagnose/messages.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum kind_number {
#define KIND(code, title, explanation) KIND_##code,
#define ERROR(row, code, format)
#define ERROR_HELP(row, code, format, help)
#define WARNING(row, code, format)
#include "language/diagnose/diagnostics.def"
#undef KIND
#undef ERROR
#undef ERROR_HELP
#undef WARNING
    KIND_COUNT
};

static const masu_message_kind kinds[KIND_COUNT] = {
#define KIND(code, title, explanation) {#code, title, explanation},
#define ERROR(row, code, format)
#define ERROR_HELP(row, code, format, help)
#define WARNING(row, code, format)
#include "language/diagnose/diagnostics.def"
#undef KIND
#undef ERROR
#undef ERROR_HELP
#undef WARNING
};

static const struct message {
    unsigned char kind;
    severity severity;
    const char *format, *help; /* help NULL: none */
} messages[] = {
    {0, SEVERITY_ERROR, "", NULL},
#define KIND(code, title, explanation)
#define ERROR(row, code, format)            {KIND_##code, SEVERITY_ERROR, format, NULL},
#define ERROR_HELP(row, code, format, help) {KIND_##code, SEVERITY_ERROR, format, help},
#define WARNING(row, code, format)          {KIND_##code, SEVERITY_WARNING, format, NULL},
#include "language/diagnose/diagnostics.def"
};

diagnostic *diagnostics_say(diagnostics *d, source_span span, message_row row, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    diagnostic *entry = diagnostics_add(d, messages[row].severity, (uint32_t)row, span, format, arguments);
    va_end(arguments);
    if (messages[row].help)
        diagnostics_note(d, entry, (source_span){0}, "%s", messages[row].help);
    return entry;
}

const masu_message_kind *message_kind_of(message_row row) {
    return row == MESSAGE_NONE || row >= MESSAGE_COUNT ? NULL : &kinds[messages[row].kind];
}

const masu_message_kind *masu_message_kind_number(size_t number) {
    return number < KIND_COUNT ? &kinds[number] : NULL;
}

const masu_message_kind *masu_message_kind_by_code(const char *code) {
    for (size_t k = 0; k < KIND_COUNT; k++)
        if (strcmp(kinds[k].code, code) == 0)
            return &kinds[k];
    return NULL;
}

/* ---- from a text back to its row ------------------------------------------------------------------------------ */

static bool is_hole(const char *format) {
    return *format == '%' && format[1] != '%';
}

/* Behind "%.*s", "%llu", … */
static const char *behind_hole(const char *format) {
    format++;
    while (*format && !isalpha((unsigned char)*format))
        format++;
    while (*format == 'l' || *format == 'h' || *format == 'z')
        format++;
    return *format ? format + 1 : format;
}

/* Whether the text may have been made of the format: a hole may be anything. */
static bool fits(const char *format, const char *text) {
    for (; *format && !is_hole(format); format++, text++) {
        format += *format == '%';
        if (*format != *text)
            return false;
    }
    if (!*format)
        return !*text;
    format = behind_hole(format);
    if (!*format)
        return true;
    for (; *text; text++)
        if (fits(format, text))
            return true;
    return fits(format, text);
}

static size_t letters_of(const char *format) {
    size_t count = 0;
    while (*format) {
        count += !is_hole(format);
        format = is_hole(format) ? behind_hole(format) : format + 1;
    }
    return count;
}

size_t masu_message_letters(const char *format, const char *message) {
    return fits(format, message) ? letters_of(format) : 0;
}

/* The row whose format has most letters, of those that the text may have been made of. */
const masu_message_kind *masu_message_kind_of_text(const char *message, size_t *letters) {
    const masu_message_kind *best = NULL;
    *letters = 2; /* "%s: %s" says nothing */
    for (int row = 1; row < MESSAGE_COUNT; row++) {
        size_t of_row = masu_message_letters(messages[row].format, message);
        if (of_row > *letters) {
            *letters = of_row;
            best = &kinds[messages[row].kind];
        }
    }
    return best;
}

const char *masu_message_format_number(const masu_message_kind *kind, size_t number) {
    for (int row = 1; row < MESSAGE_COUNT; row++)
        if (&kinds[messages[row].kind] == kind && number-- == 0)
            return messages[row].format;
    return NULL;
}
