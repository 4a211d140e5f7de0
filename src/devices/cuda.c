/* cuda.c: the memory of one CUDA device, through the driver's own interface.
 *
 * Each call makes the device's primary context current and the former one again, so it does not matter which device
 * the calling thread has chosen.
 *
 * Pieces are handles of cuMemCreate, which cannot be cut and are mapped whole. Moving maps them at the new place
 * first and takes them out of the old one last, so that a refusal anywhere leaves the old place untouched; between the
 * two a handle is mapped twice, which the driver allows.
 *
 *     remap   map each at `to`  ─►  access to  ─►  unmap from
 *                └───── undone by one unmap of `to` ─────┘
 *
 * When even the undoing is refused, the place keeps a second mapping of handles that are elsewhere: a debt, which is
 * paid before the next handle is released or addresses are given back.
 *
 * Work on the device goes on behind the processor's back: pools wait (MASU_DEVICE_STREAMS) before they unmap anything.
 *
 * At the end of a process the driver may be gone before the pools are. It then has taken everything back: giving back
 * succeeds.
 */
#include "devices/driver.h"

#include "base/assert.h"
#include "base/meta.h"
#include "base/size.h"
#include "devices/devices.h"

enum { ALIGNMENT = 256, HAS_VIRTUAL_MEMORY = 102, NO_TIMING = 2, MOST_DEBTS = 32 };

typedef struct debt {
    masu__cu_address address;
    size_t bytes;
} debt;

typedef struct cuda_device {
    masu_device head;
    masu__cu_driver driver;
    int ordinal;
    int number; /* the driver's for the ordinal */
    void *context;
    masu__cu_properties properties;
    masu__cu_access access;
    masu__lock lock; /* guards all below */
    debt debts[MOST_DEBTS];
    size_t debt_count;
} cuda_device;

static cuda_device *cuda_of(masu_device *device) {
    return (cuda_device *)device;
}

static masu_status status_of(masu__cu_result result) {
    if (result == MASU__CU_OK)
        return MASU_OK;
    return result == MASU__CU_OUT_OF_MEMORY ? MASU_ERR_OUT_OF_MEMORY : MASU_ERR_DEVICE_FAILURE;
}

/* For what gives something back. */
static masu_status status_of_return(masu__cu_result result) {
    return result == MASU__CU_DEINITIALIZED ? MASU_OK : status_of(result);
}

/* result of an expression evaluated in the device's context */
#define IN_CONTEXT(cuda, result, expression)                   \
    do {                                                       \
        void *popped;                                          \
        result = (cuda)->driver.context_push((cuda)->context); \
        if (result == MASU__CU_OK) {                           \
            result = (expression);                             \
            (cuda)->driver.context_pop(&popped);               \
        }                                                      \
    } while (0)

/* ---- blocks ---------------------------------------------------------------------------------------------- */

static masu_status cuda_alloc(masu_device *device, size_t bytes, void **out) {
    cuda_device *cuda = cuda_of(device);
    masu__cu_result result;
    masu__cu_address address = 0;
    IN_CONTEXT(cuda, result, cuda->driver.alloc(&address, bytes));
    *out = (void *)address;
    return status_of(result);
}

static masu_status cuda_free(masu_device *device, void *ptr, size_t bytes) {
    cuda_device *cuda = cuda_of(device);
    masu__cu_result result;
    (void)bytes;
    IN_CONTEXT(cuda, result, cuda->driver.free((masu__cu_address)ptr));
    return status_of_return(result);
}

static void cuda_destroy(masu_device *device) {
    cuda_device *cuda = cuda_of(device);
    cuda->driver.context_release(cuda->number);
    masu__cu_close(&cuda->driver);
    masu__lock_destroy(&cuda->lock);
    masu__meta_free(cuda, sizeof *cuda);
}

/* ---- debts --------------------------------------------------------------------------------------------------- */

/* One that finds no room is forgotten: the driver will then refuse to take the addresses back. */
static void owe(cuda_device *cuda, masu__cu_address address, size_t bytes) {
    masu__lock_take(&cuda->lock);
    if (cuda->debt_count < MOST_DEBTS)
        cuda->debts[cuda->debt_count++] = (debt){address, bytes};
    masu__lock_release(&cuda->lock);
}

static void pay_debts(cuda_device *cuda) {
    masu__lock_take(&cuda->lock);
    while (cuda->debt_count > 0) {
        debt last = cuda->debts[cuda->debt_count - 1];
        masu__cu_result result;
        IN_CONTEXT(cuda, result, cuda->driver.unmap(last.address, last.bytes));
        if (result != MASU__CU_OK)
            break;
        cuda->debt_count--;
    }
    masu__lock_release(&cuda->lock);
}

/* ---- virtual memory ---------------------------------------------------------------------------------------- */

