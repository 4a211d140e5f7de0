/* custom.c: a device that somebody else wrote. What it hands out is looked at here, because an error in it is a
 * condition that its caller may see, and not a bug of masu.
 */
#include "devices/devices.h"

#include "base/meta.h"
#include "base/size.h"

typedef struct custom_device {
    masu_device head;
    masu_device_table table;
    void *context;
} custom_device;

static custom_device *custom_of(masu_device *device) {
    return (custom_device *)device;
}

/* The statuses that a device may say. */
static masu_status taken_as(masu_status status) {
    switch (status) {
    case MASU_OK:
    case MASU_ERR_OUT_OF_MEMORY:
    case MASU_ERR_LIMIT_REACHED:
    case MASU_ERR_ADDRESS_SPACE:
    case MASU_ERR_CORRUPT:
    case MASU_ERR_UNSUPPORTED:
        return status;
    default:
        return MASU_ERR_DEVICE_FAILURE;
    }
}

static bool can_be(const void *address, size_t bytes, size_t alignment) {
    uintptr_t at = (uintptr_t)address;
    return at != 0 && masu__is_aligned(at, alignment) && bytes - 1 <= UINTPTR_MAX - at;
}

/* ---- blocks ------------------------------------------------------------------------------------------ */

static masu_status custom_alloc(masu_device *device, size_t bytes, void **out) {
    custom_device *custom = custom_of(device);
    const masu_device_table *table = &custom->table;
    void *ptr = NULL;
    masu_status status = taken_as(table->alloc(custom->context, bytes, &ptr));
    if (status != MASU_OK)
        return status;
    if (!can_be(ptr, bytes, table->alignment_bytes)) {
        if (ptr)
            table->free(custom->context, ptr, bytes);
        return MASU_ERR_DEVICE_FAILURE;
    }
    *out = ptr;
    return MASU_OK;
}

static masu_status custom_free(masu_device *device, void *ptr, size_t bytes) {
    custom_device *custom = custom_of(device);
    return taken_as(custom->table.free(custom->context, ptr, bytes));
}

static void custom_destroy(masu_device *device) {
    custom_device *custom = custom_of(device);
    if (custom->table.destroy)
        custom->table.destroy(custom->context);
    masu__meta_free(custom, sizeof *custom);
}

static void custom_purge(masu_device *device, void *ptr, size_t bytes) {
    custom_device *custom = custom_of(device);
    if (custom->table.purge)
        custom->table.purge(custom->context, ptr, bytes);
}

static masu_status custom_carry(masu_device *device, const masu_device_carrying *what, void **out) {
    custom_device *custom = custom_of(device);
    void *ptr = NULL;
    masu_status status = taken_as(custom->table.carry(custom->context, what, &ptr));
    if (status != MASU_OK)
        return status;
    *out = ptr;
    return can_be(ptr, what->new_bytes, custom->table.alignment_bytes) ? MASU_OK : MASU_ERR_DEVICE_FAILURE;
}

static const masu__device_ops custom_ops = {custom_alloc, custom_free, custom_destroy, custom_purge, custom_carry};

/* ---- virtual memory ------------------------------------------------------------------------------------ */

#define ASK(function, ...) taken_as(custom_of(device)->table.function(custom_of(device)->context, __VA_ARGS__))

static masu_status custom_reserve(masu_device *device, size_t bytes, void **out) {
    void *address = NULL;
    masu_status status = ASK(reserve, bytes, &address);
    if (status != MASU_OK)
        return status;
    if (!can_be(address, bytes, device->info.vm_granularity_bytes)) {
        if (address)
            ASK(unreserve, address, bytes);
        return MASU_ERR_DEVICE_FAILURE;
    }
    *out = address;
    return MASU_OK;
}

static masu_status custom_unreserve(masu_device *device, void *address, size_t bytes) {
    return ASK(unreserve, address, bytes);
}

static masu_status custom_create(masu_device *device, size_t bytes, uint64_t *out) {
    return ASK(create, bytes, out);
}

static masu_status custom_release(masu_device *device, masu__piece piece) {
    return ASK(release, piece);
}

static masu_status custom_map(masu_device *device, void *address, masu__piece piece) {
    return ASK(map, address, piece);
}

static masu_status custom_access(masu_device *device, void *address, size_t bytes) {
    return ASK(access, address, bytes);
}

static masu_status custom_unmap(masu_device *device, void *address, const masu__piece *pieces, size_t count) {
    return ASK(unmap, address, pieces, count);
}

