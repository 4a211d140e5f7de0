/* emit.h: what the files of this folder tell each other.
 *
 *     codegen    one LLVM module: types, declared runtime functions, the functions and kernels made so far
 *     emit       one function of it being written: where each IR value and block went
 *
 * A function's first LLVM block, the prologue, has no counterpart in the IR: stack room and the frame are made there.
 *
 *     prologue: room, frame = tl_mem_function_enter(slots) ─► block 0 ─► …          ret: tl_mem_function_exit(frame)
 *
 * What must stay true (asserted in emit_arg and function.c): blocks are written in an order in which a definition comes
 * before its uses (reverse postorder), and every parameter of a block is a phi made before any block is written.
 */
#ifndef MASU_LANGUAGE_CODEGEN_EMIT_H
#define MASU_LANGUAGE_CODEGEN_EMIT_H

#include <llvm-c/Core.h>

#include "base/arena.h"
#include "base/assert.h"
#include "language/codegen/codegen.h"
#include "language/ir/cfg.h"

/* Code is written into two modules of one context. What mostly waits for the runtime is translated as it is, in the
 * shortest time; what calculates is optimised. */
typedef enum codegen_tier { TIER_PLAIN, TIER_FAST, TIER_COUNT } codegen_tier;

/* Kinds of memory: a load of one never sees a store to another. */
typedef enum emit_memory {
    EMIT_HEAD,                    /* + n: the nth word of a vector's head */
    EMIT_NUMBERS = EMIT_HEAD + 8, /* words of elements that own nothing */
    EMIT_OWNERS,                  /* words of elements that own */
    EMIT_FRAME,
    EMIT_MEMORY_COUNT
} emit_memory;

typedef struct codegen_unit {
    LLVMModuleRef llvm;
    LLVMValueRef abi[TL_FN_COUNT]; /* declarations, as all below made on first use */
    LLVMValueRef *functions;       /* by ir_function.id; what another unit defines is declared */
    LLVMValueRef *plans;           /* tl_kernel constants, by index in module->kernels */
    bool has_code;
} codegen_unit;

typedef struct codegen {
    const ir_module *module;
    masu__arena *arena; /* of this compilation */
    LLVMContextRef context;
    LLVMBuilderRef builder;
    LLVMTypeRef none, i1, i8, i32, i64, f32, f64, ptr;
    LLVMTypeRef abi_type[TL_FN_COUNT];
    codegen_unit units[TIER_COUNT];
    codegen_unit *unit;        /* the one being written */
    const ir_function **queue; /* functions in the order of their first call; written ones first */
    uint32_t queue_count;
    bool *queued;                         /* by ir_function.id */
    bool *kernels_written;                /* by index in module->kernels */
    LLVMValueRef tags[EMIT_MEMORY_COUNT]; /* made on first use */
    bool out_of_memory;
} codegen;

/* The length of a list, and the block that asks for it. */
typedef struct emit_length {
    LLVMValueRef value;
    const ir_block *block;
} emit_length;

typedef struct emit {
    codegen *cg;
    const ir_function *f;
    LLVMValueRef function;
    LLVMValueRef *values;      /* by ir_value */
    LLVMBasicBlockRef *starts; /* by block id; NULL: not reachable */
    LLVMBasicBlockRef *ends;   /* where the block's terminator is */
    const ir_block **order;    /* reverse postorder */
    uint32_t order_count;
    LLVMBasicBlockRef prologue;
    LLVMValueRef frame;              /* NULL: the function needs none */
    LLVMValueRef room;               /* where its room begins; NULL: it has none */
    LLVMValueRef destination;        /* several results go there; NULL otherwise */
    LLVMValueRef list, cells, dests; /* stack room for operands of calls, grown as needed */
    uint32_t list_words, cell_words, dest_words;
    emit_length *lengths;      /* by ir_value; NULL: no length is asked for */
    ir_dominators *dominators; /* where lengths are */
    /* kernels only */
    const ir_kernel *kernel;
    LLVMValueRef captured, cell_array, out, grad_out, fault;
    LLVMValueRef *data, *grad_in; /* by capture */
    bool careful;                 /* an IR_KERNEL_CAREFUL was met */
} emit;

/* ---- llvm_types.c ---------------------------------------------------------------------------------------------- */

void codegen_types_init(codegen *cg);
LLVMTypeRef codegen_type(const codegen *cg, ir_type type);
LLVMTypeRef codegen_dtype(const codegen *cg, tl_dtype dtype); /* as it lies in memory: bool is a byte */
LLVMTypeRef codegen_function_type(const codegen *cg, const ir_function *f);
LLVMTypeRef codegen_results_type(const codegen *cg, const ir_function *f); /* what a destination points to */
LLVMValueRef codegen_i64(const codegen *cg, int64_t v);
/* The runtime function, declared on first use. */
LLVMValueRef codegen_abi(codegen *cg, tl_abi_index index);
void codegen_add_attribute(const codegen *cg, LLVMValueRef function, LLVMAttributeIndex where, const char *name);
/* Says which memory a load or store is of; the load or store. */
LLVMValueRef emit_tag(emit *e, LLVMValueRef access, unsigned memory);
/* Says that what is loaded is not negative; the load. */
LLVMValueRef emit_length_load(emit *e, LLVMValueRef load);
/* Says of a branch that its first way is nearly always taken. */
void emit_likely(emit *e, LLVMValueRef branch);
/* Private constant data; its address. */
LLVMValueRef codegen_constant(const codegen *cg, const char *name, LLVMValueRef value);
LLVMValueRef codegen_i64_array(codegen *cg, const char *name, const int64_t *values, uint32_t count);

