/* block.c: block records. */
#include "allocators/block.h"

#include "base/assert.h"
#include "base/meta.h"

enum { BLOCKS_PER_CHUNK = 50 }; /* just under 4 KiB */

struct masu__block_chunk {
    masu__block_chunk *next;
    size_t spare_here; /* only meaningful inside shrink */
    masu__block blocks[BLOCKS_PER_CHUNK];
};

static bool store_add_chunk(masu__block_store *store) {
    masu__block_chunk *chunk = masu__meta_alloc(sizeof *chunk);
    if (!chunk)
        return false;
    chunk->next = store->chunks;
    store->chunks = chunk;
    store->chunk_count++;
    for (size_t i = BLOCKS_PER_CHUNK; i-- > 0;) {
        chunk->blocks[i].chunk = chunk;
        masu__block_put_back(store, &chunk->blocks[i]);
    }
    return true;
}

bool masu__block_store_reserve(masu__block_store *store, size_t count) {
    while (MASU_UNLIKELY(store->spare_count < count))
        if (!store_add_chunk(store))
            return false;
    return true;
}

masu__block *masu__block_take(masu__block_store *store) {
    masu__block *block = store->spare;
    MASU_DEBUG_ASSERT(block != NULL);
    store->spare = block->as.next_spare;
    store->spare_count--;
    *block = (masu__block){.chunk = block->chunk};
    return block;
}

void masu__block_put_back(masu__block_store *store, masu__block *block) {
    block->state = MASU__BLOCK_SPARE;
    block->as.next_spare = store->spare;
    store->spare = block;
    store->spare_count++;
}

static void store_count_spare(masu__block_store *store) {
    for (masu__block_chunk *chunk = store->chunks; chunk; chunk = chunk->next)
        chunk->spare_here = 0;
    for (masu__block *block = store->spare; block; block = block->as.next_spare)
        block->chunk->spare_here++;
}

static void store_drop_spare_of_empty_chunks(masu__block_store *store) {
    masu__block **link = &store->spare;
    while (*link) {
        masu__block *block = *link;
        if (block->chunk->spare_here == BLOCKS_PER_CHUNK) {
            *link = block->as.next_spare;
            store->spare_count--;
        } else {
            link = &block->as.next_spare;
        }
    }
}

void masu__block_store_shrink(masu__block_store *store) {
    store_count_spare(store);
    store_drop_spare_of_empty_chunks(store);
    masu__block_chunk **link = &store->chunks;
    while (*link) {
        masu__block_chunk *chunk = *link;
        if (chunk->spare_here == BLOCKS_PER_CHUNK) {
            *link = chunk->next;
            store->chunk_count--;
            masu__meta_free(chunk, sizeof *chunk);
        } else {
            link = &chunk->next;
        }
    }
}

void masu__block_store_destroy(masu__block_store *store) {
    while (store->chunks) {
        masu__block_chunk *next = store->chunks->next;
        masu__meta_free(store->chunks, sizeof *store->chunks);
        store->chunks = next;
    }
    *store = (masu__block_store){0};
}

size_t masu__block_store_bytes(const masu__block_store *store) {
    return store->chunk_count * sizeof(masu__block_chunk);
}

masu__block *masu__block_cut(masu__block_store *store, masu__block *block, size_t bytes) {
    MASU_DEBUG_ASSERT(bytes > 0 && bytes < block->bytes);
    masu__block *rest = masu__block_take(store);
    rest->address = block->address + bytes;
    rest->bytes = block->bytes - bytes;
    rest->region = block->region;
    rest->before = block;
    rest->after = block->after;
    if (rest->after)
        rest->after->before = rest;
    block->after = rest;
    block->bytes = bytes;
    return rest;
}

void masu__block_join_after(masu__block_store *store, masu__block *block) {
    masu__block *swallowed = block->after;
    block->bytes += swallowed->bytes;
    block->after = swallowed->after;
    if (block->after)
        block->after->before = block;
    masu__block_put_back(store, swallowed);
}
