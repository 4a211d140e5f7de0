/* cells.h: headers of one size, pooled and reused. Tensors, storages and graph nodes come and go by the
 * million; a cell costs one pop and one push, and its memory stays warm.
 *
 *     chunk ─► chunk ─► …        4 KiB each, from the metadata heap, kept until the runtime ends
 *       [ cell | cell | cell … ]
 *           └─ free ones form a list, linked through their second word
 *
 * What must stay true (tl__cells_valid checks it):
 *     live + length of the free list = total = cells in all chunks
 *     the first four bytes of a cell are 0 while it is free, and only then (a reference count lies there)
 *
 * A free cell is poisoned behind its first 16 bytes under AddressSanitizer: a header used after its release is
 * reported at once.
 */
#ifndef MASU_RUNTIME_CELLS_H
#define MASU_RUNTIME_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <masu/heap.h>
#include <masu/status.h>

#include "base/assert.h"

#if defined(__SANITIZE_ADDRESS__)
#define TL_CELLS_POISON 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TL_CELLS_POISON 1
#endif
#endif
#ifdef TL_CELLS_POISON
#include <sanitizer/asan_interface.h>
#else
#define TL_CELLS_POISON 0
#endif

enum { TL_CELL_CHUNK_BYTES = 4096, TL_CELL_VISIBLE_BYTES = 16 };

typedef struct tl_cell {
    uint32_t count; /* of the object that lives here; 0: free */
    uint32_t unused;
    struct tl_cell *next; /* while free */
} tl_cell;

typedef struct tl_cell_chunk {
    struct tl_cell_chunk *next;
    uint64_t cell_count;
} tl_cell_chunk;

typedef struct tl_cells {
    masu_heap *heap; /* borrowed */
    tl_cell *free;
    tl_cell_chunk *chunks;
    size_t cell_bytes; /* a multiple of 8, at least sizeof(tl_cell) */
    uint64_t live;
    uint64_t total;
} tl_cells;

/* No allocation. The first four bytes of what lives in a cell must not be 0. */
void tl__cells_init(tl_cells *cells, masu_heap *heap, size_t cell_bytes);
/* One more chunk onto the free list. MASU_ERR_OUT_OF_MEMORY and the like: nothing has changed. */
masu_status tl__cells_refill(tl_cells *cells);
/* Gives all chunks back, whatever lives in them. */
void tl__cells_destroy(tl_cells *cells);
/* Bytes of all chunks in the heap. O(chunks). */
uint64_t tl__cells_bytes(const tl_cells *cells);
bool tl__cells_valid(const tl_cells *cells);

/* Uninitialised, except that the caller must set a non-zero count; NULL when memory runs out. O(1). */
static inline void *tl__cells_take(tl_cells *cells) {
    if (MASU_UNLIKELY(!cells->free) && tl__cells_refill(cells) != MASU_OK)
        return NULL;
    tl_cell *cell = cells->free;
    MASU_DEBUG_ASSERT(cell->count == 0);
    cells->free = cell->next;
    cells->live++;
#if TL_CELLS_POISON
    ASAN_UNPOISON_MEMORY_REGION(cell, cells->cell_bytes);
#endif
    return cell;
}

static inline void tl__cells_give(tl_cells *cells, void *p) {
    tl_cell *cell = p;
    cell->count = 0;
    cell->next = cells->free;
    cells->free = cell;
    cells->live--;
#if TL_CELLS_POISON
    ASAN_POISON_MEMORY_REGION((char *)p + TL_CELL_VISIBLE_BYTES, cells->cell_bytes - TL_CELL_VISIBLE_BYTES);
#endif
}

/* Iteration, for checks: the cells of a chunk, live ones have a non-zero count. */
static inline tl_cell *tl__chunk_cell(const tl_cells *cells, const tl_cell_chunk *chunk, uint64_t i) {
    return (tl_cell *)((char *)(uintptr_t)(chunk + 1) + i * cells->cell_bytes);
}

#endif
