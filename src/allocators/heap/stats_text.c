/* stats_text.c: the numbers of heaps as text that Prometheus reads, without asking for memory.
 *
 * What must stay true: all samples of a metric follow its HELP and TYPE; no two samples have one name and the same
 * labels; nothing is written of what is refused.
 */
#include <masu/stats.h>

#include <string.h>

typedef struct metric {
    const char *name, *type, *help;
    size_t field; /* offset in a level, or in the struct */
    bool of_level, of_buckets;
} metric;

enum { ALL = 1, TOP = 0 };
#define LEVEL(levels, name, type, help, field) \
    {name, type, help, offsetof(masu_stats_level, field), true, levels == ALL},
#define WHOLE(name, type, help, field) {name, type, help, offsetof(masu_stats, field), false, false},
static const metric metrics[] = {
#include "allocators/heap/stats.def"
};
#undef LEVEL
#undef WHOLE

static const struct {
    const char *name;
    size_t at;
} levels[] = {
    {"heap", offsetof(masu_stats, heap)},
    {"buckets", offsetof(masu_stats, buckets)},
    {"bestfit", offsetof(masu_stats, bestfit)},
};
enum { LEVELS = sizeof levels / sizeof *levels, BUCKETS = 1 };

/* ---- what may be said ---------------------------------------------------------------------------------- */

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool name_fits(const char *name) {
    if (!name || !is_letter(name[0]) || (name[0] == '_' && name[1] == '_') || strcmp(name, "level") == 0)
        return false;
    for (const char *c = name; *c; c++)
        if (!is_letter(*c) && !(*c >= '0' && *c <= '9'))
            return false;
    return true;
}

/* How many bytes the character of UTF-8 at text has; 0: it is not one. */
static size_t character_bytes(const unsigned char *text) {
    size_t bytes = text[0] < 0x80   ? 1
                   : text[0] < 0xC2 ? 0
                   : text[0] < 0xE0 ? 2
                   : text[0] < 0xF0 ? 3
                   : text[0] < 0xF5 ? 4
                                    : 0;
    for (size_t i = 1; i < bytes; i++)
        if ((text[i] & 0xC0) != 0x80)
            return 0;
    bool too_long = (text[0] == 0xE0 && text[1] < 0xA0) || (text[0] == 0xF0 && text[1] < 0x90);
    bool outside = (text[0] == 0xED && text[1] > 0x9F) || (text[0] == 0xF4 && text[1] > 0x8F);
    return too_long || outside ? 0 : bytes;
}

static bool value_fits(const char *value) {
    for (const unsigned char *at = (const unsigned char *)value; at && *at;) {
        size_t bytes = character_bytes(at);
        if (bytes == 0)
            return false;
        at += bytes;
    }
    return value != NULL;
}

static bool source_fits(const masu_stats_source *source) {
    if (!source->stats || source->stats->struct_bytes < offsetof(masu_stats, heap) + sizeof source->stats->heap ||
        (!source->labels && source->label_count > 0))
        return false;
    for (size_t i = 0; i < source->label_count; i++) {
        if (!name_fits(source->labels[i].name) || !value_fits(source->labels[i].value))
            return false;
        for (size_t k = 0; k < i; k++)
            if (strcmp(source->labels[i].name, source->labels[k].name) == 0)
                return false;
    }
    return true;
}

/* An empty value is as good as no label at all, for Prometheus. */
static const char *value_of(const masu_stats_source *source, const char *name) {
    for (size_t i = 0; i < source->label_count; i++)
        if (strcmp(source->labels[i].name, name) == 0)
            return source->labels[i].value;
    return "";
}

static bool covers(const masu_stats_source *a, const masu_stats_source *b) {
    for (size_t i = 0; i < a->label_count; i++)
        if (strcmp(a->labels[i].value, value_of(b, a->labels[i].name)) != 0)
            return false;
    return true;
}

static bool sources_fit(const masu_stats_source *sources, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!source_fits(&sources[i]))
            return false;
        for (size_t k = 0; k < i; k++)
            if (covers(&sources[i], &sources[k]) && covers(&sources[k], &sources[i]))
                return false;
    }
    return true;
}

