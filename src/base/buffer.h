/* buffer.h: a growing text. Printers, reports and diagnostics write into it; only the command
 * prints it.
 *
 *     data[length] = 0 whenever data != NULL;  length < capacity;  failed is sticky
 *
 * Running out of memory never interrupts a printer: the buffer remembers it (failed), keeps what
 * it had, and ignores what follows; the user of the text asks once at the end.
 *
 * A buffer is a plain struct: zero-initialise it. One thread at a time.
 */
#ifndef MASU_BASE_BUFFER_H
#define MASU_BASE_BUFFER_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct masu__buffer {
    char *data; /* owned; NULL before the first append */
    size_t length;
    size_t capacity;
    bool failed;
} masu__buffer;

void masu__buffer_append(masu__buffer *buffer, const char *text, size_t length);
void masu__buffer_puts(masu__buffer *buffer, const char *text);
void masu__buffer_putc(masu__buffer *buffer, char c);
void masu__buffer_fill(masu__buffer *buffer, char c, size_t count);
void masu__buffer_printf(masu__buffer *buffer, const char *format, ...) __attribute__((format(printf, 2, 3)));
void masu__buffer_vprintf(masu__buffer *buffer, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

/* The text inside a JSON string, with its quotes. */
void masu__buffer_json_string(masu__buffer *buffer, const char *text, size_t length);
/* The text as it is written in a page or in one of its attributes. */
void masu__buffer_html(masu__buffer *buffer, const char *text, size_t length);

/* "13,036": digits in groups of three; and "12.7 KiB", "1.0 GiB" for a person. */
void masu__buffer_put_grouped(masu__buffer *buffer, uint64_t value);
void masu__buffer_put_bytes(masu__buffer *buffer, uint64_t bytes);

/* Never NULL; "" for an empty buffer. Valid until the next call on it. */
const char *masu__buffer_text(const masu__buffer *buffer);

/* Drops what lies behind length, which must not exceed the present length. */
void masu__buffer_truncate(masu__buffer *buffer, size_t length);

/* Hands the text over: the caller frees it with masu__meta_free(text, *capacity). NULL when the
 * buffer failed or is empty. The buffer is empty afterwards. */
char *masu__buffer_take(masu__buffer *buffer, size_t *capacity);

/* Frees the text; the buffer may be used again. */
void masu__buffer_destroy(masu__buffer *buffer);

#endif
