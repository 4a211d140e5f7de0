/* kernel_read.c: reads a planning problem of a kernel compiler. See kernel.h.
 *
 * Members come in any order, so numbers of buffers and pools are resolved when all have been read (kernel_resolve.c).
 * What the planner would not honour is refused where it is written; what says only where a problem comes from
 * (metadata, pypto_structure, reasons) is passed over.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tool/plan/kernel_parts.h"

static reading *of(json *j) {
    return j->state;
}

/* One more, zeroed; NULL: memory ran out, which is noted. */
static void *append(json *j, list *l, size_t bytes) {
    if (l->count == l->room) {
        size_t room = l->room ? 2 * l->room : 16;
        void *items = masu__arena_grow(&j->reader->table->arena, l->items, l->count, room, bytes, 16);
        if (!items) {
            plan_json_no_memory(j);
            return NULL;
        }
        l->items = items;
        l->room = room;
    }
    return memset((char *)l->items + bytes * l->count++, 0, bytes);
}

/* ---- members by name ----------------------------------------------------------------------------- */

/* The type of a member, and its place in the struct; CALL reads by itself. */
typedef enum member_kind { PASSED_OVER, NUMBER, MOMENT, TEXT, FLAG, CALL } member_kind;

typedef struct field {
    const char *name;
    member_kind kind;
    size_t at;
    bool (*read)(json *j, void *into);
    bool optional;
} field;

#define PUT(member_name, member_kind, type, member) \
    { member_name, member_kind, offsetof(type, member), NULL, false }
#define ASK(member_name, function) \
    { member_name, CALL, 0, function, false }
#define MAY(member_name, function) \
    { member_name, CALL, 0, function, true }
#define SKIP(member_name, is_optional) \
    { member_name, PASSED_OVER, 0, NULL, is_optional }

typedef struct fields {
    const field *all;
    size_t count;
    unsigned seen;
    void *into;
} fields;

static bool read_flag(json *j, bool *out) {
    plan_json_peek(j);
    const char *text = j->reader->text + j->at;
    size_t left = j->reader->length - j->at, length = left > 0 && *text == 't' ? 4 : 5;
    *out = length == 4;
    if (left < length || memcmp(text, length == 4 ? "true" : "false", length) != 0)
        return plan_json_expected(j, j->at, "true or false");
    j->at += length;
    return true;
}

static bool read_text(json *j, char **out) {
    json_span s;
    if (!plan_json_string(j, &s))
        return false;
    *out = masu__arena_strndup(&j->reader->table->arena, j->reader->text + s.from, s.length);
    return *out || plan_json_no_memory(j);
}

static bool read_field(json *j, const field *f, void *into) {
    void *at = (char *)into + f->at;
    switch (f->kind) {
    case NUMBER:
        return plan_json_bytes(j, at);
    case MOMENT:
        return plan_json_moment(j, at);
    case TEXT:
        return read_text(j, at);
    case FLAG:
        return read_flag(j, at);
    case CALL:
        return f->read(j, into);
    default:
        return plan_json_skip(j);
    }
}

static bool take_member(json *j, json_span name, void *context) {
    fields *f = context;
    for (size_t i = 0; i < f->count; i++) {
        if (!plan_json_is(j, name, f->all[i].name))
            continue;
        if (f->seen >> i & 1)
            return plan_json_expected(j, name.begin, "each name once");
        f->seen |= 1u << i;
        return read_field(j, &f->all[i], f->into);
    }
    return plan_json_expected(j, name.begin, "a name that schema version 1 has here");
}

/* An object with these members and no others. */
static bool read_members(json *j, const field *all, size_t count, void *into) {
    fields f = {all, count, 0, into};
    plan_json_peek(j);
    size_t at = j->at;
    if (!plan_json_each_member(j, take_member, &f))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!all[i].optional && !(f.seen >> i & 1))
            return plan_complain(j->reader, plan_place_at(j->reader, at), "expected a member \"%s\"", all[i].name);
    return true;
}

#define MEMBERS(j, all, into) read_members((j), (all), sizeof(all) / sizeof *(all), (into))

/* ---- buffers -------------------------------------------------------------------------------------- */

typedef struct one_buffer {
    uint64_t id, size, alignment, pool;
    const char *name;
    list lives; /* life */
    size_t pools;
} one_buffer;

typedef struct life {
    int64_t lower, upper;
} life;

static bool one_life(json *j, void *context) {
    static const field all[] = {PUT("lower", MOMENT, life, lower), PUT("upper", MOMENT, life, upper)};
    life *l = append(j, &((one_buffer *)context)->lives, sizeof *l);
    plan_json_peek(j);
    size_t at = j->at;
    return l && MEMBERS(j, all, l) &&
           (l->lower < l->upper || plan_json_expected(j, at, "an interval whose upper is above its lower"));
}

