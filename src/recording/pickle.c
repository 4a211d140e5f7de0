/* pickle.c: the machine of pickle.h. Instructions are rows of a table with what follows them in the file; those without
 * a function are refused.
 *
 *     stack    [ … | mark | … ]      marks are places in it, kept apart: no value of a file can pretend to be one
 */
#include "recording/pickle.h"

#include <string.h>

#include "base/meta.h"

/* The unpickling machine and its first refusal, which has no place yet. */
typedef struct machine {
    const uint8_t *bytes;
    size_t length, at; /* at <= length */
    size_t start;      /* of the present instruction */
    masu__pickle *pickle;
    masu__pickle_value *stack, *memo;
    size_t depth, stack_capacity, remembered, memo_capacity;
    size_t *marks; /* depths, ascending, each <= depth */
    size_t mark_count, mark_capacity;
    masu__buffer *why;
    masu_status status; /* sticky */
    bool stopped;
} machine;

__attribute__((format(printf, 2, 3))) static bool wrong(machine *m, const char *format, ...) {
    if (m->status != MASU_OK)
        return false;
    m->status = MASU_ERR_INVALID_ARGUMENT;
    va_list arguments;
    va_start(arguments, format);
    masu__buffer_printf(m->why, "byte %zu: ", m->start);
    masu__buffer_vprintf(m->why, format, arguments);
    va_end(arguments);
    return false;
}

/* Room for one more element. */
static bool grow(machine *m, void **items, size_t count, size_t *capacity, size_t bytes) {
    if (count < *capacity)
        return true;
    size_t larger = *capacity ? 2 * *capacity : 4;
    void *grown = larger <= SIZE_MAX / bytes ? masu__meta_realloc(*items, *capacity * bytes, larger * bytes) : NULL;
    if (!grown) {
        m->status = MASU_ERR_OUT_OF_MEMORY;
        return false;
    }
    *items = grown;
    *capacity = larger;
    return true;
}

/* ---- the stack --------------------------------------------------------------------------------------------------- */

static bool push(machine *m, masu__pickle_value value) {
    if (!grow(m, (void **)&m->stack, m->depth, &m->stack_capacity, sizeof value))
        return false;
    m->stack[m->depth++] = value;
    return true;
}

/* The lowest place that may be popped: what lies under the last mark belongs to others. */
static size_t ground(const machine *m) {
    return m->mark_count ? m->marks[m->mark_count - 1] : 0;
}

static bool demand(machine *m, size_t values) {
    return m->depth - ground(m) >= values || wrong(m, "takes a value from an empty stack");
}

/* Takes the mark away; *first is where what was put on it begins. */
static bool pop_mark(machine *m, size_t *first) {
    if (m->mark_count == 0)
        return wrong(m, "looks for a mark, and there is none");
    *first = m->marks[--m->mark_count];
    return true;
}

static bool push_integer(machine *m, uint32_t kind, int64_t integer) {
    return push(m, (masu__pickle_value){.kind = kind, .is.integer = integer});
}

/* ---- boxes ------------------------------------------------------------------------------------------------------- */

static bool push_box(machine *m, uint32_t kind) {
    masu__pickle *p = m->pickle;
    if (!grow(m, (void **)&p->boxes, p->box_count, &p->box_capacity, sizeof *p->boxes))
        return false;
    p->boxes[p->box_count] = (masu__pickle_box){0};
    return push(m, (masu__pickle_value){.kind = kind, .is.box = p->box_count++});
}

static bool box_put(machine *m, size_t box, const masu__pickle_value *values, size_t count) {
    masu__pickle_box *b = &m->pickle->boxes[box];
    size_t wanted = b->count + count;
    if (wanted > b->capacity) {
        size_t larger = wanted < 2 * b->capacity ? 2 * b->capacity : wanted;
        void *grown = masu__meta_realloc(b->items, b->capacity * sizeof *values, larger * sizeof *values);
        if (!grown) {
            m->status = MASU_ERR_OUT_OF_MEMORY;
            return false;
        }
        b->items = grown;
        b->capacity = larger;
    }
    if (count)
        memcpy(b->items + b->count, values, count * sizeof *values);
    b->count = wanted;
    return true;
}

