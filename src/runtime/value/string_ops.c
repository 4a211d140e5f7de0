/* string_ops.c: searching, cutting and changing strings.
 *
 * Positions count bytes, as Rust's do, and a part begins and ends where a character does; char_at counts characters.
 * What is outside of the text is an error of both. What a letter or a blank is, Unicode says (unicode.h), for no
 * language in particular.
 */
#include <inttypes.h>
#include <string.h>

#include "base/buffer.h"
#include "runtime/state.h"
#include "runtime/value/display.h"
#include "runtime/value/objects.h"
#include "runtime/value/unicode.h"

typedef struct text {
    const char *at;
    size_t length;
} text;

static text text_of(const tl_object *s) {
    return (text){tl__string_bytes(s), (size_t)tl__string_length(s)};
}

static tl_object *give(masu_status status, const char *bytes, size_t length) {
    tl_object *made = NULL;
    if (status == MASU_OK)
        status = tl__string_new(bytes, (int64_t)length, &made);
    return tl__object_or_raise(status, made);
}

tl_object *tl__string_of(masu__buffer *out) {
    tl_object *made = NULL;
    masu_status status = out->failed ? tl__error(TL_SAY(out_memory_for_text))
                                     : tl__string_new(masu__buffer_text(out), (int64_t)out->length, &made);
    masu__buffer_destroy(out);
    return tl__object_or_raise(status, made);
}

/* ---- searching ------------------------------------------------------------------------------- */

static const char *find(text in, text wanted) {
    return wanted.length == 0 ? in.at : memmem(in.at, in.length, wanted.at, wanted.length);
}

bool tl_string_contains(tl_object *s, tl_object *part) {
    return find(text_of(s), text_of(part)) != NULL;
}

bool tl_string_starts_with(tl_object *s, tl_object *part) {
    text a = text_of(s), b = text_of(part);
    return a.length >= b.length && memcmp(a.at, b.at, b.length) == 0;
}

bool tl_string_ends_with(tl_object *s, tl_object *part) {
    text a = text_of(s), b = text_of(part);
    return a.length >= b.length && memcmp(a.at + a.length - b.length, b.at, b.length) == 0;
}

static int64_t characters(const char *at, size_t length) {
    int64_t count = 0;
    for (size_t i = 0; i < length; i++)
        count += ((unsigned char)at[i] & 0xC0) != 0x80;
    return count;
}

/* -1 when it is not there. */
int64_t tl_string_index_of(tl_object *s, tl_object *part) {
    text a = text_of(s);
    const char *found = find(a, text_of(part));
    return found ? found - a.at : -1;
}

int32_t tl_string_compare(tl_object *s, tl_object *other) {
    text a = text_of(s), b = text_of(other);
    int order = memcmp(a.at, b.at, a.length < b.length ? a.length : b.length);
    return order != 0 ? (order > 0) - (order < 0) : (a.length > b.length) - (a.length < b.length);
}

/* ---- cutting --------------------------------------------------------------------------------- */

/* The byte at which character `index` starts; length when the text ends there, else SIZE_MAX. */
static size_t byte_of(text t, int64_t index) {
    size_t at = 0;
    for (int64_t i = 0; i < index && at < t.length; i++) {
        do
            at++;
        while (at < t.length && ((unsigned char)t.at[at] & 0xC0) == 0x80);
        if (at == t.length && i + 1 < index)
            return SIZE_MAX;
    }
    return index < 0 || (index > 0 && t.length == 0) ? SIZE_MAX : at;
}

static bool is_boundary(text t, int64_t at) {
    return at >= 0 && at <= (int64_t)t.length && (at == (int64_t)t.length || ((unsigned char)t.at[at] & 0xC0) != 0x80);
}

bool tl_string_boundary(tl_object *s, int64_t at) {
    return is_boundary(text_of(s), at);
}

tl_object *tl_string_substring(tl_object *s, int64_t from, int64_t to) {
    text t = text_of(s);
    masu_status status = MASU_OK;
    if (from < 0 || from > to || to > (int64_t)t.length)
        status = tl__error(TL_SAY(bytes_text_bytes), from, to, (int64_t)t.length);
    else if (!is_boundary(t, from) || !is_boundary(t, to))
        status = tl__error(TL_SAY(byte_is_inside_character), is_boundary(t, from) ? to : from);
    return give(status, status == MASU_OK ? t.at + from : t.at, status == MASU_OK ? (size_t)(to - from) : 0);
}

