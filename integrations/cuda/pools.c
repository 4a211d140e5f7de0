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

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define SMALL_BELOW ((size_t)1 << 20)
/* A live block keeps the device block under it, so that is as small as the driver makes memory. */
#define SMALL_POOL ((size_t)2 << 20)

enum { LARGE = 1, ALIGNMENT = 256 };

/* The driver, held by the device of the pools; the program's context is left as it is. */
typedef struct driver_calls {
    cuda_error (*push)(void *);
    cuda_error (*pop)(void **);
    cuda_error (*wait)(void);
    cuda_error (*copy)(uintptr_t, uintptr_t, size_t);
    cuda_error (*retain)(void **, int);
    cuda_error (*release)(int);
} driver_calls;

typedef struct device_pools {
    masu_device *cuda, *over;
    masu_vm *vm;
    masu_bestfit *small;
    driver_calls driver;
    void *context; /* the device's primary one, retained */
    bool failed;   /* said once; the runtime serves this device */
} device_pools;

static device_pools pools[MOST_DEVICES];
static _Atomic int known_devices; /* pools[0 … known_devices - 1] may be there */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int captures;

/* ---- making ------------------------------------------------------------------------------------------------ */

/* The device has opened the library, so that it is there. */
static masu_status find_driver(device_pools *p, int ordinal) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    dlsym_function look = masu_cuda_real_dlsym();
    driver_calls *d = &p->driver;
    if (!library)
        return MASU_ERR_UNSUPPORTED;
    *(void **)&d->push = look(library, "cuCtxPushCurrent_v2");
    *(void **)&d->pop = look(library, "cuCtxPopCurrent_v2");
    *(void **)&d->wait = look(library, "cuCtxSynchronize");
    *(void **)&d->copy = look(library, "cuMemcpy");
    *(void **)&d->retain = look(library, "cuDevicePrimaryCtxRetain");
    *(void **)&d->release = look(library, "cuDevicePrimaryCtxRelease_v2");
    dlclose(library);
    if (!d->push || !d->pop || !d->wait || !d->copy || !d->retain || !d->release)
        return MASU_ERR_UNSUPPORTED;
    return d->retain(&p->context, ordinal) == CUDA_OK ? MASU_OK : MASU_ERR_DEVICE_FAILURE;
}

static masu_status make(device_pools *p, int ordinal) {
    const settings *s = masu_cuda_settings();
    masu_cuda_config cuda = {.ordinal = ordinal};
    masu_status status = masu_device_create_cuda(&cuda, &p->cuda);
    if (status == MASU_OK)
        status = find_driver(p, ordinal);
    if (status != MASU_OK)
        return status;
    masu_vm_config config = masu_vm_config_default(p->cuda);
    config.trace = masu_cuda_trace();
    config.name = "device memory";
    config.reserve_bytes = s->reserve_bytes;
    config.fragment_ratio = s->fragment_ratio;
    status = masu_vm_create(&config, &p->vm);
    if (status == MASU_OK)
        status = masu_device_create_over_vm(p->vm, &p->over);
    if (status == MASU_OK) {
        masu_bestfit_config small = masu_bestfit_config_default(p->over);
        small.pool_bytes = SMALL_POOL;
        small.initial_bytes = 0;
        small.name = "small blocks";
        small.trace = masu_cuda_wants_events() ? NULL : config.trace; /* the log shows memory, not what is cut of it */
        status = masu_bestfit_create(&small, &p->small);
    }
    return status;
}

static void unmake(device_pools *p) {
    masu_bestfit_destroy(p->small);
    masu_device_destroy(p->over);
    masu_vm_destroy(p->vm);
    if (p->context)
        p->driver.release((int)(p - pools));
    masu_device_destroy(p->cuda);
    *p = (device_pools){.failed = true};
}

