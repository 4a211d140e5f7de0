/* kernel.c: the loops of a comprehension, and the constant tl_kernel that describes them to the runtime.
 *
 * Each direction is two or three functions. The outer has the signature of tl_kernel; it reads the addresses out of the
 * views and hands them to the inner ones as parameters, whose attributes say what the caller promises: captured
 * elements, cells and grad_out are only read, and out is memory of its own. So reads move out of loops and sums stay in
 * registers.
 *
 *     forward(captured, cells, out, fault)                ─┬► loops(captured, cells, out | grad_out, fault,
 *     backward(captured, cells, grad_out, grad_in, fault) ─┘        data…, grad_in…)
 *                                                                └ when that asks for it ─► careful(the same)
 *
 * The inner functions say how they ended. `loops` names no place in the source unless something in it may fault, so
 * that equal comprehensions share it (mergefunc, see jit.c). `careful` runs when an index is about to leave its tensor
 * or bounds are absurd: it is of TIER_PLAIN, the others of TIER_FAST.
 *
 * Element i, j of a view lies at data + i * stride[0] + j * stride[1]; of out, grad_out and grad_in in row-major order.
 */
#include "language/codegen/emit.h"

enum { LOOPS_CAPTURED, LOOPS_CELLS, LOOPS_OUT, LOOPS_FAULT, LOOPS_DATA };
enum { ENDED_IN_FAULT, ENDED_WELL, ENDED_UNPROVED };

static void end_loops(emit *e, unsigned how) {
    LLVMBuildRet(e->cg->builder, LLVMConstInt(e->cg->i32, how, false));
}

void emit_kernel_done(emit *e) {
    end_loops(e, ENDED_WELL);
}

void emit_kernel_careful(emit *e) {
    MASU_DEBUG_ASSERT(e->kernel);
    e->careful = true;
    end_loops(e, ENDED_UNPROVED);
}

/* ---- faults ---------------------------------------------------------------------------------------------------- */

static void store_fault(emit *e, size_t offset, LLVMValueRef v) {
    LLVMBuildStore(e->cg->builder, v, emit_offset(e, e->fault, (int64_t)offset));
}

void emit_fault(emit *e, LLVMValueRef bad, int64_t kind, LLVMValueRef value, LLVMValueRef bound, uint32_t site) {
    codegen *cg = e->cg;
    LLVMBasicBlockRef fault = emit_new_block(e, "fault"), go_on = emit_new_block(e, "");
    LLVMBuildCondBr(cg->builder, bad, fault, go_on);
    LLVMPositionBuilderAtEnd(cg->builder, fault);
    store_fault(e, offsetof(tl_fault, kind), codegen_i64(cg, kind));
    store_fault(e, offsetof(tl_fault, value), value);
    store_fault(e, offsetof(tl_fault, bound), bound);
    store_fault(e, offsetof(tl_fault, site), codegen_i64(cg, site));
    end_loops(e, ENDED_IN_FAULT);
    LLVMPositionBuilderAtEnd(cg->builder, go_on);
}

/* ---- places ------------------------------------------------------------------------------------------------------ */

static LLVMValueRef view_number(emit *e, uint32_t capture, size_t member, uint32_t dim) {
    int64_t offset = (int64_t)(capture * sizeof(tl_view) + member + dim * sizeof(int64_t));
    return LLVMBuildLoad2(e->cg->builder, e->cg->i64, emit_offset(e, e->captured, offset), "");
}

static LLVMValueRef extent_of(emit *e, uint32_t capture, uint32_t dim) {
    return view_number(e, capture, offsetof(tl_view, shape), dim);
}

/* Instructions without a site index where the lowering has proved them to be in range. */
static void check_indices(emit *e, const ir_instr *i, uint32_t first, uint32_t capture) {
    if (i->site == 0)
        return;
    for (uint32_t d = 0; first + d < i->arg_count; d++) {
        LLVMValueRef index = emit_arg(e, i, first + d), extent = extent_of(e, capture, d);
        LLVMValueRef bad = LLVMBuildICmp(e->cg->builder, LLVMIntUGE, index, extent, "");
        emit_fault(e, bad, 1, index, extent, i->site);
    }
}

static LLVMValueRef element(emit *e, LLVMValueRef base, tl_dtype dtype, LLVMValueRef offset) {
    return LLVMBuildInBoundsGEP2(e->cg->builder, codegen_dtype(e->cg, dtype), base, &offset, 1, "");
}

