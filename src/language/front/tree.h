/* tree.h: the syntax tree, and what the checker writes into it.
 *
 *     tree ─► items: functions (free and methods), structs, constants
 *     function ─► parameters (bindings), body (block) ─► statements ─► expressions
 *
 * The parser builds it; the checker fills the fields marked [check] and *simplifies it in place*,
 * so that its consumer meets few shapes. After a check without errors (status OK, no error
 * diagnostics):
 *
 *  1. Every expression has its type. There is no EXPR_ERROR, no EXPR_METHOD, EXPR_TRY, EXPR_REPEAT,
 *     EXPR_CLOSURE, no EXPR_RANGE outside of `for`, no TYPE_OPEN and no TYPE_ERROR. TYPE_NEVER is the type of jumps, of panic and of what
 *     ends in them; such an expression stands only as a statement, a branch, an arm or the value of a
 *     let, break or return, never as an operand.
 *  2. Conversions are nodes: EXPR_CAST (implicit = true) between scalars; an EXPR_CALL of
 *     tl_tensor_item… where a rank-0 tensor stands for a scalar. The operands of an EXPR_BINARY have
 *     one and the same type (also those of shifts).
 *  3. Operators on tensors and strings are EXPR_CALLs with CALL_ABI. EXPR_UNARY and EXPR_BINARY are
 *     scalar only.
 *  4. A CALL_ABI has its operands in the order of the ABI function's parameters, the elements of a
 *     LIST in place of the list, defaults filled in as literals, each operand's type that of the
 *     parameter's kind (i64, f64, bool, tensor, …). The expression's type is that of the ABI result;
 *     where the language says f32 and the function yields f64, a cast stands around it.
 *  5. A block's `result` is there exactly when the block yields a value (type neither void nor
 *     never). An `if` or `match` used as a statement has type void (or never), its blocks no result.
 *  6. Constants such as F32::max_value() and i64::sizeof() are literals. `&e`, `&mut e` and
 *     parentheses are gone.
 *  7. `a op= b` is written out as `a = a op b`; parts of the place that must not run twice are bound
 *     by a `let` in a block around it. Nodes are never shared: the tree is a tree.
 *
 * Places. A place is: EXPR_NAME of a binding; EXPR_FIELD or EXPR_TUPLE_FIELD of a place; EXPR_INDEX
 * of a place. An EXPR_INDEX into a tensor is always the outermost part of a place.
 *
 * Everything lives in the tree's arena; names and texts are zero-terminated there. One thread at a
 * time.
 */
#ifndef MASU_LANGUAGE_TREE_H
#define MASU_LANGUAGE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "language/front/source.h"
#include "language/front/types.h"
#include <masu/abi.h>

typedef struct expr expr;
typedef struct stmt stmt;
typedef struct block block;
typedef struct binding binding;
typedef struct pattern pattern;
typedef struct type_expr type_expr;
typedef struct function_item function_item;
typedef struct struct_item struct_item;
typedef struct const_item const_item;
typedef struct trait_item trait_item;
typedef struct impl_item impl_item;

/* ---- names ----------------------------------------------------------------------------------- */

typedef enum binding_kind {
    BINDING_LET,
    BINDING_PARAMETER,
    BINDING_SELF,
    BINDING_LOOP, /* `for` variable, name in a `match` arm */
    BINDING_INDEX /* index of a comprehension: i64 */
} binding_kind;

struct binding {
    const char *name;
    source_span span; /* of the name where it is declared */
    binding_kind kind;
    bool is_mutable;       /* `mut`, `&mut` */
    type_expr *annotation; /* NULL: none */
    expr *otherwise; /* of a parameter: a literal, when the call leaves it out; NULL: it must not */
    const type *type; /* [check] */
    uint32_t id;      /* [check] index into function->bindings */
    bool is_read;     /* [check] */
    uint8_t flexible; /* [check] what its literal can still become: see check_wish.c */
    bool
        /* [check] assigned after its declaration, also through fields, elements, methods */
        is_written;
    uint32_t capture_mark; /* [check] number of the latest comprehension that captured it */
};

