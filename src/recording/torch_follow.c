/* torch_follow.c: whether the model of PyTorch's allocator does what a snapshot says that the allocator did. The model
 * starts with what stood, is given the same requests, and each of its steps is held against the recorded one:
 *
 *     recorded    SEGMENT_ADD, MAP … ALLOC        the model's steps for this request, in this order, at these addresses
 *     recorded    SEGMENT_DROP, UNMAP …           what the model gives back when it gives everything back
 *
 * Where the device puts a segment is the device's choice, so that is taken from the recording. After the first step
 * that differs the two have parted, and nothing more can be said.
 */
#include "recording/torch_follow.h"

#include <stdlib.h>
#include <string.h>

#include "base/meta.h"

#define LARGEST_REST ((uint64_t)1 << 20)
#define SPACE_BYTES  ((uint64_t)1 << 41) /* of addresses behind what is known of a segment that can expand */

typedef struct follower {
    const masu__recording *r;
    masu__torch_followed *out;
    masu__torch_settings settings;
    masu__torch_pool *pool;
    masu__lives lives;
    uint32_t *handles; /* of the block of each ALLOC; 0: not live */
    uint64_t *given;   /* borrowed, may be NULL */
    size_t now;        /* the event at which the follower is */
    /* Steps of the recording that the model has yet to make for a device: its events [due, limit). */
    size_t due[MASU__TORCH_MOST_DEVICES], limit;
    uint64_t base[MASU__TORCH_MOST_DEVICES]; /* of the segment that can expand, as last recorded */
    masu_status status;
} follower;

static const char *step_name(masu__torch_kind kind) {
    static const char *const names[] = {"serves", "takes a segment", "gives a segment back", "maps", "unmaps"};
    return names[kind];
}