static LLVMValueRef strided_offset(emit *e, const ir_instr *i, uint32_t first, uint32_t capture) {
    LLVMBuilderRef builder = e->cg->builder;
    LLVMValueRef offset = codegen_i64(e->cg, 0);
    for (uint32_t d = 0; first + d < i->arg_count; d++) {
        LLVMValueRef stride = view_number(e, capture, offsetof(tl_view, stride), d);
        LLVMValueRef part = LLVMBuildNSWMul(builder, emit_arg(e, i, first + d), stride, "");
        offset = LLVMBuildNSWAdd(builder, offset, part, "");
    }
    return offset;
}

/* Row-major; extent(d) is the length of dimension d. */
static LLVMValueRef dense_offset(emit *e, const ir_instr *i, uint32_t first,
                                 LLVMValueRef (*extent)(emit *, uint32_t, uint32_t), uint32_t capture) {
    LLVMBuilderRef builder = e->cg->builder;
    LLVMValueRef offset = codegen_i64(e->cg, 0);
    for (uint32_t d = 0; first + d < i->arg_count; d++) {
        if (d > 0)
            offset = LLVMBuildNSWMul(builder, offset, extent(e, capture, d), "");
        offset = LLVMBuildNSWAdd(builder, offset, emit_arg(e, i, first + d), "");
    }
    return offset;
}

static LLVMValueRef cell_word(emit *e, uint32_t cell) {
    LLVMValueRef place = emit_offset(e, e->cell_array, 8 * (int64_t)cell);
    return LLVMBuildLoad2(e->cg->builder, e->cg->i64, place, "");
}

static LLVMValueRef out_extent(emit *e, uint32_t unused, uint32_t dim) {
    (void)unused;
    return cell_word(e, dim);
}

/* ---- instructions ------------------------------------------------------------------------------------------------ */

static LLVMValueRef emit_cell(emit *e, const ir_instr *i) {
    LLVMBuilderRef builder = e->cg->builder;
    LLVMValueRef word = cell_word(e, (uint32_t)i->imm.i);
    ir_type type = emit_result_type(e, i);
    if (emit_type_float(type))
        return LLVMBuildFPCast(builder, LLVMBuildBitCast(builder, word, e->cg->f64, ""), codegen_type(e->cg, type), "");
    return LLVMBuildIntCast2(builder, word, codegen_type(e->cg, type), true, "");
}

static LLVMValueRef emit_load(emit *e, LLVMValueRef place, tl_dtype dtype) {
    LLVMBuilderRef builder = e->cg->builder;
    LLVMValueRef v = LLVMBuildLoad2(builder, codegen_dtype(e->cg, dtype), place, "");
    return dtype == TL_BOOL ? LLVMBuildICmp(builder, LLVMIntNE, v, LLVMConstNull(e->cg->i8), "") : v;
}

/* A sum in memory; of bools: whether any holds. */
static void add_into(emit *e, LLVMValueRef place, tl_dtype dtype, LLVMValueRef v, bool replace) {
    LLVMBuilderRef builder = e->cg->builder;
    if (dtype == TL_BOOL)
        v = LLVMBuildZExt(builder, v, e->cg->i8, "");
    if (replace) {
        LLVMBuildStore(builder, v, place);
        return;
    }
    LLVMValueRef old = LLVMBuildLoad2(builder, codegen_dtype(e->cg, dtype), place, ""), sum;
    if (dtype == TL_BOOL)
        sum = LLVMBuildOr(builder, old, v, "");
    else if (dtype == TL_I64)
        sum = LLVMBuildAdd(builder, old, v, "");
    else
        sum = LLVMBuildFAdd(builder, old, v, "");
    LLVMBuildStore(builder, sum, place);
}

static void emit_grad_add(emit *e, const ir_instr *i) {
    codegen *cg = e->cg;
    uint32_t capture = (uint32_t)i->imm.i;
    LLVMBasicBlockRef wanted = emit_new_block(e, "wanted"), go_on = emit_new_block(e, "");
    LLVMValueRef unwanted = LLVMBuildICmp(cg->builder, LLVMIntEQ, e->grad_in[capture], LLVMConstPointerNull(cg->ptr),
                                          "");
    LLVMBuildCondBr(cg->builder, unwanted, go_on, wanted);
    LLVMPositionBuilderAtEnd(cg->builder, wanted);
    check_indices(e, i, 1, capture);
    LLVMValueRef offset = dense_offset(e, i, 1, extent_of, capture);
    tl_dtype dtype = e->kernel->capture_dtype[capture];
    add_into(e, element(e, e->grad_in[capture], dtype, offset), dtype, emit_arg(e, i, 0), false);
    LLVMBuildBr(cg->builder, go_on);
    LLVMPositionBuilderAtEnd(cg->builder, go_on);
}

