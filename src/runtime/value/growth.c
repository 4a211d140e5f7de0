/* growth.c: tensors that grow without being copied: key-value caches, rows collected in a loop.
 *
 * A program grows a tensor by joining: x = x.cat(row, 0). Every value is a value, so the result is another tensor,
 * and copying x each time costs the square of its length. But the result begins with x's own bytes, and x is only ever
 * read; so both can be the same bytes, when there is room behind them:
 *
 *     x       ┌───────────────┐                        x = x.cat(row, 0)
 *     result  ┌───────────────┬─────┐
 *     storage │ elements of x │ row │ memory │ addresses, no memory        one block of virtual memory (masu/vm.h)
 *             └───────────────┴─────┴────────┴ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ┘
 *             data            bytes (used)  user bytes            reserved
 *
 * The block never moves: other headers point into it. Nothing depends on whether x dies: when it does, the result is
 * the storage's only holder; when it lives on, both stay right, since bytes that any header reaches are never written
 * again (a writer into a shared storage copies it first). Appending to x a second time finds its end taken
 * and copies.
 *
 *     none ─ result of a join in the outermost dimension ─► joined ─ joined again, 4 MiB or more ─► room
 *
 * A single large join therefore costs what it always did. The first copy into a block with room is the last one until
 * its addresses are used up; the next block has REACH times as many.
 *
 * A header in front of the block only: what was cut off at the front (a sliding window) would stay behind for ever.
 *
 * What must stay true (tl__growth_valid):
 *     growth == ROOM  <=>  data is a block of rt->growing, and bytes <= its user bytes
 *     bytes of a storage with room = the largest end of the headers that share it, or less than a granule more than
 *     that since a longer header was written to and left   (settled when the longest header dies)
 *     growing_bytes = sum of bytes of storages with room
 *
 * Without virtual memory (another device, a refused reservation), and whenever the pool refuses, joining copies.
 */
#include "runtime/value/growth.h"

#include <string.h>

#include <masu/vm.h>

#include "base/meta.h"
#include "base/size.h"

#define MOST_AHEAD_BYTES ((size_t)32 << 20)
#define STOCK_BYTES      ((size_t)64 << 20)
enum { REACH = 16, AHEAD_PART = 8 };

/* ---- the pool ------------------------------------------------------------------------------------------------ */

static masu_status pool_create(tl_runtime *rt) {
    masu_status status = MASU_OK;
    if (!rt->device)
        status = masu_device_create_host(&rt->growing_device);
    if (status != MASU_OK)
        return status;
    masu_vm_config config = masu_vm_config_default(rt->device ? rt->device : rt->growing_device);
    config.thread_safe = false;
    config.trace = rt->trace;
    config.name = "growing tensors";
    config.max_cached_bytes = STOCK_BYTES;
    return masu_vm_create(&config, &rt->growing);
}

/* NULL: there is none, and there will be none. */
static masu_vm *pool_of(tl_runtime *rt) {
    if (rt->growing || rt->growing_refused)
        return rt->growing;
    rt->growing_refused = pool_create(rt) != MASU_OK;
    return rt->growing;
}

void tl__growth_destroy(tl_runtime *rt) {
    masu_vm_destroy(rt->growing);
    masu_device_destroy(rt->growing_device);
}

/* Memory for a little more than what is needed, so that not every join asks. */
static size_t with_ahead(size_t bytes) {
    return bytes + masu__min(bytes / AHEAD_PART, MOST_AHEAD_BYTES);
}

static void count_bytes(tl_runtime *rt, tl_storage *storage, size_t bytes) {
    if (bytes >= storage->bytes)
        tl__payload_taken(bytes - storage->bytes);
    else
        tl__payload_given(storage->bytes - bytes);
    rt->growing_bytes += bytes - storage->bytes;
    storage->bytes = bytes;
}

/* ---- storages ------------------------------------------------------------------------------------------------ */

/* A block that the device refuses to unmap is as before, memory and all: it waits in a list that is written into the
 * blocks themselves, until the next one dies or the runtime ends. */
static void block_free(tl_runtime *rt, void *block) {
    if (masu_vm_free(rt->growing, block) == MASU_OK)
        return;
    memcpy(block, &rt->growing_refused_back, sizeof(void *));
    rt->growing_refused_back = block;
    rt->growing_refused_count++;
}

