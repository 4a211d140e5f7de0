/* check_private.h: what the checker's files share.
 *
 *     check.c             the order of the work, from declarations to main
 *     check_items.c       what a program declares; signatures
 *     check_names.c       symbols, scopes, suggestions
 *     check_types.c       types as written; structs that contain themselves
 *     check_associated.c  T::Item, T::NAME, `type N = T;`
 *     check_convert.c     what fits where; conversions as nodes
 *     check_expr.c        dispatch, literals, names, fields, struct literals, tuples
 *     check_operators.c   unary and binary operators, casts
 *     check_call.c        functions, constructors
 *     check_method.c      methods
 *     check_print.c       print and println: a text is split at its holes
 *     check_text.c        a value as a text
 *     check_builtin.c     assert, System, methods of strings and vectors
 *     check_number.c      methods of numbers
 *     check_constant.c    F32::max_value() and its like
 *     check_abi.c         operations of the table abi.def
 *     check_element.c     elements of what a written operation yields
 *     check_tensor.c      tensor literals and indexing
 *     check_list.c        fixed arrays, vec![…]
 *     check_comprehend.c  comprehensions and Einstein sums
 *     check_equation.c    equations over free indices
 *     check_alias.c       names that stand for a place: `&mut`
 *     check_freeze.c      expressions that refer to a place
 *     check_place.c       assignments and who may be assigned to
 *     check_control.c     blocks, statements, if, loops
 *     check_match.c       match, patterns, `?`
 *     check_exhaust.c     which values a match forgets, which arms it never reaches
 *     check_variant.c     enums
 *     check_generic.c     generics
 *     check_closure.c     closures
 *     check_late.c        variables that get their value behind their `let`
 *     check_lend.c        closures that write, lent to a call
 *     check_dyn.c         `dyn Trait`, functions in fields and results
 *     check_order.c       order, hash and default of a type by its parts
 *     check_std.c         std::cmp::max, i64::from, collect
 *     check_chain.c       chains of iterators; check_stages.c: what their methods do with a value
 *     check_iterator.c    what is an iterator, and what it has by that
 *     check_literal.c     literals as type variables
 *     check_wish.c        lists, ranks and rows that follow a later use
 *     check_warn.c        what is allowed but hardly meant
 *     check_build.c       nodes for constructs that are written out
 *     check_node.c        making nodes
 *
 * A slot (expr **) is where a node hangs: checking may put another node there. `expected` is a wish
 * (literals follow it), NULL for none; TYPE_VOID says that the value is not wanted. check_coerce
 * makes the wish a demand.
 *
 * What must stay true:
 *     each node is checked once; after check_expr the slot's node has a type
 *     symbol->binding is the innermost visible binding of that name: scopes restore it when they end
 */
#ifndef MASU_LANGUAGE_CHECK_PRIVATE_H
#define MASU_LANGUAGE_CHECK_PRIVATE_H

#include <setjmp.h>

#include "language/diagnose/suggest.h"
#include "language/front/check.h"

typedef struct symbol {
    const char *name;
    uint32_t hash;
    binding *binding;
    function_item *function;
    struct_item *structure;
    const_item *constant;
    trait_item *trait;
    struct_item *variant_of;  /* NULL: no variant goes by this name alone */
    struct_item *variant_too; /* another enum that was imported with a variant of this name */
    uint32_t variant;
    bool refused;
    struct symbol *next;
} symbol;

typedef struct scope_entry {
    symbol *symbol;
    binding *hidden; /* what the name meant outside */
} scope_entry;

typedef struct loop_context {
    expr *loop;
    const type *break_type; /* of `break value`; NULL before the first */
    struct loop_context *outer;
} loop_context;

typedef struct comprehension_context {
    comprehension_expr *comprehension;
    uint32_t number;        /* in order of opening, from 1 */
    uint32_t first_binding; /* bindings with a smaller id are captured */
    uint32_t capture_capacity;
    struct comprehension_context *outer;
} comprehension_context;

/* x.m(…) with a user's method: whether it writes to x is known when all bodies are. */
typedef struct method_use {
    function_item *caller;
    expr *call;
    binding *root; /* of the place x; NULL: x is no place */
    bool captured; /* the root lies outside of the comprehension that the call is in */
} method_use;

/* `impl trait for owner` */
typedef struct implementation {
    const trait_item *trait;
    const struct_item *owner;
    const impl_item *impl;
} implementation;

/* What a use demands of a `let` whose literal had nothing to follow: its function is checked anew with it. */
typedef struct let_wish {
    source_span span; /* of the name */
    const type *type;
} let_wish;

/* s.parse() and x.into() where nothing said yet as what. */
typedef struct late_parse {
    expr *e;
    function_item *function;
    const type *parsed, *error; /* error NULL: into */
} late_parse;

typedef struct late_parses {
    late_parse *items;
    uint32_t count, capacity;
} late_parses;

typedef struct dyn_type dyn_type; /* check_dyn.c */

typedef struct said_type {
    symbol *symbol;
    struct said_type *before;
} said_type;

