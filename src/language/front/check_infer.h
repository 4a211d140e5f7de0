/* check_infer.h: what a bracket is, found before its function is checked (check_infer.c).
 *
 *     check_infer.c           walks a body once and gives every expression a type of its own, variables where it has
 *                             none
 *     check_infer_operator.c  operators, indices, casts
 *     check_infer_answer.c    what is preferred in the end, and the answers
 *     check_infer_call.c      what calls and methods demand of their arguments, and what they yield
 *     check_infer_type.c      variables, and what makes two types the same
 *     check_infer_result.c    what the tensors hold that functions of the program yield
 *     check_infer_items.c     what a `for` runs over
 *     check_infer_yields.c    what type parameters are of functions that yield any iterator or function
 *     check_infer_record.c    what is known of the tensors in a value beyond its type
 *     check_infer_element.c   the elements that operations yield
 */
#ifndef MASU_LANGUAGE_CHECK_INFER_H
#define MASU_LANGUAGE_CHECK_INFER_H

#include "language/front/check_convert.h"
#include "language/library/library.h"
#include "language/types/check_context.h"
#include "language/types/open_form.h"

typedef struct inferred_name {
    symbol *symbol;
    const type *hidden;
    binding *hidden_binding;
} inferred_name;

/* An expression whose type waits for that of its first operand. */
typedef struct waiting {
    expr *e;
    const type *operand, *other, *result;
    const type **arguments;
    bool dropped; /* the result is not used */
    bool done;
} waiting;

typedef struct inferred_loop {
    const char *label;
    bool is_block;
    const type *result;
    struct inferred_loop *outer;
} inferred_loop;

typedef struct inferred_tensor { /* an expression that may be one */
    expr *e;
    const type *t;
} inferred_tensor;

typedef struct indexed_place { /* a variable or field of one, a tensor of unknown rank */
    const expr *base;
    binding *root;
    uint32_t most; /* indices that it has somewhere */
} indexed_place;

typedef struct inferred_call { /* of a function that yields any iterator or function */
    expr *e;
    const type **arguments, **more; /* what its type parameters and those of its impl block are */
    uint32_t count, more_count;
} inferred_call;

typedef struct inferred_item { /* what a `for` takes of a bracket */
    const binding *item;
    const type *bracket;
} inferred_item;

typedef struct inferred_yields { /* what a function that is walked for its result returns */
    const type **types;
    uint32_t count, capacity;
} inferred_yields;

enum { MIXED_ELEMENTS = 1, MIXED_RANKS = 2, MIXED_BOTH = 3 };

typedef struct inference {
    checker *c;
    inferred_tensor *tensors;
    uint32_t tensor_count, tensor_capacity;
    inferred_yields *yields; /* NULL: the result is not asked for */
    uint32_t depth;          /* functions that are walked for their results */
    open_form **forms;
    uint32_t form_count, form_capacity;
    waiting *queue;
    uint32_t queue_count, queue_capacity;
    inferred_name *names;
    uint32_t name_count, name_capacity;
    inferred_loop *loops;
    indexed_place *places;
    uint32_t place_count, place_capacity;
    expr **collected; /* calls of collect(), by the number in their types */
    uint32_t collected_count, collected_capacity;
    inferred_call *calls;
    uint32_t call_count, call_capacity;
    inferred_item *items;
    uint32_t item_count, item_capacity;
    expr *calling;      /* the call whose function is asked for; NULL: what is asked for is nothing that is written */
    const type *result; /* of the function or closure */
    unsigned result_states; /* the same of `result` */
    const type *any;        /* nothing is known, and nothing will be */
    source_span at;         /* the use that is being looked at */
    uint32_t comprehensions;
    unsigned states; /* MIXED_: what the type of a place that a value meets leaves open */
    unsigned mixes;  /* MIXED_: of what ways met that differ */
    unsigned plain;  /* so that it is not followed: of elements only f64 is */
    bool drops;      /* the result of the expression being walked is dropped */
    bool collects;   /* into something else than a list: some such call has its answer */
    bool deeper;     /* a tensor has more dimensions than an index of it met so far could know */
} inference;

const type *infer_expr(inference *n, expr *e);
const type *infer_numbers(inference *n, expr *e); /* of a..b a list: what a `for` or a method runs over */
/* The result of f, called with these arguments; self: the receiver's type, NULL: none. */
const type *infer_call_of(inference *n, function_item *f, struct_item *owner, const type *self, const type **arguments,
                          uint32_t count);
const type *infer_range(inference *n, expr *e);
const type *infer_block(inference *n, block *b);
void infer_pattern(inference *n, const pattern *p, const type *t);
void infer_name(inference *n, binding *b, const type *t);
/* e: base[at[0], …] */
const type *infer_index(inference *n, expr *e, const type *base, const type **at);

/* Whether it is collect(), and does not say into what. */
static inline bool infer_collects(const expr *e) {
    return e->kind == EXPR_METHOD && e->call.arg_count == 0 && e->call.type_argument_count == 0 &&
           library_said_of(LIBRARY_stage, e->call.name) == SAID_COLLECT;
}

void infer_shown(inference *n, const expr *e, const char *name, const type **arguments); /* by the function `name` */
/* The list that such a call yields (check_infer_collected.c), or what a use of it wanted in an earlier walk. */
const type *infer_collected(inference *n, expr *e, const type *element);
void infer_collected_meets(inference *n, const type *list,
                           const type *wanted); /* both are known, list perhaps not one */

void infer_close_names(inference *n, uint32_t mark);
void infer_holds(inference *n, expr *e, const type *t); /* e may be a tensor, or lead to one */
void infer_answer_waiting(inference *n);                /* what can be answered by now */

