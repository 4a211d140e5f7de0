/* file.h: what file.c and directory.c share, and the ways to open a file.
 */
#ifndef MASU_RUNTIME_SYSTEM_FILE_H
#define MASU_RUNTIME_SYSTEM_FILE_H

#include <masu/abi.h>

/* The library's io.tl says the same numbers. */
enum {
    TL_FILE_READ = 1,
    TL_FILE_WRITE = 2,
    TL_FILE_APPEND = 4,
    TL_FILE_TRUNCATE = 8,
    TL_FILE_CREATE = 16,
    TL_FILE_CREATE_NEW = 32
};

/* What tl_file_error tells beside errno. */
enum { TL_FILE_END = -1, TL_FILE_NOT_TEXT = -2 };

/* Notes how a call ended. */
void tl__file_note(int error);
/* The path's bytes, and a note that all is well; NULL, and a note that it is not: a zero byte lies in it. */
const char *tl__path(const tl_object *path);

#endif
