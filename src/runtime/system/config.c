/* config.c: what the environment says about a run.
 *
 *     TL_GPU_PREALLOCATE_MB=<n>   so many MiB of the payload device are taken at the start and kept:
 *                                 the payload heap becomes persistent, and gives nothing back to its
 *                                 device before the end. 0 or unset: nothing of the kind.
 *     MASU_THREADS=<n>            at most n threads for one loop over a large tensor; unset: one a processor. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/state.h"
#include "runtime/system/file.h"
#include "runtime/value/display.h"
#include "runtime/value/objects.h"

enum { MIB_SHIFT = 20 };

bool tl__config_preallocate(size_t *bytes) {
    *bytes = 0;
    const char *text = getenv("TL_GPU_PREALLOCATE_MB");
    if (!text || !*text)
        return true;
    char *end;
    errno = 0;
    unsigned long long mebibytes = strtoull(text, &end, 10);
    bool number = *text >= '0' && *text <= '9' && *end == '\0' && errno == 0;
    if (!number || mebibytes > SIZE_MAX >> MIB_SHIFT)
        return false;
    *bytes = (size_t)mebibytes << MIB_SHIFT;
    return true;
}

int tl__config_threads(int processors) {
    const char *text = getenv("MASU_THREADS");
    char *end;
    long threads = text ? strtol(text, &end, 10) : 0;
    return text && *text && *end == '\0' && threads > 0 && threads < processors ? (int)threads : processors;
}

/* ---- what a program asks ------------------------------------------------------------------------ */

/* The value of a variable of the environment; noted (file.c): ENOENT where there is none. */
tl_object *tl_environment_get(tl_object *name) {
    const char *key = tl__path(name), *value = key ? getenv(key) : NULL;
    bool is_text = value && tl__is_utf8(value, strlen(value));
    if (key)
        tl__file_note(is_text ? 0 : value ? TL_FILE_NOT_TEXT : ENOENT);
    tl_object *out = NULL;
    masu_status status = tl__string_new(value, is_text ? (int64_t)strlen(value) : 0, &out);
    return tl__object_or_raise(status, out);
}
