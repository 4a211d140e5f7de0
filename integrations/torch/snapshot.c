/* snapshot.c: what is there, as the pickle that torch.cuda.memory._dump_snapshot writes: segments with their blocks one
 * behind the other, and the kept events of each device. The pickle is of protocol 2: dicts, lists, texts, numbers,
 * nothing else.
 *
 *     heap    a segment is an extent of a lane's pool
 *     vm      a segment is a block of the vm: a large one, or what a small lane took there */
#include "torch.h"

#include <string.h>

/* ---- pickle ------------------------------------------------------------------------------------------------------ */

static void put(FILE *f, const char *opcodes) {
    fputs(opcodes, f);
}

static void put_text(FILE *f, const char *text) {
    uint32_t length = (uint32_t)strlen(text);
    fputc('X', f);
    for (int i = 0; i < 4; i++)
        fputc((int)(length >> 8 * i & 255), f);
    fputs(text, f);
}

static void put_number(FILE *f, uint64_t number) {
    if (number <= INT32_MAX) {
        fputc('J', f);
        for (int i = 0; i < 4; i++)
            fputc((int)(number >> 8 * i & 255), f);
        return;
    }
    put(f, "\x8a\x09"); /* nine bytes, the last for the sign */
    for (int i = 0; i < 8; i++)
        fputc((int)(number >> 8 * i & 255), f);
    fputc(0, f);
}

static void put_named(FILE *f, const char *name, uint64_t number) {
    put_text(f, name);
    put_number(f, number);
}

static void put_named_text(FILE *f, const char *name, const char *text) {
    put_text(f, name);
    put_text(f, text);
}

static void put_pool_id(FILE *f, const char *name, uint64_t first, uint64_t second) {
    put_text(f, name);
    put_number(f, first);
    put_number(f, second);
    put(f, "\x86");
}

/* ---- segments ---------------------------------------------------------------------------------------------------- */

typedef struct writer {
    FILE *f;
    const lane *lane;
    size_t next;      /* extent */
    uint64_t at, end; /* in the open segment; at == end == 0: none is */
} writer;

static void put_block(writer *w, uint64_t bytes, uint64_t asked, const char *state) {
    put(w->f, "}(");
    put_named(w->f, "address", w->at);
    put_named(w->f, "size", bytes);
    put_named(w->f, "requested_size", asked);
    put_named_text(w->f, "state", state);
    put_text(w->f, "frames");
    put(w->f, "]u");
    w->at += bytes;
}

static uint64_t live_in(const lane *l, uint64_t address, uint64_t end, bool with_waiting) {
    const blocks *t = &l->device->blocks;
    uint64_t sum = 0;
    for (size_t i = 0; i < t->capacity; i++)
        if (t->items[i].address >= address && t->items[i].address < end &&
            (with_waiting || t->items[i].state == BLOCK_LIVE))
            sum += t->items[i].bytes;
    return sum;
}

static void open_segment(writer *w, uint64_t address, uint64_t bytes) {
    const lane *l = w->lane;
    put(w->f, "}(");
    put_named(w->f, "device", (uint64_t)l->device->ordinal);
    put_named(w->f, "address", address);
    put_named(w->f, "total_size", bytes);
    put_named(w->f, "allocated_size", live_in(l, address, address + bytes, false));
    put_named(w->f, "active_size", live_in(l, address, address + bytes, true));
    put_named(w->f, "requested_size", live_in(l, address, address + bytes, false));
    put_named(w->f, "stream", 0);
    put_named_text(w->f, "segment_type", l->is_small ? "small" : "large");
    put_pool_id(w->f, "segment_pool_id", l->pool->first, l->pool->second);
    put_text(w->f, "is_expandable");
    put(w->f, "\x89");
    put_text(w->f, "frames");
    put(w->f, "]");
    put_text(w->f, "blocks");
    put(w->f, "](");
    w->at = address;
    w->end = address + bytes;
}

static void close_segment(writer *w) {
    if (w->end > w->at)
        put_block(w, w->end - w->at, 0, "inactive");
    if (w->end)
        put(w->f, "eu");
    w->at = w->end = 0;
}

/* A block that the pool below has as live: in the program's hands, in queued work's, or cached by the lane. */
static void put_held(writer *w, uint64_t bytes) {
    const block *b = masu_torch_blocks_find(&w->lane->device->blocks, (void *)(uintptr_t)w->at);
    if (!b)
        put_block(w, bytes, 0, "inactive");
    else
        put_block(w, bytes, b->bytes, b->state == BLOCK_LIVE ? "active_allocated" : "active_awaiting_free");
}