void emit_kernel(emit *e, const ir_instr *i) {
    const ir_kernel *kernel = e->kernel;
    uint32_t n = (uint32_t)i->imm.i;
    int64_t dim = 0;
    switch (i->op) {
    case IR_KERNEL_CELL:
        e->values[i->result] = emit_cell(e, i);
        break;
    case IR_KERNEL_EXTENT:
        ir_const_int(e->f, i->args[0], &dim);
        e->values[i->result] = extent_of(e, n, (uint32_t)dim);
        break;
    case IR_KERNEL_LOAD:
        check_indices(e, i, 0, n);
        e->values[i->result] = emit_load(
            e, element(e, e->data[n], kernel->capture_dtype[n], strided_offset(e, i, 0, n)), kernel->capture_dtype[n]);
        break;
    case IR_KERNEL_OUT_ADD:
        add_into(e, element(e, e->out, kernel->dtype, dense_offset(e, i, 1, out_extent, 0)), kernel->dtype,
                 emit_arg(e, i, 0), i->imm.i == 1);
        break;
    case IR_KERNEL_GRAD_OUT:
        e->values[i->result] = emit_load(
            e, element(e, e->grad_out, kernel->dtype, dense_offset(e, i, 0, out_extent, 0)), kernel->dtype);
        break;
    default:
        emit_grad_add(e, i);
        break;
    }
}

/* ---- the inner function ------------------------------------------------------------------------------------------ */

static void promise(const codegen *cg, LLVMValueRef function, unsigned parameter, bool only_read) {
    codegen_add_attribute(cg, function, parameter + 1, "noalias");
    if (only_read)
        codegen_add_attribute(cg, function, parameter + 1, "readonly");
}

static LLVMTypeRef loops_type(codegen *cg, const ir_kernel *kernel, bool backward) {
    unsigned count = LOOPS_DATA + kernel->capture_count * (backward ? 2 : 1);
    LLVMTypeRef *params = MASU_ARENA_ARRAY(cg->arena, LLVMTypeRef, count);
    if (!params) {
        cg->out_of_memory = true;
        return NULL;
    }
    for (unsigned p = 0; p < count; p++)
        params[p] = cg->ptr;
    return LLVMFunctionType(cg->i32, params, count, false);
}

static LLVMValueRef declare_loops(codegen *cg, const ir_kernel *kernel, bool backward) {
    LLVMTypeRef type = loops_type(cg, kernel, backward);
    if (!type)
        return NULL;
    LLVMValueRef loops = LLVMAddFunction(cg->unit->llvm, "loops", type);
    LLVMSetLinkage(loops, LLVMInternalLinkage);
    LLVMSetUnnamedAddress(loops, LLVMGlobalUnnamedAddr);
    codegen_add_attribute(cg, loops, LLVMAttributeFunctionIndex, "nounwind");
    promise(cg, loops, LOOPS_CAPTURED, true);
    promise(cg, loops, LOOPS_CELLS, true);
    promise(cg, loops, LOOPS_OUT, backward);
    promise(cg, loops, LOOPS_FAULT, false);
    for (uint32_t k = 0; k < kernel->capture_count; k++)
        promise(cg, loops, LOOPS_DATA + k, true);
    return loops;
}

/* True when the careful twin may be asked for. */
static bool write_loops(codegen *cg, const ir_kernel *kernel, bool backward, const ir_function *f, LLVMValueRef loops) {
    uint32_t n = kernel->capture_count;
    emit e = {.kernel = kernel};
    e.data = MASU_ARENA_ARRAY(cg->arena, LLVMValueRef, 2 * n + 1);
    if (!e.data || !emit_begin(&e, cg, f, loops)) {
        cg->out_of_memory = true;
        return false;
    }
    e.captured = LLVMGetParam(loops, LOOPS_CAPTURED);
    e.cell_array = LLVMGetParam(loops, LOOPS_CELLS);
    e.out = e.grad_out = LLVMGetParam(loops, LOOPS_OUT);
    e.fault = LLVMGetParam(loops, LOOPS_FAULT);
    e.grad_in = e.data + n;
    for (uint32_t k = 0; k < n * (backward ? 2 : 1); k++)
        e.data[k] = LLVMGetParam(loops, LOOPS_DATA + k);
    emit_body(&e);
    return e.careful;
}

