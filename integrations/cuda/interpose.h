/* interpose.h: the parts of libmasu_cuda.so, a library that is loaded in front of an unchanged program:
 *
 *     LD_PRELOAD=libmasu_cuda.so VMM_MODE=VMM ./program
 *
 *     program ─► hooks.c  (runtime) ─┬─ ours? ─► pools.c  ─► masu_vm, masu_bestfit ─► CUDA driver
 *                driver.c (driver)  ─┴─ else ──► behind.c ─► what the caller would have called without us
 *     program ─► resolve.c (dlsym, dlvsym, cuGetProcAddress, cudaGetDriverEntryPoint): the same hooks, however
 *                they are looked for
 *     loaded.c   which objects there are, and what each defines
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

/* ---- recording.c ----------------------------------------------------------------------------------------------- */

/* For the pools; NULL: nothing is written down. */
masu_trace *masu_cuda_trace(void);
bool masu_cuda_records(void);
/* An event of memory that is the runtime's own (VMM_MODE=MONITOR). */
void masu_cuda_record(masu_event event);
void masu_cuda_end_recording(void);

/* ---- the calls ------------------------------------------------------------------------------------------------- */

/* Handed on by value or as they are; the shapes are the interface's. */
typedef struct cuda_extent {
    size_t width, height, depth;
} cuda_extent;

/* X(name, arguments): every call of the runtime that is hooked, but for those of resolve.c. */
#define CUDA_CALLS(X)                                                                                \
    X(cudaMalloc, (void **, size_t))                                                                 \
    X(cudaFree, (void *))                                                                            \
    X(cudaMemcpy, (void *, const void *, size_t, int))                                               \
    X(cudaMemcpy_ptds, (void *, const void *, size_t, int))                                          \
    X(cudaMemGetInfo, (size_t *, size_t *))                                                          \
    X(cudaMallocAsync, (void **, size_t, void *))                                                    \
    X(cudaMallocAsync_ptsz, (void **, size_t, void *))                                               \
    X(cudaMallocFromPoolAsync, (void **, size_t, void *, void *))                                    \
    X(cudaMallocFromPoolAsync_ptsz, (void **, size_t, void *, void *))                               \
    X(cudaFreeAsync, (void *, void *))                                                               \
    X(cudaFreeAsync_ptsz, (void *, void *))                                                          \
    X(cudaMallocManaged, (void **, size_t, unsigned))                                                \
    X(cudaMallocPitch, (void **, size_t *, size_t, size_t))                                          \
    X(cudaMalloc3D, (void *, cuda_extent))                                                           \
    X(cudaMallocArray, (void **, const void *, size_t, size_t, unsigned))                            \
    X(cudaMalloc3DArray, (void **, const void *, cuda_extent, unsigned))                             \
    X(cudaFreeArray, (void *))                                                                       \
    X(cudaMallocHost, (void **, size_t))                                                             \
    X(cudaHostAlloc, (void **, size_t, unsigned))                                                    \
    X(cudaFreeHost, (void *))                                                                        \
    X(cudaIpcGetMemHandle, (void *, void *))                                                         \
    X(cudaStreamBeginCapture, (void *, int))                                                         \
    X(cudaStreamBeginCapture_ptsz, (void *, int))                                                    \
    X(cudaStreamBeginCaptureToGraph, (void *, void *, const void *, const void *, size_t, int))      \
    X(cudaStreamBeginCaptureToGraph_ptsz, (void *, void *, const void *, const void *, size_t, int)) \
    X(cudaStreamEndCapture, (void *, void **))                                                       \
    X(cudaStreamEndCapture_ptsz, (void *, void **))

