/* check_call.h: calls: of functions, of methods, of what the compiler itself knows.
 *
 *     check_call.c      functions, constructors; check_called.c: with all arguments checked; check_count.c: how many
 *     check_method.c    methods; check_number.c: of numbers; check_builtin.c: of strings and vectors, assert, System
 *     check_parse.c     s.parse() and x.into()
 *     check_abi.c       operations of the table abi.def; check_create.c: those that make a tensor; check_takes.c: which
 *                       form
 *     check_operation.c operations of abi.def as nodes
 *     check_std.c       std::cmp::max, i64::from, collect; check_list_forms.c: lists as they would be written
 *     check_order.c     order, hash and default of a type by its parts
 *     check_chain.c     chains of iterators; check_stages.c: what their methods do with a value
 */
#ifndef MASU_LANGUAGE_CHECK_CALL_H
#define MASU_LANGUAGE_CHECK_CALL_H

#include "language/types/check_context.h"
#include "language/types/check_operation.h"

/* f(&a) of a parameter `&mut T`: true after the error. */
bool check_refuse_shared(checker *c, expr *arg, const binding *parameter);
void check_suggest_functions(const checker *c, suggestion *s);
/* x.try_into(): T::try_from(x) of the T that is wanted. */
/* <[T; N]>::try_from(list) */
bool check_array_from(checker *c, expr **slot, const type *array, const type *expected);
bool check_try_into(checker *c, expr **slot, const type *expected);
void check_finish_call(checker *c, expr *e, function_item *f);
/* `mut self` of a type that is `Copy` is a copy, as in Rust: x.m() is { x }.m() */
void check_copy_self(checker *c, expr **slot, const function_item *f);
/* args go to the parameters from `first` on. */
void check_refuse_names(checker *c, expr *e); /* of a call or method that is not checked */
void check_arguments(checker *c, expr *e, const function_item *f, uint32_t first);
/* f(c) of a parameter `&T`, where c is a reference to what leads on to a T: the slot of that. */
expr **check_leads_on(checker *c, expr **slot, const binding *parameter, const type *wanted);
bool check_number_function(checker *c, expr **slot); /* f64::sqrt, where no call follows */
/* Of several methods of one name the one that takes these arguments; fills in what they leave out. */
function_item *check_choose_overload(checker *c, expr *e, struct_item *owner, function_item *f);
/* &[2, 3] among the arguments of an operation is [2, 3]. */
void check_lent_lists(expr *e);
bool check_order_method(checker *c, expr **slot, const type *t);
/* Part i of the variable with that name, which is a t: a struct or tuple. */
expr *check_part_of(checker *c, source_span span, const char *name, const type *t, uint32_t i);
/* The variant of an enum whose the part is; NULL: it is a part of all, or of another type. */
const variant_item *check_variant_of_part(const type *t, uint32_t part);
/* Whether t or a part of it has a method of one of these names (the last is NULL). The budget bounds the search; where
 * it ends, the answer is yes. */
bool check_asks_itself(const checker *c, const type *t, const char *const *names, int *budget);
bool check_order_operator(checker *c, expr **slot, const type *t, const type *other);
bool check_hash_method(checker *c, expr **slot, const type *t);
bool check_default_call(checker *c, expr **slot, const char *scope, const char *name, const type *expected);
/* scope NULL: imported. */
bool check_std_call(checker *c, expr **slot, const char *scope, const char *name, const type *expected);
bool check_scalar_call(checker *c, expr **slot, const char *scope, const char *name, const type *expected);
void check_name_as_closure(checker *c, expr **slot, uint32_t count);
/* x.map(|p| …), x.fold(0, |sum, p| …), x.map(f) of a generic f: p is what x gives. */
void check_view_closures(checker *c, const expr *call);
/* f(&d, |p| …) of a `F: Fn(T)`: p is what T is there. */
void check_view_bound(checker *c, expr **slot, const type_expr *bound, const type_environment *e);
/* For a pair of lists, where other collections are wanted. */
void check_collect_parts(checker *c, expr **slot, const type *expected);
bool check_collect(checker *c, expr **slot, const type *expected);
/* Whether the variable of this name is, of `let x = v.get(i)`: then it is one. */
bool check_is_used_as_option(checker *c, const stmt *let);
/* a..b as the Vec of its numbers or letters; it stays as it is when it has no end. */
void check_range_as_list(checker *c, expr **slot);
/* (0..t.len()).map(|i| t[i]), of a tensor of one dimension. */
expr *check_tensor_as_list(checker *c, expr *t);
/* list.map(|x| x as SCALAR), also of a Result. */
expr *check_map_cast(checker *c, expr *list, const char *scalar);
bool check_chain(checker *c, expr **slot, const type *expected); /* v.iter().map(f).take(n): check_chain.c */
bool check_loop_over_chain(checker *c, expr **slot);
bool check_flattened(checker *c, expr **slot, const type *t, const type *expected);
/* Makes an iterator of what the chain e starts from, where its functions have to wait: check_waits.c. */
bool check_chain_waits(checker *c, expr *e, const type *expected);
/* A function that is given to a stage: whether it can be seen when it runs. */
bool check_is_seen(checker *c, expr *f);
expr *check_numbered_parts(checker *c, expr *value); /* (0..s.len()).map(|i| s.get(i)) */
/* Decides t, the error type of a parse() or an into(), as far as it is known. */
void check_settle_late(checker *c, const type *t);
/* The default of a type that later uses decide; NULL: nothing is later. */
expr *check_default_later(checker *c, source_span span, const type *t);
void check_finish_default(checker *c, expr *e, const type *t);
/* x.into(), of a type that is decided by what becomes of it; x is checked. */
void check_into_later(checker *c, expr **slot);
void check_finish_into(checker *c, expr *e, const type *wanted);
void check_finish_parses(checker *c);
bool check_is_identity(const char *name);    /* x.clone(), v.iter(): what it is called on */
bool check_is_list_method(const char *name); /* of those that are not written in the language */
void check_call(checker *c, expr **slot, const type *expected);
void check_method(checker *c, expr **slot, const type *expected);

