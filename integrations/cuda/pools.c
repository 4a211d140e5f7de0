/* pools.c: one pool of virtual memory for each device, with a best-fit pool on it for small blocks.
 *
 *     cudaMalloc ─┬─ from 1 MiB on ─► masu_vm (owner LARGE)
 *                 └─ below ─► masu_bestfit ─► device over masu_vm
 *
 * A pointer is ours exactly when it lies in a reservation. cudaFree waits for the device before memory may go to
 * somebody else, as the runtime's own does.
 */
#include "interpose.h"
#include "masu_cuda.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define SMALL_BELOW ((size_t)1 << 20)
#define SMALL_POOL  ((size_t)32 << 20)

enum { LARGE = 1, ALIGNMENT = 256, MOST_DEFERRED = 4096 };

typedef struct device_pools {
    masu_device *cuda, *over;
    masu_vm *vm;
    masu_bestfit *small;
    bool failed; /* said once; the runtime serves this device */
} device_pools;

static device_pools pools[MOST_DEVICES];
static _Atomic int known_devices; /* pools[0 … known_devices - 1] may be there */
static masu_trace *trace;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int captures;
static void *deferred[MOST_DEFERRED]; /* freed during a capture; guarded by lock */
static size_t deferred_count;

/* ---- making ------------------------------------------------------------------------------------------------ */

static masu_status make(device_pools *p, int ordinal) {
    const settings *s = masu_cuda_settings();
    masu_cuda_config cuda = {.ordinal = ordinal};
    masu_trace_config traced = {.sink = masu_cuda_write_event, .start_on = true};
    masu_status status = MASU_OK;
    if (!trace && masu_cuda_wants_events())
        status = masu_trace_create(&traced, &trace);
    if (status == MASU_OK)
        status = masu_device_create_cuda(&cuda, &p->cuda);
    if (status != MASU_OK)
        return status;
    masu_vm_config config = masu_vm_config_default(p->cuda);
    config.trace = trace;
    config.reserve_bytes = s->reserve_bytes;
    config.fragment_ratio = s->fragment_ratio;
    status = masu_vm_create(&config, &p->vm);
    if (status == MASU_OK)
        status = masu_device_create_over_vm(p->vm, &p->over);
    if (status == MASU_OK) {
        masu_bestfit_config small = masu_bestfit_config_default(p->over);
        small.pool_bytes = SMALL_POOL;
        small.initial_bytes = 0;
        status = masu_bestfit_create(&small, &p->small);
    }
    return status;
}

static void unmake(device_pools *p) {
    masu_bestfit_destroy(p->small);
    masu_device_destroy(p->over);
    masu_vm_destroy(p->vm);
    masu_device_destroy(p->cuda);
    *p = (device_pools){.failed = true};
}

/* The pools of the current device; NULL: it has none. */
static device_pools *current_pools(void) {
    const real_calls *real = masu_cuda_real();
    int ordinal = 0;
    if (!real->cudaGetDevice || real->cudaGetDevice(&ordinal) != CUDA_OK || ordinal < 0 ||
        ordinal >= MOST_DEVICES)
        return NULL;
    device_pools *p = &pools[ordinal];
    pthread_mutex_lock(&lock);
    if (!p->vm && !p->failed) {
        masu_status status = make(p, ordinal);
        if (status != MASU_OK) {
            unmake(p);
            masu_cuda_say(LOG_WARNINGS,
                          "device %d: no virtual memory (%s); its memory stays the runtime's",
                          ordinal, masu_status_text(status));
        } else if (ordinal >= known_devices) {
            known_devices = ordinal + 1;
        }
    }
    pthread_mutex_unlock(&lock);
    return p->failed ? NULL : p;
}

/* The pools whose reservation holds ptr, and the block there. */
static device_pools *pools_of(const void *ptr, masu_vm_block *block, masu_status *status) {
    int count = known_devices;
    for (int i = 0; i < count; i++) {
        if (!pools[i].vm)
            continue;
        *status = masu_vm_query(pools[i].vm, ptr, block);
        if (*status != MASU_ERR_FOREIGN_POINTER)
            return &pools[i];
    }
    return NULL;
}

bool masu_cuda_is_ours(const void *ptr) {
    masu_vm_block block;
    masu_status status;
    return ptr && pools_of(ptr, &block, &status) != NULL;
}

static cuda_error error_of(masu_status status) {
    switch (status) {
    case MASU_OK:
        return CUDA_OK;
    case MASU_ERR_OUT_OF_MEMORY:
    case MASU_ERR_LIMIT_REACHED:
    case MASU_ERR_ADDRESS_SPACE:
    case MASU_ERR_OVERFLOW:
        return CUDA_OUT_OF_MEMORY;
    case MASU_ERR_DEVICE_FAILURE:
        return CUDA_UNKNOWN;
    default:
        return CUDA_INVALID_VALUE;
    }
}

/* ---- captures ------------------------------------------------------------------------------------------------ */

static void free_deferred(void) {
    for (;;) {
        pthread_mutex_lock(&lock);
        void *ptr = deferred_count && captures == 0 ? deferred[--deferred_count] : NULL;
        pthread_mutex_unlock(&lock);
        if (!ptr)
            return;
        masu_cuda_free(ptr);
    }
}

void masu_cuda_capture(int change) {
    if (atomic_fetch_add(&captures, change) + change <= 0)
        free_deferred();
}

bool masu_cuda_capturing(void) {
    return captures > 0;
}

static bool defer(void *ptr) {
    pthread_mutex_lock(&lock);
    bool room = deferred_count < MOST_DEFERRED;
    if (room)
        deferred[deferred_count++] = ptr;
    pthread_mutex_unlock(&lock);
    return room;
}

