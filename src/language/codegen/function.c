/* function.c: one IR function as one LLVM function. Blocks, phis, frames, terminators.
 *
 *     IR                                   LLVM
 *     parameters of blocks                 phis; the arguments of jumps are their incoming values
 *     several results                      stored through the first parameter, `destination`
 *     an instruction that may raise        frame->site = its place, then the call
 *
 * A function has a frame exactly when something in it may raise or it owns a slot.
 */
#include "language/codegen/emit.h"

/* ---- stack room and addresses ------------------------------------------------------------------------------- */

LLVMValueRef emit_room(emit *e, LLVMTypeRef type, const char *name) {
    LLVMBuilderRef builder = e->cg->builder;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(builder);
    LLVMValueRef first = LLVMGetFirstInstruction(e->prologue);
    if (first)
        LLVMPositionBuilderBefore(builder, first);
    else
        LLVMPositionBuilderAtEnd(builder, e->prologue);
    LLVMValueRef room = LLVMBuildAlloca(builder, type, name);
    LLVMPositionBuilderAtEnd(builder, here);
    return room;
}

LLVMValueRef emit_offset(emit *e, LLVMValueRef base, int64_t bytes) {
    if (bytes == 0)
        return base;
    LLVMValueRef index = codegen_i64(e->cg, bytes);
    return LLVMBuildInBoundsGEP2(e->cg->builder, e->cg->i8, base, &index, 1, "");
}

LLVMBasicBlockRef emit_new_block(emit *e, const char *name) {
    return LLVMAppendBasicBlockInContext(e->cg->context, e->function, name);
}

void emit_site(emit *e, const ir_instr *i) {
    if (!e->frame || i->site == 0)
        return;
    LLVMValueRef place = emit_offset(e, e->frame, offsetof(tl_frame, site));
    emit_tag(e, LLVMBuildStore(e->cg->builder, LLVMConstInt(e->cg->i32, i->site, false), place), EMIT_FRAME);
}

/* ---- declaration ------------------------------------------------------------------------------------------------ */

/* Programs may call their functions memcpy or tl_print_i64: in LLVM's eyes they are all called something else. */
static const char *llvm_name(codegen *cg, const ir_function *f) {
    return f == cg->module->main ? CODEGEN_ENTRY_NAME : masu__arena_printf(cg->arena, "program.%s.%u", f->name, f->id);
}

LLVMValueRef codegen_declare(codegen *cg, const ir_function *f) {
    if (cg->unit->functions[f->id])
        return cg->unit->functions[f->id];
    LLVMTypeRef type = codegen_function_type(cg, f);
    const char *name = llvm_name(cg, f);
    if (!type || !name) {
        cg->out_of_memory = true;
        return NULL;
    }
    LLVMValueRef function = LLVMAddFunction(cg->unit->llvm, name, type);
    codegen_add_attribute(cg, function, LLVMAttributeFunctionIndex, "nounwind");
    if (f->result_count > 1)
        codegen_add_attribute(cg, function, 1, "noalias");
    cg->unit->functions[f->id] = function;
    MASU_DEBUG_ASSERT(cg->queued[f->id] || cg->queue_count < cg->module->function_count);
    if (!cg->queued[f->id])
        cg->queue[cg->queue_count++] = f;
    cg->queued[f->id] = true;
    return function;
}

/* ---- order of blocks --------------------------------------------------------------------------------------------- */

typedef struct visit {
    const ir_block *block;
    int next; /* target to look at */
} visit;

/* Reverse postorder of what block 0 reaches, by a stack of its own: sources may nest deeply. */
static bool find_order(emit *e) {
    masu__arena *arena = e->cg->arena;
    uint32_t count = e->f->block_count, depth = 0;
    visit *stack = MASU_ARENA_ARRAY(arena, visit, count);
    bool *seen = MASU_ARENA_ARRAY(arena, bool, count);
    e->order = MASU_ARENA_ARRAY(arena, const ir_block *, count);
    if (!stack || !seen || !e->order)
        return false;
    uint32_t at = count;
    stack[depth++] = (visit){e->f->blocks[0], 0};
    seen[0] = true;
    while (depth > 0) {
        visit *top = &stack[depth - 1];
        if (top->next == ir_target_count(top->block->last)) {
            e->order[--at] = top->block;
            depth--;
            continue;
        }
        const ir_block *to = top->block->last->target[top->next++].block;
        if (!seen[to->id]) {
            seen[to->id] = true;
            stack[depth++] = (visit){to, 0};
        }
    }
    e->order += at;
    e->order_count = count - at;
    return true;
}

