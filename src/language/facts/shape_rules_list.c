/* shape_rules_list.c: the rules of operations whose result's shape is written as a list of numbers, or made of the
 * operand's dimensions in another order. See shape_facts.h.
 *
 * A length that is written as a variable is taken for what the variable is: one that turns out to be -1 is none.
 */
#include <inttypes.h>
#include <string.h>

#include "language/facts/shape_facts.h"

/* The numbers of the list as they are, -2 for a known -1. */
enum { WRITTEN_MINUS_ONE = -2 };

shape_fact shape_written_shape(const shape_query *q, shape_list l, shape_fault *fault, bool minus_one) {
    if (l.count > TL_MAX_RANK) {
        if (shape_wanted(fault))
            shape_say(fault, SAY(shape_has_too_many_dimensions), TL_MAX_RANK, l.count);
        return shape_unknown;
    }
    shape_fact result = shape_of_rank(l.count);
    for (uint32_t d = 0; d < l.count; d++) {
        int64_t n;
        if (shape_number_unset(q, l.values[d]))
            return shape_unset;
        if (!shape_known_number(q, l.values[d], &n)) {
            result.shape.dim[d] = shape_dim_of_length(shape_number_length(q, l.values[d]));
            continue;
        }
        if (n >= 0)
            result.shape.dim[d] = n;
        else if (n == -1 && minus_one)
            result.shape.dim[d] = WRITTEN_MINUS_ONE;
        else if (shape_wanted(fault))
            shape_say(fault, SAY(length_is_negative), d, (long long)n);
    }
    return result;
}

static void refuse_reshape(const shape_query *q, const ir_shape *from, const ir_shape *to, int64_t have, int64_t want,
                           shape_fault *fault) {
    if (!shape_wanted(fault))
        return;
    shape_say(fault, SAY(shape_cannot_be_reshaped), shape_text(fault, from), shape_text(fault, to), (long long)have,
              want < 0 ? "a multiple of " : "", (long long)(want < 0 ? -want : want));
    shape_blame(fault, shape_tensor(q, 0));
}

/* The length of the -1: elements of `from` over those of the dimensions that are written, where each of these that
 * has no number is one of `from` as well. */
static shape_length left_over(const shape_query *q, const ir_shape *from, const ir_shape *to, int open) {
    shape_length have = {.known = true, .number = 1}, want = have;
    uint32_t used = 0;
    for (uint32_t d = 0; d < to->rank; d++) {
        if ((int)d == open)
            continue;
        uint32_t at = 0;
        while (at < from->rank && (to->dim[d] >= 0 || used >> at & 1 || from->dim[at] != to->dim[d]))
            at++;
        used |= 1u << at;
        if (to->dim[d] < 0 && at == from->rank)
            return (shape_length){0};
        if (to->dim[d] >= 0)
            want = shape_combine(q->symbols, IR_MUL, want, shape_length_of_dim(to->dim[d]));
    }
    for (uint32_t d = 0; d < from->rank; d++)
        if (!(used >> d & 1))
            have = shape_combine(q->symbols, IR_MUL, have, shape_length_of_dim(from->dim[d]));
    return shape_divide(q->symbols, have, want);
}

shape_fact shape_rule_reshape(const shape_query *q, shape_fault *fault) {
    shape_fact result = shape_written_shape(q, shape_list_of(q), fault, true);
    const shape_fact *from = shape_fact_of(q, shape_tensor(q, 0));
    int64_t have, product = 1;
    int open = -1;
    bool complete = true;
    if (result.state != SHAPE_IS_KNOWN)
        return result;
    for (uint32_t d = 0; d < result.shape.rank; d++) {
        if (result.shape.dim[d] == WRITTEN_MINUS_ONE) {
            if (open >= 0 && shape_wanted(fault))
                shape_say(fault, SAY(one_dimension_can_be_left_over));
            if (open >= 0)
                return shape_of_rank(result.shape.rank);
            open = (int)d;
            result.shape.dim[d] = -1;
        } else if (result.shape.dim[d] < 0 || __builtin_mul_overflow(product, result.shape.dim[d], &product)) {
            complete = false;
        }
    }
    if (from->state != SHAPE_IS_KNOWN)
        return result;
    if (!complete || !shape_elements(&from->shape, &have)) {
        if (open >= 0)
            result.shape.dim[open] = shape_dim_of_length(left_over(q, &from->shape, &result.shape, open));
        return result;
    }
    if (open < 0 && have != product)
        refuse_reshape(q, &from->shape, &result.shape, have, product, fault);
    else if (open >= 0 && product > 0 && have % product != 0)
        refuse_reshape(q, &from->shape, &result.shape, have, -product, fault);
    else if (open >= 0 && product > 0)
        result.shape.dim[open] = have / product;
    return result;
}

