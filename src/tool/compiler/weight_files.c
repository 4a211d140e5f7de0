/* weight_files.c: `masu build --c --weights NAME=FILE.safetensors`: the files of weights, as the compiler asks. */
#include <stdio.h>
#include <string.h>

#include "base/meta.h"
#include "runtime/runtime.h"
#include "tool/compiler/compiler.h"
#include "tool/tool.h"

int tool_add_weights(tool_weights *all, const char *option) {
    const char *equals = strchr(option, '=');
    size_t length = equals ? (size_t)(equals - option) : 0;
    if (length == 0 || length >= sizeof all->names[0] || !equals[1])
        return tool_misuse("build", "--weights %s: NAME=FILE.safetensors is wanted", option);
    if (all->count == TOOL_MOST_WEIGHTS)
        return tool_misuse("build", "--weights: %d files at most", TOOL_MOST_WEIGHTS);
    memcpy(all->names[all->count], option, length);
    all->given[all->count].name = all->names[all->count];
    all->given[all->count].path = equals + 1;
    for (size_t k = 0; k < all->count; k++)
        if (strcmp(all->names[k], all->names[all->count]) == 0)
            return tool_misuse("build", "--weights: `%s` is there twice", all->names[k]);
    all->count++;
    return TOOL_OK;
}

static const char *read_item(void *file, size_t item, masu_element element, void *to) {
    return tl_weights_read(file, item, element, to);
}

static masu_status open_one(masu_weights *w, masu__buffer *why) {
    tl_weights_file *file = NULL;
    masu_status status = tl_weights_open(w->path, &file, why);
    if (status != MASU_OK)
        return status;
    w->user = file;
    w->read = read_item;
    masu_weight *items = masu__meta_calloc(tl_weights_count(file) + 1, sizeof *items);
    w->items = items;
    if (!items)
        return MASU_ERR_OUT_OF_MEMORY;
    for (; w->count < tl_weights_count(file); w->count++) {
        tl_weights_item item = tl_weights_number(file, w->count);
        items[w->count] = (masu_weight){item.name, item.type, item.rank, item.shape, item.fits};
    }
    return MASU_OK;
}

bool tool_open_weights(tool_weights *all) {
    for (size_t k = 0; k < all->count; k++) {
        masu__buffer why = {0};
        masu_status status = open_one(&all->given[k], &why);
        if (status != MASU_OK)
            fprintf(stderr, "masu build: --weights: cannot read %s: %s\n", all->given[k].path,
                    status == MASU_ERR_OUT_OF_MEMORY ? "out of memory" : masu__buffer_text(&why));
        masu__buffer_destroy(&why);
        if (status != MASU_OK)
            return false;
    }
    return true;
}

void tool_close_weights(tool_weights *all) {
    for (size_t k = 0; k < all->count; k++) {
        const masu_weights *w = &all->given[k];
        if (w->items)
            masu__meta_free((void *)(uintptr_t)w->items, (tl_weights_count(w->user) + 1) * sizeof *w->items);
        tl_weights_close(w->user);
    }
}
