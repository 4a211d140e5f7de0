/* resolve.c: the hooks for those who look calls up, and the last word at exit.
 *
 * Who looks a call up gets our hook where that stands in front of what was found, and else what was found:
 *
 *     a definition in front of us (a wrapper, the program)       as it is: it comes to us by itself
 *     looked up by a wrapper that stands behind us               as it is: we came to it
 *     a call of the driver, looked up by a runtime               as it is: its callers came by already
 *     looked up by this library                                  as it is
 *
 * dlsym for anything else must not notice that we are here: RTLD_NEXT means "behind whoever calls", which the C library
 * takes from the return address; so the call is handed over as the function's last act, which the compiler turns into a
 * jump. This file is compiled with optimisation in every build for that reason. Hooks are meant by address as linked
 * with -Bsymbolic-functions: a program or library that exports the same names does not change them.
 */
#include "interpose.h"
#include "loaded.h"

#include <dlfcn.h>
#include <string.h>

typedef struct hook {
    const char *name;
    void *function;
    enum call call;
} hook;

HOOK void *dlsym(void *handle, const char *name);
HOOK void *dlvsym(void *handle, const char *name, const char *version);

static const hook *hook_named(const char *name) {
    static const hook hooks[] = {
#define ENTRY(call, arguments) {#call, (void *)call, CALL_##call},
        CUDA_CALLS(ENTRY) DRIVER_CALLS(ENTRY) LOOKUP_CALLS(ENTRY)
#undef ENTRY
    };
    if (!name || name[0] != 'c' || name[1] != 'u')
        return NULL;
    for (size_t i = 0; i < sizeof hooks / sizeof *hooks; i++)
        if (strcmp(hooks[i].name, name) == 0)
            return &hooks[i];
    return NULL;
}

/* ---- dlsym ------------------------------------------------------------------------------------------------------- */

/* Whether a lookup of another object is to be answered by a definition behind us. */
static bool stands_behind(const masu_object *o, const hook *h) {
    bool driver = strncmp(h->name, "cuda", 4) != 0;
    return !o->in_front && (masu_cuda_defined(o, h->name) || (driver && masu_cuda_defined(o, "cudaMalloc")));
}

/* Our hook, or another answer in its place; NULL: let the C library answer. */
static __attribute__((noinline)) void *answer(const hook *h, const void *caller, void *handle, const char *version) {
    masu_object asks, there;
    if (masu_cuda_object_of(caller, &asks) &&
        (asks.ours || stands_behind(&asks, h) || (handle == RTLD_NEXT && asks.in_front)))
        return NULL;
    if (handle == RTLD_NEXT && version && !masu_cuda_real_dlvsym()(handle, h->name, version))
        return NULL;
    if (handle == RTLD_NEXT)
        return masu_cuda_behind(h->call, caller) ? h->function : NULL;
    void *found = version ? masu_cuda_real_dlvsym()(handle, h->name, version) : masu_cuda_real_dlsym()(handle, h->name);
    if (!found || !masu_cuda_object_of(found, &there) || there.in_front)
        return found;
    if (!there.ours)
        masu_cuda_found(h->call, found);
    /* Found in the whole program: then it is ours that is found first, whether or not there is another. */
    return masu_cuda_behind(h->call, caller) ? h->function : NULL;
}

/* Nobody has it but we: the C library says so, and keeps the words for dlerror. */
static bool only_we(const hook *h, const void *caller) {
    masu_object asks;
    bool placed = masu_cuda_object_of(caller, &asks);
    return !(placed && (asks.ours || stands_behind(&asks, h))) && !masu_cuda_behind(h->call, caller);
}

static __attribute__((noinline)) void *not_there(const char *name) {
    void *volatile nothing = masu_cuda_real_dlsym()(RTLD_NEXT, name); /* asked from here: behind us */
    (void)nothing;
    return NULL;
}

void *dlsym(void *handle, const char *name) {
    dlsym_function real = masu_cuda_real_dlsym();
    const hook *h = hook_named(name);
    if (h) {
        void *ours = answer(h, CALLER, handle, NULL);
        if (ours)
            return ours;
        if (only_we(h, CALLER))
            return not_there(name);
    }
    return real(handle, name);
}

void *dlvsym(void *handle, const char *name, const char *version) {
    dlvsym_function real = masu_cuda_real_dlvsym();
    const hook *h = hook_named(name);
    if (h) {
        void *ours = answer(h, CALLER, handle, version);
        if (ours)
            return ours;
        if (only_we(h, CALLER))
            return not_there(name);
    }
    return real(handle, name, version);
}

/* ---- the driver's own way ---------------------------------------------------------------------------------------- */

enum { PER_THREAD = 2 }; /* flag: streams by default each thread's own */

/* The driver names its calls without versions; which one is meant follows from the interface that the caller was made
 * for, and from the flags. From the last row that fits. */
