/* torch_segments.c: what the model asks of the device: segments of their own, and pages mapped behind each other. */
#include "recording/torch_state.h"

#include "base/meta.h"

/* ---- what the device does ---------------------------------------------------------------------------------------- */

void masu__torch_tell(masu__torch_pool *pool, masu__torch_kind kind, const block *b, uint64_t address, uint64_t bytes) {
    masu__torch_whose whose = pool->parts[b->part].whose;
    masu__torch_step step = {kind, whose.device, whose.stream, address, bytes};
    if (pool->config.step)
        pool->config.step(pool->config.context, &step);
}

void masu__torch_reserve(masu__torch_pool *pool, uint16_t device, uint64_t bytes) {
    pool->reserved_of[device] += bytes;
    pool->stats.reserved_bytes += bytes;
    if (pool->stats.reserved_bytes > pool->stats.peak_reserved_bytes)
        pool->stats.peak_reserved_bytes = pool->stats.reserved_bytes;
}

static void unreserve(masu__torch_pool *pool, uint16_t device, uint64_t bytes) {
    pool->reserved_of[device] -= bytes;
    pool->stats.reserved_bytes -= bytes;
}

static bool device_has(const masu__torch_pool *pool, uint16_t device, uint64_t bytes) {
    uint64_t capacity = pool->config.settings.capacity_bytes;
    return !capacity || (bytes <= capacity && pool->reserved_of[device] <= capacity - bytes);
}

static bool program_allows(const masu__torch_pool *pool, uint16_t device, uint64_t bytes) {
    uint64_t allowed = pool->config.settings.allowed_bytes;
    return !allowed || (bytes <= allowed && pool->reserved_of[device] <= allowed - bytes);
}

static uint64_t place_segment(masu__torch_pool *pool, masu__torch_whose whose, bool expandable, uint64_t bytes) {
    if (pool->config.place)
        return pool->config.place(pool->config.context, whose, expandable, bytes);
    uint64_t address = pool->next_address;
    pool->next_address += bytes;
    return address;
}

void masu__torch_give_back(masu__torch_pool *pool, uint32_t id) {
    block *b = &pool->blocks[id];
    masu__torch_list_take(pool, id);
    pool->stats.segments_dropped++;
    unreserve(pool, pool->parts[b->part].whose.device, b->bytes);
    masu__torch_tell(pool, MASU__TORCH_SEGMENT_DROP, b, b->address, b->bytes);
    masu__torch_drop_block(pool, id);
}

static uint32_t fresh_segment(masu__torch_pool *pool, uint32_t part_id, uint64_t bytes) {
    masu__torch_whose whose = pool->parts[part_id].whose;
    uint32_t id = masu__torch_new_block(pool, (block){.address = place_segment(pool, whose, false, bytes),
                                                      .bytes = bytes,
                                                      .part = part_id,
                                                      .state = MASU__TORCH_FREE});
    if (!id)
        return NONE;
    pool->stats.segments_added++;
    masu__torch_reserve(pool, whose.device, bytes);
    masu__torch_tell(pool, MASU__TORCH_SEGMENT_ADD, &pool->blocks[id], pool->blocks[id].address, bytes);
    return id;
}

/* ---- segments that expand ---------------------------------------------------------------------------------------- */

/* Maps the first bytes of an unmapped block, in whole pages. The block is then free, joined and in its list; its
 * number, or NONE: the device has no more. */
static uint32_t map_block(masu__torch_pool *pool, uint32_t id, uint64_t bytes) {
    uint16_t device = pool->parts[pool->blocks[id].part].whose.device;
    uint64_t mapped = round_up(bytes, page_bytes(&pool->parts[pool->blocks[id].part]));
    if (mapped > pool->blocks[id].bytes)
        mapped = pool->blocks[id].bytes;
    if (!device_has(pool, device, mapped))
        return NONE;
    masu__torch_list_take(pool, id);
    if (mapped < pool->blocks[id].bytes) {
        uint32_t rest = masu__torch_cut(pool, id, mapped);
        if (!rest)
            return NONE;
        masu__torch_list_put(pool, rest);
    }
    uint64_t address = pool->blocks[id].address;
    pool->blocks[id].state = MASU__TORCH_FREE;
    masu__torch_join_both(pool, id);
    masu__torch_list_put(pool, id);
    pool->stats.maps++;
    masu__torch_reserve(pool, device, mapped);
    masu__torch_tell(pool, MASU__TORCH_MAP, &pool->blocks[id], address, mapped);
    return id;
}

