/* process_resize.c: how large a block of the process-wide heap is, and blocks that change their size.
 *
 * Where no checks are switched on, a block may be used to the end of its class, and stays where it lies as long as
 * most of it is used. Where they are, its size is the one that it was asked with, and it always moves.
 */
#include <masu/alloc.h>

#include <string.h>

#include "allocators/heap/process_heap.h"

/* ---- sizes ------------------------------------------------------------------------------------- */

/* The size that the block was allocated with, or of its class. Under the lock. */
static masu_status block_size(masu_heap *heap, const void *ptr, size_t *out) {
    const masu__slab *slab = masu__bucket_slab_of(heap->caches->bucket, (uintptr_t)ptr);
    if (!slab)
        return masu__large_known(heap, ptr, out);
    *out = masu__slab_block_bytes(heap->caches->bucket, slab);
    return ((uintptr_t)ptr - slab->base) % *out == 0 ? MASU_OK : MASU_ERR_INTERIOR_POINTER;
}

static __attribute__((noinline)) masu_status size_from_pools(masu_heap *heap, const void *ptr, size_t *out) {
    if (masu__inside)
        return MASU_ERR_UNSUPPORTED;
    masu__heap_lock(heap);
    masu_status status = block_size(heap, ptr, out);
    masu__heap_unlock(heap);
    return status;
}

/* How many bytes may be used at ptr, or what is wrong with it. A slab lies within one stretch of MASU__SLAB_BYTES. */
static masu_status usable_size(masu_heap *heap, const void *ptr, size_t *out) {
    uint32_t code = masu_page_code(ptr);
    if (code - 1 < MASU_BUCKET_MOST_CLASSES) {
        *out = masu__bucket_block_bytes(heap->caches->bucket, code - 1);
        return (uintptr_t)ptr % MASU__SLAB_BYTES % *out == 0 ? MASU_OK : MASU_ERR_INTERIOR_POINTER;
    }
    if (!masu__large_begins(ptr, code))
        return size_from_pools(heap, ptr, out);
    *out = masu__large_class_bytes(masu__large_index(code));
    return MASU_OK;
}

size_t masu_usable_size(const void *ptr) {
    masu_heap *heap;
    size_t bytes = 0;
    if (!ptr || masu__process_heap_get(&heap) != MASU_OK)
        return 0;
    masu_status status = heap->caches ? usable_size(heap, ptr, &bytes) : masu_heap_size_of(heap, ptr, &bytes);
    return status == MASU_OK ? bytes : 0;
}

/* ---- blocks that change their size ------------------------------------------------------------- */

/* Where every free is looked at, so is what shall be copied from. */
static masu_status judge_watched(masu_heap *heap, const void *ptr, bool sized, size_t bytes, size_t *known) {
    masu_status status = heap->caches ? size_from_pools(heap, ptr, known) : masu_heap_size_of(heap, ptr, known);
    if (status != MASU_OK || !sized)
        return status;
    if (!heap->caches)
        return *known == bytes ? MASU_OK : MASU_ERR_SIZE_MISMATCH;
    masu__heap_lock(heap);
    if (masu__bucket_slab_of(heap->caches->bucket, (uintptr_t)ptr))
        status = masu__bucket_judge_lent(heap->caches->bucket, ptr, bytes);
    else if (bytes > *known)
        status = MASU_ERR_SIZE_MISMATCH;
    masu__heap_unlock(heap);
    return status;
}

static bool is_watched(const masu_heap *heap) {
    return !heap->caches || heap->caches->checked;
}

/* The most bytes that the old block can hold, or the status of a wrong one. */
static masu_status judge_old(masu_heap *heap, const void *ptr, bool sized, size_t bytes, size_t *known) {
    if (sized && bytes == 0)
        return MASU_ERR_SIZE_MISMATCH;
    if (is_watched(heap))
        return judge_watched(heap, ptr, sized, bytes, known);
    masu_status status = usable_size(heap, ptr, known);
    return status == MASU_OK && sized && bytes > *known ? MASU_ERR_SIZE_MISMATCH : status;
}

/* Large enough, and not so large that most of it would lie idle. */
static bool may_stay(masu_heap *heap, size_t known, size_t new_bytes) {
    if (new_bytes > known)
        return false;
    return new_bytes > known / 2 || known <= MASU_BUCKET_MIN_BYTES ||
           (masu__bucket_has_class(known) && masu__bucket_class_of(heap->caches->bucket, new_bytes) ==
                                                 masu__bucket_class_of(heap->caches->bucket, known));
}

