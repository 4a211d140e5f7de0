/* address_map.c: the changing half of the map. */
#include "allocators/bucket/address_map.h"

#include "base/assert.h"
#include "base/meta.h"
#include "base/size.h"

enum { FIRST_CAPACITY = 16 };

static void map_place(masu__address_map *map, uintptr_t key, void *value) {
    size_t i = masu__address_map_home(map, key);
    while (map->entries[i].key != 0)
        i = (i + 1) & (map->capacity - 1);
    map->entries[i] = (masu__address_entry){key, value};
}

static bool map_resize(masu__address_map *map, size_t capacity) {
    masu__address_map old = *map;
    masu__address_entry *entries = masu__meta_calloc(capacity, sizeof *entries);
    if (!entries)
        return false;
    map->entries = entries;
    map->capacity = capacity;
    map->down = 64 - masu__log2_floor(capacity);
    for (size_t i = 0; i < old.capacity; i++)
        if (old.entries[i].key != 0)
            map_place(map, old.entries[i].key, old.entries[i].value);
    masu__meta_free(old.entries, old.capacity * sizeof *old.entries);
    return true;
}

bool masu__address_map_reserve(masu__address_map *map, size_t count) {
    size_t wanted;
    if (!masu__add(map->count, count, &wanted) || !masu__mul(wanted, 2, &wanted))
        return false;
    if (wanted <= map->capacity)
        return true;
    size_t capacity = masu__max(FIRST_CAPACITY, (size_t)1 << masu__log2_ceil(wanted));
    return map_resize(map, capacity);
}

void masu__address_map_put(masu__address_map *map, uintptr_t key, void *value) {
    MASU_DEBUG_ASSERT(key != 0 && masu__is_aligned(key, (size_t)1 << map->shift));
    MASU_DEBUG_ASSERT(2 * (map->count + 1) <= map->capacity);
    map_place(map, key, value);
    map->count++;
}

static size_t map_find(const masu__address_map *map, uintptr_t key) {
    size_t i = masu__address_map_home(map, key);
    while (map->entries[i].key != 0 && map->entries[i].key != key)
        i = (i + 1) & (map->capacity - 1);
    return i;
}

/* Moves back whatever could not sit nearer to its home because of the entry at hole. */
static void map_close_gap(masu__address_map *map, size_t hole) {
    size_t mask = map->capacity - 1;
    for (size_t i = (hole + 1) & mask; map->entries[i].key != 0; i = (i + 1) & mask) {
        size_t home = masu__address_map_home(map, map->entries[i].key);
        if (((i - home) & mask) < ((i - hole) & mask))
            continue;
        map->entries[hole] = map->entries[i];
        hole = i;
    }
    map->entries[hole] = (masu__address_entry){0};
}

void *masu__address_map_take(masu__address_map *map, uintptr_t key) {
    if (map->count == 0 || key == 0)
        return NULL;
    size_t i = map_find(map, key);
    if (map->entries[i].key == 0)
        return NULL;
    void *value = map->entries[i].value;
    map_close_gap(map, i);
    map->count--;
    return value;
}

void *masu__address_map_next(const masu__address_map *map, size_t *cursor) {
    while (*cursor < map->capacity) {
        const masu__address_entry *entry = &map->entries[(*cursor)++];
        if (entry->key != 0)
            return entry->value;
    }
    return NULL;
}

void masu__address_map_shrink(masu__address_map *map) {
    size_t needed = map->count == 0 ? 0 : (size_t)1 << masu__log2_ceil(2 * map->count);
    size_t capacity = masu__max(FIRST_CAPACITY, needed);
    if (capacity < map->capacity)
        (void)map_resize(map, capacity); /* without memory for it, the large table serves as well */
}

void masu__address_map_destroy(masu__address_map *map) {
    masu__meta_free(map->entries, map->capacity * sizeof *map->entries);
    *map = (masu__address_map){.shift = map->shift};
}

size_t masu__address_map_bytes(const masu__address_map *map) {
    return map->capacity * sizeof *map->entries;
}

bool masu__address_map_valid(const masu__address_map *map) {
    size_t count = 0;
    for (size_t i = 0; i < map->capacity; i++) {
        uintptr_t key = map->entries[i].key;
        if (key == 0)
            continue;
        count++;
        if (map_find(map, key) != i)
            return false;
    }
    return count == map->count && 2 * count <= map->capacity;
}