static void make_blocks_and_phis(emit *e) {
    for (uint32_t k = 0; k < e->order_count; k++) {
        const ir_block *b = e->order[k];
        LLVMBasicBlockRef block = emit_new_block(e, "");
        e->starts[b->id] = block;
        LLVMPositionBuilderAtEnd(e->cg->builder, block);
        for (uint32_t p = 0; p < b->param_count; p++) {
            LLVMTypeRef type = codegen_type(e->cg, ir_type_of(e->f, b->params[p]));
            MASU_DEBUG_ASSERT(!e->values[b->params[p]]); /* a parameter belongs to one block */
            e->values[b->params[p]] = LLVMBuildPhi(e->cg->builder, type, "");
        }
    }
}

bool emit_begin(emit *e, codegen *cg, const ir_function *f, LLVMValueRef function) {
    e->cg = cg;
    e->f = f;
    e->function = function;
    e->values = MASU_ARENA_ARRAY(cg->arena, LLVMValueRef, f->value_count);
    e->starts = MASU_ARENA_ARRAY(cg->arena, LLVMBasicBlockRef, f->block_count);
    e->ends = MASU_ARENA_ARRAY(cg->arena, LLVMBasicBlockRef, f->block_count);
    if (!e->values || !e->starts || !e->ends || !find_order(e)) {
        cg->out_of_memory = true;
        return false;
    }
    e->prologue = emit_new_block(e, "prologue");
    make_blocks_and_phis(e);
    LLVMPositionBuilderAtEnd(cg->builder, e->prologue);
    return true;
}

/* ---- terminators ------------------------------------------------------------------------------------------------- */

static void leave(emit *e) {
    if (e->frame)
        emit_abi_call(e, TL_FN_tl_mem_function_exit, &e->frame, 1);
}

static void emit_ret(emit *e, const ir_instr *i) {
    LLVMBuilderRef builder = e->cg->builder;
    if (e->kernel) {
        emit_kernel_done(e);
        return;
    }
    if (e->destination) {
        LLVMTypeRef type = codegen_results_type(e->cg, e->f);
        for (uint32_t r = 0; r < i->arg_count; r++)
            LLVMBuildStore(builder, emit_arg(e, i, r), LLVMBuildStructGEP2(builder, type, e->destination, r, ""));
    }
    leave(e);
    if (i->arg_count == 1)
        LLVMBuildRet(builder, emit_arg(e, i, 0));
    else
        LLVMBuildRetVoid(builder);
}

static void emit_terminator(emit *e, const ir_instr *i) {
    LLVMBuilderRef builder = e->cg->builder;
    switch (i->op) {
    case IR_JUMP:
        LLVMBuildBr(builder, e->starts[i->target[0].block->id]);
        break;
    case IR_BRANCH:
        LLVMBuildCondBr(builder, emit_arg(e, i, 0), e->starts[i->target[0].block->id],
                        e->starts[i->target[1].block->id]);
        break;
    case IR_RET:
        emit_ret(e, i);
        break;
    case IR_KERNEL_CAREFUL:
        emit_kernel_careful(e);
        break;
    default:
        LLVMBuildUnreachable(builder);
        break;
    }
}

/* Every edge tells the phis of its target what it brings. */
static void connect_phis(emit *e) {
    for (uint32_t k = 0; k < e->order_count; k++) {
        const ir_block *from = e->order[k];
        for (int t = 0; t < ir_target_count(from->last); t++) {
            const ir_target *target = &from->last->target[t];
            MASU_DEBUG_ASSERT(e->starts[target->block->id] && target->count == target->block->param_count);
            for (uint32_t a = 0; a < target->count; a++)
                LLVMAddIncoming(e->values[target->block->params[a]], &e->values[target->args[a]], &e->ends[from->id],
                                1);
        }
    }
}

/* ---- instructions ------------------------------------------------------------------------------------------------ */

static LLVMValueRef emit_const(emit *e, const ir_instr *i) {
    ir_type type = emit_result_type(e, i);
    LLVMTypeRef llvm = codegen_type(e->cg, type);
    if (emit_type_float(type))
        return LLVMConstReal(llvm, i->imm.f);
    if (llvm == e->cg->ptr)
        return LLVMConstPointerNull(llvm);
    return LLVMConstInt(llvm, (uint64_t)i->imm.i, true);
}

static LLVMValueRef emit_bytes(emit *e, const ir_instr *i) {
    LLVMValueRef text = LLVMConstStringInContext2(e->cg->context, i->imm.bytes.data, i->imm.bytes.length, true);
    return codegen_constant(e->cg, "bytes", text);
}

