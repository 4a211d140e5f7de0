/* shape_numbers.c: whole numbers that are known although they are not constants, because shapes are
 * written with them: `let n = 8; … Tensor::zeros([n, 2 * n - 1])`, also when n is a parameter that
 * every call gives the same value. The others are symbols, and so are their sums and products.
 */
#include "language/facts/shape_facts.h"

static const number_fact unset = {.state = SHAPE_IS_UNSET};
static const number_fact unknown = {.state = SHAPE_IS_UNKNOWN};

static number_fact known(int64_t number) {
    return (number_fact){.state = SHAPE_IS_KNOWN, .number = number};
}

bool number_fact_meet(number_fact *fact, const number_fact *other) {
    if (other->state == SHAPE_IS_UNSET)
        return false;
    if (fact->state == SHAPE_IS_UNKNOWN) {
        bool same = other->state == SHAPE_IS_UNKNOWN && other->symbol == fact->symbol;
        bool changed = fact->symbol != 0 && !same;
        fact->symbol = same ? fact->symbol : 0;
        return changed;
    }
    if (fact->state == SHAPE_IS_KNOWN && other->state == SHAPE_IS_KNOWN && fact->number == other->number)
        return false;
    *fact = fact->state == SHAPE_IS_UNSET ? *other : unknown;
    return true;
}

/* Arithmetic wraps; what would raise is not known. */
static number_fact combine(ir_opcode op, int64_t a, int64_t b) {
    switch (op) {
    case IR_ADD:
        return known((int64_t)((uint64_t)a + (uint64_t)b));
    case IR_SUB:
        return known((int64_t)((uint64_t)a - (uint64_t)b));
    case IR_SUB_LENGTH:
        return a >= b ? known(a - b) : unknown;
    case IR_MUL:
        return known((int64_t)((uint64_t)a * (uint64_t)b));
    case IR_DIV:
        return b > 0 ? known(a / b) : unknown;
    case IR_REM:
        return b > 0 ? known(a % b) : unknown;
    case IR_AND:
        return known(a & b);
    case IR_OR:
        return known(a | b);
    case IR_XOR:
        return known(a ^ b);
    case IR_SHR:
        return b >= 0 && b < 64 ? known(a >> b) : unknown;
    default:
        return unknown;
    }
}

static number_fact of_length(shape_length l) {
    return l.known ? known(l.number) : (number_fact){.state = SHAPE_IS_UNKNOWN, .symbol = l.symbol};
}

static number_fact of_binary(const shape_query *q) {
    const number_fact *a = &q->numbers[q->i->args[0]], *b = &q->numbers[q->i->args[1]];
    if (a->state == SHAPE_IS_UNSET || b->state == SHAPE_IS_UNSET)
        return unset;
    if (a->state == SHAPE_IS_KNOWN && b->state == SHAPE_IS_KNOWN)
        return combine(q->i->op, a->number, b->number);
    return of_length(shape_combine(q->symbols, q->i->op, shape_number_length(q, q->i->args[0]),
                                   shape_number_length(q, q->i->args[1])));
}

static number_fact of_unary(const shape_query *q) {
    const number_fact *a = &q->numbers[q->i->args[0]];
    int64_t number;
    if (q->i->op == IR_CAST && !shape_is_number(ir_type_of(q->f, q->i->args[0]))) /* constants only */
        return shape_known_number(q, q->i->result, &number) ? known(number) : unknown;
    if (a->state == SHAPE_IS_UNSET)
        return unset;
    if (q->i->op == IR_CAST)
        return a->state == SHAPE_IS_KNOWN && a->number >= 0 ? *a : unknown;
    if (a->state == SHAPE_IS_UNKNOWN)
        return q->i->op == IR_NOT ? unknown
                                  : of_length(shape_combine(q->symbols, IR_MUL, shape_number_length(q, q->i->args[0]),
                                                            (shape_length){.known = true, .number = -1}));
    if (q->i->op == IR_NOT)
        return known(ir_type_of(q->f, q->i->result) == IR_BOOL ? !a->number : ~a->number);
    return known((int64_t)(0 - (uint64_t)a->number));
}

