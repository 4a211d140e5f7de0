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

#include "tool/plan/plan_table.h"

enum { DEEPEST = 64 };

typedef struct json {
    plan_reader *reader;
    size_t at;
    plan_index index; /* made when relations come */
    bool indexed;
} json;

typedef struct span {
    size_t from, length; /* of a string's inside, or of a number */
    size_t begin;
} span;

/* ---- places ---------------------------------------------------------------------------------- */

static bool expected(const json *j, size_t at, const char *what) {
    return plan_complain(j->reader, plan_place_at(j->reader, at), "expected %s", what);
}

static bool no_memory(json *j) {
    j->reader->out_of_memory = true;
    return false;
}

/* ---- tokens ---------------------------------------------------------------------------------- */

static char peek(json *j) {
    const char *text = j->reader->text;
    while (j->at < j->reader->length && text[j->at] && strchr(" \t\r\n", text[j->at]))
        j->at++;
    return j->at < j->reader->length ? text[j->at] : 0;
}

static bool take(json *j, char c, const char *what) {
    if (peek(j) != c)
        return expected(j, j->at, what);
    j->at++;
    return true;
}

static bool read_string(json *j, span *out) {
    const char *text = j->reader->text;
    if (peek(j) != '"')
        return expected(j, j->at, "a string");
    out->begin = j->at;
    out->from = ++j->at;
    while (j->at < j->reader->length && text[j->at] != '"' && text[j->at] != '\n')
        j->at += text[j->at] == '\\' && j->at + 1 < j->reader->length ? 2 : 1;
    if (j->at >= j->reader->length || text[j->at] != '"')
        return expected(j, out->begin, "a closing quote");
    out->length = j->at++ - out->from;
    return true;
}

static size_t skip_digits(json *j) {
    size_t from = j->at;
    while (j->at < j->reader->length && j->reader->text[j->at] >= '0' &&
           j->reader->text[j->at] <= '9')
        j->at++;
    return j->at - from;
}

static bool skip_char(json *j, const char *any) {
    char c = j->at < j->reader->length ? j->reader->text[j->at] : 0;
    bool there = c && strchr(any, c);
    j->at += there;
    return there;
}

static bool read_number(json *j, span *out) {
    peek(j);
    out->begin = out->from = j->at;
    skip_char(j, "-");
    bool right = skip_digits(j) > 0;
    if (right && skip_char(j, "."))
        right = skip_digits(j) > 0;
    if (right && skip_char(j, "eE")) {
        skip_char(j, "+-");
        right = skip_digits(j) > 0;
    }
    out->length = j->at - out->from;
    return right || expected(j, out->from, "a number");
}

static bool is(const json *j, span s, const char *word) {
    return strlen(word) == s.length && memcmp(j->reader->text + s.from, word, s.length) == 0;
}

static bool read_moment(json *j, int64_t *out) {
    span s;
    if (!read_number(j, &s))
        return false;
    const char *at = j->reader->text + s.from, *end = at + s.length;
    bool negative = *at == '-';
    uint64_t size = 0;
    at += negative;
    if (at == end)
        return expected(j, s.from, "a whole number");
    for (; at < end; at++)
        if (*at < '0' || *at > '9')
            return expected(j, s.from, "a whole number");
        else if (__builtin_mul_overflow(size, 10, &size) ||
                 __builtin_add_overflow(size, (uint64_t)(*at - '0'), &size) ||
                 size > (uint64_t)INT64_MAX + negative)
            return expected(j, s.from, "a number between -2^63 and 2^63");
    *out = (int64_t)(negative ? 0 - size : size);
    return true;
}

static bool read_bytes(json *j, uint64_t *out) {
    int64_t value;
    peek(j);
    size_t at = j->at;
    if (!read_moment(j, &value))
        return false;
    if (value < 0)
        return expected(j, at, "a whole number of bytes, not negative");
    *out = (uint64_t)value;
    return true;
}

/* ---- skipping -------------------------------------------------------------------------------- */

static bool skip_value(json *j, int depth);

static bool skip_list(json *j, char close, bool named, int depth) {
    span name;
    j->at++;
    if (peek(j) == close) {
        j->at++;
        return true;
    }
    do {
        if (named && (!read_string(j, &name) || !take(j, ':', "a colon")))
            return false;
        if (!skip_value(j, depth + 1))
            return false;
    } while (peek(j) == ',' && j->at++ < j->reader->length);
    return take(j, close, close == ']' ? "a comma or ]" : "a comma or }");
}

