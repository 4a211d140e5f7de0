/* memory.c: handles, what is mapped where, and plain allocations, of the simulated driver. */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fake_cuda/state.h"

typedef struct properties {
    int type, handle_types;
    location where;
    void *win32;
    unsigned char flags[8];
} properties;

typedef struct access_description {
    location where;
    int flags;
} access_description;

typedef struct handle {
    size_t bytes;
    off_t offset;
    int device;
    unsigned mapped; /* at how many places */
    bool released;
    bool used;
} handle;

typedef struct mapping {
    address at;
    size_t bytes;
    size_t handle; /* index; SIZE_MAX: cuMemAlloc */
    bool accessible;
} mapping;

typedef struct range {
    address at;
    size_t bytes;
} range;

static int memory = -1;
static off_t memory_end;
static uint64_t used_bytes[MOST_DEVICES];
static handle handles[MOST];
static size_t handle_count;
static mapping mappings[MOST];
static size_t mapping_count;
static range reservations[MOST];
static size_t reservation_count;

void memory_start(void) {
    memory = memfd_create("fake cuda", MFD_CLOEXEC);
}

void memory_count(fake_cuda_report *out) {
    for (size_t i = 0; i < handle_count; i++) {
        out->handles += handles[i].used;
        out->handle_bytes += handles[i].used ? handles[i].bytes : 0;
        out->aliases += handles[i].used && handles[i].mapped > 1;
    }
    out->mappings = mapping_count;
    out->reservations = reservation_count;
}

static mapping *mapping_at(address at) {
    for (size_t i = 0; i < mapping_count; i++)
        if (mappings[i].at == at)
            return &mappings[i];
    return NULL;
}

bool touches(address a, size_t a_bytes, address b, size_t b_bytes) {
    return a < b + b_bytes && b < a + a_bytes;
}

static bool free_of_mappings(address at, size_t bytes) {
    for (size_t i = 0; i < mapping_count; i++)
        if (touches(mappings[i].at, mappings[i].bytes, at, bytes))
            return false;
    return true;
}

static bool in_a_reservation(address at, size_t bytes) {
    for (size_t i = 0; i < reservation_count; i++)
        if (at >= reservations[i].at && at + bytes <= reservations[i].at + reservations[i].bytes)
            return true;
    return false;
}

static void handle_drop(handle *h) {
    if (!h->released || h->mapped > 0)
        return;
    fallocate(memory, 3 /* FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE */, h->offset, (off_t)h->bytes);
    used_bytes[h->device] -= h->bytes;
    h->used = false;
}

API int cuMemGetAllocationGranularity(size_t *out, const properties *p, int option) {
    (void)option;
    ENTER("cuMemGetAllocationGranularity");
    if (p->where.type != 1 || p->where.id < 0 || p->where.id >= device_count)
        return leave_call(INVALID_VALUE);
    *out = GRANULE;
    return leave_call(OK);
}

API int cuMemAddressReserve(address *out, size_t bytes, size_t alignment, address fixed, unsigned long long flags) {
    (void)fixed;
    ENTER("cuMemAddressReserve");
    if (bytes == 0 || bytes % GRANULE || flags)
        return leave_call(misuse("cuMemAddressReserve", "size or flags"));
    size_t step = alignment > GRANULE ? alignment : GRANULE;
    char *at = mmap(NULL, bytes + step, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED || reservation_count == MOST)
        return leave_call(OUT_OF_MEMORY);
    size_t before = (size_t)(-(address)at & (step - 1));
    if (before)
        munmap(at, before);
    if (before < step)
        munmap(at + before + bytes, step - before);
    *out = (address)at + before;
    reservations[reservation_count++] = (range){*out, bytes};
    return leave_call(OK);
}

API int cuMemAddressFree(address at, size_t bytes) {
    ENTER("cuMemAddressFree");
    for (size_t i = 0; i < reservation_count; i++)
        if (reservations[i].at == at && reservations[i].bytes == bytes) {
            if (!free_of_mappings(at, bytes))
                return leave_call(misuse("cuMemAddressFree", "something is mapped there"));
            munmap((void *)at, bytes);
            reservations[i] = reservations[--reservation_count];
            return leave_call(OK);
        }
    return leave_call(misuse("cuMemAddressFree", "no such reservation"));
}

API int cuMemCreate(unsigned long long *out, size_t bytes, const properties *p, unsigned long long flags) {
    ENTER("cuMemCreate");
    if (bytes == 0 || bytes % GRANULE || flags || p->type != 1 || p->where.type != 1 || p->where.id < 0 ||
        p->where.id >= device_count)
        return leave_call(misuse("cuMemCreate", "size, flags or properties"));
    if (used_bytes[p->where.id] + bytes > device_bytes)
        return leave_call(OUT_OF_MEMORY);
    size_t i = 0;
    while (i < handle_count && handles[i].used)
        i++;
    if (i == MOST)
        return leave_call(OUT_OF_MEMORY);
    handle_count += i == handle_count;
    handles[i] = (handle){.bytes = bytes, .offset = memory_end, .device = p->where.id, .used = true};
    memory_end += (off_t)bytes;
    if (ftruncate(memory, memory_end) != 0)
        return leave_call(OUT_OF_MEMORY);
    used_bytes[p->where.id] += bytes;
    *out = i + 1;
    report.creates++;
    return leave_call(OK);
}

