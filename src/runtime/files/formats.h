/* formats.h: what is written in front of the elements, in each format. Private to the runtime.
 */
#ifndef MASU_RUNTIME_FORMATS_H
#define MASU_RUNTIME_FORMATS_H

#include <masu/abi.h>

#include "base/buffer.h"

/* The header of one array in row-major order. */
void tl__npy_write_header(masu__buffer *out, tl_dtype dtype, int rank, const int64_t *shape);

typedef struct tl__outgoing {
    const char *name;
    size_t name_length;
    tl_dtype dtype;
    int rank;
    const int64_t *shape; /* borrowed */
    size_t bytes;         /* of the elements */
    uint32_t sum;         /* npz: CRC-32 of header and elements */
    uint64_t place;       /* npz: where its entry begins */
} tl__outgoing;

/* Header and padding, with the elements of all behind it in this order. notes: keys and values, each ends with a
 * zero. */
void tl__safetensors_write_header(masu__buffer *out, const tl__outgoing *items, size_t count, const char *notes,
                                  size_t note_count);

/* The bytes in front of an entry, whose NumPy header is `header` bytes; and the directory behind the last entry,
 * which begins at `begin`. */
void tl__zip_write_entry(masu__buffer *out, const tl__outgoing *item, size_t header);
void tl__zip_write_directory(masu__buffer *out, const tl__outgoing *items, size_t count, uint64_t begin);

#endif
