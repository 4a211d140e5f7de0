/* result_slots.c: where results are put that compiled code has a place for: growing slots, and the caller's room.
 *
 * A growing slot is a buffer that stays when the tensor in it goes, so that the next one of that line of the program
 * finds it:
 *
 *     slots of the program   0      1      2      3      4
 *                          ┌──────┬──────┬──────┬──────┬──────┐
 *                          │ f: b │ f: c │      │ main │ main │      a function's are [growing_first, growing_end)
 *                          └──┬───┴──┬───┴──────┴──┬───┴──────┘
 *                             ▼      ▼             ▼
 *                           buffer  none yet     buffer, larger than what lies in it now
 *
 * Compiled code names the slot that its plan wants; if somebody lies there, any other of the function is taken, and if
 * there is none, the pool. So nothing depends on the plan being right, and an inner activation of the same function
 * takes what the outer ones have left. A buffer that is too small is given back and a larger one made before anything
 * is written; a second time it becomes half as large again as it was, so that a size that creeps upwards is not
 * followed step by step.
 *
 * What must stay true (tl__slots_valid):
 *     data == NULL  <=>  bytes == 0;        slot_bytes = sum of bytes
 *     tenant: a live storage with data and number of this slot, and no more bytes than it has; and every storage with a
 *     slot's number is its tenant
 *
 * Buffers go back when the thread leaves the runtime, as it does at the end of a program, and when a pool has no memory
 * left for something else.
 */
#include <string.h>

#include "runtime/state.h"

enum { MOST_CALLS = 16, FIRST_CAPACITY = 16 };

/* ---- the caller's wishes ------------------------------------------------------------------------------------ */

typedef struct wish {
    tl_frame *frame; /* whose slots, or whose room */
    tl_dest *dest;   /* NULL: a slot of the frame itself */
    uint32_t grow;   /* 1 + number from growing_first; 0: no slot */
} wish;

/* A result that a caller hands on is where that one's caller wants it. */
static wish wish_of(tl_frame *frame) {
    uint32_t want = frame->want;
    if (!want)
        return (wish){frame, NULL, frame->grow};
    for (int k = 0; k < MOST_CALLS && want && frame->parent && frame->parent->dests; k++) {
        frame = frame->parent;
        tl_dest *dest = &frame->dests[want - 1];
        want = dest->want;
        if (!want)
            return (wish){frame, dest, dest->grow};
    }
    return (wish){NULL, NULL, 0};
}

/* ---- buffers -------------------------------------------------------------------------------------------------- */

static void give_back(tl_runtime *rt, tl_slot *slot) {
    if (!slot->data)
        return;
    masu_status status = masu_heap_free(rt->payload, slot->data, slot->bytes);
    MASU_ASSERT(status == MASU_OK);
    rt->slot_bytes -= slot->bytes;
    slot->data = NULL;
    slot->bytes = 0;
}

static size_t grown(const tl_slot *slot, size_t bytes) {
    size_t more = slot->bytes + slot->bytes / 2;
    if (more > TL_SLOT_BYTES_MAX)
        more = TL_SLOT_BYTES_MAX;
    return more > bytes ? more : bytes;
}

static masu_status make_buffer(tl_runtime *rt, tl_slot *slot, size_t bytes) {
    size_t wanted = grown(slot, bytes);
    give_back(rt, slot);
    masu_status status = tl__payload_request(rt, wanted, &slot->data);
    if (status != MASU_OK)
        return tl__error_memory(status, wanted, "a slot for tensor data");
    slot->bytes = wanted;
    rt->slot_growths++;
    rt->slot_bytes += wanted;
    if (rt->slot_bytes > rt->slot_bytes_peak)
        rt->slot_bytes_peak = rt->slot_bytes;
    return MASU_OK;
}

/* ---- the table -------------------------------------------------------------------------------------------------- */

static masu_status make_table(tl_runtime *rt, uint32_t end) {
    uint32_t capacity = rt->slot_capacity ? rt->slot_capacity : FIRST_CAPACITY;
    while (capacity < end)
        capacity *= 2;
    void *slots;
    masu_status status = tl__alloc(capacity * sizeof(tl_slot), &slots);
    if (status != MASU_OK)
        return status;
    memset(slots, 0, capacity * sizeof(tl_slot));
    if (rt->slots)
        memcpy(slots, rt->slots, rt->slot_capacity * sizeof(tl_slot));
    tl__free(rt->slots, rt->slot_capacity * sizeof(tl_slot));
    rt->slots = slots;
    rt->slot_capacity = capacity;
    return MASU_OK;
}

/* The slot wished for, else the first of the function that is free and large enough, else one that is free. */
static tl_slot *choose(const tl_runtime *rt, const tl_frame *frame, uint32_t wished, size_t bytes) {
    tl_slot *first = &rt->slots[frame->growing_first + wished - 1], *other = NULL;
    if (!first->tenant)
        return first;
    for (uint32_t k = frame->growing_first; k < frame->growing_end; k++) {
        tl_slot *slot = &rt->slots[k];
        if (slot->tenant)
            continue;
        if (slot->bytes >= bytes)
            return slot;
        other = other ? other : slot;
    }
    return other;
}