static void emit_instr(emit *e, const ir_instr *i) {
    switch (i->op) {
    case IR_CONST:
        e->values[i->result] = emit_const(e, i);
        break;
    case IR_NOTHING:
        e->values[i->result] = LLVMConstPointerNull(e->cg->ptr);
        break;
    case IR_BYTES:
        e->values[i->result] = emit_bytes(e, i);
        break;
    case IR_ABI:
        emit_abi(e, i);
        break;
    case IR_CALL:
        emit_call(e, i);
        break;
    case IR_COMPREHEND:
        emit_comprehend(e, i);
        break;
    case IR_RECORD:
    case IR_RECORD_EMPTY:
    case IR_RECORD_WORD:
    case IR_RECORD_TYPE:
        emit_record(e, i);
        break;
    case IR_KEEP:
        break;
    case IR_ACQUIRE:
    case IR_RELEASE:
    case IR_ROOT:
    case IR_UNROOT:
        emit_ownership(e, i);
        break;
    case IR_KERNEL_CELL:
    case IR_KERNEL_EXTENT:
    case IR_KERNEL_LOAD:
    case IR_KERNEL_OUT_ADD:
    case IR_KERNEL_GRAD_OUT:
    case IR_KERNEL_GRAD_ADD:
        emit_kernel(e, i);
        break;
    default:
        e->values[i->result] = emit_arithmetic(e, i);
        break;
    }
}

void emit_body(emit *e) {
    LLVMBuilderRef builder = e->cg->builder;
    LLVMPositionBuilderAtEnd(builder, e->prologue);
    LLVMBuildBr(builder, e->starts[0]);
    for (uint32_t k = 0; k < e->order_count; k++) {
        const ir_block *b = e->order[k];
        LLVMPositionBuilderAtEnd(builder, e->starts[b->id]);
        for (const ir_instr *i = b->first; i && !ir_is_terminator(i->op); i = i->next)
            emit_instr(e, i);
        MASU_DEBUG_ASSERT(b->last && ir_is_terminator(b->last->op));
        e->ends[b->id] = LLVMGetInsertBlock(builder);
        emit_terminator(e, b->last);
    }
    connect_phis(e);
}

/* ---- a whole function -------------------------------------------------------------------------------------------- */

enum { LEAF_DEEP = 3, LEAF_BLOCKS = 16 };

/* A function that cannot raise and calls no other than such: no frame is needed for its sake, and no recursion goes
 * through it, as calls are followed so deep only. */
static bool is_leaf(const ir_function *f, int deep) {
    if (f->slot_count > 0 || (deep < LEAF_DEEP && f->block_count > LEAF_BLOCKS))
        return false;
    for (uint32_t b = 0; b < f->block_count; b++)
        for (const ir_instr *i = f->blocks[b]->first; i; i = i->next)
            if (i->op == IR_CALL ? deep == 0 || !is_leaf(i->callee, deep - 1) : ir_may_raise(i))
                return false;
    return true;
}

bool emit_may_raise(const ir_instr *i) {
    return i->op == IR_CALL ? !is_leaf(i->callee, LEAF_DEEP) : ir_may_raise(i);
}

static bool needs_frame(const ir_function *f) {
    if (f->slot_count > 0)
        return true;
    for (uint32_t b = 0; b < f->block_count; b++)
        for (const ir_instr *i = f->blocks[b]->first; i; i = i->next)
            if (emit_may_raise(i))
                return true;
    return false;
}

static void take_parameters(emit *e) {
    unsigned first = 0;
    if (e->f->result_count > 1) {
        e->destination = LLVMGetParam(e->function, 0);
        first = 1;
    }
    for (uint32_t p = 0; p < e->f->param_count; p++)
        e->values[e->f->params[p]] = LLVMGetParam(e->function, first + p);
}

/* Arguments that were handed over have no owner until the frame is there: should it be refused, the runtime
 * releases them. */