/* Moves what lies from first on into the list or dict under it. */
static bool fill(machine *m, size_t first, uint32_t kind) {
    if (first <= ground(m))
        return wrong(m, "fills a %s that is not there", masu__pickle_kind_name(kind));
    masu__pickle_value into = m->stack[first - 1];
    if (into.kind != kind)
        return wrong(m, "fills a %s as if it were a %s", masu__pickle_kind_name(into.kind),
                     masu__pickle_kind_name(kind));
    if (kind == MASU__PICKLE_DICT && (m->depth - first) % 2)
        return wrong(m, "a key without a value");
    if (!box_put(m, into.is.box, m->stack + first, m->depth - first))
        return false;
    m->depth = first;
    return true;
}

static bool make_tuple(machine *m, size_t first) {
    size_t count = m->depth - first;
    if (!push_box(m, MASU__PICKLE_TUPLE))
        return false;
    masu__pickle_value tuple = m->stack[--m->depth];
    if (!box_put(m, tuple.is.box, m->stack + first, count))
        return false;
    m->depth = first;
    return push(m, tuple);
}

/* ---- instructions ------------------------------------------------------------------------------------------------ */

/* number: what followed the instruction, little-endian; text: the bytes that it counted. */
typedef struct operand {
    uint64_t number;
    const char *text;
} operand;

static bool do_protocol(machine *m, operand o) {
    return (o.number >= 2 && o.number <= 5) ||
           wrong(m, "pickle protocol %u: protocols 2 to 5 are read here", (unsigned)o.number);
}
static bool do_nothing(machine *m, operand o) {
    (void)m, (void)o;
    return true;
}
static bool do_stop(machine *m, operand o) {
    (void)o;
    if (!demand(m, 1))
        return false;
    m->pickle->top = m->stack[m->depth - 1];
    return m->stopped = true;
}
static bool do_mark(machine *m, operand o) {
    (void)o;
    if (!grow(m, (void **)&m->marks, m->mark_count, &m->mark_capacity, sizeof *m->marks))
        return false;
    m->marks[m->mark_count++] = m->depth;
    return true;
}
static bool do_pop(machine *m, operand o) {
    (void)o;
    if (m->mark_count && m->depth == ground(m)) { /* as in Python, a mark counts as a value here */
        m->mark_count--;
        return true;
    }
    return demand(m, 1) && m->depth--;
}
static bool do_pop_mark(machine *m, operand o) {
    (void)o;
    return pop_mark(m, &m->depth);
}
static bool do_none(machine *m, operand o) {
    (void)o;
    return push_integer(m, MASU__PICKLE_NONE, 0);
}
static bool do_true(machine *m, operand o) {
    (void)o;
    return push_integer(m, MASU__PICKLE_BOOL, 1);
}
static bool do_false(machine *m, operand o) {
    (void)o;
    return push_integer(m, MASU__PICKLE_BOOL, 0);
}
static bool do_int32(machine *m, operand o) {
    return push_integer(m, MASU__PICKLE_INT, (int32_t)(uint32_t)o.number);
}
static bool do_unsigned(machine *m, operand o) {
    return push_integer(m, MASU__PICKLE_INT, (int64_t)o.number);
}

static bool do_float(machine *m, operand o) {
    uint64_t bits = __builtin_bswap64(o.number); /* the one number of the format with its high byte first */
    masu__pickle_value value = {.kind = MASU__PICKLE_FLOAT};
    memcpy(&value.is.real, &bits, sizeof bits);
    return push(m, value);
}

/* Two's complement, low byte first, any number of bytes: what the high bytes repeat is left away. */
static bool do_long(machine *m, operand o) {
    const uint8_t *b = (const uint8_t *)o.text;
    size_t n = o.number;
    bool below_zero = n && b[n - 1] & 0x80;
    while (n > 8 && b[n - 1] == (below_zero ? 0xff : 0))
        n--;
    uint64_t bits = below_zero ? UINT64_MAX : 0;
    for (size_t i = 0; i < n && i < 8; i++)
        bits = (bits & ~((uint64_t)0xff << 8 * i)) | (uint64_t)b[i] << 8 * i;
    if (n > 8 || (below_zero && !(bits >> 63)))
        return wrong(m, "an integer that does not fit into 64 bits");
    bool large = !below_zero && bits >> 63;
    return push_integer(m, large ? MASU__PICKLE_UNSIGNED : MASU__PICKLE_INT, (int64_t)bits);
}

