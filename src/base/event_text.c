/* event_text.c: events as lines of text, and back. */
#include <masu/trace.h>

#include <stdio.h>
#include <string.h>

size_t masu_event_format(const masu_event *event, char *out, size_t capacity) {
    if (capacity < MASU_EVENT_TEXT_BYTES) {
        if (capacity > 0)
            out[0] = 0;
        return 0;
    }
    int length = snprintf(out, capacity, "%llu,%s,%u,%llu,%llu,%llu,%llu,%llu", (unsigned long long)event->sequence,
                          masu_event_kind_name((masu_event_kind)event->kind), event->pool,
                          (unsigned long long)event->address, (unsigned long long)event->bytes,
                          (unsigned long long)event->block_bytes, (unsigned long long)event->alignment_bytes,
                          (unsigned long long)event->owner);
    return length > 0 ? (size_t)length : 0;
}

/* A decimal number that ends at `end`; *text is moved behind that. */
static bool read_number(const char **text, char end, uint64_t *out) {
    const char *p = *text;
    uint64_t value = 0;
    if (*p < '0' || *p > '9')
        return false;
    for (; *p >= '0' && *p <= '9'; p++)
        if (__builtin_mul_overflow(value, 10u, &value) || __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value))
            return false;
    if (*p != end && !(end == 0 && (*p == '\n' || *p == '\r')))
        return false;
    *text = p + (*p != 0);
    *out = value;
    return true;
}

static bool read_kind(const char **text, uint32_t *out) {
    size_t length = strcspn(*text, ",");
    for (uint32_t kind = 0; kind < MASU_EVENT_KIND_COUNT; kind++) {
        const char *name = masu_event_kind_name((masu_event_kind)kind);
        if (strlen(name) == length && strncmp(name, *text, length) == 0) {
            *out = kind;
            *text += length;
            return *(*text)++ == ',';
        }
    }
    return false;
}

bool masu_event_parse(const char *line, masu_event *out) {
    masu_event event = {0};
    uint64_t pool;
    if (!read_number(&line, ',', &event.sequence) || !read_kind(&line, &event.kind) ||
        !read_number(&line, ',', &pool) || pool > UINT32_MAX || !read_number(&line, ',', &event.address) ||
        !read_number(&line, ',', &event.bytes) || !read_number(&line, ',', &event.block_bytes) ||
        !read_number(&line, ',', &event.alignment_bytes) || !read_number(&line, 0, &event.owner))
        return false;
    event.pool = (uint32_t)pool;
    *out = event;
    return true;
}
