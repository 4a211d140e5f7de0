/* stored.c: the table of tensors in a file, and their elements as those that masu computes in. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/populate.h"
#include "base/size.h"
#include "runtime/files/cut_file.h"
#include "runtime/files/stored.h"

const tl__stored_kind tl__stored_kinds[STORED_TYPES] = {
#define STORED_TYPE(name, type, kept, npy, safetensors, idx) {#name, sizeof(type), kept, npy, safetensors, idx},
#include "runtime/files/element_types.def"
#undef STORED_TYPE
};

tl__stored_type tl__stored_type_of(tl_dtype dtype) {
    static const tl__stored_type types[TL_DTYPE_COUNT] = {
        [TL_F32] = STORED_f32, [TL_F64] = STORED_f64, [TL_I64] = STORED_i64, [TL_BOOL] = STORED_bool};
    return types[dtype];
}

bool tl__stored_widens(tl__stored_type type, tl_dtype to) {
    const tl__stored_kind *kind = &tl__stored_kinds[type];
    return kind->kept == to || (to == TL_F64 && kind->kept == TL_F32) ||
           (to == TL_F64 && kind->kept == TL_I64 && kind->bytes < 8);
}

/* ---- the bytes of a file ----------------------------------------------------------------------------------------- */

int tl__bytes_open(const char *path, tl__bytes *out) {
    *out = (tl__bytes){.descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    struct stat about;
    int error = out->descriptor < 0 || fstat(out->descriptor, &about) != 0 ? errno : 0;
    if (error == 0 && !S_ISREG(about.st_mode))
        error = S_ISDIR(about.st_mode) ? EISDIR : EINVAL;
    if (error == 0 && about.st_size > 0) {
        void *data = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, out->descriptor, 0);
        error = data == MAP_FAILED ? errno : 0;
        out->data = error == 0 ? data : NULL;
        out->length = error == 0 ? (size_t)about.st_size : 0;
        if (error == 0)
            tl__cut_file_watch(data, out->length);
    }
    if (error != 0)
        tl__bytes_close(out);
    return error;
}

void tl__bytes_close(tl__bytes *bytes) {
    if (bytes->descriptor >= 0 && bytes->data)
        tl__cut_file_forget(bytes->data);
    if (bytes->descriptor >= 0 && bytes->data)
        munmap((void *)(uintptr_t)bytes->data, bytes->length);
    if (bytes->descriptor >= 0)
        close(bytes->descriptor);
    *bytes = (tl__bytes){.descriptor = -1};
}

bool tl__bytes_there(const tl__bytes *bytes) {
    struct stat about;
    return bytes->descriptor < 0 || (fstat(bytes->descriptor, &about) == 0 && (size_t)about.st_size >= bytes->length);
}