static bool push_text(machine *m, uint32_t kind, operand o) {
    if (o.number > UINT32_MAX)
        return wrong(m, "a text of %llu bytes", (unsigned long long)o.number);
    return push(m, (masu__pickle_value){.kind = kind, .length = (uint32_t)o.number, .is.text = o.text});
}
static bool do_text(machine *m, operand o) {
    return push_text(m, MASU__PICKLE_TEXT, o);
}
static bool do_bytes(machine *m, operand o) {
    return push_text(m, MASU__PICKLE_BYTES, o);
}

static bool do_list(machine *m, operand o) {
    (void)o;
    return push_box(m, MASU__PICKLE_LIST);
}
static bool do_dict(machine *m, operand o) {
    (void)o;
    return push_box(m, MASU__PICKLE_DICT);
}
static bool do_append(machine *m, operand o) {
    (void)o;
    return demand(m, 2) && fill(m, m->depth - 1, MASU__PICKLE_LIST);
}
static bool do_appends(machine *m, operand o) {
    (void)o;
    size_t first = 0;
    return pop_mark(m, &first) && fill(m, first, MASU__PICKLE_LIST);
}
static bool do_set_item(machine *m, operand o) {
    (void)o;
    return demand(m, 3) && fill(m, m->depth - 2, MASU__PICKLE_DICT);
}
static bool do_set_items(machine *m, operand o) {
    (void)o;
    size_t first = 0;
    return pop_mark(m, &first) && fill(m, first, MASU__PICKLE_DICT);
}
static bool do_empty_tuple(machine *m, operand o) {
    (void)o;
    return make_tuple(m, m->depth);
}
static bool do_tuple1(machine *m, operand o) {
    (void)o;
    return demand(m, 1) && make_tuple(m, m->depth - 1);
}
static bool do_tuple2(machine *m, operand o) {
    (void)o;
    return demand(m, 2) && make_tuple(m, m->depth - 2);
}
static bool do_tuple3(machine *m, operand o) {
    (void)o;
    return demand(m, 3) && make_tuple(m, m->depth - 3);
}
static bool do_tuple(machine *m, operand o) {
    (void)o;
    size_t first = 0;
    return pop_mark(m, &first) && make_tuple(m, first);
}

/* Writers number what they remember from 0 without gaps, so that no number can ask for memory. */
static bool do_put(machine *m, operand o) {
    if (!demand(m, 1))
        return false;
    if (o.number > m->remembered)
        return wrong(m, "remembers a value as number %llu, where %zu is next", (unsigned long long)o.number,
                     m->remembered);
    if (!grow(m, (void **)&m->memo, o.number, &m->memo_capacity, sizeof *m->memo))
        return false;
    m->remembered += o.number == m->remembered;
    m->memo[o.number] = m->stack[m->depth - 1];
    return true;
}
static bool do_memoize(machine *m, operand o) {
    (void)o;
    return do_put(m, (operand){.number = m->remembered});
}
static bool do_get(machine *m, operand o) {
    if (o.number >= m->remembered)
        return wrong(m, "asks for value number %llu of %zu that were remembered", (unsigned long long)o.number,
                     m->remembered);
    return push(m, m->memo[o.number]);
}

typedef struct instruction {
    const char *name;
    bool (*run)(machine *m, operand o); /* NULL: refused */
    uint8_t width;                      /* of the number that follows, in bytes */
    bool counted;                       /* the number says how many bytes follow it */
} instruction;

