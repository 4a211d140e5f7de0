/* arena.c: the bump arena. */
#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/meta.h"
#include "base/populate.h"
#include "base/size.h"

enum { FIRST_BLOCK_BYTES = 4096, LARGEST_DOUBLING_BYTES = 1 << 20, LARGEST_ALIGNMENT = 4096 };
enum { LARGE_BLOCK_BYTES = 128 << 10, PRESENT_STEP_BYTES = 256 << 10 };

/* used <= touched <= present <= capacity
 *
 * data[used..capacity) is free; data[touched..capacity) is zero, and need not be cleared before it is handed out as
 * such; data[present..capacity) was not asked of the system yet. Large blocks come zeroed; small ones would have to be
 * cleared whole, and count as touched from the start. Six words keep data aligned to 16. */
struct masu__arena_block {
    masu__arena_block *previous;
    size_t capacity;
    size_t used;
    size_t touched;
    size_t present;
    size_t is_mapped; /* in pages of its own */
    unsigned char data[];
};

/* A sanitizer knows what malloc gives, and not what lies in pages. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { MASU__MAPS = false };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
enum { MASU__MAPS = false };
#else
enum { MASU__MAPS = true };
#endif
#else
enum { MASU__MAPS = true };
#endif

/* Where the next allocation would start in the block, or false when it does not fit. */
static bool block_place(const masu__arena_block *block, size_t bytes, size_t alignment, size_t *out_start) {
    uintptr_t free_at = (uintptr_t)block->data + block->used;
    size_t start = (size_t)(masu__align_up_small(free_at, alignment) - (uintptr_t)block->data);
    if (start > block->capacity || bytes > block->capacity - start)
        return false;
    *out_start = start;
    return true;
}

/* Large blocks are filled at once: a compilation would take thousands of faults. */
static void fault_in(const masu__arena_block *block, size_t from, size_t to) {
    masu__populate(block->data + from, to - from);
}

/* In huge pages the first step brings all of one; where there are none, no more than is soon used. */
static void make_present(masu__arena_block *block, size_t end) {
    size_t until = masu__min(block->capacity, end + PRESENT_STEP_BYTES);
    fault_in(block, block->present, until);
    block->present = until;
}

static masu__arena_block *block_map(size_t needed) {
    size_t total;
    if (!masu__add(needed, sizeof(masu__arena_block) + MASU__HUGE_PAGE_BYTES - 1, &total))
        return NULL;
    total &= ~(size_t)(MASU__HUGE_PAGE_BYTES - 1);
    masu__arena_block *block = masu__meta_map(total);
    if (!block)
        return NULL;
    block->capacity = total - sizeof *block;
    block->is_mapped = true;
    return block;
}

static masu__arena_block *block_new(size_t capacity) {
    size_t total;
    if (!masu__add(capacity, sizeof(masu__arena_block), &total) || total > PTRDIFF_MAX)
        return NULL;
    bool zeroed = total >= LARGE_BLOCK_BYTES;
    masu__arena_block *block = zeroed ? masu__meta_calloc(1, total) : masu__meta_alloc(total);
    if (!block)
        return NULL;
    *block = (masu__arena_block){.capacity = capacity, .present = capacity};
    block->touched = zeroed ? 0 : capacity;
    if (zeroed)
        fault_in(block, 0, capacity);
    return block;
}

static masu__arena_block *arena_add_block(masu__arena *arena, size_t bytes, size_t alignment) {
    size_t wanted = arena->first_block_bytes ? arena->first_block_bytes : FIRST_BLOCK_BYTES;
    if (arena->current)
        wanted = masu__max(wanted, masu__min(2 * arena->current->capacity, LARGEST_DOUBLING_BYTES));
    size_t needed;
    if (!masu__add(bytes, alignment, &needed))
        return NULL;
    size_t capacity = masu__max(wanted, needed);
    bool maps = arena->in_huge_pages && capacity >= LARGE_BLOCK_BYTES && MASU__MAPS;
    masu__arena_block *block = maps ? block_map(needed) : block_new(capacity);
    if (!block)
        return NULL;
    block->previous = arena->current;
    arena->current = block;
    arena->reserved_bytes += sizeof *block + block->capacity;
    return block;
}

static void use_until(masu__arena *arena, masu__arena_block *block, size_t end) {
    arena->used_bytes += end - block->used;
    block->used = end;
    block->touched = masu__max(block->touched, end);
    if (end > block->present)
        make_present(block, end);
}

/* *untouched: how much of its end is zero already. */
static __attribute__((noinline)) void *take_anywhere(masu__arena *arena, size_t bytes, size_t alignment,
                                                     size_t *untouched) {
    masu__arena_block *block = arena->current;
    size_t start;
    if (!block || !block_place(block, bytes, alignment, &start)) {
        block = arena_add_block(arena, bytes, alignment);
        if (!block)
            return NULL;
        bool fits = block_place(block, bytes, alignment, &start);
        MASU_ASSERT(fits);
    }
    size_t end = start + bytes;
    *untouched = end <= block->touched ? 0 : masu__min(bytes, end - block->touched);
    use_until(arena, block, end);
    return block->data + start;
}

