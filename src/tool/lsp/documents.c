/* documents.c: see lsp.h. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/lsp/lsp.h"

enum { FILE_MAX = 16 << 20 };

/* ---- names ----------------------------------------------------------------------------------- */

static int hexadecimal(char c) {
    return isdigit((unsigned char)c) ? c - '0' : isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10 : -1;
}

/* file:///a%20b.tl is /a b.tl */
static void put_path(const char *uri, masu__buffer *out) {
    const char *at = strncmp(uri, "file://", 7) == 0 ? uri + 7 : uri;
    for (; *at; at++) {
        if (*at == '%' && hexadecimal(at[1]) >= 0 && hexadecimal(at[2]) >= 0) {
            masu__buffer_putc(out, (char)(hexadecimal(at[1]) * 16 + hexadecimal(at[2])));
            at += 2;
        } else {
            masu__buffer_putc(out, *at);
        }
    }
}

static bool same_path(const masu__buffer *a, const char *path) {
    return strcmp(masu__buffer_text(a), path) == 0;
}

static bool reads(const lsp_document *d, const char *path) {
    for (size_t i = 0; i < d->module_count; i++)
        if (same_path(&d->modules[i], path))
            return true;
    return false;
}

/* The open document that has d as a module. */
static lsp_document *owner_of(lsp_server *s, const lsp_document *d) {
    for (int i = 0; i < LSP_DOCUMENTS_MAX; i++) {
        lsp_document *other = &s->documents[i];
        if (other->open && other != d && reads(other, masu__buffer_text(&d->path)))
            return other;
    }
    return NULL;
}

lsp_document *lsp_find(lsp_server *s, json_value uri) {
    masu__buffer wanted = {0};
    lsp_document *found = NULL;
    bool is_text = json_string(uri, &wanted);
    for (int i = 0; is_text && i < LSP_DOCUMENTS_MAX && !found; i++) {
        lsp_document *d = &s->documents[i];
        if (d->open && same_path(&d->uri, masu__buffer_text(&wanted)))
            found = d;
    }
    masu__buffer_destroy(&wanted);
    return found;
}

/* ---- compiling ------------------------------------------------------------------------------- */

static bool read_file(const char *path, masu__buffer *out) {
    char chunk[4096];
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    for (size_t got; (got = fread(chunk, 1, sizeof chunk, file)) > 0 && out->length < FILE_MAX;)
        masu__buffer_append(out, chunk, got);
    bool fine = !ferror(file) && !out->failed;
    fclose(file);
    return fine;
}

/* The editor's text where it has one, else the file's. */
static const char *read_module(void *user, const char *path, size_t *length) {
    lsp_server *s = user;
    lsp_document *d = s->compiling;
    const masu__buffer *text = NULL;
    for (int i = 0; i < LSP_DOCUMENTS_MAX; i++)
        if (s->documents[i].open && same_path(&s->documents[i].path, path))
            text = &s->documents[i].text;
    if (!text) {
        if (s->text_count == LSP_MODULES_MAX || !read_file(path, &s->texts[s->text_count]))
            return NULL;
        text = &s->texts[s->text_count++];
    }
    if (d->module_count < LSP_MODULES_MAX)
        masu__buffer_puts(&d->modules[d->module_count++], path);
    *length = text->length;
    return masu__buffer_text(text);
}

static void drop_program(lsp_document *d) {
    if (d->program != d->good)
        masu_program_destroy(d->program);
    d->program = NULL;
}

static void drop_modules(lsp_document *d) {
    for (size_t i = 0; i < d->module_count; i++)
        masu__buffer_destroy(&d->modules[i]);
    d->module_count = 0;
}

/* A file without `main` may be a module of a program that is not open. */
static bool misses_main(const masu_diagnostic_info *info) {
    return info->misses_main && info->line <= 1 && info->column <= 1;
}

/* Nothing is wrong with it but that: it is asked about as if it had one. */
static bool is_module(const lsp_document *d) {
    masu_diagnostic_info info;
    bool alone = d->program && masu_program_error_count(d->program) == 1, misses = false;
    for (size_t i = 0; alone && masu_program_diagnostic(d->program, i, &info); i++)
        misses |= info.is_error && misses_main(&info);
    return misses;
}