/* ---- writing ------------------------------------------------------------------------------------------- */

typedef struct output {
    masu_stats_writer write;
    void *context;
    bool stopped;
    size_t length;
    char text[512];
} output;

static void flush(output *out) {
    if (out->length > 0 && !out->stopped)
        out->stopped = !out->write(out->context, out->text, out->length);
    out->length = 0;
}

static void put_char(output *out, char c) {
    if (out->length == sizeof out->text)
        flush(out);
    out->text[out->length++] = c;
}

static void put(output *out, const char *text) {
    for (; *text; text++)
        put_char(out, *text);
}

static void put_number(output *out, uint64_t number) {
    char digits[21];
    size_t at = sizeof digits - 1;
    digits[at] = 0;
    do
        digits[--at] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    put(out, digits + at);
}

static void put_label(output *out, bool *any, const char *name, const char *value) {
    put_char(out, *any ? ',' : '{');
    *any = true;
    put(out, name);
    put(out, "=\"");
    for (; *value; value++) {
        if (*value == '\\' || *value == '"')
            put_char(out, '\\');
        put(out, *value == '\n' ? "\\n" : (char[]){*value, 0});
    }
    put_char(out, '"');
}

/* Leaves out a metric that the caller's older, shorter struct lacks. */
static void put_sample(output *out, const metric *m, const masu_stats_source *source, const char *level, size_t at) {
    uint64_t number;
    if (at + sizeof number > source->stats->struct_bytes)
        return;
    memcpy(&number, (const char *)source->stats + at, sizeof number);
    bool any = false;
    put(out, m->name);
    for (size_t i = 0; i < source->label_count; i++)
        put_label(out, &any, source->labels[i].name, source->labels[i].value);
    if (level)
        put_label(out, &any, "level", level);
    put(out, any ? "} " : " ");
    put_number(out, number);
    put_char(out, '\n');
}

static void put_metric(output *out, const metric *m, const masu_stats_source *sources, size_t count) {
    put(out, "# HELP ");
    put(out, m->name);
    put_char(out, ' ');
    put(out, m->help);
    put(out, "\n# TYPE ");
    put(out, m->name);
    put_char(out, ' ');
    put(out, m->type);
    put_char(out, '\n');
    for (size_t i = 0; i < count; i++) {
        if (!m->of_level)
            put_sample(out, m, &sources[i], NULL, m->field);
        for (size_t l = 0; m->of_level && l < LEVELS; l++)
            if (l != BUCKETS || m->of_buckets)
                put_sample(out, m, &sources[i], levels[l].name, levels[l].at + m->field);
    }
}

masu_status masu_stats_write(const masu_stats_source *sources, size_t count, masu_stats_writer write, void *context) {
    if ((!sources && count > 0) || !write || !sources_fit(sources, count))
        return MASU_ERR_INVALID_ARGUMENT;
    output out = {.write = write, .context = context};
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics && !out.stopped; i++)
        put_metric(&out, &metrics[i], sources, count);
    flush(&out);
    return out.stopped ? MASU_ERR_IO : MASU_OK;
}

typedef struct target {
    char *buffer;
    size_t bytes, length;
} target;

static bool into_buffer(void *context, const char *text, size_t length) {
    target *t = context;
    if (t->length < t->bytes && length < t->bytes - t->length)
        memcpy(t->buffer + t->length, text, length);
    t->length += length;
    return true;
}

masu_status masu_stats_text(const masu_stats_source *sources, size_t count, char *buffer, size_t bytes,
                            size_t *length) {
    if (!length || (!buffer && bytes > 0))
        return MASU_ERR_INVALID_ARGUMENT;
    target t = {.buffer = buffer, .bytes = bytes};
    masu_status status = masu_stats_write(sources, count, into_buffer, &t);
    if (status != MASU_OK)
        return status;
    *length = t.length;
    if (bytes > 0)
        buffer[t.length < bytes ? t.length : 0] = 0;
    return t.length < bytes || !buffer ? MASU_OK : MASU_ERR_LIMIT_REACHED;
}
