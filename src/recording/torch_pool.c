/* torch_pool.c: see torch_pool.h. Sizes, requests, beginning and end. */
#include "recording/torch_state.h"

#include "base/meta.h"

#define FIRST_ADDRESS ((uint64_t)1 << 44)

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

masu__torch_settings masu__torch_settings_default(void) {
    return (masu__torch_settings){.max_split_bytes = UINT64_MAX};
}

static unsigned log2_of(uint64_t value) {
    return 63 - (unsigned)__builtin_clzll(value);
}

uint64_t masu__torch_round(const masu__torch_settings *settings, uint64_t bytes) {
    if (bytes < LEAST_BYTES)
        return LEAST_BYTES;
    if (bytes > MOST_BYTES)
        return UINT64_MAX;
    unsigned log = log2_of(bytes), step = log < 20 ? 0 : log - 20;
    uint64_t parts = settings->roundup[step < MASU__TORCH_ROUNDUP_STEPS ? step : MASU__TORCH_ROUNDUP_STEPS - 1];
    if (parts <= 1 || bytes <= LEAST_BYTES * parts || !(bytes & (bytes - 1)))
        return round_up(bytes, parts > 1 && bytes > LEAST_BYTES * parts ? 1 : LEAST_BYTES);
    uint64_t stride = ((uint64_t)1 << log) >> log2_of(parts);
    return stride ? round_up(bytes, stride) : (uint64_t)2 << log;
}

bool masu__torch_is_small(uint64_t rounded_bytes) {
    return rounded_bytes <= SMALL_BYTES;
}

uint64_t masu__torch_segment_bytes(uint64_t rounded_bytes) {
    if (rounded_bytes <= SMALL_BYTES)
        return SMALL_SEGMENT;
    if (rounded_bytes < OWN_SEGMENT)
        return LARGE_SEGMENT;
    return rounded_bytes > MOST_BYTES ? UINT64_MAX : round_up(rounded_bytes, SEGMENT_STEP);
}

uint64_t masu__torch_pool_number(uint64_t private_pool, bool is_small) {
    return private_pool << 1 | is_small;
}

/* ---- requests ---------------------------------------------------------------------------------------------------- */

/* How large a free block can become where it lies. */
static uint64_t can_become(const masu__torch_pool *pool, uint32_t id) {
    const block *b = &pool->blocks[id];
    const block *next = &pool->blocks[b->next];
    return b->bytes + (b->next && next->state == MASU__TORCH_UNMAPPED ? next->bytes : 0);
}

/* Best fit: the number of a free block that was taken out of its list. */
static uint32_t take_free(masu__torch_pool *pool, uint32_t part_id, uint64_t bytes) {
    const masu__torch_settings *s = &pool->config.settings;
    part *p = &pool->parts[part_id];
    if (s->allowed_bytes && s->gc_threshold > 0)
        p->calls++;
    size_t at = masu__torch_place_in(pool, &p->free, false, bytes, 0);
    if (at == p->free.count)
        return NONE;
    uint32_t id = p->free.items[at];
    if (pool->blocks[id].expandable && s->expandable) {
        for (; at + 1 < p->free.count && pool->blocks[id].expandable &&
               can_become(pool, p->free.items[at + 1]) < can_become(pool, id);
             at++)
            id = p->free.items[at + 1];
    } else if (pool->blocks[id].expandable) {
        while (at < p->free.count && pool->blocks[p->free.items[at]].expandable)
            at++;
        if (at == p->free.count)
            return NONE;
        id = p->free.items[at];
    }
    uint64_t most = s->max_split_bytes;
    if (bytes < most ? pool->blocks[id].bytes >= most : pool->blocks[id].bytes >= bytes + LARGE_SEGMENT)
        return NONE;
    masu__torch_list_take(pool, id);
    return id;
}

static bool is_cut(const masu__torch_pool *pool, uint32_t id, uint64_t bytes) {
    const masu__torch_settings *s = &pool->config.settings;
    uint64_t rest = pool->blocks[id].bytes - bytes;
    if (pool->parts[pool->blocks[id].part].is_small || s->expandable)
        return rest >= LEAST_BYTES;
    return bytes < s->max_split_bytes && rest > SMALL_BYTES;
}

