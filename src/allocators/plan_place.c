/* plan_place.c: the placement itself, and a stable sort. */
#include "allocators/plan_place.h"

#include <string.h>

static uint64_t align_offset(uint64_t offset, uint64_t alignment) {
    return alignment <= 1 ? offset : (offset + alignment - 1) & ~(alignment - 1);
}

/* The offset for the row among what is placed. */
static uint64_t find_gap(const masu_plan_row *row, const masu__plan_placed *placed, size_t count,
                         masu__plan_gap gap) {
    uint64_t top = 0; /* end of the highest row met so far that lives with this one */
    uint64_t best = 0, best_bytes = UINT64_MAX;
    for (size_t i = 0; i < count; i++) {
        const masu__plan_placed *other = &placed[i];
        if (other->upper <= row->lower || other->lower >= row->upper)
            continue;
        if (other->offset > top) {
            uint64_t start = align_offset(top, row->alignment_bytes);
            uint64_t bytes = other->offset - top;
            if (start + row->size_bytes <= other->offset && bytes < best_bytes) {
                best = start;
                best_bytes = bytes;
                if (gap == MASU__PLAN_FIRST_GAP)
                    return best;
            }
        }
        if (other->end > top)
            top = other->end;
    }
    return best_bytes != UINT64_MAX ? best : align_offset(top, row->alignment_bytes);
}

static size_t placed_position(const masu__plan_placed *placed, size_t count, uint64_t offset) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (placed[middle].offset > offset)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

uint64_t masu__plan_place(const masu_plan_row *rows, const size_t *order, size_t count,
                          masu__plan_gap gap, uint64_t limit, masu__plan_placed *scratch,
                          uint64_t *offsets, uint64_t *steps) {
    uint64_t height = 0;
    for (size_t i = 0; i < count; i++) {
        const masu_plan_row *row = &rows[order[i]];
        uint64_t offset = find_gap(row, scratch, i, gap);
        uint64_t end = offset + row->size_bytes;
        *steps += i;
        if (end > height)
            height = end;
        if (height >= limit)
            return UINT64_MAX;
        size_t position = placed_position(scratch, i, offset);
        memmove(&scratch[position + 1], &scratch[position], (i - position) * sizeof *scratch);
        scratch[position] = (masu__plan_placed){row->lower, row->upper, offset, end};
        offsets[order[i]] = offset;
    }
    return height;
}

/* ---- sorting --------------------------------------------------------------------------------- */

static void merge_halves(const size_t *in, size_t half, size_t count, const unsigned __int128 *keys,
                         size_t *out) {
    size_t a = 0, b = half;
    for (size_t i = 0; i < count; i++) {
        bool from_a = b == count || (a < half && keys[in[a]] >= keys[in[b]]);
        out[i] = in[from_a ? a++ : b++];
    }
}

/* As deep as log2(count). */
void masu__plan_sort(size_t *indices, size_t count, const unsigned __int128 *keys,
                     size_t *scratch) {
    if (count < 2)
        return;
    size_t half = count / 2;
    masu__plan_sort(indices, half, keys, scratch);
    masu__plan_sort(indices + half, count - half, keys, scratch);
    merge_halves(indices, half, count, keys, scratch);
    memcpy(indices, scratch, count * sizeof *indices);
}
