/* program.c: a CUDA program that knows nothing of masu, with one part for each thing that programs do. It looks at what
 * it gets and ends with 0 when all is as the runtime promises.
 *
 *     program PART        run with and without the interposer
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cudaMalloc(void **, size_t);
int cudaFree(void *);
int cudaMemcpy(void *, const void *, size_t, int);
int cudaMemcpy_ptds(void *, const void *, size_t, int);
int cudaMemset(void *, int, size_t);
int cudaMemGetInfo(size_t *, size_t *);
int cudaSetDevice(int);
int cudaDeviceSynchronize(void);
int cudaMallocAsync(void **, size_t, void *);
int cudaMallocAsync_ptsz(void **, size_t, void *);
int cudaMallocFromPoolAsync(void **, size_t, void *, void *);
int cudaMallocFromPoolAsync_ptsz(void **, size_t, void *, void *);
int cudaFreeAsync(void *, void *);
int cudaFreeAsync_ptsz(void *, void *);
int cudaMallocManaged(void **, size_t, unsigned);
int cudaMallocPitch(void **, size_t *, size_t, size_t);
typedef struct extent {
    size_t width, height, depth;
} extent;
typedef struct pitched {
    void *ptr;
    size_t pitch, width, height;
} pitched;
typedef struct format {
    int x, y, z, w, kind;
} format;
int cudaMalloc3D(pitched *, extent);
int cudaMallocArray(void **, const format *, size_t, size_t, unsigned);
int cudaMalloc3DArray(void **, const format *, extent, unsigned);
int cudaFreeArray(void *);
int cudaMemcpyToArray(void *, size_t, size_t, const void *, size_t, int);
int cudaMemcpyFromArray(void *, const void *, size_t, size_t, size_t, int);
int cudaMallocHost(void **, size_t);
int cudaHostAlloc(void **, size_t, unsigned);
int cudaFreeHost(void *);
int cudaIpcGetMemHandle(void *, void *);
int cudaStreamBeginCapture(void *, int);
int cudaStreamBeginCapture_ptsz(void *, int);
int cudaStreamBeginCaptureToGraph(void *, void *, const void *, const void *, size_t, int);
int cudaStreamBeginCaptureToGraph_ptsz(void *, void *, const void *, const void *, size_t, int);
int cudaStreamEndCapture(void *, void **);
int cudaStreamEndCapture_ptsz(void *, void **);
int cudaGetDriverEntryPoint(const char *, void **, unsigned long long, int *);
int cudaGetDriverEntryPoint_ptsz(const char *, void **, unsigned long long, int *);
int cudaGetDriverEntryPointByVersion(const char *, void **, unsigned, unsigned long long, int *);
int cudaGetDriverEntryPointByVersion_ptsz(const char *, void **, unsigned, unsigned long long, int *);

#define MIB ((size_t)1 << 20)
enum { TO_DEVICE = 1, TO_HOST = 2, ON_DEVICE = 3 };

#define MUST(x)                                                     \
    do {                                                            \
        int got = (x);                                              \
        if (got != 0) {                                             \
            fprintf(stderr, "%d: %s gave %d\n", __LINE__, #x, got); \
            exit(1);                                                \
        }                                                           \
    } while (0)
#define HOLDS(x)                                               \
    do {                                                       \
        if (!(x)) {                                            \
            fprintf(stderr, "%d: not so: %s\n", __LINE__, #x); \
            exit(1);                                           \
        }                                                      \
    } while (0)

static void put(void *at, size_t bytes, unsigned char mark) {
    MUST(cudaMemset(at, mark, bytes));
}

static void has(const void *at, size_t bytes, unsigned char mark) {
    unsigned char ends[3];
    MUST(cudaMemcpy(&ends[0], at, 1, TO_HOST));
    MUST(cudaMemcpy(&ends[1], (const char *)at + bytes / 2, 1, TO_HOST));
    MUST(cudaMemcpy(&ends[2], (const char *)at + bytes - 1, 1, TO_HOST));
    HOLDS(ends[0] == mark && ends[1] == mark && ends[2] == mark);
}

/* Grows by malloc, memcpy, free. */
static void resize(void) {
    for (int loop = 0; loop < 10; loop++) {
        void *old, *fresh;
        MUST(cudaMalloc(&old, 2 * MIB));
        put(old, 2 * MIB, (unsigned char)(loop + 1));
        MUST(cudaMalloc(&fresh, 4 * MIB));
        MUST(cudaMemcpy(fresh, old, 2 * MIB, ON_DEVICE));
        MUST(cudaFree(old));
        has(fresh, 2 * MIB, (unsigned char)(loop + 1));
        MUST(cudaFree(fresh));
    }
}

