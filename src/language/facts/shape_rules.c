/* shape_rules.c: one function for each rule of enum tl_shape_rule, and for the operations whose
 * result depends on more than a rule can say. See shape_facts.h.
 */
#include <inttypes.h>
#include <string.h>

#include "language/facts/shape_facts.h"

/* ---- element-wise ---------------------------------------------------------------------------- */

/* Whether the dimensions can never agree. */
static bool dims_clash(int64_t a, int64_t b) {
    return a >= 0 && b >= 0 && a != b && a != 1 && b != 1;
}

static int64_t dims_broadcast(int64_t a, int64_t b) {
    if (a == b)
        return a;
    if (dims_clash(a, b) || (a < 0 && b < 0))
        return -1;
    if (a == 1)
        return b;
    if (b == 1)
        return a;
    return a >= 0 ? a : b; /* the other one is as long, or 1 */
}

static bool shapes_clash(const ir_shape *a, const ir_shape *b) {
    for (uint32_t back = 0; back < a->rank && back < b->rank; back++)
        if (dims_clash(shape_dim_from_end(a, back), shape_dim_from_end(b, back)))
            return true;
    return false;
}

static shape_fact broadcast(const shape_fact *a, const shape_fact *b) {
    if (a->state != SHAPE_IS_KNOWN || b->state != SHAPE_IS_KNOWN)
        return a->state == SHAPE_IS_UNSET || b->state == SHAPE_IS_UNSET ? shape_unset : shape_unknown;
    shape_fact result = shape_of_rank(a->shape.rank > b->shape.rank ? a->shape.rank : b->shape.rank);
    for (uint32_t back = 0; back < result.shape.rank; back++)
        result.shape.dim[result.shape.rank - 1 - back] = dims_broadcast(shape_dim_from_end(&a->shape, back),
                                                                        shape_dim_from_end(&b->shape, back));
    return result;
}

static void check_pair(const shape_query *q, ir_value a, ir_value b, shape_fault *fault) {
    const shape_fact *fa = shape_fact_of(q, a), *fb = shape_fact_of(q, b);
    if (!shape_wanted(fault) || !a || !b || fa->state != SHAPE_IS_KNOWN || fb->state != SHAPE_IS_KNOWN ||
        !shapes_clash(&fa->shape, &fb->shape))
        return;
    shape_say(fault, SAY(shapes_cannot_be_broadcast), shape_text(fault, &fa->shape), shape_text(fault, &fb->shape));
    shape_blame(fault, a);
    shape_blame(fault, b);
}

static shape_fact rule_broadcast(const shape_query *q, shape_fault *fault) {
    ir_value first = shape_tensor(q, 0);
    shape_fact result = first ? *shape_fact_of(q, first) : shape_unknown;
    for (uint32_t n = 1; shape_tensor(q, n); n++) {
        ir_value v = shape_tensor(q, n);
        for (uint32_t before = 0; before < n; before++)
            check_pair(q, shape_tensor(q, before), v, fault);
        result = broadcast(&result, shape_fact_of(q, v));
    }
    return result;
}

static shape_fact rule_same(const shape_query *q, shape_fault *fault) {
    ir_value t = shape_tensor(q, 0);
    check_pair(q, t, shape_tensor(q, 1), fault); /* in-place operations: the second fits into the first */
    return t ? *shape_fact_of(q, t) : shape_unknown;
}

/* ---- dimensions by number -------------------------------------------------------------------- */

/* The dimension that the parameter names, counted from the front; -1 when it is not known, or
 * known to be wrong. */
static int64_t dimension(const shape_query *q, const char *parameter, const ir_shape *s, uint32_t extra,
                         shape_fault *fault) {
    int64_t dim, rank = s->rank + extra;
    if (!shape_known_number(q, shape_operand(q, parameter), &dim))
        return -1;
    if (dim >= -rank && dim < rank)
        return dim < 0 ? dim + rank : dim;
    if (shape_wanted(fault)) {
        shape_say(fault, SAY(dimension_is_out_of_range), (long long)dim, shape_text(fault, s));
        shape_blame(fault, shape_tensor(q, 0));
    }
    return -1;
}

static shape_fact without_dim(const ir_shape *s, int64_t dim) {
    if (s->rank == 0)
        return shape_unknown;
    shape_fact result = shape_of_rank(s->rank - 1u);
    for (uint32_t d = 0, to = 0; dim >= 0 && d < s->rank; d++)
        if (d != (uint32_t)dim)
            result.shape.dim[to++] = s->dim[d];
    return result;
}