/* The pools of a device, made at the first request; NULL: it has none. */
static device_pools *pools_for(int ordinal) {
    if (ordinal < 0 || ordinal >= MOST_DEVICES)
        return NULL;
    device_pools *p = &pools[ordinal];
    pthread_mutex_lock(&lock);
    if (!p->vm && !p->failed) {
        masu_status status = make(p, ordinal);
        if (status != MASU_OK) {
            unmake(p);
            masu_cuda_say(LOG_WARNINGS, "device %d: no virtual memory (%s); its memory stays the runtime's", ordinal,
                          masu_status_text(status));
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
    for (void *ptr; captures == 0 && (ptr = masu_cuda_undefer()) != NULL;)
        masu_cuda_free(ptr);
}

void masu_cuda_capture(int change) {
    if (atomic_fetch_add(&captures, change) + change <= 0)
        free_deferred();
}

bool masu_cuda_capturing(void) {
    return captures > 0;
}

/* Whether ptr is where a block of p begins. */
static bool begins_block(device_pools *p, const void *ptr, const masu_vm_block *block) {
    size_t bytes;
    return block->owner == LARGE ? block->address == ptr : masu_bestfit_size_of(p->small, ptr, &bytes) == MASU_OK;
}

static cuda_error defer(device_pools *p, void *ptr, const masu_vm_block *block) {
    return begins_block(p, ptr, block) && masu_cuda_defer(ptr) ? CUDA_OK : CUDA_INVALID_VALUE;
}

/* ---- taking and giving ------------------------------------------------------------------------------------------ */

/* Free small pools give their device blocks back before the answer is no. */
static masu_status alloc_from(device_pools *p, size_t bytes, void **out) {
    for (int attempt = 0;; attempt++) {
        masu_status status = bytes >= SMALL_BELOW ? masu_vm_alloc(p->vm, bytes, 0, LARGE, out)
                                                  : masu_bestfit_alloc(p->small, bytes, ALIGNMENT, 0, out);
        if (status == MASU_OK || attempt > 0)
            return status;
        masu_bestfit_trim(p->small, 0);
    }
}

static cuda_error answer(size_t bytes, masu_status status) {
    if (status == MASU_ERR_ADDRESS_SPACE) { /* not a lack of memory: behind us there may be some */
        masu_cuda_say(LOG_EVERYTHING, "malloc %zu: no addresses left, see VMM_RESERVE_SIZE_MB", bytes);
        return CUDA_NOT_SUPPORTED;
    }
    cuda_error error = error_of(status);
    masu_cuda_say(LOG_EVERYTHING, "malloc %zu: %d", bytes, error);
    return error;
}

cuda_error masu_cuda_alloc(int ordinal, void **out, size_t bytes) {
    device_pools *p = pools_for(ordinal);
    void *ptr;
    if (!p)
        return CUDA_NOT_SUPPORTED;
    if (!masu_cuda_defer_room())
        return CUDA_OUT_OF_MEMORY;
    masu_status status = alloc_from(p, bytes, &ptr);
    if (status == MASU_OK)
        *out = ptr;
    else
        masu_cuda_defer_drop();
    return answer(bytes, status);
}

/* Until the device that p belongs to has done its work, whatever is current. */
static void wait_for(const device_pools *p) {
    void *same;
    if (p->driver.push(p->context) != CUDA_OK)
        return;
    p->driver.wait();
    p->driver.pop(&same);
}

cuda_error masu_cuda_free(void *ptr) {
    masu_vm_block block;
    masu_status status;
    device_pools *p = pools_of(ptr, &block, &status);
    if (!p || status != MASU_OK)
        return CUDA_INVALID_VALUE;
    if (masu_cuda_capturing())
        return defer(p, ptr, &block);
    if (block.owner == LARGE) {
        status = masu_vm_free(p->vm, ptr); /* waits */
    } else {
        wait_for(p);
        status = masu_bestfit_free(p->small, ptr);
    }
    if (status == MASU_OK)
        masu_cuda_defer_drop();
    masu_cuda_say(LOG_EVERYTHING, "free %p: %s", ptr, masu_status_name(status));
    return error_of(status);
}

static cuda_error copy(const device_pools *p, void *to, const void *from, size_t bytes) {
    void *same;
    cuda_error error = p->driver.push(p->context);
    if (error != CUDA_OK)
        return error;
    error = p->driver.copy((uintptr_t)to, (uintptr_t)from, bytes);
    p->driver.pop(&same);
    return error;
}

/* A small block becomes another by copying. */
static cuda_error grow_small(device_pools *p, void **ptr, size_t old, size_t bytes) {
    void *fresh;
    cuda_error error = masu_cuda_alloc((int)(p - pools), &fresh, bytes);
    if (error != CUDA_OK)
        return error == CUDA_NOT_SUPPORTED ? CUDA_OUT_OF_MEMORY : error;
    error = copy(p, fresh, *ptr, old < bytes ? old : bytes);
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

/* ---- what is there ----------------------------------------------------------------------------------------------- */

typedef struct containing {
    uintptr_t address;
    masu_bestfit_block block;
} containing;

static bool contains(void *context, const masu_bestfit_block *block) {
    containing *c = context;
    if (c->address < (uintptr_t)block->address || c->address - (uintptr_t)block->address >= block->bytes)
        return true;
    c->block = *block;
    return false;
}

cuda_error masu_cuda_range(const void *ptr, uintptr_t *base, size_t *bytes) {
    masu_vm_block block;
    masu_status status;
    device_pools *p = pools_of(ptr, &block, &status);
    if (!p || status != MASU_OK)
        return CUDA_INVALID_VALUE;
    containing c = {(uintptr_t)ptr, {.address = block.address, .bytes = block.user_bytes}};
    if (block.owner != LARGE) {
        c.block.bytes = 0;
        masu_bestfit_visit_live(p->small, contains, &c);
    }
    if (c.block.bytes == 0 || c.address - (uintptr_t)c.block.address >= c.block.bytes)
        return CUDA_INVALID_VALUE;
    if (base)
        *base = (uintptr_t)c.block.address;
    if (bytes)
        *bytes = c.block.bytes;
    return CUDA_OK;
}

typedef struct kept {
    uintptr_t pool; /* the last one with a live block */
    size_t bytes;
} kept;

/* Small pools are aligned to their size; blocks come in order of address. */
static bool keeps(void *context, const masu_bestfit_block *block) {
    kept *k = context;
    uintptr_t pool = (uintptr_t)block->address / SMALL_POOL + 1;
    k->bytes += pool == k->pool ? 0 : SMALL_POOL;
    k->pool = pool;
    return true;
}

size_t masu_cuda_cached(int ordinal) {
    masu_vm_stats vm;
    masu_bestfit_stats small;
    kept k = {0};
    if (ordinal < 0 || ordinal >= known_devices || !pools[ordinal].vm)
        return 0;
    const device_pools *p = &pools[ordinal];
    masu_vm_get_stats(p->vm, &vm);
    masu_bestfit_visit_live(p->small, keeps, &k);
    masu_bestfit_get_stats(p->small, &small);
    size_t idle = small.reserved_bytes > k.bytes ? (size_t)small.reserved_bytes - k.bytes : 0;
    return (size_t)vm.stock_bytes + idle;
}

void masu_cuda_summary(void) {
    for (int i = 0; i < known_devices; i++) {
        masu_vm_stats vm;
        masu_bestfit_stats small;
        if (!pools[i].vm)
            continue;
        masu_vm_get_stats(pools[i].vm, &vm);
        masu_bestfit_get_stats(pools[i].small, &small);
        masu_cuda_say(LOG_SUMMARY,
                      "device %d: %llu large and %llu small allocations, %llu of the large without the driver, "
                      "%llu fragments stitched; at most %llu MiB held; live at the end: %llu bytes",
                      i, (unsigned long long)vm.allocations, (unsigned long long)small.allocations,
                      (unsigned long long)vm.hot_allocs, (unsigned long long)vm.stock_fragments,
                      (unsigned long long)(vm.peak_held_bytes >> 20),
                      (unsigned long long)(vm.user_bytes - small.reserved_bytes + small.used_bytes));
    }
}