/* A whole copy used as a backup: the source is read afterwards. */
static void backup(void) {
    void *a, *b;
    MUST(cudaMalloc(&a, 8 * MIB));
    MUST(cudaMalloc(&b, 8 * MIB));
    put(a, 8 * MIB, 1);
    MUST(cudaMemcpy(b, a, 8 * MIB, ON_DEVICE));
    has(a, 8 * MIB, 1);
    put(a, 8 * MIB, 2);
    has(b, 8 * MIB, 1);
    has(a, 8 * MIB, 2);
    MUST(cudaMemcpy_ptds(a, b, 8 * MIB, ON_DEVICE));
    has(a, 8 * MIB, 1);
    has(b, 8 * MIB, 1);
    MUST(cudaFree(a));
    has(b, 8 * MIB, 1);
    MUST(cudaFree(b));
}

static void small(void) {
    static void *ptr[2000];
    for (int i = 0; i < 2000; i++) {
        MUST(cudaMalloc(&ptr[i], (size_t)(1 + i * 37 % 5000)));
        HOLDS((uintptr_t)ptr[i] % 256 == 0);
        put(ptr[i], (size_t)(1 + i * 37 % 5000), (unsigned char)i);
    }
    for (int i = 0; i < 2000; i++) {
        has(ptr[i], (size_t)(1 + i * 37 % 5000), (unsigned char)i);
        MUST(cudaFree(ptr[i]));
    }
}

/* The very first call of many programs. */
static void first(void) {
    MUST(cudaFree(NULL));
    void *ptr;
    MUST(cudaMalloc(&ptr, 4 * MIB));
    MUST(cudaFree(ptr));
}

static void edges(void) {
    void *ptr = (void *)1, *large;
    MUST(cudaMalloc(&ptr, 0));
    HOLDS(ptr == NULL);
    MUST(cudaFree(NULL));
    for (size_t k = 0; k < 64; k++)
        HOLDS(cudaMalloc(&ptr, SIZE_MAX - k) != 0);
    MUST(cudaMalloc(&large, 6 * MIB));
    HOLDS(cudaFree((char *)large + 4096) != 0);
    MUST(cudaFree(large));
    HOLDS(cudaFree(large) != 0);
    int local;
    HOLDS(cudaFree(&local) != 0);
    MUST(cudaMalloc(&large, 6 * MIB));
    MUST(cudaFree(large));
}

