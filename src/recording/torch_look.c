/* torch_look.c: a beginning that is given to the model, and what can be seen of it. */
#include "recording/torch_state.h"

#include "base/meta.h"

/* ---- a beginning that is not known ------------------------------------------------------------------------------- */

masu_status masu__torch_stand(masu__torch_pool *pool, const masu__torch_block *given, bool extend, uint32_t *handle) {
    *handle = NONE;
    uint32_t before = extend ? pool->last_stood : NONE;
    if (given->whose.device >= MASU__TORCH_MOST_DEVICES || given->bytes == 0 || given->bytes > MOST_BYTES ||
        (before && pool->blocks[before].address + pool->blocks[before].bytes != given->address))
        return MASU_ERR_INVALID_ARGUMENT;
    uint32_t part_id = masu__torch_part(pool, given->whose, given->is_small);
    if (part_id == UINT32_MAX)
        return pool->status;
    uint32_t id = masu__torch_new_block(pool, (block){.address = given->address,
                                                      .bytes = given->bytes,
                                                      .asked_bytes = given->asked_bytes,
                                                      .owner = given->owner,
                                                      .prev = before,
                                                      .part = part_id,
                                                      .state = (uint8_t)given->state,
                                                      .expandable = given->in_expandable});
    if (!id)
        return pool->status;
    if (before)
        pool->blocks[before].next = id;
    if (is_at_hand(&pool->blocks[id]))
        masu__torch_list_put(pool, id);
    else
        masu__torch_count_live(pool, &pool->blocks[id]);
    if (given->state != MASU__TORCH_UNMAPPED)
        masu__torch_reserve(pool, given->whose.device, given->bytes);
    if (!pool->config.place && given->address + given->bytes > pool->next_address)
        pool->next_address = round_up(given->address + given->bytes, SEGMENT_STEP);
    *handle = pool->last_stood = id;
    return pool->status;
}

/* ---- looking ----------------------------------------------------------------------------------------------------- */

masu__torch_block masu__torch_look(const masu__torch_pool *pool, uint32_t handle) {
    const block *b = &pool->blocks[handle];
    const part *p = &pool->parts[b->part];
    return (masu__torch_block){.address = b->address,
                               .bytes = b->bytes,
                               .asked_bytes = b->asked_bytes,
                               .owner = b->owner,
                               .whose = p->whose,
                               .state = (masu__torch_state)b->state,
                               .is_small = p->is_small,
                               .in_expandable = b->expandable,
                               .begins_segment = !b->prev};
}

static bool earlier(const masu__torch_pool *pool, uint32_t a, uint32_t b) {
    const block *x = &pool->blocks[a], *y = &pool->blocks[b];
    uint16_t dx = pool->parts[x->part].whose.device, dy = pool->parts[y->part].whose.device;
    return dx != dy ? dx < dy : x->address < y->address;
}

/* A heap in place: no recursion, no memory. */
static void sort_heads(const masu__torch_pool *pool, uint32_t *items, size_t count) {
    for (size_t built = count / 2, end = count; end > 1;) {
        if (built > 0) {
            built--;
        } else {
            end--;
            uint32_t top = items[0];
            items[0] = items[end];
            items[end] = top;
        }
        for (size_t at = built, child; (child = 2 * at + 1) < end; at = child) {
            child += child + 1 < end && earlier(pool, items[child], items[child + 1]);
            if (!earlier(pool, items[at], items[child]))
                break;
            uint32_t moved = items[at];
            items[at] = items[child];
            items[child] = moved;
        }
    }
}

masu_status masu__torch_visit(const masu__torch_pool *pool,
                              void (*visitor)(void *context, uint32_t handle, const masu__torch_block *block),
                              void *context) {
    size_t heads = 0, bytes = pool->count * sizeof(uint32_t);
    uint32_t *items = masu__meta_alloc(bytes);
    if (!items)
        return MASU_ERR_OUT_OF_MEMORY;
    for (uint32_t i = 1; i < pool->count; i++)
        if (pool->blocks[i].state != UNUSED && !pool->blocks[i].prev)
            items[heads++] = i;
    sort_heads(pool, items, heads);
    for (size_t i = 0; i < heads; i++)
        for (uint32_t id = items[i]; id; id = pool->blocks[id].next) {
            masu__torch_block seen = masu__torch_look(pool, id);
            visitor(context, id, &seen);
        }
    masu__meta_free(items, bytes);
    return MASU_OK;
}

masu__torch_stats masu__torch_get_stats(const masu__torch_pool *pool) {
    return pool->stats;
}

static bool block_valid(const masu__torch_pool *pool, uint32_t id) {
    const block *b = &pool->blocks[id], *next = &pool->blocks[b->next];
    if (b->bytes == 0 || b->part >= pool->part_count)
        return false;
    if (b->next && (next->prev != id || next->address != b->address + b->bytes || next->part != b->part ||
                    (is_at_hand(b) && next->state == b->state)))
        return false;
    if (!is_at_hand(b))
        return b->asked_bytes <= b->bytes;
    const list *in = b->state == MASU__TORCH_UNMAPPED ? &pool->parts[b->part].unmapped : &pool->parts[b->part].free;
    size_t at = masu__torch_place_in(pool, in, b->state == MASU__TORCH_UNMAPPED, b->bytes, b->address);
    return at < in->count && in->items[at] == id;
}

bool masu__torch_pool_valid(const masu__torch_pool *pool) {
    uint64_t reserved = 0, given = 0, asked = 0, listed = 0, at_hand = 0;
    for (uint32_t i = 1; i < pool->count; i++) {
        const block *b = &pool->blocks[i];
        if (b->state == UNUSED)
            continue;
        if (!block_valid(pool, i))
            return false;
        reserved += b->state == MASU__TORCH_UNMAPPED ? 0 : b->bytes;
        given += is_at_hand(b) ? 0 : b->bytes;
        asked += is_at_hand(b) ? 0 : b->asked_bytes;
        at_hand += is_at_hand(b);
    }
    for (uint32_t i = 0; i < pool->part_count; i++)
        listed += pool->parts[i].free.count + pool->parts[i].unmapped.count;
    return listed == at_hand && reserved == pool->stats.reserved_bytes && given == pool->stats.given_bytes &&
           asked == pool->stats.live_bytes;
}
