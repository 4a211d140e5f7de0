/* tree.h: the syntax tree, and what the checker writes into it.
 *
 *     tree ─► items: functions (free and methods), structs, constants
 *     function ─► parameters (bindings), body (block) ─► statements ─► expressions
 *
 * The parser builds it; the checker fills the fields marked [check] and *simplifies it in place*,
 * so that its consumer meets few shapes. What types alone do not decide is written out behind it (elaborate.h). After a
 * check without errors (status OK, no error diagnostics), and that:
 *
 *  1. Every expression has its type. There is no EXPR_ERROR, no EXPR_METHOD, EXPR_TRY, EXPR_REPEAT, no `..base`,
 *     EXPR_CLOSURE, EXPR_LIST, no EXPR_RANGE outside of `for`, no TYPE_OPEN and no TYPE_ERROR. TYPE_NEVER is the type
 *     of jumps, of panic and of what ends in them; it fits wherever a value is wanted, as that value never arrives.
 *  2. Conversions are nodes: EXPR_CAST (implicit = true) between scalars; an EXPR_CALL of
 *     tl_tensor_item… where a rank-0 tensor is read as a scalar. The operands of an EXPR_BINARY have
 *     one and the same type (also those of shifts).
 *  3. Operators on tensors and strings are EXPR_CALLs with CALL_ABI. EXPR_UNARY and EXPR_BINARY are
 *     scalar only.
 *  4. A CALL_ABI has its operands in the order of the ABI function's parameters, the elements of a
 *     LIST in place of the list, defaults filled in as literals, each operand's type that of the
 *     parameter's kind (i64, f64, bool, tensor, …). The expression's type is that of the ABI result;
 *     where the language says f32 and the function yields f64, a cast is around it. With writes_receiver the result
 *     goes to the place operands[0], whose type is that of the result; the expression may be void then.
 *  5. A block's `result` is there exactly when the block yields a value (type neither void nor
 *     never). An `if` or `match` used as a statement has type void (or never), its blocks no result.
 *  6. Constants such as F32::max_value() and i64::sizeof() are literals. `&e`, `&mut e` and
 *     parentheses are gone.
 *  7. `a op= b` is written out as `a = a op b`; parts of the place that must not run twice are bound
 *     by a `let` in a block around it. Nodes are never shared: the tree is a tree.
 *  8. Types meet as equations, where `a ~ b` is: the same type, but for what one of them leaves open (elements and rank
 *     of a tensor, length of an array), whole numbers of any width in a tensor, and i64 for usize inside of another
 *     type:
 *         argument ~ parameter     value ~ field          element ~ the list's       value ~ the place assigned to
 *         value ~ pattern          arm ~ match            branch ~ if                result ~ block
 *         returned ~ function      broken off with ~ loop field, part or element ~ its struct, tuple or list
 *         call.structure = the struct of the expression's type, also where that was found later
 *     A field that holds a captured variable by reference is that variable: its type there is what the reference leads
 *     to.
 *
 * Places. A place is, unless is_copied says that it is a value: EXPR_NAME of a binding; EXPR_FIELD or EXPR_TUPLE_FIELD
 * of a place; EXPR_INDEX of a place, or of a value of type reference: what that leads to. An EXPR_INDEX into a tensor
 * is always the outermost part of a place. writes_receiver of a user's method: it writes self, and its receiver is a
 * place.
 *
 * check_tree_valid judges all of this behind elaborate, under `--verify` and in heavy builds.
 *
 * Everything lives in the tree's arena; names and texts are zero-terminated there. One thread at a
 * time.
 */
#ifndef MASU_LANGUAGE_TREE_H
#define MASU_LANGUAGE_TREE_H

#include "language/syntax/owner_marks.h"
#include "language/syntax/tree_expr.h"

/* ---- items ----------------------------------------------------------------------------------- */

/* `T: Bound + Bound`; for a parameter of function type the name is one that cannot be written. */
typedef struct type_parameter {
    const char *name;
    source_span span;
    type_expr **bounds;
    uint32_t bound_count;
    lifetime_name *lives; /* `T: 'a`; only for the check of borrows */
    type_expr *otherwise; /* T = i64: where no argument says it; NULL: none */
} type_parameter;

