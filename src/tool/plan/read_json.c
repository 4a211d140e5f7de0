/* read_json.c: rows of `masu plan` from JSON.
 *
 *     {"capacity": 12,
 *      "buffers": [{"id": "b1", "lower": 0, "upper": 3, "size": 4, "alignment": 1,
 *                   "gaps": [[1, 2]], "offset": 0, "hint": 0, "uses": 2}, …],
 *      "relations": [{"kind": "must_share", "a": "b1", "b": "b2"}, …]}
 *
 * or the list of buffers alone. Names that are not known are skipped, whatever their value. kind is
 * must_share, must_not_share or may_share.
 */
#include <stdlib.h>
#include <string.h>

#include "tool/plan/json_text.h"

typedef struct table_state {
    plan_index index; /* made when relations come */
    bool indexed;
} table_state;

/* ---- buffers --------------------------------------------------------------------------------- */

typedef struct gap_list {
    masu_plan_gap *gaps;
    size_t count, room;
} gap_list;

static bool read_gap(json *j, void *context) {
    gap_list *list = context;
    if (list->count == list->room) {
        size_t room = list->room ? 2 * list->room : 4;
        list->gaps = masu__arena_grow(&j->reader->table->arena, list->gaps, list->count, room, sizeof *list->gaps, 16);
        if (!list->gaps)
            return plan_json_no_memory(j);
        list->room = room;
    }
    masu_plan_gap *gap = &list->gaps[list->count++];
    *gap = (masu_plan_gap){0};
    if (!plan_json_take(j, '[', "a gap as [from, to]") || !plan_json_moment(j, &gap->lower) ||
        !plan_json_take(j, ',', "a comma") || !plan_json_moment(j, &gap->upper))
        return false;
    if (plan_json_peek(j) == ',' && (!plan_json_take(j, ',', "a comma") || !plan_json_bytes(j, &gap->window_lower) ||
                                     !plan_json_take(j, ',', "a comma") || !plan_json_bytes(j, &gap->window_upper)))
        return false;
    return plan_json_take(j, ']', "]");
}

enum { ID, LOWER, UPPER, START, END, SIZE, ALIGNMENT, OFFSET, HINT, USES, MEMORY, GAPS, KEYS };

static const char *const keys[KEYS] = {"id",        "lower",  "upper", "start", "end",    "size",
                                       "alignment", "offset", "hint",  "uses",  "memory", "gaps"};

typedef struct buffer_state {
    size_t index;
    unsigned seen; /* a bit a key */
} buffer_state;

static bool read_end(json *j, int64_t *upper) {
    plan_json_peek(j);
    size_t at = j->at;
    return plan_json_moment(j, upper) &&
           (!__builtin_add_overflow(*upper, 1, upper) || plan_json_expected(j, at, "an end below 2^63 - 1"));
}

static bool read_offset(json *j, size_t index) {
    plan_json_peek(j);
    plan_table *t = j->reader->table;
    t->at[index] = j->at;
    return plan_json_bytes(j, &t->given[index]) &&
           (t->given[index] >> 62 == 0 || plan_json_expected(j, t->at[index], "an offset below 2^62"));
}

static bool read_gaps(json *j, masu_plan_row *row) {
    gap_list list = {0};
    bool right = plan_json_each_element(j, read_gap, &list);
    row->gaps = list.gaps;
    row->gap_count = list.count;
    return right;
}

static bool read_key(json *j, int key, size_t index) {
    plan_table *t = j->reader->table;
    masu_plan_row *row = &t->rows[index];
    switch (key) {
    case ID:
        return plan_json_id(j, &t->ids[index]);
    case LOWER:
    case START:
        return plan_json_moment(j, &row->lower);
    case UPPER:
        return plan_json_moment(j, &row->upper);
    case END:
        return read_end(j, &row->upper);
    case SIZE:
        return plan_json_bytes(j, &row->size_bytes);
    case ALIGNMENT:
        return plan_json_bytes(j, &row->alignment_bytes);
    case OFFSET:
        return read_offset(j, index);
    case HINT:
        row->has_hint = true;
        return plan_json_bytes(j, &row->hint_offset);
    case USES:
        t->has_uses = true;
        return plan_json_bytes(j, &t->uses[index]);
    case MEMORY:
        t->has_memories = true;
        return plan_json_id(j, &t->memories[index]);
    default:
        return read_gaps(j, row);
    }
}

static bool buffer_member(json *j, json_span name, void *context) {
    buffer_state *state = context;
    for (int key = 0; key < KEYS; key++) {
        if (!plan_json_is(j, name, keys[key]))
            continue;
        if (state->seen >> key & 1)
            return plan_json_expected(j, name.begin, "each name once in a buffer");
        state->seen |= 1u << key;
        return read_key(j, key, state->index);
    }
    return plan_json_skip(j);
}

static bool read_buffer(json *j, void *context) {
    (void)context;
    plan_json_peek(j);
    size_t at = j->at;
    buffer_state state = {.index = j->reader->table->count};
    if (!plan_table_add(j->reader->table))
        return plan_json_no_memory(j);
    j->reader->table->at[state.index] = at;
    if (!plan_json_each_member(j, buffer_member, &state))
        return false;
    const unsigned half_open = 1u << LOWER | 1u << UPPER, inclusive = 1u << START | 1u << END;
    if ((state.seen & half_open) && (state.seen & inclusive))
        return plan_json_expected(j, at, "lower and upper or start and end, not both");
    unsigned needed = 1u << ID | 1u << SIZE | (state.seen & inclusive ? inclusive : half_open);
    if ((state.seen & needed) != needed)
        return plan_json_expected(j, at, "id, lower, upper and size in each buffer");
    const char *mistake = plan_row_mistake(&j->reader->table->rows[state.index]);
    return !mistake || plan_json_expected(j, at, mistake);
}

