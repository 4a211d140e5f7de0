/* lexer.h: text to tokens.
 *
 * All tokens of a text are made at once, in one array that ends with TOKEN_END. Comments and blanks
 * leave nothing behind; anything but a token is reported, and skipped or made the nearest token, so
 * that the parser sees a program without holes.
 *
 * What must stay true (asserted as each token is added):
 *     offsets grow; tokens do not overlap; tokens[count - 1].kind == TOKEN_END and no other one is
 *
 * `>>`, `>>=`, `&&` and `||` are one token each: the parser splits one where types, references or
 * closures need it. `<-` is `<` and `-` side by side.
 */
#ifndef MASU_LANGUAGE_LEXER_H
#define MASU_LANGUAGE_LEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "language/diagnose/messages.h"
#include "language/diagnose/source.h"
#include "language/syntax/types.h"
#include <masu/status.h>

/* TOKEN(name, text): text is how the token is written, or what it is called in messages. */
#define TOKEN_LIST(TOKEN)             \
    TOKEN(END, "the end of the file") \
    TOKEN(NAME, "a name")             \
    TOKEN(INT, "an integer")          \
    TOKEN(FLOAT, "a number")          \
    TOKEN(CHAR, "a character")        \
    TOKEN(STRING, "a string")         \
    TOKEN(LABEL, "a label")           \
    TOKEN(BODY, "a body")             \
    TOKEN(LEFT_PAREN, "`(`")          \
    TOKEN(RIGHT_PAREN, "`)`")         \
    TOKEN(LEFT_BRACKET, "`[`")        \
    TOKEN(RIGHT_BRACKET, "`]`")       \
    TOKEN(LEFT_BRACE, "`{`")          \
    TOKEN(RIGHT_BRACE, "`}`")         \
    TOKEN(COMMA, "`,`")               \
    TOKEN(SEMICOLON, "`;`")           \
    TOKEN(COLON, "`:`")               \
    TOKEN(COLON_COLON, "`::`")        \
    TOKEN(ARROW, "`->`")              \
    TOKEN(FAT_ARROW, "`=>`")          \
    TOKEN(DOT, "`.`")                 \
    TOKEN(DOT_DOT, "`..`")            \
    TOKEN(DOT_DOT_EQUAL, "`..=`")     \
    TOKEN(QUESTION, "`?`")            \
    TOKEN(AT, "`@`")                  \
    TOKEN(HASH, "`#`")                \
    TOKEN(DOLLAR, "`$`")              \
    TOKEN(PLUS, "`+`")                \
    TOKEN(MINUS, "`-`")               \
    TOKEN(STAR, "`*`")                \
    TOKEN(SLASH, "`/`")               \
    TOKEN(PERCENT, "`%`")             \
    TOKEN(AND, "`&`")                 \
    TOKEN(OR, "`|`")                  \
    TOKEN(CARET, "`^`")               \
    TOKEN(NOT, "`!`")                 \
    TOKEN(SHL, "`<<`")                \
    TOKEN(SHR, "`>>`")                \
    TOKEN(AND_AND, "`&&`")            \
    TOKEN(OR_OR, "`||`")              \
    TOKEN(EQUAL, "`=`")               \
    TOKEN(PLUS_EQUAL, "`+=`")         \
    TOKEN(MINUS_EQUAL, "`-=`")        \
    TOKEN(STAR_EQUAL, "`*=`")         \
    TOKEN(SLASH_EQUAL, "`/=`")        \
    TOKEN(PERCENT_EQUAL, "`%=`")      \
    TOKEN(AND_EQUAL, "`&=`")          \
    TOKEN(OR_EQUAL, "`|=`")           \
    TOKEN(CARET_EQUAL, "`^=`")        \
    TOKEN(SHL_EQUAL, "`<<=`")         \
    TOKEN(SHR_EQUAL, "`>>=`")         \
    TOKEN(EQUAL_EQUAL, "`==`")        \
    TOKEN(NOT_EQUAL, "`!=`")          \
    TOKEN(LESS, "`<`")                \
    TOKEN(LESS_EQUAL, "`<=`")         \
    TOKEN(GREATER, "`>`")             \
    TOKEN(GREATER_EQUAL, "`>=`")