/* ---- the outer function ------------------------------------------------------------------------------------------ */

/* The parameters of the inner functions, from those of the outer. */
static unsigned gather_args(emit *e, const ir_kernel *kernel, bool backward, LLVMValueRef *args) {
    enum { CAPTURED, CELLS, OUT, GRAD_IN };
    codegen *cg = e->cg;
    args[LOOPS_CAPTURED] = LLVMGetParam(e->function, CAPTURED);
    args[LOOPS_CELLS] = LLVMGetParam(e->function, CELLS);
    args[LOOPS_OUT] = LLVMGetParam(e->function, OUT);
    args[LOOPS_FAULT] = LLVMGetLastParam(e->function);
    unsigned at = LOOPS_DATA;
    for (uint32_t k = 0; k < kernel->capture_count; k++) {
        int64_t offset = (int64_t)(k * sizeof(tl_view) + offsetof(tl_view, data));
        args[at++] = LLVMBuildLoad2(cg->builder, cg->ptr, emit_offset(e, args[LOOPS_CAPTURED], offset), "");
    }
    for (uint32_t k = 0; backward && k < kernel->capture_count; k++) {
        LLVMValueRef place = emit_offset(e, LLVMGetParam(e->function, GRAD_IN), 8 * (int64_t)k);
        args[at++] = LLVMBuildLoad2(cg->builder, cg->ptr, place, "");
    }
    return at;
}

static LLVMValueRef call_inner(codegen *cg, LLVMValueRef inner, LLVMValueRef *args, unsigned count) {
    return LLVMBuildCall2(cg->builder, LLVMGlobalGetValueType(inner), inner, args, count, "");
}

static void return_whether_well(codegen *cg, LLVMValueRef ended) {
    LLVMValueRef well = LLVMConstInt(cg->i32, ENDED_WELL, false);
    LLVMBuildRet(cg->builder, LLVMBuildICmp(cg->builder, LLVMIntEQ, ended, well, ""));
}

static void write_outer_body(emit *e, const ir_kernel *kernel, bool backward, LLVMValueRef loops,
                             LLVMValueRef careful) {
    codegen *cg = e->cg;
    LLVMValueRef *args = MASU_ARENA_ARRAY(cg->arena, LLVMValueRef, LOOPS_DATA + 2 * kernel->capture_count);
    if (!args) {
        cg->out_of_memory = true;
        return;
    }
    LLVMPositionBuilderAtEnd(cg->builder, emit_new_block(e, ""));
    unsigned count = gather_args(e, kernel, backward, args);
    LLVMValueRef ended = call_inner(cg, loops, args, count);
    if (careful) {
        LLVMBasicBlockRef proved = emit_new_block(e, "proved"), unproved = emit_new_block(e, "unproved");
        LLVMValueRef asks = LLVMConstInt(cg->i32, ENDED_UNPROVED, false);
        LLVMBuildCondBr(cg->builder, LLVMBuildICmp(cg->builder, LLVMIntEQ, ended, asks, ""), unproved, proved);
        LLVMPositionBuilderAtEnd(cg->builder, unproved);
        return_whether_well(cg, call_inner(cg, careful, args, count));
        LLVMPositionBuilderAtEnd(cg->builder, proved);
    }
    return_whether_well(cg, ended);
}

/* In the unit being written: defined here, or declared for another to define. */
static LLVMValueRef named_function(codegen *cg, const char *name, LLVMTypeRef type) {
    if (!name || !type) {
        cg->out_of_memory = true;
        return NULL;
    }
    LLVMValueRef function = LLVMGetNamedFunction(cg->unit->llvm, name);
    if (!function) {
        function = LLVMAddFunction(cg->unit->llvm, name, type);
        codegen_add_attribute(cg, function, LLVMAttributeFunctionIndex, "nounwind");
    }
    return function;
}

static LLVMValueRef declare_outer(codegen *cg, uint32_t index, bool backward) {
    LLVMTypeRef params[] = {cg->ptr, cg->ptr, cg->ptr, cg->ptr, cg->ptr};
    const char *name = masu__arena_printf(cg->arena, "kernel.%u.%c", index, backward ? 'b' : 'f');
    LLVMValueRef outer = named_function(cg, name, LLVMFunctionType(cg->i1, params, backward ? 5 : 4, false));
    if (outer)
        codegen_add_attribute(cg, outer, LLVMAttributeReturnIndex, "zeroext");
    return outer;
}

