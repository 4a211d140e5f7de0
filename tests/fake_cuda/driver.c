/* driver.c: a CUDA driver over pages of this process. See driver.h. Only what masu and its tests call. */
#include "fake_cuda/driver.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    OK = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    INVALID_DEVICE = 101,
    INVALID_CONTEXT = 201,
    NOT_FOUND = 500,
    NOT_READY = 600
};
enum { GRANULE = 2 << 20, MOST_DEVICES = 8, MOST = 1 << 16 };

#define API __attribute__((visibility("default")))

typedef uintptr_t address;

typedef struct location {
    int type, id;
} location;

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

/* records: recording again replaces what was recorded before, also what has not come yet */
typedef struct event {
    bool recorded, done;
    int records;
} event;

typedef enum work_kind { FILL, COPY, SIGNAL, WAIT } work_kind;

typedef struct work {
    work_kind kind;
    address to, from;
    size_t bytes;
    int value;
    event *event;
} work;

typedef struct stream {
    work *items;
    size_t count, capacity;
    uint64_t id;
    int device;
    bool used;
} stream;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool initialised;
static int memory = -1;
static off_t memory_end;
static int device_count;
static uint64_t device_bytes, used_bytes[MOST_DEVICES];
static handle handles[MOST];
static size_t handle_count;
static mapping mappings[MOST];
static size_t mapping_count;
static range reservations[MOST];
static size_t reservation_count;
static stream streams[256]; /* [0]: the default stream */
static uint64_t stream_ids;
static __thread int context_stack[64];
static __thread int context_depth;
static __thread int current_device = -1; /* set by cuCtxSetCurrent */

static char fail_name[64];
static uint64_t fail_at, fail_calls;
static int fail_error, fail_repeats;
static fake_cuda_report report;
static char last_misuse[160];
static bool says;

/* ---- failing and misuse -------------------------------------------------------------------------------- */

static int misuse(const char *call, const char *what) {
    report.misuses++;
    snprintf(last_misuse, sizeof last_misuse, "%s: %s", call, what);
    if (says)
        fprintf(stderr, "fake cuda: %s\n", last_misuse);
    return INVALID_VALUE;
}

static void initialise(void) {
    const char *text;
    if (device_count)
        return;
    device_count = (text = getenv("FAKE_CUDA_DEVICES")) ? atoi(text) : 2;
    device_bytes = (uint64_t)((text = getenv("FAKE_CUDA_MEMORY_MB")) ? atol(text) : 65536) << 20;
    says = getenv("FAKE_CUDA_SAY") != NULL;
    if ((text = getenv("FAKE_CUDA_FAIL"))) {
        const char *colon = strchr(text, ':');
        size_t length = colon ? (size_t)(colon - text) : strlen(text);
        if (length < sizeof fail_name)
            memcpy(fail_name, text, length);
        fail_at = colon ? strtoull(colon + 1, NULL, 10) : 1;
        fail_error = OUT_OF_MEMORY;
    }
    memory = memfd_create("fake cuda", MFD_CLOEXEC);
    streams[0].used = true;
}

/* Entered by every call that can fail; 0: go on. */
static int enter(const char *name) {
    pthread_mutex_lock(&lock);
    if (!initialised)
        return NOT_INITIALIZED;
    if (fail_name[0] && strcmp(fail_name, name) != 0)
        return OK;
    fail_calls++;
    if (fail_at == 0 || fail_calls < fail_at || (fail_calls > fail_at && !fail_repeats))
        return OK;
    return fail_error;
}

static int leave(int status) {
    pthread_mutex_unlock(&lock);
    return status;
}

#define ENTER(name)              \
    do {                         \
        int error = enter(name); \
        if (error)               \
            return leave(error); \
    } while (0)