static shape_fact rule_reduce(const shape_query *q, const ir_shape *s, shape_fault *fault) {
    return without_dim(s, dimension(q, "dim", s, 0, fault));
}

static shape_fact rule_kept(const shape_query *q, const ir_shape *s, shape_fault *fault) {
    dimension(q, "dim", s, 0, fault);
    return (shape_fact){.state = SHAPE_IS_KNOWN, .shape = *s};
}

static shape_fact rule_transpose(const shape_query *q, const ir_shape *s, shape_fault *fault) {
    int64_t a = dimension(q, "a", s, 0, fault), b = dimension(q, "b", s, 0, fault);
    shape_fact result = shape_of_rank(s->rank);
    if (a < 0 || b < 0)
        return result;
    result.shape = *s;
    result.shape.dim[a] = s->dim[b];
    result.shape.dim[b] = s->dim[a];
    return result;
}

/* The shape with one dimension's length replaced, all unknown when it is not known which. */
static shape_fact with_dim(const ir_shape *s, int64_t dim, int64_t length) {
    shape_fact result = shape_of_rank(s->rank);
    if (dim < 0)
        return result;
    result.shape = *s;
    result.shape.dim[dim] = length;
    return result;
}

/* Elements [from, to) of a dimension of known length. */
static void check_part(const shape_query *q, const ir_shape *s, int64_t dim, int64_t from, int64_t to,
                       shape_fault *fault) {
    int64_t length = s->dim[dim];
    from += from < 0 ? length : 0;
    to += to < 0 ? length : 0;
    if (!shape_wanted(fault) || length < 0 || (from >= 0 && from <= to && to <= length))
        return;
    shape_say(fault, SAY(elements_are_out_of_range), (long long)from, (long long)to, (long long)dim,
              shape_text(fault, s));
    shape_blame(fault, shape_tensor(q, 0));
}

/* A loop's counter that begins at 0 or more and only goes up. */
static bool counts_up(const shape_query *q, uint32_t symbol) {
    const ir_value_info *info = &q->f->values[q->symbols->all[symbol].a];
    const ir_block *b = info->block;
    uint32_t p = 0;
    while (!info->def && p < b->param_count && b->params[p] != q->symbols->all[symbol].a)
        p++;
    if (info->def || info->is_parameter || p == b->param_count)
        return false;
    for (uint32_t e = 0; e < b->pred_count; e++) {
        const ir_instr *last = b->preds[e]->last;
        for (int t = 0; t < ir_target_count(last); t++) {
            if (last->target[t].block != b)
                continue;
            shape_length from = shape_number_length(q, last->target[t].args[p]);
            const shape_symbol *x = &q->symbols->all[from.symbol];
            if (!(from.known && from.number >= 0) &&
                !(from.symbol && x->kind == ATOM_AFFINE && x->a == symbol && x->mul == 1 && x->add > 0))
                return false;
        }
    }
    return true;
}

/* A length that is never negative: a dimension, and what is made of such without subtracting. */
static bool never_negative(const shape_query *q, shape_length l, int depth) {
    const shape_symbol *x = l.symbol ? &q->symbols->all[l.symbol] : NULL;
    if (!x || depth == 4)
        return l.known && l.number >= 0;
    shape_length a = {.symbol = x->a}, b = {.symbol = x->b};
    switch (x->kind) {
    case ATOM_DIM:
        return true;
    case ATOM_VALUE:
        return x->function == q->f->id && counts_up(q, l.symbol); /* a value of a caller is not in this function */
    case ATOM_SUM:
    case ATOM_PRODUCT:
        return never_negative(q, a, depth + 1) && never_negative(q, b, depth + 1);
    case ATOM_AFFINE:
        return x->mul > 0 && x->add >= 0 && never_negative(q, a, depth + 1);
    case ATOM_QUOTIENT:
        return !x->b && never_negative(q, a, depth + 1);
    default:
        return false;
    }
}

