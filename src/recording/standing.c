/* standing.c: a snapshot as a recording. What was there before the first entry is found from what comes later:
 *
 *     a block     the first entry at its address frees it; or there is none, and it lives at the end
 *     a segment   the first entry at its address drops it; or there is none, and it is there at the end
 *     pages       what is mapped at the end, with every map taken away and every unmap added, from the last to the
 *                 first
 *
 * A segment that can expand has addresses of which a snapshot shows only what is mapped: those of one owner, near each
 * other and without a stranger between them, are one segment.
 */
#include "recording/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "base/meta.h"
#include "recording/torch_pool.h"

#define SMALL_SEGMENT_BYTES ((uint64_t)2 << 20)
/* Less than the addresses of any segment that can expand, which are more than the memory of its device. */
#define NEAR_BYTES ((uint64_t)4 << 30)

/* Addresses of one segment that can expand. */
typedef struct space {
    uint64_t from, to, stream, private_pool;
    uint16_t device;
    bool is_small, is_recorded; /* its SEGMENT_ADD is in the recording */
} space;

typedef struct range {
    uint64_t from, to;
    uint16_t device;
} range;

typedef struct writer {
    const masu__snapshot *s;
    masu__recording *out;
    masu__torch_settings settings;
    masu__arena arena; /* what is needed during the call only */
    masu_status status;
    space *spaces;
    range *ranges; /* mapped, by device and address, apart */
    unsigned space_count, space_capacity, range_count, range_capacity;
    int64_t began_us;
} writer;

static bool check(writer *w, masu_status status) {
    if (w->status == MASU_OK)
        w->status = status;
    return w->status == MASU_OK;
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

static uint16_t device_of(writer *w, uint16_t number) {
    char name[16] = "cuda:";
    size_t length = 5;
    for (unsigned scale = 100; scale; scale /= 10)
        if (number >= scale || scale == 1)
            name[length++] = (char)('0' + number / scale % 10);
    masu__recorded_device device = {.number = number};
    uint16_t index = 0;
    if (check(w, masu__recording_string(w->out, name, length, &device.name)))
        check(w, masu__recording_device(w->out, device, &index));
    return index;
}

static uint16_t stream_of(writer *w, uint16_t device, uint64_t handle) {
    uint16_t index = 0;
    check(w, masu__recording_stream(w->out, (masu__recorded_stream){handle, device_of(w, device)}, &index));
    return index;
}

static uint32_t pool_of(writer *w, uint16_t device, bool is_small, uint64_t private_pool) {
    const char *name = is_small ? "small pool" : "large pool", *layer = is_small ? "small" : "large";
    masu__recorded_pool pool = {.device = device_of(w, device),
                                .number = masu__torch_pool_number(private_pool, is_small)};
    uint32_t index = 0;
    if (private_pool)
        name = is_small ? "small pool of a graph" : "large pool of a graph";
    if (check(w, masu__recording_string(w->out, name, strlen(name), &pool.name)) &&
        check(w, masu__recording_string(w->out, layer, strlen(layer), &pool.layer)))
        check(w, masu__recording_pool(w->out, pool, &index));
    return index;
}

static masu__recorded_event event_of(writer *w, uint8_t kind, uint16_t device, uint64_t stream, uint64_t address,
                                     uint64_t bytes) {
    return (masu__recorded_event){.kind = kind,
                                  .device = device_of(w, device),
                                  .stream = stream_of(w, device, stream),
                                  .address = address,
                                  .bytes = bytes,
                                  .given_bytes = bytes};
}

/* ---- entries by address ------------------------------------------------------------------------------------------ */

typedef struct touch {
    uint64_t address;
    uint32_t entry;
    uint16_t device;
} touch;

static int compare_touches(const void *a, const void *b) {
    const touch *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return x->entry < y->entry ? -1 : x->entry > y->entry;
}

/* The first entry at each address, of those kinds: by device and address. */
static touch *first_touches(writer *w, unsigned kinds, size_t *count) {
    const masu__snapshot *s = w->s;
    touch *all = masu__arena_alloc(&w->arena, (s->entry_count + 1) * sizeof *all, _Alignof(touch));
    *count = 0;
    if (!all) {
        check(w, MASU_ERR_OUT_OF_MEMORY);
        return NULL;
    }
    size_t n = 0;
    for (size_t i = 0; i < s->entry_count; i++)
        if (kinds >> s->entries[i].kind & 1)
            all[n++] = (touch){s->entries[i].address, (uint32_t)i, s->entries[i].device};
    if (n > 1)
        qsort(all, n, sizeof *all, compare_touches);
    for (size_t i = 0; i < n; i++)
        if (*count == 0 || all[i].address != all[*count - 1].address || all[i].device != all[*count - 1].device)
            all[(*count)++] = all[i];
    return all;
}

static bool is_touched(const touch *touches, size_t count, uint16_t device, uint64_t address) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        touch wanted = {address, touches[middle].entry, device};
        int order = compare_touches(&touches[middle], &wanted);
        if (order == 0)
            return true;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

/* ---- whose ------------------------------------------------------------------------------------------------------- */

/* The segment of the end at that address, if it was there already. */
static const masu__held_segment *segment_of(const writer *w, const masu__entry *e) {
    const masu__held_segment *g = masu__snapshot_segment_at(w->s, e->device, e->address);
    return g && (size_t)(e - w->s->entries) >= g->since ? g : NULL;
}

static uint64_t private_of(const writer *w, const masu__entry *e) {
    const masu__held_segment *g = e->private_pool ? NULL : segment_of(w, e);
    return g ? g->private_pool : e->private_pool;
}

/* A request's kind follows from its size, so that its free, which says the same size, finds the same pool. */
static uint32_t pool_of_request(writer *w, const masu__entry *e) {
    bool is_small = masu__torch_is_small(masu__torch_round(&w->settings, e->bytes));
    return pool_of(w, e->device, is_small, private_of(w, e));
}

/* ---- segments that can expand ------------------------------------------------------------------------------------ */

/* Once they are found, they are sorted and apart. */
static space *space_at(writer *w, uint16_t device, uint64_t address) {
    size_t low = 0, high = w->space_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const space *in = &w->spaces[middle];
        if (in->device < device || (in->device == device && in->to <= address))
            low = middle + 1;
        else
            high = middle;
    }
    space *found = low < w->space_count ? &w->spaces[low] : NULL;
    return found && found->device == device && found->from <= address ? found : NULL;
}

