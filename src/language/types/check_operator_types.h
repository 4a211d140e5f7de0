/* check_operator_types.h: which operators a type has. */
#ifndef MASU_LANGUAGE_TYPES_CHECK_OPERATOR_TYPES_H
#define MASU_LANGUAGE_TYPES_CHECK_OPERATOR_TYPES_H

#include "language/library/library.h"
#include "language/types/check_context.h"

typedef struct loop_context {
    expr *loop;
    const type *break_type; /* of `break value`; NULL before the first */
    struct loop_context *outer;
} loop_context;

typedef struct comprehension_context {
    comprehension_expr *comprehension;
    uint32_t number;        /* in order of opening, from 1 */
    uint32_t first_binding; /* bindings with a smaller id are captured */
    uint32_t capture_capacity;
    struct comprehension_context *outer;
} comprehension_context;

/* The surroundings of the expression that is being checked: both lists are as deep as the body is nested, and empty in
 * a closure's own body at first. */
typedef struct check_nest {
    const struct check_walk *forms; /* of all expressions: front/check_walk.h */
    loop_context *loop;
    comprehension_context *comprehension;
    uint32_t comprehension_count; /* opened so far: the number of the last */
} check_nest;

/* Facts of its surroundings that an expression knows. Each is set by the one that checks the part, for that part
 * alone:
 *     it is NULL or false again when that call comes back */
typedef struct check_around {
    const pattern *wanted_variants; /* first arm of the match whose value is being checked */
    const char *receiver_of;        /* the method whose receiver is being checked */
    const type *parse_wish;         /* what the parse() being checked is to yield */
    expr *lends_to;                 /* the call whose argument is being checked */
    expr *how_more;                 /* of the hole being checked: width and precision that are values */
    bool unrecorded;                /* in no_grad { … } */
    bool index_goes_on;             /* the index being checked is part of a longer one, or assigned to */
} check_around;

void check_close_operator(checker *c, expr *e);
bool check_is_comparison(binary_op op);
bool check_operator_accepts(binary_op op, const type *t);
void check_wrong_operand(checker *c, expr *e, const char *op, const type *t);

/* As the library says which operator a method is (library/facts.def). */
binary_op check_operator_said(library_said said); /* BINARY_NONE: it is not one */
/* Whether the operand may be of type t: V<N> in `impl<const N: usize> Mul<V<N>> for f64` is any V. */
bool check_takes_operand(const function_item *f, const type *t);
const char *check_operator_method(binary_op op); /* add of +; NULL: there is none */
/* add_assign of +; NULL: there is no a OP= b. */
const char *check_assigning_method(checker *c, binary_op op);
bool check_yields_lengths(const expr *e); /* `shape()`, or a name of what it yields */
/* A checked `t = t op b`, written as `t op= b`, is the step of an optimiser. */
bool check_is_step(checker *c, const expr *e);

#endif
