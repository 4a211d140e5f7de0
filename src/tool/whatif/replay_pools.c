/* replay_pools.c: the requests on masu's own pools, once for the time and once for the judge.
 *
 *     device      host: pages of this process       null: sizes only; for pools that write into free blocks, addresses
 *                                                   whose pages cost memory where they are written to only
 */
#include "tool/whatif/whatif.h"

#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <masu/bestfit.h>
#include <masu/bucket.h>
#include <masu/check.h>
#include <masu/heap.h>
#include <masu/vm.h>

#include "base/meta.h"

/* One pool a lane. */
typedef struct lane_pool {
    masu_bestfit *bestfit;
    masu_bucket *bucket;
    masu_heap *heap;
    masu_vm *vm;
} lane_pool;

typedef struct pools {
    const whatif_requests *q;
    masu_device *device;
    masu_trace *trace; /* NULL: not judged */
    masu_check *check;
    size_t block_bytes; /* of the device, at least */
    lane_pool *lanes;
    void **addresses; /* by id */
    /* The judge's own count of memory from the device. A pool over another takes its extents as that one's blocks: an
     * extent that begins where a block has just been given is counted already. */
    bool counts_pieces; /* a pool whose extents are addresses only */
    uint64_t last_block;
    uint32_t last_pool, upper[256];
    size_t uppers;
    uint64_t judged_bytes, judged_peak;
} pools;

typedef struct kind {
    const char *name;
    bool writes;     /* into free blocks: the memory must be there */
    bool has_blocks; /* takes memory from the device in blocks of a size that may be chosen */
    masu_status (*make)(pools *p, lane_pool *lane);
    masu_status (*take)(lane_pool *lane, size_t bytes, void **out);
    masu_status (*give)(lane_pool *lane, void *address, size_t bytes);
    masu_status (*release)(lane_pool *lane);
    masu_status (*end)(lane_pool *lane);
} kind;

/* ---- the four ---------------------------------------------------------------------------------------------------- */

static masu_status make_bestfit(pools *p, lane_pool *lane) {
    masu_bestfit_config config = masu_bestfit_config_default(p->device);
    config.trace = p->trace;
    config.pool_bytes = p->block_bytes;
    config.initial_bytes = 0;
    config.thread_safe = false;
    return masu_bestfit_create(&config, &lane->bestfit);
}
static masu_status take_bestfit(lane_pool *lane, size_t bytes, void **out) {
    return masu_bestfit_alloc(lane->bestfit, bytes, 0, 0, out);
}
static masu_status give_bestfit(lane_pool *lane, void *address, size_t bytes) {
    (void)bytes;
    return masu_bestfit_free(lane->bestfit, address);
}
static masu_status release_bestfit(lane_pool *lane) {
    return masu_bestfit_trim(lane->bestfit, 0);
}
static masu_status end_bestfit(lane_pool *lane) {
    return masu_bestfit_destroy(lane->bestfit);
}

static masu_status make_bucket(pools *p, lane_pool *lane) {
    masu_status status = make_bestfit(p, lane);
    if (status != MASU_OK)
        return status;
    masu_bucket_config config = masu_bucket_config_default(lane->bestfit);
    config.trace = p->trace;
    config.fine_classes = true;
    config.thread_safe = false;
    config.checked = false;
    return masu_bucket_create(&config, &lane->bucket);
}
static masu_status take_bucket(lane_pool *lane, size_t bytes, void **out) {
    return masu_bucket_alloc(lane->bucket, bytes, 0, out);
}
static masu_status give_bucket(lane_pool *lane, void *address, size_t bytes) {
    return masu_bucket_free(lane->bucket, address, bytes);
}
static masu_status release_bucket(lane_pool *lane) {
    masu_status status = masu_bucket_clear(lane->bucket);
    return status == MASU_OK ? release_bestfit(lane) : status;
}
static masu_status end_bucket(lane_pool *lane) {
    masu_status status = masu_bucket_destroy(lane->bucket), below = end_bestfit(lane);
    return status == MASU_OK ? below : status;
}

