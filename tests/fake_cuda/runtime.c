/* runtime.c: as much of the CUDA runtime as test programs call, over whatever driver they find. It opens the driver
 * with dlopen and dlsym, as the real one does. Built twice: as libcudart.so.12, and into a program (FAKE_STATIC,
 * nothing exported), which is how a static runtime looks from outside.
 *
 * FAKE_CUDART_COUNT=FILE: at exit, how often each call came here, one "name count" a line.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef FAKE_STATIC
#define API __attribute__((visibility("hidden")))
#else
#define API __attribute__((visibility("default")))
#endif

enum { OK = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, INITIALIZATION = 3, CAPTURED = 900 };

static int (*drv_init)(unsigned);
static int (*drv_alloc)(uintptr_t *, size_t);
static int (*drv_free)(uintptr_t);
static int (*drv_copy)(uintptr_t, uintptr_t, size_t);
static int (*drv_info)(size_t *, size_t *);
static int (*drv_set)(void *);
static int (*drv_sync)(void);
static int (*drv_count)(int *);
static int (*drv_find)(const char *, void **, int, uint64_t, int *);
static int (*drv_fill)(uintptr_t, unsigned char, size_t);
static __thread int device;
static bool capturing;

enum { MOST_NAMES = 64 };
static const char *names[MOST_NAMES];
static unsigned long counts[MOST_NAMES];

static void count(const char *name) {
    for (int i = 0; i < MOST_NAMES; i++) {
        if (!names[i])
            names[i] = name;
        if (strcmp(names[i], name) == 0) {
            counts[i]++;
            return;
        }
    }
}

static void __attribute__((destructor)) write_counts(void) {
    const char *path = getenv("FAKE_CUDART_COUNT");
    FILE *out = path ? fopen(path, "w") : NULL;
    for (int i = 0; out && i < MOST_NAMES && names[i]; i++)
        fprintf(out, "%s %lu\n", names[i], counts[i]);
    if (out)
        fclose(out);
}

static int start(void) {
    if (!drv_init) {
        void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
        if (!library)
            return INITIALIZATION;
        *(void **)&drv_alloc = dlsym(library, "cuMemAlloc_v2");
        *(void **)&drv_free = dlsym(library, "cuMemFree_v2");
        *(void **)&drv_copy = dlsym(library, "cuMemcpy");
        *(void **)&drv_info = dlsym(library, "cuMemGetInfo_v2");
        *(void **)&drv_set = dlsym(library, "cuCtxSetCurrent");
        *(void **)&drv_sync = dlsym(library, "cuCtxSynchronize");
        *(void **)&drv_count = dlsym(library, "cuDeviceGetCount");
        *(void **)&drv_find = dlsym(library, "cuGetProcAddress_v2");
        *(void **)&drv_fill = dlsym(library, "cuMemsetD8_v2");
        *(void **)&drv_init = dlsym(library, "cuInit");
        if (drv_init(0) != 0)
            return INITIALIZATION;
    }
    return drv_set((void *)(uintptr_t)(device + 1));
}

#define START(name)          \
    do {                     \
        count(name);         \
        int error = start(); \
        if (error)           \
            return error;    \
    } while (0)

API int cudaMalloc(void **out, size_t bytes) {
    START("cudaMalloc");
    if (capturing)
        return CAPTURED;
    *out = NULL;
    return bytes ? drv_alloc((uintptr_t *)out, bytes) : OK;
}

API int cudaFree(void *ptr) {
    START("cudaFree");
    return ptr ? drv_free((uintptr_t)ptr) : OK;
}

API int cudaMemcpy(void *to, const void *from, size_t bytes, int kind) {
    START("cudaMemcpy");
    return kind < 0 || kind > 4 ? INVALID_VALUE : drv_copy((uintptr_t)to, (uintptr_t)from, bytes);
}

API int cudaMemcpy_ptds(void *to, const void *from, size_t bytes, int kind) {
    START("cudaMemcpy_ptds");
    return kind < 0 || kind > 4 ? INVALID_VALUE : drv_copy((uintptr_t)to, (uintptr_t)from, bytes);
}

API int cudaMemset(void *to, int value, size_t bytes) {
    START("cudaMemset");
    return drv_fill((uintptr_t)to, (unsigned char)value, bytes);
}

API int cudaMemGetInfo(size_t *free_bytes, size_t *total) {
    size_t free_now, all;
    START("cudaMemGetInfo");
    int error = drv_info(&free_now, &all);
    if (error == OK && free_bytes)
        *free_bytes = free_now;
    if (error == OK && total)
        *total = all;
    return error;
}

API int cudaGetDevice(int *out) {
    *out = device;
    return start();
}

API int cudaSetDevice(int wanted) {
    int most = 0, error = start();
    if (error == OK)
        error = drv_count(&most);
    if (error != OK || wanted < 0 || wanted >= most)
        return error ? error : 101;
    device = wanted;
    return start();
}

API int cudaDeviceSynchronize(void) {
    START("cudaDeviceSynchronize");
    return capturing ? CAPTURED : drv_sync();
}

/* The other families: memory of the driver or of the process, which the hooks must leave alone. */
API int cudaMallocAsync(void **out, size_t bytes, void *stream) {
    (void)stream;
    START("cudaMallocAsync");
    return drv_alloc((uintptr_t *)out, bytes);
}

