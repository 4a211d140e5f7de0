/* abi.h: what compiled code and the runtime agree on.
 *
 * The functions are in abi.def and ops.def, one line each with the ownership of every argument; this header turns them
 * into C prototypes and holds the few structures whose layout compiled code knows.
 *
 * A compiled function's frame:
 *
 *     tl_frame ─┬─ parent      the caller's frame, NULL in the entry function
 *               ├─ site        where the function is now: set before every call that may raise, so that an
 *               │              error can print the program's call stack
 *               ├─ slot_count
 *               ├─ room        bytes behind the slots for tensors that never leave the function, laid out by
 *               │              the planner; NULL: none
 *               ├─ place, grow, want, spent   hints for the operation that is about to run, empty before the next
 *               ├─ dests       while a function is called: where it may build its results; else NULL
 *               └─ slots[]     owners: each holds NULL or one count of one object
 *
 * Raising unwinds: the runtime walks the frames from the innermost outwards, releases what the slots and the
 * dynamic registry own, and returns to the one that started the program. No C function of the runtime holds
 * anything while it raises. What must hold at every call that may raise:
 *
 *     counts of an object = owner slots + registry entries + stored references (containers, graph)
 *
 * Thread safety: a tensor, an object and a frame belong to the thread whose runtime made them.
 */
#ifndef MASU_ABI_H
#define MASU_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <masu/export.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tl_tensor tl_tensor;
typedef struct tl_object tl_object; /* the common head of tensors, strings, vectors: any counted thing */

/* Where the caller wants a result of the function that it calls: at most one of the three, and the first tensor that is
 * built for it takes it away. */
typedef struct tl_dest {
    void *place;    /* in the caller's room, for exactly `bytes` */
    uint32_t bytes; /* 0: taken */
    uint32_t grow;  /* 1 + a growing slot of the caller */
    uint32_t want;  /* 1 + a result of the caller: where its own caller wants that one */
} tl_dest;

typedef struct tl_frame {
    struct tl_frame *parent;
    uint32_t site;        /* index into the program's table of places; 0 before the first */
    uint32_t slot_count;  /* length of slots */
    uint64_t scope_mark;  /* registry height and scope depth at entry; the runtime's own */
    void *buffers;        /* the slots' growing buffers (tl_mem_get_buffer), NULL until the first */
    void *room;           /* aligned to 64; NULL: none */
    void *place;          /* inside room: where a result of exactly place_bytes is to lie */
    uint32_t place_bytes; /* 0: nowhere in particular */
    uint32_t room_bytes;
    uint32_t grow; /* 1 + the growing slot that the result is to lie in, counted from growing_first; 0: none */
    uint32_t want; /* 1 + the result of this function that is about to be built; 0: none */
    uint32_t growing_first, growing_end; /* of this function, in the program's table of growing slots */
    tl_dest *dests;                      /* one a result of the function that is being called; borrowed */
    tl_tensor *spent;                    /* an operand that is not read afterwards: an element-wise operation may write
                         its result over it; borrowed, NULL: there is none */
    void *slots[];
} tl_frame;

/* The largest room that a frame may have. */
enum { TL_ROOM_BYTES_MAX = 1 << 20 };

/* The largest buffer that a growing slot keeps; what is larger lies in a pool. */
enum { TL_SLOT_BYTES_MAX = 4 << 20 };

enum { TL_MAX_RANK = 8 };

typedef enum tl_dtype { TL_F32, TL_F64, TL_I64, TL_BOOL, TL_DTYPE_COUNT } tl_dtype;

/* How compiled code sees a captured tensor inside a comprehension's kernel. Strides count elements. */
typedef struct tl_view {
    void *data; /* NULL in `backward` when plan->needs_value says that the value is not needed */
    int64_t shape[TL_MAX_RANK];
    int64_t stride[TL_MAX_RANK];
} tl_view;

/* Why a kernel stopped. kind 0 nothing, 1 index out of range (value = the index, bound = the length), 2 integer
 * division by zero. */
