/* verify_types.c: number and types of operands and results, opcode by opcode; what calls, records
 * and kernels must look like.
 */
#include <inttypes.h>

#include "language/ir/verify.h"

typedef struct site { /* the instruction being checked */
    ir_checker *c;
    const ir_instr *i;
} site;

static ir_type arg_type(const site *s, uint32_t a) {
    return ir_type_of(s->c->f, s->i->args[a]);
}

static ir_type result_type(const site *s) {
    return ir_type_of(s->c->f, s->i->result);
}

static bool counts(const site *s, uint32_t args, uint32_t results) {
    if (s->i->arg_count == args && s->i->result_count == results)
        return true;
    ir_fault(s->c, s->i->block, s->i,
             "has %" PRIu32 " operands and %" PRIu32 " results instead of %" PRIu32 " and %" PRIu32, s->i->arg_count,
             s->i->result_count, args, results);
    return false;
}

static void demand(const site *s, bool holds, const char *what) {
    if (!holds)
        ir_fault(s->c, s->i->block, s->i, "%s", what);
}

static bool arithmetic_type(ir_type t) {
    return ir_type_integer(t) || ir_type_float(t);
}

static bool bitwise_type(ir_type t) {
    return ir_type_integer(t) || t == IR_BOOL;
}

static bool plain_type(ir_type t) {
    return t != IR_NONE && !ir_type_managed(t);
}

/* ---- scalars --------------------------------------------------------------------------------- */

static void check_constant(const site *s) {
    if (!counts(s, 0, 1))
        return;
    if (s->i->op == IR_NOTHING)
        demand(s, ir_type_managed(result_type(s)), "nothing of a type that is not counted");
    else if (s->i->op == IR_CONST)
        demand(s, plain_type(result_type(s)), "a managed value that nothing has written");
    else
        demand(s, result_type(s) == IR_ADDRESS, "yields an address");
    double f = s->i->op == IR_CONST && result_type(s) == IR_F32 ? s->i->imm.f : 0;
    demand(s, f == (double)(float)f || f != f, "a constant that is not a number of its type");
}

static void check_binary(const site *s, bool (*accepts)(ir_type), bool comparison) {
    if (!counts(s, 2, 1))
        return;
    ir_type t = arg_type(s, 0);
    demand(s, t == arg_type(s, 1), "operands of different types");
    demand(s, accepts(t), "operands of a type that the operation does not know");
    demand(s, result_type(s) == (comparison ? IR_BOOL : t), "a result of the wrong type");
}

static void check_unary(const site *s, bool (*accepts)(ir_type)) {
    if (!counts(s, 1, 1))
        return;
    demand(s, accepts(arg_type(s, 0)), "an operand of a type that the operation does not know");
    demand(s, result_type(s) == arg_type(s, 0), "a result of the wrong type");
}

static void check_math(const site *s) {
    if (math_row_of(s->i->imm.math)->arguments == MATH_ALONE)
        check_unary(s, ir_type_float);
    else
        check_binary(s, ir_type_float, false);
}

static void check_cast(const site *s) {
    if (counts(s, 1, 1))
        demand(s, plain_type(arg_type(s, 0)) && plain_type(result_type(s)), "casts are between plain types");
}

/* ---- calls ----------------------------------------------------------------------------------- */

static bool kind_fits(tl_abi_kind kind, ir_type t) {
    switch (kind) {
    case ABI_bool:
        return t == IR_BOOL;
    case ABI_i32:
        return t == IR_I32 || t == IR_U32 || t == IR_CHAR;
    case ABI_i64:
        return t == IR_I64 || t == IR_U64;
    case ABI_f32:
        return t == IR_F32;
    case ABI_f64:
        return t == IR_F64;
    case ABI_address:
    case ABI_frame:
        return t == IR_ADDRESS;
    case ABI_tensor:
        return t == IR_TENSOR;
    case ABI_object:
        return t == IR_OBJECT;
    case ABI_any:
        return ir_type_managed(t);
    case ABI_none:
        break;
    }
    return false;
}

static void check_abi(const site *s) {
    const tl_abi_function *fn = &tl_abi_functions[s->i->abi];
    uint32_t fixed = 0;
    bool list = false;
    for (uint32_t p = 0; p < TL_ABI_MAX_PARAMETERS && fn->parameters[p].name; p++) {
        list |= fn->parameters[p].mode == TL_LIST;
        fixed += fn->parameters[p].mode != TL_LIST;
    }
    uint32_t wanted = list && s->i->arg_count > fixed ? s->i->arg_count : fixed;
    if (!counts(s, wanted, fn->result == ABI_none ? 0 : 1))
        return;
    for (uint32_t a = 0; a < s->i->arg_count; a++) {
        const tl_abi_parameter *p = ir_abi_parameter(s->i, a);
        if (!p || !kind_fits(p->kind, arg_type(s, a)))
            ir_fault(s->c, s->i->block, s->i, "%s does not fit parameter `%s`", ir_value_text(s->c, s->i->args[a]),
                     p ? p->name : "none");
    }
    if (fn->result != ABI_none)
        demand(s, kind_fits(fn->result, result_type(s)), "a result of the wrong type");
}