static void compile(lsp_server *s, lsp_document *d) {
    masu_compile_options options = {.until = MASU_STAGE_PASSES, .read = read_module, .user = s};
    drop_program(d);
    drop_modules(d);
    s->compiling = d;
    masu_program_compile(masu__buffer_text(&d->path), masu__buffer_text(&d->text), d->text.length, &options,
                         &d->program);
    if (is_module(d)) {
        masu__buffer whole = {0};
        masu__buffer_printf(&whole, "%s\nfn main() {}\n", masu__buffer_text(&d->text));
        drop_program(d);
        drop_modules(d);
        masu_program_compile(masu__buffer_text(&d->path), masu__buffer_text(&whole), whole.length, &options,
                             &d->program);
        masu__buffer_destroy(&whole);
    }
    for (size_t i = 0; i < s->text_count; i++)
        masu__buffer_destroy(&s->texts[i]);
    s->text_count = 0;
    if (d->program && masu_program_error_count(d->program) == 0) {
        masu_program_destroy(d->good);
        d->good = d->program;
        masu__buffer_truncate(&d->good_text, 0);
        masu__buffer_append(&d->good_text, masu__buffer_text(&d->text), d->text.length);
    }
}

/* ---- what was said --------------------------------------------------------------------------- */

static void put_diagnostic(lsp_server *s, const masu_diagnostic_info *info) {
    masu__buffer message = {0};
    masu__buffer_puts(&message, info->message);
    if (info->note)
        masu__buffer_printf(&message, "\n%s", info->note);
    masu__buffer_puts(&s->out, "{\"range\":");
    lsp_put_range(s, info->line, info->column16, info->end_line, info->end_column16);
    masu__buffer_printf(&s->out, ",\"severity\":%d,", info->is_error ? 1 : 2);
    if (info->kind)
        masu__buffer_printf(&s->out, "\"code\":\"%s\",", info->kind->code);
    masu__buffer_puts(&s->out, "\"source\":\"masu\",\"message\":");
    masu__buffer_json_string(&s->out, masu__buffer_text(&message), message.length);
    masu__buffer_putc(&s->out, '}');
    masu__buffer_destroy(&message);
}

/* The diagnostics of one of d's files; without a place: of d itself. */
static bool concerns(const lsp_document *d, const masu_diagnostic_info *info, const char *path) {
    const char *where = info->path ? info->path : masu__buffer_text(&d->path);
    return strcmp(where, path) == 0 && !misses_main(info);
}

static size_t count_of(const lsp_document *d, const char *path) {
    masu_diagnostic_info info;
    size_t count = 0;
    for (size_t i = 0; d->program && masu_program_diagnostic(d->program, i, &info); i++)
        count += concerns(d, &info, path);
    return count;
}

static void publish_file(lsp_server *s, const lsp_document *d, const char *path) {
    masu_diagnostic_info info;
    size_t shown = 0;
    lsp_begin(s);
    masu__buffer_puts(&s->out, "\"method\":\"textDocument/publishDiagnostics\",\"params\":{\"uri\":");
    lsp_put_uri(s, path);
    masu__buffer_puts(&s->out, ",\"diagnostics\":[");
    for (size_t i = 0; d->program && masu_program_diagnostic(d->program, i, &info); i++) {
        if (!concerns(d, &info, path))
            continue;
        masu__buffer_puts(&s->out, shown++ ? "," : "");
        put_diagnostic(s, &info);
    }
    masu__buffer_puts(&s->out, "]}");
    lsp_send(s);
}

static bool listed(const masu__buffer *list, const char *path) {
    const char *found = strstr(masu__buffer_text(list), path);
    return found && found > list->data && found[-1] == '\n' && found[strlen(path)] == '\n';
}

static bool is_open(const lsp_server *s, const char *path) {
    for (int i = 0; i < LSP_DOCUMENTS_MAX; i++)
        if (s->documents[i].open && same_path(&s->documents[i].path, path))
            return true;
    return false;
}

/* Its own file always; modules when there is something to say, or there was, or they are open. */
static void publish(lsp_server *s, lsp_document *d) {
    masu__buffer now = {0};
    publish_file(s, d, masu__buffer_text(&d->path));
    masu__buffer_putc(&now, '\n');
    for (size_t i = 0; i < d->module_count; i++) {
        const char *path = masu__buffer_text(&d->modules[i]);
        size_t count = count_of(d, path);
        if (count > 0 || listed(&d->said_of, path) || is_open(s, path))
            publish_file(s, d, path);
        if (count > 0)
            masu__buffer_printf(&now, "%s\n", path);
    }
    masu__buffer_destroy(&d->said_of);
    d->said_of = now;
}

