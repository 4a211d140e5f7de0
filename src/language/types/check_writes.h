/* check_writes.h: places, and what is written to them. */
#ifndef MASU_LANGUAGE_TYPES_CHECK_WRITES_H
#define MASU_LANGUAGE_TYPES_CHECK_WRITES_H

#include "language/types/check_context.h"

/* x.m(…) with a user's method: whether it writes to x is known when all bodies are. */
typedef struct method_use {
    function_item *caller;
    expr *call;    /* or a cast of it, which is in no tree: a conversion around the call turned out to be none */
    binding *root; /* of the place x; NULL: x is not a place */
    bool captured; /* the root lies outside of the comprehension that the call is in */
} method_use;

/* of a binding or an element, a field, by a method that writes to self, by an operation that replaces a tensor */
typedef enum write_kind { WRITE_ASSIGN, WRITE_FIELD, WRITE_METHOD, WRITE_TENSOR } write_kind;

/* Names and calls that are a place of the function, and how they are written out.
 *     every member is as it was before when the statement, pattern or call that set it is checked */
typedef struct check_places {
    const expr *alias_place; /* what the pattern being checked takes apart; NULL: a value */
    expr *alias_elements;    /* the Some(p) being checked is the index of one of these */
    bool alias_all;          /* see match_alias */
    stmt *checked_up_to;     /* statements that check_let put behind its own */
    bool has_guards;         /* the program asks for a type of the library that is one: see check_brief.c */
} check_places;

/* Who writes to what: it is known of methods when all bodies are. */
typedef struct check_writes {
    method_use *uses;
    uint32_t use_count, use_capacity;
    const function_item *assigned_in; /* whose body `assigned` was collected from */
    const char **assigned;            /* names that are assigned as a whole or given as `&mut` there */
    uint32_t assigned_count, assigned_capacity;
} check_writes;

/* A reference that e, not checked yet, yields stays one where nothing else is wanted. */
void check_keep_reference(expr *e);
bool check_chooses(const expr *e); /* if, match, a block, a loop: which place it yields is known behind it */
bool check_wants_reference(checker *c, const expr *e, const type *expected);
/* The place that the reference leads to; anything else stays. */
void check_follow(checker *c, expr **slot);
/* Whether e is what `check_follow` made of the reference. */
bool check_follows(const expr *e, const expr *reference);
/* Whether a reference to what f is given may leave it: in its result, or in another parameter. Marks its parameters. */
bool check_lends_references(checker *c, function_item *f);
const type *check_parameter_type(checker *c, const function_item *f, binding *parameter);
bool check_names_place(const checker *c, const expr *e);
/* An index that can be evaluated twice: names, numbers, fields and what is reckoned of them. */
bool check_is_harmless(const expr *e, int depth);
/* A place made of names, fields and harmless indices, as it was before its check. */
expr *check_copy_place(checker *c, const expr *e);
bool check_is_place(const expr *e);
bool check_is_shared(const binding *b); /* `&self`, `x: &T`: a shared reference, through which nothing is written */
binding *check_root(const expr *e);     /* NULL: no place */
/* Reports when place must not be written; notes that the function writes to self. */
bool check_write(checker *c, const expr *place, source_span span, write_kind kind);
/* place lies in what the closure that is being checked captured. False after a message. */
bool check_captured_write(checker *c, const expr *place, source_span span);
expr *check_call_of_use(const method_use *use); /* as it is in the tree by now */
/* When all bodies are checked: which methods write to self, and whether their receivers may be written. */
void check_settle_writes(checker *c);
const type *check_type_of(checker *c, const expr *e);

/* ---- check_reference_made.c: references to places that are checked ---- */

expr *check_reference_to_place(checker *c, expr *place, source_span span);
/* &mut list[low..high]; low and high, i64, may be NULL. */
expr *check_reference_to_list(checker *c, expr *list, expr *low, expr *high, source_span span);
/* The place as a value of this reference type. */
expr *check_reference_as(checker *c, expr *place, source_span span, const type *wanted);
/* A reference to a list where a slice is wanted. False: it is something else. */
bool check_to_slice(checker *c, expr **slot, const type *to);

/* ---- check_leads.c: what leads on to another value ---- */

bool check_leads(const checker *c, const type *t); /* `impl Deref` */
/* `&x`, `&mut x` or a parameter that is one. */
bool check_is_reference(const checker *c, const expr *e);
bool check_is_guard(const checker *c, const type *t);
bool check_leads_elsewhere(checker *c, const type *t, const type *wish); /* as `&x` where wish is wanted */
/* The target of e, checked: a call that is not checked yet; of `deref_mut` where it is written to and there is one. */
expr *check_led(checker *c, expr *e, bool writes);
/* How many of the stars before e, not checked yet, are more than references to follow: so often it leads on. */
uint32_t check_stars(const checker *c, const expr *e);
/* By its names: a call in e may be one of a function whose result is or holds `&mut T`. */
bool check_may_lend(const checker *c, const expr *e);

/* f(&mut x): x becomes what f made of its parameter. noted: of which that was seen to before; NULL: of none. */
void check_note_writes_back(checker *c, expr *e, const function_item *f, const function_item *noted);

#endif