API int cudaMallocAsync_ptsz(void **out, size_t bytes, void *stream) {
    (void)stream;
    START("cudaMallocAsync_ptsz");
    return drv_alloc((uintptr_t *)out, bytes);
}

API int cudaMallocFromPoolAsync(void **out, size_t bytes, void *pool, void *stream) {
    (void)pool, (void)stream;
    START("cudaMallocFromPoolAsync");
    return drv_alloc((uintptr_t *)out, bytes);
}

API int cudaMallocFromPoolAsync_ptsz(void **out, size_t bytes, void *pool, void *stream) {
    (void)pool, (void)stream;
    START("cudaMallocFromPoolAsync_ptsz");
    return drv_alloc((uintptr_t *)out, bytes);
}

API int cudaFreeAsync(void *ptr, void *stream) {
    (void)stream;
    START("cudaFreeAsync");
    return drv_free((uintptr_t)ptr);
}

API int cudaFreeAsync_ptsz(void *ptr, void *stream) {
    (void)stream;
    START("cudaFreeAsync_ptsz");
    return drv_free((uintptr_t)ptr);
}

API int cudaMallocManaged(void **out, size_t bytes, unsigned flags) {
    (void)flags;
    START("cudaMallocManaged");
    return drv_alloc((uintptr_t *)out, bytes);
}

API int cudaMallocPitch(void **out, size_t *pitch, size_t width, size_t height) {
    START("cudaMallocPitch");
    *pitch = (width + 511) / 512 * 512;
    return drv_alloc((uintptr_t *)out, *pitch * height);
}

typedef struct extent {
    size_t width, height, depth;
} extent;

typedef struct pitched {
    void *ptr;
    size_t pitch, width, height;
} pitched;

API int cudaMalloc3D(pitched *out, extent e) {
    START("cudaMalloc3D");
    *out = (pitched){NULL, (e.width + 511) / 512 * 512, e.width, e.height};
    return drv_alloc((uintptr_t *)&out->ptr, out->pitch * e.height * e.depth);
}

/* An array is a handle and no address: whoever looks for it among addresses is wrong. */
typedef struct array {
    size_t bytes;
    unsigned char at[];
} array;

static int new_array(array **out, size_t bytes) {
    *out = malloc(sizeof **out + bytes);
    if (*out)
        (*out)->bytes = bytes;
    return *out ? OK : OUT_OF_MEMORY;
}

/* format: bits of the first channel lead the description, as in the real one. */
API int cudaMallocArray(array **out, const int *format, size_t width, size_t height, unsigned flags) {
    (void)flags;
    START("cudaMallocArray");
    return new_array(out, (size_t)format[0] / 8 * width * (height ? height : 1));
}

API int cudaMalloc3DArray(array **out, const int *format, extent e, unsigned flags) {
    (void)flags;
    START("cudaMalloc3DArray");
    return new_array(out, (size_t)format[0] / 8 * e.width * e.height * e.depth);
}

API int cudaFreeArray(array *a) {
    START("cudaFreeArray");
    free(a);
    return OK;
}

API int cudaMemcpyToArray(array *to, size_t x, size_t y, const void *from, size_t bytes, int kind) {
    START("cudaMemcpyToArray");
    if (x != 0 || y != 0 || bytes > to->bytes || kind < 0 || kind > 4)
        return INVALID_VALUE;
    return drv_copy((uintptr_t)to->at, (uintptr_t)from, bytes);
}

