/* array_views.c: operations whose result is another look at their operand's elements: offset and strides, or that there
 * are none. */
#include "language/portable/portable.h"

#include <string.h>

static bool constant(const layout *l, ir_value v, int64_t *out) {
    return v && ir_const_int(l->f, v, out);
}

static int64_t dimension(const layout *l, const ir_instr *i, const char *name, uint32_t rank) {
    int64_t dim;
    ir_value v = portable_operand(i, name);
    if (!constant(l, v, &dim))
        return -1;
    return dim < 0 ? dim + rank : dim;
}

/* Rows of b are rows of a, and lie as those do: strides for the new shape, false where there are none. */
static bool reshaped(const fact *from, const int64_t *stride, const fact *to, int64_t *out) {
    uint32_t a = from->rank, b = to->rank;
    layout_dense_strides(to, out);
    while (a > 0 || b > 0) {
        int64_t have = 1, want = 1;
        uint32_t a_end = a, b_end = b;
        do {
            if (have <= want && a > 0)
                have *= from->dim[--a];
            else if (b > 0)
                want *= to->dim[--b];
            else
                break;
        } while (have != want);
        while (a > 0 && from->dim[a - 1] == 1)
            a--;
        while (b > 0 && to->dim[b - 1] == 1)
            b--;
        if (have != want)
            return false;
        int64_t inner = 0, step = 0;
        for (uint32_t d = a_end; d-- > a;) { /* the group lies as one row */
            if (from->dim[d] == 1)
                continue;
            if (inner == 0)
                inner = step = stride[d];
            else if (stride[d] != step)
                return false;
            step *= from->dim[d];
        }
        for (uint32_t d = b_end; d-- > b;) {
            out[d] = inner;
            inner *= to->dim[d];
        }
    }
    return true;
}

static bool view_part(const layout *l, const ir_instr *i, const fact *t, place *at) {
    int64_t dim = i->abi == TL_FN_tl_tensor_row ? 0 : dimension(l, i, "dim", t->rank), from;
    ir_value first = portable_operand(i, i->abi == TL_FN_tl_tensor_row ? "index" : "from");
    if (dim < 0 || dim >= t->rank || !constant(l, first, &from))
        return false;
    from += from < 0 && i->abi != TL_FN_tl_tensor_row ? t->dim[dim] : 0;
    if (from < 0 || from > t->dim[dim] || (i->abi == TL_FN_tl_tensor_row && from >= t->dim[dim]))
        return false;
    at->offset += from * at->stride[dim];
    if (i->abi == TL_FN_tl_tensor_row)
        memmove(at->stride, at->stride + 1, sizeof at->stride - sizeof at->stride[0]);
    return true;
}

static bool view_turned(const layout *l, const ir_instr *i, const fact *t, place *at) {
    int64_t stride[TL_MAX_RANK];
    const ir_value *order;
    memcpy(stride, at->stride, sizeof stride);
    if (i->abi == TL_FN_tl_tensor_transpose) {
        int64_t a = dimension(l, i, "a", t->rank), b = dimension(l, i, "b", t->rank);
        if (a < 0 || b < 0)
            return false;
        at->stride[a] = stride[b];
        at->stride[b] = stride[a];
        return true;
    }
    uint32_t count = portable_list(i, &order);
    for (uint32_t d = 0; d < count; d++) {
        int64_t dim;
        if (!constant(l, order[d], &dim))
            return false;
        at->stride[d] = stride[dim < 0 ? dim + t->rank : dim];
    }
    return true;
}

static void expanded(const fact *from, const fact *to, place *at) {
    int64_t stride[TL_MAX_RANK];
    memcpy(stride, at->stride, sizeof stride);
    uint32_t more = to->rank - from->rank;
    for (uint32_t d = 0; d < to->rank; d++)
        at->stride[d] = d < more || (from->dim[d - more] == 1 && to->dim[d] != 1) ? 0 : stride[d - more];
}

/* The place of i's result as another look at its operand; false: it is copied. */
bool layout_view_of(const layout *l, const ir_instr *i, place *at) {
    const fact *from = layout_fact(l, i->args[0]), *to = layout_fact(l, i->result);
    *at = l->places[i->args[0]];
    switch ((int)i->abi) {
    case TL_FN_tl_tensor_slice:
    case TL_FN_tl_tensor_narrow:
    case TL_FN_tl_tensor_row:
        return view_part(l, i, from, at);
    case TL_FN_tl_tensor_transpose:
    case TL_FN_tl_tensor_permute:
        return view_turned(l, i, from, at);
    case TL_FN_tl_tensor_expand:
    case TL_FN_tl_tensor_expand_to:
        expanded(from, to, at);
        return true;
    case TL_FN_tl_tensor_contiguous:
        return layout_is_dense(l, i->args[0]);
    case TL_FN_tl_tensor_reshape:
    case TL_FN_tl_tensor_reshape_to:
    case TL_FN_tl_tensor_flatten:
    case TL_FN_tl_tensor_squeeze:
    case TL_FN_tl_tensor_unsqueeze:
        return fact_elements(from) > 0 && reshaped(from, l->places[i->args[0]].stride, to, at->stride);
    default: /* the value itself */
        return true;
    }
}
