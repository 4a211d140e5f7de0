/* tensor_kinds.c: what each operation does with the elements of its operands.
 *
 *     reads       looks at them, and lets go of them when it ends
 *     shares      reads; but the result may be the first operand's elements (a view, the value itself)
 *     fresh       the result fills a buffer of its own, when it does not share one
 *     keeps       may hold them beyond its end
 *     works       makes tensors of its own on the way: operands converted, or copied to lie row by row; they are gone
 *                 at its end
 *
 * An operation whose operands may be tracked keeps them whatever is said here: history needs them. Every operation with
 * a tensor in its prototype is in one of the lists, or is one of the table's ELEMENTs, UNARYs and BINARYs; a test looks
 * for one that is not. One that is not listed counts as keeping: that is never wrong, only dear.
 */
#include "language/facts/tensor_facts.h"

/* clang-format off */
#define MAKING_OPERATIONS(X) \
    X(zeros) X(ones) X(full) X(randn) X(rand) X(eye) X(arange) X(linspace) X(scalar) X(full_f64) X(full_i64) \
    X(randn_f64) X(rand_f64) X(arange_f64) X(arange_i64) X(linspace_f64) X(zeros_like) X(ones_like) X(randn_like) \
    X(rand_like) X(scalar_like) X(literal_f32) X(literal_f64) X(literal_i64) X(literal_bool) X(compare) \
    X(compare_scalar) X(logical_not) X(logical_and) X(logical_or) X(sum) X(sum_dim) X(mean) X(mean_dim) X(max) \
    X(max_dim) X(min) X(min_dim) X(argmax) X(argmax_dim) X(argmin) X(argmin_dim) X(tril) X(triu) X(pad) X(copied) \
    X(cat) X(stack) X(derived) X(shape) X(comprehend)
#define WORKING_OPERATIONS(X) \
    X(where) X(prod) X(softmax) X(log_softmax) X(standardise) X(standardise_to) X(cumsum) X(matmul) X(mse_loss) \
    X(cross_entropy) X(index_select) X(gather) X(scatter_add) X(scatter) X(embedding) X(order) X(order_at) \
    X(running_place) X(vecdot) \
    X(nonzero) X(distances) X(unfold) X(convolve) X(fold) X(decompose) X(solve)
#define READING_OPERATIONS(X) \
    X(get_f64) X(get_i64) X(item) X(item_i64) X(item_bool) X(len) X(rank) X(dim) X(is_bool) X(is_tracked) X(is_like) \
    X(is_leaf) X(has_grad) X(file_fits) X(about) X(kind) X(require_untracked) X(stated) X(exact_f32) \
    X(exact_f64) X(exact_i64) X(read_as)
#define SHARING_OPERATIONS(X) \
    X(transpose) X(permute) X(squeeze) X(unsqueeze) X(expand) X(expand_to) X(slice) X(narrow) X(row) \
    X(shallow_clone) X(clone) X(detach) X(freeze) X(set_f64) X(set_i64) X(fill) X(add_assign) X(sub_assign) \
    X(mul_assign) X(div_assign) X(add_update) X(sub_update) X(mul_update) X(div_update) X(put)
/* A view where the strides allow it, or of the same type; else a copy. */
#define COPYING_OPERATIONS(X) \
    X(reshape) X(reshape_to) X(flatten) X(contiguous) X(to_dtype)
#define KEEPING_OPERATIONS(X) \
    X(backward) X(backward_from) X(retain_grad) X(gradient) X(marked) X(grad) X(take_grad) X(enable_grad) \
    X(clip_grad) X(acquire) X(release_safe) X(promote) X(register)
/* clang-format on */

unsigned tensor_kind_of(tl_abi_index function) {
    switch ((int)function) {
        /* Element by element: the result may be written over an operand. */
#define ELEMENT(name, parameters, dtype, saves, back, numbers, example, text) case TL_FN_tl_tensor_##name:
#define BINARY(name, dtype, share_a, back_a, share_b, back_b, operand, text)  case TL_FN_tl_tensor_##name:
#include <masu/ops.def>
        return TENSOR_ELEMENTWISE | TENSOR_FRESH | TENSOR_READS;
#define X(name) case TL_FN_tl_tensor_##name:
        MAKING_OPERATIONS(X)
    case TL_FN_tl_tensor_file_read:
    case TL_FN_tl_csv_tensor:
    case TL_FN_tl_random_state:
    case TL_FN_tl_random_permutation:
    case TL_FN_tl_random_whole:
        return TENSOR_FRESH | TENSOR_READS;
        WORKING_OPERATIONS(X)
    case TL_FN_tl_random_places:
    case TL_FN_tl_random_times:
        return TENSOR_FRESH | TENSOR_READS | TENSOR_WORKS;
        SHARING_OPERATIONS(X)
        return TENSOR_SHARES | TENSOR_READS;
        COPYING_OPERATIONS(X)
        return TENSOR_SHARES | TENSOR_FRESH | TENSOR_READS;
        KEEPING_OPERATIONS(X)
        return TENSOR_KEEPS;
        READING_OPERATIONS(X)
#undef X
    case TL_FN_tl_print_tensor:
    case TL_FN_tl_tensor_keep_grad:
    case TL_FN_tl_grad_consume:
    case TL_FN_tl_grad_hand_out:
    case TL_FN_tl_text_tensor:
    case TL_FN_tl_random_resume:
        return TENSOR_READS;
    case TL_FN_tl_mem_register_tensor:
    case TL_FN_tl_call_tensor: /* perhaps the elements of the caller in C */
    case TL_FN_tl_give_tensor:
        return TENSOR_KEEPS;
    default:
        return 0;
    }
}

unsigned tensor_kind(const ir_instr *i) {
    if (i->op == IR_COMPREHEND)
        return TENSOR_FRESH | TENSOR_READS;
    return i->op == IR_ABI ? tensor_kind_of(i->abi) : 0;
}