static bool skip_value(json *j, int depth) {
    span s;
    if (depth > DEEPEST)
        return expected(j, j->at, "less nesting");
    switch (peek(j)) {
    case '{':
        return skip_list(j, '}', true, depth);
    case '[':
        return skip_list(j, ']', false, depth);
    case '"':
        return read_string(j, &s);
    default:
        break;
    }
    static const char *const words[] = {"true", "false", "null"};
    for (size_t i = 0; i < 3; i++)
        if (j->reader->length - j->at >= strlen(words[i]) &&
            memcmp(j->reader->text + j->at, words[i], strlen(words[i])) == 0) {
            j->at += strlen(words[i]);
            return true;
        }
    return read_number(j, &s);
}

/* Calls for each member of an object; the member must consume its value. */
typedef bool (*member_function)(json *j, span name, void *context);

static bool each_member(json *j, member_function member, void *context) {
    span name;
    if (!take(j, '{', "an object"))
        return false;
    if (peek(j) == '}') {
        j->at++;
        return true;
    }
    do {
        if (!read_string(j, &name) || !take(j, ':', "a colon") || !member(j, name, context))
            return false;
    } while (peek(j) == ',' && j->at++ < j->reader->length);
    return take(j, '}', "a comma or }");
}

typedef bool (*element_function)(json *j, void *context);

static bool each_element(json *j, element_function element, void *context) {
    if (!take(j, '[', "a list"))
        return false;
    if (peek(j) == ']') {
        j->at++;
        return true;
    }
    do {
        if (!element(j, context))
            return false;
    } while (peek(j) == ',' && j->at++ < j->reader->length);
    return take(j, ']', "a comma or ]");
}

/* ---- buffers --------------------------------------------------------------------------------- */

typedef struct gap_list {
    masu_plan_gap *gaps;
    size_t count, room;
} gap_list;

static bool read_gap(json *j, void *context) {
    gap_list *list = context;
    if (list->count == list->room) {
        size_t room = list->room ? 2 * list->room : 4;
        list->gaps = masu__arena_grow(&j->reader->table->arena, list->gaps, list->count, room,
                                      sizeof *list->gaps, 16);
        if (!list->gaps)
            return no_memory(j);
        list->room = room;
    }
    masu_plan_gap *gap = &list->gaps[list->count++];
    *gap = (masu_plan_gap){0};
    if (!take(j, '[', "a gap as [from, to]") || !read_moment(j, &gap->lower) ||
        !take(j, ',', "a comma") || !read_moment(j, &gap->upper))
        return false;
    if (peek(j) == ',' && (!take(j, ',', "a comma") || !read_bytes(j, &gap->window_lower) ||
                           !take(j, ',', "a comma") || !read_bytes(j, &gap->window_upper)))
        return false;
    return take(j, ']', "]");
}

static int hex_of(char c) {
    const char *digits = "0123456789abcdef", *at = strchr(digits, c | ('A' <= c && c <= 'F') << 5);
    return c && at ? (int)(at - digits) : -1;
}

/* The four digits at text as UTF-8; 0: they are none, or not a character by themselves. */
static size_t put_code(const char *text, size_t length, char *out) {
    unsigned code = 0;
    for (size_t i = 0; i < 4; i++) {
        int digit = i < length ? hex_of(text[i]) : -1;
        if (digit < 0)
            return 0;
        code = code * 16 + (unsigned)digit;
    }
    if (code == 0 || (code >= 0xD800 && code < 0xE000))
        return 0;
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t count = code < 0x800 ? 2 : 3;
    for (size_t i = count; i-- > 1; code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3F));
    out[0] = (char)((count == 2 ? 0xC0 : 0xE0) | code);
    return count;
}

/* Escapes as what they mean, in place. 0: one is wrong. Never longer than it was. */
static size_t unescape(char *text, size_t length) {
    static const char names[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    size_t kept = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] != '\\') {
            text[kept++] = text[i];
            continue;
        }
        if (++i == length)
            return 0;
        const char *name = strchr(names, text[i]);
        if (name) {
            text[kept++] = meanings[name - names];
            continue;
        }
        size_t count = text[i] == 'u' ? put_code(text + i + 1, length - i - 1, text + kept) : 0;
        if (count == 0)
            return 0;
        kept += count;
        i += 4;
    }
    return kept;
}

