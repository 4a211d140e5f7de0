/* vm_life.c: birth and death of the pool, its statistics, trim, and the check of its equations. */
#include "allocators/vm/vm_pool.h"

#include <stdatomic.h>

#include "base/assert.h"
#include "base/meta.h"
#include "base/size.h"

#define LEAST_RESERVATION ((uint64_t)1 << 40)
#define MOST_RESERVATION  ((uint64_t)1 << 45)
/* A process has 128 TiB of addresses. The nth pool that lives by defaults gets at most an nth part of this: ten
 * thousand of them take 78 TiB in all, a thousand 60, and the first eight have all they want. */
#define SHARED_DEFAULT ((uint64_t)1 << 43)

enum { LEAST_GRANULES = 16 };

static _Atomic uint64_t default_pools; /* alive, with a reservation by default */

masu_vm_config masu_vm_config_default(masu_device *device) {
    return (masu_vm_config){
        .device = device,
        .fragment_ratio = MASU_VM_FRAGMENT_RATIO,
        .max_cached_bytes = SIZE_MAX,
        .copy_below_bytes = 64 << 10,
        .thread_safe = true,
    };
}

/* Many times the device's memory; address space costs nothing until it is used. */
static uint64_t default_reservation(const masu_device *device) {
    uint64_t memory = device->info.memory_bytes, least = LEAST_RESERVATION;
    if (memory >= MOST_RESERVATION / 16)
        return MOST_RESERVATION;
    return memory * 16 > least ? (uint64_t)1 << masu__log2_ceil(memory * 16) : least;
}

static masu_status config_check(const masu_vm_config *config) {
    if (!config || !config->device)
        return MASU_ERR_INVALID_ARGUMENT;
    if (!(config->fragment_ratio >= 0 && config->fragment_ratio <= 1)) /* NaN too */
        return MASU_ERR_INVALID_ARGUMENT;
    return config->device->vm ? MASU_OK : MASU_ERR_UNSUPPORTED;
}

static masu_status reserve(masu_vm *vm, uint64_t wanted) {
    size_t bytes;
    void *address;
    if (wanted > SIZE_MAX || !masu__vm_round(vm, (size_t)wanted, &bytes))
        return MASU_ERR_OVERFLOW;
    masu_status status = masu__device_reserve(vm->device, bytes, &address);
    if (status != MASU_OK)
        return status;
    if (!masu__space_init(&vm->space, (uintptr_t)address, bytes, vm->granule)) {
        masu__device_unreserve(vm->device, address, bytes);
        return MASU_ERR_OUT_OF_MEMORY;
    }
    if (masu__trace_wanted(vm->trace))
        masu__vm_emit(vm, MASU_EVENT_EXTENT_ADD, (uintptr_t)address, bytes, bytes, 0, 0);
    return MASU_OK;
}

/* Whether so many addresses can be had at all. */
static masu_status try_addresses(masu_vm *vm, uint64_t bytes) {
    void *address;
    masu_status status = masu__device_reserve(vm->device, (size_t)bytes, &address);
    if (status == MASU_OK)
        status = masu__device_unreserve(vm->device, address, (size_t)bytes);
    return status;
}

/* The default is a wish: where addresses are scarce (a limit, a sanitizer) it is halved until it can be had, and once
 * more: what the limit leaves is for memory and the rest of the program too. */
/* Memory comes in granules: a limit that ends inside one means the whole of it. */
static size_t limit_of(const masu_vm *vm, size_t limit_bytes) {
    size_t limit;
    return limit_bytes && masu__vm_round(vm, limit_bytes, &limit) ? limit : SIZE_MAX;
}

static masu_status reserve_by_default(masu_vm *vm) {
    uint64_t least = LEAST_GRANULES * (uint64_t)vm->granule;
    uint64_t share = SHARED_DEFAULT / (atomic_fetch_add(&default_pools, 1) + 1);
    uint64_t wanted = masu__min(default_reservation(vm->device), share) & ~((uint64_t)vm->granule - 1);
    wanted = masu__max(wanted, least);
    vm->by_default = true;
    masu_status status = reserve(vm, wanted);
    if (status == MASU_ERR_ADDRESS_SPACE) {
        while (status == MASU_ERR_ADDRESS_SPACE && wanted > least) {
            wanted = masu__max(wanted / 2 & ~((uint64_t)vm->granule - 1), least);
            status = try_addresses(vm, wanted);
        }
        if (status == MASU_OK)
            status = reserve(vm, masu__max(wanted / 2 & ~((uint64_t)vm->granule - 1), least));
    }
    if (status != MASU_OK)
        atomic_fetch_sub(&default_pools, 1);
    return status;
}

