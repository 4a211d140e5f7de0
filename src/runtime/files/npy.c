/* npy.c: NumPy's file of one array, versions 1 to 3, read and written.
 *
 *     \x93NUMPY  major minor  length of the header
 *         {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }  \n  elements
 *
 * The header is a literal of Python. Of Python this reads what NumPy writes: a dictionary of these three keys in any
 * order.
 */
#include <stdio.h>
#include <string.h>

#include "base/size.h"
#include "runtime/files/formats.h"
#include "runtime/files/stored.h"

enum { MAGIC = 6, HEADER_MOST = 1 << 16 };

typedef struct cursor {
    const char *at, *end;
} cursor;

static void skip_space(cursor *c) {
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\n' || *c->at == '\t' || *c->at == '\r'))
        c->at++;
}

static bool take(cursor *c, const char *word) {
    skip_space(c);
    size_t length = strlen(word);
    bool there = (size_t)(c->end - c->at) >= length && memcmp(c->at, word, length) == 0;
    c->at += there ? length : 0;
    return there;
}

static bool sees(cursor *c, char what) {
    skip_space(c);
    return c->at < c->end && *c->at == what;
}

/* A text between quotes of either kind, without escapes. */
static bool take_text(cursor *c, const char **text, size_t *length) {
    skip_space(c);
    if (c->at == c->end || (*c->at != '\'' && *c->at != '"'))
        return false;
    const char *end = memchr(c->at + 1, *c->at, (size_t)(c->end - c->at - 1));
    if (!end)
        return false;
    *text = c->at + 1;
    *length = (size_t)(end - *text);
    c->at = end + 1;
    return memchr(*text, '\\', *length) == NULL;
}

static bool take_number(cursor *c, int64_t *out) {
    skip_space(c);
    int64_t value = 0;
    const char *begin = c->at;
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++)
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, *c->at - '0', &value))
            return false;
    *out = value;
    bool there = c->at > begin;
    if (there && c->at < c->end && *c->at == 'L') /* of Python 2 */
        c->at++;
    return there;
}

static bool read_shape(cursor *c, tl__stored *s, tl__table *t) {
    bool right = take(c, "(");
    int64_t lengths[TL_MAX_RANK];
    int rank = 0;
    while (right && !take(c, ")")) {
        int64_t length;
        right = take_number(c, &length);
        if (right && rank == TL_MAX_RANK)
            return tl__table_refuse(t, "it has more than %d dimensions", TL_MAX_RANK);
        if (right)
            lengths[rank++] = length;
        right = right && (take(c, ",") || sees(c, ')'));
    }
    s->rank = (uint8_t)rank;
    for (int d = 0; right && d < rank; d++)
        s->shape[d] = lengths[d];
    return right;
}

static bool find_type(char letter, size_t bytes, uint32_t *out) {
    for (uint32_t i = 0; i < STORED_TYPES; i++)
        if (tl__stored_kinds[i].npy != 0 && tl__stored_kinds[i].npy == letter && tl__stored_kinds[i].bytes == bytes) {
            *out = i;
            return true;
        }
    return false;
}

/* '<f4': the order of the bytes, a letter, their number. */
static bool read_type(cursor *c, tl__stored *s, tl__table *t) {
    const char *text;
    size_t length;
    if (take(c, "["))
        return tl__table_refuse(t, "its elements are records: write each field as an array of its own");
    if (!take_text(c, &text, &length))
        return false;
    size_t begin = length > 0 && strchr("<>|=", text[0]) ? 1 : 0;
    bool right = length == begin + 2 && text[begin + 1] >= '1' && text[begin + 1] <= '8';
    right = right && find_type(text[begin], (size_t)(text[begin + 1] - '0'), &s->type);
    if (!right)
        return tl__table_refuse(t,
                                "its elements are of the type '%.*s'; f2, f4, f8, i1 to i8, u1 to u8 and bool are read",
                                (int)masu__min(length, 40), text);
    s->swapped = begin == 1 && text[0] == '>' && tl__stored_kinds[s->type].bytes > 1;
    return true;
}