static masu_status cuda_reserve(masu_device *device, size_t bytes, void **out) {
    cuda_device *cuda = cuda_of(device);
    masu__cu_result result;
    masu__cu_address address = 0;
    IN_CONTEXT(cuda, result, cuda->driver.reserve(&address, bytes, device->info.vm_granularity_bytes, 0, 0));
    *out = (void *)address;
    return result == MASU__CU_OUT_OF_MEMORY ? MASU_ERR_ADDRESS_SPACE : status_of(result);
}

static masu_status cuda_unreserve(masu_device *device, void *address, size_t bytes) {
    cuda_device *cuda = cuda_of(device);
    masu__cu_result result;
    pay_debts(cuda);
    IN_CONTEXT(cuda, result, cuda->driver.unreserve((masu__cu_address)address, bytes));
    return status_of_return(result);
}

static masu_status cuda_create(masu_device *device, size_t bytes, uint64_t *out) {
    cuda_device *cuda = cuda_of(device);
    masu__cu_result result;
    IN_CONTEXT(cuda, result, cuda->driver.create(out, bytes, &cuda->properties, 0));
    return status_of(result);
}

static masu_status cuda_release(masu_device *device, masu__piece piece) {
    cuda_device *cuda = cuda_of(device);
    masu__cu_result result;
    pay_debts(cuda);
    IN_CONTEXT(cuda, result, cuda->driver.release(piece.handle));
    return status_of_return(result);
}

static masu_status cuda_map(masu_device *device, void *address, masu__piece piece) {
    cuda_device *cuda = cuda_of(device);
    masu__cu_result result;
    IN_CONTEXT(cuda, result, cuda->driver.map((masu__cu_address)address, piece.bytes, 0, piece.handle, 0));
    return status_of(result);
}

static masu_status cuda_access(masu_device *device, void *address, size_t bytes) {
    cuda_device *cuda = cuda_of(device);
    masu__cu_result result;
    IN_CONTEXT(cuda, result, cuda->driver.access((masu__cu_address)address, bytes, &cuda->access, 1));
    return status_of(result);
}

static size_t sum_of(const masu__piece *pieces, size_t count) {
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += pieces[i].bytes;
    return bytes;
}

/* One call for the whole run: the driver does it wholly or not at all. */
static masu_status cuda_unmap(masu_device *device, void *address, const masu__piece *pieces, size_t count) {
    cuda_device *cuda = cuda_of(device);
    masu__cu_result result;
    IN_CONTEXT(cuda, result, cuda->driver.unmap((masu__cu_address)address, sum_of(pieces, count)));
    return status_of_return(result);
}

static masu__cu_result remap_in_context(cuda_device *cuda, masu__cu_address from, masu__cu_address to,
                                        const masu__piece *pieces, size_t count, bool *dirty) {
    const masu__cu_driver *driver = &cuda->driver;
    masu__cu_result result = MASU__CU_OK;
    size_t mapped = 0;
    for (size_t i = 0; i < count && result == MASU__CU_OK; i++) {
        result = driver->map(to + mapped, pieces[i].bytes, 0, pieces[i].handle, 0);
        mapped += result == MASU__CU_OK ? pieces[i].bytes : 0;
    }
    if (result == MASU__CU_OK)
        result = driver->access(to, mapped, &cuda->access, 1);
    if (result == MASU__CU_OK)
        result = driver->unmap(from, mapped);
    *dirty = result != MASU__CU_OK && mapped > 0 && driver->unmap(to, mapped) != MASU__CU_OK;
    if (*dirty)
        owe(cuda, to, mapped);
    return result;
}

static masu_status cuda_remap(masu_device *device, void *from, void *to, const masu__piece *pieces, size_t count) {
    cuda_device *cuda = cuda_of(device);
    masu__cu_result result;
    bool dirty = false;
    IN_CONTEXT(cuda, result,
               remap_in_context(cuda, (masu__cu_address)from, (masu__cu_address)to, pieces, count, &dirty));
    return dirty ? MASU_ERR_CORRUPT : status_of(result);
}

static masu_status cuda_copy(masu_device *device, void *to, const void *from, size_t bytes) {
    cuda_device *cuda = cuda_of(device);
    masu__cu_result result;
    IN_CONTEXT(cuda, result, cuda->driver.copy((masu__cu_address)to, (masu__cu_address)from, bytes));
    return status_of(result);
}

static masu_status cuda_wait(masu_device *device) {
    cuda_device *cuda = cuda_of(device);
    masu__cu_result result;
    IN_CONTEXT(cuda, result, cuda->driver.synchronize());
    return status_of_return(result);
}

/* ---- streams ------------------------------------------------------------------------------------------------- */

static masu_status cuda_record(masu_device *device, void *stream, void **event) {
    cuda_device *cuda = cuda_of(device);
    masu__cu_result result;
    if (*event == NULL)
        IN_CONTEXT(cuda, result, cuda->driver.event_create(event, NO_TIMING));
    else
        result = MASU__CU_OK;
    if (result == MASU__CU_OK)
        IN_CONTEXT(cuda, result, cuda->driver.event_record(*event, stream));
    return status_of(result);
}

