/* config.c: what the environment says about a run.
 *
 *     TL_GPU_PREALLOCATE_MB=<n>   so many MiB of the payload device are taken at the start and kept:
 *                                 the payload heap becomes persistent, and gives nothing back to its
 *                                 device before the end. 0 or unset: nothing of the kind.
 *     MASU_THREADS=<n>            at most n threads for one loop over a large tensor; unset: one a processor. */
#include <errno.h>
#include <stdlib.h>

#include "runtime/state.h"

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
    return text && *text && *end == '\0' && threads > 0 && threads < processors ? (int)threads
                                                                                : processors;
}