bool tl__growth_storage(size_t bytes, tl_storage **out) {
    tl_runtime *rt = tl__runtime();
    size_t reach;
    void *data = NULL;
    if (!pool_of(rt) || masu__fault_hit() || !masu__mul(bytes, REACH, &reach))
        return false;
    masu_status status = masu_vm_reserve_growable(rt->growing, with_ahead(bytes), masu__max(reach, rt->growing_reach),
                                                  tl__site(), &data);
    if (status != MASU_OK)
        return false;
    tl_storage *storage = tl__cells_take(&rt->storages);
    if (!storage) {
        block_free(rt, data);
        return false;
    }
    *storage = (tl_storage){.count = 1, .growth = TL_GROWTH_ROOM, .data = data};
    count_bytes(rt, storage, bytes);
    *out = storage;
    return true;
}

static void free_refused(tl_runtime *rt) {
    void *block = rt->growing_refused_back, *next;
    rt->growing_refused_back = NULL;
    rt->growing_refused_count = 0;
    for (; block; block = next) {
        memcpy(&next, block, sizeof next);
        block_free(rt, block);
    }
}

void tl__growth_free(tl_storage *storage) {
    tl_runtime *rt = tl__runtime();
    count_bytes(rt, storage, 0);
    free_refused(rt);
    block_free(rt, storage->data);
}

/* To so many bytes, where it is. False: as before. */
static bool storage_extend(tl_storage *storage, size_t bytes) {
    tl_runtime *rt = tl__runtime();
    masu_vm_block block;
    void *same = storage->data;
    masu_status status = masu_vm_query(rt->growing, storage->data, &block);
    MASU_ASSERT(status == MASU_OK);
    if (bytes > block.user_bytes) {
        size_t wanted = masu__min(with_ahead(bytes), block.reserved_bytes);
        if (bytes > wanted || masu__fault_hit() || masu_vm_resize(rt->growing, storage->data, wanted, &same) != MASU_OK)
            return false;
        MASU_ASSERT(same == storage->data);
    }
    count_bytes(rt, storage, bytes);
    return true;
}

/* ---- ends ------------------------------------------------------------------------------------------------------ */

/* The first byte behind the elements, from the storage's own first; of a contiguous tensor. */
static size_t end_of(const tl_tensor *t) {
    return (size_t)((const char *)t->data - (const char *)t->storage->data) +
           (size_t)t->elements * tl__dtype_size((tl_dtype)t->dtype);
}

/* Of any tensor: strides count. */
static size_t reach_of(const tl_tensor *t) {
    if (t->contiguous)
        return t->elements > 0 ? end_of(t) : 0;
    int64_t last = 0;
    for (int i = 0; i < t->rank; i++)
        last += t->stride[i] > 0 ? (t->shape[i] - 1) * t->stride[i] : 0;
    return (size_t)((const char *)t->data - (const char *)t->storage->data) +
           ((size_t)last + 1) * tl__dtype_size((tl_dtype)t->dtype);
}

bool tl__growth_is_longest(const tl_tensor *t) {
    return t->storage->growth == TL_GROWTH_ROOM && t->storage->count > 1 && reach_of(t) == t->storage->bytes;
}

static size_t furthest_reach(const tl_runtime *rt, const tl_storage *storage) {
    const tl_cells *tensors = &rt->tensors;
    size_t furthest = 0;
    for (const tl_cell_chunk *chunk = tensors->chunks; chunk; chunk = chunk->next) {
        for (uint64_t i = 0; i < chunk->cell_count; i++) {
            const tl_cell *cell = tl__chunk_cell(tensors, chunk, i);
            const tl_tensor *t = (const tl_tensor *)(const void *)cell;
            if (cell->count > 0 && t->storage == storage)
                furthest = masu__max(furthest, reach_of(t));
        }
    }
    return furthest;
}

/* Half of the memory, or more, goes back; less is kept for the next join. */
void tl__growth_settle(tl_storage *storage) {
    tl_runtime *rt = tl__runtime();
    size_t bytes = furthest_reach(rt, storage);
    masu_vm_block block;
    void *same;
    if (bytes == 0 || bytes >= storage->bytes)
        return;
    count_bytes(rt, storage, bytes);
    if (masu_vm_query(rt->growing, storage->data, &block) == MASU_OK && with_ahead(bytes) <= block.user_bytes / 2)
        (void)masu_vm_resize(rt->growing, storage->data, with_ahead(bytes), &same);
}

/* ---- joining --------------------------------------------------------------------------------------------------- */

