/* zip_write.c: what is around the arrays of a .npz file: stored entries, with zip64 where 32 bits are too few. */
#include <string.h>

#include "runtime/files/formats.h"

enum { VERSION = 20, VERSION64 = 45, DATE = 0x21 /* 1980-01-01: equal tensors, equal files */, UTF8 = 0x800 };

static const char ending[] = ".npy";

static void put(masu__buffer *out, uint64_t value, int bytes) {
    char b[8];
    for (int i = 0; i < bytes; i++)
        b[i] = (char)(value >> (8 * i) & 255);
    masu__buffer_append(out, b, (size_t)bytes);
}

static bool is_large(uint64_t value) {
    return value >= UINT32_MAX;
}

static uint32_t short_of(uint64_t value) {
    return is_large(value) ? UINT32_MAX : (uint32_t)value;
}

/* From the version on, up to the length of the extra field. */
static void put_common(masu__buffer *out, const tl__outgoing *item, uint64_t bytes, size_t extra) {
    put(out, extra > 0 ? VERSION64 : VERSION, 2);
    put(out, UTF8, 2);
    put(out, 0, 2); /* stored */
    put(out, 0, 2);
    put(out, DATE, 2);
    put(out, item->sum, 4);
    put(out, short_of(bytes), 4);
    put(out, short_of(bytes), 4);
    put(out, item->name_length + sizeof ending - 1, 2);
    put(out, extra, 2);
}

static void put_name(masu__buffer *out, const tl__outgoing *item) {
    masu__buffer_append(out, item->name, item->name_length);
    masu__buffer_puts(out, ending);
}

void tl__zip_write_entry(masu__buffer *out, const tl__outgoing *item, size_t header) {
    uint64_t bytes = header + item->bytes;
    size_t extra = is_large(bytes) ? 20 : 0;
    masu__buffer_append(out, "PK\3\4", 4);
    put_common(out, item, bytes, extra);
    put_name(out, item);
    if (extra > 0) {
        put(out, 1, 2);
        put(out, 16, 2);
        put(out, bytes, 8);
        put(out, bytes, 8);
    }
}

static void put_record(masu__buffer *out, const tl__outgoing *item) {
    masu__buffer header = {0};
    tl__npy_write_header(&header, item->dtype, item->rank, item->shape);
    uint64_t bytes = header.length + item->bytes;
    out->failed = out->failed || header.failed;
    masu__buffer_destroy(&header);
    size_t values = (is_large(bytes) ? 16 : 0) + (is_large(item->place) ? 8 : 0), extra = values ? values + 4 : 0;
    masu__buffer_append(out, "PK\1\2", 4);
    put(out, VERSION64, 2);
    put_common(out, item, bytes, extra);
    put(out, 0, 2); /* no comment, the first disk, no attributes */
    put(out, 0, 2);
    put(out, 0, 2);
    put(out, 0, 4);
    put(out, short_of(item->place), 4);
    put_name(out, item);
    if (extra > 0) {
        put(out, 1, 2);
        put(out, values, 2);
    }
    if (is_large(bytes)) {
        put(out, bytes, 8);
        put(out, bytes, 8);
    }
    if (is_large(item->place))
        put(out, item->place, 8);
}

static void put_end64(masu__buffer *out, size_t count, uint64_t length, uint64_t begin) {
    masu__buffer_append(out, "PK\6\6", 4);
    put(out, 44, 8);
    put(out, VERSION64, 2);
    put(out, VERSION64, 2);
    put(out, 0, 4);
    put(out, 0, 4);
    put(out, count, 8);
    put(out, count, 8);
    put(out, length, 8);
    put(out, begin, 8);
    masu__buffer_append(out, "PK\6\7", 4);
    put(out, 0, 4);
    put(out, begin + length, 8);
    put(out, 1, 4);
}

void tl__zip_write_directory(masu__buffer *out, const tl__outgoing *items, size_t count, uint64_t begin) {
    size_t before = out->length;
    for (size_t i = 0; i < count; i++)
        put_record(out, &items[i]);
    uint64_t length = out->length - before;
    if (count >= 0xffff || is_large(length) || is_large(begin))
        put_end64(out, count, length, begin);
    masu__buffer_append(out, "PK\5\6", 4);
    put(out, 0, 4);
    put(out, count < 0xffff ? count : 0xffff, 2);
    put(out, count < 0xffff ? count : 0xffff, 2);
    put(out, short_of(length), 4);
    put(out, short_of(begin), 4);
    put(out, 0, 2);
}
