/* diagnostics.c: collecting and showing what is wrong with a program. */
#include "language/diagnose/diagnostics.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

/* A line longer than this is shown as the part around its span. */
enum { LINE_SHOWN = 160, LINE_BEFORE = 60 };
/* Longer messages are cut: names in a program have no bound. */
enum { MESSAGE_SHOWN = 600 };

void diagnostics_init(diagnostics *d, masu__arena *arena) {
    *d = (diagnostics){.arena = arena, .limit = DIAGNOSTICS_LIMIT};
}

void diagnostics_plain_names(masu__buffer *text) {
    size_t kept = 0;
    for (size_t i = 0; i < text->length; i++) {
        if (text->data[i] == DIAGNOSTICS_MODULE_MARK) {
            while (i + 1 < text->length && text->data[i + 1] >= '0' && text->data[i + 1] <= '9')
                i++;
            continue;
        }
        text->data[kept++] = text->data[i];
    }
    if (kept < text->length)
        masu__buffer_truncate(text, kept);
}

static const char *format_text(diagnostics *d, const char *format, va_list arguments) {
    masu__buffer text = {0};
    masu__buffer_vprintf(&text, format, arguments);
    diagnostics_plain_names(&text);
    if (text.length > MESSAGE_SHOWN) {
        size_t shown = MESSAGE_SHOWN;
        while (shown > 0 && ((unsigned char)text.data[shown] & 0xC0) == 0x80)
            shown--;
        masu__buffer_truncate(&text, shown);
        masu__buffer_puts(&text, "...");
    }
    const char *copy = text.failed ? NULL : masu__arena_strdup(d->arena, masu__buffer_text(&text));
    masu__buffer_destroy(&text);
    if (copy == NULL)
        d->out_of_memory = true;
    return copy;
}

/* At most `limit` are looked at. */
static bool said_before(const diagnostics *d, source_span span, const char *message) {
    for (const diagnostic *entry = d->first; entry != NULL; entry = entry->next)
        if (entry->span.file == span.file && entry->span.offset == span.offset && strcmp(entry->message, message) == 0)
            return true;
    return false;
}

static bool line_unread(const diagnostics *d, source_span span) {
    if (d->last_of_reading == NULL || span.file == NULL)
        return false;
    uint32_t line = source_place_of(span).line;
    for (const diagnostic *entry = d->first; entry != NULL; entry = entry->next) {
        if (entry->severity == SEVERITY_ERROR && entry->span.file == span.file &&
            source_place_of(entry->span).line == line)
            return true;
        if (entry == d->last_of_reading)
            break;
    }
    return false;
}

/* A mistake inside the library follows from the program's own errors. */
static bool follows(const diagnostics *d, source_span span) {
    return span.file != NULL && span.file == d->hidden && d->error_count > 0;
}

diagnostic *diagnostics_add(diagnostics *d, severity severity, uint32_t row, source_span span, const char *format,
                            va_list arguments) {
    uint32_t is_error = severity == SEVERITY_ERROR;
    if (d->count >= d->limit) {
        d->dropped++;
        d->error_count += is_error;
        return NULL;
    }
    const char *message = format_text(d, format, arguments);
    if (message != NULL && span.file != NULL && span.file == d->hidden && d->home.file != NULL && !follows(d, span)) {
        span = d->home;
        message = masu__arena_printf(d->arena, "%s in `%s`", message, d->home_name);
    }
    if (message != NULL && (said_before(d, span, message) || line_unread(d, span) || follows(d, span)))
        return NULL;
    d->error_count += is_error;
    diagnostic *entry = MASU_ARENA_NEW(d->arena, diagnostic);
    if (message == NULL || entry == NULL) {
        d->out_of_memory = true;
        return NULL;
    }
    *entry = (diagnostic){.severity = severity, .row = row, .span = span, .message = message, .sequence = d->count++};
    MASU_DEBUG_ASSERT(d->last == NULL || d->last->sequence + 1 == entry->sequence);
    if (d->last == NULL)
        d->first = entry;
    else
        d->last->next = entry;
    d->last = entry;
    return entry;
}

