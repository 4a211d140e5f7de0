/* lookup.c: captures, and the driver's own way of looking calls up, of the simulated driver.
 *
 * A call is asked for without a version; which one is given follows from the interface that the caller was made for
 * and from the flags, as in the real driver. Linked with -Bsymbolic-functions, so that what it gives is its own.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "fake_cuda/state.h"

/* ---- captures ---------------------------------------------------------------------------------------------- */

static int open_captures;

bool captures_open(void) {
    return open_captures > 0;
}

static int begin(const char *name) {
    ENTER(name);
    open_captures++;
    return leave_call(OK);
}

static int end(const char *name, void **graph) {
    ENTER(name);
    open_captures -= open_captures > 0;
    *graph = NULL;
    return leave_call(OK);
}

#define CAPTURES(suffix)                                                                                         \
    API int cuStreamBeginCapture_v2##suffix(void *stream, int how) {                                             \
        (void)stream, (void)how;                                                                                 \
        return begin("cuStreamBeginCapture_v2" #suffix);                                                         \
    }                                                                                                            \
    API int cuStreamBeginCaptureToGraph##suffix(void *stream, void *graph, const void *needs, const void *edges, \
                                                size_t count, int how) {                                         \
        (void)stream, (void)graph, (void)needs, (void)edges, (void)count, (void)how;                             \
        return begin("cuStreamBeginCaptureToGraph" #suffix);                                                     \
    }                                                                                                            \
    API int cuStreamEndCapture##suffix(void *stream, void **graph) {                                             \
        (void)stream;                                                                                            \
        return end("cuStreamEndCapture" #suffix, graph);                                                         \
    }

CAPTURES()
CAPTURES(_ptsz)

/* Before it was told how. */
API int cuStreamBeginCapture(void *stream) {
    (void)stream;
    return begin("cuStreamBeginCapture");
}

/* ---- by name ------------------------------------------------------------------------------------------------- */

enum { SUCCESS = 0, NO_SUCH_NAME = 1, VERSION_TOO_OLD = 2, PER_THREAD = 2 };

typedef struct entry {
    const char *name, *exported;
    int since;
    bool per_thread;
} entry;

/* Of one name, the oldest first, and of one version what is for each thread last. */
static const entry entries[] = {
    {"cuMemAlloc", "cuMemAlloc", 2000, false},
    {"cuMemAlloc", "cuMemAlloc_v2", 3020, false},
    {"cuMemFree", "cuMemFree", 2000, false},
    {"cuMemFree", "cuMemFree_v2", 3020, false},
    {"cuMemAllocPitch", "cuMemAllocPitch_v2", 3020, false},
    {"cuMemGetInfo", "cuMemGetInfo_v2", 3020, false},
    {"cuMemGetAddressRange", "cuMemGetAddressRange_v2", 3020, false},
    {"cuIpcGetMemHandle", "cuIpcGetMemHandle", 4010, false},
    {"cuMemPoolCreate", "cuMemPoolCreate", 11020, false},
    {"cuMemPoolDestroy", "cuMemPoolDestroy", 11020, false},
    {"cuMemPoolTrimTo", "cuMemPoolTrimTo", 11020, false},
    {"cuDeviceGetDefaultMemPool", "cuDeviceGetDefaultMemPool", 11020, false},
    {"cuMemAllocManaged", "cuMemAllocManaged", 6000, false},
    {"cuMemAllocAsync", "cuMemAllocAsync", 11020, false},
    {"cuMemAllocAsync", "cuMemAllocAsync_ptsz", 11020, true},
    {"cuMemAllocFromPoolAsync", "cuMemAllocFromPoolAsync", 11020, false},
    {"cuMemAllocFromPoolAsync", "cuMemAllocFromPoolAsync_ptsz", 11020, true},
    {"cuMemFreeAsync", "cuMemFreeAsync", 11020, false},
    {"cuMemFreeAsync", "cuMemFreeAsync_ptsz", 11020, true},
    {"cuStreamBeginCapture", "cuStreamBeginCapture", 10000, false},
    {"cuStreamBeginCapture", "cuStreamBeginCapture_v2", 10010, false},
    {"cuStreamBeginCapture", "cuStreamBeginCapture_v2_ptsz", 10010, true},
    {"cuStreamEndCapture", "cuStreamEndCapture", 10000, false},
    {"cuStreamEndCapture", "cuStreamEndCapture_ptsz", 10000, true},
    {"cuGetProcAddress", "cuGetProcAddress", 11030, false},
    {"cuGetProcAddress", "cuGetProcAddress_v2", 12000, false},
};

/* *too_old: the name is known, and only later. */
static const char *exported_name(const char *name, int version, uint64_t flags, bool *too_old) {
    const char *exported = NULL;
    *too_old = false;
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        const entry *e = &entries[i];
        if (strcmp(e->name, name) != 0)
            continue;
        if (version < e->since)
            *too_old = !exported;
        else if (!e->per_thread || (flags & PER_THREAD))
            exported = e->exported;
    }
    return exported;
}

static void *own(const char *exported) {
    Dl_info self;
    if (!dladdr((void *)captures_open, &self))
        return NULL;
    void *library = dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    void *found = library ? dlsym(library, exported) : NULL;
    if (library)
        dlclose(library);
    return found;
}

static int find(const char *name, void **out, int version, uint64_t flags, int *status) {
    char newest[96];
    bool too_old;
    const char *exported = exported_name(name, version, flags, &too_old);
    *out = exported ? own(exported) : NULL;
    if (!exported && !too_old) {
        snprintf(newest, sizeof newest, "%s_v2", name);
        *out = own(newest);
        *out = *out ? *out : own(name);
    }
    *status = *out ? SUCCESS : too_old ? VERSION_TOO_OLD : NO_SUCH_NAME;
    return *out ? OK : NOT_FOUND;
}

API int cuGetProcAddress_v2(const char *name, void **out, int version, uint64_t flags, int *status) {
    int unwanted;
    return find(name, out, version, flags, status ? status : &unwanted);
}

API int cuGetProcAddress(const char *name, void **out, int version, uint64_t flags) {
    int unwanted;
    return find(name, out, version, flags, &unwanted);
}
