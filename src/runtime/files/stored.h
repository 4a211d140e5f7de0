/* stored.h: tensors as they lie in a file, and what the readers and writers of the formats share. Private to the
 * runtime.
 *
 *     path ─► tl__bytes_open: mapped ─► a reader (npy.c, idx.c, zip.c, safetensors.c)
 *                                       ─► tl__table: names, shapes, places
 *                                            │ tl__stored_read
 *                                            ▼
 *                                          elements of a tensor
 *
 * A reader trusts no byte. It looks at headers only: what the elements need is read when a tensor is asked for. Readers
 * know nothing of tensors and of the runtime, so that fuzzers run them alone.
 *
 * What must stay true of a table that a reader has accepted:
 *     every entry's bytes lie inside the file;  not packed: skip + elements × bytes of one = length
 *     the product of a shape × 8 fits into ptrdiff_t;  no two entries have one name
 */
#ifndef MASU_RUNTIME_STORED_H
#define MASU_RUNTIME_STORED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <masu/abi.h>

#include "base/arena.h"

typedef enum tl__stored_type {
#define STORED_TYPE(name, type, kept, npy, safetensors, idx) STORED_##name,
#include "runtime/files/element_types.def"
#undef STORED_TYPE
    STORED_TYPES
} tl__stored_type;

typedef struct tl__stored_kind {
    const char *name;
    uint8_t bytes, kept; /* of one element; tl_dtype */
    char npy;
    const char *safetensors;
    uint8_t idx;
} tl__stored_kind;

extern const tl__stored_kind tl__stored_kinds[STORED_TYPES];
/* How elements of a tensor are written. */
tl__stored_type tl__stored_type_of(tl_dtype dtype);

/* Whether every value of the type is one of `to`: no number is rounded in silence. */
bool tl__stored_widens(tl__stored_type type, tl_dtype to);

/* The bytes of a file. */
typedef struct tl__bytes {
    const unsigned char *data; /* NULL: none */
    size_t length;
    int descriptor; /* -1: none */
} tl__bytes;

/* 0, or errno: EINVAL where it is not a regular file. */
int tl__bytes_open(const char *path, tl__bytes *out);
void tl__bytes_close(tl__bytes *bytes);
/* Whether the file is as long as it was: what lies behind its end must not be touched. */
bool tl__bytes_there(const tl__bytes *bytes);
/* These bytes were read and are not read soon again: their pages need not stay. */
void tl__bytes_done(const tl__bytes *bytes, const unsigned char *from, size_t length);

typedef enum tl__packing { TL_PACKED_NOT, TL_PACKED_ZIP, TL_PACKED_GZIP } tl__packing;

typedef struct tl__stored {
    const char *name; /* with a zero behind it; borrowed from the table */
    uint32_t type;    /* tl__stored_type */
    uint8_t rank;
    bool swapped;       /* each element's bytes in the other order than the machine's */
    bool columns_first; /* the first index runs fastest */
    uint8_t packing;    /* tl__packing */
    bool checked;       /* `sum` is the CRC-32 of all that was packed */
    uint32_t sum;
    const unsigned char *bytes;
    size_t length;
    size_t skip; /* bytes in front of the elements, after unpacking */
    size_t elements;
    int64_t shape[TL_MAX_RANK];
} tl__stored;

typedef struct tl__note_pair {
    const char *key, *value;
} tl__note_pair;

enum { TL_WORDS = 400 };

typedef struct tl__table {
    masu__arena arena;
    tl__stored *items;
    uint32_t *by_name; /* indices, sorted; NULL before tl__table_close */
    size_t count, capacity;
    tl__note_pair *notes;
    size_t note_count, note_capacity;
    bool out_of_memory;
    char words[TL_WORDS]; /* what is wrong; "" where nothing is */
} tl__table;

/* Notes what is wrong, unless something is already; false. */
bool tl__table_refuse(tl__table *t, const char *format, ...) __attribute__((format(printf, 2, 3), cold));
/* The next entry, zeroed; NULL, and noted: memory is out. */
tl__stored *tl__table_add(tl__table *t);
bool tl__table_note(tl__table *t, const char *key, const char *value);
/* Counts s->elements from its shape. False: a length is negative, or the bytes cannot be counted. */
bool tl__stored_count(tl__stored *s);
/* After the last entry. False: a name is there twice, or memory is out. */
bool tl__table_close(tl__table *t);
/* -1: there is none. */
int64_t tl__table_find(const tl__table *t, const char *name);
void tl__table_destroy(tl__table *t);

/* The readers. False: t says what is wrong; t is destroyed by the caller either way. */
bool tl__npy_read(const tl__bytes *file, tl__table *t);
bool tl__idx_read(const tl__bytes *file, tl__table *t);
bool tl__zip_read(const tl__bytes *file, tl__table *t);
bool tl__safetensors_read(const tl__bytes *file, tl__table *t);
/* By its first bytes: a header of that length may be there. */
bool tl__safetensors_is(const tl__bytes *file);
/* The one of them that the first bytes call for. */
bool tl__table_read(const tl__bytes *file, tl__table *t);

/* The array that begins at `bytes`, of which `length` are here and `whole` in all. Sets type, shape and skip. */
bool tl__npy_header(const unsigned char *bytes, size_t length, size_t whole, tl__stored *s, tl__table *t);

/* Unpacks at most `room` bytes from the beginning; the number of them, 0 where they cannot be unpacked. */
size_t tl__unpack_begin(tl__packing packing, const unsigned char *from, size_t length, unsigned char *to, size_t room);
/* Whether so many packed bytes can give so many: hostile sizes are refused before memory is asked for. */
bool tl__unpack_may_give(tl__packing packing, size_t length, size_t whole);

/* Writes the elements to `to`, in the order in which they lie, as elements of `kept`, for which there is room. Whole
 * numbers keep their values and fractions are rounded. False: t says what cannot be so, or what is broken. */
bool tl__stored_read(const tl__bytes *file, const tl__stored *s, tl_dtype kept, void *to, tl__table *t);

#endif
