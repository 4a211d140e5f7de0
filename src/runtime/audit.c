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
 *     count of each tensor, string, vector = ways by which it was found
 *
 * So garbage is an error as soon as it exists, and so is a count too many or too few. The cost of a check is
 * what is alive; that a program with a large live set ends, checks are left out so that one point costs
 * POINT_VISITS on average.
 */
#include <inttypes.h>
#include <string.h>

#include "base/meta.h"
#include "runtime/autograd.h"
#include "runtime/objects.h"
#include "runtime/state.h"

enum { POINT_VISITS = 256, SMALLEST_TABLE = 256 };

typedef enum found_kind { FOUND_OBJECT, FOUND_STORAGE, FOUND_NODE } found_kind;

typedef struct found {
    void *address; /* NULL: free entry */
    uint32_t ways, kind;
} found;

struct tl_auditor {
    found *table; /* open addressing, never more than half full */
    size_t capacity, used;
    found **order; /* as found; the first `walked` have been looked into. Room for capacity / 2 */
    size_t walked;
    uint64_t headers, storages, nodes, objects; /* found */
    void **stack;                               /* needed behind the calls that are running */
    size_t stack_count, stack_capacity;
    uint64_t *counts; /* length of each call's list */
    size_t count_count, count_capacity;
    uint64_t credit; /* visits saved up */
    bool enough;     /* memory, for the check at hand */
    bool ended;      /* memory, for what is known of the calls */
};

/* ---- the set of what was found ----------------------------------------------------------------------------- */

static size_t place_of(const tl_auditor *a, const void *address) {
    size_t at = ((uintptr_t)address >> 4) * 0x9E3779B97F4A7C15u >> 20 & (a->capacity - 1);
    while (a->table[at].address && a->table[at].address != address)
        at = (at + 1) & (a->capacity - 1);
    return at;
}

static void set_free(tl_auditor *a) {
    masu__meta_free(a->table, a->capacity * sizeof *a->table);
    masu__meta_free(a->order, a->capacity / 2 * sizeof *a->order);
    a->table = NULL;
    a->order = NULL;
    a->capacity = a->used = 0;
}

/* Empty, with room for `most` entries. */
static bool set_begin(tl_auditor *a, uint64_t most) {
    size_t capacity = SMALLEST_TABLE;
    while (capacity < 2 * (most + 1))
        capacity *= 2;
    if (capacity > a->capacity) {
        set_free(a);
        a->table = masu__meta_calloc(capacity, sizeof *a->table);
        a->order = masu__meta_calloc(capacity / 2, sizeof *a->order);
        a->capacity = capacity;
        if (!a->table || !a->order) {
            set_free(a);
            return false;
        }
    }
    for (size_t i = 0; i < a->used; i++)
        a->order[i]->address = NULL;
    a->used = a->walked = 0;
    a->headers = a->storages = a->nodes = a->objects = 0;
    a->enough = true;
    return true;
}

/* True when it is new. Nothing is found that is not counted somewhere, unless something is badly wrong. */
static bool find(tl_auditor *a, void *address, found_kind kind) {
    if (!address || !a->enough)
        return false;
    found *f = &a->table[place_of(a, address)];
    if (f->address) {
        f->ways++;
        return false;
    }
    if (a->used == a->capacity / 2) {
        a->enough = false;
        return false;
    }
    *f = (found){address, 1, kind};
    a->order[a->used++] = f;
    return true;
}

static void find_object(tl_auditor *a, void *p) {
    tl_object *object = p;
    if (!find(a, object, FOUND_OBJECT))
        return;
    a->headers += object->kind == TL_TENSOR;
    a->objects += object->kind != TL_TENSOR;
}

static void find_node(tl_auditor *a, tl_node *node) {
    if (find(a, node, FOUND_NODE))
        a->nodes += !(node->flags & TL_NODE_LEAF);
}

static void walk_vector(tl_auditor *a, const tl_vector *v) {
    for (int64_t e = 0; e < v->length; e++)
        for (int64_t k = 0; k < v->plan->owned_count; k++)
            find_object(a,
                        (void *)(uintptr_t)v->words[e * v->plan->word_count + v->plan->owned[k]]);
}

static void walk_object(tl_auditor *a, tl_object *object) {
    if (object->kind == TL_VECTOR)
        walk_vector(a, (const tl_vector *)(const void *)object);
    if (object->kind != TL_TENSOR)
        return;
    tl_tensor *t = (tl_tensor *)(void *)object;
    a->storages += find(a, t->storage, FOUND_STORAGE);
    find_node(a, t->node);
}

static void walk_node(tl_auditor *a, tl_node *node) {
    for (int i = 0; i < node->input_count; i++)
        find_node(a, tl__node_inputs(node)[i]);
    for (int i = 0; i < node->saved_count; i++)
        find_object(a, tl__node_saved(node)[i]);
    find_object(a, node->buffer);
    if (node->flags & TL_NODE_LEAF)
        find_object(a, tl__node_leaf(node)->gradient);
}

static void walk(tl_auditor *a) {
    while (a->walked < a->used && a->enough) {
        found *f = a->order[a->walked++];
        if (f->kind == FOUND_OBJECT)
            walk_object(a, f->address);
        else if (f->kind == FOUND_NODE)
            walk_node(a, f->address);
    }
}

/* ---- the verdict --------------------------------------------------------------------------------------------- */

static void complain(tl_runtime *rt, uint32_t site, const char *what, uint64_t alive,
                     uint64_t needed) {
    if (rt->audit_faults++ > 0)
        return;
    rt->audit_site = site;
    snprintf(rt->audit_text, sizeof rt->audit_text,
             "audit: %s: %" PRIu64 " alive before this operation, %" PRIu64 " needed from here on",
             what, alive, needed);
}

