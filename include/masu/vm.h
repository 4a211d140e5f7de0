/* vm.h: the pool of virtual memory: blocks that grow and move without being copied.
 *
 * Addresses and memory are kept apart. One range of addresses is reserved at the start, many times
 * larger than memory; blocks are cut out of it. Physical memory comes from the device in pieces,
 * which are mapped where a block needs them and wait in a stock when none does.
 *
 *     addresses  ┌───────────────┬ ─ ─ ─ ┬────────┬ ─ ─ ─ ─ ─ ─ ─ ─ ┐   one reservation
 *                │ block         │       │ block  │       free      │
 *                └──┬─────┬──────┴ ─ ─ ─ ┴───┬────┴ ─ ─ ─ ─ ─ ─ ─ ─ ┘
 *     pieces      ┌─┴─┐ ┌─┴────┐           ┌─┴─┐    ┌───┐┌──┐
 *                 └───┘ └──────┘           └───┘    └───┘└──┘ stock
 *
 * Every block has three sizes, user <= mapped <= reserved: what the caller asked for; the memory
 * behind it, whole granules; its addresses. A block is aligned to the device's granule at least.
 *
 *     memory held = mapped + stock + stuck      every piece is in exactly one of the three
 *     addresses   = reserved by blocks + free + stuck
 *
 * Where the pieces of a request come from: one of exactly the size; else the largest that fit and
 * are at least fragment_ratio of the request (or max_piece_bytes), as many as it takes; else, where the device can cut
 * pieces, the smallest larger one is cut; the rest is created. When the device has no more, the
 * stock is given back to it, once, and it is asked again.
 *
 * Every call is whole or nothing: when the device refuses any step, what was done is undone and
 * the state before the call is back (except that the stock may have been given back to the device,
 * and that a piece which was cut may stay cut). Should the
 * device refuse the undoing too, what could not be undone is stuck: set aside, counted, never
 * handed out, and tried again by trim and destroy.
 *
 * What moving costs: no byte is copied, but page tables are rewritten: time grows with the number
 * of pieces and of page-table entries, not with bytes; docs/virtual-memory.md has the figures.
 *
 * Contents: memory out of the stock holds what its last user wrote. Thread safety: with thread_safe
 * any function may be called from any thread, except create and destroy; no one may use the bytes of
 * a block while it is resized, moved or freed.
 */
#ifndef MASU_VM_H
#define MASU_VM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <masu/device.h>
#include <masu/export.h>
#include <masu/status.h>
#include <masu/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct masu_vm masu_vm;

#define MASU_VM_FRAGMENT_RATIO 0.25

typedef struct masu_vm_config {
    masu_device *device; /* borrowed; must have virtual memory */
    masu_trace *trace;   /* borrowed, NULL: none */
    const char *name;    /* in a recording; borrowed during create; NULL: none */
    /* Of addresses; 0: 16 times the device's memory, at least 1 TiB; but no more than 8 TiB divided by the number of
     * pools alive in this process that left it 0, so that a thousand get 8 GiB and more; and where the system
     * refuses that (ulimit -v), half of what it can be halved to, at least 16 granules. */
    uint64_t reserve_bytes;
    double fragment_ratio;   /* in [0, 1]: a smaller part of a request is not a fragment to use */
    size_t max_cached_bytes; /* in the stock; the oldest go back to the device; SIZE_MAX: no cap */
    size_t limit_bytes;      /* of memory held, up to a whole granule; 0: none */
    size_t max_piece_bytes;  /* larger requests are created in several pieces; 0: no limit */
    size_t copy_below_bytes; /* masu_vm_copy_or_move copies what is smaller */
    bool thread_safe;
} masu_vm_config;

