/* arena.h: a bump arena. Many small things with one common end: trees, tables, texts of a
 * compilation.
 *
 *     first ─► [ used ........ ] ─► [ used ... | free ] ◄─ current
 *
 * Nothing is freed alone: release to a mark, or destroy. A mark names a position; releasing to it
 * frees whatever came later, in O(blocks freed). Blocks double from the first size up to 1 MiB; in huge pages
 * they are 2 MiB from 128 KiB on.
 *
 * An arena is a plain struct: zero-initialise it, no call is needed. One thread at a time.
 */
#ifndef MASU_BASE_ARENA_H
#define MASU_BASE_ARENA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct masu__arena_block masu__arena_block;

typedef struct masu__arena {
    masu__arena_block *current; /* NULL before the first allocation */
    size_t first_block_bytes;   /* 0: 4 KiB */
    bool in_huge_pages;         /* from 128 KiB on: for much memory that is soon used and soon given back whole */
    size_t used_bytes;          /* sum of all live allocations, padding included */
    size_t reserved_bytes;      /* sum of all blocks, headers included */
} masu__arena;

typedef struct masu__arena_mark {
    masu__arena_block *block;
    size_t used_in_block;
    size_t used_bytes;
} masu__arena_mark;

/* Uninitialised memory; alignment a power of two <= 4096. bytes 0 gives a valid,
 * distinct-from-NULL address. NULL when memory runs out or the size overflows: nothing has
 * changed then. Borrowed from the arena. */
void *masu__arena_alloc(masu__arena *arena, size_t bytes, size_t alignment);

/* Zeroed. */
void *masu__arena_calloc(masu__arena *arena, size_t count, size_t bytes, size_t alignment);

/* Copies of text, with a terminating zero. */
char *masu__arena_strdup(masu__arena *arena, const char *text);
char *masu__arena_strndup(masu__arena *arena, const char *text, size_t length);

/* printf-like, NULL when memory runs out. */
char *masu__arena_printf(masu__arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *masu__arena_vprintf(masu__arena *arena, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

/* A larger copy of the array at old (old_count elements), or the same place when it is the last
 * allocation and there is room behind it. */
void *masu__arena_grow(masu__arena *arena, void *old, size_t old_count, size_t new_count, size_t element_bytes,
                       size_t alignment);

masu__arena_mark masu__arena_get_mark(const masu__arena *arena);
/* Frees everything allocated after the mark was taken. */
void masu__arena_release(masu__arena *arena, masu__arena_mark mark);

/* Frees everything; the arena may be used again. */
void masu__arena_destroy(masu__arena *arena);

bool masu__arena_valid(const masu__arena *arena);

#define MASU_ARENA_NEW(arena, type) ((type *)masu__arena_calloc((arena), 1, sizeof(type), _Alignof(type)))
#define MASU_ARENA_ARRAY(arena, type, count) \
    ((type *)masu__arena_calloc((arena), (count), sizeof(type), _Alignof(type)))

/* Appends to an array of the arena that doubles when it is full. on_failure, statements that leave, run when memory
 * runs out: nothing has changed then. (The braces of an else whose if has some outlive the formatter.) */
#define MASU_ARENA_PUSH(arena, array, count, capacity, item, on_failure)                            \
    do {                                                                                            \
        if ((count) == (capacity)) {                                                                \
            unsigned larger_ = (capacity) == 0 ? 4 : (capacity)*2;                                  \
            void *grown_ = masu__arena_grow((arena), (array), (capacity), larger_, sizeof *(array), \
                                            _Alignof(max_align_t));                                 \
            if (grown_ != NULL) {                                                                   \
                (array) = grown_;                                                                   \
                (capacity) = larger_;                                                               \
            } else {                                                                                \
                on_failure;                                                                         \
            }                                                                                       \
        }                                                                                           \
        if ((count) < (capacity))                                                                   \
            (array)[(count)++] = (item);                                                            \
    } while (0)

#endif