struct type_expr {
    source_span span;
    enum {
        TYPE_EXPR_ERROR,   /* the parser has reported it */
        TYPE_EXPR_NAME,    /* name with arguments */
        TYPE_EXPR_TUPLE,   /* arguments; none: void */
        TYPE_EXPR_NUMBER,  /* argument RANK of Tensor<T, RANK> */
        TYPE_EXPR_ARRAY,   /* [arguments[0]; length], [arguments[0]] without length */
        TYPE_EXPR_FUNCTION /* fn(arguments) -> result, impl Fn(arguments) -> result */
    } kind;
    bool is_place;     /* `&mut T`: what a parameter of this type became goes back to the caller */
    type_expr *result; /* of a function; NULL: nothing */
    expr *length;      /* of an array */
    const char *name;
    type_expr **arguments;
    uint32_t argument_count;
    uint64_t number;
    const type *type; /* [check] NULL for numbers */
};

struct pattern {
    source_span span;
    enum {
        PATTERN_WILDCARD, /* _ */
        PATTERN_NAME,     /* binding */
        PATTERN_TUPLE,    /* parts */
        /* low: a literal, possibly negated; after the check EXPR_INT, EXPR_BOOL or EXPR_CHAR */
        PATTERN_LITERAL,
        PATTERN_RANGE, /* low .. high or low ..= high, likewise literals */
        PATTERN_OR,    /* parts, no bindings inside */
        /* V, T::V, T::V(parts), P { fields }; [check] of a struct type; tag_value when it is an enum's.
         * A PATTERN_NAME without `mut` may become one. */
        PATTERN_VARIANT,
        PATTERN_BOUND /* binding @ parts[0] */
    } kind;
    const char *scope, *name; /* PATTERN_VARIANT as written; scope NULL: none */
    const char **part_names;  /* P { x: part }; NULL: by position */
    bool rest;                /* `..` stands in it */
    uint32_t rest_at;         /* number of parts before it */
    struct_item *structure;   /* [check] PATTERN_VARIANT */
    uint32_t *part_fields;    /* [check] field of the structure, for each part */
    uint32_t variant;         /* [check] index of the variant; 0 of a struct */
    binding *binding;
    pattern **parts;
    uint32_t part_count;
    expr *low, *high;
    bool inclusive;
    const type *type; /* [check] of the value that is matched */
};

/* ---- expressions ----------------------------------------------------------------------------- */

typedef enum expr_kind {
    EXPR_ERROR, /* the parser has reported it */
    EXPR_INT,
    EXPR_FLOAT,
    EXPR_BOOL,
    EXPR_CHAR,
    EXPR_STRING,
    EXPR_NAME, /* x, or T::x before the check */
    EXPR_UNARY,
    EXPR_BINARY,
    EXPR_CAST,
    EXPR_CALL,   /* f(…), T::f(…), P(…), x.m(…) */
    EXPR_METHOD, /* x.m(…) before the check */
    EXPR_FIELD,
    EXPR_TUPLE_FIELD,
    EXPR_INDEX,
    EXPR_STRUCT, /* P { x: a } */
    EXPR_TUPLE,
    EXPR_ARRAY, /* [a, b], nested: a tensor literal */
    EXPR_COMPREHENSION,
    EXPR_RANGE,
    EXPR_BLOCK,
    EXPR_IF,
    EXPR_MATCH,
    EXPR_WHILE,
    EXPR_LOOP,
    EXPR_FOR,
    EXPR_BREAK,
    EXPR_CONTINUE,
    EXPR_RETURN,
    EXPR_ASSIGN,
    EXPR_TRY,     /* e? */
    EXPR_REPEAT,  /* [e; count] */
    EXPR_CLOSURE, /* |x| e */
    EXPR_KIND_COUNT
} expr_kind;

typedef enum unary_op {
    UNARY_NEG,
    UNARY_NOT,      /* of bool, or every bit of an integer */
    UNARY_REFERENCE /* & and &mut: gone after the check */
} unary_op;

typedef enum binary_op {
    BINARY_NONE, /* plain assignment */
    BINARY_ADD,
    BINARY_SUB,
    BINARY_MUL,
    BINARY_DIV,
    BINARY_REM,
    BINARY_BIT_AND,
    BINARY_BIT_OR,
    BINARY_BIT_XOR,
    BINARY_SHL,
    BINARY_SHR,
    BINARY_EQ,
    BINARY_NE,
    BINARY_LT,
    BINARY_LE,
    BINARY_GT,
    BINARY_GE,
    BINARY_AND, /* && and ||: the right side is evaluated only when needed */
    BINARY_OR,
    BINARY_OP_COUNT
} binary_op;