typedef struct masu_vm_stats {
    /* calls that succeeded */
    uint64_t allocations, frees;
    uint64_t grown_in_place, grown_elsewhere, shrunk;
    uint64_t moves, copies;
    uint64_t failures; /* calls refused */
    /* where pieces came from */
    uint64_t stock_exact;        /* of exactly the size */
    uint64_t stock_fragments;    /* several, or smaller than asked for */
    uint64_t stock_cut;          /* cut off a larger one */
    uint64_t fragments_rejected; /* requests that left fragments alone because of the ratio */
    uint64_t pieces_created, pieces_released;
    uint64_t drains;     /* the stock was given back because there was no more */
    uint64_t hot_allocs; /* allocations that created nothing: hot + cold = allocations */
    uint64_t cold_allocs;
    /* now */
    uint64_t live_blocks;
    uint64_t user_bytes, mapped_bytes, reserved_bytes; /* of live blocks, all three */
    uint64_t stock_bytes, stuck_bytes;
    uint64_t held_bytes;                                /* mapped + stock + stuck memory */
    uint64_t mapped_pieces, stock_pieces, stuck_pieces; /* sum: created + cut - released */
    uint64_t space_bytes, space_free_bytes, space_largest_free_bytes, space_stuck_bytes;
    uint64_t peak_user_bytes, peak_mapped_bytes, peak_held_bytes;
    uint64_t most_pieces; /* that one block ever had */
    uint64_t metadata_bytes;
} masu_vm_stats;

/* A block, or a hole, as found by an address. */
typedef struct masu_vm_block {
    void *address;
    size_t user_bytes, mapped_bytes, reserved_bytes;
    size_t pieces;
    bool growable;
    uint64_t owner, serial;
    /* the piece under the address that was asked about: */
    void *piece_address; /* NULL: nothing is mapped there */
    size_t piece_bytes;
} masu_vm_block;

/* Return false to stop. Must not call into the pool. */
typedef bool (*masu_vm_visitor)(void *context, const masu_vm_block *block);

/* 0.25, no cap, no limits, thread-safe. */
MASU_API masu_vm_config masu_vm_config_default(masu_device *device);

/* One call of the device: the reservation (a default that is refused is halved and asked again).
 * MASU_ERR_INVALID_ARGUMENT (also for a ratio that is not in [0, 1]), MASU_ERR_UNSUPPORTED (a device without
 * virtual memory), MASU_ERR_OUT_OF_MEMORY, MASU_ERR_ADDRESS_SPACE, or what the device said. */
MASU_API masu_status masu_vm_create(const masu_vm_config *config, masu_vm **out);

/* Gives everything back and destroys in any case; NULL is allowed. MASU_OK, or MASU_ERR_LEAK when
 * blocks were live, or MASU_ERR_DEVICE_FAILURE when the device refused something back. */
MASU_API masu_status masu_vm_destroy(masu_vm *vm);

/* A block of at least bytes at a multiple of alignment (0: the granule). bytes 0: *out = NULL,
 * MASU_OK, not counted. The caller owns the block. O(log n) and the calls of the device. On
 * failure *out is NULL: MASU_ERR_INVALID_ARGUMENT, MASU_ERR_OVERFLOW, MASU_ERR_ADDRESS_SPACE (no
 * hole; memory is not touched), MASU_ERR_OUT_OF_MEMORY (of the device, after the stock was given
 * back), MASU_ERR_LIMIT_REACHED (limit_bytes, or the system's limit of mappings), or what the
 * device said. */
MASU_API masu_status masu_vm_alloc(masu_vm *vm, size_t bytes, size_t alignment, uint64_t owner, void **out);

/* A block that is going to grow: reserve_bytes of addresses are its own, of which the first bytes
 * have memory (0: none, an empty block), and it lies where there is room behind. Growing within
 * reserve_bytes is always in place. Statuses of alloc. */
MASU_API masu_status masu_vm_reserve_growable(masu_vm *vm, size_t bytes, size_t reserve_bytes, uint64_t owner,
                                              void **out);

/* Takes the block back. ptr NULL: MASU_OK. Waits for the device's work first. The memory goes into
 * the stock. MASU_ERR_FOREIGN_POINTER, MASU_ERR_INTERIOR_POINTER, MASU_ERR_DOUBLE_FREE,
 * MASU_ERR_STALE_POOL (with MASU_HEAVY), or what the device said: the block is then as before. */
MASU_API masu_status masu_vm_free(masu_vm *vm, void *ptr);

