/* read_rows.c: rows of `masu plan` from CSV and TSV.
 *
 *     id,lower,upper,size[,alignment][,gaps][,offset][,hint][,uses][,must_share][,must_not_share][,may_share]
 *
 * Columns in any order, by the names in the first line; others are ignored. Lives are half-open; the
 * older names start,end mean the first and the last moment (upper = end + 1). gaps are ranges
 * "from-to" separated by spaces. Fields may be in double quotes. A byte-order mark, CRLF line
 * ends and empty lines are fine.
 */
#include <inttypes.h>
#include <string.h>

#include "tool/plan/plan_table.h"

enum {
    COLUMN_ID,
    COLUMN_LOWER,
    COLUMN_UPPER,
    COLUMN_START,
    COLUMN_END,
    COLUMN_SIZE,
    COLUMN_ALIGNMENT,
    COLUMN_GAPS,
    COLUMN_OFFSET,
    COLUMN_HINT,
    COLUMN_USES,
    COLUMN_MEMORY,
    COLUMN_RELATION, /* and one for each kind */
    COLUMN_COUNT = COLUMN_RELATION + PLAN_RELATION_KINDS,
    COLUMN_OTHER = COLUMN_COUNT
};

static const char *const column_names[] = {"id",        "lower", "upper",  "start", "end",  "size",
                                           "alignment", "gaps",  "offset", "hint",  "uses", "memory"};
_Static_assert(sizeof column_names / sizeof *column_names == COLUMN_RELATION, "relations have names of their own");

enum { MOST_COLUMNS = 64 };

typedef struct csv {
    plan_reader *reader;
    size_t at; /* in the text */
    size_t line, line_begin;
    char separator;
    int columns[MOST_COLUMNS];
    size_t column_count;
    bool inclusive; /* start,end */
    plan_cells cells;
} csv;

typedef struct field {
    const char *text;
    size_t length, column;
} field;

static bool complain_field(csv *c, field f, const char *expected) {
    return plan_complain_found(c->reader, (plan_place){c->line, f.column}, expected, f.text, f.length);
}

/* ---- the table ------------------------------------------------------------------------------- */

static bool grow(plan_table *t) {
    size_t room = t->room ? 2 * t->room : 256;
    masu_plan_row *rows = masu__arena_grow(&t->arena, t->rows, t->count, room, sizeof *rows, 16);
    const char **ids = masu__arena_grow(&t->arena, t->ids, t->count, room, sizeof *ids, 16);
    uint64_t *given = masu__arena_grow(&t->arena, t->given, t->count, room, sizeof *given, 16);
    uint64_t *uses = masu__arena_grow(&t->arena, t->uses, t->count, room, sizeof *uses, 16);
    const char **memories = masu__arena_grow(&t->arena, t->memories, t->count, room, sizeof *memories, 16);
    size_t *at = masu__arena_grow(&t->arena, t->at, t->count, room, sizeof *at, 16);
    if (!rows || !ids || !given || !uses || !memories || !at)
        return false;
    t->rows = rows;
    t->ids = ids;
    t->given = given;
    t->uses = uses;
    t->memories = memories;
    t->at = at;
    t->room = room;
    return true;
}

masu_plan_row *plan_table_add(plan_table *t) {
    if (t->count == t->room && !grow(t))
        return NULL;
    t->rows[t->count] = (masu_plan_row){0};
    t->ids[t->count] = "";
    t->given[t->count] = UINT64_MAX;
    t->uses[t->count] = 1;
    t->memories[t->count] = NULL;
    t->at[t->count] = 0;
    return &t->rows[t->count++];
}

bool plan_table_relate(plan_table *t, masu_plan_relation_kind kind, size_t a, size_t b) {
    if (t->relation_count == t->relation_room) {
        size_t room = t->relation_room ? 2 * t->relation_room : 64;
        masu_plan_relation *grown = masu__arena_grow(&t->arena, t->relations, t->relation_count, room, sizeof *grown,
                                                     16);
        if (!grown)
            return false;
        t->relations = grown;
        t->relation_room = room;
    }
    t->relations[t->relation_count++] = (masu_plan_relation){kind, a, b};
    return true;
}

void plan_table_free(plan_table *table) {
    masu__arena_destroy(&table->arena);
    *table = (plan_table){0};
}

