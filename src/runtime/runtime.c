/* runtime.c: a runtime's life: make, enter or run, leave, destroy.
 *
 *     tl_runtime_run:   mark ─► setjmp ─► entry() ─┬─ returns          ─┐
 *                                                  └─ raises, longjmp ─┴─► unwind to the mark ─► flush ─► status
 *
 * Runs nest: a program's callee may start another run of the same runtime, whose errors end there.
 *
 * The heaps take 4 MiB of address space at a time: a page costs memory once something was written to it, so the
 * unit only bounds how often the device is asked, not what a small program needs.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/meta.h"
#include "runtime/state.h"
#include "runtime/system/log_values.h"
#include "runtime/value/growth.h"

_Thread_local tl_runtime *tl__current;

#define GROWING_FROM_BYTES  ((size_t)4 << 20)
#define GROWING_REACH_BYTES ((size_t)4 << 30)
enum { HEAP_UNIT_BYTES = 4 << 20, SMALL_UNIT_BYTES = 128 << 10, ARENA_BYTES = 64 << 20 };

/* ---- create, destroy ------------------------------------------------------------------------------------------- */

/* kept_bytes: taken at once and never given back; 0: taken as needed. */
static masu_status heap_create(const tl_runtime_config *wanted, bool is_small, masu_device *device, masu_trace *trace,
                               const char *name, size_t kept_bytes, masu_heap **out) {
    masu_heap_config config = masu_heap_config_default();
    config.device = device;
    config.trace = trace;
    config.name = name;
    config.thread_safe = wanted->is_published;
    config.small_blocks = is_small ? 0 : 16; /* ready before the first tensor */
    config.medium_blocks = is_small ? 0 : 8;
    config.pool_bytes = is_small ? SMALL_UNIT_BYTES : HEAP_UNIT_BYTES;
    config.initial_bytes = kept_bytes;
    config.policy = kept_bytes > 0 ? MASU_POOL_PERSISTENT : MASU_POOL_REUSE;
    return masu_heap_create(&config, out);
}

static masu_status arena_create(tl_runtime *rt, size_t bytes, void *given) {
    rt->arena_is_borrowed = given != NULL;
    if (given) {
        rt->arena = rt->arena_top = given;
        rt->arena_end = rt->arena + bytes;
        return MASU_OK;
    }
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    bytes = bytes ? bytes : ARENA_BYTES;
    if (bytes > SIZE_MAX - page)
        return MASU_ERR_OVERFLOW;
    bytes = (bytes + page - 1) / page * page;
    if (masu__fault_hit())
        return MASU_ERR_OUT_OF_MEMORY;
    void *arena = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (arena == MAP_FAILED)
        return MASU_ERR_OUT_OF_MEMORY;
    rt->arena = rt->arena_top = arena;
    rt->arena_end = rt->arena + bytes;
    return MASU_OK;
}

static bool reachable(const masu_device *device) {
    masu_device_info info;
    if (!device)
        return true;
    masu_device_get_info(device, &info);
    return (info.flags & MASU_DEVICE_HOST_ACCESS) != 0;
}

static double epoch_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static masu_status parts_create(tl_runtime *rt, const tl_runtime_config *config) {
    size_t kept_bytes;
    if (!tl__config_preallocate(&kept_bytes))
        fputs("masu: TL_GPU_PREALLOCATE_MB is not a number of MiB; nothing is preallocated\n", rt->log);
    masu_status status = heap_create(config, config->only_device, config->device, config->trace, "tensors", kept_bytes,
                                     &rt->payload);
    if (status == MASU_OK)
        status = heap_create(config, config->only_device, config->only_device ? config->device : NULL,
                             config->trace_all ? config->trace : NULL, "lists, strings, nodes", 0, &rt->metadata);
    if (status == MASU_OK)
        status = arena_create(rt, config->frame_arena_bytes, config->frame_arena);
    return status;
}

