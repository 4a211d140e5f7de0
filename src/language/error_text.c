/* error_text.c: see error_text.h. */
#include "language/error_text.h"

#include <string.h>

#include "language/diagnose/diagnostics.h"

static ir_site site_at(const error_places *p, uint32_t site) {
    return site < p->site_count ? p->sites[site] : (ir_site){0};
}

static bool hidden(const error_places *p, uint32_t site) {
    const source_file *file = site_at(p, site).span.file;
    return file && file == p->prelude;
}

static void put_call(const error_places *p, uint32_t number, masu__buffer *out) {
    ir_site site = site_at(p, number);
    if (hidden(p, number))
        return;
    char text[160] = "called from here";
    if (site.function && strlen(site.function) < 128) {
        strcpy(text, "called from `");
        strcat(text, site.function);
        strcat(text, "`");
    }
    diagnostic_render_entry(site.span, "note", text, out);
}

/* The middle of a deep stack is left out: it comes behind the inner half of the sites. */
static void put_calls(const error_places *p, const uint32_t *sites, uint32_t count, uint64_t omitted,
                      masu__buffer *out) {
    for (uint32_t i = 1; i < count; i++) {
        if (omitted > 0 && i == count / 2) {
            masu__buffer_puts(out, "note: … ");
            masu__buffer_put_grouped(out, omitted);
            masu__buffer_puts(out, " more calls …\n");
        }
        put_call(p, sites[i], out);
    }
}

enum { LONGEST_QUOTE = 60 };

/* "add: shapes [2] and [3] cannot be broadcast" is said as it is when the compiler finds it: without the operation's
 * name, with the source that names the values. */
static void put_message(const masu_run_error *error, const char *message, source_span place, masu__buffer *out) {
    const char *text = place.file ? place.file->text + place.offset : NULL;
    bool quoted = error->is_quoted && message == error->message && text && place.length > 0 &&
                  place.length <= LONGEST_QUOTE && !memchr(text, '\n', place.length);
    masu__buffer_puts(out, quoted ? message + error->name_length : message);
    if (!quoted)
        return;
    masu__buffer_puts(out, " in `");
    masu__buffer_append(out, text, place.length);
    masu__buffer_putc(out, '`');
}

/* "`a` has shape [3, 4]", where it is known which tensors the operation reads, as many as the message has shapes of. */
static void put_operands(const masu_run_error *error, const ir_site *site, masu__buffer *out) {
    int known = (site->operands[0].span.file != NULL) + (site->operands[1].span.file != NULL);
    int read = (error->shapes[0].length > 0) + (error->shapes[1].length > 0);
    for (int o = 0; o < read && known == read; o++) {
        source_span span = site->operands[o].span;
        masu__buffer text = {0};
        if (!span.file)
            return;
        const char *written = span.file->text + span.offset;
        bool quoted = span.length <= LONGEST_QUOTE && !memchr(written, '\n', span.length);
        if (site->operands[o].name)
            masu__buffer_printf(&text, "`%s`", site->operands[o].name);
        else
            masu__buffer_printf(&text, "`%.*s`", quoted ? (int)span.length : 11, quoted ? written : "this tensor");
        masu__buffer_printf(&text, " has shape %.*s", (int)error->shapes[o].length,
                            error->message + error->shapes[o].at);
        diagnostic_render_entry(span, "note", masu__buffer_text(&text), out);
        out->failed |= text.failed;
        masu__buffer_destroy(&text);
    }
}

/* The operation on tensors that the program called, of one that is written in the language; NULL: none. */
static const char *called_operation(const error_places *p, uint32_t outermost) {
    static const char owner[] = "Tensor::";
    const char *function = site_at(p, outermost).function;
    bool named = function && strncmp(function, owner, sizeof owner - 1) == 0;
    const char *name = named ? function + sizeof owner - 1 : NULL;
    return name && strncmp(name, "__", 2) != 0 ? name : NULL;
}

/* An error inside the operations that are written in the language, in the words of the one that was called:
 * "kthvalue: index 4 …", never in those of an inner one. */
static const char *in_words_of(const char *operation, const masu_run_error *error, masu__buffer *room) {
    const char *words = error->message + error->name_length;
    if (operation == NULL || error->is_said)
        return error->message;
    masu__buffer_printf(room, "%s: %s", operation, words);
    return room->failed ? words : masu__buffer_text(room);
}

void error_text_put(const error_places *p, const masu_run_error *error, masu__buffer *out) {
    const uint32_t *sites = error->sites;
    uint32_t count = error->site_count;
    const char *operation = NULL, *message = error->message;
    masu__buffer room = {0}, shown = {0};
    bool in_library = count > 1 && hidden(p, sites[0]);
    while (count > 1 && hidden(p, sites[0])) {
        operation = called_operation(p, sites[0]);
        sites++; /* `unwrap` is written in the language: what matters is where it was called */
        count--;
    }
    ir_site site = site_at(p, count > 0 ? sites[0] : 0);
    source_span place = count > 0 ? site.span : (source_span){0};
    if (in_library)
        message = in_words_of(operation, error, &room);
    put_message(error, message, place, &shown);
    diagnostic_render_entry(place, error->is_warning ? "warning" : "error", masu__buffer_text(&shown), out);
    out->failed |= shown.failed;
    masu__buffer_destroy(&shown);
    masu__buffer_destroy(&room);
    if (site.span.file)
        put_operands(error, &site, out);
    if (error->help)
        diagnostic_render_entry((source_span){0}, "note", error->help, out);
    if (error->related_site)
        diagnostic_render_entry(site_at(p, error->related_site).span, "note", error->related_text, out);
    put_calls(p, sites, count, error->omitted, out);
}
