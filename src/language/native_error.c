/* native_error.c: what an executable of `masu build` needs of the language: its errors as text, from the
 * places and sources that it carries as data. Links without the compiler. */
#include <string.h>

#include "base/meta.h"
#include "language/error_text.h"

masu_text masu__text_of(masu__buffer *buffer) {
    masu_text text = {.length = buffer->length};
    text.data = masu__buffer_take(buffer, &text.capacity);
    masu__buffer_destroy(buffer);
    return text;
}

void masu_text_free(masu_text *text) {
    masu__meta_free(text->data, text->capacity);
    *text = (masu_text){0};
}

static bool read_places(const masu_native_program *program, masu__arena *arena, error_places *places) {
    source_file *files = MASU_ARENA_ARRAY(arena, source_file, program->file_count + 1);
    ir_site *sites = MASU_ARENA_ARRAY(arena, ir_site, program->site_count + 1);
    if (!files || !sites)
        return false;
    for (uint64_t f = 0; f < program->file_count; f++) {
        const masu_native_file *from = &program->files[f];
        if (source_file_init(&files[f], arena, from->path, from->text, from->length) != MASU_OK)
            return false;
    }
    for (uint64_t s = 0; s < program->site_count; s++) {
        const masu_native_site *from = &program->sites[s];
        sites[s].function = from->function;
        if (from->file)
            sites[s].span = source_span_make(&files[from->file - 1], from->offset, from->length);
        for (int o = 0; o < IR_SITE_OPERANDS; o++) {
            sites[s].operands[o].name = from->operands[o].name;
            if (from->file && from->operands[o].length > 0)
                sites[s].operands[o].span = source_span_make(&files[from->file - 1], from->operands[o].offset,
                                                             from->operands[o].length);
        }
    }
    *places = (error_places){.sites = sites,
                             .site_count = (uint32_t)program->site_count,
                             .prelude = program->prelude ? &files[program->prelude - 1] : NULL};
    return true;
}

bool masu_native_place(const masu_native_program *program, uint32_t site, masu_place_info *out) {
    const masu_native_site *from = site < program->site_count ? &program->sites[site] : NULL;
    if (!from || !from->file || from->file == program->prelude)
        return false;
    const masu_native_file *file = &program->files[from->file - 1];
    *out = (masu_place_info){.text = from->function,
                             .path = from->file == program->file ? NULL : file->path,
                             .line = 1,
                             .length = from->length};
    const char *line = file->text, *at = file->text + (from->offset < file->length ? from->offset : file->length);
    for (const char *end; (end = memchr(line, '\n', (size_t)(at - line))) != NULL; line = end + 1)
        out->line++;
    out->column = (uint32_t)(at - line) + 1;
    return true;
}

masu_status masu_native_format_error(const masu_native_program *program, const masu_run_error *error, masu_text *out) {
    masu__arena arena = {0};
    masu__buffer text = {0};
    error_places places;
    bool read = read_places(program, &arena, &places);
    if (read)
        error_text_put(&places, error, &text);
    masu__arena_destroy(&arena);
    if (!read || text.failed) {
        masu__buffer_destroy(&text);
        return MASU_ERR_OUT_OF_MEMORY;
    }
    *out = masu__text_of(&text);
    return MASU_OK;
}