static masu_status custom_discard(masu_device *device, void *address, const masu__piece *pieces, size_t count) {
    return custom_of(device)->table.discard ? ASK(discard, address, pieces, count) : ASK(unmap, address, pieces, count);
}

static masu_status custom_remap(masu_device *device, void *from, void *to, const masu__piece *pieces, size_t count) {
    return ASK(remap, from, to, pieces, count);
}

static masu_status custom_split(masu_device *device, masu__piece piece, size_t first_bytes, uint64_t *rest) {
    return ASK(split, piece, first_bytes, rest);
}

static bool custom_join(masu_device *device, masu__piece first, masu__piece rest) {
    custom_device *custom = custom_of(device);
    return custom->table.join && custom->table.join(custom->context, first, rest);
}

static masu_status custom_copy(masu_device *device, void *to, const void *from, size_t bytes) {
    return ASK(copy, to, from, bytes);
}

static masu_status custom_wait(masu_device *device) {
    custom_device *custom = custom_of(device);
    return custom->table.wait ? taken_as(custom->table.wait(custom->context)) : MASU_OK;
}

static const masu__device_vm_ops custom_vm_ops = {
    .reserve = custom_reserve,
    .unreserve = custom_unreserve,
    .create = custom_create,
    .release = custom_release,
    .map = custom_map,
    .access = custom_access,
    .unmap = custom_unmap,
    .discard = custom_discard,
    .remap = custom_remap,
    .split = custom_split,
    .join = custom_join,
    .copy = custom_copy,
    .wait = custom_wait,
};

/* ---- making -------------------------------------------------------------------------------------------- */

static bool is_step(size_t bytes, size_t least) {
    return bytes >= least && masu__is_power_of_two(bytes);
}

static bool blocks_fit(const masu_device_table *t) {
    return t->name && t->alloc && t->free && is_step(t->alignment_bytes, 64) && is_step(t->granularity_bytes, 64) &&
           (t->flags &
            ~(uint32_t)(MASU_DEVICE_HOST_ACCESS | MASU_DEVICE_ZEROED | MASU_DEVICE_LAZY | MASU_DEVICE_DIVISIBLE)) == 0;
}

/* All or nothing. */
static bool vm_fits(const masu_device_table *t) {
    bool all = t->reserve && t->unreserve && t->create && t->release && t->map && t->access && t->unmap && t->remap &&
               t->copy;
    bool any = t->reserve || t->unreserve || t->create || t->release || t->map || t->access || t->unmap || t->remap ||
               t->copy || t->discard || t->split || t->join;
    bool divides = t->flags & MASU_DEVICE_DIVISIBLE;
    if (t->vm_granularity_bytes == 0)
        return !any && !divides && t->vm_large_bytes == 0;
    return all && is_step(t->vm_granularity_bytes, 4096) &&
           (t->vm_large_bytes == 0 || is_step(t->vm_large_bytes, t->vm_granularity_bytes)) &&
           divides == (t->split != NULL) && divides == (t->join != NULL);
}

masu_status masu_device_create_custom(const masu_device_table *table, void *context, masu_device **out) {
    masu_device_table t;
    if (!out)
        return MASU_ERR_INVALID_ARGUMENT;
    *out = NULL;
    if (!table)
        return MASU_ERR_INVALID_ARGUMENT;
    masu_status status = masu__struct_read(&t, sizeof t, offsetof(masu_device_table, vm_granularity_bytes), table);
    if (status != MASU_OK)
        return status;
    if (!blocks_fit(&t) || !vm_fits(&t))
        return MASU_ERR_INVALID_ARGUMENT;
    custom_device *custom = masu__meta_calloc(1, sizeof *custom);
    if (!custom)
        return MASU_ERR_OUT_OF_MEMORY;
    custom->table = t;
    custom->context = context;
    masu__device_init(&custom->head, &custom_ops,
                      (masu_device_info){.name = t.name,
                                         .flags = t.flags,
                                         .alignment_bytes = t.alignment_bytes,
                                         .granularity_bytes = t.granularity_bytes,
                                         .vm_granularity_bytes = t.vm_granularity_bytes,
                                         .vm_large_bytes = t.vm_large_bytes,
                                         .memory_bytes = t.memory_bytes});
    if (t.vm_granularity_bytes)
        custom->head.vm = &custom_vm_ops;
    custom->head.carries = t.carry != NULL;
    *out = &custom->head;
    return MASU_OK;
}
