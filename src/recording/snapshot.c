/* snapshot.c: the pickle that torch.cuda.memory._dump_snapshot writes, as entries, segments and blocks. Keys that are
 * not known are passed over, for later versions add some; a known key with a value of another kind is an error that
 * names its place. */
#include "recording/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "base/meta.h"
#include "recording/pickle.h"

/* Where in the file the reader is, for errors: segments[3].blocks[2] */
typedef struct path {
    const struct path *outer;
    const char *name;
    size_t index;
    bool has_index;
} path;

typedef struct reader {
    const masu__pickle *pickle;
    masu__snapshot *snapshot;
    masu__recording *out;
    masu__buffer *why;
    masu_status status;
    size_t left;             /* entries, segments and blocks that may yet be read */
    uint32_t *place_of_list; /* one a box: its stack in the recording, UINT32_MAX: not yet read */
    size_t list_count;
} reader;

static void put_path(masu__buffer *out, const path *at) {
    if (at->outer) {
        put_path(out, at->outer);
        masu__buffer_putc(out, '.');
    }
    masu__buffer_puts(out, at->name);
    if (at->has_index)
        masu__buffer_printf(out, "[%zu]", at->index);
}

__attribute__((format(printf, 3, 4))) static bool wrong(reader *r, const path *at, const char *format, ...) {
    if (r->status != MASU_OK)
        return false;
    r->status = MASU_ERR_INVALID_ARGUMENT;
    if (at) {
        put_path(r->why, at);
        masu__buffer_puts(r->why, ": ");
    }
    va_list arguments;
    va_start(arguments, format);
    masu__buffer_vprintf(r->why, format, arguments);
    va_end(arguments);
    return false;
}

static bool check(reader *r, masu_status status) {
    if (r->status == MASU_OK)
        r->status = status;
    return r->status == MASU_OK;
}

/* One more thing out of the file: a file that shares its lists cannot ask for more than its own size. */
static bool take_one(reader *r, const path *at) {
    return r->left > 0 ? r->left-- > 0 : wrong(r, at, "more entries than the file has bytes");
}

/* ---- fields ------------------------------------------------------------------------------------------------------ */

static const masu__pickle_value *field(reader *r, const path *at, masu__pickle_value of, const char *key, bool must) {
    const masu__pickle_value *value = masu__pickle_get(r->pickle, of, key);
    if (!value && must)
        wrong(r, at, of.kind == MASU__PICKLE_DICT ? "`%s` is missing" : "not a dict, so that it has no `%s`", key);
    return value;
}

static bool must_be(reader *r, const path *at, const char *key, const masu__pickle_value *value, uint32_t kind) {
    if (value->kind == kind)
        return true;
    path inner = {.outer = at, .name = key};
    return wrong(r, at ? &inner : &(path){.name = key}, "expected %s, found %s", masu__pickle_kind_name(kind),
                 masu__pickle_kind_name(value->kind));
}

/* A number from 0 on; 0 where the key is missing and need not be there. */
static uint64_t number(reader *r, const path *at, masu__pickle_value of, const char *key, bool must) {
    const masu__pickle_value *value = field(r, at, of, key, must);
    if (!value || (value->kind == MASU__PICKLE_NONE && !must))
        return 0;
    if (value->kind == MASU__PICKLE_UNSIGNED)
        return (uint64_t)value->is.integer;
    if (!must_be(r, at, key, value, MASU__PICKLE_INT))
        return 0;
    if (value->is.integer < 0) {
        path inner = {.outer = at, .name = key};
        wrong(r, &inner, "%lld is below 0", (long long)value->is.integer);
        return 0;
    }
    return (uint64_t)value->is.integer;
}

static uint16_t device_number(reader *r, const path *at, uint64_t device) {
    if (device >= MASU__TORCH_MOST_DEVICES)
        wrong(r, at, "device %llu: there are at most %d", (unsigned long long)device, MASU__TORCH_MOST_DEVICES);
    return (uint16_t)device;
}

static bool is_text(const masu__pickle_value *value, const char *text) {
    size_t length = strlen(text);
    return value && value->kind == MASU__PICKLE_TEXT && value->length == length &&
           memcmp(value->is.text, text, length) == 0;
}

