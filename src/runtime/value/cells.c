/* cells.c: chunks of equal cells. */
#include "runtime/value/cells.h"

#include "base/meta.h"

void tl__cells_init(tl_cells *cells, masu_heap *heap, size_t cell_bytes) {
    MASU_ASSERT(cell_bytes >= sizeof(tl_cell) && cell_bytes % 8 == 0);
    *cells = (tl_cells){.heap = heap, .cell_bytes = cell_bytes};
}

static void push_free(tl_cells *cells, tl_cell *cell) {
    cell->count = 0;
    cell->next = cells->free;
    cells->free = cell;
#if TL_CELLS_POISON
    ASAN_POISON_MEMORY_REGION((char *)cell + TL_CELL_VISIBLE_BYTES, cells->cell_bytes - TL_CELL_VISIBLE_BYTES);
#endif
}

masu_status tl__cells_refill(tl_cells *cells) {
    void *memory;
    if (masu__fault_hit())
        return MASU_ERR_OUT_OF_MEMORY;
    masu_status status = masu_heap_alloc(cells->heap, TL_CELL_CHUNK_BYTES, 0, &memory);
    if (status != MASU_OK)
        return status;
    tl_cell_chunk *chunk = memory;
    chunk->cell_count = (TL_CELL_CHUNK_BYTES - sizeof *chunk) / cells->cell_bytes;
    chunk->next = cells->chunks;
    cells->chunks = chunk;
    cells->total += chunk->cell_count;
    /* from the last to the first, so that cells are handed out in rising order of address */
    for (uint64_t i = chunk->cell_count; i-- > 0;)
        push_free(cells, tl__chunk_cell(cells, chunk, i));
    return MASU_OK;
}

void tl__cells_destroy(tl_cells *cells) {
    tl_cell_chunk *chunk = cells->chunks;
    while (chunk) {
        tl_cell_chunk *next = chunk->next;
#if TL_CELLS_POISON
        ASAN_UNPOISON_MEMORY_REGION(chunk, TL_CELL_CHUNK_BYTES);
#endif
        MASU_ASSERT(masu_heap_free(cells->heap, chunk, TL_CELL_CHUNK_BYTES) == MASU_OK);
        chunk = next;
    }
    *cells = (tl_cells){.heap = cells->heap, .cell_bytes = cells->cell_bytes};
}

uint64_t tl__cells_bytes(const tl_cells *cells) {
    uint64_t bytes = 0;
    for (const tl_cell_chunk *chunk = cells->chunks; chunk; chunk = chunk->next)
        bytes += TL_CELL_CHUNK_BYTES;
    return bytes;
}

bool tl__cells_valid(const tl_cells *cells) {
    uint64_t live = 0, total = 0, free = 0;
    for (const tl_cell_chunk *chunk = cells->chunks; chunk; chunk = chunk->next) {
        for (uint64_t i = 0; i < chunk->cell_count; i++)
            live += tl__chunk_cell(cells, chunk, i)->count != 0;
        total += chunk->cell_count;
    }
    for (const tl_cell *cell = cells->free; cell && free <= total; cell = cell->next) {
        if (cell->count != 0)
            return false;
        free++;
    }
    return live == cells->live && total == cells->total && live + free == total;
}
