/* tensor_file.c: files of tensors that a program reads and writes, behind the handles of system/file.c. The library
 * (library/tensor_file.tl) gives them their names.
 *
 *     open ─► count, name, find, about, fits ─► read           only what is read is touched
 *     write                                    the file is replaced at once, or not at all: outlet.c
 *
 * None of these functions raises because of what a file is: they note it (tl_file_error, tl_file_words). They raise
 * when memory is out.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

#include "base/meta.h"
#include "runtime/files/formats.h"
#include "runtime/files/outlet.h"
#include "runtime/files/stored.h"
#include "runtime/state.h"
#include "runtime/system/file.h"
#include "runtime/value/display.h"
#include "runtime/value/objects.h"

static const char *const kind_names[TL_DTYPE_COUNT] = {
    [TL_F32] = "f32", [TL_F64] = "f64", [TL_I64] = "i64", [TL_BOOL] = "bool"};

static tl_object *text_or_raise(const char *text) {
    tl_object *out = NULL;
    masu_status status = tl__string_new(text, (int64_t)strlen(text), &out);
    return tl__object_or_raise(status, out);
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

typedef struct reader {
    tl_handle handle;
    tl__bytes file;
    tl__table table;
} reader;

static void reader_end(tl_handle *handle) {
    reader *r = (reader *)(void *)handle;
    tl__table_destroy(&r->table);
    tl__bytes_close(&r->file);
}

tl_object *tl_tensor_file_open(tl_object *path) {
    void *memory = NULL;
    masu_status status = tl__handle_new(sizeof(reader), reader_end, &memory);
    if (status != MASU_OK)
        return tl__object_or_raise(status, NULL);
    reader *r = memory;
    r->file.descriptor = -1;
    const char *name = tl__path(path);
    int error = name ? tl__bytes_open(name, &r->file) : EINVAL;
    tl__file_note(error);
    if (error == 0 && !tl__table_read(&r->file, &r->table)) {
        r->table.count = 0;
        if (r->table.out_of_memory)
            status = tl__error_memory(MASU_ERR_OUT_OF_MEMORY, r->table.arena.used_bytes,
                                      "the names of a file of tensors");
        else
            tl__file_say(r->table.words);
    }
    if (status != MASU_OK)
        tl__object_drop(&r->handle.head);
    return tl__object_or_raise(status, status == MASU_OK ? &r->handle.head : NULL);
}

/* NULL, and noted: there is none of this number. */
static const tl__stored *item(tl_object *file, int64_t index, reader **out) {
    reader *r = tl__handle_of(file, reader_end);
    *out = r;
    if (r && (index < 0 || (uint64_t)index >= r->table.count))
        tl__file_note(EINVAL);
    return r && index >= 0 && (uint64_t)index < r->table.count ? &r->table.items[index] : NULL;
}

int64_t tl_tensor_file_count(tl_object *file) {
    reader *r = tl__handle_of(file, reader_end);
    return r ? (int64_t)r->table.count : 0;
}

tl_object *tl_tensor_file_name(tl_object *file, int64_t index) {
    reader *r;
    const tl__stored *s = item(file, index, &r);
    return text_or_raise(s ? s->name : "");
}

int64_t tl_tensor_file_find(tl_object *file, tl_object *name) {
    reader *r = tl__handle_of(file, reader_end);
    const char *text = tl__string_bytes(name);
    bool whole = memchr(text, 0, (size_t)tl__string_length(name)) == NULL;
    return r && whole && r->table.count > 0 ? tl__table_find(&r->table, text) : -1;
}

tl_object *tl_tensor_file_about(tl_object *file, int64_t index) {
    reader *r;
    const tl__stored *s = item(file, index, &r);
    char shape[TL_SHAPE_TEXT], text[TL_SHAPE_TEXT + 8] = "";
    if (s)
        snprintf(text, sizeof text, "%s%s", tl__stored_kinds[s->type].name, tl__shape_text(s->rank, s->shape, shape));
    return text_or_raise(text);
}

bool tl_tensor_file_fits(tl_object *file, int64_t index, tl_tensor *like) {
    reader *r;
    const tl__stored *s = item(file, index, &r);
    bool fits = s && s->rank == like->rank && tl__stored_widens(s->type, like->dtype);
    for (int d = 0; fits && d < s->rank; d++)
        fits = s->shape[d] == like->shape[d];
    return fits;
}