/* Elements [from, to): those that count from the end are known only when the length is. */
static shape_fact rule_slice(const shape_query *q, const ir_shape *s, shape_fault *fault) {
    int64_t dim = dimension(q, "dim", s, 0, fault);
    shape_length from = shape_number_length(q, shape_operand(q, "from")),
                 to = shape_number_length(q, shape_operand(q, "to"));
    if (dim >= 0 && from.known && to.known)
        check_part(q, s, dim, from.number, to.number, fault);
    bool plain = never_negative(q, from, 0) && never_negative(q, to, 0);
    return with_dim(s, dim, plain ? shape_dim_of_length(shape_combine(q->symbols, IR_SUB, to, from)) : -1);
}

static shape_fact rule_narrow(const shape_query *q, const ir_shape *s, shape_fault *fault) {
    int64_t dim = dimension(q, "dim", s, 0, fault);
    shape_length from = shape_number_length(q, shape_operand(q, "from")),
                 length = shape_number_length(q, shape_operand(q, "length"));
    if (dim >= 0 && from.known && from.number >= 0 && length.known && length.number >= 0)
        check_part(q, s, dim, from.number, from.number + length.number, fault);
    return with_dim(s, dim, shape_dim_of_length(length));
}

/* As many slices along the dimension as the vector of numbers names. */
static shape_fact rule_select(const shape_query *q, const ir_shape *s, shape_fault *fault) {
    const shape_fact *index = shape_fact_of(q, shape_tensor(q, 1));
    int64_t dim = dimension(q, "dim", s, 0, fault);
    if (index->state == SHAPE_IS_UNSET)
        return shape_unset;
    bool known = index->state == SHAPE_IS_KNOWN && index->shape.rank == 1;
    return with_dim(s, dim, known ? index->shape.dim[0] : -1);
}

static shape_fact rule_squeeze(const shape_query *q, const ir_shape *s, shape_fault *fault) {
    int64_t dim = dimension(q, "dim", s, 0, fault);
    if (dim < 0 || s->dim[dim] < 0)
        return shape_unknown; /* whether a dimension goes depends on its length */
    return s->dim[dim] == 1 ? without_dim(s, dim) : with_dim(s, dim, s->dim[dim]);
}

static shape_fact rule_unsqueeze(const shape_query *q, const ir_shape *s, shape_fault *fault) {
    int64_t dim = dimension(q, "dim", s, 1, fault);
    shape_fact result = shape_of_rank(s->rank + 1u);
    for (uint32_t d = 0; result.state == SHAPE_IS_KNOWN && dim >= 0 && d <= s->rank; d++)
        result.shape.dim[d] = d < (uint32_t)dim ? s->dim[d] : d == (uint32_t)dim ? 1 : s->dim[d - 1];
    return result;
}

/* All dimensions but the one along which they are joined are equal. */
static void check_joined(const shape_query *q, const ir_shape *a, const ir_shape *b, int64_t dim, shape_fault *fault) {
    bool fit = a->rank == b->rank;
    for (uint32_t d = 0; fit && d < a->rank; d++)
        fit = d == (uint32_t)dim || !shape_lengths_differ(q->symbols, a->dim[d], b->dim[d]);
    if (fit || !shape_wanted(fault))
        return;
    shape_say(fault, SAY(shapes_cannot_be_joined), shape_text(fault, a), shape_text(fault, b), (long long)dim);
    shape_blame(fault, shape_tensor(q, 0));
    shape_blame(fault, shape_tensor(q, 1));
}

static shape_fact rule_cat(const shape_query *q, const ir_shape *s, shape_fault *fault) {
    const shape_fact *other = shape_fact_of(q, shape_tensor(q, 1));
    int64_t dim = dimension(q, "dim", s, 0, fault);
    if (other->state == SHAPE_IS_KNOWN && dim >= 0)
        check_joined(q, s, &other->shape, dim, fault);
    if (other->state != SHAPE_IS_KNOWN || other->shape.rank != s->rank || dim < 0)
        return other->state == SHAPE_IS_UNSET ? shape_unset : shape_of_rank(s->rank);
    return with_dim(s, dim,
                    shape_dim_of_length(shape_combine(q->symbols, IR_ADD, shape_length_of_dim(s->dim[dim]),
                                                      shape_length_of_dim(other->shape.dim[dim]))));
}

/* ---- products -------------------------------------------------------------------------------- */

static void check_inner(const shape_query *q, int64_t a, int64_t b, shape_fault *fault) {
    if (!shape_wanted(fault) || !shape_lengths_differ(q->symbols, a, b))
        return;
    ir_value left = shape_tensor(q, 0), right = shape_tensor(q, 1);
    shape_say(fault, SAY(shapes_cannot_be_multiplied), shape_text(fault, &shape_fact_of(q, left)->shape),
              shape_text(fault, &shape_fact_of(q, right)->shape), shape_dim_text(fault, a), shape_dim_text(fault, b));
    shape_blame(fault, left);
    shape_blame(fault, right);
}

