/* weights_file.c: a .safetensors file for the command, which has no program and no runtime: names and shapes at once,
 * elements when they are asked for. */
#include <errno.h>
#include <string.h>

#include "base/meta.h"
#include "runtime/files/stored.h"
#include "runtime/runtime.h"

struct tl_weights_file {
    tl__bytes bytes;
    tl__table table;
};

masu_status tl_weights_open(const char *path, tl_weights_file **out, masu__buffer *why) {
    tl_weights_file *file = masu__meta_calloc(1, sizeof *file);
    if (!file)
        return MASU_ERR_OUT_OF_MEMORY;
    file->bytes.descriptor = -1;
    int error = tl__bytes_open(path, &file->bytes);
    bool begins = tl__safetensors_is(&file->bytes) || (file->bytes.length > 8 && file->bytes.data[8] == '{');
    bool right = error == 0 && begins && tl__safetensors_read(&file->bytes, &file->table);
    if (right && tl__bytes_there(&file->bytes)) {
        *out = file;
        return MASU_OK;
    }
    masu_status status = file->table.out_of_memory ? MASU_ERR_OUT_OF_MEMORY : MASU_ERR_INVALID_ARGUMENT;
    const char *words = file->table.words[0] ? file->table.words : "it is not a .safetensors file";
    masu__buffer_puts(why, error == EINVAL ? "it is not a regular file"
                           : error != 0    ? strerror(error)
                           : right         ? "it was cut off while it was opened"
                                           : words);
    tl_weights_close(file);
    return status;
}

void tl_weights_close(tl_weights_file *file) {
    if (!file)
        return;
    tl__table_destroy(&file->table);
    tl__bytes_close(&file->bytes);
    masu__meta_free(file, sizeof *file);
}

size_t tl_weights_count(const tl_weights_file *file) {
    return file->table.count;
}

tl_weights_item tl_weights_number(const tl_weights_file *file, size_t number) {
    const tl__stored *s = &file->table.items[number];
    tl_weights_item item = {s->name, tl__stored_kinds[s->type].name, s->rank, s->shape, 0};
    for (uint32_t d = 0; d < TL_DTYPE_COUNT; d++)
        item.fits |= tl__stored_widens(s->type, (tl_dtype)d) ? 1u << d : 0;
    return item;
}

const char *tl_weights_read(tl_weights_file *file, size_t number, masu_element element, void *to) {
    if (tl__stored_read(&file->bytes, &file->table.items[number], (tl_dtype)element, to, &file->table))
        return NULL;
    return file->table.words[0] ? file->table.words : "out of memory";
}
