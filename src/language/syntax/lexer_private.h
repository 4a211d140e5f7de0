/* lexer_private.h: what lexer.c and literal.c share. */
#ifndef MASU_LANGUAGE_LEXER_PRIVATE_H
#define MASU_LANGUAGE_LEXER_PRIVATE_H

#include <locale.h>

#include "language/syntax/lexer.h"

/* The first string over several lines, with all that was there before it: the one whose `"` is missing, should a later
 * one not end before the file does. */
typedef struct long_string {
    bool seen, blamed;
    uint32_t at, tokens, literals;
    diagnostics before;
} long_string;

typedef struct lexer {
    const source_file *file;
    masu__arena *arena;
    diagnostics *diagnostics;
    const char *text;
    uint32_t at, end;
    token_list list;
    uint32_t token_capacity, literal_capacity;
    locale_t locale; /* "C": numbers read the same everywhere */
    bool out_of_memory;
    bool in_bytes; /* b"…", b'…': \xff is one byte */
    bool in_quote; /* names may begin with `$` */
    long_string long_string;
} lexer;

static inline char lexer_peek(const lexer *l, uint32_t ahead) {
    return l->end - l->at > ahead ? l->text[l->at + ahead] : '\0';
}
static inline source_span lexer_span(const lexer *l, uint32_t from, uint32_t to) {
    return source_span_make(l->file, from, to - from);
}

/* Each is called at the literal's first character and leaves l->at behind it. */
void lexer_number(lexer *l, bool digits_only);
void lexer_string(lexer *l, bool bytes); /* bytes: a list of u8 */
bool lexer_raw_string(lexer *l);         /* r"…", r#"…"#; false: none is here */
void lexer_byte(lexer *l);               /* 'a' behind a b */
void lexer_quote(lexer *l);              /* a character or a label */

void lexer_emit(lexer *l, token_kind kind, uint32_t from);
void lexer_emit_literal(lexer *l, token_kind kind, uint32_t from, literal value);
bool lexer_is_name_start(uint32_t point);

#endif