/* All but the last two dimensions. */
static shape_fact batch_of(const ir_shape *s) {
    shape_fact result = shape_of_rank(s->rank > 2 ? s->rank - 2u : 0);
    for (uint32_t d = 0; d < result.shape.rank; d++)
        result.shape.dim[d] = s->dim[d];
    return result;
}

static void append_dim(shape_fact *fact, int64_t dim) {
    if (fact->shape.rank == TL_MAX_RANK)
        *fact = shape_unknown;
    else
        fact->shape.dim[fact->shape.rank++] = dim;
}

static shape_fact rule_matmul(const shape_query *q, shape_fault *fault) {
    const shape_fact *a = shape_fact_of(q, shape_tensor(q, 0)), *b = shape_fact_of(q, shape_tensor(q, 1));
    if (a->state != SHAPE_IS_KNOWN || b->state != SHAPE_IS_KNOWN)
        return a->state == SHAPE_IS_UNSET || b->state == SHAPE_IS_UNSET ? shape_unset : shape_unknown;
    if (a->shape.rank == 0 || b->shape.rank == 0)
        return shape_unknown;
    check_inner(q, shape_dim_from_end(&a->shape, 0),
                b->shape.rank == 1 ? b->shape.dim[0] : shape_dim_from_end(&b->shape, 1), fault);
    shape_fact left = batch_of(&a->shape), right = batch_of(&b->shape);
    if (shape_wanted(fault) && shapes_clash(&left.shape, &right.shape))
        check_pair(q, shape_tensor(q, 0), shape_tensor(q, 1), fault);
    shape_fact result = broadcast(&left, &right);
    if (a->shape.rank > 1)
        append_dim(&result, shape_dim_from_end(&a->shape, 1));
    if (b->shape.rank > 1 && result.state == SHAPE_IS_KNOWN)
        append_dim(&result, shape_dim_from_end(&b->shape, 0));
    return result;
}

/* ---- elements -------------------------------------------------------------------------------- */

/* t[i, j]: as many indices as dimensions, each below the length. */
static void check_indices(const shape_query *q, const ir_shape *s, shape_fault *fault) {
    shape_list index = shape_list_of(q);
    if (!shape_wanted(fault))
        return;
    if (index.count != s->rank) {
        shape_say(fault, SAY(indices_cannot_select_an_element), index.count, index.count == 1 ? "index" : "indices",
                  shape_text(fault, s));
        shape_blame(fault, shape_tensor(q, 0));
        return;
    }
    for (uint32_t d = 0; d < s->rank; d++) {
        int64_t at;
        if (!shape_known_number(q, index.values[d], &at) || (at >= 0 && (s->dim[d] < 0 || at < s->dim[d])))
            continue;
        shape_say(fault, SAY(index_is_out_of_range), (long long)at, d, shape_text(fault, s));
        shape_blame(fault, shape_tensor(q, 0));
        return;
    }
}

/* ---- dispatch -------------------------------------------------------------------------------- */

/* Rules about one tensor's shape. */
static shape_fact apply_to_shape(const shape_query *q, const ir_shape *s, shape_fault *fault) {
    switch (tl_abi_functions[q->i->abi].shape) {
    case SHAPE_KEPT:
        return rule_kept(q, s, fault);
    case SHAPE_REDUCE:
        return rule_reduce(q, s, fault);
    case SHAPE_TRANSPOSE:
        return rule_transpose(q, s, fault);
    case SHAPE_PERMUTE:
        return shape_rule_permute(q, s);
    case SHAPE_FLATTEN:
        return shape_rule_flatten(q, s);
    case SHAPE_SQUEEZE:
        return rule_squeeze(q, s, fault);
    case SHAPE_UNSQUEEZE:
        return rule_unsqueeze(q, s, fault);
    case SHAPE_SLICE:
        return rule_slice(q, s, fault);
    case SHAPE_NARROW:
        return rule_narrow(q, s, fault);
    case SHAPE_CAT:
        return rule_cat(q, s, fault);
    case SHAPE_ROW:
        return without_dim(s, 0);
    case SHAPE_SELECT:
        return rule_select(q, s, fault);
    case SHAPE_RANK_SAME:
        return shape_of_rank(s->rank);
    default:
        return shape_unknown;
    }
}

