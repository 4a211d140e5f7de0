/* hash.h: where a name is in the index of the library: the same for who writes the index (cmake/embed_library.c) and
 * who reads it.
 */
#ifndef MASU_LANGUAGE_LIBRARY_HASH_H
#define MASU_LANGUAGE_LIBRARY_HASH_H

#include <stddef.h>
#include <stdint.h>

enum { LIBRARY_SLOTS = 16384 };

static inline uint32_t library_hash(const char *text, size_t length) {
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return hash;
}

#endif
