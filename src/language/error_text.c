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

/* The middle of a deep stack is left out: it stands behind the inner half of the sites. */
static void put_calls(const error_places *p, const uint32_t *sites, uint32_t count,
                      uint64_t omitted, masu__buffer *out) {
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

/* "conv: the images have 3 channels, …" */
static bool is_refusal(const char *message) {
    size_t name = strspn(message, "abcdefghijklmnopqrstuvwxyz_0123456789");
    return name > 0 && strncmp(message + name, ": ", 2) == 0;
}

/* "add: shapes [2] and [3] cannot be broadcast" is said as it is when the compiler finds it: without the operation's
 * name, with the source that names the values. */
static void put_message(const char *message, source_span place, masu__buffer *out) {
    size_t name = strspn(message, "abcdefghijklmnopqrstuvwxyz_0123456789");
    bool of_shapes = strncmp(message + name, ": shape", 7) == 0 ||
                     strncmp(message + name, ": logits of shape", 17) == 0;
    const char *text = place.file ? place.file->text + place.offset : NULL;
    bool quoted = of_shapes && text && place.length > 0 && place.length <= LONGEST_QUOTE &&
                  !memchr(text, '\n', place.length);
    masu__buffer_puts(out, quoted ? message + name + 2 : message);
    if (!quoted)
        return;
    masu__buffer_puts(out, " in `");
    masu__buffer_append(out, text, place.length);
    masu__buffer_putc(out, '`');
}

/* "`a` has shape [3, 4]" where the message speaks of the shapes of what the operation reads, in their order: "shapes X and
 * Y …", "… shape X …". */
static void put_operands(const char *message, const ir_site *site, masu__buffer *out) {
    const char *at = strstr(message, "shape");
    int count = at && strncmp(at, "shapes ", 7) == 0 ? 2 : 1;
    bool all =
        (site->operands[0].span.file != NULL) + (site->operands[1].span.file != NULL) == count;
    at = at && all ? strchr(at, '[') : NULL; /* else nobody can tell which of them is meant */
    for (int o = 0; at && o < count; o++) {
        source_span span = site->operands[o].span;
        const char *end = strchr(at, ']');
        masu__buffer text = {0};
        if (!end || !span.file)
            return;
        const char *written = span.file->text + span.offset;
        bool quoted = span.length <= LONGEST_QUOTE && !memchr(written, '\n', span.length);
        if (site->operands[o].name)
            masu__buffer_printf(&text, "`%s`", site->operands[o].name);
        else
            masu__buffer_printf(&text, "`%.*s`", quoted ? (int)span.length : 11,
                                quoted ? written : "this tensor");
        masu__buffer_printf(&text, " has shape %.*s", (int)(end + 1 - at), at);
        diagnostic_render_entry(span, "note", masu__buffer_text(&text), out);
        out->failed |= text.failed;
        masu__buffer_destroy(&text);
        at = strchr(end, '[');
    }
}

/* Names what "… would change …" is about, and where it came to be. */
static void put_changed(const char *message, const ir_site *site, masu__buffer *out) {
    masu__buffer text = {0};
    if (!strstr(message, " would change ") || !site->operands[0].name ||
        !site->operands[0].span.file)
        return;
    masu__buffer_printf(&text, "`%s`, which would change, comes from here", site->operands[0].name);
    diagnostic_render_entry(site->operands[0].span, "note", masu__buffer_text(&text), out);
    out->failed |= text.failed;
    masu__buffer_destroy(&text);
}

const char *error_text_remedy(const char *message) {
    static const char *const known[][2] = {
        {"is not a single number",
         "`a.equal(b)` compares whole tensors, `m.all()` and `m.any()` are of a mask; `x.sum()` and `x[i]` are numbers"},
        {"backward needs a scalar", "`loss.sum()` and `loss.mean()` are one number"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strstr(message, known[i][0]))
            return known[i][1];
    return NULL;
}

/* The operation on tensors that the program called, of one that is written in the language; NULL: none. */
static const char *called_operation(const error_places *p, uint32_t outermost) {
    static const char owner[] = "Tensor::";
    const char *function = site_at(p, outermost).function;
    bool named = function && strncmp(function, owner, sizeof owner - 1) == 0;
    const char *name = named ? function + sizeof owner - 1 : NULL;
    return name && strncmp(name, "__", 2) != 0 ? name : NULL;
}

/* What an operation that is written in the language says, or one that it calls: in the words of the one that was
 * called, "kthvalue: index 4 …", never in those of an inner one. */
static const char *in_words_of(const char *operation, const char *message, masu__buffer *room) {
    static const char panic[] = "panic: ";
    bool told = strncmp(message, panic, sizeof panic - 1) == 0;
    const char *said = told ? message + sizeof panic - 1 : message;
    if (operation == NULL || (told && !is_refusal(said)))
        return told && is_refusal(said) ? said : message;
    const char *rest = is_refusal(said) ? strchr(said, ':') + 2 : said;
    masu__buffer_printf(room, "%s: %s", operation, rest);
    return room->failed ? said : masu__buffer_text(room);
}

void error_text_put(const error_places *p, const error_facts *facts, masu__buffer *out) {
    const uint32_t *sites = facts->sites;
    uint32_t count = facts->site_count;
    const char *operation = NULL, *told = facts->message;
    masu__buffer room = {0};
    bool in_prelude = count > 1 && hidden(p, sites[0]);
    while (count > 1 && hidden(p, sites[0])) {
        operation = called_operation(p, sites[0]);
        sites++; /* `unwrap` is written in the language: what matters is where it was called */
        count--;
    }
    source_span place = {0};
    if (count > 0)
        place = site_at(p, sites[0]).span;
    masu__buffer message = {0};
    if (in_prelude)
        told = in_words_of(operation, told, &room);
    put_message(told, place, &message);
    diagnostic_render_entry(place, "error", masu__buffer_text(&message), out);
    out->failed |= message.failed;
    masu__buffer_destroy(&message);
    masu__buffer_destroy(&room);
    ir_site site = site_at(p, count > 0 ? sites[0] : 0);
    if (site.span.file) {
        put_operands(facts->message, &site, out);
        put_changed(facts->message, &site, out);
    }
    const char *remedy = error_text_remedy(facts->message);
    if (remedy)
        diagnostic_render_entry((source_span){0}, "note", remedy, out);
    if (facts->related_site)
        diagnostic_render_entry(site_at(p, facts->related_site).span, "note", facts->related_text,
                                out);
    put_calls(p, sites, count, facts->omitted, out);
}