static shape_fact apply_to_first(const shape_query *q, shape_fault *fault) {
    ir_value t = shape_tensor(q, 0);
    const shape_fact *fact = t ? shape_fact_of(q, t) : &shape_unknown;
    return fact->state == SHAPE_IS_KNOWN ? apply_to_shape(q, &fact->shape, fault) : *fact;
}

/* t[i]: a row. */
static void check_row(const shape_query *q, const ir_shape *s, shape_fault *fault) {
    int64_t at;
    if (s->rank == 0 || !shape_known_number(q, shape_operand(q, "index"), &at) ||
        (at >= 0 && (s->dim[0] < 0 || at < s->dim[0])))
        return;
    shape_say(fault, SAY(index_is_out_of_range), (long long)at, 0, shape_text(fault, s));
    shape_blame(fault, shape_tensor(q, 0));
}

static void check_single(const shape_query *q, const ir_shape *s, shape_fault *fault) {
    int64_t count;
    if (!shape_elements(s, &count) || count == 1)
        return;
    shape_say(fault, SAY(shape_is_not_a_single_number), shape_text(fault, s));
    shape_blame(fault, shape_tensor(q, 0));
}

static void check_loss(const shape_query *q, const ir_shape *s, shape_fault *fault) {
    int64_t count;
    if (!shape_elements(s, &count) || count == 1)
        return;
    shape_say(fault, SAY(backward_needs_a_scalar), shape_text(fault, s));
    shape_blame(fault, shape_tensor(q, 0));
}

/* Logits of two dimensions: a class for each row, or as many numbers as the logits. */
static void check_classes(const shape_query *q, const ir_shape *s, shape_fault *fault) {
    const shape_fact *targets = shape_fact_of(q, shape_tensor(q, 1));
    if (s->rank != 2 || targets->state != SHAPE_IS_KNOWN)
        return;
    const ir_shape *t = &targets->shape;
    bool fits = t->rank == 1 || t->rank == 2;
    for (uint32_t d = 0; fits && d < t->rank; d++)
        fits = !shape_lengths_differ(q->symbols, t->dim[d], s->dim[d]);
    if (fits)
        return;
    shape_say(fault, SAY(logits_need_a_class_for_each_row), shape_text(fault, s), shape_text(fault, t));
    shape_blame(fault, shape_tensor(q, 0));
    shape_blame(fault, shape_tensor(q, 1));
}

static void check_square(const shape_query *q, const ir_shape *s, shape_fault *fault) {
    if (s->rank >= 2 && !shape_lengths_differ(q->symbols, s->dim[s->rank - 1], s->dim[s->rank - 2]))
        return;
    shape_say(fault, SAY(shape_is_not_a_square_matrix), shape_text(fault, s));
    shape_blame(fault, shape_tensor(q, 0));
}

static void check_order(const shape_query *q, const ir_shape *s, shape_fault *fault) {
    shape_list order = shape_list_of(q);
    bool seen[TL_MAX_RANK] = {false}, fits = order.count == s->rank;
    for (uint32_t d = 0; fits && d < s->rank; d++) {
        int64_t from;
        if (!shape_known_number(q, order.values[d], &from))
            return;
        from += from < 0 ? s->rank : 0;
        fits = from >= 0 && from < s->rank && !seen[from];
        if (fits)
            seen[from] = true;
    }
    if (fits)
        return;
    shape_say(fault, SAY(shape_cannot_be_permuted), shape_text(fault, s));
    shape_blame(fault, shape_tensor(q, 0));
}

/* Checks operands that the shape of the result does not depend on. */
static void check_stated(const shape_query *q, const ir_shape *s, shape_fault *fault) {
    int64_t rank;
    if (!shape_known_number(q, shape_operand(q, "rank"), &rank) || rank < 0 || rank == s->rank)
        return;
    shape_say(fault, SAY(tensor_of_another_rank_is_stated), (long long)rank, s->rank, shape_text(fault, s));
    shape_blame(fault, shape_tensor(q, 0));
}