/* `+`, `<=`, `&&`; "=" for BINARY_NONE. */
const char *binary_op_text(binary_op op);

typedef enum call_kind {
    CALL_UNRESOLVED,
    CALL_FUNCTION, /* function; operands: its parameters in order, self first when it has one */
    /* P(a, b): operands are the fields in order; also what EXPR_STRUCT does with its values */
    CALL_STRUCT,
    CALL_VARIANT,  /* structure, variant; operands: the variant's fields in order */
    CALL_ABI,      /* abi; see rule 4 */
    CALL_PRINT,    /* print, println: pieces in order, then a newline when `newline` */
    CALL_MATH,     /* math; operands (1 or 2) and result of one type f32 or f64 */
    CALL_VEC_NEW,  /* no operands; expr.type is Vec<E> */
    CALL_VEC_PUSH, /* operands: vec (a place when writes_receiver), element; void */
    CALL_VEC_GET,  /* operands: vec, index (i64); yields the element */
    CALL_VEC_SET,  /* operands: vec (likewise), index (i64), element; void */
    CALL_VEC_POP   /* operands: vec (likewise); takes the last element out and yields it */
} call_kind;

typedef enum scalar_math {
    MATH_SQRT,
    MATH_EXP,
    MATH_LOG,
    MATH_SIN,
    MATH_COS,
    MATH_TANH,
    MATH_ABS,
    MATH_FLOOR,
    MATH_CEIL,
    MATH_POW,
    MATH_MIN,
    MATH_MAX
} scalar_math;

typedef struct print_piece {
    const char *text; /* literal text, when value is NULL */
    size_t length;
    expr *value; /* number, bool, char, String or tensor; a literal String piece is given as text */
} print_piece;

typedef struct call_expr {
    /* as written */
    type_expr **type_arguments; /* x.m::<T>(…) */
    uint32_t type_argument_count;
    expr *callee;     /* EXPR_NAME; NULL for a method call and for calls that the checker made */
    expr *receiver;   /* x of x.m(…), else NULL */
    const char *name; /* m of x.m(…) */
    source_span name_span; /* of f or m */
    expr **args;
    uint32_t arg_count;
    /* [check] */
    call_kind kind;
    function_item *function;
    struct_item *structure;
    uint32_t variant;
    /* While the function is being checked: a generic function whose types are not decided yet, and
     * what they are so far. */
    function_item *pending;
    const type **pending_arguments;
    struct_item *pending_owner;
    tl_abi_index abi;
    scalar_math math;
    bool newline;
    expr **operands;
    uint32_t operand_count;
    /* operands[0] is a place that the call also writes: a user method with writes_self (its self
     * leaves come back), an ABI function with REPLACES (its result), VEC_PUSH, VEC_SET. False when
     * operands[0] is no place: what would be written back is dropped. Parts of the place (indices)
     * are evaluated once. */
    bool writes_receiver;
    /* Of a function with parameters of type `&mut T`: which operands are places that what those
     * became is written to, after the receiver. NULL: none. */
    bool *writes_back;
    /* Evaluate operands[1] before operands[0]: `s - t` became tl_tensor_rsub_scalar(t, s). */
    bool swapped;
    print_piece *pieces;
    uint32_t piece_count;
} call_expr;

typedef struct name_expr {
    const char *scope; /* T of T::x, a::b of a::b::x; NULL: none */
    source_span scope_span;
    type_expr **arguments; /* of T<A>::x */
    uint32_t argument_count;
    const char *name;
    /* [check] exactly one of: */
    binding *binding;
    const_item *constant; /* its value is lowered anew at each use: it has no effects */
} name_expr;

typedef struct field_init {
    const char *name;
    source_span span;
    expr *value;
} field_init;

typedef struct struct_expr {
    const char *name;
    source_span name_span;
    const char *scope;          /* T of T::V { … }, NULL: none */
    type_expr **type_arguments; /* P::<T> { … } */
    uint32_t type_argument_count;
    expr *base;        /* `..base`: the fields that are not written; NULL */
    field_init *inits; /* as written: evaluated in this order */
    uint32_t init_count;
    /* [check] */
    struct_item *structure;
    expr **values; /* by field index of the structure: each the value of one of the inits */
} struct_expr;

