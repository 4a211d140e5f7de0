/* string.c: strings, counted. One that somebody else may hold never changes; append writes behind the end of one that
 * has no other holder, which then has room for twice as much: a text made of n pieces copies no byte more often than
 * log n times. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "runtime/state.h"
#include "runtime/value/display.h"
#include "runtime/value/objects.h"

enum { FIRST_ROOM = 5 /* 32 bytes */ };

static size_t string_bytes(int64_t room) {
    return sizeof(tl_string) + (size_t)room + 1;
}

static tl_string *string_of(tl_object *s) {
    return (tl_string *)(void *)s;
}

int64_t tl__string_room(const tl_object *s) {
    const tl_string *string = (const tl_string *)(const void *)s;
    return !s || string->grown == 0 ? tl__string_length(s) : INT64_C(1) << string->grown;
}

/* grown: see tl_string. */
static masu_status string_reserve(int64_t length, uint32_t grown, tl_string **out) {
    void *memory;
    if (length < 0 || length > PTRDIFF_MAX / 2)
        return tl__error(TL_SAY(string_bytes), length);
    masu_status status = tl__alloc(string_bytes(grown == 0 ? length : INT64_C(1) << grown), &memory);
    if (status != MASU_OK)
        return status;
    tl_string *string = memory;
    string->head = (tl_object){.count = 1, .kind = TL_STRING};
    string->grown = grown;
    string->length = length;
    string->bytes[length] = '\0';
    tl__runtime()->live_objects++;
    *out = string;
    return MASU_OK;
}

masu_status tl__string_new(const char *bytes, int64_t length, tl_object **out) {
    tl_string *string = NULL;
    masu_status status = string_reserve(length, 0, &string);
    if (status != MASU_OK)
        return status;
    if (length > 0)
        memcpy(string->bytes, bytes, (size_t)length);
    *out = &string->head;
    return MASU_OK;
}

void tl__string_free(tl_object *object) {
    tl__free(object, string_bytes(tl__string_room(object)));
    tl__runtime()->live_objects--;
}

tl_object *tl_string_literal(void *bytes, int64_t length) {
    tl_object *out = NULL;
    masu_status status = tl__string_new(bytes, length, &out);
    return tl__object_or_raise(status, out);
}

static masu_status concat(const tl_object *a, const tl_object *b, tl_object **out) {
    int64_t first = tl__string_length(a), second = tl__string_length(b);
    tl_string *string = NULL;
    masu_status status = string_reserve(first + second, 0, &string);
    if (status != MASU_OK)
        return status;
    memcpy(string->bytes, tl__string_bytes(a), (size_t)first);
    memcpy(string->bytes + first, tl__string_bytes(b), (size_t)second);
    *out = &string->head;
    return MASU_OK;
}

tl_object *tl_string_concat(tl_object *a, tl_object *b) {
    tl_object *out = NULL;
    masu_status status = concat(a, b, &out);
    return tl__object_or_raise(status, out);
}

/* ---- at the end of a text ------------------------------------------------------------------------------------ */

static uint32_t class_of(int64_t length) {
    uint32_t grown = FIRST_ROOM;
    while ((INT64_C(1) << grown) < length)
        grown++;
    return grown;
}

/* Turns *s, of which the caller owns one count, into a string that only the caller holds, with room for so many bytes.
 * On failure *s is as it was. */
static masu_status make_room(tl_object **s, int64_t room) {
    tl_object *old = *s;
    tl_string *string = NULL;
    if (old && old->count == 1 && tl__string_room(old) >= room)
        return MASU_OK;
    if (room > PTRDIFF_MAX / 2)
        return tl__error(TL_SAY(string_bytes), room);
    int64_t length = tl__string_length(old);
    masu_status status = string_reserve(length, class_of(room), &string);
    if (status != MASU_OK)
        return status;
    memcpy(string->bytes, tl__string_bytes(old), (size_t)length);
    tl__object_drop(old);
    *s = &string->head;
    return MASU_OK;
}

/* `bytes` NULL: the text's own, which lie elsewhere when there is room. */
static tl_object *append(tl_object *s, const char *bytes, int64_t added) {
    int64_t length = tl__string_length(s), all;
    masu_status status = __builtin_add_overflow(length, added, &all) ? tl__error(TL_SAY(string_bytes), INT64_MAX)
                                                                     : make_room(&s, all);
    if (status != MASU_OK) {
        tl__object_drop(s);
        tl__raise();
        return NULL;
    }
    tl_string *string = string_of(s);
    memcpy(string->bytes + length, bytes ? bytes : string->bytes, (size_t)added);
    string->bytes[all] = '\0';
    string->length = all;
    return s;
}

