/* pickle.h: values out of a Python pickle, and nothing else. A pickle is a program for a small machine; this machine
 * knows only the instructions that build plain data, so that reading a file never runs anything.
 *
 *     bytes ─► instructions ─► stack ─► one value      None True False int float str bytes list tuple dict
 *                                │▲
 *                                ▼│
 *                               memo                   values used again are the same value, never a copy
 *
 * What must stay true: every instruction costs at most a constant number of bytes of memory, so that a file of n bytes
 * needs at most MASU__PICKLE_BYTES_A_BYTE * n; nothing here recurses, so that depth costs no stack; texts are not
 * copied, they lie in the file. Every other instruction (those that name, call or build objects) is refused by its name
 * and place.
 *
 * A value may contain itself (lists can), and a small file may share one list a million times: who walks values bounds
 * how far. masu__pickle_box tells two uses of one list apart from two equal lists.
 *
 * Thread safety: one thread reads; once read, any number of threads may look.
 */
#ifndef MASU_RECORDING_PICKLE_H
#define MASU_RECORDING_PICKLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <masu/status.h>

#include "base/buffer.h"
#include "recording/recording.h" /* masu__pickle_begins */

enum { MASU__PICKLE_BYTES_A_BYTE = 192 };

typedef enum masu__pickle_kind {
    MASU__PICKLE_NONE,
    MASU__PICKLE_BOOL,     /* integer is 0 or 1 */
    MASU__PICKLE_INT,      /* integer */
    MASU__PICKLE_UNSIGNED, /* above INT64_MAX: the 64 bits of integer, without sign */
    MASU__PICKLE_FLOAT,    /* real */
    MASU__PICKLE_TEXT,     /* text, length: UTF-8 as far as the writer kept its word */
    MASU__PICKLE_BYTES,    /* text, length: any bytes */
    MASU__PICKLE_LIST,     /* box */
    MASU__PICKLE_TUPLE,    /* box */
    MASU__PICKLE_DICT,     /* box: keys and values by turns, in the order of the file */
    MASU__PICKLE_KIND_COUNT
} masu__pickle_kind;

typedef struct masu__pickle_value {
    uint32_t kind; /* masu__pickle_kind */
    uint32_t length;
    union {
        int64_t integer;
        double real;
        const char *text; /* borrowed from the file, no zero behind it */
        size_t box;       /* number of a box */
    } is;
} masu__pickle_value;

typedef struct masu__pickle_box {
    masu__pickle_value *items;
    size_t count, capacity;
} masu__pickle_box;

/* Zero-initialise. */
typedef struct masu__pickle {
    masu__pickle_box *boxes; /* owned */
    size_t box_count, box_capacity;
    masu__pickle_value top; /* what the whole file is */
} masu__pickle;

/* Reads one pickle; bytes are borrowed and must outlive *out. MASU_ERR_INVALID_ARGUMENT: *why says what is wrong and at
 * which byte. MASU_ERR_OUT_OF_MEMORY. *out is empty then. O(length). The caller destroys it. */
masu_status masu__pickle_read(const void *bytes, size_t length, masu__pickle *out, masu__buffer *why);
void masu__pickle_destroy(masu__pickle *pickle);

/* The items of a list, tuple or dict; count 0 for anything else. Borrowed from the pickle. */
const masu__pickle_value *masu__pickle_items(const masu__pickle *pickle, masu__pickle_value of, size_t *count);

/* The last value under that key, as Python has it; NULL: of is not a dict, or has no such key. O(its items). */
const masu__pickle_value *masu__pickle_get(const masu__pickle *pickle, masu__pickle_value of, const char *key);

/* "int", "list", …: as Python names the type. Static text. */
const char *masu__pickle_kind_name(unsigned kind);

#endif