void tl__bytes_done(const tl__bytes *bytes, const unsigned char *from, size_t length) {
    enum { WORTH = 1 << 20, PAGE = 4096 };
    if (bytes->descriptor < 0 || length < WORTH)
        return;
    uintptr_t begin = masu__align_up_small((uintptr_t)from, PAGE),
              end = masu__align_down((uintptr_t)from + length, PAGE);
    madvise((void *)begin, end - begin, MADV_DONTNEED);
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

bool tl__table_refuse(tl__table *t, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (t->words[0] == '\0')
        vsnprintf(t->words, sizeof t->words, format, arguments);
    va_end(arguments);
    return false;
}

static bool grow(tl__table *t, void **items, size_t count, size_t *capacity, size_t bytes) {
    if (count < *capacity)
        return true;
    size_t wanted = *capacity ? *capacity * 2 : 8;
    void *more = masu__arena_grow(&t->arena, *items, count, wanted, bytes, _Alignof(max_align_t));
    t->out_of_memory = t->out_of_memory || !more;
    *items = more ? more : *items;
    *capacity = more ? wanted : *capacity;
    return more != NULL;
}

tl__stored *tl__table_add(tl__table *t) {
    void *items = t->items;
    if (!grow(t, &items, t->count, &t->capacity, sizeof *t->items))
        return NULL;
    t->items = items;
    tl__stored *s = &t->items[t->count++];
    *s = (tl__stored){.name = ""};
    return s;
}

bool tl__table_note(tl__table *t, const char *key, const char *value) {
    void *notes = t->notes;
    char *own_key = masu__arena_strdup(&t->arena, key), *own_value = masu__arena_strdup(&t->arena, value);
    t->out_of_memory = t->out_of_memory || !own_key || !own_value;
    if (t->out_of_memory || !grow(t, &notes, t->note_count, &t->note_capacity, sizeof *t->notes))
        return false;
    t->notes = notes;
    t->notes[t->note_count++] = (tl__note_pair){own_key, own_value};
    return true;
}

bool tl__stored_count(tl__stored *s) {
    size_t elements = 1, bytes = 0;
    bool empty = false, fits = true;
    for (int d = 0; d < s->rank; d++) {
        if (s->shape[d] < 0)
            return false;
        empty = empty || s->shape[d] == 0;
        fits = fits && (s->shape[d] == 0 || masu__mul(elements, (size_t)s->shape[d], &elements));
    }
    s->elements = empty ? 0 : elements;
    /* also the strides of an empty one can be counted */
    return fits && masu__mul(elements, sizeof(double), &bytes) && bytes <= PTRDIFF_MAX;
}

static int by_name(const void *a, const void *b, void *table) {
    const tl__stored *items = table;
    return strcmp(items[*(const uint32_t *)a].name, items[*(const uint32_t *)b].name);
}

bool tl__table_close(tl__table *t) {
    if (t->out_of_memory)
        return false;
    if (t->count > UINT32_MAX)
        return tl__table_refuse(t, "there are %zu tensors in it", t->count);
    t->by_name = MASU_ARENA_ARRAY(&t->arena, uint32_t, t->count);
    t->out_of_memory = !t->by_name;
    for (size_t i = 0; t->by_name && i < t->count; i++)
        t->by_name[i] = (uint32_t)i;
    if (t->by_name && t->count > 0)
        qsort_r(t->by_name, t->count, sizeof *t->by_name, by_name, t->items);
    for (size_t i = 1; t->by_name && i < t->count; i++)
        if (strcmp(t->items[t->by_name[i - 1]].name, t->items[t->by_name[i]].name) == 0)
            return tl__table_refuse(t, "the name `%.200s` is there twice", t->items[t->by_name[i]].name);
    return t->by_name != NULL;
}

int64_t tl__table_find(const tl__table *t, const char *name) {
    size_t low = 0, high = t->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(t->items[t->by_name[middle]].name, name);
        if (order == 0)
            return t->by_name[middle];
        low = order < 0 ? middle + 1 : low;
        high = order < 0 ? high : middle;
    }
    return -1;
}

void tl__table_destroy(tl__table *t) {
    masu__arena_destroy(&t->arena);
    *t = (tl__table){0};
}

static bool read_any(const tl__bytes *file, tl__table *t) {
    const unsigned char *b = file->data;
    if (tl__safetensors_is(file)) /* first, for the number it begins with may look like the beginning of any other */
        return tl__safetensors_read(file, t);
    if (file->length >= 6 && memcmp(b, "\x93NUMPY", 6) == 0)
        return tl__npy_read(file, t);
    if (file->length >= 4 && (memcmp(b, "PK\3\4", 4) == 0 || memcmp(b, "PK\5\6", 4) == 0))
        return tl__zip_read(file, t);
    if (file->length >= 4 && (memcmp(b, "\x1f\x8b", 2) == 0 || memcmp(b, "\0\0", 2) == 0) &&
        memcmp(b, "\0\0\0\0", 4) != 0)
        return tl__idx_read(file, t);
    if (file->length >= 9 && b[8] == '{')
        return tl__safetensors_read(file, t);
    return tl__table_refuse(t, "it is not a .npy, .npz, .safetensors or IDX file");
}

bool tl__table_read(const tl__bytes *file, tl__table *t) {
    bool right = read_any(file, t);
    if (tl__bytes_there(file))
        return right;
    t->words[0] = '\0';
    return tl__table_refuse(t, "it was cut off while it was opened");
}

