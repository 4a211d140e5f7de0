/* move.c: a new block, the contents, and the end of the old one, in that order: nothing is lost on the way. */
#include "allocators/bestfit/move.h"
#include "allocators/bestfit/bestfit_pool.h"

#include <string.h>

#include "base/size.h"

/* A block that has to move in order to grow gets an eighth more as room: growing step by step then costs a constant for
 * each byte. */
static size_t room_for(size_t old_bytes, size_t new_bytes) {
    return new_bytes > old_bytes ? new_bytes / 8 : 0;
}

/* So that it is carried the next time. */
static size_t alignment_for(const masu__mover *mover, size_t new_bytes, size_t alignment) {
    return mover->carries ? masu__max(alignment, masu__bestfit_carry_unit(mover->carries, new_bytes)) : alignment;
}

static masu_status move_elsewhere(const masu__mover *mover, void *pool, void *ptr, size_t old_bytes, size_t new_bytes,
                                  size_t alignment, void **out) {
    if (!mover->readable)
        return MASU_ERR_UNSUPPORTED;
    masu_status status = mover->take(pool, new_bytes, alignment_for(mover, new_bytes, alignment),
                                     room_for(old_bytes, new_bytes), out);
    if (status != MASU_OK)
        return status;
    memcpy(*out, ptr, masu__min(old_bytes, new_bytes));
    status = mover->give(pool, ptr, old_bytes);
    if (status != MASU_OK) { /* a guarded heap has more to say at a free */
        (void)mover->give(pool, *out, new_bytes);
        *out = NULL;
    }
    return status;
}

masu_status masu__move(const masu__mover *mover, void *pool, void *ptr, size_t old_bytes, size_t new_bytes,
                       size_t alignment, void **out) {
    if (alignment != 0 && !masu__is_power_of_two(alignment))
        return MASU_ERR_INVALID_ARGUMENT;
    if (!ptr)
        return old_bytes > 0 ? MASU_ERR_SIZE_MISMATCH : mover->take(pool, new_bytes, alignment, 0, out);
    if (old_bytes == 0)
        return MASU_ERR_SIZE_MISMATCH; /* no block was ever allocated with it */
    if (new_bytes == 0)
        return mover->give(pool, ptr, old_bytes);
    bool lies_right = alignment == 0 || masu__is_aligned((uintptr_t)ptr, alignment);
    masu_status status = mover->resize(pool, ptr, old_bytes, lies_right ? new_bytes : old_bytes);
    if (status == MASU_OK && lies_right) {
        *out = ptr;
        return MASU_OK;
    }
    if (status != MASU_OK && status != MASU_ERR_OUT_OF_MEMORY)
        return status;
    if (lies_right && new_bytes > old_bytes && mover->carries &&
        masu__bestfit_carry_unit(mover->carries, old_bytes) > 0 &&
        mover->carry(pool, ptr, old_bytes, new_bytes, alignment, out) == MASU_OK)
        return MASU_OK;
    return move_elsewhere(mover, pool, ptr, old_bytes, new_bytes, alignment, out);
}

masu_status masu__take_zeroed(const masu__mover *mover, void *pool, size_t count, size_t bytes, size_t alignment,
                              void **out) {
    size_t total;
    if (!masu__mul(count, bytes, &total))
        return MASU_ERR_OVERFLOW;
    if (!mover->readable)
        return MASU_ERR_UNSUPPORTED;
    masu_status status = mover->take(pool, total, alignment, 0, out);
    if (status == MASU_OK && *out)
        memset(*out, 0, total);
    return status;
}