masu_status masu_vm_create(const masu_vm_config *config, masu_vm **out) {
    if (!out)
        return MASU_ERR_INVALID_ARGUMENT;
    *out = NULL;
    masu_status status = config_check(config);
    if (status != MASU_OK)
        return status;
    masu_vm *vm = masu__meta_calloc(1, sizeof *vm);
    if (!vm)
        return MASU_ERR_OUT_OF_MEMORY;
    masu_device *device = config->device;
    vm->magic = MASU__VM_LIVE;
    vm->thread_safe = config->thread_safe;
    vm->device = device;
    vm->trace = config->trace;
    vm->number = masu__trace_new_pool();
    masu__trace_know_pool(vm->trace, vm->number, "virtual memory", config->name, 0);
    vm->granule = device->info.vm_granularity_bytes;
    vm->large = device->info.vm_large_bytes ? device->info.vm_large_bytes : SIZE_MAX;
    vm->fragment_ratio = config->fragment_ratio;
    vm->max_cached_bytes = config->max_cached_bytes;
    vm->limit_bytes = limit_of(vm, config->limit_bytes);
    vm->copy_below_bytes = config->copy_below_bytes;
    vm->max_piece_bytes = config->max_piece_bytes ? config->max_piece_bytes & ~(vm->granule - 1) : SIZE_MAX;
    vm->max_piece_bytes = masu__max(vm->max_piece_bytes, vm->granule);
    masu__lock_init(&vm->lock, MASU__RANK_VM);
    status = config->reserve_bytes > 0 ? reserve(vm, config->reserve_bytes) : reserve_by_default(vm);
    if (status != MASU_OK) {
        masu__lock_destroy(&vm->lock);
        masu__meta_free(vm, sizeof *vm);
        return status;
    }
    *out = vm;
    return MASU_OK;
}

/* Takes every piece out of its segment, as far as the device lets go of it. */
static masu_status clear_segment(masu_vm *vm, masu__segment *segment) {
    if (segment->state == MASU__SEGMENT_FREE || segment->pieces.count == 0)
        return MASU_OK;
    masu_status status = masu__vm_discard_run(vm, segment->address, segment->pieces.first);
    if (status != MASU_OK)
        return status;
    if (segment->state == MASU__SEGMENT_LIVE && masu__trace_wanted(vm->trace))
        masu__vm_emit(vm, MASU_EVENT_FREE, segment->address, segment->user_bytes, segment->bytes, 0, segment->owner);
    masu__vm_emit_run(vm, MASU_EVENT_UNMAP, segment->address, segment->pieces.first);
    while (segment->pieces.first) {
        masu__vm_piece *piece = segment->pieces.first;
        masu__list_remove(&segment->pieces, piece);
        masu__stock_put(&vm->stock, piece);
    }
    return MASU_OK;
}

/* Records of what the device would not take back; the memory stays the device's business. */
static void forget_list(masu__piece_list *list) {
    while (list->first) {
        masu__vm_piece *piece = list->first;
        masu__list_remove(list, piece);
        masu__meta_free(piece, sizeof *piece);
    }
}

static masu_status unreserve(masu_vm *vm) {
    masu__space *space = &vm->space;
    masu_status status = masu__device_unreserve(vm->device, (void *)space->address, space->bytes);
    if (status == MASU_OK && space->live_count == 0 && masu__trace_wanted(vm->trace))
        masu__vm_emit(vm, MASU_EVENT_EXTENT_DROP, space->address, space->bytes, space->bytes, 0, 0);
    return status;
}