tl_object *tl_string_append(tl_object *s, tl_object *more) {
    const int64_t added = tl__string_length(more);
    return added == 0 ? s : append(s, more == s ? NULL : tl__string_bytes(more), added);
}

tl_object *tl_string_push(tl_object *s, int32_t letter) {
    char bytes[4];
    tl_string *string = string_of(s);
    const bool room = s && s->count == 1 && string->length < tl__string_room(s);
    if (MASU_LIKELY(room && letter >= 0 && letter < 0x80)) {
        string->bytes[string->length++] = (char)letter;
        string->bytes[string->length] = '\0';
        return s;
    }
    return append(s, bytes, (int64_t)tl__encode_utf8((uint32_t)letter, bytes));
}

tl_object *tl_string_reserve(tl_object *s, int64_t more) {
    int64_t all;
    masu_status status = more < 0 || __builtin_add_overflow(tl__string_length(s), more, &all)
                             ? tl__error(TL_SAY(room_for_more_bytes), more)
                             : make_room(&s, all);
    if (status == MASU_OK)
        return s;
    tl__object_drop(s);
    tl__raise();
    return NULL;
}

int64_t tl_string_capacity(tl_object *s) {
    return tl__string_room(s);
}

bool tl_string_equal(tl_object *a, tl_object *b) {
    int64_t length = tl__string_length(a);
    return length == tl__string_length(b) && memcmp(tl__string_bytes(a), tl__string_bytes(b), (size_t)length) == 0;
}

int64_t tl_string_len(tl_object *s) {
    return tl__string_length(s);
}

/* ---- numbers out of text ------------------------------------------------------------------------------------- */

/* As Rust's parse: no blanks around it, the whole text, a sign allowed. */
static masu_status refuse_number(const tl_object *s, const char *what) {
    int64_t length = tl__string_length(s);
    return tl__error(TL_SAY(is_not), length > 60 ? 57 : (int)length, tl__string_bytes(s), length > 60 ? "..." : "",
                     what);
}

static bool starts_number(const char *text) {
    text += *text == '-' || *text == '+';
    return (*text >= '0' && *text <= '9') || *text == '.';
}

static masu_status parse_i64(const tl_object *s, int64_t *out) {
    const char *text = tl__string_bytes(s);
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    bool whole = end == text + tl__string_length(s) && end != text;
    if (!whole || !starts_number(text))
        return refuse_number(s, "an integer");
    if (errno == ERANGE)
        return refuse_number(s, "within the range of i64");
    *out = value;
    return MASU_OK;
}

int64_t tl_string_to_i64(tl_object *s) {
    int64_t value = 0;
    if (parse_i64(s, &value) != MASU_OK)
        tl__raise();
    return value;
}

/* strtod also reads hexadecimal numbers and "nan(…)", which programs do not write. */
static bool plain_float(const char *text) {
    const char *body = text + (*text == '-' || *text == '+');
    if (strcasecmp(body, "inf") == 0 || strcasecmp(body, "infinity") == 0 || strcasecmp(body, "nan") == 0)
        return true;
    return starts_number(text) && !strpbrk(text, "xXpP");
}

static masu_status parse_f64(const tl_object *s, double *out) {
    const char *text = tl__string_bytes(s);
    if (masu__decimal_read(text, (size_t)tl__string_length(s), out))
        return MASU_OK;
    char *end;
    double value = strtod(text, &end);
    if (end == text || end != text + tl__string_length(s) || !plain_float(text))
        return refuse_number(s, "a number");
    *out = value;
    return MASU_OK;
}

double tl_string_to_f64(tl_object *s) {
    double value = 0;
    if (parse_f64(s, &value) != MASU_OK)
        tl__raise();
    return value;
}

bool tl__string_is_number(const tl_object *s, bool whole) {
    const char *text = tl__string_bytes(s);
    char *end;
    double value;
    if (!whole && masu__decimal_read(text, (size_t)tl__string_length(s), &value))
        return true;
    errno = 0;
    if (whole)
        (void)strtoll(text, &end, 10);
    else
        (void)strtod(text, &end);
    bool all = end != text && end == text + tl__string_length(s);
    return all && (whole ? starts_number(text) && errno == 0 : plain_float(text));
}

/* ---- numbers as bits --------------------------------------------------------------------------- */

int64_t tl_f64_to_bits(double x) {
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

double tl_f64_from_bits(int64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

int64_t tl_f32_to_bits(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

float tl_f32_from_bits(int64_t bits) {
    float x;
    uint32_t low = (uint32_t)bits;
    memcpy(&x, &low, sizeof x);
    return x;
}