/* ---- documents ------------------------------------------------------------------------------- */

static lsp_document *open_document(lsp_server *s, json_value uri) {
    for (int i = 0; i < LSP_DOCUMENTS_MAX; i++) {
        lsp_document *d = &s->documents[i];
        if (d->open)
            continue;
        if (!json_string(uri, &d->uri)) {
            masu__buffer_destroy(&d->uri);
            return NULL;
        }
        put_path(masu__buffer_text(&d->uri), &d->path);
        d->open = true;
        return d;
    }
    return NULL;
}

static void refresh(lsp_server *s, lsp_document *d) {
    compile(s, d);
    publish(s, d);
}

void lsp_take_text(lsp_server *s, json_value uri, json_value text) {
    lsp_document *d = lsp_find(s, uri);
    masu__buffer new_text = {0};
    if (!json_string(text, &new_text) || (!d && !(d = open_document(s, uri)))) {
        masu__buffer_destroy(&new_text);
        return;
    }
    masu__buffer_destroy(&d->text);
    d->text = new_text;
    if (!owner_of(s, d)) {
        refresh(s, d);
        return;
    }
    drop_program(d);
    drop_modules(d);
    for (int i = 0; i < LSP_DOCUMENTS_MAX; i++)
        if (s->documents[i].open && reads(&s->documents[i], masu__buffer_text(&d->path)))
            refresh(s, &s->documents[i]);
}

void lsp_close(lsp_server *s, lsp_document *d) {
    drop_program(d);
    drop_modules(d);
    masu_program_destroy(d->good);
    masu__buffer_destroy(&d->uri);
    masu__buffer_destroy(&d->path);
    masu__buffer_destroy(&d->text);
    masu__buffer_destroy(&d->good_text);
    masu__buffer_destroy(&d->said_of);
    *d = (lsp_document){0};
    (void)s;
}

void lsp_forget(lsp_server *s) {
    for (int i = 0; i < LSP_DOCUMENTS_MAX; i++)
        lsp_close(s, &s->documents[i]);
    masu__buffer_destroy(&s->message);
    masu__buffer_destroy(&s->out);
}

/* ---- places ---------------------------------------------------------------------------------- */

static const char *line_of(const masu__buffer *text, uint32_t line, size_t *length) {
    const char *at = masu__buffer_text(text);
    for (; line > 0 && at; line--) {
        at = strchr(at, '\n');
        at = at ? at + 1 : NULL;
    }
    *length = at ? strcspn(at, "\n") : 0;
    return at;
}

static uint32_t line_count(const masu__buffer *text) {
    uint32_t count = 0;
    for (size_t i = 0; i < text->length; i++)
        count += text->data[i] == '\n';
    return count;
}

static bool same_line(const lsp_document *d, uint32_t now, uint32_t then) {
    size_t now_length, then_length;
    const char *a = line_of(&d->text, now, &now_length), *b = line_of(&d->good_text, then, &then_length);
    return a && b && now_length == then_length && memcmp(a, b, now_length) == 0;
}

/* The line of the last right text that is this one: counted from the start, or from the end. */
static bool line_then(const lsp_document *d, uint32_t *line) {
    int64_t shift = (int64_t)line_count(&d->good_text) - (int64_t)line_count(&d->text);
    int64_t from_end = (int64_t)*line + shift;
    if (same_line(d, *line, *line))
        return true;
    if (from_end < 0 || from_end > UINT32_MAX || !same_line(d, *line, (uint32_t)from_end))
        return false;
    *line = (uint32_t)from_end;
    return true;
}

bool lsp_look_up(lsp_server *s, lsp_document *d, uint32_t line, uint32_t column, masu_place_info *out) {
    lsp_document *owner = owner_of(s, d);
    lsp_document *whole = owner ? owner : d;
    if (!whole->good || (whole->program != whole->good && !owner && !line_then(d, &line)))
        return false;
    return masu_program_look_up(whole->good, masu__buffer_text(&d->path), line + 1, column + 1, true, out);
}
