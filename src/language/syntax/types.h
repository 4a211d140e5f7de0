/* types.h: the types of the language. Every type exists once: equal types are equal pointers.
 *
 *     type_table ─► scalars[kind]                                one each, made with the table
 *                └► buckets ─► tensor, tuple, vec, struct, …     made on first use, hashed by content
 *
 * What must stay true (type_table_valid):
 *     a type's parts are types of the same table; no two types of a table are alike
 *     tensor: element NULL (not known), a number or bool;  rank -1 (not known) or 0 … TL_MAX_RANK
 *             (every integer is kept as i64 and becomes the element type when it is read)
 *     a checked tree holds no TYPE_OPEN and no open number: they exist only while one function is being checked
 *     size = 1 + sizes of the items of a tuple or of the fields of a struct: bounds every walk over a type
 *
 * An open number is the type of a literal of which nothing has said more: its kind is what it becomes when nothing ever
 * does (i64, f32), `number` the cell that a use fills in. So a reader that asks for the kind sees a number with or
 * without a fraction; a reader that compares types sees one of its own.
 *
 * GradTensor is the same type as Tensor: whether a value tracks gradients is known at run time
 * only. Thread safety: a table belongs to one thread. Everything lives in the table's arena.
 */
#ifndef MASU_LANGUAGE_TYPES_H
#define MASU_LANGUAGE_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "language/diagnose/source.h"

typedef enum type_kind {
    /* wrong, and already reported: fits everywhere, so that one mistake gives one message */
    TYPE_ERROR,
    TYPE_NEVER, /* of return, break, continue, panic: no value ever arrives; fits everywhere */
    TYPE_VOID,  /* no value: zero leaves */
    TYPE_BOOL,
    TYPE_I8,
    TYPE_I16,
    TYPE_I32,
    TYPE_I64,
    TYPE_U8,
    TYPE_U16,
    TYPE_U32,
    TYPE_U64,
    TYPE_USIZE, /* 64 bits, unsigned */
    TYPE_F32,
    TYPE_F64,
    TYPE_CHAR,
    TYPE_STRING,
    TYPE_SCALAR_END, /* kinds below have no parts: one type each */
    TYPE_TENSOR = TYPE_SCALAR_END,
    TYPE_STRUCT,
    TYPE_TUPLE,
    TYPE_VEC,
    TYPE_REFERENCE, /* &mut T, &mut [T], where it lies in a value: `vec` says to what */
    TYPE_OPEN       /* an element type that a later use decides: `Vec::new()` before the first push */
} type_kind;

typedef struct type type;
struct struct_item; /* tree.h */
struct open_form;

typedef struct open_number { /* the cell of one */
    const type *decided;     /* NULL: nothing has said more; may be open itself */
    const type *prefers;     /* what it becomes when nothing decides it; NULL: what its kind says */
    bool is_element;         /* an element of a tensor of unknown elements is in it: it holds none of them shortened */
    bool is_real;            /* a real number that is written, or what is computed with one, is in it */
    bool is_parsed;          /* what parse() yields: real as soon as something real is wanted, or no number at all */
    source_span literal;     /* where it began */
    source_span because;     /* what decided it; no file: not known */
} open_number;

typedef struct span_list {
    source_span *spans;
    uint32_t count, capacity;
} span_list;

struct type {
    type_kind kind;
    uint32_t id;         /* dense from 0 in order of creation */
    uint32_t size;       /* saturating; of a struct: 0 until type_set_size */
    bool may_have_open;  /* there was a TYPE_OPEN or an open number in it when it was made */
    open_number *number; /* of an open number; else NULL */
    union {
        struct {
            const type *element; /* NULL: not known; what is read from it is looked at when the program runs */
            int32_t rank;        /* -1: not known */
        } tensor;
        struct struct_item *structure; /* fields: structure->fields[i].type */
        struct {
            const type *const *items;
            uint32_t count; /* never 0: () is TYPE_VOID */
        } tuple;
        struct {
            const type *element;
            /* of a fixed array; -1: a Vec; TYPE_BOX, TYPE_SHARED: a Box, an Rc, of one element; of a reference
             * TYPE_PLACE or TYPE_SLICE */
            int64_t length;
        } vec;
        struct {
            const type **resolved;  /* the cell that a use fills in; *resolved NULL before */
            struct open_form *form; /* the checker's: what it may become; NULL: anything */
        } open;
    };
    const type *next_in_bucket; /* the table's own */
};

/* Box<T> of a struct or enum is a Vec of one: so a type can hold values of itself. Reading one yields
 * its element (check_unbox), so that no other part of the checker meets it. Of other types Box<T> is T. An Rc is one
 * that its clone is, too. */
enum { TYPE_BOX = -2, TYPE_PLACE = -3, TYPE_SLICE = -4, TYPE_SHARED = -5 };
enum { TYPE_COLLECTED = -1000 }; /* and below: lists of check_infer.c alone, by the call that collects them */
static inline bool type_is_box(const type *t);

/* Larger types are refused where they arise: without a bound a program of n lines can name a type
 * of 2^n parts. */
enum { TYPE_SIZE_MAX = 4096 };

/* For a generic struct with these arguments in place of its own; set by the checker. */
typedef const type *type_instance_maker(void *context, struct struct_item *template, const type **arguments);