API void fake_cuda_fail(const char *name, uint64_t nth, int error, int repeat) {
    pthread_mutex_lock(&lock);
    snprintf(fail_name, sizeof fail_name, "%s", name ? name : "");
    fail_at = nth;
    fail_calls = 0;
    fail_error = error;
    fail_repeats = repeat;
    pthread_mutex_unlock(&lock);
}

API uint64_t fake_cuda_calls(void) {
    return fail_calls;
}

API const char *fake_cuda_last_misuse(void) {
    return last_misuse;
}

API void fake_cuda_forgive(void) {
    report.misuses = report.unmapped_under_work = 0;
    last_misuse[0] = 0;
}

API void fake_cuda_get_report(fake_cuda_report *out) {
    pthread_mutex_lock(&lock);
    *out = report;
    for (size_t i = 0; i < handle_count; i++) {
        out->handles += handles[i].used;
        out->handle_bytes += handles[i].used ? handles[i].bytes : 0;
        out->aliases += handles[i].used && handles[i].mapped > 1;
    }
    out->mappings = mapping_count;
    out->reservations = reservation_count;
    for (size_t i = 1; i < sizeof streams / sizeof *streams; i++)
        out->streams += streams[i].used;
    pthread_mutex_unlock(&lock);
}

static void __attribute__((destructor)) say_goodbye(void) {
    if (says && initialised)
        fprintf(stderr,
                "fake cuda: %llu misuses, %llu created, %llu mapped, %llu unmapped, %zu mappings "
                "left\n",
                (unsigned long long)report.misuses, (unsigned long long)report.creates,
                (unsigned long long)report.maps, (unsigned long long)report.unmaps, mapping_count);
}

/* ---- memory -------------------------------------------------------------------------------------------- */

static mapping *mapping_at(address at) {
    for (size_t i = 0; i < mapping_count; i++)
        if (mappings[i].at == at)
            return &mappings[i];
    return NULL;
}

