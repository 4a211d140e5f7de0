/* refusals.c: at a request that PyTorch's allocator refused: what was free and where, which live blocks split it, and
 * which settings would have served it, by replay under the memory that there was. */
#include "tool/whatif/whatif.h"

#include <string.h>

#include "base/meta.h"

enum { MOST_SHOWN = 5, MOST_EXPLAINED = 3 };
#define MIB ((uint64_t)1 << 20)

/* The memory of one device when the request comes. */
typedef struct look {
    masu__torch_block *blocks; /* of the request's own pool, segment by segment */
    size_t count, capacity;
    masu__torch_whose whose;
    bool is_small, failed;
    uint64_t free_bytes, largest_bytes, own_largest_bytes, other_free_bytes;
} look;

static bool is_free(const masu__torch_block *b) {
    return b->state == MASU__TORCH_FREE;
}

static void on_block(void *context, uint32_t handle, const masu__torch_block *b) {
    look *l = context;
    (void)handle;
    if (b->whose.device != l->whose.device || b->state == MASU__TORCH_UNMAPPED || l->failed)
        return;
    bool own = b->whose.stream == l->whose.stream && b->whose.private_pool == l->whose.private_pool &&
               b->is_small == l->is_small;
    if (is_free(b)) {
        l->free_bytes += b->bytes;
        l->other_free_bytes += own ? 0 : b->bytes;
        l->largest_bytes = b->bytes > l->largest_bytes ? b->bytes : l->largest_bytes;
        l->own_largest_bytes = own && b->bytes > l->own_largest_bytes ? b->bytes : l->own_largest_bytes;
    }
    if (!own)
        return;
    if (l->count == l->capacity) {
        size_t larger = l->capacity ? 2 * l->capacity : 256;
        void *grown = masu__meta_realloc(l->blocks, l->capacity * sizeof *b, larger * sizeof *b);
        if (!grown) {
            l->failed = true;
            return;
        }
        l->blocks = grown;
        l->capacity = larger;
    }
    l->blocks[l->count++] = *b;
}

/* The neighbours of one segment that would make room for the request if the live ones were not there: those with the
 * fewest live bytes. */
typedef struct window {
    size_t from, to; /* blocks */
    uint64_t live_bytes, bytes;
    bool found;
} window;

static window find_window(const look *l, uint64_t wanted) {
    window best = {0}, now = {0};
    for (size_t i = 0; i < l->count; i++) {
        const masu__torch_block *b = &l->blocks[i];
        bool behind = i > 0 && !b->begins_segment && l->blocks[i - 1].address + l->blocks[i - 1].bytes == b->address;
        if (!behind)
            now = (window){.from = i};
        now.to = i + 1;
        now.bytes += b->bytes;
        now.live_bytes += is_free(b) ? 0 : b->bytes;
        while (now.bytes - l->blocks[now.from].bytes >= wanted) {
            now.bytes -= l->blocks[now.from].bytes;
            now.live_bytes -= is_free(&l->blocks[now.from]) ? 0 : l->blocks[now.from].bytes;
            now.from++;
        }
        if (now.bytes >= wanted && (!best.found || now.live_bytes < best.live_bytes)) {
            best = now;
            best.found = true;
        }
    }
    return best;
}

/* ---- saying ------------------------------------------------------------------------------------------------------ */

/* The innermost place of which file and line are known: what the program wrote. */
static void put_place(masu__buffer *out, const masu__recording *r, uint32_t place) {
    for (uint32_t at = place; at; at = r->places[at].caller) {
        const char *file = masu__recording_text(r, r->places[at].file);
        if (!*file || !r->places[at].line)
            continue;
        masu__buffer_printf(out, "%s:%u (%s)", file, r->places[at].line,
                            masu__recording_text(r, r->places[at].function));
        return;
    }
    if (place)
        masu__buffer_puts(out, masu__recording_text(r, r->places[place].function));
    else
        masu__buffer_puts(out, "an unknown place");
}

