/* replay_torch.c: the requests on the model of PyTorch's allocator, and the judge that reads what the model did. */
#include "tool/whatif/whatif.h"

#include <string.h>

#include <masu/check.h>

#include "base/meta.h"

#define MIB ((uint64_t)1 << 20)

typedef struct replay {
    const whatif_requests *q;
    masu__torch_pool *pool;
    masu_check *judge; /* NULL: not judged */
    uint64_t sequence, next_address;
    uint64_t now_bytes; /* of the request being served */
    uint64_t judged_bytes, judged_peak;
} replay;

static void emit(replay *p, masu_event_kind kind, uint64_t address, uint64_t bytes, uint64_t block_bytes,
                 uint64_t owner) {
    masu_event event = {.sequence = p->sequence++,
                        .address = address,
                        .bytes = bytes,
                        .block_bytes = block_bytes,
                        .alignment_bytes = kind == MASU_EVENT_ALLOC ? 512 : 0,
                        .owner = owner,
                        .pool = 1,
                        .kind = kind};
    masu_check_event(p->judge, &event);
}

/* The judge gets pages one by one: memory that is mapped at once may be unmapped in parts. */
static void emit_pages(replay *p, const masu__torch_step *step) {
    uint64_t page = 2 * MIB;
    for (uint64_t at = step->address; at < step->address + step->bytes; at += page) {
        if (step->kind == MASU__TORCH_MAP) {
            emit(p, MASU_EVENT_PIECE_ADD, 0, page, page, at / page);
            emit(p, MASU_EVENT_MAP, at, page, page, at / page);
        } else {
            emit(p, MASU_EVENT_UNMAP, at, page, page, at / page);
            emit(p, MASU_EVENT_PIECE_DROP, 0, page, page, at / page);
        }
    }
}

static void on_step(void *context, const masu__torch_step *step) {
    replay *p = context;
    if (!p->judge)
        return;
    bool more = step->kind == MASU__TORCH_SEGMENT_ADD || step->kind == MASU__TORCH_MAP;
    if (step->kind != MASU__TORCH_ALLOC)
        p->judged_bytes += more ? step->bytes : -step->bytes;
    if (p->judged_bytes > p->judged_peak)
        p->judged_peak = p->judged_bytes;
    if (step->kind == MASU__TORCH_ALLOC)
        emit(p, MASU_EVENT_ALLOC, step->address, p->now_bytes, step->bytes, 0);
    else if (step->kind == MASU__TORCH_SEGMENT_ADD || step->kind == MASU__TORCH_SEGMENT_DROP)
        emit(p, more ? MASU_EVENT_EXTENT_ADD : MASU_EVENT_EXTENT_DROP, step->address, step->bytes, step->bytes, 0);
    else
        emit_pages(p, step);
}

static uint64_t on_place(void *context, masu__torch_whose whose, bool expandable, uint64_t bytes) {
    replay *p = context;
    uint64_t address = p->next_address;
    (void)whose;
    p->next_address += (bytes + 2 * MIB - 1) / (2 * MIB) * (2 * MIB);
    if (expandable && p->judge)
        emit(p, MASU_EVENT_EXTENT_ADD, address, bytes, bytes, 0);
    return address;
}

static masu_status serve(replay *p, const whatif_request *request, uint32_t *handles) {
    masu__torch_whose whose = {.stream = p->q->lanes[request->lane].stream,
                               .private_pool = p->q->lanes[request->lane].private_pool};
    uint32_t handle = 0;
    masu_status status = MASU_OK;
    p->now_bytes = request->bytes;
    switch ((whatif_kind)request->kind) {
    case WHATIF_TAKE:
        status = masu__torch_alloc(p->pool, request->bytes, whose, request->event, &handles[request->id]);
        break;
    case WHATIF_REFUSED:
        status = masu__torch_alloc(p->pool, request->bytes, whose, request->event, &handle);
        break;
    case WHATIF_GIVE:
        handle = handles[request->id];
        break;
    case WHATIF_RELEASE:
        return masu__torch_release(p->pool, 0, false);
    }
    if (status == MASU_ERR_LIMIT_REACHED || !handle)
        return status == MASU_ERR_LIMIT_REACHED ? MASU_OK : status;
    masu__torch_block block = masu__torch_look(p->pool, handle);
    if (p->judge)
        emit(p, MASU_EVENT_FREE, block.address, block.asked_bytes, block.bytes, 0);
    return masu__torch_free(p->pool, handle);
}

static void judge(const replay *p, const masu__torch_stats *stats, whatif_row *out) {
    masu_verdict verdict = masu_check_verdict(p->judge);
    bool fine = verdict == MASU_VERDICT_FINE && p->judged_peak == stats->peak_reserved_bytes;
    out->judged = fine ? WHATIF_FINE : WHATIF_WRONG;
    if (!fine)
        snprintf(out->note, sizeof out->note, "the judge says: %s",
                 verdict == MASU_VERDICT_FINE ? "another peak" : masu_verdict_name(verdict));
}

masu_status whatif_replay_torch(const whatif_requests *requests, const masu__torch_settings *settings, const char *name,
                                const whatif_options *options, whatif_row *out) {
    *out = (whatif_row){.is_model = true};
    snprintf(out->name, sizeof out->name, "%s", name);
    replay p = {.q = requests, .next_address = (uint64_t)1 << 40};
    masu__torch_config config = {.settings = *settings, .step = on_step, .place = on_place, .context = &p};
    size_t bytes = ((size_t)requests->blocks + 1) * sizeof(uint32_t);
    uint32_t *handles = masu__meta_calloc((size_t)requests->blocks + 1, sizeof(uint32_t));
    masu_status status = handles ? masu__torch_pool_create(&config, &p.pool) : MASU_ERR_OUT_OF_MEMORY;
    if (status == MASU_OK && (uint64_t)requests->count * requests->peak_live_blocks <= options->judge_most)
        status = masu_check_create(&p.judge);
    for (size_t i = 0; i < requests->count && status == MASU_OK; i++)
        if (requests->items[i].kind != WHATIF_REFUSED || settings->capacity_bytes)
            status = serve(&p, &requests->items[i], handles);
    if (status == MASU_OK) {
        masu__torch_stats stats = masu__torch_get_stats(p.pool);
        out->ran = true;
        out->peak_reserved_bytes = stats.peak_reserved_bytes;
        out->device_calls = stats.segments_added + stats.segments_dropped + stats.maps + stats.unmaps;
        out->refused = stats.refused;
        if (p.judge)
            judge(&p, &stats, out);
    }
    masu_check_destroy(p.judge);
    masu__torch_pool_destroy(p.pool);
    masu__meta_free(handles, bytes);
    return status;
}
