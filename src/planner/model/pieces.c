/* pieces.c: what a group of rows keeps, section by section. See pieces.h. */
#include "planner/model/pieces.h"

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

/* Bytes that some piece keeps in a section, from base upwards. O(count²). */
static int64_t kept_bytes(const masu__plan_piece *in, uint32_t count, uint32_t section, int64_t base) {
    int64_t kept = 0;
    for (int64_t at = base, next; at < INT64_MAX; at = next) {
        int64_t end = at;
        next = INT64_MAX; /* the next base above what is kept from here on */
        for (bool grown = true; grown;) {
            grown = false;
            for (uint32_t i = 0; i < count; i++)
                if (in[i].first <= section && section < in[i].end && in[i].base <= end &&
                    in[i].base + in[i].height > end) {
                    end = in[i].base + in[i].height;
                    grown = true;
                }
        }
        kept += end - at;
        for (uint32_t i = 0; i < count; i++)
            if (in[i].first <= section && section < in[i].end && in[i].base > end && in[i].base < next)
                next = in[i].base;
    }
    return kept;
}

uint32_t masu__plan_pieces_flatten(const masu__plan_piece *in, uint32_t count, masu__plan_piece *out) {
    uint32_t made = 0, last = 0;
    for (uint32_t i = 0; i < count; i++)
        if (in[i].end > last)
            last = in[i].end;
    for (uint32_t s = in[0].first; s < last; s++) {
        int64_t base = INT64_MAX, top = 0, kept;
        for (uint32_t i = 0; i < count; i++)
            if (in[i].first <= s && s < in[i].end) {
                base = in[i].base < base ? in[i].base : base;
                top = in[i].base + in[i].height > top ? in[i].base + in[i].height : top;
            }
        if (top == 0)
            continue;
        kept = kept_bytes(in, count, s, base);
        if (made > 0 && out[made - 1].end == s && out[made - 1].base == base &&
            out[made - 1].base + out[made - 1].height == top && out[made - 1].hole == top - base - kept)
            out[made - 1].end = s + 1;
        else
            out[made++] = (masu__plan_piece){s, s + 1, base, top - base, top - base - kept};
    }
    return made;
}

void masu__plan_pieces_sort(masu__plan_piece *pieces, uint32_t count) {
    if (count > 1)
        qsort(pieces, count, sizeof *pieces, by_first);
}