static bool read_entry(cursor *c, unsigned *seen, tl__stored *s, tl__table *t) {
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    const char *text;
    size_t length;
    if (!take_text(c, &text, &length) || !take(c, ":"))
        return false;
    unsigned key = 0;
    while (key < 3 && (strlen(keys[key]) != length || memcmp(keys[key], text, length) != 0))
        key++;
    if (key == 3 || (*seen & 1u << key))
        return false;
    *seen |= 1u << key;
    if (key == 1) {
        s->columns_first = take(c, "True");
        return s->columns_first || take(c, "False");
    }
    return key == 0 ? read_type(c, s, t) : read_shape(c, s, t);
}

static bool read_dictionary(cursor c, tl__stored *s, tl__table *t) {
    unsigned seen = 0;
    bool right = take(&c, "{");
    while (right && !take(&c, "}")) {
        right = read_entry(&c, &seen, s, t);
        right = right && (take(&c, ",") || sees(&c, '}'));
    }
    skip_space(&c);
    return right && seen == 7 && c.at == c.end;
}

bool tl__npy_header(const unsigned char *bytes, size_t length, size_t whole, tl__stored *s, tl__table *t) {
    if (length < MAGIC + 6 || memcmp(bytes, "\x93NUMPY", MAGIC) != 0)
        return tl__table_refuse(t, "it does not begin as a .npy file");
    unsigned version = bytes[MAGIC];
    if (version < 1 || version > 3)
        return tl__table_refuse(t, "it is of version %u of .npy, 1 to 3 are read", version);
    size_t header = bytes[8] | (size_t)bytes[9] << 8, begin = 10;
    if (version > 1) {
        header |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
        begin = 12;
    }
    if (header > HEADER_MOST || header > length - begin)
        return tl__table_refuse(t, "its header has %zu bytes, where %zu are left", header, length - begin);
    const char *text = (const char *)bytes + begin;
    if (!read_dictionary((cursor){text, text + header}, s, t))
        return tl__table_refuse(t, "its header is not NumPy's: %.*s", (int)masu__min(header, 80), text);
    s->skip = begin + header;
    size_t wanted = 0;
    bool countable = tl__stored_count(s) && masu__mul(s->elements, tl__stored_kinds[s->type].bytes, &wanted) &&
                     masu__add(wanted, s->skip, &wanted);
    if (!countable)
        return tl__table_refuse(t, "its shape has too many elements to count");
    return wanted == whole || tl__table_refuse(t, "its header says %zu bytes, and there are %zu", wanted, whole);
}

bool tl__npy_read(const tl__bytes *file, tl__table *t) {
    tl__stored *s = tl__table_add(t);
    if (!s)
        return false;
    s->name = "array";
    s->bytes = file->data;
    s->length = file->length;
    return tl__npy_header(file->data, file->length, file->length, s, t) && tl__table_close(t);
}

void tl__npy_write_header(masu__buffer *out, tl_dtype dtype, int rank, const int64_t *shape) {
    const tl__stored_kind *kind = &tl__stored_kinds[tl__stored_type_of(dtype)];
    masu__buffer text = {0};
    masu__buffer_printf(&text, "{'descr': '%c%c%u', 'fortran_order': False, 'shape': (", kind->bytes == 1 ? '|' : '<',
                        kind->npy, kind->bytes);
    for (int d = 0; d < rank; d++)
        masu__buffer_printf(&text, "%lld%s", (long long)shape[d], d + 1 < rank ? ", " : rank == 1 ? "," : "");
    masu__buffer_puts(&text, "), }");
    enum { FRONT = 10, ALIGNED = 64 };
    masu__buffer_fill(&text, ' ', (2 * ALIGNED - 1 - (FRONT + text.length) % ALIGNED) % ALIGNED);
    masu__buffer_putc(&text, '\n');
    char front[FRONT] = {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, (char)(text.length & 255), (char)(text.length >> 8)};
    masu__buffer_append(out, front, FRONT);
    masu__buffer_append(out, masu__buffer_text(&text), text.length);
    out->failed = out->failed || text.failed;
    masu__buffer_destroy(&text);
}
