/* requests.c: the requests of a recording, without what its own allocator did about them. */
#include "tool/whatif/whatif.h"

#include <string.h>

#include "base/meta.h"

typedef struct gatherer {
    const masu__recording *r;
    const masu__lives *lives;
    whatif_requests *out;
    uint32_t *ids;          /* of the block of each ALLOC, plus one */
    uint32_t *ends, *chain; /* the ALLOCs that end at each event, plus one: the first, and the next of the same */
    uint64_t live_bytes, live_blocks;
    bool is_snapshot;
    masu_status status;
} gatherer;

static uint16_t lane_of(gatherer *g, const masu__recorded_event *e) {
    whatif_requests *q = g->out;
    whatif_lane wanted = {.stream = g->r->streams[e->stream].handle};
    if (g->is_snapshot)
        wanted.private_pool = g->r->pools[e->pool].number >> 1;
    for (unsigned i = 0; i < q->lane_count; i++)
        if (q->lanes[i].stream == wanted.stream && q->lanes[i].private_pool == wanted.private_pool)
            return (uint16_t)i;
    if (q->lane_count == UINT16_MAX) {
        g->status = MASU_ERR_LIMIT_REACHED;
        return 0;
    }
    MASU_ARENA_PUSH(&q->arena, q->lanes, q->lane_count, q->lane_capacity, wanted, g->status = MASU_ERR_OUT_OF_MEMORY;
                    return 0);
    return (uint16_t)(q->lane_count - 1);
}

static void put(gatherer *g, whatif_request request) {
    whatif_requests *q = g->out;
    if (q->count == UINT32_MAX / 4)
        g->status = MASU_ERR_LIMIT_REACHED;
    if (g->status == MASU_OK)
        MASU_ARENA_PUSH(&q->arena, q->items, q->count, q->capacity, request, g->status = MASU_ERR_OUT_OF_MEMORY);
}

static void take(gatherer *g, size_t event, size_t alloc, uint64_t bytes) {
    whatif_requests *q = g->out;
    const masu__recorded_event *e = &g->r->events[event];
    if (bytes == 0)
        return;
    put(g, (whatif_request){bytes, q->blocks, (uint32_t)event, lane_of(g, e), WHATIF_TAKE});
    g->ids[alloc] = ++q->blocks;
    g->live_bytes += bytes;
    g->live_blocks++;
    q->taken_bytes += bytes;
    if (g->live_bytes > q->peak_live_bytes) {
        q->peak_live_bytes = g->live_bytes;
        q->peak_at = q->count;
    }
    if (g->live_blocks > q->peak_live_blocks)
        q->peak_live_blocks = g->live_blocks;
}

/* bytes_of: what the block had, which its last TAKE says; found by walking back is too slow, so blocks[] of the caller
 * keep it. */
static void give(gatherer *g, size_t event, size_t alloc, uint64_t *bytes_of) {
    if (!g->ids[alloc])
        return;
    uint32_t id = g->ids[alloc] - 1;
    put(g, (whatif_request){bytes_of[alloc], id, (uint32_t)event, lane_of(g, &g->r->events[event]), WHATIF_GIVE});
    g->live_bytes -= bytes_of[alloc];
    g->live_blocks--;
    g->ids[alloc] = 0;
}

/* Memory given back with no later request that needs it: the program asked for that. */
static bool is_own_release(const gatherer *g, size_t i) {
    const masu__recorded_event *first = &g->r->events[i];
    if (!g->is_snapshot)
        return false; /* masu's pools give back when they see fit */
    if (i > 0 && g->r->events[i - 1].device == first->device &&
        (g->r->events[i - 1].kind == MASU__RECORDED_SEGMENT_DROP || g->r->events[i - 1].kind == MASU__RECORDED_UNMAP))
        return false; /* recorded already */
    for (; i < g->r->event_count; i++) {
        const masu__recorded_event *e = &g->r->events[i];
        if (e->device != first->device || e->kind == MASU__RECORDED_SEGMENT_DROP || e->kind == MASU__RECORDED_UNMAP)
            continue;
        return e->kind != MASU__RECORDED_SEGMENT_ADD && e->kind != MASU__RECORDED_MAP &&
               e->kind != MASU__RECORDED_REFUSED;
    }
    return true;
}

static void gather(gatherer *g, uint64_t *bytes_of) {
    for (size_t i = 0; i < g->r->event_count && g->status == MASU_OK; i++) {
        const masu__recorded_event *e = &g->r->events[i];
        for (uint32_t a = g->ends[i]; a; a = g->chain[a - 1])
            give(g, i, a - 1, bytes_of);
        if (e->device != g->out->device || e->flags & MASU__RECORDED_INNER)
            continue;
        uint32_t of = g->lives->of[i];
        if (e->kind == MASU__RECORDED_ALLOC) {
            bytes_of[i] = e->bytes;
            take(g, i, i, e->bytes);
        } else if ((e->kind == MASU__RECORDED_RESIZE || e->kind == MASU__RECORDED_MOVE) && of != MASU__LIVES_NONE &&
                   e->bytes != bytes_of[of]) {
            give(g, i, of, bytes_of);
            bytes_of[of] = e->bytes;
            take(g, i, of, e->bytes);
        } else if (e->kind == MASU__RECORDED_REFUSED) {
            g->out->refused++;
            put(g, (whatif_request){e->bytes, UINT32_MAX, (uint32_t)i, lane_of(g, e), WHATIF_REFUSED});
        } else if ((e->kind == MASU__RECORDED_SEGMENT_DROP || e->kind == MASU__RECORDED_UNMAP) &&
                   is_own_release(g, i)) {
            put(g, (whatif_request){0, UINT32_MAX, (uint32_t)i, lane_of(g, e), WHATIF_RELEASE});
        }
        if (i + 1 == g->r->standing_count)
            g->out->standing = g->out->count;
    }
}

masu_status whatif_requests_of(const masu__recording *recording, const masu__lives *lives, uint16_t device,
                               whatif_requests *out) {
    *out = (whatif_requests){.recording = recording, .device = device};
    gatherer g = {.r = recording, .lives = lives, .out = out};
    g.is_snapshot = strcmp(recording->source_format, "PyTorch snapshot") == 0;
    size_t count = recording->event_count + 1;
    uint64_t *bytes_of = masu__meta_calloc(count, sizeof *bytes_of);
    uint32_t *tables = masu__meta_calloc(3 * count, sizeof *tables);
    if (bytes_of && tables) {
        g.ids = tables;
        g.ends = tables + count;
        g.chain = tables + 2 * count;
        for (size_t i = recording->event_count; i-- > 0;) {
            uint32_t end = lives->of[i];
            if (recording->events[i].kind != MASU__RECORDED_ALLOC || end == MASU__LIVES_NONE ||
                recording->events[i].device != device || recording->events[i].flags & MASU__RECORDED_INNER)
                continue;
            g.chain[i] = g.ends[end];
            g.ends[end] = (uint32_t)i + 1;
        }
        gather(&g, bytes_of);
    } else {
        g.status = MASU_ERR_OUT_OF_MEMORY;
    }
    masu__meta_free(bytes_of, count * sizeof *bytes_of);
    masu__meta_free(tables, 3 * count * sizeof *tables);
    if (g.status != MASU_OK)
        whatif_requests_destroy(out);
    return g.status;
}

void whatif_requests_destroy(whatif_requests *requests) {
    masu__arena_destroy(&requests->arena);
}
