/* torch_release.c: what the model gives back to the device, and in which order. */
#include "recording/torch_state.h"

#include "base/meta.h"

bool masu__torch_release_enough(masu__torch_pool *pool, uint32_t part_id, uint64_t bytes) {
    uint64_t most = pool->config.settings.max_split_bytes;
    list *in = &pool->parts[part_id].free;
    if (most == UINT64_MAX)
        return false;
    uint64_t wanted = bytes < most ? most : bytes, released = 0;
    size_t at = masu__torch_place_in(pool, in, false, wanted, 0);
    if (at < in->count) {
        if (pool->blocks[in->items[at]].expandable || !is_whole(&pool->blocks[in->items[at]]))
            return false;
        masu__torch_give_back(pool, in->items[at]);
        return true;
    }
    while (at-- > 0 && released < wanted && pool->blocks[in->items[at]].bytes >= most) {
        uint32_t id = in->items[at];
        if (pool->blocks[id].expandable || !is_whole(&pool->blocks[id]))
            continue;
        released += pool->blocks[id].bytes;
        masu__torch_give_back(pool, id);
    }
    return released >= wanted;
}

/* The order in which memory goes back: common pools first, of them the large ones, of private pools the small ones; by
 * stream. */
static bool part_before(const part *a, const part *b) {
    if (a->whose.private_pool != b->whose.private_pool)
        return a->whose.private_pool < b->whose.private_pool;
    if (a->is_small != b->is_small)
        return b->is_small == !a->whose.private_pool;
    return a->whose.stream < b->whose.stream;
}

static void release_part(masu__torch_pool *pool, part *p) {
    for (size_t i = 0; i < p->free.count;) {
        const block *b = &pool->blocks[p->free.items[i]];
        if (!b->expandable && is_whole(b))
            masu__torch_give_back(pool, p->free.items[i]);
        else
            i++;
    }
    list old = {0}; /* unmapping changes the list */
    for (size_t i = 0; i < p->free.count; i++) {
        if (!pool->blocks[p->free.items[i]].expandable)
            continue;
        if (old.count == old.capacity && !masu__torch_grow(pool, (void **)&old.items, &old.capacity, sizeof *old.items))
            break;
        old.items[old.count++] = p->free.items[i];
    }
    for (size_t i = 0; i < old.count && pool->status == MASU_OK; i++)
        masu__torch_unmap(pool, old.items[i]);
    masu__meta_free(old.items, old.capacity * sizeof *old.items);
    for (size_t i = 0; i < p->unmapped.count;) /* the addresses of an empty segment go, too */
        if (is_whole(&pool->blocks[p->unmapped.items[i]])) {
            uint32_t id = p->unmapped.items[i];
            masu__torch_list_take(pool, id);
            masu__torch_drop_block(pool, id);
        } else {
            i++;
        }
}

masu_status masu__torch_release(masu__torch_pool *pool, uint16_t device, bool with_private) {
    const part *last = NULL;
    for (;;) { /* parts stay where they are; they are few, so the next one in order is looked for */
        part *next = NULL;
        for (uint32_t i = 0; i < pool->part_count; i++) {
            part *p = &pool->parts[i];
            if (p->whose.device == device && (with_private || !p->whose.private_pool) &&
                (!last || part_before(last, p)) && (!next || part_before(p, next)))
                next = p;
        }
        if (!next || pool->status != MASU_OK)
            return pool->status;
        release_part(pool, next);
        last = next;
    }
}

void masu__torch_collect(masu__torch_pool *pool, uint16_t device) {
    const masu__torch_settings *s = &pool->config.settings;
    uint64_t threshold = (uint64_t)(s->gc_threshold * (double)s->allowed_bytes), reclaimed = 0;
    if (pool->reserved_of[device] <= threshold)
        return;
    uint64_t target = pool->reserved_of[device] - threshold, age = 0, blocks = 0;
    for (uint32_t i = 0; i < pool->part_count; i++) {
        const part *p = &pool->parts[i];
        for (size_t k = 0; k < p->free.count && p->whose.device == device && !p->is_small && !p->whose.private_pool;
             k++) {
            const block *b = &pool->blocks[p->free.items[k]];
            if (is_whole(b) && !b->expandable) {
                age += p->calls - b->born;
                blocks++;
            }
        }
    }
    for (bool freed = true; reclaimed < target && freed && blocks > 0;) {
        double mean = (double)age / (double)blocks;
        freed = false;
        for (uint32_t i = 0; i < pool->part_count; i++) {
            part *p = &pool->parts[i];
            for (size_t k = 0;
                 k < p->free.count && p->whose.device == device && !p->is_small && !p->whose.private_pool;) {
                const block *b = &pool->blocks[p->free.items[k]];
                uint64_t own = p->calls - b->born;
                if (!is_whole(b) || b->expandable || (double)own < mean) {
                    k++;
                    continue;
                }
                freed = true;
                reclaimed += b->bytes;
                age -= own;
                blocks--;
                masu__torch_give_back(pool, p->free.items[k]);
            }
        }
    }
}

bool masu__torch_drop_segment(masu__torch_pool *pool, uint16_t device, uint64_t address) {
    for (uint32_t i = 0; i < pool->part_count; i++) {
        const part *p = &pool->parts[i];
        for (size_t k = 0; k < p->free.count && p->whose.device == device; k++) {
            const block *b = &pool->blocks[p->free.items[k]];
            if (b->address == address && is_whole(b) && !b->expandable) {
                masu__torch_give_back(pool, p->free.items[k]);
                return true;
            }
        }
    }
    return false;
}
