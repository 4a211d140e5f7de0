/* ir.h: the typed intermediate representation, between the source tree and LLVM.
 *
 * Why it exists: ownership is decided here. So the IR is built so that ownership is visible: static single
 * assignment, aggregates taken apart into their leaves (a struct of two tensors is two values: no container
 * is ever allocated, moved or counted), and control flow as blocks with parameters instead of variables.
 *
 *     module ─► function ─► block(params) ─► instructions … terminator ──(arguments)──► block(params)
 *
 * Kinds of values: plain (numbers, bools, addresses) and managed (tensors, objects: counted at run time).
 * After the `ownership` pass every managed value that a function owns is consumed exactly once on every path:
 * by a call that takes it (owned mask), by an ABI parameter declared OWN, as an argument of a jump, by ret, or
 * by an explicit IR_RELEASE. Borrowed parameters are consumed never. ir_verify proves it.
 *
 * What must stay true, in every phase (ir_verify):
 *     every value has one definition, which dominates its uses; operand types match the operation;
 *     every block ends in its only terminator; jump arguments match the target's parameters in number and type;
 *     predecessor lists mirror the terminators; block 0 is the entry, has no predecessors, no parameters
 *     (a function's parameters are values of their own).
 */
#ifndef MASU_LANGUAGE_IR_H
#define MASU_LANGUAGE_IR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "language/diagnose/source.h" /* span: file, line, column, length */
#include "language/scalar_math.h"
#include <masu/abi.h>

typedef enum ir_type {
    IR_NONE,
    IR_BOOL,
    IR_I8,
    IR_I16,
    IR_I32,
    IR_I64,
    IR_U8,
    IR_U16,
    IR_U32,
    IR_U64,
    IR_F32,
    IR_F64,
    IR_CHAR,    /* a Unicode scalar value in 32 bits */
    IR_ADDRESS, /* raw, not counted */
    IR_TENSOR,  /* managed */
    IR_OBJECT,  /* managed: string, vector */
    IR_TYPE_COUNT
} ir_type;

static inline bool ir_type_managed(ir_type t) {
    return t == IR_TENSOR || t == IR_OBJECT;
}
static inline bool ir_type_integer(ir_type t) {
    return t >= IR_I8 && t <= IR_U64;
}
static inline bool ir_type_signed(ir_type t) {
    return t >= IR_I8 && t <= IR_I64;
}
static inline bool ir_type_float(ir_type t) {
    return t == IR_F32 || t == IR_F64;
}
unsigned ir_type_bits(ir_type t); /* of plain types; bool 1, address and managed 64, none 0 */
const char *ir_type_name(ir_type t);

typedef uint32_t ir_value; /* index into ir_function.values; 0 is "no value" */

typedef struct ir_shape { /* what is known of a tensor value's shape */
    bool known_rank;
    uint8_t rank;
    int64_t dim[TL_MAX_RANK]; /* -1: not known */
    const char **name;        /* by dimension: what the source calls one that is not known, or NULL; NULL: of none */
} ir_shape;

void ir_shape_put(const ir_shape *shape, masu__buffer *out); /* [2, n], ? for a dimension without number and name */

typedef struct ir_block ir_block;
typedef struct ir_instr ir_instr;
typedef struct ir_function ir_function;
typedef struct ir_module ir_module;
typedef struct ir_kernel ir_kernel;

typedef struct ir_value_info {
    ir_type type;
    const char *name;                 /* the binding's or NULL */
    source_span span;                 /* of the expression or binding */
    ir_instr *def;                    /* NULL for parameters of functions and blocks */
    ir_block *block;                  /* of the definition; the entry block for function parameters */
    bool is_parameter;                /* of the function */
    bool borrowed;                    /* after `ownership`: a parameter that stays the caller's */
    int32_t slot;                     /* after `slots`: owner slot in the frame, -1 none */
    const char *pooled;               /* after `frames`: why a tensor made here lies in no frame; NULL: it does, or is
                              not made here */
    uint32_t point_first, point_last; /* after `frames`, of a tensor in the frame: its life in points of the program */
    const ir_shape *shape;            /* after `shapes`; NULL nothing known */
} ir_value_info;