/* `'a: 'b + 'c`, of one of its parameters */
typedef struct lifetime_parameter {
    const char *name;
    lifetime_name *outlives;
    struct lifetime_parameter *next;
} lifetime_parameter;

typedef struct type_parameters {
    type_parameter *items;
    uint32_t count;
    lifetime_parameter *lifetimes; /* in order; only for the check of borrows */
} type_parameters;

/* The type arguments of one instance of a generic item. */
typedef struct type_environment {
    const type_parameters *parameters, *more; /* of the function; of its impl; NULL: none */
    const type **arguments, **more_arguments;
    const bool *by_reference; /* which of the arguments are references, where it makes a difference; NULL: none */
    struct struct_item *self; /* what `Self` is; NULL: the function's owner */
} type_environment;

/* Owners of methods without a name of their own: impl TRAIT for (A, B), impl<T> TRAIT for T. */
#define OWNER_TUPLE "tuple of "
#define OWNER_ANY   "any type"
#define OWNER_DYN   "dyn "

/* impl<T> OWNER<T> { … }, impl TRAIT for OWNER { … }. */
struct impl_item {
    type_parameters generics;
    type_expr *owner;
    const char *trait_name; /* NULL: none */
    source_span trait_span;
    const type_expr *trait_type; /* the trait with its arguments */
    trait_item *trait;           /* [check] */
};

/* `type N;` in a trait: each impl says what it is. */
typedef struct associated_name {
    const char *name;
    source_span span;
    struct associated_name *next;
} associated_name;

struct trait_item {
    const char *name;
    source_span span;
    type_parameters generics; /* each impl says what they are */
    const_item **constants;   /* value NULL: every impl has to say it; else it may say otherwise */
    uint32_t constant_count;
    associated_name *associated;
    function_item **methods; /* body NULL: every impl has to have it */
    uint32_t method_count;
    type_expr **supertraits;
    uint32_t supertrait_count;
    bool is_shown; /* Display or Debug is one of them */
};

/* Generic functions are patterns: they are copied with their types filled in, and only the copies are
 * checked and compiled. */
/* The elements of a written operation's result, as its head says: see check_element.c. */
typedef enum element_rule { ELEMENT_UNKNOWN, ELEMENT_SAME, ELEMENT_REAL, ELEMENT_WIDE, ELEMENT_SUM } element_rule;

