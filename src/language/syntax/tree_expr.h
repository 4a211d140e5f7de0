/* tree_expr.h: what is in the body of a function: patterns, expressions, statements, blocks.
 *
 *     block ─► statements ─► expressions ─► blocks
 *        └───► result
 *
 * What the checker makes of them is written in tree.h, which includes this.
 */
#ifndef MASU_LANGUAGE_TREE_EXPR_H
#define MASU_LANGUAGE_TREE_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "language/diagnose/source.h"
#include "language/scalar_math.h"
#include "language/syntax/modules.h"
#include "language/syntax/types.h"
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
    bool is_mutable;              /* `mut`, `&mut` */
    type_expr *annotation;        /* NULL: none */
    expr *otherwise;              /* of a parameter: a literal, when the call leaves it out; NULL: it must not */
    const type *type;             /* [check] */
    uint32_t id;                  /* [check] index into function->bindings */
    bool is_read;                 /* [check] */
    bool is_late;                 /* [check] it gets its value behind its `let`: see check_late.c */
    bool is_once;                 /* [check] and is assigned once: `is_mutable` then says so for the rest */
    bool is_element;              /* [check] its tensor may be an element of another: see expr.is_element */
    uint8_t first_rank;           /* [check] of the tensor that a variable starts as, where it is assigned to; else 0 */
    const struct open_form *form; /* [check] of the bracket that it is bound to; NULL: it is none */
    bool
        /* [check] assigned after its declaration, also through fields, elements, methods */
        is_written;
    uint8_t gathers;         /* [check] of the total of a chain: how values are gathered in it (binary_op) */
    bool comes_back;         /* [check] parameter of a closure that is a `&mut T` */
    bool is_alias;           /* `ref mut` */
    bool is_lent;            /* `&mut self` */
    bool is_owner;           /* `self` of `impl Trait for &T`: the reference is the type */
    bool asks_for_mut;       /* [check] a method with `&mut self` is called on it */
    bool is_shared;          /* `&self`, `ref x` */
    bool is_to_value;        /* [check] let x = &y; */
    const struct view *view; /* [check] the references before its value (check_view.c); NULL: not known */
    const char *lifetime;    /* `&'a self`: `'a`; NULL: none */
    bool by_reference;       /* [check] parameter: `&mut T` is a reference here, as one to it may leave the function */
    /* [check] of a `let` of what `shape()` yields: a list of numbers, as a whole equal to another or not */
    bool is_lengths;
    bool in_cell;                  /* [check] references to it, or to a field of it, exist: it lies in a list of one */
    expr *alias;                   /* [check] the place that the name means, checked; NULL: it is a variable */
    uint32_t capture_mark;         /* [check] number of the latest comprehension that captured it */
    const struct made_of *made_of; /* [check] see check_part.c; NULL: it is a variable of its own */
};

/* Other variables, which are not assigned to. */
typedef struct made_of {
    const char *names[3]; /* a list, the first place, how many elements; of a pair the two */
    bool is_pair;
} made_of;

/* 'a, and those behind it */
typedef struct lifetime_name {
    const char *name;
    struct lifetime_name *next;
} lifetime_name;

