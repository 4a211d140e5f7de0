/* torch_blocks.c: the table of blocks of the model, its lists, and neighbours that are cut and joined. */
#include "recording/torch_state.h"

#include <string.h>

#include "base/assert.h"
#include "base/meta.h"

/* ---- tables ------------------------------------------------------------------------------------------------------ */

static bool fail(masu__torch_pool *pool) {
    pool->status = MASU_ERR_OUT_OF_MEMORY;
    return false;
}

bool masu__torch_grow(masu__torch_pool *pool, void **items, size_t *capacity, size_t bytes) {
    size_t larger = *capacity ? 2 * *capacity : 16;
    void *grown = masu__meta_realloc(*items, *capacity * bytes, larger * bytes);
    if (!grown)
        return fail(pool);
    *items = grown;
    *capacity = larger;
    return true;
}

uint32_t masu__torch_new_block(masu__torch_pool *pool, block value) {
    uint32_t id = pool->unused;
    if (id) {
        pool->unused = pool->blocks[id].next;
    } else {
        size_t capacity = pool->capacity;
        if (pool->count == capacity &&
            (capacity > UINT32_MAX / 4 || !masu__torch_grow(pool, (void **)&pool->blocks, &capacity, sizeof(block)))) {
            fail(pool);
            return NONE;
        }
        pool->capacity = (uint32_t)capacity;
        id = pool->count++;
    }
    pool->blocks[id] = value;
    return id;
}

void masu__torch_drop_block(masu__torch_pool *pool, uint32_t id) {
    pool->blocks[id] = (block){.state = UNUSED, .next = pool->unused};
    pool->unused = id;
}

static bool same_part(const part *p, masu__torch_whose whose, bool is_small) {
    return p->is_small == is_small && p->whose.device == whose.device && p->whose.stream == whose.stream &&
           p->whose.private_pool == whose.private_pool;
}

uint32_t masu__torch_part(masu__torch_pool *pool, masu__torch_whose whose, bool is_small) {
    for (uint32_t i = 0; i < pool->part_count; i++)
        if (same_part(&pool->parts[i], whose, is_small))
            return i;
    size_t capacity = pool->part_capacity;
    if (pool->part_count == capacity && !masu__torch_grow(pool, (void **)&pool->parts, &capacity, sizeof(part)))
        return UINT32_MAX;
    pool->part_capacity = (uint32_t)capacity;
    pool->parts[pool->part_count] = (part){.whose = whose, .is_small = is_small};
    return pool->part_count++;
}

/* ---- lists ------------------------------------------------------------------------------------------------------- */

size_t masu__torch_place_in(const masu__torch_pool *pool, const list *in, bool by_address, uint64_t bytes,
                            uint64_t address) {
    size_t low = 0, high = in->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const block *b = &pool->blocks[in->items[middle]];
        bool before = by_address || b->bytes == bytes ? b->address < address : b->bytes < bytes;
        if (before)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static list *list_of(masu__torch_pool *pool, const block *b) {
    return b->state == MASU__TORCH_UNMAPPED ? &pool->parts[b->part].unmapped : &pool->parts[b->part].free;
}

void masu__torch_list_put(masu__torch_pool *pool, uint32_t id) {
    block *b = &pool->blocks[id];
    list *in = list_of(pool, b);
    if (in->count == in->capacity && !masu__torch_grow(pool, (void **)&in->items, &in->capacity, sizeof *in->items))
        return;
    size_t at = masu__torch_place_in(pool, in, b->state == MASU__TORCH_UNMAPPED, b->bytes, b->address);
    memmove(in->items + at + 1, in->items + at, (in->count - at) * sizeof *in->items);
    in->items[at] = id;
    in->count++;
    b->born = pool->parts[b->part].calls;
}

void masu__torch_list_take(masu__torch_pool *pool, uint32_t id) {
    const block *b = &pool->blocks[id];
    list *in = list_of(pool, b);
    size_t at = masu__torch_place_in(pool, in, b->state == MASU__TORCH_UNMAPPED, b->bytes, b->address);
    if (pool->status != MASU_OK && (at >= in->count || in->items[at] != id))
        return; /* it never got there */
    MASU_ASSERT(at < in->count && in->items[at] == id);
    memmove(in->items + at, in->items + at + 1, (in->count - at - 1) * sizeof *in->items);
    in->count--;
}

/* ---- neighbours -------------------------------------------------------------------------------------------------- */

uint32_t masu__torch_cut(masu__torch_pool *pool, uint32_t after, uint64_t kept) {
    block rest = pool->blocks[after];
    rest.address += kept;
    rest.bytes -= kept;
    rest.prev = after;
    uint32_t id = masu__torch_new_block(pool, rest);
    if (!id)
        return NONE;
    block *b = &pool->blocks[after];
    b->bytes = kept;
    b->next = id;
    if (rest.next)
        pool->blocks[rest.next].prev = id;
    return id;
}

/* Takes src, a neighbour in the same state that lies in its list, into dst, which is in none. */
static void join(masu__torch_pool *pool, uint32_t dst, uint32_t src) {
    block *d = &pool->blocks[dst], *s = &pool->blocks[src];
    if (!src || s->state != d->state)
        return;
    masu__torch_list_take(pool, src);
    if (d->prev == src) {
        d->address = s->address;
        d->prev = s->prev;
        if (d->prev)
            pool->blocks[d->prev].next = dst;
    } else {
        d->next = s->next;
        if (d->next)
            pool->blocks[d->next].prev = dst;
    }
    d->bytes += s->bytes;
    masu__torch_drop_block(pool, src);
}

void masu__torch_join_both(masu__torch_pool *pool, uint32_t id) {
    join(pool, id, pool->blocks[id].prev);
    join(pool, id, pool->blocks[id].next);
}

void masu__torch_count_live(masu__torch_pool *pool, const block *b) {
    masu__torch_stats *s = &pool->stats;
    s->live_bytes += b->asked_bytes;
    s->given_bytes += b->bytes;
    if (s->live_bytes > s->peak_live_bytes)
        s->peak_live_bytes = s->live_bytes;
    if (s->given_bytes > s->peak_given_bytes)
        s->peak_given_bytes = s->given_bytes;
}