typedef enum ir_opcode {
    /* constants: imm.i or imm.f; IR_BYTES: imm.bytes (static data, address) */
    IR_CONST,
    IR_BYTES,
    /* a managed value that is nothing (NULL): in the place of what another variant of an enum would hold. Owned
     * like any other, so that every path gives away the same values */
    IR_NOTHING,
    /* arithmetic on equal types; integers wrap; IR_DIV and IR_REM of integers check for zero (may raise) */
    IR_ADD,
    IR_SUB,
    IR_SUB_LENGTH, /* of usize: raises below zero */
    IR_MUL,
    IR_DIV,
    IR_REM,
    IR_NEG,
    IR_NOT, /* bool or bitwise */
    IR_AND,
    IR_OR,
    IR_XOR,
    IR_SHL,
    IR_SHR,
    IR_EQ,
    IR_NE,
    IR_LT,
    IR_LE,
    IR_GT,
    IR_GE,
    IR_CAST, /* to the result's type; float to integer saturates, as in Rust */
    IR_MATH, /* imm.math: sqrt, exp, … on f32/f64 */
    /* calls */
    IR_ABI,        /* abi: index; args: the parameters in order, the list's elements in place of the list */
    IR_CALL,       /* callee; results: one per leaf of the callee's result */
    IR_COMPREHEND, /* kernel; args: shape (rank), further cells, captured tensors; result tensor */
    /* a record of words on the machine stack, for vectors: IR_RECORD makes it from args (one word each) and
     * yields its address; IR_RECORD_EMPTY reserves imm.i words; IR_RECORD_WORD reads word imm.i as the result's
     * type: for managed types the reader takes over the count that the word holds. An IR_RECORD given to
     * tl_vec_push/set: its managed args are consumed. Counts inside a record have no owner that an error would find:
     * nothing may raise between the IR_RECORD and the call that takes it, nor between the call that fills one and its
     * IR_RECORD_WORDs. */
    IR_RECORD,
    IR_RECORD_EMPTY,
    IR_RECORD_WORD,
    /* address of static tl_record data: record (leaf types in imm.types) */
    IR_RECORD_TYPE,
    /* ownership: inserted by passes. IR_KEEP is at the end of a lexical scope and keeps its argument alive
     * until there; the optional pass `lastuse` removes it, else `slots` does. imm.i 1: of what has a destructor, which
     * runs here: no pass removes it before `slots`; 2: the same in a loop without end: no release follows, it stays */
    IR_KEEP,
    IR_ACQUIRE, /* args[0] gains a count that the next consumer takes; no result: the same value has two owners */
    IR_RELEASE, /* consumes args[0] */
    IR_ROOT,    /* stores args[0] into owner slot imm.i (or registers it, when imm.i < 0) */
    IR_UNROOT,  /* clears owner slot imm.i (or unregisters args[0]) */
    /* inside kernels only; each index is an i64 argument */
    IR_KERNEL_CELL,     /* cell imm.i as the result's type */
    IR_KERNEL_EXTENT,   /* length of dimension args[0] (constant) of capture imm.i */
    IR_KERNEL_LOAD,     /* element of capture imm.i at args; checked, faults; site 0: in range by construction */
    IR_KERNEL_OUT_ADD,  /* args: value, indices…; out[indices] += value, imm.i 1: = value (forward); in range */
    IR_KERNEL_GRAD_OUT, /* grad_out[args] (backward) */
    IR_KERNEL_GRAD_ADD, /* args: value, indices…; grad_in[imm.i][indices] += value when wanted; checked like a load */
    /* terminators */
    IR_JUMP,           /* target[0] */
    IR_BRANCH,         /* args[0] bool; target[0] when true, target[1] otherwise */
    IR_RET,            /* args: the leaves of the result; owned. In kernels: no args */
    IR_UNREACHABLE,    /* after a call that always raises */
    IR_KERNEL_CAREFUL, /* what a kernel's forward or backward relies on does not hold: on in the careful twin */
    IR_OPCODE_COUNT
} ir_opcode;

typedef struct ir_target {
    ir_block *block;
    ir_value *args;
    uint32_t count;
} ir_target;

/* Where the elements of a tensor that is made are to lie, when not in a pool: at most one of the three. */
typedef struct ir_place {
    uint64_t bytes, at; /* after `frames`: in the frame's room, at this offset; bytes 0: not there */
    uint32_t slot;      /* after `growing`: 1 + a growing slot of the function; 0: in none */
    uint32_t dest;      /* after `destinations`: 1 + the result of this function as which it leaves: where
                           the caller says; 0: it does not */
} ir_place;