static const instruction instructions[256] = {
    [0x80] = {"PROTO", do_protocol, 1, false},
    [0x95] = {"FRAME", do_nothing, 8, false},
    ['.'] = {"STOP", do_stop, 0, false},
    ['('] = {"MARK", do_mark, 0, false},
    ['0'] = {"POP", do_pop, 0, false},
    ['1'] = {"POP_MARK", do_pop_mark, 0, false},
    ['N'] = {"NONE", do_none, 0, false},
    [0x88] = {"NEWTRUE", do_true, 0, false},
    [0x89] = {"NEWFALSE", do_false, 0, false},
    ['J'] = {"BININT", do_int32, 4, false},
    ['K'] = {"BININT1", do_unsigned, 1, false},
    ['M'] = {"BININT2", do_unsigned, 2, false},
    [0x8a] = {"LONG1", do_long, 1, true},
    [0x8b] = {"LONG4", do_long, 4, true},
    ['G'] = {"BINFLOAT", do_float, 8, false},
    ['X'] = {"BINUNICODE", do_text, 4, true},
    [0x8c] = {"SHORT_BINUNICODE", do_text, 1, true},
    [0x8d] = {"BINUNICODE8", do_text, 8, true},
    ['B'] = {"BINBYTES", do_bytes, 4, true},
    ['C'] = {"SHORT_BINBYTES", do_bytes, 1, true},
    [0x8e] = {"BINBYTES8", do_bytes, 8, true},
    [']'] = {"EMPTY_LIST", do_list, 0, false},
    ['a'] = {"APPEND", do_append, 0, false},
    ['e'] = {"APPENDS", do_appends, 0, false},
    ['}'] = {"EMPTY_DICT", do_dict, 0, false},
    ['s'] = {"SETITEM", do_set_item, 0, false},
    ['u'] = {"SETITEMS", do_set_items, 0, false},
    [')'] = {"EMPTY_TUPLE", do_empty_tuple, 0, false},
    [0x85] = {"TUPLE1", do_tuple1, 0, false},
    [0x86] = {"TUPLE2", do_tuple2, 0, false},
    [0x87] = {"TUPLE3", do_tuple3, 0, false},
    ['t'] = {"TUPLE", do_tuple, 0, false},
    ['q'] = {"BINPUT", do_put, 1, false},
    ['r'] = {"LONG_BINPUT", do_put, 4, false},
    [0x94] = {"MEMOIZE", do_memoize, 0, false},
    ['h'] = {"BINGET", do_get, 1, false},
    ['j'] = {"LONG_BINGET", do_get, 4, false},
    /* Refused: opcodes that name, call or build objects, and those that protocol 2 and later no longer write. */
    ['c'] = {.name = "GLOBAL"},
    ['R'] = {.name = "REDUCE"},
    ['b'] = {.name = "BUILD"},
    ['i'] = {.name = "INST"},
    ['o'] = {.name = "OBJ"},
    [0x81] = {.name = "NEWOBJ"},
    [0x92] = {.name = "NEWOBJ_EX"},
    [0x93] = {.name = "STACK_GLOBAL"},
    ['P'] = {.name = "PERSID"},
    ['Q'] = {.name = "BINPERSID"},
    [0x82] = {.name = "EXT1"},
    [0x83] = {.name = "EXT2"},
    [0x84] = {.name = "EXT4"},
    [0x8f] = {.name = "EMPTY_SET"},
    [0x90] = {.name = "ADDITEMS"},
    [0x91] = {.name = "FROZENSET"},
    [0x96] = {.name = "BYTEARRAY8"},
    [0x97] = {.name = "NEXT_BUFFER"},
    [0x98] = {.name = "READONLY_BUFFER"},
    ['2'] = {.name = "DUP"},
    ['F'] = {.name = "FLOAT"},
    ['I'] = {.name = "INT"},
    ['L'] = {.name = "LONG"},
    ['S'] = {.name = "STRING"},
    ['T'] = {.name = "BINSTRING"},
    ['U'] = {.name = "SHORT_BINSTRING"},
    ['V'] = {.name = "UNICODE"},
    ['d'] = {.name = "DICT"},
    ['l'] = {.name = "LIST"},
    ['g'] = {.name = "GET"},
    ['p'] = {.name = "PUT"},
};