static int compare_spaces(const void *a, const void *b) {
    const space *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->to < y->to ? -1 : x->to > y->to;
}

static bool same_owner(const space *a, const space *b) {
    return a->device == b->device && a->stream == b->stream && a->private_pool == b->private_pool &&
           a->is_small == b->is_small;
}

/* Small pages come singly. What came in one piece with 2 MiB is small, what lies in a segment of the end is as that
 * one. */
static void push_space(writer *w, const masu__entry *e) {
    const masu__held_segment *g = segment_of(w, e);
    space one = {.from = e->address,
                 .to = e->address + e->bytes,
                 .stream = e->stream,
                 .private_pool = private_of(w, e),
                 .device = e->device,
                 .is_small = g ? g->is_small : e->bytes == SMALL_SEGMENT_BYTES};
    MASU_ARENA_PUSH(&w->arena, w->spaces, w->space_count, w->space_capacity, one, check(w, MASU_ERR_OUT_OF_MEMORY);
                    return );
}

static bool has_stranger(const writer *w, const space *a, const space *b) {
    const masu__held_segment *g = masu__snapshot_segment_from(w->s, a->device, a->to);
    for (; g && g->device == a->device && g->address < b->from;
         g = g + 1 < w->s->segments + w->s->segment_count ? g + 1 : NULL)
        if (!g->is_expandable)
            return true;
    return false;
}

static void find_spaces(writer *w) {
    const masu__snapshot *s = w->s;
    for (size_t i = 0; i < s->segment_count && w->status == MASU_OK; i++) {
        const masu__held_segment *g = &s->segments[i];
        space one = {g->address, g->address + g->bytes, g->stream, g->private_pool, g->device, g->is_small, false};
        if (g->is_expandable)
            MASU_ARENA_PUSH(&w->arena, w->spaces, w->space_count, w->space_capacity, one,
                            check(w, MASU_ERR_OUT_OF_MEMORY);
                            return );
    }
    for (size_t i = 0; i < s->entry_count && w->status == MASU_OK; i++)
        if (s->entries[i].kind == MASU__ENTRY_SEGMENT_MAP || s->entries[i].kind == MASU__ENTRY_SEGMENT_UNMAP)
            push_space(w, &s->entries[i]);
    if (w->status != MASU_OK || w->space_count == 0)
        return;
    qsort(w->spaces, w->space_count, sizeof *w->spaces, compare_spaces);
    size_t kept = 0;
    for (size_t i = 1; i < w->space_count; i++) {
        space *last = &w->spaces[kept], *next = &w->spaces[i];
        bool overlaps = next->device == last->device && next->from < last->to;
        bool is_near = next->from - last->to < NEAR_BYTES;
        if (overlaps || (is_near && same_owner(last, next) && !has_stranger(w, last, next)))
            last->to = next->to > last->to ? next->to : last->to;
        else
            w->spaces[++kept] = *next;
    }
    w->space_count = (unsigned)kept + 1;
}