/* config NULL: defaults. MASU_ERR_UNSUPPORTED for a device whose memory the processor cannot reach. */
masu_status tl_runtime_create(const tl_runtime_config *config, tl_runtime **out) {
    static const tl_runtime_config defaults;
    if (!out)
        return MASU_ERR_INVALID_ARGUMENT;
    *out = NULL;
    config = config ? config : &defaults;
    if (!reachable(config->device))
        return MASU_ERR_UNSUPPORTED;
    tl_runtime *rt = masu__meta_calloc(1, sizeof *rt);
    if (!rt)
        return MASU_ERR_OUT_OF_MEMORY;
    rt->out = config->out ? config->out : stdout;
    rt->shows = config->out ? TL_SHOWS_NOTHING : isatty(fileno(rt->out)) ? TL_SHOWS_PIECES : TL_SHOWS_LINES;
    rt->err = config->err ? config->err : stderr;
    rt->log = config->log ? config->log : stderr;
    rt->trace = config->trace;
    if (rt->trace)
        rt->frame_pool = masu_trace_add_pool(rt->trace, "frames", "frames", 0);
    masu_status status = parts_create(rt, config);
    if (status != MASU_OK) {
        tl_runtime_destroy(rt);
        return status;
    }
    tl__cells_init(&rt->tensors, rt->metadata, sizeof(tl_tensor));
    tl__cells_init(&rt->storages, rt->metadata, sizeof(tl_storage));
    masu__rng_seed(&rt->rng, config->seed);
    rt->seed = config->seed;
    rt->values_path = config->values_path;
    rt->device = config->device;
    rt->growing_from = GROWING_FROM_BYTES;
    rt->growing_refused = config->only_device;
    rt->growing_reach = GROWING_REACH_BYTES;
    rt->history_limit = config->history_limit ? config->history_limit : TL_HISTORY_LIMIT;
    rt->argument_count = config->argument_count;
    rt->arguments = config->arguments;
    rt->program = config->program;
    rt->start_epoch_seconds = epoch_seconds();
    clock_gettime(CLOCK_MONOTONIC, &rt->start);
    tl_runtime_sample_memory(rt);
    *out = rt;
    return MASU_OK;
}

/* Whatever is still live goes with its heap; nothing is walked, since compiled plans may be gone by now. */
void tl_runtime_destroy(tl_runtime *rt) {
    if (!rt)
        return;
    MASU_ASSERT(rt->enter_count == 0);
#ifdef MASU_HEAVY
    MASU_ASSERT(!rt->arena || tl_runtime_valid(rt));
#endif
    tl__audit_destroy(rt);
    tl__trace_places_destroy(rt);
    tl__values_end(rt);
    tl__cells_destroy(&rt->tensors);
    tl__cells_destroy(&rt->storages);
    tl__growth_destroy(rt);
    masu_heap_destroy(rt->payload);
    masu_heap_destroy(rt->metadata);
    if (rt->arena && !rt->arena_is_borrowed)
        munmap(rt->arena, (size_t)(rt->arena_end - rt->arena));
    masu__meta_free(rt->entries, rt->entry_capacity * sizeof *rt->entries);
    masu__meta_free(rt->scopes, rt->scope_capacity * sizeof *rt->scopes);
    masu__meta_free(rt, sizeof *rt);
}

/* ---- enter, leave ------------------------------------------------------------------------------------------------ */

/* May be called again by the thread that is inside; every call needs its tl_runtime_leave. */
void tl_runtime_enter(tl_runtime *rt) {
    if (rt->enter_count++ > 0) {
        MASU_ASSERT(tl__current == rt);
        return;
    }
    rt->outer = tl__current;
    rt->stack_limit = tl__stack_limit();
    tl__current = rt;
}

void tl_runtime_leave(tl_runtime *rt) {
    MASU_ASSERT(tl__current == rt && rt->enter_count > 0);
    if (--rt->enter_count > 0)
        return;
    tl__slots_end(rt);
    tl__current = rt->outer;
    rt->outer = NULL;
}

const tl_error *tl_runtime_error(const tl_runtime *rt) {
    return &rt->error;
}

void tl_runtime_clear_error(tl_runtime *rt) {
    rt->error = (tl_error){.status = MASU_OK};
}

/* ---- run --------------------------------------------------------------------------------------------------------- */

typedef struct run_mark {
    tl_frame *frame;
    size_t scope_count;
    uint32_t grad_depth;
    jmp_buf *jump;
} run_mark;

/* In a function of its own, so that no variable of the caller lives across the jump. */
static __attribute__((noinline)) masu_status run_guarded(tl_runtime *rt, void (*entry)(void)) {
    jmp_buf landing;
    rt->jump = &landing;
    if (_setjmp(landing) != 0)
        return tl__current->pending.status;
    entry();
    return MASU_OK;
}

/* Ends the run's output. A write that failed becomes the run's error unless it has a worse one. */
static masu_status flush_output(tl_runtime *rt, masu_status status) {
    tl_flush();
    int failure = rt->write_error;
    rt->write_error = 0;
    if (failure == 0 || status != MASU_OK)
        return status;
    rt->pending = (tl_error){.status = MASU_OK};
    return tl__error(TL_SAY(writing_program_output_failed), strerror(failure));
}

