/* recording.c: filling a recording: one table of hashes finds what was said before, so that a name and a stack are kept
 * once. */
#include "recording/recording.h"

#include <string.h>

#include "base/assert.h"
#include "base/meta.h"

/* ---- finding what is there --------------------------------------------------------------------------------------- */

enum table { STRINGS, PLACES, POOLS, DEVICES, STREAMS, THREADS };

typedef struct slot {
    uint32_t hash, index; /* index 0: empty, for entry 0 is never looked up */
    uint8_t table;
} slot;

/* filled < size * 3 / 4; size is a power of two */
typedef struct masu__recording_index {
    slot *slots;
    size_t size, filled;
} masu__recording_index;

static uint32_t hash_bytes(uint32_t hash, const void *data, size_t length) {
    const unsigned char *bytes = data;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ bytes[i]) * 0x01000193u;
    return hash ^ hash >> 15;
}

static uint32_t hash_words(uint32_t hash, const uint64_t *words, size_t count) {
    uint64_t mixed = hash;
    for (size_t i = 0; i < count; i++) {
        mixed = (mixed ^ words[i]) * 0x9e3779b97f4a7c15u;
        mixed ^= mixed >> 29;
    }
    return (uint32_t)(mixed ^ mixed >> 32);
}

static masu_status index_make_room(masu__recording_index *index) {
    if (index->filled + 1 < index->size / 4 * 3)
        return MASU_OK;
    size_t size = index->size ? 2 * index->size : 256;
    slot *slots = masu__meta_calloc(size, sizeof *slots);
    if (!slots)
        return MASU_ERR_OUT_OF_MEMORY;
    for (size_t i = 0; i < index->size; i++) {
        if (!index->slots[i].index)
            continue;
        size_t at = index->slots[i].hash & (size - 1);
        while (slots[at].index)
            at = (at + 1) & (size - 1);
        slots[at] = index->slots[i];
    }
    masu__meta_free(index->slots, index->size * sizeof *slots);
    index->slots = slots;
    index->size = size;
    return MASU_OK;
}

static void index_put(masu__recording_index *index, enum table table, uint32_t hash, uint32_t entry) {
    size_t at = hash & (index->size - 1);
    while (index->slots[at].index)
        at = (at + 1) & (index->size - 1);
    index->slots[at] = (slot){hash, entry, (uint8_t)table};
    index->filled++;
}

/* Walks the entries of one table that have this hash; *at is where to begin and where it stopped. 0: no more. */
static uint32_t index_next(const masu__recording_index *index, enum table table, uint32_t hash, size_t *at) {
    if (index->size == 0)
        return 0;
    for (; index->slots[*at & (index->size - 1)].index; ++*at) {
        const slot *s = &index->slots[*at & (index->size - 1)];
        if (s->hash == hash && s->table == (uint8_t)table) {
            ++*at;
            return s->index;
        }
    }
    return 0;
}

/* ---- beginning and end ------------------------------------------------------------------------------------------- */

#define PUSH(r, table, item)                                                                     \
    MASU_ARENA_PUSH(&(r)->arena, (r)->table##s, (r)->table##_count, (r)->table##_capacity, item, \
                    return MASU_ERR_OUT_OF_MEMORY)

static masu_status push_nothings(masu__recording *r) {
    PUSH(r, string, ((masu__recorded_string){"", 0}));
    PUSH(r, place, (masu__recorded_place){0});
    PUSH(r, device, (masu__recorded_device){0});
    PUSH(r, stream, (masu__recorded_stream){0});
    PUSH(r, pool, (masu__recorded_pool){0});
    PUSH(r, thread, (masu__recorded_thread){0});
    return MASU_OK;
}

masu_status masu__recording_init(masu__recording *out, const char *source_format) {
    *out = (masu__recording){.source_format = source_format, .has_times = true};
    out->index = MASU_ARENA_NEW(&out->arena, masu__recording_index);
    masu_status status = out->index ? push_nothings(out) : MASU_ERR_OUT_OF_MEMORY;
    if (status != MASU_OK)
        masu__recording_destroy(out);
    return status;
}