/* ---- function.c -------------------------------------------------------------------------------------------- */

LLVMValueRef codegen_declare(codegen *cg, const ir_function *f);
void codegen_function(codegen *cg, const ir_function *f);
/* Blocks, phis and instructions of e->f into e->function, whose prologue is open for the caller's own code before
 * and is closed here. */
bool emit_begin(emit *e, codegen *cg, const ir_function *f, LLVMValueRef function);
void emit_body(emit *e);
/* Stack room that lives as long as the function. */
LLVMValueRef emit_room(emit *e, LLVMTypeRef type, const char *name);
static inline LLVMValueRef emit_arg(const emit *e, const ir_instr *i, uint32_t index) {
    MASU_DEBUG_ASSERT(index < i->arg_count && (e->values[i->args[index]] || e->cg->out_of_memory));
    return e->values[i->args[index]];
}
static inline ir_type emit_arg_type(const emit *e, const ir_instr *i, uint32_t index) {
    return ir_type_of(e->f, i->args[index]);
}
static inline ir_type emit_result_type(const emit *e, const ir_instr *i) {
    return ir_type_of(e->f, i->result);
}
/* Address `bytes` behind base. */
LLVMValueRef emit_offset(emit *e, LLVMValueRef base, int64_t bytes);
void emit_site(emit *e, const ir_instr *i);
/* A call too, if the function may. Else no place is stored for it: in a loop the store would keep loads from moving. */
bool emit_may_raise(const ir_instr *i);
LLVMBasicBlockRef emit_new_block(emit *e, const char *name);

/* ---- arithmetic.c --------------------------------------------------------------------------------------------- */

LLVMValueRef emit_arithmetic(emit *e, const ir_instr *i);
LLVMValueRef emit_intrinsic(emit *e, const char *name, LLVMTypeRef *overloads, unsigned overload_count,
                            LLVMValueRef *args, unsigned arg_count);
bool emit_type_signed(ir_type type);
bool emit_type_float(ir_type type);

/* ---- call.c ----------------------------------------------------------------------------------------------------- */

LLVMValueRef emit_abi_call(emit *e, tl_abi_index index, LLVMValueRef *args, unsigned count);
void emit_abi(emit *e, const ir_instr *i);
void emit_call(emit *e, const ir_instr *i);
void emit_comprehend(emit *e, const ir_instr *i);
void emit_record(emit *e, const ir_instr *i);
void emit_ownership(emit *e, const ir_instr *i);

/* ---- list.c ----------------------------------------------------------------------------------------------------- */

/* A call that is written as loads and stores, and calls the runtime only to raise or to copy. */
bool emit_is_list_access(const ir_function *f, const ir_instr *i);
void emit_know_lengths(emit *e);
bool emit_list_access(emit *e, const ir_instr *i); /* false: it is none, nothing is written */

/* ---- kernel.c ---------------------------------------------------------------------------------------------------- */

LLVMValueRef codegen_plan(codegen *cg, const ir_kernel *kernel);
void emit_kernel(emit *e, const ir_instr *i);
/* The ends of a kernel's loops: done, or go on in the careful twin. */
void emit_kernel_done(emit *e);
void emit_kernel_careful(emit *e);
/* Leaves the kernel with a fault when `bad` holds. kind as in tl_fault. */
void emit_fault(emit *e, LLVMValueRef bad, int64_t kind, LLVMValueRef value, LLVMValueRef bound, uint32_t site);

/* ---- carried.c --------------------------------------------------------------------------------------------------- */

void codegen_carry(codegen *cg, const codegen_program *program);

/* ---- jit.c ------------------------------------------------------------------------------------------------------- */

#define CODEGEN_ENTRY_NAME "masu_main"
#define CODEGEN_DATA_NAME  "masu_native_data" /* see masu_native_program */

typedef struct jit jit;

/* Writes the module as an object, still in memory; optimised when it is of TIER_FAST. False: LLVM's words are in
 * error. */
bool jit_make_object(LLVMModuleRef module, codegen_tier tier, bool for_linker, LLVMMemoryBufferRef *object,
                     masu__buffer *error);
void jit_drop_objects(LLVMMemoryBufferRef objects[TIER_COUNT]);
/* Links the objects (NULL: none of that tier), consumed in any case, with each other and with the runtime functions in
 * used[TL_FN_COUNT]. NULL on failure. */
jit *jit_load(LLVMMemoryBufferRef objects[TIER_COUNT], const bool *used, masu__buffer *error);
void (*jit_entry(const jit *j))(void);
void jit_destroy(jit *j);

#endif
