/* driver_program.c: a program of the driver's interface alone, without a runtime anywhere, with one part for each thing
 * that such programs do. As program.c: it ends with 0 when all is as the driver promises, with and without the
 * interposer.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(void **, int);
int cuCtxSetCurrent(void *);
int cuMemAlloc_v2(uintptr_t *, size_t);
int cuMemAllocPitch_v2(uintptr_t *, size_t *, size_t, size_t, unsigned);
int cuMemAllocManaged(uintptr_t *, size_t, unsigned);
int cuMemFree_v2(uintptr_t);
int cuMemcpy(uintptr_t, uintptr_t, size_t);
int cuMemsetD8_v2(uintptr_t, unsigned char, size_t);
int cuMemGetInfo_v2(size_t *, size_t *);
int cuMemGetAddressRange_v2(uintptr_t *, size_t *, uintptr_t);
int cuMemAllocAsync(uintptr_t *, size_t, void *);
int cuMemAllocAsync_ptsz(uintptr_t *, size_t, void *);
int cuMemAllocFromPoolAsync(uintptr_t *, size_t, void *, void *);
int cuMemAllocFromPoolAsync_ptsz(uintptr_t *, size_t, void *, void *);
int cuMemFreeAsync(uintptr_t, void *);
int cuMemFreeAsync_ptsz(uintptr_t, void *);
int cuIpcGetMemHandle(void *, uintptr_t);
int cuStreamBeginCapture_v2(void *, int);
int cuStreamBeginCapture_v2_ptsz(void *, int);
int cuStreamBeginCaptureToGraph(void *, void *, const void *, const void *, size_t, int);
int cuStreamBeginCaptureToGraph_ptsz(void *, void *, const void *, const void *, size_t, int);
int cuStreamEndCapture(void *, void **);
int cuStreamEndCapture_ptsz(void *, void **);
int cuGetProcAddress(const char *, void **, int, uint64_t);
int cuGetProcAddress_v2(const char *, void **, int, uint64_t, int *);

#define MIB ((size_t)1 << 20)

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

static void has(uintptr_t at, size_t bytes, unsigned char mark) {
    unsigned char ends[2];
    MUST(cuMemcpy((uintptr_t)&ends[0], at, 1));
    MUST(cuMemcpy((uintptr_t)&ends[1], at + bytes - 1, 1));
    HOLDS(ends[0] == mark && ends[1] == mark);
}

static void resize(void) {
    for (int loop = 0; loop < 10; loop++) {
        uintptr_t old, fresh;
        MUST(cuMemAlloc_v2(&old, 2 * MIB));
        MUST(cuMemsetD8_v2(old, (unsigned char)(loop + 1), 2 * MIB));
        MUST(cuMemAlloc_v2(&fresh, 4 * MIB));
        MUST(cuMemcpy(fresh, old, 2 * MIB));
        MUST(cuMemFree_v2(old));
        has(fresh, 2 * MIB, (unsigned char)(loop + 1));
        MUST(cuMemFree_v2(fresh));
    }
}

static void range(void) {
    static const size_t sizes[] = {1000, 4096, 900000, 3 * MIB, 7 * MIB};
    uintptr_t p[5], base;
    size_t bytes;
    for (int i = 0; i < 5; i++)
        MUST(cuMemAlloc_v2(&p[i], sizes[i]));
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 3; k++) {
            size_t at = k == 0 ? 0 : k == 1 ? sizes[i] / 2 : sizes[i] - 1;
            MUST(cuMemGetAddressRange_v2(&base, &bytes, p[i] + at));
            HOLDS(base == p[i] && bytes >= sizes[i]);
        }
    for (int i = 0; i < 5; i++)
        MUST(cuMemFree_v2(p[i]));
    int local;
    HOLDS(cuMemGetAddressRange_v2(&base, &bytes, (uintptr_t)&local) != 0);
}

static void info(void) {
    size_t before, during, after, total;
    uintptr_t p;
    MUST(cuMemGetInfo_v2(&before, &total));
    MUST(cuMemAlloc_v2(&p, 64 * MIB));
    MUST(cuMemGetInfo_v2(&during, &total));
    MUST(cuMemFree_v2(p));
    MUST(cuMemGetInfo_v2(&after, &total));
    HOLDS(during <= before - 64 * MIB && after >= before && after <= total);
}

static void families(void) {
    uintptr_t p[7];
    size_t pitch;
    char handle[64];
    MUST(cuMemAllocPitch_v2(&p[0], &pitch, 1000, 20, 4));
    MUST(cuMemAllocManaged(&p[1], 3 * MIB, 1));
    MUST(cuMemAllocAsync(&p[2], 3 * MIB, NULL));
    MUST(cuMemAllocAsync_ptsz(&p[3], 3 * MIB, NULL));
    MUST(cuMemAllocFromPoolAsync(&p[4], 3 * MIB, NULL, NULL));
    MUST(cuMemAllocFromPoolAsync_ptsz(&p[5], 3 * MIB, NULL, NULL));
    MUST(cuMemAlloc_v2(&p[6], 3 * MIB));
    MUST(cuIpcGetMemHandle(handle, p[1]));
    for (int i = 0; i < 7; i++)
        MUST(cuMemsetD8_v2(p[i], (unsigned char)i, 1000));
    for (int i = 0; i < 7; i++)
        has(p[i], 1000, (unsigned char)i);
    MUST(cuMemFreeAsync(p[6], NULL)); /* crosswise */
    MUST(cuMemFreeAsync_ptsz(p[3], NULL));
    MUST(cuMemFreeAsync(p[4], NULL));
    for (int i = 0; i < 6; i++)
        if (i != 3 && i != 4)
            MUST(cuMemFree_v2(p[i]));
}

