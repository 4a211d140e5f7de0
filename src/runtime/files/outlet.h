/* outlet.h: a file that is replaced as a whole. Private to the runtime.
 */
#ifndef MASU_RUNTIME_OUTLET_H
#define MASU_RUNTIME_OUTLET_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct tl__outlet {
    FILE *stream;
    bool has_name;                          /* `written` */
    char path[PATH_MAX], written[PATH_MAX]; /* what is to be there; what is written */
} tl__outlet;

/* 0, or errno. */
int tl__outlet_open(tl__outlet *o, const char *path);
int tl__outlet_put(tl__outlet *o, const void *bytes, size_t length);
/* The bytes are on the disk, and the path names them. On an error the path names what it did. */
int tl__outlet_close(tl__outlet *o);
/* The path names what it did. */
void tl__outlet_drop(tl__outlet *o);

#endif