/* A pool of its own: two numbers, of which (0, 0) is the common one. */
static uint64_t private_pool(reader *r, masu__pickle_value of, const char *key) {
    const masu__pickle_value *value = masu__pickle_get(r->pickle, of, key);
    size_t count = 0;
    const masu__pickle_value *items = value ? masu__pickle_items(r->pickle, *value, &count) : NULL;
    if (count != 2 || items[0].kind != MASU__PICKLE_INT || items[1].kind != MASU__PICKLE_INT)
        return 0;
    return ((uint64_t)items[0].is.integer << 31 ^ (uint64_t)items[1].is.integer) & (UINT64_MAX >> 1);
}

/* An address range that does not wrap. */
static bool range(reader *r, const path *at, uint64_t address, uint64_t bytes) {
    return (bytes <= (uint64_t)1 << 60 && address + bytes >= address) ||
           wrong(r, at, "%llu bytes at %llu run over the end of all addresses", (unsigned long long)bytes,
                 (unsigned long long)address);
}

/* ---- stacks ------------------------------------------------------------------------------------------------------ */

/* The recorder itself is the innermost part of every stack that it took. */
static bool is_recorder(const masu__pickle_value *name) {
    static const char *const heads[] = {
        "torch::unwind::", "torch::CapturedTraceback::", "torch::cuda::(anonymous namespace)::gather"};
    for (size_t i = 0; i < sizeof heads / sizeof *heads && name && name->kind == MASU__PICKLE_TEXT; i++)
        if (name->length >= strlen(heads[i]) && memcmp(name->is.text, heads[i], strlen(heads[i])) == 0)
            return true;
    return false;
}

static uint32_t string_of(reader *r, const masu__pickle_value *value) {
    uint32_t index = 0;
    if (value && value->kind == MASU__PICKLE_TEXT && !is_text(value, "??") && !is_text(value, "N/A"))
        check(r, masu__recording_string(r->out, value->is.text, value->length, &index));
    return index;
}

static uint32_t read_stack(reader *r, masu__pickle_value list) {
    size_t count, inner = 0;
    const masu__pickle_value *frames = masu__pickle_items(r->pickle, list, &count);
    while (inner < count && is_recorder(masu__pickle_get(r->pickle, frames[inner], "name")))
        inner++;
    masu__recorded_place place = {0};
    uint32_t index = 0;
    for (size_t i = count; i-- > inner && r->status == MASU_OK; place.caller = index) {
        const masu__pickle_value *line = masu__pickle_get(r->pickle, frames[i], "line");
        place.function = string_of(r, masu__pickle_get(r->pickle, frames[i], "name"));
        place.line = line && line->kind == MASU__PICKLE_INT ? (uint32_t)line->is.integer : 0;
        place.file = place.line ? string_of(r, masu__pickle_get(r->pickle, frames[i], "filename")) : 0;
        check(r, masu__recording_place(r->out, place, &index));
    }
    return index;
}

static uint32_t stack_of(reader *r, masu__pickle_value of) {
    const masu__pickle_value *list = masu__pickle_get(r->pickle, of, "frames");
    if (!list || list->kind != MASU__PICKLE_LIST)
        return 0;
    uint32_t *known = &r->place_of_list[list->is.box];
    if (*known == UINT32_MAX)
        *known = read_stack(r, *list);
    return *known;
}

/* ---- segments ---------------------------------------------------------------------------------------------------- */