/* Gives the block another size; the first min(old, new) bytes keep their contents and nothing is
 * copied. *out says where the block is now: the same place when it shrinks, when its addresses
 * suffice, or when what follows is free; else another. bytes 0: the block stays, without memory, and
 * its addresses stay its own: it comes back at the same place. Shrinking to less gives up the addresses behind it.
 * Shrinking and freeing work at the system's limits of mappings and addresses too.
 * A device that cannot cut pieces keeps the whole of the last one when shrinking. On failure *out
 * is ptr and the block is as before; statuses of alloc and free. */
MASU_API masu_status masu_vm_resize(masu_vm *vm, void *ptr, size_t bytes, void **out);

/* The contents of the block src become those of the block dst, byte 0 first, without copying; src
 * stays a block, with its addresses and without memory. What dst held is lost; behind src's bytes
 * its contents are undefined. dst keeps its size, or takes src's when that is larger; its
 * addresses must hold src's memory, else MASU_ERR_SIZE_MISMATCH. dst == src, or an empty src:
 * nothing happens. Statuses of resize.
 *
 * When the device refuses any one call, both blocks are as before. No interface of a device
 * exchanges what is mapped at an address: dst's memory has to leave before src's can come, and coming back is a
 * call of the device too. Only when that is refused as well, dst is left as after a resize to 0: empty, at its
 * address, its memory in the stock; src is whole in any case. */
MASU_API masu_status masu_vm_move(masu_vm *vm, void *dst, void *src);

/* The first bytes of src become those of dst, in the cheaper way. Moves when the source is given
 * up, bytes are all of it, dst is of no larger size, and bytes >= copy_below_bytes; else copies, and
 * src keeps its contents. Both are blocks of this pool with memory for bytes. *moved, where not
 * NULL, says what happened. MASU_ERR_SIZE_MISMATCH, and the statuses of move. */
MASU_API masu_status masu_vm_copy_or_move(masu_vm *vm, void *dst, void *src, size_t bytes, bool give_up_source,
                                          bool *moved);

/* Measures on this device what copying and moving cost and sets copy_below_bytes between them:
 * from then on decisions depend on this machine. *out_bytes, where not NULL, gets it. Needs two
 * blocks of 16 granules for a moment; statuses of alloc. */
MASU_API masu_status masu_vm_measure(masu_vm *vm, size_t *out_bytes);

/* The block at that address: any address inside a live block. Statuses of free, except for interior
 * pointers. O(log n + pieces of the block). */
MASU_API masu_status masu_vm_query(masu_vm *vm, const void *address, masu_vm_block *out);

/* Live blocks in order of address. */
MASU_API void masu_vm_visit(masu_vm *vm, masu_vm_visitor visitor, void *context);

/* Gives the stock back to the device, oldest first, until at most keep_bytes are in it; tries to
 * clear what is stuck. MASU_OK, or what the device said. */
MASU_API masu_status masu_vm_trim(masu_vm *vm, size_t keep_bytes);

/* Another limit_bytes from now on, as in the configuration; 0: none. What is held beyond it stays, and no memory is
 * created until it is below. */
MASU_API void masu_vm_set_limit(masu_vm *vm, size_t limit_bytes);

/* A snapshot that adds up. */
MASU_API void masu_vm_get_stats(masu_vm *vm, masu_vm_stats *out);
/* Counters and peaks start again from now; what is in use stays counted. */
MASU_API void masu_vm_reset_stats(masu_vm *vm);

/* The number under which the pool's events appear in the trace. */
MASU_API uint32_t masu_vm_number(const masu_vm *vm);

/* A device whose memory comes from the pool, for the pools of small blocks: each of its blocks is a
 * block of the pool. vm is borrowed and outlives it. Destroy it as any device.
 * MASU_ERR_INVALID_ARGUMENT, MASU_ERR_OUT_OF_MEMORY. */
MASU_API masu_status masu_device_create_over_vm(masu_vm *vm, masu_device **out);

/* Checks every equation, O(n log n). */
MASU_API bool masu_vm_valid(masu_vm *vm);

#ifdef __cplusplus
}
#endif

#endif
