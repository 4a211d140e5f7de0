/* real.c: the runtime behind the hooks, and how often each hook was called. */
#include "interpose.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static real_calls real;
static _Atomic dlsym_function real_dlsym;
static pthread_once_t real_once = PTHREAD_ONCE_INIT;
enum { DRIVER_CALLS = 3 };
static const char *const driver_names[] = {"cuMemFree_v2", "cuGetProcAddress",
                                           "cuGetProcAddress_v2"};
static void *_Atomic driver_found[DRIVER_CALLS]; /* where somebody looked them up */
static _Atomic uint64_t counts[CALL_COUNT];

/* Our own dlsym stands in front of the C library's; its versions tell the two apart. The first caller may be a library
 * that is not set up itself, such as a sanitizer's: nothing but the loader is used here, and whoever comes
 * at the same time finds the same. */
dlsym_function masu_cuda_real_dlsym(void) {
    static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"};
    dlsym_function found = real_dlsym;
    for (int i = 0; i < 3 && !found; i++) {
        void *symbol = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
        __builtin_memcpy(&found, &symbol, sizeof symbol);
    }
    real_dlsym = found;
    return found;
}

void *masu_cuda_next(const char *name) {
    dlsym_function look = masu_cuda_real_dlsym();
    return look ? look(RTLD_NEXT, name) : NULL;
}

static void find_real(void) {
    void *symbol;
#define FIND(name, arguments)       \
    symbol = masu_cuda_next(#name); \
    memcpy(&real.name, &symbol, sizeof symbol);
    CUDA_CALLS(FIND)
    CUDA_HELPERS(FIND)
#undef FIND
}

const real_calls *masu_cuda_real(void) {
    pthread_once(&real_once, find_real);
    return &real;
}

/* A program that opened the runtime itself has it nowhere behind us. */
void masu_cuda_found(const char *name, void *symbol) {
    masu_cuda_real();
#define REMEMBER(call, arguments)               \
    if (!real.call && strcmp(name, #call) == 0) \
        memcpy(&real.call, &symbol, sizeof symbol);
    CUDA_CALLS(REMEMBER)
    CUDA_HELPERS(REMEMBER)
#undef REMEMBER
    for (int i = 0; i < DRIVER_CALLS; i++)
        if (strcmp(name, driver_names[i]) == 0)
            driver_found[i] = symbol;
}

void *masu_cuda_driver_call(const char *name) {
    for (int i = 0; i < DRIVER_CALLS; i++)
        if (strcmp(name, driver_names[i]) == 0 && driver_found[i])
            return driver_found[i];
    return masu_cuda_next(name);
}

void masu_cuda_count(enum call call) {
    atomic_fetch_add_explicit(&counts[call], 1, memory_order_relaxed);
}

uint64_t masu_cuda_counted(enum call call) {
    return atomic_load_explicit(&counts[call], memory_order_relaxed);
}

const char *masu_cuda_call_name(enum call call) {
    static const char *const names[] = {
#define CALL_NAME(name, arguments) [CALL_##name] = #name,
        CUDA_CALLS(CALL_NAME)
#undef CALL_NAME
            [CALL_cuMemFree] = "cuMemFree",
    };
    return names[call];
}
