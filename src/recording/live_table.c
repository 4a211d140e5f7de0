/* live_table.c: see live_table.h. */
#include "recording/live_table.h"

#include "base/meta.h"

static uint32_t hash_of(const masu__live_table *t, uint32_t pool, uint64_t address) {
    uint64_t mixed = (address ^ (uint64_t)pool << 48) * 0x9e3779b97f4a7c15u;
    return (uint32_t)(mixed >> 32) & (t->head_count - 1);
}

masu__live_block *masu__live_find(const masu__live_table *t, uint32_t pool, uint64_t address) {
    uint32_t at = t->head_count ? t->heads[hash_of(t, pool, address)] : 0;
    while (at && (t->nodes[at].pool != pool || t->nodes[at].address != address))
        at = t->nodes[at].chain;
    return at ? &t->nodes[at] : NULL;
}

masu__live_block *masu__live_any(const masu__live_table *t, uint32_t pool) {
    return pool < t->pool_count && t->pools[pool] ? &t->nodes[t->pools[pool]] : NULL;
}

/* ---- room -------------------------------------------------------------------------------------------------------- */

static bool more_nodes(masu__live_table *t) {
    if (t->free || t->node_count < t->node_capacity)
        return true;
    uint32_t wanted = t->node_capacity ? 2 * t->node_capacity : 512;
    masu__live_block *grown = masu__meta_realloc(t->nodes, t->node_capacity * sizeof *grown,
                                                 (size_t)wanted * sizeof *grown);
    if (!grown)
        return false;
    t->nodes = grown;
    t->node_capacity = wanted;
    if (t->node_count == 0)
        t->node_count = 1;
    return true;
}

static bool more_heads(masu__live_table *t) {
    if (t->live < t->head_count)
        return true;
    uint32_t wanted = t->head_count ? 2 * t->head_count : 512;
    uint32_t *heads = masu__meta_calloc(wanted, sizeof *heads);
    if (!heads)
        return false;
    uint32_t old_count = t->head_count, *old = t->heads;
    t->heads = heads;
    t->head_count = wanted;
    for (uint32_t i = 0; i < old_count; i++)
        for (uint32_t at = old[i], next; at; at = next) {
            next = t->nodes[at].chain;
            uint32_t *head = &heads[hash_of(t, t->nodes[at].pool, t->nodes[at].address)];
            t->nodes[at].chain = *head;
            *head = at;
        }
    masu__meta_free(old, old_count * sizeof *old);
    return true;
}

static bool know_pool(masu__live_table *t, uint32_t pool) {
    if (pool < t->pool_count)
        return true;
    uint32_t wanted = t->pool_count ? 2 * t->pool_count : 16;
    while (wanted <= pool)
        wanted *= 2;
    uint32_t *grown = masu__meta_realloc(t->pools, t->pool_count * sizeof *grown, (size_t)wanted * sizeof *grown);
    if (!grown)
        return false;
    for (uint32_t i = t->pool_count; i < wanted; i++)
        grown[i] = 0;
    t->pools = grown;
    t->pool_count = wanted;
    return true;
}

/* ---- in and out -------------------------------------------------------------------------------------------------- */

masu__live_block *masu__live_put(masu__live_table *t, masu__live_block block) {
    if (!more_nodes(t) || !more_heads(t) || !know_pool(t, block.pool))
        return NULL;
    uint32_t at = t->free ? t->free : t->node_count++;
    if (t->free)
        t->free = t->nodes[at].chain;
    uint32_t *head = &t->heads[hash_of(t, block.pool, block.address)], *first = &t->pools[block.pool];
    block.chain = *head;
    block.next = *first;
    block.before = 0;
    if (*first)
        t->nodes[*first].before = at;
    *head = *first = at;
    t->nodes[at] = block;
    t->live++;
    return &t->nodes[at];
}

void masu__live_drop(masu__live_table *t, masu__live_block *block) {
    uint32_t at = (uint32_t)(block - t->nodes);
    uint32_t *link = &t->heads[hash_of(t, block->pool, block->address)];
    while (*link != at)
        link = &t->nodes[*link].chain;
    *link = block->chain;
    *(block->before ? &t->nodes[block->before].next : &t->pools[block->pool]) = block->next;
    if (block->next)
        t->nodes[block->next].before = block->before;
    block->chain = t->free;
    t->free = at;
    t->live--;
}

void masu__live_destroy(masu__live_table *t) {
    masu__meta_free(t->nodes, t->node_capacity * sizeof *t->nodes);
    masu__meta_free(t->heads, t->head_count * sizeof *t->heads);
    masu__meta_free(t->pools, t->pool_count * sizeof *t->pools);
    *t = (masu__live_table){0};
}
