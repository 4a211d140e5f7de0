/* check_pieces.h: how a value is shown, texts that are put together. */
#ifndef MASU_LANGUAGE_TYPES_CHECK_PIECES_H
#define MASU_LANGUAGE_TYPES_CHECK_PIECES_H

#include "language/library/library.h"
#include "language/types/check_context.h"

/* How a value is shown: see runtime/value/text.c. */
enum {
    HOW_PRECISION = 16,
    HOW_FILL = 32,
    HOW_ALIGN = 53,
    HOW_PLUS = 55,
    HOW_ZEROS,
    HOW_DEBUG,
    HOW_HEXADECIMAL,
    HOW_BINARY,
    HOW_EXPONENT,
    HOW_CAPITALS,
    HOW_PREFIX,
    HOW_MORE /* checker.how_more says the rest: never part of the number at run time */
};

typedef struct text_pieces { /* texts that are put together */
    checker *c;
    source_span span;
    expr *all; /* NULL: none yet */
} text_pieces;

#define HOW(bit) ((int64_t)(UINT64_C(1) << (bit)))
/* The traits of which `fmt` may be written, the names by which these go, and what their holes say. */
typedef struct check_shown_way {
    library_said trait; /* library_named(LIBRARY_shown_text, trait): the method that yields its text, of any value */
    const char *method;
    int64_t how;
} check_shown_way;
enum { CHECK_SHOWN_COUNT = 7 };
extern const check_shown_way check_shown[CHECK_SHOWN_COUNT];
/* The name by which the `fmt` of an impl of Display, Debug or their like goes; NULL: it is another trait. */
const char *check_shown_by(const char *trait);
bool check_is_shown_by(const char *method); /* it is one of these names */
expr *check_text_node(checker *c, source_span span, const char *text, size_t length);
void check_add_piece(text_pieces *p, expr *e);
bool check_is_plain(const type *t); /* number, bool, char, text, tensor: printed as it is */
bool check_printable(const checker *c, const type *t);

#endif