static uint32_t find_block(masu__torch_pool *pool, uint32_t part_id, uint64_t bytes) {
    uint16_t device = pool->parts[part_id].whose.device;
    uint32_t id = take_free(pool, part_id, bytes);
    if (id)
        return id;
    if (pool->config.settings.allowed_bytes && pool->config.settings.gc_threshold > 0)
        masu__torch_collect(pool, device);
    if ((id = masu__torch_ask_device(pool, part_id, bytes)))
        return id;
    if (masu__torch_release_enough(pool, part_id, bytes) && (id = masu__torch_ask_device(pool, part_id, bytes)))
        return id;
    masu__torch_release(pool, device, false);
    return pool->status == MASU_OK ? masu__torch_ask_device(pool, part_id, bytes) : NONE;
}

masu_status masu__torch_alloc(masu__torch_pool *pool, uint64_t bytes, masu__torch_whose whose, uint64_t owner,
                              uint32_t *handle) {
    *handle = NONE;
    if (whose.device >= MASU__TORCH_MOST_DEVICES)
        return MASU_ERR_INVALID_ARGUMENT;
    uint64_t rounded = masu__torch_round(&pool->config.settings, bytes);
    if (rounded > MOST_BYTES)
        return MASU_ERR_OVERFLOW;
    uint32_t part_id = masu__torch_part(pool, whose, masu__torch_is_small(rounded));
    if (part_id == UINT32_MAX)
        return pool->status;
    uint32_t id = find_block(pool, part_id, rounded);
    if (pool->status == MASU_OK && !id) {
        pool->stats.refused++;
        return MASU_ERR_LIMIT_REACHED;
    }
    if (id && is_cut(pool, id, rounded)) {
        uint32_t rest = masu__torch_cut(pool, id, rounded);
        if (rest)
            masu__torch_list_put(pool, rest);
    }
    if (pool->status != MASU_OK)
        return pool->status;
    block *b = &pool->blocks[id];
    b->state = MASU__TORCH_LIVE;
    b->asked_bytes = bytes;
    b->owner = owner;
    masu__torch_count_live(pool, b);
    masu__torch_tell(pool, MASU__TORCH_ALLOC, b, b->address, b->bytes);
    *handle = id;
    return MASU_OK;
}

void masu__torch_pend(masu__torch_pool *pool, uint32_t handle) {
    if (pool->blocks[handle].state == MASU__TORCH_LIVE)
        pool->blocks[handle].state = MASU__TORCH_PENDING;
}

masu_status masu__torch_free(masu__torch_pool *pool, uint32_t handle) {
    if (handle == NONE || handle >= pool->count)
        return MASU_ERR_INVALID_ARGUMENT;
    block *b = &pool->blocks[handle];
    if (b->state != MASU__TORCH_LIVE && b->state != MASU__TORCH_PENDING)
        return MASU_ERR_DOUBLE_FREE;
    pool->stats.live_bytes -= b->asked_bytes;
    pool->stats.given_bytes -= b->bytes;
    b->state = MASU__TORCH_FREE;
    masu__torch_join_both(pool, handle);
    masu__torch_list_put(pool, handle);
    return pool->status;
}

/* ---- in and out -------------------------------------------------------------------------------------------------- */

masu_status masu__torch_pool_create(const masu__torch_config *config, masu__torch_pool **out) {
    *out = NULL;
    if (!(config->settings.gc_threshold >= 0 && config->settings.gc_threshold < 1))
        return MASU_ERR_INVALID_ARGUMENT;
    masu__torch_pool *pool = masu__meta_calloc(1, sizeof *pool);
    if (!pool)
        return MASU_ERR_OUT_OF_MEMORY;
    pool->config = *config;
    pool->next_address = FIRST_ADDRESS;
    masu__torch_new_block(pool, (block){.state = UNUSED});
    if (pool->status != MASU_OK) {
        masu__torch_pool_destroy(pool);
        return MASU_ERR_OUT_OF_MEMORY;
    }
    *out = pool;
    return MASU_OK;
}

void masu__torch_pool_destroy(masu__torch_pool *pool) {
    if (!pool)
        return;
    for (uint32_t i = 0; i < pool->part_count; i++) {
        masu__meta_free(pool->parts[i].free.items, pool->parts[i].free.capacity * sizeof(uint32_t));
        masu__meta_free(pool->parts[i].unmapped.items, pool->parts[i].unmapped.capacity * sizeof(uint32_t));
    }
    masu__meta_free(pool->parts, pool->part_capacity * sizeof(part));
    masu__meta_free(pool->blocks, pool->capacity * sizeof(block));
    masu__meta_free(pool, sizeof *pool);
}