static bool read_operand(machine *m, const instruction *is, operand *o) {
    if (m->length - m->at < is->width)
        return wrong(m, "the file ends inside %s", is->name);
    for (size_t i = 0; i < is->width; i++)
        o->number |= (uint64_t)m->bytes[m->at + i] << 8 * i;
    m->at += is->width;
    if (!is->counted)
        return true;
    if (o->number > m->length - m->at)
        return wrong(m, "%s of %llu bytes, and the file has only %zu more", is->name, (unsigned long long)o->number,
                     m->length - m->at);
    o->text = (const char *)m->bytes + m->at;
    m->at += (size_t)o->number;
    return true;
}

static bool step(machine *m) {
    m->start = m->at;
    if (m->at == m->length)
        return wrong(m, "the file ends before the pickle does");
    uint8_t code = m->bytes[m->at++];
    const instruction *is = &instructions[code];
    if (!is->name)
        return wrong(m, "0x%02x is not an instruction of a pickle", code);
    if (!is->run)
        return wrong(
            m,
            "%s: masu reads plain data only (dict, list, tuple, str, int, float, bool, None, bytes) and runs nothing "
            "that a file asks for",
            is->name);
    operand o = {0};
    return read_operand(m, is, &o) && is->run(m, o);
}

/* ---- in and out -------------------------------------------------------------------------------------------------- */

bool masu__pickle_begins(const void *bytes, size_t length) {
    const uint8_t *b = bytes;
    return length >= 2 && b[0] == 0x80 && b[1] >= 2 && b[1] <= 5;
}

masu_status masu__pickle_read(const void *bytes, size_t length, masu__pickle *out, masu__buffer *why) {
    *out = (masu__pickle){0};
    machine m = {.bytes = bytes, .length = length, .pickle = out, .why = why};
    if (!masu__pickle_begins(bytes, length))
        wrong(&m, "not a pickle of protocol 2 to 5");
    while (m.status == MASU_OK && !m.stopped)
        step(&m);
    if (m.stopped && m.at < m.length) {
        m.start = m.at;
        wrong(&m, "%zu bytes behind the end of the pickle", m.length - m.at);
    }
    masu__meta_free(m.stack, m.stack_capacity * sizeof *m.stack);
    masu__meta_free(m.memo, m.memo_capacity * sizeof *m.memo);
    masu__meta_free(m.marks, m.mark_capacity * sizeof *m.marks);
    if (m.status != MASU_OK)
        masu__pickle_destroy(out);
    return m.status;
}

void masu__pickle_destroy(masu__pickle *pickle) {
    for (size_t i = 0; i < pickle->box_count; i++)
        masu__meta_free(pickle->boxes[i].items, pickle->boxes[i].capacity * sizeof(masu__pickle_value));
    masu__meta_free(pickle->boxes, pickle->box_capacity * sizeof *pickle->boxes);
    *pickle = (masu__pickle){0};
}

const masu__pickle_value *masu__pickle_items(const masu__pickle *pickle, masu__pickle_value of, size_t *count) {
    if (of.kind < MASU__PICKLE_LIST || of.kind > MASU__PICKLE_DICT) {
        *count = 0;
        return NULL;
    }
    const masu__pickle_box *box = &pickle->boxes[of.is.box];
    *count = box->count;
    return box->items;
}

const masu__pickle_value *masu__pickle_get(const masu__pickle *pickle, masu__pickle_value of, const char *key) {
    if (of.kind != MASU__PICKLE_DICT)
        return NULL;
    const masu__pickle_box *box = &pickle->boxes[of.is.box];
    size_t length = strlen(key);
    for (size_t i = box->count; i >= 2; i -= 2) {
        const masu__pickle_value *name = &box->items[i - 2];
        if (name->kind == MASU__PICKLE_TEXT && name->length == length && memcmp(name->is.text, key, length) == 0)
            return &box->items[i - 1];
    }
    return NULL;
}

const char *masu__pickle_kind_name(unsigned kind) {
    static const char *const names[] = {"None", "bool", "int", "int", "float", "str", "bytes", "list", "tuple", "dict"};
    return kind < MASU__PICKLE_KIND_COUNT ? names[kind] : "?";
}
