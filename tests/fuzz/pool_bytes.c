/* Operations on a heap, read from bytes: whatever the bytes say, nothing is corrupted.
 *
 *     clang -fsanitize=fuzzer,address -Iinclude tests/fuzz/pool_bytes.c build/release/libmasu.a -lm
 *     ./a.out CORPUS            by libFuzzer; tests/hostile runs the same function on drawn bytes
 *
 * The first two bytes choose the arrangement (device, guarded, checked, threads, limit, classes).
 * Then each operation is a byte, and up to four more for its operand: allocations and frees, right
 * and wrong, trims, a device that fails, checks switched on and off. An independent list of what is
 * live decides what every call must say, and a walk over the heap must meet exactly that.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <masu/masu.h>

enum { MOST_LIVE = 64 };

typedef struct bytes {
    const uint8_t *at, *end;
} bytes;

typedef struct live_block {
    unsigned char *address;
    size_t size;
    uint8_t mark;
    bool known, met; /* allocated while checks were on; seen by the walk */
} live_block;

typedef struct rig {
    masu_device *inner, *device;
    masu_heap *heap;
    live_block blocks[MOST_LIVE];
    size_t live_bytes, live_count;
    bool writable, always, checked; /* always: wrong frees are told apart whatever is switched */
    size_t met;
} rig;

static void demand(bool holds) {
    if (!holds)
        abort();
}

static uint32_t draw(bytes *b, unsigned count) {
    uint32_t value = 0;
    while (count-- > 0)
        value = value << 8 | (b->at < b->end ? *b->at++ : 0);
    return value;
}

static void rig_open(rig *r, uint32_t kind) {
    masu_heap_config config = masu_heap_config_default();
    memset(r, 0, sizeof *r);
    r->writable = !(kind & 1);
    demand((r->writable ? masu_device_create_host(&r->inner) : masu_device_create_null(0, &r->inner)) == MASU_OK);
    demand(masu_device_create_faulty(r->inner, &r->device) == MASU_OK);
    config.device = r->device;
    config.guarded = kind & 2;
    config.checked = (kind & 4) != 0;
    config.thread_safe = kind & 8;
    config.limit_bytes = kind & 16 ? (size_t)6 << 20 : 0;
    config.policy = kind & 32 ? MASU_POOL_PERSISTENT : MASU_POOL_REUSE;
    config.max_cached_bytes = (size_t)(kind >> 6 & 3) << 19;
    config.fine_classes = kind & 256;
    config.pool_bytes = (size_t)1 << 20;
    config.initial_bytes = 0;
    config.quarantine_bytes = 65536;
    r->always = config.guarded || !r->writable;
    r->checked = config.checked;
    demand(masu_heap_create(&config, &r->heap) == MASU_OK);
}

static void take(rig *r, live_block *b, uint32_t operand) {
    size_t size = (operand >> 8) % (1u << 19), alignment = operand & 7 ? 0 : (size_t)1 << (operand >> 3 & 15);
    void *ptr = r;
    masu_status status = masu_heap_alloc(r->heap, size, alignment, &ptr);
    demand(status == MASU_OK || ptr == NULL);
    if (status != MASU_OK || size == 0) {
        demand(status == MASU_OK || status == MASU_ERR_DEVICE_FAILURE || status == MASU_ERR_LIMIT_REACHED);
        return;
    }
    demand((uintptr_t)ptr % (alignment ? alignment : 64) == 0);
    *b = (live_block){ptr, size, (uint8_t)operand, r->checked, false};
    for (size_t i = 0; i < MOST_LIVE; i++) {
        const live_block *other = &r->blocks[i];
        demand(other == b || !other->address || other->address + other->size <= b->address ||
               b->address + size <= other->address);
    }
    if (r->writable) {
        b->address[0] = b->mark;
        b->address[size - 1] = b->mark;
    }
    r->live_bytes += size;
    r->live_count++;
}

