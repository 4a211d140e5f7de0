/* check_choose.h: which form of an operation a call means (check_choose.c). */
#ifndef MASU_LANGUAGE_CHECK_CHOOSE_H
#define MASU_LANGUAGE_CHECK_CHOOSE_H

#include "language/types/check_context.h"

/* A row of abi.def, or a function that the library or an impl has. Neither: no form takes so many arguments. */
typedef struct form {
    function_item *written; /* NULL: a row, or nothing */
    tl_abi_index row;       /* TL_FN_COUNT: written, or nothing */
} form;

typedef enum offer_kind {
    OFFER_TYPE,     /* a value of `type` */
    OFFER_WHOLE,    /* 2: a number without a type of its own */
    OFFER_REAL,     /* 0.5 */
    OFFER_BRACKET,  /* [a, b], which may become a list or a tensor */
    OFFER_TUPLE,    /* (3, 3) */
    OFFER_FUNCTION, /* |x| … */
    OFFER_UNKNOWN   /* whatever is wanted */
} offer_kind;

/* The argument of a call for one parameter. */
typedef struct offer {
    offer_kind kind;
    const type *type;
    const expr *e; /* of a bracket: where its items are; NULL: not known */
} offer;

/* 0.5, -0.5 */
static inline bool offer_is_real(const expr *e) {
    while (e->kind == EXPR_UNARY && e->unary.op == UNARY_NEG)
        e = e->unary.operand;
    return e->kind == EXPR_FLOAT;
}

/* The candidates of a call. Rows: those of (scope, name), method: parameter 0 is the receiver. */
typedef struct choice {
    const char *scope, *name; /* scope NULL: no rows */
    bool method;              /* written `x.name(…)`: forms with a receiver only */
    function_item *written;   /* the first of them; the others follow in its bucket; NULL: none */
    struct_item *owner;       /* whose impls they are to be; NULL: all */
    function_item *of_any;    /* the first of `impl<T> Trait for &T` beside it; NULL: none */
    const struct call_views *views;
} choice;

/* The form that takes these arguments best; the nearest where none takes them; NULL and TL_FN_COUNT where there are
 * only rows, and none takes so many. */
form check_choose_offered(checker *c, const choice *of, const offer *offers, uint32_t count);

/* The forms that take so many arguments. */
uint32_t check_count_forms(const checker *c, const choice *of, uint32_t count);
/* The parameter takes a tensor, or a number in place of one. */
bool check_wants_tensor(checker *c, const function_item *f, uint32_t at);
/* check_overload.c: of a call that is being checked. Arguments that have types of their own are checked where several
 * forms take so many. */
form check_choose(checker *c, const choice *of, expr *e);

#endif