static void *looked_up(const char *name) {
    void *found = NULL;
    int status = 9;
    MUST(cuGetProcAddress_v2(name, &found, 12040, 0, &status));
    HOLDS(found && status == 0);
    return found;
}

/* Pools that the program makes, all of it looked up as a runtime of CUDA 12 does: their calls are the driver's own,
 * what comes out of them is the driver's memory, and it goes back by any of the frees. */
static void memory_pools(void) {
    int (*create)(void **, const void *), (*destroy)(void *), (*trim)(void *, size_t), (*standard)(void **, int);
    int (*take)(uintptr_t *, size_t, void *, void *), (*give_later)(uintptr_t, void *), (*give)(uintptr_t);
    *(void **)&create = looked_up("cuMemPoolCreate");
    *(void **)&destroy = looked_up("cuMemPoolDestroy");
    *(void **)&trim = looked_up("cuMemPoolTrimTo");
    *(void **)&standard = looked_up("cuDeviceGetDefaultMemPool");
    *(void **)&take = looked_up("cuMemAllocFromPoolAsync");
    *(void **)&give_later = looked_up("cuMemFreeAsync");
    *(void **)&give = looked_up("cuMemFree");
    HOLDS(dlsym(RTLD_DEFAULT, "cuMemPoolCreate") == *(void **)&create);
    for (int own = 0; own < 2; own++) {
        void *pool = NULL;
        uintptr_t p[3];
        char wanted[128] = {0};
        MUST(own ? create(&pool, wanted) : standard(&pool, 0));
        for (int i = 0; i < 3; i++) {
            MUST(i == 0 ? cuMemAllocFromPoolAsync(&p[i], 3 * MIB, pool, NULL) : take(&p[i], 3 * MIB, pool, NULL));
            MUST(cuMemsetD8_v2(p[i], (unsigned char)(i + 1), 3 * MIB));
        }
        for (int i = 0; i < 3; i++)
            has(p[i], 3 * MIB, (unsigned char)(i + 1));
        MUST(give_later(p[0], NULL));
        MUST(give(p[1]));
        MUST(cuMemFree_v2(p[2]));
        MUST(trim(pool, 0));
        MUST(own ? destroy(pool) : 0);
    }
}

/* What is asked of our memory by calls that were looked up: the block around an address, the memory that is left, a
 * handle for others. */
