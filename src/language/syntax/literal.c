/* literal.c: numbers, characters and strings as they are written. */
#include <stdlib.h>
#include <string.h>

#include "language/syntax/lexer_private.h"

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static int digit_value(char c) {
    if (is_digit(c))
        return c - '0';
    char low = (char)(c | 0x20);
    return low >= 'a' && low <= 'f' ? low - 'a' + 10 : 99;
}

/* ---- numbers --------------------------------------------------------------------------------- */

static void skip_digits(lexer *l) {
    while (is_digit(lexer_peek(l, 0)) || lexer_peek(l, 0) == '_')
        l->at++;
}

/* i32 of 5i32, or nothing. Reports letters that are not a type of numbers. */
static type_kind number_suffix(lexer *l, uint32_t number_from) {
    uint32_t from = l->at;
    while (is_letter(lexer_peek(l, 0)) || is_digit(lexer_peek(l, 0)))
        l->at++;
    if (l->at == from)
        return TYPE_VOID;
    type_kind kind = scalar_type_of_name(l->text + from, l->at - from);
    if (kind < TYPE_I8 || kind > TYPE_F64) {
        diagnostic *d = diagnostics_say(l->diagnostics, lexer_span(l, from, l->at), SAY(is_no_suffix_of_number),
                                        (int)(l->at - from), l->text + from);
        diagnostics_note(l->diagnostics, d, lexer_span(l, number_from, l->at),
                         "a number may end in i8 … i64, u8 … u64, usize, f32 or f64");
        return TYPE_VOID;
    }
    return kind;
}

static void emit_integer(lexer *l, uint32_t from, uint32_t digits, uint32_t base) {
    uint64_t value = 0;
    bool too_large = false;
    while (digit_value(lexer_peek(l, 0)) < (int)base || lexer_peek(l, 0) == '_') {
        char c = l->text[l->at++];
        if (c != '_') {
            too_large |= __builtin_mul_overflow(value, (uint64_t)base, &value);
            too_large |= __builtin_add_overflow(value, (uint64_t)digit_value(c), &value);
        }
    }
    if (l->at == digits)
        diagnostics_say(l->diagnostics, lexer_span(l, from, l->at), SAY(digits_are_missing_after), l->text + from);
    type_kind suffix = number_suffix(l, from);
    if (too_large) {
        diagnostics_say(l->diagnostics, lexer_span(l, from, l->at), SAY(integer_does_not_fit_64_bits));
        value = 0;
    }
    if (suffix == TYPE_F32 || suffix == TYPE_F64)
        lexer_emit_literal(l, TOKEN_FLOAT, from, (literal){.suffix = suffix, .floating = (double)value});
    else
        lexer_emit_literal(l, TOKEN_INT, from, (literal){.suffix = suffix, .integer = value});
}

/* The value of text[from .. to) without its underscores. */
static double float_value(lexer *l, uint32_t from, uint32_t to) {
    char few[64], *digits = few;
    if (to - from >= sizeof few) {
        digits = masu__arena_alloc(l->arena, to - from + 1, 1);
        if (digits == NULL) {
            l->out_of_memory = true;
            return 0;
        }
    }
    uint32_t count = 0;
    for (uint32_t i = from; i < to; i++)
        if (l->text[i] != '_')
            digits[count++] = l->text[i];
    digits[count] = 0;
    return strtod_l(digits, NULL, l->locale);
}

static bool exponent_follows(const lexer *l) {
    if ((lexer_peek(l, 0) | 0x20) != 'e')
        return false;
    char next = lexer_peek(l, 1);
    return is_digit(next) || ((next == '+' || next == '-') && is_digit(lexer_peek(l, 2)));
}