bool masu_resize_in_place(void *ptr, size_t old_bytes, size_t new_bytes) {
    masu_heap *heap;
    size_t known;
    if (!ptr || new_bytes == 0 || masu__inside || masu__process_heap_get(&heap) != MASU_OK ||
        judge_old(heap, ptr, true, old_bytes, &known) != MASU_OK)
        return false;
    if (is_watched(heap))
        return new_bytes == old_bytes; /* sizes are known exactly there */
    return new_bytes <= known || (known > MASU_BUCKET_MAX_BYTES && masu__large_resize(heap, ptr, new_bytes));
}

/* Above the classes a block that has to move gets a sixteenth more, as one of a class does. */
static masu_status take_moved(size_t known, size_t new_bytes, size_t alignment, void **out) {
    size_t wanted;
    if (new_bytes > known && new_bytes > MASU__LARGE_MOST_BYTES && masu__add(new_bytes, new_bytes / 16, &wanted) &&
        masu_alloc_aligned(wanted, alignment, out) == MASU_OK)
        return MASU_OK;
    return masu_alloc_aligned(new_bytes, alignment, out);
}

typedef struct change {
    bool sized;
    size_t old_bytes, new_bytes, alignment;
} change;

static masu_status block_move(masu_heap *heap, void *ptr, size_t known, const change *c, void **out) {
    bool plain = !is_watched(heap);
    masu_status status = plain ? take_moved(known, c->new_bytes, c->alignment, out)
                               : masu_alloc_aligned(c->new_bytes, c->alignment, out);
    if (status != MASU_OK)
        return status;
    size_t held = c->sized ? c->old_bytes : known;
    memcpy(*out, ptr, masu__min(held, c->new_bytes));
    return c->sized && !plain ? masu_free(ptr, c->old_bytes) : masu_free_unsized(ptr);
}

/* Where it lies, or where its pages can go. What shrinks to a small block moves. */
static bool block_keep(masu_heap *heap, void *ptr, size_t known, const change *c, void **out) {
    *out = ptr;
    if (may_stay(heap, known, c->new_bytes))
        return true;
    if (known <= MASU_BUCKET_MAX_BYTES || masu__bucket_has_class(c->new_bytes))
        return false;
    if (masu__large_resize(heap, ptr, c->new_bytes))
        return true;
    if (c->new_bytes > known && masu__bestfit_carry_unit(heap->caches->bestfit, known) > 0)
        *out = masu__large_carry(heap, ptr, c->new_bytes, c->alignment);
    else
        *out = NULL;
    return *out != NULL;
}

static masu_status block_change(void *ptr, const change *c, void **out) {
    masu_heap *heap;
    size_t known = 0;
    *out = NULL;
    if (masu__inside)
        return MASU_ERR_UNSUPPORTED;
    masu_status status = masu__process_heap_get(&heap);
    if (status == MASU_OK && c->alignment != 0 && !masu__is_power_of_two(c->alignment))
        return MASU_ERR_INVALID_ARGUMENT;
    if (status != MASU_OK)
        return status;
    if (!ptr)
        return c->sized && c->old_bytes > 0 ? MASU_ERR_SIZE_MISMATCH
                                            : masu_alloc_aligned(c->new_bytes, c->alignment, out);
    status = judge_old(heap, ptr, c->sized, c->old_bytes, &known);
    if (status != MASU_OK)
        return status;
    if (c->new_bytes == 0)
        return c->sized ? masu_free(ptr, c->old_bytes) : masu_free_unsized(ptr);
    bool lies_right = masu__is_aligned((uintptr_t)ptr, c->alignment ? c->alignment : MASU_BUCKET_MIN_BYTES);
    if (!is_watched(heap) && lies_right && block_keep(heap, ptr, known, c, out))
        return MASU_OK;
    return block_move(heap, ptr, known, c, out);
}

void *masu_realloc(void *ptr, size_t old_bytes, size_t new_bytes) {
    void *out;
    return block_change(ptr, &(change){true, old_bytes, new_bytes, 0}, &out) == MASU_OK ? out : NULL;
}

void *masu_realloc_unsized(void *ptr, size_t new_bytes) {
    void *out;
    return block_change(ptr, &(change){false, 0, new_bytes, 0}, &out) == MASU_OK ? out : NULL;
}

masu_status masu_realloc_aligned(void *ptr, size_t old_bytes, size_t new_bytes, size_t alignment, void **out) {
    return out ? block_change(ptr, &(change){true, old_bytes, new_bytes, alignment}, out) : MASU_ERR_INVALID_ARGUMENT;
}