/* An id may be a string or a number. */
static bool read_id(json *j, const char **out) {
    span s;
    bool quoted = peek(j) == '"';
    if (quoted ? !read_string(j, &s) : !read_number(j, &s))
        return false;
    char *copy = masu__arena_strndup(&j->reader->table->arena, j->reader->text + s.from, s.length);
    if (!copy)
        return no_memory(j);
    size_t length = quoted ? unescape(copy, s.length) : s.length;
    if (length == 0)
        return expected(j, s.begin, s.length ? "escapes of JSON, without surrogates" : "an id");
    copy[length] = 0;
    *out = copy;
    return true;
}

enum { ID, LOWER, UPPER, START, END, SIZE, ALIGNMENT, OFFSET, HINT, USES, MEMORY, GAPS, KEYS };

static const char *const keys[KEYS] = {"id",        "lower",  "upper", "start", "end",    "size",
                                       "alignment", "offset", "hint",  "uses",  "memory", "gaps"};

typedef struct buffer_state {
    size_t index;
    unsigned seen; /* a bit a key */
} buffer_state;

static bool read_end(json *j, int64_t *upper) {
    peek(j);
    size_t at = j->at;
    return read_moment(j, upper) &&
           (!__builtin_add_overflow(*upper, 1, upper) || expected(j, at, "an end below 2^63 - 1"));
}

static bool read_offset(json *j, size_t index) {
    peek(j);
    plan_table *t = j->reader->table;
    t->at[index] = j->at;
    return read_bytes(j, &t->given[index]) &&
           (t->given[index] >> 62 == 0 || expected(j, t->at[index], "an offset below 2^62"));
}

static bool read_gaps(json *j, masu_plan_row *row) {
    gap_list list = {0};
    bool right = each_element(j, read_gap, &list);
    row->gaps = list.gaps;
    row->gap_count = list.count;
    return right;
}

static bool read_key(json *j, int key, size_t index) {
    plan_table *t = j->reader->table;
    masu_plan_row *row = &t->rows[index];
    switch (key) {
    case ID:
        return read_id(j, &t->ids[index]);
    case LOWER:
    case START:
        return read_moment(j, &row->lower);
    case UPPER:
        return read_moment(j, &row->upper);
    case END:
        return read_end(j, &row->upper);
    case SIZE:
        return read_bytes(j, &row->size_bytes);
    case ALIGNMENT:
        return read_bytes(j, &row->alignment_bytes);
    case OFFSET:
        return read_offset(j, index);
    case HINT:
        row->has_hint = true;
        return read_bytes(j, &row->hint_offset);
    case USES:
        t->has_uses = true;
        return read_bytes(j, &t->uses[index]);
    case MEMORY:
        t->has_memories = true;
        return read_id(j, &t->memories[index]);
    default:
        return read_gaps(j, row);
    }
}

static bool buffer_member(json *j, span name, void *context) {
    buffer_state *state = context;
    for (int key = 0; key < KEYS; key++) {
        if (!is(j, name, keys[key]))
            continue;
        if (state->seen >> key & 1)
            return expected(j, name.begin, "each name once in a buffer");
        state->seen |= 1u << key;
        return read_key(j, key, state->index);
    }
    return skip_value(j, 0);
}

static bool read_buffer(json *j, void *context) {
    (void)context;
    peek(j);
    size_t at = j->at;
    buffer_state state = {.index = j->reader->table->count};
    if (!plan_table_add(j->reader->table))
        return no_memory(j);
    j->reader->table->at[state.index] = at;
    if (!each_member(j, buffer_member, &state))
        return false;
    const unsigned half_open = 1u << LOWER | 1u << UPPER, inclusive = 1u << START | 1u << END;
    if ((state.seen & half_open) && (state.seen & inclusive))
        return expected(j, at, "lower and upper or start and end, not both");
    unsigned needed = 1u << ID | 1u << SIZE | (state.seen & inclusive ? inclusive : half_open);
    if ((state.seen & needed) != needed)
        return expected(j, at, "id, lower, upper and size in each buffer");
    const char *mistake = plan_row_mistake(&j->reader->table->rows[state.index]);
    return !mistake || expected(j, at, mistake);
}

/* ---- relations ------------------------------------------------------------------------------- */