static masu_status take_slot(tl_runtime *rt, const wish *w, size_t bytes, void **data, uint32_t *number) {
    masu_status status = w->frame->growing_end <= rt->slot_capacity ? MASU_OK : make_table(rt, w->frame->growing_end);
    if (status != MASU_OK)
        return status;
    tl_slot *slot = choose(rt, w->frame, w->grow, bytes);
    if (!slot)
        return MASU_OK;
    if (slot->bytes < bytes)
        status = make_buffer(rt, slot, bytes);
    if (status == MASU_OK) {
        *data = slot->data;
        *number = (uint32_t)(slot - rt->slots) + 1;
    }
    return status;
}

static masu_status take_wished(tl_runtime *rt, const wish *w, size_t bytes, void **data, uint32_t *slot) {
    if (w->grow)
        return bytes > TL_SLOT_BYTES_MAX ? MASU_OK : take_slot(rt, w, bytes, data, slot);
    if (!w->dest || w->dest->bytes != bytes)
        return MASU_OK;
    w->dest->bytes = 0;
    *data = w->dest->place;
    rt->placed++;
    return MASU_OK;
}

/* A function that wants what it makes elsewhere may have a slot for what is made on the way: whatever does not fit
 * there. */
masu_status tl__slot_take(tl_runtime *rt, size_t bytes, void **data, uint32_t *slot) {
    tl_frame *frame = rt->frame;
    wish w = wish_of(frame);
    *data = NULL;
    *slot = 0;
    if (bytes == 0)
        return MASU_OK;
    masu_status status = take_wished(rt, &w, bytes, data, slot);
    if (status != MASU_OK || *data || !frame->want || !frame->grow)
        return status;
    w = (wish){frame, NULL, frame->grow};
    return take_wished(rt, &w, bytes, data, slot);
}

void tl__slot_settle(tl_runtime *rt, tl_storage *storage) {
    rt->slots[storage->slot - 1].tenant = storage;
    rt->slotted++;
}

void tl__slot_leave(tl_runtime *rt, const tl_storage *storage) {
    MASU_DEBUG_ASSERT(rt->slots[storage->slot - 1].tenant == storage);
    rt->slots[storage->slot - 1].tenant = NULL;
}

bool tl__slot_lends(const tl_runtime *rt, const tl_storage *storage) {
    if (!rt->frame || !(rt->frame->grow || rt->frame->want))
        return false;
    wish w = wish_of(rt->frame);
    if (!storage->slot)
        return w.dest && !w.grow && w.dest->place == storage->data;
    return w.grow && (!w.dest || (storage->slot > w.frame->growing_first && storage->slot <= w.frame->growing_end));
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

bool tl__slots_trim(tl_runtime *rt) {
    uint64_t before = rt->slot_bytes;
    for (uint32_t k = 0; k < rt->slot_capacity; k++)
        if (!rt->slots[k].tenant)
            give_back(rt, &rt->slots[k]);
    return rt->slot_bytes < before;
}

/* Unless something that should be gone lies in one still: then the table stays for it. */
void tl__slots_end(tl_runtime *rt) {
    bool empty = true;
    tl__slots_trim(rt);
    for (uint32_t k = 0; k < rt->slot_capacity; k++)
        empty &= !rt->slots[k].tenant;
    if (!empty)
        return;
    tl__free(rt->slots, rt->slot_capacity * sizeof(tl_slot));
    rt->slots = NULL;
    rt->slot_capacity = 0;
}

/* ---- the check --------------------------------------------------------------------------------------------------- */

static bool slot_valid(const tl_slot *slot, uint32_t number) {
    const tl_storage *tenant = slot->tenant;
    return (slot->data == NULL) == (slot->bytes == 0) &&
           (!tenant || (tenant->count > 0 && tenant->slot == number && tenant->data == slot->data &&
                        tenant->bytes <= slot->bytes));
}

static uint64_t count_lodged(const tl_runtime *rt) {
    const tl_cells *storages = &rt->storages;
    uint64_t lodged = 0;
    for (const tl_cell_chunk *chunk = storages->chunks; chunk; chunk = chunk->next) {
        for (uint64_t i = 0; i < chunk->cell_count; i++) {
            const tl_cell *cell = tl__chunk_cell(storages, chunk, i);
            const tl_storage *storage = (const tl_storage *)(const void *)cell;
            lodged += cell->count > 0 && storage->slot > 0 && storage->slot != TL_SLOT_FOREIGN;
        }
    }
    return lodged;
}

bool tl__slots_valid(const tl_runtime *rt) {
    uint64_t bytes = 0, tenants = 0;
    for (uint32_t k = 0; k < rt->slot_capacity; k++) {
        if (!slot_valid(&rt->slots[k], k + 1))
            return false;
        bytes += rt->slots[k].bytes;
        tenants += rt->slots[k].tenant != NULL;
    }
    return bytes == rt->slot_bytes && tenants == count_lodged(rt);
}
