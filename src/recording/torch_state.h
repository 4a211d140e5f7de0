/* torch_state.h: what the files of the model share. Blocks lie in one table and name each other by number (0: none):
 *
 *     segment    [ block ] ⇄ [ block ] ⇄ [ block ]            prev, next
 *     part       free[]: by size, then address;  unmapped[]: by address        one a device, stream, private pool, kind
 *
 * A function that needs memory of this process and gets none sets pool->status, which stays; the model may then only be
 * destroyed.
 */
#ifndef MASU_RECORDING_TORCH_STATE_H
#define MASU_RECORDING_TORCH_STATE_H

#include "recording/torch_pool.h"

enum { NONE = 0, UNUSED = 255 };
#define MIB              ((uint64_t)1 << 20)
#define LEAST_BYTES      ((uint64_t)512)
#define SMALL_BYTES      MIB
#define SMALL_SEGMENT    (2 * MIB)
#define LARGE_SEGMENT    (20 * MIB)
#define OWN_SEGMENT      (10 * MIB) /* from here on a request gets a segment of its own size */
#define SEGMENT_STEP     (2 * MIB)
#define MOST_BYTES       ((uint64_t)1 << 60)
#define EXPANDABLE_BYTES ((uint64_t)1 << 41) /* of addresses, where the size of the device is not known */

typedef struct block {
    uint64_t address, bytes, asked_bytes, owner, born; /* born: calls of its part when it became free */
    uint32_t prev, next;                               /* next: of unused ones, the next unused */
    uint32_t part;
    uint8_t state; /* masu__torch_state; UNUSED */
    bool expandable;
} block;

typedef struct list {
    uint32_t *items;
    size_t count, capacity;
} list;

typedef struct part {
    masu__torch_whose whose;
    bool is_small;
    list free, unmapped;
    uint64_t calls;
} part;

struct masu__torch_pool {
    masu__torch_config config;
    block *blocks; /* blocks[0] is not used */
    uint32_t count, capacity, unused;
    part *parts;
    uint32_t part_count, part_capacity;
    uint32_t last_stood;
    uint64_t next_address;
    masu__torch_stats stats;
    uint64_t reserved_of[MASU__TORCH_MOST_DEVICES];
    masu_status status; /* sticky: memory of this process ran out */
};

static inline uint64_t round_up(uint64_t value, uint64_t step) {
    return (value + step - 1) / step * step;
}
static inline bool is_whole(const block *b) {
    return !b->prev && !b->next;
}
static inline bool is_at_hand(const block *b) {
    return b->state == MASU__TORCH_FREE || b->state == MASU__TORCH_UNMAPPED;
}
/* The bytes that are mapped at once. */
static inline uint64_t page_bytes(const part *of) {
    return of->is_small ? SMALL_SEGMENT : LARGE_SEGMENT;
}

/* ---- blocks and lists (torch_blocks.c) --------------------------------------------------------------------------- */

bool masu__torch_grow(masu__torch_pool *pool, void **items, size_t *capacity, size_t bytes);
/* NONE: there is no memory. */
uint32_t masu__torch_new_block(masu__torch_pool *pool, block value);
void masu__torch_drop_block(masu__torch_pool *pool, uint32_t id);
/* Its number, or UINT32_MAX: there is no memory. */
uint32_t masu__torch_part(masu__torch_pool *pool, masu__torch_whose whose, bool is_small);
/* The first place whose block is not before (bytes, address). by_address: whatever its bytes. */
size_t masu__torch_place_in(const masu__torch_pool *pool, const list *in, bool by_address, uint64_t bytes,
                            uint64_t address);
void masu__torch_list_put(masu__torch_pool *pool, uint32_t id);
void masu__torch_list_take(masu__torch_pool *pool, uint32_t id);
/* A new block behind `after`, with what lies from `kept` bytes on of it; in no list. */
uint32_t masu__torch_cut(masu__torch_pool *pool, uint32_t after, uint64_t kept);
/* Takes the neighbours that are in the same state into the block, which is in no list. */
void masu__torch_join_both(masu__torch_pool *pool, uint32_t id);
void masu__torch_count_live(masu__torch_pool *pool, const block *b);

/* ---- the device (torch_segments.c) ------------------------------------------------------------------------------- */

void masu__torch_reserve(masu__torch_pool *pool, uint16_t device, uint64_t bytes);
/* A free block of at least so many bytes that is in no list, from the device; NONE: it has no more. */
uint32_t masu__torch_ask_device(masu__torch_pool *pool, uint32_t part_id, uint64_t bytes);
/* The block is free, whole and in its list. */
void masu__torch_give_back(masu__torch_pool *pool, uint32_t id);
/* Gives the whole pages of a free block of a segment that can expand back. */
void masu__torch_unmap(masu__torch_pool *pool, uint32_t id);
void masu__torch_tell(masu__torch_pool *pool, masu__torch_kind kind, const block *b, uint64_t address, uint64_t bytes);

/* ---- giving back (torch_release.c) ------------------------------------------------------------------------------- */

/* Large blocks that are never cut: the smallest that would do goes back, or as many of the largest as make up for
 * it. */
bool masu__torch_release_enough(masu__torch_pool *pool, uint32_t part_id, uint64_t bytes);
/* Whole large blocks that waited longer than the mean go back, again and again until enough is free. */
void masu__torch_collect(masu__torch_pool *pool, uint16_t device);

#endif
