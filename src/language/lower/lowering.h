/* lowering.h: what the files lower*.c tell each other.
 *
 *     lowering     the module: IR functions by tree index, which of them read gradients
 *     lower_fn     the function being written: its builder, its bindings, its open scopes and loops
 *
 * Leaves. A value of any type is an array of IR values, one for each scalar, tensor, string or vector in it, in
 * the order of the fields; void and never have none. A binding is as many IR variables with consecutive numbers.
 *
 *     struct Body { position: Point { x, y }, mass: f32 }     body: x │ y │ mass      body.position: x │ y
 *
 * Unreachable code is not written: once the builder has no block, every function here does nothing and fills
 * what it yields with 0. So an expression of type never leaves no block behind, and no value is ever asked of it.
 */
#ifndef MASU_LANGUAGE_LOWERING_H
#define MASU_LANGUAGE_LOWERING_H

#include "language/diagnose/diagnostics.h"
#include "language/ir/ir.h"
#include "language/syntax/tree.h"

typedef struct lower_place lower_place;

typedef struct lower_fn lower_fn;

typedef struct lowering {
    void (*any)(lower_fn *fn, const expr *e, ir_value *out); /* lower_any: see lower_walk.c */
    const syntax_tree *tree;
    const diagnostics *diagnostics;
    masu__arena *scratch; /* gone after the lowering */
    /* For the kernels of the present function, by how deep they are written in one another: a function of many does not
     * take that memory for each of them. */
    ir_variable *kernel_room[2];
    uint32_t kernel_depth;
    ir_module *m;
    ir_function **functions; /* by function_item.index */
    bool *runs_backward;     /* by function_item.index: it may run a backward */
    bool *broken;            /* by function: its body has an error and is left out */
    uint32_t *leaf_counts;   /* by type id: 1 + the count, 0: not asked yet */
    uint32_t kernel_count;
    uint32_t type_count;
    uint8_t *drops; /* by type id: 0 not asked yet, 1 nothing in it has a destructor, 2 something has */
} lowering;

typedef struct lower_loop {
    struct lower_loop *outer;
    const expr *e;
    ir_block *next;     /* where `continue` goes */
    ir_block *after;    /* where `break` goes */
    uint32_t kept_mark; /* bindings of the body lie above */
    bool grads;         /* tl_grad_loop_enter was called */
    /* of no_grad { … }, which is not a loop, but left like one: whether operations recorded; else 0 */
    ir_value recorded;
    ir_variable result; /* of EXPR_LOOP: variables that take the value of a break */
    uint32_t result_count;
} lower_loop;

typedef struct kept_leaf {
    ir_variable variable;
    bool drops;        /* it may have a destructor, which runs where its scope ends */
    bool is_temporary; /* it has no name: it lives to the end of the statement */
    bool is_offset;    /* not a value that is kept: where the arena was when the scope began (lower_arena.c) */
} kept_leaf;

struct lower_fn {
    lowering *l;
    const function_item *item;
    const char *name; /* qualified, for places; a kernel has its function's */
    ir_function *f;
    ir_builder *b;
    ir_variable *variables; /* by binding id: the first leaf */
    kept_leaf *kept;        /* managed leaves of the bindings in scope, innermost last */
    uint32_t kept_count, kept_capacity;
    uint32_t scope_depth;
    bool owns;        /* the function is the program's, and some type has a destructor: see lower_drop.c */
    lower_loop *loop; /* innermost */
};

/* The parameter's final value is a result of the function: self that it writes to, and `&mut T`. */
bool lower_comes_back(lowering *l, const function_item *item, uint32_t parameter); /* lower_drop.c */

/* Not the patterns of generic functions, and closures only when something said what their types are. */
bool lower_is_compiled(const function_item *f); /* lower_broken.c */
/* Fills in l->broken; false: out of memory. */
bool lower_mark_broken(lowering *l);

/* ---- destructors (lower_drop.c) ---------------------------------------------------------------------------------- */