typedef struct comprehension_clause {
    source_span span;
    binding *index; /* index <- low .. high; NULL: a condition */
    expr *low, *high;
    bool inclusive;
    expr *condition;
} comprehension_clause;

/* [ outputs | clauses { body } ]. Each output is one of the clauses' indices; the other indices are
 * summed over. */
typedef struct comprehension_expr {
    binding **outputs; /* [check]; the clauses' own bindings */
    const char **output_names;
    source_span *output_spans;
    uint32_t output_count;
    comprehension_clause *clauses;
    uint32_t clause_count;
    expr *body; /* scalar: the result's element type; a block is possible */
    /* `let C[i, k] = A[i, j] * B[j, k]`: the parser leaves clauses empty, the checker fills them in
     * with bounds 0 .. tl_tensor_dim(A, 0) and so on. */
    bool einstein;
    /* [check] bindings of the function that clauses and body read, each once, in order of first
     * use. `self` stands for all of its fields. A comprehension inside has its own captures; they
     * count for the outer one too. */
    binding **captures;
    uint32_t capture_count;
} comprehension_expr;

typedef struct match_arm {
    pattern *pattern;
    expr *guard; /* NULL: none */
    expr *body;
} match_arm;

typedef struct loop_expr {
    const char *label; /* NULL: none */
    expr *condition;   /* while */
    pattern *pattern;  /* for: name, wildcard or tuple (of a Vec of tuples) */
    expr *iterable;    /* for: EXPR_RANGE; or a value of type tensor or Vec */
    block *body;
    bool has_break; /* [check] some break leaves it */
} loop_expr;

struct expr {
    expr_kind kind;
    source_span span;
    const type *type; /* [check] */
    bool in_parentheses;
    bool is_vec;   /* vec![…] */
    bool is_boxed; /* [check] Box::new(…) where nothing says yet whether a Box is wanted */
    uint16_t
        height; /* of the tree below, blocks and statements included: at most PARSER_HEIGHT_MAX */
    union {
        struct {
            uint64_t value;   /* magnitude; a wrapped two's complement value after the check */
            type_kind suffix; /* TYPE_VOID: none */
        } integer;
        struct {
            double value;
            type_kind suffix;
        } floating;
        bool boolean;
        uint32_t character;
        struct {
            const char *data; /* escapes resolved; may hold zeros */
            size_t length;
        } string;
        name_expr name;
        struct {
            expr *operand;
        } attempt; /* EXPR_TRY */
        struct {
            expr *value, *count;
        } repeat;
        struct {
            binding **parameters;
            uint32_t parameter_count;
            type_expr *result; /* NULL: follows from the body */
            expr *body;
        } closure;
        struct {
            unary_op op;
            expr *operand;
        } unary;
        struct {
            binary_op op;
            source_span op_span;
            expr *left, *right;
        } binary;
        struct {
            expr *operand;
            type_expr *target; /* NULL for implicit casts */
            bool implicit;
        } cast;         /* to expr.type: between numbers; bool and char to integers; u8 to char */
        call_expr call; /* EXPR_CALL and EXPR_METHOD */
        struct {
            expr *base;
            const char *name;
            source_span name_span;
            uint32_t index; /* [check] of the field */
        } field;            /* EXPR_FIELD, EXPR_TUPLE_FIELD (name NULL, index as written) */
        struct {
            expr *base;     /* tensor: yields an element; Vec: one index, yields the element */
            expr **indices; /* i64 */
            uint32_t count;
        } index;
        struct_expr structure;
        struct {
            expr **items;
            uint32_t count;
            /* EXPR_TUPLE, EXPR_ARRAY. Arrays after the check: rectangular; every leaf of the
             * element's type */
        } list;
        comprehension_expr *comprehension;
        struct {
            expr *low, *high; /* NULL only before the check */
            bool inclusive;
        } range;
        block *block;
        struct {
            expr *condition;
            block *then;
            expr *otherwise; /* NULL, EXPR_IF or EXPR_BLOCK */
        } branch;
        struct {
            expr *value;
            match_arm *arms; /* tried in order; one always matches */
            uint32_t count;
            bool is_let; /* written as `if let` or `while let`: the last arm is `_` */
        } match;
        loop_expr
            *loop; /* EXPR_WHILE, EXPR_LOOP, EXPR_FOR. EXPR_LOOP yields the value of its breaks */
        struct {
            const char *label;
            source_span label_span;
            expr *value;  /* break and return: NULL when there is none */
            expr *target; /* [check] break, continue: the loop left or continued */
        } jump;           /* EXPR_BREAK, EXPR_CONTINUE, EXPR_RETURN */
        /* target = value. Before the check also target op= value: the checker writes it out as an
         * assignment of the operation (with parts of the place that must not be evaluated twice
         * bound by a `let` around it). */
        struct {
            expr *target;
            expr *value;
            binary_op op; /* BINARY_NONE after the check */
            source_span op_span;
        } assign; /* type void */
    };
};

