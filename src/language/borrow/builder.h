/* builder.h: what the files that make a graph of a function share.
 *
 *     sorts.c      what Rust would say of a type
 *     values.c     places and values: reading, referring, writing
 *     declared.c   names, and where variables end
 *     expressions.c      expressions and statements
 *     calls.c      functions
 *     methods.c    methods
 *     signatures.c      what signatures say of lives
 *     closures.c   what they capture
 *     patterns.c   what names of a pattern are
 */
#ifndef MASU_LANGUAGE_BORROW_BUILDER_H
#define MASU_LANGUAGE_BORROW_BUILDER_H

#include <string.h>

#include "language/borrow/graph.h"

typedef struct known_type { /* of a variable, by the place of its name */
    source_span span;
    const type *type;
} known_type;

/* The part that is the same for all functions. */
typedef struct world {
    const syntax_tree *tree;
    function_item **functions; /* by name */
    uint32_t function_count;
    struct_item **structs; /* by name, the first declared before others of its name */
    uint32_t struct_count;
    known_type *types; /* by place */
    uint32_t type_count;
    owner_marks *marks; /* NULL: no type has a destructor */
} world;

/* The orders of its lists of types and of functions; here, so that a search has them inside. */
static inline int borrow_by_place(const void *a, const void *b) {
    const known_type *x = a, *y = b;
    if (x->span.file != y->span.file)
        return (uintptr_t)x->span.file < (uintptr_t)y->span.file ? -1 : 1;
    return x->span.offset < y->span.offset ? -1 : x->span.offset > y->span.offset;
}

static inline int borrow_by_name(const void *a, const void *b) {
    const function_item *x = *(function_item *const *)a, *y = *(function_item *const *)b;
    return strcmp(x->name, y->name);
}

typedef struct bound_name {
    const char *name;
    uint32_t variable;
    uint32_t hash;
    uint32_t before; /* 1 + the next older one of its bucket; 0: none */
} bound_name;

typedef struct jump_frame { /* a loop or closure around what is built */
    const char *label;
    bool is_closure;
    bool is_block; /* only jumps with its label mean it */
    uint32_t end, again;
    uint32_t result;
    uint32_t names; /* those outside */
    struct jump_frame *outer;
} jump_frame;

typedef struct builder {
    graph g;
    const world *world;
    const function_item *function;
    uint32_t at; /* the block that goes on */
    bound_name *names;
    uint32_t name_count, name_capacity;
    uint32_t *buckets; /* of names: 1 + the newest of each; bucket_count of them, a power of two */
    uint32_t bucket_count;
    jump_frame *jumps;
    const type_expr
        *wanted;     /* of the closure that comes next: `FnMut(A, B)`; NULL: nothing is said of its parameters */
    uint32_t lent;   /* what they may hold then */
    uint32_t result; /* the variable that the function yields; NO_VARIABLE: no reference is in it */
    uint32_t end;
} builder;

/* The result of an expression: a place that is not read yet, or a value. */
typedef struct value {
    const sort *sort;
    const place *place;        /* NULL: a value */
    uint32_t held;             /* the variable with its loans; NO_VARIABLE: none */
    const struct value *parts; /* of a tuple as written; NULL */
    uint32_t part_count;
} value;

/* ---- sorts.c ---- */
/* t: what the checker says of the same type; NULL: not known. owner: what `Self` is. */
const sort *sort_of_written(builder *b, const type_expr *written, const type *t);
/* The sort of a call's result; the arguments say what its type parameters are. */
const sort *borrow_sort_of_result(builder *b, const function_item *f, const value *given);
const sort *sort_reference(builder *b, const sort *item, bool is_mutable);
const sort *sort_holder(builder *b, const sort *item, bool is_lazy);
const sort *sort_of_type(builder *b, const type *t);
/* A view of which the type was not known, of a variable of type t. */
const sort *borrow_view_of(builder *b, const sort *s, const type *t);
const sort *sort_element(builder *b, const sort *s);
const sort *sort_field(builder *b, const sort *s, const char *name);
/* For a variant's part number i, by its name in the pattern or by position. */
const sort *sort_variant_part(builder *b, const sort *s, const pattern *p, uint32_t i);
const type *borrow_known_type_at(const builder *b, source_span span);
bool sort_is_copied(const builder *b, const sort *s); /* in doubt it is */
/* A destructor of the program runs where a variable of it ends, which uses what it holds; in doubt there is none. */
bool sort_ends(const builder *b, const sort *s);
const struct_item *borrow_struct_named(const builder *b, const char *name);
/* Whether the struct's fields are references, or hold some. */
/* It is of the program, not of the library. */
bool borrow_struct_is_own(const builder *b, const struct_item *s);
/* All who have one change the same: the library's struct is a place of its own. */
bool borrow_struct_is_cell(const struct_item *s);
bool borrow_struct_is_view(const builder *b, const struct_item *s);
bool borrow_refers_to_nothing(const builder *b, const struct_item *s);

/* ---- values.c ---- */
void borrow_mark(builder *b, source_span span, owner_mark_kind kind);
/* A reference, or a list, Option, tuple or iterator of some; a struct with references in it is a value like any
 * other. */