/* Writes down the first difference. */
__attribute__((format(printf, 2, 3))) static void part_ways(follower *f, const char *format, ...) {
    if (f->out->parted)
        return;
    f->out->parted = true;
    f->out->parted_at = f->now;
    va_list arguments;
    va_start(arguments, format);
    masu__buffer_vprintf(&f->out->why, format, arguments);
    va_end(arguments);
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

static size_t device_number(const follower *f, const masu__recorded_event *e) {
    return (size_t)f->r->devices[e->device].number;
}

static bool is_step(const masu__recorded_event *e) {
    return (e->kind == MASU__RECORDED_SEGMENT_ADD && !(e->flags & MASU__RECORDED_EXPANDABLE)) ||
           e->kind == MASU__RECORDED_SEGMENT_DROP || e->kind == MASU__RECORDED_MAP || e->kind == MASU__RECORDED_UNMAP ||
           e->kind == MASU__RECORDED_ALLOC;
}

static bool kinds_agree(masu__torch_kind step, uint8_t recorded) {
    static const uint8_t as[] = {MASU__RECORDED_ALLOC, MASU__RECORDED_SEGMENT_ADD, MASU__RECORDED_SEGMENT_DROP,
                                 MASU__RECORDED_MAP, MASU__RECORDED_UNMAP};
    return as[step] == recorded;
}

/* The next recorded step of that device, NULL: there is none before the limit. */
static const masu__recorded_event *next_step(follower *f, size_t device) {
    for (size_t *due = &f->due[device]; *due < f->limit; ++*due) {
        const masu__recorded_event *e = &f->r->events[*due];
        if (device_number(f, e) == device && is_step(e))
            return e;
    }
    return NULL;
}

static void on_step(void *context, const masu__torch_step *step) {
    follower *f = context;
    if (f->out->parted)
        return;
    const masu__recorded_event *e = next_step(f, step->device);
    if (!e) {
        part_ways(f, "the model %s at %#llx (%llu bytes), which is not recorded", step_name(step->kind),
                  (unsigned long long)step->address, (unsigned long long)step->bytes);
        return;
    }
    bool same_bytes = step->kind == MASU__TORCH_ALLOC || step->bytes == e->given_bytes;
    if (!kinds_agree(step->kind, e->kind) || step->address != e->address || !same_bytes) {
        part_ways(f, "the model %s at %#llx (%llu bytes), recorded is %s at %#llx (%llu bytes)", step_name(step->kind),
                  (unsigned long long)step->address, (unsigned long long)step->bytes, masu__recorded_kind_name(e->kind),
                  (unsigned long long)e->address, (unsigned long long)e->given_bytes);
        return;
    }
    if (step->kind == MASU__TORCH_ALLOC && f->given)
        f->given[f->due[step->device]] = step->bytes;
    f->out->steps++;
    f->due[step->device]++;
}

/* Where the device put the segment that is recorded next. */
static uint64_t on_place(void *context, masu__torch_whose whose, bool expandable, uint64_t bytes) {
    follower *f = context;
    (void)bytes;
    if (expandable)
        return f->base[whose.device];
    const masu__recorded_event *e = next_step(f, whose.device);
    return e && e->kind == MASU__RECORDED_SEGMENT_ADD ? e->address : 0;
}

static masu__torch_whose whose_of(const masu__recording *r, const masu__recorded_event *e) {
    return (masu__torch_whose){.stream = r->streams[e->stream].handle,
                               .private_pool = r->pools[e->pool].number >> 1,
                               .device = (uint16_t)r->devices[e->device].number};
}

/* ---- what stood -------------------------------------------------------------------------------------------------- */

static int compare_events(const void *a, const void *b, void *context) {
    const masu__recorded_event *events = context;
    const masu__recorded_event *x = &events[*(const uint32_t *)a], *y = &events[*(const uint32_t *)b];
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    if ((x->kind == MASU__RECORDED_ALLOC) !=
        (y->kind == MASU__RECORDED_ALLOC)) /* what holds comes before what it holds */
        return x->kind == MASU__RECORDED_ALLOC ? 1 : -1;
    if ((x->kind == MASU__RECORDED_MAP) != (y->kind == MASU__RECORDED_MAP))
        return x->kind == MASU__RECORDED_MAP ? 1 : -1;
    return 0;
}

typedef struct layout {
    follower *f;
    masu__torch_block part; /* of the segment that is being laid out */
    uint64_t at, end;
    bool open;
    uint64_t mapped_to;
    const uint32_t *births; /* every ALLOC behind what stood, by device and address */
    size_t birth_count;
} layout;

/* The next bytes of the segment, up to `to`. */
static uint32_t lay(layout *l, uint64_t to, masu__torch_state state, uint64_t asked, uint64_t owner) {
    follower *f = l->f;
    uint32_t handle = 0;
    if (to <= l->at || f->status != MASU_OK)
        return 0;
    l->part.address = l->at;
    l->part.bytes = to - l->at;
    l->part.state = state;
    l->part.asked_bytes = asked;
    l->part.owner = owner;
    masu_status status = masu__torch_stand(f->pool, &l->part, l->open, &handle);
    if (status != MASU_OK && f->status == MASU_OK)
        f->status = status;
    l->open = true;
    l->at = to;
    return handle;
}

/* Memory between blocks: free as far as it is mapped, and not mapped behind. */
static void lay_gap(layout *l, uint64_t to) {
    if (!l->part.in_expandable) {
        lay(l, to, MASU__TORCH_FREE, 0, 0);
        return;
    }
    lay(l, l->mapped_to < to ? l->mapped_to : to, MASU__TORCH_FREE, 0, 0);
    lay(l, to, MASU__TORCH_UNMAPPED, 0, 0);
}

static void close_segment(layout *l) {
    if (l->end)
        lay_gap(l, l->part.in_expandable ? l->end + SPACE_BYTES : l->end);
    l->end = 0;
}

/* The lowest address in [from, to] at which a block is born before that event; to where there is none. */
static uint64_t first_birth(const layout *l, const masu__recorded_event *near, uint64_t from, uint64_t to,
                            size_t before) {
    const masu__recorded_event *events = l->f->r->events;
    size_t low = 0, high = l->birth_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const masu__recorded_event *e = &events[l->births[middle]];
        if (e->device < near->device || (e->device == near->device && e->address < from))
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < l->birth_count; low++) {
        const masu__recorded_event *e = &events[l->births[low]];
        if (e->device != near->device || e->address > to)
            break;
        if (l->births[low] < before)
            return e->address;
    }
    return to;
}

/* A rest that was too small to be cut off is the block's. Where what lies behind it is free, the rest and the free
 * block look like one: the next block that is born there, while this one lives, says where the free one begins. */
static uint64_t end_of_block(const layout *l, const masu__recorded_event *e, uint32_t event, uint64_t next) {
    uint64_t bytes = masu__torch_round(&l->f->settings, e->bytes), end = e->address + bytes;
    if (e->given_bytes > bytes)
        return e->address + e->given_bytes;
    if (l->part.is_small || l->f->settings.expandable || l->part.in_expandable || end >= next)
        return end;
    if (bytes >= l->f->settings.max_split_bytes || next - end <= LARGEST_REST)
        return next;
    uint32_t until = l->f->lives.of[event];
    uint64_t none = end + LARGEST_REST + 1, birth = first_birth(l, e, end, none, until);
    return birth < none ? birth : end;
}