static uint64_t hash_of(const char *id, size_t length) {
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)id[i]) * UINT64_C(1099511628211);
    return hash ^ hash >> 29;
}

bool plan_index_make(plan_table *t, plan_index *out, size_t *twice) {
    *twice = SIZE_MAX;
    out->slot_count = 16;
    while (out->slot_count < 2 * t->count)
        out->slot_count *= 2;
    out->slots = masu__arena_calloc(&t->arena, out->slot_count, sizeof *out->slots, 16);
    if (!out->slots)
        return false;
    for (size_t i = 0; i < t->count; i++) {
        size_t at = hash_of(t->ids[i], strlen(t->ids[i])) & (out->slot_count - 1);
        for (; out->slots[at]; at = (at + 1) & (out->slot_count - 1))
            if (strcmp(t->ids[out->slots[at] - 1], t->ids[i]) == 0) {
                *twice = i;
                return false;
            }
        out->slots[at] = (uint32_t)i + 1;
    }
    return true;
}

size_t plan_index_find(const plan_table *t, const plan_index *index, const char *id, size_t length) {
    size_t at = hash_of(id, length) & (index->slot_count - 1);
    for (; index->slots[at]; at = (at + 1) & (index->slot_count - 1)) {
        const char *other = t->ids[index->slots[at] - 1];
        if (strncmp(other, id, length) == 0 && other[length] == 0)
            return index->slots[at] - 1;
    }
    return SIZE_MAX;
}

const char *plan_row_mistake(const masu_plan_row *row) {
    masu_plan_problem alone = {.rows = row, .count = 1};
    switch (masu_plan_validate(&alone, NULL)) {
    case MASU_PLAN_RIGHT:
        return NULL;
    case MASU_PLAN_BAD_RANGE:
        return row->lower == row->upper ? "a life of at least one moment (lower < upper)"
                                        : "an end behind the beginning (lower < upper)";
    case MASU_PLAN_BAD_ALIGNMENT:
        return "a power of two as alignment";
    case MASU_PLAN_BAD_GAP:
        return "gaps inside the life, ascending, apart, not all of it, windows inside the buffer";
    case MASU_PLAN_BAD_FIXED:
        return "an offset that is a multiple of the alignment and ends below 2^61";
    default:
        return row->size_bytes >> 62 ? "a size below 2^62" : "an alignment below 2^62";
    }
}

/* ---- fields ---------------------------------------------------------------------------------- */

static bool at_line_end(const csv *c) {
    const char *text = c->reader->text;
    return c->at >= c->reader->length || text[c->at] == '\n' ||
           (text[c->at] == '\r' && (c->at + 1 >= c->reader->length || text[c->at + 1] == '\n'));
}

static void next_line(csv *c) {
    if (c->at < c->reader->length && c->reader->text[c->at] == '\r')
        c->at++;
    if (c->at < c->reader->length && c->reader->text[c->at] == '\n')
        c->at++;
    c->line++;
    c->line_begin = c->at;
}

static field trimmed(field f) {
    while (f.length > 0 && (f.text[0] == ' ' || (f.text[0] == '\t')))
        f.text++, f.length--, f.column++;
    while (f.length > 0 && (f.text[f.length - 1] == ' ' || f.text[f.length - 1] == '\t'))
        f.length--;
    return f;
}

/* A field in quotes; doubled quotes mean one. The closing quote must end the field. */
static bool read_quoted(csv *c, field *out) {
    const char *text = c->reader->text;
    size_t from = ++c->at;
    while (c->at < c->reader->length && text[c->at] != '\n') {
        if (text[c->at] == '"') {
            if (c->at + 1 >= c->reader->length || text[c->at + 1] != '"')
                break;
            c->at++;
        }
        c->at++;
    }
    if (c->at >= c->reader->length || text[c->at] != '"')
        return plan_complain(c->reader, (plan_place){c->line, out->column}, "expected a closing quote on this line");
    char *copy = masu__arena_strndup(&c->reader->table->arena, text + from, c->at - from);
    if (!copy) {
        c->reader->out_of_memory = true;
        return false;
    }
    size_t kept = 0;
    for (size_t i = 0; i < c->at - from; i++) {
        copy[kept++] = copy[i];
        i += copy[i] == '"';
    }
    copy[kept] = 0;
    out->text = copy;
    out->length = kept;
    c->at++;
    if (!at_line_end(c) && text[c->at] != c->separator)
        return plan_complain(c->reader, (plan_place){c->line, c->at - c->line_begin + 1},
                             "expected the end of the field behind the closing quote");
    return true;
}

