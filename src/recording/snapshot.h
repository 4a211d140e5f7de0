/* snapshot.h: what a PyTorch memory snapshot says, between the reader of the file and the recording.
 *
 *     pickle ─► snapshot.c ─► segments, blocks: at the end    ─► standing.c ─► what was there at the beginning
 *                             entries: what happened, in order                     └─► recording
 *
 * A snapshot has its trace in a ring of limited size, and its segments and blocks as they are at the end. What lay
 * there before the first entry follows: an address whose first entry gives something back held it before.
 *
 * What must stay true: entries are in order of time; a segment's blocks lie behind each other and fill it; entries,
 * blocks and segments together are no more than the bytes of the file, even where it shares.
 */
#ifndef MASU_RECORDING_SNAPSHOT_H
#define MASU_RECORDING_SNAPSHOT_H

#include "base/buffer.h"
#include "recording/recording.h"

typedef enum masu__entry_kind {
    MASU__ENTRY_ALLOC,
    MASU__ENTRY_FREE_REQUESTED,
    MASU__ENTRY_FREE_COMPLETED,
    MASU__ENTRY_SEGMENT_ALLOC,
    MASU__ENTRY_SEGMENT_FREE,
    MASU__ENTRY_SEGMENT_MAP,
    MASU__ENTRY_SEGMENT_UNMAP,
    MASU__ENTRY_SNAPSHOT,
    MASU__ENTRY_OOM,
    MASU__ENTRY_BEGIN, /* an annotation; text is its name */
    MASU__ENTRY_END,
    MASU__ENTRY_KIND_COUNT
} masu__entry_kind;

typedef struct masu__entry {
    uint64_t address; /* MASU__ENTRY_OOM: what the device had free */
    uint64_t bytes, stream;
    int64_t time_us;
    uint64_t private_pool;
    uint32_t place, text; /* of the recording */
    uint32_t order;       /* of the file, among those at one time */
    uint16_t device;      /* as the file counts them */
    uint8_t kind;
} masu__entry;

typedef struct masu__held_block {
    uint64_t address, bytes, asked_bytes;
    uint32_t place;
    bool is_live; /* or given back and still in use */
} masu__held_block;

typedef struct masu__held_segment {
    uint64_t address, bytes, stream, private_pool;
    size_t first_block, block_count;
    uint32_t place;
    uint32_t since; /* entry: before it something else may have been at these addresses */
    uint16_t device;
    bool is_small, is_expandable;
} masu__held_segment;

typedef struct masu__snapshot {
    masu__arena arena;
    masu__entry *entries;
    masu__held_block *blocks;
    masu__held_segment *segments; /* by device, then address */
    unsigned entry_count, entry_capacity, block_count, block_capacity, segment_count, segment_capacity;
    bool has_times;
} masu__snapshot;

/* The segment at the end that holds this address, NULL: none does. O(log n). */
const masu__held_segment *masu__snapshot_segment_at(const masu__snapshot *snapshot, uint16_t device, uint64_t address);

/* The first that begins there or later, of this device or the next; NULL: none. O(log n). */
const masu__held_segment *masu__snapshot_segment_from(const masu__snapshot *snapshot, uint16_t device,
                                                      uint64_t address);

/* Writes the recording: what stood at the beginning, what happened, what is there at the end. */
masu_status masu__snapshot_to_recording(const masu__snapshot *snapshot, masu__recording *out);

#endif