struct ir_instr {
    ir_opcode op;
    tl_abi_index abi; /* of IR_ABI */
    ir_instr *prev, *next;
    ir_block *block;
    ir_value *args;
    uint32_t arg_count;
    ir_value result; /* first result; results are consecutive */
    uint32_t result_count;
    uint32_t site;    /* index into module->sites, 0: cannot raise */
    source_span span; /* file NULL: inserted by a pass */
    union {
        int64_t i;
        double f;
        scalar_math math;
        struct {
            const char *data;
            size_t length;
        } bytes;
        struct {
            const ir_type *types;
            uint32_t count;
            uint32_t destructor; /* its number, from 1; 0: none */
        } record;
    } imm;
    ir_function *callee;
    ir_kernel *kernel;
    bool *owned;      /* IR_CALL after `ownership`: per argument, consumed by the callee; NULL before */
    ir_value reuse;   /* IR_ABI after `reuse`: the operand that dies here and whose buffer the result may
                             take over; 0 none */
    uint32_t work;    /* IR_ABI after `growing`: 1 + the growing slot of what it makes on the way; 0: in a pool */
    ir_place place;   /* IR_ABI, IR_COMPREHEND: of the result */
    ir_place *places; /* IR_CALL: of each result, for the callee to build it there; NULL: nowhere */
    ir_target target[2];
};

struct ir_block {
    uint32_t id; /* index in function->blocks */
    ir_function *function;
    ir_value *params;
    uint32_t param_count;
    ir_instr *first, *last;
    ir_block **preds; /* one entry per incoming edge */
    uint32_t pred_count;
    uint32_t scope_depth; /* nesting of the source scopes, for listings */
};

/* Counts of the IR after a pass. */
typedef struct ir_tally {
    const char *pass;
    uint32_t acquires, releases;
    uint32_t over;    /* results that may be written over an operand */
    uint32_t framed;  /* tensors that lie in a frame */
    uint32_t slotted; /* tensors that lie in growing slots */
    uint32_t built;   /* tensors that are built where the caller says */
    uint32_t rooted;  /* entries into owner slots or the registry */
} ir_tally;

/* A binding of a value that has a name already: `let q = p;`. Only listings read it. */
typedef struct ir_alias {
    const char *name;
    source_span span;
    ir_value value; /* what takes its place by now; it may be gone where it is not read */
} ir_alias;

struct ir_function {
    ir_module *module;
    uint32_t id;      /* index in module->functions */
    const char *name; /* qualified, e.g. Model::forward */
    source_span span;
    ir_value *params; /* leaves of the parameters in order */
    uint32_t param_count;
    ir_type *results; /* leaves of the result; for a method that writes to self: then self's leaves */
    uint32_t result_count;
    ir_value_info *values; /* [0] unused */
    uint32_t value_count, value_capacity;
    ir_alias *aliases;
    uint32_t alias_count, alias_capacity;
    ir_block **blocks; /* [0] is the entry */
    uint32_t block_count, block_capacity;
    bool is_kernel;
    uint32_t slot_count; /* after `slots` */
    /* after `slots`: lower bound, the most values that one raising instruction must find protected */
    uint32_t slot_bound;
    uint64_t room_bytes,
        room_bound; /* after `frames`: of tensors that never leave the function; a proven lower bound */
    uint32_t built; /* after `destinations`: bit r: result r is built where the caller says */
    uint32_t growing_first, growing_count; /* after `growing`: its slots in the table that all functions share */
    ir_tally *tallies; /* one a pass since the function came to be, in order; NULL before the first */
    uint32_t tally_count;
    const ir_function *specialised_from; /* NULL for the original */
    const char *ownership; /* after `ownership`: one letter a managed parameter, o owned, b borrowed; else NULL */
};