static void questions(void) {
    int (*range)(uintptr_t *, size_t *, uintptr_t), (*info)(size_t *, size_t *),
        (*pitched)(uintptr_t *, size_t *, size_t, size_t, unsigned);
    int (*share)(void *, uintptr_t);
    uintptr_t p, base = 0, row;
    size_t bytes = 0, before, during, after, total, pitch;
    char handle[64];
    *(void **)&range = looked_up("cuMemGetAddressRange");
    *(void **)&info = looked_up("cuMemGetInfo");
    *(void **)&pitched = looked_up("cuMemAllocPitch");
    *(void **)&share = looked_up("cuIpcGetMemHandle");
    MUST(info(&before, &total));
    MUST(cuMemAlloc_v2(&p, 6 * MIB));
    MUST(info(&during, &total));
    MUST(range(&base, &bytes, p + 5 * MIB));
    HOLDS(base == p && bytes >= 6 * MIB && bytes < 8 * MIB);
    HOLDS(range(&base, &bytes, (uintptr_t)&p) != 0);
    MUST(cuMemFree_v2(p));
    MUST(info(&after, &total));
    HOLDS(during <= before - 6 * MIB && after >= before && after <= total);
    MUST(pitched(&row, &pitch, 1000, 20, 4));
    HOLDS(pitch >= 1000);
    MUST(share(handle, row));
    MUST(cuMemFree_v2(row));
}

static int begin_capture(int way) {
    switch (way) {
    case 0:
        return cuStreamBeginCapture_v2(NULL, 0);
    case 1:
        return cuStreamBeginCapture_v2_ptsz(NULL, 0);
    case 2:
        return cuStreamBeginCaptureToGraph(NULL, NULL, NULL, NULL, 0, 0);
    default:
        return cuStreamBeginCaptureToGraph_ptsz(NULL, NULL, NULL, NULL, 0, 0);
    }
}

/* More is freed than any list of a fixed size would hold; what is freed twice is told. */
static void capture(void) {
    enum { MANY = 9000 };
    static uintptr_t p[MANY];
    size_t before, after, total;
    void *graph;
    MUST(cuMemAlloc_v2(&p[0], 16 * MIB));
    MUST(cuMemGetInfo_v2(&before, &total));
    for (int i = 1; i < MANY; i++)
        MUST(cuMemAlloc_v2(&p[i], 1000));
    for (int way = 0; way < 4; way++) {
        uintptr_t other;
        MUST(begin_capture(way));
        HOLDS(cuMemAlloc_v2(&other, 16 * MIB) == 900);
        for (int i = way; i < MANY; i += 4)
            MUST(cuMemFree_v2(p[i]));
        MUST(way % 2 ? cuStreamEndCapture_ptsz(NULL, &graph) : cuStreamEndCapture(NULL, &graph));
    }
    MUST(cuMemGetInfo_v2(&after, &total));
    HOLDS(after >= before + 16 * MIB);
}

/* Memory of a device whose context is not current goes back as any other. */
static void contexts(void) {
    void *second;
    uintptr_t a, b;
    MUST(cuMemAlloc_v2(&a, 4 * MIB));
    MUST(cuDevicePrimaryCtxRetain(&second, 1));
    MUST(cuCtxSetCurrent(second));
    MUST(cuMemAlloc_v2(&b, 4 * MIB));
    MUST(cuMemFree_v2(b));
    MUST(cuCtxSetCurrent(NULL));
    HOLDS(cuMemAlloc_v2(&b, 4 * MIB) != 0);
    void *first;
    MUST(cuDevicePrimaryCtxRetain(&first, 0));
    MUST(cuCtxSetCurrent(first));
    MUST(cuMemFree_v2(a));
}