/* A tensor whose first index ran fastest in the file lies there as one of the reversed shape. */
static masu_status turn_around(tl_tensor **t) {
    tl_tensor *view = NULL, *out = NULL;
    masu_status status = tl__tensor_view(*t, &view);
    if (status != MASU_OK)
        return status;
    for (int d = 0; d < view->rank; d++) {
        view->shape[d] = (*t)->shape[view->rank - 1 - d];
        view->stride[d] = (*t)->stride[view->rank - 1 - d];
    }
    tl__tensor_refresh(view);
    status = tl__tensor_contiguous(view, &out);
    tl__tensor_drop(view);
    if (status == MASU_OK) {
        tl__tensor_drop(*t);
        *t = out;
    }
    return status;
}

static masu_status read_item(reader *r, const tl__stored *s, tl_dtype kind, tl_tensor **out) {
    int64_t shape[TL_MAX_RANK];
    for (int d = 0; d < s->rank; d++)
        shape[d] = s->shape[s->columns_first ? s->rank - 1 - d : d];
    masu_status status = tl__tensor_new(kind, s->rank, shape, out);
    if (status != MASU_OK)
        return status;
    r->table.out_of_memory = false;
    bool right = tl__stored_read(&r->file, s, kind, (*out)->data, &r->table);
    if (!right && r->table.out_of_memory)
        status = tl__error_memory(MASU_ERR_OUT_OF_MEMORY, 0, "unpacking a tensor of a file");
    else if (!right)
        tl__file_say(r->table.words);
    if (status == MASU_OK && right && s->columns_first && s->rank > 1)
        status = turn_around(out);
    if (status != MASU_OK || !right) {
        tl__tensor_drop(*out);
        *out = NULL;
    }
    return status;
}

/* kind: a tl_dtype; below 0: the file's own. Where it cannot be read the tensor is empty, and noted. */
tl_tensor *tl_tensor_file_read(tl_object *file, int64_t index, int64_t kind) {
    reader *r;
    const tl__stored *s = item(file, index, &r);
    tl_tensor *out = NULL;
    masu_status status = MASU_OK;
    if (s)
        status = read_item(r, s, kind < 0 || kind >= TL_DTYPE_COUNT ? tl__stored_kinds[s->type].kept : (tl_dtype)kind,
                           &out);
    if (status == MASU_OK && !out)
        status = tl__tensor_new(TL_F32, 1, &(int64_t){0}, &out);
    return tl__tensor_or_raise(status, out);
}