static bool outermost(const tl_tensor *t, int dim) {
    for (int i = 0; i < dim; i++)
        if (t->shape[i] != 1)
            return false;
    return true;
}

/* The length in bytes of what begins with a; false when that has no number. */
static bool joined_bytes(const tl_tensor *a, int dim, const int64_t *shape, size_t *out) {
    size_t row = (size_t)a->elements / (size_t)a->shape[dim];
    return masu__mul(row, (size_t)shape[dim], out) && masu__mul(*out, tl__dtype_size((tl_dtype)a->dtype), out) &&
           *out <= PTRDIFF_MAX;
}

/* Whether what follows a's elements is free: then the storage may be made longer or shorter there. */
static bool ends_storage(const tl_tensor *a) {
    const tl_storage *storage = a->storage;
    return a->data == storage->data && (end_of(a) == storage->bytes || storage->count == 1);
}

static bool continue_storage(tl_tensor *a, int dim, const int64_t *shape, size_t bytes, tl_tensor **out) {
    tl_runtime *rt = tl__runtime();
    size_t kept = end_of(a), before = a->storage->bytes;
    if (!ends_storage(a) || !storage_extend(a->storage, bytes))
        return false;
    if (tl__tensor_view(a, out) != MASU_OK) {
        count_bytes(rt, a->storage, before);
        return false;
    }
    (*out)->shape[dim] = shape[dim];
    tl__tensor_relay(*out);
    rt->grown_tensors++;
    rt->kept_bytes += kept;
    return true;
}

masu_status tl__growth_join(tl_tensor *a, tl_dtype dtype, int dim, const int64_t *shape, tl_tensor **out,
                            bool *continued) {
    size_t bytes = 0;
    bool grows = a->dtype == dtype && a->contiguous && a->elements > 0 && outermost(a, dim) &&
                 joined_bytes(a, dim, shape, &bytes);
    *continued = grows && a->storage->growth == TL_GROWTH_ROOM && continue_storage(a, dim, shape, bytes, out);
    if (*continued)
        return MASU_OK;
    bool again = grows && a->storage->growth != TL_GROWTH_NONE;
    if (again && bytes >= tl__runtime()->growing_from &&
        tl__tensor_new_with_room(dtype, a->rank, shape, out) == MASU_OK)
        return MASU_OK;
    masu_status status = tl__tensor_new(dtype, a->rank, shape, out);
    if (status == MASU_OK && grows)
        (*out)->storage->growth = TL_GROWTH_JOINED;
    return status;
}

/* ---- counters ---------------------------------------------------------------------------------------------------- */

void tl__growth_report(const tl_runtime *rt, tl_report *report) {
    report->grown_tensors = rt->grown_tensors;
    report->kept_bytes = rt->kept_bytes;
    if (!rt->growing)
        return;
    masu_vm_stats stats;
    masu_vm_get_stats(rt->growing, &stats);
    report->live_bytes += rt->growing_bytes;
    report->allocations += stats.allocations;
    report->frees += stats.frees + rt->growing_refused_count;
    report->pool_hits += stats.hot_allocs;
    report->pool_misses += stats.cold_allocs;
    report->device_allocations += stats.pieces_created;
    report->device_frees += stats.pieces_released;
    report->reserved_bytes += stats.held_bytes;
    report->cached_bytes += stats.held_bytes - rt->growing_bytes;
}

static bool storage_valid(const tl_runtime *rt, const tl_storage *storage) {
    masu_vm_block block;
    return masu_vm_query(rt->growing, storage->data, &block) == MASU_OK && block.address == storage->data &&
           storage->bytes <= block.user_bytes;
}

bool tl__growth_valid(const tl_runtime *rt) {
    const tl_cells *storages = &rt->storages;
    uint64_t bytes = 0;
    for (const tl_cell_chunk *chunk = storages->chunks; chunk; chunk = chunk->next) {
        for (uint64_t i = 0; i < chunk->cell_count; i++) {
            const tl_cell *cell = tl__chunk_cell(storages, chunk, i);
            const tl_storage *storage = (const tl_storage *)(const void *)cell;
            if (cell->count == 0 || storage->growth != TL_GROWTH_ROOM)
                continue;
            if (!storage_valid(rt, storage))
                return false;
            bytes += storage->bytes;
        }
    }
    return bytes == rt->growing_bytes && (!rt->growing || masu_vm_valid(rt->growing));
}