int32_t tl_string_char_at(tl_object *s, int64_t index) {
    text t = text_of(s);
    size_t at = byte_of(t, index), length;
    if (at >= t.length) {
        (void)tl__error(TL_SAY(character_text_characters), index, characters(t.at, t.length));
        tl__raise();
        return 0;
    }
    return tl__decode_utf8(t.at + at, t.length - at, &length);
}

/* The bytes of the blank that the text begins with; 0: it begins with none. */
static size_t blank_at(text t) {
    size_t length = 1;
    return t.length > 0 && tl__char_is((uint32_t)tl__decode_utf8(t.at, t.length, &length), UNICODE_WHITE) ? length : 0;
}

static size_t last_character(text t) {
    size_t at = t.length - 1;
    while (at > 0 && ((unsigned char)t.at[at] & 0xC0) == 0x80)
        at--;
    return at;
}

tl_object *tl_string_trim(tl_object *s) {
    text t = text_of(s);
    for (size_t length; (length = blank_at(t)) > 0;) {
        t.at += length;
        t.length -= length;
    }
    while (t.length > 0) {
        size_t last = last_character(t);
        if (blank_at((text){t.at + last, t.length - last}) == 0)
            break;
        t.length = last;
    }
    return give(MASU_OK, t.at, t.length);
}

/* ---- vectors of parts ------------------------------------------------------------------------- */

static const int64_t first_word[] = {0};
static const tl_record string_record = {.word_count = 1, .owned_count = 1, .owned = first_word};
static const tl_record word_record = {.word_count = 1};

/* Consumes the vector when it fails. */
static masu_status push_part(tl_object **vector, const char *at, size_t length) {
    tl_object *part = NULL;
    masu_status status = tl__string_new(at, (int64_t)length, &part);
    int64_t word = (int64_t)(intptr_t)part;
    return status != MASU_OK ? status : tl__vector_push(vector, &word);
}

static masu_status split_into(tl_object **out, text t, text by) {
    masu_status status = MASU_OK;
    while (status == MASU_OK && by.length > 0) {
        const char *found = t.length < by.length ? NULL : memmem(t.at, t.length, by.at, by.length);
        if (!found)
            break;
        status = push_part(out, t.at, (size_t)(found - t.at));
        t.length -= (size_t)(found - t.at) + by.length;
        t.at = found + by.length;
    }
    return status != MASU_OK ? status : push_part(out, t.at, t.length);
}

masu_status tl__string_list(const char *const *texts, size_t count, tl_object **out) {
    *out = NULL;
    masu_status status = tl__vector_new(&string_record, out);
    for (size_t i = 0; status == MASU_OK && i < count; i++)
        status = push_part(out, texts[i], strlen(texts[i]));
    if (status != MASU_OK) {
        tl__object_drop(*out);
        *out = NULL;
    }
    return status;
}

static tl_object *finish_vector(masu_status status, tl_object *vector) {
    if (status != MASU_OK)
        tl__object_drop(vector);
    return tl__object_or_raise(status, vector);
}

tl_object *tl_string_split(tl_object *s, tl_object *by) {
    tl_object *out = NULL;
    masu_status status = tl__vector_new(&string_record, &out);
    if (status == MASU_OK)
        status = split_into(&out, text_of(s), text_of(by));
    return finish_vector(status, out);
}

tl_object *tl_string_words(tl_object *s) {
    text t = text_of(s);
    tl_object *out = NULL;
    masu_status status = tl__vector_new(&string_record, &out);
    for (size_t i = 0, from = 0; status == MASU_OK && i < t.length; i += i < t.length) {
        size_t blank = 0;
        while (i < t.length && (blank = blank_at((text){t.at + i, t.length - i})) == 0)
            i++;
        if (i > from)
            status = push_part(&out, t.at + from, i - from);
        i += blank > 0 ? blank - 1 : 0;
        from = i + 1;
    }
    return finish_vector(status, out);
}