static void check_counts(tl_runtime *rt, const tl_auditor *a, uint32_t site) {
    for (size_t i = 0; i < a->used; i++) {
        const tl_object *object = a->order[i]->address;
        if (a->order[i]->kind == FOUND_OBJECT && object->count != a->order[i]->ways)
            complain(rt, site,
                     object->kind == TL_TENSOR ? "counts of one tensor" : "counts of one object",
                     object->count, a->order[i]->ways);
    }
}

static void judge(tl_runtime *rt, const tl_auditor *a, uint32_t site) {
    if (a->headers != rt->tensors.live)
        complain(rt, site, "tensors", rt->tensors.live, a->headers);
    else if (a->storages != rt->storages.live)
        complain(rt, site, "buffers", rt->storages.live, a->storages);
    else if (a->nodes != rt->live_nodes)
        complain(rt, site, "nodes of the history", rt->live_nodes, a->nodes);
    else if (a->objects != rt->live_objects)
        complain(rt, site, "strings and vectors", rt->live_objects, a->objects);
    else
        check_counts(rt, a, site);
}

/* ---- what compiled code calls ---------------------------------------------------------------------------------- */

static tl_auditor *audit_of(tl_runtime *rt) {
    if (!rt->audit)
        rt->audit = masu__meta_calloc(1, sizeof *rt->audit);
    return rt->audit;
}

/* Leaves are counted nowhere, each has a header or an edge. */
static uint64_t most_found(const tl_runtime *rt) {
    return 3 * rt->tensors.live + rt->storages.live + 8 * rt->live_nodes + rt->live_objects;
}

void tl_audit(int64_t site, int64_t live_count, void *const *live) {
    tl_runtime *rt = tl__runtime();
    tl_auditor *a = audit_of(rt);
    if (!a || a->ended)
        return;
    rt->audit_points++;
    uint64_t cost = rt->tensors.live + rt->live_nodes + rt->live_objects + a->stack_count;
    a->credit += POINT_VISITS;
    if (a->credit < cost)
        return;
    a->credit = a->credit - cost > POINT_VISITS ? POINT_VISITS : a->credit - cost;
    if (!set_begin(a, most_found(rt) + a->stack_count + (uint64_t)live_count))
        return;
    for (size_t i = 0; i < a->stack_count; i++)
        find_object(a, a->stack[i]);
    for (int64_t i = 0; i < live_count; i++)
        find_object(a, live[i]);
    walk(a);
    if (a->enough)
        judge(rt, a, (uint32_t)site);
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

/* When memory runs out nothing more can be said: the audit has ended. */
void tl_audit_call(int64_t live_count, void *const *live) {
    tl_auditor *a = audit_of(tl__runtime());
    if (!a || a->ended)
        return;
    size_t wanted = a->stack_count + (size_t)live_count + 1; /* room for one: never NULL */
    void *stack = grown(a->stack, &a->stack_capacity, wanted, sizeof(void *));
    a->stack = stack ? stack : a->stack;
    void *counts = grown(a->counts, &a->count_capacity, a->count_count + 1, sizeof(uint64_t));
    a->counts = counts ? counts : a->counts;
    a->ended = !stack || !counts;
    if (a->ended)
        return;
    for (int64_t i = 0; i < live_count; i++)
        a->stack[a->stack_count++] = live[i];
    a->counts[a->count_count++] = (uint64_t)live_count;
}

void tl_audit_return(void) {
    tl_auditor *a = audit_of(tl__runtime());
    if (a && !a->ended && a->count_count > 0)
        a->stack_count -= a->counts[--a->count_count];
}

void tl__audit_reset(tl_runtime *rt) {
    if (rt->audit)
        rt->audit->stack_count = rt->audit->count_count = 0;
}

/* ---- counts by line ------------------------------------------------------------------------------------------- */

/* counts: acquires, releases, moves, borrows, slots, 12 bits each. What was allocated since the last call was
 * allocated by the operation that was told of then. */
void tl_count_line(int64_t site, int64_t counts) {
    tl_runtime *rt = tl__runtime();
    masu_heap_stats stats;
    masu_heap_get_stats(rt->payload, &stats);
    size_t wanted = (size_t)site + 1, before = rt->line_capacity;
    tl_line_counts *lines = grown(rt->lines, &rt->line_capacity, wanted, sizeof *lines);
    if (!lines)
        return;
    rt->lines = lines;
    memset(lines + before, 0, (rt->line_capacity - before) * sizeof *lines);
    lines[rt->line_site].allocations += stats.allocations - rt->line_allocations;
    rt->line_allocations = stats.allocations;
    rt->line_site = (uint32_t)site;
    uint64_t *fields[] = {&lines[site].acquires, &lines[site].releases, &lines[site].moves,
                          &lines[site].borrows, &lines[site].slots};
    for (int k = 0; k < 5; k++)
        *fields[k] += (uint64_t)counts >> (12 * k) & 0xFFF;
    lines[site].visits++;
}

uint32_t tl_runtime_lines(tl_runtime *rt, const tl_line_counts **lines) {
    masu_heap_stats stats;
    masu_heap_get_stats(rt->payload, &stats);
    if (rt->lines)
        rt->lines[rt->line_site].allocations += stats.allocations - rt->line_allocations;
    rt->line_allocations = stats.allocations;
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
    set_free(a);
    masu__meta_free(a->stack, a->stack_capacity * sizeof *a->stack);
    masu__meta_free(a->counts, a->count_capacity * sizeof *a->counts);
    masu__meta_free(a, sizeof *a);
}