struct ir_kernel {
    const char *name;
    ir_function *forward;
    ir_function *backward;                           /* NULL: not differentiable, then `reason` says why */
    ir_function *forward_careful, *backward_careful; /* where IR_KERNEL_CAREFUL leads; NULL: it is nowhere */
    const char *reason;
    source_span reason_span;
    uint32_t rank;
    tl_dtype dtype;
    uint32_t cell_count; /* with the shape's `rank` cells in front */
    ir_type *cell_types; /* each converted to 8 bytes: integers as i64, floats as the bits of f64 */
    uint32_t capture_count;
    tl_dtype *capture_dtype;
    uint32_t *capture_rank;
    bool *needs_value;
};

enum { IR_SITE_OPERANDS = 2 };

typedef struct ir_site {
    source_span span;
    const char *function; /* qualified name for the call stack */
    /* For an operation on one or two tensors: these, for errors that speak of their shapes. Span without file: none. */
    struct {
        const char *name; /* the binding's or NULL */
        source_span span;
    } operands[IR_SITE_OPERANDS];
} ir_site;

/* Faults of the program that lowering found; reported before the passes. */
typedef struct ir_refusal {
    source_span span;
    int row;          /* of diagnostics.def */
    const char *text; /* its own, static */
    struct ir_refusal *next;
} ir_refusal;

struct ir_module {
    masu__arena *arena; /* everything in the module lives here; one free */
    ir_function **functions;
    uint32_t function_count, function_capacity;
    ir_kernel **kernels;
    uint32_t kernel_count, kernel_capacity;
    ir_site *sites; /* [0] unused */
    uint32_t site_count, site_capacity;
    ir_function *main;
    ir_refusal *refusals;
    ir_function *destructors; /* runs those of what waits for them: pass/destructors.c; NULL: no type has one */
    ir_tally *tallies;        /* one a pass that ran, in order; NULL before the first */
    uint32_t tally_count;
    bool out_of_memory; /* sticky: an arena allocation failed while building; checked by the driver after each stage */
};

/* ---- construction (ir/build.c). Failures of the arena are sticky in module->out_of_memory; then NULL or 0 comes. */

ir_module *ir_module_new(masu__arena *arena);
ir_function *ir_function_new(ir_module *m, const char *name, source_span span);
ir_value ir_function_add_param(ir_function *f, ir_type type, const char *name, source_span span);
/* One more name of v. */
void ir_function_alias(ir_function *f, ir_value v, const char *name, source_span span);
void ir_function_set_results(ir_function *f, const ir_type *types, uint32_t count);
ir_kernel *ir_kernel_new(ir_module *m, const char *name);
uint32_t ir_site_new(ir_module *m, source_span span, const char *function);
ir_block *ir_block_new(ir_function *f);
ir_value ir_block_add_param(ir_block *b, ir_type type, const char *name, source_span span);
ir_value ir_value_new(ir_function *f, ir_type type, const char *name, source_span span);
/* A detached instruction with room for args (copied) and fresh results of the given types. */
ir_instr *ir_instr_new(ir_function *f, ir_opcode op, const ir_value *args, uint32_t arg_count, const ir_type *results,
                       uint32_t result_count, source_span span);
void ir_append(ir_block *b, ir_instr *i);
void ir_insert_before(ir_instr *where, ir_instr *i);
void ir_insert_after(ir_instr *where, ir_instr *i);
void ir_remove(ir_instr *i);
/* Terminators keep predecessor lists true. */
void ir_set_target(ir_instr *terminator, int which, ir_block *to, const ir_value *args, uint32_t count);
void ir_add_target_arg(ir_instr *terminator, int which, ir_value arg);
enum { IR_MOST_BUILT = 32 }; /* results behind these are never built where the caller says */

static inline bool ir_builds(const ir_function *f, uint32_t result) {
    return result < IR_MOST_BUILT && (f->built >> result & 1);
}

static inline ir_type ir_type_of(const ir_function *f, ir_value v) {
    return f->values[v].type;
}
int ir_target_count(const ir_instr *terminator); /* 0, 1, 2 */
bool ir_is_terminator(ir_opcode op);
const char *ir_opcode_name(ir_opcode op);
/* Whether operand `index` of i gives one count away (of managed operands): ABI parameters declared OWN, calls by their
 * owned mask, records, releases, arguments of ret. Arguments of jumps always do; they are not operands. */
bool ir_consumes(const ir_instr *i, uint32_t index);
/* Adds to uses, by value, how often each is an operand or an argument of a jump. O(function). */
void ir_count_uses(const ir_function *f, uint32_t *uses);
bool ir_may_raise(const ir_instr *i); /* by opcode, ABI effects; calls always may */
/* A panic, or an operation's refusal of its operands: the last operand is its text, the first of two names the
 * operation. */