static void check_call(const site *s) {
    const ir_function *callee = s->i->callee;
    const ir_module *m = s->c->m;
    if (!callee || callee->id >= m->function_count || m->functions[callee->id] != callee || callee->is_kernel) {
        ir_fault(s->c, s->i->block, NULL, "calls a function that is not in the module's list");
        return;
    }
    if (!counts(s, callee->param_count, callee->result_count))
        return;
    for (uint32_t a = 0; a < s->i->arg_count; a++)
        demand(s, arg_type(s, a) == callee->values[callee->params[a]].type, "an argument of the wrong type");
    for (uint32_t r = 0; r < s->i->result_count; r++)
        demand(s, ir_type_of(s->c->f, s->i->result + r) == callee->results[r], "a result of the wrong type");
}

static void check_comprehend(const site *s) {
    const ir_kernel *k = s->i->kernel;
    if (!k) {
        ir_fault(s->c, s->i->block, NULL, "a comprehension without kernel");
        return;
    }
    if (!counts(s, k->cell_count + k->capture_count, 1))
        return;
    for (uint32_t a = 0; a < k->cell_count; a++)
        demand(s, a < k->rank ? arg_type(s, a) == IR_I64 : arg_type(s, a) == k->cell_types[a],
               "a cell of the wrong type");
    for (uint32_t a = k->cell_count; a < s->i->arg_count; a++)
        demand(s, arg_type(s, a) == IR_TENSOR, "only tensors are captured");
    demand(s, result_type(s) == IR_TENSOR, "yields a tensor");
}

/* ---- records --------------------------------------------------------------------------------- */

/* Counts in a record have no owner that an error would find: between the record that took
 * them and the call that takes the record nothing may raise. */
static void check_record(const site *s) {
    const ir_instr *i = s->i;
    if (!counts(s, i->arg_count, 1))
        return;
    demand(s, result_type(s) == IR_ADDRESS, "yields an address");
    bool managed = false;
    for (uint32_t a = 0; a < i->arg_count; a++)
        managed |= ir_type_managed(arg_type(s, a));
    for (const ir_instr *n = i->next; managed && n; n = n->next) {
        for (uint32_t a = 0; a < n->arg_count; a++)
            if (n->args[a] == i->result)
                return;
        if (ir_may_raise(n) || ir_is_terminator(n->op))
            break;
    }
    demand(s, !managed, "nothing takes the record before something may raise");
}

static void check_record_word(const site *s) {
    const ir_instr *i = s->i;
    if (!counts(s, 1, 1))
        return;
    const ir_instr *record = s->c->f->values[i->args[0]].def;
    bool made = record && (record->op == IR_RECORD || record->op == IR_RECORD_EMPTY);
    demand(s, made, "reads from something that is not a record");
    if (!made)
        return;
    int64_t words = record->op == IR_RECORD ? (int64_t)record->arg_count : record->imm.i;
    demand(s, i->imm.i >= 0 && i->imm.i < words, "reads behind the record's end");
    if (!ir_type_managed(result_type(s)))
        return;
    for (const ir_instr *n = i->prev; n; n = n->prev) { /* as above: back to the call that filled it */
        for (uint32_t a = 0; n->op == IR_ABI && a < n->arg_count; a++)
            if (n->args[a] == i->args[0])
                return;
        if (ir_may_raise(n))
            break;
    }
    demand(s, false, "something may raise before the word's count has an owner");
}

/* ---- counts, kernels, control ---------------------------------------------------------------- */

static void check_counting(const site *s) {
    if (counts(s, 1, 0))
        demand(s, ir_type_managed(arg_type(s, 0)), "an operand that is not counted");
}

static void check_indices(const site *s, uint32_t from) {
    for (uint32_t a = from; a < s->i->arg_count; a++)
        demand(s, arg_type(s, a) == IR_I64, "an index that is not an i64");
}

static void check_kernel_op(const site *s) {
    bool adds = s->i->op == IR_KERNEL_OUT_ADD || s->i->op == IR_KERNEL_GRAD_ADD;
    demand(s, s->c->f->is_kernel, "is outside of a kernel");
    if (!counts(s, s->i->op == IR_KERNEL_CELL ? 0 : s->i->op == IR_KERNEL_EXTENT ? 1 : s->i->arg_count, adds ? 0 : 1))
        return;
    demand(s, !adds || s->i->arg_count > 0, "adds nothing");
    check_indices(s, adds ? 1 : 0);
    demand(s, adds || plain_type(result_type(s)), "a result of the wrong type");
}