masu_status tl_runtime_run(tl_runtime *rt, void (*entry)(void), tl_error *error) {
    if (error)
        *error = (tl_error){.status = MASU_OK};
    if (!rt || !entry)
        return MASU_ERR_INVALID_ARGUMENT;
    MASU_HEAVY_ASSERT(tl_runtime_valid(rt));
    tl_runtime_enter(rt);
    rt->grads_kept = false;
    run_mark mark = {rt->frame, rt->scope_count, rt->grad_depth, rt->jump};
    masu_status status = run_guarded(rt, entry);
    rt->jump = mark.jump;
    rt->ends_early = status != MASU_OK;
    tl__unwind(rt, mark.frame, mark.scope_count, mark.grad_depth);
    tl__dying_abandon(rt, status != MASU_OK && !mark.frame); /* an outer run may hold some of it */
    rt->ends_early = false;
    tl__arena_end(rt);
    if (!mark.frame)
        tl__audit_reset(rt);
    int exit_status = status != MASU_OK && rt->pending.ends ? rt->pending.exit_status : -1;
    status = flush_output(rt, exit_status >= 0 ? MASU_OK : status);
    if (error && status != MASU_OK)
        *error = rt->pending;
    else if (error && exit_status >= 0) {
        error->ends = true;
        error->exit_status = exit_status;
    }
    rt->pending.status = MASU_OK;
    tl_runtime_leave(rt);
    MASU_HEAVY_ASSERT(tl_runtime_valid(rt));
    return status;
}

/* ---- what is going on -------------------------------------------------------------------------------------------- */

void tl_runtime_sample_memory(tl_runtime *rt) {
    uint64_t anonymous = tl__process_memory().rss_anon_bytes;
    if (anonymous > rt->rss_anon_peak_bytes)
        rt->rss_anon_peak_bytes = anonymous;
}

static double seconds_since(const struct timespec *start) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec) * 1e-9;
}

static void report_heaps(const tl_runtime *rt, tl_report *out) {
    masu_heap_stats payload, metadata;
    masu_heap_get_stats(rt->payload, &payload);
    masu_heap_get_stats(rt->metadata, &metadata);
    out->live_bytes = payload.live_bytes - rt->slot_bytes;
    out->peak_bytes = rt->peak_bytes;
    out->allocations = payload.allocations;
    out->frees = payload.frees;
    out->pool_hits = payload.hits;
    out->pool_misses = payload.misses;
    out->device_allocations = payload.device_allocations;
    out->device_frees = payload.device_frees;
    out->reserved_bytes = payload.reserved_bytes;
    out->cached_bytes = payload.cached_bytes + payload.free_bytes;
    out->metadata_bytes = rt->metadata_live_bytes + rt->tensors.live * rt->tensors.cell_bytes +
                          rt->storages.live * rt->storages.cell_bytes;
    out->metadata_reserved = metadata.reserved_bytes;
    tl__growth_report(rt, out);
}

uint32_t tl_runtime_long_history(const tl_runtime *rt, uint32_t *operations) {
    *operations = rt->history_limit;
    return rt->history_site;
}

void tl_runtime_get_report(tl_runtime *rt, tl_report *out) {
    tl_process_memory process = tl__process_memory();
    if (process.rss_anon_bytes > rt->rss_anon_peak_bytes)
        rt->rss_anon_peak_bytes = process.rss_anon_bytes;
    *out = (tl_report){
        .live_tensors = rt->tensors.live,
        .retain_ops = rt->retain_ops,
        .release_ops = rt->release_ops,
        .live_nodes = rt->live_nodes,
        .live_grads = rt->live_grads,
        .live_objects = rt->live_objects,
        .scope_depth = rt->scope_depth,
        .frame_depth = rt->frame_depth,
        .frame_depth_peak = rt->frame_depth_peak,
        .placed = rt->placed,
        .frame_bytes_peak = rt->room_bytes_peak,
        .reused = rt->reused,
        .slotted = rt->slotted,
        .slot_growths = rt->slot_growths,
        .slot_bytes_peak = rt->slot_bytes_peak,
        .registered = rt->registered,
        .rss_bytes = process.rss_bytes,
        .rss_peak_bytes = process.rss_peak_bytes,
        .rss_anon_bytes = process.rss_anon_bytes,
        .rss_anon_peak_bytes = rt->rss_anon_peak_bytes,
        .seed = rt->seed,
        .wall_seconds = seconds_since(&rt->start),
    };
    report_heaps(rt, out);
}

/* The runtime's own counters against those of its heaps. */
static bool totals_valid(const tl_runtime *rt) {
    masu_heap_stats payload, metadata;
    masu_heap_get_stats(rt->payload, &payload);
    masu_heap_get_stats(rt->metadata, &metadata);
    uint64_t chunks = tl__cells_bytes(&rt->tensors) + tl__cells_bytes(&rt->storages);
    return rt->allocated_bytes - rt->freed_bytes == rt->live_bytes &&
           rt->live_bytes + rt->slot_bytes == payload.live_bytes + rt->growing_bytes &&
           rt->peak_bytes >= rt->live_bytes && rt->walked_nodes <= rt->live_nodes &&
           rt->metadata_live_bytes + chunks == metadata.live_bytes;
}

/* Frames, registry, headers against storages, both heaps, and all totals. O(n). */
bool tl_runtime_valid(const tl_runtime *rt) {
    return tl__frames_valid(rt) && tl__registry_valid(rt) && tl__tensors_valid(rt) && tl__slots_valid(rt) &&
           totals_valid(rt) && masu_heap_valid(rt->payload) && masu_heap_valid(rt->metadata);
}