static void lex_decimal(lexer *l) {
    uint32_t from = l->at;
    skip_digits(l);
    bool floating = false;
    char after_dot = lexer_peek(l, 1);
    if (lexer_peek(l, 0) == '.' && after_dot != '.' && !is_letter(after_dot) && (unsigned char)after_dot < 0x80) {
        floating = true;
        l->at++;
        skip_digits(l);
    }
    if (exponent_follows(l)) {
        floating = true;
        l->at += 2;
        skip_digits(l);
    }
    if (!floating) {
        l->at = from;
        emit_integer(l, from, from, 10);
        return;
    }
    double value = float_value(l, from, l->at);
    type_kind suffix = number_suffix(l, from);
    if (suffix != TYPE_VOID && suffix != TYPE_F32 && suffix != TYPE_F64) {
        diagnostics_say(l->diagnostics, lexer_span(l, from, l->at), SAY(number_fraction_or_exponent_is_f32));
        suffix = TYPE_VOID;
    }
    lexer_emit_literal(l, TOKEN_FLOAT, from, (literal){.suffix = suffix, .floating = value});
}

void lexer_number(lexer *l, bool digits_only) {
    uint32_t from = l->at;
    char second = (char)(lexer_peek(l, 1) | 0x20);
    if (digits_only) { /* the 0 of t.0.1 is not part of a fraction */
        emit_integer(l, from, from, 10);
    } else if (l->text[from] == '0' && (second == 'x' || second == 'b' || second == 'o')) {
        l->at += 2;
        emit_integer(l, from, l->at, second == 'x' ? 16 : second == 'b' ? 2 : 8);
    } else {
        lex_decimal(l);
    }
}

/* ---- characters and strings ------------------------------------------------------------------ */

static uint32_t utf8_encode(uint32_t point, char *out) {
    if (point < 0x80) {
        out[0] = (char)point;
        return 1;
    }
    uint32_t length = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    for (uint32_t i = length - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (point & 0x3F));
        point >>= 6;
    }
    out[0] = (char)((0xF00u >> length & 0xFF) | point);
    return length;
}

/* \x41 and \u{1F600}; l->at is behind the x or u. */
static bool number_escape(lexer *l, bool braces, uint32_t *point) {
    uint32_t value = 0, digits = 0, limit = braces ? 6 : 2;
    if (braces && lexer_peek(l, 0) != '{')
        return false;
    l->at += braces;
    for (; digits < limit && digit_value(lexer_peek(l, 0)) < 16; digits++)
        value = value * 16 + (uint32_t)digit_value(l->text[l->at++]);
    if (braces) {
        if (lexer_peek(l, 0) != '}')
            return false;
        l->at++;
    }
    *point = value;
    return digits >= (braces ? 1u : 2u) && value <= 0x10FFFF && !(value >= 0xD800 && value <= 0xDFFF) &&
           (braces ? !l->in_bytes : value < 0x80 || l->in_bytes);
}

/* At the character behind a backslash. */
static uint32_t escape(lexer *l) {
    static const char letters[] = "ntr0\\\"'";
    static const char values[] = "\n\t\r\0\\\"'";
    uint32_t from = l->at - 1, point = 0;
    char c = lexer_peek(l, 0);
    const char *found = c == 0 ? NULL : strchr(letters, c);
    if (found != NULL) {
        l->at++;
        return (unsigned char)values[found - letters];
    }
    if (c == 'x' || c == 'u') {
        l->at++;
        if (number_escape(l, c == 'u', &point))
            return point;
    } else if (l->at < l->end && c != '\n') {
        uint32_t step = utf8_decode(l->text + l->at, l->end - l->at, &point);
        l->at += step == 0 ? 1 : step;
    }
    diagnostic *d = diagnostics_say(l->diagnostics, lexer_span(l, from, l->at), SAY(this_escape_is_not_known));
    diagnostics_note(l->diagnostics, d, (source_span){0}, "escapes are \\n \\t \\r \\0 \\\\ \\\" \\' \\x41 \\u{1F600}");
    return '?';
}