/* Of the driver, by the names that the library exports; _v2 is what programs mean since CUDA 3.2. */
#define DRIVER_CALLS(X)                                                                            \
    X(cuMemAlloc_v2, (uintptr_t *, size_t))                                                        \
    X(cuMemAllocPitch_v2, (uintptr_t *, size_t *, size_t, size_t, unsigned))                       \
    X(cuMemAllocManaged, (uintptr_t *, size_t, unsigned))                                          \
    X(cuMemFree_v2, (uintptr_t))                                                                   \
    X(cuMemGetInfo_v2, (size_t *, size_t *))                                                       \
    X(cuMemGetAddressRange_v2, (uintptr_t *, size_t *, uintptr_t))                                 \
    X(cuMemAllocAsync, (uintptr_t *, size_t, void *))                                              \
    X(cuMemAllocAsync_ptsz, (uintptr_t *, size_t, void *))                                         \
    X(cuMemAllocFromPoolAsync, (uintptr_t *, size_t, void *, void *))                              \
    X(cuMemAllocFromPoolAsync_ptsz, (uintptr_t *, size_t, void *, void *))                         \
    X(cuMemFreeAsync, (uintptr_t, void *))                                                         \
    X(cuMemFreeAsync_ptsz, (uintptr_t, void *))                                                    \
    X(cuIpcGetMemHandle, (void *, uintptr_t))                                                      \
    X(cuStreamBeginCapture_v2, (void *, int))                                                      \
    X(cuStreamBeginCapture_v2_ptsz, (void *, int))                                                 \
    X(cuStreamBeginCaptureToGraph, (void *, void *, const void *, const void *, size_t, int))      \
    X(cuStreamBeginCaptureToGraph_ptsz, (void *, void *, const void *, const void *, size_t, int)) \
    X(cuStreamEndCapture, (void *, void **))                                                       \
    X(cuStreamEndCapture_ptsz, (void *, void **))

/* Those that look up other calls. */
#define LOOKUP_CALLS(X)                                                                               \
    X(cuGetProcAddress, (const char *, void **, int, uint64_t))                                       \
    X(cuGetProcAddress_v2, (const char *, void **, int, uint64_t, int *))                             \
    X(cudaGetDriverEntryPoint, (const char *, void **, unsigned long long, int *))                    \
    X(cudaGetDriverEntryPoint_ptsz, (const char *, void **, unsigned long long, int *))               \
    X(cudaGetDriverEntryPointByVersion, (const char *, void **, unsigned, unsigned long long, int *)) \
    X(cudaGetDriverEntryPointByVersion_ptsz, (const char *, void **, unsigned, unsigned long long, int *))

/* Needed, not hooked. */
#define CUDA_HELPERS(X)                         \
    X(cudaGetDevice, (int *))                   \
    X(cudaRuntimeGetVersion, (int *))           \
    X(cuCtxGetDevice, (int *))                  \
    X(cuCtxGetCurrent, (void **))               \
    X(cuDevicePrimaryCtxRetain, (void **, int)) \
    X(cuDevicePrimaryCtxRelease_v2, (int))

#define DECLARE_CALL(name, arguments) cuda_error name arguments;
CUDA_CALLS(DECLARE_CALL)
DRIVER_CALLS(DECLARE_CALL)
LOOKUP_CALLS(DECLARE_CALL)
CUDA_HELPERS(DECLARE_CALL)
#undef DECLARE_CALL

enum call {
#define CALL_NUMBER(name, arguments) CALL_##name,
    CUDA_CALLS(CALL_NUMBER) DRIVER_CALLS(CALL_NUMBER) LOOKUP_CALLS(CALL_NUMBER) HOOK_COUNT,
    CALL_before_helpers = HOOK_COUNT - 1,
    CUDA_HELPERS(CALL_NUMBER)
#undef CALL_NUMBER
        CALL_COUNT
};

#define HOOK   __attribute__((visibility("default")))
#define CALLER __builtin_return_address(0)

/* ---- behind.c ------------------------------------------------------------------------------------------------- */

/* The function that code at `caller` would call by that name without this library: the next definition behind us, else
 * the one in the scope that the caller's object was loaded into, else one that somebody has looked up, else any there
 * is. NULL: nobody has it. Never kept longer than what is loaded stays the same. Any thread. */