/* check_infer_operator.c */
static inline bool infer_is_arithmetic(binary_op op) {
    return op >= BINARY_ADD && op <= BINARY_REM;
}
const type *infer_indexed(inference *n, expr *e);
const type *infer_binary(inference *n, expr *e);
const type *infer_unary(inference *n, expr *e);
const type *infer_cast(inference *n, expr *e);
/* NULL: one of them has to be known first. */
const type *infer_arithmetic(inference *n, binary_op op, const type *a, const type *b);
void infer_condition(inference *n, expr *e); /* one answer is wanted */

/* check_infer_call.c */
const type *infer_call(inference *n, expr *e);
const type *infer_method(inference *n, expr *e);
const type *infer_struct(inference *n, expr *e);
/* The method of t, its arguments given; NULL: t says nothing yet. */
const type *infer_method_of(inference *n, expr *e, const type *t, const type **arguments, bool dropped);
/* Where t leads, as a guard does; NULL: nowhere. */
const type *infer_led(inference *n, const type *t);
/* The result of t.name(); NULL: t has no such method. */
const type *infer_yield(inference *n, const type *t, const char *name, const type **arguments, uint32_t count);

/* check_infer_result.c */
/* The result of f, whose signature says `declared`. environment: of a template; NULL. self: NULL: none is given. */
const type *infer_result_of(inference *n, function_item *f, const type_environment *environment, const type *self,
                            const type **arguments, uint32_t count, const type *declared);

/* Where values may be returned: what is known of all of them. */
const type *infer_yielded(inference *n, const inferred_yields *all, const type *declared);

/* check_infer_items.c */
/* The item of a `for` over t; NULL: t has to be known first. */
const type *infer_item_of(inference *n, const type *t);
void infer_for_head(inference *n, expr *e);
/* An argument, as it is written, for a parameter of any type: an item is a number there. */
void infer_item_goes_anywhere(inference *n, const expr *written);

/* check_infer_yields.c */
/* The function that a parameter is; NULL: it is none. */
const type_expr *infer_function_of(const binding *parameter);
/* Its result is any iterator or function, and which one depends on its call. */
bool infer_leaves_numbers(const function_item *f);
const type *infer_any_yielded(inference *n, const function_item *f);   /* what such a one yields */
void infer_meets_any(inference *n, const open_form *f, const type *t); /* a closure where t is wanted */
void infer_remember_call(inference *n, const function_item *f, const type_environment *e);
void infer_answer_calls(inference *n);

/* check_infer_changed.c */
void infer_mark_changed(inference *n);

/* check_infer_record.c */
/* t with what is known of `given`, a value of such a type. */
const type *infer_refined(inference *n, const type *t, const type *given);
/* t is written to where the walk does not see it: of it only f64 may be said. */
void infer_lent(inference *n, const type *t);
/* Says of a value that is either of them no more than of both. a: NULL: there is no other so far. */
const type *infer_met(inference *n, const type *a, const type *b);
/* s with fields, from `first` on, of which these are given. */
const type *infer_filled(inference *n, const struct_item *s, uint32_t first, const type *const *given, uint32_t count);
/* A tensor of which nothing is said, and one in a list or map of such, has elements that its uses say. */
const type *infer_followed(inference *n, const type *t);
bool infer_leaves_elements(inference *n, const type *t); /* of tensors in it */

/* check_infer_element.c */
bool infer_is_f64(inference *n, const type *tensor);
/* It holds whole numbers or bools: read as anything else they would be something else. */
bool infer_is_whole(inference *n, const type *element);
/* NULL: not known, or a number that is still open. */
const type *infer_element(inference *n, const type *tensor);
/* The widest of them and of the lists among them, by the rule of an operation; NULL: not known. */
const type *infer_by_rule(inference *n, tl_dtype_rule rule, const type *receiver, const type *const *arguments,
                          uint32_t count);
/* t, every tensor in it that says nothing of its elements with these; NULL: t. */
const type *infer_with_element(inference *n, const type *t, const type *element);
/* The elements of a op b, one of which is a tensor. */
const type *infer_element_of_both(inference *n, binary_op op, const type *a, const type *b);

/* check_infer_type.c */
const type *infer_open(inference *n);
open_form *infer_form(inference *n, form_kind kind, expr *e);
/* The form of an open type; NULL: nothing is known of it. */
static inline open_form *infer_form_of(const type *t) {
    return t->kind == TYPE_OPEN ? t->open.form : NULL;
}
bool infer_is_bracket(const type *t);
static inline bool infer_is_row(const type *t) {
    return infer_form_of(t) != NULL && t->open.form->kind == FORM_ROW;
}
/* It has as many indices as its tensor has dimensions, or begins a sum of such. */
static inline bool infer_is_element(const type *t) {
    return infer_is_row(t) && t->open.form->is_element;
}
static inline bool infer_is_truth(const type *t) {
    return infer_form_of(t) != NULL && t->open.form->kind == FORM_TRUTH;
}
/* Resolved; references and boxes are what they lead to. */
const type *infer_value(inference *n, const type *t);
void infer_same(inference *n, const type *a, const type *b);
/* A value comes to a place whose type, as it is written, leaves open: `open`, MIXED_. */
void infer_into(inference *n, const type *value, const type *place, unsigned open);
void infer_tensor(inference *n, const type *t); /* it is one */
void infer_prefer_list(inference *n, const type *t);
const type *infer_any_tensor(inference *n);
bool infer_only_lists_hold(const type *t);
const type *infer_number(inference *n, const expr *e);
bool infer_is_bare(const expr *e);                 /* a real number without a type */
const type *infer_sum(inference *n, expr *number); /* it may begin a sum of elements of tensors */
void infer_wait(inference *n, waiting w);
const type *infer_written(inference *n, type_expr *t); /* any: it says nothing */

#endif