/* A struct or enum with a destructor: one leaf, the cell in which its fields lie. */
bool lower_has_cell(const type *t);
/* The type of its cell's content, without a cell; t itself where it has none. */
const type *lower_inside(const type *t);
/* For what lies in a cell: its destructor's number; 0: it lies in none. */
uint32_t lower_destructor_of(const type *inside);
/* Something in a value of type t has a destructor. */
bool lower_drops(lowering *l, const type *t);
/* An error: Rust's closure takes a part of the variable, this one all of it. */
/* An error: T { a: …, ..base } of a base that has a name. */
void lower_refuse_part(lower_fn *fn, source_span span);
void lower_refuse_update(lower_fn *fn, source_span span);
bool lower_marked(const lower_fn *fn, source_span span, unsigned kinds);
/* The value of e, which moves out of where it lies; false: e does not move. */
bool lower_moved(lower_fn *fn, const expr *e, ir_value *out);
/* Leaves [offset, + those of t) of p hold nothing from now on: their value moved. */
void lower_clear(lower_fn *fn, const lower_place *p, uint32_t offset, const type *t, source_span span);
/* The same, and what lay there. */
void lower_take_out(lower_fn *fn, const lower_place *p, uint32_t offset, const type *t, ir_value *taken,
                    source_span span);
/* The parts that the pattern binds moved out of p. is_value: p is a value that only the pattern sees. */
void lower_clear_bound(lower_fn *fn, const lower_place *p, const pattern *bound, bool is_value);
/* A value that lives to the end of the statement, as a place. */
lower_place *lower_temporary(lower_fn *fn, const type *t, const ir_value *values, source_span span);
/* Removes the kept leaves from `mark` up to `end`; those above move down. */
void lower_end_temporaries(lower_fn *fn, uint32_t mark, uint32_t end, source_span span);
void lower_end_names(lower_fn *fn, uint32_t mark, uint32_t end, source_span span); /* but not temporaries */
/* values were replaced in their place. */
void lower_end_values(lower_fn *fn, const type *t, const ir_value *values, source_span span);
/* fields of a value with a cell: put into one, read out of it. */
void lower_into_cell(lower_fn *fn, const type *t, const ir_value *fields, ir_value *out, source_span span);
void lower_out_of_cell(lower_fn *fn, const type *t, ir_value cell, ir_value *fields, source_span span);
/* The function is a method whose `self` the caller gives away. */
bool lower_takes_self(lowering *l, const function_item *item);
/* The IR function that runs what waits; before any body. */
void lower_destructors(lowering *l);
void lower_run_destructors(lower_fn *fn, source_span span);

/* ---- leaves (lower_leaf.c) ------------------------------------------------------------------------------------ */

