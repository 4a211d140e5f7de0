/* check_convert.h: what fits where; conversions as nodes; what is decided by a later use.
 *
 *     check_fits.c      what fits as it is; check_convert.c: what has to be converted
 *     check_literal.c   literals as type variables
 *     check_infer*.c    brackets, rows and pairs that are what their uses make of them
 */
#ifndef MASU_LANGUAGE_CHECK_CONVERT_H
#define MASU_LANGUAGE_CHECK_CONVERT_H

#include "language/front/check_context.h"

/* s.parse() and x.into() where nothing said yet as what. */
typedef struct late_parse {
    expr *e;
    function_item *function;
    const type *parsed, *error; /* error NULL: into */
} late_parse;

typedef struct late_parses {
    late_parse *items;
    uint32_t count, capacity;
} late_parses;

typedef enum number_conversion { NUMBER_KNOWN, NUMBER_CONVERTED, NUMBER_MISFITS } number_conversion;

typedef struct coerce_reason {
    source_span span;
    const char *text;
} coerce_reason;

/* What is not known yet of the function that is being checked.
 *     has_open is false  ⟺  no type in its tree may be open
 *     parses is empty when its body is closed */
typedef struct check_inference {
    bool has_open;        /* the function made a TYPE_OPEN or an open number */
    bool is_closing;      /* the body has been read: what is open now becomes what it is otherwise */
    source_span deciding; /* the use that is being checked: what decides an open number */
    uint32_t lost_calls;  /* while open types are closed: calls around that were reported */
    late_parses parses;   /* see check_builtin.c */
} check_inference;

void check_int(checker *c, expr *e, const type *expected, bool negative);
void check_float(checker *c, expr *e, const type *expected);
bool check_negative_literal(checker *c, expr *e, const type *expected);
/* Resolved types become one; two that are known have to be. */
bool check_unify_numbers(checker *c, const type *a, const type *b);
/* An open number becomes what it would become in the end. */
const type *check_settle_number(checker *c, const type *t);
/* Where one of the (resolved) types is an open number; else NUMBER_KNOWN. */
number_conversion check_convert_number(checker *c, expr **slot, const type *from, const type *to);
/* Whether a part of it may be anything, not only any number. */
bool check_is_vague(checker *c, const type *t);
bool check_is_no_conversion(checker *c, const expr *e);
/* e has its type for good; `before` was open, or e is a conversion. */
void check_close_number(checker *c, expr *e, const type *before);
/* Says of a number that began without a type where that was, and what decided it. */
void check_note_literal(checker *c, diagnostic *d, const type *t);
/* Writes expr.becomes into the body of f, which nothing has checked yet. */
void check_infer(checker *c, function_item *f);
/* What is known of the bracket that e is; NULL: nothing. */
const struct open_form *check_form_of(const expr *e);
/* Where the bracket is that e is a name of, and the use that made it what it is. */
void check_note_bracket(checker *c, diagnostic *d, const expr *e);
bool check_occurs(const type *open, const type *in);
void check_unbox(checker *c, expr **slot); /* a Box becomes what is in it */
/* Without a conversion; decides open types. */
bool check_fits(checker *c, const type *from, const type *to);
bool check_widens(const type *from, const type *to);
/* What `to` states of the tensors in a value of type `from` (both fit) beyond what is known of them: nothing; what is
 * looked at when the program runs, where the value is cast to `to`; what cannot be looked at, and is refused. */
typedef enum { STATED_KNOWN, STATED_LOOKED_AT, STATED_UNSEEN } stated_way;
stated_way check_stated_way(checker *c, const type *from, const type *to);
/* Converts the node or reports "expected X, found Y"; why (may be NULL) becomes a note. */
bool check_coerce(checker *c, expr **slot, const type *to, const coerce_reason *why);
/* For what is lent as `&mut`: it is of the very type, as what is written through it comes back, and it stays the place
 * that it is. What is stated of its tensors is looked at in the call, on both ways (lower_call.c). */
void check_coerce_lent(checker *c, expr **slot, const type *to, const coerce_reason *why);
/* The same through the results of blocks and branches: a block stays a block, an if an if. */
bool check_coerce_branch(checker *c, expr **slot, const type *to, const coerce_reason *why);
bool check_condition(checker *c, expr **slot);
void check_cast_to(checker *c, expr **slot, const type *to); /* wraps in an implicit cast unless it is of that type */
/* The same; an open number becomes one of that type where it can. */
void check_widen_to(checker *c, expr **slot, const type *to);
/* The smallest number type that both widen to. */
const type *check_common(checker *c, const type *a, const type *b);
/* The type of a value that is one or the other; NULL when there is none. */
const type *check_join(checker *c, const type *a, const type *b);
bool check_free_literal(const expr *e); /* a number without a suffix, or arithmetic of such */
/* A rank-0 tensor to the scalar that it holds. False when the rank is known and not 0. */
bool check_item(checker *c, expr **slot);
void check_read_item(checker *c, expr **slot); /* whatever the rank: one element is demanded at run time */
diagnostic *check_mismatch(checker *c, const expr *found, const type *to, const coerce_reason *why);
/* One is an i64, the other a usize. */
bool check_are_lengths(const type *a, const type *b);

#endif
