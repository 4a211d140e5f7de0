/* pieces.c: what a group of rows keeps, section by section. See pieces.h. */
#include "allocators/plan/pieces.h"

#include <stdlib.h>

static int by_first(const void *a, const void *b) {
    const masu__plan_piece *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

bool masu__plan_pieces_meet(const masu__plan_piece *pieces, uint32_t count) {
    for (uint32_t i = 1; i < count; i++)
        if (pieces[i].first < pieces[i - 1].end)
            return true;
    return false;
}

uint32_t masu__plan_pieces_flatten(const masu__plan_piece *in, uint32_t count,
                                   masu__plan_piece *out) {
    uint32_t made = 0, last = 0;
    for (uint32_t i = 0; i < count; i++)
        if (in[i].end > last)
            last = in[i].end;
    for (uint32_t s = in[0].first; s < last; s++) {
        int64_t base = INT64_MAX, top = 0;
        for (uint32_t i = 0; i < count; i++)
            if (in[i].first <= s && s < in[i].end) {
                base = in[i].base < base ? in[i].base : base;
                top = in[i].base + in[i].height > top ? in[i].base + in[i].height : top;
            }
        if (top == 0)
            continue;
        if (made > 0 && out[made - 1].end == s && out[made - 1].base == base &&
            out[made - 1].base + out[made - 1].height == top)
            out[made - 1].end = s + 1;
        else
            out[made++] = (masu__plan_piece){s, s + 1, base, top - base};
    }
    return made;
}

void masu__plan_pieces_sort(masu__plan_piece *pieces, uint32_t count) {
    if (count > 1)
        qsort(pieces, count, sizeof *pieces, by_first);
}