static bool buffer_lives(json *j, void *into) {
    plan_json_peek(j);
    size_t at = j->at;
    return plan_json_each_element(j, one_life, into) &&
           (((one_buffer *)into)->lives.count > 0 || plan_json_expected(j, at, "an interval of life at least"));
}

static bool one_pool_id(json *j, void *context) {
    one_buffer *b = context;
    b->pools++;
    return plan_json_bytes(j, &b->pool);
}

static bool buffer_pools(json *j, void *into) {
    one_buffer *b = into;
    plan_json_peek(j);
    size_t at = j->at;
    return plan_json_each_element(j, one_pool_id, into) &&
           (b->pools == 1 ||
            plan_json_expected(
                j, at, "one pool for each buffer: to divide buffers among memories write a table and use --memory"));
}

static int by_birth(const void *a, const void *b) {
    const life *x = a, *y = b;
    return (x->lower > y->lower) - (x->lower < y->lower);
}

/* From the first birth to the last end; what lies between is gaps. */
static bool settle_lives(json *j, one_buffer *b, size_t at, masu_plan_row *row) {
    life *lives = b->lives.items;
    qsort(lives, b->lives.count, sizeof *lives, by_birth);
    masu_plan_gap *gaps = MASU_ARENA_ARRAY(&j->reader->table->arena, masu_plan_gap, b->lives.count);
    if (!gaps)
        return plan_json_no_memory(j);
    row->gaps = gaps;
    row->lower = lives[0].lower;
    row->upper = lives[b->lives.count - 1].upper;
    for (size_t i = 1; i < b->lives.count; i++) {
        if (lives[i].lower < lives[i - 1].upper)
            return plan_json_expected(j, at, "intervals of life that are apart");
        if (lives[i].lower > lives[i - 1].upper)
            gaps[row->gap_count++] = (masu_plan_gap){.lower = lives[i - 1].upper, .upper = lives[i].lower};
    }
    return true;
}

static bool one_buffer_of(json *j, void *context) {
    static const field all[] = {PUT("id", NUMBER, one_buffer, id),     PUT("name", TEXT, one_buffer, name),
                                PUT("size", NUMBER, one_buffer, size), PUT("alignment", NUMBER, one_buffer, alignment),
                                ASK("live_intervals", buffer_lives),   ASK("allowed_pools", buffer_pools)};
    plan_table *t = j->reader->table;
    one_buffer b = {0};
    (void)context;
    plan_json_peek(j);
    size_t at = j->at, index = t->count;
    if (!MEMBERS(j, all, &b))
        return false;
    uint64_t *id = append(j, &of(j)->ids, sizeof *id), *pool = append(j, &of(j)->pool_ids, sizeof *pool);
    const char **name = append(j, &of(j)->names, sizeof *name);
    if (!id || !pool || !name || !plan_table_add(t))
        return plan_json_no_memory(j);
    *id = b.id;
    *pool = b.pool;
    *name = b.name;
    t->at[index] = at;
    t->rows[index].size_bytes = b.size;
    t->rows[index].alignment_bytes = b.alignment;
    t->ids[index] = masu__arena_printf(&t->arena, "%" PRIu64, b.id);
    if (!t->ids[index])
        return plan_json_no_memory(j);
    if (!settle_lives(j, &b, at, &t->rows[index]))
        return false;
    const char *mistake = plan_row_mistake(&t->rows[index]);
    return !mistake || plan_json_expected(j, at, mistake);
}

static bool read_buffers(json *j, void *into) {
    return plan_json_each_element(j, one_buffer_of, into);
}

/* ---- pools ---------------------------------------------------------------------------------------- */

typedef struct one_pool {
    kernel_pool pool;
    list reserved;
} one_pool;

static bool one_range(json *j, void *context) {
    static const field all[] = {PUT("begin", NUMBER, kernel_range, begin), PUT("end", NUMBER, kernel_range, end)};
    kernel_range *r = append(j, &((one_pool *)context)->reserved, sizeof *r);
    plan_json_peek(j);
    size_t at = j->at;
    return r && MEMBERS(j, all, r) &&
           ((r->begin <= r->end && r->end >> 61 == 0) ||
            plan_json_expected(j, at, "a range that ends at or behind its beginning, below 2^61"));
}

static bool pool_capacity(json *j, void *into) {
    uint64_t *capacity = &((one_pool *)into)->pool.capacity_bytes;
    if (plan_json_peek(j) == 'n')
        return plan_json_skip(j);
    size_t at = j->at;
    return plan_json_bytes(j, capacity) && ((*capacity > 0 && *capacity >> 62 == 0) ||
                                            plan_json_expected(j, at, "null, or a capacity above 0 and below 2^62"));
}