/* -1 keeps a dimension's length. */
shape_fact shape_rule_expand(const shape_query *q, shape_fault *fault) {
    shape_fact result = shape_written_shape(q, shape_list_of(q), fault, true);
    const shape_fact *from = shape_fact_of(q, shape_tensor(q, 0));
    bool clash = false;
    for (uint32_t back = 0; result.state == SHAPE_IS_KNOWN && back < result.shape.rank; back++) {
        int64_t *to = &result.shape.dim[result.shape.rank - 1 - back];
        bool known = from->state == SHAPE_IS_KNOWN && back < from->shape.rank;
        int64_t old = known ? shape_dim_from_end(&from->shape, back) : -1;
        if (*to == WRITTEN_MINUS_ONE)
            *to = old;
        else if (*to >= 0 && old >= 0 && old != 1 && old != *to)
            clash = true;
    }
    if (shape_wanted(fault) && result.state == SHAPE_IS_KNOWN && from->state == SHAPE_IS_KNOWN &&
        (clash || from->shape.rank > result.shape.rank)) {
        shape_say(fault, SAY(shape_cannot_be_expanded), shape_text(fault, &from->shape),
                  shape_text(fault, &result.shape));
        shape_blame(fault, shape_tensor(q, 0));
    }
    return result;
}

/* A literal's list begins with its shape. */
shape_fact shape_rule_literal(const shape_query *q) {
    shape_list l = shape_list_of(q);
    int64_t rank;
    if (!shape_known_number(q, shape_operand(q, "rank"), &rank) || rank < 0 || rank > l.count)
        return shape_unknown;
    l.count = (uint32_t)rank;
    return shape_written_shape(q, l, NULL, false);
}

shape_fact shape_rule_square(const shape_query *q) {
    shape_fact result = shape_of_rank(2);
    if (shape_number_unset(q, shape_operand(q, "n")))
        return shape_unset;
    result.shape.dim[0] = result.shape.dim[1] = shape_dim_of_length(shape_number_length(q, shape_operand(q, "n")));
    return result;
}

shape_fact shape_rule_permute(const shape_query *q, const ir_shape *s) {
    shape_list order = shape_list_of(q);
    shape_fact result = shape_of_rank(s->rank);
    for (uint32_t d = 0; order.count == s->rank && d < s->rank; d++) {
        int64_t from;
        if (shape_known_number(q, order.values[d], &from) && from >= -(int64_t)s->rank && from < s->rank)
            result.shape.dim[d] = s->dim[from < 0 ? from + s->rank : from];
    }
    return result;
}

shape_fact shape_rule_flatten(const shape_query *q, const ir_shape *s) {
    shape_fact result = shape_of_rank(1);
    int64_t n;
    shape_length all = {.known = true, .number = 1};
    for (uint32_t d = 0; d < s->rank; d++)
        all = shape_combine(q->symbols, IR_MUL, all, shape_length_of_dim(s->dim[d]));
    if (all.symbol || shape_elements(s, &n))
        result.shape.dim[0] = shape_dim_of_length(all);
    return result;
}

static bool parts_clash(const shape_query *q, const ir_shape *a, const ir_shape *b) {
    bool fit = a->rank == b->rank;
    for (uint32_t d = 0; fit && d < a->rank; d++)
        fit = !shape_lengths_differ(q->symbols, a->dim[d], b->dim[d]);
    return !fit;
}

shape_fact shape_rule_stack(const shape_query *q, shape_fault *fault) {
    shape_list parts = shape_list_of(q);
    shape_fact part = shape_unset;
    for (uint32_t p = 0; p < parts.count; p++) {
        const shape_fact *fact = shape_fact_of(q, parts.values[p]), *first = shape_fact_of(q, parts.values[0]);
        if (fact->state == SHAPE_IS_UNSET)
            return shape_unset;
        if (shape_wanted(fault) && fact->state == SHAPE_IS_KNOWN && first->state == SHAPE_IS_KNOWN &&
            parts_clash(q, &first->shape, &fact->shape)) {
            shape_say(fault, SAY(shapes_cannot_be_stacked), shape_text(fault, &first->shape),
                      shape_text(fault, &fact->shape));
            shape_blame(fault, parts.values[0]);
            shape_blame(fault, parts.values[p]);
        }
        shape_fact_meet(&part, fact);
    }
    if (part.state != SHAPE_IS_KNOWN || part.shape.rank == TL_MAX_RANK)
        return part.state == SHAPE_IS_UNSET ? shape_unset : shape_unknown;
    shape_fact result = shape_of_rank(part.shape.rank + 1u);
    result.shape.dim[0] = parts.count;
    memcpy(result.shape.dim + 1, part.shape.dim, part.shape.rank * sizeof part.shape.dim[0]);
    return result;
}
