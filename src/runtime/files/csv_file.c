/* csv_file.c: CSV files that a program reads, behind a handle: record by record, or all numbers at once. The library
 * (library/csv.tl) gives them their names. As in file.c, what a file is is noted; memory that is out raises.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/size.h"
#include "runtime/files/csv.h"
#include "runtime/files/stored.h"
#include "runtime/state.h"
#include "runtime/system/file.h"
#include "runtime/value/display.h"
#include "runtime/value/objects.h"

typedef struct csv_reader {
    tl_handle handle;
    tl__bytes file;
    tl__csv csv;
} csv_reader;

static void csv_end(tl_handle *handle) {
    csv_reader *r = (csv_reader *)(void *)handle;
    tl__csv_end(&r->csv);
    tl__bytes_close(&r->file);
}

tl_object *tl_csv_open(tl_object *path, int64_t separator) {
    void *memory = NULL;
    masu_status status = tl__handle_new(sizeof(csv_reader), csv_end, &memory);
    if (status != MASU_OK)
        return tl__object_or_raise(status, NULL);
    csv_reader *r = memory;
    r->file.descriptor = -1;
    const char *name = tl__path(path);
    int error = name ? tl__bytes_open(name, &r->file) : EINVAL;
    bool right = separator > 0 && separator < 128 && separator != '"' && separator != '\n' && separator != '\r';
    tl__csv_begin(&r->csv, r->file.data ? (const char *)r->file.data : "", r->file.length,
                  right ? (char)separator : ',');
    tl__file_note(error);
    if (error == 0 && !right)
        tl__file_say("a separator is one character of ASCII, and neither a quote nor an end of a line");
    return &r->handle.head;
}

/* Notes what the reader says is wrong; describes that memory is out. */
static masu_status ended(csv_reader *r) {
    if (r->csv.out_of_memory)
        return tl__error_memory(MASU_ERR_OUT_OF_MEMORY, r->csv.count * sizeof(tl__csv_field), "the fields of a record");
    if (r->csv.words[0] != '\0')
        tl__file_say(r->csv.words);
    return MASU_OK;
}

bool tl_csv_next(tl_object *file) {
    csv_reader *r = tl__handle_of(file, csv_end);
    if (r && !tl__bytes_there(&r->file)) {
        tl__file_say("it was cut off while it was open");
        return false;
    }
    bool there = r && tl__csv_next(&r->csv);
    if (r && !tl__bytes_there(&r->file)) {
        tl__file_say("it was cut off while it was open");
        return false;
    }
    if (r && !there && ended(r) != MASU_OK)
        tl__raise();
    return there;
}

int64_t tl_csv_width(tl_object *file) {
    csv_reader *r = tl__handle_of(file, csv_end);
    return r ? (int64_t)r->csv.count : 0;
}

/* NULL, and noted: the record has no such field. */
static const tl__csv_field *field_of(tl_object *file, int64_t index, csv_reader **out) {
    csv_reader *r = tl__handle_of(file, csv_end);
    *out = r;
    if (r && index >= 0 && (uint64_t)index < r->csv.count)
        return &r->csv.fields[index];
    if (r) {
        tl__csv_refuse(&r->csv, r->csv.count ? r->csv.count - 1 : 0,
                       "the record has %zu fields, field %" PRId64 " is wanted", r->csv.count, index + 1);
        tl__file_say(r->csv.words);
    }
    return NULL;
}

static void refuse_text(csv_reader *r, const tl__csv_field *field, const char *what) {
    const char *text = field->text;
    size_t length = field->length;
    for (; length > 0 && *text == ' '; text++)
        length--;
    tl__csv_refuse(&r->csv, (size_t)(field - r->csv.fields), "`%.*s` is not %s", (int)masu__min(length, 60), text,
                   what);
}

static void complain(csv_reader *r, const tl__csv_field *field, const char *what) {
    if (tl__csv_is_missing(field))
        tl__csv_refuse(&r->csv, (size_t)(field - r->csv.fields), "a value is missing where %s is wanted", what);
    else
        refuse_text(r, field, what);
    tl__file_say(r->csv.words);
}

/* The text with its doubled quotes as single ones. */
static masu_status unquoted(const tl__csv_field *field, tl_object **out) {
    masu_status status = tl__string_new(field->text, (int64_t)field->length, out);
    if (status != MASU_OK || !field->doubled)
        return status;
    tl_string *text = (tl_string *)(void *)*out;
    tl_object *shorter = NULL;
    int64_t length = 0;
    for (int64_t i = 0; i < text->length; i++) {
        text->bytes[length++] = text->bytes[i];
        i += text->bytes[i] == '"';
    }
    status = tl__string_new(text->bytes, length, &shorter);
    tl__object_drop(*out);
    *out = shorter;
    return status;
}

tl_object *tl_csv_text(tl_object *file, int64_t index) {
    csv_reader *r;
    const tl__csv_field *field = field_of(file, index, &r);
    static const tl__csv_field none = {.text = ""};
    if (field && !tl__is_utf8(field->text, field->length)) {
        complain(r, field, "UTF-8");
        field = NULL;
    }
    tl_object *out = NULL;
    masu_status status = unquoted(field ? field : &none, &out);
    return tl__object_or_raise(status, out);
}