typedef struct relation_state {
    size_t rows[2];
    int kind; /* -1: not read */
} relation_state;

static bool read_row_name(json *j, size_t *row) {
    const char *id;
    peek(j);
    size_t at = j->at;
    if (!read_id(j, &id))
        return false;
    *row = plan_index_find(j->reader->table, &j->index, id, strlen(id));
    return *row != SIZE_MAX || expected(j, at, "the id of a buffer above");
}

static bool relation_member(json *j, span name, void *context) {
    static const char *const kinds[] = {"must_share", "must_not_share", "may_share"};
    relation_state *state = context;
    span s;
    bool b = is(j, name, "b");
    if (b || is(j, name, "a"))
        return state->rows[b] == SIZE_MAX ? read_row_name(j, &state->rows[b])
                                          : expected(j, name.begin, "a and b once");
    if (!is(j, name, "kind"))
        return skip_value(j, 0);
    if (state->kind >= 0)
        return expected(j, name.begin, "kind once");
    if (!read_string(j, &s))
        return false;
    for (int i = 0; i < 3; i++)
        if (is(j, s, kinds[i]))
            state->kind = i;
    return state->kind >= 0 || expected(j, s.begin, "must_share, must_not_share or may_share");
}

static bool read_relation(json *j, void *context) {
    (void)context;
    relation_state state = {{SIZE_MAX, SIZE_MAX}, -1};
    peek(j);
    size_t at = j->at;
    if (!each_member(j, relation_member, &state))
        return false;
    if (state.kind < 0 || state.rows[0] == SIZE_MAX || state.rows[1] == SIZE_MAX ||
        state.rows[0] == state.rows[1])
        return expected(j, at, "kind and two different buffers a and b in each relation");
    return plan_table_relate(j->reader->table, (masu_plan_relation_kind)state.kind, state.rows[0],
                             state.rows[1]) ||
           no_memory(j);
}

static bool make_index(json *j) {
    size_t twice;
    if (j->indexed || plan_index_make(j->reader->table, &j->index, &twice)) {
        j->indexed = true;
        return true;
    }
    if (twice == SIZE_MAX)
        return no_memory(j);
    return plan_complain(j->reader, plan_place_at(j->reader, j->reader->table->at[twice]),
                         "expected an id that has not been used, found \"%s\" again",
                         j->reader->table->ids[twice]);
}

/* ---- the whole ------------------------------------------------------------------------------- */

typedef struct top {
    bool buffers, capacity, relations; /* seen */
} top;

static bool once(json *j, span name, bool *seen) {
    if (*seen)
        return expected(j, name.begin, "each name once");
    return *seen = true;
}

static bool read_capacity(json *j) {
    uint64_t *capacity = &j->reader->table->capacity_bytes;
    peek(j);
    size_t at = j->at;
    return read_bytes(j, capacity) && ((*capacity > 0 && *capacity >> 62 == 0) ||
                                       expected(j, at, "a capacity above 0 and below 2^62"));
}

static bool top_member(json *j, span name, void *context) {
    top *seen = context;
    if (is(j, name, "buffers"))
        return once(j, name, &seen->buffers) && each_element(j, read_buffer, NULL);
    if (is(j, name, "capacity"))
        return once(j, name, &seen->capacity) && read_capacity(j);
    if (is(j, name, "relations")) {
        if (!seen->buffers)
            return expected(j, name.begin, "buffers before relations");
        return once(j, name, &seen->relations) && make_index(j) &&
               each_element(j, read_relation, NULL);
    }
    return skip_value(j, 0);
}

bool plan_parse_json(plan_reader *reader) {
    json j = {.reader = reader};
    top seen = {0};
    bool list = peek(&j) == '[';
    if (list ? !each_element(&j, read_buffer, NULL) : !each_member(&j, top_member, &seen))
        return false;
    if (peek(&j) != 0 || j.at < reader->length)
        return expected(&j, j.at, "the end of the file");
    if (!list && !seen.buffers)
        return expected(&j, 0, "a list named buffers");
    if (!make_index(&j))
        return false;
    masu_plan_problem all = {.rows = reader->table->rows, .count = reader->table->count};
    size_t where;
    return masu_plan_validate(&all, &where) != MASU_PLAN_TOO_LARGE ||
           expected(&j, reader->table->at[where], "sizes that add up to less than 2^62");
}