static bool read_block(reader *r, const path *at, masu__pickle_value value, uint64_t *address, uint64_t end) {
    masu__snapshot *s = r->snapshot;
    const masu__pickle_value *state = field(r, at, value, "state", true);
    const masu__pickle_value *where = masu__pickle_get(r->pickle, value, "address");
    masu__held_block b = {.bytes = number(r, at, value, "size", true),
                          .asked_bytes = number(r, at, value, "requested_size", false),
                          .address = where ? number(r, at, value, "address", true)
                                           : *address, /* before 2.1 there is none */
                          .place = stack_of(r, value)};
    if (r->status != MASU_OK || !take_one(r, at))
        return false;
    b.is_live = !is_text(state, "inactive");
    if (b.is_live && !is_text(state, "active_allocated") && !is_text(state, "active_pending_free") &&
        !is_text(state, "active_awaiting_free"))
        return wrong(r, at,
                     "a state that is not known: active_allocated, active_awaiting_free or inactive were expected");
    if (b.address != *address || b.bytes == 0 || b.bytes > end - *address)
        return wrong(r, at, "the block does not lie behind the one before it, inside its segment");
    if (b.asked_bytes == 0 || b.asked_bytes > b.bytes)
        b.asked_bytes = b.bytes;
    *address += b.bytes;
    MASU_ARENA_PUSH(&s->arena, s->blocks, s->block_count, s->block_capacity, b,
                    return check(r, MASU_ERR_OUT_OF_MEMORY));
    return true;
}

static bool read_segment(reader *r, const path *at, masu__pickle_value value) {
    masu__snapshot *s = r->snapshot;
    const masu__pickle_value *type = masu__pickle_get(r->pickle, value, "segment_type");
    const masu__pickle_value *expandable = masu__pickle_get(r->pickle, value, "is_expandable");
    const masu__pickle_value *blocks = field(r, at, value, "blocks", true);
    masu__held_segment g = {.address = number(r, at, value, "address", true),
                            .bytes = number(r, at, value, "total_size", true),
                            .stream = number(r, at, value, "stream", false),
                            .private_pool = private_pool(r, value, "segment_pool_id"),
                            .first_block = s->block_count,
                            .place = stack_of(r, value),
                            .device = device_number(r, at, number(r, at, value, "device", false)),
                            .is_small = is_text(type, "small"),
                            .is_expandable = expandable && expandable->kind == MASU__PICKLE_BOOL &&
                                             expandable->is.integer};
    if (r->status != MASU_OK || !take_one(r, at) || !range(r, at, g.address, g.bytes) ||
        !must_be(r, at, "blocks", blocks, MASU__PICKLE_LIST))
        return false;
    size_t count;
    const masu__pickle_value *items = masu__pickle_items(r->pickle, *blocks, &count);
    uint64_t address = g.address, end = g.address + g.bytes;
    for (size_t i = 0; i < count; i++)
        if (!read_block(r, &(path){at, "blocks", i, true}, items[i], &address, end))
            return false;
    if (address != end)
        return wrong(r, at, "its blocks have %llu bytes, and total_size is %llu",
                     (unsigned long long)(address - g.address), (unsigned long long)g.bytes);
    g.block_count = s->block_count - g.first_block;
    MASU_ARENA_PUSH(&s->arena, s->segments, s->segment_count, s->segment_capacity, g,
                    return check(r, MASU_ERR_OUT_OF_MEMORY));
    return true;
}

static int segment_order(const masu__held_segment *a, uint16_t device, uint64_t address) {
    if (a->device != device)
        return a->device < device ? -1 : 1;
    return a->address < address ? -1 : a->address > address;
}

static int compare_segments(const void *a, const void *b) {
    const masu__held_segment *y = b;
    return segment_order(a, y->device, y->address);
}