static void put_window(masu__buffer *out, const masu__recording *r, const look *l, window w) {
    if (!w.found) {
        masu__buffer_puts(out,
                          "  No segment is as large as the request, so that no block splits it: its memory lies in ");
        masu__buffer_puts(out, "segments that are all smaller.\n");
        return;
    }
    size_t live = 0, shown = 0;
    for (size_t i = w.from; i < w.to; i++)
        live += !is_free(&l->blocks[i]);
    masu__buffer_puts(out, "  Nearest to a hole of that size: ");
    whatif_put_mib(out, w.bytes);
    masu__buffer_printf(out, " at %#llx, split by %zu live block%s of ", (unsigned long long)l->blocks[w.from].address,
                        live, live == 1 ? "" : "s");
    whatif_put_mib(out, w.live_bytes);
    masu__buffer_puts(out, live ? ":\n" : ".\n");
    for (size_t i = w.from; i < w.to && shown < MOST_SHOWN; i++) {
        const masu__torch_block *b = &l->blocks[i];
        if (is_free(b))
            continue;
        masu__buffer_puts(out, "    ");
        whatif_put_mib(out, b->bytes);
        masu__buffer_printf(out, " at %#llx from ", (unsigned long long)b->address);
        put_place(out, r, r->events[b->owner].place);
        masu__buffer_putc(out, '\n');
        shown++;
    }
    if (live > shown)
        masu__buffer_printf(out, "    and %zu more\n", live - shown);
}

/* ---- what would have served it ----------------------------------------------------------------------------------- */

typedef struct candidate {
    const char *name;
    bool expandable;
    unsigned split_mib, parts;
    double gc;
} candidate;

static const candidate candidates[] = {{"expandable_segments:True", true, 0, 0, 0},
                                       {"max_split_size_mb:512", false, 512, 0, 0},
                                       {"max_split_size_mb:128", false, 128, 0, 0},
                                       {"max_split_size_mb:32", false, 32, 0, 0},
                                       {"garbage_collection_threshold:0.8", false, 0, 0, 0.8},
                                       {"roundup_power2_divisions:8", false, 0, 8, 0}};

static masu__torch_settings settings_of(const candidate *c, masu__torch_settings s) {
    s.expandable |= c->expandable;
    if (c->split_mib)
        s.max_split_bytes = c->split_mib * MIB;
    for (size_t i = 0; i < MASU__TORCH_ROUNDUP_STEPS && c->parts; i++)
        s.roundup[i] = c->parts;
    if (c->gc > 0) {
        s.gc_threshold = c->gc;
        s.allowed_bytes = s.capacity_bytes;
    }
    return s;
}

static masu_status put_candidates(const whatif_requests *q, const whatif_options *options, uint64_t capacity,
                                  masu__buffer *out, masu__buffer *json) {
    masu__torch_settings base = masu__torch_settings_of(q->recording);
    masu_status status = MASU_OK;
    const char *served = NULL; /* the first in the list */
    base.capacity_bytes = capacity;
    masu__buffer_puts(out, "  Replayed within ");
    whatif_put_mib(out, capacity);
    masu__buffer_puts(out, ", which is what the device had:\n");
    for (size_t i = 0; i <= sizeof candidates / sizeof *candidates && status == MASU_OK; i++) {
        const candidate *c = i ? &candidates[i - 1] : NULL;
        masu__torch_settings s = c ? settings_of(c, base) : base;
        whatif_row row;
        status = whatif_replay_torch(q, &s, "", options, &row);
        if (status != MASU_OK)
            break;
        masu__buffer_printf(out, "    %-34s ", c ? c->name : "the settings of the snapshot");
        if (row.refused)
            masu__buffer_printf(out, "refuses %llu\n", (unsigned long long)row.refused);
        else
            masu__buffer_puts(out, "serves every request\n");
        served = served || !c || row.refused ? served : c->name;
        masu__buffer_printf(json, "%s{\"settings\":\"%s\",\"refused\":%llu}", i ? "," : "", c ? c->name : "as recorded",
                            (unsigned long long)row.refused);
    }
    if (served)
        masu__buffer_printf(out, "  Set %s: it would have served every request.\n", served);
    else
        masu__buffer_puts(out, "  None of these settings serves every request.\n");
    return status;
}

/* ---- one refusal ------------------------------------------------------------------------------------------------- */