masu_status masu_vm_destroy(masu_vm *vm) {
    if (!vm)
        return MASU_OK;
    if (vm->magic != MASU__VM_LIVE)
        return MASU_ERR_STALE_POOL;
    masu_status status = vm->space.live_count == 0 ? MASU_OK : MASU_ERR_LEAK;
    masu_status device = masu__device_wait(vm->device);
    for (masu__segment *segment = vm->space.first; segment; segment = segment->after) {
        masu_status cleared = clear_segment(vm, segment);
        device = device == MASU_OK ? cleared : device;
    }
    masu_status drained = masu__vm_drain(vm, 0);
    device = device == MASU_OK ? drained : device;
    if (device == MASU_OK) /* else something may still be mapped there */
        device = unreserve(vm);
    for (masu__segment *segment = vm->space.first; segment; segment = segment->after)
        forget_list(&segment->pieces);
    forget_list(&vm->stock.aged);
    masu__space_destroy(&vm->space);
    if (vm->by_default)
        atomic_fetch_sub(&default_pools, 1);
    masu__meta_free(vm->run, vm->run_capacity * sizeof *vm->run);
    masu__lock_destroy(&vm->lock);
    vm->magic = MASU__VM_DEAD;
    masu__meta_retire(vm, sizeof *vm);
    return status == MASU_OK && device != MASU_OK ? MASU_ERR_DEVICE_FAILURE : status;
}

masu_status masu_vm_trim(masu_vm *vm, size_t keep_bytes) {
    if (!vm)
        return MASU_ERR_INVALID_ARGUMENT;
    if (vm->magic != MASU__VM_LIVE)
        return MASU_ERR_STALE_POOL;
    masu__vm_lock(vm);
    masu__vm_mend(vm);
    masu_status status = masu__vm_drain(vm, keep_bytes);
    MASU_HEAVY_ASSERT(masu__vm_audit(vm));
    masu__vm_unlock(vm);
    return status;
}

/* ---- statistics and questions -------------------------------------------------------------------- */

void masu_vm_get_stats(masu_vm *vm, masu_vm_stats *out) {
    *out = (masu_vm_stats){0};
    if (!vm || vm->magic != MASU__VM_LIVE)
        return;
    masu__vm_lock(vm);
    const masu__space *space = &vm->space;
    *out = vm->stats;
    out->live_blocks = space->live_count;
    out->reserved_bytes = space->live_bytes;
    out->stock_bytes = vm->stock.aged.bytes;
    out->stuck_bytes = vm->stuck_bytes;
    out->mapped_pieces = vm->mapped_pieces;
    out->stock_pieces = vm->stock.aged.count;
    out->stuck_pieces = vm->stuck_pieces;
    out->space_bytes = space->bytes;
    out->space_free_bytes = space->free_bytes;
    out->space_largest_free_bytes = masu__space_largest_free(space);
    out->space_stuck_bytes = space->broken_bytes;
    out->metadata_bytes = sizeof *vm + masu__space_metadata_bytes(space) + vm->run_capacity * sizeof *vm->run +
                          (vm->mapped_pieces + vm->stock.aged.count + vm->stuck_pieces) * sizeof(masu__vm_piece);
    masu__vm_unlock(vm);
}

/* Blocks in use stay counted: as if just those blocks and pieces had been made. */
void masu_vm_set_limit(masu_vm *vm, size_t limit_bytes) {
    if (!vm || vm->magic != MASU__VM_LIVE)
        return;
    masu__vm_lock(vm);
    vm->limit_bytes = limit_of(vm, limit_bytes);
    masu__vm_unlock(vm);
}

void masu_vm_reset_stats(masu_vm *vm) {
    if (!vm || vm->magic != MASU__VM_LIVE)
        return;
    masu__vm_lock(vm);
    masu_vm_stats old = vm->stats;
    vm->pieces_cut = 0;
    vm->stats = (masu_vm_stats){
        .allocations = vm->space.live_count,
        .cold_allocs = vm->space.live_count,
        .pieces_created = vm->mapped_pieces + vm->stock.aged.count + vm->stuck_pieces,
        .user_bytes = old.user_bytes,
        .mapped_bytes = old.mapped_bytes,
        .held_bytes = old.held_bytes,
        .peak_user_bytes = old.user_bytes,
        .peak_mapped_bytes = old.mapped_bytes,
        .peak_held_bytes = old.held_bytes,
        .most_pieces = old.most_pieces,
    };
    masu__vm_unlock(vm);
}

static masu_vm_block describe(const masu__segment *segment) {
    return (masu_vm_block){
        .address = (void *)segment->address,
        .user_bytes = segment->user_bytes,
        .mapped_bytes = segment->pieces.bytes,
        .reserved_bytes = segment->bytes,
        .pieces = segment->pieces.count,
        .growable = segment->growable,
        .owner = segment->owner,
        .serial = segment->serial,
    };
}