/* Most letters of most texts are of one byte. */
static int32_t decode_at(text t, size_t i, size_t *length) {
    *length = 1;
    return (unsigned char)t.at[i] < 0x80 ? t.at[i] : tl__decode_utf8(t.at + i, t.length - i, length);
}

static size_t length_at(text t, size_t i) {
    size_t length;
    (void)decode_at(t, i, &length);
    return length;
}

tl_object *tl_string_chars(tl_object *s) {
    text t = text_of(s);
    tl_object *out = NULL;
    int64_t *words = NULL, count = 0;
    for (size_t i = 0, length; i < t.length; i += length, count++)
        length = length_at(t, i);
    masu_status status = tl__vector_of(&word_record, count, &out, &words);
    for (size_t i = 0, length; status == MASU_OK && i < t.length; i += length)
        *words++ = decode_at(t, i, &length);
    return tl__object_or_raise(status, out);
}

tl_object *tl_string_bytes(tl_object *s) {
    text t = text_of(s);
    tl_object *out = NULL;
    int64_t *words = NULL;
    masu_status status = tl__vector_of(&word_record, (int64_t)t.length, &out, &words);
    for (size_t i = 0; status == MASU_OK && i < t.length; i++)
        words[i] = (unsigned char)t.at[i];
    return tl__object_or_raise(status, out);
}

/* ---- changing -------------------------------------------------------------------------------- */

tl_object *tl_string_replace(tl_object *s, tl_object *old, tl_object *by) {
    text t = text_of(s), wanted = text_of(old), other = text_of(by);
    masu__buffer out = {0};
    const char *found;
    while (wanted.length > 0 && t.length >= wanted.length &&
           (found = memmem(t.at, t.length, wanted.at, wanted.length)) != NULL) {
        masu__buffer_append(&out, t.at, (size_t)(found - t.at));
        masu__buffer_append(&out, other.at, other.length);
        t.length -= (size_t)(found - t.at) + wanted.length;
        t.at = found + wanted.length;
    }
    masu__buffer_append(&out, t.at, t.length);
    return tl__string_of(&out);
}

/* Whether a letter with a case is the next one, over marks that words go on behind, in front of byte `at` or from it
 * on. */
static bool is_cased_beside(text t, size_t at, bool behind) {
    while (behind ? at < t.length : at > 0) {
        size_t length = 1;
        at = behind ? at : last_character((text){t.at, at});
        uint32_t c = (uint32_t)tl__decode_utf8(t.at + at, t.length - at, &length);
        if (!tl__char_is_ignored(c))
            return tl__char_is_cased(c);
        at += behind ? length : 0;
    }
    return false;
}

enum { CAPITAL_SIGMA = 0x3A3, LAST_SIGMA = 0x3C2 };

static tl_object *change_case(tl_object *s, bool upper) {
    text t = text_of(s);
    masu__buffer out = {0};
    for (size_t i = 0, length; i < t.length && !out.failed; i += length) {
        uint32_t letters[UNICODE_CASE_MAX], c = (uint32_t)tl__decode_utf8(t.at + i, t.length - i, &length);
        size_t count = tl__char_case(c, upper, letters);
        bool ends_word = c == CAPITAL_SIGMA && !upper && is_cased_beside(t, i, false) &&
                         !is_cased_beside(t, i + length, true);
        letters[0] = ends_word ? LAST_SIGMA : letters[0];
        for (size_t k = 0; k < count; k++) {
            char bytes[4];
            masu__buffer_append(&out, bytes, tl__encode_utf8(letters[k], bytes));
        }
    }
    return tl__string_of(&out);
}

tl_object *tl_string_to_uppercase(tl_object *s) {
    return change_case(s, true);
}

tl_object *tl_string_to_lowercase(tl_object *s) {
    return change_case(s, false);
}

tl_object *tl_string_repeat(tl_object *s, int64_t count) {
    text t = text_of(s);
    masu__buffer out = {0};
    for (int64_t i = 0; i < count && t.length > 0 && !out.failed; i++)
        masu__buffer_append(&out, t.at, t.length);
    return tl__string_of(&out);
}

/* Whether the text is a number: what to_f32 and to_i64 take. */
bool tl_string_is_number(tl_object *s, bool whole) {
    return tl__string_is_number(s, whole);
}