static void families(void) {
    void *p[9], *handle[16];
    size_t pitch;
    MUST(cudaMalloc(&p[0], 3 * MIB));
    MUST(cudaMallocManaged(&p[1], 3 * MIB, 1));
    MUST(cudaMallocPitch(&p[2], &pitch, 1, 1000));
    HOLDS(pitch >= 1);
    MUST(cudaMallocHost(&p[3], 1000));
    MUST(cudaHostAlloc(&p[4], 1000, 0));
    MUST(cudaMallocAsync(&p[5], 3 * MIB, NULL));
    MUST(cudaMallocAsync_ptsz(&p[6], 3 * MIB, NULL));
    MUST(cudaMallocFromPoolAsync(&p[7], 3 * MIB, NULL, NULL));
    MUST(cudaMallocFromPoolAsync(&p[8], 3 * MIB, NULL, NULL));
    for (int i = 0; i < 9; i++)
        if (i < 3 || i > 4)
            put(p[i], 1000, (unsigned char)i);
    MUST(cudaIpcGetMemHandle(handle, p[1]));
    /* crosswise, as the runtime allows */
    MUST(cudaFree(p[7]));
    MUST(cudaFreeAsync(p[8], NULL));
    MUST(cudaFreeAsync(p[0], NULL));
    MUST(cudaFreeAsync_ptsz(p[6], NULL));
    MUST(cudaFreeAsync(p[5], NULL));
    MUST(cudaFree(p[1]));
    MUST(cudaFree(p[2]));
    MUST(cudaFreeHost(p[3]));
    MUST(cudaFreeHost(p[4]));
}

/* Memory with shapes: what has an address is freed as any other, what is an array has none. */
static void shapes(void) {
    pitched box;
    format bytes = {8, 0, 0, 0, 1};
    size_t pitch;
    void *rows, *plain, *flat, *deep, *arrays[2];
    MUST(cudaMalloc(&plain, 3 * MIB));
    put(plain, 3 * MIB, 5);
    MUST(cudaMalloc3D(&box, (extent){1000, 20, 30}));
    HOLDS(box.ptr && box.pitch >= 1000 && box.width == 1000 && box.height == 20);
    put(box.ptr, box.pitch * 20 * 30, 6);
    MUST(cudaMallocPitch(&rows, &pitch, 1000, 40));
    HOLDS(rows && pitch >= 1000);
    put(rows, pitch * 40, 7);
    MUST(cudaMallocArray(&flat, &bytes, 3 * MIB, 0, 0));
    MUST(cudaMalloc3DArray(&deep, &bytes, (extent){1024, 1024, 3}, 0));
    arrays[0] = flat, arrays[1] = deep;
    for (int i = 0; i < 2; i++) {
        void *back;
        MUST(cudaMemcpyToArray(arrays[i], 0, 0, plain, 3 * MIB, ON_DEVICE));
        MUST(cudaMalloc(&back, 3 * MIB));
        MUST(cudaMemcpyFromArray(back, arrays[i], 0, 0, 3 * MIB, ON_DEVICE));
        has(back, 3 * MIB, 5);
        MUST(cudaFree(back));
        MUST(cudaFreeArray(arrays[i]));
    }
    has(box.ptr, box.pitch * 20 * 30, 6);
    has(rows, pitch * 40, 7);
    has(plain, 3 * MIB, 5);
    MUST(cudaFree(box.ptr));
    MUST(cudaFree(rows));
    MUST(cudaFree(plain));
}

/* A program that was compiled with a default stream for each thread calls by other names. */
static void per_thread(void) {
    void *a, *b, *pooled;
    MUST(cudaMalloc(&a, 4 * MIB));
    MUST(cudaMallocAsync_ptsz(&b, 4 * MIB, NULL));
    MUST(cudaMallocFromPoolAsync_ptsz(&pooled, 4 * MIB, NULL, NULL));
    put(a, 4 * MIB, 1);
    put(b, 4 * MIB, 2);
    MUST(cudaMemcpy_ptds(pooled, a, 4 * MIB, ON_DEVICE));
    MUST(cudaMemcpy_ptds(a, b, 4 * MIB, ON_DEVICE));
    has(pooled, 4 * MIB, 1);
    has(a, 4 * MIB, 2);
    MUST(cudaFreeAsync_ptsz(a, NULL)); /* of cudaMalloc */
    MUST(cudaFreeAsync_ptsz(b, NULL));
    has(pooled, 4 * MIB, 1);
    MUST(cudaFreeAsync_ptsz(pooled, NULL));
}