typedef struct checker {
    syntax_tree *tree;
    type_table *types;
    diagnostics *diagnostics;
    masu__arena *arena;
    masu__arena spare; /* copies of bodies, for as long as a body may have to be checked anew */
    symbol **buckets;
    uint32_t bucket_count, symbol_count;
    function_item **methods; /* by owner and name */
    uint32_t method_bucket_count;
    scope_entry *scopes;
    uint32_t scope_count, scope_capacity;
    function_item *function;
    loop_context *loop;
    comprehension_context *comprehension;
    uint32_t comprehension_count;
    method_use *uses;
    uint32_t use_count, use_capacity;
    let_wish *wishes; /* of the function that is being checked */
    uint32_t wish_count, wish_capacity;
    const function_item *assigned_in; /* whose body `assigned` was collected from */
    const char **assigned; /* names that are assigned as a whole or given as `&mut` there */
    uint32_t assigned_count, assigned_capacity;
    bool may_repeat;                     /* the function can be checked anew */
    const type_environment *environment; /* NULL: no type parameters are in sight */
    implementation *implementations;
    uint32_t implementation_count, implementation_capacity;
    struct_item *builtin_owners[TYPE_OPEN + 1]; /* by type_kind */
    uint32_t instance_count;
    dyn_type *dyns;
    uint32_t checked_count;         /* functions whose bodies are checked, from the first on */
    uint32_t struct_depth;          /* instances of generic structs whose fields are being made */
    bool instance_refused;          /* the last one asked for, with a message */
    const pattern *wanted_variants; /* first arm of the match whose value is being checked */
    uint32_t choice_depth;          /* see check_choice.c */
    uint32_t outside_said;          /* subjects, by bit: see outside.h */
    struct said_type
        *said_types; /* the last; unknown types that were said, so that they are not said again */
    late_parses parses; /* of the function that is being checked; see check_builtin.c */
    const char *receiver_of; /* the method whose receiver is being checked; NULL: none */
    const type *parse_wish;  /* what the parse() being checked is to yield; NULL: not said */
    uint32_t text_count;
    struct getter_call *getter;   /* the call that is being written out; see check_getter.c */
    struct written_getter *split; /* a let takes one of several places, too: where they are told */
    const expr *alias_place;      /* what the pattern being checked takes apart; NULL: a value */
    expr *alias_elements;         /* the Some(p) being checked is the index of one of these */
    bool alias_all;               /* see match_alias */
    bool yields_places; /* the type being checked is that of a function whose calls are written out */
    stmt *checked_up_to;          /* statements that check_let put behind its own */
    expr *how_more;        /* of the hole being checked: width and precision that are values */
    expr *lends_to;        /* the call whose argument is being checked */
    bool index_goes_on;    /* the index being checked is part of a longer one, or assigned to */
    bool repeat;           /* a wish came without a mistake: see check_wish_row */
    bool structs_are_measured;
    enum { ITERATORS_UNKNOWN, ITERATORS_NONE, ITERATORS_SOME } iterators; /* structs with next() */
    bool has_open;       /* the function made a TYPE_OPEN or an open number */
    bool is_closing;     /* the body has been read: what is open now becomes what it is otherwise */
    source_span deciding; /* the use that is being checked: what decides an open number */
    uint32_t lost_calls; /* while open types are closed: calls around that were reported */
    jmp_buf memory_ended;
} checker;

#define CHECK_PUSH(c, array, count, capacity, item)                                   \
    do {                                                                              \
        if ((count) == (capacity)) {                                                  \
            uint32_t larger_ = (capacity) == 0 ? 8 : (capacity)*2;                    \
            void *grown_ = masu__arena_grow((c)->arena, (array), (capacity), larger_, \
                                            sizeof *(array), _Alignof(max_align_t));  \
            if (grown_ == NULL) {                                                     \
                check_out_of_memory(c);                                               \
            }                                                                         \
            (array) = grown_;                                                         \
            (capacity) = larger_;                                                     \
        }                                                                             \
        (array)[(count)++] = (item);                                                  \
    } while (0)

static inline const type *check_scalar(const checker *c, type_kind kind) {
    return c->types->scalars[kind];
}

