/* address_map.h: from an address to the record about it.
 *
 * Open addressing with linear probing; removal shifts the followers back, so there are no
 * tombstones and a table that has seen 10⁹ removals is as fast as a fresh one. Keys are multiples
 * of 2^shift.
 *
 *     count <= capacity / 2;  no empty entry between a key's home and its place
 *
 * Room is asked for beforehand (reserve), so that put never fails half-way through an operation.
 */
#ifndef MASU_ADDRESS_MAP_H
#define MASU_ADDRESS_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct masu__address_entry {
    uintptr_t key; /* 0: empty */
    void *value;
} masu__address_entry;

typedef struct masu__address_map {
    masu__address_entry *entries; /* owned, NULL before the first reserve */
    size_t capacity;              /* 0 or a power of two */
    size_t count;
    unsigned shift;
    unsigned down; /* 64 - log2(capacity): what a hash is shifted by */
} masu__address_map;

/* The map is a plain struct: {.shift = …}. False when there is no memory for count more keys. */
bool masu__address_map_reserve(masu__address_map *map, size_t count);

/* key not 0 and not present; room reserved. */
void masu__address_map_put(masu__address_map *map, uintptr_t key, void *value);

/* The value taken out, NULL when the key is not there. */
void *masu__address_map_take(masu__address_map *map, uintptr_t key);

/* For loops: *cursor starts at 0; NULL at the end. No particular order. The map must not change
 * meanwhile. */
void *masu__address_map_next(const masu__address_map *map, size_t *cursor);

/* Gives memory back that the present count does not need; keeps all when there is none for the
 * smaller table. */
void masu__address_map_shrink(masu__address_map *map);
void masu__address_map_destroy(masu__address_map *map);
size_t masu__address_map_bytes(const masu__address_map *map);
bool masu__address_map_valid(const masu__address_map *map);

static inline size_t masu__address_map_home(const masu__address_map *map, uintptr_t key) {
    return (size_t)(((uint64_t)(key >> map->shift) * 0x9e3779b97f4a7c15u) >> map->down);
}

/* NULL when the key is not there. */
static inline void *masu__address_map_get(const masu__address_map *map, uintptr_t key) {
    if (map->count == 0 || key == 0)
        return NULL;
    size_t i = masu__address_map_home(map, key);
    while (map->entries[i].key != key) {
        if (map->entries[i].key == 0)
            return NULL;
        i = (i + 1) & (map->capacity - 1);
    }
    return map->entries[i].value;
}

#endif
