/* writer.h: what the files that write C share. Private to the room. */
#ifndef MASU_LANGUAGE_PORTABLE_WRITER_H
#define MASU_LANGUAGE_PORTABLE_WRITER_H

#include "language/portable/functions.h"
#include "language/portable/portable.h"

typedef struct writer {
    portable *p;
    const layout *l;      /* NULL: a function of numbers, or a kernel */
    const ir_function *f; /* that is written */
    masu__buffer *out;
    function_set *set;
    masu__buffer *before; /* functions that come before the one that is written */
    uint32_t depth;       /* of indentation */
    bool fails;           /* the function has an error to return */
    /* kernels */
    const ir_kernel *kernel;
    const ir_instr *comprehension;
    bool *written; /* functions of numbers, by id */
} writer;

void write_line(writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
void write_indent(writer *w);
/* A number: its name, or as it is written in C. */
void write_value(writer *w, ir_value v, masu__buffer *out);
const char *write_text(writer *w, ir_value v);    /* the same, in the arena */
const char *write_root(writer *w, uint32_t root); /* name of the array */
void write_number(masu__buffer *out, ir_type type, int64_t i, double f);
const char *write_number_of(writer *w, tl_dtype dtype, double f);
/* `return fail(…)` at i's place. */
void write_failure(writer *w, const ir_instr *i, const char *status, const char *message);
const char *writer_printf(writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Frees a part whose text was used; that it was cut, for want of memory, is not forgotten. */
void write_drop(writer *w, masu__buffer *part);

void write_string(masu__buffer *out, const char *text); /* in quotes */
void write_upper(masu__buffer *out, const char *name);  /* in capitals */
void write_comment(masu__buffer *out, const char *text);
const char *write_source(portable *p); /* path of the program, as a comment may name it */
void write_shape(masu__buffer *out, const fact *t);
const char *write_short_type(tl_dtype dtype);
/* Names of the caller's: none that C or this file uses. */
const char *write_parameter_name(portable *p, const char *name);
const char *write_field_name(portable *p, const leaf *l, uint32_t word);

/* ---- write_checks.c, write_header.c ------------------------------------------------------------------------------ */

void write_checks(writer *w);
const char *write_result_name(writer *w, const masu_function *f, uint32_t r);
void write_signature(writer *w, masu__buffer *out, const flat *f);
void write_header(writer *w);

/* ---- write_weights.c --------------------------------------------------------------------------------------------- */

void write_weights(writer *w, masu__buffer *out);
void write_weights_declared(writer *w, masu__buffer *out);

/* ---- write_numbers.c: expressions on numbers, functions of numbers, blocks --------------------------------------- */

bool write_scalar(writer *w, const ir_instr *i); /* false: it is none */
void write_call(writer *w, const ir_instr *i);
void write_assertion(writer *w, const ir_instr *i);
bool portable_function_fails(const ir_function *f);
/* The function as a function of C, into w->before; its name. */
const char *write_function(writer *w, const ir_function *f);
const char *write_kernel(writer *w, const ir_instr *comprehension);
void write_variables(writer *w, const ir_function *f);
/* Blocks and jumps; each instruction by `instruction`. */
void write_blocks(writer *w, const ir_function *f, void (*instruction)(writer *, const ir_instr *, uint32_t),
                  void (*carry)(writer *, const ir_target *, uint32_t));

/* ---- write_elements.c -------------------------------------------------------------------------------------------- */

void write_element_loop(writer *w, const ir_instr *i);
/* to = from, element by element in from's order; to's strides, in elements from `offset`. */
void write_copy(writer *w, const fact *shape, const char *to, tl_dtype dtype, int64_t to_offset,
                const int64_t *to_stride, ir_value from);
void write_update(writer *w, const step *at);
/* The place that i's list of indices names in `of`, checked. */
const char *write_checked_index(writer *w, const ir_instr *i, ir_value of);
/* An index into v's root: offset + sum of index texts times strides. */
const char *write_place(writer *w, ir_value v, const char *const *index);

/* ---- write_tensors.c --------------------------------------------------------------------------------------------- */

void write_tensor(writer *w, const step *at);
extern const char *const write_letters[TL_MAX_RANK]; /* of loops over dimensions */
void write_open(writer *w, const char *letter, int64_t count);
void write_close(writer *w);
void write_close_all(writer *w, uint32_t count);
/* Loops over all dimensions but one (rank: over all); index[d] are their letters, "0" for those of one element. How
 * many were opened. */
uint32_t write_open_without(writer *w, const fact *shape, uint32_t without, const char *index[TL_MAX_RANK]);
const char *write_array(writer *w, ir_value v);
const char *write_at(writer *w, ir_value v, const char *const *index); /* the element */
/* The value of a parameter that is a constant. */
int64_t write_known(writer *w, const ir_instr *i, const char *name, int64_t otherwise);
uint32_t write_dim_of(writer *w, const ir_instr *i, const fact *shape);
/* False: its elements are others, which is refused. */
bool write_is_of(writer *w, const ir_instr *i, ir_value v, tl_dtype dtype);

/* ---- write_products.c -------------------------------------------------------------------------------------------- */

typedef struct write_window { /* the list of unfold and convolve, and how often it fits */
    long long kernel[2], stride[2], padding[2], dilation[2], places[2];
} write_window;

/* c = a b of real numbers, by the texts of their first elements. */
void write_real_product(writer *w, ir_value a, ir_value b, ir_value c, const char *from, const char *by,
                        const char *to);
void write_real_convolution(writer *w, const ir_instr *i, const write_window *by);

/* ---- write_moves.c ----------------------------------------------------------------------------------------------- */

void write_cat(writer *w, const ir_instr *i);
void write_stack(writer *w, const ir_instr *i);
void write_pad(writer *w, const ir_instr *i);
void write_unfold(writer *w, const ir_instr *i);
void write_fold(writer *w, const ir_instr *i);
void write_convolve(writer *w, const ir_instr *i);
void write_triangle(writer *w, const ir_instr *i);
/* Rows of the table that the index names, of any shape, along dim. */
void write_select(writer *w, const ir_instr *i, ir_value table, ir_value index, uint32_t dim);
void write_gather(writer *w, const ir_instr *i);
void write_view(writer *w, const ir_instr *i);
void write_made(writer *w, const ir_instr *i);
void write_comprehension(writer *w, const ir_instr *i);

#endif