/* ---- statements ------------------------------------------------------------------------------ */

typedef enum stmt_kind { STMT_LET, STMT_EXPR } stmt_kind;

struct stmt {
    stmt_kind kind;
    source_span span;
    pattern *pattern;      /* let */
    type_expr *annotation; /* let; NULL: none */
    expr *
        /* let: the initial value; NULL after an error only. expr: a value that it has is dropped */
        value;
    block *otherwise; /* let P = v else { … }: never ends; NULL: the pattern always fits */
    stmt *next;
};

struct block {
    source_span span; /* from { to } */
    stmt *first;
    expr *result; /* the last expression when no semicolon follows; see rule 5 */
    uint16_t height;
    const type *type; /* [check] void without result; never when its end is not reached */
};

/* ---- items ----------------------------------------------------------------------------------- */

/* `T: Bound + Bound`; for a parameter of function type the name is one that nobody can write. */
typedef struct type_parameter {
    const char *name;
    source_span span;
    type_expr **bounds;
    uint32_t bound_count;
} type_parameter;

typedef struct type_parameters {
    type_parameter *items;
    uint32_t count;
} type_parameters;

/* What the type parameters of a generic item stand for in one instance of it. */
typedef struct type_environment {
    const type_parameters *parameters, *more; /* of the function; of its impl; NULL: none */
    const type **arguments, **more_arguments;
    struct struct_item *self; /* what `Self` is; NULL: the function's owner */
} type_environment;

/* impl<T> OWNER<T> { … }, impl TRAIT for OWNER { … }. */
struct impl_item {
    type_parameters generics;
    type_expr *owner;
    const char *trait_name; /* NULL: none */
    source_span trait_span;
    trait_item *trait; /* [check] */
};

struct trait_item {
    const char *name;
    source_span span;
    function_item **methods; /* body NULL: every impl has to have it */
    uint32_t method_count;
};

/* Generic functions are patterns: they are copied with their types filled in, and only the copies are
 * checked and compiled. */
struct function_item {
    const char *name;
    const char *qualified;  /* Model::forward, or the name alone */
    source_span span;       /* of the name */
    const char *owner_name; /* impl block's type, NULL: a free function */
    source_span owner_span;
    struct_item *owner; /* [check] */
    impl_item *impl;    /* NULL: a free function */
    type_parameters generics;
    bool is_template;             /* [check] it or its impl is generic: never compiled itself */
    type_environment environment; /* [check] of an instance */
    function_item *instances;     /* [check] of a template, linked by next_instance */
    function_item *next_instance;
    function_item *template; /* [check] what it is an instance of */
    bool is_closure;         /* [check] self is what it captured */
    function_item *outer;    /* [check] of a closure: the function that it stands in */
    expr *body_expression;   /* likewise: its body as written */
    uint32_t scope_mark;     /* likewise: the names that it sees */
    bool body_is_checked;    /* likewise */
    struct_item *as_value;   /* [check] the type of the function's name where it is no call */
    bool is_checked;         /* [check] */
    bool has_self;           /* parameters[0] is then self */
    binding **parameters;
    uint32_t parameter_count;
    type_expr *result_annotation; /* NULL: none */
    block *body;
    /* [check] */
    const type *result;
    binding **bindings; /* all of the function, parameters first; bindings[i]->id = i */
    uint32_t binding_count, binding_capacity;
    bool
        /* assigns to self or a part of it, itself or through a method it calls on self */
        writes_self;
    uint32_t index;                /* in tree->functions */
    function_item *next_in_bucket; /* the checker's table of methods */
};

