/* reuse.c: results written over an operand that dies.
 *
 *     %4 = tl_tensor_exp %1 over %1        the result may take over the buffer of %1
 *     release %1                           which gives up its own hold on it
 *
 * Only element-wise operations, whose result has as many elements as the operand as far as is known.
 * It is an offer: the runtime declines it when somebody else holds the buffer (a view, another
 * count, a value saved for backward), and makes a buffer as it would without this pass.
 *
 * A gradient that is read for the last time is another such operand:
 *
 *     %4 = tl_tensor_take_grad %1          was tl_tensor_grad: the leaf keeps nothing of it
 *     %5 = tl_tensor_mul_scalar %4 over %4
 *     %6 = tl_tensor_sub %1, %5 over %5    until %1 dies only its elements are read
 *     release %1
 *
 * Again an offer: declined when something else leads to the leaf.
 */
#include "base/assert.h"
#include "language/facts/tensor_facts.h"
#include "language/pass/pass.h"

static bool may_fit(const ir_shape *a, const ir_shape *b) {
    if (!a || !b || !a->known_rank || !b->known_rank)
        return true;
    if (a->rank != b->rank)
        return false;
    for (uint32_t d = 0; d < a->rank; d++)
        if (a->dim[d] >= 0 && b->dim[d] >= 0 && a->dim[d] != b->dim[d])
            return false;
    return true;
}

/* Among what the passes put behind an operation: its operands' ends. */
static bool dies_behind(const ir_instr *i, ir_value v) {
    for (const ir_instr *p = i->next; p && p->op == IR_RELEASE; p = p->next)
        if (p->args[0] == v)
            return true;
    return false;
}

static ir_value spent_operand(const ir_function *f, const ir_instr *i) {
    const ir_shape *result = f->values[i->result].shape;
    for (uint32_t a = 0; a < i->arg_count; a++) {
        ir_value v = i->args[a];
        if (ir_type_of(f, v) == IR_TENSOR && may_fit(f->values[v].shape, result) && dies_behind(i, v))
            return v;
    }
    return 0;
}

/* How i uses v: not at all, it reads elements, it ends v, or anything else. */
typedef enum use { UNUSED, READ, ENDED, OTHERWISE } use;

static use use_of(const ir_instr *i, ir_value v) {
    bool named = false, jumps = false;
    for (uint32_t a = 0; a < i->arg_count; a++)
        named |= i->args[a] == v;
    for (int t = 0; t < ir_target_count(i); t++)
        for (uint32_t a = 0; a < i->target[t].count; a++)
            jumps |= i->target[t].args[a] == v;
    if (jumps)
        return OTHERWISE;
    if (!named)
        return UNUSED;
    if (i->op == IR_RELEASE || (i->op == IR_ABI && i->abi == TL_FN_tl_tensor_detach))
        return ENDED;
    return (tensor_kind(i) & (TENSOR_FRESH | TENSOR_SHARES)) == TENSOR_FRESH ? READ : OTHERWISE;
}

/* Leaf v ends in i's block, and until there nothing can ask it for its gradient. */
static bool reads_last(const ir_function *f, const ir_instr *i, ir_value v) {
    if (f->values[v].borrowed)
        return false;
    for (const ir_instr *p = i->next; p; p = p->next) {
        use u = use_of(p, v);
        if (u == ENDED || u == OTHERWISE)
            return u == ENDED;
    }
    return false;
}

static void look_at(const ir_function *f, ir_instr *i) {
    if (tensor_is_elementwise(i))
        i->reuse = spent_operand(f, i);
    MASU_DEBUG_ASSERT(!i->reuse || (tensor_is_elementwise(i) && ir_type_of(f, i->result) == IR_TENSOR));
    if (i->op == IR_ABI && i->abi == TL_FN_tl_tensor_grad && reads_last(f, i, i->args[0]))
        i->abi = TL_FN_tl_tensor_take_grad;
}

void pass_reuse(ir_module *m, pass_context *context) {
    (void)context;
    for (uint32_t n = 0; n < m->function_count; n++) {
        ir_function *f = m->functions[n];
        for (uint32_t b = 0; b < f->block_count && !f->is_kernel; b++)
            for (ir_instr *i = f->blocks[b]->first; i; i = i->next)
                look_at(f, i);
    }
}