struct type_expr {
    source_span span;
    enum {
        TYPE_EXPR_ERROR,   /* the parser has reported it */
        TYPE_EXPR_NAME,    /* name with arguments */
        TYPE_EXPR_TUPLE,   /* arguments; none: void */
        TYPE_EXPR_NUMBER,  /* argument RANK of Tensor<T, RANK> */
        TYPE_EXPR_ARRAY,   /* [arguments[0]; length], [arguments[0]] without length */
        TYPE_EXPR_DYN,     /* dyn arguments[0] + …, and impl … where it is not a parameter's type */
        TYPE_EXPR_FUNCTION /* fn(arguments) -> result, impl Fn(arguments) -> result */
    } kind;
    bool in_brackets;     /* written Tensor[f32]: refused */
    bool is_place;        /* `&mut T`: what a parameter of this type became goes back to the caller */
    bool leads_twice;     /* `&mut &mut T` */
    bool is_shared;       /* `&T`: the value; only the check of borrows looks at it */
    bool is_once;         /* of a function: FnOnce */
    bool is_one_type;     /* written impl: the values are of one type, which they say */
    const char *lifetime; /* only for the check of borrows: the first of `&'a T`, `T<'a>`, `dyn T + 'a`; NULL: none */
    const char *refers;   /* for that check, too: of `&'a T` alone; NULL: it has no name */
    lifetime_name *held;  /* for that check, too: those of `T<'a, 'b>`, `dyn T + 'a` */
    type_expr *result;    /* of a function; NULL: nothing */
    expr *length;         /* of an array */
    const char *name, *scope; /* scope: what stood before the last `::`; NULL: nothing */
    type_expr *of, *trait;    /* of `<of as trait>::name`; NULL: it is not one; trait NULL: `<of>::name` */
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
        PATTERN_RANGE, /* low .. high or low ..= high, both such literals */
        PATTERN_OR,    /* parts, no bindings inside */
        /* V, T::V, T::V(parts), P { fields }; [check] of a struct type; tag_value when it is an enum's.
         * A PATTERN_NAME without `mut` may become one. */
        PATTERN_VARIANT,
        PATTERN_BOUND /* binding @ parts[0] */
    } kind;
    const char *scope, *name; /* PATTERN_VARIANT as written; scope NULL: none */
    type_expr *written;       /* PATTERN_VARIANT: T<A> of `T<A>::V` and `T::<A>::V`; NULL */
    const char **part_names;  /* P { x: part }; NULL: by position */
    bool rest;                /* `..` is in it */
    bool is_behind;           /* `&p`: only the check of borrows looks at it */
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
#define NODE(kind, parts) EXPR_##kind,
#include "language/syntax/tree.def"
#undef NODE
    EXPR_KIND_COUNT
} expr_kind;

typedef enum unary_op {
    UNARY_NEG,
    UNARY_NOT, /* of bool, or every bit of an integer */
    /* & and &mut. After the check: of a place, or of a part of a list (an EXPR_INDEX with two indices, the second
     * INT64_MAX for the end); the type is a TYPE_REFERENCE */
    UNARY_REFERENCE
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
    CALL_VARIANT,  /* structure, variant; operands: the variant's fields in order, evaluated by `order` */
    CALL_ABI,      /* abi; see rule 4 */
    CALL_PRINT,    /* print, println: pieces in order, then a newline when `newline` */
    CALL_MATH,     /* math; operands (1 or 2) and result of one type: f32, f64; whole numbers until elaborate */
    CALL_NOTHING,  /* no operands; what is in a variable before its first value: never read */
    CALL_VEC_NEW,  /* no operands; expr.type is Vec<E> */
    CALL_VEC_PUSH, /* operands: vec (a place when writes_receiver), element; void */
    CALL_VEC_GET,  /* operands: vec, index (i64); yields the element */
    CALL_VEC_SET,  /* operands: vec (as PUSH), index (i64), element; void */
    CALL_VEC_POP,  /* operands: vec (as PUSH); takes the last element out and yields it */
    CALL_VEC_OUT   /* operands: vec (as PUSH), index (i64); yields the element: nothing counted is left there */
} call_kind;

typedef struct print_piece {
    const char *text; /* literal text, when value is NULL */
    size_t length;
    expr *value; /* number, bool, char, String or tensor; a literal String piece is given as text */
} print_piece;

/* operands[0] as a text; or, as the error of `?`, made one of type `failure`. */
typedef struct late_call {
    const type *failure; /* NULL: a text */
    int64_t how;         /* of a text: see check_text.h */
    expr *how_more;
} late_call;