static void check_operands(const shape_query *q, shape_fault *fault) {
    ir_value t = shape_tensor(q, 0);
    int64_t what;
    if (!shape_wanted(fault) || !t || shape_fact_of(q, t)->state != SHAPE_IS_KNOWN)
        return;
    const ir_shape *s = &shape_fact_of(q, t)->shape;
    switch (q->i->abi) {
    case TL_FN_tl_tensor_get_f64:
    case TL_FN_tl_tensor_get_i64:
    case TL_FN_tl_tensor_set_f64:
    case TL_FN_tl_tensor_set_i64:
        check_indices(q, s, fault);
        break;
    case TL_FN_tl_tensor_exact_f32:
    case TL_FN_tl_tensor_exact_f64:
    case TL_FN_tl_tensor_exact_i64:
        if (q->i->arg_count == 1)
            check_single(q, s, fault);
        else
            check_indices(q, s, fault);
        break;
    case TL_FN_tl_tensor_stated:
        check_stated(q, s, fault);
        break;
    case TL_FN_tl_tensor_dim:
    case TL_FN_tl_tensor_order:
    case TL_FN_tl_tensor_gather:
        dimension(q, "dim", s, 0, fault);
        break;
    case TL_FN_tl_tensor_row:
        check_row(q, s, fault);
        break;
    case TL_FN_tl_tensor_item:
    case TL_FN_tl_tensor_item_i64:
    case TL_FN_tl_tensor_item_bool:
        check_single(q, s, fault);
        break;
    case TL_FN_tl_tensor_backward:
        check_loss(q, s, fault);
        break;
    case TL_FN_tl_tensor_mse_loss:
        check_pair(q, t, shape_tensor(q, 1), fault);
        break;
    case TL_FN_tl_tensor_cross_entropy:
        check_classes(q, s, fault);
        break;
    case TL_FN_tl_tensor_permute:
        check_order(q, s, fault);
        break;
    case TL_FN_tl_tensor_decompose: /* 0: the inverse, 1: the determinant */
        if (shape_known_number(q, shape_operand(q, "what"), &what) && (what == 0 || what == 1))
            check_square(q, s, fault);
        break;
    case TL_FN_tl_tensor_solve:
        check_square(q, s, fault);
        break;
    default:
        break;
    }
}

/* As many numbers as the tensor has dimensions. */
static shape_fact rule_shape(const shape_query *q) {
    const shape_fact *t = shape_fact_of(q, shape_tensor(q, 0));
    shape_fact result = shape_of_rank(1);
    if (t->state == SHAPE_IS_UNSET)
        return shape_unset;
    if (t->state == SHAPE_IS_KNOWN)
        result.shape.dim[0] = t->shape.rank;
    return result;
}

static shape_fact apply_comprehension(const shape_query *q) {
    shape_list cells = {.values = q->i->args, .count = q->i->kernel->rank};
    return shape_written_shape(q, cells, NULL, false);
}

shape_fact shape_rule_apply(const shape_query *q, shape_fault *fault) {
    if (q->i->op == IR_COMPREHEND)
        return apply_comprehension(q);
    check_operands(q, fault);
    if (q->i->abi == TL_FN_tl_tensor_shape)
        return rule_shape(q);
    switch (tl_abi_functions[q->i->abi].shape) {
    case NO_SHAPE:
        return shape_unknown;
    case SHAPE_SAME:
        return rule_same(q, fault);
    case SHAPE_BROADCAST:
        return rule_broadcast(q, fault);
    case SHAPE_BROADCAST_REDUCE: {
        shape_fact whole = rule_broadcast(q, fault);
        return whole.state == SHAPE_IS_KNOWN ? rule_reduce(q, &whole.shape, fault) : whole;
    }
    case SHAPE_RANK0:
        return shape_of_rank(0);
    case SHAPE_LIST:
        return shape_written_shape(q, shape_list_of(q), fault, false);
    case SHAPE_RESHAPE:
        return shape_rule_reshape(q, fault);
    case SHAPE_EXPAND:
        return shape_rule_expand(q, fault);
    case SHAPE_LITERAL:
        return shape_rule_literal(q);
    case SHAPE_SQUARE:
        return shape_rule_square(q);
    case SHAPE_VECTOR:
        return shape_of_rank(1);
    case SHAPE_MATMUL:
        return rule_matmul(q, fault);
    case SHAPE_STACK:
        return shape_rule_stack(q, fault);
    case SHAPE_LIKE_INDEX:
        return shape_tensor(q, 1) ? *shape_fact_of(q, shape_tensor(q, 1)) : shape_unknown;
    default:
        return apply_to_first(q, fault);
    }
}