bool diagnostics_has_error_in(const diagnostics *d, source_span span) {
    for (const diagnostic *at = d->first; at; at = at->next)
        if (at->severity == SEVERITY_ERROR && at->span.file == span.file && at->span.offset >= span.offset &&
            at->span.offset < span.offset + span.length)
            return true;
    return false;
}

void diagnostics_end_of_reading(diagnostics *d) {
    d->last_of_reading = d->last;
}

void diagnostics_return_to(diagnostics *d, const diagnostics *before) {
    bool out_of_memory = d->out_of_memory;
    *d = *before;
    d->out_of_memory = out_of_memory;
    if (d->last != NULL)
        d->last->next = NULL;
}

void diagnostics_note(diagnostics *d, diagnostic *to, source_span span, const char *format, ...) {
    if (to == NULL || (span.file != NULL && span.file == d->hidden))
        return;
    va_list arguments;
    va_start(arguments, format);
    const char *text = format_text(d, format, arguments);
    va_end(arguments);
    diagnostic_note *note = MASU_ARENA_NEW(d->arena, diagnostic_note);
    if (text == NULL || note == NULL) {
        d->out_of_memory = true;
        return;
    }
    *note = (diagnostic_note){.span = span, .text = text};
    if (to->last_note == NULL)
        to->first_note = note;
    else
        to->last_note->next = note;
    to->last_note = note;
}

/* ---- rendering ------------------------------------------------------------------------------- */

/* Length of the character at text, 0 when the bytes are no UTF-8 or not to be shown. */
static uint32_t shown_character(const char *text, uint32_t available) {
    unsigned char first = (unsigned char)text[0];
    if (first < 0x80)
        return (first >= 0x20 && first != 0x7F) || first == '\t' ? 1 : 0;
    uint32_t length = first >= 0xF0 && first < 0xF5 ? 4 : first >= 0xE0 && first < 0xF0 ? 3 : first >= 0xC2 ? 2 : 0;
    if (length == 0 || first >= 0xF5 || length > available)
        return 0;
    for (uint32_t i = 1; i < length; i++)
        if (((unsigned char)text[i] & 0xC0) != 0x80)
            return 0;
    return length;
}

/* Columns of a terminal that the character takes: two for the scripts of East Asia and for pictures, none for marks
 * above letters. */
static uint32_t width_of(const char *text, uint32_t length) {
    static const struct {
        uint32_t from, to, width;
    } ranges[] = {
        {0x300, 0x36F, 0},   {0x1100, 0x115F, 2},   {0x200B, 0x200F, 0},   {0x2E80, 0x303E, 2},   {0x3041, 0xA4CF, 2},
        {0xAC00, 0xD7A3, 2}, {0xF900, 0xFAFF, 2},   {0xFE00, 0xFE0F, 0},   {0xFE30, 0xFE4F, 2},   {0xFF00, 0xFF60, 2},
        {0xFFE0, 0xFFE6, 2}, {0x1F300, 0x1F64F, 2}, {0x1F680, 0x1F6FF, 2}, {0x1F900, 0x1F9FF, 2}, {0x20000, 0x3FFFD, 2},
    };
    uint32_t point = (unsigned char)text[0] & (length == 1 ? 0x7F : 0x7F >> length);
    for (uint32_t i = 1; i < length; i++)
        point = point << 6 | ((unsigned char)text[i] & 0x3F);
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0] && point >= ranges[i].from; i++)
        if (point <= ranges[i].to)
            return ranges[i].width;
    return 1;
}

static uint32_t character_start(const char *line, uint32_t at) {
    while (at > 0 && ((unsigned char)line[at] & 0xC0) == 0x80)
        at--;
    return at;
}