void masu__torch_unmap(masu__torch_pool *pool, uint32_t id) {
    block *b = &pool->blocks[id];
    uint64_t page = page_bytes(&pool->parts[b->part]);
    uint32_t first = id; /* pages are counted from the beginning of the segment's addresses */
    while (pool->blocks[first].prev)
        first = pool->blocks[first].prev;
    uint64_t base = pool->blocks[first].address;
    uint64_t from = base + round_up(b->address - base, page);
    uint64_t to = base + (b->address + b->bytes - base) / page * page;
    if (from >= to)
        return;
    masu__torch_list_take(pool, id);
    if (from > pool->blocks[id].address) {
        uint32_t middle = masu__torch_cut(pool, id, from - pool->blocks[id].address);
        if (!middle)
            return;
        masu__torch_list_put(pool, id);
        id = middle;
    }
    if (to < pool->blocks[id].address + pool->blocks[id].bytes) {
        uint32_t rest = masu__torch_cut(pool, id, to - pool->blocks[id].address);
        if (!rest)
            return;
        masu__torch_list_put(pool, rest);
    }
    pool->blocks[id].state = MASU__TORCH_UNMAPPED;
    pool->stats.unmaps++;
    unreserve(pool, pool->parts[pool->blocks[id].part].whose.device, to - from);
    masu__torch_join_both(pool, id);
    masu__torch_list_put(pool, id);
    masu__torch_tell(pool, MASU__TORCH_UNMAP, &pool->blocks[id], from, to - from);
}

static bool has_addresses(const masu__torch_pool *pool, uint32_t id, uint64_t bytes) {
    uint64_t sum = 0;
    for (; id && sum < bytes && is_at_hand(&pool->blocks[id]); id = pool->blocks[id].next)
        sum += pool->blocks[id].bytes;
    return sum >= bytes;
}

/* The lowest place of the part's segments where so many bytes are free or could be mapped; a new segment where there is
 * none. */
static uint32_t find_expandable(masu__torch_pool *pool, uint32_t part_id, uint64_t bytes) {
    const list *unmapped = &pool->parts[part_id].unmapped;
    for (size_t i = 0; i < unmapped->count; i++) {
        uint32_t id = unmapped->items[i], before = pool->blocks[id].prev;
        if (before && is_at_hand(&pool->blocks[before]))
            id = before;
        if (has_addresses(pool, id, bytes))
            return id;
    }
    uint64_t capacity = pool->config.settings.capacity_bytes;
    uint64_t space = round_up(capacity ? capacity + capacity / 8 : EXPANDABLE_BYTES, page_bytes(&pool->parts[part_id]));
    if (space < bytes)
        return NONE;
    uint32_t id = masu__torch_new_block(pool,
                                        (block){.address = place_segment(pool, pool->parts[part_id].whose, true, space),
                                                .bytes = space,
                                                .part = part_id,
                                                .state = MASU__TORCH_UNMAPPED,
                                                .expandable = true});
    if (id)
        masu__torch_list_put(pool, id);
    return id;
}

/* A free block of at least so many bytes that is in no list. */
static uint32_t expand(masu__torch_pool *pool, uint32_t part_id, uint64_t bytes) {
    uint32_t id = find_expandable(pool, part_id, bytes);
    if (id && pool->blocks[id].state == MASU__TORCH_UNMAPPED)
        id = map_block(pool, id, pool->blocks[id].bytes < bytes ? pool->blocks[id].bytes : bytes);
    while (id && pool->status == MASU_OK && pool->blocks[id].bytes < bytes) {
        uint64_t missing = bytes - pool->blocks[id].bytes;
        uint32_t next = pool->blocks[id].next;
        id = map_block(pool, next, pool->blocks[next].bytes < missing ? pool->blocks[next].bytes : missing);
    }
    if (!id || pool->status != MASU_OK)
        return NONE;
    masu__torch_list_take(pool, id);
    return id;
}

/* ---- the two ----------------------------------------------------------------------------------------------------- */

uint32_t masu__torch_ask_device(masu__torch_pool *pool, uint32_t part_id, uint64_t bytes) {
    uint16_t device = pool->parts[part_id].whose.device;
    uint64_t segment = masu__torch_segment_bytes(bytes);
    if (!program_allows(pool, device, segment))
        return NONE;
    if (pool->config.settings.expandable)
        return expand(pool, part_id, bytes);
    return device_has(pool, device, segment) ? fresh_segment(pool, part_id, segment) : NONE;
}
