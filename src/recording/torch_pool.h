/* torch_pool.h: a model of the caching allocator of PyTorch's CUDA memory, in addresses and sizes alone. It makes the
 * decisions that the allocator is documented to make, so that a recorded run can be followed event by event, and asked
 * what other settings would have done.
 *
 *     request ─► rounded ─► free block of its pool (small or large; a stream; a private pool), the smallest that fits,
 *                 512 B     the lowest among equals; what is left over is cut off if it is large enough to serve again
 *                           ▲                 none ─► segment of the device: 2 MiB for small ones, 20 MiB up to
 *                   free ───┘                         10 MiB, else whole 2 MiB; or pages mapped at the end of one
 *                 merges with both neighbours         segment that can expand
 *
 * Refused by the device: first one cached segment that is large enough goes back (where max_split_bytes says that large
 * ones are not cut), then all that are wholly free, then the request is refused.
 *
 * What must stay true: blocks of a segment lie one behind the other without gaps; no two free ones of one kind are
 * neighbours; each free one is in exactly one list; reserved = what the device gave and has not got back
 * (masu__torch_pool_valid).
 *
 * One thread at a time. Cost of a call: O(log n) comparisons and a move of the list in which n free blocks of one pool
 * lie.
 */
#ifndef MASU_RECORDING_TORCH_POOL_H
#define MASU_RECORDING_TORCH_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <masu/status.h>

enum { MASU__TORCH_ROUNDUP_STEPS = 16, MASU__TORCH_MOST_DEVICES = 256 };

/* As PYTORCH_CUDA_ALLOC_CONF names them. */
typedef struct masu__torch_settings {
    uint64_t max_split_bytes;                    /* larger blocks are not cut; UINT64_MAX: none is that large */
    uint32_t roundup[MASU__TORCH_ROUNDUP_STEPS]; /* parts of each doubling, for 1 MiB, 2 MiB, …; 0: no rounding */
    double gc_threshold;                         /* of allowed_bytes; 0: off */
    bool expandable;
    uint64_t capacity_bytes; /* of a device; 0: no limit */
    uint64_t allowed_bytes;  /* that the program allows itself of a device; 0: no limit */
} masu__torch_settings;

typedef enum masu__torch_kind {
    MASU__TORCH_ALLOC, /* address, and bytes as the block has them */
    MASU__TORCH_SEGMENT_ADD,
    MASU__TORCH_SEGMENT_DROP,
    MASU__TORCH_MAP,
    MASU__TORCH_UNMAP,
} masu__torch_kind;

typedef struct masu__torch_step {
    masu__torch_kind kind;
    uint16_t device;
    uint64_t stream;
    uint64_t address, bytes;
} masu__torch_step;

/* Whose memory a request may take. */
typedef struct masu__torch_whose {
    uint64_t stream;
    uint64_t private_pool; /* 0: the common one */
    uint16_t device;       /* < MASU__TORCH_MOST_DEVICES */
} masu__torch_whose;

typedef struct masu__torch_config {
    masu__torch_settings settings;
    /* Called for each step of the pool. NULL: not wanted. */
    void (*step)(void *context, const masu__torch_step *step);
    /* Where the device puts the next segment of so many bytes; with expandable segments so many addresses. NULL: one
     * behind the other. */
    uint64_t (*place)(void *context, masu__torch_whose whose, bool expandable, uint64_t bytes);
    void *context; /* borrowed */
} masu__torch_config;

typedef struct masu__torch_stats {
    uint64_t live_bytes;  /* as asked for */
    uint64_t given_bytes; /* of live blocks */
    uint64_t reserved_bytes;
    uint64_t peak_live_bytes, peak_given_bytes, peak_reserved_bytes;
    uint64_t segments_added, segments_dropped, maps, unmaps;
    uint64_t refused;
} masu__torch_stats;

typedef enum masu__torch_state {
    MASU__TORCH_FREE,
    MASU__TORCH_LIVE,
    MASU__TORCH_PENDING,
    MASU__TORCH_UNMAPPED
} masu__torch_state;

typedef struct masu__torch_block {
    uint64_t address, bytes, asked_bytes;
    uint64_t owner; /* as given at its allocation */
    masu__torch_whose whose;
    masu__torch_state state;
    bool is_small, in_expandable, begins_segment; /* the first block of its segment */
} masu__torch_block;

typedef struct masu__torch_pool masu__torch_pool;

/* The allocator's defaults, without limit. */
masu__torch_settings masu__torch_settings_default(void);
/* The least size of a request's block, and the size that the device is asked for without expandable segments. Both
 * saturate. */
uint64_t masu__torch_round(const masu__torch_settings *settings, uint64_t bytes);
uint64_t masu__torch_segment_bytes(uint64_t rounded_bytes);
bool masu__torch_is_small(uint64_t rounded_bytes);
/* How recordings number its pools: the private pool and the kind. */
uint64_t masu__torch_pool_number(uint64_t private_pool, bool is_small);

/* MASU_ERR_INVALID_ARGUMENT, MASU_ERR_OUT_OF_MEMORY. The caller destroys it. */
masu_status masu__torch_pool_create(const masu__torch_config *config, masu__torch_pool **out);
void masu__torch_pool_destroy(masu__torch_pool *pool);

/* *handle is the block until its free. MASU_ERR_LIMIT_REACHED: the model refuses, as the allocator would (*handle is
 * 0); MASU_ERR_OVERFLOW; MASU_ERR_OUT_OF_MEMORY: of this process, the pool may not be used any more. */
masu_status masu__torch_alloc(masu__torch_pool *pool, uint64_t bytes, masu__torch_whose whose, uint64_t owner,
                              uint32_t *handle);
/* The block is given back, but other streams still use it: it is not served again, and nothing merges with it, until
 * its free. */
void masu__torch_pend(masu__torch_pool *pool, uint32_t handle);
masu_status masu__torch_free(masu__torch_pool *pool, uint32_t handle);
/* Everything of a device that is wholly free goes back to it, as by torch.cuda.empty_cache(); of private pools only
 * where no graph needs them any more. */
masu_status masu__torch_release(masu__torch_pool *pool, uint16_t device, bool with_private);

/* For a run whose beginning is not known: memory that is there already, in ascending order of addresses within a
 * segment. Parts of a segment are live or free; parts of one that can expand may be unmapped. extend: the part
 * continues the segment of the last part. No step is reported. */
masu_status masu__torch_stand(masu__torch_pool *pool, const masu__torch_block *part, bool extend, uint32_t *handle);
/* The free segment that begins there goes back to the device, whatever the reason: false: there is none, or it is in
 * use. */
bool masu__torch_drop_segment(masu__torch_pool *pool, uint16_t device, uint64_t address);

masu__torch_block masu__torch_look(const masu__torch_pool *pool, uint32_t handle);
/* Every block, segment by segment in order of address. MASU_ERR_OUT_OF_MEMORY. The visitor must not change the pool. */
masu_status masu__torch_visit(const masu__torch_pool *pool,
                              void (*visitor)(void *context, uint32_t handle, const masu__torch_block *block),
                              void *context);
masu__torch_stats masu__torch_get_stats(const masu__torch_pool *pool);

/* Checks every equation. O(n log n). */
bool masu__torch_pool_valid(const masu__torch_pool *pool);

#endif