static void info(void) {
    size_t before, total, during, after;
    void *ptr;
    MUST(cudaMemGetInfo(&before, &total));
    MUST(cudaMalloc(&ptr, 64 * MIB));
    MUST(cudaMemGetInfo(&during, NULL));
    MUST(cudaFree(ptr));
    MUST(cudaMemGetInfo(&after, NULL));
    MUST(cudaMemGetInfo(NULL, &total));
    MUST(cudaMemGetInfo(NULL, NULL));
    HOLDS(before <= total && during <= before - 64 * MIB && after >= before && after <= total);
}

static int begin_capture(int way) {
    switch (way) {
    case 0:
        return cudaStreamBeginCapture(NULL, 0);
    case 1:
        return cudaStreamBeginCapture_ptsz(NULL, 0);
    case 2:
        return cudaStreamBeginCaptureToGraph(NULL, NULL, NULL, NULL, 0, 0);
    default:
        return cudaStreamBeginCaptureToGraph_ptsz(NULL, NULL, NULL, NULL, 0, 0);
    }
}

/* Inside a capture memory is refused cleanly, and what is freed goes when the capture has ended. */
static void capture(void) {
    for (int way = 0; way < 4; way++) {
        void *ptr, *other = NULL, *graph;
        size_t before, after;
        MUST(cudaMalloc(&ptr, 16 * MIB));
        MUST(cudaMemGetInfo(&before, NULL));
        MUST(begin_capture(way));
        HOLDS(cudaMalloc(&other, 16 * MIB) == 900);
        int freed = cudaFree(ptr);
        MUST(way % 2 ? cudaStreamEndCapture_ptsz(NULL, &graph) : cudaStreamEndCapture(NULL, &graph));
        if (freed != 0)
            MUST(cudaFree(ptr));
        MUST(cudaMemGetInfo(&after, NULL));
        HOLDS(after >= before + 16 * MIB);
        MUST(cudaMalloc(&ptr, 16 * MIB));
        MUST(cudaFree(ptr));
    }
}

static void devices(void) {
    void *a, *b, *c;
    MUST(cudaMalloc(&a, 4 * MIB));
    MUST(cudaSetDevice(1));
    MUST(cudaMalloc(&b, 4 * MIB));
    MUST(cudaMalloc(&c, 1000));
    put(a, 4 * MIB, 1);
    put(b, 4 * MIB, 2);
    MUST(cudaFree(a)); /* of another device than the current one */
    MUST(cudaSetDevice(0));
    MUST(cudaFree(c));
    has(b, 4 * MIB, 2);
    MUST(cudaFree(b));
    HOLDS(cudaSetDevice(77) != 0);
}

static void *work(void *argument) {
    unsigned char mark = (unsigned char)(uintptr_t)argument;
    for (int i = 0; i < 12; i++) {
        void *large, *little;
        MUST(cudaMalloc(&large, (size_t)(2 + i % 5) * MIB));
        MUST(cudaMalloc(&little, (size_t)(100 + i)));
        put(large, (size_t)(2 + i % 5) * MIB, mark);
        put(little, (size_t)(100 + i), mark);
        has(large, (size_t)(2 + i % 5) * MIB, mark);
        has(little, (size_t)(100 + i), mark);
        MUST(cudaFree(large));
        MUST(cudaFree(little));
    }
    return NULL;
}

static void threads(void) {
    pthread_t thread[4];
    MUST(cudaFree(NULL));
    for (uintptr_t i = 0; i < 4; i++)
        MUST(pthread_create(&thread[i], NULL, work, (void *)(i + 1)));
    for (int i = 0; i < 4; i++)
        MUST(pthread_join(thread[i], NULL));
}