static masu_status make_heap(pools *p, lane_pool *lane) {
    masu_heap_config config = masu_heap_config_default();
    config.device = p->device;
    config.trace = p->trace;
    config.pool_bytes = p->block_bytes;
    config.thread_safe = false;
    config.checked = false;
    return masu_heap_create(&config, &lane->heap);
}
static masu_status take_heap(lane_pool *lane, size_t bytes, void **out) {
    return masu_heap_alloc(lane->heap, bytes, 0, out);
}
static masu_status give_heap(lane_pool *lane, void *address, size_t bytes) {
    return masu_heap_free(lane->heap, address, bytes);
}
static masu_status release_heap(lane_pool *lane) {
    return masu_heap_trim(lane->heap, 0);
}
static masu_status end_heap(lane_pool *lane) {
    return masu_heap_destroy(lane->heap);
}

static masu_status make_vm(pools *p, lane_pool *lane) {
    masu_vm_config config = masu_vm_config_default(p->device);
    config.trace = p->trace;
    config.thread_safe = false;
    return masu_vm_create(&config, &lane->vm);
}
static masu_status take_vm(lane_pool *lane, size_t bytes, void **out) {
    return masu_vm_alloc(lane->vm, bytes, 0, 0, out);
}
static masu_status give_vm(lane_pool *lane, void *address, size_t bytes) {
    (void)bytes;
    return masu_vm_free(lane->vm, address);
}
static masu_status release_vm(lane_pool *lane) {
    return masu_vm_trim(lane->vm, 0);
}
static masu_status end_vm(lane_pool *lane) {
    return masu_vm_destroy(lane->vm);
}

static const kind kinds[WHATIF_POOLS] = {
    {"masu best fit", false, true, make_bestfit, take_bestfit, give_bestfit, release_bestfit, end_bestfit},
    {"masu buckets", true, true, make_bucket, take_bucket, give_bucket, release_bucket, end_bucket},
    {"masu heap", true, true, make_heap, take_heap, give_heap, release_heap, end_heap},
    {"masu virtual memory", false, false, make_vm, take_vm, give_vm, release_vm, end_vm},
};

/* ---- devices ----------------------------------------------------------------------------------------------------- */

static masu_status take_addresses(void *context, size_t bytes, void **out) {
    (void)context;
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return MASU_ERR_OUT_OF_MEMORY;
    madvise(at, bytes, MADV_NOHUGEPAGE); /* a link in a free block costs one small page */
    *out = at;
    return MASU_OK;
}
static masu_status give_addresses(void *context, void *ptr, size_t bytes) {
    (void)context;
    return munmap(ptr, bytes) == 0 ? MASU_OK : MASU_ERR_DEVICE_FAILURE;
}

static masu_status make_device(const kind *of, const whatif_options *options, masu_device **out) {
    if (options->on_host)
        return masu_device_create_host(out);
    if (!of->writes)
        return masu_device_create_null(0, out);
    masu_device_table table = {.struct_bytes = sizeof table,
                               .name = "addresses",
                               .flags = MASU_DEVICE_HOST_ACCESS | MASU_DEVICE_LAZY | MASU_DEVICE_ZEROED,
                               .alignment_bytes = 4096,
                               .granularity_bytes = 4096,
                               .alloc = take_addresses,
                               .free = give_addresses};
    return masu_device_create_custom(&table, NULL, out);
}

/* How much a pool takes from the device at least is its user's choice: a few parts of what is live are tried, powers of
 * two from 2 to 256 MiB, and the row names the best. 0: that part was tried already. */
enum { BLOCK_PARTS = 4 };
static size_t block_bytes(const whatif_requests *q, unsigned part) {
    static const unsigned parts[BLOCK_PARTS] = {64, 16, 8, 4};
    size_t bytes = (size_t)2 << 20;
    while (bytes < MASU_BESTFIT_POOL_BYTES && bytes < q->peak_live_bytes / parts[part])
        bytes *= 2;
    for (unsigned before = 0; before < part; before++)
        if (block_bytes(q, before) == bytes)
            return 0;
    return bytes;
}

