/* traced.c: see traced.h. */
#include "allocators/heap/traced.h"

#include "base/meta.h"

enum { FIRST_BLOCKS = 64 };

masu__traced *masu__traced_open(masu_trace *trace, const char *layer, const char *name, uint32_t below) {
    masu__traced *traced = masu__meta_calloc(1, sizeof *traced);
    if (!traced)
        return NULL;
    traced->trace = trace;
    traced->number = masu__trace_new_pool();
    masu__trace_know_pool(trace, traced->number, layer, name, below);
    return traced;
}

void masu__traced_close(masu__traced *traced) {
    if (!traced)
        return;
    masu__meta_free(traced->blocks, traced->capacity * sizeof *traced->blocks);
    masu__meta_free(traced, sizeof *traced);
}

static masu__traced_block *block_at(const masu__traced *traced, size_t i) {
    return &traced->blocks[(traced->first + i) & (traced->capacity - 1)];
}

bool masu__traced_room(masu__traced *traced) {
    if (traced->count < traced->capacity || !masu__trace_wanted(traced->trace))
        return true;
    size_t wanted = traced->capacity ? 2 * traced->capacity : FIRST_BLOCKS;
    masu__traced_block *larger = wanted <= SIZE_MAX / sizeof *larger ? masu__meta_alloc(wanted * sizeof *larger) : NULL;
    if (!larger)
        return false;
    for (size_t i = 0; i < traced->count; i++)
        larger[i] = *block_at(traced, i);
    masu__meta_free(traced->blocks, traced->capacity * sizeof *traced->blocks);
    traced->blocks = larger;
    traced->capacity = wanted;
    traced->first = 0;
    return true;
}

static void say(const masu__traced *traced, masu_event event) {
    event.pool = traced->number;
    event.block_bytes = event.bytes;
    if (masu__trace_wanted(traced->trace))
        masu__trace_emit(traced->trace, event);
}

/* Where the trace was switched on since room was made there may be none: then the block stays unknown to it. */
void masu__traced_block_begins(masu__traced *traced, const void *address, size_t bytes, size_t alignment,
                               uint64_t position) {
    if (!masu__trace_wanted(traced->trace) || traced->count == traced->capacity)
        return;
    *block_at(traced, traced->count++) = (masu__traced_block){(uintptr_t)address, bytes, position};
    say(traced,
        (masu_event){
            .kind = MASU_EVENT_ALLOC, .address = (uintptr_t)address, .bytes = bytes, .alignment_bytes = alignment});
}

static void block_ends(const masu__traced *traced, const masu__traced_block *block) {
    say(traced, (masu_event){.kind = MASU_EVENT_FREE, .address = block->address, .bytes = block->bytes});
}

void masu__traced_newest_end(masu__traced *traced, uintptr_t from, uintptr_t to) {
    for (; traced->count > 0; traced->count--) {
        const masu__traced_block *block = block_at(traced, traced->count - 1);
        if (block->address < from || block->address >= to)
            return;
        block_ends(traced, block);
    }
}

void masu__traced_oldest_end(masu__traced *traced, uint64_t position) {
    for (; traced->count > 0 && block_at(traced, 0)->position < position; traced->count--) {
        block_ends(traced, block_at(traced, 0));
        traced->first = (traced->first + 1) & (traced->capacity - 1);
    }
}

void masu__traced_all_end(masu__traced *traced) {
    if (traced->count > 0)
        say(traced, (masu_event){.kind = MASU_EVENT_RESET});
    traced->count = 0;
}

void masu__traced_refused(const masu__traced *traced, size_t bytes, size_t alignment) {
    say(traced, (masu_event){.kind = MASU_EVENT_REFUSED, .bytes = bytes, .alignment_bytes = alignment});
}

void masu__traced_piece(const masu__traced *traced, bool comes, uintptr_t address, size_t bytes) {
    say(traced, (masu_event){.kind = comes ? MASU_EVENT_EXTENT_ADD : MASU_EVENT_EXTENT_DROP,
                             .address = address,
                             .bytes = bytes});
}