/* Calls that are looked up: the runtime opened at run time, and the driver's own way. */
static void lookup(void) {
    void *runtime = dlopen("libcudart.so.12", RTLD_NOW | RTLD_LOCAL);
    HOLDS(runtime != NULL);
    int (*take)(void **, size_t), (*give)(void *), (*ask)(size_t *, size_t *);
    *(void **)&take = dlsym(runtime, "cudaMalloc");
    *(void **)&give = dlsym(runtime, "cudaFree");
    *(void **)&ask = dlsym(runtime, "cudaMemGetInfo");
    HOLDS(take && give && ask && !dlsym(runtime, "cudaNoSuchCall"));
    HOLDS(dlvsym(runtime, "cudaMalloc", "libcudart.so.12") == (void *)take);
    HOLDS(!dlvsym(runtime, "cudaMalloc", "libcudart.so.11") && dlerror());
    HOLDS(!dlvsym(RTLD_DEFAULT, "cudaMalloc", "libcudart.so.11") && dlerror());
    HOLDS(dlsym(RTLD_DEFAULT, "strlen") != NULL && dlsym(RTLD_NEXT, "strlen") != NULL);
    void *ptr;
    MUST(take(&ptr, 4 * MIB));
    MUST(give(ptr));
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    HOLDS(driver != NULL);
    int (*find)(const char *, void **, int, uint64_t, int *);
    *(void **)&find = dlsym(driver, "cuGetProcAddress_v2");
    HOLDS(find != NULL);
    static const char *const calls[] = {"cuMemAlloc",  "cuMemFree", "cuMemGetInfo",     "cuMemcpy",
                                        "cuMemCreate", "cuMemMap",  "cuGetProcAddress", "cuGetProcAddress_v2"};
    for (int i = 0; i < 8; i++) {
        void *found = NULL;
        int status = 7;
        MUST(find(calls[i], &found, 12040, 0, &status));
        HOLDS(found != NULL);
    }
    int (*again)(const char *, void **, int, uint64_t, int *); /* which finds itself */
    int (*free_it)(uintptr_t);
    MUST(find("cuGetProcAddress", (void **)&again, 12040, 0, NULL));
    MUST(again("cuMemFree", (void **)&free_it, 12040, 0, NULL));
    MUST(take(&ptr, 4 * MIB));
    MUST(free_it((uintptr_t)ptr)); /* memory of one interface, freed by the other */
    void *none = &none;
    HOLDS(find("cuNoSuchCall", &none, 12040, 0, NULL) != 0 && none == NULL);
}

/* Calls of the driver, asked of the runtime; each fits what the others gave. */
static void entry_points(void) {
    int (*take)(uintptr_t *, size_t), (*give)(uintptr_t), status = 9;
    int (*later)(uintptr_t, void *), (*old_take)(unsigned *, unsigned), (*old_give)(unsigned);
    void *plain, *thread, *same;
    uintptr_t at;
    unsigned narrow[2] = {0, 77};
    MUST(cudaGetDriverEntryPoint("cuMemAlloc", (void **)&take, 0, &status));
    HOLDS(status == 0);
    MUST(cudaGetDriverEntryPointByVersion("cuMemFree", (void **)&give, 12000, 0, &status));
    MUST(take(&at, 4 * MIB));
    MUST(cudaFree((void *)at));
    void *ptr;
    MUST(cudaMalloc(&ptr, 4 * MIB));
    MUST(give((uintptr_t)ptr));
    MUST(cudaGetDriverEntryPointByVersion("cuMemAlloc", (void **)&old_take, 3000, 0, &status));
    MUST(cudaGetDriverEntryPointByVersion_ptsz("cuMemFree", (void **)&old_give, 3000, 0, &status));
    MUST(old_take(narrow, 4 << 20));
    HOLDS(narrow[0] && narrow[1] == 77);
    MUST(old_give(narrow[0]));
    MUST(cudaGetDriverEntryPoint("cuMemFreeAsync", &plain, 0, &status));
    MUST(cudaGetDriverEntryPoint_ptsz("cuMemFreeAsync", &thread, 0, &status));
    MUST(cudaGetDriverEntryPoint_ptsz("cuMemFreeAsync", &same, 1, &status));
    HOLDS(plain != thread && plain == same);
    MUST(take(&at, 4 * MIB));
    *(void **)&later = thread;
    MUST(later(at, NULL));
    HOLDS(cudaGetDriverEntryPoint("cuNoSuchCall", &same, 0, &status) != 0 && status == 1);
}