struct function_item {
    const char *name;
    const module_scope *module;
    const char *qualified;  /* Model::forward, or the name alone */
    source_span span;       /* of the name */
    source_span exported;   /* the `pub` before it, where that says no more; file NULL: it is not for callers in C */
    const char *owner_name; /* impl block's type, NULL: a free function */
    source_span owner_span;
    struct_item *owner; /* [check] */
    impl_item *impl;    /* NULL: a free function */
    type_parameters generics;
    bool is_template;             /* [check] it or its impl is generic: never compiled itself */
    type_environment environment; /* [check] of an instance */
    source_span called_from;      /* [check] of an instance: the first call in the program that led to it */
    function_item *instances;     /* [check] of a template, linked by next_instance */
    function_item *next_instance;
    function_item *template; /* [check] what it is an instance of */
    bool is_move;            /* of a closure: written with `move` */
    bool is_closure;         /* [check] self is what it captured */
    function_item *outer;    /* [check] of a closure: the function that it is in */
    expr *body_expression;   /* of a closure: its body as written */
    uint32_t scope_mark;     /* of a closure: the names that it sees */
    binding **kept;          /* of a closure that left their block undecided: it sees these, too */
    uint32_t kept_count;
    bool body_is_checked;  /* of a closure */
    bool body_is_open;     /* of a closure: its body is being checked */
    struct_item *as_value; /* [check] the type of the function's name where it is not called */
    bool is_checked;       /* [check] */
    bool has_self;         /* parameters[0] is then self */
    uint32_t far;          /* [check] of `impl Trait<&B> for &T`: 0 is the nearest to `impl Trait<B> for T` */
    bool has_holder;       /* parameters[0] is then `self: &Rc<Self>`, called as a method of what is held */
    bool never_returns;    /* written `-> !` */
    bool is_const;         /* written `const fn` */
    binding **parameters;
    uint32_t parameter_count;
    type_expr *result_annotation; /* NULL: none */
    stmt *opening;                /* [parse] what takes parameters apart: the first statements of the body */
    block *body;
    /* In the prelude: where the body is while it is not read; body is NULL then, and each instance reads its own. */
    source_span unread;
    const char
        *refusal; /* in the prelude: its body is `compile_error("…")`, and a call that means it says this; NULL */
    /* of a function `-> &mut T`, `-> Option<&mut T>`: a copy of its body, written out where it is called */
    block *unchecked;
    /* [check] */
    const type *result;
    binding **bindings; /* all of the function, parameters first; bindings[i]->id = i */
    uint32_t binding_count, binding_capacity;
    bool
        /* assigns to self or a part of it, itself or through a method it calls on self */
        writes_self;
    bool refers, refers_is_known;    /* its parameters of type `&mut T` are references: see check_refer.c */
    bool is_wide;                    /* of a copy: elements of which nothing says the type are f64 (check_unstated.c) */
    function_item *wide;             /* that copy, which runs where a tensor passed holds f64; NULL: none is needed */
    bool is_whole;                   /* of a copy: elements of which nothing says that they are real are i64 */
    const span_list *whole_elements; /* of it: those */
    bool is_written_out;             /* [check] its body is, where it is called: not again within itself */
    bool is_left_out;                /* of it: it has errors, so nothing calls it */
    function_item *whole;            /* that copy, which runs where all tensors passed hold i64; NULL: none */
    function_item *as_written;       /* [check] an unchecked copy, where tensors of unknown elements are yielded */
    struct inferred_result *results; /* [check] what these hold, by the arguments (check_infer_result.c) */
    bool is_walked;                  /* [check] that is being found out */
    bool has_late;                   /* a `let` without a value is in it: see check_late.c */
    element_rule elements;           /* of the result's tensors, where their type leaves them open */
    uint32_t index;                  /* in tree->functions */
    function_item *next_in_bucket;   /* the checker's table of methods */
    enum { LIVES_UNKNOWN, LIVES_NONE, LIVES_SOME } has_lives; /* [borrow] its signature says where references go */
};

typedef struct struct_field {
    const char *name;
    source_span span;
    type_expr *annotation;
    const type *type; /* [check] */
    /* [check] of a closure: what it captured, and whether its body writes to it */
    binding *captured;
    bool is_written;
    bool is_changed;   /* [check] of a struct with tensors: somewhere it may be replaced (check_infer_changed.c) */
    bool is_lent;      /* the variable is a reference: a closure with `move`, too, writes to the place behind it */
    bool by_reference; /* the closure holds a reference to the variable: `type` is one */
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
    bool holds_itself;     /* [check] a mistake: it has no size, nothing may go through its fields */
    struct_item *template; /* [check] what it is an instance of; NULL */
    const type **arguments;
    struct_item *next_alike; /* [check] of an instance: in its bucket of all of them */
    bool is_enum;
    bool is_copy;  /* #[derive(Copy)] */
    bool is_clone; /* #[derive(Clone)] */
    /* [check] its destructor; of a generic one the pattern of those of its instances; NULL: none */
    function_item *drop;
    const type *cell;    /* [check] where it has one: a Box of its fields, as which it lies in memory */
    uint32_t destructor; /* [check] the number of its destructor, from 1; 0: it has none */
    variant_item *variants;
    uint32_t variant_count;
    uint32_t default_variant; /* 1 + the one marked #[default]; 0: none is */
    bool is_builtin;          /* Vec, String, i64 …: only methods belong to it */
    function_item *closure;   /* NULL: no closure */
    expr *made_by;            /* of a closure: where it is made */
    bool is_once;             /* dyn FnOnce: its call takes it */
    struct dyn_type *dyn;     /* [check] of `dyn Trait`; NULL */
    struct_field *fields;
    uint32_t field_count;
    bool positional;  /* struct P(A, B): fields named "0", "1" */
    const type *type; /* [check] */
    uint8_t visit;    /* [check] while looking for structs that contain themselves */
    uint32_t index;   /* in tree->structs */
    struct_item *refines,
        *refined; /* [check] of check_infer_record.c: what it is, with more known; the first of those */
};