static bool pool_reserved(json *j, void *into) {
    return plan_json_each_element(j, one_range, into);
}

static int by_begin(const void *a, const void *b) {
    const kernel_range *x = a, *y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

/* Ascending, joined where they meet, without empty ones. */
static void settle_ranges(one_pool *p) {
    kernel_range *r = p->reserved.items;
    size_t kept = 0;
    if (p->reserved.count > 1)
        qsort(r, p->reserved.count, sizeof *r, by_begin);
    for (size_t i = 0; i < p->reserved.count; i++) {
        if (r[i].begin == r[i].end)
            continue;
        if (kept > 0 && r[i].begin <= r[kept - 1].end)
            r[kept - 1].end = r[i].end > r[kept - 1].end ? r[i].end : r[kept - 1].end;
        else
            r[kept++] = r[i];
    }
    p->pool.reserved = r;
    p->pool.reserved_count = kept;
}

static bool one_pool_of(json *j, void *context) {
    static const field all[] = {PUT("id", NUMBER, one_pool, pool.id), PUT("name", TEXT, one_pool, pool.name),
                                ASK("capacity", pool_capacity), ASK("reserved_ranges", pool_reserved),
                                SKIP("bank_geometry", true)};
    one_pool p = {0};
    (void)context;
    plan_json_peek(j);
    size_t at = j->at;
    if (!MEMBERS(j, all, &p))
        return false;
    const kernel_pool *pools = of(j)->pools.items;
    for (size_t i = 0; i < of(j)->pools.count; i++)
        if (pools[i].id == p.pool.id || strcmp(pools[i].name, p.pool.name) == 0)
            return plan_json_expected(j, at, "a pool whose id and name no other has");
    if (of(j)->pools.count == PLAN_MOST_MEMORIES)
        return plan_json_expected(j, at, "16 pools at most");
    settle_ranges(&p);
    kernel_pool *kept = append(j, &of(j)->pools, sizeof *kept);
    if (kept)
        *kept = p.pool;
    return kept != NULL;
}

static bool read_pools(json *j, void *into) {
    return plan_json_each_element(j, one_pool_of, into);
}

/* ---- pairs ---------------------------------------------------------------------------------------- */

static bool one_pair(json *j, void *context) {
    static const field plain[] = {PUT("first", NUMBER, pair, first), PUT("second", NUMBER, pair, second)};
    static const field reasons[] = {PUT("first", NUMBER, pair, first), PUT("second", NUMBER, pair, second),
                                    SKIP("reasons", true)};
    static const field priced[] = {PUT("first", NUMBER, pair, first), PUT("second", NUMBER, pair, second),
                                   PUT("cost", NUMBER, pair, cost), SKIP("reason", false)};
    pair *p = append(j, &of(j)->pairs, sizeof *p);
    plan_json_peek(j);
    if (!p)
        return false;
    p->kind = *(pair_kind *)context;
    p->at = j->at;
    switch (p->kind) {
    case PENALTY:
        return MEMBERS(j, priced, p);
    case SEPARATION:
        return MEMBERS(j, reasons, p);
    default:
        return MEMBERS(j, plain, p);
    }
}

static bool read_pairs(json *j, pair_kind kind) {
    return plan_json_each_element(j, one_pair, &kind);
}

static bool read_colocations(json *j, void *into) {
    (void)into;
    return read_pairs(j, COLOCATION);
}

static bool read_separations(json *j, void *into) {
    (void)into;
    return read_pairs(j, SEPARATION);
}

static bool read_exclusions(json *j, void *into) {
    (void)into;
    return read_pairs(j, EXCLUSION);
}

static bool read_penalties(json *j, void *into) {
    (void)into;
    return read_pairs(j, PENALTY);
}

static bool read_cost_model(json *j, void *into) {
    static const field all[] = {ASK("reuse_penalties", read_penalties)};
    return MEMBERS(j, all, into);
}

static bool one_pin(json *j, void *context) {
    static const field all[] = {PUT("buffer", NUMBER, pin, buffer), PUT("pool", NUMBER, pin, pool),
                                PUT("offset", NUMBER, pin, offset), PUT("exclusive_for_all_time", FLAG, pin, all_time)};
    pin *p = append(j, &of(j)->pins, sizeof *p);
    (void)context;
    plan_json_peek(j);
    if (!p)
        return false;
    p->at = j->at;
    return MEMBERS(j, all, p);
}

static bool read_pins(json *j, void *into) {
    return plan_json_each_element(j, one_pin, into);
}

static bool read_constraints(json *j, void *into) {
    static const field all[] = {ASK("colocations", read_colocations), ASK("separations", read_separations),
                                ASK("temporal_exclusions", read_exclusions), ASK("pinned_allocations", read_pins)};
    return MEMBERS(j, all, into);
}

/* ---- objective ------------------------------------------------------------------------------------ */

/* Terms in the order in which they count. A lower plan overflows no more than a higher one, and the peaks of separate
 * pools fall together: these three ask for the same. */
static bool one_term(json *j, void *context) {
    kernel *k = of(j)->k;
    json_span s;
    (void)context;
    if (!plan_json_string(j, &s))
        return false;
    bool overflow = plan_json_is(j, s, "capacity_overflow");
    if (overflow || plan_json_is(j, s, "total_peak") || plan_json_is(j, s, "max_peak")) {
        if (k->cheapest)
            return plan_json_expected(j, s.begin, "reuse_cost as the last term");
        k->lowest |= !overflow;
        return true;
    }
    k->cheapest = plan_json_is(j, s, "reuse_cost");
    return k->cheapest ||
           plan_json_expected(j, s.begin,
                              "capacity_overflow, total_peak, max_peak or reuse_cost: nothing else is planned for");
}

static bool read_terms(json *j, void *into) {
    plan_json_peek(j);
    size_t at = j->at;
    kernel *k = of(j)->k;
    if (!plan_json_each_element(j, one_term, into))
        return false;
    k->lowest |= !k->cheapest;
    return k->lowest || k->cheapest || plan_json_expected(j, at, "a term at least");
}

static bool read_aggregation(json *j, void *into) {
    json_span s;
    (void)into;
    return plan_json_string(j, &s) &&
           (plan_json_is(j, s, "lexicographic") || plan_json_expected(j, s.begin, "lexicographic"));
}

static bool read_objective(json *j, void *into) {
    static const field all[] = {ASK("aggregation", read_aggregation), ASK("terms", read_terms)};
    return MEMBERS(j, all, into);
}

/* ---- the document --------------------------------------------------------------------------------- */

static bool read_problem(json *j, void *into) {
    static const field all[] = {
        ASK("pools", read_pools),         ASK("buffers", read_buffers),       ASK("constraints", read_constraints),
        ASK("objective", read_objective), MAY("cost_model", read_cost_model), SKIP("pypto_structure", true)};
    return MEMBERS(j, all, into);
}

static bool read_version(json *j, void *into) {
    uint64_t version;
    (void)into;
    plan_json_peek(j);
    size_t at = j->at;
    return plan_json_bytes(j, &version) && (version == 1 || plan_json_expected(j, at, "schema version 1"));
}

static bool read_document(json *j) {
    static const field all[] = {ASK("schema_version", read_version),
                                PUT("profile", TEXT, kernel, profile),
                                PUT("instance", TEXT, kernel, instance),
                                ASK("problem", read_problem),
                                SKIP("metadata", true),
                                SKIP("relaxed_from", true),
                                SKIP("relaxed_features", true)};
    return MEMBERS(j, all, of(j)->k) && ((plan_json_peek(j) == 0 && j->at >= j->reader->length) ||
                                         plan_json_expected(j, j->at, "the end of the file"));
}

/* ---- the whole ------------------------------------------------------------------------------------ */

static bool look_at(json *j, json_span name, void *context) {
    bool *seen = context;
    seen[0] |= plan_json_is(j, name, "schema_version");
    seen[1] |= plan_json_is(j, name, "problem");
    return plan_json_skip(j);
}

bool kernel_is_problem(const char *text, size_t length) {
    masu__buffer ignored = {0};
    bool seen[2] = {0};
    plan_skip_mark(&text, &length);
    plan_reader reader = {.path = "", .text = text, .length = length, .message = &ignored};
    json j = {.reader = &reader};
    if (plan_json_peek(&j) == '{')
        plan_json_each_member(&j, look_at, seen);
    masu__buffer_destroy(&ignored);
    return seen[0] && seen[1];
}

bool kernel_read(const char *path, const char *text, size_t length, kernel *out, masu__buffer *message) {
    *out = (kernel){0};
    plan_skip_mark(&text, &length);
    plan_reader reader = {path, text, length, &out->table, message, false};
    reading r = {.k = out};
    json j = {.reader = &reader, .state = &r};
    bool right = plan_check_text(&reader) && read_document(&j) && kernel_resolve(&j, &r);
    if (!right && reader.out_of_memory)
        masu__buffer_printf(message, "%s: error: out of memory\n", path);
    return right;
}

void kernel_free(kernel *k) {
    plan_table_free(&k->table);
}
