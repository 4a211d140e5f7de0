/* check_expr.h: one function a kind of expression, and the blocks and loops that they lie in.
 *
 *     check_expr.c        dispatch, literals, names, fields, tuples; check_struct.c: struct literals
 *     check_operators.c   unary and binary operators, casts; of what, check_operator_types.c;
 *                         of tensors, check_tensor_operators.c
 *     check_control.c     blocks, statements, if; check_loop.c: loops;
 *                         check_bind.c: patterns of `let`; check_range.c: ranges
 *     check_list.c        fixed arrays, vec![…]
 *     check_late.c        variables that get their value behind their `let`
 *     check_warn.c        what is allowed but hardly meant
 */
#ifndef MASU_LANGUAGE_CHECK_EXPR_H
#define MASU_LANGUAGE_CHECK_EXPR_H

#include "language/front/check_walk.h"
#include "language/library/library.h"
#include "language/types/check_context.h"
#include "language/types/check_operator_types.h"

/* The type of a constant that a path names, before its function is checked; NULL: the path names none. */
const type *check_type_of_constant(checker *c, const expr *e);
/* A whole number that is known now. False after a message. */
bool check_constant_integer(checker *c, expr **slot, int64_t *out, const char *what);
void check_warnings(checker *c); /* of a program without errors (check_warn.c) */
/* t as Tensor<f64, 2>: another element type is a conversion, a rank only a statement about it. False: not a tensor
 * type, or of another rank. */
bool check_cast_tensor(checker *c, expr **slot, expr *operand, const type *to);
void check_unary(checker *c, expr **slot, const type *expected);
void check_binary(checker *c, expr **slot, const type *expected);
void check_cast(checker *c, expr **slot, const type *expected);
/* An array or vec![…]: false when it is a tensor. */
bool check_list_literal(checker *c, expr **slot, const type *expected);
void check_repeat(checker *c, expr **slot, const type *expected);
void check_if(checker *c, expr *e, const type *expected);
void check_loop(checker *c, expr **slot, const type *expected);
/* The type of the numbers in it, `wish` if its ends allow that; TYPE_ERROR after a message. */
const type *check_range(checker *c, expr *e, const type *wish);
void check_jump(checker *c, expr *e);
void check_block(checker *c, block *b, const type *expected);
void check_let_statement(checker *c, stmt *s);
/* Whether each such variable of a body without mistakes has a value where it is read. */
void check_late_names(checker *c, const function_item *f);
void check_bind(checker *c, pattern *p, const type *t);
/* The parts of a tuple's pattern, each by check_part. False: the value has other parts, and that was reported. */
bool check_tuple_parts(checker *c, pattern *p, const type *t, void (*check_part)(checker *, pattern *, const type *));
/* Reports names that one pattern binds twice; mark: the scopes before it. */
void check_twice(checker *c, uint32_t mark);
/* A tensor of whole numbers as one of f32, others as they are. */
expr *check_real_tensor(checker *c, expr *tensor);
void check_range_call(checker *c, expr **slot); /* range(a, b) that is not what a `for` runs over */
/* An operator with a tensor on one side, both checked. False: *as_scalars says that numbers are meant, or a message was
 * given. */
bool check_may_be_element(const expr *e); /* of another tensor: see expr.is_element */
bool check_tensor_binary(checker *c, expr **slot, bool *as_scalars, const type *expected);
void check_struct(checker *c, expr *e, const type *expected);
void check_unknown_field(checker *c, expr *e, const struct_item *s);

/* left op right, where it has a value: arithmetic, and comparisons as 0 and 1. */
bool check_combine(binary_op op, int64_t left, int64_t right, int64_t *out);
/* A number in place of an expression with calls of functions (*calls), where their bodies say which: check_known.c. */
bool check_known_call(checker *c, expr **slot, bool *calls);
bool check_known_constant(checker *c, expr **slot, const type *wanted); /* it is that number now */

#endif