static void give(rig *r, live_block *b, uint32_t operand) {
    bool looked = r->always || r->checked;
    bool exact = r->always || (r->checked && b->known);
    masu_status wrong = MASU_OK;
    if (r->writable)
        demand(b->address[0] == b->mark && b->address[b->size - 1] == b->mark);
    if (looked && operand % 3 == 0) {
        wrong = masu_heap_free(r->heap, b->address, b->size + (exact ? 1 : 40000));
        demand(wrong == MASU_ERR_SIZE_MISMATCH);
        wrong = masu_heap_free(r->heap, &wrong, b->size);
        demand(wrong == MASU_ERR_FOREIGN_POINTER);
    }
    bool unsized = exact && operand % 2;
    demand((unsized ? masu_heap_free_unsized(r->heap, b->address) : masu_heap_free(r->heap, b->address, b->size)) ==
           MASU_OK);
    if (looked && operand % 5 == 0) {
        wrong = masu_heap_free(r->heap, b->address, b->size);
        demand(wrong == MASU_ERR_DOUBLE_FREE || wrong == MASU_ERR_FOREIGN_POINTER);
    }
    r->live_bytes -= b->size;
    r->live_count--;
    *b = (live_block){0};
}

static void compare(const rig *r) {
    masu_heap_stats s;
    masu_heap_get_stats(r->heap, &s);
    demand(s.live_bytes == r->live_bytes && s.live_blocks == r->live_count);
    demand(s.live_bytes + s.cached_bytes + s.free_bytes + s.slack_bytes == s.reserved_bytes);
    demand(s.hits + s.misses == s.allocations && s.allocations - s.frees == s.live_blocks);
}

static void switch_checks(rig *r, bool on) {
    masu_status status = masu_heap_set_checked(r->heap, on);
    demand(status == MASU_OK || (status == MASU_ERR_UNSUPPORTED && r->always && !on));
    if (status != MASU_OK)
        return;
    for (size_t i = 0; i < MOST_LIVE && !on; i++)
        r->blocks[i].known = false;
    r->checked = on;
}

static bool meet(void *context, const masu_heap_block *block) {
    rig *r = context;
    for (size_t i = 0; i < MOST_LIVE; i++) {
        live_block *b = &r->blocks[i];
        if (b->address != block->address)
            continue;
        demand(!b->met && block->bytes >= b->size);
        demand(block->bytes == b->size || (!r->always && !b->known));
        b->met = true;
        r->met++;
        return true;
    }
    demand(false);
    return false;
}

static void walk(rig *r) {
    r->met = 0;
    for (size_t i = 0; i < MOST_LIVE; i++)
        r->blocks[i].met = false;
    demand(masu_heap_visit_live(r->heap, meet, r) == MASU_OK);
    demand(r->met == r->live_count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static rig r;
    bytes input = {data, data + size};
    rig_open(&r, draw(&input, 2));
    while (input.at < input.end) {
        uint8_t operation = (uint8_t)draw(&input, 1);
        live_block *b = &r.blocks[operation % MOST_LIVE];
        if (operation >= 240)
            (void)masu_heap_trim(r.heap, draw(&input, 2) << 6);
        else if (operation >= 228)
            switch_checks(&r, operation % 2);
        else if (operation >= 226)
            walk(&r);
        else if (operation >= 218)
            (void)masu_device_fail_at(r.device, draw(&input, 1) % 4, operation % 2);
        else if (b->address)
            give(&r, b, draw(&input, 1));
        else
            take(&r, b, draw(&input, 2 + 2 * (operation >> 7)));
        compare(&r);
    }
    demand(masu_heap_valid(r.heap));
    (void)masu_device_fail_at(r.device, 0, false);
    for (size_t i = 0; i < MOST_LIVE; i++)
        if (r.blocks[i].address)
            give(&r, &r.blocks[i], 0);
    demand(masu_heap_destroy(r.heap) == MASU_OK);
    demand(masu_device_destroy(r.device) == MASU_OK);
    demand(masu_device_destroy(r.inner) == MASU_OK);
    return 0;
}