bool borrow_is_lent(const sort *s);
/* F of `F: FnOnce()` */
bool sort_is_once_parameter(const type_parameters *all, const char *name);
/* The same as a function that its call takes. */
const sort *sort_once(builder *b, const sort *s);
/* v is taken at the place that `span` says. */
void borrow_mark_taken(builder *b, value v, source_span span);
uint32_t borrow_new_temporary(builder *b, source_span span, const sort *s);
value borrow_plain_value(const sort *s);
void borrow_touch(builder *b, const place *p, touch_mode mode, source_span span, const char *by);
void borrow_flow(builder *b, uint32_t into, uint32_t from, source_span span);
void borrow_flow_flat(builder *b, uint32_t into, uint32_t from, source_span span);
uint32_t borrow_held_by(builder *b, const place *p);
void borrow_use(builder *b, uint32_t from, source_span span);
place *borrow_place_of_variable(builder *b, uint32_t variable);
/* A step further; behind references first. */
value borrow_step_to(builder *b, value base, step s, const sort *item, source_span span);
/* The value behind references, as a place if it is one. */
value borrow_follow(builder *b, value v, source_span span);
/* A value that moved out of a variable does not end with it; one that moved out of a part of it does, as in Rust. */
void borrow_leave_empty(builder *b, const place *p, source_span span);
value borrow_take_value(builder *b, value v, source_span span);   /* moved, copied, lent on */
void borrow_look_at_value(builder *b, value v, source_span span); /* read where it is */
value borrow_refer_to(builder *b, value v, bool is_mutable, source_span span);
void borrow_write_to(builder *b, value target, value from, source_span span);
/* `&&T` where `&T` is wanted. */
value borrow_coerce(builder *b, value v, const sort *wanted);
/* A list that began empty holds what is put into it; so does a struct that such a list lies in. */
void borrow_learn_sort(builder *b, uint32_t variable, const sort *item);
void borrow_make_borrow(builder *b, const place *p, touch_mode mode, uint32_t into, source_span span, const char *by);
bool borrow_place_is_free(const place *p); /* behind a shared reference */

/* ---- declared.c ---- */
uint32_t borrow_find_name(const builder *b, const char *name);
uint32_t borrow_declare_name(builder *b, const char *name, source_span span, const sort *s);
void borrow_forget_names(builder *b, uint32_t count); /* the first `count` stay */
void borrow_leave_names(builder *b, uint32_t count, source_span span, bool forget);

/* ---- expressions.c ---- */
value build_expr(builder *b, expr *e);
value build_taken(builder *b, expr *e);
void build_look(builder *b, expr *e);
value build_block_value(builder *b, block *body);
/* A value that several ways join into, which hold nothing yet. */
value borrow_new_join(builder *b, source_span span);
void borrow_go_to(builder *b, uint32_t block);
void borrow_start_block(builder *b, uint32_t block);

/* ---- calls.c ---- */
value build_call_value(builder *b, expr *e);
/* Some type of the program has a method of this name that looks at its receiver: x.name(…) may be that of what x leads
 * to. */
bool borrow_may_be_own(const builder *b, const char *name);
/* The method that a receiver of this sort means; NULL: it is not known, or it is the library's. */
const function_item *borrow_method_of(const builder *b, const sort *s, const char *name);
touch_mode borrow_mode_of_self(const function_item *f);
/* Whether f calls what it gets as parameter i once at most. */
bool borrow_calls_once(const function_item *f, uint32_t i);
/* f(arguments); given[i] is what goes to parameter i. */
value borrow_result_of(builder *b, const function_item *f, const value *given, source_span span);
/* The argument of parameter i of f; given: those before it. */
value borrow_build_given(builder *b, expr *e, const function_item *f, uint32_t i, const value *given, value *yields);
void borrow_use_all(builder *b, const value *given, uint32_t count, source_span span);
value build_argument(builder *b, expr *e, const sort *item, uint32_t held, bool is_once, value *yields);

/* ---- signatures.c ---- */
/* `FnMut(A, B)`, of a parameter that is a closure; NULL: it is not one. */
const type_expr *borrow_function_bound(const function_item *f, uint32_t i);
/* The trait whose declared method f is; NULL. Linear in all traits' methods. */
const trait_item *borrow_trait_of(const builder *b, const function_item *f);
/* The method of that name that a trait of the program declares; NULL: none does. */
const function_item *borrow_dyn_method(const builder *b, const char *name);
/* Whether a call of it may leave something in its result, or in an argument. */
bool borrow_has_lives(builder *b, const function_item *f);
/* Follows the references that a call leaves somewhere. result: the variable that holds what the result does;
 * NO_VARIABLE: it holds nothing. */
void borrow_meet_lives(builder *b, const function_item *f, const value *given, uint32_t result, source_span span);
/* The lives of b's function, in its parameters and its result; when there is its body: they live on. */
void borrow_begin_lives(builder *b);
void borrow_end_lives(builder *b);

/* ---- methods.c ---- */
value build_method_value(builder *b, expr *e);

/* ---- closures.c ---- */
value build_closure_value(builder *b, expr *e);
/* A closure that a call runs, any number of times or at most once, on items that `held` holds; `yields` is what its
 * body yields. */
value build_lent_closure(builder *b, expr *e, const sort *item, uint32_t held, bool is_once, value *yields);

/* ---- patterns.c ---- */
void borrow_bind_pattern(builder *b, const pattern *p, value v);

#endif
