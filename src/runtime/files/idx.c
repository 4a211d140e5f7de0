/* idx.c: IDX, the format of MNIST and its kind, read: as it is or packed by gzip.
 *
 *     0 0 type rank   a length of four bytes for each dimension   elements        all with the highest byte first
 */
#include <string.h>

#include "base/size.h"
#include "runtime/files/stored.h"

enum { FRONT = 4, LENGTH = 4, HEADER_MOST = FRONT + LENGTH * TL_MAX_RANK };

static bool find_type(unsigned char code, uint32_t *out) {
    for (uint32_t i = 0; i < STORED_TYPES; i++)
        if (tl__stored_kinds[i].idx != 0 && tl__stored_kinds[i].idx == code) {
            *out = i;
            return true;
        }
    return false;
}

/* b: the beginning, of which `there` bytes are there. */
static bool read_header(const unsigned char *b, size_t there, tl__stored *s, tl__table *t) {
    if (there < FRONT || b[0] != 0 || b[1] != 0)
        return tl__table_refuse(t, "it does not begin as an IDX file");
    if (!find_type(b[2], &s->type))
        return tl__table_refuse(t, "its elements are of the type 0x%02x; IDX has 08, 09, 0b, 0c, 0d and 0e", b[2]);
    if (b[3] > TL_MAX_RANK)
        return tl__table_refuse(t, "it has %u dimensions, at most %d are read", b[3], TL_MAX_RANK);
    s->rank = b[3];
    s->skip = FRONT + LENGTH * (size_t)s->rank;
    if (there < s->skip)
        return tl__table_refuse(t, "it ends within its header");
    for (int d = 0; d < s->rank; d++) {
        const unsigned char *at = b + FRONT + LENGTH * d;
        s->shape[d] = (int64_t)((uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3]);
    }
    s->swapped = tl__stored_kinds[s->type].bytes > 1;
    return true;
}

bool tl__idx_read(const tl__bytes *file, tl__table *t) {
    tl__stored *s = tl__table_add(t);
    if (!s)
        return false;
    unsigned char begin[HEADER_MOST];
    size_t there = masu__min(file->length, HEADER_MOST);
    s->name = "array";
    s->bytes = file->data;
    s->length = file->length;
    s->packing = file->data[0] == 0x1f ? TL_PACKED_GZIP : TL_PACKED_NOT;
    if (s->packing == TL_PACKED_GZIP)
        there = tl__unpack_begin(TL_PACKED_GZIP, file->data, file->length, begin, sizeof begin);
    else
        memcpy(begin, file->data, there);
    if (!read_header(begin, there, s, t))
        return false;
    size_t wanted = 0;
    bool countable = tl__stored_count(s) && masu__mul(s->elements, tl__stored_kinds[s->type].bytes, &wanted) &&
                     masu__add(wanted, s->skip, &wanted);
    if (!countable)
        return tl__table_refuse(t, "its shape has too many elements to count");
    bool fits = s->packing == TL_PACKED_NOT ? wanted == s->length
                                            : tl__unpack_may_give(TL_PACKED_GZIP, s->length, wanted);
    if (!fits)
        return tl__table_refuse(t, "its header says %zu bytes, and there are %zu%s", wanted, s->length,
                                s->packing == TL_PACKED_NOT ? "" : " of gzip");
    return tl__table_close(t);
}