static bool read_field(csv *c, field *out) {
    const char *text = c->reader->text;
    *out = (field){text + c->at, 0, c->at - c->line_begin + 1};
    if (c->at < c->reader->length && text[c->at] == '"')
        return read_quoted(c, out);
    while (!at_line_end(c) && text[c->at] != c->separator) {
        out->length++;
        c->at++;
    }
    *out = trimmed(*out);
    return true;
}

/* Moves behind a separator; false at the end of the line. */
static bool another_field(csv *c) {
    if (at_line_end(c) || c->reader->text[c->at] != c->separator)
        return false;
    c->at++;
    return true;
}

/* ---- numbers --------------------------------------------------------------------------------- */

static bool digits(const char **at, const char *end, uint64_t *out, bool *overflow) {
    const char *begin = *at;
    *out = 0;
    *overflow = false;
    for (; *at < end && **at >= '0' && **at <= '9'; ++*at)
        *overflow |= __builtin_mul_overflow(*out, 10, out) || __builtin_add_overflow(*out, (uint64_t)(**at - '0'), out);
    return *at > begin;
}

static bool read_bytes(csv *c, field f, uint64_t *out) {
    const char *at = f.text, *end = f.text + f.length;
    bool overflow;
    if (!digits(&at, end, out, &overflow) || at != end)
        return complain_field(c, f, "a whole number of bytes, not negative");
    return !overflow || complain_field(c, f, "a number below 2^64");
}

static bool moment(const char **at, const char *end, int64_t *out, bool *overflow) {
    uint64_t size;
    bool negative = *at < end && **at == '-';
    *at += negative;
    if (!digits(at, end, &size, overflow))
        return false;
    *overflow |= size > (uint64_t)INT64_MAX + negative;
    *out = (int64_t)(negative ? 0 - size : size);
    return true;
}

static bool read_moment(csv *c, field f, int64_t *out) {
    const char *at = f.text, *end = f.text + f.length;
    bool overflow;
    if (!moment(&at, end, out, &overflow) || at != end)
        return complain_field(c, f, "a whole number (a moment)");
    return !overflow || complain_field(c, f, "a number between -2^63 and 2^63");
}

static bool read_window(const char **at, const char *end, masu_plan_gap *gap) {
    int64_t lower, upper;
    bool overflow_a, overflow_b;
    ++*at;
    if (!moment(at, end, &lower, &overflow_a) || *at == end || *(*at)++ != ':' ||
        !moment(at, end, &upper, &overflow_b) || overflow_a || overflow_b || lower < 0 || upper <= lower)
        return false;
    gap->window_lower = (uint64_t)lower;
    gap->window_upper = (uint64_t)upper;
    return true;
}

static bool read_gaps(csv *c, field f, masu_plan_row *row) {
    const char *at = f.text, *end = f.text + f.length;
    size_t most = f.length / 2 + 1;
    masu_plan_gap *gaps = masu__arena_calloc(&c->reader->table->arena, most, sizeof *gaps, 16);
    if (!gaps) {
        c->reader->out_of_memory = true;
        return false;
    }
    while (at < end) {
        bool overflow_a, overflow_b;
        masu_plan_gap *gap = &gaps[row->gap_count];
        if (!moment(&at, end, &gap->lower, &overflow_a) || at == end || *at++ != '-' ||
            !moment(&at, end, &gap->upper, &overflow_b) || overflow_a || overflow_b)
            return complain_field(c, f, "gaps as from-to, separated by spaces");
        if (at < end && *at == '@' && !read_window(&at, end, gap))
            return complain_field(c, f, "a window of the gap as @from:to, in bytes");
        if (at < end && *at != ' ')
            return complain_field(c, f, "gaps as from-to or from-to@from:to, separated by spaces");
        while (at < end && *at == ' ')
            at++;
        row->gap_count++;
    }
    row->gaps = gaps;
    return true;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static int column_of(field f) {
    for (int i = 0; i < COLUMN_COUNT; i++) {
        const char *name = i < COLUMN_RELATION ? column_names[i] : plan_relation_names[i - COLUMN_RELATION];
        if (strlen(name) == f.length && strncasecmp(name, f.text, f.length) == 0)
            return i;
    }
    return COLUMN_OTHER;
}

static bool has_column(const csv *c, int column) {
    for (size_t i = 0; i < c->column_count; i++)
        if (c->columns[i] == column)
            return true;
    return false;
}

static bool check_header(csv *c) {
    plan_place place = {c->line, c->at - c->line_begin + 1};
    c->inclusive = has_column(c, COLUMN_START) || has_column(c, COLUMN_END);
    if (c->inclusive && (has_column(c, COLUMN_LOWER) || has_column(c, COLUMN_UPPER)))
        return plan_complain(c->reader, place, "expected lower,upper or start,end, not both");
    const int needed[] = {COLUMN_ID, c->inclusive ? COLUMN_START : COLUMN_LOWER,
                          c->inclusive ? COLUMN_END : COLUMN_UPPER, COLUMN_SIZE};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!has_column(c, needed[i]))
            return plan_complain(c->reader, place,
                                 "expected a column named %s in the first line (id, lower, upper, size)",
                                 column_names[needed[i]]);
    return true;
}