static void begin_segment(layout *l, const masu__recorded_event *e) {
    close_segment(l);
    l->part = (masu__torch_block){.whose = whose_of(l->f->r, e),
                                  .is_small = l->f->r->pools[e->pool].number & 1,
                                  .in_expandable = e->flags & MASU__RECORDED_EXPANDABLE};
    l->at = l->mapped_to = e->address;
    l->end = e->address + e->given_bytes;
    l->open = false;
}

static void stand(follower *f) {
    size_t count = f->r->standing_count, bytes = (f->r->event_count + 1) * sizeof(uint32_t), births = count;
    uint32_t *order = masu__meta_alloc(bytes);
    if (!order) {
        f->status = MASU_ERR_OUT_OF_MEMORY;
        return;
    }
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    for (size_t i = count; i < f->r->event_count; i++)
        if (f->r->events[i].kind == MASU__RECORDED_ALLOC)
            order[births++] = (uint32_t)i;
    if (count > 1)
        qsort_r(order, count, sizeof *order, compare_events, f->r->events);
    if (births - count > 1)
        qsort_r(order + count, births - count, sizeof *order, compare_events, f->r->events);
    layout l = {.f = f, .births = order + count, .birth_count = births - count};
    for (size_t i = 0; i < count && f->status == MASU_OK && !f->out->parted; i++) {
        const masu__recorded_event *e = &f->r->events[order[i]];
        const masu__recorded_event *next = i + 1 < count ? &f->r->events[order[i + 1]] : NULL;
        if (e->kind == MASU__RECORDED_SEGMENT_ADD) {
            begin_segment(&l, e);
        } else if (!l.end || e->address < l.at || e->address + e->given_bytes > l.end || e->bytes == 0) {
            part_ways(f, "what stood at the beginning does not lie in a segment: %llu bytes at %#llx",
                      (unsigned long long)e->bytes, (unsigned long long)e->address);
        } else if (e->kind == MASU__RECORDED_MAP) {
            lay_gap(&l, e->address);
            l.mapped_to = e->address + e->given_bytes;
        } else {
            bool inside = next && next->kind == MASU__RECORDED_ALLOC && next->device == e->device &&
                          next->address < l.end;
            uint64_t border = inside ? next->address : l.end, end = end_of_block(&l, e, order[i], border);
            lay_gap(&l, e->address);
            if (end > border)
                part_ways(f, "blocks that stood at the beginning lie over each other at %#llx",
                          (unsigned long long)border);
            else
                f->handles[order[i]] = lay(&l, end, MASU__TORCH_LIVE, e->bytes, order[i]);
            if (f->given)
                f->given[order[i]] = end - e->address;
        }
    }
    close_segment(&l);
    masu__meta_free(order, bytes);
}

/* ---- following --------------------------------------------------------------------------------------------------- */

static bool is_give_back(const masu__recorded_event *e) {
    return e->kind == MASU__RECORDED_SEGMENT_DROP || e->kind == MASU__RECORDED_UNMAP;
}

/* The device's events from here on that give memory back: all that the model could, or where settings allow it only
 * some. */
static void follow_release(follower *f) {
    size_t device = device_number(f, &f->r->events[f->now]), end = f->now;
    bool with_private = false;
    for (; end < f->r->event_count; end++) {
        const masu__recorded_event *e = &f->r->events[end];
        if (device_number(f, e) != device)
            continue;
        if (!is_give_back(e))
            break;
        with_private |= f->r->pools[e->pool].number > 1;
    }
    f->due[device] = f->now;
    f->limit = end;
    const masu__recorded_event *e;
    if (f->settings.max_split_bytes == UINT64_MAX && f->settings.gc_threshold == 0) {
        f->status = masu__torch_release(f->pool, (uint16_t)device, with_private);
        if ((e = next_step(f, device)))
            part_ways(f, "more is given back than the model has: %llu bytes at %#llx",
                      (unsigned long long)e->given_bytes, (unsigned long long)e->address);
    } else {
        while (!f->out->parted && (e = next_step(f, device)))
            if (!masu__torch_drop_segment(f->pool, (uint16_t)device, e->address))
                part_ways(f, "a segment at %#llx is given back, which the model has not, or not wholly free",
                          (unsigned long long)e->address);
    }
    f->due[device] = end;
}