/* ---- judging ----------------------------------------------------------------------------------------------------- */

static bool takes_from_device(pools *p, const masu_event *event) {
    for (size_t i = 0; i < p->uppers; i++)
        if (p->upper[i] == event->pool)
            return false;
    bool over_another = event->kind == MASU_EVENT_EXTENT_ADD && event->address == p->last_block &&
                        event->pool != p->last_pool;
    if (over_another && p->uppers < sizeof p->upper / sizeof *p->upper)
        p->upper[p->uppers++] = event->pool;
    return !over_another;
}

static void on_event(void *context, const masu_event *event) {
    pools *p = context;
    masu_check_event(p->check, event);
    if (event->kind == MASU_EVENT_PIECE_ADD)
        p->judged_bytes += event->bytes;
    else if (event->kind == MASU_EVENT_PIECE_DROP)
        p->judged_bytes -= event->bytes;
    else if (event->kind == MASU_EVENT_EXTENT_ADD && !p->counts_pieces && takes_from_device(p, event))
        p->judged_bytes += event->bytes;
    else if (event->kind == MASU_EVENT_EXTENT_DROP && !p->counts_pieces && takes_from_device(p, event))
        p->judged_bytes -= event->bytes;
    if (event->kind == MASU_EVENT_ALLOC) {
        p->last_block = event->address;
        p->last_pool = event->pool;
    }
    if (p->judged_bytes > p->judged_peak)
        p->judged_peak = p->judged_bytes;
}

/* ---- replaying --------------------------------------------------------------------------------------------------- */

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static masu_status serve(pools *p, const kind *of, const whatif_request *request) {
    lane_pool *lane = &p->lanes[request->lane];
    switch ((whatif_kind)request->kind) {
    case WHATIF_TAKE:
        return of->take(lane, request->bytes, &p->addresses[request->id]);
    case WHATIF_GIVE:
        return of->give(lane, p->addresses[request->id], request->bytes);
    case WHATIF_RELEASE:
        return of->release(lane);
    case WHATIF_REFUSED:
        break;
    }
    return MASU_OK;
}

/* The blocks that live at the end go back too, so that what is destroyed is empty: not part of the figures. */
static void give_rest(pools *p, const kind *of) {
    for (size_t i = 0; i < p->q->count; i++) {
        const whatif_request *request = &p->q->items[i];
        if (request->kind == WHATIF_GIVE)
            p->addresses[request->id] = NULL;
    }
    for (size_t i = 0; i < p->q->count; i++) {
        const whatif_request *request = &p->q->items[i];
        if (request->kind == WHATIF_TAKE && p->addresses[request->id])
            of->give(&p->lanes[request->lane], p->addresses[request->id], request->bytes);
    }
}

static void count(pools *p, whatif_row *out) {
    masu_device_stats s;
    masu_device_get_stats(p->device, &s);
    out->peak_reserved_bytes = s.peak_bytes > s.peak_physical_bytes ? s.peak_bytes : s.peak_physical_bytes;
    out->device_calls = s.alloc_calls + s.free_calls + s.reserve_calls + s.unreserve_calls + s.created_pieces +
                        s.released_pieces + s.map_calls + s.unmap_calls + s.access_calls + s.remap_calls;
}

/* One replay. On a refusal of the pool the row says so. */
static void replay(pools *p, const kind *of, whatif_row *out) {
    masu_status status = MASU_OK;
    unsigned made = 0;
    for (; made < p->q->lane_count && status == MASU_OK; made++)
        status = of->make(p, &p->lanes[made]);
    double began = now();
    for (size_t i = 0; i < p->q->count && status == MASU_OK; i++)
        status = serve(p, of, &p->q->items[i]);
    out->seconds = now() - began;
    count(p, out);
    out->ran = status == MASU_OK;
    if (!out->ran)
        snprintf(out->note, sizeof out->note, "not possible here: %s", masu_status_text(status));
    else
        give_rest(p, of);
    for (unsigned i = 0; i < made; i++)
        of->end(&p->lanes[i]);
}