/* ---- pages ------------------------------------------------------------------------------------------------------- */

static size_t range_place(const writer *w, uint16_t device, uint64_t address) {
    size_t low = 0, high = w->range_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const range *r = &w->ranges[middle];
        if (r->device < device || (r->device == device && r->to < address))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void insert_range(writer *w, size_t at, range one) {
    MASU_ARENA_PUSH(&w->arena, w->ranges, w->range_count, w->range_capacity, one, check(w, MASU_ERR_OUT_OF_MEMORY);
                    return );
    memmove(w->ranges + at + 1, w->ranges + at, (w->range_count - 1 - at) * sizeof one);
    w->ranges[at] = one;
}

static void map_range(writer *w, range one) {
    size_t at = range_place(w, one.device, one.from), end = at;
    for (; end < w->range_count && w->ranges[end].device == one.device && w->ranges[end].from <= one.to; end++) {
        one.from = w->ranges[end].from < one.from ? w->ranges[end].from : one.from;
        one.to = w->ranges[end].to > one.to ? w->ranges[end].to : one.to;
    }
    if (end == at) {
        insert_range(w, at, one);
        return;
    }
    w->ranges[at] = one;
    memmove(w->ranges + at + 1, w->ranges + end, (w->range_count - end) * sizeof one);
    w->range_count -= (unsigned)(end - at - 1);
}

static void unmap_range(writer *w, range one) {
    size_t at = range_place(w, one.device, one.from);
    while (at < w->range_count && w->ranges[at].device == one.device && w->ranges[at].from < one.to &&
           w->status == MASU_OK) {
        range *r = &w->ranges[at], behind = {one.to, r->to, r->device};
        if (r->to <= one.from) {
            at++;
            continue;
        }
        if (r->from < one.from) {
            r->to = one.from;
            at++;
        } else {
            memmove(r, r + 1, (w->range_count - at - 1) * sizeof *r);
            w->range_count--;
        }
        if (behind.to > behind.from) {
            insert_range(w, at, behind);
            return;
        }
    }
}

/* ---- what stood -------------------------------------------------------------------------------------------------- */

static void put_standing(writer *w, masu__recorded_event e) {
    if (w->status == MASU_OK)
        check(w, masu__recording_standing(w->out, &e));
}

static void tell_space(writer *w, space *in, bool standing) {
    if (in->is_recorded)
        return;
    in->is_recorded = true;
    masu__recorded_event e = event_of(w, MASU__RECORDED_SEGMENT_ADD, in->device, in->stream, in->from, 0);
    e.given_bytes = in->to - in->from;
    e.flags = MASU__RECORDED_EXPANDABLE;
    e.pool = pool_of(w, in->device, in->is_small, in->private_pool);
    if (standing)
        put_standing(w, e);
    else if (w->status == MASU_OK)
        check(w, masu__recording_event(w->out, &e));
}

static void stand_pages(writer *w) {
    const masu__snapshot *s = w->s;
    find_spaces(w);
    for (size_t i = 0; i < s->segment_count && w->status == MASU_OK; i++)
        if (s->segments[i].is_expandable)
            map_range(w, (range){s->segments[i].address, s->segments[i].address + s->segments[i].bytes,
                                 s->segments[i].device});
    for (size_t i = s->entry_count; i-- > 0 && w->status == MASU_OK;) {
        const masu__entry *e = &s->entries[i];
        range one = {e->address, e->address + e->bytes, e->device};
        if (e->kind == MASU__ENTRY_SEGMENT_MAP)
            unmap_range(w, one);
        else if (e->kind == MASU__ENTRY_SEGMENT_UNMAP)
            map_range(w, one);
    }
    for (size_t i = 0; i < w->range_count && w->status == MASU_OK; i++) {
        space *in = space_at(w, w->ranges[i].device, w->ranges[i].from);
        if (!in)
            continue;
        tell_space(w, in, true);
        masu__recorded_event e = event_of(w, MASU__RECORDED_MAP, in->device, in->stream, w->ranges[i].from,
                                          w->ranges[i].to - w->ranges[i].from);
        e.pool = pool_of(w, in->device, in->is_small, in->private_pool);
        put_standing(w, e);
    }
}

static void stand_segments(writer *w) {
    const masu__snapshot *s = w->s;
    size_t count;
    const touch *touches = first_touches(w, 1u << MASU__ENTRY_SEGMENT_ALLOC | 1u << MASU__ENTRY_SEGMENT_FREE, &count);
    for (size_t i = 0; i < s->segment_count && w->status == MASU_OK; i++) {
        const masu__held_segment *g = &s->segments[i];
        if (g->is_expandable || is_touched(touches, count, g->device, g->address))
            continue;
        masu__recorded_event e = event_of(w, MASU__RECORDED_SEGMENT_ADD, g->device, g->stream, g->address, g->bytes);
        e.pool = pool_of(w, g->device, g->is_small, g->private_pool);
        e.place = g->place;
        put_standing(w, e);
    }
    for (size_t i = 0; i < count && w->status == MASU_OK; i++) {
        const masu__entry *first = &s->entries[touches[i].entry];
        if (first->kind != MASU__ENTRY_SEGMENT_FREE)
            continue;
        masu__recorded_event e = event_of(w, MASU__RECORDED_SEGMENT_ADD, first->device, first->stream, first->address,
                                          first->bytes);
        e.pool = pool_of(w, first->device, first->bytes == SMALL_SEGMENT_BYTES, first->private_pool);
        put_standing(w, e);
    }
}

static masu__recorded_event held_block(writer *w, const masu__held_segment *g, const masu__held_block *b) {
    masu__recorded_event e = event_of(w, MASU__RECORDED_ALLOC, g->device, g->stream, b->address, b->asked_bytes);
    e.given_bytes = b->bytes;
    e.pool = pool_of(w, g->device, g->is_small, g->private_pool);
    e.place = b->place;
    return e;
}

static uint64_t given_of(const writer *w, uint64_t bytes) {
    uint64_t given = masu__torch_round(&w->settings, bytes);
    return given == UINT64_MAX ? bytes : given;
}

static void stand_blocks(writer *w) {
    const masu__snapshot *s = w->s;
    unsigned kinds = 1u << MASU__ENTRY_ALLOC | 1u << MASU__ENTRY_FREE_REQUESTED | 1u << MASU__ENTRY_FREE_COMPLETED;
    size_t count;
    const touch *touches = first_touches(w, kinds, &count);
    for (size_t i = 0; i < s->segment_count; i++) {
        const masu__held_segment *g = &s->segments[i];
        for (size_t k = g->first_block; k < g->first_block + g->block_count && w->status == MASU_OK; k++)
            if (s->blocks[k].is_live && !is_touched(touches, count, g->device, s->blocks[k].address))
                put_standing(w, held_block(w, g, &s->blocks[k]));
    }
    for (size_t i = 0; i < count && w->status == MASU_OK; i++) {
        const masu__entry *first = &s->entries[touches[i].entry];
        if (first->kind == MASU__ENTRY_ALLOC)
            continue;
        masu__recorded_event e = event_of(w, MASU__RECORDED_ALLOC, first->device, first->stream, first->address,
                                          first->bytes);
        e.given_bytes = given_of(w, first->bytes);
        e.pool = pool_of_request(w, first);
        put_standing(w, e);
    }
}

/* ---- what happened ----------------------------------------------------------------------------------------------- */

static const uint8_t recorded_as[MASU__ENTRY_KIND_COUNT] = {
    [MASU__ENTRY_ALLOC] = MASU__RECORDED_ALLOC,
    [MASU__ENTRY_FREE_REQUESTED] = MASU__RECORDED_FREE_ASKED,
    [MASU__ENTRY_FREE_COMPLETED] = MASU__RECORDED_FREE,
    [MASU__ENTRY_SEGMENT_ALLOC] = MASU__RECORDED_SEGMENT_ADD,
    [MASU__ENTRY_SEGMENT_FREE] = MASU__RECORDED_SEGMENT_DROP,
    [MASU__ENTRY_SEGMENT_MAP] = MASU__RECORDED_MAP,
    [MASU__ENTRY_SEGMENT_UNMAP] = MASU__RECORDED_UNMAP,
    [MASU__ENTRY_SNAPSHOT] = MASU__RECORDED_MARK,
    [MASU__ENTRY_OOM] = MASU__RECORDED_REFUSED,
    [MASU__ENTRY_BEGIN] = MASU__RECORDED_BEGIN,
    [MASU__ENTRY_END] = MASU__RECORDED_END,
};

/* Segments of small requests are all of one size, and no others are. */
static uint32_t pool_of_segment(writer *w, const masu__entry *e) {
    const masu__held_segment *g = segment_of(w, e);
    const space *in = e->kind >= MASU__ENTRY_SEGMENT_MAP ? space_at(w, e->device, e->address) : NULL;
    if (in)
        return pool_of(w, e->device, in->is_small, in->private_pool);
    return pool_of(w, e->device, e->bytes == SMALL_SEGMENT_BYTES,
                   e->private_pool || !g ? e->private_pool : g->private_pool);
}

static void put_entry(writer *w, size_t i) {
    const masu__entry *e = &w->s->entries[i];
    masu__recorded_event out = event_of(w, recorded_as[e->kind], e->device, e->stream, e->address, e->bytes);
    int64_t since = w->s->has_times ? e->time_us - w->began_us : (int64_t)i;
    out.time_ns = since > INT64_MAX / 1000 ? INT64_MAX : w->s->has_times ? (uint64_t)since * 1000 : (uint64_t)since;
    out.place = e->place;
    out.text = e->text;
    switch ((masu__entry_kind)e->kind) {
    case MASU__ENTRY_ALLOC:
    case MASU__ENTRY_FREE_REQUESTED:
    case MASU__ENTRY_FREE_COMPLETED:
        out.given_bytes = given_of(w, e->bytes);
        out.pool = pool_of_request(w, e);
        break;
    case MASU__ENTRY_SEGMENT_MAP: {
        space *in = space_at(w, e->device, e->address);
        if (in)
            tell_space(w, in, false);
    } /* fallthrough */
    case MASU__ENTRY_SEGMENT_ALLOC:
    case MASU__ENTRY_SEGMENT_FREE:
    case MASU__ENTRY_SEGMENT_UNMAP:
        out.pool = pool_of_segment(w, e);
        break;
    case MASU__ENTRY_OOM:
        out.address = 0;
        out.other = e->address;
        out.given_bytes = 0;
        out.pool = pool_of(w, e->device, masu__torch_is_small(given_of(w, e->bytes)), e->private_pool);
        break;
    default:
        out.bytes = out.given_bytes = out.address = 0;
        if (e->kind == MASU__ENTRY_SNAPSHOT)
            check(w, masu__recording_string(w->out, "snapshot", 8, &out.text));
        break;
    }
    if (w->status == MASU_OK)
        check(w, masu__recording_event(w->out, &out));
}

static void put_end(writer *w) {
    const masu__snapshot *s = w->s;
    for (size_t i = 0; i < s->segment_count && w->status == MASU_OK; i++) {
        const masu__held_segment *g = &s->segments[i];
        masu__recorded_event e = event_of(w, MASU__RECORDED_SEGMENT_ADD, g->device, g->stream, g->address, g->bytes);
        e.pool = pool_of(w, g->device, g->is_small, g->private_pool);
        e.place = g->place;
        e.flags = g->is_expandable ? MASU__RECORDED_EXPANDABLE : 0;
        if (w->status == MASU_OK)
            check(w, masu__recording_at_end(w->out, &e));
        for (size_t k = g->first_block; k < g->first_block + g->block_count && w->status == MASU_OK; k++) {
            masu__recorded_event b = held_block(w, g, &s->blocks[k]);
            if (s->blocks[k].is_live && w->status == MASU_OK)
                check(w, masu__recording_at_end(w->out, &b));
        }
    }
}

masu_status masu__snapshot_to_recording(const masu__snapshot *snapshot, masu__recording *out) {
    writer w = {.s = snapshot, .out = out, .began_us = snapshot->entry_count ? snapshot->entries[0].time_us : 0};
    w.settings = masu__torch_settings_of(out);
    out->has_times = snapshot->has_times;
    out->began_at_ns = snapshot->has_times && w.began_us < INT64_MAX / 1000 ? (uint64_t)w.began_us * 1000 : 0;
    stand_pages(&w);
    stand_segments(&w);
    stand_blocks(&w);
    for (size_t i = 0; i < snapshot->entry_count && w.status == MASU_OK; i++)
        put_entry(&w, i);
    put_end(&w);
    masu__arena_destroy(&w.arena);
    return w.status;
}
