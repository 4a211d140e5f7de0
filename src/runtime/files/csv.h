/* csv.h: records of text between separators, as RFC 4180 has them. Private to the runtime.
 *
 *     name,age            a record is a line; \n and \r\n end it; a line without anything is none
 *     "a ""b"", c",7      a field between quotes may hold separators, ends of lines and, doubled, quotes
 *
 * A reader goes from record to record and keeps one. It knows nothing of tensors, so that a fuzzer runs it alone.
 *
 * What must stay true: begin <= record <= at <= end, and every field lies between record and at.
 */
#ifndef MASU_RUNTIME_CSV_H
#define MASU_RUNTIME_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TL_CSV_WORDS = 320 };

typedef struct tl__csv_field {
    const char *text; /* without its quotes */
    size_t length;
    bool quoted, doubled; /* there are doubled quotes in it */
} tl__csv_field;

typedef struct tl__csv {
    const char *begin, *record, *at, *end; /* borrowed */
    char separator;
    uint64_t line; /* of the next record, from 1 */
    tl__csv_field *fields;
    size_t count, capacity;
    bool out_of_memory;
    char words[TL_CSV_WORDS]; /* what is wrong; "" where nothing is */
} tl__csv;

/* A mark of UTF-8 in front is passed over. */
void tl__csv_begin(tl__csv *c, const char *bytes, size_t length, char separator);
void tl__csv_end(tl__csv *c);
/* The next record. False: there is none, or c says what is wrong. */
bool tl__csv_next(tl__csv *c);
/* "line 3, column 5: what", of a field of the record. False. */
bool tl__csv_refuse(tl__csv *c, size_t field, const char *format, ...) __attribute__((format(printf, 3, 4), cold));

/* The whole of the text, blanks around it aside, as a number; correctly rounded. False: it is none. */
bool tl__csv_real(const tl__csv_field *field, double *out);
bool tl__csv_whole(const tl__csv_field *field, int64_t *out);
/* Nothing is there, not even quotes. */
bool tl__csv_is_missing(const tl__csv_field *field);

#endif