static masu_status cuda_is_done(masu_device *device, void *event, bool *done) {
    cuda_device *cuda = cuda_of(device);
    masu__cu_result result = cuda->driver.event_query(event);
    *done = result == MASU__CU_OK || result == MASU__CU_DEINITIALIZED;
    return *done || result == MASU__CU_NOT_READY ? MASU_OK : status_of(result);
}

static masu_status cuda_wait_event(masu_device *device, void *event) {
    return status_of_return(cuda_of(device)->driver.event_wait(event));
}

static void cuda_drop_event(masu_device *device, void *event) {
    cuda_of(device)->driver.event_destroy(event);
}

/* A number that no other stream ever has, where the driver knows one. */
static uint64_t cuda_stream_id(masu_device *device, void *stream) {
    cuda_device *cuda = cuda_of(device);
    unsigned long long id = 0;
    if (cuda->driver.stream_id) {
        masu__cu_result result;
        IN_CONTEXT(cuda, result, cuda->driver.stream_id(stream, &id));
        if (result == MASU__CU_OK)
            return id;
    }
    return (uint64_t)(uintptr_t)stream;
}

/* ---- creation ------------------------------------------------------------------------------------------------ */

static const masu__device_ops cuda_ops = {cuda_alloc, cuda_free, cuda_destroy, NULL, NULL};

static const masu__device_vm_ops cuda_vm_ops = {
    .reserve = cuda_reserve,
    .unreserve = cuda_unreserve,
    .create = cuda_create,
    .release = cuda_release,
    .map = cuda_map,
    .access = cuda_access,
    .unmap = cuda_unmap,
    .remap = cuda_remap,
    .copy = cuda_copy,
    .wait = cuda_wait,
};

static const masu__device_stream_ops cuda_stream_ops = {
    .record = cuda_record,
    .is_done = cuda_is_done,
    .wait = cuda_wait_event,
    .drop = cuda_drop_event,
    .id = cuda_stream_id,
};

/* Fills in the driver's description of the device; needs its context. */
static masu_status ask(cuda_device *cuda, masu_device_info *info) {
    size_t memory = 0, granule = 0;
    int has = 0;
    masu__cu_result result = cuda->driver.device_memory(&memory, cuda->number);
    if (result == MASU__CU_OK)
        result = cuda->driver.device_attribute(&has, HAS_VIRTUAL_MEMORY, cuda->number);
    if (result == MASU__CU_OK && has)
        IN_CONTEXT(cuda, result, cuda->driver.granularity(&granule, &cuda->properties, 0));
    if (result != MASU__CU_OK || !masu__is_power_of_two(granule))
        granule = 0;
    *info = (masu_device_info){
        .name = "cuda",
        .flags = MASU_DEVICE_STREAMS,
        .alignment_bytes = ALIGNMENT,
        .granularity_bytes = ALIGNMENT,
        .vm_granularity_bytes = granule,
        .memory_bytes = memory,
    };
    return status_of(result);
}

static masu_status open_device(cuda_device *cuda, const char *library, masu_device_info *info) {
    masu_status status = masu__cu_open(library, &cuda->driver);
    if (status != MASU_OK)
        return status;
    if (cuda->driver.device_get(&cuda->number, cuda->ordinal) != MASU__CU_OK)
        status = MASU_ERR_INVALID_ARGUMENT;
    else if (cuda->driver.context_retain(&cuda->context, cuda->number) != MASU__CU_OK)
        status = MASU_ERR_DEVICE_FAILURE;
    if (status == MASU_OK) {
        status = ask(cuda, info);
        if (status != MASU_OK)
            cuda->driver.context_release(cuda->number);
    }
    if (status != MASU_OK)
        masu__cu_close(&cuda->driver);
    return status;
}

masu_status masu_device_create_cuda(const masu_cuda_config *config, masu_device **out) {
    if (!out)
        return MASU_ERR_INVALID_ARGUMENT;
    *out = NULL;
    if (!config || config->ordinal < 0)
        return MASU_ERR_INVALID_ARGUMENT;
    cuda_device *cuda = masu__meta_calloc(1, sizeof *cuda);
    if (!cuda)
        return MASU_ERR_OUT_OF_MEMORY;
    masu_device_info info;
    cuda->ordinal = config->ordinal;
    cuda->properties = (masu__cu_properties){.type = 1, .where = {1, config->ordinal}};
    cuda->access = (masu__cu_access){{1, config->ordinal}, 3};
    masu_status status = open_device(cuda, config->library, &info);
    if (status != MASU_OK) {
        masu__meta_free(cuda, sizeof *cuda);
        return status;
    }
    masu__lock_init(&cuda->lock, MASU__RANK_DEVICE);
    masu__device_init(&cuda->head, &cuda_ops, info);
    cuda->head.vm = info.vm_granularity_bytes ? &cuda_vm_ops : NULL;
    cuda->head.streams = &cuda_stream_ops;
    *out = &cuda->head;
    return MASU_OK;
}