/* Keys and values, one behind the other. */
tl_object *tl_tensor_file_notes(tl_object *file) {
    reader *r = tl__handle_of(file, reader_end);
    size_t count = r ? r->table.note_count : 0;
    tl_object *out = NULL;
    masu_status status = tl__string_list(r ? (const char *const *)(const void *)r->table.notes : NULL, 2 * count, &out);
    return tl__object_or_raise(status, out);
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

typedef enum format { FORMAT_NPY, FORMAT_NPZ, FORMAT_SAFETENSORS, FORMATS } format;

typedef struct outgoing {
    const tl_object *name; /* borrowed, as is the tensor */
    tl_tensor *tensor;
} outgoing;

typedef struct writer {
    format format;
    outgoing *items;
    size_t count;
    const tl_vector *notes; /* keys and values; NULL: none */
} writer;

static int64_t length_of(const tl_vector *v) {
    return v ? v->length : 0;
}

static void *item_of(const tl_vector *v, int64_t index) {
    return (void *)(uintptr_t)v->words[index * v->plan->word_count];
}

static bool find_format(const char *path, format *out) {
    static const char *const endings[FORMATS] = {".npy", ".npz", ".safetensors"};
    size_t length = strlen(path);
    for (int i = 0; i < FORMATS; i++) {
        size_t end = strlen(endings[i]);
        if (length > end && strcasecmp(path + length - end, endings[i]) == 0) {
            *out = (format)i;
            return true;
        }
    }
    return false;
}

static bool is_whole(const tl_object *text) {
    return memchr(tl__string_bytes(text), 0, (size_t)tl__string_length(text)) == NULL;
}

static int by_name(const void *a, const void *b) {
    return strcmp(tl__string_bytes(((const outgoing *)a)->name), tl__string_bytes(((const outgoing *)b)->name));
}

/* Larger elements first, so that all lie at multiples of their size; else by name, so that equal tensors make equal
 * files. */
static int by_alignment(const void *a, const void *b) {
    const outgoing *left = a, *right = b;
    size_t x = tl__dtype_size(left->tensor->dtype), y = tl__dtype_size(right->tensor->dtype);
    return x != y ? (x < y ? 1 : -1) : by_name(a, b);
}

static bool names_right(const writer *w, char words[TL_WORDS]) {
    for (size_t i = 0; i < w->count; i++) {
        const char *name = tl__string_bytes(w->items[i].name);
        int64_t length = tl__string_length(w->items[i].name);
        const char *wrong = !is_whole(w->items[i].name)                             ? "a zero byte lies in it"
                            : i > 0 && by_name(&w->items[i - 1], &w->items[i]) == 0 ? "it is there twice"
                            : w->format == FORMAT_SAFETENSORS && !strcmp(name, "__metadata__") ? "it means the notes"
                            : w->format == FORMAT_NPZ && length > 65000 ? "it is too long for .npz"
                                                                        : NULL;
        if (wrong) {
            snprintf(words, TL_WORDS, "`%.200s` cannot be a name in it: %s", name, wrong);
            return false;
        }
    }
    if (w->format == FORMAT_NPY && w->count != 1) {
        snprintf(words, TL_WORDS, ".npy holds one tensor, here are %zu: write .npz or .safetensors", w->count);
        return false;
    }
    if (w->format != FORMAT_SAFETENSORS && length_of(w->notes) > 0) {
        snprintf(words, TL_WORDS, "only .safetensors holds notes");
        return false;
    }
    bool right = true;
    for (int64_t i = 0; right && i < length_of(w->notes); i++)
        right = is_whole(item_of(w->notes, i));
    if (!right)
        snprintf(words, TL_WORDS, "its notes cannot hold a zero byte");
    return right;
}

static void describe(const outgoing *from, tl__outgoing *to) {
    const tl_tensor *t = from->tensor;
    *to = (tl__outgoing){.name = tl__string_bytes(from->name),
                         .name_length = (size_t)tl__string_length(from->name),
                         .dtype = (tl_dtype)t->dtype,
                         .rank = t->rank,
                         .shape = t->shape,
                         .bytes = (size_t)t->elements * tl__dtype_size(t->dtype)};
}

/* How far writing came: the status is memory's, the error the disk's. */
typedef struct progress {
    tl__outlet outlet;
    masu_status status;
    int error;
    uint64_t written;
} progress;

static bool goes_on(const progress *p) {
    return p->status == MASU_OK && p->error == 0;
}

static void put(progress *p, const void *bytes, size_t length) {
    if (goes_on(p) && length > 0)
        p->error = tl__outlet_put(&p->outlet, bytes, length);
    p->written += length;
}

/* The text, which is destroyed. */
static void put_text(progress *p, masu__buffer *text) {
    if (text->failed && goes_on(p))
        p->status = tl__error_memory(MASU_ERR_OUT_OF_MEMORY, text->length, "the header of a file of tensors");
    put(p, masu__buffer_text(text), text->length);
    masu__buffer_destroy(text);
}

static void put_safetensors(progress *p, const writer *w, const tl__outgoing *items) {
    masu__buffer header = {0}, notes = {0};
    for (int64_t i = 0; i < length_of(w->notes); i++) {
        const tl_object *note = item_of(w->notes, i);
        masu__buffer_append(&notes, tl__string_bytes(note), (size_t)tl__string_length(note) + 1);
    }
    tl__safetensors_write_header(&header, items, w->count, masu__buffer_text(&notes), (size_t)length_of(w->notes) / 2);
    header.failed = header.failed || notes.failed;
    masu__buffer_destroy(&notes);
    put_text(p, &header);
    for (size_t i = 0; goes_on(p) && i < w->count; i++) {
        tl_tensor *whole = NULL;
        p->status = tl__tensor_contiguous(w->items[i].tensor, &whole);
        put(p, whole ? whole->data : NULL, items[i].bytes);
        tl__tensor_drop(whole);
    }
}

static void put_array(progress *p, const writer *w, size_t i, tl__outgoing *about) {
    tl_tensor *whole = NULL;
    masu__buffer header = {0}, front = {0};
    p->status = tl__tensor_contiguous(w->items[i].tensor, &whole);
    if (p->status != MASU_OK)
        return;
    tl__npy_write_header(&header, about->dtype, about->rank, about->shape);
    if (w->format == FORMAT_NPZ) {
        about->place = p->written;
        about->sum = (uint32_t)crc32_z(0, (const unsigned char *)masu__buffer_text(&header), header.length);
        about->sum = whole->data ? (uint32_t)crc32_z(about->sum, whole->data, about->bytes) : about->sum;
        tl__zip_write_entry(&front, about, header.length);
        put_text(p, &front);
    }
    put_text(p, &header);
    put(p, whole->data, about->bytes);
    tl__tensor_drop(whole);
}

static void put_all(progress *p, const writer *w, tl__outgoing *items) {
    if (w->format == FORMAT_SAFETENSORS)
        put_safetensors(p, w, items);
    for (size_t i = 0; w->format != FORMAT_SAFETENSORS && goes_on(p) && i < w->count; i++)
        put_array(p, w, i, &items[i]);
    if (w->format == FORMAT_NPZ && goes_on(p)) {
        masu__buffer end = {0};
        tl__zip_write_directory(&end, items, w->count, p->written);
        put_text(p, &end);
    }
}

static masu_status write_file(const writer *w, const char *path) {
    progress p = {.status = MASU_OK};
    size_t bytes = w->count * sizeof(tl__outgoing);
    tl__outgoing *items = w->count ? masu__meta_alloc(bytes) : NULL;
    if (w->count > 0 && !items)
        return tl__error_memory(MASU_ERR_OUT_OF_MEMORY, bytes, "the header of a file of tensors");
    for (size_t i = 0; i < w->count; i++)
        describe(&w->items[i], &items[i]);
    p.error = tl__outlet_open(&p.outlet, path);
    if (p.error == 0) {
        put_all(&p, w, items);
        if (goes_on(&p))
            p.error = tl__outlet_close(&p.outlet);
        else
            tl__outlet_drop(&p.outlet);
    }
    masu__meta_free(items, bytes);
    tl__file_note(p.error);
    return p.status;
}

/* NULL: memory is out, and described. */
static outgoing *pairs_of(const tl_vector *names, const tl_vector *tensors, size_t count) {
    outgoing *items = masu__meta_alloc((count + 1) * sizeof *items);
    if (!items)
        tl__error_memory(MASU_ERR_OUT_OF_MEMORY, (count + 1) * sizeof *items, "the names of a file of tensors");
    for (size_t i = 0; items && i < count; i++)
        items[i] = (outgoing){item_of(names, (int64_t)i), item_of(tensors, (int64_t)i)};
    return items;
}

void tl_tensor_file_write(tl_object *path, tl_object *names, tl_object *tensors, tl_object *notes) {
    const char *name = tl__path(path);
    char words[TL_WORDS] = "the end of a name says what is written: .npy (one tensor), .npz or .safetensors";
    const tl_vector *texts = (const tl_vector *)(const void *)names, *values = (const tl_vector *)(const void *)tensors;
    writer w = {.notes = (const tl_vector *)(const void *)notes};
    int64_t count = length_of(texts) < length_of(values) ? length_of(texts) : length_of(values);
    if (!name)
        return;
    w.count = (size_t)count;
    w.items = pairs_of(texts, values, w.count);
    if (!w.items) {
        tl__raise();
        return;
    }
    qsort(w.items, w.count, sizeof *w.items, by_name);
    masu_status status = MASU_OK;
    if (!find_format(name, &w.format) || !names_right(&w, words)) {
        tl__file_say(words);
    } else {
        if (w.format == FORMAT_SAFETENSORS)
            qsort(w.items, w.count, sizeof *w.items, by_alignment);
        status = write_file(&w, name);
    }
    masu__meta_free(w.items, (w.count + 1) * sizeof *w.items);
    if (status != MASU_OK)
        tl__raise();
}

/* ---- tensors ----------------------------------------------------------------------------------------------------- */

tl_object *tl_tensor_about(tl_tensor *t) {
    char shape[TL_SHAPE_TEXT], text[TL_SHAPE_TEXT + 8];
    snprintf(text, sizeof text, "%s%s", kind_names[t->dtype], tl__shape_text(t->rank, t->shape, shape));
    return text_or_raise(text);
}

int64_t tl_tensor_kind(tl_tensor *t) {
    return t ? t->dtype : -1; /* a variant that holds no tensor has none here */
}