bool ir_is_panic(const ir_instr *i);
/* Where the elements of v, made by an operation or a call, are to lie; NULL: nowhere in particular. */
const ir_place *ir_place_of(const ir_function *f, ir_value v);
/* The same to be filled in; v is the result of an IR_ABI, IR_COMPREHEND or IR_CALL. NULL when memory runs out. */
ir_place *ir_place_for(ir_function *f, ir_value v);
bool ir_const_int(const ir_function *f, ir_value v, int64_t *out); /* v is IR_CONST of an integer or bool type */
void ir_remove_unreachable_blocks(ir_function *f);
/* After it every edge from a block with two targets leads to a block with that one predecessor and carries no
 * arguments. */
void ir_split_critical_edges(ir_function *f);
/* ABI operand i of an IR_ABI instruction: which parameter it is, list elements resolved; NULL when out of range. */
const tl_abi_parameter *ir_abi_parameter(const ir_instr *i, uint32_t operand);

/* ---- static single assignment while building (ir/ssa.c; after Braun et al. 2013) ------------------------------- */

typedef struct ir_builder ir_builder;
typedef uint32_t ir_variable; /* a mutable leaf of the source program */

ir_builder *ir_builder_new(ir_function *f);
/* The current block; NULL after a terminator: code that follows is unreachable. */
ir_block *ir_builder_block(const ir_builder *b);
void ir_builder_set_block(ir_builder *b, ir_block *block);
/* Appends at the end of the current block; when there is none (unreachable code) a fresh unreachable block is opened
 * first. */
ir_instr *ir_emit(ir_builder *b, ir_opcode op, const ir_value *args, uint32_t arg_count, const ir_type *results,
                  uint32_t result_count, source_span span);
ir_value ir_emit_const_int(ir_builder *b, ir_type type, int64_t v, source_span span);
ir_value ir_emit_const_float(ir_builder *b, ir_type type, double v, source_span span);
void ir_emit_jump(ir_builder *b, ir_block *to, source_span span); /* arguments are filled in by variables */
void ir_emit_branch(ir_builder *b, ir_value c, ir_block *yes, ir_block *no, source_span span);
void ir_emit_ret(ir_builder *b, const ir_value *values, uint32_t count, source_span span);
const char *ir_variable_name(const ir_builder *b, ir_variable v);
ir_variable ir_variable_new(ir_builder *b, ir_type type, const char *name, source_span span);
void ir_write(ir_builder *b, ir_variable v, ir_value value);
/* The only write there will ever be: every read is behind it. So reading costs no search through the blocks, and no
 * parameters of blocks that would only pass it on. */
void ir_write_last(ir_builder *b, ir_variable v, ir_value value);
/* Adds block parameters as needed; an unwritten variable reads as the constant zero of its type, which for managed
 * types ir_verify rejects unless the code is unreachable. */
ir_value ir_read(ir_builder *b, ir_variable v, source_span span);
void ir_seal(ir_builder *b, ir_block *block); /* all predecessors are known now */
void ir_builder_finish(ir_builder *b); /* every block sealed; removes trivial parameters and unreachable blocks */

/* ---- printing and verification ----------------------------------------------------------------------------------- */

void ir_print_instr(const ir_function *f, const ir_instr *i, masu__buffer *out); /* one line, without its end */
void ir_print_function(const ir_function *f, masu__buffer *out);
void ir_print_module(const ir_module *m, masu__buffer *out);
/* Reads what ir_print_module wrote (ir/ir_parse.c): value numbers, names, shapes, ownership and slots come back; spans
 * and sites do not. The module lives in arena. NULL on an error, which is described in `error` with its line. */
ir_module *ir_parse_module(masu__arena *arena, const char *text, masu__buffer *error);

typedef enum ir_phase { IR_PHASE_BUILT, IR_PHASE_OWNED, IR_PHASE_ROOTED } ir_phase;
/* True when all invariants of the phase hold; otherwise writes one line a fault (function, block, instruction, what) to
 * out. False with out->failed when memory ran out before the end. */
bool ir_verify(const ir_module *m, ir_phase phase, masu__buffer *out);

#endif
