/* file.h: what file.c and directory.c share, and the ways to open a file.
 */
#ifndef MASU_RUNTIME_SYSTEM_FILE_H
#define MASU_RUNTIME_SYSTEM_FILE_H

#include <masu/abi.h>

#include "runtime/value/tensor.h"

/* The library's io.tl says the same numbers. */
enum {
    TL_FILE_READ = 1,
    TL_FILE_WRITE = 2,
    TL_FILE_APPEND = 4,
    TL_FILE_TRUNCATE = 8,
    TL_FILE_CREATE = 16,
    TL_FILE_CREATE_NEW = 32
};

/* The answers of tl_file_error beside errno. TL_FILE_SAID: tl_file_words has the text. */
enum { TL_FILE_END = -1, TL_FILE_NOT_TEXT = -2, TL_FILE_SAID = -4 };

/* Notes how a call ended. */
void tl__file_note(int error);
/* Notes that it ended as these words say. */
void tl__file_say(const char *words);

/* A handle behind a text that is empty to programs: a counted object whose last release calls `end`, then frees it.
 * Structs of handles begin with it. */
typedef struct tl_handle {
    tl_object head;
    int64_t length; /* 0 */
    char text[8];   /* "" */
    size_t bytes;   /* of the whole struct */
    void (*end)(struct tl_handle *handle);
} tl_handle;

/* A zeroed struct of so many bytes that begins with a handle. */
masu_status tl__handle_new(size_t bytes, void (*end)(tl_handle *handle), void **out);
/* The handle as the sort that `end` tells; NULL, and noted: it is another, or was moved away. */
void *tl__handle_of(tl_object *object, void (*end)(tl_handle *handle));

/* The path's bytes, and a note that all is well; NULL, and a note that it is not: a zero byte lies in it. */
const char *tl__path(const tl_object *path);

#endif