static handle *handle_of(unsigned long long number) {
    return number >= 1 && number <= handle_count && handles[number - 1].used ? &handles[number - 1] : NULL;
}

API int cuMemRelease(unsigned long long number) {
    ENTER("cuMemRelease");
    handle *h = handle_of(number);
    if (!h || h->released)
        return leave_call(misuse("cuMemRelease", "released twice or never created"));
    if (h->mapped)
        return leave_call(misuse("cuMemRelease", "still mapped"));
    h->released = true;
    handle_drop(h);
    return leave_call(OK);
}

API int cuMemMap(address at, size_t bytes, size_t offset, unsigned long long number, unsigned long long flags) {
    ENTER("cuMemMap");
    handle *h = handle_of(number);
    if (!h || h->released)
        return leave_call(misuse("cuMemMap", "no such handle"));
    if (offset || flags || bytes != h->bytes || at % GRANULE)
        return leave_call(misuse("cuMemMap", "not the whole handle, or misaligned"));
    if (!in_a_reservation(at, bytes))
        return leave_call(misuse("cuMemMap", "outside of every reservation"));
    if (!free_of_mappings(at, bytes))
        return leave_call(misuse("cuMemMap", "over another mapping"));
    if (mapping_count == MOST ||
        mmap((void *)at, bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, memory, h->offset) == MAP_FAILED)
        return leave_call(OUT_OF_MEMORY);
    mappings[mapping_count++] = (mapping){at, bytes, number - 1, false};
    h->mapped++;
    report.maps++;
    return leave_call(OK);
}

/* Only whole mappings, without a gap. */
API int cuMemUnmap(address at, size_t bytes) {
    ENTER("cuMemUnmap");
    for (address next = at; next < at + bytes;) {
        mapping *m = mapping_at(next);
        if (!m || m->handle == SIZE_MAX || next + m->bytes > at + bytes)
            return leave_call(misuse("cuMemUnmap", "not mapped, or a part of a mapping"));
        next += m->bytes;
    }
    if (work_touches(at, bytes)) {
        report.unmapped_under_work++;
        misuse("cuMemUnmap", "queued work would touch it");
    }
    if (mmap((void *)at, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) ==
        MAP_FAILED)
        return leave_call(OUT_OF_MEMORY);
    for (address next = at; next < at + bytes;) {
        mapping *m = mapping_at(next);
        next += m->bytes;
        handles[m->handle].mapped--;
        handle_drop(&handles[m->handle]);
        *m = mappings[--mapping_count];
    }
    report.unmaps++;
    return leave_call(OK);
}

API int cuMemSetAccess(address at, size_t bytes, const access_description *list, size_t count) {
    ENTER("cuMemSetAccess");
    for (size_t i = 0; i < count; i++)
        if (list[i].where.type != 1 || list[i].where.id < 0 || list[i].where.id >= device_count || list[i].flags != 3)
            return leave_call(misuse("cuMemSetAccess", "descriptions"));
    for (address next = at; next < at + bytes;) {
        mapping *m = mapping_at(next);
        if (!m || next + m->bytes > at + bytes)
            return leave_call(misuse("cuMemSetAccess", "not mapped, or a part of a mapping"));
        next += m->bytes;
    }
    if (mprotect((void *)at, bytes, PROT_READ | PROT_WRITE) != 0)
        return leave_call(OUT_OF_MEMORY);
    return leave_call(OK);
}

static int allocate(const char *name, address *out, size_t bytes, int where) {
    ENTER(name);
    if (captures_open())
        return leave_call(CAPTURED);
    int device = chosen_device();
    if (device < 0)
        return leave_call(INVALID_CONTEXT);
    size_t rounded = (bytes + GRANULE - 1) / GRANULE * GRANULE;
    if (bytes == 0 || rounded < bytes)
        return leave_call(INVALID_VALUE);
    if (used_bytes[device] + rounded > device_bytes || mapping_count == MOST)
        return leave_call(OUT_OF_MEMORY);
    void *at = mmap(NULL, rounded, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | where, -1, 0);
    if (at == MAP_FAILED)
        return leave_call(OUT_OF_MEMORY);
    mappings[mapping_count++] = (mapping){(address)at, rounded, SIZE_MAX, true};
    used_bytes[device] += rounded;
    report.allocations++;
    *out = (address)at;
    return leave_call(OK);
}

static int release(const char *name, address at) {
    ENTER(name);
    mapping *m = mapping_at(at);
    if (!m || m->handle != SIZE_MAX)
        return leave_call(misuse(name, "no allocation"));
    munmap((void *)at, m->bytes);
    int device = chosen_device();
    used_bytes[device < 0 ? 0 : device] -= m->bytes;
    *m = mappings[--mapping_count];
    report.allocations--;
    return leave_call(OK);
}