double tl_csv_f64(tl_object *file, int64_t index) {
    csv_reader *r;
    const tl__csv_field *field = field_of(file, index, &r);
    double value = 0;
    if (field && !tl__csv_real(field, &value))
        complain(r, field, "a number");
    return value;
}

int64_t tl_csv_i64(tl_object *file, int64_t index) {
    csv_reader *r;
    const tl__csv_field *field = field_of(file, index, &r);
    int64_t value = 0;
    if (field && !tl__csv_whole(field, &value))
        complain(r, field, "a whole number of 64 bits");
    return value;
}

/* what: 0 nothing is there, 1 a number is there. */
bool tl_csv_is(tl_object *file, int64_t index, int64_t what) {
    csv_reader *r;
    const tl__csv_field *field = field_of(file, index, &r);
    double value;
    return field && (what == 0 ? tl__csv_is_missing(field) : tl__csv_real(field, &value));
}

void tl_csv_complain(tl_object *file, int64_t index, tl_object *what) {
    csv_reader *r;
    const tl__csv_field *field = field_of(file, index, &r);
    if (field)
        complain(r, field, tl__string_bytes(what));
}

/* ---- all at once ------------------------------------------------------------------------------------------------- */

typedef struct filling {
    csv_reader *r;
    tl_dtype kind;
    double missing;
    bool may_miss;
    size_t columns, rows, room; /* room: rows that there may be */
    tl_tensor *out;
} filling;

static bool put_field(filling *f, size_t at, const tl__csv_field *field) {
    double real = f->missing;
    int64_t whole = 0;
    if (f->kind == TL_I64) {
        if (!tl__csv_whole(field, &whole)) {
            complain(f->r, field, "a whole number of 64 bits");
            return false;
        }
        ((int64_t *)f->out->data)[at] = whole;
        return true;
    }
    bool is_missing = tl__csv_is_missing(field);
    if (is_missing ? !f->may_miss : !tl__csv_real(field, &real)) {
        complain(f->r, field, "a number");
        return false;
    }
    if (f->kind == TL_F64)
        ((double *)f->out->data)[at] = real;
    else
        ((float *)f->out->data)[at] = (float)real;
    return true;
}

static bool put_record(filling *f) {
    tl__csv *c = &f->r->csv;
    if (c->count != f->columns) {
        tl__csv_refuse(c, masu__min(f->columns, c->count - 1), "this record has %zu fields, the first one %zu",
                       c->count, f->columns);
        tl__file_say(c->words);
        return false;
    }
    size_t first = f->rows++ * f->columns;
    for (size_t i = 0; i < f->columns; i++)
        if (!put_field(f, first + i, &c->fields[i]))
            return false;
    return true;
}

/* At most so many records of so many fields are in the rest: each ends a line, and each field a byte. */
static size_t rows_at_most(const tl__csv *c, size_t columns) {
    size_t ends = 1;
    for (const char *p = c->record; (p = memchr(p, '\n', (size_t)(c->end - p))) != NULL; p++)
        ends++;
    return masu__min(ends, ((size_t)(c->end - c->record) + 1) / columns);
}

static masu_status make_room(filling *f) {
    const int64_t shape[] = {(int64_t)f->room, (int64_t)f->columns};
    return tl__tensor_new(f->kind, 2, shape, &f->out);
}

/* The rows that there are, in a tensor of their own. */
static masu_status cut_off(filling *f) {
    if (f->rows == f->room)
        return MASU_OK;
    tl_tensor *all = f->out;
    f->out = NULL;
    f->room = f->rows;
    masu_status status = make_room(f);
    if (status == MASU_OK && f->rows > 0)
        memcpy(f->out->data, all->data, f->rows * f->columns * tl__dtype_size(f->kind));
    tl__tensor_drop(all);
    return status;
}

/* From the record that the reader is at. */
static masu_status fill(filling *f) {
    tl__csv *c = &f->r->csv;
    f->columns = c->count;
    f->room = rows_at_most(c, f->columns);
    masu_status status = make_room(f);
    bool right = status == MASU_OK;
    while (right && (right = put_record(f)) && tl__csv_next(c))
        ;
    if (status == MASU_OK && right) {
        status = ended(f->r);
        right = status == MASU_OK && c->words[0] == '\0';
    }
    if (status == MASU_OK && !tl__bytes_there(&f->r->file)) {
        tl__file_say("it was cut off while it was open");
        right = false;
    }
    if (right)
        return cut_off(f);
    tl__tensor_drop(f->out);
    f->out = NULL;
    return status;
}

/* [records, fields] of all that are left, the present one with them; of kind f32, f64 or i64. Empty, and noted, where a
 * field is not a number: a field without anything is `missing` where that is allowed. */
tl_tensor *tl_csv_tensor(tl_object *file, int64_t kind, double missing, bool may_miss) {
    filling f = {.r = tl__handle_of(file, csv_end),
                 .kind = kind == TL_F64 || kind == TL_I64 ? (tl_dtype)kind : TL_F32,
                 .missing = missing,
                 .may_miss = may_miss};
    masu_status status = MASU_OK;
    if (f.r && !tl__bytes_there(&f.r->file))
        tl__file_say("it was cut off while it was open");
    else if (f.r && f.r->csv.count > 0)
        status = fill(&f);
    if (status == MASU_OK && !f.out)
        status = tl__tensor_new(f.kind, 2, (const int64_t[]){0, 0}, &f.out);
    return tl__tensor_or_raise(status, f.out);
}