/* `type N = T;` of the program, or of one impl block. */
typedef struct alias_item {
    const char *name;
    const impl_item *impl; /* NULL: the program's */
    type_expr *type;
    type_parameters generics; /* type N<A> = …; */
    struct alias_item *next;
    uint8_t is_open; /* [check] how often it is being looked at: it needs itself */
} alias_item;

/* In an impl block: the name is OWNER::NAME. */
struct const_item {
    const char *name;
    const impl_item *impl;    /* NULL: the program's */
    struct const_item *other; /* of the same name, of another type of the same generic struct; NULL: none */
    source_span span;
    type_expr *annotation;
    expr *value;      /* literals, operators and other constants only */
    const type *type; /* [check] */
    bool is_composed; /* [check] of arrays, tuples, structs: each use is a copy, checked where it is */
    uint8_t visit;    /* [check] while looking for constants that need themselves */
    bool is_let;      /* let NAME = …; and tensor NAME: T = …; outside of functions */
    bool is_made;     /* [check] such a value that is computed as `main` begins: a variable of it, unknown elsewhere */
};

/* A declaration that masu does not accept: reported once where it is, its uses are not. */
typedef struct refused_name {
    const char *name;
    struct refused_name *next;
} refused_name;

/* `mod name;`: a file beside the one that says so; `mod name { … }`: is_read from the start. All names are in one
 * space, where those that several modules declare differ (modules.h). */
typedef struct module_name {
    const char *name;
    source_span span;
    bool is_read;
    module_scope *scope;
    struct module_name *next;
} module_name;

/* `use E::*` */
typedef struct import_name {
    const char *name;
    struct import_name *next;
} import_name;

/* `use m::f as g`; `use std::m::*`: `*` of `__m` */
typedef struct rename_item {
    const char *name, *of;
    struct rename_item *next;
} rename_item;

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
    module_names *names;     /* NULL: the program has no modules */
    function_item **getters; /* functions of type `-> &mut T`, `-> Option<&mut T>` */
    uint32_t getter_count, getter_capacity;
    import_name *imports;
    rename_item *renames;
    const source_file *prelude; /* what the language brings along, written in itself */
    uint32_t examined;   /* so many bytes of it are a file that is checked for its own sake: also what nothing calls */
    function_item *main; /* [check] */
    bool is_module;      /* its `main` is exports.c's: nothing runs before the functions that a caller in C calls */
    bool unrecords; /* the program says `no_grad` somewhere: any function of it may run where nothing is recorded */
    bool has_reference_impls;  /* [check] a trait is implemented for some type and for a reference to it */
    bool has_shared_methods;   /* [check] some type has methods of one name, of traits or of its own */
    bool has_destructors;      /* [check] some type has an `impl Drop` */
    bool has_scoped_calls;     /* [check] something calls a function with the effect SCOPED */
    uint32_t destructor_count; /* [check] types with one */
    struct quoted *quotes;     /* [check] those that were used (quote.h) */
    const owner_marks *marks;  /* where owners move, as the text has it; NULL: no type has a destructor */
    bool is_broken;            /* an item's head or the braces are not what was meant: nothing is known of the rest */
} syntax_tree;

/* Calls visit for each expression directly below e, in the order of evaluation, blocks' statements
 * included; types, patterns and names are not visited. Before a check the arguments of a call,
 * after it the operands. */
void expr_each_child(expr *e, void (*visit)(expr *child, void *context), void *context);
void block_each_child(block *b, void (*visit)(expr *child, void *context), void *context);

/* Whether the test holds for e or an expression below it; behind the first none is asked. */
typedef bool expr_test(const expr *e, void *context);
bool expr_any(const expr *e, expr_test *test, void *context);
bool block_any(const block *b, expr_test *test, void *context);

typedef bool pattern_test(const pattern *p, void *context);
bool pattern_any(const pattern *p, pattern_test *test, void *context);

/* The same of an unchecked expression. */
expr *expr_copy(masu__arena *arena, const expr *e);
/* A copy of an unchecked function: nothing of it is shared but names and texts. NULL: out of memory. */
function_item *function_copy(masu__arena *arena, const function_item *f);

#endif
