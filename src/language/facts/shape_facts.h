/* shape_facts.h: how the shape of an operation's result follows from its operands, and when it
 * cannot.
 *
 *     unset  ─►  a rank, each dimension a number or a symbol  ─►  unknown
 *
 * Unset means that nothing has reached the value yet: facts are optimistic while they are being
 * computed. Symbols (shape_symbols.h) are names for lengths that are not known; a dimension of which not even that
 * can be said is named after the value itself.
 */
#ifndef MASU_LANGUAGE_SHAPE_FACTS_H
#define MASU_LANGUAGE_SHAPE_FACTS_H

#include "base/buffer.h"
#include "language/diagnose/messages.h"
#include "language/facts/shape_symbols.h"
#include "language/ir/ir.h"

typedef enum shape_state { SHAPE_IS_UNSET, SHAPE_IS_KNOWN, SHAPE_IS_UNKNOWN } shape_state;

typedef struct shape_fact {
    shape_state state;
    ir_shape shape; /* when known; dimensions: see shape_symbols.h */
} shape_fact;

typedef struct number_fact { /* about a value of a type that shape_is_number; of u64 below 2^63 */
    shape_state state;
    int64_t number;  /* when known */
    uint32_t symbol; /* when unknown; 0: not named yet */
} number_fact;

/* One operation with the facts of its function's values. */
typedef struct shape_query {
    const ir_function *f;
    const ir_instr *i;
    const shape_fact *facts;    /* by value */
    const number_fact *numbers; /* by value */
    shape_symbols *symbols;
} shape_query;

/* Why an operation fails whenever it is reached. */
typedef struct shape_fault {
    message_row row;
    masu__buffer text; /* empty: no fault found */
    shape_symbols *symbols;
    ir_value about[3]; /* the operands whose shapes are to blame */
    uint32_t about_count;
} shape_fault;

extern const shape_fact shape_unset, shape_unknown;

/* No dimension known; unknown when there can be no such tensor. */
shape_fact shape_of_rank(uint32_t rank);

/* ---- what the rules ask (shape_facts.c) ------------------------------------------------------ */

typedef struct shape_list { /* the elements of an operation's list parameter */
    const ir_value *values;
    uint32_t count;
} shape_list;

static inline const shape_fact *shape_fact_of(const shape_query *q, ir_value v) {
    return &q->facts[v];
}
ir_value shape_operand(const shape_query *q, const char *parameter); /* of a plain parameter; 0: there is none */
ir_value shape_tensor(const shape_query *q, uint32_t n);             /* the n-th tensor operand; 0: there is none */
shape_list shape_list_of(const shape_query *q);
/* A whole number that is known now: by its fact, or a constant, perhaps negated or converted. */
bool shape_known_number(const shape_query *q, ir_value v, int64_t *out);
/* Values of which a number_fact is kept. */
static inline bool shape_is_number(ir_type type) {
    return type == IR_I64 || type == IR_U64 || type == IR_BOOL;
}
/* Nothing has reached the number yet: what depends on it has no fact either. */
static inline bool shape_number_unset(const shape_query *q, ir_value v) {
    return shape_is_number(ir_type_of(q->f, v)) && q->numbers[v].state == SHAPE_IS_UNSET;
}
/* The same as a length: a symbol when it is not known. */
shape_length shape_number_length(const shape_query *q, ir_value v);
bool shape_elements(const ir_shape *s, int64_t *out); /* false: not known, or too many to count */

bool shape_wanted(const shape_fault *fault); /* asked for, and none found yet */
void shape_blame(shape_fault *fault, ir_value v);
/* Describes the fault. Shapes and lengths as texts: shape_text, shape_dim_text. */
void shape_say(shape_fault *fault, message_row row, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* "[2, n]", "n": the module's. */
const char *shape_text(shape_fault *fault, const ir_shape *shape);
const char *shape_dim_text(shape_fault *fault, int64_t dim);

/* ---- the rules (shape_rules.c, shape_rules_list.c) --------------------------------------------- */

/* The fact about the result of an IR_ABI or IR_COMPREHEND (unknown when it yields no tensor).
 * fault: NULL or zeroed; filled when the operands' known dimensions make failure certain. */
shape_fact shape_rule_apply(const shape_query *q, shape_fault *fault);

static inline int64_t shape_dim_from_end(const ir_shape *s, uint32_t back) {
    return back < s->rank ? s->dim[s->rank - 1 - back] : 1;
}
/* The list as a shape; minus_one: a -1 may be in it, kept as another negative number. */
shape_fact shape_written_shape(const shape_query *q, shape_list l, shape_fault *fault, bool minus_one);
shape_fact shape_rule_reshape(const shape_query *q, shape_fault *fault);
shape_fact shape_rule_expand(const shape_query *q, shape_fault *fault);
shape_fact shape_rule_literal(const shape_query *q);
shape_fact shape_rule_square(const shape_query *q);
shape_fact shape_rule_permute(const shape_query *q, const ir_shape *s);
shape_fact shape_rule_flatten(const shape_query *q, const ir_shape *s);
shape_fact shape_rule_stack(const shape_query *q, shape_fault *fault);

/* The fact about the number that any operation yields (shape_numbers.c): constants and their sums,
 * products and quotients, so that `2 * n - 1` is a length; ranks and lengths of tensors whose
 * shape is known; what comparisons of these say. */
number_fact shape_number_apply(const shape_query *q);

/* Which edges of a branch on `condition` can be taken as far as is known; 0: nothing has reached
 * it. */
enum { SHAPE_TAKES_FIRST = 1, SHAPE_TAKES_SECOND = 2 };
unsigned shape_condition(const shape_query *q, ir_value condition);

bool number_fact_meet(number_fact *fact, const number_fact *other);

/* Joins the facts of two ways of reaching a value. True when *fact changed. */
bool shape_fact_meet(shape_fact *fact, const shape_fact *other);

/* [2, n], ? for a dimension that is not known and has no short name. */
void shape_put(shape_symbols *symbols, const ir_shape *shape, masu__buffer *out);
void shape_put_dim(shape_symbols *symbols, int64_t dim, masu__buffer *out);

#endif