/* The same. Nearly all of it lies where the last one ended. */
static inline void *arena_take(masu__arena *arena, size_t bytes, size_t alignment, size_t *untouched) {
    MASU_DEBUG_ASSERT(masu__is_power_of_two(alignment) && alignment <= LARGEST_ALIGNMENT);
    masu__arena_block *block = arena->current;
    if (!block)
        return take_anywhere(arena, bytes, alignment, untouched);
    const size_t left = block->present - block->used;
    const size_t skipped = (size_t) - ((uintptr_t)block->data + block->used) & (alignment - 1);
    if (bytes > left || skipped > left - bytes)
        return take_anywhere(arena, bytes, alignment, untouched);
    const size_t start = block->used + skipped, end = start + bytes;
    *untouched = end <= block->touched ? 0 : masu__min(bytes, end - block->touched);
    arena->used_bytes += skipped + bytes;
    block->used = end;
    block->touched = masu__max(block->touched, end);
    return block->data + start;
}

void *masu__arena_alloc(masu__arena *arena, size_t bytes, size_t alignment) {
    size_t untouched;
    return arena_take(arena, bytes, alignment, &untouched);
}

void *masu__arena_calloc(masu__arena *arena, size_t count, size_t bytes, size_t alignment) {
    size_t total, untouched;
    if (!masu__mul(count, bytes, &total))
        return NULL;
    void *ptr = arena_take(arena, total, alignment, &untouched);
    if (ptr && untouched < total)
        memset(ptr, 0, total - untouched);
    return ptr;
}

char *masu__arena_strndup(masu__arena *arena, const char *text, size_t length) {
    size_t total;
    if (!masu__add(length, 1, &total))
        return NULL;
    char *copy = masu__arena_alloc(arena, total, 1);
    if (!copy)
        return NULL;
    if (length > 0)
        memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

char *masu__arena_strdup(masu__arena *arena, const char *text) {
    return masu__arena_strndup(arena, text, strlen(text));
}

char *masu__arena_vprintf(masu__arena *arena, const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    char *text = length < 0 ? NULL : masu__arena_alloc(arena, (size_t)length + 1, 1);
    if (text)
        vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

char *masu__arena_printf(masu__arena *arena, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *text = masu__arena_vprintf(arena, format, arguments);
    va_end(arguments);
    return text;
}

static bool arena_extend_last(masu__arena *arena, const void *old, size_t old_bytes, size_t new_bytes) {
    masu__arena_block *block = arena->current;
    if (!block || (const unsigned char *)old + old_bytes != block->data + block->used)
        return false;
    if (new_bytes - old_bytes > block->capacity - block->used)
        return false;
    use_until(arena, block, block->used + new_bytes - old_bytes);
    return true;
}

void *masu__arena_grow(masu__arena *arena, void *old, size_t old_count, size_t new_count, size_t element_bytes,
                       size_t alignment) {
    MASU_DEBUG_ASSERT(new_count >= old_count);
    size_t new_bytes;
    if (!masu__mul(new_count, element_bytes, &new_bytes))
        return NULL;
    size_t old_bytes = old_count * element_bytes;
    if (old && arena_extend_last(arena, old, old_bytes, new_bytes))
        return old;
    void *moved = masu__arena_alloc(arena, new_bytes, alignment);
    if (moved && old_bytes > 0)
        memcpy(moved, old, old_bytes);
    return moved;
}

masu__arena_mark masu__arena_get_mark(const masu__arena *arena) {
    masu__arena_block *block = arena->current;
    return (masu__arena_mark){block, block ? block->used : 0, arena->used_bytes};
}

static void arena_drop_block(masu__arena *arena) {
    masu__arena_block *block = arena->current;
    size_t total = sizeof *block + block->capacity;
    arena->current = block->previous;
    arena->reserved_bytes -= total;
    if (block->is_mapped)
        masu__meta_unmap(block, total);
    else
        masu__meta_free(block, total);
}

void masu__arena_release(masu__arena *arena, masu__arena_mark mark) {
    while (arena->current != mark.block) {
        MASU_ASSERT(arena->current != NULL); /* the mark is of another arena, or was already released past */
        arena_drop_block(arena);
    }
    if (mark.block) {
        MASU_ASSERT(mark.used_in_block <= mark.block->used);
        mark.block->used = mark.used_in_block;
    }
    arena->used_bytes = mark.used_bytes;
    MASU_HEAVY_ASSERT(masu__arena_valid(arena));
}

void masu__arena_destroy(masu__arena *arena) {
    masu__arena_release(arena, (masu__arena_mark){0});
}

bool masu__arena_valid(const masu__arena *arena) {
    size_t used = 0, reserved = 0;
    for (const masu__arena_block *block = arena->current; block; block = block->previous) {
        if (block->used > block->touched || block->touched > block->present || block->present > block->capacity)
            return false;
        used += block->used;
        reserved += sizeof *block + block->capacity;
    }
    return used == arena->used_bytes && reserved == arena->reserved_bytes;
}