static void follow_alloc(follower *f) {
    const masu__recorded_event *e = &f->r->events[f->now];
    f->limit = f->now + 1;
    masu_status status = masu__torch_alloc(f->pool, e->bytes, whose_of(f->r, e), f->now, &f->handles[f->now]);
    if (status == MASU_ERR_LIMIT_REACHED || status == MASU_ERR_OVERFLOW)
        part_ways(f, "the model cannot serve %llu bytes", (unsigned long long)e->bytes);
    else
        f->status = status;
    f->due[device_number(f, e)] = f->now + 1;
}

static void follow_event(follower *f) {
    const masu__recorded_event *e = &f->r->events[f->now];
    uint32_t of = f->lives.of[f->now];
    switch (e->kind) {
    case MASU__RECORDED_ALLOC:
        follow_alloc(f);
        break;
    case MASU__RECORDED_SEGMENT_ADD:
        if (e->flags & MASU__RECORDED_EXPANDABLE)
            f->base[device_number(f, e)] = e->address;
        break;
    case MASU__RECORDED_FREE_ASKED:
    case MASU__RECORDED_FREE:
        if (of == MASU__LIVES_NONE || !f->handles[of]) {
            part_ways(f, "a free of %#llx, where no block is known", (unsigned long long)e->address);
        } else if (e->kind == MASU__RECORDED_FREE_ASKED) {
            masu__torch_pend(f->pool, f->handles[of]);
        } else {
            f->status = masu__torch_free(f->pool, f->handles[of]);
            f->handles[of] = 0;
        }
        break;
    case MASU__RECORDED_REFUSED:
        f->due[device_number(f, e)] = f->now + 1; /* what came for it is kept */
        break;
    default:
        break;
    }
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

typedef struct held {
    uint64_t address, bytes;
    uint16_t device;
    uint8_t kind;
} held;

/* The model's memory, in the order of a snapshot: a segment, then its live blocks. */
typedef struct holdings {
    held *items;
    size_t count, capacity;
    size_t last; /* segment, plus one; 0: none */
    bool failed;
} holdings;

static void put_held(holdings *h, held item) {
    if (h->count == h->capacity) {
        size_t larger = h->capacity ? 2 * h->capacity : 64;
        held *grown = masu__meta_realloc(h->items, h->capacity * sizeof item, larger * sizeof item);
        if (!grown) {
            h->failed = true;
            return;
        }
        h->items = grown;
        h->capacity = larger;
    }
    h->items[h->count++] = item;
}

/* A snapshot shows what is mapped without a gap in a segment that can expand as one. */
static void on_block(void *context, uint32_t handle, const masu__torch_block *b) {
    holdings *h = context;
    (void)handle;
    if (b->state == MASU__TORCH_UNMAPPED || h->failed)
        return;
    held *last = h->last ? &h->items[h->last - 1] : NULL;
    if (last && !b->begins_segment && last->device == b->whose.device && last->address + last->bytes == b->address) {
        last->bytes += b->bytes;
    } else {
        put_held(h, (held){b->address, b->bytes, b->whose.device, MASU__RECORDED_SEGMENT_ADD});
        h->last = h->count;
    }
    if (b->state != MASU__TORCH_FREE)
        put_held(h, (held){b->address, b->bytes, b->whose.device, MASU__RECORDED_ALLOC});
}

static void compare_end(follower *f) {
    holdings h = {0};
    f->status = masu__torch_visit(f->pool, on_block, &h);
    if (h.failed)
        f->status = MASU_ERR_OUT_OF_MEMORY;
    size_t recorded = f->r->at_end_count;
    for (size_t i = 0; f->status == MASU_OK && recorded && !f->out->parted && (i < recorded || i < h.count); i++) {
        const masu__recorded_event *e = i < recorded ? &f->r->at_end[i] : NULL;
        const held *m = i < h.count ? &h.items[i] : NULL;
        if (!e || !m || e->kind != m->kind || e->address != m->address || e->given_bytes != m->bytes ||
            f->r->devices[e->device].number != m->device)
            part_ways(f, "at the end: recorded is %s of %llu bytes at %#llx, the model has %s of %llu bytes at %#llx",
                      e ? masu__recorded_kind_name(e->kind) : "nothing", e ? (unsigned long long)e->given_bytes : 0,
                      e ? (unsigned long long)e->address : 0, m ? masu__recorded_kind_name(m->kind) : "nothing",
                      m ? (unsigned long long)m->bytes : 0, m ? (unsigned long long)m->address : 0);
    }
    f->out->holdings = h.count;
    masu__meta_free(h.items, h.capacity * sizeof *h.items);
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static void follow_until(follower *f, size_t end) {
    for (f->now = f->r->standing_count; f->now < end && f->status == MASU_OK && !f->out->parted; f->now++) {
        const masu__recorded_event *e = &f->r->events[f->now];
        if (!is_give_back(e))
            follow_event(f);
        else if (f->now >= f->due[device_number(f, e)]) /* else it went with those before it */
            follow_release(f);
    }
}

static masu_status follow(const masu__recording *recording, size_t end, uint64_t *given, masu__torch_pool **pool,
                          masu__torch_followed *out) {
    *out = (masu__torch_followed){0};
    follower f = {.r = recording, .out = out, .settings = masu__torch_settings_of(recording), .given = given};
    for (size_t i = 0; i < MASU__TORCH_MOST_DEVICES; i++)
        f.due[i] = recording->standing_count;
    masu__torch_config config = {.settings = f.settings, .step = on_step, .place = on_place, .context = &f};
    size_t bytes = (recording->event_count + 1) * sizeof(uint32_t);
    f.handles = masu__meta_calloc(recording->event_count + 1, sizeof(uint32_t));
    f.status = f.handles ? masu__lives_find(recording, &f.lives) : MASU_ERR_OUT_OF_MEMORY;
    if (f.status == MASU_OK)
        f.status = masu__torch_pool_create(&config, &f.pool);
    if (f.status == MASU_OK)
        stand(&f);
    if (f.status == MASU_OK && !out->parted) {
        out->began_reserved_bytes = masu__torch_get_stats(f.pool).reserved_bytes;
        follow_until(&f, end);
    }
    if (f.status == MASU_OK && !out->parted && end == recording->event_count)
        compare_end(&f);
    if (f.status == MASU_OK && !out->parted && !masu__torch_pool_valid(f.pool))
        part_ways(&f, "the model contradicts itself");
    if (f.pool)
        out->stats = masu__torch_get_stats(f.pool);
    *pool = f.pool;
    masu__lives_destroy(&f.lives);
    masu__meta_free(f.handles, bytes);
    if (f.status != MASU_OK) {
        masu__torch_followed_destroy(out);
        masu__torch_pool_destroy(f.pool);
        *pool = NULL;
    }
    return f.status;
}

masu_status masu__torch_follow(const masu__recording *recording, uint64_t *given, masu__torch_followed *out) {
    masu__torch_pool *pool;
    masu_status status = follow(recording, recording->event_count, given, &pool, out);
    masu__torch_pool_destroy(pool);
    return status;
}

masu_status masu__torch_follow_to(const masu__recording *recording, size_t event, masu__torch_pool **pool,
                                  masu__torch_followed *out) {
    return follow(recording, event < recording->event_count ? event : recording->event_count, NULL, pool, out);
}

void masu__torch_followed_destroy(masu__torch_followed *followed) {
    masu__buffer_destroy(&followed->why);
}

/* ---- settings ---------------------------------------------------------------------------------------------------- */

static bool read_u64(const char **text, uint64_t *out) {
    const char *at = *text;
    for (*out = 0; *at >= '0' && *at <= '9' && *out < UINT64_MAX / 16; at++)
        *out = 10 * *out + (uint64_t)(*at - '0');
    bool found = at != *text;
    *text = at;
    return found;
}

/* "1:0,2:4,…": parts of each doubling, by MiB. */
static void read_roundup(const char *text, masu__torch_settings *out) {
    uint64_t mib, parts;
    while (read_u64(&text, &mib) && *text == ':') {
        text++;
        if (!read_u64(&text, &parts))
            return;
        for (unsigned i = 0; i < MASU__TORCH_ROUNDUP_STEPS; i++)
            if (mib == (uint64_t)1 << i && parts <= 64)
                out->roundup[i] = (uint32_t)parts;
        if (*text != ',')
            return;
        text++;
    }
}

masu__torch_settings masu__torch_settings_of(const masu__recording *r) {
    masu__torch_settings s = masu__torch_settings_default();
    for (unsigned i = 0; i < r->setting_count; i++) {
        const char *name = masu__recording_text(r, r->settings[i].name);
        const char *value = masu__recording_text(r, r->settings[i].value);
        uint64_t number;
        if (strcmp(name, "expandable_segments") == 0)
            s.expandable = strcmp(value, "True") == 0;
        else if (strcmp(name, "max_split_size") == 0 && read_u64(&value, &number))
            s.max_split_bytes = number;
        else if (strcmp(name, "roundup_power2_divisions") == 0)
            read_roundup(value, &s);
        else if (strcmp(name, "garbage_collection_threshold") == 0)
            s.gc_threshold = strtod(value, NULL);
    }
    if (!(s.gc_threshold >= 0 && s.gc_threshold < 1))
        s.gc_threshold = 0;
    return s;
}