/* ---- relations ------------------------------------------------------------------------------- */

typedef struct relation_state {
    size_t rows[2];
    int kind; /* -1: not read */
} relation_state;

static bool read_row_name(json *j, size_t *row) {
    const char *id;
    plan_json_peek(j);
    size_t at = j->at;
    if (!plan_json_id(j, &id))
        return false;
    table_state *state = j->state;
    *row = plan_index_find(j->reader->table, &state->index, id, strlen(id));
    return *row != SIZE_MAX || plan_json_expected(j, at, "the id of a buffer above");
}

static bool relation_member(json *j, json_span name, void *context) {
    relation_state *state = context;
    json_span s;
    bool b = plan_json_is(j, name, "b");
    if (b || plan_json_is(j, name, "a"))
        return state->rows[b] == SIZE_MAX ? read_row_name(j, &state->rows[b])
                                          : plan_json_expected(j, name.begin, "a and b once");
    if (!plan_json_is(j, name, "kind"))
        return plan_json_skip(j);
    if (state->kind >= 0)
        return plan_json_expected(j, name.begin, "kind once");
    if (!plan_json_string(j, &s))
        return false;
    for (int i = 0; i < PLAN_RELATION_KINDS; i++)
        if (plan_json_is(j, s, plan_relation_names[i]))
            state->kind = i;
    return state->kind >= 0 || plan_json_expected(j, s.begin, "must_share, must_not_share or may_share");
}

static bool read_relation(json *j, void *context) {
    (void)context;
    relation_state state = {{SIZE_MAX, SIZE_MAX}, -1};
    plan_json_peek(j);
    size_t at = j->at;
    if (!plan_json_each_member(j, relation_member, &state))
        return false;
    if (state.kind < 0 || state.rows[0] == SIZE_MAX || state.rows[1] == SIZE_MAX || state.rows[0] == state.rows[1])
        return plan_json_expected(j, at, "kind and two different buffers a and b in each relation");
    return plan_table_relate(j->reader->table, (masu_plan_relation_kind)state.kind, state.rows[0], state.rows[1]) ||
           plan_json_no_memory(j);
}

static bool make_index(json *j) {
    table_state *state = j->state;
    size_t twice;
    if (state->indexed || plan_index_make(j->reader->table, &state->index, &twice)) {
        state->indexed = true;
        return true;
    }
    if (twice == SIZE_MAX)
        return plan_json_no_memory(j);
    return plan_complain(j->reader, plan_place_at(j->reader, j->reader->table->at[twice]),
                         "expected an id that has not been used, found \"%s\" again", j->reader->table->ids[twice]);
}

/* ---- the whole ------------------------------------------------------------------------------- */

typedef struct top {
    bool buffers, capacity, relations; /* seen */
} top;

static bool once(json *j, json_span name, bool *seen) {
    if (*seen)
        return plan_json_expected(j, name.begin, "each name once");
    return *seen = true;
}

static bool read_capacity(json *j) {
    uint64_t *capacity = &j->reader->table->capacity_bytes;
    plan_json_peek(j);
    size_t at = j->at;
    return plan_json_bytes(j, capacity) &&
           ((*capacity > 0 && *capacity >> 62 == 0) || plan_json_expected(j, at, "a capacity above 0 and below 2^62"));
}

static bool top_member(json *j, json_span name, void *context) {
    top *seen = context;
    if (plan_json_is(j, name, "buffers"))
        return once(j, name, &seen->buffers) && plan_json_each_element(j, read_buffer, NULL);
    if (plan_json_is(j, name, "capacity"))
        return once(j, name, &seen->capacity) && read_capacity(j);
    if (plan_json_is(j, name, "relations")) {
        if (!seen->buffers)
            return plan_json_expected(j, name.begin, "buffers before relations");
        return once(j, name, &seen->relations) && make_index(j) && plan_json_each_element(j, read_relation, NULL);
    }
    return plan_json_skip(j);
}

bool plan_parse_json(plan_reader *reader) {
    table_state state = {0};
    json j = {.reader = reader, .state = &state};
    top seen = {0};
    bool list = plan_json_peek(&j) == '[';
    if (list ? !plan_json_each_element(&j, read_buffer, NULL) : !plan_json_each_member(&j, top_member, &seen))
        return false;
    if (plan_json_peek(&j) != 0 || j.at < reader->length)
        return plan_json_expected(&j, j.at, "the end of the file");
    if (!list && !seen.buffers)
        return plan_json_expected(&j, 0, "a list named buffers");
    if (!make_index(&j))
        return false;
    masu_plan_problem all = {.rows = reader->table->rows, .count = reader->table->count};
    size_t where;
    return masu_plan_validate(&all, &where) != MASU_PLAN_TOO_LARGE ||
           plan_json_expected(&j, reader->table->at[where], "sizes that add up to less than 2^62");
}
