/* check_fits.h: what fits where, numbers that are not decided yet. */
#ifndef MASU_LANGUAGE_TYPES_CHECK_FITS_H
#define MASU_LANGUAGE_TYPES_CHECK_FITS_H

#include "language/types/check_context.h"

/* s.parse(), x.into() and a default where nothing said yet as what. */
typedef struct late_parse {
    expr *e;
    function_item *function;
    const type *parsed, *error; /* error NULL: into, a default */
    bool is_default;
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

/* Types not known yet of the function that is being checked.
 *     has_open is false  ⟺  no type in its tree may be open
 *     parses is empty when its body is closed */
typedef enum elements_left { ELEMENTS_LEFT_UNKNOWN, ELEMENTS_LEFT_NONE, ELEMENTS_LEFT_SOME } elements_left;

typedef struct check_inference {
    elements_left left;   /* whether signatures and structs of the program leave elements of tensors open */
    const char **leaving; /* the functions whose calls leave numbers open (check_infer_yields.c) */
    uint32_t leaving_count, leaving_capacity;
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
/* The facts about the bracket that e is; NULL: none. */
const struct open_form *check_form_of(const expr *e);
/* Where the bracket is that e is a name of, and the use that made it what it is. */
void check_note_bracket(checker *c, diagnostic *d, const expr *e);
bool check_occurs(const type *open, const type *in);
void check_unbox(checker *c, expr **slot); /* a Box becomes what is in it */
/* Without a conversion; decides open types. */
bool check_fits(checker *c, const type *from, const type *to);
bool check_widens(const type *from, const type *to);
void check_cast_to(checker *c, expr **slot, const type *to); /* wraps in an implicit cast unless it is of that type */
/* The same; an open number becomes one of that type where it can. */
void check_widen_to(checker *c, expr **slot, const type *to);
/* The smallest number type that both widen to. */
const type *check_common(checker *c, const type *a, const type *b);
/* The type of a value that is one or the other; NULL when there is none. */
const type *check_join(checker *c, const type *a, const type *b);
/* Numbers read from a tensor of unknown elements: check_unstated.c. The type of one, open unless an f64 is wanted. */
const type *check_unstated_element(checker *c, source_span span, const expr *tensor, const type *expected);
bool check_is_unstated(checker *c, const expr *e); /* one that is read right here */
/* Where an i64, usize or bool is wanted it is an i64 or a bool; false: it is not, or none of these is wanted. */
bool check_unstated_as(checker *c, expr *const *slot, const type *to);
/* The type of what `as` converts, once it is known as what. */
const type *check_unstated_converted(checker *c, expr *e, const type *to);
/* A whole number or a bool is stored in one: as that; false: another number is. */
bool check_stores_unstated(checker *c, expr *target, const expr *value);
/* A real number is. */
void check_unstated_stored(checker *c, const expr *target, const expr *value);
void check_close_unstated(expr *e);
/* Before f's body is checked: a copy for what check_add_wide makes of it; NULL: f needs none. */
function_item *check_wide_copy(checker *c, const function_item *f);
function_item *check_add_wide(checker *c, function_item *f, function_item *copy);
/* Behind the check of f's body, of which `unchecked` is a copy: whether it may mean something else where the tensors
 * passed hold whole numbers. */
bool check_is_whole_otherwise(const checker *c, const function_item *f, const function_item *unchecked);
function_item *check_add_whole(checker *c, function_item *f, function_item *copy);
bool check_free_literal(const expr *e);    /* a number without a suffix, or arithmetic of such */
bool check_is_real_literal(const expr *e); /* 0.1, -0.1 */
/* A rank-0 tensor to the scalar that it holds. False when the rank is known and not 0. */
bool check_item(checker *c, expr **slot);
void check_read_item(checker *c, expr **slot); /* whatever the rank: one element is demanded at run time */
diagnostic *check_mismatch(checker *c, const expr *found, const type *to, const coerce_reason *why);
/* One is an i64, the other a usize. */
bool check_are_lengths(const type *a, const type *b);

#endif