static bool read_header(csv *c) {
    field f;
    do {
        if (!read_field(c, &f))
            return false;
        if (c->column_count == MOST_COLUMNS)
            return plan_complain(c->reader, (plan_place){c->line, f.column}, "expected at most %d columns",
                                 MOST_COLUMNS);
        int column = column_of(f);
        if (column != COLUMN_OTHER && has_column(c, column))
            return complain_field(c, f, "each column once");
        c->columns[c->column_count++] = column;
    } while (another_field(c));
    return check_header(c);
}

static bool read_end(csv *c, field f, int64_t *upper) {
    if (!read_moment(c, f, upper))
        return false;
    if (*upper == INT64_MAX)
        return complain_field(c, f, "an end below 2^63 - 1");
    *upper += 1;
    return true;
}

static bool take_field(csv *c, int column, field f, size_t index) {
    plan_table *t = c->reader->table;
    masu_plan_row *row = &t->rows[index];
    if (f.length == 0 && column >= COLUMN_ALIGNMENT)
        return true; /* optional */
    switch (column) {
    case COLUMN_ID:
        if (f.length == 0)
            return complain_field(c, f, "an id");
        t->ids[index] = masu__arena_strndup(&t->arena, f.text, f.length);
        c->reader->out_of_memory |= !t->ids[index];
        return t->ids[index] != NULL;
    case COLUMN_LOWER:
    case COLUMN_START:
        return read_moment(c, f, &row->lower);
    case COLUMN_UPPER:
        return read_moment(c, f, &row->upper);
    case COLUMN_END:
        return read_end(c, f, &row->upper);
    case COLUMN_SIZE:
        return read_bytes(c, f, &row->size_bytes);
    case COLUMN_ALIGNMENT:
        return read_bytes(c, f, &row->alignment_bytes);
    case COLUMN_GAPS:
        return read_gaps(c, f, row);
    case COLUMN_OFFSET:
        t->at[index] = c->line_begin + f.column - 1;
        return read_bytes(c, f, &t->given[index]) &&
               (t->given[index] >> 62 == 0 || complain_field(c, f, "an offset below 2^62"));
    case COLUMN_HINT:
        row->has_hint = true;
        return read_bytes(c, f, &row->hint_offset);
    case COLUMN_USES:
        t->has_uses = true;
        return read_bytes(c, f, &t->uses[index]);
    case COLUMN_MEMORY:
        t->has_memories = true;
        t->memories[index] = masu__arena_strndup(&t->arena, f.text, f.length);
        c->reader->out_of_memory |= !t->memories[index];
        return t->memories[index] != NULL;
    case COLUMN_OTHER:
        return true;
    default:
        return plan_csv_note_cell(c->reader, &c->cells,
                                  (plan_cell){.row = index,
                                              .place = {c->line, f.column},
                                              .kind = (masu_plan_relation_kind)(column - COLUMN_RELATION),
                                              .text = f.text,
                                              .length = f.length});
    }
}

