/* space.h: who owns which addresses of the one reservation.
 *
 * Segments form a chain in order of address that covers the reservation without gaps. Nothing here
 * knows memory: taking and giving addresses costs no call of the device.
 *
 *     ┌──────┬──────────┬───────────────┬────────┬──────────────────────┐
 *     │ live │ free     │ live          │ broken │ free                 │      before ◄─► after
 *     └──────┴──────────┴───────────────┴────────┴──────────────────────┘
 *
 *     no two neighbours are both free;  address + bytes = the next one's address, or the end
 *     free_bytes + live_bytes + broken_bytes = bytes
 *     every segment is in by_address; a free one in by_size as well
 *
 * Where a block goes. A plain one into the smallest hole that fits, the lowest among equals: large
 * holes stay for those that need them. A growable one into the largest hole: at its beginning, or,
 * when the block before the hole is growable too, half-way, so that each of the two has as much
 * room as the other.
 *
 * A broken segment is one where the device refused to clear up; it is never handed out again until
 * it has been cleared.
 */
#ifndef MASU_VM_SPACE_H
#define MASU_VM_SPACE_H

#include "allocators/vm/treap.h"
#include "devices/devices.h"

typedef struct masu__vm_piece masu__vm_piece;

typedef enum masu__segment_state {
    MASU__SEGMENT_SPARE,
    MASU__SEGMENT_FREE,
    MASU__SEGMENT_LIVE,
    MASU__SEGMENT_BROKEN
} masu__segment_state;

/* Pieces one behind the other: by address in a block, in order of arrival elsewhere. */
typedef struct masu__piece_list {
    masu__vm_piece *first, *last;
    size_t count, bytes;
} masu__piece_list;

typedef struct masu__segment {
    masu__tree_node by_address; /* major: address */
    masu__tree_node by_size;    /* free: major bytes, minor address */
    uintptr_t address;
    size_t bytes;
    struct masu__segment *before, *after; /* after: also the list of spares */
    masu__segment_state state;
    /* live, and what is stuck in a broken one: */
    bool growable;
    bool no_access;    /* its pieces were mapped, but access was refused */
    size_t kept_bytes; /* addresses that shrinking leaves to the block */
    size_t user_bytes;
    uint64_t owner, serial;
    masu__piece_list pieces; /* mapped from address on: pieces.bytes <= bytes */
} masu__segment;

typedef struct masu__space {
    uintptr_t address;
    size_t bytes;
    size_t granule;
    masu__segment *first;
    masu__tree by_address, by_size;
    size_t free_bytes, live_bytes, broken_bytes;
    size_t live_count, broken_count;
    masu__segment *spare;
    size_t spare_count;
    size_t segment_count; /* in the chain */
} masu__space;

/* One free segment. False when there is no memory. */
bool masu__space_init(masu__space *space, uintptr_t address, size_t bytes, size_t granule);
void masu__space_destroy(masu__space *space);

/* Makes sure that the next operations find count records. False when there is no memory. */
bool masu__space_reserve(masu__space *space, size_t count);

/* Where bytes at a multiple of alignment can go; wish_bytes: a stricter alignment that is kept when
 * it is free to have. NULL: nowhere. Needs 2 records. bytes and alignment: multiples of the
 * granule. */
masu__segment *masu__space_take(masu__space *space, size_t bytes, size_t alignment, bool growable, size_t wish_bytes);
/* The segment is free again and merges with both neighbours. Needs none. */
void masu__space_give(masu__space *space, masu__segment *segment);

/* A live segment to another size at the same address. Growing: false when what follows it is not
 * free or too small. Shrinking needs one record and cannot fail. */
bool masu__space_resize(masu__space *space, masu__segment *segment, size_t bytes);

/* Cuts the end off a live segment from `at` on and makes it broken; needs one record. A whole
 * segment: masu__space_break. */
masu__segment *masu__space_break_tail(masu__space *space, masu__segment *segment, uintptr_t at);
void masu__space_break(masu__space *space, masu__segment *segment);

/* The segment that holds the address; NULL outside the reservation. */
masu__segment *masu__space_find(const masu__space *space, uintptr_t address);

size_t masu__space_largest_free(const masu__space *space);
size_t masu__space_metadata_bytes(const masu__space *space);
bool masu__space_valid(const masu__space *space);

#endif
