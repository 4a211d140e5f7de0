/* lower_stated.c: what is stated of tensors and was not known of them is found when the program runs (check_stated.c).
 *
 *     fn f(x: Tensor) -> Tensor<i64, 1> { x }     tl_tensor_stated x, I64, 1
 *
 * Every tensor in the value is looked at: in its fields where they lie open, in its lists by the path of words that
 * leads there.
 */
#include "language/lower/lowering.h"

enum { NOT_STATED = -1, PATH_MAX = 8 };

typedef struct stated {
    lower_fn *fn;
    ir_value value; /* the leaf: a tensor, or the list in which the tensors lie */
    source_span span;
    uint32_t depth; /* of lists */
    int64_t path[PATH_MAX];
} stated;

/* More is stated of the tensor than was known. */
static void look(stated *s, const type *from, const type *to) {
    bool element = !from->tensor.element && to->tensor.element, rank = from->tensor.rank < 0 && to->tensor.rank >= 0;
    if (!element && !rank)
        return;
    ir_value args[3 + PATH_MAX] = {
        s->value, lower_int(s->fn, IR_I64, element ? (int64_t)lower_element_dtype(to) : NOT_STATED, s->span),
        lower_int(s->fn, IR_I64, rank ? to->tensor.rank : NOT_STATED, s->span)};
    for (uint32_t i = 0; i < s->depth; i++)
        args[3 + i] = lower_int(s->fn, IR_I64, s->path[i], s->span);
    lower_abi(s->fn, s->depth > 0 ? TL_FN_tl_vec_stated : TL_FN_tl_tensor_stated, args, 3 + s->depth, s->span);
}

/* leaves: where the value's begin; in a list NULL, and `word` is where its words begin in the element. */
static void visit(stated *s, const type *from, const type *to, const ir_value *leaves, uint32_t word) {
    if (from == to || from->kind != to->kind)
        return;
    if (s->depth > 0)
        s->path[s->depth - 1] = word;
    else
        s->value = leaves[word];
    if (from->kind == TYPE_TENSOR) {
        look(s, from, to);
    } else if (from->kind == TYPE_VEC) {
        if (s->depth == PATH_MAX)
            return; /* the check let none pass that is deeper */
        s->depth++;
        visit(s, from->vec.element, to->vec.element, leaves, 0);
        s->depth--;
    }
    for (uint32_t i = 0; i < lower_field_count(from); i++)
        visit(s, lower_field_type(from, i), lower_field_type(to, i), leaves,
              word + lower_field_offset(s->fn->l, from, i));
}

void lower_stated(lower_fn *fn, const type *from, const type *to, const ir_value *values, source_span span) {
    stated s = {.fn = fn, .span = span};
    if (lower_leaf_count(fn->l, from) > 0)
        visit(&s, from, to, values, 0);
}