/* One character of a literal, escapes resolved, appended to out. Bytes that are no UTF-8 are
 * reported once a string. */
static uint32_t literal_character(lexer *l, char *out, bool *strange) {
    uint32_t point, step = utf8_decode(l->text + l->at, l->end - l->at, &point);
    if (step == 0) {
        if (!*strange)
            diagnostics_say(l->diagnostics, lexer_span(l, l->at, l->at + 1), SAY(byte_is_not_utf8));
        *strange = true;
        point = '?';
        step = 1;
    }
    l->at += step;
    if (point == '\\') {
        point = escape(l);
        if (l->in_bytes) {
            out[0] = (char)point;
            return 1;
        }
    }
    return utf8_encode(point, out);
}

/* A backslash at the end of a line joins it to the first character of the next. */
static bool skip_line_join(lexer *l) {
    uint32_t at = l->at + 1;
    if (l->text[l->at] != '\\' || at >= l->end)
        return false;
    if (l->text[at] == '\r' && at + 1 < l->end)
        at++;
    if (l->text[at] != '\n')
        return false;
    while (at < l->end && strchr(" \t\r\n", l->text[at]) != NULL && l->text[at] != 0)
        at++;
    l->at = at;
    return true;
}

/* r"…" and r#"…"#: as it is written. */
bool lexer_raw_string(lexer *l) {
    uint32_t from = l->at, hashes = 0;
    while (lexer_peek(l, 1 + hashes) == '#')
        hashes++;
    if (lexer_peek(l, 1 + hashes) != '"')
        return false;
    uint32_t start = l->at + 2 + hashes;
    for (l->at = start; l->at < l->end; l->at++) {
        uint32_t closing = 0;
        while (l->text[l->at] == '"' && closing < hashes && lexer_peek(l, 1 + closing) == '#')
            closing++;
        if (l->text[l->at] == '"' && closing == hashes)
            break;
    }
    size_t length = l->at - start;
    char *data = masu__arena_strndup(l->arena, l->text + start, length);
    if (data == NULL) {
        l->out_of_memory = true;
        return true;
    }
    if (l->at < l->end)
        l->at += 1 + hashes;
    else
        diagnostics_say(l->diagnostics, lexer_span(l, from, from + 1), SAY(string_is_never_closed));
    lexer_emit_literal(l, TOKEN_STRING, from, (literal){.suffix = TYPE_VOID, .string = {data, length}});
    return true;
}

static long_string before_string(const lexer *l) {
    return (long_string){.seen = true,
                         .at = l->at,
                         .tokens = l->list.count,
                         .literals = l->list.literal_count,
                         .before = *l->diagnostics};
}

/* Whether the text of a closed string looks as if its `"` had been forgotten. */
static bool runs_on(const char *from, const char *to) {
    const char *line = memchr(from, '\n', (size_t)(to - from));
    return line != NULL && line[-1] != '\\';
}

/* No string ends here: the one that has no end is closed at the end of its line, in front of what closes a statement,
 * and all is read again from there. */
static void close_string(lexer *l, const long_string *open, bool bytes) {
    const char *text = l->text + open->at, *line = memchr(text, '\n', l->end - open->at),
               *to = line ? line : l->text + l->end;
    while (to > text + 1 && strchr(" \t\r;),", to[-1]) != NULL)
        to--;
    l->long_string.blamed = true;
    l->list.count = open->tokens;
    l->list.literal_count = open->literals;
    diagnostics_return_to(l->diagnostics, &open->before);
    diagnostics_say(l->diagnostics, lexer_span(l, open->at, open->at + 1), SAY(string_is_never_closed));
    size_t length = (size_t)(to - text - 1);
    char *data = masu__arena_strndup(l->arena, text + 1, length);
    l->out_of_memory |= data == NULL;
    l->at = (uint32_t)(to - l->text);
    lexer_emit_literal(l, TOKEN_STRING, open->at,
                       (literal){.suffix = bytes ? TYPE_U8 : TYPE_VOID, .string = {data, length}});
}

