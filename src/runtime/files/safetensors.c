/* safetensors.c: Hugging Face's file of named tensors, read and written.
 *
 *     length of the header (8 bytes)   {"name":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}, …}   elements
 *
 * The header is JSON, read by Jansson. It builds a tree, so the text is looked over first: how deep it nests and how
 * many parts it has is bounded by what a header of its length can need, and with it the memory of the tree.
 *
 * What must stay true of an accepted file: the ranges of the tensors follow each other from the first byte behind the
 * header to the last of the file, without a hole and without an overlap.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "runtime/files/formats.h"
#include "runtime/files/stored.h"

enum { FRONT = 8, HEADER_MOST = 100000000, DEEPEST = 3, SHORTEST_PART = 4 };

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* `"":{"dtype":"I8","shape":[1,1,1,1,1,1,1,1],"data_offsets":[0,1]},` has the most for its length: 14 brackets and
 * commas in 63 bytes. */
static bool is_bounded(const char *text, size_t length, tl__table *t) {
    size_t parts = 0, depth = 0;
    bool quoted = false;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (quoted && c == '\\')
            i++;
        else if (c == '"')
            quoted = !quoted;
        else if (!quoted && (c == '{' || c == '['))
            depth++, parts++;
        else if (!quoted && (c == '}' || c == ']'))
            depth -= depth > 0;
        else if (!quoted && c == ',')
            parts++;
        if (depth > DEEPEST)
            return tl__table_refuse(t, "its header nests deeper than tensors do, at byte %zu", i);
    }
    return parts <= length / SHORTEST_PART + 2 || tl__table_refuse(t, "its header has too many parts for its length");
}

static bool wrong_entry(tl__table *t, const char *name, const char *what) {
    return tl__table_refuse(t, "`%.200s` in its header: %s", name, what);
}

static bool find_type(const char *name, uint32_t *out) {
    for (uint32_t i = 0; i < STORED_TYPES; i++)
        if (strcmp(tl__stored_kinds[i].safetensors, name) == 0) {
            *out = i;
            return true;
        }
    return false;
}

static bool read_shape(const json_t *shape, tl__stored *s, tl__table *t) {
    if (!json_is_array(shape))
        return wrong_entry(t, s->name, "its shape is not a list");
    if (json_array_size(shape) > TL_MAX_RANK)
        return wrong_entry(t, s->name, "it has more than 8 dimensions");
    s->rank = (uint8_t)json_array_size(shape);
    for (size_t d = 0; d < s->rank; d++) {
        const json_t *length = json_array_get(shape, d);
        if (!json_is_integer(length) || json_integer_value(length) < 0)
            return wrong_entry(t, s->name, "a length of its shape is not a whole number from 0 on");
        s->shape[d] = json_integer_value(length);
    }
    return tl__stored_count(s) || wrong_entry(t, s->name, "its shape has too many elements to count");
}

static bool read_range(const json_t *range, size_t length, const unsigned char *data, tl__stored *s, tl__table *t) {
    const json_t *first = json_array_get(range, 0), *last = json_array_get(range, 1);
    if (json_array_size(range) != 2 || !json_is_integer(first) || !json_is_integer(last))
        return wrong_entry(t, s->name, "data_offsets are not two whole numbers");
    json_int_t begin = json_integer_value(first), end = json_integer_value(last);
    if (begin < 0 || end < begin || (uint64_t)end > length)
        return wrong_entry(t, s->name, "data_offsets lie outside of the file");
    s->bytes = data + begin;
    s->length = (size_t)(end - begin);
    return s->length == s->elements * tl__stored_kinds[s->type].bytes ||
           wrong_entry(t, s->name, "shape and element type need other bytes than data_offsets");
}

static bool read_tensor(const char *name, const json_t *about, size_t length, const unsigned char *data, tl__table *t) {
    const char *type = json_string_value(json_object_get(about, "dtype"));
    if (!json_is_object(about) || !type || json_object_size(about) != 3)
        return wrong_entry(t, name, "a tensor has dtype, shape and data_offsets");
    tl__stored *s = tl__table_add(t);
    if (!s)
        return false;
    s->name = masu__arena_strdup(&t->arena, name);
    t->out_of_memory = !s->name;
    if (!s->name)
        return false;
    if (!find_type(type, &s->type))
        return tl__table_refuse(t, "`%.200s` has elements of the type %.40s, which masu does not have", name, type);
    return read_shape(json_object_get(about, "shape"), s, t) &&
           read_range(json_object_get(about, "data_offsets"), length, data, s, t);
}

static bool read_notes(json_t *notes, tl__table *t) {
    const char *key;
    json_t *value;
    if (!json_is_object(notes))
        return wrong_entry(t, "__metadata__", "it is not a map of texts");
    json_object_foreach(notes, key, value) {
        if (!json_is_string(value))
            return wrong_entry(t, "__metadata__", "it is not a map of texts");
        if (!tl__table_note(t, key, json_string_value(value)))
            return false;
    }
    return true;
}

static int by_place(const void *a, const void *b) {
    const tl__stored *left = *(const tl__stored *const *)a, *right = *(const tl__stored *const *)b;
    if (left->bytes != right->bytes)
        return left->bytes < right->bytes ? -1 : 1;
    return (left->length > right->length) - (left->length < right->length);
}

