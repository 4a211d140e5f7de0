/* masu_torch.h: the functions that PyTorch's CUDAPluggableAllocator wants, and what users of it miss: streams, private
 * pools, a limit, statistics, snapshots, and a reason when memory is refused.
 *
 *     torch.cuda.memory.CUDAPluggableAllocator('libmasu-torch.so', 'masu_torch_malloc', 'masu_torch_free')
 *
 * The README says how each of the others is given to PyTorch. Environment: MASU_TORCH=heap or vm, MASU_TORCH_REPORT=1,
 * MASU_TORCH_HISTORY=N, MASU_TORCH_CHECK=1, MASU_TRACE=FILE.
 *
 * Nothing here ends the program or throws, so that it may be called through ctypes too. Thread safety: any thread. In a
 * forked child of a process that had memory from here nothing is served, as CUDA itself does not work there.
 */
#ifndef MASU_TORCH_H
#define MASU_TORCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef MASU_TORCH_API
#define MASU_TORCH_API
#endif

/* cudaStream_t, without CUDA's headers. NULL: the default stream. */
typedef void *masu_torch_stream;

/* ---- the two that must be there ------------------------------------------------------------------------------- */

/* A block for work on that stream, at a multiple of 512 bytes. NULL: size is 0, or it was refused: masu_torch_error
 * says why. Does not wait for the device, unless there is no more memory. O(log n). */
MASU_TORCH_API void *masu_torch_malloc(ssize_t size, int device, masu_torch_stream stream);

/* Takes the block back as of the present end of that stream, of the stream that it was allocated for, and of those that
 * masu_torch_record_stream named. NULL: nothing. What is not a live block of ours is counted (refused_frees) and left
 * alone. Does not wait (but see record_stream). */
MASU_TORCH_API void masu_torch_free(void *ptr, ssize_t size, int device, masu_torch_stream stream);

/* ---- those that PyTorch takes beside ---------------------------------------------------------------------------- */

/* The block is used by work on that stream too. From the eighth stream of one block on its free waits for the device's
 * work. */
MASU_TORCH_API void masu_torch_record_stream(void *ptr, masu_torch_stream stream);
/* So many devices will be used, of at most 32. Makes nothing yet: a device's pools come with its first block. */
MASU_TORCH_API void masu_torch_init(int device_count);
/* Waits for the work of freed blocks and gives all that is free back to the driver. reset is the same, by the name that
 * PyTorch gives it. */
MASU_TORCH_API void masu_torch_empty_cache(void);
MASU_TORCH_API void masu_torch_reset(void);
/* Never more than so much of the device's memory is held: 0 < fraction <= 1. Else nothing happens, and masu_torch_error
 * says so. */
MASU_TORCH_API void masu_torch_memory_fraction(double fraction, int device);

/* ---- private pools, for the glue of a MemPool -------------------------------------------------------------------- */

/* Which streams' requests go to the pool; called without a lock. */
typedef bool (*masu_torch_filter)(void *context, masu_torch_stream stream);
/* From now on requests of this device go to the pool with these two numbers (a MempoolId_t, not 0 and 0), which is made
 * if it is not there: those of streams for which filter says true; NULL: all. The pool opened last is asked first. Its
 * memory is never given to others while the pool is. */
MASU_TORCH_API void masu_torch_begin_allocate_to_pool(int device, uint64_t first, uint64_t second,
                                                      masu_torch_filter filter, void *context);
MASU_TORCH_API void masu_torch_end_allocate_to_pool(int device, uint64_t first, uint64_t second);
/* The pool is not wanted any more: its memory goes back when its last block is freed, or now. */
MASU_TORCH_API void masu_torch_release_pool(int device, uint64_t first, uint64_t second);

/* ---- what there is ----------------------------------------------------------------------------------------------- */

typedef struct masu_torch_stats {
    size_t struct_bytes;           /* sizeof(masu_torch_stats): set it, so that fields can be added */
    uint64_t allocated_bytes;      /* of live blocks, as requested */
    uint64_t peak_allocated_bytes; /* since masu_torch_reset_peak_stats */
    uint64_t reserved_bytes;       /* of memory held from the driver */
    uint64_t peak_reserved_bytes;  /* likewise */
    uint64_t waiting_bytes;        /* freed, and other streams may still use them */
    uint64_t free_bytes;           /* free between blocks */
    uint64_t largest_free_bytes;   /* the largest request that is served out of them */
    uint64_t live_blocks;
    uint64_t allocations, frees; /* that succeeded */
    uint64_t refusals;           /* requests that gave NULL */
    uint64_t refused_frees;      /* of what was not a live block */
    uint64_t wrong_sizes;        /* frees with another size than was asked for; the block is freed all the same */
    uint64_t limit_bytes;        /* of memory held; 0: none */
    uint64_t private_pools;
} masu_torch_stats;

/* False: no such device has been used, or struct_bytes is 0; out is otherwise 0. */
MASU_TORCH_API bool masu_torch_get_stats(int device, masu_torch_stats *out);
MASU_TORCH_API void masu_torch_reset_peak_stats(int device);
/* Single numbers, by the names of torch.cuda; 0 of a device that was not used. */
MASU_TORCH_API uint64_t masu_torch_memory_allocated(int device);
MASU_TORCH_API uint64_t masu_torch_max_memory_allocated(int device);
MASU_TORCH_API uint64_t masu_torch_memory_reserved(int device);
MASU_TORCH_API uint64_t masu_torch_max_memory_reserved(int device);

/* Why the last request of this thread was refused: one line for what was asked for, what is held, the largest hole and
 * fragmentation, then what would help. "": none was. Valid until the next refusal in this thread. */
MASU_TORCH_API const char *masu_torch_error(void);

/* Keeps the last so many events for snapshots; 0: none, and those kept are forgotten. False: no memory for so many. */
MASU_TORCH_API bool masu_torch_record_history(size_t events);
/* Writes what is there now, and the kept events, as torch.cuda.memory._dump_snapshot does: for PyTorch's own viewer,
 * and for masu report and masu whatif. False: the file cannot be written, it is then removed. */
MASU_TORCH_API bool masu_torch_snapshot(const char *path);

/* With MASU_TORCH_CHECK=1 the judge of masu/check.h reads every event: the name of its verdict, "fine" as long as all
 * is right; "not judged" without it. Static text. */
MASU_TORCH_API const char *masu_torch_verdict(void);

/* Gives everything back, for tests and tools; what is live is gone. Returns how many blocks were live. No other call
 * may be under way. */
MASU_TORCH_API uint64_t masu_torch_shutdown(void);

#ifdef __cplusplus
}
#endif

#endif
