/* zip.c: the zip archive of .npy files that NumPy calls .npz, read: stored and deflated entries, with zip64.
 *
 *     entries ……   central directory: a record for each entry   (zip64's end, its locator)   end of the directory
 *
 * The directory counts; of an entry's own header only its length is looked at. Entries must not overlap, so that what a
 * file gives is bounded by its length.
 */
#include <string.h>

#include "base/size.h"
#include "runtime/files/stored.h"

enum { END = 22, END64 = 56, LOCATOR = 20, RECORD = 46, LOCAL = 30, COMMENT_MOST = 65535, BEGIN_MOST = 1 << 16 };

static uint64_t number(const unsigned char *b, int bytes) {
    uint64_t value = 0;
    for (int i = bytes - 1; i >= 0; i--)
        value = value << 8 | b[i];
    return value;
}

static bool damaged(tl__table *t) {
    return tl__table_refuse(t, "its zip directory is damaged");
}

typedef struct directory {
    uint64_t count, length, begin;
} directory;

static bool find_end(const tl__bytes *file, size_t *out) {
    for (size_t behind = END; behind <= file->length && behind <= END + COMMENT_MOST; behind++) {
        const unsigned char *b = file->data + file->length - behind;
        if (memcmp(b, "PK\5\6", 4) == 0 && number(b + 20, 2) == behind - END) {
            *out = file->length - behind;
            return true;
        }
    }
    return false;
}

static bool find_directory(const tl__bytes *file, directory *out) {
    size_t end;
    if (!find_end(file, &end))
        return false;
    const unsigned char *b = file->data + end;
    *out = (directory){number(b + 10, 2), number(b + 12, 4), number(b + 16, 4)};
    bool larger = out->count == 0xffff || out->length == 0xffffffff || out->begin == 0xffffffff;
    if (larger && end >= LOCATOR && memcmp(b - LOCATOR, "PK\6\7", 4) == 0) {
        uint64_t at = number(b - LOCATOR + 8, 8);
        if (at > end || end - at < END64 || memcmp(file->data + at, "PK\6\6", 4) != 0)
            return false;
        const unsigned char *e = file->data + at;
        *out = (directory){number(e + 32, 8), number(e + 40, 8), number(e + 48, 8)};
    }
    return out->begin <= end && out->length <= end - out->begin && out->count <= out->length / RECORD;
}

typedef struct entry {
    const unsigned char *name;
    size_t name_length;
    unsigned flags, method;
    uint32_t sum;
    uint64_t packed, whole, begin;
} entry;

/* Numbers that did not fit into 32 bits lie in the extra field, in this order. */
static bool read_larger(const unsigned char *extra, size_t length, entry *e) {
    uint64_t *const values[] = {&e->whole, &e->packed, &e->begin};
    while (length >= 4) {
        size_t size = (size_t)number(extra + 2, 2);
        if (size > length - 4)
            return false;
        const unsigned char *at = extra + 4;
        for (int i = 0; number(extra, 2) == 1 && i < 3; i++)
            if (*values[i] == 0xffffffff) {
                if (extra + 4 + size - at < 8)
                    return false;
                *values[i] = number(at, 8);
                at += 8;
            }
        extra += 4 + size;
        length -= 4 + size;
    }
    return true;
}

/* The bytes of the record; 0: it is damaged. */
static size_t read_record(const unsigned char *b, size_t left, entry *e) {
    if (left < RECORD || memcmp(b, "PK\1\2", 4) != 0)
        return 0;
    size_t name = (size_t)number(b + 28, 2), extra = (size_t)number(b + 30, 2), comment = (size_t)number(b + 32, 2);
    if (left - RECORD < name + extra + comment)
        return 0;
    *e = (entry){.name = b + RECORD,
                 .name_length = name,
                 .flags = (unsigned)number(b + 8, 2),
                 .method = (unsigned)number(b + 10, 2),
                 .sum = (uint32_t)number(b + 16, 4),
                 .packed = number(b + 20, 4),
                 .whole = number(b + 24, 4),
                 .begin = number(b + 42, 4)};
    return read_larger(b + RECORD + name, extra, e) ? RECORD + name + extra + comment : 0;
}

static bool name_entry(const entry *e, tl__stored *s, tl__table *t) {
    static const char end[] = ".npy";
    size_t length = e->name_length, tail = sizeof end - 1;
    const char *name = (const char *)e->name;
    if (length < tail || memcmp(name + length - tail, end, tail) != 0 || memchr(name, 0, length))
        return tl__table_refuse(t, "`%.*s` in it is not a .npy file%s", (int)masu__min(length, 100), name,
                                length > 8 && memcmp(name + length - 8, "data.pkl", 8) == 0
                                    ? ": PyTorch wrote it as a pickle; write it with safetensors"
                                    : "");
    s->name = masu__arena_strndup(&t->arena, name, length - tail);
    t->out_of_memory = t->out_of_memory || !s->name;
    return s->name != NULL;
}

/* Where the entry's bytes lie, and how they are packed. */
static bool place_entry(const tl__bytes *file, const entry *e, tl__stored *s, tl__table *t) {
    if (e->flags & 1)
        return tl__table_refuse(t, "`%.100s` in it is encrypted", s->name);
    if (e->method != 0 && e->method != 8)
        return tl__table_refuse(t, "`%.100s` in it is packed by method %u; stored and deflated ones are read", s->name,
                                e->method);
    if (e->begin > file->length || file->length - e->begin < LOCAL)
        return damaged(t);
    const unsigned char *b = file->data + e->begin;
    uint64_t front = LOCAL + number(b + 26, 2) + number(b + 28, 2), left = file->length - e->begin;
    if (memcmp(b, "PK\3\4", 4) != 0 || front > left || e->packed > left - front)
        return damaged(t);
    s->packing = e->method == 8 ? TL_PACKED_ZIP : TL_PACKED_NOT;
    s->checked = true;
    s->sum = e->sum;
    s->bytes = b + front;
    s->length = (size_t)e->packed;
    return (e->method == 8 ? tl__unpack_may_give(TL_PACKED_ZIP, s->length, (size_t)e->whole) : e->whole == e->packed) ||
           damaged(t);
}

static bool read_entry(const tl__bytes *file, const entry *e, unsigned char *begin, tl__table *t) {
    tl__stored *s = tl__table_add(t);
    if (!s || !name_entry(e, s, t) || !place_entry(file, e, s, t))
        return false;
    if (s->packing == TL_PACKED_NOT)
        return tl__npy_header(s->bytes, s->length, s->length, s, t);
    size_t there = tl__unpack_begin(s->packing, s->bytes, s->length, begin, BEGIN_MOST);
    return tl__npy_header(begin, there, (size_t)e->whole, s, t);
}

bool tl__zip_read(const tl__bytes *file, tl__table *t) {
    directory d;
    if (!find_directory(file, &d))
        return damaged(t);
    const unsigned char *at = file->data + d.begin;
    size_t left = (size_t)d.length, packed = 0;
    unsigned char *begin = masu__arena_alloc(&t->arena, BEGIN_MOST, 1);
    t->out_of_memory = !begin;
    for (uint64_t i = 0; begin && i < d.count; i++) {
        entry e;
        size_t length = read_record(at, left, &e);
        if (length == 0 || e.packed > file->length || (packed += (size_t)e.packed) > file->length)
            return damaged(t);
        if (!read_entry(file, &e, begin, t))
            return false;
        at += length;
        left -= length;
    }
    return begin && tl__table_close(t);
}
