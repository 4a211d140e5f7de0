/* lexer.c: names, punctuation, comments. Literals are in literal.c. */
#include "language/syntax/lexer_private.h"

#include <limits.h>
#include <string.h>

#include "base/assert.h"

const char *token_text(token_kind kind) {
    static const char *const texts[TOKEN_KIND_COUNT] = {
#define TOKEN(name, text) text,
        TOKEN_LIST(TOKEN)
#undef TOKEN
#define KEYWORD(name, text) "`" text "`",
            KEYWORD_LIST(KEYWORD)
#undef KEYWORD
    };
    return texts[kind];
}

uint32_t utf8_decode(const char *text, size_t available, uint32_t *point) {
    static const uint32_t smallest[5] = {0, 0, 0x80, 0x800, 0x10000};
    if (available == 0)
        return 0;
    unsigned char first = (unsigned char)text[0];
    if (first < 0x80) {
        *point = first;
        return 1;
    }
    uint32_t length = first < 0xC0 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF8 ? 4 : 0;
    if (length == 0 || length > available)
        return 0;
    uint32_t value = first & (0x7Fu >> length);
    for (uint32_t i = 1; i < length; i++) {
        if (((unsigned char)text[i] & 0xC0) != 0x80)
            return 0;
        value = value << 6 | ((unsigned char)text[i] & 0x3F);
    }
    if (value < smallest[length] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF))
        return 0;
    *point = value;
    return length;
}

static void *grow(lexer *l, void *array, uint32_t count, uint32_t *capacity, size_t size, size_t alignment) {
    if (count < *capacity)
        return array;
    uint32_t larger = *capacity == 0 ? 64 : *capacity * 2;
    void *grown = masu__arena_grow(l->arena, array, *capacity, larger, size, alignment);
    if (grown == NULL) {
        l->out_of_memory = true;
        return NULL;
    }
    *capacity = larger;
    return grown;
}

void lexer_emit(lexer *l, token_kind kind, uint32_t from) {
    token *grown = grow(l, l->list.tokens, l->list.count, &l->token_capacity, sizeof(token), _Alignof(token));
    if (grown == NULL)
        return;
    const token *before = l->list.count > 0 ? &grown[l->list.count - 1] : NULL;
    MASU_DEBUG_ASSERT(before == NULL || (before->offset + before->length <= from && before->kind != TOKEN_END));
    l->list.tokens = grown;
    grown[l->list.count++] = (token){.kind = kind, .offset = from, .length = l->at - from};
}

void lexer_emit_literal(lexer *l, token_kind kind, uint32_t from, literal value) {
    literal *grown = grow(l, l->list.literals, l->list.literal_count, &l->literal_capacity, sizeof(literal),
                          _Alignof(literal));
    uint32_t before = l->list.count;
    lexer_emit(l, kind, from);
    if (grown == NULL || l->list.count == before)
        return;
    l->list.literals = grown;
    grown[l->list.literal_count] = value;
    l->list.tokens[before].literal = l->list.literal_count++;
}

/* ---- blanks and comments --------------------------------------------------------------------- */

static void skip_block_comment(lexer *l) {
    uint32_t from = l->at, depth = 0;
    do {
        if (lexer_peek(l, 0) == '/' && lexer_peek(l, 1) == '*') {
            depth++;
            l->at += 2;
        } else if (lexer_peek(l, 0) == '*' && lexer_peek(l, 1) == '/') {
            depth--;
            l->at += 2;
        } else {
            l->at++;
        }
    } while (depth > 0 && l->at < l->end);
    if (depth > 0) {
        l->at = l->end;
        diagnostics_say(l->diagnostics, lexer_span(l, from, from + 2), SAY(comment_is_never_closed));
    }
}

static void skip_line(lexer *l) {
    const char *newline = memchr(l->text + l->at, '\n', l->end - l->at);
    l->at = newline == NULL ? l->end : (uint32_t)(newline - l->text);
}

