/* trace_places.c: what a recording (masu/record.h) learns from the runtime: where the program is when it takes memory,
 * what lies in frames, and what the program is doing.
 *
 * A place of a recording is a site and the place that called it: a stack is a chain of them, and stacks share what they
 * have in common. Between two allocations little changes, so the last stack is kept, and only what differs is looked
 * up:
 *
 *     outermost ─► sites[0] sites[1] … sites[depth - 1]      numbers[i]: the place that ends with sites[i]
 *
 * places[n] is place number n + 1. Memory is asked for only when a place is met for the first time; without it the
 * place stays unknown.
 */
#include "base/meta.h"
#include "runtime/state.h"

enum { DEEPEST = 128 };

typedef struct stack_place {
    uint32_t caller, site;
    uint32_t shown; /* its number in the recording: of the caller, where the site lies nowhere that the user wrote */
    uint32_t chain; /* next of the same hash, plus one */
} stack_place;

struct tl_trace_places {
    tl_place_of place_of;
    const void *program;
    stack_place *places;
    uint32_t *heads; /* plus one */
    uint32_t count, capacity;
    uint32_t sites[DEEPEST], numbers[DEEPEST];
    uint32_t depth; /* of what is kept */
};

static uint32_t hash_of(const tl_trace_places *p, uint32_t caller, uint32_t site) {
    return (caller * 0x9e3779b1u ^ site * 0x85ebca6bu) >> 7 & (p->capacity - 1);
}

static bool make_room(tl_trace_places *p) {
    if (p->count < p->capacity)
        return true;
    uint32_t capacity = p->capacity ? 2 * p->capacity : 256;
    stack_place *places = masu__meta_alloc(capacity * sizeof *places);
    uint32_t *heads = masu__meta_calloc(capacity, sizeof *heads);
    if (!places || !heads) {
        masu__meta_free(places, capacity * sizeof *places);
        masu__meta_free(heads, capacity * sizeof *heads);
        return false;
    }
    tl_trace_places old = *p;
    p->places = places;
    p->heads = heads;
    p->capacity = capacity;
    for (uint32_t i = 0; i < old.count; i++) {
        uint32_t *head = &heads[hash_of(p, old.places[i].caller, old.places[i].site)];
        places[i] = old.places[i];
        places[i].chain = *head;
        *head = i + 1;
    }
    masu__meta_free(old.places, old.capacity * sizeof *old.places);
    masu__meta_free(old.heads, old.capacity * sizeof *old.heads);
    return true;
}

/* The number of the place, made when it is new; 0: unknown. */
static uint32_t number_of(tl_trace_places *p, masu_trace *trace, uint32_t caller, uint32_t site) {
    uint32_t at = p->capacity ? p->heads[hash_of(p, caller, site)] : 0;
    while (at && (p->places[at - 1].caller != caller || p->places[at - 1].site != site))
        at = p->places[at - 1].chain;
    if (MASU_LIKELY(at))
        return at;
    if (!make_room(p))
        return 0;
    uint32_t *head = &p->heads[hash_of(p, caller, site)];
    uint32_t shown = caller ? p->places[caller - 1].shown : 0;
    p->places[p->count] = (stack_place){caller, site, shown, *head};
    *head = ++p->count;
    tl_source_place place;
    if (site && p->place_of(p->program, site, &place)) {
        masu_trace_place(trace, p->count, shown, place.file, place.function, place.line);
        p->places[p->count - 1].shown = p->count;
    }
    return p->count;
}

/* Fills sites from the innermost of the outermost DEEPEST frames on; how many of them are as before. */
static uint32_t take_stack(const tl_runtime *rt, tl_trace_places *p, uint32_t *depth) {
    const tl_frame *frame = rt->frame;
    uint64_t level = rt->frame_depth;
    for (; level > DEEPEST; level--)
        frame = frame->parent;
    uint32_t same = level < p->depth ? (uint32_t)level : p->depth;
    *depth = (uint32_t)level;
    for (; level > 0; level--, frame = frame->parent) {
        if (level - 1 < p->depth && p->sites[level - 1] != frame->site && level - 1 < same)
            same = (uint32_t)level - 1;
        p->sites[level - 1] = frame->site;
    }
    return same;
}

uint32_t tl_runtime_here(void *ignored) {
    (void)ignored;
    tl_runtime *rt = tl__current;
    if (!rt || !rt->places)
        return 0;
    tl_trace_places *p = rt->places;
    uint32_t depth, at = take_stack(rt, p, &depth);
    for (; at < depth; at++)
        p->numbers[at] = number_of(p, rt->trace, at ? p->numbers[at - 1] : 0, p->sites[at]);
    p->depth = depth;
    uint32_t number = depth ? p->numbers[depth - 1] : 0;
    return number ? p->places[number - 1].shown : 0;
}

masu_status tl_runtime_set_places(tl_runtime *rt, tl_place_of place_of, const void *program) {
    tl__trace_places_destroy(rt);
    rt->places = masu__meta_calloc(1, sizeof *rt->places);
    if (!rt->places)
        return MASU_ERR_OUT_OF_MEMORY;
    rt->places->place_of = place_of;
    rt->places->program = program;
    return MASU_OK;
}

void tl__trace_places_destroy(tl_runtime *rt) {
    if (!rt->places)
        return;
    masu__meta_free(rt->places->places, rt->places->capacity * sizeof *rt->places->places);
    masu__meta_free(rt->places->heads, rt->places->capacity * sizeof *rt->places->heads);
    masu__meta_free(rt->places, sizeof *rt->places);
    rt->places = NULL;
}

/* ---- frames ------------------------------------------------------------------------------------------------------ */

/* The room is an extent of its own, which comes and goes with the block: the judge asks where a block lies. */
void tl__trace_frame(tl_runtime *rt, const tl_frame *frame, bool begins) {
    const masu_event room = {.pool = rt->frame_pool,
                             .address = (uintptr_t)frame->room,
                             .bytes = frame->room_bytes,
                             .block_bytes = frame->room_bytes};
    masu_event extent = room, block = room;
    extent.kind = begins ? MASU_EVENT_EXTENT_ADD : MASU_EVENT_EXTENT_DROP;
    block.kind = begins ? MASU_EVENT_ALLOC : MASU_EVENT_FREE;
    block.alignment_bytes = 64;
    masu_trace_put(rt->trace, begins ? &extent : &block);
    masu_trace_put(rt->trace, begins ? &block : &extent);
    if (begins && rt->room_bytes == rt->room_bytes_peak)
        masu_trace_mark(rt->trace, MASU_MARK_PLAN, "the most that frames have planned so far", rt->room_bytes,
                        rt->room_bytes);
}
