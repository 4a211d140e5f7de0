/* program_answers.c: what a compiled program says: its messages, its explanation, errors while it runs, and what
 * editors ask. Nothing here changes the program. */
#include <stdio.h>
#include <string.h>

#include "language/error_text.h"
#include "language/front/lookup.h"
#include "language/pass/pass.h"
#include "language/program.h"
#include "language/syntax/format.h"
#include "language/syntax/macros.h"
#include "language/syntax/parser.h"

/* ---- what it says ------------------------------------------------------------------------------------------------ */

size_t masu_program_error_count(const masu_program *p) {
    return p->error_count;
}

const char *masu_program_diagnostics(const masu_program *p) {
    return masu__buffer_text(&p->rendered);
}

const char *masu_program_dump(const masu_program *p) {
    return masu__buffer_text(&p->dump);
}

const char *masu_program_explain(masu_program *p, masu_explain_form form) {
    masu__buffer_truncate(&p->explained, 0);
    if (p->module)
        pass_explain_as(p->module, &p->file, form, &p->explained);
    return masu__buffer_text(&p->explained);
}

void (*masu_program_entry(const masu_program *p))(void) {
    return p->code ? p->generator->entry(p->code) : NULL;
}

const masu_module *masu_program_module(const masu_program *p) {
    return p->shown_module;
}

/* ---- errors of the running program ------------------------------------------------------------------------------- */

const char *masu_program_format_error(masu_program *p, const masu_run_error *error) {
    error_places places = {p->sites, p->site_count, &p->prelude};
    masu__buffer_truncate(&p->error, 0);
    error_text_put(&places, error, &p->error);
    return masu__buffer_text(&p->error);
}

const char *masu_program_path(const masu_program *p) {
    return p->file.path;
}

bool masu_program_site(const masu_program *p, uint32_t site, masu_place_info *out) {
    if (site >= p->site_count || !p->sites[site].span.file || p->sites[site].span.file == &p->prelude)
        return false;
    source_span span = p->sites[site].span;
    source_place place = source_place_of(span);
    *out = (masu_place_info){.text = p->sites[site].function,
                             .path = span.file->path,
                             .line = place.line,
                             .column = place.column,
                             .length = span.length};
    return true;
}

masu_object masu_program_object(const masu_program *p, unsigned number) {
    masu_object object = {0};
    if (p->code)
        object.data = p->generator->object(p->code, number, &object.length);
    return object;
}

/* ---- formatting -------------------------------------------------------------------------------------------------- */

masu_status masu_format(const char *path, const char *text, size_t length, masu_text *formatted, masu_text *said) {
    masu__arena arena = {0};
    source_file file;
    diagnostics found;
    syntax_tree *tree = NULL;
    masu__buffer out = {0}, messages = {0};
    diagnostics_init(&found, &arena);
    masu_status status = source_file_init(&file, &arena, path, text, length);
    source_file read = file; /* without macros */
    if (status == MASU_OK)
        status = macros_expand(&read, &arena, &found);
    if (status == MASU_OK)
        status = parse_source(&read, NULL, &arena, &found, NULL, &tree);
    if (status == MASU_OK && found.error_count == 0)
        status = format_source(&file, &arena, &found, &out);
    diagnostics_render(&found, &messages);
    if (status == MASU_OK && found.error_count > 0)
        status = MASU_ERR_SYNTAX;
    masu__arena_destroy(&arena);
    *formatted = masu__text_of(&out);
    *said = masu__text_of(&messages);
    return status;
}

/* ---- for editors ------------------------------------------------------------------------------------------------- */

bool masu_program_diagnostic(const masu_program *p, size_t number, masu_diagnostic_info *out) {
    if (number >= p->found_count)
        return false;
    *out = p->found[number];
    return true;
}

static uint32_t offset_of(const source_file *file, uint32_t line, uint32_t column, bool utf16) {
    if (line == 0 || line > file->line_count)
        return (uint32_t)file->length;
    uint32_t at = file->line_starts[line - 1];
    for (uint32_t passed = 1; passed < column && at < file->length && file->text[at] != '\n';) {
        passed += utf16 && (unsigned char)file->text[at] >= 0xF0 ? 2 : 1;
        do
            at++;
        while (at < file->length && ((unsigned char)file->text[at] & 0xC0) == 0x80);
    }
    return at;
}

static const source_file *file_named(const masu_program *p, const char *path) {
    if (!path || strcmp(path, p->file.path) == 0)
        return &p->file;
    for (size_t i = 0; i < p->module_count; i++)
        if (strcmp(p->modules[i]->path, path) == 0)
            return p->modules[i];
    return NULL;
}

static void put_where(masu_program *p, const lookup_result *found) {
    masu__buffer where = {0}, element = {0};
    if (type_is(found->type, TYPE_TENSOR) && found->type->tensor.element)
        type_print(found->type->tensor.element, &element);
    else
        masu__buffer_puts(&element, "f32"); /* what a tensor holds of which nothing more is known */
    if (found->is_variable && p->module)
        pass_where(p->module, found->name, masu__buffer_text(&element), found->declared, found->until, &where);
    if (where.length > 0)
        masu__buffer_printf(&p->shown, "\n%s", masu__buffer_text(&where));
    diagnostics_plain_names(&p->shown);
    masu__buffer_destroy(&where);
    masu__buffer_destroy(&element);
}

bool masu_program_look_up(masu_program *p, const char *path, uint32_t line, uint32_t column, bool utf16,
                          masu_place_info *out) {
    lookup_result found;
    const source_file *file = file_named(p, path);
    if (!p->tree || p->error_count > 0 || !file ||
        !lookup_at(p->tree, file, offset_of(file, line, column, utf16), &found))
        return false;
    masu__buffer_truncate(&p->shown, 0);
    bool own = found.declared.file != &p->prelude || !strstr(found.name ? found.name : "", "__");
    if (found.name && found.name[0] != '<' && own)
        masu__buffer_printf(&p->shown, "%s: ", found.name);
    diagnostics_plain_names(&p->shown);
    const size_t type_at = p->shown.length;
    type_print(found.type, &p->shown);
    diagnostics_plain_names(&p->shown);
    const size_t type_length = p->shown.length - type_at;
    put_where(p, &found);
    source_place place = source_place_of(found.declared);
    bool known = found.declared.file && found.declared.file != &p->prelude;
    *out = (masu_place_info){.text = masu__buffer_text(&p->shown),
                             .type = masu__buffer_text(&p->shown) + type_at,
                             .type_length = type_length,
                             .path = known ? found.declared.file->path : NULL,
                             .line = place.line,
                             .column = place.column,
                             .length = found.declared.length};
    if (known) {
        out->column16 = source_utf16_column(found.declared);
        out->length16 = source_utf16_units(found.declared.file, found.declared.offset,
                                           found.declared.offset + found.declared.length);
    }
    return true;
}
