/* statistics.c: numbers of a device. */
#include "torch.h"

#include <string.h>

void masu_torch_holes(const device_state *d, const lane *only, uint64_t *free_bytes, uint64_t *largest) {
    *free_bytes = *largest = 0;
    for (const pool *p = d->pools; p; p = p->next)
        for (int i = 0; i < 2; i++) {
            const lane *l = &p->lanes[i];
            masu_bestfit_stats s;
            if (!l->bestfit || (only && only != l))
                continue;
            masu_bestfit_get_stats(l->bestfit, &s);
            *free_bytes += s.free_bytes;
            *largest = s.largest_free_bytes > *largest ? s.largest_free_bytes : *largest;
        }
}

bool masu_torch_get_stats(int ordinal, masu_torch_stats *out) {
    size_t bytes = out ? out->struct_bytes : 0;
    if (bytes < sizeof bytes)
        return false;
    masu_torch_stats all = {0};
    device_state *d = masu_torch_enter(ordinal);
    bool is_used = d && d->pools;
    if (is_used) {
        all = d->stats;
        all.limit_bytes = d->limit_bytes;
        masu_torch_holes(d, NULL, &all.free_bytes, &all.largest_free_bytes);
    }
    if (d)
        masu_torch_leave(d);
    all.struct_bytes = bytes;
    memset(out, 0, bytes);
    memcpy(out, &all, bytes < sizeof all ? bytes : sizeof all);
    return is_used;
}

void masu_torch_reset_peak_stats(int ordinal) {
    device_state *d = masu_torch_enter(ordinal);
    if (!d)
        return;
    d->stats.peak_allocated_bytes = d->stats.allocated_bytes;
    d->stats.peak_reserved_bytes = d->stats.reserved_bytes;
    masu_torch_leave(d);
}

#define NUMBER(name, field)                                    \
    uint64_t name(int device) {                                \
        masu_torch_stats s = {.struct_bytes = sizeof s};       \
        return masu_torch_get_stats(device, &s) ? s.field : 0; \
    }
NUMBER(masu_torch_memory_allocated, allocated_bytes)
NUMBER(masu_torch_max_memory_allocated, peak_allocated_bytes)
NUMBER(masu_torch_memory_reserved, reserved_bytes)
NUMBER(masu_torch_max_memory_reserved, peak_reserved_bytes)