/* ---- taking and giving ------------------------------------------------------------------------------------------ */

/* Free small pools give their device blocks back before the answer is no. */
static masu_status alloc_from(device_pools *p, size_t bytes, void **out) {
    for (int attempt = 0;; attempt++) {
        masu_status status = bytes >= SMALL_BELOW
                                 ? masu_vm_alloc(p->vm, bytes, 0, LARGE, out)
                                 : masu_bestfit_alloc(p->small, bytes, ALIGNMENT, 0, out);
        if (status == MASU_OK || attempt > 0)
            return status;
        masu_bestfit_trim(p->small, 0);
    }
}

cuda_error masu_cuda_alloc(void **out, size_t bytes) {
    device_pools *p = current_pools();
    void *ptr;
    if (!p)
        return CUDA_NOT_SUPPORTED;
    masu_status status = alloc_from(p, bytes, &ptr);
    if (status == MASU_ERR_ADDRESS_SPACE) { /* not a lack of memory: the runtime may have it */
        masu_cuda_say(LOG_EVERYTHING, "malloc %zu: no addresses left, see VMM_RESERVE_SIZE_MB",
                      bytes);
        return CUDA_NOT_SUPPORTED;
    }
    cuda_error error = error_of(status);
    if (error == CUDA_OK)
        *out = ptr;
    masu_cuda_say(LOG_EVERYTHING, "malloc %zu: %d", bytes, error);
    return error;
}

/* Of the device that p stands for, whatever is current. */
static void wait_for(const device_pools *p) {
    const real_calls *real = masu_cuda_real();
    int before = 0, ordinal = (int)(p - pools);
    if (!real->cudaDeviceSynchronize || !real->cudaGetDevice || !real->cudaSetDevice ||
        real->cudaGetDevice(&before) != CUDA_OK)
        return;
    if (before != ordinal)
        real->cudaSetDevice(ordinal);
    real->cudaDeviceSynchronize();
    if (before != ordinal)
        real->cudaSetDevice(before);
}

cuda_error masu_cuda_free(void *ptr) {
    masu_vm_block block;
    masu_status status;
    device_pools *p = pools_of(ptr, &block, &status);
    if (!p || status != MASU_OK)
        return CUDA_INVALID_VALUE;
    if (masu_cuda_capturing())
        return defer(ptr) ? CUDA_OK : CUDA_OUT_OF_MEMORY;
    if (block.owner == LARGE) {
        status = masu_vm_free(p->vm, ptr); /* waits */
    } else {
        wait_for(p);
        status = masu_bestfit_free(p->small, ptr);
    }
    masu_cuda_say(LOG_EVERYTHING, "free %p: %s", ptr, masu_status_name(status));
    return error_of(status);
}

/* A small block becomes another by copying. */
static cuda_error grow_small(device_pools *p, void **ptr, size_t old, size_t bytes) {
    void *fresh;
    const real_calls *real = masu_cuda_real();
    masu_status status = alloc_from(p, bytes, &fresh);
    if (status != MASU_OK)
        return error_of(status);
    cuda_error error =
        real->cudaMemcpy(fresh, *ptr, old < bytes ? old : bytes, COPY_DEVICE_TO_DEVICE);
    if (error != CUDA_OK) {
        masu_cuda_free(fresh);
        return error;
    }
    error = masu_cuda_free(*ptr);
    *ptr = fresh;
    return error;
}

cuda_error masu_cuda_grow(void **ptr, size_t bytes) {
    masu_vm_block block;
    masu_status status;
    size_t old;
    void *out;
    device_pools *p = ptr && *ptr ? pools_of(*ptr, &block, &status) : NULL;
    if (!p || status != MASU_OK || bytes == 0)
        return CUDA_INVALID_VALUE;
    if (block.owner == LARGE) {
        status = masu_vm_resize(p->vm, *ptr, bytes, &out);
        *ptr = out;
        return error_of(status);
    }
    status = masu_bestfit_size_of(p->small, *ptr, &old);
    return status == MASU_OK ? grow_small(p, ptr, old, bytes) : error_of(status);
}

size_t masu_cuda_cached(void) {
    const real_calls *real = masu_cuda_real();
    int ordinal;
    if (!real->cudaGetDevice || real->cudaGetDevice(&ordinal) != CUDA_OK || ordinal < 0 ||
        ordinal >= known_devices || !pools[ordinal].vm)
        return 0;
    masu_vm_stats vm;
    masu_bestfit_stats small;
    masu_vm_get_stats(pools[ordinal].vm, &vm);
    masu_bestfit_get_stats(pools[ordinal].small, &small);
    return (size_t)(vm.stock_bytes + small.free_bytes);
}

void masu_cuda_summary(void) {
    for (int i = 0; i < known_devices; i++) {
        masu_vm_stats vm;
        masu_bestfit_stats small;
        if (!pools[i].vm)
            continue;
        masu_vm_get_stats(pools[i].vm, &vm);
        masu_bestfit_get_stats(pools[i].small, &small);
        masu_cuda_say(
            LOG_SUMMARY,
            "device %d: %llu large and %llu small allocations, %llu of the large without the "
            "driver, "
            "%llu fragments stitched; at most %llu MiB held; live at the end: %llu bytes",
            i, (unsigned long long)vm.allocations, (unsigned long long)small.allocations,
            (unsigned long long)vm.hot_allocs, (unsigned long long)vm.stock_fragments,
            (unsigned long long)(vm.peak_held_bytes >> 20),
            (unsigned long long)(vm.user_bytes - small.reserved_bytes + small.used_bytes));
    }
}