/* Each version of a call keeps its shape, whoever asks for it in whatever way. */
static void versions(void) {
    int (*old_take)(unsigned *, unsigned), (*old_give)(unsigned);
    int (*take)(uintptr_t *, size_t), (*give)(uintptr_t);
    int status = 9;
    unsigned narrow[2] = {0, 0x5a5a5a5a};
    uintptr_t wide;
    MUST(cuGetProcAddress_v2("cuMemAlloc", (void **)&old_take, 3000, 0, &status));
    HOLDS(status == 0);
    MUST(cuGetProcAddress("cuMemFree", (void **)&old_give, 3000, 0));
    MUST(old_take(narrow, 4 << 20));
    HOLDS(narrow[1] == 0x5a5a5a5a && narrow[0] != 0);
    MUST(old_give(narrow[0]));
    MUST(cuGetProcAddress("cuMemAlloc", (void **)&take, 3020, 0));
    MUST(cuGetProcAddress_v2("cuMemFree", (void **)&give, 12040, 0, NULL));
    HOLDS((void *)take != (void *)old_take && (void *)give != (void *)old_give);
    MUST(take(&wide, 4 * MIB));
    MUST(give(wide));
    void *none = &none;
    HOLDS(cuGetProcAddress_v2("cuMemAllocAsync", &none, 11010, 0, &status) != 0 && status == 2);
    HOLDS(none == NULL);
    HOLDS(cuGetProcAddress_v2("cuMemNone", &none, 12040, 0, &status) != 0 && status == 1);
    void *plain, *thread;
    MUST(cuGetProcAddress_v2("cuMemFreeAsync", &plain, 12040, 1, &status));
    MUST(cuGetProcAddress_v2("cuMemFreeAsync", &thread, 12040, 2, &status));
    HOLDS(plain != thread);
    MUST(take(&wide, 4 * MIB));
    MUST(((int (*)(uintptr_t, void *))thread)(wide, NULL));
    /* The old way of asking finds the old way of asking. */
    int (*ask)(const char *, void **, int, uint64_t);
    int (*ask_newer)(const char *, void **, int, uint64_t, int *);
    MUST(cuGetProcAddress_v2("cuGetProcAddress", (void **)&ask, 11030, 0, &status));
    MUST(ask("cuGetProcAddress", (void **)&ask_newer, 12000, 0));
    status = 9;
    MUST(ask_newer("cuMemAlloc", (void **)&take, 12000, 0, &status));
    HOLDS(status == 0);
    MUST(take(&wide, 4 * MIB));
    MUST(give(wide));
}

/* By every kind of handle. */
static void lookup(void) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    void *handles[] = {library, RTLD_DEFAULT, RTLD_NEXT};
    HOLDS(library != NULL);
    for (int i = 0; i < 3; i++) {
        int (*take)(uintptr_t *, size_t), (*give)(uintptr_t);
        uintptr_t p;
        *(void **)&take = dlsym(handles[i], "cuMemAlloc_v2");
        *(void **)&give = dlsym(handles[i], "cuMemFree_v2");
        HOLDS(take && give);
        /* The library has no versions. */
        HOLDS(!dlvsym(handles[i], "cuMemFree_v2", "libcuda.so.1") && dlerror());
        MUST(take(&p, 4 * MIB));
        MUST(give(p));
    }
    HOLDS(!dlsym(library, "cuMemNone") && dlerror());
    /* There is no runtime here, and nobody finds one. */
    HOLDS(!dlsym(RTLD_DEFAULT, "cudaMalloc") && dlerror());
    HOLDS(!dlsym(RTLD_NEXT, "cudaMalloc") && dlerror());
    HOLDS(!dlvsym(RTLD_DEFAULT, "cudaFree", "libcudart.so.12") && dlerror());
    HOLDS(!dlsym(dlopen(NULL, RTLD_NOW), "cudaFree") && dlerror());
    HOLDS(dlvsym(RTLD_DEFAULT, "dlopen", "GLIBC_2.34") || dlsym(RTLD_DEFAULT, "dlopen"));
}

static const struct part {
    const char *name;
    void (*run)(void);
} parts[] = {
    {"resize", resize},       {"range", range},     {"info", info},
    {"families", families},   {"capture", capture}, {"contexts", contexts},
    {"versions", versions},   {"lookup", lookup},   {"memory_pools", memory_pools},
    {"questions", questions},
};

int main(int argc, char **argv) {
    void *context;
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxSetCurrent(context));
    for (size_t i = 0; argc == 2 && i < sizeof parts / sizeof *parts; i++)
        if (strcmp(parts[i].name, argv[1]) == 0) {
            parts[i].run();
            puts("all as promised");
            return 0;
        }
    fprintf(stderr, "usage: driver_program PART\n");
    return 2;
}