static masu_status query_locked(masu_vm *vm, uintptr_t address, masu_vm_block *out) {
    const masu__segment *segment = masu__space_find(&vm->space, address);
    if (!segment)
        return MASU_ERR_FOREIGN_POINTER;
    if (segment->state != MASU__SEGMENT_LIVE)
        return MASU_ERR_DOUBLE_FREE;
    *out = describe(segment);
    uintptr_t at = segment->address;
    for (const masu__vm_piece *piece = segment->pieces.first; piece; piece = piece->next) {
        if (address - at < piece->piece.bytes) {
            out->piece_address = (void *)at;
            out->piece_bytes = piece->piece.bytes;
            break;
        }
        at += piece->piece.bytes;
    }
    return MASU_OK;
}

masu_status masu_vm_query(masu_vm *vm, const void *address, masu_vm_block *out) {
    if (!vm || !out)
        return MASU_ERR_INVALID_ARGUMENT;
    if (vm->magic != MASU__VM_LIVE)
        return MASU_ERR_STALE_POOL;
    *out = (masu_vm_block){0};
    masu__vm_lock(vm);
    masu_status status = query_locked(vm, (uintptr_t)address, out);
    masu__vm_unlock(vm);
    return status;
}

void masu_vm_visit(masu_vm *vm, masu_vm_visitor visitor, void *context) {
    if (!vm || !visitor || vm->magic != MASU__VM_LIVE)
        return;
    masu__vm_lock(vm);
    for (const masu__segment *segment = vm->space.first; segment; segment = segment->after) {
        masu_vm_block block = describe(segment);
        if (segment->state == MASU__SEGMENT_LIVE && !visitor(context, &block))
            break;
    }
    masu__vm_unlock(vm);
}

uint32_t masu_vm_number(const masu_vm *vm) {
    return vm->number;
}

/* ---- the equations --------------------------------------------------------------------------------- */

typedef struct tally {
    size_t user, mapped, mapped_pieces, stuck, stuck_pieces;
} tally;

static bool segment_holds(const masu_vm *vm, const masu__segment *segment, tally *t) {
    if (segment->state == MASU__SEGMENT_BROKEN) {
        t->stuck += segment->pieces.bytes;
        t->stuck_pieces += segment->pieces.count;
        return masu__list_valid(&segment->pieces, MASU__PIECE_STUCK);
    }
    t->user += segment->user_bytes;
    t->mapped += segment->pieces.bytes;
    t->mapped_pieces += segment->pieces.count;
    return segment->user_bytes <= segment->pieces.bytes && segment->kept_bytes <= segment->bytes &&
           segment->pieces.count <= vm->run_capacity && masu__list_valid(&segment->pieces, MASU__PIECE_BLOCK);
}

bool masu__vm_valid_unlocked(const masu_vm *vm) {
    const masu_vm_stats *stats = &vm->stats;
    tally t = {0};
    if (vm->magic != MASU__VM_LIVE || !masu__space_valid(&vm->space) || !masu__stock_valid(&vm->stock))
        return false;
    for (const masu__segment *segment = vm->space.first; segment; segment = segment->after)
        if (segment->state != MASU__SEGMENT_FREE && !segment_holds(vm, segment, &t))
            return false;
    size_t pieces = t.mapped_pieces + t.stuck_pieces + vm->stock.aged.count;
    return t.user == stats->user_bytes && t.mapped == stats->mapped_bytes && t.mapped_pieces == vm->mapped_pieces &&
           t.stuck == vm->stuck_bytes && t.stuck_pieces == vm->stuck_pieces &&
           t.mapped + t.stuck + vm->stock.aged.bytes == stats->held_bytes &&
           pieces == stats->pieces_created + vm->pieces_cut - stats->pieces_released &&
           stats->allocations - stats->frees == vm->space.live_count &&
           stats->hot_allocs + stats->cold_allocs == stats->allocations && stats->peak_user_bytes >= t.user &&
           stats->peak_mapped_bytes >= t.mapped && stats->peak_held_bytes >= stats->held_bytes;
}

bool masu__vm_audit(masu_vm *vm) {
    if (vm->audit_pause > 0) {
        vm->audit_pause--;
        return true;
    }
    vm->audit_pause = (vm->space.segment_count + vm->mapped_pieces) / 256;
    return masu__vm_valid_unlocked(vm);
}

bool masu_vm_valid(masu_vm *vm) {
    if (!vm || vm->magic != MASU__VM_LIVE)
        return false;
    masu__vm_lock(vm);
    bool valid = masu__vm_valid_unlocked(vm);
    masu__vm_unlock(vm);
    return valid;
}