typedef struct tl_fault {
    int64_t kind;
    int64_t value;
    int64_t bound;
    int64_t site;
} tl_fault;

/* One comprehension, emitted as constant data beside its two loops.
 * forward: fills `out`, contiguous, zeroed before, of the shape in cells[0 .. rank).
 * backward: adds d(out)/d(capture i) * grad_out into grad_in[i], contiguous accumulators of the capture's own
 * shape and dtype, NULL where no gradient is wanted. Neither raises; both return false after filling *fault. */
typedef struct tl_kernel {
    bool (*forward)(const tl_view *captured, const int64_t *cells, void *out, tl_fault *fault);
    /* NULL: the body cannot be differentiated. */
    bool (*backward)(const tl_view *captured, const int64_t *cells, const void *grad_out, void *const *grad_in,
                     tl_fault *fault);
    int64_t rank;       /* of the result */
    int64_t dtype;      /* tl_dtype of the result */
    int64_t cell_count; /* captured scalars including the result's shape in front */
    int64_t capture_count;
    const int64_t *capture_dtype; /* tl_dtype the kernel reads each capture as; the runtime converts */
    const int64_t *capture_rank;  /* rank that the kernel's indexing expects of each capture; checked */
    const int64_t *needs_value;   /* per capture: 1 when backward reads its elements */
} tl_kernel;

/* The record type of a vector's elements: words of 8 bytes, of which `owned` lists those that hold a count. */
typedef struct tl_record {
    int64_t word_count;
    int64_t owned_count;
    const int64_t *owned;
    int64_t destructor; /* of a value whose type has a `drop`: its number, from 1; 0: it has none */
} tl_record;

/* Where compiled code finds what it reads of a counted thing (32 bits) and of a vector (64 bits each): its length and
 * its room in elements, and its elements' words. */
enum { TL_OBJECT_COUNT_AT = 0, TL_VECTOR_LENGTH_AT = 24, TL_VECTOR_CAPACITY_AT = 32, TL_VECTOR_WORDS_AT = 40 };

/* ---- the table as data --------------------------------------------------------------------------------- */

typedef enum tl_abi_kind {
    ABI_none,
    ABI_bool,
    ABI_i32,
    ABI_i64,
    ABI_f32,
    ABI_f64,
    ABI_address, /* raw pointer, not counted */
    ABI_frame,
    ABI_tensor,
    ABI_object,
    ABI_any /* tensor or object */
} tl_abi_kind;

typedef enum tl_abi_mode { TL_VALUE, TL_BORROWED, TL_OWNED, TL_LIST } tl_abi_mode;

enum tl_abi_effects { NONE = 0, FAILS = 1, READS_GRAD = 2, REPLACES = 4, PURE = 8, ENDS = 16, SCOPED = 32 };

/* How the result's shape follows: see language/pass/shapes.c for the code, one case each. */
typedef enum tl_shape_rule {
#define SHAPE_RULE(name, rank, text) name,
#include <masu/ops.def>
} tl_shape_rule;

/* How many dimensions the result has, as far as the operands' types say. */
typedef enum tl_rank_rule {
    RANK_UNKNOWN,
    RANK_0,
    RANK_1,
    RANK_2,
    RANK_FIRST, /* as the first operand; LESS: one less; MORE: one more */
    RANK_LESS,
    RANK_MORE,
    RANK_SECOND, /* as the second tensor */
    RANK_BROADCAST,
    RANK_BROADCAST_LESS,
    RANK_LIST, /* as many as the list operand has numbers */
    RANK_MATMUL
} tl_rank_rule;

typedef enum tl_dtype_rule {
    NO_DTYPE,
    DTYPE_UNKNOWN,
    DTYPE_SAME,
    DTYPE_PROMOTE, /* bool < i64 < f32 < f64 over all tensor operands */
    DTYPE_COUNT,   /* as PROMOTE, i64 of bools */
    DTYPE_CHOICE,  /* as PROMOTE, over all but the first */
    DTYPE_FLOAT,   /* the operand's when floating, else f32 */
    DTYPE_REAL,    /* PROMOTE, f32 of whole ones */
    DTYPE_F32,
    DTYPE_F64,
    DTYPE_I64,
    DTYPE_BOOL
} tl_dtype_rule;