uint32_t lower_leaf_count(const lowering *l, const type *t); /* at most TYPE_SIZE_MAX */
ir_type lower_scalar_type(const type *t);                    /* of a type with one leaf and no fields */
void lower_leaf_types(const lowering *l, const type *t, ir_type *out);
/* Those of t in an array; NULL: memory ended, which is noted. */
ir_type *lower_types_of(lowering *l, const type *t, uint32_t *count);
uint32_t lower_field_count(const type *t); /* struct or tuple, else 0 */
uint32_t lower_field_offset(const lowering *l, const type *t, uint32_t field);
const type *lower_field_type(const type *t, uint32_t field);
tl_dtype lower_element_dtype(const type *tensor);
/* How an element is read as a number of type `as`; a tensor stays what it is. */
tl_dtype lower_read_dtype(const type *tensor, const type *as);
ir_type lower_dtype_type(tl_dtype dtype);
/* Zeroed room for count values. Never NULL while memory lasts; NULL sets out_of_memory. */
ir_value *lower_room(lower_fn *fn, uint32_t count);
/* Copies into the module, for names and data that outlive the lowering. */
const char *lower_printf(lowering *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- emission (lower_emit.c) ------------------------------------------------------------------------------------- */

static inline bool lower_open(const lower_fn *fn) {
    return ir_builder_block(fn->b) != NULL;
}
ir_value lower_int(lower_fn *fn, ir_type type, int64_t v, source_span span);
/* The value of an empty leaf: zero, or a managed value that is none. */
ir_value lower_nothing(lower_fn *fn, ir_type type, source_span span);
ir_value lower_op(lower_fn *fn, ir_opcode op, ir_type type, const ir_value *args, uint32_t count, source_span span);
ir_value lower_op1(lower_fn *fn, ir_opcode op, ir_type type, ir_value a, source_span span);
ir_value lower_op2(lower_fn *fn, ir_opcode op, ir_type type, ir_value a, ir_value b, source_span span);
ir_value lower_convert(lower_fn *fn, ir_value v, ir_type to, source_span span);
/* The result, 0 for none. After functions that always raise there is no block. */
ir_value lower_abi(lower_fn *fn, tl_abi_index abi, const ir_value *args, uint32_t count, source_span span);
ir_opcode lower_binary_opcode(const expr *e); /* EXPR_BINARY */
ir_block *lower_block_new(lower_fn *fn);
void lower_jump(lower_fn *fn, ir_block *to, source_span span);
void lower_branch(lower_fn *fn, ir_value c, ir_block *yes, ir_block *no, source_span span);
/* Seals the block; it becomes the current one when some edge leads to it, else there is none. */
void lower_enter_block(lower_fn *fn, ir_block *b);

/* ---- bindings, scopes (lower_scope.c) ---------------------------------------------------------------------------- */

ir_variable lower_variables(lower_fn *fn, const type *t, const char *name, source_span span);
/* A binding comes into scope with these leaves. */
void lower_bind(lower_fn *fn, const binding *b, const ir_value *values);
void lower_read(lower_fn *fn, ir_variable first, uint32_t count, ir_value *out, source_span span);
void lower_name_values(lower_fn *fn, ir_variable first, uint32_t count, const ir_value *values, source_span span);
void lower_write(lower_fn *fn, ir_variable first, uint32_t count, const ir_value *values);
uint32_t lower_scope_open(lower_fn *fn);
/* The variable is an end of the innermost scope, as a managed leaf is. */
void lower_push_kept(lower_fn *fn, kept_leaf leaf);
/* Where a block begins that asks for bytes of the arena: they go back on each way out of it (lower_arena.c). */
void lower_arena_open(lower_fn *fn, const block *b);
void lower_arena_close(lower_fn *fn, ir_variable offset, source_span span);
void lower_scope_close(lower_fn *fn, uint32_t mark, source_span span);
/* Keeps everything above mark alive until here, without leaving the scope: on the way out of it. */
void lower_keep(lower_fn *fn, uint32_t mark, source_span span);
/* Where the program ends, or a loop goes on for ever, no scope ends: what has a destructor is kept past it (goes_on:
 * the loop). */
void lower_keep_past(lower_fn *fn, bool goes_on, source_span span);
/* A value of type t in these variables ends with the scope, and its destructors run there. */
void lower_keep_values(lower_fn *fn, const type *t, ir_variable first);
void lower_pattern_bind(lower_fn *fn, const pattern *p, const ir_value *values);
/* A bool, or 0: always matches. */
ir_value lower_pattern_test(lower_fn *fn, const pattern *p, const ir_value *values);

/* ---- expressions (lower_expr.c), and the walk over them (lower_walk.c) ------------------------------------------- */

/* out has lower_leaf_count(e->type) entries. */
void lower_expr(lower_fn *fn, const expr *e, ir_value *out);
void lower_any(lower_fn *fn, const expr *e, ir_value *out); /* the same: for lower.c, which begins the walk */
/* out has lower_leaf_count(wanted) entries; e is of that type or never. */
void lower_expr_as(lower_fn *fn, const expr *e, const type *wanted, ir_value *out);
ir_value lower_scalar(lower_fn *fn, const expr *e); /* one leaf */
ir_value *lower_values(lower_fn *fn, const expr *e);
void lower_effect(lower_fn *fn, const expr *e); /* the value is dropped */
/* A value of type `from` comes to where `to` is stated: its tensors are looked at when the program runs
 * (lower_stated.c). */
void lower_stated(lower_fn *fn, const type *from, const type *to, const ir_value *values, source_span span);
/* At the function's beginning: where a tensor passed holds f64, its copy for these runs (lower_wide.c). */
void lower_begin_with_copies(lower_fn *fn);

/* ---- elements (lower_element.c) ---------------------------------------------------------------------------------- */

void lower_pass_on(lower_fn *fn, ir_function *callee, source_span span);
typedef struct element_read {
    const type *as; /* what the number is where the tensor's type does not say */
    const ir_value *indices;
    uint32_t count;
    bool converts; /* any element will do: the program says `as` */
} element_read;
ir_value lower_element_get(lower_fn *fn, ir_value t, const type *tensor, const element_read *read, source_span span);
ir_value lower_element_set(lower_fn *fn, ir_value t, const type *tensor, ir_value v, const element_read *place,
                           source_span span);
void lower_vec_get(lower_fn *fn, ir_value vec, ir_value index, const type *element, ir_value *out, source_span span);
/* The index is known to be one of the list's. */
void lower_vec_at(lower_fn *fn, ir_value vec, ir_value index, const type *element, ir_value *out, source_span span);
/* The element out of the list in a variable, which holds nothing there then. */
void lower_vec_take(lower_fn *fn, ir_variable list, ir_value index, const type *element, ir_value *out,
                    source_span span);
ir_value lower_vec_set(lower_fn *fn, ir_value vec, ir_value index, const type *element, const ir_value *values,
                       source_span span);
/* A record that a call fills with an element's leaves; then the leaves out of it. */
ir_value lower_record_begin(lower_fn *fn, const type *element, source_span span);
void lower_record_end(lower_fn *fn, ir_value record, const type *element, ir_value *out, source_span span);
/* The element's leaves, by get or take. What the call yields: nothing, or the vector without them. */
ir_value lower_words_by(lower_fn *fn, tl_abi_index abi, ir_value vec, ir_value index, const type *element,
                        ir_value *out, source_span span);
ir_value lower_vec_empty(lower_fn *fn, const type *element, source_span span);
/* A variable to which references exist lies in a list of one. */
ir_value lower_cell_new(lower_fn *fn, const type *t, const ir_value *values, source_span span);
/* Some leaf of it is counted. */
bool lower_holds_counts(lower_fn *fn, const type *element);

/* ---- places (lower_place.c) -------------------------------------------------------------------------------------- */

bool lower_is_place(const expr *e);
/* Evaluates the place's indices. NULL: out of memory or unreachable. */
lower_place *lower_place_of(lower_fn *fn, const expr *e);
lower_place *lower_place_of_variables(lower_fn *fn, const type *t, ir_variable first, source_span span);
void lower_place_read(lower_fn *fn, const lower_place *p, ir_value *out);
/* The value behind a reference of type t. */
const ir_value *lower_read_behind(lower_fn *fn, const type *t, const ir_value *reference, source_span span);
void lower_place_write(lower_fn *fn, lower_place *p, const ir_value *values);
/* Reads what a write of the same place follows: the values are moved out. Until then nothing else may be read from its
 * variables, but by what was read before. */
void lower_place_open(lower_fn *fn, lower_place *p, ir_value *out);
/* It is one of the function's variables, or a part of one. */
bool lower_is_variable(const lower_place *p);
/* Both are parts of the same variable. */
bool lower_places_meet(const lower_place *a, const lower_place *b);
void lower_index(lower_fn *fn, const expr *e, ir_value *out);
/* A reference to the place, or to a part of the list in it: its two or three leaves. */
void lower_refer(lower_fn *fn, const expr *place, ir_value *out);
/* moved: nothing is left there. */
void lower_cell_read(lower_fn *fn, const binding *b, bool moved, ir_value *out, source_span span);
/* A closure's field that refers to the variable which it captured. */
bool lower_field_by_reference(const expr *e);

/* ---- calls (lower_call.c), control (lower_control.c, lower_loop.c) ----------------------------------------------- */

void lower_call(lower_fn *fn, const expr *e, ir_value *out);
void lower_array(lower_fn *fn, const expr *e, ir_value *out);
void lower_block_as(lower_fn *fn, const block *b, const type *wanted, ir_value *out);
/* A statement that takes a parameter apart, right behind the parameter. */
void lower_opening(lower_fn *fn, const stmt *s);
/* A block as a part of an expression. */
void lower_block_within(lower_fn *fn, const block *b, const type *wanted, ir_value *out);
void lower_condition(lower_fn *fn, const expr *e, ir_block *yes, ir_block *no);
void lower_if(lower_fn *fn, const expr *e, ir_value *out);
void lower_match(lower_fn *fn, const expr *e, ir_value *out);
void lower_logical(lower_fn *fn, const expr *e, ir_value *out);
void lower_while(lower_fn *fn, const expr *e);
void lower_for(lower_fn *fn, const expr *e);
void lower_unrecorded(lower_fn *fn, const expr *e, ir_value *out); /* no_grad { … } */
void lower_infinite_loop(lower_fn *fn, const expr *e, ir_value *out);
void lower_jump_expr(lower_fn *fn, const expr *e);
void lower_return(lower_fn *fn, const ir_value *values, source_span span);
/* Numbers from low to high, exclusive: body writes one iteration. Used by `for` and by comprehensions. */
void lower_count(lower_fn *fn, ir_value low, ir_value high, source_span span,
                 void (*body)(lower_fn *fn, ir_value i, void *context), void *context);

/* ---- gradients (lower_grad.c) ------------------------------------------------------------------------------------ */

bool lower_find_backward(lowering *l);
bool lower_runs_backward(const lowering *l, const expr *e);
bool lower_block_runs_backward(const lowering *l, const block *b);

/* ---- comprehensions (lower_comprehension.c) ---------------------------------------------------------------------- */

void lower_comprehension(lower_fn *fn, const expr *e, ir_value *out);

#endif
