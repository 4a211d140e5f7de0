/* shape_symbols.h: names for lengths that are not known, so that two of them can be proven equal.
 *
 *     let n = args_count();                   value n
 *     Tensor::zeros([n * 4, 64])              [n * 4, 64]
 *     x.relu() of a parameter x               [x.dim(0), x.dim(1)]
 *
 * A symbol belongs to one function and means what the value or dimension has in the current run of the code around:
 * where it is defined it dominates what is said with it. Equal symbols are equal lengths; different ones may be equal.
 *
 *     symbol = mul * atom + add      atom: a value, a dimension of a value, a sum, product … of two symbols
 *
 * so that n + 1 and n are known to differ. All arithmetic wraps, as in the program.
 *
 * As a dimension of an ir_shape while shapes are inferred:
 *     ≥ 0 the length     -1 not known     ≤ SHAPE_FIRST_SYMBOL a symbol
 */
#ifndef MASU_LANGUAGE_SHAPE_SYMBOLS_H
#define MASU_LANGUAGE_SHAPE_SYMBOLS_H

#include "base/buffer.h"
#include "language/ir/ir.h"

typedef enum shape_atom {
    ATOM_VALUE, /* a: a value of type i64 */
    ATOM_DIM,   /* a: a tensor, b: which of its dimensions */
    ATOM_SUM,   /* a, b: symbols, as in all that follow */
    ATOM_DIFFERENCE,
    ATOM_PRODUCT,
    ATOM_QUOTIENT, /* a: a symbol, b: symbol or 0, then by `number` */
    ATOM_AFFINE    /* mul * a + add */
} shape_atom;

typedef struct shape_symbol {
    shape_atom kind;
    uint32_t function; /* its id */
    uint32_t a, b;
    int64_t mul, add;
    const char *alias; /* a variable that has this value; NULL: none */
    const char *text;  /* its name once it was asked for */
} shape_symbol;

typedef struct shape_symbols {
    const ir_module *m;
    masu__arena *arena;
    shape_symbol *all; /* [0] unused */
    uint32_t count, capacity;
    uint32_t *buckets;
    uint32_t bucket_count;
    bool out_of_memory;
} shape_symbols;

/* A number, or a symbol when symbol > 0. symbol 0 and known false: nothing to say. */
typedef struct shape_length {
    bool known;
    int64_t number;
    uint32_t symbol;
} shape_length;

enum { SHAPE_FIRST_SYMBOL = -16 };

static inline int64_t shape_dim_of_symbol(uint32_t symbol) {
    return SHAPE_FIRST_SYMBOL - (int64_t)symbol;
}
static inline uint32_t shape_symbol_of_dim(int64_t dim) { /* 0: none */
    return dim < SHAPE_FIRST_SYMBOL ? (uint32_t)(SHAPE_FIRST_SYMBOL - dim) : 0;
}
static inline shape_length shape_length_of_dim(int64_t dim) {
    return (shape_length){.known = dim >= 0, .number = dim >= 0 ? dim : 0, .symbol = shape_symbol_of_dim(dim)};
}
/* -1 for numbers that are not a length. */
static inline int64_t shape_dim_of_length(shape_length l) {
    return l.known ? (l.number >= 0 ? l.number : -1) : l.symbol ? shape_dim_of_symbol(l.symbol) : -1;
}

/* Each returns 0 when there is no memory, or too many were made. Equal things have equal symbols. */
uint32_t shape_symbol_value(shape_symbols *s, const ir_function *f, ir_value v);
uint32_t shape_symbol_dim(shape_symbols *s, const ir_function *f, ir_value v, uint32_t dim);

/* a op b for IR_ADD, IR_SUB, IR_MUL, IR_DIV; nothing to say for other operations. */
shape_length shape_combine(shape_symbols *s, ir_opcode op, shape_length a, shape_length b);

/* a / b where it is a whole number of b's for certain; nothing to say otherwise. */
shape_length shape_divide(shape_symbols *s, shape_length a, shape_length b);

/* They differ whatever the values are. */
bool shape_lengths_differ(const shape_symbols *s, int64_t dim, int64_t other);

/* A symbol of a callee in terms of the caller: leaf(context, …) says what the callee's atoms (parameters and dimensions
 * of them) are there. */
typedef shape_length shape_leaf(void *context, const shape_symbol *atom);
shape_length shape_translate(shape_symbols *s, uint32_t symbol, shape_leaf *leaf, void *context);

/* Variables of the function that hold a length of that name from now on lend it theirs; numbers: the symbol of each
 * value. */
void shape_symbols_name(shape_symbols *s, const ir_function *f, const uint32_t *symbols);

/* It is a dimension of v itself, and no variable holds it. */
bool shape_symbol_is_own(const shape_symbols *s, uint32_t symbol, const ir_function *f, ir_value v);

/* Its name as the source would write it, "?" when that is not short. It is the arena's. */
const char *shape_symbol_text(shape_symbols *s, uint32_t symbol);

#endif