static void check_ret(const site *s) {
    const ir_function *f = s->c->f;
    if (!counts(s, f->is_kernel ? 0 : f->result_count, 0))
        return;
    for (uint32_t a = 0; a < s->i->arg_count; a++)
        demand(s, arg_type(s, a) == f->results[a], "returns a value of the wrong type");
}

static void check_targets(const site *s) {
    for (int t = 0; t < ir_target_count(s->i); t++) {
        const ir_target *target = &s->i->target[t];
        if (target->count != target->block->param_count) {
            ir_fault(s->c, s->i->block, s->i,
                     "passes %" PRIu32 " arguments to b%" PRIu32 ", which has %" PRIu32 " parameters", target->count,
                     target->block->id, target->block->param_count);
            continue;
        }
        for (uint32_t a = 0; a < target->count; a++)
            demand(s, ir_type_of(s->c->f, target->args[a]) == ir_type_of(s->c->f, target->block->params[a]),
                   "passes an argument of the wrong type");
    }
}

static void check_kernel_body(const site *s) {
    bool forbidden = s->i->op == IR_ABI || s->i->op == IR_CALL || s->i->op == IR_COMPREHEND;
    for (uint32_t a = 0; a < s->i->arg_count; a++)
        forbidden |= ir_type_managed(arg_type(s, a));
    demand(s, !forbidden, "does not belong into a kernel");
}

/* ---- dispatch -------------------------------------------------------------------------------- */

static void check_instr(const site *s) {
    switch (s->i->op) {
    case IR_CONST:
    case IR_NOTHING:
    case IR_BYTES:
    case IR_RECORD_EMPTY:
    case IR_RECORD_TYPE:
        check_constant(s);
        break;
    case IR_ADD:
    case IR_SUB:
    case IR_SUB_LENGTH:
    case IR_MUL:
    case IR_DIV:
    case IR_REM:
        check_binary(s, arithmetic_type, false);
        break;
    case IR_AND:
    case IR_OR:
    case IR_XOR:
        check_binary(s, bitwise_type, false);
        break;
    case IR_SHL:
    case IR_SHR:
        check_binary(s, ir_type_integer, false);
        break;
    case IR_EQ:
    case IR_NE:
    case IR_LT:
    case IR_LE:
    case IR_GT:
    case IR_GE:
        check_binary(s, plain_type, true);
        break;
    case IR_NEG:
        check_unary(s, arithmetic_type);
        break;
    case IR_NOT:
        check_unary(s, bitwise_type);
        break;
    case IR_CAST:
        check_cast(s);
        break;
    case IR_MATH:
        check_math(s);
        break;
    case IR_ABI:
        check_abi(s);
        break;
    case IR_CALL:
        check_call(s);
        break;
    case IR_COMPREHEND:
        check_comprehend(s);
        break;
    case IR_RECORD:
        check_record(s);
        break;
    case IR_RECORD_WORD:
        check_record_word(s);
        break;
    case IR_KEEP:
    case IR_ACQUIRE:
    case IR_RELEASE:
    case IR_ROOT:
    case IR_UNROOT:
        check_counting(s);
        break;
    case IR_KERNEL_CELL:
    case IR_KERNEL_EXTENT:
    case IR_KERNEL_LOAD:
    case IR_KERNEL_OUT_ADD:
    case IR_KERNEL_GRAD_OUT:
    case IR_KERNEL_GRAD_ADD:
        check_kernel_op(s);
        break;
    case IR_KERNEL_CAREFUL:
        demand(s, s->c->f->is_kernel, "is outside of a kernel");
        counts(s, 0, 0);
        break;
    case IR_JUMP:
    case IR_UNREACHABLE:
        counts(s, 0, 0);
        break;
    case IR_BRANCH:
        if (counts(s, 1, 0))
            demand(s, arg_type(s, 0) == IR_BOOL, "branches on something that is not a bool");
        break;
    case IR_RET:
        check_ret(s);
        break;
    case IR_OPCODE_COUNT:
        demand(s, false, "is not an operation");
        break;
    }
}

void ir_check_types(ir_checker *c) {
    for (uint32_t n = 0; n < c->f->block_count; n++) {
        for (const ir_instr *i = c->f->blocks[n]->first; i; i = i->next) {
            site s = {c, i};
            check_instr(&s);
            check_targets(&s);
            if (c->f->is_kernel)
                check_kernel_body(&s);
        }
    }
}