static void skip_blanks(lexer *l) {
    while (l->at < l->end) {
        char c = l->text[l->at];
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v')
            l->at++;
        else if (c == '/' && lexer_peek(l, 1) == '/')
            skip_line(l);
        else if (c == '/' && lexer_peek(l, 1) == '*')
            skip_block_comment(l);
        else
            return;
    }
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Letters of the scripts that programs are written in; no punctuation, no blanks. */
bool lexer_is_name_start(uint32_t point) {
    if (point < 0x80)
        return (point >= 'a' && point <= 'z') || (point >= 'A' && point <= 'Z') || point == '_';
    static const struct {
        uint32_t from, to;
    } letters[] = {
        {0xAA, 0xAA},     {0xB5, 0xB5},       {0xBA, 0xBA},       {0xC0, 0xD6},     {0xD8, 0xF6},     {0xF8, 0x2C1},
        {0x370, 0x373},   {0x376, 0x377},     {0x37B, 0x37D},     {0x386, 0x386},   {0x388, 0x481},   {0x48A, 0x556},
        {0x561, 0x587},   {0x5D0, 0x5EA},     {0x620, 0x64A},     {0x904, 0x939},   {0xE01, 0xE30},   {0x10A0, 0x10FA},
        {0x1100, 0x1248}, {0x1D00, 0x1DBF},   {0x1E00, 0x1FBC},   {0x2071, 0x2071}, {0x2090, 0x209C}, {0x2102, 0x2102},
        {0x210A, 0x2113}, {0x2115, 0x2115},   {0x2119, 0x211D},   {0x3041, 0x3096}, {0x30A1, 0x30FF}, {0x3105, 0x318E},
        {0x3400, 0x4DBF}, {0x4E00, 0x9FFF},   {0xAC00, 0xD7A3},   {0xF900, 0xFAFF}, {0xFF21, 0xFF3A}, {0xFF41, 0xFF5A},
        {0xFF66, 0xFF9D}, {0x1D400, 0x1D7CB}, {0x20000, 0x2FA1F},
    };
    for (size_t i = 0; i < sizeof letters / sizeof letters[0]; i++)
        if (point >= letters[i].from && point <= letters[i].to)
            return true;
    return false;
}

static bool is_name_part(uint32_t point) {
    return lexer_is_name_start(point) || (point >= '0' && point <= '9') || (point >= 0x300 && point <= 0x36F) ||
           (point >= 0x2080 && point <= 0x2089);
}

/* KEYWORD_LIST is in the order of the alphabet. */
static token_kind keyword_of(const char *text, uint32_t length) {
    static const struct {
        const char *text;
        uint32_t length;
        token_kind kind;
    } keywords[] = {
#define KEYWORD(name, text) {text, sizeof text - 1, TOKEN_##name},
        KEYWORD_LIST(KEYWORD)
#undef KEYWORD
    };
    enum { COUNT = sizeof keywords / sizeof keywords[0], LENGTH_MIN = 2, LENGTH_MAX = 8 };
    if (length < LENGTH_MIN || length > LENGTH_MAX)
        return TOKEN_NAME;
    size_t i = 0;
    while (i < COUNT && *keywords[i].text < *text)
        i++;
    for (; i < COUNT && *keywords[i].text == *text; i++)
        if (keywords[i].length == length && memcmp(keywords[i].text, text, length) == 0)
            return keywords[i].kind;
    return TOKEN_NAME;
}

static bool is_plain_part(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9');
}

static void lex_name(lexer *l) {
    uint32_t from = l->at, at = from, point;
    while (at < l->end && l->text[at] == '$')
        at++;
    for (;;) {
        while (at < l->end && is_plain_part(l->text[at]))
            at++;
        uint32_t step = at < l->end && l->text[at] < 0 ? utf8_decode(l->text + at, l->end - at, &point) : 0;
        if (step == 0 || !is_name_part(point))
            break;
        at += step;
    }
    l->at = at;
    lexer_emit(l, keyword_of(l->text + from, at - from), from);
}

type_kind scalar_type_of_name(const char *name, size_t length) {
    static const struct {
        char name[8];
        type_kind kind;
    } scalars[] = {
        {"i8", TYPE_I8},      {"i16", TYPE_I16},   {"i32", TYPE_I32},   {"i64", TYPE_I64},     {"u8", TYPE_U8},
        {"u16", TYPE_U16},    {"u32", TYPE_U32},   {"u64", TYPE_U64},   {"usize", TYPE_USIZE}, {"isize", TYPE_I64},
        {"f32", TYPE_F32},    {"f64", TYPE_F64},   {"bool", TYPE_BOOL}, {"char", TYPE_CHAR},   {"String", TYPE_STRING},
        {"str", TYPE_STRING}, {"void", TYPE_VOID},
    };
    if (length == 0 || length >= sizeof scalars[0].name)
        return TYPE_ERROR;
    for (size_t i = 0; i < sizeof scalars / sizeof scalars[0]; i++)
        if (*scalars[i].name == *name && memcmp(scalars[i].name, name, length) == 0 && scalars[i].name[length] == 0)
            return scalars[i].kind;
    return TYPE_ERROR;
}

/* ---- punctuation ----------------------------------------------------------------------------- */

/* A mark of one character that no longer mark begins with. */
static token_kind lone_mark(char c) {
    switch (c) {
    case '(':
        return TOKEN_LEFT_PAREN;
    case ')':
        return TOKEN_RIGHT_PAREN;
    case '[':
        return TOKEN_LEFT_BRACKET;
    case ']':
        return TOKEN_RIGHT_BRACKET;
    case '{':
        return TOKEN_LEFT_BRACE;
    case '}':
        return TOKEN_RIGHT_BRACE;
    case ',':
        return TOKEN_COMMA;
    case ';':
        return TOKEN_SEMICOLON;
    case '?':
        return TOKEN_QUESTION;
    case '@':
        return TOKEN_AT;
    case '#':
        return TOKEN_HASH;
    case '$':
        return TOKEN_DOLLAR;
    default:
        return TOKEN_END;
    }
}

/* Those of one first character side by side, the longest first. */
static const struct {
    char text[4];
    uint8_t length;
    token_kind kind;
} marks[] = {
    {"::", 2, TOKEN_COLON_COLON},
    {":", 1, TOKEN_COLON},
    {"..=", 3, TOKEN_DOT_DOT_EQUAL},
    {"..", 2, TOKEN_DOT_DOT},
    {".", 1, TOKEN_DOT},
    {"==", 2, TOKEN_EQUAL_EQUAL},
    {"=>", 2, TOKEN_FAT_ARROW},
    {"=", 1, TOKEN_EQUAL},
    {"->", 2, TOKEN_ARROW},
    {"-=", 2, TOKEN_MINUS_EQUAL},
    {"-", 1, TOKEN_MINUS},
    {"<<=", 3, TOKEN_SHL_EQUAL},
    {"<<", 2, TOKEN_SHL},
    {"<=", 2, TOKEN_LESS_EQUAL},
    {"<", 1, TOKEN_LESS},
    {">>=", 3, TOKEN_SHR_EQUAL},
    {">>", 2, TOKEN_SHR},
    {">=", 2, TOKEN_GREATER_EQUAL},
    {">", 1, TOKEN_GREATER},
    {"+=", 2, TOKEN_PLUS_EQUAL},
    {"+", 1, TOKEN_PLUS},
    {"*=", 2, TOKEN_STAR_EQUAL},
    {"*", 1, TOKEN_STAR},
    {"&&", 2, TOKEN_AND_AND},
    {"&=", 2, TOKEN_AND_EQUAL},
    {"&", 1, TOKEN_AND},
    {"||", 2, TOKEN_OR_OR},
    {"|=", 2, TOKEN_OR_EQUAL},
    {"|", 1, TOKEN_OR},
    {"!=", 2, TOKEN_NOT_EQUAL},
    {"!", 1, TOKEN_NOT},
    {"/=", 2, TOKEN_SLASH_EQUAL},
    {"/", 1, TOKEN_SLASH},
    {"%=", 2, TOKEN_PERCENT_EQUAL},
    {"%", 1, TOKEN_PERCENT},
    {"^=", 2, TOKEN_CARET_EQUAL},
    {"^", 1, TOKEN_CARET},
};

static bool mark_is_at(const lexer *l, size_t i) {
    return l->end - l->at >= marks[i].length && memcmp(l->text + l->at, marks[i].text, marks[i].length) == 0;
}

static bool lex_mark(lexer *l) {
    uint32_t from = l->at;
    token_kind lone = lone_mark(l->text[from]);
    if (lone != TOKEN_END) {
        l->at++;
        lexer_emit(l, lone, from);
        return true;
    }
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        if (l->text[from] == *marks[i].text && mark_is_at(l, i)) {
            l->at += marks[i].length;
            lexer_emit(l, marks[i].kind, from);
            return true;
        }
    }
    return false;
}