API int cudaMemcpyFromArray(void *to, const array *from, size_t x, size_t y, size_t bytes, int kind) {
    START("cudaMemcpyFromArray");
    if (x != 0 || y != 0 || bytes > from->bytes || kind < 0 || kind > 4)
        return INVALID_VALUE;
    return drv_copy((uintptr_t)to, (uintptr_t)from->at, bytes);
}

API int cudaMallocHost(void **out, size_t bytes) {
    START("cudaMallocHost");
    *out = malloc(bytes);
    return *out ? OK : OUT_OF_MEMORY;
}

API int cudaHostAlloc(void **out, size_t bytes, unsigned flags) {
    (void)flags;
    START("cudaHostAlloc");
    *out = malloc(bytes);
    return *out ? OK : OUT_OF_MEMORY;
}

API int cudaFreeHost(void *ptr) {
    START("cudaFreeHost");
    free(ptr);
    return OK;
}

API int cudaIpcGetMemHandle(void *handle, void *ptr) {
    START("cudaIpcGetMemHandle");
    memcpy(handle, &ptr, sizeof ptr);
    return OK;
}

static int begin_capture(const char *name) {
    START(name);
    capturing = true;
    return OK;
}

static int end_capture(const char *name, void **graph) {
    START(name);
    capturing = false;
    *graph = NULL;
    return OK;
}

API int cudaStreamBeginCapture(void *stream, int how) {
    (void)stream, (void)how;
    return begin_capture("cudaStreamBeginCapture");
}

API int cudaStreamBeginCapture_ptsz(void *stream, int how) {
    (void)stream, (void)how;
    return begin_capture("cudaStreamBeginCapture_ptsz");
}

API int cudaStreamBeginCaptureToGraph(void *stream, void *graph, const void *needs, const void *edges, size_t needed,
                                      int how) {
    (void)stream, (void)graph, (void)needs, (void)edges, (void)needed, (void)how;
    return begin_capture("cudaStreamBeginCaptureToGraph");
}

API int cudaStreamBeginCaptureToGraph_ptsz(void *stream, void *graph, const void *needs, const void *edges,
                                           size_t needed, int how) {
    (void)stream, (void)graph, (void)needs, (void)edges, (void)needed, (void)how;
    return begin_capture("cudaStreamBeginCaptureToGraph_ptsz");
}

API int cudaStreamEndCapture(void *stream, void **graph) {
    (void)stream;
    return end_capture("cudaStreamEndCapture", graph);
}

API int cudaStreamEndCapture_ptsz(void *stream, void **graph) {
    (void)stream;
    return end_capture("cudaStreamEndCapture_ptsz", graph);
}

/* ---- calls of the driver, by name ------------------------------------------------------------------------- */

enum { VERSION = 12040, PER_THREAD = 2 };

API int cudaRuntimeGetVersion(int *out) {
    *out = VERSION;
    return OK;
}

static int entry_point(const char *name, const char *symbol, void **out, unsigned version, unsigned long long flags,
                       int *status) {
    START(name);
    return drv_find(symbol, out, (int)version, flags, status) == 0 ? OK : INVALID_VALUE;
}

API int cudaGetDriverEntryPoint(const char *symbol, void **out, unsigned long long flags, int *status) {
    return entry_point("cudaGetDriverEntryPoint", symbol, out, VERSION, flags, status);
}

API int cudaGetDriverEntryPoint_ptsz(const char *symbol, void **out, unsigned long long flags, int *status) {
    return entry_point("cudaGetDriverEntryPoint_ptsz", symbol, out, VERSION, flags ? flags : PER_THREAD, status);
}

API int cudaGetDriverEntryPointByVersion(const char *symbol, void **out, unsigned version, unsigned long long flags,
                                         int *status) {
    return entry_point("cudaGetDriverEntryPointByVersion", symbol, out, version, flags, status);
}

API int cudaGetDriverEntryPointByVersion_ptsz(const char *symbol, void **out, unsigned version,
                                              unsigned long long flags, int *status) {
    return entry_point("cudaGetDriverEntryPointByVersion_ptsz", symbol, out, version, flags ? flags : PER_THREAD,
                       status);
}
