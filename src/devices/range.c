/* range.c: blocks of memory that the caller has already. A custom device like any other: a table and a context.
 *
 *     spans   in order of address, without gaps:  sum of their bytes = bytes of the range
 *             no two neighbours are both free
 *
 * A span is cut when a block is taken, where an error can be said; giving back only ever merges.
 */
#include "devices/devices.h"

#include "base/meta.h"
#include "base/size.h"

typedef struct span {
    struct span *next;
    uintptr_t at;
    size_t bytes;
    bool taken;
} span;

typedef struct range {
    masu__lock lock; /* guards spans */
    span *spans;
} range;

static masu_status take(span *s, size_t bytes) {
    if (s->bytes > bytes) {
        span *rest = masu__meta_alloc(sizeof *rest);
        if (!rest)
            return MASU_ERR_OUT_OF_MEMORY;
        *rest = (span){s->next, s->at + bytes, s->bytes - bytes, false};
        s->next = rest;
        s->bytes = bytes;
    }
    s->taken = true;
    return MASU_OK;
}

static masu_status range_alloc(void *context, size_t bytes, void **out) {
    range *r = context;
    masu__lock_take(&r->lock);
    span *s = r->spans;
    while (s && (s->taken || s->bytes < bytes))
        s = s->next;
    masu_status status = s ? take(s, bytes) : MASU_ERR_OUT_OF_MEMORY;
    if (status == MASU_OK)
        *out = (void *)s->at;
    masu__lock_release(&r->lock);
    return status;
}

static void absorb_next(span *s) {
    span *next = s->next;
    s->bytes += next->bytes;
    s->next = next->next;
    masu__meta_free(next, sizeof *next);
}

static masu_status range_free(void *context, void *ptr, size_t bytes) {
    range *r = context;
    masu__lock_take(&r->lock);
    span *before = NULL, *s = r->spans;
    while (s && s->at != (uintptr_t)ptr) {
        before = s;
        s = s->next;
    }
    bool known = s && s->taken && s->bytes == bytes;
    if (known) {
        s->taken = false;
        if (s->next && !s->next->taken)
            absorb_next(s);
        if (before && !before->taken)
            absorb_next(before);
    }
    masu__lock_release(&r->lock);
    return known ? MASU_OK : MASU_ERR_DEVICE_FAILURE;
}

static void range_destroy(void *context) {
    range *r = context;
    for (span *s = r->spans, *next; s; s = next) {
        next = s->next;
        masu__meta_free(s, sizeof *s);
    }
    masu__lock_destroy(&r->lock);
    masu__meta_free(r, sizeof *r);
}

/* The whole granules inside; 0: not one. */
static size_t inside(const masu_range_config *config, size_t granule, uintptr_t *first) {
    uintptr_t base = (uintptr_t)config->base;
    size_t before = (size_t)(-base & (granule - 1));
    if (config->bytes <= before || config->bytes - 1 > UINTPTR_MAX - base)
        return 0;
    *first = base + before;
    return (config->bytes - before) & ~(granule - 1);
}

masu_status masu_device_create_range(const masu_range_config *config, masu_device **out) {
    masu_range_config c;
    uintptr_t first = 0;
    if (!out)
        return MASU_ERR_INVALID_ARGUMENT;
    *out = NULL;
    if (!config)
        return MASU_ERR_INVALID_ARGUMENT;
    masu_status status = masu__struct_read(&c, sizeof c, offsetof(masu_range_config, flags), config);
    if (status != MASU_OK)
        return status;
    size_t granule = c.granularity_bytes ? c.granularity_bytes : 4096;
    if (!c.base || granule < 64 || !masu__is_power_of_two(granule) ||
        (c.flags & ~(uint32_t)(MASU_DEVICE_HOST_ACCESS | MASU_DEVICE_LAZY)))
        return MASU_ERR_INVALID_ARGUMENT;
    size_t bytes = inside(&c, granule, &first);
    if (bytes == 0)
        return MASU_ERR_INVALID_ARGUMENT;
    range *r = masu__meta_calloc(1, sizeof *r);
    span *whole = masu__meta_alloc(sizeof *whole);
    if (r && whole) {
        *whole = (span){.at = first, .bytes = bytes};
        r->spans = whole;
        masu__lock_init(&r->lock, MASU__RANK_DEVICE);
        masu_device_table table = {.struct_bytes = sizeof table,
                                   .name = "range",
                                   .flags = c.flags,
                                   .alignment_bytes = granule,
                                   .granularity_bytes = granule,
                                   .memory_bytes = bytes,
                                   .alloc = range_alloc,
                                   .free = range_free,
                                   .destroy = range_destroy};
        status = masu_device_create_custom(&table, r, out);
        if (status != MASU_OK)
            range_destroy(r);
        return status;
    }
    masu__meta_free(r, sizeof *r);
    masu__meta_free(whole, sizeof *whole);
    return MASU_ERR_OUT_OF_MEMORY;
}
