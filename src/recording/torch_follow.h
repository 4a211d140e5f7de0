/* torch_follow.h: holds a recorded run against the model of PyTorch's allocator, step by step. */
#ifndef MASU_RECORDING_TORCH_FOLLOW_H
#define MASU_RECORDING_TORCH_FOLLOW_H

#include "base/buffer.h"
#include "recording/recording.h"
#include "recording/torch_pool.h"

typedef struct masu__torch_followed {
    size_t steps;    /* places of blocks, segments taken, given back, mapped and unmapped as recorded */
    size_t holdings; /* segments and live blocks compared at the end */
    bool parted;     /* the model did something else: at event parted_at (event_count: at the end), for this reason */
    size_t parted_at;
    masu__buffer why;        /* owned */
    masu__torch_stats stats; /* of the model: the peaks are those of the recorded run, what stood included */
    uint64_t began_reserved_bytes;
} masu__torch_followed;

/* recording: of a snapshot. given (event_count entries, the caller's, may be NULL) gets what each ALLOC really spent;
 * those the follower did not reach stay. MASU_ERR_OUT_OF_MEMORY. O(n log n). The caller destroys *out. */
masu_status masu__torch_follow(const masu__recording *recording, uint64_t *given, masu__torch_followed *out);
/* The same up to that event, which is not followed. *pool is the model there, or where they parted: to be looked at,
 * and destroyed by the caller; NULL on an error. */
masu_status masu__torch_follow_to(const masu__recording *recording, size_t event, masu__torch_pool **pool,
                                  masu__torch_followed *out);
void masu__torch_followed_destroy(masu__torch_followed *followed);

/* The allocator's settings in the snapshot; defaults for the rest. The device's size is not in it. */
masu__torch_settings masu__torch_settings_of(const masu__recording *recording);

#endif