static bool holds(ir_opcode relation, int64_t a, int64_t b) {
    switch (relation) {
    case IR_EQ:
        return a == b;
    case IR_NE:
        return a != b;
    case IR_LT:
        return a < b;
    case IR_LE:
        return a <= b;
    case IR_GT:
        return a > b;
    default:
        return a >= b;
    }
}

static number_fact of_comparison(const shape_query *q) {
    const number_fact *a = &q->numbers[q->i->args[0]], *b = &q->numbers[q->i->args[1]];
    if (!shape_is_number(ir_type_of(q->f, q->i->args[0])))
        return unknown;
    if (a->state == SHAPE_IS_UNSET || b->state == SHAPE_IS_UNSET)
        return unset;
    if (a->state == SHAPE_IS_UNKNOWN || b->state == SHAPE_IS_UNKNOWN)
        return unknown;
    return known(holds(q->i->op, a->number, b->number));
}

/* How long the tensor is along the dimension. */
static number_fact length_along(const shape_query *q, ir_value tensor, int64_t dim) {
    const shape_fact *fact = shape_fact_of(q, tensor);
    if (fact->state != SHAPE_IS_KNOWN)
        return fact->state == SHAPE_IS_UNSET ? unset : unknown;
    if (dim < -(int64_t)fact->shape.rank || dim >= fact->shape.rank)
        return unknown;
    return of_length(shape_length_of_dim(fact->shape.dim[dim < 0 ? dim + fact->shape.rank : dim]));
}

static number_fact rank_of(const shape_query *q) {
    const shape_fact *fact = shape_fact_of(q, q->i->args[0]);
    if (fact->state != SHAPE_IS_KNOWN)
        return fact->state == SHAPE_IS_UNSET ? unset : unknown;
    return known(fact->shape.rank);
}

/* x.shape()[i] */
static number_fact of_element(const shape_query *q) {
    const ir_instr *def = q->f->values[q->i->args[0]].def;
    int64_t dim;
    if (!def || def->op != IR_ABI || def->abi != TL_FN_tl_tensor_shape || q->i->arg_count != 2 ||
        !shape_known_number(q, q->i->args[1], &dim))
        return unknown;
    return length_along(q, def->args[0], dim);
}

static number_fact of_tensor(const shape_query *q) {
    int64_t dim;
    switch (q->i->abi) {
    case TL_FN_tl_tensor_rank:
        return rank_of(q);
    case TL_FN_tl_tensor_len:
        return length_along(q, q->i->args[0], 0);
    case TL_FN_tl_tensor_dim:
        return shape_known_number(q, q->i->args[1], &dim) ? length_along(q, q->i->args[0], dim) : unknown;
    case TL_FN_tl_tensor_get_i64:
        return of_element(q);
    default:
        return unknown;
    }
}

static number_fact any_number(const shape_query *q) {
    const ir_instr *i = q->i;
    int64_t number;
    switch (i->op) {
    case IR_CONST:
        return ir_const_int(q->f, i->result, &number) ? known(number) : unknown;
    case IR_NEG:
    case IR_NOT:
    case IR_CAST:
        return of_unary(q);
    case IR_ADD:
    case IR_SUB:
    case IR_MUL:
    case IR_DIV:
    case IR_REM:
    case IR_AND:
    case IR_OR:
    case IR_XOR:
    case IR_SHR:
    case IR_SUB_LENGTH:
        return of_binary(q);
    case IR_ABI:
        return of_tensor(q);
    default:
        return i->op >= IR_EQ && i->op <= IR_GE ? of_comparison(q) : unknown;
    }
}

number_fact shape_number_apply(const shape_query *q) {
    number_fact fact = any_number(q);
    bool beyond = fact.state == SHAPE_IS_KNOWN && fact.number < 0 && ir_type_of(q->f, q->i->result) == IR_U64;
    return beyond ? unknown : fact;
}

unsigned shape_condition(const shape_query *q, ir_value condition) {
    int64_t constant;
    if (shape_known_number(q, condition, &constant))
        return constant ? SHAPE_TAKES_FIRST : SHAPE_TAKES_SECOND;
    return q->numbers[condition].state == SHAPE_IS_UNSET ? 0 : SHAPE_TAKES_FIRST | SHAPE_TAKES_SECOND;
}
