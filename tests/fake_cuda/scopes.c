/* scopes.c: three kinds of code around a program of the runtime's calls, to try every place that the interposer can
 * have among them.
 *
 *     PLUGIN     a library that a host opens into a scope of its own; the runtime comes with it
 *     WRAPPER    a library that stands in front of cudaMalloc and cudaFree, and hands on to what comes next
 *     HOST       opens plugins; links no runtime
 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cudaMalloc(void **, size_t);
int cudaFree(void *);
int cudaMemset(void *, int, size_t);
int cudaMemGetInfo(size_t *, size_t *);

#if defined PLUGIN
int plugin_work(void);
__attribute__((visibility("default"))) int plugin_work(void) {
    void *large = NULL, *little = NULL, *looked_up = NULL;
    size_t free_now, total;
    int (*give)(void *);
    *(void **)&give = dlsym(RTLD_NEXT, "cudaFree"); /* which has to fit cudaMalloc, as it is linked */
    int error = cudaMemGetInfo(&free_now, &total);
    error = error ? error : cudaMalloc(&large, 4 << 20);
    error = error ? error : cudaMalloc(&little, 1000);
    error = error ? error : cudaMalloc(&looked_up, 4 << 20);
    error = error ? error : cudaMemset(large, 1, 4 << 20);
    error = error ? error : cudaFree(large);
    error = error ? error : cudaFree(little);
    return error ? error : give ? give(looked_up) : -1;
}
/* Work inside the loader's own call, as libraries that begin by asking for memory do. */
__attribute__((constructor)) static void at_start(void) {
    void *ptr;
    if (getenv("PLUGIN_EARLY") && (cudaMalloc(&ptr, 2 << 20) || cudaFree(ptr)))
        abort();
}
#elif defined WRAPPER
/* WRAPPER_HANDLE: by the runtime's handle, else by RTLD_NEXT. */
static void *next(const char *name) {
    const char *by = getenv("WRAPPER_HANDLE");
    return dlsym(by ? dlopen("libcudart.so.12", RTLD_LAZY) : RTLD_NEXT, name);
}
static int depth;
#define HAND_ON(name, arguments, ...)                                 \
    __attribute__((visibility("default"))) int name arguments {       \
        int(*behind) arguments;                                       \
        *(void **)&behind = next(#name);                              \
        if (!behind || ++depth > 8) {                                 \
            fprintf(stderr, "wrapper: %s comes back to it\n", #name); \
            exit(9);                                                  \
        }                                                             \
        int error = behind(__VA_ARGS__);                              \
        depth--;                                                      \
        return error;                                                 \
    }
HAND_ON(cudaMalloc, (void **out, size_t bytes), out, bytes)
HAND_ON(cudaFree, (void *ptr), ptr)
static __attribute__((destructor)) void say(void) {
    if (getenv("WRAPPER_SAYS"))
        fprintf(stderr, "wrapper was here\n");
}
#else
static int work_in(const char *path, int how) {
    void *plugin = dlopen(path, RTLD_NOW | how);
    if (!plugin) {
        fprintf(stderr, "%s\n", dlerror());
        exit(2);
    }
    int (*work)(void);
    *(void **)&work = dlsym(plugin, "plugin_work");
    int error = work();
    if (error == 0 && (how & RTLD_NODELETE) == 0)
        dlclose(plugin);
    return error;
}

/* HOST PLUGIN local|global|twice|probe */
int main(int argc, char **argv) {
    const char *way = argc == 3 ? argv[2] : "";
    void *between[4 * 64] = {NULL};
    int error = 0;
    if (strcmp(way, "probe") == 0 && dlsym(RTLD_DEFAULT, "cudaMalloc"))
        return 3; /* there is none yet */
    if (strcmp(way, "probe") == 0)
        dlsym(dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL), "cuGetProcAddress_v2");
    if (strcmp(way, "local") == 0 || strcmp(way, "probe") == 0)
        error = work_in(argv[1], RTLD_LOCAL | RTLD_NODELETE);
    else if (strcmp(way, "global") == 0)
        error = work_in(argv[1], RTLD_GLOBAL | RTLD_NODELETE);
    else
        for (int i = 0; i < 4 && !error; i++) {
            error = work_in(argv[1], i % 2 ? RTLD_GLOBAL : RTLD_LOCAL);
            for (size_t k = 0; k < 64; k++) /* so that it comes to lie elsewhere */
                if (!(between[(size_t)i * 64 + k] = malloc((size_t)1 << 20)))
                    return 4;
        }
    for (size_t k = 0; k < sizeof between / sizeof *between; k++)
        free(between[k]);
    printf("%s: %d\n", way, error);
    return error != 0;
}
#endif