static bool is_whole(const unsigned char *data, size_t length, tl__table *t) {
    const tl__stored **sorted = MASU_ARENA_ARRAY(&t->arena, const tl__stored *, t->count);
    t->out_of_memory = !sorted;
    if (!sorted)
        return false;
    for (size_t i = 0; i < t->count; i++)
        sorted[i] = &t->items[i];
    if (t->count > 0)
        qsort(sorted, t->count, sizeof *sorted, by_place);
    const unsigned char *at = data;
    for (size_t i = 0; i < t->count; at = sorted[i]->bytes + sorted[i]->length, i++)
        if (sorted[i]->bytes != at)
            return wrong_entry(t, sorted[i]->name,
                               sorted[i]->bytes < at ? "its bytes are another's, too"
                                                     : "there is a hole before its bytes");
    return at == data + length ||
           tl__table_refuse(t, "%zu bytes behind the last tensor belong to none", length - (size_t)(at - data));
}

static bool read_header(json_t *header, const unsigned char *data, size_t length, tl__table *t) {
    const char *name;
    json_t *about;
    if (!json_is_object(header))
        return tl__table_refuse(t, "its header is not a map");
    json_object_foreach(header, name, about) {
        bool right = strcmp(name, "__metadata__") == 0 ? read_notes(about, t)
                                                       : read_tensor(name, about, length, data, t);
        if (!right)
            return false;
    }
    return is_whole(data, length, t) && tl__table_close(t);
}

static uint64_t header_bytes(const tl__bytes *file) {
    uint64_t header = 0;
    for (int i = FRONT - 1; i >= 0 && file->length >= FRONT; i--)
        header = header << 8 | file->data[i];
    return header;
}

bool tl__safetensors_is(const tl__bytes *file) {
    return file->length > FRONT && file->data[FRONT] == '{' && header_bytes(file) <= file->length - FRONT;
}

bool tl__safetensors_read(const tl__bytes *file, tl__table *t) {
    uint64_t header = header_bytes(file);
    if (file->length < FRONT || header > file->length - FRONT || header > HEADER_MOST)
        return tl__table_refuse(t, "its header has %" PRIu64 " bytes, where %zu are left", header,
                                file->length < FRONT ? 0 : file->length - FRONT);
    const char *text = (const char *)file->data + FRONT;
    if (!is_bounded(text, (size_t)header, t))
        return false;
    json_error_t wrong;
    json_t *tree = json_loadb(text, (size_t)header, JSON_REJECT_DUPLICATES, &wrong);
    if (!tree) {
        t->out_of_memory = json_error_code(&wrong) == json_error_out_of_memory;
        return tl__table_refuse(t, "its header is not JSON, at byte %d: %s", wrong.position, wrong.text);
    }
    const unsigned char *data = file->data + FRONT + header;
    bool right = read_header(tree, data, file->length - FRONT - (size_t)header, t);
    json_decref(tree);
    return right;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static void write_notes(masu__buffer *out, const char *notes, size_t count) {
    masu__buffer_puts(out, "\"__metadata__\":{");
    for (size_t i = 0; i < count; i++) {
        for (int part = 0; part < 2; part++, notes += strlen(notes) + 1) {
            masu__buffer_puts(out, part == 1 ? ":" : i > 0 ? "," : "");
            masu__buffer_json_string(out, notes, strlen(notes));
        }
    }
    masu__buffer_puts(out, "}");
}

static void write_tensor(masu__buffer *out, const tl__outgoing *item, uint64_t begin) {
    masu__buffer_json_string(out, item->name, item->name_length);
    masu__buffer_printf(out, ":{\"dtype\":\"%s\",\"shape\":[",
                        tl__stored_kinds[tl__stored_type_of(item->dtype)].safetensors);
    for (int d = 0; d < item->rank; d++)
        masu__buffer_printf(out, "%s%" PRId64, d > 0 ? "," : "", item->shape[d]);
    masu__buffer_printf(out, "],\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}", begin, begin + item->bytes);
}

void tl__safetensors_write_header(masu__buffer *out, const tl__outgoing *items, size_t count, const char *notes,
                                  size_t note_count) {
    masu__buffer text = {0};
    uint64_t begin = 0;
    masu__buffer_puts(&text, "{");
    if (note_count > 0)
        write_notes(&text, notes, note_count);
    for (size_t i = 0; i < count; begin += items[i].bytes, i++) {
        masu__buffer_puts(&text, i > 0 || note_count > 0 ? "," : "");
        write_tensor(&text, &items[i], begin);
    }
    masu__buffer_puts(&text, "}");
    masu__buffer_fill(&text, ' ', (FRONT - text.length % FRONT) % FRONT);
    char front[FRONT];
    for (int i = 0; i < FRONT; i++)
        front[i] = (char)((uint64_t)text.length >> (8 * i) & 255);
    masu__buffer_append(out, front, FRONT);
    masu__buffer_append(out, masu__buffer_text(&text), text.length);
    out->failed = out->failed || text.failed;
    masu__buffer_destroy(&text);
}