/* Jumps out: everything made so far is the arena's. */
_Noreturn void check_out_of_memory(checker *c);
void *check_alloc(checker *c, size_t count, size_t bytes); /* zeroed */
char *check_printf(checker *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* first (unless NULL) and then the items, in an array of the arena. */
expr **check_join_list(checker *c, expr *first, expr *const *items, uint32_t count);
#define CHECK_ARRAY(c, type, count) ((type *)check_alloc((c), (count), sizeof(type)))

/* ---- names ----------------------------------------------------------------------------------- */

symbol *check_find(const checker *c, const char *name); /* NULL: never declared */
symbol *check_symbol(checker *c, const char *name);     /* made when new */
static inline uint32_t check_scope_open(const checker *c) {
    return c->scope_count;
}
void check_scope_close(checker *c, uint32_t mark);
void check_declare(checker *c, binding *b, const type *t);
function_item *check_find_method(const checker *c, const struct_item *owner, const char *name);
void check_add_method(checker *c, function_item *f);
/* The candidate nearest to a misspelt name; offer with suggest_add, take with check_suggest_note. */
suggestion check_suggest(const diagnostic *d, const char *wanted); /* d NULL: nobody will read it */
void check_suggest_note(checker *c, diagnostic *d, const suggestion *s);
void check_suggest_visible(const checker *c, suggestion *s); /* variables and constants */
void check_suggest_functions(const checker *c, suggestion *s);
void check_suggest_types(const checker *c, suggestion *s);
void check_suggest_methods(const checker *c, const type *t,
                           suggestion *s); /* of values of type t */
/* What people call it. */
const char *check_plain_name(checker *c, const char *name);
/* Takes modules off the name; an item of a module, where no variable is meant, gets the name that the item goes by. */
void check_settle_name(checker *c, name_expr *e);
/* The scope without modules in front; NULL when nothing is left. */
const char *check_without_modules(checker *c, const char *scope);
const char *check_imported_alias(checker *c, const type_expr *t);
const char *check_library_name(checker *c, const char *scope, const char *name);
/* Marks it read; captures it for the comprehensions around. */
void check_use_binding(checker *c, binding *b);

/* ---- types ----------------------------------------------------------------------------------- */

const type *check_type(checker *c, type_expr *t);
/* The same inside of another type, where `&mut T` is a TYPE_REFERENCE. */
const type *check_part_type(checker *c, type_expr *t);
/* What a list, a tuple, a field or a type parameter is of: `()` is a value there. */
const type *check_held_type(checker *c, type_expr *t);
void check_struct_types(checker *c);
/* check_associated.c: `type N = T;` by the name t; NULL: there is none. */
const type *check_alias_type(checker *c, type_expr *t);
/* Graph::new() where `type Graph = HashMap<u32, u32>;`: the scope is what the name stands for. */
void check_alias_scope(checker *c, name_expr *callee);
/* The type that `Self` or a type parameter stands for; NULL: the scope is neither. */
const type *check_scope_type(checker *c, const char *scope);
/* The constant T::NAME of what T stands for; NULL: there is none. */
const_item *check_associated_constant(checker *c, const char *scope, const char *name);
/* `Self` or a struct's name; NULL when it is none. */
struct_item *check_struct_named(const checker *c, const char *name);
const char *check_type_text(checker *c, const type *t);
/* The same, or the error type after a message when it is too large. */
const type *check_bounded(checker *c, const type *t, source_span span);

void check_struct_size(checker *c, struct_item *s);
/* The type and value of a constant, wherever it stands. */
void check_constant_now(checker *c, const_item *item, source_span from);
/* A whole number that is known now. False after a message. */
bool check_constant_integer(checker *c, expr **slot, int64_t *out, const char *what);

/* ---- generics (check_generic.c) --------------------------------------------------------------- */

void check_generics_begin(checker *c);
const type *check_type_argument(const checker *c, const char *name); /* NULL: no type parameter */
struct_item *check_struct_instance(checker *c, struct_item *template, const type **arguments);
/* The same with open types where none are written; s itself when it is not generic. */
struct_item *check_struct_open(checker *c, struct_item *s, type_expr **written, uint32_t count);
/* Vec, String, i64, Tensor …: what methods of theirs belong to. NULL: no such type, or no method. */
struct_item *check_builtin_owner(checker *c, const char *name);
struct_item *check_owner_of(checker *c, const type *t);
/* Of the owner or of the generic struct that it is an instance of. */
/* What an impl's parameters stand for where its owner is t: impl<A> … for P<A>. */
type_environment check_impl_environment(checker *c, const impl_item *impl, const type *t);
/* x.try_into(): T::try_from(x) of the T that is wanted. */
bool check_try_into(checker *c, expr **slot, const type *expected);
/* fmt::Result: nothing, or nothing that is known of a failure. */
const type *check_bare_result(checker *c);
function_item *check_method_named(checker *c, struct_item *owner, const char *name);
bool check_implements(const checker *c, const type *t, const trait_item *trait);
bool check_is_template(const checker *c, const function_item *f);
/* Afterwards the body is there, also of a function of the prelude. */
void check_read_body(checker *c, function_item *f);
void check_template_call(checker *c, expr *e, function_item *f, struct_item *owner,
                         const type *expected);
void check_pending_call(checker *c, expr *e);
void check_finish_call(checker *c, expr *e, function_item *f);
void check_finish_pending(checker *c, expr *e, function_item *made);
/* args go to the parameters from `first` on. */
void check_arguments(checker *c, expr *e, const function_item *f, uint32_t first);
/* let name = value, in front of the call; statements behind it. */
void check_call_before(checker *c, expr *call, const char *name, expr *value);
void check_call_after(checker *c, expr *call, expr *statement);
void check_call_wrap(checker *c, expr **slot);
/* An argument for a `&mut T` that a method yields as a place. */
void check_lend_place(checker *c, expr *call, expr **slot);
/* False: it is none that can be lent. call NULL: it is not an argument. */
bool check_lend_closure(checker *c, expr *call, expr **slot, const struct_item *s);
bool check_comes_back(const binding *parameter); /* of type `&mut T` */
/* impl Mul<f64> for V and impl Mul<V> for V: both have a method of the same name. */
bool check_has_overloads(const function_item *f); /* of other impls of its trait */
bool check_is_other_trait(const impl_item *a, const impl_item *b);
/* What the parameters of a trait stand for in a method that an impl takes over from it. */
void check_trait_arguments(checker *c, const impl_item *impl, function_item *f);
/* V: Visitor<R> of a V that is known says what R is. */
void check_bounds_decide(checker *c, const type_environment *e);
/* What takes the place of s and all behind it in b, where s names one of several places; NULL: it does not. */
expr *check_choice(checker *c, const block *b, stmt *s);
bool check_number_function(checker *c, expr **slot); /* f64::sqrt, where no call follows */
/* `const N: usize`: what it stands for, as a type. */
const type *check_number_type(checker *c, int64_t number);
struct_item *check_decide_lengths(checker *c, expr *e, struct_item *s);
bool check_is_number_type(const type *t);
const type *check_length_argument(checker *c, const type_expr *t);
/* Of a call of which nobody knows what it takes. */
void check_lost_arguments(checker *c, expr *call);
bool check_choice_argument(checker *c, expr **slot); /* of a call or method that is not checked */
function_item *check_choose_by_types(checker *c, expr *e, function_item *f);
/* E::from(e) where E has it for values of that type; e is checked. NULL: no. */
expr *check_from(checker *c, expr *e, const type *to);
/* Of several methods of one name the one that takes these arguments; fills in what they leave out. */
function_item *check_choose_overload(checker *c, expr *e, function_item *f);

/* A form written in the language takes this argument as far as its kind goes: check_takes.c. */
bool check_takes_scalar(checker *c, const expr *arg, const type_expr *wanted);

/* t[i] of a tensor of unknown rank, checked as a number, is a row after all: check_tensor.c. */
bool check_index_as_row(checker *c, expr **slot);

/* &[2, 3] among the arguments of an operation is [2, 3]. */
void check_lent_lists(expr *e);

/* A kernel called as a method does not take the arguments: a list, a tensor, a text where it wants a number. */
bool check_misfits(checker *c, expr *e, tl_abi_index function);

/* One of the forms that the language's own text has of a method takes the call's arguments. */
bool check_form_takes(checker *c, expr *e, function_item *f);

/* ---- items (check_items.c) --------------------------------------------------------------------- */

void check_declare_items(checker *c);
void check_signature(checker *c, function_item *f);
void check_report_twice(checker *c, source_span span, const char *name, source_span first);

/* ---- closures (check_closure.c) ---------------------------------------------------------------- */

typedef struct closure_signature { /* what a call will give and wants back; NULL: nothing is said */
    const type **parameters;
    bool *places; /* which are `&mut`; NULL: none */
    uint32_t count;
    const type *result;
    bool is_known;
} closure_signature;

closure_signature check_closure_signature(checker *c, const type_expr *function);
/* A closure, or the name of one or of a function, where a function is wanted. */
void check_function_value(checker *c, expr **slot, const closure_signature *signature);
/* The function type that a value of the field has to have, by the bounds of the struct; NULL: none. */
type_expr *check_field_function(const struct_item *s, const struct_field *field);
/* Of a closure that writes to variables of the function in which it is made. */
bool check_is_lent(const type *t);
void check_closure(checker *c, expr *e, const closure_signature *signature);
/* f(…) where f is a variable that holds a closure. False when it is none. */
bool check_closure_call(checker *c, expr **slot);
/* The name of a variable of another function: a part of what this closure captured. */
bool check_captured_name(checker *c, expr **slot);
bool check_is_own(const function_item *f, const binding *b);
bool check_unit_struct(checker *c, expr *e); /* the name of a struct without fields is its value */
bool check_function_name(checker *c, expr *e); /* a function as a value */
void check_close_closure(checker *c, expr *e);
/* Whether the method may write to self; before its body is checked, by what is written there. */
bool check_may_write_self(checker *c, function_item *f);

/* ---- what follows from the parts (check_order.c), names of Rust's library (check_std.c) ----------- */

bool check_order_method(checker *c, expr **slot, const type *t);
bool check_order_operator(checker *c, expr **slot, const type *t, const type *other);
bool check_hash_method(checker *c, expr **slot, const type *t);
bool check_default_call(checker *c, expr **slot, const char *scope, const char *name,
                        const type *expected);
bool check_std_call(checker *c, expr **slot, const char *scope, const char *name,
                    const type *expected); /* scope NULL: imported */
bool check_scalar_call(checker *c, expr **slot, const char *scope, const char *name,
                       const type *expected);
void check_name_as_closure(checker *c, expr **slot, uint32_t count);
bool check_collect(checker *c, expr **slot, const type *expected);
/* a..b as the Vec of its numbers or letters; it stays as it is when it has no end. */
void check_range_as_list(checker *c, expr **slot);
/* (0..t.len()).map(|i| t[i]), of a tensor of one dimension. */
expr *check_tensor_as_list(checker *c, expr *t);
/* list.map(|x| x as SCALAR), also of a Result. */
expr *check_map_cast(checker *c, expr *list, const char *scalar);
void check_equation(checker *c, expr **slot); /* let C = A[i, j] * B[j, k]; */
bool check_chain(checker *c, expr **slot, const type *expected); /* v.iter().map(f).take(n): check_chain.c */
bool check_loop_over_chain(checker *c, expr **slot);

/* ---- iterators (check_iterator.c) ---------------------------------------------------------------- */

bool check_may_be_iterators(checker *c); /* whether there are any in the program */
bool check_is_iterator(checker *c, const type *t); /* it has `next`, or leads to what has it */
/* What an iterator of this type yields; NULL: it is none. */
const type *check_item_of(checker *c, const type *t);
/* The method of all iterators, made for this struct; NULL: there is none, or the struct is not an iterator. */
bool check_hands_out_tensor(checker *c, expr *e, const type *from, const type *to);
function_item *check_tensors_method(checker *c, struct_item *owner, const char *name, source_span span);
function_item *check_iterator_method(checker *c, struct_item *owner, const char *name);
/* Afterwards the value, not checked before or checked, is an iterator where it can be one. */
void check_as_iterator(checker *c, expr **slot);
void check_range_as_iterator(checker *c, expr **slot); /* a..; anything else stays */
bool check_range_for(checker *c, expr **slot, const type *expected); /* false: no iterator is wanted */
const type *check_wish_as_list(checker *c, const type *expected);
bool check_takes_iterator(const function_item *f, const binding *parameter);
bool check_list_beside_iterator(checker *c, expr **slot, const type *expected);
/* What methods of lists work on: the Vec of what next() yields, or of what iter() says. The value is checked. */
bool check_as_list(checker *c, expr **slot);
expr *check_numbered_parts(checker *c, expr *value); /* (0..s.len()).map(|i| s.get(i)) */
/* What a loop runs over, checked, is an iterator, or what the program says makes one of it. */
bool check_found_iterator(checker *c, expr **source);
void check_loop_by_next(checker *c, expr **slot);

/* ---- dyn Trait (check_dyn.c) ------------------------------------------------------------------- */

const type *check_dyn_type(checker *c, type_expr *t);
/* Variants that dyn types get from here on are gone after check_dyn_return. */
void check_dyn_mark(checker *c);
void check_dyn_return(checker *c);
bool check_is_dyn(const type *t);
const trait_item *check_dyn_trait(const type *t); /* NULL: of functions, or no dyn type */
const closure_signature *check_dyn_signature(const type *t); /* NULL: of no functions */
/* The value becomes one of the dyn type `to`. False when its type cannot. */
bool check_dyn_convert(checker *c, expr **slot, const type *to);
void check_dyn_lend(checker *c, expr *call, expr **slot, const type *to);
bool check_inherits(const checker *c, const trait_item *trait, const trait_item *from, int depth);
/* The function that chooses among the variants; NULL: no such method. */
function_item *check_dyn_method(checker *c, struct_item *owner, const char *name);
/* One whose body was just written anew; NULL: all are. */
function_item *check_dyn_unwritten(checker *c);

/* ---- enums (check_variant.c, check_exhaust.c) --------------------------------------------------- */

int64_t check_find_variant(const struct_item *s, const char *name); /* -1: none */
void check_enum_tags(checker *c, struct_item *s);
void check_import_variants(checker *c, struct_item *s);
bool check_variant_call(checker *c, expr *e, const type *expected);
bool check_variant_name(checker *c, expr *e, const type *expected);
/* `()` where a value is needed, as in Result<(), E>: an empty struct. NULL: there is no prelude. */
const type *check_unit_type(const checker *c);
bool check_unit_value(checker *c, expr **slot); /* () as one */
bool check_variant_struct(checker *c, expr *e, const type *expected);
bool check_report_variant(checker *c, const expr *e);
void check_variant_pattern(checker *c, pattern *p, const type *t,
                           void (*part)(checker *c, pattern *p, const type *t));
bool check_name_is_pattern(checker *c, pattern *p);
void check_pattern(checker *c, pattern *p, const type *t); /* of a match; declares its names */
/* Arms that nothing reaches, and values that none matches. */
void check_exhaustive(checker *c, const expr *match, const type *t);
void check_try(checker *c, expr **slot, const type *expected);
void check_warnings(checker *c); /* of a program without errors (check_warn.c) */

/* ---- building trees (check_build.c): nodes that are not checked yet ------------------------------ */

typedef struct block_builder {
    checker *c;
    block *block;
    stmt *last;
    source_span span;
} block_builder;

block_builder build_block(checker *c, source_span span);
void build_let(block_builder *b, const char *name, bool is_mutable, expr *value);
void build_stmt(block_builder *b, expr *e);
expr *build_finish(block_builder *b, expr *result); /* NULL: no result */
expr *build_method(checker *c, source_span span, expr *receiver, const char *name, expr **args,
                   uint32_t count);
expr *build_call(checker *c, source_span span, const char *scope, const char *name, expr **args,
                 uint32_t count);
/* match option { Some(value) => body, None => otherwise } */
expr *build_unpack(checker *c, expr *option, const char *value, expr *body, expr *otherwise);
expr *build_field(checker *c, source_span span, expr *base, const char *name);
expr *build_assign(checker *c, source_span span, expr *target, expr *value);

/* Parts of check_generic.c that check_generic_call.c needs. */
function_item *check_instance_of(checker *c, function_item *f, struct_item *owner,
                                 type_environment *e, source_span span);
bool check_impl_fits(checker *c, const function_item *f, const struct_item *owner,
                     const type_environment *environment);
type_environment check_environment_new(checker *c, function_item *f);
uint32_t check_type_count(const type_parameters *p);

/* ---- literals (check_literal.c) ------------------------------------------------------------------ */

void check_int(checker *c, expr *e, const type *expected, bool negative);
void check_float(checker *c, expr *e, const type *expected);
bool check_negative_literal(checker *c, expr *e, const type *expected);
/* Resolved types become one. Of two that are known: whether they are. */
bool check_unify_numbers(checker *c, const type *a, const type *b);
/* An open number becomes what it would become in the end. */
const type *check_settle_number(checker *c, const type *t);
typedef enum number_conversion { NUMBER_KNOWN, NUMBER_CONVERTED, NUMBER_MISFITS } number_conversion;
/* Where one of the (resolved) types is an open number; else NUMBER_KNOWN. */
number_conversion check_convert_number(checker *c, expr **slot, const type *from, const type *to);
bool check_is_parse(const expr *e); /* s.parse(), x.try_into(), not checked yet */
/* What t, the type of the error of a parse() or of an into(), is as far as that is known. */
void check_settle_late(checker *c, const type *t);
/* x.into(), of a type that is decided by what becomes of it; x is checked. */
void check_into_later(checker *c, expr **slot);
void check_finish_into(checker *c, expr *e, const type *wanted);
void check_finish_parses(checker *c);
/* Whether a part of it may be anything, not only any number. */
bool check_is_vague(checker *c, const type *t);
bool check_is_no_conversion(checker *c, const expr *e);
/* e has its type for good; `before` was open, or e is a conversion. */
void check_close_number(checker *c, expr *e, const type *before);
/* Says of a number that began without a type where that was, and what decided it. */
void check_note_literal(checker *c, diagnostic *d, const type *t);
void check_close_operator(checker *c, expr *e);

/* ---- lists, ranks and rows that follow a later use (check_wish.c) ------------------------------- */

/* Whether some let in it could follow a use. */
bool check_has_flexible(const block *b);
/* The type that a use asked for; NULL: none did. */
const type *check_wish_of(const checker *c, const binding *b);
/* The wish with open types of its own. */
const type *check_wish_again(checker *c, const type *wish);
/* let b = value, without an annotation. */
void check_note_flexible(binding *b, const expr *value);
/* e was to be of that type: the variables in it whose literals can follow will. */
void check_wish(checker *c, const expr *e, const type *to);
void check_wish_binding(checker *c, const binding *b, const type *to);
const type *check_wish_at(const checker *c, source_span span); /* of a literal; NULL: none */
/* e, an f32, is wanted as an f64: so is the list that it is an element of, from the start. */
void check_wish_wide(checker *c, const expr *e);
/* Whether a Vec has such a method and a tensor has none. */
bool check_only_lists_have(checker *c, const char *name);
/* e.method(…), which only a Vec has. */
void check_wish_vec(checker *c, const expr *e, const char *method);

/* ---- conversions ----------------------------------------------------------------------------- */

typedef struct coerce_reason {
    source_span span;
    const char *text;
} coerce_reason;

void check_unbox(checker *c, expr **slot); /* a Box becomes what is in it */

/* ---- references as values (check_refer.c) ----------------------------------------------------------------- */

/* A reference that e, not checked yet, yields stays one where nothing else is wanted. */
void check_keep_reference(expr *e);
bool check_wants_reference(checker *c, const expr *e, const type *expected);
/* What the reference leads to, as a place; anything else stays. */
void check_follow(checker *c, expr **slot);
/* &mut e, or e itself where it stands for a place. */
void check_make_reference(checker *c, expr **slot, const type *expected);
bool check_to_slice(checker *c, expr **slot, const type *to);
bool check_part_receiver(checker *c, expr **slot);
/* A name that Rust moves on as a reference: of type `&mut T`, or that stands for a place. */
/* The place as a value of this reference type. */
expr *check_reference_as(checker *c, expr *place, source_span span, const type *wanted);
/* Whether a reference to what f is given may leave it: in its result, or in another parameter. Marks its parameters. */
bool check_lends_references(checker *c, function_item *f);
const type *check_parameter_type(checker *c, const function_item *f, binding *parameter);
bool check_names_place(checker *c, const expr *e);
bool check_bind_behind(checker *c, pattern *p, const type *t);
/* Without a conversion; decides open types. */
bool check_fits(checker *c, const type *from, const type *to);
bool check_widens(const type *from, const type *to);
/* Converts the node or reports "expected X, found Y"; why (may be NULL) becomes a note. */
bool check_coerce(checker *c, expr **slot, const type *to, const coerce_reason *why);
/* What is lent as `&mut` is of the very type, as what is written through it comes back. False after a message. */
bool check_same_number(checker *c, const expr *e, const type *to, const coerce_reason *why);
/* The same through the results of blocks and branches: a block stays a block, an if an if. */
bool check_coerce_branch(checker *c, expr **slot, const type *to, const coerce_reason *why);
bool check_condition(checker *c, expr **slot);
void check_cast_to(checker *c, expr **slot,
                   const type *to); /* wraps in an implicit cast unless it is of that type */
/* The same; an open number becomes one of that type where it can. */
void check_widen_to(checker *c, expr **slot, const type *to);
/* The smallest number type that both widen to. */
const type *check_common(checker *c, const type *a, const type *b);
/* The type of a value that is one or the other; NULL when there is none. */
const type *check_join(checker *c, const type *a, const type *b);
bool check_free_literal(const expr *e); /* a number without a suffix, or arithmetic of such */
/* A rank-0 tensor to the scalar that it holds. False when the rank is known and not 0. */
bool check_item(checker *c, expr **slot);
/* t as Tensor<f64, 2>: another element type is a conversion, a rank only a statement about it. False: not a tensor type,
 * or of another rank. */
bool check_cast_tensor(checker *c, expr **slot, expr *operand, const type *to);
void check_read_item(checker *c,
                     expr **slot); /* whatever the rank: one element is demanded at run time */
void check_mismatch(checker *c, const expr *found, const type *to, const coerce_reason *why);

/* ---- nodes ----------------------------------------------------------------------------------- */

expr *check_new(checker *c, expr_kind kind, source_span span, const type *t);
expr *check_new_int(checker *c, source_span span, int64_t value);
expr *check_new_float(checker *c, source_span span, double value, const type *t);
expr *check_new_bool(checker *c, source_span span, bool value);
expr *check_new_name(checker *c, source_span span, const char *name); /* not checked yet */
expr *check_new_binary(checker *c, binary_op op, expr *left, expr *right, const type *t);
expr *check_new_abi(checker *c, tl_abi_index abi, source_span span, expr *const *operands,
                    uint32_t count);
/* A place made of names, fields and harmless indices, as it was before its check. */
expr *check_copy_place(checker *c, const expr *e);
void check_make_error(checker *c, expr *e);

/* ---- expressions ----------------------------------------------------------------------------- */

void check_expr(checker *c, expr **slot, const type *expected);
void check_list(checker *c, expr **items,
                uint32_t count); /* each without an expectation, for their own mistakes */
void check_unary(checker *c, expr **slot, const type *expected);
void check_binary(checker *c, expr **slot, const type *expected);
void check_cast(checker *c, expr **slot, const type *expected);
void check_call(checker *c, expr **slot, const type *expected);
/* Says once of each subject that it is outside of the language (outside.h); false: it is nothing of the kind. */
bool check_report_outside(checker *c, source_span span, const char *scope, const char *name);
void check_method(checker *c, expr **slot, const type *expected);
void check_array(checker *c, expr **slot, const type *expected);
/* An array or vec![…]: false when it is a tensor. */
bool check_list_literal(checker *c, expr **slot, const type *expected);
void check_repeat(checker *c, expr **slot, const type *expected);
void check_index(checker *c, expr **slot, const type *expected);
void check_comprehension(checker *c, expr **slot, const type *expected);
void check_assign(checker *c, expr **slot);
void check_if(checker *c, expr *e, const type *expected);
void check_match(checker *c, expr **slot, const type *expected);
void check_loop(checker *c, expr **slot, const type *expected);
/* The type of the numbers in it, `wish` if its ends allow that; TYPE_ERROR after a message. */
const type *check_range(checker *c, expr *e, const type *wish);
void check_jump(checker *c, expr *e);
void check_block(checker *c, block *b, const type *expected);
void check_let(checker *c, stmt *s);
/* Whether each such variable of a body without mistakes has a value where it is read. */
void check_late_names(checker *c, const function_item *f);
bool check_option_by_reference(checker *c, expr **slot, const type *t);
const expr *check_let_by_name(checker *c, stmt **slot);
bool check_refer_captures(checker *c, const struct_item *s);
void check_refer_field(checker *c, function_item *closure, struct_field *field);
bool check_called_inside(const checker *c, const struct_item *s);
void check_call_through(checker *c, expr **slot, const closure_signature *signature);
void check_bind(checker *c, pattern *p, const type *t);
/* The parts of a tuple's pattern, each by check_part. False: the value has other parts, which is told. */
bool check_tuple_parts(checker *c, pattern *p, const type *t,
                       void (*check_part)(checker *, pattern *, const type *));
/* Reports names that one pattern binds twice; mark: the scopes before it. */
void check_twice(checker *c, uint32_t mark);

/* ---- names that stand for a place (check_alias.c) ------------------------------------------------ */

typedef struct match_alias { /* what the patterns of a match take apart in place; NULL: a value */
    expr *place;
    expr *elements; /* Some(p) is the index of one of these */
    bool all;       /* every name of a pattern stands for its part; else those with `ref mut` */
} match_alias;

typedef struct for_alias {
    expr *place;
    pattern *element;
    const char *name; /* of the index */
    bool values;
} for_alias;

/* A call that yields Some(place) or None: where the elements lie, and the index as an unchecked Option<i64>. */
typedef struct maybe_place {
    expr *elements, *index;
} maybe_place;

bool check_is_panic(const expr *e); /* panic(…) and its like, by name */
/* return Err(error), of a Result of type `result` whose error may have to become another one; NULL: return None */
expr *check_failure(checker *c, source_span span, expr *error, const type *result);
void check_getter_site(checker *c, expr **slot);
/* let <what n> = e; checked, in b. Yields the variable's name. */
expr *check_hold(block_builder *b, expr *e, const char *what);
/* Of a call that is written out: a number or bool becomes what the parameter is. wanted may be NULL. */
expr *check_hold_argument(block_builder *b, expr *e, const type *wanted);
bool check_entry_value(checker *c, expr **slot);
bool check_freeze_maybe(block_builder *b, expr *e, maybe_place *out);
bool check_is_map(const type *t); /* HashMap or BTreeMap */
/* The place in which the values of the Vec or map m lie, one after another. */
expr *check_elements_of(checker *c, const expr *m);
expr *check_element_at(checker *c, expr *all, expr *at);
/* A checked place, as the function that is being checked sees it. */
expr *check_alias_copy(checker *c, const expr *e);
/* An unchecked expression as a place that can be written out many times; what has to be evaluated once becomes a
 * let in b. NULL: it is no place; parts of it may be checked already. */
expr *check_freeze(block_builder *b, expr **slot);
/* Whether Rust would say that e is a `&mut T`, by its form. */
bool check_refers(const checker *c, const expr *e);
/* The target of an assignment or receiver of a method, when a call in it yields a place. */
bool check_freeze_target(checker *c, block_builder *b, expr **slot, struct written_getter *several);
bool check_let_alias(checker *c, stmt *s);
expr *check_alias_part(checker *c, const expr *place, pattern *p, uint32_t part, const type *t);
bool check_alias_name(checker *c, pattern *p, const expr *place, const type *t);
bool check_alias_element(checker *c, pattern *p, const type *t);
void check_match_alias(checker *c, expr *e, block_builder *b, match_alias *out);
bool check_for_alias(checker *c, expr *e, block_builder *b, for_alias *out);
void check_for_element(checker *c, const for_alias *f);

/* ---- places ---------------------------------------------------------------------------------- */

bool check_is_place(const expr *e);
binding *check_root(const expr *e); /* NULL: no place */
/* of a binding or an element, a field, by a method that writes to self, by an operation that replaces a tensor */
typedef enum write_kind { WRITE_ASSIGN, WRITE_FIELD, WRITE_METHOD, WRITE_TENSOR } write_kind;
/* Reports when place must not be written; notes that the function writes to self. */
bool check_write(checker *c, const expr *place, source_span span, write_kind kind);
/* place lies in what the closure that is being checked captured. False after a message. */
bool check_captured_write(checker *c, const expr *place, source_span span);
/* Of a user's method that turned out to write to self. */
void check_method_write(checker *c, binding *root, source_span span, bool captured);

/* ---- calls ----------------------------------------------------------------------------------- */

/* A tensor of whole numbers as one of f32, others as they are. */
expr *check_real_tensor(checker *c, expr *tensor);
/* Of a call whose operands are known (check_abi_result.c). The rank may be more than a tensor can have; -1: not known. */
const type *check_abi_result(checker *c, const expr *call);
int32_t check_abi_rank(const expr *call);
/* An operation of the table: names with this scope ("" for methods). The slot's node is an
 * EXPR_CALL or EXPR_METHOD. grad: what the parameter `grad` is by default. False when there is no
 * such name. */
/* `expected` says of which elements a tensor is made; NULL: f32. */
bool check_abi_call(checker *c, expr **slot, const char *scope, const char *name, bool grad,
                    const type *expected);
/* Makes a tensor from numbers in the elements of `to` (check_create.c); false: it is none, nothing has changed. */
bool check_create_as(checker *c, expr **slot, const type *to);
bool check_creates(tl_abi_index abi);
bool check_is_abi_method(const char *name);
bool check_abi_scope(const char *scope);
void check_suggest_abi(const char *scope, suggestion *s);
/* The call's node becomes one of a single ABI function with these operands, already checked. */
const type *check_kind_type(checker *c, tl_abi_kind kind);
bool check_runtime_call(checker *c, expr *e, const type *expected);
void check_become_abi(checker *c, expr *e, tl_abi_index abi, expr *const *operands, uint32_t count);
/* Whether the call has as many arguments as f takes, without self; else the message, with f's parameters. */
bool check_count_of(checker *c, const expr *call, const function_item *f);
bool check_count(checker *c, const expr *call, const char *name, uint32_t wanted,
                 source_span declared);
bool check_builtin_function(checker *c, expr **slot, const char *name);
bool check_builtin_scope(checker *c, expr **slot, const type *expected);
void check_range_call(checker *c, expr **slot); /* range(a, b) that is not what a `for` runs over */
bool check_is_math_method(const char *name); /* of numbers of any type: x.sqrt(), n.max(m) */
bool check_number_method(checker *c, expr **slot);
bool check_is_number_method(checker *c, const type *t, const char *name);
bool check_is_string_method(const char *name);
/* check_element.c: takes the word that says it out of the result's type; the type of a call whose operands are checked. */
void check_element_rule(checker *c, function_item *f);
const type *check_result_of(checker *c, const function_item *f, const expr *call);
/* bool < integers < f32 < f64; of two integers i64. */
const type *check_wider_element(checker *c, const type *a, const type *b);
/* check_forms.c: other forms of calls, written out; false: it is none. t is the receiver's type. */
/* What the method of a tensor by this name means; NULL: it is no other name, or not with so many arguments. */
const char *check_other_name(const char *name, uint32_t argument_count);
/* A number as a tensor of rank 0, of the elements of `beside` (NULL: whatever it is) if those are real. False: it is none. */
bool check_number_beside(checker *c, expr **slot, const type *beside);
/* w.add_(x): check_named.c. */
bool check_update_method(checker *c, expr **slot);
/* Tensor::from(…) and its like, Tensor::bmm(a, b): check_named.c. False: nothing of that kind, *slot as it was. */
bool check_tensor_static(checker *c, expr **slot, bool grad, const type *expected);
bool check_tensor_form(checker *c, expr **slot, const type *t, const type *expected);
/* x[i] / 2.0 of a tensor of unknown rank, checked as numbers, as what a row makes of it; false: no row is in it. */
bool check_arithmetic_as_row(checker *c, expr **slot);
/* check_hoist.c: calls in the body of a comprehension that do not depend on it; true when *slot was checked. */
bool check_hoist(checker *c, expr **slot, const type *expected);
/* check_ragged.c: ranges that depend on an index bound before; true when *slot was checked. */
bool check_ragged(checker *c, expr **slot, const type *expected);
/* check_parts.c: t[a..b, i], t[i] = row; indices of e from the end, from number `first` on, as written out. */
bool check_part(checker *c, expr **slot, const type *base);
bool check_assign_part(checker *c, expr **slot);
void check_count_from_end(checker *c, expr *e, uint32_t first);
void check_number_as_tensor(checker *c, expr **slot);
/* check_wish.c: `let row = t[0];`, checked; and a use of e that only a row has, true where e is such a name. */
void check_note_row(binding *b, const expr *value);
bool check_wish_row(checker *c, const expr *e);
/* `let mut t` whose rank is taken as that of its first value; and an assignment of a tensor of another rank. */
/* Whether values of type t have a method of that name. */
bool check_has_method(checker *c, const type *t, const char *name);
/* check_main.c: before the declarations; at the end, with messages where there is no main. */
void check_main_result(checker *c);
void check_find_main(checker *c);
void check_made_lets(checker *c); /* those that are computed: `let` of main, before its own body */
/* check_update.c: t = t op b, checked, as the step of an optimiser where it may be one. */
void check_update(checker *c, expr **slot);
void check_append(checker *c, expr **slot); /* s = s + text, checked */
bool check_value_part(checker *c, expr **slot);
void check_value_pair(checker *c, const pattern *p, expr **slot, const type *wish);
void check_written_value(checker *c, expr **slot); /* t.set(0, 1.0) where a value is wanted */
bool check_has_places(const expr *e);              /* t.topk(k) and its like, by their form */
/* name.0 where it was bound to such values: it is the pair. */
void check_wish_pair(checker *c, const expr *name, const type *values);
bool check_function_form(checker *c, expr **slot, const char *name, const type *expected);
bool check_string_method(checker *c, expr **slot, const type *expected);
bool check_vec_method(checker *c, expr **slot);
/* T::name or T::name(); node becomes a literal. False when there is no such constant. */
bool check_scalar_constant(checker *c, expr *e, const char *scope, const char *name, bool called);
bool check_scalar_scope(const char *scope);
void check_suggest_builtin(suggestion *s);

/* ---- printing (check_print.c, check_text.c) ------------------------------------------------------ */

/* How a value is shown: see runtime/value/text.c. */
enum {
    HOW_PRECISION = 16,
    HOW_FILL = 32,
    HOW_ALIGN = 53,
    HOW_PLUS = 55,
    HOW_ZEROS,
    HOW_DEBUG,
    HOW_HEXADECIMAL,
    HOW_BINARY,
    HOW_EXPONENT,
    HOW_CAPITALS,
    HOW_PREFIX,
    HOW_MORE /* checker.how_more says the rest: never part of the number at run time */
};

#define HOW(bit) ((int64_t)(UINT64_C(1) << (bit)))

typedef struct text_pieces { /* texts that are put together */
    checker *c;
    source_span span;
    expr *all; /* NULL: none yet */
} text_pieces;

void check_print(checker *c, expr *e, bool newline);
void check_print_error(checker *c, expr **slot, bool newline); /* eprint, eprintln */
void check_format(checker *c, expr **slot);
void check_write_text(checker *c, expr **slot, bool newline);
/* The name by which the `fmt` of an impl of Display, Debug or their like goes; NULL: it is another trait. */
const char *check_shown_by(const char *trait);
/* A checked value as a checked expression of type String; how: bits of HOW_…. */
expr *check_text_of(checker *c, expr *value, int64_t how);
expr *check_text_node(checker *c, source_span span, const char *text, size_t length);
void check_add_piece(text_pieces *p, expr *e);
void check_finish_text(checker *c, expr *e); /* of a call.late */
void check_finish_failure(checker *c, expr *e);
bool check_is_plain(const type *t); /* number, bool, char, text, tensor: printed as it is */
bool check_printable(const type *t);

#endif