static masu_status explain(const whatif_requests *q, const whatif_request *request, const whatif_options *options,
                           masu__buffer *out, masu__buffer *json) {
    const masu__recording *r = q->recording;
    const masu__recorded_event *e = &r->events[request->event];
    masu__torch_pool *pool;
    masu__torch_followed followed;
    masu_status status = masu__torch_follow_to(r, request->event, &pool, &followed);
    if (status != MASU_OK)
        return status;
    uint64_t wanted = masu__torch_round(&(masu__torch_settings){0}, request->bytes);
    look l = {.whose = {q->lanes[request->lane].stream, q->lanes[request->lane].private_pool,
                        (uint16_t)r->devices[q->device].number},
              .is_small = masu__torch_is_small(wanted)};
    masu__torch_stats stats = masu__torch_get_stats(pool);
    status = masu__torch_visit(pool, on_block, &l);
    if (status == MASU_OK && l.failed)
        status = MASU_ERR_OUT_OF_MEMORY;
    if (status == MASU_OK) {
        uint64_t capacity = options->limit_bytes ? options->limit_bytes : stats.reserved_bytes + e->other;
        masu__buffer_puts(out, "Refused: ");
        whatif_put_mib(out, request->bytes);
        masu__buffer_puts(out, " at ");
        put_place(out, r, e->place);
        masu__buffer_puts(out, "\n  Reserved ");
        whatif_put_mib(out, stats.reserved_bytes);
        masu__buffer_puts(out, ", live ");
        whatif_put_mib(out, stats.live_bytes);
        masu__buffer_puts(out, "; the device had ");
        whatif_put_mib(out, e->other);
        masu__buffer_puts(out, " left, and the allocator ");
        whatif_put_mib(out, l.free_bytes);
        masu__buffer_puts(out, " free, of which ");
        whatif_put_mib(out, l.other_free_bytes);
        masu__buffer_puts(out, " in pools of other streams or sizes.\n  The largest hole in its own pool: ");
        whatif_put_mib(out, l.own_largest_bytes);
        masu__buffer_puts(out, ".\n");
        put_window(out, r, &l, find_window(&l, wanted));
        masu__buffer_printf(json,
                            "{\"bytes\":%llu,\"reserved_bytes\":%llu,\"live_bytes\":%llu,\"device_free_bytes\":%llu,"
                            "\"free_bytes\":%llu,\"largest_hole_bytes\":%llu,\"settings\":[",
                            (unsigned long long)request->bytes, (unsigned long long)stats.reserved_bytes,
                            (unsigned long long)stats.live_bytes, (unsigned long long)e->other,
                            (unsigned long long)l.free_bytes, (unsigned long long)l.own_largest_bytes);
        if (stats.live_bytes + wanted > capacity) {
            masu__buffer_puts(
                out, "  What is live and the request are together more than the device had: no setting serves it.\n");
        } else {
            status = put_candidates(q, options, capacity, out, json);
        }
        masu__buffer_puts(json, "]}");
    }
    masu__meta_free(l.blocks, l.capacity * sizeof *l.blocks);
    masu__torch_pool_destroy(pool);
    masu__torch_followed_destroy(&followed);
    return status;
}

masu_status whatif_explain_refusals(const whatif_requests *q, const whatif_options *options, FILE *out,
                                    masu__buffer *json) {
    masu_status status = MASU_OK;
    size_t explained = 0;
    masu__buffer text = {0};
    for (size_t i = 0; i < q->count && explained < MOST_EXPLAINED && status == MASU_OK; i++) {
        if (q->items[i].kind != WHATIF_REFUSED)
            continue;
        if (explained++)
            masu__buffer_putc(json, ',');
        masu__buffer_putc(&text, '\n');
        status = explain(q, &q->items[i], options, &text, json);
    }
    if (q->refused > explained)
        masu__buffer_printf(&text, "and %zu more requests were refused\n", q->refused - explained);
    if (out && status == MASU_OK)
        fputs(masu__buffer_text(&text), out);
    if (text.failed)
        status = MASU_ERR_OUT_OF_MEMORY;
    masu__buffer_destroy(&text);
    return status;
}
