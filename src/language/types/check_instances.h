/* check_instances.h: instances of generic types and functions, methods of types, traits. */
#ifndef MASU_LANGUAGE_TYPES_CHECK_INSTANCES_H
#define MASU_LANGUAGE_TYPES_CHECK_INSTANCES_H

#include "language/types/check_context.h"

/* `impl trait for owner` */
typedef struct implementation {
    const trait_item *trait;
    const struct_item *owner;
    const impl_item *impl;
} implementation;

/* The instances of generic declarations, and which types have which traits.
 *     functions before checked_count have a checked body, are templates, or are refused */
/* Whether the program has methods of these names. */
typedef struct chain_sums {
    uint32_t looked_at; /* functions, from the first on */
    bool has_sum, has_product;
    uint32_t cloners_looked_at; /* functions, for has_clone */
    bool has_clone;
} chain_sums;

/* The functions that are not the library's, in their order. */
typedef struct own_functions {
    function_item **items;
    uint32_t count, capacity;
    uint32_t looked_at; /* of all functions, from the first on */
} own_functions;

/* Instances of structs by template and arguments: buckets, linked by next_alike. */
typedef struct instance_table {
    struct_item **buckets;
    uint32_t bucket_count, count;
} instance_table;

typedef enum iterators_known { ITERATORS_UNKNOWN, ITERATORS_NONE, ITERATORS_SOME } iterators_known;
typedef bool (*constant_reader)(checker *c, expr **slot, int64_t *out, const char *what);

typedef struct check_instances {
    implementation *implementations;
    uint32_t implementation_count, implementation_capacity;
    struct_item *builtin_owners[TYPE_OPEN + 1]; /* by type_kind */
    uint32_t count;
    uint32_t checked_count; /* functions whose bodies are checked, from the first on */
    instance_table structs;
    uint32_t struct_depth; /* instances of generic structs whose fields are being made */
    bool refused;          /* the last one asked for, with a message */
    bool structs_are_measured;
    const struct_item *declares; /* whose fields are looked at; NULL: none's */
    iterators_known iterators;   /* structs with next() */
    struct dyn_type *dyns;
    chain_sums sums;
    own_functions own;
    /* check_constant_integer: what is written in a type is checked as any expression is. */
    constant_reader constant_integer;
} check_instances;

void check_generics_begin(checker *c);
/* Instances from this one on, which the inference made, say what is wrong with their fields: what it said is gone. */
void check_fields_again(checker *c, uint32_t from);
const type *check_type_argument(const checker *c, const char *name); /* NULL: no type parameter */
struct_item *check_struct_instance(checker *c, struct_item *template, const type **arguments);
/* The same with open types where none are written; s itself when it is not generic. */
struct_item *check_struct_open(checker *c, struct_item *s, type_expr **written, uint32_t count);
/* Vec, String, i64, Tensor …: what methods of theirs belong to. NULL: no such type, or no method. */
struct_item *check_builtin_owner(checker *c, const char *name);
struct_item *check_owner_of(checker *c, const type *t);
function_item *check_method_named(checker *c, struct_item *owner, const char *name);
/* The trait's method for the owner; NULL: it has none. */
function_item *check_method_through(checker *c, struct_item *owner, const char *name, const trait_item *trait);
/* check_source.c: the method that a call means, of those of one name; trait NULL: the call does not say whose. */
/* T of a `T: Trait`, Self in a method of the trait: the Trait, where it declares a method of that name; NULL. */
const trait_item *check_trait_known(const checker *c, const struct_item *owner, const char *name);
/* The trait whose declaration the body of this function is; NULL. */
const trait_item *check_declares_body(const function_item *f);
function_item *check_method_meant(checker *c, struct_item *owner, const expr *call, const char *name);
/* The trait, or the one it builds on, that declares a method of that name; NULL. */
const trait_item *check_trait_with(const checker *c, const trait_item *trait, const char *name);
/* The trait of the program whose impl block f is in; NULL. */
trait_item *check_own_trait(const checker *c, const function_item *f);
/* Neither is the other's rival: both are of one trait, or of none, or forms of the library. */
bool check_is_same_source(const checker *c, const function_item *a, const function_item *b);
bool check_implements(const checker *c, const type *t, const trait_item *trait);
bool check_is_template(const checker *c, const function_item *f);
/* Afterwards the body is there, also of a function of the prelude. */
void check_read_body(checker *c, function_item *f);
/* impl Mul<f64> for V and impl Mul<V> for V: both have a method of the same name. */
bool check_has_overloads(const checker *c, const function_item *f); /* of other impls of its trait */
bool check_is_other_trait(const impl_item *a, const impl_item *b);  /* but for references: Add<&V> is Add<V> */
/* a + b takes b by reference: `impl Trait<&B> for T`; so does T::from(b), and T::sum of what gives such. */
bool check_takes_reference(const function_item *f);
/* How far `impl Trait<&B> for &T` is from `impl Trait<B> for T`: for `&mut T` is further than for `&T`. */
uint32_t check_distance_of_impl(const function_item *f);
/* B of `impl Add<B> for T`; T of `impl Add for T`; NULL: the trait has more parameters. */
const type_expr *check_trait_operand(const impl_item *impl);
/* trait Scale<K = Self>: impl Scale for T is impl Scale<Self> for T. */
void check_add_trait_defaults(checker *c, impl_item *impl);
/* Sets the trait's type parameters in a method that an impl takes over from it. */
void check_trait_arguments(checker *c, const impl_item *impl, function_item *f);
bool check_same_written(const type_expr *a, const type_expr *b);
bool check_mentions(const type_expr *t, const char *name); /* in it or in its arguments; t may be NULL */
/* The impl block's own method; NULL: it has none of this name. */
function_item *check_method_of_impl(const checker *c, const struct_item *owner, const impl_item *impl,
                                    const char *name);