/* How backward treats the result. */
typedef enum tl_gradient {
    TL_GRADIENT_NONE,   /* it is not a smooth function of a tensor */
    TL_GRADIENT_RULE,   /* a rule of differentiation in C */
    TL_GRADIENT_FOLLOWS /* from the operations that it is written with */
} tl_gradient;

enum { TL_ABI_MAX_PARAMETERS = 5 };

typedef struct tl_abi_parameter {
    tl_abi_kind kind;
    tl_abi_mode mode;
    const char *name; /* NULL ends the list */
    bool optional;    /* a program's call may leave it out: then it is `fallback` */
    double fallback;
} tl_abi_parameter;

typedef struct tl_abi_function {
    const char *symbol;
    tl_abi_kind result;
    tl_abi_mode result_mode;
    tl_abi_parameter parameters[TL_ABI_MAX_PARAMETERS + 1];
    unsigned effects;
    tl_shape_rule shape;
    tl_dtype_rule dtype;
    tl_gradient gradient;
    const char *example; /* of a use, as ops.def says; "" where there is none */
    const char *text;    /* what it does; "" for what programs do not name */
} tl_abi_function;

/* Indices into tl_abi_functions: TL_FN_tl_tensor_add and so on. */
typedef enum tl_abi_index {
#define ABI(result, symbol, parameters, effects, shape, dtype) TL_FN_##symbol,
#define SYSTEM(scope, name, symbol)
#include <masu/abi.def>
#undef ABI
#undef SYSTEM
    TL_FN_COUNT
} tl_abi_index;

/* A name that programs use. scope: "" for a method on a tensor, "Tensor" for a static, else as written. */
typedef struct tl_abi_name {
    const char *scope;
    const char *name;
    tl_abi_index function;
} tl_abi_name;

MASU_API extern const tl_abi_function tl_abi_functions[TL_FN_COUNT];
/* Where they are, in the same order. Apart, so that who only reads the table does not link what it describes. */
extern void *const tl_abi_addresses[TL_FN_COUNT];
MASU_API extern const tl_abi_name tl_abi_names[];
MASU_API extern const size_t tl_abi_name_count;

/* ---- the table as prototypes ----------------------------------------------------------------------------- */

#define TL_C_none                                              void
#define TL_C_bool                                              bool
#define TL_C_i32                                               int32_t
#define TL_C_i64                                               int64_t
#define TL_C_f32                                               float
#define TL_C_f64                                               double
#define TL_C_address                                           void *
#define TL_C_frame                                             tl_frame *
#define TL_C_tensor                                            tl_tensor *
#define TL_C_object                                            tl_object *
#define TL_C_any                                               void *

#define RET(kind)                                              TL_C_##kind
#define RET_OWN(kind)                                          TL_C_##kind
#define RET_BORROW(kind)                                       TL_C_##kind
#define VAL(kind, name)                                        TL_C_##kind name
#define VAL_OR(kind, name, value)                              TL_C_##kind name
#define BORROW(kind, name)                                     TL_C_##kind name
#define OWN(kind, name)                                        TL_C_##kind name
#define LIST(kind, name)                                       int64_t name##_count, TL_C_##kind const *name
#define NO_PARAMETERS                                          void
#define ABI(result, symbol, parameters, effects, shape, dtype) MASU_API result symbol parameters;
#define SYSTEM(scope, name, symbol)
#include <masu/abi.def>
#undef ABI
#undef SYSTEM
#undef RET
#undef RET_OWN
#undef RET_BORROW
#undef VAL
#undef VAL_OR
#undef BORROW
#undef OWN
#undef LIST
#undef NO_PARAMETERS

#ifdef __cplusplus
}
#endif
#endif