/* KEYWORD(name, text): also tokens. */
#define KEYWORD_LIST(KEYWORD)     \
    KEYWORD(AS, "as")             \
    KEYWORD(BREAK, "break")       \
    KEYWORD(CONST, "const")       \
    KEYWORD(CONTINUE, "continue") \
    KEYWORD(ELSE, "else")         \
    KEYWORD(ENUM, "enum")         \
    KEYWORD(FALSE, "false")       \
    KEYWORD(FN, "fn")             \
    KEYWORD(FOR, "for")           \
    KEYWORD(IF, "if")             \
    KEYWORD(IMPL, "impl")         \
    KEYWORD(IN, "in")             \
    KEYWORD(LET, "let")           \
    KEYWORD(LOOP, "loop")         \
    KEYWORD(MATCH, "match")       \
    KEYWORD(MOD, "mod")           \
    KEYWORD(MUT, "mut")           \
    KEYWORD(PUB, "pub")           \
    KEYWORD(RETURN, "return")     \
    KEYWORD(SELF, "self")         \
    KEYWORD(STRUCT, "struct")     \
    KEYWORD(TRAIT, "trait")       \
    KEYWORD(TRUE, "true")         \
    KEYWORD(USE, "use")           \
    KEYWORD(WHILE, "while")

typedef enum token_kind {
#define TOKEN(name, text) TOKEN_##name,
    TOKEN_LIST(TOKEN)
#undef TOKEN
#define KEYWORD(name, text) TOKEN_##name,
        KEYWORD_LIST(KEYWORD)
#undef KEYWORD
            TOKEN_KIND_COUNT
} token_kind;

typedef struct token {
    token_kind kind;
    uint32_t offset, length;
    uint32_t literal; /* of numbers, characters, strings: index into literals */
} token;

typedef struct literal {
    type_kind suffix; /* TYPE_VOID: none */
    union {
        uint64_t integer; /* TOKEN_INT; also the code point of TOKEN_CHAR */
        double floating;  /* TOKEN_FLOAT */
        struct {
            const char *data; /* escapes resolved, a zero behind it */
            size_t length;
        } string;
    };
} literal;

typedef struct token_list {
    token *tokens;
    uint32_t count;
    literal *literals;
    uint32_t literal_count;
} token_list;

/* For messages: "`+`", "`let`", "a name", … */
const char *token_text(token_kind kind);

/* Where the first token may be: behind a byte order mark, and behind a line `#!/…` that says who runs the file, which
 * begins at *begin. */
uint32_t lex_first_line(const source_file *file, uint32_t *begin);

/* Everything in *out lives in the arena. MASU_OK also with errors; MASU_ERR_OUT_OF_MEMORY.
 * O(length). */
masu_status lex_source(const source_file *file, masu__arena *arena, diagnostics *diagnostics, token_list *out);
/* The same, but the body of each `fn NAME…` is one TOKEN_BODY, from its `{` to its `}`. Only of texts whose brackets
 * match: the language's own. */
masu_status lex_heads(const source_file *file, masu__arena *arena, diagnostics *diagnostics, token_list *out);
/* The tokens of a part of the text: what TOKEN_BODY left out. */
masu_status lex_part(const source_file *file, uint32_t offset, uint32_t length, masu__arena *arena,
                     diagnostics *diagnostics, token_list *out);

/* All of a quote's text (quote.h). */
masu_status lex_quote(const source_file *file, masu__arena *arena, diagnostics *diagnostics, token_list *out);

/* "f32" to TYPE_F32, for the names of scalar types; TYPE_ERROR for any other name. */
type_kind scalar_type_of_name(const char *name, size_t length);

/* Length in bytes of the well-formed UTF-8 character at text, its code point in *point; 0 when
 * there is none. */
uint32_t utf8_decode(const char *text, size_t available, uint32_t *point);

#endif
