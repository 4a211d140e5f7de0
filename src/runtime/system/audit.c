/* audit.c: `masu run --audit` and `--by-line`: the running program against what the compiler says about it.
 *
 * Before every operation compiled code tells which values its function still needs; before a call, which of
 * them it needs behind it. Together these are the roots, and everything that may be alive hangs on them:
 *
 *     lists of the functions on the stack ─► tensors, vectors, strings ─► elements of vectors
 *     list of the innermost function ──────┘      ├─► storage
 *                                                 └─► node ─► operands' nodes, saved tensors, gradients
 *
 * What must hold at each such point, or the first place where it does not is remembered:
 *
 *     tensors found = live headers      storages found = live storages      nodes found = live nodes + leaves
 *     strings and vectors found = live objects
 *     count of each tensor, string, vector in the list = ways by which it was found
 *
 * So garbage is an error as soon as it exists, and so is a count too many or too few. No point is left out: what was
 * found is kept (audit_model.h), so that a point costs the length of the list and what has changed since the last.
 */
#include <inttypes.h>
#include <string.h>

#include "base/meta.h"
#include "runtime/state.h"
#include "runtime/system/audit_model.h"

struct tl_auditor {
    audit_model model;
    void **stack; /* needed behind the calls that are running: roots */
    size_t stack_count, stack_capacity;
    uint64_t *counts; /* length of each call's list */
    size_t count_count, count_capacity;
    void **held; /* roots of the last point; they go when the next has named its own */
    size_t held_count, held_capacity;
    bool ended; /* memory: nothing more can be said */
};

/* ---- the verdict --------------------------------------------------------------------------------------------- */

static void complain(tl_runtime *rt, uint32_t site, const char *what, uint64_t alive, uint64_t needed) {
    if (rt->audit_faults++ > 0)
        return;
    rt->audit_site = site;
    snprintf(rt->audit_text, sizeof rt->audit_text,
             "audit: %s: %" PRIu64 " alive before this operation, %" PRIu64 " needed from here on", what, alive,
             needed);
}

static bool judge(tl_runtime *rt, const audit_model *m, uint32_t site) {
    uint64_t faults = rt->audit_faults;
    if (m->headers != rt->tensors.live)
        complain(rt, site, "tensors", rt->tensors.live, m->headers);
    else if (m->storages != rt->storages.live)
        complain(rt, site, "buffers", rt->storages.live, m->storages);
    else if (m->nodes != rt->live_nodes)
        complain(rt, site, "nodes of the history", rt->live_nodes, m->nodes);
    else if (m->objects != rt->live_objects)
        complain(rt, site, "strings and vectors", rt->live_objects, m->objects);
    return faults == rt->audit_faults;
}

/* All are looked at again before any is judged: one may have let go of another. One complaint a point is enough. */
static void check_counts(tl_runtime *rt, audit_model *m, uint32_t site, int64_t count, void *const *live) {
    for (int64_t i = 0; i < count; i++)
        model_refresh(m, live[i]);
    for (int64_t i = 0; i < count; i++) {
        const tl_object *object = live[i];
        uint64_t ways = model_ways(m, object);
        if (!object || m->failed || object->count == ways)
            continue;
        complain(rt, site, object->kind == TL_TENSOR ? "counts of one tensor" : "counts of one object", object->count,
                 ways);
        return;
    }
}

/* ---- what compiled code calls ---------------------------------------------------------------------------------- */

static tl_auditor *audit_of(tl_runtime *rt) {
    if (!rt->audit)
        rt->audit = masu__meta_calloc(1, sizeof *rt->audit);
    return rt->audit;
}

static void *grown(void *array, size_t *capacity, size_t wanted, size_t element) {
    if (wanted <= *capacity)
        return array;
    size_t larger = *capacity ? 2 * *capacity : 64;
    while (larger < wanted)
        larger *= 2;
    void *moved = masu__meta_realloc(array, *capacity * element, larger * element);
    if (moved)
        *capacity = larger;
    return moved;
}

/* Room for `wanted` pointers; false ends the audit. */
static bool make_room(tl_auditor *a, void ***array, size_t *capacity, size_t wanted) {
    void *room = grown(*array, capacity, wanted, sizeof(void *));
    if (room)
        *array = room;
    a->ended |= !room;
    return room;
}

/* The list takes the place of the last one. Most names are where they were: they stay. */
static bool replace_roots(tl_auditor *a, int64_t count, void *const *live) {
    size_t before = a->held_count, wanted = (before > (size_t)count ? before : (size_t)count) + 1;
    if (!make_room(a, &a->held, &a->held_capacity, wanted))
        return false;
    for (size_t i = 0; i < (size_t)count; i++)
        if (i >= before || a->held[i] != live[i])
            model_add(&a->model, live[i]);
    for (size_t i = 0; i < before; i++)
        if (i >= (size_t)count || a->held[i] != live[i])
            model_drop(&a->model, a->held[i]);
    for (size_t i = 0; i < (size_t)count; i++)
        a->held[i] = live[i];
    a->held_count = (size_t)count;
    return true;
}

