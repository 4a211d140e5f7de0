/* told.c: see told.h. */
#include "allocators/heap/told.h"

#include "base/meta.h"

enum { FIRST_BLOCKS = 64 };

masu__told *masu__told_open(masu_trace *trace, const char *layer, const char *name, uint32_t below) {
    masu__told *told = masu__meta_calloc(1, sizeof *told);
    if (!told)
        return NULL;
    told->trace = trace;
    told->number = masu__trace_new_pool();
    masu__trace_know_pool(trace, told->number, layer, name, below);
    return told;
}

void masu__told_close(masu__told *told) {
    if (!told)
        return;
    masu__meta_free(told->blocks, told->capacity * sizeof *told->blocks);
    masu__meta_free(told, sizeof *told);
}

static masu__told_block *block_at(const masu__told *told, size_t i) {
    return &told->blocks[(told->first + i) & (told->capacity - 1)];
}

bool masu__told_room(masu__told *told) {
    if (told->count < told->capacity || !masu__trace_wanted(told->trace))
        return true;
    size_t wanted = told->capacity ? 2 * told->capacity : FIRST_BLOCKS;
    masu__told_block *larger = wanted <= SIZE_MAX / sizeof *larger ? masu__meta_alloc(wanted * sizeof *larger) : NULL;
    if (!larger)
        return false;
    for (size_t i = 0; i < told->count; i++)
        larger[i] = *block_at(told, i);
    masu__meta_free(told->blocks, told->capacity * sizeof *told->blocks);
    told->blocks = larger;
    told->capacity = wanted;
    told->first = 0;
    return true;
}

static void say(const masu__told *told, masu_event event) {
    event.pool = told->number;
    event.block_bytes = event.bytes;
    if (masu__trace_wanted(told->trace))
        masu__trace_emit(told->trace, event);
}

/* Where the trace was switched on since room was made there may be none: then the block stays unknown to it. */
void masu__told_block_begins(masu__told *told, const void *address, size_t bytes, size_t alignment, uint64_t position) {
    if (!masu__trace_wanted(told->trace) || told->count == told->capacity)
        return;
    *block_at(told, told->count++) = (masu__told_block){(uintptr_t)address, bytes, position};
    say(told,
        (masu_event){
            .kind = MASU_EVENT_ALLOC, .address = (uintptr_t)address, .bytes = bytes, .alignment_bytes = alignment});
}

static void block_ends(const masu__told *told, const masu__told_block *block) {
    say(told, (masu_event){.kind = MASU_EVENT_FREE, .address = block->address, .bytes = block->bytes});
}

void masu__told_newest_end(masu__told *told, uintptr_t from, uintptr_t to) {
    for (; told->count > 0; told->count--) {
        const masu__told_block *block = block_at(told, told->count - 1);
        if (block->address < from || block->address >= to)
            return;
        block_ends(told, block);
    }
}

void masu__told_oldest_end(masu__told *told, uint64_t position) {
    for (; told->count > 0 && block_at(told, 0)->position < position; told->count--) {
        block_ends(told, block_at(told, 0));
        told->first = (told->first + 1) & (told->capacity - 1);
    }
}

void masu__told_all_end(masu__told *told) {
    if (told->count > 0)
        say(told, (masu_event){.kind = MASU_EVENT_RESET});
    told->count = 0;
}

void masu__told_refused(const masu__told *told, size_t bytes, size_t alignment) {
    say(told, (masu_event){.kind = MASU_EVENT_REFUSED, .bytes = bytes, .alignment_bytes = alignment});
}

void masu__told_piece(const masu__told *told, bool comes, uintptr_t address, size_t bytes) {
    say(told, (masu_event){
                  .kind = comes ? MASU_EVENT_EXTENT_ADD : MASU_EVENT_EXTENT_DROP, .address = address, .bytes = bytes});
}