typedef struct call_expr {
    /* Counts and flags lie together: most of a tree is calls, and this is what makes a node large. */
    call_kind kind; /* [check] */
    uint32_t type_argument_count, arg_count;
    uint32_t operand_count, piece_count; /* [check] */
    uint32_t variant;                    /* [check] */
    tl_abi_index abi;                    /* [check] */
    scalar_math math;                    /* [check] */
    /* as written */
    type_expr **type_arguments;     /* x.m::<T>(…) */
    expr *callee;                   /* EXPR_NAME; NULL for a method call and for calls that the checker made */
    expr *receiver;                 /* x of x.m(…), else NULL */
    const char *name;               /* m of x.m(…) */
    const struct trait_item *trait; /* [check] whose m is meant; NULL: the call does not say it */
    const struct call_views *views; /* [check] how it is written; NULL: not known */
    source_span name_span;          /* of f or m */
    expr **args;
    /* [check] */
    function_item *function;
    struct_item *structure;
    /* While the function is being checked: a generic function whose types are not decided yet, and
     * what they are so far; before that what uses want them to be, or NULL. */
    function_item *pending;
    const type **pending_arguments;
    struct_item *pending_owner;
    const bool *by_reference;
    late_call *late; /* while it is pending: what is done with operands[0] once its type is known */
    expr **operands;
    /* operands[0] is a place that the call also writes: a user method with writes_self (its self
     * leaves come back), an ABI function with REPLACES (its result), VEC_PUSH, VEC_SET. False when
     * operands[0] is not a place: what would be written back is dropped. Parts of the place (indices)
     * are evaluated once. */
    bool writes_receiver;
    /* Evaluate operands[1] before operands[0]: `s - t` became tl_tensor_rsub_scalar(t, s). */
    bool swapped;
    bool newline;
    bool
        is_option; /* [check] of a method that yields an element or an Option of it: the name that it gets is used so */
    /* For a function with parameters of type `&mut T`: which operands are places that what those
     * became is written to, after the receiver. NULL: none. */
    bool *writes_back;
    const uint32_t *order; /* [check] of V { b: x, a: y }: its operands as they are written; NULL: as they lie */
    /* [check] Of a call whose arguments are lent: what has to be done around it. NULL: nothing. */
    stmt *before, *after;
    print_piece *pieces;
} call_expr;

typedef struct name_expr {
    const char *scope; /* T of T::x, a::b of a::b::x; NULL: none */
    source_span scope_span;
    type_expr **arguments; /* of T<A>::x */
    type_expr *of;         /* of <(A, B)>::x: a type that has no name; NULL */
    type_expr *trait;      /* of <T as Trait>::x; NULL */
    uint32_t argument_count;
    const char *name;
    const char *item; /* what it is where no variable has that name; NULL: the name */
    /* [check] exactly one of: */
    binding *binding;
    const_item *constant; /* its value is lowered at each use: it has no effects */
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
     * use. `self` means all of its fields. A comprehension inside has its own captures; they
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
    bool is_block;  /* 'a: { … }: only jumps that name the label mean it */
    bool has_break; /* [check] some break leaves it */
} loop_expr;

