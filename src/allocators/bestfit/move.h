/* move.h: the one way in which a block of any pool changes its size: where it lies, or else by way of a new block. */
#ifndef MASU_MOVE_H
#define MASU_MOVE_H

#include <stdbool.h>
#include <stddef.h>

#include <masu/bestfit.h>

/* The functions that a pool must have. pool: as the three expect it. */
typedef struct masu__mover {
    /* The live block of old_bytes holds new_bytes where it lies. MASU_ERR_OUT_OF_MEMORY: it cannot. Any other status
     * says what is wrong with ptr or old_bytes, also when both sizes are the same. */
    masu_status (*resize)(void *pool, void *ptr, size_t old_bytes, size_t new_bytes);
    /* room: so many bytes behind the block are kept for it, if that can be. */
    masu_status (*take)(void *pool, size_t bytes, size_t alignment, size_t room, void **out);
    masu_status (*give)(void *pool, void *ptr, size_t bytes);
    /* As masu__bestfit_carry; MASU_ERR_OUT_OF_MEMORY: copy it. */
    masu_status (*carry)(void *pool, void *ptr, size_t old_bytes, size_t new_bytes, size_t alignment, void **out);
    const masu_bestfit *carries; /* the pool that can, in the end; NULL: none */
    bool readable;               /* by the processor */
} masu__mover;

/* As masu_heap_realloc. */
masu_status masu__move(const masu__mover *mover, void *pool, void *ptr, size_t old_bytes, size_t new_bytes,
                       size_t alignment, void **out);

/* As masu_heap_alloc_zeroed. */
masu_status masu__take_zeroed(const masu__mover *mover, void *pool, size_t count, size_t bytes, size_t alignment,
                              void **out);

#endif