/* One message for a whole run of bytes that begin nothing. */
static void skip_strange(lexer *l) {
    uint32_t from = l->at, point, step = utf8_decode(l->text + l->at, l->end - l->at, &point);
    if (step > 0 && point >= 0x20 && point != 0x7F) {
        l->at += step;
        diagnostic *d = diagnostics_say(l->diagnostics, lexer_span(l, from, l->at), SAY(does_not_belong_to_language),
                                        (int)step, l->text + from);
        if (point >= 0x2018 && point <= 0x201F)
            diagnostics_note(l->diagnostics, d, (source_span){0}, "texts are written between straight quotes: \"");
        return;
    }
    while (l->at < l->end) {
        step = utf8_decode(l->text + l->at, l->end - l->at, &point);
        if (step > 1 ||
            (step == 1 && (point >= 0x20 || point == '\n' || point == '\t' || point == '\r') && point != 0x7F))
            break;
        l->at += step == 0 ? 1 : step;
    }
    diagnostics_say(l->diagnostics, lexer_span(l, from, l->at), SAY(bytes_are_not_utf8));
}

static void lex_token(lexer *l) {
    char c = l->text[l->at];
    uint32_t point;
    if (c >= '0' && c <= '9') {
        bool after_dot = l->list.count > 0 && l->list.tokens[l->list.count - 1].kind == TOKEN_DOT;
        lexer_number(l, after_dot);
    } else if (c == '"') {
        lexer_string(l, false);
    } else if (c == '\'') {
        lexer_quote(l);
    } else if (c == 'b' && (lexer_peek(l, 1) == '"' || lexer_peek(l, 1) == '\'')) {
        uint32_t before = l->list.count;
        l->at++;
        if (l->text[l->at] == '"')
            lexer_string(l, true);
        else
            lexer_byte(l);
        if (l->list.count > before) { /* the b belongs to it */
            l->list.tokens[before].offset--;
            l->list.tokens[before].length++;
        }
    } else if (c == 'r' && (lexer_peek(l, 1) == '"' || lexer_peek(l, 1) == '#') && lexer_raw_string(l)) {
        return;
    } else if ((c == '$' && l->in_quote) ||
               (utf8_decode(l->text + l->at, l->end - l->at, &point) > 0 && lexer_is_name_start(point))) {
        lex_name(l);
    } else if (!lex_mark(l)) {
        skip_strange(l);
    }
}

