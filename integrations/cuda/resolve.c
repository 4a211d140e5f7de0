/* resolve.c: the hooks for those who look calls up, and the last word at exit.
 *
 * dlsym for anything else must not notice that we are here: RTLD_NEXT means "behind whoever calls", which the C library
 * takes from the return address; so the call is handed over as the function's last act, which the compiler turns into a
 * jump. This file is compiled with optimisation in every build for that reason.
 */
#include "interpose.h"

#include <link.h>
#include <stdatomic.h>
#include <string.h>

#define HOOK __attribute__((visibility("default")))

typedef struct hook {
    const char *name;
    void *function;
} hook;

/* Ours by name, as the linker sees them. */
#define DECLARE(name, arguments) extern cuda_error name arguments;
CUDA_CALLS(DECLARE)
#undef DECLARE
extern cuda_error cuMemFree_v2(uintptr_t address);
HOOK int cuGetProcAddress(const char *name, void **out, int version, uint64_t flags);
HOOK int cuGetProcAddress_v2(const char *name, void **out, int version, uint64_t flags,
                             int *status);
HOOK void *dlsym(void *handle, const char *name);

static _Atomic bool driver_was_asked;

static void *hook_named(const char *name) {
    static const hook hooks[] = {
#define ENTRY(call, arguments) {#call, (void *)call},
        CUDA_CALLS(ENTRY)
#undef ENTRY
            {"cuMemFree_v2", (void *)cuMemFree_v2},
        {"cuGetProcAddress", (void *)cuGetProcAddress},
        {"cuGetProcAddress_v2", (void *)cuGetProcAddress_v2},
    };
    for (size_t i = 0; i < sizeof hooks / sizeof *hooks; i++)
        if (strcmp(hooks[i].name, name) == 0)
            return hooks[i].function;
    return NULL;
}

/* Our hook when somebody, somewhere, has the real one. */
static __attribute__((noinline)) void *hook_for(void *handle, const char *name) {
    void *ours = name && name[0] == 'c' && name[1] == 'u' ? hook_named(name) : NULL;
    if (!ours)
        return NULL;
    if (strncmp(name, "cuda", 4) != 0)
        driver_was_asked = true;
    void *found = masu_cuda_real_dlsym()(handle, name);
    if (!found || found == ours)
        return found;
    masu_cuda_found(name, found);
    return ours;
}

void *dlsym(void *handle, const char *name) {
    dlsym_function real = masu_cuda_real_dlsym();
    void *ours = hook_for(handle, name);
    if (ours)
        return ours;
    return real(handle, name);
}

/* The driver names its calls without versions. */
static void *driver_hook(const char *name, void *found) {
    driver_was_asked = true;
    if (strcmp(name, "cuMemFree") == 0) {
        if (found != (void *)cuMemFree_v2)
            masu_cuda_found("cuMemFree_v2", found);
        return (void *)cuMemFree_v2;
    }
    if (strcmp(name, "cuGetProcAddress") == 0)
        return (void *)cuGetProcAddress_v2;
    return strcmp(name, "cuGetProcAddress_v2") == 0 ? (void *)cuGetProcAddress_v2 : NULL;
}

typedef int (*lookup_v1)(const char *, void **, int, uint64_t);
typedef int (*lookup_v2)(const char *, void **, int, uint64_t, int *);

int cuGetProcAddress_v2(const char *name, void **out, int version, uint64_t flags, int *status) {
    lookup_v2 next;
    *(void **)&next = masu_cuda_driver_call("cuGetProcAddress_v2");
    int result = next ? next(name, out, version, flags, status) : CUDA_NOT_SUPPORTED;
    void *ours = result == CUDA_OK && name && out && *out ? driver_hook(name, *out) : NULL;
    if (ours)
        *out = ours;
    return result;
}

int cuGetProcAddress(const char *name, void **out, int version, uint64_t flags) {
    lookup_v1 next;
    *(void **)&next = masu_cuda_driver_call("cuGetProcAddress");
    int result = next ? next(name, out, version, flags) : CUDA_NOT_SUPPORTED;
    void *ours = result == CUDA_OK && name && out && *out ? driver_hook(name, *out) : NULL;
    /* Asked the old way, it must answer the old way. */
    if (ours)
        *out = ours == (void *)cuGetProcAddress_v2 ? (void *)cuGetProcAddress : ours;
    return result;
}

/* ---- the last word ---------------------------------------------------------------------------------------------- */

static int is_driver(struct dl_phdr_info *info, size_t size, void *found) {
    (void)size;
    const char *slash = strrchr(info->dlpi_name, '/');
    const char *base = slash ? slash + 1 : info->dlpi_name;
    *(bool *)found |= strncmp(base, "libcuda.so", 10) == 0;
    return 0;
}

static void __attribute__((destructor)) last_word(void) {
    uint64_t seen = 0;
    bool driver = driver_was_asked;
    for (int call = 0; call < CALL_COUNT; call++) {
        uint64_t count = masu_cuda_counted((enum call)call);
        seen += call == CALL_cuMemFree ? 0 : count;
        if (count > 0)
            masu_cuda_say(LOG_SUMMARY, "%s: %llu calls", masu_cuda_call_name((enum call)call),
                          (unsigned long long)count);
    }
    dl_iterate_phdr(is_driver, &driver);
    if (seen == 0 && driver)
        masu_cuda_say(LOG_WARNINGS,
                      "the CUDA driver was used, but no call of the CUDA runtime came by: "
                      "the program carries the runtime inside itself (static libcudart) and "
                      "cannot be taken over; link it with the shared one");
    masu_cuda_summary();
}