/* check_array.c: of `a.map(f)`, not checked yet, the array; NULL: it is another method. */
typedef struct array_map {
    const expr *receiver;
    int64_t length; /* as it is written; -1: its type says it */
} array_map;
array_map check_array_map(checker *c, const expr *e);
void check_become_array(checker *c, expr *e, const array_map *m); /* e is checked by now */
int64_t check_items_of(checker *c, expr **slot);                  /* of a list, by form or type; -1: nothing says it */
/* An operation of the table: names with this scope ("" for methods). The slot's node is an
 * EXPR_CALL or EXPR_METHOD. grad: what the parameter `grad` is by default. False when there is no
 * such name. */
/* `expected` says of which elements a tensor is made; NULL: f32. */
bool check_abi_call(checker *c, expr **slot, const char *scope, const char *name, bool grad, const type *expected);
/* Makes a tensor from numbers in the elements of `to` (check_create.c); false: it is none, nothing has changed. */
bool check_create_as(checker *c, expr **slot, const type *to);
/* The same of a branch, through blocks, arms and further branches; true: something was made otherwise. */
bool check_create_alike(checker *c, expr **slot, const type *to);
bool check_creates(tl_abi_index abi);
bool check_runtime_call(checker *c, expr *e, const type *expected);
/* Whether the call has as many arguments as f takes, without self; else the message, with f's parameters. */
/* A function of the library that takes another number of arguments: log("loss", x) is one, log(x) another. */
bool check_is_other_form(const checker *c, const function_item *f, uint32_t given);
bool check_count_of(checker *c, const expr *call, const function_item *f);
/* "weight, bias, stride = 1" of what the function takes. */
const char *check_parameters_text(checker *c, const function_item *f);
bool check_count(checker *c, const expr *call, const char *name, uint32_t wanted, source_span declared);
bool check_builtin_function(checker *c, expr **slot, const char *name);
bool check_builtin_scope(checker *c, expr **slot, const type *expected);
bool check_is_math_method(const char *name);               /* of numbers of any type: x.sqrt(), n.max(m) */
bool check_lacks_number(const char *name, uint32_t count); /* x.max(): the one that it is compared with */
bool check_number_method(checker *c, expr **slot);
bool check_is_number_method(checker *c, const type *t, const char *name);
bool check_string_method(checker *c, expr **slot, const type *expected);
bool check_vec_method(checker *c, expr **slot);
bool check_same_text(const char *a, const char *b);
void check_become_from(checker *c, expr **slot, const type *t, const type *expected);
/* X, where t is the T of a `T: Into<X>`; NULL. */
const type *check_bound_of_into(checker *c, const type *t);
bool check_string_parse(checker *c, expr **slot, const type *expected);
/* How many arguments an operation takes. */
typedef struct abi_arity {
    uint32_t least, most;
} abi_arity;

abi_arity check_abi_arity(tl_abi_index function, bool method);
void check_report_arity(checker *c, const expr *call, const char *name, abi_arity all, tl_abi_index longest,
                        bool method);

/* f(x, …) becomes x.f(…): what is behind the references of the first argument is the receiver. */
void check_first_as_receiver(checker *c, expr **slot, const char *f, const type *expected);
/* Stack::len(&s), where only s says what a Stack's elements are: s.len(). false: it is not such a call. */
bool check_method_by_path(checker *c, expr **slot, struct_item *owner, const type *expected);

#endif
