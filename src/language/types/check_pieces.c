/* check_pieces.c: texts that are put together, and which values are printed as they are. */
#include <string.h>

#include "language/library/library.h"
#include "language/types/check_context.h"
#include "language/types/check_dyn_types.h"
#include "language/types/check_operation.h"
#include "language/types/check_pieces.h"
#include "language/types/check_scopes.h"

/* ---- what a type says itself ------------------------------------------------------------------------ */

const check_shown_way check_shown[CHECK_SHOWN_COUNT] = {
    {SAID_DEBUG, "<debug>", HOW(HOW_DEBUG)},
    {SAID_LOWER_HEX, "<lower hex>", HOW(HOW_HEXADECIMAL)},
    {SAID_UPPER_HEX, "<upper hex>", HOW(HOW_HEXADECIMAL) | HOW(HOW_CAPITALS)},
    {SAID_BINARY, "<binary>", HOW(HOW_BINARY)},
    {SAID_LOWER_EXP, "<lower exp>", HOW(HOW_EXPONENT)},
    {SAID_UPPER_EXP, "<upper exp>", HOW(HOW_EXPONENT) | HOW(HOW_CAPITALS)},
    {SAID_DISPLAY, "fmt", 0},
};

const char *check_shown_by(const char *trait) {
    const library_said said = library_said_of(LIBRARY_trait_form, trait);
    size_t i = 0;
    while (i < CHECK_SHOWN_COUNT && check_shown[i].trait != said)
        i++;
    return i < CHECK_SHOWN_COUNT ? check_shown[i].method : NULL;
}

/* it has one of them */
static bool check_shows_itself(const checker *c, const struct_item *s) {
    const struct_item *owner = s->template != NULL ? s->template : s;
    size_t i = 0;
    while (i < CHECK_SHOWN_COUNT && check_find_method(c, owner, check_shown[i].method) == NULL)
        i++;
    return i < CHECK_SHOWN_COUNT;
}

bool check_is_shown_by(const char *method) {
    size_t i = 0;
    while (i < CHECK_SHOWN_COUNT && strcmp(check_shown[i].method, method) != 0)
        i++;
    return i < CHECK_SHOWN_COUNT;
}

/* ---- what is printed ------------------------------------------------------------------------------- */

bool check_is_plain(const type *t) {
    return type_is_numeric(t) || t->kind == TYPE_BOOL || t->kind == TYPE_CHAR || t->kind == TYPE_STRING ||
           t->kind == TYPE_TENSOR;
}

static type_verdict is_not_shown(const type *t, void *context) {
    checker *c = context;
    if (check_is_plain(t) || type_is_silent(t) || t->kind == TYPE_OPEN)
        return TYPE_LACKS;
    if (t->kind == TYPE_STRUCT && t->structure->closure != NULL)
        return TYPE_HAS;
    if (check_is_dyn(t))
        return check_dyn_is_shown(c, t) ? TYPE_LACKS : TYPE_HAS;
    if (t->kind == TYPE_STRUCT && check_shows_itself(c, t->structure))
        return TYPE_LACKS;
    return t->kind == TYPE_VEC || t->kind == TYPE_TUPLE || t->kind == TYPE_STRUCT ||
                   (t->kind == TYPE_REFERENCE && !type_is_slice(t))
               ? TYPE_LOOK_INSIDE
               : TYPE_HAS;
}

expr *check_text_node(checker *c, source_span span, const char *text, size_t length) {
    expr *e = check_new(c, EXPR_STRING, span, check_scalar(c, TYPE_STRING));
    e->string.data = text;
    e->string.length = length;
    return e;
}

void check_add_piece(text_pieces *p, expr *e) {
    expr *both[2] = {p->all, e};
    p->all = p->all == NULL ? e : check_new_abi(p->c, TL_FN_tl_string_concat, p->span, both, 2);
}

bool check_printable(const checker *c, const type *t) {
    return !type_any(c->types, t, is_not_shown, (void *)c);
}