/* The method of the trait of this name; NULL: there is none. */
function_item *check_method_of_trait(const checker *c, const char *trait, const char *name);
/* A copy of the trait's method f with Self and the trait's parameters as in this impl block. */
function_item *check_copy_of_trait(checker *c, impl_item *impl, struct_item *owner, const function_item *f);
/* V: Visitor<R> of a V that is known says what R is. waits: later uses may say which of several types a number is. */
void check_bounds_decide(checker *c, const type_environment *e, bool waits);
void check_trait_decides(checker *c, const type *t, const trait_item *trait); /* t has it: open parts of t */
/* A number has the trait; or an `impl NAME<it> for beside`; or the method of that name, of the operand. */
typedef struct number_use {
    const trait_item *trait;
    const type *beside, *operand;
    const char *name;
} number_use;

bool check_number_fits(checker *c, const type *number, const number_use *use);
/* The kind of number, real or whole, that an open t is, as only those that fit will do: the only one, else its usual
 * one, else that of Rust. Several others are refused, unless later uses may say it. NULL: none fits, or they may. */
const type *check_number_among(checker *c, const type *t, bool real, const number_use *use, bool waits);
/* A value of type t decides the type parameters of a `dyn Trait<T>` that is written for it. false: there is none. */
bool check_dyn_decides(checker *c, const type_environment *e, const type_expr *written, const type *t);
/* I: IntoIterator<Item = V> alone: before a function that takes a V is looked at. */
void check_items_decide(checker *c, const type_environment *e);
/* Parts of check_generic.c that check_generic_call.c needs. */
function_item *check_instance_of(checker *c, function_item *f, struct_item *owner, type_environment *e,
                                 source_span span);
bool check_impl_fits(checker *c, const function_item *f, const struct_item *owner, const type_environment *environment);
type_environment check_environment_new(checker *c, function_item *f);
/* The type parameter of the function or of its impl; NULL: none has the name. */
const type_parameter *check_parameter_named(const function_item *f, const char *name);
/* The function type that the parameter's type parameter has as a bound; NULL: none. */
const type_expr *check_function_bound(const function_item *f, const binding *parameter);
uint32_t check_type_count(const type_parameters *p);
const type **check_open_types(checker *c, uint32_t count);
struct_item *check_any_owner(const checker *c);
struct_item *check_nameless_owner(checker *c, const char *name);
struct_item *check_vec_owner(checker *c);
function_item *check_next_overload(const checker *c, const function_item *f, const function_item *first);

#endif