API int cuMemAlloc_v2(address *out, size_t bytes) {
    return allocate("cuMemAlloc_v2", out, bytes, 0);
}

API int cuMemFree_v2(address at) {
    return release("cuMemFree_v2", at);
}

/* As before CUDA 3.2: an address has 32 bits, and so has a size. */
API int cuMemAlloc(unsigned *out, unsigned bytes) {
    address at = 0;
    int error = allocate("cuMemAlloc", &at, bytes, MAP_32BIT);
    *out = (unsigned)at;
    return error;
}

API int cuMemFree(unsigned at) {
    return release("cuMemFree", at);
}

API int cuMemAllocPitch_v2(address *out, size_t *pitch, size_t width, size_t height, unsigned element) {
    (void)element;
    *pitch = (width + 511) / 512 * 512;
    return allocate("cuMemAllocPitch_v2", out, *pitch * height, 0);
}

API int cuMemAllocManaged(address *out, size_t bytes, unsigned flags) {
    (void)flags;
    return allocate("cuMemAllocManaged", out, bytes, 0);
}

/* Pools are looked after so far that none is used before it is made or after it is gone; NULL is the device's own. */
enum { MOST_POOLS = 16 };
static bool pools[MOST_POOLS];
static char own_pool;

static bool pool_is_there(const void *pool) {
    const bool *p = pool;
    return !pool || pool == &own_pool || (p >= pools && p < pools + MOST_POOLS && *p);
}

API int cuMemPoolCreate(void **out, const void *wanted) {
    ENTER("cuMemPoolCreate");
    (void)wanted;
    for (int i = 0; i < MOST_POOLS; i++)
        if (!pools[i]) {
            pools[i] = true;
            *out = &pools[i];
            return leave_call(OK);
        }
    return leave_call(OUT_OF_MEMORY);
}

API int cuMemPoolDestroy(void *pool) {
    ENTER("cuMemPoolDestroy");
    if (!pool || pool == &own_pool || !pool_is_there(pool))
        return leave_call(misuse("cuMemPoolDestroy", "no pool"));
    *(bool *)pool = false;
    return leave_call(OK);
}

API int cuMemPoolTrimTo(void *pool, size_t keep) {
    ENTER("cuMemPoolTrimTo");
    (void)keep;
    return leave_call(pool_is_there(pool) ? OK : misuse("cuMemPoolTrimTo", "no pool"));
}

API int cuDeviceGetDefaultMemPool(void **out, int device) {
    ENTER("cuDeviceGetDefaultMemPool");
    if (device < 0 || device >= device_count)
        return leave_call(INVALID_VALUE);
    *out = &own_pool;
    return leave_call(OK);
}

#define ASYNC(suffix)                                                                               \
    API int cuMemAllocAsync##suffix(address *out, size_t bytes, void *stream) {                     \
        (void)stream;                                                                               \
        return allocate("cuMemAllocAsync" #suffix, out, bytes, 0);                                  \
    }                                                                                               \
    API int cuMemAllocFromPoolAsync##suffix(address *out, size_t bytes, void *pool, void *stream) { \
        (void)stream;                                                                               \
        if (!pool_is_there(pool)) {                                                                 \
            ENTER("cuMemAllocFromPoolAsync" #suffix);                                               \
            return leave_call(misuse("cuMemAllocFromPoolAsync", "no pool"));                        \
        }                                                                                           \
        return allocate("cuMemAllocFromPoolAsync" #suffix, out, bytes, 0);                          \
    }                                                                                               \
    API int cuMemFreeAsync##suffix(address at, void *stream) {                                      \
        (void)stream;                                                                               \
        return release("cuMemFreeAsync" #suffix, at);                                               \
    }

ASYNC()
ASYNC(_ptsz)

/* Of what cuMemAlloc gave; of mapped memory the handle that lies there, as in the real one. */
API int cuMemGetAddressRange_v2(address *base, size_t *bytes, address at) {
    ENTER("cuMemGetAddressRange_v2");
    for (size_t i = 0; i < mapping_count; i++)
        if (at - mappings[i].at < mappings[i].bytes) {
            *base = mappings[i].at;
            *bytes = mappings[i].bytes;
            return leave_call(OK);
        }
    return leave_call(NOT_FOUND);
}

API int cuIpcGetMemHandle(void *handle, address at) {
    ENTER("cuIpcGetMemHandle");
    memcpy(handle, &at, sizeof at);
    mapping *m = mapping_at(at);
    return leave_call(m && m->handle == SIZE_MAX ? OK : misuse("cuIpcGetMemHandle", "no allocation"));
}

API int cuMemGetInfo_v2(size_t *free_bytes, size_t *total) {
    ENTER("cuMemGetInfo_v2");
    int device = chosen_device();
    if (device < 0)
        return leave_call(INVALID_CONTEXT);
    *free_bytes = device_bytes - used_bytes[device];
    *total = device_bytes;
    return leave_call(OK);
}