void lexer_string(lexer *l, bool bytes) {
    long_string open = before_string(l);
    uint32_t from = l->at++;
    const char *scan = l->text + l->at, *stop = l->text + l->end;
    while (scan < stop && *scan != '"')
        scan += *scan == '\\' && scan + 1 < stop ? 2 : 1;
    if (scan == stop && !l->long_string.blamed) {
        close_string(l, l->long_string.seen ? &l->long_string : &open, bytes);
        return;
    }
    if (!l->long_string.seen && runs_on(l->text + l->at, scan))
        l->long_string = open;
    /* An escape is never shorter than the character it means. */
    char *data = masu__arena_alloc(l->arena, (size_t)(scan - (l->text + l->at)) + 5, 1);
    if (data == NULL) {
        l->out_of_memory = true;
        return;
    }
    size_t length = 0;
    bool strange = false;
    while (l->at < l->end && l->text[l->at] != '"') {
        if (!skip_line_join(l)) {
            l->in_bytes = bytes;
            length += literal_character(l, data + length, &strange);
            l->in_bytes = false;
        }
    }
    if (l->at < l->end)
        l->at++;
    else
        diagnostics_say(l->diagnostics, lexer_span(l, from, from + 1), SAY(string_is_never_closed));
    data[length] = 0;
    lexer_emit_literal(l, TOKEN_STRING, from,
                       (literal){.suffix = bytes ? TYPE_U8 : TYPE_VOID, .string = {data, length}});
}

/* 'a' is a character, 'a without the second quote a label. */
static bool label_follows(const lexer *l) {
    if (!is_letter(lexer_peek(l, 1)))
        return false;
    uint32_t ahead = 2;
    while (is_letter(lexer_peek(l, ahead)) || is_digit(lexer_peek(l, ahead)))
        ahead++;
    return lexer_peek(l, ahead) != '\'';
}

void lexer_byte(lexer *l) {
    uint32_t before = l->list.count;
    l->in_bytes = true;
    lexer_quote(l);
    l->in_bytes = false;
    if (l->list.count > before && l->list.tokens[before].kind == TOKEN_CHAR) {
        l->list.tokens[before].kind = TOKEN_INT;
        l->list.literals[l->list.tokens[before].literal].suffix = TYPE_U8;
    }
}

void lexer_quote(lexer *l) {
    uint32_t from = l->at;
    if (l->text[from - (from > 0)] != 'b' && label_follows(l)) {
        l->at += 2;
        while (is_letter(lexer_peek(l, 0)) || is_digit(lexer_peek(l, 0)))
            l->at++;
        lexer_emit(l, TOKEN_LABEL, from);
        return;
    }
    l->at++;
    char encoded[4];
    uint32_t point = 0, count = 0;
    bool strange = false;
    while (l->at < l->end && l->text[l->at] != '\'' && l->text[l->at] != '\n') {
        uint32_t length = literal_character(l, encoded, &strange);
        if (count++ == 0 && l->in_bytes && length == 1)
            point = (unsigned char)encoded[0];
        else if (count == 1)
            utf8_decode(encoded, length, &point);
    }
    bool closed = l->at < l->end && l->text[l->at] == '\'';
    l->at += closed;
    if (!closed) {
        diagnostics_say(l->diagnostics, lexer_span(l, from, l->at), SAY(character_is_never_closed));
    } else if (count != 1) {
        diagnostic *d = diagnostics_say(l->diagnostics, lexer_span(l, from, l->at),
                                        SAY(character_literal_holds_one_character));
        diagnostics_note(l->diagnostics, d, (source_span){0}, "texts are written in double quotes");
    }
    lexer_emit_literal(l, TOKEN_CHAR, from, (literal){.suffix = TYPE_VOID, .integer = point});
}