static bool touches(address a, size_t a_bytes, address b, size_t b_bytes) {
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

static bool work_touches(address at, size_t bytes) {
    for (size_t s = 0; s < sizeof streams / sizeof *streams; s++)
        for (size_t i = 0; i < streams[s].count; i++) {
            const work *w = &streams[s].items[i];
            if ((w->kind == FILL || w->kind == COPY) &&
                (touches(w->to, w->bytes, at, bytes) ||
                 (w->kind == COPY && touches(w->from, w->bytes, at, bytes))))
                return true;
        }
    return false;
}

static void handle_drop(handle *h) {
    if (!h->released || h->mapped > 0)
        return;
    fallocate(memory, 3 /* FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE */, h->offset,
              (off_t)h->bytes);
    used_bytes[h->device] -= h->bytes;
    h->used = false;
}

API int cuMemGetAllocationGranularity(size_t *out, const properties *p, int option) {
    (void)option;
    ENTER("cuMemGetAllocationGranularity");
    if (p->where.type != 1 || p->where.id < 0 || p->where.id >= device_count)
        return leave(INVALID_VALUE);
    *out = GRANULE;
    return leave(OK);
}

API int cuMemAddressReserve(address *out, size_t bytes, size_t alignment, address fixed,
                            unsigned long long flags) {
    (void)fixed;
    ENTER("cuMemAddressReserve");
    if (bytes == 0 || bytes % GRANULE || flags)
        return leave(misuse("cuMemAddressReserve", "size or flags"));
    size_t step = alignment > GRANULE ? alignment : GRANULE;
    char *at =
        mmap(NULL, bytes + step, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED || reservation_count == MOST)
        return leave(OUT_OF_MEMORY);
    size_t before = (size_t)(-(address)at & (step - 1));
    if (before)
        munmap(at, before);
    if (before < step)
        munmap(at + before + bytes, step - before);
    *out = (address)at + before;
    reservations[reservation_count++] = (range){*out, bytes};
    return leave(OK);
}

API int cuMemAddressFree(address at, size_t bytes) {
    ENTER("cuMemAddressFree");
    for (size_t i = 0; i < reservation_count; i++)
        if (reservations[i].at == at && reservations[i].bytes == bytes) {
            if (!free_of_mappings(at, bytes))
                return leave(misuse("cuMemAddressFree", "something is mapped there"));
            munmap((void *)at, bytes);
            reservations[i] = reservations[--reservation_count];
            return leave(OK);
        }
    return leave(misuse("cuMemAddressFree", "no such reservation"));
}

API int cuMemCreate(unsigned long long *out, size_t bytes, const properties *p,
                    unsigned long long flags) {
    ENTER("cuMemCreate");
    if (bytes == 0 || bytes % GRANULE || flags || p->type != 1 || p->where.type != 1 ||
        p->where.id < 0 || p->where.id >= device_count)
        return leave(misuse("cuMemCreate", "size, flags or properties"));
    if (used_bytes[p->where.id] + bytes > device_bytes)
        return leave(OUT_OF_MEMORY);
    size_t i = 0;
    while (i < handle_count && handles[i].used)
        i++;
    if (i == MOST)
        return leave(OUT_OF_MEMORY);
    handle_count += i == handle_count;
    handles[i] =
        (handle){.bytes = bytes, .offset = memory_end, .device = p->where.id, .used = true};
    memory_end += (off_t)bytes;
    if (ftruncate(memory, memory_end) != 0)
        return leave(OUT_OF_MEMORY);
    used_bytes[p->where.id] += bytes;
    *out = i + 1;
    report.creates++;
    return leave(OK);
}

static handle *handle_of(unsigned long long number) {
    return number >= 1 && number <= handle_count && handles[number - 1].used ? &handles[number - 1]
                                                                             : NULL;
}

API int cuMemRelease(unsigned long long number) {
    ENTER("cuMemRelease");
    handle *h = handle_of(number);
    if (!h || h->released)
        return leave(misuse("cuMemRelease", "released twice or never created"));
    if (h->mapped)
        return leave(misuse("cuMemRelease", "still mapped"));
    h->released = true;
    handle_drop(h);
    return leave(OK);
}

API int cuMemMap(address at, size_t bytes, size_t offset, unsigned long long number,
                 unsigned long long flags) {
    ENTER("cuMemMap");
    handle *h = handle_of(number);
    if (!h || h->released)
        return leave(misuse("cuMemMap", "no such handle"));
    if (offset || flags || bytes != h->bytes || at % GRANULE)
        return leave(misuse("cuMemMap", "not the whole handle, or misaligned"));
    if (!in_a_reservation(at, bytes))
        return leave(misuse("cuMemMap", "outside of every reservation"));
    if (!free_of_mappings(at, bytes))
        return leave(misuse("cuMemMap", "over another mapping"));
    if (mapping_count == MOST ||
        mmap((void *)at, bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, memory, h->offset) == MAP_FAILED)
        return leave(OUT_OF_MEMORY);
    mappings[mapping_count++] = (mapping){at, bytes, number - 1, false};
    h->mapped++;
    report.maps++;
    return leave(OK);
}

/* Only whole mappings, without a gap. */
API int cuMemUnmap(address at, size_t bytes) {
    ENTER("cuMemUnmap");
    for (address next = at; next < at + bytes;) {
        mapping *m = mapping_at(next);
        if (!m || m->handle == SIZE_MAX || next + m->bytes > at + bytes)
            return leave(misuse("cuMemUnmap", "not mapped, or a part of a mapping"));
        next += m->bytes;
    }
    if (work_touches(at, bytes)) {
        report.unmapped_under_work++;
        misuse("cuMemUnmap", "queued work would touch it");
    }
    if (mmap((void *)at, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
             -1, 0) == MAP_FAILED)
        return leave(OUT_OF_MEMORY);
    for (address next = at; next < at + bytes;) {
        mapping *m = mapping_at(next);
        next += m->bytes;
        handles[m->handle].mapped--;
        handle_drop(&handles[m->handle]);
        *m = mappings[--mapping_count];
    }
    report.unmaps++;
    return leave(OK);
}

API int cuMemSetAccess(address at, size_t bytes, const access_description *list, size_t count) {
    ENTER("cuMemSetAccess");
    for (size_t i = 0; i < count; i++)
        if (list[i].where.type != 1 || list[i].where.id < 0 || list[i].where.id >= device_count ||
            list[i].flags != 3)
            return leave(misuse("cuMemSetAccess", "descriptions"));
    for (address next = at; next < at + bytes;) {
        mapping *m = mapping_at(next);
        if (!m || next + m->bytes > at + bytes)
            return leave(misuse("cuMemSetAccess", "not mapped, or a part of a mapping"));
        next += m->bytes;
    }
    if (mprotect((void *)at, bytes, PROT_READ | PROT_WRITE) != 0)
        return leave(OUT_OF_MEMORY);
    return leave(OK);
}

API int cuMemAlloc_v2(address *out, size_t bytes) {
    ENTER("cuMemAlloc_v2");
    int device = context_depth ? context_stack[context_depth - 1] : current_device;
    if (device < 0)
        return leave(INVALID_CONTEXT);
    size_t rounded = (bytes + GRANULE - 1) / GRANULE * GRANULE;
    if (bytes == 0 || rounded < bytes)
        return leave(INVALID_VALUE);
    if (used_bytes[device] + rounded > device_bytes || mapping_count == MOST)
        return leave(OUT_OF_MEMORY);
    void *at = mmap(NULL, rounded, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return leave(OUT_OF_MEMORY);
    mappings[mapping_count++] = (mapping){(address)at, rounded, SIZE_MAX, true};
    used_bytes[device] += rounded;
    report.allocations++;
    *out = (address)at;
    return leave(OK);
}

API int cuMemFree_v2(address at) {
    ENTER("cuMemFree_v2");
    mapping *m = mapping_at(at);
    if (!m || m->handle != SIZE_MAX)
        return leave(misuse("cuMemFree", "no allocation"));
    munmap((void *)at, m->bytes);
    int device = context_depth ? context_stack[context_depth - 1] : current_device;
    used_bytes[device < 0 ? 0 : device] -= m->bytes;
    *m = mappings[--mapping_count];
    report.allocations--;
    return leave(OK);
}

API int cuMemGetInfo_v2(size_t *free_bytes, size_t *total) {
    ENTER("cuMemGetInfo_v2");
    int device = context_depth ? context_stack[context_depth - 1] : current_device;
    if (device < 0)
        return leave(INVALID_CONTEXT);
    *free_bytes = device_bytes - used_bytes[device];
    *total = device_bytes;
    return leave(OK);
}

/* ---- streams ------------------------------------------------------------------------------------------- */

static stream *stream_of(void *s) {
    return s ? (stream *)s : &streams[0];
}

static void run_stream(stream *s);

static void do_work(const work *w) {
    if (w->kind == FILL)
        memset((void *)w->to, w->value, w->bytes);
    else if (w->kind == COPY)
        memmove((void *)w->to, (void *)w->from, w->bytes);
    else if (w->kind == SIGNAL)
        w->event->done |= w->event->records == w->value;
    else if (!w->event->done) /* the stream it was recorded on must come first */
        for (size_t s = 0; s < sizeof streams / sizeof *streams && !w->event->done; s++)
            for (size_t i = 0; i < streams[s].count; i++)
                if (streams[s].items[i].kind == SIGNAL && streams[s].items[i].event == w->event &&
                    streams[s].items[i].value == w->event->records) {
                    run_stream(&streams[s]);
                    break;
                }
}

static void run_stream(stream *s) {
    work *items = s->items;
    size_t count = s->count, capacity = s->capacity;
    s->items = NULL; /* work that waits for another stream may come back here */
    s->count = s->capacity = 0;
    for (size_t i = 0; i < count; i++)
        do_work(&items[i]);
    if (s->items == NULL) {
        s->items = items;
        s->capacity = capacity;
    } else {
        free(items);
    }
}

static void run_all(void) {
    for (size_t s = 0; s < sizeof streams / sizeof *streams; s++)
        run_stream(&streams[s]);
}

static int queue(stream *s, work w) {
    if (s->count == s->capacity) {
        size_t capacity = s->capacity ? 2 * s->capacity : 16;
        work *items = realloc(s->items, capacity * sizeof *items);
        if (!items)
            return OUT_OF_MEMORY;
        s->items = items;
        s->capacity = capacity;
    }
    s->items[s->count++] = w;
    return OK;
}

API void fake_cuda_run(void *s) {
    pthread_mutex_lock(&lock);
    run_stream(stream_of(s));
    pthread_mutex_unlock(&lock);
}

API int cuStreamCreate(void **out, unsigned flags) {
    (void)flags;
    ENTER("cuStreamCreate");
    for (size_t i = 1; i < sizeof streams / sizeof *streams; i++)
        if (!streams[i].used) {
            streams[i] = (stream){.used = true, .id = ++stream_ids};
            *out = &streams[i];
            return leave(OK);
        }
    return leave(OUT_OF_MEMORY);
}

API int cuStreamDestroy_v2(void *s) {
    ENTER("cuStreamDestroy_v2");
    run_stream(stream_of(s));
    free(stream_of(s)->items);
    *stream_of(s) = (stream){0};
    return leave(OK);
}

API int cuStreamGetId(void *s, unsigned long long *id) {
    ENTER("cuStreamGetId");
    *id = stream_of(s)->id;
    return leave(OK);
}

API int cuStreamSynchronize(void *s) {
    ENTER("cuStreamSynchronize");
    run_stream(stream_of(s));
    return leave(OK);
}

API int cuCtxSynchronize(void) {
    ENTER("cuCtxSynchronize");
    run_all();
    return leave(OK);
}

API int cuEventCreate(void **out, unsigned flags) {
    (void)flags;
    ENTER("cuEventCreate");
    event *e = calloc(1, sizeof *e);
    if (!e)
        return leave(OUT_OF_MEMORY);
    report.events++;
    *out = e;
    return leave(OK);
}

API int cuEventDestroy_v2(void *e) {
    ENTER("cuEventDestroy_v2");
    for (size_t s = 0; s < sizeof streams / sizeof *streams; s++)
        for (size_t i = 0; i < streams[s].count; i++)
            if (streams[s].items[i].event == e)
                run_stream(&streams[s]);
    free(e);
    report.events--;
    return leave(OK);
}

API int cuEventRecord(void *e, void *s) {
    ENTER("cuEventRecord");
    event *marked = e;
    marked->recorded = true;
    marked->done = false;
    marked->records++;
    return leave(queue(stream_of(s), (work){.kind = SIGNAL, .event = e, .value = marked->records}));
}

API int cuEventQuery(void *e) {
    ENTER("cuEventQuery");
    const event *asked = e;
    return leave(asked->recorded && !asked->done ? NOT_READY : OK);
}

API int cuEventSynchronize(void *e) {
    ENTER("cuEventSynchronize");
    do_work(&(work){.kind = WAIT, .event = e});
    return leave(OK);
}

API int cuStreamWaitEvent(void *s, void *e, unsigned flags) {
    (void)flags;
    ENTER("cuStreamWaitEvent");
    return leave(queue(stream_of(s), (work){.kind = WAIT, .event = e}));
}

API int cuMemsetD8Async(address to, unsigned char value, size_t bytes, void *s) {
    ENTER("cuMemsetD8Async");
    return leave(queue(stream_of(s), (work){FILL, to, 0, bytes, value, NULL}));
}

API int cuMemcpyAsync(address to, address from, size_t bytes, void *s) {
    ENTER("cuMemcpyAsync");
    return leave(queue(stream_of(s), (work){COPY, to, from, bytes, 0, NULL}));
}

/* Waits for everything, as the default stream does. */
API int cuMemcpy(address to, address from, size_t bytes) {
    ENTER("cuMemcpy");
    run_all();
    memmove((void *)to, (void *)from, bytes);
    return leave(OK);
}

API int cuMemsetD8_v2(address to, unsigned char value, size_t bytes) {
    ENTER("cuMemsetD8_v2");
    run_all();
    memset((void *)to, value, bytes);
    return leave(OK);
}

/* ---- devices and contexts ------------------------------------------------------------------------------ */

API int cuInit(unsigned flags) {
    (void)flags;
    pthread_mutex_lock(&lock);
    initialise();
    initialised = device_count > 0;
    return leave(initialised ? OK : 100);
}

API int cuDriverGetVersion(int *out) {
    *out = 12040;
    return OK;
}

API int cuDeviceGetCount(int *out) {
    ENTER("cuDeviceGetCount");
    *out = device_count;
    return leave(OK);
}

API int cuDeviceGet(int *out, int ordinal) {
    ENTER("cuDeviceGet");
    if (ordinal < 0 || ordinal >= device_count)
        return leave(INVALID_DEVICE);
    *out = ordinal;
    return leave(OK);
}

API int cuDeviceGetAttribute(int *out, int attribute, int device) {
    (void)device;
    ENTER("cuDeviceGetAttribute");
    *out = attribute == 102; /* virtual memory management */
    return leave(OK);
}

API int cuDeviceTotalMem_v2(size_t *out, int device) {
    (void)device;
    ENTER("cuDeviceTotalMem_v2");
    *out = device_bytes;
    return leave(OK);
}

/* A context is its device's number, and one. */
API int cuDevicePrimaryCtxRetain(void **out, int device) {
    ENTER("cuDevicePrimaryCtxRetain");
    *out = (void *)(address)(device + 1);
    return leave(OK);
}

API int cuDevicePrimaryCtxRelease_v2(int device) {
    (void)device;
    ENTER("cuDevicePrimaryCtxRelease_v2");
    return leave(OK);
}

API int cuCtxPushCurrent_v2(void *context) {
    if (context_depth == 64)
        return INVALID_VALUE;
    context_stack[context_depth++] = (int)(address)context - 1;
    return OK;
}

API int cuCtxPopCurrent_v2(void **out) {
    if (context_depth == 0)
        return INVALID_CONTEXT;
    context_depth--;
    if (out)
        *out = (void *)(address)(context_stack[context_depth] + 1);
    return OK;
}

API int cuCtxSetCurrent(void *context) {
    current_device = (int)(address)context - 1;
    return OK;
}

API int cuCtxGetCurrent(void **out) {
    int device = context_depth ? context_stack[context_depth - 1] : current_device;
    *out = (void *)(address)(device + 1);
    return OK;
}

API int cuCtxGetDevice(int *out) {
    int device = context_depth ? context_stack[context_depth - 1] : current_device;
    *out = device;
    return device < 0 ? INVALID_CONTEXT : OK;
}

/* The named entry point in its newest version. */
API int cuGetProcAddress_v2(const char *name, void **out, int version, uint64_t flags,
                            int *status) {
    (void)version, (void)flags;
    char versioned[96];
    static const char *const suffixes[] = {"_v2", ""};
    *out = NULL;
    for (int i = 0; i < 2 && !*out; i++) {
        snprintf(versioned, sizeof versioned, "%s%s", name, suffixes[i]);
        *out = dlsym(RTLD_DEFAULT, versioned);
    }
    if (status)
        *status = *out ? 0 : 1;
    return *out ? OK : NOT_FOUND;
}

API int cuGetProcAddress(const char *name, void **out, int version, uint64_t flags) {
    return cuGetProcAddress_v2(name, out, version, flags, NULL);
}