/* The column that a row's mistake is about. */
static int column_at_fault(const csv *c, const masu_plan_row *row) {
    masu_plan_problem alone = {.rows = row, .count = 1};
    switch (masu_plan_validate(&alone, NULL)) {
    case MASU_PLAN_BAD_ALIGNMENT:
        return COLUMN_ALIGNMENT;
    case MASU_PLAN_BAD_GAP:
        return COLUMN_GAPS;
    case MASU_PLAN_TOO_LARGE:
        return row->size_bytes >> 62 ? COLUMN_SIZE : COLUMN_ALIGNMENT;
    default:
        return c->inclusive ? COLUMN_END : COLUMN_UPPER;
    }
}

static bool read_row(csv *c) {
    plan_table *t = c->reader->table;
    size_t index = t->count, seen = 0;
    if (!plan_table_add(t)) {
        c->reader->out_of_memory = true;
        return false;
    }
    field f, fields[COLUMN_COUNT + 1] = {0};
    t->at[index] = c->line_begin;
    do {
        if (!read_field(c, &f))
            return false;
        if (seen == c->column_count)
            return complain_field(c, f, "no more fields than the first line has");
        int column = c->columns[seen++];
        fields[column] = f;
        if (!take_field(c, column, f, index))
            return false;
    } while (another_field(c));
    if (seen < c->column_count)
        return plan_complain(c->reader, (plan_place){c->line, c->at - c->line_begin + 1},
                             "expected %zu fields, found %zu", c->column_count, seen);
    const char *mistake = plan_row_mistake(&t->rows[index]);
    return !mistake || complain_field(c, fields[column_at_fault(c, &t->rows[index])], mistake);
}

static bool read_table(csv *c) {
    if (!read_header(c))
        return false;
    for (;;) {
        next_line(c);
        while (c->at < c->reader->length && at_line_end(c))
            next_line(c);
        if (c->at >= c->reader->length)
            return true;
        /* the line of a row is found again by its number when an id comes twice */
        if (!read_row(c))
            return false;
    }
}

/* Only on the way to a complaint: the line in which the row is. */
static size_t line_of_row(const plan_reader *r, size_t row) {
    size_t line = 1, rows = 0;
    bool empty = true;
    for (size_t i = 0; i < r->length; i++) {
        if (r->text[i] == '\n') {
            if (!empty && rows++ == row + 1)
                return line;
            line++;
            empty = true;
        } else if (r->text[i] != '\r') {
            empty = false;
        }
    }
    return line;
}

/* Ids differ, and what names others names rows. */
static bool ids_mean_rows(plan_reader *r, const plan_cells *cells) {
    plan_index index;
    size_t twice;
    if (plan_index_make(r->table, &index, &twice))
        return plan_csv_relate(r, &index, cells);
    if (twice == SIZE_MAX) {
        r->out_of_memory = true;
        return false;
    }
    return plan_complain(r, (plan_place){line_of_row(r, twice), 1},
                         "expected an id that has not been used, found \"%s\" again", r->table->ids[twice]);
}

static bool sizes_add_up(plan_reader *r) {
    masu_plan_problem all = {.rows = r->table->rows, .count = r->table->count};
    size_t where;
    if (masu_plan_validate(&all, &where) != MASU_PLAN_TOO_LARGE)
        return true;
    return plan_complain(r, (plan_place){line_of_row(r, where), 1}, "expected sizes that add up to less than 2^62");
}

static bool parse_csv(plan_reader *r) {
    csv c = {.reader = r, .line = 1, .separator = ','};
    while (c.at < r->length && at_line_end(&c))
        next_line(&c);
    if (c.at >= r->length)
        return plan_complain(r, (plan_place){1, 1}, "expected a first line with the columns id,lower,upper,size");
    size_t end = c.at;
    while (end < r->length && r->text[end] != '\n')
        if (r->text[end++] == '\t')
            c.separator = '\t';
    return read_table(&c) && ids_mean_rows(r, &c.cells) && sizes_add_up(r);
}

bool plan_parse(const char *path, const char *text, size_t length, plan_table *out, masu__buffer *message) {
    *out = (plan_table){0};
    plan_skip_mark(&text, &length);
    plan_reader reader = {path, text, length, out, message, false};
    size_t first = 0;
    while (first < length && strchr(" \t\r\n", text[first]) && text[first])
        first++;
    bool json = first < length && (text[first] == '{' || text[first] == '[');
    bool right = plan_check_text(&reader) && (json ? plan_parse_json(&reader) : parse_csv(&reader));
    if (!right && reader.out_of_memory)
        masu__buffer_printf(message, "%s: error: out of memory\n", path);
    return right;
}
