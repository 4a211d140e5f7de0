/* block.c: the table grows, shrinks and is checked. */
#include "allocators/bestfit/block.h"

#include <string.h>

#include "base/meta.h"
#include "base/size.h"

enum { FIRST_CAPACITY = 64 };
#define MOST_RECORDS ((uint32_t)1 << 31)

/* ---- memory ---------------------------------------------------------------------------------- */

static size_t memory_bytes(uint32_t capacity) {
    return capacity ? ((size_t)capacity + 1) * sizeof(masu__block) : 0; /* one to align the rest */
}

static size_t home_count(uint32_t capacity) {
    return capacity ? (size_t)1 << masu__log2_ceil(capacity) : 0;
}

/* Records up to used stay what they are. */
static bool resize_records(masu__block_table *table, uint32_t capacity) {
    size_t before = table->memory ? (size_t)((char *)table->at - (char *)table->memory) : 0;
    char *memory = masu__meta_realloc(table->memory, memory_bytes(table->capacity), memory_bytes(capacity));
    if (!memory)
        return false;
    char *at = (char *)masu__align_up_small((uintptr_t)memory, sizeof(masu__block));
    if (table->capacity == 0)
        memset(at, 0, sizeof(masu__block));
    else if (at != memory + before)
        memmove(at, memory + before, ((size_t)table->used + 1) * sizeof(masu__block));
    table->memory = memory;
    table->at = (masu__block *)at;
    table->room += capacity - masu__max(table->capacity, 1);
    table->capacity = capacity;
    return true;
}

static void fill_homes(masu__block_table *table) {
    for (masu__block_id id = 1; id <= table->used; id++)
        if (masu__block_is_live(&table->at[id]))
            masu__blocks_enter(table, id);
}

static masu__block_id *make_homes(uint32_t capacity) {
    return masu__meta_calloc(home_count(capacity), sizeof(masu__block_id));
}

static void change_homes(masu__block_table *table, masu__block_id *homes, uint32_t old_capacity) {
    masu__meta_free(table->homes, home_count(old_capacity) * sizeof *homes);
    table->homes = homes;
    table->down = 64 - masu__log2_ceil(table->capacity);
    fill_homes(table);
}

bool masu__blocks_grow(masu__block_table *table, uint32_t count) {
    uint32_t old_capacity = table->capacity, capacity = masu__max(FIRST_CAPACITY, old_capacity);
    size_t wanted = (size_t)masu__max(old_capacity, 1) + (count - table->room);
    while (capacity < wanted)
        capacity *= 2;
    if (wanted > MOST_RECORDS || capacity > MOST_RECORDS)
        return false;
    masu__block_id *homes = make_homes(capacity);
    if (!homes)
        return false;
    if (!resize_records(table, capacity)) {
        masu__meta_free(homes, home_count(capacity) * sizeof *homes);
        return false;
    }
    change_homes(table, homes, old_capacity);
    return true;
}

void masu__blocks_forget_live(masu__block_table *table) {
    if (table->homes)
        memset(table->homes, 0, home_count(table->capacity) * sizeof *table->homes);
}

void masu__blocks_destroy(masu__block_table *table) {
    masu__meta_free(table->homes, home_count(table->capacity) * sizeof *table->homes);
    masu__meta_free(table->memory, memory_bytes(table->capacity));
    *table = (masu__block_table){0};
}

size_t masu__blocks_bytes(const masu__block_table *table) {
    return memory_bytes(table->capacity) + home_count(table->capacity) * sizeof *table->homes;
}

/* ---- shrinking ------------------------------------------------------------------------------- */

static void move_record(masu__block_table *table, masu__block_id from, masu__block_id to, masu__block_moved moved,
                        void *context) {
    masu__block *block = &table->at[to];
    *block = table->at[from];
    table->at[from].state = MASU__BLOCK_SPARE;
    table->at[block->after].before = to;
    table->at[block->before].after = to;
    if (block->before == 0)
        moved(context, block, to);
}

/* The records in use become those of ids 1 … n, the only ones used. */
static void compact(masu__block_table *table, masu__block_moved moved, void *context) {
    masu__block_id low = 1, high = table->used;
    for (;;) {
        while (low <= high && table->at[low].state != MASU__BLOCK_SPARE)
            low++;
        while (high >= low && table->at[high].state == MASU__BLOCK_SPARE)
            high--;
        if (low > high)
            break;
        move_record(table, high, low, moved, context);
    }
    table->used = high;
    table->spare = 0;
    table->room = table->capacity - 1 - high;
}

bool masu__blocks_shrink(masu__block_table *table, masu__block_moved moved, void *context) {
    uint32_t old_capacity = table->capacity;
    uint32_t in_use = masu__blocks_in_use(table);
    uint32_t capacity = (uint32_t)masu__max(FIRST_CAPACITY, home_count(in_use + 1));
    if (capacity >= old_capacity)
        return false;
    compact(table, moved, context);
    masu__block_id *homes = make_homes(capacity);
    if (homes && resize_records(table, capacity)) {
        change_homes(table, homes, old_capacity);
        return true;
    }
    masu__meta_free(homes, home_count(capacity) * sizeof *homes);
    masu__blocks_forget_live(table);
    fill_homes(table);
    return true;
}

/* ---- the equations --------------------------------------------------------------------------- */

static bool spares_valid(const masu__block_table *table) {
    size_t listed = 0, found = 0;
    for (masu__block_id id = table->spare; id; id = table->at[id].next)
        if (id > table->used || table->at[id].state != MASU__BLOCK_SPARE || ++listed > table->used)
            return false;
    for (masu__block_id id = 1; id <= table->used; id++)
        found += table->at[id].state == MASU__BLOCK_SPARE;
    return listed == found && table->room == table->capacity - 1 - table->used + listed;
}

bool masu__blocks_valid(const masu__block_table *table) {
    if (table->capacity == 0)
        return table->used == 0 && table->room == 0 && !table->homes;
    if (table->at[0].state != MASU__BLOCK_SPARE || !spares_valid(table))
        return false;
    size_t live = 0, housed = 0;
    for (masu__block_id id = 1; id <= table->used; id++) {
        live += masu__block_is_live(&table->at[id]);
        if (masu__block_is_live(&table->at[id]) && masu__blocks_find(table, table->at[id].address) != id)
            return false;
    }
    for (size_t h = 0; h < home_count(table->capacity); h++)
        for (masu__block_id id = table->homes[h]; id; id = table->at[id].next)
            if (++housed > live)
                return false;
    return housed == live;
}