static void enter(emit *e) {
    const ir_function *f = e->f;
    LLVMValueRef *args = MASU_ARENA_ARRAY(e->cg->arena, LLVMValueRef, f->param_count + 2);
    if (!args) {
        e->cg->out_of_memory = true;
        return;
    }
    unsigned count = 0;
    args[count++] = codegen_i64(e->cg, f->slot_count);
    if (f->room_bytes > 0)
        args[count++] = codegen_i64(e->cg, (int64_t)f->room_bytes);
    for (uint32_t p = 0; p < f->param_count; p++)
        if (ir_type_managed(ir_type_of(f, f->params[p])) && !f->values[f->params[p]].borrowed)
            args[count++] = e->values[f->params[p]];
    tl_abi_index how = f->room_bytes > 0 ? TL_FN_tl_mem_function_enter_room
                       : count > 1       ? TL_FN_tl_mem_function_enter_with
                                         : TL_FN_tl_mem_function_enter;
    e->frame = emit_abi_call(e, how, args, count);
    if (f->growing_count > 0) {
        uint32_t first = f->growing_first, end = first + f->growing_count;
        LLVMBuildStore(e->cg->builder, LLVMConstInt(e->cg->i32, first, false),
                       emit_offset(e, e->frame, offsetof(tl_frame, growing_first)));
        LLVMBuildStore(e->cg->builder, LLVMConstInt(e->cg->i32, end, false),
                       emit_offset(e, e->frame, offsetof(tl_frame, growing_end)));
    }
    if (f->room_bytes == 0)
        return;
    LLVMValueRef field = emit_offset(e, e->frame, offsetof(tl_frame, room));
    e->room = LLVMBuildLoad2(e->cg->builder, e->cg->ptr, field, "room");
}

/* ---- which tier ------------------------------------------------------------------------------ */

/* Only numbers, lists of them, and calls of functions that are made of numbers only. */
static bool is_calm(const ir_function *f, const ir_block *b) {
    for (const ir_instr *i = b->first; i; i = i->next) {
        bool inside = i->op == IR_DIV || i->op == IR_REM || i->op == IR_SUB_LENGTH || emit_is_list_access(f, i);
        if (!inside && (i->op == IR_ABI || emit_may_raise(i)))
            return false;
    }
    return true;
}

typedef struct calm_search {
    const ir_function *f;
    bool *calm;     /* by block id */
    uint8_t *state; /* 0 not met, 1 on the way, 2 done */
    visit *stack;
} calm_search;

/* Whether a way through calm blocks only leads from `start` back to a block on it. */
static bool circle_from(calm_search *s, uint32_t start) {
    uint32_t depth = 0;
    s->stack[depth++] = (visit){s->f->blocks[start], 0};
    s->state[start] = 1;
    while (depth > 0) {
        visit *top = &s->stack[depth - 1];
        if (top->next == ir_target_count(top->block->last)) {
            s->state[top->block->id] = 2;
            depth--;
            continue;
        }
        uint32_t to = top->block->last->target[top->next++].block->id;
        if (!s->calm[to] || s->state[to] == 2)
            continue;
        if (s->state[to] == 1)
            return true;
        s->state[to] = 1;
        s->stack[depth++] = (visit){s->f->blocks[to], 0};
    }
    return false;
}

/* More blocks than a person writes into one function. LLVM's loop passes take time in proportion to their square. */
enum { MOST_BLOCKS_OPTIMISED = 2000 };

/* A loop in which nothing calls the runtime or a function that does: its numbers are worth optimising. */
static bool calculates_in_loops(codegen *cg, const ir_function *f) {
    calm_search s = {.f = f};
    if (f->block_count > MOST_BLOCKS_OPTIMISED)
        return false;
    s.calm = MASU_ARENA_ARRAY(cg->arena, bool, f->block_count);
    s.state = MASU_ARENA_ARRAY(cg->arena, uint8_t, f->block_count);
    s.stack = MASU_ARENA_ARRAY(cg->arena, visit, f->block_count);
    if (!s.calm || !s.state || !s.stack) {
        cg->out_of_memory = true;
        return false;
    }
    for (uint32_t b = 0; b < f->block_count; b++)
        s.calm[b] = is_calm(f, f->blocks[b]);
    for (uint32_t b = 0; b < f->block_count; b++)
        if (s.calm[b] && !s.state[b] && circle_from(&s, b))
            return true;
    return false;
}

void codegen_function(codegen *cg, const ir_function *f) {
    bool framed = needs_frame(f);
    cg->unit = &cg->units[framed && !calculates_in_loops(cg, f) ? TIER_PLAIN : TIER_FAST];
    cg->unit->has_code = true;
    LLVMValueRef function = codegen_declare(cg, f);
    emit e = {0};
    if (!function || !emit_begin(&e, cg, f, function))
        return;
    /* A function that enters a frame gains nothing from being inlined. */
    if (framed)
        codegen_add_attribute(cg, function, LLVMAttributeFunctionIndex, "noinline");
    take_parameters(&e);
    if (framed)
        enter(&e);
    emit_know_lengths(&e);
    emit_body(&e);
}
