/* products.c: sums of products along a dimension that make no tensor of the products.
 *
 *     %3 = tl_tensor_mul %1, %2
 *     release %1                            %4 = tl_tensor_vecdot %1, %2, -1
 *     %4 = tl_tensor_sum_dim %3, -1   ─►    release %1
 *     release %3
 *
 * A mask of [32, 8, 8] on a board of [1, 8, 8] is then read where it lies, forward and backward. Only where an operand
 * may be tracked and the products have no name: others lie in the frame or over an operand, which costs nothing.
 */
#include "language/facts/tensor_facts.h"
#include "language/ir/edit.h"
#include "language/pass/pass.h"

/* The release of v among what the passes put behind i; NULL: v lives on. */
static ir_instr *end_of(const ir_instr *i, ir_value v) {
    for (ir_instr *p = i->next; p && p->op == IR_RELEASE; p = p->next)
        if (p->args[0] == v)
            return p;
    return NULL;
}

/* The sum along a known dimension that alone reads the products, behind nothing but constants and ends of others. */
static ir_instr *sum_of(const ir_function *f, const ir_instr *mul) {
    ir_instr *i = mul->next;
    while (i && (i->op == IR_CONST || (i->op == IR_RELEASE && i->args[0] != mul->result)))
        i = i->next;
    int64_t dim;
    bool sums = i && i->op == IR_ABI && i->abi == TL_FN_tl_tensor_sum_dim && i->args[0] == mul->result &&
                ir_const_int(f, i->args[1], &dim);
    return sums && end_of(i, mul->result) ? i : NULL;
}

static void join(ir_function *f, ir_instr *mul, ir_instr *sum, ir_value *to) {
    const ir_type number = IR_I64, tensor = IR_TENSOR;
    int64_t n = 0;
    ir_instr *dim = ir_instr_new(f, IR_CONST, NULL, 0, &number, 1, sum->span);
    if (!dim || !ir_const_int(f, sum->args[1], &n))
        return;
    dim->imm.i = n;
    const ir_value args[] = {mul->args[0], mul->args[1], dim->result};
    ir_instr *all = ir_instr_new(f, IR_ABI, args, 3, &tensor, 1, sum->span);
    if (!all)
        return;
    all->abi = TL_FN_tl_tensor_vecdot;
    all->site = mul->site;
    ir_insert_before(mul, dim);
    ir_insert_before(mul, all);
    f->values[all->result].name = f->values[sum->result].name;
    f->values[all->result].span = f->values[sum->result].span;
    f->values[all->result].shape = f->values[sum->result].shape;
    to[sum->result] = all->result;
    ir_remove(end_of(sum, mul->result));
    ir_remove(sum);
    ir_remove(mul);
}

static uint32_t uses_of(const ir_function *f, ir_value v) {
    uint32_t uses = 0;
    for (uint32_t b = 0; b < f->block_count; b++)
        for (const ir_instr *i = f->blocks[b]->first; i; i = i->next) {
            for (uint32_t a = 0; a < i->arg_count; a++)
                uses += i->args[a] == v;
            for (int t = 0; t < ir_target_count(i); t++)
                for (uint32_t a = 0; a < i->target[t].count; a++)
                    uses += i->target[t].args[a] == v;
        }
    return uses;
}

enum { SUM_AND_RELEASE = 2 };

static void look_through(const tensor_facts *facts, ir_function *f, masu__arena *scratch) {
    const uint32_t known = f->value_count;
    ir_value *to = NULL;
    for (uint32_t b = 0; b < f->block_count; b++) {
        for (ir_instr *i = f->blocks[b]->first, *next; i; i = next) {
            next = i->next;
            if (i->op != IR_ABI || i->abi != TL_FN_tl_tensor_mul || f->values[i->result].name ||
                tensor_reads_plain(facts, f, i))
                continue;
            ir_instr *sum = sum_of(f, i);
            if (!sum || uses_of(f, i->result) != SUM_AND_RELEASE)
                continue;
            next = sum->next->args[0] == i->result && sum->next->op == IR_RELEASE ? sum->next->next : sum->next;
            if (!to && (to = MASU_ARENA_ARRAY(scratch, ir_value, known + 1)) != NULL)
                for (uint32_t v = 0; v < known; v++)
                    to[v] = v;
            if (!to) {
                f->module->out_of_memory = true;
                return;
            }
            join(f, i, sum, to);
        }
    }
    if (!to)
        return;
    ir_value *all = MASU_ARENA_ARRAY(scratch, ir_value, f->value_count);
    if (!all) {
        f->module->out_of_memory = true;
        return;
    }
    for (uint32_t v = 0; v < f->value_count; v++)
        all[v] = v < known ? to[v] : v;
    ir_replace_values(f, all);
}

void pass_products(ir_module *m, pass_context *context) {
    (void)context;
    masu__arena scratch = {0};
    tensor_facts facts = {0};
    if (!tensor_facts_compute(&facts, m, &scratch))
        m->out_of_memory = true;
    for (uint32_t n = 0; n < m->function_count && !m->out_of_memory; n++)
        if (!m->functions[n]->is_kernel)
            look_through(&facts, m->functions[n], &scratch);
    masu__arena_destroy(&scratch);
}