typedef struct struct_field {
    const char *name;
    source_span span;
    type_expr *annotation;
    const type *type; /* [check] */
    /* [check] of a closure: what it captured, and whether its body writes to it */
    binding *captured;
    bool is_written;
} struct_field;

/* A variant of an enum: its fields are fields[first] … of the enum. */
typedef struct variant_item {
    const char *name;
    source_span span;
    uint32_t first, count;
    bool positional; /* V(A, B), and V */
    expr *tag_value; /* V = 3; NULL: one more than the one before */
    int64_t tag;     /* [check] */
} variant_item;

/* An enum is a struct of its tag and the fields of all variants: those of the others are nothing. A closure
 * is a struct of what it captured. Each instance of a generic one is a struct of its own. */
struct struct_item {
    const char *name;
    source_span span;
    type_parameters generics;
    struct_item *template; /* [check] what it is an instance of; NULL */
    const type **arguments;
    struct_item *instances, *next_instance; /* [check] */
    bool is_enum;
    variant_item *variants;
    uint32_t variant_count;
    bool is_builtin;        /* Vec, String, i64 …: only methods belong to it */
    function_item *closure; /* NULL: no closure */
    expr *made_by;          /* of a closure: where it is made */
    struct_field *fields;
    uint32_t field_count;
    bool positional;  /* struct P(A, B): fields named "0", "1" */
    const type *type; /* [check] */
    uint8_t visit;    /* [check] while looking for structs that contain themselves */
    uint32_t index;   /* in tree->structs */
};

/* `type N = T;` of the program, or of one impl block. */
typedef struct alias_item {
    const char *name;
    const impl_item *impl; /* NULL: the program's */
    type_expr *type;
    struct alias_item *next;
    bool is_open; /* [check] being looked at: it needs itself */
} alias_item;

/* Of an impl block: the name is OWNER::NAME. */
struct const_item {
    const char *name;
    const impl_item *impl; /* NULL: the program's */
    source_span span;
    type_expr *annotation;
    expr *value;      /* literals, operators and other constants only */
    const type *type; /* [check] */
    bool
        is_composed; /* [check] of arrays, tuples, structs: each use is a copy, checked where it stands */
    uint8_t visit; /* [check] while looking for constants that need themselves */
};

/* A declaration that masu does not accept: reported once where it stands, its uses are not. */
typedef struct refused_name {
    const char *name;
    struct refused_name *next;
} refused_name;

/* `mod name;`: a file beside the one that says so; `mod name { … }`: is_read from the start. All names are in one
 * space: a module's name in front of `::` says only where to look for people. */
typedef struct module_name {
    const char *name;
    source_span span;
    bool is_read;
    struct module_name *next;
} module_name;

/* `use E::*` */
typedef struct import_name {
    const char *name;
    struct import_name *next;
} import_name;

typedef struct syntax_tree {
    masu__arena *arena;
    const source_file *file;
    function_item **functions; /* free functions and methods in the order of the source */
    uint32_t function_count, function_capacity;
    struct_item **structs;
    uint32_t struct_count, struct_capacity;
    trait_item **traits;
    uint32_t trait_count, trait_capacity;
    impl_item **impls;
    uint32_t impl_count, impl_capacity;
    const_item **constants;
    uint32_t constant_count, constant_capacity;
    alias_item *aliases;
    refused_name *refused;
    module_name *modules;
    import_name *imports;
    const source_file *prelude; /* what the language brings along, written in itself */
    function_item *main;        /* [check] */
} syntax_tree;

/* Calls visit for each expression directly below e, in the order of evaluation, blocks' statements
 * included; types, patterns and names are not visited. Before a check the arguments of a call,
 * after it the operands. */
void expr_each_child(expr *e, void (*visit)(expr *child, void *context), void *context);

/* The same of an unchecked expression. */
expr *expr_copy(masu__arena *arena, const expr *e);
/* A copy of an unchecked function: nothing of it is shared but names and texts. NULL: out of memory. */
function_item *function_copy(masu__arena *arena, const function_item *f);

#endif