struct expr {
    expr_kind kind;
    uint16_t height; /* of the tree below, blocks and statements included: at most PARSER_HEIGHT_MAX */
    bool in_parentheses : 1;
    bool is_vec : 1;       /* vec![…] */
    bool is_followed : 1;  /* written `*e` */
    unsigned stars : 2;    /* how often; 3: or more */
    bool is_negative : 1;  /* [check] a literal with its sign */
    bool is_largest : 1;   /* [check] a literal: the largest of its type */
    bool is_judged : 1;    /* [check] a conversion of a number that was open */
    bool is_unjudged : 1;  /* [check] an index whose type is known: whether it is one nothing has said */
    bool is_kept : 1;      /* a reference that it yields is not followed */
    bool is_copied : 1;    /* [check] of a copy: a write to it does not reach the place */
    bool is_shown : 1;     /* [check] t[i] that is printed: a tensor where its rank is not known, a number otherwise */
    bool is_undecided : 1; /* [check] a comparison of brackets that nothing makes lists or tensors */
    bool is_converted : 1; /* [check] `t[i] as i64` of a tensor of unknown elements: any will do, towards 0 */
    bool is_updated : 1;   /* [check] the t[i] that is read in `t[i] += x` */
    bool is_element : 1; /* [check] a tensor that may be of rank 0: an element then, which is divided as a number is */
    bool is_inside : 1;  /* [check] v[i] of a list: i is one of its places, which the compiler made it */
    bool is_boxed : 1;   /* [check] Box::new(…) where nothing says yet whether a Box is wanted */
    uint8_t holds : 5;   /* [check] a tensor whose type says no elements: its ways say these (type_kind); 0: nothing */
    source_span span;
    const type *type; /* [check] */
    /* [check] what its uses make of it, found before it is checked (check_infer.c): of a bracket a list or a tensor, of
     * t[i] a tensor, of t.topk(k) a pair; NULL: nothing */
    const type *becomes;
    union {
        struct {
            uint64_t value;   /* magnitude; a wrapped two's complement value after the check */
            type_kind suffix; /* TYPE_VOID: none */
        } integer;
        struct {
            double value;
            type_kind suffix;
            bool is_whole;  /* it was written without a fraction */
            uint64_t whole; /* and so */
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
            bool is_move;
            const struct type *wish; /* [check] its result, as the only call of it wants it; NULL: nothing is known */
        } closure;
        struct {
            unary_op op;
            bool is_mutable; /* &mut */
            expr *operand;
        } unary;
        struct {
            binary_op op;
            bool is_update; /* [check] the sum of `a += b`: b is computed before a is read */
            source_span op_span;
            expr *left, *right;
        } binary;
        struct {
            expr *operand;
            type_expr *target; /* NULL for implicit casts */
            bool implicit;
        } cast;         /* to expr.type: between numbers; bool and char to integers; u8 to char, u32 where implicit */
        call_expr call; /* EXPR_CALL and EXPR_METHOD */
        struct {
            expr *base;
            const char *name;
            source_span name_span;
            uint32_t index; /* [check] of the field */
        } field;            /* EXPR_FIELD, EXPR_TUPLE_FIELD (name NULL, index as written) */
        struct {
            /* tensor: yields an element; Vec: one index, yields the element; reference: what it leads to, the index is
             * 0 */
            expr *base;
            expr **indices; /* i64 */
            uint32_t count;
        } index;
        struct_expr structure;
        struct {
            expr **items;
            uint32_t count;
            bool is_bytes;                /* b"…" */
            bool to_library;              /* [check] for a function of the library: tensors that it is lent keep their
                                           * types */
            const struct open_form *form; /* [check] of a bracket: see check_infer.h */
            /* EXPR_TUPLE, EXPR_ARRAY, EXPR_LIST. Arrays after the check: rectangular; every leaf of the
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
        loop_expr *loop; /* EXPR_WHILE, EXPR_LOOP, EXPR_FOR. EXPR_LOOP yields the value of its breaks */
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
            bool is_step; /* [check] of an optimiser, which elaborate_update.c writes */
            enum { HISTORY_UNKNOWN, HISTORY_KEPT, HISTORY_NONE } history; /* [check] of elements: check_history.c */
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
    bool is_late;     /* let P; */
    bool is_made;     /* [check] a step of the statement around it, which ends what both look at */
    bool is_base;     /* [elaborate] of the fields that a struct literal leaves to `..base` */
    bool is_part;     /* of a list that a pattern takes apart */
    bool is_tried;    /* the same, for the guard: nothing moves yet */
    bool is_opening;  /* what takes a parameter apart: ends with the parameter, not with the body */
    block *otherwise; /* let P = v else { … }: never ends; NULL: the pattern always fits */
    stmt *next;
};

struct block {
    source_span span; /* from { to } */
    stmt *first;
    expr *result; /* the last expression when no semicolon follows; see rule 5 */
    uint16_t height;
    bool unrecorded;  /* no_grad { … }: what it computes gets no history */
    const type *type; /* [check] void without result; never when its end is not reached */
};

#endif