/* ---- bodies that are not asked for ---------------------------------------------------------- */

/* At a quote: behind the literal; behind the quote of a label. */
static void skip_quoted(lexer *l) {
    char quote = lexer_peek(l, 0);
    bool label = quote == '\'' && lexer_peek(l, 1) != '\\' && lexer_peek(l, 2) != '\'';
    for (l->at++; !label && l->at < l->end && lexer_peek(l, 0) != quote; l->at++)
        l->at += lexer_peek(l, 0) == '\\';
    l->at += !label;
}

/* At `{`. Most letters are passed by: nothing is decided for each of them. */
static void lex_body(lexer *l) {
    static const bool means[UCHAR_MAX + 1] = {['"'] = true, ['\''] = true, ['{'] = true, ['}'] = true, ['\0'] = true};
    uint32_t from = l->at, depth = 0;
    do {
        while (!means[(unsigned char)l->text[l->at]])
            l->at++;
        switch (l->text[l->at]) {
        case '"':
        case '\'':
            skip_quoted(l);
            continue;
        case '{':
            depth++;
            break;
        case '}':
            depth--;
            break;
        default:
            break;
        }
        l->at++;
    } while (depth > 0 && l->at < l->end);
    l->at = l->at < l->end ? l->at : l->end;
    lexer_emit(l, TOKEN_BODY, from);
}