typedef struct type_table {
    masu__arena *arena;
    const type *scalars[TYPE_SCALAR_END];
    const type **buckets;
    uint32_t bucket_count; /* a power of two */
    uint32_t count;
    type_instance_maker *instance; /* of structs whose arguments got decided */
    void *instance_context;
    bool elements_are_wide; /* elements that nothing decides are f64, not f32 */
    uint32_t guessed;       /* of those so far */
    span_list may_be_whole; /* elements that nothing says are real: whole numbers where the tensor holds those */
    const span_list *whole; /* those that are whole in the function that is being checked; NULL: none */
    bool out_of_memory;     /* sticky; then the makers below return the error type */
    const type **numbers;   /* open ones that were made since the last type_default_numbers */
    uint32_t number_count, number_capacity;
} type_table;

/* False when the arena has no memory. */
bool type_table_init(type_table *table, masu__arena *arena);
bool type_table_valid(const type_table *table);

/* Makers: O(1) expected, never NULL. Arrays are copied. */
const type *type_tensor(type_table *table, const type *element, int32_t rank);
const type *type_struct(type_table *table, struct struct_item *structure);
/* When all fields are known: of structs, and of tuples made of such. */
void type_set_size(const type *t, uint32_t size);
void type_set_open(const type *t); /* `instance` is asked which type this struct became */
const type *type_tuple(type_table *table, const type *const *items, uint32_t count);
const type *type_vec(type_table *table, const type *element);
const type *type_array(type_table *table, const type *element, int64_t length);
/* form: what it may become; NULL: anything. */
const type *type_open(type_table *table, struct open_form *form);
/* An open number, of a literal there. kind: TYPE_I64 or TYPE_F32. */
const type *type_open_number(type_table *table, type_kind kind, source_span literal);
/* Fills the cell of a type that is open. Cost: O(1). */
void type_decide(const type *open, const type *t);
/* The default type of an open number, which it gets now. */
const type *type_settle_number(type_table *table, const type *open);
/* An element of which nothing says that it is real. */
void type_may_be_whole(type_table *table, source_span element);
/* Numbers that are still open become what they are when nothing says more. */
void type_default_numbers(type_table *table);
/* &mut T; of a part of a list &mut [T]. A reference to a reference is that reference: both lead to the same place. */
const type *type_reference(type_table *table, const type *element, bool slice);
/* The type that a reference leads to: T, or of a slice Vec<T>. */
const type *type_target(type_table *table, const type *reference);

/* The type with every decided TYPE_OPEN and open number replaced; one that is not decided stays. */
const type *type_resolve(type_table *table, const type *t);

/* TYPE_LOOK_INSIDE: what the type is made of says it, the element of a list, box or reference, the items of a tuple,
 * the fields of a struct. */
typedef enum type_verdict { TYPE_LACKS, TYPE_HAS, TYPE_LOOK_INSIDE } type_verdict;
typedef type_verdict type_test(const type *t, void *context);
/* Whether the test finds something in t, which it is given resolved. A struct that holds itself is looked into once; of
 * very many parts only the first are asked. */
bool type_any(type_table *table, const type *t, type_test *test, void *context);

static inline bool type_is_box(const type *t) {
    return t->kind == TYPE_VEC && (t->vec.length == TYPE_BOX || t->vec.length == TYPE_SHARED);
}
static inline bool type_is_shared(const type *t) {
    return t->kind == TYPE_VEC && t->vec.length == TYPE_SHARED;
}
static inline bool type_is_reference(const type *t) {
    return t->kind == TYPE_REFERENCE;
}
static inline bool type_is_slice(const type *t) {
    return t->kind == TYPE_REFERENCE && t->vec.length == TYPE_SLICE;
}
static inline bool type_is(const type *t, type_kind kind) {
    return t->kind == kind;
}
/* In a resolved type: a number that nothing has decided. */
static inline bool type_is_open_number(const type *t) {
    return t->number != NULL;
}
static inline bool type_is_signed(const type *t) {
    return t->kind >= TYPE_I8 && t->kind <= TYPE_I64;
}
static inline bool type_is_integer(const type *t) {
    return t->kind >= TYPE_I8 && t->kind <= TYPE_USIZE;
}
static inline bool type_is_float(const type *t) {
    return t->kind == TYPE_F32 || t->kind == TYPE_F64;
}
static inline bool type_is_numeric(const type *t) {
    return type_is_integer(t) || type_is_float(t);
}
/* Error or never: nothing more is to be said about an expression of this type. */
static inline bool type_is_silent(const type *t) {
    return t->kind == TYPE_ERROR || t->kind == TYPE_NEVER;
}
/* Width of a number in bits, 1 for bool, 32 for char, 0 otherwise. */
uint32_t type_bits(const type *t);

/* The library's own names without their underscores. */
const char *type_shown_name(const struct struct_item *s);
/* As a program would write it: `Tensor<f32, 2>`, `(i64, Point)`, `Vec<f32>`. */
void type_print(const type *t, masu__buffer *out);
/* The same in the table's arena, shortened when very long; "?" when memory runs out. */
const char *type_name(type_table *table, const type *t);

#endif