/* The line and, below, blanks up to the span, then ^~~~ under it. */
static void render_line(source_span span, uint32_t line_number, masu__buffer *out) {
    uint32_t length;
    const char *line = source_line(span.file, line_number, &length);
    uint32_t from = span.offset - span.file->line_starts[line_number - 1];
    from = from < length ? from : length;
    uint32_t to = span.length < length - from ? from + span.length : length;
    uint32_t start = length > LINE_SHOWN && from > LINE_BEFORE ? character_start(line, from - LINE_BEFORE) : 0;
    uint32_t end = length - start > LINE_SHOWN ? character_start(line, start + LINE_SHOWN) : length;
    masu__buffer under = {0};
    if (start > 0) {
        masu__buffer_puts(out, "...");
        masu__buffer_puts(&under, "   ");
    }
    bool caret = false;
    for (uint32_t at = start; at < end;) {
        uint32_t step = shown_character(line + at, end - at);
        uint32_t width = step == 0 ? 1 : width_of(line + at, step);
        if (step == 0) {
            masu__buffer_puts(out, "\xEF\xBF\xBD"); /* the replacement character */
            step = 1;
        } else {
            masu__buffer_append(out, line + at, step);
        }
        if (at + step > from && !caret) {
            masu__buffer_putc(&under, '^');
            masu__buffer_fill(&under, '~', width > 1 ? width - 1 : 0);
            caret = true;
        } else if (caret && at < to) {
            masu__buffer_fill(&under, '~', width);
        } else if (!caret) {
            masu__buffer_fill(&under, line[at] == '\t' ? '\t' : ' ', width);
        }
        at += step;
    }
    if (!caret)
        masu__buffer_putc(&under, '^');
    masu__buffer_printf(out, "%s\n%s\n", end < length ? "..." : "", masu__buffer_text(&under));
    out->failed |= under.failed;
    masu__buffer_destroy(&under);
}

void diagnostic_render_entry(source_span span, const char *label, const char *message, masu__buffer *out) {
    if (span.file == NULL) {
        masu__buffer_printf(out, "%s: %s\n", label, message);
        return;
    }
    source_place place = source_place_of(span);
    masu__buffer_printf(out, "%s:%u:%u: %s: %s\n", span.file->path, place.line, place.column, label, message);
    render_line(span, place.line, out);
}

static int compare(const void *left, const void *right) {
    const diagnostic *a = *(const diagnostic *const *)left, *b = *(const diagnostic *const *)right;
    if (a->span.file != b->span.file) {
        if (a->span.file == NULL || b->span.file == NULL)
            return a->span.file == NULL ? 1 : -1;
        return strcmp(a->span.file->path, b->span.file->path);
    }
    if (a->span.offset != b->span.offset)
        return a->span.offset < b->span.offset ? -1 : 1;
    return a->sequence < b->sequence ? -1 : a->sequence > b->sequence;
}

static void render_one(const diagnostic *entry, masu__buffer *out) {
    const char *label = entry->severity == SEVERITY_ERROR ? "error" : "warning";
    diagnostic_render_entry(entry->span, label, entry->message, out);
    for (const diagnostic_note *note = entry->first_note; note != NULL; note = note->next)
        diagnostic_render_entry(note->span, "note", note->text, out);
}

void diagnostics_render(const diagnostics *d, masu__buffer *out) {
    if (d->count == 0)
        return;
    const diagnostic **sorted = MASU_ARENA_ARRAY(d->arena, const diagnostic *, d->count);
    if (sorted == NULL) {
        out->failed = true;
        return;
    }
    uint32_t count = 0;
    for (const diagnostic *entry = d->first; entry != NULL; entry = entry->next)
        sorted[count++] = entry;
    qsort(sorted, count, sizeof *sorted, compare);
    for (uint32_t i = 0; i < count; i++)
        render_one(sorted[i], out);
    if (d->dropped > 0) {
        masu__buffer_printf(out, "note: %u more %s not shown\n", d->dropped,
                            d->dropped == 1 ? "message is" : "messages are");
    }
}
