/* interpose.h: the parts of libmasu_cuda.so, a library that is loaded in front of an unchanged program:
 *
 *     LD_PRELOAD=libmasu_cuda.so VMM_MODE=VMM ./program
 *
 *     program ─► hooks.c ─┬─ ours? ─► pools.c ─► masu_vm, masu_bestfit ─► CUDA driver
 *                         └─ else ──► real.c  ─► the CUDA runtime, untouched
 *     program ─► resolve.c (dlsym, cuGetProcAddress): the same hooks, however they are looked for
 *
 * What stays true: a pointer is ours exactly when it lies in one of our reservations; everything else goes to
 * the runtime as the program gave it. A copy is a copy: both pointers stay readable, for nobody can know
 * that the source will be freed next. A program that wants to grow without copying says so: masu_cuda.h.
 *
 * The interface of CUDA is used by its names and numbers; nothing of it is needed to build this.
 */
#ifndef MASU_CUDA_INTERPOSE_H
#define MASU_CUDA_INTERPOSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <masu/masu.h>

typedef int cuda_error;
enum {
    CUDA_OK = 0,
    CUDA_INVALID_VALUE = 1,
    CUDA_OUT_OF_MEMORY = 2,
    CUDA_UNLOADING = 4,
    CUDA_NOT_SUPPORTED = 801,
    CUDA_UNKNOWN = 999
};

enum { COPY_DEVICE_TO_DEVICE = 3, COPY_DEFAULT = 4, MOST_DEVICES = 64 };

/* ---- settings.c --------------------------------------------------------------------------------------------- */

typedef enum mode { MODE_VMM, MODE_MONITOR } mode;
typedef enum log_level { LOG_NOTHING, LOG_WARNINGS, LOG_SUMMARY, LOG_EVERYTHING } log_level;

typedef struct settings {
    mode mode;
    uint64_t reserve_bytes; /* 0: masu's default */
    double fragment_ratio;
    log_level level;
} settings;

/* Read from the environment at the first call; what is no sense in it is said once and replaced by
 * the default. Any thread. */
const settings *masu_cuda_settings(void);

/* One line into VMM_LOG_FILE, or standard error, if the level is that high. */
void masu_cuda_say(log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* An event into VMM_LOG_FILE; in the shape of a trace sink. */
void masu_cuda_write_event(void *ignored, const masu_event *event);
bool masu_cuda_wants_events(void);

/* ---- real.c --------------------------------------------------------------------------------------------------- */

/* Handed on by value or as they are; the shapes are the interface's. */
typedef struct cuda_extent {
    size_t width, height, depth;
} cuda_extent;

/* X(name, arguments): every call of the runtime that is hooked or needed. */
#define CUDA_CALLS(X)                                                                           \
    X(cudaMalloc, (void **, size_t))                                                            \
    X(cudaFree, (void *))                                                                       \
    X(cudaMemcpy, (void *, const void *, size_t, int))                                          \
    X(cudaMemcpy_ptds, (void *, const void *, size_t, int))                                     \
    X(cudaMemGetInfo, (size_t *, size_t *))                                                     \
    X(cudaMallocAsync, (void **, size_t, void *))                                               \
    X(cudaMallocAsync_ptsz, (void **, size_t, void *))                                          \
    X(cudaMallocFromPoolAsync, (void **, size_t, void *, void *))                               \
    X(cudaMallocFromPoolAsync_ptsz, (void **, size_t, void *, void *))                          \
    X(cudaFreeAsync, (void *, void *))                                                          \
    X(cudaFreeAsync_ptsz, (void *, void *))                                                     \
    X(cudaMallocManaged, (void **, size_t, unsigned))                                           \
    X(cudaMallocPitch, (void **, size_t *, size_t, size_t))                                     \
    X(cudaMalloc3D, (void *, cuda_extent))                                                      \
    X(cudaMallocArray, (void **, const void *, size_t, size_t, unsigned))                       \
    X(cudaMalloc3DArray, (void **, const void *, cuda_extent, unsigned))                        \
    X(cudaFreeArray, (void *))                                                                  \
    X(cudaMallocHost, (void **, size_t))                                                        \
    X(cudaHostAlloc, (void **, size_t, unsigned))                                               \
    X(cudaFreeHost, (void *))                                                                   \
    X(cudaIpcGetMemHandle, (void *, void *))                                                    \
    X(cudaStreamBeginCapture, (void *, int))                                                    \
    X(cudaStreamBeginCapture_ptsz, (void *, int))                                               \
    X(cudaStreamBeginCaptureToGraph, (void *, void *, const void *, const void *, size_t, int)) \
    X(cudaStreamBeginCaptureToGraph_ptsz,                                                       \
      (void *, void *, const void *, const void *, size_t, int))                                \
    X(cudaStreamEndCapture, (void *, void **))                                                  \
    X(cudaStreamEndCapture_ptsz, (void *, void **))

/* Needed, not hooked. */
#define CUDA_HELPERS(X)       \
    X(cudaGetDevice, (int *)) \
    X(cudaSetDevice, (int))   \
    X(cudaDeviceSynchronize, (void))

enum call {
#define CALL_NUMBER(name, arguments) CALL_##name,
    CUDA_CALLS(CALL_NUMBER)
#undef CALL_NUMBER
        CALL_cuMemFree,
    CALL_COUNT
};

typedef struct real_calls {
#define REAL_CALL(name, arguments) cuda_error(*name) arguments;
    CUDA_CALLS(REAL_CALL)
    CUDA_HELPERS(REAL_CALL)
#undef REAL_CALL
} real_calls;

/* The runtime behind us. A call that this runtime does not have is NULL. */
const real_calls *masu_cuda_real(void);
/* The C library's own dlsym, and the next definition of a name behind ours. */
void *masu_cuda_next(const char *name);
typedef void *(*dlsym_function)(void *, const char *);
dlsym_function masu_cuda_real_dlsym(void);
/* A library that the program found by itself has this name: used where nothing stands behind us. */
void masu_cuda_found(const char *name, void *symbol);
/* A call of the driver behind us, of those that are hooked; NULL: nobody has it. */
void *masu_cuda_driver_call(const char *name);

void masu_cuda_count(enum call call);
uint64_t masu_cuda_counted(enum call call);
const char *masu_cuda_call_name(enum call call);

/* ---- pools.c ---------------------------------------------------------------------------------------------------- */

/* Whose a pointer is. */
bool masu_cuda_is_ours(const void *ptr);
/* CUDA_NOT_SUPPORTED: this device has no pools, ask the runtime. */
cuda_error masu_cuda_alloc(void **out, size_t bytes);
/* ptr is ours. */
cuda_error masu_cuda_free(void *ptr);
cuda_error masu_cuda_grow(void **ptr, size_t bytes);
/* Bytes that the pools of the current device hold for nobody. */
size_t masu_cuda_cached(void);
void masu_cuda_summary(void);

/* Between begin and end of a capture the device must not be waited for. */
void masu_cuda_capture(int change);
bool masu_cuda_capturing(void);

#endif
