/* driver.h: the CUDA driver's interface as far as masu uses it, by its own names and numbers; opened at run time, so
 * that nothing here depends on CUDA being there when masu is built or installed.
 */
#ifndef MASU_DEVICES_DRIVER_H
#define MASU_DEVICES_DRIVER_H

#include <stddef.h>
#include <stdint.h>

#include <masu/status.h>

typedef int masu__cu_result;
typedef uintptr_t masu__cu_address;
typedef uint64_t masu__cu_handle;

enum {
    MASU__CU_OK = 0,
    MASU__CU_OUT_OF_MEMORY = 2,
    MASU__CU_DEINITIALIZED = 4, /* the process ends, the driver has let go of everything */
    MASU__CU_NOT_READY = 600
};

typedef struct masu__cu_location {
    int type; /* 1: a device */
    int id;
} masu__cu_location;

typedef struct masu__cu_properties {
    int type;         /* 1: pinned */
    int handle_types; /* 0: not shared with other processes */
    masu__cu_location where;
    void *win32;
    struct {
        unsigned char compression, rdma;
        unsigned short usage;
        unsigned char reserved[4];
    } flags;
} masu__cu_properties;

typedef struct masu__cu_access {
    masu__cu_location where;
    int flags; /* 3: read and write */
} masu__cu_access;

/* X(member, name in the library, arguments) */
#define MASU__CU_CALLS(X)                                                                                         \
    X(init, "cuInit", (unsigned))                                                                                 \
    X(device_get, "cuDeviceGet", (int *, int))                                                                    \
    X(device_attribute, "cuDeviceGetAttribute", (int *, int, int))                                                \
    X(device_memory, "cuDeviceTotalMem_v2", (size_t *, int))                                                      \
    X(context_retain, "cuDevicePrimaryCtxRetain", (void **, int))                                                 \
    X(context_release, "cuDevicePrimaryCtxRelease_v2", (int))                                                     \
    X(context_push, "cuCtxPushCurrent_v2", (void *))                                                              \
    X(context_pop, "cuCtxPopCurrent_v2", (void **))                                                               \
    X(synchronize, "cuCtxSynchronize", (void))                                                                    \
    X(alloc, "cuMemAlloc_v2", (masu__cu_address *, size_t))                                                       \
    X(free, "cuMemFree_v2", (masu__cu_address))                                                                   \
    X(copy, "cuMemcpy", (masu__cu_address, masu__cu_address, size_t))                                             \
    X(granularity, "cuMemGetAllocationGranularity", (size_t *, const masu__cu_properties *, int))                 \
    X(reserve, "cuMemAddressReserve", (masu__cu_address *, size_t, size_t, masu__cu_address, unsigned long long)) \
    X(unreserve, "cuMemAddressFree", (masu__cu_address, size_t))                                                  \
    X(create, "cuMemCreate", (masu__cu_handle *, size_t, const masu__cu_properties *, unsigned long long))        \
    X(release, "cuMemRelease", (masu__cu_handle))                                                                 \
    X(map, "cuMemMap", (masu__cu_address, size_t, size_t, masu__cu_handle, unsigned long long))                   \
    X(unmap, "cuMemUnmap", (masu__cu_address, size_t))                                                            \
    X(access, "cuMemSetAccess", (masu__cu_address, size_t, const masu__cu_access *, size_t))                      \
    X(event_create, "cuEventCreate", (void **, unsigned))                                                         \
    X(event_destroy, "cuEventDestroy_v2", (void *))                                                               \
    X(event_record, "cuEventRecord", (void *, void *))                                                            \
    X(event_query, "cuEventQuery", (void *))                                                                      \
    X(event_wait, "cuEventSynchronize", (void *))

typedef struct masu__cu_driver {
    void *library;
#define MASU__CU_MEMBER(member, name, arguments) masu__cu_result(*member) arguments;
    MASU__CU_CALLS(MASU__CU_MEMBER)
#undef MASU__CU_MEMBER
    /* May be missing in old drivers: NULL. */
    masu__cu_result (*stream_id)(void *, unsigned long long *);
} masu__cu_driver;

/* Opens the library at path (NULL: libcuda.so.1) and initialises it. MASU_ERR_UNSUPPORTED: it is not
 * there, or has not all calls, or finds no device. */
masu_status masu__cu_open(const char *path, masu__cu_driver *out);
void masu__cu_close(masu__cu_driver *driver);

#endif