void tl_audit(int64_t site, int64_t live_count, void *const *live) {
    tl_runtime *rt = tl__runtime();
    tl_auditor *a = audit_of(rt);
    if (!a || a->ended)
        return;
    rt->audit_points++;
    if (replace_roots(a, live_count, live)) {
        uint64_t faults = rt->audit_faults;
        check_counts(rt, &a->model, (uint32_t)site, live_count, live);
        if (faults == rt->audit_faults && !a->model.failed)
            judge(rt, &a->model, (uint32_t)site);
    }
    a->ended |= a->model.failed;
}

/* When memory runs out nothing more can be said: the audit has ended. */
void tl_audit_call(int64_t live_count, void *const *live) {
    tl_auditor *a = audit_of(tl__runtime());
    if (!a || a->ended || !make_room(a, &a->stack, &a->stack_capacity, a->stack_count + (size_t)live_count + 1))
        return;
    void *counts = grown(a->counts, &a->count_capacity, a->count_count + 1, sizeof(uint64_t));
    a->counts = counts ? counts : a->counts;
    a->ended = !counts;
    if (a->ended)
        return;
    for (int64_t i = 0; i < live_count; i++) {
        model_add(&a->model, live[i]);
        a->stack[a->stack_count++] = live[i];
    }
    a->counts[a->count_count++] = (uint64_t)live_count;
}

/* The roots from before the call stay roots until the next point names its own. */
void tl_audit_return(void) {
    tl_auditor *a = audit_of(tl__runtime());
    if (!a || a->ended || a->count_count == 0)
        return;
    size_t count = a->counts[--a->count_count];
    if (!make_room(a, &a->held, &a->held_capacity, a->held_count + count + 1))
        return;
    a->stack_count -= count;
    for (size_t i = 0; i < count; i++)
        a->held[a->held_count++] = a->stack[a->stack_count + i];
}

void tl__audit_node(tl_node *node) {
    model_refresh_node(&tl__runtime()->audit->model, node);
}

void tl__audit_waits(tl_object *object, bool waits) {
    tl_auditor *a = audit_of(tl__runtime());
    if (!a || a->ended)
        return;
    if (waits)
        model_add(&a->model, object);
    else
        model_drop(&a->model, object);
}

void tl__audit_element(tl_object *vector, int64_t index) {
    model_refresh_element(&tl__runtime()->audit->model, (const tl_vector *)(const void *)vector, index);
}

void tl__audit_reset(tl_runtime *rt) {
    if (!rt->audit)
        return;
    rt->audit->stack_count = rt->audit->count_count = rt->audit->held_count = 0;
    model_destroy(&rt->audit->model);
}

/* ---- counts by line ------------------------------------------------------------------------------------------- */

static void add_buffers(tl_runtime *rt) {
    masu_heap_stats stats;
    masu_heap_get_stats(rt->payload, &stats);
    tl_line_counts *line = &rt->lines[rt->line_site];
    line->allocations += stats.allocations - rt->line_allocations;
    line->placed += rt->placed - rt->line_placed;
    line->reused += rt->reused - rt->line_reused;
    line->slotted += rt->slotted - rt->line_slotted;
    rt->line_allocations = stats.allocations;
    rt->line_placed = rt->placed;
    rt->line_reused = rt->reused;
    rt->line_slotted = rt->slotted;
}

/* counts: acquires, releases, moves, borrows, slots, 12 bits each. Allocations since the last call belong to
 * the operation that was named then. */
void tl_count_line(int64_t site, int64_t counts) {
    tl_runtime *rt = tl__runtime();
    size_t wanted = (size_t)site + 1, before = rt->line_capacity;
    tl_line_counts *lines = grown(rt->lines, &rt->line_capacity, wanted, sizeof *lines);
    if (!lines)
        return;
    rt->lines = lines;
    memset(lines + before, 0, (rt->line_capacity - before) * sizeof *lines);
    add_buffers(rt);
    rt->line_site = (uint32_t)site;
    uint64_t *fields[] = {&lines[site].acquires, &lines[site].releases, &lines[site].moves, &lines[site].borrows,
                          &lines[site].slots};
    for (int k = 0; k < 5; k++)
        *fields[k] += (uint64_t)counts >> (12 * k) & 0xFFF;
    lines[site].visits++;
}

uint32_t tl_runtime_lines(tl_runtime *rt, const tl_line_counts **lines) {
    if (rt->lines)
        add_buffers(rt);
    *lines = rt->lines;
    return (uint32_t)rt->line_capacity;
}

bool tl_runtime_audit(const tl_runtime *rt, tl_audit_result *out) {
    *out = (tl_audit_result){rt->audit_points, rt->audit_faults, rt->audit_site, rt->audit_text};
    return rt->audit_faults == 0;
}

void tl__audit_destroy(tl_runtime *rt) {
    tl_auditor *a = rt->audit;
    masu__meta_free(rt->lines, rt->line_capacity * sizeof *rt->lines);
    if (!a)
        return;
    model_destroy(&a->model);
    masu__meta_free(a->held, a->held_capacity * sizeof *a->held);
    masu__meta_free(a->stack, a->stack_capacity * sizeof *a->stack);
    masu__meta_free(a->counts, a->count_capacity * sizeof *a->counts);
    masu__meta_free(a, sizeof *a);
}
