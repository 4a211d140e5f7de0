/* buffer.c: the growing text. */
#include "base/buffer.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/meta.h"
#include "base/size.h"

enum { FIRST_CAPACITY = 128 };

/* Room for extra more characters and the terminating zero. */
static bool buffer_reserve(masu__buffer *buffer, size_t extra) {
    size_t needed;
    if (buffer->failed)
        return false;
    if (!masu__add(buffer->length, extra, &needed) || !masu__add(needed, 1, &needed)) {
        buffer->failed = true;
        return false;
    }
    if (needed <= buffer->capacity)
        return true;
    size_t doubled = buffer->capacity > SIZE_MAX / 2 ? needed : 2 * buffer->capacity;
    size_t capacity = masu__max(masu__max(needed, doubled), FIRST_CAPACITY);
    char *data = masu__meta_realloc(buffer->data, buffer->capacity, capacity);
    if (!data) {
        buffer->failed = true;
        return false;
    }
    buffer->data = data;
    buffer->data[buffer->length] = '\0';
    buffer->capacity = capacity;
    return true;
}

void masu__buffer_append(masu__buffer *buffer, const char *text, size_t length) {
    if (length == 0 || !buffer_reserve(buffer, length))
        return;
    memcpy(buffer->data + buffer->length, text, length);
    buffer->length += length;
    buffer->data[buffer->length] = '\0';
}

void masu__buffer_puts(masu__buffer *buffer, const char *text) {
    masu__buffer_append(buffer, text, strlen(text));
}

void masu__buffer_putc(masu__buffer *buffer, char c) {
    masu__buffer_append(buffer, &c, 1);
}

void masu__buffer_fill(masu__buffer *buffer, char c, size_t count) {
    if (count == 0 || !buffer_reserve(buffer, count))
        return;
    memset(buffer->data + buffer->length, c, count);
    buffer->length += count;
    buffer->data[buffer->length] = '\0';
}

void masu__buffer_vprintf(masu__buffer *buffer, const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    if (length < 0)
        buffer->failed = true;
    else if (buffer_reserve(buffer, (size_t)length)) {
        vsnprintf(buffer->data + buffer->length, (size_t)length + 1, format, again);
        buffer->length += (size_t)length;
    }
    va_end(again);
}

void masu__buffer_printf(masu__buffer *buffer, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    masu__buffer_vprintf(buffer, format, arguments);
    va_end(arguments);
}

static void json_character(masu__buffer *buffer, unsigned char c) {
    switch (c) {
    case '"':
        masu__buffer_puts(buffer, "\\\"");
        break;
    case '\\':
        masu__buffer_puts(buffer, "\\\\");
        break;
    case '\n':
        masu__buffer_puts(buffer, "\\n");
        break;
    case '\t':
        masu__buffer_puts(buffer, "\\t");
        break;
    case '\r':
        masu__buffer_puts(buffer, "\\r");
        break;
    default:
        if (c < 0x20)
            masu__buffer_printf(buffer, "\\u%04x", c);
        else
            masu__buffer_putc(buffer, (char)c);
    }
}

void masu__buffer_json_string(masu__buffer *buffer, const char *text, size_t length) {
    masu__buffer_putc(buffer, '"');
    for (size_t i = 0; i < length; i++)
        json_character(buffer, (unsigned char)text[i]);
    masu__buffer_putc(buffer, '"');
}

void masu__buffer_html(masu__buffer *buffer, const char *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (text[i] != 0 && strchr("<>&\"'", text[i]))
            masu__buffer_printf(buffer, "&#%d;", text[i]);
        else
            masu__buffer_putc(buffer, text[i]);
}

void masu__buffer_put_grouped(masu__buffer *buffer, uint64_t value) {
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            masu__buffer_putc(buffer, ',');
        masu__buffer_putc(buffer, digits[i]);
    }
}

void masu__buffer_put_bytes(masu__buffer *buffer, uint64_t bytes) {
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (bytes < 1024) {
        masu__buffer_printf(buffer, "%u B", (unsigned)bytes);
        return;
    }
    double value = (double)bytes / 1024;
    int unit = 0;
    /* 1023.95 and above would be shown as 1024.0 */
    while (value >= 1023.95 && unit < 5) {
        value /= 1024;
        unit++;
    }
    masu__buffer_printf(buffer, "%.1f %s", value, units[unit]);
}

const char *masu__buffer_text(const masu__buffer *buffer) {
    return buffer->data ? buffer->data : "";
}

void masu__buffer_truncate(masu__buffer *buffer, size_t length) {
    MASU_ASSERT(length <= buffer->length);
    buffer->length = length;
    if (buffer->data)
        buffer->data[length] = '\0';
}

char *masu__buffer_take(masu__buffer *buffer, size_t *capacity) {
    char *text = buffer->failed ? NULL : buffer->data;
    *capacity = text ? buffer->capacity : 0;
    if (!text)
        masu__buffer_destroy(buffer);
    *buffer = (masu__buffer){0};
    return text;
}

void masu__buffer_destroy(masu__buffer *buffer) {
    masu__meta_free(buffer->data, buffer->capacity);
    *buffer = (masu__buffer){0};
}