/* ---- elements ---------------------------------------------------------------------------------------------------- */

/* An element as a whole number, or as one with a fraction; a u64 above i64's is the latter, and not exact. */
typedef struct element {
    bool is_whole;
    int64_t whole;
    double real;
} element;

static inline double half_of(uint16_t bits) {
    uint32_t sign = (uint32_t)(bits & 0x8000) << 16, rest = bits & 0x7fff;
    float value;
    uint32_t word = rest >= 0x7c00 ? 0x7f800000 | (rest & 0x3ff) << 13 : (rest << 13) + 0x38000000;
    if (rest < 0x400) /* below the smallest normal one: a multiple of 2^-24 */
        return (sign ? -1.0 : 1.0) * rest * 0x1p-24;
    word |= sign;
    memcpy(&value, &word, sizeof value);
    return value;
}

static inline double brain_of(uint16_t bits) {
    uint32_t word = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

#define WHOLE_ELEMENT(value) ((element){.is_whole = true, .whole = (int64_t)(value)})
#define REAL_ELEMENT(value)  ((element){.real = (value)})

static inline element element_f32(float v) {
    return REAL_ELEMENT(v);
}
static inline element element_f64(double v) {
    return REAL_ELEMENT(v);
}
static inline element element_f16(uint16_t v) {
    return REAL_ELEMENT(half_of(v));
}
static inline element element_bf16(uint16_t v) {
    return REAL_ELEMENT(brain_of(v));
}
static inline element element_i64(int64_t v) {
    return WHOLE_ELEMENT(v);
}
static inline element element_i32(int32_t v) {
    return WHOLE_ELEMENT(v);
}
static inline element element_i16(int16_t v) {
    return WHOLE_ELEMENT(v);
}
static inline element element_i8(int8_t v) {
    return WHOLE_ELEMENT(v);
}
static inline element element_u64(uint64_t v) {
    return v <= INT64_MAX ? WHOLE_ELEMENT(v) : (element){.real = (double)v};
}
static inline element element_u32(uint32_t v) {
    return WHOLE_ELEMENT(v);
}
static inline element element_u16(uint16_t v) {
    return WHOLE_ELEMENT(v);
}
static inline element element_u8(uint8_t v) {
    return WHOLE_ELEMENT(v);
}
static inline element element_bool(uint8_t v) {
    return WHOLE_ELEMENT(v != 0);
}

/* Each yields whether the value was kept. */
static inline bool put_f32(element e, float *to) {
    *to = e.is_whole ? (float)e.whole : (float)e.real;
    return e.is_whole ? *to < 0x1p63f && (int64_t)*to == e.whole : isinf(e.real) || !isinf(*to);
}

static inline bool put_f64(element e, double *to) {
    *to = e.is_whole ? (double)e.whole : e.real;
    return !e.is_whole || (*to < 0x1p63 && (int64_t)*to == e.whole);
}

static inline bool put_i64(element e, int64_t *to) {
    bool fits = e.is_whole || (e.real >= -0x1p63 && e.real < 0x1p63 && e.real == trunc(e.real));
    *to = e.is_whole ? e.whole : fits ? (int64_t)e.real : 0;
    return fits;
}

static inline bool put_truth(element e, unsigned char *to) {
    double v = e.is_whole ? (double)e.whole : e.real;
    *to = v == 1.0;
    return v == 0.0 || v == 1.0;
}

static inline void turn_bytes(void *value, size_t bytes) {
    unsigned char *b = value;
    for (size_t i = 0; i < bytes / 2; i++) {
        unsigned char kept = b[i];
        b[i] = b[bytes - 1 - i];
        b[bytes - 1 - i] = kept;
    }
}

/* The number of the first element whose value is not kept; count where all are. */
#define CONVERT_TO(function, element_of, type, target, kept)                                           \
    static size_t function##target(const unsigned char *from, size_t count, bool swapped, void *out) { \
        kept *to = out;                                                                                \
        size_t bad = count;                                                                            \
        for (size_t i = 0; i < count; i++) {                                                           \
            type value;                                                                                \
            memcpy(&value, from + i * sizeof value, sizeof value);                                     \
            if (swapped)                                                                               \
                turn_bytes(&value, sizeof value);                                                      \
            bad = put_##target(element_of(value), to + i) || bad != count ? bad : i;                   \
        }                                                                                              \
        return bad;                                                                                    \
    }