void *masu_cuda_behind(enum call call, const void *caller);
/* Somebody looked the call up and found this. */
void masu_cuda_found(enum call call, void *symbol);
const char *masu_cuda_call_name(enum call call);
void masu_cuda_count(enum call call);
uint64_t masu_cuda_counted(enum call call);

/* The C library's own, behind our dlsym and dlvsym. */
typedef void *(*dlsym_function)(void *, const char *);
typedef void *(*dlvsym_function)(void *, const char *, const char *);
dlsym_function masu_cuda_real_dlsym(void);
dlvsym_function masu_cuda_real_dlvsym(void);

/* Hands a call of the program on; a call that nobody has cannot have been linked. */
#define PASS_FROM(caller, name, ...)                               \
    __extension__({                                                \
        __typeof__(&name) next;                                    \
        *(void **)&next = masu_cuda_behind(CALL_##name, caller);   \
        next ? next(__VA_ARGS__) : (cuda_error)CUDA_NOT_SUPPORTED; \
    })
#define PASS(name, ...) PASS_FROM(CALLER, name, __VA_ARGS__)

/* Hooks that the runtime and the driver both have: of a capture, and of calls that are only seen. */
#define BEGIN_CAPTURE(name, arguments, ...)         \
    HOOK cuda_error name arguments {                \
        masu_cuda_count(CALL_##name);               \
        cuda_error error = PASS(name, __VA_ARGS__); \
        if (error == CUDA_OK)                       \
            masu_cuda_capture(1);                   \
        return error;                               \
    }
#define END_CAPTURE(name)                                  \
    HOOK cuda_error name(void *stream, void **graph) {     \
        masu_cuda_count(CALL_##name);                      \
        cuda_error error = PASS(name, stream, graph);      \
        masu_cuda_capture(masu_cuda_capturing() ? -1 : 0); \
        return error;                                      \
    }
#define SEEN(name, arguments, ...)      \
    HOOK cuda_error name arguments {    \
        masu_cuda_count(CALL_##name);   \
        return PASS(name, __VA_ARGS__); \
    }

/* ---- hooks.c -------------------------------------------------------------------------------------------------- */

bool masu_cuda_takes_over(void);
/* MONITOR: what was done behind us, as events. */
void masu_cuda_note(masu_event_kind kind, const void *ptr, size_t bytes);
/* The warning about memory of ours that is to be shared with another process. */
cuda_error masu_cuda_refuse_sharing(const char *name);

/* ---- pools.c ---------------------------------------------------------------------------------------------------- */

/* Whose a pointer is. */
bool masu_cuda_is_ours(const void *ptr);
/* Memory of that device. CUDA_NOT_SUPPORTED: it has no pools, ask behind us. */
cuda_error masu_cuda_alloc(int ordinal, void **out, size_t bytes);
/* ptr is ours. */
cuda_error masu_cuda_free(void *ptr);
cuda_error masu_cuda_grow(void **ptr, size_t bytes);
/* The block that holds ptr, which is ours. */
cuda_error masu_cuda_range(const void *ptr, uintptr_t *base, size_t *bytes);
/* Bytes that the pools of the device hold and can give to any request: what is stocked, and small pools without a
 * live block. Holes between small blocks do not count. */
size_t masu_cuda_cached(int ordinal);
void masu_cuda_summary(void);

/* Between begin and end of a capture the device must not be waited for. */
void masu_cuda_capture(int change);
bool masu_cuda_capturing(void);

/* ---- deferred.c ------------------------------------------------------------------------------------------------- */

/* Blocks freed during a capture wait here. Room is made when a block is allocated, so that a free never fails. */
bool masu_cuda_defer_room(void); /* for one block more; false: no memory */
void masu_cuda_defer_drop(void); /* one block fewer */
bool masu_cuda_defer(void *ptr); /* false: it waits here already */
void *masu_cuda_undefer(void);   /* one of them; NULL: none */

#endif