void masu__recording_destroy(masu__recording *recording) {
    masu__meta_free(recording->events, recording->event_capacity * sizeof *recording->events);
    if (recording->index)
        masu__meta_free(recording->index->slots, recording->index->size * sizeof(slot));
    masu__arena_destroy(&recording->arena);
    *recording = (masu__recording){0};
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

static masu_status may_add(masu__recording *r, unsigned count, unsigned most) {
    return count < most ? index_make_room(r->index) : MASU_ERR_LIMIT_REACHED;
}

masu_status masu__recording_string(masu__recording *r, const char *text, size_t length, uint32_t *index) {
    const char *zero = length ? memchr(text, 0, length) : NULL;
    if (zero)
        length = (size_t)(zero - text);
    *index = 0;
    if (length == 0)
        return MASU_OK;
    if (length > UINT32_MAX / 2)
        return MASU_ERR_LIMIT_REACHED;
    uint32_t hash = hash_bytes(STRINGS, text, length), found;
    for (size_t at = hash; (found = index_next(r->index, STRINGS, hash, &at)) != 0;)
        if (r->strings[found].length == length && memcmp(r->strings[found].text, text, length) == 0) {
            *index = found;
            return MASU_OK;
        }
    masu_status status = may_add(r, r->string_count, MASU__RECORDING_MOST_EVENTS);
    if (status != MASU_OK)
        return status;
    char *copy = masu__arena_strndup(&r->arena, text, length);
    if (!copy)
        return MASU_ERR_OUT_OF_MEMORY;
    PUSH(r, string, ((masu__recorded_string){copy, (uint32_t)length}));
    *index = r->string_count - 1;
    index_put(r->index, STRINGS, hash, *index);
    return MASU_OK;
}

/* entry: the one of the table that is `same`, or `item` as a new one; its hash and what it is compared with are the
 * caller's. Leaves the function where it cannot be added. */
#define FIND_OR_ADD(r, kind, table, most, hash, same, item, entry)                     \
    do {                                                                               \
        size_t from_ = (hash);                                                         \
        while (((entry) = index_next((r)->index, kind, hash, &from_)) != 0 && !(same)) \
            continue;                                                                  \
        if ((entry) == 0) {                                                            \
            masu_status status_ = may_add(r, (r)->table##_count, most);                \
            if (status_ != MASU_OK)                                                    \
                return status_;                                                        \
            PUSH(r, table, item);                                                      \
            (entry) = (r)->table##_count - 1;                                          \
            index_put((r)->index, kind, hash, entry);                                  \
        }                                                                              \
    } while (0)

masu_status masu__recording_place(masu__recording *r, masu__recorded_place place, uint32_t *index) {
    if (place.file >= r->string_count || place.function >= r->string_count || place.caller >= r->place_count)
        return MASU_ERR_INVALID_ARGUMENT;
    *index = 0;
    if (!place.file && !place.function && !place.line && !place.caller)
        return MASU_OK;
    uint64_t words[] = {place.file, place.function, place.line, place.caller};
    uint32_t hash = hash_words(PLACES, words, 4), found;
    FIND_OR_ADD(r, PLACES, place, MASU__RECORDING_MOST_EVENTS, hash,
                memcmp(&r->places[found], &place, sizeof place) == 0, place, found);
    *index = found;
    return MASU_OK;
}

masu_status masu__recording_device(masu__recording *r, masu__recorded_device device, uint16_t *index) {
    if (device.name >= r->string_count)
        return MASU_ERR_INVALID_ARGUMENT;
    uint32_t hash = hash_words(DEVICES, &device.number, 1), found;
    FIND_OR_ADD(r, DEVICES, device, UINT16_MAX, hash, r->devices[found].number == device.number, device, found);
    *index = (uint16_t)found;
    return MASU_OK;
}

masu_status masu__recording_stream(masu__recording *r, masu__recorded_stream stream, uint16_t *index) {
    if (stream.device >= r->device_count)
        return MASU_ERR_INVALID_ARGUMENT;
    uint64_t words[] = {stream.handle, stream.device};
    uint32_t hash = hash_words(STREAMS, words, 2), found;
    FIND_OR_ADD(r, STREAMS, stream, UINT16_MAX, hash,
                r->streams[found].handle == stream.handle && r->streams[found].device == stream.device, stream, found);
    *index = (uint16_t)found;
    return MASU_OK;
}

masu_status masu__recording_pool(masu__recording *r, masu__recorded_pool pool, uint32_t *index) {
    if (pool.name >= r->string_count || pool.layer >= r->string_count || pool.below >= r->pool_count ||
        pool.device >= r->device_count)
        return MASU_ERR_INVALID_ARGUMENT;
    uint64_t words[] = {pool.number, pool.device};
    uint32_t hash = hash_words(POOLS, words, 2), found;
    FIND_OR_ADD(r, POOLS, pool, MASU__RECORDING_MOST_EVENTS, hash,
                r->pools[found].number == pool.number && r->pools[found].device == pool.device, pool, found);
    *index = found;
    return MASU_OK;
}

masu_status masu__recording_thread(masu__recording *r, masu__recorded_thread thread, uint32_t *index) {
    if (thread.name >= r->string_count)
        return MASU_ERR_INVALID_ARGUMENT;
    uint32_t hash = hash_words(THREADS, &thread.number, 1), found;
    FIND_OR_ADD(r, THREADS, thread, MASU__RECORDING_MOST_EVENTS, hash, r->threads[found].number == thread.number,
                thread, found);
    *index = found;
    return MASU_OK;
}

masu_status masu__recording_setting(masu__recording *r, const char *name, const char *value) {
    masu__recorded_setting setting = {0};
    masu_status status = masu__recording_string(r, name, strlen(name), &setting.name);
    if (status == MASU_OK)
        status = masu__recording_string(r, value, strlen(value), &setting.value);
    if (status != MASU_OK)
        return status;
    PUSH(r, setting, setting);
    return MASU_OK;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

static bool event_fits(const masu__recording *r, const masu__recorded_event *e) {
    bool gives = e->kind == MASU__RECORDED_ALLOC || e->kind == MASU__RECORDED_RESIZE || e->kind == MASU__RECORDED_MOVE;
    uint64_t extent = e->given_bytes > e->bytes ? e->given_bytes : e->bytes;
    return e->kind < MASU__RECORDED_KIND_COUNT && e->pool < r->pool_count && e->place < r->place_count &&
           e->thread < r->thread_count && e->text < r->string_count && e->stream < r->stream_count &&
           e->device < r->device_count && e->alignment_log2 < 64 && (!gives || e->given_bytes >= e->bytes) &&
           e->address + extent >= e->address;
}

static masu_status event_room(masu__recording *r) {
    if (r->event_count < r->event_capacity)
        return MASU_OK;
    if (r->event_count >= MASU__RECORDING_MOST_EVENTS)
        return MASU_ERR_LIMIT_REACHED;
    size_t wanted = r->event_capacity ? 2 * r->event_capacity : 256;
    masu__recorded_event *grown = masu__meta_realloc(r->events, r->event_capacity * sizeof *grown,
                                                     wanted * sizeof *grown);
    if (!grown)
        return MASU_ERR_OUT_OF_MEMORY;
    r->events = grown;
    r->event_capacity = wanted;
    return MASU_OK;
}

masu_status masu__recording_event(masu__recording *r, const masu__recorded_event *event) {
    if (!event_fits(r, event))
        return MASU_ERR_INVALID_ARGUMENT;
    masu_status status = event_room(r);
    if (status != MASU_OK)
        return status;
    masu__recorded_event added = *event;
    if (r->event_count > 0 && added.time_ns < r->events[r->event_count - 1].time_ns)
        added.time_ns = r->events[r->event_count - 1].time_ns;
    r->events[r->event_count++] = added;
    return MASU_OK;
}

static bool is_standing(const masu__recorded_event *e) {
    return e->kind == MASU__RECORDED_ALLOC || e->kind == MASU__RECORDED_SEGMENT_ADD || e->kind == MASU__RECORDED_MAP;
}

masu_status masu__recording_standing(masu__recording *r, const masu__recorded_event *event) {
    if (!event_fits(r, event) || !is_standing(event))
        return MASU_ERR_INVALID_ARGUMENT;
    masu_status status = event_room(r);
    if (status != MASU_OK)
        return status;
    masu__recorded_event *at = r->events + r->standing_count;
    memmove(at + 1, at, (r->event_count - r->standing_count) * sizeof *at);
    *at = *event;
    at->time_ns = 0;
    r->standing_count++;
    r->event_count++;
    return MASU_OK;
}

masu_status masu__recording_at_end(masu__recording *r, const masu__recorded_event *event) {
    if (!event_fits(r, event) || !is_standing(event))
        return MASU_ERR_INVALID_ARGUMENT;
    if (r->at_end_count >= MASU__RECORDING_MOST_EVENTS)
        return MASU_ERR_LIMIT_REACHED;
    MASU_ARENA_PUSH(&r->arena, r->at_end, r->at_end_count, r->at_end_capacity, *event, return MASU_ERR_OUT_OF_MEMORY);
    return MASU_OK;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static bool tables_valid(const masu__recording *r) {
    if (!r->string_count || !r->place_count || !r->pool_count || !r->device_count || !r->stream_count ||
        !r->thread_count)
        return false;
    for (unsigned i = 0; i < r->string_count; i++)
        if (strlen(r->strings[i].text) != r->strings[i].length)
            return false;
    for (unsigned i = 1; i < r->place_count; i++) {
        const masu__recorded_place *p = &r->places[i];
        if (p->file >= r->string_count || p->function >= r->string_count || p->caller >= i)
            return false;
    }
    for (unsigned i = 1; i < r->pool_count; i++) {
        const masu__recorded_pool *p = &r->pools[i];
        if (p->name >= r->string_count || p->layer >= r->string_count || p->below >= i || p->device >= r->device_count)
            return false;
    }
    for (unsigned i = 1; i < r->stream_count; i++)
        if (r->streams[i].device >= r->device_count)
            return false;
    for (unsigned i = 0; i < r->setting_count; i++)
        if (r->settings[i].name >= r->string_count || r->settings[i].value >= r->string_count)
            return false;
    return true;
}

bool masu__recording_valid(const masu__recording *r) {
    if (!tables_valid(r) || r->standing_count > r->event_count || r->event_count > r->event_capacity)
        return false;
    for (size_t i = 0; i < r->event_count; i++) {
        const masu__recorded_event *e = &r->events[i];
        if (!event_fits(r, e) || (i > 0 && e->time_ns < r->events[i - 1].time_ns))
            return false;
        if (i < r->standing_count && (!is_standing(e) || e->time_ns != 0))
            return false;
    }
    for (unsigned i = 0; i < r->at_end_count; i++)
        if (!event_fits(r, &r->at_end[i]) || !is_standing(&r->at_end[i]))
            return false;
    return true;
}

const char *masu__recording_text(const masu__recording *r, uint32_t string) {
    return string < r->string_count ? r->strings[string].text : "";
}

const char *masu__recorded_kind_name(unsigned kind) {
    static const char *const names[] = {
        [MASU__RECORDED_ALLOC] = "alloc",
        [MASU__RECORDED_FREE_ASKED] = "free-asked",
        [MASU__RECORDED_FREE] = "free",
        [MASU__RECORDED_RESIZE] = "resize",
        [MASU__RECORDED_MOVE] = "move",
        [MASU__RECORDED_RESET] = "reset",
        [MASU__RECORDED_REFUSED] = "refused",
        [MASU__RECORDED_SEGMENT_ADD] = "segment-add",
        [MASU__RECORDED_SEGMENT_DROP] = "segment-drop",
        [MASU__RECORDED_MEMORY_ADD] = "memory-add",
        [MASU__RECORDED_MEMORY_DROP] = "memory-drop",
        [MASU__RECORDED_MAP] = "map",
        [MASU__RECORDED_UNMAP] = "unmap",
        [MASU__RECORDED_BEGIN] = "begin",
        [MASU__RECORDED_END] = "end",
        [MASU__RECORDED_MARK] = "mark",
    };
    return kind < MASU__RECORDED_KIND_COUNT ? names[kind] : "unknown";
}

const char *masu__recorded_mark_name(unsigned mark) {
    static const char *const names[] = {"note", "scope", "frame", "graph", "step", "plan"};
    return mark < MASU__MARK_COUNT ? names[mark] : "unknown";
}