static bool next_extent(writer *w) {
    close_segment(w);
    if (w->next == w->lane->extent_count)
        return false;
    const extent *e = &w->lane->extents[w->next++];
    open_segment(w, e->address, e->bytes);
    return true;
}

static bool on_bestfit_block(void *context, const masu_bestfit_block *block) {
    writer *w = context;
    uint64_t address = (uintptr_t)block->address;
    while (address >= w->end)
        if (!next_extent(w))
            return false;
    if (address > w->at)
        put_block(w, address - w->at, 0, "inactive");
    put_held(w, block->block_bytes);
    return true;
}

/* Of the vm's blocks those that this lane gave out or caches; the lane of a cached one is not known: it is the common
 * one's. */
static bool on_vm_block(void *context, const masu_vm_block *block) {
    writer *w = context;
    const lane *l = w->lane;
    const struct block *b = masu_torch_blocks_find(&l->device->blocks, block->address);
    bool is_common = l->pool->first == 0 && l->pool->second == 0;
    if (b ? b->lane != l : !is_common)
        return true;
    for (const pool *p = l->device->pools; p && !b; p = p->next)
        for (size_t i = 0; i < p->lanes[0].extent_count; i++)
            if (p->lanes[0].extents[i].address == (uintptr_t)block->address)
                return true;
    open_segment(w, (uintptr_t)block->address, block->mapped_bytes);
    put_held(w, block->mapped_bytes);
    close_segment(w);
    return true;
}

static void put_lane(FILE *f, const lane *l) {
    writer w = {.f = f, .lane = l};
    if (!l->bestfit) {
        masu_vm_visit(l->device->vm, on_vm_block, &w);
        return;
    }
    masu_bestfit_visit_live(l->bestfit, on_bestfit_block, &w);
    while (next_extent(&w))
        ;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

static void put_entry(FILE *f, const entry *e) {
    static const char *const actions[] = {"alloc",         "free_requested", "free_completed",
                                          "segment_alloc", "segment_free",   "oom"};
    put(f, "}(");
    put_named_text(f, "action", actions[e->kind]);
    put_named(f, e->kind == ENTRY_OOM ? "device_free" : "addr", e->address);
    put_named(f, "size", e->bytes);
    put_named(f, "stream", e->stream);
    put_named(f, "time_us", e->time_us);
    put_pool_id(f, "pool_id", e->first, e->second);
    put_text(f, "frames");
    put(f, "]u");
}

static void put_events(FILE *f, int device) {
    size_t count = 1;
    put(f, "](");
    for (size_t i = 0; i < count; i++) {
        const entry *e = masu_torch_history(i, &count);
        if (e && e->device == device)
            put_entry(f, e);
    }
    put(f, "e");
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static void put_all(FILE *f, device_state *const *d, int devices) {
    put(f, "\x80\x02}(");
    put_text(f, "segments");
    put(f, "](");
    for (int i = 0; i < devices; i++)
        for (const pool *p = d[i]->pools; p; p = p->next)
            for (int k = 0; k < 2; k++)
                put_lane(f, &p->lanes[k]);
    put(f, "e");
    put_text(f, "device_traces");
    put(f, "](");
    masu_torch_history_hold();
    for (int i = 0; i < devices; i++)
        put_events(f, i);
    masu_torch_history_release();
    put(f, "e");
    put_text(f, "allocator_settings");
    put(f, "}(");
    put_named_text(f, "backend", "masu");
    put_named_text(f, "MASU_TORCH", masu_torch_settings()->vm ? "vm" : "heap");
    put(f, "u");
    put_text(f, "external_annotations");
    put(f, "]u.");
}

bool masu_torch_snapshot(const char *path) {
    device_state *d[MOST_DEVICES];
    int devices = 0;
    FILE *f = path ? fopen(path, "wb") : NULL;
    if (!f)
        return false;
    for (int i = 0; i < MOST_DEVICES; i++) {
        d[i] = masu_torch_enter(i);
        devices = d[i]->pools ? i + 1 : devices;
    }
    put_all(f, d, devices);
    for (int i = MOST_DEVICES; i-- > 0;)
        masu_torch_leave(d[i]);
    bool failed = ferror(f);
    if (fclose(f) != 0 || failed) {
        remove(path);
        return false;
    }
    return true;
}