/* Small blocks that live long keep no more memory than lies under them; what is said to be free can be had. */
static void sparse(void) {
    enum { BLOCKS = 6000, BYTES = 90 << 10 };
    static void *block[BLOCKS];
    size_t before, available, total;
    void *large;
    MUST(cudaMemGetInfo(&before, &total));
    for (int i = 0; i < BLOCKS; i++)
        MUST(cudaMalloc(&block[i], BYTES));
    for (int i = 0; i < BLOCKS; i++)
        if (i % 400 != 7)
            MUST(cudaFree(block[i]));
    MUST(cudaMemGetInfo(&available, NULL));
    HOLDS(available >= before - 2 * MIB * (BLOCKS / 400 + 1));
    MUST(cudaMalloc(&large, available / (2 * MIB) * (2 * MIB)));
    MUST(cudaFree(large));
    for (int i = 7; i < BLOCKS; i += 400)
        MUST(cudaFree(block[i]));
}

/* The driver refuses in between; the program sees an error or nothing, and goes on. */
static void refused(void) {
    int errors = 0;
    for (int i = 0; i < 20; i++) {
        void *ptr = NULL;
        int error = cudaMalloc(&ptr, (size_t)(2 + i % 4 * 2) * MIB);
        if (error == 0) {
            put(ptr, (size_t)(2 + i % 4 * 2) * MIB, (unsigned char)i);
            has(ptr, (size_t)(2 + i % 4 * 2) * MIB, (unsigned char)i);
            error = cudaFree(ptr);
            if (error != 0) {
                errors++;
                MUST(cudaFree(ptr));
            }
        } else {
            errors++;
        }
    }
    printf("%d refusals seen\n", errors);
    HOLDS(errors <= 1);
}

/* What the interposer offers to those who ask. */
static void grow(void) {
    int (*resize_it)(void **, size_t);
    void *ptr, *wall, *little;
    *(void **)&resize_it = dlsym(RTLD_DEFAULT, "masu_cuda_resize");
    HOLDS(resize_it != NULL);
    MUST(cudaMalloc(&ptr, 4 * MIB));
    MUST(cudaMalloc(&wall, 4 * MIB));
    MUST(cudaMalloc(&little, 1000));
    put(ptr, 4 * MIB, 9);
    put(little, 1000, 8);
    MUST(resize_it(&ptr, 20 * MIB));
    has(ptr, 4 * MIB, 9);
    put(ptr, 20 * MIB, 10);
    MUST(resize_it(&little, 3 * MIB));
    has(little, 1000, 8);
    int local;
    void *foreign = &local;
    HOLDS(resize_it(&foreign, 10) != 0);
    MUST(cudaFree(ptr));
    MUST(cudaFree(wall));
    MUST(cudaFree(little));
}

static const struct part {
    const char *name;
    void (*run)(void);
} parts[] = {
    {"resize", resize},
    {"backup", backup},
    {"small", small},
    {"first", first},
    {"edges", edges},
    {"families", families},
    {"info", info},
    {"capture", capture},
    {"devices", devices},
    {"threads", threads},
    {"lookup", lookup},
    {"refused", refused},
    {"grow", grow},
    {"shapes", shapes},
    {"per_thread", per_thread},
    {"sparse", sparse},
    {"entry_points", entry_points},
};

int main(int argc, char **argv) {
    for (size_t i = 0; argc == 2 && i < sizeof parts / sizeof *parts; i++)
        if (strcmp(parts[i].name, argv[1]) == 0) {
            parts[i].run();
            puts("all as promised");
            return 0;
        }
    fprintf(stderr, "usage: program PART\n");
    return 2;
}