#define STORED_TYPE(name, type, kept, npy, safetensors, idx)          \
    CONVERT_TO(convert_##name##_, element_##name, type, f32, float)   \
    CONVERT_TO(convert_##name##_, element_##name, type, f64, double)  \
    CONVERT_TO(convert_##name##_, element_##name, type, i64, int64_t) \
    CONVERT_TO(convert_##name##_, element_##name, type, truth, unsigned char)
#include "runtime/files/element_types.def"
#undef STORED_TYPE

typedef size_t convert_function(const unsigned char *from, size_t count, bool swapped, void *to);
static convert_function *const converters[STORED_TYPES][TL_DTYPE_COUNT] = {
#define STORED_TYPE(name, type, kept, npy, safetensors, idx) \
    {[TL_F32] = convert_##name##_f32,                        \
     [TL_F64] = convert_##name##_f64,                        \
     [TL_I64] = convert_##name##_i64,                        \
     [TL_BOOL] = convert_##name##_truth},
#include "runtime/files/element_types.def"
#undef STORED_TYPE
};

static bool refuse_element(tl__table *t, const tl__stored *s, size_t at, tl_dtype kept) {
    static const char *const names[TL_DTYPE_COUNT] = {
        [TL_F32] = "f32", [TL_F64] = "f64", [TL_I64] = "i64", [TL_BOOL] = "bool"};
    const tl__stored_kind *kind = &tl__stored_kinds[s->type];
    if (kind->kept == kept)
        return tl__table_refuse(t, "element %zu of `%.200s` is stored as %s and does not fit into %s", at, s->name,
                                kind->name, names[kept]);
    return tl__table_refuse(
        t, "element %zu of `%.200s` is stored as %s and is not the same number as %s: ask for a `Tensor<%s>`", at,
        s->name, kind->name, names[kept], names[kind->kept]);
}

static const uint8_t kept_bytes[TL_DTYPE_COUNT] = {4, 8, 8, 1};

/* Elements from number `first` on. */
static bool convert(const tl__stored *s, const unsigned char *from, size_t first, size_t count, tl_dtype kept, char *to,
                    tl__table *t) {
    size_t bytes = tl__stored_kinds[s->type].bytes;
    if (tl__stored_type_of(kept) == (tl__stored_type)s->type && !s->swapped && kept != TL_BOOL) {
        memcpy(to + first * bytes, from, count * bytes);
        return true;
    }
    size_t bad = converters[s->type][kept](from, count, s->swapped, to + first * kept_bytes[kept]);
    return bad == count || refuse_element(t, s, first + bad, kept);
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

enum { PIECE = 32768 };

static bool broken(tl__table *t, const tl__stored *s) {
    return tl__table_refuse(t, "the bytes of `%.200s` are damaged", s->name);
}

/* Many elements, just as they lie in the file: past the mapping, whose pages would come one fault after the other.
 * False: the mapping is asked. */
static bool read_straight(const tl__bytes *file, const tl__stored *s, tl_dtype kept, char *to) {
    enum { WORTH = 1 << 20, MOST = 1 << 24 };
    size_t left = s->elements * kept_bytes[kept];
    if (file->descriptor < 0 || left < WORTH || s->swapped || kept == TL_BOOL ||
        tl__stored_type_of(kept) != (tl__stored_type)s->type)
        return false;
    for (off_t at = s->bytes + s->skip - file->data; left > 0;) {
        const ssize_t got = pread(file->descriptor, to, masu__min(left, MOST), at);
        if (got <= 0)
            return false;
        at += got;
        to += got;
        left -= (size_t)got;
    }
    return true;
}

static bool read_plain(const tl__bytes *file, const tl__stored *s, tl_dtype kept, void *to, tl__table *t) {
    if (s->checked && crc32_z(0, s->bytes, s->length) != s->sum)
        return broken(t, s);
    if (read_straight(file, s, kept, to))
        return true;
    return s->elements == 0 || convert(s, s->bytes + s->skip, 0, s->elements, kept, to, t);
}

typedef struct unpacking {
    z_stream stream;
    size_t left; /* packed bytes that the stream was not shown yet */
    uint32_t sum;
    bool ended;
} unpacking;

static bool unpack_open(unpacking *u, tl__packing packing, const unsigned char *from, size_t length) {
    *u = (unpacking){.stream = {.next_in = (unsigned char *)(uintptr_t)from}, .left = length};
    return inflateInit2(&u->stream, packing == TL_PACKED_GZIP ? 31 : -15) == Z_OK;
}

/* As many of `room` bytes as there are; 0 at the end, and where they are damaged. */
static size_t unpack(unpacking *u, unsigned char *to, size_t room) {
    u->stream.next_out = to;
    u->stream.avail_out = (unsigned)room;
    while (u->stream.avail_out > 0 && !u->ended) {
        if (u->stream.avail_in == 0 && u->left > 0) {
            u->stream.avail_in = (unsigned)masu__min(u->left, 1 << 30);
            u->left -= u->stream.avail_in;
        }
        int result = inflate(&u->stream, Z_NO_FLUSH);
        u->ended = result == Z_STREAM_END;
        if (result != Z_OK && result != Z_STREAM_END)
            break;
    }
    size_t got = room - u->stream.avail_out;
    u->sum = (uint32_t)crc32_z(u->sum, to, got);
    return got;
}

size_t tl__unpack_begin(tl__packing packing, const unsigned char *from, size_t length, unsigned char *to, size_t room) {
    unpacking u;
    if (!unpack_open(&u, packing, from, length))
        return 0;
    size_t got = unpack(&u, to, room);
    inflateEnd(&u.stream);
    return got;
}

/* No byte gives more than 1032 (zlib's technical notes). */
bool tl__unpack_may_give(tl__packing packing, size_t length, size_t whole) {
    return packing == TL_PACKED_NOT ? whole <= length : whole / 1032 <= length;
}

/* Drops what is in front of the elements. */
static bool unpack_front(unpacking *u, const tl__stored *s, unsigned char *piece) {
    for (size_t left = s->skip; left > 0;) {
        size_t got = unpack(u, piece, masu__min(left, PIECE));
        if (got == 0)
            return false;
        left -= got;
    }
    return true;
}

static bool read_packed(const tl__stored *s, tl_dtype kept, void *to, tl__table *t) {
    unsigned char piece[PIECE];
    unpacking u;
    t->out_of_memory = !unpack_open(&u, s->packing, s->bytes, s->length);
    if (t->out_of_memory)
        return false;
    size_t bytes = tl__stored_kinds[s->type].bytes, room = PIECE / bytes;
    bool right = unpack_front(&u, s, piece) || broken(t, s);
    for (size_t first = 0; right && first < s->elements;) {
        size_t count = masu__min(s->elements - first, room);
        right = unpack(&u, piece, count * bytes) == count * bytes || broken(t, s);
        right = right && convert(s, piece, first, count, kept, to, t);
        first += count;
    }
    /* behind the last element nothing comes, and the sum is that of all */
    right = right && ((unpack(&u, piece, 1) == 0 && u.ended && (!s->checked || u.sum == s->sum)) || broken(t, s));
    inflateEnd(&u.stream);
    return right;
}

bool tl__stored_read(const tl__bytes *file, const tl__stored *s, tl_dtype kept, void *to, tl__table *t) {
    t->words[0] = '\0';
    if (!tl__bytes_there(file))
        return tl__table_refuse(t, "it was cut off while it was open");
    masu__in_large_pages(to, s->elements * kept_bytes[kept]);
    bool right = s->packing == TL_PACKED_NOT ? read_plain(file, s, kept, to, t) : read_packed(s, kept, to, t);
    if (!tl__bytes_there(file)) {
        t->words[0] = '\0'; /* what was found wrong is what is behind the end */
        return tl__table_refuse(t, "it was cut off while it was open");
    }
    tl__bytes_done(file, s->bytes, s->length);
    return right;
}