/* How many lie before that address. */
static size_t segments_before(const masu__snapshot *s, uint16_t device, uint64_t address) {
    size_t low = 0, high = s->segment_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (segment_order(&s->segments[middle], device, address) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const masu__held_segment *masu__snapshot_segment_from(const masu__snapshot *s, uint16_t device, uint64_t address) {
    size_t at = segments_before(s, device, address);
    return at < s->segment_count ? &s->segments[at] : NULL;
}

const masu__held_segment *masu__snapshot_segment_at(const masu__snapshot *s, uint16_t device, uint64_t address) {
    size_t at = segments_before(s, device, address);
    const masu__held_segment *from = at < s->segment_count ? &s->segments[at] : NULL;
    if (from && from->device == device && from->address == address)
        return from;
    const masu__held_segment *before = at > 0 ? &s->segments[at - 1] : NULL;
    return before && before->device == device && address - before->address < before->bytes ? before : NULL;
}

static bool read_segments(reader *r, masu__pickle_value list) {
    masu__snapshot *s = r->snapshot;
    size_t count;
    const masu__pickle_value *items = masu__pickle_items(r->pickle, list, &count);
    for (size_t i = 0; i < count; i++)
        if (!read_segment(r, &(path){NULL, "segments", i, true}, items[i]))
            return false;
    if (s->segment_count > 1)
        qsort(s->segments, s->segment_count, sizeof *s->segments, compare_segments);
    for (size_t i = 1; i < s->segment_count; i++)
        if (s->segments[i].device == s->segments[i - 1].device &&
            s->segments[i].address - s->segments[i - 1].address < s->segments[i - 1].bytes)
            return wrong(r, NULL, "two segments share address %llu", (unsigned long long)s->segments[i].address);
    return true;
}

/* ---- entries ----------------------------------------------------------------------------------------------------- */

static const char *const actions[MASU__ENTRY_BEGIN] = {
    [MASU__ENTRY_ALLOC] = "alloc",
    [MASU__ENTRY_FREE_REQUESTED] = "free_requested",
    [MASU__ENTRY_FREE_COMPLETED] = "free_completed",
    [MASU__ENTRY_SEGMENT_ALLOC] = "segment_alloc",
    [MASU__ENTRY_SEGMENT_FREE] = "segment_free",
    [MASU__ENTRY_SEGMENT_MAP] = "segment_map",
    [MASU__ENTRY_SEGMENT_UNMAP] = "segment_unmap",
    [MASU__ENTRY_SNAPSHOT] = "snapshot",
    [MASU__ENTRY_OOM] = "oom",
};

static bool read_action(reader *r, const path *at, masu__pickle_value value, uint8_t *kind) {
    const masu__pickle_value *action = field(r, at, value, "action", true);
    if (!action || !must_be(r, at, "action", action, MASU__PICKLE_TEXT))
        return false;
    for (*kind = 0; *kind < MASU__ENTRY_BEGIN; ++*kind)
        if (is_text(action, actions[*kind]))
            return true;
    unsigned shown = action->length < 40 ? action->length : 40;
    return wrong(r, at, "action `%.*s` is not known", (int)shown, action->is.text);
}

static bool read_entry(reader *r, const path *at, masu__pickle_value value, uint16_t device) {
    masu__snapshot *s = r->snapshot;
    masu__entry e = {.device = device};
    if (!take_one(r, at) || !read_action(r, at, value, &e.kind))
        return false;
    bool has_range = e.kind < MASU__ENTRY_SNAPSHOT;
    e.address = number(r, at, value, e.kind == MASU__ENTRY_OOM ? "device_free" : "addr", has_range);
    e.bytes = number(r, at, value, "size", has_range);
    e.stream = number(r, at, value, "stream", false);
    e.time_us = (int64_t)(number(r, at, value, "time_us", false) & INT64_MAX);
    e.place = stack_of(r, value);
    e.text = string_of(r, masu__pickle_get(r->pickle, value, "user_metadata"));
    e.private_pool = private_pool(r, value, "pool_id");
    s->has_times |= e.time_us != 0;
    if (r->status != MASU_OK || (has_range && !range(r, at, e.address, e.bytes)))
        return false;
    if (has_range && e.bytes == 0 && e.kind >= MASU__ENTRY_SEGMENT_ALLOC)
        return wrong(r, at, "a segment of no bytes");
    MASU_ARENA_PUSH(&s->arena, s->entries, s->entry_count, s->entry_capacity, e,
                    return check(r, MASU_ERR_OUT_OF_MEMORY));
    return true;
}

static bool read_traces(reader *r, masu__pickle_value list) {
    size_t devices;
    const masu__pickle_value *traces = masu__pickle_items(r->pickle, list, &devices);
    for (size_t d = 0; d < devices; d++) {
        path outer = {NULL, "device_traces", d, true};
        size_t count;
        const masu__pickle_value *items = masu__pickle_items(r->pickle, traces[d], &count);
        uint16_t device = count ? device_number(r, &outer, d) : 0;
        for (size_t i = 0; i < count && r->status == MASU_OK; i++)
            read_entry(r, &(path){&outer, "entry", i, true}, items[i], device);
        if (r->status != MASU_OK)
            return false;
    }
    return true;
}

/* The program's own annotations: where a step begins and ends. */
static bool read_annotations(reader *r, masu__pickle_value list) {
    masu__snapshot *s = r->snapshot;
    size_t count;
    const masu__pickle_value *items = masu__pickle_items(r->pickle, list, &count);
    for (size_t i = 0; i < count; i++) {
        path at = {NULL, "external_annotations", i, true};
        const masu__pickle_value *stage = masu__pickle_get(r->pickle, items[i], "stage");
        masu__entry e = {.kind = is_text(stage, "END") ? MASU__ENTRY_END : MASU__ENTRY_BEGIN,
                         .time_us = (int64_t)(number(r, &at, items[i], "time_us", false) & INT64_MAX),
                         .device = device_number(r, &at, number(r, &at, items[i], "device", false)),
                         .text = string_of(r, masu__pickle_get(r->pickle, items[i], "name"))};
        if (r->status != MASU_OK || !take_one(r, &at))
            return false;
        if (!is_text(stage, "START") && !is_text(stage, "END"))
            continue;
        MASU_ARENA_PUSH(&s->arena, s->entries, s->entry_count, s->entry_capacity, e,
                        return check(r, MASU_ERR_OUT_OF_MEMORY));
    }
    return true;
}

static int compare_entries(const void *a, const void *b) {
    const masu__entry *x = a, *y = b;
    if (x->time_us != y->time_us)
        return x->time_us < y->time_us ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* By time, those of one list in the order of the list. Clocks that fall are held. */
static void sort_entries(masu__snapshot *s, size_t traced) {
    for (size_t i = 0; i < s->entry_count; i++) {
        masu__entry *e = &s->entries[i];
        e->order = (uint32_t)i;
        if (i > 0 && i != traced && e->device == e[-1].device && e->time_us < e[-1].time_us)
            e->time_us = e[-1].time_us;
    }
    if (s->has_times && s->entry_count > 1)
        qsort(s->entries, s->entry_count, sizeof *s->entries, compare_entries);
}

/* A segment that is there at the end came with the last entry that says so. */
static void date_segments(masu__snapshot *s) {
    for (size_t i = 0; i < s->entry_count; i++) {
        const masu__entry *e = &s->entries[i];
        size_t at = e->kind == MASU__ENTRY_SEGMENT_ALLOC ? segments_before(s, e->device, e->address) : s->segment_count;
        if (at < s->segment_count && s->segments[at].device == e->device && s->segments[at].address == e->address)
            s->segments[at].since = (uint32_t)i;
    }
}

/* ---- settings ---------------------------------------------------------------------------------------------------- */

static void put_value(reader *r, masu__buffer *out, masu__pickle_value value, bool inside) {
    size_t count;
    const masu__pickle_value *items = masu__pickle_items(r->pickle, value, &count);
    if (value.kind == MASU__PICKLE_TEXT)
        masu__buffer_append(out, value.is.text, value.length < 200 ? value.length : 200);
    else if (value.kind == MASU__PICKLE_INT)
        masu__buffer_printf(out, "%lld", (long long)value.is.integer);
    else if (value.kind == MASU__PICKLE_UNSIGNED)
        masu__buffer_printf(out, "%llu", (unsigned long long)value.is.integer);
    else if (value.kind == MASU__PICKLE_FLOAT)
        masu__buffer_printf(out, "%.17g", value.is.real);
    else if (value.kind == MASU__PICKLE_BOOL)
        masu__buffer_puts(out, value.is.integer ? "True" : "False");
    for (size_t i = 0; i + 1 < count && !inside && value.kind == MASU__PICKLE_DICT && out->length < 2000; i += 2) {
        masu__buffer_puts(out, i ? "," : "");
        put_value(r, out, items[i], true);
        masu__buffer_putc(out, ':');
        put_value(r, out, items[i + 1], true);
    }
}

static bool read_settings(reader *r, masu__pickle_value dict) {
    size_t count;
    const masu__pickle_value *items = masu__pickle_items(r->pickle, dict, &count);
    masu__buffer name = {0}, value = {0};
    for (size_t i = 0; i + 1 < count && i < 200 && r->status == MASU_OK && dict.kind == MASU__PICKLE_DICT; i += 2) {
        masu__buffer_truncate(&name, 0);
        masu__buffer_truncate(&value, 0);
        put_value(r, &name, items[i], true);
        put_value(r, &value, items[i + 1], false);
        check(r, name.failed || value.failed
                     ? MASU_ERR_OUT_OF_MEMORY
                     : masu__recording_setting(r->out, masu__buffer_text(&name), masu__buffer_text(&value)));
    }
    masu__buffer_destroy(&name);
    masu__buffer_destroy(&value);
    return r->status == MASU_OK;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static bool read_all(reader *r) {
    masu__pickle_value top = r->pickle->top;
    const masu__pickle_value *segments = masu__pickle_get(r->pickle, top, "segments");
    const masu__pickle_value *traces = masu__pickle_get(r->pickle, top, "device_traces");
    const masu__pickle_value *annotations = masu__pickle_get(r->pickle, top, "external_annotations");
    const masu__pickle_value *settings = masu__pickle_get(r->pickle, top, "allocator_settings");
    if (!segments || !traces)
        return wrong(r, NULL,
                     "a pickle, but not a memory snapshot: a dict with `segments` and `device_traces` was expected, as "
                     "torch.cuda.memory._dump_snapshot writes it");
    if (!must_be(r, NULL, "segments", segments, MASU__PICKLE_LIST) ||
        !must_be(r, NULL, "device_traces", traces, MASU__PICKLE_LIST) || !read_segments(r, *segments) ||
        !read_traces(r, *traces))
        return false;
    size_t traced = r->snapshot->entry_count;
    if (annotations && r->snapshot->has_times && !read_annotations(r, *annotations))
        return false;
    sort_entries(r->snapshot, traced);
    date_segments(r->snapshot);
    return !settings || read_settings(r, *settings);
}

/* Fills in the bytes that each block really took, as far as the model follows. */
static masu_status fill_given(masu__recording *out) {
    size_t bytes = (out->event_count + 1) * sizeof(uint64_t);
    uint64_t *given = masu__meta_calloc(out->event_count + 1, sizeof *given);
    masu__torch_followed followed;
    masu_status status = given ? masu__torch_follow(out, given, &followed) : MASU_ERR_OUT_OF_MEMORY;
    if (status == MASU_OK) {
        masu__torch_followed_destroy(&followed);
        for (size_t i = 0; i < out->event_count; i++)
            if (given[i] > out->events[i].given_bytes)
                out->events[i].given_bytes = given[i];
    }
    masu__meta_free(given, bytes);
    return status;
}

masu_status masu__snapshot_read(const void *bytes, size_t length, masu__recording *out, masu__buffer *why) {
    masu__pickle pickle;
    masu__snapshot snapshot = {0};
    masu_status status = masu__pickle_read(bytes, length, &pickle, why);
    if (status != MASU_OK)
        return status;
    status = masu__recording_init(out, "PyTorch snapshot");
    if (status == MASU_OK) {
        reader r = {.pickle = &pickle,
                    .snapshot = &snapshot,
                    .out = out,
                    .why = why,
                    .left = length,
                    .list_count = pickle.box_count};
        r.place_of_list = masu__meta_alloc((r.list_count + 1) * sizeof(uint32_t));
        if (r.place_of_list) {
            memset(r.place_of_list, 0xff, (r.list_count + 1) * sizeof(uint32_t));
            status = read_all(&r) ? masu__snapshot_to_recording(&snapshot, out) : r.status;
            if (status == MASU_OK)
                status = fill_given(out);
        } else {
            status = MASU_ERR_OUT_OF_MEMORY;
        }
        masu__meta_free(r.place_of_list, (r.list_count + 1) * sizeof(uint32_t));
        if (status != MASU_OK)
            masu__recording_destroy(out);
    }
    masu__arena_destroy(&snapshot.arena);
    masu__pickle_destroy(&pickle);
    return status;
}