static bool at_head(const lexer *l) {
    return l->list.count > 1 && l->list.tokens[l->list.count - 2].kind == TOKEN_FN &&
           l->list.tokens[l->list.count - 1].kind == TOKEN_NAME;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static masu_status lex_all(lexer *l, bool heads_only, token_list *out) {
    bool in_head = false;
    l->locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (l->locale == (locale_t)0)
        return MASU_ERR_OUT_OF_MEMORY;
    for (skip_blanks(l); l->at < l->end && !l->out_of_memory; skip_blanks(l)) {
        if (in_head && l->text[l->at] == '{') {
            in_head = false;
            lex_body(l);
            continue;
        }
        in_head &= l->text[l->at] != '}'; /* of a trait, whose last method has no body */
        lex_token(l);
        in_head |= heads_only && at_head(l);
    }
    lexer_emit(l, TOKEN_END, l->at);
    freelocale(l->locale);
    if (l->out_of_memory)
        return MASU_ERR_OUT_OF_MEMORY;
    *out = l->list;
    return MASU_OK;
}

/* As many tokens as such a text mostly has: growing would leave as much again behind in the arena. */
static void make_room(lexer *l) {
    enum { BYTES_A_TOKEN = 3 };
    uint32_t wanted = (l->end - l->at) / BYTES_A_TOKEN + 16;
    l->list.tokens = masu__arena_alloc(l->arena, (size_t)wanted * sizeof(token), _Alignof(token));
    l->token_capacity = wanted;
    l->out_of_memory = l->list.tokens == NULL;
}

static lexer lexer_of(const source_file *file, masu__arena *arena, diagnostics *diagnostics) {
    return (lexer){
        .file = file, .arena = arena, .diagnostics = diagnostics, .text = file->text, .end = (uint32_t)file->length};
}

/* A byte order mark. */
static uint32_t mark_length(const source_file *file) {
    return file->length >= 3 && memcmp(file->text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

uint32_t lex_first_line(const source_file *file, uint32_t *begin) {
    const char *at = file->text + (*begin = mark_length(file));
    size_t left = file->length - *begin;
    if (left < 3 || memcmp(at, "#!/", 3) != 0)
        return *begin;
    const char *end = memchr(at, '\n', left);
    return end == NULL ? (uint32_t)file->length : (uint32_t)(end - file->text);
}

masu_status lex_source(const source_file *file, masu__arena *arena, diagnostics *diagnostics, token_list *out) {
    lexer l = lexer_of(file, arena, diagnostics);
    uint32_t begin;
    l.at = lex_first_line(file, &begin);
    make_room(&l);
    return lex_all(&l, false, out);
}

masu_status lex_heads(const source_file *file, masu__arena *arena, diagnostics *diagnostics, token_list *out) {
    lexer l = lexer_of(file, arena, diagnostics);
    return lex_all(&l, true, out);
}

masu_status lex_part(const source_file *file, uint32_t offset, uint32_t length, masu__arena *arena,
                     diagnostics *diagnostics, token_list *out) {
    lexer l = lexer_of(file, arena, diagnostics);
    l.at = offset;
    l.end = offset + length;
    make_room(&l);
    return lex_all(&l, false, out);
}

masu_status lex_quote(const source_file *file, masu__arena *arena, diagnostics *diagnostics, token_list *out) {
    lexer l = lexer_of(file, arena, diagnostics);
    l.in_quote = true;
    make_room(&l);
    return lex_all(&l, false, out);
}
