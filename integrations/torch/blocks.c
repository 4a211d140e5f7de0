/* blocks.c: what is out, by address: open addressing, at most half full. A dropped place is filled from behind, so that
 * a search ends at the first empty one. */
#include "torch.h"

#include <stdlib.h>

static size_t home_of(const blocks *t, uintptr_t address) {
    return (size_t)((uint64_t)(address / BLOCK_ALIGNMENT) * 0x9E3779B97F4A7C15u >> 20) & (t->capacity - 1);
}

static block *place_of(const blocks *t, uintptr_t address) {
    size_t at = home_of(t, address);
    while (t->items[at].address && t->items[at].address != address)
        at = (at + 1) & (t->capacity - 1);
    return &t->items[at];
}

bool masu_torch_blocks_room(blocks *t) {
    if (2 * (t->count + 1) <= t->capacity)
        return true;
    blocks larger = {.count = t->count, .capacity = t->capacity ? 2 * t->capacity : 256};
    larger.items = calloc(larger.capacity, sizeof *larger.items);
    if (!larger.items)
        return false;
    for (size_t i = 0; i < t->capacity; i++)
        if (t->items[i].address)
            *place_of(&larger, t->items[i].address) = t->items[i];
    free(t->items);
    *t = larger;
    return true;
}

block *masu_torch_blocks_find(const blocks *t, const void *ptr) {
    block *b = t->capacity && ptr ? place_of(t, (uintptr_t)ptr) : NULL;
    return b && b->address ? b : NULL;
}

block *masu_torch_blocks_put(blocks *t, block b) {
    block *place = place_of(t, b.address);
    t->count += place->address == 0;
    *place = b;
    return place;
}

void masu_torch_blocks_drop(blocks *t, block *b) {
    size_t mask = t->capacity - 1, hole = (size_t)(b - t->items);
    for (size_t at = (hole + 1) & mask; t->items[at].address; at = (at + 1) & mask)
        if (((at - home_of(t, t->items[at].address)) & mask) >= ((at - hole) & mask)) {
            t->items[hole] = t->items[at];
            hole = at;
        }
    t->items[hole] = (block){0};
    t->count--;
}