static const struct meant {
    const char *name;
    int since;
    bool per_thread;
    const char *exported; /* NULL: one that is not hooked */
} meanings[] = {
    {"cuMemAlloc", 0, false, NULL},
    {"cuMemAlloc", 3020, false, "cuMemAlloc_v2"},
    {"cuMemAllocPitch", 0, false, NULL},
    {"cuMemAllocPitch", 3020, false, "cuMemAllocPitch_v2"},
    {"cuMemAllocManaged", 6000, false, "cuMemAllocManaged"},
    {"cuMemFree", 0, false, NULL},
    {"cuMemFree", 3020, false, "cuMemFree_v2"},
    {"cuMemGetInfo", 0, false, NULL},
    {"cuMemGetInfo", 3020, false, "cuMemGetInfo_v2"},
    {"cuMemGetAddressRange", 0, false, NULL},
    {"cuMemGetAddressRange", 3020, false, "cuMemGetAddressRange_v2"},
    {"cuMemAllocAsync", 11020, false, "cuMemAllocAsync"},
    {"cuMemAllocAsync", 11020, true, "cuMemAllocAsync_ptsz"},
    {"cuMemAllocFromPoolAsync", 11020, false, "cuMemAllocFromPoolAsync"},
    {"cuMemAllocFromPoolAsync", 11020, true, "cuMemAllocFromPoolAsync_ptsz"},
    {"cuMemFreeAsync", 11020, false, "cuMemFreeAsync"},
    {"cuMemFreeAsync", 11020, true, "cuMemFreeAsync_ptsz"},
    {"cuIpcGetMemHandle", 4010, false, "cuIpcGetMemHandle"},
    {"cuStreamBeginCapture", 10000, false, NULL},
    {"cuStreamBeginCapture", 10010, false, "cuStreamBeginCapture_v2"},
    {"cuStreamBeginCapture", 10010, true, "cuStreamBeginCapture_v2_ptsz"},
    {"cuStreamBeginCaptureToGraph", 12030, false, "cuStreamBeginCaptureToGraph"},
    {"cuStreamBeginCaptureToGraph", 12030, true, "cuStreamBeginCaptureToGraph_ptsz"},
    {"cuStreamEndCapture", 10000, false, "cuStreamEndCapture"},
    {"cuStreamEndCapture", 10000, true, "cuStreamEndCapture_ptsz"},
    {"cuGetProcAddress", 11030, false, "cuGetProcAddress"},
    {"cuGetProcAddress", 12000, false, "cuGetProcAddress_v2"},
};

static const char *exported_name(const char *name, int version, uint64_t flags) {
    const char *exported = name; /* those that are asked for as they are exported */
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++) {
        const struct meant *m = &meanings[i];
        if (strcmp(m->name, name) == 0 && version >= m->since && (!m->per_thread || (flags & PER_THREAD)))
            exported = m->exported;
    }
    return exported;
}

/* Replaces what the driver found for the caller by our hook. */
static void put_hook(const char *name, int version, uint64_t flags, const void *caller, void **found) {
    masu_object asks, there;
    const char *exported = exported_name(name, version, flags);
    const hook *h = exported ? hook_named(exported) : NULL;
    if (!h || (masu_cuda_object_of(caller, &asks) && stands_behind(&asks, h)))
        return;
    if (masu_cuda_object_of(*found, &there) && !there.ours)
        masu_cuda_found(h->call, *found);
    *found = h->function;
}

#define LOOKUP(hooked, arguments, version, flags, ...)          \
    HOOK cuda_error hooked arguments {                          \
        masu_cuda_count(CALL_##hooked);                         \
        cuda_error result = PASS(hooked, __VA_ARGS__);          \
        if (result == CUDA_OK && name && out && *out)           \
            put_hook(name, (int)(version), flags, CALLER, out); \
        return result;                                          \
    }

/* The interface that the runtime was made for, which it asks the driver by. */
static int runtime_version(const void *caller) {
    int version;
    return PASS_FROM(caller, cudaRuntimeGetVersion, &version) == CUDA_OK ? version : 0;
}

LOOKUP(cuGetProcAddress, (const char *name, void **out, int version, uint64_t flags), version, flags, name, out,
       version, flags)
LOOKUP(cuGetProcAddress_v2, (const char *name, void **out, int version, uint64_t flags, int *status), version, flags,
       name, out, version, flags, status)
LOOKUP(cudaGetDriverEntryPoint, (const char *name, void **out, unsigned long long flags, int *status),
       runtime_version(CALLER), flags, name, out, flags, status)
LOOKUP(cudaGetDriverEntryPointByVersion,
       (const char *name, void **out, unsigned version, unsigned long long flags, int *status), version, flags, name,
       out, version, flags, status)
/* Of a program whose default stream is each thread's own; flag 1 asks for the other. */
LOOKUP(cudaGetDriverEntryPoint_ptsz, (const char *name, void **out, unsigned long long flags, int *status),
       runtime_version(CALLER), flags ? flags : PER_THREAD, name, out, flags, status)
LOOKUP(cudaGetDriverEntryPointByVersion_ptsz,
       (const char *name, void **out, unsigned version, unsigned long long flags, int *status), version,
       flags ? flags : PER_THREAD, name, out, version, flags, status)

/* ---- the last word ---------------------------------------------------------------------------------------------- */

static void __attribute__((destructor)) last_word(void) {
    for (int call = 0; call < HOOK_COUNT; call++) {
        uint64_t count = masu_cuda_counted((enum call)call);
        if (count > 0)
            masu_cuda_say(LOG_SUMMARY, "%s: %llu calls", masu_cuda_call_name((enum call)call),
                          (unsigned long long)count);
    }
    masu_cuda_summary();
    masu_cuda_end_recording();
}