static masu_status prepare(pools *p, const whatif_requests *q, const kind *of, size_t blocks,
                           const whatif_options *options) {
    *p = (pools){.q = q, .block_bytes = blocks, .counts_pieces = !of->has_blocks};
    p->lanes = masu__meta_calloc((size_t)q->lane_count + 1, sizeof *p->lanes);
    p->addresses = masu__meta_calloc((size_t)q->blocks + 1, sizeof *p->addresses);
    return p->lanes && p->addresses ? make_device(of, options, &p->device) : MASU_ERR_OUT_OF_MEMORY;
}

static void clear(pools *p) {
    masu_device_destroy(p->device);
    masu_trace_destroy(p->trace);
    masu_check_destroy(p->check);
    masu__meta_free(p->lanes, ((size_t)p->q->lane_count + 1) * sizeof *p->lanes);
    masu__meta_free(p->addresses, ((size_t)p->q->blocks + 1) * sizeof *p->addresses);
}

/* Addresses and memory that are kept apart are judged on sizes alone: that millions of pieces are really mapped was
 * seen in the replay before, and takes all its time. */
static masu_status judge(const whatif_requests *q, const kind *of, size_t blocks, const whatif_options *options,
                         whatif_row *out) {
    pools p;
    whatif_row again = {0};
    whatif_options unmapped = *options;
    unmapped.on_host &= of->has_blocks;
    masu_status status = prepare(&p, q, of, blocks, &unmapped);
    masu_trace_config config = {.sink = on_event, .sink_context = &p, .start_on = true};
    if (status == MASU_OK)
        status = masu_check_create(&p.check);
    if (status == MASU_OK)
        status = masu_trace_create(&config, &p.trace);
    if (status == MASU_OK) {
        replay(&p, of, &again);
        masu_verdict verdict = masu_check_verdict(p.check);
        bool same = again.ran && again.peak_reserved_bytes == out->peak_reserved_bytes &&
                    p.judged_peak == again.peak_reserved_bytes;
        out->judged = verdict == MASU_VERDICT_FINE && same ? WHATIF_FINE : WHATIF_WRONG;
        if (out->judged == WHATIF_WRONG)
            snprintf(out->note, sizeof out->note, "the judge says: %s",
                     verdict == MASU_VERDICT_FINE ? "another peak" : masu_verdict_name(verdict));
    }
    clear(&p);
    return status;
}

masu_status whatif_replay_pool(const whatif_requests *requests, unsigned number, const whatif_options *options,
                               whatif_row *out) {
    const kind *of = &kinds[number];
    size_t blocks = 0, best = 0;
    masu_status status = MASU_OK;
    *out = (whatif_row){0};
    for (unsigned part = 0; status == MASU_OK && part < BLOCK_PARTS; part++) {
        if (!(blocks = block_bytes(requests, part)))
            continue;
        pools p;
        whatif_row row = {0};
        status = prepare(&p, requests, of, blocks, options);
        if (status == MASU_OK)
            replay(&p, of, &row);
        clear(&p);
        if (best && !(row.ran && row.peak_reserved_bytes < out->peak_reserved_bytes))
            continue;
        *out = row;
        best = blocks;
        if (!of->has_blocks)
            break;
    }
    if (of->has_blocks)
        snprintf(out->name, sizeof out->name, "%s, %zu MiB blocks", of->name, best >> 20);
    else
        snprintf(out->name, sizeof out->name, "%s", of->name);
    if (status == MASU_OK && out->ran && (uint64_t)requests->count * requests->peak_live_blocks <= options->judge_most)
        status = judge(requests, of, best, options, out);
    return status;
}