static LLVMValueRef declare_careful(codegen *cg, uint32_t index, bool backward) {
    const char *name = masu__arena_printf(cg->arena, "kernel.%u.%c.careful", index, backward ? 'b' : 'f');
    return named_function(cg, name, loops_type(cg, cg->module->kernels[index], backward));
}

static void write_careful(codegen *cg, uint32_t index, bool backward) {
    const ir_kernel *kernel = cg->module->kernels[index];
    codegen_unit *here = cg->unit;
    cg->unit = &cg->units[TIER_PLAIN];
    cg->unit->has_code = true;
    LLVMValueRef careful = declare_careful(cg, index, backward);
    if (careful)
        write_loops(cg, kernel, backward, backward ? kernel->backward_careful : kernel->forward_careful, careful);
    cg->unit = here;
}

static void write_outer(codegen *cg, uint32_t index, bool backward) {
    const ir_kernel *kernel = cg->module->kernels[index];
    LLVMValueRef outer = declare_outer(cg, index, backward), careful = NULL;
    LLVMValueRef loops = declare_loops(cg, kernel, backward);
    if (!outer || !loops)
        return;
    if (write_loops(cg, kernel, backward, backward ? kernel->backward : kernel->forward, loops)) {
        write_careful(cg, index, backward);
        careful = declare_careful(cg, index, backward);
    }
    emit e = {.cg = cg, .function = outer};
    write_outer_body(&e, kernel, backward, loops, careful);
}

/* Both directions, once, whichever unit asks. */
static void write_kernel(codegen *cg, uint32_t index) {
    if (cg->kernels_written[index])
        return;
    cg->kernels_written[index] = true;
    codegen_unit *here = cg->unit;
    cg->unit = &cg->units[TIER_FAST];
    cg->unit->has_code = true;
    write_outer(cg, index, false);
    if (cg->module->kernels[index]->backward)
        write_outer(cg, index, true);
    cg->unit = here;
}

/* ---- the plan ---------------------------------------------------------------------------------------------------- */

static LLVMValueRef capture_numbers(codegen *cg, const ir_kernel *kernel,
                                    int64_t (*number)(const ir_kernel *, uint32_t)) {
    int64_t *numbers = MASU_ARENA_ARRAY(cg->arena, int64_t, kernel->capture_count + 1);
    if (!numbers) {
        cg->out_of_memory = true;
        return LLVMConstPointerNull(cg->ptr);
    }
    for (uint32_t k = 0; k < kernel->capture_count; k++)
        numbers[k] = number(kernel, k);
    return codegen_i64_array(cg, "captures", numbers, kernel->capture_count);
}

static int64_t dtype_of(const ir_kernel *kernel, uint32_t k) {
    return kernel->capture_dtype[k];
}
static int64_t rank_of(const ir_kernel *kernel, uint32_t k) {
    return kernel->capture_rank[k];
}
static int64_t need_of(const ir_kernel *kernel, uint32_t k) {
    return kernel->needs_value[k];
}

static LLVMValueRef write_plan(codegen *cg, uint32_t index) {
    const ir_kernel *kernel = cg->module->kernels[index];
    LLVMBasicBlockRef here = LLVMGetInsertBlock(cg->builder);
    write_kernel(cg, index);
    LLVMPositionBuilderAtEnd(cg->builder, here);
    LLVMValueRef none = LLVMConstPointerNull(cg->ptr);
    LLVMValueRef forward = declare_outer(cg, index, false);
    LLVMValueRef backward = kernel->backward ? declare_outer(cg, index, true) : none;
    if (!forward || !backward)
        return none;
    LLVMValueRef fields[] = {
        forward,
        backward,
        codegen_i64(cg, kernel->rank),
        codegen_i64(cg, kernel->dtype),
        codegen_i64(cg, kernel->cell_count),
        codegen_i64(cg, kernel->capture_count),
        capture_numbers(cg, kernel, dtype_of),
        capture_numbers(cg, kernel, rank_of),
        capture_numbers(cg, kernel, need_of),
    };
    _Static_assert(sizeof(tl_kernel) == sizeof fields / sizeof *fields * 8, "tl_kernel has other members");
    LLVMValueRef value = LLVMConstStructInContext(cg->context, fields, sizeof fields / sizeof *fields, false);
    return codegen_constant(cg, "plan", value);
}

LLVMValueRef codegen_plan(codegen *cg, const ir_kernel *kernel) {
    uint32_t index = 0;
    while (cg->module->kernels[index] != kernel)
        index++;
    if (!cg->unit->plans[index])
        cg->unit->plans[index] = write_plan(cg, index);
    return cg->unit->plans[index];
}
